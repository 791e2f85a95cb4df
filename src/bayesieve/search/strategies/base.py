"""Search interface: steps over an objective, limits, hints and forecast."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

#: What a subset is judged by: compares exactly, and lower is better.
Loss: TypeAlias = float | Fraction


#: Directions of a sweep, and of a search without one.
FORWARD, BACKWARD, EXHAUSTIVE = "forward", "backward", "exhaustive"


class Subset(Protocol):
    """What a search sees of the objective."""

    size: int
    keep: frozenset[int]
    direction: str
    n_tried: int

    @property
    def n_units(self) -> int: ...

    @property
    def selected(self) -> tuple[int, ...]: ...
    def width(self, unit: int) -> int: ...
    def addable(self, most: int | None = None, exact: bool = False) -> list[int]: ...
    def droppable(self, least: int = 0, exact: int | None = None) -> list[int]: ...
    def score(self) -> Loss: ...
    def best_add(self, units: list[int]) -> tuple[int, Loss]: ...
    def best_drop(self, units: list[int]) -> tuple[int, Loss]: ...
    def first_gain(self, units: list[int], sign: int) -> int | None: ...
    def score_add(self, units: list[int]) -> list[Loss]: ...
    def start(self, units: Iterable[int], direction: str) -> None: ...
    def add(self, unit: int) -> None: ...
    def drop(self, unit: int) -> None: ...
    def walk(self, moves: list[list[int]], least: int, most: int) -> list[Loss | None]: ...
    def visited(self, at: int | None = None) -> None: ...
    def snapshot(self) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Limits:
    """Sizes (in columns) that a search should visit.

    Parameters
    ----------
    least : backward sweeps end here.
    most : forward sweeps end here.
    exact : only `most` itself may be chosen in the end, so it must stay in reach.

    Examples
    --------
    >>> from bayesieve.search import Limits
    >>> limits = Limits(least=1, most=5)
    >>> limits.allow(5), limits.allow(6), limits.target
    (True, False, None)
    """

    least: int = 1
    most: int = 2**62
    exact: bool = False

    @property
    def target(self) -> int | None:
        """The size that must stay in reach, if there is one."""
        return self.most if self.exact else None

    def allow(self, size: int) -> bool:
        """Is this size within the limits?  With `exact`, only `target` is chosen in the end."""
        return self.least <= size <= self.most


class Hints(Protocol):
    """What a search may ask for before it starts: plain data about the guiding rows."""

    @property
    def seed(self) -> int:
        """For searches that draw."""

    def order(self, ranking: object) -> tuple[int, ...]:
        """Units in the order of a ranking, best first."""

    def units_of(self, parameter: str, columns: object) -> tuple[int, ...]:
        """The units of columns that a user named."""

    def pairs(self, measure: object) -> tuple[tuple[int, int], ...]:
        """All pairs of units, the most dependent first."""

    def named_pairs(self, pairs: object) -> tuple[tuple[int, int], ...]:
        """The units of pairs of columns that a user named."""


class Outlook(NamedTuple):
    """What a search still has to do.

    Attributes
    ----------
    amount : int
        Subsets that it has yet to score, or steps it has yet to make.
    bound : bool
        It may end before that.
    within : str
        The part of the search that this speaks of; ``""`` for all of it.
    unit : {"tries", "steps"}
        What the amount counts.
    least : bool
        It may also take longer: this much is the least.
    """

    amount: int
    bound: bool = False
    within: str = ""
    unit: str = "tries"
    least: bool = False


class Search:
    """A strategy: a generator that changes the objective and yields after every change.

    `steps` is all that a search must have.  A subclass may also judge its parameters (`check`), ask
    for a ranking, pairs or a seed (`given`), say what lies ahead (`outlook`), and where it draws.

    Examples
    --------
    A search of one's own, handed to the selector:

    >>> from bayesieve import NaiveBayesSelector
    >>> class Everything:
    ...     def steps(self, objective, limits):
    ...         objective.start(range(objective.n_units), "backward")
    ...         yield
    >>> X, y = [[0, 1], [1, 1], [0, 0], [1, 0]] * 3, [0, 1, 0, 1] * 3
    >>> NaiveBayesSelector(search=Everything(), validation=None).fit(X, y).selected_
    array([0, 1])
    """

    #: Does it ask for a seed that nobody has given?
    draws_without_seed = False
    #: May it end before `n_features` is reached?
    may_end_early = False
    #: Does it ask for anything beside the objective?  So it does where it says what, in `given`.
    takes_hints: ClassVar[bool] = False
    #: Units that it may add, where that is known before it starts; None: all.
    among: frozenset[int] | None = None
    #: May its first phase begin with any subset?
    starts_anywhere: ClassVar[bool] = False

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls.takes_hints = cls.given is not Search.given

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """Run the search; the caller may stop it at any yield."""
        raise NotImplementedError(
            f"search {type(self).__name__!r} must define steps(objective, limits)."
        )

    def check(self) -> None:
        """Validate the search's own parameters."""

    def given(self, hints: Hints) -> "Search":
        """Copy of the search with its hints (order, seed, pairs) filled in."""
        return self

    def outlook(self, objective: Subset, limits: Limits) -> Outlook | None:
        """What is left to do, or None where that cannot be known."""
        return None


class Steps(Protocol):
    """All that a search of one's own must have."""

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]: ...


@dataclass(frozen=True)
class OwnSearch(Search):
    """A user's object with `steps`, and nothing else that a search may have."""

    own: Steps

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        """The user's own."""
        yield from self.own.steps(objective, limits)


def check_seed(seed: object) -> None:
    """None, or a whole number."""
    if seed is not None and (not isinstance(seed, Integral) or isinstance(seed, bool)):
        raise TypeError(f"search.random_state must be None or a whole number; got {seed!r}.")


def draw_by(seed: int | None) -> random.Random:
    """A source of randomness; numpy's whole numbers are seeds too."""
    return random.Random(None if seed is None else int(seed))


def draw_units(
    objective: Subset, n_columns: int, draw: random.Random, exact: bool = False
) -> tuple[int, ...]:
    """Units that must stay and others at random, of so many columns in all.

    Units are taken in random order where they fit; with `exact`, only where the others can still
    make up the number.
    """
    kept = sorted(objective.keep)
    others = [unit for unit in range(objective.n_units) if unit not in objective.keep]
    room = n_columns - sum(objective.width(unit) for unit in kept)
    widths = [objective.width(unit) for unit in others]
    if max(widths, default=1) == 1:
        return (*kept, *sorted(draw.sample(others, max(min(room, len(others)), 0))))
    order = list(range(len(others)))
    draw.shuffle(order)
    # Sums that the units from here on can make up, as bits.
    sums = [1]
    for at in reversed(order):
        sums.append((sums[-1] | sums[-1] << widths[at]) & ((2 << max(room, 0)) - 1))
    sums.reverse()
    exact = exact and room >= 0 and bool(sums[0] >> room & 1)
    taken = []
    for i, at in enumerate(order):
        left = room - widths[at]
        if left >= 0 and (not exact or sums[i + 1] >> left & 1):
            taken.append(others[at])
            room = left
    return (*kept, *sorted(taken))
