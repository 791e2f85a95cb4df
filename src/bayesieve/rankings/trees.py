"""Features in the top levels of decision trees (Ratanamahatana and Gunopulos 2003)."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..checks import Floats, Ints, check_number
from .base import DiscreteColumns, RankingInput, RankingMethod


@dataclass(frozen=True)
class TreeLevels(RankingMethod):
    """Rank by how many trees, each grown on a small sample, use a column in their top levels.

    Equally frequent columns are ranked by how much impurity they removed there; columns that no
    tree uses come last, in the order of the table.  Weights of rows are not used.

    Parameters
    ----------
    n_trees : int, default=10
    levels : int, default=3
        Top levels of each tree that count.
    sample : float, default=0.1
        Share of the rows that each tree sees (at least 50 rows).
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import TreeLevels
    >>> y = np.arange(200) % 2
    >>> X = np.column_stack([np.arange(200) // 2 % 2, y])
    >>> rank(X, y, TreeLevels()).order
    array([1, 0])
    """

    n_trees: int = 10
    levels: int = 3
    sample: float = 0.1
    random_state: int = 0
    takes_weights = False

    def check(self) -> None:
        """Validate the parameters."""
        check_number("n_trees", self.n_trees, low=1, whole=True)
        check_number("levels", self.levels, low=1, whole=True)
        check_number("sample", self.sample, low=0.0, high=1.0)
        check_number("random_state", self.random_state, low=0, whole=True)

    def scores(self, given: RankingInput) -> Floats:
        """The number of trees that use each column, plus a fraction for the impurity."""
        from sklearn.tree import DecisionTreeClassifier  # here, as importing it takes its time

        columns, labels = given.columns, given.labels
        plans = self._plans(labels)
        removed = np.zeros((len(plans), columns.n_columns))
        used = np.zeros((len(plans), columns.n_columns))

        def task(lo: int, hi: int) -> None:
            for at in range(lo, hi):
                rows, seed = plans[at]
                tree = DecisionTreeClassifier(
                    criterion="entropy", max_depth=self.levels, random_state=seed
                )
                grown = tree.fit(_sample(columns, rows), labels[rows])
                used[at, grown.tree_.feature[grown.tree_.feature >= 0]] = 1
                removed[at] = grown.feature_importances_

        # A tree looks at every cell of its sample, and at some more than once.
        cells = sum(rows.size for rows, _ in plans) * columns.n_columns
        given.engine.run(task, len(plans), 10 * cells)
        # One tree after the other, whoever grew it.
        gone = np.zeros(columns.n_columns)
        for each in removed:
            gone += each
        return used.sum(0) + gone / (1 + gone.sum())

    def _plans(self, labels: Ints) -> list[tuple[Ints, int]]:
        """The rows and the seed of each tree, but for samples of a single class."""
        rng = np.random.default_rng(self.random_state)
        size = min(max(int(self.sample * labels.size), 50), labels.size)
        plans = []
        for _ in range(self.n_trees):
            rows = np.sort(rng.choice(labels.size, size, replace=False))
            if np.unique(labels[rows]).size > 1:
                plans.append((rows, int(rng.integers(2**31))))
        return plans


def _sample(columns: DiscreteColumns, rows: Ints) -> scipy.sparse.csc_matrix:
    """Some rows of all columns, sparse."""
    found = [np.flatnonzero(columns.column(j)[rows]) for j in range(columns.n_columns)]
    values = [columns.column(j)[rows][at] for j, at in enumerate(found)]
    pointers = np.cumsum([0, *(at.size for at in found)])
    return scipy.sparse.csc_matrix(
        (
            np.concatenate(values).astype(np.float32),
            np.concatenate(found).astype(np.int32),
            pointers.astype(np.int32),
        ),
        shape=(rows.size, columns.n_columns),
    )
