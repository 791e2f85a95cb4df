"""Rows far away, seen from where a search runs: every question is one round."""

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ...checks import Array, Foreign
from ...data.columns import ColumnSpec
from ...models.base import Floats, TrainingSets
from ..contract import Bounds, Ints, Measure, Outline, Scores, Units
from ..fixed import FixedTables
from ..lines import Lines, fits_a_byte
from ..partitioned import check_adds
from .asking import Asking
from .channel import Channel
from .wire import Message, narrow


@dataclass(frozen=True)
class Spans:
    """Who holds which rows.

    Parameters
    ----------
    of : for each holder, the first row and the one after the last of each of its parts, in order.
    n_rows : in all.
    """

    of: tuple[tuple[tuple[int, int], ...], ...]
    n_rows: int

    @cached_property
    def holders(self) -> Ints:
        """The holder of every row."""
        found = np.zeros(self.n_rows, narrow(np.array([len(self.of)])).dtype)
        for number, parts in enumerate(self.of):
            for lo, hi in parts:
                found[lo:hi] = number
        return found

    @cached_property
    def places(self) -> Ints:
        """The place of every row with its holder."""
        found = np.zeros(self.n_rows, narrow(np.array([self.n_rows])).dtype)
        for parts in self.of:
            at = 0
            for lo, hi in parts:
                found[lo:hi] = np.arange(at, at + hi - lo)
                at += hi - lo
        return found

    def numbers(self, holder: int) -> Ints:
        """The rows of a holder, in its own order."""
        parts = [np.arange(lo, hi) for lo, hi in self.of[holder]]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


class Opening(Protocol):
    """All that a holder must know of a ledger; told again to whoever takes its place."""

    def messages(self, holder: int, spans: Spans) -> list[Message]:
        """First the ledger itself, then what was asked about."""


