"""A model for the place where it will be used."""

import copy
from typing import TypeVar

from ..models.priors import Priors, read_places
from .held import bayes_of
from .naive_bayes import NaiveBayes
from .selector import NaiveBayesSelector
from .weighted import WeightedNaiveBayes

Held = TypeVar("Held", NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes)


def deploy(model: Held, priors: Priors) -> Held:
    """A copy of a model for a place where the classes are more or less frequent than in training.

    What the features say stays; the prior is exchanged by Bayes' rule, whatever the temperature of
    a calibrated model.  Explanations, reports, exported code and files speak for that place.

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
    found = copy.copy(final)
    found.fitted_ = fitted.deployed(places)
    if isinstance(model, NaiveBayes):
        return found
    twin = copy.copy(model)
    twin.estimator_ = found
    return twin
