"""`Indicators`: series in, named binary columns out."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, check_jobs, choose
from ..data.tables import read_series
from ..engine.threads import Threads, count_threads
from .scores import SCORES, ScoreColumn, ScoreFamily, WindowScores

#: Series of any lengths, or the rows of a matrix.
SeriesLike: TypeAlias = Sequence[ArrayLike] | Array


class Indicators(TransformerMixin, BaseEstimator):
    """Binary indicators "score > threshold" of time series (Rabenoro 2015, section 2).

    Parameters
    ----------
    scores : list of scores, optional
        `WindowScores` and `Score` objects, or names of registered scores; ``["windows"]``, which is
        ``[WindowScores()]``, by default.
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
        scores: Sequence[ScoreFamily | str] | None = None,
        quantiles: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
        drop: str | None = None,
        n_jobs: int | None = None,
    ):
        self.scores = scores
        self.quantiles = quantiles
        self.drop = drop
        self.n_jobs = n_jobs

    def fit(self, series: SeriesLike, y: object = None) -> "Indicators":
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

    def fit_transform(self, series: SeriesLike, y: object = None) -> Array:
        """Fit, and give the indicators of the same series."""
        return self._fit(series)[:, self.kept_]

    def transform(self, series: SeriesLike) -> Array:
        """Indicators: series x columns, uint8, or float64 with NaN where scores are missing."""
        check_is_fitted(self, "kept_")
        checked = read_series(series)
        found = self._columns(checked, self._scores)
        return _binarise(found, self._cuts, len(checked))[:, self.kept_]

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Names such as ``share of windows (w=50) where U rejects at 0.005 > 0.3``."""
        check_is_fitted(self, "kept_")
        return np.array(self.names_, dtype=object)[self.kept_]

    def fired(self, x: ArrayLike, names: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        """Where in a series the scores behind some indicators fired.

        Parameters
        ----------
        x : array-like
            One series.
        names : list of str
            Names of indicators.

        Returns
        -------
        spans : dict of lists of (first, last)
            For each name, points of the series (last included) at which successive windows reject;
            empty for scores that look at the series as a whole.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.indicators import Indicators
        >>> x = np.r_[np.zeros(60), np.ones(60)] + np.arange(120) % 7 / 10
        >>> indicators = Indicators().fit([x, x[::-1]])
        >>> name = "share of windows (w=30) where U rejects at 0.001 > 0.1"
        >>> indicators.fired(x, [name])[name]
        [(57, 62)]
        """
        check_is_fitted(self, "kept_")
        known = {each: i for i, each in enumerate(self.names_)}
        odd = [name for name in names if name not in known]
        if odd:
            raise ValueError(
                f"names must be among the {len(known)} indicators, such as {self.names_[0]!r}; got "
                f"{odd[0]!r}."
            )
        series = read_series([x])[0]
        found: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
        for f, score in enumerate(self._scores):
            mine = [name for name in found if self._origins[known[name]][0] == f]
            if mine and hasattr(score, "fired"):
                columns = [self._origins[known[name]][1] for name in mine]
                found |= dict(zip(mine, score.fired(series, columns), strict=True))
        return found

    def _columns(
        self, series: list[NDArray[np.float64]], scores: list[ScoreFamily]
    ) -> list[ScoreColumn]:
        return [column for family in self._families(series, scores) for column in family]

    def _families(
        self, series: list[NDArray[np.float64]], scores: list[ScoreFamily]
    ) -> list[list[ScoreColumn]]:
        with Threads(count_threads(self.n_jobs)) as engine:
            return [list(score.columns(series, engine)) for score in scores]

    def _judge_scores(self) -> list[ScoreFamily]:
        """Scores as objects; names are looked up among the registered ones."""
        if self.scores is None:
            return [WindowScores()]
        if isinstance(self.scores, str) or not isinstance(self.scores, Iterable):
            raise TypeError(
                "scores must be a list of scores or names of registered scores; got "
                f"{self.scores!r}. Wrap a single one in a list."
            )
        unknown = [s for s in self.scores if isinstance(s, str) and s not in SCORES]
        if unknown and not SCORES:
            raise ValueError(
                "scores must name registered scores, and none is registered yet; got "
                f"{unknown[0]!r}. Put register_score before a function, or leave scores out for "
                "WindowScores()."
            )
        scores = [
            SCORES[choose("scores", s, SCORES)] if isinstance(s, str) else s for s in self.scores
        ]
        for score in scores:
            if not hasattr(score, "columns"):
                raise TypeError(
                    "scores must hold WindowScores, Score objects or names of registered scores; "
                    f"got {score!r}. Use register_score to turn a function into a score."
                )
        return scores

    def _fit(self, given: SeriesLike) -> Array:
        if self.drop is not None:
            choose("drop", self.drop, ["constant", "redundant"])
        check_jobs(self.n_jobs)
        self._scores = self._judge_scores()
        series = read_series(given)
        families = self._families(series, self._scores)
        found = [column for family in families for column in family]
        self._cuts = [
            column.thresholds if column.thresholds is not None else self._learn(column.values)
            for column in found
        ]
        self.names_ = [
            f"{column.label} > {cut:.12g}"
            for column, cuts in zip(found, self._cuts, strict=True)
            for cut in cuts
        ]
        origins = [(f, c) for f, family in enumerate(families) for c in range(len(family))]
        self._origins = [
            at for at, cuts in zip(origins, self._cuts, strict=True) for _ in cuts
        ]  #: of each indicator: its score, and the column among that score's
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

    def _redundant(self, table: Array) -> dict[int, str]:
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


def _binarise(found: list[ScoreColumn], cuts: list[tuple[float, ...]], n_series: int) -> Array:
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
