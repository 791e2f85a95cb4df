"""FBL, its dependency list, and MDL cuts."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import reference
from bayesieve import NaiveBayes, rank
from bayesieve.data.tables import RawTable
from bayesieve.models.counts import mdl_cuts
from bayesieve.search import DependencySearch, ExhaustiveSearch
from bayesieve.search.hints import RowHints
from plain import plain_selector
from problems import random_problem, twin_lines

seeds = st.integers(0, 2**32 - 1)
quick = settings(
    max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def plain_fbl(twin, n_columns, pairs, informative):
    """Algorithm 1 of the paper, mended, over losses instead of accuracies; returns the drops."""
    attributes = list(range(n_columns))
    loss = twin.score(attributes)
    listed = list(pairs)
    least_first = list(reversed(informative))
    drops = []
    while listed:
        named = set(listed[0]) | (set(listed[1]) if len(listed) > 1 else set())
        best = None
        for attribute in sorted(named):
            if len(attributes) > 1:
                without = twin.score([a for a in attributes if a != attribute])
                if without < loss and (best is None or without < best[0]):
                    best = (without, attribute)
        if best is None:
            break
        loss, gone = best
        attributes.remove(gone)
        drops.append(gone)
        listed = [pair for pair in listed if gone not in pair]
        least_first.remove(gone)
    for attribute in least_first:
        if len(attributes) > 1:
            without = twin.score([a for a in attributes if a != attribute])
            if without < loss:
                loss = without
                attributes.remove(attribute)
                drops.append(attribute)
    return drops


@pytest.mark.parametrize("criterion", ["error", "probability"])
@pytest.mark.parametrize("cv", ["train", 3])
@quick
@given(seed=seeds)
def test_the_trace_is_the_papers(criterion, cv, seed):
    problem, X, y = random_problem(seed, "gaussian")
    rng = np.random.default_rng(seed)
    X = np.where(np.isnan(X), 0.5, X)
    X[:, -1] = 2 * X[:, 0] + 1 + rng.normal(size=len(y)) * 0.1  # planted
    problem["X"] = [list(column) for column in X.T]
    n_columns = X.shape[1]
    constant = X.std(0) == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        strength = np.square(np.corrcoef(X.T)).reshape(n_columns, n_columns)
    strength[constant | constant[:, None]] = 0.0
    pairs = sorted(
        ((i, j) for i in range(n_columns) for j in range(i + 1, n_columns)),
        key=lambda pair: (-round(strength[pair], 9), pair),
    )
    informative = rank(X, y).order.tolist()
    twin = reference.Twin(problem, criterion, twin_lines(problem, cv))
    search = DependencySearch("r2", order=tuple(informative))
    selector = plain_selector(NaiveBayes("gaussian"), search, criterion, cv, validation=None).fit(
        X, y
    )
    drops = [step.units[0] for step in selector.path_.steps[1:]]
    assert drops == plain_fbl(twin, n_columns, pairs, informative)
    steps = selector.path_.steps
    assert all(later.key < earlier.key for earlier, later in pairwise(steps))
    assert selector.n_tried_ >= len(drops)


def aids_of(columns, y, units=None):
    models = ["categorical" if c.dtype == object else "gaussian" for c in columns]
    units = units or [[j] for j in range(len(columns))]
    table = RawTable(columns, [f"x{j}" for j in range(len(columns))], len(y))
    return RowHints(table, models, np.asarray(y), np.ones(len(y)), np.arange(len(y)), units)


def test_strengths_of_every_kind():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    a = rng.normal(size=300) + y
    b = -3 * a + 0.01 * rng.normal(size=300)
    kind = rng.choice(list("uvw"), 300)
    same = np.char.add(kind, "!")
    columns = [a, b, np.ones(300), kind.astype(object), same.astype(object)]
    aids = aids_of(columns, y)
    r2 = aids._strengths("r2")
    assert r2[0, 1] == pytest.approx(np.corrcoef(a, b)[0, 1] ** 2)
    assert (r2[2] == 0).all()
    mixed = aids._strengths("auto")
    assert mixed[3, 4] == pytest.approx(1.0)
    assert mixed[0, 3] < 0.1
    assert aids._strengths("uncertainty")[3, 4] == pytest.approx(1.0)
    assert aids.pairs("auto")[0] == (3, 4)
    assert aids.pairs("auto")[1] == (0, 1)
    assert aids.pairs(lambda one, other: float(one[0] is other[0]))[0] == (0, 1)
    grouped = aids_of(columns, y, [[0], [1, 2], [3], [4]])
    assert grouped.pairs("auto")[:2] == ((2, 3), (0, 1))
    with pytest.raises(ValueError, match="measure must be one of 'auto', 'r2', 'uncertainty'"):
        aids.pairs("correlation")


def test_it_never_ends_worse_than_it_began_and_copies_go():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 4)) + y[:, None] * [1, 0.5, 0, 0]
    X = np.column_stack([X, X[:, 0], X[:, 0], np.ones(200)])
    selector = plain_selector(
        NaiveBayes("gaussian"), "dependency", "error", 10, validation=None
    ).fit(X, y)
    steps = selector.path_.steps
    assert steps[selector.path_.chosen].score <= steps[0].score
    assert len({0, 4, 5} & set(selector.selected_.tolist())) < 3


@quick
@given(seed=seeds)
def test_equal_dependencies_come_in_the_order_of_their_columns(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=60), rng.normal(size=60)
    columns = [a, 2 * a + 1, -3 * a, a / 7, b, 1 - b, b / 3]
    pairs = aids_of(columns, np.arange(60) % 2).pairs("r2")
    assert pairs[:9] == (
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (4, 5), (4, 6), (5, 6),
    )  # fmt: skip
    grouped = aids_of(columns, np.arange(60) % 2, [[0, 4], [1], [2, 5], [3], [6]])
    assert grouped.pairs("r2")[:3] == ((0, 1), (0, 2), (0, 3))


def test_odd_columns_have_a_strength_too():
    y = np.arange(150) % 2
    rng = np.random.default_rng(0)
    a = rng.normal(size=150)
    columns = [a, np.full(150, 0.1), np.full(150, 0.7), a * 1e200, a * 1e-200]
    strength = aids_of(columns, y)._strengths("r2")
    assert strength[1, 2] == 0
    assert strength[0, 3] == pytest.approx(1.0)
    assert strength[0, 4] == pytest.approx(1.0)


def test_pairs_that_stay_do_not_end_the_search():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    a = rng.normal(size=200) + y
    X = np.column_stack([a, a + 1e-3 * rng.normal(size=200), a, rng.normal(size=(200, 4))])
    options = {"criterion": "error", "cv": 5, "validation": None, "keep": [0, 1, 2]}
    kept = plain_selector(search="dependency", **options).fit(X, y)
    free = [(i, j) for i in range(7) for j in range(i + 1, 7) if j > 2]
    strength = np.corrcoef(X.T) ** 2
    free.sort(key=lambda pair: (-round(strength[pair], 9), pair))
    wanted = plain_selector(search=DependencySearch(pairs=tuple(free)), **options).fit(X, y)
    assert [s.units for s in kept.path_.steps] == [s.units for s in wanted.path_.steps]


def test_sizes_are_reached():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = rng.normal(size=(100, 6)) + y[:, None]
    for options in ({"max_features": 3}, {"n_features": 2}):
        selector = plain_selector(search="dependency", validation=None, **options).fit(X, y)
        assert len(selector.selected_) <= 3


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (DependencySearch(pairs=((0, 99),)), "pairs: column 99 is not among the columns"),
        (DependencySearch(pairs=5), "pairs must hold pairs of column names or numbers; got 5"),
        (DependencySearch(pairs=("x0",)), "pairs must hold pairs"),
        (DependencySearch(measure=None), "measure must be one of 'auto', 'r2', 'uncertainty'"),
        (DependencySearch(measure=lambda a, b: np.nan), "measure must give a finite number"),
        (ExhaustiveSearch(4), r"would score 2\^6 subsets"),
        (ExhaustiveSearch("a"), "most_subsets must be a whole number from 1"),
    ],
)
def test_bad_searches(search, message):
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 6)) + y[:, None]
    with pytest.raises((TypeError, ValueError), match=message):
        plain_selector(NaiveBayes("gaussian"), search, validation=None).fit(X, y)


def test_exhaustive_ties_go_to_the_first_in_lexicographic_order():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    a, b = rng.normal(size=200) + y, rng.normal(size=200) + y
    selector = plain_selector(NaiveBayes(), "exhaustive", "error", 5, validation=None).fit(
        np.column_stack([a, a, b]), y
    )
    assert selector.selected_.tolist() == [0, 2]


def plain_mdl(values, labels, n_classes):
    """Fayyad and Irani's rule by its definition."""

    def entropy(rows):
        counts = np.bincount(labels[rows], minlength=n_classes)
        share = counts[counts > 0] / counts.sum()
        return float(-(share * np.log2(share)).sum()), int((counts > 0).sum())

    def split(rows):
        distinct = np.unique(values[rows])
        if distinct.size < 2:
            return []
        whole, k = entropy(rows)
        best = None
        for low, high in pairwise(distinct):
            cut = low / 2 + high / 2
            left, right = rows[values[rows] <= cut], rows[values[rows] > cut]
            (e1, k1), (e2, k2) = entropy(left), entropy(right)
            mixed = (left.size * e1 + right.size * e2) / rows.size
            if best is None or mixed < best[0] - 1e-12:
                best = (mixed, cut, left, right, e1, k1, e2, k2)
        mixed, cut, left, right, e1, k1, e2, k2 = best
        price = math.log2(3**k - 2) - (k * whole - k1 * e1 - k2 * e2)
        if whole - mixed <= (math.log2(rows.size - 1) + price) / rows.size:
            return []
        return [*split(left), cut, *split(right)]

    return split(np.flatnonzero(~np.isnan(values)))


