"""Signs of life during long work."""

import shutil
import sys
import time
from typing import Any, NamedTuple, TextIO

from .strategies.base import Limits
from .strategies.dependency import DependencySearch
from .strategies.exhaustive import ExhaustiveSearch
from .strategies.greedy import GreedySearch
from .strategies.phases import PhaseSearch
from .strategies.ranked import RankedSearch

# Seconds between two lines: rewritten on a terminal, one below the other elsewhere.
_PAUSE, _LOG_PAUSE = 0.1, 5.0

# Seconds of a phase before the time left is estimated.
_WARM = 0.5


class Outlook(NamedTuple):
    """What a search still has to do.

    Attributes
    ----------
    amount : int
        Subsets that it has yet to score, or steps it has yet to make.
    bound : bool
        It may end before that.
    within : str
        The part of the search that this speaks of; ``""`` for all of it.
    unit : {"tries", "steps"}
        What the amount counts.
    """

    amount: int
    bound: bool = False
    within: str = ""
    unit: str = "tries"


def outlook(search: Any, objective: Any, limits: Limits) -> Outlook | None:
    """What is left to do, or None where that cannot be known.

    Greedy sweeps score every candidate at each of their remaining steps; exhaustive search scores
    every subset.  Floating, diversified and random searches may go back and forth.

    Examples
    --------
    >>> from bayesieve.search.progress import outlook
    >>> from bayesieve.search import FloatingSearch, Limits
    >>> outlook(FloatingSearch("forward"), None, Limits()) is None
    True
    """
    if isinstance(search, ExhaustiveSearch):
        free = objective.n_units - len(objective.keep)
        return Outlook(max(2**free - 1 - objective.n_tried, 0))
    if not isinstance(search, GreedySearch | PhaseSearch | RankedSearch | DependencySearch):
        return None
    if objective.direction == "forward":
        candidates = len(objective.addable(limits.most, limits.exact))
        steps = min(candidates, limits.most - objective.size)
    else:
        candidates = len(objective.droppable(limits.least, limits.target))
        steps = min(candidates, objective.size - limits.least)
    # Columns that move together make fewer steps.
    grouped = any(objective.width(unit) > 1 for unit in range(objective.n_units))
    tries = steps * candidates - steps * (steps - 1) // 2
    if isinstance(search, PhaseSearch):
        return Outlook(tries, grouped, " in phase")
    if isinstance(search, DependencySearch):
        # Two pairs name four columns at most; the second stage asks every column once.
        sweep = tries if objective.size > limits.most else 0
        return Outlook(4 * steps + candidates + sweep, True)
    bound = grouped or search.stop != "end"
    if isinstance(search, RankedSearch):
        return Outlook(steps, bound, unit="steps")
    return Outlook(tries, bound)


class ProgressLine:
    """Tells how far a search is: one line that is rewritten on a terminal, a log elsewhere.

    Parameters
    ----------
    stream : text file, optional
        Where to write; standard error by default.  On a terminal, a line is rewritten ten times a
        second; anywhere else, a line is added every five seconds, and one at the end.
    search, limits : optional
        The search and its limits; where they are given, the time left is told if it can be known.

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
        self, stream: TextIO | None = None, search: Any = None, limits: Limits | None = None
    ):
        self._stream = sys.stderr if stream is None else stream
        self._live = bool(getattr(self._stream, "isatty", lambda: False)())
        self._search, self._limits = search, limits or Limits()
        self._start = self._last = time.monotonic()
        self._phase = (self._start, 0)  # when it began, and subsets tried before it
        self._steps = 0
        self._width = 0

    def __call__(self, action: str, units: tuple[int, ...], objective: Any) -> None:
        """Hear of a step."""
        if self._steps == 0 or (action == "start" and isinstance(self._search, PhaseSearch)):
            self._phase = (time.monotonic(), objective.n_tried)
        self._steps += 1
        self.tick(objective)

    def tick(self, objective: Any) -> None:
        """Show where the search is, if it is time to."""
        now = time.monotonic()
        if now - self._last < (_PAUSE if self._live else _LOG_PAUSE):
            return
        self._last = now
        score = objective.value(objective.score())
        self._write(
            f"{objective.direction}: step {self._steps}, {in_features(objective.size)}, "
            f"score {score:.4g}, {in_time(now - self._start)}{self._left(objective, now)}"
        )

    def _left(self, objective: Any, now: float) -> str:
        """The time left, as the subsets tried in this phase tell."""
        start, before = self._phase
        if now - start < _WARM:
            return ""
        ahead = outlook(self._search, objective, self._limits)
        if ahead is None:
            return ""
        done = self._steps - 1 if ahead.unit == "steps" else objective.n_tried - before
        if done <= 0:
            return ""
        seconds = in_time(ahead.amount * (now - start) / done)
        return f"; {'at most ' if ahead.bound else '~'}{seconds} left{ahead.within}"

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
