"""One number for one thing: every screen shows the same text for the same evidence."""

import math
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, calibrate, explain
from bayesieve.estimators.naive_bayes import bayes_of
from bayesieve.explain.report import explanations_page
from bayesieve.explain.text import factor_in_words, few_digits
from bayesieve.plot import EvidenceDisplay
from pages import mixed, pick_row

FACTOR = re.compile(r"([x/]) +(\d+(?: \d{3})*(?:\.\d)?\+?|infinity)")


def first_factor(text):
    """A factor as it is written, whatever room it is given."""
    sign, size = FACTOR.search(text).groups()
    return f"{sign} {size.strip()}"


def two(seed=0, n=300):
    X, y = mixed(seed, n)
    return X, np.where(y == "it's", "no", y)


MODELS = {
    "plain": NaiveBayes(),
    "curves": NaiveBayes({"size": "gaussian"}),
    "selector": NaiveBayesSelector(random_state=0, keep=["size", "steps", "kind", "flag"]),
    "weighted": WeightedNaiveBayes(pairs=True, price=1.0, pair_price=0.0),
}


def with_a_pair(data):
    X, y = data
    return X.assign(other=(X["flag"] ^ (y == "no")).astype(int)), y


@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("data", [two, mixed])
def test_every_screen_says_the_same(open_page, data, name, calibrated):
    X, y = with_a_pair(data())
    model = clone(MODELS[name]).fit(X, y)
    if calibrated:
        model = calibrate(model, *with_a_pair(data(seed=1)))
    page = open_page(model, X, y, include_rows=True)
    fitted = bayes_of(model).fitted_
    names = [spec.name for spec in fitted.specs]
    pairs = [[names[j] for j in pair.columns] for pair in fitted.only.pairs]
    assert bool(pairs) == (name == "weighted")
    lines = {"(prior)": "prior", **{each: j for j, each in enumerate(names)}}
    lines |= {" x ".join(pair): len(names) + p for p, pair in enumerate(pairs)}
    for row in (0, 11, 22, 5, 60):  # with and without values
        each = explain(model, X.iloc[[row]])[0]
        wanted = {bar.feature: factor_in_words(bar.log_ratio, bar.rows) for bar in each.evidence}
        numbers = {bar.feature: factor_in_words(bar.log_ratio) for bar in each.evidence}
        printed = each.to_text().split("\n")[1:]
        told = list(numbers.values())
        assert [first_factor(line.split(bar.feature, 1)[1].replace(f"= {bar.value} ", "  "))
                for line, bar in zip(printed, each.evidence, strict=True)] == told  # fmt: skip
        assert each._shown()["times as likely"] == told
        assert re.findall(r">([x/] [^<]*)</td>", each._repr_html_()) == told
        shown = re.findall(r'<td class="ratio">(.*?)</td>', explanations_page([(row, each)]))
        whole = [factor_in_words(b.log_ratio, b.rows, b.low, b.high) for b in each.evidence]
        assert [re.sub("<.*?>", "", cell) for cell in shown] == whole
        ax = EvidenceDisplay(each).plot().ax_
        assert [text.get_text() for text in ax.texts] == list(wanted.values())
        mpl.pyplot.close(ax.figure)
        pick_row(page, row)
        said = {feature: page.inner_text(f"#bar-{line} .ratio") for feature, line in lines.items()}
        assert {feature: said[feature] for feature in wanted} == wanted
        strongest = [b for b in each.evidence if b.status != "prior"][:3]
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        on_paper = page.eval_on_selector_all(
            ".reasons-on-paper td:last-child", "es => es.map(e => e.textContent)"
        )
        assert on_paper == [wanted[bar.feature] for bar in strongest]


def test_what_a_term_says_is_what_its_bar_says(open_page):
    (X, y), (other, again) = two(), two(1)
    X, other = (
        pd.DataFrame({"kind": "a " + each["kind"].fillna("none"), "flag": each["flag"]})
        for each in (X, other)
    )
    model = calibrate(NaiveBayes().fit(X, y), other, again)
    page = open_page(model, X, y)
    looks = page.inner_text("section:has(> #looks)")
    told = dict(re.findall(r"^(a \w+|yes|no): ([x/] .*?) for ", looks, re.MULTILINE))
    assert {"yes", "no"} < set(told)
    seen = set()
    for row in range(40):
        each = explain(model, X.iloc[[row]])[0]
        for bar in each.evidence[1:]:
            value = {0: "no", 1: "yes"}.get(bar.value, bar.value)
            if value in told:
                seen.add(value)
                assert told[value] == factor_in_words(abs(bar.log_ratio), bar.rows)
    assert seen == set(told)


def test_pages_write_factors_as_python_does(open_page):
    X, y = two()
    page = open_page(NaiveBayes().fit(X, y), X, y)
    draw = np.random.default_rng(0)
    cases = [[float(a), None, None, None] for a in draw.normal(0, 4, 300)]
    for nat in draw.normal(0, 2, 300):
        low, high = nat - draw.exponential(2), nat + draw.exponential(2)
        rows = float(draw.choice([0, 0.4, 1, 4, 4.25, 5, 12, 99.5, 1234, 1234567]))
        cases.append([float(nat), rows, float(low), float(high)])
    cases += [[x, None, None, None] for x in (0.0, 9.21, 9.2103, 9.22, 40.0)]
    told = page.evaluate("cases => cases.map(each => Words.factor(...each))", cases)
    assert told == [factor_in_words(*each) for each in cases]
    assert page.evaluate("[Infinity, -Infinity].map(x => Words.factor(x))") == [
        factor_in_words(math.inf),
        factor_in_words(-math.inf),
    ]


def test_intervals_and_rows_stand_behind_a_factor():
    nat = math.log(3.1)
    assert factor_in_words(nat, 12) == "x 3.1 (12 rows)"
    assert factor_in_words(nat, 12, math.log(1.4), math.log(7.04)) == "x 3.1 (1.4 to 7; 12 rows)"
    # Where evidence divides, so do the ends of its interval.
    assert factor_in_words(-nat, 3, -math.log(7.04), math.log(1.25)) == (
        "/ 3.1 (0.8 to 7; few rows: 3)"
    )
    assert factor_in_words(nat, 0, -20.0, 20.0) == "x 3.1 (0.0001 to 10 000+; no rows)"
    assert [few_digits(x) for x in (0.25, 1.25, 12.5, 125.0)] == ["0.3", "1.3", "13", "130"]


def test_a_frame_and_a_page_tell_the_same_rows():
    X, y = two()
    model = NaiveBayes().fit(X, y)
    found = explain(model, X.iloc[[0]])[0]
    frame = found.to_frame("pandas")
    page = re.sub("<.*?>", "", explanations_page([(0, found)]))
    for _, bar in frame.iterrows():
        ends = [None if pd.isna(each) else math.log(each) for each in bar[["low", "high"]]]
        rows = None if pd.isna(bar["rows"]) else bar["rows"]
        assert factor_in_words(bar["log-ratio"], rows, *ends) in page
