"""Ranking by the weights of the linear form (Guyon 2005)."""

from dataclasses import dataclass

import numpy as np

from ..checks import Bools, Floats
from ..engine.threads import Engine
from .base import MIXED, MixedColumns, RankingInput, RankingMethod


@dataclass(frozen=True)
class Weights(RankingMethod):
    """Rank by ``|w|``, the weight of a column in the linear discriminant of naive Bayes.

    Binary columns: the log-ratio of the odds of a 1 in both classes, with frequencies smoothed
    towards their mean over all binary columns; for a column of several levels, the range of its
    log-ratios.  Continuous columns, scaled to a standard deviation of 1 first, since ``|w|``
    depends on units: the difference of the class means over the pooled variance.  With several
    classes, the largest ``|w|`` of one class against the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import rank
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rank(X, y, "weights").order[0]
    np.int64(27)
    """

    reads = MIXED

    def scores(self, given: RankingInput) -> Floats:
        """The largest ``|w|`` of each column."""
        labels, n_classes = given.labels, given.n_classes
        problems = [labels == 1] if n_classes == 2 else [labels == k for k in range(n_classes)]
        return np.max([self._of(given.columns, mine, given.engine) for mine in problems], axis=0)

    def _of(self, columns: MixedColumns, mine: Bools, engine: Engine) -> Floats:
        """|w| of every column for one class against the rest."""
        nominal = np.flatnonzero(columns.nominal)
        counts = [np.empty((2, 0))] * nominal.size

        def count(lo: int, hi: int) -> None:
            for at in range(lo, hi):
                counts[at] = _counts(columns, int(nominal[at]), mine)

        engine.run(count, nominal.size, nominal.size * mine.size)
        means = _mean_share([found for found in counts if found.shape[1] == 2])
        scores = np.zeros(columns.n_columns)
        for a, found in zip(nominal.tolist(), counts, strict=True):
            scores[a] = _log_ratio(found, means)
        numbers = np.flatnonzero(~columns.nominal)

        def scale(lo: int, hi: int) -> None:
            for a in numbers[lo:hi]:
                scores[a] = _gaussian(columns.values[a], columns.weights, mine)

        # Sorting makes a cell dearer than counting it.
        engine.run(scale, numbers.size, 10 * numbers.size * mine.size)
        return scores


def _log_ratio(counts: Floats, means: Floats) -> float:
    """Range of the log-ratios of smoothed frequencies, from counts of the rest and the class."""
    if (counts.sum(0) > 0).sum() < 2:
        return 0.0  # a constant says nothing, whatever the smoothing
    pseudo = np.full(counts.shape, 1.0 / counts.shape[1])
    if counts.shape[1] == 2:
        pseudo = np.column_stack([1 - means, means])
    share = (counts + pseudo) / (counts.sum(1, keepdims=True) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(share[1]) - np.log(share[0])
    finite = ratio[np.isfinite(ratio)]
    return float(np.ptp(finite)) if finite.size else 0.0


def _counts(columns: MixedColumns, a: int, mine: Bools) -> Floats:
    """Weight of each level in the rest and in the class: 2 x levels."""
    from .kernels.counts import count_levels

    counts = np.zeros((2, max(columns.specs[a].n_codes - 1, 1)))
    count_levels(columns.values[a], mine, columns.weights, counts)
    return counts


def _mean_share(counts: list[Floats]) -> Floats:
    """Mean over binary columns of the share of ones, in the rest and in the class."""
    if not counts:
        return np.full(2, 0.5)
    stacked = np.stack(counts)
    total = stacked.sum(2)
    share = np.divide(stacked[..., 1], total, out=np.zeros_like(total), where=total > 0)
    return share.mean(0)


def _gaussian(values: Floats, weights: Floats, mine: Bools) -> float:
    """|w| of a column scaled to a standard deviation of 1."""
    known = ~np.isnan(values)
    if not known.any() or values[known].min() == values[known].max():
        return 0.0
    x, w, mine = values[known], weights[known], mine[known]
    x = (x / 2 - x.min() / 2) / (x.max() / 2 - x.min() / 2)
    if not mine.any() or mine.all():
        return 0.0
    means = [np.average(x[part], weights=w[part]) for part in (~mine, mine)]
    within = (w * (x - np.where(mine, means[1], means[0])) ** 2).sum() / w.sum()
    spread = np.sqrt(np.average((x - np.average(x, weights=w)) ** 2, weights=w))
    floor = np.square(1.0 / max(np.unique(x).size - 1, 1) / 6)
    return float(abs(means[1] - means[0]) / max(within, floor) * spread)
