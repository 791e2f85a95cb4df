"""A fitted selector judged by its criterion on rows that took no part."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..criteria.auc import AUC
from ..criteria.base import Criterion
from ..criteria.row_values import auc_parts
from ..data.sample import check_class_weight, class_factors
from ..data.tables import Table
from ..estimators.auto import settle
from ..estimators.chosen import ChosenColumns
from ..estimators.parameters import judge_parameters
from ..estimators.selector import NaiveBayesSelector
from ..models.fitted import FittedBayes
from ..models.votes import FittedVotes

Floats = NDArray[np.float64]


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
