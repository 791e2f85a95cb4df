"""Support: the rows behind what is said of a value, and the evidence for which they can vouch."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from ..checks import Floats

#: Of the evidence itself, this share is outside of an interval, half of it at either end.
OUTSIDE = 0.1

#: Pseudo-rows, whatever was chosen, are brought to so many of the rarer class: what is known from
#: elsewhere (other levels, both columns of a pair) tells less of a value than it foretells.
FEWEST_PSEUDO, MOST_PSEUDO = 0.5, 1.0

# Beyond so many rows an interval is a point.
_MOST = 1e9


class Support(NamedTuple):
    """What stands behind the values of a column, values x classes; NaN where nothing is said.

    Parameters
    ----------
    point : log P(value | class), or the same less log P(value), before it is held to its rows.
    rows : training rows of each class behind it; of a density, how many rows would tell a share
        just as well.
    prior : pseudo-rows, by which it is drawn to what the column says on the whole.
    whole : rows of each class of which those with the value are a part; infinite where that is told
        by `rows` already.
    weights : of the classes, with which the model says it; held fixed.
    shares : of the classes; where weights differ.

    Examples
    --------
    A value that 8 of 50 rows of one class and 2 of 50 of another have, one pseudo-row each:

    >>> import numpy as np
    >>> from bayesieve.models.support import Support
    >>> rows = np.array([[8.0, 2.0]])
    >>> found = Support(np.log(rows + 1), rows, np.ones((1, 2)), np.array([50.0, 50.0]))
    >>> low, high = found.interval(0, 1)
    >>> np.exp([low[0], high[0]]).round(2)
    array([ 1.17, 10.82])
    """

    point: Floats
    rows: Floats
    prior: Floats
    whole: Floats
    weights: Floats | None = None
    shares: Floats | None = None

    def with_silent_code(self) -> "Support":
        """One more code, which says nothing."""
        pad = (0, 1), (0, 0)
        point = np.pad(self.point, pad, constant_values=np.nan)
        return self._replace(
            point=point, rows=np.pad(self.rows, pad), prior=np.pad(self.prior, pad)
        )

    def interval(
        self, first: int, second: int, said: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Between what the evidence of each value lies, for one class against another, in nat.

        Of the rows of the two classes behind a value, the share of the first has a Beta posterior;
        these are its odds at 5 and 95 %.

        Parameters
        ----------
        first, second : positions of the classes.
        said : what the model says of each value; it is never outside.
        """
        both, found = [first, second], []
        rows, prior, whole = self.rows[:, both], self.prior[:, both], self.whole[both]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            least = prior.min(1, keepdims=True)
            kept = prior * (np.clip(least, FEWEST_PSEUDO, MOST_PSEUDO) / least)
            # A large share of a class is told by more than its rows.
            vary = (1 / (rows + kept)).sum(1)
            left = np.maximum(vary - (1 / (whole + kept)).sum(1), vary / _MOST)
            a, b = np.minimum((rows + kept) * (vary / left)[:, None], _MOST).T
            point = np.log(rows + prior) @ [1.0, -1.0]
            for p in (OUTSIDE / 2, 1 - OUTSIDE / 2):
                odds = np.log(betaincinv(a, b, p)) - np.log(betaincinv(b, a, 1 - p))
                found.append(self._moved(first, second, odds - point))
        low, high = found
        return (low, high) if said is None else (np.minimum(low, said), np.maximum(high, said))

    def _moved(self, first: int, second: int, by: Floats) -> Floats:
        """What is said of two classes when the odds between them are others by so much."""
        one, other = self.point[:, first], self.point[:, second]
        if self.weights is None or self.shares is None:
            return one - other + by
        w, v = self.weights[first], self.weights[second]
        if w == v:
            return w * (one - other + by)
        pooled = np.log(np.exp(self.point) @ self.shares)
        odds = one - other + np.log(self.shares[first] / self.shares[second])
        mine = np.logaddexp(0, -odds) - np.logaddexp(0, -odds - by)
        its = np.logaddexp(0, odds) - np.logaddexp(0, odds + by)
        return w * (one - pooled + mine) - v * (other - pooled + its)


def normal_support(point: Floats, total: Floats, off: Floats) -> Support:
    """Behind normal densities, values x classes.

    The logarithm of a density of N rows varies by z^2 / N with their mean, and by (z^2 - 1)^2 / 2 N
    with their deviation: together as much as that of a share of 2 N / (1 + z^4) rows.

    Parameters
    ----------
    point : log-densities.
    total : rows of each class.
    off : how many deviations values are from the mean of each class.
    """
    with np.errstate(over="ignore"):
        rows = 2 * total / (1 + np.square(np.square(off)))
    prior = np.broadcast_to(total / max(total.sum(), 1.0), rows.shape)
    return Support(point, rows, prior, np.full(total.size, np.inf))
