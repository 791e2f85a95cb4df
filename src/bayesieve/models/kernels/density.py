"""Density estimates on a grid: log-ratios of every code by class, from counts.

Sums run in the order of the codes, and elementary functions are our own: the same numbers with and
without the JIT.  All arrays but `points` hold one part a training set.
"""

import math

import numpy as np
from numba import njit

from ...data.kernels.exact import log_positive
from ...data.kernels.options import EXACT, FEW_ROWS

# A kernel counts as 0 where its exponent is beyond this: below 1e-18 of its height.
_FAR = 41.5

# A downdate that leaves less than this share of the squares is recomputed.
_CANCELLED = 1e-3

# Factors on the widths of kernels: from the widest, each less by the root of 2, so that a kernel is
# the square of the one before.
_WIDEST = 2.8284271247461903

_ROOT_HALF = 0.7071067811865476

N_WIDTHS = 8

# Widths of rank kernels: 0, and a chain from this one on.
_RANK_WIDTH = 0.16

RANK_HALVINGS = 6

_SHRINKING = np.array([0.5, 1.0, 2.0])

# Rows that say nothing, and are added to those of a level.
_LEVEL_SHRINKING = np.array([1024.0, 256.0, 64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0])

# Widths of kernels around cells, in groups of a number; the first one smooths nothing.
_CELL_WIDTHS = np.array([0.0, 0.4, 0.7, 1.0, 1.5, 2.5])

# Rows that say what the columns say, and are added to those of a cell.
_DRAWN = np.array([100.0, 30.0, 10.0, 3.0, 1.0])

# The logarithm of FEW_ROWS.
_LOG_FEW = 1.6094379124341003

# What is equal but for rounding is equal: a loss must be less than this share of another one.
_LESS = 1.0 - 1e-12

# Likewise, shares of the rows of a class: its weight is no reason for another quartile.
_QUARTER, _THREE_QUARTERS = 0.25 * _LESS, 0.75 * _LESS


@njit(**EXACT)
def _bell(z):
    """exp(-z) for 0 <= z <= 42: the 128th power of a short series.

    Additions and multiplications only, so that a loop over codes becomes vectors.
    """
    r = z * -0.0078125
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    p = p * p
    p = p * p
    p = p * p
    p = p * p
    p = p * p
    p = p * p
    return p * p


@njit(**EXACT)
def moments(counts, points, mean, squares, spread):
    """Mean, sum of squared deviations, and what Silverman's rule takes for the deviation."""
    n_codes = points.size
    for g in range(counts.shape[0]):
        for k in range(counts.shape[2]):
            total, first = 0.0, 0.0
            for c in range(n_codes):
                total += counts[g, c, k]
                first += counts[g, c, k] * points[c]
            centre = first / total if total > 0.0 else 0.0
            second, below = 0.0, 0.0
            low, high = -1, -1
            for c in range(n_codes):
                apart = points[c] - centre
                second += counts[g, c, k] * apart * apart
                below += counts[g, c, k]
                if low < 0 and below >= _QUARTER * total:
                    low = c
                if high < 0 and below >= _THREE_QUARTERS * total:
                    high = c
            mean[g, k], squares[g, k] = centre, second
            deviation = math.sqrt(second / total) if total > 0.0 else 0.0
            # A column without a single number has no codes.
            quartiles = (points[high] - points[low]) / 1.34 if total > 0.0 else 0.0
            spread[g, k] = quartiles if 0.0 < quartiles < deviation else deviation


@njit(**EXACT)
def left_moments(counts, units, points, mean, squares, left_mean, left_squares):
    """Mean and squares of each class when one row of each code is taken out of it."""
    n_codes = points.size
    for g in range(counts.shape[0]):
        for k in range(counts.shape[2]):
            total = 0.0
            for c in range(n_codes):
                total += counts[g, c, k]
            for c in range(n_codes):
                own = min(units[k], counts[g, c, k])
                left = total - own
                if own <= 0.0 or left <= 0.0:
                    left_mean[g, c, k], left_squares[g, c, k] = mean[g, k], squares[g, k]
                    continue
                apart = points[c] - mean[g, k]
                centre = mean[g, k] - own * apart / left
                second = squares[g, k] - own * apart * apart * (total / left)
                if second < _CANCELLED * squares[g, k]:
                    first, second = 0.0, 0.0
                    for d in range(n_codes):
                        first += (counts[g, d, k] - (own if d == c else 0.0)) * points[d]
                    centre = first / left
                    for d in range(n_codes):
                        apart = points[d] - centre
                        second += (counts[g, d, k] - (own if d == c else 0.0)) * apart * apart
                left_mean[g, c, k], left_squares[g, c, k] = centre, second


