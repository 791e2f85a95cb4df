"""The command line: one verb a job."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..checks import choose
from .evaluate import calibrate, compare, decide, drift, nested, report, stability
from .options import (
    Data,
    Force,
    IncludeRows,
    Json,
    Labels,
    Model,
    OwnScores,
    PlainCommand,
    PlainGroup,
    Priors,
    Quiet,
    Target,
    Title,
    guarded,
    known_criteria,
    known_methods,
    known_models,
    known_searches,
    say,
    tell,
)
from .reproduce import reproduce
from .signals import explain_signals, scores, signals
from .studio.command import studio

if TYPE_CHECKING:
    from ..explain.plain import Plain

app = typer.Typer(
    cls=PlainGroup,
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Feature selection for naive Bayes: exact, fast and readable.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        from .. import __version__

        say(f"bayesieve {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=_tell_version)
    ] = False,
) -> None:
    """Feature selection for naive Bayes: exact, fast and readable."""
    context.ensure_object(dict)["debug"] = debug


app.command(cls=PlainCommand)(compare)
app.command(cls=PlainCommand)(calibrate)
app.command(cls=PlainCommand)(decide)
app.command(cls=PlainCommand)(report)
app.command(cls=PlainCommand)(drift)
app.command(cls=PlainCommand)(nested)
app.command(cls=PlainCommand)(stability)
app.command(cls=PlainCommand)(reproduce)
app.command(cls=PlainCommand)(signals)
app.command(cls=PlainCommand)(scores)
app.command(cls=PlainCommand)(studio)


@app.command(cls=PlainCommand)
def demo(
    seed: Annotated[int, typer.Option(help="Source of randomness.", min=0, max=10**6)] = 0,
    quick: Annotated[bool, typer.Option(help="A tenth of the signals.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for report.html.")] = None,
    force: Force = False,
) -> None:
    """Simulate signals, score them, sieve the indicators, and show the model in words."""
    from ..data.files.output import check_folder, check_new
    from .demo import is_own, run_demo

    if out is not None:
        check_folder(out)
        check_new([out / "report.html"], force or is_own(out / "report.html"))
    # Soft: lines are not broken where the output is piped.
    run_demo(Console(highlight=False, soft_wrap=True), seed=seed, quick=quick, out=out)


# Share of the rows that validate where a time says which.
_LATER = 0.3


@app.command(cls=PlainCommand)
def select(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA...",
            help="A table: .csv, .tsv, .arff, .svm, .svmlight, .libsvm (all also .gz), .parquet, "
            ".arrow, .npz; with --engine dask, any number of .parquet files.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for model.json, *.csv and report.html.")],
    target: Target = None,
    labels: Labels = None,
    preset: Annotated[
        str | None,
        typer.Option(help="'few' (at most 10 terms), 'balanced' or 'accurate'."),
    ] = None,
    estimator: Annotated[
        str,
        typer.Option(
            help="'weighted' (terms with weights, WeightedNaiveBayes) or 'selector' (a search of "
            "columns). By default weighted, unless labels, or an option of searches, are given."
        ),
    ] = "auto",
    search: Annotated[
        str, typer.Option(help="Name of the search; auto.", autocompletion=known_searches)
    ] = "auto",
    criterion: Annotated[
        str | None,
        typer.Option(
            help="What guides it; 'probability' for classes, 'auc' for labels by default.",
            autocompletion=known_criteria,
        ),
    ] = None,
    cv: Annotated[str, typer.Option(help="'auto', 'train', 'loo' or a number of folds.")] = "auto",
    choice: Annotated[
        str,
        typer.Option(help="Which subset visited is taken: 'auto', 'best', 'one-se' or 'proven'."),
    ] = "auto",
    model: Annotated[
        str,
        typer.Option(
            help="Feature model of the columns: auto, categorical, density, gaussian ...",
            autocompletion=known_models,
        ),
    ] = "auto",
    validation: Annotated[
        float | None,
        typer.Option(
            help="Share of the rows kept to choose the subset; 0: none. By default none, with "
            "--time the later 0.3."
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(help="Column that rows of one series, patient or machine share."),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Column with the time: the later rows validate.")
    ] = None,
    n_features: Annotated[int | None, typer.Option(help="Exactly so many.", min=1)] = None,
    min_features: Annotated[int | None, typer.Option(help="At least so many.", min=0)] = None,
    max_features: Annotated[int | None, typer.Option(help="At most so many.", min=1)] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(help="'balanced': every class weighs the same; or CLASS=NUMBER,..."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    seed: Annotated[int, typer.Option(help="Source of randomness.", min=0)] = 0,
    identifiers: Annotated[
        bool, typer.Option(help="Keep text columns with as many values as rows.")
    ] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Write down here how far the search came.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from --checkpoint.")] = False,
    time_limit: Annotated[
        float | None, typer.Option(help="Stop after so many seconds.", min=0)
    ] = None,
    families: Annotated[
        bool, typer.Option("--families", help="Of columns that are nearly the same, one at most.")
    ] = False,
    keep: Annotated[list[str] | None, typer.Option(help="A column that stays; repeatable.")] = None,
    forbid: Annotated[
        list[str] | None, typer.Option(help="A column that is never chosen; repeatable.")
    ] = None,
    priors: Priors = None,
    include_rows: IncludeRows = False,
    resamples: Annotated[
        int | None,
        typer.Option(
            help="Bootstrap samples for the stability of the choice; 0: none. 20 by default, none "
            "for more than two million cells.",
            min=0,
        ),
    ] = None,
    title: Title = None,
    force: Force = False,
    safe_csv: Annotated[
        bool,
        typer.Option(
            "--safe-csv", help="Names that a spreadsheet takes for formulas get a ' in *.csv."
        ),
    ] = False,
    engine: Annotated[
        str,
        typer.Option(help="Who keeps the rows: 'threads', 'dask' (workers of a cluster), 'gpu'."),
    ] = "threads",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of the Dask scheduler; by default a local cluster.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Choose the columns of a table that make a readable model, and write it down."""
    from ..estimators._validation import PRESETS
    from ..models.registry import MODELS
    from . import commands
    from . import select_dask as far
    from .commands import check_result

    choose("--model", model, ["auto", *MODELS])
    choose("--estimator", estimator, ["auto", "weighted", "selector"])
    choose("--choice", choice, ["auto", "best", "one-se", "proven"])
    if preset is not None:
        choose("--preset", preset, PRESETS)
    if validation is not None and not 0 <= validation < 1:
        raise typer.BadParameter(f"--validation must be at least 0 and below 1; got {validation}.")
    if resamples == 1:
        raise typer.BadParameter("--resamples must be 0 (none) or at least 2; got 1.")
    commands.check_resume(checkpoint, resume)
    check_result(out, force or resume)
    asked = {"time": time}
    elsewhere = far.check_engine(engine, scheduler, tables, asked)
    shared = commands.SharedOptions(
        class_weight=None,
        random_state=seed,
        n_jobs=jobs,
        progress=not quiet and not as_json,
        checkpoint=checkpoint,
        time_limit=time_limit,
        families="auto" if families else None,
        preset=preset,
        engine="gpu" if engine == "gpu" else None,
        keep=keep or (),
        forbid=forbid or (),
    )
    searching = commands.SearchOptions(
        search=search,
        criterion=criterion,
        cv=int(cv) if cv.isdigit() else cv,
        choice=choice,
        n_features=n_features,
        min_features=min_features,
        max_features=max_features,
    )
    held: object = "auto" if validation is None else validation or None
    if elsewhere:
        weights = class_weight, priors
        names = labels.split(",") if labels else []
        options = far.FarOptions(
            scheduler, estimator, target, names, groups, model, held, weights, identifiers, safe_csv
        )
        result, n_columns = far.select_files(tables, out, options, shared, searching)
        _tell_choice(result, n_columns, as_json, quiet)
        return
    data = tables[0]
    names = labels.split(",") if labels else []
    aside = list(dict.fromkeys(name for name in (groups, time) if name is not None))
    problem, dropped = commands.read_problem(data, target, names, identifiers, aside)
    for name in [] if quiet else dropped:
        tell(f"column {name!r} names every row: left out (--identifiers keeps it)")
    for line in [] if quiet else commands.numbers_with_texts(problem):
        tell(line)
    for line in [] if quiet else commands.rare_labels(problem):
        tell(line)
    pages = commands.Pages(
        title or f"Selection from {data.name}",
        include_rows,
        resamples,
        dict.fromkeys(dropped, "left out before the search: it names every row"),
        None if groups is None else commands.groups_of(problem.aside[groups]),
        commands.read_priors(priors),
    )
    if time is not None:
        share = _LATER if validation is None else validation
        held = commands.later_part(problem.aside[time], share)
    shared["class_weight"] = commands.read_class_weight(class_weight, problem)
    chooser = commands.make_chooser(estimator, model, held, shared, searching, problem)
    remark = tell if shared["progress"] else None
    commands.select_table(chooser, problem, out, pages, safe_csv=safe_csv, remark=remark)
    result = commands.summary(chooser, problem.names, out)
    _tell_choice(result, len(problem.names), as_json, quiet)


