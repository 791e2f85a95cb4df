"""Families of columns that others hold: how they differ is counted there, and decided here."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..data.columns import ColumnSpec
from ..engine.contract import Ints
from ..engine.far.rows import FarRows
from ..engine.far.table import FarTable
from ..engine.far.twins import FarTwins, Meanings
from ..models.base import one_set
from .families import MISSING, PARTS, PLACE, TEXT, WHOLE, Families, Nearness

# Columns that are compared with all leaders at once.
_BLOCK = 64


def find_far(
    table: FarTable, alone: Sequence[int], first: Sequence[int], nearness: Nearness
) -> Families:
    """Near-twins among some columns of a collection; the same as of its rows in memory.

    Parameters
    ----------
    table : the collection.
    alone : the columns, ascending.
    first : those of them that may lead before all others.
    nearness : what near-twins are.
    """
    held = _as_compared(table)
    columns = _Compared(held, tuple(alone))
    twins = FarTwins(held, columns.meanings)
    departures, most, rare = twins.departures(), nearness.most(held.n_rows), nearness.rare
    leader = np.arange(len(table.names))
    leaders: list[int] = []
    order = list(dict.fromkeys([*first, *alone]))
    for at in range(0, len(order), _BLOCK):
        block = order[at : at + _BLOCK]
        near = [
            (j, i)
            for n, j in enumerate(block)
            for i in columns.near(j, [*leaders, *block[:n]], departures, most)
        ]
        first_of, second_of = np.array(near, np.int64).reshape(-1, 2).T
        found = twins.compare(first_of, second_of)
        agree = found.apart <= most
        agree &= rare.denominator * found.both <= rare.numerator * found.departing
        known = {pair for pair, twin in zip(near, agree.tolist(), strict=True) if twin}
        for j in block:
            leader[j] = next((i for i in leaders if (j, i) in known), j)
            if leader[j] == j:
                leaders.append(j)
    return Families(tuple(table.names), leader)


def _as_compared(table: FarTable) -> FarRows:
    """Rows held anew as codes of values, or of parts of a column."""
    assert table.given is not None
    return table.given.hold(table.given.comparable(MISSING, PARTS))


@dataclass(frozen=True)
class _Compared:
    """What the codes of columns mean, and how many rows have each.

    Parameters
    ----------
    held : whoever holds the rows.
    alone : columns that are compared.
    """

    held: FarRows
    alone: tuple[int, ...]

    @cached_property
    def kinds(self) -> Ints:
        """Columns of different kinds never agree."""
        return np.array([_kind(spec) for spec in self.held.specs])

    @cached_property
    def counts(self) -> list[NDArray[np.float64]]:
        """Rows of each code."""
        n_rows = self.held.n_rows
        sets = one_set(np.zeros(n_rows, np.int64), np.ones(n_rows), np.ones(1))
        return [found[0, :, 0] for found in self.held.count(sets, np.arange(n_rows))]

    @cached_property
    def meanings(self) -> Meanings:
        """Numbers that are the same for equal values of different columns."""
        texts = self._texts()
        numbers = [_numbers(spec, texts) for spec in self.held.specs]
        # The lowest of equally frequent ones.
        usual = [
            int(mine[np.lexsort((mine, -counts))[0]])
            for mine, counts in zip(numbers, self.counts, strict=True)
        ]
        starts = np.cumsum([0, *(mine.size for mine in numbers)])
        return Meanings(starts, np.concatenate(numbers), np.array(usual, np.int64))

    def near(self, j: int, others: Sequence[int], departures: Ints, most: int) -> list[int]:
        """Columns that may be twins of another, by how many rows of each slice depart."""
        found = np.array([i for i in others if self.kinds[i] == self.kinds[j]], np.int64)
        alike = self.meanings.usual[found] == self.meanings.usual[j]
        apart = np.abs(departures[found] - departures[j]).sum(1)
        # Where usual values differ, nearly all rows depart.
        together = departures[found].sum(1) + departures[j].sum()
        may = np.where(alike, apart <= most, together >= self.held.n_rows - most)
        return [int(i) for i in found[may]]

    def _texts(self) -> dict[str, int]:
        """Texts of all columns, numbered from 1 as they appear column by column, row by row."""
        spoken = [j for j in self.alone if self.kinds[j] == TEXT]
        # The order tells only where several texts of a column are the most frequent ones.
        ties = any((self.counts[j] == self.counts[j].max()).sum() > 1 for j in spoken)
        found: dict[str, int] = {}
        for j in spoken:
            levels = np.asarray(self.held.specs[j].levels)
            order = np.arange(levels.size)
            if ties:
                seen, rows = np.unique(self.held.codes(j), return_index=True)
                order = seen[np.argsort(rows)]
            for code in order[order < levels.size].tolist():
                found.setdefault(str(levels[code]), len(found) + 1)
        return found


def _kind(spec: ColumnSpec) -> int:
    if spec.cuts is not None:
        return PLACE
    return TEXT if np.asarray(spec.levels).dtype == object else WHOLE


def _numbers(spec: ColumnSpec, texts: dict[str, int]) -> Ints:
    """A number for each code of a column: its text, its part or its value; missing at the end."""
    levels = np.asarray(spec.levels)
    if _kind(spec) == TEXT:
        return np.array([*(texts.get(str(text), 0) for text in levels), 0], np.int64)
    known = np.arange(levels.size) if _kind(spec) == PLACE else levels
    return np.append(known, MISSING).astype(np.int64)
