"""What a decision rule is to keep, as users say it: costs, ceilings and floors."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_number, plain_value
from ..models.decisions import ASK
from ..models.fitted import FittedBayes, FittedProblem
from .given import Value

#: Costs of decisions: a square matrix, or costs by class and decision; with labels, maybe by label.
Costs: TypeAlias = "ArrayLike | Mapping[str, object] | Mapping[int, object] | None"


#: A number, or numbers by class (with labels, by label).
Rates: TypeAlias = "float | Mapping[str, float] | Mapping[int, float] | None"


CostTable: TypeAlias = tuple[tuple[float, ...], ...]


class _Frame(Protocol):
    """What a pandas frame is."""

    def to_dict(self, orient: str) -> dict[str, object]:
        """Its lines, by their names."""


class Wanted(NamedTuple):
    """What the rule of one problem is to keep.

    Positions are those of classes; `normal` is the one that is no alarm, and `alarms` the ceiling
    on its rows that are taken for any other.
    """

    costs: CostTable | None
    normal: int
    alarms: float | None
    ceilings: dict[int, float]
    floors: dict[int, float]

    @property
    def n_promises(self) -> int:
        """How many rates are to be kept at the same time."""
        return (self.alarms is not None) + len(self.ceilings) + len(self.floors)


def read_wanted(
    fitted: FittedBayes, costs: Costs, abstain: Rates, ceilings: Rates, floors: Rates
) -> list[Wanted]:
    """One for each problem.

    Parameters
    ----------
    fitted : the model.
    costs, abstain, ceilings, floors : as `decide` takes them.
    """
    if fitted.labelled:
        return _of_labels(fitted, costs, abstain, ceilings, floors)
    problem = fitted.only
    names = _names(problem)
    normal = int(np.argmax(problem.summary.class_count))
    table = read_costs(costs, abstain, names)
    alarms, each = None, {}
    if isinstance(ceilings, Mapping):
        each = _by_name("max_false_alarms", ceilings, names, "classes")
    elif ceilings is not None:
        alarms = _rate("max_false_alarms", ceilings)
    least: dict[int, float] = {}
    if isinstance(floors, Mapping):
        least = _by_name("min_detections", floors, names, "classes")
    elif floors is not None:
        rate = _rate("min_detections", floors)
        least = {k: rate for k in range(len(names)) if k != normal}
    return [Wanted(table, normal, alarms, each, least)]


def _of_labels(
    fitted: FittedBayes, costs: Costs, abstain: Rates, ceilings: Rates, floors: Rates
) -> list[Wanted]:
    """Of each label its own: 0 is no alarm, 1 is one."""
    labels = list(fitted.labels)
    most = _of_each("max_false_alarms", ceilings, labels)
    least = _of_each("min_detections", floors, labels)
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
        found.append(Wanted(table, 0, most.get(g), {}, floor))
    return found


def _names(problem: FittedProblem) -> list[Value]:
    return [plain_value(value) for value in problem.classes]


def _of_each(parameter: str, given: Rates, labels: list[str]) -> dict[int, float]:
    """A rate for every label, or for some by name."""
    if isinstance(given, Mapping):
        return _by_name(parameter, given, labels, "labels")
    return {} if given is None else dict.fromkeys(range(len(labels)), _rate(parameter, given))


def _by_name(
    parameter: str,
    given: Mapping[str, float] | Mapping[int, float],
    names: Sequence[Value],
    of: str,
) -> dict[int, float]:
    found = _match(parameter, given, names, of)
    return {k: _rate(f"{parameter}[{names[k]!r}]", rate) for k, rate in found.items()}


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
    >>> from bayesieve.evaluation.wanted import read_costs
    >>> read_costs(None, 0.2, ["no", "yes"])
    ((0.0, 1.0, 0.2), (1.0, 0.0, 0.2))
    """
    if costs is None and abstain is None:
        return None
    if hasattr(costs, "columns") and hasattr(costs, "index"):  # a pandas frame: names, not places
        costs = cast(_Frame, costs).to_dict("index")
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
