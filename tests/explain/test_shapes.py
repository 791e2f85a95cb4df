"""Pictures of terms, read back from their SVG, against what `explain` says of rows."""

import itertools
import math
import re
import xml.etree.ElementTree as ET
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from bayesieve import (
    FeatureVotes,
    NaiveBayes,
    NaiveBayesSelector,
    ScoreCard,
    WeightedNaiveBayes,
    calibrate,
    explain,
    explain_model,
)
from bayesieve.explain.report import make_report
from bayesieve.explain.shapes import _DEEP, _TONES, ahead_of

HOSTILE = "<script>alert('x')</script> \"&"


def table_of(seed=0, n_rows=600, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            "age": (rng.normal(size=n_rows) * 4 + 3 * y + 40).round(1),
            "visits": rng.poisson(1 + y, n_rows).astype(float),
            "flag": (rng.random(n_rows) < 0.2 + 0.2 * y).astype(float),
            "kind": np.array([*"abcdefghijklmnop"])[rng.integers(0, 16 - 4 * y, n_rows)],
            "left": rng.integers(0, 2, n_rows),
        }
    )
    X["right"] = X["left"] ^ (y > 0) ^ (rng.random(n_rows) < 0.1)
    X.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    X["kind"] = X["kind"].astype(object)
    X.loc[rng.random(n_rows) < 0.1, "kind"] = None
    return X, np.array(["no", "yes", "often"])[y]


MODELS = {
    "weighted": lambda: WeightedNaiveBayes(
        pairs=True, price=0.0, missing="evidence", keep=["age", "visits", "flag", "kind"]
    ),
    "curves": lambda: NaiveBayes(),
    "intervals": lambda: NaiveBayes({"age": "intervals", "visits": "intervals"}),
    "card": lambda: ScoreCard(lines=6),
}


@pytest.fixture(params=MODELS, scope="module")
def fitted(request):
    X, y = table_of()
    return calibrate(MODELS[request.param]().fit(X, y), *table_of(1)), X, y


def read(shape):
    """The root of a picture."""
    return ET.fromstring(re.sub(' xmlns="[^"]*"', "", str(shape)))


def of_class(root, name):
    return [each for each in root.iter() if each.get("class") == name]


def points_of(element):
    found = [pair.split(",") for pair in element.get("points").split()]
    return np.array(found, float)


def factors(root, across=False):
    """Log-ratio of each place along the axis of factors: a line through what is written."""
    texts = [(each.text, float(each.get("x")), float(each.get("y"))) for each in root.iter("text")]
    ends = {}
    for text, x, y in texts:
        if text and re.fullmatch(r"[x/] [\d ]+", text):
            nat = math.log(float(text[2:].replace(" ", "")))
            ends.setdefault(nat if text[0] == "x" else -nat, x if across else y - 4)
    nats = sorted(ends)
    return lambda at: np.interp(
        at, *([ends[n] for n in (nats if across else nats[::-1])], nats if across else nats[::-1])
    )


def heights(points, x):
    """Heights of a line at a place: two where it steps."""
    return [
        y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        for (x0, y0), (x1, y1) in itertools.pairwise(points.tolist())
        if x0 <= x <= x1 and x0 < x1
    ]


def at_value(points, x):
    return np.array([heights(points, each)[0] for each in x])


def bars_of(model, X, rows, name):
    """What `explain` says of rows, of one class against the other, and between what that lies."""
    found = explain(model, X.iloc[rows], target="yes", against="no")
    return [next(bar for bar in each.evidence if bar.feature == name) for each in found]


