"""How good a chosen model is: confusion, ROC curves, calibration, rates as the threshold moves."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import auc, roc_curve
from sklearn.model_selection import KFold, StratifiedKFold

from .classifier import NaiveBayes
from .selector import NaiveBayesSelector
from .validation import plain_value

__all__ = ["Performance", "Verdict", "performance"]

_BINS = 10
_MOST_POINTS = 200  # of a ROC curve
_FOLDS = 5


@dataclass(frozen=True)
class Verdict:
    """One class against the others, or one label.

    Attributes
    ----------
    name : the class or label.
    positives, negatives : int
        Rows of it, and others.
    auc : float
        NaN where one of them is 0.
    roc : list of [false-alarm rate, detection rate]
        At most 200 points of the curve.
    brier : float
        Mean squared distance of the probability from 0 or 1.
    calibration : list of [mean probability, share of positives, rows]
        In ten bins of equal width; empty bins are left out.
    thresholds : list of [threshold, detection rate, false-alarm rate]
        A row is taken for the class where its probability is at least the threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.performance import performance
    >>> X, y = load_iris(return_X_y=True)
    >>> verdict = performance(NaiveBayes().fit(X[::2], y[::2]), X[1::2], y[1::2]).verdicts[0]
    >>> verdict.name, verdict.positives, verdict.negatives, verdict.auc
    (0, 25, 50, 1.0)
    """

    name: Any
    positives: int
    negatives: int
    auc: float
    roc: list[list[float]]
    brier: float
    calibration: list[list[float]]
    thresholds: list[list[float]]


@dataclass(frozen=True)
class Performance:
    """The chosen columns judged on rows that the judged tables do not come from.

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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.performance import performance
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
    classes: list[Any]
    confusion: list[list[int]] | None
    verdicts: list[Verdict]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def performance(model: Any, X: Any, y: Any) -> Performance:
    """Judge a selection, or a finished model on rows that are new to it.

    Parameters
    ----------
    model : NaiveBayesSelector or NaiveBayes
        Fitted.  Of a selector, the chosen columns are judged on its validation rows, with tables
        from the guiding rows only (`estimator_` itself has learnt from all rows); without a
        validation part, in five folds, all of which took part in the selection.
    X, y :
        For a selector, the rows it was fitted on; for a model, any rows.

    Returns
    -------
    performance : Performance

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.performance import performance
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = NaiveBayesSelector(cv=5, random_state=0).fit(X, y)
    >>> found = performance(selector, X, y)
    >>> found.n_rows == len(selector.validation_rows_), found.error < 0.1
    (True, True)
    """
    if isinstance(model, NaiveBayesSelector):
        if not isinstance(model.estimator_, NaiveBayes):
            raise TypeError(
                "performance needs probabilities: a selector of NaiveBayes; got one of "
                f"{type(model.estimator_).__name__}."
            )
        return _of_selector(model, X, y)
    return _judge("given", model.classes_, model.predict_proba(X), model.predict(X), y, model)


def _of_selector(selector: NaiveBayesSelector, X: Any, y: Any) -> Performance:
    chosen, model = selector._chosen(X), selector.estimator_
    truth = np.asarray(y)
    if not chosen.names:
        proba, decided = selector.predict_proba(X), selector.predict(X)
        return _judge("given", model.classes_, proba, decided, truth, model)
    fresh = clone(model).set_params(features=dict(enumerate(model.feature_models_)))
    if selector.validation_rows_.size:
        parts = [(selector.guiding_rows_, selector.validation_rows_)]
    else:
        parts = _folds(truth)
    found: list[tuple[Any, Any, Any]] = []
    for train, test in parts:
        part = clone(fresh).fit(chosen.take(train), truth[train])
        rows = chosen.take(test)
        chances = _all_classes(part, part.predict_proba(rows), model)
        found.append((chances, part.predict(rows), truth[test]))
    how = "validation" if len(parts) == 1 else "folds"
    proba, decided, truth = (np.concatenate(each) for each in zip(*found, strict=True))
    return _judge(how, model.classes_, proba, decided, truth, model)


