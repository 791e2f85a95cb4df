"""Weighted terms of rows on Dask workers: the worker's side, and the client's."""

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...data.columns import MOST_CODES
from ...models.base import Floats
from ...models.pairs import cells
from ..contract import Ints, Scores, Slopes
from ..threads import Threads
from ..weighted import Cells, ScoredLines, TermTables, WeightedLedger, grain_of, silenced
from .ledgers import CodedPart, RemoteRows, Spans
from .transport import Message, narrow

#: Answers a message: plain data and arrays in, arrays out.
Answer = Callable[[dict[str, Foreign], tuple[Array, ...]], list[Array]]


def flat(arrays: Sequence[Array], kind: Foreign = np.int64) -> tuple[Ints, Array]:
    """Arrays end to end, and where each starts.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.dask.terms import apart, flat
    >>> starts, numbers = flat([np.array([3, 4]), np.array([5])])
    >>> starts.tolist(), [each.tolist() for each in apart(starts, numbers)]
    ([0, 2, 3], [[3, 4], [5]])
    """
    starts = np.cumsum([0, *(array.size for array in arrays)], dtype=np.int64)
    return starts, np.concatenate([np.empty(0, kind), *arrays]).astype(kind)


def apart(starts: Ints, numbers: Array) -> list[Array]:
    """What `flat` has joined."""
    return [numbers[lo:hi] for lo, hi in pairwise(starts.tolist())]


class Reads(NamedTuple):
    """How lines hold terms: columns first, then pairs of them."""

    kinds: Ints  #: of each term
    slots: Ints  #: where the columns stand with a holder
    pairs: Ints  #: two columns each, by their place among the slots
    group_starts: Ints  #: of pairs: the groups of the first column's codes, then of the second's
    groups: Ints
    lone: Ints  #: terms of which some codes read as the last one, which is silent
    lone_starts: Ints
    lone_codes: NDArray[np.bool_]


class _Standing(NamedTuple):
    """A ledger of some of the rows here, and the weights and constants that it stands at."""

    ledger: WeightedLedger
    weights: Ints
    constants: Ints


