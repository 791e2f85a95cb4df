"""Settings of a model as users give them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import check_number, choose


def check_priors(priors: Any, n_classes: int) -> str | NDArray[np.float64] | None:
    """None, "uniform", or one probability a class."""
    if priors is None:
        return None
    if isinstance(priors, str):
        return choose("priors", priors, ["uniform"])
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"priors must be None, 'uniform' or one number for each class; got {priors!r}."
        ) from error
    if given.shape != (n_classes,):
        raise ValueError(
            f"priors must hold one number for each of the {n_classes} classes; got shape "
            f"{given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any() or not np.isclose(given.sum(), 1.0):
        raise ValueError(
            f"priors must be probabilities that sum to 1; got {given.tolist()}, sum "
            f"{given.sum():g}."
        )
    return given


def check_smoothing(smoothing: Any) -> float | str:
    """A pseudo-count >= 0, or "mean"."""
    if isinstance(smoothing, str):
        return choose("smoothing", smoothing, ["mean"])
    return float(check_number("smoothing", smoothing, low=0.0, high=1e12))
