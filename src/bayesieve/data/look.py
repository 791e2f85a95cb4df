"""`look`: what a table holds, and what in it looks odd, before anything is learnt from it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from ..checks import Array, Bools, Floats, Foreign, Ints
from .result import Columns, Result, text_table

# Of more rows, so many are looked at, evenly spread.
_MOST_ROWS = 50_000

# Texts of which at least such a share are numbers are numbers with something odd among them.
_MOSTLY = 0.8

# Of texts, such a share of distinct ones names rows; of fewer rows nothing is said.
_IDENTIFYING, _FEW = 0.9, 20

# A value stands for a gap where it is so much farther from the others than they are apart, and
# where so many rows have it.
_APART, _OFTEN = 5.0, 0.002

# A column alone that errs on fewer rows than this may hold the answer; groups of a number.
_LEAK, _GROUPS = 0.01, 64

# A number with more values than this is no class.
_MOST_CLASSES = 30

# What people write where nothing was measured, beside 0.
_SENTINEL = re.compile(r"-(1|9+)|9{2,}")

_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}.*")


class Oddity(NamedTuple):
    """Something that looks odd, and what would mend it.

    Attributes
    ----------
    column : str
        "" of the target.
    kind : str
        "empty", "constant", "identifier", "dates", "mixed", "spellings", "gaps", "alone", "target"
        or "rare".
    what, mend : str
        In words.
    """

    column: str
    kind: str
    what: str
    mend: str


class ColumnLook(NamedTuple):
    """A column in a line.

    Attributes
    ----------
    name : str
    kind : {"number", "yes/no", "text", "date", "empty"}
    distinct : int
        How many values it has.
    missing : float
        Share of the rows without one.
    values : str
        Its range, or its most frequent values.
    odd : str
        Kinds of what looks odd, as in `Oddity`.
    """

    name: str
    kind: str
    distinct: int
    missing: float
    values: str
    odd: str


@dataclass(frozen=True, repr=False)
class TableLook(Result):
    """What a table holds.

    Attributes
    ----------
    n_rows : int
    columns : tuple of ColumnLook
    odd : tuple of Oddity
        What looks odd, the worst first, each with what would mend it.
    classes : dict or None
        Rows of each class, where y was given.
    """

    n_rows: int
    columns: tuple[ColumnLook, ...]
    odd: tuple[Oddity, ...]
    classes: dict[Foreign, int] | None = None

    _table: ClassVar[Mapping[str, str]] = {
        "column": "columns.name",
        "kind": "columns.kind",
        "values": "columns.distinct",
        "missing": "columns.missing",
        "such as": "columns.values",
        "looks odd": "columns.odd",
    }
    _html_rows: ClassVar[int] = 200

    def caption(self) -> str:
        """Rows, columns, and how many things look odd."""
        n = len(self.odd)
        odd = f"{n} thing{'s' * (n != 1)} look{'s' * (n == 1)} odd" if n else "nothing looks odd"
        return f"{self.n_rows} rows, {len(self.columns)} columns; {odd}"

    def to_columns(self) -> Columns:
        """A row a column of the table."""
        found = super().to_columns()
        found["missing"] = [f"{100 * share:.3g} %" if share else "" for share in found["missing"]]
        return found

    def to_text(self) -> str:
        """What looks odd comes first, then all columns."""
        parts = [self.caption() + "."]
        if self.classes is not None:
            told = [f"{name} {n}" for name, n in list(self.classes.items())[:10]]
            more = f" and {len(self.classes) - 10} more" if len(self.classes) > 10 else ""
            parts.append("Classes: " + ", ".join(told) + more + ".")
        for each in self.odd:
            where = f"{each.column}: " if each.column else ""
            parts += [f"- {where}{each.what}", f"    {each.mend}"]
        return "\n".join([*parts, "", text_table(self.to_columns())])


def look(X: object, y: ArrayLike | None = None) -> TableLook:
    """Look at a table before anything is learnt from it: kinds, gaps, and what looks odd.

    Named are dates, cells that are no numbers among numbers, zeros and nines that stand for gaps,
    spellings of one thing, columns that name rows, constants, columns that tell the class alone,
    and a target that is a measurement; each with what would mend it.  Nothing is changed.

    Parameters
    ----------
    X : data frame or array of shape (n_samples, n_features)
        As it was read, before anything was mended.
    y : array-like of shape (n_samples,), optional
        The classes.

    Returns
    -------
    look : TableLook
        ``odd`` is the list; ``to_text()`` says it, ``to_frame()`` has a row a column.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesieve import look
    >>> ages = ["31", "44", ">90"] * 20
    >>> found = look(pd.DataFrame({"age": ages, "sex": ["f", "m", "F "] * 20}))
    >>> for each in found.odd:
    ...     print(each.column, each.what)
    age 20 of 60 cells are no numbers, such as '>90'
    sex 'f' and 'F ' may be one thing
    """
    parts = _columns_of(X)
    n_rows = len(parts[0][1]) if parts else 0
    target = None if y is None else np.asarray(y)
    if target is not None and target.shape != (n_rows,):
        raise ValueError(
            f"y must hold one class for each of the {n_rows} rows of X; got shape {target.shape}."
        )
    some = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _MOST_ROWS)).astype(np.int64))
    labels, classes = None, None
    odd: list[Oddity] = []
    if target is not None:
        names, labels, counts = np.unique(
            target.astype(str), return_inverse=True, return_counts=True
        )
        classes = {str(name): int(n) for name, n in zip(names, counts, strict=True)}
        odd += _odd_target(target, counts)
        labels = labels[some]
    columns = []
    for name, values, is_date in parts:
        column, mine = look_at(name, values, is_date, some, labels)
        columns.append(column)
        odd += mine
    return TableLook(n_rows, tuple(columns), tuple(odd), classes)


def look_at(
    name: str, values: Array, is_date: bool, some: Ints, labels: Ints | None
) -> tuple[ColumnLook, list[Oddity]]:
    """A column in a line, and what looks odd in it.

    Parameters
    ----------
    name, values, is_date : of the column.
    some : rows that are looked at closely.
    labels : their classes by number, or None.
    """
    kind, read, gone = _read(values, is_date)
    odd = list(_oddities(name, kind, read[some], gone[some], labels))
    known = read[~gone]
    distinct = np.unique(known) if kind in ("number", "yes/no") else Counter(known.tolist())
    share = float(gone.mean()) if gone.size else 0.0
    told = ", ".join(each.kind for each in odd)
    return ColumnLook(name, kind, len(distinct), share, _shown(kind, known, distinct), told), odd


def _columns_of(X: object) -> list[tuple[str, Array, bool]]:
    """Names, values and whether they are dates, of a frame or an array."""
    if isinstance(X, np.ndarray | list | tuple):
        found = np.asarray(X)
        if found.ndim != 2:
            raise ValueError(f"X must have rows and columns; got {found.ndim} dimensions.")
        return [(f"x{j}", found[:, j], False) for j in range(found.shape[1])]
    try:
        frame: Any = nw.from_native(X, eager_only=True)
    except TypeError as error:
        raise TypeError(f"X must be a data frame or an array; got {type(X).__name__}.") from error
    columns = []
    for series in frame.iter_columns():
        is_date = isinstance(series.dtype, nw.Datetime | nw.Date)
        plain = series.dtype.is_numeric() and not series.null_count()
        values = series.to_numpy() if plain else np.array(series.to_list(), object)
        columns.append((str(series.name), values, is_date))
    return columns


def _read(values: Array, is_date: bool) -> tuple[str, Array, Bools]:
    """The kind of a column, its values (numbers as floats, else texts), and which are missing."""
    if values.dtype.kind in "biuf":
        found = values.astype(np.float64)
        gone = np.isnan(found)
    else:
        cells = values.tolist()
        gone = np.array([each is None or each != each or each == "" for each in cells], bool)
        known = [each for each, lost in zip(cells, gone.tolist(), strict=True) if not lost]
        if is_date or not all(isinstance(each, bool | int | float | np.number) for each in known):
            pairs = zip(cells, gone.tolist(), strict=True)
            texts = np.array(["" if lost else str(each) for each, lost in pairs], object)
            return "date" if is_date else "text", texts, gone
        found = np.full(len(cells), np.nan)
        found[~gone] = np.array(known, np.float64)
    if gone.all():
        return "empty", found, gone
    return "yes/no" if np.isin(found[~gone], (0, 1)).all() else "number", found, gone


def _shown(kind: str, known: Array, distinct: Array | Counter[str]) -> str:
    """Range or most frequent values."""
    if not known.size:
        return ""
    if kind == "number":
        return f"{known.min():.6g} to {known.max():.6g}"
    if kind == "date":
        return f"{min(known)} to {max(known)}"
    if not isinstance(distinct, Counter):
        return ", ".join(f"{value:g}" for value in distinct)
    told = [text if len(text) <= 20 else text[:19] + "…" for text, _ in distinct.most_common(3)]
    return ", ".join(told) + (", ..." if len(distinct) > 3 else "")


# -- What looks odd --------------------------------------------------------------------------------


def _odd_target(target: Array, counts: Array) -> Iterator[Oddity]:
    if target.dtype.kind in "if" and counts.size > _MOST_CLASSES:
        yield Oddity(
            "",
            "target",
            f"the target holds {counts.size} different numbers: a measurement, and no class",
            "cut it into classes, such as y > limit, or pd.cut(y, [0, 10, 20])",
        )
        return
    rare = int((counts < 5).sum())
    if rare:
        yield Oddity(
            "",
            "rare",
            f"{rare} of {counts.size} classes have fewer than five rows",
            "join rare classes, or leave their rows out",
        )


def _oddities(
    name: str, kind: str, values: Array, gone: Bools, labels: Array | None
) -> Iterator[Oddity]:
    """All that looks odd in a column."""
    known = values[~gone]
    if kind == "empty":
        yield Oddity(
            name, "empty", "no row has a value", f"leave it out: forbid=[{name!r}], --forbid {name}"
        )
        return
    checks: Sequence[Callable[[str, Array], Oddity | None]] = {
        "text": (_dates, _no_numbers, _names_rows, _spellings),
        "number": (_counts_rows, _stands_for_gaps),
        "date": (_is_date,),
    }.get(kind, ())
    if known.size == gone.size and (known == known[:1]).all():
        yield Oddity(
            name, "constant", "every row has the same value", "it tells nothing, and never enters"
        )
        return
    for check in checks:
        found = check(name, known)
        if found is not None:
            yield found
            if check in (_names_rows, _dates, _counts_rows):
                return
    if labels is not None and kind != "date":
        found = _tells_alone(name, kind, known, labels[~gone], labels)
        if found is not None:
            yield found


def _is_date(name: str, known: Array) -> Oddity:
    return Oddity(
        name,
        "dates",
        "holds dates, which no model reads as they are",
        f"make columns of them: X[{name!r}].dt.month, .dt.day_of_week, .dt.hour, days since a day",
    )


def _dates(name: str, known: Array) -> Oddity | None:
    if sum(_DATE.fullmatch(each.strip()) is not None for each in known) < 0.9 * known.size:
        return None
    return Oddity(
        name,
        "dates",
        f"holds dates as texts, such as {known[0]!r}",
        f"make columns of them: pd.to_datetime(X[{name!r}]).dt.month, .dt.day_of_week, days since",
    )


def _number(text: str) -> float | None:
    try:
        return float(text.strip())
    except ValueError:
        return None


def _no_numbers(name: str, known: Array) -> Oddity | None:
    """Numbers, and cells among them that are none."""
    odd = [each for each in known if _number(each) is None]
    least = _MOSTLY if len(set(odd)) > 3 else 0.5
    if known.size - len(odd) < least * known.size:
        return None
    if not odd:
        what = "holds numbers as texts"
    else:
        what = f"{len(odd)} of {known.size} cells are no numbers, such as {odd[0]!r}"
    return Oddity(
        name,
        "mixed",
        what,
        f"pd.to_numeric(X[{name!r}], errors='coerce') makes numbers, and gaps of the others",
    )


def _names_rows(name: str, known: Array) -> Oddity | None:
    distinct = len(set(known.tolist()))
    if known.size <= _FEW or distinct < _IDENTIFYING * known.size:
        return None
    return Oddity(
        name,
        "identifier",
        f"names rows: {distinct} different texts in {known.size} rows",
        f"leave it out: forbid=[{name!r}], --forbid {name}",
    )


def _spellings(name: str, known: Array) -> Oddity | None:
    """Texts that differ in blanks and capitals alone."""
    groups: dict[str, Counter[str]] = {}
    for each in known.tolist():
        groups.setdefault(" ".join(each.casefold().split()), Counter())[each] += 1
    twice = [spellings for spellings in groups.values() if len(spellings) > 1]
    if not twice:
        return None
    told = [repr(text) for text, _ in twice[0].most_common(3)]
    more = f"; and {len(twice) - 1} more such" if len(twice) > 1 else ""
    return Oddity(
        name,
        "spellings",
        f"{', '.join(told[:-1])} and {told[-1]} may be one thing{more}",
        f"X[{name!r}].str.strip().str.lower() makes them one",
    )


def counts_rows(known: Floats) -> bool:
    """Do whole steps lead from row to row, so that a number says where a row stands?"""
    steps = np.diff(known)
    return bool(known.size >= _FEW and steps[0] != 0 and (steps == steps[0]).all())


def _counts_rows(name: str, known: Floats) -> Oddity | None:
    if not counts_rows(known):
        return None
    return Oddity(
        name,
        "identifier",
        "counts the rows",
        f"leave it out (forbid=[{name!r}], --forbid {name}), unless the order itself may tell",
    )


def _stands_for_gaps(name: str, known: Floats) -> Oddity | None:
    """A zero, or nines, far from all other values."""
    values, counts = np.unique(known, return_counts=True)
    if values.size < 8:
        return None
    for at, low in ((0, True), (values.size - 1, False)):
        text = f"{values[at]:.15g}"
        if not (_SENTINEL.fullmatch(text) or (low and text == "0")):
            continue
        if counts[at] < max(_OFTEN * known.size, 3):
            continue
        others = values[1:] if low else values[:-1][::-1]
        apart = abs(float(others[0] - values[at]))
        usual = float(np.median(np.abs(np.diff(others[:20]))))
        if apart >= _APART * usual:
            return Oddity(
                name,
                "gaps",
                f"{counts[at]} rows have {text}, and no other comes near ({others[0]:.6g} is "
                "next): may stand for a gap",
                f"X[{name!r}].replace({text}, np.nan) makes gaps of them; in a file, empty cells",
            )
    return None


def _tells_alone(name: str, kind: str, known: Array, mine: Array, labels: Array) -> Oddity | None:
    """A column that decides nearly every row by itself."""
    n_classes = int(labels.max()) + 1
    usual = 1 - np.bincount(labels).max() / labels.size
    if usual < 10 * _LEAK or known.size < _FEW:
        return None
    values, codes = np.unique(known.astype(str) if kind == "text" else known, return_inverse=True)
    if kind != "text" and values.size > _GROUPS:
        edges = np.quantile(known, np.linspace(0, 1, _GROUPS + 1)[1:-1])
        codes = np.searchsorted(edges, known)
    n_codes = int(codes.max()) + 1
    if n_codes > known.size / 5:
        return None
    counts = np.bincount(codes * n_classes + mine, minlength=n_codes * n_classes)
    right = counts.reshape(n_codes, n_classes).max(1).sum()
    if right < (1 - _LEAK) * labels.size:
        return None
    return Oddity(
        name,
        "alone",
        f"decides {100 * right / labels.size:.1f} % of the rows by itself",
        f"is it known before the answer is? If not: forbid=[{name!r}], --forbid {name}",
    )
