"""Pipelines that end in one of ours: names through their steps, every step within folds."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bayesieve import (
    NaiveBayes,
    NaiveBayesSelector,
    WeightedNaiveBayes,
    explain,
    explain_model,
    load_model,
    nested,
    save_model,
    stability,
)
from bayesieve.evaluation.performance import performance
from bayesieve.explain.report import make_report

# A file and its pipeline are tested with corrections; names and folds do not hang on them.
PLAIN = WeightedNaiveBayes(corrections=False)
MODELS = [NaiveBayes(), NaiveBayesSelector(), PLAIN]


@pytest.fixture(scope="module")
def cells():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :8].copy()
    X.iloc[::17, 2] = np.nan
    X["ward"] = np.where(np.arange(len(X)) % 3 == 0, "east", "west")
    return X, np.where(y, "benign", "malignant")


def steps():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_column_transformer(
        (numbers, [f"{n}" for n in load_breast_cancer().feature_names[:8]]),
        (OneHotEncoder(sparse_output=False), ["ward"]),
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_names_are_those_that_the_steps_give_out(cells, model, output):
    X, y = cells
    piped = make_pipeline(steps().set_output(transform=output), model).fit(X, y)
    wanted = set(piped[:-1].get_feature_names_out())
    found = explain(piped, X.iloc[:3])
    # A pair is named by both of its columns.
    names = {name for bar in found[0].evidence[1:] for name in bar.feature.split(" x ")}
    assert names <= wanted
    assert any(bar.feature.startswith("pipeline__mean") for bar in found[0].evidence[1:])
    assert [each.probability for each in found] == pytest.approx(
        piped.predict_proba(X.iloc[:3]).max(1), abs=1e-12
    )
    told = {name for each in explain_model(piped).features for name in each.feature.split(" x ")}
    assert told <= wanted


@pytest.mark.parametrize("model", MODELS)
def test_the_fitted_pipeline_stays_as_it_is(cells, model):
    X, y = cells
    piped = make_pipeline(steps(), model).fit(X, y)
    last = piped[-1]
    before = piped.predict_proba(X)
    explain(piped, X.iloc[:2])
    explain_model(piped)
    assert not hasattr(last, "feature_names_in_")
    assert np.array_equal(piped.predict_proba(X), before)
    inner = last if isinstance(last, NaiveBayes) else last.estimator_
    assert all(spec.name.startswith("x") for spec in inner.fitted_.specs)


@pytest.mark.parametrize("model", MODELS)
def test_a_report_shows_the_names(cells, model):
    X, y = cells
    piped = make_pipeline(steps(), model).fit(X, y)
    page = make_report(piped, X, y, n_resamples=0)
    assert "pipeline__mean" in page


def test_a_file_holds_the_last_step_and_says_so(cells, tmp_path):
    X, y = cells
    piped = make_pipeline(steps(), WeightedNaiveBayes()).fit(X, y)
    with pytest.warns(UserWarning, match="must have passed 'columntransformer' before"):
        save_model(piped, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    rows = pd.DataFrame(piped[:-1].transform(X), columns=piped[:-1].get_feature_names_out())
    found = again.predict_proba(rows[again.feature_names_in_.tolist()])
    assert np.array_equal(found, piped.predict_proba(X))


def test_a_pipeline_of_nothing_but_a_model_is_that_model(cells):
    X, y = cells
    piped = Pipeline([("nothing", "passthrough"), ("model", clone(PLAIN))]).fit(X, y)
    alone = clone(PLAIN).fit(X, y)
    assert explain(piped, X.iloc[:2]) == explain(alone, X.iloc[:2])
    options = {"cv": 3, "random_state": 0}
    one = nested(piped, X, y, **options)
    other = nested(alone, X, y, **options)
    assert one.error.tolist() == other.error.tolist()
    assert one.subsets == other.subsets


def test_every_step_learns_within_the_fold():
    # Columns of noise, the best of 2000 chosen by a step: judged honestly, they are noise.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2000)), rng.integers(0, 2, 120)
    piped = make_pipeline(
        SelectKBest(k=10), WeightedNaiveBayes(pairs=False, price=0.1, corrections=False)
    )
    honest = nested(piped, X, y, cv=5, random_state=0)
    leaked = nested(piped[-1], piped[0].fit_transform(X, y), y, cv=5, random_state=0)
    assert honest.mean(honest.error) > 0.4
    assert leaked.mean(leaked.error) < honest.mean(honest.error) - 0.1
    # Another ten in every fold: names, not places, tell them apart.
    assert len(honest.feature_names) > 10


def test_nested_is_a_loop_over_the_folds(cells):
    X, y = cells
    piped = make_pipeline(steps(), NaiveBayesSelector())
    folds = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    found = nested(piped, X, y, cv=folds, random_state=0)
    for (train, test), fold in zip(folds, found.folds, strict=True):
        mine = make_pipeline(steps(), NaiveBayesSelector()).fit(X.iloc[train], y[train])
        assert fold.error == pytest.approx((mine.predict(X.iloc[test]) != y[test]).mean())


def test_stability_of_a_pipeline(cells):
    X, y = cells
    piped = make_pipeline(steps(), NaiveBayesSelector(preset="few"))
    found = stability(piped, X, y, n_resamples=3, random_state=0)
    assert found.n_resamples == 3
    assert set(found.feature_names) <= set(piped.fit(X, y)[:-1].get_feature_names_out())
    again = stability(piped, X, y, n_resamples=3, random_state=0)
    assert np.array_equal(found.selected, again.selected)


def rows_of_all_kinds():
    """A table with twins, rows that count not or often, groups, and whole groups that validate."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame({f"b{j}": rng.random(300) < 0.3 + 0.3 * (j < 4) * y for j in range(6)})
    X = X.astype(float).assign(twin=X["b0"] * 1.0, number=rng.normal(size=300) + y)
    X.loc[::40, "twin"] = 1 - X.loc[::40, "twin"]
    weights = rng.integers(1, 4, 300)
    weights[rng.choice(300, 5, replace=False)] = 0
    groups = np.repeat(np.arange(60), 5)
    return X, y, weights, groups, groups % 3 == 0


