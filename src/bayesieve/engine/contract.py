"""What every ledger answers.

A ledger owns rows: the running sums of their scores, and what a column would add to them.  Nobody
else touches these arrays.  Questions and answers are plain data that could travel to another
process; answers of parts of the rows add up to the answer of all of them.

In a `Ledger` whole columns join and leave; in a `WeightLedger` terms speak by weights, sixteenth by
sixteenth, and it tells what the weights of each could gain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .weighted import TermTables

Ints = NDArray[np.int64]


Floats = NDArray[np.float64]


#: Asks for the ledger as it is, among the units asked for.
AS_IT_IS = -1


@dataclass(frozen=True)
class Units:
    """Groups of columns that move together.

    Examples
    --------
    >>> from bayesieve.engine.contract import Units
    >>> units = Units(((0,), (1, 2)))
    >>> len(units), [part.tolist() for part in units.flat]
    (2, [[0, 1, 3], [0, 1, 2]])
    """

    members: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def flat(self) -> tuple[Ints, Ints]:
        """Where each unit's columns start, and the columns."""
        ends = np.cumsum([0, *map(len, self.members)], dtype=np.int64)
        return ends, np.concatenate(self.members).astype(np.int64)


@dataclass(frozen=True)
class Measure:
    """What is asked of the sums.

    Parameters
    ----------
    kind : "error", "probability" and "log-likelihood" add up over rows; "pairs" does not.
    bits : the value of a row is rounded to 2^-bits before it is added up.
    """

    kind: str
    bits: int = 0

    @property
    def adds_over_rows(self) -> bool:
        """Is the answer of all rows the sum of the answers of parts of them?"""
        return self.kind != "pairs"


class Outline(NamedTuple):
    """What criteria need to know of a ledger beforehand; the same for all parts of its rows."""

    n_classes: int
    labels: tuple[str, ...]  #: names of the problems: one for classes, one a label
    labelled: bool  #: a matrix of labels was given
    factors: tuple[int, ...]  #: what a row of each class counts
    bits: int  #: scores are whole multiples of 2^-bits nat
    bound: float  #: no score is further from 0, in nat

    @property
    def odds(self) -> bool:
        """Two classes everywhere: the log-odds of the second say all."""
        return self.n_classes == 2


class Scores(NamedTuple):
    """The sums of some lines for one subset."""

    rows: Ints  #: number of the row behind each line
    sets: Ints  #: the fold each line is scored in
    weights: Ints  #: how often each line counts
    classes: Ints  #: true classes, problems x lines
    sums: Ints  #: problems x lines x classes, in units of 2^-bits nat


class Bounds(NamedTuple):
    """Fast losses and how far each may be off; infinitely far where nothing fast is known."""

    losses: Floats
    doubts: Floats


class Ledger(Protocol):
    """Where rows live."""

    @property
    def outline(self) -> Outline:
        """What is known beforehand."""

    def totals(self) -> Ints:
        """Weight of the lines: problems x folds x classes.  Adds up over parts of the rows."""

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Let columns join (1) or leave (-1)."""

    def losses(self, measure: Measure, units: Units, which: Ints, sign: int) -> Ints:
        """Exact loss after each unit alone has moved: units x cells.  Adds up over parts.

        Cells are the true classes; for "pairs", problems x folds.
        """

    def bounds(self, measure: Measure, units: Units, which: Ints, sign: int) -> Bounds:
        """Fast losses, class factors included, and their doubts.  Both add up over parts."""

    def walk(self, measure: Measure, units: Units, which: Ints, signs: Ints) -> Ints:
        """Let units join (1) or leave (-1) in turn; the loss after each: steps x cells."""

    def scores(self, joining: Sequence[int], leaving: Sequence[int]) -> Iterator[Scores]:
        """The sums after these columns have joined and left, part by part; the ledger stays."""


class Slopes(NamedTuple):
    """Gradient and curvature by code: of term i, codes x (planes + classes), flat, from at[i] on.

    Posteriors are in fixed point: all sums are integers.
    """

    sums: Ints
    at: Ints


class WeightLedger(Protocol):
    """Where rows live that are scored by weighted terms, each without itself."""

    @property
    def tables(self) -> "TermTables":
        """What the terms say; the same for all parts of the rows."""

    @property
    def grain(self) -> float:
        """Losses are whole multiples of 1 / grain nat."""

    def loss(self) -> int:
        """Log-loss of all lines, each left out of its own tables.  Adds up over parts."""

    def balance(self) -> Ints:
        """What constants could gain: sums by true class x (planes + 1).  Adds up over parts."""

    def slopes(self, which: Sequence[int]) -> Slopes:
        """What the weights of some terms could gain.  Adds up over parts."""

    def apply(self, terms: Sequence[int], steps: Ints) -> None:
        """Raise the weights of terms by steps, in sixteenths: terms x classes."""

    def shift(self, steps: Ints) -> None:
        """Raise the constants by steps, in sixty-fourths of a nat."""

    def scores(self) -> Iterator[Scores]:
        """The sums as they are, part by part."""


def walk(ledger: Ledger, measure: Measure, units: Units, which: Ints, signs: Ints) -> Ints:
    """Step by step: for ledgers that know no shorter way."""
    found: list[Ints] = []
    taken: list[tuple[int, int]] = []
    try:
        for unit, sign in zip(which.tolist(), signs.tolist(), strict=True):
            ledger.apply(units.members[unit], sign)
            taken.append((unit, sign))
            found.append(ledger.losses(measure, units, np.array([AS_IT_IS]), 1)[0])
    except BaseException:
        # An interrupt leaves the ledger where it was: all of the walk happens or nothing.
        for unit, sign in taken:
            ledger.apply(units.members[unit], -sign)
        raise
    return np.stack(found)
