"""Categories learnt from values of one type and predicted from values of another."""

import itertools
import pickle
import sqlite3
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from bayesieve import (
    FeatureVotes,
    NaiveBayes,
    NaiveBayesSelector,
    SubsetEnsemble,
    WeightedNaiveBayes,
    explain,
    load_model,
    save_model,
)
from bayesieve.engine import pack
from bayesieve.export import to_python, to_sql
from plain import plain_selector

VALUES = [1, 2, 3, 1, 2, 3, 1, 1]
CLASSES = np.array([0, 1, 1, 0, 1, 0, 0, 1])


def _as(kind: str, values: list[int]) -> pd.DataFrame | pl.DataFrame | pa.Table | np.ndarray:
    """The same numbers, each table in its own way."""
    if kind.startswith("array "):
        return np.array(values, kind.removeprefix("array "))[:, None]
    columns = {
        "int": lambda: pd.Series(values),
        "int8": lambda: pd.Series(values, dtype="int8"),
        "float": lambda: pd.Series(values, dtype=float),
        "Int64": lambda: pd.Series(values, dtype="Int64"),
        "objects": lambda: pd.Series(values, dtype=object),
        "text": lambda: pd.Series(list(map(str, values))),
        "text of floats": lambda: pd.Series(list(map(str, map(float, values)))),
        "categories": lambda: pd.Series(values, dtype="category"),
        "float categories": lambda: pd.Series(values, dtype=float).astype("category"),
        "text categories": lambda: pd.Series(list(map(str, values))).astype("category"),
        "polars": lambda: pl.Series(values),
        "polars categories": lambda: pl.Series(list(map(str, values)), dtype=pl.Categorical),
        "arrow dictionary": lambda: pa.array(values).dictionary_encode(),
    }
    column = columns[kind]()
    library = {pl.Series: pl.DataFrame, pd.Series: pd.DataFrame}.get(type(column), pa.table)
    return library({"c": column})


KINDS = ["int", "int8", "float", "Int64", "objects", "text", "text of floats", "categories",
         "float categories", "text categories", "polars", "polars categories",
         "arrow dictionary"]  # fmt: skip
# A plain text is compared letter by letter with levels that are texts: "1.0" is not "1".
LEVELS = {**dict.fromkeys(["text", "text categories", "polars categories"], "1"),
          **dict.fromkeys(["categories", "arrow dictionary"], "1"),
          **dict.fromkeys(["float categories", "text of floats"], "1.0")}  # fmt: skip
TEXTS = {"text": "1", "text categories": "1", "polars categories": "1", "text of floats": "1.0"}


def _strangers(learnt: str, asked: str) -> bool:
    return learnt in LEVELS and asked in TEXTS and LEVELS[learnt] != TEXTS[asked]


def _direct(learnt: list[int], asked: list[int]) -> np.ndarray:
    """P(class | value) with one pseudo-count a level, by counting."""
    found = []
    levels = sorted(set(learnt))
    for value in asked:
        joint = []
        for k in (0, 1):
            mine = [v for v, c in zip(learnt, CLASSES, strict=True) if c == k]
            share = (mine.count(value) + 1) / (len(mine) + len(levels)) if value in levels else 1.0
            joint.append(len(mine) * share)
        found.append(np.array(joint) / sum(joint))
    return np.array(found)


@pytest.mark.parametrize(("learnt", "asked"), list(itertools.product(KINDS, KINDS)))
def test_equal_numbers_match_whatever_their_type(learnt, asked):
    model = NaiveBayes({"c": "categorical"}).fit(_as(learnt, VALUES), CLASSES)
    new = [1, 2, 3, 7]
    if _strangers(learnt, asked):
        with pytest.warns(UserWarning, match="no value that fit has seen in 'c'"):
            found = model.predict_proba(_as(asked, new))
        np.testing.assert_allclose(found, 0.5)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict_proba(_as(asked, new))
    np.testing.assert_allclose(found, _direct(VALUES, new), rtol=1e-9)


@pytest.mark.parametrize(
    "asked", ["array int16", "array float32", "array U3", "array O", "array bool"]
)
def test_arrays_of_numbers_and_texts(asked):
    model = NaiveBayes("categorical").fit(np.array(VALUES)[:, None], CLASSES)
    new = [1] if asked == "array bool" else [1, 2, 3, 7]
    np.testing.assert_allclose(
        model.predict_proba(_as(asked, new)), _direct(VALUES, new), rtol=1e-9
    )


