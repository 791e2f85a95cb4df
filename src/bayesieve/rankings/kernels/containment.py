"""Which sparse features another one makes redundant."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT


@njit(**EXACT)
def contained(pointers, rows, row_pointers, row_columns, positive, hits, alarms, lo, hi, by):
    """The lowest feature that contains each of lo..hi, or -1.

    B contains A when B is present in every positive row where A is, and A in every negative row
    where B is; of equal features the lowest contains the others.  Features without a positive row
    are left alone.

    Parameters
    ----------
    pointers, rows : rows of each feature.
    row_pointers, row_columns : features of each row, ascending.
    positive : is the row positive?
    hits, alarms : positive and negative rows of each feature.
    by : written.
    """
    mark = np.full(positive.size, -1, np.int64)
    for a in range(lo, hi):
        by[a] = -1
        if hits[a] == 0:
            continue
        pivot = -1
        for e in range(pointers[a], pointers[a + 1]):
            i = rows[e]
            mark[i] = a
            if positive[i] and (
                pivot < 0
                or row_pointers[i + 1] - row_pointers[i]
                < row_pointers[pivot + 1] - row_pointers[pivot]
            ):
                pivot = i
        # Whoever contains A is present in each of its positive rows: the one with the fewest
        # features names all candidates.
        for q in range(row_pointers[pivot], row_pointers[pivot + 1]):
            b = row_columns[q]
            if b == a or hits[b] < hits[a] or alarms[b] > alarms[a]:
                continue
            if hits[b] == hits[a] and alarms[b] == alarms[a] and b > a:
                continue
            shared = 0
            inside = True
            for e in range(pointers[b], pointers[b + 1]):
                i = rows[e]
                if mark[i] == a:
                    shared += positive[i]
                elif not positive[i]:
                    inside = False
                    break
            if inside and shared == hits[a]:
                by[a] = b
                break
