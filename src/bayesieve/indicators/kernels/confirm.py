"""Scores over successive windows of many series: at which levels does each window reject?

A window's *code* is the number of levels below its p-value.  It is found from the statistic and
the critical value of each level, without the p-value wherever that cannot differ.
"""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT, F_TEST, KS_TEST, U_TEST
from .windows import any_ties, f_probability, f_statistics, p_values, u_probability, u_statistics

# A share of variances this near to a critical value is settled by its p-value.
_DOUBT = 1e-6


# Levels below this are, too: there p-values underflow, and critical values lose digits.
_TINY = 1e-12


@njit(**EXACT)
def least_u(half, level):
    """Twice the least statistic of two samples without ties that the U test rejects."""
    low, high = half * half, 2 * half * half + 1  # high: none
    while low < high:
        middle = (low + high) // 2
        if u_probability(float(middle), half, 0.0) <= level:
            high = middle
        else:
            low = middle + 1
    return low


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
def _codes_by_least(statistics, least, codes):
    """Codes where a level rejects from its least statistic on."""
    for t in range(statistics.size):
        below = 0
        for value in least:
            below += np.int64(statistics[t] < value)
        codes[t] = below


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
        _codes_by_least(statistics, critical[kind, half], codes)


@njit(**EXACT)
def critical_values(probabilities, half, levels, out):
    """Least statistics that U and KS reject at each level; F's are not found here."""
    for i in range(levels.size):
        out[U_TEST, half, i] = least_u(half, levels[i])
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
