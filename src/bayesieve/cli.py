"""The command line: one verb a job."""

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from . import papers
from .validation import choose

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Feature selection for naive Bayes: exact, fast and readable.",
)


@app.callback()
def _main() -> None:
    """Feature selection for naive Bayes: exact, fast and readable."""


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Source of randomness.", min=0, max=10**6)] = 0,
    quick: Annotated[bool, typer.Option(help="A tenth of the signals.")] = False,
) -> None:
    """Simulate signals, score them, sieve the indicators, and show the model in words."""
    from .demo import run_demo

    # Soft: lines are not broken where the output is piped.
    run_demo(Console(highlight=False, soft_wrap=True), seed=seed, quick=quick)


Data = Annotated[Path, typer.Argument(help="A table: .csv, .tsv (also .gz), .parquet, .arrow.")]
Target = Annotated[str | None, typer.Option(help="Column with the classes.")]
Labels = Annotated[str | None, typer.Option(help="Columns of 0 and 1, separated by commas.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")]


@app.command()
def select(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for model.json, selected.csv and path.csv.")],
    target: Target = None,
    labels: Labels = None,
    search: Annotated[str, typer.Option(help="Name of the search.")] = "backward-forward",
    criterion: Annotated[str | None, typer.Option(help="What guides it.")] = None,
    cv: Annotated[str, typer.Option(help="'train', 'loo' or a number of folds.")] = "train",
    max_features: Annotated[int | None, typer.Option(help="At most so many.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Source of randomness.", min=0)] = 0,
    identifiers: Annotated[
        bool, typer.Option(help="Keep text columns with as many values as rows.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Choose the columns of a table that make a readable model, and write it down."""
    from . import commands

    X, y = commands.read_packed(data, target, labels.split(",") if labels else [], identifiers)
    for name in [] if quiet else X.identifiers:
        _err(f"column {name!r} names every row: left out (--identifiers keeps it)")
    if criterion is None:
        criterion = "probability" if labels is None else "auc"
    selector = commands.select_table(
        X, y, out, search=search, criterion=criterion, cv=int(cv) if cv.isdigit() else cv,
        max_features=max_features, random_state=seed, n_jobs=-1, progress=not quiet and not as_json,
    )  # fmt: skip
    step = selector.path_.steps[selector.path_.chosen]
    names = [X.columns[j] for j in selector.selected_]
    result = {
        "selected": names, "score": step.score,
        selector.path_.validation_name: step.validation_error,
        "subsets_tried": selector.n_tried_, "folder": str(out),
    }  # fmt: skip
    if as_json:
        sys.stdout.write(commands.as_json(result) + "\n")
    elif not quiet:
        sys.stdout.write(f"{len(names)} of {len(X.columns)} columns: {', '.join(names)}\n")
        sys.stdout.write(
            f"{criterion} {step.score:.4f}, {selector.path_.validation_name.replace('_', ' ')} "
            f"{step.validation_error:.4f}; written to {out}\n"
        )


@app.command()
def rank(
    data: Data,
    target: Target = None,
    labels: Labels = None,
    method: Annotated[str, typer.Option(help="Name of the ranking.")] = "mutual-information",
    as_json: Json = False,
) -> None:
    """Rank the columns of a table without a model."""
    from . import commands

    X, y = commands.split_target(
        commands.read_data(data), target, labels.split(",") if labels else []
    )
    found = commands.rank_table_file(X, y, method)
    if as_json:
        sys.stdout.write(commands.as_json([{"feature": n, "score": s} for n, s in found]) + "\n")
    else:
        for i, (name, score) in enumerate(found):
            sys.stdout.write(f"{i + 1:5d}  {score:10.6g}  {name}\n")


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model file, as written by select.")],
    data: Data,
    out: Annotated[Path | None, typer.Option(help="Write CSV here instead of printing.")] = None,
) -> None:
    """Predict every row of a table: the class (or the labels) and the probabilities."""
    from . import commands

    found = commands.predict_table(model, commands.read_data(data))
    if out is None:
        sys.stdout.write(found.write_csv())
    else:
        found.write_csv(out)


@app.command()
def explain(
    model: Annotated[Path, typer.Argument(help="A model file, as written by select.")],
    data: Data,
    row: Annotated[list[int] | None, typer.Option(help="Row number, from 0; repeatable.")] = None,
    as_json: Json = False,
) -> None:
    """Show the evidence behind the decision on single rows, as bars of text."""
    from . import commands

    found = commands.explain_rows(model, commands.read_data(data), row or [0])
    if as_json:
        sys.stdout.write(commands.as_json([{**e.to_dict(), "row": i} for i, e in found]) + "\n")
    else:
        for i, each in found:
            text = each.to_text().split(": ", 1)[1]
            sys.stdout.write(f"row {i}: {text}\n\n")


@app.command()
def datasets() -> None:
    """List the named data sets and where each can be had."""
    from .datasets import REGISTRY
    from .datasets.registry import BUNDLED

    for name, entry in REGISTRY.items():
        where = (
            "scikit-learn" if name in BUNDLED else f"OpenML {entry.openml}" if entry.openml else ""
        )
        sys.stdout.write(
            f"{name:24s} {entry.rows:6d} rows {entry.columns:6d} columns {entry.classes:3d} "
            f"{'labels ' if entry.labels else 'classes'}  {where or 'a folder'}\n"
        )


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help=f"One of: {', '.join(papers.PAPERS)}.")],
    quick: Annotated[bool, typer.Option(help="Smaller data, fewer replications.")] = False,
    seed: Annotated[int, typer.Option(help="Source of randomness.", min=0, max=10**6)] = 0,
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data files, where the paper needs any.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Everything as JSON, for machines.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the figure into this file (.png, .svg or .pdf).")
    ] = None,
) -> None:
    """Give a paper's tables back, ours beside the paper's."""
    # Bad use is said before any work.
    try:
        choose("paper", paper, papers.PAPERS)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if data is not None and not data.is_dir():
        raise typer.BadParameter(f"--data: {str(data)!r} is not a folder (or does not exist).")
    if figure is not None:
        _check_figure(figure)
    err = Console(stderr=True, highlight=False)
    start = time.perf_counter()
    tell = None if as_json else (lambda line: err.print(line, markup=False, soft_wrap=True))
    found = papers.run(paper, quick=quick, seed=seed, folder=data, tell=tell)
    if as_json:
        sys.stdout.write(json.dumps(found.to_dict(), indent=2) + "\n")
    else:
        sys.stdout.write(found.to_text())
        err.print(f"{time.perf_counter() - start:.1f} s")
    if figure is not None:
        _save(found, figure)


