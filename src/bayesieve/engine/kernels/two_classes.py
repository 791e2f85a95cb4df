"""Quick scans for two classes: errors, probabilities and log-likelihoods."""

import numpy as np
from numba import njit

from ...data.kernels.options import BLOCK, BYTES, EXACT, LANES, PROBABILITY, SCAN_ANY
from .bits import TOGETHER, unpack_bits, whole_runs


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
def _needed(table, at, k, y, sign):
    """The margin over class k that a line of class y must have to stay right."""
    return sign * (table[at + k] - table[at + y]) + (1 if k < y else 0)


@njit(**EXACT)
def _count_right(ahead, start, end, code, table, base, y, sign):
    """How many lines of a piece stay right: two values, at most four classes, no weights.

    All classes in one pass that stores nothing; with three, one is compared twice.
    """
    n_classes = ahead.shape[0]
    k1 = (y + 1) % n_classes
    right = 0
    if n_classes == 2:
        margin = ahead[k1, start:end]
        zero = _needed(table, base, k1, y, sign)
        one = _needed(table, base + n_classes, k1, y, sign)
        for i in range(code.size):
            right += np.int64(margin[i] >= (one if code[i] != 0 else zero))
        return right
    k2 = (y + 2) % n_classes if n_classes > 2 else k1
    k3 = (y + 3) % n_classes if n_classes > 3 else k1
    margin1, margin2, margin3 = ahead[k1, start:end], ahead[k2, start:end], ahead[k3, start:end]
    at = base + n_classes
    zero1, one1 = _needed(table, base, k1, y, sign), _needed(table, at, k1, y, sign)
    zero2, one2 = _needed(table, base, k2, y, sign), _needed(table, at, k2, y, sign)
    zero3, one3 = _needed(table, base, k3, y, sign), _needed(table, at, k3, y, sign)
    for i in range(code.size):
        is_one = code[i] != 0
        right += np.int64(
            (margin1[i] >= (one1 if is_one else zero1))
            & (margin2[i] >= (one2 if is_one else zero2))
            & (margin3[i] >= (one3 if is_one else zero3))
        )
    return right


@njit(**EXACT)
def _count_right_whole(margin, cells, n_tiles, zero, one):
    """How many lines of whole tiles stay right: two values, two classes, no weights."""
    right = 0
    for t in range(n_tiles):
        for i in range(BLOCK):
            right += np.int64(margin[t, i] >= (one if cells[t, i] != 0 else zero))
    return right


@njit(**EXACT)
def _unpack(bits, row, first, n_tiles, cells):
    """Cells of some tiles, each 0 or not 0."""
    for t in range(n_tiles):
        for i in range(BYTES):
            byte = bits[row, first + t, i]
            cells[t, i] = byte & np.uint8(1)
            cells[t, BYTES + i] = byte & np.uint8(2)
            cells[t, 2 * BYTES + i] = byte & np.uint8(4)
            cells[t, 3 * BYTES + i] = byte & np.uint8(8)
            cells[t, 4 * BYTES + i] = byte & np.uint8(16)
            cells[t, 5 * BYTES + i] = byte & np.uint8(32)
            cells[t, 6 * BYTES + i] = byte & np.uint8(64)
            cells[t, 7 * BYTES + i] = byte & np.uint8(128)


