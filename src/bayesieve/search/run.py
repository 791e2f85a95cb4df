"""One fit: `Problem`, its ledgers, and `Run` with clock, journal and Ctrl-C.

One reading of the table, column by column, feeds the final model and both ledgers.  A run takes the
steps, of a search of subsets or of a path of weighted terms, and knows checkpoints, a time limit,
the progress line and Ctrl-C.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import lcm
from pathlib import Path as FilePath
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..checks import Array
from ..data.columns import ColumnSpec, encode
from ..data.sample import (
    Sample,
    Targets,
    class_factors,
    find_splits,
    means_loo,
    read_mates,
    training_copies,
)
from ..data.storage import Lookup, PackedTable
from ..data.tables import SparseTable, Table, room_of
from ..engine.contract import Ledger
from ..engine.dense import DenseLedger
from ..engine.layout import DenseColumns, ScoredRows, scoring, validation_lines
from ..engine.registry import RemoteTable
from ..engine.sparse import Scoring, SparseLedger, SparseProblem, SparseTables
from ..engine.threads import Threads
from ..models.base import Floats, Ints, ModelSettings, TrainingSets, one_set, run_alone
from ..models.base import Run as Workers
from ..models.columns import Counter, Summary, read_column, read_moves
from ..models.counts import check_priors
from ..models.fitted import FittedBayes
from ..rankings.families import Families
from . import SEARCHES
from .checkpoint import Journal, Replay, Replayed, fingerprint
from .objective import Objective, Scorer, SubsetScorer
from .path import Path
from .progress import Cost, Forecast, ProgressLine, Revisits, in_features
from .strategies.base import Limits, Search

#: A model of all rows, as a value: `FittedBayes`, or what another family makes.
Fitted: TypeAlias = Any


class Family(Protocol):
    """Models that a selector can search: what it asks of them."""

    @property
    def name(self) -> str:
        """The estimator's."""

    @property
    def form(self) -> str:
        """Of ledger it needs: "lines" or "moves"."""

    @property
    def features(self) -> object:
        """Feature models, as users give them."""

    def choose_models(self, table: Table) -> list[str]:
        """The feature model of each column of a table."""

    @property
    def smoothing(self) -> object:
        """Of counts, as users give it."""

    @property
    def priors(self) -> Any:
        """Of the classes, as users give them."""

    @property
    def rounded(self) -> bool:
        """Are continuous values rounded first?"""

    def check(self) -> None:
        """Validate the settings."""

    def check_sample(self, sample: Sample) -> None:
        """Validate the settings that depend on the classes."""

    def fit(
        self,
        sample: Sample,
        models: Sequence[str],
        class_weight: Floats | None = None,
        run: Workers = run_alone,
    ) -> Fitted:
        """The model of all rows, as a value."""

    def problems(self, targets: Targets) -> list[Ints]:
        """Classes of all rows in each problem that is counted."""

    def finish(
        self, summaries: Sequence[Summary], labels: Sequence[str] = (), run: Workers = run_alone
    ) -> Fitted:
        """The model of what was counted, one summary a problem."""

    def restrict(self, fitted: Fitted, columns: Sequence[int], sample: Sample) -> Fitted:
        """Some columns of a model of all rows."""

    def sparse_tables(
        self, problem: SparseProblem, fitted: Fitted, run: Workers = run_alone
    ) -> SparseTables:
        """Terms for the rows of a sparse ledger."""


class DenseFamily(Family, Protocol):
    """Models that can be asked line by line."""

    def settings(self, fitted: FittedBayes, class_weight: Floats) -> ModelSettings:
        """Settings of tables that are learnt on some of the rows of a model."""


