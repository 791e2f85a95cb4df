"""A session answers from sums that it keeps; its twin refits everything with the public API."""

import json
import threading
import time
import zipfile

import jsonschema
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

from bayesieve import NaiveBayes, NaiveBayesSelector, Session, load_model, save_model
from bayesieve.explain.modelfile.file import model_from_dict, model_schema, model_to_dict
from bayesieve.search import GreedySearch


def table(seed=0, n=240, width=9):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n)
    X = pd.DataFrame(
        {
            f"f{j}": (rng.random(n) < 0.3 + 0.4 * (y == "abc"[j % 3]) * (j < 6)).astype(int)
            for j in range(width)
        }
    )
    X["size"] = rng.normal(1.5 * (y == "a"), 1.0)
    X["kind"] = np.where(rng.random(n) < 0.5, y, rng.choice(["u", None], n))
    return X, y


def slow_score(X, y, columns, **settings):
    """The score of a subset: a search that may visit it alone, from scratch."""
    if not columns:
        kept = {"search": _Stay(), "min_features": 0}
    else:
        kept = {"search": "forward", "keep": list(columns), "n_features": len(columns)}
    asked = {"choice": "best", "random_state": 0, **kept, **settings}
    return NaiveBayesSelector(**asked).fit(X, y).path_.steps[0].score


class _Stay:
    def steps(self, objective, limits):
        objective.start((), "forward")
        yield


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"criterion": "error", "cv": "loo"},
        {"criterion": "log-likelihood", "cv": 3, "class_weight": "balanced"},
        {"cv": "train", "validation": 0.4, "random_state": 3},
    ],
)
def test_every_answer_is_that_of_a_fit_from_scratch(settings):
    X, y = table()
    session = Session(X, y, NaiveBayesSelector(**settings))
    greater = settings.get("criterion") == "log-likelihood"
    sign = -1 if greater else 1

    def slow(columns):
        return slow_score(X, y, columns, **settings)

    assert session.score() == slow([])
    session.add("f0", "kind").add("f4").drop("f0").add("size").swap("f4", "f1")
    assert session.columns == ["kind", "size", "f1"]
    now = slow(session.columns)
    assert session.score() == now
    assert session.score(["f2", "f3"]) == slow(["f2", "f3"])
    for name, loss in session.losses_if_left().items():
        rest = [each for each in session.columns if each != name]
        assert loss == pytest.approx(sign * (slow(rest) - now), abs=1e-15)
    outside = [name for name in X if name not in session.columns]
    gains = {name: sign * (now - slow([*session.columns, name])) for name in outside}
    found = session.gains_if_joined(most=3)
    assert [gain for _, gain in found] == pytest.approx(sorted(gains.values())[::-1][:3])
    assert all(gains[name] == pytest.approx(gain) for name, gain in found)
    rest = ["kind", "size"]
    losses = {name: sign * (slow([*rest, name]) - now) for name in outside}
    found = session.substitutes("f1", most=4)
    assert [loss for _, loss in found] == pytest.approx(sorted(losses.values())[:4])
    best = session.answers.best_substitute(session.state, session.names.index("f1"))
    assert (X.columns[best.column], best.amount) == found[0]


def test_the_error_is_that_of_held_out_rows():
    X, y = table(1)
    session = Session(X, y, NaiveBayesSelector(cv=4)).add("f0", "kind", "size")
    wanted = slow_score(X, y, ["f0", "kind", "size"], cv=4, criterion="error")
    error, spread = session.error()
    assert error == wanted
    assert spread == pytest.approx((wanted * (1 - wanted) / len(y)) ** 0.5)


def test_held_out_rows_are_those_of_models_without_them():
    X, y = table(1, 90)
    folds = [np.flatnonzero(np.arange(90) % 3 == k) for k in range(3)]
    cv = [(np.setdiff1d(np.arange(90), fold), fold) for fold in folds]
    session = Session(X, y, NaiveBayesSelector(cv=cv)).add("f0", "kind")
    rows, found = session.held_out()
    wanted = np.empty((90, 3))
    for train, test in cv:
        model = NaiveBayes().fit(X.iloc[train][["f0", "kind"]], y[train])
        wanted[test] = model.predict_proba(X.iloc[test][["f0", "kind"]])
    assert rows.tolist() == list(range(90))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    alone = dict(zip(X, session.errors_alone(), strict=True))
    for name in ("f0", "size"):
        assert alone[name] == session.error([name])[0]


