"""Keep the running sums: add or drop a feature, derive what the scans read."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT


@njit(**EXACT)
def apply_feature(sums, lines, terms, slot, sign):
    """Add (sign 1) or subtract (sign -1) one feature's terms, in place."""
    n_classes, n_lines = sums.shape
    pieces, sets = lines.pieces, lines.sets
    codes, n_codes, offsets, table = terms.codes, terms.n_codes, terms.offsets, terms.table
    if slot < 0:
        column = terms.columns[-slot - 1]
        for k in range(n_classes):
            for i in range(n_lines):
                sums[k, i] += sign * column[k, i]
        return
    for s in range(sets.size):
        base = offsets[slot] + sets[s] * n_codes[slot] * n_classes
        code = codes[slot, pieces[s] : pieces[s + 1]]
        for k in range(n_classes):
            mine = sums[k, pieces[s] : pieces[s + 1]]
            for i in range(code.size):
                mine[i] += sign * table[base + code[i] * n_classes + k]


@njit(**EXACT)
def margins(sums, lines, out):
    """How far each line's own class is ahead of every class."""
    pieces, tiles, classes = lines.pieces, lines.tiles, lines.classes
    n_classes = sums.shape[0]
    for t in range(classes.size):
        start, end = pieces[tiles[t]], pieces[tiles[t + 1]]
        own = sums[classes[t], start:end]
        for k in range(n_classes):
            other, ahead = sums[k, start:end], out[k, start:end]
            for i in range(own.size):
                ahead[i] = own[i] - other[i]


@njit(**EXACT)
def _normaliser(sums, i, unit):
    """The largest sum of a line, and the total of all classes relative to it."""
    top = sums[0, i]
    for k in range(1, sums.shape[0]):
        top = max(top, sums[k, i])
    total = 0.0
    for k in range(sums.shape[0]):
        total += np.exp((sums[k, i] - top) * unit)
    return top, total


@njit(**EXACT)
def posterior(sums, unit, out):
    """Posterior probabilities in float32, normalised per line; for scans only."""
    n_classes, n_lines = sums.shape
    for i in range(n_lines):
        top, total = _normaliser(sums, i, unit)
        for k in range(n_classes):
            out[k, i] = np.exp((sums[k, i] - top) * unit) / total


@njit(**EXACT)
def log_own(sums, lines, unit, out):
    """Weighted sum of log P(own class) by class, in float64; for scans only."""
    pieces, tiles, classes, weights = lines.pieces, lines.tiles, lines.classes, lines.weights
    out[:] = 0.0
    for t in range(classes.size):
        y = classes[t]
        for i in range(pieces[tiles[t]], pieces[tiles[t + 1]]):
            top, total = _normaliser(sums, i, unit)
            weight = weights[i] if weights.size else 1
            out[y] += weight * ((sums[y, i] - top) * unit - np.log(total))
