"""bayesieve: feature selection for naive Bayes, exact and fast."""

from .classifier import NaiveBayes
from .eliminate import eliminate
from .ranking import rank
from .selector import NaiveBayesSelector
from .votes import FeatureVotes

__version__ = "0.1.0"

__all__ = ["FeatureVotes", "NaiveBayes", "NaiveBayesSelector", "eliminate", "rank"]