# -- One search ------------------------------------------------------------------------------------


Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Validated rows and constraints of one fit, of whichever estimator."""

    sample: Sample
    models: list[str]  #: the feature model of each column
    units: list[list[int]]  #: columns that enter and leave together
    keep: list[int]  #: units that stay in
    class_weight: object
    groups: Array | None  #: handed to the splitter
    n_rows: int  #: of the user's table, those without weight included
    families: Families | None = None  #: only their leaders are in `units`

    @property
    def table(self) -> Table:
        """The columns."""
        return self.sample.table

    @cached_property
    def mates(self) -> Rows | None:
        """The number of each row's group; None where rows are independent."""
        return read_mates(self.groups, self.sample.rows)

    def n_groups(self, rows: Rows) -> int:
        """How many groups there are among rows; each row is one where nobody named any."""
        return rows.size if self.mates is None else np.unique(self.mates[rows]).size

    def factors(self, rows: Rows) -> list[Fraction]:
        """Weight of each class, as these rows balance it."""
        if self.sample.targets.labelled:
            return [Fraction(1)] * 2
        return class_factors(
            self.class_weight,
            self.sample.labels[rows],
            self.sample.weights[rows],
            len(self.sample.classes),
        )

    def float_factors(self, rows: Rows) -> NDArray[np.float64]:
        """Weight of each class as a float, as these rows balance it."""
        return np.array([float(factor) for factor in self.factors(rows)])

    def row_weights(self, rows: Rows) -> NDArray[np.float64]:
        """Weight of every row, with that of its class as these rows balance it."""
        sample = self.sample
        if sample.targets.labelled:
            return sample.weights
        return sample.weights * self.float_factors(rows)[sample.labels]

    def whole_factors(self, rows: Rows) -> tuple[int, ...]:
        """Weight of each class as a whole number, a common denominator left out."""
        factors = self.factors(rows)
        shared = lcm(*(factor.denominator for factor in factors))
        return tuple(int(factor * shared) for factor in factors)


@dataclass(frozen=True, kw_only=True)
class Task(Problem):
    """A problem of subsets: what is searched, by what scores, of which sizes."""

    family: Family
    limits: Limits
    sizes: tuple[int, int]  #: numbers of columns that may be chosen
    cv: object
    sparse: bool  #: ledgers of sparse moves, rather than dense ones
    start: tuple[int, ...] | None = None  #: units that the search begins with
    looked_at: frozenset[int] | None = None  #: columns that may be chosen, if not all

    def seen_by(self, search: Search) -> "Task":
        """Leave columns that the search will not look at unlearnt."""
        if search.among is None or self.start is not None:
            return self
        columns = (column for unit in search.among | {*self.keep} for column in self.units[unit])
        return replace(self, looked_at=frozenset(columns))

    def scored(self, guiding: Rows) -> ScoredRows:
        """Which rows train and which are scored, by `cv`."""
        sample = self.sample
        return scoring(
            "loo" if means_loo(self.cv) else self.cv,
            sample.labels,
            sample.weights,
            guiding,
            self.factors(guiding),
            sample.rows,
            self.groups,
            self.n_rows,
        )

    def judging_sets(self, scored: ScoredRows, guiding: Rows) -> TrainingSets:
        """All guiding rows train: those of the search itself where it scores them as they are."""
        if isinstance(self.cv, str) and self.cv == "train":
            return scored.sets
        labels, weights = self.sample.labels[guiding], self.sample.weights[guiding]
        return one_set(labels, weights, scored.sets.class_weight, guiding)


class Ledgers(NamedTuple):
    """Ledgers of the rows that guide a search, and of those that choose."""

    guide: Ledger
    judge: Ledger | None  #: of the validation part
    fitted: Fitted  #: the model of all rows and columns
    scored: object  #: which rows train and which are scored, for a checkpoint


# A column of which nothing is known.
_NOTHING = "bernoulli", np.array([0.0, 1.0])


