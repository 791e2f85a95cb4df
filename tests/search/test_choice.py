"""The smallest subset within one standard error of the best."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from bayesieve import FeatureVotes, NaiveBayes
from bayesieve.criteria import Criterion
from bayesieve.search import GreedySearch, Limits
from bayesieve.search.path import Path, Step
from bayesieve.search.strategies.greedy import Best
from plain import plain_selector
from tables import binary_table


def by_hand(path, margin):
    """The rule in words, over all steps with a feature."""
    validated = path.steps[0].validation_key is not None
    values = [step.validation_error if validated else step.score for step in path.steps]
    sizes = [step.n_features for step in path.steps]
    allowed = [i for i, n in enumerate(sizes) if n >= 1]
    near = [i for i in allowed if abs(values[i] - values[path.best]) <= margin + 1e-12]
    return min(sizes[i] for i in near)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_the_validation_error_is_binomial(weighted, balanced):
    X, y = binary_table(260, 14, seed=3)
    weight = np.random.default_rng(0).integers(1, 4, 260) if weighted else np.ones(260, int)
    one = plain_selector(
        search="forward", choice="one-se", class_weight=balanced, random_state=0
    ).fit(X, y, sample_weight=weight)
    path, held = one.path_, one.validation_rows_
    best = path.steps[path.best]
    w = weight[held].astype(float)
    if balanced is None:
        n, p = w.sum(), best.validation_error
        expected = np.sqrt(p * (1 - p) / n)
    else:
        columns = np.sort(path.subset(path.best))
        guiding = one.guiding_rows_
        counts = np.bincount(y[guiding], weight[guiding])
        model = clone(one).set_params(
            validation=None, keep=columns.tolist(), n_features=len(columns), choice="best"
        )
        model.fit(X[guiding], y[guiding], sample_weight=weight[guiding])
        wrong = model.predict(X[held]) != y[held]
        f = 1 / counts[y[held]]
        mean = np.average(wrong, weights=w * f)
        assert mean == pytest.approx(best.validation_error, abs=1e-12)
        expected = np.sqrt((w * f**2 * (wrong - mean) ** 2).sum()) / (w * f).sum()
    assert path.standard_error == pytest.approx(expected, rel=1e-12)
    chosen = path.steps[path.chosen]
    assert chosen.n_features == by_hand(path, expected) < best.n_features
    assert len(one.selected_) == chosen.n_features
    assert one.estimator_.n_features_in_ == chosen.n_features
    plain = clone(one).set_params(choice="best").fit(X, y, sample_weight=weight)
    assert np.array_equal(np.sort(plain.selected_), np.sort(path.subset(path.best)))
    assert np.isnan(plain.path_.standard_error)
    assert plain.path_.best == plain.path_.chosen


@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood"])
@pytest.mark.parametrize("cv", ["train", "loo", 4])
def test_without_validation_the_guiding_score_has_the_error(criterion, cv):
    X, y = binary_table(150, 10, seed=1)
    one = plain_selector(
        search="forward", criterion=criterion, cv=cv, validation=None, choice="one-se"
    ).fit(X, y)
    path = one.path_
    if cv == "train":
        columns = np.sort(path.subset(path.best))
        model = NaiveBayes().fit(X[:, columns], y)
        own = model.predict_proba(X[:, columns])[np.arange(150), y]
        values = {
            "error": (model.predict(X[:, columns]) != y).astype(float),
            "probability": 1 - own,
            "log-likelihood": np.log(own),
        }[criterion]
        assert values.mean() == pytest.approx(path.steps[path.best].score, abs=1e-9)
        assert path.standard_error == pytest.approx(values.std() / np.sqrt(150), rel=1e-7)
    elif criterion == "error":
        p = path.steps[path.best].score
        assert path.standard_error == pytest.approx(np.sqrt(p * (1 - p) / 150), rel=1e-12)
    assert 0 < path.standard_error < 0.2
    assert path.steps[path.chosen].n_features == by_hand(path, path.standard_error)


def test_rows_scored_twice_are_still_one_row():
    """The same folds twice tell nothing new: the standard error must not shrink."""
    X, y = binary_table(120, 8)
    settings = {"search": "forward", "criterion": "probability", "validation": None}
    once = RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0)
    splits = list(once.split(X, y))
    one = plain_selector(cv=splits, choice="one-se", **settings).fit(X, y)
    two = plain_selector(cv=splits * 2, choice="one-se", **settings).fit(X, y)
    assert two.path_.standard_error == pytest.approx(one.path_.standard_error, rel=1e-12)


@pytest.mark.parametrize("model", [NaiveBayes(), FeatureVotes()])
@pytest.mark.parametrize("validation", [0.5, None])
def test_areas_have_delongs(model, validation):
    X, y = binary_table(240, 12, n_classes=2, seed=5)
    one = plain_selector(
        model, "forward", "auc", validation=validation, choice="one-se", random_state=0
    ).fit(X, y)
    path = one.path_
    columns = np.sort(path.subset(path.best))
    guiding = one.guiding_rows_
    held = one.validation_rows_ if validation else guiding
    plain = clone(model).fit(X[guiding][:, columns], y[guiding])
    scores = plain.decision_function(X[held][:, columns])
    positive, negative = scores[y[held] == 1], scores[y[held] == 0]
    wins = np.sign(np.subtract.outer(positive, negative).round(9)) / 2 + 0.5
    delong = wins.mean(1).var(ddof=1) / len(positive) + wins.mean(0).var(ddof=1) / len(negative)
    assert path.standard_error == pytest.approx(np.sqrt(delong), rel=1e-7)
    chosen = path.steps[path.chosen]
    assert (
        chosen.n_features == by_hand(path, path.standard_error) < path.steps[path.best].n_features
    )


def test_labels_by_the_bootstrap():
    """Labels of one row hang together; drawing rows anew shows by how much."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((600, 12), density=0.3, rng=rng, format="csr")
    dense = X.toarray() != 0
    flip = rng.random(600) < 0.2
    Y = np.column_stack([dense[:, 0] ^ flip, (dense[:, 0] | dense[:, 1]) ^ flip]).astype(int)
    for criterion in ("auc", "error", "probability"):
        one = plain_selector(None, "forward", criterion, choice="one-se", random_state=0)
        one.fit(X, Y)
        path, held = one.path_, one.validation_rows_
        columns, guiding = np.sort(path.subset(path.best)), one.guiding_rows_
        model = NaiveBayes().fit(X[guiding][:, columns], Y[guiding])
        part = X[held][:, columns]
        scores, wrong = model.decision_function(part), model.predict(part) != Y[held]
        values = []
        for _ in range(600):
            drawn = rng.integers(0, held.size, held.size)
            if criterion == "auc":
                found = []
                for g in range(2):
                    s, t = scores[drawn, g], Y[held][drawn, g]
                    wins = np.sign(np.subtract.outer(s[t == 1], s[t == 0])) / 2 + 0.5
                    found.append(wins.mean())
                values.append(np.mean(found))
            else:
                values.append(wrong[drawn].mean())
        assert path.standard_error == pytest.approx(np.std(values), rel=0.12)


