"""What is said on a cluster to whoever gives something odd; and types of classes as in memory."""

import asyncio

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from clusters import cut, table, told

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, explain, find_families
from bayesieve.engine import DaskEngine
from bayesieve.plot import plot_evidence
from bayesieve.search import RankedSearch, ShortlistSearch

PLAIN = {"search": "forward", "cv": 3, "choice": "best", "reweigh": False, "validation": None}


@pytest.fixture(scope="module")
def rows():
    frame, _, _ = table()
    return frame


def unread(frame):
    """A collection whose rows nobody can read: what is refused must be refused before."""

    def fail(part):
        raise AssertionError("a row was read")

    return dd.from_pandas(frame, npartitions=2).map_partitions(fail, meta=frame.iloc[:0])


@pytest.mark.parametrize(
    "kind", ["Int64", "boolean", "int64[pyarrow]", "bool[pyarrow]", "category"]
)
def test_classes_of_every_type(client, rows, kind):
    """Of columns that may have missing values scikit-learn makes floats; so does a cluster."""
    X, y = rows[["b0", "b2", "few"]], (rows["target"] == "yes").astype(kind)
    here = NaiveBayesSelector(**PLAIN).fit(X, y)
    there = NaiveBayesSelector(**PLAIN).fit(cut(X.assign(target=y), 3), "target")
    assert here.classes_.dtype == there.classes_.dtype
    assert here.classes_.tolist() == there.classes_.tolist()
    assert here.predict(X).tolist() == there.predict(X).tolist()
    assert told(here, X) == told(there, X)
    lazy = there.predict(cut(X, 2)).compute()
    assert lazy.dtype == here.predict(X).dtype


def test_sparse_chunks_of_keys_and_values(client, rows):
    sparse = pytest.importorskip("sparse")
    X = rows[["b0", "b2", "b3"]].to_numpy(float)
    chunks = da.from_array(X, chunks=(70, 3)).map_blocks(sparse.DOK.from_numpy)
    import scipy.sparse

    here = NaiveBayesSelector(**PLAIN).fit(scipy.sparse.csr_array(X), rows["target"])
    there = NaiveBayesSelector(**PLAIN).fit(chunks, rows["target"])
    assert repr(here.path_.steps) == repr(there.path_.steps)


def test_an_asynchronous_client_is_refused(client, rows):
    """A fit would wait for ever for the loop that it blocks."""
    import distributed

    async def fit():
        address = client.scheduler.address
        async with distributed.Client(address, asynchronous=True, set_as_default=False) as mine:
            NaiveBayesSelector(engine=DaskEngine(mine), **PLAIN).fit(cut(rows, 2), "target")

    with pytest.raises(TypeError, match="must not be asynchronous"):
        asyncio.run(asyncio.wait_for(fit(), 60))


def test_an_address_that_is_none(rows):
    with pytest.raises(ValueError, match=r"client must be the address of a scheduler"):
        NaiveBayesSelector(engine=DaskEngine("hello")).fit(cut(rows, 2), "target")


@pytest.mark.parametrize("search", [RankedSearch("relieff"), ShortlistSearch(ranking="jmi")])
def test_a_ranking_is_refused_before_rows_are_read(client, rows, search):
    with pytest.raises(ValueError, match="is not offered on a Dask collection"):
        NaiveBayesSelector(search=search).fit(unread(rows), "target")


def test_models_that_are_no_names(client, rows):
    with pytest.raises(TypeError, match="features must be 'auto', the name of a feature model"):
        NaiveBayes(["density"]).fit(cut(rows, 2), "target")


def test_advice_that_a_cluster_can_take(client, rows):
    with pytest.raises(ValueError, match="Use 'categorical' or 'density'"):
        NaiveBayes({"number": "bernoulli"}).fit(cut(rows, 2), "target")


@pytest.mark.parametrize("part", [[[1.0, 0.0]], None])
def test_chunks_that_are_no_arrays(client, part):
    X = da.zeros((4, 2), chunks=(2, 2)).map_blocks(
        lambda block, given: given, given=part, dtype=float, meta=np.empty((0, 0))
    )
    with pytest.raises(TypeError, match=r"chunk 0 of X must be an array or a sparse matrix; got"):
        NaiveBayesSelector().fit(X, [0, 1, 0, 1])


def test_a_row_is_counted_within_its_partition(client, rows):
    bad = rows.assign(few=np.where(np.arange(len(rows)) == 100, np.inf, rows["few"]))
    parts = [dask.delayed(bad.iloc[:90]), dask.delayed(bad.iloc[90:])]
    X = dd.from_delayed(parts, meta=bad.iloc[:0])
    with pytest.raises(ValueError, match=r"partition 1 of X: .*column 'few', row 10"):
        NaiveBayesSelector().fit(X, "target")


def test_names_that_are_numbers(client):
    frame = pd.DataFrame(np.eye(4))
    with pytest.raises(TypeError, match="y must be the name of a column"):
        NaiveBayesSelector().fit(unread(frame), 3)


def test_what_is_delayed_is_no_table(client, rows):
    with pytest.raises(TypeError, match=r"X must be a dask\.dataframe\.DataFrame .* got dask.*Del"):
        NaiveBayesSelector().fit(dask.delayed(rows), "target")


def test_groups_by_name(client, rows):
    for X, y in ((rows.drop(columns="target"), rows["target"]), (cut(rows, 2), "target")):
        with pytest.raises(TypeError, match=r"groups must be one value a row; got 'site'"):
            NaiveBayesSelector(**PLAIN).fit(X, y, groups="site")


def test_what_needs_a_table_in_memory_says_so(client, rows):
    X, collection = rows.drop(columns="target"), cut(rows.drop(columns="target"), 2)
    selector = NaiveBayesSelector(**PLAIN).fit(X, rows["target"])
    for ask in (
        lambda: selector.report(collection, rows["target"]),
        lambda: explain(selector, collection),
        lambda: plot_evidence(selector, collection),
        lambda: find_families(collection),
    ):
        with pytest.raises(TypeError, match="X must be a table in memory here") as error:
            ask()
        assert "BaseEstimator" not in str(error.value)
        assert "X.compute()" in str(error.value)


@pytest.mark.parametrize("kind", [NaiveBayesSelector, WeightedNaiveBayes])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"keep": ["nobody"]}, "keep.*'nobody'"),
        ({"forbid": ["b0", "nobody"]}, "forbid.*'nobody'"),
        ({"keep": ["b0"], "forbid": ["b0"]}, "'b0' is in keep and in forbid"),
    ],
)
def test_columns_that_are_not_there_are_told_before_any_row_is_read(
    client, rows, kind, given, words
):
    with pytest.raises((ValueError, KeyError), match=words):
        kind(**given).fit(unread(rows), "target")
