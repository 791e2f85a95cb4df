"""EM for one-dimensional Gaussian mixtures on distinct values with frequencies.

The functions of `math` and plain sums: compiled or not, they are the same to the last bit.  Numpy's
own logarithm, exponential and pairwise sums are not.
"""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT


@njit(**EXACT)
def _start(low, high, floor, share, mean, variance):
    """Components side by side over the range (Sotoca et al., section 2.1)."""
    n = share.size
    for m in range(n):
        share[m] = 1.0 / n
        mean[m] = low + (high - low) * (m + 0.5) / n
        half = (high - low) / (2.0 * n)
        variance[m] = max(half * half, floor * floor)


@njit(**EXACT)
def _total(weights):
    """Their sum, from the first to the last."""
    total = 0.0
    for t in range(weights.size):
        total += weights[t]
    return total


@njit(**EXACT)
def _respond(points, weights, share, mean, variance, work):
    """Responsibilities into `work` (components x points); returns the log-likelihood."""
    n_components, n_points = share.size, points.size
    for m in range(n_components):
        scale = -0.5 / variance[m]
        constant = math.log(share[m]) - 0.5 * math.log(2.0 * np.pi * variance[m])
        for t in range(n_points):
            apart = points[t] - mean[m]
            work[m, t] = constant + scale * apart * apart
    total = 0.0
    for t in range(n_points):
        top = work[0, t]
        for m in range(1, n_components):
            top = max(top, work[m, t])
        norm = 0.0
        for m in range(n_components):
            value = math.exp(work[m, t] - top)
            work[m, t] = value
            norm += value
        for m in range(n_components):
            work[m, t] /= norm
        total += weights[t] * (top + math.log(norm))
    return total


@njit(**EXACT)
def _improve(points, weights, n_rows, floor, work, share, mean, variance):
    """New parameters from responsibilities; a component that nobody needs stays where it is."""
    for m in range(share.size):
        mass = 0.0
        first = 0.0
        for t in range(points.size):
            part = weights[t] * work[m, t]
            mass += part
            first += part * points[t]
        share[m] = max(mass / n_rows, 1e-300)
        if mass > 1e-12 * n_rows:
            centre = first / mass
            second = 0.0
            for t in range(points.size):
                apart = points[t] - centre
                second += weights[t] * work[m, t] * apart * apart
            mean[m] = centre
            # The constrained maximum: a component cannot be narrower than the floor.
            variance[m] = max(second / mass, floor * floor)


@njit(**EXACT)
def em(points, weights, floor, tolerance, most, as_printed, share, mean, variance):
    """Fit one mixture in place; returns the log-likelihood and the number of steps.

    Stops when a step gains less than `tolerance` nat a row; with `as_printed`, when no mean moves
    by more than a tenth and no variance (the paper's sigma) by more than a twentieth of the range.
    """
    n_rows = _total(weights)
    low, high = points[0], points[-1]
    _start(low, high, floor, share, mean, variance)
    work = np.empty((share.size, points.size))
    before = -np.inf
    for step in range(1, most + 1):
        found = _respond(points, weights, share, mean, variance, work)
        if not as_printed and found - before < tolerance * n_rows:
            return found, step
        before = found
        old_mean, old_variance = mean.copy(), variance.copy()
        _improve(points, weights, n_rows, floor, work, share, mean, variance)
        if as_printed:
            calm = True
            for m in range(share.size):
                calm &= abs(mean[m] - old_mean[m]) < 0.1 * (high - low)
                calm &= abs(variance[m] - old_variance[m]) < 0.05 * (high - low)
            if calm or low == high:
                return _respond(points, weights, share, mean, variance, work), step
    return _respond(points, weights, share, mean, variance, work), most


@njit(**EXACT)
def fit_classes(points, counts, floor, least, most_components, tolerance, most, as_printed, out):
    """A mixture for every row of counts (sets and classes), over the same distinct values.

    With `least` < `most_components` the number of components is chosen by BIC.  out: rows x
    (share, mean, variance) x components; unused components have share 0.
    """
    chosen = np.empty(points.size)
    weight = np.empty(points.size)
    for r in range(counts.shape[0]):
        out[r] = 0.0
        out[r, 2] = 1.0
        n = 0
        for t in range(points.size):
            if counts[r, t] > 0.0:
                chosen[n], weight[n] = points[t], counts[r, t]
                n += 1
        if n == 0:
            continue
        rows = _total(weight[:n])
        best = np.inf
        for k in range(least, min(most_components, max(n, least)) + 1):
            share, mean, variance = np.empty(k), np.empty(k), np.empty(k)
            found, _ = em(
                chosen[:n], weight[:n], floor, tolerance, most, as_printed, share, mean, variance
            )
            # Weights below a row in all are no reason to pay for components.
            price = (3 * k - 1) * math.log(max(rows, 2.0)) - 2.0 * found
            if price < best:
                best = price
                out[r, 0, :] = 0.0
                out[r, 0, :k] = share
                out[r, 1, :k] = mean
                out[r, 2, :k] = variance
