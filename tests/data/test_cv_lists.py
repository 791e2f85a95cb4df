"""Lists of (train, test) row numbers: repeats count, and numbers that are no rows are refused."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import PredefinedSplit

from bayesieve import FeatureVotes, NaiveBayes, nested
from bayesieve.evaluation.curve import evaluate_ranking
from bayesieve.search import RankedSearch
from plain import plain_selector
from tables import binary_table

X, Y = binary_table(40, 5, n_classes=2)


def bootstraps(rng, n_rows, n_splits):
    """Rows drawn with replacement to train on, and to test on."""
    return [
        (rng.integers(0, n_rows, 2 * n_rows), rng.integers(0, n_rows, n_rows))
        for _ in range(n_splits)
    ]


def error_probability(A, y, columns, splits):
    """Mean of P(Y != y) over the lines of all splits, each row as often as it stands, exactly."""
    A, y = A.tolist(), y.tolist()  # numpy's integers would not fit
    total, lines = Fraction(0), 0
    for train, test in splits:
        for i in test:
            joint = []
            for k in (0, 1):
                mine = [t for t in train if y[t] == k]
                p = Fraction(len(mine), len(train))
                for j in columns:
                    p *= Fraction(sum(A[t][j] == A[i][j] for t in mine) + 1, len(mine) + 2)
                joint.append(p)
            total += 1 - joint[y[i]] / sum(joint)
            lines += 1
    return float(total / lines)


@pytest.mark.parametrize("validation", [None, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_repeats_count_as_often_as_they_stand(seed, validation):
    splits = bootstraps(np.random.default_rng(seed), 40, 3)
    selector = plain_selector(
        search="forward", cv=splits, validation=validation, random_state=seed
    ).fit(X, Y)
    guiding = set(selector.guiding_rows_.tolist())
    mine = [[[i for i in part if i in guiding] for part in split] for split in splits]
    for at, step in enumerate(selector.path_.steps):
        expected = error_probability(X, Y, selector.path_.subset(at), mine)
        assert step.score == pytest.approx(expected, abs=1e-11)


def kinds_of_problems(rng):
    """Parameters, X and y of every feature model and form of ledger."""
    n_rows = 60
    y = np.append([0, 1, 2, 0, 1, 2], rng.integers(0, 3, n_rows - 6))
    two = (y > 0).astype(int)
    numbers = np.round(rng.normal(size=(n_rows, 4)) + y[:, None] * rng.normal(size=4), 1)
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    binary = (rng.random((n_rows, 5)) < 0.3 + 0.3 * two[:, None]).astype(float)
    levels = np.floor(3 * rng.random((n_rows, 4)) + 0.7 * y[:, None])
    labels = np.column_stack([two, binary[:, 0].astype(int)])
    auc = {"criterion": "auc"}
    yield {"estimator": NaiveBayes("gaussian")}, numbers, y
    yield {"estimator": NaiveBayes("gaussian-pooled")}, numbers, y
    yield {"estimator": NaiveBayes("mixture-2")}, numbers, y
    yield {"estimator": NaiveBayes("categorical", smoothing=0.0), "criterion": "error"}, levels, y
    yield {"estimator": NaiveBayes("bernoulli", smoothing="mean")}, binary, y
    yield {"class_weight": {1: 3.0}, "criterion": "log-likelihood"}, binary, y
    yield auc, binary, two
    yield {}, scipy.sparse.csr_matrix(binary), y
    yield {"estimator": NaiveBayes("gaussian")}, scipy.sparse.csr_matrix(levels), y
    yield auc, binary, labels
    yield auc | {"estimator": FeatureVotes()}, scipy.sparse.csr_matrix(binary), labels


@pytest.mark.parametrize("kind", range(11))
def test_a_row_that_stands_twice_is_two_rows(kind):
    rng = np.random.default_rng(kind)
    parameters, A, y = list(kinds_of_problems(rng))[kind]
    n_rows = A.shape[0]
    splits = bootstraps(rng, n_rows, 2)
    # Every row stands somewhere, so that both tables hold the same values.
    splits.append((np.arange(n_rows), np.arange(0, n_rows, 2)))
    parts = [part for split in splits for part in split]
    ends = np.cumsum([0, *(part.size for part in parts)])
    apart = [np.arange(ends[i], ends[i + 1]) for i in range(len(parts))]
    copied = np.concatenate(parts)
    shared = {"search": RankedSearch(order=range(A.shape[1])), "validation": None, **parameters}
    one = plain_selector(cv=splits, **shared).fit(A, y)
    pairs = list(zip(apart[::2], apart[1::2], strict=True))
    other = plain_selector(cv=pairs, **shared).fit(A[copied], y[copied])
    scores = [[step.score for step in each.path_.steps] for each in (one, other)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-9)
    assert len(set(scores[0])) > 1


def test_weights_and_repeats_multiply():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, 40)
    splits = bootstraps(rng, 40, 2)
    spread = [
        tuple(np.array([i for i in part for _ in range(weights[i])]) for part in split)
        for split in splits
    ]
    fitted = [
        plain_selector(search="forward", cv=cv, validation=None).fit(X, Y, sample_weight=w)
        for cv, w in ((splits, weights), (spread, None))
    ]
    scores = [[step.score for step in each.path_.steps] for each in fitted]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)


class Repeating:
    """A splitter that draws with replacement."""

    def split(self, A, y=None, groups=None):
        yield from bootstraps(np.random.default_rng(1), len(y), 3)


def test_a_splitter_may_repeat_rows_too():
    listed = bootstraps(np.random.default_rng(1), 40, 3)
    one, other = (
        plain_selector(search="forward", cv=cv, validation=None).fit(X, Y).path_.to_dict()
        for cv in (Repeating(), listed)
    )
    assert one["score"] == other["score"]


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (range(10), [-1, 10, 11, 500], "cv: split 0 names row -1; the rows of X are numbered from"),
        (range(10), [10, 500], "cv: split 0 names row 500; .* from 0 to 39"),
        ([0, -40], [1], "cv: split 0 names row -40"),
        ([0, 1, 40], [2], "cv: split 0 names row 40"),
        ([0, 1], np.array([2**63], np.uint64), "names row 9223372036854775808"),
        (np.ones(30, bool), [2], "split 0 gives a mask of 30 values for the rows of X"),
    ],
)
def test_numbers_that_are_no_rows_are_refused(train, test, message):
    cv = [(train, test)]
    for validation in (None, 0.5):
        selector = plain_selector(cv=cv, validation=validation, random_state=0)
        for A in (X, scipy.sparse.csr_matrix(X)):
            with pytest.raises(ValueError, match=message):
                selector.fit(A, Y)
        # Rows without weight are rows of X all the same.
        with pytest.raises(ValueError, match=message):
            selector.fit(X, Y, sample_weight=np.arange(40) < 30)
    with pytest.raises(ValueError, match=message):
        nested(plain_selector(), X, Y, cv=cv)
    with pytest.raises(ValueError, match=message):
        evaluate_ranking(X, Y, cv=cv)


def test_what_else_a_list_may_not_hold():
    with pytest.raises(TypeError, match=r"split 1 must give lists .* shape \(1, 2\)"):
        plain_selector(cv=[([0, 1], [2]), ([[0, 1]], [2])], validation=None).fit(X, Y)
    with pytest.raises(TypeError, match="whole row numbers; got an array of float64"):
        plain_selector(cv=[([0.0, 1.0], [2])], validation=None).fit(X, Y)
    # A splitter that ignores what it is given numbers rows of the whole table.
    folds = PredefinedSplit(np.arange(40) % 2)
    with pytest.raises(ValueError, match="the guiding rows that the splitter was given"):
        plain_selector(cv=folds, random_state=0).fit(X, Y)
    plain_selector(cv=folds, validation=None).fit(X, Y)


def test_rows_in_the_validation_part_or_without_weight_are_left_out():
    halves = [(np.arange(0, 40, 2), np.arange(1, 40, 2)), (np.arange(40) % 2 == 1, range(0, 40, 2))]
    weights = np.ones(40)
    weights[[3, 8]] = 0
    selector = plain_selector(search="forward", cv=halves, random_state=0)
    selector.fit(X, Y, sample_weight=weights)
    guiding = set(selector.guiding_rows_.tolist())
    assert not guiding & {3, 8}
    mine = [[[i for i in half if i in guiding] for half in order]
            for order in (halves[0], halves[0][::-1])]  # fmt: skip
    for at, step in enumerate(selector.path_.steps):
        expected = error_probability(X, Y, selector.path_.subset(at), mine)
        assert step.score == pytest.approx(expected, abs=1e-11)
