"""Calibration by temperature scaling on held-out rows."""

import copy
import warnings
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from ..checks import Array, check_number, choose, plain_value
from ..data.result import Columns, Result
from ..data.sample import Sample, check_class_weight, class_factors, is_label_matrix, read_sample
from ..data.tables import Table
from ..estimators.base import ChosenColumns, procedure_of
from ..estimators.naive_bayes import around, bayes_of, rows_of
from ..models.base import Floats, Ints
from ..models.fitted import FittedBayes
from ._typing import Model
from .crossfit import Refits, read_training, trained_on

_MOST_STEPS = 200

Judged = TypeVar("Judged", bound=Model)


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """What a temperature did to the probabilities on the rows it was found on.

    Attributes
    ----------
    temperature : float, or tuple of float with labels
        Above 1: the model was too sure of itself; below: not sure enough.
    log_loss : tuple of float
        Mean of -log P(class) before and after.
    brier : tuple of float
        Mean squared error of P(second class) or of P(label) before and after; with several
        classes, the squared errors of a row are added up.
    weight : float
        Rows, with their repeats.
    note : str
        Which bound stopped the search for a temperature, and why; empty where none did.

    Examples
    --------
    >>> from bayesieve.evaluation.calibration import Calibration
    >>> found = Calibration(2.5, (0.41, 0.33), (0.12, 0.1), 200.0, "")
    >>> print(found.to_text())
    temperature 2.5
    log-loss 0.4100 -> 0.3300, Brier 0.1200 -> 0.1000
    """

    temperature: float | tuple[float, ...]
    log_loss: tuple[float, float]
    brier: tuple[float, float]
    weight: float
    note: str

    def to_columns(self) -> Columns:
        """Both losses before and after."""
        before, after = zip(self.log_loss, self.brier, strict=True)
        return {"": ["log-loss", "Brier"], "before": [*before], "after": [*after]}

    def caption(self) -> str:
        """The temperature, and the note where there is one."""
        lines = self.to_text().split("\n")
        return "; ".join([lines[0], *lines[2:]])

    def to_text(self) -> str:
        """Two lines, and the note where there is one."""
        several = isinstance(self.temperature, tuple)
        found = self.temperature if isinstance(self.temperature, tuple) else (self.temperature,)
        lines = [
            f"temperature{'s' if several else ''} {', '.join(f'{t:.4g}' for t in found)}",
            f"log-loss {self.log_loss[0]:.4f} -> {self.log_loss[1]:.4f}, "
            f"Brier {self.brier[0]:.4f} -> {self.brier[1]:.4f}",
        ]
        return "\n".join([*lines, self.note] if self.note else lines)


