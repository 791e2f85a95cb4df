"""A journal is opened for one search on one table: all that decides its result is in its head."""

import sys
from pathlib import Path

from ...data.tables import SparseTable
from ...engine.far.table import FarTable
from ..run import Rows, Task
from .fingerprint import fingerprint
from .journal import Journal


def open_journal(
    checkpoint: Path,
    task: Task,
    model: object,
    search: object,
    criterion: object,
    scored: object,
    rows: tuple[Rows, Rows],
) -> Journal:
    """The journal of one search, checked against everything that decides its result."""
    read = task.sample
    if isinstance(read.table, SparseTable):
        matrix = read.table.matrix
        data = [matrix.shape, matrix.indptr, matrix.indices, matrix.data]
    elif isinstance(read.table, FarTable):
        data = [read.table.held.specs, read.table.held.marks()]
    else:
        # One by one: a table is not copied to be looked at.
        data = [fingerprint(read.table.column(j)) for j in range(len(read.table.names))]
    parts = {
        "X": fingerprint(data),
        "y": fingerprint(read.targets.classes, read.classes, read.targets.labelled),
        "sample_weight": fingerprint(read.weights, read.rows),
        "estimator": fingerprint(model),
        "search": fingerprint(search),
        "criterion": fingerprint(criterion),
        "cv": fingerprint(scored),
        "validation (the rows drawn with random_state)": fingerprint(rows),
        "feature_groups": fingerprint(task.units),
        "keep": fingerprint(task.keep),
        "n_features, max_features or min_features": fingerprint(task.limits, task.sizes),
        "class_weight": fingerprint(task.class_weight),
    }
    # Read where it is, not imported: the package's face stands above this room.
    release = sys.modules[__name__.partition(".")[0]].__version__
    return Journal(checkpoint, release, parts)
