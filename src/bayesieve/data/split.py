"""Which rows train, guide and validate: groups, folds, splitters, lists of rows."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils.validation import column_or_1d

from ..checks import Array, Bools, Ints, plain_value
from .sample import Sample, is_share, split_rows
from .tables import is_nan

Rows = Ints


def read_groups_of_rows(groups: Any, n_rows: int) -> Array | None:
    """One group a row, none missing."""
    if groups is None:
        return None
    if isinstance(groups, str) or not np.ndim(groups):
        raise TypeError(
            f"groups must be one value a row; got {groups!r}. Give the column itself, such as "
            "X['site'], and leave it out of X."
        )
    shape = np.shape(groups)
    if shape[1:] not in ((), (1,)):
        raise ValueError(
            f"groups must be one value a row; got an array of shape {shape}. Join the columns that "
            "make a group into one, such as texts of both."
        )
    groups = column_or_1d(groups)
    if len(groups) != n_rows:
        raise ValueError(
            f"groups has {len(groups)} values, but X has {n_rows} rows; give one group a row."
        )
    missing = [i for i, value in enumerate(groups.tolist()) if value is None or is_nan(value)]
    if missing:
        raise ValueError(
            f"groups is missing in {len(missing)} row(s), such as row {missing[0]}; give every row "
            "a group, a row without others a group of its own."
        )
    return groups


def group_numbers(groups: Array) -> Rows:
    """Groups counted from 0; values of any kind, equal where they are equal."""
    known: dict[object, int] = {}
    found = [known.setdefault(value, len(known)) for value in groups.tolist()]
    return np.array(found, np.int64)


def read_mates(groups: Array | None, rows: Rows) -> Rows | None:
    """The number of each row's group; None where rows are independent."""
    if groups is None:
        return None
    found = group_numbers(groups[rows])
    if not found.any():
        raise ValueError(
            "groups has one group only: whole groups are left out, and none would be left to learn "
            "from. Give groups of two values at least, or leave groups out."
        )
    return found


