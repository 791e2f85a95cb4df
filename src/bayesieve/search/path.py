"""Paths: every state that a fit visited, and the choice among them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..criteria.base import Key, read_as
from ..data.result import frame_of, html_table
from ..models.base import Ints, PairTerms, Weighting
from ..models.columns import Summary
from ..models.counts import log_shares_of
from ..models.fitted import FittedProblem
from ..models.log_ratios import CONSTANT_STEPS, Ratios, weigh
from .objective import Objective, Scorer
from .progress import in_features

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
        return np.rint((np.log(priors) - shares) * CONSTANT_STEPS).astype(np.int64)