@pytest.mark.parametrize("name", ["age", "visits"])
def test_the_line_is_what_explain_says_of_rows(fitted, name):
    model, X, _ = fitted
    whole = explain_model(model)
    if name not in [each.feature for each in whole.features]:
        pytest.skip("the model does not look at it")
    rows = X[name].drop_duplicates().dropna().index[:60].tolist()
    off, off_band = [], []
    for row, bar in zip(rows, bars_of(model, X, rows, name), strict=True):
        root = read(whole.plot(name, row=X.iloc[row]))
        to_nat = factors(root)
        (dot,) = of_class(root, "here")
        x, y = float(dot.get("cx")), float(dot.get("cy"))
        limit = to_nat(0)
        wanted = np.clip(bar.log_ratio, -limit, limit)
        tick = abs(to_nat(20) - to_nat(21))  # nat of a pixel
        assert to_nat(y) == pytest.approx(wanted, abs=0.1 * tick)
        (line,) = of_class(root, "said")
        off.append(min(abs(height - y) for height in heights(points_of(line), x)))
        for within in of_class(root, "within")[:1]:
            ends = points_of(within)
            half = int(ends[:, 0].argmax()) + 1
            for part, end in ((ends[:half], bar.low), (ends[half:][::-1], bar.high)):
                told = np.clip(end, -limit, limit)
                found = [to_nat(height) for height in heights(part, x)]
                off_band.append(min(abs(each - told) for each in found) / tick)
    assert len(off) > 5
    assert max(off) < 1.0  # pixels: thinned to a third of one, coordinates to a tenth
    assert max(off_band, default=0.0) < 1.5
    assert bool(off_band) != isinstance(model, ScoreCard)  # points have no interval


def test_steps_and_their_band_are_the_cells():
    X, y = table_of()
    model = NaiveBayes({"age": "intervals"}).fit(X[["age"]], y)
    whole = explain_model(model)
    cells = whole.cells().to_frame("pandas")
    root = read(whole.plot("age"))
    to_nat = factors(root)
    tick = abs(to_nat(20) - to_nat(21))
    (line,), (within,) = of_class(root, "said"), of_class(root, "within")
    # Pixels that a line is thinned by; steps keep all their corners but those on one height.
    wanted = np.log(cells["times as likely"])
    corners = points_of(line)
    middles = np.unique(corners[:, 0])
    middles = (middles[1:] + middles[:-1]) / 2
    assert len(cells) == len(middles)
    assert to_nat(at_value(corners, middles)) == pytest.approx(wanted, abs=tick)
    ends = points_of(within)
    half = int(ends[:, 0].argmax()) + 1
    for part, told in ((ends[:half], cells["low"]), (ends[half:][::-1], cells["high"])):
        limit = to_nat(0)
        expected = np.clip(np.log(told.astype(float)), -limit, limit)
        assert to_nat(at_value(part, middles)) == pytest.approx(expected, abs=1.5 * tick)
    # Cut-offs are named as the cells name them, and each step has its cell in words.
    titles = [each.text for each in root.iter("title")]
    for value in cells["value"]:
        assert any(title.startswith(f"{value}: ") for title in titles)
    texts = {each.text for each in root.iter("text")}
    assert {cells["value"][0].removeprefix("<= ")} <= texts


def strip_of(root):
    """Rows of each class at every edge of the strip, in pixels: lower class first."""
    found = []
    for path in of_class(root, "seen"):
        d = path.get("d")
        x, y = map(float, re.match(r"M([\d.-]+) ([\d.-]+)", d).groups())
        base, tops = y, []
        for letter, number in re.findall(r"([HV])([\d.-]+)", d):
            if letter == "H":
                tops.append((x, float(number), base - y))
                x = float(number)
            else:
                y = float(number)
        found.append((path.get("fill"), tops))
    return found


