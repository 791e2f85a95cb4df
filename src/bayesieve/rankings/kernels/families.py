"""Columns that others make redundant: near-twins, and sparse features that another contains."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .counts import popcount

# Slices of the rows, in each of which twins depart about equally often.
_SLICES = 16

# Words compared before the disagreements so far are looked at.
_STRIDE = 8

# Columns that depart in at most one of so many rows are looked up by these rows.
_RARE = 8


@njit(**EXACT)
def pack_codes(codes, n_codes, words):
    """The bits of one column's codes; its most frequent code, and how many rows depart from it.

    Parameters
    ----------
    codes : of every row, below `n_codes`.
    words : planes x words, as zeros.  The first plane says which rows depart (the lowest of equally
        frequent codes is the usual one), plane p + 1 has bit p of the codes.
    """
    counts = np.zeros(n_codes, np.int64)
    for i in range(codes.size):
        counts[codes[i]] += 1
    usual = np.argmax(counts)
    for i in range(codes.size):
        code = np.uint64(codes[i])
        shift = np.uint64(i & 63)
        if code != np.uint64(usual):
            words[0, i >> 6] |= np.uint64(1) << shift
        for p in range(1, words.shape[0]):
            words[p, i >> 6] |= ((code >> np.uint64(p - 1)) & np.uint64(1)) << shift
    return usual, codes.size - counts[usual]


@njit(**EXACT)
def _count_apart(words, a, b, first, last):
    """Rows of some words in which two planes differ."""
    found = np.uint64(0)
    for w in range(first, last):
        found += popcount(words[a + w] ^ words[b + w])
    return np.int64(found)


@njit(**EXACT)
def _apart(words, a, a_planes, b, b_planes, n_words, w):
    """Rows of one word in which two columns have different codes; `b` has no more planes."""
    apart = np.uint64(0)
    for p in range(1, a_planes):
        word = words[a + p * n_words + w]
        if p < b_planes:
            word ^= words[b + p * n_words + w]
        apart |= word
    return apart


@njit(**EXACT)
def _are_twins(bits, one, other, most, share):
    """Do two columns disagree on at most `most` rows, and on at most share[0] / share[1] of those
    where either departs from its usual code?
    """
    words, start, n_planes, n_words = bits
    if n_planes[one] < n_planes[other]:
        one, other = other, one
    a, a_planes, b, b_planes = start[one], n_planes[one], start[other], n_planes[other]
    # Most pairs are told apart by their first words, and by the lowest bit alone.
    found = 0
    if b_planes > 1:
        for first in range(0, n_words, _STRIDE):
            last = min(first + _STRIDE, n_words)
            found += _count_apart(words, a + n_words, b + n_words, first, last)
            if found > most:
                return False
    if a_planes > 2 or b_planes < 2:
        found = 0
        for w in range(n_words):
            found += np.int64(popcount(_apart(words, a, a_planes, b, b_planes, n_words, w)))
            if found > most:
                return False
    departing, disagreeing = 0, 0
    for w in range(n_words):
        either = words[a + w] | words[b + w]
        departing += np.int64(popcount(either))
        apart = _apart(words, a, a_planes, b, b_planes, n_words, w)
        disagreeing += np.int64(popcount(apart & either))
    return share[1] * disagreeing <= share[0] * departing


@njit(**EXACT)
def _far(slices, a, b, most):
    """Do two columns of one usual code disagree on more rows than `most`, by their slices?"""
    found = 0
    for s in range(_SLICES):
        found += abs(slices[a, s] - slices[b, s])
    return found > most


@njit(**EXACT)
def _departing(words, first, n_words):
    """The rows where a column departs, ascending."""
    found = np.empty(64 * n_words, np.int64)
    n = 0
    for w in range(n_words):
        word = words[first + w]
        while word:
            lowest = word & (~word + np.uint64(1))
            found[n] = 64 * w + np.int64(popcount(lowest - np.uint64(1)))
            n += 1
            word ^= lowest
    return found[:n]


@njit(**EXACT)
def _ranks(words, start, n_words, n_rows):
    """Places of the rows by the number of columns that depart there, the fewest first."""
    counts = np.zeros(n_rows, np.int64)
    for first in start:
        for i in _departing(words, first, n_words):
            counts[i] += 1
    ranks = np.empty(n_rows, np.int64)
    ranks[np.argsort(counts, kind="mergesort")] = np.arange(n_rows)
    return ranks


@njit(**EXACT)
def _prefix_sizes(n_rows, most, share):
    """By the number of rows that depart: how many of them twins share one of; 0: none need be.

    Twins of one usual code disagree on at most share / (1 - share) of the rows where one of them
    departs.  So each shares all of these rows but so many, and of one more than that, in whatever
    order, one with the other's (the prefix filter of joins by similarity, Chaudhuri et al. 2006).
    """
    found = np.zeros(n_rows + 1, np.int64)
    for number in range(1, n_rows // _RARE + 1):
        missed = most
        if share[1] > share[0]:
            missed = min(most, number * share[0] // (share[1] - share[0]))
        if missed < number:
            found[number] = missed + 1
    return found


@njit(**EXACT)
def _few(one, other, most, share):
    """On how many rows twins of one usual code disagree at most, by how many depart in each."""
    return min(most, share[0] * (one + other) // (2 * share[1] - share[0]))


@njit(**EXACT)
def lead(
    words, start, n_planes, n_words, kinds, usual, departs, order, n_rows, most, share, leader
):
    """Each column's leader: the first one before it in the order that it is a twin of, or itself.

    Parameters
    ----------
    words, start, n_planes, n_words : the bits of each column, see `pack_codes`, one after another.
    kinds : columns of different kinds are never twins.
    usual, departs : the most frequent code of each column, and how many rows depart from it.
    order : columns in the order in which they may lead.
    n_rows : of the table.
    most : rows on which twins may disagree.
    share : numerator and denominator of the share of departing rows on which they may disagree.
    leader : written.
    """
    bits = (words, start, n_planes, n_words)
    # Twins depart in nearly equally many rows: leaders by that number, the latest first.
    heads = np.full(departs.max() + 1, -1, np.int64)
    behind = np.full(order.size, -1, np.int64)
    slices = np.zeros((start.size, _SLICES), np.int32)
    for j in range(start.size):
        for w in range(n_words):
            slices[j, w * _SLICES // n_words] += np.int32(popcount(words[start[j] + w]))
    # Rare columns are looked up by rows where they depart: leaders by row, the latest first.
    ranks, sizes = _ranks(words, start, n_words, n_rows), _prefix_sizes(n_rows, most, share)
    doors = np.full(n_rows, -1, np.int64)
    entries = np.empty((sizes[departs].sum(), 2), np.int64)
    n_entries = 0
    for at in range(order.size):
        mine = order[at]
        best = order.size
        # The lowest places of the rows where the column departs.
        rows = np.sort(ranks[_departing(words, start[mine], n_words)])[: sizes[departs[mine]]]
        for row in rows:
            entry = doors[row]
            while entry >= 0:
                candidate = entries[entry, 0]
                other = order[candidate]
                if candidate < best and kinds[other] == kinds[mine] and usual[other] == usual[mine]:
                    limit = _few(departs[mine], departs[other], most, share)
                    if abs(departs[mine] - departs[other]) <= limit and _are_twins(
                        bits, mine, other, limit, share
                    ):
                        best = candidate
                entry = entries[entry, 1]
        low, high = max(departs[mine] - most, 0), min(departs[mine] + most, heads.size - 1)
        for number in range(low, high + 1):
            # Of equal usual codes, disagreements are a part of the rows that depart; where the
            # usual codes differ, nearly all rows depart.
            together, between = departs[mine] + number, abs(departs[mine] - number)
            few = _few(departs[mine], number, most, share)
            looked_up = rows.size > 0 and sizes[number] > 0
            if (looked_up or between > few) and together < n_rows - most:
                continue
            candidate = heads[number]
            while candidate >= 0:
                other = order[candidate]
                if candidate < best and kinds[other] == kinds[mine]:
                    alike = usual[other] == usual[mine]
                    limit = few if alike else most
                    far = between > limit or (alike and _far(slices, mine, other, limit))
                    if not far and _are_twins(bits, mine, other, limit, share):
                        best = candidate
                candidate = behind[candidate]
        if best < order.size:
            leader[mine] = order[best]
            continue
        leader[mine] = mine
        behind[at] = heads[departs[mine]]
        heads[departs[mine]] = at
        for row in rows:
            entries[n_entries, 0], entries[n_entries, 1] = at, doors[row]
            doors[row] = n_entries
            n_entries += 1


@njit(**EXACT)
def _stand_alike(one, one_ranks, one_usual, other, other_ranks, other_usual, reach, most, share):
    """Are two columns of numbers twins?  Where ranks are at most `reach` apart, they agree."""
    apart, departing, disagreeing = 0, 0, 0
    for i in range(one.size):
        far = abs(one_ranks[one[i]] - other_ranks[other[i]]) > reach
        either = one[i] != one_usual or other[i] != other_usual
        apart += far
        departing += either
        disagreeing += far and either
        if apart > most:
            return False
    return share[1] * disagreeing <= share[0] * departing


@njit(**EXACT)
def lead_by_rank(codes, ranks, usual, reach, most, share, leader):
    """As `lead`, of columns of numbers, in the order in which they may lead.

    Parameters
    ----------
    codes : columns x rows.
    ranks : of each column's codes.
    usual : each column's most frequent code.
    reach : how far apart ranks may be that agree.
    most, share, leader : as in `lead`.
    """
    for mine in range(len(codes)):
        leader[mine] = mine
        for other in range(mine):
            if leader[other] == other and _stand_alike(
                codes[mine], ranks[mine], usual[mine],
                codes[other], ranks[other], usual[other], reach, most, share,
            ):  # fmt: skip
                leader[mine] = other
                break


# -- Sparse features that another one contains -----------------------------------------------------


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
