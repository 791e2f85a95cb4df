"""Searches along a ranking: walk it, or cut the table by it first."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

from ...checks import check_number, choose
from .base import FORWARD, Hints, Limits, Outlook, Search, Subset
from .greedy import PhaseSearch, first_subset, sweep_ahead

#: The ranking by each feature's own guiding score.
SCORE = "score"


@dataclass(frozen=True)
class RankedSearch(Search):
    """Add features in the order of a ranking; the validation part chooses how many.

    Parameters
    ----------
    ranking : str or ranking object, default="mutual-information"
        A name known to `bayesieve.rank`, or an object of `bayesieve.rankings`; or ``"score"``: by
        the guiding score of each feature alone (incremental single best, Ruta 2014).
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

    ranking: object = "mutual-information"
    order: tuple[int, ...] | None = None
    stop: str = "end"

    def check(self) -> None:
        """Validate the parameters; the ranking validates its own."""
        choose("search.stop", self.stop, ["end", "no-improvement"])

    @property
    def may_end_early(self) -> bool:  # type: ignore[override]
        """Whether to stop at the first column that is no gain."""
        return self.stop == "no-improvement"

    def outlook(self, objective: Subset, limits: Limits) -> Outlook:
        """One column a step, of those in the order."""
        ahead = sweep_ahead(objective, limits)
        steps, bound = ahead.steps, ahead.grouped or self.may_end_early
        if self.order is not None:
            steps = min(steps, len(set(self.order).difference(objective.selected)))
        return Outlook(steps, bound, unit="steps")

    def given(self, hints: Hints) -> "RankedSearch":
        """Copy of the search with its ranking filled in."""
        if self.order is not None:
            return replace(self, order=hints.units_of("order", self.order))
        if self.ranking == SCORE:
            return self
        return replace(self, order=hints.order(self.ranking))

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """One unit after the other; a unit stands where its best column does."""
        objective.start(first_subset(FORWARD, objective), FORWARD)
        order = self.order
        if order is None:
            alone = objective.addable()
            keys = objective.score_add(alone)
            order = tuple(alone[j] for j in sorted(range(len(alone)), key=keys.__getitem__))
        for unit in order:
            if unit in objective.addable(limits.most, limits.exact):
                if self.stop == "no-improvement":
                    _, key = objective.best_add([unit])
                    if objective.size >= limits.least and not key < objective.score():
                        return
                objective.add(unit)
                yield


# -- Search among the best features of a ranking only ----------------------------------------------


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
        """Validate the parameters; the ranking validates its own."""
        check_number("search.size", self.size, low=1, whole=True)
        if not isinstance(self.search, Search):
            raise TypeError(f"search.search must be a search object; got {self.search!r}.")
        first = getattr(self.search, "first", getattr(self.search, "direction", None))
        choose("search.search's first direction", first, [FORWARD])
        self.search.check()

    @property
    def may_end_early(self) -> bool:  # type: ignore[override]
        """Whether the inner search may end early."""
        return self.search.may_end_early

    def given(self, hints: Hints) -> Search:
        """Restrict the inner search to the best units of the ranking."""
        return AmongUnits(self.search, frozenset(hints.order(self.ranking)[: self.size]))

    def outlook(self, objective: Subset, limits: Limits) -> Outlook | None:
        """Forecast of the inner search."""
        return self.search.outlook(objective, limits)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Steps of the inner search, without a shortlist."""
        yield from self.search.steps(objective, limits)


@dataclass(frozen=True)
class AmongUnits(Search):
    """A search that may add some units only.

    Parameters
    ----------
    search : what runs on them: one that begins with no feature.
    among : numbers of the units.
    """

    search: Search
    among: frozenset[int]

    def outlook(self, objective: Subset, limits: Limits) -> Outlook | None:
        """What lies ahead among these units."""
        return self.search.outlook(self._seen(objective), limits)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Steps of the search, other units left out."""
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
