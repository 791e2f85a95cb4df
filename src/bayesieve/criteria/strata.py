"""Lines of a sparse ledger by score: what AUC and row criteria read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Beyond this share of moved lines, sorting anew is cheaper than merging.
_MERGE = 0.25


class Strata:
    """Lines of each label and table set in ascending order of their scores, kept up to date.

    Parameters
    ----------
    book : a sparse ledger of log-odds.
    """

    def __init__(self, book: Any):
        self._book = book
        n_groups, n_lines = book.sums.shape
        room = n_lines + book.ends.size
        most = int(book.line_weights.sum())
        counts = np.int32 if most < 2**31 else np.int64
        self._truth = np.ascontiguousarray(book.targets.classes.T.astype(np.uint8))
        self._order = np.tile(np.arange(n_lines, dtype=np.int32), (n_groups, 1))
        self.distinct = np.zeros((n_groups, room), np.int64)
        self.seats = np.zeros((n_lines, n_groups), np.int32)
        self.n_distinct = np.zeros((n_groups, book.ends.size), np.int64)
        self.negatives = np.zeros((n_groups, room), counts)
        self.positives = np.zeros((n_groups, room), counts)
        self._pairs = np.zeros((n_groups, book.ends.size), np.int64)
        self._begun = False

    def totals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Weight of positives and of negatives: labels x sets."""
        weights, sets, n_sets = self._book.line_weights, self._book.sets, self._book.ends.size
        whole = np.bincount(sets, weights, n_sets).astype(np.int64)
        positive = np.stack(
            [np.bincount(sets, weights * truth, n_sets).astype(np.int64) for truth in self._truth]
        )
        return positive, whole - positive

    def pairs(self) -> NDArray[np.int64]:
        """Doubled number of concordant pairs as the ledger is now: labels x sets."""
        if self._book.touched or not self._begun:
            self._sort()
            self._begun = True
            self._book.touched.clear()
        return self._pairs

    def _sort(self) -> None:
        from ..engine.kernels.moves import merge_moved, tally

        book = self._book
        features = set(book.touched)
        n_moved = sum(int(book.pointers[f + 1] - book.pointers[f]) for f in features)
        gone = np.zeros(book.sums.shape[1], bool)
        merge = self._begun and n_moved < _MERGE * gone.size
        if merge:
            for f in features:
                gone[book.lines[book.pointers[f] : book.pointers[f + 1]]] = True
        starts = np.append(0, book.ends[:-1])
        for g, scores in enumerate(book.sums):
            for s, (start, end) in enumerate(zip(starts, book.ends, strict=True)):
                order = self._order[g]
                if merge:
                    moved = (start + np.flatnonzero(gone[start:end])).astype(np.int32)
                    moved = moved[np.argsort(scores[moved], kind="stable")]
                    merge_moved(order, gone, moved, scores, start, end)
                else:
                    mine = np.arange(start, end, dtype=np.int32)
                    order[start:end] = mine[np.argsort(scores[start:end], kind="stable")]
                self.n_distinct[g, s], self._pairs[g, s] = tally(
                    order, scores, self._truth[g], book.line_weights, start, end, start + s,
                    self.distinct[g], self.seats[:, g], self.negatives[g], self.positives[g],
                )  # fmt: skip
