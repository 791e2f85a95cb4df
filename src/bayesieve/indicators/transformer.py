"""`Indicators`: series in, named binary columns out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..engines import LocalEngine
from ..validation import check_jobs, choose, read_series
from .scores import ScoreColumn, WindowScores


class Indicators(TransformerMixin, BaseEstimator):
    """Binary indicators "score > threshold" of time series (Rabenoro 2015, section 2).

    Parameters
    ----------
    scores : list of scores, optional
        `WindowScores` and `Score` objects; ``[WindowScores()]`` by default.
    quantiles : sequence of float, default=(0.1, 0.25, 0.5, 0.75, 0.9)
        Where to cut the scores that come without thresholds, learnt by `fit`.
    drop : {None, "constant", "redundant"}, default=None
        Leave out columns that are constant in `fit`, or also those equal to an earlier column.
    n_jobs : int, optional
        Threads for the kernels; -1 for all cores.

    Attributes
    ----------
    names_ : list of str
        Names of all indicators, before any were dropped.
    kept_ : ndarray of int
        Which of them `transform` gives.
    stands_for_ : dict
        For each indicator dropped, ``"constant"`` or the name of the one it equals.

    Notes
    -----
    Where a series has no score (it is shorter than a window, or holds a value that is not finite)
    its indicators are missing (NaN), and naive Bayes skips them.

    Examples
    --------
    >>> from bayesieve.datasets import make_signals
    >>> from bayesieve.indicators import Indicators
    >>> signals = make_signals(6, 2, random_state=0)
    >>> indicators = Indicators().fit(signals.series)
    >>> indicators.transform(signals.series).shape
    (12, 810)
    >>> indicators.get_feature_names_out()[0]
    'share of windows (w=30) where U rejects at 0.001 > 0.1'
    """

    def __init__(
        self,
        scores: Sequence[Any] | None = None,
        quantiles: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
        drop: str | None = None,
        n_jobs: int | None = None,
    ):
        self.scores = scores
        self.quantiles = quantiles
        self.drop = drop
        self.n_jobs = n_jobs

    def fit(self, series: Any, y: Any = None) -> "Indicators":
        """Learn thresholds, and which columns are redundant.

        Parameters
        ----------
        series : list of 1-D arrays, or 2-D array
            The time series; they may differ in length.
        y : ignored

        Returns
        -------
        self : Indicators
        """
        self._fit(series)
        return self

    def fit_transform(self, series: Any, y: Any = None) -> NDArray[Any]:
        """Fit, and give the indicators of the same series."""
        return self._fit(series)[:, self.kept_]

    def transform(self, series: Any) -> NDArray[Any]:
        """Indicators: series x columns, uint8, or float64 with NaN where scores are missing."""
        check_is_fitted(self, "kept_")
        found = self._columns(series)
        return _binarise(found, self._cuts)[:, self.kept_]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names such as ``share of windows (w=50) where U rejects at 0.005 > 0.3``."""
        check_is_fitted(self, "kept_")
        return np.array(self.names_, dtype=object)[self.kept_]

    def _columns(self, series: Any) -> list[ScoreColumn]:
        check_jobs(self.n_jobs)
        checked = read_series(series)
        scores = [WindowScores()] if self.scores is None else list(self.scores)
        with LocalEngine(effective_n_jobs(self.n_jobs)) as engine:
            return [column for score in scores for column in score.columns(checked, engine)]

    def _fit(self, series: Any) -> NDArray[Any]:
        if self.drop is not None:
            choose("drop", self.drop, ["constant", "redundant"])
        found = self._columns(series)
        self._cuts = [
            column.thresholds if column.thresholds is not None else self._learn(column.values)
            for column in found
        ]
        self.names_ = [
            f"{column.label} > {cut:g}"
            for column, cuts in zip(found, self._cuts, strict=True)
            for cut in cuts
        ]
        table = _binarise(found, self._cuts)
        self.stands_for_ = self._redundant(table)
        self.kept_ = np.array(
            [j for j, name in enumerate(self.names_) if name not in self.stands_for_], np.int64
        )
        return table

    def _learn(self, values: NDArray[np.float64]) -> tuple[float, ...]:
        """Distinct quantiles of the scores that are there."""
        known = values[~np.isnan(values)]
        if not known.size:
            return ()
        return tuple(float(cut) for cut in np.unique(np.quantile(known, self.quantiles)))

    def _redundant(self, table: NDArray[Any]) -> dict[str, str]:
        """What each column that may go stands for."""
        gone: dict[str, str] = {}
        first: dict[bytes, str] = {}
        if self.drop is None:
            return gone
        for j, name in enumerate(self.names_):
            column = np.ascontiguousarray(table[:, j], dtype=np.float32)
            if not np.nanmin(column, initial=1) < np.nanmax(column, initial=0):
                gone[name] = "constant"
            elif self.drop == "redundant":
                twin = first.setdefault(column.tobytes(), name)
                if twin != name:
                    gone[name] = twin
        return gone


def _binarise(found: list[ScoreColumn], cuts: list[tuple[float, ...]]) -> NDArray[Any]:
    """Score > threshold, column by column."""
    missing = any(np.isnan(column.values).any() for column in found)
    n_series = len(found[0].values) if found else 0
    width = sum(len(mine) for mine in cuts)
    table = np.empty((n_series, width), np.float64 if missing else np.uint8, order="F")
    at = 0
    for column, mine in zip(found, cuts, strict=True):
        for cut in mine:
            table[:, at] = column.values > cut
            if missing:
                table[np.isnan(column.values), at] = np.nan
            at += 1
    return table
