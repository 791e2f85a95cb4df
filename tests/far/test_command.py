"""The command line on a cluster."""

import json
import subprocess
import sys

import pytest
from clusters import table

from bayesieve import NaiveBayesSelector, load_model
from bayesieve.__main__ import main


def run(*args):
    return subprocess.run(
        [sys.executable, "-m", "bayesieve", "select", *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def files(tmp_path):
    frame, _, groups = table()
    frame["group"] = groups
    for k in range(3):
        frame.iloc[60 * k : 60 * (k + 1)].to_parquet(tmp_path / f"part{k}.parquet", index=False)
    return frame, sorted(tmp_path.glob("*.parquet"))


@pytest.mark.parametrize("local", [True, False])
def test_selecting_from_files(files, tmp_path, client, local):
    frame, names = files
    where = [] if local else ["--scheduler", client.scheduler.address]
    found = run(
        *names,
        "--engine",
        "dask",
        *where,
        "--target",
        "target",
        "--groups",
        "group",
        "--jobs",
        2,
        "--out",
        tmp_path / "out",
        "--json",
    )
    assert found.returncode == 0, found.stderr
    X = frame.drop(columns=["target", "group"])
    here = NaiveBayesSelector(random_state=0, criterion="probability").fit(
        X, frame["target"], groups=frame["group"]
    )
    expected = X.columns[here.selected_].tolist()
    assert json.loads(found.stdout)["selected"] == expected
    model = load_model(tmp_path / "out" / "model.json")
    chosen = X[here.get_feature_names_out()]
    assert (model.predict_proba(chosen) == here.estimator_.predict_proba(chosen)).all()
    assert (tmp_path / "out" / "path.csv").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "give one table, or --engine dask; got 3 files"),
        (("--engine", "spark"), "--engine"),
        (("--engine", "dask", "--time", "b0"), "--time is not offered with --engine dask"),
        (("--engine", "dask"), "--target is needed"),
        (("--engine", "dask", "--target", "goal"), "names no column"),
        (("--engine", "dask", "--target", "target", "--groups", "g"), "--groups g names no column"),
    ],
)
def test_bad_use(files, tmp_path, more, words, monkeypatch, capsys):
    given = [*map(str, files[1]), "--out", str(tmp_path / "out"), *more]
    monkeypatch.setattr("sys.argv", ["bayesieve", "select", *given])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert words in " ".join(said.split())
    assert "Traceback" not in said
