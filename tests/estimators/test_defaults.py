"""Nested parameters of estimators whose own estimator is left to its default."""

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from bayesieve import FeatureVotes, NaiveBayes, NaiveBayesSelector, SubsetEnsemble
from plain import plain_selector

X, Y = load_iris(return_X_y=True)


def test_a_grid_over_the_default_estimator():
    grid = {"estimator__features": ["gaussian", "mixture-2"], "estimator__var_smoothing": [None]}
    found = GridSearchCV(plain_selector(search="forward", random_state=0), grid, cv=3).fit(X, Y)
    scores = []
    for features in grid["estimator__features"]:
        explicit = plain_selector(NaiveBayes(features), "forward", random_state=0)
        scores.append(GridSearchCV(explicit, {"cv": ["train"]}, cv=3).fit(X, Y).best_score_)
    assert found.cv_results_["mean_test_score"].tolist() == scores
    assert found.best_estimator_.estimator_.features == found.best_params_["estimator__features"]
    pipe = Pipeline([("scale", StandardScaler()), ("select", plain_selector(random_state=0))])
    grid = {"select__estimator__smoothing": [0.5, 1.0]}
    assert GridSearchCV(pipe, grid, cv=3).fit(X, Y).best_score_ > 0.9
    grid = {"estimator__smoothing": [0.5, 1.0]}
    assert GridSearchCV(SubsetEnsemble(n_subsets=2), grid, cv=3).fit(X, Y).best_score_ > 0.9


@pytest.mark.parametrize("kind", [NaiveBayesSelector, SubsetEnsemble])
def test_names_and_values(kind):
    selector = kind()
    named = {k for k in selector.get_params() if k.startswith("estimator__")}
    assert named == {f"estimator__{k}" for k in NaiveBayes().get_params()}
    assert selector.estimator is None
    assert not any("__" in k for k in selector.get_params(deep=False))
    assert clone(selector).estimator is None
    selector.set_params(n_subsets=3) if kind is SubsetEnsemble else selector.set_params(cv=3)
    assert selector.estimator is None
    selector.set_params(estimator__smoothing=2.0)
    assert repr(selector.estimator) == "NaiveBayes(smoothing=2.0)"
    # A second one adds to the first; one's own estimator is never replaced.
    selector.set_params(estimator__rounded=True)
    assert (selector.estimator.smoothing, selector.estimator.rounded) == (2.0, True)
    votes = FeatureVotes()
    selector.set_params(estimator=votes, estimator__orientation="rare")
    assert selector.estimator is votes
    assert votes.orientation == "rare"
    selector.set_params(estimator=None, estimator__priors="uniform")
    assert selector.estimator.get_params() == NaiveBayes(priors="uniform").get_params()
    with pytest.raises(ValueError, match="Invalid parameter 'smoothness'"):
        kind().set_params(estimator__smoothness=1)
