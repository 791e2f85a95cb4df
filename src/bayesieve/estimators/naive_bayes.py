"""`NaiveBayes`: the classifier on all columns; the one inside a selector; and `deploy`."""

import copy
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, check_flag, check_number, plain_value
from ..data.sample import Sample, Targets, is_label_matrix, read_sample, unboxed
from ..data.tables import Table, is_collection, read_table
from ..engine.sparse import SparseProblem, SparseTables, bayes_tables
from ..models.base import Floats, Ints, ModelSettings, Run, run_alone
from ..models.columns import BinarySpecs, Summary, choose_models, summarise, warn_of_unknown
from ..models.counts import check_priors, check_smoothing
from ..models.fitted import FittedBayes, FittedProblem, Priors, fit_problem, read_places
from ..models.registry import MODELS
from .base import ChosenColumns, Predictions


def read_batch(
    model: "NaiveBayes", X: object, y: object, classes: object, sample_weight: object
) -> tuple[Sample, list[Summary] | None]:
    """Validate a batch and merge its counts into those so far (None for the first batch)."""
    family = model.family()
    family.check()
    if model.rounded:
        raise ValueError(
            "rounded=True needs all rows at once, since the resolution of a column changes "
            "with every batch; use fit, or rounded=False."
        )
    old = getattr(model, "fitted_", None)
    _check_target(y, classes, old)
    known = None
    if not is_label_matrix(y):
        known = old.only.classes if old is not None else _distinct(classes)
    sample = read_sample(model, X, y, sample_weight, known, reset=old is None)
    if old is not None and sample.targets.labelled and sample.targets.names != old.labels:
        raise ValueError(
            f"y has the labels {list(sample.targets.names)}, but the first call had "
            f"{list(old.labels)}; they must be the same, in the same order."
        )
    family.check_sample(sample)
    if old is None:
        return sample, None
    if any(problem.weighting is not None for problem in old.problems):
        raise ValueError("weights are fitted on all rows at once; use fit, not partial_fit.")
    # All columns are judged before any of them changes.
    for problem in old.problems:
        problem.summary.check_batch(sample.table)
    summaries = [
        problem.summary.with_rows(sample.table, labels, sample.weights)
        for problem, labels in zip(old.problems, sample.targets.classes.T, strict=True)
    ]
    return sample, summaries


def _check_target(y: object, classes: object, old: FittedBayes | None) -> None:
    """Classes or labels, as in the first batch."""
    if is_label_matrix(y):
        if old is not None and not old.labelled:
            raise ValueError(
                "y is a matrix of labels, but the first call to partial_fit had classes."
            )
        return
    if old is not None and old.labelled:
        raise ValueError(
            f"y must be a matrix of {len(old.labels)} labels, as in the first call to fit or "
            "partial_fit; got one class a row."
        )
    if old is None and classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit.")
    if classes is not None and old is not None:
        given = _distinct(classes)
        if not np.array_equal(given, old.only.classes):
            raise ValueError(
                f"classes={given.tolist()} is not the same as on last call to partial_fit, "
                f"which was {old.only.classes.tolist()}."
            )


def _distinct(classes: object) -> Array:
    """The classes that will ever come, sorted."""
    try:
        return np.unique(np.asarray(classes))
    except TypeError as error:
        raise TypeError(
            f"classes must be of one kind, all text or all numbers; got {classes!r}."
        ) from error


