"""An estimator that chose columns and holds a model on them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import Array
from ..data.packed import PackedTable
from ..data.tables import Table, is_collection, is_frame, read_table
from ..models.priors import Priors, at_place
from ..models.unknown import warn_of_unknown
from .lazy import lazily, picked

if TYPE_CHECKING:
    from ..explain.report.inline import ReportPage


class ChosenColumns(SelectorMixin):
    """Transforms to the chosen columns, and predicts by the model on them.

    Mixed in by whoever sets ``support_``, a mask of columns, and ``estimator_``, a fitted model of
    the columns chosen.

    Examples
    --------
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.estimators.chosen import ChosenColumns
    >>> issubclass(NaiveBayesSelector, ChosenColumns)
    True
    """

    support_: NDArray[np.bool_]
    estimator_: Any
    class_weight: Any

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
        from ..explain.report.inline import report_page

        return report_page(self, X, y, options)

    def _chosen(self, X: object) -> Table:
        """The chosen columns of X."""
        check_is_fitted(self, "support_")
        return read_table(self, X, reset=False).pick(np.flatnonzero(self.support_))

    def _told(self, X: object) -> Table:
        """The chosen columns of X; those in which nothing is known are named."""
        chosen = self._chosen(X)
        warn_of_unknown(self.estimator_.fitted_.specs, chosen)
        return chosen

    def predict(self, X: object, priors: Priors = None) -> Array:
        """The most probable class of each row (0 or 1 for each label), by the chosen model.

        After `decide`, what its rule decides: an array of objects where it may ask a person, with
        None for the rows on which it does.
        `priors`, here and below: how frequent the classes are where the rows come from, see
        `deploy`; as in training (or as deployed) by default.
        """
        if is_collection(X):
            return lazily(self, "predict", X, priors)
        chosen = self._told(X)
        return at_place(self.estimator_.fitted_, priors).decided(chosen)

    def predict_proba(self, X: object, priors: Priors = None) -> NDArray[np.float64]:
        """P(class | x), rows x classes, or P(label = 1 | x), rows x labels, by the chosen model."""
        if is_collection(X):
            return lazily(self, "predict_proba", X, priors)
        chosen = self._told(X)
        return at_place(self.estimator_.fitted_, priors).proba(chosen)

    def decision_function(self, X: object, priors: Priors = None) -> NDArray[np.float64]:
        """Log-odds (two classes, labels), scores of the classes, or numbers of votes."""
        if is_collection(X):
            return lazily(self, "decision_function", X, priors)
        chosen = self._told(X)
        return at_place(self.estimator_.fitted_, priors).decide(chosen)

    def predict_log_proba(self, X: object, priors: Priors = None) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`, by the chosen model."""
        if is_collection(X):
            return lazily(self, "predict_log_proba", X, priors)
        chosen = self._told(X)
        return at_place(self.estimator_.fitted_, priors).log_proba(chosen)
