"""Rows of a table as codes, where they are held."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array


class CodedPart(NamedTuple):
    """Rows of a table as codes.

    Parameters
    ----------
    codes : columns whose codes fit a byte x rows.
    wide : the other columns.
    """

    codes: NDArray[np.uint8]
    wide: tuple[NDArray[np.int32], ...]

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.codes.shape[1]

    def column(self, slot: int) -> Array:
        """One column, by its slot among the coded (>= 0) or the wide ones."""
        return self.codes[slot] if slot >= 0 else self.wide[-1 - slot]
