"""The objective that a search sees: fast bounds shortlist candidates, exact losses decide."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain, groupby
from typing import NamedTuple, Protocol

import numpy as np

from ..criteria.base import Criterion, Key, loss_of, paired_error, standard_error
from ..engine.contract import AS_IT_IS, WHOLE, Ints, Ledger, Scores, Units

# Seconds after which a walk ends, so that a search can be stopped; a trip takes less.
_WALK, _TRIP = 0.2, 0.05


class Toggle(NamedTuple):
    """A step of a walk."""

    unit: int
    columns: Sequence[int]  #: of the unit
    sign: int  #: they join (1) or leave (-1)
    asked: bool  #: is the loss after it asked for?


class Walked(NamedTuple):
    """A walk that was made."""

    start: tuple[int, ...]  #: the units that were in the subset
    moves: Sequence[Sequence[int]]  #: units that join or leave at once
    keys: list[Key | None]  #: after each move that there was time for

    def subset(self, taken: int) -> dict[int, None]:
        """The units after so many moves, in the order in which they joined."""
        inside = dict.fromkeys(self.start)
        for unit in chain.from_iterable(self.moves[:taken]):
            if unit in inside:
                del inside[unit]
            else:
                inside[unit] = None
        return inside


class Ground(Protocol):
    """Where one walks."""

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Add (1) or remove (-1) columns."""

    def keys_along(self, steps: Sequence[Toggle]) -> list[Key]:
        """Take steps; the key after each."""


