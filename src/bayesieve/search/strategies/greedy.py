"""Greedy forward and backward search (Langley and Sage; Rabenoro 2015, section 5.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...checks import choose
from .base import Limits, Outlook, Search, Subset, check_direction, first_subset, sweep, sweep_ahead


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

    direction: str
    stop: str = "end"

    def check(self) -> None:
        """Judge the parameters."""
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
