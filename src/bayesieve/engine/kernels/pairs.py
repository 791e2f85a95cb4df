"""Concordant pairs (AUC) after a move, from the moved lines alone: integers, so exact."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .moves import gather


@njit(**EXACT)
def _lower_bound(values, low, high, x):
    """First position in values[low:high] that is not below x."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**EXACT)
def _concordant(pos, pos_weights, n_pos, neg, neg_weights, n_neg):
    """Doubled weight of pairs in which the positive is ahead; both sorted ascending."""
    total = 0
    below = 0
    a = b = 0
    for p in range(n_pos):
        while a < n_neg and neg[a] < pos[p]:
            below += neg_weights[a]
            a += 1
        b = a
        level = 0
        while b < n_neg and neg[b] == pos[p]:
            level += neg_weights[b]
            b += 1
        total += pos_weights[p] * (2 * below + level)
    return total


@njit(**EXACT)
def _sorted_pairs(pos, pos_weights, n_pos, neg, neg_weights, n_neg):
    """`_concordant` of unsorted arrays, which it leaves as they are."""
    up, down = np.argsort(pos[:n_pos]), np.argsort(neg[:n_neg])
    return _concordant(
        pos[:n_pos][up],
        pos_weights[:n_pos][up],
        n_pos,
        neg[:n_neg][down],
        neg_weights[:n_neg][down],
        n_neg,
    )


@njit(**EXACT)
def _doubled(gap):
    """What a pair counts: 2 where the positive is ahead, 1 for a tie."""
    return np.int64(gap > 0) + np.int64(gap >= 0)


@njit(**EXACT)
def _both_moved(n_pos, n_neg, old_pos, new_pos, pos_weights, old_neg, new_neg, neg_weights, few):
    """What pairs of two moved lines were counted wrongly, each line moved as if alone."""
    wrong = 0
    if n_pos * n_neg <= few * (n_pos + n_neg):
        for p in range(n_pos):
            old, new = old_pos[p], new_pos[p]
            part = 0
            for n in range(n_neg):
                part += neg_weights[n] * (
                    _doubled(new - new_neg[n])
                    + _doubled(old - old_neg[n])
                    - _doubled(new - old_neg[n])
                    - _doubled(old - new_neg[n])
                )
            wrong += pos_weights[p] * part
        return wrong
    for one, other, sign in (
        (new_pos, new_neg, 1),
        (old_pos, old_neg, 1),
        (new_pos, old_neg, -1),
        (old_pos, new_neg, -1),
    ):
        wrong += sign * _sorted_pairs(one, pos_weights, n_pos, other, neg_weights, n_neg)
    return wrong


@njit(**EXACT)
def _alike(found, seats, g, weights, first, last, n_scores, by, scores, neg, pos, room):
    """Change of the doubled pairs when lines found[first:last] of a stratum all move by the same.

    Lines of one score are handled together, in ascending order, so that every position sought lies
    beyond the one before.  Rows of `room`: weight of moved negatives and positives at each score
    (zero before and after), the scores touched, and their lists.
    """
    at_neg, at_pos, touched = room[0], room[1], room[2]
    n = 0
    for q in range(first, last):
        seat = seats[found[q], g]
        u = seat >> 1
        if at_neg[u] == 0 and at_pos[u] == 0:
            touched[n] = u
            n += 1
        if seat & 1:
            at_pos[u] += weights[found[q]]
        else:
            at_neg[u] += weights[found[q]]
    if n_scores <= 4 * n:
        n = 0
        for u in range(n_scores):
            if at_neg[u] != 0 or at_pos[u] != 0:
                touched[n] = u
                n += 1
    elif n > 1:
        touched[:n] = np.sort(touched[:n])
    change = 0
    to = up = down = 0
    below_own = below_up = below_down = 0
    for t in range(n):
        u = touched[t]
        mine_neg, mine_pos = at_neg[u], at_pos[u]
        new = scores[u] + by
        to = _lower_bound(scores, max(to, u + 1) if by > 0 else to, n_scores if by > 0 else u, new)
        level = to < n_scores and scores[to] == new
        over = to + 1 if level else to
        change += mine_pos * (np.int64(neg[to]) + neg[over] - neg[u] - neg[u + 1])
        change -= mine_neg * (np.int64(pos[to]) + pos[over] - pos[u] - pos[u + 1])
        if mine_pos:
            # Pairs of two moved lines keep their order: take back what was counted for them.
            while up < n and scores[touched[up]] < new:
                below_up += at_neg[touched[up]]
                up += 1
            back = scores[u] - by
            while down < n and scores[touched[down]] < back:
                below_down += at_neg[touched[down]]
                down += 1
            tie_up = at_neg[touched[up]] if up < n and scores[touched[up]] == new else 0
            tie_down = at_neg[touched[down]] if down < n and scores[touched[down]] == back else 0
            change += mine_pos * (
                4 * below_own + 2 * mine_neg - 2 * below_up - tie_up - 2 * below_down - tie_down
            )
        below_own += mine_neg
    for t in range(n):
        at_neg[touched[t]] = 0
        at_pos[touched[t]] = 0
    return change


