"""FBL: filter the attributes that depend on each other (Cortizo and Giraldez)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .base import BACKWARD, Hints, Limits, Outlook, Search, Subset
from .greedy import first_subset, shrink, sweep_ahead


@dataclass(frozen=True)
class DependencySearch(Search):
    """Drop attributes along a list of dependent pairs, then the least informative ones.

    All pairs of attributes are listed by the strength of their dependency.  The first stage looks
    at the two strongest pairs and drops the attribute of the two to four named there whose removal
    improves the score most; its pairs leave the list, which is read again from its top, until no
    such removal is a strict gain.  The second stage goes once through the remaining attributes, the
    least informative about the class first, and drops each whose removal is a strict gain.

    This is Algorithm 1 of the paper with its misprints mended: pairs are unordered, the best
    attribute is sought whether or not a second pair is left, and the second loop advances.

    Parameters
    ----------
    measure : str or callable, default="auto"
        Strength of a pair: ``"r2"`` (squared correlation), ``"uncertainty"`` (symmetric
        uncertainty), ``"auto"`` (r2 for numbers, uncertainty where a column is categorical), or a
        function of two columns.
    pairs : sequence of pairs of column names or positions, optional
        Dependent pairs, strongest first, instead of all pairs by `measure` on the guiding rows.
    order : sequence of column names or positions, optional
        From most to least informative; by mutual information on the guiding rows by default.

    Examples
    --------
    >>> from bayesieve.search import DependencySearch
    >>> DependencySearch()
    DependencySearch(measure='auto', pairs=None, order=None)
    """

    measure: str | Callable[..., float] = "auto"
    pairs: tuple[tuple[int, int], ...] | None = None
    order: tuple[int, ...] | None = None

    def outlook(self, objective: Subset, limits: Limits) -> Outlook:
        """Two pairs name four columns at most; the second stage asks every column once."""
        ahead = sweep_ahead(objective, limits)
        beyond = ahead.tries if objective.size > limits.most else 0
        return Outlook(4 * ahead.steps + ahead.candidates + beyond, True)

    def given(self, hints: Hints) -> "DependencySearch":
        """Copy of the search with its dependent pairs and its order filled in."""
        return replace(
            self,
            pairs=hints.pairs(self.measure)
            if self.pairs is None
            else hints.named_pairs(self.pairs),
            order=hints.order("mutual-information")
            if self.order is None
            else hints.units_of("order", self.order),
        )

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """The two stages."""
        objective.start(first_subset(BACKWARD, objective), BACKWARD)
        # A pair that must stay has nothing to offer.
        pairs = [pair for pair in self.pairs or () if not objective.keep.issuperset(pair)]
        while pairs:
            named = sorted({unit for pair in pairs[:2] for unit in pair})
            worst = _worst(objective, limits, named)
            if worst is None:
                break
            objective.drop(worst)
            pairs = [pair for pair in pairs if worst not in pair]
            yield
        for unit in reversed(self.order or ()):
            if _worst(objective, limits, [unit]) is not None:
                objective.drop(unit)
                yield
        if objective.size > limits.most:
            yield from shrink(objective, limits, until_worse=True)


def _worst(objective: Subset, limits: Limits, units: list[int]) -> int | None:
    """The unit whose removal improves the score most, or None if none is a strict gain.

    While the subset is larger than allowed, any removal will do.
    """
    droppable = set(objective.droppable(limits.least, limits.target))
    candidates = [unit for unit in units if unit in droppable]
    if not candidates:
        return None
    unit, key = objective.best_drop(candidates)
    return unit if key < objective.score() or objective.size > limits.most else None
