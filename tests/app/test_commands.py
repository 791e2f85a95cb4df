"""The command line on tables in files."""

import csv
import gzip
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from bayesieve import NaiveBayes, load_model, rank
from bayesieve.__main__ import main
from bayesieve.app import commands
from bayesieve.app.options import Settings
from bayesieve.app.tables import LabelledTable, Rows
from plain import plain_selector

ODD = ["a\"b'c", "<script>", "naïve 🎲", "x" * 200]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes, please"], 120)
    frame = pd.DataFrame({name: rng.integers(0, 2, 120) for name in ODD})
    frame["good"] = (y == "no") ^ (rng.random(120) < 0.1)
    frame["kind"] = rng.choice(["u", "v"], 120)
    frame["id"] = [f"row {i}" for i in range(120)]
    frame["class"] = y
    frame["flood"] = frame["good"].astype(int)
    frame["good"] = frame["good"].astype(int)
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path, frame


def call(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["bayesieve", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    found = capsys.readouterr()
    return stop.value.code or 0, found.out, found.err


def test_select_predict_and_explain(table, tmp_path, monkeypatch, capsys):
    path, frame = table
    out = tmp_path / "out"
    code, said, err = call(monkeypatch, capsys, "select", path, "--target", "class", "--out", out,
                           "--max-features", 3, "--seed", 1)  # fmt: skip
    assert code == 0, err
    assert "column 'id' names every row: left out" in err
    files = {"model.json", "selected.csv", "path.csv", "report.html"}
    assert {p.name for p in out.iterdir()} == files
    chosen = pd.read_csv(out / "selected.csv")["feature"].tolist()
    assert chosen[0] in ("good", "flood")
    assert ", ".join(chosen) in said
    model = load_model(out / "model.json")
    assert sorted(spec.name for spec in model.fitted_.specs) == sorted(chosen)
    code, printed, _ = call(monkeypatch, capsys, "predict", out / "model.json", path)
    assert code == 0
    answers = tmp_path / "answers.csv"
    call(monkeypatch, capsys, "predict", out / "model.json", path, "--out", answers)
    assert answers.read_text() == printed
    names = [spec.name for spec in model.fitted_.specs]
    assert pd.read_csv(answers)["prediction"].tolist() == model.predict(frame[names]).tolist()
    code, text, _ = call(monkeypatch, capsys, "explain", out / "model.json", path, "--row", 7)
    assert code == 0
    assert text.startswith("row 7: ")
    assert "times as likely" in text
    code, text, _ = call(monkeypatch, capsys, "explain", out / "model.json", path, "--json")
    assert json.loads(text)[0]["row"] == 0


def test_reports_and_pages(table, tmp_path, monkeypatch, capsys):
    path, _ = table
    out = tmp_path / "out"
    select = ["select", path, "--target", "class", "--out", out, "--max-features", 3, "--resamples",
              2, "--title", "A <title>", "--quiet"]  # fmt: skip
    assert call(monkeypatch, capsys, *select) == (0, "", "")
    page = (out / "report.html").read_text()
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert "left out before the search: it names every row" in page
    assert "It holds no row of the table" in page
    code, said, err = call(monkeypatch, capsys, "report", out / "model.json", path, "--target",
                           "class", "--out", tmp_path / "r.html", "--include-rows")  # fmt: skip
    assert (code, said) == (0, f"{tmp_path / 'r.html'}\n")
    assert err.splitlines()[-1] == f"writing {tmp_path / 'r.html'}"
    again = ["report", out / "model.json", path, "--target", "class", "--out", tmp_path / "r.html"]
    code, said, err = call(monkeypatch, capsys, *again, "--quiet")
    assert (code, said) == (2, "")
    assert "exists; add --force to write over it" in err
    assert call(monkeypatch, capsys, *again, "--quiet", "--force") == (0, "", "")
    assert "All 120 rows" not in (tmp_path / "r.html").read_text()
    assert call(monkeypatch, capsys, *again[:-1], tmp_path / "r.html", "--include-rows", "--force",
                "--quiet")[0] == 0  # fmt: skip
    assert "All 120 rows are in this page" in (tmp_path / "r.html").read_text()
    code, said, err = call(monkeypatch, capsys, "explain", out / "model.json", path, "--row", 3,
                           "--html", tmp_path / "e.html")  # fmt: skip
    assert (code, said, err) == (0, "", "")
    assert "Row 3: " in (tmp_path / "e.html").read_text()
    wrong = ["report", out / "model.json", path, "--target", "kind", "--out", tmp_path / "w.html"]
    code, said, err = call(monkeypatch, capsys, *wrong)
    assert code == 2
    assert "the target has the class 'u'; the model knows" in err
    wrong = ["report", out / "model.json", path, "--labels", "good,flood", "--out", "w.html"]
    code, said, err = call(monkeypatch, capsys, *wrong)
    assert code == 2
    assert not (tmp_path / "w.html").exists()


def test_a_report_reads_as_predict_does(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(1)
    codes = rng.choice(["01", "02", "x3"], 80)
    first = pd.DataFrame({"code": codes, "class": np.where(rng.random(80) < 0.8, codes, "01")})
    first.to_csv(tmp_path / "a.csv", index=False)
    # Numbers only, as it seems.
    second = first[(first != "x3").all(axis=1)]
    second.to_csv(tmp_path / "b.csv", index=False)
    select = ["select", tmp_path / "a.csv", "--target", "class", "--out", tmp_path, "--quiet"]
    assert call(monkeypatch, capsys, *select, "--resamples", 0)[0] == 0
    code, _, err = call(monkeypatch, capsys, "report", tmp_path / "model.json", tmp_path / "b.csv",
                        "--target", "class", "--out", tmp_path / "b.html")  # fmt: skip
    assert code == 0, err
    model = load_model(tmp_path / "model.json")
    error = (model.predict(second[["code"]]) != second["class"]).mean()
    assert f"{100 * error:.1f} % of the decisions are wrong" in (tmp_path / "b.html").read_text()
    assert error < 0.3


def test_sparse_files_keep_their_names_in_the_report(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(2)
    X = sp.csr_array((rng.random((90, 6)) < 0.4).astype(float))
    y = (X[:, [4]].toarray().ravel() + (rng.random(90) < 0.1)) % 2
    names = np.array([f"word {j}" for j in range(6)])
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(tmp_path / "d.npz", **parts, y=y, feature_names=names)
    out = tmp_path / "out"
    code, said, err = call(monkeypatch, capsys, "select", tmp_path / "d.npz", "--out", out,
                           "--search", "forward", "--resamples", 4, "--json")  # fmt: skip
    assert code == 0, err
    page = (out / "report.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    lines = [(each["name"], each["full"]) for each in data["stability"]]
    assert {name for name, chosen in lines if chosen} == set(json.loads(said)["selected"])
    assert all(name.startswith("word ") for name, _ in lines)
    # Columns that a later svmlight file does not mention are zero.
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    dump_svmlight_file(X[:, :4], y, str(tmp_path / "b.svm"), zero_based=False)
    words = ["--out", out, "--search", "forward", "--quiet", "--resamples", 0, "--force"]
    assert call(monkeypatch, capsys, "select", tmp_path / "a.svm", *words)[0] == 0
    code, _, err = call(monkeypatch, capsys, "report", out / "model.json", tmp_path / "b.svm",
                        "--out", tmp_path / "b.html", "--quiet")  # fmt: skip
    assert (code, err) == (0, "")


def test_a_model_without_columns_predicts_any_table(tmp_path, monkeypatch, capsys):
    frame = pd.DataFrame({"still": [1] * 40, "class": ["a", "b"] * 20})
    frame.to_csv(tmp_path / "d.csv", index=False)
    select = ["select", tmp_path / "d.csv", "--target", "class", "--out", tmp_path, "--quiet"]
    assert call(monkeypatch, capsys, *select, "--min-features", 0) == (0, "", "")
    said = (tmp_path / "report.html").read_text()
    assert "This model is the baseline always “a”: no column separates the classes" in said
    others = pd.DataFrame({"other": ["x", "y", ""], "number": [1.5, 2.5, np.nan]})
    others.to_csv(tmp_path / "o.csv", index=False)
    others.to_parquet(tmp_path / "o.parquet")
    numbers = "@attribute u numeric\n@attribute v numeric\n@data\n"
    (tmp_path / "o.arff").write_text(f"@relation o\n{numbers}1,2\n3,4\n5,6\n")
    (tmp_path / "p.arff").write_text(f"@relation o\n{numbers}{{0 1}}\n{{}}\n{{1 2}}\n")
    dump_svmlight_file(np.eye(3), [0, 1, 0], str(tmp_path / "o.svm"))
    for name in ("o.csv", "o.parquet", "o.arff", "p.arff", "o.svm"):
        code, said, _ = call(
            monkeypatch, capsys, "predict", tmp_path / "model.json", tmp_path / name
        )
        assert (code, said) == (0, "prediction,P(a),P(b)\n" + "a,0.5,0.5\n" * 3)
    words = ["explain", tmp_path / "model.json", tmp_path / "o.csv", "--row", 1]
    code, said, _ = call(monkeypatch, capsys, *words)
    assert (code, said.splitlines()[0]) == (
        0,
        "row 1: a rather than b: probability 50.0 %, as likely as not",
    )


def test_large_files_give_the_same(table, tmp_path, monkeypatch, capsys):
    path, _ = table
    written = []
    for large in (2**30, 0):
        monkeypatch.setattr("bayesieve.app.tables._LARGE", large)
        out = tmp_path / str(large)
        words = ["select", path, "--target", "class", "--out", out, "--search", "forward"]
        code, _, err = call(monkeypatch, capsys, *words, "--title", "x", "--resamples", 3)
        assert code == 0, err
        assert "column 'id' names every row: left out" in err
        written.append({each.name: each.read_bytes() for each in out.iterdir()})
    assert written[0] == written[1]


def test_labels_from_other_files(table, tmp_path, monkeypatch, capsys):
    _, frame = table
    frame = frame.drop(columns=["class", "id"])
    parquet = tmp_path / "data.parquet"
    pl.from_dicts(frame.to_dict("records")).write_parquet(parquet)
    zipped = tmp_path / "data.tsv.gz"
    with gzip.open(zipped, "wt") as file:
        frame.to_csv(file, sep="\t", index=False)
    found = []
    for path in (parquet, zipped):
        code, said, err = call(
            monkeypatch, capsys, "select", path, "--labels", "good,flood", "--out",
            tmp_path / path.suffix, "--json", "--search", "forward", "--resamples", 2,
        )  # fmt: skip
        assert code == 0, err
        found.append(json.loads(said)["selected"])
    assert found[0] == found[1]
    code, said, _ = call(monkeypatch, capsys, "predict", tmp_path / ".gz" / "model.json", zipped)
    assert said.splitlines()[0] == "good,flood,P(good),P(flood)"


def test_labels_without_positive_rows_are_told_and_left_out(table, tmp_path, monkeypatch, capsys):
    _, frame = table
    frame = frame.drop(columns=["class", "id"]).assign(rare=[1] + [0] * 119)
    frame.to_csv(tmp_path / "rare.csv", index=False)
    code, _, err = call(monkeypatch, capsys, "select", tmp_path / "rare.csv", "--labels",
                        "good,rare", "--out", tmp_path / "o", "--resamples", 0)  # fmt: skip
    assert code == 0, err
    assert "1 of 2 labels are very rare or very common, such as 'rare' (1 rows)" in err


def test_rankings_and_sets_are_listed(table, monkeypatch, capsys):
    path, frame = table
    code, said, _ = call(
        monkeypatch, capsys, "rank", path, "--target", "class", "--method", "chi2", "--json"
    )
    assert code == 0
    X = frame.drop(columns="class")
    wanted = [X.columns[j] for j in rank(X, frame["class"], "chi2").order]
    assert [each["feature"] for each in json.loads(said)] == wanted
    code, said, _ = call(monkeypatch, capsys, "datasets")
    assert code == 0
    assert "iris" in said
    assert "OpenML 1590" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["select", "none.csv", "--target", "class", "--out", "o"], "does not exist"),
        (["select", "DATA", "--target", "clas", "--out", "o"], "there is no column 'clas'"),
        (["select", "DATA", "--out", "o"], "give --target COLUMN for classes"),
        (
            ["select", "DATA", "--target", "class", "--out", "o", "--search", "forwards"],
            "search must be one of",
        ),
        (
            ["select", "DATA", "--target", "class", "--out", "o", "--cv", "some"],
            "cv must be one of",
        ),
        (["select", "DATA", "--labels", "good,good", "--out", "o"], "names 'good' twice"),
        (
            ["select", "DATA", "--target", "class", "--out", "o", "--resamples", "1"],
            "--resamples must be 0 (none) or at least 2",
        ),
        (["explain", "MODEL", "DATA", "--html", "none/x.html"], "--html: the folder 'none'"),
        (["rank", "DATA", "--target", "class", "--method", "chi"], "method must be one of"),
        (["predict", "DATA", "DATA"], "is not a model file"),
        (["explain", "MODEL", "DATA", "--row", "5000"], "there is no row 5000"),
        (["predict", "MODEL", "OTHER"], "the table lacks 1 of the model's 1 columns"),
        (["rank", "EMPTY", "--target", "class"], "empty.csv"),
        (["rank", "SEMI", "--target", "class"], "another delimiter"),
        (["rank", "ONE", "--target", "class"], "has one value only"),
        (["rank", "TWICE", "--target", "class"], "several columns named 'a'"),
        (["rank", "RAGGED", "--target", "class"], "ragged.csv, line 3: expected 2 cells"),
        (["rank", "BINARY", "--target", "class"], "binary.csv"),
        (["rank", "HOLES", "--target", "class"], "is missing in 1 row(s)"),
        (["rank", "WORD", "--target", "class"], "ending of 'data.docx' is unknown"),
    ],
)
def test_mistakes_are_one_sentence(words, sentence, table, tmp_path, monkeypatch, capsys):
    path, frame = table
    from bayesieve import save_model

    save_model(NaiveBayes().fit(frame[["good"]], frame["class"]), tmp_path / "m.json")
    files = {
        "EMPTY": ("empty.csv", b""), "SEMI": ("semi.csv", b"a;b;class\n1;2;x\n3;4;y\n"),
        "ONE": ("one.csv", b"a,class\n1,x\n2,x\n"),
        "TWICE": ("twice.csv", b"a,a,class\n1,2,x\n3,4,y\n"),
        "RAGGED": ("ragged.csv", b"a,class\n1,x\n2,y,z,w\n"),
        "BINARY": ("binary.csv", bytes(range(256)) * 9),
        "HOLES": ("holes.csv", b"a,class\n1,x\n2,\n3,y\n"), "OTHER": ("other.csv", b"b\n1\n"),
        "WORD": ("data.docx", b"x"),
    }  # fmt: skip
    names = {"DATA": path, "MODEL": tmp_path / "m.json"}
    for key, (name, content) in files.items():
        (tmp_path / name).write_bytes(content)
        names[key] = tmp_path / name
    monkeypatch.chdir(tmp_path)
    code, said, err = call(monkeypatch, capsys, *(names.get(word, word) for word in words))
    assert code == 2
    assert said == ""
    assert sentence in err
    assert "Traceback" not in err
    assert not (tmp_path / "o").exists()


FORMULAS = ["=1+1", "+a", "-a", "@SUM(A1)", "\ta", "\ra", "\na", "a=1", "'a", "a"]


@pytest.mark.parametrize("safe", [True, False])
def test_formulas_in_csv_files_for_people(safe, tmp_path):
    rng = np.random.default_rng(0)
    y = np.array(["=cmd()", "-b"] * 20)
    X = pd.DataFrame(rng.integers(0, 2, (40, len(FORMULAS))), columns=FORMULAS)
    problem = LabelledTable(pl.from_pandas(X), FORMULAS, y)
    out = tmp_path / "out"
    selector = plain_selector(validation=None, n_features=5)
    settings = Settings(out=out, resamples=0, safe_csv=safe, quiet=True)
    commands.select_rows(selector, Rows(problem, [], problem.X, problem.y), settings, "t")
    with (out / "selected.csv").open(newline="") as file:
        found = [row[1] for row in csv.reader(file)][1:]
    wanted = [FORMULAS[j] for j in selector.selected_]
    if safe:
        wanted = [f"'{name}" if name in FORMULAS[:7] else name for name in wanted]
    assert found == wanted
    with (out / "path.csv").open(newline="") as file:
        cells = [cell for row in list(csv.reader(file))[1:] for cell in row]
    odd = [cell for cell in cells if cell[:1] in tuple("=+@\t\r\n")]
    assert bool(odd) != safe
    # For programs: as they are.
    table = tmp_path / "t.csv"
    X.to_csv(table, index=False, quoting=csv.QUOTE_ALL)
    text = "".join(commands.predict_file(out / "model.json", table))
    assert text.splitlines()[0] == "prediction,P(-b),P(=cmd())"
    assert {"=cmd()", "-b"} >= {line.split(",")[0] for line in text.splitlines()[1:]}
    names = load_model(out / "model.json").feature_names_in_.tolist()
    assert names == [FORMULAS[j] for j in sorted(selector.selected_)]
