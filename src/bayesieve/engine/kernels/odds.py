"""Error, probability and log-likelihood of sparse ledgers: one pass over scores, then the moves."""

import numpy as np
from numba import njit

from ...data.kernels.exact import FAR, exp_fixed, log_fixed
from ...data.kernels.options import ERROR, EXACT, PROBABILITY
from .moves import gather


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
