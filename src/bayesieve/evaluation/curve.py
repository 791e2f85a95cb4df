"""Evaluate a ranking by cross-validated models along it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv
from sklearn.neighbors import KNeighborsClassifier

from ..checks import Floats, Ints, check_flag, check_jobs, check_number, choose
from ..data.columns import is_missing
from ..data.result import Columns, Result
from ..data.sample import Sample, read_rows, read_sample
from ..data.tables import SparseTable
from ..estimators.naive_bayes import NaiveBayes
from ..models.columns import choose_models
from ..models.registry import is_category
from ..rankings.base import RankingMethod
from ..rankings.rank import check_ranking, rank_table
from ._typing import Folds

#: One feature model for all columns, or one for each name or number of a column.
FeatureModels: TypeAlias = str | Mapping[str, str] | Mapping[int, str]

_INNER = 5


@dataclass(frozen=True, repr=False)
class RankingEvaluation(Result):
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

    accuracies: Floats
    sizes: Ints
    orders: list[Ints]

    @property
    def chosen(self) -> Floats:
        """Accuracy of each fold at the size chosen."""
        return self.accuracies[np.arange(self.sizes.size), self.sizes - 1]

    @property
    def accuracy(self) -> float:
        """Mean over folds at the sizes chosen."""
        return float(self.chosen.mean())

    def to_columns(self) -> Columns:
        """Mean accuracy and its spread over folds with the first 1, 2, ... features."""
        folds = self.accuracies
        spread = folds.std(0, ddof=1) if len(folds) > 1 else np.zeros(folds.shape[1])
        return {
            "features": list(range(1, folds.shape[1] + 1)),
            "accuracy": folds.mean(0).tolist(),
            "spread": spread.tolist(),
        }

    def caption(self) -> str:
        """Accuracy at the sizes chosen."""
        return (
            f"{self.sizes.size} folds; at the sizes chosen ({', '.join(map(str, self.sizes))}) "
            f"accuracy {self.accuracy:.4f}, spread over folds {self.spread:.4f}"
        )

    @property
    def spread(self) -> float:
        """Standard deviation over folds."""
        return float(self.chosen.std(ddof=1)) if self.sizes.size > 1 else 0.0


class ScoredModel(TypedDict, total=False):
    """Settings of the model that `evaluate_ranking` scores."""

    features: FeatureModels
    k: int


def evaluate_ranking(
    X: object,
    y: ArrayLike,
    ranking: str | RankingMethod = "mutual-information",
    model: str = "naive-bayes",
    *,
    cv: Folds = 5,
    honest: bool = False,
    n_jobs: int | None = None,
    **settings: Unpack[ScoredModel],
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
        neighbours with every number scaled to its range in the training rows (two categories are as
        far apart as its ends; missing values stand at the mean).
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
    >>> from bayesieve.evaluation.curve import evaluate_ranking
    >>> found = evaluate_ranking(*load_iris(return_X_y=True), "relieff")
    >>> found.accuracy > 0.9
    True
    """
    choose("model", model, ["naive-bayes", "knn"])
    for name in settings:
        choose("a setting of the model", name, ["features", "k"])
    features, k = settings.get("features", "auto"), settings.get("k", 5)
    check_number("k", k, low=1, whole=True)
    check_flag("honest", honest)
    check_jobs(n_jobs)
    method = check_ranking(ranking, "ranking")
    read = read_sample(BaseEstimator(), X, y, None)
    if isinstance(read.table, SparseTable) or read.targets.labelled:
        raise ValueError("evaluate_ranking needs dense columns and one class a row.")
    walker = PrefixBayes(read, features) if model == "naive-bayes" else Neighbours(read, k)
    splits = _splits(cv, read.labels)
    accuracies, sizes, orders = [], [], []
    for train, test in splits:
        order = order_of(read, train, method, n_jobs)
        along = walker.walk(order, train, test)
        chooser = along
        if honest:
            if train.size < 2 * _INNER:
                raise ValueError(
                    f"honest=True needs at least {2 * _INNER} training rows in every fold, to "
                    f"choose the number of features by {_INNER} folds of their own; got "
                    f"{train.size}."
                )
            inner = [(train[a], train[b]) for a, b in _splits(_INNER, read.labels[train])]
            walks = [walker.walk(order_of(read, a, method, n_jobs), a, b) for a, b in inner]
            chooser = np.mean(walks, axis=0)
        accuracies.append(along)
        sizes.append(int(np.argmax(chooser)) + 1)
        orders.append(order)
    return RankingEvaluation(np.array(accuracies), np.array(sizes), orders)


