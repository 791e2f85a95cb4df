"""Runs a search so that it survives: a checkpoint, a time limit, Ctrl-C."""

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path as FilePath
from types import TracebackType
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..data.tables import SparseTable
from .checkpoint.fingerprint import fingerprint
from .checkpoint.journal import Journal
from .checkpoint.replay import Replay, Replayed
from .forecast import Cost, Forecast, Revisits, is_ours
from .objective import Objective
from .path import Path
from .plan import Task
from .progress import in_features
from .settle import Verdicts
from .strategies.base import Limits

# Seconds from which on what is left to do is worth a word.
_LONG = 10.0

# What to do about a search that cannot end in time.
_ADVICE = {
    "forward": "Give it more time, a smaller max_features, or use search='ranked'.",
    "backward": (
        "What it has dropped by then is all that is dropped: give it more time, or use "
        "search='forward' or 'ranked', which begin with the best features."
    ),
}


class Clock:
    """Runs from the moment it is made, and knows when it is late.

    Parameters
    ----------
    limit : seconds, or None.
    """

    def __init__(self, limit: float | None):
        self.limit = limit
        self._start = time.monotonic()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        if self.limit is None:
            return float("inf")
        return self.limit - (time.monotonic() - self._start)


class Driver:
    """Drives a search.

    Parameters
    ----------
    journal : where steps are written down, or None.
    clock : when the search is stopped.
    say : told what a long search will cost; None for nobody.
    """

    def __init__(
        self, journal: Journal | None, clock: Clock, say: Callable[[str], None] | None = None
    ):
        self._journal = journal
        self._replay = None if journal is None else Replay(journal)
        self._clock = clock
        self.say = say
        self._warned = False

    def __enter__(self) -> "Driver":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._journal is not None:
            self._journal.close()

    def verdicts(self, settler: Verdicts) -> Verdicts:
        """The same verdicts; where there is a checkpoint, written down and given back."""
        return settler if self._replay is None else Replayed(settler, self._replay)

    def drive(
        self,
        search: Any,
        limits: Limits,
        objective: Objective,
        path: Path,
        sizes: tuple[int, int],
        stop: Callable[[], bool],
    ) -> None:
        """Take all steps, or as many as there is time for.

        Parameters
        ----------
        search, limits : which subsets it visits.
        objective, path : what it changes, and what it has visited.
        sizes : numbers of columns that may be chosen.
        stop : does a callback ask to end it?
        """
        if self._replay is not None:
            # After the recorder: a record holds the validation part's answers too.
            objective.listeners.append(self._replay.committed)
        if not is_ours(search):
            objective.listeners.append(Revisits())
        forecast = Forecast(search, limits)
        objective.listeners.append(forecast)
        known = self._replaying
        try:
            for _ in search.steps(objective, limits):
                if self._replay is not None:
                    self._replay.paused()
                if stop():
                    return
                # A step out of the journal never ends a search, so that every run gets on.
                if known:
                    forecast.rest(objective)
                else:
                    forecast.step(objective)
                    if self._clock.left <= 0:
                        break
                    self._look_ahead(forecast, objective)
                known = self._replaying
            else:
                if self._replay is not None:
                    self._replay.ended()
                return
        except KeyboardInterrupt:
            # Nothing to choose from: an interrupt like any other.  A second one finds no handler.
            if not _allowed(path, sizes):
                raise
            self._say("Ctrl-C", objective, path, sizes, None)
            return
        cost = forecast.cost(objective)
        if cost is not None and (cost.bound or cost.seconds <= _LONG):
            cost = None
        self._say(f"time_limit={self._clock.limit}", objective, path, sizes, cost)

    def _look_ahead(self, forecast: Forecast, objective: Objective) -> None:
        """Tell what the search will cost as soon as its first steps show that."""
        waiting = self.say is not None or (self._clock.limit is not None and not self._warned)
        if not waiting or not forecast.due():
            return
        cost = forecast.cost(objective)
        if cost is None:
            return
        if self.say is not None and cost.seconds > _LONG:
            self.say(f"{objective.direction}: {cost}")
            self.say = None
        if not self._warned and not cost.bound and cost.seconds > self._clock.left:
            self._warned = True
            advice = _ADVICE.get(objective.direction, "Give it more time, or use another search.")
            pace = "step" if forecast.steps == 1 else f"{forecast.steps} steps"
            warnings.warn(
                f"the search cannot end within time_limit={self._clock.limit}: it has {cost}, by "
                f"the pace of its first {pace}. {advice}",
                ConvergenceWarning,
                stacklevel=6,
            )

    @property
    def _replaying(self) -> bool:
        return self._replay is not None and self._replay.replaying

    def _say(
        self,
        cause: str,
        objective: Objective,
        path: Path,
        sizes: tuple[int, int],
        cost: Cost | None,
    ) -> None:
        """Tell how far the search came; an error where there is nothing to choose from."""
        last = path.steps[-1]
        # A search may visit subsets without asking for candidates, as a ranked one does.
        tried = max(objective.n_tried, len(path))
        far = (
            f"the search was stopped by {cause} at step {len(path) - 1} ({tried} "
            f"subset{'' if tried == 1 else 's'} tried; {last.direction}, size {last.n_features})"
        )
        more = "give it more time"
        if cost is not None and not self._warned:
            more = f"give it more time (it has {cost}, at this pace)"
        if self._journal is not None:
            more = f"fit again with checkpoint={str(self._journal.path)!r} to go on"
        if not _allowed(path, sizes):
            raise ValueError(
                f"{far}; no subset of {in_features(*sizes)} has been visited yet, as "
                f"n_features, min_features and max_features ask. To get there, {more}."
            )
        warnings.warn(
            f"{far}; the best subset visited so far is chosen. For the rest, {more}.",
            ConvergenceWarning,
            stacklevel=6,
        )


def _allowed(path: Path, sizes: tuple[int, int]) -> bool:
    """Has a subset that may be chosen been visited?"""
    return any(sizes[0] <= step.n_features <= sizes[1] for step in path.steps)


def open_journal(
    checkpoint: FilePath,
    task: Task,
    model: Any,
    search: Any,
    criterion: Any,
    scored: Any,
    rows: tuple[Any, Any],
) -> Journal:
    """The journal of one search, checked against everything that decides its result."""
    read = task.sample
    if isinstance(read.table, SparseTable):
        matrix = read.table.matrix
        data = [matrix.shape, matrix.indptr, matrix.indices, matrix.data]
    else:
        # One by one: a table is not copied to be looked at.
        data = [fingerprint(read.table.column(j)) for j in range(len(read.table.names))]
    parts = {
        "X": fingerprint(data),
        "y": fingerprint(read.targets.classes, read.classes, read.targets.labelled),
        "sample_weight": fingerprint(read.weights, read.rows),
        "estimator": fingerprint(model),
        "search": fingerprint(search),
        "criterion": fingerprint(criterion),
        "cv": fingerprint(scored),
        "validation (the rows drawn with random_state)": fingerprint(rows),
        "feature_groups": fingerprint(task.units),
        "keep": fingerprint(task.keep),
        "n_features, max_features or min_features": fingerprint(task.limits, task.sizes),
        "class_weight": fingerprint(task.class_weight),
    }
    # Read where it is, not imported: the package's face stands above this room.
    release = sys.modules[__name__.partition(".")[0]].__version__
    return Journal(checkpoint, release, parts)
