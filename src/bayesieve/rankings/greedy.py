"""Greedy rankings: mRMR, CMIM, JMI and their kin, from pairs and triples of columns."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..checks import Bools, Floats, Ints, check_number, choose
from ..data.kernels.options import CONDITIONAL, JOINT, JOINT_SHARE, REPEATED, UNCERTAINTY
from ..data.storage import pack_bits
from .base import DiscreteColumns, Planes, Ranking, RankingInput, RankingMethod, by_score, example
from .information import association_with, information_with

if TYPE_CHECKING:
    from .kernels.counts import CountArrays

# Cells to count for one column taken that are not worth a hand-over to other threads.
_FEW = 100_000


@dataclass(frozen=True)
class Counts(RankingInput):
    """Counts of columns, of pairs of them, and of pairs and the class."""

    columns: DiscreteColumns

    @property
    def relevance(self) -> Floats:
        """I(column; class) of every column."""
        return information_with(self.columns, self.labels, self.n_classes, self.engine)

    @cached_property
    def arrays(self) -> "CountArrays":
        """What the kernels count on."""
        from .kernels.counts import CountArrays, ones_in_classes

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

    def pairs(self, taken: int) -> Floats:
        """I(column; taken) of every column."""
        n_levels = int(self.columns.n_levels[taken])
        return information_with(self.columns, self.columns.column(taken), n_levels, self.engine)

    def triples(self, kind: int, taken: int, left: Bools) -> Floats:
        """What every column left says together with `taken` and the class; 0 for the others."""
        from .kernels.counts import values_with

        arrays = self.arrays
        out = np.zeros(left.size)

        def task(lo: int, hi: int) -> None:
            values_with(kind, arrays, taken, left, lo, hi, out)

        self.engine.run(task, left.size, int(left.sum()) * self.cells)
        return out


class SummedRanking(RankingMethod):
    """The next column has the highest worth, which is made of a sum over the columns taken."""

    def terms(self, counts: Counts, taken: int, left: Bools) -> Floats:
        """What each column left adds to its sum when `taken` is; anything for the others.

        By default its information about the column just taken.
        """
        return counts.pairs(taken)

    def worth(self, relevance: Floats, total: Floats, n_taken: int) -> Floats:
        """From I(column; class) and the sum over `n_taken` columns; the sum by default."""
        return total

    def order(self, given: RankingInput, n_features: int) -> Ranking:
        """The first `n_features` columns greedily, then the others as they are worth then."""
        counts = Counts(**vars(given))
        n_columns = counts.columns.n_columns
        worth = relevance = counts.relevance
        total = np.zeros(n_columns)
        left = np.ones(n_columns, bool)
        scores = np.full(n_columns, -np.inf)
        order: list[int] = []
        for _ in range(min(n_features, n_columns)):
            best = int(np.argmax(np.where(left, worth, -np.inf)))
            order.append(best)
            scores[best] = worth[best]
            left[best] = False
            if len(order) < n_columns:
                total += self.terms(counts, best, left)
                worth = self.worth(relevance, total, len(order))
        return rest_after(np.array(order, np.int64), scores, worth)


class LazyRanking(RankingMethod):
    """The next column has the highest worth, which falls with every column taken."""

    #: What the kernels compute of a column, a column taken and the class.
    kind: ClassVar[int]
    #: Does the information of a column alone count only for the first?
    first_alone: ClassVar[bool] = False

    def order(self, given: RankingInput, n_features: int) -> Ranking:
        """The first `n_features` columns greedily, then the others as last looked at."""
        from .kernels.counts import AHEAD, LookArrays, look_ahead, settle

        counts = Counts(**vars(given))
        arrays = counts.arrays  # threads are used to make them: not within a task
        n_columns = counts.columns.n_columns
        worth = counts.relevance
        looks = LookArrays(
            worth=worth,
            seen=np.zeros(n_columns, np.int64),
            bound=worth.copy(),
            known=np.zeros(n_columns, np.int64),
            values=np.empty((n_columns, AHEAD)),
            taken=np.zeros(n_columns, bool),
            order=np.empty(min(n_features, n_columns), np.int64),
        )
        n_taken, n_ranked = 0, looks.order.size
        if self.first_alone:
            looks.order[0] = np.argmax(worth)
            looks.taken[looks.order[0]] = True
            n_taken = 1
            if n_ranked > 1:
                looks.worth[~looks.taken] = looks.bound[:] = np.inf

        def task(lo: int, hi: int) -> None:
            look_ahead(self.kind, arrays, looks, n_taken, best, lo, hi)

        while n_taken < n_ranked:
            best = np.array([-np.inf])
            given.engine.run(task, n_columns, n_columns * counts.cells)
            n_taken = settle(self.kind, arrays, looks, n_taken, _FEW // counts.cells)
        scores = np.where(looks.taken, looks.worth, -np.inf)
        return rest_after(looks.order, scores, looks.worth)


def rest_after(order: Ints, scores: Floats, worth: Floats) -> Ranking:
    """The columns taken, then the others by what they are worth."""
    left = np.ones(worth.size, bool)
    left[order] = False
    rest = by_score(np.where(left, worth, -np.inf))[: left.sum()]
    return Ranking(np.concatenate([order, rest]), scores)


# -- Rankings by relevance against redundancy ------------------------------------------------------


# Sums of information are multiples of this; worths that are not are rounded to it.
_GRAIN = 2.0**-40


@example("copy", "[1, 2, 0]", 'MRMR("quotient")')
@dataclass(frozen=True)
class MRMR(SummedRanking):
    """Rank greedily by relevance against redundancy (Peng 2005).

    The next column has the largest I(column; class) less (``"difference"``), or divided by
    (``"quotient"``), the mean of its information about the columns already taken.

    Parameters
    ----------
    form : {"difference", "quotient"}, default="difference"
    """

    form: str = "difference"
    # A column may be worth more when it is taken than the one before it was.
    sorts_by_score = False

    def check(self) -> None:
        """Validate the parameter."""
        choose("form", self.form, ["difference", "quotient"])

    def worth(self, relevance: Floats, total: Floats, n_taken: int) -> Floats:
        """Relevance less mean redundancy, or divided by it."""
        redundancy = total / n_taken
        if self.form == "difference":
            return relevance - redundancy
        # What repeats nothing is worth more than anything else; what says nothing, nothing.
        safe = np.maximum(redundancy, np.finfo(float).tiny)
        return np.where(relevance > 0, relevance / safe, 0.0)


@example("copy", "[1, 2, 0]", "MIFS(beta=0.5)")
@dataclass(frozen=True)
class MIFS(SummedRanking):
    """Rank greedily by relevance less all redundancy (Battiti 1994).

    The next column has the largest I(column; class) - beta times the sum of its information about
    the columns already taken.

    Parameters
    ----------
    beta : float, default=1.0
        How much redundancy counts; 0 ranks by `MutualInformation`.
    """

    beta: float = 1.0

    def check(self) -> None:
        """Validate the parameter."""
        check_number("beta", self.beta, low=0.0)

    def worth(self, relevance: Floats, total: Floats, n_taken: int) -> Floats:
        """Relevance less redundancy."""
        return np.floor((relevance - self.beta * total) / _GRAIN + 0.5) * _GRAIN


@example("pair", "[0, 2, 1]")
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
    """

    threshold: float = 0.0
    # What is removed stands behind what is not, however relevant.
    sorts_by_score = False

    def check(self) -> None:
        """Validate the parameter."""
        check_number("threshold", self.threshold, low=0.0, high=1.0)

    def order(self, given: RankingInput, n_features: int) -> Ranking:
        """Predominant columns, at most `n_features`, then the others; the score is relevance."""
        columns, engine = given.columns, given.engine
        relevance = association_with(UNCERTAINTY, columns, given.labels, given.n_classes, engine)
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


