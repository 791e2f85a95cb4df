"""Greedy searches: forward, backward, phases in turn, floating, by gain, from a given start."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, cast

from ...checks import check_number, choose
from .base import BACKWARD, FORWARD, Hints, Limits, Loss, Outlook, Search, Subset


@dataclass(frozen=True)
class StartedSearch(Search):
    """Another search, whose first phase begins with given units.

    Parameters
    ----------
    search : search object
        One that may begin anywhere: a sweep, or phases of them.
    units : tuple of int
        Where it begins; units that must stay join them.

    Examples
    --------
    >>> from bayesieve.search import GreedySearch
    >>> from bayesieve.search.strategies.greedy import StartedSearch
    >>> StartedSearch(GreedySearch("forward"), (3, 1)).units
    (3, 1)
    """

    search: Search
    units: tuple[int, ...]

    @property
    def may_end_early(self) -> bool:  # type: ignore[override]
        """Whether the inner search may end early."""
        return self.search.may_end_early

    def given(self, hints: Hints) -> Search:
        """Copy of the search with its hints filled in."""
        return StartedSearch(self.search.given(hints), self.units)

    def outlook(self, objective: Subset, limits: Limits) -> Outlook | None:
        """Forecast of the inner search."""
        return self.search.outlook(objective, limits)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Steps of the inner search, beginning with the given units."""
        yield from self.search.steps(cast(Subset, _Begun(objective, self.units)), limits)


class _Begun:
    """Objective whose first phase begins with the given units."""

    def __init__(self, objective: Subset, units: tuple[int, ...]):
        self._objective, self._units = objective, units
        self._begun = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._objective, name)

    def start(self, units: Iterable[int], direction: str) -> None:
        if not self._begun:
            self._begun = True
            units = dict.fromkeys([*self._units, *sorted(self._objective.keep)])
        self._objective.start(units, direction)


# -- Sweeps up and down, and the searches made of them ---------------------------------------------


class Sweep(NamedTuple):
    """What lies ahead of a sweep in the direction under way."""

    steps: int
    candidates: int
    tries: int
    grouped: bool  #: columns that move together make fewer steps


