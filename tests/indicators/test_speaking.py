"""Indicators that speak, spans of one's own scores, and recipes."""

import json

import numpy as np
import pytest

from bayesieve.datasets import make_signals
from bayesieve.engine.threads import Threads
from bayesieve.indicators import (
    SCORES,
    Indicator,
    Indicators,
    Score,
    WindowScores,
    register_score,
    score_from_plain,
    score_to_plain,
    short_labels,
    window_p_values,
)

NOISE = np.random.default_rng(0).normal(size=(9, 80))


# -- sentences -----------------------------------------------------------------------------------


def test_the_default_grid_in_words():
    indicators = Indicators().fit(NOISE)
    spoken = {each.id: each for each in indicators.indicators_}
    for name, sentence, label in (
        (
            "most among 10 successive windows (w=50) where F rejects at 0.001 > 5",
            "Variance jumps: at least 6 of 10 successive 50-point windows, F test p <= 0.001",
            "f-test w=50 p<=0.001 >5 of 10",
        ),
        (
            "longest run of windows (w=100 or n-2) where U rejects at 0.3 > 2",
            "Level steps: at least 3 successive 100-point windows (shorter in short series), "
            "Mann-Whitney test p <= 0.3",
            "u-test w=100- p<=0.3 run>2",
        ),
        (
            "share of windows (w=30) where KS rejects at 0.02 > 0.3",
            "Distribution changes: more than 30 % of 30-point windows, Kolmogorov-Smirnov test "
            "p <= 0.02",
            "ks-test w=30 p<=0.02 share>0.3",
        ),
    ):
        assert spoken[name].sentence == sentence
        assert spoken[name].label == label
    assert spoken[name].window == 30
    assert (spoken[name].level, spoken[name].rule, spoken[name].threshold) == (0.02, "share", 0.3)
    labels = short_labels(indicators.indicators_)
    assert len(set(labels)) == 810
    assert max(map(len, labels)) < 40


def test_the_library_in_words():
    scores = [
        SCORES["hampel"].over(window=[21], thresholds=[5]),
        SCORES["stuck"].over(thresholds=[10]),
        SCORES["slope"].over(window=[0], thresholds=[0.2], title="Pressure rises", unit="bar/s"),
        SCORES["highest"].over(rule="share", levels=[1.5], thresholds=[0.1], unit="bar"),
        SCORES["lowest"].over(thresholds=[-2]),
        SCORES["autocorrelation"].over(lag=[5], window=[40], thresholds=[0.4]),
        SCORES["welch"].over(window=[20], rule="run", levels=[3], thresholds=[0, 4]),
    ]
    fitted = Indicators(scores).fit(NOISE)
    assert [each.sentence for each in fitted.indicators_] == [
        "Spikes: at least one point, distance from the median of 21 points around > 5 robust "
        "deviations",
        "Stuck sensor: at least one point, run of steps of at most 0 around it > 10 points",
        "Pressure rises: whole series, absolute slope of the least-squares line > 0.2 bar/s",
        "High level: more than 10 % of points, value > 1.5 bar",
        "No low level: every point, value > -2",
        "Follows itself: at least one 40-point window, autocorrelation at lag 5 > 0.4",
        "Level steps: a 20-point window, Welch t > 3",
        "Level steps: at least 5 successive 20-point windows, Welch t > 3",
    ]
    assert [each.label for each in fitted.indicators_][4:6] == [
        "lowest all>-2",
        "autocorrelation w=40 lag=5 >0.4",
    ]


def test_an_indicator_from_odd_data():
    with pytest.raises(ValueError, match=r"a key of an indicator must be one of .*'level'"):
        Indicator.from_dict({"score": "x", "title": "X", "levl": 1})
    with pytest.raises(ValueError, match="rule must be one of"):
        Indicator.from_dict({"score": "x", "title": "X", "rule": "most"})


def test_ones_own_score_speaks_by_its_label():
    spread = Score(
        "range of {points} points", lambda x, points: np.ptp(x[:points]), {"points": [9]}
    )
    fitted = Indicators([spread], quantiles=[0.5]).fit(NOISE)
    (said,) = fitted.indicators_
    assert said.sentence == f"range of 9 points > {said.threshold:.6g}"
    assert said.id == f"range of 9 points > {said.threshold:.12g}"


# -- spans of one's own --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spans",
    [
        lambda x, threshold, lag: np.r_[
            np.zeros(lag, bool), np.abs(x[lag:] - x[:-lag]) > threshold
        ],
        lambda x, threshold, lag: [
            (i + lag, i + lag) for i in np.flatnonzero(np.abs(x[lag:] - x[:-lag]) > threshold)
        ],
    ],
)
def test_spans_of_ones_own_score(registry, spans):
    @register_score("step over {lag}", thresholds=[2.5], spans=spans, unit="bar", lag=[1, 4])
    def step(x, lag):
        return np.abs(x[lag:] - x[:-lag]).max()

    fitted = Indicators([step]).fit(NOISE)
    table = fitted.transform(NOISE)
    for i, x in enumerate(NOISE):
        for j, (lag, name) in enumerate(zip([1, 4], fitted.names_, strict=True)):
            points = lag + np.flatnonzero(np.abs(x[lag:] - x[:-lag]) > 2.5)
            found = fitted.fired(x, [name])[name]
            assert [p for lo, hi in found for p in range(lo, hi + 1)] == points.tolist()
            assert bool(found) == table[i, j]
    assert fitted.indicators_[1].sentence == "step over 4 > 2.5 bar"
    assert fitted.fired(np.r_[NOISE[0], np.nan], fitted.names_) == {n: [] for n in fitted.names_}


