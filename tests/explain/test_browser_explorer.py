"""The decision explorer of a report, in a real browser: headless Chromium, where there is one."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from bayesieve import (
    NaiveBayes,
    WeightedNaiveBayes,
    calibrate,
    decide,
    explain,
    explain_model,
    novelty,
)
from bayesieve.explain.text import factor_in_words
from bayesieve.indicators import SCORES, Indicators, Score
from pages import chances, mixed, pick_row, probability, ratio, set_slider, unfold
from plain import plain_selector


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
    page.select_option("#value-3", label="yes")
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
        pick_row(page, row)
        each = explain(selector, X.iloc[[row]])[0]
        assert page.inner_text("#probability").startswith(str(each.target))
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
    pick_row(page, 5)
    unfold(page)
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
    pick_row(page, 5)
    before = model.predict_proba(X.iloc[[5]])[0]
    np.testing.assert_allclose(chances(page), before, atol=1e-9, rtol=0)
    unfold(page)
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
    page.keyboard.press("Escape")
    assert page.is_hidden("#source")
    assert page.evaluate("document.activeElement.id") == "source-0"


def test_counts_and_what_fits_beside_the_other_terms(open_page):
    X, y = mixed(3)
    model = WeightedNaiveBayes(pairs=False, price=0.0, corrections=(2.5, 0.0)).fit(X, y)
    page = open_page(model, X, y, include_rows=True)
    whole = explain_model(model)
    feature = next(each for each in whole.features if each.feature == "kind")
    at = feature.values.index("u")
    page.select_option("#value-2", label="u")
    page.click("#source-2")
    target, against = (int(page.input_value(f"#{side}")) for side in ("target", "against"))
    told = [ratios(target, against)[at] for ratios in (feature.counted, feature.ratios)]
    assert abs(told[0] - told[1]) > 0.05
    counts, fits = (factor_in_words(each) for each in told)
    text = page.text_content("#source-said")
    assert text.startswith(f"What counts say: {counts}. What fits beside the other terms: {fits},")
    page.select_option("#value-2", label="(missing)")
    assert page.is_hidden("#source-said")


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
    model = NaiveBayes().fit(X, y)
    page = open_page(model, X, y, include_rows=True, signals=series, indicators=indicators)
    names, drawn = indicators.names_, page.locator("#signal svg")
    pick_row(page, 30)
    strongest = explain(model, X.iloc[[30]])[0].evidence[1].feature

    def look(name, row=30):
        page.click(f"#bar-{names.index(name)} button")
        return shaded(name, row)

    def shaded(name, row=30):
        spans = indicators.fired(series[row], [name])[name]
        frame, *boxes = page.eval_on_selector_all(
            "#signal .grid, #signal rect",
            """es => { const grid = es.filter(e => e.tagName === "path").map(e => e.getBBox());
            const left = Math.min(...grid.map(b => b.x));
            const right = Math.max(...grid.map(b => b.x + b.width));
            return [[left, right], ...es.filter(e => e.tagName === "rect")
              .map(e => [+e.getAttribute("x"), +e.getAttribute("width")])]; }""",
        )
        point = (frame[1] - frame[0]) / 99
        for (first, last), (x, width) in zip(spans, boxes, strict=True):
            assert (x - frame[0]) / point == pytest.approx(first, abs=0.05)
            assert width / point == pytest.approx(min(last + 1, 99) - first, abs=0.5)
        assert drawn.count() == 1
        return page.inner_text("#signal")

    # Beside the bars at once: the strongest that fired.
    assert "fired" in shaded(strongest)
    text = look("fuel: welch (window=20) > 6")
    assert "Level steps (fuel): at least one 20-point window, Welch t > 6." in text
    assert "shaded points" in text
    assert "The score fired on the whole series." in look("fuel: spread > 6")
    assert "fired nowhere" in look("oil: welch (window=20) > 6")
    assert "fuel is dashed" in look("oil, fuel: lost-correlation (window=20) > 0.5")
    assert page.locator("#signal polyline").count() == 2
    pick_row(page, 3)
    assert "fired nowhere" in look("fuel: spread > 6", 3)
    assert page.locator("#signal polyline").count() == 2  # before the gap and after it


def test_no_rows_without_leave(open_page):
    X, y = mixed(4)
    selector = plain_selector(random_state=0).fit(X, y)
    page = open_page(selector, X, y)
    assert page.query_selector("#rows") is None
    page.click("#source-0")
    assert "This page contains no rows of the table" in page.inner_text("#source-note")
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
    unfold(page)
    for g, name in enumerate(Y):
        page.select_option("#problem", label=name)
        for row in range(6):
            pick_row(page, row)
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
        shown = set() if names == "(no column)" else set(names.split(", "))
        assert shown == {X.columns[j] for j in path.subset(at)}
    assert page.locator("[data-chart] svg").count() == page.locator("[data-chart]").count()
    # The chart under the pointer leads along the path.
    page.uncheck("#path-log")
    box = page.locator("[data-chart=path] circle.chosen").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    size = len(selector.selected_)
    assert f": {size} column" in page.inner_text("#path-words")


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


@pytest.mark.parametrize("ceiling", [None, 0.2])
def test_the_page_follows_the_rule(open_page, ceiling):
    X, y = mixed(8, 600)
    model = NaiveBayes().fit(X[:200], y[:200])
    costs = np.array([[0, 1, 1], [3, 0, 1], [1, 2, 0]]) if ceiling is None else None
    model = decide(
        model, X[200:400], y[200:400], costs=costs, abstain=0.3 if ceiling is None else None,
        max_false_alarms=ceiling,
    )  # fmt: skip
    new, truth = X[400:].reset_index(drop=True), y[400:]
    new.iloc[7, :2] = 99.0
    new.loc[7, "kind"] = "never seen"
    page = open_page(model, new, truth, include_rows=True)
    wanted = ["ask a person" if each is None else each for each in model.predict(new).tolist()]
    assert len(set(wanted)) > 1
    found = page.evaluate(
        """() => { const {explorer, data} = window.report; return data.rows.at.map((_, i) => {
        explorer.pickRow(i); return explorer.told().name; }); }"""
    )
    assert found == wanted
    strange = novelty(model, new)
    assert strange[7] <= 0.01
    pick_row(page, 7)
    assert "unlike the training data" in page.inner_text("#outcome")
    row = int(np.argmax(strange))
    pick_row(page, row)
    assert "unlike" not in page.inner_text("#outcome")
    if ceiling is None and None in model.predict(new).tolist():
        pick_row(page, wanted.index("ask a person"))
        assert page.inner_text("#outcome").startswith("Ask a person")
    if ceiling is not None:
        common = max(set(y[:200]), key=list(y[:200]).count)
        alarm = next(i for i, each in enumerate(wanted) if each != common)
        pick_row(page, alarm)
        assert page.inner_text("#outcome").startswith(f"Raise alarm: {wanted[alarm]}")
    for line in model.decision_.to_text().split("\n"):
        assert line in page.inner_text(".rule")


def test_what_would_flip_a_decision_does(open_page):
    X, y = mixed(9, 300)
    X["other"] = (X["flag"] ^ (y == "no")).astype(int)
    for model in (NaiveBayes().fit(X, y), WeightedNaiveBayes(pairs=True, price=1.0).fit(X, y)):
        page = open_page(model, X, y, include_rows=True)
        names = [each["name"] for each in page.evaluate("window.report.data.portable.features")]
        for row in range(6):
            pick_row(page, row)
            flips = page.evaluate(
                """() => { const {state, features, problem} = window.report.explorer;
                return Model.flips(features, problem(), null, state.values, null); }"""
            )
            before = model.predict(X.iloc[[row]])[0]
            for flip in flips:
                changed = X.iloc[[row]].copy()
                name, value = names[flip["column"]], flip["value"]
                levels = page.evaluate(
                    f"window.report.data.portable.features[{flip['column']}].levels"
                )
                changed[name] = value if levels is None else levels[int(value)]
                after = model.predict(changed)[0]
                assert after != before
                assert after == model.classes_[flip["decision"]]
            # Binary columns: both values are tried, so that nothing is missed.
            for name in {"flag", "other"} & set(names):
                changed = X.iloc[[row]].assign(**{name: 1 - X[name].iloc[row]})
                moved = model.predict(changed)[0] != before
                assert moved == (names.index(name) in [flip["column"] for flip in flips])


def test_words_in_place_of_numbers(open_page):
    X, y = mixed(1)
    page = open_page(NaiveBayes().fit(X, y), X, y, include_rows=True)
    said = page.evaluate(
        "[1 - 9.65e-7, 0.5, 1e-9].map(Words.chance).concat([2.5, 0.01, 20].map(Words.times))"
    )
    assert said == ["≥ 99.9 %", "50.0 %", "≤ 0.1 %", "12 times", "as", "over 10 000 times"]
    assert "is 3 times as likely in" in page.inner_text("#reading")
    assert not page.locator("#evidence .nat").first.is_visible()
    page.check("#in-nat")
    assert page.locator("#evidence .nat").first.is_visible()
    assert not page.locator("#evidence .odds").first.is_visible()
