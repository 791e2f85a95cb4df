"""A table from a file, by the ending of its name."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse

from .arff import read_arff
from .base import (
    BadUseError,
    Content,
    NumberedNames,
    check_width,
    first_line,
    unzipped,
    whole_numbers,
)
from .npz import feature_names, read_npz
from .text import TextTable

#: What separates the cells of text files, by their ending.
SEPARATORS = {".csv": ",", ".tsv": "\t"}

SVMLIGHT = (".svm", ".svmlight", ".libsvm")

COLUMNAR = (".parquet", ".arrow", ".feather", ".ipc")

_GZIPPED = (*SEPARATORS, ".arff", *SVMLIGHT)


_MOST_NUMBER = 2**31 - 1


_ALL = (*SEPARATORS, *COLUMNAR, ".arff", *SVMLIGHT, ".npz")


def format_of(path: Path) -> str:
    """The ending that tells how to read a file that is there."""
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise BadUseError(f"the file {str(path)!r} {what}.")
    ending, zipped = unzipped(path)
    if ending not in (_GZIPPED if zipped else _ALL):
        allowed = ", ".join(_ALL)
        raise BadUseError(
            f"the ending of {path.name!r} is unknown; allowed are {allowed}, and .gz after "
            f"{', '.join(_GZIPPED)}."
        )
    return ending


def read_data(path: Path) -> Content:
    """The whole table of a file.

    CSV and TSV (also gzipped), Parquet, Arrow, ARFF (also gzipped), svmlight (also gzipped), npz.
    """
    ending = format_of(path)
    if ending in SEPARATORS:
        frame = TextTable(path, SEPARATORS[ending]).whole()
        content = Content(frame, frame.columns)
    elif ending in COLUMNAR:
        try:
            frame = scan(path, ending).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(path, ending, error) from error
        content = Content(frame, frame.columns)
    elif ending == ".arff":
        content = read_arff(path)
    elif ending == ".npz":
        content = _read_npz(path)
    else:
        content = _read_svmlight(path)
    if not content.n_rows:
        raise BadUseError(f"{path.name} has no rows.")
    return content


def scan(path: Path, ending: str) -> pl.LazyFrame:
    """A Parquet or Arrow file, read when it is collected."""
    return pl.scan_parquet(path) if ending == ".parquet" else pl.scan_ipc(path)


def unreadable(path: Path, ending: str, error: BaseException) -> BadUseError:
    """What to say of a file that a library gave up on."""
    return BadUseError(f"{path.name} cannot be read as {ending[1:]}: {first_line(error)}.")


def _read_svmlight(path: Path) -> Content:
    """Columns go by the numbers that the file has for them: x1, x2, ..."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path), zero_based=True)
    except OverflowError as error:
        raise BadUseError(
            f"{path.name} has a column number above {_MOST_NUMBER}, the largest that is read; "
            "number the columns from 1 on."
        ) from error
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise unreadable(path, ".svmlight", error) from error
    X = scipy.sparse.csr_array(X)
    # Numbers count from 1, as the format asks for, unless there is a column 0.
    first = int(X.shape[1] > 0 and not (X.indices == 0).any())
    names = NumberedNames(range(first, X.shape[1]))
    return Content(X[:, first:], names, whole_numbers(y), open_ended=True)


def _read_npz(path: Path) -> Content:
    """X, dense or sparse, and the target beside it or in the file of labels that belongs to it."""
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("it is no archive of arrays; write it with numpy.savez")
        X, arrays = read_npz(path)
        beside = path.with_name(path.name[: -len("_X.npz")] + "_labels.npz")
        if path.name.endswith("_X.npz") and not {"y", "Y"} & set(arrays) and beside.is_file():
            arrays = {**read_npz(beside)[1], **arrays}
        if X is None or X.ndim != 2 or X.dtype.kind not in "fiubUO":
            raise ValueError("it must hold a table X, or the parts of a sparse matrix")
        check_width(X.shape[1])
        names = feature_names(arrays, X.shape[1])
        target = _target(arrays, X.shape[0])
    except BadUseError:
        raise
    except (ValueError, OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        if "allow_pickle" in str(error):
            raise BadUseError(
                f"{path.name} holds Python objects, which are not read; save texts as arrays of "
                "numpy's text type (astype(str))."
            ) from error
        raise unreadable(path, ".npz", error) from error
    if len(set(names)) < len(names):
        raise BadUseError(f"{path.name}: feature_names must differ from each other.")
    if scipy.sparse.issparse(X):
        return Content(scipy.sparse.csr_array(X), names, target)
    return Content(pl.DataFrame(X, schema=names, orient="row"), names, target)


def _target(arrays: dict[str, Any], n_rows: int) -> Any:
    """Classes, a frame of labels, or None."""
    y = arrays.get("Y", arrays.get("y"))
    if y is None:
        return None
    if y.shape[:1] != (n_rows,) or y.ndim > 2:
        raise ValueError(f"y must have {n_rows} rows, as X has; got shape {y.shape}")
    if y.ndim == 1:
        return whole_numbers(y)
    labels = arrays.get("label_names", np.array([f"label{j}" for j in range(y.shape[1])]))
    return pl.DataFrame(np.asarray(y), schema=[str(each) for each in labels], orient="row")
