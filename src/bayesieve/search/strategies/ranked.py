"""Walk a ranking, best feature first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...checks import choose
from .base import FORWARD, Hints, Limits, Outlook, Search, Subset
from .sweeps import first_subset, sweep_ahead

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
        """Judge the parameters; the ranking is judged by whoever ranks."""
        choose("search.stop", self.stop, ["end", "no-improvement"])

    @property
    def may_end_early(self) -> bool:  # type: ignore[override]
        """Where the next column is no gain."""
        return self.stop == "no-improvement"

    def outlook(self, objective: Subset, limits: Limits) -> Outlook:
        """One column a step, of those in the order."""
        ahead = sweep_ahead(objective, limits)
        steps, bound = ahead.steps, ahead.grouped or self.may_end_early
        if self.order is not None:
            steps = min(steps, len(set(self.order).difference(objective.selected)))
        return Outlook(steps, bound, unit="steps")

    def given(self, hints: Hints) -> "RankedSearch":
        """The same search with its order filled in."""
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
