"""Logarithms of shares and of pooled probabilities, the same on every machine."""

from numba import njit

from ...data.kernels.exact import FAR, exp_fixed, log_fixed
from ...data.kernels.options import EXACT


@njit(**EXACT)
def log_any(z):
    """log(z) for any z > 0."""
    return log_fixed(z) if z >= 1.0 else -log_fixed(1.0 / z)


@njit(**EXACT)
def log_all(numbers, out):
    """Logarithms of positive numbers."""
    for i in range(numbers.size):
        out[i] = log_any(numbers[i])


@njit(**EXACT)
def pooled(terms, shares, out):
    """Log of the sum over classes of share x P(value | class), for each row of terms."""
    n_classes = terms.shape[1]
    for c in range(terms.shape[0]):
        top = terms[c, 0] + shares[0]
        for k in range(1, n_classes):
            top = max(top, terms[c, k] + shares[k])
        total = 0.0
        for k in range(n_classes):
            apart = top - (terms[c, k] + shares[k])
            if apart <= FAR:
                total += exp_fixed(-apart)
        out[c] = top + log_fixed(total)
