"""Labels of series, and windows of long records that never stand on both sides of a split."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from bayesieve import NaiveBayes
from bayesieve.data.series import (
    SeriesTable,
    cut_windows,
    intervals_of,
    labels_of,
    read_series_table,
)
from bayesieve.indicators import SCORES, Indicators


def record_frame(n_records=3, size=50, step=0.5):
    return pd.DataFrame(
        {
            "id": np.repeat([f"r{i}" for i in range(n_records)], size),
            "time": np.tile(np.arange(size) * step, n_records),
            "oil": np.arange(n_records * size, dtype=float),
            "fuel": -np.arange(n_records * size, dtype=float),
        }
    )


@pytest.mark.parametrize("form", [lambda x: x, pl.from_pandas])
def test_windows_are_cut_where_they_lie_in_one_interval(form):
    table = SeriesTable.from_long(form(record_frame()))
    rows = [("r0", 0.0, 9.5, "well"), ("r0", 10.0, 24.5, "worn"), ("r2", 5.0, 12.0, "worn")]
    intervals = intervals_of(form(pd.DataFrame(rows, columns=["id", "start", "end", "label"])))
    found = cut_windows(table, 10, 4, intervals)
    wanted = []
    for i in range(3):
        for first in range(0, 41, 4):
            for name, start, end, label in rows:
                if name == f"r{i}" and start <= first / 2 and (first + 9) / 2 <= end:
                    wanted.append(((name, first), label, i))
    assert list(found.table.ids) == [each[0] for each in wanted]
    assert found.y.tolist() == [each[1] for each in wanted]
    assert found.groups.tolist() == [each[2] for each in wanted]
    assert found.left_out == 33 - len(wanted)
    for ((_, first), _, i), x, y, t in zip(
        wanted, *found.table.values, found.table.times, strict=True
    ):
        assert x.tolist() == (-y).tolist() == list(range(50 * i + first, 50 * i + first + 10))
        assert t.tolist() == [point / 2 for point in range(first, first + 10)]


def test_points_are_times_where_there_are_none():
    found = cut_windows(read_series_table(np.arange(20.0)[None]), 5, 5)
    assert found.y is None
    assert found.left_out == 0
    assert list(found.table.ids) == [(0, 0), (0, 5), (0, 10), (0, 15)]
    rows = pd.DataFrame({"id": [0], "start": [5], "end": [9], "label": ["x"]})
    labelled = cut_windows(read_series_table(np.arange(20.0)[None]), 5, 1, intervals_of(rows))
    assert labelled.table.ids == ((0, 5),)
    assert labelled.left_out == 15


def test_irregular_times_are_told():
    frame = record_frame()
    table = SeriesTable.from_long(frame)
    assert table.irregular() == []
    frame.loc[60, "time"] += 0.1
    assert SeriesTable.from_long(frame).irregular() == ["r1"]
    dates = frame.assign(time=pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["time"], "h"))
    assert SeriesTable.from_long(dates).irregular() == ["r1"]


def test_a_record_s_own_level_leaks_only_without_groups():
    """Every record has levels and a class at random: nothing can be learnt, but the record."""
    rng = np.random.default_rng(0)
    levels = rng.choice([-1.0, 1.0], size=(30, 300, 1))
    classes = rng.permutation(np.arange(30) % 2)
    records = levels + 0.1 * rng.normal(size=(30, 300, 60))
    found = cut_windows(read_series_table(records), 20, 10)
    y = classes[found.groups]
    level = SCORES["highest"].over(thresholds=[0.0])
    pipe = make_pipeline(Indicators([level]), NaiveBayes())
    apart = cross_val_score(pipe, found.table, y, cv=GroupKFold(5), groups=found.groups)
    mixed = cross_val_score(pipe, found.table, y, cv=KFold(5, shuffle=True, random_state=0))
    assert 0.3 < apart.mean() < 0.7
    assert mixed.mean() > 0.95


def frame(**columns):
    return pd.DataFrame({"id": ["a", "b"], "label": [0, 1]} | columns)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (frame(id=["a", "c"]), "the labels name 'c', which is not among the series"),
        (frame(id=["a", "a"]), "labels: series 'a' has two, 0 and 1"),
        (frame(label=["x", None]), "labels: series 'b' has a row without a label"),
        (frame()[:1], "the series have 'b', which has no label"),
        (frame().rename(columns={"label": "class"}), "label must be one of 'id', 'class'"),
    ],
)
def test_labels_that_do_not_fit(given, message):
    assert labels_of(frame(), ["b", "a"]).tolist() == [1, 0]
    with pytest.raises(ValueError, match=message):
        labels_of(given, ["b", "a"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("r0", 3, 2, "x")], "intervals: one of 'r0' starts at 3 and ends at 2"),
        ([("r0", 0, 5, "x"), ("r0", 5, 9, "y")], "two of 'r0' overlap, 0 to 5 and 5 to 9"),
        (
            [("r9", 0, 5, "x"), ("r8", 0, 1, "x")],
            "'r8', which is not among the records, and 1",
        ),
        ([("r0", 0, 1, "x")], "no window of 10 points fits into the records and their intervals"),
        ([("r0", 0, 1, None)], "column 'label' has missing values"),
    ],
)
def test_intervals_that_do_not_fit(rows, message):
    table = SeriesTable.from_long(record_frame())
    with pytest.raises(ValueError, match=message):
        cut_windows(
            table, 10, 5, intervals_of(pd.DataFrame(rows, columns=["id", "start", "end", "label"]))
        )
    with pytest.raises(ValueError, match="window must be a whole number from 1; got 0"):
        cut_windows(table, 0, 5)
    with pytest.raises(ValueError, match="no window of 51 points fits"):
        cut_windows(table, 51, 5)
