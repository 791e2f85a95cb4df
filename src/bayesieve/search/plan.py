"""From judged input to ledgers and the final model."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.columns import ColumnSpec, encode
from ..data.packed import Lookup, PackedTable
from ..data.sample import Sample
from ..data.split import find_splits, means_loo, training_copies
from ..data.tables import Table, room_of
from ..data.weights import class_factors
from ..engine.contract import Ledger
from ..engine.dense import DenseLedger
from ..engine.lines import scoring, validation_lines
from ..engine.sparse import SparseLedger
from ..engine.sparse_tables import Scoring, SparseProblem
from ..engine.tables import DenseColumns
from ..engine.threads import Threads
from ..models.base import Settings, one_set
from ..models.columns import read_column, read_moves
from ..models.settings import check_priors, check_smoothing
from .strategies.base import Limits

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """The judged input of one fit of a selector."""

    read: Sample
    models: list[str]
    units: list[list[int]]
    keep: list[int]
    limits: Limits
    sizes: tuple[int, int]  #: numbers of columns that may be chosen
    class_weight: Any
    cv: Any
    groups: NDArray[Any] | None  #: handed to the splitter
    n_rows: int  #: of the user's table, those without weight included

    @property
    def table(self) -> Table:
        """The columns."""
        return self.read.table

    def factors(self, rows: Rows) -> list[Fraction]:
        """Weight of each class, as these rows balance it."""
        if self.read.targets.labelled:
            return [Fraction(1)] * 2
        return class_factors(
            self.class_weight,
            self.read.labels[rows],
            self.read.weights[rows],
            len(self.read.classes),
        )

    def float_factors(self, rows: Rows) -> NDArray[np.float64]:
        """The same as floats."""
        return np.array([float(factor) for factor in self.factors(rows)])

    def row_weights(self, rows: Rows) -> NDArray[np.float64]:
        """Weight of every row, with that of its class as these rows balance it."""
        read = self.read
        if read.targets.labelled:
            return read.weights
        return read.weights * self.float_factors(rows)[read.labels]

    def whole_factors(self, rows: Rows) -> tuple[int, ...]:
        """The same as whole numbers, a common denominator left out."""
        factors = self.factors(rows)
        shared = lcm(*(factor.denominator for factor in factors))
        return tuple(int(factor * shared) for factor in factors)


class Ledgers(NamedTuple):
    """Who guides a search and who judges what it found."""

    guide: Ledger
    judge: Ledger | None  #: of the validation part
    scored: Any  #: which rows train and which are scored, for a checkpoint


def dense_ledgers(
    task: Task, model: Any, guiding: Rows, validating: Rows, threads: Threads
) -> Ledgers:
    """One reading of the table feeds the final model (all rows) and the ledgers."""
    read, factors = task.read, task.factors(guiding)
    cv = "loo" if means_loo(task.cv) else task.cv
    scored = scoring(
        cv, read.labels, read.weights, guiding, factors, read.rows, task.groups, task.n_rows
    )
    sets, rows = scored.sets, scored.training
    n_columns, room = len(task.models), room_of(read.table)
    plans = [DenseColumns(sets, scored.lines, scored.loo, n_columns, room, rows)]
    if validating.size:
        # All guiding rows train: those of the search itself where it scores them as they are.
        if cv != "train":
            sets = one_set(read.labels[guiding], read.weights[guiding], sets.class_weight)
        lines = validation_lines(read.labels, read.weights, validating)
        plans.append(DenseColumns(sets, lines, False, n_columns, room, guiding))
    model._begin(read.classes, read.weights, read.labels)
    everything = np.arange(read.labels.size)
    model._class_weight = task.float_factors(everything)
    of_all = one_set(read.labels, read.weights, model._class_weight)
    for j in range(n_columns):
        spec, column = read_column(read.table, j, task.models[j], model.rounded)
        later = _later(read.table, j, spec)
        model._take(spec, column, of_all)
        guides = column[guiding]
        # Rows that a split trains on twice stand twice among those of the first plan.
        plans[0].add(spec, guides if rows.size == guiding.size else column[rows], column, later)
        for plan in plans[1:]:
            known = plans[0].statistics[-1] if plan.sets is plans[0].sets else None
            plan.add(spec, guides, column, later, known)
    model._finish()
    settings = Settings(
        check_smoothing(model.smoothing), model._extra_variance, plans[0].sets.class_weight
    )
    priors = check_priors(model.priors, len(read.classes))
    found = DenseLedger.build(plans, settings, priors, task.whole_factors(guiding), threads)
    reads = (scored.lines, rows, plans[0].sets.left_out, scored.loo)
    return Ledgers(found[0], found[1] if validating.size else None, reads)


def _later(table: Table, j: int, spec: ColumnSpec) -> Any:
    """A packed table has the values already: ledgers need not keep them a second time."""
    if not isinstance(table, PackedTable):
        return None
    values, codes = table.coded(j)
    values = encode(spec, values)
    return partial(Lookup, *((None, values) if codes is None else (values, codes)))


def sparse_ledgers(
    task: Task, model: Any, guiding: Rows, validating: Rows, threads: Threads
) -> Ledgers:
    """The final model, on all rows, and ledgers of moves."""
    everything = np.arange(task.read.labels.size)
    model._fit_table(task.read, task.models, task.float_factors(everything))
    moves, specs, values = read_moves(task.table, task.models, getattr(model, "rounded", False))
    scorings = [_scoring(task, guiding)]
    if validating.size:
        nothing = (np.empty(0, np.int64),)
        scorings.append(Scoring(guiding, nothing, validating, np.array([validating.size])))
    class_weight, factors = task.float_factors(guiding), task.whole_factors(guiding)
    found = []
    for each in scorings:
        problem = SparseProblem(
            moves, specs, values, task.read.targets, task.read.weights, each, class_weight
        )
        found.append(SparseLedger(problem, model.sparse_tables(problem), factors, threads))
    return Ledgers(found[0], found[1] if validating.size else None, scorings[0])


def _scoring(task: Task, guiding: Rows) -> Scoring:
    """Lines of the guiding rows, fold by fold."""
    if isinstance(task.cv, str):
        nothing = (np.empty(0, np.int64),)
        return Scoring(guiding, nothing, guiding, np.array([guiding.size]))
    read = task.read
    splits = find_splits(
        task.cv, read.strata[guiding], read.rows[guiding], task.groups, task.n_rows
    )
    copies, left_out = training_copies([train for train, _ in splits], guiding.size)
    rows = np.concatenate([test for _, test in splits])
    ends = np.cumsum([test.size for _, test in splits])
    return Scoring(guiding[copies], left_out, guiding[rows], ends)