@njit(**EXACT)
def count_whole(ahead, lines, terms, slots, candidates, sign, lo, hi, out):
    """Add the errors in whole tiles, of columns of two values: two classes, no weights."""
    classes = lines.classes
    bits = terms.bits.reshape(terms.bits.shape[0], classes.size, BYTES)
    cells = np.empty((TOGETHER, BLOCK), np.uint8)
    margin = np.empty((TOGETHER, BLOCK), np.int64)
    runs = np.empty(TOGETHER, np.int64)
    for top in range(0, classes.size, TOGETHER):
        n_tiles = min(TOGETHER, classes.size - top)
        whole_runs(lines, top, n_tiles, runs)
        first = top
        while first < top + n_tiles:
            y, end = classes[first], runs[first - top]
            n, start = end - first, lines.pieces[lines.tiles[first]]
            for t in range(n):
                margin[t] = ahead[1 - y, start + t * BLOCK : start + (t + 1) * BLOCK]
            for j in range(lo, hi if n else lo):
                slot = slots[candidates[j]]
                row = terms.rows[slot]
                if terms.n_codes[slot] != 2:
                    continue
                base = terms.offsets[slot] + lines.sets[lines.tiles[first]] * 4
                zero = _needed(terms.table, base, 1 - y, y, sign)
                one = _needed(terms.table, base + 2, 1 - y, y, sign)
                if row < 0:
                    _unpack(bits, -1 - row, first, n, cells)
                    right = _count_right_whole(margin, cells, n, zero, one)
                else:
                    mine = terms.codes[row, start : start + n * BLOCK].reshape(n, BLOCK)
                    right = _count_right_whole(margin, mine, n, zero, one)
                out[j, y] += n * BLOCK - right
            first = max(end, first + 1)


@njit(**EXACT)
def _right(ahead, first, code, n_values, table, base, y, sign, need, right):
    """Which lines of a piece stay right, for a column of any number of values."""
    n_classes = ahead.shape[0]
    right[:] = 1
    for k in range(n_classes):
        if k == y:
            continue
        margin = ahead[k, first : first + right.size]
        for v in range(n_values):
            need[v] = _needed(table, base + v * n_classes, k, y, sign)
        if n_values == 2:
            zero, one = need[0], need[1]
            for i in range(right.size):
                right[i] &= np.uint8(margin[i] >= (one if code[i] != 0 else zero))
        else:
            for i in range(right.size):
                right[i] &= np.uint8(margin[i] >= need[code[i]])


@njit(**EXACT)
def count_errors(ahead, lines, leaves, terms, slots, candidates, sign, lo, hi, out):
    """Errors by true class for single coded features, straight from the margins.

    A line stays right when its margin over every class k exceeds what the feature gives k more
    than the line's own class: one comparison a class.  Where it `leaves` them, whole tiles
    of columns of two values are for `count_whole`.
    """
    pieces, sets, tiles, classes = lines.pieces, lines.sets, lines.tiles, lines.classes
    weights = lines.weights
    n_codes, offsets, table = terms.n_codes, terms.offsets, terms.table
    n_classes = ahead.shape[0]
    cells = np.zeros(BLOCK + LANES, np.uint8)
    right = np.empty(BLOCK + LANES, np.uint8)
    need, runs = np.empty(256, np.int64), np.empty(TOGETHER, np.int64)
    out[lo:hi] = 0
    for top in range(0, classes.size, TOGETHER):
        last = min(top + TOGETHER, classes.size)
        if leaves:
            whole_runs(lines, top, last - top, runs)
        for j in range(lo, hi):
            slot = slots[candidates[j]]
            n_values, row = n_codes[slot], terms.rows[slot]
            simple = n_values == 2 and n_classes <= 4 and weights.size == 0
            some = leaves and n_values == 2
            for t in range(last if some and runs[0] == last else top, last):
                if some and runs[t - top] > t:
                    continue
                y = classes[t]
                start = pieces[tiles[t]]
                size = pieces[tiles[t + 1]] - start
                if row < 0:
                    unpack_bits(terms.bits[-1 - row], t, cells)
                for s in range(tiles[t], tiles[t + 1]):
                    first, at, end = pieces[s], pieces[s] - start, pieces[s + 1]
                    base = offsets[slot] + sets[s] * n_values * n_classes
                    length = end - first
                    if not simple:
                        length = (length + LANES - 1) // LANES * LANES
                    if row < 0:
                        code = cells[at : at + length]
                    else:
                        code = terms.codes[row, first : first + length]
                    if simple:
                        good = _count_right(ahead, first, end, code, table, base, y, sign)
                        out[j, y] += end - first - good
                        continue
                    mine = right[at : at + length]
                    _right(ahead, first, code, n_values, table, base, y, sign, need, mine)
                if simple:
                    continue
                if weights.size:
                    for i in range(size):
                        out[j, y] += (1 - right[i]) * weights[start + i]
                else:
                    good = 0
                    for i in range(size):
                        good += np.int64(right[i])  # not a byte, without the JIT either
                    out[j, y] += size - good


