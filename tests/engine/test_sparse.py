"""Sparse tables, labels and AUC."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from bayesieve import FeatureVotes, NaiveBayes
from bayesieve.criteria import AUC
from bayesieve.engine.contract import Units
from bayesieve.search import DiversifiedSearch, RandomSearch, RankedSearch
from bayesieve.search.objective import SubsetScorer
from incidents import incidents, mean_auc
from ledgers import sparse_ledger, total_scores
from plain import plain_selector

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=40, deadline=None, derandomize=True)


@quick
@given(seed=seeds, form=st.sampled_from(["bernoulli", "categorical", "gaussian"]),
       groups=st.booleans(), weighted=st.booleans())  # fmt: skip
def test_pairs_after_any_moves_are_recounted(seed, form, groups, weighted):
    rng = np.random.default_rng(seed)
    X, Y = incidents(seed, 40, 8)
    Y[2:, 2] = 0  # a label with one positive
    table = X.astype(float)
    if form != "bernoulli":
        table = table * rng.integers(1, 4, X.shape)
    if form == "gaussian":
        table += rng.normal(size=X.shape).round(1)
    weights = rng.integers(1, 4, 40) if weighted else np.ones(40, int)
    units = [[0, 5], [1], [2, 3, 4]] if groups else []
    units += [[j] for j in range(X.shape[1]) if not any(j in unit for unit in units)]
    ledger = sparse_ledger(table, Y, [form] * X.shape[1], weights=weights)
    grouped = Units(tuple(map(tuple, units)))
    settler, rule = SubsetScorer(ledger, AUC(), grouped), AUC().rule(ledger)
    repeated = np.repeat(np.arange(40), weights)
    inside = set()

    def odds():
        sums = total_scores(ledger)
        return (sums[:, :, 1] - sums[:, :, 0]).T

    for _ in range(12):
        unit = int(rng.integers(len(units)))
        sign = -1 if unit in inside else 1
        asked = settler.keys([unit], sign)[0]
        assert settler.best([unit], sign) == (unit, asked)
        settler.apply(units[unit], sign)
        inside ^= {unit}
        assert settler.now() == asked
        unit_of_keys = math.lcm(*(share.denominator for share in rule.shares))
        assert Fraction(asked, unit_of_keys) == -mean_auc(Y[repeated], odds()[repeated])
    ranks = np.column_stack([np.unique(s, return_inverse=True)[1] for s in odds().T])
    theirs = roc_auc_score(Y, ranks, sample_weight=weights)
    assert settler.value(settler.now()) == pytest.approx(theirs, abs=1e-12)


def test_folds_have_an_area_each():
    X, Y = incidents(1, 200)
    folds = list(StratifiedKFold(4).split(X, Y[:, 2]))
    selector = plain_selector(
        search="forward", criterion="auc", cv=folds, validation=None, n_features=3
    ).fit(sp.csr_array(X), Y)
    chosen = np.sort(selector.selected_)
    areas = []
    for train, test in folds:
        model = NaiveBayes("bernoulli").fit(X[train][:, chosen], Y[train])
        scores = model.decision_function(X[test][:, chosen])
        areas.append(
            [roc_auc_score(y, s.round(9)) for y, s in zip(Y[test].T, scores.T, strict=True)]
        )
    score = selector.path_.steps[selector.path_.chosen].score
    assert score == pytest.approx(np.mean(areas), abs=1e-12)


def sparse_forms(X):
    """The same table in every form that users may have."""
    unsorted = sp.csr_array(X)
    for i in range(X.shape[0]):
        part = slice(unsorted.indptr[i], unsorted.indptr[i + 1])
        unsorted.indices[part] = unsorted.indices[part][::-1].copy()
        unsorted.data[part] = unsorted.data[part][::-1].copy()
    unsorted.has_sorted_indices = False
    rows, columns = np.nonzero(X)
    twice = sp.coo_array(
        (np.full(2 * rows.size, 0.5), (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape
    )
    zeros = sp.csc_array(X.astype(float))
    zeros[0, 1] = 1.0
    zeros.data[zeros.indptr[1]] = 0.0
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return {
        "csr": sp.csr_array(X), "csc": sp.csc_array(X), "matrix": sp.csr_matrix(X), "bool": X > 0,
        "sparse bool": sp.csr_array(X > 0), "dense": X, "frame": pd.DataFrame(X),
        "unsorted": unsorted, "twice": twice, "explicit zero": zeros, "int64": wide,
    }  # fmt: skip


@pytest.mark.parametrize("criterion", ["auc", "penalised-auc", "error", "probability"])
@pytest.mark.parametrize("cv", ["train", 3])
@pytest.mark.parametrize("labels", [True, False])
def test_every_form_selects_the_same(criterion, cv, labels):
    X, Y = incidents(3)
    y = Y if labels else Y[:, 0]
    steps = {}
    for name, table in sparse_forms(X).items():
        before = table.copy()
        selector = plain_selector(
            search="forward-backward", criterion=criterion, cv=cv, random_state=0
        ).fit(table, y)
        found = selector.path_
        steps[name] = [(s.action, s.units, s.score, s.validation_error) for s in found.steps]
        assert steps[name] == steps["csr"], name
        model = selector.estimator_
        assert selector.predict(table).shape == y.shape
        np.testing.assert_array_equal(
            selector.predict_proba(table), model.predict_proba(X[:, selector.support_])
        )
        if sp.issparse(table):
            assert (before != table).nnz == 0


@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood"])
def test_several_classes_from_sparse_columns(criterion):
    X, _ = incidents(5, 150)
    y = np.random.default_rng(0).integers(0, 4, 150)
    y[X[:, 4] > 0] = 2
    weights = np.random.default_rng(1).integers(0, 3, 150)
    found = [
        plain_selector(
            search="sffs", criterion=criterion, cv=3, class_weight="balanced", random_state=0
        ).fit(table, y, sample_weight=weights)
        for table in (X, sp.csr_array(X))
    ]
    one, other = (
        [(s.units, s.score, s.validation_error) for s in each.path_.steps] for each in found
    )
    assert one == other
    np.testing.assert_array_equal(
        *(each.estimator_.predict_proba(X[:, each.support_]) for each in found)
    )


def test_labels_are_binary_models_side_by_side():
    X, Y = incidents(7)
    rng = np.random.default_rng(0)
    mixed = pd.DataFrame(
        {"a": X[:, 4], "b": rng.choice(list("uvw"), 120), "c": rng.normal(size=120)}
    )
    features = {"c": "gaussian"}
    model = NaiveBayes(features).fit(mixed, pd.DataFrame(Y, columns=["p", "q", "r"]))
    assert model.label_names_ == ["p", "q", "r"]
    for j, y in enumerate(Y.T):
        alone = NaiveBayes(features).fit(mixed, y)
        np.testing.assert_array_equal(
            model.predict_proba(mixed)[:, j], alone.predict_proba(mixed)[:, 1]
        )
        np.testing.assert_array_equal(model.predict(mixed)[:, j], alone.predict(mixed))
        np.testing.assert_allclose(
            model.decision_function(mixed)[:, j], alone.decision_function(mixed)
        )
        terms = alone.terms(mixed)
        np.testing.assert_allclose(model.terms(mixed)[..., j], terms[..., 1] - terms[..., 0])
    halves = NaiveBayes(features)
    for part in (slice(0, 60), slice(60, None)):
        halves.partial_fit(mixed[part], Y[part])
    np.testing.assert_allclose(halves.predict_proba(mixed), model.predict_proba(mixed), atol=1e-9)
    linear = NaiveBayes().fit(sp.csc_array(X), Y)
    assert linear.coef_.shape == (3, 14)
    np.testing.assert_allclose(
        X @ linear.coef_.T + linear.intercept_, linear.decision_function(X), atol=1e-9
    )


def test_sparse_columns_count_by_presence_unless_said_otherwise():
    X, Y = incidents(9)
    counts = X * np.random.default_rng(0).integers(1, 5, X.shape)
    y = Y[:, 0]
    by_presence = NaiveBayes().fit(sp.csr_array(counts), y)
    wanted = NaiveBayes().fit((counts > 0).astype(int), y).predict_proba((counts > 0).astype(int))
    np.testing.assert_array_equal(by_presence.predict_proba(sp.csr_array(counts)), wanted)
    np.testing.assert_array_equal(by_presence.predict_proba(counts), wanted)
    by_value = NaiveBayes("categorical").fit(sp.csr_array(counts), y)
    dense = NaiveBayes("categorical").fit(counts, y)
    np.testing.assert_array_equal(
        by_value.predict_proba(sp.csr_array(counts)), dense.predict_proba(counts)
    )
    selector = plain_selector(NaiveBayes("categorical"), criterion="auc", validation=None)
    one = selector.fit(sp.csr_array(counts), Y).path_.to_dict()
    assert str(one) == str(selector.fit(counts, Y).path_.to_dict())


def test_area_of_continuous_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = rng.normal(size=(80, 4)) + y[:, None] * [2, 1, 0, 0]
    X[::9, 1] = np.nan
    selector = plain_selector(NaiveBayes("gaussian"), "forward", "auc", validation=None)
    selector.fit(X, y)
    step = selector.path_.steps[selector.path_.chosen]
    assert step.score == roc_auc_score(y, selector.decision_function(X))
    assert selector.selected_[0] == 0
    smooth = plain_selector(NaiveBayes(var_smoothing=0.1), "forward", "auc", validation=None).fit(
        X, y
    )
    step = smooth.path_.steps[smooth.path_.chosen]
    assert step.score == pytest.approx(roc_auc_score(y, smooth.decision_function(X)), abs=1e-12)


def test_labels_without_positives_are_refused_or_skipped():
    X, Y = incidents(2)
    Y = pd.DataFrame(Y, columns=["a", "b", "c"])
    Y["b"] = 0
    with pytest.raises(ValueError, match="label 'b' has no positive row among those"):
        plain_selector(criterion="auc", validation=None).fit(X, Y)
    selector = plain_selector(criterion=AUC(undefined="skip"), validation=None).fit(X, Y)
    without = plain_selector(criterion="auc", validation=None).fit(X, Y[["a", "c"]])
    assert [s.score for s in selector.path_.steps] == [s.score for s in without.path_.steps]
    proba = selector.predict_proba(X)
    assert np.isfinite(proba).all()
    assert (proba[:, 1] == 0).all()
    Y["b"] = 1
    with pytest.raises(ValueError, match="label 'b' has no negative row"):
        plain_selector(criterion="auc", validation=None).fit(X, Y)
    Y["b"] = [1] + [0] * (len(X) - 1)
    with pytest.raises(ValueError, match=r"label 'b' has no positive row in fold \d"):
        plain_selector(criterion="auc", cv=3, validation=None).fit(X, Y)
    with pytest.raises(ValueError, match="no label has both"):
        plain_selector(criterion=AUC(undefined="skip"), validation=None).fit(X, Y * 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.full((120, 2), 2)}, "must hold 0 and 1 only; got"),
        ({"y": np.full((120, 2), "a")}, "must hold 0 and 1 only"),
        ({"y": np.zeros((7, 2))}, "y has 7 rows, but X has 120"),
        ({"X": sp.csr_array(np.full((120, 2), np.nan))}, "sparse and contains NaN"),
        ({"cv": "loo"}, "cv='loo' has no closed form for"),
        ({"class_weight": "balanced"}, "class_weight is for classes"),
        ({"estimator": FeatureVotes(), "y": np.arange(120) % 3}, "FeatureVotes needs two classes"),
        ({"y": np.arange(120) % 3}, "needs two classes or a 0/1 matrix of labels; got 3 classes"),
        (
            {"estimator": FeatureVotes(), "X": np.random.default_rng(0).normal(size=(120, 3))},
            "bernoulli",
        ),
        ({"search": DiversifiedSearch("all")}, "begin must be one of"),
        ({"search": DiversifiedSearch(-1)}, "begin must be a whole number from 0"),
        ({"search": RandomSearch(draws=0)}, "draws must be a whole number from 1"),
        ({"search": RandomSearch(sizes=5)}, "sizes must be a sequence"),
        ({"criterion": AUC(0.1)}, "penalty must be callable; got 0.1"),
        ({"search": RandomSearch(sizes=(0,))}, "sizes must hold whole numbers from 1"),
        ({"estimator": FeatureVotes("rarely")}, "orientation must be one of 'label', 'rare'"),
        ({"criterion": AUC(undefined="drop")}, "undefined must be one of 'raise', 'skip'"),
    ],
)
def test_bad_input(change, message):
    X, Y = incidents(0)
    options = {"criterion": "auc", "validation": None, **change}
    table, y = options.pop("X", sp.csr_array(X)), options.pop("y", Y)
    with pytest.raises((TypeError, ValueError), match=message):
        plain_selector(**options).fit(table, y)


def test_batches_of_labels_must_agree():
    X, Y = incidents()
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    model = NaiveBayes().partial_fit(X, frame)
    with pytest.raises(ValueError, match=r"y has the labels \['b', 'a', 'c'\]"):
        model.partial_fit(X, frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match="y must be a matrix of 3 labels"):
        model.partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="the first call to partial_fit had classes"):
        NaiveBayes().partial_fit(X, Y[:, 0], classes=[0, 1]).partial_fit(X, Y)


def test_batches_of_sparse_counts_add_up():
    X, Y = incidents()
    counts = X * np.random.default_rng(0).integers(1, 5, X.shape)
    for y, options in ((Y, {}), (Y[:, 0], {"classes": [0, 1]})):
        whole = NaiveBayes().fit(sp.csr_array(counts), y)
        parts = NaiveBayes().partial_fit(sp.csr_array(counts[:50]), y[:50], **options)
        parts.partial_fit(counts[50:], y[50:])
        np.testing.assert_allclose(parts.predict_proba(counts), whole.predict_proba(counts))


def test_terms_of_labels_are_never_nan():
    X, Y = incidents()
    model = NaiveBayes("bernoulli", smoothing=0).fit(X, Y)
    odd = np.ones((1, 14))
    assert not np.isnan(model.terms(odd)).any()
    assert not np.isnan(model.decision_function(odd)).any()


def test_labels_in_many_forms():
    X, Y = incidents()
    wanted = NaiveBayes().fit(X, Y).predict_proba(X)
    mixed = pd.DataFrame({"a": Y[:, 0] == 1, "b": Y[:, 1], "c": Y[:, 2].astype(object)})
    for labels in (mixed, sp.csr_array(Y), Y.astype(bool), Y.astype(float), Y.tolist()):
        np.testing.assert_array_equal(NaiveBayes().fit(X, labels).predict_proba(X), wanted)
    with pytest.raises(ValueError, match="labels of the same name"):
        NaiveBayes().fit(X, pd.DataFrame(Y, columns=["a", "a", "b"]))
    with pytest.raises(TypeError, match="must be a dense array; got a sparse one"):
        NaiveBayes().fit(X, sp.coo_array(Y[:, 0]))


def test_rare_combinations_of_labels_can_be_split():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 2, (400, 6)), (rng.random((400, 60)) < 0.2).astype(int)
    for cv in ("train", 5):
        selector = plain_selector(search="forward", criterion="auc", cv=cv, random_state=0)
        assert len(selector.fit(X, Y).validation_rows_) == 200
    assert "validation_score" in selector.path_.to_dict()


def test_folds_without_test_rows_and_searches_without_candidates():
    X, Y = incidents(0, 60)
    empty = [(np.arange(30), np.arange(30, 60)), (np.arange(60), np.arange(0))]
    with pytest.raises(ValueError, match="has no positive row in fold 1"):
        plain_selector(criterion="auc", cv=empty, validation=None).fit(X, Y)
    skipped = plain_selector(criterion=AUC(undefined="skip"), cv=empty, validation=None)
    alone = plain_selector(criterion=AUC(undefined="skip"), cv=empty[:1], validation=None)
    one, other = (s.fit(X, Y).path_.steps for s in (skipped, alone))
    assert [s.score for s in one] == [s.score for s in other]
    kept = plain_selector(
        search=RankedSearch("score"), criterion="auc", validation=None, keep=range(14)
    ).fit(X, Y)
    assert len(kept.selected_) == 14


def test_dependencies_of_counts_are_those_of_presence():
    X, Y = incidents(2)
    counts = sp.csr_array(X * np.random.default_rng(0).integers(1, 4, X.shape))
    found = [
        plain_selector(search="dependency", criterion="error", cv=3, validation=None)
        .fit(table, Y[:, 0])
        .path_.to_dict()
        for table in (counts, X)
    ]
    assert str(found[0]) == str(found[1])