class Walker:
    """Takes as many steps as there is time for, in trips that are longer the quicker they are."""

    _stride = 1  # losses asked for in a trip

    def walk(self, ground: Ground, steps: Sequence[Toggle]) -> list[Key | None]:
        """Keys after the steps taken, the first at least; None where none is asked for."""
        found: list[Key | None] = []
        start = now = time.perf_counter()
        while len(found) < len(steps) and now - start < _WALK:
            end, asked = len(found), 0
            while end < len(steps) and asked < self._stride:
                asked += steps[end].asked
                end += 1
            found += _trip(ground, steps[len(found) : end])
            before, now = now, time.perf_counter()
            self._stride = max(2 * self._stride if now - before < _TRIP else self._stride // 2, 1)
        return found


def _trip(ground: Ground, steps: Sequence[Toggle]) -> list[Key | None]:
    found: list[Key | None] = []
    for asked, run in groupby(steps, lambda step: step.asked):
        part = list(run)
        if asked:
            found += ground.keys_along(part)
        else:
            _pass(ground, part)
            found += [None] * len(part)
    return found


def _pass(ground: Ground, steps: Sequence[Toggle]) -> None:
    """Steps that nobody asks about: what they come to is all that is done."""
    net: Counter[int] = Counter()
    for step in steps:
        for column in step.columns:
            net[column] += step.sign
    for sign in (-1, 1):
        columns = [column for column, moved in net.items() if moved == sign]
        if columns:
            ground.apply(columns, sign)


# -- The objective ---------------------------------------------------------------------------------


# Candidates asked at once while looking for the first gain.
LEAST_BLOCK, MOST_BLOCK = 32, 4096


class Gain(NamedTuple):
    """The first strict gain among units asked in turn."""

    at: int | None  #: its position; None if there is none
    key: Key | None
    tried: int  #: how many were asked up to it
    block: int  #: how many to ask at once next time


class Scorer(Protocol):
    """What an objective asks: subsets in, keys out.  A checkpoint stands in for it."""

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Add (1) or remove (-1) columns."""

    def now(self) -> Key:
        """Key of the subset."""

    def keys(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact key after each unit alone joins (1) or leaves (-1)."""

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """The unit with the lowest key, the lowest unit of equals, and that key."""

    def first_gain(self, units: Sequence[int], sign: int, now: Key, block: int) -> Gain:
        """The first unit whose move gives a key below `now`."""

    def walk(self, steps: Sequence[Toggle]) -> list[Key | None]:
        """Take steps, the first at least; keys after those taken, None where none is asked for."""

    def value(self, key: Key) -> float:
        """A key in the criterion's own units."""


class SubsetScorer:
    """Verdicts of one criterion on one ledger.

    Parameters
    ----------
    ledger : owns the rows.
    criterion : how good sums are.
    units : columns that move together.
    mates : the group of every row, whose errors go together; None: rows are independent.
    """

    def __init__(
        self, ledger: Ledger, criterion: Criterion, units: Units, mates: Ints | None = None
    ):
        self._ledger, self._criterion, self._units = ledger, criterion, units
        self._mates = mates
        self._widths = np.array([len(unit) for unit in units.members], np.int64)
        self._rule = criterion.rule(ledger)
        self._inside: set[int] = set()  # columns in the subset
        self._walker = Walker()

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Add (1) or remove (-1) columns."""
        self._ledger.apply(columns, WHOLE * sign)
        self._count(columns, sign)

    def now(self) -> Key:
        """Key of the subset."""
        return self.keys([AS_IT_IS], 1)[0]

    def keys(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact keys."""
        which = np.asarray(units, np.int64)
        if self._rule is None:
            return [self._own_loss(int(unit), sign) for unit in which]
        cells = self._ledger.losses(self._rule, self._units, which, WHOLE * sign)
        return self._rule.keys(cells, self._sizes(which, sign))

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """Lowest exact key among the units that nothing fast can rule out."""
        which = np.asarray(units, np.int64)
        if self._rule is None:
            return _lowest(which, self.keys(units, sign))
        if self._rule.direct:
            cells, sizes = self._ask(which, sign)
            near = self._rule.near(cells, sizes)
            return _lowest(which[near], self._rule.keys(cells[near], sizes[near]))
        loss, doubt = self._ledger.bounds(self._rule, self._units, which, WHOLE * sign)
        which = which[~(loss - doubt > (loss + doubt).min())]
        return _lowest(which, self._rule.keys(*self._ask(which, sign)))

    def first_gain(self, units: Sequence[int], sign: int, now: Key, block: int) -> Gain:
        """Units are asked in blocks that grow while nothing is found, and shrink where gains are
        frequent.
        """
        at = tried = 0
        while at < len(units):
            part = units[at : at + block]
            for i, key in enumerate(self.keys(part, sign)):
                if key < now:
                    return Gain(at + i, key, tried + i + 1, max(LEAST_BLOCK, 2 * (i + 1)))
            tried += len(part)
            at += len(part)
            block = min(2 * block, MOST_BLOCK)
        return Gain(None, None, tried, block)

    def walk(self, steps: Sequence[Toggle]) -> list[Key | None]:
        """Take steps while time remains; the score after each."""
        return self._walker.walk(self, steps)

    def value(self, key: Key) -> float:
        """A key in the criterion's own units; of a user's, the loss, or the gain it stands for."""
        if self._rule is not None:
            return self._rule.value(key)
        return -float(key) if self._criterion.greater_is_better else float(key)

    def standard_error(self, columns: Sequence[int]) -> float:
        """Standard error of the score of a subset."""
        scores = self._scores(columns)
        return standard_error(self._criterion, self._ledger.outline, scores, self._mates)

    def paired_error(self, columns: Sequence[int], others: Sequence[int]) -> float:
        """Standard error of the difference between the scores of two subsets."""
        both = self._scores(columns), self._scores(others)
        return paired_error(self._criterion, self._ledger.outline, *both, self._mates)

    def _scores(self, columns: Sequence[int]) -> Iterable[Scores]:
        wanted = set(columns)
        return self._ledger.scores(sorted(wanted - self._inside), sorted(self._inside - wanted))

    def keys_along(self, steps: Sequence[Toggle]) -> list[Key]:
        """Take steps; the key after each."""
        if self._rule is None:
            found = []
            for step in steps:
                self.apply(step.columns, step.sign)
                found.append(self.now())
            return found
        which, signs = np.array([(step.unit, step.sign) for step in steps]).T
        cells = self._ledger.walk(self._rule, self._units, which, WHOLE * signs)
        sizes = len(self._inside) + np.cumsum(signs * self._widths[which])
        for step in steps:
            self._count(step.columns, step.sign)
        return self._rule.keys(cells, sizes)

    def _count(self, columns: Sequence[int], sign: int) -> None:
        (self._inside.update if sign > 0 else self._inside.difference_update)(columns)

    def _ask(self, which: Ints, sign: int) -> tuple[Ints, Ints]:
        """Exact cells, and the sizes of the subsets."""
        assert self._rule is not None
        cells = self._ledger.losses(self._rule, self._units, which, WHOLE * sign)
        return cells, self._sizes(which, sign)

    def _sizes(self, which: Ints, sign: int) -> Ints:
        widths = np.where(which >= 0, self._widths[which], 0)
        return len(self._inside) + sign * widths

    def _own_loss(self, unit: int, sign: int) -> float:
        moved = self._units.members[unit] if unit >= 0 else ()
        joining, leaving = (moved, ()) if sign > 0 else ((), moved)
        return loss_of(self._criterion, self._ledger, self._ledger.scores(joining, leaving))


def _lowest(units: Iterable[int], keys: list[Key]) -> tuple[int, Key]:
    """The lowest key, and of equals the lowest unit."""
    key, unit = min(zip(keys, (int(unit) for unit in units), strict=True))
    return unit, key


def _all_but(inside: Iterable[int], n: int) -> list[int]:
    """Numbers below n, run by run between those inside: soon done where n is large."""
    found: list[int] = []
    begin = 0
    for number in sorted(inside):
        found += range(begin, number)
        begin = number + 1
    found += range(begin, n)
    return found


#: Called after a change with the action ("start", "add" or "drop"), the units moved, and itself.
Listener = Callable[[str, tuple[int, ...], "Objective"], None]


class Objective:
    """A subset of units, its loss, and the loss after one more or one fewer.

    Losses ("keys") compare exactly and lower is better; `value` turns one into the criterion's own
    units.  A search knows nothing else of the data.

    Parameters
    ----------
    verdicts : on subsets of the rows that guide the search.
    units : columns that move together.
    keep : units that are never dropped.
    """

    def __init__(self, verdicts: Scorer, units: Units, keep: Iterable[int] = ()):
        self._members = units.members
        self._widest = max(map(len, self._members))
        self._verdicts = verdicts
        self.keep = frozenset(keep)
        self.listeners: list[Listener] = []
        self.n_tried = 0  #: subsets whose loss was asked for
        self.direction = ""  #: of the phase under way
        self.size = 0  #: number of columns in the subset
        self._selected: dict[int, None] = {}
        self._known: dict[tuple[int, ...], Key] = {}
        self._block = LEAST_BLOCK
        self._walked = Walked((), (), [])
        self._move(sorted(self.keep), 1)

    @property
    def n_units(self) -> int:
        return len(self._members)

    @property
    def selected(self) -> tuple[int, ...]:
        """Units in the subset, in the order in which they joined."""
        return tuple(self._selected)

    def width(self, unit: int) -> int:
        """Number of columns of a unit."""
        return len(self._members[unit])

    def columns(self, units: Iterable[int]) -> list[int]:
        """Columns of several units."""
        return [column for unit in units for column in self._members[unit]]

    def addable(self, most: int | None = None, exact: bool = False) -> list[int]:
        """Units that may join without the subset growing beyond `most` columns.

        With `exact`, only those after which the others can still make up `most` exactly.
        """
        inside, members = self._selected, self._members
        room = self._widest if most is None else most - self.size
        if room >= self._widest and (not exact or self._widest == 1):
            return _all_but(inside, len(members))
        found = [u for u in range(len(members)) if u not in inside and len(members[u]) <= room]
        return self._in_reach(found, room) if exact else found

    def droppable(self, least: int = 0, exact: int | None = None) -> list[int]:
        """Units that may leave without the subset shrinking below `least` columns.

        With `exact`, only those after which the others can still leave exactly so many columns;
        below that size, all.
        """
        room = self.size - least
        found = sorted(
            unit
            for unit in self._selected
            if unit not in self.keep and len(self._members[unit]) <= room
        )
        if exact is None or self._widest == 1 or self.size <= exact:
            return found
        return self._in_reach(found, self.size - exact)

    def _in_reach(self, units: list[int], columns: int) -> list[int]:
        """Units that can be the first of several with so many columns in all; all if none can."""
        possible = set()
        for width in {len(self._members[unit]) for unit in units}:
            # The columns that the units can add up to without one of this width, as bits.
            sums, spared = 1, False
            for unit in units:
                if len(self._members[unit]) == width and not spared:
                    spared = True
                else:
                    sums |= sums << len(self._members[unit])
            if width <= columns and sums >> (columns - width) & 1:
                possible.add(width)
        return [unit for unit in units if len(self._members[unit]) in possible] or units

    def score(self) -> Key:
        """Loss of the subset."""
        return self._remember((), self._verdicts.now)

    def score_add(self, units: Sequence[int]) -> list[Key]:
        """Exact loss after each unit alone joins."""
        self.n_tried += len(units)
        return self._verdicts.keys(units, 1)

    def score_drop(self, units: Sequence[int]) -> list[Key]:
        """Exact loss after each unit alone leaves."""
        self.n_tried += len(units)
        return self._verdicts.keys(units, -1)

    def best_add(self, units: Sequence[int]) -> tuple[int, Key]:
        """The unit whose joining gives the lowest loss (the first of equals), and that loss."""
        return self._best(units, 1)

    def best_drop(self, units: Sequence[int]) -> tuple[int, Key]:
        """The unit whose leaving gives the lowest loss (the first of equals), and that loss."""
        return self._best(units, -1)

    def first_gain(self, units: Sequence[int], sign: int) -> int | None:
        """Position of the first unit whose joining (1) or leaving (-1) is a strict gain, or None.

        Only those up to the gain count as tried.
        """
        found = self._verdicts.first_gain(units, sign, self.score(), self._block)
        self.n_tried += found.tried
        self._block = found.block
        if found.at is not None and found.key is not None:
            self._known[units[found.at], sign] = found.key
        return found.at

    def value(self, key: Key) -> float:
        """A loss in the criterion's own units."""
        return self._verdicts.value(key)

    def start(self, units: Iterable[int], direction: str) -> None:
        """Begin a phase from these units; listeners hear of it."""
        self.direction = direction
        self.restore(tuple(units))
        self._tell("start", self.selected)

    def add(self, unit: int) -> None:
        """Add a unit to the subset."""
        self._change(unit, 1, "add")

    def drop(self, unit: int) -> None:
        """Remove a unit from the subset."""
        self._change(unit, -1, "drop")

    def walk(self, moves: Sequence[Sequence[int]], least: int, most: int) -> list[Key | None]:
        """Make moves, as many as there is time for; the loss after each.

        A move lets several units join or leave.  Nobody is told: these are candidates, not steps.
        None stands for subsets with fewer than `least` or more than `most` columns.
        """
        inside, size, steps = set(self._selected), self.size, []
        for units in moves:
            for unit in units:
                sign = -1 if unit in inside else 1
                inside ^= {unit}
                size += sign * len(self._members[unit])
                asked = unit == units[-1] and least <= size <= most
                steps.append(Toggle(unit, self._members[unit], sign, asked))
        taken = self._verdicts.walk(steps)
        ends = list(accumulate(map(len, moves)))
        keys = [taken[end - 1] for end in ends if end <= len(taken)]
        self.n_tried += len(keys)
        self._walked = Walked(self.selected, moves, keys)
        self._stand(len(keys))
        return keys

    def visited(self, at: int | None = None) -> None:
        """Commit the subset as it is, or as it was after move `at` of the last walk."""
        if at is None:
            self._tell("start", tuple(sorted(self._selected)))
            return
        end = self.selected
        self.restore(tuple(self._walked.subset(at + 1)))
        self._stand(at + 1)
        self._tell("start", tuple(sorted(self._selected)))
        self.restore(end)
        self._stand(len(self._walked.keys))

    def _stand(self, taken: int) -> None:
        """The verdicts are where the last walk was after so many moves: so is the subset."""
        self._selected = self._walked.subset(taken)
        self.size = sum(len(self._members[unit]) for unit in self._selected)
        self._known.clear()
        key = self._walked.keys[taken - 1]
        if key is not None:
            self._known[()] = key

    def snapshot(self) -> tuple[int, ...]:
        """The subset, to come back to."""
        return self.selected

    def restore(self, units: tuple[int, ...]) -> None:
        """Come back to a subset: integer sums undo exactly."""
        wanted = dict.fromkeys(units)
        self._move([unit for unit in self._selected if unit not in wanted], -1)
        self._move([unit for unit in wanted if unit not in self._selected], 1)
        self._selected = wanted

    def _best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        self.n_tried += len(units)
        unit, key = self._verdicts.best(units, sign)
        self._known[unit, sign] = key
        return unit, key

    def _change(self, unit: int, sign: int, action: str) -> None:
        key = self._known.get((unit, sign))
        self._move([unit], sign)
        if key is not None:
            self._known[()] = key
        self._tell(action, (unit,))

    def _move(self, units: Sequence[int], sign: int) -> None:
        if not units:
            return
        self._verdicts.apply(self.columns(units), sign)
        for unit in units:
            self.size += sign * len(self._members[unit])
            if sign > 0:
                self._selected[unit] = None
            else:
                del self._selected[unit]
        self._known.clear()

    def _remember(self, question: tuple[int, ...], answer: Callable[[], Key]) -> Key:
        if question not in self._known:
            self._known[question] = answer()
        return self._known[question]

    def _tell(self, action: str, units: tuple[int, ...]) -> None:
        for listener in self.listeners:
            listener(action, units, self)
