"""Tables of the command line: columns, target, per-class options, and warnings about the data."""

import csv
import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
import scipy.sparse

from ..checks import Array, BadUseError, Bools, Foreign, some
from ..data.files.base import Content, check_width, unpacked_size, whole_numbers
from ..data.files.formats import format_of, read_data
from ..data.files.sources import open_source
from ..data.files.text import as_read
from ..data.pack import pack
from ..data.sample import later_rows
from ..data.storage import PackedTable
from ..models.fitted import ASK, shares_of_classes, shares_of_labels
from .options import Settings, tell

# Wider tables are no points of series, and smaller ones could be anything.
MOST_COLUMNS, _FEWEST_ROWS = 50, 20

# Points that a series has on average, at least.
_FEWEST_POINTS = 5

# A moment: a date and a time of day.
_MOMENT = r"^\s*\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"


def refuse_series(frame: pl.DataFrame, target: str | None) -> None:
    """Say of a long table of series which verb reads it.

    One column names series, another rises within each of them and begins again (or there are more
    series than classes), and a series has one class.
    """
    if target not in frame.columns or frame.width > MOST_COLUMNS or frame.height < _FEWEST_ROWS:
        return
    frame = frame.with_columns(
        as_read(column) for column in frame if column.dtype == pl.String and column.name != target
    )
    for name in frame.columns:
        column = frame[name]
        # Texts or whole numbers, each of which has several rows, may name series.
        if name == target or not (column.dtype == pl.String or column.dtype.is_integer()):
            continue
        if column.null_count() or not 2 <= column.n_unique() <= len(column) / _FEWEST_POINTS:
            continue
        if frame.select(pl.struct(name, target).n_unique()).item() != frame[name].n_unique():
            continue
        for time in frame.columns:
            if time not in (name, target) and _counts_points(frame, name, time, target):
                raise BadUseError(
                    f"this looks like points of series, which {name!r} names and {time!r} counts, "
                    "and not like a row for each thing to decide on: use bayesieve signals DATA "
                    f"--id {name} --time {time} --target {target}."
                )


def _counts_points(frame: pl.DataFrame, name: str, time: str, target: str) -> bool:
    """Does a column rise from row to row of each series, over all of them?"""
    column = frame[time]
    if column.dtype == pl.String:
        if not column.str.contains(_MOMENT).fill_null(False).all():
            return False
    elif not (column.dtype.is_numeric() or column.dtype.is_temporal()) or column.null_count():
        return False
    before = frame.select(
        same=pl.col(name).shift(1).over(name).is_not_null(),
        rises=pl.col(time) > pl.col(time).shift(1).over(name),
    )
    if not before.filter("same")["rises"].all():
        return False
    again = not (column > column.shift(1))[1:].all()
    return again or frame[name].n_unique() > frame[target].n_unique()


def is_moment(column: pl.Series) -> bool:
    """Does a column hold dates with times of day?"""
    if column.dtype == pl.String and column.null_count() < len(column):
        return bool(column.drop_nulls().str.contains(_MOMENT).all())
    return isinstance(column.dtype, pl.Datetime)


# -- From a file to columns and a target -----------------------------------------------------------


# Texts among numbers: worth a word, if at least this share of the cells are numbers.
_MOSTLY = 0.5

# Positive (or negative) rows below which a label is told to be rare.
_RARE = 10

# Texts that sort by time.
_ISO = r"^\d{4}-\d{2}(-\d{2}([T ].*)?)?$"

# Rows of a large table in which series are looked for.
_LOOKED_AT = 1 << 16

# Bytes of a file from which on it is packed.
_LARGE = 2**26

#: Columns of a file: a frame, a sparse matrix, or a packed table.
Columns: TypeAlias = pl.DataFrame | PackedTable | scipy.sparse.sparray

#: A class for every row, or a frame of labels.
Target: TypeAlias = Array | pl.Series | pl.DataFrame


