"""The studio in a real browser: headless Chromium, where the machine has one."""

import json
from pathlib import Path

import pytest

from bayesieve import explain, load_model
from bayesieve.app.studio.launch import open_bench
from bayesieve.explain.text import factor_in_words
from pages import CHROMIUM, launched
from studios import ODD, rows, series_table

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
AXE = Path(__file__).parents[1] / "vendor/axe-core/axe.min.js"


@pytest.fixture(scope="module")
def browser():
    driver = playwright.sync_playwright()
    with driver as d, launched(d) as found:
        yield found


@pytest.fixture
def open_page(browser, start):
    """Open a studio; fail on any console message, and on any request to another host."""
    said, asked, contexts = [], [], []

    def open_it(running, width=1280, scheme="light", context=None):
        if context is None:
            context = browser.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme
            )
            contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.on("response", lambda r: r.status >= 400 and said.append(f"{r.status} {r.url}"))
        page.goto(running.address)
        page.wait_for_selector("html[data-ready]")
        return page

    open_it.expected = []  # what a test makes go wrong on purpose
    yield open_it
    for context in contexts:
        context.close()
    assert [line for line in said if not any(word in line for word in open_it.expected)] == []
    allowed = ("http://127.0.0.1:", "data:", "blob:")
    assert [url for url in asked if not url.startswith(allowed)] == []


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "table.csv"
    rows().to_csv(path, index=False)
    return path


def drop(page, path):
    """Drop a file on the page, as a person does."""
    transfer = page.evaluate_handle(
        "([name, text]) => { const held = new DataTransfer(); "
        "held.items.add(new File([text], name)); return held; }",
        [path.name, path.read_text()],
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})


def choose_target(page, name="kind"):
    page.wait_for_selector("#target-part:not([hidden])")
    page.fill("#target", name)
    page.click("#open")
    page.wait_for_selector("#visible li")


def settled(page, running):
    """What the page shows is of now."""
    page.wait_for_selector(f"#error[data-version='{running.bench.version}']")
    return page


def press(page, what, name):
    with page.expect_response("**/api/edit"):
        page.click(f"button[aria-label^='{what} {name}']")


def error(page):
    return float(page.get_attribute("#error", "data-value"))


def search(page, button="#start"):
    page.click(button)
    page.wait_for_selector("#stop:not([disabled]), #visible li.in")
    page.wait_for_selector("#start:not([disabled])")
    page.wait_for_selector("#visible li.in")


def inside(page):
    return page.eval_on_selector_all(
        "#visible li.in .name", "found => found.map(each => each.textContent)"
    )


def test_a_first_walk(open_page, start, csv, tmp_path):
    running = start()
    page = open_page(running)
    drop(page, csv)
    choose_target(page)
    search(page)
    session = running.bench.session
    assert inside(settled(page, running)) == session.columns
    assert error(page) == session.error()[0]
    press(page, "Pin", "f7")
    assert "f7" in session.pinned
    assert error(settled(page, running)) == session.error()[0]
    page.fill("#note", "the sensor <b>lies</b>")
    victim = next(name for name in session.columns if name != "f7")
    press(page, "Strike", victim)
    assert session.struck == [victim]
    assert session.log[-1]["note"] == "the sensor <b>lies</b>"
    before = error(settled(page, running))
    with page.expect_response("**/api/edit"):
        page.click("#undo")
    assert victim in inside(settled(page, running))
    with page.expect_response("**/api/edit"):
        page.keyboard.press("Control+y")
    assert victim not in inside(settled(page, running))
    assert error(page) == before
    page.focus("#size")
    with page.expect_response("**/api/pick"):
        page.keyboard.press("Home")
    assert error(settled(page, running)) == session.error()[0]
    for kind, end in (("model", ".json"), ("sql", ".sql"), ("code", ".py"), ("report", ".html")):
        with page.expect_download() as download:
            page.click(f"a[href='/api/export/{kind}']")
        place = tmp_path / f"out{end}"
        download.value.save_as(place)
        assert place.stat().st_size > 100
    saved = json.loads((tmp_path / "out.json").read_text())
    assert {each["name"] for each in saved["features"]} == set(session.columns)
    shown, now = inside(page), error(page)
    page.reload()
    page.wait_for_selector("#visible li.in")
    assert inside(page) == shown
    assert error(page) == now
    # What a column is worth comes again, too.
    page.wait_for_selector("#visible li.in .worth i:not([style*='width: 0%'])")
    page.click("#log-part summary")
    assert "the sensor <b>lies</b>" in page.inner_text("#log")


def test_two_pages_see_the_same(open_page, start, csv):
    running = start()
    open_bench(running.bench, csv, "kind")
    one = open_page(running)
    two = open_page(running, context=one.context)
    for page in (one, two):
        page.wait_for_selector("#visible li")
    press(one, "Pin", "f1")
    two.wait_for_selector("#visible li.in")
    assert inside(two) == ["f1"]
    press(two, "Strike", "f2")
    one.wait_for_selector("#visible li.struck")
    assert running.bench.session.struck == ["f2"]
    assert error(settled(one, running)) == error(settled(two, running))


