"""Thresholds that keep a rate with stated confidence: order statistics of held-out scores.

Of n held-out scores, let k lie above the threshold.  The rate above it exceeds `bound` with
probability P(Binomial(n, bound) <= k), whatever the distribution of the scores; ties only help.
So the largest k for which that is at most 1 - confidence gives the threshold, and its guarantee,
from the same rows (Wilks 1941; as a classifier's threshold, Tong, Feng and Li 2018).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import beta, binom

from ..models.base import Ints


class Level(NamedTuple):
    """A threshold, the rows it rests on, and how many of them lie beyond it."""

    threshold: int
    rows: int
    beyond: int


def level_below(scores: Ints, rate: float, risk: float) -> Level | None:
    """The lowest score that at most `rate` of new rows exceed, but for a risk; None: there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.evaluation.promises import level_below
    >>> level_below(np.arange(299), 0.01, 0.05)
    Level(threshold=298, rows=299, beyond=0)
    >>> level_below(np.arange(298), 0.01, 0.05) is None
    True
    """
    n = len(scores)
    beyond = most_beyond(n, rate, risk)
    if beyond < 0:
        return None
    return Level(int(np.sort(scores)[n - 1 - beyond]), n, beyond)


def most_beyond(n: int, rate: float, risk: float) -> int:
    """How many of n rows may lie beyond a threshold, so that more than `rate` do by a risk only."""
    below = int(binom.ppf(risk, n, rate)) if n else 0
    # The quantile is the least with a probability of at least `risk`: it, or the one before.
    for k in (below + 1, below, below - 1):
        if 0 <= k < n and binom.cdf(k, n, rate) <= risk:
            return k
    return -1


def lowest_rate(n: int, risk: float) -> float:
    """The lowest rate that n rows can show not to be exceeded."""
    return -math.expm1(math.log(risk) / n)


def rows_needed(rate: float, risk: float) -> int:
    """Rows that can show a rate not to be exceeded, at least."""
    found = math.ceil(math.log(risk) / math.log1p(-rate))
    return found if binom.cdf(0, found, rate) <= risk else found + 1


def sure_rate(hits: int, n: int, risk: float) -> float:
    """The rate that a threshold found on other rows reaches, but for a risk: hits of n rows."""
    return float(beta.ppf(risk, hits, n - hits + 1)) if hits else 0.0
