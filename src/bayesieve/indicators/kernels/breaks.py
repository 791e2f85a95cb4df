"""Traces with one answer a break: half a window on each side of it."""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .points import median_of
from .windows import in_range, replace_sorted, squares

# Where nothing varies on either side and yet they differ, a ratio to the noise ends here.
_MOST = 1e6


@njit(**EXACT)
def welch(x, window):
    """Absolute t statistics of Welch's test of equal means."""
    half = window // 2
    n = x.size - 2 * half + 1
    if n < 1:
        return np.empty(0)
    out = np.empty(n)
    x = in_range(x)
    shift, within = np.empty(x.size), np.empty(x.size)
    squares(x, half, shift, within)
    for t in range(n):
        gap = abs((x[t + half] - x[t]) + (shift[t + half] - shift[t]))
        error = math.sqrt((within[t] + within[t + half]) / (half - 1) / half)
        if gap == 0.0:
            out[t] = 0.0
        else:
            out[t] = min(gap / error, _MOST) if error > 0.0 else _MOST
    return out


@njit(**EXACT)
def levene(x, window):
    """Statistics of Levene's test of equal variances, from distances to the median."""
    half = window // 2
    n = x.size - 2 * half + 1
    if n < 1:
        return np.empty(0)
    means, within = np.empty(x.size - half + 1), np.empty(x.size - half + 1)
    x = in_range(x)
    ordered = np.sort(x[:half])
    for s in range(means.size):
        if s > 0:
            replace_sorted(ordered, x[s - 1], x[s + half - 1])
        centre = median_of(ordered)
        total = 0.0
        for value in ordered:
            total += abs(value - centre)
        means[s] = total / half
        total = 0.0
        for value in ordered:
            total += (abs(value - centre) - means[s]) ** 2
        within[s] = total
    out = np.empty(n)
    for t in range(n):
        gap = (means[t] - means[t + half]) ** 2 / 2.0 * half
        inside = within[t] + within[t + half]
        if gap == 0.0:
            out[t] = 0.0
        else:
            out[t] = min((2 * half - 2) * gap / inside, _MOST) if inside > 0.0 else _MOST
    return out