def test_the_strip_counts_rows_by_class():
    X, y = table_of()
    model = NaiveBayes({"visits": "intervals"}).fit(X[["visits"]], y)
    whole = explain_model(model)
    (each,) = whole.features
    counts = np.array(each.counts)
    root = read(whole.plot("visits"))
    both, own = strip_of(root)
    assert both[0].startswith("var(--c0,")
    assert own[0].startswith("var(--c1,")
    top = max(height for _, _, height in both[1])
    unit = top / counts.sum(1).max()
    (line,) = of_class(root, "said")
    edges = np.unique(points_of(line)[:, 0])
    assert len(edges) == len(counts) + 1
    for middle, wanted in zip((edges[1:] + edges[:-1]) / 2, counts, strict=True):
        for (_, tops), total in ((both, wanted.sum()), (own, wanted[1])):
            height = [h for a, b, h in tops if a <= middle < b]
            assert height[0] / unit == pytest.approx(total, abs=0.15 / unit)
    assert top == pytest.approx(30, abs=0.1)


def test_a_histogram_has_all_rows():
    X, y = table_of()
    root = read(explain_model(NaiveBayes().fit(X[["age"]], y)).plot("age"))
    strips = strip_of(root)
    areas = [sum((b - a) * h for a, b, h in tops) for _, tops in strips[:2]]
    seen = X["age"].notna()
    share = (seen & (y == "yes")).sum() / seen.sum()
    assert areas[1] / areas[0] == pytest.approx(share, abs=0.02)
    gone = strips[2:]  # the missing ones, as dense as the others
    gone_area = sum((b - a) * h for a, b, h in gone[0][1])
    assert gone_area / areas[0] == pytest.approx((~seen).sum() / seen.sum(), abs=0.02)


def test_levels_are_sorted_by_what_they_say(fitted):
    model, X, _ = fitted
    whole = explain_model(model)
    if "kind" not in [each.feature for each in whole.features]:
        pytest.skip("the model does not look at it")
    root = read(whole.plot("kind", row={"kind": "c"}))
    names, sizes = [], []
    for group in root.iter("g"):
        title = group.find("title").text
        names.append(title.split(":")[0])
        (bar,) = of_class(group, "said")
        sign = 1 if "--c1" in bar.get("fill") else -1
        sizes.append(sign * float(bar.get("width")))
    if names[-1] == "missing":
        names, sizes = names[:-1], sizes[:-1]
    assert len(names) == 12
    assert "c" in names
    assert sizes == sorted(sizes, reverse=True)
    cells = whole.cells().to_frame("pandas").set_index(["feature", "value"])["times as likely"]
    wanted = np.log([cells["kind", name] for name in names])
    assert np.corrcoef(sizes, wanted)[0, 1] > 0.999 or np.ptp(wanted) == 0
    assert [text.text for text in root.iter("text") if text.get("font-weight") == "700"] == ["c"]
    assert f"{X['kind'].nunique() - 12} more" in {each.text for each in root.iter("text")}


def test_missing_values_stand_beside_the_others():
    X, y = table_of()
    spoken = WeightedNaiveBayes(pairs=False, price=0.0, missing="evidence", keep=["age"])
    X.loc[(y == "yes") & (np.arange(len(y)) % 3 == 0), "age"] = np.nan
    model = spoken.fit(X, y)
    whole = explain_model(model)
    row = X.index[X["age"].isna()][0]
    (bar,) = bars_of(model, X, [row], "age")
    root = read(whole.plot("age", row=X.iloc[row]))
    to_nat = factors(root)
    (gone,) = of_class(root, "gone")
    told = to_nat(points_of(gone)[:, 1])
    assert bar.status == "missing"
    assert abs(bar.log_ratio) > 0.3
    assert told == pytest.approx([bar.log_ratio] * 2, abs=0.1)
    (dot,) = of_class(root, "here")
    assert to_nat(float(dot.get("cy"))) == pytest.approx(bar.log_ratio, abs=0.1)
    assert f"missing: x {math.exp(bar.log_ratio):.1f}" in [e.text[:14] for e in root.iter("title")]
    full = NaiveBayes().fit(X[["visits"]], y)
    assert "missing" not in explain_model(full).plot("visits")


