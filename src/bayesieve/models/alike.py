"""Thousands of binary columns as one: what each is like, and says, is made when it is asked for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..data.columns import ColumnSpec
from ..data.storage import NarrowColumns, pack_bits
from ..data.tables import RawTable, SparseTable, Table
from .base import ColumnTerms, Floats, Grid, Ints, Scale, Settings, Terms, TrainingSets
from .counts import binary_mean
from .registry import MODELS

_BINARY = "bernoulli"
_LEVELS = np.array([0.0, 1.0])

# Columns whose bits are counted together stay in the cache.
_CHUNK = 256


class BinarySpecs(Sequence[ColumnSpec]):
    """What binary columns are like: nothing but their names tells them apart.

    Parameters
    ----------
    names : of the columns.
    presence : every value but 0 counts as 1.

    Examples
    --------
    >>> from bayesieve.models.alike import BinarySpecs
    >>> specs = BinarySpecs(["a", "b"], presence=False)
    >>> len(specs), specs[1].name, specs[1].levels.tolist()
    (2, 'b', [0.0, 1.0])
    """

    def __init__(self, names: Sequence[str], presence: bool):
        self.names, self.presence = names, presence

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, j: int) -> ColumnSpec: ...
    @overload
    def __getitem__(self, j: slice) -> "BinarySpecs": ...
    def __getitem__(self, j: int | slice) -> "ColumnSpec | BinarySpecs":
        if isinstance(j, slice):
            return BinarySpecs(self.names[j], self.presence)
        return ColumnSpec(self.names[j], _BINARY, levels=_LEVELS, presence=self.presence)


class BinaryTerms(Sequence[ColumnTerms]):
    """Binary columns, each ready to speak.

    Parameters
    ----------
    counts : columns x sets x codes x classes.
    settings : those of all columns.
    """

    def __init__(self, counts: Floats, settings: Settings):
        self.counts, self.settings = counts, settings

    @classmethod
    def of(cls, counts: Floats, settings: Settings) -> "BinaryTerms":
        """With what the columns must know of each other."""
        if settings.smoothing == "mean":
            means = binary_mean(list(counts), counts.shape[1], counts.shape[3])
            settings = replace(settings, binary_mean=means)
        return cls(counts, settings)

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, j: int) -> ColumnTerms: ...
    @overload
    def __getitem__(self, j: slice) -> "BinaryTerms": ...
    def __getitem__(self, j: int | slice) -> "ColumnTerms | BinaryTerms":
        if isinstance(j, slice):
            return BinaryTerms(self.counts[j], self.settings)
        return ColumnTerms(MODELS[_BINARY], self.counts[j], Grid(), self.settings)

    def terms(self) -> Terms:
        """Of all columns: columns x sets x codes x classes."""
        return MODELS[_BINARY].terms(self.counts, np.arange(3), Grid(), self.settings)


def scale_of(terms: Terms, prior: Terms) -> Scale:
    """The scale of a model of binary columns."""
    bounds = [float(np.abs(prior.finite).max()), *np.abs(terms.finite).max((1, 2, 3)).tolist()]
    n_impossible = int(prior.impossible is not None)
    if terms.impossible is not None:
        n_impossible += int(terms.impossible.any((1, 2, 3)).sum())
    return Scale.for_terms(bounds, n_impossible)


def count_binary(
    table: Table, models: Sequence[str], problems: Sequence[TrainingSets]
) -> tuple[NDArray[np.bool_], list[Floats]]:
    """Which columns are binary and can be counted together, and their counts for each problem.

    Counts are columns x 1 x codes x classes; of other columns, nothing is said.
    """
    if models.count(_BINARY) == len(models):
        here = np.ones(len(models), bool)
    else:
        here = np.array([model == _BINARY for model in models], bool)
    if isinstance(table, SparseTable):
        return here, [_count_present(table, sets) for sets in problems]
    if type(table) is not RawTable:  # others know their columns already, or one by one
        return np.zeros(here.size, bool), []
    here &= table.narrow.binary
    return here, [_count_narrow(table.narrow, here, sets) for sets in problems]


def _count_present(table: SparseTable, sets: TrainingSets) -> Floats:
    """Presence in a sparse table."""
    from ..data.kernels.exact import count_moves

    n_columns = table.matrix.shape[1]
    ones = np.empty((n_columns, 1, sets.n_classes))
    count_moves(
        table.matrix.indptr.astype(np.int64),
        table.matrix.indices.astype(np.int32, copy=False),
        np.zeros(table.matrix.nnz, np.uint8),
        np.arange(n_columns + 1),
        sets.labels[:, None],
        sets.weights,
        np.zeros(table.n_rows + 1, np.int64),
        np.empty(0, np.int64),
        ones,
    )
    counts = np.zeros((n_columns, 1, 3, sets.n_classes))
    counts[:, :, 1] = ones
    counts[:, :, 0] = sets.class_counts - ones
    return counts


def _count_narrow(narrow: NarrowColumns, here: NDArray[np.bool_], sets: TrainingSets) -> Floats:
    """Bytes of a table in memory; their bits, where every row counts once and nothing is missing.

    Whole numbers below 2^53 add up exactly, in any order.
    """
    from ..data.kernels.exact import count_bytes

    counts = np.zeros((here.size, 1, 3, sets.n_classes))
    columns = np.flatnonzero(here)
    slots = narrow.slots[columns]
    if (sets.weights == 1).all() and not narrow.missing[slots].any():
        masks = pack_bits(sets.labels == np.arange(sets.n_classes)[:, None])
        totals = np.bitwise_count(masks).sum(1)
        for first in range(0, columns.size, _CHUNK):
            some = columns[first : first + _CHUNK]
            bits = pack_bits(narrow.cells[narrow.slots[some]])
            for k, mask in enumerate(masks):
                counts[some, 0, 1, k] = np.bitwise_count(bits & mask).sum(1)
            counts[some, 0, 0] = totals - counts[some, 0, 1]
        return counts
    found = np.zeros((columns.size, 3, sets.n_classes))
    count_bytes(narrow.cells, slots, sets.labels, sets.weights, found)
    counts[columns, 0] = found
    return counts


def presence_of(specs: Sequence[ColumnSpec]) -> NDArray[np.bool_]:
    """Which columns count every value but 0 as 1."""
    if isinstance(specs, BinarySpecs):
        return np.full(len(specs), specs.presence)
    return np.array([spec.presence for spec in specs], bool)


def fixed_tables(tables: Sequence[Ints | None] | Ints, columns: Ints) -> Ints:
    """Integer tables of some discrete columns of one width, as one array."""
    if isinstance(tables, np.ndarray):
        return tables[columns]
    return np.stack([table for table in (tables[j] for j in columns) if table is not None])
