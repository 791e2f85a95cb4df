"""Evidence never outruns the rows behind it: levels, curves, and what tells nothing."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import binom

import densities
from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, explain
from bayesieve.models import MODELS, ModelSettings, build_columns, one_set
from bayesieve.models.log_ratios import cell_ratios

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def levels_of(seed, n_rows=80, n_classes=3):
    """Codes of a column of a few or of many levels, some of one row, and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    n_levels = int(rng.choice([1, 2, 5, 40]))
    shares = rng.dirichlet(np.full(n_levels, 0.5), n_classes)
    codes = np.array([rng.choice(n_levels, p=shares[k]) for k in y])
    codes[rng.random(n_rows) < 0.05] = n_levels
    return codes, y, n_levels


@few
@given(seed=seeds, weighted=st.booleans())
def test_levels_are_the_twins(seed, weighted):
    codes, y, n_levels = levels_of(seed)
    weights = np.random.default_rng(seed).integers(0, 4, y.size) if weighted else np.ones(y.size)
    class_weight = np.array([1.0, 0.5, 3.0]) if seed % 2 else np.ones(3)
    sets = one_set(y, weights.astype(float), class_weight)
    model = MODELS["levels"]
    counts = model.statistics(codes.astype(np.uint8), n_levels + 1, sets)
    settings_ = ModelSettings(1.0, None, class_weight)

    class Spec:
        model, resolution, n_distinct, points = "levels", 1.0, n_levels, np.empty(0)

    (column,) = build_columns([Spec], [counts], settings_)
    wanted, own = densities.terms("levels", counts[0, :-1], class_weight, None, None)
    said = column.of(np.arange(n_levels + 1)).finite[0]
    np.testing.assert_allclose(said[:-1], wanted, rtol=1e-9, atol=1e-9)
    assert (said[-1] == 0).all()
    left = column.left_out(codes, codes, sets).finite
    for k in range(3):
        there = np.flatnonzero(counts[0, :-1, k])
        np.testing.assert_allclose(left[k, there, k], own[there, k], rtol=1e-9, atol=1e-9)


