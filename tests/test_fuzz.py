"""A short run of the fuzzer, seeds that once failed, and what their tables were about."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fuzz
from bayesieve import FeatureVotes, NaiveBayes, rank
from plain import plain_selector


@pytest.mark.parametrize("seed", fuzz.KNOWN)
def test_seeds_that_once_failed(seed):
    assert fuzz.run_seed(seed) in ("fitted", "refused")


def test_two_hundred_tables():
    found = [fuzz.run_seed(seed) for seed in range(10**6, 10**6 + 200)]
    assert set(found) == {"fitted", "refused"}
    assert found.count("fitted") > 60


@pytest.mark.slow
def test_ten_thousand_tables():
    script = [sys.executable, str(Path(fuzz.__file__)), "--tables", "10000", "--seed", "0"]
    done = subprocess.run(script, check=True, capture_output=True, text=True)
    assert "'broken': 0" in done.stdout.splitlines()[-1], done.stdout


def test_the_judge_tells_accidents_from_refusals():
    accidents = [lambda: int("x"), lambda: np.zeros(3).reshape(2, 2), lambda: [][0]]
    for accident in accidents:
        with pytest.raises((ValueError, IndexError)) as caught:
            accident()
        assert not fuzz.on_purpose(caught.value)
    with pytest.raises(ValueError, match="smoothing") as caught:
        NaiveBayes(smoothing=-1).fit([[0], [1]], [0, 1])
    assert fuzz.on_purpose(caught.value)


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("features", ["gaussian", "gaussian-pooled", "mixture-2", "categorical"])
@pytest.mark.parametrize("low", [-1e308, -5e-324, 0.0])
@pytest.mark.parametrize("high", [1.7e308, 5e-324])
@pytest.mark.parametrize("rounded", [False, True])
def test_the_largest_and_smallest_numbers(features, low, high, rounded):
    X = np.array([[low, 0.0], [high, 1.0], [low, 1.0], [high, 1.0]] * 3)
    y = np.array([0, 1, 0, 1] * 3)
    for var_smoothing in (None, 1e300):
        model = NaiveBayes(features, var_smoothing=var_smoothing, rounded=rounded)
        found = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(found.sum(1), 1)
        if features == "categorical":
            np.testing.assert_array_equal(model.predict(X), y)
    assert np.isfinite(rank(X, y, "relieff").scores).all()
    cv = "train" if features in ("gaussian-pooled", "mixture-2") else "loo"
    selector = plain_selector(NaiveBayes(features), cv=cv, random_state=0).fit(X, y)
    assert np.isfinite([step.score for step in selector.path_.steps]).all()


@pytest.mark.filterwarnings("ignore:column 'x0' has 1 distinct")
@pytest.mark.parametrize("features", ["gaussian", "gaussian-pooled", "mixture-2"])
@pytest.mark.parametrize("var_smoothing", [None, 1e-9, 1e300])
def test_squares_that_overflow_decide_as_others_do(features, var_smoothing):
    X, y = np.array([[-1.7e308], [1.7e308]] * 4), np.array([0, 1] * 4)
    model = NaiveBayes(features, var_smoothing=var_smoothing)
    wanted = model.fit(X * 2.0**-900, y).predict_proba(X * 2.0**-900)
    found = model.fit(X, y).predict_proba(X)
    if var_smoothing is None:  # the gap between both values is beyond all floats
        np.testing.assert_array_equal(found.argmax(1), y)
    else:
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_texts_cast_no_votes():
    votes = FeatureVotes().fit(np.array([[1, 0], [1, 1], [0, 0], [0, 1]]), [1, 1, 0, 0])
    texts = np.array([["a", 1], ["b", 0]], object)
    assert votes.decision_function(texts).tolist() == [1, 0]


def test_frames_of_mixed_columns_are_transformed():
    X = pd.DataFrame(
        {
            "number": pd.array([1, 2, None, 4, 5, 6] * 2, dtype="Int64"),
            "kind": pd.Categorical(["a", "b", "a", "b", None, "a"] * 2),
        }
    )
    selector = plain_selector(random_state=0, n_features=2).fit(X, [0, 1, 0, 1, 1, 0] * 2)
    found = selector.transform(X)
    assert found.shape == (12, 2)
    assert found[:2].tolist() == [[1.0, "a"], [2.0, "b"]]
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(X.rename(columns={"kind": "other"}))


def test_wide_frames_read_like_narrow_ones(monkeypatch):
    from bayesieve.data import tables

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (20, 8)).astype(float), columns=list("abcdefgh"))
    X.iloc[3, 2] = np.nan
    y = np.arange(20) % 2
    wanted = NaiveBayes().fit(X, y).predict_proba(X)
    bad = X.copy()
    bad.iloc[1, 5] = np.inf
    with pytest.raises(ValueError, match="infinity") as narrow:
        NaiveBayes().fit(bad, y)
    monkeypatch.setattr(tables, "_WIDE", 1)
    np.testing.assert_array_equal(NaiveBayes().fit(X, y).predict_proba(X), wanted)
    with pytest.raises(ValueError, match="infinity") as wide:
        NaiveBayes().fit(bad, y)
    assert str(wide.value) == str(narrow.value)


def test_nested_lists_of_unequal_shape():
    with pytest.raises(ValueError, match="X must be a table: rows of equal length"):
        NaiveBayes().fit([[1, 2], [1]], [0, 1])
