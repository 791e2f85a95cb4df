"""Mixtures, and how far each feature separates each class."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold

from bayesieve import NaiveBayes, rank
from bayesieve.datasets import load, make_waveform
from bayesieve.models import MODELS, one_set
from bayesieve.models.kernels.mixture import em
from bayesieve.rankings import relevance_matrix
from bayesieve.rankings.divergence import floating_scheme
from plain import plain_selector

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=30, deadline=None, derandomize=True)


def fitted(values, n_components, tolerance=1e-9, most=2000, floor=1e-6, as_printed=False):
    points, counts = np.unique(values, return_counts=True)
    share, mean, variance = np.empty((3, n_components))
    found = em(
        points, counts.astype(float), floor, tolerance, most, as_printed, share, mean, variance
    )
    return found, share, mean, variance


@pytest.mark.parametrize("options", [{}, {"var_smoothing": 1e-9}, {"rounded": True}])
def test_one_component_is_the_gaussian_model(options):
    X, y = make_waveform(300, 4, random_state=0)
    X[::7, 1] = np.nan
    X[y == 1, 0] = 3.0  # constant within a class
    X[:, 2] = np.round(X[:, 2])
    X[0, 3] = 1000.0
    one = NaiveBayes("gaussian", **options).fit(X, y)
    other = NaiveBayes("mixture-1", **options).fit(X, y)
    np.testing.assert_allclose(other.terms(X), one.terms(X), atol=1e-10)
    for cv in (3, "train"):
        steps = [
            plain_selector(NaiveBayes(name), "forward", "error", cv, validation=None).fit(X, y)
            for name in ("gaussian", "mixture-1")
        ]
        assert steps[0].selected_.tolist() == steps[1].selected_.tolist()


@quick
@given(seed=seeds, n_components=st.integers(1, 6), rounded=st.booleans())
def test_a_step_never_loses_likelihood(seed, n_components, rounded):
    rng = np.random.default_rng(seed)
    values = np.concatenate(
        [rng.normal(rng.normal() * 3, rng.random() + 0.1, 30) for _ in range(3)]
    )
    values = values.round(1) if rounded else values
    likelihoods = [
        fitted(values, n_components, tolerance=-np.inf, most=most, floor=0.05)[0][0]
        for most in range(1, 15)
    ]
    assert (np.diff(likelihoods) > -1e-9 * np.abs(likelihoods[0])).all()


def test_the_likelihood_is_the_likelihood():
    values = np.random.default_rng(0).normal(size=50).round(1)
    (found, _), share, mean, variance = fitted(values, 3, floor=0.02)
    density = sum(
        a * norm.pdf(values, m, np.sqrt(v)) for a, m, v in zip(share, mean, variance, strict=True)
    )
    assert found == pytest.approx(np.log(density).sum())
    assert share.sum() == pytest.approx(1)


def test_scikit_learn_ends_in_the_same_place():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(m, 0.5, 400) for m in (0, 5, 10)])
    _, share, mean, variance = fitted(values, 3, tolerance=1e-13)
    low, high = values.min(), values.max()
    starts = low + (high - low) * (np.arange(3) + 0.5) / 3
    peer = GaussianMixture(
        3, means_init=starts[:, None], weights_init=np.full(3, 1 / 3), tol=1e-13, max_iter=5000,
        precisions_init=np.full((3, 1, 1), (6 / (high - low)) ** 2), reg_covar=0,
    ).fit(values[:, None])  # fmt: skip
    np.testing.assert_allclose(share, peer.weights_, atol=1e-6)
    np.testing.assert_allclose(mean, peer.means_.ravel(), atol=1e-6)
    np.testing.assert_allclose(variance, peer.covariances_.ravel(), atol=1e-6)


def test_stopping_rules_and_the_choice_of_components():
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.normal(m, 0.3, 200) for m in (0, 4)])
    (_, steps), *_ = fitted(values, 2, as_printed=True)
    (_, longer), *_ = fitted(values, 2)
    assert 1 <= steps < longer
    y = np.repeat([0, 1], 400)
    column = np.concatenate([values, rng.normal(size=400)])
    statistics = MODELS["mixture"].statistics(column, 1, one_set(y, np.ones(800), np.ones(2)))
    assert (statistics.share[0, 0] > 0).sum() == 2
    assert (statistics.share[0, 1] > 0).sum() == 1


def test_mixtures_see_what_one_bell_cannot():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = np.where(y == 1, rng.choice([-3, 3], 600), rng.choice([-6, 0, 6], 600))[:, None]
    X = X + rng.normal(size=X.shape)
    X = np.hstack([X, rng.normal(size=(600, 2))])
    bell, mixture = (NaiveBayes(f).fit(X[:300], y[:300]).score(X[300:], y[300:])
                     for f in ("gaussian", "mixture-3"))  # fmt: skip
    assert mixture > bell + 0.05
    for criterion in ("error", "probability", "auc"):
        selector = plain_selector(
            NaiveBayes("mixture-3"), "forward-backward", criterion, 3, validation=None
        ).fit(X, y)
        assert selector.selected_[0] == 0
    with pytest.raises(
        ValueError, match="cv='loo' has no closed form for the feature model 'mixture"
    ):
        plain_selector(NaiveBayes("mixture"), cv="loo").fit(X, y)
    with pytest.raises(ValueError, match="'mixture-2' cannot learn in batches"):
        NaiveBayes("mixture-2").partial_fit(X, y, classes=[0, 1]).partial_fit(X, y)
    folds = plain_selector(
        NaiveBayes("mixture-2"), "forward", "error", KFold(3), validation=None, n_features=1
    ).fit(X, y)
    wrong = 0
    for train, test in KFold(3).split(X):
        model = NaiveBayes("mixture-2").fit(X[train][:, :1], y[train])
        wrong += (model.predict(X[test][:, :1]) != y[test]).sum()
    assert folds.path_.steps[1].score == pytest.approx(wrong / 600, abs=3 / 600)


@pytest.mark.parametrize("kind", ["one row", "constant", "few values", "missing", "huge"])
def test_mixtures_of_awkward_columns(kind):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) + y[:, None]
    if kind == "one row":
        y[40:59] = 1
    elif kind == "constant":
        X[y == 1, 0] = 3.0
    elif kind == "few values":
        X[:, 0] = y % 2
    elif kind == "missing":
        X[y == 1, 0] = np.nan
    else:
        X[:, 0] *= 1e200
    for name in ("mixture", "mixture-5"):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            proba = NaiveBayes({0: name, 1: name}).fit(X, y).predict_proba(X)
        assert np.isfinite(proba).all()
        assert proba.sum(1) == pytest.approx(1)
        named = [str(w.message) for w in said if "distinct value(s) in class" in str(w.message)]
        assert bool(named) == (
            name == "mixture-5" and kind in ("one row", "constant", "few values")
        )
        assert all("column 'x0'" in message for message in named)
        if named:
            with pytest.warns(UserWarning, match="column 'x0' has"):
                plain_selector(NaiveBayes({0: name, 1: name}), validation=None).fit(X, y)


def test_divergence_of_two_bells_tends_to_its_closed_form():
    rng = np.random.default_rng(0)
    n = 40000
    y = np.repeat([0, 1], n)
    X = np.concatenate([rng.normal(0, 1, n), rng.normal(1, 2, n)])[:, None]
    closed = 0.5 * ((1 + 1) / 4 - 1 + np.log(4)) + 0.5 * ((4 + 1) / 1 - 1 - np.log(4))
    for model in ("gaussian", "mixture-1"):
        found = relevance_matrix(X, y, model).values
        assert found == pytest.approx(np.full((2, 1), closed), rel=0.03)


@quick
@given(seed=seeds, model=st.sampled_from(["gaussian", "mixture-3"]))
def test_relevance_does_not_depend_on_units(seed, model):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    X = (rng.normal(size=(60, 3)) + y[:, None] * [1, 0.5, 0]).round(2)
    factor = rng.choice([-1, 1], 3) * rng.uniform(0.1, 100, 3)
    one = relevance_matrix(X, y, model).values
    other = relevance_matrix(X * factor + rng.normal(size=3), y, model).values
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
    assert (one > -1e-9).all()


def test_discrete_columns_have_a_divergence_by_counts():
    table = pd.DataFrame({"a": list("uuvvwwuv"), "b": [0, 1] * 4, "c": ["x"] * 8})
    y = np.array([0, 0, 1, 1, 1, 0, 1, 0])
    found = relevance_matrix(table, y)

    def of(counts):
        p = (counts + 1) / (counts + 1).sum()
        return p, counts / counts.sum()

    counts = {k: [((table["a"] == v) & (y == k)).sum() for v in "uvw"] for k in (0, 1)}
    (p0, e0), (p1, e1) = of(np.array(counts[0])), of(np.array(counts[1]))
    wanted = (e1 - e0) @ (np.log(p1) - np.log(p0))
    assert found.values[:, 0] == pytest.approx([wanted, wanted])
    assert (found.values[:, 2] == 0).all()
    assert list(found.to_dict()) == ["class", "a", "b", "c"]


def test_as_printed_is_eq_7_to_the_letter():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    x = rng.normal(size=80) + y
    found = relevance_matrix(x[:, None], y, "gaussian", as_printed=True).values[1, 0]
    model = NaiveBayes("gaussian").fit(x[:, None], y)
    terms = model.terms(x[:, None])[:, 0]
    f = np.exp(terms) / model.fitted_.specs[0].resolution
    wanted = (f[:, 1] * np.log(f[:, 1] / f[:, 0])).sum() + (
        f[:, 0] * np.log(f[:, 0] / f[:, 1])
    ).sum()
    assert found == pytest.approx(wanted, rel=1e-6)


def plain_scheme(weights, shares):
    """The paper's listing, by its words."""
    n_classes, d = len(weights), len(weights[0])
    ranked = [sorted(range(d), key=lambda k: (-row[k], k)) for row in weights]

    def worth(subset, col):
        return sum(
            shares[j] * weights[j][k] / n_classes
            for k in subset
            for j in range(n_classes)
            if k in ranked[j][:col]
        )

    subset, gone = set(range(d)), []

    def exclude(col):
        worst = max(
            sorted(subset),
            key=lambda k: (round(worth(subset - {k}, col), 12), -worth([k], d), -k),
        )
        subset.discard(worst)
        if worst in gone:
            gone.remove(worst)
        gone.append(worst)
        return worst

    local, col = exclude(d), d - 1
    while col > 1 and subset:
        back = exclude(col)
        outside = sorted(set(range(d)) - subset)
        forth = max(outside, key=lambda k: (round(worth(subset | {k}, col), 12), -k))
        if forth != local and worth([forth], col) > 0:
            subset.add(forth)
        local = back
        col -= 1
    first = sorted(subset, key=lambda k: (-round(worth([k], d), 12), k))
    return [*first, *(k for k in reversed(gone) if k not in subset)]


