"""What "auto" and presets stand for, by rows, columns and classes; the figures are in the docs."""

from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ..checks import Array, check_number, choose, column_indices
from ..criteria import CRITERIA
from ..criteria.base import Criterion
from ..criteria.standard_error import has_standard_error
from ..data.sample import Sample
from ..models.registry import MODELS
from ..search.run import Task
from ..search.strategies.shortlist import ShortlistSearch
from ..search.strategies.sweeps import PhaseSearch
from .naive_bayes import NaiveBayes
from .parameters import read_forbidden, read_groups
from .votes import FeatureVotes

if TYPE_CHECKING:
    from .selector import NaiveBayesSelector
    from .weighted import WeightedNaiveBayes

AUTO = "auto"

#: Presets of both estimators.
PRESETS = ("few", "balanced", "accurate")

#: At most so many columns or terms.
FEW = 10

#: At most so many terms of a weighted model.
TERMS = {"few": FEW, "balanced": 20, "accurate": 60, None: 60}

# Steps without a better subset after which a phase ends; together they must bring this share of all
# that was gained, or a table of many rows is searched for gains that nobody would keep.
_PATIENCE, _LEAST_GAIN = 20, 0.005

# Tables with more columns are cut to so many by a ranking.
_WIDE, _CUT = 5000, 1000

# Where there are more columns than rows, some of them fit by chance: so many rows for each.
_ROWS_A_COLUMN = 10

_FOLDS = 10

# Rows a class must have to be folded, also when a third of the rows is put aside.
_LEAST_ROWS = 15


def settle(
    selector: "NaiveBayesSelector", sample: Sample | None = None, groups: Array | None = None
) -> "NaiveBayesSelector":
    """A copy in which nothing is "auto" any more.

    Parameters
    ----------
    selector : as the user made it.
    sample : the rows; None before there are any, to judge what the user asks for.
    groups : of the rows with weight, or None.
    """
    if selector.preset is not None:
        choose("preset", selector.preset, PRESETS)
    found = copy(selector)
    votes = isinstance(found.estimator, FeatureVotes)
    if _is_auto(found.criterion):
        found.criterion = "auc" if votes else "probability"
    if _is_auto(found.validation):
        found.validation = None
    if found.max_features is None and found.n_features is None:
        found.max_features = _most(selector, sample)
    if found.preset == "few":
        found.families = AUTO if found.families is None else found.families
    if _is_auto(found.search):
        found.search = _search(found, sample)
    if _is_auto(found.cv):
        found.cv = _folds(found, sample, groups)
    if _is_auto(found.choice):
        found.choice = _choice(found, groups)
    if _is_auto(found.reweigh):
        found.reweigh = _reweighable(found, sample)
    return found


def settle_weighted(model: "WeightedNaiveBayes") -> "WeightedNaiveBayes":
    """A copy whose preset is spelt out; what folds decide stays "auto".

    Parameters
    ----------
    model : as the user made it.
    """
    if model.preset is not None:
        choose("preset", model.preset, PRESETS)
    found = copy(model)
    if _is_auto(found.max_terms):
        found.max_terms = TERMS[found.preset]
    if found.preset == "few" and found.families is None:
        found.families = AUTO
    return found


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO


