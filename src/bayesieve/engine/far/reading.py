"""A Dask collection read as a sample: classes and weights come here, columns stay."""

from collections.abc import Callable

import numpy as np

from ...checks import Foreign
from ...data.collection import Collection
from ...data.looks import sample_of
from ...data.sample import (
    Sample,
    check_several_classes,
    is_label_matrix,
    read_target,
    read_weights,
)
from ...data.tables import RawTable, keep_names
from ...data.targets import Targets
from ...models.registry import MODELS
from ...models.shared import Known
from .cluster import Cluster, Given, wanted_of
from .table import FarTable
from .tasks import Wanted


def check_mergeable(models: list[str]) -> None:
    """Refuse models whose statistics are not counts."""
    odd = [model for model in models if not MODELS[model].discrete]
    if odd:
        raise ValueError(
            f"feature model {odd[0]!r} is not offered on a Dask collection: its sums depend on the "
            "order of the rows. Use 'density', which makes tables of numbers, or 'intervals'."
        )


def far_sample(
    cluster: Cluster,
    collection: Collection,
    estimator: Foreign,
    choose_models: Callable[[RawTable], list[str]],
    y: object,
    sample_weight: object = None,
) -> Sample:
    """Read a collection: one value a row comes here (classes, weights); columns stay.

    Parameters
    ----------
    cluster, collection : where, and what.
    estimator : keeps width and names.
    choose_models : gives the feature models, from a row that tells the kinds of the columns.
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
    models = choose_models(told)
    check_mergeable(models)
    specs = cluster.learn(looked, names, models)
    del looked
    given = Given(cluster, collection, tuple(wanted), tuple(sizes))
    held = given.hold(specs)
    known = Known(tuple(models), {(j, False): spec for j, spec in enumerate(specs)})
    at = {"rows": held, "face": collection.face, "n_given": n_rows, "given": given}
    table = FarTable(told.columns, names, rows.size, known, **at)
    labels = labels.astype(np.int64)
    targets = Targets(labels[:, None], len(classes), (str(classes[-1]),))
    return Sample(table, targets, labels, weights[rows], classes, rows)
