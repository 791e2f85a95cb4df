"""The ledgers of sparse tables, of labels and of votes."""

import numpy as np

from ..data.folds import find_splits, training_copies
from ..engine.sparse import SparseLedger
from ..engine.sparse_tables import Scoring, SparseProblem
from ..engine.threads import Threads
from ..models.columns import read_moves
from .run import Ledgers, Rows, Task


def sparse_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """The final model, on all rows, and ledgers of moves."""
    sample, family = task.sample, task.family
    class_weight = task.float_factors(np.arange(sample.labels.size))
    fitted = family.fit(sample, task.models, class_weight, threads.prepare)
    moves, specs, values = read_moves(task.table, task.models, family.rounded, sample.repeats)
    scorings = scorings_of(task, guiding, validating)
    class_weight, factors = task.float_factors(guiding), task.whole_factors(guiding)
    found = []
    for each in scorings:
        problem = SparseProblem(
            moves, specs, values, sample.targets, sample.weights, each, class_weight
        )
        tables = family.sparse_tables(problem, fitted, threads.prepare)
        found.append(SparseLedger(problem, tables, factors, threads))
    return Ledgers(found[0], found[1] if validating.size else None, fitted, scorings[0])


def scorings_of(task: Task, guiding: Rows, validating: Rows) -> list[Scoring]:
    """Which rows train and which are scored: of the guide, and of the judge where there is one."""
    found = [_scoring(task, guiding)]
    if validating.size:
        nothing = (np.empty(0, np.int64),)
        found.append(Scoring(guiding, nothing, validating, np.array([validating.size])))
    return found


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