def calibrate(
    model: Judged,
    X: object,
    y: ArrayLike,
    *,
    rows: str = "new",
    sample_weight: ArrayLike | None = None,
    bounds: tuple[float, float] = (0.1, 100.0),
) -> Judged:
    """Calibrate a model's probabilities by temperature scaling on held-out rows.

    Naive Bayes counts what two dependent features both say twice, and is too sure.  A temperature
    above 1 takes that back: it changes no decision and no order of rows by the log-odds of two
    classes, and the evidence still adds up, since all terms, the prior's included, are divided by
    it (`explain` shows the divided bars).  It is found by maximum likelihood, a convex problem in
    1 / temperature.  With labels, each label has a temperature of its own.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted; it stays as it is.
    X, y : as for its ``predict`` and ``fit``.
    rows : {"new", "validation"}, default="new"
        Which rows X and y hold: rows that took no part in the fit (a warning says so where they
        are the very rows of the fit); or, for a selector, all the rows given to its ``fit``, with
        `sample_weight` as it was there.  In the second case a model of the chosen columns, from the
        guiding rows alone, is judged on the validation rows, and its temperature handed to the
        selector's model of all rows.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row stands for.
    bounds : tuple of float, default=(0.1, 100.0)
        Lowest and highest temperature.  Where every row's class is the most probable one, the
        likelihood grows without end as the temperature falls; where the scores tell nothing, as it
        rises.  The bound is taken then, with a warning, and the note says so.

    Returns
    -------
    model : NaiveBayes or NaiveBayesSelector
        A copy, with ``temperature_`` (of a selector: in ``estimator_``) and ``calibration_``, a
        `Calibration`.  A new ``fit`` forgets the temperature.

    Notes
    -----
    With a selector's `class_weight`, rows count by it, as they did in its fit.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger (2017), On calibration of modern neural networks.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, calibrate
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> x = np.where(rng.random(400) < 0.2, 1 - y, y)
    >>> X = np.column_stack([x] * 5)  # five times the same
    >>> model = calibrate(NaiveBayes().fit(X[:200], y[:200]), X[200:], y[200:])
    >>> 3 < model.temperature_ < 6
    True
    >>> before, after = model.calibration_.log_loss
    >>> after < before
    True
    """
    choose("rows", rows, ["new", "validation"])
    low, high = _check_bounds(bounds)
    chooser = model if isinstance(model, ChosenColumns) else None
    final = bayes_of(model)
    parts = None if chooser is None else procedure_of(chooser).row_parts
    # A temperature is about what was learnt: the place of use is left out, and put in again.
    places = [problem.place for problem in final.fitted_.problems if problem.place is not None]
    fitted = final.fitted_.deployed(None)
    if rows == "validation":
        if chooser is None or parts is None:
            raise ValueError("rows='validation' is for a NaiveBayesSelector; use rows='new'.")
        # A model of the guiding rows, and the validation rows to judge it by.
        read = read_training(chooser, X, y, sample_weight)
        refits = Refits(chooser, X, y, read=read, encode=True)
        guiding, held = refits.parts
        if not held.size:
            raise ValueError(
                "rows='validation' needs a selector with a validation part; it was fitted with "
                "validation=None. Give new rows."
            )
        judge, table = refits.chosen_on(guiding), refits.chosen(held)
        target, weights = read.targets.classes[held], read.weights[held]
    else:
        judge, (table, target, weights) = fitted, held_out_rows(model, fitted, X, y, sample_weight)
    if rows == "new" and trained_on(fitted, table, target, weights):
        others = (
            " Give rows that are new to it."
            if parts is None
            else " Use rows='validation', or rows that are new."
        )
        warnings.warn(
            "X and y hold the very counts that the model was fitted on: they seem to be its "
            "training rows, on which it is surer than on others, so that the temperature comes out "
            f"too low.{others}",
            UserWarning,
            stacklevel=2,
        )
    if chooser is not None and not fitted.labelled:
        weights = weights * _class_weights(chooser, target[:, 0], weights)
    found = copy.copy(final)
    calibrated, report = _fit_temperatures(fitted, judge, table, target, weights, (low, high))
    found.hold(calibrated.deployed(places or None))
    if report.note:
        warnings.warn(report.note, UserWarning, stacklevel=2)
    twin = around(model, found)
    twin.calibration_ = report
    return twin


def _class_weights(selector: ChosenColumns, labels: Ints, weights: Floats) -> Floats:
    """The weight of each row's class; "balanced" by these rows, in which classes may be missing."""
    present, at = np.unique(labels, return_inverse=True)
    given = check_class_weight(selector.class_weight, selector.estimator_.classes_)
    if isinstance(given, dict):
        given = {i: given.get(int(k), 1.0) for i, k in enumerate(present)}
    return np.array([float(f) for f in class_factors(given, at, weights, present.size)])[at]


def _check_bounds(bounds: object) -> tuple[float, float]:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise TypeError(f"bounds must be two temperatures (low, high); got {bounds!r}.")
    low, high = (
        float(check_number(f"bounds[{i}]", bound, low=1e-6, high=1e6))
        for i, bound in enumerate(bounds)
    )
    if not low <= 1 <= high:
        raise ValueError(f"bounds must hold 1, the temperature of no change; got {bounds!r}.")
    return low, high


def held_out_rows(
    model: Model, fitted: FittedBayes, X: object, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Table, Ints, Floats]:
    """Columns, true classes (rows x labels) and weights of rows that are new to the model."""
    table = rows_of(model, X)
    if fitted.labelled:
        read = read_sample(BaseEstimator(), table, y, sample_weight)
        if not read.targets.labelled or read.targets.n_groups != len(fitted.labels):
            raise ValueError(f"y must be a 0/1 matrix of the model's {len(fitted.labels)} labels.")
        return read.table, read.targets.classes, read.weights
    read = _read_known(table, y, sample_weight, fitted.only.classes)
    return read.table, read.labels[:, None], read.weights


def _read_known(
    table: Table, y: ArrayLike, sample_weight: ArrayLike | None, classes: Array
) -> Sample:
    """Rows whose classes the model knows; they need not all occur."""
    if is_label_matrix(y):
        raise ValueError("y must hold one class a row, as the model was fitted; got a matrix.")
    truth, known = np.asarray(y), set(classes.tolist())
    unknown = (
        [value for value in truth.ravel().tolist() if value not in known]  # None has no order
        if truth.dtype == object
        else np.setdiff1d(truth, classes).tolist()
    )
    if unknown:
        raise ValueError(
            f"y holds {plain_value(unknown[0])!r}, which is not among the model's classes "
            f"{[plain_value(value) for value in classes]}."
        )
    return read_sample(BaseEstimator(), table, y, sample_weight, known=classes)


