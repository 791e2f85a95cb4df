"""A search of one's own: grow to some size, then swap columns while that helps."""

from collections.abc import Iterator
from dataclasses import dataclass

from sklearn.datasets import load_breast_cancer

from bayesieve import NaiveBayesSelector
from bayesieve.search import SEARCHES, Limits
from bayesieve.search.strategies.base import Subset


@dataclass(frozen=True)
class SwapSearch:
    """Add the best columns up to `size`; then exchange one at a time for a strict gain."""

    size: int = 5

    def steps(self, objective: Subset, limits: Limits) -> Iterator[None]:
        objective.start(tuple(sorted(objective.keep)), "forward")
        most = min(self.size, limits.most)
        while candidates := objective.addable(most, limits.exact):
            objective.add(objective.best_add(candidates)[0])
            yield  # the selector may stop a search at any yield
        while droppable := objective.droppable():
            before = objective.score()
            leaver, _ = objective.best_drop(droppable)
            objective.drop(leaver)
            joiner, after = objective.best_add(objective.addable())
            objective.add(joiner if after < before else leaver)
            yield
            if not after < before:  # keys compare exactly: equal is equal
                return


SEARCHES["swap"] = SwapSearch()  # optional: now it also has a name
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = NaiveBayesSelector(search="swap", cv=5, n_features=5, random_state=0).fit(X, y)
print(*selector.get_feature_names_out(), sep="\n")
