"""Whole tiles of two classes: quick ways give the errors of the slow one and keep the bound."""

from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve.criteria import CRITERIA
from bayesieve.data.kernels.options import BLOCK, LOG_LIKELIHOOD, PROBABILITY
from bayesieve.engine import layout as lines_of
from bayesieve.engine.contract import WHOLE, Units
from bayesieve.engine.kernels import two_classes as errors
from bayesieve.engine.kernels.arrays import TermArrays
from bayesieve.engine.kernels.bits import TOGETHER, whole_runs
from bayesieve.engine.kernels.dense import log_own, posterior, scan
from bayesieve.engine.kernels.two_classes import count_errors, count_whole, margins, scan_whole
from bayesieve.engine.layout import LineCells, Lines
from ledgers import dense_ledger

UNIT = 2.0**-30
#: What a line of two classes may be off by in single precision, see `DenseLedger.bounds`.
DOUBT = 14 * 2.0**-24


def make_lines(rng, sizes, weighted=False):
    """Lines of so many of each class and set, shuffled."""
    keys = [(y, s) for (y, s), size in sizes.items() for _ in range(size)]
    labels, sets = np.array(keys)[rng.permutation(len(keys))].T
    weights = rng.integers(1, 4, labels.size) if weighted else np.ones(labels.size)
    return Lines.sort(np.arange(labels.size), sets, labels, weights)


def make_terms(rng, lines, n_columns, n_classes, spread, three=()):
    """Columns of two values (some of three), and their terms, up to `spread` nat apart."""
    n_sets = int(lines.sets.max()) + 1
    cells = LineCells(lines, n_columns)
    n_codes = np.array([3 if j in three else 2 for j in range(n_columns)])
    for values in n_codes:
        cells.put(rng.integers(0, values, lines.rows.size, dtype=np.uint8), values == 2)
    offsets = np.append(0, np.cumsum(n_sets * n_codes * n_classes))
    nat = rng.uniform(-spread / 2, spread / 2, offsets[-1])
    table = np.round(nat / UNIT).astype(np.int64)
    planes = np.empty((0, n_classes, lines.rows.size), np.int64)
    held = (cells.codes, cells.bits, cells.rows)
    return TermArrays(*held, n_codes, offsets, table, planes), cells


def said(lines, terms, cells, slot):
    """What a column says of every line: classes x lines."""
    mine = terms.table[terms.offsets[slot] : terms.offsets[slot + 1]]
    mine = mine.reshape(int(lines.sets.max()) + 1, terms.n_codes[slot], -1)
    return mine[lines.line_sets, cells.column(slot).astype(np.int64)].T


def by_class(lines, values, n_classes):
    """Sums of a value a line, weighted, by true class."""
    return np.bincount(lines.labels, values * lines.line_weights, n_classes)


SIZES = {(0, 0): 9 * BLOCK + 7, (0, 1): 3 * BLOCK, (1, 0): 40, (1, 1): 2 * BLOCK - 1}


@pytest.fixture(params=["bytes", "bits"])
def form(request, monkeypatch):
    monkeypatch.setattr(lines_of, "MANY_CELLS", 0 if request.param == "bits" else 1 << 60)
    return request.param


