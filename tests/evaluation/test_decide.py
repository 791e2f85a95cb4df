"""Rules for decisions: costs, asking, ceilings and floors."""

import warnings
from fractions import Fraction
from itertools import accumulate, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from bayesieve import (
    NaiveBayes,
    NaiveBayesSelector,
    WeightedNaiveBayes,
    calibrate,
    decide,
    deploy,
    explain,
)
from bayesieve.datasets import make_signals
from bayesieve.evaluation.thresholds import level_below, lowest_rate, most_beyond, rows_needed
from bayesieve.models.fitted import DecisionRule, Guard, leads_of
from tables import binary_table
from tables import noisy_frame as noisy


def halves(n_rows=400, n_classes=3, seed=0):
    """Rows to train on, and rows held out."""
    X, y = binary_table(n_rows, 8, seed, n_classes)
    half = n_rows // 2
    return (X[:half], y[:half]), (X[half:], y[half:])


# -- costs and asking ----------------------------------------------------------------------------


def twin(proba, costs):
    """The least expected cost, by the definition, in fractions; the first of equals."""
    found = []
    for row in proba:
        totals = [
            sum(p * Fraction(float(costs[k][d])) for k, p in enumerate(row))
            for d in range(len(costs[0]))
        ]
        found.append(totals.index(min(totals)))
    return np.array(found)


@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_costs_and_asking_are_the_oracle_s(seed, n_classes, asks):
    rng = np.random.default_rng(seed)
    sums = rng.integers(-(2**42), 2**42, (50, n_classes))
    costs = np.round(rng.exponential(size=(n_classes, n_classes + asks)), 2)
    costs[np.arange(n_classes), np.arange(n_classes)] = 0
    rule = DecisionRule(tuple(map(tuple, costs)), (), (0,) * n_classes)
    ahead = np.ldexp((sums - sums.max(1, keepdims=True)).astype(float), -40)
    found = rule.decide(sums, np.zeros(n_classes, np.int64), ahead)
    odds = [[Fraction(float(o)) for o in row] for row in np.exp(ahead)]
    wanted = twin(odds, costs)
    # The rule rounds posteriors to 2^-40 of the largest: nothing but near ties may differ.
    spent = np.exp(ahead) @ costs
    rows = np.arange(50)
    near = spent[rows, found] - spent[rows, wanted] <= 1e-10 * costs.max()
    assert (near | (found == wanted)).all()
    assert (found == wanted).mean() > 0.95


@pytest.mark.parametrize("asks", [None, 0.15])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predict_takes_what_costs_least(n_classes, asks):
    (X, y), (held, truth) = halves(n_classes=n_classes)
    rng = np.random.default_rng(1)
    costs = rng.uniform(0.2, 2, (n_classes, n_classes))
    np.fill_diagonal(costs, 0)
    found = decide(NaiveBayes().fit(X, y), held, truth, costs=costs, abstain=asks)
    proba = found.predict_proba(held)
    table = costs if asks is None else np.column_stack([costs, np.full(n_classes, asks)])
    wanted = [[*range(n_classes), None][d] for d in (proba @ table).argmin(1)]
    assert found.predict(held).tolist() == wanted
    assert (None in wanted) == (asks is not None)
    assert found.temperature_ != 1  # costs are weighed by calibrated probabilities
    warm = calibrate(NaiveBayes().fit(X, y), held, truth)
    np.testing.assert_array_equal(proba, warm.predict_proba(held))


def test_equal_costs_are_equal():
    """Three classes that are equally probable: the first of them, whichever they are."""
    rule = DecisionRule(((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0)), (), (0, 0, 0))
    for order in product([0, -7, -12345678901234], repeat=3):
        sums = np.array([order])
        ahead = np.ldexp((sums - sums.max()).astype(float), -40)
        best = [k for k in range(3) if np.rint(np.exp(ahead[0, k]) * 2**40) == 2**40]
        assert rule.decide(sums, np.zeros(3, np.int64), ahead)[0] == best[0]


def test_costs_by_name_and_without_costs():
    (X, y), (held, truth) = halves(n_classes=2)
    names = np.array(["no", "yes"])
    model = NaiveBayes().fit(X, names[y])
    by_name = {"no": {"yes": 1, "ask a person": 0.3}, "yes": {"no": 4, "ask a person": 0.3}}
    frame = pd.DataFrame([[0, 4], [1, 0]], index=["yes", "no"], columns=["yes", "no"])
    one = decide(model, held, names[truth], costs=by_name)
    two = decide(model, held, names[truth], costs=[[0, 1], [4, 0]], abstain=0.3)
    three = decide(model, held, names[truth], costs=frame, abstain={"no": 0.3, "yes": 0.3})
    assert one.predict(held).tolist() == two.predict(held).tolist() == three.predict(held).tolist()
    plain = decide(model, held, names[truth])
    np.testing.assert_array_equal(plain.predict(held), model.predict(held))
    np.testing.assert_array_equal(plain.predict_proba(held), model.predict_proba(held))


