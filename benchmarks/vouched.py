"""How often the evidence itself lies in its 90 % interval.

`python vouched.py [--tables 400] [--seed 1]`.  Tables are drawn from a distribution of truths, the
same for all, a model is fitted to each, and every cell behind which 3 to 1000 rows stand (effective
rows, of densities) is asked: is log P(value | one class) / P(value | the other), as the table was
drawn, within the interval?  Printed for each kind by rows behind a cell, and over all; for terms
named beforehand, and for the one column of 30 that foretells best.

Of two classes the first has 10 to 60 % of the rows.
counts : 2 to 40 levels, their shares Dirichlet (1); the log-odds of the classes in a level have a
    deviation of 0.2 to 1.5.  60 to 8000 rows.
grids : two normal distributions, two skewed (gamma) or two of two humps, up to 2 deviations apart,
    deviations 1 : 0.6 to 1.6.  30 to 3000 rows.
pairs : 2 to 8 groups by 2 to 8; within each class shares are independent (Dirichlet (2)) but for a
    deviation of 0 to 1 of their logarithms.  60 to 8000 rows.

At the end: how the logarithm of a density varies from table to table, against 1 / effective rows.
"""

import argparse

import numpy as np
from scipy import stats

from bayesieve import NaiveBayes
from bayesieve.models.base import one_set
from bayesieve.models.behind import pair_support
from bayesieve.models.pairs import PairTerms

EDGES = [3, 5, 10, 30, 100, 300, 1000]


def classes(rng, fewest, most):
    """Two classes of some rows."""
    n_rows = int(np.exp(rng.uniform(np.log(fewest), np.log(most))))
    return (rng.random(n_rows) < rng.uniform(0.1, 0.6)).astype(int)


def draw(rng, shares, y):
    """A code of each row by its class: shares are codes x classes."""
    codes = np.zeros(y.size, int)
    for k in range(2):
        codes[y == k] = rng.choice(len(shares), (y == k).sum(), p=shares[:, k])
    return codes


def levels(rng, y):
    """A column of levels, and log P(level | 1) / P(level | 0) of each."""
    n_levels = int(np.exp(rng.uniform(np.log(2), np.log(40.5))))
    share = rng.dirichlet(np.ones(n_levels))
    odds = np.log(y.mean() / (1 - y.mean())) + rng.uniform(0.2, 1.5) * rng.normal(size=n_levels)
    shares = np.column_stack([share / (1 + np.exp(odds)), share / (1 + np.exp(-odds))])
    shares /= shares.sum(0)
    codes = draw(rng, shares, y)
    return np.array([f"v{c:02d}" for c in codes], object), np.log(shares[:, 1] / shares[:, 0])


def number(rng, y, kind):
    """A number, and log p(x | 1) / p(x | 0) as a function."""
    apart, wide = rng.uniform(0, 2), rng.uniform(0.6, 1.6)
    if kind == "normal":
        both = [stats.norm(0, 1), stats.norm(apart, wide)]
    elif kind == "skewed":
        shape = rng.uniform(1, 4)
        both = [stats.gamma(shape), stats.gamma(shape + apart, scale=wide)]
    else:
        part = rng.uniform(0.2, 0.8, 2)
        both = [Humps(part[0], -1.5, 1.5, 0.7), Humps(part[1], -1.5 + apart / 2, 1.5, 0.7 * wide)]
    x = np.zeros(y.size)
    for k in range(2):
        x[y == k] = both[k].rvs((y == k).sum(), random_state=rng)
    return x, lambda at: both[1].logpdf(at) - both[0].logpdf(at)


class Humps:
    """Two normal distributions side by side."""

    def __init__(self, share, low, high, sd):
        self.share, self.parts = share, (stats.norm(low, sd), stats.norm(high, sd))

    def rvs(self, size, random_state):
        one, other = (part.rvs(size, random_state=random_state) for part in self.parts)
        return np.where(random_state.random(size) < self.share, one, other)

    def logpdf(self, x):
        one, other = (part.logpdf(x) for part in self.parts)
        return np.logaddexp(np.log(self.share) + one, np.log(1 - self.share) + other)


def column_cells(problem, j, truth):
    """Rows, low, high and truth of the cells of a column."""
    column, spec = problem.columns[j], problem.specs[j]
    support = column.model.support(column, np.arange(spec.n_codes))
    table = np.ldexp(problem.tables[j].astype(float), -problem.scale.bits)
    low, high = support.interval(1, 0, table[:, 1] - table[:, 0])
    return np.column_stack([support.rows.sum(1), low, high])[:-1], truth(spec.levels)


