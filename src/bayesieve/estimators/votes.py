"""`FeatureVotes`: a row's score is the number of its rare values (Ruta 2014)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, choose
from ..data.sample import Sample, Targets, read_sample
from ..data.tables import Table, read_table
from ..engine.sparse import SparseProblem, SparseTables, vote_tables
from ..models.base import Floats, Ints, Run, run_alone
from ..models.columns import Summary, choose_models, warn_of_unknown
from ..models.votes import FittedVotes, fit_votes, votes_of, voting_problems


@dataclass(frozen=True)
class VotesFamily:
    """Votes of binary columns."""

    orientation: str = "label"  #: as in `FeatureVotes`

    name = "FeatureVotes"
    form = "moves"
    features = "bernoulli"
    smoothing = 1.0
    priors = None
    rounded = False

    def check(self) -> None:
        """Validate the setting."""
        choose("orientation", self.orientation, ["label", "rare"])

    def choose_models(self, table: Table) -> list[str]:
        """Columns of 0 and 1, or an error."""
        return choose_models(self.features, table)

    def check_sample(self, sample: Sample) -> None:
        """Two classes, or labels."""
        if not sample.targets.odds:
            raise ValueError(
                f"FeatureVotes needs two classes or a 0/1 matrix of labels; got "
                f"{len(sample.classes)} classes. Only binary classification is supported."
            )

    def fit(
        self,
        sample: Sample,
        models: Sequence[str],
        class_weight: Floats | None = None,
        run: Run = run_alone,
    ) -> FittedVotes:
        """Which values vote; what votes mean is counted for the columns that are kept."""
        return fit_votes(sample, models, self.orientation == "rare")

    def problems(self, targets: Targets) -> list[Ints]:
        """Classes of all rows in each problem that votes are counted for."""
        return voting_problems(targets, self.orientation == "rare")

    def finish(
        self, summaries: Sequence[Summary], labels: Sequence[str] = (), run: Run = run_alone
    ) -> FittedVotes:
        """Which values vote, of what was counted."""
        counts = [np.stack([each[0] for each in found.statistics]) for found in summaries]
        first, rare = summaries[0], self.orientation == "rare"
        return votes_of(counts, rare, first.classes, labels, first.specs)

    def restrict(self, fitted: FittedVotes, columns: Sequence[int], sample: Sample) -> FittedVotes:
        """Restrict the model to some columns; their votes are recounted."""
        return fitted.restrict(columns).counted(sample.pick(np.array(columns, np.int64)))

    def sparse_tables(
        self, problem: SparseProblem, fitted: FittedVotes, run: Run = run_alone
    ) -> SparseTables:
        """Votes for the rows of a sparse ledger."""
        return vote_tables(problem, self.orientation == "rare")


class FeatureVotes(ClassifierMixin, BaseEstimator):
    """Voting classifier: every binary column may vote for the positive class (Ruta 2014).

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

    classes_: Any
    feature_names_in_: Array

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: object, y: object, sample_weight: object = None) -> "FeatureVotes":
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
        family = self.family()
        family.check()
        sample = read_sample(self, X, y, sample_weight)
        family.check_sample(sample)
        fitted = family.fit(sample, family.choose_models(sample.table))
        return self.hold(fitted.counted(sample))

    def family(self) -> VotesFamily:
        """The family of models that this is a member of, for selectors."""
        return VotesFamily(self.orientation)

    def hold(self, fitted: FittedVotes) -> "FeatureVotes":
        """Hold a fitted value, wherever it was made."""
        self.fitted_ = fitted
        self.votes_for_, self.share_ = fitted.votes_for, fitted.share
        self.classes_ = fitted.classes
        self.__dict__.pop("label_names_", None)
        if fitted.labelled:
            self.label_names_ = list(fitted.labels)
        return self

    def _rows(self, X: object) -> Table:
        check_is_fitted(self, "fitted_")
        table = read_table(self, X, reset=False)
        warn_of_unknown(self.fitted_.specs, table)
        return table

    def decision_function(self, X: object) -> Ints:
        """Number of votes of each row; with labels, rows x labels."""
        rows = self._rows(X)
        return self.fitted_.decide(rows)

    def predict_proba(self, X: object) -> Floats:
        """Share of positives among training rows with as many votes, rows x classes or labels."""
        rows = self._rows(X)
        return self.fitted_.proba(rows)

    def predict(self, X: object) -> Array:
        """The more frequent class (or value of each label) among rows with as many votes."""
        rows = self._rows(X)
        return self.fitted_.best(rows)
