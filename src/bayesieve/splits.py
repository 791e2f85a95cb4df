"""Which rows guide a search, which validate it, and which tables each line reads."""

from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneOut, check_cv

from .ledger import Lines
from .models import TrainingSets, one_set
from .validation import choose

Rows = NDArray[np.int64]


def split_rows(
    labels: NDArray[np.int64], share: float | None, random_state: np.random.RandomState
) -> tuple[Rows, Rows]:
    """Guiding and validation rows, stratified; a class with one row goes to the guiding part."""
    if share is None:
        return np.arange(labels.size), np.empty(0, np.int64)
    held_out = []
    for k in range(labels.max() + 1):
        rows = np.flatnonzero(labels == k)
        n_held_out = min(int(np.floor(share * rows.size + 0.5)), rows.size - 1)
        held_out.append(random_state.permutation(rows)[:n_held_out])
    validation = np.sort(np.concatenate(held_out))
    if not validation.size:
        raise ValueError(
            f"validation={share} leaves no row to choose the subset on ({labels.size} rows). "
            "Use validation=None, which chooses by the guiding score, or give more rows."
        )
    return np.setdiff1d(np.arange(labels.size), validation), validation


def class_factors(
    class_weight: Any, labels: NDArray[np.int64], weights: NDArray[np.float64], n_classes: int
) -> list[Fraction]:
    """Weight of each class as an exact fraction; "balanced" is n / (K n_k)."""
    if class_weight is None:
        return [Fraction(1)] * n_classes
    if class_weight == "balanced":
        counts = np.bincount(labels, weights, n_classes)
        total = Fraction(float(counts.sum()))
        return [total / (n_classes * Fraction(float(count))) for count in counts]
    return [Fraction(class_weight.get(k, 1.0)) for k in range(n_classes)]


def scoring(
    cv: Any,
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    guiding: Rows,
    factors: list[Fraction],
    numbers: Rows | None = None,
    groups: NDArray[Any] | None = None,
) -> tuple[TrainingSets, Lines, bool]:
    """Training sets (guiding rows), lines (all rows), and whether lines leave themselves out.

    Parameters
    ----------
    cv : "train", "loo", a number of folds, a splitter, or an iterable of (train, test) row numbers.
    guiding : the rows that guide; a splitter splits these, an iterable is cut down to them.
    numbers : the user's number of each row, where rows without weight are gone.
    groups : the user's groups, one a row of theirs; handed to a splitter.
    """
    mine = labels[guiding]
    class_weight = np.array([float(factor) for factor in factors])

    if isinstance(cv, str):
        choose("cv", cv, ["train", "loo"])
        loo = cv == "loo"
        lines = Lines.sort(guiding, mine if loo else np.zeros_like(mine), mine, weights[guiding])
        return one_set(mine, weights[guiding], class_weight), lines, loo
    rows, sets, left_out = [], [], []
    everything = np.arange(guiding.size)
    theirs = guiding if numbers is None else numbers[guiding]
    for g, (train, test) in enumerate(find_splits(cv, mine, theirs, groups)):
        left_out.append(np.setdiff1d(everything, train))
        rows.append(test)
        sets.append(np.full(test.size, g))
    at = np.concatenate(rows)
    lines = Lines.sort(guiding[at], np.concatenate(sets), mine[at], weights[guiding][at])
    return TrainingSets(mine, weights[guiding], tuple(left_out), class_weight), lines, False


def validation_lines(labels: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> Lines:
    """Lines of the validation part: one set of tables, from all guiding rows."""
    mine = labels[rows]
    return Lines.sort(rows, np.zeros_like(mine), mine, weights[rows])


def means_loo(cv: Any) -> bool:
    """Is this leave-one-out, by name or as scikit-learn's splitter?"""
    return (isinstance(cv, str) and cv == "loo") or isinstance(cv, LeaveOneOut)


def find_splits(
    cv: Any, mine: NDArray[np.int64], theirs: Rows, groups: NDArray[Any] | None
) -> list[tuple[Rows, Rows]]:
    """Pairs of train and test positions among the guiding rows, `theirs` in the user's numbers."""
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if not 2 <= int(cv) <= mine.size:
            raise ValueError(
                f"cv must be from 2 to the number of guiding rows ({mine.size}); got {cv}. Use "
                "fewer folds, a smaller validation share, or more rows."
            )
        try:
            found = list(check_cv(int(cv), mine, classifier=True).split(mine, mine))
        except ValueError as error:
            raise ValueError(f"cv={cv} does not suit the guiding rows: {error}") from error
    elif hasattr(cv, "split"):
        found = list(cv.split(mine, mine, None if groups is None else groups[theirs]))
    elif isinstance(cv, Iterable):
        found = [_pair(pair, theirs) for pair in cv]
    else:
        raise TypeError(
            "cv must be 'train', 'loo', a number of folds, a splitter, or an iterable of (train, "
            f"test) row numbers; got {cv!r}."
        )
    found = [(np.asarray(train), np.asarray(test)) for train, test in found]
    if not any(test.size for _, test in found):
        raise ValueError("cv gives no test row within the guiding part.")
    for g, (train, _) in enumerate(found):
        if not train.size:
            raise ValueError(f"cv: split {g} has no training row within the guiding part.")
    return [(train.astype(np.int64), test.astype(np.int64)) for train, test in found]


def _pair(pair: Any, theirs: Rows) -> tuple[Rows, Rows]:
    """Train and test positions from one item of an iterable."""
    parts = list(pair) if isinstance(pair, Iterable) else []
    if len(parts) != 2:
        raise TypeError(f"cv must give pairs (train, test) of row numbers; got {pair!r}.")
    return _positions(parts[0], theirs), _positions(parts[1], theirs)


def _positions(rows: Any, theirs: Rows) -> NDArray[np.int64]:
    """Where these rows stand among the guiding ones; the others are left out."""
    rows = np.asarray(rows)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    if rows.size and rows.dtype.kind not in "iu":
        raise TypeError(f"cv must give whole row numbers; got an array of {rows.dtype}.")
    rows = rows.astype(np.int64)
    at = np.minimum(np.searchsorted(theirs, rows), theirs.size - 1)
    return at[theirs[at] == rows]
