"""Weights of rows and of classes."""

from collections.abc import Mapping
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from ..checks import choose
from .tables import Table


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


_CLASS_WEIGHTS = (1e-9, 1e9)


def check_class_weight(class_weight: Any, classes: NDArray[Any]) -> dict[int, float] | str | None:
    """None, "balanced", or a mapping of classes to positive numbers (as class indices)."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weight
    if isinstance(class_weight, str):
        choose("class_weight", class_weight, ["balanced"])
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
        if not isinstance(value, Real) or not low <= float(value) <= high:
            raise ValueError(
                f"class_weight[{key!r}] must be a positive number from {low:g} to {high:g}; got "
                f"{value!r}."
            )
        weights[known[key]] = float(value)
    return weights


# Beyond as many repeated rows, exact sums would lose the ninth digit of a score.
_MOST_WEIGHT = 2**31


def read_weights(sample_weight: Any, X: Table, *, whole: bool = False) -> NDArray[np.float64]:
    """One weight a row, none negative, not all zero; integers where `whole`."""
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
