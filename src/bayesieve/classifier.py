"""`NaiveBayes`: one classifier for mixed columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .models import MODELS, TrainingSets, build_columns, one_set
from .models.gaussian import total_variance
from .models.linear import linear_form
from .models.tables import choose_scale, prior_terms
from .validation import (
    RawTable,
    check_batch,
    check_flag,
    check_number,
    check_priors,
    check_several_classes,
    check_smoothing,
    choose_models,
    read_table,
    read_target,
    read_weights,
)
from .views.columns import ColumnSpec, encode, learn, merge_specs


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes for binary, categorical and continuous columns together.

    Parameters
    ----------
    features : str or mapping, default="auto"
        The feature model of each column: ``"bernoulli"`` (0 and 1), ``"categorical"`` (any values),
        ``"gaussian"`` (a normal distribution per class) or ``"gaussian-pooled"`` (one variance for
        all classes, the linear classifier of Guyon 2005).  One name for all columns, or a mapping
        of column names or positions to names; columns left out are ``"auto"``: bernoulli when all
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
        all continuous columns added to every variance.  Like the resolution and the levels, that
        variance is learnt once from all rows and columns given to ``fit``; folds and subsets of a
        selector share it.
    rounded : bool, default=False
        Round continuous values to multiples of their column's resolution before anything else, as
        Weka does.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    feature_models_ : list of str
        The feature model of each column.
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,)
        The linear form of Guyon 2005, positive for ``classes_[1]``; only for two classes and
        bernoulli or gaussian-pooled columns.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X has names.

    Notes
    -----
    Missing values (NaN, None, or ``""`` among texts) are skipped in ``fit`` and add nothing in
    ``predict``; the same holds for a category that was never seen.  Terms are rounded once to a
    fixed-point unit of at most 2^-40 nat, so that sums of them are exact.

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
        return tags

    # -- learning ------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NaiveBayes":
        """Learn the tables.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers, booleans, text or categories.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for; any numbers >= 0.

        Returns
        -------
        self : NaiveBayes
        """
        self._check_parameters()
        table, labels, weights, classes, _ = self._read(X, y, sample_weight)
        models = choose_models(self.features, table)
        check_priors(self.priors, len(classes))
        self._begin(classes, weights, labels)
        sets = one_set(labels, weights, self._class_weight)
        for j, model in enumerate(models):
            raw = table.column(j)
            spec = learn(table.names[j], model, raw, MODELS[model].discrete, self.rounded)
            self._take(spec, encode(spec, raw), sets)
        self._finish()
        return self

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
        table, labels, weights, _, _ = self._read(X, y, sample_weight, given, reset=first)
        check_priors(self.priors, len(given))
        if first:
            models = choose_models(self.features, table)
            self._begin(given, weights, labels)
        else:
            # All columns are judged before any of them changes.
            models = self._feature_models
            for j, model in enumerate(models):
                check_batch(model, table.column(j), table.names[j], self._specs[j].levels)
            self.class_count_ = self.class_count_ + np.bincount(labels, weights, len(given))
        sets = one_set(labels, weights, self._class_weight)
        for j, model in enumerate(models):
            raw = table.column(j)
            spec = learn(table.names[j], model, raw, MODELS[model].discrete)
            if first:
                self._take(spec, encode(spec, raw), sets)
            else:
                self._merge(j, spec, raw, sets)
        self._finish()
        return self

    def _check_parameters(self) -> None:
        check_smoothing(self.smoothing)
        if self.var_smoothing is not None:
            check_number("var_smoothing", self.var_smoothing, low=0.0)
        check_flag("rounded", self.rounded)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, known: Any = None, reset: bool = True
    ) -> tuple[RawTable, NDArray[np.int64], NDArray[np.float64], NDArray[Any], NDArray[np.int64]]:
        """Rows with a positive weight: values, class indices, weights; the classes; row numbers."""
        table = read_table(self, X, reset=reset)
        classes, labels = read_target(y, table.n_rows)
        weights = read_weights(sample_weight, table)
        if known is not None:
            unknown = np.setdiff1d(classes, known)
            if unknown.size:
                raise ValueError(
                    f"y holds {unknown.tolist()}, which are not among the classes "
                    f"{np.asarray(known).tolist()} of the first call to partial_fit."
                )
            labels = np.searchsorted(known, classes)[labels]
            classes = np.asarray(known)
        rows = np.flatnonzero(weights > 0)
        if rows.size < table.n_rows:
            # A weight of 0 is the same as a row that is not there.
            table = table.take(rows)
            labels, weights = labels[rows], weights[rows]
            if known is None:
                present, labels = np.unique(labels, return_inverse=True)
                classes = classes[present]
        check_several_classes(classes)
        return table, labels.astype(np.int64), weights, classes, rows

    def _begin(
        self, classes: NDArray[Any], weights: NDArray[np.float64], labels: NDArray[np.int64]
    ) -> None:
        """Forget everything learnt before."""
        self.classes_ = classes
        self.class_count_ = np.bincount(labels, weights, len(classes)).astype(np.float64)
        self._specs: list[ColumnSpec] = []
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
        self._extra_variance = None
        if self.var_smoothing is not None:
            largest = [
                total_variance(statistics)
                for spec, statistics in zip(self._specs, self._statistics, strict=True)
                if not MODELS[spec.model].discrete
            ]
            self._extra_variance = float(self.var_smoothing) * max(largest, default=0.0)
        self._prior = prior_terms(self.class_count_[None], priors, self._class_weight)
        self._columns = build_columns(
            self._specs, self._statistics, smoothing, self._extra_variance, self._class_weight
        )
        tables = [
            column.of(np.arange(spec.n_codes)) if column.model.discrete else None
            for spec, column in zip(self._specs, self._columns, strict=True)
        ]
        self._scale = choose_scale(self._columns, tables, self._prior)
        self._fixed = [None if table is None else self._scale.fix(table)[0] for table in tables]

    def _restrict(self, columns: Sequence[int]) -> None:
        """Keep these columns only; tables, scale and frozen means stay what they are."""
        kept = list(columns)
        if isinstance(self.features, Mapping):
            self.features = {i: self._specs[j].model for i, j in enumerate(kept)}
        for name in ("_specs", "_statistics", "_columns", "_fixed", "_feature_models"):
            everything = getattr(self, name)
            setattr(self, name, [everything[j] for j in kept])
        self.n_features_in_ = len(kept)
        if hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = self.feature_names_in_[kept]

    # -- speaking ------------------------------------------------------------------------------

    @property
    def feature_models_(self) -> list[str]:
        """The feature model of each column."""
        check_is_fitted(self, "classes_")
        return list(self._feature_models)

    def terms(self, X: Any) -> NDArray[np.float64]:
        """What each feature says about each class, in nat.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        terms : ndarray of shape (n_samples, n_features, n_classes)
            log P(value | class); with the log-priors they add up to the joint log-probability.
            0 where a value is missing or was never seen; -inf where it is impossible.
        """
        table = self._table(X)
        out = np.empty((table.n_rows, len(self._specs), len(self.classes_)))
        for j in range(len(self._specs)):
            out[:, j] = self._scale.release(self._speak(j, table.column(j)))
        return out

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log P(x, class), rows x classes; -inf where the class is impossible."""
        sums = self._sums(self._table(X))
        return self._scale.release(sums)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log P(class | x), rows x classes."""
        return self._log_proba(self._table(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(class | x), rows x classes."""
        return self._proba(self._table(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; the first of equals."""
        return self._best(self._table(X))

    # What `predict` and its kin do once X has been read; the selector reads X itself.

    def _table(self, X: Any) -> RawTable:
        check_is_fitted(self, "classes_")
        return read_table(self, X, reset=False)

    def _best(self, table: RawTable) -> NDArray[Any]:
        return self.classes_[self._sums(table).argmax(1)]

    def _proba(self, table: RawTable) -> NDArray[np.float64]:
        odds = np.exp(self._ahead(self._sums(table)))
        return odds / odds.sum(1, keepdims=True)

    def _log_proba(self, table: RawTable) -> NDArray[np.float64]:
        ahead = self._ahead(self._sums(table))
        return ahead - np.log(np.exp(ahead).sum(1, keepdims=True))

    def _sums(self, table: RawTable) -> NDArray[np.int64]:
        """Exact integer sums of log-prior and terms: rows x classes."""
        sums = np.repeat(self._scale.fix(self._prior), table.n_rows, axis=0)
        for j in range(len(self._specs)):
            sums += self._speak(j, table.column(j))
        return sums

    def _speak(self, j: int, raw: NDArray[Any]) -> NDArray[np.int64]:
        """Fixed-point terms of one column: rows x classes."""
        spec, fixed = self._specs[j], self._fixed[j]
        if fixed is None:
            if raw.dtype == object:
                check_batch(spec.model, raw, spec.name)
            return self._scale.fix(self._columns[j].of(encode(spec, raw), 0))
        assert spec.levels is not None
        if (raw.dtype == object) != (spec.levels.dtype == object):
            # Text where numbers were learnt, or the other way round: nothing of it was ever seen.
            return np.zeros((len(raw), len(self.classes_)), np.int64)
        return fixed[encode(spec, raw)]

    def _ahead(self, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far each class is from the best, in nat; -inf where it is impossible beside it."""
        apart = sums - sums.max(1, keepdims=True)
        return self._scale.release(apart)

    # -- the linear form -----------------------------------------------------------------------

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the linear discriminant, positive for ``classes_[1]``."""
        return self._linear()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Constant of the linear discriminant."""
        return self._linear()[1]

    def _linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """F(x) = sum w x + b with log-odds of ``classes_[1]`` against ``classes_[0]``."""
        if not hasattr(self, "_columns"):
            raise AttributeError("coef_ and intercept_ are there after fit.")
        odd = set(self._feature_models) - {"bernoulli", "gaussian-pooled"}
        if len(self.classes_) != 2 or odd:
            raise AttributeError(
                "coef_ and intercept_ exist for two classes and 'bernoulli' or "
                "'gaussian-pooled' columns; got "
                f"{len(self.classes_)} classes and {sorted(set(self.feature_models_))}."
            )
        return linear_form(self._columns, self._fixed, self._prior, self._scale)
