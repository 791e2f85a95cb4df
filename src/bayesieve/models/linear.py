"""Naive Bayes for two classes as a linear discriminant (Guyon 2005)."""

from collections.abc import Sequence

import numpy as np

from .base import ColumnTerms, Floats, Ints, Scale, Terms
from .gaussian import GaussianModel


def linear_form(
    columns: Sequence[ColumnTerms], fixed: Sequence[Ints | None], prior: Terms, scale: Scale
) -> tuple[Floats, Floats]:
    """Weights (1 x columns) and constant of the log-odds of class 1 against class 0.

    Parameters
    ----------
    columns : bernoulli and gaussian-pooled columns.
    fixed : the table of each bernoulli column, values x classes.
    prior : log-priors, 1 x classes.
    """
    weights = np.empty(len(columns))
    start = scale.fix(prior)[0]
    with np.errstate(invalid="ignore"):
        constant = scale.release(start[1:] - start[:1])[0]
        for j, (column, table) in enumerate(zip(columns, fixed, strict=True)):
            if table is not None:
                zero, one = scale.release(table[:2, 1] - table[:2, 0])
                weights[j], part = one - zero, zero
            else:
                weights[j], part = _pooled_line(column)
            constant = constant + part
    return weights[None], np.array([constant])


def _pooled_line(column: ColumnTerms) -> tuple[float, float]:
    """Weight (mu1 - mu0) / s^2 and constant (mu0^2 - mu1^2) / (2 s^2) of a pooled column.

    The paper prints the weight with a factor 0.5, which belongs to the constant only.
    """
    model, moments = column.model, column.statistics
    assert isinstance(model, GaussianModel)
    pooled, powers = model.pooled_variance(moments, column.grid.resolution, column.settings)
    variance, power = pooled[0], int(powers[0])
    zero, one = np.ldexp(moments.mean[0], -power)
    weight = np.ldexp((one - zero) / variance, -power)
    return weight, (zero**2 - one**2) / (2 * variance)
