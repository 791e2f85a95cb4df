"""What the verbs of the command line do: select, predict, explain, report; and what they print."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, NotRequired, TypedDict, cast

import numpy as np
import polars as pl
import scipy.sparse
from numpy.typing import ArrayLike

from ..checks import Array
from ..criteria import CRITERIA
from ..criteria.auc import AUC
from ..criteria.base import read_as
from ..data.files.atomic import write_text
from ..data.files.base import BadUseError, check_width, some
from ..data.files.batches import Column, read_batches
from ..data.files.formats import format_of
from ..data.files.output import check_folder, check_new, whole_folder
from ..data.tables import RawTable
from ..estimators.base import procedure_of
from ..estimators.deploy import deploy, rows_of, stands_for
from ..estimators.naive_bayes import NaiveBayes
from ..estimators.selector import NaiveBayesSelector
from ..estimators.signals import SignalPipeline
from ..estimators.weighted import WeightedNaiveBayes
from ..evaluation._typing import Model
from ..evaluation.drift import Drift, drift
from ..explain.evidence import Explanation, explain
from ..explain.modelfile.file import load_model, save_model
from ..explain.plain import Plain, jsonable
from ..explain.report import make_report
from ..models.columns import warn_of_unknown
from ..rankings.families import count_others
from ..rankings.rank import rank
from .tables import (
    Problem,
    check_place,
    groups_of,
    later_part,
    numbers_with_texts,
    read_class_weight,
    read_priors,
    read_problem,
)

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
    return [" x ".join(names[j] for j in term["columns"]) for term in chooser.terms_]


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
            "leave_one_out_log_loss": path.steps[path.chosen].score,
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


# -- What the command line does with a table in a file ---------------------------------------------


__all__ = [
    "BadUseError",
    "as_json",
    "check_place",
    "groups_of",
    "in_words",
    "later_part",
    "numbers_with_texts",
    "read_class_weight",
    "read_priors",
    "read_problem",
    "summary",
]


# Positive (or negative) rows below which a label is told to be rare.
_RARE = 10


# Bootstrap samples of a report, and cells of a table from which on there are none unless asked for.
_RESAMPLES, _MOST_CELLS = 20, 2_000_000


def check_resume(checkpoint: Path | None, resume: bool) -> None:
    """A checkpoint is written over by nobody: an old one is gone on from, if that is asked for."""
    if resume and checkpoint is None:
        raise BadUseError("--resume needs --checkpoint FILE, the file to go on from.")
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise BadUseError(
            f"--checkpoint: {str(checkpoint)!r} exists; add --resume to go on from it, or name "
            "another file."
        )
    if checkpoint is not None and not checkpoint.absolute().parent.is_dir():
        raise BadUseError(
            f"--checkpoint: the folder {str(checkpoint.parent)!r} does not exist; make it first."
        )


def criterion_for(name: str, problem: Problem) -> str | AUC:
    """The criterion; AUC leaves out labels without a positive row, which `rare_labels` told."""
    known = CRITERIA.get(name)
    if isinstance(known, AUC) and has_labels(problem):
        return AUC(known.penalty, undefined="skip")
    return name


def rare_labels(problem: Problem) -> Iterator[str]:
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


class Pages(NamedTuple):
    """What the report of a selection is to hold."""

    title: str
    include_rows: bool = False
    n_resamples: int | None = None  #: None: a few, unless the table is large
    left_out: Mapping[str, str] = MappingProxyType({})
    groups: Array | None = None  #: of the rows: resamples are drawn by group
    priors: str | dict[str, float] | None = None  #: of the place where the model will be used
    remark: Callable[[str], None] | None = None  #: told how far the work is


class SharedOptions(TypedDict):
    """Parameters of both estimators that the command line offers."""

    class_weight: str | dict[object, float] | None
    random_state: int
    n_jobs: int | None
    progress: bool
    checkpoint: Path | None
    time_limit: float | None
    families: str | None
    preset: str | None
    engine: str | None  #: who keeps the rows of a table in memory
    keep: NotRequired[Sequence[str]]
    forbid: NotRequired[Sequence[str]]


class SearchOptions(TypedDict):
    """Parameters of searches that the command line offers."""

    search: str
    criterion: str | None
    cv: int | str
    choice: str
    n_features: int | None
    min_features: int | None
    max_features: int | None


# What an option of searches is where nobody asks for anything.
_UNASKED = (None, "auto")


def make_chooser(
    estimator: str,
    features: str,
    validation: object,
    shared: SharedOptions,
    searching: SearchOptions,
    problem: Problem,
) -> Chooser:
    """What chooses: terms with weights, or a search of columns where anything asks for one.

    Parameters
    ----------
    estimator : "auto", "weighted" or "selector".
    features : feature model of the columns.
    validation : rows that choose.
    shared, searching : options.
    problem : whose labels ask for a search.
    """
    asked = [name for name, value in searching.items() if value not in _UNASKED]
    if estimator == "auto":
        estimator = "selector" if asked or has_labels(problem) else "weighted"
    if estimator == "weighted":
        if asked:
            raise BadUseError(
                f"--{asked[0].replace('_', '-')} is an option of searches; leave it out, or use "
                "--estimator selector."
            )
        held = None if isinstance(validation, str) else validation
        return WeightedNaiveBayes(features=features, validation=held, **shared)
    criterion = searching["criterion"]
    if criterion is None:
        criterion = "auc" if has_labels(problem) else "probability"
    least = searching["min_features"]
    return NaiveBayesSelector(
        estimator=NaiveBayes(features=features),
        search=searching["search"],
        criterion=criterion_for(criterion, problem),
        cv=searching["cv"],
        choice=searching["choice"],
        validation=validation,
        n_features=searching["n_features"],
        min_features=1 if least is None else least,
        max_features=searching["max_features"],
        **shared,
    )


def resamples_for(shape: tuple[int, ...], asked: int | None) -> int:
    """Bootstrap samples: those asked for, or a few, unless the table is large."""
    if asked is not None:
        return asked
    return _RESAMPLES if shape[0] * shape[1] <= _MOST_CELLS else 0


def select_table(
    chooser: Chooser,
    problem: Problem,
    out: Path,
    pages: Pages,
    *,
    safe_csv: bool = False,
    remark: Callable[[str], None] | None = None,
) -> None:
    """Select, and write model.json, selected.csv, path.csv and report.html.

    Parameters
    ----------
    chooser : what selects.
    problem : from what.
    out : folder to write to.
    pages : what the report is to hold.
    safe_csv : no text that a spreadsheet takes for a formula.
    remark : told how far the work is, until the last file is written.
    """
    check_width(len(problem.names))
    check_place(pages.priors, problem.y)
    chooser.fit(problem.X, problem.y, groups=pages.groups)
    chooser.set_params(engine=None)  # what the report asks for is as good without a GPU
    selector = chooser if pages.priors is None else deploy(chooser, pages.priors)
    if scipy.sparse.issparse(problem.X):
        procedure_of(selector).rename(list(problem.names))  # a matrix has none
    page = make_report(
        selector,
        problem.X,
        problem.y,
        title=pages.title,
        include_rows=pages.include_rows,
        n_resamples=resamples_for(problem.X.shape, pages.n_resamples),
        left_out=dict(pages.left_out),
        groups=pages.groups,
        n_jobs=chooser.n_jobs,
        remark=remark,
    )
    if remark is not None:
        remark(f"writing {out}")
    chosen = {"feature": chosen_names(chooser, problem.names)}
    write_result(out, selector, chosen, selector.path_.to_dict(), page, safe_csv)


def report_on_model(
    model_file: Path, data: Path, problem: Problem, pages: Pages, target: str | None
) -> str:
    """The report of a finished model on a table, read as `predict` reads it."""
    model, X, y = open_on_table(model_file, data, problem, target)
    return make_report(
        model, X, y, title=pages.title, include_rows=pages.include_rows, remark=pages.remark
    )


def drift_of_file(model_file: Path, data: Path, alpha: float) -> Drift:
    """Which columns of a file moved away from a model's training."""
    model, columns = open_model(model_file)
    X = _all_rows(data, columns)
    _fit_names(model, X)
    return drift(model, X, alpha=alpha)


