"""Whole pipelines within folds and resamples: every step learns from the rows that train."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from ..checks import Array, check_number
from ..data.parts import read_groups_of_rows
from ..data.sample import Sample, read_sample
from ..data.tables import Table
from ..estimators.chosen import ChosenColumns
from ..estimators.pipelines import last_step, table_before
from .resampling import draw_samples

if TYPE_CHECKING:
    from .nested import Fold, Nested


class Prepared:
    """A pipeline and rows: what its last step would read, had the others learnt from some of them.

    Parameters
    ----------
    pipeline : not fitted; it stays as it is.
    X, y, sample_weight, groups : as the user gave them.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        X: object,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
    ):
        if not isinstance(last_step(pipeline), ChosenColumns):
            raise TypeError(
                "the last step of the pipeline must be a NaiveBayesSelector or a "
                f"WeightedNaiveBayes; got {type(last_step(pipeline)).__name__}."
            )
        self._pipeline, self._X, self.y = pipeline, X, y
        self.n_rows = int(_num_samples(X))
        self.sample_weight = sample_weight
        self.groups: Array | None = read_groups_of_rows(groups, self.n_rows)

    def read(self) -> Sample:
        """Classes and weights of the rows, whatever their columns are."""
        nothing = np.zeros((self.n_rows, 1))
        return read_sample(BaseEstimator(), nothing, self.y, self.sample_weight, whole=True)

    def after(self, rows: NDArray[np.int64]) -> tuple[BaseEstimator, Table]:
        """The last step, and the table it reads of all rows, the others learnt from these rows."""
        mine = clone(self._pipeline)
        steps = mine[:-1]
        if len(steps.steps):
            steps.fit(*(_safe_indexing(each, rows) for each in (self._X, self.y)))
        return last_step(mine), table_before(mine, self._X)


def nested_folds(
    given: Prepared,
    splits: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
    judge: "Callable[[BaseEstimator, Table, tuple[NDArray[np.int64], NDArray[np.int64]]], Nested]",
) -> "Nested":
    """One fold after the other, columns by their names.

    Parameters
    ----------
    given : pipeline and rows.
    splits : training and held-out rows of each fold.
    judge : what one fold gives.
    """
    parts = [judge(*given.after(split[0]), split) for split in splits]
    names = list(dict.fromkeys(name for part in parts for name in part.feature_names))
    at = {name: j for j, name in enumerate(names)}

    def placed(part: "Nested") -> "Fold":
        fold = part.folds[0]
        return replace(fold, columns=tuple(at[part.feature_names[j]] for j in fold.columns))

    folds = tuple(placed(part) for part in parts)
    return replace(parts[0], folds=folds, feature_names=tuple(names))


def resampled(
    given: Prepared, n_resamples: int, random_state: object
) -> tuple[NDArray[np.bool_], list[str]]:
    """Which columns the whole pipeline selects on each bootstrap sample, and their names."""
    n_resamples = int(check_number("n_resamples", n_resamples, low=2, whole=True))
    read, draw = given.read(), check_random_state(random_state)
    mates = None if given.groups is None else given.groups[read.rows]
    repeats = read.weights.astype(np.int64)
    samples = draw_samples(repeats, read.labels, n_resamples, 2, draw, mates)
    seeds = draw.randint(2**31 - 1, size=n_resamples)
    target = read.targets.classes if read.targets.labelled else read.classes[read.labels]
    found: list[list[str]] = []
    known: dict[str, None] = {}
    for sample, seed in zip(samples, seeds.tolist(), strict=True):
        last, table = given.after(np.repeat(read.rows, sample))
        last = clone(last).set_params(progress=False, checkpoint=None)
        if last.random_state is None:
            last.set_params(random_state=seed)
        fitted = last.fit(table.take(read.rows), target, sample_weight=sample, groups=mates)
        known |= dict.fromkeys(table.names)
        found.append([table.names[j] for j in np.flatnonzero(fitted.support_)])
    names = list(known)
    at = {name: j for j, name in enumerate(names)}
    selected = np.zeros((n_resamples, len(names)), bool)
    for i, chosen in enumerate(found):
        selected[i, [at[name] for name in chosen]] = True
    return selected, names
