"""`WeightedNaiveBayes` on labels drawn at random: no term, and no loss by it."""

import numpy as np
import pytest

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
