"""From a ledger's answers to verdicts: fast bounds shortlist, exact losses decide."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..criteria import Criterion, standard_error
from ..criteria.base import Key, loss_of
from ..engine.contract import AS_IT_IS, Ints, Ledger, Units

# Candidates asked at once while looking for the first gain.
LEAST_BLOCK, MOST_BLOCK = 32, 4096


class Gain(NamedTuple):
    """The first strict gain among units asked in turn."""

    at: int | None  #: its position; None if there is none
    key: Key
    tried: int  #: how many were asked up to it
    block: int  #: how many to ask at once next time


class Verdicts(Protocol):
    """What an objective asks: subsets in, keys out.  A checkpoint stands in for it."""

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Let columns join (1) or leave (-1)."""

    def now(self) -> Key:
        """Key of the subset."""

    def keys(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact key after each unit alone joins (1) or leaves (-1)."""

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """The unit with the lowest key, the lowest unit of equals, and that key."""

    def first_gain(self, units: Sequence[int], sign: int, now: Key, block: int) -> Gain:
        """The first unit whose move gives a key below `now`."""

    def value(self, key: Key) -> float:
        """A key in the criterion's own units."""


class Settler:
    """Verdicts of one criterion on one ledger.

    Parameters
    ----------
    ledger : owns the rows.
    criterion : how good sums are.
    units : columns that move together.
    """

    def __init__(self, ledger: Ledger, criterion: Criterion, units: Units):
        self._ledger, self._criterion, self._units = ledger, criterion, units
        self._rule = criterion.rule(ledger)
        self._inside: set[int] = set()  # columns in the subset

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Let columns join (1) or leave (-1)."""
        self._ledger.apply(columns, sign)
        (self._inside.update if sign > 0 else self._inside.difference_update)(columns)

    def now(self) -> Key:
        """Key of the subset."""
        return self.keys([AS_IT_IS], 1)[0]

    def keys(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact keys."""
        which = np.asarray(units, np.int64)
        if self._rule is None:
            return [self._own_loss(int(unit), sign) for unit in which]
        cells = self._ledger.losses(self._rule, self._units, which, sign)
        return self._rule.keys(cells, self._sizes(which, sign))

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """Lowest exact key among the units that nothing fast can rule out."""
        which = np.asarray(units, np.int64)
        if self._rule is None:
            return _lowest(which, self.keys(units, sign))
        if self._rule.direct:
            cells, sizes = self._ask(which, sign)
            near = self._rule.near(cells, sizes)
            return _lowest(which[near], self._rule.keys(cells[near], sizes[near]))
        loss, doubt = self._ledger.bounds(self._rule, self._units, which, sign)
        which = which[~(loss - doubt > (loss + doubt).min())]
        return _lowest(which, self._rule.keys(*self._ask(which, sign)))

    def first_gain(self, units: Sequence[int], sign: int, now: Key, block: int) -> Gain:
        """Units are asked in blocks that grow while nothing is found, and shrink where gains are
        frequent.
        """
        at = tried = 0
        while at < len(units):
            part = units[at : at + block]
            for i, key in enumerate(self.keys(part, sign)):
                if key < now:
                    return Gain(at + i, key, tried + i + 1, max(LEAST_BLOCK, 2 * (i + 1)))
            tried += len(part)
            at += len(part)
            block = min(2 * block, MOST_BLOCK)
        return Gain(None, None, tried, block)

    def value(self, key: Key) -> float:
        """A key in the criterion's own units; of a user's, the loss, or the gain it stands for."""
        if self._rule is not None:
            return self._rule.value(key)
        return -float(key) if self._criterion.greater_is_better else float(key)

    def standard_error(self, columns: Sequence[int]) -> float:
        """How far the score of a subset may be off by the luck of the rows."""
        wanted = set(columns)
        found = self._ledger.scores(sorted(wanted - self._inside), sorted(self._inside - wanted))
        return standard_error(self._criterion, self._ledger.outline, found)

    def _ask(self, which: Ints, sign: int) -> tuple[Ints, Ints]:
        """Exact cells, and the sizes of the subsets."""
        assert self._rule is not None
        cells = self._ledger.losses(self._rule, self._units, which, sign)
        return cells, self._sizes(which, sign)

    def _sizes(self, which: Ints, sign: int) -> Ints:
        widths = np.where(which >= 0, self._units.widths[which], 0)
        return len(self._inside) + sign * widths

    def _own_loss(self, unit: int, sign: int) -> float:
        moved = self._units.members[unit] if unit >= 0 else ()
        joining, leaving = (moved, ()) if sign > 0 else ((), moved)
        return loss_of(self._criterion, self._ledger, self._ledger.scores(joining, leaving))


def _lowest(units: Iterable[int], keys: list[Key]) -> tuple[int, Key]:
    """The lowest key, and of equals the lowest unit."""
    key, unit = min(zip(keys, (int(unit) for unit in units), strict=True))
    return unit, key
