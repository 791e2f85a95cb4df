"""Numbers cut into intervals without looking at classes, and the interval of each number."""

import numpy as np
from numba import njit

from .options import EXACT

# Powers of ten up to this one are whole floats.
_DECIMALS = 16

# Squares of the sizes of buckets, a number, beyond which buckets are no help.
_CROWDED = 40


@njit(**EXACT)
def sort_evenly(values, out):
    """Sort numbers, NaN at the end, by as many buckets between the ends; False: not worth while.

    Several times as fast as a sort by comparisons, where buckets hold a few numbers each.
    """
    n, low, high = 0, np.inf, -np.inf
    for i in range(values.size):
        if not np.isnan(values[i]):
            n += 1
            low, high = min(low, values[i]), max(high, values[i])
    scale = n / (high - low)
    if not 0.0 < scale < np.inf or high - low == np.inf:
        return False
    bucket, start = np.empty(values.size, np.int32), np.zeros(n + 1, np.int32)
    first, mixed = np.empty(n), np.zeros(n, np.bool_)
    for i in range(values.size):
        if np.isnan(values[i]):
            bucket[i] = n
            continue
        b = min(np.int64((values[i] - low) * scale), n - 1)
        bucket[i] = b
        if start[b] == 0:
            first[b] = values[i]
        elif first[b] != values[i]:
            mixed[b] = True
        start[b] += 1
    work, at = 0, 0
    for b in range(n):
        here = start[b]
        if mixed[b]:
            work += here * here
        start[b] = at
        at += here
    start[n] = at
    if work > _CROWDED * n:
        return False
    for i in range(values.size):
        out[start[bucket[i]]] = values[i]
        start[bucket[i]] += 1
    for i in range(1, n):
        value, j = out[i], i
        while j > 0 and out[j - 1] > value:
            out[j] = out[j - 1]
            j -= 1
        out[j] = value
    return True


@njit(**EXACT)
def count_runs(ordered, weights, counts):
    """Leave each of ascending numbers (NaN at the end) once, and their weights; how many.

    Without weights, each number counts once.
    """
    n = 0
    for i in range(ordered.size):
        if np.isnan(ordered[i]):
            break
        if n == 0 or ordered[i] != ordered[n - 1]:
            ordered[n] = ordered[i] + 0.0  # -0 is 0
            counts[n] = 0
            n += 1
        counts[n - 1] += weights[i] if weights.size else 1
    return n


@njit(**EXACT)
def _between(low, high):
    """A number near the middle of two, not below the first and below the second.

    Of few decimals where that is possible: people read it.
    """
    middle = low / 2 + high / 2
    gap = high - low
    scale = 1.0
    for _ in range(_DECIMALS):
        if gap * scale >= 0.5:
            # A quotient is rounded once: the very number that its decimals are read as.
            short = np.floor(middle * scale + 0.5) / scale
            # Beside a gap of few units in the last place, a quarter of it rounds to nothing.
            if low + gap / 4 <= short <= high - gap / 4 and short < high:
                return short
        scale *= 10.0
    if middle < low or middle >= high:  # neighbours, or the least numbers
        middle = low
    return middle


@njit(**EXACT)
def cut(values, counts, most, cuts, levels):
    """Cut distinct values into at most so many codes; give how many.

    A code is a value where there are few.  Else codes have about equally many rows: a value joins
    the code before it if that is then nearer to its share of the rows that are left.  So a value
    with twice a code's share of rows stands alone, unless the last code takes it.  A level is the
    median of a code's rows, the lower one of two.
    """
    left = 0
    for count in counts:
        left += count
    few = values.size <= most
    n_codes, first, here = 0, 0, 0
    for i in range(values.size):
        here += counts[i]
        if i + 1 < values.size:
            share = left / (most - n_codes)
            if not few and (n_codes == most - 1 or here + 0.5 * counts[i + 1] < share):
                continue
            cuts[n_codes] = _between(values[i], values[i + 1])
        rows, at = 0, first
        while 2 * (rows + counts[at]) < here:
            rows += counts[at]
            at += 1
        levels[n_codes] = values[at]
        n_codes += 1
        left -= here
        first, here = i + 1, 0
    return n_codes


@njit(**EXACT)
def place(values, cuts, silent, out):
    """How many of 255 ascending cuts are below each value; `silent` for NaN.

    Halving without branches: what a value is like cannot be guessed.
    """
    for i in range(values.size):
        value = values[i]
        code = 128 * (cuts[127] < value)
        code += 64 * (cuts[code + 63] < value)
        code += 32 * (cuts[code + 31] < value)
        code += 16 * (cuts[code + 15] < value)
        code += 8 * (cuts[code + 7] < value)
        code += 4 * (cuts[code + 3] < value)
        code += 2 * (cuts[code + 1] < value)
        code += cuts[code] < value
        out[i] = silent if np.isnan(value) else code
