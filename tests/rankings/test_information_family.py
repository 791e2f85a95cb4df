"""The rankings by information of columns with each other and the class, each by its definition."""

from collections import Counter
from contextlib import contextmanager
from functools import partial
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import SelectKBest

from bayesieve import rank
from bayesieve.engine import threads
from bayesieve.engine.threads import Threads
from bayesieve.models.counts import mdl_cuts
from bayesieve.rankings import (
    CMIM,
    DISR,
    FCBF,
    ICAP,
    JMI,
    JMIM,
    MIFS,
    MRMR,
    NJMIM,
    RANKINGS,
    DiscreteColumns,
    MutualInformation,
    greedy,
)
from bayesieve.search import RankedSearch
from plain import plain_selector
from tables import binary_table

quick = settings(max_examples=15, deadline=None, derandomize=True)
few = settings(quick, max_examples=8)  # each starts threads many times
seeds = st.integers(0, 2**32 - 1)

FAMILY = {
    "mrmr": MRMR(),
    "mifs": MIFS(),
    "mifs-half": MIFS(0.5),
    "jmi": JMI(),
    "disr": DISR(),
    "cmim": CMIM(),
    "icap": ICAP(),
    "jmim": JMIM(),
    "njmim": NJMIM(),
    "fcbf": FCBF(),
    "fcbf-half": FCBF(0.3),
}
members = pytest.mark.parametrize("member", FAMILY)


def entropy(weights, *variables):
    """Of the variables together, in nat."""
    counts = Counter()
    for weight, *values in zip(weights, *variables, strict=True):
        counts[tuple(values)] += weight
    total = sum(counts.values())
    return -sum(n / total * log(n / total) for n in counts.values() if n) if total else 0.0


class ByTheBook:
    """A table whose pairs leave out the rows where either column is missing."""

    def __init__(self, codes, n_levels, y, weights):
        self.columns = [
            [None if code >= n else int(code) for code in column]
            for column, n in zip(codes, n_levels, strict=True)
        ]
        self.y = y.tolist()
        self.weights = weights.tolist()
        self.relevance = [self.alone(j) for j in range(len(self.columns))]

    def known(self, *which):
        """Weights, the columns and the class, where all of the columns are known."""
        rows = zip(self.weights, *(self.columns[j] for j in which), self.y, strict=True)
        return list(zip(*(row for row in rows if None not in row), strict=True)) or [()] * (
            len(which) + 2
        )

    def alone(self, j):
        """I(x; c)"""
        w, x, c = self.known(j)
        return entropy(w, x) + entropy(w, c) - entropy(w, x, c)

    def between(self, j, k):
        """I(x; s)"""
        w, x, s, _ = self.known(j, k)
        return entropy(w, x) + entropy(w, s) - entropy(w, x, s)

    def together(self, j, k):
        """I(x, s; c)"""
        w, x, s, c = self.known(j, k)
        return entropy(w, x, s) + entropy(w, c) - entropy(w, x, s, c)

    def share(self, j, k):
        """I(x, s; c) / H(x, s, c)"""
        w, x, s, c = self.known(j, k)
        whole = entropy(w, x, s, c)
        return self.together(j, k) / whole if whole > 1e-12 else 0.0

    def conditional(self, j, k):
        """I(x; c | s)"""
        w, x, s, c = self.known(j, k)
        return entropy(w, x, s) + entropy(w, s, c) - entropy(w, s) - entropy(w, x, s, c)

    def cap(self, j, k):
        """max(0, I(x; s) - I(x; s | c))"""
        w, x, s, c = self.known(j, k)
        given = entropy(w, x, c) + entropy(w, s, c) - entropy(w, c) - entropy(w, x, s, c)
        return max(0.0, self.between(j, k) - given)

    def uncertainty(self, j, k=None):
        """2 I / (H + H), with another column or the class"""
        w, x, *others = self.known(j) if k is None else self.known(j, k)[:3]
        both = entropy(w, x) + entropy(w, others[0])
        return 2 * (both - entropy(w, x, others[0])) / both if both > 1e-12 else 0.0

    def worth(self, member, j, taken):
        """What column j is worth when some are taken."""
        alone = self.relevance[j]
        if member in ("jmi", "disr", "jmim", "njmim") and not taken:
            return alone
        if member == "mrmr":
            return alone - np.mean([self.between(j, s) for s in taken] or [0.0])
        if member in ("mifs", "mifs-half"):
            return alone - FAMILY[member].beta * sum(self.between(j, s) for s in taken)
        if member == "icap":
            return alone - sum(self.cap(j, s) for s in taken)
        if member == "cmim":
            return min([alone, *(self.conditional(j, s) for s in taken)])
        what = self.together if member in ("jmi", "jmim") else self.share
        joined = sum if member in ("jmi", "disr") else min
        return joined(what(j, s) for s in taken)

    def predominant(self, threshold):
        """Yu and Liu's columns, then the others."""
        relevance = [round(self.uncertainty(j), 9) for j in range(len(self.columns))]
        order = sorted(range(len(relevance)), key=lambda j: (-relevance[j], j))
        left = [j for j in order if relevance[j] > threshold]
        first = []
        while left:
            first.append(left.pop(0))
            left = [j for j in left if round(self.uncertainty(j, first[-1]), 9) < relevance[j]]
        return first + [j for j in order if j not in first], relevance

    def rank(self, member):
        """Order and scores, step by step and looking at everything."""
        if member.startswith("fcbf"):
            return self.predominant(FAMILY[member].threshold)
        taken, scores = [], [0.0] * len(self.columns)
        while len(taken) < len(self.columns):
            left = [j for j in range(len(self.columns)) if j not in taken]
            worth = {j: self.worth(member, j, taken) for j in left}
            best = max(left, key=lambda j: (round(worth[j], 9), -j))
            scores[best] = worth[best]
            taken.append(best)
        return taken, scores


