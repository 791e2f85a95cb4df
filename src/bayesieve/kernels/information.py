"""How two columns go together, from counts: on packed bits by popcount, on codes by adding up."""

import numpy as np
from numba import njit

from .options import CHI2, EXACT

_GRAIN = 2.0**40


@njit(**EXACT)
def _popcount(word):
    """Number of ones in 64 bits; compilers know this form and use the machine's own count."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(**EXACT)
def information_of_counts(joint):
    """Plug-in mutual information in nat of a table of counts, rounded to 2^-40.

    Rounded, so that columns that say the same in other words stay equal.
    """
    total = joint.sum()
    if total <= 0.0:
        return 0.0
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    found = 0.0
    for a in range(joint.shape[0]):
        for b in range(joint.shape[1]):
            if joint[a, b] > 0.0:
                found += joint[a, b] * np.log(joint[a, b] * total / (rows[a] * columns[b]))
    return np.floor(max(found / total, 0.0) * _GRAIN + 0.5) / _GRAIN


@njit(**EXACT)
def chi2_of_counts(joint):
    """Pearson's chi-square of a table of counts, rounded like the information."""
    total = joint.sum()
    if total <= 0.0:
        return 0.0
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    found = 0.0
    for a in range(joint.shape[0]):
        for b in range(joint.shape[1]):
            expected = rows[a] * columns[b] / total
            if expected > 0.0:
                found += (joint[a, b] - expected) ** 2 / expected
    return np.floor(found / total * _GRAIN + 0.5) / _GRAIN * total


@njit(**EXACT)
def _association(kind, joint):
    return chi2_of_counts(joint) if kind == CHI2 else information_of_counts(joint)


@njit(**EXACT)
def associate_bits(kind, bits, ones, masks, totals, lo, hi, out):
    """How binary columns lo..hi go with a variable given by one mask a level.

    `bits` and `masks` are packed rows; `ones` and `totals` count their ones.
    """
    n_levels = totals.size
    joint = np.empty((2, n_levels))
    for j in range(lo, hi):
        left = ones[j]
        for level in range(n_levels - 1):
            both = np.uint64(0)
            for w in range(bits.shape[1]):
                both += _popcount(bits[j, w] & masks[level, w])
            joint[1, level] = both
            left -= both
        joint[1, n_levels - 1] = left
        for level in range(n_levels):
            joint[0, level] = totals[level] - joint[1, level]
        out[j] = _association(kind, joint)


@njit(**EXACT)
def associate_codes(kind, codes, n_levels, other, n_other, weights, lo, hi, out):
    """How columns of codes lo..hi go with another; codes beyond the levels are missing, and such
    rows are left out of that pair.
    """
    for j in range(lo, hi):
        joint = np.zeros((n_levels[j], n_other))
        for i in range(other.size):
            if codes[j, i] < n_levels[j] and other[i] < n_other:
                joint[codes[j, i], other[i]] += weights[i]
        out[j] = _association(kind, joint)
