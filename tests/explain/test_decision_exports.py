"""A rule travels: files, SQL and Python decide as the model does."""

import copy
import json
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from bayesieve import (
    NaiveBayes,
    WeightedNaiveBayes,
    decide,
    deploy,
    load_model,
    novelty,
    save_model,
)
from bayesieve.estimators.naive_bayes import fitted_of
from bayesieve.explain.modelfile.file import model_from_dict, model_schema, model_to_dict
from bayesieve.export import to_python, to_sql

RULES = [
    {"abstain": 0.2},
    {"costs": [[0, 1, 5], [2, 0, 1], [1, 3, 0]]},
    {"costs": [[0, 1, 5], [2, 0, 1], [1, 3, 0]], "abstain": 0.4, "max_false_alarms": 0.1},
    {"max_false_alarms": 0.1},
    {"max_false_alarms": {"it's": 0.1}},
    {"min_detections": {"it's": 0.5}},
    {"max_false_alarms": {"it's": 0.1}, "abstain": 0.1, "min_detections": {"yes": 0.3}},
]


def table(rng, n, features=None):
    y = rng.choice(["it's", "no", "yes"], n, p=[0.3, 0.4, 0.3])
    at = np.searchsorted(["it's", "no", "yes"], y)
    frame = pd.DataFrame(
        {
            'odd "name"': np.round(rng.normal(at, 1.2), 1),
            "bit": (rng.random(n) < 0.2 + 0.3 * at).astype(float),
            "kind": [rng.choice(["u", "v", "w"][: 2 + (k == 1)]) for k in at],
        }
    )
    frame.loc[rng.random(n) < 0.05, "bit"] = np.nan
    return frame, y


def in_sqlite(query, frame):
    connection = sqlite3.connect(":memory:")
    frame.to_sql("data", connection, index=False)
    return [row[-1] for row in connection.execute(query)]


def in_duckdb(query, frame):
    connection = duckdb.connect()
    connection.register("given", frame)
    connection.execute("CREATE TABLE data AS SELECT * FROM given")
    return [row[-1] for row in connection.execute(query).fetchall()]


def in_python(source, frame):
    space = {}
    exec(source, space)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [space["predict"](row) for row in rows]


def assert_travels(ruled, frame, tmp_path):
    wanted = ruled.predict(frame).tolist()
    assert in_sqlite(to_sql(ruled), frame) == wanted
    assert in_duckdb(to_sql(ruled), frame) == wanted
    assert in_python(to_python(ruled), frame) == wanted
    save_model(ruled, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.predict(frame).tolist() == wanted
    np.testing.assert_array_equal(novelty(again, frame), novelty(ruled, frame))
    kept = [problem.rule for problem in again.fitted_.problems]
    assert kept == [problem.rule for problem in fitted_of(ruled).problems]
    return wanted


@pytest.mark.parametrize("options", RULES)
def test_a_rule_decides_the_same_everywhere(options, tmp_path):
    rng = np.random.default_rng(0)
    model = NaiveBayes({"kind": "categorical", 'odd "name"': "density"}).fit(*table(rng, 300))
    ruled = decide(model, *table(rng, 300), **options)
    frame, _ = table(rng, 300)
    wanted = assert_travels(ruled, frame, tmp_path)
    assert wanted != model.predict(frame).tolist()
    assert len(set(wanted)) == 3 + ("abstain" in options)


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(smoothing=0),
        NaiveBayes({'odd "name"': "gaussian"}),
        NaiveBayes({'odd "name"': "mixture-2"}, var_smoothing=1e-9),
        WeightedNaiveBayes(keep=[0, 1, 2]),
    ],
    ids=["impossible", "gaussian", "mixture", "weighted"],
)
@pytest.mark.parametrize("options", RULES[2:4])
def test_rules_of_other_models(model, options, tmp_path):
    rng = np.random.default_rng(1)
    fitted = model.fit(*table(rng, 400))
    ruled = deploy(decide(fitted, *table(rng, 400), **options), [0.2, 0.6, 0.2])
    assert_travels(ruled, table(rng, 200)[0], tmp_path)


def test_two_classes_of_numbers_and_labels(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (600, 4)), columns=list("abcd"))
    y = (X["a"] + X["b"] + rng.integers(0, 2, 600) > 1).astype(int)
    for options in ({"abstain": 0.1}, {"max_false_alarms": {1: 0.2}}):
        ruled = decide(NaiveBayes().fit(X[:300], y[:300]), X[300:], y[300:], **options)
        assert_travels(ruled, X, tmp_path)
    Y = pd.DataFrame({"fire": y, "flood": rng.integers(0, 2, 600)})
    model = NaiveBayes().fit(sp.csr_array(X[:300].to_numpy()), Y[:300])
    ruled = decide(model, sp.csr_array(X[300:].to_numpy()), Y[300:], abstain={"fire": 0.1})
    wanted = ruled.predict(X.to_numpy()).tolist()
    assert any(None in row for row in wanted)
    named = X.rename(columns=dict(zip("abcd", ["x0", "x1", "x2", "x3"], strict=True)))
    connection = sqlite3.connect(":memory:")
    named.to_sql("data", connection, index=False)
    found = connection.execute(to_sql(ruled)).fetchall()
    assert [list(row[-2:]) for row in found] == wanted
    assert [list(row.values()) for row in in_python(to_python(ruled), named)] == wanted


def test_many_classes(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(1200) % 60
    bits = (y[:, None] >> np.arange(6)) & 1
    X = pd.DataFrame(bits ^ (rng.random((1200, 6)) < 0.1), columns=list("abcdef")).astype(int)
    model = NaiveBayes().fit(X[:600], y[:600])
    ruled = decide(model, X[600:], y[600:], max_false_alarms={3: 0.02}, abstain=0.9)
    assert_travels(ruled, X[::4], tmp_path)


# -- files ---------------------------------------------------------------------------------------


def ruled_file():
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(*table(rng, 300))
    return model, decide(model, *table(rng, 300), abstain=0.2, max_false_alarms=0.2)


def test_the_file_names_its_version_and_fits_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    model, ruled = ruled_file()
    assert model_to_dict(model)["version"] == 3  # as before: others read it
    data = json.loads(json.dumps(model_to_dict(ruled)))
    assert data["version"] == 6
    jsonschema.Draft202012Validator(model_schema()).validate(data)
    assert len(data["usual"]) == 300
    assert model_to_dict(model_from_dict(data)) == data


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("rule", "costs"), [[0, 1]], "rule.costs must hold 3 lines"),
        (("rule", "costs"), [[0, 1], [1, 0], [1, 1]], "rule.costs must hold 3 lines"),
        (("rule", "costs"), [[0, -1, 1]] * 3, "must be at least 0"),
        (("rule", "prior"), [0, 1], "a prior for each class"),
        (("rule", "guards", 0, "position"), 7, "at positions of classes"),
        (("rule", "guards", 0, "high"), 0.5, "must be integer or null"),
        (("rule", "guards", 0, "high"), 2**70, "in whole units"),
        (("rule", "promises", 0, "kind"), "luck", "must be one of"),
        (("rule", "more"), 1, "which is unknown"),
    ],
)
def test_odd_rules_in_files_are_refused(place, value, message):
    data = copy.deepcopy(model_to_dict(ruled_file()[1]))
    part = data["models"][0]
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    with pytest.raises(ValueError, match=message):
        model_from_dict(data)


def test_odd_novelty_in_files_is_refused():
    data = model_to_dict(ruled_file()[1])
    with pytest.raises(ValueError, match="usual must hold ascending numbers"):
        model_from_dict({**data, "usual": [2.0, 1.0]})