@settings(deadline=None, max_examples=40)
@given(sizes=st.lists(st.sampled_from([1, 30, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK]), min_size=6))
def test_runs_end_where_class_or_set_or_width_changes(sizes):
    keys = [(y, s) for y in range(2) for s in range(3)]
    lines = make_lines(np.random.default_rng(0), dict(zip(keys, sizes, strict=False)))
    n_tiles = lines.classes.size
    width = np.diff(lines.pieces[lines.tiles])
    whole = (np.diff(lines.tiles) == 1) & (width == BLOCK)
    kind = list(zip(lines.classes, lines.sets[lines.tiles[:-1]], strict=True))
    for top in range(0, n_tiles, TOGETHER):
        n = min(TOGETHER, n_tiles - top)
        found = np.empty(TOGETHER, np.int64)
        whole_runs(lines.arrays, top, n, found)
        for t in range(top, top + n):
            end = t
            while end < top + n and whole[end] and kind[end] == kind[t]:
                end += 1
            assert found[t - top] == end


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_those_counted_line_by_line(form, n_classes, weighted, sign):
    rng = np.random.default_rng(3)
    lines = make_lines(rng, {**SIZES, (n_classes - 1, 1): 5 * BLOCK + 3}, weighted)
    terms, cells = make_terms(rng, lines, 7, n_classes, 2.0, three=(4,))
    assert (cells.rows < 0).any() == (form == "bits")
    # A grid as coarse as the terms themselves: ties are frequent.
    coarse = 1 << 29
    terms = terms._replace(table=terms.table // coarse * coarse)
    sums = rng.integers(-3, 4, (n_classes, lines.rows.size)) * coarse
    ahead = np.ones((n_classes, lines.rows.size + 16), np.int64)
    margins(sums, lines.arrays, ahead)
    which = np.arange(7)
    found = np.empty((7, n_classes), np.int64)
    asked = (terms, which, which, sign, 1, 6, found)
    whole = n_classes == 2 and not weighted
    assert lines.has_whole_tiles == (not weighted)
    count_errors(ahead, lines.arrays, whole, *asked)
    if whole:
        count_whole(ahead, lines.arrays, *asked)
    for j in range(1, 6):
        after = sums + sign * said(lines, terms, cells, j)
        wrong = after.argmax(0) != lines.labels  # the first of equals, as the rule says
        np.testing.assert_array_equal(found[j], by_class(lines, wrong, n_classes))


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([0.1, 3.0, 59.0]),
    apart=st.sampled_from([0.5, 20.0, 90.0, 300.0]),
    many=st.sampled_from([0, 1 << 60]),
)
def test_scans_are_as_near_as_they_say(seed, spread, apart, many):
    """Terms as far apart as a scan takes, sums from even to hopeless."""
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_of, "MANY_CELLS", many)
        lines = make_lines(rng, SIZES)
        terms, cells = make_terms(rng, lines, 5, 2, spread, three=(2,))
    n_lines = lines.rows.size
    sums = np.round(rng.normal(0, apart, (2, n_lines)) / UNIT).astype(np.int64)
    post = np.ones((2, n_lines + 16), np.float32)
    posterior(sums, UNIT, 0, n_lines, post)
    nat = terms.table.reshape(-1, 2) * UNIT
    linear = np.exp(nat - nat.max(1, keepdims=True)).astype(np.float32).ravel()
    which, labels, every = np.arange(5), lines.labels, np.arange(n_lines)
    before = np.logaddexp(*(sums * UNIT)) - sums[labels, every] * UNIT
    for kind in (PROBABILITY, LOG_LIKELIHOOD):
        found = np.empty((5, 2))
        asked = (terms, linear, which, which, 0, 5, found)
        scan(kind, post, lines.arrays, True, np.empty(0), *asked)
        scan_whole(kind, post, lines.arrays, *asked)
        for j in range(5):
            after = sums + said(lines, terms, cells, j)
            surprise = np.logaddexp(*(after * UNIT)) - after[labels, every] * UNIT
            exact = -np.expm1(-surprise) if kind == PROBABILITY else before - surprise
            off = np.abs(found[j] - by_class(lines, exact, 2))
            assert (off <= DOUBT * by_class(lines, np.ones(n_lines), 2) + 1e-9).all(), (kind, j)


def test_posteriors_and_their_logarithms(form):
    rng = np.random.default_rng(0)
    for n_classes, weighted in ((2, False), (3, True), (60, False)):
        lines = make_lines(rng, {**SIZES, (n_classes - 1, 0): 700}, weighted)
        n_lines = lines.rows.size
        sums = np.round(rng.normal(0, 4, (n_classes, n_lines)) / UNIT).astype(np.int64)
        logs = sums * UNIT - np.logaddexp.reduce(sums * UNIT, axis=0)
        found = np.zeros((n_classes, n_lines + 16), np.float32)
        posterior(sums, UNIT, 0, 700, found)
        posterior(sums, UNIT, 700, n_lines, found)
        np.testing.assert_allclose(found[:, :n_lines], np.exp(logs), rtol=1e-6)
        assert (found[:, n_lines:] == 0).all()
        total = np.empty(n_classes)
        log_own(sums, lines.arrays, UNIT, total)
        own = logs[lines.labels, np.arange(n_lines)]
        np.testing.assert_allclose(total, by_class(lines, own, n_classes), rtol=1e-12)


@pytest.mark.parametrize("criterion", ["probability", "log-likelihood"])
@pytest.mark.parametrize("cv", ["train", 3])
def test_bounds_hold_in_ledgers_of_many_rows(form, criterion, cv):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 9000)
    X = (rng.random((9000, 12)) < np.where(y[:, None], 0.9, 0.1) ** (1 + np.arange(12) / 4)) * 1.0
    ledger = dense_ledger(X, y, ["bernoulli"] * 12, cv)
    units, every = Units(tuple((j,) for j in range(12))), np.arange(12)
    rule = CRITERIA[criterion].rule(ledger)
    for moved in ((), (0, 1), (2, 3, 4, 5, 6)):
        ledger.apply(moved, WHOLE)
        for sign in (1, -1):
            bounds = ledger.bounds(rule, units, every, WHOLE * sign)
            exact = ledger.losses(rule, units, every, WHOLE * sign).sum(1) / 2.0**rule.bits
            assert (np.abs(bounds.losses - exact) <= bounds.doubts).all()
            assert (bounds.doubts < 1e-2).all()


def test_who_asks_meanwhile_waits_for_nobody_and_gets_whole_margins(monkeypatch):
    """Another thread asks the same ledger while its margins are being found."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 3000)
    X = (rng.random((3000, 6)) < 0.3 + 0.4 * y[:, None]) * 1.0
    ledger = dense_ledger(X, y, ["bernoulli"] * 6)
    rule, units = CRITERIA["error"].rule(ledger), Units(tuple((j,) for j in range(6)))
    ledger.apply((0, 1), WHOLE)
    found = []

    def ask():
        found.append(ledger.losses(rule, units, np.arange(6), WHOLE))

    def interrupted(*args):
        monkeypatch.setattr(errors, "margins", margins)
        other = Thread(target=ask)
        other.start()
        other.join()
        margins(*args)

    monkeypatch.setattr(errors, "margins", interrupted)
    ask()
    np.testing.assert_array_equal(*found)
