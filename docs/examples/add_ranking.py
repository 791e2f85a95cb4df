"""A ranking of one's own: how far the medians of the classes lie apart."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer

from bayesieve import NaiveBayesSelector, rank
from bayesieve.checks import check_number
from bayesieve.rankings import RANKINGS, Ranking, RankingMethod
from bayesieve.search import RankedSearch


@dataclass(frozen=True)
class MedianGap(RankingMethod):
    """The largest gap between medians, over the spread between two quantiles of all rows."""

    tail: float = 0.25
    reads, takes_weights = "mixed", False  # numbers as they are

    def check(self):
        check_number("tail", self.tail, low=0.0, high=0.5)

    def rank(self, columns, labels, n_classes, engine, n_features):
        """Columns come one a row, NaN where a value is missing."""
        values = columns.values
        medians = [np.nanmedian(values[:, labels == k], axis=1) for k in range(n_classes)]
        low, high = np.nanquantile(values, [self.tail, 1 - self.tail], axis=1)
        return Ranking.by_score(np.ptp(medians, axis=0) / np.maximum(high - low, 1e-300))


RANKINGS["median-gap"] = MedianGap()  # optional: now it also has a name
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
print(X.columns[rank(X, y, "median-gap").order[0]])
selector = NaiveBayesSelector(search=RankedSearch("median-gap"), cv=5, random_state=0).fit(X, y)
print(len(selector.selected_))
