"""`Sample`: validated X, y and weights."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeGuard

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import LeaveOneOut
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


def check_several_classes(classes: Array, some_left_out: bool = False) -> None:
    """A classifier needs a choice, also where rows of weight 0 are left out."""
    if len(classes) < 2:
        where = " where sample_weight is positive" if some_left_out else ""
        raise ValueError(
            f"y must hold at least 2 classes; got 1 class ({plain_value(classes[0])!r}){where}. "
            "Nothing can be told apart."
        )


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
        kinds = np.where(rare, self.targets.positive[self._first], np.arange(rare.size) + 2)
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

    @property
    def _first(self) -> Ints:
        """The first row of each class or combination."""
        return np.unique(self.labels, return_index=True)[1]


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
    check_several_classes(classes, some_left_out)
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
