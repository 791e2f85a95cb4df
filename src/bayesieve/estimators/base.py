"""What estimators share: chosen columns, and predictions on Dask collections."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, Floats, Foreign
from ..data.collection import as_plain
from ..data.storage import PackedTable
from ..data.tables import Table, is_collection, is_frame, keep_names, read_table
from ..models.columns import warn_of_unknown
from ..models.fitted import Priors, at_place

if TYPE_CHECKING:
    from ..criteria.base import Criterion
    from ..explain.report.page import ReportPage

#: What is said of a row in a number, or a name, rather than in several.
_SINGLE = ("predict",)


def lazily(model: Foreign, method: str, X: Foreign, priors: Foreign = None) -> Foreign:
    """What a method of a fitted model gives, partition by partition, nothing of it computed yet.

    Of a dask.dataframe a Series, or a DataFrame with a column a class (or label); of a dask.array
    an array.

    Parameters
    ----------
    model : fitted.
    method : "predict", "predict_proba", "predict_log_proba" or "decision_function".
    X : the collection.
    priors : as the method takes them.
    """
    check_is_fitted(model)
    ask = partial(_ask, model, method, priors)
    columns = _columns(model, method)
    kind = _kind(model) if method in _SINGLE else np.dtype(np.float64)
    labelled = bool(
        model.estimator_.fitted_.labelled if _chooses(model) else model.fitted_.labelled
    )
    if hasattr(X, "dtype"):
        check_names(model, np.empty((0, X.shape[1])))
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        single = (method in _SINGLE and not labelled) or columns is None
        meta = np.empty((0,) if single else (0, len(columns or ())), kind)
        if single:
            return X.map_blocks(ask, drop_axis=1, dtype=kind, meta=meta)
        return X.map_blocks(ask, chunks=(X.chunks[0], (meta.shape[1],)), dtype=kind, meta=meta)
    import pandas as pd

    check_names(model, X.dtypes.to_frame().T.iloc[:0])
    if columns is None or (method in _SINGLE and not labelled):
        framed = partial(_series, ask, kind)
        return X.map_partitions(framed, meta=pd.Series(dtype=kind, name=method))
    framed = partial(_frame, ask, columns)
    meta = pd.DataFrame({name: pd.Series(dtype=kind) for name in columns})
    return X.map_partitions(framed, meta=meta)


def picked(model: Foreign, X: Foreign) -> Foreign:
    """The chosen columns of a collection, which stays one."""
    chosen = np.flatnonzero(model.support_)
    if hasattr(X, "dtype"):
        check_names(model, np.empty((0, X.shape[1])))
        return X[:, chosen]
    check_names(model, X.dtypes.to_frame().T.iloc[:0])
    return X[[X.columns[j] for j in chosen.tolist()]]


def check_names(model: Foreign, face: Foreign) -> None:
    """Names and width must be those of the fit; told before anything is read."""
    keep_names(model, face, reset=False)


def _chooses(model: Foreign) -> bool:
    return hasattr(model, "estimator_")


def _kind(model: Foreign) -> np.dtype:
    classes = model.classes_
    fitted = (model.estimator_ if _chooses(model) else model).fitted_
    rules = [problem.rule for problem in getattr(fitted, "problems", ())]
    if any(rule is not None and rule.asks for rule in rules):  # None where a person is asked
        return np.dtype(object)
    return np.dtype(np.int64) if isinstance(classes, list) else classes.dtype


def _columns(model: Foreign, method: str) -> list[str] | None:
    """Names of what is said; None where it is one number a row."""
    inner = model.estimator_ if _chooses(model) else model
    if hasattr(inner, "label_names_"):
        return list(inner.label_names_)
    names = [str(each) for each in model.classes_.tolist()]
    return None if method == "decision_function" and len(names) == 2 else names


def _ask(model: Foreign, method: str, priors: Foreign, part: Foreign) -> Foreign:
    """A partition may have no rows."""
    part = as_plain(part)
    if part.shape[0]:
        return getattr(model, method)(part, priors=priors)
    columns = _columns(model, method)
    kind = _kind(model) if method in _SINGLE else np.dtype(np.float64)
    single = columns is None or (method in _SINGLE and not isinstance(model.classes_, list))
    return np.empty((0,) if single else (0, len(columns or ())), kind)


def _series(ask: Foreign, kind: np.dtype, part: Foreign) -> Foreign:
    import pandas as pd

    return pd.Series(ask(part), index=part.index, dtype=kind, name=ask.args[1])


def _frame(ask: Foreign, columns: list[str], part: Foreign) -> Foreign:
    import pandas as pd

    return pd.DataFrame(ask(part), index=part.index, columns=columns)


# -- Predictions -----------------------------------------------------------------------------------


# What a fitted value calls the answers of its estimator.
_ANSWERS = {
    "predict": "decided",
    "predict_proba": "proba",
    "predict_log_proba": "log_proba",
    "decision_function": "decide",
}


class Predictions:
    """Predictions by a fitted value: of `NaiveBayes`, and of who chose columns for one."""

    def _asked(self, X: object) -> tuple[Foreign, Table]:
        """The fitted value, and the columns that it reads of X."""
        raise NotImplementedError

    def _answer(self, method: str, X: object, priors: Priors) -> Foreign:
        if is_collection(X):
            return lazily(self, method, X, priors)
        fitted, rows = self._asked(X)
        warn_of_unknown(fitted.specs, rows)
        return getattr(at_place(fitted, priors), _ANSWERS[method])(rows)

    def predict(self, X: object, priors: Priors = None) -> Array:
        """The most probable class of each row; the first of equals.  With labels, 0 or 1 each.

        After `decide`, what its rule decides: an array of objects where it may ask a person, with
        None for the rows on which it does.
        `priors`, here and below: how frequent the classes are where the rows come from, as in
        `deploy`; as in training (or as deployed) by default.
        """
        return self._answer("predict", X, priors)

    def predict_proba(self, X: object, priors: Priors = None) -> Floats:
        """P(class | x), rows x classes; with labels, P(label = 1 | x), rows x labels.

        Classes exclude each other: a row adds up to 1.  Labels do not.
        """
        return self._answer("predict_proba", X, priors)

    def predict_log_proba(self, X: object, priors: Priors = None) -> Floats:
        """Log P(class | x), rows x classes; with labels, log P(label = 1 | x), rows x labels."""
        return self._answer("predict_log_proba", X, priors)

    def decision_function(self, X: object, priors: Priors = None) -> Floats:
        """Log-odds of ``classes_[1]`` or of each label (rows x labels); else joint log-scores.

        Unlike probabilities they do not round to 0 or 1, so that they rank rows for a ROC curve.
        Of `FeatureVotes`, numbers of votes.
        """
        return self._answer("decision_function", X, priors)


# -- An estimator that chose columns and holds a model on them -------------------------------------


class ChosenColumns(Predictions, SelectorMixin):
    """Transforms to the chosen columns, and predicts by the model on them.

    Mixed in by whoever sets ``support_``, a mask of columns, and ``estimator_``, a fitted model of
    the columns chosen.

    Examples
    --------
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.estimators.base import ChosenColumns
    >>> issubclass(NaiveBayesSelector, ChosenColumns)
    True
    """

    support_: NDArray[np.bool_]
    estimator_: Any
    class_weight: Any

    def __procedure__(self) -> "Procedure":
        """Describe this way to choose columns; asked by `procedure_of`."""
        raise NotImplementedError

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def transform(self, X: object) -> Any:
        """The chosen columns of X, in the table's order; packed tables and collections stay so."""
        if isinstance(X, PackedTable):
            return self._chosen(X)
        if is_collection(X):
            return picked(self, X)
        try:
            return super().transform(X)
        except Exception:
            if not is_frame(X):
                raise
            # Data frames make no array of some columns, such as nullable numbers beside categories
            # or wide integers, each library with an error of its own.  Bad input is refused here.
            chosen = self._chosen(X)
            columns = [chosen.column(j) for j in range(len(chosen.names))]
            return np.stack(columns, axis=1) if columns else np.empty((chosen.n_rows, 0))

    def report(self, X: object, y: ArrayLike, **options: object) -> "ReportPage":
        """The report of this selection, which a notebook shows where it stands.

        Parameters
        ----------
        X, y :
            What it was fitted on.
        **options :
            As in `make_report`: `title`, `include_rows`, `n_resamples` and so on.

        Returns
        -------
        page : ReportPage
            Text of an HTML page; ``save(path)`` writes it.
        """
        from ..explain.report.page import report_page

        return report_page(self, X, y, options)

    def _chosen(self, X: object) -> Table:
        """The chosen columns of X."""
        check_is_fitted(self, "support_")
        return read_table(self, X, reset=False).pick(np.flatnonzero(self.support_))

    def _asked(self, X: object) -> tuple[Foreign, Table]:
        chosen = self._chosen(X)
        return self.estimator_.fitted_, chosen


