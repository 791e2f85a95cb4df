"""Numbers on a grid: intervals that no class has seen, and the code of each number."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve.data.columns import encode, learn, merge_specs
from bayesieve.data.kernels.exact import cut
from bayesieve.data.tables import RawTable
from bayesieve.engine import pack
from bayesieve.models.columns import read_column

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def on_grid(values, most=255, repeats=None):
    return learn("x", "density", np.asarray(values, float), True, grid_codes=most, repeats=repeats)


def slow_cuts(values, most):
    """The rule, one value after the other, with whole lists."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= most:
        return [[v] for v in distinct]
    codes, rows = [[]], [0]
    for i, value in enumerate(distinct):
        codes[-1].append(value)
        rows[-1] += counts[i]
        if i + 1 == len(distinct) or len(codes) == most:
            continue
        share = (len(values) - sum(rows[:-1])) / (most - len(codes) + 1)
        if rows[-1] + 0.5 * counts[i + 1] >= share:
            codes.append([])
            rows.append(0)
    return codes


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.integers(-30, 30), min_size=1, max_size=200), st.integers(2, 12))
def test_codes_have_about_equally_many_rows(values, most):
    values = np.array(values) / 4
    spec, wanted = on_grid(values, most), slow_cuts(values, most)
    codes = encode(spec, values)
    assert len(spec.levels) == len(wanted) <= most
    for code, members in enumerate(wanted):
        rows = np.sort(values[np.isin(values, members)])
        np.testing.assert_array_equal(np.sort(values[codes == code]), rows)
        assert spec.levels[code] == rows[(rows.size - 1) // 2]
    assert spec.n_distinct == np.unique(values).size
    assert spec.resolution == learn("x", "gaussian", values, False).resolution


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(NUMBERS, min_size=1, max_size=40), st.lists(NUMBERS, max_size=20))
def test_the_code_of_a_number_is_how_many_cuts_are_below_it(values, others):
    spec = on_grid(values, 8)
    asked = np.array([*values, *others, np.nan])
    wanted = [sum(c < x for c in spec.cuts) for x in asked[:-1]]
    np.testing.assert_array_equal(encode(spec, asked), [*wanted, len(spec.levels)])
    # Every value of the fit lies in the code of its own level.
    np.testing.assert_array_equal(encode(spec, spec.levels), np.arange(len(spec.levels)))
    assert (np.diff(spec.cuts) > 0).all()
    assert ((spec.points >= 0) & (spec.points <= 1)).all()
    assert (np.diff(spec.points) >= 0).all()


def test_heavy_values_stand_alone():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(5000) < 0.6, 0.0, rng.normal(size=5000))
    spec = on_grid(values)
    at = int(encode(spec, np.zeros(1))[0])
    assert (encode(spec, values) == at).sum() == (values == 0).sum()
    assert spec.levels[at] == 0.0


@pytest.mark.parametrize(
    ("values", "n_codes"),
    [
        ([], 0),
        ([np.nan, np.nan], 0),
        ([7.0, 7.0, np.nan], 1),
        ([1.0, 2.0, 3.0, 2.0], 3),
        ([0.0, -0.0, 1.0], 2),
        ([-1.7e308, 1.7e308, 0.0], 3),
        ([5e-324, 1e-323, 1e-300, 0.0], 4),
        ([1.0, np.nextafter(1.0, 2.0)], 2),
    ],
)
def test_odd_columns(values, n_codes):
    spec = on_grid(values)
    assert len(spec.levels) == n_codes
    assert spec.n_codes == n_codes + 1
    assert np.isfinite(spec.points).all()
    codes = encode(spec, np.array(values, float))
    missing = np.isnan(np.array(values, float))
    assert (codes[missing] == n_codes).all()
    assert np.unique(codes[~missing]).size == n_codes


def test_a_million_distinct_values():
    values = np.random.default_rng(0).permutation(10**6) / 7
    spec = on_grid(values)
    rows = np.bincount(encode(spec, values), minlength=255)
    assert rows.size == 255
    assert rows.min() >= 3921
    assert rows.max() <= 3923
    assert spec.n_distinct == 10**6


def test_a_far_value_belongs_to_the_last_code():
    spec = on_grid(np.arange(1000.0))
    np.testing.assert_array_equal(encode(spec, np.array([-1e300, 1e300])), [0, 254])


def test_what_stands_for_many_rows_counts_as_many():
    rng = np.random.default_rng(1)
    values = np.round(rng.normal(size=20000), 2)
    distinct, repeats = np.unique(values, return_counts=True)
    assert distinct.size > 255
    order = rng.permutation(distinct.size)
    one, other = on_grid(values), on_grid(distinct[order], repeats=repeats[order])
    np.testing.assert_array_equal(one.cuts, other.cuts)
    np.testing.assert_array_equal(one.levels, other.levels)
    packed = pack(pl.DataFrame({"x": values}))
    spec, codes = read_column(packed, 0, "density")
    np.testing.assert_array_equal(spec.cuts, one.cuts)
    np.testing.assert_array_equal(codes, encode(one, values))


def test_small_whole_numbers_are_read_as_they_are():
    values = np.random.default_rng(2).integers(0, 9, (500, 1))
    spec, codes = read_column(RawTable(values, ["x"], 500), 0, "intervals-4")
    wanted = on_grid(values[:, 0], 4)
    np.testing.assert_array_equal(spec.cuts, wanted.cuts)
    np.testing.assert_array_equal(codes, encode(wanted, values[:, 0].astype(float)))


def test_the_first_grid_stays():
    first, later = on_grid(np.arange(10.0)), on_grid(np.arange(100.0) - 50)
    assert merge_specs(first, later) is first


def test_the_plain_kernel_says_the_same():
    values, counts = np.arange(50.0), np.arange(50) % 7 + 1
    found = []
    for kernel in (cut, cut.py_func):
        cuts, levels = np.zeros(8), np.zeros(8)
        n = kernel(values, counts, 8, cuts, levels)
        found.append((n, cuts[: n - 1].tolist(), levels[:n].tolist()))
    assert found[0] == found[1]
