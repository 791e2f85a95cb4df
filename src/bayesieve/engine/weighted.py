"""The weighted ledger: tables of terms, scores of rows, and gradients of weights.

Every line is scored without itself: tables hold what leaving a row out changes of its own class,
or come from other folds.  All answers are integers that add up over parts of the lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..data.columns import MOST_CODES
from ..models.base import SCORE_BITS, Ints
from ..models.log_ratios import CONSTANT_STEP, TERM_BITS, Ratios
from .contract import (
    AS_IT_IS,
    WHOLE,
    Ledger,
    Measure,
    Offers,
    Outline,
    Partitioned,
    Scores,
    Slopes,
    Units,
    tables_of,
)
from .threads import Threads

#: From more classes on, curvature is bounded by a diagonal: pairs of classes are too many.
MOST_FULL = 32

# No path has more terms whose largest values could meet in one line.
_MOST_TOGETHER = 100

#: Kinds of columns: 0 and 1 only; any codes; sparse, by the lines that have it.
TWO, CODED, PRESENT = 0, 1, 2


@dataclass(frozen=True)
class TermTables:
    """What every term says, one below the other.

    Parameters
    ----------
    ratios, own : rows x classes; what leaving a line out adds to its own class.
    first, n_codes : of each term: its first row, and how many codes lines have.
    """

    ratios: Ints
    own: Ints
    first: Ints
    n_codes: Ints

    @classmethod
    def of(cls, terms: Sequence[Ratios], n_codes: Sequence[int]) -> "TermTables":
        """Terms one below the other, each with as many codes as lines have."""
        sizes = np.array(n_codes, np.int64)
        pairs = list(zip(terms, sizes.tolist(), strict=True))
        n_classes = terms[0].table.shape[1] if terms else 2
        nothing = np.empty((0, n_classes), np.int64)
        return cls(
            np.concatenate([nothing, *(each.table[:n] for each, n in pairs)]),
            np.concatenate([nothing, *(each.own[:n] for each, n in pairs)]),
            np.append(0, np.cumsum(sizes))[:-1],
            sizes,
        )

    @classmethod
    def stacked(cls, folds: Sequence["TermTables"]) -> "TermTables":
        """Terms in several folds: the tables of each term one below the other."""
        first, n_folds = folds[0], len(folds)
        # Rows of term t in fold f come after those of all terms before and of all folds before.
        owner = np.tile(np.repeat(np.arange(first.n_terms), first.n_codes), n_folds)
        order = np.argsort(owner, kind="stable")
        ratios = np.concatenate([each.ratios for each in folds])[order]
        own = np.concatenate([each.own for each in folds])[order]
        return cls(ratios, own, n_folds * first.first, n_folds * first.n_codes)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return self.first.size

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.ratios.shape[1]

    @property
    def full(self) -> bool:
        """Is curvature summed for every pair of classes?"""
        return self.n_classes <= MOST_FULL

    @cached_property
    def width(self) -> int:
        """How many numbers each code adds up to."""
        from .kernels.weighted import count_planes

        return int(count_planes(self.n_classes, self.full)) + self.n_classes

    def rows(self, term: int) -> slice:
        """The rows of one term."""
        return slice(self.first[term], self.first[term] + self.n_codes[term])

    @cached_property
    def bound(self) -> float:
        """No score is further from 0, in nat: by terms, and by constants of at most 64."""
        largest = 2.0**-SCORE_BITS
        if self.ratios.size:
            sizes = np.abs(self.ratios).max(1) + np.abs(self.own).max(1)
            most = np.sort(np.maximum.reduceat(sizes, self.first))[-_MOST_TOGETHER:]
            largest = float(most.sum()) * 2.0**-TERM_BITS
        return largest + 64.0


@dataclass(frozen=True)
class ScoredLines:
    """Lines sorted by true class.

    Parameters
    ----------
    rows : the row behind each line.
    starts : first line of each class, and the number of lines.
    weights : how often each line counts; empty where every line counts once.
    """

    rows: Ints
    starts: Ints
    weights: Ints

    @classmethod
    def sort(cls, labels: Ints, n_classes: int, weights: Ints) -> "ScoredLines":
        """All rows, those of one class together."""
        order = np.argsort(labels, kind="stable").astype(np.int64)
        starts = np.searchsorted(labels[order], np.arange(n_classes + 1)).astype(np.int64)
        plain = (weights == 1).all()
        kept = np.empty(0, np.int64) if plain else weights[order].astype(np.int64)
        return cls(order, starts, kept)

    @property
    def labels(self) -> Ints:
        """True class of each line."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def take(self, at: Ints) -> "ScoredLines":
        """Some lines only, ascending."""
        kept = self.weights[at] if self.weights.size else self.weights
        return ScoredLines(self.rows[at], np.searchsorted(at, self.starts), kept)