# -- What the library asks of either estimator, without asking which it is ------------------------


class GuidingFigures(NamedTuple):
    """Figures of the state chosen, as the fit itself saw them."""

    score: float  #: by the criterion that guided, in its own units
    validation_error: float  #: on the rows that chose; NaN where there are none
    validation_name: str  #: what that number is called


class Procedure(ABC):
    """One way to choose columns: how to validate, repeat and describe an estimator that does.

    Parameters
    ----------
    model : NaiveBayesSelector or WeightedNaiveBayes
        Fitted or not; what needs a fitted one says so.

    Examples
    --------
    >>> from bayesieve import NaiveBayesSelector, WeightedNaiveBayes
    >>> from bayesieve.estimators.base import procedure_of
    >>> procedure_of(NaiveBayesSelector()).validate().name
    'probability'
    >>> procedure_of(WeightedNaiveBayes()).validate().name
    'log-likelihood'
    """

    def __init__(self, model: Any):
        self.model = model

    @abstractmethod
    def validate(self) -> "Criterion":
        """Validate all parameters that need no data; the criterion by which others may judge it."""

    @abstractmethod
    def base_model(self) -> Any:
        """An unfitted model of all columns, as it would be without a choice among them."""

    def repeatable(self) -> Any:
        """An unfitted copy for resamples; what inner cross-validation decided stays decided."""
        return clone(self.model)

    def chooser(self, criterion: "Criterion") -> "Criterion":
        """The criterion that chooses on the path, where this one guides."""
        return criterion

    # -- of a fitted one -----------------------------------------------------------------------

    @property
    def row_parts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Rows that guided and rows that only chose; None where every row takes part in all."""
        return None

    @property
    def paths(self) -> tuple[Any, ...]:
        """Paths: one, or one a label."""
        path = self.model.path_
        return tuple(path) if isinstance(path, list) else (path,)

    @property
    def names(self) -> list[str]:
        """Names of all columns of X, as the path tells them."""
        return list(self.paths[0].names)

    @property
    def term_names(self) -> list[str]:
        """Names of the terms, in the order in which they were chosen."""
        return [self.names[j] for j in self.model.selected_.tolist()]

    def rename(self, names: Sequence[str]) -> None:
        """Give all columns of X names, such as a sparse matrix has none of.

        Path, terms and families tell them from now on, and the model of the columns chosen; a model
        that others hold as well is left as it is.
        """
        model, chosen = self.model, np.flatnonzero(self.model.support_).tolist()
        self.rename_path(names)
        if model.families_ is not None:
            model.families_ = replace(model.families_, names=tuple(names))
        model.estimator_ = copy(model.estimator_)
        model.estimator_.hold(model.estimator_.fitted_.renamed([names[j] for j in chosen]))

    def rename_path(self, names: Sequence[str]) -> None:
        """Give the columns of the path, and of the terms, these names."""
        paths = [copy(path) for path in self.paths]
        for path in paths:
            path.names = list(names)
        self.model.path_ = paths if isinstance(self.model.path_, list) else paths[0]

    @abstractmethod
    def figures(self) -> GuidingFigures:
        """Figures of the state chosen."""

    @abstractmethod
    def summary(self) -> dict[str, object]:
        """Figures of the choice as plain data, beyond the names chosen."""

    @abstractmethod
    def settings(self) -> list[tuple[str, object]]:
        """Decisions of the fit, each by the name under which people read it."""


def procedure_of(model: ChosenColumns) -> Procedure:
    """Look up how an estimator chooses columns.

    Parameters
    ----------
    model : NaiveBayesSelector or WeightedNaiveBayes
    """
    return model.__procedure__()
