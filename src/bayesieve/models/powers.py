"""Variances of numbers whose squares do not fit a float: with a power of two beside them.

A variance is `value` times 4 to the `power`; a power is 0 unless the squares of the numbers behind
it overflow or lose digits (numbers beyond about 1e150, or that differ by less than about 1e-145).
Multiplying by powers of two loses nothing, so that such columns get the answers they would get in
other units.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Floats

#: Sums of squares within these bounds are exact enough as they are.
LEAST_SQUARES, MOST_SQUARES = 2.0**-960, 2.0**1000


# Numbers of this size need no power.
_PLAIN = 400


_NOWHERE = -(2**20)


class WideVariance(float):
    """A variance beyond the range of floats; as a float, infinite or the nearest one.

    Examples
    --------
    >>> from bayesieve.models.powers import WideVariance
    >>> wide = WideVariance(1.5, 1000)
    >>> float(wide) == float("inf"), wide.parts
    (True, (1.5, 1000))
    """

    parts: tuple[float, int]

    def __new__(cls, value: float, power: int) -> "WideVariance":
        """`value` times 4 to the `power`."""
        found = super().__new__(cls, math.inf if power > 0 else math.ldexp(value, 2 * power))
        found.parts = value, power
        return found

    def __getnewargs__(self) -> tuple[float, int]:  # type: ignore[override]
        return self.parts


def parts_of(variance: float) -> tuple[float, int]:
    """Value and power of a plain or wide variance."""
    return variance.parts if isinstance(variance, WideVariance) else (variance, 0)


def times(share: float, variance: float, power: int) -> float:
    """A share of a variance; a wide one where it does not fit a float."""
    (one, a), (other, b) = math.frexp(share), math.frexp(variance)
    exponent = a + b + 2 * power
    if not one * other or (not power and -960 < exponent < 1000):
        return share * variance
    if -960 < exponent < 1000:
        return math.ldexp(one * other, exponent)
    return WideVariance(math.ldexp(one * other, exponent % 2), exponent // 2)


def size(variance: float, power: int) -> tuple[int, float]:
    """What orders variances of any power: exponent and leading digits."""
    digits, exponent = math.frexp(variance)
    return (exponent + 2 * power, digits) if digits else (_NOWHERE, 0.0)


def shifted(values: Any, power: NDArray[Any]) -> Any:
    """Numbers in units of 2 to the power."""
    return np.ldexp(values, -power.astype(np.int64)) if power.any() else values


def exponent_of(values: Any) -> int:
    """The power of two above the largest of the numbers; 0 where they need none."""
    exponent = int(np.frexp(np.max(np.abs(values), initial=0.0))[1])
    return exponent if abs(exponent) > _PLAIN else 0


def add(one: Floats, powers: NDArray[Any], extra: float) -> tuple[Floats, NDArray[Any]]:
    """Variances and what is added to each of them."""
    value, power = parts_of(extra)
    if not power and not powers.any():
        return one + value, powers
    common = np.where(one > 0, powers, _NOWHERE)
    common = np.maximum(common, power if value > 0 else _NOWHERE).astype(np.int64)
    common = np.where(common == _NOWHERE, 0, common)
    total = _in(one, powers, common) + np.ldexp(value, 2 * (power - common))
    return total, common.astype(np.float64)


def together(
    squares: Floats, powers: NDArray[Any], live: NDArray[np.bool_], least: int | None
) -> tuple[Floats, Floats]:
    """Squares of all classes (last axis) in one power for each set, at least `least`."""
    common = np.where(live & (squares > 0), powers, _NOWHERE).max(-1)
    common = np.maximum(common, _NOWHERE if least is None else least)
    common = np.where(common == _NOWHERE, 0, common)
    return _in(squares, powers, common[..., None]), common


def spread(values: Floats, weights: Floats) -> tuple[float, float, int]:
    """Mean, sum of squares and power of some numbers, two passes; equal ones have no squares."""
    if (values == values[0]).all():
        return float(values[0]), 0.0, 0
    for power in (0, exponent_of(values)):
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            mine = np.ldexp(values, -power)
            mean = np.average(mine, weights=weights)
            squares = float((weights * (mine - mean) ** 2).sum())
        if LEAST_SQUARES <= squares <= MOST_SQUARES:
            break
    return float(np.ldexp(mean, power)), squares, power


def _in(squares: Floats, powers: NDArray[Any], common: NDArray[Any]) -> Floats:
    """Squares in units of 4 to the common power."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(squares, 2 * (powers - common).astype(np.int64))
