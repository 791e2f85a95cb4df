"""Files read in batches: which columns, in which types."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
import scipy.sparse

from ..tables import kind_of_column
from .base import BadUseError, Content, NumberedNames, check_names
from .formats import format_of, read_data

if TYPE_CHECKING:
    import polars as pl

    from .text import TextTable

# A cell of a text file takes at least a digit and what separates it from the next.
_BYTES_A_CELL = 2


# Bytes of a file from which on it is worth a look how many rows there are.
_LARGE = 2**26


class Block(NamedTuple):
    """Some rows of some columns; `frame` has one column for each of `columns`, in this order."""

    columns: Sequence[int]
    first_row: int
    frame: "pl.DataFrame"


@dataclass(frozen=True)
class Source(ABC):
    """A table that has not been read yet.

    Parameters
    ----------
    name : how messages call it.
    names : names of the columns, as the file has them.
    """

    name: str
    names: list[str]

    @abstractmethod
    def kinds(self, columns: Sequence[int]) -> list[str]:
        """What columns hold, as `kind_of_column` calls it; "cells" where reading them will tell."""

    @abstractmethod
    def blocks(self, columns: Sequence[int], cells: int, again: bool = False) -> Iterator[Block]:
        """All rows of some columns, about so many cells at a time; mistakes were named before where
        they are read `again`.
        """

    @abstractmethod
    def joined(self, parts: list["pl.Series"]) -> "pl.Series":
        """The parts of a column as one, of the type that it has in the whole table."""

    def expected_rows(self) -> int:
        """About how many rows there are, as far as that can be told without reading them."""
        return 0

    def find(self, names: Sequence[str]) -> list[int]:
        """Positions of columns by name."""
        for name in names:
            if name not in self.names:
                shown = ", ".join(repr(each) for each in self.names[:8])
                more = f" and {len(self.names) - 8} more" if len(self.names) > 8 else ""
                raise ValueError(f"there is no column {name!r}; the columns are {shown}{more}.")
        return [self.names.index(name) for name in names]


@dataclass(frozen=True)
class FrameSource(Source):
    """A polars frame, or a file that polars reads a few columns at a time.

    Parameters
    ----------
    lazy : the scan.
    kind : what it is read as, for messages.
    """

    lazy: "pl.LazyFrame"
    kind: str = "a frame"

    def kinds(self, columns: Sequence[int]) -> list[str]:
        """By the types of the columns."""
        with _in_a_sentence(self.name, self.kind):
            dtypes = list(nw.from_native(self.lazy).collect_schema().dtypes())
        return [kind_of_column(self.names[j], dtypes[j]) for j in columns]

    def blocks(self, columns: Sequence[int], cells: int, again: bool = False) -> Iterator[Block]:
        """As many columns at a time as the cells allow."""
        import polars as pl

        with _in_a_sentence(self.name, self.kind):
            n_rows = self.lazy.select(pl.len()).collect().item()
            width, rows = max(cells // max(n_rows, 1), 1), min(cells, max(n_rows, 1))
            for at in range(0, len(columns), width):
                part = columns[at : at + width]
                lazy = self.lazy.select([pl.nth(j).alias(str(j)) for j in part])
                for first in range(0, n_rows, rows):
                    yield Block(part, first, lazy.slice(first, rows).collect())

    def joined(self, parts: list["pl.Series"]) -> "pl.Series":
        """One series."""
        import polars as pl

        return pl.concat(parts)


@dataclass(frozen=True)
class TextSource(Source):
    """A text file.

    Parameters
    ----------
    path : the file.
    separator : between two cells.
    """

    path: Path
    separator: str

    def kinds(self, columns: Sequence[int]) -> list[str]:
        """The last row may still turn numbers into text."""
        return ["cells"] * len(columns)

    def blocks(self, columns: Sequence[int], cells: int, again: bool = False) -> Iterator[Block]:
        """Some lines at a time, as text."""
        first = 0
        with self._open() as table:
            for frame in table.frames(columns, _BYTES_A_CELL * cells, checked=again):
                yield Block(columns, first, frame)
                first += frame.height

    def expected_rows(self) -> int:
        """By the length of the first lines, where the file is large."""
        from .base import unpacked_size

        size = unpacked_size(self.path)
        if size < _LARGE:
            return 0
        with self._open() as table:
            return int(size / table.bytes_a_line())

    def joined(self, parts: list["pl.Series"]) -> "pl.Series":
        """Numbers or booleans where all cells are."""
        import polars as pl

        from .text import as_read

        return as_read(pl.concat(parts))

    def _open(self) -> "TextTable":
        from .text import TextTable

        return TextTable(self.path, self.separator)


@contextmanager
def _in_a_sentence(name: str, kind: str) -> Iterator[None]:
    """Say in one sentence what polars could not read."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"{name} cannot be read as {kind}: {lines[0]}") from error