def _folds(y: NDArray[Any]) -> list[Any]:
    """Five parts of the rows, each class spread over them where it has enough rows."""
    stratified = y.ndim == 1 and np.unique(y, return_counts=True)[1].min() >= _FOLDS
    kind = StratifiedKFold if stratified else KFold
    splitter = kind(min(_FOLDS, len(y)), shuffle=True, random_state=0)
    return list(splitter.split(np.zeros(len(y)), y))


def _all_classes(part: Any, proba: NDArray[np.float64], model: Any) -> NDArray[np.float64]:
    """Columns for all classes of the model, also those that a part does not have."""
    if model._parts or proba.shape[1] == len(model.classes_):
        return proba
    out = np.zeros((len(proba), len(model.classes_)))
    out[:, np.searchsorted(model.classes_, part.classes_)] = proba
    return out


def _judge(
    how: str, classes: Any, proba: NDArray[np.float64], decided: Any, y: Any, model: Any
) -> Performance:
    truth = np.asarray(y)
    if model._parts:
        names = list(model.label_names_)
        wrong = decided != truth
        chances = np.where(truth == 1, proba, 1 - proba)
        brier = float(np.mean((proba - truth) ** 2))
        confusion = None
        hits = [truth[:, j] == 1 for j in range(len(names))]
    else:
        names = [plain_value(value) for value in classes]
        at = np.searchsorted(classes, truth)
        wrong = decided != truth
        chances = proba[np.arange(len(truth)), at]
        brier = float(np.mean(((proba - np.eye(len(names))[at]) ** 2).sum(1)))
        confusion = np.zeros((len(names), len(names)), np.int64)
        np.add.at(confusion, (at, np.searchsorted(classes, decided)), 1)
        hits = [at == k for k in range(len(names))]
    with np.errstate(divide="ignore"):
        log_loss = float(-np.log(chances).mean())
    verdicts = [_verdict(name, mine, proba[:, j]) for j, (name, mine) in
                enumerate(zip(names, hits, strict=True))]  # fmt: skip
    return Performance(
        how, len(truth), float(np.mean(wrong)), log_loss, brier, names,
        None if confusion is None else confusion.tolist(), verdicts,
    )  # fmt: skip


def _verdict(name: Any, hit: NDArray[np.bool_], chance: NDArray[np.float64]) -> Verdict:
    positives, negatives = int(hit.sum()), int((~hit).sum())
    area, curve = float("nan"), []
    if positives and negatives:
        false, detected, _ = roc_curve(hit, chance)
        area = float(auc(false, detected))
        keep = np.unique(np.linspace(0, len(false) - 1, _MOST_POINTS).round().astype(int))
        curve = np.column_stack([false, detected])[keep].tolist()
    at = np.minimum((chance * _BINS).astype(int), _BINS - 1)
    bins = [
        [float(chance[at == b].mean()), float(hit[at == b].mean()), int((at == b).sum())]
        for b in range(_BINS) if (at == b).any()
    ]  # fmt: skip
    rates = []
    for threshold in _grid():
        said = chance >= threshold
        rates.append([
            float(threshold), float((said & hit).sum() / max(positives, 1)),
            float((said & ~hit).sum() / max(negatives, 1)),
        ])  # fmt: skip
    return Verdict(
        name, positives, negatives, area, curve, float(np.mean((chance - hit) ** 2)), bins, rates
    )


def _grid() -> NDArray[np.float64]:
    """Thresholds: every hundredth, and closer to both ends, where rare classes are decided."""
    ends = np.array([1e-6, 1e-5, 1e-4, 1e-3])
    return np.concatenate([ends, np.arange(1, 100) / 100, 1 - ends[::-1]])
