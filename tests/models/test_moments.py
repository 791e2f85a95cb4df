"""Moments of parts are the moments of the whole: block borders stand in the table."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve.models import one_set
from bayesieve.models.gaussian import merge_moments, moments_of


def part_of(values, y, rows):
    return moments_of(values[rows], one_set(y[rows], np.ones(rows.size), np.ones(3), rows))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.05, 1.0))
def test_blocks_of_the_table_merge_to_the_bit(seed, share):
    """Whichever rows are there: cut where blocks end, merged in order, not one bit differs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2000, 9000))
    values, y = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4), rng.integers(0, 3, n)
    values[rng.random(n) < 0.05] = np.nan
    rows = np.flatnonzero(rng.random(n) < share)
    whole = part_of(values, y, rows)
    merged = None
    for block in range(0, n, 1024):
        mine = rows[(rows >= block) & (rows < block + 1024)]
        if mine.size:
            found = part_of(values, y, mine)
            merged = found if merged is None else merge_moments(merged, found)
    for one, other in zip(merged, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_fold_has_the_borders_of_the_table():
    """Rows that are gone move no border: the blocks behind them give the same moments."""
    rng = np.random.default_rng(0)
    values, y = rng.normal(size=4096), np.zeros(4096, np.int64)
    behind = np.arange(1024, 4096)
    fewer = np.concatenate([np.arange(0, 1024, 2), behind])
    first = part_of(values, y, np.arange(0, 1024, 2))
    both = merge_moments(first, part_of(values, y, np.arange(1024, 2048)))
    for block in (2048, 3072):
        both = merge_moments(both, part_of(values, y, np.arange(block, block + 1024)))
    for one, other in zip(both, part_of(values, y, fewer), strict=True):
        np.testing.assert_array_equal(one, other)
