"""Weights and pairs of columns in the page of a report, in a real browser."""

from dataclasses import replace

import numpy as np
import pytest

from bayesieve import WeightedNaiveBayes, calibrate, explain_model
from pages import chances, mixed, pick_row
from weighted import terms_of

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


@pytest.mark.parametrize("missing", [pytest.param("silent", marks=pytest.mark.slow), "evidence"])
def test_a_page_speaks_weights_and_pairs(open_page, missing):
    X, y = mixed(n=300)
    X["other"] = (X["flag"] ^ (y == "no")).astype(int)
    model = WeightedNaiveBayes(pairs=True, price=1.0, missing=missing).fit(X, y)
    assert any(len(columns) == 2 for columns in terms_of(model))
    page = open_page(model, X, y, include_rows=True)
    wanted = model.predict_proba(X)
    for row in (0, 11, 22, 5):
        pick_row(page, row)
        np.testing.assert_allclose(chances(page), wanted[row], atol=1e-9, rtol=0)


def heat_of(page, part=0):
    """What the cells of every pair show, by the pair's place: values, texts, colours' sides."""
    cells = page.eval_on_selector_all(
        f'[data-pairs="{part}"] td.heat',
        "es => es.map(e => [+e.dataset.pair, +e.dataset.cell, +e.dataset.value, "
        "e.querySelector('.nat').textContent, "
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
    model = WeightedNaiveBayes(pairs=True, price=1.0, pair_price=0.0, keep=["kind"]).fit(X, y)
    model = calibrate(model, *mixed_again(model, X))
    assert sum(len(columns) == 2 for columns in terms_of(model)) > 1
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
    # One pair of pickers serves both.
    assert page.is_hidden('[data-pairs="0"] .controls')
    page.select_option('[data-scale="0"][data-class="target"]', index=2)
    page.select_option('[data-scale="0"][data-class="against"]', index=1)
    check_heat(page, model, 2, 1)
    page.click('[data-pairs="0"] summary')
    told = [page.inner_text(f'[data-name="{which}"]') for which in ("target", "against")]
    assert told == [whole.classes[2], whole.classes[1]]


def mixed_again(model, X):
    """New rows for the same columns."""
    other, y = mixed(seed=1, n=300)
    other["other"] = (other["flag"] ^ (y == "no")).astype(int)
    other["mirror"] = other["size"] * np.where(y == "it's", -1, 1) + 3 * (y == "yes")
    return other[list(X)], y


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_heat_maps_can_be_read_on_any_screen(open_page, width, dark):
    X, y = mixed(n=300)
    X["mirror"] = X["size"] * np.where(y == "no", -1, 1)
    model = WeightedNaiveBayes(pairs=True, price=1.0, forbid=["kind"]).fit(X, y)
    page = open_page(model, X, y, width, "dark" if dark else "light")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    contrast = page.evaluate(CONTRAST)
    assert len(contrast) > 4
    assert min(contrast) >= 3  # small figures beside their colour, as the worst of both schemes


def test_pairs_alone_have_pickers_of_their_own(open_page):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2))
    y = 2 * (X[:, 0] ^ X[:, 1]) + (rng.random(400) < 0.3)
    model = WeightedNaiveBayes(pairs=True, price=1.0).fit(X, y)
    assert terms_of(model) == [(0, 1)]
    page = open_page(model, X, y)
    assert page.query_selector("[data-nomogram]") is None
    check_heat(page, model, 1, 0)
    page.select_option('[data-class="target"]', index=3)
    check_heat(page, model, 3, 0)
    assert page.locator("p.silent").count() == 2


def test_a_term_of_corrections_alone_is_told(open_page):
    """Terms that come late may have no weight: what they say is all correction."""
    X, y = mixed(n=300)
    model = WeightedNaiveBayes(pairs=False, price=0.0, corrections=(0.04, 0.0)).fit(X, y)
    fitted = model.estimator_.fitted_
    weighting = fitted.only.weighting
    assert all(weighting.correction(j) is not None for j in range(len(fitted.specs)))
    idle = replace(weighting, weights=np.zeros_like(weighting.weights))
    model.estimator_.hold(replace(fitted, problems=(replace(fitted.only, weighting=idle),)))
    page = open_page(model, X, y)
    assert page.locator("tr", has_text="only in interactions").count() == 0
    assert page.locator("p.silent").count() == 0
