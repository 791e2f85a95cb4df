"""Performance of a model: confusion matrix, ROC, calibration, rates by threshold."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit
from sklearn.base import clone
from sklearn.metrics import auc, roc_curve
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.utils.validation import _num_samples

from ..checks import Array, Bools, Floats, plain_value
from ..data.result import Result
from ..data.sample import Sample, group_numbers, read_groups_of_rows, read_sample, read_weights
from ..estimators.base import ChosenColumns, procedure_of
from ..estimators.naive_bayes import NaiveBayes, fitted_of, rows_of
from ..models.base import Ints
from ..models.columns import warn_of_unknown
from ..models.fitted import FittedBayes
from ._typing import Model, Value
from .crossfit import (
    OutOfFold,
    Refits,
    as_reported,
    log_scores,
    out_of_fold,
    own_criterion,
    read_training,
    trained_on,
)

__all__ = ["ClassPerformance", "Performance", "performance"]

_BINS = 10

_MOST_POINTS = 200  # of a ROC curve

# Thresholds: every hundredth, and closer to both ends, where rare classes are decided.
_ENDS = np.array([1e-6, 1e-5, 1e-4, 1e-3])
_THRESHOLDS = np.concatenate([_ENDS, np.arange(1, 100) / 100, 1 - _ENDS[::-1]])

_FOLDS = 5


@dataclass(frozen=True)
class ClassPerformance:
    """One class against the others, or one label.

    Attributes
    ----------
    name : the class or label.
    positives, negatives : int
        Rows of it, and others (their weights, where rows have some).
    auc : float
        NaN where one of them is 0.
    roc : list of [false-alarm rate, detection rate]
        At most 200 points of the curve.
    brier : float
        Mean squared distance of the probability from 0 or 1.
    calibration : list of [mean probability, share of positives, rows]
        In ten bins of equal width; empty bins are left out.
    thresholds : list of [threshold, detection rate, false-alarm rate]
        A row is taken for the class where its probability is at least the threshold; NaN where no
        row is (or all rows are) of the class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.evaluation.performance import performance
    >>> X, y = load_iris(return_X_y=True)
    >>> verdict = performance(NaiveBayes().fit(X[::2], y[::2]), X[1::2], y[1::2]).verdicts[0]
    >>> verdict.name, verdict.positives, verdict.negatives, verdict.auc
    (0, 25, 50, 1.0)
    """

    name: Value
    positives: float
    negatives: float
    auc: float
    roc: list[list[float]]
    brier: float
    calibration: list[list[float]]
    thresholds: list[list[float]]


@dataclass(frozen=True)
class OwnScore:
    """Value of a user-defined criterion on the evaluated rows."""

    name: str
    value: float
    greater_is_better: bool


@dataclass(frozen=True)
class Performance(Result):
    """Performance of the chosen columns on rows that did not fit the tables.

    Attributes
    ----------
    rows : {"validation", "folds", "given"}
        Validation rows, judged by tables of the guiding rows; five folds of all rows, where there
        is no validation part; or rows given to a finished model.
    n_rows : int
    error : float
        Share of rows (of rows and labels) decided wrongly.
    log_loss : float
        Mean of -log P(true class), infinite where it is 0; over labels too.
    brier : float
        Mean over rows of the squared distance summed over classes; over labels, the mean.
    classes : list
        Classes, or names of labels.
    confusion : list of lists of int, or None
        True class x decision; None for labels.
    verdicts : list of Verdict
    criterion : OwnScore or None
        Name, value and direction of a criterion of one's own that guided the selection.
    n_groups : int or None
        How many groups the rows come from, where they come in groups.
    effective_rows : float
        As many independent rows would leave the error as uncertain: all rows, or fewer where rows
        of a group err together (Korn and Graubard 1998); intervals are made of it.

    Rows count by their weights, where they have some; class weights shape the tables only.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.evaluation.performance import performance
    >>> X, y = load_iris(return_X_y=True)
    >>> found = performance(NaiveBayes().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> found.rows, found.confusion
    ('given', [[25, 0, 0], [0, 24, 1], [0, 2, 23]])
    """

    rows: str
    n_rows: int
    error: float
    log_loss: float
    brier: float
    classes: list[Value]
    confusion: list[list[float]] | None
    verdicts: list[ClassPerformance]
    criterion: OwnScore | None = None
    n_groups: int | None = None
    effective_rows: float = 0.0

    _table: ClassVar[Mapping[str, str]] = {
        "class": "verdicts.name",
        "positives": "verdicts.positives",
        "negatives": "verdicts.negatives",
        "auc": "verdicts.auc",
        "brier": "verdicts.brier",
    }
    _texts = ("class",)

    def caption(self) -> str:
        """Error and log-loss, and how many rows they are of."""
        return f"error {self.error:.4f}, log-loss {self.log_loss:.4f} on {self.n_rows} rows"


def performance(
    model: Model | FittedBayes,
    X: object,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    progress: bool = False,
) -> Performance:
    """Performance of a selection (out-of-fold), or of a fitted model on new rows.

    Parameters
    ----------
    model : NaiveBayesSelector, WeightedNaiveBayes or NaiveBayes
        Fitted.  Of a selector, the chosen columns are judged on its validation rows, with tables,
        and with ``reweigh=True`` weights, from the guiding rows only (`estimator_` itself has
        learnt from all rows).  Without a validation part, and for a `WeightedNaiveBayes` on its own
        training rows, all of it, selection and all, is done again in five folds, and every row
        judged by what has not seen it; where a class has fewer than five rows, the columns chosen
        are judged in folds that took part in the selection.
    X, y, sample_weight, groups :
        For a selector, what it was fitted on; for a model, any rows of its classes.  With groups,
        whole groups are left out, and they are what `effective_rows` counts.
    progress : bool, default=False
        Tell on standard error how many fits are done, where the selection is done again.

    Returns
    -------
    performance : Performance

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.evaluation.performance import performance
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = NaiveBayesSelector(validation=0.5, random_state=0).fit(X, y)
    >>> found = performance(selector, X, y)
    >>> found.n_rows == len(selector.validation_rows_), found.error < 0.1
    (True, True)
    """
    if isinstance(model, ChosenColumns):
        if not isinstance(model.estimator_, NaiveBayes):
            raise TypeError(
                "performance needs probabilities: a selector of NaiveBayes; got one of "
                f"{type(model.estimator_).__name__}."
            )
        found = _of_training_rows(model, X, y, sample_weight, groups, progress)
        if found is not None:
            return found
    fitted = fitted_of(model)
    truth = _known_truth(fitted, y)
    table = rows_of(model, X)
    warn_of_unknown(fitted.specs, table)
    if len(truth) != table.n_rows:
        raise ValueError(f"y must have {table.n_rows} rows, as X has; got {len(truth)}.")
    weights = read_weights(sample_weight, table)
    decided, proba = fitted.best_and_proba(table)
    given = read_groups_of_rows(groups, table.n_rows)
    counts = np.flatnonzero(weights)  # rows without weight are no rows, and name no group
    mates = None if given is None else group_numbers(given[counts])
    told = proba[counts], decided[counts], truth[counts], weights[counts]
    return _judge("given", fitted, *told, mates)


def _known_truth(fitted: FittedBayes, y: ArrayLike) -> Array:
    """The truth, in the classes or labels of the model."""
    truth = np.asarray(y)
    if fitted.labelled:
        wanted = (len(truth), len(fitted.labels))
        if truth.shape != wanted or not np.isin(truth, (0, 1)).all():
            raise ValueError(
                f"y must be a matrix of 0 and 1 with {wanted[1]} columns, one a label of the "
                f"model; got shape {truth.shape}."
            )
        return truth
    if truth.ndim != 1:
        raise ValueError(f"y must hold one class a row; got shape {truth.shape}.")
    known = fitted.only.classes.tolist()
    odd = [value for value in truth.tolist() if value not in known][:1]
    if odd:
        raise ValueError(f"y holds {odd[0]!r}, which is not among the model's classes {known}.")
    return truth


def _of_training_rows(
    model: ChosenColumns,
    X: object,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    progress: bool,
) -> Performance | None:
    """Performance on the rows of the fit; None of other rows, where a model may be given them."""
    parts = procedure_of(model).row_parts
    reader = _read_if_trained_on if parts is None else read_training
    read = reader(model, X, y, sample_weight)
    if read is None:
        return None
    given = read_groups_of_rows(groups, _num_samples(X))
    mates = None if given is None else group_numbers(given[read.rows])
    refits = Refits(model, X, y, groups=mates, read=read, encode=True)
    fitted, own = model.estimator_.fitted_, own_criterion(model)
    how, rows, found = "anew", np.arange(read.rows.size), None
    # Terms are sought again in every fold, also where all rows gave none.
    if parts is None or (fitted.specs and not parts[1].size):
        found = out_of_fold(refits, scored=own is not None, progress=progress)
    if found is None and parts is None:
        return None
    if found is None:
        how, rows, found = _by_chosen_columns(refits, scored=own is not None)
    mine = None if mates is None else mates[rows]
    weights = read.weights[rows]
    judged = _judge(how, fitted, found.proba, found.decided, refits.target[rows], weights, mine)
    if own is None or found.scores is None:
        return judged
    value = as_reported(own, found.scores, read.labels[rows], weights)
    return replace(judged, criterion=OwnScore(own.name, value, own.greater_is_better))


def _read_if_trained_on(
    model: ChosenColumns, X: object, y: ArrayLike, sample_weight: ArrayLike | None
) -> Sample | None:
    """The rows, where they are those that the model was fitted on; None where they are not."""
    fitted = model.estimator_.fitted_
    if fitted.labelled:
        return None
    read = read_sample(clone(model), X, _known_truth(fitted, y), sample_weight)
    if not np.array_equal(read.classes, fitted.only.classes):
        return None
    chosen = read.table.pick(np.flatnonzero(model.support_))
    same = trained_on(fitted, chosen, read.targets.classes, read.weights)
    return read if same else None


def _by_chosen_columns(refits: Refits, scored: bool) -> tuple[str, Ints, OutOfFold]:
    """Predict with the columns chosen: validation rows, or folds that took part in the selection.

    Gives what kind of rows they are, which of those read, and the predictions.
    """
    truth, fitted = refits.target, refits.last.estimator_.fitted_
    how, parts = "validation", [refits.parts]
    if not fitted.specs:
        everything = np.arange(len(truth))
        how, parts = "given", [(everything, everything)]
    elif not refits.parts[1].size:
        how, parts = "folds", _folds(truth, refits.mates)
    temperatures = [each.temperature for each in fitted.problems]
    proba, decided, scores = [], [], []
    for train, test in parts:
        part = fitted
        if how != "given":  # a temperature is the selector's, not of its tables
            part = refits.chosen_on(train).calibrated(temperatures)
        rows = refits.chosen(test)
        best, chances = part.best_and_proba(rows)
        decided.append(best)
        proba.append(chances)
        if scored:
            scores.append(log_scores(part, rows))
    judged = np.concatenate([test for _, test in parts])
    found = np.concatenate(proba), np.concatenate(decided)
    return how, judged, OutOfFold(*found, np.concatenate(scores) if scored else None)


def _folds(y: Array, mates: Ints | None) -> list[tuple[Ints, Ints]]:
    """Five parts of the rows, each class spread over them where it has enough rows."""
    if mates is not None:
        n_groups = np.unique(mates).size
        return list(GroupKFold(min(_FOLDS, n_groups)).split(np.zeros(len(y)), groups=mates))
    stratified = y.ndim == 1 and np.unique(y, return_counts=True)[1].min() >= _FOLDS
    kind = StratifiedKFold if stratified else KFold
    splitter = kind(min(_FOLDS, len(y)), shuffle=True, random_state=0)
    return list(splitter.split(np.zeros(len(y)), y))


def _judge(
    how: str,
    fitted: FittedBayes,
    proba: Array,
    decided: Array,
    truth: Array,
    weights: Array,
    mates: Ints | None = None,
) -> Performance:
    if fitted.labelled:
        names: list[Value] = list(fitted.labels)
        with np.errstate(divide="ignore"):
            losses = -np.log(np.where(truth == 1, proba, 1 - proba)).mean(1)
        squares = ((proba - truth) ** 2).mean(1)
        wrong = (decided != truth).mean(1)
        confusion = None
        hits = [truth[:, j] == 1 for j in range(len(names))]
    else:
        classes = fitted.only.classes
        names = [plain_value(value) for value in classes]
        at = np.searchsorted(classes, truth)
        with np.errstate(divide="ignore"):
            losses = -np.log(proba[np.arange(len(truth)), at])
        squares = ((proba - np.eye(len(names))[at]) ** 2).sum(1)
        wrong = (decided != truth).astype(float)
        counts = np.zeros((len(names), len(names)))
        np.add.at(counts, (at, np.searchsorted(classes, decided)), weights)
        confusion = [[_count(n) for n in row] for row in counts]
        hits = [at == k for k in range(len(names))]
    verdicts = [
        _verdict(name, mine, proba[:, j], weights)
        for j, (name, mine) in enumerate(zip(names, hits, strict=True))
    ]
    error, loss, brier = (
        float(np.average(each, weights=weights)) for each in (wrong, losses, squares)
    )
    n_groups, effective = None, float(len(truth))
    if mates is not None:
        n_groups = int(np.unique(mates).size)
        effective = min(effective_rows(wrong, weights, mates), effective)
    told = how, len(truth), error, loss, brier, names, confusion, verdicts
    return Performance(*told, n_groups=n_groups, effective_rows=effective)


def effective_rows(wrong: Array, weights: Array, mates: Ints) -> float:
    """Effective sample size: independent rows that would leave the error rate as uncertain.

    Where no row, or every row, is wrong, groups are as many as can be told apart.

    Examples
    --------
    Ten groups of five rows that are all right or all wrong are ten rows, and Student's t of ten.

    >>> mates = np.repeat(np.arange(10), 5)
    >>> round(effective_rows((mates < 5) * 1.0, np.ones(50), mates), 2)
    6.76
    """
    share = float(np.average(wrong, weights=weights))
    _, owner = np.unique(mates, return_inverse=True)
    by_group = np.bincount(owner.ravel(), weights * (wrong - share))
    n = by_group.size
    if n < 2:
        return 1.0
    variance = n / (n - 1) * float(np.square(by_group).sum()) / float(weights.sum()) ** 2
    if not variance:
        return float(n)
    few = float(ndtri(0.975) / stdtrit(n - 1, 0.975)) ** 2
    return max(share * (1 - share) / variance * few, 1.0)


def _count(weight: float) -> float:
    """Whole weights are numbers of rows."""
    return int(weight) if float(weight).is_integer() else float(weight)


def _verdict(name: Value, hit: Bools, chance: Floats, weights: Floats) -> ClassPerformance:
    positives, negatives = float(weights[hit].sum()), float(weights[~hit].sum())
    area, curve = float("nan"), []
    if positives and negatives:
        false, detected, _ = roc_curve(hit, chance, sample_weight=weights)
        area = float(auc(false, detected))
        keep = np.unique(np.linspace(0, len(false) - 1, _MOST_POINTS).round().astype(int))
        curve = np.column_stack([false, detected])[keep].tolist()
    at = np.minimum((chance * _BINS).astype(int), _BINS - 1)
    bins = [
        [
            float(np.average(chance[mine], weights=weights[mine])),
            float(np.average(hit[mine], weights=weights[mine])),
            _count(weights[mine].sum()),
        ]
        for mine in (at == b for b in range(_BINS))
        if weights[mine].sum()
    ]

    def rate(taken: Bools, of: float) -> float:
        return float(weights[taken].sum() / of) if of else float("nan")

    rates = [
        [
            float(threshold),
            rate((chance >= threshold) & hit, positives),
            rate((chance >= threshold) & ~hit, negatives),
        ]
        for threshold in _THRESHOLDS
    ]
    brier = float(np.average((chance - hit) ** 2, weights=weights))
    return ClassPerformance(
        name, _count(positives), _count(negatives), area, curve, brier, bins, rates
    )


# -- How far chance may move the log-loss along a path of weighted terms ---------------------------


# States of a weighted path whose bands are drawn, and rows that these rest on.
_MOST_STATES, _MOST_ROWS = 60, 5000


def weighted_bands(
    model: ChosenColumns, X: object, y: ArrayLike, groups: ArrayLike | None = None
) -> list[float] | None:
    """Standard errors of the log-loss of each state, over the rows; None where they cost too much.

    Parameters
    ----------
    model : fitted.
    X, y, groups : what it was fitted on; of groups, mean losses are what is counted.
    """
    path, truth = model.path_, np.asarray(y)
    if fitted_of(model).labelled or len(path) > _MOST_STATES:
        return None
    found = []
    for step in path.steps:
        state = model.at(step.n_terms)
        rows = rows_of(state, X)
        some = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _MOST_ROWS)).astype(np.int64)
        problem = state.estimator_.fitted_.only
        logs = problem.log_proba(problem.sums(rows.take(some)))
        at = np.searchsorted(problem.classes, truth[some])
        losses = -np.maximum(logs[np.arange(some.size), at], -700.0)
        if groups is not None:
            _, owner = np.unique(np.asarray(groups)[some], return_inverse=True)
            by_group = np.bincount(owner.ravel(), losses - losses.mean())
            found.append(float(np.sqrt(np.square(by_group).sum()) / some.size))
            continue
        found.append(float(losses.std() / np.sqrt(some.size)))
    return [float(f"{each:.4g}") for each in found]
