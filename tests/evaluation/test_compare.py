"""`compare` against the same done by hand with scikit-learn; and bad input."""

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from bayesieve import WeightedNaiveBayes, compare
from bayesieve.evaluation.compare import METHODS, SCORES
from bayesieve.evaluation.compare.methods import (
    align,
    calibration_error,
    judge_probabilities,
    named_method,
    used_features,
)
from bayesieve.evaluation.crossfit import fresh_copy
from comparisons import CLOCKS, DEMSAR, NAMES, SETS, made, without_clocks
from plain import plain_selector
from weighted import terms_of

# -- the same by hand ----------------------------------------------------------------------------


def slow_calibration_error(confidence, hit):
    """From the definition: sort, cut at equal counts, equal probabilities together."""
    n = len(confidence)
    bins = [[] for _ in range(10)]
    for i, value in enumerate(confidence):
        below, same = sum(confidence < value), sum(confidence == value)
        middle = below + (same + 1) / 2  # mean rank, from 1
        bins[math.floor((middle - 0.5) * 10 / n)].append(i)
    return sum(len(b) / n * abs(np.mean(confidence[b]) - np.mean(hit[b])) for b in bins if b)


def rows(X, which):
    return X.iloc[which] if hasattr(X, "iloc") else X[which]


def test_three_sets_three_methods_two_seeds_by_hand():
    methods = {
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(max_depth=4, max_features=2),
        "line": make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression()),
    }
    found = compare(methods, SETS, seeds=2, folds=3)
    assert len(found.cells) == 3 * 3 * 2 * 3
    with threadpool_limits(1):
        for name, method in methods.items():
            for data, (X, y) in SETS.items():
                by_hand = []
                for seed in (0, 1):
                    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
                    for train, test in folds.split(X, y):
                        mine = clone(method)
                        if name == "tree":
                            mine.set_params(random_state=seed)
                        if name == "line":
                            mine.set_params(logisticregression__random_state=seed)
                        mine.fit(rows(X, train), y[train])
                        said, proba = mine.predict(rows(X, test)), mine.predict_proba(rows(X, test))
                        truth = np.asarray(y)[test]
                        sure = proba[np.arange(len(said)), said]
                        by_hand.append([
                            accuracy_score(truth, said), balanced_accuracy_score(truth, said),
                            log_loss(truth, proba), brier_score_loss(truth, proba),
                            calibration_error(sure, said == truth),
                        ])  # fmt: skip
                        close = slow_calibration_error(sure, said == truth)
                        assert by_hand[-1][-1] == pytest.approx(close, abs=1e-12)
                for score, wanted in zip(SCORES, np.array(by_hand).T, strict=False):
                    assert (found.values(name, data, score) == wanted).all(), (name, data, score)
                    assert found.score(name, data, score) == wanted.mean()
    assert found.score("line", "cancer", "n_features") == 3
    assert found.score("bayes", "cancer", "n_features") == 30
    for seconds in CLOCKS:
        values = found.values("tree", "wine", seconds)
        assert (values > 0).all()
        assert found.score("tree", "wine", seconds) == np.median(values)


def test_our_selector_by_hand():
    X, y = SETS["wine"]
    selector = plain_selector(search="forward", max_features=4)
    found = compare({"ours": selector}, {"wine": (X, y)}, seeds=[5], folds=3)
    chosen, scores = [], []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=5).split(X, y):
        mine = clone(selector).set_params(random_state=5).fit(X.iloc[train], y[train])
        chosen.append(set(mine.selected_.tolist()))
        scores.append(mine.score(X.iloc[test], y[test]))
    assert found.values("ours", "wine").tolist() == scores
    assert [set(cell.selected) for cell in found.cells] == chosen
    steady = found.steadiness("ours", "wine")
    alike = [len(a & b) / len(a | b) for a, b in combinations(chosen, 2)]
    assert steady.jaccard == pytest.approx(np.mean(alike))
    assert steady.size_sd == pytest.approx(np.std([len(c) for c in chosen], ddof=1))


