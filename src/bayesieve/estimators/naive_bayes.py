"""`NaiveBayes`: one classifier for mixed columns."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from ..checks import check_flag, check_number, plain_value
from ..data.columns import ColumnSpec, encode, learn, merge_specs
from ..data.kinds import in_kind_of
from ..data.sample import Sample, read_sample
from ..data.tables import SparseTable, read_table
from ..data.targets import is_label_matrix, read_labels
from ..engine.sparse_tables import SparseProblem, SparseTables, bayes_tables
from ..models.base import Settings, Terms, TrainingSets, one_set
from ..models.choice import check_batch, choose_models
from ..models.columns import count_present, read_column
from ..models.moments import total_variance
from ..models.powers import size, times
from ..models.registry import MODELS, build_columns, spoken_tables
from ..models.settings import check_priors, check_smoothing
from ..models.tables import Scale, choose_scale, in_units_of_scale, prior_terms
from .speaker import Speaker


class NaiveBayes(Speaker, ClassifierMixin, BaseEstimator):
    """Naive Bayes for binary, categorical and continuous columns together.

    Parameters
    ----------
    features : str or mapping, default="auto"
        The feature model of each column: ``"bernoulli"`` (0 and 1), ``"categorical"`` (any values),
        ``"gaussian"`` (a normal distribution per class), ``"gaussian-pooled"`` (one variance for
        all classes, the linear classifier of Guyon 2005), or ``"mixture"`` (several normal
        distributions per class by EM, Sotoca et al.; their number, 1 to 7, chosen by BIC, or given:
        ``"mixture-3"``; with ``"-printed"`` at the end EM stops by the paper's rule; scikit-learn's
        `GridSearchCV` over this parameter chooses by cross-validated accuracy).  One name for
        all columns, or a mapping of column names or positions to names; columns left out are
        ``"auto"``: bernoulli when all
        values are 0 or 1, categorical for text and categories, gaussian otherwise.
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
        By default continuous columns follow Weka: the term is the probability of the value plus or
        minus half the column's resolution (the mean gap between its distinct values), the standard
        deviation at least a sixth of the resolution, the term at least log 1e-75.  With a number,
        they follow scikit-learn's GaussianNB: densities, with this share of the largest variance of
        all continuous columns added to every variance (one that is 0 even so counts as the smallest
        normal float, 2.2e-308).  Like the resolution and the levels, that
        variance is learnt once from all rows and columns given to ``fit``; folds and subsets of a
        selector share it.
    rounded : bool, default=False
        Round continuous values to multiples of their column's resolution before anything else, as
        Weka does.

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
    writes that number; other texts are compared letter by letter.  A column in which nothing at all
    is known is named in a warning.  Numbers may be of any size: where their squares do not fit a
    float, variances are kept in units of a power of two (such a model is not saved).  Terms
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

    _form = "lines"  #: of ledger it needs; it can speak in both

    _specs: list[ColumnSpec]
    _feature_models: list[str]
    classes_: NDArray[Any]
    class_count_: NDArray[np.float64]
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        features: str | Mapping[Any, str] = "auto",
        smoothing: float | str = 1.0,
        priors: Any = None,
        var_smoothing: float | None = None,
        rounded: bool = False,
    ):
        self.features = features
        self.smoothing = smoothing
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.rounded = rounded

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    # -- learning ------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NaiveBayes":
        """Learn the tables.

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
        self._check_parameters()
        read = self._read(X, y, sample_weight)
        models = choose_models(self.features, read.table)
        check_priors(self.priors, len(read.classes))
        self._fit_table(read, models)
        return self

    def _fit_table(
        self, read: Sample, models: list[str], class_weight: NDArray[np.float64] | None = None
    ) -> None:
        """Learn from what was read."""
        self._parts = []
        if read.targets.labelled:
            self._parts = [NaiveBayes(**self.get_params()) for _ in read.targets.names]
        learners = []
        for column, part in zip(read.targets.classes.T, self._parts or [self], strict=True):
            part._begin(read.classes, read.weights, column)
            if class_weight is not None:
                part._class_weight = class_weight
            learners.append((part, one_set(column, read.weights, part._class_weight)))
        counts = count_present(read.table, [sets for _, sets in learners])
        for j, model in enumerate(models):
            name = read.table.names[j]
            if counts is not None and model == "bernoulli":
                spec = learn(name, model, np.empty(0), True, presence=True)
                for (part, _), found in zip(learners, counts, strict=True):
                    part._specs.append(spec)
                    part._statistics.append(found[j])
                continue
            spec, column = read_column(read.table, j, model, self.rounded)
            for part, sets in learners:
                part._take(spec, column, sets)
        for part, _ in learners:
            part._finish()
        if self._parts:
            self._describe_labels(read.targets.names)

    def _describe_labels(self, names: tuple[str, ...]) -> None:
        """What is the same for all labels, and one row a label of what is not."""
        first = self._parts[0]
        self.classes_ = [part.classes_ for part in self._parts]  # type: ignore[assignment]
        self.class_count_ = np.stack([part.class_count_ for part in self._parts])
        self.label_names_ = list(names)
        self._specs, self._feature_models = first._specs, first._feature_models

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "NaiveBayes":
        """Add rows to what was learnt: statistics merge.

        Feature models chosen by ``"auto"`` are those of the first batch.  The resolution of a
        continuous column with more than 65536 distinct values takes those of different batches to
        differ.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`.
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come; needed in the first call.

        Returns
        -------
        self : NaiveBayes
        """
        self._check_parameters()
        if self.rounded:
            raise ValueError(
                "rounded=True needs all rows at once, since the resolution of a column changes "
                "with every batch; use fit, or rounded=False."
            )
        first = not hasattr(self, "_specs")
        if is_label_matrix(y):
            if not first and not self._parts:
                raise ValueError(
                    "y is a matrix of labels, but the first call to partial_fit had classes."
                )
            return self._partial_fit_labels(X, y, sample_weight)
        if self._parts:
            raise ValueError(
                f"y must be a matrix of {len(self._parts)} labels, as in the first call to fit or "
                "partial_fit; got one class a row."
            )
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if classes is not None:
            given = np.unique(np.asarray(classes))
            if not first and not np.array_equal(given, self.classes_):
                raise ValueError(
                    f"classes={given.tolist()} is not the same as on last call to partial_fit, "
                    f"which was {self.classes_.tolist()}."
                )
        else:
            given = self.classes_
        read = self._read(X, y, sample_weight, given, reset=first)
        table, labels, weights = read.table, read.labels, read.weights
        self._parts = []
        check_priors(self.priors, len(given))
        if first:
            models = choose_models(self.features, table)
            self._begin(given, weights, labels)
        else:
            # All columns are judged before any of them changes.
            models = self._feature_models
            for j, model in enumerate(models):
                if not self._specs[j].presence:  # any value may stand for presence
                    check_batch(model, table.column(j), table.names[j], self._specs[j].levels)
            self.class_count_ = self.class_count_ + np.bincount(labels, weights, len(given))
        sets = one_set(labels, weights, self._class_weight)
        for j, model in enumerate(models):
            raw = table.column(j)
            if not first and raw.dtype == object:  # names of categories that were numbers
                levels = self._specs[j].levels
                assert levels is not None
                raw = in_kind_of(levels, raw) if levels.dtype == object else raw
            presence = isinstance(table, SparseTable)
            spec = learn(table.names[j], model, raw, MODELS[model].discrete, presence=presence)
            if first:
                self._take(spec, encode(spec, raw), sets)
            else:
                self._merge(j, spec, raw, sets)
        self._finish()
        return self

    def _partial_fit_labels(self, X: Any, y: Any, sample_weight: Any) -> "NaiveBayes":
        """Every label for itself."""
        targets = read_labels(y, read_table(self, X, reset=not hasattr(self, "_specs")).n_rows)
        if not hasattr(self, "_specs"):
            self._parts = [NaiveBayes(**self.get_params()) for _ in targets.names]
        elif list(targets.names) != self.label_names_:
            raise ValueError(
                f"y has the labels {list(targets.names)}, but the first call had "
                f"{self.label_names_}; they must be the same, in the same order."
            )
        for part, column in zip(self._parts, targets.classes.T, strict=True):
            part.partial_fit(X, column, classes=[0, 1], sample_weight=sample_weight)
        self._describe_labels(targets.names)
        return self

    def _check_parameters(self) -> None:
        check_smoothing(self.smoothing)
        if self.var_smoothing is not None:
            check_number("var_smoothing", self.var_smoothing, low=0.0)
        check_flag("rounded", self.rounded)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, known: Any = None, reset: bool = True
    ) -> Sample:
        return read_sample(self, X, y, sample_weight, known, reset)

    def _begin(
        self, classes: NDArray[Any], weights: NDArray[np.float64], labels: NDArray[np.int64]
    ) -> None:
        """Forget everything learnt before."""
        self.classes_ = classes
        self.class_count_ = np.bincount(labels, weights, len(classes)).astype(np.float64)
        self._specs = []
        self._statistics: list[Any] = []
        self._class_weight = np.ones(len(classes))

    def _take(self, spec: ColumnSpec, column: NDArray[Any], sets: TrainingSets) -> None:
        """Learn one column."""
        self._specs.append(spec)
        self._statistics.append(MODELS[spec.model].statistics(column, spec.n_codes, sets))

    def _merge(self, j: int, spec: ColumnSpec, raw: NDArray[Any], sets: TrainingSets) -> None:
        """Learn more of one column."""
        model = MODELS[spec.model]
        old = self._specs[j]
        both = merge_specs(old, spec)
        known = self._statistics[j]
        if both.levels is not None and both.n_codes != old.n_codes:
            assert old.levels is not None
            grown = np.zeros((1, both.n_codes, len(self.classes_)))
            grown[:, np.searchsorted(both.levels, old.levels)] = known[:, :-1]
            grown[:, -1] = known[:, -1]
            known = grown
        self._specs[j] = both
        self._statistics[j] = model.merge(
            known, model.statistics(encode(both, raw), both.n_codes, sets)
        )

    def _finish(self) -> None:
        """Turn statistics into tables of integers."""
        smoothing = check_smoothing(self.smoothing)
        priors = check_priors(self.priors, len(self.classes_))
        self._feature_models = [spec.model for spec in self._specs]
        self._temperature = 1.0  # what was calibrated before no longer fits
        self._extra_variance = None
        if self.var_smoothing is not None:
            largest = [
                total_variance(statistics)
                for spec, statistics in zip(self._specs, self._statistics, strict=True)
                if not MODELS[spec.model].discrete
            ]
            most = max(largest, default=(0.0, 0), key=lambda found: size(*found))
            self._extra_variance = times(float(self.var_smoothing), *most)

        def make(bits: int) -> tuple[list[Terms | None], Scale]:
            self._prior = prior_terms(self.class_count_[None], priors, self._class_weight, bits)
            settings = Settings(smoothing, self._extra_variance, self._class_weight, bits=bits)
            self._columns = build_columns(self._specs, self._statistics, settings)
            tables = spoken_tables(self._specs, self._columns)
            return tables, choose_scale(self._columns, tables, self._prior)

        tables, self._scale = in_units_of_scale(make)
        self._fixed = [None if table is None else self._scale.fix(table)[0] for table in tables]
        self._warn_of_idle_components()

    def _warn_of_idle_components(self) -> None:
        """Name a class and column with fewer distinct values than its mixture has components."""
        found = []
        for spec, statistics in zip(self._specs, self._statistics, strict=True):
            components = getattr(MODELS[spec.model], "components", 0)
            if components > 1:
                few = (statistics.n_distinct[0] > 0) & (statistics.n_distinct[0] < components)
                found += [
                    (spec, int(k), int(statistics.n_distinct[0, k])) for k in np.flatnonzero(few)
                ]
        if found:
            spec, k, n = found[0]
            others = f" (and {len(found) - 1} more such cases)" if len(found) > 1 else ""
            warnings.warn(
                f"column {spec.name!r} has {n} distinct value(s) in class "
                f"{plain_value(self.classes_[k])!r}, fewer than the components of {spec.model!r}"
                f"{others}; idle components say nothing. Use fewer components, or 'mixture', which "
                "chooses their number.",
                UserWarning,
                stacklevel=5,
            )

    def sparse_tables(self, problem: SparseProblem) -> SparseTables:
        """Terms of the model for the rows of a sparse ledger."""
        # The variance added to all columns is learnt once, by the fit on all rows.
        extra = (self._parts or [self])[0]._extra_variance
        settings = Settings(check_smoothing(self.smoothing), extra, problem.class_weight)
        priors = check_priors(self.priors, problem.targets.n_classes)
        return bayes_tables(problem, settings, priors)

    def _keep_columns(self, columns: Sequence[int], read: Sample) -> None:
        """Keep these columns of what was learnt from `read`."""
        self._restrict(columns)

    def _restrict(self, columns: Sequence[int]) -> None:
        """Keep these columns only; tables, scale and frozen means stay what they are."""
        kept = list(columns)
        if isinstance(self.features, Mapping):
            self.features = {i: self._specs[j].model for i, j in enumerate(kept)}
        for part in self._parts:
            part._restrict(kept)
        if self._parts:
            self._describe_labels(tuple(self.label_names_))
        else:
            for name in ("_specs", "_statistics", "_columns", "_fixed", "_feature_models"):
                everything = getattr(self, name)
                setattr(self, name, [everything[j] for j in kept])
        self.n_features_in_ = len(kept)
        if hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = self.feature_names_in_[kept]
