"""Every ledger answers alike: whole or in parts, and though every word is written down and read."""

import numpy as np
import pytest

import reference
from bayesieve.criteria import AUC, CRITERIA, Criterion
from bayesieve.engine.contract import AS_IT_IS, WHOLE, Partitioned, Units
from bayesieve.search import SEARCHES, Limits
from bayesieve.search.objective import SubsetScorer
from ledgers import Travelling, dense_ledger, objective_of, sparse_ledger

ROW_CRITERIA = ["error", "probability", "log-likelihood"]
PARTS = [2, 7]


def table(seed=0, n_rows=61, n_classes=3):
    """Columns of several kinds, missing values and an exact copy among them."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    X = rng.integers(0, 2, (n_rows, 7)).astype(float)
    X[:, 1] = rng.integers(0, 4, n_rows)
    X[:, 2] = np.round(rng.normal(size=n_rows) + y, 1)
    X[:, 3] = (rng.random(n_rows) < 0.2 + 0.5 * (y == 1)).astype(float)
    X[rng.random(X.shape) < 0.04] = np.nan
    X[:, 4] = X[:, 3]
    return X, y, rng.integers(1, 4, n_rows)


MIXED = ["bernoulli", "categorical", "gaussian", *["bernoulli"] * 4]
FOLDS = [(np.arange(20, 61), np.arange(20)), (np.arange(40), np.arange(40, 61))]


def dense(cv, weighted):
    X, y, weights = table()
    return dense_ledger(X, y, MIXED, cv, weights=weights if weighted else None, balanced=weighted)


def sparse(form, weighted):
    X, y, weights = table()
    Y = np.column_stack([y > 0, y > 1]).astype(int) if form == "labels" else y
    folds = FOLDS if form == "folds" else None
    return sparse_ledger(X, Y, MIXED, folds, weights=weights if weighted else None)


CASES = {
    **{
        f"dense {cv}{' weighted' if w else ''}": (dense, cv, w)
        for cv in ("train", "loo", 3)
        for w in (False, True)
    },
    **{
        f"sparse {form}{' weighted' if w else ''}": (sparse, form, w)
        for form in ("classes", "folds", "labels")
        for w in (False, True)
    },
}


def make(case):
    build, form, weighted = CASES[case]
    return build(form, weighted)


def cut(case, n_parts):
    return Partitioned([Travelling(part) for part in make(case).cut(n_parts)])


SINGLE = Units(tuple((j,) for j in range(7)))
GROUPED = Units(((0, 2), (1,), (3,), (4, 6), (5,)))


@pytest.mark.parametrize("n_parts", PARTS)
@pytest.mark.parametrize("case", CASES)
def test_answers_add_up_over_parts(case, n_parts):
    whole, parts = make(case), cut(case, n_parts)
    assert parts.outline == whole.outline
    np.testing.assert_array_equal(parts.totals(), whole.totals())
    for units in (SINGLE, GROUPED):
        every = np.arange(-1, len(units))
        for name in ROW_CRITERIA:
            rule = CRITERIA[name].rule(whole)
            assert CRITERIA[name].rule(parts) == rule
            for moved in ((), (3,), (0, 2)):
                whole.apply(moved, WHOLE)
                parts.apply(moved, WHOLE)
                for sign in (1, -1):
                    one = whole.losses(rule, units, every, WHOLE * sign)
                    np.testing.assert_array_equal(
                        one, parts.losses(rule, units, every, WHOLE * sign)
                    )
                    exact = np.array(rule.keys(one[1:], np.zeros(len(units)))) * 2.0**-rule.bits
                    for ledger in (whole, parts):
                        loss, doubt = ledger.bounds(rule, units, every[1:], WHOLE * sign)
                        assert (abs(loss - exact) <= doubt).all()
                whole.apply(moved, -WHOLE)
                parts.apply(moved, -WHOLE)


@pytest.mark.parametrize("case", CASES)
def test_walks_and_scores(case):
    """A walk is its steps; the scores of a subset are those of the ledger that went there."""
    whole, parts, plain = make(case), cut(case, 3), make(case)
    rule = CRITERIA["probability"].rule(whole)
    which, signs = np.array([0, 3, 5, 3, 1]), np.array([1, 1, 1, -1, 1])
    before = [list(ledger.scores((0, 1, 5), ())) for ledger in (whole, parts)]
    found = whole.walk(rule, SINGLE, which, WHOLE * signs)
    np.testing.assert_array_equal(found, parts.walk(rule, SINGLE, which, WHOLE * signs))
    for step, (unit, sign) in enumerate(zip(which, signs, strict=True)):
        plain.apply(SINGLE.members[unit], WHOLE * int(sign))
        now = plain.losses(rule, SINGLE, np.array([AS_IT_IS]), WHOLE)[0]
        np.testing.assert_array_equal(found[step], now)
    for ledger, seen in zip((whole, parts), before, strict=True):
        for one, other in zip(seen, ledger.scores((), ()), strict=True):
            for part, same in zip(one, other, strict=True):
                np.testing.assert_array_equal(part, same)
    rows = np.concatenate([part.rows for part in before[1]])
    assert sorted(rows.tolist()) == sorted(before[0][0].rows.tolist())


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", ROW_CRITERIA)
@pytest.mark.parametrize("case", ["dense 3 weighted", "sparse labels", "sparse folds weighted"])
def test_searches_take_the_same_steps(case, criterion, search):
    walked = []
    for ledger in (make(case), cut(case, 2), cut(case, 7)):
        objective = objective_of(ledger, criterion, SINGLE.members, keep=[5])
        steps = []
        objective.listeners.append(
            lambda action, units, o, steps=steps: steps.append((action, units, o.score()))
        )
        for _ in given(SEARCHES[search]).steps(objective, Limits(1, 6)):
            pass
        walked.append((steps, objective.n_tried))
    assert len(walked[0][0]) > 1
    assert walked[1:] == walked[:1] * 2


def given(search):
    """With what the selector would hand over."""

    class Hints:
        seed = 3

        def order(self, ranking):
            return (3, 0, 1, 2, 4, 5, 6)

        def pairs(self, measure):
            return ((3, 4), (0, 1))

    return search.given(Hints())


class Farthest(Criterion):
    """A criterion of a user's: the mean distance to the true class, negated."""

    name = "farthest"

    def loss(self, scores, classes, weights):
        own = scores[np.arange(len(classes)), classes]
        return float(np.round(weights @ (scores.max(axis=1) - own), 6))


