"""Mixtures, relevance of features for each class, ReliefF, and Sotoca et al."""

import warnings

import numpy as np
import pandas as pd
import pytest
import skrebate
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, spearmanr
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from bayesieve import (
    NaiveBayes,
    NaiveBayesSelector,
    evaluate_ranking,
    papers,
    rank,
    relevance_matrix,
)
from bayesieve.datasets import load, make_waveform
from bayesieve.evaluate import Neighbours
from bayesieve.kernels.mixture import em
from bayesieve.models import MODELS, one_set
from bayesieve.papers import sotoca
from bayesieve.rankings import ReliefF
from bayesieve.relevance import Divergence, floating_scheme
from bayesieve.search import RankedSearch

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
            NaiveBayesSelector(NaiveBayes(name), "forward", "error", cv, validation=None).fit(X, y)
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
        selector = NaiveBayesSelector(
            NaiveBayes("mixture-3"), "forward-backward", criterion, 3, validation=None
        ).fit(X, y)
        assert selector.selected_[0] == 0
    with pytest.raises(
        ValueError, match="cv='loo' has no closed form for the feature model 'mixture"
    ):
        NaiveBayesSelector(NaiveBayes("mixture"), cv="loo").fit(X, y)
    with pytest.raises(ValueError, match="'mixture-2' cannot learn in batches"):
        NaiveBayes("mixture-2").partial_fit(X, y, classes=[0, 1]).partial_fit(X, y)
    folds = NaiveBayesSelector(
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
    f = np.exp(terms) / model._specs[0].resolution
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


def plain_relief(X, nominal, y, k):
    """Kononenko 1994, row by row."""
    n, d = X.shape
    scaled = X.copy()
    for a in range(d):
        known = X[~np.isnan(X[:, a]), a]
        if not nominal[a]:
            width = known.max() - known.min()
            scaled[:, a] = (X[:, a] - known.min()) / width if width else 0 * X[:, a]
    classes = np.unique(y)
    share = {c: (y == c).mean() for c in classes}

    def gap(one, other, a):
        return float(one != other) if nominal[a] else abs(one - other)

    def diff(a, i, j):
        one, other = scaled[i, a], scaled[j, a]
        mine = [v for v in scaled[y == y[i], a] if not np.isnan(v)]
        theirs = [v for v in scaled[y == y[j], a] if not np.isnan(v)]
        if np.isnan(one) and np.isnan(other):
            return np.mean([gap(v, w, a) for v in mine for w in theirs])
        if np.isnan(one):
            return np.mean([gap(v, other, a) for v in mine])
        if np.isnan(other):
            return np.mean([gap(one, w, a) for w in theirs])
        return gap(one, other, a)

    weights = np.zeros(d)
    for i in range(n):
        apart = [sum(diff(a, i, j) for a in range(d)) for j in range(n)]
        for c in classes:
            others = [j for j in np.flatnonzero(y == c) if j != i]
            near = sorted(others, key=lambda j: (round(apart[j], 12), j))[:k]
            if not near:
                continue
            factor = -1 if c == y[i] else share[c] / (1 - share[y[i]])
            for a in range(d):
                weights[a] += factor * np.mean([diff(a, i, j) for j in near]) / n
    return weights


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=seeds, holes=st.booleans(), k=st.sampled_from([1, 3, 50]))
def test_relieff_is_kononenkos(seed, holes, k):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [14, 9, 5]))
    X = rng.normal(size=(28, 3)) + y[:, None] * [1, 0.3, 0]
    X = np.column_stack([X, rng.integers(0, 3, 28), np.full(28, 2.5)])
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    table = pd.DataFrame(X, columns=list("abcde"))
    table["d"] = [None if np.isnan(v) else f"v{int(v)}" for v in X[:, 3]]
    found = rank(table, y, ReliefF(k))
    wanted = plain_relief(X, [False, False, False, True, False], y, k)
    np.testing.assert_allclose(found.scores, wanted, atol=1e-9)
    np.testing.assert_array_equal(rank(table, y, ReliefF(k), n_jobs=2).scores, found.scores)


