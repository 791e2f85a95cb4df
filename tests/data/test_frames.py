"""Frames are read alike at every width: what a column becomes does not depend on its neighbours."""

import datetime as dt
import decimal
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from bayesieve import NaiveBayes
from bayesieve.data.files.formats import read_data
from bayesieve.data.tables import read_table
from bayesieve.engine import pack

WIDTHS = (1, 255, 256, 300)
NAN = math.nan
# Beyond 2^53 float64 rounds once; a detour over float32 would round more.
LARGE = [2**53 + 1, -7, 0, 3]
DAY = dt.date(2020, 1, 2)
MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5)
SPAN = dt.timedelta(days=1, seconds=2)

# What is written: how the library holds it, and what it must become (None: it is refused).
Expected = list[float] | list[str | None] | None


def _numbers(*values: float | None) -> list[float]:
    return [NAN if value is None else float(value) for value in values]


def _pandas() -> dict[str, tuple[pd.Series, Expected]]:
    found: dict[str, tuple[pd.Series, Expected]] = {}
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64"):
        found[name] = pd.Series([3, 1, 0, 7], dtype=name), _numbers(3, 1, 0, 7)
    found["large"] = pd.Series(LARGE), _numbers(*LARGE)
    found["large arrow"] = pd.Series(LARGE, dtype="int64[pyarrow]"), _numbers(*LARGE)
    found["large nullable"] = (
        pd.Series([*LARGE[:3], None], dtype="Int64"),
        _numbers(*LARGE[:3], None),
    )
    found["float16"] = pd.Series([0.5, 1, 0, 2], dtype="float16"), _numbers(0.5, 1, 0, 2)
    found["nan"] = pd.Series([0.1, NAN, 0, 2]), _numbers(0.1, None, 0, 2)
    found["long double"] = pd.Series(np.array([0.5, 1, 0, 2], np.longdouble)), [0.5, 1.0, 0.0, 2.0]
    found["bool"] = pd.Series([True, False, True, True]), _numbers(1, 0, 1, 1)
    found["sparse"] = pd.Series(pd.arrays.SparseArray([0, 4, 0, 1])), _numbers(0, 4, 0, 1)
    for name in ("Int8", "Int64", "UInt32", "Float32", "Float64", "int16[pyarrow]"):
        found[name] = pd.Series([3, None, 0, 7], dtype=name), _numbers(3, None, 0, 7)
        found[f"{name} complete"] = pd.Series([3, 1, 0, 7], dtype=name), _numbers(3, 1, 0, 7)
    for name in ("boolean", "bool[pyarrow]"):
        found[name] = pd.Series([True, None, False, True], dtype=name), _numbers(1, None, 0, 1)
    for name in ("str", "string", "string[pyarrow]"):
        found[name] = pd.Series(["b", None, "1", ""], dtype=name), ["b", None, "1", ""]
    found["objects"] = pd.Series([3, None, True, 0.5], dtype=object), _numbers(3, None, 1, 0.5)
    found["nothing"] = pd.Series([None] * 4, dtype=object), _numbers(*[None] * 4)
    for name, values in (
        ("integer categories", [3, 1, 3, 20]),
        ("truth categories", [True, False, True, True]),
        ("text categories", ["b", "1", "b", "a"]),
    ):
        texts: list[str | None] = [str(value) for value in values]
        found[name] = pd.Series(values, dtype="category"), texts
    holes = pd.Series(pd.Categorical([3, None, 1, 3], categories=[1, 3, 5]))
    found["integer categories with a hole"] = holes, ["3", None, "1", "3"]
    encoded = pd.arrays.ArrowExtensionArray(pa.array([3, 1, 3, 20]).dictionary_encode())
    found["dictionary"] = pd.Series(encoded), ["3", "1", "3", "20"]
    for name, odd in (("dates", MOMENT), ("spans", SPAN), ("periods", pd.Period("2020"))):
        found[name] = pd.Series([odd] * 4), None
    found["complex"] = pd.Series([1j] * 4), None
    return found