class FarRows(Asking):
    """Rows of codes that others hold.

    Parameters
    ----------
    channel : to those who hold them.
    spans : who holds which.
    specs : what each column is like.
    parts : the rows themselves, for whoever can hand them on.

    Attributes
    ----------
    slots : where each column stands with its holders: among those of a byte a cell, or below 0.
    """

    def __init__(
        self,
        channel: Channel,
        spans: Spans,
        specs: Sequence[ColumnSpec],
        parts: Sequence[Foreign] = (),
    ):
        self._spans = spans
        self.specs, self.parts = tuple(specs), tuple(parts)
        coded = np.array([fits_a_byte(spec) for spec in specs], bool)
        self.slots = np.where(coded, np.cumsum(coded) - 1, -np.cumsum(~coded))
        self._n_codes = np.array([spec.n_codes for spec in specs], np.int64)
        super().__init__(channel)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self._spans.n_rows

    def count(
        self, sets: TrainingSets, training: Ints, columns: Sequence[int] | None = None
    ) -> list[Floats]:
        """Weight of the rows of each training set by code and class, column by column.

        Parameters
        ----------
        sets : who trains; its rows are those of `training`, ascending, some several times.
        training : their numbers.
        columns : these alone, in this order; None: all.
        """
        which = slice(None) if columns is None else list(columns)
        slots, n_codes = self.slots[which], self._n_codes[which]
        holders, places = self._spans.holders[training], self._spans.places[training]
        ones = bool((sets.weights == 1).all())

        def make(holder: int) -> Message:
            at = np.flatnonzero(holders == holder)
            at = at[np.argsort(places[at], kind="stable")]
            seats = np.full(training.size, -1, np.int64)
            seats[at] = np.arange(at.size)
            left = [np.sort(seats[rows][seats[rows] >= 0]) for rows in sets.left_out]
            starts = np.cumsum([0, *(rows.size for rows in left)])
            arrays = (
                slots,
                n_codes,
                places[at],
                narrow(sets.labels[at]),
                np.empty(0) if ones else sets.weights[at],
                narrow(np.concatenate(left)),
                starts,
            )
            return Message("count", {"n_classes": sets.n_classes, "plain": ones}, arrays)

        total = np.sum([answer.arrays[0] for answer in self.ask_each(make)], axis=0)
        shapes = [(sets.n_sets, int(n), sets.n_classes) for n in n_codes]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = np.split(total, ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def codes(self, j: int) -> Array:
        """Codes of one column, of all rows."""
        slot = int(self.slots[j])
        answers = self.ask_each(lambda holder: Message("codes", {"slots": [slot]}))
        found = np.empty(self.n_rows, answers[0].arrays[0].dtype)
        for holder, answer in enumerate(answers):
            found[self._spans.numbers(holder)] = answer.arrays[0]
        return found

    def marks(self) -> Ints:
        """A number for each column that changes with any cell, however the rows are cut."""
        slots = self.slots.tolist()

        def make(holder: int) -> Message:
            return Message("marks", {"slots": slots}, (narrow(self._spans.numbers(holder)),))

        found: Ints = np.sum([a.arrays[0] for a in self.ask_each(make)], axis=0, dtype=np.uint64)
        return found

    def ledger(self, tables: FixedTables, lines: Lines, factors: tuple[int, ...]) -> "FarLedger":
        """A ledger of some lines."""
        return FarLedger(self, self.next_number(), tables, lines, factors)

    # -- for ledgers ---------------------------------------------------------------------------

    def open(self, number: int, opening: "Opening") -> None:
        """Let every holder open its part of a ledger, now and whenever one is replaced."""
        self.tell(number, lambda holder: opening.messages(holder, self._spans))

    def held_by(self, holder: int, rows: Ints) -> Ints:
        """Which of these rows a holder has."""
        return np.flatnonzero(self._spans.holders[rows] == holder)

    def places(self, rows: Ints) -> Ints:
        """The places of rows with their holders."""
        found: Ints = self._spans.places[rows]
        return found

    def numbers(self, holder: int) -> Ints:
        """The rows of a holder, in its own order."""
        return self._spans.numbers(holder)


@dataclass(frozen=True)
class _Opening:
    """All that a holder must know of a ledger; told again to whoever takes its place."""

    number: int
    tables: FixedTables
    lines: Lines
    factors: tuple[int, ...]
    units: list[Units]

    def messages(self, holder: int, spans: Spans) -> list[Message]:
        """First the ledger itself, then the units that were asked about."""
        lines, tables = self.lines, self.tables
        at = np.flatnonzero(spans.holders[lines.rows] == holder)
        ones = not lines.weights.size
        plain = {
            "ledger": self.number,
            "bits": tables.scale.bits,
            "impossible": tables.scale.impossible,
            "bound": tables.scale.bound,
            "factors": list(self.factors),
            "plain": ones,
        }
        arrays = (
            spans.places[lines.rows[at]],
            narrow(lines.line_sets[at]),
            narrow(lines.labels[at]),
            np.empty(0, np.int64) if ones else narrow(lines.weights[at]),
            tables.prior,
            tables.slots,
            tables.n_codes,
            tables.offsets,
            tables.table,
            *tables.wide,
        )
        found = [Message("open", plain, arrays)]
        for which, units in enumerate(self.units):
            found.append(self.told(which, units))
        return found

    def told(self, which: int, units: Units) -> Message:
        """Which columns move together."""
        starts, columns = units.flat
        plain = {"ledger": self.number, "units": which}
        return Message("units", plain, (narrow(starts), narrow(columns)))


class FarLedger:
    """A ledger whose lines others hold.

    Each question names the whole subset, so that a holder that has just begun catches up by itself,
    and a step of a search is one round (errors) or two (bounds, then losses).

    Parameters
    ----------
    rows : where to ask.
    number : of this ledger.
    tables, lines, factors : as for a dense ledger.
    """

    def __init__(
        self,
        rows: FarRows,
        number: int,
        tables: FixedTables,
        lines: Lines,
        factors: tuple[int, ...],
    ):
        self._rows, self._number, self._lines = rows, number, lines
        self._n_sets = tables.n_sets
        scale = tables.scale
        self.outline = Outline(tables.n_classes, ("",), False, factors, scale.bits, scale.bound)
        self._inside: set[int] = set()
        self._opening = _Opening(number, tables, lines, factors, [])
        rows.open(number, self._opening)
        weakref.finalize(self, rows.forget, number)

    def totals(self) -> Ints:
        """Known without asking: who is scored was decided here."""
        lines = self._lines
        found = np.zeros((1, self._n_sets, self.outline.n_classes), np.int64)
        np.add.at(found[0], (lines.line_sets, lines.labels), lines.line_weights)
        return found

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Holders hear of it with the next question."""
        (self._inside.update if sign > 0 else self._inside.difference_update)(columns)

    def losses(self, measure: Measure, units: Units, which: Ints, sign: int) -> Ints:
        """One round."""
        found = self._asked("losses", measure, units, which, {"sign": sign})
        total: Ints = np.sum([answer.arrays[0] for answer in found], axis=0)
        return total

    def bounds(self, measure: Measure, units: Units, which: Ints, sign: int) -> Bounds:
        """One round."""
        found = self._asked("bounds", measure, units, which, {"sign": sign})
        return Bounds(*(np.sum([a.arrays[i] for a in found], axis=0) for i in range(2)))

    def walk(self, measure: Measure, units: Units, which: Ints, signs: Ints) -> Ints:
        """All steps in one round."""
        found = self._asked("walk", measure, units, which, {}, np.asarray(signs, np.int64))
        for unit, sign in zip(which.tolist(), signs.tolist(), strict=True):
            self.apply(units.members[unit], sign)
        total: Ints = np.sum([answer.arrays[0] for answer in found], axis=0)
        return total

    def scores(self, joining: Sequence[int], leaving: Sequence[int]) -> Iterator[Scores]:
        """The sums of all lines come here, in the order in which one ledger would have them."""
        more = [np.array(sorted(columns), np.int64) for columns in (joining, leaving)]
        message = Message("scores", {"ledger": self._number}, (self._subset(), *more))
        lines = self._lines
        sums = np.empty((lines.rows.size, self.outline.n_classes), np.int64)
        for holder, answer in enumerate(self._rows.ask(message)):
            sums[self._rows.held_by(holder, lines.rows)] = answer.arrays[0]
        yield Scores(
            lines.rows, lines.line_sets, lines.line_weights, lines.labels[None], sums[None]
        )

    def _subset(self) -> Array:
        return narrow(np.array(sorted(self._inside), np.int64))

    def _asked(
        self,
        op: str,
        measure: Measure,
        units: Units,
        which: Ints,
        more: dict[str, int],
        *arrays: Array,
    ) -> list[Message]:
        check_adds(measure)
        known = [i for i, each in enumerate(self._opening.units) if each is units]
        if not known:
            known = [len(self._opening.units)]
            self._opening.units.append(units)
            self._rows.ask(self._opening.told(known[0], units))
        plain = {
            "ledger": self._number,
            "units": known[0],
            "kind": measure.kind,
            "bits": measure.bits,
            **more,
        }
        asked = narrow(np.asarray(which, np.int64))
        return self._rows.ask(Message(op, plain, (self._subset(), asked, *arrays)))
