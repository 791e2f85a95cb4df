"""A fitted selector judged by its criterion on rows that took no part."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..criteria.auc import AUC
from ..criteria.base import Criterion
from ..criteria.row_values import auc_parts, line_values
from ..criteria.rows import RowCriterion
from ..data.tables import Table
from ..data.weights import check_class_weight, class_factors

Floats = NDArray[np.float64]


def held_out_score(
    selector: Any, criterion: Criterion, table: Table, target: NDArray[Any], weights: Floats,
    trained: tuple[NDArray[Any], Floats],
) -> float:  # fmt: skip
    """The selector's criterion on rows of its table; NaN for a criterion that is not known by name.

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
    if not isinstance(criterion, RowCriterion):
        return float("nan")
    model = selector.estimator_
    if target.ndim == 2:
        found = [
            line_values(criterion.name, part._sums(chosen), part._scale.unit, truth)
            for part, truth in zip(model._parts, target.T, strict=True)
        ]
        return float(np.average(np.mean(found, axis=0), weights=weights))
    classes = np.searchsorted(model.classes_, target)
    values = line_values(criterion.name, model._sums(chosen), model._scale.unit, classes)
    factors = _factors(selector, *trained)
    return float(np.average(values, weights=weights * factors[classes]))


def held_out_error(selector: Any, table: Table, target: NDArray[Any], weights: Floats) -> float:
    """Share of wrong decisions; with labels, over rows and labels."""
    chosen = table.pick(np.flatnonzero(selector.support_))
    wrong = selector.estimator_._best(chosen) != target
    return float(np.average(wrong.reshape(len(target), -1).mean(1), weights=weights))


def _factors(selector: Any, target: NDArray[Any], weights: Floats) -> Floats:
    """Class weights as the training rows balance them."""
    classes = selector.estimator_.classes_
    labels = np.searchsorted(classes, target)
    given = check_class_weight(selector.class_weight, classes)
    found: list[Fraction] = class_factors(given, labels, weights, len(classes))
    return np.array([float(factor) for factor in found])


def _area(
    selector: Any, criterion: AUC, chosen: Table, target: NDArray[Any], weights: Floats
) -> float:
    """Mean AUC over labels, less the price of the features."""
    model = selector.estimator_
    truths = target if target.ndim == 2 else (target == model.classes_[1])[:, None]
    counts = weights.astype(np.int64)
    areas = []
    for g, (scores, truth) in enumerate(zip(_odds(model, chosen), truths.T, strict=True)):
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
    return max(score - float(criterion.penalty(len(selector.selected_))), 0.0)


def _odds(model: Any, chosen: Table) -> list[NDArray[np.int64]]:
    """Integer scores of each label, or of the second class."""
    if not hasattr(model, "_sums"):
        return list(np.atleast_2d(model._votes(chosen)))
    sums = [part._sums(chosen) for part in model._parts or [model]]
    return [each[:, 1] - each[:, 0] for each in sums]
