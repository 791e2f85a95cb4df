"""Exhaustive search: every subset, one change at a time (Gray code)."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from math import comb

from ...checks import check_number
from .base import EXHAUSTIVE, Limits, Loss, Outlook, Search, Subset

_TIMED = 64  # subsets timed before a refusal


_PAUSE = 1024  # subsets between two yields, at most


_MANY = 10**18  # as far as subsets are counted


@dataclass(frozen=True)
class ExhaustiveSearch(Search):
    """Score all subsets in Gray-code order, in which neighbours differ by one feature.

    Subsets of other sizes than those asked for (`n_features`, or `min_features` and
    `max_features`) are not scored, nor walked through where there are many.  The path keeps
    improvements only: lower loss, then fewer features, then the first in lexicographic order.

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
        """Validate the parameter."""
        check_number("search.most_subsets", self.most_subsets, low=1, whole=True)

    def outlook(self, objective: Subset, limits: Limits) -> Outlook:
        """Every subset that is left to walk to; the first is where the walk begins."""
        walked = self._walked(objective, limits)
        first = walked.allow(_size(objective, objective.keep))
        return Outlook(max(_n_subsets(objective, walked) - first - objective.n_tried, 0))

    def _walked(self, objective: Subset, limits: Limits) -> Limits:
        """Sizes that are walked through: those asked for, or all where they are soon passed."""
        n_free = objective.n_units - len(objective.keep)
        if 2**n_free <= min(_PAUSE, self.most_subsets):
            return Limits(0)
        return _sizes(limits)

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Walk through all subsets of the units that may leave, of the sizes asked for."""
        limits = _sizes(limits)
        keep, free = tuple(sorted(objective.keep)), _free(objective)
        objective.start(keep, EXHAUSTIVE)
        walked = self._walked(objective, limits)
        n_subsets = _n_subsets(objective, walked)
        if n_subsets > self.most_subsets:
            self._refuse(objective, free, n_subsets)
        best: tuple[Loss, int, tuple[int, ...]] | None = None
        if limits.allow(objective.size):
            best = (objective.score(), objective.size, keep)
        widths, kept = [objective.width(unit) for unit in free], objective.size
        order = _gray_order(widths, walked.least - kept, walked.most - kept)
        subsets = ({free[i] for i in subset} for subset in order if subset)
        before: set[int] = set()
        wanted = list(islice(subsets, _PAUSE))
        while wanted:
            moves = [sorted(a ^ b) for a, b in pairwise([before, *wanted])]
            keys = objective.walk(moves, limits.least, limits.most)
            for at, (inside, key) in enumerate(zip(wanted, keys, strict=False)):
                if key is not None and (best is None or key <= best[0]):
                    units = (*keep, *inside)
                    rank = (key, _size(objective, units), tuple(sorted(units)))
                    if best is None or rank < best:
                        best = rank
                        objective.visited(at)
            before, wanted = wanted[len(keys) - 1], wanted[len(keys) :]
            wanted += islice(subsets, _PAUSE - len(wanted))
            if wanted:
                yield

    def _refuse(self, objective: Subset, free: list[int], n_subsets: int) -> None:
        """Time some subsets and say what all would take."""
        # Of any size: what one costs does not depend on it.  In Gray code i its lowest bit changes.
        ends = range(1, min(_TIMED, 2 ** len(free) - 1) + 1)
        start = time.perf_counter()
        moves = [[free[(i & -i).bit_length() - 1]] for i in ends]
        n_timed = len(objective.walk(moves, 0, _size(objective, range(objective.n_units))))
        pace = (time.perf_counter() - start) / n_timed
        how = "more than" if n_subsets == _MANY else "about"
        raise ValueError(
            f"search='exhaustive' would score {_in_number(n_subsets, len(free))} subsets, {how} "
            f"{_in_words(pace * n_subsets)}; at most {self.most_subsets} are allowed. Use another "
            "search, feature_groups, keep, or fewer features by n_features or max_features, or "
            "raise ExhaustiveSearch(most_subsets=)."
        )


def _sizes(limits: Limits) -> Limits:
    # A smaller subset that scores better must not stand in the way of those asked for.
    return limits if limits.target is None else Limits(limits.target, limits.target)


def _free(objective: Subset) -> list[int]:
    return [unit for unit in range(objective.n_units) if unit not in objective.keep]


def _size(objective: Subset, units: Iterable[int]) -> int:
    return sum(map(objective.width, units))


def _n_subsets(objective: Subset, limits: Limits) -> int:
    """How many subsets have a size within the limits; `_MANY` stands for all that is more."""
    kept = _size(objective, objective.keep)
    widths = Counter(map(objective.width, _free(objective)))
    return _count(tuple(sorted(widths.items())), limits.least - kept, limits.most - kept)


@lru_cache(maxsize=16)
def _count(widths: tuple[tuple[int, int], ...], least: int, most: int) -> int:
    """Count the subsets of allowed sizes; widths: (columns of a unit, number of such units)."""
    ways = {0: 1}  # to make up a number of columns
    for width, number in widths:
        more: Counter[int] = Counter()
        for taken in range(min(number, max(most, 0) // width) + 1):
            # Beyond 64 of 128 it is _MANY anyway, and would be long to work out.
            chosen = min(comb(number, min(taken, number - taken, 64)), _MANY)
            for size, count in ways.items():
                if size + taken * width <= most:
                    more[size + taken * width] += count * chosen
        ways = {size: min(count, _MANY) for size, count in more.items()}
    return min(sum(count for size, count in ways.items() if least <= size <= most), _MANY)


def _gray_order(widths: list[int], least: int, most: int) -> Iterator[tuple[int, ...]]:
    """Units with `least` to `most` columns in all, as they come up in reflected Gray code.

    That sorts subsets by their highest unit, and those with the same one by the others, forwards
    and backwards in turn.  So subsets of one size differ by one exchange (the revolving door), and
    what cannot come to such a size is never entered.
    """
    most = min(most, sum(widths))
    narrowest, ends = min(widths, default=1), list(accumulate(widths))
    sums = [1]  # numbers of columns that the units below each can make up, as bits
    for width in widths:
        sums.append((sums[-1] | sums[-1] << width) & ((2 << max(most, 0)) - 1))

    def highest(end: int, least: int, most: int) -> list[int]:
        """Units below `end` that can be the highest one."""
        if most < narrowest:
            return []
        found = []
        for unit in range(bisect_left(ends, least, 0, end), end):
            low, high = max(least - widths[unit], 0), most - widths[unit]
            if low <= high and sums[unit] >> low & ((2 << high - low) - 1):
                found.append(unit)
        return found

    chosen: list[int] = []
    if least <= 0 <= most:
        yield ()
    # A stack instead of recursion: subsets may be larger than Python lets calls be deep.
    stack = [(iter(highest(len(widths), least, most)), least, most, True)]
    while stack:
        units, least, most, forwards = stack[-1]
        unit = next(units, None)
        if unit is None:
            stack.pop()
            if not forwards and least <= 0:
                yield tuple(chosen)
            if chosen:
                chosen.pop()
            continue
        chosen.append(unit)
        least, most = least - widths[unit], most - widths[unit]
        others = highest(unit, least, most)
        if not forwards and least <= 0:
            yield tuple(chosen)
        stack.append((iter(others[::-1] if forwards else others), least, most, not forwards))


def _in_number(n_subsets: int, n_free: int) -> str:
    if n_subsets == _MANY:
        return "more than 10^18"
    # With or without the empty one.
    return f"2^{n_free}" if n_subsets + 1 >= 2**n_free else f"{n_subsets:,}"


def _in_words(seconds: float) -> str:
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"
