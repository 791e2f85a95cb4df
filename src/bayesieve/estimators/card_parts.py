"""What a card is made of, the model of it, and the card as a value: lines, totals, words."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy.special import logsumexp

from ..checks import Floats, Foreign, Ints, choose, plain_value
from ..criteria.auc import auc_parts
from ..data.columns import ColumnSpec, encode
from ..data.files.output import whole_file, write_text
from ..data.result import Result, jsonable
from ..data.sample import Sample
from ..models.base import CORRECTION_BITS, SCORE_BITS, PairTerms, Terms, Weighting, one_set
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
class PairGrid:
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
) -> list[PairGrid]:
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
        found.append(PairGrid(at, (first, second), told, (one, two), (n, m)))
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
    grids: list[PairGrid]
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


def part_of(rows: CardRows, draft: Draft, at: int, grids: Sequence[PairGrid]) -> CardPart:
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
    grids: Sequence[PairGrid],
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
    grid: PairGrid,
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


class Span(NamedTuple):
    """What a condition asks of a column: an interval, some levels, or that the value is missing."""

    column: str
    low: float | None = None  #: the interval begins with it; None: below all
    high: float | None = None  #: and ends before it; None: above all
    levels: tuple[Foreign, ...] | None = None  #: None: a number
    missing: bool = False  #: holds where the value is missing, too
    known: bool = True  #: does any value do?

    def holds(self, value: Foreign) -> bool:
        """Is it true of a value?"""
        if value is None or value != value or (self.levels is not None and value == ""):
            return self.missing
        if not self.known:
            return False
        if self.levels is not None:
            return value in self.levels
        return (self.low is None or value >= self.low) and (self.high is None or value < self.high)


@dataclass(frozen=True)
class CardLine:
    """A condition, and its points.

    Attributes
    ----------
    column : str
        Of a pair, both, as "age x dose".
    condition : str
        In words, such as "35 to below 50".
    points : tuple of int
        Of two classes, those for the second one; else one a class.
    rows : float
        Training rows that it holds for.
    where : tuple of tuples of Span
        The same for machines: it holds where all of one of them hold.
    """

    column: str
    condition: str
    points: tuple[int, ...]
    rows: float
    where: tuple[tuple[Span, ...], ...]

    def holds(self, row: Mapping[str, Foreign]) -> bool:
        """Is it true of a row?"""
        return any(all(span.holds(row[span.column]) for span in box) for box in self.where)


@dataclass(frozen=True)
class CardTotal:
    """What some totals mean; of several classes, how far the best one is ahead of the next.

    Attributes
    ----------
    low, high : int
        Totals (or leads) from and to; the first and the last row have no end.
    chance : tuple of float
        Probability of the class that the points speak for (of several classes: at least, of the one
        ahead) at either end.
    rows, hits : float
        Rows left out with such a total, and those of the class.
    """

    low: int
    high: int
    chance: tuple[float, float]
    rows: float
    hits: float


#: A figure, and where it lies with a confidence of 95 %.
Figure: TypeAlias = tuple[float, float, float]


class CardFigures(NamedTuple):
    """How good a model is on rows that it had not seen."""

    name: str
    log_loss: Figure
    accuracy: Figure
    auc: Figure | None  #: of two classes

    @classmethod
    def of(cls, name: str, proba: Floats, labels: Ints, weights: Floats) -> "CardFigures":
        """Figures of probabilities, rows x classes, of classes by number."""
        own = np.clip(np.take_along_axis(proba, labels[:, None], 1)[:, 0], 1e-300, 1.0)
        loss = _mean(-np.log(own), weights)
        right = _mean((proba.argmax(1) == labels).astype(np.float64), weights)
        if proba.shape[1] > 2 or np.unique(labels).size < 2:
            return cls(name, loss, right, None)
        told, whole = np.unique(proba[:, 1], return_inverse=True)[1], weights.astype(np.int64)
        area, shares = auc_parts(told.astype(np.int64), labels == 1, whole)
        apart = 1.96 * math.sqrt(float((whole * shares**2).sum()))
        return cls(name, loss, right, (area, max(area - apart, 0.0), min(area + apart, 1.0)))


def _mean(values: Floats, weights: Floats) -> Figure:
    n = float(weights.sum())
    mean = float(values @ weights) / n
    apart = 1.96 * math.sqrt(float(weights @ (values - mean) ** 2) / max(n - 1, 1.0) / n)
    return mean, mean - apart, mean + apart


@dataclass(frozen=True, repr=False)
class Card(Result):
    """A card: lines, and what their total means.

    Attributes
    ----------
    lines : tuple of CardLine
        All conditions of all columns; one of each column has no points.
    classes : tuple
        The classes, in their order.
    start : tuple of int
        Points that each class begins with; of two classes, 0.
    unit : float
        What a point is worth, in nat.
    constant : float
        Log-odds of the second of two classes at a total of 0.
    table : tuple of CardTotal
    act_from : int or None
        Of two classes, the least total for which the second is decided: as the more probable one,
        or by the rule of `decide`.
    ask_from : int or None
        The least total for which a person is asked, where the rule may ask one.
    ruled : bool
        Does a rule of `decide` say so?
    n_rows : float
        Training rows.
    figures : tuple of CardFigures
        How good it is on rows left out, and others to compare it with.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import ScoreCard
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> card = ScoreCard(lines=3).fit(X, y).card_
    >>> card.n_lines, len(card.classes), card.act_from is None
    (3, 2, False)
    """

    lines: tuple[CardLine, ...]
    classes: tuple[Foreign, ...]
    start: tuple[int, ...]
    unit: float
    constant: float
    table: tuple[CardTotal, ...]
    act_from: int | None
    ask_from: int | None
    ruled: bool
    n_rows: float
    figures: tuple[CardFigures, ...]

    _html_rows: ClassVar[int] = 200

    @property
    def n_lines(self) -> int:
        """Conditions with points other than 0: what a reader counts."""
        return sum(any(line.points) for line in self.lines)

    def add_up(self, row: Mapping[str, Foreign]) -> tuple[int, ...]:
        """What a person adds up for a row: the total; of several classes, that of each.

        Parameters
        ----------
        row : mapping
            The value of each column of the card; None where it is missing.
        """
        held = [line.points for line in self.lines if line.holds(row)]
        return tuple(sum(each) for each in zip(self.start, *held, strict=True))

    def to_columns(self) -> dict[str, list[object]]:
        """A row a condition."""
        found: dict[str, list[object]] = {
            "column": [line.column for line in self.lines],
            "condition": [line.condition for line in self.lines],
        }
        names = ["points"] if len(self.classes) == 2 else [f"points {k}" for k in self.classes]
        for at, name in enumerate(names):
            found[name] = [line.points[at] for line in self.lines]
        return {**found, "rows": [line.rows for line in self.lines]}

    def caption(self) -> str:
        """How many lines, and for what."""
        what = f"points for {self.classes[1]}" if len(self.classes) == 2 else "points by class"
        return f"{self.n_lines} line{'s' * (self.n_lines != 1)}, {what}"

    def to_text(self) -> str:
        """The card for a terminal."""
        from ..explain.card import card_text

        return card_text(self)

    def to_html(self, title: str = "Score card") -> str:
        """The card as one page, which prints on one sheet and needs no network."""
        from ..explain.card import card_html

        return card_html(self, title)

    def save(self, path: str | PathLike[str], title: str = "Score card") -> None:
        """Write the card as .html, .txt, .json, .pdf or .xlsx.

        Parameters
        ----------
        path : path
            Its ending says how.  PDF asks for ``bayesieve[plot]``; a sheet, which computes what one
            types, for ``bayesieve[sheet]``.
        title : str
            The headline.
        """
        ending = "." + fspath(path).lower().rpartition(".")[2]
        choose("the ending of path", ending, (".html", ".txt", ".json", ".pdf", ".xlsx"))
        if ending in (".pdf", ".xlsx"):
            from ..explain.card import card_pdf, card_sheet

            made = (card_pdf if ending == ".pdf" else card_sheet)(self, title)
            with whole_file(path) as file:
                file.write(made)
        elif ending == ".html":
            write_text(path, self.to_html(title))
        elif ending == ".txt":
            write_text(path, f"{title}\n{self.to_text()}\n")
        else:
            write_text(path, json.dumps(jsonable(self.to_dict()), indent=1) + "\n")


# -- The card in words -----------------------------------------------------------------------------


def spans_of(spec: ColumnSpec, part: CardPart, group: int) -> tuple[list[str], list[Span]]:
    """A condition of a column in words, and as the spans any of which may hold."""
    silent = part.groups.size - 1
    codes = np.flatnonzero(part.groups == group).tolist()
    shown, missing = [code for code in codes if code != silent], silent in codes
    if part.starts is None:
        assert spec.levels is not None
        words = [str(_plain(spec.levels[code])) for code in shown]
        levels = tuple(plain_value(spec.levels[code]) for code in shown)
        spans = [Span(spec.name, levels=levels, missing=missing, known=bool(levels))]
        return words + ["missing"] * missing, spans
    if not shown:
        return ["missing"], [Span(spec.name, missing=True, known=False)]
    edges = [None, *part.starts.tolist(), None]
    low, high = edges[shown[0]], edges[shown[-1] + 1]
    span = Span(spec.name, low, high, missing=missing)
    return [_interval(low, high, _is_whole(spec, part)), *["missing"] * missing], [span]


def _is_whole(spec: ColumnSpec, part: CardPart) -> bool:
    """Are the values of a column whole numbers, as far as a card can tell?"""
    told = part.starts is not None and spec.distinct is not None
    return told and bool((np.concatenate([part.starts, spec.distinct]) % 1 == 0).all())


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _plain(level: object) -> object:
    value = plain_value(level)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _interval(low: float | None, high: float | None, whole: bool) -> str:
    """An interval in words."""
    if low is None:
        return "any value" if high is None else f"below {high:.15g}"
    if high is None:
        return f"{low:.15g} and above"
    if whole and low.is_integer() and high.is_integer():
        return f"{low:.15g}" if high - low == 1 else f"{low:.15g} to {high - 1:.15g}"
    return f"{low:.15g} to below {high:.15g}"


def _lines_of(part: CardPart, spec: ColumnSpec, weights: Floats) -> list[CardLine]:
    """The conditions of a column."""
    seen = np.bincount(part.groups[part.codes], weights, len(part.points)).tolist()
    found = []
    for group, (points, n) in enumerate(zip(part.points.tolist(), seen, strict=True)):
        words, spans = spans_of(spec, part, group)
        where = tuple((span,) for span in spans)
        found.append(CardLine(spec.name, _either(words), tuple(points), n, where))
    return found


def _lines_of_pair(
    grid: PairGrid, draft: Draft, sides: Sequence[tuple[ColumnSpec, CardPart]], weights: Floats
) -> list[CardLine]:
    """The conditions of two columns, cell by cell of their grid."""
    parts = []
    for side, (spec, part) in enumerate(sides):
        column = CardColumn(spec.name, part.groups.size, part.starts)
        parts.append(part._replace(groups=grid.places(side, np.arange(part.groups.size), column)))
    specs = [spec for spec, _ in sides]

    def spans(side: int, code: int) -> list[Span]:
        return spans_of(specs[side], parts[side], code)[1]

    groups, (n, m) = draft.groups[grid.at], grid.sizes
    one, two = (part.groups[part.codes] for part in parts)
    own = groups[np.where((one == n) | (two == m), n * m, one * m + two)]
    seen = np.bincount(own[own >= 0], weights[own >= 0], groups.max() + 1).tolist()
    found = []
    for group, points in enumerate(draft.points(grid.at).tolist()):
        held = (groups[:-1] == group).reshape(n, m)
        words = []
        # Conditions of the first column that go with the same ones of the second are told at once.
        for line in dict.fromkeys(map(tuple, held[held.any(1)].tolist())):
            mine = np.flatnonzero((held == line).all(1)).tolist()
            told = _either_of(specs[0], parts[0], mine, n)
            told += _either_of(specs[1], parts[1], np.flatnonzero(line).tolist(), m)
            words.append(" and ".join(told) or "any values")
        where = [
            (one, two)
            for i, k in np.argwhere(held).tolist()
            for one in spans(0, i)
            for two in spans(1, k)
        ]
        boxes: list[tuple[Span, ...]] = [*where]
        if groups[-1] == group:
            words.append("one of them missing")
            boxes += [(Span(spec.name, missing=True, known=False),) for spec in specs]
        name = " x ".join(grid.names)
        found.append(CardLine(name, "; or ".join(words), tuple(points), seen[group], tuple(boxes)))
    return found


def _either_of(spec: ColumnSpec, part: CardPart, codes: list[int], size: int) -> list[str]:
    """Some conditions of a column of a pair in words; nothing where any value will do."""
    if len(codes) == size:
        return []
    runs: list[list[int]] = []
    for code in codes:
        if runs and (part.starts is None or runs[-1][-1] == code - 1):
            runs[-1].append(code)
        else:
            runs.append([code])
    words = []
    for run in runs:
        groups = np.isin(part.groups, run).astype(np.int64)
        words += spans_of(spec, part._replace(groups=groups), 1)[0]
    return [f"{spec.name} {_either(words)}"]


def all_lines(
    parts: Sequence[CardPart],
    specs: Sequence[ColumnSpec],
    draft: Draft,
    weights: Floats,
    grids: Sequence[PairGrid],
    order: Sequence[int],
) -> tuple[CardLine, ...]:
    """The conditions of all columns and pairs, in the order in which they came."""
    known = {part.at: (spec, part) for part, spec in zip(parts, specs, strict=True)}
    paired, found = {grid.at: grid for grid in grids}, []
    for at in order:
        if at in paired:
            sides = [known[each] for each in paired[at].columns]
            found += _lines_of_pair(paired[at], draft, sides, weights)
        elif at in draft.groups:
            spec, part = known[at]
            found += _lines_of(part, spec, weights)
    return tuple(found)


def at_work(card: Card, problem: FittedProblem) -> Card:
    """The card with what its model says of totals now: after a rule, a temperature, new priors."""
    temperature, unit = problem.temperature, card.unit
    if len(card.classes) > 2:
        others = len(card.classes) - 1

        def chance(lead: int) -> float:
            return 1 / (1 + others * math.exp(-unit * lead / temperature))

        table = [replace(each, chance=(chance(each.low), chance(each.high))) for each in card.table]
        return replace(card, unit=unit / temperature, table=tuple(table))
    step = round(unit / UNIT) << (SCORE_BITS - CORRECTION_BITS)

    def sums(totals: Ints) -> Ints:
        found = np.repeat(problem.fixed_prior[None], totals.size, 0)
        found[:, 1] += totals * step
        return found

    ends = np.array([[each.low, each.high] for each in card.table], np.int64).reshape(-1, 2)
    chances = problem.proba(sums(ends.ravel()))[:, 1].reshape(-1, 2).tolist()
    table = [
        replace(each, chance=(low, high))
        for each, (low, high) in zip(card.table, chances, strict=True)
    ]
    act = ask = None
    if card.lines:
        most = sum(max(abs(p) for p in line.points) for line in card.lines) + 1
        zero = float(problem.decide(problem.fixed_prior[None])[0]) * temperature / unit
        around = most + abs(math.ceil(zero)) + 1
        totals = np.arange(-around, around + 1)
        decided = dict(zip(totals.tolist(), problem.decided(sums(totals)).tolist(), strict=True))
        act = next((t for t, k in decided.items() if k == problem.classes[1]), None)
        ask = next((t for t, k in decided.items() if k is None), None)
    constant = float(problem.decide(problem.fixed_prior[None])[0])
    return replace(
        card,
        unit=unit / temperature,
        constant=constant,
        table=tuple(table),
        act_from=act,
        ask_from=ask,
        ruled=problem.rule is not None,
    )
