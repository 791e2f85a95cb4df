"""Tables in files, read in blocks: rows of text files, columns of the others."""

import csv
import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

#: What separates the cells of a text file, by the file's ending.
TEXT = {".csv": ",", ".tsv": "\t"}
#: Endings of files that are stored column by column.
COLUMNAR = (".parquet", ".arrow", ".feather", ".ipc")


class Block(NamedTuple):
    """Some rows of some columns; `frame` has one column for each of `columns`, in this order."""

    columns: Sequence[int]
    first_row: int
    frame: "pl.DataFrame"


@dataclass(frozen=True)
class Source:
    """A table that has not been read yet.

    Parameters
    ----------
    name : how messages call it.
    kind : what it is read as, for messages.
    names : names of the columns, as the file has them.
    lazy : the scan; its own names may differ.
    columnar : is a column read without touching the others?
    """

    name: str
    kind: str
    names: list[str]
    lazy: "pl.LazyFrame"
    columnar: bool

    def blocks(
        self, columns: Sequence[int], expressions: Sequence[Any], cells: int
    ) -> Iterator[Block]:
        """All rows of some columns, as the expressions make them, about so many cells at a time."""
        import polars as pl

        if not columns:
            return
        with self.errors():
            if not self.columnar:
                lazy, first = self.lazy.select(expressions), 0
                rows = max(cells // len(columns), 1)
                for frame in lazy.collect_batches(chunk_size=rows, maintain_order=True):
                    yield Block(columns, first, frame)
                    first += frame.height
                return
            n_rows = self.lazy.select(pl.len()).collect().item()
            width, rows = max(cells // max(n_rows, 1), 1), min(cells, max(n_rows, 1))
            for at in range(0, len(columns), width):
                lazy = self.lazy.select(expressions[at : at + width])
                for first in range(0, n_rows, rows):
                    yield Block(columns[at : at + width], first, lazy.slice(first, rows).collect())

    def read(self, columns: Sequence[int]) -> "pl.DataFrame":
        """Some columns whole, under the names that the file gives them."""
        import polars as pl

        with self.errors():
            frame = self.lazy.select([pl.nth(j).alias(str(j)) for j in columns]).collect()
        frame.columns = [self.names[j] for j in columns]
        return frame

    def find(self, names: Sequence[str]) -> list[int]:
        """Positions of columns by name."""
        for name in names:
            if name not in self.names:
                shown = ", ".join(repr(each) for each in self.names[:8])
                more = f" and {len(self.names) - 8} more" if len(self.names) > 8 else ""
                raise ValueError(f"there is no column {name!r}; the columns are {shown}{more}.")
        return [self.names.index(name) for name in names]

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Say in one sentence what polars could not read."""
        import polars as pl

        try:
            yield
        except (pl.exceptions.PolarsError, OSError, UnicodeError, csv.Error) as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise ValueError(f"{self.name} cannot be read as {self.kind}: {lines[0]}") from error


def open_source(source: Any) -> Source:
    """A file by its ending, or a polars frame."""
    try:
        import polars as pl
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pack reads files with polars: pip install 'bayesieve[cli]'.", name="polars"
        ) from error

    if isinstance(source, Source):
        return source
    if isinstance(source, pl.DataFrame):
        return Source("source", "a frame", source.columns, source.lazy(), True)
    if isinstance(source, pl.LazyFrame):
        names = source.collect_schema().names()
        return Source("source", "a frame", names, source, False)
    if not isinstance(source, str | PathLike):
        raise TypeError(
            "source must be the path of a file, or a polars frame (DataFrame or LazyFrame); got "
            f"{type(source).__name__}."
        )
    return _open_file(Path(source))


def _open_file(path: Path) -> Source:
    import polars as pl

    if not path.is_file():
        raise ValueError(f"the file {str(path)!r} does not exist (or is not a file).")
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if ending not in (*TEXT, *COLUMNAR):
        allowed = ", ".join((*TEXT, *(f"{e}.gz" for e in TEXT), *COLUMNAR))
        raise ValueError(f"the ending of {path.name!r} is unknown; allowed are {allowed}.")
    empty = Source(path.name, ending[1:], [], pl.LazyFrame(), False)
    with empty.errors():
        if ending in TEXT:
            lazy = pl.scan_csv(path, separator=TEXT[ending], infer_schema_length=None)
            # What was found out about the columns is said at every later scan: it takes long.
            schema = lazy.collect_schema()
            lazy = pl.scan_csv(path, separator=TEXT[ending], schema=schema)
            names = _header(path, schema.names(), TEXT[ending])
        else:
            lazy = pl.scan_parquet(path) if ending == ".parquet" else pl.scan_ipc(path)
            names = lazy.collect_schema().names()
    if len(names) == 1 and ending in TEXT and any(c in names[0] for c in ";\t|,"):
        raise ValueError(
            f"{path.name} seems to have another delimiter: its only column is {names[0]!r}. A .csv "
            "file is read with commas, a .tsv file with tabs."
        )
    return Source(path.name, ending[1:], names, lazy, ending not in TEXT)


def _header(path: Path, names: list[str], separator: str) -> list[str]:
    """The names as the file has them: polars changes quotes and repeated names."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=separator), [])
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise ValueError(f"{path.name} has several columns named {twice[0]!r}; names must differ.")
    return header if len(header) == len(names) else names
