"""Ensembles of models on small subsets, averaged (Ruta 2014, section V.F)."""

import random
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, Floats, Ints, check_callable, check_number, column_indices
from ..criteria.auc import SizePenalty
from ..data.columns import ColumnSpec
from ..data.sample import Sample, read_sample
from ..data.tables import Table, read_table
from ..engine.sparse import Scoring, SparseProblem
from ..models.columns import read_moves, warn_of_unknown
from .naive_bayes import AnyTable, NaiveBayes, restrict_names
from .selector import DefaultEstimator
from .votes import FeatureVotes


class SubsetEnsemble(DefaultEstimator, AnyTable, MetaEstimatorMixin, BaseEstimator):
    """Models on subsets of the columns, whose probabilities are averaged.

    A ranked list of columns is dealt out in turns, from best to worst, so that all subsets are
    about equally strong and their sizes differ by one at most.

    Parameters
    ----------
    estimator : NaiveBayes or FeatureVotes, optional
        The model of every subset; ``NaiveBayes()`` by default.
    n_subsets : int, default=10
        How many subsets.
    order : sequence of column names or positions, optional
        The columns to use, best first, such as a selector's ``selected_``; all by default.

    Attributes
    ----------
    subsets_ : list of ndarray of int
        Columns of each model; fewer than `n_subsets` where there are fewer columns.
    estimators_ : list of classifiers
    classes_ : as in `estimator`

    Examples
    --------
    >>> from bayesieve import SubsetEnsemble
    >>> from bayesieve.datasets import make_incidents
    >>> data = make_incidents(500, 60, n_entries=2000, random_state=0)
    >>> ensemble = SubsetEnsemble(n_subsets=3, order=[5, 1, 9, 7]).fit(data.X, data.Y)
    >>> [subset.tolist() for subset in ensemble.subsets_]
    [[5, 7], [1], [9]]
    """

    def __init__(
        self,
        estimator: NaiveBayes | FeatureVotes | None = None,
        n_subsets: int = 10,
        order: Sequence[str | int] | None = None,
    ):
        self.estimator = estimator
        self.n_subsets = n_subsets
        self.order = order

    def fit(self, X: object, y: object) -> "SubsetEnsemble":
        """Distribute the columns over the members and fit every model.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : classes, or a 0/1 matrix of labels
        """
        read, order = self._begin(X, y, (NaiveBayes, FeatureVotes))
        self._fit_subsets(read, [order[m :: self.n_subsets] for m in range(self.n_subsets)])
        return self

    def _begin(
        self, X: object, y: object, allowed: tuple[type[NaiveBayes] | type[FeatureVotes], ...]
    ) -> tuple[Sample, Ints]:
        """Validate everything; the columns to use, best first."""
        check_number("n_subsets", self.n_subsets, low=1, whole=True)
        if self.estimator is not None:
            if not isinstance(self.estimator, allowed):
                raise TypeError(
                    f"estimator must be a model of bayesieve that {type(self).__name__} can take "
                    f"apart (see its docstring); got {type(self.estimator).__name__}."
                )
            self.estimator.family().check()
        read = read_sample(self, X, y, None)
        names = read.table.names
        order: Iterable[int] = range(len(names))
        if self.order is not None:
            order = dict.fromkeys(column_indices("order", self.order, names))
        found = np.array(list(order), np.int64)
        if not found.size:
            raise ValueError("order must name at least one column; got none.")
        return read, found

    def _fit_subsets(self, read: Sample, subsets: list[Ints], used: Ints | None = None) -> None:
        """One fit on all columns in use; every member keeps its own."""
        self.subsets_ = [subset for subset in subsets if subset.size]
        used = np.unique(np.concatenate(self.subsets_)) if used is None else np.sort(used)
        model = clone(NaiveBayes() if self.estimator is None else self.estimator)
        part, family = read.pick(used), model.family()
        family.check_sample(part)
        fitted = family.fit(part, family.choose_models(part.table))
        self.estimators_ = []
        for subset in self.subsets_:
            columns = np.searchsorted(used, subset)
            member = clone(model).hold(family.restrict(fitted, columns.tolist(), part))
            restrict_names(member, columns)
            self.estimators_.append(member)
        self.classes_ = self.estimators_[0].classes_

    def _members(self, X: object) -> list[tuple[NaiveBayes | FeatureVotes, Table]]:
        check_is_fitted(self, "estimators_")
        table = read_table(self, X, reset=False)
        known: dict[int, ColumnSpec] = {}
        for member, subset in zip(self.estimators_, self.subsets_, strict=True):
            known.update(zip(subset.tolist(), member.fitted_.specs, strict=True))
        used = np.array(sorted(known), np.int64)
        warn_of_unknown([known[j] for j in used.tolist()], table.pick(used))
        return [
            (member, table.pick(subset))
            for member, subset in zip(self.estimators_, self.subsets_, strict=True)
        ]

    def predict_proba(self, X: object) -> Floats:
        """Mean of the members' probabilities, rows x classes or labels."""
        found = [member.fitted_.proba(part) for member, part in self._members(X)]
        return np.asarray(np.mean(found, axis=0))

    def predict(self, X: object) -> Array:
        """The most probable class of each row; with labels, 0 or 1 each."""
        proba = self.predict_proba(X)
        if isinstance(self.classes_, list):
            return (proba > 0.5).astype(np.int64)
        return np.asarray(self.classes_[proba.argmax(1)])