def middle_rows(mates: Rows) -> Rows:
    """The row in the middle of each group: as many independent rows as there are groups.

    Examples
    --------
    >>> middle_rows(np.array([7, 3, 7, 3, 7])).tolist()
    [2, 3]
    """
    order = np.argsort(mates, kind="stable")
    _, first, size = np.unique(mates[order], return_index=True, return_counts=True)
    return np.sort(order[first + size // 2])


def in_order(groups: Array) -> Array:
    """The groups as splitters take them: numbers in place of values that have no order.

    Examples
    --------
    >>> in_order(np.array(["b", 1, "b"], dtype=object)).tolist()
    [0, 1, 0]
    """
    try:
        np.unique(groups)
    except TypeError:
        return group_numbers(groups)
    return groups


def check_apart(groups: Array | None, one: Rows, other: Rows, where: str) -> None:
    """Refuse rows of one group on both sides."""
    if groups is None:
        return
    numbers = group_numbers(groups)
    both = np.intersect1d(numbers[one], numbers[other])
    if both.size:
        name = plain_value(groups[np.flatnonzero(numbers == both[0])[0]])
        raise ValueError(
            f"{where} puts rows of the group {name!r} on both sides; use a splitter by groups, "
            "such as scikit-learn's GroupKFold, or leave groups out."
        )


def find_parts(
    validation: Any,
    sample: Sample,
    groups: Array | None,
    n_rows: int,
    random_state: np.random.RandomState,
) -> tuple[Rows, Rows]:
    """Guiding and validation rows, as positions in the sample; no group is in both.

    `validation` is None, a share, a splitter (its last split counts), or a mask or list of the
    user's rows.
    """
    mine = None if groups is None else groups[sample.rows]
    if is_share(validation):
        if mine is None or validation is None:
            return split_rows(sample.strata, validation, random_state)
        numbers = group_numbers(mine)
        return _split_groups(sample.strata, numbers, float(validation), random_state)
    if hasattr(validation, "split"):
        guiding, validating = _last_split(validation, sample, mine)
    else:
        here = _named_rows(validation, n_rows)[sample.rows]
        guiding, validating = np.flatnonzero(~here), np.flatnonzero(here)
    if not validating.size or not guiding.size:
        kind = "choose the subset on" if guiding.size else "guide the search"
        raise ValueError(f"validation leaves no row to {kind} ({sample.labels.size} rows).")
    check_apart(mine, guiding, validating, "validation")
    if not sample.targets.labelled:
        lost = np.setdiff1d(sample.labels, sample.labels[guiding])
        if lost.size:
            name = plain_value(sample.classes[lost[0]])
            raise ValueError(
                f"validation leaves no guiding row of class {name!r}; every class must guide. Name "
                "other rows, or join rare classes."
            )
    return guiding, validating


def _split_groups(
    strata: Rows, groups: Rows, share: float, random_state: np.random.RandomState
) -> tuple[Rows, Rows]:
    """Whole groups, drawn in turn where they bring each class nearer to its share.

    A group without which a class (or its like among labels) would guide no more stays.
    """
    n_groups = int(groups.max()) + 1
    if n_groups < 2:
        raise ValueError(
            "groups has one group only, which cannot both guide and choose; use validation=None, "
            "or groups of which there are several."
        )
    counts = np.zeros((n_groups, int(strata.max()) + 1), np.int64)
    np.add.at(counts, (groups, strata), 1)
    total = counts.sum(0)
    held, taken = np.zeros(total.size, np.int64), np.zeros(n_groups, bool)
    for group in random_state.permutation(n_groups):
        more = held + counts[group]
        if (more < total)[total > 0].all() and _off(more, share, total) < _off(held, share, total):
            held, taken[group] = more, True
    if not taken.any():
        raise ValueError(
            f"validation={share} finds no group to choose the subset on: each of the {n_groups} is "
            "too large, or the only one of some class. Use validation=None, or smaller groups."
        )
    return np.flatnonzero(~taken[groups]), np.flatnonzero(taken[groups])


def _off(held: Rows, share: float, total: Rows) -> float:
    """How far the classes are from their shares, each by its own size."""
    return float(np.square((held - share * total) / np.maximum(total, 1)).sum())


def _last_split(splitter: Any, sample: Sample, groups: Array | None) -> tuple[Rows, Rows]:
    """The last of a splitter's splits: of those by time, the one with the latest rows."""
    ordered = None if groups is None else in_order(groups)
    found = list(splitter.split(np.zeros((sample.labels.size, 1)), sample.strata, ordered))
    if not found:
        raise ValueError("validation: the splitter gives no split.")
    guiding, validating = (np.unique(np.asarray(part, np.int64)) for part in found[-1])
    if np.intersect1d(guiding, validating).size:
        raise ValueError("validation: the splitter puts rows on both sides.")
    return guiding, validating


def _named_rows(rows: Any, n_rows: int) -> Bools:
    """A mask of the rows that are named by a mask or by their numbers."""
    given = np.asarray(rows if hasattr(rows, "__array__") else list(rows))
    if given.ndim != 1 or given.dtype.kind not in "biu":
        raise TypeError(
            "validation must be None, a number from 0 to 1, a splitter, or a mask or list of rows; "
            f"got an array of {given.dtype} and shape {given.shape}."
        )
    if given.dtype == bool:
        if given.size != n_rows:
            raise ValueError(
                f"validation is a mask of {given.size} rows, but X has {n_rows}; give one truth "
                "value a row."
            )
        return given
    odd = given[(given < 0) | (given >= n_rows)]
    if odd.size:
        raise ValueError(
            f"validation names row {odd[0]}; the rows of X are numbered from 0 to {n_rows - 1}."
        )
    found = np.zeros(n_rows, bool)
    found[given] = True
    return found


def validation_among(validation: Any, rows: Rows, n_rows: int) -> Any:
    """Validation for a table of some of the rows, whose numbers differ from the whole table's."""
    if is_share(validation) or isinstance(validation, str) or hasattr(validation, "split"):
        return validation
    return _named_rows(validation, n_rows)[rows]


def later_rows(time: Array, share: float) -> Bools:
    """Which rows are the latest, about this share of them; rows of one moment stay together.

    Examples
    --------
    >>> later_rows(np.array([3, 1, 2, 3, 0]), 0.4)
    array([ True, False, False,  True, False])
    """
    moments, counts = np.unique(time, return_counts=True)
    if moments.size < 2:
        raise ValueError("time has one value only: no row is later than another.")
    later = np.cumsum(counts[::-1])[::-1][1:]  # rows from each moment but the first on
    cut = moments[1 + int(np.abs(later - share * time.size).argmin())]
    return time >= cut


# -- Folds, splitters and lists of rows ------------------------------------------------------------


def training_copies(trains: list[Rows], n_rows: int) -> tuple[Rows, tuple[Rows, ...]]:
    """Rows, each as often as the set that needs it most has it, and which of these each set omits.

    Where no set has a row twice, these are the rows themselves and those that a set has not.

    Examples
    --------
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
    cv: Any, mine: Ints, theirs: Rows, groups: Array | None, n_rows: int
) -> list[tuple[Rows, Rows]]:
    """Pairs of train and test positions among the guiding rows; a row may come several times.

    `cv` is a number of folds, a splitter, or an iterable of pairs of the user's row numbers, which
    `theirs` tells of the guiding rows; no group is on both sides of a split.
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
