"""Series in files: a long table, a wide one, or a folder with a file each; some at a time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from ...checks import BadUseError, some
from ..series import SeriesForm, SeriesTable
from .base import check_names
from .formats import FORMATS, format_of, read_data, read_numbers
from .sources import open_source
from .text import as_read

#: What a folder's files are told apart by: their names without the ending.
_ID = "file"

#: Rows of a table, and files of a folder, that are read at a time.
_ROWS, _FILES = 1 << 18, 256


class SeriesPart(NamedTuple):
    """Some series of a file, and what a column says of each."""

    table: SeriesTable
    labels: pl.Series | None = None


def resolve_form(path: Path, form: SeriesForm, *others: str | None) -> SeriesForm:
    """The form with its columns of values named, all of which the file has.

    Columns with classes or groups (`others`) are no columns of values.
    """
    names = table_names(_files(path)[0] if form.kind == "folder" else path)
    keys = [form.id, form.time, form.channel, *others]
    aside = [name for name in keys if name is not None]
    check_columns([*aside, *(form.values or ())], names)
    twice = next((name for name in aside if aside.count(name) > 1), None)
    if twice is not None:
        raise BadUseError(f"column {twice!r} cannot be two things at once; name another one.")
    values = form.values or tuple(name for name in names if name not in aside)
    both = next((name for name in values if name in aside), None)
    if both is not None:
        raise BadUseError(f"column {both!r} cannot hold values too; name another one.")
    if not values or (form.channel is not None and len(values) > 1):
        what = "one column" if form.channel is not None else "columns"
        raise BadUseError(
            f"name {what} of values with --value; {path.name} has {some(values) or 'none left'}."
        )
    return replace(form, values=values)


def check_columns(named: Iterable[str], names: Sequence[str]) -> None:
    """Columns that a command names must be there."""
    missing = next((name for name in named if name not in names), None)
    if missing is not None:
        raise BadUseError(f"there is no column {missing!r}; the columns are {some(names)}.")


def read_series_file(path: Path, form: SeriesForm, label: str | None = None) -> SeriesPart:
    """All series of a table or a folder, with their classes where a column says them."""
    if form.kind == "folder":
        return SeriesPart(read_series_folder(path, time=form.time, values=form.values))
    frames = list(_frames(path, form, label, _ROWS))
    return _part(_joined(frames, path), form, label)


def column_by_series(path: Path, form: SeriesForm, column: str) -> pl.Series:
    """The value of a column of a table for each series, in their order."""
    names = [column] if form.kind == "wide" else [str(form.id), column]
    whole = _joined(list(format_of(path).blocks(path, names, _ROWS)), path)
    if form.kind == "wide":
        return whole[column]
    return _value_of_each(
        as_ids(whole[names[0]]), whole[column], "values", "all its rows belong together."
    )


def series_parts(path: Path, form: SeriesForm, most_rows: int = _ROWS) -> Iterator[SeriesPart]:
    """Series of a table or a folder, some at a time: memory for a part, or for the longest series.

    A long table in which the rows of a series do not stand together is read as a whole.
    """
    if form.kind == "folder":
        files, first = iter(_files(path)), None
        while some_files := list(islice(files, _FILES)):
            frame = _folder_frame(some_files, form.time, form.values, first)
            first = frame.columns[1:]
            yield SeriesPart(SeriesTable.from_long(frame, id=_ID, time=form.time))
        return
    if form.kind == "long":
        if not _stand_together(path, str(form.id), most_rows):
            yield read_series_file(path, form)
            return
        for frame in _whole_series(_frames(path, form, None, most_rows), str(form.id)):
            yield _part(frame, form, None)
        return
    n_rows = 0
    for frame in _frames(path, form, None, most_rows):
        for rows in frame.iter_slices(most_rows):
            yield _part(rows, form, None, n_rows)
            n_rows += rows.height


def read_series_folder(
    folder: Path, *, time: str | None = None, values: Sequence[str] | None = None
) -> SeriesTable:
    """Series of a folder, a file each, in the order of the files' names.

    Their ids are these names without the ending.
    """
    frame = _folder_frame(_files(folder), time, values, None)
    return SeriesTable.from_long(frame, id=_ID, time=time)


def read_labels(path: Path, columns: Sequence[str], times: Sequence[str] = ()) -> pl.DataFrame:
    """A table of labels: names as they are written, times of stretches, and the classes."""
    names = [*columns, *times]
    check_columns(names, table_names(path))
    parts = [frame for frame in format_of(path).blocks(path, names, _ROWS) if frame.height]
    if not parts:
        raise BadUseError(f"{path.name} has no rows.")
    whole = _joined(parts, path)
    moments = [as_times(whole[name]) for name in times]
    return pl.DataFrame([as_ids(whole[columns[0]]), *moments, _typed(whole[columns[1]])])


def as_times(column: pl.Series) -> pl.Series:
    """Times as numbers or dates; texts such as 2024-12-31 12:00 are dates."""
    if column.dtype == pl.String:
        column = column.replace("", None)
        read = as_read(column)
        if read.dtype == pl.String:
            try:
                read = column.str.strip_chars().str.to_datetime(strict=False, time_unit="us")
            except pl.exceptions.PolarsError:  # the first text shows no format
                read = pl.Series(column.name, [None] * len(column), pl.Datetime("us"))
        odd = column.filter(read.is_null() & column.is_not_null())
        if len(odd):
            raise BadUseError(
                f"the times in {column.name!r} must be numbers or dates such as 2024-12-31 "
                f"12:00; got {odd[0]!r}."
            )
        column = read
    if isinstance(column.dtype, pl.Datetime):
        if column.dtype.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column.cast(pl.Datetime("us"))
    if not (column.dtype.is_numeric() or column.dtype in (pl.Date, pl.Duration)):
        raise BadUseError(f"column {column.name!r} holds {column.dtype}, which is no time.")
    return column.cast(pl.Float64) if column.dtype.is_numeric() else column


def as_ids(column: pl.Series) -> pl.Series:
    """Names as they are written."""
    missing = column.null_count()
    if missing:
        raise BadUseError(f"column {column.name!r} is missing in {missing} row(s); fill or drop.")
    return column.cast(pl.String)


def table_names(path: Path) -> list[str]:
    """Names of a file's columns."""
    if format_of(path).in_blocks:
        return open_source(path).names
    return list(read_data(path).names)