def draw(seed, n_levels, holes, weighted):
    """Columns that know something of the class or of each other, and copies of some."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(30, 130)), int(rng.integers(2, 5))
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    codes = np.where(rng.random((6, n)) < 0.4, y % n_levels, rng.integers(0, n_levels, (6, n)))
    codes[1] = np.where(rng.random(n) < 0.7, codes[0], codes[1])
    if holes:
        codes[rng.random((6, n)) < 0.15] = n_levels
    # A copy, the same in other words, and a constant.
    other = np.append(np.arange(n_levels)[::-1], n_levels)
    codes = np.vstack([codes, codes[2], other[codes[0]], np.zeros(n, int)]).astype(np.uint8)
    weights = rng.integers(1, 5, n) / 2.0 if weighted else np.ones(n)
    return codes, np.full(9, n_levels), y, weights, n_classes


def ranked(method, codes, n_levels, y, weights, n_classes, n_features=9, n_threads=1):
    with Threads(n_threads) as engine:
        columns = DiscreteColumns(codes, n_levels, weights)
        return method.rank(columns, y, n_classes, engine, n_features)


@contextmanager
def all_is_shared():
    """A small table is worth a second thread."""
    small, few = threads._SMALL, greedy._FEW
    threads._SMALL = greedy._FEW = 0
    try:
        yield
    finally:
        threads._SMALL, greedy._FEW = small, few


@members
@quick
@given(
    seed=seeds, n_levels=st.sampled_from([2, 3, 4, 6]), holes=st.booleans(), weighted=st.booleans()
)
def test_each_is_its_definition(member, seed, n_levels, holes, weighted):
    case = draw(seed, n_levels, holes, weighted)
    found = ranked(FAMILY[member], *case)
    order, scores = ByTheBook(*case[:4]).rank(member)
    assert found.order.tolist() == order
    np.testing.assert_allclose(found.scores, scores, atol=1e-8)


@members
@few
@given(seed=seeds, n_levels=st.sampled_from([2, 3, 6]), holes=st.booleans())
def test_bits_are_codes_and_threads_do_not_matter(member, seed, n_levels, holes):
    codes, levels, y, weights, n_classes = draw(seed, n_levels, holes, False)
    assert DiscreteColumns(codes, levels, weights).planes is not None
    assert DiscreteColumns(codes, levels, 2 * weights).planes is None
    method = FAMILY[member]
    with all_is_shared():
        for n_features in (1, 2, 4, 9):
            rest = (n_classes, n_features)
            wanted = ranked(method, codes, levels, y, weights, *rest)
            others = [ranked(method, codes, levels, y, weights, *rest, n) for n in (2, 3, 5)]
            # Weights go by codes, and twice the rows are the same to the bit.
            others += [ranked(method, codes, levels, y, 2 * weights, *rest, n) for n in (1, 2)]
            if not holes:  # a level that never occurs
                others += [ranked(method, codes, levels + 1, y, weights, *rest)]
            for other in others:
                np.testing.assert_array_equal(other.order, wanted.order)
                np.testing.assert_array_equal(other.scores, wanted.scores)


@members
def test_continuous_columns_are_cut_first(member):
    rng = np.random.default_rng(5)
    y = np.append(np.arange(3), rng.integers(0, 3, 147))
    X = rng.normal(size=(150, 5)) + y[:, None] * [2.0, 1.0, 0.0, 1.5, 0.7]
    X[::9, 1] = np.nan
    X[:, 3] = X[:, 0] + rng.normal(size=150) / 4
    codes, n_levels = [], []
    for column in X.T:
        cuts = mdl_cuts(column, y, 3)
        n_levels.append(cuts.size + 1)
        codes.append(np.where(np.isnan(column), cuts.size + 1, np.searchsorted(cuts, column)))
    order, scores = ByTheBook(codes, n_levels, y, np.ones(150)).rank(member)
    found = rank(X, y, FAMILY[member])
    assert found.order.tolist() == order
    np.testing.assert_allclose(found.scores, scores, atol=1e-8)


@members
def test_a_column_in_which_nothing_is_known_says_nothing(member):
    """Categories without a level, first, last and alone."""
    rng = np.random.default_rng(0)
    y = np.array([0, 1, 2] * 20)
    codes = np.array([np.full(60, 3), y, np.where(rng.random(60) < 0.5, y, 0), np.full(60, 3)])
    table = pd.DataFrame(dict(zip("abcd", codes, strict=True))).astype("category")
    table[["a", "d"]] = pd.DataFrame({"a": [None] * 60, "d": [None] * 60}, dtype="category")
    order, scores = ByTheBook(codes, [3] * 4, y, np.ones(60)).rank(member)
    found = rank(table, y, FAMILY[member])
    assert found.order.tolist() == order
    np.testing.assert_allclose(found.scores, scores, atol=1e-8)
    assert rank(table[["d", "a"]], y, FAMILY[member]).scores.tolist() == [0.0, 0.0]


@members
def test_small_weights_are_shares(member):
    """Weights that add up to less than 1."""
    codes, levels, y, weights, n_classes = draw(3, 3, True, True)
    wanted = ranked(FAMILY[member], codes, levels, y, weights, n_classes)
    found = ranked(FAMILY[member], codes, levels, y, weights / 2**20, n_classes)
    np.testing.assert_array_equal(found.order, wanted.order)
    np.testing.assert_allclose(found.scores, wanted.scores, atol=1e-9)


@pytest.mark.parametrize("method", [CMIM(), ICAP(), JMIM(), NJMIM()], ids=repr)
def test_lazy_rankings_look_further_than_their_ring_is_long(method):
    """Many equal columns are looked at all the way; wide enough to go round the ring."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 64)
    few = rng.integers(0, 2, (9, 64))
    codes = np.vstack([few, np.repeat(few, 20, axis=0), rng.integers(0, 2, (80, 64))])
    case = (codes.astype(np.uint8), np.full(len(codes), 2), y, np.ones(64), 2)
    one = ranked(method, *case, len(codes))
    with all_is_shared():
        three = ranked(method, *case, len(codes), n_threads=3)
    np.testing.assert_array_equal(one.order, three.order)
    np.testing.assert_array_equal(one.scores, three.scores)
    book = ByTheBook(*case[:4])
    taken = one.order.tolist()
    name = type(method).__name__.lower()
    for k in (1, 70, 100):
        assert one.scores[taken[k]] == pytest.approx(book.worth(name, taken[k], taken[:k]))


