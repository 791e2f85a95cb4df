"""What a comparison writes: tables, pictures, checkpoints; and its verb."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bayesieve import compare
from bayesieve.__main__ import main
from bayesieve.evaluation.compare import SCORES
from bayesieve.evaluation.compare.methods import Cell
from bayesieve.evaluation.compare.result import ResultGrid
from bayesieve.evaluation.compare.run import CellsLine
from comparisons import SETS, without_clocks
from plain import plain_selector

# -- files ---------------------------------------------------------------------------------------


def test_tables_frames_and_pictures(tmp_path):
    matplotlib.use("Agg")
    sets = {"iris": SETS["iris"], "w&w": SETS["wine"]}
    found = compare({"b_1": GaussianNB(), "svm": SVC()}, sets, seeds=1, folds=3)
    table = pd.read_csv(io.StringIO(found.to_csv()))
    assert table.shape[0] == 4
    assert table.loc[0, "accuracy"] == found.score("b_1", "iris")
    assert table["log_loss"].isna().sum() == 2
    tex = found.to_latex()
    assert r"b\_1" in tex
    assert r"w\&w" in tex
    assert tex.count(r"\textbf") >= 2
    assert tex.count(r"\\") == 4
    plain = json.loads(found.to_json())
    assert plain["ranks"] == found.ranks
    assert len(plain["cells"]) == len(found.cells)
    assert [Cell.of_dict(each) for each in plain["cells"]] == list(found.cells)
    for backend in ("pandas", "polars"):
        frame = found.to_frame(backend)
        assert frame.shape == (12, 4 + len(SCORES) + 1)
    ax = found.plot()
    texts = [text.get_text() for text in ax.texts]
    assert any("b_1" in text for text in texts)
    assert any("critical difference" in text for text in texts)
    one = compare({"b": GaussianNB()}, {"iris": SETS["iris"]}, seeds=1).plot()
    assert one.get_xlabel() == "accuracy"


def test_a_table_is_turned_and_escaped():
    grid = ResultGrid(("set", "a", "b"), (("x", 1.0, None), ("y", 0.5, 2.0)), ("", ".1f", ".1f"),
                frozenset({(1, 2)}), "a\nb")  # fmt: skip
    turned = grid.turned()
    assert turned.head == ("set", "x", "y")
    assert turned.to_text().splitlines() == ["set    x    y", "a    1.0  0.5", "b      -  2.0"]
    assert turned.best == {(1, 2)}
    assert grid.to_latex().splitlines()[0] == "% a b"
    assert r"\textbf{2.0}" in grid.to_latex()
    odd = ResultGrid((r"a\b", "~^{}#"), ()).to_latex()
    assert r"a\textbackslash{}b & \textasciitilde{}\textasciicircum{}\{\}\# \\" in odd


def test_time_left_to_the_very_end():
    log = io.StringIO()

    class Set:
        name = "s"

    class Task:
        def __init__(self, method):
            self.method, self.data = method, Set

    tasks = [Task("slow")] * 4 + [Task("fast")] * 4
    line = CellsLine(tasks, [], 2, log)
    assert line.left() is None
    for method, spent in [("slow", 90.0), ("fast", 1.0), ("slow", 10.0), ("slow", 10.0)]:
        scores = {**dict.fromkeys(SCORES), "fit_seconds": spent, "predict_seconds": 0.0}
        line.hear(Cell(method, "s", 0, 0, 1, 1, scores))
    assert line.left() == (10 + 3 * 1) / 2
    line.close()
    assert log.getvalue().strip().startswith("4 of 8 fits in 0.")


# -- checkpoints ---------------------------------------------------------------------------------


def run(file, **options):
    given = {"methods": {"bayes": GaussianNB(), "tree": DecisionTreeClassifier()},
             "data": {"iris": SETS["iris"]}, "seeds": 2, "folds": 3}  # fmt: skip
    given |= options
    return compare(given.pop("methods"), given.pop("data"), checkpoint=file, **given)


def test_a_checkpoint_grows_and_refuses_what_has_changed_by_name(tmp_path):
    file = tmp_path / "file"
    first = run(file)
    again = run(file)
    assert again.cells == first.cells  # seconds too: nothing was run
    grown = run(file, seeds=3, data={"iris": SETS["iris"], "wine": SETS["wine"]})
    assert grown.cells[:6] == first.cells[:6]
    content = file.read_bytes()
    X, y = SETS["iris"]
    for options, words in [
        ({"methods": {"tree": DecisionTreeClassifier(max_depth=2)}}, "the method 'tree' is not"),
        ({"data": {"iris": (X + 1e-9, y)}}, "the data set 'iris' is not what it was"),
        ({"data": {"iris": (X, y[::-1])}}, "the data set 'iris' is not what it was"),
        ({"folds": 4}, "another comparison: it differs in folds"),
    ]:
        with pytest.raises(ValueError, match=words):
            run(file, **options)
        assert file.read_bytes() == content
    other = tmp_path / "search"
    plain_selector(checkpoint=other, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="another comparison"):
        run(other)


def test_data_are_told_apart_by_their_values_only(tmp_path):
    X, y = SETS["wine"]
    sparse = sp.csr_matrix(X.to_numpy())
    for i, (one, same, changed) in enumerate([
        (X, X.copy(), X.rename(columns={"ash": "dust"})),
        (pl.from_pandas(X), pl.from_pandas(X), pl.from_pandas(X.assign(ash=0.0))),
        (sparse, sparse.tocsc(), 2 * sparse),
    ]):  # fmt: skip
        file = tmp_path / f"file {i}"
        run(file, methods=["majority"], data={"d": (one, y)})
        run(file, methods=["majority"], data={"d": (same, y)})
        with pytest.raises(ValueError, match="the data set 'd' is not what it was"):
            run(file, methods=["majority"], data={"d": (changed, y)})


class Interrupts(GaussianNB):
    """Stands in for Ctrl-C in the seventh fit."""

    left = 7

    def fit(self, X, y):
        type(self).left -= 1
        if type(self).left == 0:
            raise KeyboardInterrupt
        return super().fit(X, y)


def test_ctrl_c_keeps_what_is_done(tmp_path):
    file = tmp_path / "file"
    methods = {"bayes": GaussianNB(), "stops": Interrupts()}
    with pytest.raises(KeyboardInterrupt):
        run(file, methods=methods, seeds=4)
    kept = file.read_bytes().count(b'"bayes"') + file.read_bytes().count(b'"stops"')
    assert kept == 13
    found = run(file, methods=methods, seeds=4)
    clean = run(None, methods=methods, seeds=4)
    assert without_clocks(found) == without_clocks(clean)


VICTIM = """
import sys
from bayesieve import compare
compare(["selector", "gaussian-nb", "tree"], ["iris", "wine"], seeds=int(sys.argv[3]), folds=3,
        checkpoint=sys.argv[1], n_jobs=int(sys.argv[2]))
