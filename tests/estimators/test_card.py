"""Cards: whole points that paper, file, SQL, Python and `predict` agree on."""

import json
import re
import shutil
import sqlite3
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss, roc_auc_score

from bayesieve import (
    ScoreCard,
    WeightedNaiveBayes,
    calibrate,
    compare,
    decide,
    explain,
    explain_model,
    load_model,
    nested,
    save_model,
    stability,
)
from bayesieve.estimators.card_parts import CardFigures
from bayesieve.explain.card import card_sheet
from bayesieve.export import to_python, to_sql
from bayesieve.search.point_lines import digits, roundest


def table(n=500, seed=0, k=2):
    """Numbers, whole numbers, levels and zeros and ones, some of them missing; classes by four."""
    draw = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": draw.integers(18, 90, n).astype(float),
            "dose": draw.gamma(2.0, 3.0, n),
            "ward": draw.choice(["north", "south", "east"], n),
            "smokes": draw.integers(0, 2, n).astype(float),
            "noise": draw.normal(size=n),
        }
    )
    X.loc[draw.random(n) < 0.2, "dose"] = np.nan
    X.loc[draw.random(n) < 0.1, "ward"] = None
    told = (X.age > 50) * 1.5 + (X.ward == "north") * 1.2 + X.smokes + X.dose.isna() * 1.5
    told = told - told.median() + draw.logistic(size=n) * 0.7
    y = np.digitize(told, np.quantile(told, np.arange(1, k) / k))
    return X, np.array(["a", "b", "c", "d"])[y]


def line_holds(line, row):
    """Is what a line of the paper says true of a row?"""
    if " x " not in line.column:
        return holds(line.condition, row[line.column])
    names = line.column.split(" x ")
    known = all(row[name] is not None and row[name] == row[name] for name in names)
    for box in line.condition.split("; or "):
        if box == "one of them missing":
            if not known:
                return True
        elif known:
            asked = [
                part.partition(" ")[::2] for part in re.split(f" and (?=(?:{names[1]}) )", box)
            ]
            if all(holds(words, row[name]) for name, words in asked):
                return True
    return False


def holds(condition, value):
    """Is what a line of the paper says true of a value?"""
    if value is None or value != value:
        return "missing" in condition
    words = condition.removesuffix("missing").removesuffix(" or ")
    if isinstance(value, str):
        return value in re.split(", | or ", words)
    if m := re.fullmatch(r"below (\S+)", words):
        return value < float(m[1])
    if m := re.fullmatch(r"(\S+) and above", words):
        return value >= float(m[1])
    if m := re.fullmatch(r"(\S+) to below (\S+)", words):
        return float(m[1]) <= value < float(m[2])
    if m := re.fullmatch(r"(\S+) to (\S+)", words):
        return float(m[1]) <= value <= float(m[2])
    return any(value == float(each) for each in re.findall(r"[-\d.]+", words))


def totals(card, X):
    """What a patient reader of the paper adds up."""
    found = np.array([card.start] * len(X))
    for i, row in enumerate(X.to_dict("records")):
        for line in card.lines:
            if line_holds(line, row):
                found[i] += line.points
    return found


@pytest.fixture(scope="module", params=[2, 4, "pairs"])
def fitted(request):
    if request.param == "pairs":
        X, y = table(k=3)
        y = np.where((X.age > 45) ^ (X.ward == "north"), "b", y)  # what a pair alone can tell
        return ScoreCard(lines=12, pairs=[("age", "ward"), (1, 3)]).fit(X, y), X, y
    X, y = table(k=request.param)
    return ScoreCard(lines=8).fit(X, y), X, y


@pytest.fixture
def new(fitted):
    X, _ = table(400, seed=9)
    X.loc[::11, "ward"] = "never seen"
    X.loc[::13, ["age", "smokes"]] = np.nan
    X.loc[::17, "dose"] *= 100
    return X


