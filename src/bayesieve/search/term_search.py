"""Find weighted terms: inner cross-validation decides how, then a path of terms is walked.

Inner folds decide on pairs of columns and the price of a term, or on no term at all.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Lock
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from ..engine.threads import Threads
from ..models.base import Floats, Ints
from .checkpoint import TermRecords
from .path import Path, TermBook, WeightState
from .run import Problem, Run
from .term_pool import (
    LOW_PRICE,
    MOST_CELLS,
    MOST_CLASSES,
    MOST_GROUP_FOLDS,
    N_FOLDS,
    RISK,
    CodedRows,
    HeldOut,
    Weighing,
    WeightPlan,
    fold_weights,
    strict_price,
)
from .term_weights import FREEDOMS, LATE_FREEDOM, SLOPES, TermObjective

# What is less simple must foretell held-out rows better by so many nat.
_MARGIN = 2.0

# Lower prices of a term, in nat, and up to how many rows they are offered.
_LOWER_PRICES = {0.3: 300, 0.1: 100}

# Up to so many rows all options are tried with corrections; up to so many, on two draws of folds.
_FEW_ROWS, _VERY_FEW_ROWS = 1000, 200

# Terms must foretell held-out rows better than none by so many nat; in doubt by so many.
_GUARD, _DOUBT = 2.0, 10.0

# Up to so many products of rows and pairs of classes, every path is walked by one thread.
_SMALL = 1 << 21


@dataclass(frozen=True)
class FitOption:
    """One way to fit.

    Parameters
    ----------
    pairs : are pairs of columns offered?
    price : nat that a term must gain; None: what chance alone rarely pays; infinite: none.
    freedom : squared nat by which tables may be corrected; 0: they are not.
    slope : squared nat by which a line along ranks may rise in a standard deviation; 0: no lines.
    """

    pairs: bool
    price: float | None
    freedom: float = 0.0
    slope: float = 0.0

    def amount(self, candidates: int, grouped: bool = False) -> float:
        """The price in nat, of so many candidates."""
        return strict_price(candidates, grouped) if self.price is None else self.price


def options_of(
    pairs: bool | str, price: float | str, grouped: bool = False, n_rows: float = math.inf
) -> list[FitOption]:
    """What there is to choose between, the simplest first.

    Parameters
    ----------
    pairs, price : as users give them.
    grouped : do rows come in groups?  Gains are then judged by Student's t over groups, which at
        the strict price is a test by itself; folds of few groups would only blunt it.
    n_rows : where tables may be corrected, the weight of the rows: of few, every gain is small, and
        lower prices are offered; infinite: they may not.
    """
    offered = (False, True) if isinstance(pairs, str) else (pairs,)
    if not isinstance(price, str):
        return [FitOption(each, float(price)) for each in offered]
    if grouped:
        return [FitOption(each, None) for each in offered]
    nothing = [] if pairs is True else [FitOption(False, math.inf)]
    lower = [p for p, most in _LOWER_PRICES.items() if n_rows <= most]
    return nothing + [FitOption(each, p) for each in offered for p in (None, LOW_PRICE, *lower)]


def until(steps: Sequence[WeightState], price: float) -> int:
    """Where a path would have ended at a higher price: the steps before one that pays less."""
    for at, step in enumerate(steps[1:], 1):
        if step.gain < price:
            return at - 1
    return len(steps) - 1


def choose_options(
    problems: Sequence[CodedRows],
    plan: WeightPlan,
    options: Sequence[FitOption],
    folds: Sequence[Ints],
    threads: Threads,
    pause: Callable[[], bool],
    late: Callable[[], bool] = lambda: False,
) -> list[FitOption]:
    """The option that foretells held-out rows best; then the best with pairs, and without.

    A simpler one is taken that is nearly as good.

    Parameters
    ----------
    problems, plan : as for the fit itself.
    options : the simplest first.
    folds : how often each row is held out in each of them.
    pause : asked between two paths: is there no time left?  The simplest is taken then.
    late : the same, asked at every step of a path.
    """
    if len(options) == 1:
        return [options[0]]
    every = [_fold_of(problems, held_out, len(folds)) for held_out in folds]
    # Pairs take longest: who begins with them ends first.
    paired = sorted({option.pairs for option in options}, reverse=True)
    walks = [
        _Walk(fold, pairs, {i: o for i, o in enumerate(options) if o.pairs == pairs})
        for fold in every
        for pairs in paired
    ]
    if not _walk_all(walks, plan, threads, pause, late):
        return [options[0]]
    losses: list[list[float]] = [[] for _ in options]
    for walk in walks:
        for i, found in walk.losses.items():
            losses[i] += found
    grouped = problems[0].groups is not None

    def best_of(some: Sequence[int]) -> FitOption:
        best = some[0]
        for i in some[1:]:
            if is_ahead(np.array(losses[i]), np.array(losses[best]), grouped):
                best = i
        return options[best]

    each = [
        [
            i
            for i, option in enumerate(options)
            if option.pairs == pairs and option.price != math.inf
        ]
        for pairs in (True, False)
    ]
    return [best_of(range(len(options))), *(best_of(some) for some in each if some)]


def is_ahead(losses: Floats, simpler: Floats, grouped: bool) -> bool:
    """Is what is less simple worth it, by the losses of both on the same rows held out?

    Parameters
    ----------
    losses, simpler : in nat, of each batch of rows.
    grouped : batches are whole groups, which err together: their number counts, not that of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.term_search import is_ahead
    >>> lucky = np.array([-9.0, 1.0, 1.0, 1.0])
    >>> is_ahead(lucky, np.zeros(4), False), is_ahead(lucky, np.zeros(4), True)
    (True, False)
    """
    margin = _MARGIN
    if grouped:
        gained = simpler - losses
        if gained.size < 2:
            return False
        spread = math.sqrt(gained.size) * float(gained.std(ddof=1))
        margin = max(margin, float(stdtrit(gained.size - 1, 1 - RISK)) * spread)
    return bool(losses.sum() < simpler.sum() - margin)


def _batches(problems: Sequence[CodedRows], n_folds: int) -> list[list[CodedRows]]:
    """Rows that are held out together: all, or whole groups, about 20 batches in all folds."""
    rows = problems[0]
    if rows.groups is None:
        return [list(problems)]
    groups = np.unique(rows.groups, return_inverse=True)[1].ravel()
    most = -(-MOST_GROUP_FOLDS // n_folds)
    parts = fold_weights(rows, rows.labels, np.random.RandomState(0), groups, most)
    return [[each.weighted(part) for each in problems] for part in parts]


@dataclass(frozen=True)
class _Fold:
    """Rows that train, and batches of rows that are held out; once for each problem."""

    train: Sequence[CodedRows]
    test: Sequence[Sequence[CodedRows]]


def _fold_of(problems: Sequence[CodedRows], held_out: Ints, n_folds: int = 1) -> _Fold:
    """A fold of these rows; with groups, in batches of whole ones."""
    return _Fold(
        [rows.weighted(rows.weights - held_out) for rows in problems],
        _batches([rows.weighted(held_out) for rows in problems], n_folds),
    )


@dataclass(frozen=True)
class _Walk:
    """One path over a fold, and what the options that it serves say of the rows held out."""

    fold: _Fold
    pairs: bool
    options: dict[int, FitOption]
    losses: dict[int, list[float]] = field(default_factory=dict)

    def go(self, plan: WeightPlan, threads: Threads) -> None:
        """Walk at the lowest price: where another would have ended is known from the gains."""
        weighing = Weighing(self.fold.train, replace(plan, corrections=False), self.pairs, threads)
        told = weighing.n_candidates, self.fold.train[0].groups is not None
        prices = {i: each.amount(*told) for i, each in self.options.items()}
        steps = list(weighing.greedy(min(prices.values())).walk())
        ends = {i: until(steps, price) for i, price in prices.items()}
        wanted = sorted(set(ends.values()))
        known: dict[int, list[float]] = {at: [] for at in wanted}
        for batch in self.fold.test:
            losses = weighing.judge(batch).losses([steps[at] for at in wanted])
            for at, loss in zip(wanted, losses, strict=True):
                known[at].append(loss)
        self.losses.update({i: known[end] for i, end in ends.items()})


# Where there are so many rows, one fold decides on corrections; it need not hold out more than so
# many, nor train on more than twice as many.
_ENOUGH_ROWS, _MOST_HELD_OUT = 2500, 8192


def choose_freedom(
    problems: Sequence[CodedRows],
    plan: WeightPlan,
    options: Sequence[FitOption],
    folds: Sequence[Ints],
    threads: Threads,
    pause: Callable[[], bool],
    late: Callable[[], bool] = lambda: False,
) -> FitOption | None:
    """The option and corrections by which held-out rows are foretold best; or the first, with none.

    Parameters are those of `choose_options`; None: there was no time.  All options are judged at
    one freedom, the best of them at every one.  The loss of a freedom counts half, and half the
    mean of it and its neighbours, so that no lucky one is taken.  Where no term at all is an
    option, the others must be better than that by some nat: by more where no term gains, alone and
    on all rows, what chance rarely does.
    """
    every = [_fold_of(problems, held_out) for held_out in folds]
    # Pairs take longest: who begins with them ends first.
    paired = sorted({option.pairs for option in options}, reverse=True)
    walks = [
        _Ends(fold, pairs, [option for option in options if option.pairs == pairs])
        for pairs in paired
        for fold in every
    ]
    if not _walk_all(walks, plan, threads, pause, late):
        return None
    found = {
        option: np.sum([walk.losses[option] for walk in walks if option in walk.losses], axis=0)
        for option in options
    }
    some = [option for option in options if option.price != math.inf]
    best = min(some, key=lambda option: float(found[option].min()))
    slope = SLOPES[int(found[best][1:].argmin())]
    ends = [walk.ends[best] for walk in walks if best in walk.ends]
    freer = [_Freer(fold, end, slope) for fold, end in zip(every, ends, strict=True)]
    if not _walk_all(freer, plan, threads, pause, late):
        return None
    losses = np.array([found[best][0], *np.sum([each.losses for each in freer], axis=0)])
    least = float(losses[0])
    for f, freedom in enumerate(FREEDOMS, 1):
        loss = float(losses[f] + losses[f - 1 : f + 2].mean()) / 2
        if loss < least:
            best, least = replace(best, freedom=freedom, slope=slope), loss
    first = options[0]
    if first.price != math.inf:
        return best
    rounds = max(sum(int(each.sum()) for each in folds) / float(problems[0].weights.sum()), 1.0)
    gain = (found[first][0] - least) / rounds
    if gain > _DOUBT or (gain > _GUARD and _is_beyond_chance(problems, plan, paired, threads)):
        return best
    return first


def _is_beyond_chance(
    problems: Sequence[CodedRows], plan: WeightPlan, paired: Sequence[bool], threads: Threads
) -> bool:
    """Does a term gain what chance alone rarely does, by itself and on all rows?"""
    for pairs in paired:
        weighing = Weighing(problems, replace(plan, corrections=False), pairs, threads)
        steps = weighing.greedy(strict_price(weighing.n_candidates)).walk()
        n_terms = len(next(steps).terms)
        if any(len(step.terms) > n_terms for step in steps):
            return True
    return False


@dataclass(frozen=True)
class _End:
    """Where a path over a fold ended: by weights alone, and with terms that came late."""

    held_out: HeldOut
    greedy: TermObjective
    plain: WeightState
    last: WeightState

    def losses(self, wanted: Sequence[tuple[float, float]]) -> list[float]:
        """Of the rows held out, with corrections of these freedoms and slopes."""
        if not self.last.terms:
            return list(self.held_out.losses([self.plain])) * len(wanted)
        return list(self.held_out.losses(self.greedy.tried(self.last, wanted)))


@dataclass(frozen=True)
class _Ends:
    """Paths over a fold; what the rows held out say of them, and at one freedom by slope."""

    fold: _Fold
    pairs: bool
    options: Sequence[FitOption]
    ends: dict[FitOption, _End] = field(default_factory=dict)
    losses: dict[FitOption, Floats] = field(default_factory=dict)

    def go(self, plan: WeightPlan, threads: Threads) -> None:
        """Walk the path of each option; different prices often lead to the same terms."""
        weighing = Weighing(self.fold.train, plan, self.pairs, threads)
        (batch,) = self.fold.test
        held_out, same = weighing.judge(batch), {}
        for option in self.options:
            greedy = weighing.greedy(option.amount(weighing.n_candidates))
            plain = last = greedy.state(-1, 0.0)
            for last in greedy.walk():
                if not greedy.is_late:
                    plain = last
            weights = [each.tobytes() for state in (plain, last) for each in state.weights]
            mark = plain.terms, last.terms, *weights
            if mark not in same:
                same[mark] = option
                end = _End(held_out, greedy, plain, last)
                (alone,) = held_out.losses([plain])
                corrected = [end.losses([(LATE_FREEDOM, slope)])[0] for slope in SLOPES]
                self.ends[option], self.losses[option] = end, np.array([alone, *corrected])
            self.ends[option] = self.ends[same[mark]]
            self.losses[option] = self.losses[same[mark]]


@dataclass(frozen=True)
class _Freer:
    """The end of a path over a fold, corrected ever more freely."""

    fold: _Fold
    end: _End
    slope: float
    losses: list[float] = field(default_factory=list)

    def go(self, plan: WeightPlan, threads: Threads) -> None:
        """Judge by the rows held out."""
        self.losses.extend(self.end.losses([(freedom, self.slope) for freedom in FREEDOMS]))


class _HaltedError(Exception):
    """Somebody else has ended what this thread works at."""


def _walk_all(
    walks: Sequence[_Walk] | Sequence[_Ends] | Sequence[_Freer],
    plan: WeightPlan,
    threads: Threads,
    pause: Callable[[], bool],
    late: Callable[[], bool],
) -> bool:
    """Walk every path; False where time ran out before.

    Small tables keep a thread busy with a path of its own better than they keep all threads busy
    with one path.
    """
    rows = walks[0].fold.train[0]
    small = rows.labels.size * rows.n_classes**2 <= _SMALL
    inner, halt, asking = threads, Event(), Lock()
    if small:
        inner = Threads(1, late=threads.late)

    def told(n_terms: int, loss: float) -> None:
        inner.late = threads.late = (
            None  # there are tables: whatever comes is better late than lost
        )
        if late():
            halt.set()
        if halt.is_set():
            raise _HaltedError
        if plan.told is not None:
            plan.told(n_terms, loss)

    def task(walk: _Walk | _Ends | _Freer) -> None:
        if halt.is_set():
            return
        try:
            walk.go(replace(plan, told=told), inner)
        except _HaltedError:
            return
        except BaseException:
            halt.set()
            raise
        with asking:
            if pause():
                halt.set()

    tasks = [partial(task, walk) for walk in walks]
    if small:
        threads.share(tasks)
    else:
        for each in tasks:
            each()
    return not halt.is_set()


# -- One path for all problems, or one for each ----------------------------------------------------


# Fewer rows than this are too few to be folded.
_LEAST_ROWS = 12


@dataclass(frozen=True, kw_only=True)
class TermTask(Problem):
    """A problem of weighted terms: coded rows, what to do with them, and ways to fit.

    Parameters
    ----------
    rows : as codes, with the classes of each problem.
    plan : what to do with them.
    options : ways to fit, the simplest first.
    priors : probabilities of the classes, where they are given.
    shared : one set of terms for all problems?
    parts : the rows that train and those that decide between options, in place of folds.
    """

    rows: tuple[CodedRows, ...]
    plan: WeightPlan
    options: tuple[FitOption, ...]
    priors: tuple[float, ...] | None
    shared: bool
    parts: tuple[Ints, Ints] | None = None

    @property
    def paths(self) -> list[tuple[int, ...]]:
        """Problems that share each path."""
        every = tuple(range(len(self.rows)))
        return [every] if self.shared else [(g,) for g in every]


@dataclass(frozen=True)
class WeightedFit:
    """One path, what its terms say, and which problems share it."""

    option: FitOption
    price: float
    path: Path
    book: TermBook
    problems: tuple[int, ...]
    stopped: str | None = None


def run_weighted(
    task: TermTask, seeds: Sequence[int], threads: Threads, run: Run
) -> list[WeightedFit]:
    """Walk one path for all problems, or one for each.

    Parameters
    ----------
    task : what is fitted.
    seeds : draw the inner folds of each path.
    threads : who runs the kernels.
    run : how far there is time for.
    """
    if run.line is not None:
        task = replace(task, plan=replace(task.plan, told=run.line.hear_path))
    found = [
        _walk_path(task, part, seed, threads, run)
        for part, seed in zip(task.paths, seeds, strict=True)
    ]
    # Whoever insists on pairs is told where none can be made.
    if all(option.pairs for option in task.options) and not found[0].weighing.pairs:
        words = f"pairs=True: there are none to offer, {_why_no_pairs(task.rows[0])}."
        warnings.warn(words, UserWarning, stacklevel=4)
    # One model reads the columns of all problems.
    columns = sorted(
        {
            j
            for each in found
            for state in each.path.states
            for j in each.path.columns_of(state.terms)
        }
    )
    return [
        WeightedFit(
            each.option,
            each.price,
            each.path,
            each.weighing.book(each.path.states, columns),
            part,
            each.stopped,
        )
        for each, part in zip(found, task.paths, strict=True)
    ]


def _why_no_pairs(rows: CodedRows) -> str:
    if rows.n_classes > MOST_CLASSES:
        return (
            f"since tables of two columns have too many cells for {rows.n_classes} classes (at "
            f"most {MOST_CLASSES})"
        )
    return f"since no two columns that may enter have 4 to {MOST_CELLS} cells together"


class _Walked(NamedTuple):
    """A path, and the rows that it was walked on."""

    option: FitOption
    price: float
    weighing: Weighing
    path: Path
    stopped: str | None


def _walk_path(
    task: TermTask, part: tuple[int, ...], seed: int, threads: Threads, run: Run
) -> _Walked:
    """Decide how, then walk the path of some problems; a journal's path goes on where it ends."""
    rows = [task.rows[g] for g in part]
    records = None if run.journal is None else TermRecords(run.journal, part[0])
    if records is not None and records.decision is not None:
        option = FitOption(*records.decision)
    else:
        option, decided = _decide(task, rows, np.random.RandomState(seed), threads, run)
        if task.plan.freedom is not None:
            option = replace(option, freedom=task.plan.freedom[0], slope=task.plan.freedom[1])
        # What had no time to be decided is not written down, nor what follows from it.
        if records is not None and decided:
            records.decide(option.pairs, option.price, option.freedom, option.slope)
    plan = replace(task.plan, corrections=option.freedom > 0)
    weighing = Weighing(rows, plan, option.pairs, threads)
    price = option.amount(weighing.n_candidates, rows[0].groups is not None)
    greedy, path = weighing.greedy(price), weighing.path(task.table.names)
    if records is not None and records.states:
        greedy.resume(records.states)
        for state in records.states:
            path.take(state)
    if run.line is not None:
        run.line.begin_path(min(task.plan.most, weighing.n_candidates + len(task.plan.kept)))

    def take(state: WeightState) -> bool:
        path.take(state)
        # Terms that come late hang on provisional corrections: a path that goes on finds them anew.
        if records is not None and not greedy.is_late:
            records.take(state)
        return True

    stopped = run.follow(greedy.walk(), take, lambda: bool(path.steps))
    if option.freedom > 0:
        freely = [(option.freedom, option.slope)]
        path.correct([next(greedy.tried(state, freely)) for state in path.states])
    if run.line is not None:
        run.line.made()
    return _Walked(option, price, weighing, path, stopped)


