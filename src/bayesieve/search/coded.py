"""Rows as codes: what weights are fitted on, whole or in folds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..data.columns import ColumnSpec
from ..data.sample import Sample
from ..data.sparse import present
from ..data.tables import SparseTable
from ..engine.cells import CODED, PRESENT, TWO
from ..models.base import Floats, Ints, TrainingSets, one_set
from ..models.columns import Summary, read_column, read_moves
from ..models.registry import MODELS


@dataclass(frozen=True)
class CodedColumns:
    """Columns of a table as codes, whatever is to be told from them.

    Parameters
    ----------
    specs : what each column is like.
    kinds : 0 and 1 only, any codes, or sparse.
    columns : codes of all rows; of a sparse column, the rows that have it.
    n_rows : of the table.
    """

    specs: tuple[ColumnSpec, ...]
    kinds: Ints
    columns: tuple[Array, ...]
    n_rows: int

    def codes(self, j: int) -> Array:
        """Codes of all rows."""
        if self.kinds[j] != PRESENT:
            return self.columns[j]
        found = np.zeros(self.n_rows, np.uint8)
        found[self.columns[j]] = 1
        return found


def read_coded(
    sample: Sample, models: Sequence[str], which: Sequence[int] | None = None
) -> CodedColumns:
    """Columns as codes.

    Parameters
    ----------
    sample : the rows.
    models : the feature model of each of its columns.
    which : these columns, in this order; None: all.
    """
    table, repeats = sample.table, sample.repeats
    chosen = range(len(models)) if which is None else which
    if isinstance(table, SparseTable) and {models[j] for j in chosen} == {"bernoulli"}:
        table = table if which is None else table.pick(np.array(chosen, np.int64))
        _, specs, _ = read_moves(table, [models[j] for j in chosen])
        part = present(table.matrix).entries
        part.sort_indices()
        columns: list[Array] = np.split(part.indices.astype(np.int64), part.indptr[1:-1])
        kinds = np.full(len(specs), PRESENT)
        return CodedColumns(tuple(specs), kinds, tuple(columns), table.n_rows)
    specs, columns, found = [], [], []
    for j in chosen:
        presence = isinstance(table, SparseTable)
        spec, column = read_column(table, j, models[j], presence=presence, repeats=repeats)
        specs.append(spec)
        columns.append(column)
        two = spec.n_codes == 3 and not (column == 2).any()
        found.append(TWO if two else CODED)
    return CodedColumns(tuple(specs), np.array(found), tuple(columns), table.n_rows)


@dataclass(frozen=True)
class CodedRows:
    """Some rows of coded columns, with their classes.

    Parameters
    ----------
    columns : of the whole table.
    rows : which of its rows.
    labels : class of each of them.
    weights : how often each of them counts.
    classes, class_weight : the classes, and a factor on the counts of each.
    """

    columns: CodedColumns
    rows: Ints
    labels: Ints
    weights: Ints
    classes: Array
    class_weight: Floats

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def weighted(self, weights: Ints) -> "CodedRows":
        """The rows of positive weight, with other weights."""
        at = np.flatnonzero(weights > 0)
        return replace(self, rows=self.rows[at], labels=self.labels[at], weights=weights[at])

    def marks(self, seed: np.random.RandomState) -> NDArray[np.uint64]:
        """A random number for each row; equal rows have equal ones."""
        total, absent = np.zeros(self.columns.n_rows, np.uint64), np.zeros(1, np.uint64)
        for j, spec in enumerate(self.columns.specs):
            parts = seed.randint(0, 2**32, (spec.n_codes, 2), dtype=np.uint64)
            drawn = parts[:, 0] << np.uint64(32) | parts[:, 1]
            if self.columns.kinds[j] == PRESENT:
                # Every row has the mark of the 0, so that the same rows, dense, are marked alike.
                absent += drawn[:1]
                total[self.columns.columns[j]] += (drawn[1:2] - drawn[:1])[0]
            else:
                total += drawn[self.columns.columns[j]]
        return (total + absent)[self.rows]

    @cached_property
    def sets(self) -> TrainingSets:
        """All of these rows train."""
        weights = self.weights.astype(np.float64)
        return one_set(self.labels, weights, self.class_weight, self.rows)

    @cached_property
    def everything(self) -> bool:
        """Are these all rows of the table, in order?"""
        return self.rows.size == self.columns.n_rows

    def codes(self, j: int) -> Array:
        """Codes of these rows."""
        found = self.columns.codes(j)
        return found if self.everything else found[self.rows]

    @cached_property
    def summary(self) -> Summary:
        """Counts of every column."""
        sets = self.sets
        count = np.bincount(self.labels, sets.weights, self.n_classes).astype(np.float64)
        statistics = []
        seats = np.full(self.columns.n_rows, -1)
        seats[self.rows] = np.arange(self.rows.size)
        for j, spec in enumerate(self.columns.specs):
            if self.columns.kinds[j] == PRESENT:
                here = seats[self.columns.columns[j]]
                here = here[here >= 0]
                ones = np.bincount(self.labels[here], sets.weights[here], self.n_classes)
                statistics.append(np.stack([count - ones, ones, np.zeros_like(ones)])[None])
            else:
                model = MODELS[spec.model]
                statistics.append(model.statistics(self.codes(j), spec.n_codes, sets))
        return Summary(
            self.classes, count, self.class_weight, self.columns.specs, tuple(statistics)
        )
