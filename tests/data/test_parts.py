"""Rows of one group never stand on both sides; later rows validate."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)
from typer.testing import CliRunner

from bayesieve import NaiveBayesSelector, WeightedNaiveBayes, nested, stability
from bayesieve.app.cli import app
from bayesieve.data.sample import find_splits, later_rows
from bayesieve.evaluation.crossfit import draw_samples
from plain import plain_selector


def table(n_rows=120, n_groups=15, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = (rng.random((n_rows, 5)) < 0.3 + 0.3 * y[:, None]).astype(int)
    return X, y, rng.integers(0, n_groups, n_rows)


def on_both_sides(groups, one, other):
    return set(groups[one].tolist()) & set(groups[other].tolist())


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(4, 40), st.sampled_from([0.2, 0.5, 0.8]), st.booleans())
def test_no_group_guides_and_chooses(seed, n_groups, share, weighted):
    X, y, groups = table(n_groups=n_groups, seed=seed)
    named = np.array([f"patient {g}" for g in groups], dtype=object)
    weights = np.random.default_rng(seed).integers(0, 3, y.size) if weighted else None
    found = plain_selector(search="forward", validation=share, random_state=seed)
    found.fit(X, y, groups=named, sample_weight=weights)
    guiding, validating = found.guiding_rows_, found.validation_rows_
    assert not on_both_sides(named, guiding, validating)
    rows = np.arange(y.size) if weights is None else np.flatnonzero(weights)
    assert sorted([*guiding, *validating]) == rows.tolist()
    assert set(y[guiding]) == set(y[rows])
    assert validating.size
    if n_groups > 20:
        # Groups are whole: a share is met to about the largest of them.
        largest = np.unique(groups[rows], return_counts=True)[1].max()
        assert abs(validating.size / rows.size - share) < 0.05 + largest / rows.size
    again = plain_selector(search="forward", validation=share, random_state=seed)
    again.fit(X, y, groups=named, sample_weight=weights)
    assert np.array_equal(again.validation_rows_, validating)


@pytest.mark.parametrize("cv", [3, GroupKFold(3)])
def test_no_group_trains_and_is_scored(cv):
    X, y, groups = table()
    rows = np.arange(5, 115)
    splits = find_splits(cv, y[rows], rows, groups, y.size)
    assert len(splits) == 3
    for train, test in splits:
        assert not on_both_sides(groups[rows], train, test)
    plain_selector(cv=cv, random_state=0).fit(X, y, groups=groups)


def test_no_group_is_held_out_and_trained_on(monkeypatch):
    X, y, groups = table()
    seen = []
    plain = NaiveBayesSelector.fit

    def watched(self, X, y, **params):
        seen.append(params["groups"])
        found = plain(self, X, y, **params)
        mine = params["groups"]
        assert not on_both_sides(mine, self.guiding_rows_, self.validation_rows_)
        return found

    monkeypatch.setattr(NaiveBayesSelector, "fit", watched)
    nested(plain_selector(search="forward"), X, y, cv=4, groups=groups, random_state=0)
    assert len(seen) == 4
    # Every group is held out once, with all its rows.
    held = [set(groups.tolist()) - set(mine.tolist()) for mine in seen]
    assert sorted(g for part in held for g in part) == sorted(set(groups.tolist()))
    assert not any(one & other for one, other in combinations(held, 2))
    seen.clear()
    stability(plain_selector(search="forward"), X, y, groups=groups, n_resamples=4)
    assert len(seen) == 4


def test_whole_groups_are_drawn():
    _, y, groups = table()
    repeats = np.random.default_rng(0).integers(1, 4, y.size)
    samples = draw_samples(repeats, y, 300, 2, np.random.RandomState(0), groups)
    times = samples / repeats
    for group in np.unique(groups):
        mine = times[:, groups == group]
        assert (mine == mine[:, :1]).all()
    firsts = np.array([np.flatnonzero(groups == g)[0] for g in np.unique(groups)])
    assert (times[:, firsts].sum(1) == (firsts.size + 1) // 2).all()
    assert times[:, firsts].mean(0) == pytest.approx(0.5, abs=0.15)


def parts(selector):
    return selector.guiding_rows_.tolist(), selector.validation_rows_.tolist()


def test_validation_by_rows_and_splitters():
    X, y, groups = table()
    mask = np.arange(y.size) >= 80
    expected = list(range(80)), list(range(80, 120))
    fold = np.where(mask, 0, -1)
    rows = (np.flatnonzero(mask), range(80, 120))
    for validation in (mask, mask.tolist(), pd.Series(mask), *rows, PredefinedSplit(fold)):
        assert parts(plain_selector(validation=validation).fit(X, y)) == expected
    splitter = ShuffleSplit(3, random_state=0)
    train, test = list(splitter.split(X, y))[-1]
    found = plain_selector(validation=splitter).fit(X, y)
    assert parts(found) == (sorted(train), sorted(test))
    train, test = list(TimeSeriesSplit(4, gap=3).split(X))[-1]
    found = plain_selector(validation=TimeSeriesSplit(4, gap=3)).fit(X, y)
    assert parts(found) == (train.tolist(), test.tolist())
    found = plain_selector(validation=GroupShuffleSplit(1, random_state=0))
    found.fit(X, y, groups=groups)
    assert not on_both_sides(groups, found.guiding_rows_, found.validation_rows_)


def test_rows_without_weight_are_in_no_part():
    X, y, _ = table()
    weights = np.arange(y.size) % 3
    mask = np.arange(y.size) >= 80
    found = plain_selector(validation=mask).fit(X, y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    assert parts(found) == (kept[kept < 80].tolist(), kept[kept >= 80].tolist())


def test_named_rows_within_folds_and_samples():
    X, y, _ = table()
    mask = np.arange(y.size) % 4 == 0
    selector = plain_selector(validation=mask, search="forward")
    cv = list(KFold(3).split(X))
    found = nested(selector, X, y, cv=cv)
    for fold, (train, _) in zip(found.folds, cv, strict=True):
        alone = plain_selector(validation=mask[train], search="forward").fit(X[train], y[train])
        assert list(fold.columns) == alone.selected_.tolist()
    assert stability(selector, X, y, n_resamples=2, random_state=0).selected.shape == (2, 5)


@pytest.mark.parametrize(
    ("options", "params", "words"),
    [
        ({}, {"groups": [0] * 120}, "groups has one group only"),
        ({}, {"groups": [1, 2, 3]}, "groups has 3 values, but X has 120 rows"),
        ({}, {"groups": [None, *range(119)]}, r"groups is missing in 1 row\(s\), such as row 0"),
        ({}, {"groups": [np.nan, *range(119)]}, "groups is missing in 1 row"),
        ({"cv": "loo"}, {"groups": list(range(120))}, "cv='loo' would score a row by others"),
        ({"cv": KFold(3)}, {"groups": [0, 1] * 60}, "cv: split 0 puts rows of the group 0 on both"),
        ({"cv": 5}, {"groups": [0, 1] * 60}, "cv=5 does not suit the guiding rows"),
        (
            {"validation": np.arange(120) < 60},
            {"groups": ["a", "b"] * 60},
            "validation puts rows of the group 'a' on both sides",
        ),
        ({"validation": True}, {}, "validation must be None, a number from 0 to 1, a splitter"),
        ({"validation": "half"}, {}, "validation must be None, a number from 0 to 1, a splitter"),
        ({"validation": object()}, {}, "validation must be None, a number from 0 to 1, a splitter"),
        ({"validation": [0.5, 0.5]}, {}, "validation must be None, a number from 0 to 1, a splitt"),
        ({"validation": [True] * 3}, {}, "validation is a mask of 3 rows, but X has 120"),
        ({"validation": [3, 120]}, {}, "validation names row 120; the rows of X are numbered"),
        ({"validation": [-1]}, {}, "validation names row -1"),
        ({"validation": [False] * 120}, {}, "validation leaves no row to choose the subset on"),
        ({"validation": [True] * 120}, {}, "validation leaves no row to guide the search"),
        ({"validation": PredefinedSplit([-1] * 120)}, {}, "the splitter gives no split"),
    ],
)
def test_bad_parts_are_told(options, params, words):
    X, y, _ = table()
    with pytest.raises((TypeError, ValueError), match=words) as told:
        plain_selector(random_state=0, **options).fit(X, y, **params)
    assert "\n" not in str(told.value)


def test_a_class_that_guides_no_more_is_told():
    X, y, _ = table()
    with pytest.raises(ValueError, match="validation leaves no guiding row of class 1"):
        plain_selector(validation=y == 1).fit(X, y)
    with pytest.raises(ValueError, match="finds no group to choose the subset on"):
        plain_selector(random_state=0).fit(X, y, groups=y)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), st.floats(0.01, 0.99))
def test_later_rows_are_the_latest(time, share):
    time = np.array(time)
    if len(set(time)) == 1:
        with pytest.raises(ValueError, match="time has one value only"):
            later_rows(time, share)
        return
    later = later_rows(time, share)
    assert time[later].min() > time[~later].max()
    near = [abs((time >= t).sum() - share * time.size) for t in set(time) - {time.min()}]
    assert abs(later.sum() - share * time.size) == min(near)


def write(folder, **columns):
    X, y, groups = table()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y, who=groups, **columns)
    frame.to_csv(folder / "table.csv", index=False)
    return frame


def run(folder, *options):
    command = ["select", str(folder / "table.csv"), "--target", "y", "--out", str(folder / "out")]
    return CliRunner().invoke(
        app,
        [*command, "--resamples", "0", "--json", "--estimator", "selector", "--force", *options],
    )


def test_groups_and_time_on_the_command_line(tmp_path, monkeypatch):
    days = pd.date_range("2024-01-01", periods=120).strftime("%Y-%m-%d")[::-1]
    frame = write(tmp_path, day=days, number=np.arange(120) / 7)
    fits = []
    plain = NaiveBayesSelector.fit

    def watched(self, X, y, **params):
        names = list(getattr(X, "columns", []))
        fits.append((plain(self, X, y, **params), names))
        return fits[-1][0]

    monkeypatch.setattr(NaiveBayesSelector, "fit", watched)
    done = run(tmp_path, "--groups", "who", "--families")
    assert done.exit_code == 0, done.output
    assert set(json.loads(done.stdout)["selected"]) <= set("abcde") | {"number"}
    found, names = fits[0]
    assert "who" not in names
    who = frame["who"].to_numpy()
    assert not on_both_sides(who, found.guiding_rows_, found.validation_rows_)
    for column, late in (("day", range(30)), ("number", range(90, 120))):
        fits.clear()
        assert run(tmp_path, "--time", column, "--validation", "0.25").exit_code == 0
        found, names = fits[0]
        assert column not in names
        assert found.validation_rows_.tolist() == list(late)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--groups", "nobody"], "there is no column 'nobody'"),
        (["--groups", "y"], "column 'y' is the target"),
        (["--groups", "hole"], "--groups: column 'hole' is missing in 1 row(s)"),
        (["--time", "hole"], "--time: column 'hole' is missing in 1 row(s)"),
        (["--time", "odd"], "must hold numbers, dates, or texts such as 2024-12-31"),
        (["--time", "one"], "time has one value only"),
        (["--time", "a", "--validation", "0"], "--time needs a validation part"),
        (["--groups", "one"], "groups has one group only"),
    ],
)
def test_bad_columns_are_told(tmp_path, options, words):
    write(tmp_path, hole=[None, *range(119)], odd=["31.12.2024"] * 120, one=1)
    done = run(tmp_path, *options)
    assert done.exit_code != 0
    assert words in str(done.exception)


@pytest.mark.parametrize("model", [NaiveBayesSelector(), WeightedNaiveBayes()])
@pytest.mark.parametrize("validation", [None, StratifiedGroupKFold(3)])
def test_groups_of_text_and_numbers_are_groups_like_any_others(model, validation):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 2, 120)
    X[:, 0] += 2 * y
    mixed = np.array([f"r{i % 8}" if i % 2 else i % 8 for i in range(120)], dtype=object)
    numbers = np.array([i % 8 for i in range(120)])
    found = [
        clone(model).set_params(validation=validation).fit(X, y, groups=groups)
        for groups in (mixed, numbers)
    ]
    assert np.array_equal(found[0].predict_proba(X), found[1].predict_proba(X))
