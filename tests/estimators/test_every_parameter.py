"""`GridSearchCV` over every parameter of our estimators finds what each value alone gives."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bayesieve import FeatureVotes, NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.criteria import CRITERIA
from bayesieve.search import SEARCHES

FOLDS = StratifiedKFold(2, shuffle=True, random_state=0)
BAYES = {
    "features": ["auto", "intervals", {"a": "gaussian", 3: "bernoulli"}],
    "smoothing": [1.0, 0.1, "mean"],
    "priors": [None, "uniform", [0.3, 0.7]],
    "var_smoothing": [None, 1e-9],
    "rounded": [False, True],
}
SELECTOR = {
    "estimator": [None, NaiveBayes(smoothing=0.5)],
    "search": ["auto", *SEARCHES],
    "criterion": ["auto", *CRITERIA],
    "cv": ["auto", "train", "loo", 3, KFold(2)],
    "validation": ["auto", None, 0.4],
    "n_features": [None, 2],
    "max_features": [None, 2],
    "min_features": [0, 2],
    "feature_groups": [None, [["a", "b"]]],
    "keep": [(), ["c"]],
    "class_weight": [None, "balanced"],
    "random_state": [0, 7],
    "n_jobs": [None, 2],
    "progress": [False, True],
    "choice": ["auto", "best", "one-se", "proven"],
    "checkpoint": [None, "one", "two"],
    "time_limit": [None, 60.0],
    "forbid": [(), ["a"]],
    "reweigh": ["auto", True, False],
    "families": [None, "auto", [["a", "b"]]],
    "preset": [None, "few", "balanced", "accurate"],
    "engine": [None, "threads"],
    "start": [None, ["d"]],
}
WEIGHTED = {
    "max_terms": ["auto", 1],
    "pairs": ["auto", True, False],
    "price": ["auto", 0.5],
    "pair_price": [2.0, 0.0],
    "ridge": [4.0, 0.0],
    "features": ["auto", {"a": "intervals"}],
    "smoothing": [1.0, 0.1],
    "priors": [None, "uniform"],
    "class_weight": [None, "balanced", {"x": 3, "y": 1}],
    "keep": [(), ["c"]],
    "forbid": [(), ["a"]],
    "feature_groups": [None, [["a", "b"]]],
    "monotone": [None, {"a": 1}],
    "missing": ["silent", "evidence"],
    "shared_terms": [True, False],
    "n_jobs": [None, 2],
    "random_state": [0, 7],
    "progress": [False, True],
    "checkpoint": [None, "one", "two"],
    "time_limit": [None, 60.0],
    "families": [None, "auto", [["a", "b"]]],
    "validation": [None, 0.3],
    "preset": [None, "few", "balanced", "accurate"],
    "engine": [None, "threads"],
    "start": [None, ["d"]],
    "corrections": [True, False, (0.64, 3.0)],
}
# Elsewhere corrections only take time; here they have a part in what the parameter does.
CORRECTED = {"corrections", "pairs", "monotone", "random_state"}
GRIDS = {NaiveBayes: BAYES, NaiveBayesSelector: SELECTOR, WeightedNaiveBayes: WEIGHTED}
CASES = [
    pytest.param(model, name, id=f"{model.__name__}-{name}")
    for model in GRIDS
    for name in model().get_params(deep=False)
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = np.repeat(["x", "y"], 70)
    told = y == "y"
    X = pd.DataFrame(
        {
            "a": rng.normal(size=140) + 1.5 * told,
            "b": rng.integers(0, 5, 140) + 2 * told,
            "c": np.where(rng.random(140) < 0.7, told, ~told).astype(int),
            "d": rng.integers(0, 2, 140),
            "e": rng.normal(size=140),
        }
    )
    return X, y


@pytest.mark.parametrize(("model", "name"), CASES)
def test_every_parameter_can_be_searched(model, name, rows, tmp_path, monkeypatch):
    """By name, cloned and within a pipeline; the score of a value is that of a model with it."""
    monkeypatch.chdir(tmp_path)  # for checkpoints
    values = GRIDS[model][name]
    assert len(values) >= 2
    splits = list(FOLDS.split(*rows))[:1]
    refit = name != "checkpoint"  # a checkpoint is of one table, and refuses others
    seed = {"random_state": 0} if "random_state" in model().get_params() else {}
    if model is WeightedNaiveBayes and name not in CORRECTED:
        seed["corrections"] = False
    piped = make_pipeline(FunctionTransformer(), model(**seed))
    grid = {f"{model.__name__.lower()}__{name}": values}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = GridSearchCV(piped, grid, cv=splits, error_score="raise", refit=refit).fit(*rows)
        alone = [
            cross_val_score(model(**{**seed, name: value}), *rows, cv=splits).mean()
            for value in values
        ]
    assert found.cv_results_["mean_test_score"].tolist() == alone
    assert min(alone) > 0.5
    if refit:
        assert found.best_params_ == {f"{model.__name__.lower()}__{name}": values[np.argmax(alone)]}
        assert (found.predict(rows[0]) == rows[1]).mean() > 0.7


def test_parameters_of_the_model_within_can_be_searched(rows):
    """Of the model that the selector has by default, and of one given; the model itself too."""
    X, y = rows
    grid = {"estimator__smoothing": [0.1, 1.0], "estimator__features": ["auto", "intervals"]}
    for given in (None, NaiveBayes(priors="uniform")):
        found = GridSearchCV(NaiveBayesSelector(given), grid, cv=FOLDS, error_score="raise")
        best = found.fit(X, y).best_estimator_
        assert (
            best.get_params()["estimator__smoothing"] == found.best_params_["estimator__smoothing"]
        )
        again = clone(best).fit(X, y)
        assert np.array_equal(again.predict_proba(X), found.predict_proba(X))
    votes = GridSearchCV(
        NaiveBayesSelector(), {"estimator": [NaiveBayes(), FeatureVotes()]}, cv=FOLDS
    )
    assert np.isfinite(votes.fit(X[["c", "d"]], y).cv_results_["mean_test_score"]).all()
