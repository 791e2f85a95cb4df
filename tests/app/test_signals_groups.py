"""`bayesieve signals`: groups, times of channels, and what is refused before any work."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from bayesieve import load_model, save_model, signals
from bayesieve.__main__ import main
from bayesieve.evaluation.performance import performance
from bayesieve.indicators import SeriesTable, cut_windows, intervals_of, read_scores

SCORES_ASKED = """
[[scores]]
score = "total-variation"

[[scores]]
score = "highest"
thresholds = [0.3]
"""


def call(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["bayesieve", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    found = capsys.readouterr()
    return stop.value.code or 0, found.out, found.err


def machines(seed=0, n=24, each=6, size=60, width=20):
    """Series of machines with levels of their own in many channels, which say nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        level, state = rng.choice([-1, 1], width), ["well", "worn"][int(rng.integers(2))]
        for k in range(each):
            x = level[:, None] + rng.normal(size=(width, size)) * 0.3
            of = {"id": f"{i:02d}-{k}", "t": np.arange(size), "machine": f"m{i}", "state": state}
            rows.append(pd.DataFrame({**of, **{f"c{j}": x[j].round(4) for j in range(width)}}))
    return pd.concat(rows, ignore_index=True)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCORES_ASKED)
    return tmp_path


OUT = ["--scores", "s.toml", "--out", "result", "--force", "--resamples", 0, "--jobs", 1]


def written(frame):
    """Long with everything, and points with a file of classes and machines."""
    frame.to_csv("long.csv", index=False)
    about = frame.groupby("id", sort=False)[["machine", "state"]].first().reset_index()
    about.sample(frac=1, random_state=0).to_csv("labels.csv", index=False)
    frame.drop(columns=["machine", "state"]).to_parquet("points.parquet")
    return about


BASE = ["--id", "id", "--time", "t", "--target", "state"]
WAYS = {
    "long.csv": [*BASE, "--groups", "machine"],
    "points.parquet": [*BASE, "--labels", "labels.csv", "--groups", "machine"],
}


@pytest.mark.usefixtures("place", "uncorrected")
def test_series_of_one_machine_are_never_on_both_sides(monkeypatch, capsys):
    written(machines())
    data, words = "points.parquet", WAYS["points.parquet"]
    code, said, err = call(monkeypatch, capsys, "signals", data, *words, *OUT, "--json")
    assert code == 0, err
    found = json.loads(said)
    assert found["error"] > 0.3
    assert (found["unit"], found["n_units"], found["pieces"]) == ("groups", 24, "series")
    # Without groups the machines are known by heart.
    code, said, _ = call(monkeypatch, capsys, "signals", data, *words[:-2], *OUT, "--json")
    assert json.loads(said)["error"] < 0.1


@pytest.mark.usefixtures("uncorrected")
def test_groups_in_every_form_are_those_of_python(place, monkeypatch, capsys):
    frame = machines(n=10, each=4, size=40, width=5)
    about, found = written(frame), {}
    for data, words in WAYS.items():
        code, said, err = call(monkeypatch, capsys, "signals", data, *words, *OUT, "--json")
        assert code == 0, err
        found[data] = json.loads(said), json.loads((place / "result/model.json").read_text())
    (one, model), (other, same) = found.values()
    assert one["error"] == other["error"]
    assert (one["unit"], one["n_units"], one["pieces"]) == ("groups", 10, "series")
    assert model == same
    # The same as in Python, to the bit.
    table = SeriesTable.from_long(frame, id="id", time="t", values=[f"c{j}" for j in range(5)])
    y, groups = about["state"].to_numpy(), about["machine"].to_numpy()
    mine = signals(None, read_scores(["s.toml"]).scores)
    X = mine.fit_columns(table)
    mine.fit_estimator(X, y, groups=groups)
    save_model(mine, "python.json")
    theirs = json.loads((place / "python.json").read_text())
    assert theirs["models"] == model["models"]
    assert performance(mine.estimator, X, y, None, groups).error == one["error"]
    code, said, _ = call(monkeypatch, capsys, "signals", "long.csv", *WAYS["long.csv"], *OUT,
                         "--window", 20)  # fmt: skip
    assert "80 windows of 10 groups" in said
    code, text, err = call(monkeypatch, capsys, "predict", "result/model.json", "points.parquet")
    assert code == 0, err
    assert len(text.splitlines()) == 81


