"""The greedy path of weighted terms: add the best, visit all, let go of what has no weight.

Every candidate's gain is that of one Newton step of its weights, from integer sums by code; a step
is kept only where the exact loss of rows left out, an integer, and the penalty together fall.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri, ndtri_exp, stdtr

from ..data.html import frame_of, html_table
from ..data.kernels.options import POSTERIOR_BITS
from ..engine.contract import AS_IT_IS, NO_UNITS, WHOLE, Ledger, Measure
from ..models.base import Floats, Ints
from ..models.columns import Summary
from ..models.counts import log_shares_of
from ..models.fitted import FittedProblem
from ..models.log_ratios import TERM_BITS, WEIGHT_STEPS, Ratios, weigh
from ..models.pairs import PairTerms, Weighting

# A visit that promises less than this many nat is not worth the steps.
_LEAST_GAIN = 1e-3

# Constants are drawn to where they are by this much a row.
_CONSTANT_RIDGE = 1e-3

_CONSTANTS = 64

# Asks a ledger for its loss as it stands.
_NOW = np.array([AS_IT_IS])

# Numbers that one scan holds at a time.
_MOST_SUMS = 1 << 23


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


@dataclass(frozen=True)
class WeightStep:
    """One state of the path.

    Parameters
    ----------
    unit : what was added; -1 at the start.
    gain : what its Newton step promised, the extra price taken off, in nat.
    loss : mean leave-one-out log-loss, in nat; of several problems, the sum of theirs.
    terms : the terms that are in, in the order in which they came.
    weights : sixteenths of each problem, terms x classes.
    constants : sixty-fourths of a nat of each problem.
    """

    unit: int
    gain: float
    loss: float
    terms: tuple[int, ...]
    weights: tuple[Ints, ...]
    constants: tuple[Ints, ...]


class WeightedProblem:
    """One ledger, its weights and its constants.

    Parameters
    ----------
    ledger : the scored lines.
    constants : sixty-fourths of a nat.
    rules : ridge, and what a line counts.
    """

    def __init__(self, ledger: Ledger, constants: Ints, rules: WeightRules):
        assert ledger.offers.tables is not None
        self._ledger, self._rules, self._tables = ledger, rules, ledger.offers.tables
        self._measure = Measure("log-likelihood", ledger.offers.bits)
        self.weights = np.zeros((self._tables.n_terms, self._tables.n_classes), np.int64)
        self.constants = np.zeros(self._tables.n_classes, np.int64)
        self._scale = 2.0**-POSTERIOR_BITS / rules.shared
        self._shift(constants)

    @property
    def loss(self) -> float:
        """Leave-one-out log-loss of all lines, in nat."""
        return self._loss() / 2.0**self._ledger.offers.bits / self._rules.shared

    def restore(self, terms: Sequence[int], weights: Ints, constants: Ints) -> None:
        """These weights, and no others."""
        wanted = np.zeros_like(self.weights)
        wanted[list(terms)] = weights
        for term in np.flatnonzero((wanted != self.weights).any(1)).tolist():
            self._apply(term, wanted[term] - self.weights[term])
        self._shift(constants - self.constants)

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
        return np.minimum(found, clustered_gains(moved)) if n_folds else found

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

    def visit_constants(self) -> None:
        """A Newton step of the constants, on their grid, if the loss falls by it."""
        from ..engine.kernels.weighted import constants_step

        tables, balance = self._tables, self._ledger.balance()
        step = np.empty(tables.n_classes)
        ridge = _CONSTANT_RIDGE * self._rules.n_rows
        constants_step(balance, tables.full, self._scale, ridge, step)
        whole = np.rint(self.constants + step * _CONSTANTS).astype(np.int64) - self.constants
        if not whole.any():
            return
        before = self._loss()
        self._shift(whole)
        if self._loss() >= before:
            self._shift(-whole)

    def _loss(self) -> int:
        """Leave-one-out log-loss of all lines, in units of the ledger."""
        return int(self._ledger.losses(self._measure, NO_UNITS, _NOW, WHOLE)[0, 0])

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
    >>> from bayesieve.search.weight_path import clustered_gains
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
    >>> from bayesieve.search.weight_path import surest
    >>> surest(np.array([[0.3, 0.1], [6.0, 0.2]])).round(2)
    array([5.36, 0.  ])
    """
    if len(gains) == 1:
        return gains[0]
    chance = log_ndtr(-np.sqrt(2 * gains.max(0))) + np.log(len(gains))
    found: Floats = ndtri_exp(np.minimum(chance, np.log(0.5))) ** 2 / 2
    return found


