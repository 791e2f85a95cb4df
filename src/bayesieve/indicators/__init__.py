"""From time series to scores, and from scores to binary indicators (Rabenoro 2015, section 2)."""

from ..data.records import cut_windows, intervals_of, labels_of
from ..data.series import SeriesTable
from .contract import ScoreColumn
from .indicator import Indicator, short_labels
from .own import Score, register_score
from .recipe import score_from_plain, score_to_plain
from .scores import SCORES
from .scores_file import read_scores
from .traces import TraceScore
from .transformer import Indicators
from .window_scores import WindowScores
from .windows import window_p_values

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
