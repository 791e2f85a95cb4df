"""Tables and targets as the estimators read them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .tables import Table, read_table
from .targets import Targets, check_several_classes, is_label_matrix, read_labels, read_target
from .weights import read_weights

# Combinations of labels in fewer rows are split together: with some label, or with none.
_RARE = 10


class Sample(NamedTuple):
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

    def take(self, at: NDArray[np.int64]) -> "Sample":
        """Some rows only."""
        return Sample(
            self.table.take(at),
            self.targets.take(at),
            self.labels[at],
            self.weights[at],
            self.classes,
            self.rows[at],
        )

    def pick(self, columns: NDArray[np.int64]) -> "Sample":
        """Some columns only."""
        return self._replace(table=self.table.pick(columns))

    @property
    def _first(self) -> NDArray[np.int64]:
        """The first row of each class or combination."""
        return np.unique(self.labels, return_index=True)[1]


def read_sample(
    estimator: Any, X: Any, y: Any, sample_weight: Any, known: Any = None, reset: bool = True
) -> Sample:
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
        return Sample(table, targets, labels, weights[rows], np.array([0, 1]), rows)
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
    return Sample(table, targets, labels, weights, classes, rows)
