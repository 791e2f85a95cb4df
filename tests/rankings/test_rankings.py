"""Rankings and the ranked search."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import mutual_info_score

from bayesieve import rank
from bayesieve.engine.threads import Threads
from bayesieve.rankings import MRMR, ChiSquare, DiscreteColumns, MutualInformation
from bayesieve.rankings.rank import ranking_names
from bayesieve.search import RankedSearch
from jitless import printed_both_ways
from plain import plain_selector
from tables import binary_table

seeds = st.integers(0, 2**32 - 1)


def plain_mrmr(X, y, form):
    """Peng's greedy rule, by the book."""
    relevance = [mutual_info_score(X[:, j], y) for j in range(X.shape[1])]
    taken = []
    while len(taken) < X.shape[1]:
        worth = {}
        for j in range(X.shape[1]):
            if j not in taken:
                repeats = np.mean([mutual_info_score(X[:, j], X[:, s]) for s in taken] or [0.0])
                if form == "difference" or not taken:
                    worth[j] = relevance[j] - repeats
                else:
                    worth[j] = relevance[j] / repeats
        taken.append(max(worth, key=lambda j: (round(worth[j], 12), -j)))
    return taken


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=seeds, n_values=st.sampled_from([2, 4]), form=st.sampled_from(["difference", "quotient"])
)
def test_mrmr_is_pengs(seed, n_values, form):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 150)
    X = rng.integers(0, n_values, (150, 7))
    for j in range(4):
        mine = rng.random(150) < 0.5
        X[mine, j] = y[mine] % n_values
    table = X if n_values == 2 else pd.DataFrame(X.astype(str))
    assert rank(table, y, MRMR(form)).order.tolist() == plain_mrmr(X, y, form)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=seeds, n_classes=st.integers(2, 5))
def test_information_is_scikit_learns(seed, n_classes):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, 200)]
    X = (rng.random((y.size, 9)) < 0.2 + 0.3 * (y % 2)[:, None]).astype(bool)
    X[:, 3] = X[:, 2]
    X[:, 4] = False
    found = rank(X, y)
    wanted = [mutual_info_score(X[:, j], y) for j in range(9)]
    np.testing.assert_allclose(found.scores, wanted, atol=1e-12)
    order = found.order.tolist()
    assert order.index(2) < order.index(3)
    assert sorted(order) == list(range(9))
    np.testing.assert_allclose(rank(X, y, n_jobs=2).scores, found.scores, atol=0)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=seeds, n_values=st.sampled_from([2, 4]))
def test_chi2_is_scipys(seed, n_values):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(3), rng.integers(0, 3, 150)]
    X = rng.integers(0, n_values, (y.size, 5))
    X[:n_values] = np.arange(n_values)[:, None]
    X[rng.random(y.size) < 0.5, 0] = 0
    X[:, 4] = 1  # says nothing
    table = X if n_values == 2 else pd.DataFrame(X.astype(str))
    found = rank(table, y, "chi2")
    for j in range(4):
        counts = np.zeros((n_values, 3))
        np.add.at(counts, (X[:, j], y), 1)
        wanted = chi2_contingency(counts[counts.sum(1) > 0], correction=False).statistic
        assert found.scores[j] == pytest.approx(wanted, abs=1e-8)
    assert found.scores[4] == 0
    assert found.order.tolist() == np.argsort(-found.scores, kind="stable").tolist()
    np.testing.assert_array_equal(rank(table, y, "chi2", n_jobs=2).scores, found.scores)


@pytest.mark.parametrize("ranking", ["mutual-information", "chi2"])
def test_a_filter_may_stop_at_the_first_feature_that_does_not_help(ranking):
    X, y = binary_table(300, 12)
    walk = plain_selector(
        search=RankedSearch(ranking), criterion="error", cv=5, validation=None
    ).fit(X, y)
    errors = [step.key for step in walk.path_.steps][1:]
    better = 1
    while better < len(errors) and errors[better] < errors[better - 1]:
        better += 1
    short = plain_selector(
        search=RankedSearch(ranking, stop="no-improvement"), criterion="error", cv=5,
        validation=None,
    ).fit(X, y)  # fmt: skip
    assert [step.key for step in short.path_.steps][1:] == errors[:better]
    assert short.n_tried_ == min(better + 1, 12)
    with pytest.raises(ValueError, match="may end before n_features"):
        plain_selector(search=RankedSearch(stop="no-improvement"), n_features=3).fit(X, y)


def test_bits_and_codes_agree_and_weights_are_repeats():
    X, y = binary_table(300, 10)
    weights = np.random.default_rng(0).integers(1, 4, 300)
    rows = np.repeat(np.arange(300), weights)
    levels = np.full(10, 2)
    with Threads(1) as engine:
        for method in (MutualInformation(), ChiSquare(), MRMR(), MRMR("quotient")):
            weighted = method.rank(
                DiscreteColumns(X.T.copy(), levels, weights.astype(float)), y, 3, engine, 10
            )
            repeated = method.rank(
                DiscreteColumns(X[rows].T.copy(), levels, np.ones(rows.size)),
                y[rows],
                3,
                engine,
                10,
            )
            assert weighted.order.tolist() == repeated.order.tolist()
            np.testing.assert_allclose(weighted.scores, repeated.scores, atol=1e-12)


