"""The rows behind each cell, and the interval of its evidence, against slow, obvious twins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, explain, explain_model
from bayesieve.models.base import Support
from bayesieve.models.log_ratios import column_support, pair_support, term_rows

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def logit(p):
    return np.log(p) - np.log1p(-p)


def twin(a, b, whole_a, whole_b, point):
    """Quantiles of the share of a, as many rows as vary so; moved to where the point is."""
    vary = 1 / a + 1 / b
    more = vary / (vary - 1 / whole_a - 1 / whole_b)
    a, b = a * more, b * more
    return [point + logit(beta.ppf(p, a, b)) - np.log(a / b) for p in (0.05, 0.95)]


def table_of(seed, n_rows=150, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows) + rng.uniform(0, 1.5) * y,
            "two": (rng.random(n_rows) < 0.2 + 0.4 * (y == 0)).astype(float),
            "kind": np.array(list("abcdefgh"))[rng.integers(0, 8 - 3 * (y == 1), n_rows)],
        }
    )
    X.loc[rng.random(n_rows) < 0.05, "number"] = np.nan
    return X, y


def supports(model):
    """Support, and what is said in nat, of each column of a model of one problem."""
    problem = model.fitted_.only
    for j, spec in enumerate(problem.specs):
        found = column_support(problem, j, np.arange(spec.n_codes))
        yield found, problem.scale.release(problem.tables[j])


# -- Definitions -----------------------------------------------------------------------------------


@few
@given(seed=seeds)
def test_intervals_of_counts_are_the_twins(seed):
    X, y = table_of(seed)
    for name in ("two", "kind"):
        values, model = X[name].to_numpy(), "bernoulli" if name == "two" else "categorical"
        (feature,) = explain_model(NaiveBayes(model).fit(X[[name]], y)).features
        n_levels, whole = len(feature.values), [(y == k).sum() for k in range(2)]
        for value, within in zip(feature.values, feature.intervals(1, 0), strict=True):
            n, m = (((values == value) & (y == k)).sum() + 1 for k in (1, 0))
            point = np.log(n / (whole[1] + n_levels)) - np.log(m / (whole[0] + n_levels))
            np.testing.assert_allclose(within, twin(n, m, whole[1] + 1, whole[0] + 1, point))


@few
@given(seed=seeds)
def test_intervals_of_levels_are_the_twins(seed):
    X, y = table_of(seed)
    model = NaiveBayes().fit(X[["kind"]], y)
    column, values = model.fitted_.only.columns[0], X["kind"].to_numpy()
    rows = np.array([(y == k).sum() for k in range(2)])
    share = (rows + 1) / (rows + 1).sum()
    said = explain_model(model).features[0]
    found = column.model.support(column, np.arange(9))
    for value, within in zip(said.values, said.intervals(1, 0), strict=True):
        n = np.array([((values == value) & (y == k)).sum() for k in range(2)])
        at = said.values.index(value)
        assert found.rows[at].tolist() == n.tolist()
        m = found.prior[at].sum()
        np.testing.assert_allclose(found.prior[at], m * share)
        m = np.clip(m, 0.5 / share.min(), 1 / share.min())
        (b, a), (c, d) = n + m * share, rows + m * share
        low, high = twin(a, b, d, c, np.log(a / b * share[0] / share[1]))
        ratio = said.ratios(1, 0)[at]
        np.testing.assert_allclose(within, (min(low, ratio), max(high, ratio)), rtol=1e-5)


def test_pseudo_rows_of_levels_are_those_that_were_chosen():
    """With the rows that were added, shares of the posterior are those of the model."""
    chosen = set()
    for seed in range(40):
        X, y = table_of(seed, 400)
        codes = pd.factorize(X["kind"])[0]
        y = np.where((codes < 2) & (np.arange(y.size) % 3 > 0), 1, y)
        model = NaiveBayes().fit(X[["kind"]], y)
        ((found, said),) = supports(model)
        m = found.prior.sum(1)[0]
        if np.allclose(found.point[:-1], said[:-1], atol=1e-9) and m < 2000:
            chosen.add(float(m))
            odds = (found.rows + found.prior)[:-1]
            share = found.prior[0] / m
            own = np.log(odds / odds.sum(1, keepdims=True) / share)
            np.testing.assert_allclose(own, said[:-1], atol=1e-9)
    assert chosen


def kernel_rows(points, rows, width):
    """Sums of kernels of height 1 around every row."""
    found = np.zeros(len(points))
    for c, here in enumerate(points):
        for d, there in enumerate(points):
            height = np.exp(-(((here - there) / width) ** 2) / 2) if width else float(c == d)
            found[c] += rows[d] * height
    return found


@pytest.mark.parametrize("name", ["grid-gaussian", "kernel", "rank-kernel"])
@pytest.mark.parametrize("seed", range(4))
def test_effective_rows_of_densities(name, seed):
    X, y = table_of(seed, 120)
    model = NaiveBayes(name).fit(X[["number"]].fillna(0.5), y)
    column = model.fitted_.only.columns[0]
    counts, points = column.statistics[0][:-1], column.grid.points
    found = column.model.support(column, np.arange(len(counts) + 1))
    for k in range(2):
        rows, mine = counts[:, k], found.rows[:-1, k]
        n = rows.sum()
        mean = rows @ points / n
        sd = np.sqrt(rows @ (points - mean) ** 2 / n)
        if name == "grid-gaussian":
            z = (points - mean) / sd
            np.testing.assert_allclose(1 / mine, (z**2 + (z**2 - 1) ** 2 / 2) / n)
            continue
        if name == "rank-kernel":
            every = counts.sum(1)
            places = (np.cumsum(every) - every / 2) / every.sum()
            widths = [0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16]
        else:
            ordered = np.repeat(points, rows.astype(int))
            low, high = (ordered[int(np.ceil(q * n)) - 1] for q in (0.25, 0.75))
            quarter = (high - low) / 1.34
            silverman = 0.9 * (quarter if 0 < quarter < sd else sd) * n**-0.2
            places = points
            least = 1 / (column.grid.n_values - 1) / 2
            widths = [max(2**1.5 * 2 ** (-i / 2) * silverman, least) for i in range(8)]
        twins = [kernel_rows(places, rows, width) for width in widths]
        assert any(np.allclose(mine, each, rtol=1e-9, atol=1e-12) for each in twins)
        assert (mine > rows - 1e-9).all()


def test_behind_a_gaussian_stand_as_many_rows_as_vary_so():
    """The log-ratio of two densities varies, over samples, as that of shares of so many rows."""
    rng, at = np.random.default_rng(0), np.array([-2.0, -1.0, 0.0, 0.5, 2.5])
    said, expected, y = [], [], np.repeat([0, 1], 200)
    for _ in range(400):
        column = NaiveBayes("gaussian").fit(rng.normal(size=(400, 1)), y).fitted_.only.columns[0]
        found = column.model.support(column, at)
        said.append(found.point[:, 0] - found.point[:, 1])
        expected.append((1 / found.rows).sum(1))
    ratio = np.var(said, 0) / np.mean(expected, 0)
    assert (np.abs(ratio - 1) < 0.25).all()


# -- What always holds -----------------------------------------------------------------------------


MODELS = ["auto", "categorical", "kernel", "intervals", "intervals-4"]


@few
@given(seed=seeds, model=st.sampled_from(MODELS), n_classes=st.sampled_from([2, 3]))
def test_intervals_hold_what_is_said_and_turn_with_the_classes(seed, model, n_classes):
    X, y = table_of(seed, 150, n_classes)
    features = model if model in ("auto", "categorical") else {"number": model}
    X = X if model != "categorical" else X[["kind", "two"]]
    for found, said in supports(NaiveBayes(features).fit(X, y)):
        ratio = said[:, 1] - said[:, 0]
        low, high = found.interval(1, 0, ratio)
        known = ~np.isnan(low)
        assert (low[known] <= ratio[known]).all()
        assert (ratio[known] <= high[known]).all()
        assert (low < high)[known].all()
        back = found.interval(0, 1, -ratio)
        np.testing.assert_allclose(back, [-high, -low], rtol=1e-9, atol=1e-9)
        assert np.isnan(low[-1])


@few
@given(seed=seeds)
def test_intervals_shrink_with_rows(seed):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(0, 40, (6, 2))
    sizes = []
    for times in (1, 2, 5, 50):
        point, whole = np.zeros((6, 2)), rows.sum(0) * times
        found = Support(point, rows * times, np.full((6, 2), 0.7), whole)
        low, high = found.interval(0, 1)
        sizes.append(high - low)
    assert (np.diff(sizes, axis=0) < 0).all()


@few
@given(seed=seeds)
def test_support_does_not_hang_on_the_order_of_rows(seed):
    X, y = table_of(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    both = [[*supports(NaiveBayes().fit(X.iloc[at], y[at]))] for at in (slice(None), order)]
    for (one, _), (other, _) in zip(*both, strict=True):
        for part, same in zip(one[:4], other[:4], strict=True):
            np.testing.assert_array_equal(part, same)


def test_merged_parts_have_the_support_of_the_whole():
    X, y = table_of(3, 400)
    X = X[["two", "kind"]]
    model = NaiveBayes()
    for some in np.array_split(np.arange(400), 3):
        model.partial_fit(X.iloc[some], y[some], classes=[0, 1])
    for (one, _), (other, _) in zip(supports(model), supports(NaiveBayes().fit(X, y)), strict=True):
        for part, same in zip(one[:4], other[:4], strict=True):
            np.testing.assert_array_equal(part, same)


def test_what_says_nothing_has_no_interval():
    X, y = table_of(1, 300)
    X["same"], X["one"] = "x", 1.0
    model = NaiveBayes().fit(X, y)
    asked = X.iloc[:1].assign(number=np.nan, kind="never")
    by_name = {bar.feature: bar for bar in explain(model, asked)[0].evidence}
    for name in ("(prior)", "number", "kind", "same", "one"):
        assert (by_name[name].low, by_name[name].high) == (None, None)
    assert by_name["two"].low < by_name["two"].log_ratio < by_name["two"].high
    for name in ("mixture-2", "gaussian-pooled"):
        (feature,) = explain_model(NaiveBayes(name).fit(X[["number"]], y)).features
        assert feature.rows is None
        assert set(feature.intervals(1, 0)) == {None}


# -- Where it is told ------------------------------------------------------------------------------


@pytest.mark.parametrize("features", ["auto", {"number": "gaussian"}])
def test_bars_and_cells_tell_the_same(features):
    X, y = table_of(2, 300)
    model = NaiveBayes(features).fit(X, y)
    cells = explain_model(model).cells(1, 0)
    told = zip(cells.feature, cells.value, cells.low, cells.high, cells.rows, strict=True)
    known = {(name, value): rest for name, value, *rest in told}
    for i, found in enumerate(explain(model, X[:20], target=1, against=0)):
        bars = {bar.feature: bar for bar in found.evidence}
        for name in ("two", "kind"):
            low, high, rows = known[name, X[name].iloc[i]]
            np.testing.assert_allclose(np.exp([bars[name].low, bars[name].high]), [low, high])
            assert rows == (X[name] == X[name].iloc[i]).sum()
        if not np.isnan(X["number"].iloc[i]):
            assert bars["number"].low < bars["number"].log_ratio < bars["number"].high
        frame = found.to_columns()
        at = frame["feature"].index("two")
        assert frame["low"][at] == pytest.approx(np.exp(bars["two"].low))
        assert frame["high"][0] is None


def test_a_temperature_divides_intervals_too():
    X, y = table_of(2, 300)
    model = NaiveBayes().fit(X, y)
    cool = explain(model, X[:1], target=1, against=0)[0].evidence
    model.hold(model.fitted_.calibrated([2.0]))
    for one, other in zip(
        cool, explain(model, X[:1], target=1, against=0)[0].evidence, strict=True
    ):
        if one.low is not None:
            assert other.low == pytest.approx(one.low / 2)
            assert other.high == pytest.approx(one.high / 2)


def test_weights_are_held_fixed():
    """Equal weights stretch the interval; others move the odds within it."""
    rows, whole = np.array([[9.0, 3.0], [2.0, 5.0]]), np.array([60.0, 40.0])
    shares, prior = whole / whole.sum(), np.full((2, 2), 0.5)
    plain = Support(
        np.log((rows + prior) / (rows + prior).sum(1, keepdims=True) / shares), rows, prior, whole
    )
    low, high = plain.interval(0, 1)
    half = plain._replace(weights=np.array([0.5, 0.5]), shares=shares).interval(0, 1)
    np.testing.assert_allclose(half, [low / 2, high / 2])
    found = plain._replace(weights=np.array([1.0, 0.25]), shares=shares).interval(0, 1)
    for at in range(2):
        for side, odds in ((0, low[at]), (1, high[at])):
            p = 1 / (1 + np.exp(-odds) * shares[1] / shares[0])
            said = np.log(p / shares[0]) - 0.25 * np.log((1 - p) / shares[1])
            assert found[side][at] == pytest.approx(said)


@pytest.mark.parametrize("missing", ["silent", "evidence"])
def test_terms_carry_their_rows(missing):
    X, y = table_of(5, 400)
    y = np.where(X["number"].isna(), 1, y)
    model = WeightedNaiveBayes(
        missing=missing, start=[("number", "two"), "number", "kind"], pairs=True
    )
    model.fit(X, y)
    names = [term["name"] for term in model.terms_]
    assert "number" in names
    for term in model.terms_:
        assert term["rows"].shape == term["table"].shape
        if term["name"] == "kind":
            expected = [[((X["kind"] == v) & (y == k)).sum() for k in range(2)] for v in "abcdefgh"]
            assert term["rows"][:8].tolist() == expected
        if term["name"] == "number" and missing == "evidence":
            assert term["rows"][-1].tolist() == [
                (X["number"].isna() & (y == k)).sum() for k in range(2)
            ]
        if len(term["columns"]) == 2:
            assert term["rows"].sum() == X["number"].notna().sum()
    for found in explain(model, X[:30]):
        for bar in found.evidence[1:]:
            if bar.low is not None:
                assert bar.low <= bar.log_ratio <= bar.high


def test_terms_of_a_selector_carry_their_rows():
    X, y = table_of(5, 400)
    selector = NaiveBayesSelector(NaiveBayes({"number": "gaussian"}), keep=[0, 1, 2]).fit(X, y)
    for term in selector.terms_:
        if term["name"] == "number":
            assert term["rows"] is None
        else:
            assert term["rows"].sum() == 400


def test_pairs_know_the_rows_of_their_cells():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 800))
    y = (rng.random(800) < 0.2 + 0.6 * (a != b)).astype(int)
    model = WeightedNaiveBayes(pairs=True).fit(np.column_stack([a, b]).astype(float), y)
    problem = model.estimator_.fitted_.only
    (pair,) = problem.pairs
    found = pair_support(problem, pair)
    expected = [
        [((a == i) & (b == j) & (y == k)).sum() for k in range(2)]
        for i in range(2)
        for j in range(2)
    ]
    assert found.rows.tolist() == expected
    assert term_rows(problem, pair.columns).reshape(4, 2).tolist() == expected
    feature = explain_model(model).features[-1]
    assert feature.rows == expected
    for (low, high), ratio in zip(feature.intervals(1, 0), feature.ratios(1, 0), strict=True):
        assert low <= ratio <= high
    bar = explain(model, np.array([[0.0, 1.0]]), target=1, against=0)[0].evidence[1]
    assert bar.feature == "x0 x x1"
    assert (bar.low, bar.high) == pytest.approx(feature.intervals(1, 0)[1])
