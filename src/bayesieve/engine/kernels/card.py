"""Kernels of cards: sums by code of what a line could gain."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT


@njit(**EXACT)
def sums_by_code(codes, parts, out):
    """Add up parts (rows x parts) by code of each column: columns x codes x parts.

    Parameters
    ----------
    codes : columns x rows.
    parts : whole numbers, so that the order of rows does not matter.
    out : added to.
    """
    for j in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            code = codes[j, i]
            for p in range(parts.shape[1]):
                out[j, code, p] += parts[i, p]


@njit(**EXACT)
def best_cuts(sums, seen, views, orders, ends, groups, signs, names, ridge, least, gain, place):
    """The best cut of a group of codes in each view of a column: the gain, and the last code below.

    Parameters
    ----------
    sums : of residuals and curvatures, columns x codes x (2 x logits).
    seen : weight of the rows, columns x codes.
    views, orders, ends : the column of each view, its codes group by group, and how many there are.
    groups : of codes, columns x codes.
    signs : of columns: the lower part must not be better (1) or worse (-1) than the upper; 0: free.
    least : weight of the rows that either side must have.
    names : log-factorials, for what it takes to name some of a group's levels; of views that are
        numbers, nothing is named (`signs` of 2 say so).
    """
    n = sums.shape[2] // 2
    low, total = np.empty(2 * n), np.empty(2 * n)
    for v in range(views.size):
        j, gain[v], place[v] = views[v], 0.0, -1
        first = 0
        while first < ends[v]:
            group = groups[j, orders[v, first]]
            last, rows = first, 0.0
            total[:] = 0.0
            while last < ends[v] and groups[j, orders[v, last]] == group:
                rows += seen[j, orders[v, last]]
                for p in range(2 * n):
                    total[p] += sums[j, orders[v, last], p]
                last += 1
            size, here = last - first, 0.0
            low[:] = 0.0
            for at in range(first, last - 1):
                code = orders[v, at]
                here += seen[j, code]
                for p in range(2 * n):
                    low[p] += sums[j, code, p]
                if here < least or rows - here < least or seen[j, code] <= 0.0:
                    continue
                found = 0.0
                for k in range(n):
                    share = low[n + k] / total[n + k] if total[n + k] > 0 else 0.0
                    step = low[k] - share * total[k]
                    if signs[j] * step > 0 and abs(signs[j]) == 1:
                        continue
                    found += step * step / (max(low[n + k] * (1 - share), 0.0) + ridge) / 2
                if n > 1:
                    found *= (n - 1) / n
                if signs[j] == 2:
                    some = at + 1 - first
                    named = names[size] - names[some] - names[size - some] - np.log(size)
                    found -= max(named, 0.0)
                if found > gain[v] * (1 + 1e-9):
                    gain[v], place[v] = found, at
            first = last


@njit(**EXACT)
def add_up(at, point, out):
    """Scores of rows: the first line of a point, and those lines that each row names.

    Parameters
    ----------
    at : rows x columns.
    point : parameters x logits.
    out : logits x rows.
    """
    for i in range(at.shape[0]):
        for k in range(point.shape[1]):
            total = point[0, k]
            for c in range(at.shape[1]):
                total += point[at[i, c], k]
            out[k, i] = total


@njit(**EXACT)
def add_slopes(at, parts, out):
    """Add up parts (parts x rows) by what each row names; parameter 0 is everybody's."""
    for i in range(at.shape[0]):
        for p in range(parts.shape[0]):
            out[0, p] += parts[p, i]
            for c in range(at.shape[1]):
                out[at[i, c], p] += parts[p, i]


@njit(**EXACT)
def add_curvature(at, parts, out):
    """Add up parts (parts x rows) by each two parameters of a row; the last one is nobody's."""
    last = out.shape[1] - 1
    mine = np.empty(at.shape[1] + 1, np.int64)
    for i in range(at.shape[0]):
        n, mine[0] = 1, 0
        for c in range(at.shape[1]):
            if at[i, c] != last:
                mine[n] = at[i, c]
                n += 1
        for p in range(parts.shape[0]):
            for a in range(n):
                for b in range(a + 1):
                    out[p, mine[a], mine[b]] += parts[p, i]