def test_relieff_ranks_as_its_peer():
    X, y = make_waveform(300, 6, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = skrebate.ReliefF(n_neighbors=10).fit(X, y)
    assert spearmanr(peer.feature_importances_, rank(X, y, "relieff").scores).statistic >= 0.99


def test_rankings_of_relevance_serve_the_ranked_search():
    X, y = make_waveform(300, 5, random_state=1)
    for ranking in ("relieff", "divergence-sbfs", Divergence("normalised", "gaussian")):
        selector = NaiveBayesSelector(search=RankedSearch(ranking), random_state=0).fit(X, y)
        rows = selector.guiding_rows_
        wanted = rank(X[rows], y[rows], ranking).order.tolist()
        walked = [s.units[0] for s in selector.path_.steps if s.action == "add"]
        assert sorted(walked) == list(range(26))
        # The resolution of a column is learnt from all rows there.
        assert walked == wanted if ranking == "relieff" else walked[0] in wanted[:3]
    with pytest.raises(ValueError, match="k must be a whole number from 1"):
        rank(X, y, ReliefF(0))
    with pytest.warns(UserWarning, match=r"class '0' has 3 row\(s\), not more than the k=10"):
        rank(X[:23], np.repeat([0, 1], [3, 20]), "relieff")
    with pytest.raises(ValueError, match="form must be one of 'mean', 'normalised', 'sbfs'"):
        rank(X, y, Divergence("median"))
    with pytest.raises(ValueError, match="model must be one of"):
        relevance_matrix(X, y, "bernoulli")


@pytest.mark.parametrize("model", ["naive-bayes", "knn"])
def test_every_prefix_of_a_ranking_is_scored(model):
    data = load("wine")
    found = evaluate_ranking(data.X, data.y, "relieff", model, k=3, cv=3)
    assert found.accuracies.shape == (3, 13)
    assert found.accuracy == pytest.approx(found.accuracies.max(1).mean())
    assert (found.chosen == found.accuracies.max(1)).all()
    honest = evaluate_ranking(data.X, data.y, "relieff", model, k=3, cv=3, honest=True)
    np.testing.assert_array_equal(honest.accuracies, found.accuracies)
    assert honest.accuracy <= found.accuracy
    from sklearn.model_selection import StratifiedKFold

    train, test = next(StratifiedKFold(3).split(data.X, data.y))
    order = rank(data.X[train], data.y[train], "relieff").order
    assert order.tolist() == found.orders[0].tolist()
    peer = (
        NaiveBayes()
        if model == "naive-bayes"
        else make_pipeline(MinMaxScaler(), KNeighborsClassifier(3))
    )
    first = np.sort(order[:4])
    peer.fit(data.X[train][:, first], data.y[train])
    assert found.accuracies[0, 3] == pytest.approx(
        peer.score(data.X[test][:, first], data.y[test]), abs=2 / 60
    )


def test_no_two_folds_are_taken_for_one():
    data = load("wine")
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)
    for options in ({"cv": folds}, {"cv": 4, "honest": True}):
        whole = evaluate_ranking(data.X, data.y, "relieff", "knn", k=3, **options)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Neighbours, "walk", _forgetful(Neighbours.walk))
            anew = evaluate_ranking(data.X, data.y, "relieff", "knn", k=3, **options)
        np.testing.assert_array_equal(whole.accuracies, anew.accuracies)
        np.testing.assert_array_equal(whole.sizes, anew.sizes)


def _forgetful(walk):
    def walked(self, *arguments):
        self._known.clear()
        return walk(self, *arguments)

    return walked


