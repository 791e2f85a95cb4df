"""Queries of a session: scores, losses, substitutes, and searches in the background."""

import time
from collections.abc import Callable, Sequence
from threading import Event, RLock, Thread
from typing import NamedTuple, TypedDict

import numpy as np

from ..checks import Array, Floats
from ..criteria import CRITERIA
from ..criteria.base import Criterion, Key
from ..engine.contract import WHOLE, Ledger, Units
from ..engine.threads import Threads
from ..search.objective import Objective, SubsetScorer
from ..search.progress import Forecast
from ..search.run import CachedRows, afresh
from ..search.strategies.base import Limits, Search
from .state import State


class Answer(NamedTuple):
    """The score of a subset: to compare, to read, and how far it may be off."""

    key: Key
    value: float


class Desk:
    """Scores subsets, one after the other; running sums follow from each to the next.

    The ledger, of the rows that guide, stays as it is.
    """

    def __init__(self, ledger: Ledger, criterion: Criterion, units: Units):
        self._ledger, self._criterion = afresh(ledger, Threads()), criterion
        self._lock = RLock()
        self._inside: set[int] = set()
        self.regroup(units)

    def regroup(self, units: Units) -> None:
        """Other columns move together; the subset stays."""
        with self._lock:
            self._scorer = SubsetScorer(self._ledger, self._criterion, units)
            # A new scorer begins with no column in the ledger.
            self._ledger.apply(sorted(self._inside), -WHOLE)
            self._inside = set()

    def ask(self, columns: Sequence[int]) -> Answer:
        """The score of a subset."""
        with self._lock:
            self._move(set(columns))
            key = self._scorer.now()
            return Answer(key, self._scorer.value(key))

    def standard_error(self, columns: Sequence[int]) -> float:
        """Standard error of the score of a subset."""
        with self._lock:
            return self._scorer.standard_error(columns)

    def probabilities(self, columns: Sequence[int]) -> tuple[Array, Floats]:
        """Rows and probabilities of their classes; of labels, of the first."""
        with self._lock:
            self._move(set(columns))
            parts = list(self._ledger.scores((), ()))
        rows = np.concatenate([part.rows for part in parts])
        nat = np.ldexp(
            np.concatenate([part.sums[0] for part in parts]).astype(np.float64),
            -self._ledger.outline.bits,
        )
        odds = np.exp(nat - nat.max(1, keepdims=True))
        rows, first = np.unique(rows, return_index=True)
        return rows, (odds / odds.sum(1, keepdims=True))[first]

    def each(self, columns: Sequence[int], units: Sequence[int], sign: int) -> list[Answer]:
        """The scores of a subset after each unit alone joins (1) or leaves (-1)."""
        with self._lock:
            self._move(set(columns))
            keys = self._scorer.keys(units, sign)
            return [Answer(key, self._scorer.value(key)) for key in keys]

    def best(self, columns: Sequence[int], units: Sequence[int]) -> tuple[int, Answer]:
        """The unit that does a subset most good by joining it."""
        with self._lock:
            self._move(set(columns))
            unit, key = self._scorer.best(units, 1)
            return unit, Answer(key, self._scorer.value(key))

    def _move(self, wanted: set[int]) -> None:
        self._scorer.apply(sorted(self._inside - wanted), -1)
        self._scorer.apply(sorted(wanted - self._inside), 1)
        self._inside = wanted


# -- Answers to what an expert asks of a subset, from sums that are kept ---------------------------


class Effect(NamedTuple):
    """Effect of a column that joins or leaves, in the criterion's own units."""

    column: int
    amount: float


