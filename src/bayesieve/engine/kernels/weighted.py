"""Kernels of weighted terms: posteriors, sums by code, Newton steps, interactions."""

import numpy as np
from numba import njit

from ...data.kernels.exact import FAR, exp_fixed, log_fixed, logs_from_one
from ...data.kernels.options import EXACT, POSTERIOR_BITS


@njit(**EXACT)
def _spread(counts, total):
    """Entropy of counts, in nat, and how many of them are not 0."""
    found, seen = 0.0, 0
    for c in range(counts.size):
        if counts[c] > 0:
            number = np.float64(counts[c])
            found += number * log_fixed(number)
            seen += 1
    return log_fixed(total) - found / total, seen


@njit(**EXACT)
def _information(counts, by_cell, by_class):
    """What cells tell of classes, less what chance would make of as many cells."""
    by_cell[:] = 0
    by_class[:] = 0
    for c in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            by_cell[c] += counts[c, k]
            by_class[k] += counts[c, k]
    total = np.float64(by_class.sum())
    classes, _ = _spread(by_class, total)
    one, seen = _spread(by_cell, total)
    both, _ = _spread(counts.ravel(), total)
    chance = np.float64((seen - 1) * (counts.shape[1] - 1)) / (2.0 * total)
    return classes + one - both - chance


@njit(**EXACT)
def _count(columns, n_groups, labels, weights, a, b, counts):
    """Weight of the rows by cell of two columns and class, added to what is there."""
    wide = n_groups[b]
    silent = counts.shape[0] - 1
    for i in range(labels.size):
        cell, other = np.int64(columns[a, i]), np.int64(columns[b, i])
        if cell == n_groups[a] or other == wide:
            cell = silent
        else:
            cell = cell * wide + other
        counts[cell, labels[i]] += weights[i]


@njit(**EXACT)
def count_cells(columns, n_groups, labels, weights, n_classes, first, second, ends, lo, hi, out):
    """Counts of pairs of columns, end to end: those of pair p, cells x classes, from ends[p] on.

    Parameters
    ----------
    columns : coarse codes, columns x rows; n_groups[j] is the silent one.
    out : added to.
    """
    for p in range(lo, hi):
        counts = out[ends[p] : ends[p + 1]].reshape(-1, n_classes)
        _count(columns, n_groups, labels, weights, first[p], second[p], counts)


@njit(**EXACT)
def informations_of(counts, ends, n_classes, lo, hi, out):
    """Information of counts, cells x classes, that lie end to end."""
    for p in range(lo, hi):
        mine = counts[ends[p] : ends[p + 1]].reshape(-1, n_classes)
        n_cells = mine.shape[0]
        out[p] = _information(mine, np.empty(n_cells, np.int64), np.empty(n_classes, np.int64))


@njit(**EXACT)
def informations(columns, n_groups, labels, weights, n_classes, first, second, lo, hi, out):
    """Information of pairs of columns about the classes.

    Parameters
    ----------
    columns : coarse codes, columns x rows; n_groups[j] is the silent one.
    """
    for p in range(lo, hi):
        a, b = first[p], second[p]
        n_cells = n_groups[a] * n_groups[b] + 1
        counts = np.zeros((n_cells, n_classes), np.int64)
        _count(columns, n_groups, labels, weights, a, b, counts)
        out[p] = _information(counts, np.empty(n_cells, np.int64), np.empty(n_classes, np.int64))


# -- Newton steps of weights from sums by code -----------------------------------------------------


_MOST_ROUNDS = 50
_CLOSE = 1e-4


