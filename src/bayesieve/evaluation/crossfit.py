"""Cross-fitting: repeat a fit on folds or resamples; out-of-fold predictions."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ..checks import Array, Foreign
from ..criteria.auc import AUC, auc_parts
from ..criteria.base import Criterion
from ..data.columns import encode
from ..data.sample import (
    Sample,
    check_class_weight,
    class_factors,
    group_numbers,
    read_groups_of_rows,
    read_sample,
    validation_among,
)
from ..data.tables import Table, read_table
from ..engine.threads import Threads, count_threads
from ..estimators.base import ChosenColumns, procedure_of
from ..estimators.signals import last_step, table_before
from ..models.base import Floats, Ints, Statistics, one_set
from ..models.columns import share
from ..models.fitted import FittedBayes
from ..models.registry import MODELS
from ..models.votes import FittedVotes
from ..search.progress import FitsLine
from ..search.run import Family
from ..search.term_pool import reweigh

_FOLDS = 5


def fresh_copy(estimator: Foreign, seed: int) -> Foreign:
    """An unfitted copy in which every `random_state` that is None, in steps too, is the seed.

    It writes no progress and no checkpoint, which belong to the fit of all rows.  `time_limit`
    stays: a search that is cut short is what is judged.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> fresh_copy(RandomForestClassifier(), 7).random_state
    7
    >>> fresh_copy(RandomForestClassifier(random_state=1), 7).random_state
    1
    """
    copy = clone(estimator)
    changed: dict[str, object] = {}
    for name, value in copy.get_params().items():
        last = name.rpartition("__")[2]
        if last == "random_state" and value is None:
            changed[name] = int(seed)
        elif last == "checkpoint" and value is not None:
            changed[name] = None
        elif last == "progress" and value is True:
            changed[name] = False
    return copy.set_params(**changed)


class Refit(NamedTuple):
    """A model fitted on some of the rows, and the table that it reads of all of them."""

    model: Foreign
    table: Table

    def chosen(self, rows: Ints) -> Table:
        """Some rows, the columns that were chosen."""
        return self.table.take(rows).pick(np.flatnonzero(self.model.support_))


class Refits:
    """A selector, or a pipeline that ends in one, to be fitted again on some of its rows.

    `read` are the rows, where they were read before; groups are of these rows then.  With `encode`,
    levels, resolutions and feature models are learnt from all rows at once, rather than from the
    rows of each fit.
    """

    def __init__(
        self,
        model: Foreign,
        X: object,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        read: Sample | None = None,
        encode: bool = False,
        hint: str = "",
    ):
        self._pipeline = model if isinstance(model, Pipeline) else None
        last = model if self._pipeline is None else last_step(self._pipeline)
        if not isinstance(last, ChosenColumns):
            who = "selector" if self._pipeline is None else "the last step of the pipeline"
            raise TypeError(
                f"{who} must be a NaiveBayesSelector or a WeightedNaiveBayes; got "
                f"{type(last).__name__}.{hint}"
            )
        self.last: Foreign = last
        self.procedure = procedure_of(last)
        self.n_rows = int(_num_samples(X))
        self._X, self._y, self._weight = X, y, sample_weight
        self._encode = encode
        if read is not None:
            self.read = read
        self.groups = read_groups_of_rows(groups, self.n_rows if read is None else read.rows.size)
        self._groups_are_read = read is not None

    @cached_property
    def read(self) -> Sample:
        """Classes and weights of the rows; their columns where no step comes before."""
        X = self._X if self._pipeline is None else np.zeros((self.n_rows, 1))
        return read_sample(BaseEstimator(), X, self._y, self._weight, whole=True)

    @property
    def mates(self) -> Array | None:
        """The groups of the rows that were read."""
        if self.groups is None or self._groups_are_read:
            return self.groups
        return self.groups[self.read.rows]

    @property
    def target(self) -> Array:
        """What the rows that were read belong to, as `fit` takes it."""
        read = self.read
        return read.targets.classes if read.targets.labelled else read.classes[read.labels]

    @cached_property
    def family(self) -> Family:
        """What makes the terms of the columns."""
        return self.procedure.base_model().family()

    @cached_property
    def models(self) -> list[str]:
        """The feature model of every column, by all rows."""
        return self.family.choose_models(self.read.table)

    @cached_property
    def table(self) -> Table:
        """All rows as the fits read them, where no step comes before the model."""
        return self._ready(self.read.table, self.models) if self._encode else self.read.table

    def table_after(self, rows: Ints) -> Table:
        """The columns of all rows, by steps of the pipeline that learnt from these rows of X."""
        if self._pipeline is None:
            self.table  # noqa: B018  encoded now, before threads would each do it
            return self.read.table
        mine = clone(self._pipeline)
        steps = mine[:-1]
        if len(steps.steps):
            steps.fit(*(_safe_indexing(each, rows) for each in (self._X, self._y)))
        return table_before(mine, self._X).take(self.read.rows)

    def _ready(self, table: Table, models: list[str]) -> Table:
        return share(table, models, self.family.rounded, self.read.repeats)

    def on(
        self,
        rows: Ints | None = None,
        *,
        repeats: Ints | None = None,
        seed: int = 0,
        alone: bool = True,
        choose: bool = True,
        adapt: Callable[[Table], dict[str, object]] | None = None,
    ) -> Refit:
        """Fit a copy on some of the rows.

        Parameters
        ----------
        rows : positions among the rows that were read; all of them by default.
        repeats : how often each of these rows counts; its weight by default.
        seed : where the model has none.
        alone : does it run by itself?  Else others run beside it, and it takes a single thread.
        choose : False: fit a model of all columns, without a choice among them.
        adapt : settings of the copy, made from the table that it will read.
        """
        read = self.read
        at = np.arange(read.rows.size) if rows is None else rows
        table = self.table_after(
            read.rows[at] if repeats is None else np.repeat(read.rows[at], repeats)
        )
        model = fresh_copy(self.last, seed) if choose else self.procedure.base_model()
        if choose:
            model.set_params(n_jobs=model.n_jobs if alone else 1)
        if choose and hasattr(model, "validation"):  # rows it names are named anew, among these
            among = validation_among(self.last.validation, read.rows[at], self.n_rows)
            model.set_params(validation=among)
        if adapt is not None:
            model.set_params(**adapt(table))
        if self._pipeline is None:
            table = self.table
        elif self._encode:
            table = self._ready(table, self.family.choose_models(table))
        given: dict[str, Foreign] = {
            "sample_weight": read.weights[at] if repeats is None else repeats
        }
        if choose:
            given["groups"] = None if self.mates is None else self.mates[at]
        model.fit(table if rows is None else table.take(rows), self.target[at], **given)
        return Refit(model, table)

    def can_fit(self, rows: Ints) -> bool:
        """Do these rows hold every class, and more of each than rows named by `validation`?"""
        read = self.read
        labels = read.labels[rows]
        n_classes = np.unique(labels).size
        if not read.targets.labelled and n_classes < len(read.classes):
            return False
        named = getattr(self.last, "validation", None)
        chooses = validation_among(named, read.rows[rows], self.n_rows)
        if not isinstance(chooses, np.ndarray):
            return True
        return bool(chooses.any()) and np.unique(labels[~chooses]).size == n_classes

    # -- of a selector that is fitted --------------------------------------------------------

    @property
    def parts(self) -> tuple[Ints, Ints]:
        """Positions, among the rows that were read, of those that guided and those that chose."""
        assert self.procedure.row_parts is not None
        guiding, choosing = self.procedure.row_parts
        return np.searchsorted(self.read.rows, guiding), np.searchsorted(self.read.rows, choosing)

    def chosen(self, rows: Ints) -> Table:
        """Some rows, the columns that the fitted selector chose."""
        return Refit(self.last, self.table).chosen(rows)

    def chosen_on(self, rows: Ints) -> FittedBayes:
        """A model of the columns that a fitted selector chose, made of some rows as its own was."""
        selector, sample = self.last, self.read._replace(table=self.table).take(rows)
        factors = None
        if not sample.targets.labelled:
            factors = class_weights(selector, sample.labels, sample.weights, sample.classes)
        if selector.settings_["reweigh"] and selector.selected_.size:
            order, plain = selector.selected_.tolist(), np.ones(len(sample.classes))
            factors = plain if factors is None else factors
            with Threads(count_threads(selector.n_jobs)) as threads:
                return reweigh(sample, self.models, order, self.family, factors, threads)
        fitted = self.family.fit(sample, self.models, factors)
        columns = np.flatnonzero(selector.support_).tolist()
        return self.family.restrict(fitted, columns, sample)


def class_weights(model: ChosenColumns, labels: Ints, weights: Floats, classes: Array) -> Floats:
    """Factor of each class in the model's fit; "balanced" by these rows."""
    given = check_class_weight(model.class_weight, classes)
    return np.array([float(f) for f in class_factors(given, labels, weights, len(classes))])


