"""Window scores: tests of two halves of a window, at every position."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, betaln

from ..checks import Floats, Ints, check_number, choose
from ..data.kernels.options import F_TEST, KS_TEST, U_TEST
from ..data.tables import read_series
from ..engine.threads import Engine
from .indicator import Indicator, Record, ScoreColumn, Spans, number_text, stretches

#: The tests by name, with their numbers in the kernels.
TESTS = {"U": U_TEST, "KS": KS_TEST, "F": F_TEST}


@lru_cache
def ks_probabilities(size: int) -> Floats:
    """P(D >= h / size) for h = 0..size, two samples of the same size: exact, by reflection."""
    total = comb(2 * size, size)
    found = [1.0]
    for h in range(1, size + 1):
        signed = sum(
            (-1) ** (k + 1) * comb(2 * size, size - k * h) for k in range(1, size // h + 1)
        )
        found.append(min(1.0, float(Fraction(2 * signed, total))))
    probabilities = np.array(found)
    probabilities.flags.writeable = False
    return probabilities


def test_constants(halves: Ints) -> tuple[Floats, Floats]:
    """Tables the kernels read: KS probabilities and the F test's beta factor, by sample size."""
    most = int(halves.max(initial=0))
    tables = np.ones((most + 1, most + 1))
    fronts = np.zeros(most + 1)
    for half in np.unique(halves[halves > 0]):
        tables[half, : half + 1] = ks_probabilities(int(half))
        a = (half - 1) / 2
        fronts[half] = -np.log(a) - betaln(a, a)
    return tables, fronts


def critical_values(halves: Ints, levels: Floats) -> Floats:
    """Tests x halves x levels: statistics from which on (F: up to which) a window rejects."""
    from .kernels.windows import critical_values as of_ranks

    tables, _ = test_constants(halves)
    found = np.zeros((len(TESTS), tables.shape[0], levels.size))
    for half in np.unique(halves[halves > 0]):
        of_ranks(tables, int(half), levels, found)
        found[F_TEST, half] = betaincinv((half - 1) / 2, (half - 1) / 2, levels / 2)
    return found


