"""bayesieve: feature selection for naive Bayes, exact and fast."""

from .calibration import Calibration, calibrate
from .classifier import NaiveBayes
from .eliminate import eliminate
from .ensemble import GreedyEnsemble, SubsetEnsemble
from .evaluate import evaluate_ranking
from .explain import explain
from .export import to_python, to_sql
from .modelfile import load_model, save_model
from .nested import Nested, nested
from .ranking import rank
from .relevance import relevance_matrix
from .selector import NaiveBayesSelector
from .stability import Stability, nogueira, stability
from .trees import TreeLevels
from .votes import FeatureVotes

__version__ = "0.1.0"

__all__ = [
    "Calibration",
    "FeatureVotes",
    "GreedyEnsemble",
    "NaiveBayes",
    "NaiveBayesSelector",
    "Nested",
    "Stability",
    "SubsetEnsemble",
    "TreeLevels",
    "calibrate",
    "eliminate",
    "evaluate_ranking",
    "explain",
    "load_model",
    "nested",
    "nogueira",
    "rank",
    "relevance_matrix",
    "save_model",
    "stability",
    "to_python",
    "to_sql",
]