class GreedyEnsemble(SubsetEnsemble):
    """Ensemble of naive Bayes models whose subsets are searched jointly.

    The score is that of the averaged probabilities: the mean area under the ROC curve over labels,
    less a price for all features of all subsets.  Each subset in turn takes the first candidate, in
    random order, that improves it; when a round adds nothing, each in turn drops what improves it;
    until neither changes anything.  Ruta 2014 found that such ensembles fit the training rows
    better and others worse than a flat subset.

    Every candidate of every subset is scored anew, at the price of a sort: meant for tables of some
    thousand rows and some hundred candidates.

    Parameters
    ----------
    estimator : NaiveBayes, optional
    n_subsets : int, default=10
    order : sequence of column names or positions, optional
        The candidates; all columns by default.
    penalty : callable, optional
        Price of n features; `SizePenalty()` by default.
    random_state : int, default=0
        Seed of the orders.

    Examples
    --------
    >>> from bayesieve import GreedyEnsemble
    >>> from bayesieve.datasets import make_incidents
    >>> data = make_incidents(400, 30, n_entries=1500, random_state=0)
    >>> ensemble = GreedyEnsemble(n_subsets=2).fit(data.X, data.Y)
    >>> 0.5 < ensemble.score_ <= 1
    True
    """

    def __init__(
        self,
        estimator: NaiveBayes | FeatureVotes | None = None,
        n_subsets: int = 10,
        order: Sequence[str | int] | None = None,
        penalty: Callable[[int], float | Fraction] | None = None,
        random_state: int = 0,
    ):
        super().__init__(estimator, n_subsets, order)
        self.penalty = penalty
        self.random_state = random_state

    def fit(self, X: object, y: object) -> "GreedyEnsemble":
        """Search the subsets, then fit their models.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : two classes, or a 0/1 matrix of labels
        """
        read, pool = self._begin(X, y, (NaiveBayes,))
        if not read.targets.odds:
            raise ValueError(
                f"GreedyEnsemble needs two classes or a 0/1 matrix of labels; got "
                f"{len(read.classes)} classes."
            )
        mixed = np.ptp(read.targets.classes, axis=0) > 0
        if not mixed.any():
            raise ValueError("no label has both positive and negative rows: no AUC is defined.")
        check_number("random_state", self.random_state, low=0, whole=True)
        penalty = SizePenalty() if self.penalty is None else self.penalty
        check_callable("penalty", penalty)
        part = read._replace(table=read.table.pick(pool))
        search = _Turns(part, self.estimator, self.n_subsets, penalty)
        search.run(list(range(pool.size)), random.Random(self.random_state))
        self.score_ = search.score()
        subsets = [pool[np.array(subset, np.int64)] for subset in search.subsets]
        if not any(subset.size for subset in subsets):
            subsets[0] = pool[[search.best_alone(list(range(pool.size)))]]
        self._fit_subsets(read, subsets, pool)
        return self


