"""A table whose rows are held elsewhere: its columns are known, and come as codes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...data.tables import RawTable
from ...models.shared import SharedTable
from .given import Given
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
    chunks_sparse : are its parts sparse?
    """

    rows: FarRows | None = None
    face: Foreign = None
    n_given: int = 0
    given: Given | None = None
    chunks_sparse: bool = False

    @property
    def is_sparse(self) -> bool:
        """Are columns kept by the rows in which they are not 0?"""
        return self.chunks_sparse

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

    def pick(self, columns: NDArray[np.int64]) -> RawTable:
        """Some columns, whose codes come here; refused where codes are intervals of values."""
        found = []
        for j in columns.tolist():
            spec = self.held.specs[j]
            if spec.cuts is not None or spec.levels is None:
                self.column(j)
            levels = np.asarray(spec.levels)
            missing: Foreign = None if levels.dtype == object else np.nan
            found.append(np.append(levels, missing)[self.codes(j)])
        return RawTable(found, [self.names[j] for j in columns], self.n_rows)
