"""From the answers of a score along a series to one number."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT

# The rules that the kernels know.
LARGEST, SMALLEST, SHARE, RUN, AMONG = 0, 1, 2, 3, 4


@njit(**EXACT)
def _extreme(trace, smallest):
    """The largest answer, or the smallest."""
    best = -np.inf
    for value in trace:
        if np.isfinite(value):
            best = max(best, -value if smallest else value)
    if best == -np.inf:
        return np.nan
    return -best if smallest else best


@njit(**EXACT)
def reduce_trace(trace, rule, level, successive):
    """One number for all answers; those that are not finite do not count, NaN where none does."""
    if rule in (LARGEST, SMALLEST):
        return _extreme(trace, rule == SMALLEST)
    known = above = run = longest = inside = most = 0
    for i in range(trace.size):
        known += np.int64(np.isfinite(trace[i]))
        exceeds = np.int64(trace[i] > level and np.isfinite(trace[i]))
        above += exceeds
        run = (run + 1) * exceeds
        longest = max(longest, run)
        inside += exceeds
        if rule == AMONG and i >= successive:
            inside -= np.int64(trace[i - successive] > level and np.isfinite(trace[i - successive]))
        most = max(most, inside)
    if known == 0:
        return np.nan
    if rule == SHARE:
        return above / known
    return float(longest if rule == RUN else most)
