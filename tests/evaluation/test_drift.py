"""Rows unlike anything seen, and columns that moved."""

from functools import lru_cache
from math import comb

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency, ks_2samp, norm

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, decide, drift, novelty
from bayesieve.datasets import make_signals
from bayesieve.estimators.naive_bayes import rows_of
from bayesieve.models.novelty import surprise

matplotlib.use("Agg")


def mixed(rng, n, classes="abc"):
    """Numbers, categories and bits, some of them missing."""
    y = rng.choice(list(classes), n)
    kinds = {"a": ["red", "red", "blue"], "b": ["blue", "green"], "c": ["green"], "d": ["red"]}
    frame = pd.DataFrame(
        {
            "size": rng.normal([{"a": 0, "b": 3, "c": 6, "d": -4}[k] for k in y], 1.0),
            "weight": np.round(rng.gamma(2.0, [1 + "abcd".index(k) for k in y]), 1),
            "colour": [rng.choice(kinds[k]) for k in y],
            "bit": (rng.random(n) < np.where(y == "a", 0.8, 0.2)).astype(float),
        }
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, y


@lru_cache(maxsize=32)
def drawn(seed):
    """A table to learn from, one of the same kind, and one in which a column has moved."""
    rng = np.random.default_rng(seed)
    known, same, moved = mixed(rng, 200), mixed(rng, 200)[0], mixed(rng, 200)[0]
    moved["weight"] += 2.0
    return known, same, moved


MAKERS = {
    "grid": lambda: NaiveBayes(),
    "gaussian": lambda: NaiveBayes("auto", var_smoothing=1e-9),
    "intervals": lambda: NaiveBayes({"size": "intervals", "weight": "intervals-8"}),
    "mixture": lambda: NaiveBayes({"size": "mixture-2", "weight": "gaussian-pooled"}),
    "selector": lambda: NaiveBayesSelector(
        search="forward", cv="train", n_features=3, validation=0.5, random_state=0
    ),
    "weighted": lambda: WeightedNaiveBayes(corrections=False),
    "corrected": lambda: WeightedNaiveBayes(pairs=False),
}


# -- novelty -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_novelty_is_conservative_and_finds_a_class_left_out(name):
    """P(p <= a) <= a on fresh rows, within three standard errors over 8 repetitions."""
    shares = {0.01: [], 0.05: [], 0.1: []}
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        model = MAKERS[name]().fit(*mixed(rng, 300))
        ruled = decide(model, *mixed(rng, 500))
        p_values = novelty(ruled, mixed(rng, 2000)[0])
        for level, mine in shares.items():
            mine.append((p_values <= level).mean())
        found.append((novelty(ruled, mixed(rng, 300, "d")[0]) <= 0.05).mean())
    for level, mine in shares.items():
        # Of the reference rows and of the fresh ones.
        error = np.sqrt(level * (1 - level) * (1 / 500 + 1 / 2000) / len(mine))
        assert np.mean(mine) <= level + 3 * error
    assert np.mean(shares[0.05]) > 0.03
    assert np.mean(found) > 0.12


def test_signals_of_a_kind_left_out_are_flagged():
    kinds = make_signals(1500, 300, random_state=0)
    X = np.array([[each.std(), each.mean(), each[-30:].mean(), np.abs(np.diff(each)).mean()]
                  for each in kinds.series])  # fmt: skip
    known = kinds.y != "variance shift"
    order = np.random.default_rng(0).permutation(np.flatnonzero(known))
    model = NaiveBayes().fit(X[order[:800]], kinds.y[order[:800]])
    ruled = decide(model, X[order[800:1600]], kinds.y[order[800:1600]])
    assert (novelty(ruled, X[order[1600:]]) <= 0.05).mean() < 0.08
    assert (novelty(ruled, X[~known]) <= 0.05).mean() > 0.8


def test_surprise_by_the_definition():
    """One categorical column and a number: -log P less its mean, over the standard deviation."""
    X = pd.DataFrame({"c": ["u", "u", "v", "w"] * 10, "x": np.tile([0.0, 1.0, 2.0, 3.0], 10)})
    y = np.arange(40) % 2
    asked = pd.DataFrame({"c": ["u", "w", "new", None], "x": [0.5, 9.0, 1.0, np.nan]})
    model = NaiveBayes({"x": "gaussian"}).fit(X, y)
    wanted = []
    for c, x in asked.itertuples(index=False):
        each = []
        for k in (0, 1):
            mine = X[y == k]
            counts = np.array([(mine["c"] == level).sum() for level in "uvw"] + [0]) + 0.5
            shares = counts / counts.sum()
            logs = -np.log(shares)
            mean = (shares * logs).sum()
            told, variance = 0.0, (shares * (logs - mean) ** 2).sum() + 0.5
            if isinstance(c, str):
                told += logs[["u", "v", "w", "new"].index(c)] - mean
            if x == x:
                told += (((x - mine["x"].mean()) / mine["x"].std(ddof=0)) ** 2 - 1) / 2
            each.append(told / np.sqrt(variance))
        wanted.append(min(each))
    np.testing.assert_allclose(surprise(model.fitted_, rows_of(model, asked)), wanted)


def test_p_values_by_the_definition():
    rng = np.random.default_rng(0)
    (X, y), (held, truth), (new, _) = mixed(rng, 200), mixed(rng, 100), mixed(rng, 50)
    ruled = decide(NaiveBayes().fit(X, y), held, truth)
    usual = surprise(ruled.fitted_, rows_of(ruled, held))
    mine = surprise(ruled.fitted_, rows_of(ruled, new))
    wanted = [(1 + (usual >= each).sum()) / 101 for each in mine]
    np.testing.assert_array_equal(novelty(ruled, new), wanted)


def test_sparse_rows_and_labels_have_novelty_too():
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((600, 30)) < 0.2).astype(int))
    Y = np.column_stack([X[:, [0]].toarray().ravel(), rng.integers(0, 2, 600)])
    ruled = decide(NaiveBayes().fit(X[:300], Y[:300]), X[300:], Y[300:])
    full = sp.csr_array(np.ones((5, 30)))
    assert (novelty(ruled, full) < 0.01).all()
    dense = decide(NaiveBayes().fit(X[:300].toarray(), Y[:300]), X[300:].toarray(), Y[300:])
    np.testing.assert_array_equal(novelty(dense, X.toarray()), novelty(ruled, X))


