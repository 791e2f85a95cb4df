"""What a report holds, as data and as text."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from scipy.stats import norm
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss, roc_auc_score

from bayesieve import (
    FeatureVotes,
    NaiveBayes,
    WeightedNaiveBayes,
    calibrate,
    explain,
)
from bayesieve.datasets import make_signals
from bayesieve.evaluation.performance import performance
from bayesieve.explain import explain_model
from bayesieve.explain.report import make_report, write_report
from bayesieve.explain.report.page import SCRIPTS, asset, embed, explanations_page
from bayesieve.explain.report.sections import fates
from bayesieve.explain.text import factor_in_words
from bayesieve.indicators import Indicators
from plain import plain_selector


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes", "maybe"], 200, p=[0.5, 0.3, 0.2])
    X = pd.DataFrame({f"noise {j}": rng.integers(0, 2, 200) for j in range(5)})
    X["kind"] = np.where(rng.random(200) < 0.6, y, rng.choice(["u", None], 200))
    X["size"] = rng.normal(y == "yes", 1.0)
    estimator = NaiveBayes({"size": "gaussian"})
    selector = plain_selector(estimator, random_state=0, max_features=4, keep=["size"])
    return selector.fit(X, y), X, y


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_performance_is_that_of_tables_from_the_guiding_rows(fitted):
    selector, X, y = fitted
    names = list(X.columns[selector.support_])
    guiding, validation = selector.guiding_rows_, selector.validation_rows_
    others = [name for name in names if name != "size"]
    model = NaiveBayes().fit(X.iloc[guiding][others], y[guiding])
    logs = model.predict_log_proba(X.iloc[validation][others])
    # The resolution of numbers is that of all rows, as in the search.
    half = np.diff(np.unique(X["size"])).mean() / 2
    for k, name in enumerate(model.classes_):
        mine = X["size"].iloc[guiding][y[guiding] == name]
        bell = norm(mine.mean(), mine.std(ddof=0))
        asked = X["size"].iloc[validation]
        logs[:, k] += np.log(bell.cdf(asked + half) - bell.cdf(asked - half))
    proba, truth = softmax(logs, axis=1), y[validation]
    found = performance(selector, X, y)
    assert found.rows == "validation"
    decided = model.classes_[proba.argmax(1)]
    np.testing.assert_array_equal(found.confusion, confusion_matrix(truth, decided))
    step = selector.path_.steps[selector.path_.chosen]
    assert found.error == pytest.approx(step.validation_error)
    assert found.log_loss == pytest.approx(log_loss(truth, proba))
    assert found.brier == pytest.approx(
        ((proba - (truth[:, None] == model.classes_)) ** 2).sum(1).mean()
    )
    for k, verdict in enumerate(found.verdicts):
        hit = truth == model.classes_[k]
        assert verdict.auc == pytest.approx(roc_auc_score(hit, proba[:, k]))
        assert verdict.brier == pytest.approx(brier_score_loss(hit, proba[:, k]))
        for threshold, detection, alarms in verdict.thresholds:
            said = proba[:, k] >= threshold
            assert detection == pytest.approx(said[hit].mean())
            assert alarms == pytest.approx(said[~hit].mean())
        assert sum(n for _, _, n in verdict.calibration) == len(truth)


def test_performance_without_a_validation_part_and_of_labels(fitted):
    _, X, y = fitted
    selector = plain_selector(validation=None, max_features=3).fit(X, y)
    found = performance(selector, X, y)
    assert (found.rows, found.n_rows) == ("anew", 200)
    rare = np.where(np.arange(200) < 3, "rare", y)
    selector = plain_selector(validation=None, max_features=3).fit(X, rare)
    found = performance(selector, X, rare)
    assert (found.rows, found.n_rows) == ("folds", 200)
    rng = np.random.default_rng(1)
    bits = sp.csr_array(rng.integers(0, 2, (90, 6)))
    Y = pd.DataFrame(rng.integers(0, 2, (90, 2)), columns=["fire", "flood"])
    labelled = plain_selector(criterion="auc", random_state=0).fit(bits, Y)
    found = performance(labelled, bits, Y)
    assert found.classes == ["fire", "flood"]
    assert found.confusion is None
    votes = plain_selector(FeatureVotes(), criterion="auc", random_state=0).fit(bits, Y)
    with pytest.raises(TypeError, match="needs probabilities"):
        performance(votes, bits, Y)


def test_weights_and_temperatures_are_those_of_the_selection():
    rng = np.random.default_rng(5)
    y = rng.choice(["a", "b", "c"], 240, p=[0.6, 0.3, 0.1])
    X = pd.DataFrame(rng.normal((y == "b")[:, None] + 2 * (y == "c")[:, None], 1.5, (240, 4)))
    X.columns = list("pqrs")
    weights = rng.integers(0, 4, 240)
    selector = plain_selector(random_state=0).fit(X, y, sample_weight=weights)
    found = performance(selector, X, y, weights)
    step = selector.path_.steps[selector.path_.chosen]
    assert found.error == pytest.approx(step.validation_error, abs=1e-12)
    held = selector.validation_rows_
    assert (
        np.sum(found.confusion) == weights[held].sum() == sum(v.positives for v in found.verdicts)
    )
    with pytest.raises(ValueError, match="sample_weight must be those that the selector"):
        performance(selector, X, y)
    balanced = plain_selector(random_state=0, class_weight="balanced").fit(X, y)
    table = np.array(performance(balanced, X, y).confusion)
    step = balanced.path_.steps[balanced.path_.chosen]
    # Every class weighs the same among the guiding rows.
    share = 1 / np.unique(y[balanced.guiding_rows_], return_counts=True)[1]
    right = (np.diag(table) * share).sum() / (table.sum(1) * share).sum()
    assert 1 - right == pytest.approx(step.validation_error, abs=1e-12)
    calibrated = calibrate(balanced, X, y, rows="validation")
    assert calibrated.estimator_.temperature_ != 1
    assert performance(calibrated, X, y).log_loss != performance(balanced, X, y).log_loss
    assert performance(calibrated, X, y).confusion == table.tolist()


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["a", "b"] * 20, "y holds 'b', which is not among"),
        ([0, 1] * 20, "y holds 0, which is not among"),
        (["a"] * 39, "y must have 40 rows"),
        ([["a"]] * 40, "y must hold one class a row"),
    ],
)
def test_a_model_is_judged_by_its_own_classes(y, words):
    X = np.arange(80.0).reshape(40, 2)
    model = NaiveBayes().fit(X, ["a", "c"] * 20)
    with pytest.raises(ValueError, match=words):
        make_report(model, X, y)


def test_every_column_has_its_fate(fitted):
    selector, X, _ = fitted
    found = {name: (fate, story) for name, fate, story in fates(selector, {"id": "names rows"})}
    assert set(found) == {*X.columns, "id"}
    chosen = set(X.columns[selector.support_])
    assert {name for name, (fate, _) in found.items() if fate == "selected"} == chosen
    assert found["id"] == ("eliminated", "names rows")
    forward = plain_selector(search="forward", random_state=0).fit(X, fitted[2])
    for name, fate, story in fates(forward, {}):
        at = list(X.columns).index(name)
        steps = [
            i for i, s in enumerate(forward.path_.steps) if s.action == "add" and at in s.units
        ]
        if fate == "selected":
            assert re.match(rf"was taken as the \w+ column \(step {steps[0]}\)", story)
        else:
            assert fate == "never chosen"
            assert re.match(rf"was taken as the \w+ column \(step {steps[0]}\)", story)
            assert "after the choice was made" in story


def test_rows_are_in_the_page_only_on_request(fitted):
    selector, X, y = fitted
    page = make_report(selector, X, y, n_resamples=0)
    assert data_of(page)["rows"] is None
    assert "It holds no row of the table" in page
    rows = data_of(make_report(selector, X, y, n_resamples=0, include_rows=True))["rows"]
    assert rows["at"] == list(range(200))
    assert rows["truth"] == y.tolist()
    validation = np.zeros(200, bool)
    validation[selector.validation_rows_] = True
    assert rows["validation"] == validation.tolist()
    size = [spec.name for spec in selector.estimator_.fitted_.specs].index("size")
    assert rows["values"][size] == X["size"].tolist()


def test_many_rows_are_sampled_and_the_page_says_so():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 3000)
    X = (rng.random((3000, 3)) < 0.2 + 0.5 * y[:, None]).astype(int)
    selector = plain_selector(random_state=0).fit(X, y)
    page = make_report(selector, X, y, include_rows=True, n_resamples=0)
    assert "A sample of 1000 of the 3000 rows is in this page." in page
    rows = data_of(page)["rows"]
    assert len(rows["at"]) == 1000
    assert sum(rows["validation"]) >= 500
    again = data_of(make_report(selector, X, y, include_rows=True, n_resamples=0))["rows"]
    assert rows == again


def test_a_hundred_features_stay_below_three_megabytes():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 1500)
    X = rng.normal(y[:, None], 4.0, (1500, 100))
    selector = plain_selector(search="forward", n_features=100, random_state=0).fit(X, y)
    page = make_report(selector, X, y, include_rows=True, n_resamples=2)
    assert len(selector.selected_) == 100
    assert len(page.encode()) <= 3_000_000


def test_many_labels_keep_the_page_small():
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 2, (300, 20))
    Y = pd.DataFrame((rng.random((300, 50)) < 0.4).astype(int)).add_prefix("label ")
    model = NaiveBayes().fit(bits, Y)
    page = make_report(model, bits, Y)
    assert page.count("data-nomogram=") == 8
    assert len(data_of(page)["roc"]) == 12
    assert "The first 8 of 50 labels have charts" in page
    assert len(data_of(page)["portable"]["problems"]) == 50
    assert len(page.encode()) < 3_000_000


def test_scripts_but_the_last_know_no_page():
    """Other pages use them: data in, elements out, nothing run from text."""
    assert SCRIPTS[-1] == "page.js"
    for name in SCRIPTS[:-1]:
        code = asset(name)
        assert "DATA" not in code, name
        assert "document.getElementById" not in code, name
    for name in SCRIPTS:
        assert not re.search(r"\beval\(|new Function|\.on\w+ ?=", asset(name)), name


def test_names_never_become_markup(fitted):
    assert embed({"a": "</script><script>&"}) == (
        '{"a":"\\u003c/script\\u003e\\u003cscript\\u003e\\u0026"}'
    )
    _, X, y = fitted
    odd = "</script><script>alert('x')</script>"
    X = X.rename(columns={"kind": odd})
    y = np.where(y == "no", odd, y)
    selector = plain_selector(random_state=0, keep=[odd]).fit(X, y)
    page = make_report(selector, X, y, title=odd, n_resamples=0)
    assert "<script>alert" not in page
    assert page.count("<script") == 2


def test_a_model_alone_has_a_report_too(fitted, tmp_path):
    _, X, y = fitted
    model = NaiveBayes().fit(X[["kind", "size"]], y)
    write_report(model, X[["kind", "size"]], y, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert 'id="search"' not in page
    assert "Error on the 200 rows given, which trained the model" in page
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_a_failure_leaves_no_half_report(fitted, tmp_path, monkeypatch):
    selector, X, y = fitted

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(selector, X, y, tmp_path / "r.html", n_resamples=0)
    assert list(tmp_path.iterdir()) == []


def test_single_decisions_as_a_page(fitted):
    _, X, y = fitted
    odd = "<script>alert(1)</script>"
    model = NaiveBayes().fit(X.rename(columns={"kind": odd}), y)
    found = explain(model, X.rename(columns={"kind": odd})[:3])
    page = explanations_page(list(enumerate(found)), "Three decisions")
    assert page.count("<section") == 3
    assert "<script" not in page
    for each in found:
        for bar in each.evidence:
            assert factor_in_words(bar.log_ratio, bar.rows, bar.low, bar.high) in re.sub(
                "<.*?>", "", page
            )


def test_where_an_indicator_fired():
    signals = make_signals(40, 14, random_state=0)
    indicators = Indicators()
    X = pd.DataFrame(
        indicators.fit_transform(signals.series), columns=indicators.get_feature_names_out()
    )
    selector = plain_selector(random_state=0, max_features=5).fit(X, signals.y)
    page = make_report(
        selector, X, signals.y, include_rows=True, n_resamples=0, signals=signals.series,
        indicators=indicators,
    )  # fmt: skip
    shown = data_of(page)["rows"]["signals"]
    names = [spec.name for spec in selector.estimator_.fitted_.specs]
    for row, each in shown.items():
        series = signals.series[int(row)]
        assert each["length"] == len(series)
        wanted = indicators.fired(series, names)
        assert {int(j): [tuple(s) for s in spans] for j, spans in each["fired"].items()} == {
            j: wanted[name] for j, name in enumerate(names) if wanted[name]
        }
    assert any(each["fired"] for each in shown.values())


def test_signals_of_several_channels_speak_of_their_own():
    rng = np.random.default_rng(0)
    series = rng.normal(size=(60, 2, 80))
    y = np.repeat(["well", "broken"], 30)
    series[30:, 1, 40:] += 4
    series[::7, 0, 5] = np.nan
    indicators = Indicators(["welch", "dropouts"], channels=["oil", "fuel"])
    X = pd.DataFrame(indicators.fit_transform(series), columns=indicators.names_)
    model = NaiveBayes().fit(X, y)
    page = make_report(
        model, X, y, include_rows=True, n_resamples=0, signals=series, indicators=indicators
    )
    rows = data_of(page)["rows"]
    assert rows["channels"] == ["oil", "fuel"]
    j = indicators.names_.index("fuel: welch (window=20) > 6")
    assert rows["spoken"][str(j)] == {
        "sentence": "Level steps (fuel): at least one 20-point window, Welch t > 6",
        "channels": [1],
    }
    one = rows["signals"]["56"]
    assert [len(points) for points in one["points"]] == [80, 80]
    assert one["points"][0][5] is None
    assert one["fired"][str(j)] == [
        list(span) for span in indicators.fired(series[56], indicators.names_)[indicators.names_[j]]
    ]
    gone = indicators.names_.index("oil: dropouts > 0")
    assert one["fired"][str(gone)] == [[5, 5]]


def test_fired_windows_are_those_that_reject():
    from bayesieve.indicators.windows import window_p_values

    x = make_signals(2, 1, random_state=1).series[-1]
    indicators = Indicators().fit([x, x[::-1]])
    name = "longest run of windows (w=30) where KS rejects at 0.3 > 2"
    found = indicators.fired(x, [name])[name]
    breaks = 15 + np.flatnonzero(window_p_values(x, "KS", 30) <= 0.3)
    assert [p for lo, hi in found for p in range(lo, hi + 1)] == breaks.tolist()
    with pytest.raises(ValueError, match="names must be among the 810 indicators"):
        indicators.fired(x, ["nothing"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 1}, "n_resamples must be 0"),
        ({"n_resamples": -1}, "n_resamples"),
        ({"include_rows": "yes"}, "include_rows"),
    ],
)
def test_bad_options(fitted, options, message):
    selector, X, y = fitted
    with pytest.raises((ValueError, TypeError), match=message):
        make_report(selector, X, y, **options)


def test_what_a_chart_or_table_tells_apart_stays_apart():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, 90) + 1234560.0
    names = [f"{'the same beginning ' * 5}{end}" for end in ("a", "b")]
    X = pd.DataFrame({"code": codes, names[0]: codes % 2, names[1]: rng.integers(0, 2, 90)})
    y = np.where(codes % 3 == 0, names[0], np.where(rng.random(90) < 0.5, names[1], "c"))
    model = NaiveBayes({"code": "categorical"}).fit(X, y)
    page = make_report(model, X, y)
    for level in np.unique(codes):
        assert f'<th scope="row">{level:.0f}</th>' in page
    for name in names:
        assert page.count(name) > 1
    for lines in (data_of(page)["roc"], data_of(page)["calibration"]):
        assert len({line["name"] for line in lines}) == 3


def test_a_resample_without_a_class_leaves_the_rest_of_the_report():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (40, 3)), columns=["a", "b", "c"])
    Y = pd.DataFrame({"rare": np.arange(40) % 20 == 0, "half": np.arange(40) % 2}).astype(int)
    selector = plain_selector(criterion="auc", random_state=0).fit(X, Y)
    page = make_report(selector, X, Y, n_resamples=10)
    assert "Not computed: the search failed on a resample of the rows (label" in page


def test_the_page_names_densities_and_weights(fitted):
    _, X, y = fitted
    model = WeightedNaiveBayes(pairs=False, keep=["size"]).fit(X, y)
    size = next(each for each in explain_model(model).features if each.feature == "size")
    page = make_report(model, X, y)
    named = f"Drawn as: {size.source['density'][0]}."
    assert named in page
    weights = zip(model.classes_, size.source["weights"], strict=True)
    assert f"Weights: {', '.join(f'{name} {int(16 * w)}/16' for name, w in weights)}." in page
    # Weighted terms are no probabilities: their odds are told.
    assert " % <span" not in page
    assert named in make_report(NaiveBayes().fit(X, y), X, y)