@quick
@given(seed=seeds, n_classes=st.integers(2, 4), d=st.integers(2, 9))
def test_the_floating_scheme_is_the_papers(seed, n_classes, d):
    rng = np.random.default_rng(seed)
    weights = rng.random((n_classes, d))
    weights /= weights.sum(1, keepdims=True)
    shares = rng.dirichlet(np.ones(n_classes))
    assert floating_scheme(weights, shares).order.tolist() == plain_scheme(weights.tolist(), shares)


@pytest.mark.parametrize("name", ["divergence", "divergence-normalised", "divergence-sbfs"])
def test_noise_ranks_last(name):
    X, y = make_waveform(3000, 19, random_state=0)
    ranking = rank(X, y, name, n_jobs=2)
    assert sorted(ranking.order.tolist()) == list(range(40))
    # Both ends of the waves are noise too.
    assert set(ranking.order[19:].tolist()) == {0, 20, *range(21, 40)}


def test_printed_densities_of_a_pooled_model():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    x = rng.normal(size=200) + y
    found = relevance_matrix(x[:, None], y, "gaussian-pooled", as_printed=True).values[0, 0]
    spread = np.sqrt(
        np.mean([((x[y == k] - x[y == k].mean()) ** 2).sum() for k in (0, 1)]) * 2 / 200
    )
    f0, f1 = (norm.pdf(x, x[y == k].mean(), spread) for k in (0, 1))
    assert found == pytest.approx(((f1 - f0) * np.log(f1 / f0)).sum(), rel=1e-6)


