"""How far a comparison is, and how long it takes to its end."""

import time
from collections.abc import Sequence
from statistics import median
from typing import TextIO

from ...search.progress import ProgressLine, in_time
from .cell import Cell, Task

# Fits before the time left is told.
_FEW = 4


class CellsLine(ProgressLine):
    """One line that is rewritten on a terminal, a log elsewhere.

    Every method on every set takes a time of its own; it is known from the cells that are done.

    Parameters
    ----------
    tasks : all that is to be done.
    done : cells that are known already.
    n_workers : cells at the same time.
    stream : where to write; standard error by default.

    Examples
    --------
    >>> import io
    >>> from bayesieve.evaluation.comparison.progress import CellsLine
    >>> log = io.StringIO()
    >>> CellsLine([], [], 1, log).close()
    >>> log.getvalue().strip()
    '0 of 0 fits in 0.0 s'
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        done: Sequence[Cell],
        n_workers: int,
        stream: TextIO | None = None,
    ):
        super().__init__(stream)
        self._n_workers, self._all, self._done, self._known = n_workers, len(tasks), 0, 0
        self._missing: dict[tuple[str, str], int] = {}
        self._seconds: dict[tuple[str, str], list[float]] = {}
        for task in tasks:
            pair = task.method, task.data.name
            self._missing[pair] = self._missing.get(pair, 0) + 1
        for cell in done:
            if (cell.method, cell.data) in self._missing:
                self._take(cell)
        self._known, self._heard = self._done, time.monotonic()

    def _take(self, cell: Cell, seconds: float | None = None) -> None:
        pair = cell.method, cell.data
        spent = sum(cell.scores[name] or 0.0 for name in ("fit_seconds", "predict_seconds"))
        self._seconds.setdefault(pair, []).append(spent if seconds is None else seconds)
        self._missing[pair] -= 1
        self._done += 1

    def left(self) -> float | None:
        """Seconds to the end; None before much is known.

        Medians: the first fit may compile.
        """
        if self._done < min(_FEW, self._all):
            return None
        usual = {pair: median(each) for pair, each in self._seconds.items()}
        others = sum(usual.values()) / len(usual) if usual else 0.0
        work = sum(n * usual.get(pair, others) for pair, n in self._missing.items())
        return work / self._n_workers

    def begin(self, task: Task) -> None:
        """A cell is about to run."""
        self._heard = time.monotonic()
        self._show(f"{task.method} on {task.data.name}")

    def hear(self, cell: Cell) -> None:
        """A cell is done."""
        # One after the other, the clock between two cells counts all that a cell costs.
        alone = time.monotonic() - self._heard if self._n_workers == 1 else None
        self._take(cell, alone)
        self._show(f"{cell.method} on {cell.data}{' failed' if cell.failure else ''}")

    def _show(self, what: str) -> None:
        now = time.monotonic()
        if now - self._last < self.pause:
            return
        self._last = now
        left = self.left()
        told = "" if left is None else f"; ~{in_time(left)} left"
        self._write(f"{self._done} of {self._all} fits, {what}, {in_time(now - self._start)}{told}")

    def close(self) -> None:
        """End the line."""
        spent = f"{self._done} of {self._all} fits in {time.monotonic() - self._start:.1f} s"
        known = f" ({self._known} known before)" if self._known else ""
        self.say(spent + known)
