"""What a criterion offers a search, and a form that is easy to write."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..data.kernels.options import ERROR, LOG_LIKELIHOOD

#: A loss that compares exactly: lower is better.  Integers for the criteria of this package.
Key = Any


class Book(Protocol):
    """What a criterion sees of a ledger: lines, sums and terms as the kernels read them."""

    form: str
    lines: Any
    sums: NDArray[np.int64]
    n_classes: int
    factors: list[int]
    scale: Any
    slots: NDArray[np.int64]
    codes: NDArray[np.uint8]
    n_codes: NDArray[np.int64]
    offsets: NDArray[np.int64]
    table: NDArray[np.int64]
    linear: dict[int, NDArray[np.float32]]
    linear_ok: NDArray[np.bool_]
    columns: NDArray[np.int64]
    lazy: bool

    def gathered(self, features: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...


class Runner(Protocol):
    """What a criterion sees of an engine."""

    def run(self, task: Any, n_items: int, n_cells: int) -> None: ...


@dataclass(frozen=True)
class Units:
    """Groups of features that move together, as the kernels read them.

    Examples
    --------
    >>> from bayesieve.criteria import Units
    >>> units = Units(((0,), (1, 2)))
    >>> len(units), [part.tolist() for part in units.flat()]
    (2, [[0, 1, 3], [0, 1, 2]])
    """

    members: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.members)

    def flat(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each unit's features start, and the features."""
        pointers = np.cumsum([0, *(len(unit) for unit in self.members)])
        features = [feature for unit in self.members for feature in unit]
        return pointers.astype(np.int64), np.array(features, np.int64)


class Scorer(Protocol):
    """Answers for one ledger.

    Examples
    --------
    Criteria make them; a selector asks them:

    >>> from bayesieve.criteria import Criterion, Scorer
    >>> sorted(name for name in vars(Scorer) if not name.startswith("_"))
    ['best', 'current', 'refresh', 'value', 'what_if']
    """

    def refresh(self) -> None:
        """The sums have changed."""

    def current(self) -> Key:
        """Loss of the ledger as it is."""

    def what_if(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact loss after each unit alone joins (1) or leaves (-1)."""

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """The unit with the lowest loss, the first of equals, and that loss."""

    def value(self, key: Key) -> float:
        """The loss in the criterion's own units."""


def grain_bits(kind: int, book: Any, total: int) -> int:
    """The finest rounding of a line's value for which the sum over lines fits an int64."""
    if kind == ERROR:
        return 0
    largest = 1.0
    if kind == LOG_LIKELIHOOD:
        largest = 2 * book.scale.bound + math.log(book.n_classes)
    return min(40, 61 - math.ceil(math.log2(max(total * largest, 1.0))))


class Criterion:
    """A criterion written as a function of the scores.

    Subclass it, set `name`, and give `loss`; every search then works with it.  The members of this
    package override `scorer` to be fast.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.criteria import Criterion
    >>> class Margin(Criterion):
    ...     name = "margin"
    ...     def loss(self, scores, classes, weights):
    ...         own = scores[np.arange(len(classes)), classes]
    ...         return -float(weights @ (own - scores.mean(axis=1)))
    >>> X = np.array([[0, 1], [0, 0], [1, 1], [1, 0]] * 3)
    >>> y = np.array([0, 0, 1, 1] * 3)
    >>> selector = NaiveBayesSelector(criterion=Margin(), validation=None).fit(X, y)
    >>> selector.selected_
    array([0])
    """

    name = "custom"
    #: The form of ledger it reads: "lines" (dense), "moves" (sparse), or None for either.
    form: str | None = "lines"
    #: True where the validation part is to choose by this criterion instead of the error.
    chooses = False

    def loss(
        self,
        scores: NDArray[np.float64],
        classes: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> float:
        """Loss (lower is better) of log-scores, lines x classes, against the true classes."""
        raise NotImplementedError(
            f"criterion {type(self).__name__!r} must define loss(scores, classes, weights)."
        )

    def scorer(self, book: Book, units: Units, engine: Runner) -> Scorer:
        """A scorer that calls `loss` once a candidate."""
        return _PlainScorer(self, book, units)


class _PlainScorer:
    """One call of the user's function a candidate: simple, and as slow as that function."""

    def __init__(self, criterion: Criterion, book: Book, units: Units):
        self._criterion = criterion
        self._book = book
        self._units = units
        lines = book.lines
        self._classes = lines.labels
        weights = lines.weights if lines.weights.size else np.ones(lines.rows.size, np.int64)
        self._weights = weights * np.array(book.factors, dtype=np.float64)[self._classes]

    def refresh(self) -> None:
        """Nothing is kept between questions."""

    def current(self) -> Key:
        """Loss of the ledger as it is."""
        return self._loss(self._book.sums)

    def what_if(self, units: Sequence[int], sign: int) -> list[Key]:
        """Loss after each unit alone has moved."""
        return [self._loss(self._moved(unit, sign)) for unit in units]

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """First unit of lowest loss."""
        keys = self.what_if(units, sign)
        at = min(range(len(keys)), key=keys.__getitem__)
        return units[at], keys[at]

    def value(self, key: Key) -> float:
        """The loss is its own value."""
        return float(key)

    def _moved(self, unit: int, sign: int) -> NDArray[np.int64]:
        from ..engine.kernels.ledger import apply_feature

        book = self._book
        sums = book.sums.copy()
        slots, columns = book.gathered(self._units.members[unit])
        for slot in slots:
            apply_feature(
                sums, book.lines.pieces, book.lines.sets, book.codes, book.n_codes, book.offsets,
                book.table, columns, slot, sign,
            )  # fmt: skip
        return sums

    def _loss(self, sums: NDArray[np.int64]) -> float:
        scores = np.ldexp(sums.T.astype(np.float64), -self._book.scale.bits)
        return self._criterion.loss(scores, self._classes, self._weights)
