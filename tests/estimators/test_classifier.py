"""NaiveBayes: what its docstring promises."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesieve import NaiveBayes, NaiveBayesSelector

seeds = st.integers(0, 2**32 - 1)


def mixed_frame(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["cat", "dog", "fox"], n)
    barks = (y == "dog") ^ (rng.random(n) < 0.1)
    colour = np.where(y == "fox", "red", rng.choice(["black", "white", "red"], n)).astype(object)
    weight = np.where(y == "dog", 20.0, 5.0) + rng.normal(size=n)
    frame = pd.DataFrame({"barks": barks, "colour": colour, "weight": weight})
    frame.loc[::11, "weight"] = np.nan
    frame.loc[::13, "colour"] = None
    return frame, y


def test_auto_finds_the_model_of_each_column():
    frame, y = mixed_frame()
    frame["coded"] = frame["colour"].astype("category")
    frame["always"] = 1
    frame["never"] = 0
    frame["lone"] = 5
    model = NaiveBayes().fit(frame, y)
    assert model.feature_models_ == [
        "bernoulli", "levels", "curve", "levels", "bernoulli", "bernoulli", "curve",
    ]  # fmt: skip
    assert model.score(frame, y) > 0.8


def test_the_same_from_every_kind_of_table():
    frame, y = mixed_frame()
    model = NaiveBayes().fit(frame, y)
    wanted = model.predict_proba(frame)
    as_polars = pl.DataFrame(
        {
            "barks": frame["barks"].to_list(),
            "colour": [None if v is None or v != v else v for v in frame["colour"]],
            "weight": frame["weight"].to_list(),
        }
    )
    for table in (
        frame,
        frame.assign(colour=frame["colour"].astype("category")),
        frame.assign(colour=frame["colour"].fillna("")),
        frame.convert_dtypes(),
        as_polars,
        as_polars.with_columns(pl.col("colour").cast(pl.Categorical)),
    ):
        again = NaiveBayes().fit(table, y)
        np.testing.assert_array_equal(again.predict_proba(table), wanted)
        np.testing.assert_array_equal(model.predict_proba(table), wanted)
    assert model.feature_names_in_.tolist() == ["barks", "colour", "weight"]
    as_objects = frame.astype(object).to_numpy()
    np.testing.assert_array_equal(NaiveBayes().fit(as_objects, y).predict_proba(as_objects), wanted)


def test_categories_are_names_whatever_they_are_made_of():
    numbers = np.arange(40) % 4
    y = (numbers > 1).astype(int)
    for column in (
        pd.Categorical(numbers),
        pd.cut(pd.Series(numbers), [-1, 0, 1, 2, 3]),
        pd.Categorical(numbers.astype(str)),
    ):
        frame = pd.DataFrame({"c": column})
        model = NaiveBayes().fit(frame, y)
        assert model.feature_models_ == ["levels"]
        assert model.score(frame, y) == 1.0


def test_lists_of_texts_and_numbers():
    rows = [["a", 1.5], ["b", 2.5], ["a", 1.0], ["b", 3.5]] * 3
    y = [0, 1, 0, 1] * 3
    model = NaiveBayes().fit(rows, y)
    assert model.feature_models_ == ["levels", "curve"]
    assert model.score(rows, y) == 1.0
    assert NaiveBayes().fit(np.array([["a"], ["b"]] * 4), [0, 1] * 4).predict([["b"]]) == [1]


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, object])
def test_binary_tables_of_any_dtype(dtype):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 5)), np.arange(60) % 3
    wanted = NaiveBayes().fit(X, y).predict_proba(X)
    got = NaiveBayes().fit(X.astype(dtype), y).predict_proba(np.asfortranarray(X.astype(dtype)))
    np.testing.assert_array_equal(got, wanted)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_terms_and_priors_add_up(seed):
    frame, y = mixed_frame(60, seed)
    model = NaiveBayes().fit(frame, y)
    terms = model.terms(frame)
    priors = np.log(model.class_count_ / model.class_count_.sum())
    np.testing.assert_allclose(
        terms.sum(1) + priors, model.predict_joint_log_proba(frame), atol=1e-11, rtol=0
    )
    np.testing.assert_allclose(
        np.log(model.predict_proba(frame)), model.predict_log_proba(frame), atol=1e-9
    )
    np.testing.assert_allclose(model.predict_proba(frame).sum(1), 1.0, atol=1e-12)
    assert (terms[::11, 2] == 0).all()
    assert (terms[::13, 1] == 0).all()


def test_missing_and_unseen_values_say_nothing():
    frame, y = mixed_frame()
    model = NaiveBayes().fit(frame, y)
    odd = frame.head(4).copy()
    odd["colour"] = ["green", "", None, "red"]
    odd["barks"] = [True, False, True, None]
    terms = model.terms(odd)
    assert (terms[:3, 1] == 0).all()
    assert (terms[3, 1] != 0).all()
    assert (terms[3, 0] == 0).all()
    empty = pd.DataFrame({"barks": [None], "colour": [None], "weight": [np.nan]})
    np.testing.assert_allclose(
        model.predict_proba(empty)[0], model.class_count_ / model.class_count_.sum(), atol=1e-12
    )


def test_a_class_that_never_showed_a_column_finds_all_values_equal():
    X = np.array([[1.0, 0], [2.0, 1], [4.0, 0], [np.nan, 1], [np.nan, 0]])
    y = np.array([0, 0, 0, 1, 1])
    terms = NaiveBayes("gaussian").fit(X, y).terms(X)
    np.testing.assert_allclose(terms[:3, 0, 1], np.log(1 / 3), atol=1e-12)
    # On a grid, terms are relative to all classes: saying nothing is 0.
    assert (NaiveBayes().fit(X, y).terms(X)[:, 0, 1] == 0).all()


def test_settings_of_normal_distributions_mean_normal_distributions():
    X, y = np.array([[1.5], [2.5], [1.0], [3.5]] * 3), np.array([0, 1, 0, 1] * 3)
    assert NaiveBayes(var_smoothing=1e-9).fit(X, y).feature_models_ == ["gaussian"]
    assert NaiveBayes(rounded=True).fit(X, y).feature_models_ == ["gaussian"]
    assert NaiveBayes("density", rounded=True).fit(X, y).feature_models_ == ["density"]


def test_mean_smoothing_is_guyons():
    X = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1], [0, 0, 1]])
    y = np.array([0, 0, 0, 1, 1])
    terms = NaiveBayes(smoothing="mean").fit(X, y).terms(np.ones((1, 3)))[0]
    frequency = np.array([[2 / 3, 0], [1 / 3, 1 / 2], [0, 1]])
    n = np.array([3, 2])
    wanted = np.log((n * frequency + frequency.mean(0)) / (n + 1))
    np.testing.assert_allclose(terms, wanted, atol=1e-12)


def test_without_smoothing_the_fewest_impossible_values_win():
    X = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]])
    y = np.array([0, 0, 1, 1])
    model = NaiveBayes(smoothing=0).fit(X, y)
    rows = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 0]])
    # class 0 allows 1,1,0 only; row 1 breaks it twice and class 1 once, row 2 each once
    joint = model.predict_joint_log_proba(rows)
    assert np.isneginf(joint[1]).all()
    assert model.predict(rows).tolist()[:2] == [0, 1]
    np.testing.assert_array_equal(model.predict_proba(rows[:2]), [[1, 0], [0, 1]])
    # equal numbers of impossible values: what remains beside the zeros decides
    rest = [np.log(1 / 2) - np.log(2), np.log(1 / 2) + np.log(1 / 2) - np.log(2)]
    wanted = np.exp(rest) / np.exp(rest).sum()
    np.testing.assert_allclose(model.predict_proba(rows[2:])[0], wanted, atol=1e-10)
    almost = NaiveBayes(smoothing=1e-9).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(rows), almost.predict_proba(rows), atol=1e-6)


@pytest.mark.parametrize("smoothing", [1.0, 0.1, "mean"])
@pytest.mark.parametrize("features", ["bernoulli", "gaussian-pooled"])
def test_the_linear_form(features, smoothing):
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], [30, 20])
    X = rng.normal(size=(50, 6)) + (y == "yes")[:, None]
    if features == "bernoulli":
        X = (X > 0.5).astype(float)
    model = NaiveBayes(features, smoothing).fit(X, y)
    assert model.coef_.shape == (1, 6)
    assert model.intercept_.shape == (1,)
    log_proba = model.predict_log_proba(X)
    odds = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(odds, log_proba[:, 1] - log_proba[:, 0], atol=1e-9)
    if features == "gaussian-pooled":
        means = np.array([X[y == "no"].mean(0), X[y == "yes"].mean(0)])
        within = X - means[(y == "yes").astype(int)]
        np.testing.assert_allclose(
            model.coef_[0], (means[1] - means[0]) / (within**2).mean(0), rtol=1e-10
        )


def test_the_linear_form_without_smoothing():
    X = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 1]])
    model = NaiveBayes(smoothing=0).fit(X, [0, 0, 1, 1])
    assert model.coef_.tolist() == [[0.0, 0.0, np.inf]]  # constant, equal, certain


def test_no_linear_form_elsewhere():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(AttributeError, match="two classes"):
        _ = NaiveBayes().fit(X, y).coef_
    assert not hasattr(NaiveBayes().fit(X, y), "intercept_")
    with pytest.raises(AttributeError, match="after fit"):
        _ = NaiveBayes().coef_


def test_priors_move_the_trade_off():
    X, y = load_iris(return_X_y=True)
    y = (y == 2).astype(int)
    rates = [
        NaiveBayes(priors=[1 - p, p]).fit(X, y).predict(X).mean() for p in (0.001, 0.1, 0.5, 0.999)
    ]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]
    certain = NaiveBayes(priors=[0.0, 1.0]).fit(X, y)
    assert (certain.predict(X) == 1).all()


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=seeds, n_batches=st.integers(1, 6), weighted=st.booleans())
def test_batches_merge(seed, n_batches, weighted):
    frame, y = mixed_frame(80, seed)
    weights = np.random.default_rng(seed).integers(0, 4, 80).astype(float) if weighted else None
    if weighted:
        weights[:3] = 1
        y[:3] = ["cat", "dog", "fox"]
    features = {"weight": "gaussian"}
    whole = NaiveBayes(features).fit(frame, y, weights)
    parts = NaiveBayes(features)
    for rows in np.array_split(np.arange(80), n_batches):
        mine = None if weights is None else np.maximum(weights[rows], [1] + [0] * (len(rows) - 1))
        if weights is not None:
            weights[rows] = mine
        parts.partial_fit(frame.iloc[rows], y[rows], ["cat", "dog", "fox"], mine)
    whole = NaiveBayes(features).fit(frame, y, weights)
    np.testing.assert_allclose(parts.predict_proba(frame), whole.predict_proba(frame), atol=1e-9)
    np.testing.assert_allclose(parts.class_count_, whole.class_count_)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=seeds)
def test_weights_are_repeats(seed):
    frame, y = mixed_frame(60, seed)
    weights = np.random.default_rng(seed).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    weighted = NaiveBayes().fit(frame, y, weights)
    repeated = NaiveBayes().fit(frame.iloc[rows], y[rows])
    np.testing.assert_allclose(
        weighted.predict_proba(frame), repeated.predict_proba(frame), atol=1e-10
    )


def test_gaussian_default_is_wekas():
    # Values on a grid of 0.5: the term is the probability of the cell around the value.
    from scipy.stats import norm

    X = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0])[:, None]
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    terms = NaiveBayes("gaussian").fit(X, y).terms(np.array([[1.0], [30.0]]))[:, 0]
    for k in (0, 1):
        mean, sd = X[y == k].mean(), X[y == k].std()
        cell = norm.cdf(1.25, mean, sd) - norm.cdf(0.75, mean, sd)
        assert np.isclose(terms[0, k], np.log(cell), atol=1e-11)
        assert np.isclose(terms[1, k], np.log(1e-75), atol=1e-11)
    constant = NaiveBayes("gaussian").fit(np.r_[X, [[9.0]] * 3], np.r_[y, 2, 2, 2])
    width = 9 / 7
    lone = norm.cdf(3) - norm.cdf(-3)  # standard deviation is a sixth of the resolution
    found = constant.terms(np.array([[9.0]]))[0, 0, 2]
    assert np.isclose(found, np.log(lone), atol=1e-11), width


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1.0, 1e12, 1e100])
def test_units_do_not_matter(scale):
    X, y = load_iris(return_X_y=True)
    plain = NaiveBayes().fit(X, y)
    scaled = NaiveBayes().fit(X * scale, y)
    np.testing.assert_allclose(
        scaled.predict_proba(X * scale), plain.predict_proba(X), atol=1e-8, rtol=0
    )


def test_extreme_values_give_probabilities():
    X = np.array([[1e308], [-1e308], [0.0], [1e-308], [1.0], [2.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    for features in ("gaussian", "gaussian-pooled", "categorical"):
        for share in (None, 0.0, 1e-9):
            proba = NaiveBayes(features, var_smoothing=share).fit(X, y).predict_proba(X)
            assert np.isfinite(proba).all()
            assert (proba >= 0).all()


def test_far_outliers_still_tell_classes_apart():
    X = np.r_[np.random.default_rng(0).normal(size=(40, 1)), [[1e5]]]
    y = np.r_[np.repeat([0, 1], 20), 1]
    X[:20] -= 3
    far = [[1e6], [-1e6], [1e12]]
    assert NaiveBayes("gaussian-pooled").fit(X[:40], y[:40]).predict(far).tolist() == [1, 0, 1]
    theirs = GaussianNB().fit(X[:40], y[:40]).predict(far)
    ours = NaiveBayes(var_smoothing=1e-9).fit(X[:40], y[:40]).predict(far)
    assert ours.tolist() == theirs.tolist()


def test_it_is_a_scikit_learn_citizen():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = NaiveBayes(features={"petal length (cm)": "gaussian-pooled"}).fit(X, y)
    assert model.feature_models_.count("gaussian-pooled") == 1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()
    assert make_pipeline(StandardScaler(), NaiveBayes()).fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([3, 1], np.int64),
        ([np.int64(3), np.uint8(1)], np.int64),
        ([2**53 + 1, 2**53], np.int64),
        ([2**63 + 1, 1], np.uint64),
        ([True, False], np.bool_),
        ([3.0, 1], np.float64),
    ],
)
@pytest.mark.parametrize("wrap", [lambda y: y, lambda y: pd.Series(y), lambda y: y[:, None]])
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_numbers_that_came_as_objects_are_classes(values, kind, wrap):
    X = np.tile([[0, 1], [1, 1], [1, 0], [0, 0]], (5, 1))
    places = np.array([0, 1, 1, 0] * 5)
    objects = np.empty(20, object)
    objects[:] = [values[place] for place in places]
    plain = np.array([kind(values[place]) for place in places])
    one, other = (each().fit(X, wrap(objects)) for each in (NaiveBayes, NaiveBayesSelector))
    for model in (one, other):
        assert model.classes_.dtype == kind
        assert model.classes_.tolist() == sorted(values)
        assert model.predict(X).tolist() == plain.tolist()
        assert model.score(X, wrap(objects)) == 1.0
    np.testing.assert_array_equal(one.predict_proba(X), NaiveBayes().fit(X, plain).predict_proba(X))


def test_classes_beyond_64_bits_are_refused_in_words():
    y = np.array([2**70, 1] * 4, object)
    with pytest.raises(ValueError, match=r"whole numbers of 64 bits .* got 1180591620717411303424"):
        NaiveBayes().fit(np.arange(8)[:, None], y)
