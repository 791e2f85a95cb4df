"""Tables in files, read in blocks: rows of text files, columns of the others."""

import csv
import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import narwhals as nw

if TYPE_CHECKING:
    import polars as pl


#: What separates the cells of a text file, by the file's ending.
TEXT = {".csv": ",", ".tsv": "\t"}


#: Endings of files that are stored column by column.
COLUMNAR = (".parquet", ".arrow", ".feather", ".ipc")


#: Bytes of a line, and letters of a cell, beyond which a text file is taken for something else.
LONGEST = 64 << 20


# A cell of a text file takes at least a digit and what separates it from the next.
_BYTES_A_CELL = 2


class Block(NamedTuple):
    """Some rows of some columns; `frame` has one column for each of `columns`, in this order."""

    columns: Sequence[int]
    first_row: int
    frame: "pl.DataFrame"


@contextmanager
def long_cells() -> Iterator[None]:
    """Let the csv module read cells above 128 KB: its limit is one for the whole process."""
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def csv_words(error: csv.Error) -> str:
    """What the csv module could not read, in our words."""
    if "new-line character" in str(error):
        return (
            "has a carriage return (CR) within a line; lines end with a line feed (LF, or CR LF): "
            "save the table anew, as 'CSV UTF-8', or put the cell into quotation marks."
        )
    if "field larger" in str(error):
        return f"has a cell of more than {LONGEST >> 20} MB; is every row on a line of its own?"
    return f"cannot be read: {error}."


@dataclass(frozen=True)
class Source:
    """A table that has not been read yet; read a few columns at a time.

    Parameters
    ----------
    name : how messages call it.
    kind : what it is read as, for messages.
    names : names of the columns, as the file has them.
    lazy : the scan; its own names may differ.
    """

    name: str
    kind: str
    names: list[str]
    lazy: "pl.LazyFrame"

    def blocks(
        self, columns: Sequence[int], expressions: Sequence[Any], cells: int
    ) -> Iterator[Block]:
        """All rows of some columns, as the expressions make them, about so many cells at a time."""
        import polars as pl

        with self.errors():
            n_rows = self.lazy.select(pl.len()).collect().item()
            width, rows = max(cells // max(n_rows, 1), 1), min(cells, max(n_rows, 1))
            for at in range(0, len(columns), width):
                lazy = self.lazy.select(expressions[at : at + width])
                for first in range(0, n_rows, rows):
                    frame = lazy.slice(first, rows).collect()
                    yield Block(columns[at : at + width], first, frame)

    def read(self, columns: Sequence[int]) -> "pl.DataFrame":
        """Some columns whole, under the names that the file gives them."""
        with self.errors():
            frame = self._whole(columns)
        frame.columns = [self.names[j] for j in columns]
        return frame

    def _whole(self, columns: Sequence[int]) -> "pl.DataFrame":
        import polars as pl

        return self.lazy.select([pl.nth(j).alias(str(j)) for j in columns]).collect()

    def dtypes(self) -> list[Any]:
        """Types of the columns, as narwhals calls them."""
        with self.errors():
            return list(nw.from_native(self.lazy).collect_schema().dtypes())

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
        except csv.Error as error:
            raise ValueError(f"{self.name} {csv_words(error)}") from error
        except (pl.exceptions.PolarsError, OSError, UnicodeError) as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise ValueError(f"{self.name} cannot be read as {self.kind}: {lines[0]}") from error


@dataclass(frozen=True)
class TextSource(Source):
    """A text file; read some lines at a time, since polars' own batches take far more memory."""

    path: Path
    separator: str

    def blocks(
        self, columns: Sequence[int], expressions: Sequence[Any], cells: int
    ) -> Iterator[Block]:
        """All rows of some columns, as the expressions make them, about so many cells at a time."""
        first = 0
        with self.errors():
            for frame in self._frames(_BYTES_A_CELL * cells):
                yield Block(columns, first, frame.select(expressions))
                first += frame.height

    def _whole(self, columns: Sequence[int]) -> "pl.DataFrame":
        import polars as pl

        parts = [frame.select(pl.nth(*columns)) for frame in self._frames(2**23)]
        return pl.concat(parts)

    def _frames(self, size: int) -> Iterator["pl.DataFrame"]:
        """Rows from about so many bytes at a time."""
        import polars as pl

        types = self.lazy.collect_schema().dtypes()
        # Names of our own before every block: they tell polars how many cells a line has.
        schema = {str(j): dtype for j, dtype in enumerate(types)}
        header = (self.separator.join(schema) + "\n").encode()
        with _opened(self.path) as file:
            for lines in _whole_lines(file, size):
                yield pl.read_csv(header + lines, separator=self.separator, schema=schema)


def _whole_lines(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The lines behind the header, about `size` bytes at a time; a quoted line end ends no line."""
    rest, header = b"", True
    while more := file.read(size):
        rest += more
        if header:
            rest = rest.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
            end = _first_line(rest)
            if not end:
                continue
            rest, header = rest[end:], False
        end = _last_line(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
        else:
            size *= 2  # a very long line: look at it again only after much more of it has come
    if rest and not header:
        yield rest


def _first_line(text: bytes) -> int:
    """Where the first line ends, or 0."""
    at = quotes = 0
    while (end := text.find(b"\n", at)) >= 0:
        quotes += text.count(b'"', at, end)
        if quotes % 2 == 0:
            return end + 1
        at = end + 1
    return 0


def _last_line(text: bytes) -> int:
    """Where the last whole line ends, or 0."""
    at, quotes = len(text), text.count(b'"')
    while (end := text.rfind(b"\n", 0, at)) >= 0:
        quotes -= text.count(b'"', end, at)
        if quotes % 2 == 0:
            return end + 1
        at = end
    return 0


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
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        lazy = source.lazy()
        return Source("source", "a frame", lazy.collect_schema().names(), lazy)
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
    label = (path.name, ending[1:])
    with Source(*label, [], pl.LazyFrame()).errors():
        if ending in TEXT:
            return _open_text(label, path, TEXT[ending])
        lazy = pl.scan_parquet(path) if ending == ".parquet" else pl.scan_ipc(path)
        return Source(*label, lazy.collect_schema().names(), lazy)


def _open_text(label: tuple[str, str], path: Path, separator: str) -> Source:
    import polars as pl

    schema = pl.scan_csv(path, separator=separator, infer_schema_length=None).collect_schema()
    names = _header(path, schema.names(), separator)
    if len(names) == 1 and any(c in names[0] for c in ";\t|,"):
        raise ValueError(
            f"{path.name} seems to have another delimiter: its only column is {names[0]!r}. A .csv "
            "file is read with commas, a .tsv file with tabs."
        )
    return TextSource(*label, names, pl.LazyFrame(schema=schema), path, separator)


def _header(path: Path, names: list[str], separator: str) -> list[str]:
    """The names as the file has them: polars changes quotes and repeated names."""
    with _opened(path) as file, long_cells():
        lines = (line.decode("utf-8-sig") for line in file)
        header = next(csv.reader(lines, delimiter=separator), [])
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise ValueError(f"{path.name} has several columns named {twice[0]!r}; names must differ.")
    return header if len(header) == len(names) else names


def _opened(path: Path) -> BinaryIO:
    gzipped = path.suffix.lower() == ".gz"
    return cast(BinaryIO, gzip.open(path, "rb") if gzipped else path.open("rb"))
