"""From judged input to ledgers and the final model."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..data.columns import ColumnSpec, encode
from ..data.packed import Lookup, PackedTable
from ..data.sample import Sample, class_factors
from ..data.split import find_splits, means_loo, training_copies
from ..data.tables import Table, room_of
from ..engine.contract import Ledger
from ..engine.dense import DenseLedger
from ..engine.lines import scoring, validation_lines
from ..engine.sparse import SparseLedger
from ..engine.sparse_tables import Scoring, SparseProblem, SparseTables
from ..engine.tables import DenseColumns
from ..engine.threads import Threads
from ..models.base import Settings, check_priors, one_set
from ..models.columns import read_column, read_moves
from ..models.fitted import FittedBayes
from ..models.summary import Counter, Summary
from .strategies.base import Limits

Rows = NDArray[np.int64]


class Family(Protocol):
    """Models that a selector can search: what it asks of them."""

    @property
    def name(self) -> str:
        """The estimator's."""

    @property
    def form(self) -> str:
        """Of ledger it needs: "lines" or "moves"."""

    @property
    def features(self) -> Any:
        """Feature models, as users give them."""

    @property
    def smoothing(self) -> Any:
        """Of counts, as users give it."""

    @property
    def priors(self) -> Any:
        """Of the classes, as users give them."""

    @property
    def rounded(self) -> bool:
        """Are continuous values rounded first?"""

    def check(self) -> None:
        """Judge the settings."""

    def check_sample(self, sample: Sample) -> None:
        """Judge the settings that depend on the classes."""

    def fit(self, sample: Sample, models: Sequence[str], class_weight: Any = None) -> Any:
        """The model of all rows, as a value."""

    def restrict(self, fitted: Any, columns: Sequence[int], sample: Sample) -> Any:
        """Some columns of a model of all rows."""

    def sparse_tables(self, problem: SparseProblem, fitted: Any) -> SparseTables:
        """Terms for the rows of a sparse ledger."""


class DenseFamily(Family, Protocol):
    """Models that can be asked line by line."""

    def finish(self, summaries: Sequence[Summary], labels: Sequence[str] = ()) -> FittedBayes:
        """The model of what was counted."""

    def settings(self, fitted: FittedBayes, class_weight: Any) -> Settings:
        """Settings of tables that are learnt on some of the rows of a model."""


@dataclass(frozen=True)
class Task:
    """The judged input of one fit of a selector."""

    sample: Sample
    family: Family
    models: list[str]
    units: list[list[int]]
    keep: list[int]
    limits: Limits
    sizes: tuple[int, int]  #: numbers of columns that may be chosen
    class_weight: Any
    cv: Any
    groups: NDArray[Any] | None  #: handed to the splitter
    n_rows: int  #: of the user's table, those without weight included
    sparse: bool  #: ledgers of sparse moves, rather than dense ones

    @property
    def table(self) -> Table:
        """The columns."""
        return self.sample.table

    def factors(self, rows: Rows) -> list[Fraction]:
        """Weight of each class, as these rows balance it."""
        if self.sample.targets.labelled:
            return [Fraction(1)] * 2
        return class_factors(
            self.class_weight,
            self.sample.labels[rows],
            self.sample.weights[rows],
            len(self.sample.classes),
        )

    def float_factors(self, rows: Rows) -> NDArray[np.float64]:
        """The same as floats."""
        return np.array([float(factor) for factor in self.factors(rows)])

    def row_weights(self, rows: Rows) -> NDArray[np.float64]:
        """Weight of every row, with that of its class as these rows balance it."""
        sample = self.sample
        if sample.targets.labelled:
            return sample.weights
        return sample.weights * self.float_factors(rows)[sample.labels]

    def whole_factors(self, rows: Rows) -> tuple[int, ...]:
        """The same as whole numbers, a common denominator left out."""
        factors = self.factors(rows)
        shared = lcm(*(factor.denominator for factor in factors))
        return tuple(int(factor * shared) for factor in factors)


class Ledgers(NamedTuple):
    """Who guides a search and who judges what it found."""

    guide: Ledger
    judge: Ledger | None  #: of the validation part
    fitted: Any  #: the model of all rows and columns
    scored: Any  #: which rows train and which are scored, for a checkpoint


