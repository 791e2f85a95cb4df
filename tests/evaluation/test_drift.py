"""Rows unlike anything seen, and columns that moved."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, decide, drift, novelty
from bayesieve.datasets import make_signals
from bayesieve.estimators.held import rows_of
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


MAKERS = {
    "grid": lambda: NaiveBayes(),
    "gaussian": lambda: NaiveBayes("auto", var_smoothing=1e-9),
    "intervals": lambda: NaiveBayes({"size": "intervals", "weight": "intervals-8"}),
    "mixture": lambda: NaiveBayes({"size": "mixture-2", "weight": "gaussian-pooled"}),
    "selector": lambda: NaiveBayesSelector(
        search="forward", cv="train", n_features=3, validation=0.5, random_state=0
    ),
    "weighted": lambda: WeightedNaiveBayes(),
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


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_moves_by_chance_and_what_moves_is_named(name):
    false, missed = 0, 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        model = MAKERS[name]().fit(*mixed(rng, 400))
        false += bool(drift(model, mixed(rng, 400)[0]).moved)
        moved = mixed(rng, 400)[0]
        moved["weight"] += 2.0
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
