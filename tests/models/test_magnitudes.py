"""Columns of any size: squares that do not fit a float must not move a probability."""

import copy
import math
import pickle
from decimal import Decimal, getcontext

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.datasets import load_iris

from bayesieve import NaiveBayes, explain_model, save_model
from bayesieve.export import to_python
from bayesieve.rankings import relevance_matrix
from plain import plain_selector

getcontext().prec = 60
getcontext().Emax, getcontext().Emin = 10**6, -(10**6)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
POWERS = (-940, -700, -510, 510, 700, 940)
MODELS = ("gaussian", "gaussian-pooled", "mixture", "mixture-2", "mixture-1")
IRIS = load_iris(return_X_y=True)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("features", MODELS)
@pytest.mark.parametrize("var_smoothing", [None, 1e-9, 0.0])
def test_a_unit_that_is_a_power_of_two_changes_nothing(features, var_smoothing, power):
    X, y = IRIS
    plain = NaiveBayes(features, var_smoothing=var_smoothing).fit(X[::2], y[::2])
    large = np.ldexp(X, power)
    model = NaiveBayes(features, var_smoothing=var_smoothing).fit(large[::2], y[::2])
    wanted, found = plain.predict_proba(X), model.predict_proba(large)
    if var_smoothing is None and features != "gaussian-pooled":  # intervals know no unit
        np.testing.assert_array_equal(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


def _variance(values, weights):
    total = sum(weights)
    mean = sum(v * w for v, w in zip(values, weights, strict=True)) / total
    return mean, sum(w * (v - mean) ** 2 for v, w in zip(values, weights, strict=True)) / total


def _joint(X, y, weights, x, share, pooled, extra=None):
    """Log P(x, class) of a row by the definition, in decimal numbers of any size."""
    exact = [[Decimal(v) for v in column] for column in X.T.tolist()]
    weight = [Decimal(w) for w in weights]
    if share is not None and extra is None:
        extra = Decimal(share) * max(_variance(column, weight)[1] for column in exact)
    found = []
    for k in sorted(set(y.tolist())):
        mine = [i for i in range(len(y)) if y[i] == k]
        total = (sum(weight[i] for i in mine) / sum(weight)).ln()
        for j, column in enumerate(exact):
            known = sorted(set(column))
            width = (known[-1] - known[0]) / (len(known) - 1)
            mean, variance = _variance([column[i] for i in mine], [weight[i] for i in mine])
            if pooled:
                within = 0
                for c in sorted(set(y.tolist())):
                    rows = [i for i in range(len(y)) if y[i] == c]
                    part = [weight[i] for i in rows]
                    within += _variance([column[i] for i in rows], part)[1] * sum(part)
                variance = within / sum(weight)
                variance = max(variance, (width / 6) ** 2) if share is None else variance
            apart = Decimal(x[j]) - mean
            if share is not None or pooled:
                variance += extra or 0
                total -= (2 * PI * variance).ln() / 2 + apart**2 / (2 * variance)
            else:
                sd = max(variance.sqrt(), width / 6)
                z, half = float(abs(apart) / sd), float(width / (2 * sd))
                p = ndtr(half - z) - ndtr(-half - z)
                if p < 1e-300:
                    p = 0.0
                total += Decimal(max(math.log(p) if p else -math.inf, math.log(1e-75)))
        found.append(total)
    return found


def _proba(joint):
    top = max(joint)
    odds = [float((each - top).exp()) for each in joint]
    return [each / sum(odds) for each in odds]


def _mixed(seed, sizes):
    rng = np.random.default_rng(seed)
    y = np.arange(24) % 3
    X = rng.normal(size=(24, len(sizes))).round(2) + 0.7 * y[:, None]
    return X * np.array(sizes), y, rng.integers(1, 4, 24).astype(float)


SIZES = [(1.0, 1e200), (1e-180, 1e-200), (1e160, 1e-160, 3.0), (1e306, 1.0), (1e-290, 1e-300)]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("features", ["gaussian", "gaussian-pooled"])
@pytest.mark.parametrize("share", [None, 0.0, 1e-9, 0.5, 1e-200])
def test_probabilities_are_those_of_exact_arithmetic(sizes, features, share):
    X, y, weights = _mixed(0, sizes)
    model = NaiveBayes(features, var_smoothing=share).fit(X, y, weights)
    found = model.predict_proba(X)
    for row in range(0, 24, 5):
        wanted = _proba(_joint(X, y, weights, X[row], share, features == "gaussian-pooled"))
        np.testing.assert_allclose(found[row], wanted, rtol=1e-7, atol=1e-9)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(again.predict_proba(X), found)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("share", [None, 0.0, 1e-9])
def test_batches_give_what_all_rows_give(sizes, share):
    X, y, weights = _mixed(1, sizes)
    X[:9] *= 1e-3  # a later batch may be of another size
    whole = NaiveBayes("gaussian", var_smoothing=share).fit(X, y, weights)
    parts = NaiveBayes("gaussian", var_smoothing=share)
    for rows in (slice(0, 3), slice(3, 9), slice(9, 10), slice(10, 24)):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weights[rows])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("share", [None, 0.01])
