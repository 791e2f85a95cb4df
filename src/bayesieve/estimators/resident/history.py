"""States that can be gone back to, and the log, which is never gone back on."""

from collections.abc import Iterable

from ...checks import column_indices
from .state import Entry, State, now


class History:
    """All states of a session, and where in them it stands.

    Parameters
    ----------
    state : where it begins.
    log : what was written before.

    Examples
    --------
    >>> from bayesieve.estimators.resident.history import History
    >>> from bayesieve.estimators.resident.state import State
    >>> history = History(State())
    >>> history.change("add", ["a"], "", State((0,)), 0.5)
    >>> history.before().subset, history.state.subset, len(history.log)
    ((), (0,), 1)
    """

    def __init__(self, state: State, log: Iterable[Entry] = ()):
        self._states, self._at = [state], 0
        self.log: list[Entry] = list(log)

    @property
    def state(self) -> State:
        """Where it stands."""
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

    def before(self) -> State:
        """The state that undoing leads to."""
        if not self._at:
            raise ValueError("there is nothing to undo.")
        return self._states[self._at - 1]

    def after(self) -> State:
        """The state that redoing leads to."""
        if self._at + 1 == len(self._states):
            raise ValueError("there is nothing to redo.")
        return self._states[self._at + 1]

    @property
    def ways(self) -> tuple[bool, bool]:
        """Can something be undone, and redone?"""
        return self._at > 0, self._at + 1 < len(self._states)

    def travel(self, action: str, state: State, score: float | None) -> None:
        """Go to the neighbour that this state is."""
        self._at += 1 if action == "redo" else -1
        assert self.state is state
        self._write(action, [], "", score)

    def _write(self, action: str, columns: list[str], note: str, score: float | None) -> None:
        self.log.append(
            Entry(
                time=now(),
                action=action,
                columns=columns,
                note=str(note),
                n_features=len(self.state.subset),
                score=score,
            )
        )

    @staticmethod
    def indices(names: list[str], columns: Iterable[str | int]) -> list[int]:
        """Positions of columns that a person names, each once."""
        return list(dict.fromkeys(column_indices("columns", columns, names)))
