"""What every search offers, and the two sweeps that searches are made of."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

#: Directions of a sweep, and of a search without one.
FORWARD, BACKWARD, EXHAUSTIVE = "forward", "backward", "exhaustive"


class Subset(Protocol):
    """What a search sees of the objective."""

    size: int
    keep: frozenset[int]
    n_units: int

    @property
    def selected(self) -> tuple[int, ...]: ...
    def width(self, unit: int) -> int: ...
    def addable(self, most: int | None = None, exact: bool = False) -> list[int]: ...
    def droppable(self, least: int = 0, exact: int | None = None) -> list[int]: ...
    def score(self) -> Any: ...
    def best_add(self, units: list[int]) -> tuple[int, Any]: ...
    def best_drop(self, units: list[int]) -> tuple[int, Any]: ...
    def first_gain(self, units: list[int], sign: int) -> int | None: ...
    def score_add(self, units: list[int]) -> list[Any]: ...
    def start(self, units: Any, direction: str) -> None: ...
    def add(self, unit: int) -> None: ...
    def drop(self, unit: int) -> None: ...
    def toggle(self, unit: int) -> None: ...
    def visited(self) -> None: ...
    def snapshot(self) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Limits:
    """Sizes (in columns) that a search should visit.

    Parameters
    ----------
    least : backward sweeps end here.
    most : forward sweeps end here.
    exact : only `most` itself may be chosen in the end, so it must stay in reach.

    Examples
    --------
    >>> from bayesieve.search import Limits
    >>> limits = Limits(least=1, most=5)
    >>> limits.allow(5), limits.allow(6), limits.target
    (True, False, None)
    """

    least: int = 1
    most: int = 2**62
    exact: bool = False

    @property
    def target(self) -> int | None:
        """The size that must stay in reach, if there is one."""
        return self.most if self.exact else None

    def allow(self, size: int) -> bool:
        """Is this size within the limits?  With `exact`, only `target` is chosen in the end."""
        return self.least <= size <= self.most


class Search(Protocol):
    """A strategy: a generator that changes the objective and yields after every change.

    Examples
    --------
    A search of one's own, handed to the selector:

    >>> from bayesieve import NaiveBayesSelector
    >>> class Everything:
    ...     def steps(self, objective, limits):
    ...         objective.start(range(objective.n_units), "backward")
    ...         yield
    >>> X, y = [[0, 1], [1, 1], [0, 0], [1, 0]] * 3, [0, 1, 0, 1] * 3
    >>> NaiveBayesSelector(search=Everything(), validation=None).fit(X, y).selected_
    array([0, 1])
    """

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Run the search; the caller may stop it at any yield."""


@dataclass
class Best:
    """The best subset seen: lowest loss, then fewest columns, then first seen."""

    limits: Limits
    units: tuple[int, ...] | None = None
    rank: tuple[Any, int] | None = field(default=None)

    def see(self, objective: Subset) -> None:
        """Compare the subset as it is now."""
        if not self.limits.allow(objective.size):
            return
        rank = (objective.score(), objective.size)
        if self.rank is None or rank < self.rank:
            self.rank, self.units = rank, objective.snapshot()


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
    while candidates := objective.droppable(limits.least, limits.target):
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


def draw_units(
    objective: Subset, n_columns: int, draw: random.Random, exact: bool = False
) -> tuple[int, ...]:
    """Units that must stay and others at random, of so many columns in all.

    Units are taken in random order where they fit; with `exact`, only where the others can still
    make up the number.
    """
    kept = sorted(objective.keep)
    others = [unit for unit in range(objective.n_units) if unit not in objective.keep]
    room = n_columns - sum(objective.width(unit) for unit in kept)
    widths = [objective.width(unit) for unit in others]
    if max(widths, default=1) == 1:
        return (*kept, *sorted(draw.sample(others, max(min(room, len(others)), 0))))
    order = list(range(len(others)))
    draw.shuffle(order)
    # Sums that the units from here on can make up, as bits.
    sums = [1]
    for at in reversed(order):
        sums.append((sums[-1] | sums[-1] << widths[at]) & ((2 << max(room, 0)) - 1))
    sums.reverse()
    exact = exact and room >= 0 and bool(sums[0] >> room & 1)
    taken = []
    for i, at in enumerate(order):
        left = room - widths[at]
        if left >= 0 and (not exact or sums[i + 1] >> left & 1):
            taken.append(others[at])
            room = left
    return (*kept, *sorted(taken))


def first_subset(direction: str, objective: Subset) -> tuple[int, ...]:
    """Where a sweep starts: the units to keep, or all of them."""
    if direction == FORWARD:
        return tuple(sorted(objective.keep))
    return tuple(range(objective.n_units))
