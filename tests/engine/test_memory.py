"""Many classes and labels: the memory they take, what is said beforehand, and the same answers."""

import math
import re
import tracemalloc

import numpy as np
import pytest

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, checks
from bayesieve.engine import layout as lines
from bayesieve.engine import weighted as cells
from bayesieve.engine.weighted import CODED, TWO
from bayesieve.models import counts as cuts
from bayesieve.models.base import one_set
from bayesieve.models.counts import left_out_priors
from bayesieve.search.term_pool import CodedColumns, CodedRows


def many_classes(n_rows, n_classes, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    centres = rng.normal(size=(n_classes, n_columns))
    return centres[y] + rng.normal(size=(n_rows, n_columns)), y


def little_memory(monkeypatch, n_bytes):
    """So many bytes are free, and even the smallest table is asked about."""
    monkeypatch.setattr(checks, "_LITTLE", 0)
    monkeypatch.setattr(checks, "free_memory", lambda: n_bytes)


def numbers_in(sentence):
    return [float(each) for each in re.findall(r"([\d.e+-]+) GB", str(sentence))]


# -- how much a fit takes --------------------------------------------------------------------------


def test_a_hundred_classes_take_tens_of_megabytes_as_foretold(monkeypatch):
    foretold = [0]
    monkeypatch.setattr(
        lines, "check_memory", lambda what, needed, instead: foretold.append(needed)
    )
    selector = NaiveBayesSelector(search="forward", max_features=2, choice="best", reweigh=False)
    selector.fit(*many_classes(60, 3, 2))  # compiled code and caches are not counted
    X, y = many_classes(400, 100, 12)
    tracemalloc.start()
    try:
        selector.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert selector.settings_["cv"] == "loo"
    # A table for each class would be 100 classes x 256 codes x 100 classes, twelve times over.
    assert peak < 12 * 100 * 256 * 100 * 8 / 4
    # Asked again when an eighth more is needed.
    assert peak / 2 < max(foretold) * 9 / 8 < 3 * peak


@pytest.mark.parametrize("cv", ["loo", 3])
@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood"])
def test_columns_kept_as_terms_give_the_same_path(monkeypatch, cv, criterion):
    X, y = many_classes(160, 12, 6)
    X[:, 3] = np.round(X[:, 3])
    X[::7, 1] = np.nan
    found = []
    for most in (lines.TABLE_BYTES, 0):
        monkeypatch.setattr(lines, "TABLE_BYTES", most)
        selector = NaiveBayesSelector(cv=cv, criterion=criterion, random_state=0).fit(X, y)
        found.append((selector.selected_.tolist(), repr(selector.path_.steps), selector.n_tried_))
    assert found[0] == found[1]


def test_scores_of_rows_left_out_follow_from_the_counts(monkeypatch):
    monkeypatch.setattr(lines, "TABLE_BYTES", 0)
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(6), 4)
    X = (rng.integers(0, 3, (24, 3)) + (y[:, None] % 3)) % 4
    estimator = NaiveBayes(features="categorical")
    selector = NaiveBayesSelector(
        estimator, search="forward", cv="loo", criterion="probability", choice="best"
    ).fit(X, y)
    step = selector.path_.steps[-1]
    columns = selector.path_.subset(len(selector.path_.steps) - 1)
    wrong = 0.0
    for i in range(y.size):
        others = np.arange(y.size) != i
        scores = []
        for k in range(6):
            mine = others & (y == k)
            score = math.log(mine.sum() / others.sum())
            for j in columns:
                levels = np.unique(X[:, j])
                if not (X[others, j] == X[i, j]).any():
                    continue  # nobody else knows the level: it says nothing
                same = (X[mine, j] == X[i, j]).sum()
                score += math.log((same + 1) / (mine.sum() + levels.size))
            scores.append(score)
        chances = np.exp(np.array(scores) - max(scores))
        wrong += 1 - chances[y[i]] / chances.sum()
    assert step.score == pytest.approx(wrong / y.size, abs=1e-9)


# -- what would not fit ----------------------------------------------------------------------------


def test_classes_that_do_not_fit_are_refused_with_both_numbers(monkeypatch):
    X, y = many_classes(400, 100, 12)
    little_memory(monkeypatch, 5_000_000)
    with pytest.raises(MemoryError, match=r"100 classes need .* GB of memory.*join rare") as caught:
        NaiveBayesSelector().fit(X, y)
    needed, free = numbers_in(caught.value)
    assert needed > free == 0.005


