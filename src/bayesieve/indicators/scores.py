"""Scores by name: the library, recipes, scores of the user's own, and files of them."""

import itertools
import json
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_number, choose, listed_names
from ..engine.threads import Engine
from .indicator import (
    Indicator,
    Plain,
    Record,
    ScoreColumn,
    ScoreFamily,
    Spans,
    stretches,
    thresholds_of,
)
from .traces import TraceScore
from .windows import WindowScores

_POINTS = (1, float("inf"), True)
_WINDOW = {"window": (4, float("inf"), True)}
#: 0 points: the whole series.
_ANY_WINDOW = {"window": (0, float("inf"), True)}


LIBRARY = {
    score.name: score
    for score in (
        # -- level -------------------------------------------------------------------------------
        TraceScore("highest", "High level", "value", "points.level"),
        TraceScore("lowest", "No low level", "value", "points.level", rule="smallest"),
        TraceScore(
            "outside",
            "Level outside limits",
            "distance outside {low} to {high}",
            "points.outside",
            {"low": (-3.0,), "high": (3.0,)},
            {
                "low": (-float("inf"), float("inf"), False),
                "high": (-float("inf"), float("inf"), False),
            },
            rule="share",
            levels=(0.0,),
            thresholds=(0.0, 0.05, 0.2),
        ),
        TraceScore(
            "welch",
            "Level steps",
            "Welch t",
            "breaks.welch",
            {"window": (20, 50)},
            _WINDOW,
            "breaks",
            thresholds=(3.0, 4.0, 6.0, 10.0),
        ),
        TraceScore(
            "cusum",
            "Level changes",
            "standardised sum of deviations from the mean",
            "points.cusum",
            thresholds=(1.22, 1.36, 1.63, 2.5),
        ),
        # -- spread ------------------------------------------------------------------------------
        TraceScore(
            "levene",
            "Variance jumps",
            "Levene W",
            "breaks.levene",
            {"window": (20, 50)},
            _WINDOW,
            "breaks",
            thresholds=(8.0, 12.0, 20.0, 40.0),
        ),
        # -- trend -------------------------------------------------------------------------------
        TraceScore(
            "mann-kendall",
            "Trend",
            "Mann-Kendall z",
            "stretches.mann_kendall",
            {"window": (0, 30, 50)},
            _ANY_WINDOW,
            "windows",
            thresholds=(2.0, 3.0, 4.0, 6.0),
        ),
        TraceScore(
            "slope",
            "Slope",
            "absolute slope of the least-squares line",
            "stretches.slope",
            {"window": (0, 30, 50)},
            _ANY_WINDOW,
            "windows",
            unit="per point",
        ),
        TraceScore(
            "drift",
            "Drift",
            "weighted average (weight {weight}) away from that of the first {reference} points",
            "points.drift",
            {"weight": (0.1, 0.3), "reference": (30,)},
            {"weight": (1e-6, 1.0, False), "reference": (2, float("inf"), True)},
            thresholds=(2.7, 4.0, 6.0),
            unit="standard errors",
        ),
        # -- single points -----------------------------------------------------------------------
        TraceScore(
            "spikes",
            "Spikes",
            "distance from the median",
            "points.robust_z",
            thresholds=(3.5, 5.0, 8.0),
            unit="robust deviations",
        ),
        TraceScore(
            "hampel",
            "Spikes",
            "distance from the median of {window} points around",
            "points.hampel",
            {"window": (7, 21)},
            {"window": (3, float("inf"), True)},
            thresholds=(3.5, 5.0, 8.0),
            unit="robust deviations",
        ),
        TraceScore(
            "stuck",
            "Stuck sensor",
            "run of steps of at most {tolerance} around it",
            "points.stuck",
            {"tolerance": (0.0,)},
            {"tolerance": (0.0, float("inf"), False)},
            thresholds=(3.0, 10.0, 30.0),
            unit="points",
        ),
        TraceScore(
            "dropouts",
            "Dropouts",
            "run of missing points around it",
            "points.dropouts",
            thresholds=(0.0, 3.0, 10.0),
            unit="points",
            takes_missing=True,
        ),
        # -- rhythm and roughness ----------------------------------------------------------------
        TraceScore(
            "periodicity",
            "Periodic",
            "share of the variance at one frequency",
            "stretches.periodicity",
            {"window": (0, 64)},
            _ANY_WINDOW,
            "windows",
            thresholds=(0.2, 0.4, 0.6, 0.8),
        ),
        TraceScore(
            "autocorrelation",
            "Follows itself",
            "autocorrelation at lag {lag}",
            "stretches.autocorrelation",
            {"lag": (1, 5, 10), "window": (0, 50)},
            {"lag": _POINTS, **_ANY_WINDOW},
            "windows",
            thresholds=(0.2, 0.4, 0.6, 0.8),
        ),
        TraceScore(
            "total-variation",
            "Rough",
            "mean absolute step",
            "stretches.total_variation",
            {"window": (0, 30)},
            _ANY_WINDOW,
            "windows",
            unit="per point",
        ),
        TraceScore(
            "zero-crossings",
            "Crosses its mean",
            "share of steps that cross the mean",
            "stretches.zero_crossings",
            {"window": (0, 30)},
            _ANY_WINDOW,
            "windows",
            thresholds=(0.2, 0.4, 0.6, 0.8),
        ),
        TraceScore(
            "permutation-entropy",
            "No order",
            "permutation entropy of order {order}",
            "stretches.permutation_entropy",
            {"order": (3, 4), "window": (0, 50)},
            {"order": (2, 6, True), **_ANY_WINDOW},
            "windows",
            thresholds=(0.5, 0.7, 0.8, 0.9),
            rule="smallest",
        ),
        # -- against a reference period ----------------------------------------------------------
        TraceScore(
            "reference-ks",
            "Distribution changes",
            "Kolmogorov-Smirnov distance from the first {reference} points",
            "reference.reference_ks",
            {"reference": (30, 50), "window": (30,)},
            {"reference": _POINTS, "window": _POINTS},
            "windows",
            thresholds=(0.3, 0.5, 0.7, 0.9),
        ),
        TraceScore(
            "reference-energy",
            "Distribution changes",
            "energy distance from the first {reference} points",
            "reference.reference_energy",
            {"reference": (30, 50), "window": (30,)},
            {"reference": _POINTS, "window": _POINTS},
            "windows",
        ),
        # -- across channels ---------------------------------------------------------------------
        TraceScore(
            "difference",
            "Channels differ",
            "absolute mean difference",
            "channels.difference",
            {"window": (1, 20)},
            {"window": _POINTS},
            "windows",
            n_channels=2,
        ),
        TraceScore(
            "ratio",
            "Ratio of channels",
            "times one mean is as large as the other",
            "channels.ratio",
            {"window": (1, 20)},
            {"window": _POINTS},
            "windows",
            n_channels=2,
        ),
        TraceScore(
            "lost-correlation",
            "Correlation broken",
            "1 - correlation",
            "channels.lost_correlation",
            {"window": (20, 50)},
            {"window": (3, float("inf"), True)},
            "windows",
            thresholds=(0.2, 0.5, 1.0, 1.5),
            n_channels=2,
        ),
    )
}


