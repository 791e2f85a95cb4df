"""Fast scans in the linear domain: they shortlist, they never decide.

With p the posterior of the current subset, feature f turns it into p_k t_fk / sum_k p_k t_fk: one
multiply-add a class, one division a line, no exponential.

Inner loops read slices from their start: an index with an offset could be negative, and numba's
check for that keeps a loop from being vectorised.
"""

import numpy as np
from numba import njit

from ...data.kernels.options import BLOCK, LANES, PROBABILITY, SCAN

# Gains multiplied before their exponent is set aside: each is between e^-65 and e^65.
_TOGETHER = 8


_STRIDE = BLOCK // _TOGETHER


_LN2 = 0.6931471805599453


_EXPONENT_BIAS = 1023


_MANTISSA_BITS = 52


_MANTISSA = (1 << _MANTISSA_BITS) - 1


_ONE = _EXPONENT_BIAS << _MANTISSA_BITS


@njit(**SCAN)
def _two_denominators(post, linear, base, first, den0, den1):
    """sum_k p_k t_k of every line of a piece, once for value 0 and once for value 1.

    Both answers and one choice are cheaper than choosing a factor for every class.
    """
    n_classes = post.shape[0]
    size = den0.size
    for k in range(n_classes):
        t0, t1 = linear[base + k], linear[base + n_classes + k]
        p = post[k, first : first + size]
        if k == 0:
            for i in range(size):
                den0[i] = p[i] * t0
                den1[i] = p[i] * t1
        else:
            for i in range(size):
                den0[i] += p[i] * t0
                den1[i] += p[i] * t1


@njit(**SCAN)
def _denominators(post, linear, base, code, first, den):
    """sum_k p_k t_k of every line of a piece, for columns of any number of values."""
    n_classes = post.shape[0]
    for k in range(n_classes):
        p = post[k, first : first + den.size]
        if k == 0:
            for i in range(den.size):
                den[i] = p[i] * linear[base + code[i] * n_classes + k]
        else:
            for i in range(den.size):
                den[i] += p[i] * linear[base + code[i] * n_classes + k]


@njit(**SCAN)
def _sum_log(gain, size, product, bits):
    """Sum of the logarithms of a tile: products, exponents set aside, one logarithm."""
    for i in range(size, BLOCK):
        gain[i] = 1.0
    for i in range(_STRIDE):
        product[i] = gain[i]
    for together in range(1, _TOGETHER):
        more = gain[together * _STRIDE : (together + 1) * _STRIDE]
        for i in range(_STRIDE):
            product[i] *= more[i]
    exponent = 0
    for i in range(_STRIDE):
        exponent += (bits[i] >> _MANTISSA_BITS) - _EXPONENT_BIAS
        bits[i] = (bits[i] & _MANTISSA) | _ONE
    rest = 1.0
    for i in range(_STRIDE):
        rest *= product[i]
    return exponent * _LN2 + np.log(rest)


@njit(**SCAN)
def _sum_improbable(probable, weights):
    """Sum of P(Y != y) over a tile.

    Added up in float64, so that the error bound holds for any order of summation.
    """
    one = np.float32(1.0)
    total = 0.0
    if weights.size:
        for i in range(probable.size):
            total += weights[i] * np.float64(one - probable[i])
    else:
        for i in range(probable.size):
            total += np.float64(one - probable[i])
    return total


@njit(**SCAN)
def scan(kind, post, lines, weights, terms, linear, slots, candidates, lo, hi, out):
    """Sums by true class for single coded features lo..hi.

    PROBABILITY: of P(Y != y).  LOG_LIKELIHOOD: of the change of log P(Y = y).
    """
    pieces, sets, tiles, classes = lines.pieces, lines.sets, lines.tiles, lines.classes
    codes, n_codes, offsets = terms.codes, terms.n_codes, terms.offsets
    n_classes = post.shape[0]
    den0 = np.empty(BLOCK + LANES, np.float32)
    den1 = np.empty(BLOCK + LANES, np.float32)
    gain = np.empty(BLOCK + LANES, np.float32)
    ones = np.ones(BLOCK + LANES, np.float32)
    product = np.empty(_STRIDE)
    bits = product.view(np.int64)
    for j in range(lo, hi):
        slot = slots[candidates[j]]
        n_values = n_codes[slot]
        out[j, :] = 0.0
        for t in range(classes.size):
            y = classes[t]
            start, end = pieces[tiles[t]], pieces[tiles[t + 1]]
            size = end - start
            for s in range(tiles[t], tiles[t + 1]):
                base = offsets[slot] + sets[s] * n_values * n_classes
                first, at = pieces[s], pieces[s] - start
                length = (pieces[s + 1] - first + LANES - 1) // LANES * LANES
                code = codes[slot, first : first + length]
                # own = p_y: the gain is the new P(Y = y); own = 1: the factor it changes by.
                own = post[y, first : first + length] if kind == PROBABILITY else ones[:length]
                mine = gain[at : at + length]
                if n_values == 2:
                    _two_denominators(post, linear, base, first, den0[:length], den1[:length])
                    t0, t1 = linear[base + y], linear[base + n_classes + y]
                    for i in range(length):
                        # Both are read before the choice: a load behind a condition would not
                        # vectorise.
                        d0, d1 = den0[i], den1[i]
                        is_one = code[i] != 0
                        mine[i] = own[i] * (t1 if is_one else t0) / (d1 if is_one else d0)
                else:
                    _denominators(post, linear, base, code, first, den0[:length])
                    for i in range(length):
                        t = linear[base + code[i] * n_classes + y]
                        mine[i] = own[i] * t / den0[i]
            tile_weights = weights[start:end] if weights.size else weights
            if kind == PROBABILITY:
                out[j, y] += _sum_improbable(gain[:size], tile_weights)
            elif weights.size:
                for i in range(size):
                    out[j, y] += tile_weights[i] * np.log(np.float64(gain[i]))
            else:
                out[j, y] += _sum_log(gain, size, product, bits)
