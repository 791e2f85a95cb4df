"""Deployment priors, of weighted models: Bayes' rule on what they say."""

import json
import shutil
import sqlite3
import subprocess
import warnings
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from bayesieve import (
    NaiveBayes,
    WeightedNaiveBayes,
    calibrate,
    deploy,
    explain,
    explain_model,
    load_model,
    save_model,
)
from bayesieve.explain.modelfile.file import model_from_dict, model_schema, model_to_dict
from bayesieve.explain.report import make_report
from bayesieve.explain.report.content import Extras, gather
from bayesieve.export import to_python, to_sql
from plain import plain_selector
from weighted import terms_of


def table(n_rows=300, n_classes=3, seed=0):
    """A number, a category, and two columns that tell together only."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n_rows, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1)))
    one = rng.integers(0, 2, n_rows)
    X = pd.DataFrame(
        {
            "size": np.round(rng.normal(size=n_rows) + y, 1),
            "colour": np.where(rng.random(n_rows) < 0.6, "red", np.array(["a", "b", "c"])[y]),
            "left": one,
            "right": one ^ (y == 1) ^ (rng.random(n_rows) < 0.1),
        }
    )
    return X, np.array(["low", "middle", "top"])[y]


def shares(y):
    """Of the classes, one row added to each: what the constants start from."""
    counts = np.unique(y, return_counts=True)[1] + 1
    return counts / counts.sum()


def bayes_rule(proba, home, place):
    found = proba * np.asarray(place) / np.asarray(home)
    return found / found.sum(1, keepdims=True)


def calibrated(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return calibrate(model, X, y)


PLACE = [0.7, 0.2, 0.1]


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return X, y, WeightedNaiveBayes(pairs=True, price=1.0).fit(X, y)


@pytest.mark.parametrize("warm", [False, True])
def test_priors_follow_bayes_rule(fitted, warm):
    X, y, model = fitted
    assert any(len(term) == 2 for term in terms_of(model))
    if warm:
        model = calibrated(model, X, y)
        assert model.estimator_.temperature_ != 1
    expected = bayes_rule(model.predict_proba(X), shares(y), PLACE)
    there = deploy(model, dict(zip(model.classes_, PLACE, strict=True)))
    for found in (model.predict_proba(X, priors=PLACE), there.predict_proba(X)):
        assert found == pytest.approx(expected, abs=1e-9)
    assert model.predict_log_proba(X, PLACE) == pytest.approx(np.log(expected), abs=1e-8)
    assert np.array_equal(there.predict(X), model.predict(X, PLACE))
    assert np.mean(there.predict(X) == "low") > np.mean(model.predict(X) == "low")
    assert np.array_equal(deploy(there, None).predict_proba(X), model.predict_proba(X))
    assert there.terms_ == model.terms_


def test_a_place_is_about_what_priors_of_the_fit_are(fitted):
    X, y, model = fitted
    given = WeightedNaiveBayes(pairs=True, price=1.0, priors=PLACE).fit(X, y)
    # Constants are sixty-fourths of a nat: those of the fit are rounded once more.
    assert model.decision_function(X, PLACE) - given.decision_function(X) == pytest.approx(
        0, abs=1 / 64
    )
    # From one place to another, Bayes' rule starts from the priors given.
    other = [0.2, 0.3, 0.5]
    expected = bayes_rule(given.predict_proba(X), PLACE, other)
    assert given.predict_proba(X, other) == pytest.approx(expected, abs=1e-9)
    again = model_from_dict(model_to_dict(given))
    columns = X[[spec.name for spec in again.fitted_.specs]]
    assert np.array_equal(again.predict_proba(columns, other), given.predict_proba(X, other))


def test_class_weights_are_part_of_what_was_learnt(fitted):
    X, y, _ = fitted
    model = WeightedNaiveBayes(pairs=False, price=1.0, class_weight={"low": 3}).fit(X, y)
    counts = np.unique(y, return_counts=True)[1] * [3, 1, 1] + 1
    expected = bayes_rule(model.predict_proba(X), counts / counts.sum(), PLACE)
    assert model.predict_proba(X, PLACE) == pytest.approx(expected, abs=1e-9)


def test_a_smaller_model_stays_at_its_place(fitted):
    X, _, model = fitted
    found = deploy(model, PLACE).at(1)
    assert len(found.terms_) == 1
    assert np.array_equal(found.predict_proba(X), model.at(1).predict_proba(X, PLACE))


def test_each_label_has_a_prior():
    X, y = table()
    Y = np.column_stack([y == "low", y == "top"]).astype(int)
    model = WeightedNaiveBayes(pairs=False, price=1.0).fit(X, Y)
    home, place = (Y.sum(0) + 1) / (len(y) + 2), np.array([0.05, 0.6])
    proba = model.predict_proba(X)
    odds = proba / (1 - proba) * place / (1 - place) / (home / (1 - home))
    assert deploy(model, place).predict_proba(X) == pytest.approx(odds / (1 + odds), abs=1e-9)


def test_a_reweighed_selection_has_a_place():
    X, y = table()
    model = plain_selector(
        NaiveBayes(features="auto"), search="forward", reweigh=True, random_state=0
    ).fit(X, y)
    expected = bayes_rule(model.predict_proba(X), shares(y), PLACE)
    assert deploy(model, PLACE).predict_proba(X) == pytest.approx(expected, abs=1e-9)


def test_a_reweighed_selection_knows_the_priors_of_its_model():
    X, y = table()
    options = {"search": "forward", "max_features": 2, "reweigh": True, "random_state": 0}
    given = plain_selector(NaiveBayes(priors=PLACE), keep=[0, 1], **options).fit(X, y)
    plain = plain_selector(NaiveBayes(), keep=[0, 1], **options).fit(X, y)
    there = plain.decision_function(X, PLACE)
    # Constants are sixty-fourths of a nat.
    assert given.decision_function(X) == pytest.approx(there, abs=1 / 64)
    assert given.predict_proba(X, PLACE) == pytest.approx(given.predict_proba(X), abs=1e-9)


def test_a_file_keeps_the_place(fitted, tmp_path):
    X, y, model = fitted
    checker = pytest.importorskip("jsonschema").Draft202012Validator(model_schema())
    assert model_to_dict(model)["version"] == 7
    for warm in (model, calibrated(model, X, y)):
        there = deploy(warm, PLACE)
        data = model_to_dict(there)
        assert data["version"] == 7
        assert data["models"][0]["deployment_priors"] == PLACE
        assert data["models"][0]["prior"] == model_to_dict(warm)["models"][0]["prior"]
        checker.validate(json.loads(json.dumps(data)))
        save_model(there, tmp_path / "model.json")
        again = load_model(tmp_path / "model.json")
        columns = X[[spec.name for spec in again.fitted_.specs]]
        assert np.array_equal(again.predict_proba(columns), there.predict_proba(X))
        home = deploy(again, None)
        assert np.array_equal(home.predict_proba(columns), warm.predict_proba(X))
    given = model_to_dict(
        WeightedNaiveBayes(pairs=False, price=1.0, priors=PLACE, corrections=False).fit(X, y)
    )
    assert given["version"] == 5
    assert given["models"][0]["weighting"]["priors"] == PLACE
    checker.validate(json.loads(json.dumps(given)))
    old = model_to_dict(model)
    assert "priors" not in old["models"][0]["weighting"]
    assert np.array_equal(model_from_dict(old).predict_proba(columns), model.predict_proba(X))


def test_a_file_takes_what_a_model_takes(fitted):
    place = [0.7, 0.2, 0.100009]
    again = model_from_dict(model_to_dict(deploy(fitted[2], place)))
    assert again.fitted_.place.tolist() == place


@pytest.mark.parametrize("odd", [[0.5, 0.5], [0.5, 0.5, 0.5], [0, 0.5, 0.5], "x", None])
@pytest.mark.parametrize("key", ["deployment_priors", "priors"])
def test_a_file_with_bad_priors_is_refused(fitted, key, odd):
    data = model_to_dict(deploy(fitted[2], PLACE))
    part = data["models"][0] if key == "deployment_priors" else data["models"][0]["weighting"]
    part[key] = odd
    with pytest.raises(ValueError, match=key):
        model_from_dict(data)


def test_everything_that_speaks_tells_the_place(fitted):
    X, y, model = fitted
    there = deploy(model, PLACE)
    for each, row in zip(explain(there, X[:5]), there.predict_proba(X[:5]), strict=True):
        assert each.probability == pytest.approx(row.max())
        assert sum(bar.log_ratio for bar in each.evidence) == pytest.approx(each.log_odds)
        assert "(prior) where it is used" in each.to_text()
    words = "priors where it is used: low 0.7, middle 0.2, top 0.1"
    assert explain_model(there).to_text().endswith(words)
    assert "prior where it is used" in make_report(there, X, y)
    assert "prior where it is used" not in make_report(model, X, y)


def test_exported_code_speaks_for_the_place(fitted):
    X, _, model = fitted
    there, space = deploy(model, PLACE), {}
    wanted = there.predict(X).tolist()
    assert wanted != model.predict(X).tolist()
    exec(to_python(there), space)
    assert [space["predict"](row) for row in X.to_dict("records")] == wanted
    connection = sqlite3.connect(":memory:")
    X.to_sql("data", connection, index=False)
    assert pd.read_sql(to_sql(there), connection)["prediction"].tolist() == wanted


@pytest.mark.parametrize(
    ("priors", "words"),
    [
        ([0.5, 0.5], "priors must hold one number for each of the 3 classes"),
        ([0.0, 0.5, 0.5], "priors must be above 0 of every class"),
        ("equal", "priors must be one of 'uniform'"),
        ({"low": 1.0}, r"priors must name every class .*; 'middle' is missing"),
    ],
)
def test_bad_priors_are_told(fitted, priors, words):
    X, _, model = fitted
    for ask in (lambda: model.predict(X, priors), lambda: deploy(model, priors)):
        with pytest.raises((TypeError, ValueError), match=words):
            ask()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("kind", ["weighted", "deployed", "warm", "plain"])
def test_the_page_moves_a_model_from_place_to_place(fitted, kind, tmp_path):
    X, y, model = fitted
    if kind == "plain":
        model = calibrated(NaiveBayes().fit(X, y), X, y)
    if kind == "warm":
        model = calibrated(model, X, y)
    if kind in ("deployed", "warm", "plain"):
        model = deploy(model, [0.1, 0.1, 0.8])
    problem = gather(model, X, y, Extras())["portable"]["problems"][0]
    assert sum(problem["shares"]) == pytest.approx(1)
    new = [0.6, 0.3, 0.1]
    code = (files("bayesieve") / "explain/report/assets/model.js").read_text("utf-8")
    code += f"""
const problem = {json.dumps({**problem, "terms": [], "pairs": []})};
const told = prior => Model.probabilities(
  Model.sums(Model.terms([], problem, [], prior), 3), problem.temperature);
console.log(JSON.stringify([told(null), told({new})]));
"""
    script = tmp_path / "page.js"
    script.write_text(code, "utf-8")
    done = subprocess.run(["node", script], capture_output=True, text=True, check=True)
    before, after = np.array(json.loads(done.stdout))
    # Without evidence: what the model says before it has seen anything.
    fixed = model.estimator_.fitted_ if hasattr(model, "estimator_") else model.fitted_
    silent = fixed.only.proba(fixed.only.fixed_prior[None])[0]
    assert before == pytest.approx(silent)
    moved = silent * new / np.array(problem["shares"])
    assert after == pytest.approx(moved / moved.sum())