@njit(**EXACT)
def slope_and_curve(sums, table, own, full, scale, unit, slope, curve):
    """Gradient and curvature of the log-likelihood in the weights of one term.

    Parameters
    ----------
    sums : codes x (planes + classes), as the ledger adds them up.
    table, own : terms and what leaving the line out adds to them, codes x classes, in whole units.
    full : products of posteriors are among the planes; else a diagonal above the curvature.
    scale, unit : what one of the sums, and one of the terms, is.
    """
    n_codes, n_classes = table.shape
    slope[:] = 0.0
    curve[:] = 0.0
    for c in range(n_codes):
        last = np.int64(0)
        at = n_classes - 1
        for k in range(n_classes):
            if k < n_classes - 1:
                left = sums[c, k]
                last -= left
            else:
                left = last
            term = np.float64(table[c, k]) * unit
            slope[k] += np.float64(left) * scale * term
            kept = np.float64(sums[c, sums.shape[1] - n_classes + k]) * scale
            slope[k] += kept * (np.float64(own[c, k]) * unit)
            if full:
                for r in range(k + 1, n_classes):
                    other = np.float64(table[c, r]) * unit
                    both = np.float64(sums[c, at]) * scale
                    at += 1
                    curve[k, r] -= both * term * other
                    curve[k, k] += both * term * term
                    curve[r, r] += both * other * other
            else:
                curve[k, k] += np.float64(sums[c, at]) * scale * term * term
                at += 1
    for k in range(n_classes):
        for r in range(k):
            curve[k, r] = curve[r, k]


@njit(**EXACT)
def best_step(slope, curve, now, ridge, step):
    """The step within 0..1 that gains most by a quadratic model with a ridge; its gain."""
    n_classes = slope.size
    pull = np.empty(n_classes)
    for k in range(n_classes):
        pull[k] = slope[k] - ridge * now[k]
        step[k] = 0.0
    for _ in range(_MOST_ROUNDS):
        largest = 0.0
        for k in range(n_classes):
            left = pull[k]
            for r in range(n_classes):
                left -= curve[k, r] * step[r]
            left -= ridge * step[k]
            steep = curve[k, k] + ridge + 1e-6
            new = min(max(step[k] + left / steep, -now[k]), 1.0 - now[k])
            largest = max(largest, abs(new - step[k]))
            step[k] = new
        if largest < _CLOSE:
            break
    gain = 0.0
    for k in range(n_classes):
        gain += pull[k] * step[k]
        for r in range(n_classes):
            gain -= 0.5 * step[k] * curve[k, r] * step[r]
        gain -= 0.5 * ridge * step[k] * step[k]
    return gain


@njit(**EXACT)
def gains(sums, at, tables, owns, first, n_codes, full, scale, unit, ridge, lo, hi, out, moved):
    """Gain of each term that is not in yet: sums from at[j] on, tables from row first[j] on.

    Parameters
    ----------
    out : gain of each term.
    moved : the slope of each fold along the term's step, terms x folds, where a term has codes of
        several folds, one below the other; without folds, terms x 0.
    """
    n_classes, n_folds = tables.shape[1], moved.shape[1]
    width = n_classes - 1 + n_classes
    width += n_classes * (n_classes - 1) // 2 if full else n_classes
    slope, curve = np.empty(n_classes), np.empty((n_classes, n_classes))
    nothing, step = np.zeros(n_classes), np.empty(n_classes)
    for j in range(lo, hi):
        n = n_codes[j]
        mine = sums[at[j] : at[j] + n * width].reshape(n, width)
        rows = slice(first[j], first[j] + n)
        slope_and_curve(mine, tables[rows], owns[rows], full, scale, unit, slope, curve)
        out[j] = best_step(slope, curve, nothing, ridge, step)
        n_each = n // max(n_folds, 1)
        for f in range(n_folds):
            begin = first[j] + f * n_each
            rows = slice(begin, begin + n_each)
            part = mine[f * n_each : (f + 1) * n_each]
            slope_and_curve(part, tables[rows], owns[rows], full, scale, unit, slope, curve)
            moved[j, f] = 0.0
            for k in range(n_classes):
                moved[j, f] += slope[k] * step[k]


