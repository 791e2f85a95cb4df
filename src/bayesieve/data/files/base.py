"""Content of a table file, and what is said of files that cannot be read."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast, overload

import numpy as np
import polars as pl
import scipy.sparse
from numpy.typing import NDArray

from ...checks import BadUseError, check_memory, some

#: Columns that can be learnt from; each takes memory and time, be it empty or not.
MOST_COLUMNS = 2_000_000


class NumberedNames(Sequence[str]):
    """Names x3, x4, ... of columns that go by their numbers; none is written down until asked for.

    A file of a few bytes may have a column number in the thousands of millions.
    """

    def __init__(self, numbers: range):
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> "NumberedNames": ...
    def __getitem__(self, at: int | slice) -> "str | NumberedNames":
        found = self._numbers[at]
        return NumberedNames(found) if isinstance(found, range) else f"x{found}"

    def __contains__(self, name: object) -> bool:
        return self.place(name) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def place(self, name: object) -> int | None:
        """Position of a name, or None."""
        digits = name[1:] if isinstance(name, str) and name[:1] == "x" else ""
        if not (digits.isdecimal() and len(digits) < 20 and str(int(digits)) == digits):
            return None
        number = int(digits)
        return self._numbers.index(number) if number in self._numbers else None


def check_size(path: Path, needed: float) -> None:
    """Refuse a file whose table would not fit into memory, before it is asked for."""
    instead = (
        "leave columns out, sample rows, or write it as Parquet, which is packed as it is read (as "
        "are large CSV files), or learn on a cluster (engine='dask')"
    )
    try:
        check_memory(f"the cells of {path.name}", needed, instead)
    except MemoryError as error:
        raise BadUseError(str(error)) from error


def unpacked_size(path: Path) -> int:
    """Bytes of a file once it is unpacked; of a gzipped one, what its last four bytes say.

    These say less than there is where it has several parts, or more than 4 GB.
    """
    size = path.stat().st_size
    if path.suffix.lower() != ".gz" or size < _LEAST_GZIP:
        return size
    with path.open("rb") as file:
        file.seek(-4, 2)
        return max(size, int.from_bytes(file.read(), "little"))


# The header and the end of a gzipped file.
_LEAST_GZIP = 18

# Files up to this size are not unpacked to see how large they are: gzip makes at most a thousandth.
_SMALL_GZIP = 2**18


def open_unpacked(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked where it is gzipped."""
    gzipped = path.suffix.lower() == ".gz"
    return cast(BinaryIO, gzip.open(path, "rb")) if gzipped else path.open("rb")


def check_unpacked(path: Path, times: float) -> None:
    """Refuse a file of text that takes so many times its size in memory, gzipped or not.

    For readers that hold all of it and are slower than unpacking it twice.
    """
    size = unpacked_size(path)
    check_size(path, times * size)
    if path.suffix.lower() != ".gz" or path.stat().st_size <= _SMALL_GZIP:
        return
    seen, checked = 0, 2 * size
    try:
        with gzip.open(path, "rb") as file:
            while part := file.read(2**22):
                seen += len(part)
                if seen > checked:
                    check_size(path, times * seen)
                    checked = seen + seen // 8
    except (OSError, EOFError, zlib.error):  # the reader will say what is wrong
        return


def check_width(n_columns: int) -> None:
    """Refuse tables that are too wide to learn from, before any work."""
    if n_columns > MOST_COLUMNS:
        raise BadUseError(
            f"the table has {n_columns} columns, empty ones included; at most {MOST_COLUMNS} can "
            "be learnt from: number those that occur from 1 on."
        )


@dataclass(frozen=True)
class Content:
    """A table from a file."""

    X: Any
    names: Sequence[str]
    #: classes, or labels, that the file keeps apart from its columns
    target: NDArray[Any] | pl.DataFrame | None = None
    #: columns of text beside a sparse matrix
    texts: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def sparse(self) -> bool:
        """Is the table a sparse matrix?"""
        return bool(scipy.sparse.issparse(self.X))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


class FileFormat:
    """How files with some endings are read: a member of `FORMATS`.

    A subclass gives `endings` and `read`; where a file need not be held as a whole, `blocks` too.
    """

    endings: tuple[str, ...]  #: of the file's name, in small letters
    gzipped: bool = False  #: may .gz follow?
    separator: str | None = None  #: between the cells of text files
    in_blocks: bool = False  #: can it be read some rows at a time?

    def read(self, path: Path) -> Content:
        """The whole table."""
        raise NotImplementedError(f"file format {type(self).__name__!r} must read files.")

    def blocks(self, path: Path, names: list[str], most_rows: int) -> Iterator[pl.DataFrame]:
        """Frames of these columns, of about so many rows, in the order of the file."""
        content = self.read(path)
        check_names(names, content.names)
        yield content.X.select(names)


def check_names(names: list[str], there: Sequence[str]) -> None:
    """All columns of a model must be in the file."""
    known = there if isinstance(there, NumberedNames) else set(there)
    missing = [name for name in dict.fromkeys(names) if name not in known]
    if missing:
        raise BadUseError(
            f"the table lacks {len(missing)} of the model's {len(names)} columns, such as "
            f"{missing[0]!r}; it has {some(there)}."
        )


def unreadable(path: Path, error: BaseException, kind: str = "") -> BadUseError:
    """What to say of a file that a library gave up on."""
    kind = kind or unzipped(path)[0][1:]
    return BadUseError(f"{path.name} cannot be read as {kind}: {first_line(error)}.")


def first_line(error: BaseException) -> str:
    """What a library says, in one line."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def whole_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Floats as integers where all of them are: classes read 1, not 1.0."""
    if values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.rint(values)).all():
        return values.astype(np.int64)
    return values


def unzipped(path: Path) -> tuple[str, bool]:
    """The ending that tells the format, in small letters, and whether the file is gzipped."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    suffixes = suffixes[:-1] if zipped else suffixes
    return (suffixes[-1] if suffixes else ""), zipped
