"""A search that goes on from a subset."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from .base import Hints, Limits, Outlook, Search, Subset


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
    >>> from bayesieve.search.strategies.started import StartedSearch
    >>> StartedSearch(GreedySearch("forward"), (3, 1)).units
    (3, 1)
    """

    search: Search
    units: tuple[int, ...]

    @property
    def may_end_early(self) -> bool:  # type: ignore[override]
        """Where the search does."""
        return self.search.may_end_early

    def given(self, hints: Hints) -> Search:
        """The same with what the search asks for."""
        return StartedSearch(self.search.given(hints), self.units)

    def outlook(self, objective: Subset, limits: Limits) -> Outlook | None:
        """That of the search."""
        return self.search.outlook(objective, limits)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Those of the search, from the units given."""
        yield from self.search.steps(cast(Subset, _Begun(objective, self.units)), limits)


class _Begun:
    """An objective whose first phase begins elsewhere than it is told to."""

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