NOTHING = ["passthrough", FunctionTransformer(feature_names_out="one-to-one")]


@pytest.mark.parametrize(
    ("step", "grouped"),
    [(NOTHING[0], True), (NOTHING[1], False)],
    ids=["passthrough", "identity"],
)
@pytest.mark.parametrize(
    "build",
    [
        lambda mask: NaiveBayesSelector(validation=mask, reweigh=False, random_state=None),
        lambda mask: NaiveBayesSelector(
            search="random", validation=mask, families="auto", random_state=None
        ),
        lambda mask: NaiveBayesSelector(
            cv="train", families=[["b0", "twin"]], class_weight={0: 1, 1: 2}
        ),
        lambda mask: WeightedNaiveBayes(pairs=False, validation=mask, corrections=False),
    ],
)
def test_a_step_that_does_nothing_changes_nothing(build, step, grouped):
    X, y, weights, groups, mask = rows_of_all_kinds()
    alone = build(mask)
    piped = Pipeline([("nothing", step), ("model", alone)])
    options = {"random_state": 0, "sample_weight": weights, "groups": groups if grouped else None}
    one = stability(alone, X, y, n_resamples=3, **options)
    other = stability(piped, X, y, n_resamples=3, n_jobs=2, **options)
    assert one.to_dict() == other.to_dict()
    assert one.family_jaccard is not None
    assert np.array_equal(one.families.leader, other.families.leader)
    one, other = (nested(each, X, y, cv=3, **options) for each in (alone, piped))
    assert one.to_dict() == other.to_dict()


