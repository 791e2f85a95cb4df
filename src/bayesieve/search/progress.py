"""Progress line and forecast of the remaining time."""

import shutil
import sys
import time
import warnings
from collections import Counter
from time import perf_counter
from typing import NamedTuple, TextIO

from sklearn.exceptions import ConvergenceWarning

from .objective import Objective
from .strategies.base import EXHAUSTIVE, Limits, Outlook, Search, Subset

# Seconds between two lines: rewritten on a terminal, one below the other elsewhere.
_PAUSE, _LOG_PAUSE = 0.1, 5.0


# Seconds of a phase before the time left is estimated.
_WARM = 0.5


# Steps of a path of weights that tell how long another one takes: later ones take longer.
_FEW_STEPS = 3


class ProgressLine:
    """Show how far a fit is: one line that is rewritten on a terminal, a log elsewhere.

    Parameters
    ----------
    stream : text file, optional
        Where to write; standard error by default.  On a terminal, a line is rewritten ten times a
        second; anywhere else, a line is added every five seconds, and one at the end.
    search, limits : optional
        The search and its limits; where they are given, the time left is told if it can be known.
    n_models : int
        Models of weighted terms to make, each with folds and a path of its own.

    Examples
    --------
    >>> import io
    >>> from bayesieve.search.progress import ProgressLine
    >>> log = io.StringIO()
    >>> ProgressLine(log).close()
    >>> log.getvalue().strip()
    '0 steps in 0.0 s'
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        search: Search | None = None,
        limits: Limits | None = None,
        n_models: int = 1,
    ):
        self._stream = sys.stderr if stream is None else stream
        self._live = bool(getattr(self._stream, "isatty", lambda: False)())
        self._search, self._limits = search, limits or Limits()
        self._start = self._last = time.monotonic()
        self._phase = (self._start, 0)  # when it began, and subsets tried before it
        self._steps = 0
        self._width = 0
        self._n_models, self._made = n_models, 0
        self._paths, self._walked = 0, 0
        self._begun = self._heard = self._start
        self._most: int | None = None
        self._paces: list[float] = []

    def __call__(self, action: str, units: tuple[int, ...], objective: Objective) -> None:
        """Hear of a step."""
        if self._steps == 0 or (action == "start" and self._in_phases(objective)):
            self._phase = (time.monotonic(), objective.n_tried)
        self._steps += 1
        self.tick(objective)

    @property
    def pause(self) -> float:
        """Seconds between two lines."""
        return _PAUSE if self._live else _LOG_PAUSE

    def tick(self, objective: Objective) -> None:
        """Show where the search is, if it is time to."""
        now = time.monotonic()
        if now - self._last < self.pause:
            return
        self._last = now
        score = objective.value(objective.score())
        self._write(
            f"{objective.direction}: step {self._steps}, {in_features(objective.size)}, "
            f"score {score:.4g}, {in_time(now - self._start)}{self._left(objective, now)}"
        )

    def _ahead(self, objective: Objective) -> Outlook | None:
        """What is left to do, where its end is known."""
        if self._search is None:
            return None
        ahead = self._search.outlook(objective, self._limits)
        return ahead if ahead is None or ahead.within or not ahead.least else None

    def _in_phases(self, objective: Objective) -> bool:
        """Is the end known of each phase only?"""
        ahead = self._ahead(objective)
        return ahead is not None and bool(ahead.within)

    def _left(self, objective: Objective, now: float) -> str:
        """The time left, as the subsets tried in this phase tell."""
        start, before = self._phase
        if now - start < _WARM:
            return ""
        ahead = self._ahead(objective)
        if ahead is None:
            return ""
        done = self._steps - 1 if ahead.unit == "steps" else objective.n_tried - before
        if done <= 0:
            return ""
        seconds = in_time(ahead.amount * (now - start) / done)
        return f"; {'at most ' if ahead.bound else '~'}{seconds} left{ahead.within}"

    # -- paths of weighted terms: over folds first, then the path that becomes the model ---------

    def begin_folds(self, n_paths: int) -> None:
        """Some paths over folds come first."""
        self._paths, self._walked, self._most = n_paths, 0, None
        self._begun = time.monotonic()

    def walked(self) -> None:
        """A path over a fold has come to its end."""
        self._walked += 1

    def begin_path(self, most: int) -> None:
        """Now comes the path of the model itself, of so many terms at most."""
        self._most, self._paces = most, []
        self._heard = time.monotonic()

    def hear_path(self, n_terms: int, loss: float) -> None:
        """A path has made a step."""
        now = time.monotonic()
        if self._most is None:
            what = f"folds: path {min(self._walked + 1, self._paths)} of {self._paths}"
        else:
            self._steps += 1
            self._paces.append(now - self._heard)
            what = f"path: step {self._steps}"
        self._heard = now
        if now - self._last < self.pause:
            return
        self._last = now
        terms = f"{n_terms} term{'' if n_terms == 1 else 's'}"
        spent = in_time(now - self._start)
        self._write(f"{what}, {terms}, log-loss {loss:.4f}, {spent}{self._path_left(n_terms, now)}")

    def made(self) -> None:
        """A model is done."""
        self._made += 1

    def _path_left(self, n_terms: int, now: float) -> str:
        """The time left, where it can be known: of folds by paths, of a path by its longest end."""
        if now - self._start < _WARM:
            return ""
        others = self._n_models - self._made - 1
        of_others = others * (now - self._start) / self._made if self._made else None
        if others and of_others is None:
            return ""
        if self._most is None:
            if not self._walked:
                return ""
            # All rows are half as many again as those that two of three folds leave.
            paths = self._paths - self._walked + 1.5
            left, word = paths * (now - self._begun) / self._walked, "~"
        else:
            if len(self._paces) < _FEW_STEPS:
                return ""
            left, word = (self._most - n_terms) * max(self._paces[-_FEW_STEPS:]), "at most "
        return f"; {word}{in_time(left + (of_others or 0.0))} left"

    # -- the line ------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self._write(text)
        if self._live:
            self._stream.write("\n")
            self._stream.flush()
            self._width = 0

    def close(self) -> None:
        """End the line."""
        self._write(f"{self._steps} steps in {time.monotonic() - self._start:.1f} s")
        if self._live:
            self._stream.write("\n")
            self._stream.flush()

    def _write(self, text: str) -> None:
        if self._live:
            # A line that wraps could not be rewritten.
            text = text[: shutil.get_terminal_size().columns - 1]
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()


class FitsLine(ProgressLine):
    """Show how many fits of the same kind are done: folds, or resamples, of a whole procedure.

    Parameters
    ----------
    what : what is fitted, before the numbers.
    n_fits : of all.
    stream : standard error by default.
    """

    def __init__(self, what: str, n_fits: int, stream: TextIO | None = None):
        super().__init__(stream)
        self._what, self._fits, self._fitted = what, n_fits, 0
        if self._live:
            self._write(f"{what}: 0 of {n_fits} fits")

    def hear(self) -> None:
        """A fit is done."""
        self._fitted += 1
        now = time.monotonic()
        if now - self._last < self.pause:
            return
        self._last = now
        spent = now - self._start
        left = in_time(spent * (self._fits - self._fitted) / self._fitted)
        self._write(
            f"{self._what}: {self._fitted} of {self._fits} fits, {in_time(spent)}; ~{left} left"
        )

    def close(self) -> None:
        """End the line; a log has none, where nothing had to be said."""
        if self._live:
            spent = in_time(time.monotonic() - self._start)
            self.say(f"{self._what}: {self._fitted} of {self._fits} fits in {spent}")


def in_time(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def in_features(least: int, most: int | None = None) -> str:
    """A number of features, or a range of numbers, in words.

    Examples
    --------
    >>> from bayesieve.search.progress import in_features
    >>> in_features(1), in_features(2), in_features(1, 5)
    ('1 feature', '2 features', '1 to 5 features')
    """
    if most is None or most == least:
        return f"{least} feature{'' if least == 1 else 's'}"
    return f"{least} to {most} features"


# -- Cost of a search, by the pace of its first steps; and searches that go in circles ------------


# The first step may have waited for a compiler: up to so many seconds, or this share of it.
_COMPILER, _WAITED = 20.0, 0.9


# Visits of one subset from which on a search seems to go in circles.
_CIRCLE = 1000


class Cost(NamedTuple):
    """What a search still has to do, at the best pace seen."""

    seconds: float
    amount: int  #: subsets to score, or steps
    unit: str  #: "subsets" or "steps"
    bound: bool  #: it may end before
    least: bool  #: it may also take longer

    def __str__(self) -> str:
        how = "at most " if self.bound else "at least " if self.least else "about "
        doing = "to score" if self.unit == "subsets" else "to make"
        return f"{self.amount:,} {self.unit} {doing}, {how}{in_time(self.seconds)}"


class Forecast:
    """Measures the first steps of a search and multiplies by what lies ahead.

    Parameters
    ----------
    search, limits : what will run.
    """

    def __init__(self, search: Search, limits: Limits):
        self._search, self._limits = search, limits
        self.steps = 0  #: measured
        self._pace: dict[str, float] = {}  # least seconds a try, and a step
        self._mark: tuple[float, int] | None = None

    def __call__(self, action: str, units: tuple[int, ...], objective: Subset) -> None:
        """Hear of a step: the clock starts when a phase has been set up."""
        if action == "start" and not (self._mark and objective.direction == EXHAUSTIVE):
            # Exhaustive search has one phase: later on, it tells of subsets that it keeps.
            self.rest(objective)

    def rest(self, objective: Subset) -> None:
        """Leave out what happened up to now."""
        self._mark = (perf_counter(), objective.n_tried)

    def step(self, objective: Subset) -> None:
        """A step has ended."""
        now = perf_counter()
        if self._mark is not None:
            before, tried = self._mark
            self.steps += 1
            seconds = now - before
            if self.steps == 1:
                seconds -= min(_COMPILER, _WAITED * seconds)
            elif self.steps == 2:
                self._pace.clear()  # better known now
            self._see("steps", seconds)
            if objective.n_tried > tried:
                self._see("tries", seconds / (objective.n_tried - tried))
        self._mark = (now, objective.n_tried)

    def _see(self, unit: str, seconds: float) -> None:
        self._pace[unit] = min(seconds, self._pace.get(unit, seconds))

    def cost(self, objective: Subset) -> Cost | None:
        """What is left, or None where that is not known."""
        ahead = self._search.outlook(objective, self._limits)
        if ahead is None or ahead.unit not in self._pace or (ahead.bound and ahead.least):
            return None  # at most for a phase, at least for all: neither can be said of the search
        unit = "steps" if ahead.unit == "steps" else "subsets"
        least = ahead.least or self.steps == 1
        return Cost(ahead.amount * self._pace[ahead.unit], ahead.amount, unit, ahead.bound, least)

    def due(self) -> bool:
        """Is it time to look ahead?  At first often, then ever more rarely."""
        return self.steps > 0 and (self.steps <= 8 or not self.steps & (self.steps - 1))


class Revisits:
    """Warn of a user-defined search that revisits the same subset again and again."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()
        self._state = self._steps = 0
        self._told = False

    def __call__(self, action: str, units: tuple[int, ...], objective: Subset) -> None:
        """Hear of a step."""
        self._steps += 1
        if action == "start":
            self._state = 0
        for unit in units:
            self._state ^= _mark(unit)
        self._seen[self._state] += 1
        if self._seen[self._state] >= _CIRCLE and not self._told:
            self._told = True
            warnings.warn(
                f"the search has come to the same subset of {in_features(objective.size)} for the "
                f"{_CIRCLE}th time, in step {self._steps - 1}: it seems to go in circles. Let it "
                "end when a subset returns, or give time_limit.",
                ConvergenceWarning,
                stacklevel=2,
            )


def _mark(unit: int) -> int:
    """64 bits of a unit: those of a subset are their exclusive or, whatever the order."""
    mixed = (unit + 1) * 0x9E3779B97F4A7C15 & (2**64 - 1)
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & (2**64 - 1)
    return mixed ^ mixed >> 31