class _Turns:
    """The state of a greedy ensemble: log-odds of every member, and the mean probability."""

    def __init__(
        self,
        read: Sample,
        estimator: NaiveBayes | None,
        n_subsets: int,
        penalty: Callable[[int], float | Fraction],
    ):
        model = clone(NaiveBayes() if estimator is None else estimator)
        family = model.family()
        models = family.choose_models(read.table)
        moves, specs, values = read_moves(read.table, models, family.rounded, read.repeats)
        fitted = family.fit(read, models)
        every = np.arange(read.table.n_rows)
        scoring = Scoring(every, (every[:0],), every, np.array([every.size]))
        problem = SparseProblem(
            moves, specs, values, read.targets, read.weights, scoring, np.ones(2)
        )
        self._tables = family.sparse_tables(problem, fitted)
        self._first, self._entries = moves.first, moves.of_rows(every)
        self._truth = read.targets.classes
        self._penalty = penalty
        self.subsets: list[list[int]] = [[] for _ in range(n_subsets)]
        prior = self._tables.offset[0] * self._tables.scale.unit
        self._odds = np.tile(prior, (n_subsets, every.size, 1))
        self._total = expit(self._odds).sum(0)
        self._best = self._value(self._total, 0)

    def score(self) -> float:
        """The score of the ensemble as it is."""
        return self._best

    def best_alone(self, pool: list[int]) -> int:
        """The candidate with the best score of its own."""
        return max(pool, key=lambda f: (self._value(expit(self._moved(0, f, 1)), 1), -f))

    def run(self, pool: list[int], draw: random.Random) -> None:
        """Additions in turns, then removals in turns, until neither changes anything."""
        changed = True
        while changed:
            changed = False
            for sign in (1, -1):
                while self._round(pool, draw, sign):
                    changed = True

    def _round(self, pool: list[int], draw: random.Random, sign: int) -> bool:
        """One change for every subset that can gain; did any?"""
        any_change = False
        for m, subset in enumerate(self.subsets):
            asked = [f for f in pool if f not in subset] if sign > 0 else list(subset)
            draw.shuffle(asked)
            size = sum(map(len, self.subsets)) + sign
            for f in asked:
                odds = self._moved(m, f, sign)
                total = self._total - expit(self._odds[m]) + expit(odds)
                value = self._value(total, size)
                if value > self._best + 1e-12:
                    self._best, self._total, self._odds[m] = value, total, odds
                    (subset.append if sign > 0 else subset.remove)(f)
                    any_change = True
                    break
        return any_change

    def _moved(self, m: int, f: int, sign: int) -> Floats:
        """Log-odds of a member after a feature has joined or left: rows x labels."""
        tables, entries, unit = self._tables, self._entries, self._tables.scale.unit
        odds = self._odds[m] + sign * tables.base[f, 0] * unit
        part = slice(entries.pointers[f], entries.pointers[f + 1])
        delta = tables.delta[self._first[f] + entries.kinds[part], 0] * unit
        odds[entries.lines[part]] += sign * delta
        return odds

    def _value(self, total: Floats, n_features: int) -> float:
        """Mean area over labels, ties one half, less the price of the features."""
        areas = []
        for truth, scores in zip(self._truth.T, total.T, strict=True):
            positive = truth == 1
            n_pos, n_neg = int(positive.sum()), int((~positive).sum())
            if n_pos and n_neg:
                ranks = rankdata(scores.round(12))
                areas.append((ranks[positive].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg))
        return max(0.0, float(np.mean(areas)) - float(self._penalty(n_features)))
