"""Scores that people write: a function of a series, and where in it the answer comes from."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ..checks import listed_names
from ..engine.threads import Engine
from .contract import Record, ScoreColumn, Spans, stretches
from .indicator import Indicator
from .names import thresholds_of
from .scores import SCORES


@dataclass(frozen=True)
class Score:
    """A function of a series with parameters, and the grid they are taken from.

    Parameters
    ----------
    label : str
        What a report shows; parameters in braces.  Where those that are left out would make two
        columns of one name, all of them follow it.
    function : callable
        ``function(series, **parameters) -> float``; NaN where it has no answer.
    grid : mapping of names to sequences
        Values of each parameter.
    thresholds : sequence of float, optional
        Where indicators are cut; learnt from quantiles by default.
    spans_of : callable, optional
        ``spans_of(series, threshold, **parameters)``: a mask of the points that the answer comes
        from, or a list of (first, last); the whole series by default.
    unit : str
        What it is measured in.
    n_channels : int
        Channels it looks at together: ``function(one, other, **parameters)`` for 2.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators import Indicators, Score
    >>> jump = Score("largest step", lambda x: np.abs(np.diff(x)).max(), thresholds=(0.5,))
    >>> Indicators([jump]).fit_transform([np.zeros(9), np.repeat([0.0, 1.0], 5)])
    array([[0],
           [1]], dtype=uint8)
    """

    label: str
    function: Callable[..., float]
    grid: Mapping[str, Sequence[object]] = field(default_factory=dict)
    thresholds: tuple[float, ...] | None = None
    spans_of: Callable[..., ArrayLike] | None = None
    unit: str = ""
    n_channels: int = 1

    def __post_init__(self) -> None:
        thresholds_of(self.thresholds)
        for name, values in self.grid.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise TypeError(
                    f"{name} of the score {self.label!r} must be a list of values; got {values!r}."
                )
        try:
            self._labels()
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"label of a score: {self.label!r} may hold its parameters in braces "
                f"({listed_names(self.grid) or 'it has none'}), and no other ones; a brace itself "
                "is written twice."
            ) from error

    def columns(self, series: Sequence[Record], engine: Engine) -> Iterator[ScoreColumn]:
        """One column for every point of the grid."""
        for parameters, label in zip(self._points(), self._labels(), strict=True):
            values = np.array(
                [self._value(i, x, label, parameters) for i, x in enumerate(series)], np.float64
            )
            meaning = Indicator(label, label, unit=self.unit)
            yield ScoreColumn(label, values, self.thresholds, meaning)

    def spans(self, x: Record, column: int, threshold: float) -> Spans | None:
        """What `spans_of` says of a series; None without it.

        Parameters
        ----------
        x : the series.
        column : position among the columns that `columns` gives.
        threshold : of the indicator.
        """
        record = (x,) if isinstance(x, np.ndarray) else x
        if self.spans_of is None:
            return None
        if not all(bool(np.isfinite(mine).all()) for mine in record):
            return []
        parameters = self._points()[column]
        label, n = self._labels()[column], record[0].size
        try:
            found = np.asarray(self.spans_of(*record, threshold, **parameters))
        except Exception as error:
            raise ValueError(
                f"spans of score {label!r} failed on a series of {n} points: {error}."
            ) from error
        if found.dtype == bool and found.shape == (n,):
            return stretches(found)
        mask = np.zeros(n, bool)
        if found.size:
            if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
                raise ValueError(
                    f"spans of score {label!r} must be a mask of the {n} points or a list of "
                    f"(first, last); got {found!r}."
                )
            for first, last in found.tolist():
                mask[max(first, 0) : last + 1] = True
        return stretches(mask)

    def _points(self) -> list[dict[str, object]]:
        """Every point of the grid."""
        every = itertools.product(*self.grid.values())
        return [dict(zip(self.grid, point, strict=True)) for point in every]

    def _labels(self) -> list[str]:
        """What each point of the grid is called; with all parameters, where the label has none."""
        found = [self.label.format(**point) for point in self._points()]
        if len(set(found)) == len(found):
            return found
        told = [", ".join(f"{k}={v}" for k, v in point.items()) for point in self._points()]
        return [f"{label} ({mine})" for label, mine in zip(found, told, strict=True)]

    def _value(self, i: int, x: Record, label: str, parameters: dict[str, object]) -> float:
        """The function's answer; NaN for a series that is not finite, and for no answer."""
        record = (x,) if isinstance(x, np.ndarray) else x
        if not all(bool(np.isfinite(mine).all()) for mine in record):
            return np.nan
        try:
            answer = self.function(*record, **parameters)
            if isinstance(answer, str | bytes):
                raise TypeError(f"it gave the text {answer!r} in place of a number")
            value = float(answer)
        except Exception as error:
            raise ValueError(
                f"score {label!r} failed on series[{i}] ({record[0].size} points): {error}. Return "
                "NaN where a series has no answer."
            ) from error
        return value if np.isfinite(value) else np.nan


def register_score(
    label: str,
    *,
    thresholds: Sequence[float] | None = None,
    spans: Callable[..., ArrayLike] | None = None,
    unit: str = "",
    n_channels: int = 1,
    **grid: Sequence[object],
) -> Callable[[Callable[..., float]], Score]:
    """Register a function of a series as a score.

    Parameters
    ----------
    label : str
        What a report shows; parameters in braces.
    thresholds : sequence of float, optional
        Where indicators are cut; learnt from quantiles by default.
    spans : callable, optional
        ``spans(series, threshold, **parameters)``: a mask of the points that the answer comes from,
        or a list of (first, last); the whole series by default.
    unit : str
        What it is measured in.
    n_channels : int
        Channels it looks at together.
    **grid :
        Values of each parameter of the function.

    Returns
    -------
    decorator : callable
        Turns the function into a `Score` and keeps it in `SCORES`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators import Indicators, register_score
    >>> @register_score("range of the first {points} points", thresholds=[2.0], points=[5, 10])
    ... def spread(x, points):
    ...     return np.ptp(x[:points])
    >>> indicators = Indicators([spread]).fit([np.arange(20.0), np.zeros(20)])
    >>> indicators.get_feature_names_out().tolist()
    ['range of the first 5 points > 2', 'range of the first 10 points > 2']
    """

    def decorate(function: Callable[..., float]) -> Score:
        cuts = thresholds_of(thresholds)
        score = Score(label, function, dict(grid), cuts, spans, unit, n_channels)
        SCORES[function.__name__] = score
        return score

    return decorate
