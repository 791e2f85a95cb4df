"""What is read from a file, and the words for what cannot be read or written."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse


class BadUseError(ValueError):
    """Something that the user can put right: said in one sentence, exit code 2."""


class OutputError(OSError):
    """Something that could not be written: said in one sentence, exit code 1."""


@dataclass(frozen=True)
class Content:
    """A table from a file.

    Attributes
    ----------
    X : polars frame, or sparse matrix in CSR form
        The columns.
    names : list of str
        Their names.
    target : ndarray, polars frame or None
        Classes, or labels, that the file keeps apart from its columns.
    texts : polars frame
        Columns of text beside a sparse matrix.
    open_ended : bool
        Columns x0, x1, ... that the file does not mention are zero everywhere (svmlight).
    """

    X: Any
    names: list[str]
    target: Any = None
    texts: pl.DataFrame = field(default_factory=pl.DataFrame)
    open_ended: bool = False

    @property
    def sparse(self) -> bool:
        """Is the table a sparse matrix?"""
        return bool(scipy.sparse.issparse(self.X))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


def first_line(error: BaseException) -> str:
    """What a library says, in one line."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def some(names: list[str], most: int = 8) -> str:
    """The first of many names."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def whole_numbers(values: Any) -> Any:
    """Floats as integers where all of them are: classes read 1, not 1.0."""
    values = np.asarray(values)
    if values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.rint(values)).all():
        return values.astype(np.int64)
    return values


def unzipped(path: Path) -> tuple[str, bool]:
    """The ending that tells the format, in small letters, and whether the file is gzipped."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    suffixes = suffixes[:-1] if zipped else suffixes
    return (suffixes[-1] if suffixes else ""), zipped
