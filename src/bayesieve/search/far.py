"""Ledgers of rows that others hold: counts and answers travel, rows do not."""

from typing import cast

import numpy as np

from ..engine.contract import Ledger
from ..engine.dense import DenseTables
from ..engine.far.table import FarTable
from ..engine.fixed import FixedTables
from ..engine.lines import Lines, TableColumns, validation_lines
from ..engine.threads import Threads
from ..models.base import TrainingSets, one_set
from ..models.columns import Summary
from ..models.counts import check_priors
from .family import DenseFamily
from .run import Ledgers, Rows, Task


def far_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """The ledgers of a search; tables and the final model are made here, of merged counts."""
    sample, table = task.sample, cast(FarTable, task.sample.table)
    family, scored = cast(DenseFamily, task.family), task.scored(guiding)
    summary = summary_of(task, table)
    fitted = family.finish([summary], (), threads.run)
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
            tables = FixedTables.of(DenseTables(columns, settings, priors, threads.run))
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


def summary_of(task: Task, table: FarTable) -> Summary:
    """Counts of all rows; asked for once."""
    sample = task.sample
    weight = task.float_factors(np.arange(sample.labels.size))
    sets = one_set(sample.labels, sample.weights, weight)
    counts = table.held.count(sets, np.arange(sample.labels.size))
    return Summary(sample.classes, sets.class_counts[0], weight, table.held.specs, tuple(counts))