@contextmanager
def without_warnings() -> Iterator[None]:
    """Say nothing in fits that repeat another: that one said what there is to say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def joined_names(tables: Iterable[Sequence[str]]) -> list[str]:
    """Names of all columns: steps may give other columns to every fit."""
    return list(dict.fromkeys(name for names in tables for name in names))


def fold_splitter(n_folds: int, grouped: bool, seed: int = 0) -> Foreign:
    """Shuffled folds that keep classes in balance, and groups whole where rows come in groups."""
    kind = StratifiedGroupKFold if grouped else StratifiedKFold
    return kind(n_folds, shuffle=True, random_state=seed)


# -- Out-of-fold predictions -----------------------------------------------------------------------


@contextmanager
def hearing(what: str, n_fits: int, progress: bool) -> Iterator[Callable[[], None]]:
    """Give a function to be called after each fit, which shows how many are done if asked to."""
    if not progress:
        yield lambda: None
        return
    with closing(FitsLine(what, n_fits)) as line:
        yield line.hear


class OutOfFold(NamedTuple):
    """Predictions for every row by a model that was fitted without it."""

    proba: Floats
    decided: Array
    scores: Floats | None  #: of the classes, in nat; where they were asked for


def out_of_fold(
    refits: Refits, scored: bool = False, progress: bool = False, what: str = "folds"
) -> OutOfFold | None:
    """Predict every row from a fit, selection included, on the other folds.

    None where the fit cannot be repeated on other rows: a class has too few of them, groups are too
    few, or `cv` names rows.  Rows that `validation` names choose in the folds that have them.
    `what` is said before the number of fits that are done, with `progress`.
    """
    read, groups, target = refits.read, refits.mates, refits.target
    labelled, strata = read.targets.labelled, read.strata
    if np.bincount(strata).min() < _FOLDS and not labelled:
        return None
    n_folds = _FOLDS if groups is None else min(_FOLDS, np.unique(groups).size)
    cv = getattr(refits.last, "cv", None)
    names_rows = not (cv is None or isinstance(cv, str | Integral) or hasattr(cv, "split"))
    if n_folds < 2 or names_rows:
        return None
    splitter = fold_splitter(n_folds, groups is not None)
    width = len(read.targets.names) if labelled else len(read.classes)
    proba, decided = np.zeros((len(target), width)), np.empty_like(target)
    scores = np.zeros((len(target), width)) if scored else None
    with without_warnings(), hearing(what, n_folds, progress) as fitted_one:
        for train, test in splitter.split(np.zeros(len(target)), strata, groups):
            if not refits.can_fit(train):
                return None
            refit = refits.on(train)
            chosen, fitted = refit.chosen(test), refit.model.estimator_.fitted_
            decided[test], proba[test] = fitted.best_and_proba(chosen)
            if scores is not None:
                scores[test] = log_scores(fitted, chosen)
            fitted_one()
    return OutOfFold(proba, decided, scores)


# -- Held-out rows scored by the criterion that guided ---------------------------------------------


def held_out_score(
    selector: ChosenColumns,
    criterion: Criterion,
    table: Table,
    target: Array,
    weights: Floats,
    trained: tuple[Array, Floats],
) -> float:
    """The selector's criterion on rows of its table.

    Class weights are those of the rows that it was fitted to: `trained`, their target and weights.
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
    known = fitted.only.classes
    classes = np.searchsorted(known, target)
    learnt = np.searchsorted(known, trained[0])
    worth = weights * class_weights(selector, learnt, trained[1], known)[classes]
    if not criterion.has_row_values:
        return as_reported(criterion, log_scores(fitted, chosen), classes, worth)
    return float(np.average(criterion.row_values(sums, unit, classes), weights=worth))


