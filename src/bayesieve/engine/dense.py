"""The dense ledger: tables in fixed point, and the running sums of all lines."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..checks import Array, Bools
from ..data.kernels.options import ERROR, LANES, LOG_LIKELIHOOD, ROW_KINDS
from ..models.base import (
    Floats,
    Ints,
    ModelSettings,
    Run,
    Scale,
    Terms,
    choose_scale,
    in_units_of_scale,
    run_alone,
    seen_from,
)
from ..models.columns import build_columns, spoken_tables
from ..models.counts import left_out_priors, prior_terms
from .contract import (
    ROW_MEASURES,
    SIGNS,
    Bounds,
    Ledger,
    Measure,
    Offers,
    Outline,
    Scores,
    Units,
    sign_of,
)
from .kernels.arrays import TermArrays, UnitArrays
from .layout import DenseColumns, DenseRows, Lines, TableColumns, UnitSlots
from .threads import Threads

#: Terms of values in a set of tables, as integers: values x classes.
Speak = Callable[[Array, int], Ints]


class LinearFactors(NamedTuple):
    """Terms in the linear domain."""

    factors: dict[int, NDArray[np.float32]]  #: for joining (1) and leaving (-1), largest 1 a value
    allowed: Bools  #: may a scan use them for this column?


# -- The dense ledger ------------------------------------------------------------------------------


# A linear scan needs terms that differ by less than this many nat between classes.
_LINEAR_NAT = 60.0


def linearise(
    table: Ints, offsets: Ints, slots: Ints, n_classes: int, scale: Scale
) -> LinearFactors:
    """Factors in the linear domain for joining and for leaving, largest 1 in every row."""
    nat = np.ldexp(table.reshape(-1, n_classes).astype(np.float64), -scale.bits)
    spread = nat.max(1, initial=-np.inf) - nat.min(1, initial=np.inf)
    allowed, coded = np.zeros(slots.size, bool), np.flatnonzero(slots >= 0)
    if coded.size:
        rows = offsets[:-1] // n_classes
        allowed[coded] = np.maximum.reduceat(spread, rows) < _LINEAR_NAT
    factors = {}
    for sign in (1, -1):
        top = (sign * nat).max(1, keepdims=True, initial=-np.inf)
        factors[sign] = np.exp(sign * nat - top).astype(np.float32).ravel()
    return LinearFactors(factors, allowed)


class DenseTables:
    """Integer terms of all columns, one set a fold, and their scale.

    Attributes
    ----------
    scale : of the integers.
    prior : sets x classes.
    slots : row of the codes (>= 0), or -1 - position among the numbers, of each column.
    n_codes, offsets, table : of each coded column: values, where its table starts, all tables.
    linear : factors in the linear domain for joining (1) and leaving (-1), largest 1 a value.
    linear_ok : may a scan use them?
    """

    def __init__(
        self,
        columns: TableColumns,
        settings: ModelSettings,
        priors: str | Floats | None,
        run: Run = run_alone,
    ):
        self._columns, sets = columns, columns.sets
        self.n_classes = sets.n_classes
        self.slots = np.array(columns.slots, np.int64)

        def make(bits: int) -> tuple[tuple[list[Terms | None], Terms], Scale]:
            exact = replace(settings, class_weight=sets.class_weight, bits=bits)
            self._terms = build_columns(columns.specs, columns.statistics, exact, sets.n_sets)
            prior = (
                left_out_priors(sets, priors, bits)
                if columns.loo
                else prior_terms(sets.class_counts, priors, sets.class_weight, bits)
            )
            tables: list[Terms | None] = [None] * len(columns.specs)
            if not columns.loo:
                tables = spoken_tables(columns.specs, self._terms, run)

            def rest(lo: int, hi: int) -> None:
                for f in range(lo, hi):
                    if columns.levels[f] is not None and tables[f] is None:
                        tables[f] = self._table(f)
                    elif tables[f] is None and self._terms[f].model.discrete:
                        tables[f] = self._pair(f, np.arange(columns.specs[f].n_codes))

            run(rest, len(tables), sum(column.work for column in self._terms) if columns.loo else 0)
            return (tables, prior), choose_scale(self._terms, tables, prior)

        (tables, prior), self.scale = in_units_of_scale(make)
        self.prior = self.scale.fix(prior)
        # Of columns that are stored by their terms: making densities again costs more than room.
        self._spoken = {
            f: self.scale.fix(table)
            for f, table in enumerate(tables)
            if table is not None and self.slots[f] < 0 and self._terms[f].model.grid_codes
        }
        self._store(tables)

    def serves(self, columns: TableColumns) -> bool:
        """Are these tables those of other columns too: the same training rows, stored alike?"""
        mine = self._columns
        return mine.sets is columns.sets and not mine.loo and mine.slots == columns.slots

    @property
    def n_sets(self) -> int:
        """How many sets of tables."""
        return self.prior.shape[0]

    def wide(self) -> tuple[Ints, ...]:
        """Tables of the columns without codes, sets x values x classes, where all are tables."""
        return tuple(self.scale.fix(self._table(int(f))) for f in np.flatnonzero(self.slots < 0))

    def speaker(self, column: int) -> Speak:
        """What tells the terms of a column without codes."""
        if not self._terms[column].model.discrete:
            return lambda values, g: self.scale.fix(self._of_values(column, values, g))
        codes, found = np.arange(self._columns.specs[column].n_codes), self._spoken.get(column)
        if self._columns.loo:
            pair = self.scale.fix(self._pair(column, codes)) if found is None else found
            return lambda values, g: seen_from(pair, g, values.astype(np.int64))
        whole = self.scale.fix(self._table(column)) if found is None else found
        return lambda values, g: whole[g, values.astype(np.int64)]

    def _of_values(self, column: int, values: Array, table_set: int) -> Terms:
        """Terms of numbers: values x classes."""
        terms = self._terms[column]
        if not self._columns.loo:
            return terms.of(values, table_set)
        # Distinct values only: a line's terms depend on its value and class alone.
        distinct, back = np.unique(values, return_inverse=True)
        mine = seen_from(self._pair(column, distinct).finite, table_set)
        return Terms(terms.model.limit(mine, terms.settings)[back])

    def _pair(self, column: int, values: Array) -> Terms:
        """Terms of values with and without a row: 2 x values x classes."""
        training = self._columns.training[column]
        known = values if training is None else training[:]
        return self._terms[column].with_and_without(values, known, self._columns.sets)

    def _table(self, column: int) -> Terms:
        """Terms of every level: sets x levels x classes."""
        columns, terms = self._columns, self._terms[column]
        values = columns.levels[column]
        if values is None:
            values = np.arange(columns.specs[column].n_codes)
        if not columns.loo:
            return terms.of(values)
        training = columns.training[column]
        return terms.left_out(values, values if training is None else training[:], columns.sets)

    def _store(self, tables: list[Terms | None]) -> None:
        """A flat table of integers for every coded column."""
        coded = np.flatnonzero(self.slots >= 0)
        self.n_codes = np.empty(coded.size, np.int64)
        self.offsets = np.zeros(coded.size + 1, np.int64)
        flat = [np.empty(0, np.int64)]
        for slot, f in enumerate(coded):
            table = tables[f]
            assert table is not None
            fixed = self.scale.fix(table)
            # Nothing is missing in any row: two codes of a binary column scan twice as fast.
            used = fixed.shape[1] - self._columns.all_known[f]
            self.n_codes[slot] = used
            flat.append(fixed[:, :used].ravel())
            self.offsets[slot + 1] = self.offsets[slot] + flat[-1].size
        self.table = np.concatenate(flat)
        self.linear, self.linear_ok = linearise(
            self.table, self.offsets, self.slots, self.n_classes, self.scale
        )


_FLOAT32 = 2.0**-24

# Roundings of a line's value in a scan beside one a class: the posterior, the factors (each in
# numerator and denominator), a product, a quotient, a difference; and some to spare.
_ROUNDINGS = 12


class TableLedger(Ledger):
    """A ledger of lines whose terms are looked up in tables; whole columns join and leave."""

    def __init__(self, tables: "LedgerTables", lines: Lines, factors: tuple[int, ...]):
        scale, n_classes = tables.scale, tables.n_classes
        self.outline = Outline(n_classes, ("",), False, factors, scale.bits, scale.bound)
        self.offers = Offers(ROW_MEASURES)
        self._tables = tables
        self._float_factors = np.array([float(factor) for factor in factors])
        self._units: UnitSlots | None = None
        self._scored = lines

    def totals(self) -> Ints:
        """Weight of the lines: problems (one) x folds x classes."""
        lines = self._scored
        found = np.zeros((1, self._tables.n_sets, self.outline.n_classes), np.int64)
        np.add.at(found[0], (lines.line_sets, lines.labels), lines.line_weights)
        return found

    def _slots(self, units: Units) -> UnitSlots:
        found = self._units
        if found is None or found.units is not units:
            self._units = found = UnitSlots(units, self._tables)
        return found


class DenseLedger(TableLedger):
    """Integer sums, classes x lines, and the terms of every column, which joins or leaves whole."""

    def __init__(
        self, tables: "LedgerTables", rows: DenseRows, factors: tuple[int, ...], threads: Threads
    ):
        super().__init__(tables, rows.lines, factors)
        self._rows, self._threads = rows, threads
        self._lines = rows.lines.arrays
        self._planes = rows.planes(tables)
        self._sums = self._start()
        self._derived: dict[str, Array] = {}  # from the sums, until they change
        self._kept: dict[str, Array] = {}  # the room of it, to be filled again

    @classmethod
    def build(
        cls,
        all_columns: Sequence[DenseColumns],
        settings: ModelSettings,
        priors: str | Floats | None,
        factors: tuple[int, ...],
        threads: Threads,
    ) -> list[Ledger]:
        """One ledger for each set of columns that was read; equal tables are made once.

        Where the threads come with an accelerator, it holds the rows.
        """
        found: list[Ledger] = []
        tables: DenseTables | None = None
        for columns in all_columns:
            if tables is None or not tables.serves(columns):
                tables = DenseTables(columns, settings, priors, threads.prepare)
            if threads.accelerator is not None:
                names = [spec.name for spec in columns.specs]
                given = tables, columns.rows(), factors, threads
                found.append(threads.accelerator.dense_ledger(*given, names))
            else:
                found.append(cls(tables, columns.rows(), factors, threads))
        return found

    def cut(self, n_parts: int) -> list["DenseLedger"]:
        """Several ledgers of these lines, each with all lines of its rows; none is empty."""
        found = []
        distinct = np.unique(self._rows.lines.rows)
        for part in np.array_split(distinct, min(n_parts, distinct.size)):
            at = np.flatnonzero(np.isin(self._rows.lines.rows, part))
            rows = self._rows.take(at)
            found.append(DenseLedger(self._tables, rows, self.outline.factors, self._threads))
        return found

    def afresh(self, threads: Threads) -> "DenseLedger":
        """A ledger of these lines and tables with no column in, whose kernels these threads run."""
        found = copy(self)
        found.clear(threads)
        return found

    def clear(self, threads: Threads) -> None:
        """Take all columns out; from now on these threads run the kernels."""
        self._threads, self._sums = threads, self._start()
        self._derived, self._kept, self._units = {}, {}, None

    # -- the contract --------------------------------------------------------------------------

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Add or remove columns; exact, so that removal undoes addition to the bit."""
        sign = SIGNS.get(steps) if isinstance(steps, int) else None
        self._move(self._sums, terms, sign or sign_of(steps))
        self._derived.clear()

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """Exact loss by class, by the quickest exact way."""
        kind, slots, sign = ROW_KINDS[measure.kind], self._slots(units), SIGNS[steps]
        which = np.asarray(which, np.int64)
        if kind != ERROR:
            return self._settle(kind, measure.bits, units, which, sign)
        fast = (which >= 0) & slots.coded[which]
        out = np.empty((which.size, self.outline.n_classes), np.int64)
        if not fast.all():
            out[~fast] = self._settle(kind, measure.bits, units, which[~fast], sign)
        if fast.any():
            out[fast] = self._count_errors(slots, which[fast], sign)
        return out

    def bounds(self, measure: Measure, units: Units, which: Ints, steps: int) -> Bounds:
        """Losses in single precision for columns of few values, and how far each may be off."""
        kind, slots, sign = ROW_KINDS[measure.kind], self._slots(units), SIGNS[steps]
        which = np.asarray(which, np.int64)
        found = Bounds(np.zeros(which.size), np.full(which.size, np.inf))
        fast = slots.linear[which]
        if kind != ERROR and fast.sum() > 1:
            found.losses[fast], found.doubts[fast] = self._scan(measure, slots, which[fast], sign)
        return found

    def scores(self, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> Iterator[Scores]:
        """All lines at once."""
        sums = self._sums.copy()
        self._move(sums, joining, 1)
        self._move(sums, leaving, -1)
        lines = self._rows.lines
        yield Scores(
            lines.rows, lines.line_sets, lines.line_weights, lines.labels[None], sums.T[None]
        )

    # -- sums ----------------------------------------------------------------------------------

    def _start(self) -> Ints:
        lines = self._rows.lines
        sums = np.empty((self._tables.n_classes, lines.rows.size), np.int64)
        for part, g in lines.runs():
            sums[:, part] = self._tables.prior[g][:, None]
        return sums

    def _move(self, sums: Ints, columns: Sequence[int], sign: int) -> None:
        from .kernels.dense import apply_feature

        slots, terms = self._terms(columns)
        for slot in slots:
            apply_feature(sums, self._lines, terms, slot, sign)

    def _terms(self, columns: Sequence[int] = ()) -> tuple[Ints, TermArrays]:
        """Slots of these columns, and the arrays these slots point into."""
        slots, tables = self._tables.slots[list(columns)], self._tables
        planes = self._planes
        if planes is None:
            plain = [f for f in columns if tables.slots[f] < 0]
            planes = np.empty((len(plain), *self._sums.shape), np.int64)
            for d, f in enumerate(plain):
                self._rows.fill(tables, f, planes[d])
                slots[list(columns).index(f)] = -d - 1
        cells = self._rows.cells
        held = (cells.codes, cells.bits, cells.rows)
        return slots, TermArrays(*held, tables.n_codes, tables.offsets, tables.table, planes)

    # -- answers -------------------------------------------------------------------------------

    def _count_errors(self, slots: UnitSlots, which: Ints, sign: int) -> Ints:
        from .kernels.two_classes import count_errors, count_whole, margins

        ahead = self._derived.get("ahead")
        if ahead is None:
            # Told to nobody before it is full: other threads may ask the same ledger.
            ahead = self._room("ahead", np.int64)
            margins(self._sums, self._lines, ahead)
            self._derived["ahead"] = ahead
        _, terms = self._terms()
        whole = self._has_whole_tiles()
        found = np.empty((which.size, self.outline.n_classes), np.int64)

        def task(lo: int, hi: int) -> None:
            given = (terms, slots.first, which, sign, lo, hi, found)
            count_errors(ahead, self._lines, whole, *given)
            if whole:
                count_whole(ahead, self._lines, *given)

        self._threads.run(task, which.size, which.size * self._sums.shape[1])
        return found

    def _has_whole_tiles(self) -> bool:
        """Are there tiles that kernels have a quicker way for?"""
        return self.outline.n_classes == 2 and self._rows.lines.has_whole_tiles

    def _room(self, name: str, dtype: DTypeLike) -> Array:
        """Room for classes x lines, as wide as the codes are; 1 where no line is.

        Made once: memory that is asked for anew at every step may cost more than what is put there.
        """
        if name not in self._kept:
            shape = (self.outline.n_classes, self._sums.shape[1] + LANES)
            self._kept[name] = np.ones(shape, dtype)
        return self._kept[name]

    @cached_property
    def _total(self) -> float:
        """What all lines count together."""
        return float(self._rows.lines.class_totals(self.outline.n_classes) @ self._float_factors)

    def _scan(
        self, measure: Measure, slots: UnitSlots, which: Ints, sign: int
    ) -> tuple[Floats, float]:
        """Approximate losses, and how far each may be from the exact ones."""
        from .kernels.dense import log_own, posterior, scan
        from .kernels.two_classes import scan_whole

        kind, unit = ROW_KINDS[measure.kind], self._tables.scale.unit
        if "posterior" not in self._derived:
            room, n_lines = self._room("posterior", np.float32), self._sums.shape[1]
            self._threads.run(
                lambda lo, hi: posterior(self._sums, unit, lo, hi, room), n_lines, self._sums.size
            )
            self._derived["posterior"] = room
        post, linear = self._derived["posterior"], self._tables.linear[sign]
        _, terms = self._terms()
        weights, whole = self._lines.weights.astype(np.float64), self._has_whole_tiles()
        found = np.empty((which.size, self.outline.n_classes))

        def task(lo: int, hi: int) -> None:
            given = (terms, linear, slots.first, which, lo, hi, found)
            scan(kind, post, self._lines, whole, weights, *given)
            if whole:
                scan_whole(kind, post, self._lines, *given)

        self._threads.run(task, which.size, which.size * self._sums.shape[1])
        loss = found @ self._float_factors
        # Exact losses are rounded too, a line at a time; coarsely where weights or terms are large.
        doubt = self._total * (
            (self.outline.n_classes + _ROUNDINGS) * _FLOAT32 + 2.0 ** -(measure.bits + 1)
        )
        if kind == LOG_LIKELIHOOD:
            base = np.empty(self.outline.n_classes)
            log_own(self._sums, self._lines, unit, base)
            loss = -(loss + base @ self._float_factors)
            doubt += 1e-11 * float(np.abs(base) @ self._float_factors)
        return loss, doubt

    def _settle(self, kind: int, bits: int, units: Units, which: Ints, sign: int) -> Ints:
        """Losses by class from the integer sums."""
        from .kernels.dense import settle

        slots, scales = self._slots(units), (self._tables.scale.unit, 2.0**bits)
        out = np.empty((which.size, self.outline.n_classes), np.int64)
        _, kept = self._terms()

        def task(lo: int, hi: int) -> None:
            lines = (kind, self._sums, self._lines)
            if self._planes is not None:
                settle(*lines, kept, slots.arrays, which, sign, *scales, lo, hi, out)
                return
            for j in range(lo, hi):
                members = units.members[which[j]] if which[j] >= 0 else ()
                mine, terms = self._terms(members)
                alone = UnitArrays(np.array([0, len(members)]), mine)
                only = np.minimum(which[j : j + 1], 0)
                settle(*lines, terms, alone, only, sign, *scales, 0, 1, out[j : j + 1])

        # Exact values cost about ten scans.
        self._threads.run(task, which.size, 10 * which.size * self._sums.shape[1])
        return out


# -- Tables of a dense ledger as integers alone ----------------------------------------------------


@dataclass(frozen=True)
class FixedTables:
    """Integer terms of columns of codes, as in `DenseTables`."""

    scale: Scale
    prior: Ints
    slots: Ints
    n_codes: Ints
    offsets: Ints
    table: Ints
    wide: tuple[Ints, ...] = ()  #: of columns with too many values for a byte

    @classmethod
    def of(cls, tables: DenseTables) -> "FixedTables":
        """The integers of tables of counts."""
        at = (tables.slots, tables.n_codes, tables.offsets)
        return cls(tables.scale, tables.prior, *at, tables.table, tables.wide())

    @property
    def n_classes(self) -> int:
        """How many classes."""
        return self.prior.shape[1]

    @property
    def n_sets(self) -> int:
        """How many sets of tables."""
        return self.prior.shape[0]

    @cached_property
    def _linear(self) -> LinearFactors:
        return linearise(self.table, self.offsets, self.slots, self.n_classes, self.scale)

    @property
    def linear(self) -> dict[int, NDArray[np.float32]]:
        """In the linear domain."""
        return self._linear.factors

    @property
    def linear_ok(self) -> Bools:
        """May a scan use them?"""
        return self._linear.allowed

    def speaker(self, column: int) -> Speak:
        """Looks values up."""
        whole = self.wide[-1 - self.slots[column]]
        return lambda values, table_set: whole[table_set, values.astype(np.int64)]


#: What a dense ledger asks for its terms.
LedgerTables: TypeAlias = DenseTables | FixedTables
