"""What a rule decides on single rows, and why."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..checks import plain_value
from ..data.tables import Table
from ..evaluation.decide import novelty_of
from ..evaluation.decision import odds
from ..evaluation.given import Value
from ..models.base import Floats, Ints
from ..models.decisions import ASK, DecisionRule, Guard, weights_of
from ..models.fitted import FittedBayes, FittedProblem

# A row as surprising as this share of those held out is called unlike them.
_RARE = 0.01


@dataclass(frozen=True)
class Verdict:
    """What the rule decides on a row.

    Attributes
    ----------
    decision : class or None
        None: ask a person.
    why : str
        In words.
    novelty : float or None
        The row's p-value, see `bayesieve.novelty`.

    Examples
    --------
    >>> from bayesieve.explain import Verdict
    >>> Verdict(None, "every class is too improbable").to_text()
    'ask a person: every class is too improbable'
    """

    decision: Value | None
    why: str
    novelty: float | None = None

    def to_text(self) -> str:
        """One line."""
        what = ASK if self.decision is None else f"{self.decision}"
        strange = ""
        if self.novelty is not None and self.novelty <= _RARE:
            strange = f"; unlike anything seen (p = {self.novelty:.2g})"
        return f"{what}: {self.why}{strange}"


class Verdicts:
    """The verdicts on the rows of a table.

    Parameters
    ----------
    fitted : a model.
    rows : what it is asked about.
    """

    def __init__(self, fitted: FittedBayes, rows: Table):
        self._novelty: Floats | None = None
        ruled = any(problem.rule is not None for problem in fitted.problems)
        if ruled and fitted.usual is not None:
            self._novelty = novelty_of(fitted, rows)

    def of(self, problem: FittedProblem, sums: Ints) -> list[Verdict | None]:
        """One a row; None each where the problem has no rule."""
        rule = problem.rule
        if rule is None:
            return [None] * len(sums)
        prior, ahead = problem.fixed_prior, problem.ahead(sums)
        decided = rule.decide(sums, prior, ahead)
        leads = rule.leads(sums, prior)
        allowed = rule.allowed(leads)
        costs = None
        if rule.costs is not None:
            costs = rule.expected(ahead) / weights_of(ahead).sum(1, keepdims=True)
        names = [plain_value(value) for value in problem.classes]
        found: list[Verdict | None] = []
        for i, d in enumerate(decided.tolist()):
            said = _reasons(problem, rule, leads[i], names)
            if costs is not None:
                said.append(_by_cost(d, costs[i], allowed[i], names))
            what = None if d == len(names) else names[d]
            strange = None if self._novelty is None else float(self._novelty[i])
            found.append(Verdict(what, "; ".join(said) or "the most probable class", strange))
        return found


def _by_cost(d: int, costs: Floats, allowed: NDArray[np.bool_], names: list[Value]) -> str:
    decisions = [*(str(name) for name in names), "asking"][: len(costs)]
    others = [
        f"{decisions[o]} {costs[o]:.3g}{'' if allowed[o] else ' (not allowed)'}"
        for o in np.argsort(costs, kind="stable").tolist()
        if o != d
    ]
    return f"expected cost {costs[d]:.3g}, of others {', '.join(others)}"


def _reasons(
    problem: FittedProblem, rule: DecisionRule, leads: Ints, names: list[Value]
) -> list[str]:
    """What each guard that speaks has to say."""
    found = []
    for guard in rule.guards:
        lead = int(leads[guard.position])
        if guard.or_ask:
            found.append(_alarm(problem, guard, lead, names))
        elif guard.low is not None and lead <= guard.low:
            wanted = f"more than {_odds(problem, guard.low)} needed"
            found.append(f"{_lead(problem, guard, lead, names)}, {wanted}")
        elif guard.high is not None and lead >= guard.high:
            wanted = f"{_odds(problem, guard.high)} enough"
            found.append(f"{_lead(problem, guard, lead, names)}, {wanted}")
    if found and rule.prior != tuple(problem.fixed_prior.tolist()):
        found[-1] += ", by the priors for which the rule was made"
    return found


def _alarm(problem: FittedProblem, guard: Guard, lead: int, names: list[Value]) -> str:
    """Of a class that is no alarm: how probable any other is beside it."""
    assert guard.high is not None
    had, wanted = _odds(problem, -lead), _odds(problem, -guard.high)
    word = "needed" if lead >= guard.high else "enough"
    name = names[guard.position]
    return f"another class is {had} times as probable as {name}, more than {wanted} {word}"


def _lead(problem: FittedProblem, guard: Guard, lead: int, names: list[Value]) -> str:
    name = names[guard.position]
    return f"{name} is {_odds(problem, lead)} times as probable as any other"


def _odds(problem: FittedProblem, units: int) -> str:
    return odds(float(problem.nat(np.array([units]))[0]))