def test_novelty_needs_rows_to_compare_with():
    X, y = mixed(np.random.default_rng(0), 100)
    with pytest.raises(ValueError, match="use decide\\(model, X, y\\) first"):
        novelty(NaiveBayes().fit(X, y), X)


# -- drift ---------------------------------------------------------------------------------------


# Models on a grid read it as the weighted one does.
LIKE_OTHERS = ("grid", "intervals")
SOME = [pytest.param(each, marks=[pytest.mark.slow] * (each in LIKE_OTHERS)) for each in MAKERS]


@pytest.mark.parametrize("name", SOME)
def test_nothing_moves_by_chance_and_what_moves_is_named(name):
    false, missed = 0, 0
    for seed in range(25):
        known, same, moved = drawn(seed)
        model = MAKERS[name]().fit(*known)
        false += bool(drift(model, same).moved)
        missed += "weight" not in drift(model, moved).moved and bool(
            getattr(model, "support_", np.ones(4, bool))[1]
        )
    assert false <= 5  # of 25 at 5 %: more than 5 by chance once in a thousand times
    assert missed == 0


def test_a_test_of_counts_is_the_text_book_s():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": rng.choice(["u", "v", "w"], 300)})
    new = pd.DataFrame({"c": rng.choice(["u", "v", "w"], 200, p=[0.5, 0.25, 0.25])})
    found = drift(NaiveBayes().fit(X, np.arange(300) % 2), new)
    table = [X["c"].value_counts()[list("uvw")], new["c"].value_counts()[list("uvw")]]
    assert found.p_value == [pytest.approx(chi2_contingency(table, correction=False).pvalue)]
    apart = np.array(table[0]) / 300 - np.array(table[1]) / 200
    assert found.distance == [pytest.approx(np.abs(apart).sum() / 2)]
    assert found.change[0].startswith("u: 0.3")


