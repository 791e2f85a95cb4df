"""Scores by name: the library, recipes, scores of the user's own, and files of them."""

import itertools
import json
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

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
from .traces import Limits, TraceScore
from .windows import WindowScores

# -- The library: traces by what their answers belong to -------------------------------------------

#: Where indicators are cut; None: learnt from quantiles.
_Cuts: TypeAlias = tuple[float, ...] | None

_SHARES = (0.2, 0.4, 0.6, 0.8)

_ANY = (-float("inf"), float("inf"), False)


def _at_least(points: int) -> Limits:
    return (points, float("inf"), True)


def _of_points(name: str, title: str, measure: str, cuts: _Cuts = None, **more: Any) -> TraceScore:
    """One answer a point; the trace is called like the score, where it has no other name."""
    kernel = f"points.{more.pop('kernel', name)}"
    return TraceScore(name, title, measure, kernel, thresholds=cuts, **more)


def _of_breaks(name: str, title: str, measure: str, cuts: _Cuts) -> TraceScore:
    """One answer a break, from half a window on each side."""
    grid, limits = {"window": (20, 50)}, {"window": _at_least(4)}
    return TraceScore(
        name, title, measure, f"breaks.{name}", grid, limits, "breaks", thresholds=cuts
    )


def _of_windows(
    name: str,
    title: str,
    measure: str,
    window: tuple[int, ...],
    cuts: _Cuts = None,
    grid: Mapping[str, tuple[float, ...]] | None = None,
    limits: Mapping[str, Limits] | None = None,
    kind: str = "stretches",
    **more: Any,
) -> TraceScore:
    """One answer a window; 0 points, where they are allowed, are the whole series."""
    return TraceScore(
        name,
        title,
        measure,
        f"{kind}.{name.replace('-', '_')}",
        {**(grid or {}), "window": window},
        {"window": _at_least(0), **(limits or {})},
        "windows",
        thresholds=cuts,
        **more,
    )


def _against_reference(name: str, measure: str, cuts: _Cuts = None) -> TraceScore:
    """One answer a window, compared with the first points of the series."""
    limits = {"reference": _at_least(1), "window": _at_least(1)}
    title, grid = "Distribution changes", {"reference": (30, 50)}
    return _of_windows(name, title, measure, (30,), cuts, grid, limits, "reference")


def _across_channels(
    name: str, title: str, measure: str, window: tuple[int, ...], least: int, cuts: _Cuts = None
) -> TraceScore:
    """One answer a window of two channels."""
    limits = {"window": _at_least(least)}
    return _of_windows(
        name, title, measure, window, cuts, limits=limits, kind="channels", n_channels=2
    )


