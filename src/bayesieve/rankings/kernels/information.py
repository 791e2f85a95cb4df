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
def pack_levels(codes, n_levels, first, complete, bits):
    """Set the bits of every column's levels, see `Planes`; `bits` come as zeros."""
    for j in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            if complete[j] <= codes[j, i] < n_levels[j]:
                plane = first[j] + codes[j, i] - complete[j]
                bits[plane, i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@njit(**EXACT)
def _ones_within(bits, p, masks, one, other):
    """How many ones a plane has within each of two masks: its words are read once."""
    of_one = of_other = np.uint64(0)
    for w in range(bits.shape[1]):
        of_one += popcount(bits[p, w] & masks[one, w])
        of_other += popcount(bits[p, w] & masks[other, w])
    return of_one, of_other


@njit(**EXACT)
def count_ones(bits, p, masks, out, row):
    """How many ones a plane has within each mask, written to a row of `out`."""
    last = masks.shape[0] - 1
    for level in range(0, last + 1, 2):
        after = min(level + 1, last)
        out[row, level], out[row, after] = _ones_within(bits, p, masks, level, after)


@njit(**EXACT)
def associate_bits(kind, bits, first, complete, masks, totals, which, out):
    """How the columns `which`, by planes, go with a variable given by one mask a level.

    `totals` counts the ones of the masks.
    """
    n_other = totals.size
    most = 0
    for j in which:
        most = max(most, first[j + 1] - first[j] + complete[j])
    room, margin = np.empty((most, n_other)), np.empty(n_other)
    for j in which:
        n_levels = first[j + 1] - first[j] + complete[j]
        for p in range(first[j], first[j + 1]):
            count_ones(bits, p, masks, room, p - first[j] + complete[j])
        if complete[j]:
            for other in range(n_other):
                left = np.float64(totals[other])
                for level in range(1, n_levels):
                    left -= room[level, other]
                room[0, other] = left
        out[j] = of_two(kind, room[:n_levels], margin)


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
