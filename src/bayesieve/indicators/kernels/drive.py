"""One loop over series for every trace: the trace is chosen by name when the loop is compiled."""

from importlib import import_module

import numpy as np
from numba import literally, njit, typeof, types
from numba.extending import overload

from ...data.kernels.options import EXACT
from .rules import reduce_trace

_MOST = np.finfo(np.float64).max


def kernel_of(name):
    """The trace of a name: its module here, and its function."""
    module, _, function = name.partition(".")
    return getattr(import_module(f".{module}", __package__), function)


def reads_two(name):
    """Does a trace read two channels?"""
    return name.startswith("channels.")


def trace_of(name, one, other, point):
    """The trace of one series, or of two channels of it."""
    return kernel_of(name)(one, other, *point) if reads_two(name) else kernel_of(name)(one, *point)


@overload(trace_of)
def _trace_of(name, one, other, point):
    if not isinstance(name, types.StringLiteral):
        return None
    kernel = kernel_of(name.literal_value)
    if reads_two(name.literal_value):
        return lambda name, one, other, point: kernel(one, other, *point)
    return lambda name, one, other, point: kernel(one, *point)


@njit(**EXACT)
def _finite(x):
    """Is every value a number?"""
    odd = 0
    for value in x:
        odd += np.int64(not abs(value) <= _MOST)
    return odd == 0


@njit(**EXACT)
def score_series(
    name, values, pointers, usable, takes_missing, point, rule, levels, successive, lo, hi, out
):
    """Scores of series lo..hi: out[reading, series], a reading a level and number of places.

    values holds the channels in its rows; series without an answer keep what `out` has.
    """
    literally(name)
    one, other = values[0], values[-1]
    for j in range(lo, hi):
        x, y = one[pointers[j] : pointers[j + 1]], other[pointers[j] : pointers[j + 1]]
        if usable[j] and (takes_missing or (_finite(x) and (values.shape[0] == 1 or _finite(y)))):
            answers = trace_of(name, x, y, point)
            for k in range(levels.size):
                out[k, j] = reduce_trace(answers, rule, levels[k], successive[k])


def score_loop(name, *arguments):
    """`score_series` compiled for a trace and arguments of these types.

    A call by name alone would look for the trace anew each time, which takes longer than many
    series do.
    """
    if not hasattr(score_series, "compile"):  # numba is switched off
        return score_series
    return score_series.compile((types.literal(name), *map(typeof, arguments)))