def dense_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """One reading of the table feeds the final model (all rows) and the ledgers."""
    sample, family = task.sample, cast(DenseFamily, task.family)
    scored = task.scored(guiding)
    sets, rows = scored.sets, scored.training
    n_columns, room = len(task.models), room_of(sample.table)
    codes = threads.accelerator is not None
    plans = [DenseColumns(sets, scored.lines, scored.loo, n_columns, room, rows, codes)]
    if validating.size:
        sets = task.judging_sets(scored, guiding)
        lines = validation_lines(sample.labels, sample.weights, validating)
        plans.append(DenseColumns(sets, lines, False, n_columns, room, guiding, codes))
    class_weight = task.float_factors(np.arange(sample.labels.size))
    counter = Counter(sample.classes, sample.labels, sample.weights, class_weight)
    repeats, unread = sample.repeats, np.zeros(sample.labels.size, np.uint8)
    for j in range(n_columns):
        if task.looked_at is None or j in task.looked_at:
            read = read_column(sample.table, j, task.models[j], family.rounded, repeats=repeats)
            (spec, column), later = read, _later(sample.table, j, read[0])
        else:
            spec, column, later = ColumnSpec(task.table.names[j], *_NOTHING), unread, None
        counter.take(spec, column)
        # Rows ascend, each once: as many as there are, are all of them.
        guides = column if guiding.size == column.size else column[guiding]
        # Rows that a split trains on twice stand twice among those of the first plan.
        plans[0].add(spec, guides if rows.size == guiding.size else column[rows], column, later)
        for plan in plans[1:]:
            known = plans[0].statistics[-1] if plan.sets is plans[0].sets else None
            plan.add(spec, guides, column, later, known)
    fitted = family.finish([counter.summary()], (), threads.prepare)
    settings = family.settings(fitted, plans[0].sets.class_weight)
    priors = check_priors(family.priors, len(sample.classes))
    found = DenseLedger.build(plans, settings, priors, task.whole_factors(guiding), threads)
    reads = (scored.lines, rows, plans[0].sets.left_out, scored.loo)
    return Ledgers(found[0], found[1] if validating.size else None, fitted, reads)


class Found(NamedTuple):
    """What a search found."""

    path: Path
    guide: SubsetScorer
    n_tried: int


def _later(table: Table, j: int, spec: ColumnSpec) -> Callable[[Rows | None], Lookup] | None:
    """A packed table has the values already: ledgers need not keep them a second time."""
    if not isinstance(table, PackedTable):
        return None
    values, codes = table.kept(j)
    values = encode(spec, values)
    return partial(Lookup, *((None, values) if codes is None else (values, codes)))


def is_ours(search: object) -> bool:
    """Is this one of the searches that come with the library?"""
    return type(search) in {type(each) for each in SEARCHES.values()}


# Seconds from which on what is left to do is worth a word.
_LONG = 10.0


# Seconds beyond a time limit that tables may take.
_PATIENCE = 2.0


# What to do about a search that cannot end in time.
_ADVICE = {
    "forward": "Give it more time, a smaller max_features, or use search='ranked'.",
    "backward": (
        "What it has dropped by then is all that is dropped: give it more time, or use "
        "search='forward' or 'ranked', which begin with the best features."
    ),
}


class Clock:
    """Runs from the moment it is made, and knows when it is late.

    Parameters
    ----------
    limit : seconds, or None.
    """

    def __init__(self, limit: float | None):
        self.limit = limit
        self._start = time.monotonic()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        if self.limit is None:
            return float("inf")
        return self.limit - (time.monotonic() - self._start)

    def check(self, rest: float) -> None:
        """Refuse to go on where the time is up and the tables need so many seconds more."""
        if self.left < 0 and rest > _PATIENCE:
            raise ValueError(
                f"time_limit={self.limit} has passed before a search could begin, and the tables "
                f"that it reads need about {rest:.0f} s more; give it more time or threads "
                "(n_jobs), or use fewer classes, labels or columns."
            )


# What stopped a fit, where nobody's clock did.
_INTERRUPT = "Ctrl-C"

_Taken = TypeVar("_Taken")


def never() -> bool:
    """Stop signal that never fires."""
    return False


