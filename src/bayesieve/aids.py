"""Plain data that searches ask for beside the objective, computed on the guiding rows."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .engines import LocalEngine
from .models import MODELS
from .ranking import check_ranking, discrete_columns
from .rankings import DiscreteColumns
from .rankings.information import information_with
from .validation import RawTable, choose, column_indices
from .views.columns import encode, learn


class Aids:
    """Rankings and dependencies of the guiding rows, by unit.

    Parameters
    ----------
    table, models : all rows, and the feature model of each column.
    labels, weights : class index and weight of all rows.
    guiding : the rows to look at.
    units : columns that move together.
    """

    def __init__(
        self,
        table: RawTable,
        models: list[str],
        labels: NDArray[np.int64],
        weights: NDArray[np.float64],
        guiding: NDArray[np.int64],
        units: list[list[int]],
    ):
        self._table, self._models = table, models
        self._labels, self._weights = labels[guiding], weights[guiding]
        self._n_classes = int(labels.max()) + 1
        self._guiding = guiding
        self._units = units
        self._owner = {column: unit for unit, members in enumerate(units) for column in members}

    def order(self, ranking: Any) -> tuple[int, ...]:
        """Units in the order of their best columns."""
        with LocalEngine() as engine:
            found = check_ranking(ranking, "ranking").rank(
                self._discrete(), self._labels, self._n_classes, engine, len(self._models)
            )
        return tuple(dict.fromkeys(self._owner[int(column)] for column in found.order))

    def units_of(self, parameter: str, columns: Any) -> tuple[int, ...]:
        """The units of columns that a user named."""
        found = column_indices(parameter, columns, self._table.names)
        return tuple(dict.fromkeys(self._owner[column] for column in found))

    def pairs(self, measure: str | Callable[..., float]) -> tuple[tuple[int, int], ...]:
        """Pairs of units, the most dependent first; equals in the order of their numbers."""
        strength = self._strengths(measure)
        found = []
        for one, other in combinations(range(len(self._units)), 2):
            part = strength[np.ix_(self._units[one], self._units[other])]
            found.append((-float(part.max()), one, other))
        return tuple((one, other) for _, one, other in sorted(found))

    def _discrete(self) -> DiscreteColumns:
        return discrete_columns(
            self._table, self._models, self._guiding, self._labels, self._weights, self._n_classes
        )

    def _strengths(self, measure: str | Callable[..., float]) -> NDArray[np.float64]:
        """Dependency of every two columns."""
        n_columns = len(self._models)
        if not isinstance(measure, str):
            columns = [self._table.column(j)[self._guiding] for j in range(n_columns)]
            strength = np.zeros((n_columns, n_columns))
            for i, j in combinations(range(n_columns), 2):
                strength[i, j] = strength[j, i] = float(measure(columns[i], columns[j]))
            return strength
        choose("measure", measure, ["auto", "r2", "uncertainty"])
        nominal = np.array([model == "categorical" for model in self._models])
        if measure == "uncertainty":
            return self._uncertainties()
        strength = self._squared_correlations()
        if measure == "auto" and nominal.any():
            either = nominal[:, None] | nominal[None, :]
            strength = np.where(either, self._uncertainties(), strength)
        return strength

    def _squared_correlations(self) -> NDArray[np.float64]:
        """R^2 of every two columns by one matrix product; 0 where a column is constant.

        Missing values stand at the mean; the levels of a categorical column count as 0, 1, 2, ...
        """
        columns = []
        for j, model in enumerate(self._models):
            raw = self._table.column(j)
            spec = learn(self._table.names[j], model, raw, MODELS[model].discrete)
            values = encode(spec, raw)[self._guiding].astype(np.float64)
            if MODELS[model].discrete:
                values[values >= spec.n_codes - 1] = np.nan
            known = ~np.isnan(values)
            total = self._weights[known].sum()
            mean = (self._weights[known] * values[known]).sum() / total if total else 0.0
            apart = np.where(known, values - mean, 0.0) * np.sqrt(self._weights)
            length = np.sqrt(apart @ apart)
            columns.append(apart / length if length > 0 else np.zeros_like(apart))
        unit = np.column_stack(columns)
        return np.square(unit.T @ unit)

    def _uncertainties(self) -> NDArray[np.float64]:
        """Symmetric uncertainty 2 I(a; b) / (H(a) + H(b)) of every two columns."""
        columns = self._discrete()
        with LocalEngine() as engine:
            information = np.array(
                [
                    information_with(columns, columns.codes[j], int(columns.n_levels[j]), engine)
                    for j in range(columns.n_columns)
                ]
            )
        entropy = np.diag(information)
        both = entropy[:, None] + entropy[None, :]
        return np.divide(2 * information, both, out=np.zeros_like(both), where=both > 0)
