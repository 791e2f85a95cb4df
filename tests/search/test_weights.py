"""Weights: leave-one-out scores, gradients and paths against slow twins."""

from dataclasses import replace

import numpy as np
import pytest

from bayesieve import WeightedNaiveBayes
from bayesieve.data.kernels.options import POSTERIOR_BITS
from bayesieve.engine.kernels.weighted import slope_and_curve
from bayesieve.engine.threads import Threads
from bayesieve.engine.weighted import PRESENT
from bayesieve.models.base import SCORE_BITS
from bayesieve.models.log_ratios import TERM_BITS
from bayesieve.search import term_search as inner
from bayesieve.search.term_pool import CodedColumns, WeightPlan
from bayesieve.search.term_search import choose_options, fold_weights, options_of, until
from ledgers import log_loss
from weighted import MODELS_OF_MIXED, coded_rows, left_out_scores, mixed, terms_of, weighing_of


def last_state(weighing, price=0.2):
    greedy = weighing.greedy(price)
    return greedy, list(greedy.walk())[-1]


@pytest.mark.parametrize("paired", [False, True])
def test_left_out_scores_equal_brute_force(paired):
    X, y = mixed()
    weighing = weighing_of(X, y, MODELS_OF_MIXED, paired)
    ledger = weighing._ledger(0, weighing.problems[0], left_out=True)
    greedy, step = last_state(weighing)
    assert len(step.terms) >= 3
    assert not paired or any(term >= X.shape[1] for term in step.terms)
    (problem,) = greedy._problems
    (scored,) = problem._ledger.scores()
    found = np.empty((len(y), 3))
    found[scored.rows] = np.ldexp(scored.sums[0].astype(float), -SCORE_BITS)
    wanted = left_out_scores(X, y, MODELS_OF_MIXED, weighing, step)
    assert np.abs(found - wanted).max() < 1e-9
    odds = wanted - wanted.max(1, keepdims=True)
    losses = np.log(np.exp(odds).sum(1)) - odds[np.arange(len(y)), y]
    assert abs(step.loss - losses.mean()) < 1e-9
    assert log_loss(ledger) > 0


def test_weights_are_whole_sixteenths_and_the_loss_falls():
    X, y = mixed(1)
    weighing = weighing_of(X, y, MODELS_OF_MIXED)
    steps = list(weighing.greedy(0.2).walk())
    for step in steps:
        assert ((step.weights[0] >= 0) & (step.weights[0] <= 16)).all()
        assert (step.weights[0].max(1, initial=1) > 0).all()
    assert steps[-1].loss < steps[0].loss


def test_gradients_equal_finite_differences():
    X, y = mixed(2)
    weighing = weighing_of(X, y, MODELS_OF_MIXED, True)
    greedy, _ = last_state(weighing)
    ledger = greedy._problems[0]._ledger
    tables = ledger.tables
    eps = 1  # sixteenths: the smallest step there is
    for term in range(tables.n_terms):
        rows = tables.rows(term)
        slope, curve = np.empty(3), np.empty((3, 3))
        sums = ledger.slopes([term]).sums.reshape(-1, tables.width)
        units = (2.0**-POSTERIOR_BITS, 2.0**-TERM_BITS)
        slope_and_curve(sums, tables.ratios[rows], tables.own[rows], True, *units, slope, curve)
        for k in range(3):
            move = np.zeros(3, np.int64)
            losses = []
            for times in (-2 * eps, -eps, eps, 2 * eps):
                move[k] = times
                ledger.apply([term], move[None])
                losses.append(log_loss(ledger) / 2.0**ledger.offers.bits)
                ledger.apply([term], -move[None])
            # A five-point rule: its error is of the fourth order in the step.
            numeric = (-losses[0] + 8 * losses[1] - 8 * losses[2] + losses[3]) / -(12 / 16)
            assert slope[k] == pytest.approx(-numeric, abs=2e-4)


def test_curvature_is_that_of_the_definition():
    X, y = mixed(3)
    weighing = weighing_of(X, y, MODELS_OF_MIXED)
    greedy, _ = last_state(weighing)
    ledger = greedy._problems[0]._ledger
    (scored,) = ledger.scores()
    rows, scores = scored.rows, np.ldexp(scored.sums[0].astype(float), -SCORE_BITS)
    P = np.exp(scores - scores.max(1, keepdims=True))
    P /= P.sum(1, keepdims=True)
    codes = weighing.problems[0].codes(1)[rows]
    tables = ledger.tables
    # The only row of its level reads the code that says nothing.
    codes = np.where(weighing.singles[0][1].lone[codes], tables.n_codes[1] - 1, codes)
    L = np.ldexp(tables.ratios[tables.rows(1)].astype(float), -TERM_BITS)[codes]
    wanted = np.zeros((3, 3))
    for i in range(len(y)):
        wanted += (np.diag(P[i]) - np.outer(P[i], P[i])) * np.outer(L[i], L[i])
    slope, curve = np.empty(3), np.empty((3, 3))
    found = ledger.slopes([1]).sums.reshape(-1, tables.width)
    mine = (tables.ratios[tables.rows(1)], tables.own[tables.rows(1)])
    slope_and_curve(found, *mine, True, 2.0**-POSTERIOR_BITS, 2.0**-TERM_BITS, slope, curve)
    assert np.abs(curve - wanted).max() < 1e-4


