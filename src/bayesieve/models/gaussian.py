"""Continuous columns: one Gaussian a class, or one variance for all classes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ..checks import Array
from .base import FeatureModel, Floats, Grid, Settings, Statistics, Terms, TrainingSets
from .bells import Bells, density_bells, interval_bells
from .moments import Moments, add, exponent_of, merge_moments, moments_of, shifted, spread, together

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

    def terms(self, statistics: Moments, values: Array, grid: Grid, settings: Settings) -> Terms:
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

    def pooled_variance(
        self, moments: Moments, resolution: float, settings: Settings
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

    def bells(self, statistics: Statistics, grid: Grid, settings: Settings) -> list[list[Bells]]:
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
        self, statistics: Statistics, grid: Grid, settings: Settings
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Share, centre, variance and power of the first set's components: classes x components."""
        variance, power = _variance(statistics.weight, statistics.squares)[0], statistics.power[0]
        if self.pooled:
            pooled, powers = self.pooled_variance(statistics, grid.resolution, settings)
            variance, power = np.full_like(variance, pooled[0]), powers[:1]
        power = np.broadcast_to(power, variance.shape)
        centre = statistics.mean[0][:, None]
        return np.ones((variance.size, 1)), centre, variance[:, None], power[:, None]

    def empty_term(self, grid: Grid, settings: Settings) -> float:
        """What a class without any value of the column says: all values are equally likely."""
        # Python's floats: no warning where the range does not fit.
        span = min(float(self._width(grid, settings)) * float(grid.n_values), np.finfo(float).max)
        return -float(np.log(span))

    def least_term(self, settings: Settings) -> float | None:
        """Weka's floor on a component; None for a density, which `limit` bounds."""
        return None if self._density(settings) else LEAST_LOG

    def left_out(
        self,
        statistics: Moments,
        values: Array,
        grid: Grid,
        settings: Settings,
        column: Array,
        sets: TrainingSets,
    ) -> Terms:
        """Moments downdated by the value; recomputed from the rows where the downdate cancels."""
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

    def limit(self, finite: Floats, settings: Settings) -> Floats:
        """Keep a density's |term| below the bound without losing what separates the classes.

        Where even the best class is far below, all classes move up together: only the difference
        between classes decides.
        """
        if not self._density(settings):
            return finite
        best = finite.max(axis=-1, keepdims=True)
        lift = np.maximum(-DENSITY_BOUND / 2 - best, 0.0)
        return np.clip(finite + lift, -DENSITY_BOUND, DENSITY_BOUND)

    def bound(self, settings: Settings) -> float:
        """Terms are bounded by definition (Weka) or by the ledger's room (density)."""
        return DENSITY_BOUND if self._density(settings) else -LEAST_LOG

    def _width(self, grid: Grid, settings: Settings) -> float:
        return grid.resolution if self._density(settings) else 1.0

    def _density(self, settings: Settings) -> bool:
        return self.pooled or settings.extra_variance is not None

    def _speak(
        self,
        values: Floats,
        mean: Floats,
        variance: Floats,
        power: Floats,
        resolution: float,
        settings: Settings,
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
            said = -0.5 * (_LOG_2PI + np.log(variance)) - squares
            return said - power * _LOG_2 if power.any() else said

    def _finish(
        self,
        finite: Floats,
        empty: NDArray[np.bool_],
        values: Floats,
        grid: Grid,
        settings: Settings,
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
        where: NDArray[np.bool_],
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
