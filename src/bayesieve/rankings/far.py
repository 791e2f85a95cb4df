"""Rankings of columns that others hold: counts travel, and the codes of columns that are taken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..checks import Foreign, check_number
from ..data.collection import read_collection
from ..data.columns import MOST_CODES, ColumnSpec
from ..engine.far.cluster import DaskEngine
from ..engine.far.reading import far_sample
from ..engine.far.rows import FarRows
from ..engine.far.table import FarTable
from ..engine.threads import Threads
from ..models.base import TrainingSets
from ..models.columns import choose_models
from ..models.registry import MODELS
from .base import DiscreteColumns, Ranking, RankingMethod, check_apart
from .greedy import LazyRanking, rest_after
from .information import ChiSquare, MutualInformation, information_with
from .pairs import MIFS, MRMR

#: Rankings that need nothing but counts of two columns, or of two and the class.
DIVISIBLE = (MutualInformation, ChiSquare, MRMR, MIFS, LazyRanking)


@dataclass(frozen=True)
class FarColumns(DiscreteColumns):
    """Codes that others hold.

    Parameters
    ----------
    held : whoever holds them.
    rows : the rows to look at, ascending.
    """

    held: FarRows | None = None
    rows: NDArray[np.int64] | None = None

    def column(self, j: int) -> NDArray[np.uint8]:
        """Codes of one column, which come here."""
        assert self.held is not None
        return self.held.codes(j)[self.rows].astype(np.uint8)

    def tables(self, other: NDArray[np.int64], n_other: int) -> Iterator[NDArray[np.float64]]:
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


def far_columns(
    table: FarTable,
    models: Sequence[str],
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_classes: int,
    refuse: bool = True,
) -> FarColumns:
    """Columns as rankings read them; numbers are cut by minimum description length.

    Parameters
    ----------
    table, models : all columns.
    rows, labels, weights : the rows to look at, ascending, with class and weight.
    refuse : columns of too many levels; else they keep their number of levels.
    """
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
        raise ValueError(
            f"column {table.names[j]!r} has {n_levels[j]} levels, but this ranking counts: at most "
            f"{MOST_CODES} are allowed. Join rare levels first."
        )
    held = table.given.hold(specs) if numbers else table.held
    return FarColumns(np.empty((0, 0), np.uint8), n_levels, weights, held=held, rows=rows)


def check_divisible(method: RankingMethod) -> None:
    """Refuse rankings that read rows."""
    if not isinstance(method, DIVISIBLE):
        raise ValueError(
            f"the ranking {type(method).__name__} is not offered on a Dask collection; use "
            "'mutual-information', 'chi2', 'mrmr', 'mifs', 'cmim', 'icap', 'jmim' or 'njmim'."
        )


def rank_far(
    method: RankingMethod,
    columns: FarColumns,
    labels: NDArray[np.int64],
    n_classes: int,
    n_features: int,
) -> Ranking:
    """The ranking that all rows in one place would give."""
    if not isinstance(method, LazyRanking):
        return method.rank(columns, labels, n_classes, Threads(), n_features)
    return _lazy(method, columns, labels, n_classes, n_features)


def _lazy(
    method: LazyRanking,
    columns: FarColumns,
    labels: NDArray[np.int64],
    n_classes: int,
    n_features: int,
) -> Ranking:
    """One round for each column taken; which values count is decided as lazily as elsewhere."""
    from .kernels.kinds import REPEATED

    worth = information_with(columns, labels, n_classes, Threads())
    taken, seen = np.zeros(worth.size, bool), np.zeros(worth.size, np.int64)
    order: list[int] = []
    values: list[NDArray[np.float64]] = []
    n_wanted = min(n_features, worth.size)
    if method.starts_anew:
        order.append(int(np.argmax(worth)))
        taken[order[0]] = True
        if n_wanted > 1:
            worth[~taken] = np.inf
    while len(order) < n_wanted:
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


def _values(
    kind: int, columns: FarColumns, taken: int, labels: NDArray[np.int64], n_classes: int
) -> NDArray[np.float64]:
    """What every column says together with one taken and the class."""
    from .kernels.tables import of_three

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
    """Rank the columns of a Dask collection.

    Parameters
    ----------
    X, y : as users give them.
    method : one of those that counts are enough for.
    n_features : how many a greedy method ranks with care; 0: all.
    """
    check_divisible(method)
    collection = read_collection(X, y)
    if n_features:
        check_number("n_features", n_features, low=1, high=len(collection.names), whole=True)
    with DaskEngine().cluster() as cluster:
        models = choose_models
        sample = far_sample(
            cluster, collection, BaseEstimator(), lambda table: models("auto", table), y
        )
        table = sample.table
        assert isinstance(table, FarTable)
        every, n_classes = np.arange(sample.labels.size), int(sample.labels.max()) + 1
        check_apart(n_classes)
        known = table.known.models
        columns = far_columns(table, known, every, sample.labels, sample.weights, n_classes)
        most = n_features or len(table.names)
        found = rank_far(method, columns, sample.labels, n_classes, most)
    return replace(found, names=tuple(table.names))
