"""What parts of a column tell before any class is looked at; what they tell together."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .columns import ColumnSpec, count_distinct, encode, is_missing, learn
from .tables import RawTable, SparseTable

# Up to so many codes, comparing bytes with each is quicker than counting them in one pass.
_FEW = 8


class Kind(NamedTuple):
    """What a column holds."""

    text: bool
    number: bool  #: any number that is not missing
    odd: float  #: the first number that is neither 0 nor 1; NaN where there is none


class Look(NamedTuple):
    """What a part of a column holds: its kind, each known value, and the weight of its rows."""

    kind: Kind
    values: Array
    counts: NDArray[np.float64 | np.int64]
    below_zero: bool = False  #: a zero below zero, which is written otherwise, is among them


def look(table: RawTable | SparseTable, j: int, repeats: NDArray[np.float64] | None = None) -> Look:
    """Look at one column of a part.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.data.looks import look
    >>> from bayesieve.data.tables import RawTable
    >>> look(RawTable([np.array([0.0, 3.0, np.nan, 3.0])], ["a"], 4), 0)[1:3]
    (array([0., 3.]), array([1, 2]))
    """
    if isinstance(table, RawTable) and table.is_text(j):
        column = table.column(j)
        known = ~is_missing(column)
        weights = np.ones(column.size, np.int64) if repeats is None else repeats
        texts = [str(value) for value in column[known].tolist()]
        values, at = np.unique(np.array(texts, dtype=object), return_inverse=True)
        counts = np.bincount(at.ravel(), weights[known], values.size)
        return Look(Kind(True, False, np.nan), values, counts)
    values, codes = table.coded(j)
    share: Array | None = repeats
    if codes is not None and repeats is None and values.size <= _FEW:
        share = np.array([np.count_nonzero(codes == code) for code in range(values.size)])
    elif codes is not None:
        share = np.bincount(codes, repeats, minlength=values.size)
    values = np.asarray(values, np.float64)
    below_zero = bool(np.signbit(values[values == 0]).any())
    values, weight = count_distinct(values, share)
    odd = values[(values != 0) & (values != 1)]
    kind = Kind(False, values.size > 0, float(odd[0]) if odd.size else np.nan)
    return Look(kind, values, weight, below_zero)


def merge_kinds(name: str, kinds: Sequence[Kind]) -> Kind:
    """What all parts of a column hold; text and numbers do not mix."""
    text = any(kind.text for kind in kinds)
    if text and any(kind.number for kind in kinds):
        raise TypeError(
            f"X column {name!r}: every argument must be text (a string) or every one a number; got "
            "text in one partition and numbers in another. Turn the column into text, categories "
            "or numbers first."
        )
    odd = [kind.odd for kind in kinds if not np.isnan(kind.odd)]
    return Kind(text, any(kind.number for kind in kinds), odd[0] if odd else np.nan)


def sample_of(kinds: Sequence[Kind], names: Sequence[str]) -> RawTable:
    """A row that tells which models each column allows."""
    columns = []
    for kind in kinds:
        if kind.text:
            columns.append(np.array(["text"], dtype=object))
        else:
            value = kind.odd if not np.isnan(kind.odd) else 1.0 if kind.number else np.nan
            columns.append(np.array([value]))
    return RawTable(columns, list(names), 1)


def learn_from(
    name: str,
    model: str,
    looks: Sequence[Look],
    discrete: bool,
    grid_codes: int,
    presence: bool = False,
) -> ColumnSpec:
    """What a column is like, from all its parts: the same as from the whole of it.

    Parameters
    ----------
    name, model : of the column.
    looks : what its parts hold.
    discrete, grid_codes, presence : as for `learn`.
    """
    text = any(each.kind.text for each in looks)
    # A part without a single known value says nothing of a column of texts.
    told = [each for each in looks if each.kind.text or not text]
    values = np.concatenate([each.values for each in told]) if told else np.empty(0)
    counts = np.concatenate([each.counts for each in told]) if told else np.empty(0, np.int64)
    return learn(name, model, values, discrete, False, presence, grid_codes, counts)


def encode_from(spec: ColumnSpec, table: RawTable | SparseTable, j: int) -> Array:
    """Codes of one column of a part."""
    text = isinstance(table, RawTable) and table.is_text(j)
    values, codes = (table.column(j), None) if text else table.coded(j)
    assert spec.levels is not None
    if spec.levels.dtype == object and values.dtype != object:
        values = np.full(values.shape, None, dtype=object)  # nothing is known in this part
    column = encode(spec, values)
    if codes is None:
        return column
    # Mostly a part has all values of its column, and its codes are those of the whole.
    return codes if np.array_equal(column, np.arange(column.size)) else column[codes]
