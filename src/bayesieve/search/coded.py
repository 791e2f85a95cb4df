"""Rows as codes: what weights are fitted on, whole or in folds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..data.columns import ColumnSpec
from ..data.sample import Sample
from ..data.sparse import present
from ..data.tables import SparseTable
from ..engine.cells import CODED, PRESENT, TWO, Cells, ScoredLines, TermTables, in_stacks, silenced
from ..engine.contract import WeightLedger
from ..engine.far.table import FarTable
from ..engine.threads import Threads
from ..engine.weighted import WeightedLedger
from ..models.base import Floats, Ints, TrainingSets, one_set
from ..models.columns import Summary, read_column, read_moves
from ..models.registry import MODELS

if TYPE_CHECKING:
    from .pairs import Pair


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

    def contents(self) -> Sequence[object]:
        """What changes with any cell, for fingerprints."""
        return self.columns

    def marks(self, drawn: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """Of each row, the sum of what was drawn for its codes, column by column."""
        total, absent = np.zeros(self.n_rows, np.uint64), np.zeros(1, np.uint64)
        for kind, column, numbers in zip(self.kinds, self.columns, drawn, strict=True):
            if kind == PRESENT:
                # Every row has the mark of the 0, so that the same rows, dense, are marked alike.
                absent += numbers[:1]
                total[column] += (numbers[1:2] - numbers[:1])[0]
            else:
                total += numbers[column]
        return total + absent

    def statistics(self, rows: "CodedRows") -> list[Floats]:
        """Counts of some rows, column by column."""
        sets, count = rows.sets, rows.class_count
        found: list[Floats] = []
        two = self._counts_of_two(rows)
        seats = np.full(self.n_rows, -1)
        seats[rows.rows] = np.arange(rows.rows.size)
        for j, spec in enumerate(self.specs):
            if self.kinds[j] == TWO:
                found.append(next(two))
            elif self.kinds[j] == PRESENT:
                here = seats[self.columns[j]]
                here = here[here >= 0]
                ones = np.bincount(rows.labels[here], sets.weights[here], rows.n_classes)
                found.append(np.stack([count - ones, ones, np.zeros_like(ones)])[None])
            else:
                found.append(MODELS[spec.model].statistics(rows.codes(j), spec.n_codes, sets))
        return found

    def _counts_of_two(self, rows: "CodedRows") -> Iterator[Floats]:
        """The same of all columns of 0 and 1, some at a time."""
        by_class = np.zeros((rows.rows.size, rows.n_classes))
        by_class[np.arange(rows.rows.size), rows.labels] = rows.sets.weights
        columns = [self.columns[j] for j in np.flatnonzero(self.kinds == TWO).tolist()]
        for _, some in in_stacks(columns, self.n_rows):
            here = some if rows.everything else some[:, rows.rows]
            counts = np.zeros((len(some), 1, 3, rows.n_classes))
            counts[:, 0, 1] = here @ by_class
            counts[:, 0, 0] = rows.class_count - counts[:, 0, 1]
            yield from counts

    def coarse(self, rows: "CodedRows", grouped: Sequence[tuple[int, Ints]]) -> "CoarseColumns":
        """Some columns of some rows, their codes in groups: the last group is silent."""
        codes = [groups[rows.codes(j)].astype(np.uint8) for j, groups in grouped]
        return CoarseColumns(np.stack(codes), np.array([groups[-1] for _, groups in grouped]))

    def pair_counts(self, rows: "CodedRows", pairs: Sequence["Pair"]) -> list[Floats]:
        """Rows of each class in each cell of pairs: groups x groups x classes."""
        return [pair.counts(rows) for pair in pairs]

    def terms(self, pairs: Sequence["Pair"], threads: Threads) -> "CodedTerms":
        """The columns, and pairs of them, as terms that ledgers are made of."""
        return CodedTerms(self, tuple(pairs), threads)


@dataclass(frozen=True)
class CoarseColumns:
    """Codes in groups, columns x rows; of each column, which group is silent."""

    codes: NDArray[np.uint8]
    n_groups: Ints

    def informations(
        self, rows: "CodedRows", first: Ints, second: Ints, threads: Threads
    ) -> Floats:
        """What pairs of these columns tell of the classes of a problem."""
        from ..engine.kernels.interaction import informations

        out = np.empty(first.size)
        told = (rows.labels, rows.weights, rows.n_classes)

        def task(lo: int, hi: int) -> None:
            informations(self.codes, self.n_groups, *told, first, second, lo, hi, out)

        threads.run(task, first.size, first.size * self.codes.shape[1])
        return out


@dataclass(frozen=True)
class CodedTerms:
    """Columns, then pairs of them, as terms.

    Parameters
    ----------
    columns, pairs : what lines hold.
    threads : who runs the kernels.
    """

    columns: CodedColumns
    pairs: "tuple[Pair, ...]"
    threads: Threads

    @cached_property
    def _pair_codes(self) -> list[Array]:
        return [pair.codes(self.columns) for pair in self.pairs]

    def ledger(
        self,
        tables: TermTables,
        kinds: Ints,
        lone: Mapping[int, NDArray[np.bool_]],
        rows: "CodedRows",
        weights: Ints,
    ) -> WeightLedger:
        """Scores of rows by terms.

        Parameters
        ----------
        tables, kinds : what the terms say, and how lines hold them.
        lone : codes of some terms that read as the last one, which is silent.
        rows, weights : who is scored, and what each line counts.
        """
        columns = [*self.columns.columns, *self._pair_codes]
        for t, codes in lone.items():
            columns[t] = silenced(columns[t], codes, int(tables.n_codes[t]) - 1)
        lines = ScoredLines.sort(rows.labels, rows.n_classes, weights)
        cells = Cells.gather(kinds, columns, rows.rows[lines.rows], self.columns.n_rows)
        return WeightedLedger.build(tables, lines, cells, self.threads)


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
    if isinstance(table, FarTable):
        from .far_coded import FarCoded  # which knows coded columns

        return FarCoded.of(table, list(chosen))
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
        drawn = []
        for spec in self.columns.specs:
            parts = seed.randint(0, 2**32, (spec.n_codes, 2), dtype=np.uint64)
            drawn.append(parts[:, 0] << np.uint64(32) | parts[:, 1])
        return self.columns.marks(drawn)[self.rows]

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

    @property
    def class_count(self) -> Floats:
        """Weight of the rows of each class."""
        count = np.bincount(self.labels, self.sets.weights, self.n_classes)
        return count.astype(np.float64)

    @cached_property
    def summary(self) -> Summary:
        """Counts of every column."""
        statistics = tuple(self.columns.statistics(self))
        known = self.class_count, self.class_weight, self.columns.specs
        return Summary(self.classes, *known, statistics)
