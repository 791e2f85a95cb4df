"""What luck brings where columns of noise were chosen among many."""

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import chi2_contingency, false_discovery_control
from scipy.stats.contingency import crosstab

from bayesieve import NaiveBayesSelector
from bayesieve.engine.threads import Threads
from bayesieve.estimators.luck import evenly, mean_of_largest, silent_columns, with_luck
from bayesieve.search import PhaseSearch, ShortlistSearch
from bayesieve.search.run import Task


def test_the_mean_of_the_largest_of_many_normal_values():
    values = np.sort(np.random.default_rng(0).normal(size=(2000, 50)), axis=1)
    for n in (1, 3, 10, 25, 40):
        # The density is that of very many values: 8 % too much for the largest of fifty.
        assert mean_of_largest(n, 50) == pytest.approx(values[:, -n:].mean(), rel=0.08)
    assert mean_of_largest(0, 50) == mean_of_largest(50, 50) == 0.0


def test_margins_grow_with_silent_columns_alone():
    silent = np.arange(40) >= 4
    margin = with_luck(lambda one, best: 0.01 + 0.001 * len(best), silent)
    assert margin([0], [0, 1, 2, 3]) == pytest.approx(0.014)
    lucky = 0.016 * 5 * mean_of_largest(5, 36) / np.sqrt(5)
    assert margin([0], [0, 10, 11, 12, 13, 14]) == pytest.approx(lucky)
    mixed = 0.017 * 4 * mean_of_largest(4, 35) / np.sqrt(6)
    assert margin([0, 20], [0, 1, 2, 10, 11, 12, 13]) == pytest.approx(mixed)
    assert margin([0, 1], [0, 1]) == pytest.approx(0.012)


def test_rows_are_taken_evenly_from_every_class():
    strata = np.repeat([0, 1], [900, 100])
    rows = evenly(np.arange(1000), strata, 50)
    assert rows.size == 50
    assert (np.bincount(strata[rows]) == [45, 5]).all()
    assert evenly(rows, strata, 50) is rows


def asked(X, y, monkeypatch, weights=None, **options):
    """What a selector's fit calls silent."""
    found = []

    def spied(task: Task, guiding: np.ndarray, threads: Threads) -> np.ndarray:
        found.append(silent_columns(task, guiding, threads))
        return found[-1]

    monkeypatch.setattr("bayesieve.estimators.selector.silent_columns", spied)
    selector = NaiveBayesSelector(search=PhaseSearch("forward"), max_features=2, **options)
    selector.fit(X, y, sample_weight=weights)
    return found[0]


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_silent_columns_by_their_definition(form, weighted, monkeypatch):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 250)
    chance = 0.2 + np.linspace(0, 0.25, 20) * (y[:, None] == 1)
    X = (rng.random((250, 20)) < chance).astype(np.uint8)
    X[:, 4] = 1
    weights = rng.integers(1, 4, 250) if weighted else np.ones(250, int)
    rows = np.repeat(np.arange(250), weights)
    # A constant column says nothing, whatever the test.
    chances = [
        chi2_contingency(crosstab(X[rows, j], y[rows]).count, correction=False)[1] if j != 4 else 1
        for j in range(20)
    ]
    wanted = false_discovery_control(chances) > 0.1
    found = asked(form(X), y, monkeypatch, weights, cv=5)
    assert 3 < wanted.sum() < 17
    np.testing.assert_array_equal(found, wanted)


def test_numbers_that_get_no_cut_are_silent(monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 30))
    X[:, :5] += y[:, None]
    silent = asked(X, y, monkeypatch)
    assert not silent[:5].any()
    assert silent[5:].sum() >= 23


def test_a_column_of_very_many_levels_is_not_called_silent(monkeypatch):
    row = np.arange(900)
    X = np.column_stack([row // 2 % 2, row % 300]).astype(str).astype(object)
    y = row % 2
    assert asked(X, y, monkeypatch).tolist() == [True, False]


def test_labels_have_no_silent_columns(monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (80, 6)), rng.integers(0, 2, (80, 3))
    assert not asked(X, y, monkeypatch, criterion="auc").any()


def test_columns_of_noise_are_left_out_however_many_rows_there_are():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 8000)
    chance = 0.4 + 0.1 * (np.arange(150) < 8) * y[:, None]
    X = (rng.random((8000, 150)) < chance).astype(np.uint8)
    selector = NaiveBayesSelector().fit(X, y)
    path = selector.path_
    assert path.steps[path.best].n_features > 15
    assert set(range(8)) <= set(selector.selected_)
    assert selector.selected_.size <= 10


@pytest.mark.parametrize("preset", [None, "few"])
def test_of_a_wide_table_one_column_that_says_all_is_enough(preset):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 6000)) < 0.1).astype(np.uint8)
    X[:, 7] = np.where(rng.random(200) < 0.1, 1 - y, y)
    assert NaiveBayesSelector(preset=preset).fit(X, y).selected_.tolist() == [7]


@pytest.mark.parametrize("keep", [[], [35]])
def test_columns_beyond_a_shortlist_are_not_learnt_and_change_nothing(keep, monkeypatch):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 40))
    X[:, :6] += 0.6 * y[:, None]
    X[:, 20:30] = X[:, 20:30] > 0
    search = ShortlistSearch(PhaseSearch("forward", patience=5), size=10)
    one = NaiveBayesSelector(search=search, keep=keep).fit(X, y)
    monkeypatch.setattr(Task, "seen_by", lambda self, search: self)
    other = NaiveBayesSelector(search=search, keep=keep).fit(X, y)
    assert [step.key for step in one.path_.steps] == [step.key for step in other.path_.steps]
    np.testing.assert_array_equal(one.selected_, other.selected_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert str(one.proof_) == str(other.proof_)
