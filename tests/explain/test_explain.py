"""Evidence and model files."""

import json
import re

import jsonschema
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from bayesieve import FeatureVotes, NaiveBayes, calibrate, explain, load_model, save_model
from bayesieve.explain import explain_model
from bayesieve.explain.modelfile.file import model_from_dict, model_schema, model_to_dict
from bayesieve.export import to_python, to_sql
from plain import plain_selector

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=30, deadline=None, derandomize=True)
ODD = ["a\"b'c", "<script>alert(1)</script>", "line\nbreak", "naïve 🎲", "x" * 500]


def mixed(seed, n=60, names=("flag", "kind", "size", "dose")):
    """A table with missing values, and classes."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            names[0]: rng.integers(0, 2, n),
            names[1]: rng.choice([*ODD[:2], "plain", None], n),
            names[2]: rng.normal(size=n).round(2),
            names[3]: rng.choice([0.5, 1.0, 2.0, np.nan], n),
        }
    )
    return table, rng.choice(["no", "yes", "it's"], n)


@quick
@given(seed=seeds, smoothing=st.sampled_from([0, 0.5, 1.0, "mean"]))
def test_bars_add_up_to_the_log_odds(seed, smoothing):
    table, y = mixed(seed)
    model = NaiveBayes(smoothing=smoothing).fit(table, y)
    joint = model.predict_joint_log_proba(table)
    decided, most = model.predict(table), model.predict_proba(table).max(1)
    for i, found in enumerate(explain(model, table)):
        assert found.evidence[0].status == "prior"
        assert len(found.evidence) == 5
        sizes = [abs(bar.log_ratio) for bar in found.evidence[1:]]
        assert sizes == sorted(sizes, reverse=True)
        assert found.target == decided[i]
        assert found.probability == pytest.approx(most[i])
        bars = [bar.log_ratio for bar in found.evidence]
        if np.isfinite(bars).all():
            assert sum(bars) == pytest.approx(found.log_odds, abs=1e-9)
            a, b = (list(model.classes_).index(c) for c in (found.target, found.against))
            if np.isfinite(joint[i, [a, b]]).all():
                assert found.log_odds == pytest.approx(joint[i, a] - joint[i, b], abs=1e-9)


def test_missing_and_unseen_values_are_said():
    table, y = mixed(0)
    model = NaiveBayes().fit(table, y)
    odd = table[:1].copy()
    odd["kind"], odd["dose"] = "never seen", np.nan
    bars = {bar.feature: bar for bar in explain(model, odd)[0].evidence}
    assert (bars["kind"].status, bars["kind"].log_ratio) == ("unseen", 0.0)
    assert (bars["dose"].status, bars["dose"].value) == ("missing", None)
    text = explain(model, odd)[0].to_text()
    assert "never seen" in text
    assert "(unseen)" in text
    assert "dose = ?" in text
    json.dumps(explain(model, odd)[0].to_dict())


def test_targets_can_be_named():
    table, y = mixed(1)
    model = NaiveBayes().fit(table, y)
    found = explain(model, table[:3], target="no", against="yes")
    assert {(e.target, e.against) for e in found} == {("no", "yes")}
    back = explain(model, table[:3], target="yes", against="no")
    assert [e.log_odds for e in found] == pytest.approx([-e.log_odds for e in back])
    with pytest.raises(ValueError, match="target must be one of the classes"):
        explain(model, table, target="maybe")
    with pytest.raises(ValueError, match="must be different classes"):
        explain(model, table, target="no", against="no")
    with pytest.raises(TypeError, match="model must be a fitted NaiveBayes"):
        explain(FeatureVotes(), table)


def test_labels_and_selectors_are_explained():
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((80, 6)) < 0.3).astype(int))
    Y = pd.DataFrame(rng.integers(0, 2, (80, 2)), columns=["fire", "flood"])
    selector = plain_selector(search="forward", criterion="auc", validation=None, n_features=3).fit(
        X, Y
    )
    found = explain(selector, X[:2])
    assert [(e.row, e.target, e.against) for e in found] == [
        (0, "fire", "not fire"), (0, "flood", "not flood"), (1, "fire", "not fire"),
        (1, "flood", "not flood"),
    ]  # fmt: skip
    odds = selector.decision_function(X[:2]).ravel()
    for explanation, wanted in zip(found, odds, strict=True):
        assert explanation.log_odds == pytest.approx(wanted, abs=1e-9)
        assert sum(bar.log_ratio for bar in explanation.evidence) == pytest.approx(wanted, abs=1e-9)
    assert len(explain(selector, X[:2], target="flood")) == 2
    with pytest.raises(ValueError, match="target must be one of the labels"):
        explain(selector, X, target="storm")
    with pytest.raises(ValueError, match="against is for classes"):
        explain(selector, X, against="fire")


MODELS = [
    NaiveBayes(),
    NaiveBayes(smoothing=0),
    NaiveBayes(smoothing="mean", priors="uniform"),
    NaiveBayes(var_smoothing=1e-3, priors=[0.2, 0.3, 0.5]),
    NaiveBayes({"size": "mixture-3", "dose": "categorical"}),
    NaiveBayes({"size": "gaussian-pooled"}, rounded=True),
]


@pytest.mark.parametrize("model", MODELS)
def test_a_file_gives_the_same_model_back(tmp_path, model):
    table, y = mixed(3)
    path = tmp_path / "model.json"
    fitted = NaiveBayes(**model.get_params()).fit(table, y)
    save_model(fitted, path)
    again = load_model(path)
    np.testing.assert_array_equal(again.predict_proba(table), fitted.predict_proba(table))
    np.testing.assert_array_equal(again.terms(table), fitted.terms(table))
    assert again.predict(table).tolist() == fitted.predict(table).tolist()
    assert list(tmp_path.iterdir()) == [path]
    selector = plain_selector(model, random_state=0, n_features=2).fit(table, y)
    save_model(selector, path)
    chosen = table[list(selector.get_feature_names_out())]
    np.testing.assert_array_equal(
        load_model(path).predict_proba(chosen), selector.predict_proba(table)
    )
    text = path.read_text()
    assert "bayesieve-model" in text
    json.loads(text)


def test_labels_and_odd_names_survive_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (50, 5)), columns=ODD)
    Y = pd.DataFrame(rng.integers(0, 2, (50, 2)), columns=ODD[:2])
    model = NaiveBayes().fit(X, Y)
    save_model(model, tmp_path / "odd.json")
    again = load_model(tmp_path / "odd.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.label_names_ == ODD[:2]
    assert list(again.feature_names_in_) == ODD


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a model file"),
        ("[]", "whose 'format' is 'bayesieve-model'"),
        ('{"format": "pickle"}', "this is none of ours"),
        (
            '{"format": "bayesieve-model", "version": 99}',
            "has version 99, this bayesieve reads version 1",
        ),
        ('{"format": "bayesieve-model", "version": 1}', "is not a model file"),
    ],
)
def test_files_that_are_no_models(tmp_path, content, message):
    path = tmp_path / "model.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        load_model(path)


def test_damaged_models_are_refused(tmp_path):
    table, y = mixed(3)
    path = tmp_path / "model.json"
    save_model(NaiveBayes().fit(table, y), path)
    whole = json.loads(path.read_text())
    for change in (
        lambda d: d["features"][0].update(model="__import__('os')"),
        lambda d: d["models"][0]["statistics"][0].update(counts=[[[1.0]]]),
        lambda d: d["models"][0].update(classes=["one"]),
        lambda d: d["models"][0].pop("prior"),
        lambda d: d["parameters"].update(smoothing="lots"),
        lambda d: d["parameters"].update(surprise=1),
    ):
        data = json.loads(json.dumps(whole))
        change(data)
        path.write_text(json.dumps(data))
        with pytest.raises(ValueError, match=r"model\.json"):
            load_model(path)


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    table, y = mixed(3)
    model = NaiveBayes().fit(table, y)
    path = tmp_path / "model.json"
    path.write_text("what was there")

    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(model, path)
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]
    assert path.read_text() == "what was there"
    with pytest.raises(ValueError, match="must be fitted"):
        save_model(NaiveBayes(), path)
    with pytest.raises(TypeError, match="model must be a NaiveBayes"):
        save_model(FeatureVotes(), path)


@pytest.mark.parametrize(
    "features",
    ["auto", {"size": "mixture-2"}, {"size": "gaussian-pooled"}, {"size": "categorical"}],
)
@pytest.mark.parametrize("options", [{}, {"smoothing": 0, "priors": "uniform"}, {"rounded": True}])
@pytest.mark.filterwarnings("ignore:column 'size'", "ignore:temperature stopped")
def test_model_files_follow_the_published_schema(features, options):
    table, y = mixed(0)
    model = NaiveBayes(features, **options).fit(table, y)
    check = jsonschema.Draft202012Validator(model_schema())
    data = json.loads(json.dumps(model_to_dict(model)))
    check.validate(data)
    labels = pd.DataFrame({"a": y == y[0], "b": y == y[1]}).astype(int)
    check.validate(json.loads(json.dumps(model_to_dict(NaiveBayes(features).fit(table, labels)))))
    check.validate(json.loads(json.dumps(model_to_dict(calibrate(model, table, y)))))
    del data["models"][0]["classes"]
    assert not check.is_valid(data)


def test_model_files_are_for_readers(tmp_path):
    table, y = mixed(0)
    model = NaiveBayes().fit(table, y)
    save_model(model, tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert json.loads(text) == json.loads(json.dumps(model_to_dict(model)))
    assert f'"class_count": {model.class_count_.tolist()}' in text


@pytest.mark.parametrize("wide", [1.0, 30.0, 3e3, 3e6])
def test_importance_of_a_narrow_class_beside_a_wide_one(wide):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 500)
    x = np.concatenate([rng.normal(0.3, 1.0, 500), rng.normal(0.0, wide, 500)])
    model = NaiveBayes("gaussian", var_smoothing=0.0).fit(x[:, None], y)
    found = explain_model(model).features[0].importance[0]
    (m, s), (n, t) = ((x[y == k].mean(), x[y == k].std()) for k in (0, 1))
    exact = np.log(t / s) + (s**2 + (m - n) ** 2) / (2 * t**2) - 0.5
    assert found == pytest.approx(exact, rel=1e-9)


def test_importance_of_mixtures_is_an_integral():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 100)
    x = np.concatenate(
        [rng.normal([-8, 8] * 50, 1.0), rng.normal(0, 4, 100), rng.normal(3, 1, 100)]
    )
    model = NaiveBayes("mixture-2", var_smoothing=1e-9).fit(x[:, None], y)
    found = explain_model(model).features[0].importance
    points = np.linspace(-60, 60, 200_001)
    logs = model.fitted_.only.scale.release(model.fitted_.only.speak(0, points))
    for k in range(3):
        others = np.logaddexp(*np.delete(logs, k, 1).T) - np.log(2)
        parts = np.exp(logs[:, k]) * (logs[:, k] - others)
        assert found[k] == pytest.approx(parts.sum() * (points[1] - points[0]), rel=1e-6)


def hostile(data):
    """A model file with one thing changed, everywhere and in many ways."""
    odd = [None, "x", -1, 1e308, float("nan"), float("inf"), 10**400, [], {}, [[]], [1], "9" * 5000]
    stack = [(data, key) for key in data]
    while stack:
        place, key = stack.pop()
        inner = place[key]
        if key == "terms":  # for readers only
            continue
        if isinstance(inner, dict | list):
            keys = list(inner) if isinstance(inner, dict) else range(min(len(inner), 2))
            stack += [(inner, each) for each in keys]
        for value in odd:
            place[key] = value
            yield key, value
        if isinstance(place, dict):
            del place[key]
            yield key, "(gone)"
        place[key] = inner


def test_hostile_files_are_refused_in_a_sentence_or_give_a_whole_model(tmp_path):
    table, y = mixed(4)
    data = model_to_dict(NaiveBayes({"size": "mixture-2"}).fit(table, y))
    path = tmp_path / "model.json"
    said = []
    for place in hostile(data):
        path.write_text(json.dumps(data))
        try:
            again = load_model(path)
        except ValueError as error:
            said.append(str(error))
            continue
        table.columns = [spec.name for spec in again.fitted_.specs]
        asked = table if hasattr(again, "feature_names_in_") else table.to_numpy()
        proba = again.predict_proba(asked)
        assert proba.shape == (60, len(again.classes_)), place
        assert np.isfinite(proba).all(), place
    assert len(said) > 500
    assert all(each.startswith(str(path)) and "\n" not in each for each in said)
    assert max(map(len, said)) < 500 + len(str(path))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda d: d["features"][1].update(levels=["v", "u"]),
            r"features\[1\].levels must hold asc",
        ),
        (lambda d: d["models"][0]["classes"].reverse(), r"models\[0\].classes must hold ascending"),
        (lambda d: d["models"].append(d["models"][0]), "models must hold one model"),
        (lambda d: d["features"][0].update(name="kind"), "features must hold names that differ"),
        (lambda d: d["features"][1].update(presence=True), "presence must hold false"),
    ],
)
def test_files_whose_parts_do_not_fit(change, words):
    table, y = mixed(5)
    data = model_to_dict(NaiveBayes().fit(table, y))
    change(data)
    with pytest.raises(ValueError, match=words):
        model_from_dict(data)


def test_deep_files_are_refused(tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"format":' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(ValueError, match="nested too deeply"):
        load_model(path)


@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_that_overflow_are_not_saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 1e200]
    model = NaiveBayes("gaussian").fit(X, [0, 1] * 20)
    with pytest.raises(ValueError, match="column 'x1' has values too large"):
        save_model(model, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["datetime64[D]", "datetime64[ns]", "timedelta64[s]"])
def test_classes_that_cannot_be_written_down(kind, tmp_path):
    y = np.array([0, 1] * 5).astype(kind)
    model = NaiveBayes().fit(np.array([[0], [1]] * 5), y)
    for write in (lambda: save_model(model, tmp_path / "m.json"), lambda: to_sql(model),
                  lambda: to_python(model)):  # fmt: skip
        with pytest.raises(ValueError, match=r"y holds classes of the type .*; fit on texts"):
            write()
    assert list(tmp_path.iterdir()) == []


def test_numbers_beyond_all_bounds_in_a_model_file(tmp_path):
    """Wherever they stand; thousands of digits are more than Python reads."""
    model = NaiveBayes().fit(np.array([[0.0, 1], [1.5, 0], [2.5, 1]] * 5), [0, 1, 2] * 5)
    plain = json.dumps(model_to_dict(model))
    path = tmp_path / "m.json"
    places = [found.span() for found in re.finditer(r"(?<=[\[ ])-?\d[\d.e+-]*(?=[,\]}])", plain)]
    assert len(places) > 40
    for digits in (400, 5000):
        for start, end in places:
            path.write_text(plain[:start] + "1" + "0" * digits + plain[end:])
            with pytest.raises(ValueError, match=r"m\.json") as caught:
                load_model(path)
            assert type(caught.value) is ValueError
            assert len(str(caught.value)) < 400 + len(str(path))
            assert "sys." not in str(caught.value)


def test_many_explanations_show_ten_and_say_how_many_more():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes().fit(X, y)
    found = explain(model, X)
    sizes = np.bincount(model.predict(X))
    assert repr(found) == "<150 explanations: {} of 0, {} of 1, {} of 2>".format(*sizes)
    page = found._repr_html_()
    assert page.count("<tr>") == 11
    assert "and 140 more rows" in page
    assert found.to_text(most=2).endswith("... and 148 more")
    frame = found.to_frame("polars")
    assert frame.shape[0] == 150 * 5
    assert isinstance(found[:3], type(found))
    assert found[3].to_frame("pandas")["times as likely"].prod() == pytest.approx(
        np.exp(found[3].log_odds)
    )


def test_factors_multiply_to_the_odds_and_logarithms_are_there_on_request():
    X = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5)
    y = np.array(["a", "a", "b", "b"] * 5)
    one = explain(NaiveBayes().fit(X, y), X[:1])[0]
    assert "probability 91.7 %, 11 times as likely" in one.to_text()
    assert "x  11" in one.to_text()
    assert "log-odds +2.398" in one.to_text(nat=True)
    other = explain(NaiveBayes().fit(X, y), X[:1], target="b")[0]
    assert "/  11" in other.to_text()
    assert "11 times as likely is a" in other.to_text()
