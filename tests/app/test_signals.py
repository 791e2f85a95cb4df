"""From raw series in files to a report: signals, predict, explain, report."""

import json
import warnings
from functools import lru_cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from bayesieve import WeightedNaiveBayes, load_model, save_model, signals
from bayesieve.__main__ import main
from bayesieve.datasets import make_signals
from bayesieve.estimators._validation import PRESETS
from bayesieve.evaluation.performance import performance
from bayesieve.explain.text import factor_in_words
from bayesieve.indicators import SCORES, Indicators, SeriesTable, cut_windows, read_scores
from pages import CHROMIUM, launched

TOML = """
drop = "constant"
quantiles = [0.5, 0.8]

[[scores]]
score = "welch"
window = [20, 50]
thresholds = [4.0, 6.0]
title = "Oil pressure steps"

[[scores]]
score = "levene"

[[scores]]
score = "slope"
window = [0]
unit = "bar a second"
"""

OWN = """
import numpy as np
from bayesieve.indicators import register_score

@register_score("largest jump", thresholds=[3.0, 5.0],
                spans=lambda x, t: np.abs(np.diff(x, prepend=x[0])) > t)
def jump(x):
    return np.abs(np.diff(x)).max()
"""


@pytest.fixture(autouse=True)
def _registry():
    before = dict(SCORES)
    yield
    SCORES.clear()
    SCORES.update(before)