@pytest.mark.parametrize("weights", [None, "repeats"])
def test_threads_do_not_change_a_path(weights):
    rng = np.random.default_rng(0)
    n = 3000
    y = rng.integers(0, 3, n)
    X = (rng.random((n, 40)) < 0.3 + 0.1 * (y[:, None] == np.arange(40) % 3)).astype(float)
    given = None if weights is None else rng.integers(1, 4, n)
    found = []
    for threads in (1, 2, 3):
        with Threads(threads) as pool:
            weighing = weighing_of(X, y, ["bernoulli"] * 40, threads=pool, weights=given)
            found.append(list(weighing.greedy(1.0).walk()))
    for other in found[1:]:
        assert len(other) == len(found[0]) > 10
        for one, two in zip(found[0], other, strict=True):
            assert one.terms == two.terms
            assert one.loss == two.loss
            assert (one.weights[0] == two.weights[0]).all()


def test_repeated_rows_count_as_so_many_rows():
    X, y = mixed(4)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    once = weighing_of(X, y, MODELS_OF_MIXED, weights=times)
    again = weighing_of(np.repeat(X, times, 0), np.repeat(y, times), MODELS_OF_MIXED)
    for one, two in zip(once.greedy(0.5).walk(), again.greedy(0.5).walk(), strict=True):
        assert one.terms == two.terms
        assert one.loss == pytest.approx(two.loss, abs=1e-9)
        assert (one.weights[0] == two.weights[0]).all()


def test_a_higher_price_ends_the_same_path_earlier():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = (rng.random((400, 20)) < 0.3 + 0.02 * np.arange(20) * (y[:, None] == 1)).astype(float)
    weighing = weighing_of(X, y, ["bernoulli"] * 20, 5)
    low, high = (list(weighing.greedy(price).walk()) for price in (0.1, 3.0))
    assert 2 < len(high) < len(low)
    at = until(low, 3.0)
    assert low[at].terms == high[-1].terms
    assert (low[at].weights[0] == high[-1].weights[0]).all()


def test_of_gains_that_cannot_be_told_apart_the_largest_alone_is_taken():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    X = (rng.random((400, 30)) < 0.35 + 0.2 * y[:, None]).astype(float)
    weighing = weighing_of(X, y, ["bernoulli"] * 30)
    greedy, every = weighing.greedy(0.1), np.arange(30)
    alone, swapped, taken = None, 0, []
    walk = greedy.walk()
    next(walk)
    while True:
        gains = greedy.gains(every)
        gains[taken] = -np.inf
        alone = gains.copy() if alone is None else alone
        most = max(gains.max(), 0)
        unsure = min(most / 10, np.sqrt(2 * most) / 2)
        near = [j for j in every if gains[j] >= gains.max() - unsure]
        wanted = max(near, key=lambda j: (alone[j], -j))
        state = next(walk, None)
        if state is None:
            break
        assert state.unit == wanted
        assert state.gain == pytest.approx(gains.max())
        swapped += wanted != gains.argmax()
        taken.append(wanted)
    assert swapped > 2
    assert gains.max() < 0.1


def test_many_classes_use_a_bound_on_the_curvature():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 20)
    X = ((y[:, None] >> np.arange(6)) & 1) ^ (rng.random((800, 6)) < 0.05)
    weighing = weighing_of(X.astype(float), y, ["bernoulli"] * 6)
    steps = list(weighing.greedy(1.0).walk())
    assert len(steps[-1].terms) == 6
    assert steps[-1].loss < 0.6 * steps[0].loss


def test_folds_find_no_term_in_noise():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 20)).astype(float), rng.integers(0, 2, 300)
    rows = coded_rows(X, y, ["bernoulli"] * 20)
    plan = WeightPlan(units=tuple((j,) for j in range(20)))
    folds = fold_weights(rows, y, np.random.RandomState(0))
    with Threads(1) as threads:
        found = choose_options(
            [rows], plan, options_of("auto", "auto"), folds, threads, lambda: False
        )[0]
    assert found.price == np.inf


def test_no_pair_holds_a_column_of_one_value():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 5)).astype(float), rng.integers(0, 2, 200)
    X[:, 1], X[:, 3] = 1.0, np.nan
    X[:9, 1] = np.nan
    weighing = weighing_of(X, y, ["bernoulli"] * 5, True)
    assert {pair.columns for pair in weighing.pairs} == {(0, 2), (0, 4), (2, 4)}


