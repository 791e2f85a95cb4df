"""Continuous columns: one Gaussian a class, or one variance for all classes."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .base import Floats, Grid, Settings, Terms, TrainingSets
from .bells import Bells, density_bells, interval_bells

#: A density's terms stay within this many nat of 0, so that any sum of them fits the ledger.
DENSITY_BOUND = 2.0**14

#: Weka's floor on the probability of a single value.
LEAST_LOG = float(np.log(1e-75))

_HUGE = 1e300

_LOG_2PI = float(np.log(2 * np.pi))

_NARROW = 1e-3  # half widths (in standard deviations) below which the interval is a series

_CANCELLED = 1e-3  # share of the squares below which a downdate is recomputed


class Moments(NamedTuple):
    """Weight, mean and sum of squared deviations: sets x classes each."""

    weight: Floats
    mean: Floats
    squares: Floats


@dataclass(frozen=True)
class GaussianModel:
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

    def statistics(self, column: NDArray[Any], n_codes: int, sets: TrainingSets) -> Moments:
        """Moments of every set."""
        from .kernels.statistics import moments_by_class

        out = Moments(*np.empty((3, sets.n_sets, sets.n_classes)))
        for g, rows in enumerate(sets.rows):
            moments_by_class(
                column, sets.labels, sets.weights, rows, out.weight[g], out.mean[g], out.squares[g]
            )
        return out

    def merge(self, one: Moments, other: Moments) -> Moments:
        """Chan's formula."""
        count = one.weight + other.weight
        share = np.divide(other.weight, count, out=np.zeros_like(count), where=count > 0)
        apart = other.mean - one.mean
        return Moments(
            count,
            one.mean + apart * share,
            one.squares + other.squares + apart * apart * one.weight * share,
        )

    def terms(
        self, statistics: Moments, values: NDArray[Any], grid: Grid, settings: Settings
    ) -> Terms:
        """Log-probability or log-density of each value: sets x values x classes."""
        variance = _variance(statistics.weight, statistics.squares)
        if self.pooled:
            pooled = self.pooled_variance(statistics, grid.resolution, settings)
            variance = np.broadcast_to(pooled[:, None], variance.shape)
        finite = self._speak(
            values[None, :, None],
            statistics.mean[:, None, :],
            variance[:, None, :],
            grid.resolution,
            settings,
        )
        return self._finish(finite, (statistics.weight <= 0)[:, None, :], values, grid, settings)

    def pooled_variance(self, moments: Moments, resolution: float, settings: Settings) -> Floats:
        """Within-class variance over all classes, with its floor: one number a set."""
        count = (moments.weight * settings.class_weight).sum(-1)
        squares = (moments.squares * settings.class_weight).sum(-1)
        variance = _variance(count, squares)
        if settings.extra_variance is None:
            with np.errstate(over="ignore"):
                return np.maximum(variance, np.square(resolution / 6))
        return np.maximum(variance + settings.extra_variance, np.finfo(float).tiny)

    def bells(self, statistics: Any, grid: Grid, settings: Settings) -> list[list[Bells]]:
        """Each class's components as sums of bells; no component where the class has no value."""
        share, centre, variance = self._components(statistics, grid, settings)
        found: list[list[Bells]] = []
        for k in range(share.shape[0]):
            mine: list[Bells] = []
            for m in range(share.shape[1]) if statistics.weight[0, k] > 0 else ():
                if share[k, m] <= 0:
                    continue
                weight, mean = float(np.log(share[k, m])), float(centre[k, m])
                if self._density(settings):
                    extra = 0.0 if self.pooled else settings.extra_variance or 0.0
                    sd = np.sqrt(max(variance[k, m] + extra, np.finfo(float).tiny))
                    mine.append(density_bells(weight, mean, float(sd)))
                else:
                    sd = max(np.sqrt(variance[k, m]), grid.resolution / 6)
                    mine.append(interval_bells(weight, mean, float(sd), grid.resolution))
            found.append(mine)
        return found

    def _components(
        self, statistics: Any, grid: Grid, settings: Settings
    ) -> tuple[Floats, Floats, Floats]:
        """Share, centre and variance of the first set's components: classes x components."""
        variance = _variance(statistics.weight, statistics.squares)[0]
        if self.pooled:
            pooled = self.pooled_variance(statistics, grid.resolution, settings)[0]
            variance = np.full_like(variance, pooled)
        return np.ones((variance.size, 1)), statistics.mean[0][:, None], variance[:, None]

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
        values: NDArray[Any],
        grid: Grid,
        settings: Settings,
        column: NDArray[Any],
        sets: TrainingSets,
    ) -> Terms:
        """Moments downdated by the value; recomputed from the rows where the downdate cancels."""
        count, mean, squares = (part[0] for part in statistics)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            apart = values[:, None] - mean
            left = np.broadcast_to(count - 1, apart.shape)
            new_mean = mean - apart / left
            new_squares = squares - apart * apart * (count / left)
        cancelled = (new_squares < _CANCELLED * squares) & (left > 0)
        self._recompute(cancelled, values, column, sets, new_mean, new_squares)
        variance = _variance(left, new_squares)
        finite = self._speak(values[:, None], new_mean, variance, grid.resolution, settings)
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
        self, values: Floats, mean: Floats, variance: Floats, resolution: float, settings: Settings
    ) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if not self._density(settings):
                sd = np.maximum(np.sqrt(variance), resolution / 6)
                return np.maximum(_log_interval(values, mean, sd, resolution), LEAST_LOG)
            if not self.pooled and settings.extra_variance is not None:
                variance = variance + settings.extra_variance
            variance = np.maximum(variance, np.finfo(float).tiny)
            apart = values - mean
            # A variance that overflowed: all values are alike, however far from the mean.
            squares = np.where(np.isinf(variance), 0.0, apart * (apart / (2 * variance)))
            return -0.5 * (_LOG_2PI + np.log(variance)) - squares

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
    def leaves_one_out(self) -> bool:
        """Is there a closed form for the terms of a row that is taken out?"""
        return not self.pooled

    @staticmethod
    def _recompute(
        where: NDArray[np.bool_],
        values: Floats,
        column: Floats,
        sets: TrainingSets,
        mean: Floats,
        squares: Floats,
    ) -> None:
        for k in range(where.shape[1]):
            # Only a value that the class really took is ever taken out of it.
            if where[:, k].any():
                where[:, k] &= np.isin(values, column[sets.labels == k])
        for v, k in np.argwhere(where):
            same = (column == values[v]) & (sets.labels == k)
            weights = np.where(sets.labels == k, sets.weights, 0.0)
            weights[np.flatnonzero(same)[0]] -= 1
            known = (weights > 0) & ~np.isnan(column)
            mean[v, k] = np.average(column[known], weights=weights[known])
            squares[v, k] = (weights[known] * (column[known] - mean[v, k]) ** 2).sum()