@njit(**EXACT)
def constants_step(totals, full, scale, ridge, step):
    """Newton step of the constants; from sums by true class, in whole units of `scale`."""
    n_classes = step.size
    left = np.zeros(n_classes)
    curve = np.zeros((n_classes, n_classes))
    for k in range(n_classes - 1):
        total = np.int64(0)
        for y in range(totals.shape[0]):
            total += totals[y, k]
        left[k] = np.float64(total) * scale
        left[n_classes - 1] -= left[k]
    at = n_classes - 1
    for k in range(n_classes):
        for r in range(k + 1 if full else k, n_classes if full else k + 1):
            total = np.int64(0)
            for y in range(totals.shape[0]):
                total += totals[y, at]
            at += 1
            both = np.float64(total) * scale
            if full:
                curve[k, r] -= both
                curve[r, k] -= both
                curve[r, r] += both
            curve[k, k] += both
    for k in range(n_classes):
        curve[k, k] += ridge
    # Symmetric and positive: elimination needs no pivot.
    for k in range(n_classes):
        for r in range(k + 1, n_classes):
            share = curve[r, k] / curve[k, k]
            if share == 0.0:  # always, but beside products of posteriors
                continue
            for e in range(k, n_classes):
                curve[r, e] -= share * curve[k, e]
            left[r] -= share * left[k]
    for k in range(n_classes - 1, -1, -1):
        found = left[k]
        for r in range(k + 1, n_classes):
            found -= curve[k, r] * step[r]
        step[k] = found / curve[k, k]


# -- Posteriors in fixed point, what they add up to by code, and weighted terms that move ----------


#: Lines whose posteriors are summed in 32 bits: RUN x 2^POSTERIOR_BITS < 2^31.
RUN = 256

_ONE = 2.0**POSTERIOR_BITS


@njit(**EXACT)
def count_planes(n_classes, full):
    """How many numbers of a line a scan adds up.

    For all classes but the last: what is to be explained, Y - P.  Then products of the posteriors
    of two classes (`full`), or the posteriors of all classes.
    """
    if full:
        return n_classes - 1 + n_classes * (n_classes - 1) // 2
    return 2 * n_classes - 1


@njit(**EXACT)
def _posteriors(sums, unit, at, n, best, odds, total):
    """Posteriors of n lines, how much the odds of all classes come to, and the best scores."""
    n_classes = sums.shape[0]
    best[:n] = sums[0, at : at + n]
    for k in range(1, n_classes):
        line = sums[k, at : at + n]
        for i in range(line.size):
            best[i] = max(best[i], line[i])
    total[:] = 0.0
    for k in range(n_classes):
        line, mine = sums[k, at : at + n], odds[k, :n]
        for i in range(line.size):
            apart = np.float64(best[i] - line[i]) * unit
            found = exp_fixed(-min(apart, FAR))
            mine[i] = found if apart <= FAR else 0.0
            total[i] += mine[i]
    for k in range(n_classes):
        mine = odds[k, :n]
        for i in range(mine.size):
            mine[i] /= total[i]


@njit(**EXACT)
def respond(sums, unit, starts, weights, full, grain, lo, hi, planes, own, losses):
    """Planes, own residuals and losses of the runs lo..hi of lines.

    Parameters
    ----------
    sums, unit : scores, classes x lines, and what one is in nat.
    starts : first line of each true class, and the number of lines.
    weights : how often each line counts; empty where every line counts once.
    full : products of posteriors, or the posteriors themselves.
    grain : losses are rounded to 1 / grain nat.
    planes, own : planes x lines, and 1 - P(own class) of each line; overwritten.
    losses : loss of each run; overwritten.
    """
    n_classes, n_lines = sums.shape
    last = n_classes - 1
    best, total = np.empty(RUN, np.int64), np.empty(RUN)
    odds, logs, scratch = np.empty((n_classes, RUN)), np.empty(RUN), np.empty(RUN)
    whole = np.empty((n_classes, RUN), np.int32)
    for run in range(lo, hi):
        at = run * RUN
        n = min(n_lines - at, RUN)
        _posteriors(sums, unit, at, n, best, odds, total)
        rest = whole[last, :n]
        rest[:] = 1 << POSTERIOR_BITS
        for k in range(last):
            chances, mine, plane = odds[k, :n], whole[k, :n], planes[k, at : at + n]
            for i in range(mine.size):
                found = np.int32(chances[i] * _ONE + 0.5)
                mine[i] = found
                rest[i] = np.int32(rest[i] - found)
                plane[i] = -found
        q = last
        for k in range(n_classes):
            one = odds[k, :n]
            if not full:
                planes[q, at : at + n] = whole[k, :n]
                q += 1
                continue
            for r in range(k + 1, n_classes):
                two, plane = odds[r, :n], planes[q, at : at + n]
                for i in range(plane.size):
                    plane[i] = np.int32(one[i] * two[i] * _ONE + 0.5)
                q += 1
        logs_from_one(total[:n], n_classes, scratch, logs)
        losses[run] = _own_class(
            sums, unit, starts, weights, grain, at, best, logs, whole, planes, own
        )
        if weights.size:
            for q in range(planes.shape[0]):
                planes[q, at : at + n] *= weights[at : at + n]