def test_a_score_counts_who_is_asked_as_undecided():
    (X, y), (held, truth) = halves()
    model = decide(NaiveBayes().fit(X, y), held, truth, abstain=0.2)
    found = model.predict(held)
    right = [a is not None and a == b for a, b in zip(found, truth, strict=True)]
    assert model.score(held, truth) == pytest.approx(np.mean(right))
    assert found.dtype == object


# -- ceilings and floors -------------------------------------------------------------------------


@given(st.integers(1, 400), st.sampled_from([0.01, 0.05, 0.3, 0.9]), st.sampled_from([0.01, 0.2]))
@settings(max_examples=80, deadline=None)
def test_so_many_may_lie_beyond(n, rate, risk):
    chances = (comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(n))
    wanted = max((k for k, sure in enumerate(accumulate(chances)) if sure <= risk), default=-1)
    assert most_beyond(n, rate, risk) == wanted
    scores = np.random.default_rng(n).integers(0, 50, n)
    level = level_below(scores, rate, risk)
    assert (level is None) == (wanted < 0)
    if level is not None:
        assert (scores > level.threshold).sum() <= wanted < (scores >= level.threshold).sum()
    needed = rows_needed(rate, risk)
    assert most_beyond(needed, rate, risk) >= 0
    assert most_beyond(needed - 1, rate, risk) < 0
    assert most_beyond(n, lowest_rate(n, risk) * (1 + 1e-9), risk) == 0


def test_leads():
    sums = np.array([[5, 3, 9], [4, 4, 1], [7, 7, 7]])
    assert leads_of(sums).tolist() == [[-4, -6, 4], [0, 0, -3], [0, 0, 0]]


