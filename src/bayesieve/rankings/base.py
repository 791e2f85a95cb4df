"""What a ranking reads and what it gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ranking:
    """Features from best to worst, and the score of each.

    As an array it is the standing of each column (higher is better), so that `rank` serves
    scikit-learn's selectors as a score function: ``SelectKBest(rank, k=10)``.

    Attributes
    ----------
    order : ndarray of int
        Column numbers, best first.
    scores : ndarray of float
        One score a column, in the table's order; for mRMR, what the column was worth when it was
        taken (-inf for columns beyond `n_features`).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rankings import Ranking
    >>> np.asarray(Ranking(np.array([2, 0, 1]), np.array([0.5, 0.1, 0.9])))
    array([2., 1., 3.])
    """

    order: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        standing = np.empty(self.order.size)
        standing[self.order] = np.arange(self.order.size, 0, -1)
        return standing if dtype is None else standing.astype(dtype)


@dataclass(frozen=True)
class DiscreteColumns:
    """Columns as codes, columns x rows; codes beyond a column's levels are missing.

    Sparse tables come as bits alone, 64 rows to a word; `codes` is empty then.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rankings import DiscreteColumns
    >>> codes = np.array([[0, 1, 1], [2, 0, 1]], np.uint8)
    >>> columns = DiscreteColumns(codes, np.array([2, 3]), np.ones(3))
    >>> columns.n_columns, columns.column(1)
    (2, array([2, 0, 1], dtype=uint8))
    """

    codes: NDArray[np.uint8]
    n_levels: NDArray[np.int64]
    weights: NDArray[np.float64]
    bits: NDArray[np.uint64] | None = None

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.n_levels.size

    def column(self, j: int) -> NDArray[np.uint8]:
        """Codes of one column."""
        if self.bits is None:
            return self.codes[j]
        bytes_ = np.ascontiguousarray(self.bits[j]).view(np.uint8)
        return np.unpackbits(bytes_, bitorder="little")[: self.weights.size]

    @cached_property
    def packed(self) -> NDArray[np.uint64] | None:
        """Bits of all columns, where all are binary, complete and unweighted."""
        if self.bits is not None:
            return self.bits
        if (self.n_levels != 2).any() or (self.weights != 1).any() or self.codes.max(initial=0) > 1:
            return None
        return pack(self.codes)

    @cached_property
    def ones(self) -> NDArray[np.int64]:
        """How many ones each binary column holds."""
        if self.bits is not None:
            return np.bitwise_count(self.bits).sum(1, dtype=np.int64)
        return self.codes.sum(1, dtype=np.int64)


@dataclass(frozen=True)
class MixedColumns:
    """Numbers and codes, columns x rows; NaN is missing.

    Parameters
    ----------
    values : the columns.
    nominal : which of them hold codes.
    specs : what was learnt about each column.
    weights : of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rankings import MixedColumns
    >>> MixedColumns(np.zeros((2, 5)), np.array([False, True]), [], np.ones(5)).n_columns
    2
    """

    values: NDArray[np.float64]
    nominal: NDArray[np.bool_]
    specs: list[Any]
    weights: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return len(self.values)


def pack(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Zeros and ones, 64 to a word, padded with zeros."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    width = -(-packed.shape[1] // 8) * 8
    padded = np.zeros((bits.shape[0], width), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def by_score(scores: Sequence[float] | NDArray[np.float64]) -> NDArray[np.int64]:
    """Best first; the lowest column first among equals."""
    return np.argsort(-np.asarray(scores), kind="stable").astype(np.int64)
