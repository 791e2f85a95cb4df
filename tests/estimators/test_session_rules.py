"""What an expert has decided never contradicts itself, whatever the order of the decisions."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from bayesieve import NaiveBayesSelector, Session
from bayesieve.explain.modelfile.file import model_to_dict
from bayesieve.search.run import CachedRows


def table(n=120):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = {f"f{j}": (rng.random(n) < 0.3 + 0.3 * y * (j < 4)).astype(int) for j in range(6)}
    return pd.DataFrame(X), y


def test_what_is_struck_does_not_join_by_a_group():
    session = Session(*table()).add("f0").strike("f1")
    before = session.state
    with pytest.raises(ValueError, match="one of the columns is struck, another in the subset"):
        session.group("f0", "f1")
    assert session.state == before
    assert session.drop("f0").group("f0", "f1").struck == ["f0", "f1"]


def test_a_group_that_is_struck_does_not_keep_others_from_being_searched():
    X, y = table()
    session = Session(X, y).group("f0", "f1").strike("f1").search()
    twin = NaiveBayesSelector(forbid=["f0", "f1"], random_state=0).fit(X, y)
    assert session.state.subset == tuple(twin.selected_)
    assert session.grouped == [["f0", "f1"]]


def test_a_step_of_the_path_takes_groups_whole():
    X, y = table()
    session = Session(X, y, NaiveBayesSelector(search="forward")).search()
    at = next(i for i, point in enumerate(session.points) if point["n_features"] == 1)
    first = session.choose(at=at).columns[0]
    other = next(name for name in X if name != first)
    session.drop(first).group(first, other).choose(at=at)
    assert sorted(session.columns) == sorted([first, other])
    assert session.losses_if_left() == dict.fromkeys(
        session.columns, session.score([]) - session.score()
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"keep": ["f0"], "forbid": ["f0"]}, "'f0' is pinned .keep. and struck"),
        ({"start": ["f0"], "forbid": ["f0"]}, "'f0' is in the subset"),
        ({"keep": ["f0"], "forbid": ["f1"], "feature_groups": [["f0", "f1"]]}, "'f0' is pinned"),
        ({"feature_groups": [["f0", "f1"], ["f1", "f2"]]}, "must not overlap"),
    ],
)
def test_a_beginning_that_contradicts_itself_is_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        Session(*table(), NaiveBayesSelector(**settings))


def test_a_beginning_takes_groups_whole():
    settings = {"keep": ["f0"], "forbid": ["f2"], "feature_groups": [["f1", "f0"], ["f2", "f3"]]}
    session = Session(*table(), NaiveBayesSelector(**settings))
    assert (session.columns, session.pinned) == (["f0", "f1"], ["f0", "f1"])
    assert session.struck == ["f2", "f3"]


def test_the_command_line_is_not_told_of_rows_that_it_does_not_know():
    X, y = table()
    for given in ({"sample_weight": np.arange(len(y)) % 3}, {"groups": np.arange(len(y)) // 2}):
        session = Session(X, y, **given).add("f0")
        with pytest.raises(ValueError, match=f"does not know the {next(iter(given))}"):
            session.to_command("table.csv", "y")


def test_a_project_of_a_frame_without_names_gives_the_same_model(tmp_path):
    X, y = table()
    X.columns = range(6)
    session = Session(X, y).add(0, 3)
    session.save(tmp_path / "p")
    found, again = (model_to_dict(s.model()) for s in (session, Session.load(tmp_path / "p")))
    assert json.dumps(found) == json.dumps(again)


@pytest.mark.parametrize(
    "change",
    [
        {"struck": [0]},
        {"pinned": [1]},
        {"groups": [[0, 1]]},
        {"groups": [[1, 2], [2, 3]]},
        {"log": [{"action": 3}]},
        {"log": "nonsense"},
        {"points": [{"columns": [99]}]},
        {"points": [1]},
        {"about": [1]},
        {"subset": [0, 0]},
        {"settings": {"search": {"nope": 1}}},
        {"settings": []},
        {"params": {"sample_weight": ["a"]}},
        {"names": 3},
    ],
)
def test_projects_that_contradict_themselves_are_refused(tmp_path, change):
    path = tmp_path / "p"
    Session(*table()).add("f0").save(path)
    with zipfile.ZipFile(path) as bundle:
        held = {name: bundle.read(name) for name in bundle.namelist()}
    data = json.loads(held["project.json"]) | change
    held["project.json"] = json.dumps(data).encode()
    with zipfile.ZipFile(path, "w") as bundle:
        for name, content in held.items():
            bundle.writestr(name, content)
    with pytest.raises(ValueError, match=r"not a project|take one|overlap|must"):
        Session.load(path)


def test_a_stop_ends_the_proof_of_a_search(monkeypatch):
    X, _ = table(300)
    y = np.random.default_rng(1).integers(0, 2, 300)  # chance alone: one step proves nothing
    session = Session(X, y, NaiveBayesSelector(choice="proven", search="forward"))
    proved, begun = CachedRows.halted, []

    def stopped(self, objective):
        begun.append(objective)
        session.stop()
        return proved(self, objective)

    monkeypatch.setattr(CachedRows, "halted", stopped)
    session.search(background=True).wait()
    assert len(begun) == 1
    assert session.columns
    assert session.log[-1]["action"] == "search"
    monkeypatch.setattr(CachedRows, "halted", lambda *args: begun.append(1) or proved(*args))
    session.undo().search(background=True).wait()
    assert len(begun) > 2
