"""Columns of 0 and 1 as bits: the same answers as from bytes, in an eighth of the room."""

import numpy as np
import pytest

from bayesieve import NaiveBayesSelector
from bayesieve.criteria import CRITERIA
from bayesieve.data.columns import encode, learn
from bayesieve.data.kernels.options import BLOCK
from bayesieve.engine import layout as lines_of
from bayesieve.engine.contract import WHOLE, Units
from bayesieve.engine.dense import DenseLedger
from bayesieve.engine.layout import DenseColumns, LineCells, Lines, scoring
from bayesieve.engine.threads import Threads
from bayesieve.models import ModelSettings

UNITS = Units(((0,), (1,), (2, 3), (4,), (5,), (6,), (7,)))


def table(n_rows, n_classes, seed=0):
    """Binary columns, one of them with missing values, and one of three levels."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    X = (rng.random((n_rows, 8)) < 0.3 + 0.3 * (y[:, None] == np.arange(8) % n_classes)).astype(
        float
    )
    X[rng.random(n_rows) < 0.1, 4] = np.nan
    X[:, 5] = rng.integers(0, 3, n_rows)
    return X, y


def ledger_of(X, y, cv, weights=None):
    n_rows, n_classes = len(y), int(y.max()) + 1
    weights = np.ones(n_rows) if weights is None else weights.astype(float)
    scored = scoring(cv, y, weights, np.arange(n_rows), [1] * n_classes)
    columns = DenseColumns(scored.sets, scored.lines, scored.loo, X.shape[1])
    for j in range(X.shape[1]):
        spec = learn(f"x{j}", "bernoulli" if j != 5 else "categorical", X[:, j], True)
        column = encode(spec, X[:, j])
        columns.add(spec, column[scored.training], column)
    settings = ModelSettings(1.0, None, scored.sets.class_weight)
    made = DenseLedger.build([columns], settings, None, (1,) * n_classes, Threads(1))[0]
    return made, columns.cells


@pytest.fixture
def both(monkeypatch):
    def make(*args, **given):
        found = []
        for many in (1 << 60, 0):
            monkeypatch.setattr(lines_of, "MANY_CELLS", many)
            found.append(ledger_of(*args, **given))
        (one, as_bytes), (other, as_bits) = found
        assert (as_bytes.rows >= 0).all()
        assert (as_bits.rows < 0).sum() == 6
        return one, other

    return make


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
@pytest.mark.parametrize("cv", ["train", "loo", 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_bits_answer_as_bytes(both, n_classes, cv, weighted):
    n_rows = 3 * BLOCK + 77
    X, y = table(n_rows, n_classes)
    weights = np.random.default_rng(1).integers(1, 4, n_rows) if weighted else None
    one, other = both(X, y, cv, weights=weights)
    every = np.arange(-1, len(UNITS))
    for moved in ((), (0, 4), (2, 5)):
        for ledger in (one, other):
            ledger.apply(moved, WHOLE)
        for name in ("error", "probability", "log-likelihood"):
            rule = CRITERIA[name].rule(one)
            for sign in (1, -1):
                np.testing.assert_array_equal(
                    one.losses(rule, UNITS, every, WHOLE * sign),
                    other.losses(rule, UNITS, every, WHOLE * sign),
                )
                for mine, theirs in zip(
                    one.bounds(rule, UNITS, every[1:], WHOLE * sign),
                    other.bounds(rule, UNITS, every[1:], WHOLE * sign),
                    strict=True,
                ):
                    np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip(one.scores((1,), (0,)), other.scores((1,), (0,)), strict=True):
        np.testing.assert_array_equal(mine.sums, theirs.sums)
    rule = CRITERIA["probability"].rule(one)
    whole = other.losses(rule, UNITS, every, WHOLE)
    parts = other.cut(3)
    for part in parts:
        part.apply((0, 4, 2, 5), WHOLE)
    found = np.sum([part.losses(rule, UNITS, every, WHOLE) for part in parts], axis=0)
    np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("n_rows", [400, 3 * BLOCK - 1, 3 * BLOCK, 5 * BLOCK + 13])
def test_bits_are_what_was_put(monkeypatch, n_rows):
    monkeypatch.setattr(lines_of, "MANY_CELLS", 0)
    rng = np.random.default_rng(0)
    labels, sets = rng.integers(0, 3, n_rows), rng.integers(0, 4, n_rows)
    lines = Lines.sort(np.arange(n_rows), sets, labels, np.ones(n_rows))
    cells, columns = LineCells(lines, 4), rng.integers(0, 2, (4, n_rows), dtype=np.uint8)
    for column in columns:
        cells.put(column, two=True)
    for slot, column in enumerate(columns):
        np.testing.assert_array_equal(cells.column(slot), column)
    assert not cells.codes.size
    assert cells.bits.nbytes <= 4 * (n_rows + BLOCK * lines.classes.size) / 8
    at = np.sort(rng.choice(n_rows, n_rows // 2 + 1, replace=False))
    some = cells.take(at, lines.take(at))
    for slot, column in enumerate(columns):
        np.testing.assert_array_equal(some.column(slot), column[at])


def test_tiles_of_few_lines_stay_bytes(monkeypatch):
    """A class of ten rows has a tile of its own, which would take as many bits as 512."""
    monkeypatch.setattr(lines_of, "MANY_CELLS", 0)
    rows = np.arange(200)
    cells = LineCells(Lines.sort(rows, 0 * rows, rows // 10, np.ones(200)), 1)
    cells.put(rows % 2, two=True)
    assert not cells.bits.size
    np.testing.assert_array_equal(cells.column(0), rows % 2)


def test_an_eighth_of_the_room(monkeypatch):
    X, y = table(40_000, 2)
    monkeypatch.setattr(lines_of, "MANY_CELLS", 0)
    rows = np.arange(len(y))
    cells = LineCells(Lines.sort(rows, 0 * rows, y, np.ones(len(y))), 4)
    for j in range(4):
        cells.put(X[:, j].astype(np.uint8), two=True)
    assert cells.bits.nbytes < 1.05 * 4 * len(y) / 8


@pytest.mark.parametrize("search", ["forward", "backward-forward"])
def test_searches_do_not_know_how_cells_are_kept(monkeypatch, search):
    X, y = table(900, 3)
    found = []
    for many in (1 << 60, 0):
        monkeypatch.setattr(lines_of, "MANY_CELLS", many)
        found.append(NaiveBayesSelector(search=search, random_state=0).fit(X, y))
    assert repr(found[0].path_.steps) == repr(found[1].path_.steps)
