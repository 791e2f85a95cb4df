"""A search, a criterion, a ranking and a score from outside: one class and one line each.

Nothing of the package is changed for them, and they meet the demands that its own members meet.
"""

import inspect
import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import test_criteria
import test_ranking_methods
import test_scores
import test_searches
from scipy.special import softmax

from bayesieve import rank
from bayesieve.checks import check_number
from bayesieve.criteria import CRITERIA, Criterion
from bayesieve.evaluation.curve import evaluate_ranking
from bayesieve.indicators import SCORES, Indicators, ScoreColumn
from bayesieve.rankings import RANKINGS, Ranking, RankingMethod
from bayesieve.rankings.rank import ranking_names
from bayesieve.search import SEARCHES, RankedSearch, Search
from plain import plain_selector


@dataclass(frozen=True)
class LeapSearch(Search):
    """Add the best units by several at a time: the others are asked again after each leap."""

    leap: int = 2

    def check(self):
        check_number("search.leap", self.leap, low=1, whole=True)

    def steps(self, objective, limits):
        objective.start(tuple(sorted(objective.keep)), "forward")
        while candidates := objective.addable(limits.most, limits.exact):
            keys = objective.score_add(candidates)
            best = sorted(range(len(keys)), key=lambda i: (keys[i], i))[: self.leap]
            for i in best:
                if candidates[i] in objective.addable(limits.most, limits.exact):
                    objective.add(candidates[i])
                    yield


class Trust(Criterion):
    """The mean probability of the true class."""

    name = "trust"
    greater_is_better = True
    chooses = True

    def loss(self, scores, classes, weights):
        own = softmax(scores, axis=1)[np.arange(classes.size), classes]
        return -float(np.round(weights @ own / weights.sum(), 12))

    def row_values(self, sums, unit, classes):
        return softmax(sums * unit, axis=1)[np.arange(classes.size), classes]


@dataclass(frozen=True)
class MeanGap(RankingMethod):
    """The largest gap between class means, over the standard deviation of all rows."""

    floor: float = 1e-9
    reads = "mixed"

    def check(self):
        check_number("floor", self.floor, low=0.0)

    def rank(self, columns, labels, n_classes, engine, n_features):
        return Ranking.by_score([self._of(x, columns.weights, labels) for x in columns.values])

    def _of(self, x, weights, labels):
        known = ~np.isnan(x)
        if not known.any() or np.ptp(x[known]) <= self.floor:
            return 0.0
        x, weights, labels = x[known], weights[known], labels[known]
        spread = np.average((x - np.average(x, weights=weights)) ** 2, weights=weights) ** 0.5
        means = [np.average(x[labels == k], weights=weights[labels == k]) for k in set(labels)]
        return np.ptp(means) / spread


@dataclass(frozen=True)
class Turns:
    """How often a series turns up or down, and how often it passes a level."""

    levels: tuple[float, ...] = (0.0, 1.0)

    def columns(self, series, engine):
        yield ScoreColumn("turns", self._count(series, np.diff), (5.0, 20.0))
        for level in self.levels:
            passed = self._count(series, lambda x, level=level: x - level)
            yield ScoreColumn(f"passages of {level:g}", passed, None)

    def _count(self, series, form):
        usable = [x.size > 2 and np.isfinite(x).all() for x in series]
        found = [
            float((np.diff(np.sign(form(x))) != 0).sum()) if good else np.nan
            for x, good in zip(series, usable, strict=True)
        ]
        return np.array(found)


@pytest.fixture
def registered():
    """One line each; afterwards, the registries are what they were."""
    SEARCHES["leap"] = LeapSearch()
    CRITERIA["trust"] = Trust()
    RANKINGS["mean-gap"] = MeanGap()
    SCORES["turns"] = Turns()
    yield
    for registry, name in MEMBERS.values():
        del registry[name]


MEMBERS = {
    test_searches: (SEARCHES, "leap"),
    test_criteria: (CRITERIA, "trust"),
    test_ranking_methods: (RANKINGS, "mean-gap"),
    test_scores: (SCORES, "turns"),
}
#: What is asked of our own files, or of tables that this criterion says it does not read.
ELSEWHERE = {
    "test_a_strategy_imports_checks_and_nothing_else_of_ours": None,
    "test_a_value_is_that_of_a_refit": {"sparse", "labels folds"},
}


