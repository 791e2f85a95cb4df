"""Criteria row by row: the value of each line, and how much it moves the score."""

import math

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


Floats = NDArray[np.float64]


def line_values(name: str, sums: Ints, unit: float, classes: Ints) -> Floats:
    """What each line adds to the mean that is called `name`.

    Parameters
    ----------
    name : "error", "probability" or "log-likelihood".
    sums : integer scores, lines x classes.
    unit : nat of one integer.
    classes : the true class of each line.
    """
    if name == "error":
        return (sums.argmax(1) != classes).astype(np.float64)
    ahead = (sums - sums.max(1, keepdims=True)) * unit
    odds = np.exp(ahead)
    at = np.arange(classes.size), classes
    if name == "log-likelihood":
        return ahead[at] - np.log(odds.sum(1))
    own = odds[at]
    odds[at] = 0.0
    rest = odds.sum(1)
    return rest / (rest + own)


def auc_parts(scores: Ints, truth: NDArray[np.bool_], weights: Ints) -> tuple[float, Floats]:
    """Area under the ROC curve, ties half; and each line's share in its chance error.

    The squares of the shares, times the weights, add up to the variance of DeLong, DeLong and
    Clarke-Pearson (1988).  A single positive or negative line has no spread: its share is 0.

    Parameters
    ----------
    scores : one integer a line.
    truth : is the line positive?  There must be lines of both kinds.
    weights : how often each line counts.
    """
    distinct, seat = np.unique(scores, return_inverse=True)
    totals, below = [], []
    for mine in (~truth, truth):
        counts = np.zeros(distinct.size, np.int64)
        np.add.at(counts, seat[mine], weights[mine])
        totals.append(int(counts.sum()))
        below.append(2 * np.cumsum(counts) - counts)  # doubled: those below, and half the equals
    negative, positive = totals
    # Doubled number of lines of the other kind that each line stands on the right side of.
    right = np.where(truth, below[0][seat], 2 * positive - below[1][seat])
    pairs = sum(int(w) * int(r) for w, r in zip(weights[truth], right[truth], strict=True))
    area = pairs / (2 * positive * negative)
    shares = np.zeros(scores.size)
    for mine, n, others in ((truth, positive, negative), (~truth, negative, positive)):
        if n > 1:
            shares[mine] = (right[mine] / (2 * others) - area) / math.sqrt(n * (n - 1))
    return area, shares
