"""How far chance may move the figures along a path."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..estimators.held import fitted_of, rows_of
from ..estimators.weighted import WeightedNaiveBayes

# States of a weighted path whose bands are drawn, and rows that these rest on.
_MOST_STATES, _MOST_ROWS = 60, 5000


def mean_bands(values: Sequence[float], n_rows: int) -> list[float]:
    """Standard errors of means over rows of values from 0 to 1, such as errors: at most so large.

    Parameters
    ----------
    values : the means.
    n_rows : over how many rows.

    Examples
    --------
    >>> from bayesieve.explain.bands import mean_bands
    >>> mean_bands([0.2, 0.5], 100)
    [0.04, 0.05]
    """
    return [math.sqrt(max(value * (1 - value), 0.0) / n_rows) for value in values]


def weighted_bands(
    model: WeightedNaiveBayes, X: object, y: ArrayLike, groups: ArrayLike | None = None
) -> list[float] | None:
    """Standard errors of the log-loss of each state, over the rows; None where they cost too much.

    Parameters
    ----------
    model : fitted.
    X, y, groups : what it was fitted on; of groups, mean losses are what is counted.
    """
    path, truth = model.path_, np.asarray(y)
    if fitted_of(model).labelled or len(path) > _MOST_STATES:
        return None
    found = []
    for step in path.steps:
        state = model.at(len(step.terms))
        rows = rows_of(state, X)
        some = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _MOST_ROWS)).astype(np.int64)
        problem = state.estimator_.fitted_.only
        logs = problem.log_proba(problem.sums(rows.take(some)))
        at = np.searchsorted(problem.classes, truth[some])
        losses = -np.maximum(logs[np.arange(some.size), at], -700.0)
        if groups is not None:
            _, owner = np.unique(np.asarray(groups)[some], return_inverse=True)
            by_group = np.bincount(owner.ravel(), losses - losses.mean())
            found.append(float(np.sqrt(np.square(by_group).sum()) / some.size))
            continue
        found.append(float(losses.std() / np.sqrt(some.size)))
    return [float(f"{each:.4g}") for each in found]
