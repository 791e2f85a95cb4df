"""Criteria that add up over lines: error, error probability, log-likelihood."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.kernels.options import ERROR, LOG_LIKELIHOOD, PROBABILITY
from .base import Book, Criterion, Key, Runner, Scorer, Units, grain_bits
from .sparse_rows import SparseRowScorer

_KINDS = {"error": ERROR, "probability": PROBABILITY, "log-likelihood": LOG_LIKELIHOOD}


_FLOAT32 = 2.0**-24


# Roundings of a line's value in a scan beside one a class: the posterior, the factors (each in
# numerator and denominator), a product, a quotient, a difference; and some to spare.
_ROUNDINGS = 12


class RowCriterion(Criterion):
    """The weighted mean over lines of a function of the line's scores.

    ``"error"`` is the share of wrong decisions; ``"probability"`` the mean of P(Y != y), the error
    as the model itself estimates it (Rabenoro 2015, section 4.2); ``"log-likelihood"`` the mean of
    log P(Y = y), reported as such (higher is better).  Without smoothing a line's class may be
    impossible; each log 0 then counts as a large finite number of nat, so that fewer are better.

    Examples
    --------
    >>> from bayesieve.criteria import CRITERIA, RowCriterion
    >>> CRITERIA["probability"]
    RowCriterion('probability')
    """

    form = None

    def __init__(self, name: str):
        self.name = name
        self.kind = _KINDS[name]

    def __repr__(self) -> str:
        return f"RowCriterion({self.name!r})"

    def scorer(self, book: Book, units: Units, engine: Runner) -> Scorer:
        """Fast scans that shortlist, integers that decide."""
        if book.form == "moves":
            return SparseRowScorer(self.kind, book, units, engine)
        return _RowScorer(self, book, units, engine)


class _RowScorer:
    """Shortlist by a fast scan where there is one, settle by integers, compare exactly."""

    def __init__(self, criterion: RowCriterion, book: Book, units: Units, engine: Runner):
        self._kind = criterion.kind
        self._book = book
        self._units = units
        self._engine = engine
        totals = book.lines.class_totals(book.n_classes)
        self._total = sum(a * n for a, n in zip(book.factors, totals, strict=True))
        self._bits = grain_bits(self._kind, book, sum(totals))
        self._float_factors = np.array([float(a) for a in book.factors])
        self._plain = all(a == 1 for a in book.factors)
        sizes = [len(members) for members in units.members]
        self._pointers = np.cumsum([0, *sizes]).astype(np.int64)
        flat = [f for members in units.members for f in members]
        self._slots = book.slots[flat]
        single = np.array(sizes) == 1
        first = book.slots[[members[0] for members in units.members]]
        self._first = first
        ok = book.linear_ok if self._kind != ERROR else book.slots >= 0
        self._fast = single & (first >= 0) & ok[[members[0] for members in units.members]]
        self._state: NDArray[Any] | None = None

    def refresh(self) -> None:
        """Forget what was derived from the sums."""
        self._state = None

    def current(self) -> Key:
        """Exact loss of the ledger as it is."""
        return self._keys(self._settle([-1], 1))[0]

    def what_if(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact loss after each unit alone has moved."""
        return self._keys(self._exact(np.asarray(units, np.int64), sign))

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """Lowest exact loss among the candidates that the scan cannot rule out."""
        candidates = np.asarray(units, np.int64)
        if self._kind == ERROR:
            sums = self._exact(candidates, sign)
            loss = sums @ self._float_factors
            near = np.flatnonzero(loss <= loss.min() * (1 + 1e-9))
            return self._first_lowest(candidates[near], self._keys(sums[near]))
        fast = self._fast[candidates]
        keep = np.ones(candidates.size, bool)
        if fast.sum() > 1:
            loss, doubt = self._scan(candidates[fast], sign)
            keep[fast] = loss <= loss.min() + 2 * doubt
        shortlist = candidates[keep]
        return self._first_lowest(shortlist, self._keys(self._settle(shortlist, sign)))

    def value(self, key: Key) -> float:
        """Mean over lines; the log-likelihood with its own sign."""
        mean = math.ldexp(key / self._total, -self._bits)
        return -mean if self._kind == LOG_LIKELIHOOD else mean

    @staticmethod
    def _first_lowest(units: NDArray[np.int64], keys: list[Key]) -> tuple[int, Key]:
        at = min(range(len(keys)), key=lambda j: (keys[j], units[j]))
        return int(units[at]), keys[at]

    def _keys(self, sums: NDArray[np.int64]) -> list[Key]:
        """One integer a candidate: losses by class times the class factors."""
        if self._plain:
            return [int(total) for total in sums.sum(1)]
        factors = self._book.factors
        return [sum(a * int(s) for a, s in zip(factors, row, strict=True)) for row in sums]

    def _exact(self, candidates: NDArray[np.int64], sign: int) -> NDArray[np.int64]:
        """Losses by class for any candidates, by the quickest exact way."""
        if self._kind != ERROR:
            return self._settle(candidates, sign)
        from ..engine.kernels.settle import count_errors

        book, lines = self._book, self._book.lines
        fast = self._fast[candidates]
        out = np.empty((candidates.size, book.n_classes), np.int64)
        if not fast.all():
            out[~fast] = self._settle(candidates[~fast], sign)
        chosen = candidates[fast]
        if chosen.size:
            found = np.empty((chosen.size, book.n_classes), np.int64)
            ahead = self._ahead()

            def task(lo: int, hi: int) -> None:
                count_errors(
                    ahead, lines.pieces, lines.sets, lines.tiles, lines.classes, lines.weights,
                    book.codes, book.n_codes, book.offsets, book.table, self._first, chosen, sign,
                    lo, hi, found,
                )  # fmt: skip

            self._engine.run(task, chosen.size, chosen.size * lines.rows.size)
            out[fast] = found
        return out

    def _ahead(self) -> NDArray[np.int64]:
        if self._state is None:
            from ..engine.kernels.ledger import margins

            book, lines = self._book, self._book.lines
            self._state = self._padded(np.int64)
            margins(book.sums, lines.pieces, lines.tiles, lines.classes, self._state)
        return self._state

    def _padded(self, dtype: Any) -> NDArray[Any]:
        """Room for classes x lines, as wide as the codes are; 1 where no line is."""
        return np.ones((self._book.n_classes, self._book.codes.shape[1]), dtype)

    def _posterior(self) -> NDArray[np.float32]:
        if self._state is None:
            from ..engine.kernels.ledger import posterior

            book = self._book
            self._state = self._padded(np.float32)
            posterior(book.sums, book.scale.unit, self._state)
        return self._state

    def _scan(self, candidates: NDArray[np.int64], sign: int) -> tuple[NDArray[np.float64], float]:
        """Approximate losses, and how far each may be from the truth."""
        from ..engine.kernels.ledger import log_own
        from ..engine.kernels.scan import scan

        book, lines = self._book, self._book.lines
        likelihood = self._kind == LOG_LIKELIHOOD
        post, linear = self._posterior(), book.linear[sign]
        weights = lines.weights.astype(np.float64)
        found = np.empty((candidates.size, book.n_classes))

        def task(lo: int, hi: int) -> None:
            scan(
                self._kind, post, lines.pieces, lines.sets, lines.tiles, lines.classes, weights,
                book.codes, book.n_codes, book.offsets, linear, self._first, candidates, lo, hi,
                found,
            )  # fmt: skip

        self._engine.run(task, candidates.size, candidates.size * lines.rows.size)
        loss = found @ self._float_factors
        doubt = self._total * (book.n_classes + _ROUNDINGS) * _FLOAT32
        if likelihood:
            base = np.empty(book.n_classes)
            log_own(
                book.sums,
                lines.pieces,
                lines.tiles,
                lines.classes,
                lines.weights,
                book.scale.unit,
                base,
            )
            loss = -(loss + base @ self._float_factors)
            doubt += 1e-11 * float(np.abs(base) @ self._float_factors)
        return loss, doubt

    def _settle(
        self, candidates: Sequence[int] | NDArray[np.int64], sign: int
    ) -> NDArray[np.int64]:
        """Losses by class from the integer ledger."""
        from ..engine.kernels.settle import settle

        book, lines = self._book, self._book.lines
        chosen = np.asarray(candidates, np.int64)
        out = np.empty((chosen.size, book.n_classes), np.int64)

        def call(
            slots: NDArray[np.int64],
            pointers: NDArray[np.int64],
            columns: NDArray[np.int64],
            which: NDArray[np.int64],
            lo: int,
            hi: int,
            found: NDArray[np.int64],
        ) -> None:
            settle(
                self._kind, book.sums, lines.pieces, lines.sets, lines.tiles, lines.classes,
                lines.weights, book.codes, book.n_codes, book.offsets, book.table, columns, slots,
                pointers, which, sign, book.scale.unit, 2.0**self._bits, lo, hi, found,
            )  # fmt: skip

        def task(lo: int, hi: int) -> None:
            if not book.lazy:
                call(self._slots, self._pointers, book.columns, chosen, lo, hi, out)
                return
            for j in range(lo, hi):
                members = self._units.members[chosen[j]] if chosen[j] >= 0 else ()
                slots, columns = book.gathered(members)
                pointers = np.array([0, len(members)])
                call(
                    slots, pointers, columns, np.minimum(chosen[j : j + 1], 0), 0, 1, out[j : j + 1]
                )

        # Exact values cost about ten scans.
        self._engine.run(task, chosen.size, 10 * chosen.size * lines.rows.size)
        return out