def test_a_server_that_was_killed_and_started_again(open_page, start, csv, tmp_path):
    open_page.expected = ["net::ERR_"]
    project = tmp_path / "work.bayesieve"
    running = start(project=project)
    open_bench(running.bench, csv, "kind")
    page = open_page(running)
    page.wait_for_selector("#visible li")
    press(page, "Pin", "f3")
    running.bench.session.save(project)
    port, keys = running.keys.port, running.keys
    running.close(save=False)
    page.click("button[aria-label^='Strike f1']")
    page.wait_for_selector("#message:not([hidden])")
    assert "does not answer" in page.inner_text("#message")
    again = start(port=port, keys={"token": keys.token, "cookie": keys.cookie})
    open_bench(again.bench, project, None)
    page.reload()
    page.wait_for_selector("#visible li.in")
    assert inside(page) == ["f3"]
    press(page, "Strike", "f1")
    assert again.bench.session.struck == ["f1"]


def test_the_keyboard_is_enough(open_page, start, csv):
    running = start()
    open_bench(running.bench, csv, "kind")
    page = open_page(running)
    page.wait_for_selector("#visible li")
    page.focus("#visible li:first-child .name")
    first = page.inner_text("#visible li:first-child .name")
    with page.expect_response("**/api/edit"):
        page.keyboard.press("p")
    assert running.bench.session.pinned == [first]
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.textContent")
    assert second != first
    with page.expect_response("**/api/edit"):
        page.keyboard.press("x")
    assert running.bench.session.struck == [second]
    page.focus("#start")
    page.keyboard.press("Enter")
    page.wait_for_selector("#start:not([disabled])")
    page.wait_for_selector("#nomogram svg")
    for _ in range(120):  # every stop of the tab key is visible
        page.keyboard.press("Tab")
        box = page.evaluate(
            "() => { const r = document.activeElement.getBoundingClientRect(); "
            "return r.width * r.height; }"
        )
        assert box > 0


def test_groups_by_dragging(open_page, start, csv):
    running = start()
    open_bench(running.bench, csv, "kind")
    page = open_page(running)
    page.select_option("#sort", "table")
    page.wait_for_selector("#visible li[data-column='2']")
    with page.expect_response("**/api/edit"):
        page.drag_and_drop("li[data-column='0'] .name", "li[data-column='2'] .name")
    assert running.bench.session.grouped == [["f0", "f2"]]
    press(page, "Pin", "f2")
    assert set(running.bench.session.columns) == {"f0", "f2"}