# -- Greedy rankings by what a column, a column already taken and the class say together -----------


@example("copy", "[1, 0, 2]")
@dataclass(frozen=True)
class CMIM(LazyRanking):
    """Rank by conditional mutual information, maximised (Fleuret 2004).

    The next column is the one whose smallest value among I(class; column) and I(class; column |
    taken), over all columns taken, is the largest; evaluated lazily, as in Fleuret's own code.
    """

    kind: ClassVar[int] = CONDITIONAL


@example("copy", "[1, 0, 2]")
@dataclass(frozen=True)
class ICAP(LazyRanking):
    """Rank by interaction capping (Jakulin 2005).

    A column is worth I(column; class), less what it repeats of each column taken: I(column; taken)
    - I(column; taken | class), where that is positive.  A column that tells more beside another
    than alone gains nothing by it.
    """

    kind: ClassVar[int] = REPEATED


@example("pair", "[0, 2, 1]")
@dataclass(frozen=True)
class JMIM(LazyRanking):
    """Rank by joint mutual information, maximised (Bennasar, Hicks and Setchi 2015).

    After the column that tells most alone, the next is the one whose smallest I(column, taken;
    class), over all columns taken, is the largest.
    """

    kind: ClassVar[int] = JOINT
    first_alone: ClassVar[bool] = True
    # A pair of columns tells more than the first did alone.
    sorts_by_score = False


@example("pair", "[0, 2, 1]")
@dataclass(frozen=True)
class NJMIM(LazyRanking):
    """Rank by normalised joint mutual information, maximised (Bennasar, Hicks and Setchi 2015).

    As JMIM, with I(column, taken; class) / H(column, taken, class) in place of the information:
    columns of many levels, whose information is overestimated, are worth less.
    """

    kind: ClassVar[int] = JOINT_SHARE
    first_alone: ClassVar[bool] = True
    # The first column's score is in nat, the others' are shares.
    sorts_by_score = False


@example("pair", "[0, 2, 1]")
@dataclass(frozen=True)
class JMI(SummedRanking):
    """Rank by joint mutual information (Yang and Moody 1999).

    After the column that tells most alone, the next is the one whose I(column, taken; class),
    summed over all columns taken, is the largest.
    """

    kind: ClassVar[int] = JOINT
    # Sums grow with the number of columns taken.
    sorts_by_score = False

    def terms(self, counts: Counts, taken: int, left: Bools) -> Floats:
        """Joint information of each remaining column with the one just taken."""
        return counts.triples(self.kind, taken, left)


@example("pair", "[0, 2, 1]")
@dataclass(frozen=True)
class DISR(JMI):
    """Rank by double input symmetrical relevance (Meyer and Bontempi 2006).

    As JMI, with I(column, taken; class) / H(column, taken, class) in place of the information:
    columns of many levels, whose information is overestimated, are worth less.
    """

    kind: ClassVar[int] = JOINT_SHARE
