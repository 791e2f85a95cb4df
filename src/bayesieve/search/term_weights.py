"""Weights and corrections of terms: what a search of terms moves, one step after the other.

A term says w L + D: counts L, weighted, and a correction D of each code and class, fitted to what
the other terms leave unexplained.  A weight takes a Newton step and keeps it only where the exact
loss of rows left out, an integer, falls with the penalty.  Corrections are penalised: neighbours
along numbers are drawn together, everything is drawn to 0; where that pays, a number has a line
along its ranks as well.  All are fitted at once, from integer sums by code that add up over parts
of the rows.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr, ndtri, ndtri_exp, stdtr

from ..data.kernels.options import POSTERIOR_BITS
from ..engine.contract import AS_IT_IS, NO_UNITS, WHOLE, Ledger, Measure
from ..models.base import CORRECTION_BITS, SCORE_BITS, Floats, Ints
from ..models.log_ratios import CONSTANT_STEPS, TERM_BITS, WEIGHT_STEPS
from .path import WeightState

# -- Corrections ---------------------------------------------------------------------------------

#: Squared nat by which a table may change, from little to much.
FREEDOMS = (0.04, 0.16, 0.64, 2.5, 10.0, 40.0)

#: Squared nat by which a line may rise in a standard deviation of rank; 0: no lines.
SLOPES = (0.0, 3.0, 30.0)

#: With this freedom terms are looked for that speak only together with others.
LATE_FREEDOM = 0.64

#: A cell of a pair may change by this share of it.
PAIR_SHARE = 0.25

# No table changes by more than this, in nat.
_MOST = 8.0

# On the way corrections are finer than in the end.
_FINE_BITS = 20

# The descent: steps that it remembers, steps at most, and what a step gains at least, nat a row.
_MEMORY, _MOST_STEPS, _CLOSE = 10, 40, 2e-4

# A step changes no table by more than this, in nat; it is halved so often at most.
_FAR, _MOST_HALVINGS = 1.0, 6

# Numbers that one request for sums holds at a time.
_MOST_SUMS = 1 << 23

# Asks a ledger for its loss as it stands.
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
        return math.prod(self.sizes)

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
    >>> from bayesieve.search.term_weights import mid_ranks
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
        assert ledger.offers.tables is not None
        self._tables, self._n_folds = ledger.offers.tables, ledger.offers.n_folds
        self._k = self._tables.n_classes
        self._measure = Measure("log-likelihood", ledger.offers.bits)
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
        units = ledger.losses(self._measure, NO_UNITS, _NOW, WHOLE)[0, 0]
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
    >>> from bayesieve.search.term_weights import Form, held_to_rows
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


def _lines_of(forms: Sequence[Form]) -> list[tuple[int, int]]:
    """Term and axis of each number's line: its own term, or else the first pair that holds it."""
    found: dict[int, tuple[int, int]] = {}
    for t, form in sorted(enumerate(forms), key=lambda each: len(each[1].sizes)):
        for axis, (j, ranks) in enumerate(zip(form.columns, form.ranks, strict=True)):
            if ranks is not None and j not in found:
                found[j] = t, axis
    return list(found.values())


# -- Weights as an objective: add, visit all, let go of what has no weight ------------------------

# A visit that promises less than this many nat is not worth the steps.
_LEAST_GAIN = 1e-3

# Constants are drawn to where they are by this much a row.
_CONSTANT_RIDGE = 1e-3

# Gains cannot be told apart that differ by no more than a tenth, nor by more than half a standard
# deviation: a gain is half the square of a normal value, so that its deviation is sqrt(2 gain).
_ALIKE, _UNSURE = 0.1, 0.5

# While terms are looked for, corrections are fitted by so many steps; a term without weight stays
# if it is corrected by more than this, in nat.
_LATE_STEPS, _LEAST_CORRECTION = 6, 0.02