def test_what_is_new_or_missing_moves_a_column():
    rng = np.random.default_rng(0)
    X, y = mixed(rng, 500)
    new, _ = mixed(rng, 300)
    new.loc[:60, "colour"] = "violet"
    new.loc[100:220, "size"] = np.nan
    for maker in (MAKERS["grid"], MAKERS["gaussian"]):
        found = drift(maker().fit(X, y), new)
        assert set(found.moved) == {"colour", "size"}
        told = dict(zip(found.columns, found.change, strict=True))
        assert told["colour"].startswith("never seen: 0 -> 0.2")
        assert told["size"].startswith(("missing: 0.1", "missing: 0.09"))


def test_many_columns_are_corrected_for():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 60)), np.arange(400) % 2
    new = rng.normal(size=(400, 60))
    new[:, 7] += 1
    found = drift(NaiveBayes().fit(X, y), new)
    assert found.moved == ["x7"]
    order = np.argsort(found.p_value)
    running = 0.0
    for at, i in enumerate(order):
        running = max(running, min(1.0, found.p_value[i] * (60 - at)))
        assert found.adjusted[i] == pytest.approx(running)


def test_drift_is_shown():
    rng = np.random.default_rng(0)
    X, y = mixed(rng, 500)
    ruled = decide(NaiveBayes().fit(X, y), *mixed(rng, 500))
    new, _ = mixed(rng, 300, "d")
    found = drift(ruled, new)
    assert found.novel[0.05] > 0.3
    assert found.novelty_p < 1e-6
    assert "of the rows are unlike those held out, where 5 % are expected" in repr(found)
    frame = found.to_frame("pandas")
    assert list(frame.columns) == ["column", "distance", "p_value", "adjusted", "change"]
    assert frame["p_value"].is_monotonic_increasing
    axes = found.plot()
    assert len(axes.patches) == 4
    assert "columns moved" in axes.get_title(loc="left")
    assert "<table>" in found._repr_html_()
    calm = drift(ruled, mixed(rng, 300)[0])
    assert calm.novelty_p > 0.01
    assert drift(NaiveBayes().fit(X, y), new).novel is None
    with pytest.raises(ValueError, match="alpha must be a number from 0 to 1"):
        drift(ruled, new, alpha=2)


def test_heavy_tails_are_no_move():
    """Rows of the same distribution: some column of three is called moved in 5 % of the cases."""
    rng = np.random.default_rng(0)
    moved = 0
    for _ in range(200):
        model = NaiveBayes("gaussian").fit(rng.lognormal(size=(400, 3)), np.arange(400) % 2)
        moved += bool(drift(model, rng.lognormal(size=(300, 3))).moved)
    assert moved <= 0.1 * 200


# -- the promise of drift ------------------------------------------------------------------------


def words(numbers):
    """Categories by name."""
    return np.array([f"w{k}" for k in np.asarray(numbers).ravel()], object).reshape(
        np.shape(numbers)
    )


def bits(share, n_columns):
    return lambda rng, n: (rng.random((n, n_columns)) < share).astype(float)


def uniform_words(n_levels, n_columns=1):
    return lambda rng, n: words(rng.integers(0, n_levels, (n, n_columns)))


def zipf_words(power, n_levels, n_columns=1):
    shares = np.arange(1, n_levels + 1.0) ** -power
    return lambda rng, n: words(rng.choice(n_levels, (n, n_columns), p=shares / shares.sum()))


def holed(make, share):
    """The same with missing values."""

    def found(rng, n):
        X = make(rng, n)
        X[rng.random(X.shape) < share] = None if X.dtype == object else np.nan
        return X

    return found


def shaped(draw, n_columns=5):
    return lambda rng, n: draw(rng, (n, n_columns))


normal = shaped(lambda rng, size: rng.normal(size=size))
lognormal = shaped(lambda rng, size: rng.lognormal(size=size))
cauchy = shaped(lambda rng, size: rng.standard_cauchy(size))
student = shaped(lambda rng, size: rng.standard_t(2, size))
exponential = shaped(lambda rng, size: rng.exponential(size=size))
lattice = shaped(lambda rng, size: rng.poisson(3.0, size).astype(float))
rounded = shaped(lambda rng, size: np.round(rng.normal(size=size), 1))
inflated = shaped(
    lambda rng, size: np.where(rng.random(size) < 0.6, 0.0, rng.gamma(2.0, size=size))
)


