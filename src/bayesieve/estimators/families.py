"""The two families of models that a selector can search: naive Bayes, and votes."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import check_flag, check_number, choose, plain_value
from ..data.sample import Sample
from ..engine.sparse_tables import SparseProblem, SparseTables, bayes_tables
from ..engine.vote_tables import vote_tables
from ..models.base import Floats, Settings
from ..models.columns import Summary, summarise
from ..models.counts import check_priors, check_smoothing
from ..models.fitted import FittedBayes, fit_problem
from ..models.registry import MODELS
from ..models.votes import FittedVotes, fit_votes


@dataclass(frozen=True)
class BayesFamily:
    """Naive Bayes with its settings.

    Parameters
    ----------
    features, smoothing, priors, var_smoothing, rounded : as in `NaiveBayes`.
    """

    features: Any = "auto"
    smoothing: Any = 1.0
    priors: Any = None
    var_smoothing: Any = None
    rounded: Any = False

    name = "NaiveBayes"
    form = "lines"  #: of ledger it needs; it can be asked in both

    def check(self) -> None:
        """Judge the settings."""
        check_smoothing(self.smoothing)
        if self.var_smoothing is not None:
            check_number("var_smoothing", self.var_smoothing, low=0.0, high=sys.float_info.max)
        check_flag("rounded", self.rounded)

    def check_sample(self, sample: Sample) -> None:
        """Judge the settings that depend on the classes."""
        check_priors(self.priors, len(sample.classes))

    def fit(
        self, sample: Sample, models: Sequence[str], class_weight: Floats | None = None
    ) -> FittedBayes:
        """The model of all rows."""
        summaries = summarise(sample, models, self.rounded, class_weight)
        return self.finish(summaries, sample.targets.names if sample.targets.labelled else ())

    def finish(self, summaries: Sequence[Summary], labels: Sequence[str] = ()) -> FittedBayes:
        """The model of what was counted, one summary a problem."""
        smoothing = check_smoothing(self.smoothing)
        priors = check_priors(self.priors, len(summaries[0].classes))
        problems = [
            fit_problem(summary, smoothing, priors, self.var_smoothing) for summary in summaries
        ]
        for summary in summaries:
            _warn_of_idle_components(summary)
        return FittedBayes(tuple(problems), tuple(labels))

    def restrict(self, fitted: FittedBayes, columns: Sequence[int], sample: Sample) -> FittedBayes:
        """Some columns of a model of all rows."""
        return fitted.restrict(columns)

    def settings(self, fitted: FittedBayes, class_weight: Floats) -> Settings:
        """Settings of tables that are learnt on some of the rows of a model."""
        # The variance added to all columns is learnt once, by the fit on all rows.
        return Settings(
            check_smoothing(self.smoothing), fitted.problems[0].extra_variance, class_weight
        )

    def sparse_tables(self, problem: SparseProblem, fitted: FittedBayes) -> SparseTables:
        """Terms for the rows of a sparse ledger."""
        settings = self.settings(fitted, problem.class_weight)
        return bayes_tables(problem, settings, check_priors(self.priors, problem.targets.n_classes))


@dataclass(frozen=True)
class VotesFamily:
    """Votes of binary columns.

    Parameters
    ----------
    orientation : as in `FeatureVotes`.
    """

    orientation: Any = "label"

    name = "FeatureVotes"
    form = "moves"
    features = "bernoulli"
    smoothing = 1.0
    priors = None
    rounded = False

    def check(self) -> None:
        """Judge the setting."""
        choose("orientation", self.orientation, ["label", "rare"])

    def check_sample(self, sample: Sample) -> None:
        """Two classes, or labels."""
        if not sample.targets.odds:
            raise ValueError(
                f"FeatureVotes needs two classes or a 0/1 matrix of labels; got "
                f"{len(sample.classes)} classes. Only binary classification is supported."
            )

    def fit(
        self, sample: Sample, models: Sequence[str], class_weight: Floats | None = None
    ) -> FittedVotes:
        """Which values vote; what votes mean is counted for the columns that are kept."""
        return fit_votes(sample, models, self.orientation == "rare")

    def restrict(self, fitted: FittedVotes, columns: Sequence[int], sample: Sample) -> FittedVotes:
        """Some columns, whose votes are counted anew."""
        return fitted.restrict(columns).counted(sample.pick(np.array(columns, np.int64)))

    def sparse_tables(self, problem: SparseProblem, fitted: FittedVotes) -> SparseTables:
        """Votes for the rows of a sparse ledger."""
        return vote_tables(problem, self.orientation == "rare")


def _warn_of_idle_components(summary: Summary) -> None:
    """Name a class and column with fewer distinct values than its mixture has components."""
    found = []
    for spec, statistics in zip(summary.specs, summary.statistics, strict=True):
        found += [(spec, k, n) for k, n in MODELS[spec.model].idle_classes(statistics)]
    if found:
        spec, k, n = found[0]
        others = f" (and {len(found) - 1} more such cases)" if len(found) > 1 else ""
        warnings.warn(
            f"column {spec.name!r} has {n} distinct value(s) in class "
            f"{plain_value(summary.classes[k])!r}, fewer than the components of {spec.model!r}"
            f"{others}; idle components say nothing. Use fewer components, or 'mixture', which "
            "chooses their number.",
            UserWarning,
            stacklevel=5,
        )


def restrict_names(model: Any, columns: NDArray[np.int64]) -> None:
    """Let a model know the names, the number and the feature models of the columns it kept."""
    if isinstance(getattr(model, "features", None), Mapping):
        model.features = dict(enumerate(model.fitted_.feature_models))
    model.n_features_in_ = len(columns)
    if hasattr(model, "feature_names_in_"):
        model.feature_names_in_ = model.feature_names_in_[columns]
