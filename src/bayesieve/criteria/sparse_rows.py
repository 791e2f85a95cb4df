"""Error, probability and log-likelihood on sparse ledgers."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.kernels.options import LOG_LIKELIHOOD
from .base import Key, Runner, Units, grain_bits
from .strata import Strata


class SparseRowScorer:
    """The mean over lines (and labels) of a function of the line's scores, in integers.

    Two classes or labels: lines of one score are valued together, then the moved ones are put
    right.  More classes: one pass over the lines a candidate.
    """

    def __init__(self, kind: int, book: Any, units: Units, engine: Runner):
        self._kind, self._book, self._engine = kind, book, engine
        self._flat = units.flat()
        self._strata = Strata(book) if book.targets.odds else None
        weights = book.line_weights
        classes = book.targets.classes
        totals = [
            int(sum(int(weights[column == k].sum()) for column in classes.T))
            for k in range(book.n_classes)
        ]
        self._total = sum(a * n for a, n in zip(book.factors, totals, strict=True))
        self._bits = grain_bits(kind, book, sum(totals))

    def refresh(self) -> None:
        """The strata see for themselves what has moved."""

    def current(self) -> Key:
        """Exact loss of the ledger as it is."""
        return self.what_if([-1], 1)[0]

    def what_if(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact loss after each unit alone has moved."""
        candidates = np.asarray(units, np.int64)
        by_class = self._scan_classes if self._strata is None else self._scan_odds
        return [
            sum(int(n) * a for n, a in zip(row, self._book.factors, strict=True))
            for row in by_class(candidates, sign)
        ]

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """Lowest exact loss; the lowest unit among equals."""
        keys = self.what_if(units, sign)
        at = min(range(len(keys)), key=lambda j: (keys[j], units[j]))
        return int(units[at]), keys[at]

    def value(self, key: Key) -> float:
        """Mean over lines; the log-likelihood with its own sign."""
        mean = math.ldexp(key / self._total, -self._bits)
        return -mean if self._kind == LOG_LIKELIHOOD else mean

    def _scan_odds(self, candidates: NDArray[np.int64], sign: int) -> NDArray[np.int64]:
        from ..engine.kernels.odds import scan_odds

        book, strata = self._book, self._strata
        assert strata is not None
        strata.pairs()
        out = np.empty((candidates.size, book.sums.shape[0], 2), np.int64)
        pointers, members = self._flat

        def task(lo: int, hi: int) -> None:
            scan_odds(
                self._kind, book.ends, book.sets, book.line_weights, book.offset, strata.distinct,
                strata.seats, strata.n_distinct, strata.negatives, strata.positives, book.pointers,
                book.lines, book.kinds, book.first, book.base, book.delta, pointers, members,
                candidates, sign, book.scale.unit, 2.0**self._bits, lo, hi, out,
            )  # fmt: skip

        work = int(strata.n_distinct.sum()) + book.lines.size // max(book.n_features, 1)
        self._engine.run(task, candidates.size, 20 * candidates.size * work)
        return out.sum(1)

    def _scan_classes(self, candidates: NDArray[np.int64], sign: int) -> NDArray[np.int64]:
        from ..engine.kernels.odds import scan_classes

        book = self._book
        out = np.empty((candidates.size, book.n_classes), np.int64)
        labels = np.ascontiguousarray(book.targets.classes[:, 0])
        pointers, members = self._flat

        def task(lo: int, hi: int) -> None:
            scan_classes(
                self._kind, book.sums, book.sets, labels, book.line_weights, book.offset,
                book.pointers, book.lines, book.kinds, book.first, book.base, book.delta, pointers,
                members, candidates, sign, book.scale.unit, 2.0**self._bits, lo, hi, out,
            )  # fmt: skip

        self._engine.run(task, candidates.size, 10 * candidates.size * book.sums.size)
        return out
