"""The verbs about tables and their models: look, select, card, rank, predict, explain, datasets."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import polars as pl
import scipy.sparse
from numpy.typing import ArrayLike

from ..checks import Array, BadUseError, Bools, Foreign, check_there, some
from ..criteria import CRITERIA
from ..criteria.auc import AUC
from ..criteria.base import read_as
from ..data.files.base import check_width
from ..data.files.formats import Column, format_of, read_batches, read_data
from ..data.files.output import (
    output_file,
    output_folder,
    output_text,
    write_text,
)
from ..data.look import look as look_at_table
from ..data.result import Plain, jsonable
from ..data.tables import RawTable
from ..datasets.loading import BUNDLED, REGISTRY
from ..estimators.base import procedure_of
from ..estimators.card import ScoreCard
from ..estimators.card_parts import Card
from ..estimators.naive_bayes import NaiveBayes, deploy, rows_of, stands_for
from ..estimators.selector import NaiveBayesSelector
from ..estimators.signals import SignalPipeline
from ..estimators.weighted import WeightedNaiveBayes
from ..evaluation._typing import Model
from ..explain.card import judged
from ..explain.evidence import Explanation
from ..explain.evidence import explain as explain_table
from ..explain.modelfile.file import load_model, save_model
from ..explain.report import make_report
from ..explain.report.page import explanations_page
from ..models.columns import warn_of_unknown
from ..models.fitted import ASK
from ..rankings.families import count_others
from ..rankings.rank import rank as rank_table
from .options import Settings, say, tell
from .tables import (
    LabelledTable,
    Rows,
    check_place,
    has_labels,
    later_part,
    numbers_with_texts,
    rare_labels,
    read_class_weight,
    read_monotone,
    read_priors,
    read_problem,
    read_rows,
    take_out,
)

#: What chooses columns or terms.
Chooser = NaiveBayesSelector | WeightedNaiveBayes

# What a spreadsheet takes for the beginning of a formula, or skips before one.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

# Names of columns shown to people; classes whose rows are counted for them.
_SHOWN, _FEW_CLASSES = 20, 8

# Share of the rows that validate where a time says which.
_LATER = 0.3

# Halves of the rows for a report, and cells of a table from which on none are drawn unasked.
_RESAMPLES, _MOST_CELLS = 20, 2_000_000


# -- select: choose columns, and write the model down ----------------------------------------------


def select(tables: list[Path], settings: Settings) -> None:
    """Select columns, and write model, report and path."""
    # One table in the memory of this process needs no engine.
    usual = (len(tables), settings.engine, settings.scheduler) == (1, "threads", None)
    if usual:
        found: Foreign = nullcontext(read_rows(tables[0], settings))
    else:
        from .engines import open_rows

        found = open_rows(tables, settings)
    with found as rows:
        chosen = select_rows(prepare(rows, settings), rows, settings, tables[0].name)
    result, n_columns = summary(chosen, cast(Path, settings.out)), len(rows.problem.names)
    tell_result(settings, lambda: result, lambda: in_words(result, n_columns))


def prepare(rows: Rows, settings: Settings) -> Chooser:
    """Make the estimator that the settings ask for, and tell what is odd about the rows."""
    problem, share = rows.problem, settings.validation
    remarks = [
        f"column {name!r} names every row: left out (--identifiers keeps it)"
        for name in rows.dropped
    ]
    if rows.here:
        remarks += [*numbers_with_texts(problem), *rare_labels(problem)]
    for line in [] if settings.quiet else remarks:
        tell(line)
    held: object = "auto" if share is None else share or None
    if settings.time is not None:
        held = later_part(problem.aside[settings.time], _LATER if share is None else share)
    return make_chooser(settings, problem, held, rows.engine)


def make_chooser(
    settings: Settings, problem: LabelledTable, validation: object = "auto", engine: object = None
) -> Chooser:
    """Make an estimator: weighted terms, or a search of columns where anything asks for one."""
    labelled, flag, kind = has_labels(problem), settings.asks_for_search, settings.estimator
    if kind == "auto":
        kind = "selector" if flag or labelled else "weighted"
    of_terms = settings.asks_for_terms
    if kind == "selector" and of_terms:
        why = flag or ("--labels" if labelled else "--estimator selector")
        raise BadUseError(
            f"{of_terms} is for weighted terms, and {why} asks for a search of columns; leave one "
            "of them out."
        )
    shared: dict[str, Foreign] = {
        "class_weight": read_class_weight(settings.class_weight, problem),
        "random_state": settings.seed,
        "n_jobs": settings.jobs,
        "progress": settings.progress,
        "checkpoint": settings.checkpoint,
        "time_limit": settings.time_limit,
        "families": "auto" if settings.families else None,
        "preset": settings.preset,
        "engine": engine,
        "keep": settings.keep or (),
        "forbid": settings.forbid or (),
    }
    if kind == "weighted":
        if flag:
            raise BadUseError(
                f"{flag} is an option of searches; leave it out, or use --estimator selector."
            )
        held = None if isinstance(validation, str) else validation
        return WeightedNaiveBayes(
            features=settings.features,
            validation=held,
            monotone=read_monotone(settings.monotone),
            pairs=False if settings.no_pairs else "auto",
            **shared,
        )
    criterion = settings.criterion or ("auc" if labelled else "probability")
    area = CRITERIA.get(criterion) if labelled else None
    # AUC skips labels without a positive row, of which `rare_labels` warns.
    least = settings.min_features
    return NaiveBayesSelector(
        estimator=NaiveBayes(features=settings.features),
        search=settings.search,
        criterion=AUC(area.penalty, undefined="skip") if isinstance(area, AUC) else criterion,
        cv=int(settings.cv) if settings.cv.isdigit() else settings.cv,
        choice=settings.choice,
        validation=validation,
        n_features=settings.n_features,
        min_features=1 if least is None else least,
        max_features=settings.max_features,
        **shared,
    )


def resamples_for(shape: tuple[int, ...], asked: int | None) -> int:
    """Number of resamples: as given, else a few, none for a large table."""
    if asked is not None:
        return asked
    return _RESAMPLES if shape[0] * shape[1] <= _MOST_CELLS else 0


def select_rows(chooser: Chooser, rows: Rows, settings: Settings, name: str) -> Chooser:
    """Select, and write model.json, selected.csv, path.csv and, of rows at hand, report.html."""
    problem, place = rows.problem, read_priors(settings.priors)
    remark = tell if settings.progress else lambda line: None
    check_width(len(problem.names))
    if rows.here:
        check_place(place, problem.y)
    chooser.fit(rows.X, rows.y, groups=rows.groups)
    chooser.set_params(engine=None)  # what follows is as good without
    selector = chooser if place is None else deploy(chooser, place)
    page = None
    if rows.here:
        if scipy.sparse.issparse(problem.X):
            procedure_of(selector).rename(list(problem.names))
        page = make_report(
            selector,
            problem.X,
            problem.y,
            title=settings.title or f"Selection from {name}",
            include_rows=settings.include_rows,
            n_resamples=resamples_for(problem.X.shape, settings.resamples),
            left_out=dict.fromkeys(rows.dropped, "left out before the search: it names every row"),
            groups=rows.groups,
            n_jobs=chooser.n_jobs,
            remark=remark,
            progress=settings.progress,
        )
    out = cast(Path, settings.out)
    remark(f"writing {out}")
    chosen = {"feature": procedure_of(selector).term_names}
    write_result(out, selector, chosen, selector.path_.to_dict(), page, settings.safe_csv)
    if not rows.here:
        from .engines import no_report

        remark(no_report(settings))
    return selector


# -- What a selection writes and says --------------------------------------------------------------


def write_result(
    out: Path,
    model: Model | SignalPipeline,
    chosen: dict[str, list[str]],
    path: dict[str, list[object]],
    page: str | None,
    safe_csv: bool = False,
) -> None:
    """model.json, selected.csv, path.csv and report.html, together or not at all.

    `chosen` are the columns of selected.csv beside the rank, `path` those of path.csv; `safe_csv`
    lets no text be taken for a formula by a spreadsheet.
    """
    with output_folder(out) as folder:
        save_model(model, folder / "model.json")
        rows = [[i + 1, *row] for i, row in enumerate(zip(*chosen.values(), strict=True))]
        write_rows(folder / "selected.csv", ["rank", *chosen], rows, safe_csv)
        write_rows(folder / "path.csv", list(path), zip(*path.values(), strict=True), safe_csv)
        if page is not None:
            write_text(folder / "report.html", page)


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


def summary(chooser: Chooser, out: Path) -> dict[str, Plain]:
    """The columns (or terms) chosen and their figures, as plain data."""
    about = procedure_of(chooser)
    found: dict[str, object] = {"selected": about.term_names}
    if chooser.families_ is not None:
        found["stands_for"] = stands_for(chooser)
    return cast("dict[str, Plain]", found | about.summary() | {"folder": str(out)})


def in_words(result: dict[str, Plain], n_columns: int) -> str:
    """The summary for people."""
    names = cast(list[str], result["selected"])
    others = cast(dict[str, list[str]], result.get("stands_for", {}))
    shown = ", ".join(names[:_SHOWN])
    if len(names) > _SHOWN:
        shown += f" and {len(names) - _SHOWN} more (selected.csv has all)"
    of = f"of {n_columns} column{'s' * (n_columns != 1)}"
    if "criterion" in result:
        first = f"{len(names)} {of}: {shown or 'nothing separates the classes'}"
        name = next(key for key in result if key.startswith("validation"))
        validated = cast(float, result[name])
        told = "" if np.isnan(validated) else f", {name.replace('_', ' ')} {validated:.4f}"
        last = f"{read_as(str(result['criterion']))} {result['score']:.4f}{told}"
    else:
        terms = f"{len(names)} term{'s' * (len(names) != 1)}"
        read = of[3:] if result["n_columns"] == n_columns else f"{result['n_columns']} {of}"
        first = f"{terms} from {read}: {shown or 'nothing separates the classes'}"
        last = f"leave-one-out log-loss {result['leave_one_out_log_loss']:.4f}"
    told_of = "".join(f"{name} stands for {count_others(others[name])}\n" for name in others)
    return f"{first}\n{told_of}{last}; written to {result['folder']}\n"


def tell_result(settings: Settings, data: Callable[[], object], words: Callable[[], str]) -> None:
    """Say what was found: as JSON, in words, or not at all."""
    if settings.as_json:
        say(as_json(data()) + "\n")
    elif not settings.quiet:
        say(words())


# -- rank, predict, explain and datasets -----------------------------------------------------------


def look(data: Path, settings: Settings) -> None:
    """Look at a table as it is in its file."""
    content = read_data(data)
    if content.sparse:
        raise BadUseError(f"look reads tables of cells; {data} is a sparse matrix.")
    y = content.target
    if settings.target is not None:
        content, taken = take_out(content, [settings.target])
        series = taken[settings.target]
        plain = series if series.dtype.is_numeric() else series.cast(pl.String).fill_null("")
        y = plain.to_numpy()
    found = look_at_table(content.X, None if y is None or np.ndim(y) > 1 else y)
    tell_result(settings, found.to_dict, lambda: found.to_text() + "\n")


def rank(data: Path, settings: Settings, method: str) -> None:
    """Rank the columns of a table."""
    problem, _ = read_problem(data, settings.target, settings.label_names, identifiers=True)
    for line in numbers_with_texts(problem):
        tell(line)
    found = rank_problem(problem, method)
    tell_result(
        settings,
        lambda: [{"feature": name, "score": score} for name, score in found],
        lambda: "".join(f"{i + 1:5d}  {s:10.6g}  {n}\n" for i, (n, s) in enumerate(found)),
    )


def rank_problem(problem: LabelledTable, method: str) -> list[tuple[str, float]]:
    """Columns and scores, best first."""
    check_width(len(problem.names))
    found = rank_table(problem.X, problem.y, method)
    return [(problem.names[j], float(found.scores[j])) for j in found.order]


def predict(
    model: Path,
    data: Path,
    settings: Settings,
    out: Path | None,
    batch: int,
    scores: list[Path] | None,
) -> None:
    """Predict every row of a table, or every series."""
    from . import learning

    place = read_priors(settings.priors)
    found, tally = learning.open_series(model, scores), Counted()
    if found is None:
        parts = predict_file(model, data, batch, place, tally)
    else:
        parts = learning.predict_series(found, data, batch, place, tally)
    if out is None:
        for part in parts:
            say(part)
        if not settings.quiet:
            tell(tally.sentence())  # the predictions alone go to standard output
        return
    with output_file(out) as file:
        for part in parts:
            file.write(part.encode())
    if not settings.quiet:
        say(f"{tally.sentence()}; written to {out}\n")


def explain(
    model: Path,
    data: Path,
    settings: Settings,
    rows: list[int],
    html: Path | None,
    scores: list[Path] | None,
) -> None:
    """Explain the decision on single rows, as text or as a page."""
    from . import learning

    pipeline = learning.open_series(model, scores)
    if pipeline is not None:
        decided = learning.explain_series(pipeline, data, rows)
        title = f"Decisions on series of {data.name}"
        if html is not None:
            output_text(html, learning.decisions_page(pipeline, decided, title))
            return
        tell_result(
            settings,
            lambda: [learning.decision_data(pipeline, each) for each in decided],
            lambda: "".join(f"{learning.in_lines(pipeline, each)}\n" for each in decided),
        )
        return
    found = explain_rows(model, data, rows)
    if html is not None:
        output_text(html, explanations_page(found, f"Decisions on rows of {data.name}"))
        return
    tell_result(
        settings,
        lambda: [{**each.to_dict(), "row": i} for i, each in found],
        lambda: "".join(f"row {i}: {e.to_text().split(': ', 1)[1]}\n\n" for i, e in found),
    )


def predict_file(
    model_file: Path,
    data: Path,
    most_rows: int = 2**16,
    priors: str | dict[str, float] | None = None,
    tally: "Counted | None" = None,
) -> Iterator[str]:
    """The predictions for a file as CSV, a batch of rows at a time, the header with the first."""
    model, columns = open_model(model_file)
    model = model if priors is None else deploy(model, priors)
    for i, X in enumerate(read_batches(data, columns, most_rows)):
        _fit_names(model, X)
        yield predicted(model, X, tally).write_csv(include_header=i == 0)


class Counted:
    """How many rows were given to each class (or label), and how many to a person."""

    def __init__(self) -> None:
        self.rows = self.asked = 0
        self.labelled = False
        self.counts: Counter[str] = Counter()

    def hear(self, answers: dict[str, list[object]], asked: Bools, labelled: bool) -> None:
        """Count some rows."""
        self.rows, self.labelled = self.rows + len(asked), labelled
        self.asked += int(asked.sum())
        for name, column in answers.items():
            if labelled:
                self.counts[name] += sum(value == 1 for value in column)
            else:
                self.counts.update(str(value) for value in column if value is not None)

    def sentence(self) -> str:
        """The counts, the largest first.

        Examples
        --------
        >>> tally = Counted()
        >>> tally.hear({"prediction": ["ill", None, "ill"]}, np.array([False, True, False]), False)
        >>> tally.sentence()
        '2 ill, 1 for a person'
        """
        known = [(name, n) for name, n in self.counts.most_common() if n]
        numbers = any(name.lstrip("-").replace(".", "", 1).isdigit() for name, _ in known)
        of = " of class " if numbers and not self.labelled else " "
        told = [f"{n}{of}{name}" for name, n in known[:_FEW_CLASSES]]
        others = known[_FEW_CLASSES:]
        if others:
            told.append(f"{sum(n for _, n in others)} of {len(others)} others")
        person = [f"{self.asked} for a person"] * bool(self.asked)
        if not self.labelled:
            return ", ".join(told + person)
        rows = f"{self.rows} row{'s' * (self.rows != 1)}"
        return ", ".join([f"{rows}: {', '.join(told) or 'no label'}", *person])


def predicted(
    model: NaiveBayes,
    X: pl.DataFrame | scipy.sparse.sparray | RawTable,
    tally: Counted | None = None,
) -> pl.DataFrame:
    """Class (or labels) and probabilities of every row; whether a rule asks a person."""
    rows = rows_of(model, X)
    warn_of_unknown(model.fitted_.specs, rows)
    found, proba = model.fitted_.best_and_proba(rows)
    rules = [problem.rule for problem in model.fitted_.problems]
    if any(rule is not None for rule in rules):
        found = model.fitted_.decided(rows)  # objects, where a person may be asked
    labelled = model.fitted_.labelled
    names = [str(name) for name in (model.fitted_.labels if labelled else model.classes_)]
    answers = found.T if labelled else found[None]
    titles = names if labelled else ["prediction"]
    columns = dict(zip(titles, (column.tolist() for column in answers), strict=True))
    asked = np.array([None in row for row in zip(*columns.values(), strict=True)], bool)
    if tally is not None:
        tally.hear(columns, asked, labelled)
    parts: dict[str, Foreign] = {**columns}
    if any(rule is not None and rule.asks for rule in rules):
        parts = {name: [_in_a_cell(each) for each in column] for name, column in columns.items()}
    elif not labelled and found.dtype != object:
        parts = {"prediction": found}
    parts |= {f"P({name})": proba[:, k] for k, name in enumerate(names)}
    if any(rule is not None and rule.asks for rule in rules):
        parts["asked" if "asked" not in parts else "asked (rule)"] = asked
    return pl.DataFrame(parts)


def _in_a_cell(decision: object) -> str:
    """A decision as a cell has it beside others that ask a person."""
    if decision is None:
        return ASK
    return str(decision).lower() if isinstance(decision, bool) else str(decision)


def explain_rows(model_file: Path, data: Path, rows: list[int]) -> list[tuple[int, Explanation]]:
    """Explanations of some rows of a file, in the order asked for."""
    model, columns = open_model(model_file)
    found: dict[int, list[Explanation]] = {}
    n_rows = 0
    for X in read_batches(data, columns):
        _fit_names(model, X)
        for row in sorted({r for r in rows if n_rows <= r < n_rows + X.shape[0]}):
            found[row] = explain_table(model, X[row - n_rows : row - n_rows + 1])
        n_rows += X.shape[0]
        if len(found) == len(set(rows)):
            break
    for row in rows:
        if row not in found:
            raise BadUseError(f"there is no row {row}; the table has rows 0 to {n_rows - 1}.")
    return [(row, each) for row in rows for each in found[row]]


def datasets(settings: Settings) -> None:
    """List the named data sets and where each can be had."""
    found = []
    for name, entry in REGISTRY.items():
        openml = f"OpenML {entry.openml}" if entry.openml else "a folder"
        found.append(
            {
                "name": name,
                "rows": entry.rows,
                "columns": entry.columns,
                "labels" if entry.labels else "classes": entry.classes,
                "sparse": entry.sparse,
                "source": "scikit-learn" if name in BUNDLED else openml,
            }
        )

    def line(each: dict[str, Foreign]) -> str:
        kind = "labels" if "labels" in each else "classes"
        return (
            f"{each['name']:24s} {each['rows']:6d} rows {each['columns']:6d} columns "
            f"{each[kind]:3d} {kind:7s}  {each['source']}\n"
        )

    tell_result(settings, lambda: found, lambda: "".join(map(line, found)))


# -- Finished models, and the tables that they read ------------------------------------------------


def open_file(path: Path) -> NaiveBayes | SignalPipeline:
    """A model of tables, or of series."""
    check_there(path, "the model file")
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


def open_with_columns(
    model_file: Path, data: Path
) -> tuple[NaiveBayes, pl.DataFrame | scipy.sparse.sparray]:
    """A model, and the columns of a table that it reads."""
    model, columns = open_model(model_file)
    parts = list(read_batches(data, columns))
    frames = isinstance(parts[0], pl.DataFrame)
    X = pl.concat(parts) if frames else scipy.sparse.vstack(parts, format="csr")
    _fit_names(model, X)
    return model, X


class OnTable(NamedTuple):
    """A model, and rows to evaluate it on."""

    model: NaiveBayes
    X: Foreign
    y: ArrayLike  #: in the model's kind
    groups: Array | None = None


def open_on_table(model_file: Path, data: Path, settings: Settings) -> OnTable:
    """A model, the columns of a table that it reads, and the target in the model's kind."""
    problem = read_rows(data, replace(settings, identifiers=True))
    model, X = open_with_columns(model_file, data)
    y = problem.y
    labels = list(model.fitted_.labels)
    given = y.columns if isinstance(y, pl.DataFrame) else None
    if given != (labels or None):
        wanted = f"labels {some(labels)}" if labels else "classes"
        raise BadUseError(f"the model tells {wanted}; name the same with --target or --labels.")
    if not labels:
        y, target = np.asarray(y), settings.target
        if model.classes_.dtype.kind in "OU" and y.dtype.kind not in "OU":
            # Classes as text, as the model's are: a file with numbers only reads 01 as 1.
            if target is not None and format_of(data).separator is not None:
                parts = list(read_batches(data, [Column(target, True)]))
                y = pl.concat(parts)[target].to_numpy()
            else:
                y = y.astype(str)
        check_known(model, y)
    return OnTable(model, X, y, problem.groups)