# -- Scans of columns of two values for two classes, a whole tile at a time ------------------------


_LN2 = 0.6931471805599453


_EXPONENT_BIAS = 1023


_MANTISSA_BITS = 52


_MANTISSA = (1 << _MANTISSA_BITS) - 1


_ONE = _EXPONENT_BIAS << _MANTISSA_BITS


# The least probability that odds are taken of: a normal number, and nothing beside a factor e^60.
_LEAST = np.float32(1.2e-38)


# Odds beyond it are as good as certain (1e-9), and products of four such are still finite.
_MOST = np.float32(2.0**30)


_UNIT = np.float32(1.0)


# What a line may be off by, in units of 2^-24 with P its probability: 9.3 P (1 - P) for o r (two
# posteriors, two factors, a division by estimate of 3.3, another and a product), and 12.3 P for
# 1 + o r, the sum over four with its division, and that of two such: at most 12.3, of the 14 that
# `DenseLedger.bounds` allows.


@njit(**SCAN_ANY)
def set_aside(numbers, mantissas):
    """Multiply mantissas by those of as many positive numbers; the sum of their exponents.

    Parameters
    ----------
    numbers : each may be a product of eight between e^-65 and e^65; overwritten.
    mantissas : at most eight are multiplied: below 2^8.
    """
    exponent, bits = 0, numbers.view(np.int64)
    for i in range(BYTES):
        exponent += (bits[i] >> _MANTISSA_BITS) - _EXPONENT_BIAS
        bits[i] = (bits[i] & _MANTISSA) | _ONE
    for i in range(BYTES):
        mantissas[i] *= numbers[i]
    return exponent


@njit(**SCAN_ANY)
def log_products(exponent, mantissas):
    """The logarithm of all that was set aside."""
    rest = 1.0
    for i in range(BYTES):
        rest *= mantissas[i]
    return exponent * _LN2 + np.log(rest)


@njit(**SCAN_ANY)
def _turned(odds, is_one, zero, one):
    """1 + o r, bounded."""
    return _UNIT + min(odds * (one if is_one else zero), _MOST)


@njit(**SCAN_ANY)
def _sum_inverse(a, b, c, d):
    """1/a + 1/b + 1/c + 1/d with one division."""
    ab, cd = a * b, c * d
    return ((a + b) * cd + (c + d) * ab) / (ab * cd)


@njit(**SCAN_ANY)
def _sum_probable(bits, row, t, odds, at, zero, one):
    """Sum of P(Y = y) over a tile that a column joins; zero and one are its factors r.

    Parameters
    ----------
    bits : columns x tiles x BYTES, of which `row` and `t` are read.
    odds : tiles x 8 x BYTES, of which `at` is.
    """
    total = 0.0
    for i in range(BYTES):
        byte = np.int32(bits[row, t, i])
        first = _sum_inverse(
            _turned(odds[at, 0, i], byte & np.int32(1), zero, one),
            _turned(odds[at, 1, i], byte & np.int32(2), zero, one),
            _turned(odds[at, 2, i], byte & np.int32(4), zero, one),
            _turned(odds[at, 3, i], byte & np.int32(8), zero, one),
        )
        second = _sum_inverse(
            _turned(odds[at, 4, i], byte & np.int32(16), zero, one),
            _turned(odds[at, 5, i], byte & np.int32(32), zero, one),
            _turned(odds[at, 6, i], byte & np.int32(64), zero, one),
            _turned(odds[at, 7, i], byte & np.int32(128), zero, one),
        )
        # Eight in single precision, the rest in double: the error bound holds for a line.
        total += np.float64(first + second)
    return total


@njit(**SCAN_ANY)
def _multiply_divisors(bits, row, t, own, other, at, zero, one, product):
    """What P(Y = y) is divided by, p_y + p_other r, multiplied over eight lines each."""
    for i in range(BYTES):
        product[i] = 1.0
    for g in range(8):
        bit = np.uint8(1 << g)
        for i in range(BYTES):
            factor = one if bits[row, t, i] & bit else zero
            product[i] *= np.float64(own[at, g, i] + other[at, g, i] * factor)


