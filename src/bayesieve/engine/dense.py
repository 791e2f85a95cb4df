"""The ledger: running sums of every line and class, and the features that may enter them."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import MOST_CODES, ColumnSpec, to_codes
from ..data.kernels.options import LANES
from ..data.packed import Lookup, Room
from ..models.base import Terms, TrainingSets
from ..models.registry import MODELS, build_columns
from ..models.tables import Scale, choose_scale, in_units_of_scale, left_out_priors, prior_terms
from .lines import Lines

#: Term columns of continuous features are kept while they fit into this many bytes; beyond, they
#: are made anew whenever they are read.
TERM_CACHE_BYTES = 2**28


# A linear scan needs terms that differ by less than this many nat between classes.
_LINEAR_NAT = 60.0


class LedgerPlan:
    """Reads columns one by one and keeps of each what a ledger needs.

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
        training_rows: NDArray[np.int64] | None = None,
    ):
        self.sets = sets
        self.lines = lines
        self.loo = loo
        self.specs: list[ColumnSpec] = []
        self.statistics: list[Any] = []
        #: Values behind the codes of each column; None where it is stored as numbers.
        self.levels: list[NDArray[Any] | None] = []
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
    ) -> None:
        """Take in a column: `training` holds the rows of `sets`, `column` those of `lines`.

        Numbers are copied, or looked up in a packed table by what `later` makes of their rows.
        """
        model = MODELS[spec.model]
        self.specs.append(spec)
        self.statistics.append(model.statistics(training, spec.n_codes, self.sets))
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
        if levels is None:
            self.numbers.append(of_lines if later is None else later(self.lines.rows))
            self.slots.append(-len(self.numbers))
        else:
            slot = len(self.specs) - len(self.numbers) - 1
            self.codes[slot, : of_lines.size] = of_lines
            self.slots.append(slot)

    def _worth_coding(self, spec: ColumnSpec) -> bool:
        """Few enough values that a table is smaller than half a column of terms."""
        n_sets = self.sets.n_classes if self.loo else self.sets.n_sets
        few = spec.distinct is not None and spec.n_distinct == spec.distinct.size <= MOST_CODES
        return few and 2 * n_sets * (spec.n_distinct + 1) <= self.lines.rows.size


