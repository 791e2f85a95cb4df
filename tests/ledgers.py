"""Ledgers and objectives made by hand, without a selector."""

import pickle

import numpy as np
import pytest

from bayesieve.criteria import CRITERIA
from bayesieve.data.columns import encode, learn
from bayesieve.data.sample import Targets, class_factors
from bayesieve.data.tables import RawTable
from bayesieve.engine.contract import AS_IT_IS, NO_UNITS, WHOLE, Measure, Units
from bayesieve.engine.dense import DenseLedger
from bayesieve.engine.layout import DenseColumns, scoring
from bayesieve.engine.sparse import Scoring, SparseLedger, SparseProblem, bayes_tables
from bayesieve.engine.threads import Threads
from bayesieve.models import ModelSettings
from bayesieve.models.columns import read_moves
from bayesieve.search.objective import Objective, SubsetScorer

DISCRETE = ("bernoulli", "categorical")


class Travelling:
    """A ledger far away: nothing is shared with it, every argument and answer travels."""

    def __init__(self, ledger):
        self._ledger = ledger

    def __getattr__(self, name):
        found = getattr(self._ledger, name)
        if not callable(found):
            return pickle.loads(pickle.dumps(found))

        def ask(*args):
            # Of a measure, kind and grain are all that a ledger needs.
            plain = [Measure(a.kind, a.bits) if isinstance(a, Measure) else a for a in args]
            answer = found(*pickle.loads(pickle.dumps(plain)))
            if name == "scores":
                answer = list(answer)
            return pickle.loads(pickle.dumps(answer))

        return ask


def whole(factors):
    """Class factors as whole numbers."""
    bottom = np.lcm.reduce([factor.denominator for factor in factors])
    return tuple(int(factor * int(bottom)) for factor in factors)


def columns_of(X, models):
    """Specs and encoded columns."""
    specs = [learn(f"x{j}", model, X[:, j], model in DISCRETE) for j, model in enumerate(models)]
    return specs, [encode(spec, X[:, j]) for j, spec in enumerate(specs)]


def dense_ledger(X, y, models, cv="train", *, weights=None, balanced=False, threads=None):
    """A dense ledger of all rows."""
    weights = np.ones(y.size) if weights is None else np.asarray(weights, float)
    factors = class_factors("balanced" if balanced else None, y, weights, int(y.max()) + 1)
    found = scoring(cv, y, weights, np.arange(y.size), factors)
    columns = DenseColumns(found.sets, found.lines, found.loo, X.shape[1])
    for spec, column in zip(*columns_of(X, models), strict=True):
        columns.add(spec, column[found.training], column)
    settings = ModelSettings(1.0, None, found.sets.class_weight)
    threads = threads or Threads(1)
    return DenseLedger.build([columns], settings, None, whole(factors), threads)[0]


def sparse_ledger(X, Y, models, folds=None, *, weights=None, threads=None):
    """A sparse ledger of all rows: Y holds classes, or one 0/1 column a label."""
    n = len(X)
    labelled = np.ndim(Y) == 2
    classes = np.asarray(Y).reshape(n, -1)
    names = tuple(f"label {g}" for g in range(classes.shape[1]))
    targets = Targets(classes, int(classes.max()) + 1, names, labelled)
    table = RawTable(np.asarray(X, float), [f"x{j}" for j in range(X.shape[1])], n)
    moves, specs, values = read_moves(table, models)
    every = np.arange(n)
    scored = Scoring(every, (every[:0],), every, np.array([n]))
    if folds is not None:
        left = tuple(np.setdiff1d(every, train) for train, _ in folds)
        ends = np.cumsum([test.size for _, test in folds])
        scored = Scoring(every, left, np.concatenate([test for _, test in folds]), ends)
    class_weight = np.ones(targets.n_classes)
    weights = np.ones(n) if weights is None else np.asarray(weights, float)
    problem = SparseProblem(moves, specs, values, targets, weights, scored, class_weight)
    made = bayes_tables(problem, ModelSettings(1.0, None, class_weight), None)
    factors = (1,) * targets.n_classes
    return SparseLedger(problem, made, factors, threads or Threads(1))


def objective_of(ledger, criterion, units, keep=()):
    """What a search would see."""
    units = Units(tuple(tuple(unit) for unit in units))
    criterion = CRITERIA.get(criterion, criterion) if isinstance(criterion, str) else criterion
    return Objective(SubsetScorer(ledger, criterion, units), units, keep)


def log_loss(ledger):
    """The loss by which weights are fitted, as it stands."""
    return ledger.losses(ledger.offers.measure, NO_UNITS, np.array([AS_IT_IS]), WHOLE).item()


