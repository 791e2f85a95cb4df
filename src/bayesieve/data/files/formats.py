"""File formats by the endings of their names: one member a file, one line each here."""

from pathlib import Path

from .arff import ArffFormat
from .base import BadUseError, Content, FileFormat, unzipped
from .columnar import ColumnarFormat, NpzFormat, SvmlightFormat
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
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise BadUseError(f"the file {str(path)!r} {what}.")
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