def test_cells_of_a_pair_have_the_depth_of_what_they_say():
    X, y = table_of()
    rng = np.random.default_rng(0)
    X["u"] = rng.normal(size=len(y))
    X["v"] = X["u"] * np.where(y == "yes", 1, -1) + 0.3 * rng.normal(size=len(y))
    model = WeightedNaiveBayes(pairs=True, price=1.0).fit(X[["u", "v", "left", "right"]], y)
    whole = explain_model(model)
    pairs = [each for each in whole.features if each.model == "pair"]
    assert len(pairs) == 2
    for each in pairs:
        root = read(whole.plot(each.feature, row=X.iloc[7]))
        cells = []
        for path in of_class(root, "cells"):
            side = 1 if "--c1" in path.get("stroke") else -1
            depth = side * float(path.get("stroke-opacity"))
            for x, y_ in re.findall(r"M([\d.]+) ([\d.]+)h", path.get("d")):
                cells.append((float(y_), float(x), depth))
        depths = np.array([depth for *_, depth in sorted(cells)])
        wanted = np.array(each.ratios(1, 0))
        few = np.array(each.counts).sum(1) < 5
        assert len(depths) == len(wanted)
        # Eight depths, and paler where few rows stand behind a cell.
        limit = 10 if np.exp(np.abs(wanted).max()) <= 10.2 else 100
        steps = np.ceil(np.minimum(np.abs(wanted) / math.log(limit), 1) * 8) / 8 * 0.48
        steps = np.where(few, 0.3 * steps, steps) * np.where(wanted < 0, -1, 1)
        assert depths == pytest.approx(steps, abs=0.006)
        assert len(of_class(root, "here")) == 1
        (bar,) = bars_of(model, X[["u", "v", "left", "right"]], [7], each.feature)
        told = root.get("aria-label").split("This row: ")[1]
        assert told.startswith(f"{'x' if bar.log_ratio >= 0 else '/'} ")
    texts = [text.text for text in read(whole.plot("left x right")).iter("text")]
    assert sum(bool(re.fullmatch(r"[x/] [\d.]+", text or "")) for text in texts) == 4


def test_several_classes_are_told_one_by_one():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = WeightedNaiveBayes(pairs=False, max_terms=2).fit(X, y)
    (term, _) = model.terms_
    drawn = str(term.plot(row=X.iloc[75]))
    pictures = re.findall(r"<svg.*?</svg>", drawn)
    assert len(pictures) == 3
    whole = explain_model(model)
    terms = np.array([next(f for f in whole.features if f.feature == term["name"]).terms])[0]
    ahead = ahead_of(terms, whole.class_count)
    for k, picture in enumerate(pictures):
        root = read(picture)
        assert f": {k} rather than others." in root.get("aria-label")
        assert f"var(--c{k}," in picture
        to_nat = factors(root)
        heights = to_nat(points_of(of_class(root, "said")[0])[:, 1])
        for most in (max, min):
            wanted = np.clip(most(ahead[:, k]), -to_nat(0), to_nat(0))
            assert most(heights) == pytest.approx(wanted, abs=0.25)
        assert not of_class(root, "within")
    one = str(term.plot(target=2))
    assert one.count("<svg") == 1
    assert ": 2 rather than others." in one
    assert ": 2 rather than 1." in str(term.plot(target=2, against=1))
    rng = np.random.default_rng(0)
    many = rng.integers(0, 9, 400)
    shown = explain_model(NaiveBayes().fit(np.eye(9)[many][:, :2], many)).plot("x0")
    assert shown.count("<svg") == 6
    assert "3 more classes" in shown


def test_others_are_weighed_by_their_rows():
    terms = np.log([[0.5, 0.2, 0.3], [0.5, 0.8, 0.7]])
    wanted = np.log([0.5 / (0.2 * 0.75 + 0.3 * 0.25), 0.5 / (0.8 * 0.75 + 0.7 * 0.25)])
    np.testing.assert_allclose(ahead_of(terms, [7, 30, 10])[:, 0], wanted)
    never = ahead_of(np.array([[0.0, -np.inf, -np.inf]]), [1, 1, 1])
    assert never[0].tolist() == [np.inf, -np.inf, -np.inf]