class LabelledTable(NamedTuple):
    """Columns to learn from (a frame or a sparse matrix), their names, the target, and columns that
    say something about the rows only.
    """

    X: Columns
    names: Sequence[str]
    y: Target
    aside: Mapping[str, pl.Series] = MappingProxyType({})


def has_labels(problem: LabelledTable) -> bool:
    """Labels, or classes?"""
    return isinstance(problem.y, pl.DataFrame)


class Rows(NamedTuple):
    """The rows of a selection, wherever they are."""

    problem: LabelledTable  #: columns and target; of rows elsewhere, what is known of them here
    dropped: Sequence[str]  #: text columns that name every row, and were left out
    X: Foreign  #: what an estimator is fitted to
    y: Foreign
    groups: Foreign = None
    engine: Foreign = None  #: who keeps the rows; None: this process
    here: bool = True  #: can they be read once more, for a report?


def read_rows(path: Path, settings: Settings) -> Rows:
    """The rows of one table, in memory."""
    names = settings.label_names
    if settings.progress and path.is_file() and unpacked_size(path) >= _LARGE:
        tell(f"reading {path}")
    problem, dropped = read_problem(
        path, settings.target, names, settings.identifiers, settings.aside
    )
    groups = None if settings.groups is None else groups_of(problem.aside[settings.groups])
    return Rows(problem, dropped, problem.X, problem.y, groups)


def read_problem(
    path: Path,
    target: str | None,
    labels: list[str],
    identifiers: bool,
    aside: Sequence[str] = (),
) -> tuple[LabelledTable, list[str]]:
    """Columns and target of a file, and the names of text columns that were left out.

    Columns that stand aside are no columns to learn from.

    A large table is packed as it is read, so that it never stands in memory as it is in the file;
    the answers are the same.
    """
    file = format_of(path)
    if unpacked_size(path) < _LARGE or not file.in_blocks:
        whole = read_data(path)
        if not whole.sparse and not aside:
            refuse_series(whole.X, target)
        _check_aside(aside, [target, *labels])
        content, apart = whole, dict[str, pl.Series]()
        if aside:
            content, apart = take_out(replace(whole, target=None), aside)
            content = replace(content, target=whole.target)
        problem = split_target(content, target, labels)._replace(aside=apart)
        if identifiers:
            return problem, []
        problem, named = without_identifiers(problem)
        for column in problem.X if isinstance(problem.X, pl.DataFrame) else ():
            if is_moment(column):
                raise BadUseError(
                    f"column {column.name!r} holds moments in time, which tell nothing of new "
                    "rows: name it with --time, or leave it out."
                )
        return problem, named
    source = open_source(path)
    if (target is None) == (not labels):
        raise BadUseError("give --target COLUMN for classes, or --labels A,B,... for labels.")
    _check_repeats(labels)
    wanted = [target] if target is not None else labels
    _check_aside(aside, wanted)
    for name in [*wanted, *aside]:
        if name not in source.names:
            raise BadUseError(_unknown_column(Content(None, []), name, source.names))
    if not aside and len(source.names) <= MOST_COLUMNS:
        refuse_series(next(file.blocks(path, source.names, _LOOKED_AT)), target)
    columns = [name for name in source.names if name not in [*wanted, *aside]]
    X = pack(source, target=[*wanted, *aside], columns=columns, identifiers=identifiers)
    found = X.target.select(wanted)
    y: Target = _label_frame(found) if target is None else classes_of(found[target], target)
    apart = {name: X.target[name] for name in aside}
    return LabelledTable(X, X.names, y, apart), list(X.identifiers)


def _check_aside(aside: Sequence[str], target: Sequence[str | None]) -> None:
    both = next((name for name in aside if name in target), None)
    if both is not None:
        raise BadUseError(f"column {both!r} is the target: it cannot say groups or time too.")


