"""The verb card: from a table to a page and the model behind it."""

import json

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from bayesieve import load_model
from bayesieve.app import cli


def run(*words):
    return CliRunner().invoke(cli.app, ["card", *map(str, words)])


def table(folder):
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"age": draw.integers(20, 90, 300), "dose": draw.normal(size=300)})
    X["outcome"] = np.where(X.age + draw.normal(0, 9, 300) > 55, "ill", "well")
    X.to_csv(folder / "t.csv", index=False)
    return X


def test_a_table_becomes_a_card_and_its_model(tmp_path):
    X = table(tmp_path)
    out = tmp_path / "card"
    done = run(tmp_path / "t.csv", "--target", "outcome", "--lines", 4, "--out", out)
    assert done.exit_code == 0, done.output
    assert "points on" in done.output
    assert sorted(path.name for path in out.iterdir()) == [
        "card.html", "card.json", "card.pdf", "card.txt", "card.xlsx", "model.json",
    ]  # fmt: skip
    assert "a weighted model of all columns: AUC" in done.output
    lines = json.loads((out / "card.json").read_text())["lines"]
    assert sum(any(line["points"]) for line in lines) <= 4
    model = load_model(out / "model.json")
    told = model.predict(X[list(model.feature_names_in_)])
    assert (told == X.outcome).mean() > 0.8
    again = run(tmp_path / "t.csv", "--target", "outcome", "--out", out)
    assert again.exit_code != 0
    words = "--target", "outcome", "--from", out / "model.json", "--out", out, "--force", "--json"
    data = json.loads(run(tmp_path / "t.csv", *words).stdout)
    assert {line["column"] for line in data["lines"]} <= set(model.feature_names_in_)


def test_bad_use_is_refused(tmp_path):
    table(tmp_path)
    words = tmp_path / "t.csv", "--target", "outcome", "--out", tmp_path / "card"
    assert run(*words, "--lines", 1).exit_code == 2
    refused = run(*words, "--pair", "age")
    assert "--pair must be two columns, such as age,dose; got 'age'" in str(refused.exception)


def test_a_pair_is_a_box_of_its_own(tmp_path):
    draw = np.random.default_rng(1)
    X = pd.DataFrame({"age": draw.integers(20, 90, 600), "dose": draw.normal(size=600)})
    X["outcome"] = np.where((X.age > 55) ^ (X.dose > 0), "ill", "well")
    X.to_csv(tmp_path / "t.csv", index=False)
    words = "--target", "outcome", "--pair", "age, dose", "--out", tmp_path / "card", "--json"
    done = run(tmp_path / "t.csv", *words)
    assert done.exit_code == 0, done.output
    assert "age x dose" in {line["column"] for line in json.loads(done.stdout)["lines"]}


def test_without_openpyxl_everything_else_is_written(tmp_path, monkeypatch):
    table(tmp_path)
    monkeypatch.setattr("bayesieve.app.cli.find_spec", lambda name: None)
    done = run(tmp_path / "t.csv", "--target", "outcome", "--out", tmp_path / "card")
    assert done.exit_code == 0
    assert "bayesieve[sheet]" in done.stderr
    assert not (tmp_path / "card" / "card.xlsx").exists()
