"""One reading for every type, order, library and width: the same numbers, codes and results."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator

from bayesieve import NaiveBayes, rank
from bayesieve.data.columns import encode, learn
from bayesieve.data.tables import read_table
from bayesieve.models import MODELS
from bayesieve.models.columns import choose_models, read_column

TYPES = ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">i4", ">f8"]
ORDERS = ["rows", "columns", "strided", "read-only"]
LIBRARIES = ["array", "pandas", "polars", "arrow"]


def ordered(X, order):
    """The same cells in memory in another order."""
    if order == "columns":
        return np.asfortranarray(X)
    if order == "strided":
        wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
        return wide[::2, ::3]
    if order == "read-only":
        X = X.copy()
        X.flags.writeable = False
    return X


def framed(X, library):
    """A table of a library with the same numbers."""
    names = [f"x{j}" for j in range(X.shape[1])]
    if library == "array":
        return X
    native = X.astype(X.dtype.newbyteorder("="))
    native = native.astype(np.float32) if native.dtype == np.float16 else native
    if library == "pandas":
        return pd.DataFrame(native, columns=names)
    columns = {name: np.ascontiguousarray(native[:, j]) for j, name in enumerate(names)}
    if library == "polars":
        return pl.DataFrame(columns)
    return pa.table(columns)


@st.composite
def tables(draw):
    """Cells of columns of every kind, and their type."""
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    n_rows = draw(st.integers(1, 150))
    n_columns = draw(st.sampled_from([1, 2, 5, 67]))
    kinds = {
        "binary": st.sampled_from([0, 1]),
        "lone": st.just(1),
        "few": st.integers(0, 6),
        "edge": st.sampled_from([0, 253, 254, 255]),
        "wide": st.integers(-3, 400),
        "halves": st.sampled_from([0.0, -0.0, 0.5, 1.0]),
        "missing": st.sampled_from([0.0, 1.0, np.nan]),
        "all-missing": st.just(np.nan),
        "late": None,
    }
    X = np.empty((n_rows, n_columns))
    for j in range(n_columns):
        kind = draw(st.sampled_from(sorted(kinds)))
        cells = kinds[kind]
        if cells is None:  # something else, but beyond the rows that are scouted
            X[:, j] = np.arange(n_rows) % 2
            X[-1, j] = draw(st.sampled_from([7, 300, 0.25, np.nan, -0.0]))
        else:
            X[:, j] = draw(
                hnp.arrays(np.float64, n_rows, elements=cells, fill=st.nothing())
                if n_rows * n_columns < 400
                else st.builds(
                    lambda some: np.resize(some, n_rows), st.lists(cells, min_size=1, max_size=9)
                )
            )
    if dtype.kind == "f":
        return X.astype(dtype)
    known = np.nan_to_num(X, nan=1.0)
    if dtype.kind == "b":
        return known > 0.5
    info = np.iinfo(dtype)
    return np.clip(np.floor(known), max(info.min, -9), min(info.max, 1000)).astype(dtype)


@given(tables(), st.sampled_from(ORDERS), st.sampled_from(LIBRARIES))
@settings(max_examples=100, deadline=None)
def test_columns_are_what_numpy_says(X, order, library):
    given = framed(ordered(X, order), library)
    table = read_table(BaseEstimator(), given, reset=True)
    plain = X.astype(np.float64)
    models = choose_models("auto", table, "gaussian")
    plainly = choose_models("auto", table)
    for j in {*range(min(X.shape[1], 8)), X.shape[1] - 1}:
        column = plain[:, j]
        assert np.array_equal(table.column(j), column, equal_nan=True)
        values, codes = table.coded(j)
        back = values if codes is None else values[codes]
        assert np.array_equal(back, column, equal_nan=True)
        if codes is not None:
            known = np.unique(column[~np.isnan(column)])
            assert np.array_equal(values[:-1], known)
            assert np.isnan(values[-1])
        binary = bool((np.isin(column, [0, 1]) | np.isnan(column)).all())
        assert models[j] == ("bernoulli" if binary else "gaussian")
        assert plainly[j] == ("bernoulli" if binary else "curve")
        for model in {"categorical", "gaussian", models[j]}:
            discrete = model != "gaussian"
            spec, read = read_column(table, j, model)
            n_codes = MODELS[model].grid_codes
            wanted = learn(table.names[j], model, column, discrete, grid_codes=n_codes)
            assert np.array_equal(read, encode(wanted, column), equal_nan=not discrete)
            assert spec.n_codes == wanted.n_codes
            if wanted.levels is not None:
                assert spec.levels.tobytes() == wanted.levels.tobytes()  # zeros below zero too


@given(tables(), st.sampled_from(ORDERS), st.sampled_from(LIBRARIES), st.randoms())
@settings(max_examples=25, deadline=None)
def test_fits_and_rankings_do_not_see_the_type(X, order, library, random):
    y = np.arange(len(X)) % 3
    if len(X) < 3:
        return
    random.shuffle(y)
    plain = X.astype(np.float64)
    given = framed(ordered(X, order), library)
    names = None if library == "array" else [f"x{j}" for j in range(X.shape[1])]
    twin = plain if names is None else pd.DataFrame(plain, columns=names)
    one, other = NaiveBayes().fit(given, y), NaiveBayes().fit(twin, y)
    assert one.predict_proba(given).tobytes() == other.predict_proba(twin).tobytes()
    for method in ("mutual-information", "mrmr"):
        assert np.array_equal(rank(given, y, method).order, rank(twin, y, method).order)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("n_columns", [1, 3, 255, 256, 300])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_infinity_is_named(library, n_columns, dtype):
    X = np.zeros((80, n_columns), dtype)
    X[70, n_columns - 1] = -np.inf
    with pytest.raises(ValueError, match="infinity"):
        NaiveBayes().fit(framed(X, library), np.arange(80) % 2)


def test_the_users_table_stays_as_it_is():
    for dtype in (np.uint8, np.float64):
        X = np.asfortranarray(np.random.default_rng(0).integers(0, 2, (100, 4)).astype(dtype))
        if dtype == np.float64:
            X[3, 1] = np.nan
        before = X.copy()
        NaiveBayes().fit(X, np.arange(100) % 2).predict(X)
        assert np.array_equal(X, before, equal_nan=True)


def test_columns_out_of_order():
    X = np.random.default_rng(0).normal(size=(50, 200))
    table = read_table(BaseEstimator(), X, reset=True)
    order = [*range(100), 7, 150, 151, 3, 199, 198, 0, 1, 2, 64, 65, 66]
    for j in order:
        assert np.array_equal(table.column(j), X[:, j])
