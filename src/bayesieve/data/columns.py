"""Columns: their kinds, their levels, and the codes of their values."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..checks import Array, Bools, Floats


class NumberName(str):
    """The name of a category that is a number: equal numbers match, however they are written.

    Examples
    --------
    >>> in_kind_of(np.array(["1", "2"], object), np.array([NumberName("2.0"), "2.0"], object))
    array(['2', '2.0'], dtype=object)
    """

    __slots__ = ()


def in_kind_of(levels: Array, raw: Array) -> Array:
    """The values in the kind of the levels: floats, or texts as the levels write them.

    A text and a number match where the text is how Python writes that number (``"1"`` or ``"1.0"``
    for 1, ``"True"`` for a truth value), and where no other level writes the same number: ``"01"``
    is a name, and so is ``"1.50"``.  Texts match texts letter by letter.  What matches nothing is
    missing (None or NaN), but for names of categories, which stay what they are.

    Examples
    --------
    >>> in_kind_of(np.array(["1", "02"], object), np.array([1.0, 2.0]))
    array(['1', None], dtype=object)
    >>> in_kind_of(np.array([1.0, 2.0]), np.array(["2", "02", "b"], object))
    array([ 2., nan, nan])
    """
    if not len(levels):
        return raw
    if levels.dtype != object:
        return _floats(raw) if raw.dtype == object else raw
    if raw.dtype != object:
        written = _written(levels)
        return np.array([written.get(value) for value in raw.tolist()], object)
    first = next((value for value in raw if value is not None and value != ""), None)
    if not isinstance(first, NumberName):
        return raw
    known, written = set(levels.tolist()), _written(levels)
    texts = [
        (isinstance(value, NumberName) and value not in known and written.get(_number(value)))
        or value
        for value in raw
    ]
    return np.array(texts, object)


def _floats(raw: Array) -> Floats:
    """The numbers that texts write; NaN for all others."""
    numbers = (None if value is None else _number(value) for value in raw)
    return np.array([np.nan if number is None else number for number in numbers], np.float64)


def _written(levels: Array) -> dict[float | None, str | None]:
    """How the levels write each number; None where two of them write the same."""
    found: dict[float | None, str | None] = {}
    for level in levels.tolist():
        number = _number(level)
        if number is not None:
            found[number] = None if number in found else level
    return found


def _number(text: str) -> float | None:
    """The number that a text is the plain writing of; whole numbers stay exact."""
    if text in ("True", "False"):
        return int(text == "True")
    try:
        number = int(text) if text.lstrip("-").isdecimal() else float(text)
        finite = math.isfinite(number)
    except (ValueError, OverflowError):  # no number, or a whole one beyond all floats
        return None
    return number if finite and str(number) == text else None


def only_texts(raw: Array) -> bool:
    """Are all values plain texts or missing?  What is neither may have rules of its own.

    Examples
    --------
    >>> only_texts(np.array(["a", None], dtype=object)), only_texts(np.array([1], dtype=object))
    (True, False)
    """
    return set(map(type, raw.tolist())) <= {str, type(None)}


# -- Levels and resolution of a column, learnt once ------------------------------------------------


#: Columns with at most this many distinct values are stored as one byte a cell.
MOST_CODES = 255

# Distinct values kept for merging batches; beyond, their number is an upper bound.
_KEEP_DISTINCT = 2**16

# From here on floats do not tell whole numbers apart; up to here those of 64 bits become floats.
_ROUNDED, _LONGEST = 2.0**53, 2.0**64

# So many numbers are worth more than a plain sort.
_MANY = 2**12

# Weka's resolution for a column with a single value.
_LONE_RESOLUTION = 0.01


@dataclass(frozen=True)
class ColumnSpec:
    """What `fit` learnt about a column before any class is looked at."""

    name: str
    model: str  #: name of its feature model
    levels: Array | None = None  #: known values of a discrete column, sorted
    #: distinct values of a continuous column, sorted (its extremes when there are many)
    distinct: Floats | None = None
    n_distinct: int = 1  #: how many distinct values a continuous column has
    presence: bool = False  #: of a sparse bernoulli column: every value but 0 counts as 1
    #: values of a continuous column are rounded to multiples of this first; None: they are not
    grid: float | None = None
    #: of a column on a grid: a value's code is the number of cuts below it.  Then `levels` are the
    #: medians of the codes, and `distinct` the least and the largest value.
    cuts: Floats | None = None

    @property
    def on_grid(self) -> bool:
        """Are the codes intervals of numbers?"""
        return self.cuts is not None

    @property
    def points(self) -> Floats:
        """The codes of a column on a grid as numbers from 0 (least value) to 1 (largest)."""
        if self.cuts is None or self.levels is None or self.distinct is None:
            return np.empty(0)
        if self.n_distinct < 2:
            return np.zeros(len(self.levels))
        low, high = self.distinct[[0, -1]]
        with np.errstate(over="ignore"):
            span = high - low
        # Halves, where the range does not fit a float; the least floats have none.
        part = 1.0 if np.isfinite(span) else 2.0
        return (self.levels / part - low / part) / (high / part - low / part)

    @property
    def n_codes(self) -> int:
        """Levels and the code that says nothing."""
        return 1 if self.levels is None else len(self.levels) + 1

    @property
    def resolution(self) -> float:
        """Mean gap between distinct values, before any rounding."""
        if self.grid is not None:
            return self.grid
        if self.distinct is None or self.n_distinct < 2:
            return _LONE_RESOLUTION
        # Halves first: the range of values near the float maximum would overflow.
        half = self.distinct[-1] / 2 - self.distinct[0] / 2
        gap = float(half / (self.n_distinct - 1)) * 2
        return min(max(gap, np.finfo(float).tiny), np.finfo(float).max)


def learn(
    name: str,
    model: str,
    raw: Array,
    discrete: bool,
    rounded: bool = False,
    presence: bool = False,
    grid_codes: int = 0,
    repeats: NDArray[np.float64 | np.int64] | None = None,
) -> ColumnSpec:
    """Levels of a discrete column (two of them for `bernoulli`), distinct values of another.

    Parameters
    ----------
    name, model : of the column.
    raw : its values.
    discrete : does the model read codes?
    rounded : values of a continuous column are rounded to multiples of its resolution.
    presence : of a sparse bernoulli column: every value but 0 counts as 1.
    grid_codes : the codes are at most so many intervals of numbers; 0: they are the values.
    repeats : how many rows, or what weight of rows, each value has; by default each is a row.
    """
    if model == "bernoulli":
        return ColumnSpec(name, model, levels=np.array([0.0, 1.0]), presence=presence)
    if grid_codes:
        # Intervals of about equally many rows; of single values where there are few or heavy ones.
        from .kernels.exact import cut

        values, counts = count_distinct(np.asarray(raw, dtype=np.float64), repeats)
        cuts, medians = np.empty(grid_codes), np.empty(grid_codes)
        n_codes = int(cut(values, counts, grid_codes, cuts, medians))
        return ColumnSpec(
            name,
            model,
            levels=medians[:n_codes],
            cuts=cuts[: max(n_codes - 1, 0)],
            distinct=values[[0, -1]] if values.size else np.empty(0),
            n_distinct=values.size,
        )
    if discrete and raw.dtype == object and only_texts(raw):
        known = np.array(list(set(raw.tolist()) - {None, ""}), dtype=object)
    else:
        known = raw[~is_missing(raw)]
    if discrete:
        levels = _distinct(known)
        _check_distinguishable(name, levels)
        return ColumnSpec(name, model, levels=levels)
    distinct = np.unique(known)
    spec = _continuous(ColumnSpec(name, model), distinct, distinct.size)
    if not rounded:
        return spec
    spec = replace(spec, grid=spec.resolution)
    distinct = np.unique(_round(spec, distinct))
    return _continuous(spec, distinct, distinct.size)


def merge_specs(one: ColumnSpec, other: ColumnSpec) -> ColumnSpec:
    """What two batches of the same column tell together; a grid stays that of the first."""
    if one.on_grid:
        return one
    if one.levels is not None:
        assert other.levels is not None
        return replace(one, levels=_distinct(np.concatenate([one.levels, other.levels])))
    assert one.distinct is not None
    assert other.distinct is not None
    distinct = np.unique(np.concatenate([one.distinct, other.distinct]))
    exact = one.n_distinct == one.distinct.size and other.n_distinct == other.distinct.size
    n_distinct = distinct.size if exact else one.n_distinct + other.n_distinct
    return _continuous(one, distinct, n_distinct)


def encode(spec: ColumnSpec, raw: Array) -> Array:
    """Codes of a discrete column (one byte where they fit), or the numbers themselves.

    Values of another kind than the levels (numbers for texts, say) are compared as numbers.  On a
    grid, every number has a code, however far out it is.
    """
    if spec.levels is None:
        return _round(spec, np.ascontiguousarray(raw, dtype=np.float64))
    if raw.dtype == object or spec.levels.dtype == object:
        given, raw = raw, in_kind_of(spec.levels, raw)
        if given.dtype != object and _rounded(given).any():
            _check_distinguishable(spec.name, given[~is_missing(raw)])
    if spec.cuts is not None:
        from .kernels.exact import place

        # The number of cuts below each value; `silent` where it is missing.
        silent = len(spec.levels)
        codes = np.full(raw.shape, silent, np.uint8)
        if silent:
            padded = np.full(MOST_CODES, np.inf)
            padded[: spec.cuts.size] = spec.cuts
            place(np.ascontiguousarray(raw, dtype=np.float64), padded, silent, codes)
        return codes
    if spec.presence:
        return np.where(np.isnan(raw), 2, raw != 0).astype(np.uint8)
    return to_codes(spec.levels, raw)


def to_codes(levels: Array, raw: Array) -> Array:
    """Position of each value among the levels; len(levels) for missing and unknown values."""
    silent = len(levels)
    dtype = np.uint8 if silent <= MOST_CODES else np.int32
    if silent == 0:
        return np.zeros(raw.shape, dtype)
    if silent == 2 and raw.dtype != object and levels[0] == 0 and levels[1] == 1:
        return np.where(raw == 1, 1, np.where(raw == 0, 0, silent)).astype(np.uint8)
    if raw.dtype == object and only_texts(raw) and only_texts(levels):
        place = {level: at for at, level in enumerate(levels.tolist())}
        return np.array([place.get(value, silent) for value in raw.tolist()], dtype)
    missing = is_missing(raw)
    codes = np.full(raw.shape, silent, dtype)
    known = raw[~missing]
    at = np.minimum(np.searchsorted(levels, known), silent - 1)
    codes[~missing] = np.where(levels[at] == known, at, silent)
    return codes


def _check_distinguishable(name: str, values: Array) -> None:
    """Whole numbers were rounded when they became floats: two categories could be one."""
    large = values[_rounded(values)] if values.dtype != object else np.empty(0)
    if large.size:
        raise ValueError(
            f"column {name!r} holds categories, and the number {large[0]:.0f} among them: as "
            "categories, numbers must lie below 2^53 (9007199254740992), from which on floats do "
            "not tell whole numbers apart. Turn the column into text first."
        )


def _rounded(values: Array) -> Bools:
    """Which numbers may be another whole number of 64 bits than the one that was given?"""
    sizes = np.abs(values)
    return (sizes >= _ROUNDED) & (sizes <= _LONGEST)


def is_missing(raw: Array) -> Bools:
    """NaN among numbers; None and the empty text among texts."""
    if raw.dtype == object:
        return np.array([value is None or value == "" for value in raw], dtype=bool)
    return np.isnan(raw)


def _round(spec: ColumnSpec, values: Floats) -> Floats:
    if spec.grid is None:
        return values
    with np.errstate(over="ignore"):
        rounded = np.rint(values / spec.grid) * spec.grid
    # Near the float maximum, the next multiple (or the number of steps to it) may not fit.
    return np.where(np.isinf(rounded), values, rounded)


def _distinct(known: Array) -> Array:
    if known.dtype == object:
        # Plain texts, whatever they are the names of.
        return np.array(sorted(map(str, set(known.tolist()))), dtype=object)
    found = np.unique(known)
    # A zero below zero is zero, whichever of the two comes first.
    return found + 0.0 if found.dtype.kind == "f" else found


def count_distinct(
    numbers: Floats, repeats: NDArray[np.float64 | np.int64] | None = None
) -> tuple[Floats, NDArray[np.float64 | np.int64]]:
    """Each number once, ascending, and how many rows (or what weight of rows) have it; no NaN.

    Examples
    --------
    >>> count_distinct(np.array([2.0, 1.0, np.nan, 2.0]))
    (array([1., 2.]), array([1, 2]))
    """
    from .kernels.exact import count_runs, sort_evenly

    if repeats is not None:
        numbers, repeats = numbers[repeats > 0], repeats[repeats > 0]
    # NaN is sorted to the end.
    weights: NDArray[np.float64 | np.int64] = np.empty(0, np.int64)
    if repeats is None:
        values = np.empty(numbers.size)
        if numbers.size < _MANY or not sort_evenly(numbers, values):
            values = np.sort(numbers)
    else:
        order = np.argsort(numbers, kind="stable")
        values, weights = numbers[order], repeats[order]
    counts = np.empty(values.size, weights.dtype)
    n_distinct = int(count_runs(values, weights, counts))
    return values[:n_distinct], counts[:n_distinct]


def _continuous(spec: ColumnSpec, distinct: Floats, count: int) -> ColumnSpec:
    if distinct.size > _KEEP_DISTINCT:
        distinct = distinct[[0, -1]]
    return replace(spec, distinct=distinct, n_distinct=count)


def begins_with(cut: float) -> float | None:
    """The number that an interval begins with, where that belongs to it; None: it ends one.

    Examples
    --------
    >>> from bayesieve.data.columns import begins_with
    >>> begins_with(float(np.nextafter(29.0, 0))), begins_with(4.5)
    (29.0, None)
    """
    after = float(np.nextafter(cut, np.inf))
    return after if len(repr(after)) + 4 < len(repr(cut)) else None


def span_in_words(low: float, high: float) -> str:
    """Numbers between two ends, which may be infinite.

    Examples
    --------
    >>> from bayesieve.data.columns import span_in_words
    >>> span_in_words(-np.inf, 4.5), span_in_words(1.25, 4.5)
    ('up to 4.5', '1.25 to 4.5')
    >>> span_in_words(-np.inf, float(np.nextafter(29.0, 0)))
    'below 29'
    """
    first, last = begins_with(low), begins_with(high)
    if np.isinf(low):
        if np.isinf(high):
            return "any value"
        return f"up to {high:.4g}" if last is None else f"below {last:.6g}"
    if np.isinf(high):
        return f"above {low:.4g}" if first is None else f"{first:.6g} and above"
    if first is None or last is None:
        return f"{low:.4g} to {high:.4g}"
    return f"{first:.6g} to below {last:.6g}"
