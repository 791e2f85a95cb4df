"""ReliefF (Kononenko 1994): nearest hits and misses, row by row, without a matrix of distances."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT


@njit(**EXACT)
def _difference(values, nominal, gaps, expected, both, labels, a, i, j):
    """How far rows i and j are apart in column a; its expectation where a value is missing."""
    x, z = values[a, i], values[a, j]
    if gaps[a] >= 0:
        g = gaps[a]
        if np.isnan(x):
            return both[g, labels[i], labels[j]] if np.isnan(z) else expected[g, labels[i], j]
        if np.isnan(z):
            return expected[g, labels[j], i]
    if nominal[a]:
        return 1.0 if x != z else 0.0
    return abs(x - z)


@njit(**EXACT)
def _distances(values, nominal, gaps, expected, both, labels, i, out):
    """Sum over columns of the difference between row i and every row."""
    out[:] = 0.0
    for a in range(values.shape[0]):
        column = values[a]
        x = column[i]
        if gaps[a] >= 0:
            for j in range(out.size):
                out[j] += _difference(values, nominal, gaps, expected, both, labels, a, i, j)
        elif nominal[a]:
            for j in range(out.size):
                out[j] += np.float64(column[j] != x)
        else:
            for j in range(out.size):
                out[j] += abs(column[j] - x)


@njit(**EXACT)
def _nearest(apart, labels, i, k, near, far, count):
    """The k nearest rows of each class but row i itself; the lower row first among equals."""
    count[:] = 0
    for j in range(apart.size):
        c = labels[j]
        if j == i or (count[c] == k and apart[j] >= far[c, k - 1]):
            continue
        at = count[c] if count[c] < k else k - 1
        while at > 0 and far[c, at - 1] > apart[j]:
            far[c, at] = far[c, at - 1]
            near[c, at] = near[c, at - 1]
            at -= 1
        far[c, at], near[c, at] = apart[j], j
        count[c] = min(count[c] + 1, k)


@njit(**EXACT)
def relief_blocks(values, nominal, gaps, expected, both, labels, shares, k, block, lo, hi, out):
    """Sum of each block's rows: misses by the odds of their class, less hits; blocks lo..hi.

    Parameters
    ----------
    values : columns x rows: numbers scaled to a range of 1, codes of nominal columns, NaN missing.
    gaps : number of a column among those with missing values, -1 for complete ones.
    expected : for columns with missing values, classes x rows: expected difference between a
        row's value and one of that class.
    both : the same for two missing values, by their classes.
    shares : of the classes.
    out : blocks x columns.
    """
    n_columns, n_rows = values.shape
    n_classes = shares.size
    apart = np.empty(n_rows)
    near, far = np.empty((n_classes, k), np.int64), np.empty((n_classes, k))
    count = np.empty(n_classes, np.int64)
    for b in range(lo, hi):
        out[b] = 0.0
        for i in range(b * block, min((b + 1) * block, n_rows)):
            _distances(values, nominal, gaps, expected, both, labels, i, apart)
            _nearest(apart, labels, i, k, near, far, count)
            for c in range(n_classes):
                if count[c] == 0:
                    continue
                if c == labels[i]:
                    weight = -1.0 / count[c]
                else:
                    weight = shares[c] / (1.0 - shares[labels[i]]) / count[c]
                for a in range(n_columns):
                    total = 0.0
                    for q in range(count[c]):
                        total += _difference(
                            values, nominal, gaps, expected, both, labels, a, i, near[c, q]
                        )
                    out[b, a] += weight * total
