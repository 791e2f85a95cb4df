"""Significance tests over data sets (Friedman, Wilcoxon) and over folds (corrected t).

After Demsar (2006), Statistical comparisons of classifiers over multiple data sets; Nadeau and
Bengio (2003), Inference for the generalization error; and Holm (1979), A simple sequentially
rejective multiple test procedure.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from ...models.base import Floats

# Decimals beyond which two means of the same folds are equal: sums of floats differ by their order.
_DECIMALS = 12


class Outcome(NamedTuple):
    """A statistic, and how probable one as far out is where nothing differs."""

    statistic: float
    p: float


class Friedman(NamedTuple):
    """Friedman's test over the ranks, and the sharper statistic of Iman and Davenport."""

    chi2: float
    p: float
    f: float
    f_p: float


def rank_rows(losses: Floats) -> Floats:
    """Ranks within each row, 1 for the lowest loss; equal ones share the mean of their ranks.

    Losses are data sets x methods, infinite where a method failed.

    Examples
    --------
    >>> rank_rows(np.array([[0.1, 0.3, 0.1]]))
    array([[1.5, 3. , 1.5]])
    """
    return np.asarray(stats.rankdata(np.round(losses, _DECIMALS), axis=1), dtype=np.float64)


def friedman(ranks: Floats, ties: bool = True) -> Friedman:
    """Friedman's test that all methods are equal, from their ranks (data sets x methods).

    `ties` corrects the statistic for equal ranks, as scipy does; Demsar's formula does not.

    Examples
    --------
    >>> friedman(np.array([[1.0, 2, 3], [1, 2, 3], [1, 3, 2], [2, 1, 3]])).chi2
    4.5
    """
    n, k = ranks.shape
    chi2 = 12 * n / (k * (k + 1)) * float(np.square(ranks.mean(0) - (k + 1) / 2).sum())
    if ties:
        counts = [np.unique(row, return_counts=True)[1] for row in ranks]
        lost = sum(float((each**3 - each).sum()) for each in counts)
        share = 1 - lost / (n * k * (k * k - 1))
        chi2 = chi2 / share if share > 0 else 0.0
    least = n * (k - 1) - chi2
    f = (n - 1) * chi2 / least if least > 1e-9 else math.inf
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return Friedman(chi2, float(stats.chi2.sf(chi2, k - 1)), f, f_p)


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """How far apart two average ranks must be to differ by more than chance (Nemenyi).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2), round(critical_difference(4, 14, 0.1), 2)
    (1.25, 1.12)
    """
    q = float(stats.studentized_range.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))


def rank_groups(ranks: Sequence[float], difference: float) -> list[tuple[int, ...]]:
    """Largest groups of methods whose average ranks lie within the critical difference.

    Examples
    --------
    >>> rank_groups([3.143, 2.0, 2.893, 1.964], 1.12)
    [(3, 1, 2), (2, 0)]
    """
    order = sorted(range(len(ranks)), key=lambda i: (ranks[i], i))
    found: list[tuple[int, ...]] = []
    end = 0
    for start, first in enumerate(order):
        group = tuple(i for i in order[start:] if ranks[i] - ranks[first] <= difference)
        if len(group) > 1 and start + len(group) > end:
            found.append(group)
            end = start + len(group)
    return found


def signed_rank(differences: Floats) -> Outcome:
    """Wilcoxon's signed-rank test over data sets; ranks of no difference are split in halves.

    Examples
    --------
    >>> signed_rank(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])).p
    0.03125
    """
    apart = np.round(differences, _DECIMALS)
    if not apart.any():
        return Outcome(0.0, 1.0)
    found = stats.wilcoxon(apart, zero_method="zsplit")
    return Outcome(float(found.statistic), float(found.pvalue))


def corrected_t(differences: Floats, n_train: float, n_test: float) -> Outcome:
    """Paired t-test over folds, its variance corrected for the training rows that folds share.

    Examples
    --------
    >>> round(corrected_t(np.array([0.02, 0.03, 0.01, 0.04, 0.02]), 80, 20).p, 4)
    0.0349
    """
    apart = np.round(differences, _DECIMALS)
    mean, n = float(apart.mean()), apart.size
    if not apart.any():
        return Outcome(0.0, 1.0)
    variance = (1 / n + n_test / n_train) * float(apart.var(ddof=1))
    t = mean / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, mean)
    return Outcome(t, float(2 * stats.t.sf(abs(t), n - 1)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Probabilities corrected for their number, so that they may be compared with alpha at once.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    found, above = [0.0] * len(p_values), 0.0
    for place, i in enumerate(order):
        above = max(above, min(1.0, (len(p_values) - place) * p_values[i]))
        found[i] = above
    return found


def sets_needed(n_pairs: int, alpha: float) -> int:
    """Sets below which the signed-rank test can find nothing, corrected for so many pairs.

    Examples
    --------
    >>> sets_needed(1, 0.05), sets_needed(3, 0.05)
    (6, 7)
    """
    return 1 + math.ceil(math.log2(n_pairs / alpha) - 1e-9)
