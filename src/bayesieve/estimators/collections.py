"""Fits on Dask collections: input is validated first, rows stay on the workers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..checks import Foreign, choose, column_indices
from ..criteria.auc import AUC
from ..criteria.base import Criterion, RowCriterion
from ..data.collection import read_collection
from ..data.sample import Sample
from ..data.tables import is_collection
from ..engine.registry import (
    ENGINES,
    AnyEngine,
    RemoteEngine,
    RemoteTable,
    check_mergeable,
    remote_engine,
    remote_sample,
)
from ..models.base import one_set
from ..models.columns import Summary
from ..models.fitted import FittedBayes
from ..models.registry import MODELS
from ..rankings.collections import check_divisible
from ..rankings.rank import check_ranking
from ..search.run import Family
from ..search.strategies.base import Search
from ..search.strategies.dependency import DependencySearch
from ..search.strategies.ranked import SCORE, RankedSearch, ShortlistSearch
from ._validation import gpu_of, judge_parameters, read_forbidden, settle
from .naive_bayes import NaiveBayes

if TYPE_CHECKING:
    from .selector import NaiveBayesSelector
    from .weighted import WeightedNaiveBayes


def engine_of(engine: object, X: object) -> RemoteEngine:
    """Engine that holds the rows of a collection."""
    if engine is not None and not isinstance(engine, AnyEngine):
        choose("engine", engine, ENGINES)
    if not is_collection(X):
        raise TypeError(
            f"engine={engine!r} is for Dask collections; got {type(X).__name__}. Use "
            "engine=None, or make a collection first, such as "
            "dask.dataframe.from_pandas(X, npartitions=8)."
        )
    if engine == "threads" or gpu_of(engine) is not None:
        raise TypeError(
            f"engine={engine!r} needs a table in memory; got a Dask collection. Use engine=None, "
            "or call compute() first."
        )
    return remote_engine(engine)


def check_far(asked: "NaiveBayesSelector", search: Search, criterion: Criterion) -> None:
    """Refuse by name what cannot be divided over the rows."""
    if not isinstance(criterion, RowCriterion | AUC):
        raise ValueError(
            f"criterion {criterion.name!r} is your own: on a Dask collection use 'error', "
            "'probability', 'log-likelihood', 'auc' or 'penalised-auc'."
        )
    ranking = _ranking_of(search)
    if ranking is not None:
        check_divisible(check_ranking(ranking, "ranking"))
    if isinstance(search, DependencySearch):
        raise ValueError(
            "search='dependency' compares columns with each other row by row: it is not offered on "
            "a Dask collection. Use 'forward', 'backward-forward' or another search."
        )


def _ranking_of(search: Search) -> object:
    """What a search will have the columns ranked by; None where it asks for no ranking."""
    if isinstance(search, ShortlistSearch):
        return search.ranking
    if isinstance(search, RankedSearch) and search.order is None and search.ranking != SCORE:
        return search.ranking
    return None


def check_far_models(family: Family) -> None:
    """Refuse feature models that were asked for and cannot be merged exactly."""
    features = family.features
    names = list(features.values()) if isinstance(features, Mapping) else [features]
    check_mergeable([name for name in names if isinstance(name, str) and name in MODELS])
    if family.rounded or getattr(family, "var_smoothing", None) is not None:
        raise ValueError(
            "var_smoothing and rounded ask for normal distributions, whose sums depend on the "
            "order of the rows: not offered on a Dask collection. Use features='density'."
        )


@contextmanager
def gathered(
    selector: "NaiveBayesSelector",
    model: NaiveBayes,
    X: object,
    y: object,
    params: dict[str, Foreign],
) -> Iterator[tuple[Sample, RemoteTable, dict[str, Foreign]]]:
    """Rows held by a cluster as a sample, and what was given beside them, while it is needed."""
    engine_of(selector.engine, X)
    asked = settle(selector)
    check_far(asked, *judge_parameters(asked))
    with gathered_weights(asked, model, X, y, params) as found:
        yield found


@contextmanager
def gathered_weights(
    asked: "NaiveBayesSelector | WeightedNaiveBayes",
    model: NaiveBayes,
    X: object,
    y: object,
    params: dict[str, Foreign],
) -> Iterator[tuple[Sample, RemoteTable, dict[str, Foreign]]]:
    """Open a Dask collection for a fit of weighted terms; their sums add up over partitions."""
    engine = engine_of(asked.engine, X)
    family = model.family()
    check_far_models(family)
    collection = read_collection(X, y)
    kept = set(column_indices("keep", asked.keep, collection.column_names))
    read_forbidden(asked.forbid, collection.column_names, kept)
    with engine.cluster() as cluster:
        given = {name: cluster.gather(value) for name, value in params.items()}
        weight = given.get("sample_weight")
        sample = remote_sample(cluster, collection, model, family.choose_models, y, weight)
        assert isinstance(sample.table, RemoteTable)
        yield sample, sample.table, given


def far_fit(model: NaiveBayes, X: object, y: object, sample_weight: object) -> FittedBayes:
    """A model of all rows of a collection: counts alone come here."""
    engine, family = engine_of(None, X), model.family()
    check_far_models(family)
    collection = read_collection(X, y)
    with engine.cluster() as cluster:
        weight = cluster.gather(sample_weight)
        sample = remote_sample(cluster, collection, model, family.choose_models, y, weight)
        family.check_sample(sample)
        assert isinstance(sample.table, RemoteTable)
        held, summaries = sample.table.held, []
        for labels in family.problems(sample.targets):
            sets = one_set(labels, sample.weights, np.ones(len(sample.classes)))
            counts = tuple(held.count(sets, np.arange(labels.size)))
            found = sets.class_counts[0], sets.class_weight, held.specs, counts
            summaries.append(Summary(sample.classes, *found))
    return family.finish(summaries, sample.targets.names if sample.targets.labelled else ())
