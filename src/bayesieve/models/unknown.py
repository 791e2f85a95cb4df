"""Rows to predict in which a column holds nothing that the fit has seen."""

import warnings
from collections.abc import Sequence

import numpy as np

from ..data.columns import ColumnSpec, encode, is_missing
from ..data.tables import SparseTable, Table

# Rows among which a known value is looked for first, and columns that a warning names.
_FEW, _NAMED = 64, 5


def warn_of_unknown(specs: Sequence[ColumnSpec], table: Table, stacklevel: int = 4) -> None:
    """Name the columns that hold values, none of which was known to the fit.

    Parameters
    ----------
    specs : what the fit learnt of each column of `table`.
    table : rows to predict.
    stacklevel : whose line the warning shows; by default the caller of a method two calls above.
    """
    discrete = [
        j
        for j, spec in enumerate(specs)
        if spec.levels is not None and not (spec.presence or spec.on_grid)
    ]
    # A known value shows soon, as a rule: all rows are looked at only where the first few are new.
    few = table
    if table.n_rows > _FEW and not isinstance(table, SparseTable):
        few = table.take(np.arange(_FEW))
    for part in (few, table):
        discrete = [j for j in discrete if _unknown(specs[j], part, j, part is table)]
    if not discrete:
        return
    names = [repr(specs[j].name) for j in discrete]
    listed = ", ".join(names[:_NAMED]) + (
        f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)
    )
    first = discrete[0]
    got = next(v for v in table.coded(first)[0].tolist() if v is not None and v != "" and v == v)
    warnings.warn(
        f"X holds no value that fit has seen in {listed} (got {got!r}, for one, where fit saw "
        f"{_some(specs[first])}): such a column says nothing. Give it the kind of values it had in "
        "fit.",
        UserWarning,
        stacklevel=stacklevel,
    )


def _unknown(spec: ColumnSpec, table: Table, j: int, whole: bool) -> bool:
    """Is no value of the column known (and, of the whole table, is there any value)?"""
    values = table.coded(j)[0]
    return not (encode(spec, values) < spec.n_codes - 1).any() and not (
        whole and is_missing(values).all()
    )


def _some(spec: ColumnSpec) -> str:
    """A few levels, for a message."""
    assert spec.levels is not None
    levels = [repr(level) for level in spec.levels.tolist()]
    return ", ".join(levels[:3]) + (", ..." if len(levels) > 3 else "") if levels else "no value"
