"""The contract of ledgers on a GPU: every answer is that of the dense ledger of the same lines."""

import numpy as np
import pytest
from hosts import HostDevice
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve.criteria import CRITERIA
from bayesieve.engine import layout as lines_of
from bayesieve.engine.contract import AS_IT_IS, WHOLE, Partitioned, Units
from bayesieve.engine.gpu.ledger import MOST_SCANNED, GpuLedger
from bayesieve.engine.threads import Threads
from bayesieve.search import SEARCHES, Limits
from ledgers import Travelling, check_alike, dense_ledger, objective_of

ROW_CRITERIA = ["error", "probability", "log-likelihood"]
MIXED = ["bernoulli", "categorical", "bernoulli", "bernoulli", "bernoulli", "categorical"]


def table(seed=0, n_rows=150, n_classes=3):
    """Binary columns, one of them with missing values, several codes, a copy, a constant."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    X = rng.integers(0, 2, (n_rows, 6)).astype(float)
    X[:, 1] = rng.integers(0, 5, n_rows) + (y == 2)
    X[:, 2] = rng.random(n_rows) < 0.2 + 0.5 * (y == 1)
    X[:, 3] = X[:, 2]
    X[rng.random(n_rows) < 0.1, 4] = np.nan
    X[:, 5] = 1.0
    return X, y, rng.integers(1, 4, n_rows)


def on_device(dense, device, n_parts=1):
    """The same lines elsewhere, whole or in parts that talk by messages."""
    cut = [dense] if n_parts == 1 else dense.cut(n_parts)
    found = [
        GpuLedger(each._tables, each._rows, each.outline.factors, Threads(1), device)
        for each in cut
    ]
    return found[0] if n_parts == 1 else Partitioned([Travelling(each) for each in found])


def dense_of(cv="train", weighted=False, n_classes=3):
    X, y, weights = table(n_classes=n_classes)
    given = {"weights": weights if weighted else None, "balanced": weighted}
    return dense_ledger(X, y, MIXED, cv, **given)


SINGLE = Units(tuple((j,) for j in range(6)))
GROUPED = Units(((0, 2), (1,), (3,), (4, 5)))
CASES = [
    ("train", False, 2),
    ("train", True, 3),
    ("loo", False, 3),
    ("loo", True, 2),
    (4, False, 3),
    (4, True, 4),
    ("train", False, 9),
]


@pytest.mark.parametrize(("cv", "weighted", "n_classes"), CASES)
def test_answers_are_those_of_the_dense_ledger(device, cv, weighted, n_classes):
    dense = dense_of(cv, weighted, n_classes)
    ledger = on_device(dense, device)
    assert ledger.outline == dense.outline
    np.testing.assert_array_equal(ledger.totals(), dense.totals())
    for units in (SINGLE, GROUPED):
        every = np.arange(-1, len(units))
        for name in ROW_CRITERIA:
            rule = CRITERIA[name].rule(dense)
            assert CRITERIA[name].rule(ledger) == rule
            for moved in ((), (2,), (0, 1, 4)):
                for each in (dense, ledger):
                    each.apply(moved, WHOLE)
                for sign in (1, -1):
                    exact = dense.losses(rule, units, every, WHOLE * sign)
                    np.testing.assert_array_equal(
                        ledger.losses(rule, units, every, WHOLE * sign), exact
                    )
                    keys = rule.keys(exact[1:], np.zeros(len(units)))
                    loss, doubt = ledger.bounds(rule, units, every[1:], WHOLE * sign)
                    assert (abs(loss - np.array(keys) * 2.0**-rule.bits) <= doubt).all()
                    if name != "error" and units is SINGLE:
                        usual = dense.bounds(rule, units, every[1:], WHOLE * sign).doubts
                        assert (doubt <= 8 * usual).all()
                for each in (dense, ledger):
                    each.apply(moved, -WHOLE)


@pytest.mark.parametrize("weighted", [False, True])
def test_walks_scores_and_parts(device, weighted):
    dense = dense_of(4, weighted)
    ledger, parts = on_device(dense, device), on_device(dense, device, 3)
    check_alike(dense, ledger, SINGLE)
    check_alike(dense, parts, GROUPED)


@pytest.mark.parametrize("search", SEARCHES)
def test_searches_take_the_same_steps(device, search):
    walked = []
    dense = dense_of(4)
    for ledger in (dense_of(4), on_device(dense, device), on_device(dense, device, 2)):
        for criterion in ROW_CRITERIA:
            objective = objective_of(ledger, criterion, SINGLE.members, keep=[5])
            steps = []
            objective.listeners.append(
                lambda action, units, o, steps=steps: steps.append((action, units, o.score()))
            )
            for _ in SEARCHES[search].given(Hints()).steps(objective, Limits(1, 6)):
                pass
            walked.append((criterion, steps, objective.n_tried))
            ledger.apply([j for u in objective.selected for j in SINGLE.members[u]], -WHOLE)
    assert all(len(steps) > 1 for _, steps, _ in walked)
    assert walked[3:] == walked[:3] * 2


class Hints:
    """What a selector would hand over."""

    seed = 3

    def order(self, ranking):
        return (3, 0, 1, 2, 4, 5)

    def pairs(self, measure):
        return ((3, 4), (0, 1))


def test_terms_far_apart_and_long_margins(device):
    """Columns that decide nearly alone: scans clamp, and their doubts hold."""
    rng = np.random.default_rng(3)
    y = np.arange(400) % 2
    X = np.where(rng.random((400, 30)) < 0.002, 1 - y[:, None], y[:, None]).astype(float)
    X[:, 20:] = rng.integers(0, 2, (400, 10))
    dense = dense_ledger(X, y, ["bernoulli"] * 30)
    dense._tables.table[:] *= 3
    ledger = on_device(dense, device)
    assert not ledger._near
    units = Units(tuple((j,) for j in range(30)))
    moved = list(range(12))
    for name in ("probability", "log-likelihood"):
        rule = CRITERIA[name].rule(dense)
        for each in (dense, ledger):
            each.apply(moved, WHOLE)
        for sign in (1, -1):
            every = np.arange(30)
            exact = dense.losses(rule, units, every, WHOLE * sign)
            np.testing.assert_array_equal(ledger.losses(rule, units, every, WHOLE * sign), exact)
            loss, doubt = ledger.bounds(rule, units, every, WHOLE * sign)
            off = abs(loss - exact.sum(1) * 2.0**-rule.bits)
            assert (off <= doubt).all()
        for each in (dense, ledger):
            each.apply(moved, -WHOLE)


def test_many_classes_are_settled_without_a_scan(device):
    n_classes = MOST_SCANNED + 1
    dense = dense_of("train", False, n_classes)
    ledger = on_device(dense, device)
    every = np.arange(-1, 6)
    for name in ROW_CRITERIA:
        rule = CRITERIA[name].rule(dense)
        found = ledger.losses(rule, SINGLE, every, WHOLE)
        np.testing.assert_array_equal(found, dense.losses(rule, SINGLE, every, WHOLE))
        assert np.isinf(ledger.bounds(rule, SINGLE, every[1:], WHOLE).doubts).all()


def test_nothing_asked_is_nothing_answered(device):
    ledger = on_device(dense_of(), device)
    rule = CRITERIA["error"].rule(ledger)
    assert ledger.losses(rule, SINGLE, np.empty(0, np.int64), WHOLE).shape == (0, 3)
    assert ledger.losses(rule, SINGLE, np.array([AS_IT_IS]), WHOLE).shape == (1, 3)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(4, 300), st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_small_table(programs, seed, n_classes, n_rows, weighted):
    """Lines that do not fill their words, classes of one line, any codes."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, max(n_rows - n_classes, 0)))
    X = rng.integers(0, rng.integers(2, 7, 5), (y.size, 5)).astype(float)
    X[:, 0] = rng.integers(0, 2, y.size)
    models = ["bernoulli", *["categorical"] * 4]
    weights = rng.integers(1, 5, y.size) if weighted else None
    dense = dense_ledger(X, y, models, "loo", weights=weights)
    ledger = on_device(dense, HostDevice(programs))
    units = Units(((0,), (1,), (2,), (3, 4)))
    moved = rng.permutation(5)[: rng.integers(0, 5)].tolist()
    for each in (dense, ledger):
        each.apply(moved, WHOLE)
    for name in ROW_CRITERIA:
        rule = CRITERIA[name].rule(dense)
        exact = dense.losses(rule, units, np.arange(-1, 4), WHOLE)
        np.testing.assert_array_equal(ledger.losses(rule, units, np.arange(-1, 4), WHOLE), exact)
        loss, doubt = ledger.bounds(rule, units, np.arange(4), WHOLE)
        assert (
            abs(loss - np.array(rule.keys(exact[1:], np.zeros(4))) * 2.0**-rule.bits) <= doubt
        ).all()


