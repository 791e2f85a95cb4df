"""The rows of a fit: X, y, weights and groups validated, and which train, guide and validate."""

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeGuard

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import LeaveOneOut, StratifiedGroupKFold, check_cv
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from ..checks import Array, Bools, Floats, Foreign, Ints, as_fraction, choose, plain_value
from .columns import only_texts
from .tables import Table, is_frame, is_nan, read_table


@dataclass(frozen=True)
class Targets:
    """Class problems that rows take part in: one of many classes, or one of two classes a label.

    Parameters
    ----------
    classes : class index of every row in every problem, rows x problems.
    n_classes : classes of each problem; 2 where there is more than one.
    names : a name for each problem.
    labelled : a matrix of labels was given.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models import Targets
    >>> targets = Targets(np.array([[0, 1], [0, 0]]), 2, ("rain", "wind"), labelled=True)
    >>> targets.n_groups, targets.odds, targets.positive.tolist()
    (2, True, [True, False])
    """

    classes: Ints
    n_classes: int
    names: tuple[str, ...]
    labelled: bool = False

    @property
    def n_groups(self) -> int:
        """How many problems."""
        return self.classes.shape[1]

    @property
    def odds(self) -> bool:
        """Two classes everywhere: the log-odds of the second say all."""
        return self.n_classes == 2

    @cached_property
    def member(self) -> Ints:
        """Class columns of every row: problem g has the columns from g * n_classes on."""
        return self.classes + self.n_classes * np.arange(self.n_groups)

    @cached_property
    def positive(self) -> Bools:
        """Rows with any label, or not of the first class."""
        return np.asarray(self.classes.any(axis=1))

    def take(self, rows: Ints) -> "Targets":
        """Some rows only."""
        return Targets(self.classes[rows], self.n_classes, self.names, self.labelled)


def read_labels(y: Any, n_rows: int) -> Targets:
    """A 0/1 matrix of labels."""
    names = None
    if is_frame(y):
        try:
            frame = nw.from_native(y, eager_only=True)
        except nw.exceptions.DuplicateError as error:
            raise ValueError(
                f"y has labels of the same name; names must differ. {error}"
            ) from error
        names, y = [str(name) for name in frame.columns], frame.to_numpy()
    y = y.toarray() if scipy.sparse.issparse(y) else np.asarray(y)
    if y.dtype == object and all(isinstance(v, Real | np.bool_) for v in y.ravel().tolist()):
        y = y.astype(np.float64)
    names = names or [f"{j}" for j in range(y.shape[1])]
    if y.shape[0] != n_rows:
        raise ValueError(
            f"y has {y.shape[0]} rows, but X has {n_rows}; give one row of labels each."
        )
    if y.dtype.kind not in "fiub":
        raise TypeError(
            f"y: a matrix of labels must hold 0 and 1 only; got values of type {y.dtype}."
        )
    odd = (y != 0) & (y != 1)
    if odd.any():
        i, j = np.argwhere(odd)[0]
        raise ValueError(
            "y: a matrix of labels must hold 0 and 1 only; got "
            f"{plain_value(y[i, j])!r} at row {i}, label {names[j]!r}. Give one class a row for "
            "several classes."
        )
    return Targets(y.astype(np.int64), 2, tuple(names), labelled=True)


# -- Rows as the estimators read them, and which of them guide and which choose --------------------


