"""A ledger of sparse moves: sums of the lines that features move, and an offset for all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import ColumnSpec
from ..data.sparse import Moves
from ..data.targets import Targets
from ..models.base import Grid, Settings, Terms, TrainingSets
from ..models.counts import binary_mean
from ..models.registry import MODELS, build_columns
from ..models.tables import Scale, in_units_of_scale, prior_terms

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Scoring:
    """Which rows train each set of tables, and which lines read it.

    Parameters
    ----------
    training : the rows that train.
    left_out : positions in `training` that each set leaves out.
    rows : the row behind each line, sorted by set.
    ends : last line of each set, plus one.
    """

    training: Rows
    left_out: tuple[Rows, ...]
    rows: Rows
    ends: Rows


class SparseLedger:
    """Integer sums for sparse columns: log-odds of each label, or a sum for each class.

    A feature has a usual value; lines with another value move by the difference.  What the usual
    value says is the same for all lines of a table set and is kept once, in the offset.

    Parameters
    ----------
    moves : all rows, sparse.
    specs, values : the columns; numbers behind the codes of continuous ones (None for others).
    targets, weights : classes or labels, and how often each row counts.
    scoring : which rows train and which are scored.
    smoothing, extra_variance, priors : the model's settings.
    class_weight, factors : weight of each class in the counts, and in the criterion.
    """

    form = "moves"

    def __init__(
        self,
        moves: Moves,
        specs: Sequence[ColumnSpec],
        values: Sequence[NDArray[Any] | None],
        targets: Targets,
        weights: NDArray[np.float64],
        scoring: Scoring,
        smoothing: float | str,
        extra_variance: float | None,
        priors: str | NDArray[np.float64] | None,
        class_weight: NDArray[np.float64],
        factors: list[int],
    ):
        self._moves, self._specs, self._values = moves, specs, values
        self._scoring, self._trained = scoring, targets.take(scoring.training)
        self._weights = weights[scoring.training]
        self._class_weight = np.tile(class_weight, targets.n_groups)
        self.n_features = moves.n_columns
        self.factors = factors
        self.targets = targets.take(scoring.rows)
        self.line_weights = weights[scoring.rows].astype(np.int64)
        self.ends = scoring.ends
        self.sets = np.repeat(
            np.arange(scoring.ends.size), np.diff(scoring.ends, prepend=0)
        ).astype(np.int64)
        entries = moves.of_rows(scoring.rows)
        self.pointers, self.lines, self.kinds = entries.pointers, entries.lines, entries.kinds
        self.first = moves.first
        self._build(smoothing, extra_variance, priors)
        self._empty = self.offset
        self.n_classes = targets.n_classes
        self.sums = np.zeros((self.offset.shape[1], scoring.rows.size), np.int64)
        #: Features that have moved since someone read the sums.
        self.touched: list[int] = []
        self.size = 0  #: number of columns in the subset

    # -- building ------------------------------------------------------------------------------

    def _build(self, smoothing: Any, extra_variance: Any, priors: Any) -> None:
        """Tables of integers: what the usual value says, and by how much the others move."""
        n_sets, n_columns = self.ends.size, self.n_features
        totals = np.stack([self._class_counts(left) for left in self._scoring.left_out])
        bernoulli = np.array([spec.model == "bernoulli" for spec in self._specs])
        statistics = self._binary_counts(bernoulli, totals)

        def make(bits: int) -> tuple[tuple[Terms, Terms, dict[int, Terms]], Scale]:
            binary = self._count_terms(statistics, smoothing, bits)
            prior = self._prior(totals, priors, bits)
            spoken = {
                f: self._column_terms(f, smoothing, extra_variance, bits)
                for f in np.flatnonzero(~bernoulli).tolist()
            }
            largest = np.abs(binary.finite).max((1, 2, 3), initial=0.0)
            bounds = [np.abs(prior.finite).max(), *largest]
            bounds += [np.abs(found.finite).max(initial=0.0) for found in spoken.values()]
            n_impossible = sum(found.impossible is not None for found in [prior, *spoken.values()])
            if binary.impossible is not None:
                n_impossible += int(binary.impossible.any((1, 2, 3)).sum())
            # Differences of two sums must fit too.
            scale = Scale.for_terms([2 * bound for bound in bounds], 2 * n_impossible)
            return (binary, prior, spoken), scale

        (binary, prior, spoken), self.scale = in_units_of_scale(make)
        width = self._trained.n_groups if self._trained.odds else self._trained.n_classes
        self.base = np.empty((n_columns, n_sets, width), np.int64)
        self.delta = np.empty((self._moves.codes.size, n_sets, width), np.int64)
        at = np.flatnonzero(bernoulli)
        fixed = self._odds(self.scale.fix(binary))
        self.base[at] = fixed[np.arange(at.size), :, self._moves.usual[at]]
        rows, of = self._delta_rows(bernoulli)
        self.delta[rows] = fixed[of, :, self._moves.codes[rows]] - self.base[at[of]]
        for f, found in spoken.items():
            table = self._odds(self.scale.fix(found))
            mine = slice(self.first[f], self.first[f + 1])
            self.base[f] = table[:, self._moves.usual[f]]
            self.delta[mine] = table[:, self._moves.codes[mine]].swapaxes(0, 1) - self.base[f]
        self.offset = self._odds(self.scale.fix(prior))

    def _delta_rows(self, of_columns: NDArray[np.bool_]) -> tuple[Rows, Rows]:
        """Delta rows of these columns, and the number of each one's column among these."""
        owner = np.repeat(np.arange(self.n_features), np.diff(self.first))
        rows = np.flatnonzero(of_columns[owner])
        return rows, np.cumsum(of_columns)[owner[rows]] - 1

    def _class_counts(self, left_out: Rows) -> NDArray[np.float64]:
        """Weight of every class column over the training rows but these."""
        kept = np.ones(self._weights.size, bool)
        kept[left_out] = False
        member, weights = self._trained.member[kept], self._weights[kept]
        counts = np.zeros(self._trained.n_groups * self._trained.n_classes)
        for column in member.T:
            counts += np.bincount(column, weights, counts.size)
        return counts

    def _prior(self, totals: NDArray[np.float64], priors: Any, bits: int) -> Terms:
        """Log-priors, sets x class columns, each problem for itself."""
        n_sets = totals.shape[0]
        shaped = totals.reshape(n_sets, -1, self._trained.n_classes)
        weights = self._class_weight[: self._trained.n_classes]
        found = prior_terms(shaped, priors, weights, bits)
        impossible = found.impossible
        return Terms(
            found.finite.reshape(n_sets, -1),
            None if impossible is None else impossible.reshape(n_sets, -1),
        )

    def _binary_counts(
        self, bernoulli: NDArray[np.bool_], totals: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Counts of all binary columns at once: columns x sets x codes x class columns."""
        from ..models.kernels.counting import count_moves

        entries = self._moves.of_rows(self._scoring.training)
        left_at, left_sets = _sets_of_rows(self._scoring.left_out, self._scoring.training.size)
        counts = np.empty((self._moves.codes.size, *totals.shape))
        count_moves(
            entries.pointers, entries.lines, entries.kinds, self.first, self._trained.member,
            self._weights, left_at, left_sets, counts,
        )  # fmt: skip
        at = np.flatnonzero(bernoulli)
        statistics = np.zeros((at.size, totals.shape[0], 3, totals.shape[1]))
        statistics[np.arange(at.size), :, self._moves.usual[at]] = totals
        rows, of = self._delta_rows(bernoulli)
        statistics[of, :, self._moves.codes[rows]] += counts[rows]
        where: Any = (of, slice(None), self._moves.usual[at[of]])
        np.subtract.at(statistics, where, counts[rows])
        return statistics

    def _count_terms(self, statistics: NDArray[np.float64], smoothing: Any, bits: int) -> Terms:
        """Terms of all binary columns at once: columns x sets x codes x class columns."""
        means = None
        if smoothing == "mean":
            means = binary_mean(list(statistics), statistics.shape[1], statistics.shape[3])
        settings = Settings(smoothing, None, self._class_weight, means, bits)
        return MODELS["bernoulli"].terms(statistics, np.arange(3), Grid(), settings)

    def _column_terms(self, f: int, smoothing: Any, extra_variance: Any, bits: int) -> Terms:
        """Terms of another column: sets x codes x class columns, problem by problem."""
        spec, values = self._specs[f], self._values[f]
        model = MODELS[spec.model]
        column = np.full(self._moves.entries.shape[0], self._moves.usual[f])
        entries = self._moves.entries
        mine = slice(entries.indptr[f], entries.indptr[f + 1])
        kinds = entries.data[mine].astype(np.int64) - 1
        column[entries.indices[mine]] = self._moves.codes[self.first[f] + kinds]
        column = column[self._scoring.training]
        n_codes = spec.n_codes if values is None else values.size
        parts = []
        for classes in self._trained.classes.T:
            weight = self._class_weight[: self._trained.n_classes]
            sets = TrainingSets(classes, self._weights, self._scoring.left_out, weight)
            statistics = model.statistics(
                column if values is None else values[column], spec.n_codes, sets
            )
            terms = build_columns(
                [spec], [statistics], smoothing, extra_variance, weight, sets.n_sets, bits
            )[0]
            parts.append(terms.of(np.arange(n_codes) if values is None else values))
        impossible = None
        if any(part.impossible is not None for part in parts):
            impossible = np.concatenate(
                [
                    np.zeros(part.finite.shape, bool)
                    if part.impossible is None
                    else part.impossible
                    for part in parts
                ],
                axis=-1,
            )
        return Terms(np.concatenate([part.finite for part in parts], axis=-1), impossible)

    def _odds(self, fixed: NDArray[np.int64]) -> NDArray[np.int64]:
        """From class columns to what the sums hold (last axis)."""
        if not self._trained.odds:
            return fixed
        return fixed[..., 1::2] - fixed[..., ::2]

    # -- using ---------------------------------------------------------------------------------

    @property
    def lines_read(self) -> Scoring:
        """Which rows are scored, and which rows train the tables that each of them reads."""
        return self._scoring

    def apply(self, features: Sequence[int], sign: int) -> None:
        """Let features join (1) or leave (-1); exact, so leaving undoes joining to the bit."""
        from .kernels.moves import apply_moves

        for f in features:
            apply_moves(
                self.sums, self.pointers, self.lines, self.kinds, self.first, self.sets, self.delta,
                f, sign,
            )  # fmt: skip
            self.offset = self.offset + sign * self.base[f]
        self.touched += [int(f) for f in features]
        self.size += sign * len(features)

    @property
    def rows(self) -> Rows:
        """The row of the table behind each line."""
        return self._scoring.rows

    def with_features(self, features: Sequence[int]) -> NDArray[np.int64]:
        """Whole sums of the subset of these features, labels or classes x lines."""
        from .kernels.moves import apply_moves

        sums, offset = np.zeros_like(self.sums), self._empty
        for f in features:
            apply_moves(
                sums, self.pointers, self.lines, self.kinds, self.first, self.sets, self.delta, f, 1
            )
            offset = offset + self.base[f]
        return sums + offset[self.sets].T


def _sets_of_rows(left_out: tuple[Rows, ...], n_rows: int) -> tuple[Rows, Rows]:
    """The sets that leave out each row: where each row's part starts, and the sets."""
    rows = np.concatenate([*left_out, np.empty(0, np.int64)]).astype(np.int64)
    sets = np.repeat(np.arange(len(left_out)), [part.size for part in left_out])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(n_rows + 1))
    return starts.astype(np.int64), sets[order].astype(np.int64)
