"""Two-sample tests at every break point of a series."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, betaln

from ..checks import check_number, choose
from ..data.kernels.options import F_TEST, KS_TEST, U_TEST
from ..data.tables import read_series

#: The tests by name, with their numbers in the kernels.
TESTS = {"U": U_TEST, "KS": KS_TEST, "F": F_TEST}


@lru_cache
def ks_probabilities(size: int) -> NDArray[np.float64]:
    """P(D >= h / size) for h = 0..size, two samples of the same size: exact, by reflection."""
    total = comb(2 * size, size)
    found = [1.0]
    for h in range(1, size + 1):
        signed = sum(
            (-1) ** (k + 1) * comb(2 * size, size - k * h) for k in range(1, size // h + 1)
        )
        found.append(min(1.0, float(Fraction(2 * signed, total))))
    probabilities = np.array(found)
    probabilities.flags.writeable = False
    return probabilities


def test_constants(halves: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Tables the kernels read: KS probabilities and the F test's beta factor, by sample size."""
    most = int(halves.max(initial=0))
    tables = np.ones((most + 1, most + 1))
    fronts = np.zeros(most + 1)
    for half in np.unique(halves[halves > 0]):
        tables[half, : half + 1] = ks_probabilities(int(half))
        a = (half - 1) / 2
        fronts[half] = -np.log(a) - betaln(a, a)
    return tables, fronts


def critical_values(halves: NDArray[np.int64], levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tests x halves x levels: statistics from which on (F: up to which) a window rejects."""
    from .kernels.confirm import critical_values as of_ranks

    tables, _ = test_constants(halves)
    found = np.zeros((len(TESTS), tables.shape[0], levels.size))
    for half in np.unique(halves[halves > 0]):
        of_ranks(tables, int(half), levels, found)
        found[F_TEST, half] = betaincinv((half - 1) / 2, (half - 1) / 2, levels / 2)
    return found


def half_windows(
    series: Sequence[NDArray[np.float64]], widths: Sequence[tuple[int, bool]]
) -> NDArray[np.int64]:
    """Points on each side of a break: series x widths; 0 where a series has no such window.

    A width is (points, cut): a window that may be cut is at least two points shorter than the
    series.
    """
    lengths = np.array([len(x) for x in series])[:, None]
    points = np.array([width for width, _ in widths])[None]
    cut = np.array([may for _, may in widths])[None]
    whole = np.where(cut, np.minimum(points, lengths - 2), points)
    halves = np.where(whole <= lengths, whole // 2, 0)
    finite = np.array([bool(np.isfinite(x).all()) for x in series])
    return np.where((halves >= 2) & finite[:, None], halves, 0).astype(np.int64)


def window_p_values(x: ArrayLike, test: str, width: int) -> NDArray[np.float64]:
    """Two-sided p-values of a test at every break of a series, half a window on each side.

    Parameters
    ----------
    x : array-like
        The series.
    test : {"U", "KS", "F"}
        Mann-Whitney (normal approximation with tie and continuity correction),
        Kolmogorov-Smirnov (exact), or F test of equal variances.
    width : int
        Points in the window, at least 4.

    Returns
    -------
    p : ndarray
        One value a break, from width / 2 points after the start to as many before the end.  Empty
        where the series is shorter than the window or holds a value that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators.windows import window_p_values
    >>> window_p_values(np.r_[np.zeros(8), np.ones(8)], "U", 16).round(6)
    array([0.000138])
    """
    from .kernels.windows import any_ties, p_values

    choose("test", test, TESTS)
    check_number("width", width, low=4, whole=True)
    x = read_series([x])[0]
    halves = half_windows([x], [(width, False)])
    half = int(halves[0, 0])
    if half == 0:
        return np.empty(0)
    out = np.empty(x.size - 2 * half + 1)
    p_values(TESTS[test], x, half, any_ties(x), *test_constants(halves), out)
    return out
