"""A criterion of one's own is named, with its value, where a selection is judged."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from bayesieve import NaiveBayes, NaiveBayesSelector
from bayesieve.criteria import AUC, Criterion
from bayesieve.evaluation.performance import performance
from bayesieve.explain.report import make_report
from plain import plain_selector
from tables import binary_table


class Margin(Criterion):
    """How far the true class leads, in the mean: higher is better."""

    name = "mean <lead>"
    greater_is_better = True

    def loss(self, scores, classes, weights):
        lead = scores[np.arange(len(classes)), classes] - scores.mean(1)
        return -float(np.average(lead, weights=weights))


def by_hand(model, X, y, weights):
    """What it says of a fitted model on some rows."""
    columns = np.flatnonzero(model.support_)
    return model.estimator_.predict_joint_log_proba(X[:, columns]), y, weights


def lead(parts):
    scores, classes, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    return -Margin().loss(scores, classes, weights)


def test_on_validation_rows():
    X, y = binary_table(200, 6)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    selector = plain_selector(criterion=Margin(), validation=0.4, random_state=0)
    found = performance(selector.fit(X, y, sample_weight=weights), X, y, weights)
    guide, other = selector.guiding_rows_, selector.validation_rows_
    columns = np.flatnonzero(selector.support_)
    model = NaiveBayes().fit(X[guide][:, columns], y[guide], weights[guide])
    scores = model.predict_joint_log_proba(X[other][:, columns])
    assert found.criterion.name == "mean <lead>"
    assert found.criterion.greater_is_better
    assert found.criterion.value == pytest.approx(lead([(scores, y[other], weights[other])]))
    assert found.to_dict()["criterion"] == {
        "name": "mean <lead>",
        "value": found.criterion.value,
        "greater_is_better": True,
    }


def test_where_all_of_it_is_done_again():
    X, y = binary_table(150, 6)
    selector = plain_selector(criterion=Margin(), validation=None, cv=3, random_state=0)
    found = performance(selector.fit(X, y), X, y)
    assert found.rows == "anew"
    parts = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        again = plain_selector(criterion=Margin(), validation=None, cv=3, random_state=0)
        again.fit(X[train], y[train])
        parts.append(by_hand(again, X[test], y[test], np.ones(len(test))))
    assert found.criterion.value == pytest.approx(lead(parts), abs=1e-9)


def test_the_report_names_it_and_escapes_its_name():
    pytest.importorskip("jinja2")
    X, y = binary_table(120, 5)
    selector = plain_selector(criterion=Margin(), validation=0.5, random_state=0).fit(X, y)
    value = performance(selector, X, y).criterion.value
    page = make_report(selector, X, y, n_resamples=0)
    assert f"mean &lt;lead&gt;: {value:.4g} on these rows (higher is better)" in page


@pytest.mark.parametrize("criterion", ["auto", "error", "log-likelihood", AUC()])
def test_criteria_of_the_package_have_figures_of_their_own(criterion):
    X, y = binary_table(120, 5)
    y = np.minimum(y, 1)
    selector = NaiveBayesSelector(criterion=criterion, validation=0.5, random_state=0).fit(X, y)
    assert performance(selector, X, y).criterion is None
    assert performance(NaiveBayes().fit(X, y), X, y).criterion is None
