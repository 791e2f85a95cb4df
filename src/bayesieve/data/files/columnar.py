"""Parquet, Arrow, NumPy archives and svmlight files."""

import math
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse
from numpy.typing import NDArray

from ...checks import BadUseError
from .base import (
    Content,
    FileFormat,
    NumberedNames,
    check_names,
    check_size,
    check_unpacked,
    check_width,
    unreadable,
    unzipped,
    whole_numbers,
)

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
    """Bytes of a cell of a column as polars has it, and of the code that a model reads."""
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


# -- Arrays in npz files ---------------------------------------------------------------------------


# Parts of a sparse matrix in an npz file, in one format or another.
_PARTS = {"data", "indices", "indptr", "shape", "format", "_is_array", "row", "col", "offsets"}

# What broken files raise, from one library or another.
BROKEN = (ValueError, EOFError, KeyError, TypeError, zlib.error, zipfile.BadZipFile, OSError)


def read_npz(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    """X of an npz file (an array, a sparse matrix, or None), and all its other arrays.

    A sparse matrix is stored in parts as scipy does, or as data, indices, indptr and shape of a CSR
    matrix; other arrays may stand beside it.  Pickled objects are never read.
    """
    with np.load(path, allow_pickle=False) as file:
        if not {"data", "shape"} <= set(file.files):
            arrays = dict(file)
            return arrays.pop("X", None), arrays
        arrays = {key: file[key] for key in file.files if key not in _PARTS}
        if "format" in file.files:
            return scipy.sparse.load_npz(path), arrays
        parts = (file["data"], file["indices"], file["indptr"])
        return scipy.sparse.csr_array(parts, shape=tuple(file["shape"].tolist())), arrays


# A table is held as the file has it, as columns, and as a model reads it.
_NPZ_TIMES = 3


def _size(path: Path) -> int:
    """Bytes of all arrays, as their headers say."""
    total = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as file:
                try:
                    version = np.lib.format.read_magic(file)
                    read = np.lib.format.read_array_header_1_0
                    if version != (1, 0):
                        read = np.lib.format.read_array_header_2_0
                    shape, _, dtype = read(file)
                except ValueError:  # no array, or one that the reader will refuse
                    continue
                total += math.prod(shape) * dtype.itemsize
    return total


def feature_names(arrays: dict[str, NDArray[Any]], n_columns: int) -> list[str]:
    """Names of the columns, beside X in an npz file or made up."""
    given = arrays.get("feature_names")
    if given is None:
        return [f"x{j}" for j in range(n_columns)]
    if given.shape != (n_columns,):
        raise ValueError(f"feature_names must have {n_columns} entries; got shape {given.shape}")
    return [str(each) for each in given]


@dataclass(frozen=True)
class NpzFormat(FileFormat):
    """Arrays in one file; X and, beside it or in the file of labels that belongs to it, y."""

    endings: tuple[str, ...]

    def read(self, path: Path) -> Content:
        """The whole table, dense or sparse."""
        try:
            if not zipfile.is_zipfile(path):
                raise ValueError("it is no archive of arrays; write it with numpy.savez")
            check_size(path, _NPZ_TIMES * _size(path))
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
                    f"{path.name} holds Python objects, which are not read; save texts as arrays "
                    "of numpy's text type (astype(str))."
                ) from error
            raise unreadable(path, error) from error
        if len(set(names)) < len(names):
            raise BadUseError(f"{path.name}: feature_names must differ from each other.")
        if scipy.sparse.issparse(X):
            return Content(scipy.sparse.csr_array(X), names, target)
        return Content(pl.DataFrame(X, schema=names, orient="row"), names, target)


def _target(arrays: dict[str, NDArray[Any]], n_rows: int) -> NDArray[Any] | pl.DataFrame | None:
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


# -- svmlight files --------------------------------------------------------------------------------


_MOST_NUMBER = 2**31 - 1

# Bytes in memory for each byte of the file: an entry of four letters is two numbers, copied once.
_SVMLIGHT_TIMES = 4


@dataclass(frozen=True)
class SvmlightFormat(FileFormat):
    """Sparse rows; columns go by the numbers that the file has for them: x1, x2, ..."""

    endings: tuple[str, ...]
    gzipped = True

    def read(self, path: Path) -> Content:
        """The whole table, as a sparse matrix."""
        from sklearn.datasets import load_svmlight_file

        check_unpacked(path, _SVMLIGHT_TIMES)
        try:
            X, y = load_svmlight_file(str(path), zero_based=True)
        except OverflowError as error:
            raise BadUseError(
                f"{path.name} has a column number above {_MOST_NUMBER}, the largest that is read; "
                "number the columns from 1 on."
            ) from error
        except (ValueError, OSError, EOFError, zlib.error) as error:
            raise unreadable(path, error, "svmlight") from error
        X = scipy.sparse.csr_array(X)
        # Numbers count from 1, as the format asks for, unless there is a column 0.
        first = int(X.shape[1] > 0 and not (X.indices == 0).any())
        names = NumberedNames(range(first, X.shape[1]))
        return Content(X[:, first:], names, whole_numbers(y))