def log_scores(fitted: FittedBayes, chosen: Table) -> Floats:
    """Scores of the classes in nat, rows x classes: what a criterion of one's own reads."""
    return np.ldexp(fitted.only.sums(chosen).astype(float), -fitted.only.scale.bits)


def as_reported(criterion: Criterion, scores: Floats, classes: Ints, weights: Floats) -> float:
    """The loss of a criterion, with the sign in which people read it."""
    sign = -1 if criterion.greater_is_better else 1
    return float(sign * criterion.loss(scores, classes, weights))


def own_criterion(model: ChosenColumns) -> Criterion | None:
    """The criterion that guided, where it is none of this package's and has a loss."""
    criterion = procedure_of(model).validate()
    ours = type(criterion).__module__.partition(".")[0] == "bayesieve"
    return None if ours or type(criterion).loss is Criterion.loss else criterion


def held_out_error(selector: ChosenColumns, table: Table, target: Array, weights: Floats) -> float:
    """Share of wrong decisions; with labels, over rows and labels."""
    chosen = table.pick(np.flatnonzero(selector.support_))
    wrong = selector.estimator_.fitted_.best(chosen) != target
    return float(np.average(wrong.reshape(len(target), -1).mean(1), weights=weights))


def _area(
    selector: ChosenColumns, criterion: AUC, chosen: Table, target: Array, weights: Floats
) -> float:
    """Mean AUC over labels, less the price of the features."""
    model, fitted = selector.estimator_, selector.estimator_.fitted_
    truths = target if target.ndim == 2 else (target == model.classes_[1])[:, None]
    counts = weights.astype(np.int64)
    # Integer scores of each label, or of the second class.
    votes = isinstance(fitted, FittedVotes)
    odds = fitted.votes(chosen) if votes else [s[:, 1] - s[:, 0] for s in fitted.sums(chosen)]
    areas = []
    for g, (scores, truth) in enumerate(zip(odds, truths.T, strict=True)):
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