@njit(**EXACT)
def _unlike(found, seats, g, weights, first, last, n_scores, here, scores, neg, pos, room, few):
    """The same when every line moves by an amount of its own."""
    old_pos, new_pos, pos_weights = room[0], room[1], room[2]
    old_neg, new_neg, neg_weights = room[3], room[4], room[5]
    n_pos = n_neg = change = 0
    for q in range(first, last):
        i, by = found[q], here[q]
        if by == 0:
            continue
        u = seats[i, g] >> 1
        new = scores[u] + by
        to = _lower_bound(scores, u + 1 if by > 0 else 0, n_scores if by > 0 else u, new)
        over = to + 1 if to < n_scores and scores[to] == new else to
        if seats[i, g] & 1:
            change += weights[i] * (np.int64(neg[to]) + neg[over] - neg[u] - neg[u + 1])
            old_pos[n_pos], new_pos[n_pos], pos_weights[n_pos] = scores[u], new, weights[i]
            n_pos += 1
        else:
            change -= weights[i] * (np.int64(pos[to]) + pos[over] - pos[u] - pos[u + 1])
            old_neg[n_neg], new_neg[n_neg], neg_weights[n_neg] = scores[u], new, weights[i]
            n_neg += 1
    if n_pos and n_neg:
        change += _both_moved(
            n_pos, n_neg, old_pos, new_pos, pos_weights, old_neg, new_neg, neg_weights, few
        )
    room[:2, : last - first] = 0
    return change


@njit(**EXACT)
def scan_pairs(strata, entries, units, candidates, sign, few, lo, hi, out):
    """Change of the doubled number of concordant pairs when candidates lo..hi move.

    Only moved lines are looked at: each is compared with all lines of the other kind where they
    stand now, by the weight below its new and its old score; pairs of two moved lines are put right
    afterwards.

    Parameters
    ----------
    strata : lines by score, as `tally` wrote them; groups first, but for seats.
    few : moved lines on one side that are compared one by one with the other side.
    out : candidates x groups x sets.
    """
    ends, weights, distinct, seats = strata.ends, strata.weights, strata.distinct, strata.seats
    n_distinct, negatives, positives = strata.n_distinct, strata.negatives, strata.positives
    unit_pointers, members, first = units.pointers, units.members, entries.first
    n_lines, n_groups = seats.shape
    seat = np.full(n_lines, -1, np.int64)
    found = np.empty(n_lines, np.int64)
    moves = np.empty((n_groups, n_lines), np.int64)
    room = np.zeros((6, n_lines + 1), np.int64)
    for j in range(lo, hi):
        unit = candidates[j]
        n_moved = gather(unit, units, entries, sign, seat, found, moves)
        f = members[unit_pointers[unit]]
        alike = unit_pointers[unit + 1] - unit_pointers[unit] == 1 and first[f + 1] - first[f] == 1
        q = 0
        for s in range(ends.size):
            start = q
            while q < n_moved and found[q] < ends[s]:
                q += 1
            base = (ends[s - 1] if s > 0 else 0) + s
            for g in range(n_groups):
                n_scores = n_distinct[g, s]
                scores = distinct[g, base : base + n_scores]
                neg = negatives[g, base : base + n_scores + 1]
                pos = positives[g, base : base + n_scores + 1]
                change = 0
                if q > start and alike:
                    by = moves[g, start]
                    if by != 0:
                        change = _alike(
                            found, seats, g, weights, start, q, n_scores, by, scores, neg, pos, room
                        )
                elif q > start:
                    change = _unlike(
                        found,
                        seats,
                        g,
                        weights,
                        start,
                        q,
                        n_scores,
                        moves[g],
                        scores,
                        neg,
                        pos,
                        room,
                        few,
                    )
                out[j, g, s] = change
