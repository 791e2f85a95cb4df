"""A selector that reweighs is judged by the weighted model that predicts."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from bayesieve import NaiveBayes, WeightedNaiveBayes, calibrate
from bayesieve.evaluation.performance import performance
from bayesieve.explain.report import make_report
from plain import plain_selector


def table(seed=0, n=600):
    """Copies of one signal, which plain naive Bayes counts as often as they come."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    hidden = y + rng.normal(size=n)
    X = pd.DataFrame({f"copy{i}": np.round(hidden + rng.normal(size=n) / 3, 1) for i in range(4)})
    X["own"] = np.where(rng.random(n) < 0.4, "z", np.array(["a", "b", "c"])[y])
    X.loc[rng.random(n) < 0.1, "copy1"] = np.nan
    return X, y


def selector_of(**options):
    every = {"keep": range(5), "search": "forward", "random_state": 3, **options}
    return plain_selector(reweigh=True, **every)


def twin(selector, X, y, rows, held, weights=None):
    """A weighted model of some rows, by another door: every column is kept, and no pair offered."""
    order = selector.selected_.tolist()
    names = [X.columns[j] for j in order]
    weights = np.ones(len(X), int) if weights is None else weights
    model = WeightedNaiveBayes(
        pairs=False,
        price=0.0,
        keep=names,
        max_terms=len(order),
        class_weight=selector.class_weight,
        corrections=False,
    )
    model.fit(X.iloc[rows][names], y[rows], sample_weight=weights[rows])
    return model.predict_proba(X.iloc[held][names])


def coarse(X):
    """Few values, all of which occur in every half: a grid of some rows is the grid of all."""
    found = X.copy()
    for name in [name for name in X if name.startswith("copy")]:
        found[name] = found[name].clip(-1, 3).round()
    return found


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_held_out_rows_are_judged_by_weights_of_the_guiding_rows(class_weight, weighted):
    X, y = table()
    X = coarse(X)
    weights = np.random.default_rng(1).integers(1, 4, len(X)) if weighted else None
    selector = selector_of(class_weight=class_weight).fit(X, y, sample_weight=weights)
    guiding, held = selector.guiding_rows_, selector.validation_rows_
    proba = twin(selector, X, y, guiding, held, weights)
    shares = np.ones(len(held)) if weights is None else weights[held].astype(float)
    wanted = np.average(-np.log(proba[np.arange(len(held)), y[held]]), weights=shares)
    found = performance(selector, X, y, weights)
    assert found.rows == "validation"
    assert found.log_loss == pytest.approx(wanted, abs=1e-9)
    assert found.error == pytest.approx(np.average(proba.argmax(1) != y[held], weights=shares))
    # Tables without weights say something else, and so does a model that knew the held-out rows.
    plain = NaiveBayes().fit(X.iloc[guiding], y[guiding])
    for other in (plain, selector):
        said = other.predict_proba(X.iloc[held])[np.arange(len(held)), y[held]]
        loss = np.average(-np.log(said), weights=shares)
        assert abs(loss - found.log_loss) > 1e-6


def test_without_a_validation_part_folds_are_judged_with_weights():
    X, y = table()
    plain = performance(selector_of(validation=None).set_params(reweigh=False).fit(X, y), X, y)
    found = performance(selector_of(validation=None).fit(X, y), X, y)
    assert (plain.rows, found.rows) == ("anew", "anew")
    # Four copies of one signal make plain naive Bayes far too sure.
    assert found.log_loss < 0.9 * plain.log_loss


@pytest.mark.parametrize("form", ["labels", "sparse"])
def test_labels_and_sparse_tables(form):
    rng = np.random.default_rng(0)
    n = 400
    Y = rng.integers(0, 2, (n, 2))
    X = (rng.random((n, 8)) < 0.1 + 0.5 * np.repeat(Y, 4, axis=1)).astype(float)
    given = csr_matrix(X) if form == "sparse" else X
    y = Y if form == "labels" else Y[:, 0]
    selector = plain_selector(reweigh=True, random_state=0).fit(given, y)
    found = performance(selector, given, y)
    assert found.n_rows == len(selector.validation_rows_)
    dense = performance(plain_selector(reweigh=True, random_state=0).fit(X, y), X, y)
    assert found.log_loss == pytest.approx(dense.log_loss, abs=1e-12)
    assert found.error < 0.2


def test_reports_and_temperatures_speak_of_the_same_model():
    pytest.importorskip("jinja2")
    X, y = table()
    selector = selector_of().fit(X, y)
    found = performance(selector, X, y)
    page = make_report(selector, X, y, n_resamples=0)
    assert f"{found.log_loss:.4g}" in page
    assert "with tables (and weights) fitted on the search rows only" in page
    data = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert data["portable"]["problems"][0]["classes"] == [0, 1, 2]
    calibrated = calibrate(selector, X, y, rows="validation")
    assert 0.5 < calibrated.estimator_.temperature_ < 2
