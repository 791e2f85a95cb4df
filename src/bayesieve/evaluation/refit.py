"""Models of some of the rows that a selector was fitted on, made as its search made them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from ..data.columns import encode
from ..data.sample import Sample, check_class_weight, class_factors, read_sample
from ..data.tables import Table, read_table
from ..engine.threads import Threads, count_threads
from ..estimators.parameters import family_of
from ..estimators.reweigh import reweigh
from ..estimators.selector import NaiveBayesSelector
from ..models.base import Floats, Statistics, one_set
from ..models.fitted import FittedBayes
from ..models.registry import MODELS
from ..models.shared import share

Ints = NDArray[np.int64]


class Reread(NamedTuple):
    """What a selector was fitted on, read again."""

    selector: NaiveBayesSelector
    read: Sample
    models: list[str]
    guiding: Ints  #: positions among the rows read
    validation: Ints

    def model_of(self, rows: Ints) -> FittedBayes:
        """A model of the chosen columns from some of the rows, made as `estimator_` was made."""
        selector, sample, factors = self.selector, self.read.take(rows), None
        if not sample.targets.labelled:
            given = check_class_weight(selector.class_weight, sample.classes)
            exact = class_factors(given, sample.labels, sample.weights, len(sample.classes))
            factors = np.array([float(factor) for factor in exact])
        family = family_of(selector)
        if selector.settings_["reweigh"] and selector.selected_.size:
            order, plain = selector.selected_.tolist(), np.ones(len(sample.classes))
            factors = plain if factors is None else factors
            with Threads(count_threads(selector.n_jobs)) as threads:
                return reweigh(sample, self.models, order, family, factors, threads)
        fitted = family.fit(sample, self.models, factors)
        columns = np.flatnonzero(selector.support_).tolist()
        found: FittedBayes = family.restrict(fitted, columns, sample)
        return found

    def chosen(self, rows: Ints) -> Table:
        """Some rows, the chosen columns."""
        return self.read.table.take(rows).pick(np.flatnonzero(self.selector.support_))


def read_again(
    selector: NaiveBayesSelector, X: object, y: ArrayLike, sample_weight: ArrayLike | None
) -> Reread:
    """The table given to a selector's fit; another one is refused."""
    table = read_table(selector, X, reset=False)
    last = int(max(part.max(initial=-1) for part in _rows(selector)))
    if table.n_rows <= last:
        raise ValueError(
            f"X must be the table given to fit, of more than {last} rows; got {table.n_rows}."
        )
    read = read_sample(BaseEstimator(), table, y, sample_weight)
    # Levels and resolutions are those of all rows, as they were in the search.
    family = family_of(selector)
    models = family.choose_models(read.table)
    read = read._replace(table=share(read.table, models, family.rounded, read.repeats))
    guiding, held = (np.searchsorted(read.rows, part) for part in _rows(selector))
    if not all(
        np.array_equal(read.rows[np.minimum(at, read.rows.size - 1)], part)
        for at, part in zip((guiding, held), _rows(selector), strict=True)
    ):
        raise ValueError("sample_weight must be as it was in the selector's fit; rows are missing.")
    _check_counts(selector, read)
    return Reread(selector, read, models, guiding, held)


def _rows(selector: NaiveBayesSelector) -> tuple[Ints, Ints]:
    return selector.guiding_rows_, selector.validation_rows_


def _check_counts(selector: NaiveBayesSelector, read: Sample) -> None:
    """Do the classes weigh what they weighed in fit?"""
    known = np.atleast_2d(selector.estimator_.class_count_)
    classes = read.targets.classes.T
    same = known.shape == (len(classes), len(read.classes))
    if same:
        mine = [np.bincount(c, read.weights, len(read.classes)) for c in classes]
        same = np.allclose(mine, known, rtol=1e-9, atol=0)
    if not same:
        raise ValueError(
            "X, y and sample_weight must be those that the selector was fitted on: the classes "
            "weigh something else here."
        )


def trained_on(fitted: FittedBayes, table: Table, target: Ints, weights: Floats) -> bool:
    """Do these rows give all the statistics that the model was learnt from?"""
    for problem, truth in zip(fitted.problems, target.T, strict=True):
        known, statistics = problem.summary.class_count, problem.summary.statistics
        if not np.allclose(np.bincount(truth, weights, known.size), known, rtol=1e-9, atol=0):
            return False
        sets = one_set(truth, weights, np.ones(known.size))
        for j, (spec, learnt) in enumerate(zip(problem.specs, statistics, strict=True)):
            model_of = MODELS[spec.model if MODELS[spec.model].discrete else "gaussian"]
            column = encode(spec, table.column(j))
            if not _same_statistics(model_of.statistics(column, spec.n_codes, sets), learnt):
                return False
    return True


def _same_statistics(one: Statistics, other: Statistics) -> bool:
    """The same counts, or the same moments but for the order in which rows were added up."""
    if not isinstance(one, tuple):
        return bool(np.allclose(one, other, rtol=1e-9, atol=0))
    (weight, mean, squares), (weights, means, other_squares) = one[:3], other[:3]
    if not np.allclose(weight, weights, rtol=1e-9, atol=0):
        return False
    spread = np.sqrt(np.divide(squares, weight, out=np.zeros_like(squares), where=weight > 0))
    close = np.abs(mean - means) <= 1e-9 * (np.abs(mean) + spread)
    return bool(close.all() and np.allclose(squares, other_squares, rtol=1e-9, atol=0))