@pytest.mark.parametrize("case", ["dense 3 weighted", "dense train"])
def test_criteria_of_users_read_scores(case):
    found = []
    for ledger in (make(case), cut(case, 2)):
        settler = SubsetScorer(ledger, Farthest(), SINGLE)
        settler.apply((3,), 1)
        found.append((settler.now(), settler.keys([0, 1, 4], 1), settler.best([4, 1, 0], 1)))
    assert found[0] == found[1]


def test_equals_are_decided_for_the_lowest_unit():
    for criterion in [*map(CRITERIA.get, ROW_CRITERIA), Farthest()]:
        settler = SubsetScorer(make("dense train"), criterion, SINGLE)
        assert settler.keys([3], 1) == settler.keys([4], 1)
        assert settler.best([4, 3], 1)[0] == settler.best([3, 4], 1)[0] == 3


@pytest.mark.parametrize("ask", ["losses", "bounds", "walk"])
def test_what_does_not_add_up_is_refused_by_name(ask):
    parts = cut("sparse labels", 2)
    last = np.array([1]) if ask == "walk" else 1
    with pytest.raises(ValueError, match=r"AUC.*does not add up.*criterion='error'"):
        getattr(parts, ask)(AUC().rule(parts), SINGLE, np.array([0]), last)


@pytest.mark.parametrize("n_parts", [1, *PARTS])
@pytest.mark.parametrize("criterion", ROW_CRITERIA)
def test_values_are_those_of_a_refit(criterion, n_parts):
    """The twin knows nothing of ledgers: it refits the model for every line."""
    X, y, weights = table(1, 31)
    X, models = X[:, [0, 1, 3, 4]], ["bernoulli", "categorical", "bernoulli", "bernoulli"]
    whole = dense_ledger(X, y, models, "loo", weights=weights)
    ledger = whole if n_parts == 1 else Partitioned(whole.cut(n_parts))
    problem = {
        "X": [list(column) for column in X.T], "labels": y.tolist(), "weights": weights.tolist(),
        "n_classes": 3, "models": models, "smoothing": 1.0, "priors": None, "factors": [1, 1, 1],
        "levels": [
            [0.0, 1.0] if kind == "bernoulli" else sorted({v for v in column if v == v})
            for column, kind in zip(X.T, models, strict=True)
        ],
        "extra_variance": None,
    }  # fmt: skip
    lines = [(i, [int(w) - (j == i) for j, w in enumerate(weights)]) for i in range(len(y))]
    twin = reference.Twin(problem, criterion, lines)
    units = Units(tuple((j,) for j in range(4)))
    settler = SubsetScorer(ledger, CRITERIA[criterion], units)
    for subset in ((), (1,), (0, 2), (0, 1, 2, 3)):
        settler.apply(subset, 1)
        sign = -1 if CRITERIA[criterion].greater_is_better else 1
        loss = sign * settler.value(settler.now())
        assert loss == pytest.approx(float(twin.score(subset)), abs=1e-9)
        settler.apply(subset, -1)