@given(st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_guards_are_obeyed(seed):
    """Forbidden at `low` and below, decided from `high` on, by the definition."""
    rng = np.random.default_rng(seed)
    sums = rng.integers(-5, 6, (60, 3))
    low, high = int(rng.integers(-4, 3)), int(rng.integers(3, 6))
    asks = bool(rng.integers(2))
    costs = ((0.0, 1.0, 1.0, 0.5), (1.0, 0.0, 1.0, 0.5), (1.0, 1.0, 0.0, 0.5))
    guards = (Guard(1, low=low), Guard(0, high=high, or_ask=asks))
    prior = rng.integers(-3, 4, 3)
    rule = DecisionRule(costs, guards, tuple(prior.tolist()))
    ahead = (sums - sums.max(1, keepdims=True)).astype(float)
    found = rule.decide(sums, np.zeros(3, np.int64), ahead)
    for row, d in zip(sums + prior, found, strict=True):
        if row[1] - max(row[0], row[2]) <= low:
            assert d != 1
        if row[0] - max(row[1], row[2]) >= high:
            assert d in ((0, 3) if asks else (0,))


def test_a_ceiling_alone_is_used_up():
    """The threshold is the score of one held-out row, as the definition has it."""
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(*noisy(rng, 400))
    X, y = noisy(rng, 600)
    scores = np.sort(model.decision_function(X)[y == "calm"])
    beyond = most_beyond(scores.size, 0.05, 0.1)
    wanted = np.where(model.decision_function(X) > scores[-1 - beyond], "gust", "calm")
    for ceiling in (0.05, {"gust": 0.05}):
        found = decide(model, X, y, max_false_alarms=ceiling, confidence=0.9)
        np.testing.assert_array_equal(found.predict(X), wanted)
        np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
        (promise,) = found.decision_.rules[0].promises
        assert (promise.rows, promise.beyond) == (scores.size, beyond)
    floor = decide(model, X, y, min_detections=0.8, confidence=0.9)
    hits = model.decision_function(X)[y == "gust"]
    lowest = np.sort(hits)[most_beyond(hits.size, 0.2, 0.1)]
    found = floor.predict(X)
    np.testing.assert_array_equal(found == "gust", model.decision_function(X) >= lowest)


def test_a_ceiling_holds_on_fresh_signals():
    """Stated at 99 %, it holds in at least 95 of 100 repetitions; and it is no idle promise."""
    kept, rates = 0, []
    pool = make_signals(12000, 400, random_state=0)
    features = np.array(
        [[each.std(), each.mean(), each[: len(each) // 2].mean() - each[len(each) // 2 :].mean(),
          np.abs(np.diff(each)).mean()] for each in pool.series]
    )  # fmt: skip
    truth = np.where(pool.y == "normal", "normal", "changed")
    for seed in range(100):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(truth))
        train, held, fresh = order[:400], order[400:1400], order[1400:]
        model = NaiveBayes("gaussian").fit(features[train], truth[train])
        rule = decide(model, features[held], truth[held], max_false_alarms=0.02, confidence=0.99)
        normal = fresh[truth[fresh] == "normal"]
        rate = (rule.predict(features[normal]) != "normal").mean()
        kept += rate <= 0.02
        rates.append(rate)
    assert kept >= 95
    assert 0.006 < np.mean(rates) < 0.016


def test_several_bounds_hold_together():
    rng = np.random.default_rng(3)
    model = NaiveBayes().fit(*noisy(rng, 600))
    X, y = noisy(rng, 2000)
    both = decide(model, X, y, max_false_alarms=0.2, min_detections=0.6, abstain=0.45)
    assert both.decision_.rules[0].asks
    fresh, truth = noisy(rng, 20000)
    found = both.predict(fresh)
    assert (found[truth == "calm"] == "gust").mean() <= 0.2
    assert (found[truth == "gust"] == "gust").mean() >= 0.6
    assert any(each is None for each in found)
    three = NaiveBayes().fit(*halves(2000)[0])
    _, (held, truth) = halves(2000)
    ruled = decide(three, held, truth, max_false_alarms={0: 0.05, 1: 0.05}, min_detections={2: 0.5})
    fresh, truth = binary_table(20000, 8, 1, 3)
    found = ruled.predict(fresh)
    for k in (0, 1):
        assert (found[truth != k] == k).mean() <= 0.05 * 1.2  # another seed draws the same columns
    assert (found[truth == 2] == 2).mean() >= 0.5 * 0.9


def test_labels_have_a_rule_each():
    rng = np.random.default_rng(0)
    Y = pd.DataFrame(rng.random((900, 2)) < [0.3, 0.5], columns=["fire", "flood"]).astype(int)
    X = np.column_stack([Y + rng.normal(size=(900, 2)), rng.normal(size=900)])
    model = NaiveBayes().fit(X[:400], Y[:400])
    ruled = decide(model, X[400:], Y[400:], max_false_alarms={"fire": 0.1}, abstain={"flood": 0.2})
    found = ruled.predict(X[400:])
    fire, flood = ruled.decision_.rules
    assert fire.costs is None
    assert fire.promises[0].rows == (Y[400:]["fire"] == 0).sum()
    assert flood.asks
    proba = ruled.predict_proba(X[400:])[:, 1]
    wanted = [None if 0.2 < p < 0.8 else int(p > 0.5) for p in proba]
    assert found[:, 1].tolist() == wanted
    alarms = found[(Y[400:]["fire"] == 0).to_numpy(), 0].astype(int)
    assert alarms.sum() == fire.promises[0].beyond
    same = decide(model, X[400:], Y[400:], costs={"fire": [[0, 1], [9, 0]]})
    assert same.decision_.rules[0].costs == ((0, 1), (9, 0))
    assert same.decision_.rules[1].costs is None
    assert same.decision_.to_text().startswith("fire: decides what costs least")
    assert len(same.decision_.to_frame()) == 8


@pytest.mark.parametrize(
    "make",
    [
        lambda: NaiveBayes(),
        lambda: NaiveBayesSelector(search="forward", cv="train", validation=0.5, random_state=0),
        lambda: WeightedNaiveBayes(),
    ],
)
def test_every_model_can_decide(make):
    rng = np.random.default_rng(0)
    model = make().fit(*noisy(rng, 500))
    X, y = noisy(rng, 500)
    before = model.predict(X).tolist()
    plain = decide(model, X, y, max_false_alarms=0.05)
    rate = (plain.predict(X)[y == "calm"] == "gust").mean()
    assert 0 < rate <= 0.05
    assert type(plain) is type(model)
    assert model.predict(X).tolist() == before
    asks = decide(plain, X, y, abstain=0.1)  # a new rule takes the place of the old one
    assert not asks.decision_.rules[0].guards
    assert any(each is None for each in asks.predict(X))
    again = clone(asks).fit(X, y)
    assert not hasattr(again, "decision_")
    assert again.predict(X).dtype != object or None not in again.predict(X).tolist()
    warm = calibrate(model, X, y)
    kept = decide(warm, X, y, abstain=0.1)
    np.testing.assert_array_equal(kept.predict_proba(X), warm.predict_proba(X))
    assert kept.calibration_ == warm.calibration_


# -- another place -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [NaiveBayes, WeightedNaiveBayes])
def test_a_place_moves_costs_and_leaves_thresholds(make):
    rng = np.random.default_rng(0)
    model = make().fit(*noisy(rng, 500))
    X, y = noisy(rng, 500)
    place = {"calm": 0.98, "gust": 0.02}
    ceiling = decide(model, X, y, max_false_alarms=0.05)
    moved = deploy(ceiling, place)
    np.testing.assert_array_equal(moved.predict(X), ceiling.predict(X))
    assert (model.predict(X, priors=place) != model.predict(X)).any()
    np.testing.assert_array_equal(ceiling.predict(X, priors=place), ceiling.predict(X))
    first = decide(deploy(model, place), X, y, max_false_alarms=0.05)
    np.testing.assert_array_equal(first.predict(X), ceiling.predict(X))
    costly = deploy(decide(model, X, y, costs=[[0, 1], [30, 0]]), place)
    wanted = (costly.predict_proba(X) @ np.array([[0, 1], [30, 0]])).argmin(1)
    np.testing.assert_array_equal(costly.predict(X), np.array(["calm", "gust"])[wanted])
    later = calibrate(ceiling, X, y)
    np.testing.assert_array_equal(later.predict(X), ceiling.predict(X))


def test_a_ceiling_over_several_classes_is_warned_of():
    (X, y), (held, truth) = halves(800)
    ruled = decide(NaiveBayes().fit(X, y), held, truth, max_false_alarms={0: 0.1})
    with pytest.warns(UserWarning, match="ceiling on false alarms of 0 was found where"):
        deploy(ruled, "uniform")
    joint = decide(NaiveBayes().fit(X, y), held, truth, max_false_alarms=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        deploy(joint, "uniform")


# -- beside scikit-learn -------------------------------------------------------------------------


def test_two_classes_beside_a_tuned_threshold():
    """The same costs: scikit-learn tunes a threshold on cross-validated rows, we know it."""
    rng = np.random.default_rng(0)
    costs = np.array([[0, 1], [8, 0]])

    def spent(truth, found):
        at = [(truth == "gust").astype(int), (np.asarray(found) == "gust").astype(int)]
        return costs[at[0], at[1]].mean()

    X, y = noisy(rng, 1200, 0.2)
    fresh, truth = noisy(rng, 20000, 0.2)
    tuned = TunedThresholdClassifierCV(
        NaiveBayes(), scoring=make_scorer(spent, greater_is_better=False), thresholds=200, cv=5
    ).fit(X, y)
    ours = decide(NaiveBayes().fit(X[:800], y[:800]), X[800:], y[800:], costs=costs)
    cheap = spent(truth, ours.predict(fresh))
    assert cheap <= 1.05 * spent(truth, tuned.predict(fresh))
    assert cheap < 0.8 * spent(truth, NaiveBayes().fit(X, y).predict(fresh))
    # No search: the threshold is the costs' own, 1 / 9.
    proba = ours.predict_proba(fresh)
    np.testing.assert_array_equal(ours.predict(fresh) == "gust", 8 * proba[:, 1] > proba[:, 0])


# -- what is said --------------------------------------------------------------------------------


def test_explain_says_the_decision_and_why():
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(*noisy(rng, 500))
    X, y = noisy(rng, 500)
    ruled = decide(model, X, y, max_false_alarms=0.02, abstain=0.2)
    found, likely = ruled.predict(X), model.predict(X)
    for each, decision in zip(explain(ruled, X), found, strict=True):
        assert each.verdict.decision == decision
        assert each.target == (decision or likely[each.row])
        assert f"decision: {decision or 'ask a person'}: " in each.to_text()
        assert "expected cost" in each.verdict.why
        assert each.to_dict()["verdict"]["decision"] == decision
        assert 0 < each.verdict.novelty <= 1
    assert "verdict" not in explain(model, X[:1])[0].to_dict()
    ceiling = decide(model, X, y, max_false_alarms={"gust": 0.02})
    lead = ceiling.decision_.rules[0].guards[0].low
    odds = np.exp(ceiling.fitted_.only.nat(np.array([lead]))[0])
    assert f"gust where it is more than {odds:.3g} times as probable" in ceiling.decision_.to_text()
    told = explain(ceiling, X)
    for each, decision in zip(told, ceiling.predict(X), strict=True):
        word = "enough" if decision == "gust" else f"more than {odds:.3g} needed"
        assert word in each.verdict.why
    joint = decide(model, X, y, max_false_alarms=0.02)
    for each, decision in zip(explain(joint, X), joint.predict(X), strict=True):
        assert each.verdict.why.endswith("enough" if decision == "gust" else "needed")
    away = explain(deploy(joint, "uniform"), X[:1])[0]
    assert away.verdict.why.endswith("by the priors for which the rule was made")


def test_a_far_row_is_unlike_anything_seen():
    rng = np.random.default_rng(0)
    X, y = noisy(rng, 800)
    ruled = decide(NaiveBayes().fit(X[:400], y[:400]), X[400:], y[400:], abstain=0.1)
    far = pd.DataFrame([[99.0, -99.0, 99.0]], columns=list("abc"))
    assert "unlike anything seen (p = 0.0025)" in explain(ruled, far)[0].to_text()
    assert "decision: " in explain(ruled, far)[0]._repr_html_()
