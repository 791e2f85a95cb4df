"""Families of a collection are those of its rows in memory."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from clusters import cut
from test_dealt_columns import in_chunks

from bayesieve import NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.engine.dask.ledgers import CodedPart, ComparedRows

pytestmark = pytest.mark.usefixtures("client")

QUICK = {
    "families": "auto",
    "search": "forward",
    "cv": "train",
    "choice": "best",
    "reweigh": False,
    "validation": None,
    "max_features": 3,
    "n_jobs": 1,
}


def changed(rng, column, share, values):
    """A column that another agrees with on all rows but some."""
    found = column.copy()
    rows = rng.random(len(column)) < share
    found[rows] = rng.choice(values, rows.sum())
    return found


def twins(seed, n_rows=240):
    """Columns of all kinds, with near-twins, copies, ties and missing values."""
    rng = np.random.default_rng(seed)
    bits = [(rng.random(n_rows) < share).astype(float) for share in (0.5, 0.1, 0.02)]
    found = {f"b{j}": column for j, column in enumerate(bits)}
    for j in range(6):
        found[f"t{j}"] = changed(rng, bits[j % 3], 0.005 * j, [0.0, 1.0])
    found["below"] = np.where(bits[0] == 0, -0.0, 1.0)
    found["negated"] = 1 - bits[0]
    found["same"] = np.ones(n_rows)
    found["missing"] = changed(rng, bits[0], 0.01, [np.nan])
    found["nothing"] = np.full(n_rows, np.nan)
    found["whole"] = rng.integers(0, 200, n_rows).astype(float)
    found["wholes"] = changed(rng, found["whole"], 0.01, [3.0])
    found["number"] = rng.normal(size=n_rows)
    found["scaled"] = 10 * found["number"] + 3
    found["noisy"] = found["number"] + 1e-3 * rng.normal(size=n_rows)
    found["near"] = np.exp(found["number"] + 0.03 * rng.normal(size=n_rows))
    found["mostly zero"] = np.where(rng.random(n_rows) < 0.05, rng.random(n_rows), 0.0)
    found["zero mostly"] = np.where(rng.random(n_rows) < 0.05, rng.random(n_rows), 0.0)
    found["beyond"] = np.where(rng.random(n_rows) < 0.02, np.nan, found["scaled"])
    # Half of the rows each: which text is the usual one, appearance tells.
    letters = np.array(["b", "a"] * (n_rows // 2), dtype=object)
    found["letter"] = rng.permutation(letters)
    found["letters"] = found["letter"].copy()
    found["text"] = changed(rng, found["letter"], 0.01, np.array(["c", None], dtype=object))
    frame = pd.DataFrame(found)
    frame["target"] = rng.integers(0, 2, n_rows)
    return frame[[*rng.permutation(list(found)).tolist(), "target"]]


@pytest.mark.parametrize("seed", range(3))
def test_families_of_mixed_columns(seed):
    frame = twins(seed)
    X, y = frame.drop(columns="target"), frame["target"]
    weights = np.random.default_rng(seed).integers(0, 3, len(frame)) if seed else None
    settings = {**QUICK, "keep": ["t1"], "forbid": ["b1"], "feature_groups": [["b2", "same"]]}
    settings = settings if seed == 2 else QUICK
    near = NaiveBayesSelector(**settings).fit(X, y, sample_weight=weights)
    far = NaiveBayesSelector(**settings).fit(cut(frame, 3), "target", sample_weight=weights)
    assert near.families_.shared == far.families_.shared
    assert near.families_.leader.tolist() == far.families_.leader.tolist()
    assert any({"number", "near"} <= set(names) for names in near.families_.shared)
    assert {"letter", "letters"} <= {name for names in near.families_.shared for name in names}
    assert len(near.families_.shared) > 2
    assert repr(near.path_.steps) == repr(far.path_.steps)


def test_families_of_many_binary_and_of_sparse_columns():
    rng = np.random.default_rng(0)
    first = (rng.random((200, 40)) < rng.choice([0.02, 0.2, 0.5], 40)).astype(float)
    apart = rng.random((200, 40)) < 0.004
    X = np.hstack([first, np.where(apart, 1 - first, first), 3 * first])
    X, y = X[:, rng.permutation(120)], rng.integers(0, 2, 200)
    binary = np.minimum(X, 1)
    for here, there in (
        (binary, da.from_array(binary, chunks=(70, 120))),
        (sp.csr_array(X), in_chunks(sp.csr_array(X), [90])),
    ):
        near = NaiveBayesSelector(**QUICK).fit(here, y)
        far = NaiveBayesSelector(**QUICK).fit(there, y)
        assert near.families_.leader.tolist() == far.families_.leader.tolist()
        assert len(near.families_.shared) > 20


def test_few():
    frame = twins(4)
    X, y = frame.drop(columns="target"), frame["target"]
    near = NaiveBayesSelector(preset="few", n_jobs=1).fit(X, y)
    far = NaiveBayesSelector(preset="few").fit(cut(frame, 2), "target")
    assert near.families_.leader.tolist() == far.families_.leader.tolist()
    assert repr(near.path_.steps) == repr(far.path_.steps)
    assert near.settings_["families"] == far.settings_["families"] == "auto"
    near = WeightedNaiveBayes(families="auto", max_terms=3, n_jobs=1).fit(X, y)
    far = WeightedNaiveBayes(families="auto", max_terms=3).fit(cut(frame, 2), "target")
    assert near.families_.leader.tolist() == far.families_.leader.tolist()
    assert near.predict_proba(X).tobytes() == far.predict_proba(X).tobytes()


def test_differences_are_counted_row_by_row():
    rng = np.random.default_rng(5)
    columns = rng.integers(0, 3, (4, 50))
    parts = [
        CodedPart.of([column[lo:hi] for column in columns], (), hi - lo)
        for lo, hi in ((0, 20), (20, 50))
    ]
    meanings = rng.integers(0, 4, (4, 3))
    usual, reach = rng.integers(0, 4, 4), np.array([0, 1, 2])
    told = (np.arange(4), np.arange(0, 13, 3), meanings.ravel(), usual)
    first, second = np.array([0, 2, 3]), np.array([1, 0, 3])
    rows = ComparedRows(parts)
    (found,) = rows.answers["compare"]({"most": 50}, (*told, first, second, reach))
    (departures,) = rows.answers["departures"]({}, told)
    for p, (a, b) in enumerate(zip(first, second, strict=True)):
        apart = both = departing = 0
        for i in range(50):
            one, other = meanings[a][columns[a][i]], meanings[b][columns[b][i]]
            departs = one != usual[a] or other != usual[b]
            far = abs(one - other) > reach[p]
            apart, departing = apart + far, departing + departs
            both += far and departs
        assert found[:, p].tolist() == [apart, departing, both]
    for c in range(4):
        assert departures[c].sum() == sum(meanings[c][columns[c][i]] != usual[c] for i in range(50))
