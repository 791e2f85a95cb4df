"""Storage of cells: bytes, panels, packed and sparse tables, in memory or memory-mapped."""

import math
import mmap
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import DTypeLike, NDArray

from ..checks import Array, Bools, Bytes, Floats, Foreign, Ints
from .columns import MOST_CODES

#: The code of a missing value in a binary column.
SILENT = 2

# Rows in which a table is scouted: most columns that hold something else show it here.
_SCOUTED = 64

# Columns of a row-major table that are turned together where they are read one after the other.
_PANEL = 64

_NUMBERS = frozenset("biufBIUF")


class TableShape:
    """What tables of all kinds have: names of their columns, and a number of rows."""

    names: list[str]
    n_rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.names)

    @property
    def is_sparse(self) -> bool:
        """Are columns kept by the rows in which they are not 0?"""
        return False

    def is_constant(self, j: int) -> bool:
        """Is one value at most known in a column?  (False also where nobody has looked.)"""
        return False

    def is_identifier(self, j: int) -> bool:
        """Does a column hold texts that hardly repeat?  (False also where nobody has looked.)"""
        return False


@dataclass(frozen=True)
class NarrowColumns:
    """The columns of a table that hold whole numbers from 0 to 254, and missing values."""

    #: columns x rows; 255 is missing, but 2 in a binary column, so that its bytes are codes
    cells: Bytes
    slots: Ints  #: row of `cells` of each column of the table; -1: it holds something else
    least: Bytes  #: smallest and largest value of each row of `cells`
    most: Bytes
    missing: Bools  #: has a row of `cells` missing values?
    doubtful: Bools  #: columns left out for a zero below zero only

    @property
    def binary(self) -> Bools:
        """Which columns of the table hold nothing but 0, 1 and missing values."""
        found = np.zeros(self.slots.size, bool)
        here = self.slots >= 0
        found[here] = self.most[self.slots[here]] <= 1
        return found

    def coded(self, j: int) -> tuple[Floats, Bytes]:
        """Each value of a column and NaN at the end, and which of them every row has."""
        slot = self.slots[j]
        cells = self.cells[slot]
        if self.least[slot] == 0 and self.most[slot] == 1:
            return np.array([0.0, 1.0, np.nan]), cells
        seen = np.bincount(cells, minlength=256) > 0
        silent = SILENT if self.most[slot] <= 1 else 255
        seen[silent] = False
        values = np.flatnonzero(seen)
        code_of = np.cumsum(seen) - 1
        code_of[silent] = values.size
        return np.append(values.astype(np.float64), np.nan), code_of.astype(np.uint8)[cells]

    def column(self, j: int) -> Floats:
        """One column as numbers."""
        slot = self.slots[j]
        column = self.cells[slot].astype(np.float64)
        if self.missing[slot]:
            column[self.cells[slot] == (SILENT if self.most[slot] <= 1 else 255)] = np.nan
        return column


def find_narrow(columns: Sequence[Array] | Array) -> NarrowColumns:
    """Read all columns once: rows x columns of numbers, or a list of columns."""
    from .kernels.exact import MINUS_ZERO, extremes, recode_missing

    # A row of cells for every flag of 0.
    cells, flags = _of_array(columns) if isinstance(columns, np.ndarray) else _of_columns(columns)

    slots = np.where(flags == 0, np.cumsum(flags == 0) - 1, -1)
    n = len(cells)
    least, most, missing = np.empty(n, np.uint8), np.empty(n, np.uint8), np.empty(n, bool)
    extremes(cells, 0, n, least, most, missing)
    recoded = np.flatnonzero(missing & (most <= 1))
    if recoded.size:
        recode_missing(cells, recoded, SILENT)
    return NarrowColumns(cells, slots, least, most, missing, flags == MINUS_ZERO)


def _of_array(table: Array) -> tuple[Bytes, Bytes]:
    """Bytes of a numeric array, and the flags of every column."""
    from .kernels.exact import MISSING, ODD, turn_to_bytes

    readable, floats = _readable(table)
    n_rows, n_columns = table.shape
    if readable.dtype == np.uint8 and readable.T.flags.c_contiguous:
        # Bytes by columns already: they stay where they are.
        largest = readable.max(0, initial=0)
        if (largest < MISSING).all():
            return readable.T, np.zeros(n_columns, np.uint8)
    scouted = np.zeros(n_columns, np.uint8)
    few = readable[:_SCOUTED]
    everyone = np.arange(n_columns)
    some = np.empty((n_columns, len(few)), np.uint8)
    turn_to_bytes(few, floats, everyone, 0, n_columns, some, scouted)
    narrow = np.flatnonzero(scouted & ODD == 0)
    cells = np.empty((narrow.size, n_rows), np.uint8)
    flags = scouted[narrow]
    if readable.T.flags.c_contiguous:
        for c, j in enumerate(narrow):
            flags[c] |= _one(readable[:, j], floats, cells[c])
    else:
        turn_to_bytes(readable, floats, narrow, 0, narrow.size, cells, flags)
    scouted[narrow] = flags
    return _kept(cells, flags == 0), scouted


