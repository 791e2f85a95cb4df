"""Newton steps of weights from sums by code; the same operations in the same order everywhere."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT

_MOST_ROUNDS = 50
_CLOSE = 1e-4


@njit(**EXACT)
def slope_and_curve(sums, table, own, full, scale, unit, slope, curve):
    """Gradient and curvature of the log-likelihood in the weights of one term.

    Parameters
    ----------
    sums : codes x (planes + classes), as the ledger adds them up.
    table, own : terms and what leaving the line out adds to them, codes x classes, in whole units.
    full : products of posteriors are among the planes; else a diagonal above the curvature.
    scale, unit : what one of the sums, and one of the terms, is.
    """
    n_codes, n_classes = table.shape
    slope[:] = 0.0
    curve[:] = 0.0
    for c in range(n_codes):
        last = np.int64(0)
        at = n_classes - 1
        for k in range(n_classes):
            if k < n_classes - 1:
                left = sums[c, k]
                last -= left
            else:
                left = last
            term = np.float64(table[c, k]) * unit
            slope[k] += np.float64(left) * scale * term
            kept = np.float64(sums[c, sums.shape[1] - n_classes + k]) * scale
            slope[k] += kept * (np.float64(own[c, k]) * unit)
            if full:
                for r in range(k + 1, n_classes):
                    other = np.float64(table[c, r]) * unit
                    both = np.float64(sums[c, at]) * scale
                    at += 1
                    curve[k, r] -= both * term * other
                    curve[k, k] += both * term * term
                    curve[r, r] += both * other * other
            else:
                curve[k, k] += np.float64(sums[c, at]) * scale * term * term
                at += 1
    for k in range(n_classes):
        for r in range(k):
            curve[k, r] = curve[r, k]


@njit(**EXACT)
def best_step(slope, curve, now, ridge, step):
    """The step within 0..1 that gains most by a quadratic model with a ridge; its gain."""
    n_classes = slope.size
    pull = np.empty(n_classes)
    for k in range(n_classes):
        pull[k] = slope[k] - ridge * now[k]
        step[k] = 0.0
    for _ in range(_MOST_ROUNDS):
        largest = 0.0
        for k in range(n_classes):
            left = pull[k]
            for r in range(n_classes):
                left -= curve[k, r] * step[r]
            left -= ridge * step[k]
            steep = curve[k, k] + ridge + 1e-6
            new = min(max(step[k] + left / steep, -now[k]), 1.0 - now[k])
            largest = max(largest, abs(new - step[k]))
            step[k] = new
        if largest < _CLOSE:
            break
    gain = 0.0
    for k in range(n_classes):
        gain += pull[k] * step[k]
        for r in range(n_classes):
            gain -= 0.5 * step[k] * curve[k, r] * step[r]
        gain -= 0.5 * ridge * step[k] * step[k]
    return gain


@njit(**EXACT)
def gains(sums, at, tables, owns, first, n_codes, full, scale, unit, ridge, lo, hi, out, moved):
    """Gain of each term that is not in yet: sums from at[j] on, tables from row first[j] on.

    Parameters
    ----------
    out : gain of each term.
    moved : the slope of each fold along the term's step, terms x folds, where a term has codes of
        several folds, one below the other; without folds, terms x 0.
    """
    n_classes, n_folds = tables.shape[1], moved.shape[1]
    width = n_classes - 1 + n_classes
    width += n_classes * (n_classes - 1) // 2 if full else n_classes
    slope, curve = np.empty(n_classes), np.empty((n_classes, n_classes))
    nothing, step = np.zeros(n_classes), np.empty(n_classes)
    for j in range(lo, hi):
        n = n_codes[j]
        mine = sums[at[j] : at[j] + n * width].reshape(n, width)
        rows = slice(first[j], first[j] + n)
        slope_and_curve(mine, tables[rows], owns[rows], full, scale, unit, slope, curve)
        out[j] = best_step(slope, curve, nothing, ridge, step)
        n_each = n // max(n_folds, 1)
        for f in range(n_folds):
            begin = first[j] + f * n_each
            rows = slice(begin, begin + n_each)
            part = mine[f * n_each : (f + 1) * n_each]
            slope_and_curve(part, tables[rows], owns[rows], full, scale, unit, slope, curve)
            moved[j, f] = 0.0
            for k in range(n_classes):
                moved[j, f] += slope[k] * step[k]


@njit(**EXACT)
def constants_step(totals, full, scale, ridge, step):
    """Newton step of the constants; from sums by true class, in whole units of `scale`."""
    n_classes = step.size
    left = np.zeros(n_classes)
    curve = np.zeros((n_classes, n_classes))
    for k in range(n_classes - 1):
        total = np.int64(0)
        for y in range(totals.shape[0]):
            total += totals[y, k]
        left[k] = np.float64(total) * scale
        left[n_classes - 1] -= left[k]
    at = n_classes - 1
    for k in range(n_classes):
        for r in range(k + 1 if full else k, n_classes if full else k + 1):
            total = np.int64(0)
            for y in range(totals.shape[0]):
                total += totals[y, at]
            at += 1
            both = np.float64(total) * scale
            if full:
                curve[k, r] -= both
                curve[r, k] -= both
                curve[r, r] += both
            curve[k, k] += both
    for k in range(n_classes):
        curve[k, k] += ridge
    # Symmetric and positive: elimination needs no pivot.
    for k in range(n_classes):
        for r in range(k + 1, n_classes):
            share = curve[r, k] / curve[k, k]
            for e in range(k, n_classes):
                curve[r, e] -= share * curve[k, e]
            left[r] -= share * left[k]
    for k in range(n_classes - 1, -1, -1):
        found = left[k]
        for r in range(k + 1, n_classes):
            found -= curve[k, r] * step[r]
        step[k] = found / curve[k, k]
