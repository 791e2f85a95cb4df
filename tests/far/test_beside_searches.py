"""Models, rankings and predictions of collections; what is refused, and how."""

import sys

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from clusters import cut, table
from dask import delayed

from bayesieve import NaiveBayes, NaiveBayesSelector, rank
from bayesieve.criteria import Criterion
from bayesieve.engine import DaskEngine
from bayesieve.search import RankedSearch

pytestmark = pytest.mark.usefixtures("client")

PLAIN = {"choice": "best", "reweigh": False, "cv": 3, "search": "forward"}


@pytest.mark.parametrize("features", ["auto", {"few": "intervals", "number": "rank-kernel"}])
def test_models_of_collections(features):
    frame, weights, _ = table()
    X = frame.drop(columns="target")
    here = NaiveBayes(features).fit(X, frame["target"], sample_weight=weights)
    there = NaiveBayes(features).fit(cut(frame, 3), "target", sample_weight=weights)
    assert here.predict_joint_log_proba(X).tobytes() == there.predict_joint_log_proba(X).tobytes()
    assert here.feature_names_in_.tolist() == there.feature_names_in_.tolist()
    assert here.class_count_.tolist() == there.class_count_.tolist()


@pytest.mark.parametrize(
    ("method", "n_features"),
    [
        ("mutual-information", None),
        ("chi2", 4),
        ("mrmr", None),
        ("mrmr", 4),
        ("mifs", None),
        ("cmim", 4),
        ("icap", None),
        ("jmim", 4),
        ("njmim", None),
    ],
)
def test_rankings_of_collections(method, n_features):
    frame, _, _ = table()
    here = rank(frame.drop(columns="target"), frame["target"], method, n_features=n_features)
    there = rank(cut(frame, 3), "target", method, n_features=n_features)
    assert here.order.tolist() == there.order.tolist()
    assert here.scores.tolist() == there.scores.tolist()
    assert here.names == there.names


def test_columns_that_are_numbered_are_called_as_in_memory():
    frame, _, _ = table()
    X, y = frame.drop(columns="target"), frame["target"]
    X.columns = range(X.shape[1])
    there = dd.from_pandas(X, npartitions=2, sort=False)
    near, far = (NaiveBayesSelector(**PLAIN, keep=["x3"]).fit(rows, y) for rows in (X, there))
    assert near.path_.names == far.path_.names
    for found in (near, far):
        assert not hasattr(found, "feature_names_in_")
        assert "x3" in {spec.name for spec in found.estimator_.fitted_.specs}
    assert rank(there, y, "mrmr").names == rank(X, y, "mrmr").names == tuple(near.path_.names)
    odd = there.assign(**{"7": there[7]}).drop(columns=7)
    with pytest.raises(TypeError, match="string names"):
        NaiveBayesSelector(**PLAIN).fit(odd, y)


def test_levels_below_zero_are_zero():
    column = np.array([-0.0, 1.0, 0.0, -1.0, 2.0, -0.0] * 5)
    X, y = np.c_[column, np.where(column == 0, -0.0, column)], np.arange(30) % 2
    for rows in (X, X[::-1], da.from_array(X, chunks=(7, 2))):
        for spec in NaiveBayes("categorical").fit(rows, y).fitted_.specs:
            assert [str(level) for level in spec.levels] == ["-1.0", "0.0", "1.0", "2.0"]


def test_what_is_said_of_collections_is_lazy():
    frame, _, _ = table()
    X = frame.drop(columns="target")
    selector = NaiveBayesSelector(**PLAIN).fit(X, frame["target"])
    ddf = cut(X, 3)
    ddf = dd.concat([ddf, dd.from_delayed([delayed(X.iloc[:0])], meta=X.iloc[:0])])
    assert selector.predict(ddf).npartitions == 4
    for model in (selector, NaiveBayes().fit(X, frame["target"])):
        np.testing.assert_array_equal(model.predict(ddf).compute(), model.predict(X))
        for name in ("predict_proba", "predict_log_proba", "decision_function"):
            found = getattr(model, name)(ddf).compute()
            np.testing.assert_array_equal(found, getattr(model, name)(X))
            assert found.columns.tolist() == ["maybe", "no", "yes"]
            assert found.index.tolist() == X.index.tolist()
    found = selector.transform(ddf)
    pd.testing.assert_frame_equal(
        found.compute(), X[selector.get_feature_names_out()], check_dtype=False
    )
    priors = {"no": 0.5, "maybe": 0.25, "yes": 0.25}
    np.testing.assert_array_equal(
        selector.predict_proba(ddf, priors=priors).compute(), selector.predict_proba(X, priors)
    )
    with pytest.raises(ValueError, match="feature names"):
        selector.predict(ddf.rename(columns={"b0": "other"}))