def test_labels_that_do_not_fit_are_refused_before_they_are_counted(monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.random((40, 300)) < 0.3).astype(float)
    Y = np.tile([[0, 1], [1, 0]], (20, 100))
    little_memory(monkeypatch, 100_000_000)
    with pytest.raises(MemoryError, match=r"300 columns for 200 labels need .*fewer") as caught:
        NaiveBayesSelector().fit(X, Y)
    needed, free = numbers_in(caught.value)
    # Folds x columns x codes x classes of labels, 8 bytes each, at least once.
    assert needed > 10 * 300 * 3 * 400 * 8 / 1e9
    assert free == 0.1


def test_where_nobody_tells_the_memory_nothing_is_refused(monkeypatch):
    little_memory(monkeypatch, None)
    X, y = many_classes(60, 8, 3)
    assert NaiveBayesSelector().fit(X, y).selected_.size


def test_free_memory_is_the_least_of_machine_group_and_limit(monkeypatch):
    files = {
        "/proc/meminfo": ["MemTotal: 900 kB", "MemAvailable: 800 kB"],
        "/proc/self/cgroup": ["0::/one/two"],
        "/sys/fs/cgroup/one/memory.max": ["1000000"],
        "/sys/fs/cgroup/one/memory.current": ["700000"],
        "/sys/fs/cgroup/one/memory.stat": ["anon 5", "inactive_file 100000"],
        "/sys/fs/cgroup/one/two/memory.max": ["max"],
        "/sys/fs/cgroup/one/two/memory.current": ["600000"],
    }
    monkeypatch.setattr(checks, "_lines_of", lambda path: files.get(str(path), []))
    assert checks.free_memory() == 400_000
    files["/sys/fs/cgroup/one/memory.max"] = ["max"]
    assert checks.free_memory() == 800 * 1024
    files["/proc/self/cgroup"] = ["4:memory:/mine", "3:cpu:/"]
    files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = ["50000"]
    files["/sys/fs/cgroup/memory/memory.usage_in_bytes"] = ["60000"]
    assert checks.free_memory() == 0
    files.clear()
    assert checks.free_memory() is None or checks.free_memory() > 0


# -- parts that were made smaller ------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 3.0, 1.0]])
def test_priors_of_rows_left_out_are_logarithms_of_shares(weights):
    y = np.repeat(np.arange(4), [1, 2, 7, 300])
    weight = np.ones(4) if weights is None else np.array(weights)
    found = left_out_priors(one_set(y, np.ones(y.size), weight), None)
    for own in range(4):
        counts = (np.bincount(y) - (np.arange(4) == own)) * weight
        with np.errstate(divide="ignore"):
            expected = np.log(counts / counts.sum())
        never = counts == 0
        assert (found.impossible[own] == never).all()
        assert found.finite[own, ~never] == pytest.approx(expected[~never], abs=1e-11)


def test_cuts_do_not_hang_on_how_many_counts_are_looked_at_together(monkeypatch):
    X, y = many_classes(300, 5, 6)
    whole = [cuts.mdl_cuts(column, y, 5) for column in X.T]
    monkeypatch.setattr(cuts, "_CELLS", 20)
    assert sum(each.size for each in whole)
    for column, expected in zip(X.T, whole, strict=True):
        assert cuts.mdl_cuts(column, y, 5).tolist() == expected.tolist()


def test_columns_of_two_values_are_counted_some_at_a_time(monkeypatch):
    monkeypatch.setattr(cells, "_STACKED", 100)
    rng = np.random.default_rng(0)
    kinds = np.array([TWO, CODED, TWO, TWO, TWO])
    codes = tuple(rng.integers(0, 3 if kind == CODED else 2, 30).astype(np.uint8) for kind in kinds)
    X = np.column_stack(codes).astype(float)
    specs = NaiveBayes(features="categorical").fit(X, np.arange(30) % 3).fitted_.problems[0]
    columns = CodedColumns(tuple(specs.summary.specs), kinds, codes, 30)
    rows, labels = np.arange(0, 30, 2), rng.integers(0, 3, 15)
    weights = rng.integers(1, 4, 15)
    told = CodedRows(columns, rows, labels, weights, np.arange(3), np.ones(3))
    for j, counts in enumerate(columns.statistics(told)):
        for code in range(counts.shape[1]):
            for k in range(3):
                mine = (codes[j][rows] == code) & (labels == k)
                assert counts[0, code, k] == weights[mine].sum()


def test_wide_tables_of_zeros_and_ones_are_weighed_as_before(monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 120)
    X = (rng.random((120, 40)) < 0.2 + 0.2 * (y[:, None] == np.arange(40) % 3)).astype(np.uint8)
    found = []
    for most in (cells._STACKED, 500):
        monkeypatch.setattr(cells, "_STACKED", most)
        model = WeightedNaiveBayes(random_state=0).fit(X, y)
        found.append((list(model.selected_), model.predict_proba(X).tobytes()))
    assert found[0] == found[1]
    assert found[0][0]
