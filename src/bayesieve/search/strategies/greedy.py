"""Greedy forward and backward search (Langley and Sage; Rabenoro 2015, section 5.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

from .base import Limits, Subset, first_subset, sweep


@dataclass(frozen=True)
class GreedySearch:
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

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """One sweep."""
        objective.start(first_subset(self.direction, objective), self.direction)
        yield from sweep(self.direction, objective, limits, self.stop == "no-improvement")
