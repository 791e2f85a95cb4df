"""What the command line does with a table in a file."""

import csv
import difflib
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse

from .classifier import NaiveBayes
from .explain import explain
from .files import (
    COLUMNAR,
    SEPARATORS,
    BadUseError,
    Column,
    Content,
    TextTable,
    format_of,
    read_batches,
    read_data,
    some,
    whole_folder,
    whole_numbers,
)
from .modelfile import load_model, save_model
from .packing import pack
from .ranking import rank
from .selector import NaiveBayesSelector
from .sources import open_source

__all__ = ["BadUseError", "read_data"]

# Texts among numbers: worth a word, if at least this share of the cells are numbers.
_MOSTLY = 0.5
# Bytes of a file from which on it is packed.
_LARGE = 2**26
# Names of columns shown to people.
_SHOWN = 20


class Problem(NamedTuple):
    """Columns to learn from (a frame or a sparse matrix), their names, and the target."""

    X: Any
    names: list[str]
    y: Any


def read_problem(
    path: Path, target: str | None, labels: list[str], identifiers: bool
) -> tuple[Problem, list[str]]:
    """Columns and target of a file, and the names of text columns that were left out.

    A large table is packed as it is read, so that it never stands in memory as it is in the file;
    the answers are the same.
    """
    ending = format_of(path)
    if path.stat().st_size < _LARGE or ending not in (*SEPARATORS, *COLUMNAR):
        problem = split_target(read_data(path), target, labels)
        return (problem, []) if identifiers else without_identifiers(problem)
    if ending in SEPARATORS:
        TextTable(path, SEPARATORS[ending]).check()
    source = open_source(path)
    if (target is None) == (not labels):
        raise BadUseError("give --target COLUMN for classes, or --labels A,B,... for labels.")
    wanted = [target] if target is not None else labels
    for name in wanted:
        if name not in source.names:
            raise BadUseError(_unknown_column(Content(None, []), name, source.names))
    columns = [name for name in source.names if name not in wanted]
    frame = source.read(source.find(wanted))
    y = _label_frame(frame) if target is None else _classes(frame[target], target)
    X = pack(source, columns=columns, identifiers=identifiers)
    return Problem(X, X.names, y), list(X.identifiers)


def split_target(table: Content, target: str | None, labels: list[str]) -> Problem:
    """The columns to learn from, and the target: one column, several of 0 and 1, or the file's."""
    if target is not None and labels:
        raise BadUseError("give --target COLUMN for classes or --labels A,B,... for labels.")
    if target is None and not labels:
        if table.target is None:
            raise BadUseError("give --target COLUMN for classes, or --labels A,B,... for labels.")
        found = Problem(table.X, table.names, table.target)
    else:
        found = _take_columns(table, [target] if target is not None else labels, target is not None)
    if not found.names:
        raise BadUseError("there is no column left to learn from.")
    _check_kinds(found.X)
    if isinstance(found.y, pl.DataFrame):
        return found._replace(y=_label_frame(found.y))
    return found._replace(y=_classes(found.y, target))


def _take_columns(table: Content, wanted: list[str], single: bool) -> Problem:
    """Take the target's columns out of the others."""
    known = [*table.names, *table.texts.columns]
    for name in wanted:
        if name not in known:
            raise BadUseError(_unknown_column(table, name, known))
    others = [name for name in known if name not in wanted]
    if not table.sparse:
        y = table.X[wanted[0]] if single else table.X.select(wanted)
        return Problem(table.X.select(others), others, y)
    odd = [name for name in table.texts.columns if name not in wanted]
    if odd:
        raise BadUseError(
            f"column {odd[0]!r} is text, which sparse rows cannot give to a model; write the file "
            "with full rows."
        )
    columns = []
    for name in wanted:
        if name in table.texts.columns:
            columns.append(table.texts[name])
        else:
            dense = table.X[:, [table.names.index(name)]].toarray().ravel()
            columns.append(pl.Series(name, whole_numbers(dense)))
    y = columns[0] if single else pl.DataFrame(columns)
    return Problem(table.X[:, [table.names.index(name) for name in others]], others, y)


def _unknown_column(table: Content, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if table.target is not None:
        hint = " The file holds its target itself: leave --target and --labels out."
    return f"there is no column {name!r}; the columns are {some(known)}.{hint}"


def _classes(y: Any, target: str | None) -> Any:
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
        if not column.dtype.is_numeric() or column.null_count() or not column.is_in([0, 1]).all():
            shown = some(sorted(frame[name].cast(pl.String).fill_null("").unique().to_list()), 4)
            raise BadUseError(f"the label {name!r} must hold 0 and 1 only; got {shown}.")
        frame = frame.with_columns(column.cast(pl.Int64))
    return frame


def _check_kinds(X: Any) -> None:
    """Columns that a model cannot read are named before any work."""
    for column in X if isinstance(X, pl.DataFrame) else ():
        dtype = column.dtype
        plain = dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null)
        if not (plain or dtype.is_numeric()):
            raise BadUseError(
                f"column {column.name!r} holds {dtype}; columns must hold numbers, booleans or "
                "text: turn it into one of these, or leave it out."
            )


def without_identifiers(problem: Problem) -> tuple[Problem, list[str]]:
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
    return Problem(X, X.columns, problem.y), out


def numbers_with_texts(problem: Problem) -> Iterator[str]:
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


def check_resume(checkpoint: Path | None, resume: bool) -> None:
    """A checkpoint is written over by nobody: an old one is gone on from, if that is asked for."""
    if resume and checkpoint is None:
        raise BadUseError("--resume needs --checkpoint FILE, the file to go on from.")
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise BadUseError(
            f"--checkpoint: {str(checkpoint)!r} exists; add --resume to go on from it, or name "
            "another file."
        )