def take_out(table: Content, wanted: Sequence[str]) -> tuple[Content, dict[str, pl.Series]]:
    """Take columns out of a table."""
    known = [*table.names, *table.texts.columns]
    found = {}
    for name in wanted:
        if name not in known:
            raise BadUseError(_unknown_column(table, name, known))
        if name in table.texts.columns:
            found[name] = table.texts[name]
        elif table.sparse:
            dense = table.X[:, [table.names.index(name)]].toarray().ravel()
            found[name] = pl.Series(name, whole_numbers(dense))
        else:
            found[name] = table.X[name]
    kept = [j for j, name in enumerate(table.names) if name not in wanted]
    others, texts = [table.names[j] for j in kept], table.texts.drop(wanted, strict=False)
    X = table.X[:, kept] if table.sparse else table.X.select(others)
    return replace(table, X=X, names=others, texts=texts), found


def groups_of(column: pl.Series) -> Array:
    """One group a row."""
    missing = column.null_count()
    if missing:
        raise BadUseError(
            f"--groups: column {column.name!r} is missing in {missing} row(s); give every row a "
            "group, a row without others a group of its own."
        )
    return np.array(column.to_list(), dtype=object)


def later_part(column: pl.Series, share: float) -> Bools:
    """The rows to validate on: the latest ones."""
    name, missing = column.name, column.null_count()
    if column.dtype.is_float():
        missing += int(column.is_nan().sum())
    if missing:
        raise BadUseError(
            f"--time: column {name!r} is missing in {missing} row(s); drop or mend them."
        )
    if not share:
        raise BadUseError("--time needs a validation part; give --validation a share above 0.")
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        odd = column.filter(~column.str.contains(_ISO))
        if len(odd):
            raise BadUseError(
                f"--time: column {name!r} must hold numbers, dates, or texts such as 2024-12-31 "
                f"(year first, so that later is larger); got {odd[0]!r}."
            )
    elif not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        raise BadUseError(f"--time: column {name!r} holds {column.dtype}, which is no time.")
    try:
        return later_rows(column.to_numpy(), share)
    except ValueError as error:
        raise BadUseError(f"--time: column {name!r}: {error}") from error


def _check_repeats(labels: list[str]) -> None:
    twice = next((name for name in labels if labels.count(name) > 1), None)
    if twice is not None:
        raise BadUseError(f"--labels names {twice!r} twice; name each label once.")


def split_target(table: Content, target: str | None, labels: list[str]) -> LabelledTable:
    """The columns to learn from, and the target: one column, several of 0 and 1, or the file's."""
    _check_repeats(labels)
    if target is not None and labels:
        raise BadUseError("give --target COLUMN for classes or --labels A,B,... for labels.")
    if target is None and not labels:
        if table.target is None:
            raise BadUseError("give --target COLUMN for classes, or --labels A,B,... for labels.")
        found = LabelledTable(table.X, table.names, table.target)
    else:
        check_width(len(table.names))
        table, taken = take_out(table, labels or [str(target)])
        if table.texts.columns:
            raise BadUseError(
                f"column {table.texts.columns[0]!r} is text, which sparse rows cannot give to a "
                "model; write the file with full rows."
            )
        y = pl.DataFrame(taken) if labels else taken[str(target)]
        found = LabelledTable(table.X, table.names, y)
    if not found.names:
        raise BadUseError("there is no column left to learn from.")
    for column in found.X if isinstance(found.X, pl.DataFrame) else ():
        # Columns that a model cannot read are named before any work.
        dtype = column.dtype
        plain = dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null)
        if not (plain or dtype.is_numeric()):
            raise BadUseError(
                f"column {column.name!r} holds {dtype}; columns must hold numbers, booleans or "
                "text: turn it into one of these, or leave it out."
            )
    if isinstance(found.y, pl.DataFrame):
        return found._replace(y=_label_frame(found.y))
    return found._replace(y=classes_of(found.y, target))


