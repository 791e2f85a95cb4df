"""Traces with one answer a window: slopes, rhythm, roughness, order.

A window of 0 points is the whole series.  Windows advance together, each in its own order of
summation, so that the loops run over neighbours in memory.
"""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .windows import any_ties, in_range, squares, window_means

# Power below this share of the whole series' is rounding.
_NOTHING = 1e-20


@njit(**EXACT)
def _size(x, window, least):
    """Points in a window, and how many windows there are."""
    size = x.size if window == 0 else window
    return size, (x.size - size + 1 if least <= size <= x.size else 0)


@njit(**EXACT)
def slope(x, window):
    """Absolute slopes of least-squares lines."""
    size, n = _size(x, window, 2)
    out = np.zeros(n)
    centre = (size - 1) / 2.0
    for i in range(size):
        for s in range(n):
            out[s] += (i - centre) * (x[s + i] - x[s])
    scale = size * (size * size - 1.0) / 12.0
    for s in range(n):
        out[s] = abs(out[s]) / scale
    return out


@njit(**EXACT)
def _signs(value, others):
    """How many others lie below the value, less how many lie above."""
    total = 0
    for other in others:
        total += np.int64(value > other) - np.int64(value < other)
    return total


@njit(**EXACT)
def _kendall_ties(part):
    """Sum of t (t - 1) (2 t + 5) over groups of t equal values."""
    ordered = np.sort(part)
    total, run = 0.0, 1
    for i in range(1, ordered.size + 1):
        if i < ordered.size and ordered[i] == ordered[i - 1]:
            run += 1
        else:
            total += run * (run - 1.0) * (2.0 * run + 5.0)
            run = 1
    return total


@njit(**EXACT)
def mann_kendall(x, window):
    """Absolute z statistics of the Mann-Kendall test of a trend, with ties and continuity."""
    size, n = _size(x, window, 2)
    out = np.empty(n)
    if n == 0:
        return out
    has_ties = any_ties(x)
    total = 0
    for i in range(1, size):
        total += _signs(x[i], x[:i])
    for s in range(n):
        ties = _kendall_ties(x[s : s + size]) if has_ties else 0.0
        spread = math.sqrt((size * (size - 1.0) * (2.0 * size + 5.0) - ties) / 18.0)
        out[s] = max(abs(total) - 1, 0) / spread if spread > 0.0 else 0.0
        if s + 1 < n:
            kept = x[s + 1 : s + size]
            total += _signs(x[s], kept) + _signs(x[s + size], kept)
    return out


@njit(**EXACT)
def _product(x, lag, mean):
    """Sum of the products of deviations of points so far apart."""
    total = 0.0
    for i in range(x.size - lag):
        total += (x[i] - mean) * (x[i + lag] - mean)
    return total


@njit(**EXACT)
def autocorrelation(x, lag, window):
    """Correlations of a window with itself some points later; NaN where it is constant."""
    size, n = _size(x, window, lag + 2)
    out = np.zeros(n)
    if n == 0:
        return out
    x = in_range(x)
    shift, within = np.empty(x.size), np.empty(x.size)
    squares(x, size, shift, within)
    mean = x[:n] + shift[:n]
    if n == 1:
        out[0] = _product(x, lag, mean[0])
    else:
        for i in range(size - lag):
            for s in range(n):
                out[s] += (x[s + i] - mean[s]) * (x[s + i + lag] - mean[s])
    for s in range(n):
        out[s] = out[s] / within[s] if within[s] > 0.0 else np.nan
    return out


@njit(**EXACT)
def total_variation(x, window):
    """Mean absolute steps."""
    size, n = _size(x, window, 2)
    out = np.zeros(n)
    for i in range(size - 1):
        for s in range(n):
            out[s] += abs(x[s + i + 1] - x[s + i])
    for s in range(n):
        out[s] /= size - 1
    return out


@njit(**EXACT)
def zero_crossings(x, window):
    """Shares of steps that cross the mean of the window."""
    size, n = _size(x, window, 2)
    out = np.zeros(n)
    if n == 0:
        return out
    mean = window_means(x, size)
    for i in range(size - 1):
        for s in range(n):
            out[s] += np.int64((x[s + i] >= mean[s]) != (x[s + i + 1] >= mean[s]))
    for s in range(n):
        out[s] /= size - 1
    return out


@njit(**EXACT)
def _patterns(x, order):
    """Number of the order of each point and those after it; of equals the first is lower."""
    out = np.empty(max(x.size - order + 1, 0), np.int64)
    for s in range(out.size):
        code = 0
        for i in range(order):
            later = 0
            for j in range(i + 1, order):
                later += np.int64(x[s + j] < x[s + i])
            code = code * (order - i) + later
        out[s] = code
    return out


@njit(**EXACT)
def permutation_entropy(x, order, window):
    """Entropies of the orders of successive points: 0 always the same, 1 all alike often."""
    size, n = _size(x, window, order + 1)
    out = np.empty(n)
    if n == 0:
        return out
    codes = _patterns(x, order)
    n_codes = 1
    for i in range(2, order + 1):
        n_codes *= i
    inside = size - order + 1
    logs = np.array([c * math.log(c) if c else 0.0 for c in range(inside + 1)])
    counts = np.zeros(n_codes, np.int64)
    for i in range(inside):
        counts[codes[i]] += 1
    for s in range(n):
        total = 0.0
        for count in counts:
            total += logs[count]
        out[s] = max(math.log(inside) - total / inside, 0.0) / math.log(n_codes)
        if s + 1 < n:
            counts[codes[s]] -= 1
            counts[codes[s + inside]] += 1
    return out


@njit(**EXACT)
def periodicity(x, window):
    """Shares of the variance at the strongest frequency of the periodogram; 0 for a constant.

    The transform of a window is that of the one before with a point taken off and one put on,
    turned by one step.
    """
    size, n = _size(x, window, 4)
    out = np.zeros(n)
    if n == 0:
        return out
    x = in_range(x)
    centre = x[0] + (x - x[0]).mean()
    angles = 2.0 * math.pi / size * np.arange(1, size // 2 + 1)
    cosines, sines = np.cos(angles), np.sin(angles)
    real, imaginary = np.zeros(angles.size), np.zeros(angles.size)
    shift, within = np.empty(x.size), np.empty(x.size)
    squares(x, size, shift, within)
    floor = _NOTHING * ((x - centre) ** 2).sum() * size
    for i in range(x.size):
        change = x[i] - (x[i - size] if i >= size else centre)
        best = total = 0.0
        for k in range(angles.size):
            turned = real[k] + change
            real[k] = turned * cosines[k] - imaginary[k] * sines[k]
            imaginary[k] = turned * sines[k] + imaginary[k] * cosines[k]
        if i < size - 1:
            continue
        for k in range(angles.size):
            power = real[k] * real[k] + imaginary[k] * imaginary[k]
            if 2 * (k + 1) == size:
                power /= 2.0
            total += power
            best = max(best, power)
        start = i - size + 1
        out[start] = best / total if within[start] > 0.0 and total > floor else 0.0
    return out
