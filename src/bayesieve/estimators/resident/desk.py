"""A ledger on which questions about subsets are asked, one at a time."""

from collections.abc import Sequence
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array
from ...criteria.base import Criterion, Key
from ...engine.contract import Ledger, Units
from ...engine.threads import Threads
from ...search.held import afresh
from ...search.objective import Settler


class Answer(NamedTuple):
    """The score of a subset: to compare, to read, and how far it may be off."""

    key: Key
    value: float


class Desk:
    """Subsets in, scores out; the sums follow from subset to subset.

    Parameters
    ----------
    ledger : of the rows that guide; it stays as it is.
    criterion : how good sums are.
    units : columns that move together.
    """

    def __init__(self, ledger: Ledger, criterion: Criterion, units: Units):
        self._ledger, self._criterion = afresh(ledger, Threads()), criterion
        self._lock = RLock()
        self._inside: set[int] = set()
        self.regroup(units)

    def regroup(self, units: Units) -> None:
        """Other columns move together; the subset stays."""
        with self._lock:
            self._settler = Settler(self._ledger, self._criterion, units)
            self._units = units
            self._settler_inside()

    def _settler_inside(self) -> None:
        """A new settler begins with nothing in: so does the ledger."""
        self._ledger.apply(sorted(self._inside), -1)
        self._inside = set()

    def ask(self, columns: Sequence[int]) -> Answer:
        """The score of a subset."""
        with self._lock:
            self._move(set(columns))
            key = self._settler.now()
            return Answer(key, self._settler.value(key))

    def standard_error(self, columns: Sequence[int]) -> float:
        """How far the score of a subset may be off by the luck of the rows."""
        with self._lock:
            return self._settler.standard_error(columns)

    def probabilities(self, columns: Sequence[int]) -> tuple[Array, NDArray[np.float64]]:
        """Rows and probabilities of their classes; of labels, of the first."""
        with self._lock:
            self._move(set(columns))
            parts = list(self._ledger.scores((), ()))
        rows = np.concatenate([part.rows for part in parts])
        nat = np.ldexp(
            np.concatenate([part.sums[0] for part in parts]).astype(np.float64),
            -self._ledger.outline.bits,
        )
        odds = np.exp(nat - nat.max(1, keepdims=True))
        rows, first = np.unique(rows, return_index=True)
        return rows, (odds / odds.sum(1, keepdims=True))[first]

    def each(self, columns: Sequence[int], units: Sequence[int], sign: int) -> list[Answer]:
        """The scores of a subset after each unit alone joins (1) or leaves (-1)."""
        with self._lock:
            self._move(set(columns))
            keys = self._settler.keys(units, sign)
            return [Answer(key, self._settler.value(key)) for key in keys]

    def best(self, columns: Sequence[int], units: Sequence[int]) -> tuple[int, Answer]:
        """The unit that does a subset most good by joining it."""
        with self._lock:
            self._move(set(columns))
            unit, key = self._settler.best(units, 1)
            return unit, Answer(key, self._settler.value(key))

    def _move(self, wanted: set[int]) -> None:
        self._settler.apply(sorted(self._inside - wanted), -1)
        self._settler.apply(sorted(wanted - self._inside), 1)
        self._inside = wanted
