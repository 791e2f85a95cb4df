"""Columns as rankings read them."""

import numpy as np
from numpy.typing import NDArray

from ..data.tables import SparseTable, Table, room_of
from ..models.columns import read_column, without_grid
from ..models.registry import MODELS
from .base import MixedColumns


def mixed_columns(
    table: Table, models: list[str], rows: NDArray[np.int64], weights: NDArray[np.float64]
) -> MixedColumns:
    """Numbers as they are, codes of discrete columns; of the given rows, with their weights."""
    values = room_of(table)((len(models), rows.size), np.float64)
    models = without_grid(models)
    nominal = np.array([MODELS[model].nominal for model in models], bool)
    specs = []
    for j, model in enumerate(models):
        spec, column = read_column(table, j, model, presence=isinstance(table, SparseTable))
        specs.append(spec)
        values[j] = column[rows]
        if nominal[j]:
            values[j, values[j] == spec.n_codes - 1] = np.nan
    return MixedColumns(values, nominal, specs, weights)
