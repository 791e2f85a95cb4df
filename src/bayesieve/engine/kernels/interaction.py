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
def informations(columns, n_groups, labels, weights, n_classes, first, second, lo, hi, out):
    """Information of pairs of columns about the classes; of one column where second[p] < 0.

    Parameters
    ----------
    columns : coarse codes, columns x rows; n_groups[j] is the silent one.
    """
    n_rows = labels.size
    for p in range(lo, hi):
        a, b = first[p], second[p]
        wide = 1 if b < 0 else n_groups[b]
        n_cells = n_groups[a] * wide + 1
        counts = np.zeros((n_cells, n_classes), np.int64)
        for i in range(n_rows):
            cell = np.int64(columns[a, i])
            if b < 0:
                counts[cell, labels[i]] += weights[i]
            else:
                other = np.int64(columns[b, i])
                silent = cell == n_groups[a] or other == wide
                counts[n_cells - 1 if silent else cell * wide + other, labels[i]] += weights[i]
        out[p] = _information(counts, np.empty(n_cells, np.int64), np.empty(n_classes, np.int64))
