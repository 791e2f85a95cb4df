"""Exact scores from the integer ledger: integers in, integers out."""

import numpy as np
from numba import njit

from .fixed import FAR, exp_fixed, log_fixed
from .options import BLOCK, EXACT

ERROR, PROBABILITY, LOG_LIKELIHOOD = 0, 1, 2


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
def _gather(work, first, size, table_set, codes, n_codes, offsets, table, columns, slot, sign):
    """Add one feature's terms to a block of the ledger."""
    n_classes = work.shape[0]
    if slot < 0:
        for k in range(n_classes):
            for i in range(size):
                work[k, i] += sign * columns[-slot - 1, k, first + i]
        return
    base = offsets[slot] + table_set * n_codes[slot] * n_classes
    for k in range(n_classes):
        for i in range(size):
            work[k, i] += sign * table[base + codes[slot, first + i] * n_classes + k]


@njit(**EXACT)
def settle(
    kind, sums, starts, sets, classes, weights, codes, n_codes, offsets, table, columns,
    slots, pointers, candidates, sign, unit, grain, lo, hi, out,
):  # fmt: skip
    """Loss by true class (int64) for candidates lo..hi, each a group of features.

    Candidate c stands for the features with slots[pointers[c]:pointers[c + 1]]; -1 stands for the
    ledger as it is.
    """
    n_classes = sums.shape[0]
    work = np.empty((n_classes, BLOCK), np.int64)
    value = np.empty(BLOCK, np.int64)
    odds = np.empty(BLOCK)
    for j in range(lo, hi):
        c = candidates[j]
        out[j, :] = 0
        for s in range(sets.size):
            y = classes[s]
            for first in range(starts[s], starts[s + 1], BLOCK):
                size = min(BLOCK, starts[s + 1] - first)
                for k in range(n_classes):
                    for i in range(size):
                        work[k, i] = sums[k, first + i]
                if c >= 0:
                    for p in range(pointers[c], pointers[c + 1]):
                        _gather(
                            work, first, size, sets[s], codes, n_codes, offsets, table, columns,
                            slots[p], sign,
                        )  # fmt: skip
                if kind == ERROR:
                    _wrong(work, y, size, value)
                elif kind == PROBABILITY:
                    _improbable(work, y, size, unit, grain, odds, value)
                else:
                    _surprise(work, y, size, unit, grain, value)
                if weights.size:
                    for i in range(size):
                        out[j, y] += value[i] * weights[first + i]
                else:
                    for i in range(size):
                        out[j, y] += value[i]


@njit(**EXACT)
def count_errors(
    ahead, starts, sets, classes, weights, codes, n_codes, offsets, table, slots, candidates, sign,
    lo, hi, out,
):  # fmt: skip
    """Errors by true class for single coded features, straight from the margins.

    A line stays right when its margin over every class k exceeds what the feature gives k more
    than the line's own class: one comparison a class.
    """
    n_classes = ahead.shape[0]
    right = np.empty(BLOCK, np.uint8)
    need = np.empty(256, np.int64)
    for j in range(lo, hi):
        slot = slots[candidates[j]]
        n_values = n_codes[slot]
        out[j, :] = 0
        for s in range(sets.size):
            y = classes[s]
            base = offsets[slot] + sets[s] * n_values * n_classes
            for first in range(starts[s], starts[s + 1], BLOCK):
                size = min(BLOCK, starts[s + 1] - first)
                code = codes[slot, first : first + size]
                for i in range(size):
                    right[i] = 1
                for k in range(n_classes):
                    if k == y:
                        continue
                    for v in range(n_values):
                        at = base + v * n_classes
                        need[v] = sign * (table[at + k] - table[at + y]) + (1 if k < y else 0)
                    margin = ahead[k, first : first + size]
                    if n_values == 2:
                        zero, one = need[0], need[1]
                        for i in range(size):
                            right[i] &= np.uint8(margin[i] >= (one if code[i] != 0 else zero))
                    else:
                        for i in range(size):
                            right[i] &= np.uint8(margin[i] >= need[code[i]])
                if weights.size:
                    for i in range(size):
                        out[j, y] += (1 - right[i]) * weights[first + i]
                else:
                    good = 0
                    for i in range(size):
                        good += right[i]
                    out[j, y] += size - good
