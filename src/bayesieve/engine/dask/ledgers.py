"""Remote ledgers: requests to Dask workers, whose answers are summed."""

import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Bytes, Foreign
from ...data.columns import ColumnSpec
from ...data.storage import Moves
from ...models.base import SCORE_BITS, Floats, Statistics, TrainingSets, one_set
from ..contract import (
    AS_IT_IS,
    ROW_MEASURES,
    WHOLE,
    Bounds,
    Ints,
    Ledger,
    Measure,
    Offers,
    Outline,
    Scores,
    Slopes,
    Units,
    check_adds,
    sign_of,
    tables_of,
)
from ..dense import FixedTables
from ..layout import Lines, fits_a_byte
from ..sparse import MovedLines, SparseProblem, SparseTables
from ..weighted import ScoredLines, TermTables, loss_bits
from .terms import Reads, flat
from .transport import Answers, Channel, Message, Requests, narrow


class RareCodes(NamedTuple):
    """A column of codes, nearly all of which are the same."""

    usual: int  #: the code of all other rows
    rows: NDArray[np.int32]  #: rows that have another one, ascending, and it
    codes: Bytes


class CodedPart(NamedTuple):
    """Rows of a table as codes."""

    #: columns whose codes fit a byte; those of 0 and 1 only, a bit a row; or rare codes
    codes: tuple[Bytes | RareCodes, ...]
    wide: tuple[NDArray[np.int32], ...]  #: the other columns
    n_rows: int

    @classmethod
    def of(
        cls, codes: Iterable[Array | RareCodes], wide: Iterable[Array], n_rows: int
    ) -> "CodedPart":
        """Columns of a byte a row, those of 0 and 1 packed; and the others.

        Examples
        --------
        >>> part = CodedPart.of([np.array([0, 1] * 8), np.array([0, 2] * 8)], [], 16)
        >>> [column.nbytes for column in part.codes], part.column(0)[:4]
        ([2, 16], array([0, 1, 0, 1], dtype=uint8))
        """
        kept: list[Bytes | RareCodes] = []
        for column in codes:
            if isinstance(column, RareCodes):
                kept.append(column)
                continue
            two = n_rows > 1 and column.max() <= 1
            kept.append(np.packbits(column.astype(np.uint8)) if two else column.astype(np.uint8))
        return cls(tuple(kept), tuple(np.asarray(each, np.int32) for each in wide), n_rows)

    def column(self, slot: int) -> Array:
        """One column, by its slot among the coded (>= 0) or the wide ones."""
        if slot < 0:
            return self.wide[-1 - slot]
        found = self.codes[slot]
        if isinstance(found, RareCodes):
            whole = np.full(self.n_rows, found.usual, np.uint8)
            whole[found.rows] = found.codes
            return whole
        # Of two rows on, bits are fewer bytes than rows.
        return found if found.size == self.n_rows else np.unpackbits(found, count=self.n_rows)

    def apart(self, slot: int, usual: int) -> tuple[Array, Array]:
        """The rows of a column that have another code than the usual one, and their codes."""
        found = self.codes[slot] if slot >= 0 else None
        if isinstance(found, RareCodes) and found.usual == usual:
            return found.rows, found.codes
        column = self.column(slot)
        rows = np.flatnonzero(column != usual)
        return rows, column[rows]


class Piece(NamedTuple):
    """Some columns of a part, by the rows in which they differ from their usual code."""

    pointers: Ints  #: column c has the entries from pointers[c] to pointers[c + 1]
    rows: NDArray[np.int32]  #: of the entries; rows ascending within a column
    codes: Array
    n_rows: int  #: how many rows the part has


def deal(part: CodedPart, slots: Sequence[int], usual: Sequence[int]) -> Piece:
    """Some columns of a part, for the worker that is to hold them.

    Examples
    --------
    >>> part = CodedPart.of([np.array([0, 1, 0]), np.array([2, 2, 0])], [], 3)
    >>> [each.tolist() for each in deal(part, [0, 1], [0, 2])[:3]]
    [[0, 1, 2], [1, 2], [1, 0]]
    """
    found = [part.apart(slot, code) for slot, code in zip(slots, usual, strict=True)]
    sizes = [rows.size for rows, _ in found]
    kind = np.int32 if any(slot < 0 for slot in slots) else np.uint8
    return Piece(
        np.cumsum([0, *sizes], dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *(rows for rows, _ in found)]).astype(np.int32),
        np.concatenate([np.empty(0, kind), *(codes for _, codes in found)]).astype(kind),
        part.n_rows,
    )


