"""An estimator of estimators whose `estimator=None` means a `NaiveBayes`."""

from typing import Any

from .naive_bayes import NaiveBayes


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
