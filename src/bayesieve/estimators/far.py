"""Fits on Dask collections: what came in, judged before any work, and rows that stay away."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from ..checks import Foreign, choose
from ..criteria.base import Criterion
from ..criteria.rows import RowCriterion
from ..data.collection import Collection, read_collection
from ..data.looks import sample_of
from ..data.sample import (
    Sample,
    check_several_classes,
    is_label_matrix,
    read_target,
    read_weights,
)
from ..data.tables import RawTable, is_collection, keep_names
from ..data.targets import Targets
from ..engine.far.cluster import Cluster, DaskEngine, wanted_of
from ..engine.far.table import FarTable
from ..engine.far.tasks import Wanted
from ..models.registry import MODELS
from ..models.shared import Known
from ..search.family import Family
from ..search.strategies.base import Search
from ..search.strategies.dependency import DependencySearch
from .naive_bayes import NaiveBayes
from .parameters import judge_parameters
from .votes import FeatureVotes

if TYPE_CHECKING:
    from .selector import NaiveBayesSelector

ENGINES = ("threads", "dask")


def engine_of(engine: object, X: object) -> DaskEngine:
    """Who keeps the rows of a collection.

    Parameters
    ----------
    engine : None, "dask", or a `DaskEngine`; "threads" cannot.
    X : what was given.
    """
    if engine is not None and not isinstance(engine, DaskEngine):
        choose("engine", engine, ENGINES)
    if not is_collection(X):
        raise TypeError(
            f"engine={engine!r} is for Dask collections; got {type(X).__name__}. Use "
            "engine=None, or make a collection first, such as "
            "dask.dataframe.from_pandas(X, npartitions=8)."
        )
    if engine == "threads":
        raise TypeError(
            "engine='threads' needs a table in memory; got a Dask collection. Use engine=None, or "
            "call compute() first."
        )
    return engine if isinstance(engine, DaskEngine) else DaskEngine()


def check_far(asked: "NaiveBayesSelector", search: Search, criterion: Criterion) -> None:
    """Refuse by name what cannot be divided over the rows."""
    if isinstance(asked.estimator, FeatureVotes):
        raise ValueError("estimator: FeatureVotes cannot be searched on a Dask collection yet.")
    if not isinstance(criterion, RowCriterion):
        raise ValueError(
            f"criterion {criterion.name!r} compares rows of all partitions, or is your own: on a "
            "Dask collection use 'error', 'probability' or 'log-likelihood'."
        )
    if isinstance(search, DependencySearch):
        raise ValueError(
            "search='dependency' compares columns with each other row by row: it is not offered on "
            "a Dask collection. Use 'forward', 'backward-forward' or another search."
        )
    if asked.families is not None and not is_given(asked.families):
        raise ValueError(
            "families='auto' (and preset='few') compares columns with each other row by row: on a "
            "Dask collection give families as lists of columns, or None."
        )


def is_given(families: object) -> bool:
    """Are these families that somebody has, rather than some to be found?"""
    return not isinstance(families, str)


def check_far_models(family: Family) -> None:
    """Refuse feature models that were asked for and cannot be merged exactly."""
    features = family.features
    names = list(features.values()) if isinstance(features, Mapping) else [features]
    check_mergeable([name for name in names if name in MODELS])
    if family.rounded or getattr(family, "var_smoothing", None) is not None:
        raise ValueError(
            "var_smoothing and rounded ask for normal distributions, whose sums depend on the "
            "order of the rows: not offered on a Dask collection. Use features='density'."
        )


def check_mergeable(models: list[Foreign]) -> None:
    """Refuse models whose statistics are not counts."""
    odd = [model for model in models if not MODELS[model].discrete]
    if odd:
        raise ValueError(
            f"feature model {odd[0]!r} is not offered on a Dask collection: its sums depend on the "
            "order of the rows. Use 'density', which makes tables of numbers, or 'intervals'."
        )


@contextmanager
def gathered(
    selector: "NaiveBayesSelector",
    model: NaiveBayes,
    X: object,
    y: object,
    params: dict[str, Foreign],
) -> Iterator[tuple[Sample, FarTable, dict[str, Foreign]]]:
    """Rows held by a cluster as a sample, and what was given beside them, as long as it is needed.

    Parameters
    ----------
    selector : whose fit this is.
    model : keeps width and names of X.
    X, y, params : as users give them.
    """
    engine = engine_of(selector.engine, X)
    from .auto import settle

    asked = settle(selector)
    check_far(asked, *judge_parameters(asked))
    family = model.family()
    check_far_models(family)
    collection = read_collection(X, y)
    with engine.cluster() as cluster:
        given = {name: cluster.gather(value) for name, value in params.items()}
        weight = given.get("sample_weight")
        sample = far_sample(cluster, collection, model, family, y, weight)
        assert isinstance(sample.table, FarTable)
        yield sample, sample.table, given


def far_sample(
    cluster: Cluster,
    collection: Collection,
    estimator: BaseEstimator,
    family: Family,
    y: object,
    sample_weight: object,
) -> Sample:
    """Read a collection: one value a row comes here (classes, weights); columns stay.

    Parameters
    ----------
    cluster, collection : where, and what.
    estimator : keeps width and names.
    family : chooses feature models.
    y, sample_weight : as users give them.
    """
    keep_names(estimator, collection.face, reset=True)
    y = cluster.gather(y if collection.target is None else collection.target)
    if is_label_matrix(y):
        raise ValueError("y: a matrix of labels is not offered on a Dask collection; give classes.")
    names = [str(name) for name in collection.names]
    weights, wanted = None, [Wanted(number) for number in range(len(collection.parts))]
    if sample_weight is not None:
        sizes = cluster.count_rows(collection)
        shape = RawTable([np.empty(0)] * len(names), names, sum(sizes))
        weights = read_weights(sample_weight, shape, whole=True)
        wanted = wanted_of(sizes, weights)
    sizes, kinds, looked = cluster.look(collection, wanted)
    n_rows = sum(sizes)
    if not n_rows:
        raise ValueError("X is empty: no partition has a row.")
    weights = np.ones(n_rows) if weights is None else weights
    classes, labels = read_target(y, n_rows)
    rows = np.flatnonzero(weights > 0)
    if rows.size < n_rows:
        left, labels = np.unique(labels[rows], return_inverse=True)
        classes = classes[left]
    check_several_classes(classes, rows.size < n_rows)
    told = sample_of(kinds, names)
    models = family.choose_models(told)
    check_mergeable(list(models))
    specs = cluster.learn(looked, names, models)
    del looked
    held = cluster.hold(collection, wanted, specs, sizes)
    known = Known(tuple(models), {(j, False): spec for j, spec in enumerate(specs)})
    table = FarTable(
        told.columns, names, rows.size, known, rows=held, face=collection.face, n_given=n_rows
    )
    labels = labels.astype(np.int64)
    targets = Targets(labels[:, None], len(classes), (str(classes[-1]),))
    return Sample(table, targets, labels, weights[rows], classes, rows)
