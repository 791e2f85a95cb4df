"""Reports in a real browser: headless Chromium, where the machine has one."""

import shutil
import sqlite3

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from bayesieve import (
    NaiveBayes,
    WeightedNaiveBayes,
    calibrate,
    explain,
    explain_model,
)
from bayesieve.explain.report import write_report
from bayesieve.indicators import SCORES, Indicators, Score
from plain import plain_selector

playwright = pytest.importorskip("playwright.sync_api")
NAMES = ["chromium", "chromium-browser", "google-chrome"]
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
ODD = ["a\"b'c", "</script><script>window.hacked=1</script>", "naïve 🎲\n<b>", "x" * 500]


@pytest.fixture(scope="module")
def browser():
    driver = playwright.sync_playwright()
    with driver as d, d.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]) as found:
        yield found


@pytest.fixture
def open_page(browser, tmp_path):
    """Write a report, open it, and fail on any console message or request but the file's own."""
    said, asked = [], []

    def open_it(model, X, y, width=1200, **options):
        path = tmp_path / "report.html"
        write_report(model, X, y, path, n_resamples=options.pop("n_resamples", 0), **options)
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-charts][data-ready]")
        return page

    yield open_it
    assert said == []
    assert [url for url in asked if not url.startswith(("file://", "data:"))] == []


def mixed(seed=0, n=150):
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes", "it's"], n)
    X = pd.DataFrame(
        {
            "size": rng.normal(2.0 * (y == "yes"), 1.0),
            "steps": np.round(rng.normal(5.0 * (y == "no"), 2.0)),
            "kind": np.where(rng.random(n) < 0.6, y, rng.choice(["u", "v", None], n)),
            "flag": (rng.random(n) < 0.2 + 0.5 * (y == "yes")).astype(int),
        }
    )
    X.iloc[::11, 0] = np.nan
    return X, y


def probability(page):
    return float(page.get_attribute("#probability", "data-value"))


def ratio(page, bar):
    return float(page.get_attribute(f"#bar-{bar} .ratio", "data-value"))


def chances(page):
    return page.eval_on_selector_all("#all-classes li", "es => es.map(e => +e.dataset.value)")


def set_slider(page, name, value):
    page.eval_on_selector(
        name, "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", str(value)
    )
    return float(page.input_value(name))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"features": {"size": "mixture-2", "steps": "gaussian"}},
        {"features": {"size": "gaussian-pooled"}, "var_smoothing": 1e-9},
        {"rounded": True, "priors": "uniform"},
    ],
)
def test_a_slider_gives_the_model_s_probability(open_page, options):
    X, y = mixed()
    model = NaiveBayes(**options).fit(X, y)
    page = open_page(model, X, y)
    names = list(X)
    row = X.iloc[[0]].copy()
    row["size"], row["steps"] = 0.5, 1.0
    page.select_option("#value-2", label="u")
    page.select_option("#value-3", label="1")
    row["kind"], row["flag"] = "u", 1
    for j, values in ((0, [-1.5, 0.7, 2.2]), (1, [-3.0, 4.0, 11.0])):
        for value in values:
            page.fill(f"#value-{1 - j}", str(row[names[1 - j]].iloc[0]))
            row[names[j]] = set_slider(page, f"#slider-{j}", value)
            target = page.input_value("#target")
            wanted = model.predict_proba(row)[0]
            assert probability(page) == pytest.approx(wanted[int(target)], abs=1e-9)
            shown = chances(page)
            np.testing.assert_allclose(shown, wanted, atol=1e-9, rtol=0)


