"""Tables in files, read in blocks: rows of text files, columns of the others."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from ...checks import some
from ..tables import kind_of_column

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
    """A table that has not been read yet."""

    name: str  #: how messages call it
    names: list[str]  #: names of the columns, as the file has them

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
                raise ValueError(
                    f"there is no column {name!r}; the columns are {some(self.names)}."
                )
        return [self.names.index(name) for name in names]


@dataclass(frozen=True)
class FrameSource(Source):
    """A polars frame, or a file that polars reads a few columns at a time."""

    lazy: "pl.LazyFrame"
    kind: str = "a frame"  #: what it is read as, for messages

    def kinds(self, columns: Sequence[int]) -> list[str]:
        """By the types of the columns."""
        with _in_a_sentence(self.name, self.kind):
            dtypes = list(nw.from_native(self.lazy).collect_schema().dtypes())
        return [kind_of_column(self.names[j], dtypes[j]) for j in columns]

    def blocks(self, columns: Sequence[int], cells: int, again: bool = False) -> Iterator[Block]:
        """All rows of some columns, as many columns at a time as the cells allow."""
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
    """A text file."""

    path: Path
    separator: str  #: between two cells

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
    from .columnar import ColumnarFormat, scan
    from .formats import FORMATS, format_of
    from .text import TextFormat, TextTable

    path = Path(source)
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