@njit(**EXACT)
def _ratios(density, left, counts, units, totals, shares, ratio, own):
    """P(code | class) over P(code), smoothed by one row; `own`: a row taken out of its class.

    `left` is the density times the weight of the class when the row is out.
    """
    n_codes, n_classes = counts.shape
    for c in range(n_codes):
        pooled = 0.0
        for k in range(n_classes):
            pooled += shares[k] * density[c, k]
        for k in range(n_classes):
            ratio[c, k], own[c, k] = 1.0, 1.0
            if pooled > 0.0 and totals[k] > 0.0:
                rest = totals[k] - min(units[k], counts[c, k])
                ratio[c, k] = (totals[k] * density[c, k] / pooled + 1.0) / (totals[k] + 1.0)
                own[c, k] = (left[c, k] / pooled + 1.0) / (rest + 1.0)


@njit(**EXACT)
def _loss(ratio, own, counts, shares):
    """Log-loss of the class given the code alone, each row taken out of its own class."""
    n_codes, n_classes = counts.shape
    loss = 0.0
    for c in range(n_codes):
        every = 0.0
        for k in range(n_classes):
            every += shares[k] * ratio[c, k]
        for k in range(n_classes):
            if counts[c, k] > 0.0:
                mine = shares[k] * own[c, k]
                others = max(every - shares[k] * ratio[c, k], 0.0)
                loss += counts[c, k] * log_positive((others + mine) / mine)
    return loss


@njit(**EXACT)
def _class_totals(counts, totals, shares):
    """Weight of each class, and its share, with one row more each."""
    n_codes, n_classes = counts.shape
    every = 0.0
    for k in range(n_classes):
        totals[k] = 0.0
        for c in range(n_codes):
            totals[k] += counts[c, k]
        every += totals[k]
    for k in range(n_classes):
        shares[k] = (totals[k] + 1.0) / (every + n_classes)


@njit(**EXACT)
def judge_given(density, left, counts, units, ratio, own, loss):
    """Ratios and loss of densities that somebody has made."""
    n_classes = counts.shape[2]
    totals, shares = np.empty(n_classes), np.empty(n_classes)
    for g in range(counts.shape[0]):
        _class_totals(counts[g], totals, shares)
        _ratios(density[g], left[g], counts[g], units, totals, shares, ratio[g], own[g])
        loss[g] = _loss(ratio[g], own[g], counts[g], shares)


@njit(**EXACT)
def _reach(points, t, scale, first, last):
    """First and last (plus one) of the ascending points that a kernel around one of them reaches.

    `first` and `last` are those of a point before it.
    """
    here = points[t]
    last = max(last, t + 1)
    while (here - points[first]) * (here - points[first]) * scale > _FAR:
        first += 1
    while last < points.size and (points[last] - here) * (points[last] - here) * scale <= _FAR:
        last += 1
    return first, last


@njit(**EXACT)
def _add_kernels(points, weights, width, out):
    """Sums of kernels of a width, and of all narrower ones, at every point: out[width, point]."""
    n_codes, n_widths = points.size, out.shape[0]
    out[:] = 0.0
    heights = np.empty(n_codes)
    # Points that a kernel around this one reaches; the narrower it is, the fewer.
    first, last = np.zeros(n_widths, np.int64), np.zeros(n_widths, np.int64)
    widest = 0.5 / (width * width)
    for t in range(n_codes):
        here, weight = points[t], weights[t]
        if weight <= 0.0:
            continue
        scale = widest
        for step in range(n_widths):
            low, high = _reach(points, t, scale, first[step], last[step])
            first[step], last[step] = low, high
            # Views from 0 on: a loop over them becomes vectors.
            reached, height, line = points[low:high], heights[low:high], out[step, low:high]
            if step == 0:
                for q in range(reached.size):
                    apart = reached[q] - here
                    height[q] = _bell(apart * apart * scale)
            for q in range(line.size):
                line[q] += weight * height[q]
                height[q] *= height[q]
            scale *= 2.0


