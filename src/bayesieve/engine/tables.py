"""From columns to the integer terms that dense ledgers read: made once, shared by ledgers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import MOST_CODES, ColumnSpec, to_codes
from ..data.kernels.options import LANES
from ..data.packed import Lookup, Room
from ..models.base import Scale, Settings, Terms, TrainingSets, choose_scale, in_units_of_scale
from ..models.columns import build_columns, spoken_tables
from ..models.counts import left_out_priors, prior_terms
from ..models.registry import MODELS
from .lines import DenseRows, Lines

Ints = NDArray[np.int64]


# A linear scan needs terms that differ by less than this many nat between classes.
_LINEAR_NAT = 60.0


class DenseColumns:
    """Reads columns one by one and keeps of each what a dense ledger needs.

    Parameters
    ----------
    sets : the rows each table set is estimated from.
    lines : the lines; their rows index the columns given to `add`.
    loo : each line reads tables with itself taken out.
    n_columns : how many columns will come.
    room : where columns are put.
    training_rows : the rows of `sets` among those of the columns; None: all, as they are.
    """

    def __init__(
        self,
        sets: TrainingSets,
        lines: Lines,
        loo: bool,
        n_columns: int,
        room: Room = Room(),  # noqa: B008
        training_rows: Ints | None = None,
    ):
        self.sets, self.lines, self.loo = sets, lines, loo
        self.specs: list[ColumnSpec] = []
        self.statistics: list[Any] = []
        #: Values behind the codes of each column; None where it is stored as numbers.
        self.levels: list[NDArray[Any] | None] = []
        #: Has no row of the table a missing value here?
        self.all_known: list[bool] = []
        #: Row of `codes` (>= 0), or -1 - position in `numbers`.
        self.slots: list[int] = []
        # Padded: kernels read whole vectors.
        self.codes = room((n_columns, lines.rows.size + LANES), np.uint8)
        self.room = room
        self.training_rows = training_rows
        self.numbers: list[NDArray[Any] | Lookup] = []
        #: Training values of continuous columns, for leave-one-out.
        self.training: list[NDArray[Any] | Lookup | None] = []

    def add(
        self,
        spec: ColumnSpec,
        training: NDArray[Any],
        column: NDArray[Any],
        later: Callable[[Any], Lookup] | None = None,
        known: Any = None,
    ) -> None:
        """Take in a column: `training` holds the rows of `sets`, `column` those of `lines`.

        Numbers are copied, or looked up in a packed table by what `later` makes of their rows.
        `known` are statistics of the same training rows, where somebody has made them.
        """
        model = MODELS[spec.model]
        self.specs.append(spec)
        self.statistics.append(
            model.statistics(training, spec.n_codes, self.sets) if known is None else known
        )
        kept = training if later is None else later(self.training_rows)
        self.training.append(kept if self.loo and not model.discrete else None)
        of_lines = column[self.lines.rows]
        levels: NDArray[Any] | None = None
        if model.discrete and spec.n_codes <= MOST_CODES + 1:
            levels = np.arange(spec.n_codes)
        elif not model.discrete and self._worth_coding(spec):
            assert spec.distinct is not None
            levels = np.append(spec.distinct, np.nan)
            of_lines = to_codes(spec.distinct, of_lines)
        self.levels.append(levels)
        self.all_known.append(levels is not None and not _any_missing(spec, column))
        if levels is None:
            self.numbers.append(of_lines if later is None else later(self.lines.rows))
            self.slots.append(-len(self.numbers))
        else:
            slot = len(self.specs) - len(self.numbers) - 1
            self.codes[slot, : of_lines.size] = of_lines
            self.slots.append(slot)

    def rows(self) -> DenseRows:
        """What the lines hold."""
        n_coded = len(self.slots) - len(self.numbers)
        return DenseRows(self.lines, self.codes[:n_coded], self.numbers, self.room)

    def _worth_coding(self, spec: ColumnSpec) -> bool:
        """Few enough values that a table is smaller than half a column of terms."""
        n_sets = self.sets.n_classes if self.loo else self.sets.n_sets
        few = spec.distinct is not None and spec.n_distinct == spec.distinct.size <= MOST_CODES
        return few and 2 * n_sets * (spec.n_distinct + 1) <= self.lines.rows.size


def _any_missing(spec: ColumnSpec, column: NDArray[Any]) -> bool:
    """Has any row the code, or the number, that says nothing?"""
    if spec.levels is None:
        return bool(np.isnan(column).any())
    return bool(spec.n_codes == 1 or (column == spec.n_codes - 1).any())


class DenseTables:
    """Integer terms of all columns, one set a fold, and their scale.

    Parameters
    ----------
    columns : read and counted.
    settings, priors : the model's.

    Attributes
    ----------
    scale : of the integers.
    prior : sets x classes.
    slots : row of the codes (>= 0), or -1 - position among the numbers, of each column.
    n_codes, offsets, table : of each coded column: values, where its table starts, all tables.
    linear : factors in the linear domain for joining (1) and leaving (-1), largest 1 a value.
    linear_ok : may a scan use them?
    """

    def __init__(self, columns: DenseColumns, settings: Settings, priors: Any):
        self._columns, sets = columns, columns.sets
        self.n_classes = sets.n_classes
        self.slots = np.array(columns.slots, np.int64)

        def make(bits: int) -> tuple[list[Terms | None], Scale]:
            exact = replace(settings, class_weight=sets.class_weight, bits=bits)
            self._terms = build_columns(columns.specs, columns.statistics, exact, sets.n_sets)
            self._prior = (
                left_out_priors(sets, priors, bits)
                if columns.loo
                else prior_terms(sets.class_counts, priors, sets.class_weight, bits)
            )
            tables: list[Terms | None] = [None] * len(columns.specs)
            if not columns.loo:
                tables = spoken_tables(columns.specs, self._terms)
            for f, column in enumerate(self._terms):
                if tables[f] is None and (columns.levels[f] is not None or column.model.discrete):
                    tables[f] = self._table(f)
            return tables, choose_scale(self._terms, tables, self._prior)

        tables, self.scale = in_units_of_scale(make)
        self.prior = self.scale.fix(self._prior)
        self._store(tables)

    def serves(self, columns: DenseColumns) -> bool:
        """Are these tables those of other columns too: the same training rows, stored alike?"""
        mine = self._columns
        return mine.sets is columns.sets and not mine.loo and mine.slots == columns.slots

    @property
    def n_sets(self) -> int:
        """How many sets of tables."""
        return self.prior.shape[0]

    def whole_table(self, column: int) -> Terms | None:
        """Terms of every level of a discrete column; None for numbers."""
        return self._table(column) if self._terms[column].model.discrete else None

    def of_values(self, column: int, values: NDArray[Any], table_set: int) -> Terms:
        """Terms of numbers: values x classes."""
        terms = self._terms[column]
        if not self._columns.loo:
            return terms.of(values, table_set)
        # Distinct values only: a line's terms depend on its value and class alone.
        distinct, back = np.unique(values, return_inverse=True)
        training = self._columns.training[column]
        assert training is not None
        found = terms.left_out(distinct, training[:], self._columns.sets)
        return Terms(found.finite[table_set, back])

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
        self._linearise(coded)

    def _linearise(self, coded: Ints) -> None:
        """Factors in the linear domain for joining and for leaving, largest 1 in every row."""
        nat = np.ldexp(self.table.reshape(-1, self.n_classes).astype(np.float64), -self.scale.bits)
        spread = nat.max(1, initial=-np.inf) - nat.min(1, initial=np.inf)
        self.linear_ok = np.zeros(self.slots.size, bool)
        if coded.size:
            rows = self.offsets[:-1] // self.n_classes
            self.linear_ok[coded] = np.maximum.reduceat(spread, rows) < _LINEAR_NAT
        self.linear: dict[int, NDArray[np.float32]] = {}
        for sign in (1, -1):
            top = (sign * nat).max(1, keepdims=True, initial=-np.inf)
            self.linear[sign] = np.exp(sign * nat - top).astype(np.float32).ravel()
