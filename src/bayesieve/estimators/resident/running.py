"""A search that runs beside a session: heard step by step, paused, gone on with, stopped."""

import time
from collections.abc import Callable
from threading import Event, Thread
from typing import TypedDict

from ...search.forecast import Forecast
from ...search.objective import Objective
from ...search.strategies.base import Limits, Search
from .desk import Desk


class Point(TypedDict):
    """One step of a search, as it is drawn."""

    n_features: int
    score: float
    error: float  #: share of the rows left out that are taken for another class
    spread: float  #: its standard error
    columns: list[int]  #: what joined or left; of a start, the whole subset
    action: str


def subset_at(points: list[Point], at: int) -> list[int]:
    """The columns in at a step, in the order in which they joined."""
    inside: dict[int, None] = {}
    for point in points[: at + 1]:
        if point["action"] == "start":
            inside = dict.fromkeys(point["columns"])
        elif point["action"] == "add":
            inside.update(dict.fromkeys(point["columns"]))
        else:
            inside = {j: None for j in inside if j not in point["columns"]}
    return list(inside)


class CancelledError(Exception):
    """A search was given up: nothing of it is kept."""


class Running:
    """What is known of a search under way, and who may halt it.

    Parameters
    ----------
    desk : tells the error of each subset visited; None where there is none.
    heard : called after each step.
    """

    def __init__(self, desk: Desk | None = None, heard: Callable[[], None] | None = None):
        self.points: list[Point] = []
        self.failure: BaseException | None = None
        self.seconds_left: float | None = None
        self._desk, self._heard = desk, heard
        self._inside: set[int] = set()
        self._go, self._thread = Event(), None  # type: Event, Thread | None
        self._go.set()
        self.cancelled = self._stopped = False
        self._began = time.monotonic()
        self._ended: float | None = None

    # -- what a search is told --------------------------------------------------------------------

    def begin(self, objective: Objective, search: Search, limits: Limits) -> Callable[[], bool]:
        """Listen to a search; gives who may end it."""
        forecast = Forecast(search, limits)
        objective.listeners += [forecast, self._hear]

        def ended() -> bool:
            forecast.step(objective)
            cost = forecast.cost(objective)
            self.seconds_left = None if cost is None or cost.least else cost.seconds
            stopped = self.halt()
            forecast.rest(objective)
            return stopped

        return ended

    def halt(self) -> bool:
        """Wait while the search is paused; give it up where that is asked for.  Was it stopped?"""
        self._go.wait()
        if self.cancelled:
            raise CancelledError
        return self._stopped

    def _hear(self, action: str, units: tuple[int, ...], objective: Objective) -> None:
        columns = objective.columns(units)
        self._inside = set(columns) if action == "start" else self._inside ^ set(columns)
        error = spread = float("nan")
        if self._desk is not None:
            subset = sorted(self._inside)
            error, spread = self._desk.ask(subset).value, self._desk.standard_error(subset)
        self.points.append(
            Point(
                n_features=objective.size,
                score=objective.value(objective.score()),
                error=error,
                spread=spread,
                columns=columns,
                action=action,
            )
        )
        if self._heard is not None:
            self._heard()

    # -- who asks ---------------------------------------------------------------------------------

    def run(self, work: Callable[[], None], background: bool) -> None:
        """Search, here or beside."""
        if not background:
            self._run(work)
            if self.failure is not None:
                raise self.failure
            return
        self._thread = Thread(target=self._run, args=(work,), name="bayesieve", daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self.failure = error
        self._ended = time.monotonic()
        if self._heard is not None:
            self._heard()

    @property
    def active(self) -> bool:
        """Is it under way (or paused)?"""
        return self._ended is None

    @property
    def paused(self) -> bool:
        """Does it wait?"""
        return self.active and not self._go.is_set()

    @property
    def seconds(self) -> float:
        """How long it took, or has taken by now."""
        return (self._ended or time.monotonic()) - self._began

    def pause(self) -> None:
        """Let it wait after its next step."""
        self._go.clear()

    def go_on(self) -> None:
        """Let it go on."""
        self._go.set()

    def stop(self) -> None:
        """Let it end after its next step: the best subset visited by then is chosen."""
        self._stopped = True
        self._go.set()

    def give_up(self) -> None:
        """Let it end after its next step, with nothing kept of it."""
        self.cancelled = True
        self._go.set()

    def cancel(self) -> None:
        """Give it up, and wait until it has ended."""
        self.give_up()
        self.wait()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for its end."""
        if self._thread is not None:
            self._thread.join(seconds)
