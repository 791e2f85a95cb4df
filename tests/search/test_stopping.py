"""Time limits and Ctrl-C: the best subset so far."""

import json
import signal
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

from bayesieve import FeatureVotes, NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.app.cli import app
from bayesieve.criteria import Criterion
from bayesieve.engine.threads import Threads
from bayesieve.search import PhaseSearch
from bayesieve.search.path import Path
from plain import plain_selector
from tables import binary_table

X, Y = binary_table(200, 12)


def table_of(kind):
    """Parameters, X and y of every form of ledger."""
    if kind == "dense":
        return {}, X, Y
    A, y = binary_table(300, 20, seed=3, n_classes=2)
    if kind == "sparse":
        return {}, scipy.sparse.csr_matrix(A), y
    labels = np.column_stack([y, A[:, 3]])
    if kind == "labels":
        return {"criterion": "auc"}, A, labels
    return {"criterion": "auc", "estimator": FeatureVotes()}, scipy.sparse.csr_matrix(A), labels


@pytest.mark.parametrize("kind", ["dense", "sparse", "labels", "votes"])
def test_a_limit_ends_the_search_after_the_step(kind, tmp_path):
    parameters, A, y = table_of(kind)
    selector = plain_selector(search="forward", random_state=0, **parameters)
    whole = selector.fit(A, y).path_.steps
    selector.set_params(time_limit=0.0)
    with pytest.warns(ConvergenceWarning, match=r"time_limit=0\.0 at step 1 .*forward, size 1"):
        selector.fit(A, y)
    assert selector.path_.steps == whole[:2]
    assert selector.selected_.tolist() == list(whole[1].units)
    assert selector.predict(A).shape == y.shape
    # With a checkpoint, every run goes one step further, up to the end.
    selector.set_params(checkpoint=tmp_path / "c")
    for n in range(2, len(whole) + 1):
        with pytest.warns(ConvergenceWarning, match="fit again with checkpoint="):
            selector.fit(A, y)
        assert selector.path_.steps == whole[:n]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector.fit(A, y)
    assert selector.path_.steps == whole


def test_a_limit_that_does_not_pass_changes_nothing():
    plain = plain_selector(random_state=0).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limited = plain_selector(random_state=0, time_limit=1000).fit(X, Y)
    assert limited.path_.steps == plain.path_.steps
    for bad, error in [(-1, ValueError), ("1 h", TypeError), (float("nan"), ValueError)]:
        with pytest.raises(error, match="time_limit must be"):
            plain_selector(time_limit=bad).fit(X, Y)


def test_no_subset_of_the_size_asked_for_yet(tmp_path):
    selector = plain_selector(
        search="forward", n_features=5, random_state=0, time_limit=0, checkpoint=tmp_path / "c"
    )
    for n in range(1, 5):
        with pytest.raises(ValueError, match=f"at step {n} .*no subset of 5 features"):
            selector.fit(X, Y)
        assert not hasattr(selector, "selected_")
    with pytest.warns(ConvergenceWarning):
        selector.fit(X, Y)
    assert len(selector.selected_) == 5


class Interrupting(Criterion):
    """Ctrl-C when a loss is asked for the n-th time."""

    name = "interrupting"

    def __init__(self, at):
        self.at, self.asked = at, 0

    def __getstate__(self):
        return {}

    def loss(self, scores, classes, weights):
        self.asked += 1
        if self.asked == self.at:
            signal.raise_signal(signal.SIGINT)
        return -float(weights @ scores[np.arange(len(classes)), classes])


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize("at", [1, 2, 13, 14, 27, 40, 60])
def test_ctrl_c_keeps_the_best_so_far(at, tmp_path, monkeypatch):
    # The number of the call is no part of what the search is.
    monkeypatch.setattr("bayesieve.search.run.fingerprint", lambda *values: "the same")
    path = tmp_path / "c"

    def selector(at):
        return plain_selector(
            search="forward", criterion=Interrupting(at), random_state=0, checkpoint=path
        )

    whole = plain_selector(search="forward", criterion=Interrupting(0), random_state=0)
    whole = whole.fit(X, Y).path_.steps
    if at <= 13:  # nothing but the empty set has been visited
        with pytest.raises(KeyboardInterrupt):
            selector(at).fit(X, Y)
    else:
        with pytest.warns(ConvergenceWarning, match="stopped by Ctrl-C"):
            found = selector(at).fit(X, Y)
        n = len(found.path_)
        assert 2 <= n < len(whole)
        assert found.path_.steps == whole[:n]
        assert len(path.read_text().splitlines()) == 3 + n
    resumed = selector(0).fit(X, Y)
    assert resumed.path_.steps == whole


@pytest.mark.usefixtures("usual_signals")
def test_a_second_ctrl_c_is_an_interrupt(monkeypatch):
    selector = plain_selector(search="forward", random_state=0).fit(X[:, :5], Y)
    choose = Path.choose

    def again(self, *sizes):
        signal.raise_signal(signal.SIGINT)
        return choose(self, *sizes)

    monkeypatch.setattr(Path, "choose", again)
    selector.set_params(criterion=Interrupting(40))
    with pytest.warns(ConvergenceWarning), pytest.raises(KeyboardInterrupt):
        selector.fit(X, Y)
    assert selector.n_features_in_ == 5


