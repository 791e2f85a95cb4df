"""Sparse ledgers: a feature moves the lines where it differs from its usual value, and no others.

Features are stored by entries, as `EntryArrays` says.
"""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT


@njit(**EXACT)
def apply_moves(sums, entries, feature, sign):
    """Let one feature's lines move."""
    pointers, lines, kinds, first = entries.pointers, entries.lines, entries.kinds, entries.first
    sets, delta = entries.sets, entries.delta
    for e in range(pointers[feature], pointers[feature + 1]):
        i = lines[e]
        row = first[feature] + kinds[e]
        for c in range(sums.shape[0]):
            sums[c, i] += sign * delta[row, sets[i], c]


@njit(**EXACT)
def merge_moved(order, gone, moved, scores, start, end):
    """Bring order[start:end] into ascending order of the scores.

    Lines that have changed are flagged in `gone` and listed in `moved`, sorted by score; all others
    still stand in order.
    """
    left = np.empty(end - start, order.dtype)
    n_left = 0
    for p in range(start, end):
        if not gone[order[p]]:
            left[n_left] = order[p]
            n_left += 1
    a = b = 0
    for p in range(start, end):
        if b == moved.size or (a < n_left and scores[left[a]] <= scores[moved[b]]):
            order[p] = left[a]
            a += 1
        else:
            order[p] = moved[b]
            b += 1


@njit(**EXACT)
def tally(order, scores, truth, weights, start, end, at, distinct, seats, negatives, positives):
    """Distinct scores of one stratum, where each line stands, and the weight below each.

    Entries `at` onwards of `distinct`, `negatives` and `positives` are written, and one more of the
    last two: all the weight there is.  A line's seat is twice the number of its score, plus one for
    a positive.  Returns the number of distinct scores and the doubled number of concordant pairs.
    """
    n = 0
    below_neg = below_pos = here_neg = here_pos = pairs = 0
    for p in range(start, end):
        i = order[p]
        if n == 0 or scores[i] != distinct[at + n - 1]:
            pairs += here_pos * (2 * below_neg + here_neg)
            below_neg += here_neg
            below_pos += here_pos
            here_neg = here_pos = 0
            distinct[at + n] = scores[i]
            negatives[at + n] = below_neg
            positives[at + n] = below_pos
            n += 1
        seats[i] = 2 * (n - 1) + truth[i]
        if truth[i] == 1:
            here_pos += weights[i]
        else:
            here_neg += weights[i]
    pairs += here_pos * (2 * below_neg + here_neg)
    negatives[at + n] = below_neg + here_neg
    positives[at + n] = below_pos + here_pos
    return n, pairs


@njit(**EXACT)
def gather(unit, units, entries, sign, seat, found, moves):
    """Lines that a unit moves, in ascending order, and by how much in each column of the sums."""
    unit_pointers, members = units.pointers, units.members
    pointers, lines, kinds, first = entries.pointers, entries.lines, entries.kinds, entries.first
    sets, delta = entries.sets, entries.delta
    n = 0
    several = unit_pointers[unit + 1] - unit_pointers[unit] > 1
    for m in range(unit_pointers[unit], unit_pointers[unit + 1]):
        f = members[m]
        for e in range(pointers[f], pointers[f + 1]):
            i = lines[e]
            row = first[f] + kinds[e]
            at = n
            if several:
                if seat[i] < 0:
                    seat[i] = n
                    found[n] = i
                    moves[:, n] = 0
                    n += 1
                at = seat[i]
                for c in range(moves.shape[0]):
                    moves[c, at] += sign * delta[row, sets[i], c]
            else:
                found[n] = i
                for c in range(moves.shape[0]):
                    moves[c, n] = sign * delta[row, sets[i], c]
                n += 1
    if several:
        order = np.argsort(found[:n])
        for q in range(n):
            seat[found[q]] = -1
        found[:n] = found[:n][order]
        for c in range(moves.shape[0]):
            moves[c, :n] = moves[c, :n][order]
    return n
