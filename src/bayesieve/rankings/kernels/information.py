"""How two columns go together, from counts: on packed bits by popcount, on codes by adding up."""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import CHI2, EXACT

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
                found += joint[a, b] * math.log(joint[a, b] * total / (rows[a] * columns[b]))
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
                apart = joint[a, b] - expected
                found += apart * apart / expected
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


@njit(**EXACT)
def _conditional_bits(bits, j, other, masks, totals):
    """Information of binary column j about the classes when binary column `other` is known."""
    n_levels = totals.size
    inside, outside = np.empty((2, n_levels)), np.empty((2, n_levels))
    for level in range(n_levels):
        both = mine = theirs = np.uint64(0)
        for w in range(bits.shape[1]):
            here = masks[level, w]
            both += _popcount(bits[j, w] & bits[other, w] & here)
            mine += _popcount(bits[j, w] & here)
            theirs += _popcount(bits[other, w] & here)
        inside[1, level] = both
        inside[0, level] = theirs - both
        outside[1, level] = mine - both
        outside[0, level] = totals[level] - theirs - mine + both
    n_inside, n_outside = inside.sum(), outside.sum()
    found = n_inside * information_of_counts(inside) + n_outside * information_of_counts(outside)
    return np.floor(found / (n_inside + n_outside) * _GRAIN + 0.5) / _GRAIN


@njit(**EXACT)
def _conditional_codes(codes, n_levels, j, other, labels, n_classes, weights):
    """The same for columns of codes; rows where either is missing are left out."""
    joint = np.zeros((n_levels[other], n_levels[j], n_classes))
    for i in range(labels.size):
        if codes[j, i] < n_levels[j] and codes[other, i] < n_levels[other]:
            joint[codes[other, i], codes[j, i], labels[i]] += weights[i]
    total = joint.sum()
    found = 0.0
    for z in range(joint.shape[0]):
        found += joint[z].sum() * information_of_counts(joint[z])
    return np.floor(found / max(total, 1.0) * _GRAIN + 0.5) / _GRAIN


@njit(**EXACT)
def conditional_greedy(
    packed, bits, masks, totals, codes, n_levels, labels, n_classes, weights, scores, order
):
    """Fleuret's order: next the column with the largest of its smallest conditional information.

    `scores` holds the information of each column alone, and in the end what each was worth when it
    was last looked at.  Columns are looked at lazily: no further than it takes to see that they
    cannot win.  Ties go to the lowest column.
    """
    seen = np.zeros(scores.size, np.int64)
    taken = np.zeros(scores.size, np.bool_)
    for k in range(order.size):
        best, at = -1.0, -1
        for j in range(scores.size):
            if taken[j]:
                continue
            while scores[j] > best and seen[j] < k:
                if packed:
                    value = _conditional_bits(bits, j, order[seen[j]], masks, totals)
                else:
                    value = _conditional_codes(
                        codes, n_levels, j, order[seen[j]], labels, n_classes, weights
                    )
                scores[j] = min(scores[j], value)
                seen[j] += 1
            if scores[j] > best:
                best, at = scores[j], j
        taken[at] = True
        order[k] = at