def test_a_patient_reader_finds_the_same_sums(fitted, new):
    model, _, _ = fitted
    card, problem = model.card_, model.estimator_.fitted_.only
    shown = totals(card, new)
    assert [card.add_up(row) for row in new.to_dict("records")] == list(map(tuple, shown.tolist()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = model.decision_function(new)
    if len(card.classes) == 2:
        np.testing.assert_allclose(scores, card.constant + card.unit * shown[:, 0], atol=1e-8)
        decided = np.where(shown[:, 0] >= card.act_from, card.classes[1], card.classes[0])
    else:
        apart = scores - scores[:, :1] - card.unit * (shown - shown[:, :1])
        assert np.abs(apart).max() == 0
        decided = np.array(card.classes)[shown.argmax(1)]
    assert (model.predict(new) == decided).all()
    assert problem.weighting.weights.any() == np.False_


def test_files_sql_and_python_add_up_the_same(fitted, new, tmp_path):
    model, _, _ = fitted
    save_model(model, tmp_path / "card.json")
    again = load_model(tmp_path / "card.json")
    chosen = new.iloc[:, np.flatnonzero(model.support_)]
    sums = model.estimator_.fitted_.only.sums
    assert (again.predict_proba(chosen) == model.predict_proba(new)).all()
    assert again.fitted_.only.tables[0].tolist() == model.estimator_.fitted_.only.tables[0].tolist()
    assert callable(sums)
    base = sqlite3.connect(":memory:")
    new.to_sql("data", base, index=False)
    told = [row[-1] for row in base.execute(to_sql(model, "data"))]
    assert told == model.predict(new).tolist()
    space = {}
    exec(to_python(model), space)
    rows = new.astype(object).where(new.notna(), None).to_dict("records")
    assert [space["predict"](row) for row in rows] == model.predict(new).tolist()


def test_lines_and_points_stay_within_their_bounds(fitted):
    model, X, y = fitted
    for lines, points in ((2, 10), (6, 3), (8, 1)):
        card = ScoreCard(lines=lines, points=points).fit(X, y).card_
        assert card.n_lines <= lines
        assert max(abs(p) for line in card.lines for p in line.points) <= points
    for name in {line.column for line in model.card_.lines}:
        mine = [line for line in model.card_.lines if line.column == name]
        assert sum(not any(line.points) for line in mine) == 1
        assert sum(line.rows for line in mine) == len(X) or " x " in name


def test_the_card_does_not_depend_on_order_or_threads(fitted):
    model, X, y = fitted
    order = np.random.default_rng(1).permutation(len(X))
    named = [[X.columns[j] if isinstance(j, int) else j for j in pair] for pair in model.pairs]
    others = [
        clone(model).set_params(n_jobs=2).fit(X, y),
        clone(model).fit(X.iloc[order], y[order]),
        clone(model).set_params(pairs=named).fit(X[X.columns[::-1]], y),
    ]
    for other in others:
        assert set(other.card_.lines) == set(model.card_.lines)
        assert other.card_.table == model.card_.table
        assert other.card_.constant == model.card_.constant
        assert other.card_.unit == model.card_.unit


def test_noise_gives_no_lines():
    draw = np.random.default_rng(5)
    found = []
    for _ in range(8):
        X, y = draw.normal(size=(200, 6)), draw.integers(0, 2, 200)
        found.append(ScoreCard(lines=5).fit(X, y).card_.n_lines)
    assert found.count(0) >= 7
    with pytest.warns(UserWarning, match="No features"):
        assert ScoreCard().fit(X * 0, y).transform(X).shape == (200, 0)


def test_a_forbidden_column_does_not_come():
    X, y = table()
    model = ScoreCard(lines=5, forbid=["age"]).fit(X, y)
    assert "age" not in {line.column for line in model.card_.lines}
    again = ScoreCard.from_model(WeightedNaiveBayes(max_terms=2, pairs=False).fit(X, y), X, y)
    assert again.support_.sum() <= 2


def test_it_goes_with_the_rest():
    X, y = table(300)
    model = ScoreCard(lines=4).fit(X, y)
    assert explain(model, X[:1])[0].evidence
    assert calibrate(model, *table(200, 4)).predict(X).shape == (300,)
    assert decide(model, *table(200, 4), costs=[[0, 1], [5, 0]]).predict(X).shape == (300,)
    assert len(nested(ScoreCard(lines=3), X, y, cv=2).folds) == 2
    assert stability(ScoreCard(lines=3), X, y, n_resamples=2).selected.shape == (2, 5)
    found = compare(["card", "majority"], {"t": (X, y)}, seeds=1, folds=2)
    assert found is not None


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"lines": 1}, "lines must be a whole number from 2"),
        ({"points": 0}, "points must be a whole number from 1"),
        ({"lines": 100}, "lines must be a whole number from 2 to 60"),
        ({"forbid": ["height"]}, "forbid: 'height' is not among"),
        ({"class_weight": "even"}, "class_weight"),
    ],
)
def test_bad_parameters_are_refused_in_words(parameters, words):
    X, y = table(100)
    with pytest.raises(ValueError, match=words):
        ScoreCard(**parameters).fit(X, y)


