"""Thresholds that keep a rate with a stated confidence (tolerance bounds).

Of n held-out scores, let k lie above the threshold.  The rate above it exceeds `bound` with
probability P(Binomial(n, bound) <= k), whatever the distribution of the scores; ties only help.
So the largest k for which that is at most 1 - confidence gives the threshold, and its guarantee,
from the same rows (Wilks 1941; as a classifier's threshold, Tong, Feng and Li 2018).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, binom

from ..checks import Bools, Foreign, check_number, plain_value
from ..data.sample import middle_rows
from ..models.base import Ints
from ..models.fitted import ASK, DecisionRule, FittedBayes, FittedProblem, Guard, Promise, leads_of
from ._typing import Value


class Level(NamedTuple):
    """A threshold, the rows it rests on, and how many of them lie beyond it."""

    threshold: int
    rows: int
    beyond: int


def level_below(scores: Ints, rate: float, risk: float) -> Level | None:
    """The lowest score that at most `rate` of new rows exceed, but for a risk; None: there is none.

    Examples
    --------
    >>> level_below(np.arange(299), 0.01, 0.05)
    Level(threshold=298, rows=299, beyond=0)
    >>> level_below(np.arange(298), 0.01, 0.05) is None
    True
    """
    n = len(scores)
    beyond = most_beyond(n, rate, risk)
    if beyond < 0:
        return None
    return Level(int(np.sort(scores)[n - 1 - beyond]), n, beyond)


def most_beyond(n: int, rate: float, risk: float) -> int:
    """How many of n rows may lie beyond a threshold, so that more than `rate` do by a risk only."""
    below = int(binom.ppf(risk, n, rate)) if n else 0
    # The quantile is the least with a probability of at least `risk`: it, or the one before.
    for k in (below + 1, below, below - 1):
        if 0 <= k < n and binom.cdf(k, n, rate) <= risk:
            return k
    return -1


def lowest_rate(n: int, risk: float) -> float:
    """The lowest rate that n rows can show not to be exceeded."""
    return -math.expm1(math.log(risk) / n)


def rows_needed(rate: float, risk: float) -> int:
    """Rows that can show a rate not to be exceeded, at least."""
    found = math.ceil(math.log(risk) / math.log1p(-rate))
    return found if binom.cdf(0, found, rate) <= risk else found + 1


# -- What a decision rule is to keep, as users say it ----------------------------------------------


#: Costs of decisions: a square matrix, or costs by class and decision; with labels, maybe by label.
Costs: TypeAlias = "ArrayLike | Mapping[str, object] | Mapping[int, object] | None"

#: A number, or numbers by class (with labels, by label).
Rates: TypeAlias = "float | Mapping[str, float] | Mapping[int, float] | None"

CostTable: TypeAlias = tuple[tuple[float, ...], ...]


class Requirements(NamedTuple):
    """What the rule of one problem is to keep.

    Positions are those of classes; `normal` is the one that is no alarm, and `alarms` the ceiling
    on its rows that are taken for any other.
    """

    costs: CostTable | None
    normal: int
    alarms: float | None
    ceilings: dict[int, float]
    floors: dict[int, float]


def read_requirements(
    fitted: FittedBayes, costs: Costs, abstain: Rates, ceilings: Rates, floors: Rates
) -> list[Requirements]:
    """Requirements of each problem, from what `decide` takes."""
    if fitted.labelled:
        return _of_labels(fitted, costs, abstain, ceilings, floors)
    problem = fitted.only
    names = _names(problem)
    normal = int(np.argmax(problem.summary.class_count))
    table = read_costs(costs, abstain, names)
    alarms, each = None, {}
    if isinstance(ceilings, Mapping):
        each = _of_each("max_false_alarms", ceilings, names, "classes")
    elif ceilings is not None:
        alarms = _rate("max_false_alarms", ceilings)
    least = _of_each("min_detections", floors, names, "classes")
    if not isinstance(floors, Mapping):  # a number is of every class but the commonest one
        least.pop(normal, None)
    return [Requirements(table, normal, alarms, each, least)]


def _of_labels(
    fitted: FittedBayes, costs: Costs, abstain: Rates, ceilings: Rates, floors: Rates
) -> list[Requirements]:
    """Requirements of each label: 0 is no alarm, 1 is one."""
    labels = list(fitted.labels)
    most = _of_each("max_false_alarms", ceilings, labels, "labels")
    least = _of_each("min_detections", floors, labels, "labels")
    asking: dict[int, object] = dict.fromkeys(range(len(labels)), abstain)
    if isinstance(abstain, Mapping):
        given = _match("abstain", abstain, labels, "labels")
        asking = {g: given.get(g) for g in range(len(labels))}
    tables: dict[int, object] = dict.fromkeys(range(len(labels)), costs)
    if isinstance(costs, Mapping) and not {str(key) for key in costs} <= {"0", "1"}:
        tables = {**dict.fromkeys(range(len(labels))), **_match("costs", costs, labels, "labels")}
    found = []
    for g, problem in enumerate(fitted.problems):
        table = read_costs(tables[g], asking[g], _names(problem))
        floor = {} if least.get(g) is None else {1: least[g]}
        found.append(Requirements(table, 0, most.get(g), {}, floor))
    return found


def _names(problem: FittedProblem) -> list[Value]:
    return [plain_value(value) for value in problem.classes]


def _of_each(parameter: str, given: Rates, names: Sequence[Value], of: str) -> dict[int, float]:
    """A rate for every class or label, or for some by name."""
    if isinstance(given, Mapping):
        found = _match(parameter, given, names, of)
        return {k: _rate(f"{parameter}[{names[k]!r}]", rate) for k, rate in found.items()}
    return {} if given is None else dict.fromkeys(range(len(names)), _rate(parameter, given))


def _match(
    parameter: str,
    given: Mapping[str, object] | Mapping[int, object],
    names: Sequence[Value],
    of: str,
) -> dict[int, object]:
    """Values by position; command lines know texts only."""
    known = {str(name): k for k, name in enumerate(names)}
    found = {}
    for key, value in given.items():
        text = str(plain_value(key))
        if text not in known:
            listed = ", ".join(map(repr, names))
            raise ValueError(f"{parameter} names {key!r}, which is none of the {of} {listed}.")
        found[known[text]] = value
    return found


def _rate(name: str, value: object) -> float:
    if value == 0 and "alarms" in name:
        raise ValueError(
            f"{name} must be above 0 and below 1; got 0: no number of rows shows that there will "
            "be none. Use a small share, such as 0.01."
        )
    rate = float(check_number(name, value, low=0.0, high=1.0))
    if not 0 < rate < 1:
        raise ValueError(f"{name} must be a share of rows above 0 and below 1; got {value!r}.")
    return rate


def read_costs(costs: object, abstain: object, names: Sequence[Value]) -> CostTable | None:
    """Classes x decisions, asking a person the last; None where nothing has a cost.

    Parameters
    ----------
    costs : None (each error costs 1, where asking has a cost), a square matrix, or a mapping of
        classes to mappings of decisions to costs.
    abstain : cost of asking a person: None, a number, or one for each class.
    names : the classes.

    Examples
    --------
    >>> read_costs(None, 0.2, ["no", "yes"])
    ((0.0, 1.0, 0.2), (1.0, 0.0, 0.2))
    """
    if costs is None and abstain is None:
        return None
    if hasattr(costs, "columns") and hasattr(costs, "index"):  # a pandas frame: names, not places
        costs = cast(Foreign, costs).to_dict("index")
    if isinstance(costs, Mapping):
        table, asking = _by_class(costs, names)
        if asking is not None and abstain is not None:
            raise ValueError(f"costs name {ASK!r} already; leave abstain out.")
    else:
        table, asking = _square(costs, names), None
    if abstain is not None:
        asking = _asking(abstain, names)
    if asking is not None:
        table = np.column_stack([table, asking])
    if not np.isfinite(table).all() or (table < 0).any():
        odd = table[~np.isfinite(table) | (table < 0)][0]
        raise ValueError(f"costs must be finite numbers from 0 on; got {odd:g}.")
    if not table.any():
        raise ValueError("costs must not all be 0: then every decision is as good as any.")
    return tuple(tuple(line) for line in table.tolist())


def _square(costs: object, names: Sequence[Value]) -> np.ndarray:
    n = len(names)
    if costs is None:
        return 1.0 - np.eye(n)
    try:
        table = np.asarray(costs, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"costs must be a {n} x {n} matrix of numbers; got {costs!r}.") from error
    if table.shape != (n, n):
        shape = " x ".join(map(str, table.shape)) or "a single number"
        raise ValueError(
            f"costs must be square, {n} x {n}: one line for each class, one column for each "
            f"decision in the same order (asking a person is abstain=); got {shape}."
        )
    return table


def _by_class(
    costs: Mapping[str, object] | Mapping[int, object], names: Sequence[Value]
) -> tuple[np.ndarray, np.ndarray | None]:
    """Costs by name; the right decision costs nothing where nobody says otherwise."""
    n = len(names)
    lines = _match("costs", costs, names, "classes")
    table = np.full((n, n + 1), np.nan)
    table[np.arange(n), np.arange(n)] = 0.0
    decisions = [*names, ASK]
    for k, line in lines.items():
        if not isinstance(line, Mapping):
            raise TypeError(f"costs[{names[k]!r}] must map decisions to costs; got {line!r}.")
        of = cast(Mapping[str, object], line)
        for d, value in _match(f"costs[{names[k]!r}]", of, decisions, "decisions").items():
            number = check_number(f"costs[{names[k]!r}][{decisions[d]!r}]", value, low=0.0)
            table[k, d] = float(number)
    lost = np.argwhere(np.isnan(table[:, :n]))
    if lost.size:
        k, d = lost[0]
        raise ValueError(
            f"costs must say what it costs to take {names[k]!r} for {names[d]!r}; it is missing."
        )
    asks = ~np.isnan(table[:, n])
    if asks.any() and not asks.all():
        raise ValueError(f"costs must say what {ASK!r} costs for every class, or for none.")
    return table[:, :n], table[:, n] if asks.all() else None


def _asking(abstain: object, names: Sequence[Value]) -> np.ndarray:
    if not isinstance(abstain, Mapping):
        return np.full(len(names), float(check_number("abstain", abstain, low=0.0)))
    given = _match("abstain", abstain, names, "classes")
    lost = [names[k] for k in range(len(names)) if k not in given]
    if lost:
        raise ValueError(f"abstain must name every class; {lost[0]!r} is missing.")
    return np.array([float(check_number("abstain", given[k], low=0.0)) for k in range(len(names))])


# -- From ceilings and floors to guards ------------------------------------------------------------


class _Rows(NamedTuple):
    """Held-out rows as guards see them."""

    names: list[Value]
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

    def _some(self, which: Bools) -> Ints:
        """Rows that are independent: of each group the one in the middle."""
        found = np.flatnonzero(which)
        return found if self.mates is None else found[middle_rows(self.mates[found])]


def make_rule(
    problem: FittedProblem,
    wanted: Requirements,
    sums: Ints,
    truth: Ints,
    confidence: float,
    mates: Ints | None = None,
) -> DecisionRule:
    """The rule of one problem, from the sums and the classes of held-out rows.

    Of rows with `mates`, one of each group is looked at; without, rows are independent.
    """
    n_promises = (wanted.alarms is not None) + len(wanted.ceilings) + len(wanted.floors)
    risk = (1 - confidence) / max(n_promises, 1)
    names = _names(problem)
    rows = _Rows(names, leads_of(sums), truth, risk, confidence, mates)
    found = list(_promised(wanted, rows))
    guards = [guard for guard, _ in found]
    _check_together(guards, rows)
    if wanted.costs is None and len(guards) == 1:
        # One bound alone is the threshold: as many detections, or as few alarms, as it lets.
        (guard,) = guards
        if guard.low is not None:
            guards = [replace(guard, high=guard.low + 1)]
        elif guard.high is not None:
            guards = [replace(guard, low=guard.high - 1)]
    asks = wanted.costs is not None and len(wanted.costs[0]) > len(names)
    lows = sorted(guard.low for guard in guards if guard.low is not None)
    # Without a person to ask, some class must be allowed in every row.
    if not asks and len(lows) == len(names) and sum(lows[-2:]) >= 0:
        raise ValueError(
            "ceilings on every class leave rows that no class may have; give abstain=, the cost of "
            "asking a person about them, or leave a class out of max_false_alarms."
        )
    return DecisionRule(
        wanted.costs,
        tuple(guards),
        tuple(problem.fixed_prior.tolist()),
        tuple(promise for _, promise in found),
        len(truth),
    )


def _promised(wanted: Requirements, rows: _Rows) -> Iterator[tuple[Guard, Promise]]:
    """What keeps each ceiling and floor, and what it promises.

    A class must lead by more than it does in rows of others that are not to be taken for it, and
    be decided where it leads as it does in those of its own rows that are not to be lost.
    """
    asked = [] if wanted.alarms is None else [("alarms", wanted.normal, wanted.alarms)]
    asked += [("false alarms", k, rate) for k, rate in wanted.ceilings.items()]
    asked += [("detections", k, rate) for k, rate in wanted.floors.items()]
    for kind, k, rate in asked:
        parameter = "min_detections" if kind == "detections" else "max_false_alarms"
        if kind == "false alarms":
            level = _level(rows.of_others(k), parameter, rate, f"not of {rows.names[k]!r}", rows)
            guard = Guard(k, low=level.threshold)
        else:
            level = _level(-rows.of(k), parameter, rate, f"of {rows.names[k]!r}", rows)
            guard = Guard(k, high=-level.threshold, or_ask=kind == "alarms")
        yield guard, Promise(kind, k, rate, rows.confidence, level.rows, level.beyond, rows.unit)


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
        hits = int((leads > least).sum())
        # The rate that a threshold found on other rows reaches, but for a risk.
        best = float(beta.ppf(rows.risk, hits, len(leads) - hits + 1)) if hits else 0.0
        raise ValueError(
            f"the bounds on {rows.names[one.position]!r} and {rows.names[other.position]!r} "
            f"cannot be kept at the same time: with the first, {best:.4g} of {rows.names[k]!r} "
            f"can be promised at most ({len(leads)} held-out {rows.unit}, {rows.confidence:.6g} "
            "confidence). Lower min_detections, or allow more false alarms."
        )
