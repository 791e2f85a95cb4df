"""Kernels of the dense ledger: sums, losses and bounds of lines."""

import numpy as np
from numba import njit

from ...data.kernels.exact import FAR, exp_fixed, logs_from_one
from ...data.kernels.options import BLOCK, BYTES, ERROR, EXACT, LANES, PROBABILITY, SCAN
from .bits import TOGETHER, unpack_bits, whole_runs
from .two_classes import log_products, set_aside

# -- Dense running sums ----------------------------------------------------------------------------


@njit(**EXACT)
def apply_feature(sums, lines, terms, slot, sign):
    """Add (sign 1) or subtract (sign -1) one feature's terms, in place."""
    n_classes, n_lines = sums.shape
    if slot < 0:
        column = terms.columns[-slot - 1]
        for k in range(n_classes):
            for i in range(n_lines):
                sums[k, i] += sign * column[k, i]
        return
    pieces, sets, tiles = lines.pieces, lines.sets, lines.tiles
    row, cells = terms.rows[slot], np.zeros(BLOCK + LANES, np.uint8)
    for t in range(tiles.size - 1):
        start = pieces[tiles[t]]
        if row < 0:
            unpack_bits(terms.bits[-1 - row], t, cells)
        for s in range(tiles[t], tiles[t + 1]):
            first, end = pieces[s], pieces[s + 1]
            code = cells[first - start : end - start] if row < 0 else terms.codes[row, first:end]
            _add_terms(sums, first, code, sets[s], terms, slot, sign)


@njit(**EXACT)
def _add_terms(work, at, code, table_set, terms, slot, sign):
    """Add the terms of a coded feature to some lines, from `at` on."""
    n_classes = work.shape[0]
    n_values, table = terms.n_codes[slot], terms.table
    base = terms.offsets[slot] + table_set * n_values * n_classes
    for k in range(n_classes):
        mine = work[k, at : at + code.size]
        if n_values == 2:
            zero, one = table[base + k], table[base + n_classes + k]
            for i in range(code.size):
                mine[i] += sign * (one if code[i] != 0 else zero)
        else:
            for i in range(code.size):
                mine[i] += sign * table[base + code[i] * n_classes + k]


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
def _surprise(work, y, size, unit, grain, room, value):
    """-log P(Y = y), rounded to the grain."""
    top, total, shifts, logs = room[0], room[1], room[2], room[3]
    n_classes, own = work.shape[0], work[y]
    for i in range(size):
        top[i] = 0.0
        total[i] = 0.0
    for k in range(n_classes):
        mine = work[k]
        for i in range(size):
            top[i] = max(top[i], (mine[i] - own[i]) * unit)
    for k in range(n_classes):
        mine = work[k]
        for i in range(size):
            total[i] += exp_fixed(max((mine[i] - own[i]) * unit - top[i], -FAR))
    logs_from_one(total[:size], np.float64(n_classes), shifts, logs)
    for i in range(size):
        value[i] = np.int64(np.floor((top[i] + logs[i]) * grain + 0.5))


@njit(**EXACT)
def _gather(work, lines, t, terms, slot, sign, cells):
    """Add one feature's terms to the lines of a tile."""
    pieces, tiles = lines.pieces, lines.tiles
    start = pieces[tiles[t]]
    size = pieces[tiles[t + 1]] - start
    if slot < 0:
        for k in range(work.shape[0]):
            mine = work[k, :size]
            column = terms.columns[-slot - 1, k, start : start + size]
            for i in range(size):
                mine[i] += sign * column[i]
        return
    row = terms.rows[slot]
    if row < 0:
        unpack_bits(terms.bits[-1 - row], t, cells)
    for s in range(tiles[t], tiles[t + 1]):
        first, end = pieces[s], pieces[s + 1]
        code = cells[first - start : end - start] if row < 0 else terms.codes[row, first:end]
        _add_terms(work, first - start, code, lines.sets[s], terms, slot, sign)


