"""What a report says can be taken at its word: changes, colours, rules and stories."""

import re

import numpy as np
import pandas as pd
import pytest

from bayesieve import NaiveBayes, WeightedNaiveBayes, calibrate, decide, deploy
from bayesieve.evaluation.decide import rule_in_words
from bayesieve.explain.report import make_report
from bayesieve.explain.report.content import report_content
from bayesieve.explain.report.sections import fates, rule_cost
from pages import mixed, pick_row
from plain import plain_selector

# Each change that the page names, made by hand: [row, change, what is decided then].
_TRY_FLIPS = """() => {
  const {explorer, data} = window.report, {features} = explorer, found = [];
  data.rows.at.forEach((row, i) => {
    explorer.pickRow(i);
    for (const {name, value, to} of explorer.told().flips) {
      const j = features.findIndex(each => each.name === name), {levels, model} = features[j];
      const number = value.match(/^(up to|above|from|down to|about) (.*)$/);
      const shown = each => model === "bernoulli" ? ["no", "yes"][each] : String(each);
      const tried = [...explorer.state.values];
      if (levels === null) tried[j] = Number(number[2]) + (number[1] === "above" ? 1e-9 : 0);
      else tried[j] = levels.findIndex(each => shown(each) === value);
      found.push([row, value, to, explorer.className(explorer.judge(tried).decision)]);
    }
  });
  return found;
}"""


@pytest.mark.parametrize(
    ("features", "far"), [("auto", 30_000), ({"size": "gaussian", "steps": "kernel"}, 0)]
)
def test_what_would_change_the_decision_does(open_page, features, far):
    X, y = mixed(0, 200)
    X["size"] += far
    X["steps"] = -X["steps"] - far
    model = NaiveBayes(features).fit(X, y)
    page = open_page(model, X, y, include_rows=True)
    found = page.evaluate(_TRY_FLIPS)
    assert len(found) > 100
    assert [each for each in found if each[2] != each[3] or "NaN" in each[1]] == []
    texts = [each[1] for each in found if far == 0]
    assert max(map(len, texts), default=0) < 20


def test_the_sheet_says_who_is_more_probable(open_page):
    """A rule may decide what is not the most probable."""
    X, y = mixed(2, 400)
    X, y = X[y != "it's"].reset_index(drop=True), y[y != "it's"]
    costs = {"no": {"yes": 1}, "yes": {"no": 10}}
    model = decide(NaiveBayes().fit(X[::2], y[::2]), X[1::2], y[1::2], costs=costs)
    chance = model.predict_proba(X)[:, 1]
    row = int(np.flatnonzero((chance > 0.15) & (chance < 0.4))[0])
    assert model.predict(X.iloc[[row]])[0] == "yes"
    page = open_page(model, X, y, include_rows=True)
    pick_row(page, row)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    told = page.text_content("#sheet .sheet p:nth-of-type(2)")
    assert f"no is {(1 - chance[row]) / chance[row]:.1f} times as probable" in told


def test_a_class_has_one_colour(open_page):
    X, y = mixed(3)
    page = open_page(NaiveBayes().fit(X, y), X, y, include_rows=True)
    classes = ["it's", "no", "yes"]
    colour = "(e, which) => getComputedStyle(e)[which]"
    told = {
        name: page.eval_on_selector(f".says .class.c{k}", colour, "color")
        for k, name in enumerate(classes)
    }
    assert len(set(told.values())) == 3
    for row in range(12):
        pick_row(page, row)
        for end, side in (("for", "target"), ("against", "against")):
            name = classes[int(page.input_value(f"#{side}"))]
            assert page.eval_on_selector(f"#side-{end}", colour, "color") == told[name]
            sticks = page.query_selector_all(f"#bars .stick.{end}")
            assert {each.evaluate(colour, "backgroundColor") for each in sticks} <= {told[name]}
    for chart in ("roc", "calibration"):
        lines = page.eval_on_selector_all(
            f'[data-chart="{chart}"] path.line', "es => es.map(e => getComputedStyle(e).stroke)"
        )
        assert lines == [told[name] for name in classes]


def ruled(**wanted):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(900) < 0.3, "fault", "normal")
    X = pd.DataFrame({name: rng.normal(0.9 * (y == "fault"), 1.0) for name in "abc"})
    model = NaiveBayes().fit(X[:300], y[:300])
    return decide(model, X[300:600], y[300:600], **wanted), X[600:], y[600:]


