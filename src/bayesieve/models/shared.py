"""A table whose columns are judged, learnt and encoded once, for many fits on some of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..data.columns import ColumnSpec, encode, learn
from ..data.packed import PackedTable
from ..data.tables import RawTable, SparseTable, Table
from .registry import MODELS


@dataclass(frozen=True)
class Known:
    """What all rows told about the columns.

    Parameters
    ----------
    models : the feature model of each column.
    specs : levels and resolution, by column and whether its values are rounded.
    codes : codes of all rows of the discrete columns of a dense table.
    """

    models: tuple[str, ...]
    specs: dict[tuple[int, bool], ColumnSpec] = field(default_factory=dict)
    codes: dict[int, Array] = field(default_factory=dict)


class Unpacked(Sequence[Array]):
    """Columns of a packed table, each unpacked when it is read."""

    def __init__(self, table: PackedTable):
        self._table = table

    def __len__(self) -> int:
        return len(self._table.names)

    def __getitem__(self, j: Any) -> Any:
        return self._table.column(j)


@dataclass(frozen=True)
class SharedTable(RawTable):
    """Some rows of a dense table, which stays where it is."""

    known: Known
    at: NDArray[np.int64] | None = None  #: the rows; None for all

    def column(self, j: int) -> Array:
        """One column; numbers as float64."""
        column = super().column(j)
        return column if self.at is None else column[self.at]

    def coded(self, j: int) -> tuple[Array, None]:
        """One column, as it is."""
        return self.column(j), None

    def codes(self, j: int) -> Array:
        """Codes of a discrete column."""
        codes = self.known.codes[j]
        return codes if self.at is None else codes[self.at]

    def take(self, rows: NDArray[np.int64]) -> "SharedTable":
        """Some rows only, without a copy of them."""
        at = rows if self.at is None else self.at[rows]
        return replace(self, at=at, n_rows=rows.size)

    def pick(self, columns: NDArray[np.int64]) -> RawTable:
        """Some columns only."""
        found = [self.column(int(j)) for j in columns]
        return RawTable(found, [self.names[j] for j in columns], self.n_rows)


@dataclass(frozen=True)
class SharedSparse(SparseTable):
    """Some rows of a sparse table, whose columns are known from all rows."""

    known: Known

    def take(self, rows: NDArray[np.int64]) -> "SharedSparse":
        """Some rows only."""
        part = super().take(rows)
        return SharedSparse(part.matrix, part.names, part.n_rows, self.known)


def share(
    table: Table,
    models: list[str],
    rounded: bool = False,
    repeats: NDArray[np.float64] | None = None,
) -> SharedTable | SharedSparse:
    """Learn and encode all columns, so that fits on some of the rows need not.

    `repeats` says how often each row counts where a grid is cut; once by default.
    """
    known = Known(tuple(models))
    shared: SharedTable | SharedSparse
    if isinstance(table, SparseTable):
        shared = SharedSparse(table.matrix, table.names, table.n_rows, known)
    else:
        columns = Unpacked(table) if isinstance(table, PackedTable) else table.columns
        shared = SharedTable(columns, table.names, table.n_rows, known)
    for j, model in enumerate(models):
        discrete = MODELS[model].discrete
        if isinstance(shared, SharedSparse) and model == "bernoulli":
            continue  # presence: nothing is learnt
        raw = shared.column(j)
        for each in {False, bool(rounded and not discrete)}:
            n_codes = MODELS[model].grid_codes
            name = table.names[j]
            spec = learn(name, model, raw, discrete, each, grid_codes=n_codes, repeats=repeats)
            known.specs[j, each] = spec
        if discrete and isinstance(shared, SharedTable):
            known.codes[j] = encode(known.specs[j, False], raw)
    return shared