def test_bars_are_the_explanation(open_page):
    X, y = mixed(1)
    selector = plain_selector(random_state=0, keep=list(X)).fit(X, y)
    page = open_page(selector, X, y, include_rows=True)
    for row in selector.validation_rows_[:8].tolist():
        page.select_option("#row", label=f"row {row}: {y[row]}")
        each = explain(selector, X.iloc[[row]])[0]
        assert page.inner_text("#probability").startswith(f"P({each.target})")
        assert probability(page) == pytest.approx(each.probability, abs=1e-9)
        odds = float(page.get_attribute("#log-odds", "data-value"))
        assert odds == pytest.approx(each.log_odds, abs=1e-9)
        shown = {name: ratio(page, j) for j, name in enumerate(X)}
        shown["(prior)"] = ratio(page, "prior")
        for bar in each.evidence:
            assert shown[bar.feature] == pytest.approx(bar.log_ratio, abs=1e-9)
        order = page.eval_on_selector_all("#bars > tr", "es => es.map(e => e.id)")
        assert order[0] == "bar-prior"
        wanted = [f"bar-{list(X).index(bar.feature)}" for bar in each.evidence[1:] if bar.log_ratio]
        assert order[1 : len(wanted) + 1] == wanted
        right = "wrong" not in page.inner_text("#truth")
        assert right == (selector.predict(X.iloc[[row]])[0] == y[row])


def test_priors_of_the_place_of_use(open_page):
    X, y = mixed(2)
    model = NaiveBayes().fit(X, y)
    page = open_page(model, X, y, include_rows=True)
    page.select_option("#row", label=f"row 5: {y[5]}")
    page.select_option("#target", label="it's")
    page.fill("#prior-0", "0.0001")
    page.press("#prior-0", "Tab")
    share = model.class_count_[1:] / model.class_count_[1:].sum()
    rare = NaiveBayes(priors=[1e-4, *(share * (1 - 1e-4))]).fit(X, y)
    assert probability(page) == pytest.approx(rare.predict_proba(X.iloc[[5]])[0, 0], abs=1e-9)
    value = set_slider(page, "#prior-slider", 2.0)
    p = 1 / (1 + np.exp(-value))
    common = NaiveBayes(priors=[p, *(share * (1 - p))]).fit(X, y)
    assert probability(page) == pytest.approx(common.predict_proba(X.iloc[[5]])[0, 0], abs=1e-9)
    page.click("#prior-reset")
    assert probability(page) == pytest.approx(model.predict_proba(X.iloc[[5]])[0, 0], abs=1e-9)


def test_calibrated_probabilities(open_page):
    X, y = mixed(2, 300)
    model = calibrate(NaiveBayes().fit(X[:200], y[:200]), X[200:], y[200:])
    assert model.temperature_ != 1
    page = open_page(model, X, y, include_rows=True)
    page.select_option("#row", label=f"row 5: {y[5]}")
    before = model.predict_proba(X.iloc[[5]])[0]
    np.testing.assert_allclose(chances(page), before, atol=1e-9, rtol=0)
    page.fill("#prior-1", "0.01")
    page.press("#prior-1", "Tab")
    # The odds move by the ratio of the priors.
    old = model.class_count_ / model.class_count_.sum()
    new = np.where(np.arange(3) == 1, 0.01, old / (1 - old[1]) * 0.99)
    moved = before * new / old
    np.testing.assert_allclose(chances(page), moved / moved.sum(), atol=1e-9, rtol=0)


def test_the_source_of_a_bar(open_page):
    X, y = mixed(3)
    selector = plain_selector(random_state=0, keep=list(X)).fit(X, y)
    page = open_page(selector, X, y, include_rows=True)
    page.select_option("#value-2", label="u")
    page.click("#source-2")
    counts = page.eval_on_selector_all(
        "#source-counts tr", "rows => rows.slice(1).map(r => [...r.cells].map(c => c.textContent))"
    )
    for name, n, total, _ in counts:
        assert int(n) == ((X["kind"] == "u") & (y == name)).sum()
        assert int(total) == (y == name).sum()
    rows = page.eval_on_selector_all("#source-rows li", "es => es.map(e => +e.dataset.row)")
    assert rows == np.flatnonzero(X["kind"] == "u").tolist()
    page.fill("#value-0", "0.25")
    page.click("#source-0")
    rows = page.eval_on_selector_all("#source-rows li", "es => es.map(e => +e.dataset.row)")
    wanted = (X["size"] - 0.25).abs().dropna().sort_values(kind="stable").index[:20]
    assert rows == wanted.tolist()
    page.fill("#value-0", "")
    rows = page.eval_on_selector_all("#source-rows li", "es => es.map(e => +e.dataset.row)")
    assert rows == np.flatnonzero(X["size"].isna()).tolist()
    page.click("#source-close")
    assert page.is_hidden("#source")
    assert page.evaluate("document.activeElement.id") == "source-0"