def _frames(
    path: Path, form: SeriesForm, label: str | None, most_rows: int
) -> Iterator[pl.DataFrame]:
    """Columns of the form, typed: names as texts, times, numbers."""
    keys = [form.id, form.channel, form.time, label]
    names = [*(name for name in keys if name is not None), *(form.values or ())]
    file, n_rows = format_of(path), 0
    if not file.in_blocks and read_data(path).sparse:
        raise BadUseError(f"{path.name} holds a sparse matrix, and no series.")
    for frame in file.blocks(path, names, most_rows):
        columns = [as_ids(frame[name]) for name in (form.id, form.channel) if name is not None]
        if form.time is not None:
            columns.append(as_times(frame[form.time]))
        if label is not None:
            columns.append(frame[label])
        columns += [read_numbers(frame[name], n_rows) for name in form.values or ()]
        n_rows += frame.height
        yield pl.DataFrame(columns)
    if not n_rows:
        raise BadUseError(f"{path.name} has no rows.")


def _joined(frames: list[pl.DataFrame], path: Path) -> pl.DataFrame:
    try:
        return pl.concat(frames, how="vertical")
    except pl.exceptions.PolarsError as error:
        raise BadUseError(f"{path.name} mixes numbers and dates in one column.") from error


def _part(
    frame: pl.DataFrame, form: SeriesForm, label: str | None, first_row: int = 0
) -> SeriesPart:
    """Series and their classes from typed columns."""
    values = list(form.values or ())
    labels = None if label is None else frame[label]
    if form.kind == "wide":
        ids = range(first_row, first_row + frame.height)
        names = tuple(ids) if form.id is None else tuple(frame[form.id].to_list())
        twice = _repeated(names)
        if twice is not None:
            raise BadUseError(
                f"series {twice!r} has two rows; a wide table has one row a series, and --wide "
                "is left out for a long one."
            )
        rows = [np.ascontiguousarray(row) for row in frame.select(values).to_numpy()]
        table = SeriesTable((rows,), ("",), names)
        return SeriesPart(table, None if labels is None else _typed(labels))
    owner = str(form.id)
    columns = [name for name in (owner, form.time, form.channel) if name]
    table = SeriesTable.from_long(
        frame.select([*columns, *values]),
        id=owner,
        time=form.time,
        channel=form.channel,
        values=values,
    )
    if labels is None:
        return SeriesPart(table)
    how = "a record with several is cut by --window, with --labels TABLE (id, start, end, class)."
    return SeriesPart(table, _value_of_each(frame[owner], _typed(labels), "classes", how))


