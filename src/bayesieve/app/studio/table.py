"""The table that a user chose: a file, or what a notebook holds."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ...checks import Foreign
from ...data.files.base import BadUseError
from ...data.files.formats import format_of, read_data
from ...data.files.sources import open_source
from ...data.tables import read_table
from ..odd_tables import is_moment
from ..tables import Problem, read_problem

# Bytes of a file from which on its rows are not read before the target is known.
_LARGE = 2**26

# Rows of one range that is left out.
_MOST_ROWS = 10**7


@dataclass
class Chosen:
    """What can be learnt from.

    Parameters
    ----------
    name : shown to people.
    path : of the file; None for what a notebook holds.
    columns : that may be the target; empty where the file holds its own.
    X, y : of a notebook.
    left_out : columns that are not learnt from, each with the reason.
    rows_out : rows that are not learnt from.
    given : how often each row counts beside; None: once.
    """

    name: str
    path: Path | None = None
    columns: list[str] = field(default_factory=list)
    X: Foreign = None
    y: Foreign = None
    left_out: dict[str, str] = field(default_factory=dict)
    rows_out: list[int] = field(default_factory=list)
    given: NDArray[np.int64] | None = None

    def split(self, target: str | None) -> tuple[Foreign, Foreign]:
        """Columns and classes; what cannot be learnt from is left out, and told."""
        if self.path is None:
            return self.X, self.y
        large = self.path.stat().st_size >= _LARGE
        problem, named = read_problem(self.path, target, [], identifiers=not large)
        self.left_out = dict.fromkeys(named, "names every row")
        problem = self._without_odd(problem)
        return problem.X, problem.y

    def _without_odd(self, problem: Problem) -> Problem:
        """Leave out columns that name rows, or moments: they tell nothing of new rows."""
        frame = problem.X
        if not isinstance(frame, pl.DataFrame):
            return problem
        for column in frame:
            every = column.dtype == pl.String and frame.height > 1
            if is_moment(column):
                self.left_out[column.name] = "holds moments in time"
            elif every and column.n_unique() == frame.height:
                self.left_out[column.name] = "names every row"
        kept = [name for name in frame.columns if name not in self.left_out]
        if not kept:
            raise BadUseError("every column names rows or moments: nothing is left to learn from.")
        return problem._replace(X=frame.select(kept), names=kept)

    def code(self, target: str | None) -> str:
        """Python that reads the same columns and classes."""
        lines = ["# X and y: the table and its classes, as they were given to the session."]
        if self.path is not None:
            lines = [
                "from pathlib import Path",
                "",
                "from bayesieve.app.tables import read_problem",
                "",
                f"problem, _ = read_problem(Path({self.name!r}), {target!r}, [], identifiers=True)",
                "X, y = problem.X, problem.y",
            ]
        if self.path is not None and self.left_out:
            lines.append(f"X = X.drop({list(self.left_out)!r})")
        if self.given is not None:
            lines.append("# sample_weight: as it was given, 0 for rows left out.")
        elif self.rows_out:
            lines += ["sample_weight = [1] * len(y)", f"for row in {self.rows_out!r}:"]
            lines.append("    sample_weight[row] = 0")
        return "\n".join(lines)

    def weights(self, n_rows: int) -> NDArray[np.int64] | None:
        """How often each row counts; None where all do."""
        if not self.rows_out:
            return self.given
        if self.rows_out[-1] >= n_rows:
            raise BadUseError(f"there is no row {self.rows_out[-1]}; the last one is {n_rows - 1}.")
        found = np.ones(n_rows, np.int64) if self.given is None else self.given.copy()
        found[self.rows_out] = 0
        return found


def read_rows(text: str) -> list[int]:
    """Rows as people write them: ``"3, 17-20"``.

    Examples
    --------
    >>> from bayesieve.app.studio.table import read_rows
    >>> read_rows("3, 17-20")
    [3, 17, 18, 19, 20]
    """
    found: set[int] = set()
    for part in filter(None, (each.strip() for each in text.split(","))):
        first, dash, last = (each.strip() for each in part.partition("-"))
        ends = (first, last) if dash else (first, first)
        if not all(end.isdecimal() and len(end) < 10 for end in ends) or int(ends[0]) > int(
            ends[1]
        ):
            raise BadUseError(f"rows must be numbers and ranges such as 3, 17-20; got {part!r}.")
        found.update(range(int(ends[0]), min(int(ends[1]), int(ends[0]) + _MOST_ROWS) + 1))
    return sorted(found)


def write_rows(rows: list[int]) -> str:
    """The same the other way round.

    Examples
    --------
    >>> from bayesieve.app.studio.table import write_rows
    >>> write_rows([3, 17, 18, 19, 20])
    '3, 17-20'
    """
    found: list[list[int]] = []
    for row in rows:
        if found and row == found[-1][1] + 1:
            found[-1][1] = row
        else:
            found.append([row, row])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def open_table(path: Path, name: str) -> Chosen:
    """A file that the user chose: which of its columns may be the target?"""
    kind = format_of(path)
    if path.stat().st_size >= _LARGE and kind.in_blocks:
        return Chosen(name, path, list(open_source(path).names))
    content = read_data(path)
    if content.target is not None:
        return Chosen(name, path)
    return Chosen(name, path, [*content.names, *content.texts.columns])


def given_table(
    X: Foreign, y: Foreign, weights: Foreign = None, name: str = "the table of the notebook"
) -> Chosen:
    """What a notebook, or a project, holds; rows without weight are left out."""
    read_table(BaseEstimator(), X, reset=True)
    found = Chosen(name, None, [], X, y)
    if weights is not None:
        given = np.asarray(weights)
        found.rows_out = np.flatnonzero(given == 0).tolist()
        given = np.where(given == 0, 1, given)
        found.given = given if (given != 1).any() else None
    return found
