"""Kernels against plain arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from bayesieve.data.kernels.exact import exp_fixed, log_fixed, logs_from_one, moments_by_class
from bayesieve.engine.layout import DenseRows, Lines
from bayesieve.engine.threads import Threads
from bayesieve.models.base import Scale
from ledgers import dense_ledger, objective_of, total_scores


@settings(max_examples=300, deadline=None)
@given(st.floats(-50, 50))
def test_exp_is_the_twins_to_the_bit(x):
    assert exp_fixed(x) == reference.exp_fixed(x)
    assert math.isclose(exp_fixed(x), math.exp(x), rel_tol=1e-14)


@settings(max_examples=300, deadline=None)
@given(st.floats(1, 1e6))
def test_log_is_the_twins_to_the_bit(z):
    assert log_fixed(z) == reference.log_fixed(z)
    assert math.isclose(log_fixed(z), math.log(z), rel_tol=1e-14, abs_tol=1e-15)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shift=st.sampled_from([0.0, 1e8]))
def test_moments_of_many_blocks(seed, shift):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=3000) + shift
    values[rng.random(3000) < 0.1] = np.nan
    labels = rng.integers(0, 3, 3000)
    weights = rng.integers(1, 4, 3000).astype(float)
    rows = np.sort(rng.choice(3000, 2500, replace=False))
    found = np.empty((3, 3))
    moments_by_class(values, labels, weights, rows, np.arange(3000), *found)
    for k in range(3):
        mine = [i for i in rows if labels[i] == k and not np.isnan(values[i])]
        exact = [(Fraction(values[i]), Fraction(weights[i])) for i in mine]
        weight = sum(w for _, w in exact)
        mean = sum(v * w for v, w in exact) / weight
        squares = sum(w * (v - mean) ** 2 for v, w in exact)
        assert found[0, k] == float(weight)
        assert math.isclose(found[1, k], float(mean), rel_tol=1e-13, abs_tol=1e-13)
        assert math.isclose(found[2, k], float(squares), rel_tol=1e-8 if shift else 1e-12)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=3000),
    st.randoms(use_true_random=False),
)
def test_lines_are_cut_into_pieces_and_tiles(keys, random):
    keys = keys * random.choice([1, 1, 40])
    labels, sets = np.array(keys).T
    lines = Lines.sort(np.arange(len(keys)), sets, labels, np.ones(len(keys)))
    assert lines.pieces[0] == lines.tiles[0] == 0
    assert lines.pieces[-1] == len(keys)
    assert lines.tiles[-1] == len(lines.sets) == len(lines.pieces) - 1
    assert (np.diff(lines.pieces) > 0).all()
    for t, k in enumerate(lines.classes):
        first, last = lines.pieces[lines.tiles[t]], lines.pieces[lines.tiles[t + 1]]
        assert 0 < last - first <= 512
        assert (labels[lines.rows[first:last]] == k).all()
    for p, g in enumerate(lines.sets):
        assert (sets[lines.rows[lines.pieces[p] : lines.pieces[p + 1]]] == g).all()
    assert sorted(lines.rows.tolist()) == list(range(len(keys)))


def make_objective(
    X, y, criterion, cv="train", *, engine=None, models=None, weights=None, balanced=False,
    units=None,
):  # fmt: skip
    models = ["bernoulli"] * X.shape[1] if models is None else models
    ledger = dense_ledger(X, y, models, cv, weights=weights, balanced=balanced, threads=engine)
    units = [[j] for j in range(X.shape[1])] if units is None else units
    return ledger, objective_of(ledger, criterion, units)


def large_table(rng, n_rows, n_columns, n_values=2):
    y = rng.integers(0, 4, n_rows)
    X = rng.integers(0, n_values, (n_rows, n_columns)).astype(float)
    for j in range(n_columns):
        mine = rng.random(n_rows) < 0.3
        X[mine, j] = (y[mine] + j) % n_values
    X[:, -1] = X[:, 0]  # an exact tie
    return X, y


@given(st.lists(st.floats(1.0, 300.0), min_size=1, max_size=40))
@settings(max_examples=200, deadline=None)
def test_many_logs_are_single_logs_to_the_bit(values):
    given = np.array([*values, 1.0, math.sqrt(2), 2 * math.sqrt(2), 300.0])
    found = np.empty(given.size)
    logs_from_one(given, 300, np.empty(given.size), found)
    assert found.tolist() == [log_fixed(z) for z in given.tolist()]


def test_tasks_are_shared_and_an_error_reaches_the_caller():
    done = []
    with Threads(3) as threads:
        threads.share([lambda i=i: done.append(i) for i in range(50)])
        assert sorted(done) == list(range(50))

        def fail():
            raise RuntimeError("broken")

        with pytest.raises(RuntimeError, match="broken"):
            threads.share([fail, *[lambda: None] * 5])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_values", [2, 3, 20])
@pytest.mark.parametrize("cv", ["train", "loo", 7])
@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood"])
def test_the_shortlist_never_loses_the_best(criterion, cv, n_values, weighted):
    rng = np.random.default_rng(n_values)
    X, y = large_table(rng, 2100, 30, n_values)
    weights = rng.integers(1, 5, y.size).astype(float) if weighted else None
    models = ["bernoulli" if n_values == 2 else "categorical"] * 30
    with Threads(2) as engine:
        _, objective = make_objective(
            X, y, criterion, cv, engine=engine, models=models, weights=weights, balanced=weighted
        )
        for unit in rng.permutation(30)[:14].tolist():
            inside, outside = objective.droppable(), objective.addable()
            if inside:
                keys = objective.score_drop(inside)
                assert objective.best_drop(inside) == (inside[keys.index(min(keys))], min(keys))
            keys = objective.score_add(outside)
            assert objective.best_add(outside) == (outside[keys.index(min(keys))], min(keys))
            if unit in outside:
                objective.add(unit)
                assert objective.score() == keys[outside.index(unit)]


def test_ten_thousand_moves_undo_to_the_bit():
    rng = np.random.default_rng(1)
    X, y = large_table(rng, 300, 20)
    X = np.column_stack([X, rng.normal(size=(300, 4))])
    models = ["bernoulli"] * 20 + ["gaussian"] * 4
    ledger, objective = make_objective(X, y, "probability", 5, models=models)
    start = total_scores(ledger)
    inside = set()
    for unit in rng.integers(0, 24, 10_000).tolist():
        (objective.drop if unit in inside else objective.add)(unit)
        inside ^= {unit}
    other, fresh = make_objective(X, y, "probability", 5, models=models)
    for unit in sorted(inside):
        fresh.add(unit)
    np.testing.assert_array_equal(total_scores(ledger), total_scores(other))
    assert objective.score() == fresh.score()
    objective.restore(())
    np.testing.assert_array_equal(total_scores(ledger), start)


@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood"])
@pytest.mark.parametrize("cv", ["train", "loo", 4])
def test_terms_made_when_read_are_the_terms_kept(monkeypatch, criterion, cv):
    rng = np.random.default_rng(2)
    X, y = large_table(rng, 150, 6)
    X = np.column_stack([X, rng.normal(size=(150, 5)) + y[:, None]])
    models = ["bernoulli"] * 6 + ["gaussian"] * 5
    units = [[0], [1, 6], [2], [3], [4, 5], [7], [8, 9], [10]]
    one, kept = make_objective(X, y, criterion, cv, models=models, units=units)
    filled = []
    fill = DenseRows.fill
    monkeypatch.setattr(DenseRows, "fill", lambda *args: filled.append(1) or fill(*args))
    monkeypatch.setattr("bayesieve.engine.layout.TERM_CACHE_BYTES", 0)
    other, made = make_objective(X, y, criterion, cv, models=models, units=units)
    assert not filled
    for unit in (1, 6, 5):
        assert made.score_add(range(8)) == kept.score_add(range(8))
        assert made.best_add(range(8)) == kept.best_add(range(8))
        made.add(unit)
        kept.add(unit)
        assert made.score() == kept.score()
        np.testing.assert_array_equal(total_scores(other), total_scores(one))
    assert filled


def test_many_values_and_few_give_the_same(monkeypatch):
    """Categorical columns beyond one byte are stored as terms, not as codes."""
    rng = np.random.default_rng(3)
    X, y = large_table(rng, 900, 5, 12)
    filled = []
    fill = DenseRows.fill
    monkeypatch.setattr(DenseRows, "fill", lambda *args: filled.append(1) or fill(*args))
    _, coded = make_objective(X, y, "probability", 3, models=["categorical"] * 5)
    assert not filled
    monkeypatch.setattr("bayesieve.engine.layout.MOST_CODES", 4)
    _, plain = make_objective(X, y, "probability", 3, models=["categorical"] * 5)
    assert len(filled) == 5
    assert plain.score_add(range(5)) == coded.score_add(range(5))


def test_scale_leaves_room_for_every_sum():
    scale = Scale.for_terms([1e6] * 5000, 0)
    assert scale.bits < 40
    assert 5000 * 1e6 * 2.0**scale.bits < 2**63
    with_zero = Scale.for_terms([5.0] * 100, 60)
    assert with_zero.impossible * 60 + 500 * 2**with_zero.bits < 2**63
    assert with_zero.impossible > 2 * 500 * 2**with_zero.bits