@njit(**EXACT)
def _own_class(sums, unit, starts, weights, grain, at, best, logs, whole, planes, own):
    """What depends on the true class of a run of lines: residuals, and the loss, returned."""
    n_classes, n_lines = sums.shape
    loss = np.int64(0)
    end = min(at + RUN, n_lines)
    for y in range(n_classes):
        for i in range(max(starts[y], at), min(starts[y + 1], end)):
            own[i] = (1 << POSTERIOR_BITS) - whole[y, i - at]
            if y < n_classes - 1:
                planes[y, i] += 1 << POSTERIOR_BITS
            nat = np.float64(best[i - at] - sums[y, i]) * unit + logs[i - at]
            row = np.int64(nat * grain + 0.5)
            if weights.size:
                own[i] *= weights[i]
                row *= weights[i]
            loss += row
    return loss


@njit(**EXACT)
def turn(planes, lo, hi, rows):
    """Planes x lines as lines x planes, for columns of many values."""
    for i in range(lo, hi):
        # Reads are gathered, writes lie together: the other way round takes three times as long.
        row = rows[i]
        for q in range(planes.shape[0]):
            row[q] = planes[q, i]


@njit(**EXACT)
def add_up(planes, own, starts, out):
    """Sums of planes and of own residuals of all lines of each true class: classes x planes + 1."""
    out[:] = 0
    for y in range(starts.size - 1):
        for q in range(planes.shape[0]):
            total = np.int64(0)
            for i in range(starts[y], starts[y + 1]):
                total += planes[q, i]
            out[y, q] = total
        total = np.int64(0)
        for i in range(starts[y], starts[y + 1]):
            total += own[i]
        out[y, planes.shape[0]] = total


@njit(**EXACT)
def slopes_of_two(codes, which, planes, own, starts, totals, lo, hi, out):
    """Sums by code of columns that hold 0 and 1 only: columns x codes x (planes + classes).

    Every line counts once: planes have 32 bits.  What code 1 has is added up; code 0 has the rest.
    """
    n_planes, n_lines = planes.shape
    masks, whole = np.empty(RUN, np.int32), np.zeros(n_planes, np.int64)
    out[lo:hi] = 0
    y = 0  # the class of a run's first line: many classes have many to a run
    for at in range(0, n_lines, RUN):
        n = min(n_lines - at, RUN)
        for j in range(lo, hi):
            column, mask = codes[which[j], at : at + n], masks[:n]
            for i in range(mask.size):
                mask[i] = -np.int32(column[i])
            for q in range(n_planes):
                out[j, 1, q] += _masked(mask, planes[q, at : at + n])
            here = y
            while here < starts.size - 1 and starts[here] < at + n:
                top, end = max(starts[here], at), min(starts[here + 1], at + n)
                out[j, 1, n_planes + here] += _masked(mask[top - at : end - at], own[top:end])
                here += 1
        while y < starts.size - 1 and starts[y + 1] <= at + n:
            y += 1
    for y in range(starts.size - 1):
        for q in range(n_planes):
            whole[q] += totals[y, q]
    for j in range(lo, hi):
        for y in range(starts.size - 1):
            out[j, 0, n_planes + y] = totals[y, n_planes] - out[j, 1, n_planes + y]
        for q in range(n_planes):
            out[j, 0, q] = whole[q] - out[j, 1, q]


@njit(**EXACT)
def _masked(mask, plane):
    """Sum over a run of lines, in 32 bits."""
    total = np.int32(0)
    for i in range(plane.size):
        total = np.int32(total + (mask[i] & plane[i]))
    return total


@njit(**EXACT)
def slopes_by_code(column, rows, own, starts, first, last, out):
    """Gradient sums of a column by code: add lines first:last to codes x (planes + classes)."""
    n_planes = rows.shape[1]
    for y in range(starts.size - 1):
        for i in range(max(starts[y], first), min(starts[y + 1], last)):
            sums, line = out[column[i]], rows[i]
            for q in range(n_planes):
                sums[q] += line[q]
            sums[n_planes + y] += own[i]


