"""Criteria that add up over rows: error, error probability, log-likelihood."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..checks import Bools, choose
from ..engine.contract import Floats, Ints, Ledger
from .base import Criterion, Key, Rule


def line_values(name: str, sums: Ints, unit: float, classes: Ints) -> Floats:
    """What each line adds to the mean that is called `name`.

    Sums are integer scores, lines x classes, of `unit` nat.
    """
    if name == "error":
        return (sums.argmax(1) != classes).astype(np.float64)
    ahead = (sums - sums.max(1, keepdims=True)) * unit
    odds = np.exp(ahead)
    at = np.arange(classes.size), classes
    if name == "log-likelihood":
        return ahead[at] - np.log(odds.sum(1))
    own = odds[at]
    odds[at] = 0.0
    rest = odds.sum(1)
    return rest / (rest + own)


def auc_parts(scores: Ints, truth: Bools, weights: Ints) -> tuple[float, Floats]:
    """Area under the ROC curve, ties half; and each line's share in its chance error.

    The squares of the shares, times the weights, add up to the variance of DeLong, DeLong and
    Clarke-Pearson (1988).  A single positive or negative line has no spread: its share is 0.

    There must be lines of both kinds.
    """
    distinct, seat = np.unique(scores, return_inverse=True)
    totals, below = [], []
    for mine in (~truth, truth):
        counts = np.zeros(distinct.size, np.int64)
        np.add.at(counts, seat[mine], weights[mine])
        totals.append(int(counts.sum()))
        below.append(2 * np.cumsum(counts) - counts)  # doubled: those below, and half the equals
    negative, positive = totals
    # Doubled number of lines of the other kind that each line stands on the right side of.
    right = np.where(truth, below[0][seat], 2 * positive - below[1][seat])
    pairs = sum(int(w) * int(r) for w, r in zip(weights[truth], right[truth], strict=True))
    area = pairs / (2 * positive * negative)
    shares = np.zeros(scores.size)
    for mine, n, others in ((truth, positive, negative), (~truth, negative, positive)):
        if n > 1:
            shares[mine] = (right[mine] / (2 * others) - area) / math.sqrt(n * (n - 1))
    return area, shares


# -- Criteria that add up over lines ---------------------------------------------------------------


@dataclass(frozen=True)
class RowRule(Rule):
    """A weighted mean over lines, as integers by true class."""

    factors: tuple[int, ...] = ()  #: what a line of each class counts
    total: int = 1  #: what all lines count
    sign: int = 1  #: -1 where the value is reported with the other sign

    @cached_property
    def _float_factors(self) -> Floats:
        return np.array([float(factor) for factor in self.factors])

    @property
    def direct(self) -> bool:
        """Errors are counted as fast as anything else."""
        return self.kind == "error"

    def keys(self, cells: Ints, sizes: Ints) -> list[Key]:
        """One integer: losses by class times the class factors."""
        if all(factor == 1 for factor in self.factors):
            return [int(total) for total in cells.sum(1)]
        return [
            sum(factor * int(cell) for factor, cell in zip(self.factors, line, strict=True))
            for line in cells
        ]

    def near(self, cells: Ints, sizes: Ints) -> Ints:
        """Floats rule out most."""
        loss = cells @ self._float_factors
        return np.flatnonzero(loss <= loss.min() * (1 + 1e-9))

    def value(self, key: Key) -> float:
        """Mean over lines; the log-likelihood with its own sign."""
        return self.sign * math.ldexp(key / self.total, -self.bits)


class RowCriterion(Criterion):
    """The weighted mean over lines of a function of the line's scores.

    ``"error"`` is the share of wrong decisions; ``"probability"`` the mean of P(Y != y), the error
    as the model itself estimates it (Rabenoro 2015, section 4.2); ``"log-likelihood"`` the mean of
    log P(Y = y), reported as such (higher is better).  Without smoothing a line's class may be
    impossible; each log 0 then counts as some thousands of nat, more where there are more columns,
    which the other lines of a long table may outweigh: with ``smoothing=0`` prefer another one.

    Examples
    --------
    >>> from bayesieve.criteria import CRITERIA, RowCriterion
    >>> CRITERIA["probability"]
    RowCriterion('probability')
    """

    form = None

    def __init__(self, name: str):
        self.name = name
        self.greater_is_better = name == "log-likelihood"

    def __repr__(self) -> str:
        return f"RowCriterion({self.name!r})"

    def check(self) -> None:
        """Validate the parameter."""
        choose("criterion.name", self.name, ["error", "probability", "log-likelihood"])

    def check_classes(self, n_classes: int) -> None:
        """However many there are."""

    def rule(self, ledger: Ledger) -> RowRule:
        """Integers whose grain is the finest for which the sum over all lines fits."""
        outline, totals = ledger.outline, ledger.totals().sum((0, 1)).tolist()
        bits = 0
        if self.name != "error":
            largest = 1.0
            if self.name == "log-likelihood":
                largest = 2 * outline.bound + math.log(outline.n_classes)
            bits = min(40, 61 - math.ceil(math.log2(max(sum(totals) * largest, 1.0))))
        total = sum(a * n for a, n in zip(outline.factors, totals, strict=True))
        return RowRule(self.name, bits, outline.factors, total, -1 if self.greater_is_better else 1)

    def row_values(self, sums: Ints, unit: float, classes: Ints) -> Floats:
        """Wrong or not, P(Y != y), or log P(Y = y)."""
        return line_values(self.name, sums, unit, classes)
