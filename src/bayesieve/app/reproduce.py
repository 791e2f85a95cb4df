"""The verb `reproduce`: tables of a paper, published and reproduced figures side by side."""

import importlib.util
import json
import time
from pathlib import Path
from typing import Annotated

import bayesieve_papers as papers

from ..checks import BadUseError, choose
from ..data.files.output import check_file, output_file, output_text
from .options import Argument, Option, Settings, say, tell


def reproduce(
    paper: Annotated[
        str, Argument(f"One of: {', '.join(papers.PAPERS)}.", names=lambda: papers.PAPERS)
    ],
    settings: Settings,
    quick: Annotated[
        bool, Option("Smaller data, fewer replications.", flag="--quick/--no-quick")
    ] = False,
    seed: Annotated[int, Option("Source of randomness.", low=0, high=10**6)] = 0,
    data: Annotated[
        Path | None, Option("Folder with the data files, where the paper needs any.")
    ] = None,
    figure: Annotated[
        Path | None, Option("Draw the figure into this file (.png, .svg or .pdf).")
    ] = None,
    as_csv: Annotated[
        Path | None, Option("Write every figure into this file, a line each.", flag="--csv")
    ] = None,
    as_latex: Annotated[
        Path | None, Option("Write the tables into this file, for booktabs.", flag="--latex")
    ] = None,
) -> None:
    """Reproduce the tables of a paper, with the published figures next to ours."""
    # Bad use is said before any work.
    choose("paper", paper, papers.PAPERS)
    if data is not None and not data.is_dir():
        raise BadUseError(f"--data: {str(data)!r} is not a folder (or does not exist).")
    if figure is not None:
        if figure.suffix not in (".png", ".svg", ".pdf"):
            raise BadUseError(f"--figure must end in .png, .svg or .pdf; got {str(figure)!r}.")
        check_file(figure, option="--figure")
        if importlib.util.find_spec("matplotlib") is None:
            raise BadUseError("--figure needs matplotlib: pip install 'bayesieve[plot]'.")
    for option, path in (("--csv", as_csv), ("--latex", as_latex)):
        if path is not None:
            check_file(path, option=option)
    start = time.perf_counter()
    found = papers.run(
        paper, quick=quick, seed=seed, folder=data, tell=None if settings.as_json else tell
    )
    if settings.as_json:
        say(json.dumps(found.to_dict(), indent=2) + "\n")
    else:
        say(found.to_text())
        tell(f"{time.perf_counter() - start:.1f} s")
    if figure is not None:
        from matplotlib.figure import Figure

        picture = Figure(figsize=found.figure_size, layout="constrained")
        if found.draw is not None:
            found.draw(picture)
        with output_file(figure) as file:
            picture.savefig(file, format=figure.suffix[1:], dpi=150)
    if as_csv is not None:
        output_text(as_csv, found.to_csv())
    if as_latex is not None:
        output_text(as_latex, found.to_latex())