def _most(selector: "NaiveBayesSelector", sample: Sample | None) -> int | None:
    """Ten, where few are asked for; one for ten rows, where there are more columns than rows."""
    if sample is None:
        return None
    names, n_rows = sample.table.names, sample.labels.size
    most = FEW if selector.preset == "few" else max(FEW, n_rows // _ROWS_A_COLUMN)
    if selector.preset != "few" and (len(names) <= n_rows or not _is_auto(selector.search)):
        return None
    kept = set(column_indices("keep", selector.keep, names))
    free = len(names) - len(read_forbidden(selector.forbid, names, kept))
    groups = read_groups(selector.feature_groups, names)
    n_kept = sum(len(members) for members in groups if kept & set(members))
    least = check_number("min_features", selector.min_features, low=0, high=free, whole=True)
    return min(max(most, int(least), n_kept), free)


def _search(selector: "NaiveBayesSelector", sample: Sample | None) -> object:
    if selector.n_features is not None:
        return "forward-backward"
    least = 0.0 if selector.preset == "accurate" else _LEAST_GAIN
    search = PhaseSearch("forward", patience=_PATIENCE, least_gain=least)
    if sample is None or len(sample.table.names) <= _WIDE:
        return search
    return ShortlistSearch(search, size=_CUT)


def _folds(selector: "NaiveBayesSelector", sample: Sample | None, groups: Array | None) -> object:
    """Folds; leave-one-out where a class has too few rows for them."""
    if sample is None:
        return shuffled(_FOLDS)
    if groups is not None:
        return max(min(_FOLDS, len(set(groups.tolist()))), 2)
    least = int(np.bincount(sample.strata).min())
    if least >= _LEAST_ROWS or not _leaves_one_out(selector, sample):
        return shuffled(max(min(_FOLDS, int(np.bincount(sample.strata).max())), 2))
    return "loo"


def shuffled(n_splits: int) -> StratifiedKFold:
    """Folds that do not hang on the order of the rows, which tables are often sorted by."""
    return StratifiedKFold(n_splits, shuffle=True, random_state=0)


def folds_of_fewer(task: Task, rows: NDArray[np.int64]) -> object:
    """The same way to score some rows: at most as many folds as a class has rows, or as groups."""
    cv, most = task.cv, int(np.bincount(task.sample.strata[rows]).max())
    if task.groups is not None:
        most = min(most, len(set(task.groups[task.sample.rows[rows]].tolist())))
    most = max(most, 2)
    if isinstance(cv, Integral):
        return min(int(cv), most)
    if isinstance(cv, StratifiedKFold) and cv.n_splits > most:
        return StratifiedKFold(most, shuffle=cv.shuffle, random_state=cv.random_state)
    return cv


def suit_folds(
    selector: "NaiveBayesSelector", asked: "NaiveBayesSelector", task: Task, rows: NDArray[np.int64]
) -> Task:
    """Folds that nobody named are no more than the guiding rows carry.

    Parameters
    ----------
    selector, asked : as the user made it, and with everything spelt out; the latter is told.
    task : what is to be searched.
    rows : those that guide.
    """
    if not _is_auto(selector.cv):
        return task
    asked.cv = folds_of_fewer(task, rows)
    return replace(task, cv=asked.cv)


def _leaves_one_out(selector: "NaiveBayesSelector", sample: Sample) -> bool:
    estimator = NaiveBayes() if selector.estimator is None else selector.estimator
    if not isinstance(estimator, NaiveBayes) or estimator.smoothing == "mean":
        return False
    if sample.table.is_sparse or sample.targets.labelled:
        return False
    criterion = _criterion(selector)
    models = estimator.family().choose_models(sample.table)
    return (
        criterion is not None
        and criterion.form != "moves"
        and all(MODELS[model].leaves_one_out for model in models)
    )


def _criterion(selector: "NaiveBayesSelector") -> Criterion | None:
    """The criterion, where it is one; judged later."""
    if isinstance(selector.criterion, Criterion):
        return selector.criterion
    return CRITERIA.get(selector.criterion)


def _choice(selector: "NaiveBayesSelector", groups: Array | None = None) -> str:
    """Nothing that chance would find as well, where scores are honest and known to a margin."""
    criterion = _criterion(selector)
    if selector.validation is not None or (isinstance(selector.cv, str) and selector.cv == "train"):
        return "best"
    if selector.n_features is not None or criterion is None or not has_standard_error(criterion):
        return "best"
    # Of few groups, the best subset is that of the luckiest column too often.
    if selector.preset == "accurate" and groups is None:
        return "best"
    # Rows that led to the start cannot prove what is found from there.
    return "proven" if selector.start is None else "one-se"


def _reweighable(selector: "NaiveBayesSelector", sample: Sample | None) -> bool:
    estimator = NaiveBayes() if selector.estimator is None else selector.estimator
    if not isinstance(estimator, NaiveBayes) or isinstance(estimator.smoothing, str):
        return False
    if not estimator.smoothing or sample is None or sample.targets.labelled:
        return False
    models = set(estimator.family().choose_models(sample.table))
    return all(MODELS[model].discrete for model in models)
