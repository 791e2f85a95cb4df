"""How the command line behaves: sentences, exit codes, full disks, closed pipes, completion."""

import errno
import json
import os
import re
import secrets
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file

from bayesieve import NaiveBayes, NaiveBayesSelector, load_model, save_model
from bayesieve.__main__ import main

N = 120


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A folder to work in, with data.csv and model.json."""
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], N)
    frame = pd.DataFrame({"a": rng.normal(size=N).round(3) + 2 * (y == "yes")})
    frame["kind"] = np.where(rng.random(N) < 0.8, np.where(y == "no", "u", "7"), "w")
    frame.loc[3, "kind"] = None
    frame.loc[5, "a"] = None
    frame["noise"] = rng.integers(0, 2, N)
    frame["class"] = y
    frame.to_csv(tmp_path / "data.csv", index=False)
    model = NaiveBayes().fit(pl.from_pandas(frame[["kind", "a"]]), y)
    save_model(model, tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    return frame, model


def call(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["bayesieve", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    found = capsys.readouterr()
    return stop.value.code or 0, found.out, found.err


def left_over():
    return sorted(str(p) for p in Path().rglob("*") if p.name.startswith("."))


# -- predict in batches --------------------------------------------------------------------------


def test_batches_of_seven_rows_print_the_same_bytes(table, monkeypatch, capsys):
    frame, model = table
    polars = pl.from_pandas(frame)
    polars.write_parquet("data.parquet")
    polars.write_ipc("data.arrow")
    frame.to_csv("data.tsv.gz", sep="\t", index=False)
    code, whole, _ = call(monkeypatch, capsys, "predict", "model.json", "data.csv")
    assert code == 0
    wanted = model.predict_proba(polars.select("kind", "a"))
    found = pl.read_csv(whole.encode())
    counts = Counter(found["prediction"]).most_common()
    told = ", ".join(f"{n} {name}" for name, n in counts)
    assert found["prediction"].to_list() == model.predict(polars.select("kind", "a")).tolist()
    assert (found.drop("prediction").to_numpy() == wanted).all()
    for name in ("data.csv", "data.tsv.gz", "data.parquet", "data.arrow"):
        for batch in (7, 10**9):
            said = call(monkeypatch, capsys, "predict", "model.json", name, "--batch", batch)
            assert said == (0, whole, f"{told}\n")
    words = ["predict", "model.json", "data.csv", "--batch", 7, "--out", "p.csv"]
    assert call(monkeypatch, capsys, *words) == (0, f"{told}; written to p.csv\n", "")
    assert call(monkeypatch, capsys, *words, "--quiet") == (0, "", "")
    assert Path("p.csv").read_bytes() == whole.encode()
    assert left_over() == []


def test_a_batch_without_any_text_reads_as_the_others(table, monkeypatch, capsys):
    # Seven rows whose texts are numbers, or missing, must not turn the column into numbers.
    Path("some.csv").write_text("kind,a\n" + "7,1\n" * 7 + ",1\n" * 7 + "u,1\nw,\n")
    whole = call(monkeypatch, capsys, "predict", "model.json", "some.csv")
    assert whole[0] == 0
    assert call(monkeypatch, capsys, "predict", "model.json", "some.csv", "--batch", 7) == whole
    lines = whole[1].splitlines()
    assert lines[1] != lines[8] != lines[15]


def test_a_bad_cell_ends_the_work_and_leaves_no_file(table, monkeypatch, capsys):
    Path("bad.csv").write_text("kind,a\n" + "u,1\n" * 9 + "u,one\n")
    Path("p.csv").write_text("from before")
    code, said, err = call(monkeypatch, capsys, "predict", "model.json", "bad.csv", "--batch", 7,
                           "--out", "p.csv")  # fmt: skip
    assert (code, said) == (2, "")
    assert "column 'a', row 9 (from 0): 'one' is not a number" in err
    assert Path("p.csv").read_text() == "from before"
    assert left_over() == []


# -- sparse files --------------------------------------------------------------------------------


@pytest.fixture
def sparse_files(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, N)
    X = scipy.sparse.random_array((N, 12), density=0.2, rng=rng).tolil()
    X[:, [4]] = (y ^ (rng.random(N) < 0.1))[:, None]
    X = X.tocsr()
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(X, np.where(y, 1, -1), "data.svm", zero_based=False)
    names = np.array([f"w{j}" for j in range(12)])
    np.savez(
        "data.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=np.array(X.shape),
        y=y, feature_names=names,
    )  # fmt: skip
    np.savez("full.npz", X=X.toarray(), y=y, feature_names=names)
    rows = [
        "{" + ", ".join([f"{j} {v}" for j, v in zip(row.indices, row.data, strict=True)]
                        + ["12 yes"] * int(k)) + "}"
        for row, k in zip((X[[i]] for i in range(N)), y, strict=True)
    ]  # fmt: skip
    header = "".join(f"@attribute w{j} numeric\n" for j in range(12))
    Path("data.arff").write_text(
        f"@relation r\n{header}@attribute class {{no,yes}}\n@data\n" + "\n".join(rows)
    )
    return X, y


@pytest.mark.parametrize(
    ("name", "target", "column", "classes"),
    [
        ("data.svm", [], "x5", ["-1", "1"]),
        ("data.npz", [], "w4", ["0", "1"]),
        ("data.arff", ["--target", "class"], "w4", ["no", "yes"]),
    ],
)
def test_all_verbs_on_sparse_files(
    name, target, column, classes, sparse_files, monkeypatch, capsys
):
    X, y = sparse_files

    def dense(self, *_, **__):
        raise AssertionError("a sparse matrix was made dense")

    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array):
        monkeypatch.setattr(kind, "toarray", dense)
        monkeypatch.setattr(kind, "todense", dense)
    code, said, err = call(monkeypatch, capsys, "select", name, *target, "--out", "o", "--json",
                           "--n-features", 1, "--search", "backward-forward",
                           "--validation", 0.5)  # fmt: skip
    assert code == 0, err
    assert json.loads(said)["selected"] == [column]
    dropped = pl.read_csv("o/path.csv")["term"].drop_nulls().to_list()
    assert {column, *dropped} == {f"{column[0]}{j + (column[0] == 'x')}" for j in range(12)}
    code, said, err = call(monkeypatch, capsys, "rank", name, *target)
    assert code == 0, err
    assert said.split()[2] == column
    predict = ["predict", "o/model.json", name, "--quiet"]
    code, whole, err = call(monkeypatch, capsys, *predict)
    assert (code, err) == (0, "")
    same = {"search": "backward-forward", "n_features": 1, "validation": 0.5, "random_state": 0}
    wanted = NaiveBayesSelector(**same).fit(X, y).predict_proba(X)
    found = pl.read_csv(whole.encode())
    assert found.columns == ["prediction", *(f"P({each})" for each in classes)]
    assert (found.drop("prediction").to_numpy() == wanted).all()
    again = call(monkeypatch, capsys, *predict, "--batch", 7)
    assert again == (0, whole, "")
    code, said, err = call(monkeypatch, capsys, "explain", "o/model.json", name, "--row", N - 1)
    assert (code, err) == (0, "")
    assert f"{column} = " in said


@pytest.mark.usefixtures("uncorrected")
def test_a_model_of_sparse_rows_reads_full_rows(sparse_files, monkeypatch, capsys):
    call(monkeypatch, capsys, "select", "data.npz", "--out", "o", "--quiet")
    sparse = call(monkeypatch, capsys, "predict", "o/model.json", "data.npz")
    assert sparse[0] == 0
    assert call(monkeypatch, capsys, "predict", "o/model.json", "full.npz") == sparse
    code, said, err = call(monkeypatch, capsys, "select", "full.npz", "--out", "f", "--quiet")
    assert (code, said, err) == (0, "", "")
    code, said, err = call(monkeypatch, capsys, "predict", "f/model.json", "data.npz")
    assert code == 0, err
    assert err == "62 of class 0, 58 of class 1\n"
    assert said == call(monkeypatch, capsys, "predict", "f/model.json", "full.npz")[1]


def test_the_target_in_the_file_is_optional(sparse_files, monkeypatch, capsys):
    code, _, err = call(monkeypatch, capsys, "rank", "data.svm", "--target", "class")
    assert code == 2
    assert "The file holds its target itself: leave --target and --labels out." in err
    # A column may still be named.
    code, _, err = call(monkeypatch, capsys, "rank", "full.npz", "--target", "w4")
    assert code == 0, err


def test_nominal_labels_of_arff(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = "".join(f"{a},{a},{b}\n" for a, b in rng.integers(0, 2, (60, 2)))
    Path("a.arff").write_text(
        "@relation r\n@attribute x numeric\n@attribute l {0,1}\n@attribute m {0,1}\n@data\n" + rows
    )
    code, said, err = call(monkeypatch, capsys, "select", "a.arff", "--labels", "l,m", "--out", "o",
                           "--quiet")  # fmt: skip
    assert (code, said, err) == (0, "", "")
    _, said, _ = call(monkeypatch, capsys, "predict", "o/model.json", "a.arff")
    assert said.startswith("l,m,P(l),P(m)\n")


# -- options of select ---------------------------------------------------------------------------


def test_options_reach_the_selector(table, monkeypatch, capsys):
    frame, _ = table
    code, said, err = call(
        monkeypatch, capsys, "select", "data.csv", "--target", "class", "--out", "o", "--json",
        "--model", "categorical", "--validation", 0, "--n-features", 2, "--class-weight",
        "balanced", "--jobs", 1,
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(said)
    assert len(found["selected"]) == 2
    assert found["validation_error"] is None
    model = load_model("o/model.json")
    assert set(model.feature_models_) == {"categorical"}
    counts = frame["class"].value_counts()
    weights = model.fitted_.only.summary.class_weight * [counts["no"], counts["yes"]]
    assert weights[0] == pytest.approx(weights[1])
    _, said, _ = call(
        monkeypatch, capsys, "select", "data.csv", "--target", "class", "--out", "o", "--json",
        "--min-features", 3, "--force",
    )  # fmt: skip
    assert len(json.loads(said)["selected"]) == 3
    code, said, err = call(
        monkeypatch, capsys, "select", "data.csv", "--target", "class", "--out", "o",
        "--validation", 0, "--quiet", "--force",
    )  # fmt: skip
    assert (code, said, err) == (0, "", "")


def test_data_sets_as_json(monkeypatch, capsys):
    code, said, _ = call(monkeypatch, capsys, "datasets", "--json")
    assert code == 0
    found = {each["name"]: each for each in json.loads(said)}
    assert found["iris"] == {
        "name": "iris", "rows": 150, "columns": 4, "classes": 3, "sparse": False,
        "source": "scikit-learn",
    }  # fmt: skip
    assert found["enron"]["labels"] == 53


@pytest.mark.usefixtures("uncorrected")
def test_a_word_on_texts_among_numbers(table, monkeypatch, capsys):
    frame, _ = table
    frame["a"] = frame["a"].astype(object)
    frame.loc[7, "a"] = "n/a"
    frame.to_csv("data.csv", index=False)
    _, _, err = call(monkeypatch, capsys, "select", "data.csv", "--target", "class", "--out", "o")
    assert "column 'a' is read as text: 1 of 119 cells are no numbers, such as 'n/a'" in err


# -- sentences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Usage: bayesieve"),
        (["selct"], "no such command 'selct'"),
        (["select"], "missing argument"),
        (["select", "data.csv"], "missing option '--out'"),
        (["select", "data.csv", "--out", "o", "--foo"], "no such option: --foo"),
        (["select", "data.csv", "--out", "o", "--seed", "x"], "invalid value for '--seed'"),
        (["select", "data.csv", "--out", "o", "--validation", "1"], "--validation must be at"),
        (["select", "data.csv", "--out", "o", "--model", "gaus"], "Did you mean 'gaussian'?"),
        (["select", "data.csv", "--target", "clas", "--out", "o"], "Did you mean 'class'?"),
        (["select", "data.csv", "--target", "a", "--out", "o"], "is missing in 1 row(s)"),
        (["select", "data.csv", "--target", "class", "--out", "data.csv"], "name a folder"),
        (["select", "data.csv", "--target", "class", "--out", "data.csv/x"], "name a folder"),
        (["select", "data.csv", "--labels", "noise,kind", "--out", "o"], "the label 'kind' must"),
        (["rank", "cuts.csv", "--target", "class"], "2 numbers with a fraction, such as 0.5"),
        (["select", "dates.parquet", "--target", "class", "--out", "o"], "'d' holds Date"),
        (["predict", "none.json", "data.csv"], "the model file 'none.json' does not exist"),
        (["predict", "data.csv", "data.csv"], "is not a model file"),
        (["predict", "model.json", "data.csv", "--out", "no/p.csv"], "'no' does not exist"),
        (["predict", "model.json", "data.csv", "--out", "data.csv"], "is read here"),
        (["predict", "model.json", "data.csv", "--out", "."], "is a folder; name a file"),
        (["predict", "model.json", "data.csv", "--batch", "0"], "invalid value for '--batch'"),
        (["reproduce", "nobody"], "paper must be one of"),
    ],
)
def test_bad_use_is_one_sentence_without_a_panel(words, sentence, table, monkeypatch, capsys):
    pl.DataFrame({"d": ["2020-01-01", "2021-01-01"], "class": ["x", "y"]}).with_columns(
        pl.col("d").str.to_date()
    ).write_parquet("dates.parquet")
    Path("cuts.csv").write_text("a,class\n1,0.5\n2,2\n")
    code, said, err = call(monkeypatch, capsys, *words)
    assert code == 2
    assert sentence in said + err
    assert "Traceback" not in err
    if words:
        assert said == ""
        assert err.startswith("bayesieve: ")
        assert err.count("\n") == 1
        assert not any(mark in err for mark in "╭│╰")
    assert not Path("o").exists()


def test_tracebacks_come_only_when_asked_for(table, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr("bayesieve.app.tables.read_data", broken)
    words = ["rank", "data.csv", "--target", "class"]
    code, _, err = call(monkeypatch, capsys, *words)
    assert code == 1
    assert err == "bayesieve: RuntimeError: a bug (bayesieve --debug shows where).\n"
    code, _, err = call(monkeypatch, capsys, "--debug", *words)
    assert code == 1
    assert "Traceback" in err
    assert "in broken" in err


def test_an_interrupt_is_one_sentence(table, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesieve.estimators.selector.split_rows", interrupted)
    monkeypatch.setattr("bayesieve.estimators.weighted.run_weighted", interrupted)
    words = ["select", "data.csv", "--target", "class", "--out", "o", "--quiet"]
    for more in ([], ["--estimator", "selector"]):
        said = call(monkeypatch, capsys, *words, *more)
        assert said == (130, "", "bayesieve: interrupted.\n")
        assert not Path("o").exists()


def test_memory_that_does_not_suffice(table, monkeypatch, capsys):
    def large(*_):
        raise MemoryError

    monkeypatch.setattr("bayesieve.app.tables.read_data", large)
    code, _, err = call(monkeypatch, capsys, "rank", "data.csv", "--target", "class")
    assert code == 1
    assert err.startswith("bayesieve: the memory does not suffice")


# -- full disks and closed pipes -----------------------------------------------------------------


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_when_new(path, mode="r", *args, opened=Path.open, **more):
    return full() if mode == "xb" else opened(path, mode, *args, **more)


@pytest.mark.parametrize("name", ["replace", "open", "mkdir"])
@pytest.mark.usefixtures("uncorrected")
def test_a_full_disk_leaves_no_half_results(name, table, monkeypatch, capsys):
    Path("before").mkdir()
    Path("before/model.json").write_text("old")
    for folder in ("before", "new/deep"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, name, full_when_new if name == "open" else full)
            code, said, err = call(patch, capsys, "select", "data.csv", "--target", "class",
                                   "--out", folder, "--quiet", "--force")  # fmt: skip
        assert (code, said) == (1, "")
        assert "cannot be written: no space left on device" in err
        assert err.count("\n") == 1
    assert Path("before/model.json").read_text() == "old"
    assert [p.name for p in Path("before").iterdir()] == ["model.json"]
    assert not Path("new").exists()
    assert left_over() == []


def test_a_disk_that_fills_up_while_predictions_are_written(table, monkeypatch, capsys):
    opened = Path.open

    class Narrow:
        """A file with room for some bytes."""

        def __init__(self, file):
            self.file, self.room = file, 500

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        close = __exit__

        def write(self, data):
            self.room -= len(data)
            return self.file.write(data) if self.room > 0 else full()

    def open_narrow(path, mode="r", *args, **more):
        file = opened(path, mode, *args, **more)
        return Narrow(file) if mode == "xb" else file

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", open_narrow)
        code, _, err = call(patch, capsys, "predict", "model.json", "data.csv", "--batch", 7,
                            "--out", "p.csv")  # fmt: skip
    assert code == 1
    assert "p.csv cannot be written: no space left on device" in err
    assert not Path("p.csv").exists()
    assert left_over() == []


def run(command):
    source = str(Path(__file__).parents[2] / "src")
    return subprocess.run(
        command, shell=True, executable="/bin/bash", capture_output=True, text=True, timeout=1200,
        env={**os.environ, "PYTHONPATH": source, "B": f"{sys.executable} -m bayesieve"},
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full and a shell")
def test_closed_pipes_are_silent_and_full_ones_are_not(table):
    found = run("$B predict model.json data.csv | true & $B datasets > /dev/full; echo $?; wait")
    assert found.stdout == "1\n"
    assert found.stderr == (
        "bayesieve: standard output cannot be written: no space left on device.\n"
    )


# -- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["", "select", "rank", "predict", "explain", "report", "demo"])
def test_help_shows_no_type_for_flags(verb, monkeypatch, capsys):
    code, said, _ = call(monkeypatch, capsys, *filter(None, [verb]), "--help")
    assert code == 0
    assert "--help" in said
    assert "bool" not in said.lower()
    assert "PATH" in said or verb in ("", "rank")
    assert "<" not in said.partition("Data:")[2]


def test_one_column_is_not_several(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("a,class\n" + "0,u\n1,v\n" * 9)
    code, said, _ = call(monkeypatch, capsys, "select", "one.csv", "--target", "class",
                         "--out", "w", "--resamples", 0)  # fmt: skip
    assert code == 0
    assert said.startswith("1 term from 1 column: a\n")
    code, said, _ = call(monkeypatch, capsys, "select", "one.csv", "--target", "class",
                         "--out", "o", "--resamples", 0, "--search", "forward",
                         "--validation", 0.5)  # fmt: skip
    assert code == 0
    assert said.startswith("1 of 1 column: a\n")
    page = Path("o/report.html").read_text()
    assert "chosen: 1 column." in page
    assert "this model (1 column)" in page
    for text in (page, Path("w/report.html").read_text()):
        assert not re.search(r"\b1 (columns|terms|features)", text.partition("<script")[0])


# -- links that others have put there ------------------------------------------------------------


@pytest.mark.parametrize("name", ["p.csv", "page.html", "model.json"])
@pytest.mark.usefixtures("uncorrected")
def test_no_link_beside_the_output_is_followed(name, table, monkeypatch, capsys):
    """Whoever may write to the folder may not choose what is written over."""
    victim = Path("victim")
    victim.write_text("precious")
    Path("out").mkdir()
    made = []

    def remember(number, real=secrets.token_hex):
        made.append(real(number))
        return made[-1]

    for guess in (
        f".{name}.{os.getpid()}.part",
        f".{os.getpid()}.part",
        f".{name}",
        f"{name}.part",
    ):
        Path("out", guess).symlink_to(victim.resolve())
    monkeypatch.setattr(secrets, "token_hex", remember)
    out = Path("out", name)
    command = {
        "p.csv": ["predict", "model.json", "data.csv", "--out", out],
        "page.html": ["explain", "model.json", "data.csv", "--html", out],
        "model.json": ["select", "data.csv", "--target", "class", "--out", "out", "--quiet"],
    }[name]
    assert call(monkeypatch, capsys, *command)[0] == 0
    assert victim.read_text() == "precious"
    assert not out.is_symlink()
    assert out.stat().st_size > 0
    assert made
    assert all(len(each) >= 16 for each in made)
    assert len(list(Path("out").glob(".*"))) == 3  # what was planted


def test_a_link_under_the_hidden_name_itself_is_not_followed(tmp_path, monkeypatch):
    """Even a name that was guessed: the file is made anew, or not at all."""
    from bayesieve.data.files.output import OutputError, output_file

    victim, planted = tmp_path / "victim", tmp_path / f".bayesieve-{'0' * 16}.part"
    victim.write_text("precious")
    planted.symlink_to(victim)
    monkeypatch.setattr(secrets, "token_hex", lambda n: "0" * 2 * n)
    with pytest.raises(OutputError, match="file exists"), output_file(tmp_path / "a") as file:
        file.write(b"ruin")
    assert victim.read_text() == "precious"
    assert planted.is_symlink()
    assert not (tmp_path / "a").exists()


# -- completion ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("select d.csv --search forw", ["forward", "forward-backward"]),
        ("select d.csv --criterion pen", ["penalised-auc"]),
        ("select d.csv --model gaussian", ["gaussian", "gaussian-pooled"]),
        ("rank d.csv --method m", ["mutual-information", "mrmr", "mifs"]),
        ("reproduce r", ["rabenoro", "ruta"]),
    ],
)
def test_shells_complete_names(words, wanted, monkeypatch, capsys):
    monkeypatch.setenv("_BAYESIEVE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"bayesieve {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    _, said, _ = call(monkeypatch, capsys)
    assert said.split() == wanted
