"""Tables that are no rows of things to decide on: points of series, times among columns."""

import polars as pl

from ..data.files.base import BadUseError
from ..data.files.text import as_read

# Wider tables are no points of series, and smaller ones could be anything.
MOST_COLUMNS, _FEWEST_ROWS = 50, 20

# Points that a series has on average, at least.
_FEWEST_POINTS = 5

# A moment: a date and a time of day.
_MOMENT = r"^\s*\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"


def refuse_series(frame: pl.DataFrame, target: str | None) -> None:
    """Say of a long table of series which verb reads it.

    One column names series, another rises within each of them and begins again (or there are more
    series than classes), and a series has one class.

    Parameters
    ----------
    frame : the table, or its first rows.
    target : column with the classes.
    """
    if target not in frame.columns or frame.width > MOST_COLUMNS or frame.height < _FEWEST_ROWS:
        return
    frame = frame.with_columns(
        as_read(column) for column in frame if column.dtype == pl.String and column.name != target
    )
    names = [name for name in frame.columns if name != target and _may_name(frame[name])]
    for name in names:
        if frame.select(pl.struct(name, target).n_unique()).item() != frame[name].n_unique():
            continue
        for time in frame.columns:
            if time not in (name, target) and _counts_points(frame, name, time, target):
                raise BadUseError(
                    f"this looks like points of series, which {name!r} names and {time!r} counts, "
                    "and not like a row for each thing to decide on: use bayesieve signals DATA "
                    f"--id {name} --time {time} --target {target}."
                )


def _may_name(column: pl.Series) -> bool:
    """Texts or whole numbers, each of which has several rows."""
    if not (column.dtype == pl.String or column.dtype.is_integer()) or column.null_count():
        return False
    return 2 <= column.n_unique() <= len(column) / _FEWEST_POINTS


def _counts_points(frame: pl.DataFrame, name: str, time: str, target: str) -> bool:
    """Does a column rise from row to row of each series, over all of them?"""
    column = frame[time]
    if column.dtype == pl.String:
        if not column.str.contains(_MOMENT).fill_null(False).all():
            return False
    elif not (column.dtype.is_numeric() or column.dtype.is_temporal()) or column.null_count():
        return False
    before = frame.select(
        same=pl.col(name).shift(1).over(name).is_not_null(),
        rises=pl.col(time) > pl.col(time).shift(1).over(name),
    )
    if not before.filter("same")["rises"].all():
        return False
    again = not (column > column.shift(1))[1:].all()
    return again or frame[name].n_unique() > frame[target].n_unique()


def is_moment(column: pl.Series) -> bool:
    """Does a column hold dates with times of day?"""
    if column.dtype == pl.String and column.null_count() < len(column):
        return bool(column.drop_nulls().str.contains(_MOMENT).all())
    return isinstance(column.dtype, pl.Datetime)


def refuse_moments(frame: pl.DataFrame) -> None:
    """Refuse columns of timestamps: they name rows, and tell nothing of new ones.

    Parameters
    ----------
    frame : the columns to learn from.
    """
    for column in frame:
        if is_moment(column):
            raise BadUseError(
                f"column {column.name!r} holds moments in time, which tell nothing of new rows: "
                "name it with --time, or leave it out."
            )
