"""Exhaustive search against every subset of a size, scored from the definition."""

import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bayesieve.criteria import CRITERIA, Criterion
from bayesieve.engine.contract import WHOLE, Units
from bayesieve.engine.dense import DenseLedger
from bayesieve.search import ExhaustiveSearch, Limits
from bayesieve.search import objective as walking
from bayesieve.search.strategies import exhaustive as strategy
from ledgers import dense_ledger
from plain import plain_selector


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
        found = plain_selector(validation=None, n_features=size, **given).fit(X, y)
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
        one = plain_selector(n_features=size, **given).fit(X, y)
        other = plain_selector(min_features=size, max_features=size, **given).fit(X, y)
        paths = [
            [(step.units, step.key, step.validation_key) for step in each.path_.steps]
            for each in (one, other)
        ]
        assert paths[0] == paths[1]
        assert one.selected_.tolist() == other.selected_.tolist()
        assert one.n_tried_ == other.n_tried_


class OneByOne:
    """The same search, a step at a time: every subset is entered, scored and compared."""

    def steps(self, objective, limits):
        free = [unit for unit in range(objective.n_units) if unit not in objective.keep]
        objective.start(tuple(sorted(objective.keep)), "exhaustive")
        if limits.target is not None:
            limits = Limits(limits.target, limits.target)
        best, inside = None, set(objective.keep)
        for i in range(2 ** len(free)):
            if i:
                unit = free[(i & -i).bit_length() - 1]
                inside ^= {unit}
                objective.restore(tuple(sorted(inside)))
            rank = (objective.score(), objective.size, sorted(inside))
            if limits.allow(objective.size) and (best is None or rank < best):
                best = rank
                if i:
                    objective.visited()
        yield


class Farthest(Criterion):
    """A criterion of a user's: the mean distance to the true class."""

    name = "farthest"

    def loss(self, scores, classes, weights):
        own = scores[np.arange(len(classes)), classes]
        return float(np.round(weights @ (scores.max(axis=1) - own), 6))


@pytest.mark.parametrize("seconds", [0.2, 1e-9])
@pytest.mark.parametrize("criterion", ["error", "probability", "auc", "own"])
@pytest.mark.parametrize("seed", range(8))
def test_walks_visit_what_single_steps_visit(seed, criterion, seconds, monkeypatch):
    """Also where every walk ends after its first trip."""
    monkeypatch.setattr(walking, "_WALK", seconds)
    monkeypatch.setattr(walking, "_TRIP", seconds / 4)
    X, y, groups, keep = random_problem(seed)
    y = np.minimum(y, 1)

    bounds = [{}, {"max_features": 3}, {"min_features": 2, "max_features": 3}]
    if list(subsets_of_size(X.shape[1], groups, keep, 2)):
        bounds.append({"n_features": 2})
    for more in bounds:
        given = {
            "feature_groups": groups, "keep": keep, "validation": 0.5, "random_state": 0, **more,
            "criterion": Farthest() if criterion == "own" else criterion,
        }  # fmt: skip
        one = plain_selector(search="exhaustive", **given).fit(X, y)
        other = plain_selector(search=OneByOne(), **given).fit(X, y)
        assert repr(one.path_.steps) == repr(other.path_.steps)
        assert one.selected_.tolist() == other.selected_.tolist()
        n_free = len(units_of(X.shape[1], groups)) - bool(keep)
        assert one.n_tried_ == 2**n_free - 1


@pytest.mark.parametrize("pause", [1, 3, 1024])
@pytest.mark.parametrize("criterion", ["probability", "own"])
@pytest.mark.parametrize("seed", range(8))
def test_so_they_do_where_other_sizes_are_not_walked_through(seed, criterion, pause, monkeypatch):
    """However many subsets make a walk: the same are visited, and only those asked for tried."""
    monkeypatch.setattr(strategy, "_PAUSE", pause)
    X, y, groups, keep = random_problem(seed)
    units = units_of(X.shape[1], groups)
    start = sorted(j for unit in units if set(unit) & set(keep) for j in unit)
    bounds = [(1, X.shape[1]), (1, 3), (2, 3), (2, 2)]
    for least, most in bounds:
        sizes = range(least, most + 1)
        walked = [
            each for size in sizes for each in subsets_of_size(X.shape[1], groups, keep, size)
        ]
        given = {
            "feature_groups": groups, "keep": keep, "validation": 0.5, "random_state": 0,
            "criterion": Farthest() if criterion == "own" else criterion,
            **({"n_features": 2} if least == most else {"min_features": least}),
            **({"max_features": most} if least < most else {}),
        }  # fmt: skip
        if not walked:
            continue
        one = plain_selector(search="exhaustive", **given).fit(X, y)
        other = plain_selector(search=OneByOne(), **given).fit(X, y)
        assert repr(one.path_.steps) == repr(other.path_.steps)
        assert one.selected_.tolist() == other.selected_.tolist()
        if pause < 4:
            assert one.n_tried_ == len(walked) - (start in walked)


