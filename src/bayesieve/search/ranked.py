"""Walk a ranking, best feature first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .base import FORWARD, Limits, Subset, first_subset


@dataclass(frozen=True)
class RankedSearch:
    """Add features in the order of a ranking; the validation part chooses how many.

    Parameters
    ----------
    ranking : str or ranking object, default="mutual-information"
        A name known to `bayesieve.rank`, or an object of `bayesieve.rankings`.
    order : sequence of column names or positions, optional
        The order itself, instead of a ranking of the guiding rows.
    stop : {"end", "no-improvement"}, default="end"
        Go on to the last feature, or end when the next one does not make the guiding score strictly
        better (the filters of Cortizo and Giraldez).

    Examples
    --------
    >>> from bayesieve.search import RankedSearch
    >>> RankedSearch("mrmr", stop="no-improvement")
    RankedSearch(ranking='mrmr', order=None, stop='no-improvement')
    """

    ranking: Any = "mutual-information"
    order: tuple[int, ...] | None = None
    stop: str = "end"

    def given(self, aids: Any) -> "RankedSearch":
        """The same search with its order filled in."""
        if self.order is not None:
            return replace(self, order=aids.units_of("order", self.order))
        return replace(self, order=aids.order(self.ranking))

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """One unit after the other; a unit stands where its best column does."""
        objective.start(first_subset(FORWARD, objective), FORWARD)
        for unit in self.order or ():
            if unit in objective.addable(limits.most, limits.exact):
                if self.stop == "no-improvement":
                    _, key = objective.best_add([unit])
                    if objective.size >= limits.least and not key < objective.score():
                        return
                objective.add(unit)
                yield