def several(rng, n):
    """Rare bits, categories of few and of many levels, and numbers, some of them missing."""
    parts = [
        pd.DataFrame(bits(0.05, 3)(rng, n)),
        pd.DataFrame(zipf_words(1.2, 500)(rng, n)),
        pd.DataFrame(holed(uniform_words(4), 0.1)(rng, n)),
        pd.DataFrame(holed(normal, 0.05)(rng, n)),
        pd.DataFrame(lognormal(rng, n)),
    ]
    return pd.concat(parts, axis=1, ignore_index=True).rename(columns=str)


# Rows, new rows and feature model of tables in which nothing moves.
STILL = {
    "rare bits": (bits(0.02, 20), 300, 30, "auto"),
    "rarer bits": (bits(0.002, 40), 1000, 100, "auto"),
    "bits of few rows": (bits(0.1, 10), 50, 20, "auto"),
    "bits of many new rows": (bits(0.05, 20), 50, 2000, "auto"),
    "even bits": (bits(0.5, 20), 400, 60, "auto"),
    "many bits": (bits(0.2, 60), 2000, 500, "auto"),
    "bits with holes": (holed(bits(0.05, 20), 0.03), 300, 50, "auto"),
    "2 levels": (uniform_words(2, 10), 100, 40, "auto"),
    "5 levels": (uniform_words(5, 10), 200, 40, "auto"),
    "20 levels": (uniform_words(20, 5), 200, 100, "auto"),
    "200 levels": (uniform_words(200), 300, 100, "auto"),
    "200 levels, many new rows": (uniform_words(200, 3), 300, 2000, "auto"),
    "1000 levels": (uniform_words(1000, 3), 1000, 200, "auto"),
    "5000 levels": (uniform_words(5000), 1000, 300, "auto"),
    "Zipf's 50 words": (zipf_words(1.0, 50, 5), 200, 50, "auto"),
    "Zipf's 500 words": (zipf_words(1.1, 500, 3), 300, 100, "auto"),
    "Zipf's 5000 words": (zipf_words(1.1, 5000, 2), 1000, 400, "auto"),
    "Zipf's, many new rows": (zipf_words(1.3, 2000), 100, 2000, "auto"),
    "words with holes": (holed(zipf_words(1.1, 500, 3), 0.1), 300, 100, "auto"),
    "normal": (normal, 1000, 100, "auto"),
    "normal, few rows": (normal, 50, 20, "auto"),
    "normal, many new rows": (normal, 50, 2000, "auto"),
    "normal, many rows": (normal, 5000, 50, "auto"),
    "Cauchy": (cauchy, 300, 100, "auto"),
    "lognormal": (lognormal, 100, 300, "auto"),
    "lattice": (lattice, 200, 60, "auto"),
    "rounded": (rounded, 500, 200, "auto"),
    "mostly 0": (inflated, 300, 80, "auto"),
    "numbers with holes": (holed(normal, 0.1), 200, 50, "auto"),
    "intervals": (normal, 300, 40, "intervals-8"),
    "normal, moments": (normal, 300, 30, "gaussian"),
    "lognormal, moments": (lognormal, 1000, 20, "gaussian"),
    "lognormal, moments, few rows": (lognormal, 50, 20, "gaussian"),
    "exponential, moments": (exponential, 1000, 60, "gaussian"),
    "Student's t, moments": (student, 1000, 50, "gaussian"),
    "Cauchy, moments": (cauchy, 100, 40, "gaussian"),
    "mostly 0, moments": (inflated, 200, 30, "gaussian"),
    "rare bits, moments": (bits(0.02, 5), 100, 30, "gaussian"),
    "holes, moments": (holed(exponential, 0.1), 100, 1000, "gaussian"),
    "several kinds": (several, 400, 60, "auto"),
}


def false_alarms(name, n_draws):
    """In how many draws a column is called moved; classes have unequal shares."""
    make, n, m, features = STILL[name]
    found = 0
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(n) % 5, "usual", "rare")
        found += bool(drift(NaiveBayes(features).fit(make(rng, n), y), make(rng, m)).moved)
    return found


def most_by_chance(n_draws):
    """5 %, and two standard errors."""
    return 0.05 * n_draws + 2 * np.sqrt(0.05 * 0.95 * n_draws)


@pytest.mark.parametrize(
    "name",
    ["rare bits", "200 levels", "Zipf's 500 words", "normal, many new rows",
     "lognormal, moments", "Cauchy, moments"],
)  # fmt: skip
def test_what_did_not_move_is_not_called_moved(name):
    assert false_alarms(name, 60) <= most_by_chance(60)


