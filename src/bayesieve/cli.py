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
    except Exception as error:
        message = f"bayesieve: {type(error).__name__}: {error}"
        Console(stderr=True, highlight=False).print(message, markup=False, soft_wrap=True)
        sys.exit(1)
