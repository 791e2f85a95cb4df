"""Area under the ROC curve, averaged over labels, less a penalty on the number of features."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..checks import Bools, check_callable, check_flag, check_number, choose
from ..engine.contract import Floats, Ints, Ledger, Outline, Scores
from .base import Criterion, Key, Rule

# Candidates whose scores differ by less are compared exactly.
_DOUBT = 1e-10


@dataclass(frozen=True)
class SizePenalty:
    """((n - free) / scale)^2 for n features beyond `free` (eq. 1 of Ruta 2014).

    Parameters
    ----------
    free : int, default=30
        So many features cost nothing.
    scale : int, default=1000
        Features beyond `free` at which the price reaches 1.
    as_printed : bool, default=False
        Punish fewer than `free` features too, as the formula in the paper does.

    Examples
    --------
    >>> from bayesieve.criteria import SizePenalty
    >>> float(SizePenalty()(130)), float(SizePenalty()(10))
    (0.01, 0.0)
    """

    free: int = 30
    scale: int = 1000
    as_printed: bool = False

    def __call__(self, n_features: int) -> Fraction:
        """The price of so many features."""
        beyond = n_features - self.free
        if beyond < 0 and not self.as_printed:
            return Fraction(0)
        return Fraction(beyond, self.scale) ** 2

    def check(self) -> None:
        """Validate the parameters."""
        check_number("criterion.penalty.free", self.free, low=0, whole=True)
        check_number("criterion.penalty.scale", self.scale, low=1, whole=True)
        check_flag("criterion.penalty.as_printed", self.as_printed)


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


class AUC(Criterion):
    """Mean over labels of the area under the ROC curve of the naive Bayes score; ties count half.

    With folds, the area is taken within each fold and averaged (a label's folds first, then the
    labels).  With two classes there is one label, the second class.

    Parameters
    ----------
    penalty : callable, optional
        The price of n features as a `fractions.Fraction` (or a whole number); the score is then
        max(0, AUC - price).  Searches compare AUC - price, so that they find their way back from
        subsets that cost more than they are worth.  ``"penalised-auc"`` stands for
        ``AUC(SizePenalty())``.
    undefined : {"raise", "skip"}, default="raise"
        What to do with a label that has no positives or no negatives, in all or in one fold.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayesSelector
    >>> X = np.array([[0, 1], [0, 0], [1, 1], [1, 0]] * 3)
    >>> y = np.array([0, 0, 1, 1] * 3)
    >>> selector = NaiveBayesSelector(criterion="auc", validation=None).fit(X, y)
    >>> selector.path_.steps[selector.path_.chosen].score
    1.0
    """

    form = "moves"
    chooses = True
    greater_is_better = True

    def __init__(self, penalty: Callable[[int], Fraction] | None = None, undefined: str = "raise"):
        self.name = "auc" if penalty is None else "penalised-auc"
        self.penalty = penalty
        self.undefined = undefined

    def __repr__(self) -> str:
        return f"AUC(penalty={self.penalty!r}, undefined={self.undefined!r})"

    def check(self) -> None:
        """Validate the parameters."""
        choose("criterion.undefined", self.undefined, ["raise", "skip"])
        if self.penalty is not None:
            check_callable("criterion.penalty", self.penalty)
        if isinstance(self.penalty, SizePenalty):
            self.penalty.check()

    def check_classes(self, n_classes: int) -> None:
        """Two classes, or labels."""
        if n_classes != 2:
            raise ValueError(
                f"criterion='{self.name}' needs two classes or a 0/1 matrix of labels; got "
                f"{n_classes} classes. Give y as one 0/1 column a class."
            )

    def rule(self, ledger: Ledger) -> "PairRule":
        """What one doubled pair of each problem and fold is worth, over one denominator."""
        self.check_classes(ledger.outline.n_classes)
        totals = ledger.totals()
        both: Bools = np.asarray((totals > 0).all(2))
        if self.undefined == "raise" and not both.all():
            g, s = np.argwhere(~both)[0]
            kind = "positive" if totals[g, s, 1] == 0 else "negative"
            where = "" if both.shape[1] == 1 else f" in fold {s}"
            raise ValueError(
                f"label {ledger.outline.labels[g]!r} has no {kind} row{where} among those that "
                "are scored: its AUC is undefined. Leave the label out, use fewer folds, or "
                "criterion=AUC(undefined='skip')."
            )
        n_labels = int(both.any(1).sum())
        if not n_labels:
            raise ValueError("no label has both positive and negative rows: no AUC is defined.")
        shares = [
            Fraction(1, 2 * int(totals[g, s].prod()) * int(both[g].sum()) * n_labels)
            if both[g, s]
            else Fraction(0)
            for g, s in np.ndindex(both.shape)
        ]
        return PairRule("pairs", 0, tuple(shares), self.penalty)

    @property
    def knows_shares(self) -> bool:
        """DeLong's."""
        return True

    def shares(self, found: Scores, outline: Outline) -> Floats:
        """How much each line moves the mean over labels of the mean AUC over folds."""
        by_label = []
        for sums, truth in zip(found.sums, found.classes.astype(bool), strict=True):
            scores = sums[:, 1] - sums[:, 0]
            shares, n_folds = np.zeros(scores.size), 0
            for fold in np.unique(found.sets):
                mine = np.flatnonzero(found.sets == fold)
                if truth[mine].any() and not truth[mine].all():
                    parts = auc_parts(scores[mine], truth[mine], found.weights[mine])
                    shares[mine] = parts[1]
                    n_folds += 1
            if n_folds:
                by_label.append(shares / n_folds)
        return np.mean(by_label, axis=0)


@dataclass(frozen=True)
class PairRule(Rule):
    """Doubled concordant pairs; a mean over labels and folds is compared as an exact fraction."""

    #: what one doubled pair of each problem and fold adds to the mean
    shares: tuple[Fraction, ...] = ()
    penalty: Callable[[int], Fraction] | None = None  #: the price of n columns, or None

    @cached_property
    def _unit(self) -> int:
        return math.lcm(*(share.denominator for share in self.shares))

    @cached_property
    def _worth(self) -> list[int]:
        return [int(share * self._unit) for share in self.shares]

    @cached_property
    def _float_shares(self) -> Floats:
        return np.array([float(share) for share in self.shares])

    def keys(self, cells: Ints, sizes: Ints) -> list[Key]:
        """Whole numbers, or fractions where there is a price."""
        found: list[Key] = []
        for line, size in zip(cells, sizes.tolist(), strict=True):
            score: Key = sum(int(n) * worth for n, worth in zip(line, self._worth, strict=True))
            if self.penalty is not None:
                score -= self.penalty(size) * self._unit
            found.append(-score)
        return found

    def near(self, cells: Ints, sizes: Ints) -> Ints:
        """Floats rule out most."""
        loss = -(cells @ self._float_shares)
        if self.penalty is not None:
            prices = {n: float(self.penalty(n)) for n in set(sizes.tolist())}
            loss = loss + [prices[n] for n in sizes.tolist()]
        return np.flatnonzero(loss <= loss.min() + _DOUBT)

    def value(self, key: Key) -> float:
        """The (penalised) mean AUC; with a price, 0 where that exceeds it."""
        value = float(-Fraction(key) / self._unit)
        return value if self.penalty is None else max(value, 0.0)