@njit(**EXACT)
def kernel_sums(counts, points, silverman, floor, sums, widths):
    """Sums of kernels of each width at every code: sums[width, code, class], and the widths."""
    n_codes, n_classes = counts.shape
    n_widths = widths.shape[0]
    found, weights = np.empty((n_widths, n_codes)), np.empty(n_codes)
    for k in range(n_classes):
        weights[:] = counts[:, k]
        widest = _WIDEST * silverman[k]
        width, n_wide = widest, 0
        for step in range(n_widths):
            widths[step, k] = max(width, floor)
            n_wide += width > floor
            width *= _ROOT_HALF
        _add_kernels(points, weights, widest if n_wide else 1.0, found[:n_wide])
        # All that would be narrower are as wide as the floor.
        _add_kernels(points, weights, floor, found[n_wide : n_wide + (n_wide < n_widths)])
        for step in range(n_widths):
            sums[step, :, k] = found[min(step, n_wide)]


@njit(**EXACT)
def judge_kernel(counts, units, points, silverman, floor, ratio, own, loss, chosen):
    """A Gaussian kernel around every row; the factor on Silverman's widths by the least loss.

    `ratio` and `own` are 1 beforehand, and stay so where no width foretells better than that;
    `chosen` is -1 then, else it holds the step from the widest one.
    """
    n_sets, n_codes, n_classes = counts.shape
    sums, widths = np.empty((N_WIDTHS, n_codes, n_classes)), np.empty((N_WIDTHS, n_classes))
    totals, shares = np.empty(n_classes), np.empty(n_classes)
    density, left = np.empty((n_codes, n_classes)), np.empty((n_codes, n_classes))
    tried, tried_own = np.empty((n_codes, n_classes)), np.empty((n_codes, n_classes))
    for g in range(n_sets):
        _class_totals(counts[g], totals, shares)
        kernel_sums(counts[g], points, silverman[g], floor, sums, widths)
        loss[g] = _loss(ratio[g], own[g], counts[g], shares)
        # From narrow to wide, so that the narrowest of equals is taken.
        for at in range(N_WIDTHS - 1, -1, -1):
            for c in range(n_codes):
                for k in range(n_classes):
                    mass = sums[at, c, k] / widths[at, k]
                    less = max(sums[at, c, k] - min(units[k], counts[g, c, k]), 0.0)
                    density[c, k] = mass / totals[k] if totals[k] > 0.0 else 0.0
                    left[c, k] = less / widths[at, k]
            _ratios(density, left, counts[g], units, totals, shares, tried, tried_own)
            found = _loss(tried, tried_own, counts[g], shares)
            if found < _LESS * loss[g]:
                loss[g], chosen[g, 0] = found, at
                ratio[g], own[g] = tried, tried_own


@njit(**EXACT)
def rank_sums(counts, sums):
    """Sums of kernels over mid-ranks, from 0 to 1, of all classes together.

    sums[0] are the counts; then sums[width, class, code], from narrow to wide.
    """
    n_codes, n_classes = counts.shape
    ranks = np.empty(n_codes)
    below = 0.0
    for c in range(n_codes):
        here = 0.0
        for k in range(n_classes):
            here += counts[c, k]
        ranks[c] = below + 0.5 * here
        below += here
    for c in range(n_codes):
        ranks[c] = ranks[c] / below if below > 0.0 else 0.0
    sums[:] = 0.0
    for k in range(n_classes):
        sums[0, k] = counts[:, k]
    heights = np.empty(n_codes)
    first, last = np.zeros(RANK_HALVINGS, np.int64), np.zeros(RANK_HALVINGS, np.int64)
    for t in range(n_codes):
        here = ranks[t]
        scale = 0.5 / (_RANK_WIDTH * _RANK_WIDTH)
        for step in range(RANK_HALVINGS):
            low, high = _reach(ranks, t, scale, first[step], last[step])
            first[step], last[step] = low, high
            reached, height = ranks[low:high], heights[low:high]
            for q in range(reached.size):
                if step == 0:
                    apart = reached[q] - here
                    height[q] = _bell(apart * apart * scale)
                else:
                    square = height[q] * height[q]
                    height[q] = square * square
            for k in range(n_classes):
                weight, line = counts[t, k], sums[RANK_HALVINGS - step, k, low:high]
                if weight > 0.0:
                    for q in range(line.size):
                        line[q] += weight * height[q]
            scale *= 4.0


