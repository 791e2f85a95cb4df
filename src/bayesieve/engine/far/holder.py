"""Whoever holds rows answers for them: counts, ledgers of some of the lines, codes of a column."""

import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...data.storage import IN_MEMORY
from ...models.base import Scale
from ..contract import Ints, Measure, Units
from ..dense import DenseLedger
from ..fixed import FixedTables
from ..lines import DenseRows, LineCells, Lines
from ..threads import Threads
from .counting import CountedRows
from .part import CodedPart
from .twins import ComparedRows
from .weighed import WeighedRows
from .wire import Answers, Message, answered, receive, send

#: Seconds between two signs of life of a holder that works.
BEAT = 3.0


class _Held(NamedTuple):
    """A ledger of some of the rows here, and what it stands at."""

    ledger: DenseLedger | None  #: None where none of its lines is here
    n_classes: int
    inside: set[int]
    units: dict[int, Units]


class Holder:
    """Answers for the rows of some parts of a table.

    Parameters
    ----------
    parts : the rows, one part after the other.
    n_threads : for the kernels.
    """

    def __init__(self, parts: Sequence[CodedPart], n_threads: int = 1):
        self._parts = [part for part in parts if part.n_rows]
        self._ends = np.cumsum([0, *(part.n_rows for part in self._parts)])
        self._threads = Threads(n_threads)
        self._ledgers: dict[int, _Held] = {}
        self._weighed = WeighedRows(self._parts, self._threads)
        self._answers: Answers = {
            "count": self._count,
            "open": self._open,
            "units": self._units,
            "losses": self._losses,
            "bounds": self._bounds,
            "walk": self._walk,
            "scores": self._scores,
            "codes": self._codes,
            "marks": self._marks,
            "nothing": lambda plain, arrays: arrays,
            **self._weighed.answers,
            **ComparedRows(self._parts).answers,
        }

    def answer(self, message: Message) -> Message:
        """The answer to a message; what went wrong is an answer too."""
        return answered(message, self._answers, self._forget)

    def _forget(self, number: int) -> None:
        self._ledgers.pop(number, None)
        self._weighed.forget(number)

    def close(self) -> None:
        """Let the threads go."""
        self._threads.close()

    # -- counts and codes ----------------------------------------------------------------------

    def _pieces(self, rows: Ints) -> Iterator[tuple[CodedPart, slice, int]]:
        """Each part with those of ascending rows that it holds, and its first row."""
        at = np.searchsorted(rows, self._ends)
        for k, part in enumerate(self._parts):
            if at[k + 1] > at[k]:
                yield part, slice(int(at[k]), int(at[k + 1])), int(self._ends[k])

    def _count(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
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
            told = (labels[here], weights[here], tuple(left_out), n_classes)
            counted = CountedRows(part, rows[here] - first, *told)
            task = counted.counter(slots, n_codes, offsets, total)
            self._threads.run(task, slots.size, slots.size * (here.stop - here.start))
        return [total]

    def _whole(self, slot: int) -> Array:
        """One column of all rows here."""
        return np.concatenate([part.column(slot) for part in self._parts])

    def _codes(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        """Codes of all rows of some columns, columns x rows."""
        nothing = np.empty(0, np.uint8)
        return [self._whole(slot) if self._parts else nothing for slot in plain["slots"]]

    def _marks(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
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

    # -- ledgers -------------------------------------------------------------------------------

    def _open(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        rows, sets, labels, weights, prior, slots, n_codes, offsets, table, *wide = arrays
        scale = Scale(int(plain["bits"]), int(plain["impossible"]), float(plain["bound"]))
        tables = FixedTables(scale, prior, slots, n_codes, offsets, table, tuple(wide))
        ledger = None
        if rows.size:
            weights = np.ones(rows.size, np.int64) if plain["plain"] else weights.astype(np.int64)
            lines = Lines.sort(
                rows.astype(np.int64), sets.astype(np.int64), labels.astype(np.int64), weights
            )
            factors = tuple(map(int, plain["factors"]))
            ledger = DenseLedger(tables, self._gather(lines, tables), factors, self._threads)
        held = _Held(ledger, tables.n_classes, set(), {})
        self._ledgers[int(plain["ledger"])] = held
        return []

    def _gather(self, lines: Lines, tables: FixedTables) -> DenseRows:
        """The codes of the lines."""
        slots = tables.slots
        n_coded = int((slots >= 0).sum())
        cells, wide = LineCells(lines, n_coded), list[Foreign]()
        codes = np.empty(lines.rows.size, np.uint8)
        for slot in range(n_coded):
            self._whole(slot).take(lines.rows, out=codes, mode="clip")
            cells.put(codes, bool(tables.n_codes[slot] == 2))
        for w in range(len(tables.wide)):
            wide.append(self._whole(-1 - w)[lines.rows])
        return DenseRows(lines, cells, wide, IN_MEMORY)

    def _units(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        starts, columns = (array.astype(np.int64).tolist() for array in arrays)
        members = tuple(tuple(columns[lo:hi]) for lo, hi in pairwise(starts))
        self._ledgers[int(plain["ledger"])].units[int(plain["units"])] = Units(members)
        return []

    def _at(self, plain: dict[str, Foreign], inside: Array) -> _Held:
        """The ledger asked for, brought to the subset that the question is about."""
        held = self._ledgers[int(plain["ledger"])]
        wanted = set(inside.tolist())
        if held.ledger is not None and wanted != held.inside:
            for columns, sign in ((held.inside - wanted, -1), (wanted - held.inside, 1)):
                if columns:
                    held.ledger.apply(sorted(columns), sign)
            held.inside.clear()
            held.inside.update(wanted)
        return held

    def _losses(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        held, which = self._at(plain, arrays[0]), arrays[1].astype(np.int64)
        if held.ledger is None:
            return [np.zeros((which.size, held.n_classes), np.int64)]
        units = held.units[int(plain["units"])]
        return [held.ledger.losses(_measure(plain), units, which, int(plain["sign"]))]

    def _bounds(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        held, which = self._at(plain, arrays[0]), arrays[1].astype(np.int64)
        if held.ledger is None:
            return [np.zeros(which.size), np.zeros(which.size)]
        units = held.units[int(plain["units"])]
        return list(held.ledger.bounds(_measure(plain), units, which, int(plain["sign"])))

    def _walk(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        held, which, signs = self._at(plain, arrays[0]), arrays[1], arrays[2].astype(np.int64)
        if held.ledger is None:
            return [np.zeros((which.size, held.n_classes), np.int64)]
        units = held.units[int(plain["units"])]
        found = held.ledger.walk(_measure(plain), units, which.astype(np.int64), signs)
        for unit, sign in zip(which.tolist(), signs.tolist(), strict=True):
            moved = units.members[unit]
            (held.inside.update if sign > 0 else held.inside.difference_update)(moved)
        return [found]

    def _scores(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        held = self._at(plain, arrays[0])
        if held.ledger is None:
            return [np.empty((0, held.n_classes), np.int64)]
        (found,) = held.ledger.scores(arrays[1].tolist(), arrays[2].tolist())
        return [found.sums[0]]


def _measure(plain: dict[str, Foreign]) -> Measure:
    return Measure(str(plain["kind"]), int(plain["bits"]))


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers over all bits (Steele, Lea and Flood 2014), so that sums tell them apart."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


class Answering(Protocol):
    """Whoever answers for what it holds."""

    def answer(self, message: Message) -> Message:
        """The answer to a message; what went wrong is an answer too."""

    def close(self) -> None:
        """Let everything go."""


def serve(line: socket.socket, holder: Answering) -> int:
    """Answer until the line is closed; how many questions there were."""
    n_questions = 0
    mouth = _Mouth(line)
    try:
        with contextlib.suppress(OSError):
            while True:
                question = receive(line)
                mouth.busy = True
                mouth.say(holder.answer(question))
                n_questions += 1
    finally:
        mouth.close()
        holder.close()
        line.close()
    return n_questions


class _Mouth:
    """Says answers, and now and then, while one is worked on, that it is: else one looks frozen."""

    def __init__(self, line: socket.socket):
        self.busy = False
        self._line, self._one_word, self._over = line, threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def say(self, message: Message) -> None:
        """The answer."""
        with self._one_word:
            self.busy = False
            send(self._line, message)

    def close(self) -> None:
        """Say no more."""
        self._over.set()

    def _beat(self) -> None:
        with contextlib.suppress(OSError):
            while not self._over.wait(BEAT):
                with self._one_word:
                    if self.busy:
                        send(self._line, Message("busy"))
