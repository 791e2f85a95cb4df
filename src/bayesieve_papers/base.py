"""What a reproduction is: records, conclusions, and how they are shown."""

import importlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesieve.checks import check_number, choose
from bayesieve.datasets.loading import BUNDLED, Dataset, load
from bayesieve.evaluation.compare.result import ResultGrid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesieve.data.result import Plain

#: Where data files are; None: where `load` looks by itself.
Folder: TypeAlias = str | os.PathLike[str] | None

#: Called with each line of progress.
Tell: TypeAlias = Callable[[str], None] | None

#: Modules of this package by the name that the command line takes.
PAPERS = {
    "rabenoro": "Rabenoro 2015: wrapper searches over binary indicators of signals",
    "cortizo": "Cortizo and Giraldez: FBL, a search guided by dependencies between attributes",
    "ruta": "Ruta 2014: sparse selection by AUC for several labels",
    "sotoca": "Sotoca et al.: relevance of features for each class by mixtures",
    "guyon": "Guyon 2005: the two linear classifiers of CLOP and the ranking by weight",
}

# Tables with more columns than this show the paper's figure and ours, and leave out the spread.
_WIDE = 2


@dataclass(frozen=True)
class Record:
    """One figure of a paper's table, and ours.

    Parameters
    ----------
    table, row, column : where the paper prints it.
    paper : the paper's figure, or None.
    ours : ours, the mean over replications.
    spread : standard deviation over replications, or None for one.

    Examples
    --------
    >>> from bayesieve_papers.base import Record
    >>> Record("Table 1", "MI filter", "test error", paper=0.1387, ours=0.1).spread is None
    True
    """

    table: str
    row: str
    column: str
    paper: float | None
    ours: float | None
    spread: float | None = None


def mean_record(
    table: str, row: str, column: str, paper: float | None, values: Sequence[float] | NDArray[Any]
) -> Record:
    """A figure that is the mean of several replications, with their standard deviation."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Record(table, row, column, paper, float(np.mean(values)), spread)


@dataclass(frozen=True)
class Conclusion:
    """A sentence of the paper, and in how many replications it held."""

    claim: str
    held: int
    of: int

    @classmethod
    def count(cls, claim: str, held: Iterable[bool | np.bool_]) -> "Conclusion":
        """A sentence, and whether it held in each replication, data set or domain."""
        each = [bool(one) for one in held]
        return cls(claim, sum(each), len(each))


@dataclass
class Reproduction:
    """Records of all tables, and the paper's conclusions put to the test.

    Examples
    --------
    >>> from bayesieve_papers.base import Record, Reproduction
    >>> found = Reproduction("A paper", [Record("Table 1", "a method", "error", 0.25, 0.2)])
    >>> print(found.to_text())
    A paper
    <BLANKLINE>
    Table 1
                                error
               paper    ours     diff
    a method  0.2500  0.2000  -0.0500
    <BLANKLINE>
    """

    title: str
    records: list[Record] = field(default_factory=list)
    conclusions: list[Conclusion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Draws the figures on a matplotlib figure.
    draw: Callable[["Figure"], None] | None = None
    figure_size: tuple[float, float] = (9, 5)

    def to_dict(self) -> "dict[str, Plain]":
        """All but the figure as plain data."""
        return {
            "title": self.title,
            "records": [asdict(record) for record in self.records],
            "conclusions": [asdict(conclusion) for conclusion in self.conclusions],
            "notes": [*self.notes],
        }

    def to_text(self) -> str:
        """Published and reproduced figures, row by row, with the difference."""
        lines = [self.title, ""]
        for table in dict.fromkeys(record.table for record in self.records):
            lines += self._table(table)
        if self.conclusions:
            lines.append("The paper's conclusions")
            lines += [f"  {c.held:3d} of {c.of}  {c.claim}" for c in self.conclusions]
            lines.append("")
        return "\n".join(lines + [f"* {note}" for note in self.notes]).rstrip() + "\n"

    def to_csv(self) -> str:
        """Every figure, a line each: where the paper prints it, the paper's, and ours."""
        head = ("table", "row", "column", "paper", "ours", "sd")
        return ResultGrid(head, tuple(astuple(record) for record in self.records)).to_csv()

    def to_latex(self) -> str:
        """All tables, for booktabs."""
        tables = dict.fromkeys(record.table for record in self.records)
        return "\n".join(self._grid(table).to_latex() for table in tables)

    def _layout(self, table: str) -> "tuple[list[str], dict[str, _Column]]":
        """The rows of a table, and its columns by name."""
        mine = [record for record in self.records if record.table == table]
        rows = list(dict.fromkeys(record.row for record in mine))
        names = list(dict.fromkeys(record.column for record in mine))
        at = {(record.row, record.column): record for record in mine}
        columns = {}
        for name in names:
            under = [record for record in mine if record.column == name]
            narrow = len(names) <= _WIDE
            paper = ["paper"] * any(record.paper is not None for record in under)
            spread = ["sd"] * (narrow and any(record.spread is not None for record in under))
            kinds = [*paper, "ours", *spread, *(["diff"] if paper and narrow else [])]
            columns[name] = _Column(kinds, {r: _cells(at.get((r, name)), kinds) for r in rows})
        return rows, columns

    def _grid(self, table: str) -> ResultGrid:
        rows, columns = self._layout(table)
        head = [
            f"{name}, {kind}" if len(column.kinds) > 1 else name
            for name, column in columns.items()
            for kind in column.kinds
        ]
        cells = [
            (row, *(text for column in columns.values() for text in column.cells[row]))
            for row in rows
        ]
        return ResultGrid(("", *head), tuple(cells), caption=f"{self.title}. {table}")

    def _table(self, table: str) -> list[str]:
        rows, columns = self._layout(table)
        width = max(len(row) for row in rows)
        heads: list[str] = []
        kinds_line: list[str] = []
        lines: dict[str, list[str]] = {row: [] for row in rows}
        for name, (kinds, cells) in columns.items():
            wide = [max(len(k), *(len(cells[row][i]) for row in rows)) for i, k in enumerate(kinds)]
            wide[0] = max(wide[0], len(name) - sum(wide[1:]) - 2 * (len(wide) - 1))
            heads.append(f"{name:>{sum(wide) + 2 * (len(wide) - 1)}s}")
            kinds_line += [f"{kind:>{w}s}" for kind, w in zip(kinds, wide, strict=True)]
            for row in rows:
                lines[row] += [f"{c:>{w}s}" for c, w in zip(cells[row], wide, strict=True)]
        head = [("", heads), ("", kinds_line)]
        shown = [f"{row:{width}s}  " + "  ".join(mine) for row, mine in [*head, *lines.items()]]
        return [table, *shown, ""]


