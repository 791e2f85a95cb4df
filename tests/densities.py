"""Slow, obvious twins of the densities on a grid: whole matrices, every row taken out by hand."""

import numpy as np
from scipy.special import logsumexp, ndtr

FACTORS = [0.25 * 2 ** (step / 2) for step in range(8)]
WIDTHS = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16)
SHRINKING = (0.5, 1.0, 2.0)
LESS = 1 - 1e-12  # of two losses that are equal but for rounding, none is less


def shares(counts):
    rows = counts.sum(0)
    return (rows + 1) / (rows.sum() + rows.size)


def resolution(n_values):
    return 1 / max(n_values - 1, 1)


def without(counts, c, k, unit):
    """The counts when a row of this code and class is taken out."""
    less = counts.copy()
    less[c, k] -= min(unit, less[c, k])
    return less


def smoothed(density, rows, pooled):
    """P(code | class) / P(code), and one row that says 1."""
    return (rows * density / pooled + 1) / (rows + 1)


def of_densities(counts, units, make):
    """Ratios, and those with a row taken out; `make` gives the density of each code in a class."""
    n_codes, n_classes = counts.shape
    rows, pi = counts.sum(0), shares(counts)
    density = np.column_stack([make(counts[:, k], k) for k in range(n_classes)])
    density[:, rows == 0] = 0
    pooled = density @ pi
    ratio, own = np.ones(counts.shape), np.ones(counts.shape)
    for c in range(n_codes):
        for k in range(n_classes):
            if rows[k] == 0 or pooled[c] == 0:
                continue
            ratio[c, k] = smoothed(density[c, k], rows[k], pooled[c])
            less = without(counts, c, k, units[k])[:, k]
            left = make(less, k)[c] if less.sum() > 0 else 0.0
            own[c, k] = smoothed(left, less.sum(), pooled[c])
    return ratio, own


def loss(ratio, own, counts):
    """Log-loss of the class given the code, every row taken out of its own class."""
    pi, total = shares(counts), 0.0
    for c in range(len(counts)):
        for k in np.flatnonzero(counts[c]):
            said = ratio[c].copy()
            said[k] = own[c, k]
            said = np.log(said * pi)
            total -= counts[c, k] * (said[k] - logsumexp(said))
    return total


def nothing(counts):
    """Loss, ratios and ratios without a row of a column that says nothing."""
    ones = np.ones(counts.shape)
    return loss(ones, ones, counts), ones, ones


def grid_gaussian(counts, units, points, n_values):
    width = resolution(n_values)

    def normal(rows, k):
        mean = (rows @ points) / rows.sum() if rows.sum() else 0.0
        sd = np.sqrt(rows @ (points - mean) ** 2 / rows.sum()) if rows.sum() else 0.0
        sd = max(sd, width / 6)
        z = np.abs(points - mean) / sd
        chance = ndtr(width / sd / 2 - z) - ndtr(-width / sd / 2 - z)
        return np.maximum(chance, 1e-75)

    ratio, own = of_densities(counts, units, normal)
    return loss(ratio, own, counts), ratio, own


def silverman(rows, points):
    if not rows.sum():
        return 0.0
    mean = rows @ points / rows.sum()
    sd = np.sqrt(rows @ (points - mean) ** 2 / rows.sum())
    up_to = np.cumsum(rows)
    low, high = (points[np.argmax(up_to >= q * LESS * rows.sum())] for q in (0.25, 0.75))
    quartiles = (high - low) / 1.34
    s = quartiles if 0 < quartiles < sd else sd
    return 0.9 * s * max(rows.sum(), 1.0) ** -0.2


def kernel(counts, units, points, n_values):
    best = nothing(counts)
    apart = (points[:, None] - points[None]) ** 2
    for factor in FACTORS:
        # The width is that of all rows, also where one is taken out.
        widths = [
            max(factor * silverman(rows, points), resolution(n_values) / 2) for rows in counts.T
        ]

        def bumps(rows, k, widths=widths):
            height = np.where(apart / widths[k] ** 2 > 83, 0, np.exp(-apart / widths[k] ** 2 / 2))
            return height @ rows / max(rows.sum(), 1e-300) / widths[k]

        ratio, own = of_densities(counts, units, bumps)
        found = loss(ratio, own, counts)
        if found < LESS * best[0]:
            best = found, ratio, own
    return best


