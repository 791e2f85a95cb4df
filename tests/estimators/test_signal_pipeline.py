"""Indicators and an estimator in one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import Pipeline

from bayesieve import (
    NaiveBayesSelector,
    WeightedNaiveBayes,
    explain,
    load_model,
    nested,
    save_model,
    signals,
)
from bayesieve.datasets import make_signals
from bayesieve.estimators.signals import SignalPipeline
from bayesieve.explain.report import make_report
from bayesieve.indicators import Indicators, SeriesTable

SCORES = ["welch", "levene", "slope"]
PLAIN = WeightedNaiveBayes(corrections=False)


@pytest.fixture(scope="module")
def known():
    return make_signals(36, 12, random_state=0)


def by_hand(known, chooser):
    """Indicators as a named frame, and the estimator on it."""
    indicators = Indicators(SCORES)
    X = pd.DataFrame(indicators.fit_transform(known.series), columns=indicators.names_)
    return chooser.fit(X, known.y), X


@pytest.mark.parametrize(
    "chooser",
    [WeightedNaiveBayes(), NaiveBayesSelector(max_features=4, random_state=0)],
    ids=["weighted", "selector"],
)
def test_it_is_the_two_steps_one_after_the_other(chooser, known, tmp_path):
    model = signals(clone(chooser), SCORES).fit(known.series, known.y)
    alone, X = by_hand(known, clone(chooser))
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        theirs, mine = getattr(alone, method)(X), getattr(model, method)(known.series)
        np.testing.assert_array_equal(mine, theirs)
    assert model.score(known.series, known.y) == alone.score(X, known.y)
    weight = np.arange(len(known.y)) % 3
    right = alone.predict(X) == known.y
    assert model.score(known.series, known.y, weight) == np.average(right, weights=weight)
    assert explain(model, known.series[:3]) == explain(alone, X[:3])
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert isinstance(again, SignalPipeline)
    assert isinstance(again, Pipeline)
    np.testing.assert_array_equal(again.predict_proba(known.series), alone.predict_proba(X))
    assert explain(again, known.series[:3]) == explain(alone, X[:3])
    # Files of files are the same files.
    save_model(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()
    page = make_report(again, known.series, known.y, include_rows=True)
    assert "Level steps: at least one" in page


def test_it_is_a_scikit_learn_pipeline(known):
    rng = np.random.default_rng(0)
    table = SeriesTable((known.series,), ("",), tuple(range(len(known.y))))
    groups = rng.integers(0, 9, len(known.y))
    model = clone(signals(PLAIN, SCORES))
    assert model.set_params(indicators__drop="constant").indicators.drop == "constant"
    decided = cross_val_predict(model, table, known.y, cv=GroupKFold(3), groups=groups)
    twin = np.empty_like(known.y)
    for train, test in GroupKFold(3).split(known.y, known.y, groups):
        mine = clone(model).fit([known.series[i] for i in train], known.y[train])
        twin[test] = mine.predict([known.series[i] for i in test])
    np.testing.assert_array_equal(decided, twin)


def test_groups_reach_the_estimator_and_the_nested_figures(known):
    groups = np.arange(len(known.y)) // 8
    model = signals(PLAIN, SCORES)
    seen = {}

    class Watching(WeightedNaiveBayes):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen["groups"] = groups
            return super().fit(X, y, sample_weight, groups)

    signals(Watching(corrections=False), SCORES).fit(known.series, known.y, groups=groups)
    assert seen["groups"] is groups
    X = model.fit_columns(known.series)
    found = nested(model.estimator, X, known.y, groups=groups, random_state=0)
    frame = pd.DataFrame(X.columns, columns=X.names)
    theirs = nested(PLAIN, frame, known.y, groups=groups, random_state=0)
    assert found.to_dict() == theirs.to_dict()


def test_what_it_refuses(known):
    other = SignalPipeline([("indicators", Indicators()), ("estimator", LogisticRegression())])
    with pytest.raises(TypeError, match="needs Indicators and a WeightedNaiveBayes"):
        other.fit(known.series, known.y)
    with pytest.raises(TypeError, match="got Indicators, LogisticRegression"):
        signals(LogisticRegression()).fit(known.series, known.y)
    model = signals(PLAIN, SCORES).fit(known.series, known.y)
    with pytest.raises(ValueError, match="channels that fit saw"):
        model.predict(np.zeros((3, 2, 50)))