def _splits(cv: Folds, labels: Ints) -> list[tuple[Ints, Ints]]:
    """Training and test rows of every fold, as row numbers."""
    found = []
    pairs = check_cv(cv, labels, classifier=True).split(np.zeros(labels.size), labels)
    for g, parts in enumerate(pairs):
        train, test = (read_rows(part, g, labels.size) for part in parts)
        if not train.size or not test.size:
            raise ValueError("cv must give training and test rows in every fold; got none in one.")
        found.append((train, test))
    if not found:
        raise ValueError("cv gives no fold.")
    return found


def order_of(read: Sample, rows: Ints, method: RankingMethod, n_jobs: int | None) -> Ints:
    """The ranking of some rows, best column first."""
    return rank_table(read.table.take(rows), read.labels[rows], method, n_jobs=n_jobs).order


class PrefixBayes:
    """Naive Bayes is additive: one fit serves all prefixes."""

    def __init__(self, read: Sample, features: FeatureModels):
        self._read, self._features = read, features
        self._models = choose_models(features, read.table)

    def walk(self, order: Ints, train: Ints, test: Ints) -> Floats:
        """Accuracy with the first 1, 2, ... features."""
        read = self._read
        fitted = NaiveBayes(self._features).family().fit(read.take(train), self._models).only
        table = read.table.take(test)
        sums = np.repeat(fitted.fixed_prior[None], test.size, axis=0)
        found = []
        for j in order:
            sums = sums + fitted.speak(int(j), table.column(int(j)))
            found.append(float((sums.argmax(1) == read.labels[test]).mean()))
        return np.array(found)


class Neighbours:
    """Nearest neighbours know nothing of sums: every prefix is a model of its own."""

    def __init__(self, read: Sample, k: int):
        self._labels, self._k = read.labels, k
        self._known: dict[tuple[tuple[int, ...], bytes, bytes], float] = {}
        columns: list[Floats] = []
        self._places = []  #: of each feature
        for j, model in enumerate(choose_models("auto", read.table)):
            raw = read.table.column(j)
            parts = [raw]
            if is_category(model):
                # Two levels are as far apart as the ends of a number's range.
                levels = sorted(set(raw[~is_missing(raw)].tolist()))
                parts = [(raw == level) * np.sqrt(0.5) for level in levels]
            self._places.append(np.arange(len(columns), len(columns) + len(parts)))
            columns += parts
        self._values = np.column_stack(columns)

    def walk(self, order: Ints, train: Ints, test: Ints) -> Floats:
        """Accuracy with the first 1, 2, ... features."""
        found = []
        for n in range(1, order.size + 1):
            chosen = np.sort(order[:n])
            key = (tuple(chosen), train.tobytes(), test.tobytes())
            if key not in self._known:
                at = np.concatenate([self._places[j] for j in chosen])
                fitted, judged = self._filled(
                    self._values[np.ix_(train, at)], self._values[np.ix_(test, at)]
                )
                model = KNeighborsClassifier(min(self._k, train.size))
                model.fit(fitted, self._labels[train])
                self._known[key] = float((model.predict(judged) == self._labels[test]).mean())
            found.append(self._known[key])
        return np.array(found)

    @staticmethod
    def _filled(train: Floats, test: Floats) -> tuple[Floats, Floats]:
        """Missing values at the mean of the training rows; numbers scaled to their range there."""
        known = ~np.isnan(train)
        count = np.maximum(known.sum(0), 1)
        mean = np.where(known, train, 0.0).sum(0) / count
        train, test = (np.where(np.isnan(part), mean, part) for part in (train, test))
        # Dummies of categories, 0 and the root of a half, stay as they are.
        low, high = train.min(0), train.max(0)
        dummy = np.isin(train, (0.0, np.sqrt(0.5))).all(0)
        low, width = np.where(dummy, 0.0, low), np.where(dummy | (high == low), 1.0, high - low)
        return (train - low) / width, (test - low) / width