# -- The registry of scores ------------------------------------------------------------------------


#: Every score by name; a new member is one entry here (`register_score` makes one of a function).
SCORES: dict[str, ScoreFamily] = {
    "windows": WindowScores(),
    "u-test": WindowScores(tests=("U",)),
    "ks-test": WindowScores(tests=("KS",)),
    "f-test": WindowScores(tests=("F",)),
    **LIBRARY,
}


# -- Scores as plain data, for files ---------------------------------------------------------------


#: What files write for thresholds that come from quantiles.
LEARNT = "learnt"

_TRACE_KEYS = ("thresholds", "rule", "levels", "successive", "title", "unit")


def score_to_plain(score: ScoreFamily) -> dict[str, Plain]:
    """A score as texts, numbers, lists and dicts; one that a user wrote only by its name.

    Examples
    --------
    >>> from bayesieve.indicators import SCORES, score_to_plain
    >>> score_to_plain(SCORES["spikes"].over(thresholds=[4.0]))["thresholds"]
    [4.0]
    """
    if isinstance(score, WindowScores):
        told = {each.name: getattr(score, each.name) for each in fields(score)}
        return {"score": "windows", **{key: _plain(value) for key, value in told.items()}}
    if isinstance(score, TraceScore) and score.name in LIBRARY:
        told = {key: _plain(getattr(score, key)) for key in _TRACE_KEYS}
        return {"score": score.name, **{k: list(v) for k, v in score.grid.items()}, **told}
    for name, known in SCORES.items():
        if known is score:
            return {"own": name}
    raise ValueError(
        f"scores: {score!r} cannot be written down, since it has no name. Put register_score "
        "before the function, or an entry in SCORES."
    )