@quick
@given(seed=seeds, rounded=st.booleans())
def test_cuts_are_fayyad_and_iranis(seed, rounded):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 80)
    values = rng.normal(size=80) + 2 * labels * rng.random()
    values = np.round(values * 3) if rounded else values
    values[rng.random(80) < 0.1] = np.nan
    np.testing.assert_allclose(mdl_cuts(values, labels, 3), plain_mdl(values, labels, 3))


def test_weighted_cuts_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(0, 2, 60), rng.integers(1, 4, 60)
    values = rng.normal(size=60) + labels
    rows = np.repeat(np.arange(60), weights)
    np.testing.assert_allclose(
        mdl_cuts(values, labels, 2, weights.astype(float)), mdl_cuts(values[rows], labels[rows], 2)
    )


def test_many_classes_can_be_cut():
    values = np.arange(1400.0)
    assert mdl_cuts(values, np.arange(1400) % 700, 700).size == 0
    assert mdl_cuts(values, np.arange(1400) // 2, 700).size > 0


def test_continuous_columns_can_be_ranked():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = np.column_stack([rng.normal(size=300), rng.normal(size=300) + y, y + 0.1 * rng.random(300)])
    found = rank(X, y)
    assert found.order.tolist() == [2, 1, 0]
    codes = np.searchsorted(mdl_cuts(X[:, 1], y, 3), X[:, 1])
    assert found.scores[1] == pytest.approx(mutual_info_score(codes, y))
    selector = plain_selector(search="ranked", random_state=0).fit(X, y)
    assert selector.selected_[0] == 2
