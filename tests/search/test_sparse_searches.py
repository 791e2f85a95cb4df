"""Searches, votes, elimination and rankings of sparse tables."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from bayesieve import FeatureVotes, NaiveBayes, rank
from bayesieve.criteria import AUC, SizePenalty
from bayesieve.datasets import make_incidents
from bayesieve.rankings import eliminate
from bayesieve.search import DiversifiedSearch, RandomSearch, RankedSearch
from incidents import incidents, mean_auc
from plain import plain_selector

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=40, deadline=None, derandomize=True)


def test_the_price_of_features():
    assert SizePenalty()(31) == Fraction(1, 10**6)
    assert SizePenalty()(29) == 0
    assert SizePenalty(as_printed=True)(29) == Fraction(1, 10**6)
    X, Y = incidents(4)
    dear = AUC(SizePenalty(free=1, scale=10))
    selector = plain_selector(search="forward", criterion=dear, validation=None).fit(X, Y)
    for step in selector.path_.steps[1:]:
        chosen = [u for s in selector.path_.steps[1:] for u in s.units][: step.n_features]
        model = NaiveBayes("bernoulli").fit(X[:, np.sort(chosen)], Y)
        area = float(mean_auc(Y, model.decision_function(X[:, np.sort(chosen)]).round(9)))
        price = ((step.n_features - 1) / 10) ** 2
        assert step.score == pytest.approx(max(0.0, area - price), abs=1e-12)


def plain_diversified(score, n_units, seed):
    """Section V.D of Ruta 2014, over losses: the accepted changes."""
    import random

    draw = random.Random(seed)
    inside, changes = [], []
    first = min(range(n_units), key=lambda unit: (score([unit]), unit))
    inside.append(first)
    changes.append(first)
    while True:
        before = len(changes)
        for forward in (True, False):
            order = [u for u in range(n_units) if (u in inside) != forward]
            draw.shuffle(order)
            for unit in order:
                trial = [*inside, unit] if forward else [u for u in inside if u != unit]
                if trial and score(trial) < score(inside):
                    inside = trial
                    changes.append(unit)
        if len(changes) == before:
            return changes, inside


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=seeds, criterion=st.sampled_from(["auc", "error"]))
def test_diversified_search_is_the_papers(seed, criterion):
    X, Y = incidents(seed % 1000, 80, 9)
    known = {}

    def score(units):
        key = tuple(sorted(units))
        if key not in known:
            model = NaiveBayes("bernoulli").fit(X[:, key], Y)
            if criterion == "auc":
                known[key] = -mean_auc(Y, model.decision_function(X[:, key]).round(9))
            else:
                known[key] = (model.predict(X[:, key]) != Y).sum()
        return known[key]

    selector = plain_selector(
        search=DiversifiedSearch(random_state=seed), criterion=criterion, validation=None
    ).fit(X, Y)
    changes, inside = plain_diversified(score, 9, seed)
    assert [step.units[0] for step in selector.path_.steps[1:]] == changes
    assert selector.path_.subset(len(selector.path_) - 1) == inside


def test_where_a_diversified_search_begins():
    X, Y = incidents(6)
    options = {"criterion": "auc", "validation": None, "random_state": 1}
    best = plain_selector(search=DiversifiedSearch("best"), **options).fit(X, Y)
    forward = plain_selector(search="forward", **options).fit(X, Y)
    at = next(i for i, s in enumerate(best.path_.steps) if s.n_features == 1)
    assert best.path_.subset(at) == forward.path_.subset(1)
    drawn = plain_selector(search=DiversifiedSearch(5), **options).fit(X, Y)
    assert drawn.path_.steps[0].n_features == 5
    again = plain_selector(search=DiversifiedSearch(5), **options).fit(X, Y)
    assert [s.units for s in again.path_.steps] == [s.units for s in drawn.path_.steps]
    kept = plain_selector(search="diversified", keep=[1], max_features=3, **options).fit(X, Y)
    assert 1 in kept.selected_
    assert len(kept.selected_) <= 3


def test_random_subsets_and_single_best():
    X, Y = incidents(8)
    options = {"criterion": "auc", "validation": None, "random_state": 0}
    drawn = plain_selector(search=RandomSearch((2, 5, 99), draws=4), **options).fit(X, Y)
    assert [s.n_features for s in drawn.path_.steps] == [2] * 4 + [5] * 4
    assert len({tuple(s.units) for s in drawn.path_.steps}) > 4
    single = plain_selector(search=RankedSearch("score"), **options).fit(X, Y)
    first = [s.units[0] for s in single.path_.steps[1:]]
    alone = [
        -mean_auc(
            Y, NaiveBayes("bernoulli").fit(X[:, [j]], Y).decision_function(X[:, [j]]).round(9)
        )
        for j in range(14)
    ]
    assert first == sorted(range(14), key=lambda j: (alone[j], j))


def test_votes_count_rare_values():
    X, Y = incidents(5)
    X[:, 7] = 1 - X[:, 7]  # mostly ones: the zeros vote
    rare = FeatureVotes("rare").fit(sp.csr_array(X), Y)
    ones, n = X.sum(0), len(X)
    assert (rare.votes_for_[:, ones * 2 != n] == (ones * 2 < n)[ones * 2 != n]).all()
    wanted = (rare.votes_for_[0] == X).sum(1)
    assert (rare.decision_function(sp.csr_array(X)) == wanted[:, None]).all()
    votes = FeatureVotes().fit(sp.csr_array(X), Y)
    for j, y in enumerate(Y.T):
        tied = X[y == 1].mean(0) >= X[y == 0].mean(0) - 1e-12
        assert (votes.votes_for_[j] == tied).all()
    wanted = np.column_stack([(mine == X).sum(1) for mine in votes.votes_for_])
    assert (votes.decision_function(sp.csr_array(X)) == wanted).all()
    proba = votes.predict_proba(X)
    assert proba.shape == Y.shape
    level = wanted[:, 0] == wanted[0, 0]
    assert proba[0, 0] == pytest.approx((Y[level, 0].sum() + 1) / (level.sum() + 2))
    for search, kind in (("forward", "label"), ("backward", "rare"), ("diversified", "label")):
        selector = plain_selector(
            FeatureVotes(kind), search, "auc", validation=None, random_state=0
        ).fit(sp.csr_array(X), Y)
        step = selector.path_.steps[selector.path_.chosen]
        counted = selector.decision_function(X)
        assert step.score == pytest.approx(roc_auc_score(Y, counted), abs=1e-12)
        assert selector.predict(X).shape == Y.shape
    two = FeatureVotes().fit(X, np.where(Y[:, 0], "yes", "no"))
    assert set(two.predict(X)) <= {"yes", "no"}
    assert two.predict_proba(X).sum(1) == pytest.approx(1)


def plain_elimination(X, y):
    """Section III of Ruta 2014 by its definition."""
    never, contained = set(), set()
    sets = [(set(np.flatnonzero(x & y)), set(np.flatnonzero(x & (1 - y)))) for x in X.T]
    for a, (hits, alarms) in enumerate(sets):
        if not hits:
            never.add(a)
            continue
        for b, (their_hits, their_alarms) in enumerate(sets):
            better = hits <= their_hits and alarms >= their_alarms
            same = hits == their_hits and alarms == their_alarms
            if a != b and better and (not same or b < a):
                contained.add(a)
    return never, contained


@quick
@given(seed=seeds)
def test_elimination_is_the_definitions(seed):
    X, Y = incidents(seed, 30, 20, density=0.3)
    found = eliminate(sp.csr_array(X), Y)
    redundant = []
    for j in range(3):
        never, contained = plain_elimination(X.astype(int), Y[:, j])
        assert set(np.flatnonzero(found.by[j] == -2)) == never
        assert set(np.flatnonzero(found.by[j] >= 0)) == contained
        redundant.append(never | contained)
        for a in contained:
            by = found.by[j, a]
            assert by not in redundant[-1]
            assert (X[:, a] & Y[:, j] <= X[:, by]).all()
            assert (X[:, by] & (1 - Y[:, j]) <= X[:, a]).all()
            assert "contained in" in found.reason(a)
    assert set(found.dropped) == set.intersection(*redundant)
    for table in (X, X > 0, sp.csc_array(X)):
        np.testing.assert_array_equal(eliminate(table, Y, n_jobs=2).by, found.by)
    light = eliminate(X, Y, containment=False)
    assert set(light.dropped) == set(np.flatnonzero(X[Y.any(1)].sum(0) == 0))
    assert found.to_dict()["all labels"]["with containment"] == len(found.dropped) / 20


def test_bad_elimination():
    X, Y = incidents()
    with pytest.raises(ValueError, match=r"two classes, or be a 0/1 matrix .* got 3 classes"):
        eliminate(X, np.arange(120) % 3)
    with pytest.raises(ValueError, match="bernoulli"):
        eliminate(X * 2.5, Y)


def plain_cmim(X, y, information):
    """Fleuret's criterion without laziness."""
    worth = {j: information(X[:, j], y) for j in range(X.shape[1])}
    order = []
    while worth:
        best = max(worth, key=lambda j: (round(worth[j], 11), -j))
        order.append(best)
        del worth[best]
        for j in worth:
            given_best = sum(
                (X[:, best] == z).mean() * information(X[X[:, best] == z, j], y[X[:, best] == z])
                for z in np.unique(X[:, best])
            )
            worth[j] = min(worth[j], given_best)
    return order


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=seeds, n_values=st.sampled_from([2, 3]))
def test_cmim_is_fleurets(seed, n_values):
    from sklearn.metrics import mutual_info_score

    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 130)
    X = rng.integers(0, n_values, (130, 8))
    for j in range(4):
        mine = rng.random(130) < 0.5
        X[mine, j] = y[mine] % n_values
    X[:, 5] = X[:, 0]
    table = X if n_values == 2 else pd.DataFrame(X.astype(str))
    found = rank(table, y, "cmim")
    assert found.order.tolist() == plain_cmim(X, y, mutual_info_score)
    if n_values == 2:
        for method in ("cmim", "mrmr", "mutual-information", "chi2"):
            sparse, dense = rank(sp.csr_array(X), y, method), rank(X, y, method)
            np.testing.assert_array_equal(sparse.order, dense.order)
            np.testing.assert_array_equal(sparse.scores, dense.scores)
        part = rank(X, y, "cmim", n_features=3)
        assert part.order[:3].tolist() == found.order[:3].tolist()


