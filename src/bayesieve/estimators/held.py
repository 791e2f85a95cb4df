"""The fitted value that an estimator holds, and rows as it reads them."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.tables import Table, read_table
from ..models.fitted import FittedBayes
from .chosen import ChosenColumns
from .naive_bayes import NaiveBayes

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
    """The fitted value behind an estimator, or the value itself.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.estimators.held import fitted_of
    >>> fitted_of(NaiveBayes().fit(np.array([[0], [1]] * 3), [0, 1] * 3)).feature_models
    ['bernoulli']
    """
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