def check_known(model: NaiveBayes, y: Array) -> None:
    """Does a model know the classes?"""
    odd = sorted(set(y.tolist()) - set(model.classes_.tolist()), key=str)
    if odd:
        known = some([str(c) for c in model.classes_])
        raise BadUseError(f"the target has the class {odd[0]!r}; the model knows {known}.")


# -- card -----------------------------------------------------------------------------------------


def card(
    data: Path,
    settings: Settings,
    lines: int,
    points: int,
    pair: list[str] | None,
    model: Path | None,
    files: list[str],
) -> None:
    """Make a card of whole points, and the model behind it."""
    out = cast(Path, settings.out)
    rows = read_rows(data, settings)
    problem = rows.problem
    if not settings.quiet:
        for name in rows.dropped:
            tell(f"column {name!r} names every row: left out (--identifiers keeps it)")
        for line in numbers_with_texts(problem):
            tell(line)
    forbid = list(settings.forbid or ())
    if model is not None:
        known = {each.name for each in open_model(model)[1]}
        forbid += [name for name in problem.names if name not in known and name not in forbid]
    weight = read_class_weight(settings.class_weight, problem)
    shared: dict[str, Foreign] = {
        "class_weight": weight,
        "n_jobs": settings.jobs,
        "random_state": settings.seed,
    }
    remark = tell if settings.progress else lambda line: None
    remark(f"seeking conditions among {len(problem.names)} columns")
    found = ScoreCard(
        lines=lines,
        points=points,
        pairs=_pairs_named(pair),
        forbid=forbid,
        monotone=read_monotone(settings.monotone),
        **shared,
    ).fit(rows.X, rows.y, groups=rows.groups)
    beside = {"a weighted model of all columns": WeightedNaiveBayes(**shared)}
    remark("estimating its error on held-out rows, and that of a weighted model")
    told = judged(found, rows.X, rows.y, beside, rows.groups, settings.progress)
    remark(f"writing {out}")
    title = settings.title or f"Card from {data.name}"
    with output_folder(out) as folder:
        for name in files:
            if name == "model.json":
                save_model(found, folder / name)
            else:
                told.save(folder / name, title)
    if "card.xlsx" not in files and not settings.quiet:
        tell("no card.xlsx: a sheet that computes needs pip install 'bayesieve[sheet]'")
    result = {**told.to_dict(), "folder": str(out), "files": files}
    tell_result(settings, lambda: result, lambda: _card_in_words(told, out, files))


def _pairs_named(given: list[str] | None) -> list[tuple[str, str]]:
    """Pairs of columns as they are typed."""
    found = []
    for text in given or ():
        names = [each.strip() for each in text.split(",")]
        if len(names) != 2:
            raise BadUseError(f"--pair must be two columns, such as age,dose; got {text!r}.")
        found.append((names[0], names[1]))
    return found


def _card_in_words(card: Card, out: Path, files: Sequence[str]) -> str:
    return f"{card.to_text()}\n\nwritten to {out}: {', '.join(files)}\n"
