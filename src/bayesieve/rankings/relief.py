"""ReliefF: columns that differ between near rows of different classes (Kononenko 1994)."""

from dataclasses import dataclass

import numpy as np

from ..checks import Bools, Floats, Ints, check_number
from .base import MIXED, MixedColumns, RankingInput, RankingMethod

_BLOCK = 32  # rows whose sums are added up in one go, whatever the number of threads


@dataclass(frozen=True)
class ReliefF(RankingMethod):
    """Rank by how much farther the nearest rows of other classes are than those of the own class.

    Every row is compared with its k nearest rows of each class (sum of differences over columns,
    numbers scaled to a range of 1, 0 or 1 for nominal columns); misses of a class count by its
    share among the other classes.  A missing value differs from another by what is expected from
    the known values of its row's class.  Classes with fewer than k other rows use those they have.
    Weights of rows are not used.

    Parameters
    ----------
    k : int, default=10
        Neighbours in each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import rank
    >>> rank(*load_iris(return_X_y=True), "relieff").order
    array([3, 2, 0, 1])
    """

    k: int = 10
    reads = MIXED
    takes_weights = False

    def check(self) -> None:
        """Validate the parameter."""
        check_number("k", self.k, low=1, whole=True)

    def caution(self, name: str, n_rows: int) -> str | None:
        """A class with few rows has fewer neighbours to offer."""
        if n_rows > self.k:
            return None
        return (
            f"class {name!r} has {n_rows} row(s), not more than the k={self.k} neighbours asked "
            "for; it is compared by those it has."
        )

    def scores(self, given: RankingInput) -> Floats:
        """ReliefF's weight of each column."""
        from .kernels.relief import relief_blocks

        columns, labels, n_classes = given.columns, given.labels, given.n_classes
        values = _scaled(columns)
        gaps, expected, both = _expectations(values, columns.nominal, labels, n_classes)
        shares = np.bincount(labels, minlength=n_classes) / labels.size
        n_blocks = -(-labels.size // _BLOCK)
        out = np.empty((n_blocks, len(values)))
        nominal, k = columns.nominal, self.k

        def task(lo: int, hi: int) -> None:
            relief_blocks(
                values, nominal, gaps, expected, both, labels, shares, k, _BLOCK, lo, hi, out
            )

        given.engine.run(task, n_blocks, labels.size * values.size)
        scores = np.zeros(len(values))
        for part in out:
            scores += part
        return scores / labels.size


def _scaled(columns: MixedColumns) -> Floats:
    """Numbers with a range of 1; a constant column is 0 everywhere."""
    values = columns.values.copy()
    for column, nominal in zip(values, columns.nominal, strict=True):
        known = column[~np.isnan(column)]
        if nominal or not known.size:
            continue
        low, high = known.min(), known.max()
        if high > low:
            # Halves where the range of values near the float maximum would overflow.
            parts = 1 if np.isfinite(float(high) - float(low)) else 2
            column[:] = (column / parts - low / parts) / (high / parts - low / parts)
        else:
            column[~np.isnan(column)] = 0.0
    return values


def _expectations(
    values: Floats, nominal: Bools, labels: Ints, n: int
) -> tuple[Ints, Floats, Floats]:
    """What to expect where values are missing, from the known values of each class."""
    holes = np.flatnonzero(np.isnan(values).any(1))
    gaps = np.full(len(values), -1)
    gaps[holes] = np.arange(holes.size)
    expected = np.zeros((holes.size, n, labels.size))
    both = np.zeros((holes.size, n, n))
    for g, a in enumerate(holes):
        column = values[a]
        known = ~np.isnan(column)
        for c in range(n):
            # A class without any known value is expected to be like all rows together.
            mine = column[known & (labels == c)]
            mine = np.sort(mine if mine.size else column[known])
            expected[g, c] = _mean_gap(mine, column, bool(nominal[a]))
        for c in range(n):
            of_class = known & (labels == c)
            rows = of_class if of_class.any() else known
            both[g, c] = expected[g][:, rows].mean(1) if rows.any() else 0.0
    return gaps, np.nan_to_num(expected), both


def _mean_gap(theirs: Floats, column: Floats, nominal: bool) -> Floats:
    """Mean difference of each value of the column from all of theirs (sorted)."""
    if not theirs.size:
        return np.zeros(column.size)
    below = np.searchsorted(theirs, column, "left")
    upto = np.searchsorted(theirs, column, "right")
    if nominal:
        return 1 - (upto - below) / theirs.size
    sums = np.append(0.0, np.cumsum(theirs))
    left = column * upto - sums[upto]
    right = (sums[-1] - sums[upto]) - column * (theirs.size - upto)
    return (left + right) / theirs.size
