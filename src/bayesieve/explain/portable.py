"""A fitted model as plain data that any language can compute with.

Discrete columns are tables of the model's own integers; continuous ones sums of bells.  Whatever
speaks the model elsewhere (a page, a query, a function) is made from this form.
"""

from typing import Any, NotRequired, TypeAlias, TypedDict, final

import numpy as np

from ..checks import Array, plain_value
from ..data.columns import ColumnSpec
from ..estimators.naive_bayes import fitted_of
from ..evaluation._typing import Model, Value
from ..models.base import ColumnTerms
from ..models.fitted import FittedBayes, FittedProblem
from ..models.gaussian import DENSITY_BOUND

# Distinct values up to which a column without a closed form travels as a table of them.
_MOST_VALUES = 1000

#: One bell: log of its share, levels, offsets (lists of numbers), mean and sd.
PortableBell: TypeAlias = list[Any]


class PortableFeature(TypedDict):
    """A column; without levels, it is a number, and with cuts one on a grid."""

    name: str
    model: str
    levels: list[Value] | None
    cuts: list[float] | None
    presence: bool
    grid: float | None
    range: list[float] | None


@final
class TableTerms(TypedDict):
    """What each level, or each interval between cuts, says: levels x classes.

    And what it says that a value is missing; one that nobody has seen says nothing.
    """

    table: list[list[int]]
    silent: list[int]


@final
class BellTerms(TypedDict):
    """The bells of each class, and what bounds their sum."""

    classes: list[list[PortableBell]]
    empty: float
    least: float | None
    bound: float


class PortablePair(TypedDict):
    """Two columns that speak together: the group of each of their levels, and what cells say."""

    columns: list[int]
    groups: list[list[int]]
    table: list[list[int]]


class PortableRule(TypedDict):
    """What to decide: see `DecisionRule`.

    ``shift`` is added to the sums before the guards read leads; each guard is the position of a
    class, its lower and upper bound (None: there is none), and whether a person may be asked.
    """

    costs: list[list[float]] | None
    guards: list[tuple[int, int | None, int | None, bool]]
    shift: list[int]


class PortableProblem(TypedDict):
    """Which of several classes, or whether a label is there."""

    name: str | None
    classes: list[Value]
    class_count: list[float]
    bits: int
    impossible: int
    temperature: float
    prior: list[int]
    terms: list[TableTerms | BellTerms]
    pairs: list[PortablePair]
    rule: NotRequired[PortableRule]


class Portable(TypedDict):
    """A whole model."""

    features: list[PortableFeature]
    problems: list[PortableProblem]


def portable(model: Model | FittedBayes, by_values: bool = False) -> Portable:
    """Features, and for each problem (one, or one a label) its classes, prior and terms.

    Parameters
    ----------
    model : a fitted model.
    by_values : may a column without a closed form travel as a table of the values it was learnt
        from?  It then says nothing about others; where that will not do, it is refused by name.

    Returns
    -------
    data : dict
        ``features``: name, model, levels (None: a number), cuts (None: no grid; else the number of
        those below a value is its row in the table), presence, grid.  ``problems``: name
        (None without labels), classes, bits and impossible (integers are in units of 2^-bits nat; a
        log 0 costs `impossible` of them), temperature (what is said is divided by it; decisions
        stay), prior, terms: a table of levels x classes, or the
        components of each class with what bounds them; and rule, where there is one.
    """
    fitted = fitted_of(model)
    names = fitted.labels or (None,)
    return {
        "features": [
            _feature(spec, by_values and _has_no_form(column))
            for spec, column in zip(fitted.specs, fitted.problems[0].columns, strict=True)
        ],
        "problems": [
            _problem(name, problem, by_values)
            for name, problem in zip(names, fitted.problems, strict=True)
        ],
    }


