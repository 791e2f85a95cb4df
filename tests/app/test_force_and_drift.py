"""Results are written over only where that is asked for; the verb that tells what moved."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bayesieve import drift, load_model
from bayesieve.app.cli import app
from bayesieve.app.papers import is_own


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.choice(["calm", "gust"], 200)
    frame = pd.DataFrame({"speed": rng.normal(2.0 * (y == "gust")), "noise": rng.normal(size=200)})
    frame.assign(wind=y).to_csv("t.csv", index=False)
    return frame


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


SELECT = ["select", "t.csv", "--target", "wind", "--out", "o", "--resamples", 0]


@pytest.mark.parametrize("name", ["model.json", "selected.csv", "path.csv", "report.html"])
@pytest.mark.usefixtures("uncorrected")
def test_an_old_result_stays_unless_forced(table, name):
    Path("o").mkdir()
    old = Path("o") / name
    old.write_text("mine")
    done = run(*SELECT, "--quiet")
    assert done.exit_code != 0
    assert "exists; add --force" in str(done.exception)
    assert old.read_text() == "mine"
    assert [each.name for each in Path("o").iterdir()] == [name]
    assert run(*SELECT, "--quiet", "--force").exit_code == 0
    assert old.read_text() != "mine"
    Path("other.txt").write_text("no result")  # other files are in nobody's way


def test_a_search_that_goes_on_writes_its_own_result_anew(table):
    way = ["--checkpoint", "way", "--quiet", "--search", "forward"]
    assert run(*SELECT, *way).exit_code == 0
    once = Path("o/model.json").read_bytes()
    assert run(*SELECT, *way, "--resume").exit_code == 0
    assert Path("o/model.json").read_bytes() == once


def test_work_is_told_until_the_last_file(table):
    done = run(*SELECT[:-1], 2)
    lines = done.stderr.splitlines()
    assert lines[-1] == "writing o"
    told = [line.split(" on ")[0] for line in lines[-3:-1]]
    assert told == ["repeating the search", "estimating its error"]
    assert run(*SELECT, "--quiet", "--force").stderr == ""


def test_a_demonstration_knows_its_own(tmp_path):
    path = tmp_path / "report.html"
    assert not is_own(path)
    path.write_text("<h1>Signals, simulated</h1>", "utf-8")
    assert is_own(path)
    path.write_text("<h1>My report</h1>", "utf-8")
    assert not is_own(path)
    done = run("demo", "--quick", "--out", tmp_path)
    assert done.exit_code != 0
    assert "exists; add --force" in str(done.exception)


def test_drift_of_a_file(table):
    assert run(*SELECT, "--quiet").exit_code == 0
    table.assign(speed=table["speed"] + 3).to_csv("new.csv", index=False)
    done = run("drift", "o/model.json", "new.csv")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "1 of 1 columns moved: speed"
    assert done.stdout.splitlines()[1].startswith("moved")
    told = json.loads(run("drift", "o/model.json", "new.csv", "--json").stdout)
    found = drift(load_model("o/model.json"), pd.read_csv("new.csv")[["speed"]])
    assert told["moved"] == found.moved
    assert told["distance"] == pytest.approx(found.distance)
    assert "0 of 1 columns moved" in run("drift", "o/model.json", "t.csv").stdout
