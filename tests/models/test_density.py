"""Densities on a grid against twins that follow their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import densities
from bayesieve import NaiveBayes
from bayesieve.data.columns import encode, learn
from bayesieve.models import MODELS, ModelSettings, TrainingSets, build_columns, one_set
from bayesieve.models.counts import mdl_cuts
from jitless import printed_both_ways
from plain import plain_selector

NAMES = ["density", "curve", *densities.DENSITIES]
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=15, deadline=None, derandomize=True)


def draw(seed, n_rows=60, n_classes=3):
    """A column of one of many kinds, and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    kind = seed % 7
    values = rng.normal(size=n_rows) + y * rng.choice([0.0, 0.5, 3.0])
    if kind == 1:
        values = np.round(values)
    elif kind == 2:
        values = np.exp(3 * values)
    elif kind == 3:
        values = np.where(rng.random(n_rows) < 0.6, 0.0, values)
    elif kind == 4:
        values *= 10.0 ** rng.choice([-300, 299])
    elif kind == 5:
        values = values + (rng.random(n_rows) < 0.5) * (40 + y)
    elif kind == 6:
        values[y == 2] = np.nan
    values[rng.random(n_rows) < 0.1] = np.nan
    return values, y


def spoken(name, values, y, weights=None, class_weight=None, most=255):
    weights = np.ones(y.size) if weights is None else weights
    class_weight = np.ones(3) if class_weight is None else class_weight
    spec = learn("x", name, values, True, grid_codes=most)
    sets = one_set(y, weights, class_weight)
    counts = MODELS[name].statistics(encode(spec, values), spec.n_codes, sets)
    return spec, counts, build_columns([spec], [counts], ModelSettings(1.0, None, class_weight))[0]


def close(one, other, tolerance=1e-9):
    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
@few
@given(seed=seeds, weighted=st.booleans(), most=st.sampled_from([255, 12]))
def test_terms_are_the_twins(name, seed, weighted, most):
    values, y = draw(seed)
    rng = np.random.default_rng(seed)
    weights = rng.random(y.size) * 3 if weighted else None
    class_weight = np.array([1.0, 0.5, 3.0]) if seed % 2 else np.ones(3)
    spec, counts, column = spoken(name, values, y, weights, class_weight, most)
    wanted, own = densities.terms(name, counts[0, :-1], class_weight, spec.points, spec.n_distinct)
    codes = np.arange(spec.n_codes)
    said = column.of(codes).finite[0]
    close(said[:-1], wanted)
    assert (said[-1] == 0).all()
    # Row by row, by brute force: only the own class's term changes, and only as the rule says.
    left = column.left_out(codes, codes, one_set(y, np.ones(y.size), class_weight)).finite
    for k in range(3):
        there = np.flatnonzero(counts[0, :-1, k])
        close(left[k, there, k], own[there, k])
        others = np.delete(np.arange(3), k)
        np.testing.assert_array_equal(left[k][:, others], said[:, others])


@pytest.mark.parametrize("name", [*NAMES, "intervals", "intervals-5"])
@few
@given(seed=seeds, data=st.data())
def test_any_partition_of_the_rows_gives_the_same_counts(name, seed, data):
    values, y = draw(seed)
    spec, whole, _ = spoken(name, values, y, most=MODELS[name].grid_codes)
    codes, model = encode(spec, values), MODELS[name]
    part = np.array(data.draw(st.lists(st.integers(0, 3), min_size=y.size, max_size=y.size)))
    merged = None
    for g in range(4):
        mine = part == g
        sets = one_set(y[mine], np.ones(mine.sum()), np.ones(3))
        found = model.statistics(codes[mine], spec.n_codes, sets)
        merged = found if merged is None else model.merge(merged, found)
    np.testing.assert_array_equal(merged, whole)
    held = tuple(np.flatnonzero(part == g) for g in range(4))
    folds = model.statistics(
        codes, spec.n_codes, TrainingSets(y, np.ones(y.size), held, np.ones(3))
    )
    for g in range(4):
        rest = part != g
        refit = model.statistics(
            codes[rest], spec.n_codes, one_set(y[rest], np.ones(rest.sum()), np.ones(3))
        )
        np.testing.assert_array_equal(folds[g], refit[0])