def stretches(n_records=6, seed=0):
    """Two channels at a point every ten seconds; intervals in seconds."""
    rng = np.random.default_rng(seed)
    rows, said = [], []
    for i in range(n_records):
        worn = np.repeat([0, 1, 0, 1] if i % 2 else [1, 0, 1, 0], 100)
        for channel in ("p", "q"):
            x = rng.normal(size=400) * (1 + 3 * worn)
            of = {"id": f"r{i}", "t": np.arange(400) * 10, "channel": channel}
            rows.append(pd.DataFrame({**of, "value": x}))
        said += [
            (f"r{i}", 10 * k, 10 * k + 990, ["well", "worn"][worn[k]]) for k in range(0, 400, 100)
        ]
    return pd.concat(rows), pd.DataFrame(said, columns=["id", "start", "end", "label"])


def test_intervals_are_in_times_also_where_a_column_names_the_channel(place, monkeypatch, capsys):
    """Numbers of points in place of times would give windows the classes of others."""
    frame, said = stretches()
    beside = frame.pivot(index=["id", "t"], columns="channel", values="value").reset_index()
    frame.to_csv("below.csv", index=False)
    beside.to_csv("beside.csv", index=False)
    said.to_csv("said.csv", index=False)
    words = ["--id", "id", "--time", "t", "--labels", "said.csv", "--window", 50, *OUT]
    by = {"below.csv": ["--channel", "channel", "--value", "value"], "beside.csv": []}
    models = []
    for data, more in by.items():
        code, told, err = call(monkeypatch, capsys, "signals", data, *words, *more)
        assert code == 0, err
        assert "error 0.0000" in told
        models.append(json.loads((place / "result/model.json").read_text())["models"])
    assert models[0] == models[1]
    one = SeriesTable.from_long(frame, time="t", channel="channel", values="value")
    other = SeriesTable.from_long(beside, time="t")
    assert all(np.array_equal(*both) for both in zip(one.times, other.times, strict=True))
    cuts = [cut_windows(table, 50, 50, intervals_of(said)) for table in (one, other)]
    assert cuts[0].y.tolist() == cuts[1].y.tolist()
    # Channels that were taken at other times have none in common.
    late = frame.assign(t=frame["t"] + 5 * (frame["channel"] == "q"))
    late.to_csv("late.csv", index=False)
    code, _, err = call(monkeypatch, capsys, "signals", "late.csv", *words, *by["below.csv"])
    assert code == 2
    assert "were not taken at the same times, and intervals hold for all" in err
    with pytest.warns(UserWarning, match="6 series, such as 'r0', have channels that were not"):
        table = SeriesTable.from_long(late, time="t", channel="channel", values="value")
    assert table.times is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SeriesTable.from_long(frame, time="t", channel="channel", values="value")


