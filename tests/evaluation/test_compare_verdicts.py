"""Tests of differences against scipy and printed tables, and the words made of them."""

import math
import re

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bayesieve import compare
from bayesieve.evaluation.compare import statistics
from comparisons import DEMSAR, NAMES, SETS, made, without_clocks

# -- tests against scipy and print ---------------------------------------------------------------


def test_demsars_table_gives_demsars_figures():
    found = made(DEMSAR, NAMES)
    assert {m: round(r, 3) for m, r in found.ranks.items()} == {
        "C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143,
    }  # fmt: skip
    printed = statistics.friedman(found.rank_table, ties=False)
    assert round(printed.chi2, 2) == 9.28
    assert round(printed.f, 2) == 3.69
    # His comparison of all: 1.25, that of C4.5 and C4.5+m+cf (1.18) is not enough; at 0.10 it is.
    assert round(found.critical_difference, 2) == 1.25
    assert found.groups == [("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")]
    assert round(found.by(alpha=0.1).critical_difference, 2) == 1.12
    assert found.by(alpha=0.1).groups == [("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5")]
    # Table 2: the signed-rank test of C4.5 and C4.5+m, T = 12.
    assert statistics.signed_rank(DEMSAR[:, 1] - DEMSAR[:, 0]).statistic == 12.0
    assert statistics.signed_rank(DEMSAR[:, 1] - DEMSAR[:, 0]).p < 0.05


def test_critical_values_of_nemenyi_as_printed():
    # Demsar (2006), table 5a.
    printed = {
        0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
        0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
    }
    for alpha, row in printed.items():
        for k, q in enumerate(row, 2):
            wanted = q * math.sqrt(k * (k + 1) / (6 * 20))
            assert statistics.critical_difference(k, 20, alpha) == pytest.approx(wanted, rel=5e-4)
    many = [statistics.critical_difference(k, 10) for k in (20, 50, 100)]
    assert all(np.isfinite(many))
    assert many == sorted(many)


def test_friedman_is_scipys_with_ties_and_without():
    rng = np.random.default_rng(0)
    for table in (rng.normal(size=(9, 5)), rng.integers(0, 3, (12, 4)).astype(float)):
        found = statistics.friedman(statistics.rank_rows(table))
        wanted = stats.friedmanchisquare(*table.T)
        assert found.chi2 == pytest.approx(wanted.statistic)
        assert found.p == pytest.approx(wanted.pvalue)
    assert statistics.friedman(np.full((4, 3), 2.0)).p == 1.0  # all equal
    same = statistics.friedman(np.tile([1.0, 2, 3], (5, 1)))  # all the same order
    assert same.f == math.inf
    assert same.f_p == 0.0


def test_signed_rank_is_scipys():
    rng = np.random.default_rng(2)
    for n in (5, 13, 30):
        apart = rng.normal(0.3, 1, n)
        wanted = stats.wilcoxon(apart, zero_method="zsplit")
        assert statistics.signed_rank(apart) == (wanted.statistic, wanted.pvalue)
    assert statistics.signed_rank(np.zeros(8)) == (0.0, 1.0)
    assert statistics.signed_rank(np.array([1e-17, 0.0, -1e-16])).p == 1.0


def test_corrected_t_by_its_formula():
    rng = np.random.default_rng(3)
    apart = rng.normal(0.01, 0.02, 15)
    mean, variance = apart.mean(), apart.var(ddof=1)
    t = mean / math.sqrt((1 / 15 + 20 / 80) * variance)
    found = statistics.corrected_t(apart, 80, 20)
    assert found.statistic == pytest.approx(t)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 14))
    # Without rows shared it is the plain paired test.
    plain = stats.ttest_1samp(apart, 0)
    assert statistics.corrected_t(apart, 1, 0).p == pytest.approx(plain.pvalue)
    assert statistics.corrected_t(np.full(5, 0.1), 80, 20).p == 0.0
    assert statistics.corrected_t(np.zeros(5), 80, 20).p == 1.0


def slow_holm(p_values):
    """Step down as Holm says: at which alpha would each be rejected?"""
    m, found = len(p_values), {}
    order = sorted(range(m), key=lambda i: p_values[i])
    for place, i in enumerate(order):
        found[i] = max(min(1.0, (m - j) * p_values[order[j]]) for j in range(place + 1))
    return [found[i] for i in range(m)]


def test_holm_against_its_definition():
    rng = np.random.default_rng(4)
    for m in (1, 2, 7):
        p_values = rng.random(m).tolist()
        assert statistics.holm(p_values) == pytest.approx(slow_holm(p_values))
    assert statistics.holm([]) == []
    # Demsar (2006), section 3.2.2: three methods against C4.5, p 0.016, 0.019 and 0.607.
    assert statistics.holm([0.016, 0.019, 0.607]) == pytest.approx([0.048, 0.048, 0.607])


