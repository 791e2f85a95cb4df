"""Reports on paper: printed by Chromium, and the pages looked at as pixels."""

import re

import numpy as np
import pandas as pd
import pytest

from bayesieve import NaiveBayes, explain
from bayesieve.datasets import make_signals
from bayesieve.explain.report.page import explanations_page
from bayesieve.indicators import Indicators
from pages import mixed, pick_row
from plain import plain_selector

Image = pytest.importorskip("PIL.Image")
FOR = (0x1B, 0x6C, 0xA8)
TONES = [FOR, (0xC4, 0x62, 0x10), (0x2E, 0x7D, 0x4F)]  # of classes, in their order


@pytest.fixture
def printed(viewer, tmp_path):
    """Write a page, print it, and give the number of its sheets and the pixels of the first."""

    def print_it(html, sheet=None, row=None, look=True):
        source, pdf = tmp_path / "r.html", tmp_path / "r.pdf"
        source.write_text(html, "utf-8")
        page = viewer.new_page(viewport={"width": 1280, "height": 900}, color_scheme="dark")
        page.goto(source.as_uri())
        if "data-ready" in html:
            page.wait_for_selector("html[data-ready]")
        if row is not None:
            pick_row(page, row)
        if sheet is not None:
            page.evaluate("sheet => { document.documentElement.dataset.sheet = sheet; }", sheet)
        page.pdf(path=pdf, format="A4")
        page.close()
        sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes()))
        if not look:
            return sheets, None
        page = viewer.new_page(viewport={"width": 900, "height": 1260})
        page.goto(f"{pdf.as_uri()}#toolbar=0")
        for _ in range(3000):
            page.wait_for_timeout(100)
            page.screenshot(path=tmp_path / "r.png")
            pixels = np.asarray(Image.open(tmp_path / "r.png").convert("RGB")).astype(int)
            if (pixels > 250).all(2).mean() > 0.3:  # the paper is there
                break
        page.close()
        return sheets, pixels

    return print_it


def bars(pixels, colour):
    """Widths of the runs of a colour that are as high as a bar, top down."""
    near = (np.abs(pixels - colour).sum(2) < 24).sum(1)
    found, run = [], []
    for width in [*near.tolist(), 0]:
        if width > 3:
            run.append(width)
        elif run:
            if len(run) >= 8:
                found.append(int(np.median(run)))
            run = []
    return found


def report(model, X, y, **options):
    from bayesieve.explain.report import make_report

    return make_report(model, X, y, include_rows=True, n_resamples=0, **options)


def test_one_decision_is_one_page_with_its_bars(printed):
    X, y = mixed(1)
    model = NaiveBayes().fit(X, y)
    html = report(model, X, y)
    for row in (2, 3):
        sheets, pixels = printed(html, "decision", row)
        assert sheets == 1
        told = explain(model, X.iloc[[row]])[0]
        strongest = [bar.log_ratio for bar in told.evidence[1:4]]
        mine, other = (TONES[[*model.classes_].index(each)] for each in (told.target, told.against))
        longest = max(map(abs, strongest))
        wanted = [abs(r) / longest for r in strongest if r / longest > 0.06]
        found = bars(pixels, mine)
        assert len(found) == len(wanted)
        assert np.array(found) / max(found) == pytest.approx(
            np.array(wanted) / max(wanted), abs=0.06
        )
        assert len(bars(pixels, other)) == sum(r / longest < -0.06 for r in strongest)


@pytest.mark.slow
def test_the_model_is_two_pages(printed):
    X, y = mixed(2)
    sheets, pixels = printed(report(plain_selector(random_state=0).fit(X, y), X, y), "model")
    assert sheets <= 2
    assert bars(pixels, FOR)  # its error beside that of others


def test_the_whole_report_is_printed_open(printed, open_page):
    X, y = mixed(3)
    selector = plain_selector(random_state=0, keep=list(X)).fit(X, y)
    sheets, _ = printed(report(selector, X, y), look=False)
    assert 3 <= sheets <= 9
    page = open_page(selector, X, y, scheme="dark", include_rows=True)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not(.off-paper):not([open])").count() == 0
    ink = page.evaluate(  # in one breath: a picture drawn anew in between has no style
        """() => [...new Set([...document.querySelectorAll("svg text")].map(
            e => getComputedStyle(e).fill))]"""
    )
    assert ink
    assert set(ink) <= {"rgb(0, 0, 0)", "rgb(68, 68, 68)"}
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


@pytest.mark.slow
def test_a_signal_is_on_its_sheet(printed):
    signals = make_signals(30, 10, random_state=0)
    indicators = Indicators()
    X = pd.DataFrame(indicators.fit_transform(signals.series), columns=indicators.names_)
    chosen = list(X.columns[:6])
    few = Indicators().fit(signals.series)
    model = NaiveBayes().fit(X[chosen], signals.y)
    html = report(model, X[chosen], signals.y, signals=signals.series, indicators=few)
    sheets, pixels = printed(html, "decision", 35)
    assert sheets == 1
    line = np.abs(pixels - FOR).sum(2) < 60
    assert line.any(0).sum() > 300  # the signal goes from side to side


def test_pages_of_single_decisions_keep_their_bars(printed):
    X, y = mixed(4)
    model = NaiveBayes().fit(X, y)
    found = explain(model, X[:3])
    sheets, pixels = printed(explanations_page(list(enumerate(found))))
    assert sheets == 3
    positive = sum(bar.log_ratio > 0.1 for bar in found[0].evidence)
    assert len(bars(pixels, FOR)) >= positive - 1


def test_on_paper_nothing_is_cut(browser, tmp_path):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 26, 800)
    X = pd.DataFrame(rng.normal(y[:, None], 3.0, (800, 3)), columns=list("pqr"))
    (tmp_path / "r.html").write_text(report(NaiveBayes().fit(X, y), X, y), "utf-8")
    page = browser.new_page(viewport={"width": 718, "height": 1000}, bypass_csp=True)
    page.goto((tmp_path / "r.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    page.emulate_media(media="print", color_scheme="dark")
    page.add_style_tag(content="body { width: 718px; margin: 0; }")
    cut = page.evaluate(
        "[...document.querySelectorAll('svg, table')].filter(e => e.checkVisibility() && "
        "e.getBoundingClientRect().right > 720).map(e => e.outerHTML.slice(0, 80))"
    )
    assert cut == []
