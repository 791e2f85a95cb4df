"""Families of near-twins, against their definition asked pair by pair."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from bayesieve import find_families
from bayesieve.engine import pack
from bayesieve.rankings.families import Families


def same(one, other):
    both = (one != one) & (other != other) if one.dtype.kind == "f" else np.zeros(len(one), bool)
    return (one == other) | both


def close(one, other):
    """Numbers agree where their mid-ranks are at most an eighth of the known rows apart."""
    ranks = []
    for column in (one, other):
        known = column[column == column]
        below = (known[:, None] < column).sum(0)
        ranks.append(
            np.array([2 * b + (known == v).sum() for b, v in zip(below, column, strict=True)])
        )
    n_one, n_other = (int((column == column).sum()) for column in (one, other))
    missing = (one != one) & (other != other)
    known = (one == one) & (other == other)
    apart = np.abs(ranks[0] * n_other - ranks[1] * n_one)
    return missing | (known & (8 * apart <= 2 * n_one * n_other))


def usual(column):
    """The most frequent value, and of equally frequent ones the lowest; missing ones are last."""
    known = column[column == column]
    values, counts = np.unique(known, return_counts=True)
    missing = len(column) - len(known)
    if missing > counts.max(initial=0):
        return np.nan
    return values[counts.argmax()]


def are_twins(one, other, agreement, jaccard, agree=same):
    agree = agree(one, other)
    if Fraction(int(agree.sum()), len(one)) < agreement:
        return False
    either = ~same(one, np.full(len(one), usual(one))) | ~same(
        other, np.full(len(one), usual(other))
    )
    return not either.any() or Fraction(int(agree[either].sum()), int(either.sum())) >= jaccard


def slow_families(
    columns, agreement=Fraction(49, 50), jaccard=Fraction(9, 10), order=None, agree=same
):
    """The first leader before a column that it is a twin of, or itself."""
    leader, leaders = {}, []
    for j in order or range(len(columns)):
        mine = [i for i in leaders if are_twins(columns[i], columns[j], agreement, jaccard, agree)]
        leader[j] = mine[0] if mine else j
        leaders += [] if mine else [j]
    return [leader[j] for j in range(len(columns))]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([20, 63, 64, 130, 700]),
    st.sampled_from([2, 3, 40]),
    st.sampled_from([0.0, 0.02, 0.4]),
    st.sampled_from([(0.98, 0.9), (0.9, 0.5), (0.5, 0.0), (1.0, 1.0), (0.0, 0.8)]),
)
def test_families_are_those_of_the_definition(seed, n_rows, n_values, missing, least):
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.01, 0.1, 0.5])
    usual_ones = rng.random((n_rows, 4)) > shares
    seeds = np.where(usual_ones, rng.integers(0, 2, 4), rng.integers(0, n_values, (n_rows, 4)))
    X = seeds[:, rng.integers(0, 4, 14)].astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    noise = rng.random(X.shape) < rng.choice([0.0, 0.003, 0.02, 0.2], 14)
    X[noise] = rng.integers(0, n_values, int(noise.sum()))
    exact = [Fraction(each).limit_denominator(100) for each in least]
    found = find_families(X, agreement=least[0], jaccard=least[1])
    assert found.leader.tolist() == slow_families(list(X.T), *exact)
    order = rng.permutation(14)[:3].tolist()
    full = [*order, *(j for j in range(14) if j not in order)]
    found = find_families(X, agreement=least[0], jaccard=least[1], first=order)
    assert found.leader.tolist() == slow_families(list(X.T), *exact, full)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([17, 64, 200]),
    st.sampled_from([0.0, 0.02, 0.4]),
    st.sampled_from([0.0, 0.5, 0.95]),
    st.sampled_from([(0.98, 0.9), (0.9, 0.5), (1.0, 1.0), (0.0, 0.8)]),
)
def test_families_of_numbers_are_those_of_the_definition(seed, n_rows, missing, zeros, least):
    rng = np.random.default_rng(seed)
    seeds = rng.normal(size=(n_rows, 3)).round(rng.integers(0, 6)) + 0.25
    seeds[rng.random(seeds.shape) < zeros] = 0
    X = np.exp(seeds[:, rng.integers(0, 3, 9)] * rng.uniform(0.5, 2, 9))
    X += rng.choice([0.0, 0.01, 0.1, 0.3], 9) * rng.normal(size=X.shape)
    X[rng.random(X.shape) < missing] = np.nan
    X[:2] = [[0.3], [0.7]]
    exact = [Fraction(each).limit_denominator(100) for each in least]
    order = rng.permutation(9)[:3].tolist()
    full = [*order, *(j for j in range(9) if j not in order)]
    found = find_families(X, agreement=least[0], jaccard=least[1], first=order)
    assert found.leader.tolist() == slow_families(list(X.T), *exact, full, close)


def test_mostly_zeros_are_no_twins_because_of_them():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((1000, 3)) < 0.03, rng.random((1000, 3)), 0.0)
    assert find_families(X).leader.tolist() == [0, 1, 2]


def test_radius_perimeter_and_area_are_one_thing():
    X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    assert find_families(X).shared == [
        [f"{which} {what}" for what in ("radius", "perimeter", "area")]
        for which in ("mean", "worst")
    ]


def test_every_kind_of_table_tells_the_same(tmp_path):
    rng = np.random.default_rng(1)
    X = (rng.random((300, 5)) < 0.1).astype(int)
    X = X[:, [0, 1, 0, 2, 3, 1, 4, 0]]
    X[0, 2] ^= 1
    expected = slow_families(list(X.T))
    assert expected == [0, 1, 0, 3, 4, 1, 6, 0]
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    frame.to_parquet(tmp_path / "x.parquet")
    texts = frame.astype(str)
    packed = pack(tmp_path / "x.parquet")
    for table in (X, X.astype(bool), frame, texts, scipy.sparse.csr_array(X), packed):
        assert find_families(table).leader.tolist() == expected


def test_rare_columns_agree_by_their_ones():
    """Two columns of ten ones among 10000 rows agree nearly everywhere, and share nothing."""
    X = np.zeros((10_000, 4), int)
    X[:10, 0] = X[10:20, 1] = X[:20, 2] = 1
    X[:19, 3] = 1
    assert find_families(X).leader.tolist() == [0, 1, 2, 2]
    assert find_families(1 - X).leader.tolist() == [0, 1, 2, 2]


def test_numbers_agree_by_their_place():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    X = np.column_stack([x, 32 + 1.8 * x, np.exp(x), -x, x + rng.normal(size=2000)])
    assert find_families(X).leader.tolist() == [0, 0, 0, 3, 4]
    X[:5, 1] = np.nan
    assert find_families(X).leader.tolist() == [0, 0, 0, 3, 4]
    X[:41, 1] = np.nan
    assert find_families(X).leader.tolist() == [0, 1, 0, 3, 4]


def test_a_family_never_drifts():
    """Each column is near the next one; only those near the leader are in its family."""
    X = np.zeros((1000, 12), int)
    for j in range(12):
        X[8 * j : 8 * j + 500, j] = 1
    leader = find_families(X).leader
    assert leader.tolist() == slow_families(list(X.T)) == [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10]


def test_different_kinds_are_no_twins():
    frame = pd.DataFrame({"a": [0, 1] * 50, "b": ["0", "1"] * 50, "c": [0.5, 1.5] * 50})
    assert find_families(frame).shared == []


def test_what_families_say():
    found = Families(("a", "b", "c", "d"), np.array([0, 0, 2, 0]))
    assert found.members == {0: [0, 1, 3]}
    assert found.to_text() == "a stands for 2 others: b, d"
    assert found.led_by([3]).leader.tolist() == [3, 3, 2, 3]
    assert found.led_by([0, 1]).leader.tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"agreement": 1.5}, "agreement must be a number from 0 to 1; got 1.5"),
        ({"jaccard": "x"}, "jaccard must be a number from 0 to 1; got 'x'"),
        ({"first": ["nobody"]}, "first: 'nobody' is not among the columns of X"),
    ],
)
def test_bad_input_is_told(options, words):
    with pytest.raises((TypeError, ValueError), match=words.replace("'", "'")):
        find_families(np.eye(4), **options)


@pytest.mark.parametrize("least", [(0.98, 0.9), (0.98, 0.5), (0.999, 0.9), (0.98, 0.0), (1.0, 1.0)])
def test_rare_columns_are_found_among_many(least):
    """Columns of few ones are looked up by their rows: none must be missed."""
    rng = np.random.default_rng(2)
    base = rng.random((400, 40)) < rng.choice([0.003, 0.02, 0.05, 0.12, 0.15], 40)
    X = base[:, rng.integers(0, 40, 160)].astype(int)
    moved = rng.random(X.shape) < rng.choice([0.0, 0.001, 0.004], 160)
    X[moved] ^= 1
    X[rng.random(X.shape) < 0.0005] = 7
    exact = [Fraction(each).limit_denominator(1000) for each in least]
    found = find_families(X, agreement=least[0], jaccard=least[1])
    expected = slow_families(list(X.T), *exact)
    assert found.leader.tolist() == expected
    assert 20 < len(set(expected)) < 160