def test_truth_values_are_one_and_zero():
    truth = [True, False, True, True, False, True, False, False]
    kinds = {
        "bool": pd.Series(truth),
        "int": pd.Series(truth).astype(int),
        "categories": pd.Series(truth).astype("category"),
        "text": pd.Series(truth).astype(str),
        "objects": pd.Series(truth, dtype=object),
    }
    wanted = NaiveBayes("categorical").fit(pd.DataFrame({"c": kinds["bool"]}), CLASSES)
    wanted = wanted.predict_proba(pd.DataFrame({"c": kinds["bool"]}))
    assert np.ptp(wanted[:, 0]) > 0.1
    for learnt in kinds.values():
        model = NaiveBayes("categorical").fit(pd.DataFrame({"c": learnt}), CLASSES)
        for asked in kinds.values():
            np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"c": asked})), wanted)


@pytest.mark.parametrize(
    ("levels", "asked", "known"),
    [
        (["01", "02"], [1.0, 2.0], [False, False]),  # a code, not a number
        (["1.50", "2"], [1.5, 2.0], [False, True]),
        (["1", "1.0", "2"], [1.0, 2.0], [False, True]),  # which of the two is meant?
        (["1e3", "1000"], [1000.0], [True]),
        (["nan", "inf", "1"], [1.0], [True]),
        (["9007199254740993", "a"], [9007199254740992.0], [False]),
        (["-0.0", "1"], [0.0, 1.0], [True, True]),
        (["1", "2"], ["1.0", "2"], [False, True]),  # texts are compared letter by letter
        ([1.0, 2.0], ["1", "2.0"], [True, True]),
        ([1.0, 2.0], ["01", " 2", "1_0", "2"], [False, False, False, True]),
        ([0.1, 2.0], ["0.1", "0.10"], [True, False]),
        ([1.0, 2.0], ["1" + "0" * 400, "٢", "2"], [False, False, True]),
    ],
)
def test_a_text_is_a_number_only_if_it_is_written_as_one(levels, asked, known):
    rows, y = [[v] for v in levels for _ in range(3)], [0, 1, 1] * len(levels)
    y[0] = 1
    model = NaiveBayes("categorical").fit(np.array(rows, object), y)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        terms = model.terms(np.array(asked, object)[:, None])
    assert len(seen) == (not any(known))
    assert (terms[:, 0] != 0).any(1).tolist() == known


def test_what_is_unknown_altogether_is_named_once():
    X = pd.DataFrame({"a": ["u", "v"] * 4, "b": [0, 1] * 4, "c": pd.Categorical([5, 6] * 4)})
    y = [0, 1] * 4
    model = NaiveBayes().fit(X, y)
    odd = X.assign(a=[3.5] * 8, c=["x"] * 8)
    for method in ("predict", "predict_proba", "predict_log_proba", "terms", "decision_function"):
        with pytest.warns(UserWarning, match="no value that fit has seen") as seen:
            getattr(model, method)(odd)
        assert len(seen) == 1
        assert "'a', 'c' (got 3.5" in str(seen[0].message)
        assert seen[0].filename == __file__
    both = NaiveBayes().fit(X, np.column_stack([y, y[::-1]]))
    with pytest.warns(UserWarning, match="'a', 'c'") as seen:
        both.predict(odd)
    assert len(seen) == 1
    # The first known value may come late; missing values are no reason to speak.
    late = pd.DataFrame({"a": ["w"] * 999 + ["u"], "b": 0, "c": [5] * 1000})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(late)
        model.predict(X.assign(a=None, c=None))
        model.predict(X)
    with pytest.warns(UserWarning, match="in 'a'"):
        model.predict(late.head(999))


def test_every_estimator_names_it():
    X = pd.DataFrame({"a": [0, 1] * 10, "b": [0, 0, 1, 1] * 5})
    y = np.array([0, 1] * 10)
    strange = X.assign(a="no")
    models = [
        FeatureVotes().fit(X, y),
        plain_selector(validation=None).fit(X, y),
        SubsetEnsemble(n_subsets=1).fit(X, y),
    ]
    for model in models:
        with pytest.warns(UserWarning, match="in 'a'") as seen:
            model.predict(strange)
        assert len(seen) == 1
        texts = X.astype(str)
        np.testing.assert_array_equal(model.predict(texts), model.predict(X))