def test_what_is_said_of_arrays_is_lazy():
    frame, _, _ = table()
    X = frame.drop(columns=["target", "letter"]).to_numpy(float)
    y = (frame["target"] == "yes").to_numpy()
    selector = NaiveBayesSelector(**PLAIN).fit(X, y)
    rows = da.from_array(X, chunks=(70, 4))
    for name in ("predict", "predict_proba", "decision_function"):
        found = getattr(selector, name)(rows)
        assert isinstance(found, da.Array)
        expected = getattr(selector, name)(X)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.compute(), expected)
    np.testing.assert_array_equal(selector.transform(rows).compute(), selector.transform(X))


class Own(Criterion):
    name = "own"

    def loss(self, scores, classes, weights):
        return 0.0


REFUSED = {
    "a mixture": ({"estimator": NaiveBayes("mixture")}, "'mixture' is not offered"),
    "gaussian": ({"estimator": NaiveBayes({"few": "gaussian"})}, "'gaussian' is not offered"),
    "normal by a setting": ({"estimator": NaiveBayes(var_smoothing=1e-9)}, "normal distributions"),
    "one's own criterion": ({"criterion": Own()}, "'own' is your own: on a Dask collection"),
    "FBL": ({"search": "dependency"}, "search='dependency'"),
    "threads": ({"engine": "threads"}, "engine='threads' needs a table in memory"),
    "an engine": ({"engine": "spark"}, "engine"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_any_work(case, client):
    settings, words = REFUSED[case]

    def never():
        raise AssertionError("read")

    meta = table()[0].iloc[:0]
    ddf = dd.from_delayed([delayed(never)()], meta=meta, verify_meta=False)
    given = {"search": "forward", "cv": 3, "choice": "best", "reweigh": False, **settings}
    with pytest.raises((ValueError, TypeError), match=words):
        NaiveBayesSelector(**given).fit(ddf, "target")


def test_relieff_is_refused():
    frame, _, _ = table()
    with pytest.raises(ValueError, match=r"ReliefF is not offered on a Dask collection"):
        NaiveBayesSelector(**{**PLAIN, "search": RankedSearch("relieff")}).fit(
            cut(frame, 2), "target"
        )
    with pytest.raises(ValueError, match="not offered on a Dask collection"):
        rank(cut(frame, 2), "target", "jmi")


def broken(change):
    """A collection whose second partition is another than its first."""
    frame, _, _ = table()
    parts = [frame.iloc[:90], change(frame.iloc[90:].copy())]
    return dd.from_delayed([delayed(p) for p in parts], meta=frame.iloc[:0], verify_meta=False)


BAD = {
    "another column": (
        lambda part: part.rename(columns={"b0": "c0"}),
        "partition 1 of X has the columns 'c0'",
    ),
    "text and numbers": (
        lambda part: part.assign(letter=1.0),
        "column 'letter'.*text in one partition and numbers in another",
    ),
    "infinity": (lambda part: part.assign(few=np.inf), "contains infinity"),
    "an object": (lambda part: part.assign(letter=[object()] * len(part)), "column 'letter'"),
}


@pytest.mark.parametrize("case", BAD)
def test_partitions_that_do_not_fit(case):
    change, words = BAD[case]
    with pytest.raises((ValueError, TypeError), match=words):
        NaiveBayesSelector(**PLAIN).fit(broken(change), "target")


def test_other_input_that_does_not_fit(client, monkeypatch):
    frame, _, _ = table()
    selector, ddf = NaiveBayesSelector(**PLAIN), cut(frame, 2)
    with pytest.raises(ValueError, match="y='goal' names no column"):
        selector.fit(ddf, "goal")
    with pytest.raises(ValueError, match="y has 5 values, but X has 180 rows"):
        selector.fit(ddf, np.arange(5) % 2)
    with pytest.raises(ValueError, match="at least 2 classes"):
        selector.fit(ddf, np.zeros(180))
    with pytest.raises(ValueError, match="y has 5 rows, but X has 180"):
        selector.fit(ddf.drop(columns="target"), np.ones((5, 2)))
    with pytest.raises(TypeError, match=r"must be a dask\.dataframe"):
        selector.fit(ddf["b0"], frame["target"])
    with pytest.raises(TypeError, match="for Dask collections; got DataFrame"):
        NaiveBayesSelector(engine="dask").fit(frame, frame["target"])
    with pytest.raises(ValueError, match="X is empty"):
        selector.fit(ddf.loc[ddf["b0"] > 7], "target")
    with pytest.raises(ValueError, match="whole numbers"):
        selector.fit(ddf, "target", sample_weight=np.full(180, 0.5))
    with pytest.raises(TypeError, match="client must be"):
        NaiveBayesSelector(engine=DaskEngine(3)).fit(ddf, "target")
    from distributed import Client

    closed = Client(client.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(ValueError, match="client is closed"):
        NaiveBayesSelector(engine=DaskEngine(closed)).fit(ddf, "target")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"bayesieve\[dask\]"):
        selector.fit(ddf, "target")
