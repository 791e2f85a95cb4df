"""What a card is made of: columns and grids of two, and the model whose corrections are points."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..checks import Floats, Ints
from ..data.columns import ColumnSpec, encode
from ..data.sample import Sample
from ..models.base import PairTerms, Terms, Weighting, one_set
from ..models.columns import Summary
from ..models.fitted import FittedProblem
from ..models.log_ratios import column_ratios, weigh
from ..models.registry import MODELS
from ..search.point_lines import UNIT, CardColumn, CardRows, Draft
from ._validation import read_terms

#: Points that people add up.
MOST_POINTS = 100

# Conditions of a column in a pair; and how far from a third of the rows a cut-off of one may be.
_MOST_LEVELS, _NEAR = 4, 0.08

# A number's intervals are levels of this feature model.
_INTERVALS = "intervals-32"


def numbers_of(sample: Sample, j: int) -> Floats:
    """The numbers of a column, row by row."""
    values, where = sample.table.coded(j)
    values = np.asarray(values, np.float64)
    return values if where is None else values[where]


@dataclass(frozen=True)
class Grid:
    """Two columns that may speak together, in few conditions each."""

    at: int  #: its position among the rows' columns
    columns: tuple[int, int]
    names: tuple[str, str]
    starts: tuple[Floats | None, Floats | None]  #: where conditions of a number begin; None: levels
    sizes: tuple[int, int]  #: conditions of each

    def places(self, side: int, codes: Ints, column: CardColumn) -> Ints:
        """The condition of each code of one of the columns; the last one: the value is missing."""
        starts, mine = self.starts[side], column.starts
        if starts is None or mine is None:
            return codes
        begins = np.append(-np.inf, mine)
        told = np.searchsorted(starts, begins, "right")
        return np.append(told, self.sizes[side])[codes]

    def column(self, parts: Sequence[tuple[CardColumn, Ints]]) -> tuple[CardColumn, Ints]:
        """The grid as a column of cells."""
        one, two = (
            self.places(side, parts[at][1], parts[at][0]) for side, at in enumerate(self.columns)
        )
        n, m = self.sizes
        codes = np.where((one == n) | (two == m), n * m, one * m + two)
        return CardColumn(" x ".join(self.names), n * m + 1, None, silent=True), codes


def read_grids(
    pairs: object,
    names: list[str],
    order: list[int],
    parts: Sequence[tuple[CardColumn, Ints]],
    weights: Floats,
    forbidden: set[int],
) -> list[Grid]:
    """The pairs that somebody allows, each column cut into three at most."""
    place = {j: at for at, j in enumerate(order)}
    asked = []
    for i, term in enumerate(read_terms(pairs or None, names, "pairs")):
        if len(term) != 2:
            raise ValueError(f"pairs[{i}] must be two columns; got {names[term[0]]!r} alone.")
        if forbidden & set(term):
            raise ValueError(f"pairs[{i}] holds a column of forbid; take it out of one of them.")
        asked.append(tuple(place[j] for j in sorted(term, key=names.__getitem__)))
    found = []
    for at, (first, second) in enumerate(sorted(asked), len(order)):
        sides = [_conditions(*parts[each], weights) for each in (first, second)]
        (one, n), (two, m) = sides
        told = parts[first][0].name, parts[second][0].name
        found.append(Grid(at, (first, second), told, (one, two), (n, m)))
    return found


def _conditions(column: CardColumn, codes: Ints, weights: Floats) -> tuple[Floats | None, int]:
    """Where the conditions of a column of a pair begin, and how many they are."""
    if column.starts is not None:
        starts = _thirds(column, codes, weights)
        return starts, starts.size + 1
    n = column.n_codes - 1
    if n > _MOST_LEVELS:
        raise ValueError(
            f"pairs: column {column.name!r} has {n} levels, and a grid has room for "
            f"{_MOST_LEVELS}; join the rare ones."
        )
    return None, n


def _thirds(column: CardColumn, codes: Ints, weights: Floats) -> Floats:
    """The roundest cut-offs of a number near its thirds."""
    assert column.starts is not None
    seen = np.bincount(codes, weights, column.n_codes)[:-1]
    below = np.cumsum(seen)[:-1] / max(seen.sum(), 1.0)
    found = []
    for share in (1 / 3, 2 / 3):
        near = np.flatnonzero(np.abs(below - share) <= _NEAR)
        if near.size:
            price = column.prices[near] + np.abs(below[near] - share)
            found.append(float(column.starts[near[price.argmin()]]))
    return (
        np.unique(found) if found else column.starts[[np.abs(below - 0.5).argmin()]][: len(below)]
    )


class CardPart(NamedTuple):
    """A column of a finished card."""

    at: int  #: its position among the rows' columns
    starts: Floats | None  #: of a number, where its intervals after the first begin
    groups: Ints  #: condition of each interval or level; the last is that of missing values
    points: Ints  #: conditions x logits
    codes: Ints  #: interval or level of each row


def without_codes(part: CardPart) -> CardPart:
    """A part that holds no rows."""
    return part._replace(codes=part.codes[:0])


class CardMade(NamedTuple):
    """What a card was made of, for those who change it."""

    draft: Draft
    parts: list[CardPart]
    grids: list[Grid]
    order: tuple[int, ...]


def check_named(
    points: Mapping[str, object],
    cuts: Mapping[str, object],
    made: CardMade,
    specs: Sequence[ColumnSpec],
) -> None:
    """Refuse changes of what is not on the card, and cut-offs that two columns share."""
    names = [
        spec.name
        for spec, part in zip(specs, made.parts, strict=True)
        if part.at in made.draft.groups
    ]
    pairs = [" x ".join(grid.names) for grid in made.grids]
    for column in {**points, **cuts}:
        if column not in (*names, *pairs):
            told = ", ".join(map(repr, (*names, *pairs)))
            raise ValueError(f"{column!r} is no column of the card; it has {told}.")
    for column in cuts:
        held = [name for name, grid in zip(pairs, made.grids, strict=True) if column in grid.names]
        if column in pairs or held:
            raise ValueError(
                f"cuts: the cut-offs of {column!r} belong to the pair {(held or [column])[0]!r}; "
                "make a card without it to move them."
            )


def read_points(column: str, given: object, size: int, draft: Draft) -> Ints:
    """Points that somebody wants: conditions x logits."""
    width = draft.constants.size
    found = np.asarray(given)
    if found.ndim == 1 and width == 1:
        found = found[:, None]
    whole = found.dtype.kind in "iu" and np.abs(found).max(initial=0) <= MOST_POINTS
    if not whole or found.shape != (size, width):
        of = "" if width == 1 else f", each a list of {width}"
        raise ValueError(
            f"points[{column!r}] must be {size} whole numbers{of}, from -{MOST_POINTS} to "
            f"{MOST_POINTS}; got {given!r}."
        )
    return found.astype(np.int64)


def changed_part(
    part: CardPart,
    name: str,
    points: Mapping[str, object],
    cuts: Mapping[str, object],
    draft: Draft,
) -> CardPart:
    """A column of a card with what somebody wants of it."""
    if name in cuts:
        if part.starts is None:
            raise ValueError(f"cuts: {name!r} has levels, and no cut-offs; change its points.")
        starts = np.asarray(cuts[name], np.float64)
        rising = starts.ndim == 1 and np.isfinite(starts).all() and (np.diff(starts) > 0).all()
        if not rising or not starts.size:
            raise ValueError(f"cuts[{name!r}] must be numbers that rise; got {cuts[name]!r}.")
        if name not in points and starts.size != part.starts.size:
            raise ValueError(
                f"cuts[{name!r}] must be {part.starts.size} numbers, as before, or come with "
                f"points[{name!r}]; got {starts.size}."
            )
        told = np.vstack([part.points, np.zeros_like(part.points[:1])])[part.groups]
        if name in points:
            n = starts.size + 1
            more = len(np.asarray(points[name])) > n
            told = read_points(name, points[name], n + more, draft)
            # Without points of its own, what is missing has none.
            told = told if more else np.vstack([told, np.zeros_like(told[:1])])
        missing = told[-1].any()
        groups = np.append(np.arange(starts.size + 1), starts.size + 1 if missing else -1)
        return part._replace(starts=starts, groups=groups, points=told if missing else told[:-1])
    if name in points:
        return part._replace(points=read_points(name, points[name], len(part.points), draft))
    return part


def codes_of(part: CardPart, spec: ColumnSpec, sample: Sample, j: int) -> Ints:
    """The interval or level of each row of a table."""
    if part.starts is None:
        values, where = sample.table.coded(j)
        codes = encode(spec, values)
        return (codes if where is None else codes[where]).astype(np.int64)
    values = numbers_of(sample, j)
    found = np.searchsorted(part.starts, values, "right")
    return np.where(np.isnan(values), part.starts.size + 1, found)


def part_of(rows: CardRows, draft: Draft, at: int, grids: Sequence[Grid]) -> CardPart:
    """A column of a finished card, its number cut at the cut-offs of the card alone."""
    column, codes = rows.columns[at], rows.codes[at]
    groups, points = np.zeros(column.n_codes, np.int64), np.zeros((1, rows.n_logits), np.int64)
    if at in draft.groups:
        groups, points = draft.groups[at], draft.points(at)
    if column.starts is None:
        return CardPart(at, None, groups, points, codes)
    shared = [
        starts
        for grid in grids
        for one, starts in zip(grid.columns, grid.starts, strict=True)
        if one == at and starts is not None
    ]
    starts = np.unique(np.concatenate([column.starts[groups[1:-1] != groups[:-2]], *shared]))
    first = np.searchsorted(column.starts, starts, "right")
    silent = codes == column.n_codes - 1
    codes = np.where(silent, starts.size + 1, np.searchsorted(first, codes, "right"))
    return CardPart(at, starts, groups[[0, *first.tolist(), -1]], points, codes)


def spec_of(spec: ColumnSpec, part: CardPart, sample: Sample, j: int) -> ColumnSpec:
    """What the card's model must know of a column: of a number, its few cut-offs."""
    if part.starts is None:
        return spec
    values = numbers_of(sample, j)
    medians = []
    for i in range(part.starts.size + 1):
        mine = np.sort(values[part.codes == i])
        medians.append(mine[(mine.size - 1) // 2])
    # A value belongs to the interval that begins with it.
    cuts = np.nextafter(part.starts, -np.inf)
    ends = np.array([np.nanmin(values), np.nanmax(values)])
    count = max(spec.n_distinct, len(medians))
    return ColumnSpec(
        spec.name, _INTERVALS, np.array(medians), distinct=ends, n_distinct=count, cuts=cuts
    )


def fitted_card(
    sample: Sample,
    draft: Draft,
    parts: Sequence[CardPart],
    specs: Sequence[ColumnSpec],
    factors: Floats,
    grids: Sequence[Grid],
) -> FittedProblem:
    """The weighted model whose weights are 0 and whose corrections are points."""
    n_classes = len(sample.classes)
    sets = one_set(sample.labels, sample.weights, factors)
    statistics = tuple(
        MODELS[spec.model].statistics(part.codes, spec.n_codes, sets)
        for spec, part in zip(specs, parts, strict=True)
    )
    count = np.bincount(sample.labels, sample.weights, n_classes).astype(np.float64)
    summary = Summary(sample.classes, count, factors, tuple(specs), statistics)
    unit = round(draft.unit / UNIT)

    def told(points: Ints) -> Ints:
        """Points as corrections; of two classes, the first one has none."""
        return (np.pad(points, ((0, 0), (1, 0))) if n_classes == 2 else points) * unit

    corrections: list[Ints | None] = []
    for part in parts:
        table = told(np.vstack([part.points, np.zeros_like(part.points[:1])])[part.groups])
        silent = table if table[-1].any() else table[:-1]
        corrections.append(silent if part.at in draft.groups else None)
    speaks = any(
        part is not None and len(part) == spec.n_codes
        for part, spec in zip(corrections, specs, strict=True)
    )
    nothing = np.zeros((len(parts), n_classes), np.int64)
    place = {part.at: i for i, part in enumerate(parts)}
    pairs = [_pair(sample, draft, grid, place, parts, told) for grid in grids]
    weighting = Weighting(nothing, tuple(pairs), speaks, corrections=tuple(corrections))
    ratios = column_ratios(summary, 1.0, None, speaks)
    problem = weigh(summary, ratios, np.zeros(n_classes, np.int64), weighting, 1.0)
    logits = np.append(0.0, draft.constants) if n_classes == 2 else draft.constants
    # Differences between classes stay what they are, to the last bit.
    first = np.rint(np.ldexp(-logsumexp(logits), 30))
    prior = np.ldexp(first + np.rint(np.ldexp(logits, 30)), -30)
    return replace(problem, prior=Terms(prior[None]))


def _pair(
    sample: Sample,
    draft: Draft,
    grid: Grid,
    place: Mapping[int, int],
    parts: Sequence[CardPart],
    told: Callable[[Ints], Ints],
) -> PairTerms:
    """The pair of a grid, whose cells have points."""
    (n, m), n_classes = grid.sizes, len(sample.classes)
    first, second = (place[at] for at in grid.columns)
    groups, codes = [], []
    for side, i in enumerate((first, second)):
        part = parts[i]
        n_codes = part.groups.size
        column = CardColumn("", n_codes, part.starts)
        groups.append(grid.places(side, np.arange(n_codes), column))
        codes.append(groups[-1][part.codes])
    table = np.vstack([draft.points(grid.at), np.zeros_like(draft.points(grid.at)[:1])])
    counts = np.zeros((n + 1, m + 1, n_classes))
    np.add.at(counts, (codes[0], codes[1], sample.labels), sample.weights)
    points = told(table[draft.groups[grid.at][:-1]]).reshape(n, m, n_classes)
    weights = np.zeros(n_classes, np.int64)
    both = groups[0], groups[1]
    return PairTerms(
        (first, second),
        both,
        counts[:n, :m],
        np.zeros((n, m, n_classes), np.int64),
        weights,
        points,
    )
