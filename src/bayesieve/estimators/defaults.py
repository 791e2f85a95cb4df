"""An estimator of estimators whose `estimator=None` means a `NaiveBayes`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .naive_bayes import NaiveBayes


def restrict_names(model: Any, columns: NDArray[np.int64]) -> None:
    """Let a model know the names, the number and the feature models of the columns it kept."""
    if isinstance(getattr(model, "features", None), Mapping):
        model.features = dict(enumerate(model.fitted_.feature_models))
    model.n_features_in_ = len(columns)
    if hasattr(model, "feature_names_in_"):
        model.feature_names_in_ = model.feature_names_in_[columns]


class DefaultEstimator:
    """Lets nested parameters, such as ``estimator__features``, reach the default estimator.

    Mixed in before scikit-learn's `BaseEstimator`.  `get_params` lists the parameters of the
    default beside ``estimator=None``; setting one of them puts a `NaiveBayes` in its place.

    Examples
    --------
    >>> from bayesieve import NaiveBayesSelector
    >>> selector = NaiveBayesSelector()
    >>> selector.get_params()["estimator__smoothing"]
    1.0
    >>> selector.set_params(estimator__smoothing=0.5).estimator
    NaiveBayes(smoothing=0.5)
    """

    estimator: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; of the estimator too, if `deep`."""
        params: dict[str, Any] = super().get_params(deep)  # type: ignore[misc]
        if deep and self.estimator is None:
            params |= {f"estimator__{k}": value for k, value in NaiveBayes().get_params().items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name; ``estimator__name`` sets one of the estimator."""
        nested = any(name.startswith("estimator__") for name in params)
        if nested and params.get("estimator", self.estimator) is None:
            params["estimator"] = NaiveBayes()
        return super().set_params(**params)  # type: ignore[misc]
