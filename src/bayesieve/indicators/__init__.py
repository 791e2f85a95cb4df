"""From time series to scores, and from scores to binary indicators (Rabenoro 2015, section 2)."""

from ..data.series import SeriesTable, cut_windows, intervals_of, labels_of
from .indicator import Indicator, ScoreColumn, short_labels
from .scores import SCORES, Score, read_scores, register_score, score_from_plain, score_to_plain
from .traces import TraceScore
from .transformer import Indicators
from .windows import WindowScores, window_p_values

__all__ = [
    "SCORES",
    "Indicator",
    "Indicators",
    "Score",
    "ScoreColumn",
    "SeriesTable",
    "TraceScore",
    "WindowScores",
    "cut_windows",
    "intervals_of",
    "labels_of",
    "read_scores",
    "register_score",
    "score_from_plain",
    "score_to_plain",
    "short_labels",
    "window_p_values",
]
