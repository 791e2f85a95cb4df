"""Is what a search found more than chance?  Its first step tells, or folds around all of it."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ..data.folds import find_splits
from ..search.inner import strict_price
from ..search.objective import Settler
from ..search.path import Path
from ..search.run import Task
from .auto import shuffled
from .luck import MOST_ROWS, evenly

Rows = NDArray[np.int64]

#: Searches on the first rows given, judged on the second: path, and verdicts of the criterion.
Explore = Callable[[Rows, Rows], tuple[Path, Settler]]

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
    guide: Settler,
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


def _first_step(path: Path, guide: Settler, n_units: int) -> Proof | None:
    """How much better the first column is, and how much better the luckiest of all would be."""
    if len(path) < 2 or path.steps[1].action != "add":
        return None
    before, after = path.steps[:2]
    gain = abs(after.score - before.score) * (1 if after.key < before.key else -1)
    needed = _SHARED * float(-ndtri(_RISK / n_units))
    return Proof("first step", gain, guide.standard_error(path.subset(1)), needed)


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
    """Searches of two thirds of the rows, judged on the third."""
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
