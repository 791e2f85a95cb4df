"""One temperature for a model's probabilities."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.metrics import brier_score_loss, log_loss

from bayesieve import (
    FeatureVotes,
    NaiveBayes,
    NaiveBayesSelector,
    calibrate,
    explain,
    load_model,
    save_model,
)
from bayesieve.estimators.naive_bayes import rows_of
from bayesieve.evaluation.calibration import Calibration, best_temperature
from bayesieve.export import to_python
from plain import plain_selector
from tables import binary_table


def redundant(n_rows=600, n_classes=2, copies=6, seed=0):
    """Few signals, each told several times over with a little noise of its own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    signals = (rng.random((n_rows, 3)) < 0.3) ^ (
        (y[:, None] == np.arange(3) % n_classes) & (rng.random((n_rows, 3)) < 0.6)
    )
    X = np.repeat(signals, copies, axis=1)
    return (X ^ (rng.random(X.shape) < 0.02)).astype(np.int64), y


# -- the temperature -----------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_temperature_has_the_lowest_loss(seed, n_classes, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    truth = rng.integers(0, n_classes, n)
    scores = rng.normal(size=(n, n_classes)) * 4
    scores[np.arange(n), truth] += 1.5
    scores -= scores.max(1, keepdims=True)
    weights = rng.integers(1, 5, n).astype(float) if weighted else np.ones(n)

    def loss(b):
        total = np.log(np.exp(b * scores).sum(1)) - b * scores[np.arange(n), truth]
        return np.average(total, weights=weights)

    found, note = best_temperature(scores, truth, weights, (0.1, 100.0))
    slow = minimize_scalar(loss, bounds=(0.01, 10.0), method="bounded", options={"xatol": 1e-12})
    assert loss(1 / found) <= slow.fun + 1e-13
    if not note:
        assert 1 / found == pytest.approx(slow.x, rel=1e-4)
        step = 1e-5
        assert loss(1 / found + step) > loss(1 / found) < loss(1 / found - step)