def _has_no_form(column: ColumnTerms) -> bool:
    """Is it a continuous column whose model is no sum of bells?"""
    if column.model.discrete:
        return False
    with np.errstate(all="ignore"):
        return column.model.bells(column.statistics, column.grid, column.settings) is None


def _feature(spec: ColumnSpec, as_levels: bool = False) -> PortableFeature:
    levels = spec.distinct if as_levels else spec.levels
    if spec.on_grid:
        levels = None
    ends = None
    if levels is None and spec.distinct is not None and spec.distinct.size:
        ends = spec.distinct[[0, -1]].tolist()
    return {
        "name": spec.name,
        "model": spec.model,
        "levels": None if levels is None else [plain_value(level) for level in levels],
        "cuts": None if spec.cuts is None else spec.cuts.tolist(),
        "presence": spec.presence,
        "grid": spec.grid,
        "range": ends,
    }


def plain_classes(classes: Array) -> list[Value]:
    """The classes as texts, numbers and booleans, the only ones that other languages have too."""
    if classes.dtype.kind in "mM":
        raise ValueError(
            f"y holds classes of the type {classes.dtype}, which cannot be written down; fit on "
            "texts or whole numbers, such as y.astype(str)."
        )
    return [plain_value(value) for value in classes]


def _problem(name: str | None, problem: FittedProblem, by_values: bool) -> PortableProblem:
    found: PortableProblem = {
        "name": name,
        "classes": plain_classes(problem.classes),
        "class_count": problem.summary.class_count.tolist(),
        "bits": problem.scale.bits,
        "impossible": problem.scale.impossible,
        "temperature": problem.temperature,
        "prior": problem.fixed_prior.tolist(),
        "terms": [_terms(problem, j, by_values) for j in range(len(problem.specs))],
        "pairs": [
            {
                "columns": list(pair.columns),
                "groups": [part[:-1].tolist() for part in pair.groups],
                "table": pair.said.reshape(-1, len(problem.classes)).tolist(),
            }
            for pair in problem.pairs
        ],
    }
    if problem.rule is not None:
        rule = problem.rule
        found["rule"] = {
            "costs": None if rule.costs is None else [list(line) for line in rule.costs],
            "guards": [(each.position, each.low, each.high, each.or_ask) for each in rule.guards],
            "shift": (np.array(rule.prior, np.int64) - problem.fixed_prior).tolist(),
        }
    return found


def _terms(problem: FittedProblem, j: int, by_values: bool) -> TableTerms | BellTerms:
    """One column: a table of values, or bells."""
    spec, column, table = problem.specs[j], problem.columns[j], problem.tables[j]
    if table is not None:
        last = spec.n_codes - 1
        return {"table": table[:last].tolist(), "silent": table[last].tolist()}
    if not _has_no_form(column):
        return _bells(spec, column)
    assert spec.distinct is not None
    if not by_values or spec.n_distinct > min(_MOST_VALUES, spec.distinct.size):
        raise ValueError(
            f"column {spec.name!r} is modelled as {spec.model!r}, which offers no `bells`: it "
            "cannot be written as a sum of bell curves, and speaks in Python only."
        )
    nothing = [0] * len(problem.classes)
    return {"table": problem.speak(j, spec.distinct).tolist(), "silent": nothing}


def _bells(spec: ColumnSpec, column: ColumnTerms) -> BellTerms:
    """One continuous column."""
    model, settings = column.model, column.settings
    with np.errstate(all="ignore"):  # what is not finite is refused below
        found = model.bells(column.statistics, column.grid, settings) or []
    classes = [[bells.to_list() for bells in mine] for mine in found]
    bells = [b for mine in found for b in mine]
    numbers = [x for b in bells for x in (b.share, *b.levels, *b.offsets, b.mean, b.sd)]
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"column {spec.name!r} has values too large to be written down; scale it first."
        )
    return {
        "classes": classes,
        "empty": model.empty_term(column.grid, settings),
        "least": model.least_term(settings),
        "bound": DENSITY_BOUND,
    }
