"""Benchmark of methods over data sets and seeds: common folds, significance tests."""

from .methods import METHODS, SCORES
from .result import Comparison
from .run import compare

__all__ = ["METHODS", "SCORES", "Comparison", "compare"]