def _n_walks(
    options: Sequence[FitOption], n_folds: int, free: bool, few: bool, n_rows: float
) -> int:
    """Paths over folds: by price, with pairs and without; then by what corrections say."""
    n_offers = len({option.pairs for option in options})
    if few:
        return n_folds * (n_offers + 1)
    late = 1 if n_rows > _ENOUGH_ROWS else n_folds
    return n_folds * n_offers + free * late * (n_offers + 1)


def _some_of(
    rows: Sequence[CodedRows], folds: Sequence[Ints], strata: Ints, draw: np.random.RandomState
) -> tuple[list[CodedRows], list[Ints]]:
    """One fold of these, or one of fewer rows: how freely to correct is told by a part as well."""
    n_folds = -(-int(rows[0].weights.sum()) // _MOST_HELD_OUT)
    if n_folds <= N_FOLDS:
        return list(rows), [folds[0]]
    held_out, *train = fold_weights(rows[0], strata, draw, n_folds=n_folds, wanted=N_FOLDS)
    used = held_out + np.sum(train, axis=0)
    return [each.weighted(used) for each in rows], [held_out[used > 0]]


def _decide(
    task: TermTask,
    rows: Sequence[CodedRows],
    draw: np.random.RandomState,
    threads: Threads,
    run: Run,
) -> tuple[FitOption, bool]:
    """Choose by folds within the rows, or on a part of them; cautiously where there are few.

    And was there time enough?
    """
    first, options = rows[0], task.options
    strata = task.sample.strata[first.rows]
    if task.parts is not None:
        # Rows of neither part are left out.
        used, held_out = (
            np.where(np.isin(first.rows, some), first.weights, 0)
            for some in (np.concatenate(task.parts), task.parts[1])
        )
        rows, folds = [each.weighted(used) for each in rows], [held_out[used > 0]]
    elif first.weights.sum() < _LEAST_ROWS or (
        first.groups is not None and first.groups.max() + 1 < 2 * N_FOLDS
    ):
        cautious = [each for each in options if each.price is None] or list(options)
        return cautious[0], True
    else:
        folds = fold_weights(first, strata, draw, first.groups)
    n_rows = float(first.weights.sum())
    free = task.plan.corrections and task.plan.freedom is None and first.groups is None
    few = free and task.parts is None and n_rows <= _FEW_ROWS
    if few and n_rows <= _VERY_FEW_ROWS:
        folds = [*folds, *fold_weights(first, strata, draw)]
    if run.line is not None and len(options) > 1:
        run.line.begin_folds(_n_walks(options, len(folds), free, few, n_rows))

    end = 0.0

    def late() -> bool:
        return run.clock.left <= end

    def pause() -> bool:
        if run.line is not None:
            run.line.walked()
        return late()

    found = list(options)
    if not few:
        found = choose_options(rows, task.plan, options, folds, threads, pause, late)
        free = free and found[0].price != math.inf
        if n_rows > _ENOUGH_ROWS:
            rows, folds = _some_of(rows, folds, strata, draw)
    if not free or late():
        return found[0], not late()
    if run.clock.limit is not None:
        end = run.clock.left / 2  # the path needs time as well
    best = choose_freedom(rows, task.plan, found, folds, threads, pause, late)
    return best or found[0], best is not None
