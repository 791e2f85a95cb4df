"""Code on a Dask worker: read a partition, count, hold its rows, answer requests."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...data.collection import read_part
from ...data.columns import MOST_CODES, ColumnSpec
from ...data.sample import Targets
from ...data.storage import IN_MEMORY, Moves
from ...data.tables import Kind, Look, RawTable, SparseTable, encode_from, learn_from, look
from ...models.base import Floats, Scale, cells
from ...models.counts import mdl_borders
from ...models.registry import MODELS
from ..contract import (
    AS_IT_IS,
    NO_UNITS,
    WHOLE,
    Ints,
    Ledger,
    Measure,
    Units,
    tables_of,
)
from ..dense import DenseLedger, FixedTables
from ..layout import DenseRows, LineCells, Lines, fits_a_byte
from ..sparse import Scoring, SparseLedger, SparseProblem, SparseTables, sets_of_rows
from ..threads import Threads
from ..weighted import Cells, ScoredLines, TermTables, WeightedLedger, silenced
from .ledgers import CodedPart, ComparedRows, Piece, RareCodes
from .terms import Reads, apart, flat
from .transport import Answers, Arrays, Message, dial, receive, send


@dataclass(frozen=True)
class CountedRows:
    """Rows of one partition that are counted."""

    part: CodedPart
    rows: Ints  #: those that count, ascending; some may come several times
    labels: Ints  #: of these
    weights: Floats
    left_out: tuple[Ints, ...]  #: positions among them that each set leaves out
    n_classes: int

    def counter(
        self, slots: Ints, n_codes: Ints, offsets: Ints, total: Floats
    ) -> Callable[[int, int], None]:
        """Adds the counts of columns lo to hi to a total, in which they stand end to end."""
        rare = np.array([isinstance(self._kept(slot), RareCodes) for slot in slots.tolist()])

        def task(lo: int, hi: int) -> None:
            for j in range(lo, hi):
                if not rare[j]:
                    column = self.part.column(int(slots[j]))
                    codes = column if self._everything else column[self.rows]
                    found = self._count_codes(codes, int(n_codes[j]))
                    total[offsets[j] : offsets[j + 1]] += found.ravel()
            few = lo + np.flatnonzero(rare[lo:hi])
            if few.size:
                counts = self._count_rare(slots[few], n_codes[few])
                for j, found in zip(few.tolist(), counts, strict=True):
                    total[offsets[j] : offsets[j + 1]] += found.ravel()

        return task

    def _kept(self, slot: int) -> Array | RareCodes:
        return self.part.codes[slot] if slot >= 0 else self.part.wide[-1 - slot]

    @cached_property
    def _everything(self) -> bool:
        return np.array_equal(self.rows, np.arange(self.part.n_rows))

    @cached_property
    def _counted_weights(self) -> Floats:
        """The weights, or nothing where every row counts once."""
        return np.empty(0) if (self.weights == 1.0).all() else self.weights

    @cached_property
    def _gone(self) -> tuple[Ints, Ints]:
        """What sets leave out, end to end, and where each begins."""
        cuts, gone = flat(self.left_out)
        return gone, cuts

    def _count_codes(self, codes: Array, n_codes: int) -> Floats:
        """Row by row: sets x codes x classes."""
        from ...data.kernels.exact import count_by_class

        counts = np.empty((len(self.left_out), n_codes, self.n_classes))
        count_by_class(codes, self.labels, self._counted_weights, *self._gone, counts)
        return counts

    @cached_property
    def _whole(self) -> Floats:
        """Of all rows: sets x classes."""
        return self._count_codes(np.zeros(self.rows.size, np.uint8), 1)[:, 0]

    def _count_rare(self, slots: Ints, n_codes: Ints) -> list[Floats]:
        """By rows that have rare codes; the others have the usual one."""
        from ...data.kernels.exact import count_moves

        kept = [self._kept(slot) for slot in slots.tolist()]
        rare = [each for each in kept if isinstance(each, RareCodes)]
        pointers = np.cumsum([0, *(each.rows.size for each in rare)])
        rows = np.concatenate([each.rows for each in rare])
        codes = np.concatenate([each.codes for each in rare])
        if not self._everything:
            # A row that counts several times stands at several places.
            first, last = (np.searchsorted(self.rows, rows, side) for side in ("left", "right"))
            times = last - first
            ends = np.append(0, np.cumsum(times))
            rows = np.repeat(first - ends[:-1], times) + np.arange(ends[-1])
            codes, pointers = np.repeat(codes, times), ends[pointers]
        starts = np.append(0, np.cumsum(n_codes))
        left = sets_of_rows(self.left_out, self.rows.size)
        counts = np.empty((int(starts[-1]), *self._whole.shape))
        seen = (self.labels[:, None], self.weights, *left)
        count_moves(pointers, rows.astype(np.int64), codes, starts[:-1], *seen, counts)
        found = []
        for k, each in enumerate(rare):
            mine = np.ascontiguousarray(counts[starts[k] : starts[k + 1]].swapaxes(0, 1))
            mine[:, each.usual] += self._whole - mine.sum(1)
            found.append(mine)
        return found


# -- Ledgers of what a worker holds ----------------------------------------------------------------


#: Seconds between two signs of life of a holder that works.
BEAT = 3.0


class HostedLedger:
    """A ledger of rows here, and the weights and constants at which it stands.

    `shape` is that of the weights: terms x classes, or x 1 where whole columns join and leave.
    """

    #: So many arrays of a request name the state.
    n_state = 5

    def __init__(self, ledger: Ledger, shape: tuple[int, int]):
        self.ledger = ledger
        self.units: dict[int, Units] = {-1: NO_UNITS}
        self._weights = np.zeros(shape, np.int64)
        self._constants = np.zeros(ledger.outline.n_classes, np.int64)
        self._added: dict[int, Ints] = {}

    def bring(self, *state: Array) -> None:
        """To these weights of terms, sixteen where none are given, these constants, these tables.

        Tables are added to some terms, and lie one below the other.
        """
        terms, weights, constants, changed, added = state
        moves = -self._weights
        moves[terms.astype(np.int64)] += weights if weights.size else WHOLE
        moved = np.flatnonzero(moves.any(1))
        if moved.size and self.ledger.offers.tables is not None:
            self.ledger.apply(moved.tolist(), moves[moved])
        elif moved.size:
            for steps in (-WHOLE, WHOLE):
                self.ledger.apply(np.flatnonzero(moves[:, 0] == steps).tolist(), steps)
        self._weights += moves
        if constants.size and (constants != self._constants).any():
            self.ledger.shift(constants - self._constants)
            self._constants[:] = constants
        if changed.size or self._added:
            self._add(changed.astype(np.int64).tolist(), added.astype(np.int64))

    def _add(self, terms: list[int], flat: Ints) -> None:
        """Let these tables, and no others, be added to what terms say."""
        tables = tables_of(self.ledger)
        ends = np.cumsum(tables.n_codes[terms] * tables.n_classes)[:-1]
        parts = np.split(flat, ends) if terms else []
        wanted = {
            t: part.reshape(-1, tables.n_classes) for t, part in zip(terms, parts, strict=True)
        }
        moves = {t: -table for t, table in self._added.items()}
        for t, table in wanted.items():
            moves[t] = moves[t] + table if t in moves else table
        moves = {t: table for t, table in moves.items() if table.any()}
        if moves:
            self.ledger.add(list(moves), list(moves.values()))
        self._added = wanted

    def losses(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Exact losses of units."""
        return [self.ledger.losses(*self._question(plain, arrays[0]), int(plain["steps"]))]

    def bounds(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Fast losses of units, and their doubts."""
        return list(self.ledger.bounds(*self._question(plain, arrays[0]), int(plain["steps"])))

    def walk(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Losses along a walk, at whose end the ledger then stands."""
        measure, units, which = self._question(plain, arrays[0])
        steps = arrays[1].astype(np.int64)
        found = self.ledger.walk(measure, units, which, steps)
        for unit, step in zip(which.tolist(), steps.tolist(), strict=True):
            self._weights[list(units.members[unit])] += step
        return [found]

    def slopes(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """The loss as it stands, and what weights could gain."""
        return [self._now(), self.ledger.slopes(arrays[0].astype(np.int64).tolist()).sums]

    def balance(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """The loss as it stands, and what constants could gain."""
        return [self._now(), self.ledger.balance()]

    def scores(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """The sums of the lines here, in the order in which they came."""
        (found,) = self.ledger.scores(arrays[0].tolist(), arrays[1].tolist())
        return [found.sums[0]]

    def _question(self, plain: dict[str, Foreign], which: Array) -> tuple[Measure, Units, Ints]:
        measure = Measure(str(plain["kind"]), int(plain["bits"]))
        return measure, self.units[int(plain["units"])], which.astype(np.int64)

    def _now(self) -> Ints:
        measure, as_it_is = self.ledger.offers.measure, np.array([AS_IT_IS])
        return self.ledger.losses(measure, NO_UNITS, as_it_is, WHOLE)[0]


class HostedColumns(HostedLedger):
    """A ledger of all lines and the columns here; somebody who knows all columns has the sums."""

    n_state = 3
    ledger: SparseLedger

    def bring(self, *state: Array) -> None:
        """To the sums of the lines that have moved since the last request."""
        lines, sums, offset = state
        self.ledger.stand(lines.astype(np.int64), sums.astype(np.int64), offset.astype(np.int64))

    def stand(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Nothing more: the request was about the state alone."""
        return []

    def changes(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Lines that columns here would move by joining and leaving, and by how much."""
        found = self.ledger.changes(arrays[0].tolist(), arrays[1].tolist())
        lines = np.flatnonzero(found.any(0))
        return [lines, found[:, lines]]


class Answering:
    """Answers requests about what it holds.

    Among them those for ledgers, each of which is brought to the state that a request names.
    """

    def __init__(self, n_threads: int):
        self._threads = Threads(n_threads)  # for the kernels
        #: By the form of a ledger, what makes one of the plain data and arrays of a message.
        self._openers: dict[str, Callable[[dict[str, Foreign], Arrays], HostedLedger]] = {}
        self._ledgers: dict[int, HostedLedger] = {}
        self._answers: Answers = {"nothing": lambda plain, arrays: arrays}
        self._answers |= {"open": self._begin, "units": self._units, "ask": self._ask}

    def answer(self, message: Message) -> Message:
        """The answer to a message, and how long it took; what went wrong is an answer too."""
        start = time.perf_counter()
        try:
            for number in message.plain.get("forget", ()):
                self._ledgers.pop(number, None)
            found = self._answers[message.op](message.plain, message.arrays)
            return Message("ok", {"seconds": time.perf_counter() - start}, tuple(found))
        except Exception as error:
            return Message("error", {"text": f"{type(error).__name__}: {error}"})

    def _begin(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        self._ledgers[int(plain["ledger"])] = self._openers[plain["form"]](plain, arrays)
        return []

    def _units(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        starts, terms = (array.astype(np.int64).tolist() for array in arrays)
        members = tuple(tuple(terms[lo:hi]) for lo, hi in pairwise(starts))
        self._ledgers[int(plain["ledger"])].units[int(plain["units"])] = Units(members)
        return []

    def _ask(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        hosted = self._ledgers[int(plain["ledger"])]
        hosted.bring(*arrays[: hosted.n_state])
        method: Callable[[dict[str, Foreign], Arrays], list[Array]]
        method = getattr(hosted, plain["method"])
        return method(plain, arrays[hosted.n_state :])

    def close(self) -> None:
        """Stop the threads."""
        self._threads.close()


class Holder(Answering):
    """Answers for the rows of some parts of a table, one after the other."""

    def __init__(self, parts: Sequence[CodedPart], n_threads: int = 1):
        super().__init__(n_threads)
        self._parts = [part for part in parts if part.n_rows]
        self._ends = np.cumsum([0, *(part.n_rows for part in self._parts)])
        self._openers |= {"lines": self._open_lines, "terms": self._open_terms}
        self._answers |= {"count": self._count, "codes": self._codes, "marks": self._marks}
        self._answers |= {"row marks": self._row_marks, "cells": self._cells}
        self._answers |= ComparedRows(self._parts).answers

    # -- counts and codes ----------------------------------------------------------------------

    def _pieces(self, rows: Ints) -> Iterator[tuple[CodedPart, slice, int]]:
        """Each part with those of ascending rows that it holds, and its first row."""
        at = np.searchsorted(rows, self._ends)
        for k, part in enumerate(self._parts):
            if at[k + 1] > at[k]:
                yield part, slice(int(at[k]), int(at[k + 1])), int(self._ends[k])

    def _count(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Weight of the rows by training set, code and class, of all columns end to end."""
        slots, n_codes, rows, labels, weights, left, starts = arrays
        rows, labels, left = (each.astype(np.int64) for each in (rows, labels, left))
        weights = np.ones(rows.size) if plain["plain"] else weights.astype(np.float64)
        n_sets, n_classes = starts.size - 1, int(plain["n_classes"])
        offsets = np.cumsum([0, *(n_sets * n_codes.astype(np.int64) * n_classes)])
        total = np.zeros(offsets[-1])
        for part, here, first in self._pieces(rows):
            left_out = []
            for lo, hi in pairwise(starts):
                one = left[lo:hi]
                cut = np.searchsorted(one, [here.start, here.stop])
                left_out.append(one[cut[0] : cut[1]] - here.start)
            mine = (labels[here], weights[here], tuple(left_out), n_classes)
            counted = CountedRows(part, rows[here] - first, *mine)
            task = counted.counter(slots, n_codes, offsets, total)
            self._threads.run(task, slots.size, slots.size * (here.stop - here.start))
        return [total]

    def _whole(self, slot: int) -> Array:
        """One column of all rows here."""
        nothing = np.empty(0, np.uint8)  # of parts without rows
        return np.concatenate([nothing, *(part.column(slot) for part in self._parts)])

    def _codes(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Codes of all rows of some columns, columns x rows."""
        return [self._whole(slot) for slot in plain["slots"]]

    def _marks(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """A number for each column that changes with any cell; adds up over parts.

        The array holds the number of each row here in the whole table.
        """
        (numbers,) = arrays
        spread = _mix(numbers.astype(np.uint64))
        found = np.zeros(len(plain["slots"]), np.uint64)
        for k, part in enumerate(self._parts):
            here = spread[self._ends[k] : self._ends[k + 1]]
            for j, slot in enumerate(plain["slots"]):
                found[j] += (here * _mix(part.column(slot).astype(np.uint64))).sum(dtype=np.uint64)
        return [found]

    def _row_marks(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Sum over the columns of what was drawn for the code of each row here."""
        slots, starts, drawn = arrays
        found = np.zeros(int(self._ends[-1]), np.uint64)
        for slot, numbers in zip(slots.tolist(), apart(starts, drawn), strict=True):
            for k, part in enumerate(self._parts):
                found[self._ends[k] : self._ends[k + 1]] += numbers[part.column(slot)]
        return [found]

    def _cells(self, plain: dict[str, Foreign], arrays: Arrays) -> list[Array]:
        """Weight of some rows by cell and class, of pairs of grouped columns end to end."""
        from ..kernels.weighted import count_cells

        slots, starts, numbers, first, second, rows, labels, weights = arrays
        groups, n_classes = apart(starts, numbers), int(plain["n_classes"])
        n_groups = np.array([each[-1] for each in groups], np.int64)
        ends = np.cumsum([0, *((n_groups[first] * n_groups[second] + 1) * n_classes)])
        total = np.zeros(ends[-1], np.int64)
        labels = labels.astype(np.int64)
        weights = np.ones(rows.size, np.int64) if plain["plain"] else weights.astype(np.int64)
        for mine, here, part in self._scattered(rows.astype(np.int64)):
            columns = np.stack(
                [
                    each[part.column(slot)[mine]].astype(np.uint8)
                    for slot, each in zip(slots.tolist(), groups, strict=True)
                ]
            )
            given = (columns, n_groups, labels[here], weights[here], n_classes, first, second, ends)

            def task(lo: int, hi: int, given: tuple[Foreign, ...] = given) -> None:
                count_cells(*given, lo, hi, total)

            self._threads.run(task, first.size, first.size * mine.size)
        return [total]

    def _scattered(self, rows: Ints) -> Iterator[tuple[Ints, Ints, CodedPart]]:
        """Parts that have some of the rows: numbers there, places among the rows, and the part."""
        for k, part in enumerate(self._parts):
            here = np.flatnonzero((rows >= self._ends[k]) & (rows < self._ends[k + 1]))
            if here.size:
                yield rows[here] - self._ends[k], here, part

    # -- ledgers -------------------------------------------------------------------------------

    def _open_lines(self, plain: dict[str, Foreign], arrays: Arrays) -> HostedLedger:
        """A ledger of some lines in which whole columns join and leave."""
        *lines, prior, slots, n_codes, offsets, table = arrays[:9]
        rows, sets, labels, weights = (each.astype(np.int64) for each in lines)
        scale = Scale(**plain["scale"])
        tables = FixedTables(scale, prior, slots, n_codes, offsets, table, arrays[9:])
        once = np.ones(rows.size, np.int64)
        sorted_lines = Lines.sort(rows, sets, labels, weights if weights.size else once)
        held, factors = self._gather_lines(sorted_lines, tables), tuple(map(int, plain["factors"]))
        ledger = DenseLedger(tables, held, factors, self._threads)
        return HostedLedger(ledger, (slots.size, 1))

    def _gather_lines(self, lines: Lines, tables: FixedTables) -> DenseRows:
        """The codes of the lines."""
        slots = tables.slots
        n_coded = int((slots >= 0).sum())
        cells = LineCells(lines, n_coded)
        codes = np.empty(lines.rows.size, np.uint8)
        for slot in range(n_coded):
            self._whole(slot).take(lines.rows, out=codes, mode="clip")
            cells.put(codes, bool(tables.n_codes[slot] == 2))
        wide: list[Foreign] = [self._whole(-1 - w)[lines.rows] for w in range(len(tables.wide))]
        return DenseRows(lines, cells, wide, IN_MEMORY)

    def _open_terms(self, plain: dict[str, Foreign], arrays: Arrays) -> HostedLedger:
        """A ledger of weighted terms."""
        *who, ratios, own, first, n_codes = arrays[:8]
        rows, _, labels, weights = (each.astype(np.int64) for each in who)
        tables = TermTables(ratios, own, first, n_codes)
        lines = ScoredLines.sort(labels, tables.n_classes, np.ones(rows.size, np.int64))
        if weights.size:
            lines = ScoredLines(lines.rows, lines.starts, weights[lines.rows])
        held = self._gather_terms(rows[lines.rows], Reads(*arrays[8:]), n_codes - 1)
        ledger = WeightedLedger(tables, lines, held, int(plain["bits"]), self._threads)
        return HostedLedger(ledger, (tables.n_terms, tables.n_classes))

    def _gather_terms(self, rows: Ints, reads: Reads, last: Ints) -> Cells:
        """What lines hold of terms, in their order; some codes read as the last of their term."""
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
                held = self._whole(int(slots[t]))[rows]
            else:
                p = t - slots.size
                both = (self._whole(int(slots[j]))[rows] for j in reads.pairs[p].tolist())
                held = cells((every[2 * p], every[2 * p + 1]), *both).astype(np.uint8)
            if t in silent:
                held = silenced(held, silent[t], int(last[t]))
            if narrow[t]:
                codes[seats[t]] = held
                held = codes[seats[t]]
            found.append(held)
        return Cells(reads.kinds, tuple(found), codes, seats)


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers over all bits (Steele, Lea and Flood 2014), so that sums tell them apart."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


# -- Requests until the line is closed -------------------------------------------------------------


def serve(line: socket.socket, holder: "Answering") -> int:
    """Answer until the line is closed; how many questions there were."""
    n_questions = 0
    responder = _Responder(line)
    try:
        with contextlib.suppress(OSError):
            while True:
                request = receive(line)
                responder.busy = True
                responder.send(holder.answer(request))
                n_questions += 1
    finally:
        responder.close()
        holder.close()
        line.close()
    return n_questions


class _Responder:
    """Sends answers, and signs of life while one is worked on: else a worker looks frozen."""

    def __init__(self, line: socket.socket):
        self.busy = False
        self._line, self._sending, self._over = line, threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def send(self, message: Message) -> None:
        """Send the answer."""
        with self._sending:
            self.busy = False
            send(self._line, message)

    def close(self) -> None:
        """Send no more."""
        self._over.set()

    def _beat(self) -> None:
        with contextlib.suppress(OSError):
            while not self._over.wait(BEAT):
                with self._sending:
                    if self.busy:
                        send(self._line, Message("busy"))


# -- Columns with all their rows -------------------------------------------------------------------


class ColumnHolder(Answering):
    """Answers for some columns of a table, given part by part in the order of the rows."""

    def __init__(self, pieces: Sequence[Piece], n_threads: int = 1):
        super().__init__(n_threads)
        self._openers["columns"] = self._open
        self._n_rows = sum(piece.n_rows for piece in pieces)
        starts = np.cumsum([0, *(piece.n_rows for piece in pieces)])
        columns = np.concatenate(
            [np.repeat(np.arange(p.pointers.size - 1), np.diff(p.pointers)) for p in pieces]
        )
        # Stable: rows stay in order within a column.
        order = np.argsort(columns, kind="stable")
        rows = [piece.rows + start for piece, start in zip(pieces, starts, strict=False)]
        self._columns = columns[order]
        self._rows = np.concatenate(rows)[order].astype(np.int32)
        self._codes = np.concatenate([piece.codes for piece in pieces])[order]

    def _open(self, plain: dict[str, Foreign], arrays: Arrays) -> HostedLedger:
        """A ledger of all lines and of the columns here."""
        rows, ends, classes, weights, offset, base, delta, first, usual, codes = arrays
        n_classes = int(plain["n_classes"])
        names = ("",) * classes.shape[1]
        targets = Targets(classes.astype(np.int64), n_classes, names, bool(plain["labelled"]))
        scale = Scale(**plain["scale"])
        nothing = np.empty(0, np.int64)
        scoring = Scoring(nothing, (nothing,), rows.astype(np.int64), ends.astype(np.int64))
        moves = self._moves(first.astype(np.int64), usual, codes)
        problem = SparseProblem(
            moves, (), (), targets, weights.astype(np.float64), scoring, np.ones(n_classes)
        )
        factors = tuple(map(int, plain["factors"]))
        tables = SparseTables(offset, base, delta, scale)
        return HostedColumns(SparseLedger(problem, tables, factors, self._threads), (0, 1))

    def _moves(self, first: Ints, usual: Array, codes: Array) -> Moves:
        """The columns by kinds, numbered as in the counts of all rows."""
        codes = codes.astype(np.int64)
        most = int(max(codes.max(initial=0), self._codes.max(initial=0))) + 1
        known = np.repeat(np.arange(first.size - 1), np.diff(first)) * most + codes
        kinds = np.searchsorted(known, self._columns * most + self._codes) - first[self._columns]
        wide = kinds.max(initial=0) >= MOST_CODES
        pointers = np.searchsorted(self._columns, np.arange(first.size))
        entries = scipy.sparse.csc_array(
            ((kinds + 1).astype(np.int32 if wide else np.uint8), self._rows, pointers),
            shape=(self._n_rows, first.size - 1),
        )
        return Moves(entries, first, usual.astype(np.int64), codes)


# -- What Dask runs where the rows are -------------------------------------------------------------


#: Names of the columns of a table, and of those beside them.
Columns = tuple[Sequence[Foreign], Sequence[str]]

#: Columns that are learnt together.
BLOCK = 32


class PartitionRequest(NamedTuple):
    """Which rows of a part count, and how often; None: all of them, once."""

    number: int  #: of the part
    rows: Ints | None = None
    repeats: Floats | None = None


class Seen(NamedTuple):
    """Rows of a part as a ranking sees them: which, their classes and weights."""

    rows: Ints
    labels: Ints
    weights: Floats
    n_classes: int


def rows_in(part: Foreign) -> int:
    """How many rows a part has."""
    return int(part.shape[0])


class PartitionSummary(NamedTuple):
    """What a part is like, but for the values of its columns."""

    n_rows: int
    kinds: list[Kind]
    sparse: bool | None  #: None where there are no rows to tell


class PartitionLook(NamedTuple):
    """What a part is like, and what its columns hold, by blocks."""

    summary: PartitionSummary
    blocks: list[list[Look]]


_NOTHING = Look(Kind(False, False, np.nan), np.empty(0), np.empty(0, np.int64))


def look_at(
    part: Foreign, columns: Columns, wanted: PartitionRequest, valued: Sequence[int]
) -> PartitionLook:
    """Look at all columns of a part; of a sparse one at those whose values count."""
    table = read_part(part, columns, wanted.number)
    sparse = None if table is None else isinstance(table, SparseTable)
    if table is not None and wanted.rows is not None:
        table = table.take(wanted.rows) if wanted.rows.size else None
    looks = [_NOTHING] * len(columns[0])
    if table is not None:
        for j in valued if sparse else range(len(looks)):
            looks[j] = look(table, j, wanted.repeats)
    blocks = [looks[at : at + BLOCK] for at in range(0, len(looks), BLOCK)]
    kinds = [each.kind for each in looks]
    return PartitionLook(PartitionSummary(rows_in(part), kinds, sparse), blocks)


def summary_of(looked: PartitionLook) -> PartitionSummary:
    """Rows and kinds alone."""
    return looked.summary


def block_of(looked: PartitionLook | Sequence[Foreign], at: int) -> Foreign:
    """One block of columns."""
    return (looked.blocks if isinstance(looked, PartitionLook) else looked)[at]


def learn_block(
    parts: Sequence[Sequence[Look]], names: Sequence[str], models: Sequence[str], sparse: bool
) -> list[ColumnSpec]:
    """What the columns of a block are like, from all parts."""
    return [
        learn_from(name, model, looks, MODELS[model].discrete, MODELS[model].grid_codes, sparse)
        for name, model, *looks in zip(names, models, *parts, strict=True)
    ]


def comparable_block(
    parts: Sequence[Sequence[Look]], names: Sequence[str], n_whole: int, n_parts: int
) -> list[ColumnSpec]:
    """The columns of a block as they are compared: texts, small whole numbers, or in parts."""
    found = []
    for name, *looks in zip(names, *parts, strict=True):
        text = any(each.kind.text for each in looks)
        whole = not text and not any(each.below_zero for each in looks)
        if whole and all(np.isin(each.values, np.arange(n_whole)).all() for each in looks):
            found.append(ColumnSpec(name, "", levels=np.arange(float(n_whole))))
        else:
            found.append(learn_from(name, "", looks, True, 0 if text else n_parts))
    return found


def count_classes(
    part: Foreign, columns: Columns, wanted: PartitionRequest, which: Sequence[int], seen: Seen
) -> list[list[tuple[Floats, Floats]]]:
    """Each number of some columns with its weight by class, in blocks of columns."""
    table = read_part(part, columns, wanted.number)
    if table is None or not seen.rows.size:
        found = [(np.empty(0), np.empty((0, seen.n_classes))) for _ in which]
    else:
        table, found = table.take(seen.rows), []
        for j in which:
            column = np.asarray(table.column(j), np.float64)
            known = ~np.isnan(column)
            values, at = np.unique(column[known], return_inverse=True)
            counts = np.zeros((values.size, seen.n_classes))
            np.add.at(counts, (at.ravel(), seen.labels[known]), seen.weights[known])
            found.append((values, counts))
    return [found[at : at + BLOCK] for at in range(0, len(found), BLOCK)]


def cut_block(
    parts: Sequence[Sequence[tuple[Floats, Floats]]],
) -> list[Floats]:
    """Where the columns of a block are cut by minimum description length, from all parts."""
    found = []
    for j in range(len(parts[0])):
        values = np.concatenate([part[j][0] for part in parts])
        distinct, at = np.unique(values, return_inverse=True)
        counts = np.zeros((distinct.size, parts[0][j][1].shape[1]))
        np.add.at(counts, at.ravel(), np.concatenate([part[j][1] for part in parts]))
        borders = mdl_borders(counts)
        found.append(distinct[borders - 1] / 2 + distinct[borders] / 2)
    return found


def encode_part(
    part: Foreign, columns: Columns, wanted: PartitionRequest, specs: Sequence[ColumnSpec]
) -> CodedPart:
    """The rows of a part as codes."""
    table = read_part(part, columns, wanted.number)
    if table is not None and wanted.rows is not None:
        table = table.take(wanted.rows) if wanted.rows.size else None
    coded = [j for j, spec in enumerate(specs) if fits_a_byte(spec)]
    others = [j for j, spec in enumerate(specs) if not fits_a_byte(spec)]
    if table is None:
        nothing = np.empty(0, np.uint8)
        return CodedPart.of([nothing for _ in coded], [nothing for _ in others], 0)
    codes = (_codes_of(specs[j], table, j) for j in coded)
    return CodedPart.of(codes, (encode_from(specs[j], table, j) for j in others), table.n_rows)


def _codes_of(spec: ColumnSpec, table: RawTable | SparseTable, j: int) -> Array | RareCodes:
    """Codes of one column; of a sparse one those that are rare."""
    if isinstance(table, RawTable):
        return encode_from(spec, table, j)
    if spec.presence:
        matrix = table.matrix
        rows = matrix.indices[matrix.indptr[j] : matrix.indptr[j + 1]].astype(np.int32)
        return RareCodes(0, rows, np.ones(rows.size, np.uint8))
    codes = encode_from(spec, table, j)
    usual = int(np.bincount(codes).argmax())
    rows = np.flatnonzero(codes != usual).astype(np.int32)
    return RareCodes(usual, rows, codes[rows].astype(np.uint8))


def hold(
    kind: Callable[[tuple[Foreign, ...], int], Answering],
    number: int,
    address: tuple[str, int],
    token: bytes,
    secure: bool,
    *held: Foreign,
) -> int:
    """Hold rows or columns until nobody asks any more; how many questions there were."""
    from distributed import get_worker, secede

    worker = get_worker()
    context = worker.security.get_connection_args("worker")["ssl_context"] if secure else None
    try:
        line = dial(address, token, number, context)
    except OSError as error:
        raise ConnectionError(
            f"the worker {worker.address} cannot reach the search at {address[0]}:{address[1]} "
            f"({error}). Run it on a machine that the workers can reach."
        ) from error
    # A long wait: the worker's other work gets another thread.
    secede()
    return serve(line, kind(held, worker.state.nthreads))