def open_source(source: object) -> Source:
    """A file by its ending, or a polars frame."""
    try:
        import polars as pl
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pack reads files with polars: pip install 'bayesieve[cli]'.", name="polars"
        ) from error

    if isinstance(source, Source):
        return source
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        lazy = source.lazy()
        return FrameSource("source", lazy.collect_schema().names(), lazy)
    if not isinstance(source, str | PathLike):
        raise TypeError(
            "source must be the path of a file, or a polars frame (DataFrame or LazyFrame); got "
            f"{type(source).__name__}."
        )
    return _open_file(Path(source))


def _open_file(path: Path) -> Source:
    from .columnar import ColumnarFormat, scan
    from .formats import FORMATS, format_of
    from .text import TextFormat, TextTable

    file = format_of(path)
    if isinstance(file, TextFormat):
        with TextTable(path, file.separator) as table:
            return TextSource(path.name, table.names, path, file.separator)
    if isinstance(file, ColumnarFormat):
        kind = path.suffix[1:].lower()
        with _in_a_sentence(path.name, kind):
            lazy = scan(path)
            return FrameSource(path.name, lazy.collect_schema().names(), lazy, kind)
    allowed = [
        ending + more
        for each in FORMATS
        if isinstance(each, TextFormat | ColumnarFormat)
        for ending in each.endings
        for more in ("", ".gz")[: 1 + each.gzipped]
    ]
    raise ValueError(
        f"the ending of {path.name!r} cannot be packed; allowed are {', '.join(allowed)}."
    )


# -- The columns of a model from a file of any size, some rows at a time ---------------------------


# Of a batch: enough for numpy to work on, little for the memory.
_MOST_ROWS, _MOST_CELLS = 1 << 16, 1 << 22

# Why a cell must be a number.
_LEARNT = "the model learnt numbers from this column"


class Column(NamedTuple):
    """A column that a model reads."""

    name: str
    text: bool  #: its levels are texts; numbers otherwise


