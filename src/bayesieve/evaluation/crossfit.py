"""Fit again: resamples, folds and pipelines; out-of-fold predictions of the whole procedure."""

import warnings
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ..checks import Array
from ..criteria.auc import AUC
from ..criteria.base import Criterion
from ..criteria.rows import auc_parts
from ..data.columns import encode
from ..data.sample import Sample, check_class_weight, class_factors, read_sample
from ..data.split import group_numbers, read_groups_of_rows, validation_among
from ..data.tables import Table, read_table
from ..engine.threads import Threads, count_threads
from ..estimators._validation import family_of, judge_parameters, settle
from ..estimators.base import ChosenColumns
from ..estimators.naive_bayes import NaiveBayes
from ..estimators.selector import NaiveBayesSelector
from ..estimators.signals import last_step, table_before
from ..estimators.weighted import WeightedNaiveBayes
from ..models.base import Floats, Statistics, one_set
from ..models.columns import share
from ..models.fitted import FittedBayes
from ..models.registry import MODELS
from ..models.votes import FittedVotes
from ..search.run import Family
from ..search.term_pool import reweigh

# Draws of one sample before we say that the rows do not suit.
_PATIENCE = 100


def draw_samples(
    repeats: NDArray[np.int64],
    labels: NDArray[np.int64],
    n_samples: int,
    least: int,
    random_state: np.random.RandomState,
    groups: Array | None = None,
) -> NDArray[np.int64]:
    """How often each row is drawn, one line a sample; no sample has fewer than `least` classes.

    Parameters
    ----------
    repeats : how often each row stands in the table.
    labels : the class of each row.
    n_samples, least : how many samples, of how many classes at least.
    random_state : draws.
    groups : where they are given, whole groups are drawn, as many as there are.
    """
    drawn = None if groups is None else group_numbers(groups)
    total = int(repeats.sum()) if drawn is None else int(drawn.max()) + 1
    shares = repeats / total if drawn is None else np.full(total, 1 / total)
    samples = np.empty((n_samples, repeats.size), np.int64)
    for i in range(n_samples):
        for _ in range(_PATIENCE):
            counts = random_state.multinomial(total, shares)
            samples[i] = counts if drawn is None else counts[drawn] * repeats
            if np.unique(labels[samples[i] > 0]).size >= least:
                break
        else:
            raise ValueError(
                f"{_PATIENCE} bootstrap samples in a row held fewer than {least} classes of y: "
                "some class is too rare for resampling. Give more rows of it."
            )
    return samples


# -- A fitted selector judged by its criterion on rows that took no part ---------------------------


def held_out_score(
    selector: ChosenColumns,
    criterion: Criterion,
    table: Table,
    target: Array,
    weights: Floats,
    trained: tuple[Array, Floats],
) -> float:
    """The selector's criterion on rows of its table.

    Parameters
    ----------
    selector : fitted.
    criterion : what guided it.
    table, target, weights : the rows to judge by.
    trained : target and weights of the rows it was fitted to; class weights are theirs.
    """
    chosen = table.pick(np.flatnonzero(selector.support_))
    if isinstance(criterion, AUC):
        return _area(selector, criterion, chosen, target, weights)
    fitted = selector.estimator_.fitted_
    if target.ndim == 2:
        found = [
            criterion.row_values(problem.sums(chosen), problem.scale.unit, truth)
            for problem, truth in zip(fitted.problems, target.T, strict=True)
        ]
        return float(np.average(np.mean(found, axis=0), weights=weights))
    sums, unit = fitted.only.sums(chosen), fitted.only.scale.unit
    classes = np.searchsorted(fitted.only.classes, target)
    worth = weights * _factors(selector, *trained)[classes]
    if not criterion.has_row_values:
        return as_reported(criterion, log_scores(fitted, chosen), classes, worth)
    return float(np.average(criterion.row_values(sums, unit, classes), weights=worth))


def log_scores(fitted: FittedBayes, chosen: Table) -> Floats:
    """Scores of the classes in nat, rows x classes: what a criterion of one's own reads."""
    return np.ldexp(fitted.only.sums(chosen).astype(float), -fitted.only.scale.bits)


def as_reported(
    criterion: Criterion, scores: Floats, classes: NDArray[np.int64], weights: Floats
) -> float:
    """The loss of a criterion, with the sign in which people read it."""
    sign = -1 if criterion.greater_is_better else 1
    return float(sign * criterion.loss(scores, classes, weights))


def own_criterion(selector: NaiveBayesSelector) -> Criterion | None:
    """What guided it, where that is none of this package's and has a loss."""
    _, criterion = judge_parameters(settle(selector))
    ours = type(criterion).__module__.partition(".")[0] == "bayesieve"
    return None if ours or type(criterion).loss is Criterion.loss else criterion


def held_out_error(selector: ChosenColumns, table: Table, target: Array, weights: Floats) -> float:
    """Share of wrong decisions; with labels, over rows and labels."""
    chosen = table.pick(np.flatnonzero(selector.support_))
    wrong = selector.estimator_.fitted_.best(chosen) != target
    return float(np.average(wrong.reshape(len(target), -1).mean(1), weights=weights))