@dataclass(frozen=True)
class Cells:
    """What every line holds, term by term.

    Parameters
    ----------
    kinds : TWO (0 and 1 only), CODED (any codes) or PRESENT (sparse) of each term.
    columns : codes of each line, for TWO and CODED; the lines that have it, for PRESENT.
    codes : the same of all columns of one byte a cell, columns x lines.
    seats : row of `codes` of each term that has one there.
    """

    kinds: Ints
    columns: tuple[Array, ...]
    codes: NDArray[np.uint8]
    seats: Ints

    @classmethod
    def gather(cls, kinds: Ints, columns: Sequence[Array], at: Ints, n_rows: int) -> "Cells":
        """Some rows of columns, in this order; each row once."""
        bytes_ = np.array([column.dtype == np.uint8 for column in columns], bool)
        codes = np.empty((int(bytes_.sum()), at.size), np.uint8)
        seats = np.cumsum(bytes_) - 1
        place = np.full(n_rows, -1, np.int64)
        place[at] = np.arange(at.size)
        for lo, some in in_stacks([columns[j] for j in np.flatnonzero(bytes_).tolist()], n_rows):
            np.take(some, at, axis=1, out=codes[lo : lo + len(some)], mode="clip")
        found: list[Array] = []
        for kind, column, narrow, seat in zip(kinds, columns, bytes_, seats, strict=True):
            if kind == PRESENT:
                here = place[column]
                found.append(np.sort(here[here >= 0]))
            elif narrow:
                found.append(codes[seat])
            else:
                found.append(column[at])
        return cls(kinds, tuple(found), codes, seats)

    def take(self, at: Ints, n_lines: int) -> "Cells":
        """Some lines only."""
        return Cells.gather(self.kinds, self.columns, at, n_lines)


# Cells of short columns that are handled together: a call for each would take longer than the work.
_STACKED = 1 << 22