def read_batches(path: Path, columns: list[Column], most_rows: int = _MOST_ROWS) -> Iterator[Any]:
    """Frames (or sparse matrices) of these columns in this order, of at most so many rows.

    Without a column, whatever has the rows: there is nothing else to say of them.

    CSV, TSV, Parquet and Arrow files are never held in memory as a whole.  Every cell is read as
    what the model takes the column for, so that a batch reads as the whole file does.
    """
    file = format_of(path)
    names = [column.name for column in columns]
    most_rows = max(min(most_rows, _MOST_CELLS // max(len(columns), 1)), 1)
    if file.in_blocks:
        frames = file.blocks(path, names or open_source(path).names[:1], most_rows)
    else:
        content = read_data(path)
        if content.sparse:
            matrix = _pick(content, names) if names else content.X
            for at in range(0, content.n_rows, most_rows):
                yield matrix[at : at + most_rows]
            return
        check_names(names, content.names)
        frames = iter([content.X.select(names) if names else content.X])
    n_rows = 0
    for frame in frames:
        for part in frame.iter_slices(most_rows):
            typed = [_typed(part[c.name], c.text, n_rows) for c in columns]
            yield pl.DataFrame(typed) if typed else part
            n_rows += part.height
    if not n_rows:
        raise BadUseError(f"{path.name} has no rows.")


def _pick(content: Content, names: list[str]) -> scipy.sparse.csr_array:
    """Columns of a sparse matrix by name."""
    if isinstance(content.names, NumberedNames):
        check_names([name for name in names if not _is_numbered(name)], content.names)
        # svmlight does not write columns that are zero everywhere.
        return _pick_numbered(content.X, [content.names.place(name) for name in names])
    at = {name: j for j, name in enumerate(content.names)}
    if not set(names) <= set(at):
        odd = next((name for name in names if name in content.texts.columns), None)
        if odd is not None:
            raise BadUseError(
                f"column {odd!r} is text, which sparse rows cannot give to a model; write the file "
                "with full rows."
            )
        check_names(names, list(at))
    return content.X[:, [at[name] for name in names]]


def _pick_numbered(
    matrix: scipy.sparse.csr_array, places: list[int | None]
) -> scipy.sparse.csr_array:
    """Columns by position (None: zeros); scipy would count over all columns of the matrix."""
    order = np.array([j for j, at in enumerate(places) if at is not None], np.int64)
    wanted = np.array([at for at in places if at is not None], np.int64)
    by_place = np.argsort(wanted, kind="stable")
    order, wanted = order[by_place], wanted[by_place]
    if not wanted.size:
        return scipy.sparse.csr_array((matrix.shape[0], len(places)), dtype=matrix.dtype)
    near = np.minimum(np.searchsorted(wanted, matrix.indices), wanted.size - 1)
    hit = wanted[near] == matrix.indices
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[hit]
    found = (matrix.data[hit], (rows, order[near[hit]]))
    return scipy.sparse.csr_array(found, shape=(matrix.shape[0], len(places)))


def _is_numbered(name: str) -> bool:
    return name[:1] == "x" and name[1:].isdecimal()


def _typed(column: pl.Series, text: bool, first_row: int) -> pl.Series:
    """A column as text or as numbers, whatever the file has."""
    dtype = column.dtype
    if dtype in (pl.Categorical, pl.Enum) or (text and dtype.is_integer()) or dtype == pl.Null:
        column = column.cast(pl.String)
    if text and column.dtype == pl.String:
        return column
    if not text and (dtype.is_numeric() or dtype == pl.Boolean):
        return _finite(column.cast(pl.Float64), column, first_row)
    if not text and column.dtype == pl.String:
        return _finite(*_parse(column, first_row), first_row)
    kind = "text" if text else "numbers"
    raise BadUseError(
        f"column {column.name!r} holds {dtype}, but the model learnt {kind} from it; turn the "
        f"column into {kind}."
    )


def read_numbers(column: pl.Series, first_row: int = 0) -> pl.Series:
    """A column of values as numbers; NaN and nothing are missing.

    Parameters
    ----------
    column : texts, numbers or booleans.
    first_row : number of its first row, for messages.
    """
    if column.dtype == pl.String:
        return _parse(column, first_row, "a column of values holds numbers (--value names them)")[0]
    if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)):
        raise BadUseError(
            f"column {column.name!r} holds {column.dtype}, and no numbers; name the columns of "
            "values."
        )
    return column.cast(pl.Float64)


def _parse(column: pl.Series, first_row: int, why: str = _LEARNT) -> tuple[pl.Series, pl.Series]:
    """Numbers from text; true and false are 1 and 0, nothing is missing."""
    bare = column.str.strip_chars()
    numbers = bare.cast(pl.Float64, strict=False)
    odd = numbers.is_null() & bare.is_not_null() & (bare != "")
    if odd.any():
        flags = {"true": 1.0, "false": 0.0}
        found = bare.str.to_lowercase().replace_strict(flags, default=None, return_dtype=pl.Float64)
        numbers = numbers.fill_null(found)
        odd &= numbers.is_null()
    if odd.any():
        _refuse(column, odd, "is not a number", first_row, why)
    return numbers, column


def _finite(numbers: pl.Series, shown: pl.Series, first_row: int) -> pl.Series:
    odd = numbers.is_infinite().fill_null(False)
    if odd.any():
        _refuse(shown, odd, "is infinite", first_row)
    return numbers


def _refuse(
    column: pl.Series, odd: pl.Series, what: str, first_row: int, why: str = _LEARNT
) -> None:
    at = int(np.flatnonzero(odd.to_numpy())[0])
    raise BadUseError(
        f"column {column.name!r}, row {first_row + at} (from 0): {column[at]!r} {what}, but "
        f"{why}; mend it, or leave the cell empty."
    )
