"""scikit-learn as a second opinion, where its definitions coincide with ours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

from bayesieve import NaiveBayes

seeds = st.integers(0, 2**32 - 1)
many = settings(max_examples=40, deadline=None, derandomize=True)


def random_labels(rng):
    n_classes = int(rng.integers(2, 5))
    return rng.permutation(np.concatenate([np.arange(n_classes)] * int(rng.integers(3, 30))))


@many
@given(seed=seeds, alpha=st.sampled_from([0.01, 0.5, 1.0, 7.0]), weighted=st.booleans())
def test_bernoulli(seed, alpha, weighted):
    rng = np.random.default_rng(seed)
    y = random_labels(rng)
    X = (rng.random((y.size, 8)) < rng.random(8)).astype(int)
    weights = rng.random(y.size) + 0.1 if weighted else None
    ours = NaiveBayes("bernoulli", alpha).fit(X, y, weights)
    theirs = BernoulliNB(alpha=alpha).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10, rtol=0)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@many
@given(seed=seeds, alpha=st.sampled_from([0.01, 1.0, 3.0]), uniform=st.booleans())
def test_categorical(seed, alpha, uniform):
    rng = np.random.default_rng(seed)
    y = random_labels(rng)
    X = rng.integers(0, 5, (y.size, 6))
    X[:5] = np.arange(5)[:, None]  # every level seen: an unseen one is silent here, not there
    ours = NaiveBayes("categorical", alpha, "uniform" if uniform else None).fit(X, y)
    theirs = CategoricalNB(alpha=alpha, fit_prior=not uniform).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10, rtol=0)


@many
@given(seed=seeds, share=st.sampled_from([1e-9, 1e-3, 0.5]), given_priors=st.booleans())
def test_gaussian(seed, share, given_priors):
    rng = np.random.default_rng(seed)
    y = random_labels(rng)
    X = rng.normal(size=(y.size, 5)) * 10.0 ** rng.integers(-3, 4, 5) + rng.normal(size=5)
    X = X + y[:, None]
    priors = rng.dirichlet(np.ones(y.max() + 1)) if given_priors else None
    ours = NaiveBayes("gaussian", priors=priors, var_smoothing=share).fit(X, y)
    theirs = GaussianNB(priors=priors, var_smoothing=share).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10, rtol=0)
    # A single density is held within 2^14 nat; sums above -2^13 cannot have touched that.
    joint = theirs.predict_joint_log_proba(X)
    near = joint > -(2.0**13)
    assert near.any()
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X)[near], joint[near], atol=1e-8, rtol=0
    )


@pytest.mark.parametrize("n_batches", [2, 5])
def test_partial_fit_is_scikit_learns(n_batches):
    rng = np.random.default_rng(0)
    y = random_labels(rng)
    X = rng.normal(size=(y.size, 4)) + y[:, None]
    B = (X > 0.5).astype(int)
    ours, theirs = NaiveBayes(), BernoulliNB()
    for rows in np.array_split(np.arange(y.size), n_batches):
        ours.partial_fit(B[rows], y[rows], classes=np.unique(y))
        theirs.partial_fit(B[rows], y[rows], classes=np.unique(y))
    np.testing.assert_allclose(ours.predict_proba(B), theirs.predict_proba(B), atol=1e-10, rtol=0)
