"""A browser, and reports opened in it."""

import pytest

from bayesieve.explain.report import write_report
from pages import CHROMIUM, launched


@pytest.fixture(scope="module")
def driver():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as found:
        yield found


@pytest.fixture(scope="module")
def browser(driver):
    with launched(driver) as found:
        yield found


@pytest.fixture(scope="module")
def viewer(driver):
    """A browser that can show a PDF: the other kind of headless."""
    args = ["--no-sandbox", "--headless=new"]
    with launched(driver, headless=False, args=args) as found:
        yield found


@pytest.fixture
def open_page(browser, tmp_path):
    """Write a report, open it, and fail on any console message or request but the file's own."""
    said, asked = [], []

    def open_it(model, X, y, width=1280, scheme="light", **options):
        path = tmp_path / "report.html"
        write_report(model, X, y, path, n_resamples=options.pop("n_resamples", 0), **options)
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_it
    assert said == []
    assert [url for url in asked if not url.startswith(("file://", "data:"))] == []
