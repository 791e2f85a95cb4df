"""Sequential floating search (Pudil, Novovicova and Kittler 1994)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from .base import FORWARD, Limits, Loss, Outlook, Search, Subset
from .sweeps import check_direction, first_subset, sweep_ahead


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
        """Judge the parameter."""
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
