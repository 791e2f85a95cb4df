"""Whoever holds rows answers for weighted terms: cells of pairs, losses, and what weights gain."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...data.columns import MOST_CODES
from ...models.pairs import cells
from ..cells import Cells, ScoredLines, TermTables, silenced
from ..contract import Ints
from ..threads import Threads
from ..weighted import WeightedLedger
from .part import CodedPart

#: Answers a message: plain data and arrays in, arrays out.
Answer = Callable[[dict[str, Foreign], tuple[Array, ...]], list[Array]]


def flat(arrays: Sequence[Array], kind: Foreign = np.int64) -> tuple[Ints, Array]:
    """Arrays end to end, and where each starts.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.far.weighed import apart, flat
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
        from ..kernels.interaction import count_cells

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
