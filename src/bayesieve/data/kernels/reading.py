"""Tables read once: small whole numbers as bytes, blocks of columns as floats."""

import math

import numpy as np
from numba import njit

from .options import EXACT

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
    """The same for floats: NaN is missing.  Without branches, which cost more than the test."""
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
