"""bayesieve: feature selection for naive Bayes, exact and fast.

What most people need is here.  `bayesieve.export` writes models in other languages,
`bayesieve.plot` draws, `bayesieve.engine` has what keeps rows elsewhere, `bayesieve.rankings`,
`bayesieve.search` and `bayesieve.criteria` their members.
"""

from .app.studio.launch import studio
from .estimators.card import ScoreCard
from .estimators.ensemble import GreedyEnsemble, SubsetEnsemble
from .estimators.naive_bayes import NaiveBayes, deploy
from .estimators.selector import NaiveBayesSelector
from .estimators.signals import signals
from .estimators.votes import FeatureVotes
from .estimators.weighted import WeightedNaiveBayes
from .evaluation.calibration import calibrate
from .evaluation.compare import compare
from .evaluation.decide import decide, novelty
from .evaluation.drift import drift
from .evaluation.nested import nested
from .evaluation.performance import performance
from .evaluation.stability import stability
from .explain.evidence import explain
from .explain.model import explain_model
from .explain.modelfile.file import load_model, save_model
from .explain.report import write_report
from .rankings.families import find_families
from .rankings.rank import rank
from .session.session import Session

__version__ = "0.1.0"

__all__ = [
    "FeatureVotes",
    "GreedyEnsemble",
    "NaiveBayes",
    "NaiveBayesSelector",
    "ScoreCard",
    "Session",
    "SubsetEnsemble",
    "WeightedNaiveBayes",
    "calibrate",
    "compare",
    "decide",
    "deploy",
    "drift",
    "explain",
    "explain_model",
    "find_families",
    "load_model",
    "nested",
    "novelty",
    "performance",
    "rank",
    "save_model",
    "signals",
    "stability",
    "studio",
    "write_report",
]
