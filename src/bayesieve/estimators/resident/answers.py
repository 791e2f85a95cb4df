"""Answers to what an expert asks of a subset, from sums that are kept."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import Array
from ...criteria import CRITERIA
from ...criteria.base import Criterion
from ...engine.contract import Units
from ...search.held import HeldRows
from .desk import Answer, Desk
from .state import State


class Effect(NamedTuple):
    """What a column would do, in the criterion's own units."""

    column: int
    amount: float


class Answers:
    """Scores, losses, gains and substitutes.

    Questions that take long have a desk of their own: they do not keep the short ones waiting.

    Parameters
    ----------
    held : the rows.
    criterion : a name, or an object.
    units : columns that move together.
    """

    def __init__(self, held: HeldRows, criterion: str | Criterion, units: Units):
        self._held = held
        self._criterion = CRITERIA[criterion] if isinstance(criterion, str) else criterion
        self._now = self._desk(self._criterion, units)
        self._errors = self.another_error_desk(units)
        self.regroup(units)

    def regroup(self, units: Units) -> None:
        """Other columns move together."""
        self._units = units
        self._unit_of = {j: u for u, members in enumerate(units.members) for j in members}
        self._aside: Desk | None = None
        self._now.regroup(units)
        if self._errors is not None:
            self._errors.regroup(units)

    def _desk(self, criterion: Criterion, units: Units) -> Desk:
        return Desk(self._held.made.guide, criterion, units)

    @property
    def aside(self) -> Desk:
        """For questions that take long; made when the first is asked."""
        if self._aside is None:
            self._aside = self._desk(self._criterion, self._units)
        return self._aside

    def another_error_desk(self, units: Units) -> Desk | None:
        """Who tells the share of wrong rows; None for models that know no probabilities."""
        task = self._held.task
        if task is None or task.family.form == "moves":
            return None
        return self._desk(CRITERIA["error"], units)

    @property
    def criterion(self) -> str:
        """The name of what subsets are judged by."""
        return self._criterion.name

    @property
    def sign(self) -> int:
        """1 where a lower score is better, -1 where a higher one is."""
        return -1 if self._criterion.greater_is_better else 1

    # -- questions ------------------------------------------------------------------------------

    def score(self, subset: Sequence[int]) -> float:
        """The criterion's value."""
        return self._now.ask(subset).value

    def error(self, subset: Sequence[int]) -> tuple[float, float]:
        """The share of wrong rows, and its standard error."""
        if self._errors is None:
            return float("nan"), float("nan")
        return self._errors.ask(subset).value, self._errors.standard_error(subset)

    def errors_alone(self) -> list[float]:
        """The error of every column alone, with what moves with it."""
        if self._errors is None:
            return [float("nan")] * len(self._unit_of)
        desk = self.another_error_desk(self._units)
        assert desk is not None
        found = desk.each((), range(len(self._units)), 1)
        return [found[self._unit_of[j]].value for j in range(len(self._unit_of))]

    def held_out(self, subset: Sequence[int]) -> tuple[Array, NDArray[np.float64]]:
        """Rows, and the probabilities of their classes by tables that have not seen them."""
        return self._now.probabilities(subset)

    def losses_if_left(self, state: State) -> dict[int, float]:
        """How much worse the score gets without each column and what moves with it."""
        if not state.subset:
            return {}
        now = self._now.ask(state.subset)
        units = sorted({self._unit_of[j] for j in state.subset})
        after = self.aside.each(state.subset, units, -1)
        lost = {u: worse_by(now, each) for u, each in zip(units, after, strict=True)}
        return {j: lost[self._unit_of[j]] for j in state.subset}

    def gains(self, state: State, most: int) -> list[Effect]:
        """The columns that do most good by joining."""
        now, units = self._now.ask(state.subset), self._outside(state)
        found = self._ranked(state.subset, units, now, most)
        return [Effect(each.column, -each.amount) for each in found]

    def substitutes(self, state: State, column: int, most: int) -> list[Effect]:
        """What could take a column's place; the amount is the loss."""
        now, rest = self._now.ask(state.subset), state.without([column])
        units = [u for u in self._outside(rest) if u != self._unit_of[column]]
        return self._ranked(rest.subset, units, now, most)

    def best_substitute(self, state: State, column: int) -> Effect | None:
        """The same for the best alone, which a fast scan shortlists."""
        now, rest = self._now.ask(state.subset), state.without([column])
        units = [u for u in self._outside(rest) if u != self._unit_of[column]]
        if not units:
            return None
        unit, found = self.aside.best(rest.subset, units)
        return Effect(self._units.members[unit][0], worse_by(now, found))

    def _ranked(
        self, subset: Sequence[int], units: list[int], now: Answer, most: int
    ) -> list[Effect]:
        if not units:
            return []
        found = zip(self.aside.each(subset, units, 1), units, strict=True)
        best = sorted(found, key=lambda pair: (pair[0].key, pair[1]))[:most]
        return [Effect(self._units.members[u][0], worse_by(now, each)) for each, u in best]

    def _outside(self, state: State) -> list[int]:
        """Units that may join."""
        barred = state.struck.union(state.subset)
        return [u for u, members in enumerate(self._units.members) if not barred & set(members)]


def worse_by(now: Answer, after: Answer) -> float:
    """How much worse a score is than another; below 0 where it is better."""
    apart = abs(after.value - now.value)
    return apart if after.key > now.key else -apart if after.key < now.key else 0.0
