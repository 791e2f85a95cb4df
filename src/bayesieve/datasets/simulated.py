"""Simulated data: waveforms, signals, incidents, dependent columns."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ..checks import Bools, Bytes, Floats, Ints, check_number
from ..data.result import frame_of, html_table

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

_SLOPES = (0.5, 2.0)


def make_dependent(
    X: ArrayLike,
    n_dependent: int = 3,
    *,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> Floats:
    """Append synthetic columns that depend linearly on original ones.

    Each is a + b x_j + noise, with a column x_j drawn at random (no column twice before all have
    been used), a slope b of size 0.5 to 2 and either sign, an offset a from -1 to 1 standard
    deviations of x_j, and Gaussian noise.  The paper does not describe its own generator.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; NaN stays NaN in the columns that depend on it.
    n_dependent : int, default=3
        How many columns to append.
    noise : float, default=0.1
        Standard deviation of the noise, in standard deviations of the column's linear part.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    X_dependent : ndarray of shape (n_samples, n_features + n_dependent)

    Examples
    --------
    >>> from bayesieve.datasets import load, make_dependent
    >>> make_dependent(load("iris").X, 2, random_state=0).shape
    (150, 6)
    """
    if scipy.sparse.issparse(X):
        raise TypeError("X must be a dense table; got a sparse matrix.")
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X must be a table with rows and columns; got shape {X.shape}.")
    check_number("n_dependent", n_dependent, low=0, whole=True)
    check_number("noise", noise, low=0.0, high=1e6)
    if np.isinf(X).any():
        raise ValueError("X contains infinity; allowed are finite numbers, and NaN for missing.")
    rng = check_random_state(random_state)
    rounds = -(-n_dependent // X.shape[1])
    drawn = [rng.permutation(X.shape[1]) for _ in range(rounds)]
    parents = np.concatenate([*drawn, np.empty(0, np.int64)])[:n_dependent].astype(np.int64)
    added = np.empty((X.shape[0], n_dependent))
    for d, parent in enumerate(parents):
        column = X[:, parent]
        known = column[~np.isnan(column)]
        spread = float(known.std()) if known.size else 0.0
        slope = rng.uniform(*_SLOPES) * rng.choice([-1.0, 1.0])
        offset = rng.uniform(-1.0, 1.0) * spread
        jitter = rng.normal(size=column.size) * noise * abs(slope) * spread
        added[:, d] = offset + slope * column + jitter
    return np.hstack([X, added])


# -- Simulated incident reports --------------------------------------------------------------------


#: Labels of `make_incidents` and the share of reports that carry each.
LABELS = {"rescuers hurt": 0.012, "children hurt": 0.013, "civilians hurt": 0.06}

_N_KINDS = 80  # kinds of incident

_TAIL = 1.1  # of the distribution of feature frequencies

_IN_KIND = 0.75  # share of a feature's occurrences within its kind of incident

_FAMILY = 5  # features that say about the same, on average

_WIDER = 0.7  # share of a family that is present wherever its fact is, and elsewhere too

_SIGNALS = 25  # facts that speak for each label

_MULTI = 0.01  # share of features with several values


class Incidents(NamedTuple):
    """Sparse reports and what happened.

    Attributes
    ----------
    X : csc_array of shape (n_reports, n_features)
        Small whole numbers; almost all features are 0 or 1.
    Y : ndarray of shape (n_reports, 3)
        Labels, 0 or 1.
    label_names : list of str
    signals : list of ndarray of int
        The features whose facts speak for each label.

    Examples
    --------
    >>> from bayesieve.datasets import make_incidents
    >>> data = make_incidents(500, 100, n_entries=5000, random_state=0)
    >>> data.X.shape, data.Y.shape, data.label_names[0]
    ((500, 100), (500, 3), 'rescuers hurt')
    """

    X: scipy.sparse.csc_array
    Y: Bytes
    label_names: list[str]
    signals: list[Ints]


def make_incidents(
    n_reports: int = 50000,
    n_features: int = 11852,
    *,
    n_entries: int = 1_700_000,
    random_state: int | np.random.RandomState | None = None,
) -> Incidents:
    """Simulate data of the shape of the AAIA'14 competition, which cannot be had any more.

    Reports belong to kinds of incident; facts occur mostly within one kind, with frequencies of a
    long tail.  Features come in families: one for the fact itself, the others present in about the
    same reports, most of them in some more.  Each of three rare labels depends on some facts and,
    weakly, on the kind, with noise.  One feature in a hundred has several values.  A stand-in for
    the original: same shape, sparsity and imbalance, not its contents.

    Parameters
    ----------
    n_reports, n_features : int
        Size of the table.
    n_entries : int, default=1700000
        About how many entries are not zero.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    incidents : Incidents

    Examples
    --------
    >>> from bayesieve.datasets import make_incidents
    >>> incidents = make_incidents(500, 100, n_entries=3000, random_state=0)
    >>> incidents.X.shape, incidents.Y.shape
    ((500, 100), (500, 3))
    """
    check_number("n_reports", n_reports, low=100, whole=True)
    check_number("n_features", n_features, low=10, whole=True)
    check_number(
        "n_entries", n_entries, low=n_features, high=n_reports * n_features / 4, whole=True
    )
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    share = 1 / np.arange(1, _N_KINDS + 1) ** 0.8
    kinds = rng.choice(_N_KINDS, n_reports, p=share / share.sum())
    leaders = np.zeros(n_features, bool)
    leaders[rng.choice(n_features, max(n_features // _FAMILY, 2), replace=False)] = True
    leaders[0] = True
    X = _draw_entries(rng, kinds, leaders, n_entries)
    Y = np.zeros((n_reports, len(LABELS)), np.uint8)
    signals = []
    rows = X.tocsr()
    counts = np.diff(X.indptr)
    for j, rate in enumerate(LABELS.values()):
        # Frequent facts, but for those that are everywhere.
        able = np.flatnonzero(leaders)
        able = able[np.argsort(-counts[able], kind="stable")]
        able = able[able.size // 100 : able.size // 12 + 30]
        mine = np.sort(rng.choice(able, min(_SIGNALS, able.size), replace=False))
        weight = rng.gamma(2.0, 0.8, mine.size)
        risk = (rows[:, mine] != 0) @ weight + rng.normal(0, 0.3, _N_KINDS)[kinds]
        risk += rng.gumbel(0, 0.35, n_reports)
        n_positive = max(round(rate * n_reports), 2)
        Y[np.argsort(-risk, kind="stable")[:n_positive], j] = 1
        signals.append(mine.astype(np.int64))
    return Incidents(X, Y, list(LABELS), signals)


def _draw_entries(
    rng: np.random.Generator, kinds: Ints, leaders: Bools, n_entries: int
) -> scipy.sparse.csc_array:
    """Where each feature occurs: a fact mostly in its kind of incident, the rest of its family
    where the fact does, some reports less, some more.
    """
    n_reports, n_features = kinds.size, leaders.size
    raw = 1 + rng.pareto(_TAIL, n_features)
    raw = np.minimum(raw, np.quantile(raw, 0.999))[
        np.maximum.accumulate(np.where(leaders, np.arange(n_features), 0))
    ]
    counts = np.clip(np.rint(raw * n_entries / raw.sum()), 1, n_reports // 3).astype(np.int64)
    of_kind = [np.flatnonzero(kinds == kind) for kind in range(_N_KINDS)]
    columns: list[Ints] = []
    core = np.empty(0, np.int64)
    for leads, count in zip(leaders, counts, strict=True):
        if leads:
            mine = of_kind[rng.integers(_N_KINDS)]
            inside = min(round(count * _IN_KIND), mine.size // 2)
            home = rng.choice(mine, inside, replace=False) if inside else core[:0]
            core = np.unique(np.concatenate([home, rng.integers(0, n_reports, count - inside)]))
            columns.append(core)
            continue
        kept = core if rng.random() < _WIDER else core[rng.random(core.size) < rng.uniform(0.5, 1)]
        more = rng.integers(0, n_reports, max(int(core.size * rng.exponential(0.3)), 1))
        columns.append(np.unique(np.concatenate([kept, more])))
    pointers = np.cumsum([0, *(rows.size for rows in columns)])
    data = np.ones(pointers[-1], np.uint8)
    for several in np.flatnonzero(rng.random(n_features) < _MULTI):
        part = slice(pointers[several], pointers[several + 1])
        data[part] = rng.integers(1, 5, part.stop - part.start)
    indices = np.concatenate(columns).astype(np.int32)
    return scipy.sparse.csc_array(
        (data, indices, pointers.astype(np.int32)), shape=(n_reports, n_features)
    )


# -- Simulated signals with and without a change (Rabenoro 2015, section 5.1) ----------------------


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

    series: list[Floats]
    y: NDArray[np.str_]
    change_point: Ints
    amplitude: Floats

    def to_columns(self) -> dict[str, list[object]]:
        """One row a signal: class, number of points, where it changes and by how much."""
        return {
            "class": self.y.tolist(),
            "points": [each.size for each in self.series],
            "change_point": self.change_point.tolist(),
            "amplitude": self.amplitude.tolist(),
        }

    def to_frame(self, backend: str | None = None) -> "IntoDataFrame":
        """The signals as a data frame, one row each.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        return frame_of(self.to_columns(), backend)

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.y, return_counts=True)
        listed = ", ".join(f"{n} {kind}" for kind, n in zip(kinds, counts, strict=True))
        return f"<{len(self.series)} signals: {listed}>"

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
            rest = series[i][change[i] :]
            if kind == 1:
                rest += amplitude[i]
            elif kind == 2:
                rest *= amplitude[i]
            else:
                rest += amplitude[i] * np.arange(1, rest.size + 1) / rest.size
    return Signals(series, np.array(CLASSES)[kinds], change, amplitude)