@members
def test_the_ranked_search_and_scikit_learn_take_each(member):
    X, y = binary_table(300, 12)
    method = FAMILY[member]
    wanted = rank(X, y, method).order.tolist()
    chosen = SelectKBest(partial(rank, method=method), k=4).fit(X, y).get_support(indices=True)
    assert sorted(chosen.tolist()) == sorted(wanted[:4])
    selector = plain_selector(search=RankedSearch(method), validation=None).fit(X, y)
    assert [s.units[0] for s in selector.path_.steps if s.action == "add"] == wanted


def test_what_repeats_a_column_as_much_as_the_class_is_removed():
    """The class itself, as a column, leaves nobody else: they stay in the order of relevance."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    near, far = (y ^ (rng.random(200) < share) for share in (0.2, 0.35))
    found = rank(np.column_stack([far, near, near, y]), y, "fcbf")
    assert found.order.tolist() == [3, 1, 2, 0]
    without = rank(np.column_stack([far, near, near]), y, "fcbf")
    assert without.order.tolist() == [1, 0, 2]


def test_parameters():
    X, y = binary_table(200, 6)
    plain = rank(X, y, MutualInformation())
    np.testing.assert_array_equal(rank(X, y, MIFS(0.0)).order, plain.order)
    relevance = rank(X, y, FCBF(1.0))
    np.testing.assert_array_equal(relevance.order, np.argsort(-relevance.scores, kind="stable"))
    assert {"jmi", "jmim", "disr", "njmim", "fcbf", "mifs", "icap"} < set(RANKINGS)