def _err(line: str) -> None:
    Console(stderr=True, highlight=False).print(line, markup=False, soft_wrap=True)


def _check_figure(path: Path) -> None:
    """Can a figure be written there?"""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise typer.BadParameter(f"--figure must end in .png, .svg or .pdf; got {str(path)!r}.")
    if path.is_dir():
        raise typer.BadParameter(f"--figure: {str(path)!r} is a folder; name a file.")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"--figure: the folder {str(path.parent)!r} does not exist.")
    if importlib.util.find_spec("matplotlib") is None:
        raise typer.BadParameter("--figure needs matplotlib: pip install 'bayesieve[plot]'.")


def _save(found: Any, path: Path) -> None:
    from matplotlib.figure import Figure

    picture = Figure(figsize=found.figure_size, layout="constrained")
    if found.draw is not None:
        found.draw(picture)
    picture.savefig(path, dpi=150)


def run() -> None:
    """Run the command line: exit code 2 for bad use, 1 and one sentence for failure."""
    try:
        app()
    except ValueError as error:
        # The library's own words for bad input.
        _err(f"bayesieve: {error}")
        sys.exit(2)
    except Exception as error:
        message = f"bayesieve: {type(error).__name__}: {error}"
        Console(stderr=True, highlight=False).print(message, markup=False, soft_wrap=True)
        sys.exit(1)
