"""Sparse features that cannot help, by the heuristics of Ruta 2014, section III."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from ..checks import Ints, check_flag, check_jobs
from ..data.sample import read_sample
from ..data.storage import Moves
from ..engine.threads import Engine, Threads, count_threads
from ..models.columns import choose_models, read_moves

#: What `Elimination.by` says of a feature that never meets a positive row.
NEVER = -2


@dataclass(frozen=True)
class Elimination:
    """Which features were found redundant, for which label, and what made them so.

    Attributes
    ----------
    kept : ndarray of int
        Features that are not redundant for every label.
    by : ndarray of shape (n_labels, n_features)
        For each label: the feature that contains this one (itself not redundant for that label),
        -2 where it never meets a positive row, -1 where it is not redundant.
    names, label_names : list of str
    """

    kept: Ints
    by: Ints
    names: list[str]
    label_names: list[str]

    @property
    def dropped(self) -> Ints:
        """Features redundant for every label."""
        return np.setdiff1d(np.arange(self.by.shape[1]), self.kept)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Shares of features eliminated: for each label alone, and for all of them."""
        n = self.by.shape[1]
        found = {
            label: {
                "never with a positive": float((row == NEVER).sum() / n),
                "with containment": float((row != -1).sum() / n),
            }
            for label, row in zip(self.label_names, self.by, strict=True)
        }
        found["all labels"] = {
            "never with a positive": float((self.by == NEVER).all(0).sum() / n),
            "with containment": float(self.dropped.size / n),
        }
        return found

    def reason(self, feature: int) -> str:
        """Why a feature was dropped or kept, in words."""
        parts = []
        for label, by in zip(self.label_names, self.by[:, feature], strict=True):
            if by == NEVER:
                parts.append(f"never seen with {label!r}")
            elif by >= 0:
                parts.append(f"contained in {self.names[by]!r} for {label!r}")
            else:
                parts.append(f"needed for {label!r}")
        return f"{self.names[feature]!r}: " + "; ".join(parts)


def eliminate(
    X: Any, y: Any, *, containment: bool = True, n_jobs: int | None = None
) -> Elimination:
    """Find redundant binary features, which cannot help to detect positives.

    A feature is redundant for a label when it is never present in a positive row, or when another
    one contains it: present in all positive rows where it is, and absent from all negative rows
    where it is not.  Of equal features the lowest stays.  Only features redundant for every label
    are dropped.  These are heuristics: for naive Bayes, a feature that speaks against a label can
    help too.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Columns of 0 and 1; in sparse columns every value but 0 counts as 1.
    y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
        Two classes (the second is positive), or labels.
    containment : bool, default=True
        Look for containment too, not only for features without a positive row.
    n_jobs : int, optional
        Threads for the kernels; -1 for all cores.

    Returns
    -------
    elimination : Elimination

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rankings import eliminate
    >>> X = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]])
    >>> found = eliminate(X, [1, 1, 0, 0])
    >>> found.kept
    array([0])
    >>> found.reason(1)
    "'x1': contained in 'x0' for '1'"
    """
    check_flag("containment", containment)
    check_jobs(n_jobs)
    read = read_sample(BaseEstimator(), X, y, None)
    if not read.targets.odds:
        raise ValueError(
            f"y must hold two classes, or be a 0/1 matrix of labels; got {len(read.classes)} "
            "classes. Give one 0/1 column a class."
        )
    models = choose_models("bernoulli", read.table)
    moves, specs, _ = read_moves(read.table, models)
    ones = _ones(moves, read.table.n_rows)
    rows = ones.tocsr()
    rows.sort_indices()
    by = np.empty((read.targets.n_groups, ones.shape[1]), np.int64)
    with Threads(count_threads(n_jobs)) as engine:
        for label, column in zip(by, read.targets.classes.T, strict=True):
            _judge(label, ones, rows, column, containment, engine)
    kept = np.flatnonzero((by == -1).any(0))
    return Elimination(kept, by, [spec.name for spec in specs], list(read.targets.names))


def _ones(moves: Moves, n_rows: int) -> scipy.sparse.csc_array:
    """Where each column is 1, as a sparse matrix."""
    entries = moves.of_rows(np.arange(n_rows))
    columns = np.repeat(np.arange(moves.n_columns), np.diff(entries.pointers))
    one = moves.codes[moves.first[columns] + entries.kinds] == 1
    rows, owners = [entries.lines[one]], [columns[one]]
    for j in np.flatnonzero(moves.usual == 1):
        moved = entries.lines[entries.pointers[j] : entries.pointers[j + 1]]
        rows.append(np.delete(np.arange(n_rows, dtype=np.int32), moved))
        owners.append(np.full(rows[-1].size, j))
    at = np.concatenate(rows), np.concatenate(owners)
    found = scipy.sparse.csc_array(
        (np.ones(at[0].size, np.uint8), at), shape=(n_rows, moves.n_columns)
    )
    found.sort_indices()
    return found


def _judge(
    by: Ints,
    ones: scipy.sparse.csc_array,
    rows: scipy.sparse.csr_array,
    positive: Ints,
    deep: bool,
    engine: Engine,
) -> None:
    """Redundant features for one label."""
    from .kernels.families import contained

    hits = np.asarray(ones.T @ positive).astype(np.int64)
    alarms = np.diff(ones.indptr).astype(np.int64) - hits
    by[:] = -1
    if deep:
        pointers, lines = ones.indptr.astype(np.int64), ones.indices.astype(np.int64)
        row_pointers, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)

        def task(lo: int, hi: int) -> None:
            contained(pointers, lines, row_pointers, columns, positive, hits, alarms, lo, hi, by)

        engine.run(task, by.size, 20 * ones.nnz)
        # What contains may be contained in turn: name the one that is not.
        while (further := (by >= 0) & (by[np.maximum(by, 0)] >= 0)).any():
            by[further] = by[by[further]]
    by[hits == 0] = NEVER