def test_neighbours_see_no_test_row_and_cope_with_holes():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    table = pd.DataFrame({"a": rng.normal(size=40) + y, "b": rng.choice(["p", "q", "", None], 40)})
    table.loc[::5, "a"] = np.nan
    table["none"] = np.nan
    split = [(list(range(30)), list(range(30, 40)))]
    one = evaluate_ranking(table, y, "relieff", "knn", k=3, cv=split)
    moved = table.copy()
    moved.loc[39, "a"] = 1e3
    other = evaluate_ranking(moved, y, "relieff", "knn", k=3, cv=split)
    assert np.isfinite(one.accuracies).all()
    assert np.abs(one.accuracies - other.accuracies).max() <= 0.1 + 1e-12  # one row of ten
    mask = np.arange(40) < 30
    same = evaluate_ranking(table, y, "relieff", "knn", k=3, cv=[(mask, ~mask)])
    np.testing.assert_array_equal(same.accuracies, one.accuracies)
    for bad in ([], [(np.arange(30), np.arange(0))]):
        with pytest.raises(ValueError, match=r"cv (must give|gives no)"):
            evaluate_ranking(table, y, cv=bad)
    with pytest.raises(ValueError, match="honest=True needs at least 10 training rows"):
        evaluate_ranking(table, y, cv=[(np.arange(8), np.arange(8, 40))], honest=True)


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
        NaiveBayesSelector(
            NaiveBayes("mixture-2"), "forward", "auc", validation=None, max_features=3
        ).fit(X, y == 1)


def test_a_feature_called_class_is_not_lost():
    table = pd.DataFrame({"class": [0.0, 1, 2, 3], "a": [1.0, 2, 1, 2]})
    with pytest.raises(ValueError, match="a feature is called 'class'"):
        relevance_matrix(table, [0, 0, 1, 1], "gaussian").to_dict()


def test_bad_evaluation():
    data = load("iris")
    with pytest.raises(ValueError, match="model must be one of 'naive-bayes', 'knn'"):
        evaluate_ranking(data.X, data.y, model="tree")
    with pytest.raises(ValueError, match="ranking must be one of"):
        evaluate_ranking(data.X, data.y, "relief")
    with pytest.raises(ValueError, match="needs dense columns and one class a row"):
        evaluate_ranking(data.X, np.column_stack([data.y == "setosa"] * 2).astype(int))


def test_waveforms_are_breimans():
    X, y = make_waveform(20000, 19, random_state=0)
    assert X.shape == (20000, 40)
    assert np.bincount(y) / 20000 == pytest.approx([1 / 3] * 3, abs=0.02)
    means = np.array([X[y == c].mean(0) for c in range(3)])
    assert means.shape == (3, 40)
    assert np.abs(means[:, 21:]).max() < 0.1
    assert means[:, [0, 20]] == pytest.approx(np.zeros((3, 2)), abs=0.1)
    assert means.max() == pytest.approx(4, abs=0.2)
    with pytest.raises(ValueError, match="n_samples must be a whole number from 1"):
        make_waveform(0)


@pytest.fixture(scope="module")
def reproduced():
    return papers.run("sotoca", quick=True, seed=1, n_jobs=1)


def test_both_tables_come_back(reproduced):
    tables = {record.table for record in reproduced.records}
    assert tables == {name + end for name in sotoca.MODELS for end in ("", ", honest")}
    for record in reproduced.records:
        if record.column.endswith("%"):
            assert 80 < record.ours <= 100
        if record.column == "verdict":
            assert record.ours in (-1, 0, 1)
    guided = {(r.table, r.row, r.column): r.ours for r in reproduced.records}
    for (table, row, column), ours in guided.items():
        if table in sotoca.MODELS and column.endswith("%"):
            assert guided[table + ", honest", row, column] <= ours + 1e-9


def test_the_printed_tables_are_the_papers():
    for table in (sotoca.TABLE_2, sotoca.TABLE_3):
        assert list(table) == list(sotoca.SETS)
        assert all(len(row) == 10 for row in table.values())
    assert sum(row[1] for row in sotoca.TABLE_2.values()) == pytest.approx(969.89)
    assert sum(row[7] for row in sotoca.TABLE_3.values()) == pytest.approx(1077.77)


def test_the_figure_is_drawn(reproduced, tmp_path):
    from matplotlib.figure import Figure

    figure = Figure()
    reproduced.draw(figure)
    assert len(figure.axes) == 2
    ax = Figure().subplots()
    X, y = make_waveform(100, random_state=0)
    drawn = relevance_matrix(X, y, "gaussian").plot(ax)
    assert len(drawn.images) == 1
