"""Traces of two channels together, one answer a window."""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .windows import in_range, squares, window_means


@njit(**EXACT)
def _count(a, b, window):
    return max(a.size - window + 1, 0) if a.size == b.size else 0


@njit(**EXACT)
def difference(a, b, window):
    """Absolute mean differences."""
    n = _count(a, b, window)
    return np.abs(window_means(a - b, window)) if n else np.empty(0)


@njit(**EXACT)
def ratio(a, b, window):
    """How many times as large one mean is as the other; NaN where their signs differ."""
    n = _count(a, b, window)
    out = np.empty(n)
    if n == 0:
        return out
    one, other = window_means(a, window), window_means(b, window)
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
    a, b = in_range(a), in_range(b)
    shift_a, within_a = np.empty(a.size), np.empty(a.size)
    shift_b, within_b = np.empty(a.size), np.empty(a.size)
    squares(a, window, shift_a, within_a)
    squares(b, window, shift_b, within_b)
    one, other = a[:n] + shift_a[:n], b[:n] + shift_b[:n]
    for i in range(window):
        for s in range(n):
            out[s] += (a[s + i] - one[s]) * (b[s + i] - other[s])
    for s in range(n):
        both = math.sqrt(within_a[s]) * math.sqrt(within_b[s])
        out[s] = 1.0 - out[s] / both if both > 0.0 else np.nan
    return out
