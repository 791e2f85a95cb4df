"""Methods by data sets by seeds: the same folds for all, and tests of what differs."""

from .methods import METHODS, SCORES
from .result import Comparison
from .run import compare

__all__ = ["METHODS", "SCORES", "Comparison", "compare"]