def _all_rows(data: Path, columns: list[Column]) -> pl.DataFrame | scipy.sparse.sparray:
    """The rows of a file, with these columns only."""
    parts = list(read_batches(data, columns))
    frames = isinstance(parts[0], pl.DataFrame)
    return pl.concat(parts) if frames else scipy.sparse.vstack(parts, format="csr")


def open_on_table(
    model_file: Path, data: Path, problem: Problem, target: str | None
) -> tuple[NaiveBayes, pl.DataFrame | scipy.sparse.sparray, ArrayLike]:
    """A model, the columns of a table that it reads, and the target in the model's kind."""
    model, columns = open_model(model_file)
    y = problem.y
    labels = list(model.fitted_.labels)
    given = y.columns if isinstance(y, pl.DataFrame) else None
    if given != (labels or None):
        wanted = f"labels {some(labels)}" if labels else "classes"
        raise BadUseError(f"the model tells {wanted}; name the same with --target or --labels.")
    if not labels:
        y = _in_the_model_s_kind(model, data, y, target)
        check_known(model, y)
    X = _all_rows(data, columns)
    _fit_names(model, X)
    return model, X, y


def check_known(model: NaiveBayes, y: Array) -> None:
    """Does a model know the classes?"""
    odd = sorted(set(y.tolist()) - set(model.classes_.tolist()), key=str)
    if odd:
        known = some([str(c) for c in model.classes_])
        raise BadUseError(f"the target has the class {odd[0]!r}; the model knows {known}.")


