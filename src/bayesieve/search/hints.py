"""Hints for searches, such as a ranking, computed on the guiding rows."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..checks import choose, column_indices
from ..data.tables import SparseTable, Table
from ..engine.registry import RemoteTable
from ..engine.threads import Threads
from ..models.columns import read_column, without_grid
from ..models.registry import MODELS, is_category
from ..rankings.base import DiscreteColumns, LabelledRows, RankingMethod
from ..rankings.collections import check_divisible, rank_remote, remote_columns
from ..rankings.families import Families
from ..rankings.information import information_with
from ..rankings.rank import check_ranking, columns_for, discrete_columns

_GRAIN = 2.0**30


class RowHints:
    """Rankings and dependencies of the guiding rows, by unit.

    Parameters
    ----------
    table, models : all rows, and the feature model of each column.
    labels, weights : class index and weight of all rows.
    guiding : the rows to look at.
    units : columns that move together.
    seed : source of randomness for searches that draw.
    most : how many columns a ranking must rank with care.
    threads : who runs the kernels of rankings.
    families : columns of no unit are spoken for by their leaders.
    """

    def __init__(  # noqa: PLR0913
        self,
        table: Table,
        models: list[str],
        labels: NDArray[np.int64],
        weights: NDArray[np.float64],
        guiding: NDArray[np.int64],
        units: list[list[int]],
        seed: int = 0,
        most: int | None = None,
        threads: Threads | None = None,
        families: Families | None = None,
    ):
        self._most = len(models) if most is None else min(most, len(models))
        self._threads = Threads() if threads is None else threads
        self.seed = seed
        self._table, self._models = table, models
        self._labels, self._weights = labels[guiding], weights[guiding]
        self._n_classes = int(labels.max()) + 1
        self._guiding = guiding
        self._units = units
        self._owner = {column: unit for unit, members in enumerate(units) for column in members}
        if families is not None:
            self._owner = {
                column: self._owner[first]
                for column, first in enumerate(families.leader.tolist())
                if first in self._owner
            }

    def order(self, ranking: object) -> tuple[int, ...]:
        """Units in the order of their best columns."""
        method = check_ranking(ranking, "ranking")
        if isinstance(self._table, RemoteTable):
            return self._far_order(method, self._table)
        columns = columns_for(method, self._table, self._models, self._rows)
        found = method.rank(columns, self._labels, self._n_classes, self._threads, self._most)
        return self._owners(found.order.tolist())

    def _far_order(self, method: RankingMethod, table: RemoteTable) -> tuple[int, ...]:
        """Ranking of the units where workers hold the rows."""
        check_divisible(method)
        columns = remote_columns(table, self._models, self._rows)
        found = rank_remote(method, columns, self._labels, self._n_classes, self._most)
        return self._owners(found.order.tolist())

    def units_of(self, parameter: str, columns: object) -> tuple[int, ...]:
        """The units of columns that a user named."""
        found = column_indices(parameter, columns, self._table.names)
        return self._owners(found)

    def _owners(self, columns: Iterable[int]) -> tuple[int, ...]:
        """The units of columns, each once; columns that must not be chosen are in none."""
        return tuple(
            dict.fromkeys(self._owner[column] for column in columns if column in self._owner)
        )

    def named_pairs(self, pairs: object) -> tuple[tuple[int, int], ...]:
        """The units of pairs of columns that a user named."""
        found = []
        for pair in pairs if isinstance(pairs, Iterable) else [pairs]:
            if isinstance(pair, str) or not isinstance(pair, Iterable) or len(list(pair)) != 2:
                raise TypeError(f"pairs must hold pairs of column names or numbers; got {pair!r}.")
            units = self.units_of("pairs", pair)
            if len(units) == 2:
                found.append(units)
        return tuple(found)

    def pairs(self, measure: object) -> tuple[tuple[int, int], ...]:
        """Pairs of units, the most dependent first; equals in the order of their numbers."""
        # Rounded, so that equals stay equal whatever the order in which a machine adds up.
        strength = np.round(self._strengths(measure) * _GRAIN) / _GRAIN
        columns = [column for unit in self._units for column in unit]
        starts = np.cumsum([0, *(len(unit) for unit in self._units[:-1])])
        strength = strength[np.ix_(columns, columns)]
        strength = np.maximum.reduceat(np.maximum.reduceat(strength, starts, 0), starts, 1)
        one, other = np.triu_indices(len(self._units), 1)
        order = np.lexsort((other, one, -strength[one, other]))
        return tuple(zip(one[order].tolist(), other[order].tolist(), strict=True))

    def _discrete(self) -> DiscreteColumns:
        return discrete_columns(self._table, self._models, self._rows)

    @property
    def _rows(self) -> LabelledRows:
        """The guiding rows, as rankings take them."""
        return LabelledRows(self._guiding, self._labels, self._weights, self._n_classes)

    def _strengths(self, measure: object) -> NDArray[np.float64]:
        """Dependency of every two columns."""
        n_columns = len(self._models)
        if callable(measure):
            columns = [self._table.column(j)[self._guiding] for j in range(n_columns)]
            strength = np.zeros((n_columns, n_columns))
            for i, j in combinations(range(n_columns), 2):
                found = float(measure(columns[i], columns[j]))
                if not np.isfinite(found):
                    raise ValueError(
                        f"measure must give a finite number for every two columns; got {found} for "
                        f"{self._table.names[i]!r} and {self._table.names[j]!r}. Give 0 where the "
                        "dependency is undefined, such as for a constant column."
                    )
                strength[i, j] = strength[j, i] = found
            return strength
        choose("measure", measure, ["auto", "r2", "uncertainty"])
        nominal = np.array([is_category(model) for model in self._models])
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
        for j, model in enumerate(without_grid(self._models)):
            presence = isinstance(self._table, SparseTable)
            spec, column = read_column(self._table, j, model, presence=presence)
            values = column[self._guiding].astype(np.float64)
            if MODELS[model].discrete:
                values[values >= spec.n_codes - 1] = np.nan
            columns.append(_unit(values, self._weights))
        unit = np.column_stack(columns)
        return np.square(unit.T @ unit)

    def _uncertainties(self) -> NDArray[np.float64]:
        """Symmetric uncertainty 2 I(a; b) / (H(a) + H(b)) of every two columns."""
        columns = self._discrete()
        information = np.array(
            [
                information_with(
                    columns, columns.column(j), int(columns.n_levels[j]), self._threads
                )
                for j in range(columns.n_columns)
            ]
        )
        entropy = np.diag(information)
        both = entropy[:, None] + entropy[None, :]
        return np.divide(2 * information, both, out=np.zeros_like(both), where=both > 0)


def _unit(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """A column about its mean, scaled to length 1; zeros where it is constant or missing."""
    known = ~np.isnan(values)
    if not known.any() or values[known].min() == values[known].max():
        return np.zeros_like(values)
    # Brought to size first: squares of very large or small values would not fit.
    values = values / np.abs(values[known]).max()
    mean = (weights[known] * values[known]).sum() / weights[known].sum()
    apart = np.where(known, values - mean, 0.0) * np.sqrt(weights)
    apart /= np.abs(apart).max()
    return apart / np.sqrt(apart @ apart)
