"""Evidence that may only rise, or only fall, with a number: two classes."""

from dataclasses import replace

import numpy as np

from .base import Floats
from .weighted import TERM_BITS, Ratios, centred


def pooled_rising(values: Floats, weights: Floats) -> Floats:
    """The nearest numbers that never fall, by weighted squares: neighbours that do are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.monotone import pooled_rising
    >>> pooled_rising(np.array([0.0, 3.0, 1.0, 4.0]), np.ones(4)).tolist()
    [0.0, 2.0, 2.0, 4.0]
    """
    means: list[float] = []
    sizes: list[float] = []
    widths: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        sizes.append(weight)
        widths.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            mean, size, width = means.pop(), sizes.pop(), widths.pop()
            both = sizes[-1] + size
            means[-1] = (means[-1] * sizes[-1] + mean * size) / both
            sizes[-1] = both
            widths[-1] += width
    return np.repeat(means, widths)


def rising(ratios: Ratios, counts: Floats, shares: Floats, sign: int) -> Ratios:
    """The same term of two classes, the second's log-ratio rising (1) or falling (-1).

    Both classes' terms then rise or fall with it, so that no weights can turn it.

    Parameters
    ----------
    ratios : of a column on the grid.
    counts : rows, codes x classes.
    shares : log-shares of the classes.
    """
    table, n_values = ratios.table, counts.shape[0] - 1
    apart = np.ldexp((table[:n_values, 1] - table[:n_values, 0]).astype(float), -TERM_BITS)
    if not apart.size:
        return ratios
    smooth = sign * pooled_rising(sign * apart, counts[:-1].sum(1) + 1e-9)
    terms = np.stack([np.zeros_like(smooth), smooth], axis=1)
    found = centred(terms, shares)
    return replace(ratios, table=np.concatenate([found, table[n_values:]]))