def table_of(seed, n_rows, n_classes, share=0.5):
    """Numbers with tails, gaps and ties, categories of few and many levels, zeros and ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows) if share == 0.5 else (rng.random(n_rows) < share) * 1
    y[:n_classes] = np.arange(n_classes)
    heavy = rng.standard_t(1, n_rows) + y
    return pd.DataFrame(
        {
            "normal": rng.normal(size=n_rows) + y,
            "heavy": heavy,
            "two heaps": np.where(rng.random(n_rows) < 0.5, 40.0, 0.0)
            + rng.normal(size=n_rows) * y,
            "whole": np.round(2 * rng.normal(size=n_rows) + y),
            "kind": np.array([f"k{i}" for i in rng.integers(0, 4, n_rows) + y], object),
            "name": np.array([f"n{i}" for i in rng.zipf(1.5, n_rows)], object),
            "rare": (rng.random(n_rows) < 0.02 * (1 + y)).astype(float),
        }
    ), y


def stretch(said, at, part):
    """Rows of the stretch of sorted rows around one of them that says as much, within .1 nat."""
    weaker = np.flatnonzero(said * np.sign(part) < max(abs(part) - 0.1, 0))
    high = weaker[weaker > at].min(initial=said.size)
    return high - weaker[weaker < at].max(initial=-1) - 1


def most_by_few(model, X, columns):
    """The largest factor between two classes, by codes seen, behind which fewer than 5 rows stand.

    Of more than two classes it is what is said of either against all, as far as few rows say it.
    """
    found = 0.0
    terms = model.terms(X)
    for place, name in enumerate(columns):
        values = X[name].to_numpy()
        order = np.argsort(values, kind="stable")
        said, values = terms[order, place], values[order]
        lines = said[:, 1:] - said[:, :1] if said.shape[1] == 2 else said
        for at in range(len(values)):
            parts = []
            for line in lines.T:
                if values.dtype == object:
                    rows = (values == values[at]).sum()
                else:
                    rows = stretch(line, at, line[at])
                parts.append(abs(line[at]) if rows < 5 else 0.0)
            found = max(found, sum(sorted(parts)[-2:]))
    return np.exp(found)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_few_rows_never_say_more_than_five_times(seed, n_classes):
    X, y = table_of(seed, 150, n_classes)
    names = [name for name in X if name != "rare"]
    plain = NaiveBayes().fit(X[names], y)
    assert most_by_few(plain, X[names], names) <= 5 + 1e-6
    model = WeightedNaiveBayes(pairs=False, price=0.1).fit(X, y)
    chosen = list(X.columns[model.get_support()])
    assert chosen
    assert most_by_few(model.estimator_, X[chosen], chosen) <= 5 + 1e-6


def test_named_models_keep_their_definitions():
    """Of these, few rows may say anything."""
    names = ["normal", "two heaps", "whole", "name"]
    named = dict.fromkeys(names[:3], "density") | {"name": "categorical"}
    found = []
    for seed in range(4):
        X, y = table_of(seed, 150, 2)
        found.append(most_by_few(NaiveBayes(named).fit(X[names], y), X[names], names))
    assert max(found) > 8


def test_one_row_far_out_says_little():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 120)  # few enough that every number is a code of its own
    X = rng.normal(size=(240, 1)) + y[:, None]
    X[-1] = -60.0  # where only rows of the other class are near
    model, before = NaiveBayes().fit(X, y), NaiveBayes("kernel").fit(X, y)
    for value in (-60.0, -1000.0):
        line, named = model.terms([[value]])[0, 0], before.terms([[value]])[0, 0]
        assert line[1] - line[0] <= np.log(5) * np.sqrt(1 / 5) + 1e-9
        assert named[1] - named[0] > 3
    # A tail of enough rows speaks on beyond itself, as much as they say.
    top = X.max()
    end, beyond = model.terms([[top], [top + 50]])[:, 0]
    np.testing.assert_array_equal(end, beyond)
    assert end[1] - end[0] > 1


def test_what_tells_nothing_carries_no_evidence():
    rng = np.random.default_rng(0)
    for share in (0.5, 0.02):
        y = (rng.random(1000) < share).astype(int)
        X = pd.DataFrame(
            {
                "number": np.full(1000, 3.0),
                "text": np.array(["same"] * 1000, object),
                "one": np.ones(1000),
                "zero": np.zeros(1000),
                "identifier": [f"row {i}" for i in range(1000)],
            }
        )
        for features in (["number", "text"], ["identifier"]):
            assert not NaiveBayes().fit(X[features], y).terms(X[features]).any()
        model = WeightedNaiveBayes().fit(X.drop(columns="identifier"), y)
        assert not model.get_support().any()


@pytest.mark.parametrize("form", ["frame", "array", "sparse"])
def test_a_selector_never_takes_what_cannot_tell(form):
    """Not even where it must take something, and nothing else tells either."""
    y = np.arange(1000) % 50 == 0
    rng = np.random.default_rng(0)
    values = np.column_stack([np.zeros(1000), np.ones(1000), rng.integers(0, 2, 1000)])
    if form == "sparse":
        X, idle = csr_matrix(values), 2
    elif form == "array":
        X, idle = np.column_stack([np.full(1000, np.nan), np.full(1000, 2.5), values]), 4
    else:
        X = pd.DataFrame(values, columns=["zero", "one", "coin"])
        X.insert(0, "text", "same")
        X.insert(0, "id", [f"row {i}" for i in range(1000)])
        idle = 4
    for options in ({}, {"preset": "few"}, {"cv": "train", "reweigh": False}):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            selector = NaiveBayesSelector(**options).fit(X, y)
        assert selector.selected_.tolist() == [idle]
        told = [str(each.message) for each in said if "hardly repeat" in str(each.message)]
        assert len(told) == (form == "frame")
        if told:
            assert told[0].startswith("column 'id': texts that hardly repeat")
            assert {each.filename for each in said if "hardly repeat" in str(each.message)} == {
                __file__
            }
    # What is asked for by name, or by number, is taken.
    assert 1 in NaiveBayesSelector(keep=[1]).fit(X, y).selected_
    everything = NaiveBayesSelector(n_features=idle + 1)
    assert everything.fit(X, y).selected_.size == idle + 1


def test_names_of_rows_are_known_by_the_rows_that_have_one():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"row {i}" for i in range(200)], "x": rng.normal(size=200)})
    y = (X["x"] + rng.normal(size=200) > 0).astype(int)
    X.loc[:40, "id"] = None
    with pytest.warns(UserWarning, match="column 'id': texts that hardly repeat"):
        assert NaiveBayesSelector().fit(X, y).selected_.tolist() == [1]
    # A family that is given stands as it is given, whoever leads it.
    X["twin"] = X["x"]
    families = NaiveBayesSelector(families=[["id", "x"]]).fit(X, y)
    assert families.selected_.tolist() == [2]


NOISE = {
    "number": lambda rng, n: rng.normal(size=n),
    "binary": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "rare": lambda rng, n: (rng.random(n) < 0.02).astype(float),
    **{
        f"{m} levels": lambda rng, n, m=m: np.array(
            [f"v{i}" for i in rng.integers(0, m, n)], object
        )
        for m in (2, 20, 500, 5000)
    },
}


def kept(kind, n_rows, share, n_seeds):
    """Of how many tables of two such columns and random classes anything is kept, by estimator."""
    found = np.zeros(2, int)
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, n_rows, int(1000 * share), sorted(NOISE).index(kind)])
        y = (rng.random(n_rows) < share).astype(int)
        y[:4] = 0, 1, 0, 1
        X = pd.DataFrame({f"c{j}": NOISE[kind](rng, n_rows) for j in range(2)})
        models = WeightedNaiveBayes(), NaiveBayesSelector(min_features=0)
        found += [model.fit(X, y).get_support().any() for model in models]
    return found


def within(found, n_fits):
    """At most one in twenty, as far as so many fits can tell."""
    return binom.sf(found - 1, n_fits, 0.05) > 0.01


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("share", [0.5, 0.02])
@pytest.mark.parametrize("kind", NOISE)
def test_noise_stays_out(kind, share):
    assert all(within(each, 6) for each in kept(kind, 400, share, 6))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_noise_stays_out_everywhere():
    total, cells = np.zeros(2, int), 0
    for kind in NOISE:
        for n_rows in (100, 1000, 10_000, 100_000):
            for share in (0.5, 0.1, 0.02):
                if n_rows * share < 4:
                    continue
                found = kept(kind, n_rows, share, 20)
                assert all(within(each, 20) for each in found), (kind, n_rows, share, found)
                total += found
                cells += 1
    assert all(within(each, 20 * cells) for each in total)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_levels_with_signal_are_found(share):
    """500 levels of 20 rows each, whose log-odds differ by one in the standard deviation."""
    rng = np.random.default_rng(1)
    levels = rng.integers(0, 500, 10_000)
    odds = np.log(share / (1 - share)) + rng.normal(size=500)
    y = (rng.random(10_000) < 1 / (1 + np.exp(-odds[levels]))).astype(int)
    X = pd.DataFrame({"level": [f"v{i}" for i in levels], "noise": rng.normal(size=10_000)})
    for model in (WeightedNaiveBayes(), NaiveBayesSelector(min_features=0)):
        assert model.fit(X, y).get_support().tolist() == [True, False]


def test_rows_behind_a_bar_are_those_of_the_table():
    X, y = table_of(7, 200, 2)
    X = X[["normal", "whole", "kind"]]
    model = NaiveBayes().fit(X, y)
    for i, found in enumerate(explain(model, X[:12], target=1, against=0)):
        for bar in found.evidence[1:]:
            values = X[bar.feature].to_numpy()
            if bar.feature == "kind":
                assert bar.rows == (values == values[i]).sum()
                continue
            order = np.argsort(values, kind="stable")
            terms = model.terms(X)[:, list(X).index(bar.feature)]
            line = (terms[:, 1] - terms[:, 0])[order]
            at = int(np.flatnonzero(order == i)[0])
            assert bar.rows == stretch(line, at, line[at])


def test_few_rows_are_named():
    y = np.repeat([0, 1], 100)
    X = pd.DataFrame({"kind": ["a"] * 99 + ["b"] * 98 + ["c"] * 3})
    (found,) = explain(NaiveBayes("categorical").fit(X, y), X[-1:])
    (bar,) = found.evidence[1:]
    assert bar.rows == 3
    assert bar.few
    assert "few rows: 3)" in found.to_text()
    assert found.to_dict()["evidence"][1]["rows"] == 3
    assert "few rows" not in explain(NaiveBayes().fit(X, y), X[:1])[0].to_text()


# -- Cells of two columns --------------------------------------------------------------------------


@few
@given(seed=seeds, numbers=st.tuples(st.booleans(), st.booleans()))
def test_cells_are_the_twins(seed, numbers):
    rng = np.random.default_rng(seed)
    shape = (*rng.integers(1, 7, 2), rng.integers(2, 5))
    counts = rng.poisson(rng.gamma(0.5, 4, shape)).astype(float)
    counts[0, 0] = 1
    class_weight = np.array([1.0, 0.5, 3.0, 1.0])[: shape[2]] if seed % 2 else np.ones(shape[2])
    wanted, own = densities.cells(counts, class_weight, numbers)
    found = cell_ratios(counts, class_weight, numbers)
    np.testing.assert_allclose(found.table, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.own, own, rtol=1e-9, atol=1e-9)
    assert (found.own <= 0).all()


@few
@given(seed=seeds)
def test_what_a_cell_says_beyond_its_columns_has_rows_behind_it(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.3, 3, (5, 4, 2))).astype(float)
    found = cell_ratios(counts, np.ones(2), (False, False))
    rows = found.rows.sum(-1)
    most = np.log(5) * np.maximum((rows / 5) ** 0.5, (rows / 5) ** 3)
    stronger = np.zeros((5, 4))
    for axis in (0, 1):
        alone, _ = densities.terms("levels", counts.sum(1 - axis), np.ones(2), None, None)
        stronger = np.maximum(stronger, np.expand_dims(np.ptp(alone, axis=1), 1 - axis))
    # At most the stronger column, what rows say beyond it, and what they say against it.
    assert (np.ptp(found.table, axis=-1) <= stronger + 2 * most + 1e-9).all()
    empty = np.ptp(found.table, axis=-1)[rows == 0]
    assert (empty <= stronger[rows == 0] + 1e-9).all()


def test_a_pair_of_two_columns_that_say_nothing_and_few_rows_says_little():
    """Three rows of one class in a cell, of columns of which neither tells anything."""
    counts = np.full((15, 15, 2), 3.0)
    counts[4, 7] = 0, 3
    found = cell_ratios(counts, np.ones(2), (False, False))
    assert np.exp(np.ptp(found.table[4, 7])) < 5**0.6**0.5 + 0.2
