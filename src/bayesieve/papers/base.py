"""What a reproduction is: records, conclusions, and how they are shown."""

import importlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from ..validation import choose

#: Modules of this package by the name that the command line takes.
PAPERS = {"rabenoro": "Rabenoro 2015: wrapper searches over binary indicators of signals"}


@dataclass(frozen=True)
class Record:
    """One figure of a paper's table, and ours.

    Parameters
    ----------
    table, row, column : where the paper prints it.
    paper : the paper's figure, or None.
    ours : ours, the mean over replications.
    spread : standard deviation over replications, or None for one.
    """

    table: str
    row: str
    column: str
    paper: float | None
    ours: float | None
    spread: float | None = None


@dataclass(frozen=True)
class Conclusion:
    """A sentence of the paper, and in how many replications it held."""

    claim: str
    held: int
    of: int


@dataclass
class Reproduction:
    """Records of all tables, and the paper's conclusions put to the test."""

    title: str
    records: list[Record] = field(default_factory=list)
    conclusions: list[Conclusion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Draws the figures on a matplotlib figure.
    draw: Callable[[Any], None] | None = None

    def to_dicts(self) -> list[dict[str, Any]]:
        """The records as plain data: table, row, column, paper, ours, spread."""
        return [asdict(record) for record in self.records]

    def to_text(self) -> str:
        """Ours beside the paper's, row by row, with the difference."""
        lines = [self.title, ""]
        for table in dict.fromkeys(record.table for record in self.records):
            lines += self._table(table)
        if self.conclusions:
            lines.append("The paper's conclusions")
            lines += [f"  {c.held:3d} of {c.of}  {c.claim}" for c in self.conclusions]
            lines.append("")
        return "\n".join(lines + [f"* {note}" for note in self.notes]).rstrip() + "\n"

    def _table(self, table: str) -> list[str]:
        mine = [record for record in self.records if record.table == table]
        columns = list(dict.fromkeys(record.column for record in mine))
        width = max(len(record.row) for record in mine)
        head = " ".join(f"{column + ': paper':>22s} {'ours':>10s} {'sd':>8s} {'diff':>9s}"
                        for column in columns)  # fmt: skip
        lines = [table, f"{'':{width}s} {head}"]
        for row in dict.fromkeys(record.row for record in mine):
            cells = []
            for column in columns:
                found = [r for r in mine if r.row == row and r.column == column]
                cells.append(_cells(found[0]) if found else " " * 52)
            lines.append(f"{row:{width}s} " + " ".join(cells))
        return [*lines, ""]


def _cells(record: Record) -> str:
    """Paper, ours, spread and difference, each in its place."""
    apart = None
    if record.paper is not None and record.ours is not None:
        apart = record.ours - record.paper
    numbers = [(record.paper, 22), (record.ours, 10), (record.spread, 8), (apart, 9)]
    return " ".join(f"{_number(value):>{width}s}" for value, width in numbers)


def _number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    if isinstance(value, int):
        return str(value)
    return f"{value:.4f}" if abs(value) < 1 else f"{value:.1f}"


def run(name: str, *, quick: bool = False, seed: int = 0, **options: Any) -> Reproduction:
    """Reproduce a paper by name.

    Parameters
    ----------
    name : str
        A key of `PAPERS`.
    quick : bool, default=False
        Smaller data and fewer replications.
    seed : int, default=0
        Source of randomness.
    **options :
        What the paper's module takes beside.
    """
    choose("paper", name, PAPERS)
    module = importlib.import_module(f"{__package__}.{name}")
    found: Reproduction = module.reproduce(quick=quick, seed=seed, **options)
    return found
