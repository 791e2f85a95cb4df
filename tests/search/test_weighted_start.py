"""Paths of weighted terms that begin where somebody says."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from bayesieve import WeightedNaiveBayes
from bayesieve.search.term_pool import WeightPlan
from weighted import MODELS_OF_MIXED, cut_journals, left_out_ratio, mixed, terms_of, weighing_of

NAMES = ["a", "b", "c", "d", "e", "f"]
RIDGE = 4.0


def promised(said, y, step, term):
    """What a Newton step of a term's weights gains, from the definition, row by row."""
    scores = step.constants[0] / 64 + sum(
        weights / 16 * said[each] for each, weights in zip(step.terms, step.weights[0], strict=True)
    )
    P = np.exp(scores - scores.max(1, keepdims=True))
    P /= P.sum(1, keepdims=True)
    n_classes = P.shape[1]
    slope, curve = np.zeros(n_classes), np.zeros((n_classes, n_classes))
    for i, line in enumerate(said[term]):
        slope += ((np.arange(n_classes) == y[i]) - P[i]) * line
        curve += (np.diag(P[i]) - np.outer(P[i], P[i])) * np.outer(line, line)

    def loss(move):
        return -slope @ move + 0.5 * move @ curve @ move + 0.5 * RIDGE * move @ move

    return -minimize(loss, np.zeros(n_classes), bounds=[(0, 1)] * n_classes).fun


@pytest.mark.parametrize("start", [((5,), (0,)), ((0, 4), (2,)), ((3, 4), (1, 2))])
def test_a_path_begins_with_these_terms_and_goes_on_with_what_promises_most(start):
    X, y = mixed()
    price, pair_price = 0.2, 2.0
    plan = WeightPlan(units=tuple((j,) for j in range(6)), ridge=RIDGE, start=start)
    weighing = weighing_of(X, y, MODELS_OF_MIXED, True, plan)
    term_of = {pair.columns: 6 + p for p, pair in enumerate(weighing.pairs)}
    wanted = [term_of[term] if len(term) == 2 else term[0] for term in start]
    steps = list(weighing.greedy(price).walk())
    assert [step.unit for step in steps[:3]] == [-1, *wanted]
    assert [step.gain for step in steps[1:3]] == [np.inf, np.inf]
    assert len(steps) > 3
    every = range(len(weighing.units))
    said = [
        np.array([left_out_ratio(X, y, MODELS_OF_MIXED, weighing, t, i) for i in range(len(y))])
        for t in every
    ]
    come = set(wanted)
    for before, after in pairwise(steps[2:]):
        gains = {
            t: promised(said, y, before, t) - price - pair_price * (t >= 6)
            for t in every
            if t not in come
        }
        best = max(gains, key=gains.get)
        assert after.unit == best
        come.add(after.unit)


def test_an_empty_start_is_none():
    X, y = mixed()
    plain, empty = (WeightedNaiveBayes(start=start).fit(X, y) for start in (None, []))
    assert plain.path_.to_dict() == empty.path_.to_dict()
    assert (plain.weights_ == empty.weights_).all()
    assert (plain.predict_proba(X) == empty.predict_proba(X)).all()


def test_names_numbers_pairs_and_what_another_model_selected():
    X, y = mixed(n_rows=200)
    frame = pd.DataFrame(X, columns=NAMES)
    model = WeightedNaiveBayes(start=["f", ("e", "d"), 1], price=0.1, pairs=True).fit(frame, y)
    assert model.path_.to_dict()["term"][2:4] == ["d x e", "b"]
    assert model.path_.to_dict()["gain"][1:4] == [np.inf] * 3
    again = WeightedNaiveBayes(start=terms_of(model), price=1000.0, pairs=True).fit(frame, y)
    assert set(terms_of(again)) <= set(terms_of(model))
    assert len(again.path_) == len(terms_of(model)) + 1
    assert WeightedNaiveBayes(start=[(3, 4)]).fit(X, y).settings_["pairs"], "a pair asks for pairs"