def select_table(problem: Problem, out: Path, **options: Any) -> NaiveBayesSelector:
    """Select, and write model.json, selected.csv and path.csv."""
    selector = NaiveBayesSelector(**options).fit(problem.X, problem.y)
    if scipy.sparse.issparse(problem.X):
        _name_columns(selector, problem.names)
    with whole_folder(out) as folder:
        save_model(selector, folder / "model.json")
        _write_rows(
            folder / "selected.csv", ["rank", "feature"],
            [[i + 1, problem.names[j]] for i, j in enumerate(selector.selected_)],
        )  # fmt: skip
        path = selector.path_.to_dict()
        _write_rows(folder / "path.csv", list(path), zip(*path.values(), strict=True))
    return selector


def _name_columns(selector: NaiveBayesSelector, names: list[str]) -> None:
    """Give a model of a sparse matrix the file's names: a matrix has none."""
    selector.path_.names = names
    model = selector.estimator_
    model._specs = [
        replace(spec, name=names[j])
        for spec, j in zip(model._specs, np.flatnonzero(selector.support_), strict=True)
    ]


def _open_model(path: Path) -> tuple[NaiveBayes, list[Column]]:
    """A model, and the columns it reads."""
    if not path.is_file():
        raise BadUseError(f"the model file {str(path)!r} does not exist (or is not a file).")
    try:
        model = load_model(path)
    except UnicodeError as error:
        raise BadUseError(f"{path} is not a model file: it is not text.") from error
    columns = [
        Column(spec.name, spec.levels is not None and spec.levels.dtype == object)
        for spec in model._specs
    ]
    return model, columns


def _fit_names(model: NaiveBayes, X: Any) -> None:
    """The columns were matched by name: the model expects names where there are some."""
    if isinstance(X, pl.DataFrame):
        model.feature_names_in_ = np.array(X.columns, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def predict_file(model_file: Path, data: Path, most_rows: int = 2**16) -> Iterator[str]:
    """The predictions for a file as CSV, a batch of rows at a time, the header with the first."""
    model, columns = _open_model(model_file)
    for i, X in enumerate(read_batches(data, columns, most_rows)):
        _fit_names(model, X)
        yield _predicted(model, X).write_csv(include_header=i == 0)


def _predicted(model: NaiveBayes, X: Any) -> pl.DataFrame:
    """Class (or labels) and probabilities of every row."""
    found, proba = model._best_and_proba(model._table(X))
    if model._parts:
        names = model.label_names_
        columns = {f"{n}": found[:, j] for j, n in enumerate(names)}
    else:
        names = list(model.classes_)
        columns = {"prediction": found}
    return pl.DataFrame({**columns, **{f"P({n})": proba[:, k] for k, n in enumerate(names)}})


def explain_rows(model_file: Path, data: Path, rows: list[int]) -> list[tuple[int, Any]]:
    """Explanations of some rows of a file, in the order asked for."""
    model, columns = _open_model(model_file)
    found: dict[int, list[Any]] = {}
    n_rows = 0
    for X in read_batches(data, columns):
        _fit_names(model, X)
        for row in sorted({r for r in rows if n_rows <= r < n_rows + X.shape[0]}):
            found[row] = explain(model, X[row - n_rows : row - n_rows + 1])
        n_rows += X.shape[0]
        if len(found) == len(set(rows)):
            break
    for row in rows:
        if row not in found:
            raise BadUseError(f"there is no row {row}; the table has rows 0 to {n_rows - 1}.")
    return [(row, each) for row in rows for each in found[row]]


def rank_problem(problem: Problem, method: str) -> list[tuple[str, float]]:
    """Columns and scores, best first."""
    found = rank(problem.X, problem.y, method)
    return [(problem.names[j], float(found.scores[j])) for j in found.order]


def _write_rows(path: Path, header: list[str], rows: Any) -> None:
    """A CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(
        ["" if isinstance(v, float) and np.isnan(v) else v for v in row] for row in rows
    )
    path.write_bytes(text.getvalue().encode())


def as_json(value: Any) -> str:
    """Plain data as JSON; what is not finite as null."""

    def plain(each: Any) -> Any:
        if isinstance(each, dict):
            return {key: plain(v) for key, v in each.items()}
        if isinstance(each, list | tuple):
            return [plain(v) for v in each]
        if isinstance(each, float) and not np.isfinite(each):
            return None
        return each.item() if isinstance(each, np.generic) else each

    return json.dumps(plain(value), indent=2)


def has_labels(problem: Problem) -> bool:
    """Labels, or classes?"""
    return isinstance(problem.y, pl.DataFrame)


def summary(selector: NaiveBayesSelector, problem: Problem, out: Path) -> dict[str, Any]:
    """What was chosen, as plain data."""
    step = selector.path_.steps[selector.path_.chosen]
    return {
        "selected": [problem.names[j] for j in selector.selected_], "score": step.score,
        selector.path_.validation_name: step.validation_error,
        "subsets_tried": selector.n_tried_, "folder": str(out),
    }  # fmt: skip


def in_words(result: dict[str, Any], criterion: str, n_columns: int) -> str:
    """The summary for people."""
    names, name = result["selected"], next(key for key in result if key.startswith("validation"))
    shown = ", ".join(names[:_SHOWN])
    if len(names) > _SHOWN:
        shown += f" and {len(names) - _SHOWN} more (selected.csv has all)"
    told = "" if np.isnan(result[name]) else f", {name.replace('_', ' ')} {result[name]:.4f}"
    return (
        f"{len(names)} of {n_columns} columns: {shown}\n"
        f"{criterion} {result['score']:.4f}{told}; written to {result['folder']}\n"
    )
