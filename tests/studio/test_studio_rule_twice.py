"""Rules in the studio on tables that are not plain: rows out, groups, weights, projects, notes."""

import re

import numpy as np
import pytest
from scipy.sparse import coo_matrix

from bayesieve import NaiveBayes, NaiveBayesSelector, Session, decide
from bayesieve.app.studio.bench import Bench, Wish
from bayesieve.app.studio.data import draw_aside, given_table
from bayesieve.app.studio.launch import open_bench, open_saved
from bayesieve.data.series import SeriesForm
from studios import opened, rows, series_table

WISH = {"alarm": 1, "cost": 3}


def of_file(frame, folder):
    path = folder / "table.csv"
    frame.to_csv(path, index=False)
    bench = Bench(1)
    open_bench(bench, path, "kind")
    return bench


def of_project(session, folder):
    session.save(folder / "work.bayesieve")
    bench = Bench(1)
    open_saved(bench, folder / "work.bayesieve", "work")
    return bench


def test_what_is_noted_after_a_rule_is_in_the_model_and_the_report(tmp_path):
    bench = of_file(rows(n=300), tmp_path)
    bench.edit("add", [0, 1])
    bench.set_rule(WISH)
    bench.export("model")
    bench.edit("pin", [0], "asked for by the manual")
    for kind in ("model", "report"):
        assert b"asked for by the manual" in bench.export(kind).content


def test_classes_whose_rows_are_all_left_out_are_not_counted(tmp_path):
    frame = rows(n=300)
    frame.loc[:9, "kind"] = "aaa"
    bench = of_file(frame, tmp_path)
    bench.open_target("kind", {}, "0-9")
    bench.edit("add", [0, 1])
    bench.set_rule({**WISH, "ceiling": 0.4})
    X, y = frame.drop(columns="kind")[10:], frame["kind"].to_numpy()[10:]
    aside = draw_aside(list(range(10, 300)), frame["kind"])
    weights = np.ones(290, int)
    weights[np.array(aside) - 10] = 0
    model = NaiveBayesSelector(keep=["f0", "f1"], n_features=2, search="forward")
    model.fit(X, y, sample_weight=weights)
    given = {"costs": [[0, 1], [3, 0]], "max_false_alarms": {"yes": 0.4}}
    wanted = decide(model, X.loc[aside], frame["kind"][aside], **given)
    assert bench.model()["decision"]["words"] == wanted.decision_.to_text()


def test_another_target_has_no_rule(tmp_path):
    frame = rows(n=300)
    frame["other"] = np.random.default_rng(0).choice(["u", "v", "w"], 300)
    bench = of_file(frame, tmp_path)
    bench.edit("add", [0, 1])
    bench.set_rule(WISH)
    bench.open_target("other", {})
    assert bench.state()["rule"] is None


def test_rows_of_any_sparse_matrix_are_kept_aside():
    frame = rows(n=300)
    X, y = frame.drop(columns=["kind", "size"]).to_numpy(), frame["kind"].to_numpy()
    told = []
    for table in (X, coo_matrix(X)):
        bench = Bench(1)
        bench.hold(Session(table, y), given_table(table, y), None)
        bench.edit("add", [0, 1])
        bench.set_rule(WISH)
        told.append(bench.model()["decision"])
    assert told[0] == told[1]


def test_wishes_are_read_as_they_are_meant():
    assert Wish.read({"alarm": 1, "cost": 0}, 2) == Wish(1, cost=0.0)
    with pytest.raises(TypeError, match="alarm must be a whole number"):
        Wish.read({"alarm": 0.5}, 2)


def test_the_program_of_weighted_rows_makes_the_same_rule(tmp_path):
    frame = rows(n=300)
    X, y, weights = frame.drop(columns="kind"), frame["kind"], np.arange(300) % 3 + 1
    session = Session(X, y, sample_weight=weights).add("f0", "f1")
    bench = of_project(session, tmp_path)
    bench.set_rule(WISH)
    weights[bench.table.aside] = 0
    names = {"X": X, "y": y, "sample_weight": weights}
    exec(bench.texts()["code"], names)
    assert names["selector"].decision_.to_text() == bench.model()["decision"]["words"]


def test_groups_of_a_project_are_whole_on_one_side(tmp_path):
    frame, groups = rows(n=300), np.arange(300) // 5
    X, y = frame.drop(columns="kind"), frame["kind"]
    bench = of_project(Session(X, y, groups=groups).add("f0", "f1"), tmp_path)
    bench.set_rule(WISH)
    aside = bench.table.aside
    assert not set(groups[aside]) & set(np.delete(groups, aside))
    names = {"X": X, "y": y, "groups": groups}
    exec(bench.texts()["code"], names)
    assert names["selector"].decision_.to_text() == bench.model()["decision"]["words"]


