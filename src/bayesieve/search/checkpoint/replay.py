"""Searches that go on where they were: questions to the objective answered from a journal.

A search is deterministic: given the same answers it asks the same questions and takes the same
steps.  So a checkpoint keeps the answers (the best candidate and its loss, the loss of a subset),
which are tiny.  To resume, the search runs again from its start; as long as there are answers in
the journal nothing is evaluated, and the running sums wait until something is.  No search needs to
know.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ...criteria.base import Key
from ..objective import Gain, Objective, Verdicts
from ..walk import Toggle
from .journal import Journal, pack, unpack

_PAUSE, _END = "pause", "end"


class Replay:
    """Gives answers back while the journal has any, then writes new ones down.

    Parameters
    ----------
    journal : the records.
    """

    def __init__(self, journal: Journal):
        self.journal = journal
        self._at = 0  # record being replayed
        self._used = 0  # of its answers
        self._answers: list[Any] = []  # since the last record
        self._asking = False
        self._direction: str | None = None

    @property
    def replaying(self) -> bool:
        """Are there records left?"""
        return self._at < len(self.journal.records)

    def answer(self, ask: Callable[[], Any]) -> Any:
        """The answer to the search's next question; `ask` finds it where it is not known."""
        if self._asking:
            # A question within a question: its answer is part of the other.
            return ask()
        if self.replaying:
            answers = self.journal.records[self._at][2]
            if self._used == len(answers):
                raise self._lost()
            self._used += 1
            return unpack(answers[self._used - 1])
        self._asking = True
        try:
            found = pack(ask())
        finally:
            self._asking = False
        self._answers.append(found)
        # What a resumed search will read, whatever type of number it was.
        return unpack(found)

    def committed(self, action: str, units: tuple[int, ...], objective: Objective) -> None:
        """Hear of a step: it ends a record."""
        # The end of a phase is written down at once.
        turned = objective.direction != self._direction
        self._direction = objective.direction
        self._close(action, list(units), turned)

    def paused(self) -> None:
        """The search may be stopped here: answers that led to no step end a record too."""
        if self._used if self.replaying else self._answers:
            self._close(_PAUSE, [])

    def ended(self) -> None:
        """The search has come to its end."""
        if self.replaying or not self.journal.records or self.journal.records[-1][0] != _END:
            self._close(_END, [], True)

    def _close(self, kind: str, units: list[int], now: bool = False) -> None:
        if self.replaying:
            known, moved, answers = self.journal.records[self._at]
            if (known, moved, len(answers)) != (kind, units, self._used):
                raise self._lost()
            self._at, self._used = self._at + 1, 0
            return
        self.journal.append([kind, units, self._answers], now)
        self._answers = []

    def _lost(self) -> ValueError:
        return ValueError(
            f"checkpoint={str(self.journal.path)!r}: record {self._at} does not follow from those "
            "before it. Is the search, or a function given to it, one that draws without a seed? "
            "Remove the file to start afresh, or give another path."
        )


class Replayed:
    """Verdicts that are given back while the journal has any, then asked for and written down.

    Moves wait until something is asked: integer sums do not mind the order.

    Parameters
    ----------
    verdicts : who knows the answers.
    replay : the journal's answers.
    """

    def __init__(self, verdicts: Verdicts, replay: Replay):
        self._verdicts, self._replay = verdicts, replay
        self._moves: Counter[int] = Counter()
        self.value = verdicts.value

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Let columns join (1) or leave (-1), sooner or later."""
        if not self._replay.replaying and not self._moves:
            self._verdicts.apply(columns, sign)
            return
        for column in columns:
            self._moves[column] += sign

    def now(self) -> Key:
        """Key of the subset."""
        return self._ask(self._verdicts.now)

    def keys(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact key after each unit alone joins (1) or leaves (-1)."""
        return self._ask(lambda: self._verdicts.keys(units, sign))

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """The unit with the lowest key, and that key."""
        unit, key = self._ask(lambda: self._verdicts.best(units, sign))
        return unit, key

    def first_gain(self, units: Sequence[int], sign: int, now: Key, block: int) -> Gain:
        """The first unit whose move is a gain: one short answer, whatever was asked for it."""
        return Gain(*self._ask(lambda: list(self._verdicts.first_gain(units, sign, now, block))))

    def walk(self, steps: Sequence[Toggle]) -> list[Key | None]:
        """As many steps as were taken; those out of the journal are taken sooner or later."""
        replaying = self._replay.replaying
        keys: list[Key | None] = self._ask(lambda: self._verdicts.walk(steps))
        for step in steps[: len(keys)] if replaying else ():
            self.apply(step.columns, step.sign)
        return keys

    def _ask(self, question: Callable[[], Any]) -> Any:
        def ask() -> Any:
            self._catch_up()
            return question()

        return self._replay.answer(ask)

    def _catch_up(self) -> None:
        """The sums are about to be read."""
        moves, self._moves = self._moves, Counter()
        for sign in (-1, 1):
            columns = sorted(column for column, net in moves.items() if net == sign)
            if columns:
                self._verdicts.apply(columns, sign)
