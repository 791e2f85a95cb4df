"""Exhaustive search against every subset of a size, scored from the definition."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from bayesieve import NaiveBayesSelector


def random_problem(seed):
    """A binary table of few columns, groups of them and a column to keep or none of either."""
    rng = np.random.default_rng(seed)
    n_columns, n_classes = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    y = np.concatenate([np.arange(n_classes).repeat(2), rng.integers(0, n_classes, 20)])
    X = (rng.random((y.size, n_columns)) < 0.25 + 0.5 * (y[:, None] == rng.integers(n_classes))) * 1
    columns = rng.permutation(n_columns).tolist()
    groups = [columns[:2]] if rng.random() < 0.5 else None
    keep = [int(rng.integers(n_columns))] if rng.random() < 0.5 else []
    return X, y, groups, keep


def units_of(n_columns, groups):
    grouped = [sorted(group) for group in groups or []]
    return grouped + [[j] for j in range(n_columns) if not any(j in group for group in grouped)]


def subsets_of_size(n_columns, groups, keep, size):
    """All sets of whole units with so many columns, those to keep among them."""
    units = units_of(n_columns, groups)
    for count in range(len(units) + 1):
        for chosen in combinations(units, count):
            columns = sorted(j for unit in chosen for j in unit)
            if len(columns) == size and set(keep) <= set(columns):
                yield columns


def error_probability(X, y, columns):
    """Mean of P(Y != y) of a naive Bayes with one pseudo-count a value, in fractions."""
    classes = sorted(set(y.tolist()))
    total = Fraction(0)
    for i in range(len(y)):
        joint = []
        for k in classes:
            mine = X[y == k]
            p = Fraction(len(mine), len(y))
            for j in columns:
                p *= Fraction(int((mine[:, j] == X[i, j]).sum()) + 1, len(mine) + 2)
            joint.append(p)
        total += 1 - joint[classes.index(y[i])] / sum(joint)
    return float(total / len(y))


@pytest.mark.parametrize("seed", range(20))
def test_so_many_features_are_the_best_of_all_subsets_of_that_size(seed):
    X, y, groups, keep = random_problem(seed)
    n_columns = X.shape[1]
    given = {"feature_groups": groups, "keep": keep, "search": "exhaustive"}
    for size in range(1, n_columns + 1):
        subsets = list(subsets_of_size(n_columns, groups, keep, size))
        if not subsets:
            continue
        found = NaiveBayesSelector(validation=None, n_features=size, **given).fit(X, y)
        best = min(error_probability(X, y, columns) for columns in subsets)
        mine = sorted(found.selected_.tolist())
        assert mine in subsets
        assert error_probability(X, y, mine) == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize("criterion", ["error", "probability", "auc"])
@pytest.mark.parametrize("validation", [None, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_a_number_of_features_is_that_number_as_both_bounds(seed, validation, criterion):
    X, y, groups, keep = random_problem(seed)
    y = np.minimum(y, 1)
    n_columns = X.shape[1]
    given = {
        "feature_groups": groups, "keep": keep, "search": "exhaustive", "criterion": criterion,
        "validation": validation, "random_state": 0,
    }  # fmt: skip
    for size in range(1, n_columns + 1):
        if not list(subsets_of_size(n_columns, groups, keep, size)):
            continue
        one = NaiveBayesSelector(n_features=size, **given).fit(X, y)
        other = NaiveBayesSelector(min_features=size, max_features=size, **given).fit(X, y)
        paths = [
            [(step.units, step.key, step.validation_key) for step in each.path_.steps]
            for each in (one, other)
        ]
        assert paths[0] == paths[1]
        assert one.selected_.tolist() == other.selected_.tolist()
        assert one.n_tried_ == other.n_tried_
