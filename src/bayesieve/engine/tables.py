"""What a dense ledger asks of its tables."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..models.base import Ints, Scale

#: Terms of values in a set of tables, as integers: values x classes.
Speak = Callable[[Array, int], Ints]


class LinearFactors(NamedTuple):
    """Terms in the linear domain."""

    factors: dict[int, NDArray[np.float32]]  #: for joining (1) and leaving (-1), largest 1 a value
    allowed: NDArray[np.bool_]  #: may a scan use them for this column?


class LedgerTables(Protocol):
    """What a dense ledger asks of its tables."""

    @property
    def scale(self) -> Scale:
        """Of the integers."""

    @property
    def n_classes(self) -> int:
        """How many classes."""

    @property
    def n_sets(self) -> int:
        """How many sets of tables."""

    @property
    def prior(self) -> Ints:
        """Sets x classes."""

    @property
    def slots(self) -> Ints:
        """Row of the codes (>= 0), or -1 - position among the numbers, of each column."""

    @property
    def n_codes(self) -> Ints:
        """Values of each coded column."""

    @property
    def offsets(self) -> Ints:
        """Where the table of each coded column starts."""

    @property
    def table(self) -> Ints:
        """All tables of coded columns."""

    @property
    def linear(self) -> dict[int, NDArray[np.float32]]:
        """The same in the linear domain, for joining and for leaving."""

    @property
    def linear_ok(self) -> NDArray[np.bool_]:
        """May a scan use them?"""

    def speaker(self, column: int) -> Speak:
        """What tells the terms of a column without codes."""
