"""How often the evidence itself lies in its 90 % interval.

`python vouched.py [--tables 400] [--seed 1]`.  Tables are drawn from a distribution of truths, the
same for all, a model is fitted to each, and every cell behind which 3 to 1000 rows stand (effective
rows, of densities) is asked: is log P(value | one class) / P(value | the other), as the table was
drawn, within the interval?  Printed for each kind by rows behind a cell, and over all; for terms
named beforehand, and for the one column of 30 that a weighted model takes first.

Of two classes the first has 10 to 60 % of the rows; a rare one has 2 to 10 %.
counts : 2 to 40 levels, their shares Dirichlet (1); the log-odds of the classes in a level have a
    deviation of 0.2 to 1.5.  60 to 8000 rows.
grids : two normal distributions, two skewed (gamma) or two of two humps, up to 2 deviations apart,
    deviations 1 : 0.6 to 1.6.  30 to 3000 rows.
pairs : 2 to 8 groups by 2 to 8; within each class shares are independent (Dirichlet (2)) but for a
    deviation of 0 to 1 of their logarithms.  60 to 8000 rows.

At the end, for densities: how the log-ratio of two of them varies from table to table (500 rows of
two normal distributions), and how far it is off, in units of 1 / effective rows of the two classes.
"""

import argparse
from itertools import pairwise

import numpy as np
from scipy import stats

from bayesieve import NaiveBayes, WeightedNaiveBayes
from bayesieve.models.base import PairTerms
from bayesieve.models.log_ratios import TERM_BITS, column_support, pair_ratios, pair_support

EDGES = [3, 5, 10, 30, 100, 300, 1000]


def classes(rng, fewest, most, shares):
    """Two classes of some rows."""
    n_rows = int(np.exp(rng.uniform(np.log(fewest), np.log(most))))
    y = (rng.random(n_rows) < rng.uniform(*shares)).astype(int)
    y[:2] = 0, 1
    return y


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
    truth = np.log(shares[:, 1] / shares[:, 0])
    names = np.array([f"v{c:02d}" for c in codes], object)
    return names, lambda at: truth[[int(name[1:]) for name in at]]


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
        """Numbers drawn."""
        one, other = (part.rvs(size, random_state=random_state) for part in self.parts)
        return np.where(random_state.random(size) < self.share, one, other)

    def logpdf(self, x):
        """Log-density."""
        one, other = (part.logpdf(x) for part in self.parts)
        return np.logaddexp(np.log(self.share) + one, np.log(1 - self.share) + other)


def best_of(X, y):
    """The column that a weighted model takes first; None: it takes none."""
    if X.shape[1] == 1:
        return 0
    taken = WeightedNaiveBayes(max_terms=1, pairs=False).fit(X, y).selected_
    return int(taken[0]) if taken.size else None


def column_cells(X, y, truths):
    """What `judged` says of a column: the only one, or the best of several."""
    j = best_of(X, y)
    if j is None:
        return np.empty((0, 4))
    problem = NaiveBayes().fit(X[:, [j]], y).fitted_.only
    spec, table = problem.specs[0], problem.scale.release(problem.tables[0])
    support = column_support(problem, 0, np.arange(spec.n_codes))
    low, high = support.interval(1, 0, table[:, 1] - table[:, 0])
    cells = np.column_stack([support.rows.sum(1), low, high])[:-1]
    return judged(cells, truths[j](spec.levels))


def judged(cells, truth):
    """Rows behind each cell of 3 to 1000 rows, is the truth within, is it below?"""
    rows, low, high = cells.T
    asked = (rows >= EDGES[0]) & (rows <= EDGES[-1]) & ~np.isnan(low)
    inside = (low <= truth) & (truth <= high)
    return np.column_stack([rows, inside, truth < low, high - low])[asked]


def counts_table(rng, shares, n_columns=1):
    """Cells of levels; of several columns, those of the one that foretells best."""
    y = classes(rng, 60, 8000, shares)
    made = [levels(rng, y) for _ in range(n_columns)]
    X = np.column_stack([column for column, _ in made]).astype(object)
    return column_cells(X, y, [truth for _, truth in made])


def grid_table(rng, kind, shares, n_columns=1):
    """Cells of numbers on a grid, likewise."""
    y = classes(rng, 30, 3000, shares)
    made = [number(rng, y, kind) for _ in range(n_columns)]
    return column_cells(np.column_stack([x for x, _ in made]), y, [truth for _, truth in made])


