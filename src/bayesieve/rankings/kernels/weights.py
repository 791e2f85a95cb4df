"""Counts of a column's levels."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT


@njit(**EXACT)
def count_levels(values, mine, weights, counts):
    """Add the weight of each known level to `counts`: rows that are not mine, and those that are.

    `values` holds codes as numbers; NaN is missing.
    """
    for i in range(values.size):
        if not np.isnan(values[i]):
            counts[np.int64(mine[i]), np.int64(values[i])] += weights[i]