def score_from_plain(data: Mapping[str, Plain]) -> ScoreFamily:
    """The score that plain data names, over its grid; what is left out stays as in the library.

    Thresholds that are None, or ``"learnt"``, come from quantiles.

    Examples
    --------
    >>> from bayesieve.indicators import score_from_plain
    >>> score_from_plain({"score": "slope", "window": [25], "unit": "bar a point"}).grid
    {'window': (25,)}
    """
    if not isinstance(data, Mapping) or ("own" in data) == ("score" in data):
        raise ValueError(
            f"a score must be a table with the key 'score' (or 'own', for one of yours); got "
            f"{data!r}."
        )
    given = dict(data)
    if "own" in given:
        name = given.pop("own")
        for key in given:
            choose("a key of an own score", key, ["own"])
        if name not in SCORES:
            raise ValueError(
                f"the score {name!r} is a function that somebody wrote, and is referred to by name "
                "only. Run the file that registers it (register_score) first."
            )
        return SCORES[name]
    name = given.pop("score")
    choose("score", name, ["windows", *LIBRARY])
    if name == "windows":
        allowed = [each.name for each in fields(WindowScores)]
        for key in given:
            choose("a key of the score 'windows'", key, allowed)
            _need_list(name, key, given[key])
        return WindowScores(**{key: _frozen(value) for key, value in given.items()})
    score = LIBRARY[name]
    if given.get("thresholds") == LEARNT:
        given["thresholds"] = None
    for key, value in given.items():
        choose(f"a key of the score {name!r}", key, [*score.grid, *_TRACE_KEYS])
        if key not in ("rule", "title", "unit"):
            _need_list(name, key, value)
        elif not isinstance(value, str):
            raise TypeError(f"{key} of the score {name!r} must be a text; got {value!r}.")
    return score.over(**{"thresholds": score.thresholds, **given})


def _need_list(name: str, key: str, value: Plain) -> None:
    """A list, or None where something is to be learnt."""
    if not isinstance(value, list | None):
        hint = f" or {LEARNT!r}" if key == "thresholds" else ""
        raise TypeError(f"{key} of the score {name!r} must be a list{hint}; got {value!r}.")


def _plain(value: Plain) -> Plain:
    """Lists for tuples."""
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _frozen(value: Plain) -> Plain:
    """Tuples for lists."""
    return tuple(_frozen(each) for each in value) if isinstance(value, tuple | list) else value


# -- Scores that people write ----------------------------------------------------------------------


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


# -- Scores that files name ------------------------------------------------------------------------


_KEYS = ("scores", "quantiles", "drop")


class ScoresAsked(NamedTuple):
    """What files of scores ask for; None is the default of `Indicators`."""

    scores: list[ScoreFamily] | None = None
    quantiles: tuple[float, ...] | None = None
    drop: str | None = None


