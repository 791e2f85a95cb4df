"""Random subsets (RFS, Ruta 2014): the baseline of every search."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from numbers import Integral

from ...checks import check_number
from .base import Hints, Limits, Search, Subset, check_seed, draw_by, draw_units

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
        """Judge the parameters."""
        check_number("search.draws", self.draws, low=1, whole=True)
        if not isinstance(self.sizes, Iterable):
            raise TypeError(f"search.sizes must be a sequence of sizes; got {self.sizes!r}.")
        sizes = list(self.sizes)
        if not sizes or not all(isinstance(n, Integral) and int(n) >= 1 for n in sizes):
            raise ValueError(f"search.sizes must hold whole numbers from 1 on; got {self.sizes!r}.")
        check_seed(self.random_state)

    @property
    def draws_without_seed(self) -> bool:  # type: ignore[override]
        """Until it is given one."""
        return self.random_state is None

    def given(self, hints: Hints) -> "RandomSearch":
        """The same search with its seed filled in."""
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
