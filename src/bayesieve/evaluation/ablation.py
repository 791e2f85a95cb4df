"""Ablation: the model without each of its terms, and against a model of all columns."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from ..data.sample import Sample, group_numbers, read_sample
from ..data.tables import Table
from ..estimators.base import ChosenColumns
from ..estimators.naive_bayes import NaiveBayes
from ..models.base import Floats, Ints
from ..models.fitted import FittedBayes, FittedProblem
from ..models.log_ratios import WEIGHT_STEPS
from .crossfit import Refits, fold_splitter, without_warnings

_FOLDS = 5

# Posteriors that may be computed for one report: rows x classes x columns x substitutes.
_MOST_WORK = 60_000_000

# Columns beyond which nothing is compared with all of them, and substitutes that are tried.
_MOST_COLUMNS, _MOST_SUBSTITUTES = 5000, 400

# Rows on which columns are tried, at most and at least.
_MOST_ROWS, _FEWEST_ROWS = 2000, 200


@dataclass(frozen=True)
class Worth:
    """What a term of a model is worth on rows that its tables do not come from."""

    columns: tuple[int, ...]  #: among those of the model: one, or the two of a pair
    error: float  #: by how much the share of wrong decisions rises where it leaves
    loss: float  #: by how much -log P(true class) rises, in nat, in the mean
    substitute: str | None = None  #: the column outside the model that makes up for most of it
    substitute_loss: float = float("nan")  #: what is still lost with the substitute in its place
    alone: float = float("nan")  #: the error of this term and the prior alone


@dataclass(frozen=True)
class Ablation:
    """Error with all columns, and the worth of each term of the model."""

    #: of a naive Bayes model of all columns, on the same rows, by tables of other rows
    all_error: float
    n_columns: int  #: how many these are
    rows: int  #: rows on which the terms were tried
    worth: list[Worth]  #: one a term of the model


def ablate(
    model: object,
    X: object,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Ablation | None:
    """Compare a model with one of all columns, and leave out each of its terms in turn.

    Tables come from the guiding rows for the validation rows, or from four fifths of the rows for
    the last fifth; weights, pairs and constants are those of the model.

    None where this cannot be told: no columns were chosen, rows have labels, or the table has more
    than 5000 columns.
    """
    if not isinstance(model, ChosenColumns) or not isinstance(model.estimator_, NaiveBayes):
        return None
    fitted = model.estimator_.fitted_
    read = read_sample(BaseEstimator(), X, y, sample_weight)
    names = read.table.names
    if fitted.labelled or len(names) > _MOST_COLUMNS or len(names) != model.n_features_in_:
        return None
    if not np.array_equal(read.classes, fitted.only.classes):
        return None
    mates = None if groups is None else group_numbers(np.asarray(groups)[read.rows])
    refits = Refits(model, X, y, groups=mates, read=read, encode=True)
    read = read._replace(table=refits.table)
    chosen = np.flatnonzero(model.support_)
    wrong, total, trial = 0.0, 0.0, _Trial(fitted, chosen, len(names), len(read.classes))
    with without_warnings():
        for train, test in _splits(refits):
            if np.unique(read.labels[train]).size < len(read.classes):
                continue
            every = refits.on(train, choose=False).model.fitted_
            decided = np.searchsorted(read.classes, every.best(read.table.take(test)))
            wrong += float(read.weights[test][decided != read.labels[test]].sum())
            total += float(read.weights[test].sum())
            trial.add(every, read, test)
    if not total:
        return None
    return Ablation(wrong / total, len(names), trial.rows, trial.worth(names))


def _splits(refits: Refits) -> Iterable[tuple[Ints, Ints]]:
    """Rows for tables, and rows to be decided."""
    parts = refits.procedure.row_parts
    if parts is not None and parts[1].size:
        guiding, choosing = (np.flatnonzero(np.isin(refits.read.rows, part)) for part in parts)
        return [(guiding, choosing)]
    labels, mates = refits.read.labels, refits.mates
    most = int(np.bincount(labels).min()) if mates is None else np.unique(mates).size
    if min(_FOLDS, most) < 2:
        return []
    splitter = fold_splitter(min(_FOLDS, most), mates is not None)
    return splitter.split(np.zeros(len(labels)), labels, mates)


class _Trial:
    """Sums of rows without each term, and with others in its place."""

    def __init__(self, fitted: FittedBayes, chosen: Ints, n_columns: int, n_classes: int):
        self._problem, self._chosen = fitted.only, chosen
        # Columns that speak by themselves, then pairs: their columns, and the pair's place.
        problem, weighting = fitted.only, fitted.only.weighting
        self._terms: list[tuple[tuple[int, ...], int]] = [
            ((j,), -1) for j in range(len(problem.specs)) if weighting is None or weighting.has(j)
        ]
        self._terms += [(tuple(pair.columns), p) for p, pair in enumerate(problem.pairs)]
        self._others = np.setdiff1d(np.arange(n_columns), chosen)[:_MOST_SUBSTITUTES]
        work = max(n_classes * len(self._terms) * max(self._others.size, 1), 1)
        self._most = int(np.clip(_MOST_WORK // work, _FEWEST_ROWS, _MOST_ROWS))
        self.rows = 0
        self._errors, self._losses = np.zeros(len(self._terms)), np.zeros(len(self._terms))
        self._replaced = np.zeros((self._others.size, len(self._terms)))
        self._alone = np.zeros(len(self._terms))
        self._all_error = self._all_loss = 0.0

    def add(self, every: FittedBayes, read: Sample, test: Ints) -> None:
        """Rows of one part, by tables of all columns from other rows."""
        share_of_rows = -(-self._most * test.size // max(read.labels.size, 1))
        some = np.linspace(0, test.size - 1, min(test.size, max(share_of_rows, 50)))
        at = test[some.round().astype(np.int64)]
        table, truth = read.table.take(at), read.labels[at]
        said = [_ratios(every.only, table, int(j)) for j in self._chosen]
        mine = table.pick(self._chosen)
        parts = [self._part(columns, pair, said, mine) for columns, pair in self._terms]
        base = self._problem.nat(self._problem.fixed_prior)
        whole = base + np.sum(parts, axis=0) if parts else np.tile(base, (at.size, 1))
        error, loss = _judged(whole[None], truth)
        self._all_error, self._all_loss = self._all_error + error[0], self._all_loss + loss[0]
        self.rows += at.size
        if not parts:
            return
        self._alone += _judged(base + np.array(parts), truth)[0]
        without = whole[None] - np.array(parts)
        errors, losses = _judged(without, truth)
        self._errors += errors
        self._losses += losses
        weights = np.array([self._weights(columns) for columns, _ in self._terms])
        for i, other in enumerate(self._others.tolist()):
            ratios = _ratios(every.only, table, other)
            self._replaced[i] += _judged(without + weights[:, None] * ratios, truth)[1]

    def _part(
        self, columns: tuple[int, ...], pair: int, said: list[Floats], table: Table
    ) -> Floats:
        """What a term says of rows; pairs and what is corrected say it as the model has it."""
        problem, weighting, (j, *_) = self._problem, self._problem.weighting, columns
        if len(columns) == 2:
            return problem.nat(problem.pair_terms(table, problem.pairs[pair]))
        if weighting is not None and weighting.correction(j) is not None:
            return problem.nat(problem.column_terms(table, j))
        found: Floats = self._weights(columns) * said[j]
        return found

    def _weights(self, columns: tuple[int, ...]) -> Floats:
        """What a column's evidence counts for each class; half, where only tables can tell."""
        problem = self._problem
        found = np.ones(len(problem.classes))
        if len(columns) == 2:
            found = found / 2
        elif problem.weighting is not None:
            found = problem.weighting.weights[columns[0]] / WEIGHT_STEPS
            found = found if found.any() else found + 0.5
        return found / problem.temperature

    def worth(self, names: list[str] | tuple[str, ...]) -> list[Worth]:
        """What each term is worth."""
        n_rows, found = max(self.rows, 1), []
        for t, (columns, _) in enumerate(self._terms):
            best, left = None, float("nan")
            if self._others.size:
                at = int(self._replaced[:, t].argmin())
                left = float(self._replaced[at, t] - self._all_loss) / n_rows
                best = names[self._others[at]]
                if self._replaced[at, t] >= self._losses[t]:
                    best, left = None, float("nan")  # nothing is better than a stranger
            error = float(self._errors[t] - self._all_error) / n_rows
            loss = float(self._losses[t] - self._all_loss) / n_rows
            found.append(Worth(columns, error, loss, best, left, float(self._alone[t]) / n_rows))
        return found


def _ratios(problem: FittedProblem, table: Table, column: int) -> Floats:
    """Log P(value | class) less log P(value), of rows x classes, in nat."""
    said = problem.nat(problem.column_terms(table, column))
    said = np.maximum(said, -700.0)
    mixed = said + np.log(np.maximum(problem.shares, 1e-300))
    top = mixed.max(1, keepdims=True)
    return said - top - np.log(np.exp(mixed - top).sum(1, keepdims=True))


def _judged(sums: Floats, truth: Ints) -> tuple[Floats, Floats]:
    """Wrong rows, and the sum of -log P(true class), of each of several states."""
    top = sums.max(2, keepdims=True)
    logs = sums - top - np.log(np.exp(sums - top).sum(2, keepdims=True))
    mine = logs[:, np.arange(truth.size), truth]
    return (sums.argmax(2) != truth).sum(1).astype(float), -mine.sum(1)
