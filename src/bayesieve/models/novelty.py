"""How improbable the values of a row are under every class.

A column's surprise is -log P(value | class), less its mean in that class: a missing value, and one
as probable as usual, adds nothing.  Shares are counts of training rows; numbers on a grid count in
about equal groups, and a value beyond all that were seen, or a new category, is a group of its own.
"""

from typing import NamedTuple

import numpy as np

from ..checks import Array, Bools
from ..data.columns import ColumnSpec, encode, is_missing
from ..data.tables import Table
from .base import ColumnTerms, Floats, Ints
from .fitted import FittedBayes, FittedProblem
from .gaussian import Mixtures, Moments, plain_squares

# Groups of a grid that are counted.
_GROUPS = 32

# What is added to each count, of values never seen as of all others.
_PSEUDO = 0.5

# Standard deviations beyond which a number is as surprising as it can be.
_FARTHEST = 1e6


class Surprise(NamedTuple):
    """How surprising the values of some rows are: rows x classes, and its variance by class."""

    values: Floats
    variance: Floats


def surprise(fitted: FittedBayes, rows: Table) -> Floats:
    """How many standard deviations a row is more surprising than usual, in its nearest class.

    With labels, the largest over the labels.

    Parameters
    ----------
    fitted : the model, whose training counts judge.
    rows : what it is asked about; its columns only.
    """
    return np.max([_nearest(problem, rows) for problem in fitted.problems], axis=0, initial=-np.inf)


def _nearest(problem: FittedProblem, rows: Table) -> Floats:
    """How surprising rows are in one problem: the least over its classes."""
    n_classes = len(problem.classes)
    total, variance = np.zeros((rows.n_rows, n_classes)), np.zeros(n_classes)
    for j in range(len(problem.specs)):
        values, codes = rows.coded(j)
        found = _column(problem.specs[j], problem.columns[j], values)
        total += found.values if codes is None else found.values[codes]
        variance += found.variance
    known = problem.summary.class_count > 0
    spread = np.sqrt(np.where(variance > 0, variance, 1.0))
    return (total / spread)[:, known].min(1)


def _column(spec: ColumnSpec, column: ColumnTerms, values: Array) -> Surprise:
    """One column, by its counts or its moments; a model that has neither speaks itself."""
    statistics = column.statistics
    if spec.levels is not None:
        groups, counts = grouped(spec, statistics[0], _GROUPS)
        return _by_counts(counts, group_of(spec, groups, values))
    numbers = np.asarray(values, np.float64)
    missing = np.isnan(numbers)
    if isinstance(statistics, Moments | Mixtures):
        return _by_moments(spec, statistics, numbers, missing)
    found = -column.of(encode(spec, numbers), 0).finite
    return Surprise(np.where(missing[:, None], 0.0, found), np.zeros(found.shape[1]))


def grouped(spec: ColumnSpec, counts: Floats, most: int) -> tuple[Ints, Floats]:
    """The group of each level, and the counts of groups x classes; missing values are left out.

    Parameters
    ----------
    spec, counts : the column, and its training rows: codes x classes.
    most : groups of a grid, at most; levels of other columns are groups of their own.
    """
    known = counts[:-1]
    n_levels = len(known)
    groups = np.arange(n_levels)
    if spec.on_grid and n_levels > most:
        below = np.cumsum(known.sum(1)) - known.sum(1)
        groups = np.minimum((below * most / max(known.sum(), 1.0)).astype(np.int64), most - 1)
        groups = np.unique(groups, return_inverse=True)[1]
    found = np.zeros((int(groups.max(initial=-1)) + 1, counts.shape[1]))
    np.add.at(found, groups, known)
    return groups, found


def group_of(spec: ColumnSpec, groups: Ints, values: Array) -> Ints:
    """The group of each value; -1: missing, and the number of groups: never seen.

    Parameters
    ----------
    spec : the column.
    groups : of its levels, as `grouped` gives them.
    values : as they came.
    """
    codes = encode(spec, values).astype(np.int64)
    new = int(groups.max(initial=-1)) + 1
    found = np.append(groups, new)[codes]
    if spec.on_grid and spec.distinct is not None and spec.distinct.size:
        numbers = np.asarray(values, np.float64)
        low, high = spec.distinct[[0, -1]]
        found[(numbers < low) | (numbers > high)] = new
    found[_unknown(values)] = -1
    return found


def _unknown(values: Array) -> Bools:
    if values.dtype == object:
        return np.array([v is None or v == "" or v != v for v in values], dtype=bool)
    return is_missing(values)


def _by_counts(counts: Floats, groups: Ints) -> Surprise:
    """Shares of groups, of which one more was never seen."""
    padded = np.vstack([counts, np.zeros(counts.shape[1])]) + _PSEUDO
    shares = padded / padded.sum(0)
    logs = -np.log(shares)
    mean = (shares * logs).sum(0)
    table = np.vstack([logs - mean, np.zeros(counts.shape[1])])  # the last: missing
    return Surprise(table[groups], (shares * np.square(logs - mean)).sum(0))


def _by_moments(
    spec: ColumnSpec, moments: Moments | Mixtures, numbers: Floats, missing: Bools
) -> Surprise:
    """Squared distances from the mean of a class, in units of its variance."""
    weight, mean, squares = moments.weight[0], moments.mean[0], plain_squares(moments)[0]
    variance = np.divide(squares, weight, out=np.zeros(weight.size), where=weight > 0)
    least = spec.resolution / 6
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = np.maximum(np.sqrt(np.nan_to_num(variance, nan=np.inf)), least)
        apart = np.abs(numbers[:, None] - mean) / deviation
    apart = np.minimum(np.nan_to_num(apart, nan=0.0), _FARTHEST)
    found = (np.square(apart) - 1) / 2
    return Surprise(np.where(missing[:, None], 0.0, found), np.full(weight.size, 0.5))
