"""`FeatureVotes`: a row's score is the number of its rare values (Ruta 2014)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import choose
from ..data.columns import encode
from ..data.sample import Sample, read_sample
from ..data.sparse import Moves
from ..data.tables import Table, read_table
from ..data.targets import Targets
from ..engine.sparse_tables import SparseProblem, SparseTables
from ..models.choice import choose_models
from ..models.columns import read_moves, warn_of_unknown
from ..models.tables import Scale


class FeatureVotes(ClassifierMixin, BaseEstimator):
    """Count votes: every binary column may vote for the positives.

    The fast stand-in for naive Bayes of Ruta 2014 (cumulative sparse feature count): all terms are
    0 or 1, so that scores are small integers.  Counts rank rows and say nothing of probabilities:
    selectors guide it by ``"auc"`` or ``"penalised-auc"`` only.

    Parameters
    ----------
    orientation : {"label", "rare"}, default="label"
        Which value of a column votes.  ``"label"``: the value that is more frequent among a label's
        positive rows than among its negative ones, label by label (1 where both are equal).
        ``"rare"``: the rarer value, the same for all labels, so that all labels share one score;
        of two equally frequent values, the one more frequent among positive rows, then 1.

    Attributes
    ----------
    votes_for_ : ndarray of shape (n_labels, n_features)
        The value of each column that votes for each label.
    share_ : ndarray of shape (n_labels, n_columns + 1)
        Share of positive rows among training rows with so many votes, smoothed by one row of each
        kind; what `predict_proba` reads.
    classes_ : ndarray, or list of ndarray with labels

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import FeatureVotes
    >>> X = np.array([[1, 0], [1, 1], [0, 0], [0, 0], [0, 0]])
    >>> votes = FeatureVotes().fit(X, [1, 1, 0, 0, 0])
    >>> votes.decision_function(X)
    array([1, 2, 0, 0, 0])
    """

    def __init__(self, orientation: str = "label"):
        self.orientation = orientation

    _form = "moves"  #: of ledger it needs

    # What a selector asks of an estimator beside.
    features = "bernoulli"
    priors = None
    smoothing = 1.0

    classes_: Any
    feature_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "FeatureVotes":
        """Learn which value of each column votes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Columns of 0 and 1; in sparse columns every value but 0 counts as 1.
        y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
            Two classes, or labels.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for.
        """
        self._check_parameters()
        read = self._read(X, y, sample_weight)
        self._fit_table(read, choose_models(self.features, read.table))
        self._count_votes(read)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Sample:
        read = read_sample(self, X, y, sample_weight)
        if not read.targets.odds:
            raise ValueError(
                f"FeatureVotes needs two classes or a 0/1 matrix of labels; got "
                f"{len(read.classes)} classes. Only binary classification is supported."
            )
        return read

    def _check_parameters(self) -> None:
        choose("orientation", self.orientation, ["label", "rare"])

    def _fit_table(self, read: Sample, models: list[str], class_weight: Any = None) -> None:
        """Which value of each column is rare."""
        moves, self._specs, _ = read_moves(read.table, models)
        every = np.arange(read.table.n_rows)
        self.votes_for_ = votes_for(
            moves, every, read.weights, read.targets, self.orientation == "rare"
        )
        self._binary = read.classes
        if read.targets.labelled:
            self.classes_ = [read.classes] * read.targets.n_groups
            self.label_names_ = list(read.targets.names)
        else:
            self.classes_ = read.classes

    def _keep_columns(self, columns: Sequence[int], read: Sample) -> None:
        """Keep these columns of what was learnt from `read`."""
        kept = np.asarray(columns)
        self._specs = [self._specs[j] for j in kept]
        self.votes_for_ = self.votes_for_[:, kept]
        self.n_features_in_ = len(kept)
        if hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = self.feature_names_in_[kept]
        self._count_votes(read._replace(table=read.table.pick(kept)))

    def _count_votes(self, read: Sample) -> None:
        """Share of positives by number of votes."""
        n = len(self._specs) + 1
        shares = []
        for votes, classes in zip(self._votes(read.table), read.targets.classes.T, strict=True):
            every = np.bincount(votes, read.weights, n)
            shares.append((np.bincount(votes, read.weights * classes, n) + 1) / (every + 2))
        self.share_ = np.stack(shares)

    def _votes(self, table: Table) -> NDArray[np.int64]:
        """Votes for each label, labels x rows."""
        votes = np.zeros((len(self.votes_for_), table.n_rows), np.int64)
        for j, spec in enumerate(self._specs):
            votes += encode(spec, table.column(j)) == self.votes_for_[:, [j]]
        return votes

    def _decide(self, table: Table) -> NDArray[np.int64]:
        votes = self._votes(table)
        return votes.T if isinstance(self.classes_, list) else votes[0]

    def _shares(self, table: Table) -> NDArray[np.float64]:
        """What `share_` says of each row, rows x labels."""
        return np.take_along_axis(self.share_, self._votes(table), axis=1).T

    def _proba(self, table: Table) -> NDArray[np.float64]:
        found = self._shares(table)
        if isinstance(self.classes_, list):
            return found
        return np.column_stack([1 - found[:, 0], found[:, 0]])

    def _log_proba(self, table: Table) -> NDArray[np.float64]:
        return np.log(self._proba(table))

    def _best(self, table: Table) -> NDArray[Any]:
        found = self._shares(table) > 0.5
        if isinstance(self.classes_, list):
            return found.astype(np.int64)
        return self._binary[found[:, 0].astype(np.int64)]

    def _table(self, X: Any) -> Table:
        check_is_fitted(self, "votes_for_")
        table = read_table(self, X, reset=False)
        warn_of_unknown(self._specs, table)
        return table

    def decision_function(self, X: Any) -> NDArray[np.int64]:
        """Number of votes of each row; with labels, rows x labels."""
        return self._decide(self._table(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Share of positives among training rows with as many votes, rows x classes or labels."""
        return self._proba(self._table(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The more frequent class (or value of each label) among rows with as many votes."""
        return self._best(self._table(X))

    def sparse_tables(self, problem: SparseProblem) -> SparseTables:
        """Votes for the rows of a sparse ledger: all terms are 0 or 1.

        Which value of a column votes is learnt on the training rows of each set.
        """
        moves, training = problem.moves, problem.scoring.training
        votes = []
        for left_out in problem.scoring.left_out:
            kept = np.delete(np.arange(training.size), left_out)
            rows = training[kept]
            targets, rare = problem.targets.take(rows), self.orientation == "rare"
            votes.append(votes_for(moves, rows, problem.weights[rows], targets, rare).T)
        by_set = np.stack(votes, axis=1)  # columns x sets x labels
        owner = np.repeat(np.arange(moves.n_columns), np.diff(moves.first))
        base = (moves.usual[:, None, None] == by_set).astype(np.int64)
        delta = (moves.codes[:, None, None] == by_set[owner]) - base[owner]
        offset = np.zeros(by_set.shape[1:], np.int64)
        return SparseTables(offset, base, delta, Scale(0, 0, float(moves.n_columns)))


def votes_for(
    moves: Moves,
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    targets: Targets,
    rare: bool,
) -> NDArray[np.int64]:
    """The value of each binary column that votes, as these rows show it: labels x columns."""
    entries = moves.of_rows(rows)
    columns = np.repeat(np.arange(moves.n_columns), np.diff(entries.pointers))
    codes = moves.codes[moves.first[columns] + entries.kinds]
    problems = [targets.positive.astype(np.int64)] if rare else list(targets.classes.T)
    found = []
    for kinds in problems:
        counts = np.zeros((moves.n_columns, 3, 2))
        np.add.at(counts, (columns, codes, kinds[entries.lines]), weights[entries.lines])
        total = np.bincount(kinds, weights, 2)
        counts[np.arange(moves.n_columns), moves.usual] += total - counts.sum(1)
        if rare:
            zeros, ones = counts[:, 0].sum(1), counts[:, 1].sum(1)
            tied = counts[:, 1, 1] >= counts[:, 0, 1]
            votes = np.where(ones == zeros, tied, ones < zeros)
        else:
            # Shares among positives and negatives compared without dividing: both may be empty.
            known = counts[:, :2].sum(1)
            votes = counts[:, 1, 1] * known[:, 0] >= counts[:, 1, 0] * known[:, 1]
        found.append(votes.astype(np.int64))
    return np.stack(found * targets.n_groups if rare else found)