def sweep_ahead(objective: Subset, limits: Limits) -> Sweep:
    """Greedy sweeps score every candidate at each of their remaining steps.

    Where columns move together, this is the most: a unit that would put an exact size out of reach
    now may well be a candidate later.
    """
    if objective.direction == FORWARD:
        candidates = len(objective.addable(limits.most))
        steps = min(candidates, limits.most - objective.size)
    else:
        candidates = len(objective.droppable(limits.least))
        steps = min(candidates, objective.size - limits.least)
    grouped = any(objective.width(unit) > 1 for unit in range(objective.n_units))
    return Sweep(steps, candidates, steps * candidates - steps * (steps - 1) // 2, grouped)


def check_direction(name: str, direction: str) -> None:
    """Forward or backward."""
    choose(name, direction, [FORWARD, BACKWARD])


@dataclass
class Best:
    """The best subset seen: lowest loss, then fewest columns, then first seen."""

    limits: Limits
    units: tuple[int, ...] | None = None
    rank: tuple[Loss, int] | None = field(default=None)

    def see(self, objective: Subset) -> bool:
        """Compare the subset as it is now; is it better?"""
        if not self.limits.least <= objective.size <= self.limits.most:
            return False
        rank = (objective.score(), objective.size)
        if self.rank is not None and not rank < self.rank:
            return False
        self.rank, self.units = rank, objective.snapshot()
        return True


def grow(objective: Subset, limits: Limits, until_worse: bool = False) -> Iterator[None]:
    """Add the best unit, again and again; `until_worse` ends when that is no strict gain."""
    while candidates := objective.addable(limits.most, limits.exact):
        unit, key = objective.best_add(candidates)
        if until_worse and objective.size >= limits.least and not key < objective.score():
            return
        objective.add(unit)
        yield


def shrink(objective: Subset, limits: Limits, until_worse: bool = False) -> Iterator[None]:
    """Drop the unit that is missed least; `until_worse` ends when that is no strict gain."""
    target = limits.most if limits.exact else None
    while candidates := objective.droppable(limits.least, target):
        unit, key = objective.best_drop(candidates)
        if until_worse and objective.size <= limits.most and not key < objective.score():
            return
        objective.drop(unit)
        yield


def sweep(
    direction: str, objective: Subset, limits: Limits, until_worse: bool = False
) -> Iterator[None]:
    """`grow` or `shrink`."""
    return (grow if direction == FORWARD else shrink)(objective, limits, until_worse)


def first_subset(direction: str, objective: Subset) -> tuple[int, ...]:
    """Where a sweep starts: the units to keep, or all of them."""
    if direction == FORWARD:
        return tuple(sorted(objective.keep))
    return tuple(range(objective.n_units))


@dataclass(frozen=True)
class GreedySearch(Search):
    """Add the best feature at each step, or remove the worst.

    Parameters
    ----------
    direction : {"forward", "backward"}
        Start from nothing and add, or start from everything and remove.
    stop : {"end", "no-improvement"}, default="end"
        Go on to the last feature, or end when no step makes the guiding score strictly better.

    Examples
    --------
    >>> from bayesieve.search import GreedySearch
    >>> GreedySearch("forward", stop="no-improvement")
    GreedySearch(direction='forward', stop='no-improvement')
    """

    starts_anywhere: ClassVar[bool] = True

    direction: str
    stop: str = "end"

    def check(self) -> None:
        """Validate the parameters."""
        check_direction("search.direction", self.direction)
        choose("search.stop", self.stop, ["end", "no-improvement"])

    @property
    def may_end_early(self) -> bool:  # type: ignore[override]
        """Where no step is a gain."""
        return self.stop == "no-improvement"

    def outlook(self, objective: Subset, limits: Limits) -> Outlook:
        """All candidates at each remaining step."""
        ahead = sweep_ahead(objective, limits)
        return Outlook(ahead.tries, ahead.grouped or self.may_end_early)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """One sweep."""
        objective.start(first_subset(self.direction, objective), self.direction)
        yield from sweep(self.direction, objective, limits, self.stop == "no-improvement")


class _Gains:
    """Which losses are worth waiting for.

    Parameters
    ----------
    share : of all that was gained since the first loss.
    """

    def __init__(self, share: float):
        self._share = share
        self._first: Loss | None = None
        self._last: Loss | None = None

    def see(self, loss: Loss) -> bool:
        """Is it below the last one that was, by enough?"""
        if self._first is None or self._last is None:
            self._first = self._last = loss
            return True
        if self._share and self._last - loss < self._share * (self._first - loss):
            return False
        self._last = loss
        return True


@dataclass(frozen=True)
class PhaseSearch(Search):
    """Whole forward and backward phases in turn, each from the best subset so far.

    A phase runs to its end; the next one starts from the best subset visited (lowest guiding loss,
    then fewest features).  The search ends when a phase does not make the guiding score strictly
    better: the phase before it would only repeat itself from there.  This is what Rabenoro 2015
    calls a floating search; Pudil's, which backtracks at every step, is `FloatingSearch`.

    Parameters
    ----------
    first : {"forward", "backward"}
        Direction of the first phase.
    patience : int, optional
        A phase ends after so many steps in a row without a better subset; by default, at its end.
    least_gain : float, default=0.0
        For `patience`, subsets are better only where they bring at least this share of what the
        search has brought altogether: small steps are waited out unless they add up.

    Examples
    --------
    >>> from bayesieve.search import PhaseSearch
    >>> PhaseSearch("forward", patience=20)
    PhaseSearch(first='forward', patience=20, least_gain=0.0)
    """

    starts_anywhere: ClassVar[bool] = True

    first: str
    patience: int | None = None
    least_gain: float = 0.0

    def check(self) -> None:
        """Validate the parameters."""
        check_direction("search.first", self.first)
        check_number("search.least_gain", self.least_gain, low=0, high=1)
        if self.patience is not None:
            check_number("search.patience", self.patience, low=1, whole=True)

    @property
    def may_end_early(self) -> bool:  # type: ignore[override]
        """Where nothing better comes for a while."""
        return self.patience is not None

    def outlook(self, objective: Subset, limits: Limits) -> Outlook:
        """The phase under way; how many will follow is not known."""
        ahead = sweep_ahead(objective, limits)
        most = ahead.grouped or self.may_end_early
        return Outlook(ahead.tries, most, " in phase", least=True)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Phases until one of them does not improve."""
        direction = self.first
        best, gains = Best(limits), _Gains(self.least_gain)
        start = first_subset(direction, objective)
        while True:
            before = best.rank
            objective.start(start, direction)
            best.see(objective)
            gains.see(objective.score())
            last = -1
            for at, _ in enumerate(sweep(direction, objective, limits)):
                if best.see(objective) and gains.see(objective.score()):
                    last = at
                yield
                if self.patience is not None and at - last >= self.patience:
                    break
            if best.units is None or best.rank is None:
                return
            if before is not None and not best.rank[0] < before[0]:
                return
            start = best.units
            direction = BACKWARD if direction == FORWARD else FORWARD


# -- Sequential floating search (Pudil, Novovicova and Kittler 1994) -------------------------------


@dataclass(frozen=True)
class FloatingSearch(Search):
    """One step, then as many steps back as beat the best subset known of their size.

    `sffs` adds a feature and then drops features while each drop gives a better subset than any
    seen of that size; `sbfs` is its mirror image.  This backtracks at every step and is a different
    thing from the whole phases of `PhaseSearch`.

    Parameters
    ----------
    direction : {"forward", "backward"}
        Which way the search goes overall.

    Examples
    --------
    >>> from bayesieve.search import FloatingSearch
    >>> FloatingSearch("forward")
    FloatingSearch(direction='forward')
    """

    starts_anywhere: ClassVar[bool] = True

    direction: str

    def check(self) -> None:
        """Validate the parameter."""
        check_direction("search.direction", self.direction)

    def outlook(self, objective: Subset, limits: Limits) -> Outlook | None:
        """Back and forth, but not less far than a plain sweep, where that is known."""
        ahead = sweep_ahead(objective, limits)
        return None if ahead.grouped else Outlook(ahead.tries, least=True)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Steps and backtracking until the limit is reached."""
        objective.start(first_subset(self.direction, objective), self.direction)
        best = {objective.size: objective.score()}
        while (moved := _move(objective, limits, self.direction)) is not None:
            best[objective.size] = min(
                best.get(objective.size, objective.score()), objective.score()
            )
            yield
            while _take_back(objective, limits, self.direction, moved, best):
                yield


def _move(objective: Subset, limits: Limits, direction: str) -> int | None:
    """One unconditional step; None at the end."""
    if direction == FORWARD:
        candidates = objective.addable(limits.most, limits.exact)
        if not candidates:
            return None
        unit, _ = objective.best_add(candidates)
        objective.add(unit)
    else:
        candidates = objective.droppable(limits.least, limits.target)
        if not candidates:
            return None
        unit, _ = objective.best_drop(candidates)
        objective.drop(unit)
    return int(unit)


def _take_back(
    objective: Subset, limits: Limits, direction: str, moved: int, best: dict[int, Loss]
) -> bool:
    """One step back, if it is not the step just made and beats the best subset of its size."""
    if direction == FORWARD:
        candidates = objective.droppable(limits.least)
        if not candidates:
            return False
        unit, key = objective.best_drop(candidates)
        size = objective.size - objective.width(unit)
    else:
        candidates = objective.addable()
        if not candidates:
            return False
        unit, key = objective.best_add(candidates)
        size = objective.size + objective.width(unit)
    if unit == moved or not (size not in best or key < best[size]):
        return False
    best[size] = key
    (objective.drop if direction == FORWARD else objective.add)(unit)
    return True