def test_missing_values_are_left_out_of_a_pair():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = np.column_stack([y ^ (rng.random(100) < 0.2), rng.integers(0, 2, 100)]).astype(float)
    X[::5, 0] = np.nan
    known = ~np.isnan(X[:, 0])
    assert rank(X, y).scores[0] == pytest.approx(mutual_info_score(X[known, 0], y[known]))


def test_only_the_first_are_ranked_with_care():
    X, y = binary_table(200, 12)
    whole, part = rank(X, y, "mrmr"), rank(X, y, "mrmr", n_features=4)
    assert part.order[:4].tolist() == whole.order[:4].tolist()
    assert sorted(part.order.tolist()) == list(range(12))
    assert np.isneginf(part.scores).sum() == 8


@pytest.mark.parametrize("method", ["mutual-information", "chi2", "mrmr"])
def test_the_ranked_search_walks_the_order_of_the_guiding_rows(method):
    X, y = binary_table(300, 12)
    selector = plain_selector(search=RankedSearch(method), random_state=0).fit(X, y)
    rows = selector.guiding_rows_
    wanted = rank(X[rows], y[rows], method).order.tolist()
    walked = [step.units[0] for step in selector.path_.steps if step.action == "add"]
    assert walked == wanted
    assert selector.selected_.tolist() == wanted[: len(selector.selected_)]
    grouped = plain_selector(
        search=RankedSearch(method), feature_groups=[[0, 11]], keep=[5], random_state=0
    ).fit(X, y)
    walked = [step.units for step in grouped.path_.steps]
    assert len(walked) == 11
    given_order = RankedSearch(order=(3, 1, 2))
    by_hand = plain_selector(search=given_order, random_state=0, n_features=2).fit(X, y)
    assert by_hand.selected_.tolist() == [3, 1]


def test_bad_rankings():
    X, y = binary_table()
    with pytest.raises(ValueError, match=r"method must be one of .*mean 'mrmr'"):
        rank(X, y, "mrrm")
    with pytest.raises(ValueError, match="form must be one of 'difference', 'quotient'"):
        rank(X, y, MRMR("ratio"))
    with pytest.raises(ValueError, match=r"column 'x0' has 300 levels.*at most 255"):
        rank(np.array([[f"v{i}"] for i in range(300)]), np.arange(300) % 2)
    with pytest.raises(ValueError, match="n_features must be a whole number from 1 to 12; got 13"):
        rank(X, y, n_features=13)
    with pytest.raises(ValueError, match="at least 2 classes"):
        rank(X, np.zeros(200))
    with pytest.raises(ValueError, match="ranking must be one of"):
        plain_selector(search=RankedSearch("chi3")).fit(X, y)
    with pytest.raises(ValueError, match="order: column 99 is not among the columns"):
        plain_selector(search=RankedSearch(order=(1, 99))).fit(X, y)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=seeds)
def test_columns_that_say_the_same_stay_equal(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 157)
    x = (rng.random(157) < 0.4).astype(int)
    found = rank(np.column_stack([x, 1 - x]), y)
    assert found.scores[0] == found.scores[1]
    assert found.order.tolist() == [0, 1]
    assert rank(np.column_stack([x, 1 - x]), (y + 1) % 3).scores[0] == found.scores[0]


@pytest.mark.parametrize("method", ["mutual-information", "chi2", "mrmr"])
def test_a_ranking_is_a_score_function_of_scikit_learn(method):
    X, y = binary_table(300, 12)
    peer = SelectKBest(partial(rank, method=method), k=4).fit(X, y)
    assert set(np.flatnonzero(peer.get_support())) == set(rank(X, y, method).order[:4].tolist())


def test_ranked_search_keeps_exact_sizes_in_reach():
    y = np.repeat([0, 1], 20)
    X = np.column_stack([y, y, np.random.default_rng(0).integers(0, 2, (40, 2))])
    selector = plain_selector(
        search="ranked", n_features=3, feature_groups=[[1, 2, 3]], random_state=0
    ).fit(X, y)
    assert sorted(selector.selected_.tolist()) == [1, 2, 3]


_SCORES = """
import json
import sys

import numpy as np
from sklearn.datasets import load_iris, load_wine

from bayesieve import rank
from bayesieve.models import MODELS, one_set
from bayesieve.rankings.divergence import Divergence

found = {}
rng = np.random.default_rng(3)
tables = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
X, y = rng.normal(size=(90, 4)).round(1), rng.integers(0, 3, 90)
X[:, 1], X[::7, 0] = X[:, 1] > y - 1, np.nan
tables["mixed"] = X * 10.0 ** np.array([0, 0, -5, 9]), y
for table, (X, y) in tables.items():
    for name in json.loads(sys.argv[1]):
        method = Divergence(model=name[1], as_printed=True) if isinstance(name, list) else name
        scores = rank(X[::6, :4], y[::6], method).scores
        found[f"{table}, {name}"] = [float(score).hex() for score in scores]
# Weights that are not whole, and sums of them.
sets = one_set(y, rng.random(y.size), np.ones(3))
for name in ("gaussian", "mixture-3"):
    for field, part in MODELS[name].statistics(X[:, 2], 0, sets)._asdict().items():
        found[f"{name}, {field}"] = [float(value).hex() for value in part.ravel()]
print(json.dumps(found))
"""


def test_scores_do_not_depend_on_the_compiler():
    names = [*ranking_names(), ["printed", "mixture-2"]]
    compiled, interpreted = map(json.loads, printed_both_ways(_SCORES, json.dumps(names)))
    assert len(compiled) > 3 * len(names) + 9
    assert compiled == interpreted