def test_incidents_look_like_incidents():
    data = make_incidents(2000, 400, n_entries=20000, random_state=0)
    assert data.X.shape == (2000, 400)
    assert 16000 < data.X.nnz < 26000
    assert data.Y.mean(0) == pytest.approx([0.012, 0.013, 0.06], abs=1e-3)
    again = make_incidents(2000, 400, n_entries=20000, random_state=0)
    assert (data.X != again.X).nnz == 0
    counts = np.sort(np.diff(data.X.indptr))
    assert counts[-1] > 20 * np.median(counts)
    assert (np.unique(data.X.data) > 0).all()
    signals = set(np.concatenate(data.signals))
    found = plain_selector(search="forward", criterion="auc", validation=None, max_features=8).fit(
        data.X, data.Y
    )
    assert len(signals & set(found.selected_.tolist())) >= 5
    with pytest.raises(ValueError, match="n_entries must be a whole number from 400 to"):
        make_incidents(2000, 400, n_entries=3)


def test_the_same_on_one_thread_and_on_three():
    data = make_incidents(3000, 600, n_entries=60000, random_state=1)
    found = [
        plain_selector(
            search="diversified", criterion="penalised-auc", random_state=0, n_jobs=n
        ).fit(data.X, data.Y).path_.to_dict()
        for n in (1, 3)
    ]  # fmt: skip
    assert str(found[0]) == str(found[1])


