"""Kernels that count levels, pairs and triples of columns, and the information in the counts."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...data.kernels.options import (
    CHI2,
    CONDITIONAL,
    EXACT,
    FREE,
    JOINT,
    MANY,
    REPEATED,
    UNCERTAINTY,
)

# -- Numbers from tables of counts -----------------------------------------------------------------


_GRAIN = 2.0**40


@njit(**EXACT)
def rounded(value):
    """To the grain."""
    return np.floor(value * _GRAIN + 0.5) / _GRAIN


@njit(**EXACT)
def _sums(joint, margin):
    """The total of a table; the sums of its columns go to `margin`."""
    total = 0.0
    margin[: joint.shape[1]] = 0.0
    for a in range(joint.shape[0]):
        for b in range(joint.shape[1]):
            total += joint[a, b]
            margin[b] += joint[a, b]
    return total


@njit(**EXACT)
def _information(joint, margin):
    """Mutual information of rows and columns, in nat and not rounded; and the total."""
    total = _sums(joint, margin)
    if total <= 0.0:
        return 0.0, 0.0
    found = 0.0
    for a in range(joint.shape[0]):
        of_row = 0.0
        for b in range(joint.shape[1]):
            of_row += joint[a, b]
        for b in range(joint.shape[1]):
            if joint[a, b] > 0.0:
                found += joint[a, b] * math.log(joint[a, b] * total / (of_row * margin[b]))
    return max(found / total, 0.0), total


@njit(**EXACT)
def _surprise(counts, total):
    """What counts add to an entropy, times the total: -log of each one's share, summed up."""
    found = 0.0
    for count in counts:
        if count > 0.0:
            found -= count * math.log(count / total)
    return found


@njit(**EXACT)
def _uncertainty(joint, margin):
    """Symmetric uncertainty of rows and columns, 2 I / (H + H)."""
    information, total = _information(joint, margin)
    both = _surprise(margin[: joint.shape[1]], total)
    for a in range(joint.shape[0]):
        of_row = joint[a].sum()
        if of_row > 0.0:
            both -= of_row * math.log(of_row / total)
    return rounded(2.0 * information * total / both) if both > 0.0 else 0.0


@njit(**EXACT)
def _chi2(joint, margin):
    """Pearson's chi-square; rounded before it is multiplied by the total."""
    total = _sums(joint, margin)
    if total <= 0.0:
        return 0.0
    found = 0.0
    for a in range(joint.shape[0]):
        of_row = 0.0
        for b in range(joint.shape[1]):
            of_row += joint[a, b]
        for b in range(joint.shape[1]):
            expected = of_row * margin[b] / total
            if expected > 0.0:
                apart = joint[a, b] - expected
                found += apart * apart / expected
    return rounded(found / total) * total


@njit(**EXACT)
def _free(joint, margin):
    """Degrees of freedom of the chi-square: rows and columns that hold nothing do not count."""
    if _sums(joint, margin) <= 0.0:
        return 0.0
    n_rows = n_columns = 0
    for a in range(joint.shape[0]):
        n_rows += joint[a].sum() > 0.0
    for b in range(joint.shape[1]):
        n_columns += margin[b] > 0.0
    return (n_rows - 1.0) * (n_columns - 1.0)


@njit(**EXACT)
def of_two(kind, joint, margin):
    """How two variables go together: a table of counts by one of the kinds for two."""
    if kind == CHI2:
        return _chi2(joint, margin)
    if kind == FREE:
        return _free(joint, margin)
    if kind == UNCERTAINTY:
        return _uncertainty(joint, margin)
    return rounded(_information(joint, margin)[0])


@njit(**EXACT)
def _conditional(joint, n_levels, margin):
    """I(x; c | s): the mean over the values of s, rounded for each of them first."""
    found = 0.0
    for start in range(0, joint.shape[0], n_levels):
        information, here = _information(joint[start : start + n_levels], margin)
        found += here * rounded(information)
    total = _sums(joint, margin)
    return rounded(found / total) if total > 0.0 else 0.0


