"""What a column, a column already taken and the class say together, from counts of all three."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...data.kernels.options import EXACT
from .information import count_ones, popcount
from .kinds import MANY, REPEATED
from .tables import of_three

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
def _count_bits(bits, first, complete, ones, masks, totals, j, s, joint):
    """Counts of columns s and j and the class: by planes, and level 0 by subtraction."""
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
def _count_codes(codes, mine, theirs, j, s, labels, weights, joint):
    """The same by codes, of which columns j and s have `mine` and `theirs`."""
    joint[:] = 0.0
    for i in range(labels.size):
        if codes[j, i] < mine and codes[s, i] < theirs:
            joint[codes[s, i] * mine + codes[j, i], labels[i]] += weights[i]


@njit(**EXACT)
def _value(kind, arrays, j, s, room):
    """What columns j and s say together about the class, by `kind`."""
    mine, theirs = arrays.n_levels[j], arrays.n_levels[s]
    joint, one = room[0][: theirs * mine], room[1][:mine]
    if arrays.packed and (joint.size <= MANY or arrays.codes.size == 0):
        _count_bits(
            arrays.bits,
            arrays.first,
            arrays.complete,
            arrays.ones,
            arrays.masks,
            arrays.totals,
            j,
            s,
            joint,
        )
    else:
        _count_codes(arrays.codes, mine, theirs, j, s, arrays.labels, arrays.weights, joint)
    return of_three(kind, joint, one, room[2])


@njit(**EXACT)
def values_with(kind, arrays, s, wanted, lo, hi, out):
    """What columns lo..hi say together with column s, where wanted."""
    room = _room(arrays)
    for j in range(lo, hi):
        if wanted[j]:
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
