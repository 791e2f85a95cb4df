"""Weight, mean and squares of continuous columns, whatever the size of their numbers."""

import math
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .base import Floats, TrainingSets

#: Sums of squares within these bounds are exact enough as they are.
LEAST_SQUARES, MOST_SQUARES = 2.0**-960, 2.0**1000


# Numbers of this size need no power.
_PLAIN = 400


_NOWHERE = -(2**20)


class WideVariance(float):
    """A variance beyond the range of floats; as a float, infinite or the nearest one.

    Examples
    --------
    >>> from bayesieve.models.moments import WideVariance
    >>> wide = WideVariance(1.5, 1000)
    >>> float(wide) == float("inf"), wide.parts
    (True, (1.5, 1000))
    """

    parts: tuple[float, int]

    def __new__(cls, value: float, power: int) -> "WideVariance":
        """`value` times 4 to the `power`."""
        found = super().__new__(cls, math.inf if power > 0 else math.ldexp(value, 2 * power))
        found.parts = value, power
        return found

    def __getnewargs__(self) -> tuple[float, int]:  # type: ignore[override]
        return self.parts


def parts_of(variance: float) -> tuple[float, int]:
    """Value and power of a plain or wide variance."""
    return variance.parts if isinstance(variance, WideVariance) else (variance, 0)


def times(share: float, variance: float, power: int) -> float:
    """A share of a variance; a wide one where it does not fit a float."""
    (one, a), (other, b) = math.frexp(share), math.frexp(variance)
    exponent = a + b + 2 * power
    if not one * other or (not power and -960 < exponent < 1000):
        return share * variance
    if -960 < exponent < 1000:
        return math.ldexp(one * other, exponent)
    return WideVariance(math.ldexp(one * other, exponent % 2), exponent // 2)


def size(variance: float, power: int) -> tuple[int, float]:
    """What orders variances of any power: exponent and leading digits."""
    digits, exponent = math.frexp(variance)
    return (exponent + 2 * power, digits) if digits else (_NOWHERE, 0.0)


@overload
def shifted(values: Floats, power: Floats) -> Floats: ...
@overload
def shifted(values: float, power: Floats) -> float | Floats: ...
def shifted(values: float | Floats, power: Floats) -> float | Floats:
    """Numbers in units of 2 to the power."""
    return np.ldexp(values, -power.astype(np.int64)) if power.any() else values


def exponent_of(values: float | Floats) -> int:
    """The power of two above the largest of the numbers; 0 where they need none."""
    exponent = int(np.frexp(np.max(np.abs(values), initial=0.0))[1])
    return exponent if abs(exponent) > _PLAIN else 0


def add(one: Floats, powers: Array, extra: float) -> tuple[Floats, Array]:
    """Variances and what is added to each of them."""
    value, power = parts_of(extra)
    if not power and not powers.any():
        return one + value, powers
    common = np.where(one > 0, powers, _NOWHERE)
    common = np.maximum(common, power if value > 0 else _NOWHERE).astype(np.int64)
    common = np.where(common == _NOWHERE, 0, common)
    total = _in(one, powers, common) + np.ldexp(value, 2 * (power - common))
    return total, common.astype(np.float64)


def together(
    squares: Floats, powers: Array, live: NDArray[np.bool_], least: int | None
) -> tuple[Floats, Floats]:
    """Squares of all classes (last axis) in one power for each set, at least `least`."""
    common = np.where(live & (squares > 0), powers, _NOWHERE).max(-1)
    common = np.maximum(common, _NOWHERE if least is None else least)
    common = np.where(common == _NOWHERE, 0, common)
    return _in(squares, powers, common[..., None]), common


def spread(values: Floats, weights: Floats) -> tuple[float, float, int]:
    """Mean, sum of squares and power of some numbers, two passes; equal ones have no squares."""
    if (values == values[0]).all():
        return float(values[0]), 0.0, 0
    for power in (0, exponent_of(values)):
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            mine = np.ldexp(values, -power)
            mean = np.average(mine, weights=weights)
            squares = float((weights * (mine - mean) ** 2).sum())
        if LEAST_SQUARES <= squares <= MOST_SQUARES:
            break
    return float(np.ldexp(mean, power)), squares, power


def _in(squares: Floats, powers: Array, common: Array) -> Floats:
    """Squares in units of 4 to the common power."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(squares, 2 * (powers - common).astype(np.int64))


class Moments(NamedTuple):
    """Weight, mean and sum of squared deviations: sets x classes each.

    The squares are in units of 4 to the `power`, which is 0 unless they would not fit.
    """

    weight: Floats
    mean: Floats
    squares: Floats
    power: Floats = np.zeros((1, 1))


class Mixtures(NamedTuple):
    """Moments of each class (sets x classes) and its mixture (sets x classes x components)."""

    weight: Floats
    mean: Floats
    squares: Floats
    share: Floats
    centre: Floats
    variance: Floats
    n_distinct: Floats  #: distinct values of each class, sets x classes
    power: Floats = np.zeros((1, 1))  #: of the squares, as in `Moments`
    variance_power: Floats = np.zeros((1, 1, 1))  #: variances are in units of 4 to this


def moments_of(column: Floats, sets: TrainingSets) -> Moments:
    """Moments of every set."""
    from ..data.kernels.exact import moments_by_class

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


def _merge_one(
    one: tuple[float, ...], other: tuple[float, ...], share: float
) -> tuple[float, float, float]:
    """Mean, squares and power of two groups (weight, mean, squares, power)."""
    if one[0] <= 0 or other[0] <= 0:
        _, mean, squares, power = other if one[0] <= 0 else one
        return mean, squares, power
    unit = exponent_of(np.array([one[1], other[1]]))
    low, high = (float(np.ldexp(each[1], -unit)) for each in (one, other))
    apart = high - low
    between = apart * apart * one[0] * share
    both, common = together(
        np.array([one[2], other[2], between]),
        np.array([one[3], other[3], unit]),
        np.ones(3, bool),
        None,
    )
    return float(np.ldexp(low + apart * share, unit)), float(both.sum()), float(common)


def total_variance(moments: "Moments | Mixtures") -> tuple[float, int]:
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


def deviations(moments: "Moments | Mixtures") -> Floats:
    """Standard deviation of each class of the first set."""
    weight = moments.weight[0]
    variance = np.maximum(moments.squares[0], 0.0) / np.where(weight > 0, weight, 1.0)
    return np.ldexp(np.sqrt(variance), moments.power[0].astype(np.int64))


def plain_squares(moments: "Moments | Mixtures") -> Floats:
    """Sums of squares as floats; NaN where they do not fit."""
    return _plain(moments.squares, moments.power)


def plain_variances(mixtures: "Mixtures") -> Floats:
    """Variances of components as floats; NaN where they do not fit."""
    return _plain(mixtures.variance, mixtures.variance_power)


def _plain(values: Floats, power: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        plain = np.ldexp(values, 2 * power.astype(np.int64))
    fits = (plain >= LEAST_SQUARES) & (plain <= MOST_SQUARES)
    return np.where((power == 0) | fits, plain, np.nan)