def rank_kernel(counts, units, points, n_values):
    rows, pi, best = counts.sum(0), shares(counts), nothing(counts)
    every = counts.sum(1)
    ranks = (np.cumsum(every) - every / 2) / every.sum()
    for width in WIDTHS:
        height = np.eye(len(ranks))
        if width:
            apart = ((ranks[:, None] - ranks) / width) ** 2
            height = np.where(apart > 83, 0, np.exp(-apart / 2))
        sums = height @ counts
        for a in SHRINKING:
            total = sums.sum(1) + a
            ratio, own = np.ones(counts.shape), np.ones(counts.shape)
            for k in np.flatnonzero(rows):
                ratio[:, k] = (sums[:, k] + a * pi[k]) / total / pi[k]
                for c in range(len(counts)):
                    less = without(counts, c, k, units[k])[:, k]
                    if less.sum() > 0:
                        # As a share of its class, which is smaller now; all rows stay.
                        left = (height[c] @ less) / less.sum() * rows[k]
                        own[c, k] = (left + a * pi[k]) / total[c] / pi[k]
            found = loss(ratio, own, counts)
            if found < LESS * best[0]:
                best = found, ratio, own
    return best


def levels(counts, units, points, n_values):
    """Classes in a level, with m rows as all rows are; m by the least loss."""
    rows, pi, best = counts.sum(1), shares(counts), nothing(counts)
    for m in (1024, 256, 64, 32, 16, 8, 4, 2, 1):
        ratio, own = np.ones(counts.shape), np.ones(counts.shape)
        for c, k in np.ndindex(counts.shape):
            ratio[c, k] = (counts[c, k] + m * pi[k]) / (rows[c] + m) / pi[k]
            less = max(counts[c, k] - units[k], 0)
            own[c, k] = (less + m * pi[k]) / (rows[c] + m) / pi[k]
        found = loss(ratio, own, counts)
        if found < LESS * best[0]:
            best = found, ratio, own
    return best


def held(rows, ordered, ratio, own):
    """What is said of a class by the rows of the stretch that says as much."""
    logs = np.log(ratio)
    if logs.shape[1] == 2:
        shares = np.repeat(_shares(rows, ordered, logs[:, 1] - logs[:, 0], 1.0)[:, None], 2, axis=1)
    else:
        shares = np.column_stack([_shares(rows, ordered, line, 0.5) for line in logs.T])
    return ratio**shares, own**shares


def _shares(rows, ordered, line, part):
    found = np.ones(line.size)

    def most(n):
        return part * np.log(5) * max((n / 5) ** 0.5, (n / 5) ** 3)

    for c in np.flatnonzero(line):
        said = line * np.sign(line[c])

        def rows_that_say(level, c=c, said=said):
            low = high = c
            while ordered and low > 0 and said[low - 1] >= level:
                low -= 1
            while ordered and high + 1 < len(said) and said[high + 1] >= level:
                high += 1
            return rows[low : high + 1].sum()

        # The largest level that enough rows speak for: those of codes, or what rows allow.
        levels = {said[c], *said[said < said[c]], *(most(n) for n in _sums(rows))}
        enough = [x for x in levels if 0 <= x <= said[c] and x <= most(rows_that_say(x)) + 1e-12]
        found[c] = max(enough, default=0.0) / said[c]
    return found


def _sums(rows):
    """All sums of neighbours."""
    ends = np.cumsum([0, *rows])
    return {b - a for i, a in enumerate(ends) for b in ends[i:]}


DENSITIES = {"grid-gaussian": grid_gaussian, "kernel": kernel, "rank-kernel": rank_kernel}