def test_tables_that_no_page_holds_are_refused():
    X, y = table(120)
    with pytest.raises(ValueError, match=r"at most 10 classes.*got 12"):
        ScoreCard().fit(X, np.arange(120) % 12)
    with pytest.raises(ValueError, match="a card for each label"):
        ScoreCard().fit(X, np.eye(3)[np.arange(120) % 3])
    with pytest.raises(TypeError, match="sparse matrix"):
        ScoreCard().fit(scipy.sparse.eye(120).tocsr(), y)
    frames = pytest.importorskip("dask.dataframe")
    with pytest.raises(TypeError, match="Dask collection"):
        ScoreCard().fit(frames.from_pandas(X, npartitions=2), y)


def test_a_cut_is_as_round_as_the_rows_allow():
    low, high = np.array([34.0, 34.0, -3.0, 0.0123]), np.array([34.6, 36.2, 2.0, 0.0128])
    assert roundest(low, high).tolist() == [34.5, 35.0, 0.0, 0.0125]
    assert [digits(x) for x in (30.0, 35.0, 34.6)] == [1.0, 1.5, 3.0]
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 100, 2000)
    y = draw.random(2000) < np.where(x > 41.37, 0.65, 0.35)
    lines = ScoreCard(lines=2).fit(pd.DataFrame({"x": x}), y).card_.lines
    cuts = {float(each) for line in lines for each in re.findall(r"[\d.]+", line.condition)}
    assert min(abs(cut - 41.37) for cut in cuts) < 2
    assert max(map(digits, cuts)) <= 2.5


def test_columns_of_very_many_levels_are_named():
    X, y = table(400)
    X["name"] = [f"n{i}" for i in range(400)]
    with pytest.warns(UserWarning, match=r"more than 255 levels.*'name' \(400 levels\)"):
        model = ScoreCard(lines=4).fit(X, y)
    assert "name" not in {line.column for line in model.card_.lines}


def test_points_claim_no_interval_and_no_counts_beside_them():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = ScoreCard(lines=4).fit(X, y)
    found = explain(model, X[:1])[0].to_frame()
    assert found["low"].isna().all()
    behind = {line.column: line.rows for line in model.card_.lines if line.holds(X.iloc[0])}
    assert dict(zip(found["feature"][1:], found["rows"][1:], strict=True)) == behind
    cells = explain_model(model).cells()
    assert "by counts" not in cells.to_columns()
    assert set(cells.low) == {None}


