"""The standard error of a criterion: how far its value may be off by the luck of the rows."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .auc import AUC
from .base import Criterion
from .row_values import auc_parts, line_values
from .rows import RowCriterion


def has_standard_error(criterion: Criterion) -> bool:
    """Is it one of those below?

    Examples
    --------
    >>> from bayesieve.criteria import CRITERIA, Criterion, has_standard_error
    >>> has_standard_error(CRITERIA["auc"]), has_standard_error(Criterion())
    (True, False)
    """
    return isinstance(criterion, AUC | RowCriterion)


def standard_error(criterion: Criterion, book: Any, columns: list[int]) -> float:
    """Standard error of the criterion's value for a subset, with rows as the units.

    Means over rows: the root of the sum of the squared deviations, over the number of rows; for
    the error that is the binomial sqrt(p (1 - p) / n).  AUC: DeLong, DeLong and Clarke-Pearson
    (1988); the parts of a row in several labels or folds are added up first.  A row of weight w
    counts as w rows.

    Parameters
    ----------
    criterion : a `RowCriterion` or an `AUC`.
    book : the ledger of the rows that judge.
    columns : the subset.

    Examples
    --------
    A selector asks for it with ``choice="one-se"`` and keeps it:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = NaiveBayesSelector(choice="one-se", random_state=0).fit(X, y).path_
    >>> error, n = path.steps[path.best].validation_error, 285
    >>> abs(path.standard_error - (error * (1 - error) / n) ** 0.5) < 1e-12
    True
    """
    sums = book.with_features(columns)
    if book.form == "lines":
        rows, weights = book.lines.rows, book.lines.weights
        weights = weights if weights.size else np.ones(rows.size, np.int64)
        shares = _mean_shares(criterion.name, book, [(sums.T, book.lines.labels)], weights)
    else:
        rows, weights = book.rows, book.line_weights
        if isinstance(criterion, AUC):
            shares = _area_shares(book, sums, weights)
        else:
            shares = _mean_shares(criterion.name, book, _problems(book, sums), weights)
    _, first, owner = np.unique(rows, return_index=True, return_inverse=True)
    by_row = np.bincount(owner.ravel(), shares)
    return math.sqrt(float(weights[first] @ np.square(by_row)))


def _problems(
    book: Any, sums: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Scores, lines x classes, and true classes: one pair a label, or one for all classes."""
    if not book.targets.odds:
        return [(sums.T, book.targets.classes[:, 0])]
    return [
        (np.column_stack([np.zeros_like(odds), odds]), truth)
        for odds, truth in zip(sums, book.targets.classes.T, strict=True)
    ]


def _mean_shares(
    name: str, book: Any, problems: list[Any], weights: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How much each line moves the weighted mean."""
    factors = np.array([float(factor) for factor in book.factors])
    values = np.array([line_values(name, sums, book.scale.unit, y) for sums, y in problems])
    worth = np.array([factors[y] for _, y in problems])
    total = float((worth @ weights).sum())
    mean = float(((worth * values) @ weights).sum()) / total
    return (worth * (values - mean)).sum(0) / total


def _area_shares(
    book: Any, sums: NDArray[np.int64], weights: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How much each line moves the mean over labels of the mean AUC over folds."""
    starts = np.append(0, book.ends[:-1])
    found = []
    for scores, truth in zip(sums, book.targets.classes.T.astype(bool), strict=True):
        shares, n_folds = np.zeros(scores.size), 0
        for start, end in zip(starts, book.ends, strict=True):
            mine = slice(start, end)
            if truth[mine].any() and not truth[mine].all():
                shares[mine] = auc_parts(scores[mine], truth[mine], weights[mine])[1]
                n_folds += 1
        if n_folds:
            found.append(shares / n_folds)
    return np.mean(found, axis=0)
