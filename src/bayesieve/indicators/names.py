"""Names of columns: no two alike, as files and explanations know columns by them."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..checks import check_number
from .contract import ScoreColumn


def number_text(value: float, digits: int = 6) -> str:
    """A number in so many digits; in all it needs where these would make another one of it.

    Examples
    --------
    >>> from bayesieve.indicators.names import number_text
    >>> number_text(0.05), number_text(50.0), number_text(1013.2512)
    ('0.05', '50', '1013.2512')
    """
    short = f"{value:.{digits}g}"
    return short if float(short) == value else f"{value!r}"


def thresholds_of(given: Sequence[float] | None) -> tuple[float, ...] | None:
    """Thresholds as floats, each judged; None where they are to be learnt."""
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"thresholds must be a list of numbers; got {given!r}.")
    for cut in given:
        check_number("thresholds", cut, low=-np.inf)
    return tuple(float(cut) for cut in given)


def names_of(label: str, cuts: Sequence[float]) -> list[str]:
    """Names of the indicators of a score column; thresholds that look alike in all digits."""
    short = [f"{cut:.12g}" for cut in cuts]
    return [
        f"{label} > {text if short.count(text) == 1 else repr(float(cut))}"
        for text, cut in zip(short, cuts, strict=True)
    ]


def without_repeats(
    labels: Sequence[str], columns: Sequence[ScoreColumn], cuts: Sequence[Sequence[float]]
) -> list[tuple[float, ...]]:
    """Thresholds of every column, less those of an indicator that stands there already.

    Two columns of one name that do not say the same are refused.
    """
    found: list[tuple[float, ...]] = []
    first: dict[str, ScoreColumn] = {}
    for label, column, given in zip(labels, columns, cuts, strict=True):
        mine = list(dict.fromkeys(float(cut) for cut in given))
        new = []
        for cut, name in zip(mine, names_of(label, mine), strict=True):
            other = first.setdefault(name, column)
            if other is column:
                new.append(cut)
            elif not np.array_equal(other.values, column.values, equal_nan=True):
                raise ValueError(
                    f"scores: two of them give the column {name!r}, and not the same one. Call one "
                    "of them otherwise (its label)."
                )
        found.append(tuple(new))
    return found
