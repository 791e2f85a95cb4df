"""Selectors judged on rows that took no part."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

import reference
from bayesieve import FeatureVotes, NaiveBayes, NaiveBayesSelector, nested
from bayesieve.criteria import AUC, Criterion, SizePenalty
from bayesieve.criteria.auc import auc_parts
from bayesieve.criteria.base import line_values
from plain import plain_selector
from tables import binary_table


def outer(y, n_folds, seed):
    """The folds and the selectors' seeds, as drawn."""
    rng = check_random_state(seed)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
    splits = list(folds.split(y, y))
    return splits, rng.randint(2**31 - 1, size=n_folds)


def judged(criterion, fitted, X, y, weight=None):
    """The criterion by scikit-learn's metrics."""
    proba = fitted.predict_proba(X)
    if criterion == "error":
        return np.average(fitted.predict(X) != y, weights=weight)
    if criterion == "auc":
        return roc_auc_score(y, fitted.decision_function(X), sample_weight=weight)
    if criterion == "log-likelihood":
        return -log_loss(y, proba, labels=fitted.classes_, sample_weight=weight)
    own = proba[np.arange(len(y)), np.searchsorted(fitted.classes_, y)]
    return 1 - np.average(own, weights=weight)


@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood", "auc"])
@pytest.mark.parametrize("validation", [0.4, None])
def test_folds_are_fits_on_their_training_rows(criterion, validation):
    X, y = binary_table(160, 8, n_classes=2 if criterion == "auc" else 3)
    rng = np.random.default_rng(0)
    X = np.column_stack([X, rng.normal(size=160) + y, rng.normal(size=160)])
    selector = plain_selector(search="forward", criterion=criterion, validation=validation, cv=3)
    found = nested(selector, X, y, cv=4, random_state=7)
    splits, seeds = outer(y, 4, 7)
    for fold, (train, test), seed in zip(found.folds, splits, seeds, strict=True):
        mine = clone(selector).set_params(random_state=int(seed)).fit(X[train], y[train])
        step = mine.path_.steps[mine.path_.chosen]
        assert fold.guiding == step.score
        assert fold.columns == tuple(mine.selected_)
        np.testing.assert_equal(fold.validation, step.validation_error)
        assert fold.honest == pytest.approx(judged(criterion, mine, X[test], y[test]), abs=1e-9)
        assert fold.error == pytest.approx(np.mean(mine.predict(X[test]) != y[test]), abs=1e-15)
    sign = 1 if criterion in ("auc", "log-likelihood") else -1
    assert np.array_equal(found.optimism, sign * (found.guiding - found.honest))
    assert found.higher_is_better == (sign == 1)
    again = nested(selector, X, y, cv=4, random_state=7, n_jobs=2)
    assert found.to_dict() == again.to_dict()


