"""`bayesieve select --engine gpu`, and checkpoints that another release wrote."""

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hosts import HostDevice, put_in_place

from bayesieve import NaiveBayesSelector, Session, WeightedNaiveBayes
from bayesieve.__main__ import main
from bayesieve.engine import GpuEngine
from bayesieve.search.checkpoint import Journal


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Five columns in a file, of which three tell something."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 160)
    X = (rng.random((160, 5)) < 0.2 + 0.5 * y[:, None] * (np.arange(5) < 3)).astype(int)
    frame = pl.DataFrame(X, schema=list("abcde"))
    frame.with_columns(pl.Series("class", np.array(["no", "yes"])[y])).write_csv("t.csv")
    return X, y


@pytest.fixture
def select(table, monkeypatch, capsys):
    """The command: its exit code, and what it says and remarks."""

    def run(*options):
        words = ["select", "t.csv", "--target", "class", "--resamples", "0", "--json", "--force"]
        monkeypatch.setattr(sys, "argv", ["bayesieve", *words, *options])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("options", [(), ("--max-features", "2", "--cv", "3")])
def test_the_command_writes_the_same_model(hosted, select, options):
    code, here, _ = select("--out", "here", *options)
    other_code, there, _ = select("--out", "there", "--engine", "gpu", *options)
    assert code == other_code == 0
    assert json.loads(there)["selected"] == json.loads(here)["selected"]
    for name in ("model.json", "path.csv", "selected.csv"):
        assert Path("there", name).read_text() == Path("here", name).read_text()


def test_a_machine_that_cannot_says_so_in_a_sentence(select, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    code, said, remarks = select("--out", "o", "--engine", "gpu")
    assert (code, said) == (2, "")
    assert remarks.startswith("bayesieve: engine='gpu' needs CuPy, which is not installed")
    assert remarks.count("\n") == 1
    assert not Path("o").exists()


def test_too_little_memory_names_both_numbers(programs, select, monkeypatch):
    put_in_place(monkeypatch, HostDevice(programs, free=1000))
    code, _, remarks = select("--out", "o", "--engine", "gpu")
    assert code == 1
    assert "GB on the GPU, of which 1e-06 GB are free" in remarks.splitlines()[-1]


def test_engines_are_named_and_clusters_are_of_dask(select):
    assert "'threads', 'dask', 'gpu'" in select("--out", "o", "--engine", "tpu")[2]
    told = select("--out", "o", "--engine", "gpu", "--scheduler", "tcp://here:1")[2]
    assert "--scheduler is for --engine dask" in told


OLD = r"was written by bayesieve 0\.1; this is .*Finish it with"


SEARCH = {"search": "forward", "cv": 3, "random_state": 0}


@pytest.mark.parametrize(
    "model",
    [NaiveBayesSelector(**SEARCH), WeightedNaiveBayes(max_terms=2)],
    ids=["search", "weights"],
)
def test_an_old_checkpoint(hosted, table, monkeypatch, model):
    X, y = table
    named, begin = model.set_params(checkpoint="steps", engine="gpu"), Journal.__init__
    with monkeypatch.context() as then:
        then.setattr(
            Journal, "__init__", lambda self, path, _, *rest: begin(self, path, "0.1", *rest)
        )
        named.fit(X, y)
    written = Path("steps").read_bytes()
    with pytest.raises(ValueError, match=OLD):
        named.fit(X, y)
    assert Path("steps").read_bytes() == written


def test_a_session_keeps_its_rows_here(table):
    for engine in ("gpu", GpuEngine()):
        with pytest.raises(ValueError, match="engine: a session keeps its rows in this process"):
            Session(*table, NaiveBayesSelector(engine=engine))