def dense_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """One reading of the table feeds the final model (all rows) and the ledgers."""
    sample, family = task.sample, cast(DenseFamily, task.family)
    cv = "loo" if means_loo(task.cv) else task.cv
    scored = scoring(
        cv,
        sample.labels,
        sample.weights,
        guiding,
        task.factors(guiding),
        sample.rows,
        task.groups,
        task.n_rows,
    )
    sets, rows = scored.sets, scored.training
    n_columns, room = len(task.models), room_of(sample.table)
    plans = [DenseColumns(sets, scored.lines, scored.loo, n_columns, room, rows)]
    if validating.size:
        # All guiding rows train: those of the search itself where it scores them as they are.
        if cv != "train":
            labels, weights = sample.labels[guiding], sample.weights[guiding]
            sets = one_set(labels, weights, sets.class_weight, guiding)
        lines = validation_lines(sample.labels, sample.weights, validating)
        plans.append(DenseColumns(sets, lines, False, n_columns, room, guiding))
    class_weight = task.float_factors(np.arange(sample.labels.size))
    counter = Counter(sample.classes, sample.labels, sample.weights, class_weight)
    for j in range(n_columns):
        spec, column = read_column(sample.table, j, task.models[j], family.rounded)
        later = _later(sample.table, j, spec)
        counter.take(spec, column)
        guides = column[guiding]
        # Rows that a split trains on twice stand twice among those of the first plan.
        plans[0].add(spec, guides if rows.size == guiding.size else column[rows], column, later)
        for plan in plans[1:]:
            known = plans[0].statistics[-1] if plan.sets is plans[0].sets else None
            plan.add(spec, guides, column, later, known)
    fitted = family.finish([counter.summary()])
    settings = family.settings(fitted, plans[0].sets.class_weight)
    priors = check_priors(family.priors, len(sample.classes))
    found = DenseLedger.build(plans, settings, priors, task.whole_factors(guiding), threads)
    reads = (scored.lines, rows, plans[0].sets.left_out, scored.loo)
    return Ledgers(found[0], found[1] if validating.size else None, fitted, reads)


def _later(table: Table, j: int, spec: ColumnSpec) -> Any:
    """A packed table has the values already: ledgers need not keep them a second time."""
    if not isinstance(table, PackedTable):
        return None
    values, codes = table.coded(j)
    values = encode(spec, values)
    return partial(Lookup, *((None, values) if codes is None else (values, codes)))


def sparse_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """The final model, on all rows, and ledgers of moves."""
    sample, family = task.sample, task.family
    class_weight = task.float_factors(np.arange(sample.labels.size))
    fitted = family.fit(sample, task.models, class_weight)
    moves, specs, values = read_moves(task.table, task.models, family.rounded)
    scorings = [_scoring(task, guiding)]
    if validating.size:
        nothing = (np.empty(0, np.int64),)
        scorings.append(Scoring(guiding, nothing, validating, np.array([validating.size])))
    class_weight, factors = task.float_factors(guiding), task.whole_factors(guiding)
    found = []
    for each in scorings:
        problem = SparseProblem(
            moves, specs, values, sample.targets, sample.weights, each, class_weight
        )
        tables = family.sparse_tables(problem, fitted)
        found.append(SparseLedger(problem, tables, factors, threads))
    return Ledgers(found[0], found[1] if validating.size else None, fitted, scorings[0])


def _scoring(task: Task, guiding: Rows) -> Scoring:
    """Lines of the guiding rows, fold by fold."""
    if isinstance(task.cv, str):
        nothing = (np.empty(0, np.int64),)
        return Scoring(guiding, nothing, guiding, np.array([guiding.size]))
    read = task.sample
    splits = find_splits(
        task.cv, read.strata[guiding], read.rows[guiding], task.groups, task.n_rows
    )
    copies, left_out = training_copies([train for train, _ in splits], guiding.size)
    rows = np.concatenate([test for _, test in splits])
    ends = np.cumsum([test.size for _, test in splits])
    return Scoring(guiding[copies], left_out, guiding[rows], ends)
