"""Traces with one answer a point: levels, spikes, stuck sensors, dropouts, drift, sums."""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .windows import in_range, replace_sorted

# Makes the median of absolute deviations, or their mean, the standard deviation of normal values.
_OF_MEDIAN = 1.482602218505602
_OF_MEAN = 1.2533141373155003


@njit(**EXACT)
def level(x):
    """The values themselves."""
    return x


@njit(**EXACT)
def outside(x, low, high):
    """How far each point lies outside the limits; negative within them."""
    out = np.empty(x.size)
    for i in range(x.size):
        below, above = low - x[i], x[i] - high
        out[i] = below if below >= above else above
    return out


@njit(**EXACT)
def median_of(ordered):
    """Median of sorted values."""
    middle = ordered.size // 2
    if ordered.size % 2:
        return ordered[middle]
    return ordered[middle - 1] / 2.0 + ordered[middle] / 2.0


@njit(**EXACT)
def _median_distance(ordered, centre):
    """Median of the distances of sorted values from a centre among them."""
    n = ordered.size
    right = np.searchsorted(ordered, centre)
    left = right - 1
    before = now = 0.0
    for _ in range(n // 2 + 1):  # the nearest first
        before = now
        if left < 0 or (right < n and ordered[right] - centre < centre - ordered[left]):
            now = ordered[right] - centre
            right += 1
        else:
            now = centre - ordered[left]
            left -= 1
    return now if n % 2 else before / 2.0 + now / 2.0


@njit(**EXACT)
def _robust_distance(value, ordered):
    """Distance from the median in robust deviations; 0 where nothing deviates."""
    centre = median_of(ordered)
    unit = _OF_MEDIAN * _median_distance(ordered, centre)
    if unit == 0.0:
        unit = _OF_MEAN * np.abs(ordered - centre).mean()
    return abs(value - centre) / unit if unit > 0.0 else 0.0


@njit(**EXACT)
def robust_z(x):
    """Distances from the median of the series in robust deviations."""
    out = np.empty(x.size)
    if x.size == 0:
        return out
    ordered = np.sort(x)
    centre = median_of(ordered)
    unit = _OF_MEDIAN * _median_distance(ordered, centre)
    if unit == 0.0:
        unit = _OF_MEAN * np.abs(ordered - centre).mean()
    for i in range(x.size):
        out[i] = abs(x[i] - centre) / unit if unit > 0.0 else 0.0
    return out


@njit(**EXACT)
def hampel(x, window):
    """Distances from the median of the points around, in robust deviations of these.

    At the ends the window holds the first or the last points.
    """
    n = x.size
    if window > n:
        return np.empty(0)
    out = np.empty(n)
    ordered = np.sort(x[:window])
    start = 0
    for i in range(n):
        wanted = min(max(i - window // 2, 0), n - window)
        if wanted > start:
            replace_sorted(ordered, x[start], x[start + window])
            start = wanted
        out[i] = _robust_distance(x[i], ordered)
    return out


@njit(**EXACT)
def _run_lengths(joined, out):
    """Length of the run that each point is in; joined[i]: does it go on from the point before?"""
    first = 0
    for i in range(1, out.size + 1):
        if i == out.size or not joined[i]:
            out[first:i] = i - first
            first = i


@njit(**EXACT)
def stuck(x, tolerance):
    """Points in the run of each point in which no step is larger than the tolerance."""
    out = np.empty(x.size)
    joined = np.empty(x.size, np.bool_)
    for i in range(1, x.size):
        joined[i] = abs(x[i] - x[i - 1]) <= tolerance
    _run_lengths(joined, out)
    return out


@njit(**EXACT)
def dropouts(x):
    """Points in the run of missing ones around each; 0 for a point that is there."""
    out = np.empty(x.size)
    gone = ~np.isfinite(x)
    joined = np.empty(x.size, np.bool_)
    for i in range(1, x.size):
        joined[i] = gone[i] == gone[i - 1]
    _run_lengths(joined, out)
    for i in range(x.size):
        if not gone[i]:
            out[i] = 0.0
    return out


@njit(**EXACT)
def cusum(x):
    """Sums of deviations from the mean, in standard deviations times the root of the length."""
    n = x.size
    out = np.zeros(n)
    if n < 2:
        return out[:0]
    x = in_range(x)
    mean = x[0] + (x - x[0]).mean()
    squares = total = 0.0
    for i in range(n):
        apart = x[i] - mean
        squares += apart * apart
        total += apart
        out[i] = abs(total)
    if np.ptp(x) == 0.0 or not squares > 0.0:
        return np.zeros(n)
    return out / math.sqrt(squares)


@njit(**EXACT)
def drift(x, weight, reference):
    """Moving average with exponential weights, away from a reference period's mean.

    In standard deviations of that average under the noise of the reference period, the first
    points of the series; NaN where these do not vary.
    """
    n = x.size
    if reference > n or reference < 2:
        return np.empty(0)
    x = in_range(x)
    first = x[:reference]
    mean = first[0] + (first - first[0]).mean()
    spread = math.sqrt(((first - mean) ** 2).sum() / (reference - 1))
    out = np.full(n, np.nan)
    if np.ptp(first) == 0.0 or not spread > 0.0:
        return out
    average, decay = 0.0, 1.0
    for i in range(n):
        average = weight * (x[i] - mean) / spread + (1.0 - weight) * average
        decay *= (1.0 - weight) ** 2
        out[i] = abs(average) / math.sqrt(weight / (2.0 - weight) * (1.0 - decay))
    return out
