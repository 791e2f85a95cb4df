"""Data sets as users give them to a comparison."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ...data.packed import PackedTable
from ...data.sample import is_label_matrix
from ...data.tables import is_frame
from ...search.checkpoint.fingerprint import fingerprint

_ALLOWED = (
    "data must be a dict of name -> (X, y), a data set with X and y, the name of a data set that "
    "bayesieve.datasets.load knows, or a list of these"
)


@dataclass(frozen=True)
class DataSet:
    """A table and the class of each row, under a name."""

    name: str
    X: Any
    y: NDArray[np.generic]

    @cached_property
    def classes(self) -> NDArray[np.generic]:
        """Its classes, sorted."""
        return np.unique(self.y)

    @property
    def n_columns(self) -> int:
        """Columns of the table."""
        return int(self.X.shape[1])

    @cached_property
    def smallest(self) -> int:
        """Rows of the rarest class."""
        return int(np.unique(self.y, return_counts=True)[1].min())

    def rows(self, which: NDArray[np.int64]) -> Any:
        """Some rows of the table, of the same kind."""
        if isinstance(self.X, PackedTable):
            return self.X.take(which)
        return _safe_indexing(self.X, which)

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same values, wherever it is taken."""
        return fingerprint(_parts(self.X), self.y)


def _parts(X: Any) -> list[object]:
    """What a table is made of, as arrays."""
    if isinstance(X, PackedTable):
        return [X.names, *(X.coded(j)[0] for j in range(len(X.names)))]
    if scipy.sparse.issparse(X):
        rows = scipy.sparse.csr_matrix(X, copy=True)
        rows.sort_indices()
        return [rows.shape, rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data]
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        return [frame.columns, *(frame[name].to_numpy() for name in frame.columns)]
    return [np.asarray(X)]


def read_sets(data: object, folds: int) -> list[DataSet]:
    """The sets, each of them judged."""
    found = [_read(name, each) for name, each in _named(data)]
    if not found:
        raise ValueError(f"{_ALLOWED}; got none. Give at least one.")
    names = [each.name for each in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"data must have names that differ; got {twice!r} twice. Give a dict with a name for "
            "each."
        )
    for each in found:
        if folds > each.smallest:
            raise ValueError(
                f"folds must be at most the number of rows of the rarest class, {each.smallest} in "
                f"{each.name!r}; got {folds}. Use fewer folds, or join rare classes."
            )
    return found


def _named(data: object) -> Iterable[tuple[str, Any]]:
    """Names, and what stands for each."""
    if isinstance(data, Mapping) and not _is_bunch(data):
        return [(str(name), each) for name, each in data.items()]
    if isinstance(data, str) or hasattr(data, "y") or _is_bunch(data) or _is_pair(data):
        data = [data]
    if not isinstance(data, list | tuple):
        raise TypeError(f"{_ALLOWED}; got {type(data).__name__}.")
    found = []
    for i, each in enumerate(data):
        name = each if isinstance(each, str) else getattr(each, "name", f"data {i + 1}")
        found.append((str(name), each))
    return found


def _is_pair(data: object) -> bool:
    """A table and its classes, rather than a list of sets?"""
    return isinstance(data, tuple) and len(data) == 2 and hasattr(data[0], "shape")


def _is_bunch(data: object) -> bool:
    """What scikit-learn's loaders return."""
    return isinstance(data, Mapping) and {"data", "target"} <= set(data)


def _read(name: str, given: Any) -> DataSet:
    if isinstance(given, str):
        # Late: loaders bring many modules, and few comparisons need them.
        from ...datasets.loading import load
        from ...datasets.registry import REGISTRY

        if given not in REGISTRY:
            raise ValueError(
                f"data: {given!r} is not a data set that bayesieve.datasets.load knows; give one "
                f"of those (`bayesieve datasets` lists them), or {name!r}: (X, y)."
            )
        given = load(given)
    if hasattr(given, "X") and hasattr(given, "y"):
        X, y = given.X, given.y
    elif _is_bunch(given):
        X, y = given["data"], given["target"]
    elif isinstance(given, tuple | list) and len(given) == 2:
        X, y = given
    else:
        raise TypeError(f"{_ALLOWED}; got {type(given).__name__} for {name!r}.")
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if scipy.sparse.issparse(X):
        X = X.tocsr()
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError(f"data: X of {name!r} must be a table of rows and columns; got {X!r:.60}.")
    return DataSet(name, X, _read_classes(name, y, int(X.shape[0])))


def _read_classes(name: str, y: object, n_rows: int) -> NDArray[np.generic]:
    if is_label_matrix(y):
        raise ValueError(
            f"data: y of {name!r} must hold one class a row; got a matrix. Compare one label at a "
            "time."
        )
    classes = np.asarray(y)
    classes = classes.ravel() if classes.shape == (n_rows, 1) else classes
    if classes.shape != (n_rows,):
        raise ValueError(
            f"data: y of {name!r} must hold one class for each of the {n_rows} rows of X; got "
            f"shape {classes.shape}."
        )
    missing = classes != classes if classes.dtype.kind in "fO" else np.zeros(n_rows, bool)
    if classes.dtype == object:
        missing = missing | np.array([each is None for each in classes.tolist()])
    if missing.any():
        raise ValueError(
            f"data: y of {name!r} is missing in {int(missing.sum())} row(s); drop or mend them."
        )
    kinds = {type(each) for each in classes.tolist()} if classes.dtype == object else set()
    if len(kinds) > 1:
        raise ValueError(
            f"data: y of {name!r} mixes {' and '.join(sorted(k.__name__ for k in kinds))}; write "
            "all classes as text, or all as numbers."
        )
    if kinds == {str}:
        classes = classes.astype(str)
    if np.unique(classes).size < 2:
        raise ValueError(
            f"data: y of {name!r} must hold at least two classes; got one. Nothing can be told "
            "apart: leave the set out."
        )
    return classes
