"""What was counted: statistics of every column by class, which merge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import ColumnSpec, encode, learn, merge_specs
from ..data.kinds import in_kind_of
from ..data.sample import Sample
from ..data.tables import SparseTable, Table
from .base import Floats, Ints, one_set
from .columns import check_batch, count_present, read_column
from .registry import MODELS


@dataclass(frozen=True)
class Summary:
    """Statistics of one class problem, or of one label.

    Parameters
    ----------
    classes : the classes, sorted.
    class_count : weight of the rows of each class.
    class_weight : factor on the counts of each class.
    specs : what each column is like.
    statistics : of each column, as its feature model keeps them.
    """

    classes: NDArray[Any]
    class_count: Floats
    class_weight: Floats
    specs: tuple[ColumnSpec, ...]
    statistics: tuple[Any, ...]

    def restrict(self, columns: Sequence[int]) -> "Summary":
        """Some columns only."""
        return replace(
            self,
            specs=tuple(self.specs[j] for j in columns),
            statistics=tuple(self.statistics[j] for j in columns),
        )

    def check_batch(self, table: Table) -> None:
        """Judge all columns of a later batch before any of them changes."""
        for j, spec in enumerate(self.specs):
            if not spec.presence:  # any value may stand for presence
                check_batch(spec.model, table.column(j), table.names[j], spec.levels)

    def with_rows(self, table: Table, labels: Ints, weights: Floats) -> "Summary":
        """The same with more rows: statistics merge."""
        sets = one_set(labels, weights, self.class_weight)
        counted = Counter(self.classes, labels, weights, self.class_weight)
        specs, statistics = [], []
        for j, old in enumerate(self.specs):
            raw = table.column(j)
            if raw.dtype == object:  # names of categories that were numbers
                assert old.levels is not None
                raw = in_kind_of(old.levels, raw) if old.levels.dtype == object else raw
            model = MODELS[old.model]
            sparse = isinstance(table, SparseTable)
            new = learn(table.names[j], old.model, raw, model.discrete, presence=sparse)
            both = merge_specs(old, new)
            more = model.statistics(encode(both, raw), both.n_codes, sets)
            specs.append(both)
            statistics.append(model.merge(_grown(old, both, self.statistics[j]), more))
        count = self.class_count + counted.class_count
        return replace(self, class_count=count, specs=tuple(specs), statistics=tuple(statistics))


def _grown(old: ColumnSpec, both: ColumnSpec, known: Any) -> Any:
    """Counts of a column that has got more levels."""
    if both.levels is None or both.n_codes == old.n_codes:
        return known
    assert old.levels is not None
    grown = np.zeros((1, both.n_codes, known.shape[-1]))
    grown[:, np.searchsorted(both.levels, old.levels)] = known[:, :-1]
    grown[:, -1] = known[:, -1]
    return grown


class Counter:
    """Takes in columns one by one and gives their summary.

    Parameters
    ----------
    classes : the classes, sorted.
    labels, weights : class index and weight of every row.
    class_weight : factor on the counts of each class; 1 by default.
    """

    def __init__(
        self,
        classes: NDArray[Any],
        labels: Ints,
        weights: Floats,
        class_weight: Floats | None = None,
    ):
        self._classes = classes
        self.class_count = np.bincount(labels, weights, len(classes)).astype(np.float64)
        weight = np.ones(len(classes)) if class_weight is None else class_weight
        self.sets = one_set(labels, weights, weight)
        self._specs: list[ColumnSpec] = []
        self._statistics: list[Any] = []

    def take(self, spec: ColumnSpec, column: NDArray[Any]) -> None:
        """Count one column."""
        self.keep(spec, MODELS[spec.model].statistics(column, spec.n_codes, self.sets))

    def keep(self, spec: ColumnSpec, statistics: Any) -> None:
        """A column that somebody has counted."""
        self._specs.append(spec)
        self._statistics.append(statistics)

    def summary(self) -> Summary:
        """What was counted."""
        return Summary(
            self._classes,
            self.class_count,
            self.sets.class_weight,
            tuple(self._specs),
            tuple(self._statistics),
        )


def summarise(
    sample: Sample, models: Sequence[str], rounded: bool, class_weight: Floats | None = None
) -> tuple[Summary, ...]:
    """One summary of all rows for each problem.

    Parameters
    ----------
    sample : the rows.
    models : the feature model of each column.
    rounded : round continuous values to multiples of the resolution.
    class_weight : factor on the counts of each class.
    """
    counters = [
        Counter(sample.classes, classes, sample.weights, class_weight)
        for classes in sample.targets.classes.T
    ]
    table = sample.table
    present = count_present(table, [counter.sets for counter in counters])
    for j, model in enumerate(models):
        if present is not None and model == "bernoulli":
            spec = learn(table.names[j], model, np.empty(0), True, presence=True)
            for counter, found in zip(counters, present, strict=True):
                counter.keep(spec, found[j])
            continue
        spec, column = read_column(table, j, model, rounded)
        for counter in counters:
            counter.take(spec, column)
    return tuple(counter.summary() for counter in counters)
