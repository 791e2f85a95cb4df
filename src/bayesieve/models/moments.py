"""Weight, mean and squares of continuous columns, whatever the size of their numbers."""

from typing import Any, NamedTuple

import numpy as np

from .base import Floats, TrainingSets
from .powers import LEAST_SQUARES, MOST_SQUARES, exponent_of, together


class Moments(NamedTuple):
    """Weight, mean and sum of squared deviations: sets x classes each.

    The squares are in units of 4 to the `power`, which is 0 unless they would not fit.
    """

    weight: Floats
    mean: Floats
    squares: Floats
    power: Floats = np.zeros((1, 1))


def moments_of(column: Floats, sets: TrainingSets) -> Moments:
    """Moments of every set."""
    from .kernels.statistics import moments_by_class

    out = Moments(*np.zeros((4, sets.n_sets, sets.n_classes)))
    for g, rows in enumerate(sets.rows):
        found = (out.weight[g], out.mean[g], out.squares[g])
        moments_by_class(column, sets.labels, sets.weights, rows, sets.row_numbers, *found)
        # Squares that did not fit: the same numbers in another unit, which is a power of two.
        for k in np.flatnonzero(np.isnan(out.squares[g])):
            mine = rows[(sets.labels[rows] == k) & ~np.isnan(column[rows])]
            power, weights = exponent_of(column[mine]), sets.weights[mine]
            unit = int(np.frexp(weights.max())[1])  # weights may be small, too
            alone = np.empty((3, 1))
            moments_by_class(
                np.ldexp(column[mine], -power),
                np.zeros(mine.size, np.int64),
                np.ldexp(weights, -unit),
                np.arange(mine.size),
                sets.row_numbers[mine],
                *alone,
            )
            out.mean[g, k] = np.ldexp(alone[1, 0], power)
            out.squares[g, k] = np.ldexp(alone[2, 0], unit)
            out.power[g, k] = power
    return out


def merge_moments(one: Moments, other: Moments) -> Moments:
    """Moments of two disjoint groups of rows together, by Chan's formula."""
    count = one.weight + other.weight
    share = np.divide(other.weight, count, out=np.zeros_like(count), where=count > 0)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        apart = other.mean - one.mean
        mean = one.mean + apart * share
        # In the order of the kernel: blocks that are merged here are blocks that it merged.
        squares = one.squares + (other.squares + apart * apart * one.weight * share)
    power = np.zeros_like(count)
    same = (one.weight <= 0) | (other.weight <= 0) | (apart == 0)
    plain = (squares >= LEAST_SQUARES) & (squares <= MOST_SQUARES) | (same & (squares == 0))
    plain &= (one.power == 0) & (other.power == 0)
    for at in map(tuple, np.argwhere(~plain)):
        first, second = (
            tuple(float(np.broadcast_to(part, count.shape)[at]) for part in each)
            for each in (one, other)
        )
        mean[at], squares[at], power[at] = _merge_one(first, second, float(share[at]))
    return Moments(count, mean, squares, power)


def _merge_one(one: Any, other: Any, share: float) -> tuple[float, float, float]:
    """Mean, squares and power of two groups (weight, mean, squares, power)."""
    if one[0] <= 0 or other[0] <= 0:
        return (other if one[0] <= 0 else one)[1:]
    unit = exponent_of(np.array([one[1], other[1]]))
    low, high = (float(np.ldexp(each[1], -unit)) for each in (one, other))
    apart = high - low
    between = apart * apart * one[0] * share
    squares, power = together(
        np.array([one[2], other[2], between]),
        np.array([one[3], other[3], unit]),
        np.ones(3, bool),
        None,
    )
    return float(np.ldexp(low + apart * share, unit)), float(squares.sum()), float(power)


def total_variance(moments: Any) -> tuple[float, int]:
    """Variance of a column over all classes of its first set, and its power."""
    count, mean, squares = (part[0] for part in moments[:3])
    total = count.sum()
    known = count > 0
    if total <= 0 or (not squares.any() and np.unique(mean[known]).size == 1):
        return 0.0, 0  # a constant, whose mean over the classes may be rounded
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        centre = (count * mean).sum() / total
        found = float((squares + count * (mean - centre) ** 2).sum())
    if not moments.power.any() and LEAST_SQUARES <= found <= MOST_SQUARES:
        return found / total, 0
    power = np.broadcast_to(moments.power, moments.squares.shape)[0]
    classes = [
        Moments(*(part[None, [k]] for part in (count, mean, squares, power)))
        for k in np.flatnonzero(known)
    ]
    whole = classes[0]
    for each in classes[1:]:
        whole = merge_moments(whole, each)
    return float(whole.squares[0, 0]) / total, int(whole.power[0, 0])


def deviations(moments: Any) -> Floats:
    """Standard deviation of each class of the first set."""
    weight = moments.weight[0]
    variance = np.maximum(moments.squares[0], 0.0) / np.where(weight > 0, weight, 1.0)
    return np.ldexp(np.sqrt(variance), moments.power[0].astype(np.int64))


def plain_squares(moments: Any) -> Floats:
    """Sums of squares as floats; NaN where they do not fit."""
    return _plain(moments.squares, moments.power)


def plain_variances(mixtures: Any) -> Floats:
    """Variances of components as floats; NaN where they do not fit."""
    return _plain(mixtures.variance, mixtures.variance_power)


def _plain(values: Floats, power: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        plain = np.ldexp(values, 2 * power.astype(np.int64))
    fits = (plain >= LEAST_SQUARES) & (plain <= MOST_SQUARES)
    return np.where((power == 0) | fits, plain, np.nan)
