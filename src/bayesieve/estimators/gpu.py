"""Fits on a GPU: what cannot go there is refused by name, before any work."""

import os
import warnings
from collections.abc import Sequence

from ..criteria.base import Criterion
from ..criteria.rows import RowCriterion
from ..data.sample import Sample
from ..data.tables import SparseTable
from ..engine.gpu.engine import GpuEngine
from ..models.registry import MODELS
from .votes import FeatureVotes

# Cells for each core of this machine below which its threads are quicker, as measured once with 2
# cores and with 16.
_PAYS = 330_000


def check_gpu(engine: GpuEngine, estimator: object, criterion: Criterion) -> None:
    """Refuse what no GPU could do, and a machine without one.

    Parameters
    ----------
    engine : which GPUs.
    estimator, criterion : of the selector.
    """
    if isinstance(estimator, FeatureVotes):
        raise ValueError("estimator: FeatureVotes cannot be searched on a GPU; use engine=None.")
    if not isinstance(criterion, RowCriterion):
        raise ValueError(
            f"criterion {criterion.name!r} compares rows with each other, or is your own: on a GPU "
            "use 'error', 'probability' or 'log-likelihood'."
        )
    engine.judged()


def check_gpu_table(sample: Sample, models: Sequence[str]) -> None:
    """Refuse tables that a GPU does not hold; a word where threads would be quicker.

    Parameters
    ----------
    sample : the rows.
    models : the feature model of each column.
    """
    if isinstance(sample.table, SparseTable):
        raise TypeError(
            "engine='gpu' holds dense tables; got a sparse matrix. Use engine=None, or a dense "
            "array of bytes."
        )
    if sample.targets.labelled:
        raise ValueError("engine='gpu' knows classes; y is a matrix of labels. Use engine=None.")
    for name, model in zip(sample.table.names, models, strict=False):
        if not MODELS[model].discrete:
            raise ValueError(
                f"column {name!r} is modelled as {model!r}, which has no table of counts: on a GPU "
                "use features='density', or another model on the grid."
            )
    n_cells = sample.labels.size * len(sample.table.names)
    if n_cells < _PAYS * (os.cpu_count() or 1):
        warnings.warn(
            f"engine='gpu': {sample.labels.size} rows x {len(sample.table.names)} columns are too "
            "few for a GPU to pay; threads (engine=None, n_jobs=-1) are quicker, and give the same "
            "result.",
            UserWarning,
            stacklevel=4,
        )
