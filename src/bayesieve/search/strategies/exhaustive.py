"""Every subset, one change at a time."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from ...checks import check_number
from .base import EXHAUSTIVE, Limits, Loss, Outlook, Search, Subset

_TIMED = 64  # subsets timed before a refusal


_PAUSE = 1024  # subsets between two yields, at most


@dataclass(frozen=True)
class ExhaustiveSearch(Search):
    """Score all subsets in Gray-code order, in which neighbours differ by one feature.

    The path keeps improvements only: lower loss, then fewer features, then the first in
    lexicographic order.

    Parameters
    ----------
    most_subsets : int, default=2**20
        Refuse to start on more, and say how long it would take.

    Examples
    --------
    >>> from bayesieve.search import ExhaustiveSearch
    >>> ExhaustiveSearch()
    ExhaustiveSearch(most_subsets=1048576)
    """

    most_subsets: int = 2**20

    def check(self) -> None:
        """Judge the parameter."""
        check_number("search.most_subsets", self.most_subsets, low=1, whole=True)

    def outlook(self, objective: Subset, limits: Limits) -> Outlook:
        """Every subset of what may leave."""
        free = objective.n_units - len(objective.keep)
        return Outlook(max(2**free - 1 - objective.n_tried, 0))

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Walk through all subsets of the units that may leave."""
        free = [unit for unit in range(objective.n_units) if unit not in objective.keep]
        objective.start(tuple(sorted(objective.keep)), EXHAUSTIVE)
        n_subsets = 2 ** len(free)
        if n_subsets > self.most_subsets:
            self._refuse(objective, free, n_subsets)
        if limits.target is not None:
            # A smaller subset that scores better must not stand in the way of those asked for.
            limits = Limits(limits.target, limits.target)
        best: tuple[Loss, int, tuple[int, ...]] | None = None
        if limits.allow(objective.size):
            best = (objective.score(), objective.size, tuple(sorted(objective.selected)))
        i = 1
        while i < n_subsets:
            inside, size = set(objective.selected), objective.size
            units = _toggles(free, i, min(i + _PAUSE, n_subsets))
            keys = objective.walk(units, limits.least, limits.most)
            for at, (unit, key) in enumerate(zip(units, keys, strict=False)):
                size += -objective.width(unit) if unit in inside else objective.width(unit)
                inside ^= {unit}
                if key is not None and (best is None or (key, size) <= best[:2]):
                    rank = (key, size, tuple(sorted(inside)))
                    if best is None or rank < best:
                        best = rank
                        objective.visited(at)
            i += len(keys)
            if i < n_subsets:
                yield

    def _refuse(self, objective: Subset, free: list[int], n_subsets: int) -> None:
        """Time some subsets and say what all would take."""
        start = time.perf_counter()
        units = _toggles(free, 1, min(_TIMED + 1, n_subsets))
        n_timed = len(objective.walk(units, 0, sum(map(objective.width, range(objective.n_units)))))
        seconds = (time.perf_counter() - start) / n_timed * n_subsets
        raise ValueError(
            f"search='exhaustive' would score 2^{len(free)} subsets, about {_in_words(seconds)}; "
            f"at most {self.most_subsets} are allowed. Use another search, feature_groups or keep, "
            "or raise ExhaustiveSearch(most_subsets=)."
        )


def _toggles(free: list[int], first: int, end: int) -> list[int]:
    """Which unit changes between Gray codes i - 1 and i, for every i: its lowest bit."""
    return [free[(i & -i).bit_length() - 1] for i in range(first, end)]


def _in_words(seconds: float) -> str:
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"