def test_what_gets_no_weight_leaves_again_and_what_is_kept_stays():
    y = np.tile([0, 1], 60)
    X = np.column_stack([np.tile([0, 0, 1, 1], 30), y ^ (np.arange(120) % 7 == 0)]).astype(float)
    X[0, 0] = 1.0
    found = WeightedNaiveBayes(start=[0], price=1.0).fit(X, y)
    assert [step.units for step in found.path_.steps] == [(), (0,), (1,)]
    assert terms_of(found) == [(1,)]
    assert terms_of(WeightedNaiveBayes(start=[0], keep=[0]).fit(X, y)) == [(0,), (1,)]


def test_a_pair_that_nobody_would_look_at_is_made():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = (rng.random((300, 120)) < 0.3 + 0.2 * y[:, None]).astype(float)
    X[:, 0] = rng.integers(0, 2, 300)
    X[:, 1] = X[:, 0] != (y ^ (rng.random(300) < 0.05))
    unseen = WeightedNaiveBayes(pairs=True, price=1.0).fit(X, y)
    assert (0, 1) not in terms_of(unseen)
    path = WeightedNaiveBayes(start=[(0, 1)], pairs=True, price=1e9).fit(X, y).path_
    assert path.to_dict()["term"] == [None, "x0 x x1"]
    assert path.steps[1].score < path.steps[0].score


def test_a_stopped_path_goes_on_from_anywhere(tmp_path):
    X, y = mixed(n_rows=200)
    whole, start = tmp_path / "whole", [0, (3, 4), 5, 2]
    model = WeightedNaiveBayes(start=start, keep=[1], checkpoint=whole).fit(X, y)
    for file, _ in cut_journals(whole, tmp_path):
        again = WeightedNaiveBayes(start=start, keep=[1], checkpoint=file).fit(X, y)
        assert again.path_.to_dict() == model.path_.to_dict()
        assert (again.weights_ == model.weights_).all()
    with pytest.raises(ValueError, match="another fit: it differs in start"):
        WeightedNaiveBayes(start=[0], keep=[1], checkpoint=whole).fit(X, y)


def test_groups_come_whole_and_kept_columns_stay():
    X, y = mixed(n_rows=200)
    model = WeightedNaiveBayes(start=[4, 1], keep=[0], feature_groups=[[2, 4]], price=1e9)
    assert model.fit(X, y).path_.to_dict()["term"] == [None, "x2 + x4", "x1", "x0"]
    assert (0,) in terms_of(model)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"start": "a"}, TypeError, "start must be a list of columns and pairs of columns"),
        ({"start": ["z"]}, ValueError, "start[0]: 'z' is not among the columns"),
        ({"start": ["a", ("b", "q")]}, ValueError, "start[1]: 'q' is not among the columns"),
        ({"start": [6]}, ValueError, "start[0]: column 6 is not among the columns"),
        ({"start": [("a", "a")]}, ValueError, "start[0] must be a column, or a pair"),
        ({"start": [("a", "b", "c")]}, ValueError, "start[0] must be a column, or a pair"),
        ({"start": [1.5]}, TypeError, "start[0] must be a column, by name or number"),
        ({"start": np.array([True] * 6)}, TypeError, "Of a mask, give np.flatnonzero(mask)"),
        ({"start": ["a"], "forbid": ["a"]}, ValueError, "start: column 'a' cannot be chosen"),
        ({"start": [("a", "b")], "pairs": False}, ValueError, "start holds a pair of columns"),
        ({"start": list("abc"), "max_terms": 2}, ValueError, "max_terms must be at least 3"),
        (
            {"start": [("a", "b")], "feature_groups": [["a", "c"]]},
            ValueError,
            "start: column 'a' stands in no pair, since feature_groups names it",
        ),
    ],
)
def test_what_cannot_be_begun_with_is_refused(given, error, words):
    X, y = mixed()
    frame = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(error, match=re.escape(words)):
        WeightedNaiveBayes(**given).fit(frame, y)


def test_pairs_that_are_too_large_are_refused():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"a": rng.integers(0, 20, 400), "b": rng.integers(0, 13, 400)}, dtype=str)
    with pytest.raises(ValueError, match="start: the pair 'a' x 'b' has more than 255 cells"):
        WeightedNaiveBayes(start=[("a", "b")]).fit(frame, y)
