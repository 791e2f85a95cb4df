"""The verb `compare`: methods on tables in files."""

import importlib.util
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..checks import choose
from .messages import say, tell

if TYPE_CHECKING:
    from ..evaluation.comparison.result import Comparison

_USUAL = "default,naive-bayes,logistic,forest,majority"


def _method_names(incomplete: str) -> list[str]:
    """The last name of a list, completed."""
    from ..evaluation.comparison.methods import METHODS

    known, comma, last = incomplete.rpartition(",")
    return [known + comma + name for name in METHODS if name.startswith(last)]


def _metric_names(incomplete: str) -> list[str]:
    from ..evaluation.comparison.scores import SCORES

    return [name for name in SCORES if name.startswith(incomplete)]


def compare(
    data: Annotated[
        list[str],
        typer.Argument(help="Tables (as for select), or names that `bayesieve datasets` lists."),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for table.csv, table.tex, results.json and pictures.")
    ],
    target: Annotated[
        str | None, typer.Option(help="Column with the classes, in every table given.")
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            help="Names, separated by commas (an unknown one is answered with all), or "
            "module:factory.",
            autocompletion=_method_names,
        ),
    ] = _USUAL,
    metric: Annotated[
        str, typer.Option(help="The score that decides.", autocompletion=_metric_names)
    ] = "accuracy",
    seeds: Annotated[int, typer.Option(help="Repeats, each with other folds.")] = 3,
    folds: Annotated[int, typer.Option(help="Parts of the rows.")] = 5,
    alpha: Annotated[float, typer.Option(help="Risk of calling chance a difference.")] = 0.05,
    jobs: Annotated[int, typer.Option(help="Fits at the same time; -1 for all cores.")] = 1,
    backend: Annotated[str, typer.Option(help="'threads' or 'processes'.")] = "threads",
    checkpoint: Annotated[
        Path | None, typer.Option(help="Write every fit down here as it is done.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from --checkpoint.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON on standard output, for machines.")
    ] = False,
) -> None:
    """Compare methods on tables: the same folds for all, and tests of what differs."""
    from ..data.files.output import check_folder
    from ..evaluation.comparison.run import compare as run
    from ..evaluation.comparison.scores import SCORES
    from .commands import check_resume

    choose("--metric", metric, SCORES)
    check_folder(out)
    check_resume(checkpoint, resume)
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the tables may make methods
    sets = _read(data, target, quiet)
    with warnings.catch_warnings():
        for kind in (UserWarning, RuntimeWarning):
            # A method may warn in each of a thousand fits: the same words are said once.
            warnings.simplefilter("ignore" if quiet else "once", kind)
        found = run(
            [name.strip() for name in methods.split(",") if name.strip()],
            sets,
            seeds=seeds,
            folds=folds,
            checkpoint=checkpoint,
            n_jobs=jobs,
            backend=backend,
            progress=not quiet,
        ).by(metric, alpha=alpha)
    _write(found, out)
    if as_json:
        say(found.to_json())
    elif not quiet:
        say(f"{found}\n\nwritten to {out}\n")


def _read(data: list[str], target: str | None, quiet: bool) -> dict[str, object]:
    """Tables and named sets; a file is called by its name without the ending."""
    from ..data.files.base import BadUseError
    from ..datasets.loading import load
    from ..datasets.registry import REGISTRY
    from .tables import read_problem

    found: dict[str, object] = {}
    for each in data:
        named = each in REGISTRY and not Path(each).exists()
        name = each if named else Path(each).name.partition(".")[0]
        if name in found:
            raise BadUseError(
                f"data must have names that differ; got {name!r} twice. Rename one of the files."
            )
        if named:
            found[name] = load(each)
            continue
        if not Path(each).is_file():
            raise BadUseError(
                f"data: {each!r} is neither a file nor a data set that `bayesieve datasets` lists."
            )
        problem, dropped = read_problem(Path(each), target, [], identifiers=False)
        for column in [] if quiet else dropped:
            tell(f"{name}: column {column!r} names every row: left out")
        found[name] = problem
    return found


def _write(found: "Comparison", out: Path) -> None:
    """All files at once, or none."""
    from ..data.files.atomic import write_text
    from ..data.files.output import whole_folder

    with whole_folder(out) as folder:
        write_text(folder / "table.csv", found.to_csv())
        write_text(folder / "table.tex", found.to_latex())
        write_text(folder / "results.json", found.to_json())
        if found.ranked and importlib.util.find_spec("matplotlib") is not None:
            _draw(found, folder)


def _draw(found: "Comparison", folder: Path) -> None:
    """ranks.png and ranks.svg; of a single set, or a single method, scores.png and scores.svg."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = found.plot().figure
    name = "scores" if found.critical_difference is None else "ranks"
    # The same comparison gives the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": "bayesieve"}):
        figure.savefig(folder / f"{name}.png", dpi=150)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
