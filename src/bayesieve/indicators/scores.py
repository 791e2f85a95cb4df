"""Scores: parametric functions of a series, each over a grid of its parameters."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..checks import check_number, choose
from ..engine.threads import Engine
from .windows import TESTS, critical_values, half_windows, test_constants, window_p_values

# Series scored before their scores are laid down by column.
_BLOCK = 512


class ScoreColumn(NamedTuple):
    """One score with its parameters fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators import ScoreColumn
    >>> ScoreColumn("range", np.array([1.0, 4.0]), (2.0,)).thresholds
    (2.0,)
    """

    label: str
    values: NDArray[np.float64]  #: one a series; NaN is missing
    thresholds: tuple[float, ...] | None  #: None: learnt from quantiles


class ScoreFamily(Protocol):
    """Anything that turns series into score columns."""

    def columns(
        self, series: Sequence[NDArray[np.float64]], engine: Engine
    ) -> Iterator[ScoreColumn]:
        """Score columns, the same ones in the same order for any series."""


@dataclass(frozen=True)
class Score:
    """A function of a series with parameters, and the grid they are taken from.

    Parameters
    ----------
    label : str
        What a report shows; parameters in braces.
    function : callable
        ``function(series, **parameters) -> float``; NaN where it has no answer.
    grid : mapping of names to sequences
        Values of each parameter.
    thresholds : sequence of float, optional
        Where indicators are cut; learnt from quantiles by default.

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

    def columns(
        self, series: Sequence[NDArray[np.float64]], engine: Engine
    ) -> Iterator[ScoreColumn]:
        """One column for every point of the grid."""
        for point in itertools.product(*self.grid.values()):
            parameters = dict(zip(self.grid, point, strict=True))
            label = self.label.format(**parameters)
            values = np.array([self._value(i, x, label, parameters) for i, x in enumerate(series)])
            yield ScoreColumn(label, values, self.thresholds)

    def _value(
        self, i: int, x: NDArray[np.float64], label: str, parameters: dict[str, object]
    ) -> float:
        """The function's answer; NaN for a series that is not finite, and for no answer."""
        if not np.isfinite(x).all():
            return np.nan
        try:
            value = float(self.function(x, **parameters))
        except Exception as error:
            raise ValueError(
                f"score {label!r} failed on series[{i}] ({x.size} points): {error}. Return NaN "
                "where a series has no answer."
            ) from error
        return value if np.isfinite(value) else np.nan