def pair_table(rng, seldom):
    """Cells of a pair."""
    y = classes(rng, 60, 8000, seldom)
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
    both = np.column_stack([codes // shape[1], codes % shape[1]])
    problem = NaiveBayes("levels").fit(both, y).fitted_.only
    shaped, silent = counts.reshape(*shape, 2), np.zeros(1, int)
    said = pair_ratios(shaped, problem.summary, (0, 1)).table[:-1]
    weights = np.array([16, 16])
    pair = PairTerms((0, 1), (silent, silent), shaped, said.reshape(shaped.shape), weights)
    said = np.ldexp(said.astype(float), -TERM_BITS)
    low, high = pair_support(problem, pair).interval(1, 0, said[:, 1] - said[:, 0])
    return judged(np.column_stack([counts.sum(1), low, high]), np.log(flat[:, 1] / flat[:, 0]))


KINDS = {
    "counts": counts_table,
    "grids, normal": lambda rng, *n: grid_table(rng, "normal", *n),
    "grids, skewed": lambda rng, *n: grid_table(rng, "skewed", *n),
    "grids, two humps": lambda rng, *n: grid_table(rng, "humps", *n),
    "pairs": pair_table,
}


def coverage(kind, n_tables, seed, n_columns=1, shares=(0.1, 0.6)):
    """What `judged` says of all cells of many tables."""
    rng = np.random.default_rng([seed, *kind.encode()])
    more = (shares,) if n_columns == 1 else (shares, n_columns)
    return np.concatenate([KINDS[kind](rng, *more) for _ in range(n_tables)])


def show(name, found):
    """One line: over all, and by rows."""
    parts = []
    for low, high in pairwise(EDGES):
        some = found[(found[:, 0] >= low) & (found[:, 0] < high)]
        parts.append(f"{some[:, 1].mean():5.1%}" if len(some) > 20 else "  -  ")
    print(
        f"{name:30s} {found[:, 1].mean():6.1%}  below {found[:, 2].mean():5.1%}  "
        f"by rows {' '.join(parts)}  ({len(found)} cells)",
        flush=True,
    )


def spread_of(model, n_tables, seed):
    """Variance and squared error of a log-ratio of densities, in units of 1 / effective rows."""
    rng, at = np.random.default_rng(seed), np.array([-2, -1, 0, 0.5, 1, 2, 3.0])
    truth = stats.norm.logpdf(at, 1, 1.3) - stats.norm.logpdf(at, 0, 1)
    said, expected = [], []
    for _ in range(n_tables):
        y = np.repeat([0, 1], [300, 200])
        x = np.where(y == 0, rng.normal(size=500), rng.normal(1, 1.3, 500))
        problem = NaiveBayes(model).fit(x[:, None], y).fitted_.only
        codes = at if problem.specs[0].cuts is None else np.searchsorted(problem.specs[0].cuts, at)
        support = column_support(problem, 0, at)
        some = slice(None) if problem.specs[0].cuts is None else codes
        said.append((support.point[:, 1] - support.point[:, 0])[some])
        with np.errstate(divide="ignore"):
            expected.append((1 / (support.rows + support.prior)).sum(1)[some])
    unit = np.mean(expected, 0)
    wrong = np.mean(np.square(np.array(said) - truth), 0)
    return np.var(said, 0) / unit, wrong / unit


def main():
    """Read the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"by rows: from {', '.join(map(str, EDGES[:-1]))} on")
    for kind in KINDS:
        show(kind, coverage(kind, given.tables, given.seed))
    for kind in KINDS:
        found = coverage(kind, given.tables // 4, given.seed, shares=(0.02, 0.1))
        show(f"{kind}, a rare class", found)
    for kind in list(KINDS)[:-1]:
        found = coverage(kind, max(given.tables // 10, 1), given.seed, 30)
        show(f"{kind}, first of 30", found)
    print("at -2, -1, 0, 0.5, 1, 2, 3: variance, squared error; times effective rows")
    for model in ("gaussian", "grid-gaussian", "kernel", "rank-kernel"):
        varies, wrong = spread_of(model, given.tables, given.seed)
        print(f"{model:14s} {np.array_str(varies, precision=2)} {np.array_str(wrong, precision=2)}")


if __name__ == "__main__":
    main()