# -- NaiveBayes ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BayesFamily:
    """Naive Bayes with its settings, those of `NaiveBayes`."""

    features: object = "auto"
    smoothing: object = 1.0
    priors: object = None
    var_smoothing: float | None = None
    rounded: bool = False

    name = "NaiveBayes"
    form = "lines"  #: of ledger it needs; it can be asked in both

    def check(self) -> None:
        """Validate the settings."""
        check_smoothing(self.smoothing)
        if self.var_smoothing is not None:
            check_number("var_smoothing", self.var_smoothing, low=0.0, high=sys.float_info.max)
        check_flag("rounded", self.rounded)

    def choose_models(self, table: Table) -> list[str]:
        """The feature model of each column of a table."""
        # Both settings speak of normal distributions: nothing else is meant by "auto" then.
        normal = self.rounded or self.var_smoothing is not None
        return choose_models(self.features, table, "gaussian" if normal else "curve")

    def check_sample(self, sample: Sample) -> None:
        """Validate the settings that depend on the classes."""
        check_priors(self.priors, len(sample.classes))

    def fit(
        self,
        sample: Sample,
        models: Sequence[str],
        class_weight: Floats | None = None,
        run: Run = run_alone,
    ) -> FittedBayes:
        """The model of all rows."""
        summaries = summarise(sample, models, self.rounded, class_weight)
        labels = sample.targets.names if sample.targets.labelled else ()
        return self.finish(summaries, labels, run)

    def problems(self, targets: Targets) -> list[Ints]:
        """Classes of all rows in each problem: one, or one a label."""
        return list(targets.classes.T)

    def finish(
        self, summaries: Sequence[Summary], labels: Sequence[str] = (), run: Run = run_alone
    ) -> FittedBayes:
        """The model of what was counted, one summary a problem."""
        smoothing = check_smoothing(self.smoothing)
        priors = check_priors(self.priors, len(summaries[0].classes))
        told = smoothing, priors, self.var_smoothing
        if len(summaries) == 1:
            problems = [fit_problem(summaries[0], *told, run, self.silent_constants)]
        else:
            found: dict[int, FittedProblem] = {}

            def task(lo: int, hi: int) -> None:
                for g in range(lo, hi):
                    found[g] = fit_problem(summaries[g], *told, run_alone, self.silent_constants)

            run(task, len(summaries), 0)
            problems = [found[g] for g in range(len(summaries))]
        for summary in summaries:
            _warn_of_idle_components(summary)
        return FittedBayes(tuple(problems), tuple(labels))

    def restrict(self, fitted: FittedBayes, columns: Sequence[int], sample: Sample) -> FittedBayes:
        """Some columns of a model of all rows."""
        return fitted.restrict(columns)

    def settings(self, fitted: FittedBayes, class_weight: Floats) -> ModelSettings:
        """Settings of tables that are learnt on some of the rows of a model."""
        # The variance added to all columns is learnt once, by the fit on all rows.
        return ModelSettings(
            check_smoothing(self.smoothing),
            fitted.problems[0].extra_variance,
            class_weight,
            silent_constants=self.silent_constants,
        )

    @property
    def silent_constants(self) -> bool:
        """Does a constant say nothing?  Models that are named keep their definition."""
        return isinstance(self.features, str) and self.features == "auto"

    def sparse_tables(
        self, problem: SparseProblem, fitted: FittedBayes, run: Run = run_alone
    ) -> SparseTables:
        """Terms for the rows of a sparse ledger."""
        settings = self.settings(fitted, problem.class_weight)
        priors = check_priors(self.priors, problem.targets.n_classes)
        return bayes_tables(problem, settings, priors, run)


def _warn_of_idle_components(summary: Summary) -> None:
    """Name a class and column with fewer distinct values than its mixture has components."""
    found = []
    if isinstance(summary.specs, BinarySpecs):
        return
    for spec, statistics in zip(summary.specs, summary.statistics, strict=True):
        found += [(spec, k, n) for k, n in MODELS[spec.model].idle_classes(statistics)]
    if found:
        spec, k, n = found[0]
        others = f" (and {len(found) - 1} more such cases)" if len(found) > 1 else ""
        warnings.warn(
            f"column {spec.name!r} has {n} distinct value(s) in class "
            f"{plain_value(summary.classes[k])!r}, fewer than the components of {spec.model!r}"
            f"{others}; idle components say nothing. Use fewer components, or 'mixture', which "
            "chooses their number.",
            UserWarning,
            stacklevel=5,
        )


