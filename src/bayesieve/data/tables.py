"""Input tables (arrays, frames, sparse matrices), validated and read column by column."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..checks import Array, Bytes, Floats, Ints
from .columns import ColumnSpec, NumberName, count_distinct, encode, is_missing, learn, only_texts
from .storage import IN_MEMORY, NarrowColumns, PackedTable, Panels, Room, TableShape, find_narrow

# Columns of these types are taken as they are, where nothing is missing.
_PLAIN = frozenset(
    (
        *(nw.Boolean, nw.Float32, nw.Float64),
        *(nw.Int8, nw.Int16, nw.Int32, nw.Int64),
        *(nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64),
    )
)

# Frames of so many columns are read as one array where they hold numbers: one by one takes seconds.
_WIDE = 256

# Rows that are looked at before all of a column.
_FIRST = 64

# Texts of which more than this share are distinct, and which are so many, are names of rows.
_UNIQUE, _FEWEST = 0.9, 20

_ABSENT = (None, "")


@dataclass(frozen=True)
class RawTable(TableShape):
    """Columns of numbers (NaN is missing) or of texts (None is missing)."""

    columns: Sequence[Array] | Array
    names: list[str]
    n_rows: int

    @cached_property
    def narrow(self) -> NarrowColumns:
        """The columns of small whole numbers, read when they are first asked for."""
        return find_narrow(self.columns)

    @property
    def binary_codes(self) -> Bytes | None:
        """Codes of all columns, columns x rows, where all hold 0, 1 and missing values (2)."""
        return self.narrow.cells if self.narrow.binary.all() else None

    @cached_property
    def _panels(self) -> Panels:
        assert isinstance(self.columns, np.ndarray)
        return Panels(self.columns)

    def is_text(self, j: int) -> bool:
        """Does a column hold texts?"""
        return not isinstance(self.columns, np.ndarray) and self.columns[j].dtype == object

    def column(self, j: int) -> Array:
        """One column; numbers as float64.  It may be read again: nobody writes into it."""
        if isinstance(self.columns, np.ndarray):
            return self._panels.column(j)
        column = self.columns[j]
        if column.dtype == object:
            return column
        return np.ascontiguousarray(column, dtype=np.float64)

    def is_constant(self, j: int) -> bool:
        """Is one value at most known in a column?"""
        slot = self.narrow.slots[j]
        if slot >= 0:
            return bool(self.narrow.least[slot] >= self.narrow.most[slot])
        column = self.columns[:, j] if isinstance(self.columns, np.ndarray) else self.columns[j]
        # Most columns differ within a few rows.
        return _is_one(column[:_FIRST]) and _is_one(column)

    def is_identifier(self, j: int) -> bool:
        """Does a column hold texts that hardly repeat?"""
        if not self.is_text(j):
            return False
        known = [value for value in self.columns[j] if value not in _ABSENT and value == value]
        return hardly_repeat(len(set(known)), len(known))

    def coded(self, j: int) -> tuple[Array, Bytes | None]:
        """Each value of a column, and which of them every row has; None: row by row as they are."""
        if self.narrow.slots[j] < 0:
            return self.column(j), None
        return self.narrow.coded(j)

    def pick(self, columns: Ints) -> "RawTable":
        """Some columns only."""
        names = [self.names[j] for j in columns]
        if isinstance(self.columns, np.ndarray):
            return RawTable(self.columns[:, columns], names, self.n_rows)
        return RawTable([self.columns[j] for j in columns], names, self.n_rows)

    def take(self, rows: Ints) -> "RawTable":
        """Some rows only."""
        if isinstance(self.columns, np.ndarray):
            return RawTable(self.columns[rows], self.names, rows.size)
        return RawTable([column[rows] for column in self.columns], self.names, rows.size)


def hardly_repeat(n_distinct: int, n_known: int) -> bool:
    """Are so many distinct ones of so many texts the names of rows?"""
    return n_known >= _FEWEST and n_distinct > _UNIQUE * n_known


def _is_one(column: Array) -> bool:
    """Is at most one value known?"""
    if column.dtype == object:
        known = (value for value in column if value not in _ABSENT and value == value)
        first = next(known, None)
        return all(value == first for value in known)
    missing = np.isnan(column) if column.dtype.kind == "f" else np.zeros(column.size, bool)
    found = column[~missing]
    return not found.size or bool((found == found[0]).all())


@dataclass(frozen=True)
class SparseTable(TableShape):
    """A sparse matrix in CSC form: sorted, no entry twice, no zero stored."""

    matrix: Any
    names: list[str]
    n_rows: int

    @property
    def is_sparse(self) -> bool:
        """Always: columns are kept by the rows in which they are not 0."""
        return True

    def is_constant(self, j: int) -> bool:
        """Is a column 0 in all rows, or the same in all?"""
        start, end = self.matrix.indptr[j], self.matrix.indptr[j + 1]
        part = self.matrix.data[start:end]
        return not part.size or (part.size == self.n_rows and bool((part == part[0]).all()))

    def column(self, j: int) -> Floats:
        """One column, zeros filled in."""
        start, end = self.matrix.indptr[j], self.matrix.indptr[j + 1]
        column = np.zeros(self.n_rows)
        column[self.matrix.indices[start:end]] = self.matrix.data[start:end]
        return column

    def coded(self, j: int) -> tuple[Floats, None]:
        """One column, as it is."""
        return self.column(j), None

    def pick(self, columns: Ints) -> "SparseTable":
        """Some columns only."""
        return SparseTable(self.matrix[:, columns], [self.names[j] for j in columns], self.n_rows)

    def take(self, rows: Ints) -> "SparseTable":
        """Some rows only."""
        part = self.matrix.tocsr()[rows].tocsc()
        part.sort_indices()
        return SparseTable(part, self.names, rows.size)


Table = RawTable | SparseTable | PackedTable


def read_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> Table:
    """Check X as scikit-learn does (names, width, finiteness) and give its columns.

    A model that reads no column takes any table: its rows are all that it is asked about.
    """
    if isinstance(X, PackedTable):
        keep_names(estimator, X, reset=reset)
        return X
    if isinstance(X, RawTable | SparseTable):
        return X  # read before, and shared by many fits
    if nw.dependencies.is_polars_lazyframe(X):
        raise TypeError(
            f"X must be a table that is there; got a lazy frame ({type(X).__module__}). Call "
            "collect() first, or bayesieve.engine.pack."
        )
    if is_collection(X):
        raise TypeError(
            "X must be a table in memory here; got a Dask collection, which fit and predict of "
            "NaiveBayes, NaiveBayesSelector and WeightedNaiveBayes read, and rank. Call "
            "X.compute() first."
        )
    if not reset and _reads_nothing(estimator):
        shape = X.shape if hasattr(X, "shape") else _array(X).shape
        if len(shape) != 2 or shape[0] < 1:
            raise ValueError(
                f"X must be a table of at least one row; got the shape {tuple(shape)}."
            )
        return RawTable([], [], shape[0])
    if is_frame(X):
        return _read_frame(estimator, X, reset)
    if isinstance(X, list | tuple) and _array(X).dtype.kind in "US":
        # numpy would turn the numbers among texts into texts.
        X = np.array(X, dtype=object)
    with np.errstate(over="ignore", invalid="ignore"):  # sums of values near the float maximum
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csc",
            dtype=None,
            ensure_all_finite="allow-nan",
        )
    names = _names(estimator, X.shape[1])
    if scipy.sparse.issparse(X):
        return _read_sparse(X, names)
    if X.dtype.kind in "fiub":
        return RawTable(X, names, X.shape[0])
    if X.dtype.kind not in "OUT":
        raise TypeError(f"X: allowed are numbers, booleans and text; got an array of {X.dtype}.")
    columns = [_object_column(name, X[:, j].astype(object)) for j, name in enumerate(names)]
    return RawTable(columns, names, X.shape[0])


def keep_names(estimator: BaseEstimator, X: Any, *, reset: bool) -> None:
    """Let scikit-learn remember (or compare) width and names of X."""
    if not reset and _reads_nothing(estimator):
        return
    if isinstance(X, RawTable):  # of rows that are elsewhere
        X = getattr(X, "face", X)
    if isinstance(X, PackedTable):
        import polars as pl  # whoever packed a table has it

        X = pl.DataFrame(schema=X.names)
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def _reads_nothing(estimator: BaseEstimator) -> bool:
    return getattr(estimator, "n_features_in_", None) == 0


def is_frame(X: Any) -> bool:
    """Is X a data frame that narwhals knows?"""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def is_collection(X: object) -> bool:
    """Is X a collection of Dask?  Dask is not imported to find out."""
    dask = sys.modules.get("dask")
    return dask is not None and not isinstance(X, type) and bool(dask.is_dask_collection(X))


def _names(estimator: BaseEstimator, n_columns: int) -> list[str]:
    known = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_columns)] if known is None else [str(n) for n in known]


def _array(X: Any) -> Array:
    """Nested lists as an array."""
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(
            "X must be a table: rows of equal length, one number, truth value or text a cell; got "
            f"nested sequences of unequal shape ({error})."
        ) from error


def _read_frame(estimator: BaseEstimator, X: Any, reset: bool) -> RawTable:
    try:
        keep_names(estimator, X, reset=reset)
        frame = nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"X has columns of the same name; names must differ. {error}") from error
    if frame.shape[0] < 1 or frame.shape[1] < 1:
        raise ValueError(
            f"X is empty: {frame.shape[0]} sample(s) and {frame.shape[1]} feature(s) "
            f"(shape={frame.shape}) while a minimum of 1 is required."
        )
    names = _names(estimator, frame.shape[1])
    # Arrow's columns are put side by side row by row: one by one is quicker.
    joint = frame.shape[1] >= _WIDE and not frame.implementation.is_pyarrow()
    if joint and all(map(_may_be_number, frame.schema.dtypes())):
        try:
            numbers = np.asarray(frame.to_numpy())
        except Exception:  # a library's own error: such a column is read, or named, below
            numbers = np.empty(0, object)
        if numbers.dtype.kind in "fiub":
            if numbers.dtype.itemsize > 8:  # long doubles: judged as what they are read as
                numbers = numbers.astype(np.float64)
            if numbers.dtype.kind == "f" and not np.isfinite(numbers.sum()):
                for j in np.flatnonzero(np.isinf(numbers).any(0))[:1]:
                    _no_infinity(names[j], numbers[:, j])
            return RawTable(numbers, names, frame.shape[0])
    columns = [_series(str(each.name), each, reset) for each in frame.iter_columns()]
    return RawTable(columns, names, frame.shape[0])


def _read_sparse(X: Any, names: list[str]) -> SparseTable:
    if X.dtype.kind not in "fiub":
        raise TypeError(f"sparse X: allowed are numbers and booleans; got {X.dtype}.")
    matrix = scipy.sparse.csc_array(X)
    if X.dtype.kind == "f" and not np.isfinite(matrix.data).all():
        raise ValueError(
            "Input X is sparse and contains NaN or infinity; allowed are finite numbers. Store a "
            "missing value as zero, or give X as a dense array."
        )
    if not matrix.has_canonical_format or (matrix.data == 0).any():
        # The user's matrix stays as it is.
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return SparseTable(matrix, names, X.shape[0])


def _series(name: str, series: Any, first: bool) -> Array:
    """A column as numbers or texts; `first`: of a fit, whose levels are plain texts."""
    kind = kind_of_column(name, series.dtype)
    if kind == "numbers":
        if series.dtype in _PLAIN:
            values = series.to_numpy()
            if values.dtype.kind in "fiub":  # objects, where some are missing
                return _no_infinity(name, values)
        try:
            values = series.cast(nw.Float64).to_numpy()
        except ValueError:  # arrow does not round integers beyond 2^53; Python does
            values = [np.nan if v is None else float(v) for v in series.to_list()]
        return _no_infinity(name, np.asarray(values, dtype=np.float64))
    if kind == "categories":
        # Categories are names, whatever they are made of; those of later tables can be compared.
        listed = series.to_list()
        numbers = not first and any(isinstance(v, Real | np.bool_) for v in listed)
        name_of = NumberName if numbers else str
        names = [None if v is None or is_nan(v) else name_of(v) for v in listed]
        return np.array(names, dtype=object)
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return _object_column(name, values)


def _may_be_number(dtype: Any) -> bool:
    """May columns of this type be read together, as one array?

    An array of categories or moments can be one of numbers too, so they are told by their type.
    What narwhals has no name for (sparse columns, say) shows by its array.
    """
    return bool(dtype.is_numeric()) or dtype == nw.Boolean or dtype == nw.Unknown


def kind_of_column(name: str, dtype: Any) -> str:
    """What a column of a frame is read as: "numbers", "categories" or "texts"."""
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "numbers"
    if dtype == nw.Categorical or dtype == nw.Enum:
        return "categories"
    if dtype == nw.String or dtype == nw.Object or dtype == nw.Unknown:
        return "texts"
    raise TypeError(
        f"X column {name!r}: allowed are numbers, booleans, text and categories; got {dtype}. "
        "Turn it into one of these first."
    )


def _object_column(name: str, raw: Array) -> Array:
    """Numbers if all values are numbers, texts if all are texts, otherwise an error."""
    if only_texts(raw) and any(v is not None for v in raw.tolist()):
        return raw
    missing = np.array([v is None or (not isinstance(v, str) and is_nan(v)) for v in raw], bool)
    known = raw[~missing]
    if all(isinstance(v, str) for v in known):
        if known.size == 0:
            return np.full(raw.shape, np.nan)
        texts = raw.copy()
        texts[missing] = None
        return texts
    if all(isinstance(v, Real | np.bool_) for v in known):
        numbers = np.full(raw.shape, np.nan)
        try:
            numbers[~missing] = known.astype(np.float64)
        except OverflowError as error:
            raise ValueError(
                f"X column {name!r} holds a whole number beyond the range of floats (about "
                "1.8e308); scale it, or turn it into text."
            ) from error
        return _no_infinity(name, numbers)
    odd = next((v for v in known if not isinstance(v, str | Real | np.bool_)), None)
    got = "text and numbers mixed" if odd is None else f"{type(odd).__name__} ({odd!r})"
    raise TypeError(
        f"X column {name!r}: every argument must be text (a string) or every one a number; got "
        f"{got}. Turn the column into text, categories or numbers first."
    )


def is_nan(value: Any) -> bool:
    """Is a value missing by being unequal to itself, or pandas.NA?"""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # pandas.NA refuses to be compared: it is missing too.
        return type(value).__name__ == "NAType"


def _no_infinity(name: str, values: Array) -> Array:
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise infinity_error(name, int(np.isinf(values).argmax()))
    return values


def infinity_error(name: str, row: int) -> ValueError:
    """What is said of an infinite value."""
    return ValueError(
        f"Input X contains infinity (column {name!r}, row {row}); allowed are finite numbers, and "
        "NaN for missing values."
    )


def read_series(series: Any) -> list[Floats]:
    """Time series as a list of read-only 1-D arrays; NaN and infinity may be inside."""
    if isinstance(series, str | bytes) or not hasattr(series, "__len__"):
        raise TypeError(
            "series must be a list of one-dimensional arrays, or a two-dimensional array; got "
            f"{type(series).__name__}."
        )
    if len(series) == 0:
        raise ValueError("series is empty; give at least one time series.")
    if is_frame(series):
        series = nw.from_native(series, eager_only=True).to_numpy()
    found = []
    for i, x in enumerate(series):
        values = np.asarray(x)
        if values.ndim != 1:
            raise ValueError(
                f"series[{i}] must be one-dimensional; got shape {values.shape}. Give a list of "
                "series, each a sequence of numbers."
            )
        if values.dtype.kind not in "fiubO":
            raise TypeError(f"series[{i}] must hold real numbers; got {values.dtype}.")
        try:
            values = np.ascontiguousarray(values, dtype=np.float64).view()
        except (TypeError, ValueError) as error:
            raise TypeError(f"series[{i}] must hold numbers; got {x!r}.") from error
        values.flags.writeable = False
        found.append(values)
    return found


def room_of(table: Table) -> Room:
    """Where large arrays that are made of a table are put."""
    return table.room if isinstance(table, PackedTable) else IN_MEMORY


# -- What parts of a column tell before any class is looked at -------------------------------------


# Up to so many codes, comparing bytes with each is quicker than counting them in one pass.
_FEW = 8


class Kind(NamedTuple):
    """What a column holds."""

    text: bool
    number: bool  #: any number that is not missing
    odd: float  #: the first number that is neither 0 nor 1; NaN where there is none


class Look(NamedTuple):
    """What a part of a column holds: its kind, each known value, and the weight of its rows."""

    kind: Kind
    values: Array
    counts: NDArray[np.float64 | np.int64]
    below_zero: bool = False  #: a zero below zero, which is written otherwise, is among them


def look(table: RawTable | SparseTable, j: int, repeats: Floats | None = None) -> Look:
    """Look at one column of a part.

    Examples
    --------
    >>> look(RawTable([np.array([0.0, 3.0, np.nan, 3.0])], ["a"], 4), 0)[1:3]
    (array([0., 3.]), array([1, 2]))
    """
    if isinstance(table, RawTable) and table.is_text(j):
        column = table.column(j)
        known = ~is_missing(column)
        weights = np.ones(column.size, np.int64) if repeats is None else repeats
        texts = [str(value) for value in column[known].tolist()]
        values, at = np.unique(np.array(texts, dtype=object), return_inverse=True)
        counts = np.bincount(at.ravel(), weights[known], values.size)
        return Look(Kind(True, False, np.nan), values, counts)
    values, codes = table.coded(j)
    share: Array | None = repeats
    if codes is not None and repeats is None and values.size <= _FEW:
        share = np.array([np.count_nonzero(codes == code) for code in range(values.size)])
    elif codes is not None:
        share = np.bincount(codes, repeats, minlength=values.size)
    values = np.asarray(values, np.float64)
    below_zero = bool(np.signbit(values[values == 0]).any())
    values, weight = count_distinct(values, share)
    odd = values[(values != 0) & (values != 1)]
    kind = Kind(False, values.size > 0, float(odd[0]) if odd.size else np.nan)
    return Look(kind, values, weight, below_zero)


def merge_kinds(name: str, kinds: Sequence[Kind]) -> Kind:
    """What all parts of a column hold; text and numbers do not mix."""
    text = any(kind.text for kind in kinds)
    if text and any(kind.number for kind in kinds):
        raise TypeError(
            f"X column {name!r}: every argument must be text (a string) or every one a number; got "
            "text in one partition and numbers in another. Turn the column into text, categories "
            "or numbers first."
        )
    odd = [kind.odd for kind in kinds if not np.isnan(kind.odd)]
    return Kind(text, any(kind.number for kind in kinds), odd[0] if odd else np.nan)


def sample_of(kinds: Sequence[Kind], names: Sequence[str]) -> RawTable:
    """A row that tells which models each column allows."""
    columns = []
    for kind in kinds:
        if kind.text:
            columns.append(np.array(["text"], dtype=object))
        else:
            value = kind.odd if not np.isnan(kind.odd) else 1.0 if kind.number else np.nan
            columns.append(np.array([value]))
    return RawTable(columns, list(names), 1)


def learn_from(
    name: str,
    model: str,
    looks: Sequence[Look],
    discrete: bool,
    grid_codes: int,
    presence: bool = False,
) -> ColumnSpec:
    """What a column is like, from all its parts: the same as from the whole of it."""
    text = any(each.kind.text for each in looks)
    # A part without a single known value says nothing of a column of texts.
    known = [each for each in looks if each.kind.text or not text]
    values = np.concatenate([each.values for each in known]) if known else np.empty(0)
    counts = np.concatenate([each.counts for each in known]) if known else np.empty(0, np.int64)
    return learn(name, model, values, discrete, False, presence, grid_codes, counts)


def encode_from(spec: ColumnSpec, table: RawTable | SparseTable, j: int) -> Array:
    """Codes of one column of a part."""
    text = isinstance(table, RawTable) and table.is_text(j)
    values, codes = (table.column(j), None) if text else table.coded(j)
    assert spec.levels is not None
    if spec.levels.dtype == object and values.dtype != object:
        values = np.full(values.shape, None, dtype=object)  # nothing is known in this part
    column = encode(spec, values)
    if codes is None:
        return column
    # Mostly a part has all values of its column, and its codes are those of the whole.
    return codes if np.array_equal(column, np.arange(column.size)) else column[codes]