@njit(**EXACT)
def _repeated(joint, one, margin):
    """What x repeats of s: I(x; s) - I(x; s | c), where positive.

    It equals I(x; c) - I(x; c | s), taken over the same rows.
    """
    one[:] = 0.0
    given = 0.0
    for start in range(0, joint.shape[0], one.shape[0]):
        part = joint[start : start + one.shape[0]]
        information, here = _information(part, margin)
        given += here * information
        for a in range(one.shape[0]):
            for c in range(one.shape[1]):
                one[a, c] += part[a, c]
    alone, total = _information(one, margin)
    return rounded(max(alone - given / total, 0.0)) if total > 0.0 else 0.0


@njit(**EXACT)
def of_three(kind, joint, one, margin):
    """What the counts of two columns and the class say, by kind.

    Rows of `joint` are the values of s and, within each, those of x; `one` is room for a table of x
    and the class.
    """
    if kind == CONDITIONAL:
        return _conditional(joint, one.shape[0], margin)
    if kind == REPEATED:
        return _repeated(joint, one, margin)
    information, total = _information(joint, margin)
    if kind == JOINT:
        return rounded(information)
    entropy = 0.0
    for a in range(joint.shape[0]):
        entropy += _surprise(joint[a], total)
    return rounded(information * total / entropy) if entropy > 0.0 else 0.0


# -- How two columns go together, from counts ------------------------------------------------------


@njit(**EXACT)
def popcount(word):
    """Number of ones in 64 bits; compilers know this form and use the machine's own count."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(**EXACT)
def pack_levels(codes, n_levels, first, complete, bits):
    """Set the bits of every column's levels, see `Planes`; `bits` come as zeros."""
    for j in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            if complete[j] <= codes[j, i] < n_levels[j]:
                plane = first[j] + codes[j, i] - complete[j]
                bits[plane, i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@njit(**EXACT)
def _ones_within(bits, p, masks, one, other):
    """How many ones a plane has within each of two masks: its words are read once."""
    of_one = of_other = np.uint64(0)
    for w in range(bits.shape[1]):
        of_one += popcount(bits[p, w] & masks[one, w])
        of_other += popcount(bits[p, w] & masks[other, w])
    return of_one, of_other


@njit(**EXACT)
def count_ones(bits, p, masks, out, row):
    """How many ones a plane has within each mask, written to a row of `out`."""
    last = masks.shape[0] - 1
    for level in range(0, last + 1, 2):
        after = min(level + 1, last)
        out[row, level], out[row, after] = _ones_within(bits, p, masks, level, after)


@njit(**EXACT)
def associate_bits(kind, bits, first, complete, masks, totals, which, out):
    """How the columns `which`, by planes, go with a variable given by one mask a level.

    `totals` counts the ones of the masks.
    """
    n_other = totals.size
    most = 0
    for j in which:
        most = max(most, first[j + 1] - first[j] + complete[j])
    room, margin = np.empty((most, n_other)), np.empty(n_other)
    for j in which:
        n_levels = first[j + 1] - first[j] + complete[j]
        for p in range(first[j], first[j + 1]):
            count_ones(bits, p, masks, room, p - first[j] + complete[j])
        if complete[j]:
            for other in range(n_other):
                left = np.float64(totals[other])
                for level in range(1, n_levels):
                    left -= room[level, other]
                room[0, other] = left
        out[j] = of_two(kind, room[:n_levels], margin)


@njit(**EXACT)
def associate_codes(kind, codes, n_levels, other, n_other, weights, which, out):
    """How the columns `which` of codes go with another; codes beyond the levels are missing, and
    such rows are left out of that pair.
    """
    margin = np.empty(n_other)
    for j in which:
        joint = np.zeros((n_levels[j], n_other))
        for i in range(other.size):
            if codes[j, i] < n_levels[j] and other[i] < n_other:
                joint[codes[j, i], other[i]] += weights[i]
        out[j] = of_two(kind, joint, margin)


# -- What a column, a column already taken and the class say together, from counts of all ----------


#: How many values a column may be looked at ahead of the decision; a power of 2.
AHEAD = 64


class CountArrays(NamedTuple):
    """Columns and classes to be counted: by planes of bits (see `Planes`) where `packed`, and by
    codes.

    `masks` has a packed row a class, `totals` its rows, `ones` the ones of each plane in each
    class.  Codes beyond a column's `n_levels` are missing.
    """

    packed: bool
    bits: NDArray[np.uint64]
    first: NDArray[np.int64]
    complete: NDArray[np.int64]
    ones: NDArray[np.int64]
    masks: NDArray[np.uint64]
    totals: NDArray[np.int64]
    codes: NDArray[np.uint8]
    n_levels: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]


