"""A score of one's own: how much a signal follows itself, as binary indicators."""

import numpy as np

from bayesieve import NaiveBayesSelector
from bayesieve.datasets import make_signals
from bayesieve.indicators import Indicators, WindowScores, register_score


@register_score("correlation with itself {lag} points before", lag=[1, 5, 10])
def own_correlation(x, lag):
    """NaN where a series has no answer; thresholds are learnt from quantiles."""
    if len(x) <= 2 * lag or np.ptp(x) == 0:
        return np.nan
    return np.corrcoef(x[:-lag], x[lag:])[0, 1]


signals = make_signals(150, 50, random_state=0)
windows = WindowScores(widths=(30,), levels=(0.01, 0.1))
indicators = Indicators([windows, "own_correlation"])
X = indicators.fit_transform(signals.series)
selector = NaiveBayesSelector(max_features=10, random_state=0).fit(X, signals.y)
names = indicators.get_feature_names_out()[selector.selected_]
print(*[name for name in names if name.startswith("correlation")][:2], sep="\n")