def _repeated(names: Iterable[object]) -> object | None:
    """The first name that comes more than once, or None."""
    return next((name for name, n in Counter(names).items() if n > 1), None)


def _typed(labels: pl.Series) -> pl.Series:
    return as_read(labels) if labels.dtype == pl.String else labels


def _value_of_each(ids: pl.Series, values: pl.Series, what: str, how: str) -> pl.Series:
    """The value of each series, in their order; a series with two is refused."""
    both = pl.DataFrame({"id": ids, "value": values}).unique(maintain_order=True)
    twice = both.filter(both["id"].is_duplicated())
    if twice.height:
        one, other = twice.filter(pl.col("id") == twice["id"][0])["value"].to_list()[:2]
        raise BadUseError(
            f"series {twice['id'][0]!r} has two {what} in {values.name!r}, {one!r} and {other!r}; "
            f"{how}"
        )
    return both["value"].alias(values.name)


def _stand_together(path: Path, column: str, most_rows: int) -> bool:
    """Do the rows of every series follow each other?"""
    seen: set[str] = set()
    last = None
    for frame in format_of(path).blocks(path, [column], most_rows):
        ids = as_ids(frame[column])
        for name in ids.filter((ids != ids.shift(1)).fill_null(True)).to_list():
            if name != last and name in seen:
                return False
            seen.add(name)
            last = name
    return True


def _whole_series(frames: Iterator[pl.DataFrame], column: str) -> Iterator[pl.DataFrame]:
    """Rows cut between series only."""
    held: pl.DataFrame | None = None
    for frame in frames:
        rows = frame if held is None else pl.concat([held, frame])
        others = (rows[column] != rows[column][-1]).arg_true()
        cut = 0 if not len(others) else int(others[-1]) + 1
        if cut:
            yield rows[:cut]
        held = rows[cut:]
    if held is not None:
        yield held


def _files(folder: Path) -> list[Path]:
    """The files of a folder, in the order of their names."""
    if not folder.is_dir():
        raise BadUseError(f"{str(folder)!r} is not a folder.")
    endings = tuple(each for found in FORMATS for each in found.endings)
    paths = sorted(path for path in folder.iterdir() if path.name.lower().endswith(endings))
    if not paths:
        raise BadUseError(f"{str(folder)!r} has no file that ends in {', '.join(endings)}.")
    twice = _repeated(path.stem for path in paths)
    if twice is not None:
        raise BadUseError(f"{str(folder)!r} has two files called {twice!r}; a series is one file.")
    return paths


def _folder_frame(
    paths: list[Path], time: str | None, values: Sequence[str] | None, first: list[str] | None
) -> pl.DataFrame:
    """Files one below the other; `first` are the columns of files before them."""
    parts: list[pl.DataFrame] = []
    for path in paths:
        frame = read_data(path).X
        if not isinstance(frame, pl.DataFrame):
            raise BadUseError(f"{path.name} holds a sparse matrix, and no series.")
        columns = frame.columns if values is None else [*([] if time is None else [time]), *values]
        missing = [name for name in columns if name not in frame.columns]
        if missing or columns != (first := columns if first is None else first):
            raise BadUseError(
                f"{path.name} has the columns {', '.join(frame.columns)}; "
                + (f"{missing[0]!r} is not there." if missing else "the files before have others.")
            )
        if time is not None:
            check_names([time], frame.columns)
            frame = frame.with_columns(as_times(frame[time]))
        parts.append(frame.select(pl.lit(path.stem).alias(_ID), *columns))
    try:
        return pl.concat(parts, how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise BadUseError("the files hold numbers and texts in columns of one name.") from error
