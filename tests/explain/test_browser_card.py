"""A card in the report: what a change costs, as Python says it; and a card on paper."""

import re

import numpy as np
import pandas as pd
import pytest

from bayesieve import ScoreCard


def table(n=400, k=2):
    draw = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "age": draw.integers(18, 90, n).astype(float),
            "dose": draw.gamma(2.0, 3.0, n),
            "ward": draw.choice(["north", "south", "<b>east</b>"], n),
        }
    )
    X.loc[draw.random(n) < 0.2, "dose"] = np.nan
    told = (X.age > 50) * 1.5 + (X.ward == "north") * 1.2 + X.dose.isna() + draw.logistic(size=n)
    return X, np.array(["a", "b", "c"])[np.digitize(told, np.quantile(told, np.arange(1, k) / k))]


def figures(text):
    """Share wrong, log-loss, and AUC where there is one: now, and as they were."""
    return [
        tuple(float(each) for each in pair)
        for pair in re.findall(r"([\d.]+)(?: %)? \(was ([\d.]+)(?: %)?\)", text)
    ]


@pytest.mark.parametrize("k", [2, 3])
def test_what_a_change_costs_is_what_python_says(open_page, k):
    X, y = table(k=k)
    model = ScoreCard(lines=8, pairs=[("age", "ward")] if k == 3 else []).fit(X, y)
    page = open_page(model, X, y, include_rows=True)
    page.click("summary:has-text('Move a cut-off')")
    assert page.inner_text(".card-cost").startswith("As it is: decided wrongly")
    line = next(line for line in model.card_.lines if line.column == "dose")
    mine = [each for each in model.card_.lines if each.column == "dose"]
    box = page.locator(f"#card-edit input[aria-label^='points of dose {line.condition}']").first
    box.fill(str(line.points[0] + 4))
    points = [list(each.points) for each in mine]
    points[0][0] += 4
    other = model.changed(X, y, points={"dose": points if k > 2 else [each[0] for each in points]})
    cut = page.locator("#card-edit input[aria-label='cut-off of dose']").first
    if k == 2 and cut.count():
        cuts = [each.where[0][0].low for each in mine if each.where[0][0].low is not None]
        top = mine[[each.where[0][0].low for each in mine].index(cuts[0])].where[0][0].high
        cuts[0] = cuts[0] + 0.1 if top is None or top > cuts[0] + 0.1 else cuts[0]
        cut.fill(str(cuts[0]))
        cut.press("Tab")
        other = other.changed(X, y, cuts={"dose": cuts})
    told = figures(page.inner_text(".card-cost"))
    now = other.card_.figures[0]
    assert told[0][0] == pytest.approx(100 * (1 - now.accuracy[0]), abs=0.051)
    assert told[1][0] == pytest.approx(now.log_loss[0], abs=0.000051)
    if k == 2:
        assert told[2][0] == pytest.approx(now.auc[0], abs=0.000051)
    page.click("#card-edit button:has-text('As it was')")
    assert page.inner_text(".card-cost").startswith("As it is")


def test_without_rows_there_is_a_card_and_nothing_to_move(open_page):
    X, y = table()
    page = open_page(ScoreCard(lines=6).fit(X, y), X, y)
    assert page.locator("table.card tr").count() > 4
    assert page.locator("#card-edit").count() == 0
    assert "<b>east</b>" in page.inner_text("table.card") or "south" in page.inner_text(
        "table.card"
    )


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("k", [2, 3])
def test_twenty_five_lines_are_one_sheet(viewer, tmp_path, paper, k):
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(1500, 9)), columns=[f"measure {i}" for i in range(9)])
    told = np.sin(2 * X).sum(axis=1) + draw.normal(size=1500)
    y = np.array(["a", "b", "c"])[np.digitize(told, np.quantile(told, np.arange(1, k) / k))]
    card = ScoreCard(lines=25).fit(X, y).card_
    assert card.n_lines > 18
    (tmp_path / "card.html").write_text(card.to_html("A card of many lines"), "utf-8")
    page = viewer.new_page()
    page.goto((tmp_path / "card.html").as_uri())
    page.pdf(path=tmp_path / "card.pdf", format=paper)
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", (tmp_path / "card.pdf").read_bytes())) == 1