def small(n=20, size=40):
    rng = np.random.default_rng(0)
    worn = np.arange(n) % 2
    x = rng.normal(size=(n, size)) * (1 + 3 * worn)[:, None]
    of = {"id": np.repeat([f"s{i}" for i in range(n)], size), "t": np.tile(np.arange(size), n)}
    return pd.DataFrame(
        {**of, "x": x.ravel(), "state": np.repeat(worn, size), "one": "same"}
    ).assign(half=lambda frame: frame["t"] // 20)


BAD = {
    "priors of another class": (["--priors", "0=0.5,2=0.5"], "priors must name every class"),
    "priors that do not add up": (["--priors", "0=0.5,1=0.6"], "sum to 1"),
    "priors of nothing": (["--priors", "0=0,1=1"], "priors must be above 0"),
    "an unknown weight": (["--class-weight", "even"], "--class-weight must be 'balanced'"),
    "a weight of another class": (["--class-weight", "5=1"], "the classes are '0', '1'"),
    "a checkpoint nowhere": (["--checkpoint", "no/where"], "the folder 'no' does not exist"),
    "groups nowhere": (["--groups", "machine"], "--groups: no column 'machine'"),
    "one group": (["--groups", "one"], "all series are of one group in 'one'"),
    "a group by point": (["--groups", "half"], "series 's0' has two values in 'half'"),
    "groups that are the classes": (["--groups", "state"], "cannot be two things at once"),
    "two targets": (["--target", "state,one"], "series in files have one target"),
    "windows too long": (["--scores", "long.toml"], "no score has an answer on any"),
    "a score that leaves": (["--scores", "leaves.py"], "leaves.py failed: SystemExit"),
    "a label that is none": (["--scores", "label.py"], "label of a score: 'odd {q}'"),
    "odd widths": (["--scores", "widths.toml"], "widths must hold numbers or pairs"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_before_any_work(case, place, monkeypatch, capsys):
    words, sentence = BAD[case]
    small().to_csv("small.csv", index=False)
    (place / "long.toml").write_text('[[scores]]\nscore = "slope"\nwindow = [1000]\n')
    (place / "widths.toml").write_text('[[scores]]\nscore = "windows"\nwidths = [[30]]\n')
    (place / "leaves.py").write_text("raise SystemExit(0)\n")
    own = "from bayesieve.indicators import register_score\n@register_score('odd {q}')\n"
    (place / "label.py").write_text(own + "def odd(x):\n    return 1.0\n")
    base = ["--id", "id", "--time", "t", "--value", "x", "--out", "result", "--resamples", 0]
    base += [] if "--target" in words else ["--target", "state"]
    code, said, err = call(monkeypatch, capsys, "signals", "small.csv", *base, *words)
    assert (code, said) == (2, ""), err
    assert sentence in err
    assert "choosing among" not in err
    assert len([line for line in err.splitlines() if line.startswith("bayesieve: ")]) == 1
    assert not (place / "result").exists()


def test_select_refuses_priors_before_it_searches(place, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "y": ["u", "v"] * 30})
    frame.to_csv("table.csv", index=False)
    monkeypatch.setattr(
        "bayesieve.estimators.weighted.WeightedNaiveBayes.fit",
        lambda *_, **__: pytest.fail("fitted before the priors were judged"),
    )
    words = ["select", "table.csv", "--target", "y", "--out", "result", "--priors", "u=0.5,w=0.5"]
    code, _, err = call(monkeypatch, capsys, *words)
    assert code == 2
    assert "priors must name every class ('u', 'v'); 'w' is none of them" in err


def test_weights_by_class_are_those_of_python(place, monkeypatch, capsys):
    frame = small()
    frame.to_csv("small.csv", index=False)
    base = ["--id", "id", "--time", "t", "--value", "x", "--target", "state"]
    code, _, err = call(monkeypatch, capsys, "signals", "small.csv", *base, *OUT, "--class-weight",
                        "0=1,1=5")  # fmt: skip
    assert code == 0, err
    model = load_model("result/model.json")
    table = SeriesTable.from_long(frame, time="t", values=["x"])
    mine = signals(None, read_scores(["s.toml"]).scores)
    mine.estimator.set_params(class_weight={0: 1, 1: 5})
    mine.fit(table, frame.groupby("id", sort=False)["state"].first().to_numpy())
    np.testing.assert_array_equal(model.predict_proba(table), mine.predict_proba(table))


def test_series_with_missing_points_are_told(place, monkeypatch, capsys):
    wide = pd.DataFrame(small()["x"].to_numpy().reshape(20, 40)).add_prefix("t")
    wide.iloc[3:, 30:] = np.nan
    wide.assign(state=["a", "b"] * 10).to_csv("wide.csv", index=False)
    words = ["signals", "wide.csv", "--wide", "--target", "state", *OUT]
    code, _, err = call(monkeypatch, capsys, *words)
    assert code == 0, err
    assert "17 of 20 series, such as 3, have missing points: of the scores only dropouts" in err
    assert "a long table holds series of any lengths" in err
    wide.iloc[:3, 0] = np.nan
    wide.assign(state=["a", "b"] * 10).to_csv("wide.csv", index=False)
    code, _, err = call(monkeypatch, capsys, *words)
    assert code == 2
    assert "no score has an answer on any of the series" in err
