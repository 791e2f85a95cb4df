"""What a fitted naive Bayes model says: terms, sums, probabilities, the linear form."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..data.columns import ColumnSpec, encode
from ..data.tables import SparseTable, Table, read_table
from ..models.base import Terms
from ..models.choice import check_batch
from ..models.columns import warn_of_unknown
from ..models.linear import linear_form
from ..models.tables import ColumnTerms, Scale


class Speaker:
    """The part of `NaiveBayes` that speaks; all that it reads is set by a fit."""

    classes_: NDArray[Any]
    _specs: list[ColumnSpec]
    _feature_models: list[str]
    _columns: list[ColumnTerms]
    _fixed: list[NDArray[np.int64] | None]
    _prior: Terms
    _scale: Scale
    _parts: Sequence[Any] = ()  #: one model a label, where there are labels
    _temperature: float = 1.0  #: what `calibrate` found; all that is said in nat is divided by it

    @property
    def feature_models_(self) -> list[str]:
        """The feature model of each column."""
        check_is_fitted(self, "classes_")
        return list(self._feature_models)

    @property
    def temperature_(self) -> Any:
        """What log-probabilities are divided by, 1 but for `calibrate`; with labels, one each."""
        check_is_fitted(self, "classes_")
        if self._parts:
            return np.array([part._temperature for part in self._parts])
        return self._temperature

    def terms(self, X: Any) -> NDArray[np.float64]:
        """What each feature says about each class, in nat.

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
        table = self._table(X)
        if self._parts:
            out = np.empty((table.n_rows, len(self._specs), len(self._parts)))
            for g, part in enumerate(self._parts):
                for j in range(len(self._specs)):
                    fixed = part._said(table, j)
                    out[:, j, g] = part._nat(fixed[:, 1] - fixed[:, 0])
            return out
        out = np.empty((table.n_rows, len(self._specs), len(self.classes_)))
        for j in range(len(self._specs)):
            out[:, j] = self._nat(self._said(table, j))
        return out

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log P(x, class), rows x classes; -inf where the class is impossible.

        With labels: log P(x, label = 1), rows x labels.
        """
        if self._parts:
            table = self._table(X)
            return np.column_stack([part._nat(part._sums(table))[:, 1] for part in self._parts])
        return self._nat(self._sums(self._table(X)))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log P(class | x), rows x classes; with labels, log P(label = 1 | x), rows x labels."""
        return self._log_proba(self._table(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(class | x), rows x classes; with labels, P(label = 1 | x), rows x labels.

        Classes exclude each other: a row adds up to 1.  Labels do not.
        """
        return self._proba(self._table(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; the first of equals.  With labels, 0 or 1 each."""
        return self._best(self._table(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log-odds of ``classes_[1]`` or of each label (rows x labels); else joint log-scores.

        Unlike probabilities they do not round to 0 or 1, so that they rank rows for a ROC curve.
        """
        return self._decide(self._table(X))

    # What `predict` and its kin do once X has been read; the selector reads X itself.

    def _decide(self, table: Table) -> NDArray[np.float64]:
        if self._parts:
            return np.column_stack([part._decide(table) for part in self._parts])
        sums = self._sums(table)
        if len(self.classes_) == 2:
            return self._nat(sums[:, 1] - sums[:, 0])
        return self._nat(sums)

    def _table(self, X: Any) -> Table:
        check_is_fitted(self, "classes_")
        table = read_table(self, X, reset=False)
        warn_of_unknown(self._specs, table)
        return table

    def _best(self, table: Table) -> NDArray[Any]:
        if self._parts:
            return np.column_stack([part._best(table) for part in self._parts])
        return self.classes_[self._sums(table).argmax(1)]

    def _proba(self, table: Table) -> NDArray[np.float64]:
        return self._best_and_proba(table)[1]

    def _best_and_proba(self, table: Table) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Both answers, from one sum over the columns."""
        if self._parts:
            found = [part._best_and_proba(table) for part in self._parts]
            best = np.column_stack([each for each, _ in found])
            return best, np.column_stack([proba[:, 1] for _, proba in found])
        sums = self._sums(table)
        odds = np.exp(self._ahead(sums))
        return self.classes_[sums.argmax(1)], odds / odds.sum(1, keepdims=True)

    def _log_proba(self, table: Table) -> NDArray[np.float64]:
        if self._parts:
            return np.column_stack([part._log_proba(table)[:, 1] for part in self._parts])
        ahead = self._ahead(self._sums(table))
        return ahead - np.log(np.exp(ahead).sum(1, keepdims=True))

    def _sums(self, table: Table) -> NDArray[np.int64]:
        """Exact integer sums of log-prior and terms: rows x classes."""
        sums = np.repeat(self._scale.fix(self._prior), table.n_rows, axis=0)
        present = np.array([spec.presence for spec in self._specs], bool)
        if isinstance(table, SparseTable):
            self._add_present(table, np.flatnonzero(present), sums)
        for j in range(len(self._specs)):
            if not (present[j] and isinstance(table, SparseTable)):
                sums += self._said(table, j)
        return sums

    def _add_present(
        self, table: SparseTable, columns: NDArray[np.int64], sums: NDArray[np.int64]
    ) -> None:
        """Terms of presence columns, from their non-zeros."""
        from ..models.kernels.counting import add_present

        if columns.size:
            fixed = np.stack([self._fixed[j] for j in columns])
            sums += fixed[:, 0].sum(0)
            part = table.pick(columns).matrix
            pointers, rows = part.indptr.astype(np.int64), part.indices.astype(np.int64)
            add_present(pointers, rows, fixed[:, 1] - fixed[:, 0], sums)

    def _said(self, table: Table, j: int) -> NDArray[np.int64]:
        """Fixed-point terms of one column of a table; of equal values, made once where known."""
        values, codes = table.coded(j)
        said = self._speak(j, values)
        return said if codes is None else said[codes]

    def _speak(self, j: int, raw: NDArray[Any]) -> NDArray[np.int64]:
        """Fixed-point terms of one column: rows x classes."""
        spec, fixed = self._specs[j], self._fixed[j]
        if fixed is None:
            if raw.dtype == object:
                check_batch(spec.model, raw, spec.name)
            return self._scale.fix(self._columns[j].of(encode(spec, raw), 0))
        return fixed[encode(spec, raw)]

    def _ahead(self, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far each class is from the best, in nat; -inf where it is impossible beside it."""
        return self._nat(sums - sums.max(1, keepdims=True))

    def _nat(self, fixed: NDArray[np.int64]) -> NDArray[np.float64]:
        """Fixed-point numbers as what the model says, in nat."""
        return self._scale.release(fixed) / self._temperature

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
        if not hasattr(self, "_specs"):
            raise AttributeError("coef_ and intercept_ are there after fit.")
        if self._parts:
            found = [part._linear() for part in self._parts]
            return np.vstack([w for w, _ in found]), np.concatenate([b for _, b in found])
        odd = set(self._feature_models) - {"bernoulli", "gaussian-pooled"}
        if len(self.classes_) != 2 or odd:
            raise AttributeError(
                "coef_ and intercept_ exist for two classes and 'bernoulli' or "
                "'gaussian-pooled' columns; got "
                f"{len(self.classes_)} classes and {sorted(set(self.feature_models_))}."
            )
        weights, constant = linear_form(self._columns, self._fixed, self._prior, self._scale)
        return weights / self._temperature, constant / self._temperature
