"""Paths of weights on disk: a fit that was stopped goes on from its last state.

Every state is integers, and a ledger comes back to a state exactly; so a path that goes on is the
path that was never stopped.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...data.files.atomic import write_text
from ..inner import Option
from ..weights import GreedyWeights, WeightStep

_FORMAT = "bayesieve-weights"

# Seconds between two writings.
_PAUSE = 1.0


class WeightJournal:
    """One file for all paths of a fit.

    Parameters
    ----------
    path : of the file; read if it is there.
    parts : fingerprints of all that decides the result, by the name of what it is.
    """

    def __init__(self, path: Path, parts: Mapping[str, str]):
        self._path = path
        self._written = 0.0
        release = sys.modules[__name__.partition(".")[0]].__version__
        self._head = {"format": _FORMAT, "release": release, "parts": dict(parts)}
        self._paths: dict[str, Any] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            head = {key: found[key] for key in ("format", "release", "parts")}
            self._paths = dict(found["paths"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"checkpoint {str(self._path)!r} is damaged, or no checkpoint of weights; it is "
                "left as it is. Delete it, or name another file."
            ) from error
        if head == self._head:
            return
        if head["release"] != self._head["release"]:
            raise ValueError(
                f"checkpoint {str(self._path)!r} was written by bayesieve {head['release']}; this "
                f"is {self._head['release']}. Finish it with that version, delete it, or name "
                "another file."
            )
        mine, theirs = self._head["parts"], head["parts"]
        changed = [name for name in mine if mine[name] != theirs.get(name)] or ["format"]
        raise ValueError(
            f"checkpoint {str(self._path)!r} belongs to another fit: {', '.join(changed)} differ. "
            "It is left as it is; delete it, or name another file."
        )

    def option(self, part: str) -> Option | None:
        """What the folds of a path decided, where they did."""
        if part not in self._paths:
            return None
        bins, price = self._paths[part]["option"]
        return Option(bins, price if price is None else float(price))

    def decided(self, part: str, option: Option) -> None:
        """The folds of a path have decided."""
        price = None if option.price is None else str(option.price)
        self._paths.setdefault(part, {"option": [option.bins, price], "steps": []})
        self._write()

    def resume(self, part: str, greedy: GreedyWeights) -> list[WeightStep]:
        """States that were written down; the path is brought to the last of them."""
        known = self._paths.get(part, {})
        steps = [_state(each) for each in known.get("steps", ())]
        if steps:
            greedy.resume(steps[-1], known["units"], known["open"])
        return steps

    def took(self, part: str, steps: Sequence[WeightStep], greedy: GreedyWeights) -> None:
        """Another state: written down, but not every time."""
        known = self._paths[part]
        known["steps"] += [_plain(step) for step in steps[len(known["steps"]) :]]
        known["units"] = [int(unit) for unit in greedy.units]
        known["open"] = np.flatnonzero(greedy.open).tolist()
        if time.monotonic() - self._written > _PAUSE:
            self._write()

    def close(self) -> None:
        """Write down what there is."""
        if self._paths:
            self._write()

    def _write(self) -> None:
        write_text(self._path, json.dumps({**self._head, "paths": self._paths}))
        self._written = time.monotonic()


def _plain(step: WeightStep) -> dict[str, Any]:
    return {
        "unit": step.unit,
        "gain": step.gain if np.isfinite(step.gain) else None,
        "loss": step.loss,
        "terms": [int(term) for term in step.terms],
        "weights": [part.tolist() for part in step.weights],
        "constants": [part.tolist() for part in step.constants],
    }


def _state(data: Mapping[str, Any]) -> WeightStep:
    constants = tuple(np.array(part, np.int64) for part in data["constants"])
    return WeightStep(
        data["unit"],
        np.inf if data["gain"] is None else data["gain"],
        data["loss"],
        tuple(data["terms"]),
        tuple(
            np.array(part, np.int64).reshape(-1, line.size)
            for part, line in zip(data["weights"], constants, strict=True)
        ),
        constants,
    )
