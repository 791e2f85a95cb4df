"""Counts and moments by class, for every table set at once."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT

_ROWS = 1024  # rows a block of moments


# Sums of squares beyond these have overflowed or lost digits.
_LEAST, _MOST = 2.0**-960, 2.0**1000


@njit(**EXACT)
def count_by_class(codes, labels, weights, left_out, pointers, out):
    """Weighted counts of each code in each class: out[set, code, class].

    Set g is trained on all rows but left_out[pointers[g]:pointers[g + 1]].
    """
    total = np.zeros(out.shape[1:], out.dtype)
    for i in range(codes.size):
        total[codes[i], labels[i]] += weights[i]
    for g in range(out.shape[0]):
        out[g] = total
        for p in range(pointers[g], pointers[g + 1]):
            i = left_out[p]
            out[g, codes[i], labels[i]] -= weights[i]


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
    block_count = np.empty(n_classes)
    block_mean = np.empty(n_classes)
    block_squares = np.empty(n_classes)
    left_over = np.empty(n_classes)
    count[:] = 0.0
    mean[:] = 0.0
    squares[:] = 0.0
    last = 0
    while last < rows.size:
        first, block = last, numbers[rows[last]] // _ROWS
        while last < rows.size and numbers[rows[last]] // _ROWS == block:
            last += 1
        block_count[:] = 0.0
        block_mean[:] = 0.0
        block_squares[:] = 0.0
        left_over[:] = 0.0
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
