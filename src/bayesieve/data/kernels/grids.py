"""Numbers cut into intervals without looking at classes, and the interval of each number."""

import numpy as np
from numba import njit

from .options import EXACT


@njit(**EXACT)
def count_runs(ordered, weights, values, counts):
    """Distinct values of ascending numbers (NaN at the end) and their weights; how many."""
    n = 0
    for i in range(ordered.size):
        if np.isnan(ordered[i]):
            break
        if n == 0 or ordered[i] != values[n - 1]:
            values[n] = ordered[i]
            counts[n] = 0
            n += 1
        counts[n - 1] += weights[i]
    return n


@njit(**EXACT)
def cut(values, counts, most, cuts, levels):
    """Cut distinct values into at most so many codes; give how many.

    A code is a value where there are few.  Else codes have about equally many rows: a value joins
    the code before it if that is then nearer to its share of the rows that are left.  So a value
    with more rows than a code's share stands alone.  A level is the median of a code's rows, the
    lower one of two.
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
            middle = values[i] / 2 + values[i + 1] / 2
            if middle < values[i] or middle >= values[i + 1]:  # neighbours, or the least numbers
                middle = values[i]
            cuts[n_codes] = middle
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
