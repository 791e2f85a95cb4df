"""Search among the best features of a ranking only."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, cast

from ...checks import check_number, choose
from .base import FORWARD, Hints, Limits, Outlook, Search, Subset
from .sweeps import PhaseSearch


@dataclass(frozen=True)
class ShortlistSearch(Search):
    """Cut a wide table to the best features of a ranking, and search among these.

    Parameters
    ----------
    search : search object, default=PhaseSearch("forward")
        What runs on them: one that begins with no feature.
    size : int, default=1000
        So many features, of those that lead the ranking of the guiding rows.
    ranking : str or ranking object, default="mutual-information"
        A name known to `bayesieve.rank`, or an object of `bayesieve.rankings`.

    Examples
    --------
    >>> from bayesieve.search import ShortlistSearch
    >>> ShortlistSearch(size=200).size
    200
    """

    starts_anywhere: ClassVar[bool] = True

    search: Search = field(default_factory=lambda: PhaseSearch(FORWARD))
    size: int = 1000
    ranking: object = "mutual-information"

    def check(self) -> None:
        """Judge the parameters; the ranking is judged by whoever ranks."""
        check_number("search.size", self.size, low=1, whole=True)
        if not isinstance(self.search, Search):
            raise TypeError(f"search.search must be a search object; got {self.search!r}.")
        first = getattr(self.search, "first", getattr(self.search, "direction", None))
        choose("search.search's first direction", first, [FORWARD])
        self.search.check()

    @property
    def may_end_early(self) -> bool:  # type: ignore[override]
        """Where the search does."""
        return self.search.may_end_early

    def given(self, hints: Hints) -> Search:
        """The search, and what it may look at."""
        return _Among(self.search, frozenset(hints.order(self.ranking)[: self.size]))

    def outlook(self, objective: Subset, limits: Limits) -> Outlook | None:
        """That of the search."""
        return self.search.outlook(objective, limits)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Those of the search, where nobody ranks."""
        yield from self.search.steps(objective, limits)


@dataclass(frozen=True)
class _Among(Search):
    """A search that sees some units only."""

    search: Search
    among: frozenset[int]

    def outlook(self, objective: Subset, limits: Limits) -> Outlook | None:
        return self.search.outlook(self._seen(objective), limits)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        yield from self.search.steps(self._seen(objective), limits)

    def _seen(self, objective: Subset) -> Subset:
        return cast(Subset, _Listed(objective, self.among))


class _Listed:
    """An objective of which some units alone may be added."""

    def __init__(self, objective: Subset, units: frozenset[int]):
        self._objective, self._units = objective, units

    def __getattr__(self, name: str) -> object:
        return getattr(self._objective, name)

    def addable(self, most: int | None = None, exact: bool = False) -> list[int]:
        return [unit for unit in self._objective.addable(most, exact) if unit in self._units]