def test_votes_are_learnt_within_each_fold():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (200, 60)), rng.integers(0, 2, 200)
    score = (
        plain_selector(FeatureVotes(), "forward", "auc", KFold(5), validation=None, keep=range(60))
        .fit(X, y)
        .path_.steps[0]
        .score
    )
    areas = [
        roc_auc_score(y[test], FeatureVotes().fit(X[train], y[train]).decision_function(X[test]))
        for train, test in KFold(5).split(X)
    ]
    assert score == pytest.approx(np.mean(areas), abs=1e-12)
    for criterion in ("error", "probability", "log-likelihood"):
        with pytest.raises(ValueError, match="FeatureVotes counts and knows no probabilities"):
            plain_selector(FeatureVotes(), criterion=criterion).fit(X, y)
    with pytest.raises(ValueError, match="cv='loo' has no closed form for FeatureVotes"):
        plain_selector(FeatureVotes(), criterion="auc", cv="loo").fit(X, y)


@pytest.mark.parametrize("search", [RandomSearch((2, 3), 3, 0), DiversifiedSearch(3, 0)])
@pytest.mark.parametrize(
    "sizes", [{"n_features": 4}, {"max_features": 3}, {"n_features": 4, "keep": [0]}]
)
def test_sizes_count_columns_not_groups(search, sizes):
    X, Y = incidents(1, 80, 8)
    selector = plain_selector(
        search=search, criterion="auc", validation=None,
        feature_groups=[[0, 1], [2, 3], [4, 5], [6, 7]], **sizes,
    ).fit(X, Y)  # fmt: skip
    assert len(selector.selected_) == sizes.get("n_features", 2)


def test_the_number_asked_for_is_reached_when_gains_run_out():
    X = np.zeros((40, 5))
    y = X[:, 0] = np.arange(40) % 2
    for sizes in ({"n_features": 3}, {"min_features": 3}):
        selector = plain_selector(
            search=DiversifiedSearch(random_state=0), criterion="auc", validation=None, **sizes
        ).fit(X, y)
        assert selector.selected_.tolist() == [0, 1, 2]
