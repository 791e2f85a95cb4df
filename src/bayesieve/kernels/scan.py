"""Fast scans in the linear domain: they shortlist, they never decide.

With p the posterior of the current subset, feature f turns it into p_k t_fk / sum_k p_k t_fk: one
multiply-add a class, one division a line, no exponential.
"""

import numpy as np
from numba import njit

from .options import BLOCK, SCAN

# Denominators multiplied before one logarithm: each is above e^-65, so eight stay above 1e-300.
_TOGETHER = 8
_STRIDE = BLOCK // _TOGETHER


@njit(**SCAN)
def _denominators(post, linear, base, code, first, size, n_values, den, den1):
    """sum_k p_k t_k for every line of the block, into den."""
    n_classes = post.shape[0]
    if n_values == 2:
        # Both answers, then a choice: cheaper than choosing a factor for every class.
        for k in range(n_classes):
            t0, t1 = linear[base + k], linear[base + n_classes + k]
            p = post[k, first : first + size]
            if k == 0:
                for i in range(size):
                    den[i] = p[i] * t0
                    den1[i] = p[i] * t1
            else:
                for i in range(size):
                    den[i] += p[i] * t0
                    den1[i] += p[i] * t1
        for i in range(size):
            den[i] = den1[i] if code[i] != 0 else den[i]
        return
    for k in range(n_classes):
        p = post[k, first : first + size]
        if k == 0:
            for i in range(size):
                den[i] = p[i] * linear[base + code[i] * n_classes + k]
        else:
            for i in range(size):
                den[i] += p[i] * linear[base + code[i] * n_classes + k]


@njit(**SCAN)
def _numerators(post, linear, at, n_classes, code, first, size, n_values, y, num):
    """p_y t_y for every line of the block, into num."""
    p = post[y, first : first + size]
    if n_values == 2:
        t0, t1 = linear[at + y], linear[at + n_classes + y]
        for i in range(size):
            num[i] = p[i] * (t1 if code[i] != 0 else t0)
    else:
        for i in range(size):
            num[i] = p[i] * linear[at + code[i] * n_classes + y]


@njit(**SCAN)
def scan_probability(
    post, starts, sets, classes, weights, codes, n_codes, offsets, linear, slots, candidates,
    lo, hi, out,
):  # fmt: skip
    """Sum of P(Y != y) by true class, in float32, for single coded features lo..hi."""
    n_classes = post.shape[0]
    den = np.empty(BLOCK, np.float32)
    den1 = np.empty(BLOCK, np.float32)
    num = np.empty(BLOCK, np.float32)
    for j in range(lo, hi):
        slot = slots[candidates[j]]
        n_values = n_codes[slot]
        out[j, :] = 0.0
        for s in range(sets.size):
            y = classes[s]
            base = offsets[slot] + sets[s] * n_values * n_classes
            for first in range(starts[s], starts[s + 1], BLOCK):
                size = min(BLOCK, starts[s + 1] - first)
                code = codes[slot, first : first + size]
                _denominators(post, linear, base, code, first, size, n_values, den, den1)
                _numerators(post, linear, base, n_classes, code, first, size, n_values, y, num)
                part = np.float32(0.0)
                if weights.size:
                    for i in range(size):
                        part += weights[first + i] * (np.float32(1.0) - num[i] / den[i])
                else:
                    for i in range(size):
                        part += np.float32(1.0) - num[i] / den[i]
                out[j, y] += part


@njit(**SCAN)
def scan_log_likelihood(
    post, starts, sets, classes, weights, codes, n_codes, offsets, linear, slots, candidates,
    lo, hi, out,
):  # fmt: skip
    """Sum by true class of log t_y - log sum_k p_k t_k: the change of log P(Y = y)."""
    n_classes = post.shape[0]
    den = np.empty(BLOCK, np.float32)
    den1 = np.empty(BLOCK, np.float32)
    own = np.empty(256)
    for j in range(lo, hi):
        slot = slots[candidates[j]]
        n_values = n_codes[slot]
        out[j, :] = 0.0
        for s in range(sets.size):
            y = classes[s]
            base = offsets[slot] + sets[s] * n_values * n_classes
            for v in range(n_values):
                own[v] = np.log(linear[base + v * n_classes + y])
            for first in range(starts[s], starts[s + 1], BLOCK):
                size = min(BLOCK, starts[s + 1] - first)
                code = codes[slot, first : first + size]
                _denominators(post, linear, base, code, first, size, n_values, den, den1)
                part = 0.0
                if weights.size:
                    for i in range(size):
                        part += weights[first + i] * (own[code[i]] - np.log(np.float64(den[i])))
                else:
                    for i in range(size):
                        part += own[code[i]]
                    for i in range(size, BLOCK):
                        den[i] = 1.0
                    for i in range(_STRIDE):
                        product = 1.0
                        for together in range(_TOGETHER):
                            product *= den[i + together * _STRIDE]
                        part -= np.log(product)
                out[j, y] += part
