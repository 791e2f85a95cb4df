"""Printed evidence against its frames, and the terms of a model as a value."""

import copy
import itertools
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

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
from bayesieve.estimators import weighted
from bayesieve.explain.terms import ModelTerms, Term

CORRECTED = {"corrections": (4.0, 1.0), "price": 0.5, "pairs": True}


def table_of(seed=0, n_rows=400, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            "age": rng.normal(size=n_rows) + 1.5 * y,
            "flag": (rng.random(n_rows) < 0.2 + 0.3 * (y == 1)).astype(float),
            "kind": np.array(list("abcdefgh"))[rng.integers(0, 8 - 3 * (y == 1), n_rows)],
            "left": rng.integers(0, 2, n_rows),
            "rare": (np.arange(n_rows) % 131 == 5).astype(int),
        }
    )
    X["right"] = X["left"] ^ (y > 0) ^ (rng.random(n_rows) < 0.1)
    X.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    return X, np.array(["no", "yes", "often"])[y]


MODELS = {
    "weighted": lambda: WeightedNaiveBayes(pairs=True, price=0.0),
    "corrected": lambda: WeightedNaiveBayes(**CORRECTED),
    "counts and curves": NaiveBayes,
    "gaussian": lambda: NaiveBayes({"age": "gaussian"}),
    "selector": lambda: NaiveBayesSelector(reweigh=False, keep=["rare", "kind"]),
}


@pytest.fixture(params=MODELS, scope="module")
def fitted(request):
    X, y = table_of()
    return MODELS[request.param]().fit(X, y), X, y


# -- What is printed, against what frames have -----------------------------------------------------

NUMBER = r"(\d[\d.]*(?: \d{3})*\+?|infinity)"
SAID = re.compile(
    rf"([x/]) +{NUMBER}(?: +\( *(?:{NUMBER} to +{NUMBER})?(?:; +)?([^;()]*rows[^;()]*)?\))?"
)


def read(line):
    """Factor, ends of its interval, and rows of a printed line, as numbers."""
    sign, size, low, high, rows = list(SAID.finditer(line))[-1].groups()
    factor, *ends = (
        None if each is None else float(each.replace(" ", "").replace("+", ""))
        for each in (size, low, high)
    )
    if sign == "/":
        factor, ends = 1 / factor, [None if e is None else 1 / e for e in ends[::-1]]
    count = None
    if rows is not None:
        count = 0.0 if rows == "no rows" else float(re.sub("[^0-9.]", "", rows))
        assert ("few" in rows) == (0 < count < 5)
    return factor, *ends, count


def check(line, times, low, high, rows):
    """Two digits of the very numbers of a frame."""
    found = read(line)
    wanted = [None if pd.isna(x) else x for x in (times, low, high)]
    assert [x is None for x in found[:3]] == [x is None for x in wanted]
    for one, other in zip(found, wanted, strict=False):
        if one is not None:
            np.testing.assert_allclose(one, np.clip(other, 1e-4, 1e4), rtol=0.051)
    assert (found[3] is None) == pd.isna(rows)
    if found[3] is not None:
        assert found[3] == pytest.approx(rows, abs=0.05 if rows < 4.95 else 0.5)
    return found


@pytest.mark.parametrize("calibrated", [False, True])
def test_a_printed_decision_says_the_numbers_of_its_frame(fitted, calibrated):
    model, X, _ = fitted
    if calibrated:
        model = calibrate(model, *table_of(1))
    seen = set()
    for each in explain(model, X.iloc[:25]):
        lines, frame = each.to_text().split("\n")[1:], each.to_frame("pandas")
        assert max(len(line.split("+++")[0].split("---")[0]) for line in lines) <= 80
        for line, (_, bar) in zip(lines, frame.iterrows(), strict=True):
            wanted = [bar[name] for name in ("times as likely", "low", "high", "rows")]
            found = check(line.split(bar["feature"], 1)[1].split(" = ")[-1], *wanted)
            seen.add(tuple(x is None for x in found))
            assert line == line.rstrip()
    assert len(seen) > 1  # with an interval and without