@njit(**EXACT)
def settle(kind, sums, lines, terms, units, candidates, sign, unit, grain, lo, hi, out):
    """Loss by true class (int64) for candidates lo..hi, each a group of features.

    Candidate c stands for the features whose slots are its members; -1 stands for the ledger as it
    is.
    """
    pieces, tiles, classes = lines.pieces, lines.tiles, lines.classes
    weights, pointers, slots = lines.weights, units.pointers, units.members
    n_classes = sums.shape[0]
    work = np.empty((n_classes, BLOCK), np.int64)
    value = np.empty(BLOCK, np.int64)
    room = np.empty((4, BLOCK))
    cells = np.zeros(BLOCK + LANES, np.uint8)
    for j in range(lo, hi):
        c = candidates[j]
        out[j, :] = 0
        for t in range(classes.size):
            y = classes[t]
            start = pieces[tiles[t]]
            size = pieces[tiles[t + 1]] - start
            work[:, :size] = sums[:, start : start + size]
            if c >= 0:
                for p in range(pointers[c], pointers[c + 1]):
                    _gather(work, lines, t, terms, slots[p], sign, cells)
            if kind == ERROR:
                _wrong(work, y, size, value)
            elif kind == PROBABILITY:
                _improbable(work, y, size, unit, grain, room[0], value)
            else:
                _surprise(work, y, size, unit, grain, room, value)
            if weights.size:
                for i in range(size):
                    out[j, y] += value[i] * weights[start + i]
            else:
                for i in range(size):
                    out[j, y] += value[i]


@njit(**EXACT)
def _relative(sums, start, size, unit, far, room):
    """Exponentials of sums beside the largest of their line, and in the last row their total.

    Twice half the exponent, to reach as far as twice FAR: no scan's factor makes up for that.
    `far` gets that largest sum.
    """
    n_classes = sums.shape[0]
    total = room[n_classes]
    for k in range(n_classes):
        mine = sums[k, start : start + size]
        for i in range(size):
            far[i] = mine[i] if k == 0 else max(far[i], mine[i])
    for k in range(n_classes):
        mine, out = sums[k, start : start + size], room[k]
        for i in range(size):
            half = exp_fixed(max((mine[i] - far[i]) * unit * 0.5, -FAR))
            out[i] = half * half
            total[i] = out[i] if k == 0 else total[i] + out[i]


@njit(**EXACT)
def posterior(sums, unit, lo, hi, out):
    """Posterior probabilities in float32, normalised per line, of lines lo..hi; for scans only."""
    n_classes = sums.shape[0]
    room, far = np.empty((n_classes + 1, BLOCK)), np.empty(BLOCK, np.int64)
    for start in range(lo, hi, BLOCK):
        size = min(BLOCK, hi - start)
        _relative(sums, start, size, unit, far, room)
        for k in range(n_classes):
            mine = out[k, start : start + size]
            for i in range(size):
                mine[i] = room[k, i] / room[n_classes, i]


