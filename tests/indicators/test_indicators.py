"""Signals, window tests and indicators."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.pipeline import make_pipeline

from bayesieve import NaiveBayes
from bayesieve.datasets import make_signals
from bayesieve.indicators import (
    SCORES,
    Indicators,
    Score,
    WindowScores,
    register_score,
    window_p_values,
)
from bayesieve.indicators.windows import ks_probabilities

seeds = st.integers(0, 2**32 - 1)


# -- signals -------------------------------------------------------------------------------------


def test_signals_are_those_of_the_paper():
    signals = make_signals(600, 200, random_state=0)
    names, counts = np.unique(signals.y, return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "normal": 600, "mean shift": 200, "variance shift": 200, "trend": 200,
    }  # fmt: skip
    lengths = np.array([x.size for x in signals.series])
    assert lengths.min() >= 100
    assert lengths.max() <= 200
    changed = signals.change_point >= 0
    assert (changed == (signals.y != "normal")).all()
    where = signals.change_point[changed] / lengths[changed]
    assert where.min() >= 0.2
    assert where.max() <= 0.8
    assert where.std() > 0.1
    for name, low, high in (
        ("mean shift", 1, 5),
        ("variance shift", 2, 6),
        ("trend", 1, 5),
    ):
        amplitude = signals.amplitude[signals.y == name]
        assert low <= amplitude.min() < low + 0.3
        assert high - 0.3 < amplitude.max() <= high
    assert np.isnan(signals.amplitude[~changed]).all()


def test_each_change_does_what_it_says():
    signals = make_signals(0, 400, random_state=1)
    parts = {name: [] for name in np.unique(signals.y)}
    for x, name, at, size in zip(*signals, strict=True):
        before, after = x[:at], x[at:]
        if name == "mean shift":
            parts[name].append(after.mean() - before.mean() - size)
        elif name == "variance shift":
            parts[name].append(after.std() / size - 1)
        else:
            slope = np.polyfit(np.arange(after.size) / after.size, after, 1)[0]
            parts[name].append(slope - size)
    for name, apart in parts.items():
        assert abs(np.mean(apart)) < 0.15, name
    again = make_signals(0, 400, random_state=1)
    assert all((a == b).all() for a, b in zip(signals.series, again.series, strict=True))


def test_signals_of_bad_sizes():
    with pytest.raises(ValueError, match="n_normal must be a whole number from 0; got -1"):
        make_signals(-1)
    with pytest.raises(ValueError, match="max_length"):
        make_signals(max_length=50)


# -- window tests --------------------------------------------------------------------------------


def peer(test, left, right):
    half = left.size
    if test == "U":
        return stats.mannwhitneyu(left, right, method="asymptotic").pvalue
    if test == "KS":
        return stats.ks_2samp(left, right, method="exact").pvalue
    one, other = np.var(left, ddof=1), np.var(right, ddof=1)
    if one == other == 0:
        return 1.0
    ratio = max(one, other) / min(one, other) if min(one, other) > 0 else np.inf
    return min(1.0, 2 * stats.f.sf(ratio, half - 1, half - 1))


@pytest.mark.parametrize(("test", "tolerance"), [("U", 1e-10), ("KS", 1e-8), ("F", 1e-10)])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=seeds,
    width=st.sampled_from([4, 5, 12, 30, 50, 100]),
    kind=st.sampled_from(["noise", "ties", "jump", "steps"]),
)
def test_p_values_are_scipys(test, tolerance, seed, width, kind):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=width + int(rng.integers(0, 12)))
    if kind == "ties":
        x = np.round(x * 2)
    elif kind == "jump":
        x[x.size // 2 :] = 5 * x[x.size // 2 :] + 3
    elif kind == "steps":
        x = (np.arange(x.size) > x.size // 2).astype(float)
    half = width // 2
    wanted = [peer(test, x[t - half : t], x[t : t + half]) for t in range(half, x.size - half + 1)]
    got = window_p_values(x, test, width)
    np.testing.assert_allclose(got, wanted, atol=tolerance, rtol=0)


def test_equal_values_have_no_variance_and_scales_do_not_matter():
    step = np.r_[np.full(60, 0.1), np.full(60, 1.1)]
    assert window_p_values(step, "F", 30)[60 - 15] == 1.0
    x = np.random.default_rng(0).normal(size=60)
    for test in ("U", "KS", "F"):
        wanted = window_p_values(x, test, 20)
        for scale in (1e-300, 1e-170, 1e-150, 1e155, 1e300):
            np.testing.assert_allclose(window_p_values(x * scale, test, 20), wanted, rtol=1e-9)
    with pytest.raises(ValueError, match="test must be one of 'U', 'KS', 'F'; got 'u'"):
        window_p_values(x, "u", 20)
    with pytest.raises(ValueError, match="width must be a whole number from 4; got 2"):
        window_p_values(x, "U", 2)


@pytest.mark.parametrize(
    "options",
    [
        {"tests": ("X",)}, {"tests": ()}, {"widths": ()}, {"widths": (3,)}, {"widths": (30.5,)},
        {"levels": (-1,)}, {"levels": (float("nan"),)}, {"levels": ("a",)}, {"among": ((2, 0),)},
    ],
)  # fmt: skip
def test_bad_window_scores(options):
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        WindowScores(**options)


def test_bad_scores_and_scores_that_fail():
    series = make_signals(4, 2, random_state=0).series
    for scores in ("U", 3, [np.mean], ["no such score"]):
        with pytest.raises((TypeError, ValueError), match="scores must"):
            Indicators(scores).fit(series)

    @register_score("point {at}", at=[150])
    def point(x, at):
        return x[at]

    @register_score("sorted in place")
    def sorts(x):
        x.sort()
        return x[0]

    with pytest.raises(ValueError, match=r"score 'point 150' failed on series\[0\].*Return NaN"):
        Indicators(["point"]).fit([np.zeros(20)])
    with pytest.raises(ValueError, match="score 'sorted in place' failed"):
        Indicators([sorts]).fit(series)
    mean = Score("mean", np.mean, {}, (5.0,))
    assert Indicators([mean]).fit_transform(np.full((2, 3), 9.0)).tolist() == [[1], [1]]
    frame = pd.DataFrame(np.full((2, 3), 9.0))
    assert Indicators([mean]).fit_transform(frame).tolist() == [[1], [1]]
    assert np.isnan(Indicators([mean]).fit_transform([[1.0, np.nan]])).all()
    assert Indicators([]).fit_transform(series).shape == (10, 0)


def test_columns_of_the_same_name_are_told_apart():
    close = [np.full(3, 1e6 + v / 10) for v in range(10)]
    mean = Score("mean", lambda x: float(np.mean(x)))
    indicators = Indicators([mean], drop="constant", quantiles=(0.5, 0.8, 1.0))
    assert indicators.fit_transform(close).shape == (10, 2)
    assert len(set(indicators.names_)) == 3
    twice = Indicators([WindowScores(("U",), (30,), (0.05, 0.05))], drop="redundant")
    table = twice.fit_transform(make_signals(30, 10, random_state=0).series)
    assert len(np.unique(table, axis=1).T) == table.shape[1]


def test_exact_probabilities_fall_from_one():
    for size in (2, 15, 50):
        p = ks_probabilities(size)
        assert p[0] == 1.0
        assert (np.diff(p) <= 0).all()
        assert p[size] == pytest.approx(2 / stats.binom(2 * size, 0.5).pmf(size) / 4**size)


# -- indicators ----------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=seeds)
def test_indicators_are_nested_and_shuffling_changes_only_the_order(seed):
    series = make_signals(8, 4, random_state=seed).series
    indicators = Indicators().fit(series)
    table = indicators.transform(series)
    assert table.shape == (20, 810)
    names = indicators.get_feature_names_out()
    assert len(set(names)) == 810
    families = {}
    for j, name in enumerate(names):
        label, cut = name.rsplit(" > ", 1)
        families.setdefault(label, []).append((float(cut), j))
    for family in families.values():
        columns = [table[:, j] for _, j in sorted(family)]
        for low, high in pairwise(columns):
            assert (high <= low).all()
    order = np.random.default_rng(seed).permutation(20)
    np.testing.assert_array_equal(indicators.transform([series[i] for i in order]), table[order])
    np.testing.assert_array_equal(Indicators(n_jobs=2).fit_transform(series), table)


def test_scores_by_hand():
    x = np.r_[np.zeros(20), np.ones(20)] + np.random.default_rng(0).normal(size=40) * 0.1
    p = window_p_values(x, "U", 12)
    rejects = p <= 0.05
    runs = max(len(run) for run in "".join("x" if r else " " for r in rejects).split())
    among = max(rejects[i : i + 5].sum() for i in range(rejects.size - 4))
    scores = WindowScores(
        ("U",), (12,), (0.05,), shares=(rejects.mean() - 1e-9, rejects.mean()),
        runs=(runs - 1, runs), among=((among - 1, 5), (among, 5)),
    )  # fmt: skip
    assert Indicators([scores]).fit_transform([x]).tolist() == [[1, 0, 1, 0, 1, 0]]


def test_series_without_a_score_are_missing_not_wrong():
    rng = np.random.default_rng(0)
    good = rng.normal(size=120)
    series = [good, rng.normal(size=40), np.full(120, 3.0), np.r_[good[:-1], np.nan],
              np.r_[good[:-1], np.inf], np.array([1.0])]  # fmt: skip
    indicators = Indicators()
    table = indicators.fit_transform(series)
    names = indicators.get_feature_names_out()
    of_30 = np.array(["w=30)" in name for name in names])
    of_50 = np.array(["w=50)" in name for name in names])
    assert np.isfinite(table[[0, 2]]).all()
    assert np.isfinite(table[1, of_30]).all()
    assert np.isnan(table[1, of_50]).all()
    assert np.isfinite(table[1, ~of_30 & ~of_50]).all()  # cut to 38 points
    assert (table[2] == 0).all()  # nothing changes in a constant
    assert np.isnan(table[3:]).all()
    model = NaiveBayes().fit(table, [0, 1, 0, 1, 0, 1])
    assert np.isfinite(model.predict_proba(table)).all()


def test_redundant_columns_are_dropped_and_said():
    series = make_signals(30, 10, random_state=0).series
    whole = Indicators().fit(series)
    table = whole.transform(series)
    lean = Indicators(drop="redundant").fit(series)
    kept = lean.transform(series)
    assert kept.shape[1] + len(lean.stands_for_) == 810
    assert len(np.unique(kept, axis=1).T) == kept.shape[1]
    names = whole.get_feature_names_out().tolist()
    for gone, twin in lean.stands_for_.items():
        column = table[:, names.index(gone)]
        if twin == "constant":
            assert column.min() == column.max()
        else:
            assert (column == table[:, names.index(twin)]).all()
            assert twin in lean.get_feature_names_out()
    some = Indicators(drop="constant").fit(series)
    assert set(some.stands_for_.values()) == {"constant"}


def test_thresholds_may_be_learnt_for_window_scores_too():
    series = make_signals(40, 20, random_state=0).series
    scores = WindowScores(("U",), (30,), (0.05,), shares=None, runs=None, among=((None, 5),))
    indicators = Indicators([scores], quantiles=[0.5, 0.8]).fit(series)
    names = indicators.get_feature_names_out()
    assert 3 <= len(names) <= 6
    shares = indicators.transform(series)[:, 0].mean()
    assert 0.3 < shares <= 0.5


def test_a_users_score_in_three_lines():
    @register_score("largest of the first {points} points", points=[10, 50])
    def largest(x, points):
        return x[:points].max()

    series = make_signals(40, 10, random_state=0).series
    indicators = Indicators([largest, WindowScores(("F",), (30,), (0.05,))], quantiles=[0.5])
    table = indicators.fit_transform(series)
    assert SCORES["largest"] is largest
    assert table.shape[1] == 2 + 9
    assert abs(table[:, :2].mean() - 0.5) < 0.05
    assert indicators.get_feature_names_out()[0].startswith("largest of the first 10 points > ")
    pipe = make_pipeline(Indicators(), NaiveBayes())
    signals = make_signals(60, 20, random_state=1)
    assert pipe.fit(signals.series, signals.y).score(signals.series, signals.y) > 0.7


@pytest.mark.parametrize(
    ("series", "error", "message"),
    [
        ([], ValueError, "series is empty"),
        (3, TypeError, "series must be a list of one-dimensional arrays"),
        ("abc", TypeError, "series must be a list"),
        ([[1, 2, 3], [[1, 2]]], ValueError, r"series\[1\] must be one-dimensional"),
        ([["a", "b"]], TypeError, r"series\[0\] must hold real numbers"),
        ([[1, None, "a"]], TypeError, r"series\[0\] must hold numbers"),
        ([1.0, 2.0, 3.0], ValueError, r"series\[0\] must be one-dimensional; got shape \(\)"),
        (np.zeros(120), ValueError, r"series\[0\] must be one-dimensional"),
        ([np.zeros(120, complex)], TypeError, r"series\[0\] must hold real numbers"),
        (np.zeros((3, 2, 40, 2)), ValueError, r"series\[0\] must be one-dimensional"),
        ([[[1, 2], [3, 4]], [[1, 2]]], ValueError, r"series\[1\] must have the 2 channels"),
    ],
)
def test_bad_series(series, error, message):
    with pytest.raises(error, match=message):
        Indicators().fit(series)
    with pytest.raises(ValueError, match="drop must be one of 'constant', 'redundant'"):
        Indicators(drop="constants").fit([np.zeros(120)])


def test_a_name_while_no_score_is_registered(monkeypatch):
    monkeypatch.setattr("bayesieve.indicators.transformer.SCORES", {})
    with pytest.raises(
        ValueError,
        match="and none is registered yet; got 'variance'",
    ):
        Indicators(["variance"]).fit(np.zeros((3, 90)))
    known = Score("spread", np.ptp, {})
    monkeypatch.setattr("bayesieve.indicators.transformer.SCORES", {"spread": known})
    with pytest.raises(ValueError, match="scores must be one of 'spread'; got 'variance'"):
        Indicators(["variance"]).fit(np.zeros((3, 90)))
