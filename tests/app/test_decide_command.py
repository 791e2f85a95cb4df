"""The verb `decide`, and weights of classes on the command line."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from bayesieve import NaiveBayes, WeightedNaiveBayes, decide, load_model, save_model
from bayesieve.__main__ import main


def call(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["bayesieve", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    found = capsys.readouterr()
    return stop.value.code or 0, found.out, found.err


@pytest.fixture
def files(tmp_path):
    """A model, a table that did not train it, and one of costs."""
    rng = np.random.default_rng(0)
    y = rng.choice(["calm", "gust"], 900, p=[0.7, 0.3])
    table = pd.DataFrame(rng.normal(size=(900, 3)) + (y == "gust")[:, None], columns=list("abc"))
    model = NaiveBayes().fit(table[:400], y[:400])
    save_model(model, tmp_path / "model.json")
    table.assign(wind=y)[:400].to_csv(tmp_path / "train.csv", index=False)
    table.assign(wind=y)[400:].to_csv(tmp_path / "held.csv", index=False)
    lines = ["wind,calm,gust,ask a person", "calm,0,1,0.2", "gust,5,0,0.3"]
    (tmp_path / "costs.csv").write_text("\n".join(lines))
    return tmp_path, model, table[400:], y[400:]


def test_a_ceiling_becomes_part_of_the_model_file(files, monkeypatch, capsys):
    folder, model, table, y = files
    path = folder / "model.json"
    code, said, err = call(monkeypatch, capsys, "decide", path, folder / "held.csv",
                           "--target", "wind", "--max-false-alarms", 0.05)  # fmt: skip
    assert code == 0, err
    wanted = decide(model, table, y, max_false_alarms=0.05)
    assert said == f"{wanted.decision_.to_text()}\nwritten to {path}\n"
    again = load_model(path)
    np.testing.assert_array_equal(again.predict(table), wanted.predict(table))
    code, printed, _ = call(monkeypatch, capsys, "predict", path, folder / "held.csv")
    header, *lines = printed.splitlines()
    assert header == "prediction,P(calm),P(gust)"  # this rule never asks
    assert [line.split(",")[0] for line in lines] == wanted.predict(table).tolist()


def test_costs_from_a_file(files, monkeypatch, capsys):
    folder, model, table, y = files
    out = folder / "new.json"
    before = (folder / "model.json").read_text()
    code, said, err = call(
        monkeypatch, capsys, "decide", folder / "model.json", folder / "held.csv", "--target",
        "wind", "--costs", folder / "costs.csv", "--out", out, "--json",
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(said)
    assert found["rules"][0]["costs"] == [[0, 1, 0.2], [5, 0, 0.3]]
    assert sum(found["rows"]["rows"]) == 500
    assert (folder / "model.json").read_text() == before
    asking = {"calm": 0.2, "gust": 0.3}
    wanted = decide(model, table, y, costs=[[0, 1], [5, 0]], abstain=asking).predict(table)
    np.testing.assert_array_equal(load_model(out).predict(table), wanted)
    code, printed, err = call(monkeypatch, capsys, "predict", out, folder / "held.csv")
    told = [line.split(",")[0] for line in printed.splitlines()[1:]]
    assert told == [each or "ask a person" for each in wanted]
    asked = pd.read_csv(io.StringIO(printed))["asked"]
    assert asked.tolist() == [each is None for each in wanted]
    assert err.endswith(f", {asked.sum()} for a person\n")
    counts = {name: told.count(name) for name in ("calm", "gust")}
    assert err.startswith(", ".join(f"{n} {each}" for each, n in counts.items()))
    row = wanted.tolist().index(None)
    code, printed, _ = call(monkeypatch, capsys, "explain", out, folder / "held.csv", "--row", row)
    assert "decision: ask a person: expected cost 0.2" in printed
    page = folder / "page.html"
    words = ("explain", out, folder / "held.csv", "--row", row, "--html", page)
    assert call(monkeypatch, capsys, *words)[0] == 0
    assert "<strong>Decision:</strong> ask a person" in page.read_text()
    words = ("report", out, folder / "held.csv", "--target", "wind", "--out", folder / "r.html")
    assert call(monkeypatch, capsys, *words)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-false-alarms", "0"], "no number of rows shows"),
        (["--max-false-alarms", "0.001"], "the lowest that they can show is 0.00"),
        (["--max-false-alarms", "gale=0.1"], "names 'gale'"),
        (["--max-false-alarms", "many"], "--max-false-alarms must be a number or one CLASS="),
        (["--costs", "none.csv"], "cannot be read as a table"),
        (["--costs", "held.csv"], "must hold a number for taking"),
        (["--costs", "short.csv"], "costs must say what it costs to take 'gust' for 'calm'"),
        (["--costs", "empty.csv"], "must be a CSV table: a header with the decisions"),
        (["--abstain", "-1"], "abstain must be a number from 0"),
        (["--out", "held.csv"], "is read here; name another file"),
        (["--target", "a"], "fraction"),
        (["--labels", "b"], "give --target COLUMN for classes or --labels"),
    ],
)
def test_bad_use_is_one_sentence(files, monkeypatch, capsys, words, message):
    folder = files[0]
    monkeypatch.chdir(folder)
    (folder / "short.csv").write_text("wind,gust\ncalm,1\n")
    (folder / "empty.csv").write_text("wind,calm\n")
    given = [] if words[0] == "--target" else ["--target", "wind"]
    code, said, err = call(monkeypatch, capsys, "decide", "model.json", "held.csv", *given, *words)
    assert code == 2, err
    assert not said
    assert message in err
    assert err.count("\n") == 1


def test_weights_of_classes(files, monkeypatch, capsys):
    folder = files[0]
    code, _, err = call(
        monkeypatch, capsys, "select", folder / "train.csv", "--target", "wind", "--out",
        folder / "out", "--resamples", 0, "--quiet", "--class-weight", "calm=1,gust=4", "--jobs", 1,
    )  # fmt: skip
    assert code == 0, err
    train = pd.read_csv(folder / "train.csv")
    wanted = WeightedNaiveBayes(class_weight={"calm": 1, "gust": 4}).fit(
        train[list("abc")], train["wind"]
    )
    found = load_model(folder / "out" / "model.json")
    names = [spec.name for spec in found.fitted_.specs]
    np.testing.assert_array_equal(
        found.predict_proba(train[names]), wanted.predict_proba(train[list("abc")])
    )
    for weights, message in (
        ("gale=2", "names 'gale'; the classes are"),
        ("2", "must be 'balanced'"),
    ):
        code, _, err = call(
            monkeypatch, capsys, "select", folder / "train.csv", "--target", "wind", "--out",
            folder / "out", "--class-weight", weights, "--force",
        )  # fmt: skip
        assert code == 2
        assert message in err