def _in_the_model_s_kind(model: NaiveBayes, data: Path, y: ArrayLike, target: str | None) -> Array:
    """Classes as text where the model's are: a file with numbers only reads 01 as 1."""
    y = np.asarray(y)
    if model.classes_.dtype.kind not in "OU" or y.dtype.kind in "OU":
        return y
    if target is not None and format_of(data).separator is not None:
        parts = list(read_batches(data, [Column(target, True)]))
        return pl.concat(parts)[target].to_numpy()
    return y.astype(str)


def open_file(path: Path) -> NaiveBayes | SignalPipeline:
    """A model of tables, or of series."""
    if not path.is_file():
        raise BadUseError(f"the model file {str(path)!r} does not exist (or is not a file).")
    try:
        return load_model(path)
    except UnicodeError as error:
        raise BadUseError(f"{path} is not a model file: it is not text.") from error


def open_model(path: Path) -> tuple[NaiveBayes, list[Column]]:
    """A model of tables, and the columns it reads."""
    model = open_file(path)
    if isinstance(model, SignalPipeline):
        raise BadUseError(f"the model in {str(path)!r} reads series, and no table.")
    columns = [
        Column(spec.name, spec.levels is not None and spec.levels.dtype == object)
        for spec in model.fitted_.specs
    ]
    return model, columns


def _fit_names(model: NaiveBayes, X: pl.DataFrame | scipy.sparse.sparray) -> None:
    """The columns were matched by name: the model expects names where there are some."""
    if isinstance(X, pl.DataFrame):
        model.feature_names_in_ = np.array(X.columns, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def predict_file(
    model_file: Path,
    data: Path,
    most_rows: int = 2**16,
    priors: str | dict[str, float] | None = None,
) -> Iterator[str]:
    """The predictions for a file as CSV, a batch of rows at a time, the header with the first."""
    model, columns = open_model(model_file)
    model = model if priors is None else deploy(model, priors)
    for i, X in enumerate(read_batches(data, columns, most_rows)):
        _fit_names(model, X)
        yield predicted(model, X).write_csv(include_header=i == 0)


def predicted(model: NaiveBayes, X: pl.DataFrame | scipy.sparse.sparray | RawTable) -> pl.DataFrame:
    """Class (or labels) and probabilities of every row."""
    rows = rows_of(model, X)
    warn_of_unknown(model.fitted_.specs, rows)
    found, proba = model.fitted_.best_and_proba(rows)
    if any(problem.rule is not None for problem in model.fitted_.problems):
        found = model.fitted_.decided(rows)  # objects, where a person may be asked: lists below
    if model.fitted_.labelled:
        names = list(model.fitted_.labels)
        columns = {f"{n}": found[:, j].tolist() for j, n in enumerate(names)}
    else:
        names = list(model.classes_)
        columns = {"prediction": found.tolist() if found.dtype == object else found}
    return pl.DataFrame({**columns, **{f"P({n})": proba[:, k] for k, n in enumerate(names)}})


def explain_rows(model_file: Path, data: Path, rows: list[int]) -> list[tuple[int, Explanation]]:
    """Explanations of some rows of a file, in the order asked for."""
    model, columns = open_model(model_file)
    found: dict[int, list[Explanation]] = {}
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
    check_width(len(problem.names))
    found = rank(problem.X, problem.y, method)
    return [(problem.names[j], float(found.scores[j])) for j in found.order]


def has_labels(problem: Problem) -> bool:
    """Labels, or classes?"""
    return isinstance(problem.y, pl.DataFrame)
