"""Series in files, all at once and some at a time."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesieve.checks import BadUseError
from bayesieve.data.files.series import as_times, read_series_file, resolve_form, series_parts
from bayesieve.data.series import SeriesForm


def points(n=12, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, n)
    frame = pd.DataFrame({"unit": np.repeat([f"{i:02d}" for i in range(n)], sizes)})
    frame["t"] = np.concatenate([np.arange(size) for size in sizes]) / 4
    frame["a"], frame["b"] = rng.normal(size=(2, len(frame)))
    return frame


def same(one, other):
    assert one.ids == other.ids
    assert one.channels == other.channels
    for mine, theirs in zip(one.values, other.values, strict=True):
        for x, z in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(x, z)


def joined(parts):
    """All parts as lists: the slow twin of reading everything."""
    tables = [part.table for part in parts]
    every = zip(*(table.values for table in tables), strict=True)
    values = tuple([x for mine in lists for x in mine] for lists in every)
    ids = tuple(name for table in tables for name in table.ids)
    return type(tables[0])(values, tables[0].channels, ids)


@pytest.mark.parametrize("most_rows", [1, 7, 50, 10**6])
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_parts_are_the_whole(ending, most_rows, tmp_path):
    frame = points()
    path = tmp_path / f"x.{ending}"
    table = pl.from_pandas(frame)
    {"csv": table.write_csv, "parquet": table.write_parquet, "arrow": table.write_ipc}[ending](path)
    form = resolve_form(path, SeriesForm("long", "unit", "t"))
    assert form.values == ("a", "b")
    whole = read_series_file(path, form).table
    for name, x in zip(whole.ids, whole.values[1], strict=True):
        np.testing.assert_array_equal(x, frame.loc[frame.unit == name, "b"])
    parts = list(series_parts(path, form, most_rows))
    same(joined(parts), whole)
    if ending == "parquet" and most_rows < 50:
        assert len(parts) > 5
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "mixed.parquet")
    with pytest.warns(UserWarning, match="were sorted"):
        (mixed,) = series_parts(tmp_path / "mixed.parquet", form, most_rows)
    assert sorted(mixed.table.ids) == sorted(whole.ids)


def test_wide_tables_and_folders_in_parts(tmp_path):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(9, 20))).rename(columns=str)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    form = resolve_form(tmp_path / "wide.csv", SeriesForm("wide"))
    parts = list(series_parts(tmp_path / "wide.csv", form, 4))
    assert [len(part.table) for part in parts] == [4, 4, 1]
    same(joined(parts), read_series_file(tmp_path / "wide.csv", form).table)
    np.testing.assert_array_equal(np.stack(joined(parts).values[0]), wide)
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, part in points().groupby("unit"):
        part[["t", "a"]].to_csv(folder / f"{name}.csv", index=False)
    form = resolve_form(folder, SeriesForm("folder", time="t"))
    same(joined(series_parts(folder, form)), read_series_file(folder, form).table)
    points()[["t", "a"]].to_parquet(folder / "03.parquet")
    with pytest.raises(BadUseError, match="two files called '03'"):
        resolve_form(folder, form)


def test_forms_as_plain_data():
    form = SeriesForm("long", "unit", "t", None, ("a", "b"), 50, 25)
    assert SeriesForm.from_dict(form.to_dict()) == form
    assert form.to_dict()["values"] == ["a", "b"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", ""], pl.Float64),
        (["2024-01-01", "2024-01-02"], pl.Datetime),
        (["2024-01-01T12:00:00", "2024-01-02T12:00:01"], pl.Datetime),
        (["2024-01-01 12:00:00+02:00", "2024-01-02 12:00:01+02:00"], pl.Datetime),
        ([1, 2], pl.Float64),
    ],
)
def test_times(cells, kind):
    found = as_times(pl.Series("t", cells))
    assert found.dtype == kind
    if kind == pl.Datetime:
        assert found.dtype.time_zone is None


@pytest.mark.parametrize("cells", [["soon"], ["2024-01-01", "later"], ["1", "2024-01-01"], [True]])
def test_what_is_no_time(cells):
    with pytest.raises(BadUseError, match="'t'"):
        as_times(pl.Series("t", cells))


def test_columns_that_cannot_be(tmp_path):
    path = tmp_path / "x.csv"
    points().to_csv(path, index=False)
    for form, sentence in {
        SeriesForm("long", "machine"): "there is no column 'machine'",
        SeriesForm("long", "unit", "unit"): "'unit' cannot be two things at once",
        SeriesForm("long", "unit", "t", values=("t",)): "'t' cannot hold values too",
        SeriesForm("long", "unit", "t", channel="a", values=("b", "c")): "no column 'c'",
        SeriesForm("long", "a", "t", channel="unit"): None,
    }.items():
        if sentence is None:
            assert resolve_form(path, form).values == ("b",)
            continue
        with pytest.raises(BadUseError, match=sentence):
            resolve_form(path, form)
