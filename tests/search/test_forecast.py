"""What is said of a search's cost, of the time it has, and of one that goes in circles."""

import io
import itertools
import re
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

import bayesieve.estimators.selector
import bayesieve.search.objective
import bayesieve.search.progress
import bayesieve.search.run
from bayesieve.estimators.naive_bayes import BayesFamily
from bayesieve.search import DependencySearch, GreedySearch, RandomSearch
from bayesieve.search.hints import RowHints
from bayesieve.search.objective import Objective
from plain import plain_selector
from tables import binary_table

X, Y = binary_table(120, 10, n_classes=2)


class Clock:
    """Time that passes when a test says so."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    perf_counter = monotonic


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(bayesieve.search.run, "time", found)
    monkeypatch.setattr(bayesieve.search.progress, "perf_counter", found.perf_counter)
    return found


def slow(monkeypatch, clock, seconds, first=0.0):
    """Every subset that is scored or visited takes so long, the first question longer."""
    asked = itertools.count()
    for name in ("_best", "walk", "_change"):
        plain = getattr(Objective, name)

        def wait(self, units, *args, plain=plain):
            extra = first if next(asked) == 0 else 0.0
            clock.now += seconds * (len(units) if isinstance(units, list) else 1) + extra
            return plain(self, units, *args)

        monkeypatch.setattr(Objective, name, wait)


def fit(**options):
    """Fit, and return what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        selector = plain_selector(random_state=0, **options).fit(X, Y)
    return selector, [str(each.message) for each in said]


# -- the cost ------------------------------------------------------------------------------------


def test_a_search_that_cannot_end_says_so_after_its_first_step(monkeypatch, clock):
    slow(monkeypatch, clock, 100.0)
    # The first step scores 10 subsets and visits one: 1100 s.  Then 9 + 8 + ... + 2 are left.
    selector, said = fit(search="backward", time_limit=1500)
    assert said[0] == (
        "the search cannot end within time_limit=1500: it has 44 subsets to score, at least 79.2 "
        "min, by the pace of its first step. What it has dropped by then is all that is dropped: "
        "give it more time, or use search='forward' or 'ranked', which begin with the best "
        "features."
    )
    assert "stopped by time_limit=1500 at step 2 (19 subsets tried" in said[1]
    assert "to score" not in said[1]
    assert len(said) == 2
    assert len(selector.path_) == 3


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (
            "forward",
            r"has 45 subsets to score, at least 81\.0 min, .*smaller max_features",
        ),
        ("forward-backward", r"has \d+ subsets to score, at least .*smaller max_features"),
        ("backward-forward", r"has \d+ subsets to score, at least .*'forward' or 'ranked'"),
        ("sffs", r"has \d+ subsets to score, at least .*smaller max_features"),
        ("sbfs", r"has \d+ subsets to score, at least .*'forward' or 'ranked'"),
        ("ranked", r"has 8 steps to make, about 13\.3 min, .*smaller max_features"),
    ],
)
def test_every_search_whose_end_is_known(search, words, monkeypatch, clock):
    slow(monkeypatch, clock, 100.0)
    _, said = fit(search=search, time_limit=900 if search == "ranked" else 4000)
    assert re.search(words, said[0]), said
    assert "cannot end within" in said[0]
    assert "stopped by" in said[1]


def test_every_subset(monkeypatch, clock):
    slow(monkeypatch, clock, 1.0)
    monkeypatch.setattr(bayesieve.search.objective, "_WALK", float("inf"))  # real seconds
    A, y = binary_table(60, 13)
    with pytest.warns(ConvergenceWarning) as said:
        plain_selector(search="exhaustive", random_state=0, time_limit=3000).fit(A, y)
    assert re.search(r"it has 7,167 subsets to score, at least 117\.1 min", str(said[0].message))
    assert "or use another search" in str(said[0].message)


@pytest.mark.parametrize(
    "search",
    [GreedySearch("forward", stop="no-improvement"), DependencySearch(), "diversified", "random"],
)
def test_a_search_that_may_end_sooner_is_not_called_hopeless(search, monkeypatch, clock):
    slow(monkeypatch, clock, 1.0)
    _, said = fit(search=search, time_limit=1e9)
    assert said == []
    _, said = fit(search=search, time_limit=12)
    assert not any("cannot end" in text for text in said)