def first_best(X, y, subsets):
    """Fewest training errors of naive Bayes in whole numbers, then the smallest, then the first."""
    classes = np.unique(y)
    n = [int((y == k).sum()) for k in classes]
    counts = [
        [((value == X) & (y == k)[:, None]).sum(axis=0) + 1 for k in classes] for value in [0, 1]
    ]
    # Rows x columns x classes: the numerators of each row's own values.
    own = np.where(X[:, :, None] == 1, np.array(counts[1]).T, np.array(counts[0]).T).astype(object)

    def errors(columns):
        tops = own[:, list(columns)].prod(axis=1) if columns else np.ones((len(X), 1), object)
        # Over one denominator; of equals, argmax takes the lowest class.
        odds = [
            [top * n[k] * (n[1 - k] + 2) ** len(columns) for k, top in enumerate(row)]
            for row in tops
        ]
        return sum(int(classes[row.index(max(row))] != k) for row, k in zip(odds, y, strict=True))

    return min(subsets, key=lambda columns: (errors(columns), len(columns), columns))


MANY = np.random.default_rng(5)
MANY_Y = MANY.integers(0, 2, 60)
MANY_X = (MANY.random((60, 40)) < 0.35 + 0.2 * MANY_Y[:, None]).astype(int)


@pytest.mark.parametrize(
    ("more", "subsets"),
    [
        ({"n_features": 2}, list(combinations(range(40), 2))),
        ({"max_features": 2}, [(j,) for j in range(40)] + list(combinations(range(40), 2))),
        (
            {"n_features": 3, "keep": [7], "forbid": [0, 1, 39]},
            [tuple(sorted((7, *pair))) for pair in combinations({*range(2, 39)} - {7}, 2)],
        ),
        (
            {"n_features": 3, "feature_groups": [[0, 5], [2, 9, 30]], "forbid": range(10, 29)},
            [
                tuple(sorted(j for unit in units for j in unit))
                for size in (1, 2, 3)
                for units in combinations(
                    [(0, 5), (2, 9, 30), *((j,) for j in (1, 3, 4, 6, 7, 8, 29, *range(31, 40)))],
                    size,
                )
                if sum(map(len, units)) == 3
            ],
        ),
        ({"n_features": 40}, [tuple(range(40))]),
        ({"n_features": 38}, list(combinations(range(40), 38))),
    ],
)
def test_only_subsets_of_the_sizes_asked_for_are_walked(more, subsets):
    """Forty columns have 2^40 subsets, which nobody asks for."""
    more = {name: list(value) if name == "forbid" else value for name, value in more.items()}
    given = {"validation": None, "criterion": "error", "search": "exhaustive"}
    found = plain_selector(**given, **more).fit(MANY_X, MANY_Y)
    assert tuple(sorted(found.selected_.tolist())) == first_best(MANY_X, MANY_Y, subsets)
    assert found.n_tried_ == len(subsets)


@pytest.mark.parametrize(
    ("n_columns", "more", "words"),
    [
        (40, {"n_features": 2}, "would score 780 subsets, about "),
        (40, {"max_features": 2, "min_features": 0}, "would score 821 subsets, about "),
        (40, {"n_features": 20}, "would score 137,846,528,820 subsets, about "),
        (40, {"feature_groups": [[0, 1, 2]], "n_features": 3}, "would score 7,771 subsets, about "),
        (70, {}, r"would score more than 10\^18 subsets, more than "),
        (1100, {}, r"would score more than 10\^18 subsets, more than "),
    ],
)
def test_a_refusal_counts_what_would_be_walked(n_columns, more, words):
    X = np.tile(MANY_X, (1, 28))[:, :n_columns]
    with pytest.raises(ValueError, match=words + r".*; at most 700 are allowed\."):
        plain_selector(search=ExhaustiveSearch(700), **more).fit(X, MANY_Y)


def test_a_walk_that_is_interrupted_leaves_the_ledger_where_it_was(monkeypatch):
    X, y, *_ = random_problem(0)
    ledger = dense_ledger(X, y, ["bernoulli"] * X.shape[1], "train")
    units = Units(tuple((j,) for j in range(X.shape[1])))
    measure = CRITERIA["error"].rule(ledger)
    before = next(ledger.scores((), ())).sums
    calls = iter([None, None])

    def losses(*_):
        if next(calls, 1):
            raise KeyboardInterrupt
        return np.zeros((1, 2), np.int64)

    monkeypatch.setattr(type(ledger), "losses", losses)
    with pytest.raises(KeyboardInterrupt):
        ledger.walk(measure, units, np.array([0, 1, 0]), WHOLE * np.array([1, 1, -1]))
    np.testing.assert_array_equal(next(ledger.scores((), ())).sums, before)


@pytest.mark.filterwarnings("ignore:the search cannot end within")
def test_slow_subsets_do_not_keep_a_stop_waiting(monkeypatch):
    """Between two looks at the clock there is one walk, which ends in time."""
    X, y = np.random.default_rng(0).integers(0, 2, (40, 12)), np.arange(40) % 2
    plain, looks = DenseLedger.losses, []

    def slow(*asked):
        time.sleep(0.002)
        return plain(*asked)

    class Watched(ExhaustiveSearch):
        def steps(self, objective, limits):
            for _ in super().steps(objective, limits):
                looks.append(time.perf_counter())
                yield

    monkeypatch.setattr(DenseLedger, "losses", slow)
    given = {"validation": None, "criterion": "error"}
    with pytest.warns(ConvergenceWarning, match="was stopped by time_limit"):
        plain_selector(search=Watched(), time_limit=1.5, **given).fit(X, y)
    assert len(looks) > 3
    assert np.median(np.diff(looks)) < 0.5