def test_fewer_sets_than_needed_can_find_nothing():
    for pairs in (1, 3, 6, 28):
        for alpha in (0.05, 0.1):
            need = statistics.sets_needed(pairs, alpha)
            best = statistics.signed_rank(np.arange(1.0, need + 1)).p * pairs
            fewer = statistics.signed_rank(np.arange(1.0, need)).p * pairs
            assert best <= alpha + 1e-12 < fewer


# -- words ---------------------------------------------------------------------------------------


def test_the_answer_comes_first():
    rng = np.random.default_rng(5)
    table = np.column_stack([np.full(12, 0.9), np.full(12, 0.8)]) + rng.normal(0, 0.01, (12, 2))
    found = made(table, ("good", "bad"))
    assert str(found).startswith(
        "good is best by accuracy: average rank 1.00 of 2 methods on 12 sets. That is more than "
        "chance against bad (p 0.00049)."
    )
    near = table[:, 0] - np.resize([0.001, 0.001, -0.001], 12)
    worse = made(np.column_stack([table, near]), ("good", "bad", "twin"))
    said = r"more than chance against bad \(p 0.\d+\); it may be chance against twin \(p 0.\d+\)."
    assert re.search(said, worse.verdict)
    first = worse.versus[0]
    assert first.wins + first.ties + first.losses == 12
    assert "<b>" in found._repr_html_()
    assert found.verdict in found._repr_html_()
    assert made(table[:, [0, 0]], ("a", "b")).verdict == "All 2 methods are equal by accuracy."
    lower = made(table, ("good", "bad"), metric="log_loss")
    assert lower.verdict.startswith("bad is best by log-loss")
    assert lower.versus[0].wins == 12


def test_one_set_says_which_tests_are_not_possible():
    found = compare({"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=1)},
                    {"iris": SETS["iris"]}, seeds=2)  # fmt: skip
    text = str(found)
    assert text.startswith("bayes is best by accuracy on iris: 0.9567. That is more than chance")
    assert "Friedman's test and critical difference need several sets" in text
    assert found.friedman is None
    assert found.critical_difference is None
    one, other = found.values("bayes", "iris"), found.values("tree", "iris")
    wanted = statistics.corrected_t(one - other, 120, 30)
    assert (found.versus[0].statistic, found.versus[0].p) == wanted


def test_few_sets_say_how_many_are_needed_and_what_the_folds_say():
    rng = np.random.default_rng(6)
    noise = rng.normal(0, 0.01, (3, 5))
    found = made(np.array([[0.9, 0.5]] * 3), ("good", "bad"), 5, noise=noise)
    assert "3 sets are too few to test that: a signed-rank test of 2 methods" in found.verdict
    assert "needs 6. Within the sets" in found.verdict
    assert "more than chance better than bad on 3 of 3 (worse on 0)" in found.verdict


def test_ties_and_failures_in_ranks():
    table = [[0.9, 0.9, 0.8], [0.7, None, 0.8], [0.6, 0.5, 0.4]]
    found = made(table, ("a", "b", "c"))
    assert found.rank_table.tolist() == [[1.5, 1.5, 3], [2, 3, 1], [1, 2, 3]]
    a_b = next(each for each in found.versus if (each.one, each.other) == ("a", "b"))
    assert (a_b.wins, a_b.ties, a_b.losses) == (1, 1, 0)  # the failure is no loss of a score
    assert found.mean("b") is None
    assert "failed" in str(found)
    nothing = made([[None], [None]], ("a",))
    assert nothing.verdict == "No method has a score by accuracy: each failed or does not offer it."
    assert "Only a" in made([[0.5], [0.4]], ("a",)).verdict
    assert str(nothing)


class Fails(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        if X.shape[1] > 5:
            raise ArithmeticError("too many\n columns for me")
        self.inner_ = GaussianNB().fit(X, y)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


def test_a_method_that_fails_is_shown_and_the_others_go_on(tmp_path):
    sets = {name: SETS[name] for name in ("iris", "wine")}
    found = compare({"fails": Fails(), "bayes": GaussianNB()}, sets, seeds=1,
                    checkpoint=tmp_path / "file")  # fmt: skip
    said = "ArithmeticError: too many columns for me"
    assert found.failures == [("fails", "wine", 5, said)]
    assert f"fails failed on wine in 5 of 5 fits: {said}" in str(found)
    assert found.score("fails", "iris") == found.score("bayes", "iris")
    assert found.score("fails", "wine") is None
    assert found.score("fails", "iris", "log_loss") is None  # it has no predict_proba
    assert "-" in str(found.by("log_loss"))
    row = next(r for r in found.to_csv().splitlines() if r.startswith("fails,wine"))
    assert row.endswith(f"5,{said}")
    assert r"failed" in found.to_latex()
    again = compare({"fails": Fails(), "bayes": GaussianNB()}, sets, seeds=1,
                    checkpoint=tmp_path / "file")  # fmt: skip
    assert without_clocks(again) == without_clocks(found)