def test_bounds_and_what_has_no_temperature():
    scores = np.array([[0.0, -2.0], [-2.0, 0.0], [0.0, -1.0]])
    weights = np.ones(3)
    lowest, note = best_temperature(scores, np.array([0, 1, 0]), weights, (0.2, 50.0))
    assert lowest == 0.2
    assert "lower bound 0.2" in note
    highest, note = best_temperature(scores, np.array([1, 0, 1]), weights, (0.2, 50.0))
    assert highest == 50.0
    assert "upper bound 50" in note
    assert best_temperature(np.zeros((3, 2)), np.array([0, 1, 0]), weights, (0.1, 9.0)) == (1.0, "")
    # A class that is impossible beside another takes no part.
    impossible = np.array([[0.0, -np.inf, -2.0], [-1.0, -np.inf, 0.0], [0.0, -np.inf, -1.0]])
    truth = np.array([0, 0, 2])
    found, _ = best_temperature(impossible, truth, weights, (0.1, 100.0))
    plain, _ = best_temperature(impossible[:, [0, 2]], truth // 2, weights, (0.1, 100.0))
    assert found == pytest.approx(plain, rel=1e-12)


# -- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_overconfident_models_are_cooled(n_classes):
    X, y = redundant(900, n_classes)
    model = NaiveBayes().fit(X[:300], y[:300])
    found = calibrate(model, X[300:600], y[300:600])
    report = found.calibration_
    assert found.temperature_ > 2
    for part, at in ((slice(300, 600), None), (slice(600, 900), 0)):
        before, after = (m.predict_proba(X[part]) for m in (model, found))
        old, new = log_loss(y[part], before), log_loss(y[part], after)
        assert new < 0.8 * old
        if n_classes == 2:
            squares = [brier_score_loss(y[part], p[:, 1]) for p in (before, after)]
        else:
            truth = np.eye(n_classes)[y[part]]
            squares = [((p - truth) ** 2).sum(1).mean() for p in (before, after)]
        assert squares[1] < squares[0]
        if at is None:
            assert report.log_loss == pytest.approx((old, new), abs=1e-9)
            assert report.brier == pytest.approx(squares, abs=1e-12)
    assert report.weight == 300
    assert report.note == ""
    # No decision and no rank has changed; the model given is as it was.
    assert np.array_equal(found.predict(X), model.predict(X))
    np.testing.assert_allclose(
        found.decision_function(X) * found.temperature_, model.decision_function(X), rtol=1e-12
    )
    assert model.temperature_ == 1.0
    assert not hasattr(model, "calibration_")


def test_a_temperature_of_one_changes_no_bit():
    X, y = binary_table(200, 8)
    model = NaiveBayes().fit(X, y)
    with pytest.warns(UserWarning, match="bound 1"):
        same = calibrate(model, X, y, bounds=(1.0, 1.0))
    assert same.temperature_ == 1.0
    for name in ("predict_proba", "predict_log_proba", "decision_function", "terms"):
        assert np.array_equal(getattr(same, name)(X), getattr(model, name)(X))
    # Without the division: what the integers say.
    fitted = model.fitted_.only
    sums = fitted.sums(rows_of(model, X))
    odds = np.exp(fitted.scale.release(sums - sums.max(1, keepdims=True)))
    assert np.array_equal(model.predict_proba(X), odds / odds.sum(1, keepdims=True))


@pytest.mark.parametrize("kind", ["classes", "labels", "continuous"])
def test_evidence_still_adds_up(kind):
    X, y = redundant(400, 2 if kind != "classes" else 3)
    if kind == "continuous":
        X = X + np.random.default_rng(0).normal(size=X.shape)
    if kind == "labels":
        y = np.column_stack([y, X[:, 0] ^ (np.random.default_rng(1).random(400) < 0.2)])
    found = calibrate(NaiveBayes().fit(X[:200], y[:200]), X[200:], y[200:])
    temperature = np.ravel(found.temperature_)
    assert (temperature > 1.2).all()
    rows = X[:30]
    proba = found.predict_proba(rows)
    for at, one in enumerate(explain(found, rows)):
        total = sum(bar.log_ratio for bar in one.evidence)
        assert total == pytest.approx(one.log_odds, abs=1e-9)
        if kind == "labels":
            p = proba[at // 2, at % 2]
            assert one.log_odds == pytest.approx(np.log(p) - np.log1p(-p), rel=1e-6, abs=1e-9)
            decided = found.decision_function(rows)[at // 2, at % 2]
            assert one.log_odds == pytest.approx(decided, abs=1e-9)
        else:
            p = proba[at, [one.target, one.against]]
            assert one.probability == pytest.approx(p[0], abs=1e-15)
            assert one.log_odds == pytest.approx(np.log(p[0] / p[1]), rel=1e-9)
    if kind != "labels":
        joint, terms = found.predict_joint_log_proba(rows), found.terms(rows)
        prior = found.fitted_.only.nat(found.fitted_.only.fixed_prior[None])
        np.testing.assert_allclose(terms.sum(1) + prior, joint, atol=1e-9)
    logs = found.predict_log_proba(rows)
    np.testing.assert_allclose(np.exp(logs), proba, rtol=1e-9)


def test_the_linear_form_is_divided_too():
    X, y = redundant(400)
    found = calibrate(NaiveBayes().fit(X[:200], y[:200]), X[200:], y[200:])
    linear = X @ found.coef_[0] + found.intercept_[0]
    np.testing.assert_allclose(linear, found.decision_function(X), atol=1e-9)


def test_files_keep_it(tmp_path):
    X, y = redundant(400)
    model = NaiveBayes().fit(X[:200], y[:200])
    found = calibrate(model, X[200:], y[200:])
    save_model(found, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.temperature_ == found.temperature_
    assert np.array_equal(again.predict_proba(X), found.predict_proba(X))
    stored = json.loads((tmp_path / "model.json").read_text())
    assert stored["version"] == 2  # readers that know no temperature refuse it
    save_model(model, tmp_path / "plain.json")
    old = json.loads((tmp_path / "plain.json").read_text())
    assert old["version"] == 1
    del old["models"][0]["temperature"]  # as files were before
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert np.array_equal(
        load_model(tmp_path / "old.json").predict_proba(X), model.predict_proba(X)
    )
    old["models"][0]["temperature"] = 0.0
    (tmp_path / "bad.json").write_text(json.dumps(old))
    with pytest.raises(ValueError, match="temperature must be above 0"):
        load_model(tmp_path / "bad.json")
    Y = np.column_stack([y, X[:, 0]])
    labels = calibrate(NaiveBayes().fit(X[:200, 1:], Y[:200]), X[200:, 1:], Y[200:])
    save_model(labels, tmp_path / "labels.json")
    again = load_model(tmp_path / "labels.json")
    assert np.array_equal(again.temperature_, labels.temperature_)
    assert np.array_equal(again.predict_proba(X[:, 1:]), labels.predict_proba(X[:, 1:]))


def test_exports_decide_as_before():
    X, y = redundant(300)
    model = NaiveBayes().fit(X[:150], y[:150])
    assert to_python(calibrate(model, X[150:], y[150:])) == to_python(model)


def test_learning_again_forgets_it():
    X, y = redundant(400)
    found = calibrate(NaiveBayes().fit(X[:200], y[:200]), X[200:], y[200:])
    assert clone(found).fit(X, y).temperature_ == 1.0
    assert found.partial_fit(X[:50], y[:50]).temperature_ == 1.0


def test_weights_repeat_rows():
    X, y = redundant(300)
    model = NaiveBayes().fit(X[:150], y[:150])
    weight = np.random.default_rng(0).integers(0, 4, 150)
    one = calibrate(model, X[150:], y[150:], sample_weight=weight)
    two = calibrate(model, np.repeat(X[150:], weight, axis=0), np.repeat(y[150:], weight))
    assert one.temperature_ == pytest.approx(two.temperature_, rel=1e-12)
    assert one.calibration_.weight == weight.sum()


# -- selectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("balanced", [None, "balanced", {0: 3.0}])
def test_selectors_by_their_validation_rows(balanced):
    X, y = redundant(600)
    names = [f"f{j}" for j in range(X.shape[1])]
    X = pd.DataFrame(X, columns=names)
    selector = plain_selector(
        search="forward", n_features=9, class_weight=balanced, random_state=0
    ).fit(X, y)
    found = calibrate(selector, X, y, rows="validation")
    assert isinstance(found, NaiveBayesSelector)
    assert found is not selector
    assert selector.estimator_.temperature_ == 1.0
    # By hand: a model of the guiding rows on the chosen columns, judged on the others.
    guiding, held = selector.guiding_rows_, selector.validation_rows_
    chosen = np.sort(selector.selected_)
    if balanced is None:
        model = NaiveBayes().fit(X.iloc[guiding, chosen], y[guiding])
        by_hand = calibrate(model, X.iloc[held, chosen], y[held])
        assert found.estimator_.temperature_ == by_hand.temperature_
        assert found.calibration_ == by_hand.calibration_
    assert found.estimator_.temperature_ > 1.5
    assert np.array_equal(found.predict(X), selector.predict(X))
    np.testing.assert_allclose(
        found.decision_function(X) * found.estimator_.temperature_,
        selector.decision_function(X),
        rtol=1e-12,
    )
    # New rows, all columns of them.
    more, labels = redundant(300, seed=9)
    new = calibrate(selector, pd.DataFrame(more, columns=names), labels)
    assert new.estimator_.temperature_ > 1.2
    assert new.calibration_.log_loss[1] < new.calibration_.log_loss[0]


def test_selectors_of_labels_in_sparse_tables():
    X, y = redundant(500)
    Y = np.column_stack([y, X[:, 4] ^ (np.random.default_rng(1).random(500) < 0.2)])
    weight = np.random.default_rng(2).integers(0, 3, 500)
    X = scipy.sparse.csr_array(X)
    selector = plain_selector(None, "forward", "auc", n_features=10, random_state=0)
    selector.fit(X, Y, sample_weight=weight)
    found = calibrate(selector, X, Y, rows="validation", sample_weight=weight)
    assert found.estimator_.temperature_.shape == (2,)
    assert (found.estimator_.temperature_ > 1).all()
    assert isinstance(found.calibration_.temperature, tuple)
    assert found.calibration_.log_loss[1] < found.calibration_.log_loss[0]
    with pytest.raises(ValueError, match="sample_weight must be as it was"):
        calibrate(selector, X, Y, rows="validation", sample_weight=1 - np.minimum(weight, 1))


# -- words ---------------------------------------------------------------------------------------


def test_reports():
    report = Calibration(2.5, (1.0, 0.5), (0.2, 0.1), 10.0, "")
    assert report.to_text() == "temperature 2.5\nlog-loss 1.0000 -> 0.5000, Brier 0.2000 -> 0.1000"
    assert json.loads(json.dumps(report.to_dict()))["log_loss"] == [1.0, 0.5]
    labels = Calibration((2.5, 1.0), (1.0, 0.5), (0.2, 0.1), 10.0, "A bound.")
    assert labels.to_text().startswith("temperatures 2.5, 1\n")
    assert labels.to_text().endswith("\nA bound.")


def test_what_cannot_be_calibrated_is_named():
    X, y = binary_table(80, 4, n_classes=2)
    model = NaiveBayes().fit(X, y)
    with pytest.raises(TypeError, match="model must be a fitted NaiveBayes"):
        calibrate(FeatureVotes().fit(X, y), X, y)
    with pytest.raises(ValueError, match="rows='validation' is for a NaiveBayesSelector"):
        calibrate(model, X, y, rows="validation")
    with pytest.raises(ValueError, match="rows must be one of"):
        calibrate(model, X, y, rows="fresh")
    with pytest.raises(ValueError, match="y holds 7, which is not among the model's classes"):
        calibrate(model, X, np.where(np.arange(80) == 3, 7, y))
    with pytest.raises(ValueError, match="one class a row"):
        calibrate(model, X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="bounds must hold 1"):
        calibrate(model, X, y, bounds=(2.0, 3.0))
    with pytest.raises(TypeError, match="bounds must be two temperatures"):
        calibrate(model, X, y, bounds=3.0)
    labels = NaiveBayes().fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(ValueError, match="0/1 matrix of the model's 2 labels"):
        calibrate(labels, X, y)
    alone = plain_selector(validation=None).fit(X, y)
    with pytest.raises(ValueError, match="needs a selector with a validation part"):
        calibrate(alone, X, y, rows="validation")
    split = plain_selector(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="must be the table given to fit"):
        calibrate(split, X[:20], y[:20], rows="validation")
    never = NaiveBayes("categorical", smoothing=0).fit([["a"], ["b"]] * 5, [0, 1] * 5)
    with pytest.raises(ValueError, match=r"2 row.s. belong to a class that the model calls impo"):
        calibrate(never, [["a"], ["b"]], [1, 0])


def training_cases():
    """Models of every form of statistics, with the rows they were fitted on."""
    X, y = redundant(200)
    numbers = X + np.random.default_rng(1).normal(size=X.shape) - X.mean()
    parts = NaiveBayes("gaussian")
    for rows in (slice(0, 70), slice(70, 200)):
        parts.partial_fit(numbers[rows], y[rows], classes=[0, 1])
    yield NaiveBayes().fit(X, y), X, y
    yield NaiveBayes().fit(scipy.sparse.csr_matrix(X), y), scipy.sparse.csr_matrix(X), y
    yield NaiveBayes("gaussian").fit(numbers, y), numbers, y
    yield parts, numbers, y
    yield NaiveBayes("mixture").fit(numbers[:, :2], y), numbers[:, :2], y
    yield NaiveBayes("gaussian-pooled", rounded=True).fit(numbers, y), numbers, y
    labels = np.column_stack([y, X[:, 0]])
    yield NaiveBayes().fit(X[:, 1:], labels), X[:, 1:], labels
    chosen = plain_selector(class_weight="balanced", random_state=0).fit(X, y)
    yield chosen, X, y
    yield NaiveBayes("intervals-4").fit(numbers, y), numbers, y


@pytest.mark.parametrize("case", range(9))
def test_training_rows_are_no_judges(case):
    model, X, y = list(training_cases())[case]
    shuffled = np.random.default_rng(0).permutation(200)
    for rows in (np.arange(200), shuffled):
        with pytest.warns(UserWarning, match="they seem to be its training rows"):
            calibrate(model, X[rows], y[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calibrate(model, X[:150], y[:150])  # nobody can tell
        if isinstance(model, NaiveBayesSelector):
            calibrate(model, X, y, rows="validation")


def test_a_temperature_at_its_upper_bound_warns():
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(rng.integers(0, 2, (100, 9)), rng.integers(0, 2, 100))
    with pytest.warns(UserWarning, match="upper bound 1.5"):
        found = calibrate(
            model, rng.integers(0, 2, (80, 9)), rng.integers(0, 2, 80), bounds=(0.5, 1.5)
        )
    assert found.temperature_ == 1.5


def test_separable_rows_stop_at_the_bound_and_warn():
    X = np.array([[0, 0], [1, 1]] * 30)
    y = X[:, 0]
    model = NaiveBayes().fit(X, y)
    with pytest.warns(UserWarning, match="lower bound 0.1"):
        found = calibrate(model, X, y)
    assert found.temperature_ == 0.1
    assert "lower bound" in found.calibration_.note
