"""Arguments and options that several verbs share."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path,
    typer.Argument(
        help="A table: .csv, .tsv, .arff, .svm, .svmlight, .libsvm (all also .gz), .parquet, "
        ".arrow, .npz; for a model of series, series of the form it was learnt from.",
    ),
]


Target = Annotated[
    str | None,
    typer.Option(help="Column with the classes; svmlight and npz files hold theirs."),
]


Labels = Annotated[str | None, typer.Option(help="Columns of 0 and 1, separated by commas.")]


Json = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines.")]


Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")]


IncludeRows = Annotated[
    bool,
    typer.Option("--include-rows", help="Put rows of the table into the report (at most 1000)."),
]


Force = Annotated[bool, typer.Option("--force", help="Write over an existing result.")]


Title = Annotated[str | None, typer.Option(help="Headline of the report.")]


Priors = Annotated[
    str | None,
    typer.Option(help="Of the place of use: CLASS=NUMBER,... for every class, or 'uniform'."),
]


Model = Annotated[Path, typer.Argument(help="A model file, as written by select.")]


Scores = Annotated[
    list[Path] | None,
    typer.Option(
        help="A TOML file that says which scores, over which grid; or a Python file with "
        "register_score, which is RUN, with all that a program may do. Repeatable."
    ),
]


OwnScores = Annotated[
    list[Path] | None,
    typer.Option(
        "--scores",
        help="Of series: the Python file with the scores that the model was learnt with, which is "
        "RUN. Repeatable.",
    ),
]


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def known_searches(incomplete: str) -> list[str]:
    """Names of searches that begin so."""
    from ..search import SEARCHES

    return _starting(incomplete, SEARCHES)


def known_criteria(incomplete: str) -> list[str]:
    """Names of criteria that begin so."""
    from ..criteria import CRITERIA

    return _starting(incomplete, CRITERIA)


def known_methods(incomplete: str) -> list[str]:
    """Names of rankings that begin so."""
    from ..rankings.rank import ranking_names

    return _starting(incomplete, ranking_names())


def known_models(incomplete: str) -> list[str]:
    """Names of feature models that begin so."""
    from ..models.registry import MODELS

    return _starting(incomplete, ["auto", *MODELS])
