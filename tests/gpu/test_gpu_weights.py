"""The contract of weighted ledgers on a GPU: every answer is that of the host's ledger."""

import numpy as np
import pytest
from hosts import HostDevice
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve.engine.contract import Partitioned
from bayesieve.engine.gpu.weights import GpuWeightLedger
from bayesieve.engine.threads import Threads
from bayesieve.engine.weighted import PRESENT
from bayesieve.search.term_pool import CodedColumns, CodedRows, Weighing, WeightPlan
from bayesieve.search.term_weights import TermObjective, WeightedProblem
from ledgers import check_alike, same_answers, single
from weighted import MODELS_OF_MIXED, coded_rows, mixed


def weighing_of(n_classes=3, weighted=False, seed=3, n_rows=130, bins=5):
    X, y = mixed(seed, n_rows, n_classes)
    weights = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    rows = coded_rows(X, y, MODELS_OF_MIXED, weights)
    plan = WeightPlan(units=tuple((j,) for j in range(len(rows.columns.specs))))
    weighing = Weighing([rows], plan, bins, Threads(1))
    return weighing, weighing._ledger(0, rows, left_out=True)


def on_device(ledger, device):
    held = ledger._lines, ledger._cells
    return GpuWeightLedger(ledger.tables, *held, ledger.offers.bits, Threads(1), device)


def same(one, two):
    same_answers(one, two, single(one.tables.n_terms))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_answers_are_those_of_the_host(device, n_classes, weighted):
    _, plain = weighing_of(n_classes, weighted)
    ledger = on_device(plain, device)
    check_alike(plain, ledger, single(plain.tables.n_terms))


def test_many_classes_have_a_diagonal(device):
    _, plain = weighing_of(35, n_rows=200, bins=0)
    assert not plain.tables.full
    ledger = on_device(plain, device)
    for each in (plain, ledger):
        each.apply([1], np.arange(35)[None] % 3)
    same(plain, ledger)


def test_scores_far_apart(device):
    _, plain = weighing_of()
    ledger = on_device(plain, device)
    for each in (plain, ledger):
        each.shift(np.array([9000, -9000, 64 * 55]))
    same(plain, ledger)


def test_parts_add_up_and_paths_are_the_same(device):
    weighing, plain = weighing_of()
    parts = Partitioned([on_device(part, device) for part in plain.cut(3)])
    greedy = weighing.greedy(0.5)
    rules = greedy._rules
    problem = WeightedProblem(parts, weighing._constants(weighing.problems[0]), rules)
    for one, two in zip(greedy.walk(), TermObjective([problem], rules).walk(), strict=True):
        assert (one.terms, one.gain, one.loss) == (two.terms, two.gain, two.loss)
        np.testing.assert_array_equal(one.weights[0], two.weights[0])


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans(), st.integers(5, 300))
@settings(max_examples=15, deadline=None)
def test_any_small_table(programs, seed, n_classes, weighted, n_rows):
    _, plain = weighing_of(n_classes, weighted, seed, n_rows, bins=0)
    ledger = on_device(plain, HostDevice(programs))
    rng = np.random.default_rng(seed)
    for _ in range(2):
        term, steps = int(rng.integers(6)), rng.integers(-16, 17, (1, n_classes))
        for each in (plain, ledger):
            each.apply([term], steps)
        same(plain, ledger)


def test_sparse_and_wide_columns_are_refused(programs):
    dense = coded_rows(np.eye(4), np.arange(4) % 2, ["bernoulli"] * 4)
    entries = tuple(np.array([j]) for j in range(4))
    columns = CodedColumns(dense.columns.specs, np.full(4, PRESENT), entries, 4)
    given = dense.labels, dense.weights, dense.classes, dense.class_weight
    rows = CodedRows(columns, dense.rows, *given)
    plan = WeightPlan(units=tuple((j,) for j in range(4)))
    sparse = Weighing([rows], plan, 0, Threads(1))._ledger(0, rows, left_out=True)
    with pytest.raises(ValueError, match="engine='gpu' holds dense tables; got sparse columns"):
        on_device(sparse, HostDevice(programs))
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 400, (2000, 1)).astype(float), rng.integers(0, 2, 2000)
    wide = coded_rows(X, y, ["categorical"])
    made = Weighing([wide], WeightPlan(units=((0,),)), 0, Threads(1))
    with pytest.raises(ValueError, match="at most 255 values; term 0 has more"):
        on_device(made._ledger(0, wide, left_out=True), HostDevice(programs))
