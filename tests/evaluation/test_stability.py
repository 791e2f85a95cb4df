"""Stability of a selection over halves of the rows."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.utils import check_random_state

import reference
from bayesieve import FeatureVotes, NaiveBayes, stability
from bayesieve.data.tables import RawTable
from bayesieve.evaluation.crossfit import draw_samples
from bayesieve.evaluation.stability import Stability, nogueira
from bayesieve.models.columns import SharedSparse, SharedTable, share
from bayesieve.search import RankedSearch
from plain import plain_selector
from tables import binary_table

matrices = st.tuples(st.integers(2, 7), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1))
)

# -- the measure ---------------------------------------------------------------------------------


@given(matrices)
@settings(max_examples=150, deadline=None)
def test_the_measure_is_that_of_the_twin(selected):
    expected = reference.nogueira(selected.tolist())
    if expected is None:
        assert np.isnan(nogueira(selected))
    else:
        assert nogueira(selected) == float(expected)
        assert -1 / (len(selected) - 1) <= nogueira(selected) <= 1


@given(matrices)
@settings(max_examples=60, deadline=None)
def test_the_interval_is_that_of_the_twin(selected):
    found = Stability(selected)
    low, high = found.interval(0.6826894921370859)  # one standard error on each side
    if np.isnan(found.measure):
        assert np.isnan([low, high]).all()
        return
    twin = float(reference.nogueira_variance(selected.tolist()))
    assert (low + high) / 2 == pytest.approx(found.measure, abs=1e-12)
    assert ((high - low) / 2) ** 2 == pytest.approx(twin, rel=1e-9, abs=1e-15)


def test_the_interval_is_as_wide_as_repeated_draws_are_apart():
    rng = np.random.default_rng(3)
    likely = rng.random(20) ** 2
    found = [Stability(rng.random((80, 20)) < likely) for _ in range(600)]
    errors = [(one.interval(0.6826894921370859)[1] - one.measure) for one in found]
    spread = np.std([one.measure for one in found])
    assert np.mean(errors) == pytest.approx(spread, rel=0.08)


def test_hand_cases():
    assert nogueira([[1, 0, 0], [1, 0, 0], [1, 0, 0]]) == 1.0
    assert nogueira([[True, False], [False, True]]) == -1.0
    # p = (1, 1/2), s^2 = (0, 1/2), mean 1/4, chance 3/4 * 1/4: 1 - 4/3.
    assert nogueira([[1, 1], [1, 0]]) == pytest.approx(-1 / 3, abs=1e-15)
    assert Stability([[1, 0, 0], [1, 0, 0]]).interval() == (1.0, 1.0)


@pytest.mark.parametrize(("value", "word"), [(0, "no feature"), (1, "every feature")])
def test_undefined_cases_say_why(value, word):
    found = Stability(np.full((3, 4), value))
    assert np.isnan(found.measure)
    assert word in found.note
    assert np.isnan(found.interval()).all()
    assert found.to_dict()["measure"] is None
    assert found.to_dict()["interval"] is None
    assert json.loads(json.dumps(found.to_dict()))["note"] == found.note


def test_random_selections_have_none_and_the_interval_covers_it():
    rng = np.random.default_rng(0)
    measures, covered = [], 0
    for _ in range(400):
        selected = rng.random((60, 30)) < 0.3
        found = Stability(selected)
        low, high = found.interval()
        measures.append(found.measure)
        covered += low <= 0 <= high
    assert abs(np.mean(measures)) < 0.002
    assert 0.91 <= covered / 400 <= 0.98


@pytest.mark.parametrize(
    "bad", [[[1, 0]], [1, 0], [[2, 0], [0, 1]], [["a"], ["b"]], [[np.nan], [1]], np.empty((2, 0))]
)
def test_only_matrices_of_selections(bad):
    with pytest.raises(ValueError, match="selected must"):
        nogueira(bad)


def test_names_must_fit():
    with pytest.raises(ValueError, match="feature_names must hold one name"):
        Stability([[1, 0], [0, 1]], ["a"])
    with pytest.raises(ValueError, match="confidence must be strictly"):
        Stability([[1, 0], [0, 1]]).interval(1.0)


# -- samples -------------------------------------------------------------------------------------


def test_samples_are_halves_of_the_rows_none_drawn_twice():
    repeats = np.array([3, 1, 2, 4])
    labels = np.array([0, 0, 1, 1])
    samples = draw_samples(repeats, labels, 4000, 2, check_random_state(0))
    assert (samples.sum(1) == 5).all()
    assert (samples >= 0).all()
    assert (samples <= repeats).all()
    assert np.abs(samples.mean(0) - repeats / 2).max() < 0.1
    assert all(np.unique(labels[row > 0]).size == 2 for row in samples)


def test_classes_too_rare_are_said_so():
    labels = np.array([0] * 400 + list(range(1, 40)))
    with pytest.raises(ValueError, match="too rare"):
        draw_samples(np.ones(labels.size, int), labels, 1, 40, check_random_state(0))


# -- the search on samples -----------------------------------------------------------------------


def by_hand(selector, X, y, n_resamples, seed, sample_weight=None):
    """Every sample as a plain fit on weighted rows."""
    rng = check_random_state(seed)
    n = len(y)
    repeats = np.ones(n, int) if sample_weight is None else sample_weight
    draw, half = np.random.default_rng(rng.randint(2**31 - 1)), (repeats.sum() + 1) // 2
    samples = [
        draw.multivariate_hypergeometric(repeats, half, method="marginals")
        for _ in range(n_resamples)
    ]
    seeds = rng.randint(2**31 - 1, size=n_resamples)
    return np.array(
        [
            clone(selector).set_params(random_state=int(s)).fit(X, y, sample_weight=w).support_
            for w, s in zip(samples, seeds, strict=True)
        ]
    )


@pytest.mark.parametrize("criterion", ["probability", "error"])
@pytest.mark.parametrize("cv", ["train", 3])
def test_samples_are_fits_with_weights(criterion, cv):
    X, y = binary_table(150, 10)
    selector = plain_selector(search="forward", criterion=criterion, cv=cv)
    found = stability(selector, X, y, n_resamples=6, random_state=3)
    expected = by_hand(selector, X, y, 6, 3)
    assert np.array_equal(found.selected, expected)
    assert found.measure == nogueira(expected)
    assert found.feature_names[:2] == ("x0", "x1")
    assert not hasattr(selector, "support_")


def test_repeated_rows_count_as_often():
    X, y = binary_table(90, 8)
    weight = np.random.default_rng(0).integers(0, 4, 90)
    selector = plain_selector(search="forward")
    found = stability(selector, X, y, n_resamples=5, sample_weight=weight, random_state=0)
    kept = weight > 0
    expected = by_hand(selector, X[kept], y[kept], 5, 0, weight[kept])
    assert np.array_equal(found.selected, expected)


def test_labels_in_sparse_tables():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((800, 30), density=0.2, rng=rng, format="csr")
    dense = X.toarray() != 0
    Y = np.column_stack([dense[:, 0] | dense[:, 1], dense[:, 2]]) ^ (rng.random((800, 2)) < 0.1)
    Y = Y.astype(int)
    for model in (NaiveBayes(), FeatureVotes()):
        selector = plain_selector(model, "forward", "auc", max_features=6)
        found = stability(selector, X, Y, n_resamples=4, random_state=0)
        assert np.array_equal(found.selected, by_hand(selector, X, Y, 4, 0))
        assert found.frequency[:3].min() == 1.0


def test_the_number_of_threads_changes_nothing():
    X, y = binary_table(120, 9)
    selector = plain_selector(random_state=5)
    one = stability(selector, X, y, n_resamples=6, random_state=1)
    assert one == stability(selector, X, y, n_resamples=6, random_state=1, n_jobs=3)
    assert one != stability(selector, X, y, n_resamples=6, random_state=2)


@pytest.mark.parametrize("ranking", ["mrmr", "relieff", "weights"])
def test_mixed_tables_and_rankings(ranking):
    """Columns are learnt from all rows: a rare level or a gap in one sample changes nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame(
        {
            "text": np.where(y, rng.choice(["a", "b", "rare"], 120), rng.choice(["b", "c"], 120)),
            "number": rng.normal(size=120) + y,
            "noise": rng.normal(size=120),
            "flag": (rng.random(120) < 0.3 + 0.4 * y).astype(int),
        }
    )
    selector = plain_selector(NaiveBayes(rounded=True), RankedSearch(ranking), "log-likelihood")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = stability(selector, X, y, n_resamples=8, random_state=0)
    assert found.feature_names == ("text", "number", "noise", "flag")
    assert found.frequency[0] > found.frequency[2]


