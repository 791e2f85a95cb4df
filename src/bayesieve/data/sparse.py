"""Columns by the rows in which they differ from their usual value."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..checks import Array
from .columns import MOST_CODES


@dataclass(frozen=True)
class Moves:
    """All columns of a table, sparse.

    Parameters
    ----------
    entries : rows x columns in CSC form, sorted; a stored value is a kind plus one.
    first : first delta row of each column, and the number of delta rows at the end.
    usual : code of the value that is not stored, one a column.
    codes : code of each delta row.
    """

    entries: Any
    first: NDArray[np.int64]
    usual: NDArray[np.int64]
    codes: NDArray[np.int64]

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.usual.size

    def column(self, f: int) -> NDArray[np.int64]:
        """Codes of one column, of all rows."""
        entries = self.entries
        found = np.full(entries.shape[0], self.usual[f])
        mine = slice(entries.indptr[f], entries.indptr[f + 1])
        kinds = entries.data[mine].astype(np.int64) - 1
        found[entries.indices[mine]] = self.codes[self.first[f] + kinds]
        return found

    def rows_of(self, columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Delta rows of some columns, and the place of each one's column among these."""
        owner = np.repeat(np.arange(self.n_columns), np.diff(self.first))
        place = np.full(self.n_columns, -1)
        place[columns] = np.arange(columns.size)
        rows = np.flatnonzero(place[owner] >= 0)
        return rows, place[owner[rows]]

    def of_rows(self, rows: NDArray[np.int64]) -> "Entries":
        """Entries of some rows, renumbered; a row may come several times."""
        whole = rows.size == self.entries.shape[0] and (rows == np.arange(rows.size)).all()
        part = self.entries if whole else self.entries.tocsr()[rows].tocsc()
        part.sort_indices()
        return Entries(
            part.indptr.astype(np.int64),
            part.indices.astype(np.int32, copy=False),
            part.data - part.data.dtype.type(1),
        )


@dataclass(frozen=True)
class Entries:
    """Entries as the kernels read them: column f has those from pointers[f] to pointers[f + 1]."""

    pointers: NDArray[np.int64]
    lines: NDArray[np.int32]
    kinds: Array


def present(matrix: Any) -> Moves:
    """A sparse matrix read by presence: every stored value moves its row."""
    n_columns = matrix.shape[1]
    entries = scipy.sparse.csc_array(
        (np.ones(matrix.nnz, np.uint8), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    return Moves(
        entries,
        np.arange(n_columns + 1),
        np.zeros(n_columns, np.int64),
        np.ones(n_columns, np.int64),
    )


def from_codes(columns: list[Array], n_codes: list[int]) -> Moves:
    """Columns of codes; the most frequent code of each (the lowest of equals) is not stored."""
    n_rows = columns[0].size
    pointers, first, usual = [0], [0], []
    rows: list[NDArray[np.int32]] = []
    kinds: list[Array] = []
    codes: list[NDArray[np.int64]] = []
    wide = max(n_codes) > MOST_CODES
    for column, count in zip(columns, n_codes, strict=True):
        counts = np.bincount(column, minlength=count)
        common = int(counts.argmax())
        others = np.flatnonzero(counts)
        others = others[others != common]
        kind_of = np.zeros(count, np.int32 if wide else np.uint8)
        kind_of[others] = np.arange(1, others.size + 1)
        moved = np.flatnonzero(column != common)
        rows.append(moved.astype(np.int32))
        kinds.append(kind_of[column[moved]])
        codes.append(others)
        usual.append(common)
        pointers.append(pointers[-1] + moved.size)
        first.append(first[-1] + others.size)
    entries = scipy.sparse.csc_array(
        (np.concatenate(kinds), np.concatenate(rows), np.array(pointers)),
        shape=(n_rows, len(columns)),
    )
    return Moves(
        entries, np.array(first), np.array(usual, np.int64), np.concatenate(codes).astype(np.int64)
    )
