"""Rows that stay in memory between searches: read once, their tables made once."""

from collections.abc import Callable
from copy import copy
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..data.sample import Sample
from ..engine.contract import Ledger
from ..engine.threads import Threads
from .checkpoint.fingerprint import fingerprint
from .objective import Objective
from .run import Ledgers, Task
from .strategies.base import Limits, Search

Rows = NDArray[np.int64]

#: Makes the ledgers of a task.
Make = Callable[[Task, Rows, Rows, Threads], Ledgers]

#: Asked after every step: shall the search end?
Ended = Callable[[], bool]


class Renewable(Ledger, Protocol):
    """A ledger that another one may start from: the same lines, none of its columns in."""

    def afresh(self, threads: Threads) -> Ledger:
        """The same lines and tables with no column in."""


class Ear(Protocol):
    """Hears of the searches of held rows."""

    def begin(self, objective: Objective, search: Search, limits: Limits) -> Ended:
        """A search begins."""

    def halt(self) -> bool:
        """Was the search stopped?  Waits while it is paused."""


class ProofEndedError(Exception):
    """Somebody stopped a search while it was being proved: it stays without a proof."""


class HeldRows:
    """A judged table with its target, and the ledgers that were made of it.

    Handed to `NaiveBayesSelector.fit` in place of X: the result is the same as that of the rows
    themselves, to the bit, without reading or counting them again.

    Parameters
    ----------
    X : as the user gave it.
    sample : X, y and the weights, judged.
    params : ``sample_weight`` and ``groups``, where there are any.
    ear : hears of searches; None: nobody.
    """

    def __init__(
        self, X: object, sample: Sample, params: dict[str, object], ear: Ear | None = None
    ):
        self.X, self.sample, self.params, self.ear = X, sample, params, ear
        self.task: Task | None = None  #: of the last fit
        self._made: tuple[str, Ledgers] | None = None

    @property
    def made(self) -> Ledgers:
        """The ledgers of the last fit, none of whose columns is in."""
        assert self._made is not None
        return self._made[1]

    def ledgers(
        self, make: Make, task: Task, guiding: Rows, validating: Rows, threads: Threads
    ) -> Ledgers:
        """Ledgers of a task; those made before, where they are the same."""
        decides = (task.cv, task.class_weight, task.family, task.models, task.sparse)
        mark = fingerprint(decides, guiding, validating)
        if task.n_rows and guiding.size + validating.size < self.sample.labels.size:
            return make(task, guiding, validating, threads)  # some rows, to prove something
        if self._made is None or self._made[0] != mark:
            self._made = mark, make(task, guiding, validating, threads)
        self.task, kept = task, self._made[1]
        judge = None if kept.judge is None else afresh(kept.judge, threads)
        return kept._replace(guide=afresh(kept.guide, threads), judge=judge)

    def heard_by(self, ear: Ear) -> "HeldRows":
        """The same rows, of whose searches somebody else hears."""
        found = copy(self)
        found.ear = ear
        return found

    def watched(self, objective: Objective, search: Search, limits: Limits) -> Ended | None:
        """Let the ear hear of a search."""
        return None if self.ear is None else self.ear.begin(objective, search, limits)

    def halted(self, objective: Objective) -> Ended:
        """Of a search that proves another one: who may end the proof."""
        ear = self.ear

        def ended() -> bool:
            if ear is not None and ear.halt():
                raise ProofEndedError
            return False

        return ended


def afresh(ledger: Ledger, threads: Threads) -> Ledger:
    """A ledger of the same lines, none of whose columns is in."""
    return cast(Renewable, ledger).afresh(threads)