# -- The rows that a model was fitted on -----------------------------------------------------------


def read_training(
    selector: ChosenColumns, X: object, y: ArrayLike, sample_weight: ArrayLike | None
) -> Sample:
    """The table given to a selector's fit; another one is refused."""
    table = read_table(selector, X, reset=False)
    parts = procedure_of(selector).row_parts
    assert parts is not None
    last = int(max(part.max(initial=-1) for part in parts))
    if table.n_rows <= last:
        raise ValueError(
            f"X must be the table given to fit, of more than {last} rows; got {table.n_rows}."
        )
    read = read_sample(BaseEstimator(), table, y, sample_weight)
    if not all(np.isin(part, read.rows).all() for part in parts):
        raise ValueError("sample_weight must be as it was in the selector's fit; rows are missing.")
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
    return read


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
    """Compare two sets of statistics: equal counts, or moments equal up to rounding."""
    if not isinstance(one, tuple):
        return bool(np.allclose(one, other, rtol=1e-9, atol=0))
    (weight, mean, squares), (weights, means, other_squares) = one[:3], other[:3]
    if not np.allclose(weight, weights, rtol=1e-9, atol=0):
        return False
    spread = np.sqrt(np.divide(squares, weight, out=np.zeros_like(squares), where=weight > 0))
    close = np.abs(mean - means) <= 1e-9 * (np.abs(mean) + spread)
    return bool(close.all() and np.allclose(squares, other_squares, rtol=1e-9, atol=0))


# -- Halves of the rows ----------------------------------------------------------------------------


# Draws of one sample before we say that the rows do not suit.
_PATIENCE = 100


def draw_samples(
    repeats: Ints,
    labels: Ints,
    n_samples: int,
    least: int,
    random_state: np.random.RandomState,
    groups: Array | None = None,
) -> Ints:
    """How often each row is in halves of the rows, one line a half; `least` classes are in each.

    Where `groups` are given, half of the groups are drawn, each of them whole.
    """
    drawn = None if groups is None else group_numbers(groups)
    known = repeats if drawn is None else np.ones(int(drawn.max()) + 1, np.int64)
    samples = np.empty((n_samples, repeats.size), np.int64)
    draw, half = np.random.default_rng(random_state.randint(2**31 - 1)), (known.sum() + 1) // 2
    for i in range(n_samples):
        for _ in range(_PATIENCE):
            counts = draw.multivariate_hypergeometric(known, half, method="marginals")
            samples[i] = counts if drawn is None else counts[drawn] * repeats
            if np.unique(labels[samples[i] > 0]).size >= least:
                break
        else:
            raise ValueError(
                f"{_PATIENCE} halves of the rows in a row held fewer than {least} classes of y: "
                "some class is too rare for resampling. Give more rows of it."
            )
    return samples
