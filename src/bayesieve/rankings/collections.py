"""Rankings and families on Dask collections, from counts of the workers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from sklearn.base import BaseEstimator

from ..checks import Bytes, Floats, Foreign, check_number
from ..data.collection import read_collection
from ..data.columns import MOST_CODES, ColumnSpec
from ..data.kernels.options import REPEATED
from ..engine.contract import Ints
from ..engine.registry import (
    Meanings,
    RemoteDifferences,
    RemoteRows,
    RemoteTable,
    remote_engine,
    remote_sample,
)
from ..engine.threads import Threads
from ..models.base import TrainingSets
from ..models.columns import choose_models
from ..models.registry import MODELS
from .base import (
    DiscreteColumns,
    LabelledRows,
    Ranking,
    RankingMethod,
    check_classes_differ,
    level_error,
)
from .families import (
    MISSING,
    PARTS,
    PLACE,
    REACH,
    TEXT,
    WHOLE,
    Families,
    Nearness,
    ranks_of,
)
from .greedy import MIFS, MRMR, LazyRanking, rest_after
from .information import ChiSquare, MutualInformation, information_with

#: Rankings that need nothing but counts of two columns, or of two and the class.
DIVISIBLE = (MutualInformation, ChiSquare, MRMR, MIFS, LazyRanking)


@dataclass(frozen=True)
class RemoteCodes(DiscreteColumns):
    """Codes that others hold."""

    held: RemoteRows | None = None  #: whoever holds them
    rows: Ints | None = None  #: the rows to look at, ascending

    def column(self, j: int) -> Bytes:
        """Codes of one column, which come here."""
        assert self.held is not None
        return self.held.codes(j)[self.rows].astype(np.uint8)

    def tables(self, other: Ints, n_other: int) -> Iterator[Floats]:
        """Counts of each column's levels by the codes of another, from one round."""
        assert self.held is not None
        assert self.rows is not None
        known = np.flatnonzero(other < n_other)
        sets = TrainingSets(
            other[known].astype(np.int64),
            self.weights[known],
            (np.empty(0, np.int64),),
            np.ones(n_other),
        )
        for counts in self.held.count(sets, self.rows[known]):
            yield counts[0, :-1] if counts.shape[1] > 1 else np.zeros((1, n_other))


def remote_columns(
    table: RemoteTable, models: Sequence[str], given: LabelledRows, refuse: bool = True
) -> RemoteCodes:
    """Columns as rankings read them; numbers are cut by minimum description length.

    Columns of too many levels are refused; else they keep their number of levels.
    """
    rows, labels, weights, n_classes = given
    if (weights != np.rint(weights)).any():
        raise ValueError(
            "class_weight and a ranking do not go together on a Dask collection: sums of weights "
            "that are no whole numbers depend on the order of the rows. Use a search without one."
        )
    assert table.given is not None
    specs: list[ColumnSpec] = list(table.held.specs)
    numbers = [j for j, model in enumerate(models) if not MODELS[model].nominal]
    if numbers:
        cuts = table.given.cut(numbers, rows, labels, weights, n_classes)
        for j, found in zip(numbers, cuts, strict=True):
            levels = np.arange(found.size + 1, dtype=np.float64)
            specs[j] = ColumnSpec(table.names[j], models[j], levels=levels, cuts=found)
    n_levels = np.array([max(spec.n_codes - 1, 1) for spec in specs])
    if refuse and (n_levels > MOST_CODES).any():
        j = int(np.argmax(n_levels > MOST_CODES))
        raise level_error(table.names[j], n_levels[j])
    held = table.given.hold(specs) if numbers else table.held
    return RemoteCodes(np.empty((0, 0), np.uint8), n_levels, weights, held=held, rows=rows)


def check_divisible(method: RankingMethod) -> None:
    """Refuse rankings that read rows."""
    if not isinstance(method, DIVISIBLE):
        raise ValueError(
            f"the ranking {type(method).__name__} is not offered on a Dask collection; use "
            "'mutual-information', 'chi2', 'mrmr', 'mifs', 'cmim', 'icap', 'jmim' or 'njmim'."
        )


