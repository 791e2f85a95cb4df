"""From time series to scores, and from scores to binary indicators (Rabenoro 2015, section 2)."""

from .scores import SCORES, Score, ScoreColumn, WindowScores, register_score
from .transformer import Indicators
from .windows import window_p_values

__all__ = [
    "SCORES",
    "Indicators",
    "Score",
    "ScoreColumn",
    "WindowScores",
    "register_score",
    "window_p_values",
]
