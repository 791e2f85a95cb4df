"""NaiveBayesSelector: the choice, its order and bounds, and what scores are computed on."""

from itertools import combinations, pairwise

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB

from bayesieve import NaiveBayes
from bayesieve.search import GreedySearch
from plain import plain_selector
from tables import binary_table

matplotlib.use("Agg")
SEARCHES = ["forward", "backward", "forward-backward", "backward-forward", "sffs", "sbfs"]


# -- the choice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
def test_validation_chooses_by_error_then_size_then_first_visited(search):
    X, y = binary_table()
    selector = plain_selector(search=search, random_state=0).fit(X, y)
    guiding, validating = selector.guiding_rows_, selector.validation_rows_
    assert sorted([*guiding, *validating]) == list(range(len(y)))
    ranks = []
    for i, step in enumerate(selector.path_.steps):
        columns = selector.path_.subset(i)
        error = 1.0
        if columns:
            model = NaiveBayes().fit(X[guiding][:, columns], y[guiding])
            error = 1 - model.score(X[validating][:, columns], y[validating])
            assert step.validation_error == pytest.approx(error, abs=1e-12)
        assert len(columns) == step.n_features
        ranks.append((error, len(columns) or 10**6, i))
    assert selector.path_.chosen == min(ranks)[2]
    assert sorted(selector.selected_.tolist()) == np.flatnonzero(selector.support_).tolist()


def test_validation_never_steers():
    X, y = binary_table()
    one = plain_selector(random_state=0).fit(X, y)
    other = y.copy()
    rows = one.validation_rows_
    other[rows] = np.random.default_rng(1).permutation(y[rows])
    two = plain_selector(random_state=0).fit(X, other)
    if np.array_equal(one.validation_rows_, two.validation_rows_):
        assert [s.units for s in one.path_.steps] == [s.units for s in two.path_.steps]
        assert [s.score for s in one.path_.steps] == [s.score for s in two.path_.steps]
    assert [s.validation_error for s in one.path_.steps] != [
        s.validation_error for s in two.path_.steps
    ]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_split_is_stratified_and_spares_lone_rows(share):
    y = np.r_[np.zeros(60, int), np.ones(30, int), 2]
    X = np.random.default_rng(0).integers(0, 2, (91, 4))
    selector = plain_selector(validation=share, random_state=3).fit(X, y)
    held_out = np.bincount(y[selector.validation_rows_], minlength=3)
    assert held_out.tolist() == [round(60 * share), round(30 * share), 0]


def test_without_validation_the_guiding_score_chooses():
    X, y = binary_table()
    selector = plain_selector(search="forward", validation=None, cv=5).fit(X, y)
    best = min((s.score, s.n_features, i) for i, s in enumerate(selector.path_.steps) if i)
    assert selector.path_.chosen == best[2]
    assert selector.validation_rows_.size == 0
    assert np.isnan(selector.path_.steps[0].validation_error)


def test_path_errors_are_the_models_errors():
    X, y = load_wine(return_X_y=True)
    selector = plain_selector(criterion="error", validation=None, search="backward").fit(X, y)
    chosen = selector.path_.steps[selector.path_.chosen]
    assert chosen.score == pytest.approx(1 - selector.score(X, y), abs=1e-12)
    fresh = NaiveBayes().fit(X[:, selector.support_], y)
    np.testing.assert_allclose(
        fresh.predict_proba(X[:, selector.support_]), selector.predict_proba(X), atol=1e-10
    )


def test_frozen_mean_smoothing_survives_the_selection():
    X, y = binary_table()
    model = NaiveBayes(smoothing="mean")
    selector = plain_selector(
        model, search="forward", criterion="error", validation=None, n_features=3
    ).fit(X, y)
    everything = model.fit(X, y).terms(X)[:, np.flatnonzero(selector.support_)]
    np.testing.assert_array_equal(selector.estimator_.terms(X[:, selector.support_]), everything)
    chosen = selector.path_.steps[selector.path_.chosen]
    assert chosen.score == pytest.approx(1 - selector.score(X, y), abs=1e-12)


# -- order and sizes -----------------------------------------------------------------------------


def test_forward_lists_features_as_they_joined_backward_the_last_dropped_first():
    X, y = binary_table()
    options = {"validation": None, "n_features": 5}
    forward = plain_selector(search="forward", **options).fit(X, y)
    joined = [s.units[0] for s in forward.path_.steps if s.action == "add"]
    assert forward.selected_.tolist() == joined[:5]
    backward = plain_selector(search="backward", **options).fit(X, y)
    dropped = [s.units[0] for s in backward.path_.steps if s.action == "drop"]
    last = set(range(12)) - set(dropped)
    assert backward.selected_.tolist() == [*last, *dropped[::-1]][:5]


