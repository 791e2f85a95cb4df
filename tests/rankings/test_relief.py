"""ReliefF, rankings judged, and the reproduction of Sotoca et al."""

import warnings

import numpy as np
import pandas as pd
import pytest
import skrebate
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import bayesieve_papers as papers
from bayesieve import NaiveBayes, rank
from bayesieve.datasets import load, make_waveform
from bayesieve.evaluation.curve import Neighbours, evaluate_ranking
from bayesieve.rankings import ReliefF, relevance_matrix
from bayesieve.rankings.divergence import Divergence
from bayesieve.search import RankedSearch
from bayesieve_papers import sotoca
from plain import plain_selector

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=30, deadline=None, derandomize=True)


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
        selector = plain_selector(search=RankedSearch(ranking), random_state=0).fit(X, y)
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
