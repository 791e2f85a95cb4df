"""The command line on a cluster."""

import json
import subprocess
import sys

import pytest
from clusters import table

from bayesieve import WeightedNaiveBayes, load_model
from bayesieve.__main__ import main
from weighted import terms_of


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
    # A command starts processes of its own: few columns, one of each kind.
    frame = frame[["b0", "b1", "letter", "number", "target"]].assign(group=groups)
    for k in range(3):
        frame.iloc[60 * k : 60 * (k + 1)].to_parquet(tmp_path / f"part{k}.parquet", index=False)
    return frame, sorted(tmp_path.glob("*.parquet"))


@pytest.mark.slow
def test_selecting_from_files(files, tmp_path):
    """On a cluster of its own, in processes of its own; on one that is there already, see below."""
    frame, names = files
    found = run(
        *names,
        "--engine",
        "dask",
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
    here = WeightedNaiveBayes(random_state=0).fit(X, frame["target"], groups=frame["group"])
    expected = [" x ".join(X.columns[list(term)]) for term in terms_of(here)]
    assert json.loads(found.stdout)["selected"] == expected
    model = load_model(tmp_path / "out" / "model.json")
    chosen = X[list(model.feature_names_in_)]
    assert (model.predict_proba(chosen) == here.predict_proba(X)).all()
    assert (tmp_path / "out" / "path.csv").exists()


@pytest.mark.parametrize(
    "more",
    [
        ("--target", "target", "--preset", "few", "--keep", "b1", "--forbid", "b0"),
        ("--target", "target", "--search", "forward", "--max-features", "3", "--identifiers"),
        ("--labels", "b0,b1"),
    ],
)
def test_the_same_files_as_from_one_table(files, tmp_path, client, more, monkeypatch, capsys):
    """Every row has a name, which is no column to learn from; labels of rows are none either."""
    frame, names = files
    frame = frame.drop(columns=["group"])
    if "--labels" in more:
        frame["b0"], frame["b1"] = frame["target"] == "yes", 1.0 * (frame["target"] != "no")
        frame = frame.drop(columns=["target"])
    frame["who"] = [f"row {i}" for i in range(len(frame))]
    for k, name in enumerate(names):
        frame.iloc[60 * k : 60 * (k + 1)].to_parquet(name)
    frame.to_parquet(tmp_path / "whole.parquet")
    far = ("part*.parquet", "--engine", "dask", "--scheduler", client.scheduler.address)
    near = ("whole.parquet", "--resamples", "0")
    said = {}
    for out, (table_name, *options) in {"far": far, "near": near}.items():
        given = [str(tmp_path / table_name), "--out", str(tmp_path / out), *options, *more]
        monkeypatch.setattr("sys.argv", ["bayesieve", "select", *given, "--jobs", "1"])
        with pytest.raises(SystemExit) as stop:
            main()
        said[out] = capsys.readouterr().err
        assert not stop.value.code, said
    for each in ("model.json", "selected.csv", "path.csv"):
        one, other = ((tmp_path / out / each).read_text() for out in ("far", "near"))
        assert one == other, each
    for words in said.values():
        assert ("names every row" in words) == ("--identifiers" not in more)
    assert "bayesieve report" in said["far"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "give one table, or --engine dask; got 3 files"),
        (("--engine", "spark"), "--engine"),
        (("--engine", "dask", "--time", "b0"), "--time is not offered with --engine dask"),
        (("--engine", "dask"), "give --target COLUMN for classes, or --labels"),
        (("--engine", "dask", "--target", "goal"), "--target goal names no column of the files;"),
        (("--engine", "dask", "--labels", "a,b"), "--labels a names no column of the files;"),
        (
            ("none/*.parquet", "--engine", "dask", "--target", "x"),
            "'none/*.parquet' does not exist",
        ),
        (("gone.parquet", "--engine", "dask", "--target", "x"), "'gone.parquet' does not exist"),
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
