"""What the training rows themselves decide by folds: pairs, their bins, the price, or no term."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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

# Something more than the simplest must foretell held-out rows better by so many nat.
_MARGIN = 2.0


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


def options_of(pairs: bool | str, price: float | str) -> list[Option]:
    """What there is to choose between, the simplest first."""
    bins = (
        {False: (0,), True: BINS}.get(pairs, (0, *BINS)) if isinstance(pairs, bool) else (0, *BINS)
    )
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


def fold_rows(strata: Ints, seed: np.random.RandomState, n_folds: int = N_FOLDS) -> list[Ints]:
    """Rows of each fold, classes in balance.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.inner import fold_rows
    >>> folds = fold_rows(np.array([0, 0, 0, 1, 1, 1]), np.random.RandomState(0))
    >>> [len(rows) for rows in folds]
    [2, 2, 2]
    """
    fold = np.empty(strata.size, np.int64)
    dealt = 0
    for k in np.unique(strata):
        mine = seed.permutation(np.flatnonzero(strata == k))
        fold[mine] = (np.arange(mine.size) + dealt) % n_folds
        dealt += mine.size
    return [np.flatnonzero(fold == f) for f in range(n_folds)]


def choose_option(
    problems: Sequence[CodedRows],
    plan: WeightPlan,
    options: Sequence[Option],
    folds: Sequence[Ints],
    threads: Threads,
    pause: Callable[[], bool],
) -> Option:
    """The option whose models foretell held-out rows best; a simpler one if it is nearly as good.

    Parameters
    ----------
    problems, plan : as for the fit itself.
    options : the simplest first.
    folds : rows held out in turn.
    pause : asked between two paths: is there no time left?  The best so far is taken then.
    """
    if len(options) == 1:
        return options[0]
    total = np.zeros(len(options))
    n_rows = problems[0].rows.size
    for held_out in folds:
        rest = np.setdiff1d(np.arange(n_rows), held_out)
        train = [rows.take(rest) for rows in problems]
        test = [rows.take(held_out) for rows in problems]
        plain = Weighing(train, plan, 0, threads)
        for bins in sorted({option.bins for option in options}):
            mine = [i for i, option in enumerate(options) if option.bins == bins]
            weighing = plain.with_pairs(bins) if bins else plain
            prices = {i: options[i].amount(weighing.n_candidates) for i in mine}
            steps = list(weighing.greedy(min(prices.values())).steps())
            ends = {i: until(steps, price) for i, price in prices.items()}
            wanted = sorted(set(ends.values()))
            losses = weighing.judge(test).losses([steps[at] for at in wanted])
            known = dict(zip(wanted, losses, strict=True))
            for i in mine:
                total[i] += known[ends[i]]
            if pause():
                return options[0]
    best = 0
    for i in range(1, len(options)):
        margin = _MARGIN if options[best].price == math.inf else 0.0
        if total[i] < total[best] - margin:
            best = i
    return options[best]
