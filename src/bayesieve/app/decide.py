"""The verb `decide`: a rule for a model's decisions, from rows in a file."""

from pathlib import Path
from typing import Annotated

import typer

from .messages import say

_RATES = "a number, or CLASS=NUMBER,..."


def decide(
    model: Annotated[Path, typer.Argument(help="A model file, as written by select.")],
    data: Annotated[Path, typer.Argument(help="A table of rows that did not train the model.")],
    target: Annotated[str | None, typer.Option(help="Column with the classes.")] = None,
    labels: Annotated[
        str | None, typer.Option(help="Columns of 0 and 1, separated by commas.")
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            help="CSV table of costs: a line for each class, a column for each decision; a column "
            "'ask a person' for asking."
        ),
    ] = None,
    abstain: Annotated[str | None, typer.Option(help=f"Cost of asking a person: {_RATES}")] = None,
    max_false_alarms: Annotated[
        str | None,
        typer.Option(help=f"Share of false alarms that is not exceeded: {_RATES}"),
    ] = None,
    min_detections: Annotated[
        str | None, typer.Option(help=f"Share of detections that is reached: {_RATES}")
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column of what rows share (a patient, a machine): shares then hold for rows of "
            "new ones, and rest on one row of each."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="With which such shares hold, above 0.5 and below 1.")
    ] = 0.95,
    out: Annotated[
        Path | None,
        typer.Option(help="The model file to write; by default the model itself gets the rule."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON on standard output, for machines.")
    ] = False,
) -> None:
    """Give a model a rule: costs, a person to ask, ceilings on false alarms.

    predict, explain and exported code follow the rule from then on.
    """
    from ..data.files.output import check_file
    from ..evaluation.decide import decide as run
    from ..explain.modelfile.file import model_to_dict, save_model
    from . import commands
    from .by_class import read_costs, read_rates

    if out is not None:
        check_file(out, (model, data))
    table, asking = read_costs(costs), read_rates("--abstain", abstain)
    most = read_rates("--max-false-alarms", max_false_alarms)
    least = read_rates("--min-detections", min_detections)
    names = labels.split(",") if labels else []
    aside = [] if groups is None else [groups]
    problem, _ = commands.read_problem(data, target, names, identifiers=True, aside=aside)
    found, X, y = commands.open_on_table(model, data, problem, target)
    named = hasattr(found, "feature_names_in_")
    ruled = run(
        found,
        X,
        y,
        costs=table,
        abstain=asking,
        max_false_alarms=most,
        min_detections=least,
        confidence=confidence,
        groups=None if groups is None else commands.groups_of(problem.aside[groups]),
    )
    if not named and hasattr(ruled, "feature_names_in_"):
        del ruled.feature_names_in_
    place = model if out is None else out
    save_model(ruled, place)
    if as_json:
        rules = [part["rule"] for part in model_to_dict(ruled)["models"]]
        say(commands.as_json({"rules": rules, "rows": ruled.decision_.to_dict()}) + "\n")
    elif not quiet:
        say(f"{ruled.decision_.to_text()}\nwritten to {place}\n")
