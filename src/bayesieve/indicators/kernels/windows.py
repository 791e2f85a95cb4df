"""Kernels of window tests: U, KS and F at every position; and runs that confirm them."""

import math

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT, F_TEST, KS_TEST, U_TEST


@njit(**EXACT)
def _pairs(value, others):
    """Twice the number of others below the value, ties counting once."""
    twice = 0
    for other in others:
        twice += np.int64(value > other) + np.int64(value >= other)
    return twice


@njit(**EXACT)
def _tie_term(window):
    """Sum of t^3 - t over groups of t equal values."""
    ordered = np.sort(window)
    total = 0.0
    run = 1
    for i in range(1, ordered.size + 1):
        if i < ordered.size and ordered[i] == ordered[i - 1]:
            run += 1
        else:
            total += float(run) ** 3 - run
            run = 1
    return total


@njit(**EXACT)
def u_probability(larger, half, ties):
    """Two-sided p-value of twice the larger Mann-Whitney statistic, normal approximation."""
    n = 2 * half
    spread = math.sqrt(half * half / 12.0 * ((n + 1) - ties / (n * (n - 1.0))))
    if not spread > 0.0:
        return 1.0
    z = (larger / 2.0 - half * half / 2.0 - 0.5) / spread
    return min(1.0, math.erfc(z / math.sqrt(2.0)))


@njit(**EXACT)
def u_statistics(x, half, out):
    """Twice the larger Mann-Whitney statistic at every break.

    It is kept as an integer and updated when the window moves: one point leaves each sample, one
    joins it.
    """
    twice = 0
    for i in range(half):
        twice += _pairs(x[i], x[half : 2 * half])
    for t in range(half, x.size - half + 1):
        out[t - half] = max(twice, 2 * half * half - twice)
        if t + half < x.size:
            # x[t - half] leaves the left sample, x[t] changes sides, x[t + half] joins the right.
            left, right = x[t - half + 1 : t], x[t + 1 : t + half]
            twice -= _pairs(x[t - half], right)
            twice -= np.int64(x[t - half] > x[t]) + np.int64(x[t - half] >= x[t])
            twice -= 2 * left.size - _pairs(x[t], left)
            twice += _pairs(x[t], right)
            twice += 2 * left.size - _pairs(x[t + half], left)
            twice += np.int64(x[t] > x[t + half]) + np.int64(x[t] >= x[t + half])


@njit(**EXACT)
def replace_sorted(ordered, gone, come):
    """Take one value out of a sorted array and put another in."""
    i = np.searchsorted(ordered, gone)
    if come >= gone:
        while i + 1 < ordered.size and ordered[i + 1] < come:
            ordered[i] = ordered[i + 1]
            i += 1
    else:
        while i > 0 and ordered[i - 1] > come:
            ordered[i] = ordered[i - 1]
            i -= 1
    ordered[i] = come


@njit(**EXACT)
def ks_values(x, half, probability, out):
    """Two-sided exact p-values of the Kolmogorov-Smirnov test at every break.

    Both samples have the same size, so the statistic is an integer over that size, and
    probability[h] is the chance of at least h.
    """
    left, right = np.sort(x[:half]), np.sort(x[half : 2 * half])
    for t in range(half, x.size - half + 1):
        i = j = apart = 0
        while i < half and j < half:
            a, b = left[i], right[j]
            if a < b:
                i += 1
            elif b < a:
                j += 1
            else:
                while i < half and left[i] == a:
                    i += 1
                while j < half and right[j] == a:
                    j += 1
            apart = max(apart, abs(i - j))
        out[t - half] = probability[apart]
        if t + half < x.size:
            replace_sorted(left, x[t - half], x[t])
            replace_sorted(right, x[t], x[t + half])


@njit(**EXACT)
def window_means(x, size):
    """Means of all stretches of some size; exact for equal values."""
    n = x.size - size + 1
    out = np.zeros(n)
    for i in range(size):
        for s in range(n):
            out[s] += x[s + i] - x[s]
    for s in range(n):
        out[s] = x[s] + out[s] / size
    return out


@njit(**EXACT)
def in_range(x):
    """The series itself, or scaled where its squares would overflow or vanish."""
    far = apart = 0
    for value in x:  # most series are told by this loop, which runs many values at a time
        far += np.int64(abs(value) > 1e99)
        apart += np.int64(abs(value - x[0]) > 1e-99)
    if far == 0 and apart > 0:
        return x
    size = 0.0
    for value in x:
        size = max(size, abs(value - x[0]), 1e-300 * abs(value))
    if size == 0.0 or 1e-100 < size < 1e100:
        return x
    scale = np.abs(x).max() if size > 1e100 else size
    return x / scale