@pytest.mark.parametrize("name", [*NAMES, "intervals", "intervals-5"])
@pytest.mark.parametrize(
    "values",
    [[3.0] * 12, [np.nan] * 12, [1.0, 2.0, 3.0] * 4, [np.nan, 5.0] * 6, [0.0] * 11 + [1e300]],
)
def test_odd_columns_speak(name, values):
    X, y = np.array(values)[:, None], np.arange(12) % 2
    with np.errstate(all="raise", under="ignore"):
        model = NaiveBayes(name).fit(X, y)
    terms = model.terms(np.array([[3.0], [np.nan], [-1e308], [1e308]]))
    assert np.isfinite(terms).all()
    assert (terms[1] == 0).all()
    if len(set(values)) == 1 or np.isnan(X).all():
        assert (terms == terms[..., :1]).all()


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="infinity"):
        NaiveBayes("density").fit([[1.0], [np.inf], [2.0], [3.0]], [0, 1, 0, 1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_the_unit_of_a_column_does_not_matter(name, size):
    values, y = draw(0, 200)
    one, other = (NaiveBayes(name).fit(v[:, None], y) for v in (values, values * size))
    close(one.terms(values[:, None]), other.terms((values * size)[:, None]))


def test_class_weights_are_repeats():
    # Where nothing is chosen: a weighted row that is taken out takes its whole weight with it.
    values, y = draw(1, 90)
    factors = np.array([1, 3, 2])
    rows = np.repeat(np.arange(90), factors[y])
    _, _, weighted = spoken("grid-gaussian", values, y, class_weight=factors.astype(float))
    _, _, repeated = spoken("grid-gaussian", values[rows], y[rows])
    close(weighted.of(np.empty(0)).finite, repeated.of(np.empty(0)).finite)


def test_the_choice_is_the_least_loss():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 400)
    normal = rng.normal(size=800) + 1.5 * y
    comb = np.where(y == 0, rng.integers(0, 40, 800) * 2, rng.integers(0, 40, 800) * 2 + 1) + 0.0
    for values, wanted in ((normal, "grid-gaussian"), (comb, None)):
        spec, counts, column = spoken("density", values, y, class_weight=np.ones(2))
        found = {
            each: twin(counts[0, :-1], np.ones(2), spec.points, spec.n_distinct)[0]
            for each, twin in densities.DENSITIES.items()
        }
        chosen = column.model.chosen(counts, column.grid, column.settings)
        assert chosen == [min(found, key=found.get)]
        assert wanted in (None, chosen[0])


@pytest.mark.parametrize("name", ["density", "kernel", "rank-kernel"])
def test_numbers_that_foretell_nothing_say_nothing(name):
    """Of values that occur once each, a table of shares would know nothing but the very rows."""
    rng = np.random.default_rng(2)
    y = np.arange(100) % 2
    for values in rng.normal(size=(20, 100)):
        _, counts, column = spoken(name, values, y, class_weight=np.ones(2))
        said = column.of(np.empty(0)).finite[0]
        alone = densities.nothing(counts[0, :-1])[0]
        told = densities.loss(np.exp(said[:-1]), np.exp(own_terms(column, y)), counts[0, :-1])
        assert told < alone or not said.any()
    X, asked = rng.normal(size=(100, 20)), rng.normal(size=(1000, 20))
    proba = NaiveBayes(name).fit(X, y).predict_proba(asked)
    assert -np.log(proba).mean() < 1.6  # 0.69 is best; tables of shares are at 2.4


def own_terms(column, y):
    """Terms of each code and class with one row of both taken out: codes x classes."""
    codes = np.arange(column.statistics.shape[1])
    left = column.left_out(codes, codes, one_set(y, np.ones(y.size), np.ones(2))).finite
    return np.column_stack([left[k, :-1, k] for k in range(2)])


def test_quartiles_do_not_depend_on_the_weight_of_a_class():
    from bayesieve.models.kernels.density import moments

    rng = np.random.default_rng(0)
    # Narrow in the middle, so that Silverman's rule takes the quartiles.
    points, counts = np.linspace(-1, 1, 12) ** 5, np.ones((1, 12, 1))
    plain = [np.zeros((1, 1)) for _ in range(3)]
    moments(counts, points, *plain)
    for weight in rng.random(200):
        weighted = [np.zeros((1, 1)) for _ in range(3)]
        moments(counts * weight, points, *weighted)
        np.testing.assert_allclose(weighted[2], plain[2], rtol=1e-12)


def test_intervals_are_the_levels_of_the_cuts():
    values, y = draw(0, 300)
    model = NaiveBayes("intervals").fit(values[:, None], y)
    cuts = mdl_cuts(values, y, 3)
    assert cuts.size
    level = np.where(np.isnan(values), np.nan, np.searchsorted(cuts, values))
    plain = NaiveBayes("categorical").fit(level[:, None], y)
    np.testing.assert_array_equal(
        model.predict_proba(values[:, None]), plain.predict_proba(level[:, None])
    )


def test_so_many_intervals_are_levels_of_quantiles():
    values, y = draw(0, 300)
    model = NaiveBayes("intervals-5").fit(values[:, None], y)
    known = ~np.isnan(values)
    rows = np.bincount(encode(model.fitted_.specs[0], values[known]))
    assert rows.size == 5
    assert np.ptp(rows) <= 1
    with pytest.raises(ValueError, match="intervals-64"):
        NaiveBayes("intervals-64").fit(values[:, None], y)


def test_intervals_refuse_to_take_rows_out():
    values, y = draw(0)
    with pytest.raises(ValueError, match="no closed form for the feature model 'intervals'"):
        plain_selector(NaiveBayes("intervals"), cv="loo").fit(values[:, None], y)


@pytest.mark.parametrize("name", ["density", "intervals", "intervals-5"])
def test_batches_keep_the_first_grid(name):
    values, y = draw(0, 400, 2)
    X = values[:, None]
    model = NaiveBayes(name)
    for rows in np.array_split(np.arange(400), 4):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    spec = model.fitted_.specs[0]
    first = learn("x0", name, values[:100], True, grid_codes=MODELS[name].grid_codes)
    np.testing.assert_array_equal(spec.cuts, first.cuts)
    np.testing.assert_array_equal(spec.levels, first.levels)
    codes = encode(first, values)
    counts = MODELS[name].statistics(codes, first.n_codes, one_set(y, np.ones(400), np.ones(2)))
    np.testing.assert_array_equal(model.fitted_.only.summary.statistics[0], counts)
    later = build_columns([first], [counts], ModelSettings(1.0, None, np.ones(2)))[0]
    close(model.terms(X)[:, 0], later.of(codes).finite[0][codes], 1e-11)


WITHOUT_JIT = """
import numpy as np
from bayesieve import NaiveBayes, NaiveBayesSelector

rng = np.random.default_rng(0)
y = np.arange(45) % 3
X = np.round(rng.normal(size=(45, 3)) + y[:, None] * [0, 1, 2], 1)
X = np.column_stack([X, np.full(45, np.nan)])
for name in ("grid-gaussian", "kernel", "rank-kernel", "density", "intervals-4"):
    print(NaiveBayes(name).fit(X, y).fitted_.only.tables[1].tolist())
print(NaiveBayesSelector(NaiveBayes("density"), cv="loo", random_state=0).fit(X, y).path_.steps)
"""


def test_the_same_without_the_jit():
    compiled, interpreted = printed_both_ways(WITHOUT_JIT)
    assert compiled == interpreted
    assert len(compiled) > 1000


@pytest.mark.parametrize("base", [1.0, 100.0, 1e6, 1e9, 1e12, 1e-5])
def test_neighbours_in_the_last_place_are_two_values(base):
    """Few distinct values have a code each, however near they are."""
    rng = np.random.default_rng(0)
    for low in base * (1 + rng.random(200)):
        near = low + rng.integers(1, 4) * np.spacing(low)
        values = np.array([low, near, low])
        spec = learn("x", "density", values, True, grid_codes=255)
        assert encode(spec, values).tolist() == [0, 1, 0]
