"""Numbers in intervals, each a level: cuts by minimum description length, for scorecards."""

from dataclasses import dataclass

import numpy as np

from ..checks import Array, Ints
from ..data.columns import MOST_CODES
from .base import ColumnTerms, Floats, Grid, ModelSettings, Support, Terms
from .counts import CountModel

# Counts looked at together: as many as stay in the cache.
_CELLS = 1 << 16


def mdl_cuts(values: Floats, labels: Ints, n_classes: int, weights: Floats | None = None) -> Floats:
    """Cuts that each pay for themselves, by recursive entropy minimisation.

    Parameters
    ----------
    values : ndarray
        A continuous column; NaN is left out.
    labels : ndarray of int
        Class index of every row.
    n_classes : int
        Number of classes.
    weights : ndarray, optional
        How many rows each row stands for.

    Returns
    -------
    cuts : ndarray
        Ascending; a value belongs to bin ``searchsorted(cuts, value)``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.intervals import mdl_cuts
    >>> mdl_cuts(np.arange(20.0), np.repeat([0, 1], 10), 2)
    array([9.5])
    """
    known = ~np.isnan(values)
    values, labels = values[known], labels[known]
    weights = np.ones(values.size) if weights is None else weights[known]
    distinct, at = np.unique(values, return_inverse=True)
    counts = np.zeros((distinct.size, n_classes))
    np.add.at(counts, (at, labels), weights)
    at = mdl_borders(counts)
    return distinct[at - 1] / 2 + distinct[at] / 2


def mdl_borders(counts: Floats) -> Ints:
    """Cuts of values that are counted: the first value after each cut, ascending.

    Parameters
    ----------
    counts : ndarray
        Weight of the rows, ascending values x classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.intervals import mdl_borders
    >>> mdl_borders(np.repeat([[2.0, 0.0], [0.0, 2.0]], 5, axis=0))
    array([5])
    """
    found: list[int] = []
    parts = [(0, len(counts))]
    while parts:
        start, end = parts.pop()
        cut = _best_cut(counts[start:end])
        if cut is not None:
            middle = start + cut
            found.append(middle)
            parts += [(start, middle), (middle, end)]
    return np.array(sorted(found), np.int64)


def _best_cut(counts: Floats) -> int | None:
    """Where to cut a run of distinct values (class counts, values x classes), or None."""
    if counts.shape[0] < 2:
        return None
    total = counts.sum(0)
    best, at, n = np.inf, 0, 0.0
    of_parts, parts = (0.0, 0.0), (total, total)
    before, step = np.zeros_like(total), max(_CELLS // total.size, 1)
    for lo in range(0, len(counts) - 1, step):
        left = np.vstack([before, counts[lo : min(lo + step, len(counts) - 1)]]).cumsum(0)[1:]
        right = total - left
        n_left, n_right = left.sum(1), right.sum(1)
        n = n or n_left[0] + n_right[0]
        of_left, of_right = _entropy(left), _entropy(right)
        mixed = (n_left * of_left + n_right * of_right) / n
        here = int(np.argmin(mixed))
        if mixed[here] < best:
            best, at = mixed[here], lo + here
            of_parts, parts = (of_left[here], of_right[here]), (left[here], right[here])
        before = left[-1]
    whole = float(_entropy(total[None])[0])
    classes = [int((part > 0).sum()) for part in (total, *parts)]
    # What the cut gains must exceed the price of telling where it is and what the parts hold.
    # log2(3^k - 2), in a form that does not overflow.
    k = classes[0]
    extra = (
        k * np.log2(3.0)
        + np.log2(1.0 - 2.0 * 3.0**-k)
        - (classes[0] * whole - classes[1] * of_parts[0] - classes[2] * of_parts[1])
    )
    if whole - best <= (np.log2(max(n - 1, 1)) + extra) / n:
        return None
    return at + 1


def _entropy(counts: Floats) -> Floats:
    """Entropy in bits of each row of counts."""
    share = counts / np.maximum(counts.sum(1, keepdims=True), np.finfo(float).tiny)
    logs = np.log2(np.where(share > 0, share, 1.0))
    return -(share * logs).sum(1)


# -- Continuous columns in intervals, each a level -------------------------------------------------


#: Intervals of equally many rows: from so many, to so many.
FEWEST_INTERVALS, MOST_INTERVALS = 2, 32


@dataclass(frozen=True)
class IntervalModel(CountModel):
    """Intervals that pay for themselves (minimum description length, Fayyad and Irani 1993).

    Cuts lie between codes of an unsupervised grid and are found anew in each training set.  They
    have seen the class of every row, so that no row can be taken out afterwards.
    """

    grid_codes: int = MOST_CODES
    leaves_one_out: bool = False

    def terms(
        self, statistics: Floats, values: Array, grid: Grid, settings: ModelSettings
    ) -> Terms:
        """Log-share of each code's interval; `values` and `grid` are not needed."""
        parts = []
        for counts in statistics:
            starts = np.append(0, mdl_borders(counts[:-1] * settings.class_weight))
            parts.append(self._of_intervals(counts, starts, settings))
        finite = np.concatenate([part.finite for part in parts])
        if all(part.impossible is None for part in parts):
            return Terms(finite)
        never = [
            np.zeros(part.finite.shape, bool) if part.impossible is None else part.impossible
            for part in parts
        ]
        return Terms(finite, np.concatenate(never))

    def support(self, speaker: ColumnTerms, values: Array) -> Support:
        """The rows of each code's interval."""
        seen, settings = speaker.statistics[0, :-1], speaker.settings
        if not len(seen):
            return super().support(speaker, values)
        starts = np.append(0, mdl_borders(seen * settings.class_weight))
        joined = ColumnTerms(self, np.add.reduceat(seen, starts), speaker.grid, settings)
        padded = np.pad(joined.statistics, ((0, 1), (0, 0)))[None]
        found = super().support(joined._replace(statistics=padded), values)
        sizes = np.diff(np.append(starts, len(seen)))
        at = np.append(np.repeat(np.arange(starts.size), sizes), starts.size)
        return Support(found.point[at], found.rows[at], found.prior[at], found.whole)

    def _of_intervals(self, counts: Floats, starts: Array, settings: ModelSettings) -> Terms:
        """Counts of joined codes, said for each of them: 1 x codes x classes."""
        n_codes = len(counts) - 1
        if not n_codes:
            return super().terms(counts[None], starts, Grid(), settings)
        joined = np.concatenate([np.add.reduceat(counts[:-1], starts), counts[-1:]])
        terms = super().terms(joined[None], starts, Grid(), settings)
        sizes = np.diff(np.append(starts, n_codes))
        at = np.append(np.repeat(np.arange(starts.size), sizes), starts.size)
        never = terms.impossible
        return Terms(terms.finite[:, at], None if never is None else never[:, at])
