"""Text with delimiters: CSV and TSV.  One reader, whole files and blocks of lines alike."""

import csv
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import polars as pl

from ...checks import BadUseError
from .base import Content, FileFormat, check_names, check_size, first_line, open_unpacked

# Bytes read at a time, and bytes of a line (letters of a cell) beyond which it is a mistake.
_BLOCK, _LONGEST = 8 << 20, 64 << 20

# Bytes whose lines stand for all.
_SEEN = 1 << 16

_LETTERS = 40  # of a cell in a message

# What broken disks and gzip files raise.
_UNREADABLE = (OSError, EOFError, zlib.error)


@dataclass(frozen=True)
class TextFormat(FileFormat):
    """Text with delimiters and a header."""

    endings: tuple[str, ...]  #: of the names of such files
    separator: str = ","  #: between two cells
    gzipped = True
    in_blocks = True

    def read(self, path: Path) -> Content:
        """The whole table."""
        with TextTable(path, self.separator) as table:
            frame = table.whole()
        return Content(frame, frame.columns)

    def blocks(self, path: Path, names: list[str], most_rows: int) -> Iterator[pl.DataFrame]:
        """Some megabytes of the file at a time, as text."""
        with TextTable(path, self.separator) as table:
            check_names(names, table.names)
            yield from table.frames([table.names.index(name) for name in names])


