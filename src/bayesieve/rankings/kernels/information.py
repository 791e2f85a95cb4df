"""How two columns go together, from counts: on packed bits by popcount, on codes by adding up."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .tables import of_two


@njit(**EXACT)
def popcount(word):
    """Number of ones in 64 bits; compilers know this form and use the machine's own count."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(**EXACT)
def common_ones(one, other):
    """How many ones two rows of words share."""
    both = np.uint64(0)
    for w in range(one.size):
        both += popcount(one[w] & other[w])
    return both


@njit(**EXACT)
def associate_bits(kind, bits, ones, masks, totals, which, out):
    """How the binary columns `which` go with a variable given by one mask a level.

    `bits` and `masks` are packed rows; `ones` and `totals` count their ones.
    """
    n_levels = totals.size
    joint, margin = np.empty((2, n_levels)), np.empty(n_levels)
    for j in which:
        left = ones[j]
        for level in range(n_levels - 1):
            both = common_ones(bits[j], masks[level])
            joint[1, level] = both
            left -= both
        joint[1, n_levels - 1] = left
        for level in range(n_levels):
            joint[0, level] = totals[level] - joint[1, level]
        out[j] = of_two(kind, joint, margin)


@njit(**EXACT)
def associate_codes(kind, codes, n_levels, other, n_other, weights, which, out):
    """How the columns `which` of codes go with another; codes beyond the levels are missing, and
    such rows are left out of that pair.
    """
    margin = np.empty(n_other)
    for j in which:
        joint = np.zeros((n_levels[j], n_other))
        for i in range(other.size):
            if codes[j, i] < n_levels[j] and other[i] < n_other:
                joint[codes[j, i], other[i]] += weights[i]
        out[j] = of_two(kind, joint, margin)
