"""Class problems that rows take part in, and a matrix of labels as users give it."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..checks import plain_value
from .tables import is_frame


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


def read_labels(y: Any, n_rows: int) -> Targets:
    """A 0/1 matrix of labels."""
    names = None
    if is_frame(y):
        try:
            frame = nw.from_native(y, eager_only=True)
        except nw.exceptions.DuplicateError as error:
            raise ValueError(
                f"y has labels of the same name; names must differ. {error}"
            ) from error
        names, y = [str(name) for name in frame.columns], frame.to_numpy()
    y = y.toarray() if scipy.sparse.issparse(y) else np.asarray(y)
    if y.dtype == object and all(isinstance(v, Real | np.bool_) for v in y.ravel().tolist()):
        y = y.astype(np.float64)
    names = names or [f"{j}" for j in range(y.shape[1])]
    if y.shape[0] != n_rows:
        raise ValueError(
            f"y has {y.shape[0]} rows, but X has {n_rows}; give one row of labels each."
        )
    if y.dtype.kind not in "fiub":
        raise TypeError(
            f"y: a matrix of labels must hold 0 and 1 only; got values of type {y.dtype}."
        )
    odd = (y != 0) & (y != 1)
    if odd.any():
        i, j = np.argwhere(odd)[0]
        raise ValueError(
            "y: a matrix of labels must hold 0 and 1 only; got "
            f"{plain_value(y[i, j])!r} at row {i}, label {names[j]!r}. Give one class a row for "
            "several classes."
        )
    return Targets(y.astype(np.int64), 2, tuple(names), labelled=True)
