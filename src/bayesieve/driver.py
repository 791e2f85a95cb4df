"""Runs a search so that it survives: a checkpoint, a time limit, Ctrl-C."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from types import TracebackType
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .fingerprint import fingerprint
from .journal import Journal
from .objective import Objective
from .path import Path, Recorder
from .preparation import Task
from .replay import Replay, ReplayedObjective, ReplayedScorer, WaitingLedger
from .validation import SparseTable


class Driver:
    """Makes the objective of a search and drives the search.

    Parameters
    ----------
    journal : where steps are written down, or None.
    time_limit : seconds after which the search is stopped, or None.
    """

    def __init__(self, journal: Journal | None, time_limit: float | None):
        self._journal = journal
        self._replay = None if journal is None else Replay(journal)
        self._limit = time_limit
        self._start = time.monotonic()

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

    def objective(self, *args: Any) -> Objective:
        """An objective that can be replayed, where there is a checkpoint."""
        if self._replay is None:
            return Objective(*args)
        return ReplayedObjective(self._replay, *args)

    def recorder(self, path: Path, judge: Any, scorer: Any) -> Recorder:
        """A recorder whose validation part can be replayed."""
        if self._replay is not None and scorer is not None:
            judge = WaitingLedger(judge, self._replay)
            scorer = ReplayedScorer(scorer, judge, self._replay)
        return Recorder(path, judge, scorer)

    def drive(
        self,
        steps: Iterator[None],
        objective: Objective,
        path: Path,
        sizes: tuple[int, int],
        stop: Callable[[], bool],
    ) -> None:
        """Take all steps, or as many as there is time for.

        Parameters
        ----------
        steps : the search.
        objective, path : what it changes, and what it has visited.
        sizes : numbers of columns that may be chosen.
        stop : does a callback ask to end it?
        """
        if self._replay is not None:
            # After the recorder: a record holds the validation part's answers too.
            objective.listeners.append(self._replay.committed)
        known = self._replaying
        try:
            for _ in steps:
                if self._replay is not None:
                    self._replay.paused()
                if stop():
                    return
                # A step out of the journal never ends a search, so that every run gets on.
                if not known and self._late():
                    break
                known = self._replaying
            else:
                if self._replay is not None:
                    self._replay.ended()
                return
        except KeyboardInterrupt:
            # Nothing to choose from: an interrupt like any other.  A second one finds no handler.
            if not _allowed(path, sizes):
                raise
            self._say("Ctrl-C", objective, path, sizes)
            return
        self._say(f"time_limit={self._limit}", objective, path, sizes)

    @property
    def _replaying(self) -> bool:
        return self._replay is not None and self._replay.replaying

    def _late(self) -> bool:
        """Has the limit passed?"""
        return self._limit is not None and time.monotonic() - self._start >= self._limit

    def _say(self, cause: str, objective: Objective, path: Path, sizes: tuple[int, int]) -> None:
        """Tell how far the search came; an error where there is nothing to choose from."""
        last = path.steps[-1]
        far = (
            f"the search was stopped by {cause} at step {len(path) - 1} ({objective.n_tried} "
            f"subsets tried; {last.direction}, size {last.n_features})"
        )
        more = "give it more time"
        if self._journal is not None:
            more = f"fit again with checkpoint={str(self._journal.path)!r} to go on"
        if not _allowed(path, sizes):
            raise ValueError(
                f"{far}; no subset of {sizes[0]} to {sizes[1]} features has been visited yet, as "
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
    ledgers: list[Any],
    rows: tuple[Any, Any],
) -> Journal:
    """The journal of one search, checked against everything that decides its result."""
    read = task.read
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
        "cv": fingerprint(ledgers[0].lines_read),
        "validation (the rows drawn with random_state)": fingerprint(rows),
        "feature_groups": fingerprint(task.units),
        "keep": fingerprint(task.keep),
        "n_features, max_features or min_features": fingerprint(task.limits, task.sizes),
        "class_weight": fingerprint(task.class_weight),
    }
    # Read where it is, not imported: the package's face stands above this room.
    release = sys.modules[__name__.partition(".")[0]].__version__
    return Journal(checkpoint, release, parts)