@pytest.mark.parametrize(("n_classes", "many"), [(2, 0), (4, 1 << 40)])
def test_lines_of_many_words(device, n_classes, many, monkeypatch):
    """More words than are staged, and than a chunk has; the host holds bits, or bytes."""
    monkeypatch.setattr(lines_of, "MANY_CELLS", many)
    n_columns = 300
    rng = np.random.default_rng(4)
    y = np.append(np.zeros(9000, int), rng.integers(0, n_classes, 1500))
    X = (rng.random((y.size, n_columns)) < 0.3 + 0.1 * y[:, None]).astype(float)
    dense = dense_ledger(X, y, ["bernoulli"] * n_columns)
    assert dense._rows.cells.is_two(0) == (many == 0)
    ledger = on_device(dense, device)
    units = Units(tuple((j,) for j in range(n_columns)))
    every = rng.permutation(n_columns)
    for each in (dense, ledger):
        each.apply((7, 8), WHOLE)
    for name in ROW_CRITERIA:
        rule = CRITERIA[name].rule(dense)
        exact = dense.losses(rule, units, every, WHOLE)
        loss, doubt = ledger.bounds(rule, units, every, WHOLE)
        assert (abs(loss - exact.sum(1) * 2.0**-rule.bits) <= doubt).all()
        if name == "error":
            np.testing.assert_array_equal(ledger.losses(rule, units, every, WHOLE), exact)
        else:
            few = every[:3]
            np.testing.assert_array_equal(ledger.losses(rule, units, few, WHOLE), exact[:3])


def test_doubt_covers_the_rounding_of_exact_losses(device):
    """Large weights and large terms of many columns: the grain is coarser than a scan."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 16)
    X = np.c_[rng.integers(0, 2, (32, 40)), np.repeat(y[:, None], 600, axis=1)].astype(float)
    dense = dense_ledger(X, y, ["bernoulli"] * 640, weights=rng.integers(2**25, 2**26, 32))
    units, every = Units(tuple((j,) for j in range(640))), np.arange(40)
    rule = CRITERIA["log-likelihood"].rule(dense)
    loss, doubt = on_device(dense, device).bounds(rule, units, every, WHOLE)
    exact = dense.losses(rule, units, every, WHOLE).sum(1) * 2.0**-rule.bits
    assert rule.bits < 18
    assert (abs(loss - exact) <= doubt).all()