def test_a_signal_is_shaded_where_its_score_fired(open_page):
    rng = np.random.default_rng(0)
    series = rng.normal(size=(40, 2, 100))
    y = np.repeat([0, 1], 20)
    series[20:, 1, 50:] += 5
    series[3, 1, 10:20] = np.nan
    spread = Score("spread", np.ptp, thresholds=(6.0,))
    scores = [SCORES["welch"].over(window=[20], thresholds=[6]), spread, "lost-correlation"]
    indicators = Indicators(scores, channels=["oil", "fuel"])
    X = pd.DataFrame(indicators.fit_transform(series), columns=indicators.names_)
    page = open_page(
        NaiveBayes().fit(X, y), X, y, include_rows=True, signals=series, indicators=indicators
    )
    names, size = indicators.names_, page.locator("#signal svg")
    page.select_option("#row", "30")

    def look(name):
        page.click(f"#bar-{names.index(name)} button >> nth=0")
        spans = indicators.fired(series[30], [name])[name]
        boxes = page.eval_on_selector_all(
            "#signal rect", "es => es.map(e => ['x', 'width'].map(k => e.getAttribute(k) / 600))"
        )
        for (first, last), (x, width) in zip(spans, boxes, strict=True):
            assert 99 * x == pytest.approx(first)
            assert 99 * width == pytest.approx(last - first + 1, abs=0.4)
        assert size.count() == 1
        return page.inner_text("#signal")

    text = look("fuel: welch (window=20) > 6")
    assert "Level steps (fuel): at least one 20-point window, Welch t > 6." in text
    assert "shaded points" in text
    assert "The score fired on the whole series." in look("fuel: spread > 6")
    assert "fired nowhere" in look("oil: welch (window=20) > 6")
    assert "fuel is dashed" in look("oil, fuel: lost-correlation (window=20) > 0.5")
    assert page.locator("#signal polyline").count() == 2
    page.select_option("#row", "3")
    look_again = indicators.fired(series[3], names)
    page.click(f"#bar-{names.index('fuel: spread > 6')} button >> nth=0")
    assert look_again["fuel: spread > 6"] == []
    assert page.locator("#signal polyline").count() == 2  # before the gap and after it


def test_no_rows_without_leave(open_page):
    X, y = mixed(4)
    selector = plain_selector(random_state=0).fit(X, y)
    page = open_page(selector, X, y)
    assert page.query_selector("#row") is None
    page.click("#source-0")
    assert "No row of the table is in this page" in page.inner_text("#source-note")
    assert page.inner_text("#source-counts") != ""


def test_labels_and_impossible_values(open_page):
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2, (80, 5))
    Y = pd.DataFrame({"fire": bits[:, 0] | (rng.random(80) < 0.2), "it's": rng.integers(0, 2, 80)})
    Y = Y.astype(int)
    X = sp.csr_array(bits)
    model = NaiveBayes(smoothing=0).fit(X, Y)
    page = open_page(model, X, Y, include_rows=True)
    proba = model.predict_proba(X)
    for g, name in enumerate(Y):
        page.select_option("#problem", label=name)
        for row in range(6):
            page.select_option("#row", index=1 + row)
            page.select_option("#target", label=name)
            assert probability(page) == pytest.approx(proba[row, g], abs=1e-9)


