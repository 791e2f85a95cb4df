"""What a path of weighted terms may do, as users ask for it: columns, groups, its beginning."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING

from ..checks import column_indices
from ..data.sample import Sample
from ..models.registry import MODELS
from ..rankings.families import Families
from ..search.coded import CodedColumns
from ..search.inner import Option
from ..search.pairs import MOST_CELLS, MOST_CLASSES, most_cells
from ..search.weighing import WeightPlan
from .families import read_families
from .parameters import read_forbidden, read_groups, read_start, without

if TYPE_CHECKING:
    from .weighted import WeightedNaiveBayes


def read_plan(
    model: "WeightedNaiveBayes", sample: Sample, models: Sequence[str], n_classes: int
) -> tuple[WeightPlan, Families | None]:
    """What to do, and which column stands for which."""
    names, families = sample.table.names, None
    kept = set(column_indices("keep", model.keep, names))
    forbidden = read_forbidden(model.forbid, names, kept)
    units = without(read_groups(model.feature_groups, names), forbidden, names)
    begun = read_terms(model.start, names)
    if model.families is not None:
        leading = kept.union(*begun)
        families, units = read_families(model.families, sample.table, units, leading, forbidden)
        # Nor may a pair hold a column that another one stands for.
        forbidden = set(range(len(names))) - {j for members in units for j in members}
    rising = _monotone(model.monotone, names, models, n_classes)
    start = _start(begun, units, kept, rising, names)
    _check_room(model, units, kept, start)
    plan = WeightPlan(
        float(model.smoothing),
        float(model.ridge),
        float(model.pair_price),
        int(model.max_terms),
        tuple(map(tuple, units)),
        tuple(u for u, members in enumerate(units) if kept & set(members)),
        frozenset(forbidden),
        rising,
        model.missing == "evidence",
        start=start,
    )
    return plan, families


def _monotone(
    given: object, names: list[str], models: Sequence[str], n_classes: int
) -> dict[int, int]:
    """Columns whose evidence may only rise or fall, by position."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"monotone must be a mapping of columns to 1 (rises) or -1 (falls); got {given!r}."
        )
    if given and n_classes != 2:
        raise ValueError(
            f"monotone is for two classes: evidence for the second rises or falls; got {n_classes}."
        )
    found = {}
    for key, sign in given.items():
        (j,) = column_indices(f"monotone key {key!r}", [key], names)
        if j in found:
            raise ValueError(f"monotone names column {names[j]!r} twice; name it once.")
        if isinstance(sign, bool) or not isinstance(sign, Real) or sign not in (1, -1):
            raise ValueError(f"monotone[{key!r}] must be 1 (rises) or -1 (falls); got {sign!r}.")
        if MODELS[models[j]].nominal and models[j] != "bernoulli":
            raise ValueError(
                f"monotone[{key!r}]: column {names[j]!r} is modelled as {models[j]!r}, whose "
                "values have no order; use a feature model on the grid, such as 'density'."
            )
        found[j] = 1 if sign == 1 else -1
    return found


def read_terms(start: object, names: list[str]) -> list[tuple[int, ...]]:
    """Terms with which a path begins: one column each, or two.

    Parameters
    ----------
    start : None, or a list of columns and pairs of columns, by name or number.
    names : of the columns.

    Examples
    --------
    >>> from bayesieve.estimators.weight_plan import read_terms
    >>> read_terms(["c", ("b", 0), (1,)], ["a", "b", "c"])
    [(2,), (0, 1), (1,)]
    """
    if start is None:
        return []
    if isinstance(start, str) or not isinstance(start, Iterable):
        raise TypeError(
            "start must be a list of columns and pairs of columns, such as ['age', ('height', "
            f"'weight')]; got {start!r}. Wrap a single one in a list."
        )
    found = []
    for at, term in enumerate(start):
        alone = isinstance(term, str | Integral)
        if not alone and not isinstance(term, Iterable):
            raise TypeError(
                f"start[{at}] must be a column, by name or number, or a pair of two; got {term!r}. "
                "Of a mask, give np.flatnonzero(mask)."
            )
        columns = column_indices(f"start[{at}]", [term] if alone else term, names)
        if len(set(columns)) != len(columns) or len(columns) not in (1, 2):
            raise ValueError(
                f"start[{at}] must be a column, or a pair of two different ones; got {term!r}."
            )
        found.append(tuple(sorted(columns)))
    return list(dict.fromkeys(found))


def _start(
    begun: Sequence[tuple[int, ...]],
    units: list[list[int]],
    kept: set[int],
    rising: Mapping[int, int],
    names: list[str],
) -> tuple[tuple[int, ...], ...]:
    """The same, where the rest of what was asked for leaves them room."""
    read_start([j for term in begun for j in term], units, names)
    bound = {j for unit in units if len(unit) > 1 and not kept & set(unit) for j in unit}
    for j in sorted({j for term in begun if len(term) == 2 for j in term}):
        for columns, parameter in ((bound, "feature_groups"), (rising, "monotone")):
            if j in columns:
                raise ValueError(
                    f"start: column {names[j]!r} stands in no pair, since {parameter} names it; "
                    "take it out of one of them."
                )
    return tuple(begun)


def _check_room(
    model: "WeightedNaiveBayes",
    units: list[list[int]],
    kept: set[int],
    start: Sequence[tuple[int, ...]],
) -> None:
    """What is in from the start must not be more than there may be."""
    begun = {term[0] for term in start if len(term) == 1}
    n_kept = sum(len(members) for members in units if kept & set(members))
    n_first = sum(len(members) for members in units if (kept | begun) & set(members))
    n_first += sum(len(term) == 2 for term in start)
    if n_first <= int(model.max_terms):
        return
    why = "keep and start, with their groups, name as many terms"
    if n_first == n_kept:
        why = "keep, with its groups, names as many columns"
    raise ValueError(f"max_terms must be at least {n_first}, since {why}; got {model.max_terms}.")


def with_start_pairs(
    plan: WeightPlan, options: Sequence[Option], columns: CodedColumns, n_classes: int
) -> tuple[Option, ...]:
    """Those ways to fit that know the pairs with which the path begins.

    Parameters
    ----------
    plan : where it begins.
    options : the simplest first.
    columns : as codes.
    n_classes : of each problem.
    """
    pairs = plan.start_pairs
    if not pairs:
        return tuple(options)
    if not any(option.bins for option in options):
        raise ValueError("start holds a pair of columns, and pairs=False: use pairs=True.")
    if n_classes > MOST_CLASSES:
        raise ValueError(
            f"start holds a pair of columns; pairs are for at most {MOST_CLASSES} classes, and "
            f"there are {n_classes}. Name columns alone."
        )
    found = [option for option in options if option.bins]
    for pair in pairs:
        found = [each for each in found if most_cells(columns, pair, each.bins) <= MOST_CELLS]
        if not found:
            names = " x ".join(repr(columns.specs[j].name) for j in pair)
            raise ValueError(
                f"start: the pair {names} has more than {MOST_CELLS} cells; name the columns alone."
            )
    return tuple(found)