class _Column(NamedTuple):
    """A column of a table: the kinds of figures that it shows, and those of each row."""

    kinds: list[str]
    cells: dict[str, list[str]]


def _cells(record: Record | None, kinds: list[str]) -> list[str]:
    """The figures of a record that a column shows."""
    if record is None:
        return [""] * len(kinds)
    apart = None
    if record.paper is not None and record.ours is not None:
        apart = record.ours - record.paper
    values = {"paper": record.paper, "ours": record.ours, "sd": record.spread, "diff": apart}
    return [_number(values[kind]) for kind in kinds]


def _number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    if float(value).is_integer():
        return str(int(value))
    return (
        f"{value:.4f}" if abs(value) < 1 else f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
    )


@dataclass(frozen=True)
class PaperRun:
    """How a paper is reproduced, whichever it is.

    Parameters
    ----------
    quick : bool, default=False
        Smaller data (or the sets bundled with scikit-learn only) and fewer replications.
    seed : int, default=0
        Source of randomness.
    n_jobs : int, optional
        Threads; all cores by default.
    folder : path, optional
        Where the data files are, see `bayesieve.datasets.load`.
    tell : callable, optional
        Called with each line of progress.

    Attributes
    ----------
    missing : list of str
        Why data sets were left out; filled by `load`.

    Examples
    --------
    >>> from bayesieve_papers.base import PaperRun
    >>> PaperRun(quick=True).load("iris").X.shape
    (150, 4)
    """

    quick: bool = False
    seed: int = 0
    n_jobs: int | None = -1
    folder: Folder = None
    tell: Tell = None
    missing: list[str] = field(default_factory=list)

    def report(self, line: str) -> None:
        """Pass on a line of progress."""
        if self.tell is not None:
            self.tell(line)

    def load(self, name: str, codes: str = "nominal") -> Dataset | None:
        """A set, or None and the reason among `missing`; bundled sets stand in for absent files."""
        try:
            return load(name, codes=codes, folder=self.folder)
        except FileNotFoundError as error:
            if self.folder is not None and name in BUNDLED:
                return load(name)
            self.missing.append(f"{name} is left out: {error}")
        except (OSError, ValueError) as error:
            self.missing.append(f"{name} is left out: {error}")
        return None

    def load_all(
        self, names: Mapping[str, str], codes: str = "nominal"
    ) -> Iterator[tuple[str, Dataset]]:
        """Sets by the paper's names of them; of a quick run, those bundled with scikit-learn."""
        for row, name in names.items():
            if not self.quick or name in BUNDLED:
                data = self.load(name, codes)
                if data is not None:
                    yield row, data


class OwnOptions(TypedDict, total=False):
    """What only some of the papers take."""

    shuffles: int | None
    replications: int | None
    as_printed: bool


def run(
    name: str,
    *,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int | None = -1,
    folder: Folder = None,
    tell: Tell = None,
    **own: Unpack[OwnOptions],
) -> Reproduction:
    """Reproduce a paper by name.

    Parameters
    ----------
    name : str
        A key of `PAPERS`.
    quick, seed, n_jobs, folder, tell : optional
        As in `PaperRun`.
    **own :
        What the paper's module takes beside: `shuffles` (Cortizo), `replications` (Rabenoro),
        `as_printed` (Sotoca).

    Examples
    --------
    >>> from bayesieve_papers.base import PAPERS, run
    >>> sorted(PAPERS)
    ['cortizo', 'guyon', 'rabenoro', 'ruta', 'sotoca']
    >>> run("rabeno")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: paper must be one of ...; got 'rabeno'. Did you mean 'rabenoro'?
    """
    choose("paper", name, PAPERS)
    check_number("seed", seed, low=0, high=10**6, whole=True)
    module = importlib.import_module(f"{__package__}.{name}")
    return module.reproduce(PaperRun(quick, seed, n_jobs, folder, tell), **own)


def bare(ax: "Axes", grid: Literal["x", "y"] | None = None) -> None:
    """A faint grid (of one axis, or of both) and no frame at the top and on the right."""
    if grid is None:
        ax.grid(color="#eeeeee")
    else:
        ax.grid(axis=grid, color="#e5e5e5")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