def same(model, other):
    one, two = model_to_dict(model), model_to_dict(other)
    one.pop("log", None)
    two.pop("log", None)
    return json.dumps(one) == json.dumps(two)


def test_a_search_is_that_of_the_selector_from_the_same_start():
    X, y = table(2)
    session = Session(X, y).add("f8", "f0").pin("f7").strike("kind").group("f1", "f2")
    session.search()
    twin = NaiveBayesSelector(
        random_state=0,
        start=["f8", "f0", "f7"],
        keep=["f7"],
        forbid=["kind"],
        feature_groups=[["f1", "f2"]],
    ).fit(X, y)
    assert [step.score for step in session.path.steps] == [s.score for s in twin.path_.steps]
    assert session.columns == [X.columns[j] for j in twin.selected_]
    assert "kind" not in session.columns
    assert "f7" in session.columns
    assert twin.settings_["choice"] == "one-se"
    fresh = Session(X, y).search()
    assert fresh.columns == [
        X.columns[j] for j in NaiveBayesSelector(random_state=0).fit(X, y).selected_
    ]


def test_the_code_gives_the_same_model_to_the_bit():
    X, y = table(3)
    model = NaiveBayes(features={"size": "gaussian"}, smoothing=0.5)
    for selector in (
        None,
        NaiveBayesSelector(model, criterion="error", cv=3, preset="few", class_weight="balanced"),
        NaiveBayesSelector(preset="accurate", validation=0.5),
    ):
        session = Session(X, y, selector).pin("f3", note="the\nmanual asks 'for' it").search()
        names = {"X": X, "y": y}
        code = session.to_code()
        assert "manual asks" in code
        exec(code, names)
        assert same(session.model(), names["selector"])
        assert session.model().log_ == session.log
        assert session.score() == names["selector"].path_.steps[0].score
    groups = np.arange(len(y)) // 4
    session = Session(X.to_numpy(object), y, groups=groups, sample_weight=np.ones(len(y), int))
    session.add(0, 3)
    names = {"X": X.to_numpy(object), "y": y, "groups": groups}
    names["sample_weight"] = np.ones(len(y), int)
    exec(session.to_code(), names)
    assert same(session.model(), names["selector"])


