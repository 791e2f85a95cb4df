"""`SignalPipeline`, and scikit-learn pipelines traced from their input to the model."""

import copy
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeGuard, cast

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, Floats
from ..data.series import SeriesLike
from ..data.storage import PackedTable
from ..data.tables import RawTable, Table, is_frame, read_table
from ..indicators.indicator import Plain, ScoreFamily
from ..indicators.transformer import Indicators
from ..models.fitted import Priors
from .base import ChosenColumns, procedure_of
from .naive_bayes import NaiveBayes, bayes_of
from .selector import NaiveBayesSelector
from .weighted import WeightedNaiveBayes

#: What chooses among indicators.
Chooser = NaiveBayesSelector | WeightedNaiveBayes

#: What decides on them; of a model that was read from a file, all that is left.
Decider = NaiveBayes | Chooser


class SignalPipeline(Pipeline):
    """Indicators of series and an estimator of them, in one: what `signals` gives.

    Files, explanations and reports know it: `save_model`, `explain` and `write_report` take it with
    series in place of a table.

    Parameters
    ----------
    steps : list of (name, step)
        ``"indicators"``, an `Indicators`, and ``"estimator"``, one of ours.
    memory, transform_input, verbose :
        As in scikit-learn's Pipeline; nothing is kept in memory.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    form_ : dict or None
        How the series lie in files, where a command read them.

    Examples
    --------
    >>> from bayesieve import signals
    >>> from bayesieve.datasets import make_signals
    >>> known = make_signals(60, 20, random_state=0)
    >>> model = signals(scores=["welch", "levene"]).fit(known.series, known.y)
    >>> model.predict(known.series[:2]).shape, model.indicators.channels_
    ((2,), ('',))
    """

    form_: dict[str, Plain] | None = None

    @property
    def indicators(self) -> Indicators:
        """What turns series into columns."""
        return self.steps[0][1]

    @property
    def estimator(self) -> Decider:
        """What decides on the columns."""
        return cast(Decider, self.steps[-1][1])

    def fit(
        self,
        X: SeriesLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> "SignalPipeline":
        """Learn thresholds, and the model on the indicators.

        Parameters
        ----------
        X : series in any form that `Indicators` takes
        y : array-like, one class a series
        sample_weight : array-like, optional
            How often each series is repeated.
        groups : array-like, optional
            What windows of one record share: no group is on both sides of a split.

        Returns
        -------
        self : SignalPipeline
        """
        self.fit_estimator(self.fit_columns(X), y, sample_weight, groups)
        return self

    def fit_estimator(
        self,
        columns: RawTable,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Chooser:
        """Fit the estimator on what `fit_columns` gave, and give it."""
        chooser = self.estimator
        assert not isinstance(chooser, NaiveBayes)
        return chooser.fit(columns, y, sample_weight=sample_weight, groups=groups)

    def fit_columns(self, X: SeriesLike) -> RawTable:
        """Learn thresholds; gives the columns that the estimator is then fitted on."""
        self._check()
        return self._named(self.indicators.fit_transform(X))

    def columns(self, X: SeriesLike) -> RawTable:
        """The indicators of series, as a table with names that estimators and figures read."""
        return self._named(self.indicators.transform(X))

    def predict(self, X: SeriesLike, priors: Priors = None) -> Array:
        """The most probable class of each series.

        `priors`, here and below: how frequent the classes are where the series come from.
        """
        return self.estimator.predict(self.columns(X), priors=priors)

    def predict_proba(self, X: SeriesLike, priors: Priors = None) -> Floats:
        """P(class | series), series x classes."""
        return self.estimator.predict_proba(self.columns(X), priors=priors)

    def predict_log_proba(self, X: SeriesLike, priors: Priors = None) -> Floats:
        """The logarithm of `predict_proba`."""
        return self.estimator.predict_log_proba(self.columns(X), priors=priors)

    def decision_function(self, X: SeriesLike, priors: Priors = None) -> Floats:
        """Log-odds, or scores of the classes."""
        return self.estimator.decision_function(self.columns(X), priors=priors)

    def score(self, X: SeriesLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of right decisions; with labels, of series of which all labels are right."""
        return float(self.estimator.score(self.columns(X), y, sample_weight))

    def recipe(self) -> dict[str, Plain]:
        """What makes the columns of the model from series, as plain data for a file."""
        check_is_fitted(self.estimator)
        found, known = self.indicators.recipe(), self.indicators.names_
        at = {name: j for j, name in enumerate(known)}
        used = [at[spec.name] for spec in bayes_of(self.estimator).fitted_.specs]
        return {**found, "kept": used, "stands_for": {}}

    def with_estimator(self, estimator: Decider) -> "SignalPipeline":
        """Pipeline of these indicators and another estimator, such as one from `deploy`."""
        found = SignalPipeline([self.steps[0], ("estimator", estimator)])
        found.form_ = self.form_
        return found

    def _named(self, values: Array) -> RawTable:
        return RawTable(values, self.indicators.get_feature_names_out().tolist(), len(values))

    def _check(self) -> None:
        """Two steps, each of its kind."""
        kinds = [type(step) for _, step in self.steps]
        fits = len(kinds) == 2 and issubclass(kinds[0], Indicators)
        if not fits or not issubclass(kinds[1], NaiveBayesSelector | WeightedNaiveBayes):
            raise TypeError(
                "signals needs Indicators and a WeightedNaiveBayes or NaiveBayesSelector; got "
                f"{', '.join(kind.__name__ for kind in kinds)}. For other estimators use "
                "scikit-learn's make_pipeline."
            )


def signals(
    estimator: NaiveBayesSelector | WeightedNaiveBayes | None = None,
    scores: Sequence[ScoreFamily | str] | None = None,
    *,
    quantiles: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
    drop: str | None = None,
    channels: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> SignalPipeline:
    """Pipeline from time series to a readable classifier: scores, binary indicators, selection.

    ``bayesieve signals`` does the same with files.

    Parameters
    ----------
    estimator : WeightedNaiveBayes or NaiveBayesSelector, optional
        What chooses among the indicators; ``WeightedNaiveBayes()`` by default.
    scores, quantiles, drop, channels :
        As in `Indicators`.
    n_jobs : int, optional
        Threads; -1 for all cores.

    Returns
    -------
    pipeline : SignalPipeline
        Its `fit` takes series in any form that `Indicators` takes, classes, and `groups`: windows
        of one record never stand on both sides of a split.

    Examples
    --------
    >>> from bayesieve import explain, signals
    >>> from bayesieve.datasets import make_signals
    >>> known = make_signals(60, 20, random_state=0)
    >>> model = signals(scores=["welch", "levene", "slope"]).fit(known.series, known.y)
    >>> model.score(known.series, known.y) > 0.8
    True
    >>> explain(model, known.series[:1])[0].row
    0
    """
    chosen = WeightedNaiveBayes(n_jobs=n_jobs) if estimator is None else estimator
    made = Indicators(scores, quantiles, drop, n_jobs, channels)
    return SignalPipeline([("indicators", made), ("estimator", chosen)])


# -- Pipelines of scikit-learn whose last step is ours ---------------------------------------------


def is_pipeline(model: object) -> TypeGuard[Pipeline]:
    """Is it a pipeline of the user's own making?"""
    return isinstance(model, Pipeline) and not isinstance(model, SignalPipeline)


def last_step(pipeline: Pipeline) -> BaseEstimator:
    """The estimator at the end, which must be one of ours.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> last_step(make_pipeline(StandardScaler(), NaiveBayes()))
    NaiveBayes()
    """
    name, found = pipeline.steps[-1]
    if not isinstance(found, NaiveBayes | ChosenColumns):
        raise TypeError(
            "the last step of a pipeline must be a NaiveBayes, NaiveBayesSelector or "
            f"WeightedNaiveBayes; got {type(found).__name__} ({name!r})."
        )
    return found


def follow(model: object, X: object = None) -> tuple[Any, Any]:
    """The model at the end of a pipeline, and the table that it reads of X; others as they are."""
    if not is_pipeline(model):
        return model, X
    last = last_step(model)
    check_is_fitted(last)
    known = getattr(last, "feature_names_in_", None)
    names = names_through(model, last.n_features_in_, known)
    return named(last, names), None if X is None else table_before(model, X, known)


def warn_of_steps(model: object) -> None:
    """Say which steps of a pipeline are not part of what is written down of it."""
    if not is_pipeline(model):
        return
    names = [name for name, step in model.steps[:-1] if step not in (None, "passthrough")]
    if names:
        warnings.warn(
            f"what is written holds the last step of the pipeline only: columns must have passed "
            f"{', '.join(map(repr, names))} before it reads them.",
            UserWarning,
            stacklevel=3,
        )


def table_before(pipeline: Pipeline, X: object, known: Iterable[str] | None = None) -> Table:
    """What the last step, which need not be fitted, reads of X; the steps before it are fitted.

    `known` are names that it knows its columns by.
    """
    steps = pipeline[:-1]
    rows: Any = steps.transform(X) if len(steps.steps) else X
    if known is None and is_frame(rows):
        known = nw.from_native(rows, eager_only=True).columns
    table = read_table(BaseEstimator(), rows, reset=True)
    assert not isinstance(table, PackedTable)
    return replace(table, names=names_through(pipeline, len(table.names), known))


def names_through(pipeline: Pipeline, width: int, known: Iterable[str] | None) -> list[str]:
    """Names of the columns that the last step reads, as the steps before it give them out."""
    if known is not None:
        return [str(name) for name in known]
    names = None
    for name, step in pipeline.steps[:-1]:
        if step in (None, "passthrough"):
            continue
        tell = getattr(step, "get_feature_names_out", None)
        if tell is None:
            raise TypeError(
                f"the step {name!r} ({type(step).__name__}) does not tell the names of its "
                "columns; give it get_feature_names_out, or put a step with names in its place, "
                "such as FunctionTransformer(..., feature_names_out='one-to-one')."
            )
        try:
            names = tell(names)
        except (NotFittedError, ValueError, AttributeError) as error:
            raise TypeError(
                f"the names of the columns cannot be followed through the step {name!r} "
                f"({type(step).__name__}): {error}"
            ) from error
    found = [f"x{j}" for j in range(width)] if names is None else [str(name) for name in names]
    if len(found) != width:
        raise TypeError(
            f"the steps before the last tell {len(found)} names, but it reads {width} columns."
        )
    return found


def named(model: BaseEstimator, names: Sequence[str]) -> BaseEstimator:
    """A copy of a fitted model whose columns have these names."""
    if hasattr(model, "feature_names_in_"):
        return model
    twin = copy.copy(model)
    twin.feature_names_in_ = np.array(names, dtype=object)
    if isinstance(model, NaiveBayes):
        assert isinstance(twin, NaiveBayes)
        twin.hold(model.fitted_.renamed(names))
        return twin
    assert isinstance(twin, ChosenColumns)
    procedure_of(twin).rename(names)
    twin.estimator_.feature_names_in_ = twin.feature_names_in_[twin.support_]
    return twin