def test_rows_that_were_not_drawn_change_levels_only():
    """Sharing equals a fit without those rows when all levels and extremes are left."""
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = np.column_stack(
        [rng.integers(0, 4, 80) + y, np.round(rng.normal(size=80) + y), rng.integers(0, 2, 80)]
    ).astype(float)
    features = {0: "categorical", 1: "gaussian", 2: "bernoulli"}
    models = list(features.values())
    # Every row twice: dropping one of the two leaves all values in place.
    weight = np.concatenate([np.ones(80, int), np.zeros(80, int)])
    both, twice = np.vstack([X, X]), np.concatenate([y, y])
    table = share(RawTable(both, ["x0", "x1", "x2"], 160), models)
    for search in ("forward", "backward", "exhaustive", "dependency"):
        for cv in ("train", "loo", 3):
            selector = plain_selector(NaiveBayes(features), search, cv=cv, random_state=0)
            shared = clone(selector).fit(table, twice, sample_weight=weight)
            plain = clone(selector).fit(X, y)
            assert shared.path_.to_dict() == plain.path_.to_dict()
            assert np.array_equal(shared.selected_, plain.selected_)
            assert np.array_equal(shared.predict_proba(X), plain.predict_proba(X))


def test_shared_tables_copy_no_rows():
    X = np.random.default_rng(0).normal(size=(50, 3))
    table = share(RawTable(X, ["a", "b", "c"], 50), ["gaussian"] * 3)
    rows = np.array([4, 7, 9])
    part = table.take(rows).take(np.array([2, 0]))
    assert isinstance(part, SharedTable)
    assert part.columns is X
    assert part.column(1).tolist() == X[[9, 4], 1].tolist()
    assert part.pick(np.array([2])).column(0).tolist() == X[[9, 4], 2].tolist()
    sparse = share(_sparse(X), ["gaussian", "categorical", "bernoulli"])
    assert isinstance(sparse.take(rows), SharedSparse)
    assert sparse.take(rows).shape == (3, 3)


