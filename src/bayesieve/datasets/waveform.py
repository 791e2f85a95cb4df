"""Breiman's waveforms: mixtures of two of three shifted triangles."""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..checks import check_number

_N_POINTS = 21


def make_waveform(
    n_samples: int = 5000,
    n_noise: int = 0,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Simulate the waveform sets (Breiman et al. 1984): 21 attributes, or 40 with 19 of noise.

    Each row is a random convex combination of two of three triangular waves, sampled at 21 points,
    with Gaussian noise of standard deviation 1; which two makes the class.

    Parameters
    ----------
    n_samples : int, default=5000
    n_noise : int, default=0
        Attributes of pure noise, appended; 19 in waveform40.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 21 + n_noise)
    y : ndarray of int
        0, 1 or 2.

    Examples
    --------
    >>> from bayesieve.datasets import make_waveform
    >>> X, y = make_waveform(100, 19, random_state=0)
    >>> X.shape
    (100, 40)
    """
    check_number("n_samples", n_samples, low=1, whole=True)
    check_number("n_noise", n_noise, low=0, whole=True)
    rng = check_random_state(random_state)
    points = np.arange(1, _N_POINTS + 1)
    waves = np.stack([np.maximum(6 - np.abs(points - centre), 0) for centre in (7, 11, 15)])
    pairs = np.array([(1, 0), (1, 2), (0, 2)])
    y = rng.randint(0, 3, n_samples)
    share = rng.uniform(size=(n_samples, 1))
    signal = share * waves[pairs[y, 0]] + (1 - share) * waves[pairs[y, 1]]
    X = np.hstack([signal, np.zeros((n_samples, n_noise))])
    return X + rng.normal(size=X.shape), y.astype(np.int64)
