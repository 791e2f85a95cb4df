"""Weighted terms of rows far away: every question names the whole state, and is one round."""

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...checks import Array
from ...models.base import Floats
from ..cells import ScoredLines, TermTables
from ..contract import Ints, Scores, Slopes
from ..weighted import grain_of
from .rows import FarRows, Spans
from .weighed import Reads, flat
from .wire import Message, narrow

# Counts that one answer holds at most.
_MOST_COUNTS = 1 << 21


@dataclass(frozen=True)
class LineReads:
    """How lines hold terms, as plain data.

    Parameters
    ----------
    kinds : of each term.
    columns : positions of the columns that are terms, in their order.
    pairs : two of these terms each; with the group of each of their codes.
    lone : codes of some terms that read as the last one, which is silent.
    """

    kinds: Ints
    columns: tuple[int, ...]
    pairs: tuple[tuple[tuple[int, int], tuple[Ints, Ints]], ...]
    lone: Mapping[int, NDArray[np.bool_]]

    def told_to(self, rows: FarRows) -> Reads:
        """What holders are told of it."""
        pairs = np.array([pair for pair, _ in self.pairs], np.int64).reshape(-1, 2)
        groups = flat([each for _, both in self.pairs for each in both])
        lone = flat(list(self.lone.values()), np.bool_)
        slots = rows.slots[list(self.columns)]
        return Reads(self.kinds, slots, pairs, *groups, np.array(list(self.lone), np.int64), *lone)


@dataclass(frozen=True)
class _Opening:
    """All that a holder must know of a ledger of weighted terms."""

    number: int
    tables: TermTables
    grain: float
    reads: Reads
    rows: Ints
    labels: Ints
    weights: Ints  #: empty where every line counts once

    def messages(self, holder: int, spans: Spans) -> list[Message]:
        """One: the ledger itself."""
        at = np.flatnonzero(spans.holders[self.rows] == holder)
        tables, plain = self.tables, not self.weights.size
        arrays = (
            spans.places[self.rows[at]],
            narrow(self.labels[at]),
            self.weights if plain else narrow(self.weights[at]),
            tables.ratios,
            tables.own,
            tables.first,
            tables.n_codes,
            *self.reads,
        )
        told = {"ledger": self.number, "grain": self.grain, "plain": plain}
        return [Message("weigh", told, arrays)]


class FarWeights:
    """A weighted ledger whose lines others hold.

    Each question names all weights and constants, so that a holder that has just begun catches up
    by itself; nothing is said when they move.

    Parameters
    ----------
    held : where to ask.
    tables : what the terms say.
    reads : how lines hold them.
    rows, labels, weights : who is scored: its row, its class, and what it counts.
    """

    def __init__(
        self,
        held: FarRows,
        tables: TermTables,
        reads: LineReads,
        rows: Ints,
        labels: Ints,
        weights: Ints,
    ):
        self.tables, self._held = tables, held
        self._lines = ScoredLines.sort(labels, tables.n_classes, weights)
        self._rows = rows
        self.grain = grain_of(tables, self._lines)
        self._number = held.next_number()
        kept = weights if self._lines.weights.size else self._lines.weights
        told = (reads.told_to(held), rows, labels, kept)
        held.open(self._number, _Opening(self._number, tables, self.grain, *told))
        weakref.finalize(self, held.forget, self._number)
        self._weights = np.zeros((tables.n_terms, tables.n_classes), np.int64)
        self._constants = np.zeros(tables.n_classes, np.int64)
        self._known: dict[str, Array] = {}

    def loss(self) -> int:
        """One round, unless another answer has told it."""
        if "loss" not in self._known:
            self._ask("loss")
        return int(self._known["loss"][0])

    def balance(self) -> Ints:
        """One round."""
        if "balance" not in self._known:
            self._known["balance"] = self._ask("balance")[1]
        return self._known["balance"]

    def slopes(self, which: Sequence[int]) -> Slopes:
        """One round."""
        terms = np.asarray(which, np.int64)
        at = np.append(0, np.cumsum(self.tables.n_codes[terms] * self.tables.width))
        return Slopes(self._ask("slopes", narrow(terms))[1], at)

    def apply(self, terms: Sequence[int], steps: Ints) -> None:
        """Holders hear of it with the next question."""
        np.add.at(self._weights, np.asarray(terms, np.int64), steps)
        self._known.clear()

    def shift(self, steps: Ints) -> None:
        """So of constants."""
        self._constants = self._constants + steps
        self._known.clear()

    def scores(self) -> Iterator[Scores]:
        """The sums of all lines come here, in the order in which one ledger would have them."""
        lines, place = self._lines, np.empty(self._rows.size, np.int64)
        place[self._lines.rows] = np.arange(place.size)
        sums = np.empty((place.size, self.tables.n_classes), np.int64)
        for holder, answer in enumerate(self._held.ask(self._question("sums"))):
            mine = self._held.held_by(holder, self._rows)
            sums[place[mine[answer.arrays[0]]]] = answer.arrays[1]
        once = np.ones(place.size, np.int64)
        weights = lines.weights if lines.weights.size else once
        yield Scores(lines.rows, 0 * once, weights, lines.labels[None], sums[None])

    def _question(self, op: str, *more: Array) -> Message:
        inside = np.flatnonzero(self._weights.any(1))
        state = (narrow(inside), self._weights[inside], self._constants)
        return Message(op, {"ledger": self._number}, (*state, *more))

    def _ask(self, op: str, *more: Array) -> list[Array]:
        answers = self._held.ask(self._question(op, *more))
        found = [np.sum(each, axis=0) for each in zip(*(a.arrays for a in answers), strict=True)]
        self._known["loss"] = found[0]
        return found


