"""Walks: many steps in one trip to the ledger, a loss after each."""

import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain, groupby
from typing import NamedTuple, Protocol

from ..criteria.base import Key

# Seconds after which a walk ends, so that a search can be stopped; a trip takes less.
_WALK, _TRIP = 0.2, 0.05


class Toggle(NamedTuple):
    """A step of a walk."""

    unit: int
    columns: Sequence[int]  #: of the unit
    sign: int  #: they join (1) or leave (-1)
    asked: bool  #: is the loss after it asked for?


class Walked(NamedTuple):
    """A walk that was made."""

    start: tuple[int, ...]  #: the units that were in the subset
    moves: Sequence[Sequence[int]]  #: units that join or leave at once
    keys: list[Key | None]  #: after each move that there was time for

    def subset(self, taken: int) -> dict[int, None]:
        """The units after so many moves, in the order in which they joined."""
        inside = dict.fromkeys(self.start)
        for unit in chain.from_iterable(self.moves[:taken]):
            if unit in inside:
                del inside[unit]
            else:
                inside[unit] = None
        return inside


class Ground(Protocol):
    """Where one walks."""

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Let columns join (1) or leave (-1)."""

    def keys_along(self, steps: Sequence[Toggle]) -> list[Key]:
        """Take steps; the key after each."""


class Walker:
    """Takes as many steps as there is time for, in trips that are longer the quicker they are."""

    _stride = 1  # losses asked for in a trip

    def walk(self, ground: Ground, steps: Sequence[Toggle]) -> list[Key | None]:
        """Keys after the steps taken, the first at least; None where none is asked for."""
        found: list[Key | None] = []
        start = now = time.perf_counter()
        while len(found) < len(steps) and now - start < _WALK:
            end, asked = len(found), 0
            while end < len(steps) and asked < self._stride:
                asked += steps[end].asked
                end += 1
            found += _trip(ground, steps[len(found) : end])
            before, now = now, time.perf_counter()
            self._stride = max(2 * self._stride if now - before < _TRIP else self._stride // 2, 1)
        return found


def _trip(ground: Ground, steps: Sequence[Toggle]) -> list[Key | None]:
    found: list[Key | None] = []
    for asked, run in groupby(steps, lambda step: step.asked):
        part = list(run)
        if asked:
            found += ground.keys_along(part)
        else:
            _pass(ground, part)
            found += [None] * len(part)
    return found


def _pass(ground: Ground, steps: Sequence[Toggle]) -> None:
    """Steps that nobody asks about: what they come to is all that is done."""
    net: Counter[int] = Counter()
    for step in steps:
        for column in step.columns:
            net[column] += step.sign
    for sign in (-1, 1):
        columns = [column for column, moved in net.items() if moved == sign]
        if columns:
            ground.apply(columns, sign)
