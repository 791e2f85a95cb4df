"""Rows in several ledgers: every answer is the sum of their answers."""

from collections.abc import Iterator, Sequence

import numpy as np

from .contract import (
    Bounds,
    Ints,
    Ledger,
    Measure,
    Outline,
    Scores,
    Slopes,
    Units,
    WeightLedger,
)
from .weighted import TermTables


class Partitioned:
    """Parts of the rows, each in a ledger of its own.

    Tables, factors and everything else that is known beforehand are the same in all parts, so that
    the answers, and with them every step of a search, are those of a ledger of all rows.

    Parameters
    ----------
    parts : ledgers of disjoint rows.

    Examples
    --------
    >>> from bayesieve.engine.contract import Measure
    >>> Measure("error").adds_over_rows, Measure("pairs").adds_over_rows
    (True, False)
    """

    def __init__(self, parts: Sequence[Ledger]):
        self._parts = tuple(parts)

    @property
    def outline(self) -> Outline:
        """That of any part."""
        return self._parts[0].outline

    def totals(self) -> Ints:
        """Weight of the lines of all parts."""
        return _sum([part.totals() for part in self._parts])

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Let columns join or leave in every part."""
        for part in self._parts:
            part.apply(columns, sign)

    def losses(self, measure: Measure, units: Units, which: Ints, sign: int) -> Ints:
        """Integers add up in any order."""
        check_adds(measure)
        return _sum([part.losses(measure, units, which, sign) for part in self._parts])

    def bounds(self, measure: Measure, units: Units, which: Ints, sign: int) -> Bounds:
        """So do losses that are not quite right, and their doubts."""
        check_adds(measure)
        found = [part.bounds(measure, units, which, sign) for part in self._parts]
        losses = np.sum([each.losses for each in found], axis=0)
        return Bounds(losses, np.sum([each.doubts for each in found], axis=0))

    def walk(self, measure: Measure, units: Units, which: Ints, signs: Ints) -> Ints:
        """One trip to every part."""
        check_adds(measure)
        return _sum([part.walk(measure, units, which, signs) for part in self._parts])

    def scores(self, joining: Sequence[int], leaving: Sequence[int]) -> Iterator[Scores]:
        """Part by part."""
        for part in self._parts:
            yield from part.scores(joining, leaving)


class PartitionedWeights:
    """The same of weighted terms.

    Parameters
    ----------
    parts : ledgers of disjoint rows, with the same tables and grain.
    """

    def __init__(self, parts: Sequence[WeightLedger]):
        self._parts = tuple(parts)

    @property
    def tables(self) -> TermTables:
        """Those of any part."""
        return self._parts[0].tables

    @property
    def grain(self) -> float:
        """That of any part."""
        return self._parts[0].grain

    def loss(self) -> int:
        """Integers add up in any order."""
        return sum(part.loss() for part in self._parts)

    def balance(self) -> Ints:
        """What constants could gain."""
        return _sum([part.balance() for part in self._parts])

    def slopes(self, which: Sequence[int]) -> Slopes:
        """What weights could gain."""
        found = [part.slopes(which) for part in self._parts]
        return Slopes(_sum([each.sums for each in found]), found[0].at)

    def apply(self, terms: Sequence[int], steps: Ints) -> None:
        """In every part."""
        for part in self._parts:
            part.apply(terms, steps)

    def shift(self, steps: Ints) -> None:
        """In every part."""
        for part in self._parts:
            part.shift(steps)

    def scores(self) -> Iterator[Scores]:
        """Part by part."""
        for part in self._parts:
            yield from part.scores()


def check_adds(measure: Measure) -> None:
    """Refuse a measure that does not add up over rows."""
    if not measure.adds_over_rows:
        raise ValueError(
            "AUC compares rows of all parts with each other: it does not add up over parts of the "
            "rows. Use criterion='error', 'probability' or 'log-likelihood'."
        )


def _sum(found: list[Ints]) -> Ints:
    total: Ints = np.sum(found, axis=0)
    return total
