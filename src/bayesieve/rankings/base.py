"""Ranking interface: the columns a method reads, and its result."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import cleandoc
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..checks import Bools, Bytes, Floats, Ints
from ..data.columns import MOST_CODES, ColumnSpec
from ..data.result import Result
from ..data.storage import pack_bits
from ..engine.threads import Engine

#: The forms in which columns come: codes only, or numbers and codes.
DISCRETE, MIXED = "discrete", "mixed"


@dataclass(frozen=True, repr=False)
class Ranking(Result):
    """Features from best to worst, and the score of each.

    As an array it is the standing of each column (higher is better), so that `rank` serves
    scikit-learn's selectors as a score function: ``SelectKBest(rank, k=10)``.

    Attributes
    ----------
    order : ndarray of int
        Column numbers, best first.
    scores : ndarray of float
        One score a column, in the table's order; of a greedy ranking such as mRMR, what the column
        was worth when it was taken (-inf for columns beyond `n_features`).
    names : tuple of str, optional
        Names of the columns, as `rank` read them.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rankings import Ranking
    >>> Ranking(np.array([1, 0]), np.array([0.1, 0.9]), ("age", "size")).to_columns()
    {'rank': [1, 2], 'feature': ['size', 'age'], 'score': [0.9, 0.1]}
    >>> np.asarray(Ranking(np.array([2, 0, 1]), np.array([0.5, 0.1, 0.9])))
    array([2., 1., 3.])
    """

    order: Ints
    scores: Floats
    names: tuple[str, ...] | None = None
    _html_rows = 10

    def to_columns(self) -> dict[str, list[object]]:
        """Columns from best to worst: standing, name and score."""
        order = self.order.tolist()
        named = self.names or tuple(f"x{j}" for j in range(self.order.size))
        return {
            "rank": list(range(1, len(order) + 1)),
            "feature": [named[j] for j in order],
            "score": self.scores[self.order].tolist(),
        }

    def caption(self) -> str:
        """The best columns."""
        best = [str(name) for name in self.to_columns()["feature"][:3]]
        return f"{self.order.size} columns, the best first: {', '.join(best)}" + (
            ", ..." if self.order.size > len(best) else ""
        )

    @classmethod
    def by_score(cls, scores: Sequence[float] | Floats) -> "Ranking":
        """The highest score first; the lowest column first among equals."""
        scores = np.asarray(scores, np.float64)
        return cls(by_score(scores), scores)

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.generic]:
        standing = np.empty(self.order.size)
        standing[self.order] = np.arange(self.order.size, 0, -1)
        return standing if dtype is None else standing.astype(dtype)


class RankingMethod:
    """Base class of rankings: orders columns without a model.

    `rank` is all that a method must have.  A subclass says what it reads, judges its parameters
    (`check`), and says where its scores are not what the order follows.

    Examples
    --------
    A ranking of one's own, handed to `rank`:

    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import Ranking, RankingMethod
    >>> class MostKnown(RankingMethod):
    ...     reads = "mixed"
    ...     def rank(self, columns, labels, n_classes, engine, n_features):
    ...         known = (~np.isnan(columns.values)).mean(axis=1)
    ...         return Ranking.by_score(known)
    >>> X = np.array([[1.5, np.nan], [np.nan, np.nan], [2.5, np.nan], [3.5, 0.5]])
    >>> rank(X, [0, 0, 1, 1], MostKnown()).order
    array([0, 1])
    """

    #: ``"discrete"``: `DiscreteColumns`, numbers cut into levels; ``"mixed"``: `MixedColumns`.
    reads = DISCRETE
    #: Does a row of weight 2 count as two rows?
    takes_weights = True
    #: Is the order that of the scores, so that they never rise along it?
    sorts_by_score = True

    def rank(
        self, columns: Any, labels: Ints, n_classes: int, engine: Engine, n_features: int
    ) -> Ranking:
        """All columns, best first; of equals, the lowest column first.

        Parameters
        ----------
        columns : DiscreteColumns or MixedColumns, as `reads` asks for.
        labels : class index of every row.
        n_classes : how many classes there are.
        engine : runs kernels on threads.
        n_features : how many columns a greedy method ranks with care.
        """
        return self.order(RankingInput(columns, labels, n_classes, engine), n_features)

    def order(self, given: "RankingInput", n_features: int) -> Ranking:
        """All columns, best first; by their scores, where a method has no order of its own."""
        return Ranking.by_score(self.scores(given))

    def scores(self, given: "RankingInput") -> Floats:
        """One score a column, the higher the better."""
        raise NotImplementedError(
            f"ranking {type(self).__name__!r} must define "
            "rank(columns, labels, n_classes, engine, n_features)."
        )

    def check(self) -> None:
        """Validate the method's own parameters."""

    def caution(self, name: str, n_rows: int) -> str | None:
        """What to warn of beforehand, given the smallest class and how many rows it has."""
        return None


