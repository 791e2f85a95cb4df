"""Every weighted ledger answers alike: whole or in parts, though every word travels."""

import numpy as np
import pytest

from bayesieve.engine.partitioned import PartitionedWeights
from bayesieve.engine.threads import Threads
from bayesieve.engine.weighted import PRESENT
from bayesieve.search.path import GreedyWeights, WeightedProblem
from bayesieve.search.term_pool import CodedColumns, CodedRows, Weighing, WeightPlan
from ledgers import Travelling
from weighted import MODELS_OF_MIXED, coded_rows, mixed

PARTS = [2, 7]


def rows_of(kind):
    X, y = mixed(3, 90)
    weights = np.random.default_rng(0).integers(1, 4, len(y)) if "weighted" in kind else None
    if "sparse" not in kind:
        return coded_rows(X, y, MODELS_OF_MIXED, weights)
    X = np.nan_to_num(X[:, [0, 2, 3, 4]])
    dense = coded_rows(X, y, ["bernoulli"] * 4, weights)
    entries = tuple(np.flatnonzero(X[:, j]) for j in range(4))
    columns = CodedColumns(dense.columns.specs, np.full(4, PRESENT), entries, len(y))
    return CodedRows(columns, dense.rows, y, dense.weights, dense.classes, dense.class_weight)


def ledger_of(kind):
    rows = rows_of(kind)
    plan = WeightPlan(units=tuple((j,) for j in range(len(rows.columns.specs))))
    weighing = Weighing([rows], plan, 5 if kind == "dense" else 0, Threads(1))
    return weighing, weighing._ledger(0, rows, left_out=True)


def lines_of(ledger):
    """Row, weight, class and sums of every line, by row."""
    found = [
        np.column_stack([part.rows, part.sets, part.weights, part.classes[0], part.sums[0]])
        for part in ledger.scores()
    ]
    lines = np.concatenate(found)
    return lines[np.argsort(lines[:, 0])]


def same(one, two, terms):
    assert one.loss() == two.loss()
    assert (one.balance() == two.balance()).all()
    here, there = one.slopes(terms), two.slopes(terms)
    assert (here.sums == there.sums).all()
    assert (here.at == there.at).all()
    assert (lines_of(one) == lines_of(two)).all()


@pytest.mark.parametrize("n_parts", PARTS)
@pytest.mark.parametrize("kind", ["dense", "dense weighted", "sparse", "sparse weighted"])
def test_answers_of_parts_add_up(kind, n_parts):
    _, ledger = ledger_of(kind)
    parts = PartitionedWeights([Travelling(part) for part in ledger.cut(n_parts)])
    terms = list(range(ledger.tables.n_terms))
    for moves in range(3):
        same(ledger, parts, terms)
        steps = np.array([3, 0, -moves], np.int64)
        for each in (ledger, parts):
            each.apply([moves, moves + 1], np.stack([steps, steps + 1]))
            each.shift(steps)
    same(ledger, parts, terms[::-1])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_what_joined_leaves_without_a_trace(kind):
    _, ledger = ledger_of(kind)
    before, lines = ledger.loss(), lines_of(ledger)
    every = range(ledger.tables.n_terms)
    steps = np.tile([7, 1, 16], (len(every), 1))
    ledger.apply(every, steps)
    assert ledger.loss() != before
    for term in every:
        ledger.apply([term], -steps[:1])
    assert ledger.loss() == before
    assert (lines_of(ledger) == lines).all()


@pytest.mark.parametrize("n_parts", PARTS)
def test_a_path_over_parts_is_the_path(n_parts):
    weighing, ledger = ledger_of("dense")
    whole = weighing.greedy(0.5)
    rules = whole._rules
    parts = PartitionedWeights(ledger.cut(n_parts))
    problem = WeightedProblem(parts, weighing._constants(weighing.problems[0]), rules)
    for one, two in zip(whole.steps(), GreedyWeights([problem], rules).steps(), strict=True):
        assert one.terms == two.terms
        assert one.gain == two.gain
        assert one.loss == two.loss
        assert (one.weights[0] == two.weights[0]).all()


def test_sparse_columns_answer_as_dense_ones():
    _, sparse = ledger_of("sparse")
    rows = rows_of("sparse")
    X = np.stack([rows.codes(j) for j in range(4)], axis=1).astype(float)
    dense_rows = coded_rows(X, rows.labels, ["bernoulli"] * 4)
    plan = WeightPlan(units=tuple((j,) for j in range(4)))
    dense = Weighing([dense_rows], plan, 0, Threads(1))._ledger(0, dense_rows, left_out=True)
    for term in range(4):
        for each in (sparse, dense):
            each.apply([term], np.array([[5, 16, 1]]))
        same(sparse, dense, range(4))


def test_a_ledger_is_cut_into_no_more_parts_than_lines():
    _, ledger = ledger_of("dense")
    n_lines = len(lines_of(ledger))
    parts = ledger.cut(n_lines + 9)
    assert len(parts) == n_lines
    assert sum(part.loss() for part in parts) == ledger.loss()