@pytest.mark.parametrize("search", SEARCHES)
def test_bounds(search):
    X, y = binary_table()
    options = {"search": search, "random_state": 0}
    exact = plain_selector(n_features=4, **options).fit(X, y)
    assert len(exact.selected_) == 4
    few = plain_selector(max_features=2, **options).fit(X, y)
    assert 1 <= len(few.selected_) <= 2
    many = plain_selector(min_features=7, **options).fit(X, y)
    assert len(many.selected_) >= 7
    kept = plain_selector(keep=[11, 3], max_features=3, **options).fit(X, y)
    assert {3, 11} <= set(kept.selected_.tolist())
    assert all({3, 11} <= set(kept.path_.subset(i)) for i in range(len(kept.path_)))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 6])
def test_exact_sizes_are_kept_in_reach_of_groups(search, n_features):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 7)), rng.integers(0, 2, 60)
    X[:, 6] = y
    selector = plain_selector(
        search=search,
        n_features=n_features,
        feature_groups=[[0, 1], [2, 3], [4, 5]],
        random_state=0,
    ).fit(X, y)
    assert len(selector.selected_) == n_features


def test_the_empty_subset_only_on_request():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (90, 5)), np.repeat([0, 0, 1], 30)
    assert len(plain_selector(random_state=0).fit(X, y).selected_) >= 1
    nothing = plain_selector(min_features=0, criterion="error", random_state=0).fit(X, y)
    assert nothing.selected_.size == 0
    assert (nothing.predict(X) == 0).all()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert nothing.transform(X).shape == (90, 0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert (nothing.fit(frame, y).predict(frame) == 0).all()
    assert (nothing.predict(pl.from_pandas(frame)) == 0).all()


def test_stop_at_the_first_step_that_does_not_help():
    X, y = binary_table()
    for direction in ("forward", "backward"):
        search = GreedySearch(direction, stop="no-improvement")
        selector = plain_selector(search=search, criterion="error", cv=5, validation=None)
        scores = [s.score for s in selector.fit(X, y).path_.steps]
        assert all(later < earlier for earlier, later in pairwise(scores))
        whole = plain_selector(search=direction, criterion="error", cv=5, validation=None)
        went_on = [s.score for s in whole.fit(X, y).path_.steps]
        assert went_on[: len(scores)] == scores
        assert went_on[len(scores)] >= scores[-1]


def test_phases_end_when_the_guiding_score_does_not_improve():
    X, y = binary_table(seed=5)
    selector = plain_selector(search="forward-backward", cv=5, validation=None).fit(X, y)
    phases = {}
    for step in selector.path_.steps:
        phases.setdefault(step.phase, []).append(step.score)
    best = [min(scores[p == 0 :]) for p, scores in phases.items()]
    assert all(later < earlier for earlier, later in pairwise(best[:-1]))
    assert best[-1] >= min(best[:-1])


@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood"])
@pytest.mark.parametrize("cv", ["train", "loo", 3])
def test_exhaustive_search_finds_the_best_of_all(criterion, cv):
    X, y = binary_table(70, 5, seed=4)
    options = {"criterion": criterion, "cv": cv, "validation": None}
    found = plain_selector(search="exhaustive", **options).fit(X, y)
    assert found.n_tried_ == 2**5 - 1
    best = None
    for size in range(1, 6):
        for subset in combinations(range(5), size):
            score = plain_selector(search="backward", keep=subset, n_features=size, **options).fit(
                X, y
            )
            key = score.path_.steps[score.path_.chosen].key
            if best is None or key < best[0]:
                best = (key, list(subset))
    assert found.path_.steps[found.path_.chosen].key == best[0]
    assert found.selected_.tolist() == best[1]
    for search in SEARCHES:
        other = plain_selector(search=search, **options).fit(X, y)
        assert other.path_.steps[other.path_.chosen].key >= best[0]


def test_exhaustive_search_within_bounds_and_its_refusal():
    X, y = binary_table(60, 8)
    bounded = plain_selector(
        search="exhaustive", feature_groups=[[0, 1]], keep=[7], max_features=4, random_state=0
    ).fit(X, y)
    assert 7 in bounded.selected_
    assert 1 <= len(bounded.selected_) <= 4
    assert bounded.n_tried_ == 2**6 - 1
    scores = [s.score for s in bounded.path_.steps[1:]]
    assert scores == sorted(scores, reverse=True)
    wide = np.random.default_rng(0).integers(0, 2, (60, 40))
    with pytest.raises(ValueError, match=r"would score 2\^40 subsets, about .* at most 1048576"):
        plain_selector(search="exhaustive").fit(wide, y)


# -- what it is computed on ----------------------------------------------------------------------


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), cv=st.sampled_from(["train", "loo"]), balanced=st.booleans())
def test_weights_are_repeats(seed, cv, balanced):
    X, y = binary_table(60, 6, seed)
    weights = np.random.default_rng(seed).integers(0, 4, 60)
    weights[:6] = 1
    y[:6] = [0, 1, 2, 0, 1, 2]
    rows = np.repeat(np.arange(60), weights)
    selector = plain_selector(cv=cv, validation=None, class_weight="balanced" if balanced else None)
    weighted = clone(selector).fit(X, y, sample_weight=weights)
    repeated = clone(selector).fit(X[rows], y[rows])
    assert [s.units for s in weighted.path_.steps] == [s.units for s in repeated.path_.steps]
    assert [s.score for s in weighted.path_.steps] == [s.score for s in repeated.path_.steps]
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-10)


