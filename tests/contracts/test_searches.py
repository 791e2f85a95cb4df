"""Every search, by the same demands: it ends, keeps to its limits, and can be left and taken up."""

import ast
import inspect
import pickle
import sys
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from sklearn.base import clone

from bayesieve.criteria import CRITERIA
from bayesieve.engine import threads
from bayesieve.engine.contract import Units
from bayesieve.estimators import selector as searching
from bayesieve.search import SEARCHES, DiversifiedSearch, Limits, RandomSearch, RankedSearch, Search
from bayesieve.search.checkpoint import Journal
from bayesieve.search.objective import Objective, SubsetScorer
from bayesieve.search.path import Path, Recorder
from bayesieve.search.progress import Forecast
from bayesieve.search.run import Clock, Run
from ledgers import dense_ledger, objective_of
from plain import plain_selector

MODELS = ["bernoulli"] * 7
SINGLE = tuple((j,) for j in range(7))
GROUPED = ((0, 2), (1,), (3,), (4, 5, 6))
#: Units, units to keep, and the sizes asked for.
TASKS = {
    "free": (SINGLE, (), Limits(1, 7)),
    "from nothing": (SINGLE, (), Limits(0, 7)),
    "bounded": (SINGLE, (), Limits(2, 4)),
    "kept": (SINGLE, (5, 1), Limits(1, 5)),
    "exact": (SINGLE, (3,), Limits(1, 3, exact=True)),
    "groups": (GROUPED, (), Limits(1, 5)),
    "kept groups": (GROUPED, (0,), Limits(2, 6)),
    "exact groups": (GROUPED, (), Limits(1, 4, exact=True)),
    "all kept": (SINGLE, tuple(range(7)), Limits(1, 7)),
}

every = pytest.mark.parametrize("name", SEARCHES)
in_every_task = pytest.mark.parametrize("task", TASKS)


def table(seed=0, n_rows=70):
    """Seven columns of 0 and 1, some of use, one a copy of another."""
    rng = np.random.default_rng(seed)
    y = np.append([0, 1, 2], rng.integers(0, 3, n_rows - 3))
    X = (rng.random((n_rows, 7)) < 0.3 + 0.4 * (y[:, None] == np.arange(7) % 4)).astype(float)
    X[:, 6] = X[:, 2]
    return X, y


class Hints:
    """What the selector would hand over."""

    def __init__(self, units):
        self.seed, self._n = 3, len(units)

    def order(self, ranking):
        return (*range(1, self._n), 0)

    def units_of(self, parameter, columns):
        return tuple(columns)

    def pairs(self, measure):
        return tuple((a, b) for a in range(self._n) for b in range(a + 1, self._n))


def prepared(name, task, seed=0):
    """The search, its limits, and an objective that has not been touched."""
    units, keep, limits = TASKS[task]
    X, y = table(seed)
    objective = objective_of(dense_ledger(X, y, MODELS, 3), "probability", units, keep)
    return SEARCHES[name].given(Hints(units)), limits, objective


def committed(objective):
    """A list that grows with every state: action, units moved, subset, its size and its key."""
    states = []
    objective.listeners.append(
        lambda action, units, o: states.append((action, units, set(o.selected), o.size, o.score()))
    )
    return states


@every
@in_every_task
def test_it_ends_within_its_limits(name, task):
    search, limits, objective = prepared(name, task)
    units, keep, _ = TASKS[task]
    directions = []
    objective.listeners.append(lambda action, moved, o: directions.append(o.direction))
    states = committed(objective)
    n_yields = sum(1 for _ in search.steps(objective, limits))
    assert n_yields < 10_000
    wanted = (limits.most, limits.most) if limits.exact else (limits.least, limits.most)
    assert any(wanted[0] <= size <= wanted[1] for *_, size, _ in states)
    for (action, moved, subset, size, key), direction in zip(states, directions, strict=True):
        assert subset >= set(keep)
        assert size == sum(len(units[unit]) for unit in subset)
        assert action in ("start", "add", "drop")
        assert (subset == set(moved)) if action == "start" else len(moved) == 1
        if direction == "forward" or (action == "start" and direction != "backward"):
            assert size <= limits.most
        if action == "drop":
            assert size >= limits.least
        # What it hears of a subset is what anyone hears of it.
        fresh = prepared(name, task)[2]
        fresh.start(sorted(subset), "forward")
        assert fresh.score() == key


