"""Time series in the studio: read, scored and written down as `bayesieve signals` does."""

import html
import io
import json
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bayesieve import load_model, save_model, signals
from bayesieve.app.cli import app
from bayesieve.app.learning import predict_series, read_learning
from bayesieve.app.studio.launch import open_bench
from bayesieve.data.series import SeriesForm
from studios import client, rows, series_table, upload

LONG = {"kind": "long", "id": "who", "time": "t"}


@pytest.fixture(scope="module")
def long():
    return series_table()


def opened_series(running, frame, form=LONG):
    page = client(running)
    assert upload(page, frame, "signals.csv").json()["targets"] == list(frame)
    return page, page.post("/api/target", json={"target": "kind", "series": form}).json()


def test_indicators_are_those_of_signals_and_the_model_takes_raw_series(
    start, long, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    long.to_csv("signals.csv", index=False)
    page, state = opened_series(start(), long)
    learning = read_learning(tmp_path / "signals.csv", SeriesForm("long", "who", "t"), "kind", None)
    pipeline = signals()
    X = pipeline.fit_columns(learning.table)
    columns = page.get("/api/columns").json()
    assert columns["names"] == X.names
    known = {each.id: each.sentence for each in pipeline.indicators.indicators_}
    assert columns["sentences"] == [known[name] for name in X.names]
    assert (state["n_rows"], state["n_columns"]) == (40, len(X.names))
    session = page.post("/api/search", json={"preset": "few", "search": "forward"}).json()
    end = time.monotonic() + 120
    while session["running"] and time.monotonic() < end:
        time.sleep(0.02)
        session = page.get("/api/state").json()
    chosen = [X.names[j] for j in sorted(session["subset"])]
    assert chosen
    (tmp_path / "model.json").write_bytes(page.get("/api/export/model").content)
    found = load_model("model.json")
    assert [spec.name for spec in found.estimator.fitted_.specs] == chosen
    written = "".join(predict_series(found, tmp_path / "signals.csv", 1 << 18))
    predicted = pd.read_csv(io.StringIO(written))["prediction"]
    assert (predicted == learning.y).mean() > 0.8
    done = CliRunner().invoke(app, ["predict", "model.json", "signals.csv"])
    assert done.exit_code == 0
    assert done.stdout == written
    names = {}
    exec(page.get("/api/export/code").text, names)
    save_model(names["model"], "code.json")
    shown = json.loads((tmp_path / "model.json").read_text())
    shown.pop("log")
    assert json.loads((tmp_path / "code.json").read_text()) == shown
    assert "use the code" in page.get("/api/texts").json()["command"]
    assert known[chosen[0]] in html.unescape(page.get("/api/export/report").text)
    model = page.get("/api/model").json()
    signal = model["rows"]["signals"][str(model["rows"]["at"][0])]
    first = long[long["who"] == long["who"][0]]["value"].to_numpy()
    assert np.allclose(signal["points"][0], first, rtol=1e-3, atol=1e-3)
    assert any(each["fired"] for each in model["rows"]["signals"].values())
    other = client(start())
    project = page.get("/api/export/project").content
    again = other.post("/api/upload", params={"name": "p.bayesieve"}, content=project).json()
    assert again["subset"] == session["subset"]
    exported = json.loads(other.get("/api/export/model").text)
    exported.pop("log")
    assert exported == shown


def test_a_rule_of_series_keeps_whole_records_aside(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = series_table(n=12, length=300)
    frame.to_csv("signals.csv", index=False)
    running = start()
    page, state = opened_series(running, frame, {**LONG, "window": 100})
    assert (state["n_rows"], state["series"]["window"]) == (36, 100)
    assert any("windows of 12 record" in note for note in state["notes"])
    page.post("/api/edit", json={"action": "add", "columns": [0, 1]})
    page.post("/api/rule", json={"rule": {"alarm": 0, "ceiling": 0.6}})
    table = running.bench.table
    groups = np.asarray(table.groups)
    assert len(table.aside) == 12
    assert not set(groups[table.aside]) & set(np.delete(groups, table.aside))
    names = {}
    exec(page.get("/api/export/code").text, names)
    save_model(names["model"], "code.json")
    shown = json.loads(page.get("/api/export/model").text)
    assert shown.pop("log")
    assert json.loads((tmp_path / "code.json").read_text()) == shown


def test_wide_tables_and_folders_with_classes_in_a_file(start, long):
    page = client(start())
    wide = long.pivot(index="who", columns="t", values="value").reset_index()
    wide.columns = [str(name) for name in wide.columns]
    kinds = long.groupby("who")["kind"].first()
    assert upload(page, wide.assign(kind=kinds.to_numpy())).status_code == 200
    asked = {"target": "kind", "series": {"kind": "wide", "id": "who"}}
    state = page.post("/api/target", json=asked).json()
    assert (state["n_rows"], state["classes"]) == (40, ["calm", "step"])
    use = "first"
    for who, part in long.groupby("who"):
        text = part[["t", "value"]].to_csv(index=False)
        answer = page.post("/api/upload", params={"name": f"{who}.csv", "as": use}, content=text)
        assert "refused" not in answer.json()
        use = "part"
    state = page.post("/api/folder", json={"name": "machines"}).json()
    assert (state["file"], state["series"]["kind"], state["open"]) == ("machines", "folder", False)
    labels = kinds.reset_index().rename(columns={"who": "id"}).to_csv(index=False)
    answer = page.post("/api/upload", params={"name": "l.csv", "as": "labels"}, content=labels)
    assert answer.json()["targets"] == ["id", "kind"]
    asked = {"target": "kind", "series": {"kind": "folder", "time": "t"}}
    state = page.post("/api/target", json=asked).json()
    assert (state["n_rows"], state["classes"]) == (40, ["calm", "step"])


REFUSED = [
    ({"kind": "long"}, "which column names the series"),
    ({"kind": "long", "id": "nope"}, "no column 'nope'"),
    ({"kind": "round"}, "kind must be one of"),
    ({"kind": "long", "id": "who", "window": 1}, "window must be"),
    ({"kind": "long", "id": ["who"]}, "id must be the name of a column"),
    ({"kind": "table"}, "looks like points of series"),
]


def test_forms_that_cannot_be_read_are_told(start, long):
    page = client(start())
    upload(page, long)
    for form, said in REFUSED:
        answer = page.post("/api/target", json={"target": "kind", "series": form}).json()
        assert said in answer["refused"], form


def test_names_in_a_folder_are_no_paths(start):
    running = start()
    page = client(running)
    before = sorted(running.studio.uploads.rglob("*"))
    for name in ("a/../..", ".hidden", "..", "x\x00y.csv", ""):
        answer = page.post("/api/upload", params={"name": name, "as": "first"}, content=b"a\n1\n")
        assert "refused" in answer.json() or name == "", name
    left = [each for each in running.studio.uploads.rglob("*") if each.is_file()]
    assert all(each.name == "table.csv" for each in left), (before, left)
    assert "choose a folder" in client(start()).post("/api/folder", json={}).json()["refused"]


def test_the_command_takes_series(start, long, tmp_path):
    long.to_csv(tmp_path / "signals.csv", index=False)
    running = start()
    open_bench(
        running.bench, tmp_path / "signals.csv", "kind", SeriesForm("long", "who", "t"), None
    )
    assert client(running).get("/api/state").json()["n_rows"] == 40
    rows().to_csv(tmp_path / "table.csv", index=False)
    path = str(tmp_path / "signals.csv")
    done = CliRunner().invoke(app, ["studio", path, "--wide", "--time=t", "--no-browser"])
    assert "--time does not go with a wide table" in str(done.exception)
    for odd in (["--window=50"], ["--time=t"], ["--value=value"], [f"--labels={path}"]):
        done = CliRunner().invoke(app, ["studio", path, *odd, "--no-browser", "--idle=0"])
        assert "say how the series lie in signals.csv: --id COLUMN" in str(done.exception), odd
