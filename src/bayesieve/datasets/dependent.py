"""Attributes that depend on others, added to a table (in the spirit of Cortizo and Giraldez)."""

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ..checks import check_number

_SLOPES = (0.5, 2.0)


def make_dependent(
    X: ArrayLike,
    n_dependent: int = 3,
    *,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[np.float64]:
    """Append synthetic columns that depend linearly on original ones.

    Each is a + b x_j + noise, with a column x_j drawn at random (no column twice before all have
    been used), a slope b of size 0.5 to 2 and either sign, an offset a from -1 to 1 standard
    deviations of x_j, and Gaussian noise.  The paper does not describe its own generator.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; NaN stays NaN in the columns that depend on it.
    n_dependent : int, default=3
        How many columns to append.
    noise : float, default=0.1
        Standard deviation of the noise, in standard deviations of the column's linear part.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    X_dependent : ndarray of shape (n_samples, n_features + n_dependent)

    Examples
    --------
    >>> from bayesieve.datasets import load, make_dependent
    >>> make_dependent(load("iris").X, 2, random_state=0).shape
    (150, 6)
    """
    if scipy.sparse.issparse(X):
        raise TypeError("X must be a dense table; got a sparse matrix.")
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X must be a table with rows and columns; got shape {X.shape}.")
    check_number("n_dependent", n_dependent, low=0, whole=True)
    check_number("noise", noise, low=0.0, high=1e6)
    if np.isinf(X).any():
        raise ValueError("X contains infinity; allowed are finite numbers, and NaN for missing.")
    rng = check_random_state(random_state)
    rounds = -(-n_dependent // X.shape[1])
    drawn = [rng.permutation(X.shape[1]) for _ in range(rounds)]
    parents = np.concatenate([*drawn, np.empty(0, np.int64)])[:n_dependent].astype(np.int64)
    added = np.empty((X.shape[0], n_dependent))
    for d, parent in enumerate(parents):
        column = X[:, parent]
        known = column[~np.isnan(column)]
        spread = float(known.std()) if known.size else 0.0
        slope = rng.uniform(*_SLOPES) * rng.choice([-1.0, 1.0])
        offset = rng.uniform(-1.0, 1.0) * spread
        jitter = rng.normal(size=column.size) * noise * abs(slope) * spread
        added[:, d] = offset + slope * column + jitter
    return np.hstack([X, added])