@pytest.mark.slow
def test_what_did_not_move_is_not_called_moved_whatever_the_table():
    found = {name: false_alarms(name, 200) for name in STILL}
    assert {name: n for name, n in found.items() if n > most_by_chance(200)} == {}
    assert sum(found.values()) <= most_by_chance(200 * len(found))


def test_classes_that_are_spread_otherwise_move_a_column_and_those_that_are_not_do_not():
    """Nine of ten rows of one class: the column follows the classes, and so does its move."""

    def make(rng, n, share):
        y = rng.random(n) < share
        return words(np.where(rng.random(n) < np.where(y, 0.9, 0.1), 1, 0))[:, None], y

    still = moved = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = NaiveBayes().fit(*make(rng, 300, 0.9))
        still += bool(drift(model, make(rng, 100, 0.9)[0]).moved)
        moved += bool(drift(model, make(rng, 100, 0.5)[0]).moved)
    assert still <= most_by_chance(40)
    assert moved == 40


def by_permutation(before, after, rng, n_splits=199):
    """Exact test of Pearson's statistic: all rows together, dealt anew."""
    codes = np.unique(np.concatenate([before, after]), return_inverse=True)[1]
    total = np.bincount(codes)
    expected = total * (after.size / codes.size)

    def statistic(mine):
        return (np.square(np.bincount(mine, minlength=total.size) - expected) / expected).sum()

    seen = statistic(codes[before.size :]) * (1 - 1e-9)
    odd = sum(statistic(rng.permutation(codes)[: after.size]) >= seen for _ in range(n_splits))
    return (1 + odd) / (1 + n_splits)


def by_kolmogorov(before, after, rng):
    return ks_2samp(before, after, method="exact").pvalue


def by_sixteenths(before, after, rng):
    """Pearson's statistic of groups that are as probable in a normal distribution."""
    cuts = norm.ppf(np.arange(1, 16) / 16)
    return by_permutation(np.searchsorted(cuts, before), np.searchsorted(cuts, after), rng)


def spiked(rng, n):
    return np.where(rng.random(n) < 0.12, 0.3, rng.normal(size=n))


def one_column(make):
    return lambda rng, n: make(rng, n)[:, 0]


# Training rows and new rows, of which the column moved, by what exact test, in which model.
MOVED = {
    "rare bits": (one_column(bits(0.02, 1)), one_column(bits(0.12, 1)), 300, 30, by_permutation),
    "bits": (one_column(bits(0.3, 1)), one_column(bits(0.4, 1)), 500, 200, by_permutation),
    "5 levels": (
        one_column(uniform_words(5)),
        lambda rng, n: words(rng.choice(5, n, p=[0.4, 0.15, 0.15, 0.15, 0.15])),
        100, 60, by_permutation,
    ),
    "200 levels": (
        one_column(uniform_words(200)), lambda rng, n: words(rng.integers(30, 230, n)),
        300, 100, by_permutation,
    ),
    "Zipf's words": (
        one_column(zipf_words(1.1, 500)), one_column(zipf_words(0.7, 500)),
        300, 150, by_permutation,
    ),
    "shift": (lambda rng, n: rng.normal(size=n), lambda rng, n: rng.normal(0.55, 1, n),
              300, 30, by_kolmogorov),
    "shift of many": (lambda rng, n: rng.normal(size=n), lambda rng, n: rng.normal(0.2, 1, n),
                      400, 400, by_kolmogorov),
    "spread": (lambda rng, n: rng.normal(size=n), lambda rng, n: rng.normal(0, 1.5, n),
               300, 100, by_kolmogorov),
    "lattice": (lambda rng, n: rng.poisson(3.0, n) * 1.0, lambda rng, n: rng.poisson(3.6, n) * 1.0,
                200, 100, by_permutation),
}  # fmt: skip


# The same, where a test that looks at nothing but this kind of move finds more: the risk of numbers
# is shared by tests of groups, order and ends.
SHARED = {
    "heavy tails": (lambda rng, n: rng.standard_cauchy(n),
                    lambda rng, n: 0.6 + rng.standard_cauchy(n), 300, 60, by_kolmogorov),
    "spike": (lambda rng, n: rng.normal(size=n), spiked, 300, 150, by_sixteenths),
}  # fmt: skip


