"""What a column, a column already taken and the class say together, from counts of all three."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...data.kernels.options import EXACT
from .information import common_ones, popcount
from .kinds import REPEATED
from .tables import of_three

#: How many values a column may be looked at ahead of the decision; a power of 2.
AHEAD = 64


class CountArrays(NamedTuple):
    """Columns and classes to be counted: as bits where `packed`, else as codes.

    `masks` has a packed row a class, `totals` its rows, `ones` the ones of each column in each
    class.  Codes beyond a column's `n_levels` are missing.
    """

    packed: bool
    bits: NDArray[np.uint64]
    masks: NDArray[np.uint64]
    totals: NDArray[np.int64]
    ones: NDArray[np.int64]
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
def count_ones(bits, masks, lo, hi, out):
    """Ones of binary columns lo..hi in each class."""
    for j in range(lo, hi):
        for c in range(masks.shape[0]):
            out[j, c] = common_ones(bits[j], masks[c])


@njit(**EXACT)
def _room(arrays):
    """Room for binary tables of two columns and the class, of one and the class, and a margin."""
    n_classes = arrays.totals.size
    return np.empty((4, n_classes)), np.empty((2, n_classes)), np.empty(n_classes)


@njit(**EXACT)
def _common_twice(bits, j, s, masks, one, other):
    """How many ones columns j and s share within each of two masks: their words are read once."""
    of_one = of_other = np.uint64(0)
    for w in range(bits.shape[1]):
        both = bits[j, w] & bits[s, w]
        of_one += popcount(both & masks[one, w])
        of_other += popcount(both & masks[other, w])
    return of_one, of_other


@njit(**EXACT)
def _count_bits(bits, masks, totals, ones, j, s, joint):
    """Counts of binary columns s and j and the class: where both are 1, the rest by subtraction."""
    n_classes = totals.size
    for c in range(0, n_classes, 2):
        after = min(c + 1, n_classes - 1)
        joint[3, c], joint[3, after] = _common_twice(bits, j, s, masks, c, after)
    for c in range(n_classes):
        both, mine, theirs = joint[3, c], ones[j, c], ones[s, c]
        joint[2, c] = theirs - both
        joint[1, c] = mine - both
        joint[0, c] = totals[c] - theirs - mine + both


@njit(**EXACT)
def _value(kind, arrays, j, s, room):
    """What columns j and s say together about the class, by `kind`."""
    if arrays.packed:
        joint, one, margin = room
        _count_bits(arrays.bits, arrays.masks, arrays.totals, arrays.ones, j, s, joint)
        return of_three(kind, joint, one, margin)
    n_classes, mine, theirs = arrays.totals.size, arrays.n_levels[j], arrays.n_levels[s]
    joint = np.zeros((theirs * mine, n_classes))
    codes, others = arrays.codes[j], arrays.codes[s]
    for i in range(arrays.labels.size):
        if codes[i] < mine and others[i] < theirs:
            joint[others[i] * mine + codes[i], arrays.labels[i]] += arrays.weights[i]
    return of_three(kind, joint, np.empty((mine, n_classes)), room[2])


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
def settle(kind, arrays, looks, n_taken):
    """The column that is worth most now, the lowest of equals; it is taken.

    Columns are looked at lazily, the lowest first and no further than it takes to see that they
    cannot win.  So what each is worth in the end depends on no thread.
    """
    room = _room(arrays)
    best, at = -np.inf, -1
    for j in range(looks.worth.size):
        if looks.taken[j]:
            continue
        while looks.worth[j] > best and looks.seen[j] < n_taken:
            if looks.seen[j] == looks.known[j]:
                _look(kind, arrays, looks, j, room)
            value = looks.values[j, looks.seen[j] % AHEAD]
            looks.worth[j] = _fall(kind, looks.worth[j], value)
            looks.seen[j] += 1
        if looks.worth[j] > best:
            best, at = looks.worth[j], j
    looks.taken[at] = True
    looks.order[n_taken] = at
