"""Binary columns counted and fitted together say what they say one by one."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator

from bayesieve import NaiveBayes, load_model, save_model
from bayesieve.data.storage import pack_bits
from bayesieve.data.tables import read_table
from bayesieve.models.columns import BinarySpecs, BinaryTerms


def table(rng, n_rows, n_columns, missing):
    X = rng.integers(0, 2, (n_rows, n_columns)).astype(float)
    X[:, 0] = 1  # one value only
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
        X[:, 1] = np.nan
    return X


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [1.0, 0.0, 0.3, "mean"])
@pytest.mark.parametrize("n_rows", [3, 64, 65, 700])
def test_together_as_one_by_one(missing, weighted, smoothing, n_rows):
    rng = np.random.default_rng(n_rows)
    n_columns = 300 if n_rows == 65 else 70  # more than are taken at once, or fewer
    X = table(rng, n_rows, n_columns, missing)
    y = np.arange(n_rows) % 3
    weights = rng.random(n_rows) + 0.5 if weighted else None
    together = NaiveBayes(smoothing=smoothing).fit(X, y, weights)
    assert isinstance(together.fitted_.specs, BinarySpecs)
    # A column of texts beside them: the others are fitted one by one.
    mixed = X.astype(object)
    mixed[np.isnan(X)] = None
    mixed = np.column_stack([mixed, np.array(["a", "b"] * n_rows)[:n_rows]])
    single = NaiveBayes(smoothing=smoothing).fit(mixed, y, weights)
    assert isinstance(single.fitted_.specs, tuple)
    for one, other in zip(together.fitted_.problems, single.fitted_.problems, strict=True):
        for j in range(n_columns):
            assert np.array_equal(one.summary.statistics[j], other.summary.statistics[j])
            # The scale may differ by the column of texts; what is said is the same.
            a, b = one.columns[j].of(np.arange(3), 0), other.columns[j].of(np.arange(3), 0)
            assert np.array_equal(a.finite, b.finite)
            assert one.specs[j].levels.tolist() == other.specs[j].levels.tolist()
    restricted = single.fitted_.restrict(range(n_columns))
    if together.fitted_.only.scale == single.fitted_.only.scale:
        for a, b in zip(together.fitted_.only.tables, restricted.only.tables, strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("labels", [False, True])
def test_sparse_as_dense(labels):
    rng = np.random.default_rng(0)
    X = (rng.random((200, 50)) < 0.1).astype(float)
    y = rng.integers(0, 2, (200, 3)) if labels else rng.integers(0, 3, 200)
    sparse = NaiveBayes().fit(scipy.sparse.csr_array(X), y)
    dense = NaiveBayes().fit(X, y)
    assert np.array_equal(sparse.predict_proba(scipy.sparse.csr_array(X)), dense.predict_proba(X))
    assert isinstance(sparse.fitted_.problems[0].columns, BinaryTerms)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("smoothing", [1.0, 0.0, "mean"])
@pytest.mark.parametrize("sparse", [False, True])
def test_sums_of_all_columns_are_those_of_each(labels, smoothing, sparse):
    """Rows to predict of any type, with missing and unknown values, one or many."""
    rng = np.random.default_rng(1)
    X = (rng.random((90, 40)) < 0.3).astype(float)
    y = rng.integers(0, 2, (90, 2)) if labels else rng.integers(0, 3, 90)
    model = NaiveBayes(smoothing=smoothing).fit(scipy.sparse.csr_array(X) if sparse else X, y)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    odd = holes.copy()
    odd[:, ::7] += rng.integers(0, 3, odd[:, ::7].shape)
    odd[:, 1] = -0.0
    frame = pd.DataFrame(odd)
    frame[3] = ["0", "1", None] * 30
    frame.columns = frame.columns.map(str)
    for rows in (X, X.astype(bool), np.asfortranarray(X.astype(np.uint8)), holes, odd, frame):
        for some in (rows, rows[:1]):
            read = read_table(BaseEstimator(), some, reset=True)
            for problem, sums in zip(model.fitted_.problems, model.fitted_.sums(read), strict=True):
                said = [problem.speak(j, read.column(j)) for j in range(40)]
                assert np.array_equal(sums, problem.fixed_prior + sum(said))


def test_a_binary_column_of_nothing_known_is_named():
    X = np.array([[0, 1], [1, 0]] * 9)
    model = NaiveBayes().fit(X, [0, 1] * 9)
    with pytest.warns(UserWarning, match=r"no value that fit has seen in 'x1' \(got 2.0"):
        model.predict(np.column_stack([X[:, 0], np.full(18, 2)]))
    model.predict(np.full((3, 2), np.nan))  # missing is not unknown


def test_saved_and_loaded(tmp_path):
    X = np.random.default_rng(0).integers(0, 2, (60, 7))
    model = NaiveBayes().fit(X, np.arange(60) % 2)
    save_model(model, tmp_path / "model.json")
    assert np.array_equal(
        load_model(tmp_path / "model.json").predict_proba(X), model.predict_proba(X)
    )


def test_bits_are_the_cells():
    rng = np.random.default_rng(0)
    for n_rows in (1, 7, 8, 63, 64, 65, 130):
        cells = rng.integers(0, 2, (3, n_rows)).astype(np.uint8)
        words = pack_bits(cells)
        for c in range(3):
            bits = [int(words[c, i // 64]) >> (i % 64) & 1 for i in range(64 * words.shape[1])]
            assert bits == [*cells[c].tolist(), *[0] * (len(bits) - n_rows)]


def test_a_part_of_the_columns_is_like_the_whole():
    specs = BinarySpecs(list("abcd"), presence=True)
    assert [spec.name for spec in specs[1:3]] == ["b", "c"]
    assert all(spec.presence for spec in specs)
    with pytest.raises(IndexError):
        specs[4]
