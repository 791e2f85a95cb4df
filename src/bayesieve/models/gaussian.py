"""Gaussian feature models: moments that merge, and densities of values."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, overload

import numpy as np
from scipy.special import ndtr

from ..checks import Array, Bools
from .base import (
    ColumnTerms,
    FeatureModel,
    Floats,
    Grid,
    ModelSettings,
    Statistics,
    Support,
    Terms,
    TrainingSets,
    normal_support,
)

#: Points to choose from; the largest number serves the widest interval (six standard deviations).
_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64)

_REFERENCE = 96

_ACCURACY = 1e-12

# Beyond this many standard deviations an interval's probability is below Weka's floor.
_FARTHEST_POINT = 19.0

_HALF_LOG_2PI = float(np.log(2 * np.pi) / 2)


class Bells(NamedTuple):
    """One component: log of its share, and the points whose bells add up to its probability.

    The component says ``log(sum(exp(level - ((x - mean) / sd + offset)**2 / 2)))``; offsets are in
    standard deviations, since positions beside a large mean would lose their last digits.
    """

    share: float
    levels: tuple[float, ...]
    offsets: tuple[float, ...]
    mean: float
    sd: float

    def to_list(self) -> list[float | list[float]]:
        """Plain data."""
        return [self.share, list(self.levels), list(self.offsets), self.mean, self.sd]


def density_bells(share: float, mean: float, sd: float) -> Bells:
    """The density itself: one bell."""
    return Bells(share, (-_HALF_LOG_2PI - float(np.log(sd)),), (0.0,), mean, sd)


def interval_bells(share: float, mean: float, sd: float, width: float) -> Bells:
    """The probability of an interval of this width around a value."""
    half = width / (2 * sd)
    points, weights = _legendre(_points_needed(half))
    levels = np.log(half * weights) - _HALF_LOG_2PI
    return Bells(share, tuple(levels.tolist()), tuple((half * points).tolist()), mean, sd)


def _points_needed(half: float) -> int:
    """The fewest points that give intervals of this half width wherever they matter."""
    z = np.linspace(0.0, _FARTHEST_POINT + half, 40)
    exact = _log_sum(half, z, _REFERENCE)
    for count in _COUNTS:
        if np.abs(_log_sum(half, z, count) - exact).max() <= _ACCURACY:
            return count
    return _REFERENCE


def _log_sum(half: float, z: Floats, count: int) -> Floats:
    points, weights = _legendre(count)
    logs = np.log(half * weights) - (z[:, None] + half * points) ** 2 / 2
    top = logs.max(1)
    return top + np.log(np.exp(logs - top[:, None]).sum(1))


@lru_cache(maxsize=32)
def _legendre(count: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(count)


# -- Weight, mean and squares of continuous columns, whatever the size of their numbers ------------


#: Sums of squares within these bounds are exact enough as they are.
LEAST_SQUARES, MOST_SQUARES = 2.0**-960, 2.0**1000

# Numbers of this size need no power.
_PLAIN = 400

_NOWHERE = -(2**20)


class WideVariance(float):
    """A variance beyond the range of floats; as a float, infinite or the nearest one.

    Examples
    --------
    >>> from bayesieve.models.gaussian import WideVariance
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
    squares: Floats, powers: Array, live: Bools, least: int | None
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


# -- Continuous columns ----------------------------------------------------------------------------


#: A density's terms stay within this many nat of 0, so that any sum of them fits the ledger.
DENSITY_BOUND = 2.0**14

#: Weka's floor on the probability of a single value.
LEAST_LOG = float(np.log(1e-75))

_HUGE = 1e300

_LOG_2 = float(np.log(2))

_LOG_2PI = float(np.log(2 * np.pi))

_NARROW = 1e-3  # half widths (in standard deviations) below which the interval is a series

_FARTHEST = 1e10  # standard deviations; its square fits, and all beyond is at the floor

_CANCELLED = 1e-3  # share of the squares below which a downdate is recomputed


