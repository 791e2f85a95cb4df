"""Rankings by relevance against redundancy: columns with the class, and with each other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..checks import check_number, choose
from ..engine.threads import Engine
from .base import DiscreteColumns, Ranking, RankingMethod, by_score
from .greedy import Counts, SummedRanking
from .information import association_with
from .kernels.kinds import UNCERTAINTY

# Sums of information are multiples of this; worths that are not are rounded to it.
_GRAIN = 2.0**-40


@dataclass(frozen=True)
class MRMR(SummedRanking):
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

    def terms(self, counts: Counts, taken: int, left: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Information of each column about the one just taken."""
        return counts.pairs(taken)

    def worth(
        self, relevance: NDArray[np.float64], total: NDArray[np.float64], n_taken: int
    ) -> NDArray[np.float64]:
        """Relevance less mean redundancy, or divided by it."""
        redundancy = total / n_taken
        if self.form == "difference":
            return relevance - redundancy
        # What repeats nothing is worth more than anything else; what says nothing, nothing.
        safe = np.maximum(redundancy, np.finfo(float).tiny)
        return np.where(relevance > 0, relevance / safe, 0.0)


@dataclass(frozen=True)
class MIFS(SummedRanking):
    """Rank greedily by relevance less all redundancy (Battiti 1994).

    The next column has the largest I(column; class) - beta times the sum of its information about
    the columns already taken.

    Parameters
    ----------
    beta : float, default=1.0
        How much redundancy counts; 0 ranks by `MutualInformation`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import MIFS
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, MIFS(beta=0.5)).order
    array([1, 2, 0])
    """

    beta: float = 1.0

    def check(self) -> None:
        """Judge the parameter."""
        check_number("beta", self.beta, low=0.0)

    def terms(self, counts: Counts, taken: int, left: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Information of each column about the one just taken."""
        return counts.pairs(taken)

    def worth(
        self, relevance: NDArray[np.float64], total: NDArray[np.float64], n_taken: int
    ) -> NDArray[np.float64]:
        """Relevance less redundancy."""
        return np.floor((relevance - self.beta * total) / _GRAIN + 0.5) * _GRAIN


@dataclass(frozen=True)
class FCBF(RankingMethod):
    """Rank by relevance, predominant columns first: the fast correlation-based filter (Yu and Liu
    2003).

    Relevance is the symmetric uncertainty of column and class, 2 I / (H + H).  The most relevant
    column is predominant and removes every other whose uncertainty with it is at least its own
    relevance; so does the next of those left, and so on.  What was removed stands behind, in the
    order of relevance.

    Parameters
    ----------
    threshold : float, default=0.0
        Columns that are not more relevant than this are not predominant.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import FCBF
    >>> y = np.array([0, 1, 2, 3] * 5)
    >>> X = np.column_stack([y // 2, y // 2, y % 2])
    >>> rank(X, y, FCBF()).order
    array([0, 2, 1])
    """

    threshold: float = 0.0

    def check(self) -> None:
        """Judge the parameter."""
        check_number("threshold", self.threshold, low=0.0, high=1.0)

    @property
    def sorts_by_score(self) -> bool:
        """What is removed stands behind what is not, however relevant."""
        return False

    def rank(
        self,
        columns: DiscreteColumns,
        labels: NDArray[np.int64],
        n_classes: int,
        engine: Engine,
        n_features: int,
    ) -> Ranking:
        """Predominant columns, at most `n_features`, then the others; the score is relevance."""
        relevance = association_with(UNCERTAINTY, columns, labels, n_classes, engine)
        order = by_score(relevance)
        left = relevance > self.threshold
        first: list[int] = []
        for j in order.tolist():
            if not left[j] or len(first) == n_features:
                continue
            first.append(j)
            left[j] = False
            with_it = association_with(
                UNCERTAINTY, columns, columns.column(j), int(columns.n_levels[j]), engine, left
            )
            left &= with_it < relevance
        rest = order[~np.isin(order, first)]
        return Ranking(np.concatenate([np.array(first, np.int64), rest]), relevance)