@njit(**EXACT)
def judge_rank_kernel(counts, units, ratio, own, loss, chosen):
    """Kernels over ranks, shrunk to all classes together; width and rows of that by the loss.

    `ratio` and `own` are 1 beforehand, and stay so where nothing foretells better than that;
    `chosen` is -1 then, else it holds the step from the narrowest one, and the rows.
    """
    n_sets, n_codes, n_classes = counts.shape
    sums = np.empty((RANK_HALVINGS + 1, n_classes, n_codes))
    totals, shares = np.empty(n_classes), np.empty(n_classes)
    tried, tried_own = np.empty((n_codes, n_classes)), np.empty((n_codes, n_classes))
    for g in range(n_sets):
        _class_totals(counts[g], totals, shares)
        rank_sums(counts[g], sums)
        loss[g] = _loss(ratio[g], own[g], counts[g], shares)
        for width in range(RANK_HALVINGS + 1):
            for rows in _SHRINKING:
                for c in range(n_codes):
                    every = rows
                    for k in range(n_classes):
                        every += sums[width, k, c]
                    for k in range(n_classes):
                        tried[c, k], tried_own[c, k] = 1.0, 1.0
                        taken = min(units[k], counts[g, c, k])
                        rest = totals[k] - taken
                        if totals[k] > 0.0:
                            mass = sums[width, k, c]
                            tried[c, k] = (mass / shares[k] + rows) / every
                            if rest > 0.0:
                                mass = max(mass - taken, 0.0) * (totals[k] / rest)
                                tried_own[c, k] = (mass / shares[k] + rows) / every
                found = _loss(tried, tried_own, counts[g], shares)
                if found < _LESS * loss[g]:
                    loss[g], chosen[g, 0], chosen[g, 1] = found, width, rows
                    ratio[g], own[g] = tried, tried_own


@njit(**EXACT)
def judge_levels(counts, units, ratio, own, loss, chosen):
    """Shares of the classes in each level, shrunk to those of all rows; how far, by the loss.

    `ratio` and `own` are 1 beforehand, and stay so where nothing foretells better than that;
    `chosen` is -1 then, else it holds the rows.
    """
    n_sets, n_codes, n_classes = counts.shape
    totals, shares = np.empty(n_classes), np.empty(n_classes)
    tried, tried_own = np.empty((n_codes, n_classes)), np.empty((n_codes, n_classes))
    for g in range(n_sets):
        _class_totals(counts[g], totals, shares)
        loss[g] = _loss(ratio[g], own[g], counts[g], shares)
        # From strong to weak, so that the strongest of equals is taken.
        for rows in _LEVEL_SHRINKING:
            for c in range(n_codes):
                every = rows
                for k in range(n_classes):
                    every += counts[g, c, k]
                for k in range(n_classes):
                    less = counts[g, c, k] - min(units[k], counts[g, c, k])
                    tried[c, k] = (counts[g, c, k] / shares[k] + rows) / every
                    tried_own[c, k] = (less / shares[k] + rows) / every
            found = _loss(tried, tried_own, counts[g], shares)
            if found < _LESS * loss[g]:
                loss[g], chosen[g, 1] = found, rows
                ratio[g], own[g] = tried, tried_own


@njit(**EXACT)
def _most(rows):
    """What so many rows may say, in nat: at most log 5 below 5 rows, and soon anything above."""
    share = rows / FEW_ROWS
    return _LOG_FEW * max(math.sqrt(share), share * share * share)


@njit(**EXACT)
def hold_to_rows(rows, ordered, ratio, own):
    """What is said of codes never outruns the rows behind it; `ratio` and `own` are changed.

    Behind what a code says of a class stand the rows of the stretch around it that says as much;
    behind a level, its own.  Evidence is brought down, in logarithms, to what enough rows say, see
    `_most`: of two classes the one against the other, of more each against all together, by half.
    A column of which a single code is seen says nothing.

    Parameters
    ----------
    rows : of all classes, codes.
    ordered : are codes numbers, with neighbours?  Else they are levels.
    """
    n_codes, n_classes = ratio.shape
    logs, shares = np.empty((n_codes, n_classes)), np.empty((n_codes, n_classes))
    for c in range(n_codes):
        for k in range(n_classes):
            logs[c, k] = log_positive(ratio[c, k])
    shares_held(rows, ordered, logs, shares)
    for c in range(n_codes):
        for k in range(n_classes):
            share = shares[c, k]
            ratio[c, k], own[c, k] = _power(ratio[c, k], share), _power(own[c, k], share)


