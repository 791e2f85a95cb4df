"""Mistakes get an error that names the parameter, what is allowed and what came."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from bayesieve import NaiveBayes
from bayesieve.search import GreedySearch
from plain import plain_selector
from tables import binary_table

rng = np.random.default_rng(0)
X = rng.integers(0, 2, (40, 4)).astype(float)
X[:, 3] = rng.normal(size=40)
y = np.repeat([0, 1], 20)
NAMED = pd.DataFrame(X, columns=["age", "weight", "height", "dose"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"search": "foward"},
            ValueError,
            "search must be one of .* or 'auto'; got 'foward'.*mean 'forward'",
        ),
        ({"search": 3}, TypeError, "search must be one of .*got 3"),
        ({"search": GreedySearch("up")}, ValueError, "search.direction must be one of"),
        ({"search": GreedySearch("forward", "soon")}, ValueError, "search.stop must be one of"),
        (
            {"search": GreedySearch("forward", "no-improvement"), "n_features": 2},
            ValueError,
            "no-improvement.*n_features",
        ),
        (
            {"criterion": "eror"},
            ValueError,
            "criterion must be one of .* or 'auto'; .*mean 'error'",
        ),
        ({"criterion": None}, TypeError, "criterion must be one of .*None"),
        ({"cv": "lo"}, ValueError, "'loo', 'auto', a number of folds or .*'lo'.*mean 'loo'"),
        ({"cv": 1}, ValueError, "cv must be from 2 to the number of guiding rows"),
        ({"cv": 50}, ValueError, r"cv must be from 2 to .*\(20\); got 50"),
        ({"cv": 2.5}, TypeError, "cv must be .* got 2.5"),
        ({"cv": [([], [])]}, ValueError, "cv"),
        ({"cv": [([0, 1], [99])]}, ValueError, "cv: split 0 names row 99; .* from 0 to 39"),
        ({"cv": [([0, 1], [])]}, ValueError, "cv gives no test row within the guiding part"),
        ({"validation": 1.0}, ValueError, "validation must be None or strictly between"),
        ({"validation": -0.1}, ValueError, "validation must be a number from 0 to 1; got -0.1"),
        ({"validation": "half"}, TypeError, "validation must be None, a number"),
        ({"n_features": 5}, ValueError, "n_features must be a whole number from 1 to 4; got 5"),
        ({"n_features": 0}, ValueError, "n_features must be a whole number from 1 to 4; got 0"),
        ({"n_features": 2, "max_features": 3}, ValueError, "not both"),
        ({"max_features": 0}, ValueError, "max_features"),
        ({"max_features": "2"}, TypeError, "max_features must be a whole number"),
        ({"min_features": -1}, ValueError, "min_features"),
        ({"min_features": 3, "max_features": 2}, ValueError, "max_features .*from 3 to 4; got 2"),
        ({"feature_groups": [[0, 1], [1, 2]]}, ValueError, "must not overlap; column 'x1'"),
        ({"feature_groups": [[0, 9]]}, ValueError, r"feature_groups\[0\]: column 9 .*0 to 3"),
        ({"feature_groups": [[0, "dose"]]}, ValueError, "'dose' is not among the columns"),
        ({"feature_groups": [[]]}, ValueError, r"feature_groups\[0\] is empty"),
        ({"feature_groups": "ab"}, TypeError, "feature_groups must be a list of lists"),
        ({"feature_groups": [0, 1]}, TypeError, r"feature_groups\[0\] must be a list"),
        ({"keep": ["q"]}, ValueError, "keep: 'q' is not among the columns of X; allowed are '"),
        ({"keep": [7]}, ValueError, "keep: column 7 is not among the columns of X; .*0 to 3"),
        ({"keep": "x0"}, TypeError, "keep must be a list of column names or numbers; got 'x0'"),
        ({"keep": [0, 1, 2], "max_features": 2}, ValueError, "keep asks for 3 columns"),
        ({"class_weight": "balance"}, ValueError, "class_weight must be 'balanced' or weights by"),
        ({"class_weight": {2: 1.0}}, ValueError, "class_weight names class 2; allowed are 0, 1"),
        ({"class_weight": {1: 0}}, ValueError, r"class_weight\[1\] must be a positive number"),
        ({"class_weight": 3}, TypeError, "class_weight must be None, 'balanced' or a mapping"),
        ({"progress": "yes"}, TypeError, "progress must be True or False"),
        ({"estimator": object()}, TypeError, "estimator must be a NaiveBayes"),
        ({"estimator": NaiveBayes(smoothing=-1)}, ValueError, "smoothing .*from 0.*got -1"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"n_jobs": "two"}, TypeError, "n_jobs must be None or a whole number; got 'two'"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs must be None or a whole number; got 1.5"),
        ({"class_weight": np.array([1, 2])}, TypeError, "class_weight must be None"),
        ({"class_weight": {0: 1e-300}}, ValueError, r"class_weight\[0\] must be a positive"),
        ({"cv": [1, 2]}, TypeError, "cv must give pairs"),
        ({"cv": [(1, 2, 3)]}, TypeError, "cv must give pairs"),
        ({"cv": [([0.5], [1.5])]}, TypeError, "cv must give whole row numbers"),
        ({"cv": 20}, ValueError, "cv=20 does not suit the guiding rows"),
    ],
)
def test_selector_parameters(options, error, message):
    with pytest.raises(error, match=message):
        plain_selector(**{"random_state": 0, **options}).fit(X, y)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"features": "gausian"}, ValueError, "features must be one of .*mean 'gaussian'"),
        ({"features": 3}, TypeError, "features must be 'auto', the name"),
        ({"features": {"dos": "gaussian"}}, ValueError, "'dos' is not among .*mean 'dose'"),
        ({"features": {4: "gaussian"}}, ValueError, "column 4 is not among .*0 to 3"),
        ({"features": {3: "normal"}}, ValueError, r"features\[3\] must be one of"),
        ({"features": "bernoulli"}, ValueError, "'dose' is modelled as 'bernoulli', .*0, 1"),
        ({"smoothing": "men"}, ValueError, "smoothing must be one of 'mean'; got 'men'"),
        ({"smoothing": None}, TypeError, "smoothing must be a number from 0"),
        ({"smoothing": float("nan")}, ValueError, "smoothing"),
        ({"priors": "equal"}, ValueError, "priors must be one of 'uniform'"),
        ({"priors": [0.2, 0.3, 0.5]}, ValueError, "one number for each of the 2 classes"),
        ({"priors": [0.2, 0.9]}, ValueError, "sum to 1"),
        ({"priors": [-0.5, 1.5]}, ValueError, "priors must be probabilities"),
        ({"priors": ["a", "b"]}, TypeError, "priors must be None, 'uniform' or one number"),
        ({"priors": {0: 0.5, 1: 0.5}}, TypeError, "priors must be None, 'uniform' or one number"),
        ({"var_smoothing": -1e-9}, ValueError, "var_smoothing .*from 0"),
        ({"var_smoothing": "tiny"}, TypeError, "var_smoothing must be a number"),
    ],
)
def test_classifier_parameters(options, error, message):
    with pytest.raises(error, match=message):
        NaiveBayes(**options).fit(NAMED, y)


def with_cell(value):
    odd = NAMED.astype(object)
    odd["weight"] = pd.Series([*NAMED["weight"][:-1], value], dtype=object)
    return odd


@pytest.mark.parametrize("estimator", [NaiveBayes(), plain_selector(random_state=0)])
@pytest.mark.parametrize(
    ("table", "target", "error", "message"),
    [
        (X, np.zeros(40), ValueError, "y must hold at least 2 classes; got 1 class"),
        (X, y[:39], ValueError, "y has 39 values, but X has 40 rows"),
        (X, np.where(y == 0, np.nan, 1.0), ValueError, "y contains NaN"),
        (X, np.array([None, *["a"] * 39], dtype=object), ValueError, "y contains NaN"),
        (X, np.array([pd.NA, *["a"] * 39], dtype=object), ValueError, "y contains NaN"),
        (X, np.array(["a", 1] * 20, dtype=object), TypeError, "y must hold classes of one kind"),
        (NAMED.set_axis(["a", "b", "a", "c"], axis=1), y, ValueError, "columns of the same name"),
        (X, np.linspace(0, 1, 40), ValueError, "Unknown label type"),
        (X, None, ValueError, "y is needed"),
        (np.where(X == 1, np.inf, X), y, ValueError, "infinity"),
        (NAMED.replace(1.0, -np.inf), y, ValueError, "contains infinity .column 'age'"),
        (np.empty((0, 4)), np.empty(0), ValueError, "0 sample"),
        (np.empty((40, 0)), y, ValueError, "0 feature"),
        (NAMED.iloc[:0], y[:0], ValueError, "X is empty"),
        (pl.DataFrame({"a": []}), y[:0], ValueError, "X is empty"),
        (with_cell({"a": 1}), y, TypeError, "column 'weight'.*got dict"),
        (with_cell("tall"), y, TypeError, "column 'weight'.*text and numbers mixed"),
        (
            NAMED.assign(when=pd.Timestamp("2026-01-01")),
            y,
            TypeError,
            "column 'when': allowed are numbers, booleans, text and categories; got Datetime",
        ),
        (X[0], y, ValueError, "Expected 2D array"),
    ],
)
def test_tables(estimator, table, target, error, message):
    with pytest.raises(error, match=message):
        estimator.fit(table, target)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.r_[-1, np.ones(39)], "sample_weight must not be negative; got -1 at row 0"),
        (np.zeros(40), "sample_weight must not be all zero"),
        (np.ones(39), "sample_weight"),
        (np.full(40, np.nan), "NaN"),
        (np.full(40, 1e308), "sample_weight must not add up to more than"),
        (np.r_[np.zeros(20), np.ones(20)], "at least 2 classes"),
    ],
)
def test_weights(weights, message):
    for fit in (NaiveBayes().fit, plain_selector(random_state=0).fit):
        with pytest.raises(ValueError, match=message):
            fit(X, y, sample_weight=weights)


def test_the_selector_repeats_rows_and_so_needs_whole_weights():
    with pytest.raises(ValueError, match=r"add up to more than 2\.14748e\+09; got 4e\+10"):
        plain_selector().fit(X, y, sample_weight=np.full(40, 10**9))
    with pytest.raises(ValueError, match="groups has 3 values, but X has 40 rows"):
        plain_selector().fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match=r"whole numbers here.*got 0\.5 at row 0.*class_weight"):
        plain_selector().fit(X, y, sample_weight=np.full(40, 0.5))
    with pytest.raises(TypeError, match="fit allows sample_weight and groups; got"):
        plain_selector().fit(X, y, sample_wieght=np.ones(40))


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (NaiveBayes({3: "gaussian-pooled"}), "gaussian-pooled"),
        (NaiveBayes(smoothing="mean"), "smoothing='mean'"),
    ],
)
def test_leave_one_out_is_refused_by_name(estimator, name):
    with pytest.raises(ValueError, match=f"cv='loo' has no closed form for .*{name}"):
        plain_selector(estimator, cv="loo").fit(X, y)


def test_a_size_that_groups_forbid():
    selector = plain_selector(feature_groups=[[0, 1], [2, 3]], n_features=3, validation=None)
    with pytest.raises(ValueError, match="n_features=3 cannot be reached"):
        selector.fit(X, y)


def test_too_few_rows_to_validate():
    with pytest.raises(ValueError, match=r"validation=0\.5 leaves no row.*validation=None"):
        plain_selector().fit(X[[0, 39]], y[[0, 39]])


def test_text_where_numbers_were_learnt():
    model = NaiveBayes().fit(NAMED, y)
    with pytest.raises(ValueError, match="'dose' is modelled as 'curve', which needs numbers"):
        model.predict(NAMED.astype({"dose": str}))


def test_later_batches_must_fit_the_first():
    model = NaiveBayes().partial_fit(X[:20], y[10:30], classes=[0, 1])
    with pytest.raises(ValueError, match=r"column 'x0' is modelled as 'bernoulli'.*got 6"):
        model.partial_fit(X + 5, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="column 'x2' is modelled"):
        model.partial_fit(X + np.array([0, 0, 9, 0]), y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model.partial_fit(X, y)
    assert model.class_count_.sum() == 60
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, y + 7)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        NaiveBayes().partial_fit(X, y)
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])


def test_a_batch_of_another_kind_changes_nothing():
    first = pd.DataFrame({"a": ["u", "v"] * 10, "b": [0.0, 1] * 10})
    model = NaiveBayes({"a": "categorical"}).partial_fit(first, y[10:30], classes=[0, 1])
    with pytest.raises(ValueError, match="column 'a' held text in the first batch; got numbers"):
        model.partial_fit(first.assign(a=1.5), y[10:30])
    assert model.class_count_.sum() == 20
    with pytest.raises(ValueError, match="priors"):
        NaiveBayes(priors=[0.2, 0.3, 0.5]).partial_fit(X, y, classes=[0, 1])


def test_nothing_is_predicted_before_fit():
    for method in ("predict", "predict_proba", "predict_joint_log_proba", "terms"):
        with pytest.raises(NotFittedError):
            getattr(NaiveBayes(), method)(X)


@pytest.mark.parametrize("estimator", [NaiveBayes(), plain_selector(cv=3, random_state=0)])
def test_nothing_is_changed_in_place(estimator):
    table, target, weights = X.copy(), y.copy(), np.ones(40)
    for data in (table, target, weights):
        data.flags.writeable = False
    frame = NAMED.copy()
    estimator.fit(table, target, sample_weight=weights).predict(table)
    estimator.fit(frame, target).predict(frame)
    np.testing.assert_array_equal(table, X)
    pd.testing.assert_frame_equal(frame, NAMED)


def test_numbers_beyond_all_floats_are_named():
    X, y = binary_table(20, 3)
    huge = 10**400
    with pytest.raises(ValueError, match=r"smoothing must be a number from 0 to 1e\+12; got 1000"):
        NaiveBayes(smoothing=huge).fit(X, y)
    with pytest.raises(ValueError, match="time_limit must be a number from 0; got 1000"):
        plain_selector(time_limit=huge).fit(X, y)
    with pytest.raises(ValueError, match=r"'x0' holds a whole number beyond the range of floats"):
        NaiveBayes().fit([[huge], [1]], [0, 1])
    with pytest.raises(ValueError, match="sample_weight must be numbers"):
        NaiveBayes().fit(X, y, sample_weight=[huge] * 20)
