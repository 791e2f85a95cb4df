"""From the answers of a score along a series to one number."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT

# The rules that the kernels know.
LARGEST, SMALLEST, SHARE, RUN, AMONG = 0, 1, 2, 3, 4


@njit(**EXACT)
def _extreme(trace, smallest):
    """The largest answer, or the smallest."""
    sign = -1.0 if smallest else 1.0
    # Four stretches side by side, so that none waits for another; of equals the first one stays.
    n = trace.size // 4
    a = b = c = best = -np.inf
    for i in range(n):
        one, two = sign * trace[i], sign * trace[n + i]
        three, four = sign * trace[2 * n + i], sign * trace[3 * n + i]
        a = one if a < one < np.inf else a
        b = two if b < two < np.inf else b
        c = three if c < three < np.inf else c
        best = four if best < four < np.inf else best
    c = best if best > c else c
    b = c if c > b else b
    best = b if b > a else a
    for i in range(4 * n, trace.size):
        value = sign * trace[i]
        best = value if best < value < np.inf else best
    return np.nan if best == -np.inf else sign * best


@njit(**EXACT)
def _share(trace, level):
    """Share of the answers above a level."""
    known = above = 0
    for value in trace:
        known += np.int64(abs(value) < np.inf)
        above += np.int64(value > level) & np.int64(value < np.inf)
    return above / known if known else np.nan


@njit(**EXACT)
def reduce_trace(trace, rule, level, successive):
    """One number for all answers; those that are not finite do not count, NaN where none does."""
    if rule in (LARGEST, SMALLEST):
        return _extreme(trace, rule == SMALLEST)
    if rule == SHARE:
        return _share(trace, level)
    known = run = longest = inside = most = 0
    for i in range(trace.size):
        known += np.int64(np.isfinite(trace[i]))
        exceeds = np.int64(trace[i] > level and np.isfinite(trace[i]))
        run = (run + 1) * exceeds
        longest = max(longest, run)
        inside += exceeds
        if rule == AMONG and i >= successive:
            inside -= np.int64(trace[i - successive] > level and np.isfinite(trace[i - successive]))
        most = max(most, inside)
    if known == 0:
        return np.nan
    return float(longest if rule == RUN else most)
