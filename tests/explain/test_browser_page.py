"""The page of a report as a whole, in a real browser: names, keyboard, widths, colours."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

from bayesieve import NaiveBayes, explain
from pages import ODD, chances, mixed, pick_row, probability
from plain import plain_selector


@pytest.mark.parametrize("width", [pytest.param(1200, marks=pytest.mark.slow), 390])
def test_odd_names_change_nothing_but_the_text(open_page, width):
    rng = np.random.default_rng(8)
    y = rng.choice(ODD[:3], 120)
    X = pd.DataFrame({name: rng.choice(ODD[:2], 120) for name in ODD})
    X[ODD[3]] = rng.normal(y == ODD[0], 1.0)
    selector = plain_selector(random_state=0, keep=ODD).fit(X, y)
    page = open_page(selector, X, y, width, include_rows=True, title=ODD[1], n_resamples=2)
    assert page.evaluate("window.hacked") is None
    heads = page.eval_on_selector_all(
        "#bars > tr > th", "es => es.map(e => e.firstChild.textContent)"
    )
    assert sorted(heads[1:]) == sorted(ODD)
    row = int(selector.validation_rows_[0])
    pick_row(page, row)
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
    for chart in ("roc", "calibration", "stability"):
        place = f'[data-chart="{chart}"]'
        assert page.locator(f"{place} svg").count() == 1, chart
        assert set(names) <= {
            text.split(" (AUC")[0]
            for text in page.eval_on_selector_all(
                f"{place} svg text, {place} li", "es => es.map(e => e.firstChild.textContent)"
            )
        }, chart
    assert page.locator('[data-chart="roc"] path.line').count() == len(names)
    drawn = page.text_content("[data-nomogram]")
    assert all(name in drawn for name in sorted(names)[:2])  # which tell these two classes apart
    each = explain(selector, X.iloc[[25]])[0]
    pick_row(page, 25)
    assert page.inner_text("#probability").startswith(str(each.target))
    assert probability(page) == pytest.approx(each.probability, abs=1e-9)
    assert page.inner_text("#truth").startswith(f"Row 25 is {y[25]}: ")
    assert page.inner_text("#path-subset").split(", ") == [names[j] for j in selector.selected_]


@pytest.mark.slow
def test_labels_named_as_parts_of_objects(browser, open_page):
    names = names_of_objects(browser)
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.choice([*names, None], (60, 3)), columns=["__proto__", "valueOf", "size"])
    Y = pd.DataFrame(rng.integers(0, 2, (60, len(names))), columns=names)
    model = NaiveBayes().fit(X, Y)
    page = open_page(model, X, Y, include_rows=True)
    shown = page.eval_on_selector_all("#problem option", "es => es.map(e => e.textContent)")
    assert shown == names
    texts = page.inner_text('[data-chart="roc"] .legend')
    assert all(name in texts for name in names)
    page.select_option("#problem", label="__proto__")
    row = 7
    pick_row(page, row)
    g = names.index("__proto__")
    wanted = model.predict_proba(X.iloc[[row]])[0, g]
    assert chances(page)[1] == pytest.approx(wanted, abs=1e-9)
    for value in names:
        page.select_option("#value-0", label=value)
        asked = X.iloc[[row]].assign(__proto__=value)
        assert chances(page)[1] == pytest.approx(model.predict_proba(asked)[0, g], abs=1e-9)


def test_odd_names_from_a_file_to_a_page_a_query_and_a_model_file(browser, tmp_path, monkeypatch):
    from bayesieve import load_model
    from bayesieve.__main__ import main
    from bayesieve.export import to_python, to_sql

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
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("window.hacked") is None
    assert page.inner_text("h1") == "Selection from odd \"'<b>🎲.csv"
    picked = int(page.get_attribute("#rows a >> nth=3", "data-row"))
    pick_row(page, picked)
    proba = model.predict_proba(X.iloc[[picked]])[0]
    np.testing.assert_allclose(chances(page), proba, atol=1e-9, rtol=0)
    assert said == []


def test_the_keyboard_reaches_everything(open_page):
    X, y = mixed(9)
    selector = plain_selector(random_state=0, keep=list(X)).fit(X, y)
    page = open_page(selector, X, y, include_rows=True)
    seen = set()
    for _ in range(90):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.dataset.row"))
    first = page.get_attribute("#rows a", "data-row")
    assert {"path-step", first, "only-wrong", "value-0", "slider-0", "source-0", "threshold",
            "path-log", "in-nat"} <= seen  # fmt: skip
    # One stop for all rows; arrows go along, Enter opens, Escape closes what was opened.
    assert page.locator("#rows a[tabindex='0']").count() == 1
    page.focus("#rows a")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = page.get_attribute("#rows a >> nth=1", "data-row")
    assert page.inner_text("#truth").startswith(f"Row {second} is ")
    assert page.url.endswith(f"#row-{second}")
    page.focus("#source-0")
    page.keyboard.press("Enter")
    assert page.is_visible("#source")
    page.keyboard.press("Escape")
    assert page.is_hidden("#source")
    assert page.evaluate("document.activeElement.id") == "source-0"
    unnamed = page.eval_on_selector_all(
        "button, select, input",
        "es => es.filter(e => !(e.labels && e.labels.length) && !e.getAttribute('aria-label')"
        " && !e.textContent.trim()).length",
    )
    assert unnamed == 0
    before = probability(page)
    page.focus("#slider-0")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert probability(page) != before


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_section_on_every_screen(open_page, width, scheme):
    X, y = mixed(3)
    X["a rather long name of a column that has to be broken"] = X["size"].fillna(0) + 1
    selector = plain_selector(random_state=0, keep=list(X)).fit(X, y)
    page = open_page(selector, X, y, width, scheme, include_rows=True, n_resamples=2)
    heads = page.eval_on_selector_all("main h2", "es => es.map(e => e.textContent)")
    assert heads == [
        "What is it, is it any good?",
        "What does it look at?",
        "Why this decision?",
        "How far can I trust it?",
        "How was it found?",
    ]
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Nothing sticks out but what scrolls in its own box.
    out = page.evaluate(
        """width => [...document.querySelectorAll("main *")].filter(e => e.checkVisibility()
        && !e.closest(".scroll, nav, #rows, #source-rows, svg, #evidence > thead")
        && e.getBoundingClientRect().right > width + 1).map(e => e.outerHTML.slice(0, 90))""",
        width,
    )
    assert out == []
    cut = page.evaluate(
        """() => [...document.querySelectorAll("svg")].flatMap(svg => {
        const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text")].filter(t => {
          const b = t.getBoundingClientRect();
          return b.left < box.left - 1 || b.right > box.right + 1; }).map(t => t.textContent); })"""
    )
    assert cut == []


def test_a_strict_policy_holds(open_page):
    """Nothing in the page is run or fetched that its own policy does not name."""
    X, y = mixed(5)
    page = open_page(NaiveBayes().fit(X, y), X, y, include_rows=True)
    html = page.content()
    assert "default-src 'none'" in html
    assert "unsafe-eval" not in html
    assert not page.evaluate("[...document.querySelectorAll('*')].some(e => "
                             "[...e.attributes].some(a => a.name.startsWith('on')))")  # fmt: skip


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
    named = page.eval_on_selector_all("svg", "es => es.map(e => e.getAttribute('aria-label'))")
    assert named
    assert all(named)
