"""`WeightedNaiveBayes` on labels drawn at random: no term, and no loss by it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from bayesieve import WeightedNaiveBayes

ROWS, FRESH, SEEDS = 500, 2000, 10


def noise(kind, n_columns, seed):
    """Columns and labels that know nothing of each other."""
    rng = np.random.default_rng(seed)
    shape = (ROWS + FRESH, n_columns)
    X = rng.normal(size=shape) if kind == "continuous" else rng.integers(0, 2, shape).astype(float)
    return X, rng.integers(0, 2, ROWS + FRESH)


def worse_than_the_prior(model, X, y):
    """Log-loss on fresh rows over that of the training rows' class shares, less 1."""
    fresh, labels = X[ROWS:], y[ROWS:]
    shares = np.bincount(y[:ROWS]) / ROWS
    mine = -np.log(model.predict_proba(fresh)[np.arange(FRESH), labels]).mean()
    return mine / -np.log(shares[labels]).mean() - 1


@pytest.mark.parametrize(
    ("kind", "n_columns"),
    [
        ("binary", 20),
        ("continuous", 20),
        ("binary", 300),
        pytest.param("binary", 1000, marks=pytest.mark.slow),
        pytest.param("continuous", 1000, marks=pytest.mark.slow),
    ],
)
def test_noise_gives_no_term(kind, n_columns):
    empty = 0
    for seed in range(SEEDS):
        X, y = noise(kind, n_columns, seed)
        model = WeightedNaiveBayes().fit(X[:ROWS], y[:ROWS])
        empty += not model.terms_
        assert worse_than_the_prior(model, X, y) <= 0.02
    assert empty >= 8


@pytest.mark.parametrize(("kind", "n_columns"), [("binary", 1000), ("continuous", 20)])
def test_a_fixed_low_price_buys_noise(kind, n_columns):
    """It is the folds that refuse: the rows themselves would pay for chance."""
    X, y = noise(kind, n_columns, 0)
    model = WeightedNaiveBayes(pairs=False, price=1.0).fit(X[:ROWS], y[:ROWS])
    assert model.terms_
    assert worse_than_the_prior(model, X, y) > 0


KINDS = {
    "number": lambda rng, shape: rng.normal(size=shape),
    "binary": lambda rng, shape: (rng.random(shape) < 0.3).astype(float),
    "20 levels": lambda rng, shape: rng.integers(0, 20, shape).astype(str).astype(object),
    "500 levels": lambda rng, shape: rng.integers(0, 500, shape).astype(str).astype(object),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_noise_in_many_columns_and_rare_classes():
    """Kept in at most one of twenty tables, and never worse than the shares by 2 %."""
    total, fits, worst = 0, 0, {}
    for kind, make in KINDS.items():
        for n_columns in (20, 1000) if "levels" not in kind else (20,):
            for n_rows in (100, 500, 2000):
                for share in (0.5, 0.02):
                    if n_rows * share < 4:
                        continue
                    kept = 0
                    for seed in range(10):
                        rng = np.random.default_rng([seed, n_rows, n_columns, int(100 * share)])
                        X = pd.DataFrame(make(rng, (n_rows + FRESH, n_columns)))
                        y = (rng.random(n_rows + FRESH) < share).astype(int)
                        y[:4] = 0, 1, 0, 1
                        model = WeightedNaiveBayes(n_jobs=2).fit(X[:n_rows], y[:n_rows])
                        kept += bool(model.terms_)
                        # The class shares of the training rows, as the model holds them.
                        prior = np.bincount(y[:n_rows]) / n_rows
                        fresh = y[n_rows:]
                        mine = model.predict_proba(X[n_rows:])[np.arange(FRESH), fresh]
                        excess = np.log(mine).mean() / np.log(prior[fresh]).mean() - 1
                        cell = kind, n_columns, n_rows, share
                        worst[cell] = max(worst.get(cell, 0.0), excess)
                    total, fits = total + kept, fits + 10
                    assert binom.sf(kept - 1, 10, 0.05) > 0.01, (cell, kept)
    assert binom.sf(total - 1, fits, 0.05) > 0.01, (total, fits)
    assert max(worst.values()) <= 0.02, worst