@dataclass(frozen=True)
class WeightRules:
    """What the path may do.

    Parameters
    ----------
    ridge : penalty on squared weights.
    price : nat that a term must gain at least.
    extra : what each term pays on top.
    most : how many terms at most.
    units : terms that enter together.
    allowed : may the unit enter?
    kept : units that are in from the start, and stay.
    start : units that come first, in this order, whatever they gain.
    n_rows : weight of all rows.
    shared : what a row of weight 1 counts in the ledgers.
    clusters : folds of whole groups by which gains are judged; 0: rows are independent.
    ceiling : no gain counts for more.
    late : when no weights gain any more, terms may enter by what corrections would gain, at this
        price at least; infinite: they may not.
    """

    ridge: float
    price: float
    extra: Floats
    most: int
    units: tuple[tuple[int, ...], ...]
    allowed: NDArray[np.bool_]
    kept: tuple[int, ...] = ()
    start: tuple[int, ...] = ()
    n_rows: float = 1.0
    shared: int = 1
    clusters: int = 0
    ceiling: float = np.inf
    late: float = np.inf


class WeightedProblem:
    """One ledger, its weights and its constants.

    Parameters
    ----------
    ledger : the scored lines.
    constants : sixty-fourths of a nat.
    rules : ridge, and what a line counts.
    forms : how the codes of a term lie; None: it may not be corrected.
    """

    def __init__(
        self,
        ledger: Ledger,
        constants: Ints,
        rules: WeightRules,
        forms: Callable[[int], Form | None] | None = None,
    ):
        assert ledger.offers.tables is not None
        self._ledger, self._rules, self._tables = ledger, rules, ledger.offers.tables
        self._measure = Measure("log-likelihood", ledger.offers.bits)
        self.weights = np.zeros((self._tables.n_terms, self._tables.n_classes), np.int64)
        self.constants = np.zeros(self._tables.n_classes, np.int64)
        self.corrections: Mapping[int, Ints] = {}
        self._forms = forms or (lambda _: None)
        self._scale = 2.0**-POSTERIOR_BITS / rules.shared
        self._shift(constants)

    @property
    def loss(self) -> float:
        """Leave-one-out log-loss of all lines, in nat."""
        return self._loss() / 2.0**self._ledger.offers.bits / self._rules.shared

    def restore(
        self,
        terms: Sequence[int],
        weights: Ints,
        constants: Ints,
        corrections: Mapping[int, Ints] | None = None,
    ) -> None:
        """These weights and corrections, and no others."""
        if corrections or self.corrections:
            self._swap(corrections or {})
        wanted = np.zeros_like(self.weights)
        wanted[list(terms)] = weights
        for term in np.flatnonzero((wanted != self.weights).any(1)).tolist():
            self._apply(term, wanted[term] - self.weights[term])
        self._shift(constants - self.constants)

    def says(self, terms: Sequence[int]) -> bool:
        """Does any of these terms have a weight, or a correction that is worth one?"""
        if self.weights[list(terms)].any():
            return True
        least = _LEAST_CORRECTION * 2**CORRECTION_BITS
        mine = [self.corrections[t] for t in terms if t in self.corrections]
        return any(np.abs(each).max(initial=0) > least for each in mine)

    def gains(self, terms: Ints) -> Floats:
        """What one Newton step of each term, alone and from 0, promises."""
        from ..engine.kernels.weighted import gains

        tables, found, n_folds = self._tables, np.empty(terms.size), self._rules.clusters
        block = np.cumsum(tables.n_codes[terms] * tables.width) // _MOST_SUMS
        cuts = np.flatnonzero(np.diff(block)) + 1
        moved = np.empty((terms.size, n_folds))
        for lo, hi in pairwise([0, *cuts.tolist(), terms.size]):
            some = terms[lo:hi]
            slopes = self._ledger.slopes(some.tolist())
            told = slopes.sums, slopes.at, tables.ratios, tables.own
            where = tables.first[some], tables.n_codes[some]
            units = tables.full, self._scale, 2.0**-TERM_BITS, self._rules.ridge
            gains(*told, *where, *units, 0, some.size, found[lo:hi], moved[lo:hi])
        if n_folds:
            found = np.minimum(found, clustered_gains(moved))
        return np.minimum(found, self._rules.ceiling)

    def visit(self, term: int) -> None:
        """A Newton step of one term's weights, on the grid, if the loss falls by it."""
        from ..engine.kernels.weighted import best_step, slope_and_curve

        tables = self._tables
        n_classes, rows = tables.n_classes, tables.rows(term)
        sums = self._ledger.slopes([term]).sums.reshape(-1, tables.width)
        slope, curve = np.empty(n_classes), np.empty((n_classes, n_classes))
        units = (self._scale, 2.0**-TERM_BITS)
        slope_and_curve(
            sums, tables.ratios[rows], tables.own[rows], tables.full, *units, slope, curve
        )
        step, now = np.empty(n_classes), self.weights[term] / WEIGHT_STEPS
        if best_step(slope, curve, now, self._rules.ridge, step) < _LEAST_GAIN:
            return
        whole = np.rint((now + step) * WEIGHT_STEPS).astype(np.int64) - self.weights[term]
        before, old = self._loss(), self.weights[term].copy()
        for share in (1.0, 0.5, 0.25):
            wanted = old + np.rint(whole * share).astype(np.int64)
            if (wanted == old).all():
                break
            self._apply(term, wanted - self.weights[term])
            squares = int((wanted * wanted).sum()) - int((old * old).sum())
            penalty = self._rules.ridge * squares / (2 * WEIGHT_STEPS**2)
            fallen = (self._loss() - before) / 2.0**self._ledger.offers.bits
            if fallen / self._rules.shared < -penalty:
                return
        self._apply(term, old - self.weights[term])

    def correct(
        self,
        terms: Sequence[int],
        freedoms: Sequence[tuple[float, float]],
        steps: int | None = None,
        pair_share: float = PAIR_SHARE,
    ) -> Iterator[Mapping[int, Ints]]:
        """Corrections of some terms at these freedoms and slopes in turn, from those that stand."""
        start = self.corrections
        self._swap({})
        forms = {term: form for term in terms if (form := self._forms(term)) is not None}
        size = self._rules.shared, self._rules.n_rows
        said = [self._said(term, form.n_codes) for term, form in forms.items()]
        fitter = Corrections(self._ledger, list(forms), list(forms.values()), *size, start, said)
        for freedom, slope in freedoms:
            self.corrections = fitter.fit(freedom, slope, steps, pair_share)
            yield self.corrections

    def late_gains(self, terms: Ints) -> Floats:
        """What correcting each term, alone, promises beyond what chance would."""
        found, forms = np.full(terms.size, -np.inf), [self._forms(t) for t in terms.tolist()]
        at = [i for i, form in enumerate(forms) if form is not None]
        known = [form for form in forms if form is not None]
        found[at] = self._promises(terms[at].tolist(), known)
        return found

    def _promises(self, terms: Sequence[int], forms: Sequence[Form]) -> Floats:
        """The same, of terms that may be corrected: as freely as others, pairs as columns."""
        from ..engine.kernels.weighted import promise, unexplained

        tables, n_folds = self._tables, self._ledger.offers.n_folds
        found = np.empty(len(terms))
        penalty = Penalty.of(forms, LATE_FREEDOM, pair_share=1.0)
        sizes = np.cumsum([int(tables.n_codes[term]) * tables.width for term in terms])
        cuts = np.flatnonzero(np.diff(sizes // _MOST_SUMS)) + 1
        for lo, hi in pairwise([0, *cuts.tolist(), len(terms)]):
            slopes = self._ledger.slopes(terms[lo:hi])
            for t in range(lo, hi):
                mine = slopes.sums[slopes.at[t - lo] : slopes.at[t - lo + 1]]
                mine = mine.reshape(n_folds, -1, tables.width)[:, : forms[t].n_codes]
                left, curve = (np.zeros((mine.shape[1], tables.n_classes)) for _ in range(2))
                told = np.ascontiguousarray(mine), tables.full, self._scale
                unexplained(*told, left, curve)
                found[t] = promise(left, curve + 1e-9, *penalty.alone(t))
        return found

    def visit_constants(self) -> None:
        """A Newton step of the constants, on their grid, if the loss falls by it."""
        from ..engine.kernels.weighted import constants_step

        tables, balance = self._tables, self._ledger.balance()
        step = np.empty(tables.n_classes)
        ridge = _CONSTANT_RIDGE * self._rules.n_rows
        constants_step(balance, tables.full, self._scale, ridge, step)
        whole = np.rint(self.constants + step * CONSTANT_STEPS).astype(np.int64) - self.constants
        if not whole.any():
            return
        before = self._loss()
        self._shift(whole)
        if self._loss() >= before:
            self._shift(-whole)

    def _loss(self) -> int:
        """Leave-one-out log-loss of all lines, in units of the ledger."""
        return int(self._ledger.losses(self._measure, NO_UNITS, _NOW, WHOLE)[0, 0])

    def _said(self, term: int, n_codes: int) -> Floats:
        """What a term says at its weights, in nat; the mean of all folds."""
        table = self._tables.ratios[self._tables.rows(term)]
        table = table.reshape(self._ledger.offers.n_folds, -1, table.shape[1])[:, :n_codes].mean(0)
        found: Floats = np.ldexp(table, -TERM_BITS) * (self.weights[term] / WEIGHT_STEPS)
        return found

    def _swap(self, wanted: Mapping[int, Ints]) -> None:
        """Take the corrections off that stand, and add others."""
        changes = {term: -table for term, table in self.corrections.items()}
        for term, table in wanted.items():
            changes[term] = changes[term] + table if term in changes else table
        changes = {term: table for term, table in changes.items() if table.any()}
        self.corrections = wanted
        if changes:
            n_folds = self._ledger.offers.n_folds
            sizes = [int(self._tables.n_codes[term]) // n_folds for term in changes]
            whole = [table << (SCORE_BITS - CORRECTION_BITS) for table in changes.values()]
            # Lines may have a code more, which says nothing.
            nothing = np.zeros((max(sizes), self._tables.n_classes), np.int64)
            wide = [
                table if len(table) == size else np.concatenate([table, nothing[len(table) : size]])
                for table, size in zip(whole, sizes, strict=True)
            ]
            self._ledger.add(list(changes), wide)

    def _apply(self, term: int, steps: Ints) -> None:
        if steps.any():
            self._ledger.apply([term], steps[None])
            self.weights[term] += steps

    def _shift(self, steps: Ints) -> None:
        if steps.any():
            self._ledger.shift(steps)
            self.constants = self.constants + steps


def clustered_gains(moved: Floats) -> Floats:
    """Gains in log-likelihood that independent rows would show with the same certainty.

    Rows of a group err together: of ten that are alike, each promises what one alone could.  So a
    gain counts for no more than Student's t over folds of whole groups vouches for: half the square
    of the normal value that is as rare, as half a likelihood-ratio statistic is of rows.  Slopes of
    folds are no independent numbers: where nothing is to be found, what one fold has in common with
    the table of another stands in both, so that their sum has twice the variance.

    Parameters
    ----------
    moved : slope of the log-likelihood along each term's step by fold, terms x folds.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.term_weights import clustered_gains
    >>> clustered_gains(np.array([[3.0, 4.0, 5.0], [9.0, -3.0, 0.0]])).round(2)
    array([2.13, 0.06])
    """
    n_folds, total = moved.shape[1], moved.sum(1)
    spread = np.sqrt(2 * n_folds) * moved.std(1, ddof=1)
    t = np.divide(total, spread, out=np.zeros_like(total), where=spread > 0)
    # Folds that agree to the last bit: nothing speaks against the gain.
    t[(spread == 0) & (total > 0)] = np.inf
    found: Floats = np.where(t > 0, ndtri(stdtr(n_folds - 1, -t)) ** 2 / 2, 0.0)
    return found


def most_gain(labels: Ints, groups: Ints) -> float:
    """More than this no gain may count, for groups could have their classes the other way round.

    Ten groups, five of each class, can have their classes in 252 ways, and one of them fits a
    column best though it tells nothing: no gain is surer, however much its groups agree.  Rows of a
    group that has several classes may change places as well.

    Parameters
    ----------
    labels, groups : class and group of each row, from 0 on.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.term_weights import most_gain
    >>> groups = np.repeat(np.arange(10), 3)
    >>> round(most_gain(groups % 2, groups), 2), round(most_gain(np.arange(30) % 2, groups), 2)
    (3.52, 13.9)
    """
    counts = np.zeros((groups.max() + 1, labels.max() + 1))
    np.add.at(counts, (groups, labels), 1.0)
    counts = counts[counts.any(1)]
    shares = (counts / counts.sum(1, keepdims=True)).round(9)
    alike = np.unique(shares, axis=0, return_counts=True)[1]
    ways = gammaln(len(counts) + 1) - gammaln(alike + 1).sum()
    ways += (gammaln(counts.sum(1) + 1) - gammaln(counts + 1).sum(1)).sum()
    return float(ndtri_exp(min(-ways, np.log(0.5))) ** 2 / 2)


def surest(gains: Floats) -> Floats:
    """Of several problems on the same groups, what the surest gain is worth among so many.

    Groups that one label misleads may mislead the others: gains that are judged by groups do not
    add up.  The chance of the surest is counted once for each problem (Bonferroni).

    Parameters
    ----------
    gains : of each problem and term, as `clustered_gains` finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.term_weights import surest
    >>> surest(np.array([[0.3, 0.1], [6.0, 0.2]])).round(2)
    array([5.36, 0.  ])
    """
    if len(gains) == 1:
        return gains[0]
    chance = log_ndtr(-np.sqrt(2 * gains.max(0))) + np.log(len(gains))
    found: Floats = ndtri_exp(np.minimum(chance, np.log(0.5))) ** 2 / 2
    return found


class TermObjective:
    """The weights of terms, of one problem or of several that share their terms.

    A search of terms (`GainSearch`) asks what each term would gain, and adds the best.

    Parameters
    ----------
    problems : at least one.
    rules : what may be done.
    told : hears of every state: the number of terms, and the loss.
    """

    def __init__(
        self,
        problems: Sequence[WeightedProblem],
        rules: WeightRules,
        told: Callable[[int, float], None] | None = None,
    ):
        self._problems, self._rules, self._told = problems, rules, told
        self.units: list[int] = []
        self.open = rules.allowed.copy()
        self.now: WeightState | None = None  #: the last state
        self.is_late = False
        self._late_room = rules.most
        self._alone = np.empty(0)

    def walk(self) -> Iterator[WeightState]:
        """One state after the other, the start first; where it goes on, those that are to come."""
        for _ in GainSearch().steps(self):
            assert self.now is not None
            yield self.now

    def begin(self) -> bool:
        """Take the start down as a state; False where states were taken before."""
        if self.now is None:
            self._look_alone()
            self.now = self.state(-1, 0.0)
            return True
        return False

    def _look_alone(self) -> None:
        """What each unit would gain by itself, before any other is in."""
        members, sizes = self._members
        firsts = np.append(0, np.cumsum(sizes))[:-1]
        self._alone = np.add.reduceat(self.gains(members), firsts)

    @property
    def first(self) -> list[int]:
        """Units that come first, whatever they gain."""
        kept = self._rules.kept
        return [
            unit
            for unit in dict.fromkeys((*self._rules.start, *kept))
            if self.open[unit] or (unit in kept and unit not in self.units)
        ]

    def begin_late(self) -> bool:
        """Let terms enter that speak only together with others, by what correcting them gains."""
        if self._rules.late == np.inf or not self.units:
            return False
        self.is_late = True
        self._correct()
        return True

    def end_late(self) -> None:
        """Take the provisional corrections off again."""
        for problem in self._problems:
            problem.restore(self.terms, problem.weights[list(self.terms)], problem.constants)

    def _correct(self) -> None:
        """A few steps of provisional corrections."""
        for problem in self._problems:
            for _ in problem.correct(
                self.terms, [(LATE_FREEDOM, 0.0)], steps=_LATE_STEPS, pair_share=1.0
            ):
                pass

    def tried(
        self, state: WeightState, freedoms: Sequence[tuple[float, float]]
    ) -> Iterator[WeightState]:
        """A state with corrections of these freedoms and slopes, each from those before."""
        for g, problem in enumerate(self._problems):
            problem.restore(state.terms, state.weights[g], state.constants[g])
        fits = [problem.correct(state.terms, freedoms) for problem in self._problems]
        for found in zip(*fits, strict=True):
            yield replace(state, corrections=found)

    def resume(self, states: Sequence[WeightState]) -> None:
        """Go on from states that were written down, at least one."""
        last = states[-1]
        self._look_alone()
        for problem, weights, constants in zip(
            self._problems, last.weights, last.constants, strict=True
        ):
            problem.restore(last.terms, weights, constants)
        self.now = last
        unit_of = {term: u for u, unit in enumerate(self._rules.units) for term in unit}
        self.units = list(dict.fromkeys(unit_of[term] for term in last.terms))
        self.open[[state.unit for state in states if state.unit >= 0]] = False

    @property
    def terms(self) -> tuple[int, ...]:
        """Terms that are in, in the order in which they came."""
        return tuple(term for unit in self.units for term in self._rules.units[unit])

    @property
    def n_terms(self) -> int:
        """How many there are."""
        return len(self.terms)

    def state(self, unit: int, gain: float) -> WeightState:
        """What the path has come to."""
        terms = self.terms
        loss = sum(problem.loss for problem in self._problems) / self._rules.n_rows
        if self._told is not None:
            self._told(len(terms), loss)
        return WeightState(
            unit,
            gain,
            loss,
            terms,
            tuple(problem.weights[list(terms)] for problem in self._problems),
            tuple(problem.constants for problem in self._problems),
        )

    def gains(self, terms: Ints, late: bool = False) -> Floats:
        """What each term, alone, promises to gain from where the path stands, in nat."""
        found = np.array([problem.gains(terms) for problem in self._problems])
        if not late:
            return surest(found) if self._rules.clusters else found.sum(0)
        more = sum(problem.late_gains(terms) for problem in self._problems)
        return np.maximum(found.sum(0), more)

    @cached_property
    def _members(self) -> tuple[Ints, Ints]:
        """The terms of all units, one after the other, and how many each has."""
        sizes = np.array([len(unit) for unit in self._rules.units], np.int64)
        terms = [term for unit in self._rules.units for term in unit]
        return np.array(terms, np.int64), sizes

    def best_gain(self) -> tuple[int, float] | None:
        """The unit that gains most beyond its price; None: none pays it.

        Where gains cannot be told apart, other rows would turn their order round: of these units
        the one is taken that gains most by itself, the first of equals.
        """
        rules, (members, sizes) = self._rules, self._members
        fits = self.open & (sizes <= rules.most - self.n_terms)
        units = np.flatnonzero(fits)
        # Units close as they come, and what left does not come again.
        come = int(rules.allowed.sum()) - int(self.open.sum())
        left = self._late_room if self.is_late else 2 * rules.most + 2 - come
        if not units.size or left <= 0:
            return None
        terms = members[np.repeat(fits, sizes)]
        price = max(rules.price, rules.late) if self.is_late else rules.price
        net = self.gains(terms, self.is_late) - rules.extra[terms] - price
        firsts = np.append(0, np.cumsum(sizes[units]))[:-1]
        each = np.add.reduceat(net, firsts)
        best = int(each.argmax())
        if each[best] < 0:
            return None
        gained = each + price * sizes[units]
        most = float(gained[best])
        if not self.is_late:
            unsure = min(_ALIKE * most, _UNSURE * math.sqrt(2 * most))
            near = np.flatnonzero(gained >= most - unsure)
            best = int(near[self._alone[units[near]].argmax()])
        # What is told is the most, so that where a path ends hangs on its price alone.
        return int(units[best]), most

    def add(self, unit: int, gain: float = np.inf) -> None:
        """Raise the weights of a unit, visit all others, and let go of what has no weight."""
        self._late_room -= self.is_late
        self.units.append(unit)
        self.open[unit] = False
        self._sweep([unit])
        self._sweep(self.units)
        if self.is_late:
            self._correct()
        for each in list(self.units):
            members = list(self._rules.units[each])
            idle = not any(problem.says(members) for problem in self._problems)
            if idle and each not in self._rules.kept:
                self.units.remove(each)
        self.now = self.state(unit, gain)

    def _sweep(self, units: Sequence[int]) -> None:
        for problem in self._problems:
            for unit in units:
                for term in self._rules.units[unit]:
                    problem.visit(term)
            problem.visit_constants()


class GainSearch:
    """Raise the term that gains most, as long as one pays its price.

    What comes first whatever it gains, comes first.  In the end terms may enter that speak only
    together with others, where the objective offers them.
    """

    def steps(self, objective: TermObjective) -> Iterator[None]:
        """The start, then one term at a time."""
        if objective.begin():
            yield
        for unit in objective.first:
            objective.add(unit)
            yield
        yield from self._gaining(objective)
        if objective.begin_late():
            yield from self._gaining(objective)
            objective.end_late()

    def _gaining(self, objective: TermObjective) -> Iterator[None]:
        while (best := objective.best_gain()) is not None:
            objective.add(*best)
            yield
