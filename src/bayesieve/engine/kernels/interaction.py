"""How much two columns tell together that neither tells alone."""

import numpy as np
from numba import njit

from ...data.kernels.exact import log_fixed
from ...data.kernels.options import EXACT


@njit(**EXACT)
def _spread(counts, total):
    """Entropy of counts, in nat, and how many of them are not 0."""
    found, seen = 0.0, 0
    for c in range(counts.size):
        if counts[c] > 0:
            number = np.float64(counts[c])
            found += number * log_fixed(number)
            seen += 1
    return log_fixed(total) - found / total, seen


@njit(**EXACT)
def _information(counts, by_cell, by_class):
    """What cells tell of classes, less what chance would make of as many cells."""
    by_cell[:] = 0
    by_class[:] = 0
    for c in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            by_cell[c] += counts[c, k]
            by_class[k] += counts[c, k]
    total = np.float64(by_class.sum())
    classes, _ = _spread(by_class, total)
    one, seen = _spread(by_cell, total)
    both, _ = _spread(counts.ravel(), total)
    chance = np.float64((seen - 1) * (counts.shape[1] - 1)) / (2.0 * total)
    return classes + one - both - chance


@njit(**EXACT)
def _count(columns, n_groups, labels, weights, a, b, counts):
    """Weight of the rows by cell of two columns and class, added to what is there."""
    wide = n_groups[b]
    silent = counts.shape[0] - 1
    for i in range(labels.size):
        cell, other = np.int64(columns[a, i]), np.int64(columns[b, i])
        if cell == n_groups[a] or other == wide:
            cell = silent
        else:
            cell = cell * wide + other
        counts[cell, labels[i]] += weights[i]


@njit(**EXACT)
def count_cells(columns, n_groups, labels, weights, n_classes, first, second, ends, lo, hi, out):
    """Counts of pairs of columns, end to end: those of pair p, cells x classes, from ends[p] on.

    Parameters
    ----------
    columns : coarse codes, columns x rows; n_groups[j] is the silent one.
    out : added to.
    """
    for p in range(lo, hi):
        counts = out[ends[p] : ends[p + 1]].reshape(-1, n_classes)
        _count(columns, n_groups, labels, weights, first[p], second[p], counts)


@njit(**EXACT)
def informations_of(counts, ends, n_classes, lo, hi, out):
    """Information of counts, cells x classes, that lie end to end."""
    for p in range(lo, hi):
        mine = counts[ends[p] : ends[p + 1]].reshape(-1, n_classes)
        n_cells = mine.shape[0]
        out[p] = _information(mine, np.empty(n_cells, np.int64), np.empty(n_classes, np.int64))


@njit(**EXACT)
def informations(columns, n_groups, labels, weights, n_classes, first, second, lo, hi, out):
    """Information of pairs of columns about the classes.

    Parameters
    ----------
    columns : coarse codes, columns x rows; n_groups[j] is the silent one.
    """
    for p in range(lo, hi):
        a, b = first[p], second[p]
        n_cells = n_groups[a] * n_groups[b] + 1
        counts = np.zeros((n_cells, n_classes), np.int64)
        _count(columns, n_groups, labels, weights, a, b, counts)
        out[p] = _information(counts, np.empty(n_cells, np.int64), np.empty(n_classes, np.int64))