def test_records_of_a_project_are_whole_on_one_side(tmp_path):
    path = tmp_path / "signals.csv"
    series_table(n=12, length=300).to_csv(path, index=False)
    first = Bench(1)
    open_bench(first, path, "kind", SeriesForm("long", "who", "t", window=100))
    first.edit("add", [0, 1])
    records = np.asarray(first.table.groups)
    bench = of_project(first.session, tmp_path)
    bench.set_rule({"alarm": 0, "cost": 3})
    aside = bench.table.aside
    assert aside
    assert not set(records[aside]) & set(np.delete(records, aside))


def test_a_rule_changes_nothing_else_of_the_model(tmp_path):
    frame = rows(n=300)
    X, y = frame.drop(columns="kind"), frame["kind"]
    selector = NaiveBayesSelector(NaiveBayes("gaussian", smoothing=9.0), cv=5)
    bench = of_project(Session(X, y, selector).add("f0", "size"), tmp_path)
    bench.set_rule(WISH)
    kept = bench.session.settings["estimator"]
    assert (kept.smoothing, kept.features) == (9.0, "gaussian")
    bench.open_target(None, {"size": "kernel"})
    kept = bench.session.settings["estimator"]
    assert (kept.smoothing, kept.features) == (9.0, {"size": "kernel"})


def test_a_project_of_labels_with_rows_aside_opens_again(tmp_path):
    frame = rows(n=300)
    Y = np.c_[frame["kind"] == "yes", frame["f0"]].astype(int)
    bench = of_project(Session(frame.drop(columns="kind"), Y).add("f1"), tmp_path)
    bench.open_target(None, {}, None, True)
    assert of_project(bench.session, tmp_path).state()["n_aside"] == 100


def test_every_class_is_on_both_sides_or_rows_are_not_kept_aside():
    y = np.repeat(["a", "b"], [60, 12])
    for seed in range(30):  # two groups of the rare class: a third of three holds none of them
        groups = np.random.default_rng(seed).permutation(12)[np.arange(72) // 6]
        aside = draw_aside(list(range(72)), y, groups)
        assert set(y[aside]) == set(np.delete(y, aside)) == {"a", "b"}
    alone = np.where(y == "b", 99, np.arange(72) // 6)
    with pytest.raises(ValueError, match="some class has them in too few groups"):
        draw_aside(list(range(72)), y, alone)
    with pytest.raises(ValueError, match=re.escape("class 'rare' has one row only; leave it out")):
        draw_aside(list(range(73)), [*y, "rare"])
    with pytest.raises(ValueError, match="no row is left: leave out fewer"):
        draw_aside([], y)


def test_a_rule_can_be_given_up_without_a_subset(start):
    page, _ = opened(start(), rows(n=300))
    page.post("/api/edit", json={"action": "add", "columns": [0, 1]})
    page.post("/api/rule", json={"rule": WISH})
    page.post("/api/edit", json={"action": "drop", "columns": [0, 1]})
    assert page.post("/api/rule", json={"rule": None}).json()["rule"] is None
    for odd in (5, "x", [1]):
        refused = page.post("/api/rule", json={"rule": odd}).json()["refused"]
        assert refused == "say what the rule is to be, or null for none."


def test_series_that_cannot_be_read_leave_the_table_as_it_was(start):
    page, before = opened(start(), rows(n=300))
    form = {"kind": "long", "id": "nope"}
    assert "refused" in page.post("/api/target", json={"target": "kind", "series": form}).json()
    assert page.get("/api/state").json()["series"] is None
    page.post("/api/edit", json={"action": "add", "columns": [0, 1]})
    state = page.post("/api/rule", json={"rule": WISH}).json()
    assert state["n_aside"] == before["n_rows"] // 3


def test_a_rule_ends_with_the_session_it_was_made_for(tmp_path):
    frame = rows(n=300)
    X, y = frame.drop(columns="kind"), frame["kind"]
    bench = of_file(frame, tmp_path)
    bench.edit("add", [0, 1])
    bench.set_rule(WISH)
    Session(X, y).add(0).save(tmp_path / "plain.bayesieve")
    open_saved(bench, tmp_path / "plain.bayesieve", "plain")
    assert bench.state()["rule"] is None
    assert "aside" not in bench.texts()["code"]
    assert bench.session.about["rule"] == ""