@dataclass(frozen=True)
class GaussianModel(FeatureModel):
    """Normal distribution per class (Weka's intervals by default) or with a pooled variance.

    Without `extra_variance` a value's term is the log-probability of the interval of one resolution
    around it, standard deviation at least a sixth of the resolution, term at least log 1e-75, as in
    Weka.  With it, the term is the log-density, as in scikit-learn.  The pooled form (Guyon 2005)
    always uses the density, so that it stays linear in the value.
    """

    name: str
    pooled: bool = False
    discrete: bool = False
    silent_unseen: bool = False

    def statistics(self, column: Array, n_codes: int, sets: TrainingSets) -> Moments:
        """Moments of every set."""
        return moments_of(column, sets)

    def merge(self, one: Moments, other: Moments) -> Moments:
        """Chan's formula."""
        return merge_moments(one, other)

    def terms(
        self, statistics: Moments, values: Array, grid: Grid, settings: ModelSettings
    ) -> Terms:
        """Log-probability or log-density of each value: sets x values x classes."""
        variance, power = _variance(statistics.weight, statistics.squares), statistics.power
        if self.pooled:
            pooled, powers = self.pooled_variance(statistics, grid.resolution, settings)
            variance = np.broadcast_to(pooled[:, None], variance.shape)
            power = powers[:, None]
        finite = self._speak(
            values[None, :, None],
            statistics.mean[:, None, :],
            variance[:, None, :],
            power[:, None, :],
            grid.resolution,
            settings,
        )
        return self._finish(finite, (statistics.weight <= 0)[:, None, :], values, grid, settings)

    def support(self, speaker: ColumnTerms, values: Array) -> Support | None:
        """As many rows as tell a share as well; None of a mixture, or a pooled variance."""
        found = speaker.statistics
        if self.pooled or not isinstance(found, Moments):
            return None
        bells = self.bells(found, speaker.grid, speaker.settings)
        deviation = np.array([mine[0].sd if mine else np.nan for mine in bells])
        with np.errstate(over="ignore", invalid="ignore"):
            off = (values[:, None] - found.mean[0]) / deviation
        return normal_support(speaker.of(values, 0).finite, found.weight[0], off)

    def pooled_variance(
        self, moments: Moments, resolution: float, settings: ModelSettings
    ) -> tuple[Floats, Floats]:
        """Within-class variance over all classes, with its floor, and its power: one a set each."""
        weight = moments.weight * settings.class_weight
        extra = settings.extra_variance
        floor = None if extra is not None else exponent_of(resolution)
        squares, power = moments.squares, np.zeros(len(weight))
        if moments.power.any() or floor:
            squares, power = together(squares, moments.power, weight > 0, floor)
        variance = _variance(weight.sum(-1), (squares * settings.class_weight).sum(-1))
        if extra is None:
            with np.errstate(over="ignore", under="ignore"):
                return np.maximum(variance, np.square(shifted(resolution, power) / 6)), power
        variance, power = add(variance, power, extra)
        return np.maximum(variance, np.finfo(float).tiny), power

    def bells(
        self, statistics: Statistics, grid: Grid, settings: ModelSettings
    ) -> list[list[Bells]]:
        """Each class's components as sums of bells; no component where the class has no value."""
        share, centre, variance, power = self._components(statistics, grid, settings)
        if self._density(settings) and not self.pooled:
            variance, power = add(variance, power, settings.extra_variance or 0.0)
        least = np.finfo(float).tiny if self._density(settings) else 0.0
        deviation = np.ldexp(np.sqrt(np.maximum(variance, least)), power.astype(np.int64))
        found: list[list[Bells]] = []
        for k in range(share.shape[0]):
            mine: list[Bells] = []
            for m in range(share.shape[1]) if statistics.weight[0, k] > 0 else ():
                if share[k, m] <= 0:
                    continue
                weight, mean = float(np.log(share[k, m])), float(centre[k, m])
                sd = float(deviation[k, m])
                if self._density(settings):
                    mine.append(density_bells(weight, mean, sd))
                else:
                    sd = max(sd, grid.resolution / 6)
                    mine.append(interval_bells(weight, mean, sd, grid.resolution))
            found.append(mine)
        return found

    def _components(
        self, statistics: Statistics, grid: Grid, settings: ModelSettings
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Share, centre, variance and power of the first set's components: classes x components."""
        variance, power = _variance(statistics.weight, statistics.squares)[0], statistics.power[0]
        if self.pooled:
            pooled, powers = self.pooled_variance(statistics, grid.resolution, settings)
            variance, power = np.full_like(variance, pooled[0]), powers[:1]
        power = np.broadcast_to(power, variance.shape)
        centre = statistics.mean[0][:, None]
        return np.ones((variance.size, 1)), centre, variance[:, None], power[:, None]

    def empty_term(self, grid: Grid, settings: ModelSettings) -> float:
        """What a class without any value of the column says: all values are equally likely."""
        # Python's floats: no warning where the range does not fit.
        span = min(float(self._width(grid, settings)) * float(grid.n_values), np.finfo(float).max)
        return -float(np.log(span))

    def least_term(self, settings: ModelSettings) -> float | None:
        """Weka's floor on a component; None for a density, which `limit` bounds."""
        return None if self._density(settings) else LEAST_LOG

    def left_out(
        self, speaker: ColumnTerms, values: Array, column: Array, sets: TrainingSets
    ) -> Terms:
        """Moments downdated by the value; recomputed from the rows where the downdate cancels."""
        _, statistics, grid, settings = speaker
        count, mean, squares, power = (part[0] for part in statistics)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            centre = shifted(mean, power)
            apart = shifted(values[:, None], power) - centre
            left = np.broadcast_to(count - 1, apart.shape)
            new_mean = shifted(centre - apart / left, -power)
            new_squares = squares - apart * apart * (count / left)
        powers = np.broadcast_to(power, apart.shape).copy()
        cancelled = (new_squares < _CANCELLED * squares) & (left > 0)
        self._recompute(cancelled, values, column, sets, (new_mean, new_squares, powers))
        variance = _variance(left, new_squares)
        finite = self._speak(values[:, None], new_mean, variance, powers, grid.resolution, settings)
        return self._finish(finite[None], left[None] <= 0, values, grid, settings, squeeze=True)

    def limit(self, finite: Floats, settings: ModelSettings) -> Floats:
        """Keep a density's |term| below the bound without losing what separates the classes.

        Where even the best class is far below, all classes move up together: only the difference
        between classes decides.
        """
        if not self._density(settings):
            return finite
        best = finite.max(axis=-1, keepdims=True)
        lift = np.maximum(-DENSITY_BOUND / 2 - best, 0.0)
        return np.clip(finite + lift, -DENSITY_BOUND, DENSITY_BOUND)

    def bound(self, settings: ModelSettings) -> float:
        """Terms are bounded by definition (Weka) or by the ledger's room (density)."""
        return DENSITY_BOUND if self._density(settings) else -LEAST_LOG

    def _width(self, grid: Grid, settings: ModelSettings) -> float:
        return grid.resolution if self._density(settings) else 1.0

    def _density(self, settings: ModelSettings) -> bool:
        return self.pooled or settings.extra_variance is not None

    def _speak(
        self,
        values: Floats,
        mean: Floats,
        variance: Floats,
        power: Floats,
        resolution: float,
        settings: ModelSettings,
    ) -> Floats:
        """What values say of a class; its variance is in units of 4 to the power."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
            if not self._density(settings):
                width = shifted(resolution, power)
                values, mean = shifted(values, power), shifted(mean, power)
                sd = np.maximum(np.sqrt(variance), width / 6)
                return np.maximum(log_interval(values, mean, sd, width), LEAST_LOG)
            if not self.pooled and settings.extra_variance is not None:
                variance, power = add(variance, power, settings.extra_variance)
            variance = np.maximum(variance, np.finfo(float).tiny)
            apart = shifted(values, power) - shifted(mean, power)
            # A variance that overflowed: all values are alike, however far from the mean.
            squares = np.where(np.isinf(variance), 0.0, apart * (apart / (2 * variance)))
            found = -0.5 * (_LOG_2PI + np.log(variance)) - squares
            return found - power * _LOG_2 if power.any() else found

    def _finish(
        self,
        finite: Floats,
        empty: Bools,
        values: Floats,
        grid: Grid,
        settings: ModelSettings,
        squeeze: bool = False,
    ) -> Terms:
        """A class without any value of the column finds all equally likely; NaN is silent."""
        finite = np.where(empty, self.empty_term(grid, settings), finite)
        finite = np.nan_to_num(finite, nan=0.0, posinf=_HUGE, neginf=-_HUGE)
        finite = np.where(np.isnan(values)[None, :, None], 0.0, finite)
        return Terms(finite[0] if squeeze else finite)

    @property
    def leaves_one_out(self) -> bool:  # type: ignore[override]
        """Is there a closed form for the terms of a row that is taken out?"""
        return not self.pooled

    @staticmethod
    def _recompute(
        where: Bools,
        values: Floats,
        column: Floats,
        sets: TrainingSets,
        found: tuple[Floats, Floats, Floats],
    ) -> None:
        """Mean, squares and power of what is left, from its rows."""
        mean, squares, power = found
        for k in range(where.shape[1]):
            # Only a value that the class really took is ever taken out of it.
            if where[:, k].any():
                where[:, k] &= np.isin(values, column[sets.labels == k])
        for v, k in np.argwhere(where):
            same = (column == values[v]) & (sets.labels == k)
            weights = np.where(sets.labels == k, sets.weights, 0.0)
            weights[np.flatnonzero(same)[0]] -= 1
            known = (weights > 0) & ~np.isnan(column)
            mean[v, k], squares[v, k], power[v, k] = spread(column[known], weights[known])


def _variance(count: Floats, squares: Floats) -> Floats:
    """Maximum-likelihood variance; 0 where there is nothing, infinite where it overflowed."""
    safe = np.where(count > 0, count, 1.0)
    squares = np.where(np.isnan(squares), np.inf, np.maximum(squares, 0.0))
    return np.where(count > 0, squares / safe, 0.0)


def log_interval(values: Floats, mean: Floats, sd: Floats, width: float | Floats) -> Floats:
    """Log P(value - width/2 < x < value + width/2).

    A difference of two normal integrals in the tail where both are small; for a narrow interval,
    where the difference cancels, the density times the width and two terms of its series.  Weka
    takes the difference as it comes, which is 0 beyond 8.3 standard deviations above the mean (not
    below it); both tails are alike here.
    """
    apart = np.abs(values - mean)
    z = apart / sd
    if np.isinf(apart).any():  # halves of numbers that are too far apart
        z = np.where(np.isinf(apart), np.abs(values / 2 - mean / 2) / (sd / 2), z)
    z = np.minimum(z, _FARTHEST)
    half = width / (2 * sd)
    wide = np.log(ndtr(half - z) - ndtr(-half - z))
    h2, z2 = half * half, z * z
    series = h2 * (z2 - 1) / 6 + h2 * h2 * (z2 * z2 - 6 * z2 + 3) / 120
    narrow = np.log(2 * half) - 0.5 * (_LOG_2PI + z2) + np.log1p(np.maximum(series, -0.5))
    return np.where(half < _NARROW, narrow, wide)
