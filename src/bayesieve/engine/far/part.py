"""Rows of a table as codes, where they are held."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array


class CodedPart(NamedTuple):
    """Rows of a table as codes.

    Parameters
    ----------
    codes : columns whose codes fit a byte; those of 0 and 1 only, a bit a row.
    wide : the other columns.
    n_rows : how many rows.
    """

    codes: tuple[NDArray[np.uint8], ...]
    wide: tuple[NDArray[np.int32], ...]
    n_rows: int

    @classmethod
    def of(cls, codes: Iterable[Array], wide: Iterable[Array], n_rows: int) -> "CodedPart":
        """Columns of a byte a row, those of 0 and 1 packed; and the others.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.engine.far.part import CodedPart
        >>> part = CodedPart.of([np.array([0, 1] * 8), np.array([0, 2] * 8)], [], 16)
        >>> [column.nbytes for column in part.codes], part.column(0)[:4]
        ([2, 16], array([0, 1, 0, 1], dtype=uint8))
        """
        kept = []
        for column in codes:
            two = n_rows > 1 and column.max() <= 1
            kept.append(np.packbits(column.astype(np.uint8)) if two else column.astype(np.uint8))
        return cls(tuple(kept), tuple(np.asarray(each, np.int32) for each in wide), n_rows)

    def column(self, slot: int) -> Array:
        """One column, by its slot among the coded (>= 0) or the wide ones."""
        if slot < 0:
            return self.wide[-1 - slot]
        found = self.codes[slot]
        # Of two rows on, bits are fewer bytes than rows.
        return found if found.size == self.n_rows else np.unpackbits(found, count=self.n_rows)