def test_batches_of_categories_of_another_type_are_the_same_levels():
    whole = NaiveBayes().fit(_as("categories", VALUES * 2), np.tile(CLASSES, 2))
    parts = NaiveBayes().partial_fit(_as("categories", VALUES), CLASSES, classes=[0, 1])
    parts.partial_fit(_as("float categories", VALUES), CLASSES)
    X = _as("int", [1, 2, 3, 7])
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_explanations_and_files_know_them_too(tmp_path):
    model = NaiveBayes().fit(_as("categories", VALUES), CLASSES)
    X = _as("float", [1, 2, 3, 7])
    found = explain(model, X)
    assert [each.evidence[1].status for each in found] == ["seen", "seen", "seen", "unseen"]
    save_model(model, tmp_path / "model.json")
    for again in (load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        odd = _as("float categories", [1, 2, 3, 7])
        np.testing.assert_array_equal(again.predict_proba(odd), model.predict_proba(X))


# -- whole numbers beyond those that floats tell apart --------------------------------------------

LAST = 2**53  # LAST + 1 is no float

LARGE = {
    "int64": lambda v: np.array(v, np.int64)[:, None],
    "uint64": lambda v: np.array(v, np.uint64)[:, None],
    "objects": lambda v: np.array(v, object)[:, None],
    "lists": lambda v: [[each] for each in v],
    "floats": lambda v: np.array(v, np.float64)[:, None],
    "sparse": lambda v: scipy.sparse.csr_array(np.array(v, np.int64)[:, None]),
    "pandas": lambda v: pd.DataFrame({"x0": np.array(v, np.int64)}),
    "pandas nullable": lambda v: pd.DataFrame({"x0": pd.array([*v[:-1], None], "UInt64")}),
    "pandas objects": lambda v: pd.DataFrame({"x0": np.array(v, object)}),
    "wide pandas": lambda v: pd.DataFrame({f"x{j}": np.array(v, np.int64) for j in range(300)}),
    "polars": lambda v: pl.DataFrame({"x0": v}),
    "polars unsigned": lambda v: pl.DataFrame({"x0": pl.Series(v, dtype=pl.UInt64)}),
    "packed": lambda v: pack(pl.DataFrame({"x0": v})),
}


@pytest.mark.parametrize("kind", LARGE)
def test_whole_numbers_that_floats_do_not_tell_apart_are_no_categories(kind):
    make, y = LARGE[kind], ["a", "b"] * 10
    with pytest.raises(ValueError, match=r"column 'x0' .* 9007199254740992 .* below 2\^53 .* text"):
        NaiveBayes("categorical").fit(make([LAST, LAST + 1] * 10), y)
    # One less is told apart, and larger ones are none of the levels.
    model = NaiveBayes("categorical").fit(make([LAST - 1, LAST - 2] * 10), y)
    assert model.predict(make([LAST - 1, LAST - 2] * 2)).tolist()[:3] == ["a", "b", "a"]
    with pytest.warns(UserWarning, match="no value that fit has seen"):
        proba = model.predict_proba(make([LAST, LAST + 1] * 2))
    np.testing.assert_allclose(proba, np.full((4, 2), 0.5))
    with pytest.raises(ValueError, match=r"below 2\^53"):
        model.partial_fit(make([LAST, LAST + 1] * 10), y)
    # As numbers they may be rounded.
    NaiveBayes("gaussian").fit(make([LAST + 2, LAST + 8] * 10), y)


@pytest.mark.parametrize("model", [NaiveBayesSelector, WeightedNaiveBayes])
def test_so_it_is_in_searches_and_in_files(model, tmp_path):
    frame = pd.DataFrame({"k": [LAST, LAST + 1] * 10, "y": ["a", "b"] * 10})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for X in (frame[["k"]], pack(tmp_path / "t.csv", target="y")):
        estimator = NaiveBayes({"k": "categorical"})
        given = {"features": {"k": "categorical"}} if model is WeightedNaiveBayes else {}
        given = given or {"estimator": estimator}
        with pytest.raises(ValueError, match=r"column 'k' .* below 2\^53"):
            model(**given).fit(X, frame["y"])


@pytest.mark.parametrize("as_text", [pd.Categorical, lambda v: list(map(str, v))])
def test_their_texts_are_told_apart_wherever_the_model_goes(as_text, tmp_path):
    numbers = [LAST, LAST + 1] * 10
    X, y = pd.DataFrame({"k": as_text(numbers)}), ["a", "b"] * 10
    model = NaiveBayes().fit(X, y)
    save_model(model, tmp_path / "model.json")
    space = {}
    exec(to_python(model), space)
    base = sqlite3.connect(":memory:")
    X.astype(str).to_sql("data", base, index=False)
    assert [row[-1] for row in base.execute(to_sql(model))] == y
    for each in (model, load_model(tmp_path / "model.json")):
        assert each.predict(X).tolist() == y
        # Numbers would have been rounded before they could be compared.
        with pytest.raises(ValueError, match=r"column 'k' .* below 2\^53 .* text first"):
            each.predict(pd.DataFrame({"k": numbers}))
    for odd in (LAST, np.int64(LAST), str(LAST)):
        assert space["predict"]({"k": odd}) == "a"
    for odd in (LAST + 1, np.int64(LAST + 1), str(LAST + 1)):
        assert space["predict"]({"k": odd}) == "b"
    exec(to_python(NaiveBayes("categorical").fit([[LAST - 1], [0]] * 10, y)), space)
    assert [space["predict"]({"x0": each}) for each in (LAST - 1, 0, np.float32(0))] == list("abb")
