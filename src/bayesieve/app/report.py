"""The verbs `report` and `drift`: a finished model on rows of a file."""

from pathlib import Path
from typing import Annotated

import typer

from .messages import say, tell
from .options import Data, Force, IncludeRows, Json, Model, OwnScores, Quiet, Target, Title


def report(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")],
    target: Target = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Columns of 0 and 1, by commas; of series, a table of classes."),
    ] = None,
    include_rows: IncludeRows = False,
    title: Title = None,
    scores: OwnScores = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a report of a finished model on a table: `select` writes one of the selection."""
    from ..data.files.output import check_file, check_new, whole_file
    from . import commands, series

    check_file(out, (model, data))
    check_new([out], force)
    remark = None if quiet else tell
    pages = commands.Pages(title or f"{model.name} on {data.name}", include_rows, remark=remark)
    pipeline = series.open_series(model, scores)
    if pipeline is not None:
        table = None if labels is None else Path(labels)
        page = series.report_series(pipeline, data, target, table, pages)
    else:
        names = labels.split(",") if labels else []
        problem, _ = commands.read_problem(data, target, names, identifiers=True)
        page = commands.report_on_model(model, data, problem, pages, target)
    if not quiet:
        tell(f"writing {out}")
    with whole_file(out) as file:
        file.write(page.encode())
    if not quiet:
        say(f"{out}\n")


def drift(
    model: Model,
    data: Annotated[Path, typer.Argument(help="A table of new rows; no classes are needed.")],
    alpha: Annotated[
        float, typer.Option(help="Risk of calling any column moved that did not.", min=0, max=1)
    ] = 0.05,
    as_json: Json = False,
) -> None:
    """Tell which columns of new rows moved away from training, and how novelty moved."""
    from . import commands

    found = commands.drift_of_file(model, data, alpha)
    if as_json:
        told = {**found.to_dict(), "rows": found.rows, "moved": found.moved, "novel": found.novel}
        say(commands.as_json(told) + "\n")
        return
    say(f"{found.headline()}\n")
    for name, distance, p, change in zip(
        found.columns, found.distance, found.adjusted, found.change, strict=True
    ):
        mark = "moved" if p <= found.alpha else "     "
        say(f"{mark}  {distance:6.3f}  p = {p:<8.2g} {name}: {change}\n")
