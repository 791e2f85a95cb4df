"""The verbs nested, stability, calibrate and --version say what the functions give."""

import json
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

import bayesieve
from bayesieve import WeightedNaiveBayes, calibrate, load_model, nested, stability
from bayesieve.__main__ import main
from bayesieve.app.cli import app


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[::4, :3], y[::4]
    frame = pl.DataFrame(X).with_columns(
        kind=pl.Series(np.where(y, "benign", "malignant")),
        patient=pl.Series([f"p{i % 30}" for i in range(len(y))]),
    )
    path = tmp_path_factory.mktemp("verbs") / "cells.csv"
    frame.write_csv(path)
    return path, frame


def run(*arguments):
    found = CliRunner().invoke(app, [str(each) for each in arguments])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_nested_is_the_function_s(table):
    path, frame = table
    X, y = frame.drop("kind", "patient"), frame["kind"].to_numpy()
    base = ["nested", path, "--target", "kind", "--groups", "patient", "--folds", 2, "--jobs", 1]
    found = json.loads(run(*base, "--json"))
    expected = nested(
        WeightedNaiveBayes(random_state=0),
        X,
        y,
        cv=2,
        random_state=0,
        groups=frame["patient"].to_numpy(),
    )
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert "error" in run(*base)
    assert run(*base, "--quiet") == ""


def test_stability_is_the_function_s(table):
    path, frame = table
    X, y = frame.drop("kind", "patient"), frame["kind"].to_numpy()
    found = json.loads(
        run(
            "stability", path, "--target", "kind", "--groups", "patient", "--preset", "few",
            "--resamples", 2, "--json",
        )
    )  # fmt: skip
    expected = stability(
        WeightedNaiveBayes(preset="few", random_state=0),
        X,
        y,
        n_resamples=2,
        random_state=0,
        groups=frame["patient"].to_numpy(),
    )
    assert found == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.usefixtures("uncorrected")
def test_a_model_is_calibrated_on_other_rows(table, tmp_path):
    _, frame = table
    train, later = tmp_path / "train.csv", tmp_path / "later.csv"
    frame.drop("patient")[:75].write_csv(train)
    frame.drop("patient")[75:].write_csv(later)
    run("select", train, "--target", "kind", "--out", tmp_path / "out", "--resamples", 0)
    model, out = tmp_path / "out" / "model.json", tmp_path / "sure.json"
    said = run("calibrate", model, later, "--target", "kind", "--out", out)
    assert said.startswith("temperature ")
    rows = frame[75:]
    loaded = load_model(model)
    named = rows.select(loaded.feature_names_in_.tolist())
    expected = calibrate(loaded, named, rows["kind"].to_numpy())
    found = load_model(out)
    assert found.temperature_ == expected.temperature_ != 1
    run("calibrate", model, later, "--target", "kind", "--quiet")
    assert load_model(model).temperature_ == expected.temperature_


def test_the_version_is_the_package_s():
    assert run("--version") == f"bayesieve {bayesieve.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nested", "--preset", "fw"], "Did you mean 'few'?"),
        (["nested", "--folds", "1"], "--folds"),
        (["stability", "--resamples", "1"], "--resamples"),
        (["stability", "--groups", "nobody"], "there is no column 'nobody'"),
        (["nested", "--model", "gausian"], "Did you mean 'gaussian'?"),
        (["nested", "--estimator", "weighted", "--search", "forward"], "--estimator selector"),
    ],
)
def test_mistakes_are_told_in_a_sentence(table, arguments, word, monkeypatch, capsys):
    path, _ = table
    verb, *rest = arguments
    monkeypatch.setattr("sys.argv", ["bayesieve", verb, str(path), "--target", "kind", *rest])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert word in said
    assert "Traceback" not in said


@pytest.mark.usefixtures("uncorrected")
def test_a_warning_is_a_remark_without_our_files(table, tmp_path, monkeypatch, capsys):
    _, frame = table
    mine = tmp_path / "mine.csv"
    frame.drop("patient")[:75].write_csv(mine)
    run("select", mine, "--target", "kind", "--out", tmp_path / "out", "--resamples", 0)
    model = str(tmp_path / "out" / "model.json")
    monkeypatch.setattr(
        "sys.argv", ["bayesieve", "calibrate", model, str(mine), "--target", "kind"]
    )
    with warnings.catch_warnings():
        warnings.resetwarnings()
        with pytest.raises(SystemExit) as stop:
            main()
    assert not stop.value.code
    said = capsys.readouterr().err
    assert "bayesieve: X and y hold the very counts" in said
    assert ".py" not in said