def test_folds_find_a_pair_that_matters():
    rng = np.random.default_rng(0)
    X, noise = rng.integers(0, 2, (600, 6)).astype(float), rng.random(600) < 0.1
    y = (X[:, 0].astype(int) ^ X[:, 1].astype(int)) ^ noise
    rows = coded_rows(X, y.astype(int), ["bernoulli"] * 6)
    plan = WeightPlan(units=tuple((j,) for j in range(6)))
    folds = fold_weights(rows, rows.labels, np.random.RandomState(0))
    with Threads(1) as threads:
        found = choose_options(
            [rows], plan, options_of("auto", "auto"), folds, threads, lambda: False
        )[0]
    assert found.pairs
    assert found.price != np.inf


def test_folds_of_a_sparse_table_are_those_of_the_dense_one():
    rng = np.random.default_rng(0)
    X, y = (rng.random((90, 40)) < 0.2).astype(float), rng.integers(0, 2, 90)
    dense = coded_rows(X, y, ["bernoulli"] * 40)
    present = CodedColumns(
        dense.columns.specs,
        np.full(40, PRESENT),
        tuple(np.flatnonzero(column) for column in X.T),
        90,
    )
    marks = [
        rows.marks(np.random.RandomState(0)) for rows in (dense, replace(dense, columns=present))
    ]
    assert (marks[0] == marks[1]).all()
    assert np.unique(marks[0]).size > 80


def test_folds_do_not_depend_on_the_order_of_rows_or_on_repeats():
    X, y = mixed(6)
    times = np.random.default_rng(2).integers(1, 4, len(y))
    order = np.random.default_rng(3).permutation(len(y))
    one = coded_rows(X, y, MODELS_OF_MIXED, times)
    two = coded_rows(np.repeat(X, times, 0), np.repeat(y, times), MODELS_OF_MIXED)
    three = coded_rows(X[order], y[order], MODELS_OF_MIXED, times[order])
    folds = [
        fold_weights(rows, rows.labels, np.random.RandomState(0)) for rows in (one, two, three)
    ]
    assert (np.sum(folds[0], axis=0) == times).all()
    for held_out, repeated, moved in zip(*folds, strict=True):
        sizes = np.bincount(y, held_out)
        assert np.ptp(sizes / np.bincount(y, times)) < 0.1
        assert (sizes == np.bincount(np.repeat(y, times), repeated)).all()
        # Rows that are equal may stand for each other.
        marks = one.marks(np.random.RandomState(0))
        for mark in np.unique(marks):
            mine = held_out[marks == mark].sum()
            assert mine == repeated[np.repeat(marks, times) == mark].sum()
            assert mine == moved[marks[order] == mark].sum()


def test_small_tables_share_paths_and_large_ones_do_not_with_the_same_choice(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (240, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 240) > 2).astype(int)
    found = []
    for small in (0, 1 << 30):
        monkeypatch.setattr("bayesieve.search.term_search._SMALL", small)
        model = WeightedNaiveBayes(n_jobs=2).fit(X, y)
        found.append(
            (terms_of(model), model.weights_.tolist(), [step.score for step in model.path_.steps])
        )
    assert found[0] == found[1]


def test_of_many_rows_a_part_tells_how_freely_to_correct():
    """As many rows of each class in proportion as there are; none in both parts."""
    rng = np.random.default_rng(0)
    y = (rng.random(40_000) < 0.1).astype(np.int64)
    rows = coded_rows(rng.integers(0, 2, (y.size, 3)).astype(float), y, ["bernoulli"] * 3)
    folds = fold_weights(rows, y, np.random.RandomState(0))
    (some,), (held_out,) = inner._some_of([rows], folds, y, np.random.RandomState(0))
    assert abs(some.weights.sum() - 3 * 8000) <= 3
    assert abs(held_out.sum() - 8000) <= 1
    assert set(held_out) == {0, 1}
    for part in (held_out, 1 - held_out):
        assert part[some.labels == 1].sum() / part.sum() == pytest.approx(y.mean(), abs=1e-3)
    few = rows.weighted((np.arange(y.size) < 24_000).astype(np.int64))
    assert inner._some_of([few], folds, y, np.random.RandomState(0)) == ([few], [folds[0]])


def test_an_interrupt_in_one_path_ends_the_others(monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    walked = []
    real = inner._Ends.go

    def go(walk, plan, threads):
        if walked:
            raise KeyboardInterrupt
        walked.append(walk)
        real(walk, plan, threads)

    monkeypatch.setattr(inner._Ends, "go", go)
    with pytest.raises(KeyboardInterrupt):
        WeightedNaiveBayes(n_jobs=2).fit(X, y)
    assert len(walked) == 1
