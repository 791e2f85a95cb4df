"""What a selection leaves behind: files, and words."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from ..criteria.words import read_as
from ..data.files.atomic import write_text
from ..data.files.output import check_folder, check_new, whole_folder
from ..estimators.held import stands_for
from ..estimators.selector import NaiveBayesSelector
from ..estimators.signals import SignalPipeline
from ..estimators.weighted import WeightedNaiveBayes
from ..evaluation.given import Model
from ..explain.modelfile.file import save_model
from ..explain.plain import Plain, jsonable
from ..rankings.families import count_others

#: What chooses columns or terms.
Chooser = NaiveBayesSelector | WeightedNaiveBayes


# What a spreadsheet takes for the beginning of a formula, or skips before one.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


#: The files of a result.
RESULT = ("model.json", "selected.csv", "path.csv", "report.html")


# Names of columns shown to people.
_SHOWN = 20


def write_result(
    out: Path,
    model: Model | SignalPipeline,
    chosen: dict[str, list[str]],
    path: dict[str, list[object]],
    page: str | None,
    safe_csv: bool = False,
) -> None:
    """model.json, selected.csv, path.csv and report.html, together or not at all.

    Parameters
    ----------
    out : the folder.
    model : what chose, fitted.
    chosen : what it chose, in order: columns of selected.csv beside the rank.
    path : every state passed, by column.
    page : the report; None: none.
    safe_csv : no text that a spreadsheet takes for a formula.
    """
    with whole_folder(out) as folder:
        save_model(model, folder / "model.json")
        rows = [[i + 1, *row] for i, row in enumerate(zip(*chosen.values(), strict=True))]
        write_rows(folder / "selected.csv", ["rank", *chosen], rows, safe_csv)
        write_rows(folder / "path.csv", list(path), zip(*path.values(), strict=True), safe_csv)
        if page is not None:
            write_text(folder / "report.html", page)


def check_result(out: Path, force: bool) -> None:
    """Can a result be written there, and is there none yet?  Asked before any work."""
    check_folder(out)
    check_new([out / name for name in RESULT], force)


def chosen_names(chooser: Chooser, names: Sequence[str]) -> list[str]:
    """Columns, or terms, in the order in which they were chosen."""
    if isinstance(chooser, NaiveBayesSelector):
        return [names[j] for j in chooser.selected_]
    return [" x ".join(names[j] for j in term) for term in chooser.selected_]


def write_rows(path: Path, header: list[str], rows: Iterable[Iterable[object]], safe: bool) -> None:
    """A CSV file; a `safe` one holds no text that a spreadsheet takes for a formula."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows([_cell(value, safe) for value in row] for row in rows)
    write_text(path, text.getvalue())


def _cell(value: object, safe: bool) -> object:
    if isinstance(value, float) and np.isnan(value):
        return ""
    if safe and isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return value


def as_json(value: object) -> str:
    """Plain data as JSON; what is not finite as null."""
    return json.dumps(jsonable(value), indent=2)


def summary(chooser: Chooser, names: Sequence[str], out: Path) -> dict[str, Plain]:
    """What was chosen, as plain data."""
    others = stands_for(chooser)
    found: dict[str, Plain] = {
        "selected": cast(Plain, chosen_names(chooser, names)),
        **({"stands_for": cast(Plain, others)} if chooser.families_ is not None else {}),
    }
    if isinstance(chooser, NaiveBayesSelector):
        step = chooser.path_.steps[chooser.path_.chosen]
        found |= {
            "criterion": chooser.path_.criterion,
            "score": step.score,
            chooser.path_.validation_name: step.validation_error,
            "subsets_tried": chooser.n_tried_,
            "proof": None if chooser.proof_ is None else str(chooser.proof_),
        }
    else:
        path = chooser.path_
        found |= {
            "n_columns": int(chooser.support_.sum()),
            "leave_one_out_log_loss": path.steps[path.chosen].loss,
        }
    return found | {"folder": str(out)}


def in_words(result: dict[str, Plain], n_columns: int) -> str:
    """The summary for people."""
    names = cast(list[str], result["selected"])
    others = cast(dict[str, list[str]], result.get("stands_for", {}))
    shown = ", ".join(names[:_SHOWN])
    if len(names) > _SHOWN:
        shown += f" and {len(names) - _SHOWN} more (selected.csv has all)"
    of = f"of {n_columns} column{'s' * (n_columns != 1)}"
    if "criterion" in result:
        first = f"{len(names)} {of}: {shown or 'nothing tells the classes apart'}"
        name = next(key for key in result if key.startswith("validation"))
        validated = cast(float, result[name])
        told = "" if np.isnan(validated) else f", {name.replace('_', ' ')} {validated:.4f}"
        last = f"{read_as(str(result['criterion']))} {result['score']:.4f}{told}"
    else:
        terms = f"{len(names)} term{'s' * (len(names) != 1)}"
        read = of[3:] if result["n_columns"] == n_columns else f"{result['n_columns']} {of}"
        first = f"{terms} from {read}: {shown or 'nothing tells the classes apart'}"
        last = f"log-loss of rows left out {result['leave_one_out_log_loss']:.4f}"
    told_of = "".join(f"{name} stands for {count_others(others[name])}\n" for name in others)
    return f"{first}\n{told_of}{last}; written to {result['folder']}\n"