def _tell_choice(result: "dict[str, Plain]", n_columns: int, as_json: bool, quiet: bool) -> None:
    from . import commands

    if as_json:
        say(commands.as_json(result) + "\n")
    elif not quiet:
        say(commands.in_words(result, n_columns))


@app.command(cls=PlainCommand)
def rank(
    data: Data,
    target: Target = None,
    labels: Labels = None,
    method: Annotated[
        str, typer.Option(help="Name of the ranking.", autocompletion=known_methods)
    ] = "mutual-information",
    as_json: Json = False,
) -> None:
    """Rank the columns of a table without a model."""
    from . import commands

    names = labels.split(",") if labels else []
    problem, _ = commands.read_problem(data, target, names, identifiers=True)
    for line in commands.numbers_with_texts(problem):
        tell(line)
    found = commands.rank_problem(problem, method)
    if as_json:
        say(commands.as_json([{"feature": n, "score": s} for n, s in found]) + "\n")
    else:
        for i, (name, score) in enumerate(found):
            say(f"{i + 1:5d}  {score:10.6g}  {name}\n")


@app.command(cls=PlainCommand)
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path | None, typer.Option(help="Write CSV here instead of printing.")] = None,
    batch: Annotated[int, typer.Option(help="Rows held in memory, at most.", min=1)] = 2**16,
    priors: Priors = None,
    scores: OwnScores = None,
) -> None:
    """Predict every row of a table, or every series: class (or labels) and probabilities.

    CSV, TSV, Parquet and Arrow files may be larger than the memory.
    """
    from ..data.files.output import check_file, whole_file
    from . import commands
    from . import learning as series

    place = commands.read_priors(priors)
    if out is not None:
        check_file(out, (model, data))
    found = series.open_series(model, scores)
    if found is None:
        parts = commands.predict_file(model, data, batch, place)
    else:
        parts = series.predict_series(found, data, batch, place)
    if out is None:
        for part in parts:
            say(part)
        return
    with whole_file(out) as file:
        for part in parts:
            file.write(part.encode())


