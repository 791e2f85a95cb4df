"""The registry of scores."""

from .contract import ScoreFamily
from .library import LIBRARY
from .window_scores import WindowScores

#: Every score by name; a new member is one entry here (`register_score` makes one of a function).
SCORES: dict[str, ScoreFamily] = {
    "windows": WindowScores(),
    "u-test": WindowScores(tests=("U",)),
    "ks-test": WindowScores(tests=("KS",)),
    "f-test": WindowScores(tests=("F",)),
    **LIBRARY,
}
