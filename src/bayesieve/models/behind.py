"""What stands behind the terms of a fitted model, its weights held fixed."""

from collections.abc import Sequence

import numpy as np

from ..checks import Array
from .base import Floats, Ints
from .counts import log_shares_of
from .fitted import FittedProblem
from .log_ratios import WEIGHT_STEPS, presence
from .pairs import SHRINK, PairTerms
from .support import Support


def column_support(problem: FittedProblem, j: int, values: Array) -> Support | None:
    """What stands behind a column; None: nobody knows.

    Parameters
    ----------
    problem, j : a model, and a column of it.
    values : numbers to speak of; of a column with levels, all codes are spoken of.
    """
    column, weighting, weight = problem.columns[j], problem.weighting, problem.summary.class_weight
    found = column.model.support(column, values)
    if found is None or weighting is None:
        return found
    counts = column.statistics[0]
    if weighting.speaks and counts[-1].any():
        # What it adds that a value is there; and a missing one has its rows, too.
        pseudo = float(column.settings.smoothing)
        more, _ = presence(counts, problem.summary, pseudo)
        found = Support(
            np.vstack([found.point[:-1] + more[:-1], more[-1:]]),
            np.vstack([found.rows[:-1], counts[-1:]]),
            np.vstack([found.prior[:-1], pseudo / weight[None]]),
            np.maximum(found.whole, counts.sum(0)),
        )
    return _weighted(problem, found, weighting.weights[j])


def term_rows(problem: FittedProblem, columns: Sequence[int]) -> Floats | None:
    """Rows of each class behind all that a column, or a pair of columns, says; None: nobody knows.

    Parameters
    ----------
    problem, columns : a model, and one or two columns of it.
    """
    if len(columns) == 2:
        return next(pair.counts for pair in problem.pairs if set(pair.columns) == {*columns})
    (j,) = columns
    if problem.tables[j] is None:
        return None
    found = column_support(problem, j, np.arange(problem.specs[j].n_codes))
    speaks = problem.weighting is not None and problem.weighting.speaks
    return None if found is None else found.rows[: None if speaks else -1]


def pair_support(problem: FittedProblem, pair: PairTerms) -> Support:
    """What stands behind the cells of a pair.

    Rows of the cell, and some that are of the classes as both columns say it apart.
    """
    weight = problem.summary.class_weight
    known = pair.counts * weight
    one, two, total = known.sum(1) + 0.5, known.sum(0) + 0.5, known.sum((0, 1))
    apart = (one[:, None] * two[None] / np.maximum(total, 1.0)).reshape(-1, weight.size)
    counts = pair.counts.reshape(apart.shape)
    prior = SHRINK * apart / apart.sum(1, keepdims=True) / weight
    point = np.log(counts + prior) - np.log(np.maximum(counts.sum(0), 1.0))
    return _weighted(problem, Support(point, counts, prior, counts.sum(0)), pair.weights)


def _weighted(problem: FittedProblem, found: Support, weights: Ints) -> Support:
    """Support of what is said with weights."""
    shares = np.exp(log_shares_of(problem.summary.class_count * problem.summary.class_weight))
    return found._replace(weights=weights / WEIGHT_STEPS, shares=shares)