def test_logarithms_have_their_intervals_too(fitted):
    model, X, _ = fitted
    (each,) = explain(model, X.iloc[:1])
    text = each.to_text(nat=True)
    for bar in each.evidence:
        if bar.low is not None:
            assert re.search(rf"\( *\{bar.low:+.3f} to +\{bar.high:+.3f}", text)
    assert " to " in text


def test_numbers_of_a_printed_decision_stand_below_each_other(fitted):
    model, X, _ = fitted
    for each in explain(model, X.iloc[:5]):
        lines = each.to_text().split("\n")[1:]
        assert len({line.index(" to ", line.index("(", 8)) for line in lines if " to " in line}) < 2
        assert len({len(line.split("+")[0]) for line in lines if "+++" in line}) < 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_printed_model_says_what_speaks_most_for_each_class(n_classes):
    X, y = table_of(2, n_classes=n_classes)
    for model in (WeightedNaiveBayes(**CORRECTED).fit(X, y), NaiveBayes().fit(X, y)):
        whole = explain_model(calibrate(model, *table_of(3, n_classes=n_classes)))
        pairs = {
            both: whole.cells(*both).to_frame("pandas")
            for both in itertools.permutations(whole.classes, 2)
        }
        text, n_seen = whole.to_text(), 0
        assert all(f"  {each.feature}\n" in f"{text}\n" for each in whole.features)
        for line in text.split("\n")[2:]:
            if " for " not in line:
                name = re.fullmatch(r" *x [\d. ]+  (.*)", line)[1]
            else:
                says, target = line.rsplit(" for ", 1)
                target, *over = target.split(" over ")
                assert len(over) == n_classes - 2
                others = [c for c in whole.classes if c != target]
                frames = [pairs[target, other] for other in others]
                frames = [frame[frame["feature"] == name] for frame in frames]
                least = np.min([frame["times as likely"] for frame in frames], axis=0)
                at = int(least.argmax())  # ahead of the nearest class
                near = over[0] if over else others[0]
                row = frames[others.index(near)].iloc[at]
                found = check(says, *row[["times as likely", "low", "high", "rows"]])
                np.testing.assert_allclose(found[0], min(least[at], 1e4), rtol=0.051)
                n_seen += 1
        assert n_seen >= len(whole.features)


def test_what_is_all_correction_prints_no_interval():
    X, y = table_of()
    card = ScoreCard(lines=4).fit(X[["age", "flag", "left"]], y)
    shown = explain_model(card).to_text().split("\n")[2:] + [
        line
        for each in explain(card, X[["age", "flag", "left"]])
        for line in each.to_text().split("\n")[1:]
    ]
    assert any("rows)" in line for line in shown)
    assert not any(re.search(r"\(.* to ", line) for line in shown)


# -- Terms as a value ------------------------------------------------------------------------------


def test_terms_show_a_line_each(fitted):
    model, X, _ = fitted
    if isinstance(model, NaiveBayes):
        return
    terms = model.terms_
    lines = repr(terms).split("\n")
    assert len(lines) == 2 + len(terms)
    assert max(map(len, lines)) < 80
    assert lines[0].startswith(f"<{len(terms)} terms of {type(model).__name__}")
    frame = terms.to_frame("pandas")
    found = zip(lines[2:], terms, frame.iterrows(), strict=True)
    for line, term, (_, row) in found:
        assert line.endswith(term["name"])
        assert row["term"] == term["name"]
        assert row["kind"] in line
        assert f"{row['rows']}" in line
        assert row["rows"] == X.iloc[:, list(term["columns"])].notna().all(axis=1).sum()
        assert row[["weight for no", "weight for yes"]].tolist() == term["weights"].tolist()
        assert repr(term).count("\n") == 0
        assert repr(term).startswith(f"<Term: {term['name']}: {term['kind']}, weight")
    kinds = {"age": "number", "kind": "category", "flag": "yes/no", "left x right": "pair"}
    assert all(kinds.get(term["name"], term["kind"]) == term["kind"] for term in terms)


