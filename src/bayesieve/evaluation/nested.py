"""Nested cross-validation: the whole selection is repeated in every fold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from ..checks import Array, Floats, Ints, check_flag, check_jobs, check_number
from ..criteria.base import Criterion, read_as
from ..data.result import Columns, Fields, Result, undefined_as_none
from ..data.sample import Sample, find_splits
from ..engine.threads import count_threads
from ..estimators.base import procedure_of
from ..estimators.selector import NaiveBayesSelector
from ..estimators.weighted import WeightedNaiveBayes
from ._typing import Folds, Seed
from .crossfit import (
    Refit,
    Refits,
    fold_splitter,
    hearing,
    held_out_error,
    held_out_score,
    joined_names,
)

#: One figure a fold.
Figures: TypeAlias = Sequence[float] | Floats | Ints


@dataclass(frozen=True)
class Fold:
    """One fold: what the selector believed, and what the rows it never saw say."""

    guiding: float  #: the criterion on the guiding rows, for the subset chosen
    validation: float  #: what chose the subset: its error (AUC: its score); NaN without validation
    honest: float  #: the criterion on the held-out rows
    error: float  #: share of wrong decisions on the held-out rows
    weight: float  #: held-out rows, with their repeats
    chooser: float  #: what chose the subset, on the held-out rows: its error, weighted as it was
    columns: tuple[int, ...]  #: the subset, as the search ranks it


@dataclass(frozen=True, repr=False)
class Nested(Result):
    """Result of nested cross-validation, fold by fold.

    Attributes
    ----------
    folds : tuple of Fold
        What each fold gave.
    criterion : str
        Name of the criterion that guided.
    higher_is_better : bool
        Its direction.
    validation_name : str
        ``"validation_error"``, or ``"validation_score"`` where the criterion itself chose (AUC).
    feature_names : tuple of str
        Names of the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector, nested
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = nested(NaiveBayesSelector(search="forward"), X, y, random_state=0)
    >>> found.mean(found.error) < 0.08, found.mean(found.optimism) > -0.02
    (True, True)
    >>> len(found.subsets) == len(found.folds) == 5
    True
    """

    folds: tuple[Fold, ...]
    criterion: str
    higher_is_better: bool
    validation_name: str
    feature_names: tuple[str, ...]

    def _all(self, name: str) -> Floats:
        return np.array([getattr(fold, name) for fold in self.folds], dtype=np.float64)

    @property
    def guiding(self) -> Floats:
        """The score that guided, in each fold."""
        return self._all("guiding")

    @property
    def validation(self) -> Floats:
        """The score that chose, in each fold; NaN where the guiding score chose."""
        return self._all("validation")

    @property
    def honest(self) -> Floats:
        """The criterion on the held-out rows of each fold."""
        return self._all("honest")

    @property
    def error(self) -> Floats:
        """The share of wrong decisions on the held-out rows of each fold."""
        return self._all("error")

    @property
    def optimism(self) -> Floats:
        """How much too good the guiding score was: positive where it flattered."""
        apart = self.guiding - self.honest
        return apart if self.higher_is_better else -apart

    @property
    def choice_optimism(self) -> Floats:
        """How much too good the score was that chose; NaN where the guiding score chose."""
        if self.validation_name == "validation_score":
            apart = self.validation - self.honest
            return apart if self.higher_is_better else -apart
        return self._all("chooser") - self.validation

    @property
    def sizes(self) -> Ints:
        """Number of columns chosen in each fold."""
        return np.array([len(fold.columns) for fold in self.folds], np.int64)

    @property
    def subsets(self) -> list[list[str]]:
        """Names of the columns chosen in each fold."""
        return [[self.feature_names[j] for j in fold.columns] for fold in self.folds]

    @staticmethod
    def mean(values: Figures) -> float:
        """Mean over folds."""
        return float(np.mean(values))

    @staticmethod
    def standard_error(values: Figures) -> float:
        """Standard deviation over folds by the root of their number; NaN for a single fold.

        Folds share most of their training rows, so it is somewhat too small.
        """
        n = len(values)
        return float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")

    def _rows(self) -> list[tuple[str, Floats]]:
        rows = [("guiding", self.guiding), ("honest", self.honest), ("optimism", self.optimism)]
        if not np.isnan(self.validation).any():
            rows += [
                (self.validation_name, self.validation),
                ("choice_optimism", self.choice_optimism),
            ]
        return [*rows, ("error", self.error), ("n_features", self.sizes.astype(np.float64))]

    def to_dict(self) -> Fields:
        """Everything as plain data; undefined numbers as None."""
        found = {
            "criterion": self.criterion,
            "higher_is_better": self.higher_is_better,
            "folds": [
                {
                    "guiding": fold.guiding,
                    self.validation_name: fold.validation,
                    "honest": fold.honest,
                    "error": fold.error,
                    "weight": fold.weight,
                    "columns": list(fold.columns),
                    "names": names,
                }
                for fold, names in zip(self.folds, self.subsets, strict=True)
            ],
            "summary": {
                name: {"mean": self.mean(values), "standard_error": self.standard_error(values)}
                for name, values in self._rows()
            },
        }
        return cast(Fields, undefined_as_none(found))

    def to_columns(self) -> Columns:
        """One row a fold: what guided, what held-out rows say, and the columns chosen."""
        rows = {name: values.tolist() for name, values in self._rows()}
        rows["n_features"] = self.sizes.tolist()
        names = [", ".join(subset) for subset in self.subsets]
        return {"fold": list(range(len(self.folds))), **rows, "columns": names}

    def caption(self) -> str:
        """Mean error and its standard error."""
        return (
            f"error {self.mean(self.error):.4f} (standard error "
            f"{self.standard_error(self.error):.4f}) on held-out rows; selection bias of the "
            f"guiding score (optimism) {self.mean(self.optimism):.4f}"
        )

    def to_text(self) -> str:
        """A small table: mean and standard error over folds."""
        better = "higher" if self.higher_is_better else "lower"
        said = f"{len(self.folds)} folds, criterion {read_as(self.criterion)} ({better} is better)"
        lines = [said, f"{'':<18}{'mean':>10}{'std. error':>12}"]
        lines += [
            f"{name.replace('_', ' '):<18}{self.mean(values):>10.4f}"
            f"{self.standard_error(values):>12.4f}"
            for name, values in self._rows()
        ]
        return "\n".join(lines)


def nested(  # noqa: PLR0913
    selector: NaiveBayesSelector | WeightedNaiveBayes | Pipeline,
    X: object,
    y: ArrayLike,
    *,
    cv: Folds | None = None,
    folds: Folds | None = None,
    random_state: Seed = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Nested:
    """Nested cross-validation: repeat the whole selection in every fold, score held-out rows.

    The score that guides a search is too good for the subset it found, and the score that chooses
    among the subsets visited is too good for the one chosen.  Held-out rows say by how much.

    Parameters
    ----------
    selector : NaiveBayesSelector or WeightedNaiveBayes, or a Pipeline that ends in one
        Its settings; it is neither changed nor fitted.  All steps of a pipeline learn from the
        training rows of each fold alone.  What guides weights is the log-likelihood,
        rows left out one by one.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
        As for `NaiveBayesSelector.fit`.
    cv, folds : int, splitter or iterable, default=5
        The outer folds, by either name: a number (stratified and shuffled, of whole groups where
        they are given), a scikit-learn splitter, or an iterable of (train, test) row numbers.
    random_state : int, RandomState or None
        Shuffles the folds; and seeds each search, where the selector's `random_state` is None.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row is repeated, whole numbers; a row and its repeats stay in one fold.
    groups : array-like of shape (n_samples,), optional
        What rows of one series, patient or machine share: no group is on both sides of a fold, nor
        of the selector's own parts.
    n_jobs : int, optional
        Folds at the same time, in threads; -1 for all cores.  The result does not depend on it.
    progress : bool, default=False
        Tell on standard error how many fits are done, and the time left.

    Returns
    -------
    nested : Nested

    Notes
    -----
    Levels, resolutions and feature models are learnt from each fold's training rows alone.  The
    held-out score is that of the model refitted on all training rows of the fold
    (``selector.estimator_``), with the class weights of those rows; the guiding score comes from
    tables of the guiding rows, which are fewer where there is a validation part.  A criterion of
    one's own judges the held-out rows as it guides, and chooses where it says so (`chooses`).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayesSelector, nested
    >>> selector = NaiveBayesSelector(criterion="log-likelihood")
    >>> found = nested(selector, *load_iris(return_X_y=True), cv=3, random_state=0)
    >>> print(found.to_text().splitlines()[0])
    3 folds, criterion log-likelihood (higher is better)
    """
    if cv is not None and folds is not None:
        raise ValueError("cv and folds are two names of one thing; give one of them.")
    outer = cv if folds is None else folds
    outer = 5 if outer is None else outer
    check_jobs(n_jobs)
    check_flag("progress", progress)
    refits = Refits(selector, X, y, sample_weight, groups)
    criterion = refits.procedure.validate()
    draw = check_random_state(random_state)
    splits = _outer_splits(outer, refits.read, refits.groups, draw, refits.n_rows)
    seeds = draw.randint(2**31 - 1, size=len(splits))
    n_threads = count_threads(n_jobs)

    def judge(g: int) -> tuple[Fold, str, Sequence[str]]:
        train, test = splits[g]
        refit = refits.on(train, seed=seeds[g], alone=n_threads == 1)
        judged = _judge(refits, refit, criterion, train, test)
        fitted_one()
        return *judged, refit.table.names

    with hearing("folds", len(splits), progress) as fitted_one:
        found = Parallel(n_threads, prefer="threads")(delayed(judge)(g) for g in range(len(splits)))
    names = joined_names(known for _, _, known in found)
    at = {name: j for j, name in enumerate(names)}
    return Nested(
        tuple(
            replace(fold, columns=tuple(at[known[j]] for j in fold.columns))
            for fold, _, known in found
        ),
        criterion.name,
        criterion.greater_is_better,
        found[0][1],
        tuple(names),
    )


def _outer_splits(
    cv: Folds, read: Sample, groups: Array | None, draw: np.random.RandomState, n_rows: int
) -> list[tuple[Ints, Ints]]:
    """Training and held-out rows of every fold."""
    if isinstance(cv, str | bool):
        raise TypeError(
            "cv must be a number of folds, a splitter, or an iterable of (train, test) row "
            f"numbers; got {cv!r}."
        )
    if isinstance(cv, int | np.integer):
        check_number("cv", cv, low=2, high=read.labels.size, whole=True)
        cv = fold_splitter(int(cv), groups is not None, draw.randint(2**31 - 1))
    splits = find_splits(cv, read.strata, read.rows, groups, n_rows)
    for g, (train, test) in enumerate(splits):
        if not test.size:
            raise ValueError(f"cv: fold {g} holds no row out.")
        if np.intersect1d(train, test).size:
            raise ValueError(f"cv: fold {g} trains on rows that it holds out.")
        unseen = np.setdiff1d(read.targets.classes[test], read.targets.classes[train])
        if unseen.size and not read.targets.labelled:
            raise ValueError(
                f"cv: fold {g} holds out rows of class {read.classes[unseen[0]]!r}, but trains on "
                "none. Use fewer folds, or join rare classes."
            )
    return splits


def _judge(
    refits: Refits, refit: Refit, criterion: Criterion, train: Ints, test: Ints
) -> tuple[Fold, str]:
    """Score the held-out rows; the name of what chose on the path."""
    model, procedure = refit.model, procedure_of(refit.model)
    target, weights = refits.target, refits.read.weights
    trained = target[train], weights[train]
    held_out = refit.table.take(test), target[test], weights[test]
    figures, chooser = procedure.figures(), procedure.chooser(criterion)
    honest = held_out_score(model, criterion, *held_out, trained)
    # Terms with weights are pairs of columns as well: their columns have no order but the table's.
    in_order = procedure.row_parts is not None
    fold = Fold(
        figures.score,
        figures.validation_error,
        honest,
        held_out_error(model, *held_out),
        float(weights[test].sum()),
        honest if chooser is criterion else held_out_score(model, chooser, *held_out, trained),
        tuple((model.selected_ if in_order else np.flatnonzero(model.support_)).tolist()),
    )
    return fold, figures.validation_name
