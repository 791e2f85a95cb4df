"""Every row decided by a model that has not seen it: all of a fit, repeated in folds."""

import warnings
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from ..checks import Array
from ..data.parts import group_numbers
from ..data.sample import Sample
from ..models.shared import share
from .held_out import log_scores
from .piped import Chooser, copy_for, family_for

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