def test_the_path_shows_its_subsets(open_page):
    X, y = mixed(6)
    selector = plain_selector(random_state=0).fit(X, y)
    page = open_page(selector, X, y, n_resamples=2)
    path = selector.path_
    for at in range(len(path)):
        set_slider(page, "#path-step", at)
        names = page.inner_text("#path-subset")
        shown = set() if names == "(no feature)" else set(names.split(", "))
        assert shown == {X.columns[j] for j in path.subset(at)}
    assert page.locator("[data-chart] svg").count() == page.locator("[data-chart]").count()
    page.evaluate("document.querySelector('[data-chart=path]').scrollIntoView({block: 'center'})")
    at = page.evaluate(
        "(() => { const box = [...document.querySelectorAll('[data-chart=path] path')]"
        ".filter(e => e.getAttribute('aria-roledescription') === 'point').pop()"
        ".getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    page.mouse.move(*at)
    tip = page.inner_text("#path-tip")
    assert tip.startswith(f"step {path.chosen}: {len(selector.selected_)} features")
    assert set(tip.splitlines()[1].split(", ")) == {X.columns[j] for j in selector.selected_}


def test_thresholds_move(open_page):
    from bayesieve.evaluation.performance import performance

    X, y = mixed(7)
    selector = plain_selector(random_state=0).fit(X, y)
    page = open_page(selector, X, y)
    verdicts = performance(selector, X, y).verdicts
    set_slider(page, "#threshold", 40)
    rows = page.eval_on_selector_all(
        "#threshold-rates tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    for (name, detection, alarms), verdict in zip(rows, verdicts, strict=True):
        assert name == verdict.name
        assert detection == f"{100 * verdict.thresholds[40][1]:.1f} %"
        assert alarms == f"{100 * verdict.thresholds[40][2]:.2f} %"


@pytest.mark.parametrize("width", [1200, 390])
def test_odd_names_change_nothing_but_the_text(open_page, width):
    rng = np.random.default_rng(8)
    y = rng.choice(ODD[:3], 120)
    X = pd.DataFrame({name: rng.choice(ODD[:2], 120) for name in ODD})
    X[ODD[3]] = rng.normal(y == ODD[0], 1.0)
    selector = plain_selector(random_state=0, keep=ODD).fit(X, y)
    page = open_page(selector, X, y, width, include_rows=True, title=ODD[1], n_resamples=2)
    assert page.evaluate("window.hacked") is None
    heads = page.eval_on_selector_all("#bars > tr > th", "es => es.map(e => e.textContent)")
    assert sorted(heads[1:]) == sorted(ODD)
    row = int(selector.validation_rows_[0])
    page.select_option("#row", index=1)
    wanted = selector.predict_proba(X.iloc[[row]])[0]
    shown = chances(page)
    np.testing.assert_allclose(shown, wanted, atol=1e-9, rtol=0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.title().startswith("</script>")


def names_of_objects(browser):
    """What every object of JavaScript has from the start."""
    page = browser.new_page()
    found = page.evaluate("Object.getOwnPropertyNames(Object.prototype)")
    page.close()
    assert {"constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"} <= set(found)
    return found


def test_columns_and_classes_named_as_parts_of_objects(browser, open_page):
    names = names_of_objects(browser)
    rng = np.random.default_rng(0)
    y = np.repeat(names, 20)
    X = pd.DataFrame({n: (y == n) ^ (rng.random(y.size) < 0.1) for n in names}).astype(int)
    X["length"] = rng.choice([*names, None], y.size)
    selector = plain_selector(
        random_state=0, validation=None, n_features=len(names), keep=names
    ).fit(X, y)
    page = open_page(selector, X, y, include_rows=True, n_resamples=2)
    for chart, n_marks in [
        ("roc", names), ("calibration", names), ("nomogram-0", names), ("relevance-0", names),
        ("stability", names),
    ]:  # fmt: skip
        place = f'[data-chart="{chart}"]'
        assert page.locator(f"{place} svg").count() == 1, chart
        texts = page.eval_on_selector_all(f"{place} svg text", "es => es.map(e => e.textContent)")
        assert set(n_marks) <= set(texts), chart
    lines = page.locator('[data-chart="roc"] .mark-line.role-mark path').count()
    assert lines == len(names) + 1  # and the diagonal
    cells = page.locator('[data-chart="relevance-0"] .mark-rect.role-mark path').count()
    assert cells == len(names) ** 2
    each = explain(selector, X.iloc[[25]])[0]
    page.select_option("#row", label=f"row 25: {y[25]}")
    assert page.inner_text("#probability").startswith(f"P({each.target})")
    assert probability(page) == pytest.approx(each.probability, abs=1e-9)
    assert page.inner_text("#truth").startswith(f"Truth: {y[25]}")
    assert page.inner_text("#path-subset").split(", ") == [names[j] for j in selector.selected_]


def test_labels_named_as_parts_of_objects(browser, open_page):
    names = names_of_objects(browser)
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.choice([*names, None], (60, 3)), columns=["__proto__", "valueOf", "size"])
    Y = pd.DataFrame(rng.integers(0, 2, (60, len(names))), columns=names)
    model = NaiveBayes().fit(X, Y)
    page = open_page(model, X, Y, include_rows=True)
    shown = page.eval_on_selector_all("#problem option", "es => es.map(e => e.textContent)")
    assert shown == names
    texts = page.eval_on_selector_all(
        '[data-chart="roc"] svg text', "es => es.map(e => e.textContent)"
    )
    assert set(names) <= set(texts)
    page.select_option("#problem", label="__proto__")
    page.select_option("#row", index=8)
    row = int(page.locator("#row option:checked").inner_text().split()[1][:-1])
    g = names.index("__proto__")
    wanted = model.predict_proba(X.iloc[[row]])[0, g]
    assert chances(page)[1] == pytest.approx(wanted, abs=1e-9)
    for value in names:
        page.select_option("#value-0", label=value)
        asked = X.iloc[[row]].assign(__proto__=value)
        assert chances(page)[1] == pytest.approx(model.predict_proba(asked)[0, g], abs=1e-9)


def test_odd_names_from_a_file_to_a_page_a_query_and_a_model_file(browser, tmp_path, monkeypatch):
    from bayesieve import load_model, to_python, to_sql
    from bayesieve.__main__ import main

    rng = np.random.default_rng(3)
    y = rng.choice(ODD[:3], 150)
    X = pd.DataFrame({name: rng.choice(ODD[:2], 150) for name in ODD})
    X[ODD[0]] = np.where(rng.random(150) < 0.7, y, X[ODD[0]])
    data, out = tmp_path / "odd \"'<b>🎲.csv", tmp_path / "out <i>"
    X.assign(**{"the 'class'": y}).to_csv(data, index=False)
    words = ["bayesieve", "select", data, "--target", "the 'class'", "--out", out, "--include-rows",
             "--n-features", 4, "--resamples", 2, "--quiet"]  # fmt: skip
    monkeypatch.setattr("sys.argv", list(map(str, words)))
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    model = load_model(out / "model.json")
    assert [spec.name for spec in model.fitted_.specs] == ODD
    wanted = model.predict(X)
    connection = sqlite3.connect(":memory:")
    X.to_sql("t", connection, index=False)
    found = pd.read_sql_query(to_sql(model, "t"), connection)
    assert found["prediction"].tolist() == wanted.tolist()
    space = {}
    exec(to_python(model), space)
    assert [space["predict"](row) for row in X.to_dict("records")] == wanted.tolist()
    page = browser.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((out / "report.html").as_uri())
    page.wait_for_selector("html[data-charts][data-ready]")
    assert page.evaluate("window.hacked") is None
    assert page.inner_text("h1") == "Selection from odd \"'<b>🎲.csv"
    rows = page.evaluate("DATA.rows.at")
    page.select_option("#row", index=1)
    picked = int(page.evaluate("DATA.rows.at[Explorer.state.row]"))
    assert picked in rows
    proba = model.predict_proba(X.iloc[[picked]])[0]
    np.testing.assert_allclose(chances(page), proba, atol=1e-9, rtol=0)
    assert said == []


def test_the_keyboard_reaches_everything(open_page):
    X, y = mixed(9)
    selector = plain_selector(random_state=0, keep=list(X)).fit(X, y)
    page = open_page(selector, X, y, include_rows=True)
    seen = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id"))
    assert {"path-step", "row", "target", "prior-slider", "value-0", "slider-0", "source-0",
            "threshold"} <= seen  # fmt: skip
    unnamed = page.eval_on_selector_all(
        "button, select, input",
        "es => es.filter(e => !(e.labels && e.labels.length) && !e.getAttribute('aria-label')"
        " && !e.textContent.trim() && !e.closest('.vega-bind')).length",
    )
    assert unnamed == 0
    before = probability(page)
    page.focus("#slider-0")
    for _ in range(200):
        page.keyboard.press("ArrowRight")
    assert probability(page) != before


def test_on_paper_nothing_is_cut_or_pale(open_page):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 26, 800)
    X = pd.DataFrame(rng.normal(y[:, None], 3.0, (800, 3)), columns=list("pqr"))
    page = open_page(NaiveBayes().fit(X, y), X, y)
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-charts=dark]")
    # The width of A4 between its margins; the charts were drawn for a screen.
    page.emulate_media(media="print", color_scheme="dark")
    page.add_style_tag(content="body { width: 718px; margin: 0; }")
    cut = page.evaluate(
        "[...document.querySelectorAll('svg, table')].filter(e => e.checkVisibility() && "
        "e.getBoundingClientRect().right > 720).map(e => e.outerHTML.slice(0, 80))"
    )
    assert cut == []
    fills = page.eval_on_selector_all(
        "[data-chart] svg text", "es => [...new Set(es.map(e => getComputedStyle(e).fill))]"
    )
    assert fills == ["rgb(0, 0, 0)"]