def judged(cells, truth):
    """Rows behind each cell of 3 to 1000 rows, is the truth within, is it below?"""
    rows, low, high = cells.T
    asked = (rows >= EDGES[0]) & (rows <= EDGES[-1]) & ~np.isnan(low)
    inside = (low <= truth) & (truth <= high)
    return np.column_stack([rows, inside, truth < low, high - low])[asked]


def counts_table(rng, n_columns=1):
    """Cells of levels; of several columns, those of the one that foretells best."""
    y = classes(rng, 60, 8000)
    made = [levels(rng, y) for _ in range(n_columns)]
    X = np.column_stack([column for column, _ in made]).astype(object)
    problem = NaiveBayes().fit(X, y).fitted_.only
    j = best_of(problem)
    truth = made[j][1]
    return judged(*column_cells(problem, j, lambda names: truth[[int(v[1:]) for v in names]]))


def grid_table(rng, kind, n_columns=1):
    """Cells of numbers on a grid, likewise."""
    y = classes(rng, 30, 3000)
    made = [number(rng, y, kind) for _ in range(n_columns)]
    problem = NaiveBayes().fit(np.column_stack([x for x, _ in made]), y).fitted_.only
    j = best_of(problem)
    return judged(*column_cells(problem, j, made[j][1]))


def best_of(problem):
    """The column that foretells best, rows taken out one by one."""
    losses = []
    for column in problem.columns:
        found, _ = column.model._fit(column.statistics, column.grid, column.settings)
        losses.append(found.loss[0])
    return int(np.argmin(losses))


def pair_table(rng):
    """Cells of a pair."""
    y = classes(rng, 60, 8000)
    shape = rng.integers(2, 9, 2)
    away = rng.uniform(0, 1)
    shares = np.zeros((*shape, 2))
    one, two = (rng.dirichlet(np.full(n, 2.0)) for n in shape)
    tilt = [rng.uniform(0, 0.7) * rng.normal(size=n) for n in shape]
    both = away * rng.normal(size=shape)
    for k in range(2):
        sign = (-0.5, 0.5)[k]
        shares[..., k] = np.outer(one * np.exp(sign * tilt[0]), two * np.exp(sign * tilt[1]))
        shares[..., k] *= np.exp(sign * both)
    flat = shares.reshape(-1, 2) / shares.reshape(-1, 2).sum(0)
    codes = draw(rng, flat, y)
    counts = np.zeros((len(flat), 2))
    np.add.at(counts, (codes, y), 1)
    nothing = (np.zeros(1, int), np.zeros(1, int))
    shaped = counts.reshape(*shape, 2)
    pair = PairTerms((0, 1), nothing, shaped, shaped.astype(int), np.array([16, 16]))
    support = pair_support(pair, np.ones(2))
    low, high = (each[:-1] for each in support.interval(1, 0))
    cells = np.column_stack([counts.sum(1), low, high])
    return judged(cells, np.log(flat[:, 1] / flat[:, 0]))


KINDS = {
    "counts": counts_table,
    "grids, normal": lambda rng, *n: grid_table(rng, "normal", *n),
    "grids, skewed": lambda rng, *n: grid_table(rng, "skewed", *n),
    "grids, two humps": lambda rng, *n: grid_table(rng, "humps", *n),
    "pairs": pair_table,
}


def coverage(kind, n_tables, seed, n_columns=1):
    """What `judged` says of all cells of many tables."""
    rng = np.random.default_rng([seed, *kind.encode()])
    more = () if n_columns == 1 else (n_columns,)
    return np.concatenate([KINDS[kind](rng, *more) for _ in range(n_tables)])


def show(name, found):
    """One line: over all, and by rows."""
    parts = []
    for low, high in zip(EDGES[:-1], EDGES[1:], strict=True):
        some = found[(found[:, 0] >= low) & (found[:, 0] < high)]
        parts.append(f"{some[:, 1].mean():5.1%}" if len(some) > 20 else "  -  ")
    print(
        f"{name:28s} {found[:, 1].mean():6.1%}  below {found[:, 2].mean():5.1%}  "
        f"by rows {' '.join(parts)}  ({len(found)} cells)", flush=True
    )


def main():
    """Read the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"by rows: from {', '.join(map(str, EDGES[:-1]))} on")
    for kind in KINDS:
        show(kind, coverage(kind, given.tables, given.seed))
    for kind in list(KINDS)[:-1]:
        found = coverage(kind, max(given.tables // 10, 1), given.seed, 30)
        show(f"{kind}, best of 30", found)


if __name__ == "__main__":
    main()