class GreedyWeights:
    """Walks the path over one problem, or over several that share their terms.

    Parameters
    ----------
    problems : at least one.
    rules : what the path may do.
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
        self._resumed = False

    def steps(self) -> Iterator[WeightStep]:
        """One state after the other, the start first; where it goes on, those that are to come."""
        if not self._resumed:
            yield self.state(-1, 0.0)
        for unit in (*self._rules.start, *self._rules.kept):
            stays = unit in self._rules.kept
            if self.open[unit] or (stays and unit not in self.units):
                yield self._add(unit, np.inf)
        # Units close as they come: a path that goes on has as many steps left as it had.
        come = int(self._rules.allowed.sum()) - int(self.open.sum())
        for _ in range(2 * self._rules.most + 2 - come):
            room = self._rules.most - self.n_terms
            unit, gain = self._best(room)
            if unit < 0:
                return
            yield self._add(unit, gain)

    def resume(self, step: WeightStep, units: Sequence[int], open_units: Sequence[int]) -> None:
        """Go on from a state that was written down."""
        for problem, weights, constants in zip(
            self._problems, step.weights, step.constants, strict=True
        ):
            problem.restore(step.terms, weights, constants)
        self._resumed = True
        self.units = list(units)
        self.open = np.zeros_like(self.open)
        self.open[list(open_units)] = True

    @property
    def terms(self) -> tuple[int, ...]:
        """Terms that are in, in the order in which they came."""
        return tuple(term for unit in self.units for term in self._rules.units[unit])

    @property
    def n_terms(self) -> int:
        """How many there are."""
        return len(self.terms)

    def state(self, unit: int, gain: float) -> WeightStep:
        """What the path has come to."""
        terms = self.terms
        loss = sum(problem.loss for problem in self._problems) / self._rules.n_rows
        if self._told is not None:
            self._told(len(terms), loss)
        return WeightStep(
            unit,
            gain,
            loss,
            terms,
            tuple(problem.weights[list(terms)] for problem in self._problems),
            tuple(problem.constants for problem in self._problems),
        )

    def gains(self, terms: Ints) -> Floats:
        """What each term, alone, promises to gain from where the path stands, in nat."""
        found = np.array([problem.gains(terms) for problem in self._problems])
        return surest(found) if self._rules.clusters else found.sum(0)

    @cached_property
    def _members(self) -> tuple[Ints, Ints]:
        """The terms of all units, one after the other, and how many each has."""
        sizes = np.array([len(unit) for unit in self._rules.units], np.int64)
        terms = [term for unit in self._rules.units for term in unit]
        return np.array(terms, np.int64), sizes

    def _best(self, room: int) -> tuple[int, float]:
        """The unit that gains most beyond its price, the first of equals; -1: none does."""
        rules, (members, sizes) = self._rules, self._members
        fits = self.open & (sizes <= room)
        units = np.flatnonzero(fits)
        if not units.size:
            return -1, 0.0
        terms = members[np.repeat(fits, sizes)]
        net = self.gains(terms) - rules.extra[terms] - rules.price
        firsts = np.append(0, np.cumsum(sizes[units]))[:-1]
        each = np.add.reduceat(net, firsts)
        best = int(each.argmax())
        if each[best] < 0:
            return -1, 0.0
        return int(units[best]), float(each[best] + rules.price * sizes[units[best]])

    def _add(self, unit: int, gain: float) -> WeightStep:
        self.units.append(unit)
        self.open[unit] = False
        self._sweep([unit])
        self._sweep(self.units)
        for each in list(self.units):
            members = list(self._rules.units[each])
            idle = not any(problem.weights[members].any() for problem in self._problems)
            if idle and each not in self._rules.kept:
                self.units.remove(each)
        return self.state(unit, gain)

    def _sweep(self, units: Sequence[int]) -> None:
        for problem in self._problems:
            for unit in units:
                for term in self._rules.units[unit]:
                    problem.visit(term)
            problem.visit_constants()


# -- What the terms of a path say ------------------------------------------------------------------


@dataclass(frozen=True)
class TermPage:
    """One problem.

    Parameters
    ----------
    summary : of the columns of the book.
    ratios : what each of them says.
    pairs : by the number of the term; without weights.
    """

    summary: Summary
    ratios: list[Ratios]
    pairs: dict[int, PairTerms]


@dataclass(frozen=True)
class TermBook:
    """The columns that a path ever read, and what they say in each problem.

    Parameters
    ----------
    columns : their positions in the table, ascending; a term below their number is a column.
    pages : one a problem.
    smoothing : pseudo-count.
    speaks : does it say anything that a value is missing?
    monotone : columns of the table whose evidence may only rise (1) or fall (-1).
    """

    columns: tuple[int, ...]
    pages: tuple[TermPage, ...]
    smoothing: float
    speaks: bool
    monotone: tuple[tuple[int, int], ...]

    def columns_of(self, term: int) -> tuple[int, ...]:
        """The column, or the two columns, of a term: positions in the table."""
        pair = self.pages[0].pairs.get(term)
        if pair is None:
            return (term,)
        return tuple(self.columns[j] for j in pair.columns)

    def columns_in(self, step: WeightStep) -> list[int]:
        """The columns that a state reads, ascending."""
        return sorted({j for term in step.terms for j in self.columns_of(term)})

    def fitted(
        self,
        step: WeightStep,
        g: int,
        columns: Sequence[int],
        priors: tuple[float, ...] | None = None,
    ) -> FittedProblem:
        """The model of one problem at a state.

        Parameters
        ----------
        step : the state.
        g : which problem.
        columns : what the model reads: these columns of the table.
        priors : probabilities of the classes, for which the constants move; None: of the rows.
        """
        page, place = self.pages[g], {j: at for at, j in enumerate(columns)}
        at = [self.columns.index(j) for j in columns]
        weights = np.zeros((len(columns), step.constants[g].size), np.int64)
        pairs = []
        for term, line in zip(step.terms, step.weights[g], strict=True):
            if term in page.pairs:
                first, second = (place[j] for j in self.columns_of(term))
                pairs.append(replace(page.pairs[term], columns=(first, second), weights=line))
            else:
                weights[place[term]] = line
        constants = step.constants[g]
        if priors is not None:
            constants = constants + self._prior_shift(g, priors)
        rising = tuple((place[j], sign) for j, sign in self.monotone if j in place)
        weighting = Weighting(weights, tuple(pairs), self.speaks, rising, priors)
        ratios = [page.ratios[j] for j in at]
        return weigh(page.summary.restrict(at), ratios, constants, weighting, self.smoothing)

    def table(self, term: int, g: int) -> Ints:
        """What a term says before its weights: codes (of a pair: groups x groups) x classes."""
        page = self.pages[g]
        if term in page.pairs:
            return page.pairs[term].ratios
        return page.ratios[self.columns.index(term)].table[:-1]

    def _prior_shift(self, g: int, priors: tuple[float, ...]) -> Ints:
        """How far constants move when the classes have other probabilities than among the rows."""
        summary = self.pages[g].summary
        shares = log_shares_of(summary.class_count * summary.class_weight)
        return np.rint((np.log(priors) - shares) * _CONSTANTS).astype(np.int64)


# -- Every state of a path of weighted terms, for people to look at --------------------------------


class WeightPath:
    """The terms as they came, what each promised, and what was gained.

    Parameters
    ----------
    steps : the states, the start first.
    names : of the terms that ever were in.
    units : terms that enter together.
    chosen : the state that the model has.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import WeightedNaiveBayes
    >>> X = np.array([[0], [1]] * 20)
    >>> path = WeightedNaiveBayes().fit(X, ["a", "b"] * 20).path_
    >>> path.to_dict()["term"]
    [None, 'x0']
    """

    def __init__(
        self,
        steps: Sequence[WeightStep],
        names: Mapping[int, str],
        units: Sequence[Sequence[int]],
        chosen: int,
    ):
        self.steps, self.names, self.chosen = list(steps), dict(names), chosen
        self.units = [tuple(unit) for unit in units]

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"<WeightPath of {len(self)} states, {len(self.steps[self.chosen].terms)} terms>"

    def _repr_html_(self) -> str:
        return html_table(self.to_dict(), f"{len(self)} states; chosen: {self.chosen}")

    def to_dict(self) -> dict[str, list[object]]:
        """The path as columns of plain values."""
        return {
            "step": list(range(len(self))),
            "term": [self._name(step) for step in self.steps],
            "gain": [step.gain for step in self.steps],
            "loss": [step.loss for step in self.steps],
            "n_terms": [len(step.terms) for step in self.steps],
        }

    def _name(self, step: WeightStep) -> str | None:
        """What came in a step."""
        if step.unit < 0:
            return None
        return " + ".join(self.names.get(term, "(left at once)") for term in self.units[step.unit])

    def to_frame(self, backend: Any = None) -> Any:
        """The path as a data frame, one row a state.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        return frame_of(self.to_dict(), backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the leave-one-out log-loss against the number of terms.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        from ..explain.plots import plot_weight_path

        return plot_weight_path(self, ax)
