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


def standard_error(criterion: Criterion, outline: Outline, found: Iterable[Scores]) -> float:
    """Standard error of the criterion's value for a subset, with rows as the units.

    Means over rows: the root of the sum of the squared deviations, over the number of rows; for
    the error that is the binomial sqrt(p (1 - p) / n).  AUC: DeLong, DeLong and Clarke-Pearson
    (1988); the parts of a row in several labels or folds are added up first.  A row of weight w
    counts as w rows.

    Parameters
    ----------
    criterion : one that `has_standard_error`.
    outline : of the ledger of the rows that judge.
    found : the sums of the subset, in as many parts as there are.

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
    by_row, weights = _shares_by_row(criterion, outline, found)
    return math.sqrt(float(weights @ np.square(by_row)))


def paired_error(
    criterion: Criterion, outline: Outline, one: Iterable[Scores], other: Iterable[Scores]
) -> float:
    """Standard error of the difference between the criterion's values for two subsets.

    Luck that both share cancels: a row that is hard for both says nothing about which is better.

    Parameters
    ----------
    criterion, outline : as in `standard_error`.
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
    mine, weights = _shares_by_row(criterion, outline, one)
    theirs, _ = _shares_by_row(criterion, outline, other)
    return math.sqrt(float(weights @ np.square(mine - theirs)))


def _shares_by_row(
    criterion: Criterion, outline: Outline, found: Iterable[Scores]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What each row moves the value by, and what the row weighs."""
    whole = joined(found)
    shares = criterion.shares(whole, outline)
    _, first, owner = np.unique(whole.rows, return_index=True, return_inverse=True)
    return np.bincount(owner.ravel(), shares).astype(np.float64), whole.weights[first]
