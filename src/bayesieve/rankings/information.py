"""Information of columns about the class: mutual information, chi-square, uncertainty."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..checks import Bools, Bytes, Floats, Ints
from ..data.kernels.options import CHI2, INFORMATION, MANY
from ..data.storage import pack_bits
from ..data.tables import SparseTable, Table, room_of
from ..engine.threads import Engine
from ..models.columns import read_column, without_grid
from ..models.registry import MODELS
from .base import DiscreteColumns, MixedColumns, RankingInput, RankingMethod, example


def mixed_columns(table: Table, models: list[str], rows: Ints, weights: Floats) -> MixedColumns:
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
Codes: TypeAlias = Bytes | Ints


@example("copy", "[1, 2, 0]")
@dataclass(frozen=True)
class MutualInformation(RankingMethod):
    """Rank by I(column; class), the plug-in estimate from counts, in nat."""

    def scores(self, given: RankingInput) -> Floats:
        """Information of each column about the class."""
        return information_with(given.columns, given.labels, given.n_classes, given.engine)


@example("copy", "[1, 2, 0]")
@dataclass(frozen=True)
class ChiSquare(RankingMethod):
    """Rank by Pearson's chi-square of column and class: the statistic, not its p-value."""

    def scores(self, given: RankingInput) -> Floats:
        """Chi-square of each column with the class."""
        return association_with(CHI2, given.columns, given.labels, given.n_classes, given.engine)


def information_with(
    columns: DiscreteColumns, other: Codes, n_other: int, engine: Engine
) -> Floats:
    """I(column; other) of every column; `other` holds codes."""
    return association_with(INFORMATION, columns, other, n_other, engine)


def association_with(
    kind: int,
    columns: DiscreteColumns,
    other: Codes,
    n_other: int,
    engine: Engine,
    which: Bools | None = None,
) -> Floats:
    """How every column goes with the codes of another, by the kernels' measure `kind`.

    Where `which` is given, the columns it leaves out get 0.
    """
    from .kernels.counts import associate_bits, associate_codes, of_two

    out = np.zeros(columns.n_columns)
    elsewhere = columns.tables(other.astype(np.int64), n_other)
    if elsewhere is not None:
        margin = np.empty(n_other)
        for j, joint in enumerate(elsewhere):
            if which is None or which[j]:
                out[j] = of_two(kind, np.ascontiguousarray(joint), margin)
        return out
    here = np.arange(columns.n_columns) if which is None else np.flatnonzero(which)
    planes, few = columns.planes, np.zeros(here.size, bool)
    if planes is not None:  # columns that are counted faster by bits
        few = (np.diff(planes.first)[here] * n_other <= MANY) | (columns.codes.size == 0)
    by_bits, by_codes = here[few], here[~few]
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