LIBRARY = {
    score.name: score
    for score in (
        # -- level -------------------------------------------------------------------------------
        _of_points("highest", "High level", "value", kernel="level"),
        _of_points("lowest", "No low level", "value", kernel="level", rule="smallest"),
        _of_points(
            "outside",
            "Level outside limits",
            "distance outside {low} to {high}",
            (0.0, 0.05, 0.2),
            grid={"low": (-3.0,), "high": (3.0,)},
            limits={"low": _ANY, "high": _ANY},
            rule="share",
            levels=(0.0,),
        ),
        _of_breaks("welch", "Level steps", "Welch t", (3.0, 4.0, 6.0, 10.0)),
        _of_points(
            "cusum",
            "Level changes",
            "standardised sum of deviations from the mean",
            (1.22, 1.36, 1.63, 2.5),
        ),
        # -- spread ------------------------------------------------------------------------------
        _of_breaks("levene", "Variance jumps", "Levene W", (8.0, 12.0, 20.0, 40.0)),
        # -- trend -------------------------------------------------------------------------------
        _of_windows("mann-kendall", "Trend", "Mann-Kendall z", (0, 30, 50), (2.0, 3.0, 4.0, 6.0)),
        _of_windows(
            "slope",
            "Slope",
            "absolute slope of the least-squares line",
            (0, 30, 50),
            unit="per point",
        ),
        _of_points(
            "drift",
            "Drift",
            "weighted average (weight {weight}) away from that of the first {reference} points",
            (2.7, 4.0, 6.0),
            grid={"weight": (0.1, 0.3), "reference": (30,)},
            limits={"weight": (1e-6, 1.0, False), "reference": _at_least(2)},
            unit="standard errors",
        ),
        # -- single points -----------------------------------------------------------------------
        _of_points(
            "spikes",
            "Spikes",
            "distance from the median",
            (3.5, 5.0, 8.0),
            kernel="robust_z",
            unit="robust deviations",
        ),
        _of_points(
            "hampel",
            "Spikes",
            "distance from the median of {window} points around",
            (3.5, 5.0, 8.0),
            grid={"window": (7, 21)},
            limits={"window": _at_least(3)},
            unit="robust deviations",
        ),
        _of_points(
            "stuck",
            "Stuck sensor",
            "run of steps of at most {tolerance} around it",
            (3.0, 10.0, 30.0),
            grid={"tolerance": (0.0,)},
            limits={"tolerance": (0.0, float("inf"), False)},
            unit="points",
        ),
        _of_points(
            "dropouts",
            "Dropouts",
            "run of missing points around it",
            (0.0, 3.0, 10.0),
            unit="points",
            takes_missing=True,
        ),
        # -- rhythm and roughness ----------------------------------------------------------------
        _of_windows(
            "periodicity", "Periodic", "share of the variance at one frequency", (0, 64), _SHARES
        ),
        _of_windows(
            "autocorrelation",
            "Follows itself",
            "autocorrelation at lag {lag}",
            (0, 50),
            _SHARES,
            {"lag": (1, 5, 10)},
            {"lag": _at_least(1)},
        ),
        _of_windows("total-variation", "Rough", "mean absolute step", (0, 30), unit="per point"),
        _of_windows(
            "zero-crossings",
            "Crosses its mean",
            "share of steps that cross the mean",
            (0, 30),
            _SHARES,
        ),
        _of_windows(
            "permutation-entropy",
            "No order",
            "permutation entropy of order {order}",
            (0, 50),
            (0.5, 0.7, 0.8, 0.9),
            {"order": (3, 4)},
            {"order": (2, 6, True)},
            rule="smallest",
        ),
        # -- against a reference period ----------------------------------------------------------
        _against_reference(
            "reference-ks",
            "Kolmogorov-Smirnov distance from the first {reference} points",
            (0.3, 0.5, 0.7, 0.9),
        ),
        _against_reference("reference-energy", "energy distance from the first {reference} points"),
        # -- across channels ---------------------------------------------------------------------
        _across_channels("difference", "Channels differ", "absolute mean difference", (1, 20), 1),
        _across_channels(
            "ratio", "Ratio of channels", "times one mean is as large as the other", (1, 20), 1
        ),
        _across_channels(
            "lost-correlation",
            "Correlation broken",
            "1 - correlation",
            (20, 50),
            3,
            (0.2, 0.5, 1.0, 1.5),
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
        settings = {each.name: _plain(getattr(score, each.name)) for each in fields(score)}
        return {"score": "windows", **settings}
    if isinstance(score, TraceScore) and score.name in LIBRARY:
        settings = {key: _plain(getattr(score, key)) for key in _TRACE_KEYS}
        return {"score": score.name, **{k: list(v) for k, v in score.grid.items()}, **settings}
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
        every = [", ".join(f"{k}={v}" for k, v in point.items()) for point in self._points()]
        return [f"{label} ({mine})" for label, mine in zip(found, every, strict=True)]

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
    label, thresholds, unit, n_channels : optional but for the label
        As in `Score`.
    spans : callable, optional
        The `spans_of` of `Score`.
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


class ScoreSettings(NamedTuple):
    """Scores, quantiles and what to drop, as files name them; None: default of `Indicators`."""

    scores: list[ScoreFamily] | None = None
    quantiles: tuple[float, ...] | None = None
    drop: str | None = None


def read_scores(paths: Sequence[str | PathLike[str]]) -> ScoreSettings:
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
    settings : ScoreSettings
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
    ...     settings = read_scores([path])
    >>> settings.scores[0].grid, settings.scores[0].unit
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
    found, named = ScoreSettings(), []
    for path in files:
        if path.suffix == ".toml":
            try:
                mine = _read_toml(path)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path.name}: {error}") from error
            named += mine.scores or []
            found = ScoreSettings(None, mine.quantiles or found.quantiles, mine.drop or found.drop)
    every = named + [score for score in own if not any(score is each for each in named)]
    return found._replace(scores=every or None)


def run_scores(path: Path) -> list[ScoreFamily]:
    """Run a Python file; gives the scores that it registered."""
    before = dict(SCORES)
    try:
        runpy.run_path(str(path))
    except (Exception, SystemExit) as error:  # a file that leaves would end the command silently
        SCORES.clear()
        SCORES.update(before)
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise ValueError(f"{path.name} failed: {reason}.") from error
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


def _read_toml(path: Path) -> ScoreSettings:
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
        try:
            scores.append(score_from_plain(each))
        except (TypeError, ValueError) as error:
            raise ValueError(f"[[scores]] number {i + 1}: {error}") from error
    quantiles: Plain = data.get("quantiles")
    if quantiles is not None:
        if not isinstance(quantiles, list) or not quantiles:
            raise TypeError(f"quantiles must be a list of numbers; got {quantiles!r}.")
        for each in quantiles:
            check_number("quantiles", each, low=0.0, high=1.0)
    drop = data.get("drop")
    if drop is not None:
        choose("drop", drop, ["constant", "redundant"])
    return ScoreSettings(scores, None if quantiles is None else tuple(quantiles), drop)
