"""Numbers on a grid: words, SQL, Python, files and pages say what the model says."""

import json
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

from bayesieve import NaiveBayes, calibrate, explain, explain_model, load_model, save_model
from bayesieve.explain.modelfile.file import model_from_dict, model_to_dict
from bayesieve.explain.portable import portable
from bayesieve.explain.report.content import Extras, gather
from bayesieve.export import to_python, to_sql

NAMES = ["density", "kernel", "rank-kernel", "grid-gaussian", "intervals", "intervals-6"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes", "maybe"], 600, p=[0.5, 0.3, 0.2])
    shift = np.select([y == "yes", y == "maybe"], [1.5, -1.0], 0.0)
    X = pd.DataFrame(
        {
            "size": rng.normal(shift, 1.0),
            "gain": np.where(rng.random(600) < 0.6, 0.0, rng.exponential(10 ** (3 + shift))),
            "few": rng.integers(0, 4, 600) + (y == "yes"),
            "tiny": rng.normal(shift, 1.0) * 1e-300,
        }
    )
    X.loc[rng.random(600) < 0.1, "size"] = np.nan
    return X, y


def far(X):
    """Rows beyond all that the fit has seen, and with nothing."""
    ends = pd.DataFrame({"size": [-1e9, 1e9, np.nan], "gain": [-5.0, 1e300, np.nan]})
    ends["few"], ends["tiny"] = [-3.0, 99.0, np.nan], [-1.0, 1.0, np.nan]
    return pd.concat([X, ends], ignore_index=True)


@pytest.mark.parametrize("name", NAMES)
def test_exports_are_the_model(name, data):
    X, y = data
    model, asked = NaiveBayes(name).fit(X, y), far(X)
    wanted = model.predict(asked).tolist()
    space = {}
    exec(to_python(model), space)
    assert [space["predict"](row) for row in asked.to_dict("records")] == wanted
    assert space["predict"]({"size": None}) == model.predict(asked.tail(1))[0]
    query = to_sql(model)
    connection = sqlite3.connect(":memory:")
    asked.to_sql("data", connection, index=False)
    assert [row[-1] for row in connection.execute(query)] == wanted
    with duckdb.connect() as duck:
        duck.register("data", asked)
        assert duck.sql(query).df()["prediction"].tolist() == wanted
    # To the last unit: SQL and Python read the very integers.
    problem, spoken = model.fitted_.only, portable(model)["problems"][0]["terms"]
    for table, term in zip(problem.tables, spoken, strict=True):
        assert term["table"] == table[:-1].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_evidence_adds_up(name, data):
    X, y = data
    model, asked = NaiveBayes(name).fit(X, y), far(X).tail(40)
    proba = model.predict_proba(asked)
    for i, each in enumerate(explain(model, asked, target="yes", against="no")):
        assert sum(bar.log_ratio for bar in each.evidence) == pytest.approx(each.log_odds)
        assert each.log_odds == pytest.approx(np.log(proba[i, 2] / proba[i, 1]), abs=1e-6)
        assert {bar.status for bar in each.evidence} <= {"prior", "seen", "missing"}


@pytest.mark.parametrize("name", NAMES)
def test_people_read_intervals(name, data):
    X, y = data
    model = NaiveBayes(name).fit(X, y)
    for j, feature in enumerate(explain_model(model).features):
        spec, table = model.fitted_.specs[j], model.fitted_.only.tables[j]
        cuts = np.array(feature.source["cuts"])
        assert len(feature.values) == cuts.size + 1 == len(feature.terms)
        assert feature.values[0].startswith("<= ")
        assert feature.values[-1].startswith("above ")
        assert all(" to " in value for value in feature.values[1:-1])
        # Rows of the intervals are those of the codes within.
        values = X.iloc[:, j].to_numpy()
        known = ~np.isnan(values)
        at = np.searchsorted(cuts, values[known])
        counts = [
            [(y[known][at == i] == k).sum() for k in model.classes_] for i in range(len(cuts) + 1)
        ]
        np.testing.assert_array_equal(feature.counts, counts)
        # What is joined says the same within a tenth of a nat; neighbours that are not differ.
        nat = model.fitted_.only.nat(table[:-1])
        of_code = np.searchsorted(cuts, spec.levels)
        for i in range(len(cuts) + 1):
            mine = nat[of_code == i]
            assert np.ptp(mine, axis=0).max() < 0.1
            assert np.abs(mine - feature.terms[i]).max() < 0.1
            after = nat[of_code == i + 1][:1]
            assert not after.size or np.ptp(np.vstack([mine, after]), axis=0).max() >= 0.1


def test_words_have_few_digits(data):
    X, y = data
    feature = explain_model(NaiveBayes("intervals-4").fit(X[["few"]], y)).features[0]
    assert feature.values == ["<= 0.5", "0.5 to 1.5", "1.5 to 2.5", "above 2.5"]
    text = explain_model(NaiveBayes("intervals").fit(X[["gain"]], y)).to_text()
    assert "  gain\n" in text
    assert "above" in text
    assert max(len(word) for word in text.split()) < 10


@pytest.mark.parametrize("low", [91289920530.17937, -34.73090762218553, 0.6148066826321138, 1e6])
def test_words_tell_neighbouring_numbers_apart(low):
    """A value is within the interval that its code is read as, however many digits that takes."""
    steps = np.arange(120) % 6
    model = NaiveBayes("intervals-6").fit((low + np.spacing(low) * steps)[:, None], steps % 2)
    spec, feature = model.fitted_.specs[0], explain_model(model).features[0]
    ends = [float(word.split()[-1]) for word in feature.values[:-1]]
    starts = [float(word.split()[-1 if "above" in word else 0]) for word in feature.values[1:]]
    assert starts == ends
    assert np.searchsorted(ends, np.unique(spec.levels)).tolist() == list(range(6))


def test_importance_does_not_depend_on_what_is_joined(data):
    X, y = data
    model = NaiveBayes("grid-gaussian").fit(X[["size"]], y)
    plain = NaiveBayes("gaussian").fit(X[["size"]], y)
    one, other = (explain_model(each).features[0].importance for each in (model, plain))
    np.testing.assert_allclose(one, other, rtol=0.15)


@pytest.mark.parametrize("name", NAMES)
def test_files_of_the_third_version(name, data, tmp_path):
    X, y = data
    model, asked = NaiveBayes(name).fit(X, y), far(X)
    save_model(model, tmp_path / "model.json")
    stored = json.loads((tmp_path / "model.json").read_text())
    assert stored["version"] == 3
    assert set(stored["features"][0]) == {"name", "model", "cuts", "medians", "range", "n_distinct"}
    again = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))
    again.partial_fit(X[:50], y[:50])
    model.partial_fit(X[:50], y[:50])
    np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))


