"""What luck brings where columns of noise were chosen among many."""

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import chi2_contingency, false_discovery_control
from scipy.stats.contingency import crosstab

from bayesieve import NaiveBayesSelector
from bayesieve.criteria import Criterion
from bayesieve.engine.threads import Threads
from bayesieve.estimators.selector import Searching
from bayesieve.estimators.significance import evenly, mean_of_largest, silent_columns, with_luck
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


def by_chi2(X, y):
    """Columns that are no discovery, by scipy; rows of missing values (-1) are left out."""
    tables = (crosstab(x[x >= 0], y[x >= 0]).count for x in X.T)
    chances = [chi2_contingency(table, correction=False)[1] for table in tables]
    return false_discovery_control(chances) > 0.1


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
    # A constant column says nothing, and there is no test of it.
    tested = np.delete(np.arange(20), 4)
    wanted = np.ones(20, bool)
    wanted[tested] = by_chi2(X[rows][:, tested], y[rows])
    found = asked(form(X), y, monkeypatch, weights, cv=5)
    assert 3 < wanted.sum() < 17
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("weighted", [False, True])
def test_levels_and_classes_that_no_row_has_are_not_told_apart(weighted, monkeypatch):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 400)
    chance = 0.4 + np.linspace(0, 0.3, 12) * (y[:, None] == 1)
    X = (rng.random((400, 12)) < chance).astype(int)
    X += 2 * rng.integers(0, 2, (400, 12))
    X[y == 2, 6:] = -1
    # Rows that validate have thirty levels more.
    guides = np.arange(400) < 300
    X[~guides] = rng.integers(0, 34, (100, 12))
    text = np.where(X < 0, None, X.astype(str).astype(object))
    weights = rng.integers(1, 3, 400) if weighted else np.ones(400, int)
    rows = np.repeat(np.arange(300), weights[:300])
    task = asked_task(text, y, monkeypatch, weights, validation=~guides, choice="best")
    with Threads(1) as threads:
        found = silent_columns(task, np.arange(300), threads)
    wanted = by_chi2(X[rows], y[rows])
    assert 2 < wanted.sum() < 11
    np.testing.assert_array_equal(found, wanted)


def asked_task(X, y, monkeypatch, weights, **options):
    """What a selector's fit searches."""
    tasks = []
    ours = Searching.run

    def spied(self, *told):
        tasks.append(self.task)
        return ours(self, *told)

    monkeypatch.setattr(Searching, "run", spied)
    NaiveBayesSelector(search="forward", max_features=1, **options).fit(X, y, sample_weight=weights)
    return tasks[0]


@pytest.mark.parametrize("how", ["forbid", "families"])
def test_columns_that_nobody_may_choose_change_nothing(how):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 400)
    X = (rng.random((400, 30)) < 0.4 + 0.12 * (np.arange(30) < 12) * y[:, None]).astype(float)
    noise = (rng.random((400, 600)) < 0.4).astype(float)
    options = {"forbid": range(30, 630)} if how == "forbid" else {}
    if how == "families":
        options["families"] = [[29, *range(30, 630)]]
    one = NaiveBayesSelector(max_features=30).fit(X, y)
    other = NaiveBayesSelector(max_features=30, **options).fit(np.hstack([X, noise]), y)
    assert one.selected_.size > 3
    np.testing.assert_array_equal(other.selected_, one.selected_)


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


@pytest.mark.parametrize("seed", [3, 8])
def test_rows_that_prove_a_search_do_not_choose_on_its_path(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 300)
    X = (rng.random((300, 40)) < 0.4).astype(float)
    guides = np.arange(300) % 5 < 3
    selector = NaiveBayesSelector(search="forward", cv=5, choice="proven", min_features=0)
    alone = selector.fit(X[guides], y[guides]).proof_
    assert alone.by == "folds"
    proof = selector.set_params(validation=~guides).fit(X, y).proof_
    assert str(proof) == str(alone)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("split", ["two of a class", "one of a class", "two groups"])
def test_where_nothing_can_be_put_aside_the_first_step_alone_proves(form, split):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (24, 6))
    y = np.arange(24) // 2 if split == "two of a class" else np.arange(24) % 2
    if split == "one of a class":
        y = np.minimum(np.arange(24), 22)
    groups = np.arange(24) // 12 if split == "two groups" else None
    selector = NaiveBayesSelector(min_features=0).fit(form(X), y, groups=groups)
    assert selector.proof_.by == ("first step" if groups is None else "column")
    assert not selector.proof_.holds
    assert selector.selected_.size == 0
    if split != "one of a class":
        found = NaiveBayesSelector().fit(form(np.c_[X, y == 0, y]), y, groups=groups)
        assert found.selected_.size > 0


def test_a_proof_needs_a_standard_error_of_what_guides():
    class Own(Criterion):
        name = "own"

        def loss(self, scores, classes, weights):
            return float(weights @ (scores.argmax(axis=1) != classes))

    selector = NaiveBayesSelector(criterion=Own(), choice="proven", validation=0.4, random_state=0)
    with pytest.raises(ValueError, match="choice='proven' needs a standard error, which criterion"):
        selector.fit([[0], [1]] * 10, [0, 1] * 10)
    chosen = selector.set_params(choice="one-se").fit([[0], [1]] * 10, [0, 1] * 10)
    assert chosen.selected_.tolist() == [0]


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
