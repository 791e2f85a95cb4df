"""Continuous terms in a form that travels: logarithms of sums of bell curves.

A page, a SQL query or a function without dependencies has no normal integral.  The probability of
an interval is an integral of the density over a few standard deviations, so a few points of Gauss
and Legendre give it to the last digits: a sum of bells side by side.  A density is a single bell, a
mixture one sum a component.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .base import Floats

#: Points to choose from; the largest number serves the widest interval (six standard deviations).
_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64)


_REFERENCE = 96


_ACCURACY = 1e-12


# Beyond this many standard deviations an interval's probability is below Weka's floor.
_FARTHEST = 19.0


_HALF_LOG_2PI = float(np.log(2 * np.pi) / 2)


class Bells(NamedTuple):
    """One component: log of its share, and the points whose bells add up to its probability.

    The component says ``log(sum(exp(level - ((x - mean) / sd + offset)**2 / 2)))``; offsets are in
    standard deviations, since positions beside a large mean would lose their last digits.
    """

    share: float
    levels: tuple[float, ...]
    offsets: tuple[float, ...]
    mean: float
    sd: float

    def to_list(self) -> list[float | list[float]]:
        """Plain data."""
        return [self.share, list(self.levels), list(self.offsets), self.mean, self.sd]


def density_bells(share: float, mean: float, sd: float) -> Bells:
    """The density itself: one bell."""
    return Bells(share, (-_HALF_LOG_2PI - float(np.log(sd)),), (0.0,), mean, sd)


def interval_bells(share: float, mean: float, sd: float, width: float) -> Bells:
    """The probability of an interval of this width around a value."""
    half = width / (2 * sd)
    points, weights = _legendre(_points_needed(half))
    levels = np.log(half * weights) - _HALF_LOG_2PI
    return Bells(share, tuple(levels.tolist()), tuple((half * points).tolist()), mean, sd)


def _points_needed(half: float) -> int:
    """The fewest points that give intervals of this half width wherever they matter."""
    z = np.linspace(0.0, _FARTHEST + half, 40)
    exact = _log_sum(half, z, _REFERENCE)
    for count in _COUNTS:
        if np.abs(_log_sum(half, z, count) - exact).max() <= _ACCURACY:
            return count
    return _REFERENCE


def _log_sum(half: float, z: Floats, count: int) -> Floats:
    points, weights = _legendre(count)
    logs = np.log(half * weights) - (z[:, None] + half * points) ** 2 / 2
    top = logs.max(1)
    return top + np.log(np.exp(logs - top[:, None]).sum(1))


@lru_cache(maxsize=32)
def _legendre(count: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(count)
