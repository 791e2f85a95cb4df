"""A Dask collection read as a sample: classes and weights come here, columns stay."""

from collections.abc import Callable

import numpy as np
import scipy.sparse

from ...checks import Foreign
from ...data.collection import Collection
from ...data.looks import sample_of
from ...data.sample import Sample, judge_target, read_weights
from ...data.tables import RawTable, SparseTable, Table, keep_names
from ...models.registry import MODELS
from ...models.shared import Known
from .cluster import Cluster
from .given import Given, wanted_of
from .table import FarTable
from .tasks import Told, Wanted


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
    choose_models: Callable[[Table], list[str]],
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
    names = collection.told
    weights, wanted = None, [Wanted(number) for number in range(len(collection.parts))]
    if sample_weight is not None:
        sizes = cluster.count_rows(collection)
        shape = RawTable([np.empty(0)] * len(names), names, sum(sizes))
        weights = read_weights(sample_weight, shape, whole=True)
        wanted = wanted_of(sizes, weights)
    if_sparse = _models_of_sparse(choose_models, names)
    valued = [j for j, model in enumerate(if_sparse) if model != "bernoulli"]
    parts, kinds, looked = cluster.look(collection, wanted, valued)
    sizes = [part.n_rows for part in parts]
    n_rows = sum(sizes)
    if not n_rows:
        raise ValueError("X is empty: no partition has a row.")
    weights = np.ones(n_rows) if weights is None else weights
    rows = np.flatnonzero(weights > 0)
    targets, labels, classes = judge_target(y, n_rows, rows)
    sparse, told = _are_sparse(parts), sample_of(kinds, names)
    models = if_sparse if sparse else choose_models(told)
    check_mergeable(models)
    specs = cluster.learn(looked, names, models, sparse)
    del looked
    given = Given(cluster, collection, tuple(wanted), tuple(sizes))
    held = given.hold(specs)
    known = Known(tuple(models), {(j, False): spec for j, spec in enumerate(specs)})
    at = {"rows": held, "face": collection.face, "n_given": n_rows, "given": given}
    table = FarTable(told.columns, names, rows.size, known, **at, chunks_sparse=sparse)
    return Sample(table, targets, labels, weights[rows], classes, rows)


def _models_of_sparse(choose_models: Callable[[Table], list[str]], names: list[str]) -> list[str]:
    """The feature models of columns, should they turn out to be sparse: no value tells them."""
    nothing = scipy.sparse.csc_array((1, len(names)))
    return choose_models(SparseTable(nothing, names, 1))


def _are_sparse(parts: list[Told]) -> bool:
    """Are the chunks sparse?  All are, or none."""
    kinds = {part.sparse for part in parts} - {None}
    if len(kinds) > 1:
        odd = next(k for k, part in enumerate(parts) if part.sparse)
        raise TypeError(
            f"X: chunk {odd} is sparse and others are dense; all chunks of a dask.array must be of "
            "one kind."
        )
    return kinds == {True}
