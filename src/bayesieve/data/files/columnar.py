"""Files that are stored column by column: Parquet and Arrow."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from .base import Content, FileFormat, check_names, check_size, unreadable, unzipped

_ROW_LABELS = r"^__index_level_\d+__$"


@dataclass(frozen=True)
class ColumnarFormat(FileFormat):
    """Parquet and Arrow files, of which columns and slices can be read alone."""

    endings: tuple[str, ...]
    in_blocks = True

    def read(self, path: Path) -> Content:
        """The whole table."""
        try:
            lazy = scan(path)
            height = lazy.select(pl.len()).collect().item()
            check_size(path, height * sum(map(_bytes_a_cell, lazy.collect_schema().dtypes())))
            frame = lazy.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(path, error) from error
        return Content(frame, frame.columns)

    def blocks(self, path: Path, names: list[str], most_rows: int) -> Iterator[pl.DataFrame]:
        """Some rows of these columns after the other."""
        try:
            lazy = scan(path)
            check_names(names, lazy.collect_schema().names())
            height = lazy.select(pl.len()).collect().item()
            for at in range(0, height, most_rows):
                yield lazy.select(names).slice(at, most_rows).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(path, error) from error


def _bytes_a_cell(dtype: pl.DataType) -> float:
    """Of a column as polars has it, and of the codes that a model reads."""
    if dtype == pl.Boolean:
        return 1.125
    if dtype == pl.String:
        return 17.0  # a pointer and a length; short texts are in there
    bits = re.search(r"\d+", str(dtype)) if dtype.is_numeric() else None
    return 1.0 + (int(bits[0]) / 8 if bits else 4.0)


def scan(path: Path) -> pl.LazyFrame:
    """Read when it is collected; without the row labels that pandas writes beside the columns."""
    lazy = pl.scan_parquet(path) if unzipped(path)[0] == ".parquet" else pl.scan_ipc(path)
    return lazy.select(pl.exclude(_ROW_LABELS))
