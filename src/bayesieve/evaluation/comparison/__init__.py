"""Methods by data sets by seeds: the same folds for all, and tests of what differs."""

from .methods import METHODS
from .result import Comparison
from .run import compare
from .scores import SCORES

__all__ = ["METHODS", "SCORES", "Comparison", "compare"]