def contrast(one, other):
    """Of two colours, as the accessibility guidelines define it."""
    lights = []
    for colour in (one, other):
        parts = np.array(colour) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        lights.append(linear @ [0.2126, 0.7152, 0.0722])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_are_readable_on_their_shade(open_page, scheme):
    X, y = mixed(7)
    page = open_page(NaiveBayes().fit(X, y), X, y)
    page.emulate_media(color_scheme=scheme)
    pixels = """([ink, shade, paper]) => [[paper, shade], [paper, ink]].map(layers => {
        const c = document.createElement("canvas").getContext("2d");
        for (const each of layers) { c.fillStyle = each; c.fillRect(0, 0, 1, 1); }
        return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3); })"""
    page.eval_on_selector("td.share", "e => e.style.setProperty('--share', 1)")
    colours = page.eval_on_selector(
        "td.share",
        "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor, "
        "getComputedStyle(document.body).backgroundColor]",
    )
    assert contrast(*page.evaluate(pixels, colours)) >= 4.5
    named = page.eval_on_selector_all("[data-chart]", "es => es.map(e => e.ariaLabel)")
    assert all(named)


@pytest.mark.parametrize("missing", ["silent", "evidence"])
def test_a_page_speaks_weights_and_pairs(open_page, missing):
    X, y = mixed(n=300)
    X["other"] = (X["flag"] ^ (y == "no")).astype(int)
    model = WeightedNaiveBayes(pairs=True, price=1.0, missing=missing).fit(X, y)
    assert any(len(columns) == 2 for columns in model.selected_)
    page = open_page(model, X, y, include_rows=True)
    wanted = model.predict_proba(X)
    for row in (0, 11, 22, 5):
        page.select_option("#row", label=f"row {row}: {y[row]}")
        np.testing.assert_allclose(chances(page), wanted[row], atol=1e-9, rtol=0)


