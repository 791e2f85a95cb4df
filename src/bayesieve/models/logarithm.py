"""Logarithms of fractions that are equal where the fractions are.

Rounding log 2/3 and log 4/6 after a subtraction of floats may give neighbouring integers, so that
rows with equal odds no longer tie.  Here the logarithm of a whole number is the sum of the rounded
logarithms of its primes: log ab = log a + log b to the last unit, hence sums of such terms are
equal integers wherever the products that they stand for are equal fractions.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..checks import as_fraction

Floats = NDArray[np.float64]


Ints = NDArray[np.int64]


#: Numbers beyond this are not taken apart: their primes are too far to look for.
MOST_NUMBER = 2**32


_LEAST_TABLE, _MOST_TABLE = 2**10, 2**20


def additive_log(numbers: Ints, bits: int) -> Ints:
    """Logarithms in units of 2^-bits nat with log ab = log a + log b exactly; 0 for 0.

    Parameters
    ----------
    numbers : whole numbers from 0 to `MOST_NUMBER`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.logarithm import additive_log
    >>> one, two, three, six = additive_log(np.array([1, 2, 3, 6]), bits=40)
    >>> one - two == three - six
    np.True_
    """
    if not numbers.size:
        return np.empty(numbers.shape, np.int64)
    largest = int(numbers.max())
    if largest < max(_LEAST_TABLE, min(4 * numbers.size, _MOST_TABLE)):
        table: Ints = _table(max(_LEAST_TABLE, 1 << largest.bit_length()), bits)[numbers]
        return table
    from .kernels.logarithm import log_each

    distinct, back = np.unique(numbers, return_inverse=True)
    found = np.empty(distinct.size, np.int64)
    log_each(np.maximum(distinct, 1), 2.0**bits, found)
    return found[back].reshape(numbers.shape)


@lru_cache(maxsize=1024)
def log_one(number: int, bits: int) -> float:
    """The additive logarithm of one number, in nat."""
    return float(np.ldexp(float(additive_log(np.array([number]), bits)[0]), -bits))


def log_shares(
    counts: Floats, totals: Floats, pseudo: float, class_weight: Floats, bits: int
) -> tuple[Ints, Ints] | None:
    """Logarithms of (w c + a) and of (w n + l a), 2^-bits nat, up to what they have in common.

    Where w c + a = 0 stands log 1.  None where counts are no whole numbers, or weights and
    pseudo-count no small fractions.

    Parameters
    ----------
    counts, totals : c and n before class weights; ... x levels x classes, and ... x 1 x classes.
    pseudo, class_weight : a, the same for all l levels, and w.
    """
    units = _in_whole_numbers(pseudo, tuple(class_weight.tolist()))
    if units is None or not (_whole(counts) and _whole(totals)):
        return None
    times, plus, one = units
    n_levels = counts.shape[-2]
    tops, bottoms = counts * times + plus, totals * times + max(n_levels, 1) * plus
    # What remains beside log 0 is the total's part, in the same units.
    tops = np.where(tops > 0, tops, one)
    if max(tops.max(initial=0), bottoms.max(initial=0)) > MOST_NUMBER:
        return None
    return additive_log(tops.astype(np.int64), bits), additive_log(bottoms.astype(np.int64), bits)


def log_parts(parts: Sequence[Fraction], bits: int) -> Ints | None:
    """Logarithms of fractions (0 for 0), units of 2^-bits nat; None where one is too large."""
    numbers = [number for part in parts for number in (part.numerator, part.denominator)]
    if max(numbers) > MOST_NUMBER:
        return None
    logs = additive_log(np.array(numbers, np.int64), bits).reshape(-1, 2)
    return logs[:, 0] - logs[:, 1]


@lru_cache(maxsize=64)
def _in_whole_numbers(
    pseudo: float, class_weight: tuple[float, ...]
) -> tuple[Floats, Floats, Floats] | None:
    """By class: what to multiply a count with, what to add, and what 1 is; None: no fractions."""
    alpha = as_fraction(pseudo)
    weights = [as_fraction(weight) for weight in class_weight]
    if alpha is None or None in weights:
        return None
    p, q = alpha.as_integer_ratio()
    ratios = [weight.as_integer_ratio() for weight in weights if weight is not None]
    times = np.array([float(top * q) for top, _ in ratios])
    plus = np.array([float(bottom * p) for _, bottom in ratios])
    one = np.array([float(bottom * q) for _, bottom in ratios])
    return times, plus, one


def _whole(numbers: Floats) -> bool:
    return bool((numbers == np.rint(numbers)).all())


@lru_cache(maxsize=4)
def _table(size: int, bits: int) -> Ints:
    from .kernels.logarithm import log_up_to

    found = np.empty(size, np.int64)
    log_up_to(2.0**bits, found)
    found.flags.writeable = False
    return found
