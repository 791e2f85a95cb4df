"""Traces of two channels together, one answer a window."""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .windows import squares


@njit(**EXACT)
def _means(x, size, n):
    """Means of all windows."""
    out = np.zeros(n)
    for i in range(size):
        for s in range(n):
            out[s] += x[s + i]
    return out / size


@njit(**EXACT)
def _count(a, b, window):
    return max(a.size - window + 1, 0) if a.size == b.size else 0


@njit(**EXACT)
def difference(a, b, window):
    """Absolute mean differences."""
    n = _count(a, b, window)
    return np.abs(_means(a - b, window, n)) if n else np.empty(0)


@njit(**EXACT)
def ratio(a, b, window):
    """How many times as large one mean is as the other; NaN where their signs differ."""
    n = _count(a, b, window)
    one, other = _means(a, window, n), _means(b, window, n)
    out = np.empty(n)
    for s in range(n):
        share = one[s] / other[s] if other[s] != 0.0 else np.nan
        out[s] = max(share, 1.0 / share) if share > 0.0 else np.nan
    return out


@njit(**EXACT)
def lost_correlation(a, b, window):
    """1 less the correlation; NaN where a channel is constant."""
    n = _count(a, b, window)
    out = np.zeros(n)
    if n == 0:
        return out
    shift_a, within_a = np.empty(a.size), np.empty(a.size)
    shift_b, within_b = np.empty(a.size), np.empty(a.size)
    squares(a, window, shift_a, within_a)
    squares(b, window, shift_b, within_b)
    for i in range(window):
        for s in range(n):
            out[s] += (a[s + i] - a[s] - shift_a[s]) * (b[s + i] - b[s] - shift_b[s])
    for s in range(n):
        both = math.sqrt(within_a[s]) * math.sqrt(within_b[s])
        out[s] = 1.0 - out[s] / both if both > 0.0 else np.nan
    return out
