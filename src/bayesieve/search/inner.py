"""What the training rows themselves decide by folds: pairs, their bins, the price, or no term."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Lock

import numpy as np

from ..engine.threads import Threads
from ..models.base import Ints
from .coded import CodedRows
from .weighing import Weighing, WeightPlan
from .weights import WeightStep

#: Numbers in pairs fall into so many bins.
BINS = (5, 8)

#: The lower of the two prices that folds choose between; the other adds the log of the candidates.
LOW_PRICE = 1.0

N_FOLDS = 3

# What is less simple must foretell held-out rows better by so many nat.
_MARGIN = 2.0

# Up to so many products of rows and pairs of classes, every path is walked by one thread.
_SMALL = 1 << 21


@dataclass(frozen=True)
class Option:
    """One way to fit.

    Parameters
    ----------
    bins : of numbers in pairs; 0: no pairs.
    price : nat that a term must gain; None: 1 + log of the number of candidates; infinite: none.
    """

    bins: int
    price: float | None

    def amount(self, candidates: int) -> float:
        """The price in nat."""
        return strict_price(candidates) if self.price is None else self.price


def strict_price(candidates: int) -> float:
    """So much that chance alone rarely pays it."""
    return LOW_PRICE + math.log(max(candidates, 1))


def options_of(pairs: bool | str, price: float | str, numbers: bool = True) -> list[Option]:
    """What there is to choose between, the simplest first.

    Parameters
    ----------
    pairs, price : as users give them.
    numbers : is any column on a grid?  Others have no bins to choose.
    """
    bins = BINS if numbers else BINS[:1]
    if pairs is not True:
        bins = (0,) if pairs is False else (0, *bins)
    if not isinstance(price, str):
        return [Option(b, float(price)) for b in bins]
    nothing = [Option(0, math.inf)] if 0 in bins else []
    return nothing + [Option(b, each) for b in bins for each in (None, LOW_PRICE)]


def until(steps: Sequence[WeightStep], price: float) -> int:
    """Where a path would have ended at a higher price: the steps before one that pays less."""
    for at, step in enumerate(steps[1:], 1):
        if step.gain < price:
            return at - 1
    return len(steps) - 1


def fold_weights(
    rows: CodedRows, strata: Ints, seed: np.random.RandomState, groups: Ints | None = None
) -> list[Ints]:
    """How often each row is held out in each fold, classes in balance.

    Rows are dealt in an order that their values alone decide, a row of weight 3 as three rows: the
    order of the table does not matter, nor whether a row is repeated or weighted.

    Parameters
    ----------
    rows : as codes.
    strata : what the folds keep in balance.
    seed : draws the order.
    groups : rows of one number are dealt together.
    """
    if groups is not None:
        dealt_to = _deal_groups(rows, strata, seed, groups)[groups]
        return [np.where(dealt_to == g, rows.weights, 0) for g in np.unique(dealt_to).tolist()]
    order = np.lexsort((rows.marks(seed), strata))
    ends = np.cumsum(rows.weights[order])
    starts = ends - rows.weights[order]
    found = []
    for fold in range(N_FOLDS):
        # Of the numbers from start to end, those that leave `fold` when divided by N_FOLDS.
        dealt = (ends - fold + N_FOLDS - 1) // N_FOLDS - (starts - fold + N_FOLDS - 1) // N_FOLDS
        weights = np.empty_like(dealt)
        weights[order] = dealt
        found.append(weights)
    return found


def _deal_groups(rows: CodedRows, strata: Ints, seed: np.random.RandomState, groups: Ints) -> Ints:
    """The fold of each group: the largest first, each to where its classes are scarcest."""
    n_groups, n_strata = int(groups.max()) + 1, int(strata.max()) + 1
    counts = np.zeros((n_groups, n_strata), np.int64)
    np.add.at(counts, (groups, strata), rows.weights)
    marks = np.zeros(n_groups, np.uint64)
    np.add.at(marks, groups, rows.marks(seed) * rows.weights.astype(np.uint64))
    # In shares of a class, so that rare classes are spread as well as frequent ones.
    shares = counts / np.maximum(counts.sum(0), 1)
    held, found = np.zeros((N_FOLDS, n_strata)), np.empty(n_groups, np.int64)
    for group in np.lexsort((marks, -counts.sum(1))).tolist():
        alike, full = np.round(held @ shares[group], 9), np.round(held.sum(1), 9)
        fold = int(np.lexsort((full, alike))[0])
        held[fold] += shares[group]
        found[group] = fold
    return found


def choose_option(
    problems: Sequence[CodedRows],
    plan: WeightPlan,
    options: Sequence[Option],
    folds: Sequence[Ints],
    threads: Threads,
    pause: Callable[[], bool],
    late: Callable[[], bool] = lambda: False,
) -> Option:
    """The option whose models foretell held-out rows best; a simpler one if it is nearly as good.

    Parameters
    ----------
    problems, plan : as for the fit itself.
    options : the simplest first.
    folds : how often each row is held out in each of them.
    pause : asked between two paths: is there no time left?  The simplest is taken then.
    late : the same, asked at every step of a path.
    """
    if len(options) == 1:
        return options[0]
    every = [
        _Fold(
            [rows.weighted(rows.weights - held_out) for rows in problems],
            [rows.weighted(held_out) for rows in problems],
        )
        for held_out in folds
    ]
    # Pairs take longest: who begins with them ends first.
    bins = sorted({option.bins for option in options}, reverse=True)
    walks = [
        _Walk(fold, b, {i: o for i, o in enumerate(options) if o.bins == b})
        for fold in every
        for b in bins
    ]
    if not _walk_all(walks, plan, threads, pause, late):
        return options[0]
    total = np.zeros(len(options))
    for walk in walks:
        for i, loss in walk.losses.items():
            total[i] += loss
    best = 0
    for i in range(1, len(options)):
        if total[i] < total[best] - _MARGIN:
            best = i
    return options[best]


@dataclass(frozen=True)
class _Fold:
    """Rows that train, and rows that are held out; once for each problem."""

    train: Sequence[CodedRows]
    test: Sequence[CodedRows]


@dataclass(frozen=True)
class _Walk:
    """One path over a fold, and what the options that it serves say of the rows held out."""

    fold: _Fold
    bins: int
    options: dict[int, Option]
    losses: dict[int, float] = field(default_factory=dict)

    def go(self, plan: WeightPlan, threads: Threads) -> None:
        """Walk at the lowest price: where another would have ended is known from the gains."""
        weighing = Weighing(self.fold.train, plan, self.bins, threads)
        prices = {i: each.amount(weighing.n_candidates) for i, each in self.options.items()}
        steps = list(weighing.greedy(min(prices.values())).steps())
        ends = {i: until(steps, price) for i, price in prices.items()}
        wanted = sorted(set(ends.values()))
        losses = weighing.judge(self.fold.test).losses([steps[at] for at in wanted])
        known = dict(zip(wanted, losses, strict=True))
        self.losses.update({i: known[end] for i, end in ends.items()})


class _HaltedError(Exception):
    """Somebody else has ended what this thread works at."""


def _walk_all(
    walks: Sequence[_Walk],
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

    def task(walk: _Walk) -> None:
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