def _fit_temperatures(
    fitted: FittedBayes,
    judge: FittedBayes,
    table: Table,
    target: Ints,
    weights: Floats,
    bounds: tuple[float, float],
) -> tuple[FittedBayes, Calibration]:
    """The model with its best temperatures, one a problem, and a report."""
    notes, losses, temperatures = [], [], []
    problems = zip(fitted.problems, judge.problems, target.T, strict=True)
    for problem, speaker, truth in problems:
        sums = speaker.sums(table)
        scores = speaker.scale.release(sums - sums.max(1, keepdims=True))
        impossible = np.isneginf(scores[np.arange(truth.size), truth])
        if impossible.any():
            raise ValueError(
                f"{int(impossible.sum())} row(s) belong to a class that the model calls impossible "
                "(smoothing=0, or a prior of 0); no temperature mends that. Use smoothing > 0."
            )
        temperature, note = best_temperature(scores, truth, weights, bounds)
        temperatures.append(float(temperature))
        notes += [note] if note else []
        tried = (problem.temperature, temperature)
        losses.append([_losses(scores / each, truth, weights) for each in tried])
    log_loss, brier = map(tuple, np.mean(losses, axis=0).T.tolist())
    report = Calibration(
        tuple(temperatures) if fitted.labelled else temperatures[0],
        log_loss,
        brier,
        float(weights.sum()),
        " ".join(dict.fromkeys(notes)),
    )
    return fitted.calibrated(temperatures), report


def best_temperature(
    scores: Floats, truth: Ints, weights: Floats, bounds: tuple[float, float]
) -> tuple[float, str]:
    """The temperature of lowest log-loss within bounds, and a note where a bound was taken.

    The log-loss is convex in b = 1 / temperature; its slope is the mean of E(score) - score of the
    true class, under the probabilities at b.  Newton's steps, halved into the bracket where they
    leave it.

    Scores are rows x classes, the largest of a row 0; -inf for impossible classes.
    """
    low, high = 1 / bounds[1], 1 / bounds[0]
    if _slope(1.0, scores, truth, weights) == (0.0, 0.0):
        return 1.0, ""  # all classes equal everywhere: nothing to scale
    if _slope(high, scores, truth, weights)[0] <= 0:
        return bounds[0], (
            f"temperature stopped at its lower bound {bounds[0]:g}: the rows held out fit the "
            "model so well that their likelihood still grows there. Give more rows."
        )
    if _slope(low, scores, truth, weights)[0] >= 0:
        return bounds[1], (
            f"temperature stopped at its upper bound {bounds[1]:g}: the model's scores tell next "
            "to nothing about the rows held out."
        )
    at = 1.0 if low < 1 < high else (low + high) / 2
    for _ in range(_MOST_STEPS):
        slope, bend = _slope(at, scores, truth, weights)
        if slope == 0:
            break
        low, high = (at, high) if slope < 0 else (low, at)
        step = at - slope / bend if bend > 0 else low
        new = step if low < step < high else (low + high) / 2
        if abs(new - at) <= 1e-14 * at:
            break
        at = new
    return 1 / at, ""


def _slope(b: float, scores: Floats, truth: Ints, weights: Floats) -> tuple[float, float]:
    """First and second derivative of the log-loss in b = 1 / temperature."""
    odds = np.exp(b * scores)
    proba = odds / odds.sum(1, keepdims=True)
    finite = np.where(np.isneginf(scores), 0.0, scores)  # of probability 0: no part in the means
    mean = (proba * finite).sum(1)
    spread = (proba * np.square(finite - mean[:, None])).sum(1)
    own = finite[np.arange(truth.size), truth]
    total = weights.sum()
    return float(weights @ (mean - own) / total), float(weights @ spread / total)


def _losses(scores: Floats, truth: Ints, weights: Floats) -> tuple[float, float]:
    """Log-loss and Brier score."""
    odds = np.exp(scores)
    total = odds.sum(1)
    at = np.arange(truth.size), truth
    apart = odds / total[:, None]
    apart[at] -= 1.0
    squares = np.square(apart).sum(1) / (2 if scores.shape[1] == 2 else 1)
    loss = np.log(total) - scores[at]
    return float(np.average(loss, weights=weights)), float(np.average(squares, weights=weights))
