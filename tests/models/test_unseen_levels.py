"""A level that nobody has seen is not a missing value, even where missing values speak."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

from bayesieve import WeightedNaiveBayes, explain
from bayesieve.explain.modelfile.file import model_from_dict, model_to_dict
from bayesieve.export import to_python, to_sql


def table(kind, n=240):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    values = rng.integers(1, 4, n).astype(float)
    gone = (y == 1) & (rng.random(n) < 0.7)
    if kind == "numbers":
        column = pd.Series(np.where(gone, np.nan, values))
    else:
        texts = pd.Series(values.astype(int).astype(str), dtype=object)
        column = texts.where(~gone, None)
    return pd.DataFrame({"c": column, "z": rng.integers(0, 2, n)}), y


@pytest.fixture(params=["texts", "numbers"])
def fitted(request):
    X, y = table(request.param)
    model = WeightedNaiveBayes(
        pairs=False,
        price=0.5,
        missing="evidence",
        features={"c": "categorical"},
        forbid=["z"],
        priors=[0.7, 0.3],
    ).fit(X, y)
    odd = "9" if request.param == "texts" else 9.0
    rows = pd.DataFrame({"c": [X["c"].dropna().iloc[0], None, odd], "z": 0})
    if request.param == "numbers":
        rows["c"] = rows["c"].astype(float)
    return model, rows


def test_an_unseen_level_says_nothing(fitted):
    model, rows = fitted
    known, missing, unseen = explain(model, rows, target=1, against=0)
    bars = [each.evidence[1] for each in (known, missing, unseen)]
    assert [bar.status for bar in bars] == ["seen", "missing", "unseen"]
    assert bars[0].log_ratio < 0
    assert bars[1].log_ratio > 1
    assert bars[2].log_ratio == 0
    constant = unseen.evidence[0].log_ratio
    assert model.predict_proba(rows)[2, 1] == pytest.approx(1 / (1 + np.exp(-constant)))


def test_files_and_exports_say_the_same(fitted):
    model, rows = fitted
    wanted = model.predict(rows).tolist()
    # Else nobody would see what an unseen level says.
    assert wanted[1] != wanted[2]
    found = model_from_dict(model_to_dict(model))
    assert (found.predict_proba(rows[["c"]]) == model.predict_proba(rows)).all()
    space = {}
    exec(to_python(model), space)
    cells = rows["c"].astype(object).where(rows["c"].notna(), None)
    assert [space["predict"]({"c": cell}) for cell in cells] == wanted
    with sqlite3.connect(":memory:") as base:
        rows.to_sql("t", base, index=False)
        assert pd.read_sql(to_sql(model, "t"), base)["prediction"].tolist() == wanted
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as base:
        base.register("t", rows)
        assert base.execute(to_sql(model, "t")).df()["prediction"].tolist() == wanted


def test_tables_of_terms_tell_what_missing_values_say():
    X, y = table("texts")
    models = [
        WeightedNaiveBayes(pairs=False, price=0.5, missing=missing, forbid=["z"]).fit(X, y)
        for missing in ("evidence", "silent")
    ]
    gone = X["c"].isna().to_numpy()
    counts = np.bincount(y)
    missing = (np.bincount(y[gone], minlength=2) + 1) / (counts + 2)
    pooled = missing @ ((counts + 1) / (counts.sum() + 2))
    table_ = models[0].terms_[0]["table"]
    assert table_.shape == (4, 2)
    assert table_[-1] == pytest.approx(np.log(missing / pooled), abs=1e-9)
    for term in models[1].terms_:
        assert len(term["table"]) == 3


def test_the_only_row_of_a_level_is_left_out_silently():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 120)
    column = np.where(rng.random(120) < 0.3 + 0.4 * y, "a", "b").astype(object)
    column[(y == 1) & (rng.random(120) < 0.5)] = None
    column[0] = "only"
    X = pd.DataFrame({"c": column})
    named = WeightedNaiveBayes(features="categorical", pairs=False, price=0.0, missing="evidence")
    model = named.fit(X, y)
    path = model.path_
    scores = np.tile(path.states[-1].constants[0] / 64, (120, 1))
    counts = np.bincount(y)
    shares = (counts + 1) / 122
    gone = X["c"].isna().to_numpy()
    for i in range(1, 120):  # the first row is the only one of its level

        def chance(k, rows, i=i):
            mine = rows & (y == k)
            missing = ((mine & gone).sum() + 1) / (mine.sum() + 2)
            if gone[i]:
                return missing
            same = (mine & (column == column[i])).sum()
            return (1 - missing) * (same + 1) / ((mine & ~gone).sum() + 3)

        every, others = np.ones(120, bool), np.arange(120) != i
        full = np.array([chance(k, every) for k in range(2)])
        own = np.array([chance(k, others if k == y[i] else every) for k in range(2)])
        scores[i] += model.weights_[0] * (np.log(own) - np.log(full @ shares))
    losses = np.logaddexp(*scores.T) - scores[np.arange(120), y]
    assert path.steps[-1].score == pytest.approx(losses.mean(), abs=1e-9)
