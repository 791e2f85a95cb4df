"""Traces of windows against a reference period, the first points of a series."""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .windows import replace_sorted


@njit(**EXACT)
def _apart(one, other):
    """Largest gap of two distribution functions, and the integral of the squared gap."""
    i = j = 0
    largest = total = 0.0
    at = min(one[0], other[0])
    gap = 0.0
    while i < one.size or j < other.size:
        if j == other.size or (i < one.size and one[i] <= other[j]):
            value = one[i]
        else:
            value = other[j]
        total += gap * gap * (value - at)
        while i < one.size and one[i] == value:
            i += 1
        while j < other.size and other[j] == value:
            j += 1
        gap = abs(i / one.size - j / other.size)
        largest = max(largest, gap)
        at = value
    return largest, total


@njit(**EXACT)
def _against_reference(x, reference, window, energy):
    n = x.size - reference - window + 1
    if n < 1:
        return np.empty(0)
    out = np.empty(n)
    first = np.sort(x[:reference])
    ordered = np.sort(x[reference : reference + window])
    for s in range(n):
        if s > 0:
            at = reference + s
            replace_sorted(ordered, x[at - 1], x[at + window - 1])
        largest, total = _apart(first, ordered)
        out[s] = math.sqrt(2.0 * total) if energy else largest
    return out


@njit(**EXACT)
def reference_ks(x, reference, window):
    """Kolmogorov-Smirnov statistics of windows against the reference period."""
    return _against_reference(x, reference, window, False)


@njit(**EXACT)
def reference_energy(x, reference, window):
    """Energy distances of windows from the reference period."""
    return _against_reference(x, reference, window, True)
