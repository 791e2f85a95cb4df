"""`Indicators`: series in, named binary columns out."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..engines import LocalEngine, count_threads
from ..validation import check_jobs, choose, read_series
from .scores import SCORES, ScoreColumn, ScoreFamily, WindowScores


class Indicators(TransformerMixin, BaseEstimator):
    """Binary indicators "score > threshold" of time series (Rabenoro 2015, section 2).

    Parameters
    ----------
    scores : list of scores, optional
        `WindowScores` and `Score` objects, or names of registered scores; ``[WindowScores()]`` by
        default.
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
        checked = read_series(series)
        found = self._columns(checked, self._scores)
        return _binarise(found, self._cuts, len(checked))[:, self.kept_]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names such as ``share of windows (w=50) where U rejects at 0.005 > 0.3``."""
        check_is_fitted(self, "kept_")
        return np.array(self.names_, dtype=object)[self.kept_]

    def _columns(
        self, series: list[NDArray[np.float64]], scores: list[ScoreFamily]
    ) -> list[ScoreColumn]:
        with LocalEngine(count_threads(self.n_jobs)) as engine:
            return [column for score in scores for column in score.columns(series, engine)]

    def _judge_scores(self) -> list[ScoreFamily]:
        """Scores as objects; names are looked up among the registered ones."""
        if self.scores is None:
            return [WindowScores()]
        if isinstance(self.scores, str) or not isinstance(self.scores, Iterable):
            raise TypeError(
                "scores must be a list of scores or names of registered scores; got "
                f"{self.scores!r}. Wrap a single one in a list."
            )
        scores = [SCORES[choose("scores", s, SCORES)] if isinstance(s, str) else s
                  for s in self.scores]  # fmt: skip
        for score in scores:
            if not hasattr(score, "columns"):
                raise TypeError(
                    "scores must hold WindowScores, Score objects or names of registered scores; "
                    f"got {score!r}. Use register_score to turn a function into a score."
                )
        return scores

    def _fit(self, given: Any) -> NDArray[Any]:
        if self.drop is not None:
            choose("drop", self.drop, ["constant", "redundant"])
        check_jobs(self.n_jobs)
        self._scores = self._judge_scores()
        series = read_series(given)
        found = self._columns(series, self._scores)
        self._cuts = [
            column.thresholds if column.thresholds is not None else self._learn(column.values)
            for column in found
        ]
        self.names_ = [
            f"{column.label} > {cut:.12g}"
            for column, cuts in zip(found, self._cuts, strict=True)
            for cut in cuts
        ]
        table = _binarise(found, self._cuts, len(series))
        gone = self._redundant(table)
        self.stands_for_ = {self.names_[j]: twin for j, twin in gone.items()}
        self.kept_ = np.array([j for j in range(len(self.names_)) if j not in gone], np.int64)
        return table

    def _learn(self, values: NDArray[np.float64]) -> tuple[float, ...]:
        """Distinct quantiles of the scores that are there."""
        known = values[~np.isnan(values)]
        if not known.size:
            return ()
        return tuple(float(cut) for cut in np.unique(np.quantile(known, self.quantiles)))

    def _redundant(self, table: NDArray[Any]) -> dict[int, str]:
        """What each column that may go stands for."""
        gone: dict[int, str] = {}
        first: dict[bytes, str] = {}
        if self.drop is None:
            return gone
        for j, name in enumerate(self.names_):
            column = np.ascontiguousarray(table[:, j], dtype=np.float32)
            pattern = column.tobytes()
            if not np.nanmin(column, initial=1) < np.nanmax(column, initial=0):
                gone[j] = "constant"
            elif self.drop == "redundant" and pattern in first:
                gone[j] = first[pattern]
            else:
                first[pattern] = name
        return gone


def _binarise(
    found: list[ScoreColumn], cuts: list[tuple[float, ...]], n_series: int
) -> NDArray[Any]:
    """Whether each score exceeds each of its thresholds, column by column."""
    missing = any(np.isnan(column.values).any() for column in found)
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