def single(n_terms):
    """Every term alone."""
    return Units(tuple((j,) for j in range(n_terms)))


def lines_of(ledger, *moved):
    """Row, fold, weight, classes and sums of every line, in the order of rows and folds."""
    found = [
        np.column_stack(
            [part.rows, part.sets, part.weights, part.classes.T]
            + [sums.reshape(part.rows.size, -1) for sums in part.sums]
        )
        for part in ledger.scores(*moved)
    ]
    lines = np.concatenate(found)
    return lines[np.lexsort(lines.T[1::-1])]


def same_answers(one, other, units):
    """Both are asked all that the second offers, as they stand; answers are equal to the bit."""
    every, tables = np.arange(-1, len(units)), other.offers.tables
    for kind in other.offers.measures:
        measure = Measure(kind, 20) if tables is None else other.offers.measure
        for steps in (WHOLE, -WHOLE):
            exact = one.losses(measure, units, every, steps)
            np.testing.assert_array_equal(other.losses(measure, units, every, steps), exact)
            if kind == "pairs":
                continue
            total = (exact[1:] @ np.array(one.outline.factors)[: exact.shape[1]]).astype(float)
            for each in (one, other):
                loss, doubt = each.bounds(measure, units, every[1:], steps)
                assert (abs(loss - total * 2.0**-measure.bits) <= doubt).all()
        few = every[[2, 0, 1]]
        asked = [each.losses(measure, units, few, WHOLE) for each in (one, other)]
        np.testing.assert_array_equal(*asked)
    for moved in ((), (units.members[0], ()), (units.members[-1], units.members[1])):
        np.testing.assert_array_equal(lines_of(one, *moved), lines_of(other, *moved))
    if tables is None:
        for asked in ((lambda: other.slopes([0])), other.balance, (lambda: other.shift(every))):
            with pytest.raises(ValueError, match="whole columns join and leave"):
                asked()
        return
    np.testing.assert_array_equal(one.balance(), other.balance())
    for terms in (range(tables.n_terms), [1], [2, 0]):
        here, there = one.slopes(list(terms)), other.slopes(list(terms))
        np.testing.assert_array_equal(here.sums, there.sums)
        np.testing.assert_array_equal(here.at, there.at)


def check_alike(one, other, units):
    """One ledger is the other in another form: the same answers wherever they are led."""
    assert one.outline == other.outline
    assert set(other.offers.measures) <= set(one.offers.measures)
    assert one.offers.bits == other.offers.bits
    np.testing.assert_array_equal(one.totals(), other.totals())
    begun = lines_of(one)
    same_answers(one, other, units)
    first, second, third = units.members[1], units.members[0], units.members[2]
    for terms, steps in ((first, WHOLE), (second, WHOLE), (first, -WHOLE), (third, WHOLE)):
        for each in (one, other):
            each.apply(terms, steps)
        same_answers(one, other, units)
    for kind in other.offers.measures:
        measure = Measure(kind, 20) if other.offers.tables is None else other.offers.measure
        for way in (1, -1):
            which, steps = np.array([1, 0, 2, 1, 1]), way * WHOLE * np.array([1, -1, -1, -1, 1])
            if way < 0:
                which = which[::-1]
                steps = steps[::-1]
            walked = [each.walk(measure, units, which, steps) for each in (one, other)]
            np.testing.assert_array_equal(*walked)
    if other.offers.tables is not None:
        _check_weights(one, other, units)
    for each in (one, other):
        each.apply((*second, *third), -WHOLE)
        np.testing.assert_array_equal(lines_of(each), begun)


def _check_weights(one, other, units):
    """Weights between none and whole, by class, and constants."""
    n_classes = one.outline.n_classes
    steps = np.arange(2 * n_classes).reshape(2, n_classes) % 5 - 1
    for way in (1, 1, -1, -1):
        for each in (one, other):
            each.apply([0, 3], way * steps)
            each.shift(way * steps[0])
        same_answers(one, other, units)
    tables, n_folds = one.offers.tables, one.offers.n_folds
    sizes = [int(tables.n_codes[t]) // n_folds for t in (0, 2)]
    added = [np.arange(n * n_classes).reshape(n, n_classes) % 7 << 34 for n in sizes]
    for way in (1, 1, -2):
        for each in (one, other):
            each.add([0, 2], [way * table for table in added])
        same_answers(one, other, units)


def total_scores(ledger):
    """The sums as they are, in the order of the lines."""
    (found,) = ledger.scores((), ())
    return found.sums
