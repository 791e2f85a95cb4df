"""Corrections: small changes of tables, so that terms are right together and not each alone.

A term says w L + D: counts, weighted, and a correction D of each code and class, fitted to what the
other terms leave unexplained.  Corrections are penalised: neighbours along numbers are drawn
together, everything is drawn to 0.  Where that pays, a number has a line along its ranks as well.
All are fitted at once, from integer sums by code that add up over parts of the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..data.kernels.options import POSTERIOR_BITS
from ..engine.contract import AS_IT_IS, NO_UNITS, WHOLE, Ledger, tables_of
from ..models.base import CORRECTION_BITS, SCORE_BITS, Floats, Ints

#: Squared nat by which a table may change, from little to much.
FREEDOMS = (0.04, 0.16, 0.64, 2.5, 10.0, 40.0)

#: Squared nat by which a line may rise in a standard deviation of rank; 0: no lines.
SLOPES = (0.0, 3.0, 30.0)

#: With this freedom terms are looked for that speak only together with others.
LATE_FREEDOM = 0.64

#: A cell of a pair may change by this share of it.
PAIR_SHARE = 0.25

# No table changes by more than this, in nat.
_MOST = 4.0

# On the way corrections are finer than in the end.
_FINE_BITS = 20

# The descent: steps that it remembers, steps at most, and what a step gains at least, nat a row.
_MEMORY, _MOST_STEPS, _CLOSE = 10, 40, 2e-4

# A step changes no table by more than this, in nat; it is halved so often at most.
_FAR, _MOST_HALVINGS = 1.0, 6

# Numbers that one request for promises holds at a time.
_MOST_SUMS = 1 << 23

_NOW = np.array([AS_IT_IS])


@dataclass(frozen=True)
class Form:
    """How the codes of a term lie: side by side where they come from numbers.

    Parameters
    ----------
    columns : one, or the two of a pair.
    sizes : codes of the column, or groups of both; what says nothing is not among them.
    ranks : of each column, mid-ranks of its codes in standard deviations; None: it is no number.
    rows : behind each code; of a pair's cell, with those next to it along numbers.
    """

    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    ranks: tuple[Floats | None, ...]
    rows: Floats

    @classmethod
    def of(cls, columns: tuple[int, ...], counts: Floats, numbers: Sequence[bool]) -> "Form":
        """The form of a column, or of a pair of them, from rows by code, or groups x groups."""
        axes, rows = range(counts.ndim), counts
        both = [counts.sum(tuple(b for b in axes if b != axis)) for axis in axes]
        ranks = [mid_ranks(each) if n else None for each, n in zip(both, numbers, strict=True)]
        if len(columns) == 2:
            for axis in np.flatnonzero(numbers).tolist():
                wide = np.pad(rows, [(int(axis == b),) * 2 for b in axes])
                rows = sliding_window_view(wide, 3, axis).sum(-1)
        return cls(columns, counts.shape, tuple(ranks), rows.ravel())

    @property
    def n_codes(self) -> int:
        """Codes that say something."""
        return prod(self.sizes)

    def line(self, axis: int) -> Floats:
        """The ranks of one column at every code."""
        ranks = self.ranks[axis]
        assert ranks is not None
        if len(self.sizes) == 1:
            return ranks
        return np.repeat(ranks, self.sizes[1]) if axis == 0 else np.tile(ranks, self.sizes[0])


def mid_ranks(counts: Floats) -> Floats:
    """Mid-ranks of codes, less their mean, in standard deviations.

    Parameters
    ----------
    counts : rows of each code.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.corrections import mid_ranks
    >>> mid_ranks(np.array([1.0, 2.0, 1.0])).round(3).tolist()
    [-1.414, 0.0, 1.414]
    """
    total = max(float(counts.sum()), 1.0)
    ranks = (np.cumsum(counts) - counts / 2) / total
    ranks = ranks - float((ranks * counts).sum()) / total
    spread = float(np.sqrt((ranks**2 * counts).sum() / total))
    found: Floats = ranks / spread if spread > 0 else 0 * ranks
    return found


@dataclass(frozen=True)
class Penalty:
    """How strongly codes are drawn to 0 and to their neighbours, term by term."""

    ends: Ints  #: first code of each term, and the number of codes
    inner: Ints  #: groups of a pair's second column; 1 for columns
    along: Floats  #: along a column, or a pair's first one
    across: Floats  #: along a pair's second column
    ridge: Floats  #: to 0

    @classmethod
    def of(cls, forms: Sequence[Form], freedom: float, pair_share: float = PAIR_SHARE) -> "Penalty":
        """The penalty at which a table typically changes by so many squared nat."""
        inner = [form.sizes[1] if len(form.sizes) == 2 else 1 for form in forms]
        lines = []
        for form in forms:
            numbers = [ranks is not None for ranks in form.ranks]
            paired = len(form.sizes) == 2
            weight = 1 / (freedom * (pair_share if paired else 1.0))
            ridge = weight
            for size, number in zip(form.sizes, numbers, strict=True):
                ridge /= size if number else 1
            steps = 1 if paired else max(form.n_codes - 1, 1)
            lines.append((steps * weight * numbers[0], weight * (paired and numbers[-1]), ridge))
        along, across, ridges = np.array(lines, float).reshape(-1, 3).T.copy()
        ends = np.cumsum([0, *(form.n_codes for form in forms)])
        return cls(ends, np.array(inner, np.int64), along, across, ridges)

    def alone(self, t: int) -> tuple[Ints, Ints, Floats, Floats, Floats]:
        """That of one term, as kernels take it."""
        ends, some = np.array([0, self.ends[t + 1] - self.ends[t]]), slice(t, t + 1)
        return ends, self.inner[some], self.along[some], self.across[some], self.ridge[some]

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats, Floats, Floats]:
        """As kernels take them."""
        return self.ends, self.inner, self.along, self.across, self.ridge


@dataclass(frozen=True)
class Unknowns:
    """Corrections as the descent sees them: tables, one below the other, and slopes of lines."""

    tables: Floats
    slopes: Floats

    def plus(self, share: float, other: "Unknowns") -> "Unknowns":
        """As far towards another one."""
        return Unknowns(self.tables + share * other.tables, self.slopes + share * other.slopes)

    def times(self, other: "Unknowns") -> float:
        """The sum of all products."""
        return float((self.tables * other.tables).sum() + (self.slopes * other.slopes).sum())


class Corrections:
    """The corrections of some terms, fitted all at once to the lines of a ledger.

    Parameters
    ----------
    ledger : lines, each left out of its own tables, at the weights that stand.
    terms, forms : which may be corrected, and how their codes lie.
    shared : what a row of weight 1 counts in the ledger.
    n_rows : weight of all rows.
    start : where to begin: tables by term, in whole units of 2^-CORRECTION_BITS nat.
    said : what each term says without corrections, codes x classes, in nat; where that is known,
        no code says more with them than its rows allow.
    """

    def __init__(
        self,
        ledger: Ledger,
        terms: Sequence[int],
        forms: Sequence[Form],
        shared: float,
        n_rows: float,
        start: Mapping[int, Ints] | None = None,
        said: Sequence[Floats] | None = None,
    ):
        self._ledger, self._terms, self._forms = ledger, list(terms), list(forms)
        self._shared, self._n_rows, self._said = shared, n_rows, said
        self._tables, self._n_folds = tables_of(ledger), ledger.offers.n_folds
        self._k = self._tables.n_classes
        self._ends = np.cumsum([0, *(form.n_codes for form in forms)])
        # Lines may have a code more, which says nothing.
        sizes = [int(self._tables.n_codes[term]) // self._n_folds for term in terms]
        self._line_ends = np.cumsum([0, *sizes])
        firsts = np.repeat(self._line_ends[:-1] - self._ends[:-1], np.diff(self._ends))
        self._in_lines = np.arange(self._ends[-1]) + firsts
        self._lines = _lines_of(forms)
        self._placed = np.zeros((self._ends[-1], self._k), np.int64)
        first = np.zeros((self._ends[-1], self._k))
        for t, term in enumerate(terms):
            if start and term in start:
                first[self._rows(t)] = np.ldexp(start[term].astype(float), -CORRECTION_BITS)
        self._point = Unknowns(first, np.zeros((len(self._lines), self._k)))

    def fit(
        self,
        freedom: float,
        slope: float,
        steps: int | None = None,
        pair_share: float = PAIR_SHARE,
    ) -> dict[int, Ints]:
        """Corrections by term, from where the last ones stand; they are added to the ledger.

        Parameters
        ----------
        freedom : squared nat by which a table may change.
        slope : squared nat by which a line may rise in a standard deviation of rank; 0: no lines.
        steps : of the descent, at most; None: as many as it takes.
        pair_share : cells of pairs may change by this share of the freedom.
        """
        if self._terms:
            self._penalty, self._slope = Penalty.of(self._forms, freedom, pair_share), slope
            if not slope:
                self._point = Unknowns(self._point.tables, 0 * self._point.slopes)
            self._descend(steps or _MOST_STEPS)
        tables = self._tables_at(self._point)
        for t, said in enumerate(self._said or ()):
            tables[self._rows(t)] = held_to_rows(tables[self._rows(t)], said, self._forms[t])
        whole = self._put(tables, CORRECTION_BITS) >> (SCORE_BITS - CORRECTION_BITS)
        return {term: whole[self._rows(t)].copy() for t, term in enumerate(self._terms)}

    # -- what the ledger holds, and says -----------------------------------------------------------

    def _rows(self, t: int) -> slice:
        return slice(self._ends[t], self._ends[t + 1])

    def _tables_of(self, point: Unknowns) -> Floats:
        """Tables and lines together."""
        tables = point.tables.copy()
        for (t, axis), slope in zip(self._lines, point.slopes, strict=True):
            if slope.any():
                tables[self._rows(t)] += self._forms[t].line(axis)[:, None] * slope
        return tables

    def _tables_at(self, point: Unknowns) -> Floats:
        """Tables and lines together, as far as they may change."""
        found: Floats = np.clip(self._tables_of(point), -_MOST, _MOST)
        return found

    def _put(self, tables: Floats, bits: int) -> Ints:
        """Let the ledger have these corrections, and no others; in units of scores."""
        whole = np.rint(np.ldexp(tables, bits)).astype(np.int64) << (SCORE_BITS - bits)
        change = np.zeros((self._line_ends[-1], self._k), np.int64)
        change[self._in_lines] = whole - self._placed
        if change.any():
            moved = [change[lo:hi] for lo, hi in pairwise(self._line_ends.tolist())]
            self._ledger.add(self._terms, moved)
        self._placed = whole
        return whole

    def _look(self, point: Unknowns) -> tuple[float, Unknowns, Floats]:
        """Penalised loss, its gradient, and the curvature by code and class."""
        from ..engine.kernels.weighted import draw, unexplained

        self._put(self._tables_at(point), _FINE_BITS)
        ledger, scale = self._ledger, 2.0**-POSTERIOR_BITS / self._shared
        units = ledger.losses(ledger.offers.measure, NO_UNITS, _NOW, WHOLE)[0, 0]
        loss = float(units) / 2.0**ledger.offers.bits / self._shared
        slopes = ledger.slopes(self._terms)
        left, curve = np.zeros(point.tables.shape), np.zeros(point.tables.shape)
        for t in range(len(self._terms)):
            mine = slopes.sums[slopes.at[t] : slopes.at[t + 1]]
            mine = mine.reshape(self._n_folds, -1, self._tables.width)
            rows = self._rows(t)
            unexplained(mine, self._tables.full, scale, left[rows], curve[rows])
        pull = np.empty(point.tables.shape)
        loss += draw(point.tables, *self._penalty.arrays, pull)
        bent = np.zeros(point.slopes.shape)
        if self._slope:
            loss += 0.5 * float((point.slopes**2).sum()) / self._slope
            for at, (t, axis) in enumerate(self._lines):
                line = self._forms[t].line(axis)[:, None]
                bent[at] = point.slopes[at] / self._slope - (line * left[self._rows(t)]).sum(0)
        return loss, Unknowns(pull - left, bent), curve

    # -- the descent: L-BFGS, its first guess of the curvature being that of each table alone ------

    def _descend(self, most_steps: int) -> None:
        point, close = self._point, _CLOSE * self._n_rows
        loss, gradient, curve = self._look(point)
        steep = np.ones(point.slopes.shape)
        for at, (t, axis) in enumerate(self._lines):
            line = self._forms[t].line(axis)[:, None]
            steep[at] = (line**2 * curve[self._rows(t)]).sum(0) + 1 / (self._slope or 1.0)
        curve = curve + 1e-9
        steps: list[tuple[Unknowns, Unknowns]] = []
        for _ in range(most_steps):
            way = self._way(gradient, steps, curve, steep)
            fall = way.times(gradient)
            if fall < close:
                break
            # Where classes can be told apart, a whole step leads far beyond what was seen.
            share = min(1.0, _FAR / float(np.abs(self._tables_of(way)).max()))
            for _ in range(_MOST_HALVINGS):
                new = point.plus(-share, way)
                found = self._look(new)
                if found[0] <= loss - 1e-4 * share * fall:
                    break
                share /= 2
            else:
                if not steps:
                    break
                steps = []
                continue
            moved, bent = new.plus(-1, point), found[1].plus(-1, gradient)
            if moved.times(bent) > 0:
                steps = [*steps, (moved, bent)][-_MEMORY:]
            gained = loss - found[0]
            point, loss, gradient = new, found[0], found[1]
            if gained < close:
                break
        self._point = point

    def _way(
        self,
        gradient: Unknowns,
        steps: Sequence[tuple[Unknowns, Unknowns]],
        curve: Floats,
        steep: Floats,
    ) -> Unknowns:
        """The gradient, times what the steps so far tell of the inverse curvature."""
        from ..engine.kernels.weighted import relax

        way, shares = gradient, []
        for moved, bent in reversed(steps):
            shares.append(moved.times(way) / moved.times(bent))
            way = way.plus(-shares[-1], bent)
        tables = np.empty(way.tables.shape)
        relax(way.tables, curve, *self._penalty.arrays, tables)
        way = Unknowns(tables, way.slopes / steep)
        for (moved, bent), share in zip(steps, reversed(shares), strict=True):
            way = way.plus(share - bent.times(way) / moved.times(bent), moved)
        return way


def held_to_rows(table: Floats, said: Floats, form: Form) -> Floats:
    """A correction with which no code says more than its rows allow, or than it says without.

    Parameters
    ----------
    table, said : the correction, and what the term says without it: codes x classes, in nat.
    form : how the codes lie, and the rows behind them.

    Examples
    --------
    One row cannot say four times, however well that went with the other terms:

    >>> import numpy as np
    >>> from bayesieve.search.corrections import Form, held_to_rows
    >>> form = Form.of((0,), np.array([1.0, 90.0]), [False])
    >>> table = np.log(np.array([[1.0, 4.0], [1.0, 4.0]]))
    >>> np.exp(held_to_rows(table, np.zeros((2, 2)), form)[:, 1]).round(2)
    array([2.05, 4.  ])
    """
    from ..models.kernels.density import shares_held

    whole, shares = table + said, np.empty(table.shape)
    shares_held(form.rows, len(form.sizes) == 1 and form.ranks[0] is not None, whole, shares)
    # Of two classes the one against the other, of more each against all.
    before, after = (np.diff(each) if each.shape[1] == 2 else each for each in (said, whole))
    kept = np.divide(before, after, out=np.zeros_like(after), where=after != 0)
    shares = np.maximum(shares, np.clip(kept, 0.0, 1.0))
    found: Floats = np.where(shares < 1, shares * whole - said, table)
    return found


def swap(ledger: Ledger, old: Mapping[int, Ints], new: Mapping[int, Ints]) -> None:
    """Take corrections off a ledger, and add others; by term, in whole units."""
    tables, n_folds = tables_of(ledger), ledger.offers.n_folds
    changes = {term: -table for term, table in old.items()}
    for term, table in new.items():
        changes[term] = changes[term] + table if term in changes else table
    changes = {term: table for term, table in changes.items() if table.any()}
    if changes:
        sizes = [int(tables.n_codes[term]) // n_folds for term in changes]
        whole = [table << (SCORE_BITS - CORRECTION_BITS) for table in changes.values()]
        # Lines may have a code more, which says nothing.
        wide = [
            np.pad(table, ((0, size - len(table)), (0, 0)))
            for table, size in zip(whole, sizes, strict=True)
        ]
        ledger.add(list(changes), wide)


def promises(ledger: Ledger, terms: Sequence[int], forms: Sequence[Form], shared: float) -> Floats:
    """What the best correction of each term, alone, would gain, less what chance would, in nat.

    Terms are corrected as freely as others, pairs as freely as columns.
    """
    from ..engine.kernels.weighted import promise, unexplained

    tables, n_folds = tables_of(ledger), ledger.offers.n_folds
    found = np.empty(len(terms))
    penalty = Penalty.of(forms, LATE_FREEDOM, pair_share=1.0)
    scale = 2.0**-POSTERIOR_BITS / shared
    sizes = np.cumsum([int(tables.n_codes[term]) * tables.width for term in terms])
    cuts = np.flatnonzero(np.diff(sizes // _MOST_SUMS)) + 1
    for lo, hi in pairwise([0, *cuts.tolist(), len(terms)]):
        slopes = ledger.slopes(terms[lo:hi])
        for t in range(lo, hi):
            mine = slopes.sums[slopes.at[t - lo] : slopes.at[t - lo + 1]]
            mine = mine.reshape(n_folds, -1, tables.width)[:, : forms[t].n_codes]
            left, curve = (np.zeros((mine.shape[1], tables.n_classes)) for _ in range(2))
            unexplained(np.ascontiguousarray(mine), tables.full, scale, left, curve)
            found[t] = promise(left, curve + 1e-9, *penalty.alone(t))
    return found


def _lines_of(forms: Sequence[Form]) -> list[tuple[int, int]]:
    """Term and axis of each number's line: its own term, or else the first pair that holds it."""
    found: dict[int, tuple[int, int]] = {}
    for t, form in sorted(enumerate(forms), key=lambda each: len(each[1].sizes)):
        for axis, (j, ranks) in enumerate(zip(form.columns, form.ranks, strict=True)):
            if ranks is not None and j not in found:
                found[j] = t, axis
    return list(found.values())