@pytest.mark.parametrize("cv", ["loo", "train", 3])
def test_searches_find_the_same_in_any_unit(power, share, cv):
    X, y = IRIS
    X = X[::3].copy()
    X[0, 0] = 50.0 if share is None else 12.0  # without it, the rest has to be computed anew
    scores = []
    for table in (X, np.ldexp(X, power)):
        selector = plain_selector(
            NaiveBayes("gaussian", var_smoothing=share), "forward", "log-likelihood", cv=cv,
            random_state=0,
        )  # fmt: skip
        selector.fit(table, y[::3])
        scores.append([step.score for step in selector.path_.steps])
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-9)


@pytest.mark.parametrize("size", [1e180, 1e-180])
def test_leaving_one_out_is_a_fit_without_it(size):
    X, y, _ = _mixed(2, (1.0, size))
    X[5, 1] = 100 * size  # what is left without it has to be computed anew
    selector = plain_selector(
        NaiveBayes("gaussian", var_smoothing=0.0), "backward", "log-likelihood", cv="loo",
        validation=None,
    ).fit(X, y)  # fmt: skip
    wanted = []
    for row in range(24):
        rest = np.delete(np.arange(24), row)
        joint = _joint(X[rest], y[rest], np.ones(23), X[row], 0.0, False)
        wanted.append(float(joint[y[row]] - sum(each.exp() for each in joint).ln()))
    assert selector.path_.steps[0].score == pytest.approx(np.mean(wanted), rel=1e-7)


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize("share", [None, 1e-9])
def test_the_linear_form(size, share):
    X, y, _ = _mixed(3, (size, 2 * size))
    y = (y > 0).astype(int)
    model = NaiveBayes("gaussian-pooled", var_smoothing=share).fit(X, y)
    assert model.coef_[0].all()
    found = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(found, model.decision_function(X), rtol=1e-8)


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize("features", ["gaussian", "gaussian-pooled", "mixture-2"])
@pytest.mark.parametrize("share", [None, 0.0, 1e-9])
def test_other_faces_of_the_model(size, features, share, tmp_path):
    X, y, _ = _mixed(4, (1.0, size))
    model = NaiveBayes(features, var_smoothing=share).fit(X, y)
    space = {}
    exec(to_python(model), space)
    found = [space["predict"]({"x0": a, "x1": b}) for a, b in X.tolist()]
    assert found == model.predict(X).tolist()
    told = explain_model(model).features[1]
    for k in range(3):
        wanted = _variance([Decimal(v) for v in X[y == k, 1].tolist()], [1] * 8)[1].sqrt()
        assert told.source["sd"][k] == pytest.approx(float(wanted), rel=1e-12)
    with pytest.raises(ValueError, match=r"too large or too small to be written down; scale"):
        save_model(model, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_values_far_beyond_a_column_of_many_values():
    """An interval far narrower than the deviation is a series, which must end at the floor."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 1))
    y = (rng.random(8000) < 0.5).astype(int)
    terms = NaiveBayes("gaussian").fit(X, y).terms(np.array([[1e100], [1e200], [-1e300]]))
    np.testing.assert_allclose(terms, math.log(1e-75), rtol=1e-12)


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e-300])
def test_divergences_know_no_unit(size):
    X, y, _ = _mixed(5, (1.0, 1.0))
    plain = relevance_matrix(X, y, "gaussian").values
    assert (plain > 0.01).any()
    found = relevance_matrix(X * [1.0, size], y, "gaussian").values
    np.testing.assert_allclose(found, plain, rtol=1e-9)
