"""State of a session: subset, pinned and struck columns, and undo history."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypedDict

from ..estimators._validation import read_groups


class Entry(TypedDict):
    """One line of the log: what was changed, and why."""

    time: str
    action: str
    columns: list[str]
    note: str
    n_features: int  #: columns in the subset afterwards
    score: float | None  #: of the subset afterwards; None where it has no column


@dataclass(frozen=True)
class State:
    """The subset, and what holds for it.

    Examples
    --------
    >>> state = State((2,)).with_columns([0, 1])
    >>> state.subset, state.without([2]).subset
    ((2, 0, 1), (0, 1))
    """

    subset: tuple[int, ...] = ()  #: columns in the model, in the order in which they joined
    pinned: frozenset[int] = frozenset()  #: columns that must stay, and columns that never enter
    struck: frozenset[int] = frozenset()
    groups: tuple[tuple[int, ...], ...] = ()  #: columns that enter and leave together

    def with_columns(self, columns: list[int]) -> "State":
        """Columns join, each with its group."""
        joined = dict.fromkeys([*self.subset, *self.whole(columns)])
        return replace(self, subset=tuple(joined))

    def without(self, columns: list[int]) -> "State":
        """Columns leave, each with its group."""
        gone = set(self.whole(columns))
        return replace(self, subset=tuple(j for j in self.subset if j not in gone))

    def whole(self, columns: list[int]) -> list[int]:
        """Columns, and all that move with them."""
        found: dict[int, None] = {}
        for j in columns:
            group = next((members for members in self.groups if j in members), (j,))
            found.update(dict.fromkeys(group))
        return list(found)

    def judge(self, names: list[str]) -> "State":
        """Validate: the state itself, unless its parts contradict each other."""
        inside = set(self.subset)
        self.units(names)
        halved = [j for j in self.whole(list(self.subset)) if j not in inside]
        for columns, why in (
            (self.pinned & self.struck, "is pinned (keep) and struck (forbid)"),
            (inside & self.struck, "is in the subset (start), or grouped with it, and struck"),
            (self.pinned - inside, "is pinned and not in the subset"),
            (halved, "is not in the subset, but columns grouped with it are"),
        ):
            for j in sorted(columns):
                raise ValueError(f"column {names[j]!r} {why}; take one of them.")
        return self

    def units(self, names: list[str]) -> tuple[tuple[int, ...], ...]:
        """All columns, those of a group together."""
        return tuple(map(tuple, read_groups([list(group) for group in self.groups], names)))


# -- States that can be gone back to, and the log, which is never gone back on ---------------------


class History:
    """All states of a session, and where in them it stands."""

    def __init__(self, state: State, log: Iterable[Entry] = ()):
        self._states, self._at = [state], 0
        self.log: list[Entry] = list(log)

    @property
    def state(self) -> State:
        """Present state."""
        return self._states[self._at]

    def change(
        self, action: str, columns: list[str], note: str, state: State, score: float | None
    ) -> None:
        """A new state follows; what was taken back before is gone."""
        if state != self.state:
            del self._states[self._at + 1 :]
            self._states.append(state)
            self._at += 1
        self._write(action, columns, note, score)

    def beside(self, step: int) -> State:
        """The state that undoing (-1) or redoing (1) leads to."""
        if not 0 <= self._at + step < len(self._states):
            raise ValueError(f"there is nothing to {'undo' if step < 0 else 'redo'}.")
        return self._states[self._at + step]

    @property
    def ways(self) -> tuple[bool, bool]:
        """Can something be undone, and redone?"""
        return self._at > 0, self._at + 1 < len(self._states)

    def travel(self, step: int, score: float | None) -> None:
        """Undo (-1) or redo (1) a change."""
        self._at += step
        self._write("undo" if step < 0 else "redo", [], "", score)

    def _write(self, action: str, columns: list[str], note: str, score: float | None) -> None:
        self.log.append(
            Entry(
                time=datetime.now(UTC).isoformat(timespec="seconds"),
                action=action,
                columns=columns,
                note=str(note),
                n_features=len(self.state.subset),
                score=score,
            )
        )
