"""A table whose rows are held elsewhere: its columns are known, and come as codes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...models.shared import SharedTable
from .cluster import Given
from .rows import FarRows


@dataclass(frozen=True)
class FarTable(SharedTable):
    """Columns of codes that others hold.

    Beside the fields of a shared table, whose `columns` are one row that tells their kinds:

    Parameters
    ----------
    rows : whoever holds the rows.
    face : a table of no rows, with names and types as the user has them.
    n_given : rows that were given, those without weight included.
    given : the collection.
    """

    rows: FarRows | None = None
    face: Foreign = None
    n_given: int = 0
    given: Given | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows given, and columns."""
        return self.n_given, len(self.names)

    @property
    def held(self) -> FarRows:
        """Whoever holds the rows."""
        assert self.rows is not None
        return self.rows

    def codes(self, j: int) -> Array:
        """Codes of one column: they come here, a byte a row."""
        return self.held.codes(j)

    def column(self, j: int) -> Array:
        """Refused: values stay where they are."""
        raise TypeError(
            f"column {self.names[j]!r}: its values are in a Dask collection, of which codes can be "
            "had and not the values. Call compute() and fit on the table."
        )

    def pick(self, columns: NDArray[np.int64]) -> "FarTable":
        """Refused as well."""
        self.column(int(columns[0]))
        return self