def test_shares_are_those_of_explain_model(fitted):
    model, _, _ = fitted
    if isinstance(model, NaiveBayes):
        return
    terms, ranked = model.terms_, dict(explain_model(model).ranked())
    total = sum(ranked.values())
    for term in terms:
        assert term["share"] == term.share == pytest.approx(ranked[term["name"]] / total)
    assert sum(term["share"] for term in terms) == pytest.approx(1)
    part = terms[1:]
    assert part.to_frame("pandas")["share"].tolist() == [term["share"] for term in terms[1:]]


def test_intervals_are_those_of_cells(fitted):
    model, _, _ = fitted
    if isinstance(model, NaiveBayes):
        return
    cells = explain_model(model).cells().to_frame("pandas")
    text = model.terms_.to_text()
    for term in model.terms_:
        mine = cells[cells["feature"] == term["name"]].reset_index(drop=True)
        told = np.array([(np.nan, np.nan) if x is None else x for x in term["interval"]])
        assert np.array_equal(mine[["low", "high"]].astype(float), told, equal_nan=True)
        own = term.to_frame("pandas")
        pd.testing.assert_frame_equal(own, mine[own.columns], check_dtype=False)
        told = term.to_text(most=1000).split("\n")[2:]
        assert term.to_text().split("\n")[0] in text
        for line, value, (_, row) in zip(told, mine["value"], mine.iterrows(), strict=True):
            found = line.strip().removeprefix(value.removesuffix(".0"))
            check(found, *row[["times as likely", "low", "high", "rows"]])


def test_intervals_of_counts_are_their_definition():
    """Of the rows of two classes with a value, the share of one has a Beta posterior."""
    X, y = table_of(4)
    model = NaiveBayesSelector(NaiveBayes("bernoulli"), reweigh=False, keep=["flag"])
    (term,) = [t for t in model.fit(X[["flag", "right"]], y).terms_ if t["name"] == "flag"]
    whole = [(y == name).sum() + 1 for name in ("no", "yes")]
    for value, (low, high) in enumerate(term["interval"]):
        m, n = (((X["flag"] == value) & (y == name)).sum() + 1 for name in ("no", "yes"))
        vary = 1 / n + 1 / m
        more = vary / (vary - 1 / whole[0] - 1 / whole[1])
        share = beta.ppf([0.05, 0.95], n * more, m * more)
        times = (n / (whole[1] + 1)) / (m / (whole[0] + 1)) * share / (1 - share) / (n / m)
        np.testing.assert_allclose([low, high], times)


def test_long_terms_are_cut_in_the_middle(fitted):
    model, _, _ = fitted
    if isinstance(model, NaiveBayes):
        return
    for term in model.terms_:
        cells, n = term.to_text(most=1000).split("\n")[2:], len(term["interval"])
        assert len(cells) == n
        lines = term.to_text(most=4).split("\n")[2:]
        if n > 4:
            assert lines[2] == f"  ... {n - 4} more, which to_frame() has, too"
            kept = [read(line) for line in lines[:2] + lines[3:]]
            assert kept == [read(line) for line in cells[:2] + cells[-2:]]
        else:
            assert lines == cells


def test_terms_are_a_sequence_and_a_value():
    X, y = table_of()
    model = WeightedNaiveBayes(pairs=True, price=0.0).fit(X, y)
    terms = model.terms_
    assert isinstance(terms, ModelTerms)
    assert [term["name"] for term in terms] == model.__procedure__().term_names
    assert isinstance(terms[0], Term)
    assert isinstance(terms[-2:], ModelTerms)
    assert terms[:2] == list(terms)[:2]
    assert terms == model.terms_
    for other in (copy.copy(terms), copy.deepcopy(terms), pickle.loads(pickle.dumps(terms))):
        assert other == terms
        assert repr(other) == repr(terms)
    assert terms != model.at(1).terms_
    other = WeightedNaiveBayes(pairs=True, price=0.0).fit(*table_of(1)).terms_
    assert [a == b for a, b in zip(terms, other, strict=False)] == [False] * min(
        len(terms), len(other)
    )
    assert set(terms[0]) == set(dict(terms[0])) == set(terms[0].to_dict())
    assert len(terms[0]) == len(dict(terms[0]))
    with pytest.raises(KeyError, match="colour"):
        terms[0]["colour"]
    json.dumps([term.to_dict() for term in terms])
    assert repr(model.at(0).terms_) == "<0 terms of WeightedNaiveBayes>"
    assert model.at(0).terms_.to_frame("pandas").empty