def test_the_log_is_in_the_model_file(tmp_path):
    X, y = table(3, 80)
    session = Session(X, y).add("f0", "kind").strike("f1", note="<b>bent</b>")
    save_model(session.model(), tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.log_ == session.log
    assert again.log_[1]["note"] == "<b>bent</b>"
    jsonschema.validate(json.loads((tmp_path / "model.json").read_text()), model_schema())
    plain = NaiveBayes().fit(X, y)
    assert "log" not in model_to_dict(plain)
    data = model_to_dict(session.model())
    data["log"][0]["note"] = 3
    with pytest.raises(ValueError, match="log"):
        model_from_dict(data)


def test_undo_and_redo_go_through_all_states():
    X, y = table(4)
    session = Session(X, y)
    seen = [session.state]
    for change in (
        lambda: session.add("f0", "f1"),
        lambda: session.group("f0", "f5"),
        lambda: session.pin("f2"),
        lambda: session.strike("f3"),
        lambda: session.drop("f0"),
        lambda: session.search(),
        lambda: session.release("f2", "f3"),
    ):
        change()
        seen.append(session.state)
    assert session.columns.count("f5") == session.columns.count("f0")
    for state in seen[-2::-1]:
        assert session.undo().state == state
        assert session.score() == slow_score(X, y, session.columns)
    for state in seen[1:]:
        assert session.redo().state == state
    with pytest.raises(ValueError, match="nothing to redo"):
        session.redo()
    actions = [entry["action"] for entry in session.log]
    assert actions == [
        *("add", "group", "pin", "strike", "drop", "search", "release"),
        *["undo"] * 7,
        *["redo"] * 7,
    ]
    session.undo().note("enough")
    assert session.log[-1]["note"] == "enough"


def test_a_step_of_the_path_can_be_taken():
    X, y = table(5)
    session = Session(X, y).pin("f8").search(fresh=True)
    sizes = sorted({point["n_features"] for point in session.points})
    for size in sizes:
        session.choose(size=size)
        assert len(session.columns) == size
        best = min(p["score"] for p in session.points if p["n_features"] == size)
        assert session.score() == best
    first = session.columns[0]
    rest = set(session.columns[1:])
    assert set(session.release("f8").strike(first).choose(size=sizes[-1]).columns) == rest
    with pytest.raises(ValueError, match=r"size must be one of those visited, \[1, 2"):
        session.choose(size=99)
    with pytest.raises(ValueError, match="at must be a whole number"):
        session.choose(at=len(session.points))


def test_a_project_is_the_session_again(tmp_path):
    X, y = table(6)
    X.loc[3, "size"], X.loc[4, "size"] = np.nan, -0.0
    model = NaiveBayes(features={"size": "gaussian"})
    session = Session(X, y, NaiveBayesSelector(model, preset="few"), groups=np.arange(len(y)) // 2)
    session.strike("f1", note="ß </script>").group("f3", "f4").search().pin("f5")
    session.about = {"file": "table.csv"}
    session.save(tmp_path / "project.bayesieve")
    again = Session.load(tmp_path / "project.bayesieve")
    assert again.state == session.state
    assert (again.log, again.about, again.points) == (session.log, session.about, session.points)
    assert again.score() == session.score()
    assert same(again.model(), session.model())
    assert again.choose(size=3).search().columns == session.choose(size=3).search().columns
    odd = Session(X, y, NaiveBayesSelector(cv=KFold(3)))
    with pytest.raises(ValueError, match="cv cannot be kept in a project"):
        odd.save(tmp_path / "odd")
    assert [each.name for each in tmp_path.iterdir()] == ["project.bayesieve"]


@pytest.mark.parametrize("kind", ["array", "sparse", "labels", "numbers"])
def test_projects_of_other_tables(tmp_path, kind):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (80, 6)), rng.integers(0, 2, 80)
    X[:, 0] = np.where(rng.random(80) < 0.8, y, X[:, 0])
    selector = NaiveBayesSelector()
    if kind == "sparse":
        X = sp.csr_array(X)
    elif kind == "labels":
        y = pd.DataFrame({"p": y, "q": 1 - y})
        selector = NaiveBayesSelector(criterion="auc")
    elif kind == "numbers":
        X, y = X + rng.normal(size=X.shape), y.astype(bool)
    session = Session(X, y, selector).add(0, 3).pin(3)
    session.save(tmp_path / "p")
    again = Session.load(tmp_path / "p")
    assert again.score() == session.score()
    assert again.columns == session.columns
    assert same(again.model(), session.model())
    names = {"X": X, "y": y}
    exec(session.to_code(), names)
    assert same(session.model(), names["selector"])


def test_files_that_are_no_projects(tmp_path):
    path = tmp_path / "p"
    path.write_bytes(b"PK nonsense")
    with pytest.raises(ValueError, match="not a project of bayesieve"):
        Session.load(path)
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("project.json", json.dumps({"format": "other"}))
    with pytest.raises(ValueError, match="not a project of this bayesieve"):
        Session.load(path)
    X, y = table(0, 60)
    Session(X, y).add("f0").save(path)
    with zipfile.ZipFile(path) as bundle:
        held = {name: bundle.read(name) for name in bundle.namelist()}
    data = json.loads(held["project.json"])
    data["subset"] = [99]
    held["project.json"] = json.dumps(data).encode()
    with zipfile.ZipFile(path, "w") as bundle:
        for name, content in held.items():
            bundle.writestr(name, content)
    with pytest.raises(ValueError, match="columns that are not there"):
        Session.load(path)


def test_a_project_of_somebody_else_runs_nothing_and_writes_nothing(tmp_path):
    X, y = table(0, 60)
    path, victim = tmp_path / "p", tmp_path / "victim"
    Session(X, y).add("f0").save(path)
    with zipfile.ZipFile(path) as bundle:
        held = {name: bundle.read(name) for name in bundle.namelist()}
    data = json.loads(held["project.json"])
    data["settings"]["checkpoint"] = str(victim)
    evil = "add\nimport pathlib; pathlib.Path('ran').touch()\r\x0c#"
    data["log"][0] |= {"action": evil, "time": evil, "note": evil, "columns": [evil]}
    held["project.json"] = json.dumps(data).encode()
    with zipfile.ZipFile(path, "w") as bundle:
        for name, content in held.items():
            bundle.writestr(name, content)
    session = Session.load(path).search()
    code = session.to_code()
    assert [line for line in code.splitlines() if line.startswith("import")] == []
    exec(code, {"X": X, "y": y})
    assert [each.name for each in tmp_path.iterdir()] == ["p"]


def test_a_search_beside_can_be_paused_stopped_and_given_up():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (1500, 150)), rng.integers(0, 2, 1500)
    session = Session(X, y, NaiveBayesSelector(search="forward", choice="best"))
    arrived = threading.Event()
    session.heard = lambda: len(session.points) >= 3 and arrived.set()
    session.search(background=True)
    assert arrived.wait(600)
    began = time.monotonic()
    session.pause()
    assert time.monotonic() - began < 0.1
    time.sleep(0.3)
    n_points = len(session.points)
    time.sleep(0.2)
    assert len(session.points) == n_points
    assert session.running.paused
    assert session.running.seconds_left > 0
    session.go_on()
    session.stop().wait()
    assert n_points <= len(session.points) < 150
    assert session.score() == min(p["score"] for p in session.points[1:])
    before = session.state
    session.search(background=True, fresh=True)
    session.drop(before.subset[0])  # the search is given up, the change is made
    assert set(session.state.subset) == set(before.subset[1:])
    assert not session.running.active
    assert session.wait().state.subset == before.subset[1:]
    with pytest.raises(ValueError, match="no search is running"):
        session.pause()


