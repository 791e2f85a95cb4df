"""Series in files: one table of all of them, or a folder with a file each."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ..series import SeriesTable
from .base import BadUseError
from .formats import FORMATS, read_data

#: What a folder's files are told apart by: their names without the ending.
_ID = "file"


def read_series_folder(
    folder: Path, *, time: str | None = None, values: Sequence[str] | None = None
) -> SeriesTable:
    """Series of a folder, a file each, in the order of the files' names.

    Parameters
    ----------
    folder : where the files are; those of other endings are passed over.
    time : column that says when; without one the rows are in order.
    values : columns of values, one a channel; all but the time by default.

    Returns
    -------
    table : SeriesTable
        Its ids are the names of the files without the ending.
    """
    if not folder.is_dir():
        raise BadUseError(f"{str(folder)!r} is not a folder.")
    endings = tuple(each for found in FORMATS for each in found.endings)
    paths = sorted(path for path in folder.iterdir() if path.name.lower().endswith(endings))
    if not paths:
        raise BadUseError(f"{str(folder)!r} has no file that ends in {', '.join(endings)}.")
    parts: list[pl.DataFrame] = []
    for path in paths:
        frame = read_data(path).X
        if not isinstance(frame, pl.DataFrame):
            raise BadUseError(f"{path.name} holds a sparse matrix, and no series.")
        wanted = frame.columns if values is None else [*([] if time is None else [time]), *values]
        missing = [name for name in wanted if name not in frame.columns]
        if missing or (parts and wanted != parts[0].columns[1:]):
            raise BadUseError(
                f"{path.name} has the columns {', '.join(frame.columns)}; "
                + (f"{missing[0]!r} is not there." if missing else f"{paths[0].name} has others.")
            )
        parts.append(frame.select(pl.lit(path.stem).alias(_ID), *wanted))
    whole = pl.concat(parts, how="vertical_relaxed")
    return SeriesTable.from_long(whole, id=_ID, time=time)
