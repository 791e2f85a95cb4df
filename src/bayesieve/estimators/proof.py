"""Is what a search found more than chance?  Its first step tells, or folds around all of it."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..data.folds import find_splits
from ..search.objective import Settler
from ..search.path import Path
from ..search.run import Task
from .auto import shuffled
from .luck import MOST_ROWS, evenly

Rows = NDArray[np.int64]

#: Searches on the first rows given, judged on the second: path, and verdicts of the criterion.
Explore = Callable[[Rows, Rows], tuple[Path, Settler]]

# By chance, the best of all first steps would be as good as this once in a thousand searches, if
# rows left out were independent.  They are not: each taught the tables by which the others are
# judged.  On noise, tables of numbers were 1.25 times as far off as their standard errors say.
_RISK = 1e-3
_SHARED = 1.5

# Standard errors by which a search must do better than none, on rows that it has not seen.
_ERRORS = 2.0

_FOLDS = 3


@dataclass(frozen=True)
class Proof:
    """What shows that a search found more than chance, or does not.

    Attributes
    ----------
    by : {"first step", "folds"}
        The first column alone, chosen by rows that its table did not see; or whole searches, judged
        on rows that they did not see.
    gain : float
        How much better than no column at all, by the criterion.
    standard_error : float
        Of the score of the column, or of the searches, which stands for that of the gain.
    needed : float
        So many standard errors it must have.

    Examples
    --------
    >>> from bayesieve.estimators.proof import Proof
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
        where = "its first step" if self.by == "first step" else "folds around the whole search"
        return (
            f"{verdict} by {where}: gain {self.gain:.3g}, standard error "
            f"{self.standard_error:.2g}, {self.needed:.1f} of them needed"
        )


def prove(path: Path, guide: Settler, task: Task, guiding: Rows, explore: Explore) -> Proof | None:
    """The first step of a search where that is enough, or folds cannot be had; else folds.

    None: nothing to prove.

    Parameters
    ----------
    path, guide : the search of all guiding rows, whose scores are of rows left out.
    task : the judged input.
    guiding : rows that guide.
    explore : makes searches of fewer rows.
    """
    first = _first_step(path, guide, len(task.units))
    if first is not None and first.holds:
        return first
    return _around(task, guiding, explore) or first


def _first_step(path: Path, guide: Settler, n_units: int) -> Proof | None:
    """How much better the first column is, and how much better the luckiest of all would be."""
    if len(path) < 2 or path.steps[1].action != "add":
        return None
    before, after = path.steps[:2]
    gain = abs(after.score - before.score) * (1 if after.key < before.key else -1)
    needed = _SHARED * float(-ndtri(_RISK / n_units))
    return Proof("first step", gain, guide.standard_error(path.subset(1)), needed)


def _around(task: Task, guiding: Rows, explore: Explore) -> Proof | None:
    """Searches of two thirds of the rows, judged on the third."""
    gain = variance = 0.0
    n_rows = 0
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
        variance += (size * judge.standard_error(chosen)) ** 2
        n_rows += size
    if not n_rows:
        return None
    return Proof("folds", gain / n_rows, math.sqrt(variance) / n_rows, _ERRORS)


def _thirds(task: Task, guiding: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Rows that guide and rows that judge; none where classes or groups are too small for it."""
    sample = task.sample
    rows = evenly(guiding, sample.strata, MOST_ROWS)
    if rows.size < 2 * _FOLDS or np.bincount(sample.strata[rows]).max() < _FOLDS:
        return
    if _n_groups(task, rows) < _FOLDS:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds
        cv = _FOLDS if task.groups is not None else shuffled(_FOLDS)
        splits = find_splits(cv, sample.strata[rows], sample.rows[rows], task.groups, task.n_rows)
        for train, test in splits:
            # Every class must have rows to learn from.
            taught = np.isin(sample.labels, sample.labels[rows[train]]).all()
            # A search of one group has no folds.
            if taught and _n_groups(task, rows[train]) > 1:
                yield rows[train], rows[test]


def _n_groups(task: Task, rows: Rows) -> int:
    """How many groups there are among rows; each row is one where nobody named any."""
    if task.groups is None:
        return rows.size
    return len(set(task.groups[task.sample.rows[rows]].tolist()))
