"""`deploy`: a fitted model under other class priors."""

import copy
import warnings
from typing import TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import plain_value
from ..data.tables import Table, read_table
from ..models.fitted import FittedBayes, Priors, read_places
from .base import ChosenColumns
from .naive_bayes import NaiveBayes
from .selector import NaiveBayesSelector
from .weighted import WeightedNaiveBayes

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


Held = TypeVar("Held", NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes)


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
    if isinstance(model, NaiveBayes):
        return found
    twin = copy.copy(model)
    twin.estimator_ = found
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
