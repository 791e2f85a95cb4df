"""Searches over numbers on a grid against a twin that makes every table from scratch."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.model_selection import StratifiedKFold

import densities
from bayesieve import NaiveBayes
from bayesieve.data.columns import encode, learn
from plain import plain_selector


def problem(seed, n_rows=70, n_columns=4):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, n_columns)) + 0.7 * y[:, None] * np.arange(n_columns)
    X[:, 0] = np.round(X[:, 0])
    X[:, 1] = np.exp(X[:, 1])
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def prior(y):
    return np.log(np.bincount(y, minlength=3) / y.size)


def terms_of_lines(name, X, y, cv):
    """Log-priors and terms of every line, lines x (1 + columns) x classes; and its class."""
    found, truth = [], []
    specs = [learn("x", name, column, True, grid_codes=255) for column in X.T]
    codes = np.column_stack([encode(spec, x) for spec, x in zip(specs, X.T, strict=True)])
    splits = [(np.arange(y.size), np.arange(y.size))]
    if isinstance(cv, int):
        splits = list(StratifiedKFold(cv).split(X, y))
    for train, test in splits:
        tables, own = [], []
        for j, spec in enumerate(specs):
            counts = np.zeros((spec.n_codes, 3))
            np.add.at(counts, (codes[train, j], y[train]), 1)
            said = densities.terms(name, counts[:-1], np.ones(3), spec.points, spec.n_distinct)
            tables.append(np.vstack([said[0], np.zeros(3)]))
            own.append(np.vstack([said[1], np.zeros(3)]))
        for i in test:
            rest = train[train != i] if cv == "loo" else train
            line = [prior(y[rest])]
            for j in range(X.shape[1]):
                said = tables[j][codes[i, j]].copy()
                if cv == "loo":
                    said[y[i]] = own[j][codes[i, j], y[i]]
                line.append(said)
            found.append(line)
            truth.append(y[i])
    return np.array(found), np.array(truth)


def losses(lines, truth, columns):
    sums = lines[:, [0, *(j + 1 for j in columns)]].sum(1)
    proba = sums - logsumexp(sums, axis=1, keepdims=True)
    return -proba[np.arange(truth.size), truth].mean()


@pytest.mark.parametrize("cv", ["train", 3, "loo"])
@pytest.mark.parametrize("name", ["density", "kernel", "rank-kernel", "grid-gaussian"])
def test_a_forward_search_is_the_twins(name, cv):
    X, y = problem(3, 45)
    selector = plain_selector(
        NaiveBayes(name), "forward", "log-likelihood", cv, validation=None
    ).fit(X, y)
    lines, truth = terms_of_lines(name, X, y, cv)
    chosen = []
    for step in selector.path_.steps:
        if step.action == "add":
            left = [j for j in range(X.shape[1]) if j not in chosen]
            best = min(left, key=lambda j: losses(lines, truth, [*chosen, j]))
            assert step.units == (best,)
            chosen.append(best)
        wanted = -losses(lines, truth, chosen)
        assert abs(step.score - wanted) < 1e-9
    assert len(chosen) > 1


@pytest.mark.parametrize("name", ["density", "intervals", "intervals-6"])
def test_the_model_of_the_search_is_that_of_a_fit(name):
    X, y = problem(5)
    selector = plain_selector(NaiveBayes(name), cv=3, random_state=0).fit(X, y)
    alone = NaiveBayes(name).fit(X[:, np.sort(selector.selected_)], y)
    np.testing.assert_allclose(
        selector.predict_proba(X), alone.predict_proba(selector.transform(X)), atol=1e-9
    )


@pytest.mark.parametrize("criterion", ["auc", "probability"])
def test_sparse_columns_and_labels(criterion):
    import scipy.sparse

    X, y = problem(7)
    X = np.where(np.isnan(X) | (X < 0.3), 0.0, X)
    labels = np.column_stack([y == 1, y == 2]).astype(int)
    settings = {"criterion": criterion, "cv": 3, "validation": None, "search": "forward"}
    dense = plain_selector(NaiveBayes("density"), **settings).fit(X, labels)
    sparse = plain_selector(NaiveBayes("density"), **settings)
    sparse.fit(scipy.sparse.csr_array(X), labels)
    assert sparse.selected_.tolist() == dense.selected_.tolist()
    assert [s.score for s in sparse.path_.steps] == [s.score for s in dense.path_.steps]
    one = sparse.predict_proba(scipy.sparse.csr_array(X))
    np.testing.assert_array_equal(one, dense.predict_proba(X))
