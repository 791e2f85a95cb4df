"""`Indicators`: series in, named binary columns out."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, check_jobs, check_number, choose
from ..data.series import SeriesLike, SeriesTable, read_series_table
from ..engine.threads import Threads, count_threads
from .indicator import (
    Indicator,
    Plain,
    Record,
    ScoreColumn,
    ScoreFamily,
    Spans,
    distinct_sentences,
    names_of,
    without_repeats,
)
from .scores import SCORES, score_from_plain, score_to_plain
from .windows import WindowScores

#: A score, and the numbers of the channels it looks at.
Task: TypeAlias = tuple[ScoreFamily, tuple[int, ...]]


class Indicators(TransformerMixin, BaseEstimator):
    """Binary indicators "score > threshold" of time series (Rabenoro 2015, section 2).

    Parameters
    ----------
    scores : list of scores, optional
        Names of registered scores, or scores: `WindowScores`, `Score`, one of the library over
        another grid (``SCORES["slope"].over(window=[20])``).  ``["windows"]``, which is
        ``[WindowScores()]``, by default.
    quantiles : sequence of float, default=(0.1, 0.25, 0.5, 0.75, 0.9)
        Where to cut the scores that come without thresholds, learnt by `fit`.
    drop : {None, "constant", "redundant"}, default=None
        Leave out columns that are constant in `fit`, or also those equal to an earlier column.
    n_jobs : int, optional
        Threads for the kernels; -1 for all cores.
    channels : sequence of str, optional
        Names of the channels, for arrays, which have none.

    Attributes
    ----------
    names_ : list of str
        Names of all indicators, before any were dropped.
    indicators_ : list of Indicator
        What they say, one for each name.
    kept_ : ndarray of int
        Which of them `transform` gives.
    stands_for_ : dict
        For each indicator dropped, ``"constant"`` or the name of the one it equals.
    channels_ : tuple of str
        Names of the channels; ``("",)`` for one without a name.

    Notes
    -----
    Series come as a list of arrays of any lengths; as a matrix, one series a row; with several
    channels as a list of matrices (channels x points) or an array series x channels x points; as a
    wide frame, one series a row; as a long frame with the columns ``id`` and ``time`` and a column
    a channel (or ``channel`` and ``value``); or as a `SeriesTable`.

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
    >>> indicators.indicators_[0].sentence
    'Level steps: more than 10 % of 30-point windows, Mann-Whitney test p <= 0.001'
    """

    def __init__(
        self,
        scores: Sequence[ScoreFamily | str] | None = None,
        quantiles: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
        drop: str | None = None,
        n_jobs: int | None = None,
        channels: Sequence[str] | None = None,
    ):
        self.scores = scores
        self.quantiles = quantiles
        self.drop = drop
        self.n_jobs = n_jobs
        self.channels = channels

    def fit(self, series: SeriesLike, y: object = None) -> "Indicators":
        """Learn thresholds, and which columns are redundant.

        Parameters
        ----------
        series : list of arrays, array, frame or SeriesTable
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
        table = self._fit(series)
        return table if len(self.kept_) == table.shape[1] else table[:, self.kept_]

    def transform(self, series: SeriesLike) -> Array:
        """Indicators: series x columns, uint8, or float64 with NaN where scores are missing."""
        read = self.read(series)
        found = list(itertools.chain.from_iterable(self._families(read)))
        table = _binarise(found, self._cuts, len(read))
        return table if len(self.kept_) == table.shape[1] else table[:, self.kept_]

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Names such as ``share of windows (w=50) where U rejects at 0.005 > 0.3``."""
        check_is_fitted(self, "kept_")
        return np.array(self.names_, dtype=object)[self.kept_]

    def fired(self, x: ArrayLike | SeriesTable, names: Sequence[str]) -> dict[str, Spans]:
        """Where in a series the scores behind some indicators fired.

        Parameters
        ----------
        x : array-like
            One series; channels x points where there are several channels.
        names : list of str
            Names of indicators.

        Returns
        -------
        spans : dict of lists of (first, last)
            For each name, points of the series (last included): those at which successive windows
            reject, or that exceed the level or the threshold.  Of a score that has no spans the
            whole series, where the indicator is 1.

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
        read = self.read(x if isinstance(x, SeriesTable) else [x])
        return {name: self._spans(read, known[name]) for name in names}

    def read(self, series: SeriesLike) -> SeriesTable:
        """Series in any form as a table with the channels that `fit` saw, in their order.

        Parameters
        ----------
        series : list of arrays, array, frame or SeriesTable

        Returns
        -------
        table : SeriesTable
        """
        check_is_fitted(self, "kept_")
        read, names = read_series_table(series), self.channels_
        unnamed = read.channels in (("",), tuple(f"channel {k}" for k in range(len(names))))
        if len(read.channels) == len(names) and (unnamed or len(names) == 1):
            return SeriesTable(read.values, names, read.ids, read.times)
        if set(read.channels) != set(names):
            raise ValueError(
                f"series must have the channels that fit saw, {list(names)}; got "
                f"{list(read.channels)}."
            )
        order = [read.channels.index(name) for name in names]
        values = tuple(read.values[k] for k in order)
        return SeriesTable(values, names, read.ids, read.times)

    def recipe(self) -> dict[str, Plain]:
        """What `fit` made, as plain data for a file: scores, grids, thresholds, channels.

        Returns
        -------
        recipe : dict
            Texts, numbers, lists and dicts.  A score that a user wrote is there by its name only.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.indicators import Indicators
        >>> series = np.random.default_rng(0).normal(size=(9, 60))
        >>> fitted = Indicators(["slope"], quantiles=[0.5]).fit(series)
        >>> again = Indicators.from_recipe(fitted.recipe())
        >>> bool((again.transform(series) == fitted.transform(series)).all())
        True
        """
        check_is_fitted(self, "kept_")
        return {
            "version": 1,
            "scores": [score_to_plain(score) for score in self._scores],
            "channels": list(self.channels_),
            "quantiles": [float(q) for q in self.quantiles],
            "drop": self.drop,
            "cuts": [list(cuts) for cuts in self._cuts],
            "names": list(self.names_),
            "kept": self.kept_.tolist(),
            "stands_for": dict(self.stands_for_),
        }

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Plain], n_jobs: int | None = None) -> "Indicators":
        """Fitted indicators from what `recipe` gave.

        Parameters
        ----------
        recipe : mapping
            What `recipe` gave; scores that a user wrote must be registered again before.
        n_jobs : int, optional
            Threads for the kernels.

        Returns
        -------
        indicators : Indicators
        """
        if recipe.get("version") != 1:
            raise ValueError(
                f"recipe must be of version 1; got {recipe.get('version')!r}. Read it with the "
                "version of bayesieve that wrote it."
            )
        scores = [score_from_plain(each) for each in recipe["scores"]]
        channels = tuple(recipe["channels"])
        found = cls(scores, recipe["quantiles"], recipe["drop"], n_jobs, channels)
        found._scores, found.channels_ = scores, channels
        # Missing, so that no function that somebody wrote is asked about it.
        point = SeriesTable(tuple([np.full(1, np.nan)] for _ in channels), channels, (0,))
        found._describe(found._families(point), [tuple(cuts) for cuts in recipe["cuts"]])
        if found.names_ != list(recipe["names"]):
            raise ValueError(
                "recipe: the scores registered under these names give other columns than those the "
                "recipe was written with. Register the ones it was written with."
            )
        found.kept_ = np.array(recipe["kept"], np.int64)
        found.stands_for_ = dict(recipe["stands_for"])
        return found

    def _tasks(self) -> list[Task]:
        """Every score with every channel, or set of channels, that it looks at."""
        every = range(len(self.channels_))
        return [
            (score, channels)
            for score in self._scores
            for channels in itertools.combinations(every, getattr(score, "n_channels", 1))
        ]

    def _families(self, table: SeriesTable) -> list[list[ScoreColumn]]:
        with Threads(count_threads(self.n_jobs)) as engine:
            return [
                list(score.columns(_records(table, channels), engine))
                for score, channels in self._tasks()
            ]

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
        for quantile in self.quantiles:
            check_number("quantiles", quantile, low=0.0, high=1.0)
        check_jobs(self.n_jobs)
        self._scores = self._judge_scores()
        table = read_series_table(given, self.channels)
        self.channels_ = table.channels
        for score in self._scores:
            needed = getattr(score, "n_channels", 1)
            if needed > len(table.channels):
                raise ValueError(
                    f"scores: {getattr(score, 'name', score)!r} looks at {needed} channels "
                    f"together; the series have {len(table.channels)}."
                )
        families = self._families(table)
        found = list(itertools.chain.from_iterable(families))
        cuts: list[Sequence[float]] = []
        for column in found:
            if column.thresholds is not None:
                cuts.append(column.thresholds)
                continue
            # Distinct quantiles of the scores that are there.
            known = column.values[~np.isnan(column.values)]
            cuts.append(
                np.unique(np.quantile(known, self.quantiles)).tolist() if known.size else ()
            )
        self._describe(families, without_repeats(self._labels(families), found, cuts))
        binary = _binarise(found, self._cuts, len(table))
        gone = self._redundant(binary)
        self.stands_for_ = {self.names_[j]: twin for j, twin in gone.items()}
        self.kept_ = np.array([j for j in range(len(self.names_)) if j not in gone], np.int64)
        return binary

    def _describe(self, families: list[list[ScoreColumn]], cuts: list[tuple[float, ...]]) -> None:
        """Indicators, their names, and where each comes from, of all columns and their cuts."""
        self._cuts = cuts
        found: list[Indicator] = []
        self._origins: list[tuple[int, int]] = []  #: of each: its task, the column among its
        at = zip(self._labels(families), cuts, strict=True)
        tasks = self._tasks()
        for t, family in enumerate(families):
            channels = tuple(self.channels_[k] for k in tasks[t][1])
            for c, column in enumerate(family):
                meaning = column.meaning or Indicator(column.label, column.label)
                label, mine = next(at)
                for cut, name in zip(mine, names_of(label, mine), strict=True):
                    found.append(replace(meaning, threshold=float(cut), channels=channels, id=name))
                    self._origins.append((t, c))
        self.indicators_ = distinct_sentences(found)
        self.names_ = [each.id for each in self.indicators_]

    def _labels(self, families: list[list[ScoreColumn]]) -> list[str]:
        """What every score column is called, with its channels where there are several."""
        found: list[str] = []
        for (_, channels), family in zip(self._tasks(), families, strict=True):
            names = ", ".join(self.channels_[k] for k in channels)
            where = f"{names}: " if len(self.channels_) > 1 else ""
            found += [f"{where}{column.label}" for column in family]
        return found

    def _spans(self, table: SeriesTable, at: int) -> Spans:
        """Where the score of one indicator fired in the only series of a table."""
        task, column = self._origins[at]
        score, channels = self._tasks()[task]
        record = _records(table, channels)[0]
        threshold = self.indicators_[at].threshold
        spans_of = getattr(score, "spans", None)
        spans: Spans | None = None if spans_of is None else spans_of(record, column, threshold)
        if spans is not None:
            return spans
        with Threads(1) as engine:
            value = list(score.columns([record], engine))[column].values[0]
        size = (record if isinstance(record, np.ndarray) else record[0]).size
        return [(0, size - 1)] if value > threshold and size else []

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


def _records(table: SeriesTable, channels: tuple[int, ...]) -> Sequence[Record]:
    """What a score of these channels reads."""
    if len(channels) == 1:
        return table.values[channels[0]]
    return list(zip(*(table.values[k] for k in channels), strict=True))


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
