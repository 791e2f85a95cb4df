"""Dask collections: partitioned tables that are read lazily."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Number

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from ..checks import Foreign
from .tables import RawTable, SparseTable, read_table


@dataclass(frozen=True)
class Collection:
    """A table in parts."""

    parts: tuple[Foreign, ...]  #: each reads the rows of a part, when it is computed
    names: tuple[Foreign, ...]  #: of the columns, as the parts have them
    face: Foreign  #: a table of no rows with the same names and types
    target: Foreign = None  #: the column that holds the classes; None where there is none
    beside: tuple[str, ...] = ()  #: names of columns that parts have and the table has not

    @property
    def columns(self) -> tuple[tuple[Foreign, ...], tuple[str, ...]]:
        """What a part must have: columns of the table, and others beside them."""
        return self.names, self.beside

    @property
    def column_names(self) -> list[str]:
        """What columns are called."""
        return column_names(self.names)


def column_names(names: Sequence[Foreign]) -> list[str]:
    """What columns are called, as in memory: those that are numbered rather than named, by x0 on.

    Examples
    --------
    >>> column_names(["age", "sex"]), column_names([0, 1])
    (['age', 'sex'], ['x0', 'x1'])
    """
    named = all(isinstance(name, str) for name in names)
    return [str(name) if named else f"x{j}" for j, name in enumerate(names)]


def read_collection(X: Foreign, y: Foreign = None) -> Collection:
    """Validate a collection, before any of its rows is read.

    X is a dask.dataframe, or a two-dimensional dask.array in chunks of rows; y may name the column
    that holds the classes.
    """
    known = type(X)  # what is delayed says yes to every name
    if hasattr(known, "chunks") and hasattr(known, "dtype"):
        return _of_array(X, y)
    if not (hasattr(known, "to_delayed") and hasattr(known, "columns")) or hasattr(known, "name"):
        raise TypeError(
            "X must be a dask.dataframe.DataFrame or a two-dimensional dask.array; got "
            f"{type(X).__module__}.{type(X).__name__}."
        )
    names = list(X.columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has columns of the same name ({twice!r}); names must differ.")
    if isinstance(y, Number):
        raise TypeError(
            f"y must be the name of a column (text), or one class a row; got {y!r}. Name the "
            "columns of X by text, or give y=X[...] and an X without that column."
        )
    target = None
    if isinstance(y, str):
        if y not in names:
            raise ValueError(f"y={y!r} names no column of X; its columns are {_listed(names)}.")
        target = X[y]
        names.remove(y)
    if not names:
        raise ValueError("X has no column beside the classes; give at least one.")
    face = X.dtypes.to_frame().T.iloc[:0][names]
    whole = () if target is None else (y,)
    return Collection(tuple(X.to_delayed()), tuple(names), face, target, whole)


def _of_array(X: Foreign, y: Foreign) -> Collection:
    if isinstance(y, str):
        raise TypeError(f"y={y!r} names a column, but a dask.array has no names; give an array.")
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; got {X.ndim}.")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"X: allowed are numbers and booleans in a dask.array; got {X.dtype}.")
    if np.isnan(X.shape[1]):
        raise ValueError("X has an unknown number of columns; call X.compute_chunk_sizes() first.")
    blocks = X.to_delayed()
    if X.numblocks[1] > 1:
        from dask import delayed

        parts = tuple(delayed(join_blocks, pure=False)(list(row)) for row in blocks)
    else:
        parts = tuple(blocks.ravel())
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Collection(parts, names, np.empty((0, X.shape[1]), X.dtype))


def _listed(names: Sequence[object]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown + (", ..." if len(names) > 8 else "")


def join_blocks(blocks: Sequence[Foreign]) -> Foreign:
    """Blocks of the same rows side by side, dense or sparse."""
    blocks = [as_plain(block) for block in blocks]
    if any(map(scipy.sparse.issparse, blocks)):
        return scipy.sparse.hstack(blocks, format="csr")
    return np.concatenate(blocks, axis=1)


def as_plain(values: Foreign) -> Foreign:
    """What the package `sparse` keeps, as scipy does; all else as it is."""
    if not hasattr(values, "to_scipy_sparse"):
        if not (hasattr(values, "to_coo") and hasattr(values, "fill_value")):
            return values
        values = values.to_coo()  # of keys and values
    left_out = getattr(values, "fill_value", 0)
    if left_out != 0:
        raise ValueError(
            "sparse chunks must leave out zeros only (fill_value=0), these leave out "
            f"{left_out}: make them dense, X.map_blocks(lambda block: block.todense())"
        )
    return values.to_scipy_sparse()


def read_part(
    part: Foreign, columns: tuple[Sequence[Foreign], Sequence[str]], number: int
) -> RawTable | SparseTable | None:
    """The rows of a part; None where it has none.

    It must have the `columns`: names of the table, and of those beside it.
    """
    names, beside = columns
    if not hasattr(part, "shape") or not hasattr(part, "ndim"):
        raise TypeError(
            f"chunk {number} of X must be an array or a sparse matrix; got {type(part).__name__}. "
            "Let the function behind it return np.asarray(...)."
        )
    if hasattr(part, "columns"):
        here = [name for name in part.columns if name not in beside]
        if here != list(names):
            raise ValueError(
                f"partition {number} of X has the columns {_listed(here)}, but the collection has "
                f"{_listed(list(names))}; all partitions must have the same."
            )
        part = part[here]
    if part.ndim != 2 or part.shape[1] != len(names):
        raise ValueError(
            f"chunk {number} of X has the shape {part.shape}, but the array has {len(names)} "
            "columns; all chunks must have the same columns."
        )
    if part.shape[0] == 0:
        return None
    try:
        table = read_table(BaseEstimator(), as_plain(part), reset=True)
    except (TypeError, ValueError) as error:
        # Rows are counted from the first of the part.
        raise type(error)(f"partition {number} of X: {error}") from error
    assert isinstance(table, RawTable | SparseTable)
    return replace(table, names=column_names(names))


def as_values(values: Foreign) -> Foreign:
    """One value a row, out of whatever a collection was computed to.

    Labels keep their names, or stay sparse.
    """
    values = as_plain(values)
    # Of a frame or a series classes keep their type, as in memory.
    if scipy.sparse.issparse(values) or hasattr(values, "to_numpy"):
        return values
    return np.asarray(values)
