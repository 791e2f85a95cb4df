"""Every criterion, by the same demands: it is what it says it is, and compares exactly."""

import inspect
import itertools
import math
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from bayesieve import NaiveBayes
from bayesieve.criteria import AUC, CRITERIA, SizePenalty, has_standard_error
from bayesieve.engine import threads
from bayesieve.engine.contract import Units
from bayesieve.engine.threads import Threads
from bayesieve.estimators import selector as searching
from bayesieve.estimators import selector as selector_module
from bayesieve.search.objective import SubsetScorer
from ledgers import dense_ledger, sparse_ledger
from plain import plain_selector

TARGET, COPY = 0, 4  # of a column and of another
SINGLE = Units(tuple((j,) for j in range(6)))
FOLDS = [(np.arange(25, 80), np.arange(25)), (np.arange(50), np.arange(50, 80))]

every = pytest.mark.parametrize("name", CRITERIA)


def table(n_classes=2, seed=0, n_rows=80):
    """Six columns of 0 and 1: the first class itself, useful ones, a copy, and noise."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    X = (rng.random((n_rows, 6)) < 0.3 + 0.3 * (y[:, None] == np.arange(6) % 3)).astype(float)
    X[:, TARGET] = y == 1
    X[:, COPY] = X[:, 3]
    return X, y, rng.integers(1, 4, n_rows)


def labels_of(X, y):
    return np.column_stack([y == 1, (X[:, 2] + X[:, 5] + np.arange(len(y)) % 2) > 1]).astype(int)


def allows(criterion, n_classes):
    try:
        criterion.check_classes(n_classes)
    except ValueError:
        return False
    return True


def ledgers(criterion, n_threads=1):
    """All ledgers that the criterion reads, by name, with weights of rows."""
    run = Threads(n_threads)
    for n_classes in [n for n in (2, 3) if allows(criterion, n)]:
        X, y, weights = table(n_classes)
        kinds = ["bernoulli"] * 6
        if criterion.form != "moves":
            for cv in ("train", FOLDS):
                made = dense_ledger(X, y, kinds, cv, weights=weights, balanced=True, threads=run)
                yield f"dense, {n_classes} classes", made
        if criterion.form != "lines":
            for folds in (None, FOLDS):
                made = sparse_ledger(X, y, kinds, folds, weights=weights, threads=run)
                yield f"sparse, {n_classes} classes", made
            yield "labels", sparse_ledger(X, labels_of(X, y), kinds, weights=weights, threads=run)


def better(criterion, one, other):
    return one > other if criterion.greater_is_better else one < other


@every
def test_equal_columns_have_equal_keys_and_the_lowest_wins(name):
    criterion = CRITERIA[name]
    for _, ledger in ledgers(criterion):
        settler = SubsetScorer(ledger, criterion, SINGLE)
        before = settler.now()
        for inside in ((), (1,), (2, 5)):
            settler.apply(inside, 1)
            assert settler.keys([3], 1) == settler.keys([COPY], 1)
            assert settler.best([COPY, 3], 1) == settler.best([3, COPY], 1)
            assert settler.best([COPY, 3], 1)[0] == 3
            settler.apply((3,), 1)
            one = settler.now()
            settler.apply((3,), -1)
            settler.apply((COPY,), 1)
            assert settler.now() == one
            settler.apply((*inside, COPY), -1)
        assert settler.now() == before


@every
def test_a_better_key_is_a_better_value_and_the_truth_helps(name):
    criterion = CRITERIA[name]
    for case, ledger in ledgers(criterion):
        settler = SubsetScorer(ledger, criterion, SINGLE)
        found = []
        for subset in itertools.chain.from_iterable(
            itertools.combinations(range(1, 6), n) for n in range(3)
        ):
            settler.apply(subset, 1)
            found.append((settler.now(), settler.value(settler.now())))
            (with_target,) = settler.keys([TARGET], 1)
            assert with_target < found[-1][0], case
            assert better(criterion, settler.value(with_target), found[-1][1])
            settler.apply(subset, -1)
        for (key, value), (other_key, other_value) in itertools.combinations(found, 2):
            if key < other_key:
                assert not better(criterion, other_value, value)
            elif key == other_key:
                assert value == other_value


def _area(proba, truth, weights):
    # Sums that are equal by hand differ in the last digits of a probability.
    return roc_auc_score(truth, np.round(proba[:, 1], 9), sample_weight=weights)


def _own(proba, truth):
    return proba[np.arange(truth.size), truth]


#: What each criterion is of one problem's probabilities: of every row, or of all.
ROWS = {
    "error": lambda p, y: (np.round(p, 9).argmax(1) != y).astype(float),
    "probability": lambda p, y: 1 - _own(p, y),
    "log-likelihood": lambda p, y: np.log(_own(p, y)),
}
WHOLE = {
    "auc": lambda area, n_features: area,
    "penalised-auc": lambda area, n_features: max(area - (max(n_features - 30, 0) / 1000) ** 2, 0),
}


def by_hand(name, parts, n_features):
    """The value from probabilities: `parts` holds, for every problem, (P, y, weights) a fold."""
    if name in ROWS:
        flat = [each for problem in parts for each in problem]
        values = np.concatenate([ROWS[name](p, y) for p, y, _ in flat])
        return np.average(values, weights=np.concatenate([w for _, _, w in flat]))
    areas = [np.mean([_area(*fold) for fold in problem]) for problem in parts]
    return WHOLE[name](np.mean(areas), n_features)


def refitted(X, y, weights, columns, folds):
    """Probabilities of models fitted to the training rows of every fold."""
    parts = []
    for train, test in folds:
        model = NaiveBayes("bernoulli").fit(X[train][:, columns], y[train], weights[train])
        proba = model.predict_proba(X[test][:, columns])
        if y.ndim == 1:
            problems = [(proba, y[test])]
        else:
            problems = [
                (np.column_stack([1 - p, p]), truth)
                for p, truth in zip(proba.T, y[test].T, strict=True)
            ]
        parts.append([(p, truth, weights[test]) for p, truth in problems])
    return list(zip(*parts, strict=True))


@every
@pytest.mark.parametrize("form", ["dense", "dense folds", "sparse", "labels folds"])
def test_a_value_is_that_of_a_refit(name, form):
    """A new criterion needs its definition in ROWS or WHOLE: a formula, not our code."""
    criterion = CRITERIA[name]
    assert (name in ROWS) != (name in WHOLE)
    assert criterion.has_row_values == (name in ROWS)
    X, y, weights = table()
    if "labels" in form:
        y = labels_of(X, y)
    every_row = np.arange(len(y))
    folds = FOLDS if "folds" in form else [(every_row, every_row)]
    given = X if "dense" in form else scipy.sparse.csr_array(X)
    selector = plain_selector(
        NaiveBayes("bernoulli"), search="forward", criterion=name, validation=None,
        cv=FOLDS if "folds" in form else "train",
    ).fit(given, y, sample_weight=weights)  # fmt: skip
    path = selector.path_
    assert len(path) == 7
    for at in range(1, len(path)):
        columns = np.sort(path.subset(at))
        parts = refitted(X, y, weights, columns, folds)
        assert path.steps[at].score == pytest.approx(by_hand(name, parts, at), abs=1e-9)


@every
def test_row_values_have_the_value_as_their_mean_and_give_its_standard_error(name):
    criterion = CRITERIA[name]
    assert criterion.knows_shares or not criterion.has_row_values
    assert has_standard_error(criterion) == criterion.knows_shares
    for _, ledger in ledgers(criterion):
        settler = SubsetScorer(ledger, criterion, SINGLE)
        settler.apply((1, 3), 1)
        if criterion.knows_shares:
            assert 0 < settler.standard_error([1, 3]) < 1
            assert math.isfinite(settler.standard_error([]))
        if not criterion.has_row_values:
            with pytest.raises(NotImplementedError, match=f"{name}.* has no value for each row"):
                criterion.row_values(np.zeros((1, 2), np.int64), 1.0, np.zeros(1, np.int64))
            continue
        (found,) = ledger.scores((), ())
        factors = np.array(ledger.outline.factors, float)
        total = mean = 0.0
        for sums, classes in zip(found.sums, found.classes, strict=True):
            values = criterion.row_values(sums, 2.0**-ledger.outline.bits, classes)
            assert values.shape == classes.shape
            total += (found.weights * factors[classes]).sum()
            mean += (found.weights * factors[classes]) @ values
        assert settler.value(settler.now()) == pytest.approx(mean / total, abs=1e-9)


@every
def test_one_standard_error_chooses_a_smaller_subset_or_is_refused(name):
    X, y, _ = table(n_rows=200)
    X = X[:, 1:]
    given = {"search": "forward", "criterion": name, "validation": None}
    if not CRITERIA[name].knows_shares:
        with pytest.raises(ValueError, match=f"choice='one-se' needs a standard error.*{name}"):
            plain_selector(**given, choice="one-se").fit(X, y)
        return
    path = plain_selector(**given, choice="one-se").fit(X, y).path_
    best, chosen = path.steps[path.best], path.steps[path.chosen]
    assert path.standard_error > 0
    assert chosen.n_features <= best.n_features
    assert abs(chosen.score - best.score) <= path.standard_error


@every
def test_too_many_classes_are_refused_before_any_work(name, monkeypatch):
    def work(*args):
        raise AssertionError("work has begun")

    X, y, _ = table(3)
    selector = plain_selector(search="ranked", criterion=name)
    if allows(CRITERIA[name], 3):
        assert selector.fit(X, y).path_.criterion == name
        return
    for make in ("dense_ledgers", "sparse_ledgers", "RowHints"):
        monkeypatch.setattr(searching, make, work)
    monkeypatch.setattr(selector_module, "split_rows", work)
    for given in (X, scipy.sparse.csc_array(X)):
        with pytest.raises(ValueError, match=rf"criterion='{name}' needs two classes.* 3 classes"):
            selector.fit(given, y)


@every
def test_it_serves_the_tables_that_it_says_it_reads(name):
    criterion = CRITERIA[name]
    X, y, _ = table()
    assert plain_selector(criterion=name).fit(X, y).path_.criterion == name
    for given, target in ((scipy.sparse.csc_array(X), y), (X, labels_of(X, y))):
        selector = plain_selector(criterion=name, random_state=0)
        if criterion.form == "lines":
            with pytest.raises(ValueError, match=f"criterion '{name}' needs dense columns"):
                selector.fit(given, target)
        else:
            assert selector.fit(given, target).selected_.size


@every
def test_two_threads_give_the_same_keys(name, monkeypatch):
    monkeypatch.setattr(threads, "_SMALL", 0)  # or a small table is not worth a second thread
    criterion, units = CRITERIA[name], list(range(6))
    found = []
    for n_threads in (1, 2):
        settlers = [
            SubsetScorer(ledger, criterion, SINGLE) for _, ledger in ledgers(criterion, n_threads)
        ]
        found.append([(each.now(), each.keys(units, 1), each.best(units, 1)) for each in settlers])
    assert found[0] == found[1]


@every
def test_it_has_its_name_pickles_and_clones(name):
    criterion = CRITERIA[name]
    assert criterion.name == name
    again = pickle.loads(pickle.dumps(criterion))
    assert (type(again), repr(again)) == (type(criterion), repr(criterion))
    X, y, _ = table()
    selector = plain_selector(criterion=again, random_state=0)
    steps = clone(selector).fit(X, y).path_.steps
    assert steps == plain_selector(criterion=name, random_state=0).fit(X, y).path_.steps


@every
def test_bad_parameters_are_refused_by_name(name):
    kind = type(CRITERIA[name])
    CRITERIA[name].check()
    X, y, _ = table()
    for parameter in inspect.signature(kind).parameters:
        given = kind(**{parameter: object()})
        with pytest.raises((TypeError, ValueError), match=rf"\.{parameter} must be .*; got "):
            plain_selector(criterion=given).fit(X, y)


@pytest.mark.parametrize("bad", [{"free": -1}, {"scale": 0}, {"scale": 0.5}, {"as_printed": "no"}])
def test_a_price_that_cannot_be_paid_is_refused(bad):
    (parameter,) = bad
    given = plain_selector(criterion=AUC(SizePenalty(**bad)))
    with pytest.raises((TypeError, ValueError), match=rf"criterion\.penalty\.{parameter} must be"):
        given.fit(*table()[:2])


@every
def test_what_is_not_known_is_answered_by_all_names(name):
    with pytest.raises(ValueError, match=rf"criterion must be one of .*'{name}'.*; got 'nothing'"):
        plain_selector(criterion="nothing").fit(*table()[:2])
