"""Groups are what is left out and counted: facts of groups that tell nothing stay out."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

import grouped
from bayesieve import NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.search.inner import is_ahead
from bayesieve.search.weights import clustered_gains

# Every setting, kind of fact and number of groups, each at least once.
SOME = [
    ("selector", "binary", 20),
    ("selector few", "category", 10),
    ("selector accurate", "number", 40),
    ("weighted", "number", 20),
    ("weighted few", "binary", 100),
    ("weighted accurate", "category", 40),
    ("weighted, no pairs", "category", 20),
    ("weighted, pairs", "binary", 10),
]
EVERY = [
    (setting, fact, n_groups)
    for setting in grouped.SETTINGS
    for fact in grouped.FACTS
    for n_groups in (10, 20, 40, 100)
]


def holds(setting, fact, n_groups, n_draws):
    """At most 5 % of draws keep noise, new groups lose little, and what is real is found."""
    most = 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_draws)
    for real in (False, True):
        found = [grouped.tried(setting, fact, n_groups, real, seed) for seed in range(n_draws)]
        assert np.mean([each["noise"] for each in found]) <= most
        assert np.mean([each["above"] for each in found]) <= 0.06
        hits = [each["found"] for each in found if each["oracle"]]
        # Of a handful of draws no share can be told.
        assert len(hits) < 10 or np.mean(hits) >= 0.9
    return True


@pytest.mark.parametrize(("setting", "fact", "n_groups"), SOME)
def test_noise_of_groups_stays_out(setting, fact, n_groups):
    assert holds(setting, fact, n_groups, 20)


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "fact", "n_groups"), EVERY)
def test_noise_of_groups_stays_out_everywhere(setting, fact, n_groups):
    assert holds(setting, fact, n_groups, 200)


def test_the_loss_of_a_path_is_that_of_groups_left_out():
    """The log-loss of the last step, from the definition: tables of the other groups alone."""
    rng = np.random.default_rng(0)
    mates = rng.integers(0, 8, 200)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 3)) < 0.3 + 0.3 * y[:, None] * [1, 1, 0]).astype(float)
    model = WeightedNaiveBayes(pairs=False, price=0.5, features="bernoulli")
    path = model.fit(X, y, groups=mates).path_
    step = path.steps[-1]
    total = 0.0
    for i in range(200):
        others = mates != mates[i]
        count = np.bincount(y[others], minlength=2)
        shares = (count + 1) / (count.sum() + 2)
        scores = step.constants[0] / 64
        for term, weights in zip(step.terms, step.weights[0] / 16, strict=True):
            alike = others & (X[:, term] == X[i, term])
            chance = (np.bincount(y[alike], minlength=2) + 1) / (count + 2)
            scores = scores + weights * np.log(chance / (chance @ shares))
        total -= scores[y[i]] - np.logaddexp(*scores)
    assert len(step.terms) >= 2
    assert step.loss == pytest.approx(total / 200, abs=1e-9)


def test_standard_errors_are_those_of_groups():
    """One error of the choice by groups: from the definition, row by row."""
    rng = np.random.default_rng(1)
    mates = np.repeat(np.arange(30), 8)
    y = rng.integers(0, 2, 30)[mates]
    X = rng.normal(size=(240, 2)) + np.c_[y, 0 * y] + rng.normal(size=30)[mates, None]
    settings = {"search": "forward", "criterion": "error", "cv": 5, "choice": "one-se"}
    selector = NaiveBayesSelector(validation=None, reweigh=False, **settings).fit(
        X, y, groups=mates
    )
    best = selector.path_.subset(selector.path_.best)
    # Every row decided by the folds that the search used.
    from sklearn.model_selection import StratifiedGroupKFold

    from bayesieve import NaiveBayes

    wrong = np.empty(240)
    for train, test in StratifiedGroupKFold(5).split(X, y, mates):
        model = NaiveBayes().fit(X[train][:, best], y[train])
        wrong[test] = model.predict(X[test][:, best]) != y[test]
    by_group = np.bincount(mates, wrong - wrong.mean())
    expected = np.sqrt(30 / 29 * (by_group**2).sum()) / 240
    assert wrong.mean() == pytest.approx(selector.path_.steps[selector.path_.best].score)
    assert selector.path_.standard_error == pytest.approx(expected)


def test_gains_count_as_far_as_groups_vouch_for_them():
    rng = np.random.default_rng(2)
    for n_folds in (2, 5, 20):
        moved = rng.normal(size=(4, n_folds)) + np.arange(4)[:, None]
        for each, found in zip(moved, clustered_gains(moved), strict=True):
            # Every pair of folds stands twice in the sum: the variance is twice as large.
            statistic = ttest_1samp(each, 0.0).statistic / np.sqrt(2)
            from scipy.stats import norm, t

            chance = t.sf(statistic, n_folds - 1)
            assert found == pytest.approx(norm.isf(chance) ** 2 / 2 if statistic > 0 else 0.0)


def test_options_are_told_apart_by_groups():
    rng = np.random.default_rng(3)
    kept = [is_ahead(rng.standard_t(3, 20) * 9, np.zeros(20), True) for _ in range(400)]
    assert np.mean(kept) < 0.08
    assert np.mean([is_ahead(rng.normal(-9, 9, 20), np.zeros(20), True) for _ in range(99)]) > 0.9


def test_every_row_a_group_of_its_own():
    """Groups of one row are rows: nothing is refused, and the strong column is found."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 120)
    X = np.c_[rng.normal(size=120) + 2 * y, rng.normal(size=120)]
    for model in (WeightedNaiveBayes(), NaiveBayesSelector()):
        assert model.fit(X, y, groups=np.arange(120)).support_.tolist() == [True, False]


def test_a_class_within_one_group():
    """Without its only group a class has no rows: its rows are judged all the same."""
    rng = np.random.default_rng(5)
    mates = np.arange(90) // 10
    y = np.where(mates == 4, 2, mates % 2)
    X = np.c_[rng.normal(size=90) + 3 * y, rng.normal(size=90)]
    model = WeightedNaiveBayes().fit(X, y, groups=mates)
    assert np.isfinite([step.loss for step in model.path_.steps]).all()
    assert np.isfinite(model.predict_proba(X)).all()
