"""What independent checks found: each was wrong once."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from bayesieve import FeatureVotes, NaiveBayes, calibrate, load_model, nested
from bayesieve.criteria import Criterion
from bayesieve.export import to_python, to_sql
from ledgers import dense_ledger, sparse_ledger
from plain import plain_selector


def exported(model):
    space = {}
    exec(to_python(model), space)
    return space["predict"]


@pytest.mark.parametrize(
    ("fitted", "asked"),
    [
        (pd.Series([3, 3, 7, 7]).astype("category"), [3, 3, 7, 7]),
        (pd.Series([3.0, 3.0, 7.0, 7.0]).astype("category"), [3, 3.0, 7, 7.0]),
        (pd.Series(["1", "1", "2", "2"]), [1, 1.0, 2, True]),
        (pd.Series([1, 1, 2, 2]), ["1", "1.0", "2", "02"]),
        (pd.Series(["a", "a", "b", "b"]), ["a", "b", "", None]),
        (
            pd.Series([f"{2**53 + i}" for i in (1, 1, 2, 2)]),
            [f"{2**53 + i}" for i in (1, 2)],
        ),
    ],
)
def test_exported_python_reads_categories_as_the_model_does(fitted, asked):
    features = {"k": "categorical"}
    frame = pd.DataFrame({"k": pd.concat([fitted] * 4, ignore_index=True)})
    y = ["u", "u", "v", "v"] * 4
    model = NaiveBayes(features, priors=[0.4, 0.6]).fit(frame, y)
    predict = exported(model)
    for value in asked:
        row = pd.DataFrame({"k": pd.Series([value], dtype=object)})
        if value in ("02", "", None):
            continue
        assert predict({"k": value}) == model.predict(row)[0], value
    assert predict({"k": "02"}) == predict({"k": None}) == "v"


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csc_array])
def test_decimal_class_weights_tie_as_decimals(form):
    y = np.array([0] * 8 + [1] * 8)
    three, one = y.copy(), y.copy()
    three[[8, 9, 10]] = 0  # three errors in the class of weight 0.1
    one[0] = 1  # one error in the class of weight 0.3
    for weights in ({0: 0.3, 1: 0.1}, {0: 3.0, 1: 1.0}):
        selector = plain_selector(
            NaiveBayes("bernoulli", priors="uniform"),
            search="forward",
            criterion="error",
            class_weight=weights,
            validation=None,
            n_features=1,
        ).fit(form(np.column_stack([three, one])), y)
        assert selector.selected_.tolist() == [0]


def test_choice_optimism_compares_like_with_like():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.15).astype(int)
    X = (rng.random((400, 6)) < 0.3 + 0.3 * y[:, None] * [1, 1, 0, 0, 0, 0]).astype(int)
    selector = plain_selector(criterion="error", class_weight="balanced", cv="train")
    found = nested(selector, X, y, cv=4, random_state=0)
    np.testing.assert_allclose(found.choice_optimism, found.honest - found.validation)
    assert not np.allclose(found.error, found.honest)


def test_a_ledger_is_cut_into_no_more_parts_than_rows():
    X, y = np.array([[0.0], [1.0], [1.0]]), np.array([0, 1, 1])
    for ledger in (dense_ledger(X, y, ["bernoulli"]), sparse_ledger(X, y, ["bernoulli"])):
        assert len(ledger.cut(9)) == 3
        assert sum(part.totals().sum() for part in ledger.cut(9)) == 3


def test_a_refit_forgets():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    model = calibrate(NaiveBayes().fit(X[:40], y[:40]), X[40:], y[40:])
    assert hasattr(model, "calibration_")
    assert not hasattr(model.fit(X, y), "calibration_")
    votes = FeatureVotes().fit(X > 0, np.column_stack([y, 1 - y]))
    assert votes.label_names_ == ["0", "1"]
    assert not hasattr(votes.fit(X > 0, y), "label_names_")


@pytest.mark.parametrize("loss", [float("nan"), "0.5", None])
def test_losses_that_are_no_numbers(loss):
    class Odd(Criterion):
        name = "odd"

        def loss(self, scores, classes, weights):
            return loss

    with pytest.raises(ValueError, match="criterion 'odd' must give a number for every subset"):
        plain_selector(criterion=Odd()).fit([[0, 1], [1, 1]] * 9, [0, 1] * 9)


def test_a_selection_of_no_column_by_votes():
    selector = plain_selector(
        FeatureVotes(), criterion="auc", search="backward", min_features=0, validation=None
    ).fit(np.array([[1, 0]] * 6 + [[0, 1]] * 6), [0, 1] * 6)
    assert selector.predict([[1, 0]]).shape == (1,)


def test_words():
    X, y = np.array([[0], [1]] * 5), np.array([0, 1] * 5)
    model = NaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match=r"class_weight.* must be a positive number"):
        plain_selector(class_weight={0: 10**400}).fit(X, y)
    with pytest.raises(ValueError, match="table must be the name of a table; got 3"):
        to_sql(model, 3)
    with pytest.raises(ValueError, match="name must be a Python identifier, and no keyword"):
        to_python(model, "class")
    with pytest.raises(TypeError, match="path must be the path of a file; got None"):
        load_model(None)
    with pytest.raises(TypeError, match="classes must be of one kind"):
        NaiveBayes().partial_fit(X, y, classes=[0, None])
    with pytest.raises(ValueError, match="sample_weight must hold numbers"):
        NaiveBayes().fit(X, y, sample_weight=["a"] * 10)
    with pytest.raises(TypeError, match=r"lazy frame.*collect\(\)"):
        NaiveBayes().fit(pl.LazyFrame({"a": [0, 1]}), [0, 1])
    with pytest.raises(ValueError, match=r"got 1 class \(0.0\)\. Nothing can be told apart"):
        NaiveBayes().fit(X, np.zeros(10))
    with pytest.raises(ValueError, match=r"got 1 class \(0\) where sample_weight is positive"):
        NaiveBayes().fit(X, y, sample_weight=1 - y)
    with pytest.raises(ValueError, match="var_smoothing must be a number"):
        NaiveBayes(var_smoothing=np.inf).fit(X, y)
