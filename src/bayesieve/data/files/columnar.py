"""Files that are stored column by column: Parquet and Arrow."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from .base import Content, FileFormat, check_names, unreadable, unzipped

_ROW_LABELS = r"^__index_level_\d+__$"


@dataclass(frozen=True)
class ColumnarFormat(FileFormat):
    """Parquet and Arrow files, of which columns and slices can be read alone."""

    endings: tuple[str, ...]
    in_blocks = True

    def read(self, path: Path) -> Content:
        """The whole table."""
        try:
            frame = scan(path).collect()
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


def scan(path: Path) -> pl.LazyFrame:
    """Read when it is collected; without the row labels that pandas writes beside the columns."""
    lazy = pl.scan_parquet(path) if unzipped(path)[0] == ".parquet" else pl.scan_ipc(path)
    return lazy.select(pl.exclude(_ROW_LABELS))