def row_marks(
    held: FarRows, columns: Sequence[int], drawn: Sequence[NDArray[np.uint64]]
) -> NDArray[np.uint64]:
    """Of each row, the sum of what was drawn for its codes: eight bytes a row come here."""
    message = Message("row marks", {}, (held.slots[list(columns)], *flat(drawn, np.uint64)))
    found = np.empty(held.n_rows, np.uint64)
    for holder, answer in enumerate(held.ask(message)):
        found[held.numbers(holder)] = answer.arrays[0]
    return found


@dataclass(frozen=True)
class FarCells:
    """Columns far away whose codes fall into groups, the last of which is silent.

    Parameters
    ----------
    held : where to ask.
    columns, groups : which columns, and the group of each of their codes.
    """

    held: FarRows
    columns: tuple[int, ...]
    groups: tuple[Ints, ...]

    def counts(
        self,
        sorted_rows: Ints,
        labels: Ints,
        weights: Ints,
        n_classes: int,
        pairs: tuple[Ints, Ints],
    ) -> Iterator[tuple[slice, Ints, Ints]]:
        """Weight of the rows by cell and class, end to end, some pairs of columns at a time.

        Parameters
        ----------
        sorted_rows, labels, weights : who is counted.
        pairs : places of first and of second columns.

        Yields
        ------
        which, counts, ends : of these pairs the counts, those of pair p from ends[p] on.
        """
        n_groups = np.array([groups[-1] for groups in self.groups], np.int64)
        first, second = pairs
        sizes = (n_groups[first] * n_groups[second] + 1) * n_classes
        cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _MOST_COUNTS)) + 1
        ones = bool((weights == 1).all())
        told = (self.held.slots[list(self.columns)], *flat(self.groups))
        for lo, hi in pairwise([0, *cuts.tolist(), first.size]):
            which = slice(lo, hi)

            def make(holder: int, which: slice = which) -> Message:
                at = self.held.held_by(holder, sorted_rows)
                rows = self.held.places(sorted_rows[at]), narrow(labels[at])
                count = np.empty(0, np.int64) if ones else narrow(weights[at])
                arrays = (*told, first[which], second[which], *rows, count)
                return Message("cells", {"n_classes": n_classes, "plain": ones}, arrays)

            found = np.sum([each.arrays[0] for each in self.held.ask_each(make)], axis=0)
            yield which, found, np.cumsum([0, *sizes[which]])

    def informations(
        self, rows: Ints, labels: Ints, weights: Ints, n_classes: int, pairs: tuple[Ints, Ints]
    ) -> Floats:
        """What pairs of the columns tell of the classes."""
        from ..kernels.interaction import informations_of

        out = np.empty(pairs[0].size)
        for which, counts, ends in self.counts(rows, labels, weights, n_classes, pairs):
            informations_of(counts, ends, n_classes, 0, ends.size - 1, out[which])
        return out
