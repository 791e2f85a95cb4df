"""A criterion of one's own: the Brier score, how far probabilities are from 0 and 1."""

import numpy as np
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer

from bayesieve import NaiveBayesSelector
from bayesieve.criteria import CRITERIA, Criterion


class Brier(Criterion):
    """Mean over rows of the sum over classes of (P(class) - [is the class])^2."""

    name = "brier"

    def loss(self, scores, classes, weights):
        """Lower is better; `scores` are log-scores, rows x classes, up to a constant a row."""
        apart = softmax(scores, axis=1) - np.eye(scores.shape[1])[classes]
        return float(weights @ np.square(apart).sum(axis=1) / weights.sum())


CRITERIA["brier"] = Brier()  # optional: now it also has a name
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = NaiveBayesSelector(
    search="forward", criterion="brier", cv=5, max_features=6, random_state=0
).fit(X, y)
print(selector.path_.criterion, len(selector.selected_))