def heat_of(page, part=0):
    """What the cells of every pair show, by the pair's place: values, texts, colours' sides."""
    cells = page.eval_on_selector_all(
        f'[data-pairs="{part}"] td.heat',
        "es => es.map(e => [+e.dataset.pair, +e.dataset.cell, +e.dataset.value, e.textContent, "
        "e.classList.contains('against'), +e.style.getPropertyValue('--share')])",
    )
    return {(pair, cell): rest for pair, cell, *rest in cells}


def check_heat(page, model, target, against, label=None):
    found, whole = heat_of(page), explain_model(model, label=label)
    pairs = [each for each in whole.features if each.model == "pair"]
    said = [np.array(each.ratios(target, against)) / whole.temperature for each in pairs]
    most = max(np.abs(each).max() for each in said)
    assert len(found) == sum(each.size for each in said)
    for (pair, cell), (value, text, against_it, share) in found.items():
        wanted = said[pair][cell]
        assert value == pytest.approx(wanted, abs=1e-9)
        assert float(text.replace("−", "-")) == pytest.approx(wanted, abs=0.0501)
        assert against_it == (wanted < 0)
        assert share == pytest.approx(abs(wanted) / most, abs=1e-9)


def test_pairs_are_heat_maps_that_follow_the_nomogram(open_page):
    X, y = mixed(n=300)
    X["other"] = (X["flag"] ^ (y == "no")).astype(int)
    X["mirror"] = X["size"] * np.where(y == "it's", -1, 1) + 3 * (y == "yes")
    model = WeightedNaiveBayes(pairs=True, price=1.0, pair_price=0.0).fit(X, y)
    model = calibrate(model, *mixed_again(model, X))
    assert sum(len(columns) == 2 for columns in model.selected_) > 1
    page = open_page(model, X, y)
    check_heat(page, model, 1, 0)
    # The names of the two columns, and of all their values, stand around the cells.
    whole = explain_model(model)
    for each in (each for each in whole.features if each.model == "pair"):
        heads = page.eval_on_selector_all(
            "table.heat", "es => es.map(e => [...e.querySelectorAll('th')].map(h => h.textContent))"
        )
        first, second = each.source["names"]
        wanted = [second, first, *each.source["second"], *each.source["first"]]
        assert wanted in heads
    # One pair of pickers serves both; scales of pairs are not drawn a second time.
    assert page.is_hidden('[data-pairs="0"] select')
    drawn = page.inner_text("[data-chart=nomogram-0]")
    assert " x " not in drawn
    page.select_option("[data-chart=nomogram-0] select >> nth=0", index=2)
    page.select_option("[data-chart=nomogram-0] select >> nth=1", index=1)
    check_heat(page, model, 2, 1)
    told = [page.inner_text(f'[data-name="{which}"]') for which in ("target", "against")]
    assert told == [whole.classes[2], whole.classes[1]]


