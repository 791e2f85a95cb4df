"""Random subsets (RFS, Ruta 2014): the baseline of every search."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .base import Limits, Subset, draw_units

RANDOM = "random"


@dataclass(frozen=True)
class RandomSearch:
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

    def given(self, aids: Any) -> "RandomSearch":
        """The same search with its seed filled in."""
        return self if self.random_state is not None else replace(self, random_state=aids.seed)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Every subset is a state of its own."""
        draw = random.Random(self.random_state)
        everything = sum(objective.width(unit) for unit in range(objective.n_units))
        most = min(limits.most, everything)
        sizes = [size for size in self.sizes if limits.least <= size <= most]
        for size in [most] if limits.exact else sizes or [most]:
            for _ in range(self.draws):
                objective.start(draw_units(objective, size, draw, limits.exact), RANDOM)
                yield