def test_the_number_of_workers_and_their_kind_change_nothing():
    methods = ["forward", "tree"]
    sets = {"iris": SETS["iris"], "wine": SETS["wine"]}
    alone = compare(methods, sets, seeds=1, folds=3)
    for backend in ("threads", "processes"):
        found = compare(methods, sets, seeds=1, folds=3, n_jobs=2, backend=backend)
        assert without_clocks(found) == without_clocks(alone)


def test_seeds_go_where_nothing_is_said():
    both = make_pipeline(DecisionTreeClassifier(random_state=3))
    assert fresh_copy(both, 7).steps[-1][1].random_state == 3
    assert fresh_copy(make_pipeline(DecisionTreeClassifier()), 7).steps[-1][1].random_state == 7
    ours = plain_selector(progress=True, checkpoint="somewhere")
    mine = fresh_copy(ours, 2)
    assert (mine.random_state, mine.progress, mine.checkpoint) == (2, False, None)
    assert (ours.random_state, ours.progress) == (None, True)


def test_frames_sparse_matrices_and_missing_values():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 90)
    frame = pl.DataFrame({
        "kind": np.where(rng.random(90) < 0.8, y, "other"),
        "size": np.where(rng.random(90) < 0.1, np.nan, (y == "yes") + rng.normal(size=90)),
    })  # fmt: skip
    sets = {
        "frame": (frame, y),
        "sparse": (sp.random(90, 30, 0.3, random_state=0), y),
        "bunch": load_iris(),
    }
    found = compare(list(METHODS), sets, seeds=1, folds=2)
    assert found.failures == []
    assert found.score("logistic", "frame") > 0.7
    assert found.score("svm", "frame", "log_loss") is None
    only = [m for m, rank in found.by("log_loss").ranks.items()]
    assert set(METHODS) - set(only) == {"svm", "linear-svm"}


# -- scores --------------------------------------------------------------------------------------


def test_a_class_that_training_rows_lack_has_probability_zero():
    classes = np.array(["a", "b", "c"])
    proba = align(np.array([[0.7, 0.3], [0.2, 0.8]]), ["c", "a"], classes)
    assert proba.tolist() == [[0.3, 0.0, 0.7], [0.8, 0.0, 0.2]]
    found = judge_probabilities(np.array(["b", "a"]), np.array(["c", "a"]), proba, classes)
    tiny = np.finfo(float).eps
    assert found["log_loss"] == pytest.approx((-math.log(tiny) - math.log(0.8)) / 2)
    assert found["brier"] == pytest.approx((0.09 + 1 + 0.49 + 0.04 + 0.04) / 2)
    with pytest.raises(ValueError, match="one column for each of the 2 classes"):
        align(np.zeros((2, 3)), ["c", "a"], classes)


class Backwards(ClassifierMixin, BaseEstimator):
    """Knows its classes in the opposite order, and only the two most frequent."""

    def fit(self, X, y):
        values, counts = np.unique(y, return_counts=True)
        self.classes_ = values[np.argsort(counts)[::-1]][:2][::-1]
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[1])

    def predict_proba(self, X):
        return np.tile([0.25, 0.75], (len(X), 1))


def test_the_order_of_a_methods_classes_is_its_own():
    y = np.array(["u"] * 10 + ["v"] * 20 + ["w"] * 30)
    found = compare({"b": Backwards()}, {"d": (np.zeros((60, 1)), y)}, seeds=1, folds=2)
    tiny = np.finfo(float).eps
    wanted = -(math.log(tiny) * 10 + math.log(0.25) * 20 + math.log(0.75) * 30) / 60
    assert found.score("b", "d", "log_loss") == pytest.approx(wanted)
    assert found.score("b", "d", "calibration_error") == pytest.approx(0.25)


