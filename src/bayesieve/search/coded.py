"""Rows as codes: what weights are fitted on, whole or in folds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
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

#: Folds within the training rows that decide how to fit.
N_FOLDS = 3


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


def _draws(key: bytes, counts: Floats, ordered: bool) -> NDArray[np.uint64]:
    """A random number for each code of a column; none where all rows have the same.

    Parameters
    ----------
    key : of the draw.
    counts : rows of each class, codes x classes; the last code is that of missing values.
    ordered : the other codes ascend with a number.
    """
    places = np.arange(len(counts), dtype=np.uint64)
    if np.count_nonzero(counts.any(1)) < 2:
        return np.zeros_like(places)
    up, last = counts[:-1] + 0.0, (counts[-1] + 0.0).tobytes()
    content = up.tobytes()
    if ordered:
        down = up[::-1].tobytes()
        if down <= content:
            # A column that reads the same both ways cannot tell its ends apart.
            turned = places[:-1][::-1]
            places[:-1] = np.minimum(places[:-1], turned) if down == content else turned
            content = down
    start = int.from_bytes(blake2b(content + last, digest_size=8, key=key).digest(), "little")
    # Steele, Lea and Flood (2014): numbers that are spread by their golden gamma, then mixed.
    with np.errstate(over="ignore"):
        found = np.uint64(start) + (places + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))


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
    groups : number of each row's group; None: every row is independent.
    """

    columns: CodedColumns
    rows: Ints
    labels: Ints
    weights: Ints
    classes: Array
    class_weight: Floats
    groups: Ints | None = None

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def weighted(self, weights: Ints) -> "CodedRows":
        """The rows of positive weight, with other weights."""
        at = np.flatnonzero(weights > 0)
        groups = None if self.groups is None else self.groups[at]
        rows, labels = self.rows[at], self.labels[at]
        return replace(self, rows=rows, labels=labels, weights=weights[at], groups=groups)

    def marks(self, seed: np.random.RandomState) -> NDArray[np.uint64]:
        """A random number for each row; equal rows have equal ones.

        What a column draws hangs on its counts alone: not on where it stands, nor on other columns,
        nor on whether its numbers ascend or descend.
        """
        key = seed.bytes(16)
        specs, counts = self.columns.specs, [each[0] for each in self.summary.statistics]
        drawn = [_draws(key, each, spec.on_grid) for spec, each in zip(specs, counts, strict=True)]
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


def fold_weights(
    rows: CodedRows,
    strata: Ints,
    seed: np.random.RandomState,
    groups: Ints | None = None,
    n_folds: int = N_FOLDS,
) -> list[Ints]:
    """How often each row is held out in each fold, classes in balance; no fold is empty.

    Rows are dealt in an order that their values alone decide, a row of weight 3 as three rows: the
    order of the table does not matter, nor whether a row is repeated or weighted.

    Parameters
    ----------
    rows : as codes.
    strata : what the folds keep in balance.
    seed : draws the order.
    groups : rows of one number, from 0 on, are dealt together.
    n_folds : how many folds, or as many as there are groups.
    """
    if groups is not None:
        dealt_to = groups
        if groups.max() >= n_folds:
            dealt_to = _deal_groups(rows, strata, seed, groups, n_folds)[groups]
        return [np.where(dealt_to == g, rows.weights, 0) for g in np.unique(dealt_to).tolist()]
    order = np.lexsort((rows.marks(seed), strata))
    ends = np.cumsum(rows.weights[order])
    starts = ends - rows.weights[order]
    found = []
    for fold in range(n_folds):
        # Of the numbers from start to end, those that leave `fold` when divided by n_folds.
        dealt = (ends - fold + n_folds - 1) // n_folds - (starts - fold + n_folds - 1) // n_folds
        weights = np.empty_like(dealt)
        weights[order] = dealt
        found.append(weights)
    return [weights for weights in found if weights.any()]


def _deal_groups(
    rows: CodedRows, strata: Ints, seed: np.random.RandomState, groups: Ints, n_folds: int
) -> Ints:
    """The fold of each group: the largest first, each to where its classes are scarcest."""
    n_groups, n_strata = int(groups.max()) + 1, int(strata.max()) + 1
    counts = np.zeros((n_groups, n_strata), np.int64)
    np.add.at(counts, (groups, strata), rows.weights)
    marks = np.zeros(n_groups, np.uint64)
    np.add.at(marks, groups, rows.marks(seed) * rows.weights.astype(np.uint64))
    # In shares of a class, so that rare classes are spread as well as frequent ones.
    shares = counts / np.maximum(counts.sum(0), 1)
    held, found = np.zeros((n_folds, n_strata)), np.empty(n_groups, np.int64)
    for group in np.lexsort((marks, -counts.sum(1))).tolist():
        alike, full = np.round(held @ shares[group], 9), np.round(held.sum(1), 9)
        fold = int(np.lexsort((full, alike))[0])
        held[fold] += shares[group]
        found[group] = fold
    return found