class Run:
    """Take the steps of a fit, with a clock, a journal, a progress line and Ctrl-C.

    Parameters
    ----------
    clock : when the fit is stopped.
    journal : where steps are written down, or None.
    line : shows how far the fit is, and what a long search will cost; None: nobody is told.
    """

    def __init__(
        self, clock: Clock, journal: Journal | None = None, line: ProgressLine | None = None
    ):
        self.clock, self.journal, self.line = clock, journal, line
        self._replay = None if journal is None else Replay(journal)
        self._waiting = line is not None  # for what the search will cost
        self._warned = False

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self.journal is not None:
                self.journal.close()
        finally:
            if self.line is not None:
                self.line.close()

    def verdicts(self, settler: Scorer) -> Scorer:
        """Verdicts of a scorer; where there is a checkpoint, written down and given back."""
        return settler if self._replay is None else Replayed(settler, self._replay)

    def follow(
        self,
        steps: Iterable[_Taken],
        take: Callable[[_Taken], bool],
        usable: Callable[[], bool],
        stop: Callable[[], bool] = never,
    ) -> str | None:
        """Take all steps, or as many as there is time for; what stopped them, if anything did.

        Parameters
        ----------
        steps : one after the other.
        take : writes one down; False: it came out of the journal, and never ends a fit, so that
            every run gets on.
        usable : is there anything to choose from?  Before that, Ctrl-C is an interrupt as any.
        stop : does a callback ask to end it, without a word?
        """
        try:
            for step in steps:
                new = take(step)
                if stop():
                    return None
                if new and self.clock.left <= 0:
                    return f"time_limit={self.clock.limit}"
        except KeyboardInterrupt:
            # A second one finds no handler.
            if not usable():
                raise
            return _INTERRUPT
        return None

    def search(
        self,
        search: Search,
        limits: Limits,
        objective: Objective,
        path: Path,
        sizes: tuple[int, int],
        stop: Callable[[], bool] = never,
    ) -> None:
        """Drive a search of subsets to its end, or as far as there is time for.

        Parameters
        ----------
        search, limits : which subsets it visits.
        objective, path : what it changes, and what it has visited.
        sizes : numbers of columns that may be chosen.
        stop : does a callback ask to end it?
        """
        forecast = self._listen(search, limits, objective)
        known, halted = self._replaying, False

        def take(_: object) -> bool:
            nonlocal known, halted
            if self._replay is not None:
                self._replay.paused()
            if self.line is not None:
                self.line.tick(objective)
            halted, new = stop(), not known
            if forecast is not None and not halted:
                if known:
                    forecast.rest(objective)
                else:
                    forecast.step(objective)
                    self._look_ahead(forecast, objective)
            known = self._replaying
            return new

        cause = self.follow(
            search.steps(objective, limits),
            take,
            lambda: _allowed(path, sizes),
            lambda: halted,
        )
        if cause is None:
            if self._replay is not None and not halted:
                self._replay.ended()
            return
        cost = None
        if forecast is not None and cause != _INTERRUPT:
            cost = forecast.cost(objective)
            if cost is not None and (cost.bound or cost.seconds <= _LONG):
                cost = None
        self._say(cause, objective, path, sizes, cost)

    def _listen(self, search: Search, limits: Limits, objective: Objective) -> Forecast | None:
        """Let others hear of the steps; the forecast, where anyone waits for it."""
        if self.line is not None:
            objective.listeners.append(self.line)
        if self._replay is not None:
            # After the recorder: a record holds the validation part's answers too.
            objective.listeners.append(self._replay.committed)
        if not is_ours(search):
            objective.listeners.append(Revisits())
        if self.line is None and self.clock.limit is None:
            return None
        forecast = Forecast(search, limits)
        objective.listeners.append(forecast)
        return forecast

    def _look_ahead(self, forecast: Forecast, objective: Objective) -> None:
        """Tell what the search will cost as soon as its first steps show that."""
        if self.clock.left <= 0 or not forecast.due():
            return
        if not self._waiting and (self.clock.limit is None or self._warned):
            return
        cost = forecast.cost(objective)
        if cost is None:
            return
        if self.line is not None and self._waiting and cost.seconds > _LONG:
            self.line.say(f"{objective.direction}: {cost}")
            self._waiting = False
        if not self._warned and not cost.bound and cost.seconds > self.clock.left:
            self._warned = True
            advice = _ADVICE.get(objective.direction, "Give it more time, or use another search.")
            pace = "step" if forecast.steps == 1 else f"{forecast.steps} steps"
            warnings.warn(
                f"the search cannot end within time_limit={self.clock.limit}: it has {cost}, by "
                f"the pace of its first {pace}. {advice}",
                ConvergenceWarning,
                stacklevel=9,
            )

    @property
    def _replaying(self) -> bool:
        return self._replay is not None and self._replay.replaying

    def _say(
        self,
        cause: str,
        objective: Objective,
        path: Path,
        sizes: tuple[int, int],
        cost: Cost | None,
    ) -> None:
        """Tell how far the search came; an error where there is nothing to choose from."""
        last = path.steps[-1]
        # A search may visit subsets without asking for candidates, as a ranked one does.
        tried = max(objective.n_tried, len(path))
        far = (
            f"the search was stopped by {cause} at step {len(path) - 1} ({tried} "
            f"subset{'' if tried == 1 else 's'} tried; {last.direction}, size {last.n_features})"
        )
        more = "give it more time"
        if cost is not None and not self._warned:
            more = f"give it more time (it has {cost}, at this pace)"
        if self.journal is not None:
            more = f"fit again with checkpoint={str(self.journal.path)!r} to go on"
        if not _allowed(path, sizes):
            raise ValueError(
                f"{far}; no subset of {in_features(*sizes)} has been visited yet, as "
                f"n_features, min_features and max_features ask. To get there, {more}."
            )
        warnings.warn(
            f"{far}; the best subset visited so far is chosen. For the rest, {more}.",
            ConvergenceWarning,
            stacklevel=7,
        )


