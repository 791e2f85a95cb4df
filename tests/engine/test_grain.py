"""Exact losses are rounded a line at a time: no scan may rule out what that brings ahead."""

from itertools import pairwise

import numpy as np
import pytest

from bayesieve.criteria import CRITERIA
from bayesieve.engine.contract import WHOLE, Units
from bayesieve.search.objective import SubsetScorer
from ledgers import dense_ledger


@pytest.fixture(scope="module")
def coarse():
    """Weights that add up to almost as much as is allowed, and many columns of large terms."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 16)
    X = np.c_[rng.integers(0, 2, (32, 300)), np.repeat(y[:, None], 600, axis=1)].astype(float)
    return dense_ledger(X, y, ["bernoulli"] * 900, weights=rng.integers(2**25, 2**26, 32))


UNITS = Units(tuple((j,) for j in range(900)))
EVERY = np.arange(300)


def test_doubt_covers_the_rounding_of_exact_losses(coarse):
    rule = CRITERIA["log-likelihood"].rule(coarse)
    assert rule.bits < 18
    loss, doubt = coarse.bounds(rule, UNITS, EVERY, WHOLE)
    exact = coarse.losses(rule, UNITS, EVERY, WHOLE).sum(1) / 2.0**rule.bits
    assert (np.abs(loss - exact) <= doubt).all()
    assert (doubt < 1e-4 * exact).all()


def test_the_best_of_two_is_the_one_of_the_lower_key(coarse):
    settler = SubsetScorer(coarse, CRITERIA["log-likelihood"], UNITS)
    keys = np.array(settler.keys(list(EVERY), 1))
    order = np.argsort(keys, kind="stable")
    for first, second in pairwise(order):
        _, key = settler.best(sorted((int(first), int(second))), 1)
        assert key == keys[first]