def test_families_of_columns_that_only_some_samples_have():
    """Two copies of one column are one family, where samples have the one or the other."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    first = (rng.random(200) < 0.2 + 0.6 * y).astype(float)
    X = pd.DataFrame({"first": first, "second": first, "noise": rng.integers(0, 2, 200) * 1.0})

    class Either(BaseEstimator, TransformerMixin):
        def fit(self, X, y):
            either = ["first", "second"]
            self.kept_ = either if len(X) == 200 else either[y.sum() % 2 :][:1]
            return self

        def transform(self, X):
            return X[[*self.kept_, "noise"]]

    piped = make_pipeline(Either(), NaiveBayesSelector(n_features=1, reweigh=False))
    found = stability(piped, X, pd.Series(y), n_resamples=12, random_state=0)
    assert set(found.feature_names) == {"first", "second", "noise"}
    assert found.frequency[found.feature_names.index("noise")] == 0
    assert found.jaccard < 1
    assert found.family_jaccard == 1


class Remembered(NaiveBayesSelector):
    """Tells with what settings it was fitted."""

    seen: ClassVar[list] = []

    def fit(self, X, y, **params):
        self.seen.append(self.get_params(deep=False))
        return super().fit(X, y, **params)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("judge", ["nested", "stability", "performance"])
def test_every_refit_has_the_same_settings(judge, n_jobs, tmp_path):
    X, y, *_ = rows_of_all_kinds()
    model = Remembered(
        search="forward", max_features=2, time_limit=500, n_jobs=2, checkpoint=tmp_path / "journal"
    )
    options, piped = {"random_state": 0, "n_jobs": n_jobs}, make_pipeline("passthrough", model)
    if judge == "performance":  # one refit after the other
        n_jobs = 1
        model.fit(X, y)
    Remembered.seen.clear()
    if judge == "nested":
        nested(model, X, y, cv=3, **options), nested(piped, X, y, cv=3, **options)
    elif judge == "stability":
        options["n_resamples"] = 3
        stability(model, X, y, **options), stability(piped, X, y, **options)
    else:
        performance(model, X, y)
    assert len(Remembered.seen) == (5 if judge == "performance" else 6)
    for settings in Remembered.seen:
        assert settings["time_limit"] == 500
        assert settings["checkpoint"] is None
        assert settings["progress"] is False
        assert settings["n_jobs"] == (2 if n_jobs == 1 else 1)


def test_text_through_a_vectorizer():
    texts = ["win a prize now", "meet me at noon", "prize money", "see you at lunch"] * 15
    y = np.array(["spam", "ham"] * 30)
    piped = make_pipeline(CountVectorizer(binary=True), WeightedNaiveBayes()).fit(texts, y)
    read = {part for each in explain_model(piped).features for part in each.feature.split(" x ")}
    assert read <= set(piped[0].get_feature_names_out())
    found = explain(piped, ["prize at lunch"])
    assert found[0].target in ("spam", "ham")


def test_every_parameter_can_be_searched(cells):
    X, y = cells
    piped = make_pipeline(SimpleImputer(), clone(PLAIN))
    grid = {"weightednaivebayes__max_terms": [2, 5], "weightednaivebayes__pairs": [False]}
    found = GridSearchCV(piped, grid, cv=3).fit(X.drop(columns="ward"), y)
    assert found.best_params_["weightednaivebayes__max_terms"] in (2, 5)
    assert explain(found.best_estimator_, X.drop(columns="ward").iloc[:1])


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: make_pipeline(StandardScaler(), LogisticRegression()), "got LogisticRegression"),
        (
            lambda: make_pipeline(FunctionTransformer(np.abs), NaiveBayes()),
            "the step 'functiontransformer' .* does not tell the names",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused_by_name(build, error):
    X, y = load_breast_cancer(return_X_y=True)
    piped = build().fit(X[:, :4], y)
    with pytest.raises(TypeError, match=error):
        explain(piped, X[:2, :4])


def test_components_have_the_names_that_their_step_gives_them():
    X, y = load_breast_cancer(return_X_y=True)
    piped = make_pipeline(StandardScaler(), PCA(3), NaiveBayes()).fit(X, y)
    assert [each.feature for each in explain_model(piped).features] == ["pca0", "pca1", "pca2"]
    with pytest.raises(TypeError, match="must be a NaiveBayesSelector or a WeightedNaiveBayes"):
        nested(piped, X, y)