def test_small_weights_do_not_buy_components():
    data = load("wine")
    y = np.unique(data.y, return_inverse=True)[1]
    sets = [one_set(y, np.full(y.size, w), np.ones(3)) for w in (1.0, 1 / y.size)]
    most = [
        (MODELS["mixture"].statistics(data.X[:, 0].copy(), 1, each).share[0] > 0).sum(-1).max()
        for each in sets
    ]
    assert most[0] <= 3
    assert most[1] < 7
    tiny = one_set(y, np.full(y.size, 1e-14), np.ones(3))
    one, other = (
        MODELS["mixture-2"].statistics(data.X[:, 0].copy(), 1, s) for s in (sets[0], tiny)
    )
    np.testing.assert_allclose(one.centre, other.centre, rtol=1e-6)


def test_mixtures_do_not_depend_on_scale_and_do_not_complain():
    X, y = make_waveform(200, random_state=0)
    plain = NaiveBayes("mixture-3").fit(X, y).predict_proba(X)
    holes = np.full((1, 21), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for factor in (1e-150, 1e100):
            model = NaiveBayes("mixture-3").fit(X * factor, y)
            np.testing.assert_allclose(model.predict_proba(X * factor), plain, atol=1e-4)
        assert np.isfinite(NaiveBayes("mixture-3").fit(X, y).predict_proba(holes)).all()
        plain_selector(
            NaiveBayes("mixture-2"), "forward", "auc", validation=None, max_features=3
        ).fit(X, y == 1)


def test_a_feature_called_class_is_not_lost():
    table = pd.DataFrame({"class": [0.0, 1, 2, 3], "a": [1.0, 2, 1, 2]})
    with pytest.raises(ValueError, match="a feature is called 'class'"):
        relevance_matrix(table, [0, 0, 1, 1], "gaussian").to_dict()
