"""Simulated signals with and without a change (Rabenoro 2015, section 5.1)."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..checks import check_number
from ..data.html import frame_of, html_table

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: The classes of `make_signals`, in the order of their numbers.
CLASSES = ("normal", "mean shift", "variance shift", "trend")


_CENTRE = (0.2, 0.8)  # the central 60 % of a signal


_MEAN, _SD, _TREND = (1.0, 5.0), (2.0, 6.0), (1.0, 5.0)


class Signals(NamedTuple):
    """Time series of unequal length and what was done to them.

    Attributes
    ----------
    series : list of ndarray
        The signals.
    y : ndarray of str
        Their classes, names from `CLASSES`.
    change_point : ndarray of int
        First changed point; -1 for normal signals.
    amplitude : ndarray of float
        New mean, new standard deviation, or height of the trend at the end; NaN for normal signals.

    Examples
    --------
    >>> from bayesieve.datasets import make_signals
    >>> signals = make_signals(2, 1, random_state=0)
    >>> len(signals.series), sorted(set(signals.y.tolist()))
    (5, ['mean shift', 'normal', 'trend', 'variance shift'])
    """

    series: list[NDArray[np.float64]]
    y: NDArray[np.str_]
    change_point: NDArray[np.int64]
    amplitude: NDArray[np.float64]

    def to_columns(self) -> dict[str, list[object]]:
        """One row a signal: class, number of points, where it changes and by how much."""
        return {
            "class": self.y.tolist(),
            "points": [each.size for each in self.series],
            "change_point": self.change_point.tolist(),
            "amplitude": self.amplitude.tolist(),
        }

    def to_frame(self, backend: str | None = None) -> "IntoDataFrame":
        """The same as a data frame.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        return frame_of(self.to_columns(), backend)

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.y, return_counts=True)
        told = ", ".join(f"{n} {kind}" for kind, n in zip(kinds, counts, strict=True))
        return f"<{len(self.series)} signals: {told}>"

    def _repr_html_(self) -> str:
        return html_table(self.to_columns(), repr(self).strip("<>"), 10)


def make_signals(
    n_normal: int = 3000,
    n_anomalies: int = 1000,
    *,
    min_length: int = 100,
    max_length: int = 200,
    random_state: int | np.random.RandomState | None = None,
) -> Signals:
    """Simulate the signals of Rabenoro 2015: white noise, three kinds of change.

    A normal signal is Gaussian white noise of standard deviation 1.  From a change point in the
    central 60 % of the signal on (20 to 80, both included, for a length of 100), an anomaly has
    another mean (1 to 5), another standard deviation (2 to 6), or a linear trend that ends at 1 to
    5.  Lengths, change points and amplitudes are uniform; signals come in random order.

    Parameters
    ----------
    n_normal : int, default=3000
        Number of normal signals.
    n_anomalies : int, default=1000
        Number of signals of each kind of anomaly.
    min_length, max_length : int, default=100 and 200
        Bounds of the length, both included.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    signals : Signals

    Examples
    --------
    >>> from bayesieve.datasets import make_signals
    >>> signals = make_signals(3, 1, random_state=0)
    >>> sorted(signals.y.tolist())
    ['mean shift', 'normal', 'normal', 'normal', 'trend', 'variance shift']
    """
    check_number("n_normal", n_normal, low=0, whole=True)
    check_number("n_anomalies", n_anomalies, low=0, whole=True)
    check_number("min_length", min_length, low=5, whole=True)
    check_number("max_length", max_length, low=min_length, whole=True)
    rng = check_random_state(random_state)
    kinds = rng.permutation(np.repeat(np.arange(4), [n_normal] + [n_anomalies] * 3))
    lengths = rng.randint(min_length, max_length + 1, kinds.size)
    series = [rng.normal(size=n) for n in lengths]
    low = np.ceil(_CENTRE[0] * lengths).astype(np.int64)
    high = np.floor(_CENTRE[1] * lengths).astype(np.int64)
    steps = (rng.random_sample(kinds.size) * (high - low + 1)).astype(np.int64)
    change = np.where(kinds == 0, -1, low + steps)
    amplitude = np.full(kinds.size, np.nan)
    for i, kind in enumerate(kinds):
        if kind:
            bounds = (_MEAN, _SD, _TREND)[kind - 1]
            amplitude[i] = rng.uniform(*bounds)
            _alter(series[i], int(kind), int(change[i]), float(amplitude[i]))
    return Signals(series, np.array(CLASSES)[kinds], change, amplitude)


def _alter(signal: NDArray[np.float64], kind: int, change: int, amplitude: float) -> None:
    """Change the signal from the change point on, in place."""
    rest = signal[change:]
    if kind == 1:
        rest += amplitude
    elif kind == 2:
        rest *= amplitude
    else:
        rest += amplitude * np.arange(1, rest.size + 1) / rest.size
