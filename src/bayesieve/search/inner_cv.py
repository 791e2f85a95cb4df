"""Inner cross-validation: pairs, their bins, the price of a term, or no term at all."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Lock

import numpy as np
from scipy.special import ndtri, stdtrit

from ..engine.threads import Threads
from ..models.base import Floats, Ints
from .path import WeightState
from .term_pool import MOST_GROUP_FOLDS, CodedRows, Weighing, WeightPlan, fold_weights

#: Numbers in pairs fall into so many bins.
BINS = (5, 8)

#: The lower of the two prices that folds choose between; the other adds the log of the candidates.
LOW_PRICE = 1.0

# What is less simple must foretell held-out rows better by so many nat,
_MARGIN = 2.0

# and held-out groups so much better that chance alone gives it this often.
_RISK = 0.04

# Up to so many products of rows and pairs of classes, every path is walked by one thread.
_SMALL = 1 << 21


@dataclass(frozen=True)
class Option:
    """One way to fit.

    Parameters
    ----------
    bins : of numbers in pairs; 0: no pairs.
    price : nat that a term must gain; None: what chance alone rarely pays; infinite: none.
    """

    bins: int
    price: float | None

    def amount(self, candidates: int, grouped: bool = False) -> float:
        """The price in nat, of so many candidates."""
        return strict_price(candidates, grouped) if self.price is None else self.price


def strict_price(candidates: int, grouped: bool = False) -> float:
    """So much that chance alone rarely pays it: 1 + log of the number of candidates.

    Where rows come in groups, nothing but the price keeps noise out: the luckiest of all candidates
    pays it once in twenty-five fits, at most.
    """
    n = max(candidates, 1)
    price = LOW_PRICE + math.log(n)
    return max(price, float(ndtri(_RISK / n)) ** 2 / 2) if grouped else price


def options_of(
    pairs: bool | str, price: float | str, numbers: bool = True, grouped: bool = False
) -> list[Option]:
    """What there is to choose between, the simplest first.

    Parameters
    ----------
    pairs, price : as users give them.
    numbers : is any column on a grid?  Others have no bins to choose.
    grouped : do rows come in groups?  Gains are then judged by Student's t over groups, which at
        the strict price is a test by itself; folds of few groups would only blunt it.
    """
    bins = BINS if numbers else BINS[:1]
    if pairs is not True:
        bins = (0,) if pairs is False else (0, *bins)
    if not isinstance(price, str):
        return [Option(b, float(price)) for b in bins]
    if grouped:
        return [Option(b, None) for b in bins]
    nothing = [Option(0, math.inf)] if 0 in bins else []
    return nothing + [Option(b, each) for b in bins for each in (None, LOW_PRICE)]


def until(steps: Sequence[WeightState], price: float) -> int:
    """Where a path would have ended at a higher price: the steps before one that pays less."""
    for at, step in enumerate(steps[1:], 1):
        if step.gain < price:
            return at - 1
    return len(steps) - 1


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
            _batches([rows.weighted(held_out) for rows in problems], len(folds)),
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
    losses: list[list[float]] = [[] for _ in options]
    for walk in walks:
        for i, found in walk.losses.items():
            losses[i] += found
    grouped = problems[0].groups is not None
    best = 0
    for i in range(1, len(options)):
        if is_ahead(np.array(losses[i]), np.array(losses[best]), grouped):
            best = i
    return options[best]


def is_ahead(losses: Floats, simpler: Floats, grouped: bool) -> bool:
    """Is what is less simple worth it, by the losses of both on the same rows held out?

    Parameters
    ----------
    losses, simpler : in nat, of each batch of rows.
    grouped : batches are whole groups, which err together: their number counts, not that of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.inner_cv import is_ahead
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
        margin = max(margin, float(stdtrit(gained.size - 1, 1 - _RISK)) * spread)
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


@dataclass(frozen=True)
class _Walk:
    """One path over a fold, and what the options that it serves say of the rows held out."""

    fold: _Fold
    bins: int
    options: dict[int, Option]
    losses: dict[int, list[float]] = field(default_factory=dict)

    def go(self, plan: WeightPlan, threads: Threads) -> None:
        """Walk at the lowest price: where another would have ended is known from the gains."""
        weighing = Weighing(self.fold.train, plan, self.bins, threads)
        told = weighing.n_candidates, self.fold.train[0].groups is not None
        prices = {i: each.amount(*told) for i, each in self.options.items()}
        steps = list(weighing.greedy(min(prices.values())).steps())
        ends = {i: until(steps, price) for i, price in prices.items()}
        wanted = sorted(set(ends.values()))
        known: dict[int, list[float]] = {at: [] for at in wanted}
        for batch in self.fold.test:
            losses = weighing.judge(batch).losses([steps[at] for at in wanted])
            for at, loss in zip(wanted, losses, strict=True):
                known[at].append(loss)
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
