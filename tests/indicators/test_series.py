"""Series in every form that people have, and several channels."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from bayesieve import NaiveBayes
from bayesieve.indicators import SCORES, Indicators, Score, SeriesTable


def signals(n=12, size=60, seed=0):
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(n, size))
    found[n // 2 :, size // 2 :] += 4
    return found


def long_frame(X, make=pd.DataFrame):
    """One row a point; X is series x channels x points."""
    n, n_channels, size = X.shape
    columns = {"id": np.repeat([f"engine {i}" for i in range(n)], size)}
    columns["time"] = np.tile(np.arange(size) * 0.5, n)
    names = ["oil", "fuel", "air"][:n_channels]
    columns |= {name: X[:, k].ravel() for k, name in enumerate(names)}
    return make(columns)


@pytest.mark.parametrize(
    "form",
    [
        lambda X: [list(x) for x in X],
        lambda X: list(X),
        lambda X: X[:, None],
        lambda X: [x[None] for x in X],
        pd.DataFrame,
        lambda X: pl.DataFrame(X, schema=[f"t{i}" for i in range(X.shape[1])]),
        lambda X: long_frame(X[:, None]),
        lambda X: long_frame(X[:, None], pl.DataFrame),
        lambda X: pl.DataFrame(long_frame(X[:, None], pl.DataFrame)).to_arrow(),
        lambda X: SeriesTable.from_long(long_frame(X[:, None])),
        lambda X: (
            long_frame(X[:, None])
            .rename(columns={"oil": "value"})
            .assign(channel="oil")[["channel", "value", "time", "id"]]
        ),
    ],
)
@pytest.mark.parametrize("scores", [None, ["welch", "slope", "windows"]])
def test_one_channel_is_the_same_in_every_form(form, scores):
    X = signals()
    plain = Indicators(scores)
    wanted = plain.fit_transform(X)
    indicators = Indicators(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(indicators.fit_transform(form(X)), wanted)
        np.testing.assert_array_equal(plain.transform(form(X)), wanted)
    assert indicators.names_ == plain.names_


def test_several_channels_are_each_as_if_alone():
    X = np.stack([signals(seed=0), signals(seed=1)[::-1]], axis=1)
    scores = ["windows", "slope", "lost-correlation"]
    frame = long_frame(X)
    tall = frame.melt(["id", "time"], var_name="channel").sample(frac=1, random_state=0)
    both = Indicators(scores, channels=["oil", "fuel"])
    wanted = both.fit_transform(X)
    assert both.channels_ == ("oil", "fuel")
    for k, name in enumerate(both.channels_):
        alone = Indicators(scores[:2])
        table = alone.fit_transform(X[:, k])
        mine = [both.names_.index(f"{name}: {each}") for each in alone.names_]
        np.testing.assert_array_equal(wanted[:, mine], table)
    assert sum(each.channels == ("oil", "fuel") for each in both.indicators_) == 8
    np.testing.assert_array_equal(both.transform(frame), wanted)
    np.testing.assert_array_equal(both.transform(frame[["fuel", "id", "oil", "time"]]), wanted)
    np.testing.assert_array_equal(Indicators(scores).fit_transform(frame), wanted)
    with pytest.warns(UserWarning, match=r"12 series, the first 'engine \d+', did not come in"):
        read = SeriesTable.from_long(tall, channel="channel", values="value")
    order = [read.ids.index(f"engine {i}") for i in range(12)]
    np.testing.assert_array_equal(both.transform(read[order]), wanted)
    for given in (X[:, :1], X[:, [0, 1, 1]], frame.rename(columns={"oil": "water"})):
        with pytest.raises(ValueError, match="series must have the channels that fit saw"):
            both.transform(given)


def test_scikit_learn_takes_a_table_apart():
    X = np.stack([signals(40), signals(40, seed=1)], axis=1)
    table = SeriesTable.from_long(long_frame(X))
    pipe = make_pipeline(Indicators(["welch", "difference"]), NaiveBayes())
    y = np.arange(40) >= 20
    assert cross_val_score(pipe, table, y).mean() > 0.9
    assert table.shape == (40, 2)
    assert table[3].ids == ("engine 3",)
    assert table[np.arange(40) > 37].ids == ("engine 38", "engine 39")
    np.testing.assert_array_equal(table[-1].values[1][0], X[39, 1])


def test_channels_of_unequal_length_and_missing_ones():
    rows = [("a", "x", t, t) for t in range(40)] + [("a", "y", t, 1.0) for t in range(30)]
    rows += [("b", "x", t, -t) for t in range(40)]
    frame = pd.DataFrame(rows, columns=["id", "channel", "time", "value"])
    slope = SCORES["slope"].over(window=[0], thresholds=[0.5])
    both = SCORES["difference"].over(window=[1], thresholds=[0.5])
    indicators = Indicators([slope, both])
    table = indicators.fit_transform(frame)
    np.testing.assert_array_equal(table, [[1, 0, np.nan], [1, np.nan, np.nan]])
    assert indicators.names_[0] == "x: slope (window=0) > 0.5"
    assert indicators.indicators_[2].sentence == (
        "Channels differ (x and y): at least one 1-point window, absolute mean difference > 0.5"
    )


def frame(**columns):
    return pd.DataFrame({"id": [1, 1, 2], "time": [1, 2, 1], "value": [0.1, 0.2, 0.3]} | columns)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (frame(time=[1, 1, 1]), "time: series 1 has 1 twice"),
        (frame(time=["1", "2", "1"]), "time: column 'time' must hold numbers or dates"),
        (frame(time=[1, None, 3]), "time: column 'time' has missing values"),
        (frame(id=["a", None, "b"]), "id: column 'id' has missing values"),
        (frame(value=["a", "b", "c"]), "values: column 'value' must hold numbers"),
        (frame()[["id", "time"]], "values must name the columns of values; got none"),
        (frame()[:0], "series is empty"),
        (frame().drop(columns="id").assign(name="x"), "column 'name' holds no numbers. A wide"),
        (frame(id=1, channel=list("aab"), time=[1, 1, 1]), "time: series 1 has 1 twice"),
    ],
)
@pytest.mark.parametrize("form", [lambda x: x, pl.from_pandas])
def test_a_table_that_is_no_table_of_series(given, message, form):
    with pytest.raises((ValueError, TypeError), match=message):
        Indicators(["slope"]).fit(form(given))


def test_names_that_are_not_there():
    for options, message in (
        ({"id": "ids"}, "id must be one of .*; got 'ids'. Did you mean 'id'"),
        ({"time": "when"}, "time must be one of"),
        ({"values": ["valu"]}, "Did you mean 'value'"),
        ({"channel": "time", "values": ["value", "id"]}, "values must name one column"),
    ):
        with pytest.raises(ValueError, match=message):
            SeriesTable.from_long(frame(), **options)
    for channels in ("oil", ["a"], ["a", "a"]):
        with pytest.raises(ValueError, match="channels must"):
            Indicators(["slope"], channels=channels).fit(np.zeros((3, 2, 9)))
    with pytest.raises(ValueError, match="'ratio' looks at 2 channels together; the series have 1"):
        Indicators(["ratio"]).fit(np.zeros((3, 9)))


def test_dates_order_points_and_a_missing_value_is_missing():
    when = pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-03"])
    points = pd.DataFrame({"id": 7, "time": when, "oil": [2.0, 1.0, None]})
    with pytest.warns(UserWarning, match="1 series, the first 7, did not come in the order"):
        read = SeriesTable.from_long(points)
    np.testing.assert_array_equal(read.values[0][0], [1.0, 2.0, np.nan])
    assert read.ids == (7,)
    by_rows = SeriesTable.from_long(points.drop(columns="time"), time=None)
    np.testing.assert_array_equal(by_rows.values[0][0], [2.0, 1.0, np.nan])
    with pytest.raises(ValueError, match="read-only"):
        read.values[0][0][0] = 3.0


def test_all_missing_and_single_points_are_missing_not_errors():
    table = Indicators(["slope", "welch", "spikes"]).fit_transform(
        [np.full(50, np.nan), np.ones(1), np.arange(50.0)]
    )
    assert np.isnan(table[0]).all()
    assert np.isfinite(table[2]).all()


def test_a_score_of_two_channels_of_ones_own():
    lead = Score("lead", lambda a, b, by: float(np.mean(a[by:] - b[:-by])), {"by": [1, 3]}, (0.5,))
    twice = Score("gap", lambda a, b: abs(a.mean() - b.mean()), thresholds=(1.0,), n_channels=2)
    X = np.stack([signals(), signals() + 2], axis=1)
    indicators = Indicators([twice]).fit(X)
    assert indicators.names_ == ["channel 0, channel 1: gap > 1"]
    assert indicators.transform(X).ravel().tolist() == [1] * 12
    assert indicators.fired(X[0], indicators.names_) == {indicators.names_[0]: [(0, 59)]}
    with pytest.raises(ValueError, match=r"score 'lead \(by=1\)' failed"):
        Indicators([lead]).fit(X)
