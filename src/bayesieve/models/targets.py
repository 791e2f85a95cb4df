"""What rows belong to: one of several classes, or several labels at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Targets:
    """Class problems that rows take part in: one of many classes, or one of two classes a label.

    Parameters
    ----------
    classes : class index of every row in every problem, rows x problems.
    n_classes : classes of each problem; 2 where there is more than one.
    names : a name for each problem.
    labelled : a matrix of labels was given.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models import Targets
    >>> targets = Targets(np.array([[0, 1], [0, 0]]), 2, ("rain", "wind"), labelled=True)
    >>> targets.n_groups, targets.odds, targets.positive.tolist()
    (2, True, [True, False])
    """

    classes: NDArray[np.int64]
    n_classes: int
    names: tuple[str, ...]
    labelled: bool = False

    @property
    def n_groups(self) -> int:
        """How many problems."""
        return self.classes.shape[1]

    @property
    def odds(self) -> bool:
        """Two classes everywhere: the log-odds of the second say all."""
        return self.n_classes == 2

    @cached_property
    def member(self) -> NDArray[np.int64]:
        """Class columns of every row: problem g has the columns from g * n_classes on."""
        return self.classes + self.n_classes * np.arange(self.n_groups)

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """Rows with any label, or not of the first class."""
        return np.asarray(self.classes.any(axis=1))

    def take(self, rows: NDArray[np.int64]) -> "Targets":
        """Some rows only."""
        return Targets(self.classes[rows], self.n_classes, self.names, self.labelled)
