"""Significance of a selection: tests corrected for selection bias."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri, stdtrit

from ..data.columns import MOST_CODES
from ..data.kernels.options import CHI2, FREE
from ..data.sample import find_splits, middle_rows
from ..engine.registry import RemoteTable
from ..engine.threads import Threads
from ..models.registry import MODELS
from ..rankings.base import DiscreteColumns, LabelledRows
from ..rankings.collections import remote_columns
from ..rankings.information import association_with
from ..rankings.rank import discrete_columns
from ..search.objective import SubsetScorer
from ..search.path import Path
from ..search.run import Task
from ..search.term_search import strict_price
from ._validation import shuffled

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
    >>> from bayesieve.estimators.significance import with_luck
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
    >>> from bayesieve.estimators.significance import mean_of_largest
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
    # One row of each group, the middle one: rows must be independent.
    rows = guiding if task.mates is None else guiding[middle_rows(task.mates[guiding])]
    rows = evenly(rows, sample.strata, MOST_ROWS)
    labels, weights = sample.labels[rows], sample.weights[rows].astype(np.float64)
    n_classes = int(sample.labels.max()) + 1
    table = sample.table
    given = LabelledRows(rows, labels, weights, n_classes)
    columns: DiscreteColumns
    if isinstance(table, RemoteTable):
        columns = remote_columns(table, task.models, given, refuse=False)
    else:
        columns = discrete_columns(table, task.models, given, refuse=False)
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
    >>> from bayesieve.estimators.significance import evenly
    >>> evenly(np.arange(8), np.array([0, 1, 0, 1, 0, 1, 0, 1]), 4)
    array([0, 1, 4, 7])
    """
    if rows.size <= most:
        return rows
    order = rows[np.argsort(strata[rows], kind="stable")]
    return np.sort(order[np.linspace(0, order.size - 1, most).astype(np.int64)])


# -- Is what a search found more than chance?  Its first step tells, or folds around all of --------


Rows = NDArray[np.int64]

#: Searches on the first rows given, judged on the second: path, and verdicts of the criterion.
Explore = Callable[[Rows, Rows], tuple[Path, SubsetScorer]]

#: What each of some columns, alone, gains in log-likelihood, as far as groups vouch for it.
Gains = Callable[[list[int]], NDArray[np.float64]]

# By chance, the best of all first steps would be as good as this once in a thousand searches, if
# rows left out were independent.  They are not: each taught the tables by which the others are
# judged.  On noise, tables of numbers were 1.25 times as far off as their standard errors say.
_RISK = 1e-3
_SHARED = 1.5

# Standard errors by which a search must do better than none, on rows that it has not seen.
_ERRORS = 2.0

# So often chance alone would be that many standard errors ahead.
_TAIL = 0.0228

_FOLDS = 3


@dataclass(frozen=True)
class Proof:
    """What shows that a search found more than chance, or does not.

    Attributes
    ----------
    by : {"first step", "column", "folds"}
        The first column alone, chosen by rows that its table did not see; where rows come in
        groups, the column chosen that is most certain alone; or whole searches, judged on rows that
        they did not see.
    gain : float
        How much better than no column at all, by the criterion.
    standard_error : float
        Of the score of the column, or of the searches, which stands for that of the gain; of the
        gain itself where rows come in groups, by groups.  1 for a column alone, whose gain in
        log-likelihood (nats) already is what groups vouch for.
    needed : float
        So many standard errors it must have.

    Examples
    --------
    >>> from bayesieve.estimators.significance import Proof
    >>> Proof("folds", 0.01, 0.02, 2.0).holds
    False
    """

    by: str
    gain: float
    standard_error: float
    needed: float

    @property
    def holds(self) -> bool:
        """Is it more than chance?"""
        return self.gain > self.needed * self.standard_error

    def __str__(self) -> str:
        verdict = "more than chance" if self.holds else "not more than chance"
        where = {
            "first step": "its first step",
            "column": "a column alone, on groups left out",
            "folds": "folds around the whole search",
        }[self.by]
        if self.by == "column":
            return f"{verdict} by {where}: gain {self.gain:.3g} nat, {self.needed:.1f} needed"
        return (
            f"{verdict} by {where}: gain {self.gain:.3g}, standard error "
            f"{self.standard_error:.2g}, {self.needed:.1f} of them needed"
        )