def _allowed(path: Path, sizes: tuple[int, int]) -> bool:
    """Has a subset that may be chosen been visited?"""
    return any(sizes[0] <= step.n_features <= sizes[1] for step in path.steps)


# -- Rows that stay in memory between searches -----------------------------------------------------


#: Makes the ledgers of a task.
Make = Callable[[Task, Rows, Rows, Threads], Ledgers]

#: Asked after every step: shall the search end?
Ended = Callable[[], bool]


class Renewable(Ledger, Protocol):
    """A ledger that another one may start from: the same lines, none of its columns in."""

    def afresh(self, threads: Threads) -> Ledger:
        """Copy of the ledger (lines and tables) with no column selected."""


class Listener(Protocol):
    """Hears of the searches of held rows."""

    def begin(self, objective: Objective, search: Search, limits: Limits) -> Ended:
        """A search begins."""

    def halt(self) -> bool:
        """Was the search stopped?  Waits while it is paused."""


class ProofEndedError(Exception):
    """Somebody stopped a search while it was being proved: it stays without a proof."""


class CachedRows:
    """Validated table with its target, and the ledgers made from it.

    Handed to `NaiveBayesSelector.fit` in place of X: the result is the same as that of the rows
    themselves, to the bit, without reading or counting them again.

    Parameters
    ----------
    X : as the user gave it.
    sample : X, y and the weights, judged.
    params : ``sample_weight`` and ``groups``, where there are any.
    ear : hears of searches; None: nobody.
    """

    def __init__(
        self, X: object, sample: Sample, params: dict[str, object], ear: Listener | None = None
    ):
        self.X, self.sample, self.params, self.ear = X, sample, params, ear
        self.task: Task | None = None  #: of the last fit
        self._made: tuple[str, Ledgers] | None = None

    @property
    def made(self) -> Ledgers:
        """The ledgers of the last fit, none of whose columns is in."""
        assert self._made is not None
        return self._made[1]

    def ledgers(
        self, make: Make, task: Task, guiding: Rows, validating: Rows, threads: Threads
    ) -> Ledgers:
        """Ledgers of a task; those made before, where they are the same."""
        decides = (task.cv, task.class_weight, task.family, task.models, task.sparse)
        mark = fingerprint(decides, guiding, validating)
        if task.n_rows and guiding.size + validating.size < self.sample.labels.size:
            return make(task, guiding, validating, threads)  # some rows, to prove something
        if self._made is None or self._made[0] != mark:
            self._made = mark, make(task, guiding, validating, threads)
        self.task, kept = task, self._made[1]
        judge = None if kept.judge is None else afresh(kept.judge, threads)
        return kept._replace(guide=afresh(kept.guide, threads), judge=judge)

    def heard_by(self, ear: Listener) -> "CachedRows":
        """Copy of the cached rows whose searches report to another listener."""
        found = copy(self)
        found.ear = ear
        return found

    def watched(self, objective: Objective, search: Search, limits: Limits) -> Ended | None:
        """Report the steps of a search to the listener."""
        return None if self.ear is None else self.ear.begin(objective, search, limits)

    def halted(self, objective: Objective) -> Ended:
        """Of a search that proves another one: who may end the proof."""
        ear = self.ear

        def ended() -> bool:
            if ear is not None and ear.halt():
                raise ProofEndedError
            return False

        return ended