def _factors(selector: ChosenColumns, target: Array, weights: Floats) -> Floats:
    """Class weights as the training rows balance them."""
    classes = selector.estimator_.classes_
    labels = np.searchsorted(classes, target)
    given = check_class_weight(selector.class_weight, classes)
    found: list[Fraction] = class_factors(given, labels, weights, len(classes))
    return np.array([float(factor) for factor in found])


def _area(
    selector: ChosenColumns, criterion: AUC, chosen: Table, target: Array, weights: Floats
) -> float:
    """Mean AUC over labels, less the price of the features."""
    model = selector.estimator_
    truths = target if target.ndim == 2 else (target == model.classes_[1])[:, None]
    counts = weights.astype(np.int64)
    areas = []
    for g, (scores, truth) in enumerate(zip(_odds(model.fitted_, chosen), truths.T, strict=True)):
        positive = truth.astype(bool)
        if positive.all() or not positive.any():
            if criterion.undefined == "skip":
                continue
            kind = "negative" if positive.all() else "positive"
            raise ValueError(
                f"label {g} has no {kind} row among those held out in one fold: its AUC is "
                "undefined. Use fewer folds, leave the label out, or criterion="
                "AUC(undefined='skip')."
            )
        areas.append(auc_parts(scores, positive, counts)[0])
    if not areas:
        raise ValueError(
            "no label has both positive and negative rows among those held out in one fold: no "
            "AUC is defined. Use fewer folds."
        )
    score = float(np.mean(areas))
    if criterion.penalty is None:
        return score
    return max(score - float(criterion.penalty(int(selector.support_.sum()))), 0.0)


def _odds(fitted: FittedBayes | FittedVotes, chosen: Table) -> list[NDArray[np.int64]]:
    """Integer scores of each label, or of the second class."""
    if isinstance(fitted, FittedVotes):
        return list(fitted.votes(chosen))
    return [sums[:, 1] - sums[:, 0] for sums in fitted.sums(chosen)]


# -- Models of some of the rows that a selector was fitted on, made as its search made them --------


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


# -- A selector fitted again on some of the rows ---------------------------------------------------


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


# -- Every row decided by a model that has not seen it ---------------------------------------------


_FOLDS = 5


class Anew(NamedTuple):
    """What was said of every row by a model that has not seen it."""

    proba: NDArray[np.float64]
    decided: Array
    scores: NDArray[np.float64] | None  #: of the classes, in nat; where they were asked for


def decide_anew(
    model: Chooser, read: Sample, groups: Array | None = None, scored: bool = False
) -> Anew | None:
    """Probabilities and decisions of all rows; None where it cannot be done again on other rows:
    a class has too few of them, groups are too few, or `cv` names rows.

    Parameters
    ----------
    model : what is fitted again, in every fold, on the other rows: selection and all.  Rows that
        its `validation` names, among those that were read, decide in the folds that have them.
    read : the rows it was fitted on.
    groups : of these rows; none is on both sides.
    scored : are the scores of the classes asked for, too?
    """
    labelled, strata = read.targets.labelled, read.strata
    if np.bincount(strata).min() < _FOLDS and not labelled:
        return None
    if groups is not None:
        groups = group_numbers(groups)
    n_folds = _FOLDS if groups is None else min(_FOLDS, np.unique(groups).size)
    if n_folds < 2 or _names_rows(model):
        return None
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = kind(n_folds, shuffle=True, random_state=0)
    family = family_for(model)
    table = share(read.table, family.choose_models(read.table), family.rounded, read.repeats)
    target = read.targets.classes if labelled else read.classes[read.labels]
    width = len(read.targets.names) if labelled else len(read.classes)
    proba, decided = np.zeros((len(target), width)), np.empty_like(target)
    scores = np.zeros((len(target), width)) if scored else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say was said by the fit of all rows
        for train, test in splitter.split(np.zeros(len(target)), strata, groups):
            if not labelled and np.unique(read.labels[train]).size < width:
                return None
            mine = copy_for(model, train, len(target), seed=0)
            deciding = mine.validation
            if isinstance(deciding, np.ndarray) and not _both_sides(deciding, read.labels[train]):
                return None
            given = None if groups is None else groups[train]
            mine.fit(
                table.take(train), target[train], sample_weight=read.weights[train], groups=given
            )
            chosen = table.take(test).pick(np.flatnonzero(mine.support_))
            decided[test], proba[test] = mine.estimator_.fitted_.best_and_proba(chosen)
            if scores is not None:
                scores[test] = log_scores(mine.estimator_.fitted_, chosen)
    return Anew(proba, decided, scores)


def _names_rows(model: Chooser) -> bool:
    """Does `cv` name rows of the whole table, which a part of it does not have?"""
    cv = getattr(model, "cv", None)
    return not (cv is None or isinstance(cv, str | Integral) or hasattr(cv, "split"))


def _both_sides(deciding: NDArray[np.bool_], labels: NDArray[np.int64]) -> bool:
    """Do some rows decide, and rows of every class remain?"""
    return bool(deciding.any()) and np.unique(labels[~deciding]).size == np.unique(labels).size