@pytest.mark.parametrize("features", ["gaussian", "gaussian-pooled", "mixture"])
def test_a_number_with_parameters_is_a_curve(features):
    X, y = table_of()
    X, y = X[["age", "visits"]].dropna(), y[X["age"].notna()]
    model = NaiveBayesSelector(NaiveBayes(features), reweigh=False, keep=["age"]).fit(X, y)
    whole = explain_model(model)
    row = 12
    root = read(whole.plot("age", row=X.iloc[row]))
    (bar,) = bars_of(model, X, [row], "age")
    to_nat = factors(root)
    (dot,) = of_class(root, "here")
    assert to_nat(float(dot.get("cy"))) == pytest.approx(bar.log_ratio, abs=0.1)
    (line,) = of_class(root, "said")
    x = points_of(line)[:, 0]
    assert x.min() >= 50
    assert x.max() <= 400
    # Between what it lies, where that is known.
    assert len(of_class(root, "within")) == (bar.low is not None)


def test_words_say_what_is_seen():
    X, y = table_of()
    whole = explain_model(NaiveBayes().fit(X[["flag"]], y))
    cells = whole.cells().to_frame("pandas")
    label = read(whole.plot("flag")).get("aria-label")
    words = ["no", "yes"]
    most, least = cells["times as likely"].idxmax(), cells["times as likely"].idxmin()
    assert f"Most for yes: {words[most]}, x {cells['times as likely'][most]:.1f}" in label
    assert f"Most for no: {words[least]}, / " in label
    shape = whole.plot("flag")
    assert repr(shape).startswith("<shape: flag: yes rather than no. Most for yes")
    assert shape._repr_html_() == str(shape)


def test_hostile_names_stay_text():
    X, y = table_of()
    X = X.rename(columns={"age": HOSTILE, "kind": "kind " + HOSTILE, "left": "l" + HOSTILE})
    X["kind " + HOSTILE] = X["kind " + HOSTILE].map(lambda v: v and v + HOSTILE)
    y = np.where(y == "yes", HOSTILE, "</svg>")
    model = WeightedNaiveBayes(pairs=True, price=0.0, keep=list(X)).fit(X, y)
    for term in model.terms_:
        shape = term.plot(row=X.iloc[3])
        assert "<script" not in shape
        root = read(shape)  # as XML
        assert HOSTILE in root.get("aria-label")
    page = make_report(model, X, y)
    assert page.count("<script") == 2
    assert "<script" not in model.terms_.to_html()


def light(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_colours_are_the_page_s_and_stand_out_without_it():
    X, y = table_of()
    model = WeightedNaiveBayes(pairs=True, price=0.0, keep=list(X)).fit(X, y)
    for term in model.terms_:
        shape = str(term.plot(row=X.iloc[3]))
        tones = re.findall(r'(?:fill|stroke)="([^"]*)"', shape)
        assert {*tones} <= {"none", "currentColor", "var(--paper,Canvas)"} | {
            f"var(--c{k},#{_TONES[k]})" for k in (0, 1)
        }
        assert "style=" not in shape  # pages that allow no styles of others show it, too
    for tone in _TONES:
        for paper in (1.0, light("111111")):
            dark, bright = sorted((light(tone), paper))
            assert (bright + 0.05) / (dark + 0.05) >= 3, tone


def test_pictures_are_small():
    rng = np.random.default_rng(0)
    n = 5000
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["u", "v", "w", "z"])
    X["v"] = X["u"] * np.where(y, 1, -1) + 0.3 * X["v"]
    X["w"] = np.sin(9 * X["w"]) + y * X["w"]
    X["kind"] = np.array([f"a level of a long name {i}" for i in range(40)])[
        rng.integers(0, 40 - 9 * y, n)
    ]
    model = WeightedNaiveBayes(pairs=True, price=0.0, keep=["w", "kind"]).fit(X, y)
    assert any(len(term["columns"]) == 2 for term in model.terms_)
    assert max(len(str(term.plot(row=X.iloc[0])).encode()) for term in model.terms_) < 8000