@njit(**EXACT)
def slopes_of_present(pointers, lines, which, rows, own, labels, totals, lo, hi, out):
    """Gradient sums of sparse columns by presence: entries are code 1, all other lines code 0."""
    n_planes = rows.shape[1]
    out[lo:hi] = 0
    for j in range(lo, hi):
        sums = out[j, 1]
        for e in range(pointers[which[j]], pointers[which[j] + 1]):
            i = lines[e]
            for q in range(n_planes):
                sums[q] += rows[i, q]
            sums[n_planes + labels[i]] += own[i]
        for y in range(totals.shape[0]):
            for q in range(n_planes):
                out[j, 0, q] += totals[y, q]
            out[j, 0, n_planes + y] = totals[y, n_planes] - sums[n_planes + y]
        for q in range(n_planes):
            out[j, 0, q] -= sums[q]


@njit(**EXACT)
def apply_weighted(column, table, own, steps, starts, first, last, sums):
    """Add steps[k] x term to the scores of the lines first:last; a line's own class is left out."""
    n_codes = table.shape[0]
    moved, mine = np.empty(n_codes, np.int64), np.empty(n_codes, np.int64)
    for k in range(steps.size):
        if steps[k] == 0:
            continue
        for c in range(n_codes):
            moved[c] = steps[k] * table[c, k]
            mine[c] = moved[c] + steps[k] * own[c, k]
        top, end = min(max(starts[k], first), last), max(min(starts[k + 1], last), first)
        _add_by_code(column, moved, first, top, sums[k])
        _add_by_code(column, mine, top, end, sums[k])
        _add_by_code(column, moved, max(top, end), last, sums[k])


@njit(**EXACT)
def _add_by_code(column, moved, first, last, line):
    """Add what a code is moved by to the lines first:last."""
    codes, sums = column[first:last], line[first:last]
    for i in range(sums.size):
        sums[i] += moved[codes[i]]


@njit(**EXACT)
def apply_present(lines, table, own, steps, labels, starts, sums):
    """Raise the weights of a sparse column: all lines by code 0, its entries by the difference."""
    for k in range(steps.size):
        if steps[k] != 0:
            for y in range(starts.size - 1):
                move = steps[k] * (table[0, k] + (own[0, k] if k == y else 0))
                for i in range(starts[y], starts[y + 1]):
                    sums[k, i] += move
            apart = steps[k] * (table[1, k] - table[0, k])
            more = apart + steps[k] * (own[1, k] - own[0, k])
            for e in range(lines.size):
                sums[k, lines[e]] += more if labels[lines[e]] == k else apart


# -- Corrections: one step of every table, drawn to its neighbours ---------------------------------


@njit(**EXACT)
def relax(gradient, curve, ends, inner, along, across, ridge, out):
    """Each table's own step: its curvature and penalty, solved or nearly so, class by class.

    A column's neighbours are a chain, solved exactly; a pair's are a grid, on which one sweep forth
    and one back stand in for the solution.

    Parameters
    ----------
    gradient, curve : codes x classes of all tables, one below the other; ends[t] begins table t.
    inner : groups of a pair's second column; 1 for columns.
    along, across : how neighbours are drawn together, along a column or a pair's first column, and
        along its second one.
    ridge : how every code is drawn to 0.
    out : overwritten.
    """
    n_classes = gradient.shape[1]
    for t in range(ends.size - 1):
        lo, hi = ends[t], ends[t + 1]
        wide, one, two, own = inner[t], along[t], across[t], ridge[t]
        if wide == 1:
            _solve_chain(gradient[lo:hi], curve[lo:hi], one, own, out[lo:hi])
            continue
        steep = np.empty(hi - lo)
        for k in range(n_classes):
            for c in range(lo, hi):
                place = c - lo
                steep[place] = curve[c, k] + own
                steep[place] += one * (np.int64(c - wide >= lo) + np.int64(c + wide < hi))
                steep[place] += two * (
                    np.int64(place % wide > 0) + np.int64(place % wide < wide - 1)
                )
            # Forth: (D + L) u = gradient; back: (D + L') step = D u.
            for c in range(lo, hi):
                found = gradient[c, k]
                if c - wide >= lo:
                    found += one * out[c - wide, k]
                if (c - lo) % wide > 0:
                    found += two * out[c - 1, k]
                out[c, k] = found / steep[c - lo]
            for c in range(hi - 1, lo - 1, -1):
                found = 0.0
                if c + wide < hi:
                    found += one * out[c + wide, k]
                if (c - lo) % wide < wide - 1:
                    found += two * out[c + 1, k]
                out[c, k] += found / steep[c - lo]