def test_balanced_weights_give_the_balanced_error():
    from sklearn.metrics import balanced_accuracy_score

    X, y = binary_table(150, 8, 1)
    keep = (y != 2) | (np.arange(150) % 5 == 0)
    X, y = X[keep], y[keep]
    selector = plain_selector(
        criterion="error", validation=None, class_weight="balanced", n_features=3
    ).fit(X, y)
    chosen = selector.path_.steps[selector.path_.chosen]
    assert chosen.score == pytest.approx(
        1 - balanced_accuracy_score(y, selector.predict(X)), abs=1e-12
    )
    mapped = plain_selector(
        criterion="error", validation=None, class_weight={0: 2.0, 1: 2, 2: 2}, n_features=3
    ).fit(X, y)
    plain = plain_selector(criterion="error", validation=None, n_features=3).fit(X, y)
    assert mapped.path_.steps[-1].score == pytest.approx(plain.path_.steps[-1].score)


@pytest.mark.parametrize(
    "cv", [4, StratifiedKFold(3, shuffle=True, random_state=1), ShuffleSplit(5, random_state=0),
           RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)]
)  # fmt: skip
def test_any_splitter_gives_scikit_learns_scores(cv):
    X, y = load_wine(return_X_y=True)
    selector = plain_selector(
        NaiveBayes(var_smoothing=1e-9), "forward", "error", cv, validation=None
    ).fit(X, y)
    splitter = StratifiedKFold(cv) if isinstance(cv, int) else cv
    extra = 1e-9 * X.var(0).max()
    for i in (1, 3, len(selector.path_) - 1):
        columns = selector.path_.subset(i)
        wrong = total = 0
        for train, test in splitter.split(X, y):
            share = extra / X[train][:, columns].var(0).max()
            peer = GaussianNB(var_smoothing=share).fit(X[train][:, columns], y[train])
            wrong += (peer.predict(X[test][:, columns]) != y[test]).sum()
            total += test.size
        assert selector.path_.steps[i].score == pytest.approx(wrong / total, abs=1e-12)


def test_leave_one_out_by_name_by_splitter_and_by_folds():
    X, y = binary_table(40, 5)
    paths = [
        plain_selector(cv=cv, validation=None).fit(X, y).path_
        for cv in ("loo", LeaveOneOut(), list(LeaveOneOut().split(X)))
    ]
    for path in paths[1:]:
        assert [s.units for s in path.steps] == [s.units for s in paths[0].steps]
        assert [s.score for s in path.steps] == [s.score for s in paths[0].steps]


def test_groups_reach_the_splitter_and_row_numbers_the_guiding_part():
    X, y = binary_table(90, 5)
    groups = np.arange(90) // 10
    grouped = plain_selector(cv=GroupKFold(3), validation=None).fit(X, y, groups=groups)
    listed = list(GroupKFold(3).split(X, y, groups))
    by_rows = plain_selector(cv=listed, validation=None).fit(X, y)
    assert [s.score for s in grouped.path_.steps] == [s.score for s in by_rows.path_.steps]
    halved = plain_selector(cv=listed, validation=0.5, random_state=0).fit(X, y)
    assert len(halved.path_) >= 5


def test_rows_without_weight_keep_their_numbers():
    X, y = binary_table(90, 5)
    weights = (np.arange(90) % 3 > 0).astype(int)
    rows = np.flatnonzero(weights)
    groups = np.arange(90) // 10
    for cv in (GroupKFold(3), list(GroupKFold(3).split(X, y, groups))):
        weighted = plain_selector(cv=cv, validation=None)
        weighted.fit(X, y, sample_weight=weights, groups=groups)
        splits = [
            tuple(np.flatnonzero(np.isin(rows, part)) for part in split)
            for split in GroupKFold(3).split(X, y, groups)
        ]
        if not isinstance(cv, list):
            splits = GroupKFold(3)
        dropped = plain_selector(cv=splits, validation=None)
        dropped.fit(X[rows], y[rows], groups=groups[rows])
        assert [s.score for s in weighted.path_.steps] == [s.score for s in dropped.path_.steps]
    halved = plain_selector(random_state=0).fit(X, y, sample_weight=weights)
    both = np.r_[halved.guiding_rows_, halved.validation_rows_]
    assert sorted(both.tolist()) == rows.tolist()