# -- Rows on workers, seen from where a search runs ------------------------------------------------


@dataclass(frozen=True)
class Spans:
    """Which worker holds which rows."""

    #: for each holder, the first row and the one after the last of each of its parts, in order
    of: tuple[tuple[tuple[int, int], ...], ...]
    n_rows: int  #: in all

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

    def numbers(self, worker: int) -> Ints:
        """The rows of a worker, in its own order."""
        parts = [np.arange(lo, hi) for lo, hi in self.of[worker]]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def held_by(self, worker: int, rows: Ints) -> Ints:
        """Which of these rows a worker has."""
        return np.flatnonzero(self.holders[rows] == worker)


class RemoteRows(Requests):
    """Rows of codes that workers hold.

    `slots` tells where each column stands with its holders: among those of a byte a cell, or below
    0.  `parts` are the rows themselves, for whoever can hand them on.
    """

    def __init__(
        self,
        channel: Channel,
        spans: Spans,
        specs: Sequence[ColumnSpec],
        parts: Sequence[Foreign] = (),
    ):
        self.spans = spans
        self.specs, self.parts = tuple(specs), tuple(parts)
        coded = np.array([fits_a_byte(spec) for spec in specs], bool)
        self.slots = np.where(coded, np.cumsum(coded) - 1, -np.cumsum(~coded))
        self._n_codes = np.array([spec.n_codes for spec in specs], np.int64)
        super().__init__(channel)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.spans.n_rows

    def count(
        self, sets: TrainingSets, training: Ints, columns: Sequence[int] | None = None
    ) -> list[Floats]:
        """Weight of the rows of each training set by code and class, column by column.

        The rows of the sets are those numbered by `training`, ascending, some several times.
        """
        which = slice(None) if columns is None else list(columns)
        slots, n_codes = self.slots[which], self._n_codes[which]
        holders, places = self.spans.holders[training], self.spans.places[training]
        ones = bool((sets.weights == 1).all())

        def make(holder: int) -> Message:
            at = np.flatnonzero(holders == holder)
            at = at[np.argsort(places[at], kind="stable")]
            seats = np.full(training.size, -1, np.int64)
            seats[at] = np.arange(at.size)
            starts, left = flat([np.sort(seats[x][seats[x] >= 0]) for x in sets.left_out])
            arrays = (
                slots,
                n_codes,
                places[at],
                narrow(sets.labels[at]),
                np.empty(0) if ones else sets.weights[at],
                narrow(left),
                starts,
            )
            return Message("count", {"n_classes": sets.n_classes, "plain": ones}, arrays)

        total = np.sum([answer.arrays[0] for answer in self.ask_each(make)], axis=0)
        shapes = [(sets.n_sets, int(n), sets.n_classes) for n in n_codes]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = np.split(total, ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    @cached_property
    def totals(self) -> list[Floats]:
        """How many rows have each code, column by column."""
        sets = one_set(np.zeros(self.n_rows, np.int64), np.ones(self.n_rows), np.ones(1))
        return [found[0, :, 0] for found in self.count(sets, np.arange(self.n_rows))]

    def codes(self, j: int) -> Array:
        """Codes of one column, of all rows."""
        slot = int(self.slots[j])
        answers = self.ask_each(lambda holder: Message("codes", {"slots": [slot]}))
        found = np.empty(self.n_rows, answers[0].arrays[0].dtype)
        for holder, answer in enumerate(answers):
            found[self.spans.numbers(holder)] = answer.arrays[0]
        return found

    def marks(self) -> Ints:
        """A number for each column that changes with any cell, however the rows are cut."""
        slots = self.slots.tolist()

        def make(holder: int) -> Message:
            return Message("marks", {"slots": slots}, (narrow(self.spans.numbers(holder)),))

        return np.sum([a.arrays[0] for a in self.ask_each(make)], axis=0, dtype=np.uint64)

    def row_marks(
        self, columns: Sequence[int], drawn: Sequence[NDArray[np.uint64]]
    ) -> NDArray[np.uint64]:
        """Sum over the columns of what was drawn for the code of each row; eight bytes a row."""
        message = Message("row marks", {}, (self.slots[list(columns)], *flat(drawn, np.uint64)))
        found = np.empty(self.n_rows, np.uint64)
        for worker, answer in enumerate(self.ask(message)):
            found[self.spans.numbers(worker)] = answer.arrays[0]
        return found

    # -- ledgers -------------------------------------------------------------------------------

    def ledger(self, tables: FixedTables, lines: Lines, factors: tuple[int, ...]) -> Ledger:
        """A ledger of some lines in which whole columns join and leave."""
        scale = tables.scale
        scored = Scores(
            lines.rows, lines.line_sets, lines.line_weights, lines.labels[None], _NO_SUMS
        )
        plain = {"form": "lines", "scale": asdict(scale), "factors": list(factors)}
        at = (tables.slots, tables.n_codes, tables.offsets, tables.table)
        shared = (tables.prior, *at, *tables.wide)
        opening = Opening(plain, lines.rows, scored, tables.n_sets, shared)
        outline = Outline(tables.n_classes, ("",), False, factors, scale.bits, scale.bound)
        size = (tables.slots.size, 1)
        return RemoteLedger(self, opening, outline, Offers(ROW_MEASURES), size)

    def weighted_ledger(
        self, tables: TermTables, reads: Reads, rows: Ints, labels: Ints, weights: Ints
    ) -> Ledger:
        """A ledger of weighted terms."""
        n_classes = tables.n_classes
        lines = ScoredLines.sort(labels, n_classes, weights)
        bits, once = loss_bits(tables, lines), np.ones(rows.size, np.int64)
        each = lines.weights if lines.weights.size else once
        scored = Scores(lines.rows, 0 * once, each, lines.labels[None], _NO_SUMS)
        shared = (tables.ratios, tables.own, tables.first, tables.n_codes)
        plain = {"form": "terms", "bits": bits}
        opening = Opening(plain, rows[lines.rows], scored, 1, (*shared, *reads))
        outline = Outline(n_classes, ("",), False, (1,) * n_classes, SCORE_BITS, tables.bound)
        offers = Offers(("log-likelihood",), tables, bits)
        return RemoteLedger(self, opening, outline, offers, (tables.n_terms, n_classes))


_NO_SUMS = np.empty((1, 0, 0), np.int64)


@dataclass(frozen=True)
class Opening:
    """All that workers must know of a ledger of lines that they hold."""

    plain: dict[str, Foreign]  #: what kind of ledger it is, and its numbers
    rows: Ints  #: the row of the table behind each line
    lines: Scores  #: the lines, without their sums
    n_sets: int  #: how many sets of tables they read
    tables: tuple[Array, ...]  #: the same for all workers

    def message(self, number: int, worker: int, rows: RemoteRows) -> Message:
        """What one worker must know; weights are left out where every line counts once."""
        at, lines = rows.spans.held_by(worker, self.rows), self.lines
        weights = lines.weights[:0] if (lines.weights == 1).all() else lines.weights[at]
        mine = (lines.sets[at], lines.classes[0][at], weights)
        arrays = (rows.spans.places[self.rows[at]], *map(narrow, mine), *self.tables)
        return Message("open", {"ledger": number, **self.plain}, arrays)


class NamedLedger(Ledger):
    """Remote ledger, known to workers by a number; replacements receive its state."""

    def _open(self, workers: Requests) -> None:
        """Open the ledger's part on every worker, now and whenever one is replaced."""
        self._number, self._workers = workers.next_number(), workers
        self._known: list[Units] = []
        setup = weakref.WeakMethod(self._setup)

        def tell(worker: int) -> list[Message]:
            messages = setup()  # None where the ledger is gone
            return [Message("nothing")] if messages is None else messages(worker)

        workers.tell(self._number, tell)
        weakref.finalize(self, workers.forget, self._number)

    def _opening(self, worker: int) -> Message:
        """All that one worker must know."""
        raise NotImplementedError

    def _members(self, number: int, worker: int) -> tuple[Ints, Ints]:
        """Units as one worker has them: where each one's terms start, and the terms."""
        return self._known[number].flat

    def _setup(self, worker: int) -> list[Message]:
        """The ledger itself, then the units that requests have named."""
        units = [self._named(number, worker) for number in range(len(self._known))]
        return [self._opening(worker), *units]

    def _named(self, number: int, worker: int) -> Message:
        starts, terms = self._members(number, worker)
        plain = {"ledger": self._number, "units": number}
        return Message("units", plain, (narrow(starts), narrow(terms)))

    def _number_of(self, units: Units) -> int:
        """The number by which workers know units, of which they are told once; -1 for none."""
        if not units.members:
            return -1
        for number, known in enumerate(self._known):
            if known is units:
                return number
        number = len(self._known)
        self._known.append(units)
        self._workers.ask_each(lambda worker: self._named(number, worker))
        return number

    def _plain(self, method: str, measure: Measure, units: Units, steps: int) -> dict[str, Foreign]:
        """A request in words and numbers."""
        return {
            "ledger": self._number,
            "method": method,
            "units": self._number_of(units),
            "kind": measure.kind,
            "bits": measure.bits,
            "steps": steps,
        }


class RemoteLedger(NamedLedger):
    """A ledger whose lines workers hold.

    Each request names the whole state, so that a worker that has just begun catches up by itself,
    and answers are added up: a step of a search is one round (errors) or two (bounds, then losses).

    `shape` is that of the weights: terms x classes, or x 1 where whole columns join and leave.
    """

    def __init__(
        self,
        rows: RemoteRows,
        opening: Opening,
        outline: Outline,
        offers: Offers,
        shape: tuple[int, int],
    ):
        self.outline, self.offers = outline, offers
        self._rows, self._held = rows, opening
        self._weights = np.zeros(shape, np.int64)
        self._constants = np.zeros(outline.n_classes, np.int64)
        self._added: dict[int, Ints] = {}  # to what terms say, whatever their weights
        self._loss: Ints | None = None  # as it stands, where an answer came with it
        self._balance: Ints | None = None
        self._open(rows)

    def totals(self) -> Ints:
        """Known without asking: who is scored was decided here."""
        lines = self._held.lines
        found = np.zeros((1, self._held.n_sets, self.outline.n_classes), np.int64)
        np.add.at(found[0], (lines.sets, lines.classes[0]), lines.weights)
        return found

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Raise weights; workers hear of it with the next request."""
        if self.offers.tables is None:
            steps = WHOLE * sign_of(steps)
        np.add.at(self._weights, np.asarray(terms, np.int64), steps)
        self._loss = self._balance = None

    def shift(self, steps: Ints) -> None:
        """Raise constants; workers hear of it with the next request."""
        tables_of(self)
        self._constants = self._constants + steps
        self._loss = self._balance = None

    def add(self, terms: Sequence[int], tables: Sequence[Ints]) -> None:
        """Add to what terms say; workers hear of it with the next request."""
        tables_of(self)
        for term, table in zip(terms, tables, strict=True):
            self._added[term] = self._added[term] + table if term in self._added else table.copy()
        self._added = {term: table for term, table in self._added.items() if table.any()}
        self._loss = self._balance = None

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """One round; none where another answer came with the loss as it stands."""
        check_adds(measure)
        chosen = np.asarray(which, np.int64)
        as_it_is = chosen.tolist() == [AS_IT_IS]
        if as_it_is and self._loss is not None and measure == self.offers.measure:
            return self._loss[None]
        (found,) = self._ask(self._plain("losses", measure, units, steps), narrow(chosen))
        if as_it_is and self.offers.tables is not None:
            self._loss = found[0]
        return found

    def bounds(self, measure: Measure, units: Units, which: Ints, steps: int) -> Bounds:
        """One round."""
        check_adds(measure)
        chosen = narrow(np.asarray(which, np.int64))
        return Bounds(*self._ask(self._plain("bounds", measure, units, steps), chosen))

    def walk(self, measure: Measure, units: Units, which: Ints, steps: Ints) -> Ints:
        """All steps in one round."""
        check_adds(measure)
        plain = self._plain("walk", measure, units, 0)
        moves = narrow(np.asarray(which, np.int64)), narrow(np.asarray(steps, np.int64))
        (found,) = self._ask(plain, *moves)
        for unit, step in zip(which.tolist(), steps.tolist(), strict=True):
            self.apply(units.members[unit], step)
        return found

    def slopes(self, which: Sequence[int]) -> Slopes:
        """One round, which tells the loss as well."""
        terms, tables = np.asarray(which, np.int64), tables_of(self)
        at = np.append(0, np.cumsum(tables.n_codes[terms] * tables.width))
        self._loss, sums = self._ask(self._asks("slopes"), narrow(terms))
        return Slopes(sums, at)

    def balance(self) -> Ints:
        """One round, which tells the loss as well."""
        tables_of(self)
        if self._balance is None:
            self._loss, self._balance = self._ask(self._asks("balance"))
        return self._balance

    def scores(self, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> Iterator[Scores]:
        """The sums of all lines come here, in the order in which one ledger would have them."""
        moves = [np.array(sorted(terms), np.int64) for terms in (joining, leaving)]
        lines, rows = self._held.lines, self._held.rows
        sums = np.empty((rows.size, self.outline.n_classes), np.int64)
        message = Message("ask", self._asks("scores"), (*self._state(), *moves))
        for worker, answer in enumerate(self._rows.ask(message)):
            sums[self._rows.spans.held_by(worker, rows)] = answer.arrays[0]
        yield lines._replace(sums=sums[None])

    def _opening(self, worker: int) -> Message:
        return self._held.message(self._number, worker, self._rows)

    def _asks(self, method: str) -> dict[str, Foreign]:
        return {"ledger": self._number, "method": method}

    def _state(self) -> tuple[Array, ...]:
        """Terms that are in, their weights, constants, and what is added; as `bring` takes them.

        Whole columns alone need no weights.
        """
        inside, nothing = np.flatnonzero(self._weights.any(1)), np.empty(0, np.int64)
        if self.offers.tables is None:
            return narrow(inside), nothing, nothing, nothing, nothing
        changed = np.array(sorted(self._added), np.int64)
        added = np.concatenate([nothing, *(self._added[t].ravel() for t in changed.tolist())])
        return narrow(inside), self._weights[inside], self._constants, narrow(changed), added

    def _ask(self, plain: dict[str, Foreign], *arrays: Array) -> list[Array]:
        """The answers of all workers, added up."""
        answers = self._rows.ask(Message("ask", plain, (*self._state(), *arrays)))
        return [np.sum(each, axis=0) for each in zip(*(a.arrays for a in answers), strict=True)]


# -- Columns dealt out to holders, each with all rows ----------------------------------------------


def deal_out(weights: Ints, units: Sequence[Sequence[int]], n_holders: int) -> list[list[int]]:
    """Columns of each holder: units stay whole, and all holders have about as much to do.

    Columns of no unit are nobody's.

    Examples
    --------
    >>> deal_out(np.array([5, 1, 1, 4]), [[0], [1, 3], [2]], 2)
    [[0], [1, 3, 2]]
    """
    work = np.array([1 + int(weights[list(members)].sum()) for members in units])
    middles = np.cumsum(work) - work / 2
    owner = np.minimum(middles * n_holders // work.sum(), n_holders - 1).astype(np.int64)
    found: list[list[int]] = [[] for _ in range(n_holders)]
    for holder, members in zip(owner.tolist(), units, strict=True):
        found[holder] += members
    return [columns for columns in found if columns]


class DealtColumns(Requests):
    """Columns that workers hold, each with all rows; told for each holder, in its own order."""

    def __init__(self, channel: Channel, columns: Sequence[Sequence[int]]):
        self.columns = [np.array(mine, np.int64) for mine in columns]
        self._place = {int(j): (h, i) for h, mine in enumerate(columns) for i, j in enumerate(mine)}
        super().__init__(channel)

    def split(self, columns: Sequence[int]) -> list[list[int]]:
        """Which of these columns each holder has, in its own numbers."""
        found: list[list[int]] = [[] for _ in self.columns]
        for j in columns:
            holder, place = self._place[int(j)]
            found[holder].append(place)
        return found

    def holder_of(self, column: int) -> int:
        """Worker that holds a column."""
        return self._place[int(column)][0]


@dataclass(frozen=True)
class RemoteProblem(SparseProblem):
    """Rows that workers hold; `moves` has no entries."""

    held: RemoteRows = field(kw_only=True)  #: where they are counted

    @cached_property
    def _counts(self) -> list[list[Floats]]:
        """Counts of all columns: sets x codes x classes, by problem; a round for each."""
        training = self.scoring.training
        return [
            self.held.count(self.sets_of(classes, self.class_weight), training)
            for classes in self.trained.classes.T
        ]

    def statistics(self, f: int, problem: int) -> Statistics:
        """Counts."""
        return self._counts[problem][f]

    def binary_counts(self, at: Ints, totals: Floats) -> Floats:
        """Problems side by side."""
        found = np.empty((at.size, totals.shape[0], 3, totals.shape[1]))
        for i, f in enumerate(at.tolist()):
            np.concatenate([counts[f] for counts in self._counts], axis=-1, out=found[i])
        return found

    def vote_counts(self, classes: Ints) -> Floats:
        """One round."""
        sets = self.sets_of(classes, self.class_weight)
        return np.stack(self.held.count(sets, self.scoring.training), axis=1)


class DealtLedger(NamedLedger, MovedLines):
    """A ledger of sparse columns that workers hold, each with all rows.

    The sums stand here.  The worker of a column that joins or leaves answers which lines it moves;
    the next request gives all workers the new sums of these lines.  Sums are sent, not differences:
    to receive them twice changes nothing, and a worker that has just begun receives all of them.
    """

    def __init__(
        self,
        columns: DealtColumns,
        problem: SparseProblem,
        tables: SparseTables,
        factors: tuple[int, ...],
    ):
        super().__init__(problem, tables, factors)
        self._columns, self._problem = columns, problem
        self._wanted: set[int] = set()
        self._inside: set[int] = set()
        self._news = np.zeros(self._rows.size, bool)
        self._owners: list[_Owned] = []
        self._open(columns)

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Add or remove columns; workers learn of it with the next request."""
        change = self._wanted.update if sign_of(steps) > 0 else self._wanted.difference_update
        change(map(int, terms))

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """One round, and one before it where columns have moved."""
        self._catch_up()
        plain = self._plain("losses", measure, units, steps)
        owned = self._owners[plain["units"]] if units.members else _Owned.of(units, self._columns)
        which = np.asarray(which, np.int64)
        owner = np.where(which == AS_IT_IS, 0, owned.workers[which])
        lines = np.flatnonzero(self._news)
        state = (narrow(lines), self._sums[:, lines], self._offset)

        def make(worker: int) -> Message:
            mine = which[owner == worker]
            mine = np.where(mine == AS_IT_IS, AS_IT_IS, owned.numbers[mine])
            return Message("ask", plain, (*state, narrow(mine)))

        answers = [answer.arrays[0] for answer in self._columns.ask_each(make)]
        self._news[lines] = False
        found = np.empty((which.size, answers[0].shape[1]), np.int64)
        for worker, answer in enumerate(answers):
            found[owner == worker] = answer
        return found

    def scores(self, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> Iterator[Scores]:
        """The sums, which stand here."""
        self._catch_up()
        lines, moves = self._changes(joining, leaving)
        sums = self._sums.copy()
        sums[:, lines] += moves
        return self._scores(sums, self._moved_offset(joining, leaving))

    # -- sums ----------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Move the columns that have joined or left since the last request."""
        joining, leaving = self._wanted - self._inside, self._inside - self._wanted
        if not joining and not leaving:
            return
        lines, moves = self._changes(sorted(joining), sorted(leaving))
        offset = self._moved_offset(sorted(joining), sorted(leaving))
        # Nothing is asked from here on: an interrupt finds all of it done, or nothing.
        self._sums[:, lines] += moves
        self._offset, self._news[lines] = offset, True
        self._inside = (self._inside | joining) - leaving

    def _moved_offset(self, joining: Sequence[int], leaving: Sequence[int]) -> Ints:
        base = self._tables.base
        return self._offset + base[list(joining)].sum(0) - base[list(leaving)].sum(0)

    def _changes(self, joining: Sequence[int], leaving: Sequence[int]) -> tuple[Ints, Ints]:
        """Lines that move, and by how much; one round."""
        if not joining and not leaving:
            return np.empty(0, np.int64), np.empty((self._sums.shape[0], 0), np.int64)
        sides = self._columns.split(joining), self._columns.split(leaving)

        plain = {"ledger": self._number, "method": "changes"}
        nothing = (np.empty(0, np.int64), self._sums[:, :0], self._offset)

        def make(worker: int) -> Message:
            arrays = (np.array(side[worker], np.int64) for side in sides)
            return Message("ask", plain, (*nothing, *arrays))

        total = np.zeros_like(self._sums)
        for answer in self._columns.ask_each(make):
            lines, moves = answer.arrays
            total[:, lines] += moves
        moved = np.flatnonzero(total.any(0))
        return moved, total[:, moved]

    # -- what workers must know ----------------------------------------------------------------

    def _members(self, number: int, worker: int) -> tuple[Ints, Ints]:
        if number == len(self._owners):
            self._owners.append(_Owned.of(self._known[number], self._columns))
        return Units(self._owners[number].members[worker]).flat

    def _setup(self, worker: int) -> list[Message]:
        """The ledger itself, units, and where all lines stand."""
        every = narrow(np.arange(self._rows.size))
        plain = {"ledger": self._number, "method": "stand"}
        state = Message("ask", plain, (every, self._sums, self._offset))
        return [*super()._setup(worker), state]

    def _opening(self, worker: int) -> Message:
        problem, tables = self._problem, self._tables
        mine = self._columns.columns[worker]
        moves: Moves = problem.moves
        rows = np.concatenate(
            [np.empty(0, np.int64), *(np.arange(moves.first[f], moves.first[f + 1]) for f in mine)]
        )
        arrays = (
            narrow(self._rows),
            self._ends,
            narrow(problem.targets.classes),
            narrow(problem.weights.astype(np.int64)),
            tables.offset,
            tables.base[mine],
            tables.delta[rows],
            np.cumsum([0, *np.diff(moves.first)[mine]]),
            moves.usual[mine],
            moves.codes[rows],
        )
        plain = {
            "ledger": self._number,
            "form": "columns",
            "n_classes": self.outline.n_classes,
            "labelled": self.outline.labelled,
            "scale": asdict(tables.scale),
            "factors": list(self.outline.factors),
        }
        return Message("open", plain, arrays)


@dataclass(frozen=True)
class _Owned:
    """Units as workers number them."""

    workers: Ints  #: of each unit: who has its columns, and its number there
    numbers: Ints
    #: of each worker: the columns of its units, in its own numbers
    members: list[tuple[tuple[int, ...], ...]]

    @classmethod
    def of(cls, units: Units, columns: DealtColumns) -> "_Owned":
        members: list[list[tuple[int, ...]]] = [[] for _ in columns.columns]
        workers, numbers = np.zeros((2, len(units)), np.int64)
        for u, unit in enumerate(units.members):
            w = workers[u] = columns.holder_of(unit[0])
            numbers[u] = len(members[w])
            members[w].append(tuple(columns.split(unit)[w]))
        return cls(workers, numbers, [tuple(mine) for mine in members])


# -- On how many rows columns differ ---------------------------------------------------------------


# Parts of each holder's rows whose departures are counted apart.
_SLICES = 16

# Pairs of columns that one question names.
_MOST_PAIRS = 1 << 12

# Columns that a holder keeps unpacked while it counts.
_UNPACKED = 256

# Rows that are compared before the differences so far are looked at.
_STRIDE = 1 << 13


class Meanings(NamedTuple):
    """What the codes of columns mean, so that those of different columns can be compared."""

    starts: Ints  #: column c has the meanings from starts[c] to starts[c + 1], one a code
    numbers: Ints  #: equal meanings have equal numbers; of numbers, their ranks
    usual: Ints  #: the meaning of each column from which rows depart


class Differences(NamedTuple):
    """Of pairs of columns."""

    apart: Ints  #: rows in which they differ
    departing: Ints  #: rows in which either departs from its usual meaning
    both: Ints  #: rows that are both


@dataclass(frozen=True)
class RemoteDifferences:
    """Columns that workers hold, as they are compared with each other."""

    held: RemoteRows  #: where the rows are held
    meanings: Meanings  #: of the codes of each column
    reach: Ints  #: of each column: meanings that are no further apart agree
    most: int  #: of columns that differ on more rows, nobody asks how

    def departures(self) -> Ints:
        """Rows of each slice in which a column departs: columns x slices; one round."""
        found = self.held.ask(Message("departures", {}, self._columns()))
        return np.concatenate([answer.arrays[0] for answer in found], axis=1)

    def compare(self, first: Ints, second: Ints) -> Differences:
        """On how many rows columns differ, pair by pair; one round, as a rule."""
        parts = []
        for at in range(0, first.size, _MOST_PAIRS):
            here = slice(at, at + _MOST_PAIRS)
            pairs = narrow(first[here]), narrow(second[here]), narrow(self.reach[first[here]])
            asked = Message("compare", {"most": self.most}, (*self._columns(), *pairs))
            answers = self.held.ask(asked)
            parts.append(np.sum([answer.arrays[0] for answer in answers], axis=0))
        whole = np.concatenate([np.empty((3, 0), np.int64), *parts], axis=1).astype(np.int64)
        return Differences(*whole)

    def _columns(self) -> tuple[Array, ...]:
        return (self.held.slots, *map(narrow, self.meanings))


class ComparedRows:
    """Answers how columns differ for the rows of some parts of a table, none of them empty."""

    def __init__(self, parts: Sequence[CodedPart]):
        self._parts = parts
        self.answers: Answers = {"departures": self._departures, "compare": self._compare}

    def _departures(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        slots, *given = arrays
        meanings = Meanings(*(each.astype(np.int64) for each in given))
        found = np.zeros((slots.size, _SLICES), np.int64)
        for part in self._parts:
            for c, slot in enumerate(slots.tolist()):
                departs = _means(part, slot, meanings, c) != meanings.usual[c]
                ends = np.arange(1, _SLICES) * departs.size // _SLICES
                found[c] += [each.sum() for each in np.split(departs, ends)]
        return [found]

    def _compare(self, plain: dict[str, Foreign], arrays: tuple[Array, ...]) -> list[Array]:
        slots, *given, first, second, reach = arrays
        meanings = Meanings(*(each.astype(np.int64) for each in given))
        found = np.zeros((3, first.size), np.int64)
        for part in self._parts:

            @lru_cache(_UNPACKED)
            def column(c: int, part: CodedPart = part) -> tuple[Array, Array]:
                mine = _means(part, int(slots[c]), meanings, c)
                return mine, mine != meanings.usual[c]

            pairs = zip(first.tolist(), second.tolist(), reach.tolist(), strict=True)
            for p, (one, other, near) in enumerate(pairs):
                (a, a_departs), (b, b_departs) = column(one), column(other)
                for at in range(0, a.size, _STRIDE):
                    if found[0, p] > plain["most"]:
                        break
                    here = slice(at, at + _STRIDE)
                    apart = np.abs(np.subtract(a[here], b[here], dtype=np.int64)) > near
                    either = a_departs[here] | b_departs[here]
                    found[:, p] += apart.sum(), either.sum(), (apart & either).sum()
        return [found]


def _means(part: CodedPart, slot: int, meanings: Meanings, c: int) -> Array:
    """What the rows of a part have in one column."""
    numbers = meanings.numbers[meanings.starts[c] : meanings.starts[c + 1]]
    return narrow(numbers)[part.column(slot)]