def afresh(ledger: Ledger, threads: Threads) -> Ledger:
    """A ledger of the same lines, none of whose columns is in."""
    return cast(Renewable, ledger).afresh(threads)


# -- The ledgers of sparse tables, of labels and of votes ------------------------------------------


def sparse_ledgers(task: Task, guiding: Rows, validating: Rows, threads: Threads) -> Ledgers:
    """The final model, on all rows, and ledgers of moves."""
    sample, family = task.sample, task.family
    class_weight = task.float_factors(np.arange(sample.labels.size))
    fitted = family.fit(sample, task.models, class_weight, threads.prepare)
    moves, specs, values = read_moves(task.table, task.models, family.rounded, sample.repeats)
    scorings = scorings_of(task, guiding, validating)
    class_weight, factors = task.float_factors(guiding), task.whole_factors(guiding)
    found = []
    for each in scorings:
        problem = SparseProblem(
            moves, specs, values, sample.targets, sample.weights, each, class_weight
        )
        tables = family.sparse_tables(problem, fitted, threads.prepare)
        found.append(SparseLedger(problem, tables, factors, threads))
    return Ledgers(found[0], found[1] if validating.size else None, fitted, scorings[0])


def scorings_of(task: Task, guiding: Rows, validating: Rows) -> list[Scoring]:
    """Which rows train and which are scored: of the guide, and of the judge where there is one."""
    found = [_scoring(task, guiding)]
    if validating.size:
        nothing = (np.empty(0, np.int64),)
        found.append(Scoring(guiding, nothing, validating, np.array([validating.size])))
    return found


def _scoring(task: Task, guiding: Rows) -> Scoring:
    """Lines of the guiding rows, fold by fold."""
    if isinstance(task.cv, str):
        nothing = (np.empty(0, np.int64),)
        return Scoring(guiding, nothing, guiding, np.array([guiding.size]))
    read = task.sample
    splits = find_splits(
        task.cv, read.strata[guiding], read.rows[guiding], task.groups, task.n_rows
    )
    copies, left_out = training_copies([train for train, _ in splits], guiding.size)
    rows = np.concatenate([test for _, test in splits])
    ends = np.cumsum([test.size for _, test in splits])
    return Scoring(guiding[copies], left_out, guiding[rows], ends)


# -- A journal is opened for one search on one table -----------------------------------------------


def open_journal(checkpoint: FilePath, parts: Mapping[str, str], work: str = "search") -> Journal:
    """The journal of one fit, checked against everything that decides its result.

    Parameters
    ----------
    checkpoint : the file.
    parts : fingerprints of what decides, by the name under which people know it.
    work : what is written down, in the words of errors.
    """
    # Read where it is, not imported: the package's face stands above this room.
    return Journal(checkpoint, sys.modules[__name__.partition(".")[0]].__version__, parts, work)


def search_fingerprints(
    task: Task,
    model: object,
    search: object,
    criterion: object,
    scored: object,
    rows: tuple[Rows, Rows],
) -> dict[str, str]:
    """Fingerprints of everything that decides the result of a search of subsets."""
    read = task.sample
    if isinstance(read.table, SparseTable):
        matrix = read.table.matrix
        data = [matrix.shape, matrix.indptr, matrix.indices, matrix.data]
    elif isinstance(read.table, RemoteTable):
        data = [read.table.held.specs, read.table.held.marks()]
    else:
        # One by one: a table is not copied to be looked at.
        data = [fingerprint(read.table.column(j)) for j in range(len(read.table.names))]
    return {
        "X": fingerprint(data),
        "y": fingerprint(read.targets.classes, read.classes, read.targets.labelled),
        "sample_weight": fingerprint(read.weights, read.rows),
        "estimator": fingerprint(model),
        "search": fingerprint(search),
        "criterion": fingerprint(criterion),
        "cv": fingerprint(scored),
        "validation (the rows drawn with random_state)": fingerprint(rows),
        "feature_groups": fingerprint(task.units),
        "keep": fingerprint(task.keep),
        "n_features, max_features or min_features": fingerprint(task.limits, task.sizes),
        "class_weight": fingerprint(task.class_weight),
    }