@njit(**EXACT)
def _solve_chain(gradient, curve, along, ridge, out):
    """A chain of neighbours, by elimination."""
    n_codes, n_classes = gradient.shape
    after = np.empty(n_codes)
    for k in range(n_classes):
        for c in range(n_codes):
            steep = curve[c, k] + ridge + along * (np.int64(c > 0) + np.int64(c < n_codes - 1))
            found = gradient[c, k]
            if c > 0:
                steep -= along * after[c - 1]
                found += along * out[c - 1, k]
            after[c] = along / steep
            out[c, k] = found / steep
        for c in range(n_codes - 2, -1, -1):
            out[c, k] += after[c] * out[c + 1, k]


@njit(**EXACT)
def draw(tables, ends, inner, along, across, ridge, out):
    """The penalty's gradient at tables, one below the other; the penalty itself is returned."""
    n_classes = tables.shape[1]
    total = 0.0
    for t in range(ends.size - 1):
        lo, hi = ends[t], ends[t + 1]
        wide = inner[t]
        for c in range(lo, hi):
            for k in range(n_classes):
                here = tables[c, k]
                found = ridge[t] * here
                if c - wide >= lo:
                    found += along[t] * (here - tables[c - wide, k])
                if c + wide < hi:
                    found += along[t] * (here - tables[c + wide, k])
                if wide > 1 and (c - lo) % wide > 0:
                    found += across[t] * (here - tables[c - 1, k])
                if wide > 1 and (c - lo) % wide < wide - 1:
                    found += across[t] * (here - tables[c + 1, k])
                out[c, k] = found
                total += here * found
    return 0.5 * total


@njit(**EXACT)
def unexplained(sums, full, scale, left, curve):
    """What is unexplained by code, and the curvature of each class; from sums as ledgers give them.

    Parameters
    ----------
    sums : folds x codes x (planes + classes).
    left, curve : codes x classes; overwritten.
    """
    n_classes = left.shape[1]
    for c in range(left.shape[0]):
        left[c], curve[c] = 0.0, 0.0
        for f in range(sums.shape[0]):
            at = n_classes - 1
            for k in range(n_classes):
                if k < n_classes - 1:
                    some = np.float64(sums[f, c, k]) * scale
                    left[c, k] += some
                    left[c, n_classes - 1] -= some
                for r in range(k + 1 if full else k, n_classes if full else k + 1):
                    both = np.float64(sums[f, c, at]) * scale
                    curve[c, k] += both
                    if r != k:
                        curve[c, r] += both
                    at += 1


# Sweeps by which a table that may enter is corrected.
_SWEEPS = 8

# What chance gains by a correction, of its share that the penalty leaves free, in nat a cell.
_LUCK = 0.25


@njit(**EXACT)
def promise(left, curve, ends, inner, along, across, ridge):
    """What the best correction of one table gains by a quadratic model, less what chance would."""
    table, pull, step = np.zeros(left.shape), np.empty(left.shape), np.empty(left.shape)
    for _ in range(_SWEEPS):
        draw(table, ends, inner, along, across, ridge, pull)
        relax(left - curve * table - pull, curve, ends, inner, along, across, ridge, step)
        table += step
    gain = -draw(table, ends, inner, along, across, ridge, pull)
    stiff = ridge[0] + 2.0 * along[0] + 2.0 * across[0]
    for c in range(left.shape[0]):
        for k in range(left.shape[1]):
            gain += table[c, k] * (left[c, k] - 0.5 * curve[c, k] * table[c, k])
            gain -= _LUCK * curve[c, k] / (curve[c, k] + stiff)
    return gain - _LUCK * left.shape[1]