def rank_remote(
    method: RankingMethod, columns: RemoteCodes, labels: Ints, n_classes: int, n_features: int
) -> Ranking:
    """The ranking that all rows in one place would give."""
    if not isinstance(method, LazyRanking):
        return method.rank(columns, labels, n_classes, Threads(), n_features)
    # One round for each column taken; which values count is decided as lazily as elsewhere.
    worth = information_with(columns, labels, n_classes, Threads())
    taken, seen = np.zeros(worth.size, bool), np.zeros(worth.size, np.int64)
    order: list[int] = []
    values: list[Floats] = []
    n_ranked = min(n_features, worth.size)
    if method.first_alone:
        order.append(int(np.argmax(worth)))
        taken[order[0]] = True
        if n_ranked > 1:
            worth[~taken] = np.inf
    while len(order) < n_ranked:
        if len(values) < len(order):
            values.append(_values(method.kind, columns, order[-1], labels, n_classes))
        best, at = -np.inf, -1
        for j in np.flatnonzero(~taken).tolist():
            while worth[j] > best and seen[j] < len(order):
                value = values[seen[j]][j]
                worth[j] = worth[j] - value if method.kind == REPEATED else min(worth[j], value)
                seen[j] += 1
            if worth[j] > best:
                best, at = worth[j], j
        taken[at] = True
        order.append(at)
    scores = np.where(taken, worth, -np.inf)
    return rest_after(np.array(order, np.int64), scores, worth)


def _values(kind: int, columns: RemoteCodes, taken: int, labels: Ints, n_classes: int) -> Floats:
    """What every column says together with one taken and the class."""
    from .kernels.counts import of_three

    n_levels = int(columns.n_levels[taken])
    codes = columns.column(taken).astype(np.int64)
    both = np.where(codes < n_levels, codes * n_classes + labels, n_levels * n_classes)
    found = []
    for joint in columns.tables(both, n_levels * n_classes):
        mine = joint.shape[0]
        turned = joint.reshape(mine, n_levels, n_classes).transpose(1, 0, 2)
        cells = np.ascontiguousarray(turned).reshape(-1, n_classes)
        found.append(of_three(kind, cells, np.empty((mine, n_classes)), np.empty(n_classes)))
    return np.array(found)


def rank_collection(X: Foreign, y: object, method: RankingMethod, n_features: int) -> Ranking:
    """Rank the columns of a Dask collection; `n_features`, by greedy methods, are 0 for all."""
    check_divisible(method)
    collection = read_collection(X, y)
    if n_features:
        check_number("n_features", n_features, low=1, high=len(collection.names), whole=True)
    with remote_engine().cluster() as cluster:
        choose = partial(choose_models, "auto")
        sample = remote_sample(cluster, collection, BaseEstimator(), choose, y)
        table = sample.table
        assert isinstance(table, RemoteTable)
        every, n_classes = np.arange(sample.labels.size), int(sample.labels.max()) + 1
        check_classes_differ(n_classes)
        rows = LabelledRows(every, sample.labels, sample.weights, n_classes)
        columns = remote_columns(table, table.known.models, rows)
        most = n_features or len(table.names)
        found = rank_remote(method, columns, sample.labels, n_classes, most)
    return replace(found, names=tuple(table.names))


# -- Families of columns that others hold ----------------------------------------------------------


# Columns that are compared with all leaders at once.
_BLOCK = 64