def test_hostile_names_change_nothing(open_page, start, tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    rows(names=ODD).to_csv(path, index=False)
    running = start()
    page = open_page(running)
    drop(page, path)
    choose_target(page)
    search(page)
    page.click("#visible li:first-child .name")
    page.wait_for_selector("#detail svg")
    assert path.name in page.inner_text("#file-name")
    assert page.evaluate("window.hacked") is None
    assert page.query_selector_all("main script, main img, #visible b") == []
    text = page.inner_text("#visible")
    assert all(name in text for name in ODD[:3])


def test_bad_files_are_told(open_page, start, tmp_path):
    running = start()
    page = open_page(running)
    path = tmp_path / "table.csv"
    path.write_text("a,kind\n1,x\n2,x\n")
    drop(page, path)
    page.wait_for_selector("#target-part:not([hidden])")
    page.fill("#target", "kind")
    page.click("#open")
    page.wait_for_selector("#message:not([hidden])")
    assert "one value only" in page.inner_text("#message")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_every_screen_can_be_used_by_all(open_page, start, csv, width, scheme):
    running = start()
    page = open_page(running, width, scheme)
    check(page)
    open_bench(running.bench, csv, "kind")
    page.wait_for_selector("#visible li")
    search(page)
    page.click("#visible li.in .name")
    page.wait_for_selector("#detail svg")
    page.wait_for_selector("#nomogram svg")
    page.fill("#row", "7")
    page.click("#show-row")
    page.wait_for_selector("#explorer #truth >> text=Row 7")
    # The studio's bars are those that explain prints.
    each = explain(running.bench.session.model(), rows().drop(columns="kind").iloc[[7]])[0]
    shown = page.eval_on_selector_all("#explorer .ratio", "es => es.map(e => e.innerText.trim())")
    assert shown == [factor_in_words(bar.log_ratio, bar.rows) for bar in each.evidence]
    assert f"likely in {each.target} as in {each.against}" in page.inner_text("#explorer #reading")
    page.click("#judge")
    page.wait_for_selector("#curve svg")
    page.click("#search summary")
    check(page)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    assert " nat" not in page.inner_text("main") + page.inner_text("#explorer #bars")


DECIDED = """found => found.map(item => {
  const [, row, truth, , said] = item.innerText.match(/^row (\\d+) (.*?)( → (.*))?$/);
  return [Number(row), said ?? truth];
})"""


def slide(page, name, value):
    page.eval_on_selector(
        f"#{name}", f"e => {{ e.value = {value}; e.dispatchEvent(new Event('input')); }}"
    )


def test_the_rule_of_the_sliders_is_that_of_the_model_file(open_page, start, tmp_path):
    frame, path = rows(n=300), tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    running = start()
    open_bench(running.bench, path, "kind")
    running.bench.session.add("f0", "f1", "size")
    page = open_page(running)
    page.click("#judge")
    page.wait_for_selector("#curve svg")
    slide(page, "cost", 3)
    slide(page, "unsure", 75)
    slide(page, "ceiling", 30)
    page.click("#make-rule")
    page.wait_for_selector("#rule table")
    assert "asking a person 0.25" in page.inner_text("#rule")
    page.wait_for_selector("#explorer #rows li >> text=ask a person")
    shown = dict(page.eval_on_selector_all("#explorer #rows li", DECIDED))
    with page.expect_download() as download:
        page.click("a[href='/api/export/model']")
    download.value.save_as(tmp_path / "model.json")
    decided = load_model(tmp_path / "model.json").predict(frame[["f0", "f1", "size"]])
    wanted = ["ask a person" if each is None else each for each in decided]
    assert [shown[i] for i in range(300)] == wanted
    assert set(wanted) == {"no", "yes", "ask a person"}
    page.click("#no-rule")
    page.wait_for_selector("#rule:empty", state="attached")


def test_series_show_the_span_behind_an_indicator(open_page, start, tmp_path):
    path = tmp_path / "signals.csv"
    series_table().to_csv(path, index=False)
    running = start()
    page = open_page(running)
    drop(page, path)
    page.wait_for_selector("#target-part:not([hidden])")
    page.select_option("#shape", "long")
    page.fill("#series-id", "who")
    page.fill("#series-time", "t")
    choose_target(page)
    search(page)
    sentences = running.bench.table.sentences
    assert set(inside(page)) <= set(sentences)
    assert "successive" in inside(page)[0] or "points" in inside(page)[0]
    page.fill("#row", "1")
    page.click("#show-row")
    page.wait_for_selector("#explorer #signal svg .fired", state="attached")
    told = page.inner_text("#explorer #signal")
    assert any(sentence in told for sentence in sentences)
    first, last = page.evaluate(
        "() => { const at = document.querySelector('#explorer').shadowRoot; "
        "const r = at.querySelector('svg .fired').getBBox(); return [r.x, r.x + r.width]; }"
    )
    assert 0 < first < last
    check(page)


def check(page):
    """axe-core finds nothing serious."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations")
    serious = [
        (each["id"], [node["html"][:120] for node in each["nodes"]][:3])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_a_hundred_thousand_columns(open_page, start, tmp_path):
    running = start()
    page = open_page(running)
    names = [f"column {j}" for j in range(100_000)]
    state = {
        **json.loads(json.dumps(running.bench.state())),
        "open": True,
        "version": 5,
        "opened": 7,
        "classes": ["a", "b"],
        "class_counts": [5, 5],
        "n_rows": 10,
        "n_columns": len(names),
        "subset": [99_999],
        "pinned": [],
        "struck": [5],
        "groups": [],
        "score": 0.1,
        "file": "f",
        "error": [0.1, 0.01],
        "settings": {"preset": "few", "search": "auto", "criterion": "auto"},
        "criterion": "probability",
        "log": [],
        "undo": False,
        "redo": False,
        "points": [],
        "running": False,
        "paused": False,
        "compared": False,
        "target": "y",
    }
    columns = {
        "opened": 7,
        "names": names,
        "kinds": ["number"] * len(names),
        "missing": [0.0] * len(names),
        "flags": [""] * len(names),
        "alone": [],
    }
    page.route("**/api/state", lambda route: route.fulfill(json=state))
    page.route("**/api/columns", lambda route: route.fulfill(json=columns))
    page.route("**/api/model", lambda route: route.fulfill(json={"refused": "not asked"}))
    page.route("**/api/texts", lambda route: route.fulfill(json={"code": "", "command": ""}))
    page.reload()
    page.wait_for_selector("#visible li.in")
    assert page.inner_text("#visible li:first-child .name") == "column 99999"
    assert page.locator("#visible li").count() < 60
    took = page.evaluate(
        "() => { const began = performance.now(); const f = document.getElementById('filter'); "
        "f.value = '777'; f.dispatchEvent(new Event('input')); return performance.now() - began; }"
    )
    assert took < 300
    assert "777" in page.inner_text("#visible li:nth-child(2) .name")
    took = page.evaluate(
        "() => { const began = performance.now(); const f = document.getElementById('sort'); "
        "document.getElementById('filter').value = ''; f.value = 'name'; "
        "f.dispatchEvent(new Event('change')); return performance.now() - began; }"
    )
    assert took < 1000
    page.eval_on_selector("#rows", "e => { e.scrollTop = 34 * 50000; }")
    page.wait_for_selector("li[aria-posinset='50001']")
    assert page.locator("#visible li").count() < 60
