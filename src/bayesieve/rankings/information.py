"""Rankings by counts: information, chi-square, mRMR (Peng 2005) and CMIM (Fleuret 2004)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import choose
from ..data.kernels.options import CHI2, INFORMATION
from .base import DiscreteColumns, Ranking, RankingMethod, by_score, pack


@dataclass(frozen=True)
class MutualInformation(RankingMethod):
    """Rank by I(column; class), the plug-in estimate from counts, in nat.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import MutualInformation
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, MutualInformation()).order
    array([1, 2, 0])
    """

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Any,
        n_features: int,
    ) -> Ranking:
        """All columns by their information about the class."""
        return Ranking.by_score(information_with(columns, labels, n_classes, engine))


@dataclass(frozen=True)
class ChiSquare(RankingMethod):
    """Rank by Pearson's chi-square of column and class: the statistic, not its p-value.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import ChiSquare
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, ChiSquare()).order
    array([1, 2, 0])
    """

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Any,
        n_features: int,
    ) -> Ranking:
        """All columns by their chi-square with the class."""
        return Ranking.by_score(association_with(CHI2, columns, labels, n_classes, engine))


@dataclass(frozen=True)
class MRMR(RankingMethod):
    """Rank greedily by relevance against redundancy (Peng 2005).

    The next column has the largest I(column; class) less (``"difference"``), or divided by
    (``"quotient"``), the mean of its information about the columns already taken.

    Parameters
    ----------
    form : {"difference", "quotient"}, default="difference"

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import MRMR
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, MRMR("quotient")).order
    array([1, 2, 0])
    """

    form: str = "difference"

    def check(self) -> None:
        """Judge the parameter."""
        choose("form", self.form, ["difference", "quotient"])

    @property
    def sorts_by_score(self) -> bool:
        """A column may be worth more when it is taken than the one before it was."""
        return False

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Any,
        n_features: int,
    ) -> Ranking:
        """The first `n_features` columns greedily, then the others as they are worth then."""
        relevance = information_with(columns, labels, n_classes, engine)
        redundancy = np.zeros(columns.n_columns)
        left = np.ones(columns.n_columns, bool)
        scores = np.full(columns.n_columns, -np.inf)
        order: list[int] = []
        worth = relevance
        for _ in range(min(n_features, columns.n_columns)):
            best = int(np.argmax(np.where(left, worth, -np.inf)))
            order.append(best)
            scores[best] = worth[best]
            left[best] = False
            if len(order) < columns.n_columns:
                redundancy += information_with(
                    columns, columns.column(best), int(columns.n_levels[best]), engine
                )
                worth = self._worth(relevance, redundancy / len(order))
        rest = by_score(np.where(left, worth, -np.inf))[: left.sum()]
        return Ranking(np.concatenate([np.array(order, np.int64), rest]), scores)

    def _worth(
        self, relevance: NDArray[np.float64], redundancy: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.form == "difference":
            return relevance - redundancy
        # What repeats nothing is worth more than anything else; what says nothing, nothing.
        safe = np.maximum(redundancy, np.finfo(float).tiny)
        return np.where(relevance > 0, relevance / safe, 0.0)


@dataclass(frozen=True)
class CMIM(RankingMethod):
    """Rank by conditional mutual information, maximised (Fleuret 2004).

    The next column is the one whose smallest value among I(class; column) and I(class; column |
    taken), over all columns taken, is the largest; evaluated lazily, as in Fleuret's own code.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import CMIM
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, CMIM()).order
    array([1, 0, 2])
    """

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Any,
        n_features: int,
    ) -> Ranking:
        """The first `n_features` columns greedily, then the others as they are worth then."""
        from .kernels.information import conditional_greedy

        worth = information_with(columns, labels, n_classes, engine)
        order = np.empty(min(n_features, columns.n_columns), np.int64)
        packed = columns.packed
        levels = np.stack([labels == level for level in range(n_classes)])
        conditional_greedy(
            packed is not None,
            np.empty((0, 0), np.uint64) if packed is None else packed,
            pack(levels.astype(np.uint8)),
            levels.sum(1),
            columns.codes,
            columns.n_levels,
            labels,
            n_classes,
            columns.weights,
            worth,
            order,
        )
        left = np.ones(worth.size, bool)
        left[order] = False
        scores = np.where(left, -np.inf, worth)
        rest = by_score(np.where(left, worth, -np.inf))[: left.sum()]
        return Ranking(np.concatenate([order, rest]), scores)


def information_with(
    columns: DiscreteColumns, other: NDArray[Any], n_other: int, engine: Any
) -> NDArray[np.float64]:
    """I(column; other) of every column; `other` holds codes."""
    return association_with(INFORMATION, columns, other, n_other, engine)


def association_with(
    kind: int, columns: DiscreteColumns, other: NDArray[Any], n_other: int, engine: Any
) -> NDArray[np.float64]:
    """How every column goes with the codes of another, by the kernels' measure `kind`."""
    from .kernels.information import associate_bits, associate_codes

    out = np.empty(columns.n_columns)
    packed = columns.packed
    if packed is not None:
        levels = np.stack([other == level for level in range(n_other)])
        masks, totals = pack(levels.astype(np.uint8)), levels.sum(1)
        ones = columns.ones

        def task(lo: int, hi: int) -> None:
            associate_bits(kind, packed, ones, masks, totals, lo, hi, out)

        engine.run(task, columns.n_columns, packed.size * max(n_other - 1, 1))
        return out
    codes = other.astype(np.uint8 if n_other <= 255 else np.int64)

    def task_codes(lo: int, hi: int) -> None:
        associate_codes(
            kind, columns.codes, columns.n_levels, codes, n_other, columns.weights, lo, hi, out
        )

    engine.run(task_codes, columns.n_columns, columns.codes.size)
    return out
