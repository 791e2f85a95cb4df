"""bayesieve: feature selection for naive Bayes, exact and fast."""

from .app.studio.launch import studio
from .data.pack import pack
from .engine.dask.engine import DaskEngine
from .engine.gpu.engine import GpuEngine
from .estimators.deploy import deploy
from .estimators.ensemble import GreedyEnsemble, SubsetEnsemble
from .estimators.naive_bayes import NaiveBayes
from .estimators.selector import NaiveBayesSelector
from .estimators.signals import SignalPipeline, signals
from .estimators.votes import FeatureVotes
from .estimators.weighted import WeightedNaiveBayes
from .evaluation.calibration import Calibration, calibrate
from .evaluation.compare import Comparison, compare
from .evaluation.curve import evaluate_ranking
from .evaluation.decide import Decision, decide, novelty
from .evaluation.drift import Drift, drift
from .evaluation.nested import Nested, nested
from .evaluation.stability import Stability, nogueira, stability
from .explain.displays import (
    EvidenceDisplay,
    NomogramDisplay,
    PathDisplay,
    RelevanceDisplay,
    plot_evidence,
    plot_nomogram,
    plot_path,
    plot_relevance,
)
from .explain.evidence import explain
from .explain.model import explain_model
from .explain.modelfile.file import load_model, save_model
from .explain.plots import plot_calibration, plot_signal
from .explain.python_source import to_python
from .explain.sql import to_sql
from .rankings.divergence import relevance_matrix
from .rankings.families import Families, find_families
from .rankings.rank import rank
from .rankings.redundancy import eliminate
from .rankings.trees import TreeLevels
from .session.session import Session

__version__ = "0.1.0"

__all__ = [
    "Calibration",
    "Comparison",
    "DaskEngine",
    "Decision",
    "Drift",
    "EvidenceDisplay",
    "Families",
    "FeatureVotes",
    "GpuEngine",
    "GreedyEnsemble",
    "NaiveBayes",
    "NaiveBayesSelector",
    "Nested",
    "NomogramDisplay",
    "PathDisplay",
    "RelevanceDisplay",
    "Session",
    "SignalPipeline",
    "Stability",
    "SubsetEnsemble",
    "TreeLevels",
    "WeightedNaiveBayes",
    "calibrate",
    "compare",
    "decide",
    "deploy",
    "drift",
    "eliminate",
    "evaluate_ranking",
    "explain",
    "explain_model",
    "find_families",
    "load_model",
    "nested",
    "nogueira",
    "novelty",
    "pack",
    "plot_calibration",
    "plot_evidence",
    "plot_nomogram",
    "plot_path",
    "plot_relevance",
    "plot_signal",
    "rank",
    "relevance_matrix",
    "save_model",
    "signals",
    "stability",
    "studio",
    "to_python",
    "to_sql",
]