@app.command(cls=PlainCommand)
def explain(
    model: Model,
    data: Data,
    row: Annotated[list[int] | None, typer.Option(help="Row number, from 0; repeatable.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page here instead.")] = None,
    scores: OwnScores = None,
    as_json: Json = False,
) -> None:
    """Show the evidence behind the decision on single rows, as bars of text or as a page."""
    from ..data.files.output import check_file, whole_file
    from . import commands
    from . import learning as series

    if html is not None:
        check_file(html, (model, data), "--html")
    pipeline = series.open_series(model, scores)
    if pipeline is not None:
        explain_signals(pipeline, data, row or [0], html, as_json)
        return
    found = commands.explain_rows(model, data, row or [0])
    if html is not None:
        from ..explain.report.page import explanations_page

        page = explanations_page(found, f"Decisions on rows of {data.name}")
        with whole_file(html) as file:
            file.write(page.encode())
        return
    if as_json:
        say(commands.as_json([{**e.to_dict(), "row": i} for i, e in found]) + "\n")
    else:
        for i, each in found:
            text = each.to_text().split(": ", 1)[1]
            say(f"row {i}: {text}\n\n")


@app.command(cls=PlainCommand)
def datasets(as_json: Json = False) -> None:
    """List the named data sets and where each can be had."""
    from ..datasets.loading import BUNDLED, REGISTRY

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
    if as_json:
        say(json.dumps(found, indent=2) + "\n")
        return
    for each in found:
        kind = "labels" if "labels" in each else "classes"
        say(
            f"{each['name']:24s} {each['rows']:6d} rows {each['columns']:6d} columns "
            f"{each[kind]:3d} {kind:7s}  {each['source']}\n"
        )


def run() -> None:
    """Run the command line: exit code 2 for bad use, 1 and one sentence for failure."""
    guarded(app)
