"""Equal odds are equal numbers: against exact fractions, written from the definition."""

from fractions import Fraction
from itertools import product
from math import log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import roc_auc_score

from bayesieve import NaiveBayes
from bayesieve.data.kernels.exact import log_each, log_up_to
from bayesieve.models.counts import additive_log
from plain import plain_selector


def joint(X, y, row, smoothing, weight=None):
    """P(class) times P(value | class) for every class: (number of zeros, product) as fractions."""
    alpha = Fraction(smoothing).limit_denominator(1000)
    classes = sorted(set(y))
    found = []
    for k in classes:
        mine = [i for i in range(len(y)) if y[i] == k]
        factor = Fraction(1) if weight is None else weight[k]
        top = [Fraction(len(mine)) * factor]
        zeros = 0
        for j, value in enumerate(row):
            levels = sorted({line[j] for line in X})
            total = len(mine) * factor + alpha * len(levels)
            share = (sum(X[i][j] == value for i in mine) * factor + alpha) / total
            zeros += share == 0
            top.append(share if share else 1 / total)
        found.append((zeros, prod(top)))
    return classes, found


def first_of_best(found):
    fewest = min(zeros for zeros, _ in found)
    best = max(value for zeros, value in found if zeros == fewest)
    return next(i for i, each in enumerate(found) if each == (fewest, best))


@pytest.mark.parametrize("smoothing", [0, 1, 0.5, 0.1])
@pytest.mark.parametrize("kind", ["categorical", "bernoulli", "sparse"])
def test_decisions_are_those_of_exact_fractions(kind, smoothing):
    rng = np.random.default_rng([ord(kind[0]), int(10 * smoothing)])
    for _ in range(40):
        n, p, n_classes = rng.integers(6, 40), rng.integers(1, 3), rng.integers(2, 4)
        X = rng.integers(0, 3 if kind == "categorical" else 2, (n, p))
        X[0], X[1] = 0, 1  # both values are levels
        y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
        table = sparse.csc_array(X) if kind == "sparse" else X
        model = NaiveBayes("bernoulli" if kind == "sparse" else kind, smoothing=smoothing)
        predicted = model.fit(table, y).predict(table)
        cells, truth = X.tolist(), y.tolist()
        for i, row in enumerate(cells):
            classes, found = joint(cells, truth, row, smoothing)
            assert predicted[i] == classes[first_of_best(found)], (i, found)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_rows_of_equal_odds_tie(data):
    """Not only level by level: products of several columns that are equal fractions, too."""
    smoothing = data.draw(st.sampled_from([0.5, 1, 2, 0.25]))
    n = data.draw(st.integers(4, 14))
    row = st.lists(st.integers(0, 3), min_size=2, max_size=2)
    X = data.draw(st.lists(row, min_size=n, max_size=n))
    y = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    balanced = data.draw(st.booleans())
    weight = {k: Fraction(n, 2 * y.count(k)) for k in (0, 1)} if balanced else None
    selector = plain_selector(
        NaiveBayes("categorical", smoothing=smoothing),
        search="backward", n_features=2, validation=None,
        class_weight="balanced" if balanced else None,
    ).fit(np.array(X), y)  # fmt: skip
    scores = selector.decision_function(np.array(X))
    pairs = [joint(X, y, line, smoothing, weight)[1] for line in X]
    exact = [second / first for (_, first), (_, second) in pairs]
    for a in range(n):
        assert scores[a] == pytest.approx(log(exact[a]), abs=1e-9)
        for b in range(n):
            assert (scores[a] == scores[b]) == (exact[a] == exact[b])


def levels_of_equal_odds():
    """Columns whose first two levels have equal odds, classes of all sizes, and the exact AUC."""
    for few, many, rest in product(range(1, 5), range(5, 9), range(1, 7)):
        column = np.array([0] * 2 * few + [1] * 2 * many + [2] * rest)[:, None]
        y = np.array([0, 1] * (few + many) + [1] * rest)
        # Positives of the last level are above all negatives; the others tie with all of them.
        yield column, y, Fraction(2 * rest + few + many, 2 * (few + many + rest))


def test_ties_count_one_half():
    for column, y, exact in levels_of_equal_odds():
        scores = NaiveBayes("categorical").fit(column, y).decision_function(column)
        assert len(set(scores[column[:, 0] < 2])) == 1
        assert roc_auc_score(y, scores) == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_ties_count_one_half_in_a_search(form):
    for column, y, exact in levels_of_equal_odds():
        selector = plain_selector(
            NaiveBayes("categorical"), search="backward", criterion="auc", validation=None
        ).fit(form(np.column_stack([column, np.zeros_like(column)])), y)
        assert selector.path_.steps[0].score == pytest.approx(float(exact), abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(a=st.integers(1, 2**16), b=st.integers(1, 2**16), bits=st.sampled_from([24, 33, 40]))
def test_logarithm_is_additive_and_close(a, b, bits):
    of_a, of_b, of_both = (int(additive_log(np.array([n]), bits)[0]) for n in (a, b, a * b))
    assert of_a + of_b == of_both
    assert abs(of_both - log(a * b) * 2**bits) <= 0.5 * (a * b).bit_length() + 1


def test_both_ways_to_the_logarithm_agree():
    table, each = np.empty(5000, np.int64), np.empty(4999, np.int64)
    log_up_to(2.0**40, table)
    log_each(np.arange(1, 5000), 2.0**40, each)
    assert table[0] == 0
    assert (table[1:] == each).all()
    assert (additive_log(np.arange(5000).reshape(2, -1), 40) == table.reshape(2, -1)).all()


def test_a_coarser_unit_keeps_ties():
    """So many columns with log 0 that the unit grows: equal odds are still equal."""
    rng = np.random.default_rng(0)
    n_columns = 6000
    X = np.repeat(rng.integers(0, 2, (4, n_columns)), [1, 1, 3, 3], axis=0)
    y = np.array([0, 1, 0, 0, 0, 1, 1, 1])
    X[:2, 0], X[2:, 0] = 0, 1  # 1 row a class, and 3 rows a class
    X = np.column_stack([X, np.arange(8) % 2])
    model = NaiveBayes("categorical", smoothing=0).fit(X, y)
    said = model.terms(X)[:, 0]
    assert (said[:, 1] - said[:, 0] == 0).all()
