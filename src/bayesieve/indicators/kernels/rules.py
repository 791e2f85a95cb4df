"""From the answers of a score along a series to one number."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT

# The rules that the kernels know.
LARGEST, SMALLEST, SHARE, RUN, AMONG = 0, 1, 2, 3, 4


@njit(**EXACT)
def reduce_trace(trace, rule, level, successive):
    """One number for all answers; those that are not finite do not count, NaN where none does."""
    best = -np.inf
    known = above = run = longest = inside = most = 0
    for i in range(trace.size):
        value = trace[i]
        if not np.isfinite(value):
            run = 0
            value = -np.inf
        else:
            known += 1
            best = max(best, -value if rule == SMALLEST else value)
        exceeds = np.int64(value > level)
        above += exceeds
        run = (run + 1) * exceeds
        longest = max(longest, run)
        inside += exceeds
        if rule == AMONG and i >= successive:
            inside -= np.int64(trace[i - successive] > level and np.isfinite(trace[i - successive]))
        most = max(most, inside)
    if known == 0:
        return np.nan
    if rule == LARGEST:
        return best
    if rule == SMALLEST:
        return -best
    if rule == SHARE:
        return above / known
    if rule == RUN:
        return float(longest)
    return float(most)