@njit(**EXACT)
def squares(x, size, shift, out):
    """Sums of squared deviations from the mean of all stretches of some size; 0 for equal values.

    In two passes.  All stretches advance together, each in its own order: that is as exact as one
    after the other, and much faster.
    """
    n = x.size - size + 1
    if n == 1:  # the same, without a loop over one stretch in every step
        mean = total = 0.0
        for value in x:
            mean += value - x[0]
        mean /= x.size
        for value in x:
            apart = (value - x[0]) - mean
            total += apart * apart
        shift[0], out[0] = mean, total
        return
    shift[:n] = 0.0
    for i in range(size):
        for s in range(n):
            shift[s] += x[s + i] - x[s]
    for s in range(n):
        shift[s] /= size
    out[:n] = 0.0
    for i in range(size):
        for s in range(n):
            apart = (x[s + i] - x[s]) - shift[s]
            out[s] += apart * apart


@njit(**EXACT)
def f_probability(x, half, log_front):
    """Two-sided p-value of the smaller variance's share x of both: twice the tail of F.

    By the regularised incomplete beta function I_x(a, a) for x <= 1/2, as a continued fraction;
    `log_front` is log(1 / (a B(a, a))).
    """
    if x <= 0.0:
        return 0.0
    tiny, a = 1e-300, (half - 1) / 2.0
    front = math.exp(log_front + a * math.log(x) + a * math.log1p(-x))
    c = 1.0
    d = 1.0 - 2.0 * a * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 500):
        for odd in range(2):
            if odd == 0:
                step = m * (a - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
            else:
                step = -(a + m) * (2.0 * a + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
            d = 1.0 + step * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + step / c
            c = c if abs(c) > tiny else tiny
            fraction *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return min(1.0, 2.0 * (front * fraction))


@njit(**EXACT)
def f_statistics(x, half, shift, within, out):
    """The smaller variance's share of both at every break; 1 where neither sample varies.

    With equal sizes the larger over the smaller variance decides.
    """
    x = in_range(x)
    squares(x, half, shift, within)
    for t in range(x.size - 2 * half + 1):
        one, other = within[t], within[t + half]
        larger, smaller = max(one, other), min(one, other)
        out[t] = smaller / (smaller + larger) if larger != 0.0 else 1.0


@njit(**EXACT)
def p_values(kind, x, half, has_ties, ks_tables, fronts, out):
    """Two-sided p-values of one test at every break of one series."""
    if kind == U_TEST:
        u_statistics(x, half, out)
        for t in range(out.size):
            ties = _tie_term(x[t : t + 2 * half]) if has_ties else 0.0
            out[t] = u_probability(out[t], half, ties)
    elif kind == KS_TEST:
        ks_values(x, half, ks_tables[half], out)
    else:
        f_statistics(x, half, np.empty(x.size), np.empty(x.size), out)
        for t in range(out.size):
            out[t] = f_probability(out[t], half, fronts[half]) if out[t] <= 0.5 else 1.0


@njit(**EXACT)
def any_ties(x):
    """Does a value occur twice?"""
    ordered = np.sort(x)
    return bool((ordered[1:] == ordered[:-1]).any())


# -- Scores over successive windows of many series -------------------------------------------------


# A share of variances this near to a critical value is settled by its p-value.
_DOUBT = 1e-6

# Levels below this are, too: there p-values underflow, and critical values lose digits.
_TINY = 1e-12


@njit(**EXACT)
def _ks_statistics(x, half, values, sides, out):
    """Kolmogorov-Smirnov statistics, times the sample size, at every break of series without ties.

    The window is kept sorted, each point with its side: the running sum of the sides is the
    difference of the two distribution functions.
    """
    n = 2 * half
    order = np.argsort(x[:n])
    for i in range(n):
        values[i] = x[order[i]]
        sides[i] = 1 if order[i] < half else -1
    for t in range(half, x.size - half + 1):
        run = high = low = 0
        for i in range(n):
            run += sides[i]
            high = max(high, run)
            low = min(low, run)
        out[t - half] = max(high, -low)
        if t + half < x.size:
            sides[np.searchsorted(values[:n], x[t])] = 1
            _swap(values[:n], sides, x[t - half], x[t + half])


@njit(**EXACT)
def _swap(values, sides, gone, come):
    """Take a value out of a sorted array and put another in, on the right side."""
    i = np.searchsorted(values, gone)
    if come > gone:
        while i + 1 < values.size and values[i + 1] < come:
            values[i], sides[i] = values[i + 1], sides[i + 1]
            i += 1
    else:
        while i > 0 and values[i - 1] > come:
            values[i], sides[i] = values[i - 1], sides[i - 1]
            i -= 1
    values[i], sides[i] = come, -1


@njit(**EXACT)
def _code_of(p, levels):
    """Number of levels below a p-value."""
    below = 0
    for level in levels:
        below += np.int64(level < p)
    return below


@njit(**EXACT)
def _f_codes(shares, half, most, levels, log_front, codes):
    """Codes of the F test, which rejects shares up to about `most`, one a level."""
    for t in range(shares.size):
        share = shares[t]
        below, doubts = 0, 0
        for i in range(levels.size):
            below += np.int64(share > most[i])
            near = abs(share - most[i]) <= _DOUBT * most[i]
            doubts += np.int64(near or levels[i] < _TINY)
        if share > 0.5:  # neither sample varies
            below = _code_of(1.0, levels)
        elif doubts:
            below = _code_of(f_probability(share, half, log_front), levels)
        codes[t] = below


@njit(**EXACT)
def window_codes(kind, x, half, has_ties, levels, tables, scratch, codes):
    """Codes of one test at every break of one series.

    tables: p-values of KS, beta factors of F, and for each test critical values by half and level.
    """
    probabilities, fronts, critical = tables
    statistics = scratch[0, : codes.size]
    if kind == F_TEST:
        f_statistics(x, half, scratch[1], scratch[2], statistics)
        _f_codes(statistics, half, critical[kind, half], levels, fronts[half], codes)
    elif has_ties:
        p_values(kind, x, half, has_ties, probabilities, fronts, statistics)
        for t in range(codes.size):
            codes[t] = _code_of(statistics[t], levels)
    else:
        if kind == U_TEST:
            u_statistics(x, half, statistics)
        else:
            _ks_statistics(x, half, scratch[1], np.empty(2 * half, np.int64), statistics)
        for t in range(codes.size):  # a level rejects from its least statistic on
            below = 0
            for least in critical[kind, half]:
                below += np.int64(statistics[t] < least)
            codes[t] = below


@njit(**EXACT)
def critical_values(probabilities, half, levels, out):
    """Least statistics that U and KS reject at each level; F's are not found here."""
    for i in range(levels.size):
        # Twice the least statistic of two samples without ties.
        low, high = half * half, 2 * half * half + 1  # high: none
        while low < high:
            middle = (low + high) // 2
            if u_probability(float(middle), half, 0.0) <= levels[i]:
                high = middle
            else:
                low = middle + 1
        out[U_TEST, half, i] = low
        least = 0
        while least <= half and probabilities[half, least] > levels[i]:
            least += 1
        out[KS_TEST, half, i] = least


@njit(**EXACT)
def _confirm(codes, most, spans, out):
    """Share of rejections, longest run of them, and most of them in any span, for one level.

    A window rejects whose code is at most `most`.
    """
    rejected = run = longest = 0
    for i in range(codes.size):
        rejects = np.int64(codes[i] <= most)
        rejected += rejects
        run = (run + 1) * rejects
        longest = max(longest, run)
    out[0] = rejected / codes.size
    out[1] = longest
    for s in range(spans.size):
        span = min(spans[s], codes.size)
        inside = 0
        for i in range(span):
            inside += np.int64(codes[i] <= most)
        found = inside
        for i in range(span, codes.size):
            inside += np.int64(codes[i] <= most) - np.int64(codes[i - span] <= most)
            found = max(found, inside)
        out[2 + s] = found


@njit(**EXACT)
def confirmatory_scores(values, pointers, halves, kinds, levels, order, spans, tables, lo, hi, out):
    """Scores of series lo..hi: out[series - lo, test, window, level, confirmation].

    halves[series, window] is the number of points on each side of a break; 0 where the series has
    no such window, or a value that is not finite.  Its scores are NaN.  The levels are sorted;
    order[i] is where the i-th of them stands in `out`.
    """
    scratch = np.empty((3, 1))
    codes = np.empty(1, np.int64)
    for j in range(lo, hi):
        x = values[pointers[j] : pointers[j + 1]]
        mine = out[j - lo]
        mine[:] = np.nan
        if halves[j].max() == 0:
            continue
        if codes.size < x.size:
            scratch = np.empty((3, x.size))
            codes = np.empty(x.size, np.int64)
        has_ties = any_ties(x)
        for w in range(halves.shape[1]):
            half = halves[j, w]
            if half == 0:
                continue
            breaks = codes[: x.size - 2 * half + 1]
            for k in range(kinds.size):
                window_codes(kinds[k], x, half, has_ties, levels, tables, scratch, breaks)
                for i in range(levels.size):
                    _confirm(breaks, i, spans, mine[k, w, order[i]])
