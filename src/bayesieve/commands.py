"""What the command line does with a table in a file."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .explain import explain
from .modelfile import load_model, save_model
from .packing import pack
from .ranking import rank
from .selector import NaiveBayesSelector
from .sources import open_source
from .validation import PackedTable

_TEXT = {".csv": ",", ".tsv": "\t"}
_OTHERS = (".parquet", ".arrow", ".feather", ".ipc")


class BadUseError(ValueError):
    """Something that the user can put right: said in one sentence, exit code 2."""


def read_data(path: Path) -> pl.DataFrame:
    """A table from a file, by its ending: CSV or TSV (also gzipped), Parquet, Arrow."""
    if not path.is_file():
        raise BadUseError(f"the file {str(path)!r} does not exist (or is not a file).")
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if ending not in (*_TEXT, *_OTHERS):
        allowed = ", ".join((*_TEXT, *(f"{e}.gz" for e in _TEXT), *_OTHERS))
        raise BadUseError(f"the ending of {path.name!r} is unknown; allowed are {allowed}.")
    try:
        if ending in _TEXT:
            frame = pl.read_csv(path, separator=_TEXT[ending], infer_schema_length=None)
            frame = _with_header(path, frame, _TEXT[ending])
        elif ending == ".parquet":
            frame = pl.read_parquet(path)
        else:
            frame = pl.read_ipc(path)
    except (pl.exceptions.PolarsError, OSError, UnicodeError, csv.Error) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BadUseError(f"{path.name} cannot be read as {ending[1:]}: {first}") from error
    if not frame.height:
        raise BadUseError(f"{path.name} has no rows.")
    if frame.width == 1 and ending in _TEXT and any(c in frame.columns[0] for c in ";\t|,"):
        raise BadUseError(
            f"{path.name} seems to have another delimiter: its only column is "
            f"{frame.columns[0]!r}. A .csv file is read with commas, a .tsv file with tabs."
        )
    return frame


def _with_header(path: Path, frame: pl.DataFrame, separator: str) -> pl.DataFrame:
    """The frame with the names as the file has them: polars changes quotes and repeated names."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=separator), [])
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise BadUseError(f"{path.name} has several columns named {twice[0]!r}; names must differ.")
    if len(header) == frame.width:
        frame.columns = header
    return frame


def read_packed(
    path: Path, target: str | None, labels: list[str], identifiers: bool
) -> tuple[PackedTable, Any]:
    """The columns to learn from, packed block by block, and the target."""
    source = open_source(path)
    wanted = _target_names(source.names, target, labels)
    y = _target_of(source.read(source.find(wanted)), target)
    columns = [name for name in source.names if name not in wanted]
    return pack(source, columns=columns, identifiers=identifiers), y


def split_target(
    frame: pl.DataFrame, target: str | None, labels: list[str]
) -> tuple[pl.DataFrame, Any]:
    """The columns to learn from, and the target: one column, or several of 0 and 1."""
    wanted = _target_names(frame.columns, target, labels)
    return frame.drop(wanted), _target_of(frame.select(wanted), target)


def _target_names(columns: list[str], target: str | None, labels: list[str]) -> list[str]:
    """The columns of the target; there must be others."""
    if (target is None) == (not labels):
        raise BadUseError("give --target COLUMN for classes, or --labels A,B,... for labels.")
    wanted = [target] if target is not None else labels
    for name in wanted:
        if name not in columns:
            raise BadUseError(f"there is no column {name!r}; the columns are {_some(columns)}.")
    if not set(columns) - set(wanted):
        raise BadUseError("there is no column left to learn from.")
    return wanted


def _target_of(frame: pl.DataFrame, target: str | None) -> Any:
    """Classes, none of them missing; or the frame of labels."""
    if target is None:
        return frame
    if frame[target].null_count():
        raise BadUseError(
            f"the target {target!r} is missing in {frame[target].null_count()} row(s); drop them."
        )
    if frame[target].n_unique() < 2:
        raise BadUseError(f"the target {target!r} has one value only; nothing can be told apart.")
    return frame[target].to_numpy()


def select_table(X: Any, y: Any, out: Path, **options: Any) -> NaiveBayesSelector:
    """Select, and write model.json, selected.csv and path.csv."""
    selector = NaiveBayesSelector(**options).fit(X, y)
    out.mkdir(parents=True, exist_ok=True)
    save_model(selector, out / "model.json")
    names = list(X.columns)
    _write_rows(
        out / "selected.csv", ["rank", "feature"],
        [[i + 1, names[j]] for i, j in enumerate(selector.selected_)],
    )  # fmt: skip
    path = selector.path_.to_dict()
    _write_rows(out / "path.csv", list(path), zip(*path.values(), strict=True))
    return selector


def predict_table(model_file: Path, frame: pl.DataFrame) -> pl.DataFrame:
    """The predictions of a model file for a table: class (or labels) and probabilities."""
    model = load_model(model_file)
    X = _columns_of(model, frame)
    proba = model.predict_proba(X)
    if model._parts:
        names = model.label_names_
        predicted = model.predict(X)
        columns = {f"{n}": predicted[:, j] for j, n in enumerate(names)}
        return pl.DataFrame({**columns, **{f"P({n})": proba[:, j] for j, n in enumerate(names)}})
    columns = {"prediction": model.predict(X)}
    return pl.DataFrame(
        {**columns, **{f"P({c})": proba[:, k] for k, c in enumerate(model.classes_)}}
    )


def explain_rows(model_file: Path, frame: pl.DataFrame, rows: list[int]) -> list[Any]:
    """Explanations of some rows of a table."""
    model = load_model(model_file)
    for row in rows:
        if not 0 <= row < frame.height:
            raise BadUseError(f"there is no row {row}; the table has rows 0 to {frame.height - 1}.")
    X = _columns_of(model, frame[rows])
    found = explain(model, X)
    per_row = len(found) // len(rows)
    return [(rows[i // per_row], each) for i, each in enumerate(found)]


def rank_table_file(X: pl.DataFrame, y: Any, method: str) -> list[tuple[str, float]]:
    """Columns and scores, best first."""
    found = rank(X, y, method)
    return [(X.columns[j], float(found.scores[j])) for j in found.order]


def _columns_of(model: Any, frame: pl.DataFrame) -> pl.DataFrame:
    names = [spec.name for spec in model._specs]
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise BadUseError(
            f"the table lacks {len(missing)} of the model's columns, such as {missing[0]!r}; it "
            f"has {_some(frame.columns)}."
        )
    return frame.select(names)


def _write_rows(path: Path, header: list[str], rows: Any) -> None:
    """A CSV file in one go."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(
                ["" if isinstance(v, float) and np.isnan(v) else v for v in row] for row in rows
            )
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _some(names: list[str], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


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
