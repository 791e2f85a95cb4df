"""Pipelines of scikit-learn whose last step is ours: what comes before it, and names through it."""

import copy
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..data.packed import PackedTable
from ..data.tables import Table, is_frame, read_table
from .chosen import ChosenColumns
from .naive_bayes import NaiveBayes
from .signals import SignalPipeline
from .weighted import WeightedNaiveBayes


def is_pipeline(model: object) -> TypeGuard[Pipeline]:
    """Is it a pipeline of the user's own making?"""
    return isinstance(model, Pipeline) and not isinstance(model, SignalPipeline)


def last_step(pipeline: Pipeline) -> BaseEstimator:
    """The estimator at the end, which must be one of ours.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.estimators.pipelines import last_step
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
    """The model at the end of a pipeline, and the table that it reads of X; others as they are.

    Parameters
    ----------
    model : a fitted pipeline, or any other model.
    X : rows, or None where only the model is asked for.
    """
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
    """What the last step reads of X, by name; the steps before it are fitted.

    Parameters
    ----------
    pipeline : the last step need not be fitted.
    X : rows.
    known : names that the last step knows its columns by, where it does.
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
    twin.path_ = copy.deepcopy(model.path_)
    if isinstance(twin, WeightedNaiveBayes):
        twin.name_columns(names)
    else:
        twin.path_.names = list(names)
    twin.estimator_ = named(
        twin.estimator_, [names[j] for j in np.flatnonzero(model.support_).tolist()]
    )
    if model.families_ is not None:
        twin.families_ = replace(model.families_, names=tuple(names))
    return twin