@njit(**EXACT)
def log_own(sums, lines, unit, out):
    """Weighted sum of log P(own class) by class, in float64; for scans only."""
    pieces, tiles, classes, weights = lines.pieces, lines.tiles, lines.classes, lines.weights
    n_classes = sums.shape[0]
    room, far = np.empty((n_classes + 1, BLOCK)), np.empty(BLOCK, np.int64)
    out[:] = 0.0
    for t in range(classes.size):
        y, start, end = classes[t], pieces[tiles[t]], pieces[tiles[t + 1]]
        size, own, total = end - start, sums[y, start:end], room[n_classes]
        _relative(sums, start, size, unit, far, room)
        if weights.size:
            for i in range(size):
                log = (own[i] - far[i]) * unit - np.log(total[i])
                out[y] += weights[start + i] * log
            continue
        behind, product = 0.0, 1.0
        for i in range(size):
            behind += (own[i] - far[i]) * unit
        # Totals are between 1 and the number of classes: eight at a time are far from overflow.
        for i in range(size):
            product *= total[i]
            if i % 8 == 7 or i == size - 1:
                behind -= np.log(product)
                product = 1.0
        out[y] += behind


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
def _choose(code, own, den0, den1, t0, t1, out):
    """What every line of a piece gains, by its value, 0 or not 0."""
    for i in range(out.size):
        # Both are read before the choice: a load behind a condition would not vectorise.
        d0, d1 = den0[i], den1[i]
        is_one = code[i] != 0
        out[i] = own[i] * (t1 if is_one else t0) / (d1 if is_one else d0)


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
def _sum_log(gain, size, product, mantissas):
    """Sum of the logarithms of a tile."""
    for i in range(size, BLOCK):
        gain[i] = 1.0
    for i in range(BYTES):
        product[i] = gain[i]
        mantissas[i] = 1.0
    for together in range(1, BLOCK // BYTES):
        more = gain[together * BYTES : (together + 1) * BYTES]
        for i in range(BYTES):
            product[i] *= more[i]
    return log_products(set_aside(product, mantissas), mantissas)


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
def scan(kind, post, lines, leaves, weights, terms, linear, slots, candidates, lo, hi, out):
    """Sums by true class for single coded features lo..hi.

    PROBABILITY: of P(Y != y).  LOG_LIKELIHOOD: of the change of log P(Y = y).  Where it
    `leaves` them, whole tiles of columns of two values are for `scan_whole`.
    """
    pieces, sets, tiles, classes = lines.pieces, lines.sets, lines.tiles, lines.classes
    n_codes, offsets = terms.n_codes, terms.offsets
    n_classes = post.shape[0]
    cells = np.zeros(BLOCK + LANES, np.uint8)
    den0 = np.empty(BLOCK + LANES, np.float32)
    den1 = np.empty(BLOCK + LANES, np.float32)
    gain = np.empty(BLOCK + LANES, np.float32)
    ones = np.ones(BLOCK + LANES, np.float32)
    product, mantissas = np.empty(BYTES), np.empty(BYTES)
    runs = np.empty(TOGETHER, np.int64)
    out[lo:hi] = 0.0
    for top in range(0, classes.size, TOGETHER):
        last = min(top + TOGETHER, classes.size)
        if leaves:
            whole_runs(lines, top, last - top, runs)
        for j in range(lo, hi):
            slot = slots[candidates[j]]
            n_values, row = n_codes[slot], terms.rows[slot]
            some = leaves and n_values == 2
            for t in range(last if some and runs[0] == last else top, last):
                if some and runs[t - top] > t:
                    continue
                y = classes[t]
                start, end = pieces[tiles[t]], pieces[tiles[t + 1]]
                size = end - start
                tile_weights = weights[start:end] if weights.size else weights
                if row < 0:
                    unpack_bits(terms.bits[-1 - row], t, cells)
                for s in range(tiles[t], tiles[t + 1]):
                    base = offsets[slot] + sets[s] * n_values * n_classes
                    first, at = pieces[s], pieces[s] - start
                    length = (pieces[s + 1] - first + LANES - 1) // LANES * LANES
                    # own = p_y: the gain is the new P(Y = y); own = 1: the factor it changes by.
                    own = post[y, first : first + length] if kind == PROBABILITY else ones[:length]
                    mine = gain[at : at + length]
                    if n_values == 2:
                        _two_denominators(post, linear, base, first, den0[:length], den1[:length])
                        t0, t1 = linear[base + y], linear[base + n_classes + y]
                        if row < 0:
                            _choose(cells[at : at + length], own, den0, den1, t0, t1, mine)
                        else:
                            code = terms.codes[row, first : first + length]
                            _choose(code, own, den0, den1, t0, t1, mine)
                    else:
                        code = terms.codes[row, first : first + length]
                        _denominators(post, linear, base, code, first, den0[:length])
                        for i in range(length):
                            factor = linear[base + code[i] * n_classes + y]
                            mine[i] = own[i] * factor / den0[i]
                if kind == PROBABILITY:
                    out[j, y] += _sum_improbable(gain[:size], tile_weights)
                elif weights.size:
                    for i in range(size):
                        out[j, y] += tile_weights[i] * np.log(np.float64(gain[i]))
                else:
                    out[j, y] += _sum_log(gain, size, product, mantissas)
