"""The verb `reproduce`: a paper's tables, ours beside the paper's."""

import importlib.util
import json
import time
from pathlib import Path
from typing import Annotated

import typer

import bayesieve_papers as papers

from ..checks import choose
from .options import say, tell


def _papers(incomplete: str) -> list[str]:
    return [name for name in papers.PAPERS if name.startswith(incomplete)]


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(help=f"One of: {', '.join(papers.PAPERS)}.", autocompletion=_papers),
    ],
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
    as_csv: Annotated[
        Path | None, typer.Option("--csv", help="Write every figure into this file, a line each.")
    ] = None,
    as_latex: Annotated[
        Path | None, typer.Option("--latex", help="Write the tables into this file, for booktabs.")
    ] = None,
) -> None:
    """Give a paper's tables back, ours beside the paper's."""
    from ..data.files.output import check_file

    # Bad use is said before any work.
    try:
        choose("paper", paper, papers.PAPERS)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if data is not None and not data.is_dir():
        raise typer.BadParameter(f"--data: {str(data)!r} is not a folder (or does not exist).")
    if figure is not None:
        _check_figure(figure)
    for option, path in (("--csv", as_csv), ("--latex", as_latex)):
        if path is not None:
            check_file(path, option=option)
    start = time.perf_counter()
    found = papers.run(paper, quick=quick, seed=seed, folder=data, tell=None if as_json else tell)
    if as_json:
        say(json.dumps(found.to_dict(), indent=2) + "\n")
    else:
        say(found.to_text())
        tell(f"{time.perf_counter() - start:.1f} s")
    if figure is not None:
        _save(found, figure)
    if as_csv is not None:
        _write(as_csv, found.to_csv())
    if as_latex is not None:
        _write(as_latex, found.to_latex())


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


def _save(found: papers.Reproduction, path: Path) -> None:
    from matplotlib.figure import Figure

    from ..data.files.output import whole_file

    picture = Figure(figsize=found.figure_size, layout="constrained")
    if found.draw is not None:
        found.draw(picture)
    with whole_file(path) as file:
        picture.savefig(file, format=path.suffix[1:], dpi=150)


def _write(path: Path, text: str) -> None:
    from ..data.files.output import whole_file

    with whole_file(path) as file:
        file.write(text.encode())