def test_ties_and_margins_that_just_reach():
    steps = [(3, 10), (2, 13), (1, 14), (2, 13), (4, 10)]
    path = Path(((0,), (1,), (2,), (3,)), ["a", "b", "c", "d"], "error")
    members = {1: (0,), 2: (0, 1), 3: (0, 1, 2), 4: (0, 1, 2, 3)}
    for size, wrong in steps:
        path.steps.append(Step("start", members[size], 0, "forward", size, wrong, wrong / 100))
    # 10 of 100 wrong: a standard error of exactly 3 in 100.
    assert path.choose(1, 4, lambda columns: 0.03 if columns == [0, 1, 2] else 9.0) == 1
    assert path.best == 0
    assert path.choose(1, 4, lambda columns: 0.0) == 0
    assert path.choose(1, 4, lambda columns: 0.04) == 2
    assert path.choose(2, 4, lambda columns: 0.04) == 1
    assert path.choose(1, 4) == 0


def test_refusals():
    class Margin(Criterion):
        name = "margin"

        def loss(self, scores, classes, weights):
            return -float(weights @ scores[np.arange(len(classes)), classes])

    X, y = binary_table(60, 4)
    with pytest.raises(
        ValueError, match="choice must be one of 'best', 'one-se', 'proven' or 'auto'; got 'one-sd'"
    ):
        plain_selector(choice="one-sd").fit(X, y)
    with pytest.raises(ValueError, match="'margin' does not have"):
        plain_selector(criterion=Margin(), validation=None, choice="one-se").fit(X, y)
    # The error chooses on validation rows, and it has one.
    own = plain_selector(criterion=Margin(), choice="one-se", random_state=0).fit(X, y)
    assert own.path_.standard_error > 0


def test_continuous_columns_and_several_classes_in_sparse_tables():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 6))
    X[:, 0] += y
    one = plain_selector(search="backward", choice="one-se", random_state=0).fit(X, y)
    p = one.path_.steps[one.path_.best].validation_error
    n = one.validation_rows_.size
    assert one.path_.standard_error == pytest.approx(np.sqrt(p * (1 - p) / n), rel=1e-12)
    sparse = scipy.sparse.csr_array((rng.random((200, 6)) < 0.3) | (y[:, None] == np.arange(6)))
    one = plain_selector(search="forward", choice="one-se", random_state=0).fit(sparse, y)
    p = one.path_.steps[one.path_.best].validation_error
    n = one.validation_rows_.size
    assert one.path_.standard_error == pytest.approx(np.sqrt(p * (1 - p) / n), rel=1e-12)


def test_phases_go_on_from_the_first_of_subsets_as_good():
    """Lowest loss, then fewest columns, then first seen."""
    best = Best(Limits(1, 3))

    def sees(loss, *units):
        subset = SimpleNamespace(size=len(units), score=lambda: loss, snapshot=lambda: units)
        return best.see(subset)

    assert sees(5, 0, 1)
    assert not sees(5, 2, 3)
    assert best.units == (0, 1)
    assert sees(5, 4)
    assert not sees(5, 5)
    assert not sees(4, 0, 1, 2, 3)  # more columns than are allowed
    assert not sees(6, 0)
    assert sees(4, 1, 2, 3)
    assert (best.units, best.rank) == ((1, 2, 3), (4, 3))


def test_a_step_that_gains_nothing_is_not_made():
    y = np.array([0, 1] * 20)
    search = GreedySearch("forward", stop="no-improvement")
    selector = plain_selector(search=search, criterion="error", cv="train", validation=None)
    path = selector.fit(np.c_[y, y], y).path_
    assert [(step.action, step.units) for step in path.steps] == [("start", ()), ("add", (0,))]