def _polars() -> dict[str, tuple[pl.Series, Expected]]:
    found: dict[str, tuple[pl.Series, Expected]] = {}
    numeric = ("Int8", "Int16", "Int32", "Int64", "Int128", "UInt8", "UInt64", "Float32", "Float64")
    for name in numeric:
        dtype = getattr(pl, name)
        found[name] = pl.Series([3, 1, 0, 7], dtype=dtype), _numbers(3, 1, 0, 7)
        found[f"{name} with a hole"] = (
            pl.Series([3, None, 0, 7], dtype=dtype),
            _numbers(3, None, 0, 7),
        )
    found["large"] = pl.Series(LARGE), _numbers(*LARGE)
    tenths = pl.Series([decimal.Decimal("0.1"), None, decimal.Decimal(2), decimal.Decimal(0)])
    found["decimals"] = tenths, _numbers(0.1, None, 2, 0)
    found["bool"] = pl.Series([True, False, True, True]), _numbers(1, 0, 1, 1)
    found["bool with a hole"] = pl.Series([True, None, False, True]), _numbers(1, None, 0, 1)
    found["nothing"] = pl.Series([None] * 4, dtype=pl.Null), _numbers(*[None] * 4)
    found["texts"] = pl.Series(["b", None, "1", ""]), ["b", None, "1", ""]
    found["categories"] = (
        pl.Series(["3", None, "1", "3"], dtype=pl.Categorical),
        ["3", None, "1", "3"],
    )
    found["enum"] = pl.Series(["3", "1", "1", "3"], dtype=pl.Enum(["3", "1"])), ["3", "1", "1", "3"]
    for name, odd in (
        ("dates", DAY), ("moments", MOMENT), ("spans", SPAN), ("times", dt.time(1, 2)),
        ("bytes", b"a"), ("lists", [1, 2]), ("structs", {"a": 1}),
    ):  # fmt: skip
        found[name] = pl.Series([odd] * 4), None
    found["arrays"] = pl.Series([[1.0, 2.0]] * 4, dtype=pl.Array(pl.Float64, 2)), None
    return found


def _arrow() -> dict[str, tuple[pa.Array, Expected]]:
    found: dict[str, tuple[pa.Array, Expected]] = {}
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64"):
        dtype = getattr(pa, name)()
        found[name] = pa.array([3, 1, 0, 7], dtype), _numbers(3, 1, 0, 7)
        found[f"{name} with a hole"] = pa.array([3, None, 0, 7], dtype), _numbers(3, None, 0, 7)
    found["large"] = pa.array(LARGE), _numbers(*LARGE)
    found["large with a hole"] = pa.array([*LARGE[:3], None]), _numbers(*LARGE[:3], None)
    tenths = pa.array([decimal.Decimal("0.1"), None, decimal.Decimal(2), decimal.Decimal(0)])
    found["decimals"] = tenths, _numbers(0.1, None, 2, 0)
    found["bool"] = pa.array([True, False, True, True]), _numbers(1, 0, 1, 1)
    found["bool with a hole"] = pa.array([True, None, False, True]), _numbers(1, None, 0, 1)
    found["nothing"] = pa.nulls(4), _numbers(*[None] * 4)
    for name, dtype in (("texts", pa.string()), ("large texts", pa.large_string())):
        found[name] = pa.array(["b", None, "1", ""], dtype), ["b", None, "1", ""]
    whole = pa.array([3, 1, 3, 20]).dictionary_encode()
    found["dictionary of integers"] = whole, ["3", "1", "3", "20"]
    holes = pa.array([3, None, 3, 20], pa.int8()).dictionary_encode()
    found["dictionary with a hole"] = holes, ["3", None, "3", "20"]
    found["dictionary of texts"] = pa.array(list("baab")).dictionary_encode(), list("baab")
    for name, odd in (
        ("dates", DAY), ("moments", MOMENT), ("spans", SPAN), ("times", dt.time(1, 2)),
        ("bytes", b"a"), ("lists", [1, 2]), ("structs", {"a": 1}),
    ):  # fmt: skip
        found[name] = pa.array([odd] * 4), None
    return found


LIBRARIES = {
    "pandas": (_pandas(), lambda columns: pd.DataFrame(columns)),
    "polars": (_polars(), lambda columns: pl.DataFrame(columns)),
    "pyarrow": (_arrow(), lambda columns: pa.table(columns)),
}
CASES = [(library, kind) for library, (kinds, _) in LIBRARIES.items() for kind in kinds]


