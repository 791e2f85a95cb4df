"""A logarithm of whole numbers in whole units that is completely additive."""

import numpy as np
from numba import njit

from ...data.kernels.options import EXACT
from .fixed import log_fixed


@njit(**EXACT)
def _of_prime(prime, unit):
    """The rounded logarithm of a prime: the only place where anything is rounded."""
    return np.int64(np.floor(log_fixed(np.float64(prime)) * unit + 0.5))


@njit(**EXACT)
def log_up_to(unit, out):
    """Logarithms of 0 (as 0), 1, 2, ...: a sieve of smallest factors."""
    size = out.size
    smallest = np.zeros(size, np.int32)
    out[:2] = 0
    for number in range(2, size):
        if smallest[number] == 0:
            out[number] = _of_prime(number, unit)
            for multiple in range(number * number, size, number):
                if smallest[multiple] == 0:
                    smallest[multiple] = number
        else:
            factor = smallest[number]
            out[number] = out[factor] + out[number // factor]


@njit(**EXACT)
def log_each(numbers, unit, out):
    """Logarithms of single numbers >= 1, by trial division."""
    two, three = _of_prime(2, unit), _of_prime(3, unit)
    for i in range(numbers.size):
        left = numbers[i]
        total = np.int64(0)
        while left % 2 == 0:
            left //= 2
            total += two
        while left % 3 == 0:
            left //= 3
            total += three
        factor, step = 5, 2
        while factor * factor <= left:
            while left % factor == 0:
                left //= factor
                total += _of_prime(factor, unit)
            factor += step
            step = 6 - step
        if left > 1:
            total += _of_prime(left, unit)
        out[i] = total