def test_odd_spans_of_ones_own_score():
    for spans, message in (
        (lambda x, threshold: "all", "spans of score 'top' must be a mask of the 80 points"),
        (lambda x, threshold: x[:5] > 0, "must be a mask"),
        (lambda x, threshold: 1 / 0, "spans of score 'top' failed on a series of 80 points"),
    ):
        fitted = Indicators([Score("top", np.max, thresholds=(0.0,), spans_of=spans)]).fit(NOISE)
        with pytest.raises(ValueError, match=message):
            fitted.fired(NOISE[0], fitted.names_)


def test_a_score_that_returns_text():
    with pytest.raises(ValueError, match=r"score 'words' failed on series\[0\]"):
        Indicators([Score("words", lambda x: "high")]).fit(NOISE)


# -- recipes -------------------------------------------------------------------------------------


def test_a_recipe_holds_everything_but_code(registry):
    @register_score("top of {points}", points=[5, 60])
    def top(x, points):
        return x[:points].max()

    scores = [
        WindowScores(("F",), (30, (100, True)), (0.05,), runs=None, among=((None, 5), (2, 7))),
        SCORES["slope"].over(window=[20], rule="among", levels=[0.01], successive=[3, 9]),
        "top",
        "difference",
    ]
    X = np.stack([NOISE, NOISE[::-1]], axis=1)
    fitted = Indicators(scores, drop="constant", channels=["oil", "fuel"]).fit(X)
    recipe = json.loads(json.dumps(fitted.recipe()))
    again = Indicators.from_recipe(recipe)
    other = np.random.default_rng(1).normal(size=X.shape)
    np.testing.assert_array_equal(again.transform(other), fitted.transform(other))
    assert again.fired(other[0], again.names_) == fitted.fired(other[0], fitted.names_)
    assert recipe["scores"][2] == {"own": "top"}
    assert recipe["names"] == fitted.names_

    del registry["top"]
    with pytest.raises(ValueError, match="the score 'top' is a function that somebody wrote"):
        Indicators.from_recipe(recipe)
    registry["top"] = Score("another", np.max)
    with pytest.raises(ValueError, match="give other columns than those the recipe was written"):
        Indicators.from_recipe(recipe)
    with pytest.raises(ValueError, match="recipe must be of version 1; got 2"):
        Indicators.from_recipe(recipe | {"version": 2})
    nameless = Indicators([Score("nameless", np.max)]).fit(NOISE)
    with pytest.raises(ValueError, match="cannot be written down, since it has no name"):
        nameless.recipe()


@pytest.mark.parametrize("name", [n for n in SCORES if n != "windows"])
def test_a_score_as_plain_data_is_the_same_score(name):
    score = SCORES[name]
    assert score_from_plain(json.loads(json.dumps(score_to_plain(score)))) == score


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "must be a table with the key 'score'"),
        ("slope", "must be a table with the key 'score'"),
        ({"score": "slop"}, "score must be one of .*Did you mean 'slope'"),
        ({"score": "slope", "windw": [3]}, "a key of the score 'slope' .*Did you mean 'window'"),
        ({"score": "slope", "window": 3}, "window of the score 'slope' must be a list; got 3"),
        ({"score": "slope", "window": ["a"]}, "window of 'slope' must be a whole number"),
        ({"score": "windows", "width": [30]}, "a key of the score 'windows' .*'widths'"),
        ({"own": "mine"}, "the score 'mine' is a function that somebody wrote"),
        ({"own": "mine", "window": [3]}, "a key of an own score must be one of 'own'"),
    ],
)
def test_odd_plain_data(data, message):
    with pytest.raises((ValueError, TypeError), match=message):
        score_from_plain(data)


# -- window scores without p-values --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["noise", "ties", "constant", "small", "far"])
def test_window_scores_are_those_of_the_p_values(kind):
    """Levels at and beside p-values that occur, so that a wrong critical value shows."""
    x = make_signals(0, 1, random_state=3).series[0]
    if kind == "ties":
        x = np.round(x)
    elif kind == "constant":
        x = np.r_[np.zeros(60), x[:60]]
    elif kind == "small":
        x = np.r_[x[:60], 1e-9 * x[60:120]]
    elif kind == "far":
        x = x + 1e9
    for test in ("U", "KS", "F"):
        for width in (4, 11, 30):
            p = window_p_values(x, test, width)
            hit = np.unique(p)[:: max(1, len(p) // 9)]
            levels = np.unique(np.clip(np.r_[0, hit, np.nextafter(hit, 0), 1e-13, 1], 0, 1))
            scores = WindowScores(
                (test,), (width,), tuple(levels[::-1].tolist()), None, None, ((None, 3),)
            )
            with Threads(1) as engine:
                found = [column.values[0] for column in scores.columns([x], engine)]
            for i, level in enumerate(levels[::-1]):
                rejects = p <= level
                runs = "".join("x" if r else " " for r in rejects).split()
                most = max(rejects[s : s + 3].sum() for s in range(len(p) - 2))
                longest = max(map(len, runs), default=0)
                assert found[3 * i : 3 * i + 3] == [rejects.sum() / p.size, longest, most]
