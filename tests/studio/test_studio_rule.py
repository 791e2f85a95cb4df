"""Decisions in the studio: a rule from the page is a rule of `decide`, wherever it goes."""

import json

import numpy as np
import polars as pl

from bayesieve import NaiveBayesSelector, decide, load_model, save_model
from bayesieve.app.studio.data import draw_aside
from bayesieve.export import to_python, to_sql
from studios import client, opened, rows

WISH = {"alarm": 1, "cost": 4, "ask": 0.3, "ceiling": 0.2}


def twin(frame, subset, wish):
    """The model of a wish, made by hand."""
    X, y = pl.from_pandas(frame.drop(columns="kind")), frame["kind"].to_numpy()
    aside = draw_aside(list(range(len(y))), y)
    weights = np.ones(len(y), int)
    weights[aside] = 0
    names = [X.columns[j] for j in sorted(subset)]
    model = NaiveBayesSelector(search="forward", keep=names, n_features=len(names), n_jobs=1)
    model.fit(X, y, sample_weight=weights)
    given = {
        "costs": [[0, 1], [wish["cost"], 0]],
        "abstain": wish["ask"],
        "max_false_alarms": {"yes": wish["ceiling"]},
    }
    return decide(model, X[aside], y[aside], **given)


def test_a_rule_of_the_page_is_one_of_decide_in_all_that_comes_out(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = rows(n=400)
    frame.to_csv("table.csv", index=False)
    page, _ = opened(start(), frame)
    before = page.post("/api/edit", json={"action": "add", "columns": [0, 1, 8]}).json()
    state = page.post("/api/rule", json={"rule": WISH}).json()
    assert (state["n_aside"], state["rule"], state["subset"]) == (134, WISH, [0, 1, 8])
    assert state["n_rows"] == before["n_rows"] - 134
    wanted = twin(frame, [0, 1, 8], WISH)
    told = page.get("/api/model").json()
    assert told["decision"]["words"] == wanted.decision_.to_text()
    assert sum(told["decision"]["rows"]) == 134
    found = page.get("/api/export/model").text
    (tmp_path / "model.json").write_text(found)
    X = pl.from_pandas(frame.drop(columns="kind"))
    decided = load_model("model.json").predict(X.select("f0", "f1", "size"))
    assert decided.tolist() == wanted.predict(X).tolist()
    assert {None, "no", "yes"} == set(decided.tolist())
    names = {}
    exec(page.get("/api/export/code").text, names)
    save_model(names["selector"], "code.json")
    shown = json.loads(found)
    del shown["log"]
    assert json.loads((tmp_path / "code.json").read_text()) == shown
    assert page.get("/api/export/sql").text == to_sql(wanted)
    assert page.get("/api/export/python").text == to_python(wanted)
    assert "ask a person" in page.get("/api/export/report").text
    assert "cannot leave out rows" in page.get("/api/texts").json()["command"]
    other = client(start())
    project = page.get("/api/export/project").content
    again = other.post("/api/upload", params={"name": "p.bayesieve"}, content=project).json()
    assert (again["rule"], again["n_aside"], again["rows_out"]) == (WISH, 134, "")
    assert json.loads(other.get("/api/export/model").text)["models"] == shown["models"]


def test_rules_come_and_go_and_follow_the_subset(start):
    page, _ = opened(start(), rows(n=400))
    page.post("/api/edit", json={"action": "add", "columns": [0, 8]})
    page.post("/api/rule", json={"rule": {"alarm": 0, "ask": 0.2}})
    one = page.get("/api/model").json()
    page.post("/api/edit", json={"action": "add", "columns": [1]})
    two = page.get("/api/model").json()
    assert one["rules"][0]["costs"] == two["rules"][0]["costs"] == [[0, 1, 0.2], [1, 0, 0.2]]
    assert one["decision"]["rows"] != two["decision"]["rows"]
    state = page.post("/api/rule", json={"rule": None}).json()
    assert (state["rule"], state["n_aside"]) == (None, 134)
    assert page.get("/api/model").json()["rules"] == [None]
    asked = {"target": "kind", "features": {}, "aside": False}
    assert page.post("/api/target", json=asked).json()["n_rows"] == 400


REFUSED = [
    ({"alarm": 2}, "alarm must be"),
    ({"alarm": 0, "cost": -1}, "cost must be"),
    ({"alarm": 0, "ceiling": 2}, "ceiling must be"),
    ({"alarm": 0, "ceiling": 0.001}, "cannot be kept"),
    ({}, "alarm must be"),
]


def test_wishes_that_cannot_be_kept_are_refused(start):
    page, _ = opened(start())
    before = page.post("/api/edit", json={"action": "add", "columns": [0, 8]}).json()
    for wish, said in REFUSED:
        refused = page.post("/api/rule", json={"rule": wish}).json()["refused"]
        assert said in refused, refused
        after = page.get("/api/state").json()
        for name in ("rule", "n_aside", "n_rows", "subset", "error", "log"):
            assert after[name] == before[name], (wish, name)
    assert page.get("/api/model").json()["rules"] == [None]


def test_no_subset_and_no_table_have_no_rule(start):
    page = client(start())
    assert "refused" in page.post("/api/rule", json={"rule": WISH}).json()
    page, _ = opened(start())
    assert "subset is empty" in page.post("/api/rule", json={"rule": WISH}).json()["refused"]
