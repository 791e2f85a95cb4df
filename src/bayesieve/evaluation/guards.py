"""From ceilings and floors to guards: thresholds on how far a class leads."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import plain_value
from ..data.parts import middle_rows
from ..models.base import Ints
from ..models.decisions import DecisionRule, Guard, Promise, leads_of
from ..models.fitted import FittedProblem
from .promises import Level, level_below, lowest_rate, rows_needed, sure_rate
from .wanted import Wanted


class _Rows(NamedTuple):
    """Held-out rows as guards see them."""

    names: list[object]
    leads: Ints
    truth: Ints
    risk: float  #: of each promise
    confidence: float
    mates: Ints | None  #: the group of each row; None: rows are independent

    def of(self, k: int) -> Ints:
        """Leads of a class in its own rows."""
        return self.leads[self._some(self.truth == k), k]

    def of_others(self, k: int) -> Ints:
        """Leads of a class in the rows of others."""
        return self.leads[self._some(self.truth != k), k]

    @property
    def unit(self) -> str:
        """What is counted."""
        return "rows" if self.mates is None else "groups"

    def _some(self, which: NDArray[np.bool_]) -> Ints:
        """Rows that are independent: of each group the one in the middle."""
        found = np.flatnonzero(which)
        return found if self.mates is None else found[middle_rows(self.mates[found])]


def make_rule(
    problem: FittedProblem,
    wanted: Wanted,
    sums: Ints,
    truth: Ints,
    confidence: float,
    mates: Ints | None = None,
) -> DecisionRule:
    """The rule of one problem.

    Parameters
    ----------
    problem : what speaks.
    wanted : what the rule is to keep.
    sums, truth : of the held-out rows.
    confidence : with which all that it promises holds at the same time.
    mates : the group of each row, one row of which is looked at; None: rows are independent.
    """
    risk = (1 - confidence) / max(wanted.n_promises, 1)
    names = [plain_value(value) for value in problem.classes]
    rows = _Rows(names, leads_of(sums), truth, risk, confidence, mates)
    found = _alarms(wanted, rows) + _ceilings(wanted, rows) + _floors(wanted, rows)
    guards = [guard for guard, _ in found]
    _check_together(guards, rows)
    if wanted.costs is None and len(guards) == 1:
        guards = [_used_up(guards[0])]
    asks = wanted.costs is not None and len(wanted.costs[0]) > len(names)
    if not asks:
        _check_covered(guards, len(names))
    return DecisionRule(
        wanted.costs,
        tuple(guards),
        tuple(problem.fixed_prior.tolist()),
        tuple(promise for _, promise in found),
        len(truth),
    )


def _promise(kind: str, k: int, bound: float, level: Level, rows: _Rows) -> Promise:
    return Promise(kind, k, bound, rows.confidence, level.rows, level.beyond, rows.unit)


def _alarms(wanted: Wanted, rows: _Rows) -> list[tuple[Guard, Promise]]:
    """Rows of the normal class that are taken for another: it must be decided where it leads."""
    if wanted.alarms is None:
        return []
    k = wanted.normal
    level = _level(-rows.of(k), "max_false_alarms", wanted.alarms, f"of {rows.names[k]!r}", rows)
    guard = Guard(k, high=-level.threshold, or_ask=True)
    return [(guard, _promise("alarms", k, wanted.alarms, level, rows))]


def _ceilings(wanted: Wanted, rows: _Rows) -> list[tuple[Guard, Promise]]:
    """Rows of others that are taken for the class: it must lead by more than they do."""
    found = []
    for k, rate in wanted.ceilings.items():
        level = _level(
            rows.of_others(k), "max_false_alarms", rate, f"not of {rows.names[k]!r}", rows
        )
        found.append(
            (Guard(k, low=level.threshold), _promise("false alarms", k, rate, level, rows))
        )
    return found


def _floors(wanted: Wanted, rows: _Rows) -> list[tuple[Guard, Promise]]:
    """Rows of the class that are taken for it: it must be decided where it leads as they do."""
    found = []
    for k, rate in wanted.floors.items():
        level = _level(-rows.of(k), "min_detections", rate, f"of {rows.names[k]!r}", rows)
        guard = Guard(k, high=-level.threshold)
        found.append((guard, _promise("detections", k, rate, level, rows)))
    return found


def _level(scores: Ints, parameter: str, rate: float, whose: str, rows: _Rows) -> Level:
    """The threshold; refused, with the best that can be kept, where there are too few rows."""
    most = 1 - rate if parameter == "min_detections" else rate
    found = level_below(scores, most, rows.risk)
    if found is None:
        best = lowest_rate(len(scores), rows.risk)
        word, best = ("highest", 1 - best) if most != rate else ("lowest", best)
        raise ValueError(
            f"{parameter}={rate:g} cannot be kept with {rows.confidence:.6g} confidence by "
            f"{len(scores)} held-out {rows.unit} {whose}: the {word} that they can show is "
            f"{best:.4g}; {rate:g} needs {rows_needed(most, rows.risk)} {rows.unit}."
        )
    return found


def _used_up(guard: Guard) -> Guard:
    """One bound alone is the threshold itself: as many detections, or as few alarms, as it lets."""
    if guard.low is not None:
        return replace(guard, high=guard.low + 1)
    assert guard.high is not None
    return replace(guard, low=guard.high - 1)


def _check_together(guards: Sequence[Guard], rows: _Rows) -> None:
    """Two bounds that would ask for different decisions on the same row are refused."""
    for one, other in combinations(guards, 2):
        if one.position == other.position:
            low, high = one.low, other.high
            if low is None or high is None or low < high:
                continue
            beaten = other.position, low
        elif one.high is not None and other.high is not None and one.high + other.high <= 0:
            beaten = other.position, -one.high
        else:
            continue
        k, least = beaten
        leads = rows.of(k)
        best = sure_rate(int((leads > least).sum()), len(leads), rows.risk)
        raise ValueError(
            f"the bounds on {rows.names[one.position]!r} and {rows.names[other.position]!r} "
            f"cannot be kept at the same time: with the first, {best:.4g} of {rows.names[k]!r} "
            f"can be promised at most ({len(leads)} held-out {rows.unit}, {rows.confidence:.6g} "
            "confidence). Lower min_detections, or allow more false alarms."
        )


def _check_covered(guards: Sequence[Guard], n_classes: int) -> None:
    """Without a person to ask, some class must be allowed in every row."""
    lows = {guard.position: guard.low for guard in guards if guard.low is not None}
    if len(lows) < n_classes:
        return
    two = sorted(lows.values())[-2:]
    if sum(two) >= 0:
        raise ValueError(
            "ceilings on every class leave rows that no class may have; give abstain=, the cost of "
            "asking a person about them, or leave a class out of max_false_alarms."
        )
