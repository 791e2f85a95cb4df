"""How far chance may move a share of rows."""

from scipy.stats import beta


def interval(hits: float, rows: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934).

    Parameters
    ----------
    hits, rows : weights count as rows.
    confidence : of the interval.

    Examples
    --------
    >>> from bayesieve.explain.shares import interval
    >>> [round(each, 3) for each in interval(0, 100)]
    [0.0, 0.036]
    """
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, hits, rows - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, rows - hits)) if hits < rows else 1.0
    return low, high
