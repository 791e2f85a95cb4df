"""Numbers from tables of counts: information, uncertainty, chi-square.

All are rounded to 2^-40, so that columns that say the same in other words stay equal.  `margin` is
room for the sums of a table's columns: tables are small, and there are millions of them.
"""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .kinds import CHI2, CONDITIONAL, FREE, JOINT, REPEATED, UNCERTAINTY

_GRAIN = 2.0**40


@njit(**EXACT)
def rounded(value):
    """To the grain."""
    return np.floor(value * _GRAIN + 0.5) / _GRAIN


@njit(**EXACT)
def _sums(joint, margin):
    """The total of a table; the sums of its columns go to `margin`."""
    total = 0.0
    margin[: joint.shape[1]] = 0.0
    for a in range(joint.shape[0]):
        for b in range(joint.shape[1]):
            total += joint[a, b]
            margin[b] += joint[a, b]
    return total


@njit(**EXACT)
def _information(joint, margin):
    """Mutual information of rows and columns, in nat and not rounded; and the total."""
    total = _sums(joint, margin)
    if total <= 0.0:
        return 0.0, 0.0
    found = 0.0
    for a in range(joint.shape[0]):
        of_row = 0.0
        for b in range(joint.shape[1]):
            of_row += joint[a, b]
        for b in range(joint.shape[1]):
            if joint[a, b] > 0.0:
                found += joint[a, b] * math.log(joint[a, b] * total / (of_row * margin[b]))
    return max(found / total, 0.0), total


@njit(**EXACT)
def _surprise(counts, total):
    """What counts add to an entropy, times the total: -log of each one's share, summed up."""
    found = 0.0
    for count in counts:
        if count > 0.0:
            found -= count * math.log(count / total)
    return found


@njit(**EXACT)
def _uncertainty(joint, margin):
    """Symmetric uncertainty of rows and columns, 2 I / (H + H)."""
    information, total = _information(joint, margin)
    both = _surprise(margin[: joint.shape[1]], total)
    for a in range(joint.shape[0]):
        of_row = joint[a].sum()
        if of_row > 0.0:
            both -= of_row * math.log(of_row / total)
    return rounded(2.0 * information * total / both) if both > 0.0 else 0.0


@njit(**EXACT)
def _chi2(joint, margin):
    """Pearson's chi-square; rounded before it is multiplied by the total."""
    total = _sums(joint, margin)
    if total <= 0.0:
        return 0.0
    found = 0.0
    for a in range(joint.shape[0]):
        of_row = 0.0
        for b in range(joint.shape[1]):
            of_row += joint[a, b]
        for b in range(joint.shape[1]):
            expected = of_row * margin[b] / total
            if expected > 0.0:
                apart = joint[a, b] - expected
                found += apart * apart / expected
    return rounded(found / total) * total


@njit(**EXACT)
def _free(joint, margin):
    """Degrees of freedom of the chi-square: rows and columns that hold nothing do not count."""
    if _sums(joint, margin) <= 0.0:
        return 0.0
    n_rows = n_columns = 0
    for a in range(joint.shape[0]):
        n_rows += joint[a].sum() > 0.0
    for b in range(joint.shape[1]):
        n_columns += margin[b] > 0.0
    return (n_rows - 1.0) * (n_columns - 1.0)


@njit(**EXACT)
def of_two(kind, joint, margin):
    """How two variables go together: a table of counts by one of the kinds for two."""
    if kind == CHI2:
        return _chi2(joint, margin)
    if kind == FREE:
        return _free(joint, margin)
    if kind == UNCERTAINTY:
        return _uncertainty(joint, margin)
    return rounded(_information(joint, margin)[0])


@njit(**EXACT)
def _conditional(joint, n_levels, margin):
    """I(x; c | s): the mean over the values of s, rounded for each of them first."""
    found = 0.0
    for start in range(0, joint.shape[0], n_levels):
        information, here = _information(joint[start : start + n_levels], margin)
        found += here * rounded(information)
    total = _sums(joint, margin)
    return rounded(found / total) if total > 0.0 else 0.0


@njit(**EXACT)
def _repeated(joint, one, margin):
    """What x repeats of s: I(x; s) - I(x; s | c), where positive.

    It equals I(x; c) - I(x; c | s), taken over the same rows.
    """
    one[:] = 0.0
    given = 0.0
    for start in range(0, joint.shape[0], one.shape[0]):
        part = joint[start : start + one.shape[0]]
        information, here = _information(part, margin)
        given += here * information
        for a in range(one.shape[0]):
            for c in range(one.shape[1]):
                one[a, c] += part[a, c]
    alone, total = _information(one, margin)
    return rounded(max(alone - given / total, 0.0)) if total > 0.0 else 0.0


@njit(**EXACT)
def of_three(kind, joint, one, margin):
    """What the counts of two columns and the class say, by kind.

    Parameters
    ----------
    joint : counts: rows are the values of s and, within each, those of x; columns are classes.
    one : room for a table of x and the class.
    """
    if kind == CONDITIONAL:
        return _conditional(joint, one.shape[0], margin)
    if kind == REPEATED:
        return _repeated(joint, one, margin)
    information, total = _information(joint, margin)
    if kind == JOINT:
        return rounded(information)
    entropy = 0.0
    for a in range(joint.shape[0]):
        entropy += _surprise(joint[a], total)
    return rounded(information * total / entropy) if entropy > 0.0 else 0.0
