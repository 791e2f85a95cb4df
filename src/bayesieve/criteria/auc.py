"""Area under the ROC curve, averaged over labels, less a price for the number of features."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Criterion, Key, Runner, Units
from .strata import Strata

# Candidates whose scores differ by less are compared exactly.
_DOUBT = 1e-10


# Moved lines on one side that are compared with the other side one by one.
_FEW = 16


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

    def __init__(self, penalty: Callable[[int], Fraction] | None = None, undefined: str = "raise"):
        self.name = "auc" if penalty is None else "penalised-auc"
        self.penalty = penalty
        self.undefined = undefined

    def __repr__(self) -> str:
        return f"AUC(penalty={self.penalty!r}, undefined={self.undefined!r})"

    def scorer(self, book: Any, units: Units, engine: Runner) -> "_AUCScorer":
        """Concordant pairs from the moved lines alone."""
        return _AUCScorer(self, book, units, engine)


class _AUCScorer:
    """Integers of pairs; a mean over labels is compared as an exact fraction."""

    def __init__(self, criterion: AUC, book: Any, units: Units, engine: Runner):
        if not book.targets.odds:
            raise ValueError(
                f"criterion='{criterion.name}' needs two classes or a 0/1 matrix of labels; got "
                f"{book.targets.n_classes} classes. Give y as one 0/1 column a class."
            )
        self._book, self._engine = book, engine
        self._penalty = criterion.penalty
        self._units = units
        self._flat = units.flat()
        self._strata = Strata(book)
        self._weigh(criterion.undefined)

    def _weigh(self, undefined: str) -> None:
        """What one doubled pair of each stratum is worth, as integers over one denominator."""
        positive, negative = self._strata.totals()
        both = (positive > 0) & (negative > 0)
        if undefined == "raise" and not both.all():
            g, s = np.argwhere(~both)[0]
            kind = "positive" if positive[g, s] == 0 else "negative"
            where = "" if both.shape[1] == 1 else f" in fold {s}"
            raise ValueError(
                f"label {self._book.targets.names[g]!r} has no {kind} row{where} among those that "
                "are scored: its AUC is undefined. Leave the label out, use fewer folds, or "
                "criterion=AUC(undefined='skip')."
            )
        n_labels = int(both.any(1).sum())
        if not n_labels:
            raise ValueError("no label has both positive and negative rows: no AUC is defined.")
        shares = [
            [
                Fraction(1, 2 * int(positive[g, s]) * int(negative[g, s]) * int(both[g].sum()))
                / n_labels
                if both[g, s]
                else Fraction(0)
                for s in range(both.shape[1])
            ]
            for g in range(both.shape[0])
        ]
        self._unit = math.lcm(*(share.denominator for row in shares for share in row))
        self._worth = [int(share * self._unit) for row in shares for share in row]
        self._float_worth = np.array([float(share) for row in shares for share in row])

    def refresh(self) -> None:
        """The strata see for themselves what has moved."""

    def current(self) -> Key:
        """Exact loss of the ledger as it is."""
        return self._key(self._strata.pairs().ravel(), self._book.size)

    def what_if(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact loss after each unit alone has moved."""
        candidates = np.asarray(units, np.int64)
        return self._keys(self._scan(candidates, sign), candidates, sign)

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """Lowest exact loss; the lowest unit among equals."""
        candidates = np.asarray(units, np.int64)
        pairs = self._scan(candidates, sign)
        loss = -(pairs @ self._float_worth)
        if self._penalty is not None:
            prices = {n: float(self._penalty(n)) for n in set(self._sizes(candidates, sign))}
            loss = loss + [prices[n] for n in self._sizes(candidates, sign)]
        near = np.flatnonzero(loss <= loss.min() + _DOUBT)
        keys = self._keys(pairs[near], candidates[near], sign)
        at = min(range(near.size), key=lambda j: (keys[j], candidates[near[j]]))
        return int(candidates[near[at]]), keys[at]

    def value(self, key: Key) -> float:
        """The (penalised) mean AUC; with a price, 0 where that exceeds it."""
        value = float(-Fraction(key) / self._unit)
        return value if self._penalty is None else max(value, 0.0)

    def _sizes(self, candidates: NDArray[np.int64], sign: int) -> list[int]:
        members = self._units.members
        return [self._book.size + sign * len(members[unit]) for unit in candidates]

    def _keys(
        self, pairs: NDArray[np.int64], candidates: NDArray[np.int64], sign: int
    ) -> list[Key]:
        sizes = self._sizes(candidates, sign)
        return [self._key(row, size) for row, size in zip(pairs, sizes, strict=True)]

    def _key(self, pairs: NDArray[np.int64], size: int) -> Key:
        score: Any = sum(int(n) * worth for n, worth in zip(pairs, self._worth, strict=True))
        if self._penalty is not None:
            score -= self._penalty(size) * self._unit
        return -score

    def _scan(self, candidates: NDArray[np.int64], sign: int) -> NDArray[np.int64]:
        """Doubled pairs of every stratum after each candidate: candidates x strata."""
        from ..engine.kernels.pairs import scan_pairs

        book, strata = self._book, self._strata
        now = strata.pairs()
        out = np.empty((candidates.size, *now.shape), np.int64)
        pointers, members = self._flat

        def task(lo: int, hi: int) -> None:
            scan_pairs(
                book.ends, book.sets, book.line_weights, strata.distinct, strata.seats,
                strata.n_distinct, strata.negatives, strata.positives, book.pointers, book.lines,
                book.kinds, book.first, book.delta, pointers, members, candidates, sign, _FEW, lo,
                hi, out,
            )  # fmt: skip

        # An entry costs about as much as five cells of a dense scan.
        mean = book.lines.size / max(book.n_features, 1)
        self._engine.run(task, candidates.size, int(5 * candidates.size * mean * now.size))
        out += now
        return out.reshape(candidates.size, now.size)
