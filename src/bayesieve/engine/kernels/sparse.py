"""Kernels of sparse ledgers: moves, odds, and concordant pairs (AUC), exact in integers."""

import numpy as np
from numba import njit

from ...data.kernels.exact import FAR, exp_fixed, log_fixed
from ...data.kernels.options import ERROR, EXACT, PROBABILITY


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


# -- Error, probability and log-likelihood of sparse ledgers ---------------------------------------


@njit(**EXACT)
def line_value(kind, scores, own, unit, grain):
    """Loss of one line from its scores: wrong or not, P(Y != y) or -log P(Y = y), in grains.

    The same operations, in the same order, as in the kernels that handle many lines together.
    """
    if kind == ERROR:
        for k in range(scores.size):
            if scores[k] - scores[own] + (1 if k < own else 0) > 0:
                return 1
        return 0
    if kind == PROBABILITY:
        odds = 0.0
        for k in range(scores.size):
            if k != own:
                x = (scores[k] - scores[own]) * unit
                odds += exp_fixed(min(max(x, -FAR), FAR))
        return np.int64(np.floor(odds / (1.0 + odds) * grain + 0.5))
    top = 0.0
    for k in range(scores.size):
        top = max(top, (scores[k] - scores[own]) * unit)
    total = 0.0
    for k in range(scores.size):
        total += exp_fixed(max((scores[k] - scores[own]) * unit - top, -FAR))
    return np.int64(np.floor((top + log_fixed(total)) * grain + 0.5))


@njit(**EXACT)
def _odds_value(kind, odds, own, pair, unit, grain):
    """Loss of a line of a two-class problem from its log-odds."""
    pair[0], pair[1] = 0, odds
    return line_value(kind, pair, own, unit, grain)


@njit(**EXACT)
def scan_odds(kind, strata, entries, offset, units, candidates, sign, unit, grain, lo, hi, out):
    """Loss by class (0 and 1) and group when candidates lo..hi move, from log-odds.

    Lines of one score and class are handled together; then the moved lines are put right one by
    one.  Candidate -1 is the ledger as it is.  out: candidates x groups x 2.
    """
    ends, weights, distinct, seats = strata.ends, strata.weights, strata.distinct, strata.seats
    n_distinct, negatives, positives = strata.n_distinct, strata.negatives, strata.positives
    unit_pointers, members, base = units.pointers, units.members, entries.base
    n_lines, n_groups = seats.shape
    seat = np.full(n_lines, -1, np.int64)
    found = np.empty(n_lines, np.int64)
    moves = np.empty((n_groups, n_lines), np.int64)
    pair = np.empty(2, np.int64)
    for j in range(lo, hi):
        out[j] = 0
        n_moved = 0
        first_member = last_member = 0
        if candidates[j] >= 0:
            first_member = unit_pointers[candidates[j]]
            last_member = unit_pointers[candidates[j] + 1]
            n_moved = gather(candidates[j], units, entries, sign, seat, found, moves)
        for g in range(n_groups):
            q = 0
            for s in range(ends.size):
                at = (ends[s - 1] if s > 0 else 0) + s
                shift = offset[s, g]
                for m in range(first_member, last_member):
                    shift += sign * base[members[m], s, g]
                for u in range(at, at + n_distinct[g, s]):
                    neg = np.int64(negatives[g, u + 1]) - negatives[g, u]
                    pos = np.int64(positives[g, u + 1]) - positives[g, u]
                    odds = distinct[g, u] + shift
                    if neg:
                        out[j, g, 0] += neg * _odds_value(kind, odds, 0, pair, unit, grain)
                    if pos:
                        out[j, g, 1] += pos * _odds_value(kind, odds, 1, pair, unit, grain)
                while q < n_moved and found[q] < ends[s]:
                    i = found[q]
                    own = seats[i, g] & 1
                    odds = distinct[g, at + (seats[i, g] >> 1)] + shift
                    out[j, g, own] += weights[i] * (
                        _odds_value(kind, odds + moves[g, q], own, pair, unit, grain)
                        - _odds_value(kind, odds, own, pair, unit, grain)
                    )
                    q += 1


@njit(**EXACT)
def scan_classes(
    kind, sums, labels, weights, entries, offset, units, candidates, sign, unit, grain, lo, hi, out
):
    """Loss by true class when candidates lo..hi move: one pass over the lines, then the moved ones.

    Candidate -1 is the ledger as it is.  out: candidates x classes.
    """
    unit_pointers, members = units.pointers, units.members
    sets, base = entries.sets, entries.base
    n_classes, n_lines = sums.shape
    seat = np.full(n_lines, -1, np.int64)
    found = np.empty(n_lines, np.int64)
    moves = np.empty((n_classes, n_lines), np.int64)
    work = np.empty(n_classes, np.int64)
    shift = np.empty_like(offset)
    for j in range(lo, hi):
        out[j] = 0
        n_moved = 0
        shift[:] = offset
        if candidates[j] >= 0:
            n_moved = gather(candidates[j], units, entries, sign, seat, found, moves)
            for m in range(unit_pointers[candidates[j]], unit_pointers[candidates[j] + 1]):
                shift += sign * base[members[m]]
        q = 0
        for i in range(n_lines):
            for k in range(n_classes):
                work[k] = sums[k, i] + shift[sets[i], k]
            if q < n_moved and found[q] == i:
                for k in range(n_classes):
                    work[k] += moves[k, q]
                q += 1
            out[j, labels[i]] += weights[i] * line_value(kind, work, labels[i], unit, grain)


# -- Concordant pairs (AUC) after a move, from the moved lines alone -------------------------------


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
    """Change of the doubled pairs when every line moves by an amount of its own."""
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
