"""`bayesieve select`: terms with weights by default, a search where one is asked for."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from bayesieve import NaiveBayesSelector, WeightedNaiveBayes, load_model, save_model
from bayesieve.app.cli import app


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 160)
    X = (rng.random((160, 5)) < 0.2 + 0.5 * y[:, None] * (np.arange(5) < 3)).astype(int)
    frame = pl.DataFrame(X, schema=list("abcde"))
    frame.with_columns(pl.Series("class", np.array(["no", "yes"])[y])).write_csv("t.csv")
    return frame, np.array(["no", "yes"])[y]


def select(*options):
    words = ["select", "t.csv", "--target", "class", "--out", "o", "--resamples", "0", "--json",
             "--force"]  # fmt: skip
    return CliRunner().invoke(app, [*words, *options])


def test_terms_with_weights_by_default(table):
    X, y = table
    done = json.loads(select("--seed", "0").stdout)
    model = WeightedNaiveBayes().fit(X, y)
    assert done["selected"] == [each["name"] for each in model.terms_]
    np.testing.assert_array_equal(
        load_model("o/model.json").predict_proba(X[:, model.support_.tolist()]),
        model.predict_proba(X),
    )
    path = pl.read_csv("o/path.csv")
    assert path["n_terms"].to_list() == model.path_.to_dict()["n_terms"]
    assert pl.read_csv("o/selected.csv")["feature"].to_list() == done["selected"]
    assert (
        "Error from 5-fold cross-validation of the whole procedure"
        in Path("o/report.html").read_text()
    )


@pytest.mark.parametrize("estimator", ["selector", "weighted"])
def test_the_model_is_the_one_of_python(table, estimator):
    """File against file: counts, weights and all."""
    X, y = table
    assert select("--estimator", estimator).exit_code == 0
    chooser = {"selector": NaiveBayesSelector, "weighted": WeightedNaiveBayes}[estimator]
    save_model(chooser().fit(X, y), "python.json")
    mine, python = (json.loads(Path(name).read_text()) for name in ("o/model.json", "python.json"))
    assert mine == python


def test_an_option_of_searches_asks_for_a_search(table):
    X, y = table
    done = json.loads(select("--max-features", "2").stdout)
    model = NaiveBayesSelector(max_features=2, random_state=0).fit(X, y)
    assert done["selected"] == [X.columns[j] for j in model.selected_]
    assert done["criterion"] == "probability"
    assert done["proof"].startswith("more than chance")


@pytest.mark.parametrize("choice", ["best", "one-se"])
def test_who_chooses_can_be_named(table, choice):
    X, y = table
    done = json.loads(select("--choice", choice, "--keep", "e", "--forbid", "a").stdout)
    model = NaiveBayesSelector(choice=choice, keep=["e"], forbid=["a"], random_state=0).fit(X, y)
    assert done["selected"] == [X.columns[j] for j in model.selected_]
    assert "e" in done["selected"]
    assert "a" not in done["selected"]


@pytest.mark.usefixtures("uncorrected")
def test_presets_reach_the_estimator(table):
    X, y = table
    done = json.loads(select("--preset", "few").stdout)
    model = WeightedNaiveBayes(preset="few").fit(X, y)
    assert done["selected"] == [each["name"] for each in model.terms_]
    assert done["stands_for"] == {}
    chosen = json.loads(select("--preset", "few", "--estimator", "selector").stdout)
    assert len(chosen["selected"]) <= 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--preset", "tiny"], "--preset must be one of 'few', 'balanced', 'accurate'"),
        (["--estimator", "both"], "--estimator must be one of 'auto', 'weighted', 'selector'"),
        (
            ["--estimator", "weighted", "--n-features", "3"],
            "--n-features is an option of searches; leave it out, or use --estimator selector",
        ),
    ],
)
def test_what_does_not_fit_is_told(table, options, words):
    done = select(*options)
    assert done.exit_code != 0
    assert words in str(done.exception)
    assert not Path("o").exists()


def test_noise_is_said_to_be_noise(table):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(rng.integers(0, 2, (120, 4)), schema=list("abcd"))
    frame.with_columns(pl.Series("class", rng.permutation(["u", "v"] * 60))).write_csv("t.csv")
    words = ["select", "t.csv", "--target", "class", "--resamples", "0"]
    said = CliRunner().invoke(app, [*words, "--out", "w", "--quiet", "--json"])
    assert json.loads(said.stdout)["selected"] == []
    told = CliRunner().invoke(app, [*words, "--out", "s", "--min-features", "0"])
    assert "0 of 4 columns: nothing separates the classes" in told.stdout


def test_what_terms_may_be(table):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    frame = pl.DataFrame({"a": rng.normal(size=300) + y, "b": rng.normal(size=300)})
    # A pair alone tells, and `b` speaks against its own order.
    frame = frame.with_columns(c=pl.Series(np.where(y, 1, -1) * np.sign(frame["b"].to_numpy())))
    frame.with_columns(pl.Series("class", y)).write_csv("t.csv")
    assert "b x c" in json.loads(select().stdout)["selected"]
    done = json.loads(select("--no-pairs", "--monotone", "a=1, b=-1").stdout)
    model = WeightedNaiveBayes(pairs=False, monotone={"a": 1, "b": -1}).fit(frame, y)
    assert done["selected"] == [each["name"] for each in model.terms_]
    np.testing.assert_array_equal(
        load_model("o/model.json").predict_proba(frame[:, model.support_.tolist()]),
        model.predict_proba(frame),
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--monotone", "a"], "--monotone must be COLUMN=1 (rises) or COLUMN=-1 (falls)"),
        (["--monotone", "a=2"], "got 'a=2'"),
        (["--monotone", "a=1,a=-1"], "--monotone names 'a' twice"),
        (["--monotone", "f=1"], "'f'"),
        (["--no-pairs", "--search", "forward"], "--no-pairs is for weighted terms, and --search"),
        (["--monotone", "a=1", "--estimator", "selector"], "and --estimator selector asks for"),
    ],
)
def test_options_of_terms_are_refused_by_name(table, options, words):
    done = select(*options)
    assert done.exit_code != 0
    assert words in str(done.exception)
    assert not Path("o").exists()
