"""The ledger contract: methods that dense, sparse, weighted, GPU and Dask ledgers share.

A ledger owns rows: the running sums of their scores, and what a term would add to them.  Nobody
else touches these arrays.  Questions and answers are plain data that could travel to another
process; answers of parts of the rows add up to the answer of all of them.

A term is a column, or a pair of columns with a table of its own.  It speaks by a weight in
sixteenths; a column that is simply in has weight sixteen.  A ledger declares what it offers: all
let whole columns join and leave, some know the weights between.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..models.log_ratios import WEIGHT_STEPS

if TYPE_CHECKING:
    from .weighted import TermTables

Ints = NDArray[np.int64]


Floats = NDArray[np.float64]


#: Asks for the ledger as it is, among the units asked for.
AS_IT_IS = -1


#: The weight of a column that is simply in, in sixteenths.
WHOLE = WEIGHT_STEPS


@dataclass(frozen=True)
class Units:
    """Groups of terms that move together.

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
        """Where each unit's terms start, and the terms."""
        ends = np.cumsum([0, *map(len, self.members)], dtype=np.int64)
        return ends, np.concatenate([(), *self.members]).astype(np.int64)


#: For questions about a ledger as it is.
NO_UNITS = Units(())


@dataclass(frozen=True)
class Measure:
    """Measure that a ledger computes from its sums.

    Parameters
    ----------
    kind : "error", "probability" and "log-likelihood" add up over rows; "pairs" does not.
    bits : the value of a row is rounded to 2^-bits before it is added up.
    """

    kind: str
    bits: int = 0

    @property
    def adds_over_rows(self) -> bool:
        """Whether the measure adds up over parts of the rows."""
        return self.kind != "pairs"


class Outline(NamedTuple):
    """Shape of a ledger that criteria read; the same for all parts of its rows."""

    n_classes: int
    labels: tuple[str, ...]  #: names of the problems: one for classes, one a label
    labelled: bool  #: a matrix of labels was given
    factors: tuple[int, ...]  #: what a row of each class counts
    bits: int  #: scores are whole multiples of 2^-bits nat
    bound: float  #: no score is further from 0, in nat

    @property
    def odds(self) -> bool:
        """Whether all problems have two classes, so that log-odds suffice."""
        return self.n_classes == 2


class Scores(NamedTuple):
    """The sums of some lines for one subset."""

    rows: Ints  #: number of the row behind each line
    sets: Ints  #: the fold each line is scored in
    weights: Ints  #: how often each line counts
    classes: Ints  #: true classes, problems x lines
    sums: Ints  #: problems x lines x classes, in units of 2^-bits nat


class Offers(NamedTuple):
    """Optional capabilities of a ledger."""

    measures: tuple[str, ...]  #: kinds of measures that it answers
    tables: "TermTables | None" = None  #: of terms of any weight; None: whole columns alone
    bits: int = 0  #: losses of weighted terms are whole multiples of 2^-bits nat
    n_folds: int = 1  #: so many tables of each term lie one below the other

    @property
    def measure(self) -> Measure:
        """The loss by which weights are fitted."""
        return Measure("log-likelihood", self.bits)

    def over_parts(self) -> "Offers":
        """What is left where the rows are in several ledgers."""
        adds = tuple(kind for kind in self.measures if Measure(kind).adds_over_rows)
        return self._replace(measures=adds)


#: Measures of ledgers in which whole columns join and leave.
ROW_MEASURES = ("error", "probability", "log-likelihood")


class Bounds(NamedTuple):
    """Fast losses with their error bounds; infinite where no fast bound is known."""

    losses: Floats
    doubts: Floats


class Slopes(NamedTuple):
    """Gradient and curvature by code: of term i, codes x (planes + classes), flat, from at[i] on.

    Posteriors are in fixed point: all sums are integers.
    """

    sums: Ints
    at: Ints


