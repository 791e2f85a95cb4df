"""Rankings of each column by itself: its information about the class, its chi-square."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..engine.threads import Engine
from .base import DiscreteColumns, Ranking, RankingMethod, pack
from .kernels.kinds import CHI2, INFORMATION

#: Codes of a column, or class indices.
Codes: TypeAlias = NDArray[np.uint8] | NDArray[np.int64]


@dataclass(frozen=True)
class MutualInformation(RankingMethod):
    """Rank by I(column; class), the plug-in estimate from counts, in nat.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import MutualInformation
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, MutualInformation()).order
    array([1, 2, 0])
    """

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Engine,
        n_features: int,
    ) -> Ranking:
        """All columns by their information about the class."""
        return Ranking.by_score(information_with(columns, labels, n_classes, engine))


@dataclass(frozen=True)
class ChiSquare(RankingMethod):
    """Rank by Pearson's chi-square of column and class: the statistic, not its p-value.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import ChiSquare
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, ChiSquare()).order
    array([1, 2, 0])
    """

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Engine,
        n_features: int,
    ) -> Ranking:
        """All columns by their chi-square with the class."""
        return Ranking.by_score(association_with(CHI2, columns, labels, n_classes, engine))


def information_with(
    columns: DiscreteColumns, other: Codes, n_other: int, engine: Engine
) -> NDArray[np.float64]:
    """I(column; other) of every column; `other` holds codes."""
    return association_with(INFORMATION, columns, other, n_other, engine)


def association_with(
    kind: int,
    columns: DiscreteColumns,
    other: Codes,
    n_other: int,
    engine: Engine,
    wanted: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """How every column goes with the codes of another, by the kernels' measure `kind`.

    Where `wanted` is given, the columns it leaves out get 0.
    """
    from .kernels.information import associate_bits, associate_codes

    out = np.zeros(columns.n_columns)
    which = np.arange(columns.n_columns) if wanted is None else np.flatnonzero(wanted)
    packed = columns.packed
    if packed is not None:
        levels = np.stack([other == level for level in range(n_other)])
        masks, totals = pack(levels.astype(np.uint8)), levels.sum(1)
        ones = columns.ones

        def task(lo: int, hi: int) -> None:
            associate_bits(kind, packed, ones, masks, totals, which[lo:hi], out)

        engine.run(task, which.size, which.size * packed.shape[1] * max(n_other - 1, 1))
        return out
    codes = other.astype(np.uint8 if n_other <= 255 else np.int64)

    def task_codes(lo: int, hi: int) -> None:
        associate_codes(
            kind,
            columns.codes,
            columns.n_levels,
            codes,
            n_other,
            columns.weights,
            which[lo:hi],
            out,
        )

    engine.run(task_codes, which.size, which.size * codes.size)
    return out
