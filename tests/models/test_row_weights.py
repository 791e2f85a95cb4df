"""A row of weight 2 is the same row given twice, also where a column has more values than codes."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse

from bayesieve import NaiveBayes, WeightedNaiveBayes
from bayesieve.engine import pack
from plain import plain_selector

GRIDS = ["density", "kernel", "rank-kernel", "grid-gaussian", "intervals", "intervals-8"]


def problem(n_rows=700, n_columns=4):
    """Numbers of which each occurs once, classes, and weights from 1 to 3."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :2] += 0.7 * y[:, None]
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, rng.integers(1, 4, n_rows)


def as_read(kind, X):
    if kind == "packed":
        return pack(pl.DataFrame(X))
    if kind == "sparse":
        return scipy.sparse.csr_array(np.nan_to_num(X))
    return X


@pytest.mark.parametrize("kind", ["dense", "packed", "sparse"])
@pytest.mark.parametrize("features", GRIDS)
def test_tables_are_those_of_repeated_rows(features, kind):
    X, y, weights = problem()
    weighted = NaiveBayes(features).fit(as_read(kind, X), y, sample_weight=weights)
    rows = np.repeat(np.arange(y.size), weights)
    repeated = NaiveBayes(features).fit(as_read(kind, X[rows]), y[rows])
    asked = {"sparse": np.nan_to_num(X), "packed": pl.DataFrame(X), "dense": X}[kind]
    np.testing.assert_allclose(
        weighted.predict_proba(asked), repeated.predict_proba(asked), rtol=1e-9, atol=1e-12
    )


def test_a_search_finds_the_same():
    X, y, weights = problem()
    rows = np.repeat(np.arange(y.size), weights)
    selector = plain_selector(search="forward", cv="train", validation=None)
    weighted = selector.fit(X, y, sample_weight=weights)
    found = list(weighted.selected_), weighted.predict_proba(X)
    repeated = selector.fit(X[rows], y[rows])
    assert found[0] == list(repeated.selected_)
    np.testing.assert_allclose(found[1], repeated.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_weights_of_terms_are_found_the_same():
    X, y, weights = problem()
    rows = np.repeat(np.arange(y.size), weights)
    model = WeightedNaiveBayes(pairs=False, price=1.0)
    found = model.fit(X, y, sample_weight=weights).predict_proba(X)
    again = model.fit(X[rows], y[rows]).predict_proba(X)
    np.testing.assert_allclose(found, again, rtol=1e-9, atol=1e-12)


def test_fractions_of_rows_cut_in_the_same_places_as_whole_ones():
    X, y, weights = problem()
    whole = NaiveBayes("rank-kernel").fit(X, y, sample_weight=weights)
    halves = NaiveBayes("rank-kernel").fit(X, y, sample_weight=weights / 4)
    for one, other in zip(whole.fitted_.specs, halves.fitted_.specs, strict=True):
        np.testing.assert_array_equal(one.cuts, other.cuts)
        np.testing.assert_array_equal(one.levels, other.levels)
