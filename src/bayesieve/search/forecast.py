"""What a search will cost, by the pace of its first steps; and one that goes in circles."""

import time
import warnings
from collections import Counter
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

from .progress import in_features, in_time
from .strategies.base import EXHAUSTIVE, Limits, Search, Subset

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
        self._mark = (time.perf_counter(), objective.n_tried)

    def step(self, objective: Subset) -> None:
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
    """Tells a search of one's own that it comes to the same subset again and again."""

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
