"""Tables of all kinds as numbers, so that methods that read nothing else can take part."""

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...checks import Array
from ...data.tables import RawTable, Table, read_table


class PlainNumbers(TransformerMixin, BaseEstimator):
    """Texts become columns of 0 and 1, one a level; missing numbers become the median.

    Sparse tables stay as they are.  Levels and medians are those of the rows given to `fit`; a text
    that was not among them, or is missing, is 0 in all columns of its feature.

    Attributes
    ----------
    levels_ : list
        The levels of each column of text, None for numbers; empty for a sparse table.
    medians_ : list of float
        The median of each column of numbers, 0 where no number is known.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.evaluation.comparison.encoder import PlainNumbers
    >>> X = np.array([["red", 1.0], ["blue", 3.0], ["red", np.nan]], dtype=object)
    >>> PlainNumbers().fit_transform(X)
    array([[0., 1., 1.],
           [1., 0., 3.],
           [0., 1., 2.]])
    """

    def fit(self, X: object, y: object = None) -> "PlainNumbers":
        """Learn levels and medians."""
        table = read_table(self, X, reset=True)
        self.levels_: list[Array | None] = []
        self.medians_: list[float] = []
        for j in range(len(table.names) if isinstance(table, RawTable) else 0):
            column = table.column(j)
            if column.dtype == object:
                known = sorted({value for value in column.tolist() if value is not None})
                self.levels_.append(np.array(known, object))
                self.medians_.append(0.0)
            else:
                there = column[~np.isnan(column)]
                self.levels_.append(None)
                self.medians_.append(float(np.median(there)) if there.size else 0.0)
        return self

    def transform(self, X: object) -> Any:
        """Numbers, none of them missing."""
        check_is_fitted(self)
        table: Table = read_table(self, X, reset=False)
        if scipy.sparse.issparse(X):
            return scipy.sparse.csr_matrix(X)
        if not isinstance(table, RawTable):
            raise TypeError(
                f"X must be an array, a frame or a sparse matrix; got {type(X).__name__}, which "
                "only bayesieve's own estimators read"
            )
        blocks = []
        for j, (levels, median) in enumerate(zip(self.levels_, self.medians_, strict=True)):
            column = table.column(j)
            if levels is None:
                numbers = column.astype(np.float64)
                blocks.append(np.where(np.isnan(numbers), median, numbers)[:, None])
            else:
                blocks.append((column[:, None] == levels[None, :]).astype(np.float64))
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """A name for each column that comes out: of a level, ``column = level``."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        if not self.levels_:
            return np.array([str(name) for name in names], object)
        found: list[str] = []
        for name, levels in zip(names, self.levels_, strict=True):
            found += [str(name)] if levels is None else [f"{name} = {level}" for level in levels]
        return np.array(found, object)


class AnyScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Columns of variance 1, and of mean 0 unless they are sparse and are to stay so.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from bayesieve.evaluation.comparison.encoder import AnyScaler
    >>> X = np.array([[0.0], [4.0]])
    >>> AnyScaler().fit_transform(X).ravel()
    array([-1.,  1.])
    >>> AnyScaler().fit_transform(scipy.sparse.csr_matrix(X)).toarray().ravel()
    array([0., 2.])
    """

    def fit(self, X: object, y: object = None) -> "AnyScaler":
        """Learn means and deviations."""
        from sklearn.preprocessing import StandardScaler

        self.scaler_ = StandardScaler(with_mean=not scipy.sparse.issparse(X)).fit(X)
        self.n_features_in_ = self.scaler_.n_features_in_
        return self

    def transform(self, X: object) -> Any:
        """Take the means off and divide by the deviations."""
        check_is_fitted(self)
        return self.scaler_.transform(X)
