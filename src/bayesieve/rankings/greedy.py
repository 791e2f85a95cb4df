"""Rankings that take one column after the other, by what it adds to those already taken.

All start with the column that tells most about the class.  `SummedRanking` adds up something over
the columns taken: each new one costs one pass over all the others.  `LazyRanking` is for worths
that can only fall as more is taken: a column that stands too low already is not looked at.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.storage import pack_bits
from ..engine.threads import Engine
from .base import DiscreteColumns, Planes, Ranking, RankingMethod, by_score
from .information import information_with

if TYPE_CHECKING:  # compiled on first use
    from .kernels.triples import CountArrays


# Cells to count for one column taken that are not worth a hand-over to other threads.
_FEW = 100_000


@dataclass(frozen=True)
class Counts:
    """Counts of columns, of pairs of them, and of pairs and the class."""

    columns: DiscreteColumns
    labels: NDArray[np.int64]
    n_classes: int
    engine: Engine

    @cached_property
    def arrays(self) -> "CountArrays":
        """What the kernels count on."""
        from .kernels.triples import CountArrays, ones_in_classes

        columns, packed = self.columns, self.columns.planes
        levels = np.stack([self.labels == level for level in range(self.n_classes)])
        masks = pack_bits(levels)
        nothing = np.empty(0, np.int64)
        planes = packed or Planes(np.empty((0, masks.shape[1]), np.uint64), nothing, nothing)
        ones = np.empty((len(planes.bits), self.n_classes), np.int64)

        def task(lo: int, hi: int) -> None:
            ones_in_classes(planes.bits, masks, lo, hi, ones)

        self.engine.run(task, len(ones), planes.bits.size * self.n_classes)
        return CountArrays(
            packed is not None,
            *planes,
            ones,
            masks,
            levels.sum(1),
            columns.codes,
            columns.n_levels,
            self.labels,
            columns.weights,
        )

    @property
    def cells(self) -> int:
        """What it costs to count two columns with the class, about."""
        planes, n_rows = self.columns.planes, self.labels.size
        if planes is None:
            return n_rows
        mean = len(planes.bits) / self.columns.n_columns
        return max(1, min(n_rows, int(mean * mean * planes.bits.shape[1] * self.n_classes)))

    def pairs(self, taken: int) -> NDArray[np.float64]:
        """I(column; taken) of every column."""
        n_levels = int(self.columns.n_levels[taken])
        return information_with(self.columns, self.columns.column(taken), n_levels, self.engine)

    def triples(self, kind: int, taken: int, left: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What every column left says together with `taken` and the class; 0 for the others."""
        from .kernels.triples import values_with

        arrays = self.arrays
        out = np.zeros(left.size)

        def task(lo: int, hi: int) -> None:
            values_with(kind, arrays, taken, left, lo, hi, out)

        self.engine.run(task, left.size, int(left.sum()) * self.cells)
        return out


class SummedRanking(RankingMethod):
    """The next column has the highest worth, which is made of a sum over the columns taken."""

    def terms(self, counts: Counts, taken: int, left: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What each column left adds to its sum when `taken` is; anything for the others."""
        raise NotImplementedError

    def worth(
        self, relevance: NDArray[np.float64], total: NDArray[np.float64], n_taken: int
    ) -> NDArray[np.float64]:
        """From I(column; class) and the sum over `n_taken` columns; the sum by default."""
        return total

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Engine,
        n_features: int,
    ) -> Ranking:
        """The first `n_features` columns greedily, then the others as they are worth then."""
        counts = Counts(columns, labels, n_classes, engine)
        worth = relevance = information_with(columns, labels, n_classes, engine)
        total = np.zeros(columns.n_columns)
        left = np.ones(columns.n_columns, bool)
        scores = np.full(columns.n_columns, -np.inf)
        order: list[int] = []
        for _ in range(min(n_features, columns.n_columns)):
            best = int(np.argmax(np.where(left, worth, -np.inf)))
            order.append(best)
            scores[best] = worth[best]
            left[best] = False
            if len(order) < columns.n_columns:
                total += self.terms(counts, best, left)
                worth = self.worth(relevance, total, len(order))
        return rest_after(np.array(order, np.int64), scores, worth)


class LazyRanking(RankingMethod):
    """The next column has the highest worth, which falls with every column taken."""

    #: What the kernels compute of a column, a column taken and the class.
    kind: ClassVar[int]
    #: Does the information of a column alone count only for the first?
    starts_anew: ClassVar[bool] = False

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Engine,
        n_features: int,
    ) -> Ranking:
        """The first `n_features` columns greedily, then the others as last looked at."""
        from .kernels.triples import AHEAD, LookArrays, look_ahead, settle

        counts = Counts(columns, labels, n_classes, engine)
        arrays = counts.arrays  # threads are used to make them: not within a task
        n_columns = columns.n_columns
        worth = information_with(columns, labels, n_classes, engine)
        looks = LookArrays(
            worth=worth,
            seen=np.zeros(n_columns, np.int64),
            bound=worth.copy(),
            known=np.zeros(n_columns, np.int64),
            values=np.empty((n_columns, AHEAD)),
            taken=np.zeros(n_columns, bool),
            order=np.empty(min(n_features, n_columns), np.int64),
        )
        n_taken, n_wanted = 0, looks.order.size
        if self.starts_anew:
            looks.order[0] = np.argmax(worth)
            looks.taken[looks.order[0]] = True
            n_taken = 1
        if self.starts_anew and n_wanted > 1:
            looks.worth[~looks.taken] = looks.bound[:] = np.inf

        def task(lo: int, hi: int) -> None:
            look_ahead(self.kind, arrays, looks, n_taken, best, lo, hi)

        while n_taken < n_wanted:
            best = np.array([-np.inf])
            engine.run(task, n_columns, n_columns * counts.cells)
            n_taken = settle(self.kind, arrays, looks, n_taken, _FEW // counts.cells)
        scores = np.where(looks.taken, looks.worth, -np.inf)
        return rest_after(looks.order, scores, looks.worth)


def rest_after(
    order: NDArray[np.int64], scores: NDArray[np.float64], worth: NDArray[np.float64]
) -> Ranking:
    """The columns taken, then the others by what they are worth."""
    left = np.ones(worth.size, bool)
    left[order] = False
    rest = by_score(np.where(left, worth, -np.inf))[: left.sum()]
    return Ranking(np.concatenate([order, rest]), scores)
