"""The ranking by weight, and the reproduction of Guyon 2005."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer

import bayesieve_papers as papers
from bayesieve import NaiveBayes, rank


def test_weights_of_binary_columns_are_the_linear_forms():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    X = (rng.random((150, 8)) < 0.2 + 0.3 * y[:, None] * np.linspace(0, 1, 8)).astype(int)
    model = NaiveBayes(smoothing="mean").fit(X, y)
    found = rank(X, y, "weights")
    np.testing.assert_allclose(found.scores, np.abs(model.coef_[0]), rtol=1e-9)
    np.testing.assert_allclose(rank(sp.csr_array(X), y, "weights").scores, found.scores)


def test_weights_of_numbers_do_not_depend_on_units():
    X, y = load_breast_cancer(return_X_y=True)
    found = rank(X, y, "weights")
    scaled = (X - X.mean(0)) / X.std(0)
    model = NaiveBayes("gaussian-pooled", var_smoothing=0).fit(scaled, y)
    np.testing.assert_allclose(found.scores, np.abs(model.coef_[0]), rtol=1e-6)
    moved = rank(X * np.linspace(0.1, 50, 30) + 7, y, "weights")
    np.testing.assert_allclose(moved.scores, found.scores, rtol=1e-9)


def test_weights_of_several_classes_and_awkward_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    table = pd.DataFrame(
        {
            "useful": rng.normal(size=120) + 2 * (y == 1),
            "noise": rng.normal(size=120),
            "constant": np.ones(120),
            "nothing": np.full(120, np.nan),
            "kind": np.where(y == 2, "u", rng.choice(["u", "v", "w"], 120)),
        }
    )
    found = rank(table, y, "weights")
    assert set(found.order[:2].tolist()) == {0, 4}
    assert np.isfinite(found.scores).all()
    assert (found.scores[[2, 3]] == 0).all()


@pytest.fixture(scope="module")
def quick():
    return papers.run("guyon", quick=True, seed=0, n_jobs=1)


def test_the_reproduction_says_what_holds(quick):
    assert [c.held for c in quick.conclusions] == [1, 1, 1]
    recall = [r.ours for r in quick.records if r.column == "recall"]
    assert recall == sorted(recall)
    errors = [r.ours for r in quick.records if r.column == "balanced error"]
    assert min(errors) < 0.1
    assert "all 30 features" in quick.to_text()


def test_the_figure_is_drawn(quick):
    from matplotlib.figure import Figure

    figure = Figure()
    quick.draw(figure)
    assert [len(ax.lines) for ax in figure.axes] == [1, 1]