def read_target(y: Any, n_rows: int) -> tuple[Array, Ints]:
    """Classes, and the class index of every row."""
    if y is None:
        raise ValueError(
            "y is needed (requires y to be passed, but the target y is None): give one class a row."
        )
    if scipy.sparse.issparse(y):
        raise TypeError("y: one class a row must be a dense array; got a sparse one.")
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} values, but X has {n_rows} rows; give one class a row.")
    if y.dtype.kind in "fc" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity; drop or repair these rows first.")
    if y.dtype == object and only_texts(y) and None not in (known := set(y.tolist())):
        # Texts are classes: nothing else to judge, and no need to sort them all.
        place = {text: at for at, text in enumerate(sorted(known))}
        labels = np.array([place[text] for text in y.tolist()], np.int64)
        return np.array(list(place), dtype=object), labels
    if y.dtype == object and any(v is None or is_nan(v) for v in y.tolist()):
        raise ValueError("Input y contains NaN (missing classes); drop these rows first.")
    y = unboxed(y)
    try:
        with np.errstate(invalid="ignore"):  # numbers beyond the largest integer
            check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in y.tolist()})
        raise TypeError(
            f"y must hold classes of one kind, all text or all numbers; got {', '.join(kinds)}."
        ) from error
    return classes, labels.astype(np.int64).ravel()


def unboxed(y: Array) -> Array:
    """Numbers and truth values that came as objects in a type of their own; others as they are.

    Examples
    --------
    >>> unboxed(np.array([2, 1], dtype=object)), unboxed(np.array(["b", "a"], dtype=object))
    (array([2, 1]), array(['b', 'a'], dtype=object))
    """
    if y.dtype != object or not all(isinstance(value, Real | np.bool_) for value in y.flat):
        return y
    if all(isinstance(value, bool | np.bool_) for value in y.flat):
        return y.astype(np.bool_)
    if not all(isinstance(value, Integral | np.bool_) for value in y.flat):
        return y.astype(np.float64)
    for dtype in (np.int64, np.uint64):
        with contextlib.suppress(OverflowError):
            return y.astype(dtype)
    raise ValueError(
        f"y must hold whole numbers of 64 bits where they are classes; got {max(y.flat, key=abs)}. "
        "Turn y into text first."
    )


def is_label_matrix(y: Any) -> bool:
    """Is this a matrix of labels, one column a label, rather than one class a row?"""
    if y is None or isinstance(y, str):
        return False
    if scipy.sparse.issparse(y):
        return y.ndim == 2
    shape = getattr(y, "shape", None)
    if shape is None:
        try:
            shape = np.asarray(y).shape
        except ValueError:  # lists of unequal length: not a matrix
            return False
    return len(shape) == 2 and shape[1] > 1


def class_factors(
    class_weight: Any, labels: Ints, weights: Floats, n_classes: int
) -> list[Fraction]:
    """Weight of each class as an exact fraction; "balanced" is n / (K n_k)."""
    if class_weight is None:
        return [Fraction(1)] * n_classes
    if class_weight == "balanced":
        counts = np.bincount(labels, weights, n_classes)
        total = Fraction(float(counts.sum()))
        return [total / (n_classes * Fraction(float(count))) for count in counts]
    given = [float(class_weight.get(k, 1.0)) for k in range(n_classes)]
    # 0.1 is a tenth, not the float beside it: three errors at 0.1 weigh one at 0.3.
    return [as_fraction(weight) or Fraction(weight) for weight in given]


_CLASS_WEIGHTS = (1e-9, 1e9)