class Answers:
    """Scores, losses, gains and substitutes.

    Questions that take long have a desk of their own: they do not keep the short ones waiting.
    """

    def __init__(self, held: CachedRows, criterion: str | Criterion, units: Units):
        self._held = held
        self._criterion = CRITERIA[criterion] if isinstance(criterion, str) else criterion
        self._now = self._desk(self._criterion, units)
        self._errors = self.another_error_desk(units)
        self.regroup(units)

    def regroup(self, units: Units) -> None:
        """Other columns move together."""
        self._units = units
        self._unit_of = {j: u for u, members in enumerate(units.members) for j in members}
        self._aside: Desk | None = None
        self._now.regroup(units)
        if self._errors is not None:
            self._errors.regroup(units)

    def _desk(self, criterion: Criterion, units: Units) -> Desk:
        return Desk(self._held.made.guide, criterion, units)

    @property
    def aside(self) -> Desk:
        """For questions that take long; made when the first is asked."""
        if self._aside is None:
            self._aside = self._desk(self._criterion, self._units)
        return self._aside

    def another_error_desk(self, units: Units) -> Desk | None:
        """Scores subsets by the share of wrong rows; None for models without probabilities."""
        task = self._held.task
        if task is None or task.family.form == "moves":
            return None
        return self._desk(CRITERIA["error"], units)

    @property
    def criterion(self) -> str:
        """Name of the criterion."""
        return self._criterion.name

    @property
    def sign(self) -> int:
        """1 where a lower score is better, -1 where a higher one is."""
        return -1 if self._criterion.greater_is_better else 1

    # -- questions ------------------------------------------------------------------------------

    def score(self, subset: Sequence[int]) -> float:
        """The criterion's value."""
        return self._now.ask(subset).value

    def error(self, subset: Sequence[int]) -> tuple[float, float]:
        """The share of wrong rows, and its standard error."""
        if self._errors is None:
            return float("nan"), float("nan")
        return self._errors.ask(subset).value, self._errors.standard_error(subset)

    def errors_alone(self) -> list[float]:
        """The error of every column alone, with what moves with it."""
        if self._errors is None:
            return [float("nan")] * len(self._unit_of)
        desk = self.another_error_desk(self._units)
        assert desk is not None
        found = desk.each((), range(len(self._units)), 1)
        return [found[self._unit_of[j]].value for j in range(len(self._unit_of))]

    def held_out(self, subset: Sequence[int]) -> tuple[Array, Floats]:
        """Rows, and the probabilities of their classes by tables that have not seen them."""
        return self._now.probabilities(subset)

    def losses_if_left(self, state: State) -> dict[int, float]:
        """How much worse the score gets without each column and what moves with it."""
        if not state.subset:
            return {}
        now = self._now.ask(state.subset)
        units = sorted({self._unit_of[j] for j in state.subset})
        after = self.aside.each(state.subset, units, -1)
        lost = {u: worse_by(now, each) for u, each in zip(units, after, strict=True)}
        return {j: lost[self._unit_of[j]] for j in state.subset}

    def gains(self, state: State, most: int) -> list[Effect]:
        """The columns that do most good by joining."""
        now, units = self._now.ask(state.subset), self._outside(state)
        found = self._ranked(state.subset, units, now, most)
        return [Effect(each.column, -each.amount) for each in found]

    def substitutes(self, state: State, column: int, most: int) -> list[Effect]:
        """Columns that could take another's place; the amount is the loss."""
        now, rest, units = self._replacing(state, column)
        return self._ranked(rest.subset, units, now, most)

    def best_substitute(self, state: State, column: int) -> Effect | None:
        """The best column to take another's place, which a fast scan shortlists."""
        now, rest, units = self._replacing(state, column)
        if not units:
            return None
        unit, found = self.aside.best(rest.subset, units)
        return Effect(self._units.members[unit][0], worse_by(now, found))

    def _replacing(self, state: State, column: int) -> tuple[Answer, State, list[int]]:
        """The score now, the others' state, and units that could take a column's place."""
        rest = state.without([column])
        units = [u for u in self._outside(rest) if u != self._unit_of[column]]
        return self._now.ask(state.subset), rest, units

    def _ranked(
        self, subset: Sequence[int], units: list[int], now: Answer, most: int
    ) -> list[Effect]:
        if not units:
            return []
        found = zip(self.aside.each(subset, units, 1), units, strict=True)
        best = sorted(found, key=lambda pair: (pair[0].key, pair[1]))[:most]
        return [Effect(self._units.members[u][0], worse_by(now, each)) for each, u in best]

    def _outside(self, state: State) -> list[int]:
        """Units that may join."""
        barred = state.struck.union(state.subset)
        return [u for u, members in enumerate(self._units.members) if not barred & set(members)]


def worse_by(now: Answer, after: Answer) -> float:
    """How much worse a score is than another; below 0 where it is better."""
    apart = abs(after.value - now.value)
    return apart if after.key > now.key else -apart if after.key < now.key else 0.0


# -- A search that runs beside a session -----------------------------------------------------------


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
    """A search under way: its steps, and how to pause, stop or cancel it.

    The desk, where there is one, tells the error of each subset visited; `heard` is called after
    each step.
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
        """Run a search, in this thread or in the background."""
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
        """Pause the search after its next step."""
        self._go.clear()

    def go_on(self) -> None:
        """Resume the search."""
        self._go.set()

    def stop(self) -> None:
        """Stop the search after its next step; the best subset visited is chosen."""
        self._stopped = True
        self._go.set()

    def give_up(self) -> None:
        """Cancel the search after its next step; its result is discarded."""
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
