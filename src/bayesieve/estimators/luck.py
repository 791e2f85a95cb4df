"""How far a subset may be ahead by luck alone, where noise was chosen among many columns."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri, stdtrit

from ..data.columns import MOST_CODES
from ..data.parts import middle_rows
from ..engine.far.table import FarTable
from ..engine.threads import Threads
from ..models.registry import MODELS
from ..rankings.base import DiscreteColumns
from ..rankings.far import far_columns
from ..rankings.information import association_with
from ..rankings.kernels.kinds import CHI2, FREE
from ..rankings.rank import discrete_columns
from ..search.run import Task

#: Standard error of the difference between the scores of two subsets.
Paired = Callable[[Sequence[int], Sequence[int]], float]

# Of the columns that are said to tell something, at most so many do not.
_FALSE = 0.1

#: More rows than this tell no better whether there is anything to be found.
MOST_ROWS = 20_000


def with_luck(paired: Paired, silent: NDArray[np.bool_]) -> Paired:
    """A margin that also holds what the luckiest silent columns would seem to bring.

    A column that says nothing by itself says nothing in naive Bayes.  Where some of these are what
    one subset has beyond another, they were the luckiest of all, and each is expected to look
    better than nothing by the mean of as many of the largest of normal values.

    Parameters
    ----------
    paired : of a subset and a larger one that is to be told apart.
    silent : columns that say nothing by themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.estimators.luck import with_luck
    >>> margin = with_luck(lambda one, best: 0.01, np.arange(100) > 1)
    >>> margin([0], [0, 1]), round(margin([0, 1], [0, 1, 7]), 4)
    (0.01, 0.0266)
    """

    def margin(one: Sequence[int], best: Sequence[int]) -> float:
        beyond = sorted(set(best) - set(one))
        n_lucky = int(silent[beyond].sum()) if beyond else 0
        luck = n_lucky * mean_of_largest(n_lucky, int(silent.sum() - silent[list(one)].sum()))
        return paired(one, best) * max(1.0, luck / math.sqrt(max(len(beyond), 1)))

    return margin


def among_groups(paired: Paired, n_groups: int) -> Paired:
    """A margin that a subset without merit passes once in forty, by so many groups.

    Parameters
    ----------
    paired : standard error of a difference, with groups as the units.
    n_groups : how many it is of.
    """
    factor = float(stdtrit(max(n_groups - 1, 1), 0.975))

    def margin(one: Sequence[int], best: Sequence[int]) -> float:
        return factor * paired(one, best)

    return margin


def mean_of_largest(n: int, of: int) -> float:
    """What the n largest of so many standard normal values are on average, by the normal density.

    Examples
    --------
    >>> from bayesieve.estimators.luck import mean_of_largest
    >>> round(mean_of_largest(10, 1000), 2), mean_of_largest(5, 5)
    (2.67, 0.0)
    """
    if not 0 < n < of:
        return 0.0
    at = float(-ndtri(n / of))
    return math.exp(-at * at / 2) / math.sqrt(2 * math.pi) * of / n


def silent_columns(task: Task, guiding: NDArray[np.int64], threads: Threads) -> NDArray[np.bool_]:
    """Columns that say nothing about the class by themselves, on the rows that guide.

    Numbers: those that minimum description length does not cut.  Others: those whose chi-square
    with the class is not among the discoveries of Benjamini and Hochberg (1995).  Of every group
    one row is looked at.  With labels, none is called silent; nor are columns that nobody may
    choose, since luck has nothing to take there.

    Parameters
    ----------
    task : what is searched.
    guiding : the rows.
    threads : who counts.
    """
    sample = task.sample
    if sample.targets.labelled:
        return np.zeros(len(task.models), bool)
    rows = evenly(_independent(task, guiding), sample.strata, MOST_ROWS)
    labels, weights = sample.labels[rows], sample.weights[rows].astype(np.float64)
    n_classes = int(sample.labels.max()) + 1
    table = sample.table
    told = (rows, labels, weights, n_classes)
    columns: DiscreteColumns
    if isinstance(table, FarTable):
        columns = far_columns(table, task.models, *told, refuse=False)
    else:
        columns = discrete_columns(table, task.models, *told, refuse=False)
    choosable = np.zeros(len(task.models), bool)
    choosable[[column for unit in task.units for column in unit]] = True
    number = np.array([not MODELS[model].nominal for model in task.models], bool)
    silent = choosable & (columns.n_levels == 1)
    # Of columns with more levels than codes nothing is said.
    wanted = choosable & ~number & ~silent & (columns.n_levels <= MOST_CODES)
    if wanted.any():
        chi2, free = (
            association_with(kind, columns, labels, n_classes, threads, wanted)
            for kind in (CHI2, FREE)
        )
        # A level that none of these rows has is not one more to be told apart.
        silent |= wanted & (free == 0)
        counted = wanted & (free > 0)
        silent[counted] = ~_discoveries(chdtrc(free[counted], chi2[counted]))
    return silent


def _independent(task: Task, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each group one row, the one in the middle: what groups share counts once."""
    return rows if task.mates is None else rows[middle_rows(task.mates[rows])]


def _discoveries(chances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Benjamini and Hochberg's: up to the last that is below its share of the level."""
    order = np.argsort(chances, kind="stable")
    below = chances[order] <= _FALSE * np.arange(1, chances.size + 1) / chances.size
    found = np.zeros(chances.size, bool)
    found[order[: np.flatnonzero(below)[-1] + 1 if below.any() else 0]] = True
    return found


def evenly(rows: NDArray[np.int64], strata: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many rows, evenly through those of every class, whatever their order.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.estimators.luck import evenly
    >>> evenly(np.arange(8), np.array([0, 1, 0, 1, 0, 1, 0, 1]), 4)
    array([0, 1, 4, 7])
    """
    if rows.size <= most:
        return rows
    order = rows[np.argsort(strata[rows], kind="stable")]
    return np.sort(order[np.linspace(0, order.size - 1, most).astype(np.int64)])
