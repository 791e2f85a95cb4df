"""Information of columns about the class: mutual information, chi-square, uncertainty."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.storage import pack_bits
from ..data.tables import SparseTable, Table, room_of
from ..engine.threads import Engine
from ..models.columns import read_column, without_grid
from ..models.registry import MODELS
from .base import DiscreteColumns, MixedColumns, Planes, Ranking, RankingMethod
from .kernels.kinds import CHI2, INFORMATION, MANY


def mixed_columns(
    table: Table, models: list[str], rows: NDArray[np.int64], weights: NDArray[np.float64]
) -> MixedColumns:
    """Numbers as they are, codes of discrete columns; of the given rows, with their weights."""
    values = room_of(table)((len(models), rows.size), np.float64)
    models = without_grid(models)
    nominal = np.array([MODELS[model].nominal for model in models], bool)
    specs = []
    for j, model in enumerate(models):
        spec, column = read_column(table, j, model, presence=isinstance(table, SparseTable))
        specs.append(spec)
        values[j] = column[rows]
        if nominal[j]:
            values[j, values[j] == spec.n_codes - 1] = np.nan
    return MixedColumns(values, nominal, specs, weights)


# -- Rankings of each column by itself -------------------------------------------------------------


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
    from .kernels.counts import associate_bits, associate_codes

    out = np.zeros(columns.n_columns)
    counted = columns.tables(other.astype(np.int64), n_other)
    if counted is not None:
        from .kernels.counts import of_two

        margin = np.empty(n_other)
        for j, joint in enumerate(counted):
            if wanted is None or wanted[j]:
                out[j] = of_two(kind, np.ascontiguousarray(joint), margin)
        return out
    which = np.arange(columns.n_columns) if wanted is None else np.flatnonzero(wanted)
    by_bits, by_codes, planes = _apart(columns, which, n_other)
    if planes is not None and by_bits.size:
        levels = np.stack([other == level for level in range(n_other)])
        masks, totals = pack_bits(levels), levels.sum(1)

        def by_popcount(lo: int, hi: int) -> None:
            associate_bits(kind, *planes, masks, totals, by_bits[lo:hi], out)

        engine.run(by_popcount, by_bits.size, by_bits.size * masks.size)
    codes = other.astype(np.uint8 if n_other <= 255 else np.int64)
    weights = columns.weights

    def by_adding(lo: int, hi: int) -> None:
        some = by_codes[lo:hi]
        associate_codes(kind, columns.codes, columns.n_levels, codes, n_other, weights, some, out)

    engine.run(by_adding, by_codes.size, by_codes.size * codes.size)
    return out


def _apart(
    columns: DiscreteColumns, which: NDArray[np.int64], n_other: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Planes | None]:
    """Columns that are counted faster by bits, those by codes, and the bits."""
    planes = columns.planes
    if planes is None:
        return which[:0], which, None
    few = np.diff(planes.first)[which] * n_other <= MANY
    few |= columns.codes.size == 0
    return which[few], which[~few], planes
