"""Rows of a table as codes, where they are held; and columns of it, dealt out to others."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array


class RareCodes(NamedTuple):
    """A column of codes, nearly all of which are the same.

    Parameters
    ----------
    usual : the code of all other rows.
    rows, codes : rows that have another one, ascending, and it.
    """

    usual: int
    rows: NDArray[np.int32]
    codes: NDArray[np.uint8]


class CodedPart(NamedTuple):
    """Rows of a table as codes.

    Parameters
    ----------
    codes : columns whose codes fit a byte; those of 0 and 1 only, a bit a row; or rare codes.
    wide : the other columns.
    n_rows : how many rows.
    """

    codes: tuple[NDArray[np.uint8] | RareCodes, ...]
    wide: tuple[NDArray[np.int32], ...]
    n_rows: int

    @classmethod
    def of(
        cls, codes: Iterable[Array | RareCodes], wide: Iterable[Array], n_rows: int
    ) -> "CodedPart":
        """Columns of a byte a row, those of 0 and 1 packed; and the others.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.engine.far.part import CodedPart
        >>> part = CodedPart.of([np.array([0, 1] * 8), np.array([0, 2] * 8)], [], 16)
        >>> [column.nbytes for column in part.codes], part.column(0)[:4]
        ([2, 16], array([0, 1, 0, 1], dtype=uint8))
        """
        kept: list[NDArray[np.uint8] | RareCodes] = []
        for column in codes:
            if isinstance(column, RareCodes):
                kept.append(column)
                continue
            two = n_rows > 1 and column.max() <= 1
            kept.append(np.packbits(column.astype(np.uint8)) if two else column.astype(np.uint8))
        return cls(tuple(kept), tuple(np.asarray(each, np.int32) for each in wide), n_rows)

    def column(self, slot: int) -> Array:
        """One column, by its slot among the coded (>= 0) or the wide ones."""
        if slot < 0:
            return self.wide[-1 - slot]
        found = self.codes[slot]
        if isinstance(found, RareCodes):
            whole = np.full(self.n_rows, found.usual, np.uint8)
            whole[found.rows] = found.codes
            return whole
        # Of two rows on, bits are fewer bytes than rows.
        return found if found.size == self.n_rows else np.unpackbits(found, count=self.n_rows)

    def apart(self, slot: int, usual: int) -> tuple[Array, Array]:
        """The rows of a column that have another code than the usual one, and their codes."""
        found = self.codes[slot] if slot >= 0 else None
        if isinstance(found, RareCodes) and found.usual == usual:
            return found.rows, found.codes
        column = self.column(slot)
        rows = np.flatnonzero(column != usual)
        return rows, column[rows]


class Piece(NamedTuple):
    """Some columns of a part, by the rows in which they differ from their usual code.

    Parameters
    ----------
    pointers : column c has the entries from pointers[c] to pointers[c + 1].
    rows, codes : of the entries; rows ascending within a column.
    n_rows : how many rows the part has.
    """

    pointers: NDArray[np.int64]
    rows: NDArray[np.int32]
    codes: Array
    n_rows: int


def deal(part: CodedPart, slots: Sequence[int], usual: Sequence[int]) -> Piece:
    """Some columns of a part, for whoever is to hold them.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.far.part import CodedPart, deal
    >>> part = CodedPart.of([np.array([0, 1, 0]), np.array([2, 2, 0])], [], 3)
    >>> [each.tolist() for each in deal(part, [0, 1], [0, 2])[:3]]
    [[0, 1, 2], [1, 2], [1, 0]]
    """
    found = [part.apart(slot, code) for slot, code in zip(slots, usual, strict=True)]
    sizes = [rows.size for rows, _ in found]
    kind = np.int32 if any(slot < 0 for slot in slots) else np.uint8
    return Piece(
        np.cumsum([0, *sizes], dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *(rows for rows, _ in found)]).astype(np.int32),
        np.concatenate([np.empty(0, kind), *(codes for _, codes in found)]).astype(kind),
        part.n_rows,
    )
