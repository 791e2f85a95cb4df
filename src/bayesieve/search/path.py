"""Paths: every state that a fit visited, and the choice among them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr, ndtri, ndtri_exp, stdtr

from ..criteria.base import Key, read_as
from ..data.kernels.options import POSTERIOR_BITS
from ..data.result import frame_of, html_table
from ..engine.contract import AS_IT_IS, NO_UNITS, WHOLE, Ledger, Measure
from ..models.base import CORRECTION_BITS, Floats, Ints, PairTerms, Weighting
from ..models.columns import Summary
from ..models.counts import log_shares_of
from ..models.fitted import FittedProblem
from ..models.log_ratios import TERM_BITS, WEIGHT_STEPS, Ratios, weigh
from .corrections import LATE_FREEDOM, PAIR_SHARE, Corrections, Form, promises, swap
from .objective import Objective, Scorer
from .progress import in_features
from .strategies.greedy import GainSearch

# A subset that is just within the margin stays so, however the machine rounds.
_ROUNDING = 1e-12

# One and the same where a figure is missing, so that equal paths have equal tables.
_NAN = float("nan")


#: What guides a path of weighted terms: the log-loss of rows left out of their own tables.
LOG_LOSS = "log-loss"


@dataclass(frozen=True)
class WeightState:
    """Terms, weights and constants after one step of a path of weighted terms.

    Parameters
    ----------
    unit : what was added; -1 at the start.
    gain : what its Newton step promised, the extra price taken off, in nat.
    loss : mean leave-one-out log-loss, in nat; of several problems, the sum of theirs.
    terms : the terms that are in, in the order in which they came.
    weights : sixteenths of each problem, terms x classes.
    constants : sixty-fourths of a nat of each problem.
    corrections : of each problem, what is added to terms that have weights, by term; see
        `Corrections`.  Empty: there are none.
    """

    unit: int
    gain: float
    loss: float
    terms: tuple[int, ...]
    weights: tuple[Ints, ...]
    constants: tuple[Ints, ...]
    corrections: tuple[Mapping[int, Ints], ...] = ()


@dataclass(frozen=True)
class Step:
    """One committed state of a fit."""

    action: str  #: "start", "add" or "drop"
    units: tuple[int, ...]  #: what moved; for "start", the whole subset
    phase: int
    direction: str
    n_features: int
    key: Key
    score: float
    validation_key: Key | None = None
    #: Error on the validation rows; their score, where the criterion itself chooses (AUC).
    validation_error: float = _NAN
    gain: float | None = None  #: nats that a weighted term promised
    state: WeightState | None = None  #: terms and weights, where terms have weights

    @property
    def n_terms(self) -> int:
        """Number of terms: of columns, unless columns stand in pairs."""
        return self.n_features if self.state is None else len(self.state.terms)


class Path:
    """Every subset, or state of weighted terms, that a fit visited, in order.

    Parameters
    ----------
    units : terms that enter and leave together; a term below the number of columns is a column.
    names : of all columns.
    criterion : what guides.
    validation_name : what the figure on the rows that choose is called.
    pairs : the two columns of each term beyond the columns; None: terms have no weights.

    Attributes
    ----------
    steps : list of Step
        The committed states, the start of each phase included.
    chosen : int
        The step whose subset was chosen.
    best : int
        The step with the best score; `chosen` may be a smaller subset that is nearly as good.
    standard_error : float
        Standard error of the best score, or of its distance from the score chosen, where it helped
        to choose; otherwise NaN.
    n_rows : (int, int)
        Rows that guided, and rows that chose; where rows come in groups, the groups of each.
    of : str
        What moves: "columns", or "terms" that have weights.
    names : list of str
        Of all columns.
    members : tuple of tuple of int
        Columns of each unit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = NaiveBayesSelector(search="forward", random_state=0).fit(X, y)
    >>> path = selector.path_
    >>> len(path), path.subset(path.chosen) == selector.selected_.tolist()
    (5, True)
    """

    n_rows: tuple[int, int] = (0, 0)

    def __init__(
        self,
        units: tuple[tuple[int, ...], ...],
        names: list[str],
        criterion: str,
        validation_name: str = "validation_error",
        pairs: Mapping[int, tuple[int, int]] | None = None,
    ):
        self.of = "columns" if pairs is None else "terms"
        self.pairs = dict(pairs or {})
        self.validation_name = validation_name
        self.steps: list[Step] = []
        self.chosen = self.best = -1
        self.standard_error = float("nan")
        self.criterion = criterion
        self.names = names
        self.units = units
        self.members = units
        if self.pairs:
            self.members = tuple(tuple(self.columns_of(unit)) for unit in units)

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"<Path of {len(self)} {self._visited}, criterion {self.criterion!r}>"

    @property
    def _visited(self) -> str:
        return "subsets" if self.of == "columns" else "states"

    def _repr_html_(self) -> str:
        columns = self.to_dict()
        if all(step.validation_key is None for step in self.steps):
            del columns[self.validation_name]
        if self.of == "columns":
            del columns["n_terms"], columns["gain"]
        chosen = self.steps[self.chosen].n_features if self.chosen >= 0 else None
        said = ""
        if chosen is not None:
            said = f"; chosen: step {self.chosen}, {in_features(chosen)}"
        guide = read_as(self.criterion)
        return html_table(columns, f"{len(self)} {self._visited}, guided by {guide}{said}")

    def columns_of(self, terms: Iterable[int]) -> list[int]:
        """Columns of some terms, each once, in the order in which they come."""
        return list(dict.fromkeys(j for term in terms for j in self.pairs.get(term, (term,))))

    def name_of(self, term: int) -> str:
        """The name of a term: that of its column, or those of both."""
        return " x ".join(self.names[j] for j in self.pairs.get(term, (term,)))

    def take(self, state: WeightState) -> None:
        """Write down another state of weighted terms; the last one is chosen."""
        begins = state.unit < 0
        step = Step(
            "start" if begins else "add",
            () if begins else (state.unit,),
            phase=0,
            direction="forward",
            n_features=len(self.columns_of(state.terms)),
            key=state.loss,
            score=state.loss,
            gain=state.gain,
            state=state,
        )
        self.steps.append(step)
        self.chosen = self.best = len(self.steps) - 1

    def correct(self, states: Sequence[WeightState]) -> None:
        """Let the states be these, which differ by their corrections alone."""
        pairs = zip(self.steps, states, strict=True)
        self.steps = [replace(step, state=state) for step, state in pairs]

    @property
    def states(self) -> list[WeightState]:
        """The states of weighted terms."""
        return [step.state for step in self.steps if step.state is not None]

    def choose(
        self,
        least: int,
        most: int,
        margin: Callable[[list[int]], float] | None = None,
        paired: Callable[[list[int], list[int]], float] | None = None,
    ) -> int:
        """Best allowed step: by validation where there is one, else by the guiding score.

        Then fewest features, then first visited (in exhaustive search: first in lexicographic
        order).  With a margin (of the best subset's columns): the smallest subset whose score is
        not further from the best one, the best of equal size.  With a paired margin (of the
        columns of a subset and of the best): the same, where it holds for the two.
        """
        allowed = [i for i, step in enumerate(self.steps) if least <= step.n_features <= most]
        if not allowed:
            raise ValueError(
                f"the search visited no subset of {in_features(least, most)} (sizes seen: "
                f"{sorted({step.n_features for step in self.steps})}); feature_groups and keep may "
                "leave no such size. Change n_features, min_features or max_features."
            )

        def rank(i: int) -> tuple[Key, int, tuple[int, ...]]:
            step = self.steps[i]
            key = step.key if step.validation_key is None else step.validation_key
            # Every subset came up in exhaustive search: the order of its walk means nothing.
            tie = tuple(sorted(step.units)) if step.direction == "exhaustive" else (i,)
            return key, step.n_features, tie

        self.chosen = self.best = min(allowed, key=rank)
        if margin is not None:
            self.standard_error = margin(self.subset(self.best))
            near = [i for i in allowed if self._shortfall(i) <= self.standard_error + _ROUNDING]
            self.chosen = min(near, key=lambda i: (self.steps[i].n_features, rank(i)))
        if paired is not None:
            self._choose_paired(
                sorted(allowed, key=lambda i: (self.steps[i].n_features, rank(i))), paired
            )
        return self.chosen

    def _choose_paired(
        self, order: list[int], paired: Callable[[list[int], list[int]], float]
    ) -> None:
        """Choose the first of these steps that is not distinguishable from the best."""
        best = self.subset(self.best)
        seen: set[int] = set()
        for i in order:
            size = self.steps[i].n_features
            if i == self.best:
                self.standard_error = 0.0
            elif size in seen:
                continue  # the best of its size was told apart
            else:
                seen.add(size)
                self.standard_error = paired(self.subset(i), best)
            if self._shortfall(i) <= self.standard_error + _ROUNDING:
                self.chosen = i
                return

    def choose_smallest(self, least: int, most: int) -> int:
        """The smallest allowed subset, the best of equal size: what else was found is chance."""
        sizes = [step.n_features for step in self.steps if least <= step.n_features <= most]
        return self.choose(min(sizes), min(sizes))

    def _shortfall(self, at: int) -> float:
        """How far the score that chooses is from the best one."""
        one, best = self.steps[at], self.steps[self.best]
        if best.validation_key is None:
            return abs(one.score - best.score)
        return abs(one.validation_error - best.validation_error)

    def subset(self, at: int) -> list[int]:
        """Columns of the subset at a step, best first.

        Forward phases list them as they joined.  Backward phases list first what was dropped last,
        since that was missed most.  Columns of weighted terms come as their terms came.
        """
        step = self.steps[at]
        if step.state is not None:
            return self.columns_of(step.state.terms)
        first = max(i for i in range(at + 1) if self.steps[i].action == "start")
        units = dict.fromkeys(self.steps[first].units)
        if self.steps[first - 1].direction == "backward" and first > 0:
            units = dict.fromkeys(self._ranked_units(units, first - 1))
        for i in range(first + 1, at + 1):
            unit = self.steps[i].units[0]
            if self.steps[i].action == "add":
                units[unit] = None
            else:
                del units[unit]
        order = list(units)
        if step.direction == "backward":
            order = self._ranked_units(order, at)
        return [column for unit in order for column in self.members[unit]]

    def _ranked_units(self, units: Iterable[int], at: int) -> list[int]:
        """Order units by when the phase around step `at` dropped them for good, last first."""
        phase = self.steps[at].phase
        dropped = {}
        for i, step in enumerate(self.steps):
            if step.phase == phase and step.action == "drop":
                dropped[step.units[0]] = i
            elif step.phase == phase and step.action == "add":
                dropped.pop(step.units[0], None)
        never = len(self.steps)
        return sorted(units, key=lambda unit: -dropped.get(unit, never))

    def to_dict(self) -> dict[str, list[object]]:
        """The path as columns of plain values, the same of subsets and of weighted terms."""
        seen = {term for state in self.states for term in state.terms}
        return {
            "step": list(range(len(self))),
            "phase": [step.phase for step in self.steps],
            "action": [step.action for step in self.steps],
            "term": [self._moved(step, seen) for step in self.steps],
            "n_terms": [step.n_terms for step in self.steps],
            "n_features": [step.n_features for step in self.steps],
            "gain": [_NAN if step.gain is None else step.gain for step in self.steps],
            "score": [step.score for step in self.steps],
            self.validation_name: [step.validation_error for step in self.steps],
        }

    def _moved(self, step: Step, seen: set[int]) -> str | None:
        """Names of the terms that came or went in a step; `seen` are those that any state has."""
        if step.action == "start":
            return None
        return " + ".join(
            self.name_of(term) if step.state is None or term in seen else "(left at once)"
            for term in self.units[step.units[0]]
        )

    def to_frame(self, backend: Any = None) -> Any:
        """The path as a data frame, one row a step.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".  By default the
            first of these two that is installed.
        """
        return frame_of(self.to_dict(), backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw score and validation error against the number of features, or of terms.

        Bands: two standard errors on either side, where the score is a share of rows or a mean of
        probabilities; of the many subsets visited, the best is surely too good.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        from ..explain.plots import plot_path

        return plot_path(self, ax)


class Recorder:
    """Listens to an objective and writes its path, with the validation part's verdict.

    Parameters
    ----------
    path : written to.
    verdicts : the validation part's, or None.
    """

    def __init__(self, path: Path, verdicts: Scorer | None):
        self._path = path
        self._verdicts = verdicts
        self._selected: set[int] = set()
        self._phase = -1

    def __call__(self, action: str, units: tuple[int, ...], objective: Objective) -> None:
        """Write one step."""
        if action == "start":
            self._phase += 1
            self._follow(set(units), objective)
        else:
            self._follow(self._selected ^ set(units), objective)
        key = objective.score()
        verdict, error = None, _NAN
        if self._verdicts is not None:
            verdict = self._verdicts.now()
            error = self._verdicts.value(verdict)
        step = Step(
            action,
            units,
            phase=self._phase,
            direction=objective.direction,
            n_features=objective.size,
            key=key,
            score=objective.value(key),
            validation_key=verdict,
            validation_error=error,
        )
        self._path.steps.append(step)

    def _follow(self, wanted: set[int], objective: Objective) -> None:
        """Move the validation part to the same subset."""
        if self._verdicts is not None:
            self._verdicts.apply(objective.columns(sorted(self._selected - wanted)), -1)
            self._verdicts.apply(objective.columns(sorted(wanted - self._selected)), 1)
        self._selected = wanted


# -- Weights of terms as an objective: add, visit all, let go of what has no weight ----------------

# Every candidate's gain is that of one Newton step of its weights, from integer sums by code.  A
# step is kept only where the exact loss of rows left out, an integer, falls with the penalty.


# A visit that promises less than this many nat is not worth the steps.
_LEAST_GAIN = 1e-3

# Constants are drawn to where they are by this much a row.
_CONSTANT_RIDGE = 1e-3

_CONSTANTS = 64

# While terms are looked for, corrections are fitted by so many steps; a term without weight stays
# if it is corrected by more than this, in nat.
_LATE_STEPS, _LEAST_CORRECTION = 6, 0.02

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
            swap(self._ledger, self.corrections, corrections or {})
            self.corrections = corrections or {}
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
        swap(self._ledger, start, {})
        self.corrections = {}
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
        found[at] = promises(self._ledger, terms[at].tolist(), known, self._rules.shared)
        return found

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

    def _said(self, term: int, n_codes: int) -> Floats:
        """What a term says at its weights, in nat; the mean of all folds."""
        table = self._tables.ratios[self._tables.rows(term)]
        table = table.reshape(self._ledger.offers.n_folds, -1, table.shape[1])[:, :n_codes].mean(0)
        found: Floats = np.ldexp(table, -TERM_BITS) * (self.weights[term] / WEIGHT_STEPS)
        return found

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
    >>> from bayesieve.search.path import clustered_gains
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
    >>> from bayesieve.search.path import most_gain
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
    >>> from bayesieve.search.path import surest
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

    def walk(self) -> Iterator[WeightState]:
        """One state after the other, the start first; where it goes on, those that are to come."""
        for _ in GainSearch().steps(self):
            assert self.now is not None
            yield self.now

    def begin(self) -> bool:
        """Take the start down as a state; False where states were taken before."""
        if self.now is None:
            self.now = self.state(-1, 0.0)
            return True
        return False

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
        """The unit that gains most beyond its price, the first of equals; None: none does."""
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
        return int(units[best]), float(each[best] + price * sizes[units[best]])

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

    def fitted(
        self,
        step: WeightState,
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
        pairs: list[PairTerms] = []
        corrections: list[Ints | None] = [None] * len(columns)
        added = step.corrections[g] if step.corrections else {}
        for term, line in zip(step.terms, step.weights[g], strict=True):
            if term in page.pairs:
                first, second = (place[j] for j in self.columns_of(term))
                pair = page.pairs[term]
                table = added.get(term)
                if table is not None:
                    table = table.reshape(pair.ratios.shape)
                where = (first, second)
                pairs.append(replace(pair, columns=where, weights=line, correction=table))
            else:
                weights[place[term]] = line
                corrections[place[term]] = added.get(term)
        constants = step.constants[g]
        if priors is not None:
            constants = constants + self._prior_shift(g, priors)
        rising = tuple((place[j], sign) for j, sign in self.monotone if j in place)
        some = () if all(each is None for each in corrections) else tuple(corrections)
        weighting = Weighting(weights, tuple(pairs), self.speaks, rising, priors, some)
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
