"""Signs of life during long work."""

import sys
import time
from typing import Any, TextIO

_PAUSE = 0.1  # seconds between two lines


class ProgressLine:
    """One line on a terminal, rewritten as the search goes on.

    Parameters
    ----------
    stream : where to write; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None):
        self._stream = sys.stderr if stream is None else stream
        self._start = self._last = time.monotonic()
        self._steps = 0
        self._width = 0

    def __call__(self, action: str, units: tuple[int, ...], objective: Any) -> None:
        """Hear of a step."""
        self._steps += 1
        now = time.monotonic()
        if now - self._last < _PAUSE:
            return
        self._last = now
        score = objective.value(objective.score())
        self._write(
            f"{objective.direction}: step {self._steps}, {objective.size} features, "
            f"score {score:.6g}, {now - self._start:.1f} s"
        )

    def close(self) -> None:
        """End the line."""
        self._write(f"{self._steps} steps in {time.monotonic() - self._start:.1f} s")
        self._stream.write("\n")
        self._stream.flush()

    def _write(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)