def half_windows(series: Sequence[Floats], widths: Sequence[tuple[int, bool]]) -> Ints:
    """Points on each side of a break: series x widths; 0 where a series has no such window.

    A width is (points, cut): a window that may be cut is at least two points shorter than the
    series.
    """
    lengths = np.array([len(x) for x in series])[:, None]
    points = np.array([width for width, _ in widths])[None]
    cut = np.array([may for _, may in widths])[None]
    whole = np.where(cut, np.minimum(points, lengths - 2), points)
    halves = np.where(whole <= lengths, whole // 2, 0)
    finite = np.array([bool(np.isfinite(x).all()) for x in series])
    return np.where((halves >= 2) & finite[:, None], halves, 0).astype(np.int64)


def window_p_values(x: ArrayLike, test: str, width: int) -> Floats:
    """Two-sided p-values of a test at every break of a series, half a window on each side.

    Parameters
    ----------
    x : array-like
        The series.
    test : {"U", "KS", "F"}
        Mann-Whitney (normal approximation with tie and continuity correction),
        Kolmogorov-Smirnov (exact), or F test of equal variances.
    width : int
        Points in the window, at least 4.

    Returns
    -------
    p : ndarray
        One value a break, from width / 2 points after the start to as many before the end.  Empty
        where the series is shorter than the window or holds a value that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators.windows import window_p_values
    >>> window_p_values(np.r_[np.zeros(8), np.ones(8)], "U", 16).round(6)
    array([0.000138])
    """
    from .kernels.windows import any_ties, p_values

    choose("test", test, TESTS)
    check_number("width", width, low=4, whole=True)
    x = read_series([x])[0]
    halves = half_windows([x], [(width, False)])
    half = int(halves[0, 0])
    if half == 0:
        return np.empty(0)
    out = np.empty(x.size - 2 * half + 1)
    p_values(TESTS[test], x, half, any_ties(x), *test_constants(halves), out)
    return out


# -- Two-sample tests on sliding windows, confirmed over successive windows (Rabenoro 2015) --------


# Series scored before their scores are laid down by column.
_BLOCK = 512

# What a test is called as a score, what it finds, and its name in a sentence.
_SPOKEN = {
    "U": ("u-test", "Level steps", "Mann-Whitney test"),
    "KS": ("ks-test", "Distribution changes", "Kolmogorov-Smirnov test"),
    "F": ("f-test", "Variance jumps", "F test"),
}


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
        for width in self.widths:
            if isinstance(width, Sequence) and len(width) != 2:
                raise ValueError(f"widths must hold numbers or pairs (number, cut); got {width!r}.")
        for points, _ in self._widths():
            check_number("widths", points, low=4, whole=True)
        for level in self.levels:
            check_number("levels", level, low=0.0, high=1.0)
        for name in ("shares", "runs"):
            for cut in getattr(self, name) or ():
                check_number(name, cut, low=0.0)
        for pair in self.among:
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise ValueError(f"among must hold pairs (k, l); got {pair!r}.")
            most, span = pair
            check_number("among", span, low=1, whole=True)
            if most is not None:
                check_number("among", most, low=0, high=span, whole=True)

    def _widths(self) -> list[tuple[int, bool]]:
        """Every width with whether it may be cut."""
        return [(w[0], bool(w[1])) if isinstance(w, Sequence) else (w, False) for w in self.widths]

    def columns(self, series: Sequence[Record], engine: Engine) -> Iterator[ScoreColumn]:
        """Confirmatory scores of every test, width and level."""
        alone = [x if isinstance(x, np.ndarray) else x[0] for x in series]
        spans = sorted({span for _, span in self.among})
        found = self._scores(alone, self._widths(), spans, engine)
        for (k, test), (w, (width, cut)), (a, level) in itertools.product(
            enumerate(self.tests), enumerate(self._widths()), enumerate(self.levels)
        ):
            points, at = f"{width}{' or n-2' if cut else ''}", number_text(level)
            where = f"windows (w={points}) where {test} rejects at {at}"
            mine, meaning = found[k, w, a], partial(_meaning, test, width, cut, level)
            yield ScoreColumn(f"share of {where}", mine[0], _cuts(self.shares), meaning("share"))
            yield ScoreColumn(f"longest run of {where}", mine[1], _cuts(self.runs), meaning("run"))
            for s, span in enumerate(spans):
                cuts = [most for most, mine_span in self.among if mine_span == span]
                label = f"most among {span} successive {where}"
                yield ScoreColumn(label, mine[2 + s], _cuts(cuts), meaning("among", span))

    def spans(self, x: Record, column: int, threshold: float) -> Spans:
        """Breaks at which the test behind a score column rejects, whatever the threshold.

        Parameters
        ----------
        x : the series.
        column : position among the columns that `columns` gives.
        threshold : of the indicator.

        Returns
        -------
        spans : the (first, last) breaks at which successive windows reject, last included; a break
            is the first point of a window's second half.
        """
        alone = x if isinstance(x, np.ndarray) else x[0]
        n_spans = len({span for _, span in self.among})
        at, a = divmod(column // (2 + n_spans), len(self.levels))
        k, w = divmod(at, len(self.widths))
        half = int(half_windows([alone], [self._widths()[w]])[0, 0])
        if half == 0:
            return []
        rejects = window_p_values(alone, self.tests[k], 2 * half) <= self.levels[a]
        return [(half + first, half + last) for first, last in stretches(rejects)]

    def _scores(
        self,
        series: Sequence[Floats],
        widths: list[tuple[int, bool]],
        spans: list[int],
        engine: Engine,
    ) -> Floats:
        """Tests x widths x levels x confirmations x series."""
        from .kernels.windows import confirmatory_scores

        pointers = np.cumsum([0, *(len(x) for x in series)]).astype(np.int64)
        values = np.concatenate([*series, np.empty(0)])
        halves = half_windows(series, widths)
        kinds = np.array([TESTS[test] for test in self.tests])
        order, of_spans = np.argsort(self.levels, kind="stable"), np.array(spans, np.int64)
        levels = np.array(self.levels, float)[order]
        tables = (*test_constants(halves), critical_values(halves, levels))
        score = partial(
            confirmatory_scores, values, pointers, halves, kinds, levels, order, of_spans, tables
        )
        shape = (kinds.size, len(widths), levels.size, 2 + len(spans))
        found = np.empty((int(np.prod(shape)), len(series)))

        def task(lo: int, hi: int) -> None:
            block = np.empty((min(_BLOCK, hi - lo), *shape))
            for start in range(lo, hi, _BLOCK):
                end = min(start + _BLOCK, hi)
                score(start, end, block)
                found[:, start:end] = block[: end - start].reshape(end - start, -1).T

        engine.run(task, len(series), values.size * kinds.size * len(widths) * 100)
        return found.reshape(*shape, len(series))


def _cuts(given: Sequence[float | None] | None) -> tuple[float, ...] | None:
    """Thresholds as floats; None where they are to be learnt."""
    if given is None or any(cut is None for cut in given):
        return None
    return tuple(float(cut) for cut in given if cut is not None)


def _meaning(
    test: str, width: int, cut: bool, level: float, rule: str, successive: int | None = None
) -> Indicator:
    """What the indicators of a column say."""
    score, title, spoken = _SPOKEN[test]
    return Indicator(
        score,
        title,
        f"{spoken} p <= {{level}}",
        f"{width}-point window{' (shorter in short series)' if cut else ''}",
        rule,
        window=width,
        level=level,
        successive=successive,
    )
