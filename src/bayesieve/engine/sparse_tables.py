"""The rows behind a sparse ledger, and the integer terms of naive Bayes for them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..checks import Array, check_memory
from ..data.columns import ColumnSpec
from ..data.sparse import Moves
from ..data.targets import Targets
from ..models.base import (
    Floats,
    Grid,
    Ints,
    Run,
    Scale,
    Settings,
    Statistics,
    Terms,
    TrainingSets,
    in_units_of_scale,
    run_alone,
)
from ..models.columns import build_columns
from ..models.counts import binary_mean, prior_terms
from ..models.registry import MODELS
from ..models.votes import count_votes


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

    training: Ints
    left_out: tuple[Ints, ...]
    rows: Ints
    ends: Ints

    @property
    def sets(self) -> Ints:
        """The set that each line reads."""
        sizes = np.diff(self.ends, prepend=0)
        return np.repeat(np.arange(self.ends.size), sizes).astype(np.int64)


@dataclass(frozen=True)
class SparseProblem:
    """Rows in sparse form, what they belong to, and which of them are scored.

    Parameters
    ----------
    moves : all rows, sparse.
    specs, values : the columns; numbers behind the codes of continuous ones (None for others).
    targets, weights : classes or labels, and how often each row counts.
    scoring : which rows train and which are scored.
    class_weight : weight of each class in the counts.
    """

    moves: Moves
    specs: Sequence[ColumnSpec]
    values: Sequence[Array | None]
    targets: Targets
    weights: Floats
    scoring: Scoring
    class_weight: Floats

    @cached_property
    def trained(self) -> Targets:
        """What the training rows belong to."""
        return self.targets.take(self.scoring.training)

    @property
    def training_weights(self) -> Floats:
        """How often each training row counts."""
        return self.weights[self.scoring.training]

    def sets_of(self, classes: Ints, class_weight: Floats) -> TrainingSets:
        """Who trains, by what the training rows belong to."""
        scoring = self.scoring
        return TrainingSets(
            classes, self.training_weights, scoring.left_out, class_weight, scoring.training
        )

    def statistics(self, f: int, problem: int) -> Statistics:
        """Statistics of a column that is not binary, for one class problem."""
        spec, values = self.specs[f], self.values[f]
        column = self.moves.column(f)[self.scoring.training]
        sets = self.sets_of(self.trained.classes[:, problem], self.class_weight)
        numbers = column if values is None else values[column]
        return MODELS[spec.model].statistics(numbers, spec.n_codes, sets)

    def binary_counts(self, at: Ints, totals: Floats) -> Floats:
        """Counts of binary columns: columns x sets x codes x class columns.

        Parameters
        ----------
        at : the columns.
        totals : weight of the training rows, sets x class columns.
        """
        from ..data.kernels.exact import count_moves

        moves, trained = self.moves, self.trained
        entries = moves.of_rows(self.scoring.training)
        left_at, left_sets = sets_of_rows(self.scoring.left_out, self.scoring.training.size)
        counts = np.empty((moves.codes.size, *totals.shape))
        count_moves(
            entries.pointers,
            entries.lines,
            entries.kinds,
            moves.first,
            trained.member,
            self.training_weights,
            left_at,
            left_sets,
            counts,
        )
        found = np.zeros((at.size, totals.shape[0], 3, totals.shape[1]))
        found[np.arange(at.size), :, moves.usual[at]] = totals
        rows, of = moves.rows_of(at)
        found[of, :, moves.codes[rows]] += counts[rows]
        where: Any = (of, slice(None), moves.usual[at[of]])
        np.subtract.at(found, where, counts[rows])
        return found

    def vote_counts(self, classes: Ints) -> Floats:
        """Counts of binary columns by two classes: sets x columns x codes x 2.

        Parameters
        ----------
        classes : of the training rows.
        """
        training, found = self.scoring.training, []
        for left_out in self.scoring.left_out:
            at = np.delete(np.arange(training.size), left_out)
            weights = self.weights[training[at]]
            found.append(count_votes(self.moves, training[at], weights, classes[at]))
        return np.stack(found)


class SparseTables(NamedTuple):
    """Integer terms of sparse columns: of the usual value, and by how much the others move.

    Scores are log-odds of each problem where all have two classes, else one a class.
    """

    offset: Ints  #: the prior, sets x scores
    base: Ints  #: of the usual value, columns x sets x scores
    delta: Ints  #: of each other value of each column: delta rows x sets x scores
    scale: Scale


def bayes_tables(
    problem: SparseProblem, settings: Settings, priors: str | Floats | None, run: Run = run_alone
) -> SparseTables:
    """Terms of naive Bayes: what the usual value says, and by how much the others move.

    Parameters
    ----------
    problem : the rows.
    settings : smoothing and the variance added; class weights are the problem's.
    priors : None, "uniform" or one probability a class.
    run : runs a task over a range of columns and problems, in parts where it has threads.
    """
    return _BayesTables(problem, settings, priors, run).found


# Arrays of the size of all terms while they are made: of binary columns, of others.
_OF_BINARY, _OF_OTHERS = 5, 3


class _BayesTables:
    """All binary columns at once, the others one by one."""

    def __init__(
        self, problem: SparseProblem, settings: Settings, priors: str | Floats | None, run: Run
    ):
        self._problem, self._settings, self._priors, self._run = problem, settings, priors, run
        self._trained, self._weights = problem.trained, problem.training_weights
        self._class_weight = np.tile(problem.class_weight, self._trained.n_groups)
        self._totals = np.stack([self._class_counts(left) for left in problem.scoring.left_out])
        self._binary = np.array([spec.model == "bernoulli" for spec in problem.specs])
        self._check_room()
        self._counts = problem.binary_counts(np.flatnonzero(self._binary), self._totals)
        (binary, prior, spoken), scale = in_units_of_scale(self._make)
        self.found = self._assemble(binary, prior, spoken, scale)

    def _check_room(self) -> None:
        """Refuse tables that would not fit into memory."""
        problem = self._problem
        n_codes = [
            spec.n_codes if values is None else values.size
            for spec, values, binary in zip(
                problem.specs, problem.values, self._binary, strict=True
            )
            if not binary
        ]
        n_copied = _OF_BINARY * 3 * int(self._binary.sum()) + _OF_OTHERS * sum(n_codes)
        what = f"{self._trained.n_groups} labels" if self._trained.n_groups > 1 else "all classes"
        check_memory(
            f"the tables of {len(problem.specs)} columns for {what}",
            8 * self._totals.size * n_copied,
            "use fewer labels, classes, columns or folds",
        )

    def _make(self, bits: int) -> tuple[tuple[Terms, Terms, dict[int, Terms]], Scale]:
        """Terms of the binary columns, of the prior and of each other column."""
        binary, prior = self._count_terms(bits), self._prior(bits)
        spoken = self._others(bits)
        largest = np.abs(binary.finite).max((1, 2, 3), initial=0.0)
        bounds = [np.abs(prior.finite).max(), *largest]
        bounds += [np.abs(found.finite).max(initial=0.0) for found in spoken.values()]
        n_impossible = sum(found.impossible is not None for found in [prior, *spoken.values()])
        if binary.impossible is not None:
            n_impossible += int(binary.impossible.any((1, 2, 3)).sum())
        # Differences of two sums must fit too.
        scale = Scale.for_terms([2 * bound for bound in bounds], 2 * n_impossible)
        return (binary, prior, spoken), scale

    def _assemble(
        self, binary: Terms, prior: Terms, spoken: dict[int, Terms], scale: Scale
    ) -> SparseTables:
        """Integers of the usual values, and the differences of the others."""
        moves, trained = self._problem.moves, self._trained
        n_sets = self._totals.shape[0]
        width = trained.n_groups if trained.odds else trained.n_classes
        base = np.empty((moves.n_columns, n_sets, width), np.int64)
        delta = np.empty((moves.codes.size, n_sets, width), np.int64)
        at = np.flatnonzero(self._binary)
        fixed = self._odds(scale.fix(binary))
        base[at] = fixed[np.arange(at.size), :, moves.usual[at]]
        rows, of = moves.rows_of(at)
        delta[rows] = fixed[of, :, moves.codes[rows]] - base[at[of]]
        for f, found in spoken.items():
            table = self._odds(scale.fix(found))
            mine = slice(moves.first[f], moves.first[f + 1])
            base[f] = table[:, moves.usual[f]]
            delta[mine] = table[:, moves.codes[mine]].swapaxes(0, 1) - base[f]
        return SparseTables(self._odds(scale.fix(prior)), base, delta, scale)

    def _class_counts(self, left_out: Ints) -> Floats:
        """Weight of every class column over the training rows but these."""
        kept = np.ones(self._weights.size, bool)
        kept[left_out] = False
        member, weights = self._trained.member[kept], self._weights[kept]
        counts = np.zeros(self._trained.n_groups * self._trained.n_classes)
        for column in member.T:
            counts += np.bincount(column, weights, counts.size)
        return counts

    def _prior(self, bits: int) -> Terms:
        """Log-priors, sets x class columns, each problem for itself."""
        n_sets = self._totals.shape[0]
        shaped = self._totals.reshape(n_sets, -1, self._trained.n_classes)
        found = prior_terms(shaped, self._priors, self._problem.class_weight, bits)
        impossible = found.impossible
        return Terms(
            found.finite.reshape(n_sets, -1),
            None if impossible is None else impossible.reshape(n_sets, -1),
        )

    def _count_terms(self, bits: int) -> Terms:
        """Terms of all binary columns at once: columns x sets x codes x class columns."""
        smoothing, counts = self._settings.smoothing, self._counts
        means = None
        if smoothing == "mean":
            means = binary_mean(list(counts), counts.shape[1], counts.shape[3])
        settings = Settings(smoothing, None, self._class_weight, means, bits)
        return MODELS["bernoulli"].terms(counts, np.arange(3), Grid(), settings)

    def _others(self, bits: int) -> dict[int, Terms]:
        """Terms of the other columns: sets x codes x class columns, problem by problem."""
        others, n_groups = np.flatnonzero(~self._binary).tolist(), self._trained.n_groups
        settings = replace(self._settings, class_weight=self._problem.class_weight, bits=bits)
        parts: dict[tuple[int, int], Terms] = {}

        def task(lo: int, hi: int) -> None:
            for item in range(lo, hi):
                f, g = others[item // n_groups], item % n_groups
                parts[f, g] = self._column_terms(f, g, settings)

        self._run(task, len(others) * n_groups, sum(self._work(f) for f in others) * n_groups)
        return {f: _side_by_side([parts.pop((f, g)) for g in range(n_groups)]) for f in others}

    def _work(self, f: int) -> int:
        """How much there is to do before a column on a grid can speak: pairs of codes."""
        spec, (n_sets, _) = self._problem.specs[f], self._totals.shape
        return n_sets * spec.n_codes**2 * self._trained.n_classes if spec.on_grid else 0

    def _column_terms(self, f: int, g: int, settings: Settings) -> Terms:
        """Terms of another column for one problem: sets x codes x classes."""
        problem = self._problem
        spec, values = problem.specs[f], problem.values[f]
        codes = np.arange(spec.n_codes) if values is None else values
        told = [spec], [problem.statistics(f, g)], settings, self._totals.shape[0]
        return build_columns(*told)[0].of(codes)

    def _odds(self, fixed: Ints) -> Ints:
        """From class columns to what the sums hold (last axis)."""
        if not self._trained.odds:
            return fixed
        return fixed[..., 1::2] - fixed[..., ::2]


def _side_by_side(parts: list[Terms]) -> Terms:
    """Terms of several problems as those of one (last axis)."""
    finite = np.concatenate([part.finite for part in parts], axis=-1)
    if all(part.impossible is None for part in parts):
        return Terms(finite)
    never = [
        np.zeros(part.finite.shape, bool) if part.impossible is None else part.impossible
        for part in parts
    ]
    return Terms(finite, np.concatenate(never, axis=-1))


def sets_of_rows(left_out: tuple[Ints, ...], n_rows: int) -> tuple[Ints, Ints]:
    """The sets that leave out each row: where each row's part starts, and the sets."""
    rows = np.concatenate([*left_out, np.empty(0, np.int64)]).astype(np.int64)
    sets = np.repeat(np.arange(len(left_out)), [part.size for part in left_out])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(n_rows + 1))
    return starts.astype(np.int64), sets[order].astype(np.int64)
