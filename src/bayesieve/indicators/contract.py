"""What a score gives: one number a series, what it means, and where in a series it comes from."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..engine.threads import Engine
from .indicator import Indicator

#: What a score reads: a series, or one of each channel for a score across channels.
Record: TypeAlias = NDArray[np.float64] | tuple[NDArray[np.float64], ...]


#: Stretches of a series: first and last points, last included.
Spans: TypeAlias = list[tuple[int, int]]


class ScoreColumn(NamedTuple):
    """One score with its parameters fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators import ScoreColumn
    >>> ScoreColumn("range", np.array([1.0, 4.0]), (2.0,)).thresholds
    (2.0,)
    """

    label: str
    values: NDArray[np.float64]  #: one a series; NaN is missing
    thresholds: tuple[float, ...] | None  #: None: learnt from quantiles
    meaning: Indicator | None = None  #: what its indicators say, before there is a threshold


class ScoreFamily(Protocol):
    """Whatever turns series into score columns.

    It may also have `spans(x, column, threshold)`, which gives the `Spans` of a series behind an
    indicator, and `n_channels`, how many channels it looks at together (1).
    """

    def columns(self, series: Sequence[Record], engine: Engine) -> Iterator[ScoreColumn]:
        """Score columns, the same ones in the same order for any series."""


def stretches(mask: NDArray[np.bool_]) -> Spans:
    """The runs of True in a mask, first and last.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators.contract import stretches
    >>> stretches(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(lo), int(hi) - 1) for lo, hi in edges.reshape(-1, 2)]
