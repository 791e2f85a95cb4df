"""Columns of which a single value is seen say nothing, unless their feature model is named."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.explain.modelfile.file import model_from_dict, model_to_dict
from bayesieve.export import to_python


def zeros_and_ones(seed=0, n_rows=300, share=0.1):
    """Five columns that tell something, one of zeros and one of ones."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    X = (rng.random((n_rows, 5)) < 0.2 + 0.4 * y[:, None]).astype(float)
    return np.column_stack([X, np.zeros(n_rows), np.ones(n_rows)]), y


def forms(X):
    """The table as an array, sparse, with a value missing, and beside columns of other kinds."""
    holes = X.copy()
    holes[0, 5] = holes[1, 6] = np.nan
    frame = pd.DataFrame(X).add_prefix("x")
    frame["number"], frame["kind"] = np.arange(len(X)) % 17 / 3, list("ab" * (len(X) // 2))
    return {"dense": X, "sparse": csr_array(X), "holes": holes, "frame": frame}


@pytest.mark.parametrize("form", ["dense", "sparse", "holes", "frame"])
@pytest.mark.parametrize("smoothing", [0, 0.5, 1.0, "mean"])
def test_constants_say_nothing(form, smoothing):
    X, y = zeros_and_ones()
    model = NaiveBayes(smoothing=smoothing).fit(forms(X)[form], y)
    assert model.fitted_.feature_models[5:7] == ["bernoulli"] * 2
    for j in (5, 6):
        assert not np.asarray(model.fitted_.only.tables[j]).any()
    if form in ("dense", "sparse") and smoothing != "mean":  # of all columns, constants too
        few = NaiveBayes(smoothing=smoothing).fit(X[:, :5], y)
        assert (model.predict_proba(X) == few.predict_proba(X[:, :5])).all()


@pytest.mark.parametrize("features", ["bernoulli", {6: "bernoulli"}])
def test_a_named_model_keeps_its_definition(features):
    X, y = zeros_and_ones()
    table = np.asarray(NaiveBayes(features).fit(X, y).fitted_.only.tables[6])
    assert np.ptp(table[1]) > 0


def test_weighted_models_hear_nothing_of_constants():
    X, y = zeros_and_ones(share=0.3)
    for table in forms(X).values():
        model = WeightedNaiveBayes(start=[5, 6, 0], keep=[5, 6]).fit(table, y)
        for term in model.terms_:
            if term["columns"] in ((5,), (6,)):
                assert not term["table"].any()


@pytest.mark.parametrize("criterion", ["error", "log-likelihood", "probability"])
@pytest.mark.parametrize("cv", ["train", 3, "loo"])
def test_ledgers_hear_nothing_of_constants(cv, criterion):
    """Scores of a search that must keep two constants are those of one without them."""
    X, y = zeros_and_ones()
    settings = {"search": "forward", "criterion": criterion, "cv": cv, "validation": None}
    tables = [X] if cv == "loo" else [X, csr_array(X)]
    few = NaiveBayesSelector(n_features=3, **settings).fit(X[:, :5], y)
    for table in tables:
        found = NaiveBayesSelector(n_features=5, keep=[5, 6], **settings).fit(table, y)
        scores = [step.score for step in found.path_.steps]
        assert scores[-3:] == [step.score for step in few.path_.steps][-3:]


def test_the_only_row_with_a_value_leaves_a_constant():
    """Leave-one-out in closed form is that of a fit without the row."""
    X, y = zeros_and_ones(n_rows=60, share=0.4)
    X[:, 0] = np.arange(60) == 7
    settings = {"search": "forward", "criterion": "probability", "n_features": 7}
    found = NaiveBayesSelector(cv="loo", validation=None, **settings).fit(X, y)
    wrong = []
    for i in range(60):
        rest = np.arange(60) != i
        model = NaiveBayes().fit(X[rest], y[rest])
        wrong.append(1 - model.predict_proba(X[i : i + 1])[0, y[i]])
    assert found.path_.steps[-1].score == pytest.approx(np.mean(wrong))


def test_batches_learn_what_is_no_constant_any_more():
    X, y = zeros_and_ones()
    X[200:, 5] = y[200:]
    model = NaiveBayes().partial_fit(X[:200], y[:200], classes=[0, 1])
    assert not np.asarray(model.fitted_.only.tables[5]).any()
    model.partial_fit(X[200:], y[200:])
    assert (model.predict_proba(X) == NaiveBayes().fit(X, y).predict_proba(X)).all()


@pytest.mark.parametrize("features", ["auto", {"x0": "categorical"}, "bernoulli"])
def test_files_and_exports_say_the_same(features):
    X, y = zeros_and_ones()
    frame = pd.DataFrame(X).add_prefix("x")
    model = NaiveBayes(features).fit(frame, y)
    again = model_from_dict(model_to_dict(model))
    assert (again.predict_proba(frame) == model.predict_proba(frame)).all()
    for mine, its in zip(model.fitted_.only.tables, again.fitted_.only.tables, strict=True):
        assert (np.asarray(mine) == np.asarray(its)).all()
    space = {}
    exec(to_python(model), space)
    said = [space["predict"](row) for row in frame.to_dict("records")]
    assert said == model.predict(frame).tolist()
