"""Table 1: six algorithms on domains with synthetic dependent attributes."""

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bayesieve.datasets.simulated import make_dependent
from bayesieve.estimators.naive_bayes import NaiveBayes

from .methods import folds, small_classes
from .printed import BASES


def algorithms(seed: int) -> dict[str, NaiveBayes | Pipeline]:
    """Counterparts of the paper's algorithms; rules have none in scikit-learn."""
    return {
        "Naive Bayes": NaiveBayes("gaussian"),
        "C4.5": _prepared(
            DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed)
        ),
        "KNN(N=1)": _prepared(KNeighborsClassifier(1)),
        "KNN(N=4)": _prepared(KNeighborsClassifier(4)),
        "SMO": _prepared(SVC(kernel="linear")),
    }


def _prepared(model: ClassifierMixin) -> Pipeline:
    return make_pipeline(SimpleImputer(), MinMaxScaler(), model)


def changes(
    base: str, X: NDArray[np.float64], y: NDArray[np.str_], seed: int, noise: float = 0.1
) -> dict[str, dict[str, float]]:
    """Change of the ten-fold accuracy in points: algorithm, then domain.

    Domain i of n made from a base set has i/n as many synthetic attributes as original ones.
    """
    _, n_domains = BASES[base]
    domains = {}
    for i in range(1, n_domains + 1):
        n_dependent = -(-i * X.shape[1] // n_domains)
        name = base if base == "TAE" else f"{base}{i}"
        domains[name] = make_dependent(X, n_dependent, noise=noise, random_state=seed)
    found: dict[str, dict[str, float]] = {}
    for name, algorithm in algorithms(seed).items():
        before = _accuracy(algorithm, X, y, seed)
        found[name] = {
            domain: 100 * (_accuracy(algorithm, table, y, seed) - before)
            for domain, table in domains.items()
        }
    return found


def _accuracy(
    model: NaiveBayes | Pipeline, X: NDArray[np.float64], y: NDArray[np.str_], seed: int
) -> float:
    with small_classes():
        return float(cross_val_score(model, X, y, cv=folds(seed)).mean())