def mixed_again(model, X):
    """New rows for the same columns."""
    other, y = mixed(seed=1, n=300)
    other["other"] = (other["flag"] ^ (y == "no")).astype(int)
    other["mirror"] = other["size"] * np.where(y == "it's", -1, 1) + 3 * (y == "yes")
    return other[list(X)], y


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_heat_maps_can_be_read_on_any_screen(open_page, width, dark):
    X, y = mixed(n=300)
    X["mirror"] = X["size"] * np.where(y == "no", -1, 1)
    model = WeightedNaiveBayes(pairs=True, price=1.0, forbid=["kind"]).fit(X, y)
    page = open_page(model, X, y, width=width)
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.wait_for_selector(f"html[data-charts={'dark' if dark else 'light'}]")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    contrast = page.evaluate(CONTRAST)
    assert len(contrast) > 4
    assert min(contrast) >= 3  # small figures beside their colour, as the worst of both schemes


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const light = colour => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  return [...document.querySelectorAll("td.heat")].map(cell => {
    const {color, backgroundColor} = getComputedStyle(cell);
    const [a, b] = [light(color), light(backgroundColor)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}"""


def test_pairs_alone_have_pickers_of_their_own(open_page):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2))
    y = 2 * (X[:, 0] ^ X[:, 1]) + (rng.random(400) < 0.3)
    model = WeightedNaiveBayes(pairs=True, price=1.0).fit(X, y)
    assert model.selected_ == [(0, 1)]
    page = open_page(model, X, y)
    assert page.query_selector("[data-chart=nomogram-0] svg") is None
    check_heat(page, model, 1, 0)
    page.select_option('[data-class="target"]', index=3)
    check_heat(page, model, 3, 0)
    assert page.locator("p.silent").count() == 2
