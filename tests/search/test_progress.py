"""Signs of life: what is told, how often, and how much is left."""

import io
import itertools
import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bayesieve import WeightedNaiveBayes
from bayesieve.search import SEARCHES, GreedySearch, Limits, RankedSearch
from bayesieve.search.progress import ProgressLine
from plain import plain_selector


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """A clock that goes on by so much whenever it is asked."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def monotonic(self):
        self.now += self.step
        return self.now


def fit(monkeypatch, stream, step, **options):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = (rng.random((80, 12)) < 0.3 + 0.3 * y[:, None]).astype(float)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("bayesieve.search.progress.time", Clock(step))
    selector = plain_selector(random_state=0, progress=True, **options).fit(X, y)
    return selector, stream.getvalue()


def test_a_terminal_has_one_line_that_is_rewritten(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    selector, said = fit(monkeypatch, Terminal(), 0.2)
    assert said.count("\n") == 1
    assert said.endswith("\n")
    lines = [line.rstrip() for line in said.strip("\n").split("\r")[1:]]
    assert re.fullmatch(r"backward: step 3, 10 features, score 0\.\d+, \d\.\d s; ~\d\.\d s left in "
                        r"phase", lines[3])  # fmt: skip
    assert lines[-1].startswith(f"{len(selector.path_)} steps in ")
    # No rest of a longer line stays behind.
    raw = said.strip("\n").split("\r")[1:]
    assert all(len(b) >= len(a.rstrip()) for a, b in itertools.pairwise(raw))
    monkeypatch.setenv("COLUMNS", "30")
    _, said = fit(monkeypatch, Terminal(), 0.2)
    assert max(len(line.rstrip()) for line in said.split("\r")) < 30


def test_a_log_has_a_line_every_five_seconds(monkeypatch):
    selector, said = fit(monkeypatch, io.StringIO(), 0.7)
    assert "\r" not in said
    *lines, last = said.splitlines()
    assert last.startswith(f"{len(selector.path_)} steps in ")
    times = [float(re.search(r", (\d+\.\d) s;", line)[1]) for line in lines]
    assert len(times) > 2
    assert all(5 <= b - a <= 5.7 for a, b in zip([0, *times], times, strict=False))
    _, said = fit(monkeypatch, io.StringIO(), 0.0)
    assert said.count("\n") == 1


class Watcher:
    """Compares the outlook at every step with what the search then does."""

    def __init__(self, search, limits):
        self.search, self.limits, self.seen = search, limits, []

    def __call__(self, action, units, objective):
        found = self.search.outlook(objective, self.limits)
        self.seen.append((action, objective.n_tried, found))


@pytest.mark.parametrize(
    ("search", "options"),
    [
        ("forward", {}),
        ("forward", {"max_features": 5}),
        ("backward", {}),
        ("backward", {"min_features": 4, "keep": [0, 3]}),
        ("forward-backward", {}),
        ("backward-forward", {"max_features": 7}),
        ("backward-forward", {"n_features": 7}),
        ("ranked", {}),
        ("exhaustive", {}),
        ("exhaustive", {"n_features": 3}),
        ("exhaustive", {"min_features": 0, "max_features": 2}),
        ("dependency", {}),
        ("dependency", {"max_features": 3}),
        (GreedySearch("forward", stop="no-improvement"), {}),
        (RankedSearch(stop="no-improvement"), {}),
        ("forward", {"feature_groups": [[0, 1, 2], [3, 4]]}),
        ("backward", {"feature_groups": [[0, 1, 2], [3, 4]]}),
    ],
)
def test_the_outlook_is_what_the_search_then_does(search, options, monkeypatch):
    import bayesieve.estimators.selector

    watchers = []

    def line(stream, search, limits):
        watcher = Watcher(search, limits)
        watcher.tick = watcher.close = watcher.say = lambda *_: None
        watchers.append(watcher)
        return watcher

    monkeypatch.setattr(bayesieve.estimators.selector, "ProgressLine", line)
    selector, _ = fit(monkeypatch, io.StringIO(), 0.0, search=search, **options)
    seen = watchers[0].seen
    if search == "exhaustive":
        n_subsets = {"n_features": 220, "max_features": 1 + 12 + 66 - 1}  # the first is the start
        wanted = n_subsets.get(next(reversed(options), ""), 2**12 - 1)
        assert all(tried + found.amount == wanted for _, tried, found in seen)
        return
    ends = [*[i for i, (action, _, _) in enumerate(seen) if action == "start"][1:], len(seen)]
    for i, (_, tried, found) in enumerate(seen):
        end = next(e for e in ends if e > i)
        after = seen[end - 1][1] - tried if end < len(seen) else selector.n_tried_ - tried
        if found.unit == "steps":
            after = end - 1 - i
        assert after <= found.amount if found.bound else after == found.amount
    assert seen[0][2].bound == (
        not isinstance(search, str) or search == "dependency" or "feature_groups" in options
    )


def test_nothing_is_said_where_the_end_is_unknown():
    for name in ("diversified", "random"):
        assert SEARCHES[name].outlook(None, Limits()) is None
    line = ProgressLine(io.StringIO())
    line.close()


def weigh(monkeypatch, stream, step, **options):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (200, 2))
    X = (rng.random((200, 12)) < 0.3 + 0.3 * np.repeat(Y, 6, axis=1)).astype(float)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("bayesieve.search.progress.time", Clock(step))
    y = Y if "shared_terms" in options else Y[:, 0]
    model = WeightedNaiveBayes(progress=True, **options).fit(X, y)
    return model, stream.getvalue()


def test_weights_tell_of_folds_then_of_the_path(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    model, said = weigh(monkeypatch, Terminal(), 0.2)
    assert said.count("\n") == 1
    lines = [line.rstrip() for line in said.strip("\n").split("\r")[1:]]
    folds = [line for line in lines if line.startswith("folds: path ")]
    path = [line for line in lines if line.startswith("path: step ")]
    assert lines == [*folds, *path, lines[-1]]
    # Twice three folds for 200 rows: with pairs and without, then the better of both, corrected.
    told = {line.split(",")[0] for line in folds}
    assert told == {f"folds: path {i} of 18" for i in range(1, 13)}
    assert re.fullmatch(
        r"folds: path 12 of 18, \d+ terms?, log-loss 0\.\d{4}, \d+\.\d s; ~\d+\.\d s left",
        folds[-1],
    )
    assert len(path) == len(model.path_)
    loss = f"log-loss {model.path_.steps[-1].score:.4f}"
    assert path[-1].startswith(f"path: step {len(path)}, {len(model.terms_)} terms, {loss}")
    assert re.search(r", \d+\.\d s; at most \d+\.\d s left$", path[-1])
    assert lines[-1].startswith(f"{len(model.path_)} steps in ")


def test_a_log_of_weights(monkeypatch):
    model, said = weigh(monkeypatch, io.StringIO(), 0.7, price=0.01)
    assert "\r" not in said
    *lines, last = said.splitlines()
    assert last.startswith(f"{len(model.path_)} steps in ")
    times = [float(re.search(r", (\d+\.\d) s", line)[1]) for line in lines]
    assert len(times) > 2
    assert all(b - a >= 5 for a, b in itertools.pairwise([0, *times]))
    _, said = weigh(monkeypatch, io.StringIO(), 0.0)
    assert said.count("\n") == 1


def test_the_time_of_several_models_counts_them_all(monkeypatch):
    """Nothing is told of the time left before the first label is done; then of all that come."""
    _, said = weigh(monkeypatch, io.StringIO(), 3.0, shared_terms=False, price=0.01)
    lines = said.splitlines()[:-1]
    first = next(i for i, line in enumerate(lines) if line.startswith("path"))
    end = next(i for i, line in enumerate(lines) if i > first and line.startswith("folds"))
    assert not any("left" in line for line in lines[:end])
    assert any("left" in line for line in lines[end:])


def test_the_line_ends_where_the_time_is_over(monkeypatch):
    stream = io.StringIO()
    with pytest.warns(ConvergenceWarning):
        weigh(monkeypatch, stream, 0.0, time_limit=0)
    assert re.fullmatch(r"1 steps in 0\.0 s\n", stream.getvalue())
