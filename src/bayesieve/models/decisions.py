"""A rule that turns what a model says into decisions, as a value."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .base import Floats, Ints

#: What asking a person is called wherever decisions have names.
ASK = "ask a person"


# Posteriors, in units of the largest, are whole numbers of 2^-40: sums of them are exact, so that
# equal costs are equal, here and in code that speaks the rule elsewhere.
WEIGHT_BITS = 40


@dataclass(frozen=True)
class Guard:
    """Where a class must not be decided, and where it must be.

    Both bounds are about its lead: the sum of the class less the largest sum of the others, in
    whole units, under the priors for which the rule was made.

    Parameters
    ----------
    position : of the class.
    low : it is not decided where it leads by this or less; None: it always may be.
    high : it is decided where it leads by this or more; None: it never must be.
    or_ask : where it must be decided, a person may be asked instead.
    """

    position: int
    low: int | None = None
    high: int | None = None
    or_ask: bool = False


@dataclass(frozen=True)
class Promise:
    """A rate that a guard keeps, and what that rests on.

    Parameters
    ----------
    kind : "alarms" (rows of the class are taken for any other), "false alarms" (rows of others are
        taken for the class) or "detections" (rows of the class are taken for it).
    position : of the class.
    bound : the rate that is not exceeded; of detections, the rate that is reached.
    confidence : with which it holds.
    rows : held-out rows that it rests on.
    beyond : how many of them may be on the wrong side of the threshold.
    unit : "rows", or "groups" where one row of each held-out group was looked at.
    """

    kind: str
    position: int
    bound: float
    confidence: float
    rows: int
    beyond: int
    unit: str = "rows"


@dataclass(frozen=True)
class DecisionRule:
    """What to decide, given the sums of a row.

    The decision of least expected cost among those that the guards allow; without costs, the most
    probable class among them.  The first of equals is taken, a person is asked last.

    Parameters
    ----------
    costs : classes x decisions; one decision more than classes: asking a person.  None: no costs.
    guards : each is obeyed.
    prior : the model's prior in whole units, when the guards were made.
    promises : what the guards keep.
    rows : held-out rows that the rule was made on.

    Examples
    --------
    >>> from bayesieve.models.decisions import DecisionRule
    >>> rule = DecisionRule(((0.0, 1.0, 0.1), (1.0, 0.0, 0.1)), (), (0, 0), (), 100)
    >>> rule.asks, rule.n_decisions
    (True, 3)
    """

    costs: tuple[tuple[float, ...], ...] | None
    guards: tuple[Guard, ...]
    prior: tuple[int, ...]
    promises: tuple[Promise, ...] = ()
    rows: int = 0

    @property
    def n_decisions(self) -> int:
        """The classes, and asking."""
        return len(self.prior) if self.costs is None else len(self.costs[0])

    @property
    def asks(self) -> bool:
        """May it ask a person?"""
        return self.n_decisions > len(self.prior)

    def leads(self, sums: Ints, prior: Ints) -> Ints:
        """How far each class is ahead of the best other, in whole units, as the guards read it.

        Parameters
        ----------
        sums : rows x classes.
        prior : the part of them that is the prior.
        """
        return leads_of(sums - prior + np.array(self.prior, np.int64))

    def allowed(self, leads: Ints) -> NDArray[np.bool_]:
        """The decisions that no guard forbids: rows x decisions."""
        n_classes, n_decisions = leads.shape[1], self.n_decisions
        found = np.ones((len(leads), n_decisions), bool)
        for guard in self.guards:
            if guard.low is not None:
                found[leads[:, guard.position] <= guard.low, guard.position] = False
        for guard in self.guards:
            if guard.high is not None:
                others = np.ones(n_decisions, bool)
                others[guard.position] = False
                others[n_classes:] = not guard.or_ask
                must = leads[:, guard.position] >= guard.high
                found[np.ix_(must, others)] = False
        return found

    def expected(self, ahead: Floats) -> Floats:
        """The expected cost of each decision, times the sum of the row's weights.

        Parameters
        ----------
        ahead : how far each class is from the best, in nat: rows x classes.
        """
        assert self.costs is not None
        weights = weights_of(ahead)
        costs = np.array(self.costs)
        found = np.zeros((len(ahead), costs.shape[1]))
        for k, line in enumerate(costs):  # one by one: the order of the sum is part of the rule
            found += weights[:, k, None] * line
        return found

    def decide(self, sums: Ints, prior: Ints, ahead: Floats) -> Ints:
        """The position of each row's decision; the number of classes: ask a person."""
        allowed = self.allowed(self.leads(sums, prior)) if self.guards else None
        if self.costs is None:
            least = np.iinfo(np.int64).min
            return (sums if allowed is None else np.where(allowed, sums, least)).argmax(1)
        costs = self.expected(ahead)
        return (costs if allowed is None else np.where(allowed, costs, np.inf)).argmin(1)


def leads_of(sums: Ints) -> Ints:
    """The sum of each class less the largest of the others: rows x classes."""
    ordered = np.sort(sums, axis=1)
    first, second = ordered[:, -1:], ordered[:, -2:-1]
    # Where two classes are first together, each is level with the other.
    return sums - np.where(sums == first, second, first)


def weights_of(ahead: Floats) -> Floats:
    """Posteriors in units of the largest, rounded to 2^-40 and told in such units."""
    return np.rint(np.ldexp(np.exp(ahead), WEIGHT_BITS))
