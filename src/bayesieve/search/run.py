"""Runs a search so that it survives: a checkpoint, a time limit, Ctrl-C."""

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path as FilePath
from types import TracebackType
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning

from ..data.tables import SparseTable
from . import SEARCHES
from .checkpoint.fingerprint import fingerprint
from .checkpoint.journal import Journal
from .checkpoint.replay import Replay, Replayed
from .objective import Objective, Verdicts
from .path import Path
from .plan import Task
from .progress import in_features, in_time
from .strategies.base import EXHAUSTIVE, Limits, Search

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

    def __call__(self, action: str, units: tuple[int, ...], objective: Any) -> None:
        """Hear of a step: the clock starts when a phase has been set up."""
        if action == "start" and not (self._mark and objective.direction == EXHAUSTIVE):
            # Exhaustive search has one phase: later on, it tells of subsets that it keeps.
            self.rest(objective)

    def rest(self, objective: Any) -> None:
        """Leave out what happened up to now."""
        self._mark = (time.perf_counter(), objective.n_tried)

    def step(self, objective: Any) -> None:
        """A step has ended."""
        now = time.perf_counter()
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

    def cost(self, objective: Any) -> Cost | None:
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
    """Tells a search of one's own that it comes to the same subset again and again."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()
        self._state = self._steps = 0
        self._told = False

    def __call__(self, action: str, units: tuple[int, ...], objective: Any) -> None:
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


def is_ours(search: Any) -> bool:
    """Is this one of the searches that come with the library?"""
    return type(search) in {type(each) for each in SEARCHES.values()}


def _mark(unit: int) -> int:
    """64 bits of a unit: those of a subset are their exclusive or, whatever the order."""
    mixed = (unit + 1) * 0x9E3779B97F4A7C15 & (2**64 - 1)
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & (2**64 - 1)
    return mixed ^ mixed >> 31


# Seconds from which on what is left to do is worth a word.
_LONG = 10.0


# What to do about a search that cannot end in time.
_ADVICE = {
    "forward": "Give it more time, a smaller max_features, or use search='ranked'.",
    "backward": (
        "What it has dropped by then is all that is dropped: give it more time, or use "
        "search='forward' or 'ranked', which begin with the best features."
    ),
}


class Clock:
    """Runs from the moment it is made, and knows when it is late.

    Parameters
    ----------
    limit : seconds, or None.
    """

    def __init__(self, limit: float | None):
        self.limit = limit
        self._start = time.monotonic()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        if self.limit is None:
            return float("inf")
        return self.limit - (time.monotonic() - self._start)


class Driver:
    """Drives a search.

    Parameters
    ----------
    journal : where steps are written down, or None.
    clock : when the search is stopped.
    say : told what a long search will cost; None for nobody.
    """

    def __init__(
        self, journal: Journal | None, clock: Clock, say: Callable[[str], None] | None = None
    ):
        self._journal = journal
        self._replay = None if journal is None else Replay(journal)
        self._clock = clock
        self.say = say
        self._warned = False

    def __enter__(self) -> "Driver":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._journal is not None:
            self._journal.close()

    def verdicts(self, settler: Verdicts) -> Verdicts:
        """The same verdicts; where there is a checkpoint, written down and given back."""
        return settler if self._replay is None else Replayed(settler, self._replay)

    def drive(
        self,
        search: Any,
        limits: Limits,
        objective: Objective,
        path: Path,
        sizes: tuple[int, int],
        stop: Callable[[], bool],
    ) -> None:
        """Take all steps, or as many as there is time for.

        Parameters
        ----------
        search, limits : which subsets it visits.
        objective, path : what it changes, and what it has visited.
        sizes : numbers of columns that may be chosen.
        stop : does a callback ask to end it?
        """
        if self._replay is not None:
            # After the recorder: a record holds the validation part's answers too.
            objective.listeners.append(self._replay.committed)
        if not is_ours(search):
            objective.listeners.append(Revisits())
        forecast = Forecast(search, limits)
        objective.listeners.append(forecast)
        known = self._replaying
        try:
            for _ in search.steps(objective, limits):
                if self._replay is not None:
                    self._replay.paused()
                if stop():
                    return
                # A step out of the journal never ends a search, so that every run gets on.
                if known:
                    forecast.rest(objective)
                else:
                    forecast.step(objective)
                    if self._clock.left <= 0:
                        break
                    self._look_ahead(forecast, objective)
                known = self._replaying
            else:
                if self._replay is not None:
                    self._replay.ended()
                return
        except KeyboardInterrupt:
            # Nothing to choose from: an interrupt like any other.  A second one finds no handler.
            if not _allowed(path, sizes):
                raise
            self._say("Ctrl-C", objective, path, sizes, None)
            return
        cost = forecast.cost(objective)
        if cost is not None and (cost.bound or cost.seconds <= _LONG):
            cost = None
        self._say(f"time_limit={self._clock.limit}", objective, path, sizes, cost)

    def _look_ahead(self, forecast: Forecast, objective: Objective) -> None:
        """Tell what the search will cost as soon as its first steps show that."""
        waiting = self.say is not None or (self._clock.limit is not None and not self._warned)
        if not waiting or not forecast.due():
            return
        cost = forecast.cost(objective)
        if cost is None:
            return
        if self.say is not None and cost.seconds > _LONG:
            self.say(f"{objective.direction}: {cost}")
            self.say = None
        if not self._warned and not cost.bound and cost.seconds > self._clock.left:
            self._warned = True
            advice = _ADVICE.get(objective.direction, "Give it more time, or use another search.")
            pace = "step" if forecast.steps == 1 else f"{forecast.steps} steps"
            warnings.warn(
                f"the search cannot end within time_limit={self._clock.limit}: it has {cost}, by "
                f"the pace of its first {pace}. {advice}",
                ConvergenceWarning,
                stacklevel=6,
            )

    @property
    def _replaying(self) -> bool:
        return self._replay is not None and self._replay.replaying

    def _say(
        self,
        cause: str,
        objective: Objective,
        path: Path,
        sizes: tuple[int, int],
        cost: Cost | None,
    ) -> None:
        """Tell how far the search came; an error where there is nothing to choose from."""
        last = path.steps[-1]
        # A search may visit subsets without asking for candidates, as a ranked one does.
        tried = max(objective.n_tried, len(path))
        far = (
            f"the search was stopped by {cause} at step {len(path) - 1} ({tried} "
            f"subset{'' if tried == 1 else 's'} tried; {last.direction}, size {last.n_features})"
        )
        more = "give it more time"
        if cost is not None and not self._warned:
            more = f"give it more time (it has {cost}, at this pace)"
        if self._journal is not None:
            more = f"fit again with checkpoint={str(self._journal.path)!r} to go on"
        if not _allowed(path, sizes):
            raise ValueError(
                f"{far}; no subset of {in_features(*sizes)} has been visited yet, as "
                f"n_features, min_features and max_features ask. To get there, {more}."
            )
        warnings.warn(
            f"{far}; the best subset visited so far is chosen. For the rest, {more}.",
            ConvergenceWarning,
            stacklevel=6,
        )


def _allowed(path: Path, sizes: tuple[int, int]) -> bool:
    """Has a subset that may be chosen been visited?"""
    return any(sizes[0] <= step.n_features <= sizes[1] for step in path.steps)


def open_journal(
    checkpoint: FilePath,
    task: Task,
    model: Any,
    search: Any,
    criterion: Any,
    scored: Any,
    rows: tuple[Any, Any],
) -> Journal:
    """The journal of one search, checked against everything that decides its result."""
    read = task.sample
    if isinstance(read.table, SparseTable):
        matrix = read.table.matrix
        data = [matrix.shape, matrix.indptr, matrix.indices, matrix.data]
    else:
        # One by one: a table is not copied to be looked at.
        data = [fingerprint(read.table.column(j)) for j in range(len(read.table.names))]
    parts = {
        "X": fingerprint(data),
        "y": fingerprint(read.targets.classes, read.classes, read.targets.labelled),
        "sample_weight": fingerprint(read.weights, read.rows),
        "estimator": fingerprint(model),
        "search": fingerprint(search),
        "criterion": fingerprint(criterion),
        "cv": fingerprint(scored),
        "validation (the rows drawn with random_state)": fingerprint(rows),
        "feature_groups": fingerprint(task.units),
        "keep": fingerprint(task.keep),
        "n_features, max_features or min_features": fingerprint(task.limits, task.sizes),
        "class_weight": fingerprint(task.class_weight),
    }
    # Read where it is, not imported: the package's face stands above this room.
    release = sys.modules[__name__.partition(".")[0]].__version__
    return Journal(checkpoint, release, parts)