def test_noise_is_seen_through():
    """On noise the guiding error promises much; the held-out error is that of a coin."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (100, 60)), np.arange(100) % 2
    found = nested(
        plain_selector(search="forward", criterion="error", validation=None),
        X, y, cv=5, random_state=0,
    )  # fmt: skip
    assert found.mean(found.guiding) < 0.3
    assert found.mean(found.honest) > 0.4
    assert found.mean(found.optimism) > 3 * found.standard_error(found.optimism)
    # The best of sixty errors on as few rows chooses, and flatters too.
    held = nested(plain_selector(search="forward"), X, y, cv=5, random_state=0)
    assert held.mean(held.choice_optimism) > 0


def test_weights_repeat_rows():
    X, y = binary_table(120, 6)
    weight = np.random.default_rng(1).integers(0, 4, 120)
    kept = np.flatnonzero(weight)
    selector = plain_selector(search="forward", class_weight="balanced", random_state=0)
    found = nested(selector, X, y, cv=3, random_state=0, sample_weight=weight)
    splits, _ = outer(y[kept], 3, 0)
    for fold, (train, test) in zip(found.folds, splits, strict=True):
        train, test = kept[train], kept[test]
        mine = clone(selector).fit(X[train], y[train], sample_weight=weight[train])
        counts = np.bincount(y[train], weight[train])
        balanced = weight[test] / counts[y[test]]
        assert fold.honest == pytest.approx(
            judged("probability", mine, X[test], y[test], balanced), abs=1e-9
        )
        assert fold.error == pytest.approx(
            np.average(mine.predict(X[test]) != y[test], weights=weight[test]), abs=1e-12
        )
        assert fold.weight == weight[test].sum()


@pytest.mark.parametrize("criterion", ["auc", "error", "probability", "log-likelihood"])
def test_labels(criterion):
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((300, 20), density=0.2, rng=rng, format="csr")
    dense = X.toarray() != 0
    Y = np.column_stack([dense[:, 0] | dense[:, 1], dense[:, 2]]) ^ (rng.random((300, 2)) < 0.1)
    Y = Y.astype(int)
    selector = plain_selector(None, "forward", criterion, max_features=4, random_state=0)
    splits = [(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))]
    found = nested(selector, X, Y, cv=splits)
    for fold, (train, test) in zip(found.folds, splits, strict=True):
        mine = clone(selector).fit(X[train], Y[train])
        proba, truth = mine.predict_proba(X[test]), Y[test]
        own = np.where(truth == 1, proba, 1 - proba)
        expected = {
            "auc": roc_auc_score(truth, mine.decision_function(X[test])),
            "error": np.mean(mine.predict(X[test]) != truth),
            "probability": np.mean(1 - own),
            "log-likelihood": np.mean(np.log(own)),
        }[criterion]
        assert fold.honest == pytest.approx(expected, abs=1e-9)
        assert fold.error == np.mean(mine.predict(X[test]) != truth)


def test_votes_and_prices():
    X, y = binary_table(150, 10, n_classes=2)
    priced = AUC(SizePenalty(free=1, scale=20))
    selector = plain_selector(FeatureVotes(), "forward", priced, random_state=0)
    found = nested(selector, X, y, cv=3, random_state=0)
    for fold, (train, test) in zip(found.folds, outer(y, 3, 0)[0], strict=True):
        mine = clone(selector).fit(X[train], y[train])
        area = roc_auc_score(y[test], mine.decision_function(X[test]))
        price = ((len(mine.selected_) - 1) / 20) ** 2
        assert fold.honest == pytest.approx(area - price, abs=1e-12)
    assert found.validation_name == "validation_score"
    assert np.array_equal(found.choice_optimism, found.validation - found.honest)


def test_frames_groups_and_a_level_seen_only_in_held_out_rows():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"] * 40)
    X = pd.DataFrame({"kind": rng.choice(["a", "b"], 80), "size": rng.normal(size=80)})
    X.loc[0, "kind"] = "only here"
    X.loc[y == "yes", "size"] += 2
    groups = np.arange(80) // 8
    found = nested(plain_selector(random_state=0), X, y, cv=GroupKFold(5), groups=groups)
    assert found.feature_names == ("kind", "size")
    assert all("size" in names for names in found.subsets)
    assert found.mean(found.error) < 0.3


def test_plain_values_and_text():
    X, y = binary_table(120, 6)
    found = nested(plain_selector(validation=None, random_state=0), X, y, cv=3, random_state=0)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["folds"][0]["validation_error"] is None
    assert plain["summary"]["honest"]["mean"] == found.mean(found.honest)
    assert [len(fold["names"]) for fold in plain["folds"]] == found.sizes.tolist()
    assert "choice_optimism" not in plain["summary"]
    text = nested(plain_selector(random_state=0), X, y, cv=3, random_state=0).to_text()
    assert "choice optimism" in text
    assert "criterion expected error (lower is better)" in text
    assert np.isnan(found.standard_error([1.0]))
    assert found.standard_error([1.0, 3.0]) == 1.0


def test_criteria_of_ones_own_are_reported():
    class Margin(Criterion):
        name = "margin"

        def loss(self, scores, classes, weights):
            return -float(weights @ (scores[np.arange(len(classes)), classes] - scores.mean(1)))

    X, y = binary_table(90, 5)
    found = nested(plain_selector(criterion=Margin()), X, y, cv=3, random_state=0)
    assert found.mean(found.error) < 0.7
    # Its loss on the rows held out, as anybody would compute it.
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    known = [*folds]
    again = nested(plain_selector(criterion=Margin()), X, y, cv=known, random_state=0)
    for fold, (train, test) in zip(again.folds, known, strict=True):
        columns = sorted(fold.columns)
        model = NaiveBayes("bernoulli").fit(X[train][:, columns], y[train])
        scores = model.predict_joint_log_proba(X[test][:, columns])
        by_hand = Margin().loss(scores, y[test], np.ones(len(test)))
        assert fold.honest == pytest.approx(by_hand, abs=1e-9)
    assert np.isfinite(found.honest).all()


def test_empty_subsets_and_impossible_values():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    noise = rng.integers(0, 2, (90, 3))
    empty = plain_selector(search="forward", min_features=0, validation=None, cv="loo")
    found = nested(empty, noise, y, cv=3, random_state=0)
    assert found.sizes.min() == 0
    strict = plain_selector(NaiveBayes(smoothing=0), "forward", "log-likelihood")
    X = np.column_stack([noise, y])  # a category tells all: other classes are impossible
    certain = nested(strict.set_params(estimator__features="categorical"), X, y, random_state=0)
    assert np.isfinite(certain.honest).all()
    assert certain.mean(certain.error) == 0


def test_bad_folds_are_named():
    X, y = binary_table(60, 4)
    selector = plain_selector()
    with pytest.raises(TypeError, match="selector must be"):
        nested(NaiveBayes(), X, y)
    with pytest.raises(TypeError, match="cv must be a number of folds"):
        nested(selector, X, y, cv="loo")
    with pytest.raises(ValueError, match="cv must be a whole number from 2"):
        nested(selector, X, y, cv=1)
    with pytest.raises(ValueError, match="trains on rows that it holds out"):
        nested(selector, X, y, cv=[(np.arange(60), np.arange(5))])
    with pytest.raises(ValueError, match="holds no row out"):
        nested(selector, X, y, cv=[(np.arange(50), np.arange(50, 60)), (np.arange(60), [])])
    rare = np.where(np.arange(60) == 59, 9, y)
    with pytest.raises(ValueError, match=r"rows of class .*9.* trains on none"):
        nested(selector, X, rare, cv=[(np.arange(50), np.arange(50, 60))])
    two = (y > 0).astype(int)
    only = np.flatnonzero(two == 1)[:3]
    splits = [(np.setdiff1d(np.arange(60), only), only)]
    with pytest.raises(ValueError, match="no negative row"):
        nested(plain_selector(criterion="auc"), X, two, cv=splits)
    with pytest.raises(ValueError, match="no AUC is defined"):
        nested(plain_selector(criterion=AUC(undefined="skip")), X, two, cv=splits)


# -- values of single rows -----------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_areas_and_their_shares(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    truth = np.append([True, False], rng.integers(0, 2, n).astype(bool))
    scores = rng.integers(0, 5, n + 2)
    weights = rng.integers(1, 4, n + 2)
    area, shares = auc_parts(scores, truth, weights)
    repeated = np.repeat(truth, weights), np.repeat(scores, weights)
    counted, pairs = reference.doubled_pairs(repeated[0].tolist(), repeated[1].tolist())
    positive, negative = int(repeated[0].sum()), int((~repeated[0]).sum())
    assert area == counted / pairs
    # DeLong's variance from all pairs.
    wins = np.sign(repeated[1][repeated[0]][:, None] - repeated[1][~repeated[0]]) / 2 + 0.5
    delong = sum(
        np.var(wins.mean(axis), ddof=1) / count if count > 1 else 0.0
        for axis, count in ((1, positive), (0, negative))
    )
    assert (weights * shares**2).sum() == pytest.approx(delong, abs=1e-12)


def test_values_of_lines():
    sums = np.array([[0, 1], [3, 0], [2, 2], [-3000, 0]])
    unit, classes = 0.5, np.array([1, 1, 1, 0])
    wrong = [0.0, 1.0, 1.0, 1.0]  # equals: the first class
    assert line_values("error", sums, unit, classes).tolist() == wrong
    own = np.exp([0.5, 0.0, 1.0]) / (np.exp([0.5, 0.0, 1.0]) + np.exp([0.0, 1.5, 1.0]))
    np.testing.assert_allclose(line_values("probability", sums, unit, classes)[:3], 1 - own)
    np.testing.assert_allclose(line_values("log-likelihood", sums, unit, classes)[:3], np.log(own))
    assert line_values("log-likelihood", sums, unit, classes)[3] == -1500


class _Brier(Criterion):
    """Lower is better, and it chooses among the subsets itself."""

    name = "brier"
    chooses = True

    def loss(self, scores, classes, weights):
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        apart = np.square(shares - np.eye(scores.shape[1])[classes]).sum(1)
        return float(weights @ apart / weights.sum())


def test_an_own_criterion_that_chooses_is_reported_as_such():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    selector = NaiveBayesSelector(
        search="forward", criterion=_Brier(), cv="train", validation=0.4, random_state=0
    )
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    found = nested(selector, X, y, cv=folds, random_state=0)
    assert found.validation_name == "validation_score"
    for (train, test), fold in zip(folds, found.folds, strict=True):
        mine = clone(selector).fit(X[train], y[train])
        proba = mine.predict_proba(X[test])
        brier = np.square(proba - np.eye(2)[y[test]]).sum(1).mean()
        assert fold.honest == pytest.approx(brier, abs=1e-9)
        assert fold.validation == mine.path_.steps[mine.path_.chosen].validation_error
    # Lower is better: it flattered where the held-out score is the higher one.
    assert found.choice_optimism == pytest.approx(found.honest - found.validation)


def test_folds_are_another_name_of_cv():
    X, y = load_iris(return_X_y=True)
    selector = NaiveBayesSelector(criterion="log-likelihood")
    one, other = (nested(selector, X, y, random_state=0, **{name: 3}) for name in ("cv", "folds"))
    assert one == other
    assert len(nested(selector, X, y, random_state=0).folds) == 5
    with pytest.raises(ValueError, match="two names of one thing"):
        nested(selector, X, y, cv=3, folds=3)
