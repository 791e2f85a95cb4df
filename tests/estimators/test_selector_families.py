"""A selector takes one column of a family at most, and says what it stands for."""

import numpy as np
import pandas as pd
import pytest

from bayesieve import explain_model, find_families, stability
from bayesieve.app.commands import in_words, summary
from bayesieve.evaluation.stability import Stability
from bayesieve.explain.report import make_report
from bayesieve.explain.report.content import fates
from bayesieve.rankings.families import Families
from bayesieve.search import SEARCHES
from plain import plain_selector


def twins(n_rows=240, seed=0):
    """Five columns that tell something, each three times, a few cells apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    base = np.where(
        rng.random((n_rows, 5)) < [0.2, 0.25, 0.3, 0.35, 0.4], 1 - y[:, None], y[:, None]
    )
    X = np.repeat(base, 3, axis=1)
    for j in range(15):
        X[j, j] ^= j % 3 > 0
    return pd.DataFrame(X, columns=[f"{letter}{i}" for letter in "abcde" for i in range(3)]), y


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_takes_one_of_a_family(search):
    X, y = twins()
    options = {"search": search, "random_state": 0, "families": "auto"}
    if search == "diversified":
        options["max_features"] = 4
    found = plain_selector(**options).fit(X, y)
    families = find_families(X)
    assert families.leader.tolist() == [0] * 3 + [3] * 3 + [6] * 3 + [9] * 3 + [12] * 3
    assert np.array_equal(found.families_.leader, families.leader)
    for step in range(len(found.path_.steps)):
        leaders = families.leader[list(found.path_.subset(step))]
        assert len(set(leaders.tolist())) == len(leaders)
    # The same as a search of the leaders alone.
    alone = plain_selector(**{**options, "families": None}).fit(X.iloc[:, ::3], y)
    assert [X.columns[j] for j in found.selected_] == [X.columns[::3][j] for j in alone.selected_]


def test_columns_to_keep_lead():
    X, y = twins()
    found = plain_selector(keep=["a1", "b1", "b2"], families="auto", random_state=0).fit(X, y)
    assert {1, 4, 5} <= set(found.selected_.tolist())
    assert found.families_.leader[:6].tolist() == [1, 1, 1, 4, 4, 5]
    given = plain_selector(keep=["a1", "a2"], families=[["a0", "a1", "a2"]], random_state=0)
    assert given.fit(X, y).families_.leader[:3].tolist() == [1, 1, 2]


def test_groups_stand_for_themselves():
    X, y = twins()
    groups = [["a0", "b0"]]
    found = plain_selector(feature_groups=groups, families="auto", random_state=0).fit(X, y)
    assert found.families_.leader[:6].tolist() == [0, 1, 1, 3, 4, 4]
    given = plain_selector(feature_groups=groups, families=[["a0", "a1", "a2"]], random_state=0)
    assert given.fit(X, y).families_.leader[:3].tolist() == [0, 1, 1]


def test_families_may_be_given():
    X, y = twins()
    found = plain_selector(families="auto", random_state=0).fit(X, y)
    for given in (find_families(X), [list(X.columns[i : i + 3]) for i in range(0, 15, 3)]):
        same = plain_selector(families=given, random_state=0).fit(X, y)
        assert np.array_equal(same.selected_, found.selected_)
    assert plain_selector(random_state=0).fit(X, y).families_ is None


@pytest.mark.parametrize(
    ("families", "words"),
    [
        ("all", "families must be 'auto' or lists of columns; got 'all'"),
        (3, "families must be None, 'auto', what find_families found, or a list of lists"),
        ([["a0", "zz"]], r"families\[0\]: 'zz' is not among the columns of X"),
        ([["a0", "a1"], ["a1", "b0"]], "families must not overlap; column 'a1' is named twice"),
        (Families(("u",), np.array([0])), "families must be of the columns of X, of which there"),
    ],
)
def test_bad_families_are_told(families, words):
    X, y = twins()
    with pytest.raises((TypeError, ValueError), match=words):
        plain_selector(families=families).fit(X, y)


def test_too_many_features_are_told():
    X, y = twins()
    with pytest.raises(ValueError, match="one column of each family"):
        plain_selector(n_features=6, families="auto").fit(X, y)


def slow_jaccard(selected):
    sets = [set(np.flatnonzero(row).tolist()) for row in np.asarray(selected)]
    shares = [
        len(a & b) / len(a | b) if a | b else 1.0 for i, a in enumerate(sets) for b in sets[:i]
    ]
    return sum(shares) / len(shares)


def test_stability_is_told_over_families():
    rng = np.random.default_rng(0)
    selected = rng.random((6, 9)) < 0.3
    families = Families(tuple("abcdefghi"), np.array([0, 0, 2, 2, 0, 5, 6, 6, 8]))
    found = Stability(selected, list("abcdefghi"), families)
    joined = np.zeros_like(selected)
    for j, leader in enumerate(families.leader):
        joined[:, leader] |= selected[:, j]
    assert found.jaccard == pytest.approx(slow_jaccard(selected))
    assert found.family_jaccard == pytest.approx(slow_jaccard(joined))
    assert Stability(selected).family_jaccard is None
    with pytest.raises(ValueError, match="families must be of the 9 columns"):
        Stability(selected, None, Families(("a",), np.array([0])))


def test_stability_finds_families_once():
    X, y = twins()
    options = {"n_resamples": 6, "random_state": 0}
    plain = stability(plain_selector(search="forward", max_features=3), X, y, **options)
    assert np.array_equal(plain.families.leader, find_families(X).leader)
    assert plain.family_jaccard > plain.jaccard
    one = stability(
        plain_selector(search="forward", max_features=3, families="auto"), X, y, **options
    )
    assert one.jaccard == one.family_jaccard
    assert not one.selected[:, plain.families.leader != np.arange(15)].any()


def test_texts_say_whom_a_column_stands_for(tmp_path):
    X, y = twins()
    found = plain_selector(search="forward", max_features=2, families="auto", random_state=0).fit(
        X, y
    )
    name = X.columns[found.selected_[0]]
    others = f"2 others: {name[0]}1, {name[0]}2"
    assert f"stands for {others}" in explain_model(found).to_text()
    told = {each: (fate, story) for each, fate, story in fates(found, {})}
    assert told[name][1].endswith(f"stands for {others}")
    assert told[f"{name[0]}1"] == ("never chosen", f"{name} stands for it")
    data = summary(found, tmp_path)
    assert data["stands_for"][name] == [f"{name[0]}1", f"{name[0]}2"]
    assert f"{name} stands for {others}\n" in in_words(data, 15)
    page = make_report(found, X, y, n_resamples=3)
    assert f"stands for {others}" in page
    assert "of their columns in common" in page


def test_forbidden_columns_never_lead():
    X, y = twins()
    options = {"search": "forward", "n_features": 5, "random_state": 0}
    for given in ("auto", [list(X.columns[i : i + 3]) for i in range(0, 15, 3)]):
        found = plain_selector(forbid=["a0", "b0", "b1"], families=given, **options).fit(X, y)
        assert found.families_.leader[:6].tolist() == [1, 1, 1, 5, 5, 5]
        assert {1, 5} <= set(found.selected_.tolist())
    # A family of which nothing may be chosen has no unit.
    found = plain_selector(
        forbid=["a0", "a1", "a2"], families="auto", search="forward", n_features=4, random_state=0
    ).fit(X, y)
    assert set(found.selected_.tolist()) == {3, 6, 9, 12}


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_knows_that_columns_are_forbidden(search):
    X, y = twins()
    options = {"search": search, "random_state": 0}
    if search == "diversified":
        options["max_features"] = 3
    forbidden = ["a0", "b0", "b1", "c0", "c1", "c2"]
    columns = [1, 5, 9, 12]
    same = plain_selector(**options).fit(X.iloc[:, columns], y)
    found = plain_selector(forbid=forbidden, families="auto", **options).fit(X, y)
    assert found.selected_.tolist() == [columns[j] for j in same.selected_]
    barred = plain_selector(forbid=forbidden, **options).fit(X, y)
    allowed = X.drop(columns=forbidden)
    same = plain_selector(**options).fit(allowed, y)
    assert list(X.columns[barred.selected_]) == list(allowed.columns[same.selected_])