def total_variance(moments: Moments) -> float:
    """Variance of a column over all classes of its first set."""
    count, mean, squares = (part[0] for part in moments[:3])
    total = count.sum()
    if total <= 0:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        centre = (count * mean).sum() / total
        variance = float((squares + count * (mean - centre) ** 2).sum() / total)
    return variance if np.isfinite(variance) else np.finfo(float).max


def _variance(count: Floats, squares: Floats) -> Floats:
    """Maximum-likelihood variance; 0 where there is nothing, infinite where it overflowed."""
    safe = np.where(count > 0, count, 1.0)
    squares = np.where(np.isnan(squares), np.inf, np.maximum(squares, 0.0))
    return np.where(count > 0, squares / safe, 0.0)


def _log_interval(values: Floats, mean: Floats, sd: Floats, width: float) -> Floats:
    """Log P(value - width/2 < x < value + width/2).

    A difference of two normal integrals in the tail where both are small; for a narrow interval,
    where the difference cancels, the density times the width and two terms of its series.  Weka
    takes the difference as it comes, which is 0 beyond 8.3 standard deviations above the mean (not
    below it); both tails are alike here.
    """
    # A deviation that overflowed: all values are alike, however far from the mean.
    z = np.where(np.isinf(sd), 0.0, np.abs(values - mean) / sd)
    half = width / (2 * sd)
    wide = np.log(ndtr(half - z) - ndtr(-half - z))
    h2, z2 = half * half, z * z
    series = h2 * (z2 - 1) / 6 + h2 * h2 * (z2 * z2 - 6 * z2 + 3) / 120
    narrow = np.log(2 * half) - 0.5 * (_LOG_2PI + z2) + np.log1p(np.maximum(series, -0.5))
    return np.where(half < _NARROW, narrow, wide)
