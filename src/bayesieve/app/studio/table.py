"""The table that a user chose: a file, or what a notebook holds."""

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
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
    """

    name: str
    path: Path | None = None
    columns: list[str] = field(default_factory=list)
    X: Foreign = None
    y: Foreign = None
    left_out: dict[str, str] = field(default_factory=dict)

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
        if self.path is None:
            return "# X and y: the table and its classes, as they were given to the session."
        lines = [
            "from pathlib import Path",
            "",
            "from bayesieve.app.tables import read_problem",
            "",
            f"problem, _ = read_problem(Path({self.name!r}), {target!r}, [], identifiers=True)",
            "X, y = problem.X, problem.y",
        ]
        if self.left_out:
            lines.append(f"X = X.drop({list(self.left_out)!r})")
        return "\n".join(lines)


def open_table(path: Path, name: str) -> Chosen:
    """A file that the user chose: which of its columns may be the target?"""
    kind = format_of(path)
    if path.stat().st_size >= _LARGE and kind.in_blocks:
        return Chosen(name, path, list(open_source(path).names))
    content = read_data(path)
    if content.target is not None:
        return Chosen(name, path)
    return Chosen(name, path, [*content.names, *content.texts.columns])


def given_table(X: Foreign, y: Foreign) -> Chosen:
    """What a notebook holds."""
    read_table(BaseEstimator(), X, reset=True)
    return Chosen("the table of the notebook", None, [], X, y)