def _read(library: str, kinds: list[str]) -> list[np.ndarray]:
    known, frame = LIBRARIES[library]
    X = frame({f"c{j}": known[kind][0] for j, kind in enumerate(kinds)})
    table = read_table(BaseEstimator(), X, reset=True)
    return [table.column(j) for j in range(len(kinds))]


def _check(column: np.ndarray, expected: Expected) -> None:
    assert expected is not None
    if any(isinstance(value, str) for value in expected):
        assert column.dtype == object
        assert column.tolist() == expected
    else:
        assert column.dtype == np.float64
        np.testing.assert_array_equal(column, np.array(expected, float))


@pytest.mark.parametrize("width", [1, 256])  # the others below, with neighbours
@pytest.mark.parametrize(("library", "kind"), CASES)
def test_one_reading_for_every_width(library, kind, width):
    expected = LIBRARIES[library][0][kind][1]
    if expected is None:
        with pytest.raises(TypeError, match="X column 'c0'"):
            _read(library, [kind] * width)
        return
    for column in _read(library, [kind] * width):
        _check(column, expected)


@pytest.mark.parametrize(
    ("library", "kind", "plain"),
    [
        (*case, plain)
        for i, case in enumerate(CASES)
        for plain in ("float32", ("int8", "float64")[i % 2])
    ],
)
def test_one_column_among_many_numbers(library, kind, plain):
    known = LIBRARIES[library][0]
    plain = plain if plain in known else plain.capitalize()
    expected = known[kind][1]
    kinds = [*[plain] * 200, kind, *[plain] * 99]
    if expected is None:
        with pytest.raises(TypeError, match="X column 'c200'"):
            _read(library, kinds)
        return
    columns = _read(library, kinds)
    _check(columns[200], expected)
    _check(columns[299], known[plain][1])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_neighbours_change_nothing(data):
    library = data.draw(st.sampled_from(sorted(LIBRARIES)))
    known = LIBRARIES[library][0]
    few = data.draw(st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=4))
    width = data.draw(st.sampled_from(WIDTHS))
    kinds = [few[j % len(few)] for j in range(width)]
    refused = [j for j, kind in enumerate(kinds) if known[kind][1] is None]
    if refused:
        with pytest.raises(TypeError, match=f"X column 'c{refused[0]}'"):
            _read(library, kinds)
        return
    for kind, column in zip(kinds, _read(library, kinds), strict=True):
        _check(column, known[kind][1])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_integer_categories_are_categories_in_wide_frames_too(library, width):
    values = [3, 1, 3, 20, 1, 20]
    column = pa.array(values).dictionary_encode()
    columns = {f"c{j}": column for j in range(width)}
    X = pa.table(columns) if library == "pyarrow" else pa.table(columns).to_pandas()
    model = NaiveBayes().fit(X, [0, 1, 0, 0, 1, 1])
    assert set(model.feature_models_) == {"levels"}


@pytest.mark.parametrize("width", WIDTHS)
def test_infinity_is_named_at_every_width(width):
    columns = {f"c{j}": [0.0, 1.0, math.inf] if j == width - 1 else [0, 1, 2] for j in range(width)}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns, strict=False), pa.table(columns)):
        with pytest.raises(ValueError, match=rf"infinity \(column 'c{width - 1}', row 2\)"):
            read_table(BaseEstimator(), frame, reset=True)


@pytest.mark.parametrize("index", [None, ["one", "two"]])
def test_row_labels_of_pandas_are_no_column(tmp_path, index):
    frame = pd.DataFrame({"a": [3, 1, 2], "b": ["x", "y", "x"]}, index=[7, 5, 9])
    if index is not None:
        frame.index = pd.MultiIndex.from_tuples([(1, 2), (3, 4), (5, 6)])
    frame.to_parquet(tmp_path / "table.parquet")
    assert "__index_level_0__" in pl.read_parquet(tmp_path / "table.parquet").columns
    assert read_data(tmp_path / "table.parquet").names == ["a", "b"]
    packed = pack(tmp_path / "table.parquet", target="b", identifiers=True)
    assert list(packed.names) == ["a"]
