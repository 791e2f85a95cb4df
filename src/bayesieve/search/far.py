"""Ledgers of rows that others hold: counts and answers travel, rows do not."""

from typing import cast

import numpy as np

from ..engine.contract import Ledger
from ..engine.dense import DenseTables
from ..engine.far.moves import FarMoves, FarProblem
from ..engine.far.table import FarTable
from ..engine.fixed import FixedTables
from ..engine.lines import Lines, TableColumns, validation_lines
from ..engine.threads import Threads
from ..models.base import TrainingSets, one_set
from ..models.columns import Summary
from ..models.counts import check_priors
from .family import DenseFamily
from .run import Ledgers, Rows, Task
from .sparse import scorings_of


def far_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """The ledgers of a search; tables and the final model are made here, of merged counts."""
    sample, table = task.sample, cast(FarTable, task.sample.table)
    family, scored = cast(DenseFamily, task.family), task.scored(guiding)
    (summary,) = summaries = summaries_of(task, table)
    fitted = family.finish(summaries, (), threads.prepare)
    settings = family.settings(fitted, scored.sets.class_weight)
    priors = check_priors(family.priors, len(sample.classes))
    known = [bool(counts[:, :-1].size) and not counts[:, -1].any() for counts in summary.statistics]
    factors = task.whole_factors(guiding)
    made: dict[int, FixedTables] = {}

    def ledger(sets: TrainingSets, lines: Lines, loo: bool, training: Rows) -> Ledger:
        tables = None if loo else made.get(id(sets))
        if tables is None:
            columns = TableColumns(sets, loo)
            for spec, counts, all_known in zip(
                table.held.specs, table.held.count(sets, training), known, strict=True
            ):
                columns.keep(spec, counts, all_known)
            tables = FixedTables.of(DenseTables(columns, settings, priors, threads.prepare))
            made[id(sets)] = tables
        return table.held.ledger(tables, lines, factors)

    guide = ledger(scored.sets, scored.lines, scored.loo, scored.training)
    judge = None
    if validating.size:
        sets = task.judging_sets(scored, guiding)
        lines = validation_lines(sample.labels, sample.weights, validating)
        judge = ledger(sets, lines, False, guiding)
    reads = (scored.lines, scored.training, scored.sets.left_out, scored.loo)
    return Ledgers(guide, judge, fitted, reads)


def far_moves(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """The same where columns are dealt out with all rows: sparse tables, labels, votes, AUC."""
    sample, table, family = task.sample, cast(FarTable, task.sample.table), task.family
    assert table.given is not None
    names = sample.targets.names if sample.targets.labelled else ()
    fitted = family.finish(summaries_of(task, table), names, threads.prepare)
    dealt = table.given.deal(table.held, task.units)
    class_weight, factors = task.float_factors(guiding), task.whole_factors(guiding)
    scorings, found = scorings_of(task, guiding, validating), []
    for each in scorings:
        problem = FarProblem(
            dealt.moves,
            table.held.specs,
            [None] * len(table.held.specs),
            sample.targets,
            sample.weights,
            each,
            class_weight,
            held=table.held,
        )
        tables = family.sparse_tables(problem, fitted, threads.prepare)
        found.append(FarMoves(dealt.columns, problem, tables, factors))
    return Ledgers(found[0], found[1] if validating.size else None, fitted, scorings[0])


def summaries_of(task: Task, table: FarTable) -> list[Summary]:
    """Counts of all rows, a summary of each problem; one round for each."""
    sample = task.sample
    weight = task.float_factors(np.arange(sample.labels.size))
    found = []
    for classes in task.family.problems(sample.targets):
        sets = one_set(classes, sample.weights, weight)
        counts = tuple(table.held.count(sets, np.arange(classes.size)))
        told = sets.class_counts[0], weight, table.held.specs, counts
        found.append(Summary(sample.classes, *told))
    return found