def _unknown_column(table: Content, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if table.target is not None:
        hint = " The file holds its target itself: leave --target and --labels out."
    return f"there is no column {name!r}; the columns are {some(known)}.{hint}"


def classes_of(y: pl.Series | Array, target: str | None) -> Array:
    """One class a row, of which there are several."""
    name = "the target" if target is None else f"the target {target!r}"
    series = y if isinstance(y, pl.Series) else pl.Series(y)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    elif series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    elif not (series.dtype.is_integer() or series.dtype in (pl.String, pl.Boolean)):
        raise BadUseError(
            f"{name} must hold classes, as text or whole numbers; got {series.dtype}."
        )
    missing = series.null_count() + int((series == "").sum() if series.dtype == pl.String else 0)
    if missing:
        raise BadUseError(f"{name} is missing in {missing} row(s); drop or mend them.")
    n_classes = series.n_unique()
    if n_classes < 2:
        raise BadUseError(f"{name} has one value only ({series[0]!r}); nothing can be told apart.")
    values = series.to_numpy()
    if series.dtype.is_float():
        values = whole_numbers(values)
        if values.dtype.kind == "f":
            raise BadUseError(
                f"{name} holds {n_classes} numbers with a fraction, such as "
                f"{float(values[values != np.rint(values)][0])!r}; it must hold classes: cut it "
                "into ranges first."
            )
    return values


def _label_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Labels as 0 and 1; nominal ones may be written as texts."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype == pl.String:
            column = column.cast(pl.Int64, strict=False)
        if column.dtype == pl.Boolean:
            column = column.cast(pl.Int64)
        known = column.dtype.is_numeric() and not column.null_count()
        if not known or not ((column == 0) | (column == 1)).all():
            shown = some(sorted(frame[name].cast(pl.String).fill_null("").unique().to_list()), 4)
            raise BadUseError(f"the label {name!r} must hold 0 and 1 only; got {shown}.")
        frame = frame.with_columns(column.cast(pl.Int64))
    return frame


def without_identifiers(problem: LabelledTable) -> tuple[LabelledTable, list[str]]:
    """Leave out text columns with as many values as rows: they name rows and predict nothing."""
    X = problem.X
    if not isinstance(X, pl.DataFrame):
        return problem, []
    out = [
        name
        for name in X.columns
        if X[name].dtype == pl.String and X.height > 1 and X[name].n_unique() == X.height
    ]
    X = X.drop(out)
    if not X.width:
        raise BadUseError(
            f"every column names every row (such as {out[0]!r}): there is no column left to learn "
            "from; --identifiers keeps them."
        )
    return problem._replace(X=X, names=X.columns), out


def numbers_with_texts(problem: LabelledTable) -> Iterator[str]:
    """A word on each text column in which most cells are numbers."""
    for column in problem.X if isinstance(problem.X, pl.DataFrame) else ():
        if column.dtype != pl.String:
            continue
        known = column.drop_nulls().str.strip_chars()
        known = known.filter(known != "")
        numbers = known.cast(pl.Float64, strict=False)
        odd = known.filter(numbers.is_null())
        if len(odd) and len(odd) <= (1 - _MOSTLY) * len(known):
            yield (
                f"column {column.name!r} is read as text: {len(odd)} of {len(known)} cells are no "
                f"numbers, such as {odd[0]!r}; leave a cell empty where its value is missing"
            )


def rare_labels(problem: LabelledTable) -> Iterator[str]:
    """A word on labels that some part of the rows may lack."""
    if isinstance(problem.y, pl.DataFrame):
        counts = dict(zip(problem.y.columns, problem.y.sum().row(0), strict=True))
        n_rows = len(problem.y)
        rare = [name for name, n in counts.items() if min(n, n_rows - n) < _RARE]
        if rare:
            yield (
                f"{len(rare)} of {len(counts)} labels are very rare or very common, such as "
                f"{rare[0]!r} ({counts[rare[0]]} rows): their AUC is left out where a part of the "
                "rows has none"
            )


# -- Options that hold numbers by class, and tables of costs ---------------------------------------


def read_numbers(option: str, text: str, words: str) -> dict[str, float]:
    """Numbers by class as the command line writes them: CLASS=NUMBER, separated by commas.

    `words` say what else the option may be.
    """
    found = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise BadUseError(
                f"{option} must be {words} or one CLASS=NUMBER for each class, separated by "
                f"commas; got {part!r}."
            )
    return found


def read_monotone(text: str | None) -> dict[str, int] | None:
    """Columns whose evidence only rises (1) or falls (-1)."""
    if text is None:
        return None
    found = {}
    for part in text.split(","):
        name, _, sign = part.rpartition("=")
        if not name.strip() or sign.strip() not in ("1", "+1", "-1"):
            raise BadUseError(
                "--monotone must be COLUMN=1 (rises) or COLUMN=-1 (falls), separated by commas; "
                f"got {part!r}."
            )
        if name.strip() in found:
            raise BadUseError(f"--monotone names {name.strip()!r} twice; name each column once.")
        found[name.strip()] = int(sign)
    return found


def read_priors(text: str | None) -> str | dict[str, float] | None:
    """Priors: uniform, or by class."""
    if text is None or text == "uniform":
        return text
    return read_numbers("--priors", text, "'uniform'")


def check_place(priors: str | dict[str, float] | None, y: pl.DataFrame | pl.Series | Array) -> None:
    """Refuse priors that do not fit the classes, or the labels, before any work."""
    if priors is None:
        return
    if isinstance(y, pl.DataFrame):
        shares_of_labels(priors, y.columns)
    else:
        shares_of_classes(priors, np.unique(np.asarray(y)))


def read_rates(option: str, text: str | None) -> float | dict[str, float] | None:
    """A number, or numbers by class."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return read_numbers(option, text, "a number")


def read_class_weight(text: str | None, problem: LabelledTable) -> str | dict[object, float] | None:
    """Balanced, or weights by class, in the kind that the table's classes are."""
    if text is None or text == "balanced":
        return text
    given = read_numbers("--class-weight", text, "'balanced'")
    if isinstance(problem.y, pl.DataFrame):
        raise BadUseError("--class-weight is for classes; with --labels, leave it out.")
    known = {str(value): value for value in np.unique(np.asarray(problem.y)).tolist()}
    odd = next((name for name in given if name not in known), None)
    if odd is not None:
        raise BadUseError(
            f"--class-weight names {odd!r}; the classes are {', '.join(map(repr, known))}."
        )
    return {known[name]: weight for name, weight in given.items()}


def read_costs(path: Path | None) -> dict[str, dict[str, float]] | None:
    """A table of costs: a line for each class, a column for each decision, named in the header."""
    if path is None:
        return None
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except (OSError, UnicodeError, csv.Error) as error:
        raise BadUseError(f"--costs: {str(path)!r} cannot be read as a table of text.") from error
    if len(lines) < 2 or any(len(line) != len(lines[0]) for line in lines):
        raise BadUseError(
            f"--costs: {str(path)!r} must be a CSV table: a header with the decisions (and maybe "
            f"{ASK!r}), and a line for each class that begins with its name."
        )
    decisions = [cell.strip() for cell in lines[0][1:]]
    found: dict[str, dict[str, float]] = {}
    for name, *cells in lines[1:]:
        costs = found[name.strip()] = {}
        for decision, cell in zip(decisions, cells, strict=True):
            try:
                costs[decision] = float(cell)
            except ValueError as error:
                raise BadUseError(
                    f"--costs: {str(path)!r} must hold a number for taking {name!r} for "
                    f"{decision!r}; got {cell!r}."
                ) from error
    return found
