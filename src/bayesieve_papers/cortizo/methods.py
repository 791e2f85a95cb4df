"""The methods of Table 2: searches guided by ten-fold accuracy, and PCA inside each fold."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bayesieve.estimators.naive_bayes import NaiveBayes
from bayesieve.estimators.selector import NaiveBayesSelector
from bayesieve.search.strategies.base import Search
from bayesieve.search.strategies.dependency import DependencySearch
from bayesieve.search.strategies.exhaustive import ExhaustiveSearch
from bayesieve.search.strategies.greedy import FloatingSearch, GreedySearch, PhaseSearch
from bayesieve.search.strategies.ranked import RankedSearch

N_FOLDS = 10


#: Shares of variance that the paper tries for PCA.
SHARES = (0.65, 0.75, 0.85, 0.95)


#: The paper's selection methods.
SEARCHES: dict[str, Search] = {
    "FBL": DependencySearch(),
    "IG": RankedSearch("mutual-information", stop="no-improvement"),
    "Chi2": RankedSearch("chi2", stop="no-improvement"),
    "LF": GreedySearch("forward", stop="no-improvement"),
    "LB": GreedySearch("backward", stop="no-improvement"),
}


#: Searches that look for the best subset where all subsets are too many.
THOROUGH: tuple[Search, ...] = (
    GreedySearch("forward"),
    GreedySearch("backward"),
    PhaseSearch("forward"),
    PhaseSearch("backward"),
    FloatingSearch("forward"),
    FloatingSearch("backward"),
)


#: Columns up to which every subset is tried.
MOST_COLUMNS = 16


Table = tuple[NDArray[np.float64], NDArray[np.str_], dict[int, str]]


class Outcome(NamedTuple):
    """What a method reached: accuracy, columns, subsets tried, seconds."""

    accuracy: float
    n_features: float
    n_tried: int
    seconds: float


#: Row, method: one outcome a shuffle.
Outcomes = dict[tuple[str, str], list[Outcome]]


def folds(seed: int) -> StratifiedKFold:
    """Ten stratified folds, shuffled."""
    return StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)


@contextmanager
def small_classes() -> Iterator[None]:
    """Classes with fewer rows than folds are part of the protocol: no warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        yield


def selector(method: str, table: Table, seed: int, n_jobs: int | None) -> list[NaiveBayesSelector]:
    """The selectors behind a column of Table 2; the best of several counts."""
    X, _, models = table
    if method == "NB":
        searches: tuple[Search, ...] = (GreedySearch("forward"),)
    elif method == "Best":
        few = X.shape[1] <= MOST_COLUMNS
        searches = (ExhaustiveSearch(),) if few else (*SEARCHES.values(), *THOROUGH)
    else:
        searches = (SEARCHES[method],)
    keep = range(X.shape[1]) if method == "NB" else ()
    model = NaiveBayes(models, rounded=True)
    return [
        NaiveBayesSelector(
            model,
            search,
            "error",
            folds(seed),
            validation=None,
            keep=keep,
            n_jobs=n_jobs,
            choice="best",
            reweigh=False,
        )
        for search in searches
    ]


def select(
    method: str, table: Table, seed: int, n_jobs: int | None = None
) -> tuple[Outcome, NaiveBayesSelector]:
    """The accuracy that guided the search, as the paper reports it, and the selector."""
    X, y, _ = table
    start = time.perf_counter()
    found = []
    with small_classes():
        for each in selector(method, table, seed, n_jobs):
            each.fit(X, y)
            chosen = each.path_.steps[each.path_.chosen]
            found.append((chosen.score, len(each.selected_), each))
    loss, n_features, best = min(found, key=lambda one: one[:2])
    n_tried = max(sum(each.n_tried_ for _, _, each in found), 1)  # naive Bayes tries one
    return Outcome(1 - loss, n_features, n_tried, time.perf_counter() - start), best


def splits(table: Table, seed: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Training and test rows of each fold."""
    X, y, _ = table
    with small_classes():
        return list(folds(seed).split(X, y))


def nested(method: str, table: Table, seed: int, n_jobs: int | None = None) -> float:
    """Accuracy on rows that took no part in the selection: ten folds around the whole method."""
    X, y, models = table
    right = 0
    for train, test in splits(table, seed):
        if method == "PCA":
            right += _pca_nested(table, train, test, seed)
        else:
            _, best = select(method, (X[train], y[train], models), seed, n_jobs)
            right += int((best.predict(X[test]) == y[test]).sum())
    return right / len(y)


def pca(table: Table, seed: int) -> Outcome:
    """Accuracy with the components of the best of the four shares of variance."""
    start = time.perf_counter()
    right, sizes = _pca_folds(table, seed)
    best = int(np.argmax(right))
    accuracy = right[best] / len(table[1])
    return Outcome(float(accuracy), float(sizes[best]), len(SHARES), time.perf_counter() - start)


def _pca_folds(table: Table, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows classified rightly for each share, and the mean number of components."""
    y = table[1]
    right = np.zeros(len(SHARES), np.int64)
    sizes = []
    for train, test in splits(table, seed):
        predicted, n_components = _pca_predict(table, train, test)
        right += (predicted == y[test]).sum(1)
        sizes.append(n_components)
    return right, np.mean(sizes, axis=0)


def _pca_nested(table: Table, train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> int:
    """Choose the share within the training rows; rows of the test part classified rightly."""
    X, y, models = table
    right, _ = _pca_folds((X[train], y[train], models), seed)
    predicted, _ = _pca_predict(table, train, test)
    return int((predicted[int(np.argmax(right))] == y[test]).sum())


def _pca_predict(
    table: Table, train: NDArray[np.int64], test: NDArray[np.int64]
) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Classes of the test rows for each share of variance, and numbers of components.

    Components are ordered and naive Bayes is additive: the model on the first ones is a part of the
    sum over all, so that one fit serves all four shares.
    """
    X, y, models = table
    nominal = [j for j, model in models.items() if model == "categorical"]
    numbers = [j for j in models if j not in nominal]
    columns = make_pipeline(
        ColumnTransformer(
            [
                ("nominal", OneHotEncoder(handle_unknown="ignore", sparse_output=False), nominal),
                ("numbers", SimpleImputer(keep_empty_features=True), numbers),
            ]
        ),
        StandardScaler(),
        PCA(max(SHARES), svd_solver="covariance_eigh"),
    )
    Z = columns.fit_transform(X[train])
    shares = np.cumsum(columns[-1].explained_variance_ratio_)
    sizes = np.minimum(np.searchsorted(shares, SHARES) + 1, shares.size)
    model = NaiveBayes("gaussian").fit(Z, y[train])
    Z_test = columns.transform(X[test])
    terms = model.terms(Z_test)
    prior = model.predict_joint_log_proba(Z_test) - terms.sum(1)
    sums = prior[:, None] + np.cumsum(terms, axis=1)
    return model.classes_[sums[:, sizes - 1].argmax(2).T], sizes