def test_tables_are_made_when_they_are_asked_for(monkeypatch):
    X, y = table_of()
    model = WeightedNaiveBayes().fit(X, y)
    n_made = []
    monkeypatch.setattr(weighted, "term_rows", lambda *_: n_made.append(1))
    monkeypatch.setattr(type(model._fits[0].book), "table", lambda *_: n_made.append(1))
    terms = model.terms_
    assert [term["name"] for term in terms]
    assert not n_made
    assert terms[0]["rows"] is None
    assert terms[0]["rows"] is None
    assert n_made == [1]


def test_terms_stay_what_they_were_when_the_model_is_fitted_again():
    X, y = table_of()
    model = WeightedNaiveBayes(pairs=False).fit(X, y)
    wanted = copy.deepcopy(model.terms_)
    shown, terms = repr(wanted), model.terms_
    model.fit(*table_of(1))
    assert terms == wanted
    assert repr(terms) == shown


@pytest.mark.parametrize("shared", [True, False])
def test_terms_of_labels_hold_lists(shared):
    X, y = table_of(0, n_classes=3)
    Y = pd.DataFrame({"one": y == "no", "two": y == "yes"})
    model = WeightedNaiveBayes(shared_terms=shared).fit(X, Y)
    terms = model.terms_
    assert len(repr(terms).split("\n")) == 2 + len(terms)
    for each in ("one", "two"):
        ranked = dict(explain_model(model, label=each).ranked())
        mine = [term for term in terms if shared or term["label"] == each]
        at = ["one", "two"].index(each) if shared else 0
        for term in mine:
            share = ranked[term["name"]] / sum(ranked.values())
            assert term["share"][at] == pytest.approx(share)
            cells = explain_model(model, label=each).cells().to_frame("pandas")
            cells = cells[cells["feature"] == term["name"]]
            told = [np.nan if x is None else x[0] for x in term["interval"][at]]
            assert np.array_equal(cells["low"], told, equal_nan=True)
            assert term.cells(label=each).low == term.cells(label=each).low
            assert f"{each}: " in term.to_text()
        assert sum(term["share"][at] for term in mine) == pytest.approx(1)
    assert "label" in terms.to_frame("pandas") or shared
    with pytest.raises(ValueError, match="label must be one of"):
        terms[0].cells(label="three")


def test_votes_have_names_only():
    X, y = table_of()
    terms = NaiveBayesSelector(FeatureVotes()).fit(X[["flag", "left", "right"]], y == "yes").terms_
    assert len(repr(terms).split("\n")) == 2 + len(terms)
    assert terms[0]["table"] is terms[0]["weights"] is terms[0]["interval"] is None
    assert terms[0].to_text() == f"{terms[0]['name']}: vote"
    assert "<details" not in terms.to_html()
    with pytest.raises(ValueError, match="no log-ratios"):
        terms[0].cells()


def test_pages_of_terms_need_no_script_and_no_colours():
    X, y = table_of()
    model = WeightedNaiveBayes(pairs=True, price=0.0)
    terms = model.fit(X.rename(columns={"age": "<b>age</b>"}), y).terms_
    page = terms.to_html()
    assert page == terms._repr_html_()
    assert page.count("<details>") == 2 * len(terms)  # a term, and its values within
    assert page.count('class="shape"') == len(terms)
    assert "<b>age" not in page
    assert "&lt;b&gt;age" in page
    assert "script" not in page
    assert "color" not in page
    for term in terms:
        shown = [each for each in term["interval"][:60] if each is not None]
        assert all(low <= high for low, high in shown)
        assert len(re.findall(r"<td>[\d. +]+ to [\d. +]+</td>", term.to_html())) == len(shown)