def test_the_verdict_does_not_speak_for_a_rule_that_it_did_not_judge():
    costs = {"normal": {"fault": 1}, "fault": {"normal": 10}}
    model, X, y = ruled(costs=costs, abstain=0.5)
    page = make_report(model, X, y)
    first = re.search(r'<p class="sentence">(.*?)</p>', page)[1]
    best = model.classes_[model.predict_proba(X).argmax(1)]
    # What a rule is for comes first: its cost, against the best decision that looks at nothing.
    table = np.array(model.decision_.tables[0])
    weights = np.array(model.decision_.rules[0].costs)
    asked, n_rows = table[:, 2].sum(), table.sum()
    wrong = n_rows - asked - table[0, 0] - table[1, 1]
    always = (table.sum(1) @ weights / n_rows).min()
    cost = f"{(table * weights).sum() / n_rows:.3g} a row"
    assert first == (
        f"Its decisions cost {cost}, against {always:.3g} with always asking; "
        f"{100 * (best != y).mean():.1f} % would be wrong if it decided the most probable class."
    )
    assert re.findall(r'class="figure">(.*? a row)<', page) == [cost, f"{always:.3g} a row"]
    assert (
        f"({n_rows}), {100 * wrong / n_rows:.1f} % were decided wrongly and "
        f"{100 * asked / n_rows:.1f} % referred to a person."
    ) in page


def test_a_rule_that_costs_no_less_than_a_constant_is_called_bad():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(900) < 0.3, "fault", "normal")
    X = pd.DataFrame({name: rng.normal(size=900) for name in "abc"})  # tell nothing
    model = decide(
        NaiveBayes().fit(X[:300], y[:300]), X[300:600], y[300:600], costs=[[0, 5], [1, 0]]
    )
    verdict = report_content(model, X[600:], y[600:])["judgement"]
    assert verdict["tone"] == "bad"
    assert verdict["sentence"].startswith("Its decisions cost no less than a constant one: ")
    # Twice the rows tell more: the same shares of decisions, surely cheaper only where rows do.
    told = {
        "label": None,
        "classes": ["a", "b"],
        "decisions": ["a", "b"],
        "costs": [[0, 1], [1, 0]],
    }
    for n, better in ((10, False), (1000, True)):
        counts = [[0.6 * n, 0.0], [0.3 * n, 0.1 * n]]  # 10 % of the rows right, that b would win
        cost = rule_cost([{**told, "counts": counts}])
        assert (cost.own, cost.blind) == (pytest.approx(0.3), pytest.approx(0.4))
        assert (cost.always, cost.better) == ("always “a”", better)
    assert not rule_cost([{**told, "counts": counts}], counted=0.01).better
    assert rule_cost([{**told, "counts": counts, "costs": None}]) is None


def test_elsewhere_a_rule_is_told_as_it_decides_there():
    model, X, y = ruled(costs=[[0, 5], [1, 0]])
    rare = deploy(model, {"fault": 0.01, "normal": 0.99})
    decided = report_content(rare, X, y)["decided"][0]
    wanted = [
        [int(((y == true) & (rare.predict(X) == each)).sum()) for each in rare.classes_]
        for true in rare.classes_
    ]
    assert decided["counts"] == wanted
    assert decided["source"] == "Of the rows given"
    model, X, y = ruled(max_false_alarms=0.05)
    elsewhere = "by the shares of the classes where the rule was made"
    assert elsewhere not in " ".join(rule_in_words(model.fitted_.only))
    rare = deploy(model, {"fault": 0.01, "normal": 0.99})
    assert rule_in_words(rare.fitted_.only)[0].endswith(elsewhere)


def test_terms_after_the_choice_were_not_selected():
    X, y = mixed(5, 400)
    model = WeightedNaiveBayes(random_state=0).fit(X, y)
    told = {name: (fate, story) for name, fate, story in fates(model, {})}
    assert {fate for fate, _ in told.values()} == {"selected"}
    assert "was taken as the first term" in [story for _, story in told.values()]
    path = model.path_
    assert path.chosen > 1
    path.chosen = 1
    names = {path.name_of(term) for term in path.states[1].terms}
    told = {name: fate for name, fate, _ in fates(model, {})}
    assert {name for name, fate in told.items() if fate == "selected"} == names
    assert "never chosen" in told.values()


def test_stories_are_plain():
    X, y = mixed(4)
    selector = plain_selector(search="forward", random_state=0, n_features=2).fit(X, y)
    told = {fate: story for _, fate, story in fates(selector, {})}
    assert re.fullmatch(r"was taken as the (first|second) column \(step \d\)", told["selected"])
    page = make_report(selector, X, y, n_resamples=0)
    assert "kernel" not in re.sub(r"<details.*?</details>", "", page.split("<script")[0])
    assert "decided wrongly; the true class" in page


@pytest.mark.parametrize("asks", [False, True])
def test_what_comes_later_has_the_kind_of_what_comes_now(asks):
    """A rule without a report of its own, as after `calibrate`, still asks a person."""
    dask = pytest.importorskip("dask.dataframe")
    X, y = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 2
    X = pd.DataFrame(X + y[:, None], columns=["a", "b"])
    wanted = {"abstain": 0.2} if asks else {"max_false_alarms": 0.2}
    model = decide(NaiveBayes().fit(X[:150], y[:150]), X[150:], y[150:], **wanted)
    model = calibrate(model, X[150:], y[150:])
    found = model.predict(dask.from_pandas(X, npartitions=2))
    assert found.dtype == model.predict(X).dtype
    assert found.compute().tolist() == model.predict(X).tolist()
