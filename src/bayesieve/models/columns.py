"""A table whose columns are judged, learnt and encoded once, for many fits on some of its rows."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import choose, column_indices
from ..data.columns import ColumnSpec, encode, is_missing, learn, to_codes
from ..data.packed import PackedTable
from ..data.sparse import Moves, from_codes, present
from ..data.tables import RawTable, SparseTable, Table
from .base import TrainingSets
from .registry import MODELS

# Rows among which a known value is looked for first, and columns that a warning names.
_FEW, _NAMED = 64, 5


@dataclass(frozen=True)
class Known:
    """What all rows told about the columns.

    Parameters
    ----------
    models : the feature model of each column.
    specs : levels and resolution, by column and whether its values are rounded.
    codes : codes of all rows of the discrete columns of a dense table.
    """

    models: tuple[str, ...]
    specs: dict[tuple[int, bool], ColumnSpec] = field(default_factory=dict)
    codes: dict[int, NDArray[Any]] = field(default_factory=dict)


class Unpacked(Sequence[NDArray[Any]]):
    """Columns of a packed table, each unpacked when it is read."""

    def __init__(self, table: PackedTable):
        self._table = table

    def __len__(self) -> int:
        return len(self._table.names)

    def __getitem__(self, j: Any) -> Any:
        return self._table.column(j)


@dataclass(frozen=True)
class SharedTable(RawTable):
    """Some rows of a dense table, which stays where it is."""

    known: Known
    at: NDArray[np.int64] | None = None  #: the rows; None for all

    def column(self, j: int) -> NDArray[Any]:
        """One column; numbers as float64."""
        column = super().column(j)
        return column if self.at is None else column[self.at]

    def coded(self, j: int) -> tuple[NDArray[Any], None]:
        """One column, as it is."""
        return self.column(j), None

    def codes(self, j: int) -> NDArray[Any]:
        """Codes of a discrete column."""
        codes = self.known.codes[j]
        return codes if self.at is None else codes[self.at]

    def take(self, rows: NDArray[np.int64]) -> "SharedTable":
        """Some rows only, without a copy of them."""
        at = rows if self.at is None else self.at[rows]
        return replace(self, at=at, n_rows=rows.size)

    def pick(self, columns: NDArray[np.int64]) -> RawTable:
        """Some columns only."""
        found = [self.column(int(j)) for j in columns]
        return RawTable(found, [self.names[j] for j in columns], self.n_rows)


@dataclass(frozen=True)
class SharedSparse(SparseTable):
    """Some rows of a sparse table, whose columns are known from all rows."""

    known: Known

    def take(self, rows: NDArray[np.int64]) -> "SharedSparse":
        """Some rows only."""
        part = super().take(rows)
        return SharedSparse(part.matrix, part.names, part.n_rows, self.known)


def share(table: Table, models: list[str], rounded: bool = False) -> SharedTable | SharedSparse:
    """Learn and encode all columns, so that fits on some of the rows need not."""
    known = Known(tuple(models))
    shared: SharedTable | SharedSparse
    if isinstance(table, SparseTable):
        shared = SharedSparse(table.matrix, table.names, table.n_rows, known)
    else:
        columns = Unpacked(table) if isinstance(table, PackedTable) else table.columns
        shared = SharedTable(columns, table.names, table.n_rows, known)
    for j, model in enumerate(models):
        discrete = MODELS[model].discrete
        if isinstance(shared, SharedSparse) and model == "bernoulli":
            continue  # presence: nothing is learnt
        raw = shared.column(j)
        for each in {False, bool(rounded and not discrete)}:
            known.specs[j, each] = learn(table.names[j], model, raw, discrete, each)
        if discrete and isinstance(shared, SharedTable):
            known.codes[j] = encode(known.specs[j, False], raw)
    return shared


def read_column(
    table: Table, j: int, model: str, rounded: bool = False, presence: bool = False
) -> tuple[ColumnSpec, NDArray[Any]]:
    """What a column is like, and its values as the models read them.

    Parameters
    ----------
    table, j : which column.
    model : its feature model.
    rounded : round continuous values to multiples of the resolution.
    presence : of a bernoulli column of a sparse table: every value but 0 counts as 1.
    """
    discrete = MODELS[model].discrete
    if isinstance(table, SharedTable | SharedSparse) and table.known.models[j] == model:
        spec = table.known.specs.get((j, rounded and not discrete))
        if spec is not None and discrete and isinstance(table, SharedTable):
            return spec, table.codes(j)
        if spec is not None:
            return spec, encode(spec, table.column(j))
    # What is the same for equal values is done once.
    values, codes = table.coded(j)
    spec = learn(table.names[j], model, values, discrete, rounded, presence)
    column = encode(spec, values)
    if codes is None:
        return spec, column
    # Codes of the table are those of the model, as a rule.
    same = column.dtype == codes.dtype and (column == np.arange(column.size)).all()
    return spec, codes if same else column[codes]


def warn_of_unknown(specs: Sequence[ColumnSpec], table: Table, stacklevel: int = 4) -> None:
    """Name the columns that hold values, none of which was known to the fit.

    Parameters
    ----------
    specs : what the fit learnt of each column of `table`.
    table : rows to predict.
    stacklevel : whose line the warning shows; by default the caller of a method two calls above.
    """
    discrete = [j for j, spec in enumerate(specs) if spec.levels is not None and not spec.presence]
    # A known value shows soon, as a rule: all rows are looked at only where the first few are new.
    few = table
    if table.n_rows > _FEW and not isinstance(table, SparseTable):
        few = table.take(np.arange(_FEW))
    for part in (few, table):
        discrete = [j for j in discrete if _unknown(specs[j], part, j, part is table)]
    if not discrete:
        return
    names = [repr(specs[j].name) for j in discrete]
    listed = ", ".join(names[:_NAMED]) + (
        f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)
    )
    first = discrete[0]
    got = next(v for v in table.coded(first)[0].tolist() if v is not None and v != "" and v == v)
    warnings.warn(
        f"X holds no value that fit has seen in {listed} (got {got!r}, for one, where fit saw "
        f"{_some(specs[first])}): such a column says nothing. Give it the kind of values it had in "
        "fit.",
        UserWarning,
        stacklevel=stacklevel,
    )


def _unknown(spec: ColumnSpec, table: Table, j: int, whole: bool) -> bool:
    """Is no value of the column known (and, of the whole table, is there any value)?"""
    values = table.coded(j)[0]
    return not (encode(spec, values) < spec.n_codes - 1).any() and not (
        whole and is_missing(values).all()
    )


def _some(spec: ColumnSpec) -> str:
    """A few levels, for a message."""
    assert spec.levels is not None
    levels = [repr(level) for level in spec.levels.tolist()]
    return ", ".join(levels[:3]) + (", ..." if len(levels) > 3 else "") if levels else "no value"


def read_moves(
    table: Table, models: Sequence[str], rounded: bool = False
) -> tuple[Moves, list[ColumnSpec], list[NDArray[Any] | None]]:
    """All columns by their moves; the numbers behind the codes of continuous ones."""
    sparse = isinstance(table, SparseTable)
    if isinstance(table, SparseTable) and set(models) == {"bernoulli"}:
        nothing = np.empty(0)
        specs = [learn(name, "bernoulli", nothing, True, presence=True) for name in table.names]
        return present(table.matrix), specs, [None] * len(specs)
    specs, columns, n_codes = [], [], []
    values: list[NDArray[Any] | None] = []
    for j, model in enumerate(models):
        spec, column = read_column(table, j, model, rounded, sparse)
        numbers = None
        if not MODELS[model].discrete:
            distinct = np.unique(column[~np.isnan(column)])
            numbers = np.append(distinct, np.nan)
            column = to_codes(distinct, column)
        specs.append(spec)
        values.append(numbers)
        columns.append(column)
        n_codes.append(spec.n_codes if numbers is None else numbers.size)
    return from_codes(columns, n_codes), specs, values


def count_present(
    table: Table, problems: Sequence[TrainingSets]
) -> list[NDArray[np.float64]] | None:
    """Statistics of all columns of a sparse table by presence, for each problem; None if dense."""
    from .kernels.counting import count_moves

    if not isinstance(table, SparseTable):
        return None
    entries = present(table.matrix).of_rows(np.arange(table.n_rows))
    n_columns = table.matrix.shape[1]
    nowhere = np.zeros(table.n_rows + 1, np.int64)
    found = []
    for sets in problems:
        ones = np.empty((n_columns, 1, sets.n_classes))
        count_moves(
            entries.pointers,
            entries.lines,
            entries.kinds,
            np.arange(n_columns + 1),
            sets.labels[:, None],
            sets.weights,
            nowhere,
            np.empty(0, np.int64),
            ones,
        )
        counts = np.zeros((n_columns, 1, 3, sets.n_classes))
        counts[:, :, 1] = ones
        counts[:, :, 0] = sets.class_counts - ones
        found.append(counts)
    return found


_BINARY = (0.0, 1.0)

# What columns hold whose values need not be looked at one by one.
_ZERO_ONE, _SOME_NUMBER = np.array(_BINARY), np.array([0.5])


def choose_models(features: Any, X: Table) -> list[str]:
    """The feature model of every column, from "auto", a name, or a mapping of columns to names."""
    if isinstance(X, SharedTable | SharedSparse):
        return list(X.known.models)
    n_columns = len(X.names)
    if isinstance(features, str):
        choose("features", features, ["auto", *MODELS])
        asked = [features] * n_columns
    elif isinstance(features, Mapping):
        asked = ["auto"] * n_columns
        for key, model in features.items():
            choose(f"features[{key!r}]", model, ["auto", *MODELS])
            for j in column_indices(f"features key {key!r}", [key], X.names):
                asked[j] = model
    else:
        raise TypeError(
            "features must be 'auto', the name of a feature model, or a mapping of column names or "
            f"numbers to such names; got {type(features).__name__}."
        )
    if isinstance(X, SparseTable):
        # Presence, unless something else is asked for: any value may stand in a sparse column.
        return ["bernoulli" if model == "auto" else model for model in asked]
    if isinstance(X, RawTable) and not isinstance(X, SharedTable):
        return [_model_in(X, j, model) for j, model in enumerate(asked)]
    return [_model_of(X.coded(j)[0], X.names[j], asked[j]) for j in range(n_columns)]


def _model_in(table: RawTable, j: int, asked: str) -> str:
    """The same as `_model_of` for a column of a table in memory, by a look at few of its values."""
    narrow, slot = table.narrow, table.narrow.slots[j]
    if slot >= 0 and narrow.most[slot] <= 1:
        raw = _ZERO_ONE
    elif slot >= 0:
        raw = narrow.coded(j)[0]
    elif narrow.doubtful[j] or table.is_text(j) or asked == "bernoulli":
        raw = table.column(j)
    else:
        raw = _SOME_NUMBER
    return _model_of(raw, table.names[j], asked)


def check_batch(model: str, raw: NDArray[Any], name: str, levels: Any = None) -> None:
    """A later batch must fit the model, and the kind of levels, its column got from the first."""
    _model_of(raw, name, model)
    if levels is not None and levels.size and (raw.dtype == object) != (levels.dtype == object):
        kinds = ("text", "numbers") if levels.dtype == object else ("numbers", "text")
        raise ValueError(f"column {name!r} held {kinds[0]} in the first batch; got {kinds[1]}.")


def _model_of(raw: NDArray[Any], name: str, asked: str) -> str:
    """The model asked for if the column allows it; for "auto", the one that suits it."""
    text = raw.dtype == object
    binary = not text and bool(((raw == 0) | (raw == 1) | np.isnan(raw)).all())
    if asked == "auto":
        return "categorical" if text else "bernoulli" if binary else "gaussian"
    if asked == "bernoulli" and not binary:
        odd = "text" if text else f"{raw[~np.isin(raw, _BINARY) & ~np.isnan(raw)][0]:g}"
        raise ValueError(
            f"column {name!r} is modelled as 'bernoulli', which allows 0, 1 and missing; got "
            f"{odd}. Use 'categorical' or 'gaussian', or binarise it first."
        )
    if text and not MODELS[asked].discrete:
        raise ValueError(
            f"column {name!r} is modelled as {asked!r}, which needs numbers; got text. "
            "Use 'categorical'."
        )
    return asked