def test_equal_probabilities_stay_in_one_bin_whatever_the_order_of_rows():
    rng = np.random.default_rng(1)
    sure = rng.choice([0.5, 0.6, 0.9, 0.99, 1.0], 57)
    hit = rng.random(57) < sure
    wanted = slow_calibration_error(sure, hit)
    for _ in range(5):
        order = rng.permutation(57)
        assert calibration_error(sure[order], hit[order]) == pytest.approx(wanted)
    assert calibration_error(np.array([0.5]), np.array([True])) == 0.5


def test_features_are_told_by_the_last_step_that_can():
    X, y = SETS["cancer"]
    two = make_pipeline(
        StandardScaler(), SelectKBest(k=10), StandardScaler(), SelectKBest(k=3), GaussianNB()
    ).fit(X, y)
    first = np.flatnonzero(two[1].get_support())
    told = used_features(two, 30)
    assert told.selected == tuple(first[two[3].get_support()])
    assert told.number == 3
    tuned = GridSearchCV(two, {"selectkbest-2__k": [2]}, cv=2).fit(X, y)
    assert used_features(tuned, 30).number == 2
    assert used_features(GaussianNB().fit(X, y), 30) == (30, None, None)
    codes = np.column_stack([np.arange(60) % 3, np.arange(60) % 2])
    hot = make_pipeline(OneHotEncoder(), VarianceThreshold(0.23), GaussianNB())
    hot.set_params(onehotencoder__sparse_output=False)
    hot.fit(codes, np.arange(60) % 2)
    assert used_features(hot, 2).selected == ("x1_0", "x1_1")

    class Terms(GaussianNB):
        terms_ = ("one", "two")

    assert used_features(Terms().fit(X, y), 30).terms == 2


