"""On how many rows columns differ: counted where the rows are, and added up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...checks import Array, Foreign
from ..contract import Ints
from .part import CodedPart
from .rows import FarRows
from .wire import Message, narrow

# Parts of each holder's rows whose departures are counted apart.
_SLICES = 16

# Pairs of columns that one question names.
_MOST_PAIRS = 1 << 12

# Columns that a holder keeps unpacked while it counts.
_UNPACKED = 256


class Meanings(NamedTuple):
    """What the codes of columns mean, so that those of different columns can be compared.

    Parameters
    ----------
    starts : column c has the meanings from starts[c] to starts[c + 1], one a code.
    numbers : equal meanings have equal numbers.
    usual : the meaning of each column from which rows depart.
    """

    starts: Ints
    numbers: Ints
    usual: Ints


class Differences(NamedTuple):
    """Of pairs of columns."""

    apart: Ints  #: rows in which they differ
    departing: Ints  #: rows in which either departs from its usual meaning
    both: Ints  #: rows that are both


@dataclass(frozen=True)
class FarTwins:
    """Columns that others hold, as they are compared with each other.

    Parameters
    ----------
    held : whoever holds the rows.
    meanings : of the codes of each column.
    """

    held: FarRows
    meanings: Meanings

    def departures(self) -> Ints:
        """Rows of each slice in which a column departs: columns x slices; one round."""
        found = self.held.ask(Message("departures", {}, self._told()))
        return np.concatenate([answer.arrays[0] for answer in found], axis=1)

    def compare(self, first: Ints, second: Ints) -> Differences:
        """On how many rows columns differ, pair by pair; one round, as a rule."""
        parts = []
        for at in range(0, first.size, _MOST_PAIRS):
            here = slice(at, at + _MOST_PAIRS)
            pairs = narrow(first[here]), narrow(second[here])
            answers = self.held.ask(Message("compare", {}, (*self._told(), *pairs)))
            parts.append(np.sum([answer.arrays[0] for answer in answers], axis=0))
        whole = np.concatenate([np.empty((3, 0), np.int64), *parts], axis=1).astype(np.int64)
        return Differences(*whole)

    def _told(self) -> tuple[Array, ...]:
        return (self.held.slots, *map(narrow, self.meanings))


class ComparedRows:
    """Answers how columns differ for the rows of some parts of a table.

    Parameters
    ----------
    parts : the rows, one part after the other; none is empty.
    """

    def __init__(self, parts: Sequence[CodedPart]):
        self._parts = parts
        self.answers = {"departures": self._departures, "compare": self._compare}

    def _departures(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        slots, *told = arrays
        meanings = Meanings(*(each.astype(np.int64) for each in told))
        found = np.zeros((slots.size, _SLICES), np.int64)
        for part in self._parts:
            for c, slot in enumerate(slots.tolist()):
                departs = _means(part, slot, meanings, c) != meanings.usual[c]
                ends = np.arange(1, _SLICES) * departs.size // _SLICES
                found[c] += [each.sum() for each in np.split(departs, ends)]
        return [found]

    def _compare(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        slots, *told, first, second = arrays
        meanings = Meanings(*(each.astype(np.int64) for each in told))
        found = np.zeros((3, first.size), np.int64)
        for part in self._parts:

            @lru_cache(_UNPACKED)
            def column(c: int, part: CodedPart = part) -> tuple[Array, Array]:
                mine = _means(part, int(slots[c]), meanings, c)
                return mine, mine != meanings.usual[c]

            for p, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
                (a, a_departs), (b, b_departs) = column(one), column(other)
                apart, either = a != b, a_departs | b_departs
                found[:, p] += apart.sum(), either.sum(), (apart & either).sum()
        return [found]


def _means(part: CodedPart, slot: int, meanings: Meanings, c: int) -> Array:
    """What the rows of a part have in one column."""
    numbers = meanings.numbers[meanings.starts[c] : meanings.starts[c + 1]]
    return narrow(numbers)[part.column(slot)]