class LookArrays(NamedTuple):
    """How far a lazy search has looked at each column.

    `worth` is what a column is worth by the first `seen` columns taken, which is what decides;
    `bound` what it is worth by the first `known`, those looked at ahead, whose values stand in
    `values` (columns x AHEAD, in a ring).  `order` holds the columns taken.
    """

    worth: NDArray[np.float64]
    seen: NDArray[np.int64]
    bound: NDArray[np.float64]
    known: NDArray[np.int64]
    values: NDArray[np.float64]
    taken: NDArray[np.bool_]
    order: NDArray[np.int64]


@njit(**EXACT)
def ones_in_classes(bits, masks, lo, hi, out):
    """Ones of planes lo..hi in each class."""
    for p in range(lo, hi):
        count_ones(bits, p, masks, out, p)


@njit(**EXACT)
def _room(arrays):
    """Room for tables of two columns and the class, of one column and the class, and a margin."""
    n_classes, most = arrays.totals.size, arrays.n_levels.max()
    return np.empty((most * most, n_classes)), np.empty((most, n_classes)), np.empty(n_classes)


@njit(**EXACT)
def _common_twice(bits, p, q, masks, one, other):
    """How many ones planes p and q share within each of two masks: their words are read once."""
    of_one = of_other = np.uint64(0)
    for w in range(bits.shape[1]):
        both = bits[p, w] & bits[q, w]
        of_one += popcount(both & masks[one, w])
        of_other += popcount(both & masks[other, w])
    return of_one, of_other


@njit(**EXACT)
def _count_bits(arrays, j, s, joint):
    """Counts of columns s and j and the class: by planes, and level 0 by subtraction."""
    bits, first, complete = arrays.bits, arrays.first, arrays.complete
    ones, masks, totals = arrays.ones, arrays.masks, arrays.totals
    n_classes = totals.size
    n_mine = first[j + 1] - first[j] + complete[j]
    if complete[s]:
        for c in range(n_classes):
            joint[0, c] = totals[c]
        for p in range(first[j], first[j + 1]):
            for c in range(n_classes):
                joint[p - first[j] + complete[j], c] = ones[p, c]
                joint[0, c] -= complete[j] * ones[p, c]
    for q in range(first[s], first[s + 1]):
        start = (q - first[s] + complete[s]) * n_mine
        if complete[j]:
            for c in range(n_classes):
                joint[start, c] = ones[q, c]
        for p in range(first[j], first[j + 1]):
            at = p - first[j] + complete[j]
            for c in range(0, n_classes, 2):
                after = min(c + 1, n_classes - 1)
                found = _common_twice(bits, p, q, masks, c, after)
                joint[start + at, c], joint[start + at, after] = found
            if complete[j]:
                for c in range(n_classes):
                    joint[start, c] -= joint[start + at, c]
        if complete[s]:
            for at in range(n_mine):
                for c in range(n_classes):
                    joint[at, c] -= joint[start + at, c]


@njit(**EXACT)
def _count_codes(arrays, j, s, joint):
    """Counts of columns s and j and the class, by codes."""
    codes, mine, theirs = arrays.codes, arrays.n_levels[j], arrays.n_levels[s]
    joint[:] = 0.0
    for i in range(arrays.labels.size):
        if codes[j, i] < mine and codes[s, i] < theirs:
            joint[codes[s, i] * mine + codes[j, i], arrays.labels[i]] += arrays.weights[i]