def search_that_ends_within(session, monkeypatch, names):
    """A search beside that has found its subset, and hands it in while one of these runs."""
    found, asked = threading.Event(), threading.Event()
    score = session._score_of

    def scored(state):
        value = score(state)
        if threading.current_thread() is not threading.main_thread():
            found.set()
            assert asked.wait(60)
        return value

    for whose, name in names:
        plain = getattr(whose, name)

        def hooked(*args, plain=plain):
            value = plain(*args)
            asked.set()
            return value

        monkeypatch.setattr(whose, name, hooked)
    monkeypatch.setattr(session, "_score_of", scored)
    session.search(background=True)
    assert found.wait(60)


CHANGES = {
    "undo": (lambda s: s.undo(), ["f3"], ["f3", "f4"]),
    "redo": (lambda s: s.redo(), ["f3", "f4", "f5"], ["f3", "f4"]),
    "add": (lambda s: s.add("f8"), ["f3", "f4", "f8"], ["f3", "f4"]),
    "drop": (lambda s: s.drop("f4"), ["f3"], ["f3", "f4"]),
    "strike": (lambda s: s.strike("f4"), ["f3"], ["f3", "f4"]),
    "group": (lambda s: s.group("f3", "f8"), ["f3", "f4", "f8"], ["f3", "f4"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_search_that_ends_during_a_change_is_given_up(name, monkeypatch):
    """Whoever changes the subset first wins; nothing of the other is kept."""
    X, y = table()
    session = Session(X, y).add("f3").add("f4").add("f5").undo()
    change, changed, before = CHANGES[name]
    n_log = len(session.log)
    within = [(session._history, "beside"), (session, "_find")]
    search_that_ends_within(session, monkeypatch, within)
    change(session)
    assert session.columns == changed
    assert not session.running.active
    assert [entry["action"] for entry in session.log[n_log:]] == [name]
    assert session.log[-1]["n_features"] == len(changed)
    assert session.points == []
    assert session.score() == slow_score(X, y, changed)
    back = session.redo() if name == "undo" else session.undo()
    assert back.columns == before


@pytest.mark.parametrize("name", ["undo", "add"])
def test_a_change_after_a_search_has_ended_is_made_to_what_it_found(name):
    X, y = table()
    alone = Session(X, y).add("f3").search()
    session = Session(X, y).add("f3")
    session.search(background=True).running.wait()
    assert session.columns == alone.columns
    CHANGES[name][0](session)
    assert session.columns == (["f3"] if name == "undo" else [*alone.columns, "f8"])
    assert [entry["action"] for entry in session.log] == ["add", "search", name]


def test_a_model_is_that_of_the_subset_it_was_asked_for(monkeypatch):
    """A search that ends while a model is made does not leave it under another subset."""
    X, y = table()
    session = Session(X, y).add("f3")
    found, asked = threading.Event(), threading.Event()
    score, plain = session._score_of, session.selector
    monkeypatch.setattr(
        session, "_score_of", lambda state: (score(state), found.set(), asked.wait(60))[0]
    )
    session.search(background=True)
    assert found.wait(60)

    def selector():
        asked.set()
        session.running.wait(0.5)  # the search would end here, were it let
        return plain()

    monkeypatch.setattr(session, "selector", selector)
    session.model()
    monkeypatch.undo()
    session.wait().undo()
    assert session.columns == ["f3"]
    assert session.model().selected_.tolist() == [3]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda s: s.add("nope"), "'nope' is not among the columns"),
        (lambda s: s.drop("f0"), "'f0' is pinned; release it first"),
        (lambda s: s.strike("f0"), "'f0' is pinned"),
        (lambda s: s.add("f1"), "'f1' is struck; release it first"),
        (lambda s: s.pin("f1"), "'f1' is struck"),
        (lambda s: s.swap("f0", "f2"), "'f0' is pinned"),
        (lambda s: s.group("f0", "f1"), "one of the columns is pinned, another struck"),
        (lambda s: s.substitutes("f2"), "'f2' is not in the subset"),
        (lambda s: s.strike(*s.names[1:]).release("f0").strike("f0"), "no column would be left"),
        (lambda s: s.configure(cv=3), "configure changes search"),
        (lambda s: s.configure(search="nope"), "search must be one of"),
        (lambda s: s.undo().undo().undo(), "nothing to undo"),
        (lambda s: s.release("f0").drop("f0").model(), "the subset is empty"),
        (lambda s: s.to_command("a.csv", "y") and s.configure(n_jobs=0), "n_jobs must not be 0"),
    ],
)
def test_bad_input_is_told_in_a_sentence_and_changes_nothing(wrong, said):
    X, y = table(7, 60)
    session = Session(X, y).pin("f0").strike("f1")
    with pytest.raises(ValueError, match=said):
        wrong(session)
    assert session.score() == slow_score(X, y, session.columns)


