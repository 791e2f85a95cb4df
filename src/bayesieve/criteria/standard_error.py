"""The standard error of a criterion: how far its value may be off by the luck of the rows."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..engine.contract import Outline, Scores
from .base import Criterion, joined


def has_standard_error(criterion: Criterion) -> bool:
    """Is it known how much each row moves its value?

    Examples
    --------
    >>> from bayesieve.criteria import CRITERIA, Criterion, has_standard_error
    >>> has_standard_error(CRITERIA["auc"]), has_standard_error(Criterion())
    (True, False)
    """
    return criterion.knows_shares


def standard_error(
    criterion: Criterion,
    outline: Outline,
    found: Iterable[Scores],
    mates: NDArray[np.int64] | None = None,
) -> float:
    """Standard error of the criterion's value for a subset, with rows or groups as the units.

    Means over rows: the root of the sum of the squared deviations, over the number of rows; for
    the error that is the binomial sqrt(p (1 - p) / n).  AUC: DeLong, DeLong and Clarke-Pearson
    (1988); the parts of a row in several labels or folds are added up first.  A row of weight w
    counts as w rows.  Of groups, what their rows move the value by is added up first, and the
    squares are raised by G / (G - 1) for G groups (of AUC, Obuchowski 1997).

    Parameters
    ----------
    criterion : one that `has_standard_error`.
    outline : of the ledger of the rows that judge.
    found : the sums of the subset, in as many parts as there are.
    mates : the group of every row, by the row's number; None: every row is independent.

    Examples
    --------
    A selector asks for it with ``choice="one-se"`` and keeps it:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = NaiveBayesSelector(choice="one-se", validation=0.5, random_state=0)
    >>> path = selector.fit(X, y).path_
    >>> error, n = path.steps[path.best].validation_error, 285
    >>> abs(path.standard_error - (error * (1 - error) / n) ** 0.5) < 1e-12
    True
    """
    return _root_of_squares(*_shares_by_row(criterion, outline, found), mates)


def paired_error(
    criterion: Criterion,
    outline: Outline,
    one: Iterable[Scores],
    other: Iterable[Scores],
    mates: NDArray[np.int64] | None = None,
) -> float:
    """Standard error of the difference between the criterion's values for two subsets.

    Luck that both share cancels: a row that is hard for both says nothing about which is better.

    Parameters
    ----------
    criterion, outline, mates : as in `standard_error`.
    one, other : the sums of the two subsets, of the same rows.

    Examples
    --------
    ``choice="proven"`` asks for it:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = NaiveBayesSelector().fit(X, y).path_
    >>> gap = path.steps[path.chosen].score - path.steps[path.best].score
    >>> 0 <= gap <= path.standard_error < 0.01
    True
    """
    mine, weights, rows = _shares_by_row(criterion, outline, one)
    theirs, _, _ = _shares_by_row(criterion, outline, other)
    return _root_of_squares(mine - theirs, weights, rows, mates)


def _shares_by_row(
    criterion: Criterion, outline: Outline, found: Iterable[Scores]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """What each row moves the value by, what the row weighs, and its number."""
    whole = joined(found)
    shares = criterion.shares(whole, outline)
    rows, first, owner = np.unique(whole.rows, return_index=True, return_inverse=True)
    by_row = np.bincount(owner.ravel(), shares).astype(np.float64)
    return by_row, whole.weights[first], rows


def _root_of_squares(
    by_row: NDArray[np.float64],
    weights: NDArray[np.int64],
    rows: NDArray[np.int64],
    mates: NDArray[np.int64] | None,
) -> float:
    """Of what rows, or groups of rows, move a value by."""
    if mates is None:
        return math.sqrt(float(weights @ np.square(by_row)))
    _, owner = np.unique(mates[rows], return_inverse=True)
    by_group = np.bincount(owner.ravel(), weights * by_row)
    few = by_group.size / max(by_group.size - 1, 1)
    return math.sqrt(few * float(np.square(by_group).sum()))