def check_class_weight(class_weight: Any, classes: Array) -> dict[int, float] | str | None:
    """None, "balanced", or a mapping of classes to positive numbers (as class indices)."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weight
    if isinstance(class_weight, str):
        choose("class_weight", class_weight, ["balanced"], beside="weights by class")
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            "class_weight must be None, 'balanced' or a mapping of classes to weights; got "
            f"{type(class_weight).__name__}."
        )
    known = {value: k for k, value in enumerate(classes.tolist())}
    weights = {}
    for key, value in class_weight.items():
        if key not in known:
            raise ValueError(
                f"class_weight names class {key!r}; allowed are {', '.join(map(repr, known))}."
            )
        low, high = _CLASS_WEIGHTS
        if not isinstance(value, Real) or isinstance(value, bool) or not low <= value <= high:  # type: ignore[operator]
            raise ValueError(
                f"class_weight[{key!r}] must be a positive number from {low:g} to {high:g}; got "
                f"{value!r}."
            )
        weights[known[key]] = float(value)
    return weights


# Beyond as many repeated rows, exact sums would lose the ninth digit of a score.
_MOST_WEIGHT = 2**31


def read_weights(sample_weight: Any, X: Table, *, whole: bool = False) -> Floats:
    """One weight a row, none negative, not all zero; integers where `whole`."""
    if sample_weight is not None and np.asarray(sample_weight).dtype.kind in "US":
        raise ValueError(f"sample_weight must hold numbers, one a row; got {sample_weight!r}.")
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise ValueError("sample_weight must not be all zero: no row is left.")
    try:
        weights = _check_sample_weight(
            sample_weight, np.empty((X.n_rows, 1)), dtype=np.float64, copy=True
        )
    except OverflowError as error:
        raise ValueError(
            "sample_weight must be numbers up to about 1.8e308; got a larger one. Divide all "
            "weights by a common number."
        ) from error
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; got {weights.min():g} at row "
            f"{int(weights.argmin())}. A weight says how many rows a row stands for."
        )
    most = _MOST_WEIGHT if whole else np.finfo(float).max
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > most:
        raise ValueError(
            f"sample_weight must not add up to more than {most:g}; got {total:g}. Divide all "
            "weights by a common number."
        )
    if whole and (weights != np.rint(weights)).any():
        first = int(np.flatnonzero(weights != np.rint(weights))[0])
        raise ValueError(
            f"sample_weight must be whole numbers here (how often a row is repeated); got "
            f"{weights[first]:g} at row {first}. Use class_weight for the balance between classes."
        )
    return weights


# Combinations of labels in fewer rows are split together: with some label, or with none.
_RARE = 10


class Sample(NamedTuple):
    """Validated input of a fit: rows with a positive weight."""

    table: Table
    targets: Targets
    labels: Ints  #: class of every row; with labels, which combination it has
    weights: Floats
    classes: Array
    rows: Ints  #: rows of X behind them

    @property
    def repeats(self) -> Floats | None:
        """How often each row counts; None where every row counts once."""
        return None if (self.weights == 1).all() else self.weights

    @property
    def strata(self) -> Ints:
        """What splits keep in balance: classes; of labels, combinations that are not rare."""
        if not self.targets.labelled:
            return self.labels
        rare = np.bincount(self.labels) < _RARE
        first = np.unique(self.labels, return_index=True)[1]  # row of each combination
        kinds = np.where(rare, self.targets.positive[first], np.arange(rare.size) + 2)
        return np.unique(kinds[self.labels], return_inverse=True)[1].astype(np.int64)

    def take(self, at: Ints) -> "Sample":
        """Some rows only."""
        return Sample(
            self.table.take(at),
            self.targets.take(at),
            self.labels[at],
            self.weights[at],
            self.classes,
            self.rows[at],
        )

    def pick(self, columns: Ints) -> "Sample":
        """Some columns only."""
        return self._replace(table=self.table.pick(columns))


def read_sample(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    known: Any = None,
    reset: bool = True,
    whole: bool = False,
) -> Sample:
    """Validate X, y and the weights; rows without weight are gone.

    `known` are the classes of an earlier batch, `reset` tells the first one; `whole` weights are
    whole numbers.
    """
    table = read_table(estimator, X, reset=reset)
    weights = read_weights(sample_weight, table, whole=whole)
    rows = np.flatnonzero(weights > 0)
    targets, labels, classes = judge_target(y, table.n_rows, rows, known)
    # A weight of 0 is the same as a row that is not there.
    table = table if rows.size == table.n_rows else table.take(rows)
    return Sample(table, targets, labels, weights[rows], classes, rows)


def judge_target(
    y: Foreign, n_rows: int, rows: Ints, known: Foreign = None
) -> tuple[Targets, Ints, Array]:
    """What rows belong to, the class of each (of labels: which combination it has), the classes.

    `rows` are those with a positive weight, `known` the classes of an earlier batch.
    """
    if is_label_matrix(y):
        targets = read_labels(y, n_rows).take(rows)
        # Rows with the same labels are alike to whoever splits them.
        labels = np.unique(targets.classes, axis=0, return_inverse=True)[1].ravel()
        return targets, labels.astype(np.int64), np.array([0, 1])
    classes, labels = read_target(y, n_rows)
    if known is not None:
        unknown = np.setdiff1d(classes, known)
        if unknown.size:
            raise ValueError(
                f"y holds {unknown.tolist()}, which are not among the classes "
                f"{np.asarray(known).tolist()} of the first call to partial_fit."
            )
        labels = np.searchsorted(known, classes)[labels]
        classes = np.asarray(known)
    some_left_out = rows.size < n_rows
    if some_left_out:
        labels = labels[rows]
        if known is None:
            left, labels = np.unique(labels, return_inverse=True)
            classes = classes[left]
    if len(classes) < 2:
        where = " where sample_weight is positive" if some_left_out else ""
        raise ValueError(
            f"y must hold at least 2 classes; got 1 class ({plain_value(classes[0])!r}){where}. "
            "Nothing can be told apart."
        )
    labels = labels.astype(np.int64)
    return Targets(labels[:, None], len(classes), (str(classes[-1]),)), labels, classes


def split_rows(
    labels: Ints, share: float | None, random_state: np.random.RandomState
) -> tuple[Ints, Ints]:
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


def is_share(validation: object) -> TypeGuard[float | None]:
    """Is this a share of the rows, or None?  All else names rows, or how to find them."""
    return validation is None or isinstance(validation, Real)


def means_loo(cv: Any) -> bool:
    """Is this leave-one-out, by name or as scikit-learn's splitter?"""
    return (isinstance(cv, str) and cv == "loo") or isinstance(cv, LeaveOneOut)