def find_remote_families(
    table: RemoteTable, alone: Sequence[int], first: Sequence[int], nearness: Nearness
) -> Families:
    """Near-twins among some columns of a collection; the same as of its rows in memory.

    Only the columns `alone` are compared; those of them that are `first` may lead before all
    others.
    """
    assert table.given is not None
    held = table.given.hold(table.given.comparable(MISSING, PARTS))  # values, or parts of columns
    columns = _Compared(held, tuple(alone))
    most, rare = nearness.most(held.n_rows), nearness.rare
    reach = np.where(columns.kinds == PLACE, REACH, 0)
    twins = RemoteDifferences(held, columns.meanings, reach, most)
    departures = twins.departures()
    leader = np.arange(len(table.names))
    leaders: list[int] = []
    order = list(dict.fromkeys([*first, *alone]))
    for at in range(0, len(order), _BLOCK):
        block = order[at : at + _BLOCK]
        near = [
            (j, i)
            for n, j in enumerate(block)
            for i in columns.near(j, [*leaders, *block[:n]], departures, most)
        ]
        first_of, second_of = np.array(near, np.int64).reshape(-1, 2).T
        found = twins.compare(first_of, second_of)
        agree = found.apart <= most
        agree &= rare.denominator * found.both <= rare.numerator * found.departing
        known = {pair for pair, twin in zip(near, agree.tolist(), strict=True) if twin}
        for j in block:
            leader[j] = next((i for i in leaders if (j, i) in known), j)
            if leader[j] == j:
                leaders.append(j)
    return Families(tuple(table.names), leader)


@dataclass(frozen=True)
class _Compared:
    """What the codes of columns mean, and how many rows have each."""

    held: RemoteRows  #: whoever holds the rows
    alone: tuple[int, ...]  #: columns that are compared

    @cached_property
    def kinds(self) -> Ints:
        """Columns of different kinds never agree."""
        return np.array([_kind(spec) for spec in self.held.specs])

    @cached_property
    def meanings(self) -> Meanings:
        """Numbers that are the same for equal values of different columns."""
        texts = self._texts()
        numbers = [
            _numbers(spec, texts, counts)
            for spec, counts in zip(self.held.specs, self.held.totals, strict=True)
        ]
        # The lowest of equally frequent ones.
        usual = [
            int(mine[np.lexsort((mine, -counts))[0]])
            for mine, counts in zip(numbers, self.held.totals, strict=True)
        ]
        starts = np.cumsum([0, *(mine.size for mine in numbers)])
        return Meanings(starts, np.concatenate(numbers), np.array(usual, np.int64))

    def near(self, j: int, others: Sequence[int], departures: Ints, most: int) -> list[int]:
        """Columns that may be twins of another, by how many rows of each slice depart."""
        found = np.array([i for i in others if self.kinds[i] == self.kinds[j]], np.int64)
        if self.kinds[j] == PLACE:  # ranks may agree wherever they depart
            return [int(i) for i in found]
        alike = self.meanings.usual[found] == self.meanings.usual[j]
        apart = np.abs(departures[found] - departures[j]).sum(1)
        # Where usual values differ, nearly all rows depart.
        together = departures[found].sum(1) + departures[j].sum()
        may = np.where(alike, apart <= most, together >= self.held.n_rows - most)
        return [int(i) for i in found[may]]

    def _texts(self) -> dict[str, int]:
        """Texts of all columns, numbered from 1 as they appear column by column, row by row."""
        spoken = [j for j in self.alone if self.kinds[j] == TEXT]
        # The order tells only where several texts of a column are the most frequent ones.
        ties = any((self.held.totals[j] == self.held.totals[j].max()).sum() > 1 for j in spoken)
        found: dict[str, int] = {}
        for j in spoken:
            levels = np.asarray(self.held.specs[j].levels)
            order = np.arange(levels.size)
            if ties:
                seen, rows = np.unique(self.held.codes(j), return_index=True)
                order = seen[np.argsort(rows)]
            for code in order[order < levels.size].tolist():
                found.setdefault(str(levels[code]), len(found) + 1)
        return found


def _kind(spec: ColumnSpec) -> int:
    if spec.cuts is not None:
        return PLACE
    return TEXT if np.asarray(spec.levels).dtype == object else WHOLE


def _numbers(spec: ColumnSpec, texts: dict[str, int], counts: Floats) -> Ints:
    """A number for each code of a column: its text, its rank or its value; missing at the end."""
    levels = np.asarray(spec.levels)
    if _kind(spec) == TEXT:
        return np.array([*(texts.get(str(text), 0) for text in levels), 0], np.int64)
    if _kind(spec) == PLACE:
        return ranks_of(np.asarray(counts).astype(np.int64))
    return np.append(levels, MISSING).astype(np.int64)