class AnyTable(ClassifierMixin):
    """Tells scikit-learn what our classifiers take: any table, and labels."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def score(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> float:
        """Share of rows decided rightly (with labels, all of them); not where a person is asked."""
        found = self.predict(X)
        if getattr(y, "dtype", None) == np.dtype(object):
            y = unboxed(np.asarray(y))
        if found.dtype != object or all(each is not None for each in found.flat):
            return float(super().score(X, y, sample_weight))
        right = (found == np.asarray(y)).reshape(len(found), -1).all(1)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return float(np.average(right, weights=weights))


class NaiveBayes(Predictions, AnyTable, BaseEstimator):
    """Naive Bayes for binary, categorical and continuous columns together.

    Parameters
    ----------
    features : str or mapping, default="auto"
        The feature model of each column.  One name for all columns, or a mapping of column names
        or positions to names; columns left out are ``"auto"``: bernoulli when all values are 0 or
        1, levels for text and categories, curve for other numbers (gaussian, where
        `var_smoothing` or `rounded` ask for normal distributions).  With ``"auto"`` for all, a
        bernoulli column of which a single value is seen says nothing.

        - ``"bernoulli"`` (0 and 1), ``"categorical"`` (any values), ``"levels"`` (any values, each
          shrunk to the shares of the classes as its rows are few, by empirical Bayes).
        - ``"curve"``: as density, its evidence held to the rows behind it: where fewer than five
          rows say so, one class is at most five times as likely as another.
        - ``"density"``: numbers on a grid of at most 255 codes; of three densities the one that
          foretells the classes best, rows taken out one by one: ``"grid-gaussian"`` (a normal
          distribution per class), ``"kernel"`` (a kernel around each row) and ``"rank-kernel"``
          (the same over ranks), which can be named as well.
        - ``"intervals"``: numbers in intervals that pay for themselves (minimum description
          length); ``"intervals-8"`` (2 to 32): so many of about equally many rows.
        - ``"gaussian"`` (a normal distribution per class, as in Weka or scikit-learn),
          ``"gaussian-pooled"`` (one variance for all classes, the linear classifier of Guyon 2005).
        - ``"mixture"`` (several normal distributions per class by EM, Sotoca et al.; their number,
          1 to 7, chosen by BIC, or given: ``"mixture-3"``; with ``"-printed"`` at the end EM stops
          by the paper's rule; scikit-learn's `GridSearchCV` over this parameter chooses by
          cross-validated accuracy).
    smoothing : float >= 0 or "mean", default=1.0
        Pseudo-count of every level (1 is Laplace's).  ``"mean"`` is the prior of Guyon 2005: a
        binary column's frequency f in a class of n rows becomes (n f + m) / (n + 1), with m the
        mean of f over all binary columns; categorical columns then share one pseudo-count among
        their levels.
        With 0, a value never seen in a class makes that class impossible: the class with the fewest
        impossible values wins.
    priors : None, "uniform" or array-like of shape (n_classes,), default=None
        Class probabilities: from the counts, all equal, or given.  Giving them moves the trade-off
        between precision and recall.
    var_smoothing : float >= 0, optional
        By default Gaussian columns follow Weka: the term is the probability of the value plus or
        minus half the column's resolution (the mean gap between its distinct values), the standard
        deviation at least a sixth of the resolution, the term at least log 1e-75.  With a number,
        they follow scikit-learn's GaussianNB: densities, with this share of the largest variance of
        all continuous columns added to every variance (one that is 0 even so counts as the smallest
        normal float, 2.2e-308); a column's terms stay within 2^14 nat of 0, which tells from a
        thousand standard deviations on.  Like the resolution and the levels, that
        variance is learnt once from all rows and columns given to ``fit``; folds and subsets of a
        selector share it.
    rounded : bool, default=False
        Round continuous values to multiples of their column's resolution before anything else, as
        Weka does.  Columns on a grid are not rounded.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; with labels, a list of such arrays.
    label_names_ : list of str
        Names of the labels, where there are labels.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class; with labels, one row a label.
    feature_models_ : list of str
        The feature model of each column.
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,)
        The linear form of Guyon 2005, positive for ``classes_[1]``; only for two classes and
        bernoulli or gaussian-pooled columns.  With labels, one row a label.
    temperature_ : float
        What all log-probabilities are divided by: 1, unless `bayesieve.calibrate` found another.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    Notes
    -----
    Missing values (NaN, None, or ``""`` among texts) are skipped in ``fit`` and add nothing in
    ``predict``; the same holds for a category that was never seen.  Equal numbers are the same
    category whatever their type (1, 1.0, a category of either), and so is a text that is how Python
    writes that number; other texts are compared letter by letter.  Numbers from 2^53 on (up to
    2^64) are refused as categories, since floats do not tell whole numbers apart there: give them
    as text.  A column in which nothing at all is known is named in a warning.  Numbers may be of
    any size: where their squares do not fit a float, variances are kept in units of a power of two
    (such a model is not saved).  Terms
    are rounded once to a fixed-point unit of at most 2^-40 nat, so that sums of them are exact.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> model.terms(X[:1]).shape
    (1, 4, 3)
    """

    fitted_: FittedBayes
    classes_: Any
    class_count_: Floats
    label_names_: list[str]
    feature_names_in_: Array

    def __init__(
        self,
        features: str | Mapping[str, str] | Mapping[int, str] = "auto",
        smoothing: float | str = 1.0,
        priors: str | ArrayLike | None = None,
        var_smoothing: float | None = None,
        rounded: bool = False,
    ):
        self.features = features
        self.smoothing = smoothing
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.rounded = rounded

    # -- learning ------------------------------------------------------------------------------

    def fit(self, X: object, y: object, sample_weight: object = None) -> "NaiveBayes":
        """Fit the model.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or packed table of shape (n_samples, n_features)
            Numbers, booleans, text or categories.  Sparse columns count by presence (bernoulli: any
            value but 0 is a 1) unless `features` says otherwise.
        y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
            Classes; or labels, of which a row may have any number.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for; any numbers >= 0.

        Returns
        -------
        self : NaiveBayes
        """
        family = self.family()
        family.check()
        if is_collection(X):
            from .collections import far_fit

            return self.hold(far_fit(self, X, y, sample_weight))
        sample = read_sample(self, X, y, sample_weight)
        family.check_sample(sample)
        return self.hold(family.fit(sample, family.choose_models(sample.table)))

    def family(self) -> BayesFamily:
        """The family of models that this is a member of, for selectors."""
        return BayesFamily(
            self.features, self.smoothing, self.priors, self.var_smoothing, self.rounded
        )

    def hold(self, fitted: FittedBayes) -> "NaiveBayes":
        """Hold a fitted value, wherever it was made."""
        self.fitted_ = fitted
        self.classes_, self.class_count_ = fitted.classes, fitted.class_count
        for name in ("label_names_", "calibration_", "decision_"):  # of what was held before
            self.__dict__.pop(name, None)
        if fitted.labelled:
            self.label_names_ = list(fitted.labels)
        return self

    def partial_fit(
        self, X: object, y: object, classes: object = None, sample_weight: object = None
    ) -> "NaiveBayes":
        """Fit incrementally: add rows to the statistics learnt so far.

        Feature models chosen by ``"auto"`` are those of the first batch, and so is the grid of a
        column on a grid: give a first batch that shows the range of the values.  The resolution of
        a continuous column with more than 65536 distinct values takes those of different batches
        to differ.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`.
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come; needed in the first call.

        Returns
        -------
        self : NaiveBayes
        """
        sample, summaries = read_batch(self, X, y, classes, sample_weight)
        family = self.family()
        if summaries is None:
            return self.hold(family.fit(sample, family.choose_models(sample.table)))
        return self.hold(family.finish(summaries, self.fitted_.labels))

    # -- speaking ------------------------------------------------------------------------------

    @property
    def feature_models_(self) -> list[str]:
        """The feature model of each column."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.feature_models

    @property
    def temperature_(self) -> float | Floats:
        """Calibration temperature (1: not calibrated); with labels, one each."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.temperature

    def terms(self, X: object) -> Floats:
        """Log-probabilities of every value by class, in nat, feature by feature.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        terms : ndarray of shape (n_samples, n_features, n_classes)
            log P(value | class); with the log-priors they add up to the joint log-probability.
            0 where a value is missing or was never seen; -inf where it is impossible.  With labels:
            one log-ratio a label, P(value | 1) over P(value | 0).  A calibrated model divides
            all by its temperature.
        """
        rows, fitted = self._rows(X), self.fitted_
        if not fitted.labelled:
            found = [
                fitted.only.nat(fitted.only.column_terms(rows, j)) for j in range(len(fitted.specs))
            ]
            shape = (rows.n_rows, 0, len(fitted.only.classes))
            return np.stack(found, axis=1) if found else np.empty(shape)
        out = np.empty((rows.n_rows, len(fitted.specs), len(fitted.labels)))
        for g, problem in enumerate(fitted.problems):
            for j in range(len(fitted.specs)):
                fixed = problem.column_terms(rows, j)
                out[:, j, g] = problem.nat(fixed[:, 1] - fixed[:, 0])
        return out

    def predict_joint_log_proba(self, X: object) -> Floats:
        """Log P(x, class), rows x classes; -inf where the class is impossible.

        With labels: log P(x, label = 1), rows x labels.
        """
        rows = self._rows(X)
        found = [problem.nat(problem.sums(rows)) for problem in self.fitted_.problems]
        return np.column_stack([one[:, 1] for one in found]) if self.fitted_.labelled else found[0]

    @property
    def coef_(self) -> Floats:
        """Weights of the linear discriminant, positive for ``classes_[1]``."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Floats:
        """Constant of the linear discriminant."""
        return self._linear()[1]

    def _linear(self) -> tuple[Floats, Floats]:
        if not hasattr(self, "fitted_"):
            raise AttributeError("coef_ and intercept_ are there after fit.")
        return self.fitted_.linear()

    def _asked(self, X: object) -> tuple[FittedBayes, Table]:
        check_is_fitted(self, "fitted_")
        return self.fitted_, read_table(self, X, reset=False)

    def _rows(self, X: object) -> Table:
        fitted, table = self._asked(X)
        warn_of_unknown(fitted.specs, table)
        return table


def restrict_names(model: BaseEstimator, columns: Ints) -> None:
    """Let a model know the names, the number and the feature models of the columns it kept."""
    if isinstance(model, NaiveBayes) and isinstance(model.features, Mapping):
        model.features = dict(enumerate(model.fitted_.feature_models))
    model.n_features_in_ = len(columns)
    if hasattr(model, "feature_names_in_"):
        model.feature_names_in_ = model.feature_names_in_[columns]


# -- The fitted model inside any of the estimators -------------------------------------------------

_WANTED = (
    "model must be a fitted NaiveBayes or WeightedNaiveBayes, or a NaiveBayesSelector of one; got "
    "{}."
)


def bayes_of(model: object) -> NaiveBayes:
    """The naive Bayes estimator itself, out of a selector where it is in one; fitted."""
    if isinstance(model, ChosenColumns):
        check_is_fitted(model, "estimator_")
        model = model.estimator_
    if not isinstance(model, NaiveBayes):
        raise TypeError(_WANTED.format(type(model).__name__))
    check_is_fitted(model, "fitted_")
    return model


def fitted_of(model: object) -> FittedBayes:
    """The fitted value behind an estimator, or the value itself."""
    if isinstance(model, FittedBayes):
        return model
    if isinstance(model, ChosenColumns):
        model = getattr(model, "estimator_", model)
    if not isinstance(model, NaiveBayes) or not hasattr(model, "fitted_"):
        raise TypeError(_WANTED.format(type(model).__name__))
    return model.fitted_


def stands_for(model: object) -> dict[str, list[str]]:
    """The columns that each column chosen stands for, where it stands for some."""
    families = getattr(model, "families_", None)
    if not isinstance(model, ChosenColumns) or families is None:
        return {}
    chosen = np.flatnonzero(model.support_).tolist()
    found = {families.names[j]: families.others(j) for j in chosen}
    return {name: others for name, others in found.items() if others}


def rows_of(model: object, X: object) -> Table:
    """X as an estimator reads it: judged, and the columns of its fitted value only."""
    table = read_table(model, X, reset=False)
    if isinstance(model, ChosenColumns):
        return table.pick(np.flatnonzero(model.support_))
    return table


# -- A model for the place where it will be used ---------------------------------------------------


Held = TypeVar("Held", bound=NaiveBayes | ChosenColumns)


def deploy(model: Held, priors: Priors) -> Held:
    """Copy of a model with the class priors of its place of use (prior shift).

    What the features say stays; the prior is exchanged by Bayes' rule, whatever the temperature of
    a calibrated model.  Explanations, reports, exported code and files speak for that place.

    A rule of `decide` weighs its costs by the probabilities of the place.  Its thresholds move with
    the prior, so that the same rows pass them as before: what it promises of the rows of a class
    holds anywhere.  A promise about the rows of several other classes holds where these are mixed
    as they were held out, and is warned of.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector or WeightedNaiveBayes
        Fitted; it is not changed.
    priors : array-like, mapping, "uniform" or None
        One probability above 0 a class, in the order of ``classes_`` or by class; with labels,
        P(label = 1) of each, in their order or by name.  None: the priors of training again.

    Returns
    -------
    deployed : NaiveBayes, NaiveBayesSelector or WeightedNaiveBayes

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, deploy
    >>> X, y = np.array([[1], [1], [1], [0]] * 10 + [[0]] * 40), ["ill"] * 40 + ["well"] * 40
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([[1]]), deploy(model, {"ill": 0.01, "well": 0.99}).predict([[1]])
    (array(['ill'], dtype='<U4'), array(['well'], dtype='<U4'))
    """
    final = bayes_of(model)
    fitted = final.fitted_
    places = None if priors is None else read_places(fitted, priors)
    if places is not None:
        _warn_of_mixtures(fitted)
    found = copy.copy(final)
    found.fitted_ = fitted.deployed(places)
    return around(model, found)


def around(model: Held, final: NaiveBayes) -> Held:
    """The same estimator with another model: that one itself, or a copy of a selector with it."""
    if isinstance(model, NaiveBayes):
        return cast(Held, final)
    twin = copy.copy(model)
    twin.estimator_ = final
    return twin


def _warn_of_mixtures(fitted: FittedBayes) -> None:
    """A ceiling on rows of several classes depends on how frequent each of them is."""
    for problem in fitted.problems:
        promises = () if problem.rule is None else problem.rule.promises
        kept = [each for each in promises if each.kind == "false alarms"]
        if kept and len(problem.classes) > 2:
            name = plain_value(problem.classes[kept[0].position])
            warnings.warn(
                f"the ceiling on false alarms of {name!r} was found where the other classes are as "
                "frequent as among the held-out rows, and need not hold elsewhere; decide again on "
                "rows of the place.",
                UserWarning,
                stacklevel=3,
            )
