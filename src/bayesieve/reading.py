"""Tables and targets as the estimators read them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .models import MODELS, Targets, TrainingSets
from .rankings import MixedColumns
from .validation import (
    PackedTable,
    SparseTable,
    Table,
    check_several_classes,
    is_label_matrix,
    read_column,
    read_labels,
    read_table,
    read_target,
    read_weights,
)
from .views.columns import ColumnSpec, learn, to_codes
from .views.moves import Moves, from_codes, present
from .views.packed import Room

# Combinations of labels in fewer rows are split together: with some label, or with none.
_RARE = 10


class Reading(NamedTuple):
    """The judged input of a fit: rows with a positive weight."""

    table: Table
    targets: Targets
    labels: NDArray[np.int64]  #: class of every row; with labels, which combination it has
    weights: NDArray[np.float64]
    classes: NDArray[Any]
    rows: NDArray[np.int64]  #: rows of X behind them

    @property
    def strata(self) -> NDArray[np.int64]:
        """What splits keep in balance: classes; of labels, combinations that are not rare."""
        if not self.targets.labelled:
            return self.labels
        rare = np.bincount(self.labels) < _RARE
        kinds = np.where(rare, self.targets.positive[self._first], np.arange(rare.size) + 2)
        return np.unique(kinds[self.labels], return_inverse=True)[1].astype(np.int64)

    @property
    def _first(self) -> NDArray[np.int64]:
        """The first row of each class or combination."""
        return np.unique(self.labels, return_index=True)[1]


def read_input(
    estimator: Any, X: Any, y: Any, sample_weight: Any, known: Any = None, reset: bool = True
) -> Reading:
    """Judge X, y and the weights; rows without weight are gone.

    Parameters
    ----------
    estimator : who reads; keeps width and names of X.
    X, y, sample_weight : as users give them.
    known : the classes of an earlier batch, or None.
    reset : is this the first batch?
    """
    table = read_table(estimator, X, reset=reset)
    weights = read_weights(sample_weight, table)
    rows = np.flatnonzero(weights > 0)
    if is_label_matrix(y):
        targets = read_labels(y, table.n_rows).take(rows)
        # Rows with the same labels are alike to whoever splits them.
        labels = np.unique(targets.classes, axis=0, return_inverse=True)[1].ravel()
        table = table if rows.size == table.n_rows else table.take(rows)
        labels = labels.astype(np.int64)
        return Reading(table, targets, labels, weights[rows], np.array([0, 1]), rows)
    classes, labels = read_target(y, table.n_rows)
    if known is not None:
        unknown = np.setdiff1d(classes, known)
        if unknown.size:
            raise ValueError(
                f"y holds {unknown.tolist()}, which are not among the classes "
                f"{np.asarray(known).tolist()} of the first call to partial_fit."
            )
        labels = np.searchsorted(known, classes)[labels]
        classes = np.asarray(known)
    if rows.size < table.n_rows:
        # A weight of 0 is the same as a row that is not there.
        table = table.take(rows)
        labels, weights = labels[rows], weights[rows]
        if known is None:
            left, labels = np.unique(labels, return_inverse=True)
            classes = classes[left]
    check_several_classes(classes)
    labels = labels.astype(np.int64)
    targets = Targets(labels[:, None], len(classes), (str(classes[-1]),))
    return Reading(table, targets, labels, weights, classes, rows)


def room_of(table: Table) -> Room:
    """Where large arrays that are made of a table are put."""
    return table.room if isinstance(table, PackedTable) else Room()


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
    from .kernels.moves import count_moves

    if not isinstance(table, SparseTable):
        return None
    entries = present(table.matrix).of_rows(np.arange(table.n_rows))
    n_columns = table.matrix.shape[1]
    nowhere = np.zeros(table.n_rows + 1, np.int64)
    found = []
    for sets in problems:
        ones = np.empty((n_columns, 1, sets.n_classes))
        count_moves(
            entries.pointers, entries.lines, entries.kinds, np.arange(n_columns + 1),
            sets.labels[:, None], sets.weights, nowhere, np.empty(0, np.int64), ones,
        )  # fmt: skip
        counts = np.zeros((n_columns, 1, 3, sets.n_classes))
        counts[:, :, 1] = ones
        counts[:, :, 0] = sets.class_counts - ones
        found.append(counts)
    return found


def mixed_columns(
    table: Table, models: list[str], rows: NDArray[np.int64], weights: NDArray[np.float64]
) -> MixedColumns:
    """Numbers as they are, codes of discrete columns; of the given rows, with their weights."""
    values = room_of(table)((len(models), rows.size), np.float64)
    nominal = np.array([MODELS[model].discrete for model in models], bool)
    specs = []
    for j, model in enumerate(models):
        spec, column = read_column(table, j, model, presence=isinstance(table, SparseTable))
        specs.append(spec)
        values[j] = column[rows]
        if nominal[j]:
            values[j, values[j] == spec.n_codes - 1] = np.nan
    return MixedColumns(values, nominal, specs, weights)
