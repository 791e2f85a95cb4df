"""Columns dealt out to holders, each with all rows: what a search asks where rows are compared."""

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...checks import Array, Foreign
from ...data.sparse import Moves
from ...models.base import Floats, Statistics
from ..contract import AS_IT_IS, Ints, Measure, Scores, Units, walk
from ..sparse import MovedLines
from ..sparse_tables import SparseProblem, SparseTables
from .asking import Asking
from .channel import Channel
from .rows import FarRows
from .wire import Message, narrow


def deal_out(weights: Ints, units: Sequence[Sequence[int]], n_holders: int) -> list[list[int]]:
    """Columns of each holder: units stay whole, and all holders have about as much to do.

    Parameters
    ----------
    weights : work of each column.
    units : columns that move together; columns of none are nobody's.
    n_holders : at most so many.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.far.moves import deal_out
    >>> deal_out(np.array([5, 1, 1, 4]), [[0], [1, 3], [2]], 2)
    [[0], [1, 3, 2]]
    """
    work = np.array([1 + int(weights[list(members)].sum()) for members in units])
    middles = np.cumsum(work) - work / 2
    owner = np.minimum(middles * n_holders // work.sum(), n_holders - 1).astype(np.int64)
    found: list[list[int]] = [[] for _ in range(n_holders)]
    for holder, members in zip(owner.tolist(), units, strict=True):
        found[holder] += members
    return [columns for columns in found if columns]


class DealtColumns(Asking):
    """Columns that others hold, each with all rows.

    Parameters
    ----------
    channel : to those who hold them.
    columns : of each holder, in its own order.
    """

    def __init__(self, channel: Channel, columns: Sequence[Sequence[int]]):
        self.columns = [np.array(mine, np.int64) for mine in columns]
        self._place = {int(j): (h, i) for h, mine in enumerate(columns) for i, j in enumerate(mine)}
        super().__init__(channel)

    def split(self, columns: Sequence[int]) -> list[list[int]]:
        """Which of these columns each holder has, in its own numbers."""
        found: list[list[int]] = [[] for _ in self.columns]
        for j in columns:
            holder, place = self._place[int(j)]
            found[holder].append(place)
        return found

    def holder_of(self, column: int) -> int:
        """Who has a column."""
        return self._place[int(column)][0]


@dataclass(frozen=True)
class FarProblem(SparseProblem):
    """Rows that others hold; `moves` has no entries.

    Parameters
    ----------
    held : whoever counts them.
    """

    held: FarRows = field(kw_only=True)

    @cached_property
    def _counts(self) -> list[list[Floats]]:
        """Counts of all columns: sets x codes x classes, by problem; a round for each."""
        training = self.scoring.training
        return [
            self.held.count(self.sets_of(classes, self.class_weight), training)
            for classes in self.trained.classes.T
        ]

    def statistics(self, f: int, problem: int) -> Statistics:
        """Counts."""
        return self._counts[problem][f]

    def binary_counts(self, at: Ints, totals: Floats) -> Floats:
        """Problems side by side."""
        found = np.empty((at.size, totals.shape[0], 3, totals.shape[1]))
        for i, f in enumerate(at.tolist()):
            np.concatenate([counts[f] for counts in self._counts], axis=-1, out=found[i])
        return found

    def vote_counts(self, classes: Ints) -> Floats:
        """One round."""
        sets = self.sets_of(classes, self.class_weight)
        return np.stack(self.held.count(sets, self.scoring.training), axis=1)


class FarMoves(MovedLines):
    """A ledger of moves whose columns others hold.

    The sums stand here.  Whoever has a column that joins or leaves says which lines it moves; with
    the next question all are told where these lines stand now.  What stands is told, not by how
    much it moved: hearing it twice changes nothing, and whoever has just begun is told all of it.

    Parameters
    ----------
    columns : where to ask.
    problem : rows, targets, and which lines are scored.
    tables : the terms of all columns.
    factors : what a line of each class counts.
    """

    def __init__(
        self,
        columns: DealtColumns,
        problem: SparseProblem,
        tables: SparseTables,
        factors: tuple[int, ...],
    ):
        super().__init__(problem, tables, factors)
        self._columns, self._problem, self._number = columns, problem, columns.next_number()
        self._wanted: set[int] = set()
        self._inside: set[int] = set()
        self._untold = np.zeros(self._rows.size, bool)
        self._known: list[tuple[Units, _Owned]] = []
        setup = weakref.WeakMethod(self._messages)
        columns.tell(self._number, lambda holder: _setup(setup, holder))
        weakref.finalize(self, columns.forget, self._number)

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Holders hear of it with the next question."""
        (self._wanted.update if sign > 0 else self._wanted.difference_update)(map(int, columns))

    def losses(self, measure: Measure, units: Units, which: Ints, sign: int) -> Ints:
        """One round, and one before it where columns have moved."""
        self._catch_up()
        number, owned = self._owned(units)
        which = np.asarray(which, np.int64)
        owner = np.where(which == AS_IT_IS, 0, owned.holders[which])
        lines = np.flatnonzero(self._untold)
        plain = {
            "ledger": self._number,
            "units": number,
            "kind": measure.kind,
            "bits": measure.bits,
            "sign": sign,
        }
        news = (narrow(lines), self._sums[:, lines], self._offset)

        def make(holder: int) -> Message:
            mine = which[owner == holder]
            mine = np.where(mine == AS_IT_IS, AS_IT_IS, owned.numbers[mine])
            return Message("losses", plain, (narrow(mine), *news))

        answers = [answer.arrays[0] for answer in self._columns.ask_each(make)]
        self._untold[lines] = False
        found = np.empty((which.size, answers[0].shape[1]), np.int64)
        for holder, answer in enumerate(answers):
            found[owner == holder] = answer
        return found

    def walk(self, measure: Measure, units: Units, which: Ints, signs: Ints) -> Ints:
        """One step after the other."""
        return walk(self, measure, units, which, signs)

    def scores(self, joining: Sequence[int], leaving: Sequence[int]) -> Iterator[Scores]:
        """The sums stand here."""
        self._catch_up()
        lines, moves = self._changes(joining, leaving)
        sums = self._sums.copy()
        sums[:, lines] += moves
        return self._told(sums, self._moved_offset(joining, leaving))

    # -- sums ----------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Let columns that were asked to move do so."""
        joining, leaving = self._wanted - self._inside, self._inside - self._wanted
        if not joining and not leaving:
            return
        lines, moves = self._changes(sorted(joining), sorted(leaving))
        offset = self._moved_offset(sorted(joining), sorted(leaving))
        # Nothing is asked from here on: an interrupt finds all of it done, or nothing.
        self._sums[:, lines] += moves
        self._offset, self._untold[lines] = offset, True
        self._inside = (self._inside | joining) - leaving

    def _moved_offset(self, joining: Sequence[int], leaving: Sequence[int]) -> Ints:
        base = self._tables.base
        found: Ints = self._offset + base[list(joining)].sum(0) - base[list(leaving)].sum(0)
        return found

    def _changes(self, joining: Sequence[int], leaving: Sequence[int]) -> tuple[Ints, Ints]:
        """Lines that move, and by how much; one round."""
        if not joining and not leaving:
            return np.empty(0, np.int64), np.empty((self._sums.shape[0], 0), np.int64)
        sides = self._columns.split(joining), self._columns.split(leaving)

        def make(holder: int) -> Message:
            arrays = tuple(np.array(side[holder], np.int64) for side in sides)
            return Message("changes", {"ledger": self._number}, arrays)

        total = np.zeros_like(self._sums)
        for answer in self._columns.ask_each(make):
            lines, moves = answer.arrays
            total[:, lines] += moves
        moved = np.flatnonzero(total.any(0))
        return moved, total[:, moved]

    # -- what holders must know ----------------------------------------------------------------

    def _owned(self, units: Units) -> tuple[int, "_Owned"]:
        for number, (known, owned) in enumerate(self._known):
            if known is units:
                return number, owned
        owned = _Owned.of(units, self._columns)
        self._known.append((units, owned))
        number = len(self._known) - 1
        self._columns.ask_each(lambda holder: owned.message(self._number, number, holder))
        return number, owned

    def _messages(self, holder: int) -> list[Message]:
        """First the ledger itself, then units and where all lines stand."""
        problem, tables, scale = self._problem, self._tables, self._tables.scale
        mine = self._columns.columns[holder]
        moves: Moves = problem.moves
        rows = np.concatenate(
            [np.empty(0, np.int64), *(np.arange(moves.first[f], moves.first[f + 1]) for f in mine)]
        )
        arrays = (
            narrow(self._rows),
            self._ends,
            narrow(problem.targets.classes),
            narrow(problem.weights.astype(np.int64)),
            tables.offset,
            tables.base[mine],
            tables.delta[rows],
            np.cumsum([0, *np.diff(moves.first)[mine]]),
            moves.usual[mine],
            moves.codes[rows],
        )
        plain = {
            "ledger": self._number,
            "n_classes": self.outline.n_classes,
            "labelled": self.outline.labelled,
            "bits": scale.bits,
            "impossible": scale.impossible,
            "bound": scale.bound,
            "factors": list(self.outline.factors),
        }
        found = [Message("open", plain, arrays)]
        for number, (_, owned) in enumerate(self._known):
            found.append(owned.message(self._number, number, holder))
        every = np.arange(self._rows.size)
        told = (narrow(every), self._sums, self._offset)
        return [*found, Message("stand", {"ledger": self._number}, told)]


def _setup(setup: "weakref.WeakMethod[Foreign]", holder: int) -> list[Message]:
    """What a ledger tells a holder; nothing where it is gone."""
    messages = setup()
    return [Message("nothing")] if messages is None else messages(holder)


@dataclass(frozen=True)
class _Owned:
    """Units as holders number them.

    Parameters
    ----------
    holders, numbers : of each unit: who has its columns, and its number there.
    members : of each holder: the columns of its units, in its own numbers.
    """

    holders: Ints
    numbers: Ints
    members: list[list[list[int]]]

    @classmethod
    def of(cls, units: Units, columns: DealtColumns) -> "_Owned":
        members: list[list[list[int]]] = [[] for _ in columns.columns]
        holders, numbers = np.zeros((2, len(units)), np.int64)
        for u, unit in enumerate(units.members):
            h = holders[u] = columns.holder_of(unit[0])
            numbers[u] = len(members[h])
            members[h].append(columns.split(unit)[h])
        return cls(holders, numbers, members)

    def message(self, ledger: int, number: int, holder: int) -> Message:
        """What one holder is told."""
        mine = self.members[holder]
        starts = np.cumsum([0, *map(len, mine)])
        columns = np.array([j for unit in mine for j in unit], np.int64)
        plain = {"ledger": ledger, "units": number}
        return Message("units", plain, (narrow(starts), narrow(columns)))


def moves_of(counts: Sequence[Array]) -> Moves:
    """Columns by their moves, as the number of rows of each code has it; entries are elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.far.moves import moves_of
    >>> moves = moves_of([np.array([5, 2, 0]), np.array([0, 3, 1])])
    >>> moves.usual.tolist(), moves.first.tolist(), moves.codes.tolist()
    ([0, 1], [0, 1, 2], [1, 2])
    """
    usual = [int(each.argmax()) for each in counts]
    others = [
        np.setdiff1d(np.flatnonzero(each), [common])
        for each, common in zip(counts, usual, strict=True)
    ]
    first = np.cumsum([0, *(each.size for each in others)])
    codes = np.concatenate([np.empty(0, np.int64), *others]).astype(np.int64)
    return Moves(None, first, np.array(usual, np.int64), codes)