def _sparse(X):
    from bayesieve.data.tables import SparseTable

    return SparseTable(scipy.sparse.csc_array(X), ["a", "b", "c"], len(X))


def test_classes_may_be_missing_from_a_sample_unless_they_are_named():
    X, y = binary_table(60, 6)
    y = np.where(np.arange(60) == 0, 3, y)  # one row of a fourth class
    plain = stability(plain_selector(search="forward"), X, y, n_resamples=8, random_state=0)
    assert plain.n_resamples == 8
    named = plain_selector(search="forward", class_weight={3: 2.0})
    assert stability(named, X, y, n_resamples=8, random_state=0).n_resamples == 8
    given = plain_selector(NaiveBayes(priors=[0.25] * 4), "forward")
    assert stability(given, X, y, n_resamples=8, random_state=0).n_resamples == 8


def test_bad_parameters_are_named():
    X, y = binary_table(60, 4)
    with pytest.raises(TypeError, match="selector must be a NaiveBayesSelector"):
        stability(NaiveBayes(), X, y)
    with pytest.raises(ValueError, match="n_resamples must be a whole number from 2"):
        stability(plain_selector(), X, y, n_resamples=1)
    with pytest.raises(ValueError, match="whole numbers"):
        stability(plain_selector(), X, y, sample_weight=np.full(60, 0.5))
    with pytest.raises(ValueError, match="search must be one of"):
        stability(plain_selector(search="forwards"), X, y)