def read_scores(paths: Sequence[str | PathLike[str]]) -> ScoresAsked:
    """Scores of TOML files, and of Python files that register some.

    Parameters
    ----------
    paths : list of paths
        A file that ends in ``.toml`` is data: tables ``[[scores]]`` with the key ``score``, a name
        of the library, or ``own``, a score that a Python file registered; the values of its
        parameters, ``thresholds`` (``"learnt"``: from quantiles), ``rule``, ``levels``,
        ``successive``, ``title`` and ``unit``; and at its top ``quantiles`` and ``drop``, as in
        `Indicators`.  A file that ends in ``.py`` is **run**, with all that a program may do, and
        calls `register_score`.

    Returns
    -------
    asked : ScoresAsked
        ``scores``, ``quantiles``, ``drop``.  Scores of a Python file that no TOML file names come
        last.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bayesieve.indicators import read_scores
    >>> lines = ["[[scores]]", "score = 'slope'", "window = [25]", "unit = 'bar a point'"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.toml")
    ...     _ = path.write_text(chr(10).join(lines))
    ...     asked = read_scores([path])
    >>> asked.scores[0].grid, asked.scores[0].unit
    ({'window': (25,)}, 'bar a point')
    """
    files = [Path(path) for path in paths]
    for path in files:
        if path.suffix not in (".toml", ".py"):
            raise ValueError(
                f"scores: {path.name!r} must end in .toml (which scores, over which grid) or .py "
                "(functions with register_score)."
            )
        if not path.is_file():
            raise ValueError(f"scores: the file {str(path)!r} does not exist (or is no file).")
    # First what is registered, so that the others can name it.
    own = [score for path in files if path.suffix == ".py" for score in run_scores(path)]
    found, named = ScoresAsked(), []
    for path in files:
        if path.suffix == ".toml":
            try:
                mine = _read_toml(path)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path.name}: {error}") from error
            named += mine.scores or []
            found = ScoresAsked(None, mine.quantiles or found.quantiles, mine.drop or found.drop)
    asked = named + [score for score in own if not any(score is each for each in named)]
    return found._replace(scores=asked or None)


def run_scores(path: Path) -> list[ScoreFamily]:
    """Run a Python file; gives the scores that it registered.

    Parameters
    ----------
    path : the file.
    """
    before = dict(SCORES)
    try:
        runpy.run_path(str(path))
    except (Exception, SystemExit) as error:  # a file that leaves would end the command silently
        SCORES.clear()
        SCORES.update(before)
        told = f"{type(error).__name__}: {error}".rstrip(".")
        raise ValueError(f"{path.name} failed: {told}.") from error
    new = {name: score for name, score in SCORES.items() if before.get(name) is not score}
    taken = [name for name in new if name in before and not isinstance(before[name], Score)]
    if taken:
        SCORES.clear()
        SCORES.update(before)
        raise ValueError(
            f"{path.name} registers {taken[0]!r}, which is a score of the library; call the "
            "function otherwise."
        )
    if not new:
        raise ValueError(f"{path.name} registers no score; put @register_score before a function.")
    return list(new.values())


def _read_toml(path: Path) -> ScoresAsked:
    import tomllib

    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (UnicodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"this is no TOML: {error}.") from error
    for key in data:
        choose("a key at the top", key, _KEYS)
    tables = data.get("scores", [])
    if not isinstance(tables, list) or not tables:
        raise ValueError("there is no table [[scores]]; it has one for each score.")
    scores = []
    for i, each in enumerate(tables):
        try:
            json.dumps(each, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"[[scores]] number {i + 1} holds a date or a number that is not finite."
            ) from error
        scores.append(_one(each, i))
    quantiles: Plain = data.get("quantiles")
    if quantiles is not None:
        if not isinstance(quantiles, list) or not quantiles:
            raise TypeError(f"quantiles must be a list of numbers; got {quantiles!r}.")
        for each in quantiles:
            check_number("quantiles", each, low=0.0, high=1.0)
    drop = data.get("drop")
    if drop is not None:
        choose("drop", drop, ["constant", "redundant"])
    return ScoresAsked(scores, None if quantiles is None else tuple(quantiles), drop)


def _one(table: dict[str, Plain], number: int) -> ScoreFamily:
    try:
        return score_from_plain(table)
    except (TypeError, ValueError) as error:
        raise ValueError(f"[[scores]] number {number + 1}: {error}") from error
