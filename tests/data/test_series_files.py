"""A folder of files, one series each."""

import numpy as np
import pandas as pd
import pytest

from bayesieve.checks import BadUseError
from bayesieve.data.files.series import read_series_folder


def write(folder, name, n, **columns):
    rng = np.random.default_rng(n)
    frame = pd.DataFrame({"when": np.arange(n) / 4, "oil": rng.normal(size=n)} | columns)
    if name.endswith(".parquet"):
        frame.to_parquet(folder / name)
    else:
        frame.to_csv(folder / name, index=False)
    return frame


def test_a_file_is_a_series(tmp_path):
    frames = {
        name.partition(".")[0]: write(tmp_path, name, n)
        for name, n in (("b.csv", 30), ("a.parquet", 20), ("c.csv", 1))
    }
    (tmp_path / "notes.txt").write_text("not a series")
    table = read_series_folder(tmp_path, time="when")
    assert table.ids == ("a", "b", "c")
    assert table.channels == ("oil",)
    for name, x, t in zip(table.ids, table.values[0], table.times, strict=True):
        np.testing.assert_array_equal(x, frames[name]["oil"])
        np.testing.assert_array_equal(t, frames[name]["when"])
    both = read_series_folder(tmp_path)
    assert both.channels == ("when", "oil")
    assert read_series_folder(tmp_path, values=["oil"]).channels == ("oil",)


def test_folders_that_hold_no_series(tmp_path):
    with pytest.raises(BadUseError, match="has no file that ends in"):
        read_series_folder(tmp_path)
    with pytest.raises(BadUseError, match="is not a folder"):
        read_series_folder(tmp_path / "nowhere")
    write(tmp_path, "a.csv", 5)
    with pytest.raises(BadUseError, match=r"a\.csv has the columns when, oil; 'fuel' is not there"):
        read_series_folder(tmp_path, values=["fuel"])
    write(tmp_path, "b.csv", 5, fuel=1.0)
    with pytest.raises(BadUseError, match=r"b\.csv has the columns .*; the files before"):
        read_series_folder(tmp_path)