def test_the_command_line_goes_on(tmp_path):
    table = tmp_path / "t.csv"
    lines = [",".join([*(f"c{j}" for j in range(12)), "class"])]
    lines += [",".join(map(str, [*row, kind])) for row, kind in zip(X, Y, strict=True)]
    table.write_text("\n".join(lines))

    def select(*more):
        out = tmp_path / "out"
        args = ["select", str(table), "--target", "class", "--out", str(out), "--json"]
        args += ["--search", "backward-forward", "--force", "--resamples", "0", *more]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return CliRunner().invoke(app, args)

    wanted = json.loads(select().stdout)
    kept = ["--checkpoint", str(tmp_path / "c")]
    first = json.loads(select(*kept, "--time-limit", "0").stdout)
    assert first["subsets_tried"] < wanted["subsets_tried"]
    again = select(*kept)
    assert isinstance(again.exception, ValueError)
    assert "add --resume" in str(again.exception)
    assert json.loads(select(*kept, "--resume").stdout) == wanted
    assert "--resume needs --checkpoint" in str(select("--resume").exception)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
def test_small_gains_are_waited_out_unless_they_add_up(share):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    X = (rng.random((300, 30)) < 0.3 + 0.3 * y[:, None] * (np.arange(30) < 4)).astype(float)
    settings = {"criterion": "probability", "cv": 5, "validation": None}
    whole = plain_selector(search="forward-backward", **settings).fit(X, y).path_
    search = PhaseSearch("forward", patience=3, least_gain=share)
    path = plain_selector(search=search, **settings).fit(X, y).path_
    first = [step for step in whole.steps if step.phase == 0]
    wanted, best, counted, last = first[:1], first[0].key, first[0].key, -1
    for at, step in enumerate(first[1:]):
        wanted.append(step)
        if step.key < best:
            best = step.key
            if counted - step.key >= share * (first[0].key - step.key):
                counted, last = step.key, at
        if at - last >= 3:
            break
    found = [step for step in path.steps if step.phase == 0]
    assert [step.units for step in found] == [step.units for step in wanted]
    assert 3 < len(found) < len(first)
    with pytest.raises(ValueError, match="least_gain"):
        plain_selector(search=PhaseSearch("forward", least_gain=2)).fit(X, y)


def test_patience_ends_a_phase_after_steps_without_a_gain():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    X = (rng.random((300, 30)) < 0.3 + 0.3 * y[:, None] * (np.arange(30) < 4)).astype(float)
    settings = {"criterion": "error", "cv": 5, "validation": None}
    whole = plain_selector(search="forward-backward", **settings).fit(X, y).path_
    for patience in (1, 3, 8):
        search = PhaseSearch("forward", patience=patience)
        path = plain_selector(search=search, **settings).fit(X, y).path_
        # The first phase by hand: it ends with the step that is the last of so many in vain.
        first = [step for step in whole.steps if step.phase == 0]
        best, last, wanted = (first[0].key, 0), -1, first[:1]
        for at, step in enumerate(first[1:]):
            wanted.append(step)
            if step.key < best[0]:
                best, last = (step.key, step.n_features), at
            if at - last >= patience:
                break
        found = [step for step in path.steps if step.phase == 0]
        assert [step.units for step in found] == [step.units for step in wanted]
        assert len(found) < len(first)
    with pytest.raises(ValueError, match="patience"):
        plain_selector(search=PhaseSearch("forward", patience=0)).fit(X, y)
    search = PhaseSearch("forward", patience=2)
    with pytest.raises(ValueError, match="before n_features is reached"):
        plain_selector(search=search, n_features=3).fit(X, y)


# -- tables that take longer than the time there is ------------------------------------------------


@pytest.mark.parametrize("model", ["selector", "labels", "weighted"])
def test_tables_far_beyond_the_limit_are_refused_with_both_numbers(model, monkeypatch):
    rng = np.random.default_rng(0)
    A, labels = rng.normal(size=(60, 6)), np.tile([[0, 1, 0], [1, 0, 1]], (30, 4))
    clock = iter(range(10**6))  # every look at the clock is a second later
    monkeypatch.setattr("bayesieve.search.run.time.monotonic", lambda: float(next(clock)))
    found = WeightedNaiveBayes() if model == "weighted" else NaiveBayesSelector()
    y = labels[:, 0] if model == "selector" else labels
    with pytest.raises(ValueError, match=r"time_limit=1 has passed .* need about \d+ s more; "):
        found.set_params(time_limit=1).fit(A, y)


def test_the_rest_is_foretold_by_the_pace_after_the_first(monkeypatch):
    # The first takes 50 s, as where code is compiled; others take 2 s.
    ends = iter([50.0, 52.0, 54.0, 56.0])
    monkeypatch.setattr("bayesieve.engine.threads.time.monotonic", lambda: next(ends))
    rests, done = [], []
    with Threads(1, late=rests.append) as threads:
        threads.prepare(lambda lo, hi: done.append((lo, hi)), 4, 0)
    assert done == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert rests == [0.0, 4.0, 2.0, 0.0]


def test_a_little_late_is_no_reason_to_refuse():
    A, y = binary_table(60, 4, n_classes=2)
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit"):
        NaiveBayesSelector(search="forward", time_limit=1e-9).fit(A, y)
