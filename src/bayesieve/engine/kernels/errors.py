"""Errors of single columns, counted from the margins of the lines."""

import numpy as np
from numba import njit

from ...data.kernels.options import BLOCK, BYTES, EXACT, LANES
from .tiles import TOGETHER, unpack_bits, whole_runs


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
