"""Registry of file formats by file extension.

Any of them is read whole (`read_data`), or the columns of a model some rows at a time
(`read_batches`).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse

from ...checks import BadUseError, check_there
from .arff import ArffFormat
from .base import Content, FileFormat, NumberedNames, check_names, unzipped
from .columnar import ColumnarFormat, NpzFormat, SvmlightFormat
from .sources import open_source
from .text import TextFormat

#: Every format; a new member is one entry here.
FORMATS: list[FileFormat] = [
    TextFormat((".csv",), ","),
    TextFormat((".tsv",), "\t"),
    ColumnarFormat((".parquet", ".arrow", ".feather", ".ipc")),
    ArffFormat((".arff",)),
    SvmlightFormat((".svm", ".svmlight", ".libsvm")),
    NpzFormat((".npz",)),
]


def format_of(path: Path) -> FileFormat:
    """The format of a file that is there, by its ending."""
    check_there(path)
    ending, zipped = unzipped(path)
    for found in FORMATS:
        if ending in found.endings and (found.gzipped or not zipped):
            return found
    every = [each for found in FORMATS for each in found.endings]
    packed = [each for found in FORMATS if found.gzipped for each in found.endings]
    raise BadUseError(
        f"the ending of {path.name!r} is unknown; allowed are {', '.join(every)}, and .gz after "
        f"{', '.join(packed)}."
    )


def read_data(path: Path) -> Content:
    """The whole table of a file, in any of the formats."""
    content = format_of(path).read(path)
    if not content.n_rows:
        raise BadUseError(f"{path.name} has no rows.")
    return content


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
        others = [name for name in names if not (name[:1] == "x" and name[1:].isdecimal())]
        check_names(others, content.names)
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
    picked = np.array([at for at in places if at is not None], np.int64)
    by_place = np.argsort(picked, kind="stable")
    order, picked = order[by_place], picked[by_place]
    if not picked.size:
        return scipy.sparse.csr_array((matrix.shape[0], len(places)), dtype=matrix.dtype)
    near = np.minimum(np.searchsorted(picked, matrix.indices), picked.size - 1)
    hit = picked[near] == matrix.indices
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[hit]
    found = (matrix.data[hit], (rows, order[near[hit]]))
    return scipy.sparse.csr_array(found, shape=(matrix.shape[0], len(places)))


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
    """A column of values as numbers; NaN and nothing are missing."""
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