class LabelledRows(NamedTuple):
    """The rows of a table that a ranking looks at, ascending, with class and weight of each."""

    rows: Ints
    labels: Ints
    weights: Floats
    n_classes: int


@dataclass(frozen=True)
class RankingInput:
    """What a ranking reads: columns and the class of every row, and the threads to count with."""

    columns: Any
    labels: Ints
    n_classes: int
    engine: Engine


@dataclass(frozen=True)
class OwnRanking(RankingMethod):
    """A user's object with `rank` and, where it reads numbers, `reads`."""

    own: Any

    @property
    def reads(self) -> str:  # type: ignore[override]
        """What the user's object says."""
        return getattr(self.own, "reads", DISCRETE)

    def order(self, given: RankingInput, n_features: int) -> Ranking:
        """The order that the user's object gives."""
        return self.own.rank(given.columns, given.labels, given.n_classes, given.engine, n_features)


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

    codes: Bytes
    n_levels: Ints
    weights: Floats
    bits: NDArray[np.uint64] | None = None

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.n_levels.size

    def column(self, j: int) -> Bytes:
        """Codes of one column."""
        if self.bits is None:
            return self.codes[j]
        bytes_ = np.ascontiguousarray(self.bits[j]).view(np.uint8)
        return np.unpackbits(bytes_, bitorder="little")[: self.weights.size]

    def tables(self, other: Ints, n_other: int) -> Iterator[Floats] | None:
        """Counts of each column by the codes of another, where somebody else has to count them."""
        return None

    @cached_property
    def planes(self) -> "Planes | None":
        """The columns by bits, where rows are unweighted and bits take no more than twice the room
        of codes.
        """
        if self.bits is not None:
            return Planes(self.bits, np.arange(self.n_columns + 1), np.ones(self.n_columns, int))
        if (self.weights != 1).any() or not self.codes.size:
            return None
        complete = (self.codes.max(axis=1) < self.n_levels).astype(np.int64)
        first = np.append(0, np.cumsum(self.n_levels - complete))
        if first[-1] > 16 * self.n_columns:
            return None
        if (self.n_levels == 2).all() and complete.all():
            return Planes(pack_bits(self.codes), first, complete)
        from .kernels.counts import pack_levels

        bits = np.zeros((first[-1], -(-self.weights.size // 64)), np.uint64)
        pack_levels(self.codes, self.n_levels, first, complete, bits)
        return Planes(bits, first, complete)


class Planes(NamedTuple):
    """Columns by bits, 64 rows to a word, one plane a level: first[j] to first[j + 1].

    A column without missing values is `complete` (1, else 0): where none of its planes says 1 it
    is at level 0, which has no plane.
    """

    bits: NDArray[np.uint64]
    first: Ints
    complete: Ints


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

    values: Floats
    nominal: Bools
    specs: list[ColumnSpec]
    weights: Floats

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return len(self.values)


def by_score(scores: Sequence[float] | Floats) -> Ints:
    """Best first; the lowest column first among equals."""
    return np.argsort(-np.asarray(scores), kind="stable").astype(np.int64)


def check_classes_differ(n_classes: int) -> None:
    """A ranking needs rows that differ in what they belong to."""
    if n_classes < 2:
        raise ValueError("y must tell rows apart; got the same labels in all of them.")


def level_error(name: str, n_levels: int) -> ValueError:
    """What is said of a column of more levels than there are codes."""
    return ValueError(
        f"column {name!r} has {n_levels} levels, but this ranking counts: at most {MOST_CODES} are "
        "allowed. Join rare levels first."
    )


_Method = TypeVar("_Method", bound=type[RankingMethod])

# Tables of the examples: one column that repeats another, and two that tell all together.
_TABLES = {
    "copy": ("[0, 0, 1, 1] * 5", "[np.arange(20) % 2, y, y]", ""),
    "pair": (
        "[0, 1, 2, 3] * 5",
        "[y // 2, y // 2, y % 2]",
        "The second column repeats the first; together with the first, the last one tells all:\n\n",
    ),
}


def example(table: str, order: str, call: str = "") -> Callable[[_Method], _Method]:
    """Put an example that runs, on one of `_TABLES`, at the end of a ranking's docstring."""

    def decorate(method: _Method) -> _Method:
        y, X, text = _TABLES[table]
        lines = [
            "Examples",
            "--------",
            *text.splitlines(),
            ">>> import numpy as np",
            ">>> from bayesieve import rank",
            f">>> from bayesieve.rankings import {method.__name__}",
            f">>> y = np.array({y})",
            f">>> X = np.column_stack({X})",
            f">>> rank(X, y, {call or f'{method.__name__}()'}).order",
            f"array({order})",
        ]
        method.__doc__ = "\n".join([f"{cleandoc(method.__doc__ or '')}\n", *lines])
        return method

    return decorate
