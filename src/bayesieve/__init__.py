"""bayesieve: feature selection for naive Bayes, exact and fast."""

from .classifier import NaiveBayes
from .ranking import rank
from .selector import NaiveBayesSelector

__version__ = "0.1.0"

__all__ = ["NaiveBayes", "NaiveBayesSelector", "rank"]
