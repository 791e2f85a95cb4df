"""Arrays in npz files."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

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


def feature_names(arrays: dict[str, NDArray[Any]], n_columns: int) -> list[str]:
    """Names of the columns, beside X in an npz file or made up."""
    given = arrays.get("feature_names")
    if given is None:
        return [f"x{j}" for j in range(n_columns)]
    if given.shape != (n_columns,):
        raise ValueError(f"feature_names must have {n_columns} entries; got shape {given.shape}")
    return [str(each) for each in given]
