"""Searches on rows held by workers: remote ledgers and coded columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..engine.contract import Ledger
from ..engine.dense import DenseTables, FixedTables
from ..engine.layout import Lines, TableColumns, validation_lines
from ..engine.registry import (
    DealtLedger,
    Reads,
    RemoteCells,
    RemoteProblem,
    RemoteRows,
    RemoteTable,
)
from ..engine.threads import Threads
from ..engine.weighted import CODED, TWO, TermTables
from ..models.base import Floats, Ints, TrainingSets, one_set
from ..models.columns import Summary
from ..models.counts import check_priors
from .run import DenseFamily, Ledgers, Rows, Task, scorings_of
from .term_pool import CoarseColumns, CodedColumns, CodedRows, CodedTerms, Pair


def remote_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """The ledgers of a search; tables and the final model are made here, of merged counts."""
    sample, table = task.sample, cast(RemoteTable, task.sample.table)
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


def dealt_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """Ledgers of columns that are dealt out with all rows: sparse tables, labels, votes, AUC."""
    sample, table, family = task.sample, cast(RemoteTable, task.sample.table), task.family
    assert table.given is not None
    names = sample.targets.names if sample.targets.labelled else ()
    fitted = family.finish(summaries_of(task, table), names, threads.prepare)
    dealt = table.given.deal(table.held, task.units)
    class_weight, factors = task.float_factors(guiding), task.whole_factors(guiding)
    scorings, found = scorings_of(task, guiding, validating), []
    for each in scorings:
        problem = RemoteProblem(
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
        found.append(DealtLedger(dealt.columns, problem, tables, factors))
    return Ledgers(found[0], found[1] if validating.size else None, fitted, scorings[0])


def summaries_of(task: Task, table: RemoteTable) -> list[Summary]:
    """Counts of all rows, a summary of each problem; one round for each."""
    sample = task.sample
    weight = task.float_factors(np.arange(sample.labels.size))
    found = []
    for classes in task.family.problems(sample.targets):
        sets = one_set(classes, sample.weights, weight)
        counts = tuple(table.held.count(sets, np.arange(classes.size)))
        counted = sets.class_counts[0], weight, table.held.specs, counts
        found.append(Summary(sample.classes, *counted))
    return found


# -- Columns of codes that others hold, as weights are fitted on them ------------------------------


@dataclass(frozen=True)
class RemoteColumns(CodedColumns):
    """Columns that workers hold; `columns` is empty.

    Parameters
    ----------
    held : where to ask.
    which : the positions of the columns in the table.
    """

    held: RemoteRows = field(kw_only=True)
    which: tuple[int, ...] = field(kw_only=True)

    @classmethod
    def of(cls, table: RemoteTable, which: Sequence[int]) -> "RemoteColumns":
        """Some columns of a table, in this order."""
        held, n_rows = table.held, table.held.n_rows
        sets = one_set(np.zeros(n_rows, np.int64), np.ones(n_rows), np.ones(1))
        counts = held.count(sets, np.arange(n_rows), which)
        two = [each.shape[1] == 3 and not each[0, 2].any() for each in counts]
        specs = tuple(held.specs[j] for j in which)
        kinds = np.where(np.array(two, bool), TWO, CODED)
        return cls(specs, kinds, (), n_rows, held=held, which=tuple(which))

    def codes(self, j: int) -> Array:
        """Codes of all rows, which come here."""
        return self.held.codes(self.which[j])

    def contents(self) -> Sequence[object]:
        """A number for each column."""
        return self.held.marks()[list(self.which)].tolist()

    def marks(self, drawn: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """One round; a number for each row comes here."""
        return self.held.row_marks(self.which, drawn)

    def statistics(self, rows: CodedRows) -> list[Floats]:
        """One round."""
        return self.held.count(rows.sets, rows.rows, self.which)

    def coarse(self, rows: CodedRows, grouped: Sequence[tuple[int, Ints]]) -> CoarseColumns:
        """Groups alone travel."""
        return RemoteCoarse(np.empty((0, 0), np.uint8), np.empty(0, np.int64), self._cells(grouped))

    def pair_counts(self, rows: CodedRows, pairs: Sequence[Pair]) -> list[Floats]:
        """One round for all pairs, as a rule."""
        if not pairs:
            return []
        grouped = [each for pair in pairs for each in zip(pair.columns, pair.groups, strict=True)]
        who = (rows.rows, rows.labels, rows.weights, rows.n_classes)
        places = np.arange(2 * len(pairs)).reshape(-1, 2).T
        found = []
        cells = self._cells(grouped)
        for which, counts, ends in cells.counts(*who, (places[0].copy(), places[1].copy())):
            for p, pair in enumerate(pairs[which]):
                shape = (pair.groups[0][-1], pair.groups[1][-1], rows.n_classes)
                mine = counts[ends[p] : ends[p + 1] - rows.n_classes]
                found.append(mine.astype(np.float64).reshape(shape))
        return found

    def terms(self, pairs: Sequence[Pair], threads: Threads) -> CodedTerms:
        """Terms of rows that stay with the workers."""
        return RemoteTerms(self, tuple(pairs), threads)

    def _cells(self, grouped: Sequence[tuple[int, Ints]]) -> RemoteCells:
        columns = tuple(self.which[j] for j, _ in grouped)
        return RemoteCells(self.held, columns, tuple(groups for _, groups in grouped))


@dataclass(frozen=True)
class RemoteCoarse(CoarseColumns):
    """Codes in groups, which workers hold."""

    cells: RemoteCells

    def informations(self, rows: CodedRows, first: Ints, second: Ints, threads: Threads) -> Floats:
        """Counts come here."""
        who = (rows.rows, rows.labels, rows.weights, rows.n_classes)
        return self.cells.informations(*who, (first, second))


@dataclass(frozen=True)
class RemoteTerms(CodedTerms):
    """Columns, then pairs of them, which workers hold."""

    columns: RemoteColumns

    def ledger(
        self,
        tables: TermTables,
        kinds: Ints,
        lone: Mapping[int, NDArray[np.bool_]],
        rows: CodedRows,
        weights: Ints,
    ) -> Ledger:
        """A ledger whose lines workers hold."""
        pairs = tuple((pair.columns, pair.groups) for pair in self.pairs)
        held = self.columns.held
        reads = Reads.of(kinds, held.slots[list(self.columns.which)], pairs, lone)
        return held.weighted_ledger(tables, reads, rows.rows, rows.labels, weights)