@njit(**EXACT)
def _value(kind, arrays, j, s, room):
    """What columns j and s say together about the class, by `kind`."""
    mine, theirs = arrays.n_levels[j], arrays.n_levels[s]
    joint, one = room[0][: theirs * mine], room[1][:mine]
    if arrays.packed and (joint.size <= MANY or arrays.codes.size == 0):
        _count_bits(arrays, j, s, joint)
    else:
        _count_codes(arrays, j, s, joint)
    return of_three(kind, joint, one, room[2])


@njit(**EXACT)
def values_with(kind, arrays, s, which, lo, hi, out):
    """What columns lo..hi say together with column s, for those in `which`."""
    room = _room(arrays)
    for j in range(lo, hi):
        if which[j]:
            out[j] = _value(kind, arrays, j, s, room)


@njit(**EXACT)
def _fall(kind, worth, value):
    """What a column is worth after one more value."""
    return worth - value if kind == REPEATED else min(worth, value)


@njit(**EXACT)
def _look(kind, arrays, looks, j, room):
    """Look at column j once more, ahead of the decision."""
    value = _value(kind, arrays, j, looks.order[looks.known[j]], room)
    looks.values[j, looks.known[j] % AHEAD] = value
    looks.bound[j] = _fall(kind, looks.bound[j], value)
    looks.known[j] += 1


@njit(**EXACT)
def look_ahead(kind, arrays, looks, n_taken, best, lo, hi):
    """Look at columns lo..hi until each is known well or can hardly win.

    `best` is shared by all threads without a lock: what is looked at too much or too little
    costs time only, since `settle` decides by the values alone.
    """
    room = _room(arrays)
    for j in range(lo, hi):
        if looks.taken[j]:
            continue
        while (
            looks.bound[j] > best[0]
            and looks.known[j] < n_taken
            and looks.known[j] - looks.seen[j] < AHEAD
        ):
            _look(kind, arrays, looks, j, room)
        if looks.known[j] == n_taken and looks.bound[j] > best[0]:
            best[0] = looks.bound[j]


@njit(**EXACT)
def _take(kind, arrays, looks, n_taken, room):
    """Take the column that is worth most now, the lowest of equals; how often it had to look.

    Columns are looked at lazily, the lowest first and no further than it takes to see that they
    cannot win.  So what each is worth in the end depends on no thread.
    """
    best, at, n_looks = -np.inf, -1, 0
    for j in range(looks.worth.size):
        if looks.taken[j]:
            continue
        while looks.worth[j] > best and looks.seen[j] < n_taken:
            if looks.seen[j] == looks.known[j]:
                _look(kind, arrays, looks, j, room)
            value = looks.values[j, looks.seen[j] % AHEAD]
            looks.worth[j] = _fall(kind, looks.worth[j], value)
            looks.seen[j] += 1
            n_looks += 1
        if looks.worth[j] > best:
            best, at = looks.worth[j], j
    looks.taken[at] = True
    looks.order[n_taken] = at
    return n_looks


@njit(**EXACT)
def settle(kind, arrays, looks, n_taken, most):
    """Take columns until one needed more than `most` looks; how many are taken then.

    Whoever calls may share such looks among threads, ahead of the next call.
    """
    room = _room(arrays)
    n_looks = 0
    while n_taken < looks.order.size and n_looks <= most:
        n_looks = _take(kind, arrays, looks, n_taken, room)
        n_taken += 1
    return n_taken


# -- Counts of a column's levels -------------------------------------------------------------------


@njit(**EXACT)
def count_levels(values, mine, weights, counts):
    """Add the weight of each known level to `counts`: rows that are not mine, and those that are.

    `values` holds codes as numbers; NaN is missing.
    """
    for i in range(values.size):
        if not np.isnan(values[i]):
            counts[np.int64(mine[i]), np.int64(values[i])] += weights[i]