def test_a_card_is_printed(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    card = ScoreCard(lines=4).fit(X, y).card_
    text = card.to_text()
    assert "points on" in text
    assert "rows left out" in text
    page = card.to_html("A <title>")
    assert "A &lt;title&gt;" in page
    assert "http" not in page
    for ending in ("html", "txt", "json", "pdf", "xlsx"):
        card.save(tmp_path / f"card.{ending}")
    assert json.loads((tmp_path / "card.json").read_text())["act_from"] == card.act_from
    assert len(card.to_frame("pandas")) == len(card.lines)
    with pytest.raises(ValueError, match="ending of path"):
        card.save(tmp_path / "card.doc")


def test_weights_of_classes_move_the_constant_and_not_the_folds():
    X, y = table(300)
    plain = ScoreCard(lines=4).fit(X, y)
    lean = ScoreCard(lines=4, class_weight={"a": 1, "b": 5}).fit(X, y)
    assert (lean.predict(X) == "b").mean() > (plain.predict(X) == "b").mean()
    assert lean.card_.figures[0].log_loss[0] > 0


def test_a_pair_says_what_no_column_says_alone(fitted):
    model, X, y = fitted
    if model.pairs == ():
        return
    assert any(line.column == "age x ward" for line in model.card_.lines)
    alone = ScoreCard(lines=12).fit(X, y)
    told = [each.card_.figures[0].log_loss[0] for each in (model, alone)]
    assert told[0] < told[1] - 0.05
    assert {"age", "ward"} <= set(model.get_feature_names_out())


def test_points_rise_and_fall_as_they_may():
    draw = np.random.default_rng(3)
    x = draw.uniform(0, 10, 1500)
    X = pd.DataFrame({"x": x, "z": draw.normal(size=1500)})
    y = draw.random(1500) < 0.15 + 0.6 * np.abs(x - 5) / 5  # falls, then rises
    free = ScoreCard(lines=8).fit(X, y).card_
    assert {1, -1} <= set(
        np.sign(np.diff([line.points[0] for line in free.lines if line.column == "x"]))
    )
    for sign in (1, -1):
        card = ScoreCard(lines=8, monotone={"x": sign}).fit(X, y).card_
        told = [line.points[0] for line in card.lines if line.column == "x"]
        assert (sign * np.diff(told) >= 0).all()
    assert len(told) > 1


def test_a_number_that_hardly_bends_does_not():
    """Where a bend says next to nothing, points rise all the way."""
    bends = 0
    for seed in range(6):
        draw = np.random.default_rng(seed)
        X = pd.DataFrame({"x": draw.normal(size=600), "z": draw.normal(size=600)})
        y = draw.random(600) < 1 / (1 + np.exp(-1.5 * X.x))
        lines = ScoreCard(lines=12).fit(X, y).card_.lines
        bends += (np.diff([line.points[0] for line in lines if line.column == "x"]) < 0).any()
    assert bends == 0


def test_a_rule_is_printed_as_points():
    X, y = table(600)
    model = ScoreCard(lines=6).fit(X, y)
    late = decide(model, *table(300, 4), costs={"a": {"b": 9}, "b": {"a": 1}})
    assert late.card_.ruled
    assert late.card_.act_from > model.card_.act_from
    assert f"Decide b from {late.card_.act_from} point" in late.card_.to_text()
    careful = decide(model, *table(300, 4), abstain=0.2)
    card = careful.card_
    assert card.ask_from < card.act_from
    rows = table(200, 8)[0]
    told = [
        "b" if total >= card.act_from else None if total >= card.ask_from else "a"
        for total in (card.add_up(row)[0] for row in rows.to_dict("records"))
    ]
    assert careful.predict(rows).tolist() == told
    assert "ask a person" in card.to_html()
    assert model.card_.ruled is False


def test_the_table_follows_the_model(fitted):
    model, X, _ = fitted
    cooler = calibrate(model, *table(300, 4, len(model.classes_)))
    for card, each in ((model.card_, model), (cooler.card_, cooler)):
        if len(card.classes) == 2:
            scores = each.decision_function(X)
            totals_of = np.array([card.add_up(row)[0] for row in X.to_dict("records")])
            for line in card.table:
                at = np.flatnonzero(totals_of == line.low)
                if at.size:
                    chance = each.predict_proba(X.iloc[at[:1]])[0, 1]
                    assert line.chance[0] == pytest.approx(chance, abs=1e-9)
            assert np.allclose(scores, card.constant + card.unit * totals_of, atol=1e-8)
            decided = np.where(totals_of >= card.act_from, *card.classes[::-1])
            assert (each.predict(X) == decided).all()
    assert cooler.card_.unit != model.card_.unit


def test_figures_are_those_of_their_definitions():
    draw = np.random.default_rng(0)
    labels, p = draw.integers(0, 2, 80), draw.random(80).round(1)
    weights = draw.integers(1, 4, 80).astype(float)
    found = CardFigures.of("x", np.column_stack([1 - p, p]), labels, weights)
    full = np.repeat(np.arange(80), weights.astype(int))
    lost = -np.log(np.where(labels == 1, p, 1 - p).clip(1e-300))[full]
    assert found.log_loss[0] == pytest.approx(lost.mean())
    assert found.log_loss[2] - lost.mean() == pytest.approx(
        1.96 * lost.std(ddof=1) / len(full) ** 0.5
    )
    assert found.auc[0] == pytest.approx(roc_auc_score(labels[full], p[full]))
    assert found.auc[1] < found.auc[0] < found.auc[2]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"pairs": ["age"]}, r"pairs\[0\] must be two columns; got 'age' alone"),
        ({"pairs": [("age", "tall")]}, r"pairs\[0\]: 'tall' is not among"),
        ({"pairs": [("age", "name")]}, r"'name' has 9 levels, and a grid has room for 4"),
        ({"pairs": [("age", "dose")], "forbid": ["age"]}, "holds a column of forbid"),
        ({"monotone": {"ward": 1}}, "whose values have no order"),
        ({"monotone": {"age": 2}}, r"must be 1 \(rises\) or -1"),
    ],
)
def test_pairs_and_signs_are_refused_in_words(parameters, words):
    X, y = table(120)
    X["name"] = [f"n{i % 9}" for i in range(120)]
    with pytest.raises(ValueError, match=words):
        ScoreCard(**parameters).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4, "pairs"])