class WeighedRows:
    """Answers about weighted terms for the rows of some parts of a table.

    Parameters
    ----------
    parts : the rows, one part after the other; none is empty.
    threads : for the kernels.
    """

    def __init__(self, parts: Sequence[CodedPart], threads: Threads):
        self._parts, self._threads = parts, threads
        self._ends = np.cumsum([0, *(part.n_rows for part in parts)])
        self._standing: dict[int, _Standing] = {}
        self.answers: dict[str, Answer] = {
            "row marks": self._row_marks,
            "cells": self._cells,
            "weigh": self._open,
            "loss": self._loss,
            "balance": self._balance,
            "slopes": self._slopes,
            "sums": self._sums,
        }

    def forget(self, number: int) -> None:
        """Nobody asks this ledger any more."""
        self._standing.pop(number, None)

    def _row_marks(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        """Of each row here, the sum of what was drawn for its codes."""
        slots, starts, drawn = arrays
        found = np.zeros(int(self._ends[-1]), np.uint64)
        for slot, numbers in zip(slots.tolist(), apart(starts, drawn), strict=True):
            for k, part in enumerate(self._parts):
                found[self._ends[k] : self._ends[k + 1]] += numbers[part.column(slot)]
        return [found]

    def _cells(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        """Weight of some rows by cell and class, of pairs of grouped columns end to end."""
        from ..kernels.weighted import count_cells

        slots, starts, numbers, first, second, rows, labels, weights = arrays
        groups, n_classes = apart(starts, numbers), int(plain["n_classes"])
        n_groups = np.array([each[-1] for each in groups], np.int64)
        ends = np.cumsum([0, *((n_groups[first] * n_groups[second] + 1) * n_classes)])
        total = np.zeros(ends[-1], np.int64)
        labels = labels.astype(np.int64)
        weights = np.ones(rows.size, np.int64) if plain["plain"] else weights.astype(np.int64)
        for mine, here, part in self._pieces(rows.astype(np.int64)):
            columns = np.stack(
                [
                    each[part.column(slot)[mine]].astype(np.uint8)
                    for slot, each in zip(slots.tolist(), groups, strict=True)
                ]
            )
            told = (columns, n_groups, labels[here], weights[here], n_classes, first, second, ends)

            def task(lo: int, hi: int, told: tuple[Foreign, ...] = told) -> None:
                count_cells(*told, lo, hi, total)

            self._threads.run(task, first.size, first.size * mine.size)
        return [total]

    # -- ledgers -------------------------------------------------------------------------------

    def _open(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        rows, labels, weights, ratios, own, first, n_codes, *reads = arrays
        tables = TermTables(ratios, own, first, n_codes)
        rows, labels = rows.astype(np.int64), labels.astype(np.int64)
        lines = ScoredLines.sort(labels, tables.n_classes, np.ones(rows.size, np.int64))
        if not plain["plain"]:
            lines = ScoredLines(lines.rows, lines.starts, weights.astype(np.int64)[lines.rows])
        held = self._gather(rows[lines.rows], Reads(*reads), n_codes - 1)
        ledger = WeightedLedger(tables, lines, held, float(plain["grain"]), self._threads)
        nothing = (
            np.zeros((tables.n_terms, tables.n_classes), np.int64),
            np.zeros(tables.n_classes, np.int64),
        )
        self._standing[int(plain["ledger"])] = _Standing(ledger, *nothing)
        return []

    def _gather(self, rows: Ints, reads: Reads, last: Ints) -> Cells:
        """What lines hold of terms, in their order; some codes read as the last of their term."""
        pieces = list(self._pieces(rows))

        def column(slot: int) -> Array:
            found = np.empty(rows.size, np.uint8 if slot >= 0 else np.int32)
            for mine, here, part in pieces:
                found[here] = part.column(slot)[mine]
            return found

        slots, lone = reads.slots, apart(reads.lone_starts, reads.lone_codes)
        silent = dict(zip(reads.lone.tolist(), lone, strict=True))
        every = apart(reads.group_starts, reads.groups)
        narrow = np.append(slots >= 0, np.ones(len(reads.pairs), bool))
        # The last code of a term may be one too many for a byte.
        narrow[[t for t in silent if last[t] > MOST_CODES]] = False
        codes = np.empty((int(narrow.sum()), rows.size), np.uint8)
        seats, found = np.cumsum(narrow) - 1, []
        for t in range(slots.size + len(reads.pairs)):
            if t < slots.size:
                held = column(int(slots[t]))
            else:
                p = t - slots.size
                both = (column(int(slots[j])) for j in reads.pairs[p].tolist())
                held = cells((every[2 * p], every[2 * p + 1]), *both).astype(np.uint8)
            if t in silent:
                held = silenced(held, silent[t], int(last[t]))
            if narrow[t]:
                codes[seats[t]] = held
                held = codes[seats[t]]
            found.append(held)
        return Cells(reads.kinds, tuple(found), codes, seats)

    def _pieces(self, rows: Ints) -> Iterator[tuple[Ints, Ints, CodedPart]]:
        """Of each part: rows of it among these, in its own numbers, where they stand, and it."""
        for k, part in enumerate(self._parts):
            here = np.flatnonzero((rows >= self._ends[k]) & (rows < self._ends[k + 1]))
            if here.size:
                yield rows[here] - self._ends[k], here, part

    def _at(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> WeightedLedger:
        """The ledger asked for, brought to the weights and constants of the question."""
        ledger, weights, constants = self._standing[int(plain["ledger"])]
        terms, lines, wanted = arrays[:3]
        moves = -weights
        moves[terms.astype(np.int64)] += lines
        moved = np.flatnonzero(moves.any(1))
        if moved.size:
            ledger.apply(moved.tolist(), moves[moved])
            weights += moves
        if (wanted != constants).any():
            ledger.shift(wanted - constants)
            constants[:] = wanted
        return ledger

    def _loss(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        return [np.array([self._at(plain, arrays).loss()], np.int64)]

    def _balance(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        return [*self._loss(plain, arrays), self._at(plain, arrays).balance()]

    def _slopes(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        which = arrays[3].astype(np.int64).tolist()
        return [*self._loss(plain, arrays), self._at(plain, arrays).slopes(which).sums]

    def _sums(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        """The sums of the lines here, sorted by class as they are, and where each was told."""
        (found,) = self._at(plain, arrays).scores()
        return [found.rows, found.sums[0]]


# -- Weighted terms of rows far away ---------------------------------------------------------------


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

    def told_to(self, rows: RemoteRows) -> Reads:
        """What holders are told of it."""
        pairs = np.array([pair for pair, _ in self.pairs], np.int64).reshape(-1, 2)
        groups = flat([each for _, both in self.pairs for each in both])
        lone = flat(list(self.lone.values()), np.bool_)
        slots = rows.slots[list(self.columns)]
        return Reads(self.kinds, slots, pairs, *groups, np.array(list(self.lone), np.int64), *lone)


@dataclass(frozen=True)
class _TermsOpening:
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


class RemoteWeights:
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
        held: RemoteRows,
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
        held.open(self._number, _TermsOpening(self._number, tables, self.grain, *told))
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
    held: RemoteRows, columns: Sequence[int], drawn: Sequence[NDArray[np.uint64]]
) -> NDArray[np.uint64]:
    """Of each row, the sum of what was drawn for its codes: eight bytes a row come here."""
    message = Message("row marks", {}, (held.slots[list(columns)], *flat(drawn, np.uint64)))
    found = np.empty(held.n_rows, np.uint64)
    for holder, answer in enumerate(held.ask(message)):
        found[held.numbers(holder)] = answer.arrays[0]
    return found


@dataclass(frozen=True)
class RemoteCells:
    """Columns far away whose codes fall into groups, the last of which is silent.

    Parameters
    ----------
    held : where to ask.
    columns, groups : which columns, and the group of each of their codes.
    """

    held: RemoteRows
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
        from ..kernels.weighted import informations_of

        out = np.empty(pairs[0].size)
        for which, counts, ends in self.counts(rows, labels, weights, n_classes, pairs):
            informations_of(counts, ends, n_classes, 0, ends.size - 1, out[which])
        return out