"""


def kill(file, n_kills, n_jobs, n_seeds, rng):
    """Start it over and over, and kill it a while after the file has grown."""
    killed = 0
    while killed < n_kills:
        size = file.stat().st_size if file.exists() else 0
        child = subprocess.Popen([sys.executable, "-c", VICTIM, *map(str, (file, n_jobs, n_seeds))])
        while child.poll() is None:
            if file.exists() and file.stat().st_size > size:
                time.sleep(rng.uniform(0, 0.3))
                child.send_signal(signal.SIGKILL)
                child.wait()
            time.sleep(0.001)
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
        killed += 1
    return killed


def survive(tmp_path, n_kills, n_jobs, n_seeds):
    file = tmp_path / "file"
    assert kill(file, n_kills, n_jobs, n_seeds, np.random.default_rng(0)) >= 1
    given = (["selector", "gaussian-nb", "tree"], ["iris", "wine"])
    found = compare(*given, seeds=n_seeds, folds=3, checkpoint=file)
    assert without_clocks(found) == without_clocks(compare(*given, seeds=n_seeds, folds=3))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL")
def test_a_kill_changes_nothing(tmp_path):
    survive(tmp_path, 1, 1, 3)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL")
def test_many_kills_change_nothing(tmp_path):
    survive(tmp_path, 12, 2, 8)


# -- the command line ----------------------------------------------------------------------------


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def call(monkeypatch, capsys):
    """The command line in this process, which has imported everything."""

    def run_it(*words):
        monkeypatch.setattr("sys.argv", ["bayesieve", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        return Done(int(stop.value.code or 0), *capsys.readouterr())

    return run_it


def test_the_verb(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    X, y = SETS["wine"]
    frame = X.assign(kind=np.where(y == 0, "a", "b"), name=[f"row {i}" for i in range(178)])
    frame["class"] = y
    frame.to_csv("one.csv", index=False)
    frame.to_parquet("two.parquet")
    Path("mine.py").write_text("from sklearn.naive_bayes import GaussianNB as make\n")
    words = ("compare", "one.csv", "two.parquet", "iris", "--target", "class", "--methods",
             "naive-bayes,tree,mine:make", "--seeds", 1, "--folds", 3, "--out", "out")  # fmt: skip
    done = call(*words, "--checkpoint", "cells")
    assert done.returncode == 0, done.stderr
    assert "best by accuracy: average rank" in done.stdout.splitlines()[0]
    assert "mine:make failed on one in 3 of 3 fits" in done.stdout
    assert "one: column 'name' names every row: left out" in done.stderr
    assert "27 of 27 fits in" in done.stderr
    files = {"table.csv", "table.tex", "results.json", "ranks.png", "ranks.svg"}
    assert {path.name for path in Path("out").iterdir()} == files
    refused = call(*words, "--checkpoint", "cells")
    assert refused.returncode == 2
    assert "add --resume to go on from it" in refused.stderr
    again = call(*words, "--checkpoint", "cells", "--resume", "--json", "--quiet")
    assert again.stderr == ""
    assert json.loads(again.stdout)["best"]
    for words, said in [
        (("compare", "no.csv", "--out", "o"), "'no.csv' is neither a file nor a data set"),
        (("compare", "iris", "--out", "o", "--methods", "tre"), "Did you mean 'tree'?"),
        (("compare", "iris", "--out", "o", "--metric", "acc"), "--metric must be one of"),
        (("compare", "iris", "iris", "--out", "o"), "got 'iris' twice. Rename one"),
    ]:  # fmt: skip
        done = call(*words)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not Path("o").exists()


def test_a_papers_tables_as_csv_and_latex(tmp_path, call):
    done = call("reproduce", "guyon", "--quick", "--csv", tmp_path / "t.csv", "--latex",
                tmp_path / "t.tex", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)["records"]
    table = pd.read_csv(tmp_path / "t.csv")
    assert table["ours"].tolist() == [record["ours"] for record in records]
    tex = (tmp_path / "t.tex").read_text()
    assert tex.count(r"\begin{tabular}") == len({record["table"] for record in records})
    refused = call("reproduce", "guyon", "--quick", "--csv", tmp_path / "no" / "t.csv")
    assert refused.returncode == 2
    assert "--csv: the folder" in refused.stderr