class Ledger(Protocol):
    """Ledger contract: holds the running log-scores of rows, and answers losses of changes.

    Attributes
    ----------
    outline : what is known beforehand.
    offers : what it can be asked beside what all can.
    """

    outline: Outline
    offers: Offers

    def totals(self) -> Ints:
        """Weight of the lines: problems x folds x classes.  Adds up over parts of the rows."""

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Raise the weights of terms by steps, in sixteenths.

        Parameters
        ----------
        terms : which.
        steps : one number for all, or terms x classes; `WHOLE` lets columns join, -`WHOLE` leave.
        """

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """Exact loss after each unit alone has been raised by steps: units x cells.

        Cells are the true classes; for "pairs", problems x folds; of weighted terms, whose lines
        count as much as their class, one.  Adds up over parts.
        """

    def scores(self, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> Iterator[Scores]:
        """The sums after whole columns have joined and left, part by part; the ledger stays."""

    def bounds(self, measure: Measure, units: Units, which: Ints, steps: int) -> Bounds:
        """Fast losses, class factors included, and their doubts.  Both add up over parts.

        Nothing is ruled out where no way is faster than the exact one.
        """
        return Bounds(np.zeros(len(which)), np.full(len(which), np.inf))

    def walk(self, measure: Measure, units: Units, which: Ints, steps: Ints) -> Ints:
        """Raise units by steps in turn; the loss after each: moves x cells."""
        found: list[Ints] = []
        taken: list[tuple[int, int]] = []
        try:
            for unit, step in zip(which.tolist(), steps.tolist(), strict=True):
                self.apply(units.members[unit], step)
                taken.append((unit, step))
                found.append(self.losses(measure, units, np.array([AS_IT_IS]), WHOLE)[0])
        except BaseException:
            # An interrupt leaves the ledger where it was: all of the walk happens or nothing.
            for unit, step in taken:
                self.apply(units.members[unit], -step)
            raise
        return np.stack(found)

    # -- weighted terms ------------------------------------------------------------------------

    def slopes(self, which: Sequence[int]) -> Slopes:
        """What the weights of some terms could gain.  Adds up over parts."""
        raise _whole_columns_alone("a question about weights")

    def balance(self) -> Ints:
        """What constants could gain: sums by true class x (planes + 1).  Adds up over parts."""
        raise _whole_columns_alone("a question about constants")

    def shift(self, steps: Ints) -> None:
        """Raise the constants by steps, in sixty-fourths of a nat."""
        raise _whole_columns_alone("steps of constants")

    def add(self, terms: Sequence[int], tables: Sequence[Ints]) -> None:
        """Add to what terms say, whatever their weights: codes x classes, in units of scores."""
        raise _whole_columns_alone("corrections of tables")


#: Do whole columns join (1) or leave (-1)?  By the steps of their weights.
SIGNS = {WHOLE: 1, -WHOLE: -1}


def sign_of(steps: int | Ints) -> int:
    """Do whole columns join (1) or leave (-1)?  For ledgers that know no weights between.

    Examples
    --------
    >>> from bayesieve.engine.contract import WHOLE, sign_of
    >>> sign_of(WHOLE), sign_of(-WHOLE)
    (1, -1)
    """
    only = np.unique(steps).tolist()
    if len(only) == 1 and only[0] in SIGNS:
        return SIGNS[only[0]]
    raise _whole_columns_alone(f"steps of {np.asarray(steps).tolist()}")


def _whole_columns_alone(request: str) -> ValueError:
    return ValueError(
        f"in this ledger whole columns join and leave, by {WHOLE} and -{WHOLE} sixteenths; got "
        f"{request}. Ask a ledger of weighted terms."
    )


def tables_of(ledger: Ledger) -> "TermTables":
    """What the terms of a ledger say; refused where whole columns alone join and leave."""
    found = ledger.offers.tables
    if found is None:
        raise _whole_columns_alone("a question about weights")
    return found


# -- Rows in several ledgers -----------------------------------------------------------------------


class Partitioned(Ledger):
    """Ledger over parts of the rows, each in its own ledger; answers are sums.

    Tables, factors and everything else that is known beforehand are the same in all parts, so that
    the answers, and with them every step of a search, are those of a ledger of all rows.

    Parameters
    ----------
    parts : ledgers of disjoint rows.

    Examples
    --------
    >>> from bayesieve.engine.contract import Measure
    >>> Measure("error").adds_over_rows, Measure("pairs").adds_over_rows
    (True, False)
    """

    def __init__(self, parts: Sequence[Ledger]):
        self._parts = tuple(parts)
        self.outline, self.offers = parts[0].outline, parts[0].offers.over_parts()

    def totals(self) -> Ints:
        """Weight of the lines of all parts."""
        return np.sum([part.totals() for part in self._parts], axis=0)

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Raise weights in every part."""
        for part in self._parts:
            part.apply(terms, steps)

    def shift(self, steps: Ints) -> None:
        """Raise constants in every part."""
        for part in self._parts:
            part.shift(steps)

    def add(self, terms: Sequence[int], tables: Sequence[Ints]) -> None:
        """Add to what terms say in every part."""
        for part in self._parts:
            part.add(terms, tables)

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """Exact losses: integers add up in any order."""
        check_adds(measure)
        return np.sum([part.losses(measure, units, which, steps) for part in self._parts], axis=0)

    def bounds(self, measure: Measure, units: Units, which: Ints, steps: int) -> Bounds:
        """Fast losses add up, and so do their doubts."""
        check_adds(measure)
        found = [part.bounds(measure, units, which, steps) for part in self._parts]
        losses = np.sum([each.losses for each in found], axis=0)
        return Bounds(losses, np.sum([each.doubts for each in found], axis=0))

    def walk(self, measure: Measure, units: Units, which: Ints, steps: Ints) -> Ints:
        """Losses along a walk, by one request to every part."""
        check_adds(measure)
        return np.sum([part.walk(measure, units, which, steps) for part in self._parts], axis=0)

    def slopes(self, which: Sequence[int]) -> Slopes:
        """Gradients of the weights over all parts."""
        found = [part.slopes(which) for part in self._parts]
        return Slopes(np.sum([each.sums for each in found], axis=0), found[0].at)

    def balance(self) -> Ints:
        """Gradients of the constants over all parts."""
        return np.sum([part.balance() for part in self._parts], axis=0)

    def scores(self, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> Iterator[Scores]:
        """The sums, part by part."""
        for part in self._parts:
            yield from part.scores(joining, leaving)


def check_adds(measure: Measure) -> None:
    """Refuse a measure that does not add up over rows."""
    if not measure.adds_over_rows:
        raise ValueError(
            "AUC compares rows of all parts with each other: it does not add up over parts of the "
            "rows. Use criterion='error', 'probability' or 'log-likelihood'."
        )
