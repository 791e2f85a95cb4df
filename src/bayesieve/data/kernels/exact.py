"""Exact kernels of columns: logarithms, counts, moments, intervals and bytes.

The functions use additions, multiplications, comparisons and one table of powers of two: operations
that IEEE 754 fixes to the last bit, on every machine, with the JIT or without.
"""

import math
import sys

import numpy as np
from numba import njit
from numba.core import event

from .options import EXACT


class _Compiling(event.Listener):
    """Says once, to who is there to read it, that time goes into compiling."""

    def on_start(self, event):
        kernel = event.data["dispatcher"].py_func
        if kernel.__module__.startswith("bayesieve.") and not self.told:
            self.told = True
            shown = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
            if shown:
                line = "bayesieve: kernels are compiled, once on this machine: half a minute\n"
                sys.stderr.write(line)
                sys.stderr.flush()

    def on_end(self, event):
        pass

    told = False


event.register("numba:compile", _Compiling())

# Beyond this distance a class adds nothing to a value rounded to 2^-40 (exp(-50) < 2^-72).
FAR = 50.0

_LOG2E = 1.4426950408889634

_LN2_HI = 0.6931471803691238  # ln 2 in two parts: the product with an integer below 2^20 is exact

_LN2_LO = 1.9082149292705877e-10

_LN2 = 0.6931471805599453

_SQRT2 = 1.4142135623730951

_SQRT_HALF = 0.7071067811865476

_POW2_ZERO = 80

_POW2 = 2.0 ** np.arange(-_POW2_ZERO, _POW2_ZERO + 1)


@njit(**EXACT)
def exp_fixed(x):
    """exp(x) for |x| <= 50, by range reduction and a polynomial of degree 13."""
    k = np.floor(x * _LOG2E + 0.5)
    r = (x - k * _LN2_HI) - k * _LN2_LO
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _POW2[np.int64(k) + _POW2_ZERO]


@njit(**EXACT)
def _log_near_one(z):
    """log(z) for z in [0.707, 1.414), by the series of atanh."""
    u = (z - 1.0) / (z + 1.0)
    q = u * u
    p = 1.0 / 23.0
    p = p * q + 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    p = p * q + 1.0
    return 2.0 * u * p


@njit(**EXACT)
def log_fixed(z):
    """log(z) for z >= 1, by halving into [0.707, 1.414)."""
    shift = 0.0
    while z >= _SQRT2:
        z = z * 0.5
        shift = shift + 1.0
    return shift * _LN2 + _log_near_one(z)


@njit(**EXACT)
def logs_from_one(values, most, shifts, out):
    """log_fixed of many values from 1 to `most`, to the bit, without a branch for each."""
    near = out[: values.size]
    far = shifts[: values.size]
    for i in range(values.size):
        near[i] = values[i]
        far[i] = 0.0
    edge = _SQRT2
    while edge <= most:
        for i in range(values.size):
            beyond = values[i] >= edge
            near[i] = near[i] * 0.5 if beyond else near[i]
            far[i] = far[i] + 1.0 if beyond else far[i]
        edge = edge * 2.0
    for i in range(values.size):
        near[i] = far[i] * _LN2 + _log_near_one(near[i])


@njit(**EXACT)
def log_positive(z):
    """log(z) for any finite z > 0, its power of two taken off at once."""
    z, power = math.frexp(z)
    if z < _SQRT_HALF:
        z *= 2.0
        power -= 1
    return power * _LN2 + _log_near_one(z)


@njit(**EXACT)
def log_all(numbers, out):
    """Logarithms of positive numbers."""
    for i in range(numbers.size):
        z = numbers[i]
        out[i] = log_fixed(z) if z >= 1.0 else -log_fixed(1.0 / z)


@njit(**EXACT)
def pooled(terms, shares, out):
    """Log of the sum over classes of share x P(value | class), for each row of terms."""
    n_classes = terms.shape[1]
    for c in range(terms.shape[0]):
        top = terms[c, 0] + shares[0]
        for k in range(1, n_classes):
            top = max(top, terms[c, k] + shares[k])
        total = 0.0
        for k in range(n_classes):
            apart = top - (terms[c, k] + shares[k])
            if apart <= FAR:
                total += exp_fixed(-apart)
        out[c] = top + log_fixed(total)


