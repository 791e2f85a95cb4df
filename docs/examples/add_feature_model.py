"""A feature model of one's own: counts of events by a Poisson distribution per class."""

import numpy as np
from scipy.special import gammaln

from bayesieve import NaiveBayes, NaiveBayesSelector
from bayesieve.models import MODELS, FeatureModel, Terms


class PoissonModel(FeatureModel):
    """log P(x | class) = x log m - m - log x!, with m the mean count of the class."""

    name = "poisson"
    statistics, merge = MODELS["gaussian"].statistics, MODELS["gaussian"].merge  # by class

    def terms(self, statistics, values, grid, settings):
        """Sets x values x classes; a missing value says nothing."""
        weight, total = statistics.weight, statistics.weight * statistics.mean
        common = total.sum(-1, keepdims=True) / np.maximum(weight.sum(-1, keepdims=True), 1.0)
        mean = np.maximum((total + common) / (weight + 1), 1e-9)[:, None, :]  # one row to smooth
        x = values[None, :, None]
        terms = x * np.log(mean) - mean - gammaln(np.maximum(x, 0) + 1)
        terms = np.where(x < 0, -1000.0, np.clip(terms, -1000.0, 1000.0))
        return Terms(np.where(np.isnan(x), 0.0, terms))

    def bound(self, settings):
        return 1000.0  # `terms` keeps to it


MODELS["poisson"] = PoissonModel()  # a feature model is always asked for by name
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 600)
calls, noise, mails = rng.poisson(2 + 3 * y), rng.poisson(4.0, 600), rng.poisson(6 - 2 * y)
X = np.column_stack([calls, noise, mails]).astype(float)
selector = NaiveBayesSelector(NaiveBayes("poisson"), cv=5, choice="one-se", random_state=0)
print(selector.fit(X, y).selected_, round(selector.score(X, y), 3))
