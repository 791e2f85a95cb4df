"""Weights and groups reach our estimators by scikit-learn's routes; frames come out as asked."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesieve import (
    GreedyEnsemble,
    NaiveBayes,
    NaiveBayesSelector,
    SubsetEnsemble,
    WeightedNaiveBayes,
)

MODELS = {
    "bayes": (NaiveBayes(), ("sample_weight",)),
    "selector": (NaiveBayesSelector(random_state=0), ("sample_weight", "groups")),
    "weighted": (WeightedNaiveBayes(), ("sample_weight", "groups")),
}
CHOOSERS = {
    "selector": NaiveBayesSelector(n_features=2),
    "weighted": WeightedNaiveBayes(),
}


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    y = rng.permutation(np.repeat(["x", "y"], 36))
    X = rng.normal(size=(72, 5)) + np.outer(y == "y", [1.2, 0.8, 0, 0, 0])
    weights, groups = rng.integers(1, 6, 72), np.arange(72) // 4
    return pd.DataFrame(X, columns=list("abcde")), y, weights, groups


def asking(model, names, **score):
    return clone(model).set_fit_request(**dict.fromkeys(names, True)).set_score_request(**score)


def by_hand(model, names, rows):
    """Weighted accuracy of each fold, every array cut by hand."""
    X, y, weights, groups = rows
    given = {"sample_weight": weights, "groups": groups}
    scores = []
    for train, test in GroupKFold(3).split(X, y, groups):
        scaler = StandardScaler().fit(X.iloc[train])
        fitted = clone(model).fit(
            scaler.transform(X.iloc[train]), y[train], **{n: given[n][train] for n in names}
        )
        right = fitted.predict(scaler.transform(X.iloc[test])) == y[test]
        scores.append(np.average(right, weights=weights[test]))
    return scores


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("name", MODELS)
def test_weights_and_groups_go_through_a_pipeline_and_its_folds(name, rows):
    model, wanted = MODELS[name]
    X, y, weights, groups = rows
    piped = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False),
        asking(model, wanted, sample_weight=True),
    )
    given = {"sample_weight": weights, "groups": groups}
    found = cross_validate(piped, X, y, cv=GroupKFold(3), params=given, error_score="raise")
    assert found["test_score"] == pytest.approx(by_hand(model, wanted, rows), abs=1e-12)
    # The weights do matter here, so that the figure proves that they came.
    unweighted = by_hand(model, [n for n in wanted if n == "groups"], rows)
    assert found["test_score"] != pytest.approx(unweighted, abs=1e-12)


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("name", ["selector", "weighted"])
def test_groups_reach_the_fit(name, rows):
    model, wanted = MODELS[name]
    X, y, weights, groups = rows
    asked = make_pipeline(asking(model, wanted))
    with pytest.raises(ValueError, match="groups"):
        asked.fit(X, y, groups=groups[:-1], sample_weight=weights)
    found = asked.fit(X, y, groups=groups, sample_weight=weights)
    same = clone(model).fit(X, y, groups=groups, sample_weight=weights)
    assert np.array_equal(found.predict_proba(X), same.predict_proba(X))


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("name", MODELS)
def test_what_nobody_asked_for_is_refused_by_scikit_learn(name, rows):
    X, y, weights, _ = rows
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_validate(MODELS[name][0], X, y, params={"sample_weight": weights})


@pytest.mark.usefixtures("_routing")
def test_a_grid_passes_them_on(rows):
    X, y, weights, groups = rows
    model, wanted = MODELS["selector"]
    grid = {"criterion": ["error", "probability"]}
    found = GridSearchCV(
        asking(model, wanted, sample_weight=True), grid, cv=GroupKFold(3), error_score="raise"
    ).fit(X, y, sample_weight=weights, groups=groups)
    best = clone(model).set_params(**found.best_params_)
    best.fit(X, y, sample_weight=weights, groups=groups)
    assert np.array_equal(found.predict_proba(X), best.predict_proba(X))


# -- frames that come out ------------------------------------------------------------------------


@pytest.mark.parametrize("model", CHOOSERS.values(), ids=list(CHOOSERS))
@pytest.mark.parametrize("came", ["pandas", "polars", "numpy"])
@pytest.mark.parametrize("asked", ["pandas", "polars", "default"])
def test_a_chooser_gives_the_frame_that_was_asked_for(model, came, asked, rows):
    X, y = rows[:2]
    given = {"pandas": X, "polars": pl.from_pandas(X), "numpy": X.to_numpy()}[came]
    chooser = clone(model).set_output(transform=asked).fit(given, y)
    found = chooser.transform(given)
    if asked == "default":
        assert isinstance(found, np.ndarray)
    else:
        kind = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[asked]
        assert isinstance(found, kind)
        names = X.columns if came != "numpy" else [f"x{j}" for j in range(5)]
        assert list(found.columns) == [n for n, k in zip(names, chooser.support_, strict=True) if k]
        found = nw.from_native(found).to_numpy()
    assert np.array_equal(found, X.to_numpy()[:, chooser.support_])
    if came == asked == "pandas":
        assert chooser.transform(X.set_index(X.index + 7)).index[0] == 7


@pytest.mark.parametrize("asked", ["pandas", "polars"])
def test_a_chooser_within_columns_of_a_frame(asked, rows):
    """Names through a ColumnTransformer, of which a chooser is one branch."""
    X, y = rows[:2]
    both = make_column_transformer(
        (NaiveBayesSelector(n_features=1), ["a", "c"]),
        (WeightedNaiveBayes(keep=["b"]), ["b", "d"]),
    ).set_output(transform=asked)
    found = both.fit(X, y).transform(X)
    assert list(found.columns) == list(both.get_feature_names_out())
    assert list(found.columns)[:2] == ["naivebayesselector__a", "weightednaivebayes__b"]


@pytest.mark.parametrize("model", [GreedyEnsemble(), SubsetEnsemble(), NaiveBayes()])
def test_models_without_transform_have_no_output_to_set(model):
    assert not hasattr(model, "transform")
    assert not hasattr(model, "set_output")
