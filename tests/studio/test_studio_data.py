"""Part one of the studio: columns that are odd, rows and columns that are left out."""

import json
import re
import time

import httpx
import numpy as np
import pytest

from bayesieve import NaiveBayes, NaiveBayesSelector, Session, save_model
from bayesieve.app.studio.bench import histogram, leaks
from bayesieve.app.studio.data import given_table, read_rows, write_rows
from bayesieve.data.sample import read_sample
from studios import client, opened, rows


def test_odd_columns_are_flagged(start):
    frame = rows().assign(
        number=range(200),
        same=3,
        who=[f"p{i}" for i in range(200)],
        when=[f"2024-01-01 10:{i % 60:02d}" for i in range(200)],
    )
    frame["leak"] = (frame["kind"] == "yes").astype(int)
    frame["twin"] = frame["f3"]
    page, state = opened(start(), frame)
    assert state["left_out"] == {"who": "names every row", "when": "holds moments in time"}
    for _ in range(6000):
        columns = page.get("/api/columns").json()
        if columns["alone"]:
            break
        time.sleep(0.05)
    flags = dict(zip(columns["names"], columns["flags"], strict=True))
    assert (flags["number"], flags["same"], flags["leak"]) == ("identifier", "constant", "leak")
    assert flags["f0"] == ""
    names = columns["names"]
    assert names[columns["leaders"][names.index("twin")]] == "f3"
    page.post("/api/target", json={"target": "kind", "features": {"size": "gaussian"}})
    page.post("/api/edit", json={"action": "add", "columns": [columns["names"].index("size")]})
    assert page.get("/api/model").json()["features"][0]["model"] == "gaussian"


def test_a_card_of_these_features_can_be_taken_along(start):
    page, _ = opened(start(), rows())
    columns = page.get("/api/columns").json()["names"]
    picked = [columns.index(name) for name in ("f0", "f3")]
    page.post("/api/edit", json={"action": "add", "columns": picked})
    card = page.get("/api/export/card").text
    data = json.loads(re.search(r'id="data">(.*?)</script>', card, re.DOTALL)[1])
    assert {line["column"] for line in data["card"]["lines"]} <= {"f0", "f3"}
    assert len(data["rows"]["truth"]) == len(rows())
    assert "see what it costs" in card