def test_older_files_are_still_read(data):
    X, y = data
    X = X[["size", "few", "gain"]]
    plain = NaiveBayes("gaussian").fit(X[["size", "few"]], y)
    assert model_to_dict(plain)["version"] == 1
    heated = calibrate(NaiveBayes("gaussian").fit(X[:300], y[:300]), X[300:], y[300:])
    assert model_to_dict(heated)["version"] == 2
    for model, asked in ((plain, X[["size", "few"]]), (heated, X)):
        again = model_from_dict(json.loads(json.dumps(model_to_dict(model))))
        np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cuts": [3.0, 1.0]}, "cut"),
        ({"medians": []}, "median"),
        ({"range": [5.0, 6.0]}, "range"),
        ({"n_distinct": 1}, "n_distinct"),
        ({"model": "gaussian"}, "grid"),
        ({"cuts": None}, "must be array"),
    ],
)
def test_a_broken_grid_is_refused(change, said, data):
    X, y = data
    stored = model_to_dict(NaiveBayes("density").fit(X[["few"]], y))
    stored["features"][0].update(change)
    with pytest.raises(ValueError, match=said):
        model_from_dict(stored)


def test_texts_are_refused_where_numbers_were(data):
    X, y = data
    model = NaiveBayes().fit(X[["few"]], y)
    with pytest.raises(ValueError, match="'few' is modelled as 'curve', which needs numbers"):
        model.predict(pd.DataFrame({"few": ["one", "two"]}))


def test_nothing_is_unknown_on_a_grid(data, recwarn):
    X, y = data
    model = NaiveBayes().fit(X, y)
    model.predict(far(X).tail(3))
    assert not recwarn.list


def test_a_page_computes_what_the_model_says(data):
    """The page's own arithmetic, step by step: cuts below a number, and sums of steps."""
    X, y = data
    model = NaiveBayes().fit(X, y)
    content = gather(model, X, y, Extras(include_rows=True))
    problem, features = content["portable"]["problems"][0], content["portable"]["features"]
    rows = content["rows"]
    for i in range(0, 600, 37):
        sums = np.array([nat for nat, _ in problem["prior"]])
        for j, feature in enumerate(features):
            value = rows["values"][j][i]
            assert feature["levels"] is None
            assert feature["range"] == [X.iloc[:, j].min(), X.iloc[:, j].max()]
            if value is not None:
                code = sum(cut < value for cut in feature["cuts"])
                sums += np.cumsum(problem["terms"][j]["steps"], axis=1)[:, code] / 1e10
        proba = np.exp(sums - sums.max())
        wanted = model.predict_proba(X.iloc[[rows["at"][i]]])[0]
        np.testing.assert_allclose(proba / proba.sum(), wanted, atol=1e-9)