def in_stacks(columns: Sequence[Array], n_rows: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Columns of a byte a cell, some at a time as one array; and which is the first of them."""
    step = max(_STACKED // max(n_rows, 1), 1)
    for lo in range(0, len(columns), step):
        yield lo, np.array(columns[lo : lo + step], np.uint8)


def silenced(codes: Array, which: NDArray[np.bool_], silent: int) -> Array:
    """Codes, some of which are not heard: they read as another one."""
    kind = np.uint8 if codes.dtype == np.uint8 and silent <= MOST_CODES else np.int32
    return np.where(which[codes], kind(silent), codes.astype(kind, copy=False))


# -- The weighted ledger ---------------------------------------------------------------------------


# A line's loss fits 62 bits with all others; what lies beyond 2^-40 nat is no information.
_ROOM_BITS, _MOST_BITS = 62, 40

# Lines handled by one call when a single term is added up.
_CHUNK = 1 << 16


def loss_bits(tables: TermTables, lines: ScoredLines) -> int:
    """Losses of all lines are rounded to 2^-bits nat: as fine as they fit."""
    total = float(lines.weights.sum()) if lines.weights.size else float(lines.rows.size)
    room = int(np.ceil(np.log2(max(total * 2 * tables.bound, 2.0))))
    return min(_MOST_BITS, _ROOM_BITS - room)


def _offers(tables: TermTables, bits: int) -> Offers:
    return Offers(("log-likelihood",), tables, bits)


def check_measure(measure: Measure, offers: Offers) -> None:
    """Refuse any loss but the one by which weights are fitted."""
    if (measure.kind, measure.bits) != ("log-likelihood", offers.bits):
        raise ValueError(
            f"a ledger of weighted terms answers {offers.measure}; got {measure.kind!r} by "
            f"{measure.bits} bits."
        )


class WeightedLines(Ledger):
    """Lines sorted by class that weighted terms score: what follows whoever holds their sums.

    Parameters
    ----------
    tables : what the terms say.
    lines : who is scored.
    bits : losses are rounded to 2^-bits nat.
    """

    def __init__(self, tables: TermTables, lines: ScoredLines, bits: int):
        n_classes = tables.n_classes
        self.outline = Outline(n_classes, ("",), False, (1,) * n_classes, SCORE_BITS, tables.bound)
        self.offers = _offers(tables, bits)
        self.tables, self._lines = tables, lines

    def totals(self) -> Ints:
        """Weight of the lines: problems (one) x folds (one) x classes."""
        lines = self._lines
        if not lines.weights.size:
            return np.diff(lines.starts)[None, None]
        ends = np.append(0, np.cumsum(lines.weights))
        return np.diff(ends[lines.starts])[None, None]

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """Log-loss of all lines, each left out of its own tables."""
        check_measure(measure, self.offers)
        found = []
        for unit in np.asarray(which).tolist():
            if unit == AS_IT_IS:
                found.append(self._now())
                continue
            # There and back again: no way is shorter.
            self.apply(units.members[unit], steps)
            try:
                found.append(self._now())
            finally:
                self.apply(units.members[unit], -steps)
        return np.array(found, np.int64)[:, None]

    def scores(self, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> Iterator[Scores]:
        """All lines at once, each left out of its own tables."""
        moves = (joining, WHOLE), (leaving, -WHOLE)
        for terms, steps in moves:
            self.apply(terms, steps)
        try:
            sums = self._read_sums()
        finally:
            for terms, steps in moves:
                self.apply(terms, -steps)
        lines = self._lines
        once = np.ones(lines.rows.size, np.int64)
        weights = lines.weights if lines.weights.size else once
        yield Scores(lines.rows, 0 * once, weights, lines.labels[None], sums.T[None])

    def _now(self) -> int:
        """Log-loss of all lines as they are."""
        raise NotImplementedError

    def _read_sums(self) -> Ints:
        """A copy of the scores, classes x lines."""
        raise NotImplementedError

    def _each(self, terms: Sequence[int], steps: int | Ints) -> Iterator[tuple[int, Ints]]:
        """Terms, and the steps of each: one a class."""
        if isinstance(steps, int):
            steps = np.full((len(terms), self.tables.n_classes), steps, np.int64)
        yield from zip(terms, steps, strict=True)


class WeightedLedger(WeightedLines):
    """Integer scores, classes x lines, and the terms that weights let speak.

    Parameters
    ----------
    tables : what the terms say.
    lines, cells : who is scored, and what each line holds.
    bits : losses are rounded to 2^-bits nat.
    threads : who runs the kernels.
    """

    def __init__(
        self, tables: TermTables, lines: ScoredLines, cells: Cells, bits: int, threads: Threads
    ):
        super().__init__(tables, lines, bits)
        self._cells, self._threads = cells, threads
        n_lines, n_planes = lines.rows.size, tables.width - tables.n_classes
        self.sums = np.zeros((tables.n_classes, n_lines), np.int64)
        kind = np.int64 if lines.weights.size else np.int32
        self._planes = np.empty((n_planes, n_lines), kind)
        self._own = np.empty(n_lines, kind)
        self._turned = np.empty((0, n_planes), kind)
        self._is_turned = False
        self._loss: int | None = None
        self._balance: Ints | None = None
        self._labels = lines.labels
        held = zip(cells.kinds.tolist(), cells.columns, strict=True)
        present = [np.empty(0, np.int64) if kind != PRESENT else each for kind, each in held]
        self._pointers = np.append(0, np.cumsum([each.size for each in present])).astype(np.int64)
        self._entries = np.concatenate([np.empty(0, np.int64), *present]).astype(np.int64)

    @classmethod
    def build(
        cls, tables: TermTables, lines: ScoredLines, cells: Cells, threads: Threads
    ) -> Ledger:
        """A ledger of all lines, losses as fine as they fit; on an accelerator, if there is one."""
        bits = loss_bits(tables, lines)
        if threads.accelerator is not None:
            return threads.accelerator.weighted_ledger(tables, lines, cells, bits, threads)
        return cls(tables, lines, cells, bits, threads)

    def cut(self, n_parts: int) -> list["WeightedLedger"]:
        """Several ledgers of these lines, every n-th line in each; none is empty."""
        found = []
        n_lines = self._lines.rows.size
        for part in range(min(n_parts, n_lines)):
            at = np.arange(part, n_lines, n_parts)
            lines, cells = self._lines.take(at), self._cells.take(at, n_lines)
            each = WeightedLedger(self.tables, lines, cells, self.offers.bits, self._threads)
            each.sums[:] = self.sums[:, at]
            found.append(each)
        return found

    # -- the contract --------------------------------------------------------------------------

    def balance(self) -> Ints:
        """What constants could gain: sums by true class x (planes + 1)."""
        from .kernels.weighted import add_up

        self._now()
        if self._balance is None:
            self._balance = np.empty((self.tables.n_classes, self._planes.shape[0] + 1), np.int64)
            add_up(self._planes, self._own, self._lines.starts, self._balance)
        return self._balance

    def slopes(self, which: Sequence[int]) -> Slopes:
        """Sums by code of some terms."""
        terms = np.asarray(which, np.int64)
        self._now()
        width = self.tables.width
        if terms.size == 1 and self._cells.kinds[terms[0]] == CODED:
            # What a visit asks, thousands of times: no detour.
            return self._slopes_of_one(int(terms[0]))
        at = np.append(0, np.cumsum(self.tables.n_codes[terms] * width))
        sums = np.zeros(at[-1], np.int64)
        kinds = self._cells.kinds[terms]
        # Every line once is what the quick way for two codes can add up.
        quick = (kinds == TWO) & (self._lines.weights.size == 0)
        present = kinds == PRESENT
        for fill, which_of in (
            (self._fill_two, quick),
            (self._fill_present, present),
            (self._fill_coded, ~quick & ~present),
        ):
            if which_of.any():
                fill(terms, np.flatnonzero(which_of), at, sums)
        return Slopes(sums, at)

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Raise the weights of terms by steps, in sixteenths."""
        for term, line in self._each(terms, steps):
            rows = self.tables.rows(term)
            self._raise(term, line, self.tables.ratios[rows], self.tables.own[rows])
        self._changed()

    def shift(self, steps: Ints) -> None:
        """Raise the constants by steps, in sixty-fourths of a nat."""
        self.sums += steps[:, None] * CONSTANT_STEP
        self._changed()

    def add(self, terms: Sequence[int], tables: Sequence[Ints]) -> None:
        """Add to what terms say; what leaving a line out changes stays as it is."""
        once = np.ones(self.tables.n_classes, np.int64)
        nothing = np.zeros((max(map(len, tables), default=0), once.size), np.int64)
        for term, table in zip(terms, tables, strict=True):
            self._raise(term, once, table, nothing[: len(table)])
        self._changed()

    # -- sums ----------------------------------------------------------------------------------

    def _now(self) -> int:
        """Log-loss of all lines, each left out of its own tables."""
        if self._loss is None:
            self._respond()
        assert self._loss is not None
        return self._loss

    def _read_sums(self) -> Ints:
        return self.sums.copy()

    def _raise(self, term: int, steps: Ints, table: Ints, own: Ints) -> None:
        """Add steps of a table to the sums of the lines that have its codes."""
        from .kernels.weighted import apply_present, apply_weighted

        column, starts = self._cells.columns[term], self._lines.starts
        if self._cells.kinds[term] == PRESENT:
            apply_present(column, table, own, steps, self._labels, starts, self.sums)
            return

        def task(lo: int, hi: int) -> None:
            apply_weighted(column, table, own, steps, starts, lo, hi, self.sums)

        self._threads.run(task, self.sums.shape[1], self.sums.size)

    def _changed(self) -> None:
        self._loss = self._balance = None
        self._is_turned = False

    def _respond(self) -> None:
        from .kernels.weighted import RUN, respond

        n_runs = -(-self.sums.shape[1] // RUN)
        losses = np.zeros(n_runs, np.int64)
        lines, tables = self._lines, self.tables

        def task(lo: int, hi: int) -> None:
            respond(
                self.sums,
                2.0**-SCORE_BITS,
                lines.starts,
                lines.weights,
                tables.full,
                2.0**self.offers.bits,
                lo,
                hi,
                self._planes,
                self._own,
                losses,
            )

        self._threads.run(task, n_runs, 4 * self.sums.size)
        self._loss = int(losses.sum())

    def _rows(self) -> Array:
        """Planes line by line."""
        from .kernels.weighted import RUN, turn

        if not self._is_turned:
            n_planes, n_lines = self._planes.shape
            if self._turned.shape[0] != n_lines:
                # Once: fresh memory costs as much as the turning.
                self._turned = np.empty((n_lines, n_planes), self._planes.dtype)

            def task(lo: int, hi: int) -> None:
                turn(self._planes, lo * RUN, min(hi * RUN, n_lines), self._turned)

            self._threads.run(task, -(-n_lines // RUN), self._planes.size)
            self._is_turned = True
        return self._turned

    def _fill_two(self, terms: Ints, here: Ints, at: Ints, sums: Ints) -> None:
        from .kernels.weighted import slopes_of_two

        codes, seats, totals = self._cells.codes, self._cells.seats[terms[here]], self.balance()
        out = np.empty((here.size, 2, self.tables.width), np.int64)

        def task(lo: int, hi: int) -> None:
            starts = self._lines.starts
            slopes_of_two(codes, seats, self._planes, self._own, starts, totals, lo, hi, out)

        self._threads.run(task, here.size, here.size * self._planes.size)
        _place(out, at[here], sums)

    def _fill_present(self, terms: Ints, here: Ints, at: Ints, sums: Ints) -> None:
        from .kernels.weighted import slopes_of_present

        rows, totals, mine = self._rows(), self.balance(), terms[here]
        out = np.empty((here.size, 2, self.tables.width), np.int64)

        def task(lo: int, hi: int) -> None:
            slopes_of_present(
                self._pointers,
                self._entries,
                mine,
                rows,
                self._own,
                self._labels,
                totals,
                lo,
                hi,
                out,
            )

        self._threads.run(task, here.size, self._entries.size)
        _place(out, at[here], sums)

    def _slopes_of_one(self, term: int) -> Slopes:
        """Sums by code of one column of any values; many lines are cut into chunks."""
        from .kernels.weighted import slopes_by_code

        rows, n_lines = self._rows(), self.sums.shape[1]
        column, starts = self._cells.columns[term], self._lines.starts
        n_codes, width = int(self.tables.n_codes[term]), self.tables.width
        at = np.array([0, n_codes * width])
        n_chunks = -(-n_lines // _CHUNK)
        parts = np.zeros((n_chunks, n_codes, width), np.int64)
        if n_chunks == 1:
            slopes_by_code(column, rows, self._own, starts, 0, n_lines, parts[0])
            return Slopes(parts.ravel(), at)

        def chunk(lo: int, hi: int) -> None:
            for part in range(lo, hi):
                ends = part * _CHUNK, min((part + 1) * _CHUNK, n_lines)
                slopes_by_code(column, rows, self._own, starts, *ends, parts[part])

        self._threads.run(chunk, n_chunks, rows.size)
        return Slopes(parts.sum(0).ravel(), at)

    def _fill_coded(self, terms: Ints, here: Ints, at: Ints, sums: Ints) -> None:
        from .kernels.weighted import slopes_by_code

        rows, width, n_lines = self._rows(), self.tables.width, self.sums.shape[1]

        def task(lo: int, hi: int) -> None:
            for place in here[lo:hi].tolist():
                out = sums[at[place] : at[place + 1]].reshape(-1, width)
                column = self._cells.columns[terms[place]]
                slopes_by_code(column, rows, self._own, self._lines.starts, 0, n_lines, out)

        self._threads.run(task, here.size, here.size * rows.size)


class Folded(Partitioned):
    """Lines in folds, those of each scored by tables of the others; weights and constants are one.

    The table of a term is those of all folds, one below the other, so that whoever asks what its
    weights could gain sees one term whose codes are fold x code.

    Parameters
    ----------
    folds : a ledger of the lines of each fold; all have the same terms.
    """

    def __init__(self, folds: Sequence[Ledger]):
        super().__init__(folds)
        bound = max(each.outline.bound for each in folds)
        self.outline = self.outline._replace(bound=bound)
        tables = TermTables.stacked([tables_of(each) for each in folds])
        # Losses of folds may be rounded to different units, powers of two: the finest holds all.
        offers = _offers(tables, max(each.offers.bits for each in folds))
        self.offers = offers._replace(n_folds=len(folds))

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """Log-loss of all lines, each fold's in units of its own."""
        check_measure(measure, self.offers)
        # Python's integers: the losses of a large fold need not fit the units of a small one.
        found: Ints = np.zeros((len(which), 1), object)
        for each in self._parts:
            mine = each.losses(each.offers.measure, units, which, steps).astype(object)
            found += mine << (measure.bits - each.offers.bits)
        return found

    def walk(self, measure: Measure, units: Units, which: Ints, steps: Ints) -> Ints:
        """One step after the other, as folds round losses each in units of its own."""
        return Ledger.walk(self, measure, units, which, steps)

    def slopes(self, which: Sequence[int]) -> Slopes:
        """Sums by fold and code of some terms."""
        terms, tables = np.asarray(which, np.int64), tables_of(self)
        sizes = tables.n_codes[terms] * tables.width
        mine, at = sizes // len(self._parts), np.append(0, np.cumsum(sizes))
        sums = np.empty(at[-1], np.int64)
        within = np.arange(mine.sum()) - np.repeat(np.cumsum(mine) - mine, mine)
        for fold, each in enumerate(self._parts):
            sums[np.repeat(at[:-1] + fold * mine, mine) + within] = each.slopes(which).sums
        return Slopes(sums, at)


def _place(found: Ints, at: Ints, sums: Ints) -> None:
    """Equal blocks to their places."""
    size = found.shape[1] * found.shape[2]
    sums[at[:, None] + np.arange(size)] = found.reshape(-1, size)
