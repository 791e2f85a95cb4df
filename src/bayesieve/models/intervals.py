"""Continuous columns in intervals, each a level: for scorecards."""

from dataclasses import dataclass

import numpy as np

from ..checks import Array
from ..data.columns import MOST_CODES
from .base import Floats, Grid, Settings, Terms
from .counts import CountModel
from .cuts import mdl_borders

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

    def terms(self, statistics: Floats, values: Array, grid: Grid, settings: Settings) -> Terms:
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

    def _of_intervals(self, counts: Floats, starts: Array, settings: Settings) -> Terms:
        """Counts of joined codes, said for each of them: 1 x codes x classes."""
        n_codes = len(counts) - 1
        if not n_codes:
            return super().terms(counts[None], starts, Grid(), settings)
        joined = np.concatenate([np.add.reduceat(counts[:-1], starts), counts[-1:]])
        said = super().terms(joined[None], starts, Grid(), settings)
        sizes = np.diff(np.append(starts, n_codes))
        at = np.append(np.repeat(np.arange(starts.size), sizes), starts.size)
        never = said.impossible
        return Terms(said.finite[:, at], None if never is None else never[:, at])