def call(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["bayesieve", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    found = capsys.readouterr()
    return stop.value.code or 0, found.out, found.err


def long_frame(seed, n=(60, 20)):
    """Engines with names that a reader of numbers would spoil; a table of one's own."""
    frame, known = drawn_once(seed, n)
    return frame.copy(), known


@lru_cache(maxsize=8)
def drawn_once(seed, n):
    known = make_signals(*n, random_state=seed)
    parts = [
        pd.DataFrame({"engine": f"{i:04d}", "second": np.arange(x.size), "oil": x, "state": state})
        for i, (x, state) in enumerate(zip(known.series, known.y, strict=True))
    ]
    return pd.concat(parts, ignore_index=True), known


@lru_cache(maxsize=8)
def long_csv(seed):
    return long_frame(seed)[0].to_csv(index=False)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.toml").write_text(TOML)
    (tmp_path / "own.py").write_text(OWN)
    for seed, name in ((0, "old"), (1, "new")):
        (tmp_path / f"{name}.csv").write_text(long_csv(seed))
    return tmp_path


LONG = ["--id", "engine", "--time", "second", "--target", "state"]
LEARN = ["signals", "old.csv", *LONG, "--scores", "scores.toml", "--out", "result", "--jobs", "1"]


def python_way(**options):
    frame, known = long_frame(0)
    asked = read_scores(["scores.toml"])
    table = SeriesTable.from_long(
        frame.drop(columns="state"), id="engine", time="second", values=["oil"]
    )
    model = signals(asked.scores and WeightedNaiveBayes(**options), asked.scores,
                    quantiles=asked.quantiles, drop=asked.drop)  # fmt: skip
    return model.fit(table, known.y), table


# -- the whole way -------------------------------------------------------------------------------


def test_from_series_to_a_report_with_the_right_spans(place, monkeypatch, capsys):
    code, said, err = call(monkeypatch, capsys, *LEARN, "--include-rows")
    assert code == 0, err
    files = {"model.json", "selected.csv", "path.csv", "report.html"}
    assert {path.name for path in (place / "result").iterdir()} == files
    chosen = pd.read_csv("result/selected.csv")
    assert "Oil pressure steps" in said
    assert chosen["sentence"].str.startswith("Oil pressure steps (oil): ").any()
    # The same as in Python, to the bit.
    model, _ = python_way()
    mine = json.loads((place / "result/model.json").read_text())
    save_model(model, "python.json")
    theirs = json.loads((place / "python.json").read_text())
    assert mine["signals"].pop("form")["kind"] == "long"
    assert theirs["signals"].pop("form") is None
    assert mine == theirs
    # New series, with no column of classes and in another order of columns.
    frame, known = long_frame(1)
    frame[["oil", "second", "engine"]].to_csv("unknown.csv", index=False)
    for batch in (50, 1000, 2**16):
        code, text, _ = call(monkeypatch, capsys, "predict", "result/model.json", "unknown.csv",
                             "--batch", batch)  # fmt: skip
        (place / "decided.csv").write_text(text)
        found = pd.read_csv("decided.csv", dtype={"id": str})
        assert found["id"].tolist() == [f"{i:04d}" for i in range(len(known.y))]
        assert found["prediction"].tolist() == model.predict(known.series).tolist()
        proba = found[[f"P({name})" for name in model.classes_]].to_numpy()
        np.testing.assert_array_equal(proba, model.predict_proba(known.series))
    assert (found["prediction"] == known.y).mean() > 0.7
    _see_the_spans(place, model, known, monkeypatch, capsys)


def _see_the_spans(place, model, known, monkeypatch, capsys):
    """Explanations and the report, in a browser, hold against `fired`."""
    at = int(np.flatnonzero(known.y == "mean shift")[0])
    x = known.series[at]
    explain = ["explain", "result/model.json", "unknown.csv", "--row", at]
    _, text, _ = call(monkeypatch, capsys, *explain, "--json")
    (data,) = json.loads(text)
    assert (data["row"], data["id"]) == (at, f"{at:04d}")
    for each in [each for bar in data["evidence"] for each in bar["indicators"]]:
        spans = model.indicators.fired(x, [each["id"]])[each["id"]]
        assert [tuple(span) for span in each["spans"]] == spans
    _, text, _ = call(monkeypatch, capsys, *explain)
    assert text.startswith(f"series {at:04d}: mean shift rather than ")
    told = [line.strip() for line in text.splitlines()[1:]]
    for bar, line in zip(data["evidence"], told, strict=False):
        ends = (None, None) if bar["low"] is None else (bar["low"], bar["high"])
        factor = factor_in_words(bar["log_ratio"], bar["rows"], *ends)
        assert " ".join(line.split()).replace("( ", "(").startswith(factor)
    assert "yes: Oil pressure steps (oil): at least one 50-point window, Welch t > 6" in text
    assert call(monkeypatch, capsys, *explain, "--html", "why.html")[0] == 0
    report = ["report", "result/model.json", "new.csv", "--target", "state", "--out", "new.html"]
    assert call(monkeypatch, capsys, *report, "--include-rows")[0] == 0
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    fired = {
        each["sentence"]: (each["id"], each["spans"])
        for bar in data["evidence"]
        for each in bar["indicators"]
        if each["spans"] and " x " not in bar["feature"]
    }
    assert fired
    step = 600 / (x.size - 1)
    with playwright.sync_playwright() as driver:
        browser = launched(driver)
        page = browser.new_page()
        page.goto((place / "why.html").as_uri())
        for sentence, (_, spans) in fired.items():
            boxes = page.eval_on_selector_all(
                f'svg[aria-label^="{sentence}:"] rect',
                "es => es.map(e => [+e.getAttribute('x'), +e.getAttribute('width')])",
            )
            wanted = [(first * step, (last - first + 1) * step) for first, last in spans]
            np.testing.assert_allclose(boxes, wanted, atol=0.01)
        page.goto((place / "new.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        page.click(f'#rows a[data-row="{at}"]')
        names = [spec.name for spec in model.estimator.estimator_.fitted_.specs]
        for name, spans in fired.values():
            page.click(f"#bar-{names.index(name)} button >> nth=0")
            left, right, *boxes = page.evaluate(
                """() => { const grid = [...document.querySelectorAll("#signal .grid")]
                .map(e => e.getBBox()); return [Math.min(...grid.map(b => b.x)),
                Math.max(...grid.map(b => b.x + b.width)),
                ...[...document.querySelectorAll("#signal rect")]
                  .map(e => +e.getAttribute("x"))]; }"""
            )
            found = (np.array(boxes) - left) / (right - left) * (x.size - 1)
            np.testing.assert_allclose(found, [s[0] for s in spans], atol=0.05)
        browser.close()


@pytest.mark.usefixtures("uncorrected")
def test_checkpoints_presets_and_families(place, monkeypatch, capsys):
    words = [*LEARN, "--preset", "few", "--families", "--checkpoint", "way", "--quiet"]
    assert call(monkeypatch, capsys, *words) == (0, "", "")
    once = (place / "result/model.json").read_bytes()
    code, _, err = call(monkeypatch, capsys, *words)
    assert code == 2
    assert "--resume" in err
    # What goes on from its checkpoint may write its own result anew.
    assert call(monkeypatch, capsys, *words, "--resume")[0] == 0
    assert (place / "result/model.json").read_bytes() == once
    (place / "way").unlink()
    code, _, err = call(monkeypatch, capsys, *words)
    assert code == 2
    assert "exists; add --force" in err
    model, _ = python_way(preset="few", families="auto")
    assert "few" in PRESETS
    save_model(model, "python.json")
    theirs, mine = (
        json.loads((place / name).read_text()) for name in ("python.json", "result/model.json")
    )
    assert theirs["models"] == mine["models"]


# -- forms of files ------------------------------------------------------------------------------


def forms(place):
    """The same series of equal length in every form, with what reads it."""
    rng = np.random.default_rng(3)
    y = np.repeat(["well", "worn"], 20)
    x = rng.normal(size=(40, 60)).round(3)
    x[20:, 30:] += 3
    names = [f"e{i:02d}" for i in range(40)]
    wide = pd.DataFrame(x, columns=[f"t{k}" for k in range(60)])
    wide.insert(0, "engine", names)
    long = wide.melt("engine", var_name="t", value_name="oil", ignore_index=False)
    long["t"] = long["t"].str[1:].astype(int)
    long = long.sort_values(["engine", "t"]).reset_index(drop=True)
    labels = pd.DataFrame({"engine": names, "class": y}).sample(frac=1, random_state=0)
    labels.to_csv("labels.csv", index=False)
    wide.to_csv("wide.csv", index=False)
    wide.assign(state=y).drop(columns="engine").to_parquet("wide.parquet")
    long.to_csv("long.csv", index=False)
    when = pd.Timestamp("2024-03-01") + pd.to_timedelta(long["t"], "min")
    long.assign(t=when).to_parquet("long.parquet")
    long.assign(t=when).to_csv("dated.csv", index=False)
    pl.from_pandas(long.assign(sensor="oil")).write_ipc("channels.arrow")
    folder = place / "folder"
    folder.mkdir()
    for name, part in long.groupby("engine"):
        part[["t", "oil"]].to_csv(folder / f"{name}.csv", index=False)
    by = ["--labels", "labels.csv"]
    return {
        "long.csv": ["--id", "engine", "--time", "t", *by],
        "long.parquet": ["--id", "engine", "--time", "t", *by],
        "dated.csv": ["--id", "engine", "--time", "t", *by],
        "channels.arrow": ["--id", "engine", "--time", "t", "--channel", "sensor", *by],
        "wide.csv": ["--wide", "--id", "engine", *by],
        "wide.parquet": ["--wide", "--target", "state"],
        "folder": ["--time", "t", *by],
    }


@pytest.mark.usefixtures("uncorrected")
def test_every_form_of_the_same_series_gives_the_same_model(place, monkeypatch, capsys):
    answers = {}
    for data, words in forms(place).items():
        code, _, err = call(monkeypatch, capsys, "signals", data, *words, "--scores", "scores.toml",
                            "--out", "result", "--resamples", 0, "--force")  # fmt: skip
        assert code == 0, (data, err)
        model = json.loads((place / "result/model.json").read_text())
        code, text, _ = call(monkeypatch, capsys, "predict", "result/model.json", data)
        assert code == 0, data
        lines = [line.partition(",")[2] for line in text.splitlines()]
        answers[data] = json.dumps(model["models"]), lines
        assert model["signals"]["recipe"]["kept"]
    first = answers["long.csv"]
    assert len(first[1]) == 41
    assert all(found == first for found in answers.values())


@pytest.mark.usefixtures("uncorrected")
def test_rows_of_series_that_do_not_stand_together(place, monkeypatch, capsys):
    call(monkeypatch, capsys, *LEARN, "--quiet")
    frame, _ = long_frame(1)
    frame.sort_values(["second", "engine"]).to_csv("mixed.csv", index=False)
    frame.to_csv("apart.csv", index=False)
    answers = [
        call(monkeypatch, capsys, "predict", "result/model.json", name, "--batch", 100)
        for name in ("mixed.csv", "apart.csv")
    ]
    assert answers[0] == answers[1]


@pytest.mark.usefixtures("uncorrected")
def test_several_channels_and_one(place, monkeypatch, capsys):
    """A second channel adds columns of its own; the first one's are those of one channel."""
    rng = np.random.default_rng(0)
    frame, known = long_frame(0)
    frame["fuel"] = rng.normal(size=len(frame))
    frame.to_csv("two.csv", index=False)
    words = ["--scores", "scores.toml", "--out", "result", "--resamples", 0]
    code, _, err = call(monkeypatch, capsys, "signals", "two.csv", *LONG, *words)
    assert code == 0, err
    assert load_model("result/model.json").indicators.channels_ == ("oil", "fuel")
    table = SeriesTable.from_long(frame, id="engine", time="second", values=["oil", "fuel"])
    scores = read_scores(["scores.toml"]).scores
    both = Indicators(scores).fit(table)
    alone = Indicators(scores).fit(known.series)
    first = [j for j, name in enumerate(both.names_) if name.startswith("oil: ")]
    np.testing.assert_array_equal(both.transform(table)[:, first], alone.transform(known.series))
    call(monkeypatch, capsys, "signals", "two.csv", *LONG, "--value", "oil", *words)
    one = json.loads((place / "result/model.json").read_text())
    call(monkeypatch, capsys, *LEARN)
    assert one == json.loads((place / "result/model.json").read_text())


# -- records and groups --------------------------------------------------------------------------


def records(n_records=24, size=180, seed=0):
    """Records with levels of their own, and classes that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for i in range(n_records):
        x = rng.choice([-1, 1], 40)[:, None] + rng.normal(size=(40, size)) * 0.3
        channels = {f"c{k}": x[k].round(4) for k in range(40)}
        rows.append(pd.DataFrame({"id": f"r{i}", "t": np.arange(size), **channels}))
        labels.append((f"r{i}", 0, size - 1, ["well", "worn"][int(rng.integers(2))]))
    frame = pd.DataFrame(labels, columns=["id", "start", "end", "label"])
    return pd.concat(rows, ignore_index=True), frame


@pytest.mark.usefixtures("uncorrected")
def test_windows_of_a_record_are_never_on_both_sides(place, monkeypatch, capsys):
    frame, labels = records()
    frame.to_csv("records.csv", index=False)
    labels.to_csv("stretches.csv", index=False)
    words = ["signals", "records.csv", "--id", "id", "--time", "t", "--labels", "stretches.csv",
             "--window", 60, "--stride", 20, "--scores", "leaky.toml", "--out", "result", "--json",
             "--resamples", 0]  # fmt: skip
    (place / "leaky.toml").write_text('[[scores]]\nscore = "highest"\nthresholds = [0.3]\n')
    code, said, err = call(monkeypatch, capsys, *words)
    assert code == 0, err
    assert "168 windows of 24 record(s)" in err
    honest = json.loads(said)["error"]
    # The twin: the same pipeline in folds that split records.
    table = SeriesTable.from_long(frame, id="id", time="t")
    cuts = cut_windows(table, 60, 20)
    y = labels["label"].to_numpy()[cuts.groups]
    asked = read_scores(["leaky.toml"])
    model = signals(None, asked.scores)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    leaky = 1 - cross_val_score(model, cuts.table, y, cv=folds).mean()
    assert leaky < 0.1
    assert honest > 0.3
    # And the tool's estimate is that of the figures, with records as groups.
    X = model.fit_columns(cuts.table)
    model.estimator.fit(X, y, groups=cuts.groups)
    assert performance(model.estimator, X, y, None, cuts.groups).error == honest


def test_one_record_with_labelled_stretches(place, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    worn = (np.arange(3000) // 300) % 2 == 1
    x = rng.normal(size=3000) * np.where(worn, 3, 1)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(3000), "s")
    pd.DataFrame({"id": "only", "when": when, "x": x}).to_csv("record.csv", index=False)
    rows = [("only", when[k], when[k + 299], ["well", "worn"][k // 300 % 2])
            for k in range(0, 3000, 300)]  # fmt: skip
    pd.DataFrame(rows, columns=["id", "start", "end", "state"]).to_csv("said.csv", index=False)
    (place / "s.toml").write_text('[[scores]]\nscore = "total-variation"\n')
    words = ["--id", "id", "--time", "when", "--labels", "said.csv", "--window", 50, "--stride", 25,
             "--scores", "s.toml", "--out", "result", "--resamples", 0]  # fmt: skip
    code, _, err = call(monkeypatch, capsys, "signals", "record.csv", *words)
    assert code == 0, err
    assert "110 windows of 1 record(s); 9 more lie in no labelled stretch" in err
    assert "how good the model is on another record is not known" in err
    code, text, _ = call(monkeypatch, capsys, "predict", "result/model.json", "record.csv")
    lines = text.splitlines()
    assert lines[0].startswith("id,start,end,prediction")
    assert lines[2].startswith("only,2024-01-01T00:00:25.000000,2024-01-01T00:01:14.000000,")
    assert len(lines) == 1 + len(range(0, 2951, 25))
    pd.DataFrame({"id": "only", "when": np.arange(100) * 2, "x": x[:100]}).to_csv("n.csv")
    code, text, _ = call(monkeypatch, capsys, "predict", "result/model.json", "n.csv")
    assert [line.split(",")[1:3] for line in text.splitlines()[1:]] == [
        ["0", "98"], ["50", "148"], ["100", "198"]
    ]  # fmt: skip


# -- scores of one's own -------------------------------------------------------------------------


@pytest.mark.usefixtures("uncorrected")
def test_a_score_from_a_python_file_must_be_given_again(place, monkeypatch, capsys):
    words = ["signals", "old.csv", *LONG, "--scores", "own.py", "--scores", "scores.toml",
             "--out", "result", "--resamples", 0]  # fmt: skip
    code, said, err = call(monkeypatch, capsys, *words)
    assert code == 0, err
    assert "own.py is run: a Python file may do all that a program may" in err
    recipe = json.loads((place / "result/model.json").read_text())["signals"]["recipe"]
    assert {"own": "jump"} in recipe["scores"]
    predict = ["predict", "result/model.json", "new.csv"]
    once = call(monkeypatch, capsys, *predict, "--scores", "own.py")
    assert once[0] == 0, once
    del SCORES["jump"]
    code, said, err = call(monkeypatch, capsys, *predict, "--out", "never.csv")
    assert (code, said) == (2, "")
    assert "the score 'jump' is a function that somebody wrote" in err
    assert "--scores FILE.py" in err
    assert not (place / "never.csv").exists()
    (place / "own.py").write_text(OWN.replace("largest jump", "another"))
    code, _, err = call(monkeypatch, capsys, *predict, "--scores", "own.py")
    assert code == 2
    assert "give other columns" in err


def test_the_library_is_listed_and_drawn(place, monkeypatch, capsys):
    code, text, _ = call(monkeypatch, capsys, "scores")
    assert code == 0
    assert [line.split()[0] for line in text.splitlines()] == list(SCORES)
    assert json.loads(call(monkeypatch, capsys, "scores", "--json")[1])[5]["name"] == "lowest"
    for name in SCORES:
        code, text, err = call(monkeypatch, capsys, "scores", name)
        assert code == 0, err
        assert "^" in text.splitlines()[-1], name
    assert call(monkeypatch, capsys, "scores", "spikes", "--out", "spikes.png")[0] == 0
    assert (place / "spikes.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = call(monkeypatch, capsys, "scores", "spike")
    assert code == 2
    assert "Did you mean 'spikes'?" in err
    code, text, _ = call(monkeypatch, capsys, "scores", "jump", "--scores", "own.py")
    assert text.startswith("jump: largest jump > ")


# -- bad input -----------------------------------------------------------------------------------


def change(action):
    frame, _ = long_frame(0)
    return action(frame)


BAD = {
    "one point": (
        lambda f: f[(f.engine != "0003") | (f.second == 0)], [], "series '0003' has one point"),
    "all missing": (
        lambda f: f.assign(oil=f.oil.where(f.engine != "0003")), [], "'0003' has no value"),
    "a time twice": (
        lambda f: f.assign(second=f.second.where(f.second != 3, 2)), [], "has 2.0 twice"),
    "texts": (
        lambda f: f.assign(oil=f.oil.astype(str).where(f.second != 3, "n/a")), [],
        "'n/a' is not a number, but a column of values holds numbers"),
    "no such column": (lambda f: f.rename(columns={"engine": "unit"}), [], "no column 'engine'"),
    "two classes": (
        lambda f: f.assign(state=f.state.where(f.second != 3, "odd")), [], "has two classes"),
    "many classes": (
        lambda f: f.assign(state="c" + f.engine), [], "the target has 120 classes"),
    "numbers": (
        lambda f: f.assign(state=f.engine.astype(int) / 7), [], "numbers with a fraction"),
    "an identifier": (
        lambda f: f.assign(unit=f.engine.astype(int)), [],
        "column 'unit' never changes within a series, as an identifier"),
    "a second time": (
        lambda f: f.assign(tick=f.second * 2.5), [], "'tick' rises from point to point"),
    "mixed channels": (
        lambda f: f.assign(sensor=np.where(f.engine == "0003", "fuel", "oil")),
        ["--channel", "sensor"], "series '0003' has no point of the channel 'oil'"),
    "no such time": (lambda f: f.assign(second="soon"), [], "must be numbers or dates"),
    "both wide and timed": (lambda f: f, ["--wide"], "--time does not go with a wide table"),
    "a stride alone": (lambda f: f, ["--stride", 3], "--stride needs --window"),
    "unknown preset": (lambda f: f, ["--preset", "fewer"], "Did you mean 'few'?"),
    "scores without a key": (lambda f: f, ["--scores", "bad.toml"], "Did you mean 'window'?"),
    "scores of another kind": (lambda f: f, ["--scores", "old.csv"], "must end in .toml"),
    "a score that raises": (lambda f: f, ["--scores", "raises.py"], "score 'odd' failed on"),
    "a score that gives text": (lambda f: f, ["--scores", "texts.py"], "gave the text 'high'"),
    "a file that registers nothing": (lambda f: f, ["--scores", "none.py"], "registers no score"),
    "a file that fails": (lambda f: f, ["--scores", "fails.py"], "ZeroDivisionError"),
    "a name of the library": (lambda f: f, ["--scores", "taken.py"], "'spikes', which is a score"),
    "unknown ids": (lambda f: f, ["--labels", "more.csv"], "which is not among the series"),
    "no label": (lambda f: f, ["--labels", "fewer.csv"], "which has no label"),
    "stretches without a window": (lambda f: f, ["--labels", "over.csv"], "give --window"),
    "overlaps": (lambda f: f, ["--labels", "over.csv", "--window", 20], "overlap"),
    "two clocks": (lambda f: f, ["--labels", "dates.csv", "--window", 20], "must both have dates"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_before_any_work(case, place, monkeypatch, capsys):
    make, words, sentence = BAD[case]
    make(long_frame(0)[0]).to_csv("bad.csv", index=False)
    (place / "bad.toml").write_text('[[scores]]\nscore = "slope"\nwidow = [3]\n')
    begin = "from bayesieve.indicators import register_score\n"
    own = begin + "@register_score('odd', thresholds=[1])\ndef odd(x):\n    "
    for name, text in {
        "raises": own + "raise RuntimeError('no')",
        "texts": own + "return 'high'",
        "none": begin,
        "fails": "1 / 0",
        "taken": own.replace("def odd", "def spikes") + "return 1.0",
    }.items():
        (place / f"{name}.py").write_text(text)
    names = [f"{i:04d}" for i in range(120)]
    rows = [(name, "ab"[i % 2]) for i, name in enumerate(names)]
    for name, mine in (("more", [*rows, ("9999", "a")]), ("fewer", rows[1:])):
        pd.DataFrame(mine, columns=["engine", "state"]).to_csv(f"{name}.csv", index=False)
    stretches = [("0001", 0, 50, "a"), ("0001", 40, 90, "b"), ("0002", 0, 90, "b")]
    over = pd.DataFrame(stretches, columns=["engine", "start", "end", "state"])
    over.to_csv("over.csv", index=False)
    over = over[over.engine == "0002"].assign(start="2024-01-01", end="2024-01-02")
    over.to_csv("dates.csv", index=False)
    code, said, err = call(monkeypatch, capsys, "signals", "bad.csv", *LONG, "--out", "result",
                           "--jobs", 1, *words)  # fmt: skip
    assert (code, said) == (2, ""), err
    assert sentence in err
    assert "Traceback" not in err
    assert len([line for line in err.splitlines() if line.startswith("bayesieve: ")]) == 1
    assert not (place / "result").exists()


@pytest.mark.usefixtures("uncorrected")
def test_what_is_said_of_times(place, monkeypatch, capsys):
    frame, _ = long_frame(0)
    odd = frame.assign(second=frame.second.where(frame.second < 50, frame.second * 2))
    odd = pd.concat([odd[odd.engine == "0003"][::-1], odd[odd.engine != "0003"]])
    odd.to_csv("odd.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, _, err = call(monkeypatch, capsys, "signals", "odd.csv", *LONG, "--scores",
                            "scores.toml", "--out", "result", "--resamples", 0)  # fmt: skip
    assert code == 0, err
    assert "1 series, the first '0003', did not come in the order of 'second'" in err
    assert "120 series, such as '0003', have points that are not the same time apart" in err


@pytest.mark.usefixtures("uncorrected")
def test_select_sends_series_to_signals(place, monkeypatch, capsys):
    for name, change in {
        "plain.csv": lambda f: f,
        "dated.csv": lambda f: f.assign(
            second=pd.Timestamp("2024-01-01") + pd.to_timedelta(f.second, "s")
        ),
        "numbers.parquet": lambda f: f.assign(engine=f.engine.astype(int)),
    }.items():
        frame = change(long_frame(0)[0])
        frame.to_csv(name, index=False) if name.endswith("csv") else frame.to_parquet(name)
        code, said, err = call(monkeypatch, capsys, "select", name, "--target", "state", "--out",
                               "chosen")  # fmt: skip
        assert (code, said) == (2, "")
        assert "use bayesieve signals DATA --id engine --time second --target state" in err
        assert not (place / "chosen").exists()
    with monkeypatch.context() as large:  # as if the file were large: its first rows are looked at
        large.setattr("bayesieve.app.tables._LARGE", 0)
        code, _, err = call(monkeypatch, capsys, "select", "plain.csv", "--target", "state",
                            "--out", "chosen")  # fmt: skip
        assert code == 2
        assert "use bayesieve signals DATA --id engine --time second" in err
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 60)
    plain = pd.DataFrame({"row": np.arange(120), "kind": np.where(y == "a", "u", "v"),
                          "when": "2024-01-0" + pd.Series(rng.integers(1, 9, 120).astype(str))
                          + " 12:00", "class": y})  # fmt: skip
    plain.to_csv("plain.csv", index=False)
    code, _, err = call(monkeypatch, capsys, "select", "plain.csv", "--target", "class", "--out",
                        "chosen")  # fmt: skip
    assert code == 2
    assert "column 'when' holds moments in time" in err
    plain.drop(columns="when").to_csv("plain.csv", index=False)
    code, _, err = call(monkeypatch, capsys, "select", "plain.csv", "--target", "class", "--out",
                        "chosen")  # fmt: skip
    assert code == 0, err


@pytest.mark.usefixtures("uncorrected")
def test_hostile_recipes(place, monkeypatch, capsys):
    call(monkeypatch, capsys, *LEARN, "--quiet", "--resamples", 0)
    good = json.loads((place / "result/model.json").read_text())

    def refuse(change, sentence):
        data = json.loads(json.dumps(good))
        change(data["signals"])
        (place / "bad.json").write_text(json.dumps(data))
        with pytest.raises(ValueError, match=sentence):
            load_model("bad.json")

    refuse(lambda s: s.pop("recipe"), "lacks 'recipe'")
    refuse(lambda s: s["recipe"].update(kept=[0]), "kept must hold the indicators")
    refuse(lambda s: s["recipe"].update(version=7), "version must be 1")
    refuse(lambda s: s["recipe"]["scores"][0].update(code="x"), "must be one of")
    refuse(lambda s: s["recipe"]["scores"].pop(), "recipe")
    refuse(lambda s: s["form"].update(kind="tall"), "form.kind must be one of")
    refuse(lambda s: s["form"].update(id=None), "form.id must name a column")
