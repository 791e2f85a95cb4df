"""Simulated incident reports: sparse features, several rare labels (in the spirit of Ruta 2014)."""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..checks import check_number

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
    Y: NDArray[np.uint8]
    label_names: list[str]
    signals: list[NDArray[np.int64]]


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
    rng: np.random.Generator,
    kinds: NDArray[np.int64],
    leaders: NDArray[np.bool_],
    n_entries: int,
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
    columns: list[NDArray[np.int64]] = []
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