def _of_columns(columns: Sequence[Array]) -> tuple[Bytes, Bytes]:
    """Bytes of a list of columns, each of its own type, and the flags of every column."""
    from .kernels.exact import ODD

    flags = np.full(len(columns), ODD, np.uint8)
    n_rows = len(columns[0]) if len(columns) else 0
    scout = np.empty(_SCOUTED, np.uint8)
    narrow = []
    for j, column in enumerate(columns):
        if column.dtype.kind in _NUMBERS:
            if column.dtype.itemsize == 1:  # nearly always small: no scout needed
                flags[j] = 0
            else:
                few, floats = _readable(column[:_SCOUTED])
                flags[j] = _one(few, floats, scout[: few.size])
            if not flags[j] & ODD:
                narrow.append(j)
    cells = np.empty((len(narrow), n_rows), np.uint8)
    for c, j in enumerate(narrow):
        flags[j] |= _one(*_readable(columns[j]), cells[c])
    return _kept(cells, flags[narrow] == 0), flags


def _one(column: Array, floats: bool, out: Bytes) -> int:
    from .kernels.exact import MISSING, ODD, to_bytes

    if column.dtype == np.uint8:
        out[:] = column
        return ODD if column.max(initial=0) == MISSING else 0
    return int(to_bytes(column, floats, out))


def _kept(cells: Bytes, kept: Bools) -> Bytes:
    return cells if kept.all() else cells[kept]


def _readable(cells: Array) -> tuple[Array, bool]:
    """Numbers of a type that kernels read, and whether they are floats."""
    floats = cells.dtype.kind == "f"
    if cells.dtype == bool:
        return cells.view(np.uint8), False
    if not cells.dtype.isnative or (floats and cells.dtype.itemsize not in (4, 8)):
        return cells.astype(np.float64 if floats else cells.dtype.newbyteorder("=")), floats
    return cells, floats