def prove(
    path: Path,
    guide: SubsetScorer,
    task: Task,
    guiding: Rows,
    explore: Explore,
    gains: Gains | None = None,
) -> Proof | None:
    """The first step of a search where that is enough, or folds cannot be had; else folds.

    None: nothing to prove.

    Parameters
    ----------
    path, guide : the search of all guiding rows, whose scores are of rows left out.
    task : the judged input.
    guiding : rows that guide.
    explore : makes searches of fewer rows.
    gains : what columns gain alone on groups left out; None where nobody knows.
    """
    first = None
    if task.mates is None:
        first = _first_step(path, guide, len(task.units))
    elif gains is not None:
        first = _alone(path, task, gains)
    if first is not None and first.holds:
        return first
    return _around(task, guiding, explore) or first


def _first_step(path: Path, guide: SubsetScorer, n_units: int) -> Proof | None:
    """How much better the first column is, and how much better the luckiest of all would be."""
    if len(path) < 2 or path.steps[1].action != "add":
        return None
    before, after = path.steps[:2]
    gain = abs(after.score - before.score) * (1 if after.key < before.key else -1)
    needed = _SHARED * float(-ndtri(_RISK / n_units))
    return Proof("first step", gain, guide.standard_error(path.subset(1)), needed)


def vouched_units(task: Task, units: Sequence[int], gains: Gains) -> list[int]:
    """Units with a column that gains, alone and on groups left out, more than chance would.

    Holm's test (1979): one in twenty-five tables of noise has any such unit.

    Parameters
    ----------
    task : the judged input.
    units : those that are looked at.
    gains : what columns gain alone on groups left out.
    """
    columns = [column for unit in units for column in task.units[unit]]
    if not columns:
        return []
    gained = gains(columns)
    order = np.argsort(-gained, kind="stable")
    prices = np.array([strict_price(left, True) for left in range(gained.size, 0, -1)])
    below = np.flatnonzero(gained[order] < prices)
    found = {columns[at] for at in order[: below[0] if below.size else gained.size]}
    return [unit for unit in units if found & set(task.units[unit])]


def _alone(path: Path, task: Task, gains: Gains) -> Proof | None:
    """The column chosen that gains most by itself, as groups left out vouch for it.

    What groups share by chance makes scores wide apart, and the first step is often such a column;
    so all that were chosen are looked at, with a price for as many as there are to choose from.
    """
    chosen, kept = set(path.subset(path.best)), {c for u in task.keep for c in task.units[u]}
    columns = sorted(chosen - kept)
    if not columns:
        return None
    return Proof("column", float(gains(columns).max()), 1.0, strict_price(len(task.units), True))


def _around(task: Task, guiding: Rows, explore: Explore) -> Proof | None:
    """Cross-validated searches: two thirds of the rows search, the last third scores."""
    gain = variance = 0.0
    n_rows = free = 0
    for train, test in _thirds(task, guiding):
        path, judge = explore(train, test)
        kept = [column for unit in task.keep for column in task.units[unit]]
        judge.apply(kept, 1)
        now = judge.now()
        chosen = path.subset(path.chosen)
        judge.apply([column for column in chosen if column not in kept], 1)
        found = judge.now()
        size = int(task.sample.weights[test].sum())
        gain += size * abs(judge.value(found) - judge.value(now)) * (1 if found < now else -1)
        error = judge.standard_error(chosen)
        if task.mates is not None:
            error = judge.paired_error(kept, chosen)
            free += task.n_groups(test) - 1
        variance += (size * error) ** 2
        n_rows += size
    if not n_rows:
        return None
    # Few groups are further off than many rows would be.
    needed = float(stdtrit(max(free, 1), 1 - _TAIL)) if task.mates is not None else _ERRORS
    return Proof("folds", gain / n_rows, math.sqrt(variance) / n_rows, needed)


def _thirds(task: Task, guiding: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Rows that guide and rows that judge; none where classes or groups are too small for it."""
    sample = task.sample
    rows = evenly(guiding, sample.strata, MOST_ROWS)
    if rows.size < 2 * _FOLDS or np.bincount(sample.strata[rows]).max() < _FOLDS:
        return
    if task.n_groups(rows) < _FOLDS:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds
        cv = _FOLDS if task.groups is not None else shuffled(_FOLDS)
        splits = find_splits(cv, sample.strata[rows], sample.rows[rows], task.groups, task.n_rows)
        for train, test in splits:
            # Every class must have rows to learn from.
            taught = np.isin(sample.labels, sample.labels[rows[train]]).all()
            # A search of one group has no folds.
            if taught and task.n_groups(rows[train]) > 1:
                yield rows[train], rows[test]