# -- Breiman's waveforms ---------------------------------------------------------------------------


_N_POINTS = 21


def make_waveform(
    n_samples: int = 5000,
    n_noise: int = 0,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Floats, Ints]:
    """Simulate the waveform sets (Breiman et al. 1984): 21 attributes, or 40 with 19 of noise.

    Each row is a random convex combination of two of three triangular waves, sampled at 21 points,
    with Gaussian noise of standard deviation 1; which two makes the class.

    Parameters
    ----------
    n_samples : int, default=5000
    n_noise : int, default=0
        Attributes of pure noise, appended; 19 in waveform40.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 21 + n_noise)
    y : ndarray of int
        0, 1 or 2.

    Examples
    --------
    >>> from bayesieve.datasets import make_waveform
    >>> X, y = make_waveform(100, 19, random_state=0)
    >>> X.shape
    (100, 40)
    """
    check_number("n_samples", n_samples, low=1, whole=True)
    check_number("n_noise", n_noise, low=0, whole=True)
    rng = check_random_state(random_state)
    points = np.arange(1, _N_POINTS + 1)
    waves = np.stack([np.maximum(6 - np.abs(points - centre), 0) for centre in (7, 11, 15)])
    pairs = np.array([(1, 0), (1, 2), (0, 2)])
    y = rng.randint(0, 3, n_samples)
    share = rng.uniform(size=(n_samples, 1))
    signal = share * waves[pairs[y, 0]] + (1 - share) * waves[pairs[y, 1]]
    X = np.hstack([signal, np.zeros((n_samples, n_noise))])
    return X + rng.normal(size=X.shape), y.astype(np.int64)