def test_a_start_is_judged():
    X, y = table(8, 60)
    for search in ("exhaustive", "random", "ranked", "dependency"):
        with pytest.raises(ValueError, match="start needs a greedy, floating or phase search"):
            NaiveBayesSelector(search=search, start=["f0"]).fit(X, y)
    with pytest.raises(ValueError, match="start: column 'f0' cannot be chosen"):
        NaiveBayesSelector(start=["f0"], forbid=["f0"]).fit(X, y)
    for search in ("sffs", "forward-backward", GreedySearch("backward"), "shortlist"):
        path = NaiveBayesSelector(search=search, start=["f4", 1], keep=["f6"]).fit(X, y).path_
        assert sorted(path.subset(0)) == [1, 4, 6]
    twin = X.assign(twin=X["f4"])
    found = NaiveBayesSelector(start=["twin"], families="auto", search="forward").fit(twin, y)
    assert found.path_.subset(0) == [len(twin.columns) - 1]


def test_few_of_the_columns_that_may_be_chosen():
    X, y = table(8, 60)
    found = NaiveBayesSelector(preset="few", forbid=["f0", "f1"]).fit(X, y)
    assert not set(found.get_feature_names_out()) & {"f0", "f1"}


def test_a_notebook_shows_the_subset():
    X, y = table(9, 60)
    session = Session(X.rename(columns={"f0": "<b>"}), y).add("<b>", "f1").pin("f1")
    page = session._repr_html_()
    assert "&lt;b&gt;" in page
    assert "pinned" in page
    assert "2 of 11 columns" in page


@pytest.mark.slow
def test_an_edit_of_a_large_table_takes_less_than_a_tenth_of_a_second():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (6000, 810)), rng.integers(0, 4, 6000)
    session = Session(X, y).add(*range(20))
    took = []
    for j in range(30, 50):
        began = time.perf_counter()
        session.add(j)
        session.score()
        took.append(time.perf_counter() - began)
    assert np.median(took) < 0.1