@every
@in_every_task
def test_it_takes_the_same_steps_again(name, task):
    found = []
    for _ in range(2):
        search, limits, objective = prepared(name, task, seed=1)
        states = committed(objective)
        for _ in search.steps(objective, limits):
            pass
        found.append((states, objective.n_tried))
    assert found[0] == found[1]


@every
def test_one_and_two_threads_take_the_same_steps(name, monkeypatch):
    monkeypatch.setattr(threads, "_SMALL", 0)  # or a small table is not worth a second thread
    X, y = table(2)
    one, two = (
        plain_selector(search=name, cv=3, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert one.path_.steps == two.path_.steps
    assert one.n_tried_ == two.n_tried_
    np.testing.assert_array_equal(one.selected_, two.selected_)


def drive(name, task, file, stop_after=None):
    """Run it with a journal, up to a number of yields; the path, subsets tried, and yields."""
    units, keep, _ = TASKS[task]
    search, limits, _ = prepared(name, task)
    X, y = table()
    members = Units(units)
    guide = SubsetScorer(dense_ledger(X, y, MODELS, 3), CRITERIA["probability"], members)
    judge = SubsetScorer(dense_ledger(X, y, MODELS), CRITERIA["error"], members)
    path = Path(units, [f"x{j}" for j in range(7)], "probability")
    yields = []

    def stop():
        yields.append(None)
        return len(yields) == stop_after

    with Run(Clock(None), Journal(file, "none", {})) as run:
        objective = Objective(run.verdicts(guide), members, keep)
        objective.listeners.append(Recorder(path, run.verdicts(judge)))
        run.search(search, limits, objective, path, (0, 7), stop)
    return path.steps, objective.n_tried, len(yields)


@every
@pytest.mark.parametrize("task", ["free", "kept groups"])
def test_it_can_be_stopped_at_any_yield_and_goes_on_from_there(name, task, tmp_path):
    steps, n_tried, n_yields = drive(name, task, tmp_path / "whole")
    for stop_after in {1, 2, n_yields // 2, n_yields} - {0}:
        if stop_after > n_yields:
            continue
        file = tmp_path / f"stopped {stop_after}"
        before, _, seen = drive(name, task, file, stop_after)
        assert seen == stop_after
        assert before == steps[: len(before)]
        assert drive(name, task, file)[:2] == (steps, n_tried)


@every
@in_every_task
def test_what_lies_ahead_is_what_it_says(name, task):
    """At every state: the subsets it then scores (or steps it makes) are bounded as it claims."""
    search, limits, objective = prepared(name, task)
    seen = []

    def look(action, units, o):
        ahead = search.outlook(o, limits)
        seen.append((ahead, o.n_tried, len(seen), action == "start"))

    objective.listeners.append(look)
    for _ in search.steps(objective, limits):
        pass
    starts = [i for i, (*_, start) in enumerate(seen) if start] + [len(seen)]
    for at, (ahead, tried, step, _) in enumerate(seen):
        if ahead is None:
            continue
        # Of a phase: up to the start of the next one, which comes without another subset tried.
        end = next(i for i in starts if i > at) if ahead.within else len(seen)
        last = seen[end][1] if end < len(seen) else objective.n_tried
        left = end - 1 - step if ahead.unit == "steps" else last - tried
        assert ahead.amount >= 0
        assert ahead.within or not (ahead.bound and ahead.least)
        if not ahead.least or ahead.within:
            assert left <= ahead.amount
        if not ahead.bound:
            assert left >= ahead.amount


@every
@in_every_task
def test_what_users_are_told_of_the_whole_search_is_true(name, task):
    """A phase's end is not the search's: "at most" and "at least" speak of all that is left."""
    search, limits, objective = prepared(name, task)
    forecast, told = Forecast(search, limits), []
    objective.listeners.append(forecast)
    for n_yields, _ in enumerate(search.steps(objective, limits)):
        forecast.step(objective)
        told.append((forecast.cost(objective), objective.n_tried, n_yields))
    for cost, tried, n_yields in told:
        if cost is None:
            continue
        left = len(told) - 1 - n_yields if cost.unit == "steps" else objective.n_tried - tried
        if cost.bound:
            assert left <= cost.amount
        else:
            assert left >= cost.amount


@every
def test_it_pickles_clones_and_compares(name):
    search = SEARCHES[name]
    again = pickle.loads(pickle.dumps(search))
    assert again == search
    assert hash(again) == hash(search)
    assert repr(again) == repr(search)
    cloned = clone(plain_selector(search=search)).search
    assert cloned == search
    others = [each for other, each in SEARCHES.items() if other != name]
    assert search not in others


@every
def test_bad_parameters_are_refused_by_name_before_any_work(name, monkeypatch):
    def work(*args):
        raise AssertionError("a ledger was made")

    for make in ("dense_ledgers", "sparse_ledgers"):
        monkeypatch.setattr(searching, make, work)
    SEARCHES[name].check()
    assert isinstance(SEARCHES[name], Search)
    assert is_dataclass(SEARCHES[name])
    X, y = table()
    for field in fields(SEARCHES[name]):
        bad = replace(SEARCHES[name], **{field.name: object()})
        with pytest.raises((TypeError, ValueError), match=rf"\b{field.name}\b.*must .*; got "):
            plain_selector(search=bad, random_state=0).fit(X, y)


@every
def test_what_it_draws_it_draws_by_the_seed(name):
    search = SEARCHES[name]
    if not search.draws_without_seed:
        return
    seeded = search.given(Hints(SINGLE))
    assert not seeded.draws_without_seed
    assert seeded.random_state == Hints(SINGLE).seed
    with pytest.raises(ValueError, match="checkpoint needs random_state"):
        plain_selector(search=name, validation=None, checkpoint="c").fit(*table())


@every
def test_a_strategy_imports_checks_and_nothing_else_of_ours(name):
    room = "bayesieve.search.strategies"
    source = ast.parse(inspect.getsource(sys.modules[type(SEARCHES[name]).__module__]))
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = room.split(".")[: 4 - node.level] if node.level else []
            names = [".".join([*above, node.module or ""])]
        else:
            continue
        for each in names:
            known = each.partition(".")[0] in sys.stdlib_module_names
            assert known or each == "bayesieve.checks" or each.startswith(room)


@every
def test_what_is_not_known_is_answered_by_all_names(name):
    with pytest.raises(ValueError, match=rf"search must be one of .*'{name}'.*; got 'nothing'"):
        plain_selector(search="nothing").fit(*table())


def test_an_order_of_some_columns_is_all_that_lies_ahead():
    _, limits, objective = prepared("ranked", "free")
    search = RankedSearch(order=(4, 2, 0))
    ahead = [search.outlook(objective, limits).amount for _ in search.steps(objective, limits)]
    assert ahead == [2, 1, 0]


@pytest.mark.parametrize("search", [RandomSearch(draws=5), DiversifiedSearch()])
def test_seeds_and_sizes_of_numpy_are_whole_numbers_too(search):
    X, y = table()
    paths = []
    for given in ({"random_state": 4}, {"random_state": np.int64(4)}):
        if isinstance(search, RandomSearch):
            given["sizes"] = np.array([2, 3]) if paths else (2, 3)
        fitted = plain_selector(search=replace(search, **given), random_state=0).fit(X, y)
        paths.append(fitted.path_.steps)
    assert paths[0] == paths[1]
