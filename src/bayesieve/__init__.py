"""bayesieve: feature selection for naive Bayes, exact and fast."""

from .classifier import NaiveBayes
from .eliminate import eliminate
from .ensemble import GreedyEnsemble, SubsetEnsemble
from .evaluate import evaluate_ranking
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
    "rank",
    "relevance_matrix",
]
