"""What a report says first: is it any good, and what should make a reader careful."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom
from sklearn.datasets import load_breast_cancer

from bayesieve import (
    NaiveBayes,
    NaiveBayesSelector,
    Session,
    WeightedNaiveBayes,
    decide,
    drift,
)
from bayesieve.evaluation.ablation import ablate
from bayesieve.explain.report import make_report
from bayesieve.explain.report.content import report_content
from bayesieve.explain.text import chance_in_words, few_digits, interval, odds_in_words
from plain import plain_selector


def first_sentence(page):
    return re.search(r'<p class="sentence">(.*?)</p>', page, re.DOTALL)[1]


def telling(seed=0, n=240):
    rng = np.random.default_rng(seed)
    y = rng.choice(["calm", "gust"], n, p=[0.6, 0.4])
    X = pd.DataFrame({f"noise {j}": rng.normal(size=n) for j in range(4)})
    X["speed"] = rng.normal(1.5 * (y == "gust"), 1.0)
    X["twin"] = X["speed"] + rng.normal(0, 0.3, n)
    X["flag"] = (rng.random(n) < np.where(y == "gust", 0.8, 0.2)).astype(int)
    return X, y


@pytest.mark.parametrize("kind", ["selector", "validated", "weighted", "model"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_useless_model_says_so_first(kind, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    y = rng.choice(["no", "yes"], 300, p=[0.6, 0.4])
    made = {
        "selector": NaiveBayesSelector(random_state=0, min_features=2),
        "validated": plain_selector(random_state=0, min_features=2),
        "weighted": WeightedNaiveBayes(price=0.1, pairs=False),
        "model": NaiveBayes(),
    }[kind]
    rows = slice(0, 150) if kind == "model" else slice(None)
    model = made.fit(X[rows], y[rows])
    given = slice(150, None) if kind == "model" else slice(None)
    said = first_sentence(make_report(model, X[given], y[given], n_resamples=0))
    assert said.startswith("This model is no better than the baseline always “no”")


@pytest.mark.parametrize("weighted", [False, True])
def test_a_copy_of_the_target_is_called_a_leak_first(weighted):
    X, y = telling()
    X["code"] = np.where(y == "gust", "g", "c")
    made = WeightedNaiveBayes(pairs=False) if weighted else NaiveBayesSelector(random_state=0)
    page = make_report(made.fit(X, y), X, y, n_resamples=0)
    said = first_sentence(page)
    assert "code" in said
    assert "leak" in said
    # A finished model, on rows that are new to it, says the same.
    model = NaiveBayes().fit(X[:120], y[:120])
    assert "leak" in first_sentence(make_report(model, X[120:], y[120:]))


def test_a_good_model_is_told_beside_others():
    X, y = telling()
    selector = NaiveBayesSelector(random_state=0).fit(X, y)
    content = report_content(selector, X, y, n_resamples=0)
    verdict = content["judgement"]
    assert verdict["tone"] == "good"
    kinds = {bar["kind"]: bar for bar in verdict["bars"]}
    assert kinds["base"]["error"] == pytest.approx((y == "gust").mean())
    assert kinds["this"]["error"] == content["performance"]["error"]
    assert kinds["this"]["low"] < kinds["this"]["error"] < kinds["this"]["high"]
    assert "all 7 columns" in kinds["all"]["name"]


def test_all_columns_and_the_worth_of_each_by_a_slow_twin():
    X, y = telling(3, 200)
    selector = plain_selector(NaiveBayes("intervals"), random_state=0, keep=["speed", "flag"])
    selector.set_params(max_features=2).fit(X, y)
    names = list(X.columns[selector.support_])
    assert sorted(names) == ["flag", "speed"]
    found = ablate(selector, X, y)
    train, test = selector.guiding_rows_, selector.validation_rows_
    every = NaiveBayes("intervals").fit(X.iloc[train], y[train])
    # Cuts of intervals are made from all rows in a search, and from the training rows here.
    assert found.all_error == pytest.approx(
        (every.predict(X.iloc[test]) != y[test]).mean(), abs=0.05
    )
    binary = X[["flag"]].assign(other=(X["twin"] > 0.7).astype(int), last=X["flag"] ^ 1)
    selector = plain_selector(random_state=0, n_features=2, keep=["flag", "other"]).fit(binary, y)
    train, test = selector.guiding_rows_, selector.validation_rows_
    found = ablate(selector, binary, y)
    assert found.all_error == pytest.approx(
        (
            NaiveBayes().fit(binary.iloc[train], y[train]).predict(binary.iloc[test]) != y[test]
        ).mean()
    )

    def judged(columns):
        model = NaiveBayes().fit(binary.iloc[train][columns], y[train])
        proba = model.predict_proba(binary.iloc[test][columns])
        at = np.searchsorted(model.classes_, y[test])
        # The prior is that of the whole table, as in the model.
        share = (model.class_count_ / model.class_count_.sum()) ** -1
        proba = proba * share * (np.unique(y, return_counts=True)[1] / len(y))
        proba /= proba.sum(1, keepdims=True)
        wrong = (proba.argmax(1) != at).mean()
        return wrong, -np.log(proba[np.arange(at.size), at]).mean()

    whole = judged(["flag", "other"])
    for each, left in zip(found.worth, (["other"], ["flag"]), strict=True):
        without = judged(left)
        assert each.error == pytest.approx(without[0] - whole[0])
        assert each.loss == pytest.approx(without[1] - whole[1], rel=1e-6)
        assert each.alone == pytest.approx(judged([binary.columns[each.columns[0]]])[0])
    # What is nearly the same stands in for it: the mirror image of flag says what flag says.
    assert found.worth[0].substitute == "last"
    assert found.worth[0].substitute_loss == pytest.approx(0, abs=1e-3)


def test_all_columns_as_good_is_the_answer_and_no_praise():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 400)
    X = pd.DataFrame({f"c{j}": rng.normal(1.0 * (y == "yes"), 1.0) for j in range(10)})
    content = report_content(
        plain_selector(random_state=0, n_features=1).fit(X, y), X, y, n_resamples=0
    )
    verdict, error = content["judgement"], content["performance"]["error"]
    bars = {bar["kind"]: bar for bar in verdict["bars"]}
    every = bars["all"]["error"]
    assert every < bars["this"]["low"]  # by more than chance: ten columns tell more than one
    assert verdict["tone"] == "doubtful"
    assert verdict["sentence"] == (
        f"All 10 columns do better than the 1 chosen: {100 * every:.1f} % of the decisions are "
        f"wrong with all of them, {100 * error:.1f} % with these, "
        f"{100 * bars['base']['error']:.1f} % with {bars['base']['name']}."
    )
    assert verdict["sentence"] not in verdict["warnings"]
    # Copies: as good, and no better.
    X = pd.DataFrame({f"c{j}": X["c0"] for j in range(3)})
    X["flag"] = (y == "yes") ^ (rng.random(400) < 0.1)
    selector = plain_selector(NaiveBayes("intervals"), random_state=0, n_features=1, keep=["flag"])
    content = report_content(selector.fit(X[["flag", "c0"]].assign(c0=0.0), y),
                             X[["flag", "c0"]].assign(c0=0.0), y, n_resamples=0)  # fmt: skip
    verdict = content["judgement"]
    assert verdict["sentence"].startswith("All 2 columns do as well as the 1 chosen: ")
    assert verdict["tone"] == "doubtful"


def test_unstable_choices_name_what_could_be_swapped():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 160)
    X = pd.DataFrame({"sure": rng.normal(size=160) + 2 * y})
    told = rng.normal(size=160) + 1.5 * y
    for name in "abc":  # any of them would do
        X[name] = told + 0.1 * rng.normal(size=160)
    named = {"random_state": 0, "keep": ["sure"]}
    selector = plain_selector(NaiveBayes("density"), n_features=2, **named).fit(X, y)
    content = report_content(selector, X, y, n_resamples=10)
    (said,) = (each for each in content["judgement"]["warnings"] if "Unstable" in each)
    assert "Always there: sure." in said
    chosen = next(name for name in X.columns[selector.support_] if name != "sure")
    swap = re.search(r"nearly as well: ([abc]) \(came in (\S+) %\) in place of ([abc])", said)
    assert swap[3] == chosen != swap[1]
    came = {each["name"]: each["frequency"] for each in content["stability"]["features"]}
    assert float(swap[2]) == pytest.approx(100 * came[swap[1]])
    # Where all columns are chosen, resamples agree, whatever a measure corrected for chance says.
    selector = plain_selector(NaiveBayes("density"), n_features=4, **named).fit(X, y)
    content = report_content(selector, X, y, n_resamples=4)
    assert not any("Unstable" in each for each in content["judgement"]["warnings"])


def test_warnings_in_words():
    rng = np.random.default_rng(1)
    y = np.array(["common"] * 180 + ["rare"] * 12)
    X = pd.DataFrame(np.repeat(rng.normal(size=(192, 1)), 6, axis=1) + 0.5 * (y == "rare")[:, None])
    X.columns = list("abcdef")
    page = make_report(NaiveBayes().fit(X[::2], y[::2]), X[1::2], y[1::2])
    assert "Few rows: rare (6)" in page
    selector = NaiveBayesSelector(random_state=0, search="forward", n_features=3).fit(X, y)
    content = report_content(selector, X, y, n_resamples=4)
    told = " ".join(content["judgement"]["warnings"])
    table = np.array(content["performance"]["confusion"])
    assert ("Never predicted: rare" in told) == (table[:, 1].sum() == 0)
    # Six copies of one column make a model that is too sure.
    y = rng.choice(["a", "b"], 600)
    X = pd.DataFrame(
        np.repeat(rng.normal(y == "a", 1.0)[:, None], 6, axis=1), columns=list("abcdef")
    )
    page = make_report(NaiveBayes().fit(X[:300], y[:300]), X[300:], y[300:])
    assert "Overconfident: " in page


def test_the_rule_and_the_drift_are_told():
    X, y = telling(2, 600)
    model = decide(NaiveBayes().fit(X[:200], y[:200]), X[200:400], y[200:400], abstain=0.2)
    moved = X[400:].assign(speed=X["speed"] + 1)
    content = report_content(model, moved, y[400:])
    assert content["rules"][0]["words"] == model.decision_.to_text().split("\n")
    assert content["decided"][0]["counts"] == model.decision_.tables[0]
    assert content["decided"][0]["decisions"] == ["calm", "gust", "ask a person"]
    counts, costs = np.array(model.decision_.tables[0]), np.array([[0, 1, 0.2], [1, 0, 0.2]])
    assert content["decided"][0]["cost"] == pytest.approx((counts * costs).sum() / counts.sum())
    assert content["drift"]["moved"] == drift(model, moved).moved
    assert "speed" in content["drift"]["moved"]


def test_the_path_of_a_weighted_model_has_bands():
    X, y = telling(4)
    model = WeightedNaiveBayes(pairs=False).fit(X, y)
    path = report_content(model, X, y, n_resamples=0)["path"]
    assert [step[4] for step in path["steps"]] == pytest.approx(
        [step.score for step in model.path_.steps]
    )
    last = model.at(len(model.terms_))
    proba = last.predict_proba(X)
    losses = -np.log(proba[np.arange(len(y)), np.searchsorted(last.classes_, y)])
    assert path["bands"][-1] == pytest.approx(losses.std() / np.sqrt(len(y)), rel=1e-3)
    chosen = path["steps"][path["chosen"]]
    assert [path["names"][i] for i in chosen[1]] == [term["name"] for term in model.terms_]


def test_settings_versions_and_hashes():
    X, y = telling(5)
    selector = NaiveBayesSelector(random_state=7).fit(X, y)
    found = dict(report_content(selector, X, y, n_resamples=0)["settings"])
    assert found["seed"] == "7"
    assert found["version of numpy"] == np.__version__
    again = dict(report_content(selector, X, y, n_resamples=0)["settings"])
    assert again == found
    other = X.copy()
    other.iloc[0, 0] += 1e-9
    moved = dict(report_content(selector, other, y, n_resamples=0)["settings"])
    assert moved["hash of the rows"] != found["hash of the rows"]
    assert moved["hash of the model"] == found["hash of the model"]


@pytest.mark.parametrize(("hits", "rows"), [(0, 20), (3, 20), (20, 20), (40, 400)])
def test_intervals_are_exact(hits, rows):
    low, high = interval(hits, rows)
    if hits:
        assert binom.sf(hits - 1, rows, low) == pytest.approx(0.025)
    if hits < rows:
        assert binom.cdf(hits, rows, high) == pytest.approx(0.025)
    assert beta.cdf(low, max(hits, 1e-9), rows - hits + 1) <= 0.0251


def test_numbers_as_people_say_them():
    assert [odds_in_words(np.log(x)) for x in (12.2, 1 / 3.0, 1.01)] == [
        "12 times",
        "3.0 times",
        "as",
    ]
    assert [few_digits(x) for x in (9.94, 9.96, 99.6, 4321)] == ["9.9", "10", "100", "4 300"]
    assert chance_in_words(1 - 9.65e-7) == "≥ 99.9 %"


def test_what_an_expert_changed_is_told_with_the_reason():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    session = Session(X.iloc[:, :6], y)
    session.pin("mean texture", note="asked for by <the manual>")
    page = make_report(session.model(), X.iloc[:, :6], y, n_resamples=0)
    assert "Manual changes, and why" in page
    assert "asked for by &lt;the manual&gt;" in page
