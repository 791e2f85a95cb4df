"""One search: its task, the ledgers that answer it, and a driver that survives interruptions.

One reading of the table, column by column, feeds the final model and both ledgers.  The driver
takes the steps and knows checkpoints, a time limit and Ctrl-C.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import lcm
from types import TracebackType
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..checks import Array
from ..data.columns import ColumnSpec, encode
from ..data.packed import Lookup, PackedTable
from ..data.parts import read_mates
from ..data.sample import Sample, class_factors, means_loo
from ..data.tables import Table, room_of
from ..engine.contract import Ledger
from ..engine.dense import DenseLedger
from ..engine.lines import DenseColumns, Scored, scoring, validation_lines
from ..engine.threads import Threads
from ..models.base import TrainingSets, one_set
from ..models.columns import Counter, read_column
from ..models.counts import check_priors
from ..rankings.families import Families
from . import SEARCHES
from .checkpoint.journal import Journal
from .checkpoint.replay import Replay, Replayed
from .family import DenseFamily, Family, Fitted
from .forecast import Cost, Forecast, Revisits
from .objective import Objective, Settler, Verdicts
from .path import Path
from .progress import in_features
from .strategies.base import Limits, Search

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """The judged input of one fit of a selector."""

    sample: Sample
    family: Family
    models: list[str]
    units: list[list[int]]
    keep: list[int]
    limits: Limits
    sizes: tuple[int, int]  #: numbers of columns that may be chosen
    class_weight: object
    cv: object
    groups: Array | None  #: handed to the splitter
    n_rows: int  #: of the user's table, those without weight included
    sparse: bool  #: ledgers of sparse moves, rather than dense ones
    families: Families | None = None  #: only their leaders are in `units`
    start: tuple[int, ...] | None = None  #: units that the search begins with
    looked_at: frozenset[int] | None = None  #: columns that may be chosen, if not all

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

    def seen_by(self, search: Search) -> "Task":
        """The same, in which columns that the search will not look at need not be learnt."""
        if search.among is None or self.start is not None:
            return self
        columns = (column for unit in search.among | {*self.keep} for column in self.units[unit])
        return replace(self, looked_at=frozenset(columns))

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
        """The same as floats."""
        return np.array([float(factor) for factor in self.factors(rows)])

    def row_weights(self, rows: Rows) -> NDArray[np.float64]:
        """Weight of every row, with that of its class as these rows balance it."""
        sample = self.sample
        if sample.targets.labelled:
            return sample.weights
        return sample.weights * self.float_factors(rows)[sample.labels]

    def scored(self, guiding: Rows) -> Scored:
        """Who trains and who is scored, as `cv` has it."""
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

    def judging_sets(self, scored: Scored, guiding: Rows) -> TrainingSets:
        """All guiding rows train: those of the search itself where it scores them as they are."""
        if isinstance(self.cv, str) and self.cv == "train":
            return scored.sets
        labels, weights = self.sample.labels[guiding], self.sample.weights[guiding]
        return one_set(labels, weights, scored.sets.class_weight, guiding)

    def whole_factors(self, rows: Rows) -> tuple[int, ...]:
        """The same as whole numbers, a common denominator left out."""
        factors = self.factors(rows)
        shared = lcm(*(factor.denominator for factor in factors))
        return tuple(int(factor * shared) for factor in factors)


class Ledgers(NamedTuple):
    """Who guides a search and who judges what it found."""

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
    codes = bool(threads.gpus)
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
    guide: Settler
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


class Driver:
    """Drives a search.

    Parameters
    ----------
    journal : where steps are written down, or None.
    clock : when the search is stopped.
    say : told what a long search will cost; None for nobody.
    """

    def __init__(
        self, journal: Journal | None, clock: Clock, say: Callable[[str], None] | None = None
    ):
        self._journal = journal
        self._replay = None if journal is None else Replay(journal)
        self._clock = clock
        self.say = say
        self._warned = False

    def __enter__(self) -> "Driver":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._journal is not None:
            self._journal.close()

    def verdicts(self, settler: Verdicts) -> Verdicts:
        """The same verdicts; where there is a checkpoint, written down and given back."""
        return settler if self._replay is None else Replayed(settler, self._replay)

    def drive(
        self,
        search: Search,
        limits: Limits,
        objective: Objective,
        path: Path,
        sizes: tuple[int, int],
        stop: Callable[[], bool],
    ) -> None:
        """Take all steps, or as many as there is time for.

        Parameters
        ----------
        search, limits : which subsets it visits.
        objective, path : what it changes, and what it has visited.
        sizes : numbers of columns that may be chosen.
        stop : does a callback ask to end it?
        """
        forecast = self._listen(search, limits, objective)
        known = self._replaying
        try:
            for _ in search.steps(objective, limits):
                if self._replay is not None:
                    self._replay.paused()
                if stop():
                    return
                if forecast is None:
                    continue
                # A step out of the journal never ends a search, so that every run gets on.
                if known:
                    forecast.rest(objective)
                else:
                    forecast.step(objective)
                    if self._clock.left <= 0:
                        break
                    self._look_ahead(forecast, objective)
                known = self._replaying
            else:
                if self._replay is not None:
                    self._replay.ended()
                return
        except KeyboardInterrupt:
            # Nothing to choose from: an interrupt like any other.  A second one finds no handler.
            if not _allowed(path, sizes):
                raise
            self._say("Ctrl-C", objective, path, sizes, None)
            return
        cost = None if forecast is None else forecast.cost(objective)
        if cost is not None and (cost.bound or cost.seconds <= _LONG):
            cost = None
        self._say(f"time_limit={self._clock.limit}", objective, path, sizes, cost)

    def _listen(self, search: Search, limits: Limits, objective: Objective) -> Forecast | None:
        """Who hears of the steps; the forecast among them, where anyone waits for it."""
        if self._replay is not None:
            # After the recorder: a record holds the validation part's answers too.
            objective.listeners.append(self._replay.committed)
        if not is_ours(search):
            objective.listeners.append(Revisits())
        if self.say is None and self._clock.limit is None:
            return None
        forecast = Forecast(search, limits)
        objective.listeners.append(forecast)
        return forecast

    def _look_ahead(self, forecast: Forecast, objective: Objective) -> None:
        """Tell what the search will cost as soon as its first steps show that."""
        waiting = self.say is not None or (self._clock.limit is not None and not self._warned)
        if not waiting or not forecast.due():
            return
        cost = forecast.cost(objective)
        if cost is None:
            return
        if self.say is not None and cost.seconds > _LONG:
            self.say(f"{objective.direction}: {cost}")
            self.say = None
        if not self._warned and not cost.bound and cost.seconds > self._clock.left:
            self._warned = True
            advice = _ADVICE.get(objective.direction, "Give it more time, or use another search.")
            pace = "step" if forecast.steps == 1 else f"{forecast.steps} steps"
            warnings.warn(
                f"the search cannot end within time_limit={self._clock.limit}: it has {cost}, by "
                f"the pace of its first {pace}. {advice}",
                ConvergenceWarning,
                stacklevel=7,
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
        if self._journal is not None:
            more = f"fit again with checkpoint={str(self._journal.path)!r} to go on"
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