@pytest.mark.slow
def test_a_page_of_a_hundred_terms_stays_small():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 1500)
    X = rng.normal(y[:, None] / 4, 1.0, (1500, 100))
    page = make_report(NaiveBayes("density").fit(X, y), X[:400], y[:400], include_rows=True)
    assert page.count('class="shape"') == 100
    assert len(page.encode()) <= 2_000_000


def test_a_report_shows_each_term_once():
    X, y = table_of()
    model = WeightedNaiveBayes(pairs=True, price=0.0).fit(X, y)
    page = make_report(model, X, y)
    assert page.count('class="shape"') == len(model.terms_)
    for term in model.terms_:
        assert str(term.plot()) in page


def test_a_row_is_given_in_any_form():
    X, y = table_of()
    model = WeightedNaiveBayes(pairs=True, price=0.0).fit(X, y)
    for term in model.terms_:
        wanted = term.plot(row=X.iloc[3])
        assert term.plot(row=X.iloc[3].to_dict()) == wanted
        assert term.plot(row=X.iloc[[3]]) == wanted
        assert term.plot(row=X.iloc[3].to_numpy()) == wanted
        assert term.plot(row=X.iloc[[3]].to_numpy()) == wanted
        assert wanted != term.plot()


def test_what_cannot_be_drawn_says_so(tmp_path):
    X, y = table_of()
    whole = explain_model(NaiveBayes().fit(X, y))
    with pytest.raises(ValueError, match="feature must be one of"):
        whole.plot("colour")
    with pytest.raises(ValueError, match="target must be one of"):
        whole.plot("age", target="maybe")
    votes = NaiveBayesSelector(FeatureVotes()).fit(X[["flag", "left", "right"]], y == "yes").terms_
    with pytest.raises(ValueError, match="no log-ratios"):
        votes[0].plot()
    path = tmp_path / "age.svg"
    whole.plot("age").save(path)
    assert ET.parse(path).getroot().tag.endswith("svg")


def test_labels_have_pictures_of_their_own():
    X, y = table_of()
    Y = pd.DataFrame({"one": y == "yes", "two": X["left"] == 1}).astype(int)
    model = WeightedNaiveBayes(pairs=False).fit(X, Y)
    label = read(model.terms_[0].plot(label="two")).get("aria-label")
    assert ": two rather than not two." in label


def test_columns_without_rows_or_range_are_drawn():
    X, y = table_of(n_rows=60)
    X["never"], X["same"] = np.nan, 3.0
    whole = explain_model(NaiveBayes().fit(X[["never", "same", "age"]].astype(float), y))
    for name in ("never", "same"):
        assert "nan" not in read(whole.plot(name, row={name: 3.0})).attrib["viewBox"]
        body = str(whole.plot(name))
        assert "nan" not in body.lower().replace("currentcolor", "")
    huge = pd.DataFrame({"x": np.array([-1e308, 0.0, 1e308] * 20)})
    assert "<svg" in explain_model(NaiveBayes().fit(huge, y)).plot("x")


def test_words_on_cells_can_be_read():
    """In both schemes of a report, and on the paper of a notebook."""
    css = files("bayesieve.explain.report").joinpath("assets/colours.css").read_text()
    for part in css.split("@media"):
        known = dict(re.findall(r"--(\w+): #(\w{6});", part))
        ink, paper = light(known["ink"]), known["paper"]
        for k in range(8):
            pairs = zip(bytes.fromhex(known[f"c{k}"]), bytes.fromhex(paper), strict=True)
            under = light("".join(f"{round(_DEEP * a + (1 - _DEEP) * b):02x}" for a, b in pairs))
            dark, bright = sorted((ink, under))
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, (k, paper)