class Ledger:
    """Integer sums, classes x lines, and the terms of every feature.

    Parameters
    ----------
    plan : the columns taken in.
    smoothing, extra_variance, priors : the model's settings.
    factors : weight of each class in the criterion, as exact fractions.
    """

    form = "lines"

    def __init__(
        self,
        plan: LedgerPlan,
        smoothing: float | str,
        extra_variance: float | None,
        priors: str | NDArray[np.float64] | None,
        factors: Sequence[Fraction],
    ):
        sets = plan.sets
        self.lines = plan.lines
        self.n_classes = sets.n_classes
        self.n_features = len(plan.specs)
        shared = lcm(*(factor.denominator for factor in factors))
        #: The class weights as integers with a common denominator left out.
        self.factors = [int(factor * shared) for factor in factors]
        self._plan = plan

        def make(bits: int) -> tuple[list[Terms | None], Scale]:
            self._columns = build_columns(
                plan.specs, plan.statistics, smoothing, extra_variance, sets.class_weight,
                sets.n_sets, bits,
            )  # fmt: skip
            self._prior = (
                left_out_priors(sets, priors, bits)
                if plan.loo
                else prior_terms(sets.class_counts, priors, sets.class_weight, bits)
            )
            tables = [
                self._table(f) if plan.levels[f] is not None or column.model.discrete else None
                for f, column in enumerate(self._columns)
            ]
            return tables, choose_scale(self._columns, tables, self._prior)

        tables, self.scale = in_units_of_scale(make)
        self.slots = np.array(plan.slots, np.int64)
        self._store_tables(tables)
        self._store_columns()
        self.sums = self._start(self._prior)

    # -- building ------------------------------------------------------------------------------

    def _table(self, feature: int) -> Terms:
        """Terms of every level: sets x levels x classes."""
        plan, column = self._plan, self._columns[feature]
        values = plan.levels[feature]
        if values is None:
            values = np.arange(plan.specs[feature].n_codes)
        if not plan.loo:
            return column.of(values)
        training = plan.training[feature]
        return column.left_out(values, values if training is None else training[:], plan.sets)

    def _store_tables(self, tables: list[Terms | None]) -> None:
        """A flat table of integers for every coded feature."""
        coded = np.flatnonzero(self.slots >= 0)
        self.codes = self._plan.codes[: coded.size]
        self.n_codes = np.empty(coded.size, np.int64)
        self.offsets = np.zeros(coded.size + 1, np.int64)
        flat = [np.empty(0, np.int64)]
        for slot, f in enumerate(coded):
            table = tables[f]
            assert table is not None
            fixed = self.scale.fix(table)
            # No missing value among the lines: two codes of a binary column scan twice as fast.
            used = fixed.shape[1]
            if used > 1 and self.codes[slot].max() < used - 1:
                used -= 1
            self.n_codes[slot] = used
            flat.append(fixed[:, :used].ravel())
            self.offsets[slot + 1] = self.offsets[slot] + flat[-1].size
        self.table = np.concatenate(flat)
        self._linearise(coded)

    def _linearise(self, coded: NDArray[np.int64]) -> None:
        """Factors in the linear domain for joining and for leaving, largest 1 in every row."""
        nat = np.ldexp(self.table.reshape(-1, self.n_classes).astype(np.float64), -self.scale.bits)
        spread = nat.max(1, initial=-np.inf) - nat.min(1, initial=np.inf)
        self.linear_ok = np.zeros(self.n_features, bool)
        if coded.size:
            rows = self.offsets[:-1] // self.n_classes
            self.linear_ok[coded] = np.maximum.reduceat(spread, rows) < _LINEAR_NAT
        self.linear = {}
        for sign in (1, -1):
            top = (sign * nat).max(1, keepdims=True, initial=-np.inf)
            self.linear[sign] = np.exp(sign * nat - top).astype(np.float32).ravel()

    def _store_columns(self) -> None:
        """Terms of the other features: kept while they fit, else made when read."""
        plain = np.flatnonzero(self.slots < 0)
        n_lines = self.lines.rows.size
        room = self._plan.room
        most = TERM_CACHE_BYTES
        if room.cache_bytes is not None:
            most = min(most, room.cache_bytes)
        self.lazy = plain.size * self.n_classes * n_lines * 8 > most
        kept = 0 if self.lazy else plain.size
        self.columns = room((kept, self.n_classes, n_lines), np.int64)
        if not self.lazy:
            for d, f in enumerate(plain):
                self.fill(int(f), self.columns[d])
            self._plan.numbers = []

    def _start(self, prior: Terms) -> NDArray[np.int64]:
        fixed = self.scale.fix(prior)
        sums = np.empty((self.n_classes, self.lines.rows.size), np.int64)
        for part, g in self.lines.runs():
            sums[:, part] = fixed[g][:, None]
        return sums

    # -- using ---------------------------------------------------------------------------------

    @property
    def lines_read(self) -> tuple[Any, ...]:
        """Which rows are scored, and which rows train the tables that each of them reads."""
        plan = self._plan
        return plan.lines, plan.training_rows, plan.sets.left_out, plan.loo

    def fill(self, feature: int, out: NDArray[np.int64]) -> None:
        """Terms of a feature that has no table of codes: classes x lines."""
        column, values = self._columns[feature], self._plan.numbers[-1 - self.slots[feature]]
        table = self._table(feature) if column.model.discrete else None
        for part, g in self.lines.runs():
            if table is not None:
                at = values[part].astype(np.int64)
                impossible = table.impossible
                terms = Terms(
                    table.finite[g, at], None if impossible is None else impossible[g, at]
                )
            elif self._plan.loo:
                # Distinct values only: a line's terms depend on its value and class alone.
                distinct, back = np.unique(values[part], return_inverse=True)
                training = self._plan.training[feature]
                assert training is not None
                of_all = column.left_out(distinct, training[:], self._plan.sets)
                terms = Terms(of_all.finite[g, back])
            else:
                terms = column.of(values[part], g)
            out[:, part] = self.scale.fix(terms).T

    def gathered(self, features: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Slots of the features, and the term columns these slots point into."""
        slots = self.slots[list(features)]
        if not self.lazy or (slots >= 0).all():
            return slots, self.columns
        plain = [f for f in features if self.slots[f] < 0]
        columns = np.empty((len(plain), *self.sums.shape), np.int64)
        for d, f in enumerate(plain):
            self.fill(f, columns[d])
            slots[list(features).index(f)] = -d - 1
        return slots, columns

    def apply(self, features: Sequence[int], sign: int) -> None:
        """Let features join (1) or leave (-1); exact, so leaving undoes joining to the bit."""
        self._move(self.sums, features, sign)

    def with_features(self, features: Sequence[int]) -> NDArray[np.int64]:
        """Sums of the subset of these features, classes x lines; the ledger's own stay."""
        sums = self._start(self._prior)
        self._move(sums, features, 1)
        return sums

    def _move(self, sums: NDArray[np.int64], features: Sequence[int], sign: int) -> None:
        from .kernels.ledger import apply_feature

        slots, columns = self.gathered(features)
        for slot in slots:
            apply_feature(
                sums, self.lines.pieces, self.lines.sets, self.codes, self.n_codes,
                self.offsets, self.table, columns, slot, sign,
            )  # fmt: skip
