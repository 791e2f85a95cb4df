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

from ...criteria.base import Scorer
from ..objective import Objective
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


class WaitingLedger:
    """Keeps moves back while answers come from the journal; integer sums do not mind the order."""

    def __init__(self, ledger: Any, replay: Replay):
        self._ledger, self._replay = ledger, replay
        self._moves: Counter[int] = Counter()

    def apply(self, features: Sequence[int], sign: int) -> None:
        """Let features join (1) or leave (-1), sooner or later."""
        if not self._replay.replaying and not self._moves:
            self._ledger.apply(features, sign)
            return
        for feature in features:
            self._moves[feature] += sign

    def catch_up(self) -> None:
        """The sums are about to be read."""
        moves, self._moves = self._moves, Counter()
        for sign in (-1, 1):
            features = sorted(feature for feature, net in moves.items() if net == sign)
            if features:
                self._ledger.apply(features, sign)


class ReplayedScorer:
    """A scorer whose answers are journalled."""

    def __init__(self, scorer: Scorer, ledger: WaitingLedger, replay: Replay):
        self._scorer, self._ledger, self._replay = scorer, ledger, replay
        self.value = scorer.value

    def refresh(self) -> None:
        """The sums have changed."""
        self._scorer.refresh()

    def current(self) -> Any:
        """Loss of the ledger as it is."""
        return self._ask(self._scorer.current)

    def what_if(self, units: Sequence[int], sign: int) -> list[Any]:
        """Exact loss after each unit alone joins (1) or leaves (-1)."""
        return self._ask(lambda: self._scorer.what_if(units, sign))

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Any]:
        """The unit with the lowest loss, the first of equals, and that loss."""
        return self._ask(lambda: self._scorer.best(units, sign))

    def _ask(self, question: Callable[[], Any]) -> Any:
        def ask() -> Any:
            self._ledger.catch_up()
            return question()

        return self._replay.answer(ask)


class ReplayedObjective(Objective):
    """An objective whose answers are journalled.

    Parameters
    ----------
    replay : the journal's answers.
    *args : as for `Objective`.
    """

    def __init__(self, replay: Replay, *args: Any):
        super().__init__(*args)
        self._replay = replay
        waiting = WaitingLedger(self._ledger, replay)
        self._scorer = ReplayedScorer(self._scorer, waiting, replay)
        self._ledger = waiting  # type: ignore[assignment]

    def first_gain(self, units: Sequence[int], sign: int) -> int | None:
        """As in `Objective`; one short answer instead of the losses of all that was asked."""
        self.score()  # a question of its own: known or asked for before, never within
        before = self.n_tried

        def ask() -> list[Any]:
            at = Objective.first_gain(self, units, sign)
            key = None if at is None else self._known[units[at], sign]
            return [at, key, self.n_tried - before, self._block]

        at, key, tried, self._block = self._replay.answer(ask)
        self.n_tried = before + tried
        if at is not None:
            self._known[units[at], sign] = key
        return at
