"""Folds, splitters and lists of rows: which tables each line reads."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from ..checks import Array
from .parts import check_apart, group_numbers, in_order

Rows = NDArray[np.int64]


def training_copies(trains: list[Rows], n_rows: int) -> tuple[Rows, tuple[Rows, ...]]:
    """Rows, each as often as the set that needs it most has it, and which of these each set omits.

    Where no set has a row twice, these are the rows themselves and those that a set has not.

    Parameters
    ----------
    trains : the rows of each set, by number, repeats included.
    n_rows : how many rows there are.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.data.folds import training_copies
    >>> rows, left_out = training_copies([np.array([0, 2, 2]), np.array([1, 2])], 3)
    >>> rows.tolist(), [each.tolist() for each in left_out]
    ([0, 1, 2, 2], [[1], [0, 3]])
    """
    most = np.ones(n_rows, np.int64)
    for train in trains:
        most = np.maximum(most, np.bincount(train, minlength=n_rows))
    rows = np.repeat(np.arange(n_rows), most)
    copy = np.arange(rows.size) - np.repeat(np.cumsum(most) - most, most)
    return rows, tuple(
        np.flatnonzero(copy >= np.bincount(train, minlength=n_rows)[rows]) for train in trains
    )


def find_splits(
    cv: Any, mine: NDArray[np.int64], theirs: Rows, groups: Array | None, n_rows: int
) -> list[tuple[Rows, Rows]]:
    """Pairs of train and test positions among the guiding rows; a row may come several times.

    Parameters
    ----------
    cv : a number of folds, a splitter, or an iterable of (train, test) row numbers.
    mine : class of each guiding row.
    theirs : the user's number of each guiding row.
    groups : the user's groups, one a row of theirs: none is on both sides of a split.
    n_rows : how many rows the user's table has.
    """
    ordered = None if groups is None else in_order(groups[theirs])
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if not 2 <= int(cv) <= mine.size:
            raise ValueError(
                f"cv must be from 2 to the number of guiding rows ({mine.size}); got {cv}. Use "
                "fewer folds, a smaller validation share, or more rows."
            )
        try:
            folds = check_cv(int(cv), mine, classifier=True)
            if groups is not None and np.unique(group_numbers(groups[theirs])).size < 2:
                raise ValueError(
                    "groups has one group only, which cannot be on both sides of a fold; give "
                    "groups of two values at least, or leave groups out."
                )
            if groups is not None:
                folds = StratifiedGroupKFold(int(cv))
            found = list(folds.split(mine, mine, ordered))
        except ValueError as error:
            raise ValueError(f"cv={cv} does not suit the guiding rows: {error}") from error
    elif hasattr(cv, "split"):
        pairs = cv.split(mine, mine, ordered)
        whose = "the guiding rows that the splitter was given"
        found = [_pair(pair, g, mine.size, whose) for g, pair in enumerate(pairs)]
    elif isinstance(cv, Iterable):
        pairs = [_pair(pair, g, n_rows, "the rows of X") for g, pair in enumerate(cv)]
        found = [(_positions(train, theirs), _positions(test, theirs)) for train, test in pairs]
    else:
        raise TypeError(
            "cv must be 'train', 'loo', a number of folds, a splitter, or an iterable of (train, "
            f"test) row numbers; got {cv!r}."
        )
    if not any(test.size for _, test in found):
        raise ValueError("cv gives no test row within the guiding part.")
    for g, (train, test) in enumerate(found):
        if not train.size:
            raise ValueError(f"cv: split {g} has no training row within the guiding part.")
        if groups is not None:
            check_apart(groups[theirs], train, test, f"cv: split {g}")
    return [(train.astype(np.int64), test.astype(np.int64)) for train, test in found]


def _pair(pair: Any, split: int, n_rows: int, whose: str) -> tuple[Rows, Rows]:
    """Row numbers to train on and to test on, from one item of an iterable or a splitter."""
    parts = list(pair) if isinstance(pair, Iterable) else []
    if len(parts) != 2:
        raise TypeError(f"cv must give pairs (train, test) of row numbers; got {pair!r}.")
    train, test = (read_rows(part, split, n_rows, whose) for part in parts)
    return train, test


def read_rows(rows: Any, split: int, n_rows: int, whose: str = "the rows of X") -> Rows:
    """Row numbers, or a mask, of one part of a split; a number that is no row is refused."""
    rows = np.asarray(rows)
    if rows.ndim != 1:
        raise TypeError(
            f"cv: split {split} must give lists of row numbers; got an array of shape {rows.shape}."
        )
    if rows.dtype == bool:
        if rows.size != n_rows:
            raise ValueError(
                f"cv: split {split} gives a mask of {rows.size} values for {whose}, of which there "
                f"are {n_rows}."
            )
        rows = np.flatnonzero(rows)
    if rows.size and rows.dtype.kind not in "iu":
        raise TypeError(f"cv must give whole row numbers; got an array of {rows.dtype}.")
    odd = rows[(rows < 0) | (rows >= n_rows)]
    if odd.size:
        raise ValueError(
            f"cv: split {split} names row {odd[0]}; {whose} are numbered from 0 to {n_rows - 1}. "
            "Leave it out, or count from the first row."
        )
    return rows.astype(np.int64)


def _positions(rows: Rows, theirs: Rows) -> Rows:
    """Where these rows stand among the guiding ones; the others are left out."""
    at = np.minimum(np.searchsorted(theirs, rows), theirs.size - 1)
    return at[theirs[at] == rows]
