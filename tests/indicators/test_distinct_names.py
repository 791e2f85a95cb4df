"""Columns are known by their names: no two alike, in memory, in sentences and in files."""

import numpy as np
import pytest

from bayesieve import NaiveBayesSelector, load_model, save_model, signals
from bayesieve.indicators import (
    SCORES,
    Indicators,
    Score,
    WindowScores,
    read_scores,
    register_score,
    score_from_plain,
    short_labels,
)


@pytest.fixture(scope="module")
def known():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    return rng.normal(size=(60, 80)) * (1 + y)[:, None], y


ALIKE = {
    "thresholds alike in twelve digits": (["highest"], 1e6, 1e-7),
    "levels alike in six": (
        [SCORES["highest"].over(rule="run", levels=[1013.251, 1013.252], thresholds=[2])],
        1013.25, 1.0,
    ),
    "parameters alike in six": (
        [SCORES["outside"].over(low=[1013.251, 1013.252], high=[1016], thresholds=[0.1, 0.4])],
        1013.25, 1.0,
    ),
    "the largest of lowest": (
        [SCORES["lowest"].over(thresholds=[0.0]),
         SCORES["lowest"].over(rule="largest", thresholds=[0.0])],
        0.0, 1.0,
    ),
    "levels of tests": ([WindowScores(levels=(0.05, 0.05 + 1e-9), widths=(30,))], 0.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("case", ALIKE)
def test_no_two_names_sentences_or_labels_are_alike(case, known, tmp_path):
    scores, shift, scale = ALIKE[case]
    X, y = known[0] * scale + shift, known[1]
    made = Indicators(scores).fit(X)
    told = made.indicators_
    for found in (made.names_, [each.sentence for each in told], short_labels(told)):
        assert len(set(found)) == len(found) > 1
    # Where names are alike, a file keeps another column than the one that was learnt.
    model = signals(NaiveBayesSelector(max_features=1), scores).fit(X, y)
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for x in X[:5]:
        for name in model.indicators.names_:
            (at,) = [j for j, each in enumerate(made.names_) if each == name]
            column = made.transform([x])[0, at]
            if told[at].rule != "smallest":
                assert bool(made.fired(x, [name])[name]) >= bool(column)


def test_an_indicator_asked_for_twice_is_there_once(known):
    X, _ = known
    once = Indicators(["welch"]).fit(X)
    renamed = SCORES["welch"].over(thresholds=[3.0, 3.0, 99.0], title="Steps")
    twice = Indicators(["welch", "welch", renamed]).fit(X)
    assert twice.names_[:8] == once.names_
    assert twice.names_[8:] == ["welch (window=20) > 99", "welch (window=50) > 99"]
    np.testing.assert_array_equal(twice.transform(X)[:, :8], once.transform(X))
    both = Indicators(["windows", "u-test"]).fit(X)
    assert both.names_ == Indicators().fit(X).names_
    again = Indicators.from_recipe(both.recipe())
    np.testing.assert_array_equal(again.transform(X), both.transform(X))


def test_two_columns_of_one_name_that_differ_are_refused(known):
    one = Score("level", lambda x: x.max(), thresholds=(1.0,))
    other = Score("level", lambda x: x.min(), thresholds=(1.0,))
    with pytest.raises(ValueError, match=r"two of them give the column 'level > 1'.*otherwise"):
        Indicators([one, other]).fit(known[0])
    assert len(Indicators([one, one]).fit(known[0]).names_) == 1


def test_parameters_that_a_label_leaves_out_follow_it(known):
    lead = Score("lead", lambda x, by: x[by] - x[0], {"by": [1, 3]}, (0.5,))
    made = Indicators([lead]).fit(known[0])
    assert made.names_ == ["lead (by=1) > 0.5", "lead (by=3) > 0.5"]
    assert Indicators([Score("lead", lambda x, by: x[by], {"by": [1]}, (0.5,))]).fit(
        known[0]
    ).names_ == ["lead > 0.5"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "spread {q}", "p": [1]}, "parameters in braces .'p'., and no other ones"),
        ({"label": "spread {", "p": [1]}, "a brace itself is written twice"),
        ({"label": "spread", "thresholds": [float("nan")]}, "thresholds must be a number"),
        ({"label": "spread", "thresholds": ["x"]}, "thresholds must be a number.*'x'"),
        ({"label": "spread", "thresholds": 3}, "thresholds must be a list of numbers; got 3"),
        ({"label": "spread", "p": "abc"}, "p of the score 'spread' must be a list"),
    ],
)
def test_a_score_of_ones_own_is_judged_when_it_is_registered(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        register_score(**options)(lambda x, **p: 1.0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"score": "windows", "widths": [[30]]}, "widths must hold numbers or pairs"),
        ({"score": "windows", "among": [3]}, "among must hold pairs"),
        ({"score": "windows", "shares": ["x"]}, "shares must be a number"),
        ({"score": "windows", "runs": [-1]}, "runs must be a number from 0"),
        ({"score": "slope", "thresholds": ["a"]}, "thresholds must be a number"),
    ],
)
def test_odd_scores_in_a_file_name_what_is_odd(data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        score_from_plain(data)


def test_a_file_of_scores_that_leaves_is_told(tmp_path):
    path = tmp_path / "leaves.py"
    path.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(ValueError, match=r"leaves\.py failed: SystemExit: 3\."):
        read_scores([path])


def test_the_score_of_a_pipeline_is_that_of_its_estimator(known):
    X, y = known
    labels = np.column_stack([y, X[:, 0] > 0]).astype(int)
    model = signals(NaiveBayesSelector(), ["levene", "slope"]).fit(X, labels)
    right = (model.predict(X) == labels).all(axis=1)
    assert model.score(X, labels) == right.mean() < 1
    weights = np.arange(60)
    assert model.score(X, labels, weights) == pytest.approx(np.average(right, weights=weights))


def test_a_run_below_nothing_says_so():
    score = SCORES["highest"].over(rule="run", levels=[0], thresholds=[-1, 0, 2])
    told = [each.sentence for each in Indicators([score]).fit([np.arange(9.0)]).indicators_]
    assert told[0] == "High level: at least 0 successive points, value > 0"
    assert told[1] == "High level: a point, value > 0"