def test_rows_can_be_left_out(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = rows()
    frame.to_csv("table.csv", index=False)
    page, _ = opened(start(), frame)
    page.post("/api/edit", json={"action": "add", "columns": [0, 1]})
    asked = {"target": "kind", "rows": "3, 17-20", "features": {}}
    state = page.post("/api/target", json=asked).json()
    assert (state["rows_out"], state["n_rows"]) == ("3, 17-20", 195)
    assert state["subset"] == [0, 1]
    assert "rows left out: 3, 17-20" in state["log"][-1]["note"]
    kept = frame.drop(index=read_rows(state["rows_out"]))
    twin = Session(kept.drop(columns="kind"), kept["kind"].to_numpy()).add("f0", "f1")
    assert state["score"] == twin.score()
    shown = page.get("/api/model").json()["rows"]
    assert shown["truth"] == frame["kind"].tolist()
    names = {}
    exec(page.get("/api/export/code").text, names)
    save_model(names["selector"], "code.json")
    shown = page.get("/api/export/model").json()
    del shown["log"]
    assert httpx.Response(200, content=(tmp_path / "code.json").read_bytes()).json() == shown
    assert "cannot leave out rows" in page.get("/api/texts").json()["command"]
    for wrong in ("x", "5-3", "-1", "1000"):
        answer = page.post("/api/target", json={**asked, "rows": wrong})
        assert "refused" in answer.json(), wrong
    again = page.post("/api/target", json={**asked, "rows": ""}).json()
    assert again["n_rows"] == 200


@pytest.mark.parametrize(
    ("text", "found"), [("", []), (" 3 ", [3]), ("2-4,3", [2, 3, 4]), ("7, 1-1", [1, 7])]
)
def test_rows_as_people_write_them(text, found):
    assert read_rows(text) == read_rows(write_rows(found)) == found


def test_histograms_count_every_row_once():
    frame = rows(n=300).assign(word=["a", None, "b"] * 100)
    sample = read_sample(NaiveBayes(), frame.drop(columns="kind"), frame["kind"], None)
    for j, name in enumerate(sample.table.names):
        found = histogram(sample, j)
        known = frame[name].notna()
        for k, kind in enumerate(["no", "yes"]):
            wanted = int((known & (frame["kind"] == kind)).sum())
            assert sum(row[k] for row in found["counts"]) == wanted
    word = histogram(sample, sample.table.names.index("word"))
    wanted = int(((frame["word"] == "a") & (frame["kind"] == "no")).sum())
    assert word["counts"][word["labels"].index("a")][0] == wanted


def test_a_leak_is_no_column_that_is_always_right_by_chance():
    sample = read_sample(NaiveBayes(), [[0]] * 50, ["a"] * 48 + ["b"] * 2, None)
    assert leaks([0.0], sample.labels) == []
    half = read_sample(NaiveBayes(), [[0]] * 50, ["a"] * 25 + ["b"] * 25, None)
    assert leaks([0.0, 0.02], half.labels) == [0]


def test_one_change_of_the_table_keeps_the_others(start, tmp_path):
    """Rows left out, feature models and settings: a project that is opened again has them all."""
    page, _ = opened(start())
    page.post("/api/target", json={"target": "kind", "features": {"size": "gaussian"}})
    page.post(
        "/api/target", json={"target": "kind", "features": {"size": "gaussian"}, "rows": "3-9"}
    )
    page.post("/api/edit", json={"action": "add", "columns": [0, 8]})
    page.post("/api/search", json={"preset": "few", "criterion": "error"})
    for _ in range(6000):
        if not page.get("/api/state").json()["running"]:
            break
        time.sleep(0.05)
    project = page.get("/api/export/project").content
    running = start()
    other = client(running)
    state = other.post("/api/upload", params={"name": "p.bayesieve"}, content=project).json()
    assert (state["features"], state["rows_out"]) == ({"size": "gaussian"}, "3-9")
    state = other.post("/api/target", json={"features": {"size": "density"}}).json()
    assert (state["features"], state["rows_out"]) == ({"size": "density"}, "3-9")
    assert (state["settings"]["preset"], state["criterion"]) == ("few", "error")
    session = running.bench.session
    weights = np.ones(200, int)
    weights[3:10] = 0
    assert session.params["sample_weight"].tolist() == weights.tolist()
    twin = Session(
        session.X,
        session.y,
        NaiveBayesSelector(NaiveBayes(features={"size": "density"}), criterion="error"),
        sample_weight=weights,
    )
    assert state["score"] == twin.score(state["subset"])
    again = other.post("/api/target", json={"features": {}, "rows": ""}).json()
    assert (again["features"], again["rows_out"]) == ({}, "")
    assert running.bench.session.params == {}


def test_weights_of_a_session_stay(start):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    weights, groups = rng.integers(0, 4, 60), np.arange(60) // 2
    bench = start().bench
    session = Session(X, y, sample_weight=weights, groups=groups).add(0)
    bench.hold(session, given_table(X, y, weights), None)
    gone = np.flatnonzero(weights == 0).tolist()
    bench.open_target(None, {}, ", ".join(map(str, [*gone, 1])))
    weights[1] = 0
    assert bench.session.params["sample_weight"].tolist() == weights.tolist()
    assert bench.session.params["groups"].tolist() == groups.tolist()


def test_figures_are_those_of_the_settings_of_now(start):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    bench = start().bench
    session = Session(X, y).add(0)
    bench.hold(session, given_table(X, y), None)
    for _ in range(60):
        for criterion in ("error", "auc", "log-likelihood"):
            session.configure(criterion=criterion)
            if criterion != "auc":
                assert bench.state()["score"] == session.score()