def pack_bits(cells: Bytes | Bools) -> NDArray[np.uint64]:
    """Zeros and ones, 64 to a word, padded with zeros."""
    packed = np.packbits(cells, axis=1, bitorder="little")
    width = -(-packed.shape[1] // 8) * 8
    if width != packed.shape[1]:
        padded = np.zeros((len(packed), width), np.uint8)
        padded[:, : packed.shape[1]] = packed
        packed = padded
    return packed.view(np.uint64)


class Panels:
    """Columns of an array of rows as floats, some neighbours turned together.

    Reading columns in their order takes a table's cells through the cache once; a column out of
    order is read alone.
    """

    def __init__(self, cells: Array):
        self._cells = cells
        self._first, self._turned = 0, np.empty((0, 0))
        self._next = -1

    def column(self, j: int) -> Floats:
        """One column."""
        first, turned, expected = self._first, self._turned, self._next
        self._next = j + 1
        if first <= j < first + len(turned):
            return turned[j - first]
        n_rows, n_columns = self._cells.shape
        if j != expected or self._cells.T.flags.c_contiguous or n_columns < 2:
            return np.ascontiguousarray(self._cells[:, j], dtype=np.float64)
        from .kernels.exact import turn_to_floats

        readable, _ = _readable(self._cells[:, j : j + _PANEL])
        turned = np.empty((readable.shape[1], n_rows))
        turn_to_floats(readable, 0, turned)
        self._first, self._turned = j, turned
        return turned[0]


@dataclass(frozen=True)
class Room:
    """Where large arrays are put."""

    #: None for memory; otherwise arrays are mapped from files in this folder.  The files have no
    #: name: they are gone with the last array that needs them, and when the process dies.
    folder: str | None = None
    #: most memory for what can be made anew; None: whoever asks decides
    cache_bytes: int | None = None

    def __call__(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """An array of zeros."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if self.folder is None or not size:
            return np.zeros(shape, dtype)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            try:
                # Reserved now: a disk that is full later would end the process without a word.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                else:  # pragma: no cover
                    file.truncate(size)
            except OSError as error:
                raise OSError(
                    error.errno,
                    f"the folder {self.folder!r} has no room for {size / 1e6:.0f} MB of packed "
                    f"columns ({error.strerror}); name a folder on a larger disk",
                ) from error
            mapped = mmap.mmap(file.fileno(), size)
        return np.frombuffer(mapped, dtype).reshape(shape)


#: Arrays in memory, as large as they must be.
IN_MEMORY = Room()


# -- Tables packed to a bit or a byte a cell where that suffices -----------------------------------


# A table in memory leaves this share of its size to the terms that a ledger keeps, or this much.
_CACHE_SHARE = 8

_LEAST_CACHE = 2**25


class Bits:
    """Codes 0 and 1, eight rows to a byte; rows are read as they are asked for.

    Examples
    --------
    >>> bits = Bits(np.zeros(2, np.uint8), 11)
    >>> bits.put(3, np.array([1, 0, 1, 1]))
    >>> np.asarray(bits).tolist(), bits[np.array([6, 4])].tolist()
    ([0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0], [1, 0])
    """

    def __init__(self, flat: Bytes, n_rows: int):
        self._flat, self.size = flat, n_rows

    @property
    def nbytes(self) -> int:
        """Size of the bytes."""
        return self._flat.nbytes

    def put(self, first: int, codes: Array) -> None:
        """Write the codes of rows that have not been written, from row `first` on."""
        byte, bit = divmod(first, 8)
        padded = np.concatenate([np.zeros(bit, np.uint8), codes.astype(np.uint8)])
        packed = np.packbits(padded, bitorder="little")
        self._flat[byte : byte + packed.size] |= packed

    def __getitem__(self, rows: Ints) -> Bytes:
        return self._flat[rows >> 3] >> (rows & 7).astype(np.uint8) & 1

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.generic]:
        codes = np.unpackbits(self._flat, count=self.size, bitorder="little")
        return codes if dtype is None else codes.astype(dtype)


class PackedColumn(NamedTuple):
    """One column: codes of few values, or numbers as they are."""

    #: distinct values, sorted, and the missing one (NaN or None) at the end; None where `cells`
    #: holds the numbers themselves
    values: Array | None
    #: position of each row's value among `values`, as bits where there are two and nothing is
    #: missing; or float64
    cells: Array | Bits


class Lookup:
    """Values of some rows of a packed column, made when they are read."""

    def __init__(self, values: Array | None, cells: Array | Bits, rows: Ints):
        self._values, self._cells, self._rows = values, cells, rows

    def __getitem__(self, part: slice) -> Array:
        cells = self._cells[self._rows[part]]
        return cells if self._values is None else self._values[cells]


@dataclass(frozen=True, eq=False, repr=False)
class PackedTable(TableShape):
    """A table as `bayesieve.engine.pack` makes it; estimators take it as X.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    shape : tuple of int
        Rows and columns.
    nbytes : int
        Size of the packed columns.
    target : ndarray, data frame or None
        The target that `pack` was asked to keep, as y for `fit`.
    identifiers : list of str
        Text columns that were left out, since they name rows.
    """

    names: list[str]
    n_rows: int
    packed: tuple[PackedColumn, ...]
    room: Room = IN_MEMORY
    target: Foreign = None
    identifiers: tuple[str, ...] = ()
    rows: Ints | None = None  #: rows of `packed` that are in the table; None: all

    def __repr__(self) -> str:
        where = "memory" if self.room.folder is None else f"files in {self.room.folder!r}"
        n_rows, n_columns = self.shape
        return (
            f"<PackedTable of {n_rows} rows x {n_columns} columns, {self.nbytes / 1e6:.1f} MB in "
            f"{where}>"
        )

    def __len__(self) -> int:
        return self.n_rows

    @property
    def columns(self) -> list[str]:
        """Names of the columns, as data frames call them."""
        return self.names

    @property
    def nbytes(self) -> int:
        """Size of the packed columns."""
        return sum(column.cells.nbytes for column in self.packed)

    def coded(self, j: int) -> tuple[Array, Array | None]:
        """Each value of a column, and which of them every row has; None: row by row as they are."""
        values, kept = self.packed[j]
        cells: Array = np.asarray(kept) if self.rows is None else kept[self.rows]
        if values is None:
            return cells, None
        if self.rows is not None:
            used = np.bincount(cells, minlength=len(values)) > 0
            used[-1] = True
            cells = (np.cumsum(used) - 1).astype(cells.dtype)[cells]
            values = values[used]
        return values, cells

    def kept(self, j: int) -> tuple[Array, Array | Bits | None]:
        """Values and cells of a column, as `coded` gives them; bits of a whole column stay bits."""
        values, cells = self.packed[j]
        if isinstance(cells, Bits) and values is not None and self.rows is None:
            return values, cells
        return self.coded(j)

    def column(self, j: int) -> Array:
        """One column, unpacked: float64, or texts with None where missing."""
        values, codes = self.coded(j)
        return values if codes is None else values[codes]

    def pick(self, columns: Ints) -> "PackedTable":
        """Some columns only."""
        return replace(
            self,
            names=[self.names[j] for j in columns],
            packed=tuple(self.packed[j] for j in columns),
        )

    def take(self, rows: Ints) -> "PackedTable":
        """Some rows only."""
        mine = rows if self.rows is None else self.rows[rows]
        return replace(self, rows=mine, n_rows=mine.size, target=None)


def room_for(nbytes: int, folder: str | None) -> Room:
    """The room of a packed table of so many bytes."""
    if folder is not None:
        return Room(folder)
    return Room(None, max(nbytes // _CACHE_SHARE, _LEAST_CACHE))


# -- Columns by the rows in which they differ from their usual value -------------------------------


@dataclass(frozen=True)
class Moves:
    """All columns of a table, sparse."""

    entries: Foreign  #: rows x columns in CSC form, sorted; a stored value is a kind plus one
    first: Ints  #: first delta row of each column, and the number of delta rows at the end
    usual: Ints  #: code of the value that is not stored, one a column
    codes: Ints  #: code of each delta row

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.usual.size

    def column(self, f: int) -> Ints:
        """Codes of one column, of all rows."""
        entries = self.entries
        found = np.full(entries.shape[0], self.usual[f])
        mine = slice(entries.indptr[f], entries.indptr[f + 1])
        kinds = entries.data[mine].astype(np.int64) - 1
        found[entries.indices[mine]] = self.codes[self.first[f] + kinds]
        return found

    def rows_of(self, columns: Ints) -> tuple[Ints, Ints]:
        """Delta rows of some columns, and the place of each one's column among these."""
        owner = np.repeat(np.arange(self.n_columns), np.diff(self.first))
        place = np.full(self.n_columns, -1)
        place[columns] = np.arange(columns.size)
        rows = np.flatnonzero(place[owner] >= 0)
        return rows, place[owner[rows]]

    def of_rows(self, rows: Ints) -> "Entries":
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

    pointers: Ints
    lines: NDArray[np.int32]
    kinds: Array


def present(matrix: Foreign) -> Moves:
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
    counts = [np.bincount(column, minlength=n) for column, n in zip(columns, n_codes, strict=True)]
    moves = moves_of(counts)
    rows: list[NDArray[np.int32]] = []
    kinds: list[Array] = []
    wide = max(n_codes) > MOST_CODES
    for column, n, common, (lo, hi) in zip(
        columns, n_codes, moves.usual, pairwise(moves.first), strict=True
    ):
        kind_of = np.zeros(n, np.int32 if wide else np.uint8)
        kind_of[moves.codes[lo:hi]] = np.arange(1, hi - lo + 1)
        rows.append(np.flatnonzero(column != common).astype(np.int32))
        kinds.append(kind_of[column[rows[-1]]])
    pointers = np.cumsum([0, *(mine.size for mine in rows)])
    given = np.concatenate(kinds), np.concatenate(rows), pointers
    entries = scipy.sparse.csc_array(given, shape=(columns[0].size, len(columns)))
    return replace(moves, entries=entries)


def moves_of(counts: Sequence[Array]) -> Moves:
    """Columns by their moves, as the number of rows of each code has it; entries are elsewhere.

    Examples
    --------
    >>> moves = moves_of([np.array([5, 2, 0]), np.array([0, 3, 1])])
    >>> moves.usual.tolist(), moves.first.tolist(), moves.codes.tolist()
    ([0, 1], [0, 1, 2], [1, 2])
    """
    usual = [int(each.argmax()) for each in counts]
    others = [
        (codes := np.flatnonzero(each))[codes != common]
        for each, common in zip(counts, usual, strict=True)
    ]
    first = np.cumsum([0, *(each.size for each in others)])
    moved = np.concatenate([np.empty(0, np.int64), *others]).astype(np.int64)
    return Moves(None, first, np.array(usual, np.int64), moved)
