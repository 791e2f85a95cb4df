"""From judged input to ledgers and the final model."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import ColumnSpec, encode
from ..data.packed import Lookup, PackedTable
from ..data.sample import Sample
from ..data.split import find_splits, means_loo, training_copies
from ..data.tables import Table, room_of
from ..data.weights import class_factors
from ..engine.dense import Ledger, LedgerPlan
from ..engine.lines import scoring, validation_lines
from ..engine.sparse import Scoring, SparseLedger
from ..models.base import one_set
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


def dense_ledgers(task: Task, model: Any, guiding: Rows, validating: Rows) -> list[Ledger]:
    """One reading of the table feeds the final model (all rows) and the ledgers."""
    read, factors = task.read, task.factors(guiding)
    cv = "loo" if means_loo(task.cv) else task.cv
    sets, lines, loo, rows = scoring(
        cv, read.labels, read.weights, guiding, factors, read.rows, task.groups, task.n_rows
    )
    n_columns, room = len(task.models), room_of(read.table)
    plans = [LedgerPlan(sets, lines, loo, n_columns, room, rows)]
    if validating.size:
        sets = one_set(read.labels[guiding], read.weights[guiding], sets.class_weight)
        lines = validation_lines(read.labels, read.weights, validating)
        plans.append(LedgerPlan(sets, lines, False, n_columns, room, guiding))
    model._begin(read.classes, read.weights, read.labels)
    everything = np.arange(read.labels.size)
    model._class_weight = np.array([float(factor) for factor in task.factors(everything)])
    sets = one_set(read.labels, read.weights, model._class_weight)
    for j in range(len(task.models)):
        spec, column = read_column(read.table, j, task.models[j], model.rounded)
        later = _later(read.table, j, spec)
        model._take(spec, column, sets)
        guides = column[guiding]
        # Rows that a split trains on twice stand twice among those of the first plan.
        trains = guides if rows.size == guiding.size else column[rows]
        for plan, training in zip(plans, (trains, guides), strict=False):
            plan.add(spec, training, column, later)
    model._finish()
    settings = (check_smoothing(model.smoothing), model._extra_variance,
                check_priors(model.priors, len(read.classes)))  # fmt: skip
    return [Ledger(plan, *settings, factors) for plan in plans]


def _later(table: Table, j: int, spec: ColumnSpec) -> Any:
    """A packed table has the values already: ledgers need not keep them a second time."""
    if not isinstance(table, PackedTable):
        return None
    values, codes = table.coded(j)
    values = encode(spec, values)
    return partial(Lookup, *((None, values) if codes is None else (values, codes)))


def sparse_ledgers(task: Task, model: Any, guiding: Rows, validating: Rows) -> list[SparseLedger]:
    """The final model, on all rows, and ledgers of moves."""
    everything = np.arange(task.read.labels.size)
    weight = np.array([float(factor) for factor in task.factors(everything)])
    model._fit_table(task.read, task.models, weight)
    moves, specs, values = read_moves(task.table, task.models, getattr(model, "rounded", False))
    factors = task.factors(guiding)
    shared = lcm(*(factor.denominator for factor in factors))
    whole = [int(factor * shared) for factor in factors]
    class_weight = np.array([float(factor) for factor in factors])
    found = [_scoring(task, guiding)]
    if validating.size:
        nothing = (np.empty(0, np.int64),)
        found.append(Scoring(guiding, nothing, validating, np.array([validating.size])))
    return [
        model._sparse_ledger(
            moves, specs, values, task.read.targets, task.read.weights, each, class_weight, whole
        )
        for each in found
    ]


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
