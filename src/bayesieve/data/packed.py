"""Tables packed to a bit or a byte a cell where that suffices, in memory or in a mapped file."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..checks import Array, Bytes, Ints
from .storage import IN_MEMORY, Room, TableShape

# A table in memory leaves this share of its size to the terms that a ledger keeps, or this much.
_CACHE_SHARE = 8

_LEAST_CACHE = 2**25


class Bits:
    """Codes 0 and 1, eight rows to a byte; rows are read as they are asked for.

    Parameters
    ----------
    flat : bytes of zeros to begin with.
    n_rows : how many of their bits are rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.data.packed import Bits
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
        found: Bytes = self._flat[rows >> 3] >> (rows & 7).astype(np.uint8) & 1
        return found

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.generic]:
        codes = np.unpackbits(self._flat, count=self.size, bitorder="little")
        return codes if dtype is None else codes.astype(dtype)


class PackedColumn(NamedTuple):
    """One column: codes of few values, or numbers as they are.

    Parameters
    ----------
    values : distinct values, sorted, and the missing one (NaN or None) at the end; None where
        `cells` holds the numbers themselves.
    cells : position of each row's value among `values`, as bits where there are two and nothing is
        missing; or float64.
    """

    values: Array | None
    cells: Array | Bits


class Lookup:
    """Values of some rows of a packed column, made when they are read.

    Parameters
    ----------
    values, cells : as of a `PackedColumn`.
    rows : the rows wanted, in this order.
    """

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
    target: Any = None
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
