"""What a workbench tells the pages that look at it."""

from collections.abc import Callable
from threading import Timer
from typing import cast

from ...estimators.resident.running import CancelledError, Point
from ...estimators.resident.session import Session
from ...explain.plain import Plain, jsonable

#: Called with the name of an event and its data, from any thread.
Told = Callable[[str, Plain], None]

# Columns whose substitutes are looked for after an edit.
_SUBSTITUTES = 40

# Seconds that what takes longer leaves to the page.
_PAUSE = 0.05


class Telling:
    """Tells all who listen of every change, of steps of a search, and of what takes longer."""

    def __init__(self) -> None:
        self.listeners: list[Told] = []
        self.session: Session | None = None
        self.version = 0  #: of the state; grows with every change
        self.unsaved = False

    def _changed(self, what: str) -> None:
        self.version += 1
        self.unsaved = self.session is not None
        self._tell(what, {"version": self.version})

    def _tell(self, what: str, data: dict[str, Plain]) -> None:
        for listener in list(self.listeners):
            listener(what, data)

    def _progress(self) -> None:
        """A search has made a step, or ended."""
        session = self.session
        running = None if session is None else session.running
        if session is None or running is None:
            return
        if running.active:
            left = running.seconds_left
            points = len(running.points)
            data: dict[str, object] = {"points": drawn(running.points[-1:]), "n": points}
            data |= {"seconds": running.seconds, "left": left}
            self._tell("progress", plain(data))
            return
        failure = running.failure
        if failure is not None and not isinstance(failure, CancelledError):
            self._tell("failure", {"said": " ".join(str(failure).split())})
        self._changed("state")
        self._later()

    def welcome(self, listener: Told) -> None:
        """Somebody listens from now on, and is told what takes longer."""
        self.listeners.append(listener)
        self._later()

    def _later(self) -> None:
        """What takes longer follows: losses, substitutes."""
        if self.session is not None:
            self._beside(self._extras, self.version, self.session)

    def _beside(self, work: Callable[..., None], *given: object) -> None:
        """Begin with something that takes longer, once the page has what it waits for."""
        timer = Timer(_PAUSE, work, given)
        timer.daemon = True
        timer.start()

    def _extras(self, version: int, session: Session) -> None:
        state = session.state
        found = {str(j): loss for j, loss in session.answers.losses_if_left(state).items()}
        if version != self.version:
            return
        self._tell("losses", plain({"version": version, "losses": found}))
        for j in state.subset[:_SUBSTITUTES]:
            if version != self.version:
                return
            best = session.answers.best_substitute(state, j)
            if best is not None:
                told = {"version": version, "column": j, "by": best.column, "loss": best.amount}
                self._tell("substitute", plain(told))


def plain(value: object) -> dict[str, Plain]:
    """Plain data of an object: what is not finite is null."""
    return cast(dict[str, Plain], jsonable(value))


def drawn(points: list[Point]) -> list[list[object]]:
    """Points of a path as a page draws them."""
    return [
        [each["n_features"], each["score"], each["error"], each["spread"], each["action"]]
        for each in points
    ]