@njit(**EXACT)
def shares_held(rows, ordered, logs, shares):
    """The share of what codes say that their rows allow, see `hold_to_rows`, codes x classes."""
    n_codes, n_classes = logs.shape
    seen = 0
    for c in range(n_codes):
        seen += rows[c] > 0.0
    if seen < 2:
        shares[:] = 0.0
        return
    if n_classes == 2:
        line = logs[:, 1] - logs[:, 0]
        for c in range(n_codes):
            shares[c] = _held(rows, ordered, line, c, 1.0)
        return
    for k in range(n_classes):
        line = logs[:, k].copy()
        for c in range(n_codes):
            shares[c, k] = _held(rows, ordered, line, c, 0.5)


@njit(**EXACT)
def _held(rows, ordered, line, c, part):
    """The share of what a line says at a code that enough rows say."""
    sign = 1.0 if line[c] >= 0.0 else -1.0
    whole = sign * line[c]
    said, low, high, behind = whole, c, c, rows[c]
    while part * _most(behind) < said:
        # The neighbour that says more joins next, if the stretch comes down to it at all.
        before = sign * line[low - 1] if ordered and low > 0 else 0.0
        after = sign * line[high + 1] if ordered and high + 1 < line.size else 0.0
        if part * _most(behind) >= max(before, after):
            said = part * _most(behind)
        elif before >= after:
            low -= 1
            said, behind = min(said, before), behind + rows[low]
        else:
            high += 1
            said, behind = min(said, after), behind + rows[high]
    return said / whole if said < whole else 1.0


@njit(**EXACT)
def _power(number, share):
    """A positive number to a power between 0 and 1."""
    if share == 1.0:
        return number
    found = share * log_positive(number)
    return _bell(-found) if found <= 0.0 else 1.0 / _bell(found)


# -- Cells of two columns: counts, smoothed along numbers, drawn to what the columns say -----------


@njit(**EXACT)
def _smooth(counts, width, along_one, along_two, halfway, out):
    """Sums of kernels of a width around every cell, along the columns that are numbers."""
    n_one, n_two, n_classes = counts.shape
    heights = np.zeros(max(n_one, n_two))
    heights[0] = 1.0
    if width > 0.0:
        for apart in range(1, heights.size):
            exponent = 0.5 * (apart / width) * (apart / width)
            heights[apart] = _bell(exponent) if exponent < 40.0 else 0.0
    halfway[:] = counts
    if along_one and width > 0.0:
        halfway[:] = 0.0
        for a in range(n_one):
            for other in range(n_one):
                height = heights[abs(a - other)]
                if height > 0.0:
                    for b in range(n_two):
                        for k in range(n_classes):
                            halfway[a, b, k] += height * counts[other, b, k]
    out[:] = halfway
    if along_two and width > 0.0:
        out[:] = 0.0
        for a in range(n_one):
            for b in range(n_two):
                for other in range(n_two):
                    height = heights[abs(b - other)]
                    if height > 0.0:
                        for k in range(n_classes):
                            out[a, b, k] += height * halfway[a, other, k]


@njit(**EXACT)
def _alone(one, two, one_own, two_own, shares, chance, chance_own):
    """What two columns say of a cell each alone, multiplied: P(class), and of a row left out."""
    n_classes = shares.size
    for a in range(one.shape[0]):
        for b in range(two.shape[0]):
            total = 0.0
            for k in range(n_classes):
                chance[a, b, k] = shares[k] * one[a, k] * two[b, k]
                total += chance[a, b, k]
            for k in range(n_classes):
                mine = shares[k] * one_own[a, k] * two_own[b, k]
                chance_own[a, b, k] = mine / (max(total - chance[a, b, k], 0.0) + mine)
                chance[a, b, k] /= total


