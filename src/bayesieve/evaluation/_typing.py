"""Types of models that can be evaluated or explained."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..estimators.naive_bayes import NaiveBayes
from ..estimators.selector import NaiveBayesSelector
from ..estimators.weighted import WeightedNaiveBayes

#: A fitted model, or whoever chose its columns.
Model: TypeAlias = NaiveBayes | NaiveBayesSelector | WeightedNaiveBayes


class Splitter(Protocol):
    """What scikit-learn's splitters are."""

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[ArrayLike, ArrayLike]]:
        """Training and test rows of every fold."""


#: A number of folds, a splitter, or pairs of training and test rows.
Folds: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]

#: Source of randomness, as scikit-learn takes it.
Seed: TypeAlias = int | np.random.RandomState | None

#: A class, a level of a column, or a number, as Python's own value.
Value: TypeAlias = bool | int | float | str