@njit(**EXACT)
def _of_prime(prime, unit):
    """The rounded logarithm of a prime: the only place where anything is rounded."""
    return np.int64(np.floor(log_fixed(np.float64(prime)) * unit + 0.5))


@njit(**EXACT)
def log_up_to(unit, out):
    """Logarithms of 0 (as 0), 1, 2, ...: a sieve of smallest factors."""
    size = out.size
    smallest = np.zeros(size, np.int32)
    out[:2] = 0
    for number in range(2, size):
        if smallest[number] == 0:
            out[number] = _of_prime(number, unit)
            for multiple in range(number * number, size, number):
                if smallest[multiple] == 0:
                    smallest[multiple] = number
        else:
            factor = smallest[number]
            out[number] = out[factor] + out[number // factor]


@njit(**EXACT)
def log_each(numbers, unit, out):
    """Logarithms of single numbers >= 1, by trial division."""
    two, three = _of_prime(2, unit), _of_prime(3, unit)
    for i in range(numbers.size):
        left = numbers[i]
        total = np.int64(0)
        while left % 2 == 0:
            left //= 2
            total += two
        while left % 3 == 0:
            left //= 3
            total += three
        factor, step = 5, 2
        while factor * factor <= left:
            while left % factor == 0:
                left //= factor
                total += _of_prime(factor, unit)
            factor += step
            step = 6 - step
        if left > 1:
            total += _of_prime(left, unit)
        out[i] = total


_ROWS = 1024  # rows a block of moments

# Sums of squares beyond these have overflowed or lost digits.
_LEAST, _MOST = 2.0**-960, 2.0**1000


@njit(**EXACT)
def _count_each(codes, labels, total):
    """Rows of each code and class.

    Four tables in turn: a number just written need not be read again at once.
    """
    n_codes, n_classes = total.shape
    counts = np.zeros((4, n_codes * n_classes), np.int64)
    n_fours = codes.size // 4
    for four in range(n_fours):
        i = 4 * four
        counts[0, codes[i] * n_classes + labels[i]] += 1
        counts[1, codes[i + 1] * n_classes + labels[i + 1]] += 1
        counts[2, codes[i + 2] * n_classes + labels[i + 2]] += 1
        counts[3, codes[i + 3] * n_classes + labels[i + 3]] += 1
    for i in range(4 * n_fours, codes.size):
        counts[0, codes[i] * n_classes + labels[i]] += 1
    for code in range(n_codes):
        for k in range(n_classes):
            at = code * n_classes + k
            total[code, k] = counts[0, at] + counts[1, at] + counts[2, at] + counts[3, at]


@njit(**EXACT)
def count_by_class(codes, labels, weights, left_out, pointers, out):
    """Weighted counts of each code in each class: out[set, code, class].

    Set g is trained on all rows but left_out[pointers[g]:pointers[g + 1]].  Weights are empty where
    every row counts once.
    """
    total = np.zeros(out.shape[1:], out.dtype)
    if weights.size:
        for i in range(codes.size):
            total[codes[i], labels[i]] += weights[i]
    else:
        _count_each(codes, labels, total)
    for g in range(out.shape[0]):
        out[g] = total
        for p in range(pointers[g], pointers[g + 1]):
            i = left_out[p]
            out[g, codes[i], labels[i]] -= weights[i] if weights.size else 1.0


@njit(**EXACT)
def moments_by_class(values, labels, weights, rows, numbers, count, mean, squares):
    """Weight, mean and sum of squared deviations of each class over the given rows.

    Two passes over each block of rows, the second also correcting the mean of the first; blocks
    merged in order by Chan's formula.  A block is 1024 numbers of the table, whichever of its rows
    are here, so that folds and parts of the rows have the same borders.  NaN is skipped.  Equal
    values have that mean and no squares, to the bit: where nothing is added to a variance, rounding
    would speak in its place.  Squares that do not fit are NaN.
    """
    n_classes = count.size
    lone = np.full(n_classes, np.nan)
    varied = np.zeros(n_classes, np.bool_)
    block_sums = np.empty((4, n_classes))
    block_count, block_mean, block_squares = block_sums[0], block_sums[1], block_sums[2]
    left_over = block_sums[3]
    count[:] = 0.0
    mean[:] = 0.0
    squares[:] = 0.0
    last = 0
    while last < rows.size:
        first, block = last, numbers[rows[last]] // _ROWS
        while last < rows.size and numbers[rows[last]] // _ROWS == block:
            last += 1
        block_sums[:] = 0.0
        for p in range(first, last):
            i = rows[p]
            if not np.isnan(values[i]):
                block_count[labels[i]] += weights[i]
                block_mean[labels[i]] += weights[i] * values[i]
        for k in range(n_classes):
            if block_count[k] > 0.0:
                block_mean[k] /= block_count[k]
        for p in range(first, last):
            i = rows[p]
            if not np.isnan(values[i]):
                apart = values[i] - block_mean[labels[i]]
                if np.isnan(lone[labels[i]]):
                    lone[labels[i]] = values[i]
                elif values[i] != lone[labels[i]]:
                    varied[labels[i]] = True
                block_squares[labels[i]] += weights[i] * apart * apart
                left_over[labels[i]] += weights[i] * apart
        for k in range(n_classes):
            both = count[k] + block_count[k]
            if block_count[k] > 0.0:
                shift = left_over[k] / block_count[k]
                block_mean[k] += shift
                block_squares[k] -= shift * left_over[k]
                apart = block_mean[k] - mean[k]
                share = block_count[k] / both
                mean[k] += apart * share
                squares[k] += block_squares[k] + apart * apart * count[k] * share
                count[k] = both
    for k in range(n_classes):
        if count[k] > 0.0 and not varied[k]:
            mean[k], squares[k] = lone[k] + 0.0, 0.0  # no zero below zero
        elif count[k] > 0.0 and not _LEAST <= squares[k] <= _MOST:
            squares[k] = np.nan


@njit(**EXACT)
def count_moves(pointers, rows, kinds, first, member, weights, left_at, left_sets, counts):
    """Weight of the moved rows by delta row, table set and class column.

    Parameters
    ----------
    member : the class columns of each row, rows x groups.
    weights : how often each row counts.
    left_at, left_sets : row i is left out of the sets left_sets[left_at[i]:left_at[i + 1]].
    counts : delta rows x sets x class columns; overwritten.
    """
    counts[:] = 0.0
    for f in range(pointers.size - 1):
        for e in range(pointers[f], pointers[f + 1]):
            i = rows[e]
            at = first[f] + kinds[e]
            for g in range(member.shape[1]):
                column = member[i, g]
                for s in range(counts.shape[1]):
                    counts[at, s, column] += weights[i]
                for q in range(left_at[i], left_at[i + 1]):
                    counts[at, left_sets[q], column] -= weights[i]


@njit(**EXACT)
def add_present(pointers, rows, delta, sums):
    """Add each feature's move to the rows that it moves: sums[row, class]."""
    for f in range(pointers.size - 1):
        for e in range(pointers[f], pointers[f + 1]):
            for k in range(sums.shape[1]):
                sums[rows[e], k] += delta[f, k]


@njit(**EXACT)
def add_codes(cells, slots, tables, sums):
    """Add each column's term of its code to every row: sums[row, class]."""
    for c in range(slots.size):
        for i in range(sums.shape[0]):
            for k in range(sums.shape[1]):
                sums[i, k] += tables[c, cells[slots[c], i], k]


# -- Numbers cut into intervals without looking at classes -----------------------------------------

# Powers of ten up to this one are whole floats.
_DECIMALS = 16

# Squares of the sizes of buckets, a number, beyond which buckets are no help.
_CROWDED = 40


@njit(**EXACT)
def sort_evenly(values, out):
    """Sort numbers, NaN at the end, by as many buckets between the ends; False: not worth while.

    Several times as fast as a sort by comparisons, where buckets hold a few numbers each.
    """
    n, low, high = 0, np.inf, -np.inf
    for i in range(values.size):
        if not np.isnan(values[i]):
            n += 1
            low, high = min(low, values[i]), max(high, values[i])
    scale = n / (high - low)
    if not 0.0 < scale < np.inf or high - low == np.inf:
        return False
    bucket, start = np.empty(values.size, np.int32), np.zeros(n + 1, np.int32)
    first, mixed = np.empty(n), np.zeros(n, np.bool_)
    for i in range(values.size):
        if np.isnan(values[i]):
            bucket[i] = n
            continue
        b = min(np.int64((values[i] - low) * scale), n - 1)
        bucket[i] = b
        if start[b] == 0:
            first[b] = values[i]
        elif first[b] != values[i]:
            mixed[b] = True
        start[b] += 1
    work, at = 0, 0
    for b in range(n):
        here = start[b]
        if mixed[b]:
            work += here * here
        start[b] = at
        at += here
    start[n] = at
    if work > _CROWDED * n:
        return False
    for i in range(values.size):
        out[start[bucket[i]]] = values[i]
        start[bucket[i]] += 1
    for i in range(1, n):
        value, j = out[i], i
        while j > 0 and out[j - 1] > value:
            out[j] = out[j - 1]
            j -= 1
        out[j] = value
    return True


@njit(**EXACT)
def count_runs(ordered, weights, counts):
    """Leave each of ascending numbers (NaN at the end) once, and their weights; how many.

    Without weights, each number counts once.
    """
    n = 0
    for i in range(ordered.size):
        if np.isnan(ordered[i]):
            break
        if n == 0 or ordered[i] != ordered[n - 1]:
            ordered[n] = ordered[i] + 0.0  # -0 is 0
            counts[n] = 0
            n += 1
        counts[n - 1] += weights[i] if weights.size else 1
    return n


@njit(**EXACT)
def _between(low, high):
    """A number near the middle of two, not below the first and below the second.

    Of few decimals where that is possible: people read it.
    """
    middle = low / 2 + high / 2
    gap = high - low
    scale = 1.0
    for _ in range(_DECIMALS):
        if gap * scale >= 0.5:
            # A quotient is rounded once: the very number that its decimals are read as.
            short = np.floor(middle * scale + 0.5) / scale
            # Beside a gap of few units in the last place, a quarter of it rounds to nothing.
            if low + gap / 4 <= short <= high - gap / 4 and short < high:
                return short
        scale *= 10.0
    if middle < low or middle >= high:  # neighbours, or the least numbers
        middle = low
    return middle


@njit(**EXACT)
def cut(values, counts, most, cuts, levels):
    """Cut distinct values into at most so many codes; give how many.

    A code is a value where there are few.  Else codes have about equally many rows: a value joins
    the code before it if that is then nearer to its share of the rows that are left.  So a value
    with twice a code's share of rows stands alone, unless the last code takes it.  A level is the
    median of a code's rows, the lower one of two.
    """
    left = 0
    for count in counts:
        left += count
    few = values.size <= most
    n_codes, first, here = 0, 0, 0
    for i in range(values.size):
        here += counts[i]
        if i + 1 < values.size:
            share = left / (most - n_codes)
            if not few and (n_codes == most - 1 or here + 0.5 * counts[i + 1] < share):
                continue
            cuts[n_codes] = _between(values[i], values[i + 1])
        rows, at = 0, first
        while 2 * (rows + counts[at]) < here:
            rows += counts[at]
            at += 1
        levels[n_codes] = values[at]
        n_codes += 1
        left -= here
        first, here = i + 1, 0
    return n_codes


@njit(**EXACT)
def place(values, cuts, silent, out):
    """How many of 255 ascending cuts are below each value; `silent` for NaN.

    Halving without branches: what a value is like cannot be guessed.
    """
    for i in range(values.size):
        value = values[i]
        code = 128 * (cuts[127] < value)
        code += 64 * (cuts[code + 63] < value)
        code += 32 * (cuts[code + 31] < value)
        code += 16 * (cuts[code + 15] < value)
        code += 8 * (cuts[code + 7] < value)
        code += 4 * (cuts[code + 3] < value)
        code += 2 * (cuts[code + 1] < value)
        code += cuts[code] < value
        out[i] = silent if np.isnan(value) else code


# -- Tables turned into columns, and small whole numbers into bytes --------------------------------

# What a column holds beside small whole numbers: something else; or a zero below zero, which is a
# zero but is written otherwise.
ODD, MINUS_ZERO = 1, 2

# The byte of a missing value, and how many rows and columns stay in the cache together.
MISSING = 255
_TILE = 64


@njit(**EXACT)
def _byte(value):
    """A cell as a byte, and what is wrong with it."""
    if 0 <= value < MISSING:
        small = np.uint8(value)
        return small, ODD * (small != value)
    return np.uint8(0), ODD


@njit(**EXACT)
def _byte_of_float(value):
    """A float as a byte; NaN is missing.  Without branches, which cost more than the test."""
    fits = (value >= 0.0) & (value < MISSING)
    missing = value != value
    held = value if fits else 0.0
    small = np.uint8(held)
    below = fits & (held == 0.0) & (math.copysign(1.0, value) < 0.0)
    odd = (small != held) | (not (fits | missing))
    return np.uint8(MISSING) if missing else small, ODD * odd + MINUS_ZERO * below


@njit(**EXACT)
def turn_to_bytes(cells, floats, columns, lo, hi, out, flags):
    """Columns lo..hi of a table of rows, turned: out[c, i] is cells[i, columns[c]] as a byte.

    A column that holds anything else is given up, and `flags` say why.
    """
    n_rows = cells.shape[0]
    for first in range(lo, hi, _TILE):
        last = min(first + _TILE, hi)
        for top in range(0, n_rows, _TILE):
            end = min(top + _TILE, n_rows)
            for c in range(first, last):
                if flags[c] & ODD:
                    continue
                j, found = columns[c], 0
                for i in range(top, end):
                    if floats:
                        out[c, i], odd = _byte_of_float(cells[i, j])
                    else:
                        out[c, i], odd = _byte(cells[i, j])
                    found |= odd
                flags[c] |= found


@njit(**EXACT)
def to_bytes(cells, floats, out):
    """One column as bytes; what is wrong with it."""
    found = 0
    for top in range(0, cells.size, 8 * _TILE):
        for i in range(top, min(top + 8 * _TILE, cells.size)):
            if floats:
                out[i], odd = _byte_of_float(cells[i])
            else:
                out[i], odd = _byte(cells[i])
            found |= odd
        if found & ODD:
            break
    return found


@njit(**EXACT)
def turn_to_floats(cells, first, out):
    """Columns from `first` on of a table of rows, turned: out[c, i] is cells[i, first + c]."""
    n_columns, n_rows = out.shape
    for top in range(0, n_rows, _TILE):
        for c in range(n_columns):
            for i in range(top, min(top + _TILE, n_rows)):
                out[c, i] = cells[i, first + c]


@njit(**EXACT)
def extremes(cells, lo, hi, least, most, missing):
    """Smallest and largest byte of each column but the missing ones, and whether there are any."""
    for c in range(lo, hi):
        low, high, raised = np.uint8(MISSING), np.uint8(0), np.uint8(0)
        for i in range(cells.shape[1]):
            value = cells[c, i]
            low = min(low, value)
            high = max(high, value)
            raised = max(raised, np.uint8(value + np.uint8(1)))  # a missing byte becomes 0
        least[c] = low
        missing[c] = high == MISSING
        most[c] = raised - np.uint8(1) if raised else np.uint8(0)


@njit(**EXACT)
def recode_missing(cells, columns, code):
    """Another code for missing values of some columns."""
    for c in columns:
        for i in range(cells.shape[1]):
            if cells[c, i] == MISSING:
                cells[c, i] = code


@njit(**EXACT)
def count_bytes(cells, slots, labels, weights, out):
    """Weighted counts of each code in each class of some columns: out[column, code, class]."""
    for c in range(slots.size):
        for i in range(labels.size):
            out[c, cells[slots[c], i], labels[i]] += weights[i]
