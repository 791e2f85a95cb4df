"""Lines of a sparse ledger by score: what AUC and the row criteria of two classes read."""

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .kernels.arrays import StrataArrays

Ints = NDArray[np.int64]


# Beyond this share of moved lines, sorting anew is cheaper than merging.
_MERGE = 0.25


class Strata:
    """Lines of each problem and fold in ascending order of their scores, kept up to date.

    Parameters
    ----------
    classes : 0 or 1, lines x problems.
    weights : how often each line counts.
    ends : last line of each fold, plus one.
    """

    def __init__(self, classes: Ints, weights: Ints, ends: Ints):
        n_lines, n_groups = classes.shape
        room = n_lines + ends.size
        counts = np.int32 if int(weights.sum()) < 2**31 else np.int64
        self._truth = np.ascontiguousarray(classes.T.astype(np.uint8))
        self._order = np.tile(np.arange(n_lines, dtype=np.int32), (n_groups, 1))
        self.arrays = StrataArrays(
            ends,
            weights,
            np.zeros((n_groups, room), np.int64),
            np.zeros((n_lines, n_groups), np.int32),
            np.zeros((n_groups, ends.size), np.int64),
            np.zeros((n_groups, room), counts),
            np.zeros((n_groups, room), counts),
        )
        self._pairs = np.zeros((n_groups, ends.size), np.int64)
        self._begun = False

    def pairs(self, sums: Ints, moved: list[Array]) -> Ints:
        """Doubled number of concordant pairs as the sums are now: problems x folds.

        Parameters
        ----------
        sums : problems x lines.
        moved : lines that have moved since this was asked last; forgotten afterwards.
        """
        if moved or not self._begun:
            self._sort(sums, self._gone(moved))
            self._begun = True
            moved.clear()
        return self._pairs

    def _gone(self, moved: list[Array]) -> NDArray[np.bool_] | None:
        """Lines that have changed, or None where sorting anew is cheaper."""
        n_lines = self._order.shape[1]
        if not self._begun or sum(lines.size for lines in moved) >= _MERGE * n_lines:
            return None
        gone = np.zeros(n_lines, bool)
        for lines in moved:
            gone[lines] = True
        return gone

    def _sort(self, sums: Ints, gone: NDArray[np.bool_] | None) -> None:
        from .kernels.moves import merge_moved, tally

        found = self.arrays
        starts = np.append(0, found.ends[:-1])
        for g, scores in enumerate(sums):
            for s, (start, end) in enumerate(zip(starts, found.ends, strict=True)):
                order = self._order[g]
                if gone is not None:
                    moved = (start + np.flatnonzero(gone[start:end])).astype(np.int32)
                    moved = moved[np.argsort(scores[moved], kind="stable")]
                    merge_moved(order, gone, moved, scores, start, end)
                else:
                    mine = np.arange(start, end, dtype=np.int32)
                    order[start:end] = mine[np.argsort(scores[start:end], kind="stable")]
                found.n_distinct[g, s], self._pairs[g, s] = tally(
                    order,
                    scores,
                    self._truth[g],
                    found.weights,
                    start,
                    end,
                    start + s,
                    found.distinct[g],
                    found.seats[:, g],
                    found.negatives[g],
                    found.positives[g],
                )