def terms(name, counts, units, points, n_values):
    """Log-ratios of all codes, and those with a row taken out: codes x classes each."""
    names = list(DENSITIES) if name in ("density", "curve") else [name]
    seen, counts = counts, counts * units
    judges = {**DENSITIES, "levels": levels}
    found = [judges[each](counts, units, points, n_values) for each in names]
    best = min(range(len(found)), key=lambda i: found[i][0])
    ratio, own = found[best][1:]
    if name in ("curve", "levels"):
        ratio, own = held(seen.sum(1), name == "curve", ratio, own)
    return np.log(ratio), np.log(own)


def cells(counts, units, numbers):
    """Log P(class | cell) / P(class) of two columns, and what it loses without a row of the cell.

    Whole matrices; `counts` are rows, groups x groups x classes.
    """
    seen, counts = counts, counts * units
    pi = shares(counts.reshape(-1, counts.shape[2]))
    each = []
    for axis, number in enumerate(numbers):
        mine = counts.sum(1 - axis)
        ratio, own = (rank_kernel if number else levels)(mine, units, None, None)[1:]
        rows = seen.sum((1 - axis, 2))
        if (rows > 0).sum() < 2:
            ratio, own = np.ones(mine.shape), np.ones(mine.shape)
        each.append(held(rows, number, ratio, own))
    (one, one_own), (two, two_own) = each
    alone = pi * one[:, None] * two[None]
    own_alone = pi * one_own[:, None] * two_own[None]
    chance = alone / alone.sum(-1, keepdims=True)
    left_chance = own_alone / (alone.sum(-1, keepdims=True) - alone + own_alone)
    least, best = np.inf, None
    for width in (0.0, 0.4, 0.7, 1.0, 1.5, 2.5) if any(numbers) else (0.0,):
        sums = counts.copy()
        for axis, number in enumerate(numbers):
            if number and width:
                at = np.arange(counts.shape[axis])
                height = np.exp(-(((at[:, None] - at) / width) ** 2) / 2)
                height[((at[:, None] - at) / width) ** 2 >= 80] = 0
                sums = np.moveaxis(np.tensordot(height, sums, (1, axis)), 0, axis)
        for a in (100.0, 30.0, 10.0, 3.0, 1.0):
            every, found = sums.sum(-1), 0.0
            for i, j, k in np.argwhere(counts > 0):
                left = sums[i, j, k] - units[k] + a * left_chance[i, j, k]
                found -= counts[i, j, k] * np.log(left / (every[i, j] - units[k] + a))
            if found < LESS * least:
                least, best = found, (sums, a)
    sums, a = best
    every = (sums.sum(-1) + a)[..., None]
    beyond = np.log((sums + a * chance) / every / chance)
    rows = (sums / units).sum(-1)
    most = np.log(5) * np.maximum((rows / 5) ** 0.5, (rows / 5) ** 3)
    apart = beyond.max(-1) - beyond.min(-1)
    share = np.where(apart > most, most / np.where(apart > 0, apart, 1), 1.0)
    # Both columns together say more than the stronger one only as far as rows do.
    alone = np.log(chance / pi)
    stronger = np.maximum(np.ptp(np.log(one), axis=1)[:, None], np.ptp(np.log(two), axis=1)[None])
    apart = np.ptp(alone, axis=-1)
    both = np.minimum(1, (stronger + most) / np.where(apart > 0, apart, 1))
    table, own = both[..., None] * alone + share[..., None] * beyond, np.zeros(counts.shape)
    for i, j, k in np.argwhere(counts > 0):
        total = counts[..., k].sum()
        left = max(sums[i, j, k] - units[k], 0)
        left *= total / (total - units[k]) if total > units[k] else 1
        without = np.log((left + a * left_chance[i, j, k]) / every[i, j, 0] / left_chance[i, j, k])
        own[i, j, k] = both[i, j] * np.log(left_chance[i, j, k] / chance[i, j, k])
        own[i, j, k] += share[i, j] * (without - beyond[i, j, k])
    return table, np.minimum(own, 0)
