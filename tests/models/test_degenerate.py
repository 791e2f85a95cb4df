"""Columns without spread: their variance is 0 by definition, and no rounding may speak for it."""

import math
from fractions import Fraction

import numpy as np
import pytest

from bayesieve import NaiveBayes
from bayesieve.models import MODELS, one_set
from plain import plain_selector

TINY = np.finfo(float).tiny  # the documented floor of a variance


def _variance(values: list[float], weights: list[float]) -> Fraction:
    """By its definition, in exact arithmetic."""
    pairs = [(Fraction(v), Fraction(w)) for v, w in zip(values, weights, strict=True)]
    total = sum(w for _, w in pairs)
    mean = sum(v * w for v, w in pairs) / total
    return sum(w * (v - mean) ** 2 for v, w in pairs) / total


def _log_joint(X, y, rows, row, classes, share):
    """Log P(x, class) of one row from the training rows `rows`, with densities in floats."""
    d = X.shape[1]
    whole = [[v for v in X[:, j].tolist() if v == v] for j in range(d)]
    largest = max(_variance(column, [1.0] * len(column)) for column in whole)
    found = []
    for k in classes:
        mine = [i for i in rows if y[i] == k]
        total = math.log(len(mine) / len(rows))
        for j in range(d):
            known = sorted(set(whole[j]))
            width = (known[-1] - known[0]) / (len(known) - 1) if len(known) > 1 else 0.01
            values = [X[i, j] for i in mine if X[i, j] == X[i, j]]
            x = X[row, j]
            if x != x:
                continue
            if not values:
                total -= math.log(width * len(known))
                continue
            variance = _variance(values, [1.0] * len(values)) + Fraction(share) * largest
            variance = max(float(variance), TINY)
            mean = float(sum(map(Fraction, values)) / len(values))
            total -= 0.5 * math.log(2 * math.pi * 1.0) + 0.5 * math.log(variance)
            total -= (x - mean) ** 2 / (2 * variance)
        found.append(total)
    return found


@pytest.mark.parametrize("share", [0.01, 0.0, 1e-9])
@pytest.mark.parametrize("value", [0.1, 7.7, -1 / 3, 1e-5])
@pytest.mark.parametrize("seed", range(3))
def test_constant_columns_have_no_variance_to_share(seed, value, share):
    rng = np.random.default_rng(seed)
    n = 22
    y = rng.permutation(np.r_[np.zeros(9, int), np.ones(7, int), np.full(6, 2)])
    X = np.full((n, 2), value)
    X[:, 1] *= 3
    # Class 2 shows a value in two rows only, both in the first fold: it has none to learn from.
    X[y == 2] = np.nan
    shown = np.flatnonzero(y == 2)[:2]
    X[shown] = [value, value * 3]
    test = np.r_[shown, np.flatnonzero(y == 0)[:4], np.flatnonzero(y == 1)[:3]]
    train = np.setdiff1d(np.arange(n), test)
    model = NaiveBayes("gaussian", var_smoothing=share)
    selector = plain_selector(
        model, "backward", "log-likelihood", cv=[(train, test)], validation=None, n_features=2
    ).fit(X, y)
    wanted = []
    for row in test:
        joint = _log_joint(X, y, train.tolist(), row, (0, 1, 2), share)
        top = max(joint)
        wanted.append(joint[y[row]] - top - math.log(sum(math.exp(v - top) for v in joint)))
    found = selector.path_.steps[0].score
    assert math.isclose(found, np.mean(wanted), rel_tol=1e-9), (found, np.mean(wanted))
    assert np.mean(wanted) < -100


@pytest.mark.parametrize("name", ["gaussian", "mixture-1"])
def test_the_moments_of_a_constant_are_exact(name):
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 3000))
        value = float(rng.normal() * 10.0 ** rng.integers(-9, 9))
        weights = rng.random(n) + 1e-3
        labels = rng.integers(0, 2, n)
        labels[0] = 0
        found = MODELS[name].statistics(np.full(n, value), 0, one_set(labels, weights, np.ones(2)))
        known = found.weight[0] > 0
        assert (found.mean[0][known] == value).all()
        assert (found.squares[0] == 0).all()


@pytest.mark.parametrize("share", [None, 0.0, 0.01])
def test_leaving_a_row_out_can_leave_a_constant(share):
    # Of class 0, one row is another: without it three repeats of 0.1 are left.
    X = np.array([0.1, 0.5, 0.7, 0.9, 0.2])[:, None]
    y = np.array([0, 0, 1, 1, 1])
    weights = np.array([3, 1, 1, 1, 1])
    rows = np.repeat(np.arange(5), weights)
    scores = []
    for table, target, weight in ((X, y, weights), (X[rows], y[rows], None)):
        selector = plain_selector(
            NaiveBayes("gaussian", var_smoothing=share), "forward", "log-likelihood", cv="loo",
            validation=None,
        )  # fmt: skip
        selector.fit(table, target, sample_weight=weight)
        scores.append(selector.path_.steps[-1].score)
    assert math.isclose(scores[0], scores[1], rel_tol=1e-12)
