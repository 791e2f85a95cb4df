"""The lines of a dense ledger and what they hold."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.kernels.options import LANES
from ..data.packed import Lookup, Room
from ..models import Terms
from .lines import Lines

if TYPE_CHECKING:
    from .tables import DenseTables

Ints = NDArray[np.int64]

#: Term columns of continuous features are kept while they fit into this many bytes; beyond, they
#: are made anew whenever they are read.
TERM_CACHE_BYTES = 2**28


@dataclass(frozen=True)
class DenseRows:
    """Codes of columns with few values, numbers of the others; of each line.

    Parameters
    ----------
    lines : which rows, in which order.
    codes : coded columns x lines, padded by LANES.
    numbers : one array a column without codes.
    room : where large arrays are put.
    """

    lines: Lines
    codes: NDArray[np.uint8]
    numbers: list[NDArray[Any] | Lookup]
    room: Room

    def take(self, at: Ints) -> "DenseRows":
        """Some lines only."""
        codes = self.room((self.codes.shape[0], at.size + LANES), np.uint8)
        codes[:, : at.size] = self.codes[:, at]
        numbers: list[Any] = [values[:][at] for values in self.numbers]
        return DenseRows(self.lines.take(at), codes, numbers, self.room)

    def planes(self, tables: "DenseTables") -> Ints | None:
        """Terms of the columns without codes; None where they are to be made when read."""
        plain = np.flatnonzero(tables.slots < 0)
        n_lines = self.lines.rows.size
        most = TERM_CACHE_BYTES
        if self.room.cache_bytes is not None:
            most = min(most, self.room.cache_bytes)
        if plain.size * tables.n_classes * n_lines * 8 > most:
            return None
        planes = self.room((plain.size, tables.n_classes, n_lines), np.int64)
        for d, f in enumerate(plain):
            self.fill(tables, int(f), planes[d])
        return planes

    def fill(self, tables: "DenseTables", column: int, out: Ints) -> None:
        """Terms of a column that has no codes: classes x lines."""
        values = self.numbers[-1 - tables.slots[column]]
        whole = tables.whole_table(column)
        for part, g in self.lines.runs():
            if whole is None:
                terms = tables.of_values(column, values[part], g)
            else:
                at, never = values[part].astype(np.int64), whole.impossible
                terms = Terms(whole.finite[g, at], None if never is None else never[g, at])
            out[:, part] = tables.scale.fix(terms).T
