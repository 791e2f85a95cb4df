"""What an expert does to a subset: every change is answered at once, logged, and can be undone."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from threading import RLock
from typing import Self, TypeVar, cast

from ...checks import Foreign
from ...engine.contract import Units
from .answers import Answers
from .history import History
from .running import Running
from .state import Entry, State

_Method = TypeVar("_Method", bound=Callable[..., Foreign])


def atomic(method: _Method) -> _Method:
    """No search beside changes the subset between the beginning of a method and its end."""

    @wraps(method)
    def alone(self: "Edited", *args: Foreign, **named: Foreign) -> Foreign:
        with self._lock:
            found = method(self, *args, **named)
        # Without the lock: one that was given up may be waiting for it.
        if self._running is not None and self._running.cancelled:
            self._running.wait()
        return found

    return cast(_Method, alone)


class Edited:
    """A subset of columns, with what is pinned, struck and grouped.

    Mixed in by whoever has the rows.

    Attributes
    ----------
    X : the table as it was given.
    names : of all columns.
    """

    X: object
    names: list[str]
    _history: History
    _answers: Answers | None
    _running: Running | None
    _lock: RLock  #: held while the subset changes, by whoever changes it

    # -- the subset -----------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names of the columns in the subset, in the order in which they joined."""
        return [self.names[j] for j in self.state.subset]

    @property
    def pinned(self) -> list[str]:
        """Columns that must stay."""
        return [self.names[j] for j in sorted(self.state.pinned)]

    @property
    def struck(self) -> list[str]:
        """Columns that never enter."""
        return [self.names[j] for j in sorted(self.state.struck)]

    @property
    def grouped(self) -> list[list[str]]:
        """Columns that enter and leave together."""
        return [[self.names[j] for j in group] for group in self.state.groups]

    @property
    def state(self) -> State:
        """The same by position."""
        return self._history.state

    @property
    def log(self) -> list[Entry]:
        """What was changed, when, and why."""
        return list(self._history.log)

    @property
    def ways(self) -> tuple[bool, bool]:
        """Can something be undone, and redone?"""
        return self._history.ways

    @property
    def answers(self) -> Answers:
        """Who answers questions about subsets."""
        assert self._answers is not None
        return self._answers

    # -- changes --------------------------------------------------------------------------------

    @atomic
    def add(self, *columns: str | int, note: str = "") -> Self:
        """Let columns join the subset, each with its group."""
        found = self._find(columns)
        self._allowed(found)
        return self._change("add", found, note, self.state.with_columns(found))

    @atomic
    def drop(self, *columns: str | int, note: str = "") -> Self:
        """Let columns leave the subset, each with its group."""
        found = self._find(columns)
        self._loose(found)
        return self._change("drop", found, note, self.state.without(found))

    @atomic
    def swap(self, old: str | int, new: str | int, note: str = "") -> Self:
        """Let one column leave and another take its place."""
        found = self._find([old, new])
        self._loose(found[:1])
        self._allowed(found[1:])
        state = self.state.without(found[:1]).with_columns(found[1:])
        return self._change("swap", found, note, state)

    @atomic
    def pin(self, *columns: str | int, note: str = "") -> Self:
        """Columns must stay: they join, and no search drops them."""
        found = self._find(columns)
        self._allowed(found)
        state = self.state.with_columns(found)
        pinned = state.pinned.union(state.whole(found))
        return self._change("pin", found, note, replace(state, pinned=pinned))

    @atomic
    def strike(self, *columns: str | int, note: str = "") -> Self:
        """Columns never enter: they leave, and no search takes them."""
        found = self._find(columns)
        self._loose(found)
        state = self.state.without(found)
        struck = state.struck.union(state.whole(found))
        if len(struck) == len(self.names):
            raise ValueError("strike: no column would be left to choose from; leave one.")
        return self._change("strike", found, note, replace(state, struck=struck))

    @atomic
    def release(self, *columns: str | int, note: str = "") -> Self:
        """Columns are neither pinned nor struck any more."""
        found = self._find(columns)
        state, free = self.state, set(self.state.whole(found))
        freed = replace(state, pinned=state.pinned - free, struck=state.struck - free)
        return self._change("release", found, note, freed)

    @atomic
    def group(self, *columns: str | int, note: str = "") -> Self:
        """Columns enter and leave together from now on; one column alone leaves its group."""
        found, state = self._find(columns), self.state
        left = [tuple(j for j in members if j not in found) for members in state.groups]
        groups = [members for members in left if len(members) > 1]
        if len(found) > 1:
            groups.append(tuple(sorted(set(found))))
        state = replace(state, groups=tuple(groups))
        both = set(found) & state.pinned, set(found) & state.struck
        if all(both):
            raise ValueError("group: one of the columns is pinned, another struck; release one.")
        if len(found) > 1 and both[1] and set(found) & set(state.subset):
            raise ValueError(
                "group: one of the columns is struck, another in the subset; release the one, or "
                "drop the other."
            )
        if len(found) > 1:
            state = replace(
                state,
                pinned=state.pinned.union(found if both[0] else ()),
                struck=state.struck.union(found if both[1] else ()),
            )
            if set(found) & set(state.subset):
                state = state.with_columns(found)
        return self._change("group", found, note, state)

    @atomic
    def note(self, text: str) -> Self:
        """Write a remark into the log."""
        return self._change("note", [], text, self.state)

    @atomic
    def undo(self) -> Self:
        """Take the last change back."""
        return self._travel("undo", self._history.before())

    @atomic
    def redo(self) -> Self:
        """Make the change again that was taken back last."""
        return self._travel("redo", self._history.after())

    # -- within ---------------------------------------------------------------------------------

    def _units(self) -> Units:
        return Units(self.state.units(self.names))

    def _keys(self, columns: Iterable[int]) -> list[Foreign]:
        """Columns as users name them: by name where they have names of their own."""
        named = hasattr(self.X, "columns") or hasattr(self.X, "names")
        return [self.names[j] if named else int(j) for j in columns]

    def _find(self, columns: Iterable[str | int]) -> list[int]:
        return self._history.indices(self.names, columns)

    def _allowed(self, columns: list[int]) -> None:
        struck = [j for j in self.state.whole(columns) if j in self.state.struck]
        if struck:
            raise ValueError(f"column {self.names[struck[0]]!r} is struck; release it first.")

    def _loose(self, columns: list[int]) -> None:
        pinned = [j for j in self.state.whole(columns) if j in self.state.pinned]
        if pinned:
            raise ValueError(f"column {self.names[pinned[0]]!r} is pinned; release it first.")

    def _score_of(self, state: State) -> float | None:
        return self.answers.score(state.subset) if state.subset else None

    def _change(self, action: str, columns: list[int], note: str, state: State) -> Self:
        self._give_up_search()
        regrouped = state.groups != self.state.groups
        names = [self.names[j] for j in columns]
        self._history.change(action, names, note, state, self._score_of(state))
        if regrouped:
            self.answers.regroup(self._units())
        return self

    def _travel(self, action: str, state: State) -> Self:
        self._give_up_search()
        self._history.travel(action, state, self._score_of(state))
        self.answers.regroup(self._units())
        return self

    def _give_up_search(self) -> None:
        """A change while a search runs: nothing that it finds from now on is kept."""
        if self._running is not None and self._running.active:
            self._running.give_up()
