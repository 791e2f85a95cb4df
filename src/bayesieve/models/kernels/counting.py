"""Counts and sums of sparse columns, from their entries alone."""

from numba import njit

from ...data.kernels.options import EXACT


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
