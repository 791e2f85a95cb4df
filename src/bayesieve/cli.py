"""The command line: one verb a job."""

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from . import papers

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
    seed: Annotated[int, typer.Option(help="Source of randomness.")] = 0,
    quick: Annotated[bool, typer.Option(help="A tenth of the signals.")] = False,
) -> None:
    """Simulate signals, score them, sieve the indicators, and show the model in words."""
    from .demo import run_demo

    run_demo(Console(highlight=False), seed=seed, quick=quick)


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help=f"One of: {', '.join(papers.PAPERS)}.")],
    quick: Annotated[bool, typer.Option(help="Smaller data, fewer replications.")] = False,
    seed: Annotated[int, typer.Option(help="Source of randomness.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Records as JSON, for machines.")] = False,
    figure: Annotated[Path | None, typer.Option(help="Draw the figure into this file.")] = None,
) -> None:
    """Give a paper's tables back, ours beside the paper's."""
    err = Console(stderr=True, highlight=False)
    start = time.perf_counter()
    found = papers.run(paper, quick=quick, seed=seed, tell=None if as_json else err.print)
    if figure is not None:
        _save(found, figure)
    if as_json:
        sys.stdout.write(json.dumps(found.to_dicts(), indent=2) + "\n")
    else:
        sys.stdout.write(found.to_text())
        err.print(f"{time.perf_counter() - start:.1f} s")


def _save(found: Any, path: Path) -> None:
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9, 5), layout="constrained")
    if found.draw is None:
        raise ValueError("this paper has no figure.")
    found.draw(picture)
    picture.savefig(path, dpi=150)


def main() -> None:
    """Run the command line; errors are one sentence, exit code 2 for bad use and 1 for failure."""
    try:
        app(standalone_mode=True)
    except (ValueError, TypeError) as error:
        Console(stderr=True, highlight=False).print(f"bayesieve: {error}", markup=False)
        sys.exit(2)
    except OSError as error:
        Console(stderr=True, highlight=False).print(f"bayesieve: {error}", markup=False)
        sys.exit(1)
