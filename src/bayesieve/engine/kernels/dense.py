"""Dense running sums: moves, what scans read, and exact scores; integers in, integers out."""

import numpy as np
from numba import njit

from ...data.kernels.options import BLOCK, ERROR, EXACT, LANES, PROBABILITY
from ...models.kernels.exact import FAR, exp_fixed, log_fixed


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


@njit(**EXACT)
def _wrong(work, y, size, value):
    """1 where another class wins; ties go to the lowest class."""
    for i in range(size):
        value[i] = 0
    for k in range(work.shape[0]):
        tie = 1 if k < y else 0
        for i in range(size):
            value[i] |= np.int64(work[k, i] - work[y, i] + tie > 0) if k != y else 0


@njit(**EXACT)
def _improbable(work, y, size, unit, grain, odds, value):
    """P(Y != y), rounded to the grain: odds / (1 + odds) with odds the sum over other classes."""
    for i in range(size):
        odds[i] = 0.0
    for k in range(work.shape[0]):
        if k != y:
            for i in range(size):
                x = (work[k, i] - work[y, i]) * unit
                odds[i] += exp_fixed(min(max(x, -FAR), FAR))
    for i in range(size):
        value[i] = np.int64(np.floor(odds[i] / (1.0 + odds[i]) * grain + 0.5))


@njit(**EXACT)
def _surprise(work, y, size, unit, grain, value):
    """-log P(Y = y), rounded to the grain."""
    n_classes = work.shape[0]
    for i in range(size):
        top = 0.0
        for k in range(n_classes):
            top = max(top, (work[k, i] - work[y, i]) * unit)
        total = 0.0
        for k in range(n_classes):
            total += exp_fixed(max((work[k, i] - work[y, i]) * unit - top, -FAR))
        value[i] = np.int64(np.floor((top + log_fixed(total)) * grain + 0.5))


@njit(**EXACT)
def _gather(work, at, first, size, table_set, terms, slot, sign):
    """Add one feature's terms to a piece of the tile."""
    n_classes = work.shape[0]
    if slot < 0:
        for k in range(n_classes):
            mine = work[k, at : at + size]
            column = terms.columns[-slot - 1, k, first : first + size]
            for i in range(size):
                mine[i] += sign * column[i]
        return
    n_values, table = terms.n_codes[slot], terms.table
    base = terms.offsets[slot] + table_set * n_values * n_classes
    code = terms.codes[slot, first : first + size]
    for k in range(n_classes):
        mine = work[k, at : at + size]
        if n_values == 2:
            zero, one = table[base + k], table[base + n_classes + k]
            for i in range(size):
                mine[i] += sign * (one if code[i] != 0 else zero)
        else:
            for i in range(size):
                mine[i] += sign * table[base + code[i] * n_classes + k]


@njit(**EXACT)
def settle(kind, sums, lines, terms, units, candidates, sign, unit, grain, lo, hi, out):
    """Loss by true class (int64) for candidates lo..hi, each a group of features.

    Candidate c stands for the features whose slots are its members; -1 stands for the ledger as it
    is.
    """
    pieces, sets, tiles, classes = lines.pieces, lines.sets, lines.tiles, lines.classes
    weights, pointers, slots = lines.weights, units.pointers, units.members
    n_classes = sums.shape[0]
    work = np.empty((n_classes, BLOCK), np.int64)
    value = np.empty(BLOCK, np.int64)
    odds = np.empty(BLOCK)
    for j in range(lo, hi):
        c = candidates[j]
        out[j, :] = 0
        for t in range(classes.size):
            y = classes[t]
            start = pieces[tiles[t]]
            size = pieces[tiles[t + 1]] - start
            work[:, :size] = sums[:, start : start + size]
            if c >= 0:
                for s in range(tiles[t], tiles[t + 1]):
                    for p in range(pointers[c], pointers[c + 1]):
                        first, size_of = pieces[s], pieces[s + 1] - pieces[s]
                        _gather(work, first - start, first, size_of, sets[s], terms, slots[p], sign)
            if kind == ERROR:
                _wrong(work, y, size, value)
            elif kind == PROBABILITY:
                _improbable(work, y, size, unit, grain, odds, value)
            else:
                _surprise(work, y, size, unit, grain, value)
            if weights.size:
                for i in range(size):
                    out[j, y] += value[i] * weights[start + i]
            else:
                for i in range(size):
                    out[j, y] += value[i]


@njit(**EXACT)
def _needed(table, at, k, y, sign):
    """The margin over class k that a line of class y must have to stay right."""
    return sign * (table[at + k] - table[at + y]) + (1 if k < y else 0)


@njit(**EXACT)
def _count_right(ahead, start, end, code, table, base, y, sign):
    """How many lines of a piece stay right: two values, at most four classes, no weights.

    All classes in one pass that stores nothing; with fewer than four, some are compared twice.
    """
    n_classes = ahead.shape[0]
    k1 = (y + 1) % n_classes
    k2 = (y + 2) % n_classes if n_classes > 2 else k1
    k3 = (y + 3) % n_classes if n_classes > 3 else k1
    margin1, margin2, margin3 = ahead[k1, start:end], ahead[k2, start:end], ahead[k3, start:end]
    at = base + n_classes
    zero1, one1 = _needed(table, base, k1, y, sign), _needed(table, at, k1, y, sign)
    zero2, one2 = _needed(table, base, k2, y, sign), _needed(table, at, k2, y, sign)
    zero3, one3 = _needed(table, base, k3, y, sign), _needed(table, at, k3, y, sign)
    right = 0
    for i in range(code.size):
        is_one = code[i] != 0
        right += np.int64(
            (margin1[i] >= (one1 if is_one else zero1))
            & (margin2[i] >= (one2 if is_one else zero2))
            & (margin3[i] >= (one3 if is_one else zero3))
        )
    return right


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
def count_errors(ahead, lines, terms, slots, candidates, sign, lo, hi, out):
    """Errors by true class for single coded features, straight from the margins.

    A line stays right when its margin over every class k exceeds what the feature gives k more
    than the line's own class: one comparison a class.
    """
    pieces, sets, tiles, classes = lines.pieces, lines.sets, lines.tiles, lines.classes
    weights = lines.weights
    codes, n_codes, offsets, table = terms.codes, terms.n_codes, terms.offsets, terms.table
    n_classes = ahead.shape[0]
    right = np.empty(BLOCK + LANES, np.uint8)
    need = np.empty(256, np.int64)
    for j in range(lo, hi):
        slot = slots[candidates[j]]
        n_values = n_codes[slot]
        out[j, :] = 0
        simple = n_values == 2 and n_classes <= 4 and weights.size == 0
        for t in range(classes.size):
            y = classes[t]
            start = pieces[tiles[t]]
            size = pieces[tiles[t + 1]] - start
            for s in range(tiles[t], tiles[t + 1]):
                first, at = pieces[s], pieces[s] - start
                base = offsets[slot] + sets[s] * n_values * n_classes
                if simple:
                    end = pieces[s + 1]
                    code = codes[slot, first:end]
                    good = _count_right(ahead, first, end, code, table, base, y, sign)
                    out[j, y] += end - first - good
                    continue
                length = (pieces[s + 1] - first + LANES - 1) // LANES * LANES
                code = codes[slot, first : first + length]
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
                    good += right[i]
                out[j, y] += size - good
