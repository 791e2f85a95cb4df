"""Shapes: one small picture of what a term says, as SVG that every page, notebook and file shows.

Colours are the page's variables, with others to fall back on that stand out on white and on black;
words have the colour of the text around them.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import Array, Foreign
from ..data.columns import ColumnSpec, encode
from ..data.files.output import write_text
from ..data.kernels.options import FEW_ROWS
from ..models.base import Floats, Ints, Scale, Support, cells
from .text import factor_in_words, many, short_cut, short_names, value_in_words, yes_or_no

if TYPE_CHECKING:
    from .model import FeatureEvidence, ModelExplanation

# What a file of its own says it is.
_SPACE = "http://www.w3.org/2000/svg"

# Words, lines, and what is not a class of its own.
_INK = "currentColor"

# Classes in the order of a report; on white and on black at three to one.
_TONES = "1b6ca8", "c46210", "2e7d4f", "a4348a", "8467b8", "c0392b", "8d6e63", "00796b"

# Pictures of several classes, levels in one, stretches that are steps, and depths of a heat map.
_MOST_CLASSES, _MOST_LEVELS, _MOST_STEPS, _DEPTHS = 6, 12, 12, 8

# Ends of the axis of factors, and what is written along it.
_LADDER = {10: (2, 5, 10), 100: (3, 10, 100), 1000: (10, 100, 1000), 10_000: (10, 100, 10_000)}

# Evidence beyond which, in nat, it makes no difference.
_FAR = 40.0

# How far a line may lie from its points, and the deepest colour behind a word.
_OFF, _DEEP = 0.35, 0.48

# Bars of a strip; share of the range within which nine of ten rows are crowded.
_BINS, _CROWDED = 44, 0.2


class Coded(NamedTuple):
    """A term code by code, as rows meet it: what pictures are drawn from.

    Parameters
    ----------
    specs : of its column, or of the two of a pair.
    table, scale : what the codes (or cells) say, codes x classes; of a column, missing last.
    counts : training rows of each class with each code.
    support : behind the codes.
    groups : of a pair: the group of each code of its columns.
    """

    specs: tuple[ColumnSpec, ...]
    table: Ints
    scale: Scale
    counts: Floats
    support: Support | None
    groups: tuple[Ints, Ints] | None = None

    def code(self, values: Sequence[Foreign]) -> int:
        """The code (or the cell) of values."""
        found = []
        for spec, value in zip(self.specs, values, strict=True):
            gone = value is None or value != value
            kind = object if isinstance(value, str) else float
            raw: Array = np.array([math.nan if gone else value], kind)
            found.append(spec.n_codes - 1 if gone else int(encode(spec, raw)[0]))
        if self.groups is None:
            return found[0]
        first, second = (np.array([code]) for code in found)
        return int(cells(self.groups, first, second)[0])


class TermShape(str):
    """A picture as text: a notebook shows it, and `save` writes it as SVG.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, explain_model
    >>> X, y = np.array([[1], [1], [0], [0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> explain_model(NaiveBayes().fit(X, y)).plot("x0")
    <shape: x0: b rather than a. Most for b: no, x 11 (3.5 to 140; 10 rows). Most for a: y...>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        said = self.partition('aria-label="')[2].partition('"')[0]
        return f"<shape: {said[:78]}{'...' if len(said) > 78 else ''}>"

    def _repr_html_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file: one picture as SVG, those of several classes as HTML.

        Parameters
        ----------
        path : path
            Of the file.
        """
        write_text(path, self.replace("<svg ", f'<svg xmlns="{_SPACE}" '))


def shape_of(
    whole: "ModelExplanation",
    each: "FeatureEvidence",
    pair: tuple[int, int | None] | None = None,
    row: Mapping[str, Foreign] | None = None,
) -> TermShape:
    """The picture of a term; of several classes one each against all others together.

    Parameters
    ----------
    whole, each : what is said of a model, and of one of its terms.
    pair : positions of a class, and of the one against it; None there: all others together.
    row : the value of each column; it is marked with a dot.
    """
    n = len(whole.classes)
    if pair is not None or n < 3:
        return TermShape("" if n < 2 else _picture(whole, each, pair or (1, 0), row))
    often = sorted(range(n), key=lambda k: -each.importance[k])[:_MOST_CLASSES]
    drawn = [_picture(whole, each, (k, None), row, small=True) for k in sorted(often)]
    left = f"{many(n - len(often), 'more class', 'more classes')}: plot(target=...)"
    more = f"<small>{left}</small>" if n > len(often) else ""
    return TermShape(f'<div class="shapes">{" ".join(drawn)}{more}</div>')


class _Sides(NamedTuple):
    """What is compared: names, colours, and the classes of a strip, each with its colour."""

    names: tuple[str, str]
    tones: tuple[str, str]
    strip: list[tuple[str, list[int]]]
    small: bool


class _Said(NamedTuple):
    """What each code says, in nat, between what that lies, and its rows; missing last."""

    nat: Floats
    low: Floats
    high: Floats
    counts: Floats

    def words(self, i: int) -> str:
        """The factor of a code, as everything writes it."""
        within = () if math.isnan(self.low[i]) else (float(self.low[i]), float(self.high[i]))
        rows = float(self.counts[i].sum()) if self.counts.size else None
        return factor_in_words(float(self.nat[i]), rows, *within)


def _tone(k: int) -> str:
    return f"var(--c{k % 8},#{_TONES[k % 8]})"


def _picture(
    whole: "ModelExplanation",
    each: "FeatureEvidence",
    pair: tuple[int, int | None],
    row: Mapping[str, Foreign] | None,
    small: bool = False,
) -> str:
    k, other = pair
    classes = whole.classes if whole.label is None else [f"not {whole.label}", whole.label]
    names, spoken = short_names(classes, 20), short_names(classes, 60)
    rest = [o for o in range(len(names)) if o != k]
    sides = _Sides(
        (names[k], "others" if other is None else names[other]),
        (_tone(k), _INK if other is None else _tone(other)),
        [(_tone(k), [k]), (_INK, rest)] if other is None else [(_tone(o), [o]) for o in (k, other)],
        small,
    )
    said, at = _said(whole, each, k, other), None
    coded = each.coded
    mark = None if row is None else _values(row, each)
    if mark is not None and coded is not None:
        at = coded.code(mark)
    if each.model == "pair":
        body, height, best = _map(each, said, sides, at)
    elif coded is not None and coded.specs[0].on_grid:
        body, height, best = _number(coded, said, sides, mark)
    elif coded is not None:
        body, height, best = _bars(each, said, sides, at)
    else:
        body, height, best = _density(each, said, sides, mark)
    told = spoken[k], "others" if other is None else spoken[other]
    both = zip(told, best, strict=True)
    label = f"{each.feature}: {told[0]} rather than {told[1]}. "
    label += " ".join(f"Most for {name}: {what}." for name, what in both if what)
    if at is not None and at < len(said.nat):
        label += f" This row: {said.words(at)}."
    width = _WIDTHS[small]
    return _tag(
        "svg",
        body,
        **{"class": "shape", "role": "img"},
        viewBox=f"0 0 {width} {_n(height)}",
        width=width,
        height=height,
        fill=_INK,
        font_size=11,
        font_family="system-ui,sans-serif",
        aria_label=escape(label),
    )


def _values(row: Mapping[str, Foreign], each: "FeatureEvidence") -> list[Foreign]:
    """The values of a term in a row."""
    names = each.source.get("names", [each.feature])
    # A row of a frame is a value each, or a column of one.
    found = [np.array(row[f"{name}"], object).ravel().tolist() for name in names]
    return [values[0] if values else None for values in found]


def _said(whole: "ModelExplanation", each: "FeatureEvidence", k: int, other: int | None) -> _Said:
    """What is known of every code: the numbers of `explain`, for one class against another."""
    coded, t = each.coded, whole.temperature
    if coded is None:
        nothing = np.empty((0, 2))
        if other is None:
            nat = ahead_of(np.array(each.terms), whole.class_count)[:, k]
            unknown = np.full(nat.shape, math.nan)
            return _Said(nat / t, unknown, unknown, nothing)
        nat = np.array(each.ratios(k, other), np.float64)
        ends = [within or (math.nan, math.nan) for within in each.intervals(k, other)]
        both = np.array(ends, np.float64).reshape(-1, 2) / t
        return _Said(nat / t, both[:, 0], both[:, 1], nothing)
    low = high = np.full(len(coded.table), math.nan)
    if other is None:
        rest = [o for o in range(len(whole.classes)) if o != k]
        counts = np.stack([coded.counts[:, k], coded.counts[:, rest].sum(1)], 1)
        nat = ahead_of(coded.scale.release(coded.table), whole.class_count)[:, k]
        return _Said(nat / t, low, high, counts)
    nat = coded.scale.release(coded.table[:, k] - coded.table[:, other])
    if coded.support is not None:
        low, high = coded.support.interval(k, other, nat)
    return _Said(nat / t, low / t, high / t, coded.counts[:, [k, other]])


def ahead_of(terms: Floats, class_count: Sequence[float]) -> Floats:
    """How much likelier values are in each class than in all others together, in nat.

    Parameters
    ----------
    terms : log P(value | class), values x classes.
    class_count : rows of each class, by which the others are mixed.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.explain.shapes import ahead_of
    >>> np.exp(ahead_of(np.log([[0.6, 0.2, 0.4]]), [10, 5, 5])).round(3)
    array([[2.   , 0.375, 0.857]])
    """
    found = np.zeros(terms.shape)
    count = np.array(class_count, float)
    for k in range(terms.shape[1]):
        rest, share = np.delete(terms, k, 1), np.delete(count, k)
        top = rest.max(1, initial=-math.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.exp(rest - top[:, None]) @ (share / (share.sum() or 1.0))
            found[:, k] = terms[:, k] - np.where(mean > 0, top + np.log(mean), top - 700)
        never = top == -math.inf
        found[never, k] = np.where(terms[never, k] == -math.inf, 0.0, math.inf)
    return found


# -- Axes, and how they are written ----------------------------------------------------------------

# Width of a picture; room for factors at its left; height of its field.
_WIDTHS, _LEFT, _FIELDS = {False: 400, True: 250}, 56, {False: 120, True: 84}

# Height of the strip of rows, and how far it is from the field.
_STRIP, _GAP = 30, 7


def _n(x: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{round(float(x), 1) + 0.0:.1f}".removesuffix(".0")


def _tag(name: str, text: str = "", /, **given: Foreign) -> str:
    """An element: numbers are rounded, ``_`` in names is ``-``."""
    told = {
        key.replace("_", "-"): value if isinstance(value, str) else _n(value)
        for key, value in given.items()
    }
    opened = " ".join([name, *(f'{key}="{value}"' for key, value in told.items())])
    return f"<{opened}>{text}</{name}>" if text else f"<{opened}/>"


def _points(x: Floats, y: Floats) -> str:
    return " ".join(f"{_n(a)},{_n(b)}" for a, b in zip(x, y, strict=True))


def _text(x: float, y: float, said: str, anchor: str = "middle", **more: Foreign) -> str:
    return _tag("text", escape(said), x=x, y=y, text_anchor=anchor, **more)


def _titled(body: str, name: str, says: str) -> str:
    """A part, and what it says when one points at it."""
    return _tag("g", _tag("title", escape(f"{name}: {says}")) + body)


def _rows(tone: str, **given: Foreign) -> str:
    """Rows of a class; of all others together, faint."""
    faint = {"fill_opacity": ".35"} if tone == _INK else {}
    return _tag("path", **{"class": "seen"}, fill=tone, **faint, **given)


def _dot(x: float, y: float) -> str:
    """The row in question."""
    paper = "var(--paper,Canvas)"
    return _tag("circle", **{"class": "here"}, cx=x, cy=y, r=5, stroke=paper, stroke_width="1.5")


def _legend(sides: _Sides, signs: str) -> str:
    """Which side speaks for whom."""
    both = zip(signs, sides.tones, sides.names, strict=True)
    words = [_tag("tspan", sign, fill=tone) + f" {escape(name)}" for sign, tone, name in both]
    return _tag("text", "\u2003".join(words), x=_LEFT, y=10)


def _limit(said: _Said) -> int:
    """The end of the axis of factors: ten, or what it takes."""
    known = np.abs(said.nat[np.isfinite(said.nat)])
    most = math.exp(min(float(known.max(initial=0.0)), 20.0))
    return next((end for end in _LADDER if most <= 1.02 * end), 10_000)


def _factors(limit: int, few: bool) -> list[tuple[float, str]]:
    """What is written along the axis: log-ratios, and the factors they are."""
    sizes = _LADDER[limit][-1:] if few else _LADDER[limit]
    words = [(math.log(x), f"{x:,}".replace(",", " ")) for x in sizes]
    down = [(-nat, f"/ {word}") for nat, word in words[::-1]]
    return [*down, (0.0, "x 1"), *((nat, f"x {word}") for nat, word in words)]


class _Axis:
    """Numbers along a picture: evenly, or by powers of ten where most are crowded at one end."""

    def __init__(self, values: Floats, rows: Floats, ends: tuple[float, float], right: float):
        self.ends, self.left, self.right, self.bend = ends, _LEFT + 2.0, right, 0.0
        at = np.searchsorted(np.cumsum(rows), rows.sum() * np.array([0.05, 0.95]))
        inner, size = values[at.clip(0, values.size - 1)], np.abs(values[values != 0])
        even = self._share(inner)
        if size.size and even < _CROWDED:
            self.bend = float(np.median(size)) / 3
            self.bend *= self._share(inner) > 1.8 * even

    def _share(self, inner: Floats) -> float:
        (low, high), (a, b) = self._place(np.array(self.ends)), self._place(inner)
        return float((b - a) / ((high - low) or 1.0))

    def _place(self, x: Floats) -> Floats:
        return np.arcsinh(x / self.bend) if self.bend else x / 2  # the largest floats have no sum

    def __call__(self, x: Floats | Sequence[float]) -> Floats:
        low, high = self._place(np.array(self.ends))
        share = (self._place(np.array(x, np.float64)) - low) / ((high - low) or 1.0)
        return self.left + np.clip(share, 0, 1) * (self.right - self.left)

    def named(self) -> list[tuple[float, str]]:
        """Round numbers where they stand, the roundest first."""
        low, high = self.ends
        if self.bend:
            far = math.ceil(math.log10(max(abs(low), abs(high))))
            powers = range(math.ceil(math.log10(self.bend)), far + 1)
            sizes = [m * 10.0**p for m in (1, 3) for p in powers]
            marks = [0.0, *(sign * size for size in sizes for sign in (1, -1))]
        else:
            step = 10.0 ** math.floor(math.log10(max(high / 4 - low / 4, 1e-300)))
            step *= next(m for m in (1, 2, 5, 10) if high / step - low / step <= 5 * m)
            first = math.ceil(low / step)
            marks = [(first + i) * step for i in range(7)]
        marks = [x for x in marks if low <= x <= high]
        return [(x, _words(v)) for x, v in zip(self(marks).tolist(), marks, strict=True)]


def _words(value: float) -> str:
    """A number along an axis."""
    return f"{value:,.7g}".replace(",", "\u202f") if abs(value) >= 1e4 else f"{value:.7g}"


def _apart(marks: Iterable[tuple[float, str]], low: float, high: float) -> list[tuple[float, str]]:
    """Words side by side that do not touch; the first come first."""
    kept: list[tuple[float, float, float, str]] = []
    for x, word in marks:
        half = 3.3 * len(word) + 4
        at = min(max(x, low + half), high - half)
        if all(at + half <= a or at - half >= b for a, b, *_ in kept):
            kept.append((at - half, at + half, at, word))
    return [(at, word) for *_, at, word in kept]


def _thin(x: Floats, y: Floats) -> Ints:
    """Points that a line needs, to a third of a pixel (Douglas and Peucker 1973)."""
    keep, todo = {0, x.size - 1}, [(0, x.size - 1)]
    while todo:
        a, b = todo.pop()
        off = np.abs(y[a : b + 1] - np.interp(x[a : b + 1], [x[a], x[b]], [y[a], y[b]]))
        if b - a > 1 and off[1:-1].max() > _OFF:
            at = a + 1 + int(off[1:-1].argmax())
            keep.add(at)
            todo += [(a, at), (at, b)]
    return np.array(sorted(keep))


def _best(said: _Said, words: Sequence[str]) -> list[str]:
    """The strongest value for each side, and what it says."""
    found = []
    for sign in (1, -1):
        ahead = sign * np.nan_to_num(said.nat)
        at = int(ahead.argmax()) if ahead.size else -1
        found.append(f"{words[at]}, {said.words(at)}" if at >= 0 and ahead[at] > 0 else "")
    return found


# -- Numbers: steps, or a curve --------------------------------------------------------------------


class _Field:
    """A picture of a number: factors upwards, rows below; what is missing beside it."""

    def __init__(self, said: _Said, sides: _Sides, slot: bool = False):
        self.sides, self.top = sides, 15.0
        self.width, self.height = _WIDTHS[sides.small], float(_FIELDS[sides.small])
        self.right = self.width - (58.0 if slot else 8.0)
        self.end = math.log(_limit(said))
        self.base = self.top + self.height + _GAP + _STRIP
        self.most = float(said.counts[-1].sum()) if slot else 0.0  # rows of the highest bar
        self.share = 1.0  # rows of a wide bar by those of a narrow one that is as high
        wide, half, middle = self.width - _LEFT, self.height / 2, self.top + self.height / 2
        field = {"x": _LEFT, "width": wide, "height": half, "fill_opacity": ".06"}
        tones = zip((self.top, middle), sides.tones, strict=True)
        self.parts = [_legend(sides, "\u25b2\u25bc")]
        self.parts += [_tag("rect", y=y, fill=tone, **field) for y, tone in tones]
        for nat, word in _factors(_limit(said), sides.small):
            y, strength = float(self.y(nat)), ".15" if nat else ".5"
            d = f"M{_LEFT} {_n(y)}h{_n(wide)}"
            self.parts.append(_tag("path", d=d, stroke=_INK, stroke_opacity=strength))
            self.parts.append(_text(_LEFT - 5, y + 4, word, "end"))

    def y(self, nat: Floats | float) -> Floats:
        """Heights of log-ratios."""
        share = np.clip(np.nan_to_num(np.array(nat, np.float64)), -self.end, self.end) / self.end
        return np.array(self.top + self.height / 2 * (1 - share))

    def line(self, x: Floats, said: _Said, at: Ints, name: str = "said") -> None:
        """What is said by codes, and between what it lies."""
        y, low, high = (self.y(part[at]) for part in said[:3])
        if not np.isnan(said.low[at]).any():
            a, b = _thin(x, low), _thin(x, high)[::-1]
            ends = f"{_points(x[a], low[a])} {_points(x[b], high[b])}"
            within = {"class": "within"}
            self.parts.append(_tag("polygon", **within, points=ends, fill_opacity=".16"))
        keep = _thin(x, y)
        look = {"class": name, "fill": "none", "stroke": _INK, "stroke_linejoin": "round"}
        points = _points(x[keep], y[keep])
        self.parts.append(_tag("polyline", **look, stroke_width=2, points=points))

    def strip(self, edges: Floats, counts: Floats) -> None:
        """Rows between edges, those of the first class lowest."""
        tops = self.base - _STRIP * np.cumsum(counts, 1) / (self.most or 1.0)
        for k in range(counts.shape[1] - 1, -1, -1):
            d, last = f"M{_n(edges[0])} {_n(self.base)}", _n(self.base)
            for x, top in zip(edges[:-1], map(_n, tops[:, k].tolist()), strict=True):
                d += f"H{_n(x)}V{top}" if top != last else ""
                last = top
            self.parts.append(
                _rows(self.sides.strip[k][0], d=f"{d}H{_n(edges[-1])}V{_n(self.base)}z")
            )

    def missing(self, said: _Said) -> None:
        """What a missing value says, and its rows."""
        x, rest = np.array([self.right + 12, self.width - 4]), len(self.parts)
        self.strip(x, said.counts[-1:] * self.share)
        self.line(x, said, np.array([-1, -1]), "gone")
        self.parts.append(_text(float(x.mean()), self.base + 13, "missing"))
        parts = "".join(self.parts[rest:])
        self.parts[rest:] = [_titled(parts, "missing", said.words(-1))]

    def named(self, marks: Iterable[tuple[float, str]]) -> None:
        """Numbers below."""
        shown = _apart(marks, _LEFT - 8, self.right + 8)
        self.parts += [_text(x, self.base + 13, word) for x, word in shown]

    def dot(self, x: float, nat: float) -> None:
        """The row in question."""
        d = f"M{_n(x)} {_n(self.top)}V{_n(self.base)}"
        self.parts += [_tag("path", d=d, stroke=_INK, stroke_dasharray="2 3")]
        self.parts += [_dot(x, float(self.y(nat)))]

    def done(self, strip: str = "rows") -> tuple[str, float]:
        """All of it, and how high it is."""
        self.parts.append(_text(_LEFT - 5, self.base - 10, strip, "end"))
        return "".join(self.parts), self.base + 18


def _number(
    coded: Coded, said: _Said, sides: _Sides, mark: Sequence[Foreign] | None
) -> tuple[str, float, list[str]]:
    """A number on a grid: steps where few stretches say each one thing, else a curve."""
    spec, n = coded.specs[0], len(said.nat) - 1
    slot = bool(said.counts[-1].any() or said.nat[-1])
    field, best = _Field(said, sides, slot), ["", ""]
    assert spec.levels is not None
    assert spec.distinct is not None
    if n:
        low, high = spec.distinct[[0, -1]].tolist()
        ends = (low, high) if low < high else (low - 1, high + 1)
        axis = _Axis(spec.levels, said.counts[:-1].sum(1), ends, field.right)
        starts = np.flatnonzero(np.diff(said.nat[:-1], prepend=math.nan) != 0)
        draw = _steps if starts.size <= _MOST_STEPS else _curve
        best = draw(field, spec, said, axis, starts)
        at = n if mark is None else coded.code(mark)
        if mark is not None and (at < n or slot):
            x = float(axis([mark[0]])[0]) if at < n else (field.right + field.width) / 2 + 4
            field.dot(x, float(said.nat[at]))
    if slot:
        field.missing(said)
    return *field.done(), best


def _steps(field: _Field, spec: ColumnSpec, said: _Said, axis: _Axis, starts: Ints) -> list[str]:
    """Stretches that say each one thing, and the cut-offs between them."""
    assert spec.cuts is not None
    assert spec.levels is not None
    x = axis([axis.ends[0], *spec.cuts[starts[1:] - 1], axis.ends[1]])
    counts = np.add.reduceat(said.counts[:-1], starts)
    low, high = (
        np.minimum.reduceat(said.low[:-1], starts),
        np.maximum.reduceat(said.high[:-1], starts),
    )
    part = _Said(said.nat[starts], low, high, counts)
    field.most = max(field.most, float(counts.sum(1).max()))
    field.strip(x, counts)
    field.line(np.repeat(x, 2)[1:-1], part, np.repeat(np.arange(starts.size), 2))
    cuts = [short_cut(float(spec.cuts[i - 1]), *spec.levels[i - 1 : i + 1]) for i in starts[1:]]
    largest = np.argsort(-np.abs(np.diff(part.nat)), kind="stable").tolist()
    field.named((float(x[1 + i]), cuts[i]) for i in largest)
    words = ["any number"]
    if cuts:
        inner = [f"{a} to {b}" for a, b in pairwise(cuts)]
        words = [f"<= {cuts[0]}", *inner, f"above {cuts[-1]}"]
    for i, (a, b) in enumerate(pairwise(map(_n, x.tolist()))):
        d = f"M{a} {_n(field.top)}H{b}V{_n(field.base)}H{a}z"
        field.parts.append(_titled(_tag("path", fill_opacity="0", d=d), words[i], part.words(i)))
    return _best(part, words)


def _curve(field: _Field, spec: ColumnSpec, said: _Said, axis: _Axis, starts: Ints) -> list[str]:
    """A curve through what every code says, at the median of its rows."""
    assert spec.levels is not None
    n, bins = len(spec.levels), _BINS // (1 + field.sides.small)
    x = axis([axis.ends[0], *spec.levels, axis.ends[1]])
    edges = np.linspace(axis.left, axis.right, bins + 1)
    counts = np.zeros((bins, said.counts.shape[1]))
    np.add.at(counts, np.searchsorted(edges[1:-1], x[1:-1], side="right"), said.counts[:-1])
    field.share = float(edges[1] - edges[0]) / (field.width - 16 - field.right)
    field.most = max(field.most * field.share, float(counts.sum(1).max()))
    field.strip(edges, counts)
    field.line(x, said, np.array([0, *range(n), n - 1]))
    field.named(axis.named())
    words = [f"at {level:.4g}" for level in spec.levels.tolist()]
    return _best(_Said(said.nat[:n], said.low[:n], said.high[:n], np.empty((0, 2))), words)


def _density(
    each: "FeatureEvidence", said: _Said, sides: _Sides, mark: Sequence[Foreign] | None
) -> tuple[str, float, list[str]]:
    """A number with parameters: its curve, and the means and deviations that it comes from."""
    field, x = _Field(said, sides), np.array(each.values, np.float64)
    axis = _Axis(x, np.ones(x.size), (float(x[0]), float(x[-1])), field.right)
    field.line(axis(x), said, np.arange(x.size))
    field.named(axis.named())
    shown = [(tone, ks[0]) for tone, ks in sides.strip if len(ks) == 1 and "mean" in each.source]
    for i, (tone, k) in enumerate(shown):
        mean, sd = (float(each.source[name][k]) for name in ("mean", "sd"))  # type: ignore[arg-type]
        a, b, c = axis([mean - sd, mean + sd, mean]).tolist()
        y = field.base - 8 - 13 * i
        d = f"M{_n(a)} {_n(y)}H{_n(b)}"
        field.parts.append(_tag("path", d=d, stroke=tone, stroke_width=3))
        field.parts.append(_tag("circle", cx=c, cy=y, r=4, fill=tone))
    if mark is not None and mark[0] is not None and mark[0] == mark[0]:
        field.dot(float(axis([mark[0]])[0]), float(np.interp(mark[0], x, said.nat)))
    strip = "\u00b1 sd" if shown else ""
    return *field.done(strip), _best(said, [f"at {v:.4g}" for v in x])


# -- Levels: bars, and pairs: a heat map -----------------------------------------------------------

# Room for names and for rows, and the height of a line.
_NAMES, _BESIDE, _LINE = {False: 96, True: 70}, {False: 60, True: 30}, 19


def _bars(
    each: "FeatureEvidence", said: _Said, sides: _Sides, at: int | None
) -> tuple[str, float, list[str]]:
    """A column of levels: a bar each, those first that say most for the class."""
    n, yes, rows = len(each.values), each.model == "bernoulli", said.counts.sum(1)
    words = [yes_or_no(v) if yes else value_in_words(v) for v in each.values]
    weight = np.minimum(np.abs(np.nan_to_num(said.nat[:n])), _FAR) * np.sqrt(rows[:n] + 1e-9)
    known = np.flatnonzero((rows[:n] > 0) | yes)
    most_shown = _MOST_LEVELS // (1 + sides.small)
    kept = known[np.argsort(-weight[known], kind="stable")][:most_shown]
    if at is not None and at < n and at not in kept:
        kept = np.append(kept[: most_shown - 1], at)
    kept = kept[np.argsort(-said.nat[kept], kind="stable")]
    best = _best(_Said(*(part[kept] for part in said)), [words[i] for i in kept])
    shown = [*zip(kept.tolist(), short_names([words[i] for i in kept], 15), strict=True)]
    if rows[n:].any() or said.nat[n:].any():
        shown, words = [*shown, (n, "missing")], [*words, "missing"]
    end, width, most = math.log(_limit(said)), _WIDTHS[sides.small], float(rows.max(initial=1.0))
    left, right = _NAMES[sides.small], width - _BESIDE[sides.small] - 10
    middle, half, bottom = (left + right) / 2, (right - left) / 2, 18 + _LINE * len(shown)
    marks = [(middle + nat / end * half, w) for nat, w in _factors(_limit(said), sides.small)]
    grid = "".join(f"M{_n(x)} 16V{bottom}" for x, _ in marks)
    parts = [_legend(sides, "\u25b6\u25c0")]
    parts.append(_tag("path", d=grid, stroke=_INK, stroke_opacity=".15"))
    for y, (i, word) in enumerate(shown):
        y = 18 + _LINE * y
        told = np.clip(np.nan_to_num([said.nat[i], said.low[i], said.high[i]]), -end, end)
        x, low, high = (middle + told / end * half).tolist()
        tone = sides.tones[int(said.nat[i] < 0)]
        bar = {"class": "said", "fill": tone, "fill_opacity": ".4" if tone == _INK else "1"}
        line = _text(left - 6, y + 13, word, "end", font_weight=700 if i == at else 400)
        line += _tag("rect", **bar, x=min(x, middle), y=y + 3, width=abs(x - middle), height=13)
        if not math.isnan(said.low[i]):
            d = f"M{_n(low)} {y + 9.5}H{_n(high)}"
            line += _tag("path", **{"class": "within"}, d=d, stroke=_INK, stroke_width="1.5")
        line += _dot(x, y + 9.5) if i == at else ""
        start = right + 10.0
        for (tone, _), count in zip(sides.strip, said.counts[i].tolist(), strict=True):
            size = count / most * (width - right - 12)
            line += (
                _rows(tone, d=f"M{_n(start)} {y + 5}h{_n(size)}v9h-{_n(size)}z") if count else ""
            )
            start += size
        parts.append(_titled(line, words[i], said.words(i)))
    parts.append(_tag("path", d=f"M{_n(middle)} 16V{bottom}", stroke=_INK, stroke_opacity=".5"))
    parts += [_text(x, bottom + 13, word) for x, word in _apart(marks, left - 20, right + 20)]
    parts.append(_text(width - 2, bottom + 13, "rows", "end") if not sides.small else "")
    if known.size > kept.size:
        parts.append(_text(0, bottom + 13, f"{known.size - kept.size} more", "start"))
    return "".join(parts), bottom + 18, best


def _map(
    each: "FeatureEvidence", said: _Said, sides: _Sides, at: int | None
) -> tuple[str, float, list[str]]:
    """A pair: what every cell of the two columns says; pale where few rows stand behind it."""
    assert each.coded is not None
    assert each.coded.groups is not None
    n, m = (int(part[-1]) for part in each.coded.groups)
    width, left = _WIDTHS[sides.small], _NAMES[sides.small]
    wide, high, top = int((width - left - 4) / m), round(min(max(150 / n, 13), 24)), 31
    bottom = top + high * n
    x, y = left + wide * (np.arange(n * m) % m), top + high * (np.arange(n * m) // m)
    share = np.clip(np.nan_to_num(said.nat[:-1]) / math.log(_limit(said)), -1, 1)
    depth = (np.ceil(np.abs(share) * _DEPTHS) * np.where(share < 0, -1, 1)).astype(int)
    pale = said.counts[:-1].sum(1) < FEW_ROWS
    parts = [_legend(sides, "\u25a0\u25a0")]
    for deep, few in sorted({*zip(depth.tolist(), pale.tolist(), strict=True)}):
        mine = np.flatnonzero((depth == deep) & (pale == few)).tolist()
        d = "".join(f"M{_n(x[c])} {_n(y[c] + high / 2)}h{wide - 1}" for c in mine)
        tone = sides.tones[int(deep < 0)]
        faint = (0.3 if few else 1) * (0.6 if tone == _INK else 1)
        opacity = f"{_DEEP * abs(deep) / _DEPTHS * faint:.2f}"
        look = {"class": "cells", "stroke": tone, "d": d}
        parts.append(_tag("path", **look, stroke_opacity=opacity, stroke_width=high - 1))
    if wide >= 42 and n * m <= 40:
        for c in range(n * m):
            word = factor_in_words(float(said.nat[c]))
            parts.append(_text(x[c] + wide / 2, y[c] + high / 2 + 3.5, word))
    if at is not None and at < n * m:
        parts.append(_dot(x[at] + min(wide / 2, 10), y[at] + high / 2))
    down, across = (_groups(each, side) for side in (0, 1))
    for i, (place, word) in enumerate(down):
        if i % math.ceil(12 / high) == 0:
            parts.append(_text(left - 6, top + high * place + 3.5, word, "end"))
    marks = [(left + wide * place, word) for place, word in across]
    parts += [_text(x, bottom + 12, word) for x, word in _apart(marks, left - 20, width)]
    one, two = short_names([spec.name for spec in each.coded.specs], 18 if sides.small else 30)
    bold = {"font_weight": 600}
    parts.append(_text(left - 6, 25, short_names([one], 13)[0], "end", **bold))
    parts.append(_text(left, bottom + 25, two, "start", **bold))
    return (
        "".join(parts),
        bottom + 30,
        _best(_Said(*(p[:-1] for p in said)), [str(v) for v in each.values]),
    )


def _groups(each: "FeatureEvidence", side: int) -> list[tuple[float, str]]:
    """Cut-offs between the groups of a number, and where they are; else the groups, in short."""
    assert each.coded is not None
    spec, words = each.coded.specs[side], each.source[("first", "second")[side]]
    names = [str(word) for word in words]
    if spec.on_grid:
        cuts = [word.rpartition(" to ")[2].removeprefix("<= ") for word in names[:-1]]
        return [(i + 1.0, cut) for i, cut in enumerate(cuts)]
    if spec.model == "bernoulli":
        names = [{"0": "no", "1": "yes"}.get(word, word) for word in names]
    return [(i + 0.5, word) for i, word in enumerate(short_names(names, 13))]
