"""Deployment priors, against Bayes' rule on what a model says."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from bayesieve import (
    FeatureVotes,
    NaiveBayes,
    calibrate,
    deploy,
    explain,
    explain_model,
    load_model,
    save_model,
)
from bayesieve.app.cli import app
from bayesieve.explain.modelfile.file import model_from_dict, model_schema, model_to_dict
from bayesieve.explain.report import make_report
from bayesieve.export import to_python
from plain import plain_selector


def mixed(n_rows=150, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n_rows, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1)))
    y[:n_classes] = np.arange(n_classes)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows) + 0.7 * y,
            "flag": (rng.random(n_rows) < 0.2 + 0.2 * y).astype(int),
            "text": rng.choice(["a", "b"], n_rows),
        }
    )
    return frame, np.array(["low", "middle", "top"])[y]


def bayes_rule(proba, learnt, place):
    found = proba * np.asarray(place) / np.asarray(learnt)
    return found / found.sum(1, keepdims=True)


def calibrated(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return calibrate(model, X, y)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3]),
    st.sampled_from([None, "uniform", "given"]),
    st.booleans(),
    st.sampled_from(["selector", "model"]),
)
def test_priors_follow_bayes_rule(seed, n_classes, learnt, warm, kind):
    X, y = mixed(n_classes=n_classes, seed=seed)
    rng = np.random.default_rng(seed)
    own = rng.dirichlet(np.ones(n_classes)) if learnt == "given" else learnt
    model = NaiveBayes(priors=own)
    if kind == "selector":
        model = plain_selector(model, search="forward", random_state=0)
    model = model.fit(X, y)
    if warm:
        model = calibrated(model, X, y)
    counts = np.unique(y, return_counts=True)[1]
    if own is None:
        own = counts / counts.sum()
    elif learnt == "uniform":
        own = np.full(n_classes, 1 / n_classes)
    place = rng.dirichlet(np.ones(n_classes)) * 0.98 + 0.02 / n_classes
    expected = bayes_rule(model.predict_proba(X), own, place)
    by_name = dict(zip(model.classes_, place, strict=True))
    there = deploy(model, by_name)
    for found in (model.predict_proba(X, priors=place), there.predict_proba(X)):
        assert found == pytest.approx(expected, abs=1e-9)
    assert model.predict_log_proba(X, by_name) == pytest.approx(np.log(expected), abs=1e-8)
    clear = np.abs(np.diff(np.sort(expected, axis=1)[:, -2:], axis=1)[:, 0]) > 1e-9
    best = model.classes_[expected.argmax(1)]
    assert (model.predict(X, place) == best)[clear].all()
    assert (there.predict(X) == best)[clear].all()
    scores = model.decision_function(X, place)
    if n_classes == 2:
        odds = np.log(expected[:, 1] / expected[:, 0])
        assert scores == pytest.approx(odds, abs=1e-6)
    else:
        apart = np.exp(scores - scores.max(1, keepdims=True))
        assert apart / apart.sum(1, keepdims=True) == pytest.approx(expected, abs=1e-9)
    # The model itself is as it was, and a deployed one may be asked for other places and for home.
    assert there.predict_proba(X, own) == pytest.approx(model.predict_proba(X), abs=1e-9)
    assert np.array_equal(deploy(there, None).predict_proba(X), model.predict_proba(X))


def test_a_model_of_a_place_is_one_fitted_with_its_priors():
    X, y = mixed()
    place = [0.5, 0.3, 0.2]
    fitted = NaiveBayes(priors=place).fit(X, y)
    assert np.array_equal(NaiveBayes().fit(X, y).predict_proba(X, place), fitted.predict_proba(X))


def test_each_label_has_a_prior():
    X, y = mixed()
    Y = np.column_stack([y == "low", y == "top"]).astype(int)
    model = NaiveBayes().fit(X, Y)
    learnt, place = Y.mean(0), np.array([0.05, 0.6])
    proba = model.predict_proba(X)
    odds = proba / (1 - proba) * place / (1 - place) / (learnt / (1 - learnt))
    expected = odds / (1 + odds)
    assert model.predict_proba(X, place) == pytest.approx(expected, abs=1e-9)
    named = dict(zip(model.label_names_, place, strict=True))
    assert deploy(model, named).predict_proba(X) == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(model.predict(X, place), (expected > 0.5).astype(int))
    assert "prior where it is used" in make_report(deploy(model, named), X, Y)


def test_calibrating_leaves_the_place_alone():
    X, y = mixed()
    model, place = NaiveBayes().fit(X, y), [0.2, 0.2, 0.6]
    first = deploy(calibrated(model, X, y), place)
    last = calibrated(deploy(model, place), X, y)
    assert first.temperature_ == last.temperature_ != 1
    assert np.array_equal(first.predict_proba(X), last.predict_proba(X))


def test_a_file_keeps_the_place(tmp_path):
    X, y = mixed()
    for model in (NaiveBayes().fit(X, y), calibrated(NaiveBayes().fit(X, y), X, y)):
        plain = model_to_dict(model)
        assert "deployment_priors" not in plain["models"][0]
        there = deploy(model, [0.1, 0.2, 0.7])
        data = model_to_dict(there)
        assert data["models"][0]["deployment_priors"] == [0.1, 0.2, 0.7]
        assert data["models"][0]["prior"] == plain["models"][0]["prior"]
        assert data["version"] == 5 > plain["version"]
        save_model(there, tmp_path / "model.json")
        again = load_model(tmp_path / "model.json")
        assert np.array_equal(again.predict_proba(X), there.predict_proba(X))
        assert np.array_equal(deploy(again, None).predict_proba(X), model.predict_proba(X))
    checker = pytest.importorskip("jsonschema").Draft202012Validator(model_schema())
    checker.validate(json.loads(json.dumps(data)))


@pytest.mark.parametrize("odd", [[0.5, 0.5], [0.5, 0.5, 0.5], [0, 0.5, 0.5], [-1, 1, 1], "x", None])
def test_a_file_with_a_bad_place_is_refused(odd):
    X, y = mixed()
    data = model_to_dict(deploy(NaiveBayes().fit(X, y), [0.1, 0.2, 0.7]))
    data["models"][0]["deployment_priors"] = odd
    with pytest.raises(ValueError, match="deployment_priors"):
        model_from_dict(data)


def test_everything_that_speaks_tells_the_place():
    X, y = mixed()
    model = plain_selector(search="forward", random_state=0).fit(X, y)
    there = deploy(model, {"low": 0.9, "middle": 0.06, "top": 0.04})
    told = explain(there, X[:5])
    for each, row in zip(told, there.predict_proba(X[:5]), strict=True):
        assert each.probability == pytest.approx(row.max())
        assert sum(bar.log_ratio for bar in each.evidence) == pytest.approx(each.log_odds)
        assert "(prior) where it is used" in each.to_text()
    assert "where it is used" not in explain(model, X[:1])[0].to_text()
    words = "priors where it is used: low 0.9, middle 0.06, top 0.04"
    assert explain_model(there).to_text().endswith(words)
    assert "where it is used" not in explain_model(model).to_text()
    assert "prior where it is used" in make_report(there, X, y, n_resamples=0)
    assert "prior where it is used" not in make_report(model, X, y, n_resamples=0)


def test_exported_code_speaks_for_the_place():
    X, y = mixed()
    there = deploy(NaiveBayes().fit(X[["flag"]], y), [0.9, 0.06, 0.04])
    space = {}
    exec(to_python(there), space)
    expected = there.predict(pd.DataFrame({"flag": [0, 1]})).tolist()
    found = [space["predict"]({"flag": flag}) for flag in (0, 1)]
    assert found == expected != NaiveBayes().fit(X[["flag"]], y).predict([[0], [1]]).tolist()


@pytest.mark.parametrize(
    ("priors", "words"),
    [
        ([0.5, 0.5], "priors must hold one number for each of the 3 classes"),
        ([0.5, 0.5, 0.5], "priors must be probabilities that sum to 1"),
        ([0.0, 0.5, 0.5], "priors must be above 0 of every class"),
        ("equal", "priors must be one of 'uniform'"),
        ({"low": 1.0}, r"priors must name every class .*; 'middle' is missing"),
        ({"low": 0.5, "no": 0.5}, "'no' is none of them"),
        (object(), "priors must be None, 'uniform' or one number for each class"),
    ],
)
def test_bad_priors_are_told(priors, words):
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    for ask in (lambda: model.predict(X, priors), lambda: deploy(model, priors)):
        with pytest.raises((TypeError, ValueError), match=words):
            ask()


def test_votes_have_no_priors():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    votes = plain_selector(FeatureVotes(), criterion="auc", random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="priors must be None for votes"):
        votes.predict(X, priors=[0.5, 0.5])
    assert votes.predict(X).shape == (60,)


def test_priors_on_the_command_line(tmp_path):
    X, y = mixed()
    data, out = tmp_path / "table.csv", tmp_path / "out"
    X.assign(y=y).to_csv(data, index=False)
    command = ["select", str(data), "--target", "y", "--out", str(out), "--resamples", "0"]
    priors = "low=0.9,middle=0.06,top=0.04"
    assert CliRunner().invoke(app, [*command, "--quiet", "--priors", priors]).exit_code == 0
    model = load_model(out / "model.json")
    assert model.fitted_.place.tolist() == [0.9, 0.06, 0.04]
    assert "prior where it is used" in (out / "report.html").read_text("utf-8")
    for options, place in (([], [0.9, 0.06, 0.04]), (["--priors", "uniform"], "uniform")):
        done = CliRunner().invoke(app, ["predict", str(out / "model.json"), str(data), *options])
        (tmp_path / "found.csv").write_text(done.stdout)
        found = pd.read_csv(tmp_path / "found.csv")
        chosen = X[[spec.name for spec in model.fitted_.specs]]
        expected = model.predict_proba(chosen, priors=place)
        assert found.iloc[:, 1:].to_numpy() == pytest.approx(expected)
    done = CliRunner().invoke(app, [*command, "--priors", "low:0.9", "--force"])
    assert "one CLASS=NUMBER for each class" in str(done.exception)
