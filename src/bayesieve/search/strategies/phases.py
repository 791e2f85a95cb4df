"""Forward-backward and backward-forward search in whole phases (Rabenoro 2015, section 5.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

from .base import (
    BACKWARD,
    FORWARD,
    Best,
    Limits,
    Outlook,
    Search,
    Subset,
    check_direction,
    first_subset,
    sweep,
    sweep_ahead,
)


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

    Examples
    --------
    >>> from bayesieve.search import PhaseSearch
    >>> PhaseSearch("backward")
    PhaseSearch(first='backward')
    """

    first: str

    def check(self) -> None:
        """Judge the parameter."""
        check_direction("search.first", self.first)

    def outlook(self, objective: Subset, limits: Limits) -> Outlook:
        """The phase under way; how many will follow is not known."""
        ahead = sweep_ahead(objective, limits)
        return Outlook(ahead.tries, ahead.grouped, " in phase", least=True)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Phases until one of them does not improve."""
        direction = self.first
        best = Best(limits)
        start = first_subset(direction, objective)
        while True:
            before = best.rank
            objective.start(start, direction)
            best.see(objective)
            for _ in sweep(direction, objective, limits):
                best.see(objective)
                yield
            if best.units is None or best.rank is None:
                return
            if before is not None and not best.rank[0] < before[0]:
                return
            start = best.units
            direction = BACKWARD if direction == FORWARD else FORWARD
