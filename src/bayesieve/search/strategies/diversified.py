"""Diversified greedy search (DGBFS, Ruta 2014), from the best or from random starts."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from numbers import Integral

from ...checks import check_number, choose
from .base import FORWARD, Hints, Limits, Search, Subset, check_seed, draw_by, draw_units

RANDOM = "random"


@dataclass(frozen=True)
class RandomSearch(Search):
    """Draw random subsets of growing size; the path shows how far size alone goes.

    Parameters
    ----------
    sizes : sequence of int, default=(10, 20, ..., 500)
        Numbers of columns; sizes beyond what is allowed are left out (the largest allowed is tried
        where all are).  Groups are drawn as far as they fit.
    draws : int, default=50
        Subsets of each size.
    random_state : int, optional
        Seed; drawn from the selector's `random_state` by default.

    Examples
    --------
    >>> from bayesieve.search import RandomSearch
    >>> RandomSearch(sizes=(5, 10), draws=3)
    RandomSearch(sizes=(5, 10), draws=3, random_state=None)
    """

    sizes: tuple[int, ...] = tuple(range(10, 501, 10))
    draws: int = 50
    random_state: int | None = None

    def check(self) -> None:
        """Validate the parameters."""
        check_number("search.draws", self.draws, low=1, whole=True)
        if not isinstance(self.sizes, Iterable):
            raise TypeError(f"search.sizes must be a sequence of sizes; got {self.sizes!r}.")
        sizes = list(self.sizes)
        if not sizes or not all(isinstance(n, Integral) and int(n) >= 1 for n in sizes):
            raise ValueError(f"search.sizes must hold whole numbers from 1 on; got {self.sizes!r}.")
        check_seed(self.random_state)

    @property
    def draws_without_seed(self) -> bool:  # type: ignore[override]
        """Whether a seed has still to be filled in."""
        return self.random_state is None

    def given(self, hints: Hints) -> "RandomSearch":
        """Copy of the search with its seed filled in."""
        return self if self.random_state is not None else replace(self, random_state=hints.seed)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Every subset is a state of its own."""
        draw = draw_by(self.random_state)
        everything = sum(objective.width(unit) for unit in range(objective.n_units))
        most = min(limits.most, everything)
        sizes = [size for size in self.sizes if limits.least <= size <= most]
        for size in [most] if limits.exact else sizes or [most]:
            for _ in range(self.draws):
                objective.start(draw_units(objective, size, draw, limits.exact), RANDOM)
                yield


# -- Diversified greedy backward-forward search (DGBFS, Ruta 2014) ---------------------------------


@dataclass(frozen=True)
class DiversifiedSearch(Search):
    """Keep every addition that improves the score, then every removal, in random order.

    A forward scan goes once through the features in a random order and keeps each that is a strict
    gain at that moment; a backward scan goes through the features kept, in another random order,
    and drops each whose removal is a strict gain.  Scans take turns until neither changes anything.
    Features are listed in the order in which the survivors were accepted.

    Parameters
    ----------
    begin : {"empty", "best"} or int, default="empty"
        Start from nothing, from the best single feature, or from so many columns at random.
    random_state : int, optional
        Seed of the orders; drawn from the selector's `random_state` by default.

    Examples
    --------
    >>> from bayesieve.search import DiversifiedSearch
    >>> DiversifiedSearch("best", random_state=0)
    DiversifiedSearch(begin='best', random_state=0)
    """

    begin: str | int = "empty"
    random_state: int | None = None

    def check(self) -> None:
        """Validate the parameters."""
        if isinstance(self.begin, str):
            choose("search.begin", self.begin, ["empty", "best"])
        else:
            check_number("search.begin", self.begin, low=0, whole=True)
        check_seed(self.random_state)

    @property
    def draws_without_seed(self) -> bool:  # type: ignore[override]
        """Whether a seed has still to be filled in."""
        return self.random_state is None

    def given(self, hints: Hints) -> "DiversifiedSearch":
        """Copy of the search with its seed filled in."""
        return self if self.random_state is not None else replace(self, random_state=hints.seed)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Scans in turns."""
        draw = draw_by(self.random_state)
        objective.start(self._first(objective, limits, draw), FORWARD)
        yield from self._fill(objective, limits, min(limits.least, 1))
        changed = True
        while changed:
            changed = False
            for sign in (1, -1):
                for _ in self._scan(objective, limits, sign, draw):
                    changed = True
                    yield
        # Gains have run out: the best of the others make up the number that was asked for.
        yield from self._fill(objective, limits, limits.target or limits.least)

    @staticmethod
    def _fill(objective: Subset, limits: Limits, least: int) -> Iterator[None]:
        """Add the best unit until the subset has so many columns."""
        while objective.size < least:
            candidates = objective.addable(limits.most, limits.exact)
            if not candidates:
                return
            objective.add(objective.best_add(candidates)[0])
            yield

    def _first(self, objective: Subset, limits: Limits, draw: random.Random) -> tuple[int, ...]:
        kept = tuple(sorted(objective.keep))
        if self.begin == "empty":
            return kept
        if self.begin == "best":
            objective.start(kept, FORWARD)
            candidates = objective.addable(limits.most, limits.exact)
            return (*kept, objective.best_add(candidates)[0]) if candidates else kept
        return draw_units(objective, min(int(self.begin), limits.most), draw, limits.exact)

    def _scan(
        self, objective: Subset, limits: Limits, sign: int, draw: random.Random
    ) -> Iterator[None]:
        """One pass over all that may join (1) or leave (-1), each asked once."""
        left = self._allowed(objective, limits, sign)
        draw.shuffle(left)
        while left:
            allowed = set(self._allowed(objective, limits, sign))
            left = [unit for unit in left if unit in allowed]
            at = objective.first_gain(left, sign)
            if at is None:
                return
            (objective.add if sign > 0 else objective.drop)(left[at])
            left = left[at + 1 :]
            yield

    @staticmethod
    def _allowed(objective: Subset, limits: Limits, sign: int) -> list[int]:
        if sign > 0:
            return objective.addable(limits.most, limits.exact)
        return objective.droppable(limits.least, limits.target)