@njit(**SCAN_ANY)
def _scan_run(kind, bits, row, first, n_tiles, own, other, zero, one, room):
    """What a column adds up to over whole tiles."""
    if kind == PROBABILITY:
        total = np.float64(n_tiles * BLOCK)
        for t in range(n_tiles):
            total -= _sum_probable(bits, row, first + t, own, t, zero, one)
        return total
    exponent, product, mantissas = 0, room[0], room[1]
    mantissas[:] = 1.0
    for t in range(n_tiles):
        _multiply_divisors(bits, row, first + t, own, other, t, zero, one, product)
        exponent += set_aside(product, mantissas)
    return -log_products(exponent, mantissas)


@njit(**SCAN_ANY)
def _pack(codes, row, start, n_tiles, packed):
    """Bits of a column held as bytes, of n_tiles whole tiles; in the order of `pack_bits`."""
    cells = codes[row, start : start + n_tiles * BLOCK].reshape(n_tiles, 8, BYTES)
    for t in range(n_tiles):
        for i in range(BYTES):
            packed[0, t, i] = (
                cells[t, 0, i]
                | cells[t, 1, i] << np.uint8(1)
                | cells[t, 2, i] << np.uint8(2)
                | cells[t, 3, i] << np.uint8(3)
                | cells[t, 4, i] << np.uint8(4)
                | cells[t, 5, i] << np.uint8(5)
                | cells[t, 6, i] << np.uint8(6)
                | cells[t, 7, i] << np.uint8(7)
            )


@njit(**SCAN_ANY)
def _prepare(kind, post, y, start, n_tiles, own, other):
    """Posteriors of whole tiles, or in `own` the odds against their class y."""
    for t in range(n_tiles):
        p, q = post[y, start + t * BLOCK :], post[1 - y, start + t * BLOCK :]
        for g in range(8):
            for i in range(BYTES):
                mine, against = p[g * BYTES + i], q[g * BYTES + i]
                if kind == PROBABILITY:
                    mine = max(against, _LEAST) / max(mine, _LEAST)
                own[t, g, i], other[t, g, i] = mine, against


@njit(**SCAN_ANY)
def scan_whole(kind, post, lines, terms, linear, slots, candidates, lo, hi, out):
    """Add to the sums of a `scan` those over whole tiles, of columns of two values; no weights."""
    classes = lines.classes
    bits = terms.bits.reshape(terms.bits.shape[0], classes.size, BYTES)
    packed = np.empty((1, TOGETHER, BYTES), np.uint8)
    own = np.empty((TOGETHER, 8, BYTES), np.float32)
    other = np.empty_like(own)
    room, runs = np.empty((2, BYTES)), np.empty(TOGETHER, np.int64)
    for top in range(0, classes.size, TOGETHER):
        n_tiles = min(TOGETHER, classes.size - top)
        whole_runs(lines, top, n_tiles, runs)
        first = top
        while first < top + n_tiles:
            y, end = classes[first], runs[first - top]
            n, start = end - first, lines.pieces[lines.tiles[first]]
            _prepare(kind, post, y, start, n, own, other)
            for j in range(lo, hi if n else lo):
                slot = slots[candidates[j]]
                row = terms.rows[slot]
                if terms.n_codes[slot] != 2:
                    continue
                base = terms.offsets[slot] + lines.sets[lines.tiles[first]] * 4
                zero = linear[base + 1 - y] / linear[base + y]
                one = linear[base + 3 - y] / linear[base + 2 + y]
                # One call for each form: a choice of arrays would count who refers to them.
                if row < 0:
                    asked = (-1 - row, first, n, own, other, zero, one, room)
                    out[j, y] += _scan_run(kind, bits, *asked)
                else:
                    _pack(terms.codes, row, start, n, packed)
                    out[j, y] += _scan_run(kind, packed, 0, 0, n, own, other, zero, one, room)
            first = max(end, first + 1)