def register_score(
    label: str, *, thresholds: Sequence[float] | None = None, **grid: Sequence[object]
) -> Callable[[Callable[..., float]], Score]:
    """Register a function of a series as a score.

    Parameters
    ----------
    label : str
        What a report shows; parameters in braces.
    thresholds : sequence of float, optional
        Where indicators are cut; learnt from quantiles by default.
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
        cuts = None if thresholds is None else tuple(float(cut) for cut in thresholds)
        score = SCORES[function.__name__] = Score(label, function, dict(grid), cuts)
        return score

    return decorate


@dataclass(frozen=True)
class WindowScores:
    """Two-sample tests on sliding windows, confirmed over successive windows.

    The defaults are a grid of 810 indicators in the spirit of Rabenoro 2015, whose own 814 are not
    listed: 3 tests x 3 windows x 10 levels x 9 confirmations.

    Parameters
    ----------
    tests : sequence of {"U", "KS", "F"}
        Mann-Whitney, Kolmogorov-Smirnov, F test of variances.
    widths : sequence of int, or of pairs (int, True)
        Points in a window, at least 4.  ``(100, True)`` is cut for short series: 100 points, or two
        fewer than the series has.
    levels : sequence of float
        Levels at which a window rejects: p <= level.
    shares : sequence of float, or None
        Thresholds on the share of windows that reject; None: learnt from quantiles.
    runs : sequence of int, or None
        Thresholds on the longest run of successive windows that reject; None: likewise.
    among : sequence of (k, l)
        More than k windows reject among some l successive ones; k may be None: likewise.

    Examples
    --------
    >>> from bayesieve.datasets import make_signals
    >>> from bayesieve.indicators import Indicators, WindowScores
    >>> few = WindowScores(tests=("U",), widths=(30,), levels=(0.01,), shares=(0.1,), runs=(5,))
    >>> Indicators([few]).fit_transform(make_signals(3, 1, random_state=0).series).shape
    (6, 5)
    """

    tests: tuple[str, ...] = ("U", "KS", "F")
    widths: tuple[int | tuple[int, bool], ...] = (30, 50, (100, True))
    levels: tuple[float, ...] = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
    shares: tuple[float, ...] | None = (0.1, 0.3, 0.5)
    runs: tuple[int, ...] | None = (2, 5, 10)
    among: tuple[tuple[int | None, int], ...] = ((2, 5), (5, 10), (10, 20))

    def __post_init__(self) -> None:
        for name in ("tests", "widths", "levels"):
            if len(getattr(self, name)) == 0:
                raise ValueError(f"{name} of WindowScores must not be empty.")
        for test in self.tests:
            choose("tests", test, TESTS)
        for width in self._widths():
            check_number("widths", width[0], low=4, whole=True)
        for level in self.levels:
            check_number("levels", level, low=0.0, high=1.0)
        for most, span in self.among:
            check_number("among", span, low=1, whole=True)
            if most is not None:
                check_number("among", most, low=0, high=span, whole=True)

    def _widths(self) -> list[tuple[int, bool]]:
        """Every width with whether it may be cut."""
        return [(w[0], bool(w[1])) if isinstance(w, Sequence) else (w, False) for w in self.widths]

    def columns(
        self, series: Sequence[NDArray[np.float64]], engine: Engine
    ) -> Iterator[ScoreColumn]:
        """Confirmatory scores of every test, width and level."""
        widths = self._widths()
        spans = sorted({span for _, span in self.among})
        found = self._scores(series, widths, spans, engine)
        for (k, test), (w, (width, cut)), (a, level) in itertools.product(
            enumerate(self.tests), enumerate(widths), enumerate(self.levels)
        ):
            where = (
                f"windows (w={width}{' or n-2' if cut else ''}) where {test} rejects at {level:g}"
            )
            mine = found[k, w, a]
            yield ScoreColumn(f"share of {where}", mine[0], _cuts(self.shares))
            yield ScoreColumn(f"longest run of {where}", mine[1], _cuts(self.runs))
            for s, span in enumerate(spans):
                cuts = [most for most, mine_span in self.among if mine_span == span]
                yield ScoreColumn(f"most among {span} successive {where}", mine[2 + s], _cuts(cuts))

    def fired(self, x: NDArray[np.float64], columns: Sequence[int]) -> list[list[tuple[int, int]]]:
        """Where in a series the tests behind some score columns reject.

        Parameters
        ----------
        x : the series.
        columns : positions among the columns that `columns` gives.

        Returns
        -------
        spans : for each column, the (first, last) breaks at which successive windows reject, last
            included; a break is the first point of a window's second half.
        """
        n_spans = len({span for _, span in self.among})
        p_values: dict[tuple[int, int], NDArray[np.float64]] = {}  # many columns share a test
        found = []
        for column in columns:
            at, a = divmod(column // (2 + n_spans), len(self.levels))
            k, w = divmod(at, len(self.widths))
            half = int(half_windows([x], [self._widths()[w]])[0, 0])
            if (k, w) not in p_values:
                p = window_p_values(x, self.tests[k], 2 * half) if half else np.empty(0)
                p_values[k, w] = p
            rejects = (p_values[k, w] <= self.levels[a]).astype(int)
            edges = np.flatnonzero(np.diff(np.concatenate([[0], rejects, [0]])))
            found.append([(half + int(lo), half + int(hi) - 1) for lo, hi in edges.reshape(-1, 2)])
        return found

    def _scores(
        self,
        series: Sequence[NDArray[np.float64]],
        widths: list[tuple[int, bool]],
        spans: list[int],
        engine: Engine,
    ) -> NDArray[np.float64]:
        """Tests x widths x levels x confirmations x series."""
        from .kernels.confirm import confirmatory_scores

        pointers = np.cumsum([0, *(len(x) for x in series)]).astype(np.int64)
        values = np.concatenate([*series, np.empty(0)])
        halves = half_windows(series, widths)
        kinds = np.array([TESTS[test] for test in self.tests])
        order, of_spans = np.argsort(self.levels, kind="stable"), np.array(spans, np.int64)
        levels = np.array(self.levels, float)[order]
        tables = (*test_constants(halves), critical_values(halves, levels))
        asked = (halves, kinds, levels, order, of_spans, tables)
        shape = (kinds.size, len(widths), levels.size, 2 + len(spans))
        found = np.empty((int(np.prod(shape)), len(series)))

        def task(lo: int, hi: int) -> None:
            block = np.empty((min(_BLOCK, hi - lo), *shape))
            for start in range(lo, hi, _BLOCK):
                end = min(start + _BLOCK, hi)
                confirmatory_scores(values, pointers, *asked, start, end, block)
                found[:, start:end] = block[: end - start].reshape(end - start, -1).T

        engine.run(task, len(series), values.size * kinds.size * len(widths) * 100)
        return found.reshape(*shape, len(series))


def _cuts(given: Sequence[float | None] | None) -> tuple[float, ...] | None:
    """Thresholds as floats; None where they are to be learnt."""
    if given is None or any(cut is None for cut in given):
        return None
    return tuple(float(cut) for cut in given if cut is not None)


#: Every score by name; a new member is one entry here (`register_score` makes one of a function).
SCORES: dict[str, ScoreFamily] = {
    "windows": WindowScores(),
}