# -- Groups of rows, and rows that validate --------------------------------------------------------


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


def group_numbers(groups: Array) -> Ints:
    """Groups counted from 0; values of any kind, equal where they are equal."""
    known: dict[object, int] = {}
    found = [known.setdefault(value, len(known)) for value in groups.tolist()]
    return np.array(found, np.int64)


def read_mates(groups: Array | None, rows: Ints) -> Ints | None:
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


def middle_rows(mates: Ints) -> Ints:
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


def check_apart(groups: Array | None, one: Ints, other: Ints, where: str) -> None:
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
) -> tuple[Ints, Ints]:
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
    strata: Ints, groups: Ints, share: float, random_state: np.random.RandomState
) -> tuple[Ints, Ints]:
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


def _off(held: Ints, share: float, total: Ints) -> float:
    """How far the classes are from their shares, each by its own size."""
    return float(np.square((held - share * total) / np.maximum(total, 1)).sum())


def _last_split(splitter: Any, sample: Sample, groups: Array | None) -> tuple[Ints, Ints]:
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


def validation_among(validation: Any, rows: Ints, n_rows: int) -> Any:
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


def training_copies(trains: list[Ints], n_rows: int) -> tuple[Ints, tuple[Ints, ...]]:
    """Ints, each as often as the set that needs it most has it, and which of these each set omits.

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
    cv: Any, mine: Ints, theirs: Ints, groups: Array | None, n_rows: int
) -> list[tuple[Ints, Ints]]:
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


def _pair(pair: Any, split: int, n_rows: int, whose: str) -> tuple[Ints, Ints]:
    """Row numbers to train on and to test on, from one item of an iterable or a splitter."""
    parts = list(pair) if isinstance(pair, Iterable) else []
    if len(parts) != 2:
        raise TypeError(f"cv must give pairs (train, test) of row numbers; got {pair!r}.")
    train, test = (read_rows(part, split, n_rows, whose) for part in parts)
    return train, test


def read_rows(rows: Any, split: int, n_rows: int, whose: str = "the rows of X") -> Ints:
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


def _positions(rows: Ints, theirs: Ints) -> Ints:
    """Where these rows stand among the guiding ones; the others are left out."""
    at = np.minimum(np.searchsorted(theirs, rows), theirs.size - 1)
    return at[theirs[at] == rows]
