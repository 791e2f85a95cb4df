"""A search on a cluster is the search here, to the bit, however the rows are cut."""

from itertools import product

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from clusters import both, cut, table, told
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold

from bayesieve import NaiveBayes, NaiveBayesSelector
from bayesieve.search import RankedSearch
from bayesieve.search.strategies.greedy import PhaseSearch
from bayesieve.search.strategies.ranked import ShortlistSearch

pytestmark = pytest.mark.usefixtures("client")

CRITERIA = ["error", "probability", "log-likelihood"]

PLAIN = {"choice": "best", "reweigh": False, "validation": None}

SHORTLIST = ShortlistSearch(PhaseSearch("forward"), size=4)

# Every value of every setting, and most pairs of them, once.
CASES = {
    "as it comes": (2, {}),
    "one part": (1, {"search": "forward", "criterion": "error", "cv": "train", **PLAIN}),
    "errors by folds": (
        7,
        {"search": "backward-forward", "criterion": "error", "cv": 4, "weighted": True, **PLAIN},
    ),
    "leaving one out": (
        3,
        {"search": "sffs", "criterion": "log-likelihood", "cv": "loo", "weighted": True, **PLAIN},
    ),
    "a validation part": (
        3,
        {
            "search": "sbfs",
            "cv": "train",
            "validation": 0.4,
            "class_weight": "balanced",
            "random_state": 1,
            "reweigh": False,
        },
    ),
    "groups": (
        2,
        {
            "search": "forward",
            "cv": 3,
            "validation": 0.3,
            "grouped": True,
            "random_state": 2,
            "choice": "one-se",
        },
    ),
    "a splitter": (3, {"search": "forward", "cv": KFold(3, shuffle=True, random_state=4), **PLAIN}),
    "a splitter by groups": (
        7,
        {"search": "backward", "cv": GroupKFold(3), "grouped": True, **PLAIN},
    ),
    "columns together": (
        2,
        {
            "search": "backward-forward",
            "criterion": "probability",
            "cv": 3,
            "keep": ["b5"],
            "feature_groups": [["b0", "letter"], ["few", "number"]],
            "forbid": ["noise"],
            **PLAIN,
        },
    ),
    "drawn": (3, {"search": "random", "random_state": 3, "cv": "train", **PLAIN}),
    "diversified": (2, {"search": "diversified", "random_state": 3, "cv": 3, **PLAIN}),
    "class weights": (
        2,
        {
            "search": "forward",
            "criterion": "error",
            "cv": 5,
            "weighted": True,
            "class_weight": {"no": 2.5, "yes": 0.1},
            **PLAIN,
        },
    ),
    "so many": (3, {"search": "forward-backward", "n_features": 4, "cv": 3, "reweigh": True}),
    "no smoothing": (
        2,
        {
            "estimator": NaiveBayes(smoothing=0, priors="uniform"),
            "search": "forward",
            "cv": 3,
            "criterion": "log-likelihood",
            **PLAIN,
        },
    ),
    "a prior by columns": (3, {"estimator": NaiveBayes(smoothing="mean"), "cv": 4, **PLAIN}),
    "intervals": (
        2,
        {
            "estimator": NaiveBayes(
                {"number": "intervals", "few": "intervals-8", "noise": "kernel"}
            ),
            "cv": 4,
            **PLAIN,
        },
    ),
    "ranked": (3, {"search": RankedSearch("mrmr"), "cv": 3, "weighted": True, **PLAIN}),
    "a shortlist": (
        2,
        {"search": ShortlistSearch(PhaseSearch("forward"), size=4), "cv": 3, **PLAIN},
    ),
    "all subsets": (
        2,
        {
            "search": "exhaustive",
            "criterion": "error",
            "cv": 3,
            "forbid": ["b2", "b3", "b4", "b5"],
            **PLAIN,
        },
    ),
    "all subsets of a size": (2, {"search": "exhaustive", "n_features": 3, "cv": 3, **PLAIN}),
}


# Each way of judging, each kind of table and of search, once; the others with `-m slow`.
OFTEN = {
    "as it comes", "leaving one out", "a validation part", "groups", "columns together",
    "class weights", "intervals", "ranked", "all subsets",
}  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [case if case in OFTEN else pytest.param(case, marks=pytest.mark.slow) for case in CASES],
)
def test_the_same_search(case):
    n_parts, settings = CASES[case]
    settings = dict(settings)
    frame, weights, groups = table()
    weights = weights if settings.pop("weighted", False) else None
    groups = groups if settings.pop("grouped", False) else None
    here, there = both(frame, n_parts, weights, groups, **settings)
    assert here == there
    assert len(here["path"]) > 200


@pytest.mark.slow
@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
@pytest.mark.parametrize("search", ["forward", "backward-forward", "sffs", "sbfs", "random"])
def test_the_same_search_in_full(search, n_parts):
    frame, weights, groups = table()
    for criterion, cv, weighted, grouped in product(
        ["error", "probability", "log-likelihood"],
        ["train", "loo", 4],
        [False, True],
        [False, True],
    ):
        if cv == "loo" and grouped:
            continue
        here, there = both(
            frame,
            n_parts,
            weights if weighted else None,
            groups if grouped else None,
            search=search,
            criterion=criterion,
            cv=cv,
            validation=0.3 if grouped else None,
            random_state=5,
        )
        assert here == there


