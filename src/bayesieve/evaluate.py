"""Rankings judged by the models that walk along them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from .classifier import NaiveBayes
from .ranking import check_ranking, rank_table
from .reading import Reading, read_input
from .validation import SparseTable, check_flag, check_jobs, check_number, choose, choose_models

_INNER = 5


@dataclass(frozen=True)
class RankingEvaluation:
    """Accuracy along a ranking, fold by fold.

    Attributes
    ----------
    accuracies : ndarray of shape (n_folds, n_features)
        Accuracy on each fold's test rows with the first 1, 2, ... features.
    sizes : ndarray of shape (n_folds,)
        Number of features chosen in each fold.
    orders : list of ndarray
        The ranking of each fold's training rows.
    """

    accuracies: NDArray[np.float64]
    sizes: NDArray[np.int64]
    orders: list[NDArray[np.int64]]

    @property
    def chosen(self) -> NDArray[np.float64]:
        """Accuracy of each fold at the size chosen."""
        return self.accuracies[np.arange(self.sizes.size), self.sizes - 1]

    @property
    def accuracy(self) -> float:
        """Mean over folds at the sizes chosen."""
        return float(self.chosen.mean())

    @property
    def spread(self) -> float:
        """Standard deviation over folds."""
        return float(self.chosen.std(ddof=1)) if self.sizes.size > 1 else 0.0


def evaluate_ranking(
    X: Any,
    y: Any,
    ranking: Any = "mutual-information",
    model: str = "naive-bayes",
    *,
    features: Any = "auto",
    k: int = 5,
    cv: Any = 5,
    honest: bool = False,
    n_jobs: int | None = None,
) -> RankingEvaluation:
    """Include features along a ranking, and score every prefix.

    In each fold the ranking is made from the training rows; a model is fitted to them with the
    first feature, the first two, and so on, and judged on the test rows.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    ranking : str or ranking object
        As in `bayesieve.rank`.
    model : {"naive-bayes", "knn"}, default="naive-bayes"
        What is scored: naive Bayes with the feature models given by `features`, or the k nearest
        neighbours with every number scaled to its range (categories compared as 0 and 1).
    features : str or mapping, default="auto"
        Feature models of naive Bayes, such as ``"mixture-3"``.
    k : int, default=5
        Neighbours.
    cv : int, splitter or iterable, default=5
        The folds.
    honest : bool, default=False
        Choose the number of features within the training rows, by five folds of their own.  By
        default the best accuracy on the test rows chooses, as papers often report, which flatters.
    n_jobs : int, optional
        Threads for the ranking.

    Returns
    -------
    evaluation : RankingEvaluation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import evaluate_ranking
    >>> found = evaluate_ranking(*load_iris(return_X_y=True), "relieff")
    >>> found.accuracy > 0.9
    True
    """
    choose("model", model, ["naive-bayes", "knn"])
    check_number("k", k, low=1, whole=True)
    check_flag("honest", honest)
    check_jobs(n_jobs)
    method = check_ranking(ranking, "ranking")
    read = read_input(BaseEstimator(), X, y, None)
    if isinstance(read.table, SparseTable) or read.targets.labelled:
        raise ValueError("evaluate_ranking needs dense columns and one class a row.")
    walker = PrefixBayes(read, features) if model == "naive-bayes" else Neighbours(read, k)
    splits = check_cv(cv, read.labels, classifier=True).split(
        np.zeros(read.labels.size), read.labels
    )
    accuracies, sizes, orders = [], [], []
    for train, test in splits:
        order = _order(read, train, method, n_jobs)
        along = walker.walk(order, train, test)
        chooser = along
        if honest:
            inner = check_cv(_INNER, read.labels[train], classifier=True)
            chooser = np.mean(
                [
                    walker.walk(_order(read, train[fit], method, n_jobs), train[fit], train[judge])
                    for fit, judge in inner.split(np.zeros(train.size), read.labels[train])
                ],
                axis=0,
            )
        accuracies.append(along)
        sizes.append(int(np.argmax(chooser)) + 1)
        orders.append(order)
    return RankingEvaluation(np.array(accuracies), np.array(sizes), orders)


def best_setting(X: Any, y: Any, candidates: list[Any], *, cv: Any = 5) -> int:
    """Position of the estimator with the best accuracy on all features; the first of equals."""
    scores = [cross_val_score(candidate, X, y, cv=cv).mean() for candidate in candidates]
    return int(np.argmax(np.round(scores, 12)))


def nearest(k: int) -> Any:
    """The k nearest neighbours, numbers scaled to their range."""
    return make_pipeline(MinMaxScaler(), KNeighborsClassifier(k))


def _order(
    read: Reading, rows: NDArray[np.int64], method: Any, n_jobs: int | None
) -> NDArray[np.int64]:
    return rank_table(read.table.take(rows), read.labels[rows], method, n_jobs=n_jobs).order


class PrefixBayes:
    """Naive Bayes is additive: one fit serves all prefixes."""

    def __init__(self, read: Reading, features: Any):
        self._read, self._features = read, features
        self._models = choose_models(features, read.table)

    def walk(
        self, order: NDArray[np.int64], train: NDArray[np.int64], test: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Accuracy with the first 1, 2, ... features."""
        read = self._read
        model = NaiveBayes(self._features)
        part = read._replace(
            table=read.table.take(train), targets=read.targets.take(train),
            labels=read.labels[train], weights=read.weights[train],
        )  # fmt: skip
        model._fit_table(part, self._models)
        table = read.table.take(test)
        sums = np.repeat(model._scale.fix(model._prior), test.size, axis=0)
        found = []
        for j in order:
            sums = sums + model._speak(int(j), table.column(int(j)))
            found.append(float((sums.argmax(1) == read.labels[test]).mean()))
        return np.array(found)


class Neighbours:
    """Nearest neighbours know nothing of sums: every prefix is a model of its own."""

    def __init__(self, read: Reading, k: int):
        self._labels, self._k = read.labels, k
        self._known: dict[Any, float] = {}
        columns = []
        self._parts = []
        for j, model in enumerate(choose_models("auto", read.table)):
            raw = read.table.column(j)
            if model == "categorical":
                levels = sorted({value for value in raw if value is not None})
                columns += [np.array([v == level for v in raw], float) for level in levels]
                self._parts.append(len(levels))
            else:
                columns.append(np.where(np.isnan(raw), np.nanmean(raw), raw))
                self._parts.append(1)
        self._values = np.column_stack(columns)
        self._ends = np.cumsum(self._parts)

    def walk(
        self, order: NDArray[np.int64], train: NDArray[np.int64], test: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Accuracy with the first 1, 2, ... features."""
        found = []
        for n in range(1, order.size + 1):
            chosen = np.sort(order[:n])
            key = (tuple(chosen), int(train[0]), int(test[0]), train.size)
            if key not in self._known:
                at = np.concatenate(
                    [np.arange(self._ends[j] - self._parts[j], self._ends[j]) for j in chosen]
                )
                model = nearest(min(self._k, train.size))
                model.fit(self._values[np.ix_(train, at)], self._labels[train])
                right = model.predict(self._values[np.ix_(test, at)]) == self._labels[test]
                self._known[key] = float(right.mean())
            found.append(self._known[key])
        return np.array(found)