def test_weighted_terms_are_compared_as_terms():
    """A pair is one term: of two columns, of which others may read one as well."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 5)).astype(float), rng.integers(0, 2, 300)
    X[:, 1] = X[:, 0].astype(int) ^ y ^ (rng.random(300) < 0.1)
    X[:, 4] = np.where(rng.random(300) < 0.2, 1 - y, y)
    method = WeightedNaiveBayes(pairs=True, price=0.1, pair_price=0.0)
    found = compare({"w": method}, {"xor": (X, y)}, folds=3, seeds=1)
    fits = []
    for train, _ in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        fits.append(clone(method).fit(X[train], y[train]))
    told = [[cell.scores[name] for name in ("n_terms", "n_features")] for cell in found.cells]
    assert told == [[len(each.terms_), each.support_.sum()] for each in fits]
    assert any(n_terms != n_features for n_terms, n_features in told)
    sets = [{" x ".join(map(str, term)) for term in terms_of(each)} for each in fits]
    assert [set(map(str, cell.selected)) for cell in found.cells] == sets
    assert all("0 x 1" in each for each in sets)
    alike = [len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    assert np.mean(alike) < 1
    steady = found.steadiness("w", "xor")
    assert steady.jaccard == pytest.approx(np.mean(alike))
    assert steady.size_sd == pytest.approx(np.std([len(each) for each in sets], ddof=1))


def test_terms_behind_other_steps_have_the_words_of_the_first():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
    X[:, 5] = X[:, 3] * (2 * y - 1)
    chosen = make_pipeline(
        StandardScaler(), VarianceThreshold(), SelectKBest(k=6), WeightedNaiveBayes(pairs=True)
    )
    chosen[2].set_params(score_func=lambda X, y: np.array([0, 0, 0, 1, 0, 1.0]), k=2)
    told = used_features(chosen.fit(X, y), 6)
    assert (told.selected, told.number, told.terms) == (("3 x 5",), 2, 1)


# -- bad input -----------------------------------------------------------------------------------

X, Y = SETS["iris"]


@pytest.mark.parametrize(
    ("methods", "data", "options", "error", "words"),
    [
        ("naive-bays", "iris", {}, ValueError,
         "methods must be one of .*'selector'.*got 'naive-bays'.*mean 'naive-bayes'"),
        ([], "iris", {}, ValueError, "methods must be names.*got none. Give at least one"),
        (3, "iris", {}, TypeError, "methods must be names.*got 3"),
        (GaussianNB, "iris", {}, TypeError, r"got the class GaussianNB. Call it"),
        ([StandardScaler()], "iris", {}, TypeError, "StandardScaler.*no predict.*make_pipeline"),
        ([GaussianNB(), GaussianNB()], "iris", {}, ValueError, "'GaussianNB' twice. Give a dict"),
        ("no.such:thing", "iris", {}, ValueError, "'no.such:thing' must name a module and a func"),
        ("tree", "irish", {}, ValueError, "'irish' is not a data set that .* knows; give one"),
        ("tree", {}, {}, ValueError, "data must be a dict.*got none"),
        ("tree", 7, {}, TypeError, "data must be a dict of name.*got int"),
        ("tree", {"d": 7}, {}, TypeError, "data must be a dict of name.*got int for 'd'"),
        ("tree", ["iris", "iris"], {}, ValueError, "data must have names that differ; got 'iris'"),
        ("tree", {"d": (X, Y[:-1])}, {}, ValueError, r"y of 'd' .*150 rows of X; got shape \(149,"),
        ("tree", {"d": (X, np.zeros(150))}, {}, ValueError, "y of 'd' .*two classes; got one"),
        ("tree", {"d": (X, np.eye(150)[:, :3])}, {}, ValueError, "one class a row; got a matrix"),
        ("tree", {"d": (X, [None, *Y[1:]])}, {}, ValueError, "y of 'd' is missing in 1 row"),
        ("tree", {"d": (X[:, 0], Y)}, {}, ValueError, "X of 'd' must be a table"),
        ("tree", {"d": (X, ["a", *Y[1:].tolist()])}, {"folds": 2}, ValueError, "folds must be at"),
        ("tree", {"d": (X, np.array(["a", *Y[1:]], object))}, {}, ValueError, "y of 'd' mixes"),
        ("tree", "iris", {"folds": 51}, ValueError,
         "folds must be at most the number of rows of the rarest class, 50 in 'iris'; got 51. Use"),
        ("tree", "iris", {"folds": 1}, ValueError, "folds must be a whole number from 2; got 1"),
        ("tree", "iris", {"cv": 0}, ValueError, "cv must be a whole number from 2; got 0"),
        ("tree", "iris", {"cv": 2, "folds": 2}, ValueError, "two names of one number; give one"),
        ("tree", "iris", {"seeds": 0}, ValueError, "seeds must be a whole number from 1; got 0"),
        ("tree", "iris", {"seeds": [1, 1]}, ValueError, r"seeds must be .*differ; got \[1, 1\]"),
        ("tree", "iris", {"seeds": []}, ValueError, r"seeds must be a number from 1.*got \[\]"),
        ("tree", "iris", {"seeds": "3"}, TypeError, "seeds must be a whole number from 1; got '3'"),
        ("tree", "iris", {"backend": "thread"}, ValueError, "backend must be .*mean 'threads'"),
        ("tree", "iris", {"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ("tree", "iris", {"progress": 1}, TypeError, "progress must be True or False; got 1"),
        ("tree", "iris", {"checkpoint": 3}, TypeError, "checkpoint must be the path of a file"),
        ("tree", "iris", {"checkpoint": "/no/such/f"}, ValueError, "checkpoint must be a file in"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(methods, data, options, error, words):
    with pytest.raises(error, match=words):
        compare(methods, data, **options)


def test_another_score_must_be_known():
    found = made(DEMSAR, NAMES)
    with pytest.raises(ValueError, match=r"metric must be one of 'accuracy'.*got 'auc'"):
        found.by("auc")
    with pytest.raises(ValueError, match="alpha must be a number from"):
        found.by(alpha=1.0)


@pytest.mark.parametrize("name", METHODS)
def test_every_named_method_can_be_copied_and_asked(name):
    method = named_method(name)
    clone(method)
    assert hasattr(method, "predict")