def test_nothing_to_find_is_told_alike():
    """Where the first step proves nothing, whole searches of some of the rows must."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 2, (150, 5)).astype(float), columns=list("abcde"))
    frame["target"] = rng.integers(0, 2, 150)
    here, there = both(frame, 3)
    assert here == there
    assert "folds" in here["proof"]


def test_arrays_and_targets_apart():
    frame, weights, _ = table()
    X, y = frame.drop(columns=["target", "letter"]).to_numpy(float), frame["target"].to_numpy()
    settings = {"cv": 3, **PLAIN}
    here = NaiveBayesSelector(**settings).fit(X, y, sample_weight=weights)
    chunks = ((50, 100, 30), (4, 6))
    there = NaiveBayesSelector(engine="dask", **settings).fit(
        da.from_array(X, chunks=chunks),
        da.from_array(y, chunks=70),
        sample_weight=da.from_array(weights, chunks=90),
    )
    assert repr(here.path_.steps) == repr(there.path_.steps)
    assert there.n_features_in_ == 10
    assert not hasattr(there, "feature_names_in_")


def test_a_column_of_more_levels_than_a_byte_holds():
    frame, _, _ = table(900)
    rng = np.random.default_rng(0)
    frame["many"] = [f"v{i}" for i in rng.integers(0, 300, 900) + 50 * (frame["target"] == "yes")]
    here, there = both(frame, 3, cv=3, **PLAIN)
    assert here == there


def test_parts_that_differ():
    """An empty part, a class in one part only, categories in another order, nothing known."""
    import dask.dataframe as dd
    from dask import delayed

    frame, _, _ = table()
    frame = frame.sort_values("target", kind="stable").reset_index(drop=True)
    frame["letter"] = frame["letter"].astype(object)
    frame.loc[:59, "letter"] = None
    frame["kind"] = pd.Categorical(frame["b2"].map({0.0: "low", 1.0: "high"}))
    parts = [frame.iloc[:60], frame.iloc[60:60], frame.iloc[60:].copy()]
    parts[2]["kind"] = parts[2]["kind"].cat.reorder_categories(["low", "high"])
    ddf = dd.from_delayed([delayed(part) for part in parts], meta=frame.iloc[:0], verify_meta=False)
    X, settings = frame.drop(columns="target"), {"cv": 3, **PLAIN}
    here = NaiveBayesSelector(**settings).fit(X, frame["target"])
    there = NaiveBayesSelector(**settings).fit(ddf, "target")
    assert told(here, X) == told(there, X)


def test_parquet(tmp_path):
    import dask.dataframe as dd

    frame, weights, _ = table()
    for k in range(4):
        frame.iloc[45 * k : 45 * (k + 1)].to_parquet(tmp_path / f"part{k}.parquet", index=False)
    X = frame.drop(columns="target")
    here = NaiveBayesSelector().fit(X, frame["target"])
    there = NaiveBayesSelector().fit(dd.read_parquet(tmp_path), "target")
    assert told(here, X) == told(there, X)
    # Dask may join the files of a collection of few columns: rows are numbered all the same.
    few, settings = dd.read_parquet(tmp_path)[["b0", "few", "target"]], {"cv": 3, **PLAIN}
    there = NaiveBayesSelector(**settings).fit(few, "target", sample_weight=weights)
    here = NaiveBayesSelector(**settings).fit(
        X[["b0", "few"]], frame["target"], sample_weight=weights
    )
    assert told(here, X[["b0", "few"]]) == told(there, X[["b0", "few"]])


def test_copies_and_pickles_hold_no_client(client):
    import pickle

    from bayesieve.engine import DaskEngine

    frame, _, _ = table()
    engine = DaskEngine(client)
    selector = clone(NaiveBayesSelector(cv=3, engine=engine, **PLAIN))
    assert selector.engine is engine
    selector.fit(cut(frame, 2), "target")
    again = pickle.loads(pickle.dumps(selector))
    assert again.engine.client is None
    X = frame.drop(columns="target")
    assert told(again, X) == told(selector, X)


def test_a_checkpoint_goes_on(tmp_path):
    frame, _, _ = table()
    settings = {"cv": 3, "random_state": 0, "search": "backward-forward", **PLAIN}
    whole = NaiveBayesSelector(**settings).fit(cut(frame, 3), "target")
    file = tmp_path / "journal"
    with pytest.warns(UserWarning, match="stopped by time_limit"):
        NaiveBayesSelector(checkpoint=file, time_limit=0, **settings).fit(cut(frame, 3), "target")
    # Cut anew: the journal knows cells, not partitions.
    resumed = NaiveBayesSelector(checkpoint=file, **settings).fit(cut(frame, 2), "target")
    X = frame.drop(columns="target")
    assert told(resumed, X) == told(whole, X)
    frame.loc[3, "b0"] = 1 - frame.loc[3, "b0"]
    with pytest.raises(ValueError, match="checkpoint"):
        NaiveBayesSelector(checkpoint=file, **settings).fit(cut(frame, 2), "target")


def test_two_selectors_at_once():
    from concurrent.futures import ThreadPoolExecutor

    frame, _, _ = table()
    X = frame.drop(columns="target")
    settings = [{"cv": 3, **PLAIN}, {"search": "sffs", "criterion": "error", "cv": 4, **PLAIN}]
    with ThreadPoolExecutor(2) as pool:
        found = list(
            pool.map(lambda each: NaiveBayesSelector(**each).fit(cut(frame, 3), "target"), settings)
        )
    for each, selector in zip(settings, found, strict=True):
        assert told(NaiveBayesSelector(**each).fit(X, frame["target"]), X) == told(selector, X)