class TextTable:
    """A text file with a header and delimiters, open: it is read through once, from its start.

    Its `names`, as the file has them, are known from `with` on.
    """

    def __init__(self, path: Path, separator: str):
        self.path, self.separator = path, separator
        self.names: list[str] = []

    def __enter__(self) -> Self:
        try:
            self._file = open_unpacked(self.path)
        except OSError as error:
            raise self._broken(error) from error
        try:
            self.names, self._header_lines = self._read_header()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def whole(self) -> pl.DataFrame:
        """The table; numbers where all cells of a column are numbers."""
        # Names of our own: polars changes quotes and repeated names.
        header = self.separator.join(map(str, range(len(self.names)))).encode() + b"\n"
        between = b"\n" if len(self.names) > 1 else b""
        rows = between.join(self._as_fits())
        try:
            frame = pl.read_csv(header + rows, separator=self.separator, infer_schema_length=None)
        except pl.exceptions.PolarsError as error:
            self._find_mistake(rows, self._header_lines + 1)
            raise self._broken(error) from error
        frame.columns = self.names
        # Of a text column too, whose cells are all numbers with spaces around them, or empty.
        read = [as_numbers(column) for column in frame if column.dtype == pl.String]
        return frame.with_columns([x for x in read if x is not None and x.is_finite().any()])

    def bytes_a_line(self) -> float:
        """Mean length of the first lines after the header."""
        try:
            seen = self._file.read(_SEEN)
        except _UNREADABLE as error:
            raise self._broken(error) from error
        return max(len(seen), 1) / max(seen.count(b"\n"), 1)

    def _as_fits(self) -> Iterator[bytes]:
        """Blocks of the file as long as there is memory for the table that they make."""
        n_bytes = n_cells = checked = 0
        for _, block in self.blocks():
            n_bytes += len(block)
            n_cells += (block.count(b"\n") + 1) * len(self.names)
            if n_bytes >= checked:
                # The text twice, the table, and its columns as a model reads them.
                check_size(self.path, 2 * n_bytes + 16 * n_cells)
                checked = n_bytes + n_bytes // 8
            yield block

    def frames(
        self, places: Sequence[int], size: int | None = None, checked: bool = False
    ) -> Iterator[pl.DataFrame]:
        """Some columns as text, from about so many bytes (some megabytes) at a time.

        A file that was read before has been `checked`.
        """
        names = [self.names[j] for j in places]
        schema = dict.fromkeys(self.names, pl.String)
        for line, block in self.blocks(size, checked):
            if len(self.names) == 1:
                yield self._single(block)
                continue
            try:
                frame = pl.read_csv(
                    block,
                    separator=self.separator,
                    has_header=False,
                    schema=schema,
                    columns=sorted(places),
                )
            except pl.exceptions.PolarsError as error:
                self._find_mistake(block, line)
                raise self._broken(error) from error
            yield frame.select(names)

    def _single(self, block: bytes) -> pl.DataFrame:
        """The only column; an empty line is a missing value, which polars would skip."""
        rows = csv.reader(io.StringIO(block.decode("utf-8"), newline=""), delimiter=self.separator)
        with _long_cells():
            cells = [row[0] if row else None for row in rows]
        return pl.DataFrame({self.names[0]: cells}, schema={self.names[0]: pl.String})

    def _read_header(self) -> tuple[list[str], int]:
        """Names, and the number of lines up to and with the header."""
        try:
            with _long_cells():
                # Only the header is decoded here, so that later lines can be named.
                lines = iter(lambda: self._file.readline(_LONGEST), b"")
                texts = (line.decode("utf-8" if i else "utf-8-sig") for i, line in enumerate(lines))
                reader = csv.reader(texts, delimiter=self.separator)
                names: list[str] = next((row for row in reader if row), [])
        except (*_UNREADABLE, UnicodeError, csv.Error) as error:
            raise self._broken(error) from error
        if not names:
            raise BadUseError(f"{self.path.name} is empty; it must hold a header and rows.")
        if any("\0" in name for name in names):
            raise self._broken(ValueError("it holds zero bytes"))
        name, times = Counter(names).most_common(1)[0]
        if times > 1:
            raise BadUseError(
                f"{self.path.name} has several columns named {name!r}; give each its own name."
            )
        if len(names) == 1 and any(mark in names[0] for mark in ";\t|,"):
            raise BadUseError(
                f"{self.path.name} seems to have another delimiter: its only column is "
                f"{names[0]!r}. A .csv file is read with commas, a .tsv file with tabs."
            )
        return names, reader.line_num

    def blocks(self, size: int | None = None, checked: bool = False) -> Iterator[tuple[int, bytes]]:
        """Blocks of whole rows, each with the number of its first line; mistakes are named."""
        line, rest = self._header_lines + 1, b""
        size = least = _BLOCK if size is None else size
        try:
            while chunk := self._file.read(size):
                block, rest = self._cut(rest + chunk, line)
                # A very long line: look at it again only after much more of it has come.
                size = least if block else 2 * size
                if block:
                    if not checked:
                        self._check(block, line)
                    yield line, block
                    line += block.count(b"\n") + (not block.endswith(b"\n"))
        except _UNREADABLE as error:
            raise self._broken(error) from error
        # Empty lines at the end are no rows.
        block = rest.rstrip(b"\r\n") if len(self.names) > 1 else rest
        if block:
            if block.count(b'"') % 2:
                raise self._open_quote(block, line)
            if not checked:
                self._check(block, line)
            yield line, block

    def _open_quote(self, data: bytes, line: int) -> BadUseError:
        lines = data.count(b"\n", 0, self._last_end(data))
        return BadUseError(
            f"{self.path.name}, line {line + lines}: a quotation mark opens "
            "and does not close; inside a cell it is written twice, and the cell stands in "
            "quotation marks."
        )

    @staticmethod
    def _last_end(data: bytes) -> int:
        """Where the last row ends that is there in full."""
        end = data.rfind(b"\n") + 1
        odd = data.count(b'"', 0, end) % 2
        while odd and end:
            # A line that ends within quotation marks goes on.
            quote = data.rfind(b'"', 0, end)
            before = data.rfind(b"\n", 0, quote) + 1
            odd = (odd + data.count(b'"', before, end)) % 2
            end = before
        return end

    def _cut(self, data: bytes, line: int) -> tuple[bytes, bytes]:
        """All rows that are there in full, and what is left."""
        end = self._last_end(data)
        if not end and len(data) > _LONGEST:
            if data.count(b'"') % 2:
                raise self._open_quote(data, line)
            raise BadUseError(
                f"{self.path.name}, line {line}: the line is longer than {_LONGEST >> 20} MB; is "
                "every row on a line of its own?"
            )
        rest = data[end:]
        if len(self.names) == 1:
            return data[:end], rest
        # Empty lines may be the end of the file: they wait for what comes.
        block = data[:end].rstrip(b"\r\n")
        blank = data[len(block) : end].partition(b"\n")[2] if block else data[:end]
        return block, blank + rest

    def _check(self, block: bytes, line: int) -> None:
        """Has every row as many cells as the header?  Rows with quotes are read one by one."""
        n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
        expected = n_lines * (len(self.names) - 1)
        plain = b'"' not in block and b"\0" not in block
        if not (plain and block.count(self.separator.encode()) == expected):
            self._find_mistake(block, line)

    def _find_mistake(self, block: bytes, line: int) -> None:
        """Say what is wrong with a block, if anything is."""
        name, width = self.path.name, len(self.names)
        if b"\0" in block:
            raise self._broken(ValueError("it holds zero bytes"))
        if b'"' not in block and re.search(rb"\r(?!\n|$)", block):
            # The csv module would end the row here, polars not.
            raise self._broken(csv.Error("new-line character"))
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            line += block.count(b"\n", 0, error.start)
            raise BadUseError(
                f"{name}, line {line}: this is not UTF-8 text; save the file as 'CSV UTF-8'."
            ) from error
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator)
        start = line
        try:
            with _long_cells():
                for row in reader:
                    if len(row) != width and (row or width > 1):
                        mark = "comma" if self.separator == "," else "tab"
                        raise BadUseError(
                            f"{name}, line {start}: expected {width} cells, as the header has; got "
                            f"{len(row) or 'an empty line'}. Mend it (a cell with a {mark} in it "
                            "stands in quotation marks)."
                        )
                    start = line + reader.line_num
        except csv.Error as error:
            raise self._broken(error) from error

    def _broken(self, error: BaseException) -> BadUseError:
        """What to say when a library gave up."""
        name = self.path.name
        if isinstance(error, UnicodeError) or "zero bytes" in str(error):
            return BadUseError(
                f"{name} is not a text file in UTF-8; save the table as 'CSV UTF-8'."
            )
        if isinstance(error, csv.Error):
            if "new-line character" in str(error):
                return BadUseError(
                    f"{name} has a carriage return (CR) within a line; lines end with a line feed "
                    "(LF, or CR LF): save the table anew, as 'CSV UTF-8', or put the cell into "
                    "quotation marks."
                )
            if "field larger" in str(error):
                return BadUseError(
                    f"{name} has a cell of more than {_LONGEST >> 20} MB; is every row on a line "
                    "of its own?"
                )
            return BadUseError(f"{name} cannot be read: {error}.")
        cell = re.match(r"could not parse `(.*)` as dtype `\w+` at column '(\d+)' \(", str(error))
        if cell is not None:
            shown = cell[1] if len(cell[1]) <= _LETTERS else cell[1][: _LETTERS - 1] + "…"
            return BadUseError(
                f"{name}: column {self.names[int(cell[2])]!r} holds {shown!r}, a number too large "
                "to be read; mend it, or leave the cell empty."
            )
        if "malformed" in str(error):
            return BadUseError(
                f"{name} has a quotation mark inside a cell: write it twice, and put the cell into "
                "quotation marks."
            )
        kind = "".join(self.path.suffixes[-2:]).lower().lstrip(".")
        return BadUseError(f"{name} cannot be read as {kind}: {first_line(error)}.")


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let the csv module read cells above 128 KB: its limit is one for the whole process."""
    before = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def as_numbers(texts: pl.Series) -> pl.Series | None:
    """Cells of text as numbers, empty ones as missing; None where a cell is no number.

    Spaces around a number do not matter.
    """
    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.null_count() == texts.null_count():
        return numbers
    bare = texts.str.strip_chars()
    numbers = bare.cast(pl.Float64, strict=False)
    return None if (numbers.is_null() & bare.is_not_null() & (bare != "")).any() else numbers


def as_flags(texts: pl.Series) -> pl.Series | None:
    """Cells that say true or false as booleans; None where a cell says something else."""
    lower = texts.str.to_lowercase()
    known = lower.is_in(["true", "false"])
    return lower == "true" if known.all() and known.any() else None


def stand_for_no_number(texts: pl.Series) -> bool:
    """Do cells without any finite number read as numbers nevertheless?  polars' rule."""
    known = texts.drop_nulls()
    return bool(len(known)) and known.str.contains(r"^[-+]?(inf|NaN)$").all()


def as_read(texts: pl.Series) -> pl.Series:
    """A column of text as it reads in a whole file: numbers or booleans where all cells are."""
    numbers = as_numbers(texts)
    if numbers is None:
        flags = as_flags(texts)
        return texts if flags is None else flags
    if not numbers.is_finite().any():
        return numbers if stand_for_no_number(texts) else texts
    whole = texts.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == texts.null_count() else numbers
