"""Elementary functions whose result is the same with and without the JIT, on every machine.

They use additions, multiplications, comparisons and one table of powers of two: operations that
IEEE 754 fixes to the last bit.
"""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT

# Beyond this distance a class adds nothing to a value rounded to 2^-40 (exp(-50) < 2^-72).
FAR = 50.0


_LOG2E = 1.4426950408889634


_LN2_HI = 0.6931471803691238  # ln 2 in two parts: the product with an integer below 2^20 is exact


_LN2_LO = 1.9082149292705877e-10


_LN2 = 0.6931471805599453


_SQRT2 = 1.4142135623730951


_POW2_ZERO = 80


_POW2 = 2.0 ** np.arange(-_POW2_ZERO, _POW2_ZERO + 1)


@njit(**EXACT)
def exp_fixed(x):
    """exp(x) for |x| <= 50, by range reduction and a polynomial of degree 13."""
    k = np.floor(x * _LOG2E + 0.5)
    r = (x - k * _LN2_HI) - k * _LN2_LO
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _POW2[np.int64(k) + _POW2_ZERO]


@njit(**EXACT)
def log_fixed(z):
    """log(z) for z >= 1, by halving into [0.707, 1.414) and the series of atanh."""
    shift = 0.0
    while z >= _SQRT2:
        z = z * 0.5
        shift = shift + 1.0
    u = (z - 1.0) / (z + 1.0)
    q = u * u
    p = 1.0 / 23.0
    p = p * q + 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    p = p * q + 1.0
    return shift * _LN2 + 2.0 * u * p
