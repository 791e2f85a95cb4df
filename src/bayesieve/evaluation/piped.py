"""A selector fitted again on some of the rows: alone, or behind the steps of a pipeline."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ..checks import Array
from ..data.parts import read_groups_of_rows, validation_among
from ..data.sample import Sample, read_sample
from ..estimators.naive_bayes import NaiveBayes
from ..estimators.parameters import family_of
from ..estimators.pipelines import last_step, table_before
from ..estimators.selector import NaiveBayesSelector
from ..estimators.weighted import WeightedNaiveBayes
from ..search.family import Family

#: What chooses columns, and can do so again.
Chooser = NaiveBayesSelector | WeightedNaiveBayes


class Refits:
    """A selector or pipeline and rows, of which some are to be fitted again.

    Parameters
    ----------
    model : not fitted; it stays as it is.
    X, y, sample_weight, groups : as the user gave them.
    hint : what to do instead with a model that is none of ours.
    """

    def __init__(
        self,
        model: Chooser | Pipeline,
        X: object,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        hint: str = "",
    ):
        self._pipeline = model if isinstance(model, Pipeline) else None
        last = model if self._pipeline is None else last_step(self._pipeline)
        if not isinstance(last, Chooser):
            who = "selector" if self._pipeline is None else "the last step of the pipeline"
            raise TypeError(
                f"{who} must be a NaiveBayesSelector or a WeightedNaiveBayes; got "
                f"{type(last).__name__}.{hint}"
            )
        self.last: Chooser = last
        self._X, self._y, self._weight = X, y, sample_weight
        self.n_rows = int(_num_samples(X))
        self.groups: Array | None = read_groups_of_rows(groups, self.n_rows)

    @cached_property
    def read(self) -> Sample:
        """Classes and weights of the rows; their columns where no step comes before."""
        X = self._X if self._pipeline is None else np.zeros((self.n_rows, 1))
        return read_sample(BaseEstimator(), X, self._y, self._weight, whole=True)

    def on(self, rows: NDArray[np.int64]) -> Sample:
        """What the selector reads of all rows, the steps before it learnt from these rows."""
        if self._pipeline is None:
            return self.read
        mine = clone(self._pipeline)
        steps = mine[:-1]
        if len(steps.steps):
            steps.fit(*(_safe_indexing(each, rows) for each in (self._X, self._y)))
        return self.read._replace(table=table_before(mine, self._X).take(self.read.rows))


def copy_for(
    model: Chooser, rows: NDArray[np.int64], n_rows: int, seed: int, alone: bool = True
) -> Chooser:
    """A copy to be fitted on a table of some of the rows.

    It says nothing and keeps no journal, which belong to the fit of all rows.  `time_limit` stays:
    a search that is cut short is what is judged.

    Parameters
    ----------
    model : its settings.
    rows : which rows the table holds; those that `validation` names are named anew.
    n_rows : of the whole table.
    seed : where the model has none.
    alone : does it run by itself?  Else others run beside it, and it takes a single thread.
    """
    among = validation_among(model.validation, rows, n_rows)
    mine = clone(model).set_params(progress=False, checkpoint=None, validation=among)
    if mine.random_state is None:
        mine.set_params(random_state=int(seed))
    if not alone:
        mine.set_params(n_jobs=1)
    return mine


def family_for(model: Chooser) -> Family:
    """What makes the terms of its columns."""
    if isinstance(model, NaiveBayesSelector):
        return family_of(model)
    return NaiveBayes(model.features, model.smoothing, model.priors).family()


def joined_names(tables: Iterable[Sequence[str]]) -> list[str]:
    """Names of all columns: steps may give other columns to every fit."""
    return list(dict.fromkeys(name for names in tables for name in names))