@njit(**EXACT)
def _loss_of(counts, units, sums, chance_own, drawn):
    """Log-loss of the class given the cell, each row taken out of all that it has counted for."""
    n_one, n_two, n_classes = counts.shape
    loss = 0.0
    for a in range(n_one):
        for b in range(n_two):
            every = drawn
            for k in range(n_classes):
                every += sums[a, b, k]
            for k in range(n_classes):
                if counts[a, b, k] > 0.0:
                    mine = min(units[k], counts[a, b, k])
                    left = max(sums[a, b, k] - mine, 0.0) + drawn * chance_own[a, b, k]
                    loss -= counts[a, b, k] * log_positive(left / (every - mine))
    return loss


@njit(**EXACT)
def judge_cells(
    counts, units, one, two, one_own, two_own, along_one, along_two, table, own, rows, prior
):
    """Logarithms of P(class | cell) / P(class); width and rows that are drawn by the least loss.

    Parameters
    ----------
    counts : weight of the rows, groups x groups x classes.
    units : weight of a row of each class.
    one, two : P(class | group) / P(class) of each column alone, groups x classes.
    one_own, two_own : the same with one row of that group and class taken out.
    along_one, along_two : is the column a number, whose groups have neighbours?
    table : groups x groups x classes; overwritten.
    own : what it loses when a row of the class leaves the cell; overwritten.
    rows : weight of the rows behind each cell, of each class, smoothed; overwritten.
    prior : weight of the rows that are added because of what the columns say; overwritten.
    """
    n_one, n_two, n_classes = counts.shape
    totals, shares = np.empty(n_classes), np.empty(n_classes)
    _class_totals(counts.reshape(n_one * n_two, n_classes), totals, shares)
    chance, chance_own = np.empty(counts.shape), np.empty(counts.shape)
    _alone(one, two, one_own, two_own, shares, chance, chance_own)
    sums, halfway = np.empty(counts.shape), np.empty(counts.shape)
    best, least = 0.0, np.inf
    for at in range(_CELL_WIDTHS.size if along_one or along_two else 1):
        _smooth(counts, _CELL_WIDTHS[at], along_one, along_two, halfway, sums)
        for drawn in _DRAWN:
            loss = _loss_of(counts, units, sums, chance_own, drawn)
            if loss < _LESS * least:
                best, least = drawn, loss
                rows[:] = sums
    for a in range(n_one):
        for b in range(n_two):
            here = counts[a, b], rows[a, b], chance[a, b], chance_own[a, b]
            stronger = max(_apart(one[a]), _apart(two[b]))
            _say(*here, units, totals, shares, best, stronger, table[a, b], own[a, b])
    prior[:] = best * chance


@njit(**EXACT)
def _apart(ratios):
    """How far the classes are apart, in nat."""
    low, high = ratios[0], ratios[0]
    for ratio in ratios:
        low, high = min(low, ratio), max(high, ratio)
    return log_positive(high / low)


@njit(**EXACT)
def _say(counts, sums, chance, chance_own, units, totals, shares, drawn, stronger, table, own):
    """What one cell says; beyond the stronger of its columns no more than its rows allow.

    Neither where it says something else than its columns, nor where both of them say the same.
    """
    n_classes = counts.size
    every, behind = drawn, 0.0
    for k in range(n_classes):
        every += sums[k]
        behind += sums[k] / units[k]
    low, high = np.inf, -np.inf
    for k in range(n_classes):
        # Beyond what the columns say.
        table[k] = log_positive((sums[k] + drawn * chance[k]) / (every * chance[k]))
        low, high = min(low, table[k]), max(high, table[k])
    most = _most(behind)
    share = most / (high - low) if high - low > most else 1.0
    both = _apart(chance / shares)
    both = (stronger + most) / both if both > stronger + most else 1.0
    for k in range(n_classes):
        alone, own[k] = both * log_positive(chance[k] / shares[k]), 0.0
        if counts[k] > 0.0:
            mine = min(units[k], counts[k])
            rest = totals[k] - mine
            left = max(sums[k] - mine, 0.0) * (totals[k] / rest if rest > 0.0 else 1.0)
            less = log_positive((left + drawn * chance_own[k]) / (every * chance_own[k]))
            moved = both * log_positive(chance_own[k] / chance[k]) + share * (less - table[k])
            own[k] = min(moved, 0.0)
        table[k] = alone + share * table[k]