def demands():
    """Every demand of the suites, with what else it is asked with."""
    for module, (_, name) in MEMBERS.items():
        for title, function in vars(module).items():
            if (
                not title.startswith("test_")
                or "name" not in inspect.signature(function).parameters
            ):
                continue
            without = ELSEWHERE.get(title, set())
            if without is None:
                continue
            marks = [mark.args for mark in function.pytestmark if mark.args[0] != "name"]
            for values in itertools.product(*(allowed for _, allowed in marks)):
                if not without.intersection(values):
                    given = dict(zip([argument for argument, _ in marks], values, strict=True))
                    yield pytest.param(function, {"name": name, **given}, id=f"{name}-{title[5:]}")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(("demand", "given"), list(demands()))
def test_a_member_from_outside_meets_every_demand(demand, given, request, monkeypatch):
    monkeypatch.setitem(test_criteria.ROWS, "trust", lambda p, y: p[np.arange(y.size), y])
    wanted = set(inspect.signature(demand).parameters) - set(given)
    assert wanted <= {"monkeypatch", "tmp_path"}
    demand(**given, **{fixture: request.getfixturevalue(fixture) for fixture in wanted})


@pytest.mark.usefixtures("registered")
def test_every_suite_asks_something():
    asked = [param.values[1]["name"] for param in demands()]
    for _, name in MEMBERS.values():
        assert asked.count(name) > 5


@pytest.mark.usefixtures("registered")
def test_names_work_wherever_names_do(tmp_path):
    X, y, weights = test_criteria.table(3, n_rows=150)
    selector = plain_selector(
        search="leap", criterion="trust", cv=5, choice="one-se", random_state=0,
        checkpoint=tmp_path / "c", n_jobs=2,
    )  # fmt: skip
    steps = selector.fit(X, y, sample_weight=weights).path_.steps
    assert [step.n_features for step in steps] == list(range(7))
    assert selector.path_.validation_name == "validation_score"
    assert 0 < selector.path_.standard_error < 1
    assert selector.fit(X, y, sample_weight=weights).path_.steps == steps  # from the checkpoint
    for step in steps:
        assert 0 < step.score <= 1
        assert 0 < step.validation_error <= 1
    best = max(steps[1:], key=lambda step: step.validation_error)
    assert selector.path_.steps[selector.path_.best] == best

    walked = plain_selector(search=RankedSearch("mean-gap"), validation=None).fit(X, y)
    added = [step.units[0] for step in walked.path_.steps[1:]]
    assert added == rank(X, y, "mean-gap").order.tolist()
    assert evaluate_ranking(X, y, "mean-gap").accuracies.shape == (5, 6)
    assert "mean-gap" in ranking_names()

    series = test_scores.signals()
    indicators = Indicators(["windows", "turns"], drop="constant").fit(series)
    assert "turns > 5" in indicators.get_feature_names_out()


@pytest.mark.usefixtures("registered")
def test_standard_errors_are_those_of_the_rows():
    """One standard error of a mean: the deviations of the rows' values, over their number."""
    X, y, _ = test_criteria.table(3, n_rows=150)
    path = (
        plain_selector(search="leap", criterion="trust", validation=None, choice="one-se")
        .fit(X, y)
        .path_
    )
    columns = np.sort(path.subset(path.best))
    every_row = np.arange(len(y))
    (((proba, _, _),),) = test_criteria.refitted(
        X, y, np.ones(len(y), int), columns, [(every_row, every_row)]
    )
    own = proba[every_row, y]
    assert path.steps[path.best].score == pytest.approx(own.mean(), abs=1e-9)
    assert path.standard_error == pytest.approx(own.std() / len(y) ** 0.5, abs=1e-9)


def test_afterwards_nobody_knows_them():
    X, y, _ = test_criteria.table()
    for registry, name in MEMBERS.values():
        assert name not in registry
    for given in ({"search": "leap"}, {"criterion": "trust"}):
        with pytest.raises(ValueError, match="must be one of"):
            plain_selector(**given).fit(X, y)
    with pytest.raises(ValueError, match="method must be one of"):
        rank(X, y, "mean-gap")
    with pytest.raises(ValueError, match=r"scores must be one of .*; got 'turns'"):
        Indicators(["turns"]).fit(test_scores.signals())