def power(name, n_draws, features="auto"):
    """In what share of draws the move is found, and by an exact test of the rows."""
    make, moved, n, m, exact = (MOVED | SHARED)[name]
    mine = theirs = 0
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        before, after = make(rng, n), moved(rng, m)
        model = NaiveBayes(features).fit(pd.DataFrame({"c": before}), np.arange(n) % 2)
        mine += bool(drift(model, pd.DataFrame({"c": after})).moved)
        theirs += exact(before, after, rng) <= 0.05
    return mine / n_draws, theirs / n_draws


@pytest.mark.parametrize("name", ["rare bits", "200 levels", "shift"])
def test_what_moved_is_found_as_by_an_exact_test(name):
    mine, exact = power(name, 40)
    assert mine >= exact - 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVED)
def test_what_moved_is_found_as_by_an_exact_test_whatever_the_column(name):
    mine, exact = power(name, 200)
    assert mine >= exact - 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_sharing_the_risk_costs_a_fifth_at_most(name):
    mine, exact = power(name, 200)
    assert mine >= exact - 0.2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shift", "shift of many", "spread"])
def test_moments_find_what_an_exact_test_finds(name):
    mine, exact = power(name, 200, "gaussian")
    assert mine >= exact - 0.1


def test_two_cells_are_fisher_s():
    """By whole numbers: splits of all rows that are no more probable than the one seen."""
    X = pd.DataFrame({"c": np.repeat([0.0, 1.0], [57, 3])})
    new = pd.DataFrame({"c": np.repeat([0.0, 1.0], [16, 4])})
    found = drift(NaiveBayes().fit(X, np.arange(60) % 2), new)
    ways = [comb(7, k) * comb(73, 20 - k) for k in range(8)]
    wanted = sum(each for each in ways if each <= ways[4]) / comb(80, 20)
    assert found.p_value == [pytest.approx(wanted)]


def test_a_number_beyond_all_others_is_no_move_and_many_are():
    """The k largest of 400 and 40 rows are new with chance C(440 - k, 400) / C(440, 400)."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.random((400, 1)), axis=0)
    new = X[5::10].copy()
    for features in ("auto", "gaussian"):
        model = NaiveBayes(features).fit(X, np.arange(400) % 2)
        for k, moved in ((1, False), (4, True)):
            far = new.copy()
            far[:k] = 1.01
            found = drift(model, far)
            # A share of the risk is for numbers beyond the ends, half of that for each end.
            chance = comb(440 - k, 400) / comb(440, 400)
            assert found.p_value[0] <= 2 * chance / 0.05
            assert bool(found.moved) == moved


def test_a_constant_of_few_rows_may_vary():
    """Moments of a column that never varied in 50 rows: one other value in 20 is no move."""
    X, y = np.zeros((50, 1)), np.arange(50) % 2
    model = NaiveBayes("gaussian").fit(X, y)
    new = np.zeros((20, 1))
    assert not drift(model, new).moved
    new[0] = 1.0
    assert not drift(model, new).moved
    new[:5] = 1.0
    assert drift(model, new).moved == ["x0"]


def test_a_sensor_that_is_stuck_has_moved():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 1)), np.arange(100) % 2
    for features in ("auto", "gaussian"):
        model = NaiveBayes(features).fit(X, y)
        assert drift(model, np.full((40, 1), 0.1)).moved == ["x0"]
        assert not drift(model, np.full((1, 1), 0.1)).moved  # one row is equal to itself
        assert drift(model, np.full((1, 1), 0.1)).p_value == [1.0]
    rare = (np.arange(100) < 2).astype(float)[:, None]
    assert not drift(NaiveBayes("gaussian").fit(rare, y), np.zeros((40, 1))).moved


def test_clear_moves_of_many_levels_are_clear_among_many_columns():
    """Small p-values need no more splits than are drawn."""
    rng = np.random.default_rng(0)
    X, y = uniform_words(50, 300)(rng, 200), np.arange(200) % 2
    new = uniform_words(50, 300)(rng, 60)
    new[:, 7] = words(rng.integers(0, 12, 60))
    found = drift(NaiveBayes().fit(X, y), new)
    assert found.moved == ["x7"]
    assert found.p_value[0] < 1e-6
