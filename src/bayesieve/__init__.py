"""bayesieve: feature selection for naive Bayes, exact and fast."""

from .classifier import NaiveBayes
from .eliminate import eliminate
from .ensemble import GreedyEnsemble, SubsetEnsemble
from .evaluate import evaluate_ranking
from .explain import explain
from .export import to_python, to_sql
from .modelfile import load_model, save_model
from .packing import pack
from .ranking import rank
from .relevance import relevance_matrix
from .selector import NaiveBayesSelector
from .trees import TreeLevels
from .votes import FeatureVotes

__version__ = "0.1.0"

__all__ = [
    "FeatureVotes",
    "GreedyEnsemble",
    "NaiveBayes",
    "NaiveBayesSelector",
    "SubsetEnsemble",
    "TreeLevels",
    "eliminate",
    "evaluate_ranking",
    "explain",
    "load_model",
    "pack",
    "rank",
    "relevance_matrix",
    "save_model",
    "to_python",
    "to_sql",
]