def test_libreoffice_computes_the_same_totals(k, tmp_path):
    """Ten thousand rows typed into the sheet, missing and unseen values among them."""
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    openpyxl = pytest.importorskip("openpyxl")
    X, y = table(k=3 if k == "pairs" else k)
    X["ward"] = X.ward.where(X.ward != "east", '=1+1 "quoted"')
    X["North"] = np.where(X.ward.eq("north"), "Yes", "yes")  # a sheet's = would take them for one
    pairs = [("age", "ward"), ("dose", "smokes")] if k == "pairs" else []
    model = ScoreCard(lines=14, pairs=pairs).fit(X, y)
    new = table(10_000, 5)[0]
    new["ward"] = new.ward.where(new.ward != "east", '=1+1 "quoted"')
    new["North"] = np.where(new.ward.eq("north"), "Yes", "yes")
    new.loc[::11, "ward"] = "never seen"
    new.loc[::13, ["age", "smokes"]] = np.nan
    new.loc[::17, "dose"] *= 1e6
    path = tmp_path / "card.xlsx"
    path.write_bytes(card_sheet(model.card_, n_rows=len(new)))
    book = openpyxl.load_workbook(path)
    sheet = book["rows"]
    names = {cell.value: cell.column for cell in sheet[3]}
    for i, row in enumerate(new.to_dict("records"), 4):
        for name, at in names.items():
            if name in row and row[name] is not None and row[name] == row[name]:
                cell = sheet.cell(i, at, row[name])
                cell.data_type = "s" if isinstance(row[name], str) else "n"
    del book["card"]
    book.save(path)
    subprocess.run(
        [office, "--headless", "--convert-to", "csv", "--outdir", tmp_path, path],
        check=True, capture_output=True, timeout=600,
    )  # fmt: skip
    told = pd.read_csv(tmp_path / "card.csv", skiprows=2, keep_default_na=False)
    shown = np.array([model.card_.add_up(row) for row in new.to_dict("records")])
    mine = told.filter(regex="^(total|points)").to_numpy(int)
    assert (mine == shown).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (told["most probable"] == model.predict(new)).all()
        chances = model.predict_proba(new)[:, -mine.shape[1] :]
    said = told.filter(regex="^chance").map(lambda each: float(each.rstrip("%")) / 100).to_numpy()
    assert np.abs(said - chances).max() < 0.00051


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4, "pairs"])
def test_a_hundred_thousand_rows_have_the_same_totals_everywhere(k, tmp_path):
    X, y = table(2000, k=3 if k == "pairs" else k)
    pairs = [("age", "ward"), ("dose", "smokes")] if k == "pairs" else []
    model = ScoreCard(lines=14, pairs=pairs).fit(X, y)
    card, new = model.card_, table(100_000, 5)[0]
    new.loc[::11, "ward"] = "never seen"
    new.loc[::13, ["age", "smokes"]] = np.nan
    new.loc[::17, "dose"] *= 1e6
    rows = new.astype(object).where(new.notna(), None).to_dict("records")
    shown = np.array([card.add_up(row) for row in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, decided = model.decision_function(new), model.predict(new)
    if shown.shape[1] == 1:
        assert (np.rint((scores - card.constant) / card.unit) == shown[:, 0]).all()
    else:
        assert (np.rint((scores - scores[:, :1]) / card.unit) == shown - shown[:, :1]).all()
    save_model(model, tmp_path / "card.json")
    loaded = load_model(tmp_path / "card.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (loaded.predict(new[list(model.get_feature_names_out())]) == decided).all()
    base, space = sqlite3.connect(":memory:"), {}
    new.to_sql("data", base, index=False)
    assert [row[-1] for row in base.execute(to_sql(model, "data"))] == decided.tolist()
    exec(to_python(model), space)
    assert [space["predict"](row) for row in rows] == decided.tolist()
    card.save(tmp_path / "paper.json")
    lines = json.loads((tmp_path / "paper.json").read_text())["lines"]
    assert [line["points"] for line in lines] == [list(line.points) for line in card.lines]
    assert all(line["where"] for line in lines)


def test_a_person_may_move_points_and_cut_offs(fitted, new):
    model, X, y = fitted
    numbers = [line for line in model.card_.lines if line.column == "age" and line.where[0][0].low]
    lines = [line for line in model.card_.lines if line.column == "age"]
    width = len(model.card_.start)
    wanted = [[3 - i - k for k in range(width)] for i in range(len(lines))]
    wanted = wanted if width > 1 else [each[0] for each in wanted]
    other = model.changed(X, y, points={"age": wanted})
    told = [line.points for line in other.card_.lines if line.column == "age"]
    assert told == [tuple(np.atleast_1d(each).tolist()) for each in wanted]
    rest = [line for line in other.card_.lines if line.column != "age"]
    assert rest == [line for line in model.card_.lines if line.column != "age"]
    if model.pairs == ():
        cuts = [line.where[0][0].low + 1 for line in numbers]
        other = other.changed(X, y, cuts={"age": cuts})
        found = [
            line for line in other.card_.lines if line.column == "age" and line.where[0][0].low
        ]
        assert [line.where[0][0].low for line in found] == cuts
        age = X.age.to_numpy()
        assert [line.rows for line in found] == np.diff(
            [*((age >= cut).sum() * -1.0 for cut in cuts), 0.0]
        ).tolist()
    # Paper and model still agree, and both columns of figures are of the very rows.
    shown = totals(other.card_, new)
    assert [other.card_.add_up(row) for row in new.to_dict("records")] == list(map(tuple, shown))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = other.decision_function(new)
    if width == 1:
        np.testing.assert_allclose(
            scores, other.card_.constant + other.card_.unit * shown[:, 0], atol=1e-8
        )
    else:
        assert (np.rint((scores - scores[:, :1]) / other.card_.unit) == shown - shown[:, :1]).all()
    now, was = other.card_.figures
    assert now.log_loss[0] == pytest.approx(log_loss(y, other.predict_proba(X)))
    before = other if model.pairs else model.changed(X, y, points={"age": wanted})
    first = before.card_.figures
    assert first[1].log_loss[0] == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert was.log_loss[0] in (first[0].log_loss[0], first[1].log_loss[0])


def test_changes_that_make_no_card_are_refused_in_words():
    X, y = table(300)
    model = ScoreCard(lines=4, forbid=["dose"]).fit(X, y)
    n = sum(line.column == "age" for line in model.card_.lines)
    for changes, words in (
        ({"points": {"dose": [1, 2]}}, "'dose' is no column of the card; it has"),
        ({"points": {"age": [1] * (n + 1)}}, rf"points\['age'\] must be {n} whole numbers"),
        ({"points": {"age": [0.5] * n}}, "whole numbers"),
        ({"cuts": {"age": [30.0, 20.0]}}, r"cuts\['age'\] must be numbers that rise"),
        ({"cuts": {"age": [20.0, 30.0, 40.0, 50.0, 60.0]}}, "or come with points"),
        ({"cuts": {"ward": [1.0]}}, "has levels, and no cut-offs"),
    ):
        with pytest.raises(ValueError, match=words):
            model.changed(X, y, **changes)
    more = model.changed(X, y, cuts={"age": [30, 60]}, points={"age": [-2, 0, 5]})
    told = [(line.condition, *line.points) for line in more.card_.lines if line.column == "age"]
    assert told == [("below 30", -2), ("30 to 59", 0), ("60 and above", 5)]


def test_every_page_says_where_a_condition_begins():
    """A value at a cut-off belongs above it: no page says "up to 29" of what ends before 29."""
    X, y = table()
    model = ScoreCard(lines=8).fit(X, y)
    conditions = {line.condition for line in model.card_.lines if line.column == "age"}
    cut = min(line.where[0][0].low or 99 for line in model.card_.lines if line.column == "age")
    told = explain_model(model)
    values = next(each.values for each in told.features if each.feature == "age")
    assert f"below {cut:g}" in values
    assert f"below {cut:g}" in conditions
    page = model.report(X, y, n_resamples=0)
    assert f"up to {cut:g}" not in page
    assert "Weights:" not in page
