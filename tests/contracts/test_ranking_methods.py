"""Every ranking, by the same demands: all columns, once, and nothing that chance decides."""

import inspect
import pickle
from dataclasses import fields, is_dataclass, replace
from functools import partial

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest

from bayesieve import rank
from bayesieve.data.tables import RawTable
from bayesieve.engine import threads
from bayesieve.engine.threads import Threads
from bayesieve.rankings import RANKINGS, Ranking, RankingMethod, TreeLevels
from bayesieve.rankings.base import LabelledRows
from bayesieve.rankings.rank import check_ranking, columns_for, ranking_names
from bayesieve.search import RankedSearch
from plain import plain_selector

CONSTANT, COPY, ORIGINAL = 0, 5, 2
MODELS = ["bernoulli", "gaussian", "gaussian", "categorical", "bernoulli", "gaussian", "bernoulli"]

every = pytest.mark.parametrize("name", RANKINGS)


def table(seed=0, n_rows=160, n_classes=3):
    """Columns of several kinds: a constant comes first, and a copy of a good one late."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    X = np.zeros((n_rows, 7))
    X[:, 1] = np.round(rng.normal(size=n_rows), 2)
    X[:, 2] = np.round(rng.normal(size=n_rows) + 2.5 * y, 1)
    X[:, 3] = np.where(rng.random(n_rows) < 0.4, y, rng.integers(0, 4, n_rows))
    X[:, 4] = rng.random(n_rows) < 0.2 + 0.6 * (y == 1)
    X[:, 5] = X[:, 2]
    X[:, 6] = rng.integers(0, 2, n_rows)
    X[rng.random(n_rows) < 0.05, 3] = np.nan
    return X, y


def ranked(name, X, y, weights, n_features=7):
    """As the ranked search asks for it, with weights of the rows."""
    method = RANKINGS[name]
    given = RawTable(X, [f"x{j}" for j in range(X.shape[1])], len(X))
    n_classes = int(y.max()) + 1
    rows = LabelledRows(np.arange(len(y)), y, weights, n_classes)
    columns = columns_for(method, given, MODELS, rows)
    return method.rank(columns, y, n_classes, Threads(1), n_features)


def test_there_is_one_registry():
    assert ranking_names() == list(RANKINGS)
    assert all(isinstance(method, RankingMethod) for method in RANKINGS.values())


@every
def test_all_columns_once_and_a_constant_never_first(name):
    X, y = table()
    found = rank(X, y, name)
    assert isinstance(found, Ranking)
    assert sorted(found.order.tolist()) == list(range(7))
    assert found.scores.shape == (7,)
    assert np.isfinite(found.scores).all()
    assert found.order[0] != CONSTANT
    for n_features in (1, 4):
        few = rank(X, y, name, n_features=n_features)
        assert sorted(few.order.tolist()) == list(range(7))
        assert few.order[:n_features].tolist() == found.order[:n_features].tolist()


@every
def test_scores_fall_along_the_order_and_equals_stand_by_column(name):
    """A method whose order is not that of its scores says so; copies stand by column in any."""
    for seed in range(5):
        X, y = table(seed)
        found = rank(X, y, name)
        order = found.order.tolist()
        assert order.index(ORIGINAL) < order.index(COPY)
        if RANKINGS[name].sorts_by_score:
            assert order == np.lexsort((np.arange(7), -found.scores)).tolist()


@every
def test_copies_alone_stand_in_the_order_of_the_table(name):
    X, y = table()
    assert rank(X[:, [2, 2, 2, 2]], y, name).order.tolist() == [0, 1, 2, 3]


@every
def test_one_and_two_threads_agree_to_the_bit(name, monkeypatch):
    monkeypatch.setattr(threads, "_SMALL", 0)  # or a small table is not worth a second thread
    X, y = table(1)
    one, two = (rank(X, y, name, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.order, two.order)
    np.testing.assert_array_equal(one.scores, two.scores)


class Watched(Threads):
    """Threads that count what they are given to share."""

    def run(self, task, n_items, n_cells):
        self.shared = max(getattr(self, "shared", 0), n_items)
        super().run(task, n_items, n_cells)


@pytest.mark.parametrize("method", [*RANKINGS.values(), TreeLevels()], ids=repr)
def test_all_work_is_shared_among_the_threads_it_is_given(method):
    X, y = table()
    given = RawTable(X, [f"x{j}" for j in range(7)], len(X))
    rows = LabelledRows(np.arange(len(y)), y, np.ones(len(y)), 3)
    columns = columns_for(method, given, MODELS, rows)
    with Watched(2) as engine:
        method.rank(columns, y, 3, engine, 7)
    assert engine.shared > 1


@every
def test_the_names_of_classes_do_not_matter(name):
    X, y = table()
    named = np.array(["late", "middle", "zero"])[2 - y]
    np.testing.assert_allclose(rank(X, named, name).scores, rank(X, y, name).scores, rtol=1e-9)


@every
def test_a_weight_is_a_repeat(name):
    if not RANKINGS[name].takes_weights:
        assert "eights of rows are not used" in " ".join(inspect.getdoc(RANKINGS[name]).split())
        return
    X, y = table()
    weights = np.random.default_rng(3).integers(1, 4, len(y))
    one = ranked(name, X, y, weights.astype(float))
    copies = np.repeat(np.arange(len(y)), weights)
    other = ranked(name, X[copies], y[copies], np.ones(copies.size))
    np.testing.assert_array_equal(one.order, other.order)
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6, atol=1e-9)


@every
def test_it_scores_for_scikit_learn(name):
    X, y = table()
    X = np.nan_to_num(X)  # scikit-learn's selector takes no missing values
    chosen = SelectKBest(partial(rank, method=name), k=3).fit(X, y).get_support(indices=True)
    assert sorted(chosen.tolist()) == sorted(rank(X, y, name).order[:3].tolist())


@every
def test_the_ranked_search_walks_it(name):
    X, y = table()
    selector = plain_selector(search=RankedSearch(name), validation=None).fit(X, y)
    walked = [step.units[0] for step in selector.path_.steps if step.action == "add"]
    assert walked == rank(X, y, name).order.tolist()


@every
def test_it_pickles_and_compares(name):
    again = pickle.loads(pickle.dumps(RANKINGS[name]))
    assert again == RANKINGS[name]
    assert type(again) is type(RANKINGS[name])
    assert repr(again) == repr(RANKINGS[name])


@every
def test_bad_parameters_are_refused_by_name(name):
    method = RANKINGS[name]
    method.check()
    assert is_dataclass(method)
    for field in fields(method):
        for bad in (object(), "no such thing", -1):
            with pytest.raises((TypeError, ValueError), match=rf"{field.name} must be .*; got "):
                rank(*table(), replace(method, **{field.name: bad}))


@every
def test_what_is_not_known_is_answered_by_all_names(name):
    with pytest.raises(ValueError, match=rf"method must be one of .*'{name}'.*; got 'nothing'"):
        rank(*table(), "nothing")
    with pytest.raises(TypeError, match=rf"ranking must be one of .*'{name}'"):
        check_ranking(type(RANKINGS[name]), "ranking")


class ByHand:
    """A user's object, of no class of ours."""

    def __init__(self, reads):
        self.reads = reads

    def rank(self, columns, labels, n_classes, engine, n_features):
        return Ranking.by_score(np.arange(columns.n_columns))


def test_any_object_with_rank_will_do_if_it_says_what_it_reads():
    X, y = table()
    for reads in ("discrete", "mixed"):
        assert rank(X, y, ByHand(reads)).order.tolist() == [6, 5, 4, 3, 2, 1, 0]
    with pytest.raises(
        ValueError, match=r"method\.reads must be one of 'discrete', 'mixed'; got 'l"
    ):
        rank(X, y, ByHand("letters"))


@pytest.mark.parametrize("field", fields(TreeLevels), ids=lambda field: field.name)
def test_a_ranking_without_a_name_judges_its_parameters_too(field):
    TreeLevels().check()
    with pytest.raises(TypeError, match=rf"{field.name} must be .*; got "):
        rank(*table(), TreeLevels(**{field.name: "many"}))