def test_a_compiler_is_not_taken_for_a_slow_search(monkeypatch, clock):
    slow(monkeypatch, clock, 0.1, first=15.0)
    assert fit(search="backward", time_limit=30)[1] == []


def test_a_search_stopped_in_its_first_step_says_no_more_than_it_knows(monkeypatch, clock):
    slow(monkeypatch, clock, 0.1, first=15.0)
    _, said = fit(search="backward", time_limit=10)
    assert len(said) == 1
    assert said[0].endswith("is chosen. For the rest, give it more time.")


def test_what_is_left_is_told_at_the_end_if_it_was_not_before(monkeypatch, clock):
    slow(monkeypatch, clock, 100.0)
    _, said = fit(search="backward", time_limit=1000)
    assert len(said) == 1
    assert said[0].endswith(
        "give it more time (it has 44 subsets to score, at least 79.2 min, at this pace)."
    )


def test_the_progress_line_says_it_first(monkeypatch, clock):
    slow(monkeypatch, clock, 1.0)
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    fit(search="backward", progress=True)
    lines = said.getvalue().splitlines()
    assert lines[0] == "backward: 35 subsets to score, about 38.9 s"
    assert len(lines) == 2


# -- the limit -----------------------------------------------------------------------------------


@pytest.mark.parametrize("work", ["reading", "ranking", "tables"])
def test_the_limit_counts_all_that_fit_does(work, monkeypatch, clock):
    where, name = {
        "reading": (bayesieve.estimators.selector, "read_sample"),
        "ranking": (RowHints, "order"),
        "tables": (BayesFamily, "finish"),
    }[work]
    plain = getattr(where, name)

    def wait(*args, **options):
        clock.now += 100.0
        return plain(*args, **options)

    monkeypatch.setattr(where, name, wait)
    selector, said = fit(search="ranked", time_limit=99)
    # A ranked search asks for no candidate, but two subsets were scored.
    assert len(said) == 1
    assert "stopped by time_limit=99 at step 1 (2 subsets tried; forward, size 1)" in said[0]
    assert len(selector.path_) == 2
    assert fit(search="ranked", time_limit=101)[1] == []


# -- circles -------------------------------------------------------------------------------------


class Circling:
    """Adds and drops the same feature for ever, or so."""

    def __init__(self, turns):
        self.turns = turns

    def steps(self, objective, limits):
        objective.start([3, 1], "forward")
        yield
        for _ in range(self.turns):
            objective.add(2)
            yield
            objective.drop(2)
            yield


def test_a_search_that_goes_in_circles_is_told():
    assert fit(search=Circling(998))[1] == []
    _, said = fit(search=Circling(3000))
    assert said == [
        "the search has come to the same subset of 2 features for the 1000th time, in step 1998: "
        "it seems to go in circles. Let it end when a subset returns, or give time_limit."
    ]


def test_searches_of_the_library_may_come_back():
    _, said = fit(search=RandomSearch(sizes=(10,), draws=1001))
    assert said == []


# -- words ---------------------------------------------------------------------------------------


def test_one_feature_is_no_features():
    path = plain_selector(max_features=1, random_state=0).fit(X, Y).path_
    assert "1 feature<" in path._repr_html_()
    path.steps = path.steps[:1]
    with pytest.raises(ValueError, match=r"visited no subset of 1 feature \(sizes seen: \[10\]"):
        path.choose(1, 1)
    with pytest.raises(ValueError, match="no subset of 1 to 2 features"):
        path.choose(1, 2)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("accuracy", "'error', which is 1 - accuracy"), ("roc_auc", "'auc'"), ("eror", "'error'"),
     ("balanced_accuracy", "'error' with class_weight='balanced'")],
)  # fmt: skip
def test_scores_of_scikit_learn_are_led_to_the_criteria(given, meant):
    with pytest.raises(ValueError, match=re.escape(f"got {given!r}. Did you mean {meant}?")):
        plain_selector(criterion=given).fit(X, Y)
