"""Arrays in npz files."""

import math
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse
from numpy.typing import NDArray

from .base import (
    BadUseError,
    Content,
    FileFormat,
    check_size,
    check_width,
    unreadable,
    whole_numbers,
)

# Parts of a sparse matrix in an npz file, in one format or another.
_PARTS = {"data", "indices", "indptr", "shape", "format", "_is_array", "row", "col", "offsets"}


# What broken files raise, from one library or another.
_BROKEN = (ValueError, EOFError, KeyError, TypeError, zlib.error, zipfile.BadZipFile, OSError)


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
_TIMES = 3


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
            check_size(path, _TIMES * _size(path))
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
