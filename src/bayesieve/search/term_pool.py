"""Candidate terms on coded rows: columns and pairs, their tables, and paths of weights on them."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import combinations
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..checks import Array
from ..data.columns import ColumnSpec
from ..data.sample import Sample
from ..data.storage import present
from ..data.tables import SparseTable
from ..engine.contract import Ledger
from ..engine.registry import RemoteTable
from ..engine.threads import Threads
from ..engine.weighted import (
    CODED,
    PRESENT,
    TWO,
    Cells,
    Folded,
    ScoredLines,
    TermTables,
    WeightedLedger,
    in_stacks,
    silenced,
)
from ..models.base import Floats, Ints, PairTerms, TrainingSets, cells, one_set
from ..models.columns import Summary, read_column, read_moves
from ..models.counts import check_priors, log_shares_of
from ..models.fitted import FittedBayes
from ..models.log_ratios import CONSTANT_STEPS, Ratios, column_ratios, pair_ratios, rising
from ..models.registry import MODELS
from .path import LOG_LOSS, Path, TermBook, TermPage, WeightState
from .run import Family
from .term_weights import Form, TermObjective, WeightedProblem, WeightRules, most_gain

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
        """Hash every row: sum the random numbers drawn for its codes, column by column."""
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
        """Counts by class of all binary columns, a block of columns at a time."""
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
        from ..engine.kernels.weighted import informations

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
    ) -> Ledger:
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


# A bit in the units in which they are added up; so few equal rows by chance explain none; numbers
# of so few values, which may be redundant, say nothing of chance.
_BIT, _BY_CHANCE, _FEW_VALUES = 1 << 20, 0.1, 20


def _bits(counts: Floats, class_count: Floats) -> NDArray[np.uint64]:
    """How many bits each code of a column takes in each class, in whole units."""
    with np.errstate(divide="ignore"):
        bits = -np.log2(counts.T / np.maximum(class_count, 1)[:, None])
    found: NDArray[np.uint64] = np.rint(np.clip(bits, 0, 1000) * _BIT).astype(np.uint64)
    return found


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
    if isinstance(table, RemoteTable):
        from .remote import RemoteColumns

        return RemoteColumns.of(table, list(chosen))
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

    def without_copies(self, kinds: Ints) -> Ints | None:
        """1 for one of the rows that are equal, 0 for its copies; None: too few rows have any.

        Rows that are equal by chance are no copies: chance is what numbers of many values say that
        know the class alone.  A table without such numbers has no copies.

        Parameters
        ----------
        kinds : what equal rows have in common beside their columns: classes, or all labels.
        """
        counts = [each[0] for each in self.summary.statistics]
        fine = [
            spec.on_grid and np.count_nonzero(each[:-1].any(1)) > _FEW_VALUES
            for spec, each in zip(self.columns.specs, counts, strict=True)
        ]
        if not any(fine):
            return None
        # Equal numbers mean equal rows, unlike marks: columns of the same counts differ here.
        draw = np.random.RandomState(0)
        sizes = [*map(len, counts), kinds.max(initial=0) + 1]
        *drawn, by_kind = (draw.randint(2**63, size=size, dtype=np.uint64) for size in sizes)
        told = self.columns.marks(drawn)[self.rows] + by_kind[kinds]
        _, first, which = np.unique(told, return_index=True, return_inverse=True)
        copied = np.bincount(which.ravel(), self.weights)[which.ravel()] > 1
        most = self.weights.sum() / 2
        if self.weights[copied].sum() <= most:
            return None
        bits = [
            _bits(each, self.class_count) if many else np.zeros(each.T.shape, np.uint64)
            for each, many in zip(counts, fine, strict=True)
        ]
        for k in range(self.n_classes):
            mine = self.labels == k
            # Sums of whole numbers do not hang on the order of columns.
            total = self.columns.marks([each[k] for each in bits])[self.rows[mine]].astype(float)
            copied[mine] &= self.class_count[k] * np.exp2(-total / _BIT) < _BY_CHANCE
        if self.weights[copied].sum() <= most:
            return None
        once = np.zeros_like(self.weights)
        once[first] = 1
        return once

    def once(self, weights: Ints) -> "CodedRows":
        """Rows with other weights, as `without_copies` finds them; classes keep their shares."""
        found, before = self.weighted(weights), self.class_count
        after = found.class_count
        shares = before * after.sum() / (after * before.sum())
        return replace(found, class_weight=self.class_weight * shares)

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
    wanted: int | None = None,
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
    wanted : of rows without groups, so many of the folds; None: all.
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
    for fold in range(wanted or n_folds):
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
    # Of equal groups, whose classes alone may differ, none comes first by where it stands.
    for group in np.lexsort((*counts.T, marks, -counts.sum(1))).tolist():
        alike, full = np.round(held @ shares[group], 9), np.round(held.sum(1), 9)
        fold = int(np.lexsort((full, alike))[0])
        held[fold] += shares[group]
        found[group] = fold
    return found


# -- Which pairs of columns are worth a look -------------------------------------------------------


#: Pairs are looked for among so many of the most informative columns,
MOST_COLUMNS = 100

#: in groups of numbers that are fewer than those of the terms themselves;
FEW_GROUPS = 5

#: pairs have at most so many cells: with a silent one, a byte holds them;
MOST_CELLS = 255

#: and so many of them are offered.
MOST_PAIRS = 60

#: Numbers in pairs fall into so many groups, or fewer beside a category of many levels.
GROUPS = 15

#: From more classes on, tables of pairs are too large to say anything.
MOST_CLASSES = 100


@dataclass(frozen=True)
class Pair:
    """Two columns, and the coarse code of each of their codes."""

    columns: tuple[int, int]
    groups: tuple[Ints, Ints]

    @property
    def n_cells(self) -> int:
        """Cells in which both columns speak."""
        return int(self.groups[0][-1] * self.groups[1][-1])

    def codes(self, columns: CodedColumns) -> NDArray[np.uint8]:
        """Codes of all rows of the table."""
        first, second = (columns.codes(j) for j in self.columns)
        return cells(self.groups, first, second).astype(np.uint8)

    def counts(self, rows: CodedRows) -> Floats:
        """Rows of each class in each cell: groups x groups x classes."""
        first, second = (rows.codes(j) for j in self.columns)
        at = cells(self.groups, first, second) * rows.n_classes + rows.labels
        size = (self.n_cells + 1) * rows.n_classes
        found = np.bincount(at, rows.weights, size).astype(np.float64)[: -rows.n_classes]
        return found.reshape(self.groups[0][-1], self.groups[1][-1], rows.n_classes)


def coarse(rows: CodedRows, j: int, n_groups: int) -> Ints:
    """Coarse code of each code of a column, without a look at the classes.

    Categories stay as they are; numbers fall into groups of about equally many rows.
    """
    spec = rows.columns.specs[j]
    if not spec.on_grid:
        return np.arange(spec.n_codes)
    seen = rows.summary.statistics[j][0, :-1].sum(1)
    below = np.cumsum(seen)
    total = below[-1] if below.size else 0.0
    # A code belongs to the group in which the first row beyond a cut lies.
    cuts = np.unique(np.searchsorted(below, total * np.arange(1, n_groups) / n_groups))
    cuts = cuts[cuts < seen.size - 1]
    groups = np.searchsorted(cuts, np.arange(seen.size))
    return np.append(groups, cuts.size + 1)


def find_pairs(
    problems: Sequence[CodedRows],
    allowed: Sequence[int],
    threads: Threads,
    asked: Sequence[tuple[int, int]] = (),
) -> list[Pair]:
    """Pairs that are worth a look, and those that somebody asks for.

    Parameters
    ----------
    problems : the same rows, with the classes of each problem.
    allowed : columns that may be in a pair.
    threads : who runs the kernels.
    asked : pairs that are offered whatever they tell.
    """
    found, rows = _telling_pairs(problems, allowed, threads), problems[0]
    found += [pair for pair in asked if pair not in set(found)]
    made: dict[tuple[int, int], Ints] = {}
    for pair in found:
        for key in zip(pair, n_groups(rows.columns, pair), strict=True):
            if key not in made:
                made[key] = coarse(rows, *key)
    keys = [list(zip(pair, n_groups(rows.columns, pair), strict=True)) for pair in found]
    return [
        Pair(pair, (made[one], made[two])) for pair, (one, two) in zip(found, keys, strict=True)
    ]


def n_groups(columns: CodedColumns, pair: tuple[int, int]) -> tuple[int, int]:
    """Groups of two columns: levels as they are, of numbers as many as a byte then holds."""
    specs = [columns.specs[j] for j in pair]
    levels = [1 if spec.on_grid else spec.n_codes - 1 for spec in specs]
    room = min(GROUPS, max(MOST_CELLS // max(*levels, 1), 2))
    first, second = (room if spec.on_grid else n for spec, n in zip(specs, levels, strict=True))
    return first, second


def _telling_pairs(
    problems: Sequence[CodedRows], allowed: Sequence[int], threads: Threads
) -> list[tuple[int, int]]:
    """The pairs of largest interaction information, over all problems together.

    I(ab; y) - I(a; y) - I(b; y), each less what chance would make of as many cells.  Where columns
    say much the same it is below 0, and their pair may still be worth a term.
    """
    rows = problems[0]
    if rows.n_classes > MOST_CLASSES:
        return []
    groups = {j: coarse(rows, j, FEW_GROUPS) for j in allowed}
    usable = [
        j for j in allowed if groups[j][-1] <= MOST_CELLS // 2 and _differs(rows, j, groups[j])
    ]
    if len(usable) < 2:
        return []
    sizes = np.array([groups[j][-1] for j in usable], np.int64)
    single = _alone(problems, usable, groups)
    order = np.argsort(-single, kind="stable")[:MOST_COLUMNS]
    found = [
        (a, b) for a, b in combinations(order.tolist(), 2) if sizes[a] * sizes[b] <= MOST_CELLS
    ]
    if not found:
        return []
    first, second = np.array(found, np.int64).T
    coarse_columns = rows.columns.coarse(rows, [(usable[at], groups[usable[at]]) for at in order])
    place = np.empty(len(usable), np.int64)
    place[order] = np.arange(order.size)
    both = np.zeros(first.size)
    for problem in problems:
        both += coarse_columns.informations(problem, place[first], place[second], threads)
    more = both - single[first] - single[second]
    best = np.argsort(-more, kind="stable")[:MOST_PAIRS].tolist()
    both_of = [sorted((usable[first[p]], usable[second[p]])) for p in best]
    return [(a, b) for a, b in both_of]


def _differs(rows: CodedRows, j: int, groups: Ints) -> bool:
    """Are two groups of a column seen?  With one, a pair is the other column under two names."""
    seen = groups[:-1][rows.summary.statistics[j][0, :-1].any(-1)]
    return bool(seen.size) and bool((seen != seen[0]).any())


def _alone(
    problems: Sequence[CodedRows], usable: Sequence[int], groups: Mapping[int, Ints]
) -> Floats:
    """Information of each column about the classes, from counts, summed over problems."""
    from ..engine.kernels.weighted import informations_of

    total, sizes = np.zeros(len(usable)), [int(groups[j][-1]) + 1 for j in usable]
    for rows in problems:
        ends = np.cumsum([0, *sizes]) * rows.n_classes
        counts, out = np.zeros((sum(sizes), rows.n_classes), np.int64), np.empty(len(usable))
        for j, first in zip(usable, np.cumsum([0, *sizes]).tolist(), strict=False):
            seen = rows.summary.statistics[j][0].astype(np.int64)
            np.add.at(counts, first + groups[j], seen)
        informations_of(counts.ravel(), ends, rows.n_classes, 0, len(usable), out)
        total += out
    return total


# -- One fit of weights ----------------------------------------------------------------------------


# Class weights that are no whole numbers count in units of a 4096th.
_CLASS_UNITS = 1 << 12

#: Rows that cannot be left out one by one are left out in so many folds, at most: whole groups, or
#: rows where a column's table has no closed form without one of them.
MOST_GROUP_FOLDS, ROW_FOLDS = 20, 10


#: The lower of the two prices that folds choose between; the other adds the log of the candidates.
LOW_PRICE = 1.0

#: Held-out groups vouch for a gain where chance alone gives it this often.
RISK = 0.04


def strict_price(candidates: int, grouped: bool = False) -> float:
    """So much that chance alone rarely pays it: 1 + log of the number of candidates.

    Where rows come in groups, nothing but the price keeps noise out: the luckiest of all candidates
    pays it once in twenty-five fits, at most.
    """
    n = max(candidates, 1)
    price = LOW_PRICE + math.log(n)
    return max(price, float(ndtri(RISK / n)) ** 2 / 2) if grouped else price


@dataclass(frozen=True)
class WeightPlan:
    """What does not depend on the rows.

    Parameters
    ----------
    smoothing : pseudo-count of every level.
    ridge : penalty on squared weights.
    pair_price : what a pair pays beyond a column, in nat.
    most : how many terms at most.
    units : columns that enter together.
    kept : units that are in from the start.
    start : terms with which a path begins, a column or a pair of columns each.
    corrections : may tables be corrected?
    freedom : of corrections and of lines, where somebody names it; None: folds decide.
    forbidden : columns that must not enter.
    monotone : columns whose evidence may only rise (1) or fall (-1).
    speaks : does it mean anything that a value is missing?
    told : hears of every step of every path: the number of terms, and the loss.
    """

    smoothing: float = 1.0
    ridge: float = 4.0
    pair_price: float = 2.0
    most: int = 60
    units: tuple[tuple[int, ...], ...] = ()
    kept: tuple[int, ...] = ()
    forbidden: frozenset[int] = frozenset()
    monotone: Mapping[int, int] = field(default_factory=dict)
    speaks: bool = False
    told: Callable[[int, float], None] | None = None
    start: tuple[tuple[int, ...], ...] = ()
    corrections: bool = False
    freedom: tuple[float, float] | None = None

    @property
    def start_pairs(self) -> list[tuple[int, int]]:
        """Pairs among the terms to start from."""
        return [(term[0], term[1]) for term in self.start if len(term) == 2]


class Weighing:
    """Terms of some rows, and the paths of weights on them.

    Parameters
    ----------
    problems : the same rows, with the classes of each problem; one, but for labels.
    plan : what to do.
    paired : are pairs of columns offered?
    threads : who runs the kernels.
    """

    def __init__(
        self,
        problems: Sequence[CodedRows],
        plan: WeightPlan,
        paired: bool,
        threads: Threads,
    ):
        self.problems, self.plan = tuple(problems), plan
        self._threads = threads
        self._forms: dict[tuple[int, int], Form | None] = {}
        self.singles = self._all_ratios()
        self.pairs: list[Pair] = []
        if paired:
            self.pairs = find_pairs(problems, self._paired(), threads, plan.start_pairs)
        self._counts = [rows.columns.pair_counts(rows, self.pairs) for rows in problems]
        self._pair_ratios = [
            [
                pair_ratios(counts, rows.summary, pair.columns)
                for counts, pair in zip(mine, self.pairs, strict=True)
            ]
            for rows, mine in zip(problems, self._counts, strict=True)
        ]

    def _paired(self) -> list[int]:
        """Columns that may be in a pair: not one of a group, which would enter without the rest."""
        plan = self.plan
        bound = {
            j
            for u, unit in enumerate(plan.units)
            if len(unit) > 1 and u not in plan.kept
            for j in unit
        }
        never = plan.forbidden | bound | set(plan.monotone)
        return [j for j in range(self.n_columns) if j not in never]

    @property
    def n_columns(self) -> int:
        """How many of the terms are columns: the first ones."""
        return len(self.problems[0].columns.specs)

    @property
    def n_candidates(self) -> int:
        """How many terms may enter."""
        return int(self._allowed.sum())

    def path(self, names: list[str]) -> Path:
        """An empty path of these terms, on columns of these names."""
        pairs = {self.n_columns + p: pair.columns for p, pair in enumerate(self.pairs)}
        return Path(self.units, names, LOG_LOSS, pairs=pairs)

    def book(self, steps: Sequence[WeightState], columns: Sequence[int]) -> TermBook:
        """All that models of these states say, without the rows; on these columns."""
        terms = sorted({term for step in steps for term in step.terms})
        paired = {t: self.pairs[t - self.n_columns] for t in terms if t >= self.n_columns}
        place = {j: at for at, j in enumerate(columns)}
        pages = []
        for g, rows in enumerate(self.problems):
            pairs = {}
            for t, pair in paired.items():
                counts = self._counts[g][t - self.n_columns]
                ratios = self._pair_ratios[g][t - self.n_columns].table[:-1].reshape(counts.shape)
                where = (place[pair.columns[0]], place[pair.columns[1]])
                nothing = np.zeros(rows.n_classes, np.int64)
                pairs[t] = PairTerms(where, pair.groups, counts, ratios, nothing)
            summary = rows.summary.restrict(columns)
            pages.append(TermPage(summary, [self.singles[g][j] for j in columns], pairs))
        plan = self.plan
        rising = tuple(sorted(plan.monotone.items()))
        return TermBook(tuple(columns), tuple(pages), plan.smoothing, plan.speaks, rising)

    # -- the path ------------------------------------------------------------------------------

    def greedy(self, price: float) -> TermObjective:
        """The path at this price, from its start."""
        first = self.problems[0]
        # What corrections promise is not judged by groups.
        late = self.plan.corrections and first.groups is None
        rules = WeightRules(
            self.plan.ridge,
            price,
            np.repeat([0.0, self.plan.pair_price], [self.n_columns, len(self.pairs)]),
            self.plan.most,
            self.units,
            self._allowed,
            self.plan.kept,
            self._start,
            float((first.weights * first.class_weight[first.labels]).sum()),
            _unit(first),
            len(self._folds) if first.groups is not None else 0,
            late=strict_price(self.n_candidates) if late else np.inf,
        )
        made = []
        for g, rows in enumerate(self.problems):
            most = np.inf if rows.groups is None else most_gain(rows.labels, rows.groups)
            mine = replace(rules, ceiling=most)
            problem = WeightedProblem(
                self._guide(g), self._constants(rows), mine, partial(self._form_of, g)
            )
            made.append(problem)
        return TermObjective(made, rules, self.plan.told)

    def _form_of(self, g: int, term: int) -> Form | None:
        """How the codes of a term lie, found once for all paths."""
        if (g, term) not in self._forms:
            self._forms[g, term] = self._form(g, term)
        return self._forms[g, term]

    def _form(self, g: int, term: int) -> Form | None:
        """How the codes of a term lie; None: it must rise or fall with its number as it is."""
        rows, columns = self.problems[g], [term]
        if term in self.plan.monotone:
            return None
        if term < self.n_columns:
            counts = rows.summary.statistics[term][0, :-1].sum(1)
        else:
            columns = list(self.pairs[term - self.n_columns].columns)
            counts = self._counts[g][term - self.n_columns].sum(2)
        return Form.of(tuple(columns), counts, [rows.columns.specs[j].on_grid for j in columns])

    def judge(self, held_out: Sequence[CodedRows]) -> "HeldOut":
        """Other rows, scored by the states of a path."""
        ledgers = [self._ledger(g, rows, left_out=False) for g, rows in enumerate(held_out)]
        return HeldOut(ledgers, _unit(held_out[0]))

    # -- folds ---------------------------------------------------------------------------------

    @cached_property
    def _is_folded(self) -> bool:
        """Are rows left out in folds?  Else one by one, in closed form."""
        rows = self.problems[0]
        models = {spec.model for spec in rows.columns.specs}
        exact = all(MODELS[model].leaves_one_out for model in models)
        return rows.groups is not None or not exact

    @cached_property
    def _folds(self) -> list[Ints]:
        """How often each row is held out in each fold."""
        rows = self.problems[0]
        labels = np.stack([each.labels for each in self.problems], axis=1)
        strata = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
        draw, groups, most = np.random.RandomState(0), None, ROW_FOLDS
        if rows.groups is not None:
            groups, most = np.unique(rows.groups, return_inverse=True)[1].ravel(), MOST_GROUP_FOLDS
        return fold_weights(rows, strata, draw, groups, most)

    def _guide(self, g: int) -> Ledger:
        """Scores of the rows of a problem by tables that have not seen them."""
        rows = self.problems[g]
        if not self._is_folded:
            return self._ledger(g, rows, left_out=True)
        found = []
        for held_out in self._folds:
            mine = rows.weighted(held_out)
            summary = rows.summary.without(mine.summary)
            seen = rows.columns.pair_counts(mine, self.pairs)
            pairs = [
                pair_ratios(counts - less, summary, pair.columns)
                for counts, less, pair in zip(self._counts[g], seen, self.pairs, strict=True)
            ]
            terms = [*self._ratios(summary, None), *pairs]
            found.append(self._ledger(g, mine, False, terms))
        return Folded(found)

    # -- terms ---------------------------------------------------------------------------------

    def _all_ratios(self) -> list[list[Ratios]]:
        """What the columns say in each problem."""
        found: dict[int, list[Ratios]] = {}

        def task(lo: int, hi: int) -> None:
            for g in range(lo, hi):
                rows = self.problems[g]
                # Where folds are scored, nobody asks what a row says without itself.
                found[g] = self._ratios(rows.summary, None if self._is_folded else rows.sets)

        self._threads.prepare(task, len(self.problems), 0)
        return [found[g] for g in range(len(self.problems))]

    def _ratios(self, summary: Summary, sets: TrainingSets | None) -> list[Ratios]:
        found = column_ratios(summary, self.plan.smoothing, sets, self.plan.speaks)
        shares = log_shares_of(summary.class_count * summary.class_weight)
        for j, sign in self.plan.monotone.items():
            found[j] = rising(found[j], summary.statistics[j][0], shares, sign)
        return found

    @cached_property
    def units(self) -> tuple[tuple[int, ...], ...]:
        """Terms that enter together."""
        units = self.plan.units or tuple((j,) for j in range(self.n_columns))
        return (*units, *((self.n_columns + p,) for p in range(len(self.pairs))))

    @property
    def _start(self) -> tuple[int, ...]:
        """The units with which a path begins."""
        unit_of: dict[tuple[int, ...], int] = {
            (term,): u for u, unit in enumerate(self.units) for term in unit
        }
        first = len(self.units) - len(self.pairs)
        unit_of.update({pair.columns: first + p for p, pair in enumerate(self.pairs)})
        return tuple(dict.fromkeys(unit_of[term] for term in self.plan.start))

    @cached_property
    def _allowed(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        every = [self._terms(g) for g in range(len(self.problems))]
        silent = [not any(each.table.any() for each in told) for told in zip(*every, strict=True)]
        forbidden, kept = self.plan.forbidden, set(self.plan.kept)
        return np.array(
            [
                not all(silent[t] for t in unit) and forbidden.isdisjoint(unit) and u not in kept
                for u, unit in enumerate(self.units)
            ],
            bool,
        )

    def _terms(self, g: int) -> list[Ratios]:
        return [*self.singles[g], *self._pair_ratios[g]]

    @cached_property
    def _read(self) -> CodedTerms:
        return self.problems[0].columns.terms(self.pairs, self._threads)

    def _constants(self, rows: CodedRows) -> Ints:
        shares = log_shares_of(rows.summary.class_count * rows.class_weight)
        return np.rint(shares * CONSTANT_STEPS).astype(np.int64)

    def _ledger(
        self, g: int, rows: CodedRows, left_out: bool, terms: Sequence[Ratios] | None = None
    ) -> Ledger:
        """Scores of rows by the terms of a problem, each row left out of its own tables or not.

        Other tables may stand in for those of the problem.
        """
        terms = self._terms(g) if terms is None else terms
        kinds = np.append(rows.columns.kinds, np.full(len(self.pairs), CODED))
        # The only row of its level would not know the level without itself.
        lone = {
            t: each.lone
            for t, each in enumerate(terms)
            if left_out and kinds[t] != PRESENT and each.lone.any()
        }
        kinds[list(lone)] = CODED
        n_codes = [
            2 if kind != CODED else each.table.shape[0]
            for kind, each in zip(kinds, terms, strict=True)
        ]
        tables = TermTables.of(terms, n_codes)
        if not left_out:
            tables = TermTables(
                tables.ratios, np.zeros_like(tables.own), tables.first, tables.n_codes
            )
        weights = rows.weights * _factors(rows)[rows.labels]
        return self._read.ledger(tables, kinds, lone, rows, weights)


class HeldOut:
    """Rows that did not train, and their loss under the states of a path.

    Parameters
    ----------
    ledgers : of each problem.
    shared : what a row of weight 1 counts in them.
    """

    def __init__(self, ledgers: Sequence[Ledger], shared: int):
        rules = WeightRules(0.0, 0.0, np.empty(0), 0, (), np.empty(0, bool), shared=shared)
        self._problems = [
            WeightedProblem(ledger, np.zeros(ledger.outline.n_classes, np.int64), rules)
            for ledger in ledgers
        ]

    def losses(self, steps: Iterable[WeightState]) -> Iterator[float]:
        """Log-loss of all rows after each step, in nat."""
        for step in steps:
            corrections = step.corrections or [None] * len(self._problems)
            for problem, weights, constants, added in zip(
                self._problems, step.weights, step.constants, corrections, strict=True
            ):
                problem.restore(step.terms, weights, constants, added)
            yield sum(problem.loss for problem in self._problems)


def _unit(rows: CodedRows) -> int:
    """What a row of weight 1 counts, so that class weights are whole numbers."""
    whole: bool = (rows.class_weight == np.rint(rows.class_weight)).all()
    return 1 if whole else _CLASS_UNITS


def _factors(rows: CodedRows) -> Ints:
    return np.maximum(np.rint(rows.class_weight * _unit(rows)), 1.0).astype(np.int64)


# -- Weights for columns that a search has chosen --------------------------------------------------


def reweigh(
    sample: Sample,
    models: Sequence[str],
    columns: Sequence[int],
    family: Family,
    class_weight: Floats,
    threads: Threads,
    mates: Ints | None = None,
) -> FittedBayes:
    """Weights for columns that somebody chose: all of them stay, and nothing else enters.

    Parameters
    ----------
    sample : the rows that are learnt from.
    models : the feature model of each column.
    columns : positions, in the order in which they come.
    family : of the models: smoothing and priors.
    class_weight : factor on the counts of each class.
    threads : who runs the kernels.
    mates : the number of each row's group; None where rows are independent.
    """
    order = list(columns)
    weighing = weighing_of(sample, models, order, family, class_weight, threads, mates)
    kept = list(range(len(order)))
    *_, last = weighing.greedy(0.0).walk()
    place = np.argsort(order).tolist()
    book = weighing.book([last], kept)
    priors = read_log_priors(family.priors, len(sample.classes))
    found = tuple(book.fitted(last, g, place, priors) for g in range(len(weighing.problems)))
    return FittedBayes(found, tuple(sample.targets.names) if sample.targets.labelled else ())


def weighing_of(
    sample: Sample,
    models: Sequence[str],
    columns: Sequence[int],
    family: Family,
    class_weight: Floats,
    threads: Threads,
    mates: Ints | None,
    rows: Ints | None = None,
) -> Weighing:
    """The terms of some columns, all of which are in from the start; as in `reweigh`.

    Parameters
    ----------
    sample, models, columns : the table, its feature models, and the columns.
    family, class_weight : smoothing, and what a row of each class counts.
    threads : who counts.
    mates : the number of each row's group, or None.
    rows : these alone; None: all.
    """
    coded, every = read_coded(sample, models, list(columns)), np.arange(sample.labels.size)
    weights = sample.weights.astype(np.int64)
    problems = [
        CodedRows(coded, every, labels, weights, sample.classes, class_weight, mates)
        for labels in np.ascontiguousarray(sample.targets.classes.T)
    ]
    if rows is not None and rows.size < every.size:
        chosen = np.where(np.isin(every, rows), weights, 0)
        problems = [each.weighted(chosen) for each in problems]
    kept, pseudo = tuple(range(len(columns))), float(cast(float, family.smoothing))
    units = tuple((j,) for j in kept)
    plan = WeightPlan(pseudo, most=len(kept), units=units, kept=kept)
    return Weighing(problems, plan, False, threads)


def check_tables(models: Sequence[str], names: Sequence[str]) -> None:
    """Refuse columns without a table of counts, which weighted terms need."""
    for name, model in zip(names, models, strict=True):
        if not MODELS[model].discrete:
            # Models with a number behind them are kinds of the one without.
            known = [k for k, found in MODELS.items() if found.discrete and not k[-1].isdigit()]
            raise ValueError(
                f"column {name!r} is modelled as {model!r}, which has no table of counts; weighted "
                f"terms need one of {', '.join(map(repr, known))}."
            )


def read_log_priors(given: object, n_classes: int) -> tuple[float, ...] | None:
    """Validate priors: one probability above 0 a class; None: those of the rows."""
    priors = check_priors(given, n_classes)
    if priors is None:
        return None
    shares = np.full(n_classes, 1 / n_classes) if isinstance(priors, str) else priors
    if not (shares > 0).all():
        raise ValueError(f"priors must be above 0 here; got {shares.tolist()}.")
    return tuple(shares.tolist())
