"""Where rows are compared, columns are dealt out: AUC, labels, sparse chunks and votes."""

from functools import partial
from itertools import pairwise, product

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sparse
from clusters import table, told
from dask import delayed

from bayesieve import FeatureVotes, NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, rank
from bayesieve.criteria import AUC, SizePenalty
from bayesieve.search import DiversifiedSearch, RankedSearch

pytestmark = pytest.mark.usefixtures("client")

PLAIN = {"choice": "best", "reweigh": False, "validation": None, "n_jobs": 1}


def sparse_rows(n_rows=150, n_columns=12, seed=0):
    """Sparse rows of few numbers, three labels, weights."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n_rows, 3)) < [0.5, 0.3, 0.2]).astype(int)
    shares = 0.1 + 0.4 * labels[:, np.arange(n_columns) % 3] * (np.arange(n_columns) < 7)
    X = (rng.random((n_rows, n_columns)) < shares) * rng.integers(1, 4, (n_rows, n_columns))
    X[:, 5] = 1  # present in every row
    X[:, 9] = 0  # and in none
    return sp.csr_array(X.astype(float)), labels, rng.integers(0, 3, n_rows)


def in_chunks(X, ends, wrap=sp.csr_array, cut_at=None):
    """A dask.array whose blocks are what `wrap` makes of rows."""
    starts, columns = [0, *ends], [0, *([] if cut_at is None else [cut_at]), X.shape[1]]
    rows = []
    for lo, hi in zip(starts, [*ends, X.shape[0]], strict=True):
        row = []
        for a, b in pairwise(columns):
            made = delayed(wrap)(X[lo:hi, a:b])
            row.append(da.from_delayed(made, (hi - lo, b - a), X.dtype))
        rows.append(da.concatenate(row, axis=1))
    return da.concatenate(rows, axis=0)


def same(settings, X, y, there, target, **params):
    """Fit here and there: what both found."""
    near = NaiveBayesSelector(**settings).fit(X, y, **params)
    far = NaiveBayesSelector(engine="dask", **settings).fit(there, target, **params)
    return told(near, X), told(far, X)


# Searches, criteria, cv, weights, targets and tables: most pairs of them, once.
CASES = {
    "AUC as it comes": ("dense", "two", {"criterion": "auc"}),
    "AUC, backward, folds": (
        "dense",
        "two",
        {"criterion": "auc", "search": "backward", "cv": 3, "weighted": True, **PLAIN},
    ),
    "AUC of labels, a validation part": (
        "dense",
        "labels",
        {
            "criterion": "auc",
            "search": "sffs",
            "cv": "train",
            "validation": 0.4,
            "random_state": 1,
            "choice": "one-se",
            "reweigh": False,
        },
    ),
    "AUC with a price": (
        "sparse",
        "two",
        {
            "criterion": AUC(SizePenalty(free=1, scale=30)),
            "search": "forward-backward",
            "cv": 3,
            "feature_groups": [[0, 8], [2, 3]],
            "keep": [5],
            "forbid": [1],
            **PLAIN,
        },
    ),
    "AUC of sparse labels": (
        "sparse",
        "labels",
        {
            "criterion": "auc",
            "search": DiversifiedSearch(random_state=3),
            "cv": 3,
            "weighted": True,
            **PLAIN,
        },
    ),
    "votes": (
        "sparse",
        "labels",
        {"estimator": FeatureVotes("rare"), "search": "forward", "cv": "train", **PLAIN},
    ),
    "votes for each label": (
        "binary",
        "labels",
        {
            "estimator": FeatureVotes(),
            "search": "backward-forward",
            "cv": 2,
            "weighted": True,
            **PLAIN,
        },
    ),
    "errors of labels": ("dense", "labels", {"criterion": "error", "cv": 3, **PLAIN}),
    "probabilities of sparse labels": (
        "sparse",
        "labels",
        {"criterion": "probability", "search": "sbfs", "cv": 3, "weighted": True, **PLAIN},
    ),
    "probabilities of sparse rows": ("sparse", "three", {}),
    "log-likelihood of sparse rows": (
        "sparse",
        "three",
        {
            "criterion": "log-likelihood",
            "search": "forward",
            "cv": 3,
            "validation": 0.3,
            "class_weight": "balanced",
            "random_state": 2,
            "reweigh": False,
        },
    ),
    "errors of sparse values": (
        "sparse",
        "two",
        {
            "criterion": "error",
            "search": "random",
            "random_state": 0,
            "estimator": NaiveBayes({0: "categorical", 2: "density"}, smoothing="mean"),
            "cv": "train",
            **PLAIN,
        },
    ),
    "ranked sparse rows": ("sparse", "two", {"search": RankedSearch("mrmr"), "cv": 3, **PLAIN}),
    "all subsets of sparse rows": (
        "sparse",
        "two",
        {
            "search": "exhaustive",
            "criterion": "auc",
            "cv": "train",
            "forbid": [3, 4, 5, 6, 7, 8, 9],
            **PLAIN,
        },
    ),
}


def problem(kind, target):
    """Rows here and there, what they belong to, and weights."""
    if kind == "dense":
        frame, weights, _ = table()
        y = (frame["target"] == "yes").to_numpy()
        X = frame.drop(columns="target")
        labels = pd.DataFrame({"yes": y, "no": (frame["target"] == "no")}).astype(int)
        there = dd.from_pandas(X, npartitions=3, sort=False)
        return X, labels if target == "labels" else y, there, weights
    X, labels, weights = sparse_rows()
    three = np.where(labels[:, 0] == 1, 2, labels[:, 1])
    y = {"labels": labels, "two": labels[:, 0], "three": three}[target]
    if kind == "binary":
        X = (X.toarray() > 0).astype(float)
        return X, y, da.from_array(X, chunks=(60, 5)), weights
    return X, y, in_chunks(X, [40, 40, 100]), weights


# Each criterion and kind of table once; the others with `-m slow`.
OFTEN = {
    "AUC, backward, folds", "AUC of sparse labels", "votes for each label", "errors of labels",
    "probabilities of sparse rows", "log-likelihood of sparse rows", "errors of sparse values",
    "ranked sparse rows",
}  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [case if case in OFTEN else pytest.param(case, marks=pytest.mark.slow) for case in CASES],
)
def test_the_same_search(case):
    kind, target, settings = CASES[case]
    settings = dict(settings)
    X, y, there, weights = problem(kind, target)
    params = {"sample_weight": weights} if settings.pop("weighted", False) else {}
    near, far = same(settings, X, y, there, y, **params)
    assert near == far
    assert len(near["path"]) > 200


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "sparse", "binary"])
@pytest.mark.parametrize("target", ["two", "labels"])
def test_the_same_search_in_full(kind, target):
    X, y, there, weights = problem(kind, target)
    for search, criterion, cv, weighted in product(
        ["forward", "backward-forward", "sffs", "diversified"],
        ["auc", "penalised-auc", "error", "probability", "log-likelihood"],
        ["train", 2],
        [False, True],
    ):
        settings = {"search": search, "criterion": criterion, "cv": cv, "random_state": 4, **PLAIN}
        params = {"sample_weight": weights} if weighted else {}
        near, far = same(settings, X, y, there, y, **params)
        assert near == far


@pytest.mark.parametrize(
    "wrap",
    [sp.csr_matrix, sp.csc_array, sparse.COO.from_scipy_sparse, sparse.GCXS.from_scipy_sparse],
)
def test_sparse_chunks_of_any_kind_cut_anyhow(wrap):
    X, labels, _ = sparse_rows()
    settings = {"criterion": "auc", "search": "forward", "cv": 3, **PLAIN}
    target = da.from_array(labels, chunks=(70, 3))
    near, far = same(settings, X, labels, in_chunks(X, [50], wrap, cut_at=5), target)
    assert near == far


@pytest.mark.parametrize("left_out", [1.0, np.nan])
def test_sparse_chunks_that_leave_out_something_else_are_refused(left_out):
    X, labels, _ = sparse_rows()
    there = in_chunks(X.toarray(), [50], partial(sparse.COO.from_numpy, fill_value=left_out))
    with pytest.raises(ValueError, match=rf"fill_value=0\), these leave out {left_out}: make them"):
        NaiveBayesSelector(criterion="auc", **PLAIN).fit(there, labels)


def test_names_of_labels_and_sparse_labels():
    X, labels, _ = sparse_rows()
    there, settings = in_chunks(X, [50]), {"criterion": "auc", "cv": 3, **PLAIN}
    frame = pd.DataFrame(labels, columns=["rain", "wind", "fog"])
    found = NaiveBayesSelector(**settings).fit(there, dd.from_pandas(frame, npartitions=2))
    assert found.estimator_.label_names_ == ["rain", "wind", "fog"]
    again = NaiveBayesSelector(**settings).fit(there, in_chunks(sp.csr_array(labels), [80]))
    assert repr(again.path_.steps) == repr(found.path_.steps)


def test_models_of_sparse_rows_and_labels():
    X, labels, weights = sparse_rows()
    there = in_chunks(X, [30, 90])
    for features in ("auto", {0: "categorical", 4: "density"}):
        for y in (labels, labels[:, 1] + labels[:, 0]):
            near = NaiveBayes(features).fit(X, y, sample_weight=weights)
            far = NaiveBayes(features).fit(there, y, sample_weight=weights)
            assert near.predict_proba(X).tobytes() == far.predict_proba(X).tobytes()
            np.testing.assert_array_equal(far.predict(there).compute(), near.predict(X))
            np.testing.assert_array_equal(far.predict_proba(there).compute(), near.predict_proba(X))


def test_what_is_said_of_sparse_chunks_is_lazy():
    X, labels, _ = sparse_rows()
    there = in_chunks(X, [30, 90], sparse.COO.from_scipy_sparse)
    selector = NaiveBayesSelector(criterion="auc", cv=3, **PLAIN).fit(there, labels)
    np.testing.assert_array_equal(selector.predict(there).compute(), selector.predict(X))
    there = in_chunks(X, [30, 90])
    found = sp.csr_array(selector.transform(there).compute())
    assert (found != selector.transform(X)).nnz == 0


def test_weights_and_rankings_of_sparse_rows():
    X, labels, _ = sparse_rows()
    y, there = labels[:, 0] + labels[:, 1], in_chunks(X, [30, 90])
    for target in (y, labels[:, :2]):
        near, far = (WeightedNaiveBayes(n_jobs=1).fit(rows, target) for rows in (X, there))
        assert near.predict_proba(X).tobytes() == far.predict_proba(X).tobytes()
        assert repr(near.path_) == repr(far.path_)
    for method in ("mutual-information", "mrmr", "jmim"):
        for target in (y, labels):
            near, far = rank(X, target, method), rank(there, target, method)
            assert near.order.tolist() == far.order.tolist()
            assert near.scores.tolist() == far.scores.tolist()
            assert near.names == far.names


def test_a_checkpoint_of_dealt_columns_goes_on(tmp_path):
    X, labels, _ = sparse_rows()
    settings = {"criterion": "auc", "cv": 3, "random_state": 0, "search": "sffs", **PLAIN}
    whole = NaiveBayesSelector(**settings).fit(X, labels)
    file = tmp_path / "journal"
    with pytest.warns(UserWarning, match="stopped by time_limit"):
        NaiveBayesSelector(checkpoint=file, time_limit=0, **settings).fit(
            in_chunks(X, [70]), labels
        )
    resumed = NaiveBayesSelector(checkpoint=file, **settings).fit(in_chunks(X, [20, 90]), labels)
    assert told(resumed, X) == told(whole, X)


def some_dense(rows):
    """Chunks of many rows are sparse, others are not."""
    return rows if rows.shape[0] > 60 else rows.toarray()


def fewer_columns(rows):
    return rows if rows.shape[0] > 60 else rows[:, :7]


BAD = {
    "dense and sparse": (lambda X: in_chunks(X, [50], some_dense), "chunk 1 is sparse and others"),
    "columns missing": (lambda X: in_chunks(X, [50], fewer_columns), r"chunk 0 of X has the shape"),
    "NaN": (lambda X: in_chunks(X * np.nan, [50]), "sparse and contains NaN"),
    "no rows": (lambda X: in_chunks(X[:0], []), "X is empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_chunks_that_do_not_fit(case):
    make, words = BAD[case]
    X, labels, _ = sparse_rows()
    with pytest.raises((ValueError, TypeError), match=words):
        NaiveBayesSelector(criterion="auc", cv=3, **PLAIN).fit(make(X), labels)


REFUSED = {
    "three classes": ({"criterion": "auc"}, "three", "needs two classes"),
    "leaving one out": ({"criterion": "auc", "cv": "loo"}, "two", "no closed form"),
    "leaving one out of sparse rows": ({"cv": "loo"}, "three", "sparse columns"),
    "class weights of labels": ({"class_weight": "balanced"}, "labels", "class_weight is for"),
    "votes by error": (
        {"estimator": FeatureVotes(), "criterion": "error"},
        "two",
        "knows no probabilities",
    ),
    "other labels": ({}, "odd", "must hold 0 and 1 only; got 2"),
    "too few labels": ({}, "short", "y has 20 rows, but X has 150"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_as_in_memory(case):
    settings, target, words = REFUSED[case]
    X, labels, _ = sparse_rows()
    y = {"odd": 2 * labels, "short": labels[:20]}.get(target)
    y = problem("sparse", target)[1] if y is None else y
    for rows in (X, in_chunks(X, [70])):
        with pytest.raises(ValueError, match=words):
            NaiveBayesSelector(**{"cv": 3, **PLAIN, **settings}).fit(rows, y)


def test_arrays_of_unknown_length():
    X, labels, _ = sparse_rows()
    X = X.toarray()
    there = dd.from_pandas(pd.DataFrame(X), npartitions=3).to_dask_array()
    assert np.isnan(there.shape[0])
    settings = {"criterion": "auc", "search": "forward", "cv": 3, **PLAIN}
    near, far = same(settings, X, labels, there, labels)
    assert near == far
    rows = da.from_array(X)
    with pytest.raises(ValueError, match="unknown number of columns"):
        NaiveBayesSelector(**settings).fit(rows[:, rows[0] > 0], labels)
