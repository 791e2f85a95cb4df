"""The verbs `nested`, `stability` and `calibrate`: how far a choice can be trusted."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from .messages import say, tell
from .options import Data, Json, Labels, Model, Quiet, Target

if TYPE_CHECKING:
    from ..checks import Array
    from .results import Chooser
    from .tables import Problem

Preset = Annotated[str | None, typer.Option(help="'few', 'balanced' or 'accurate'.")]

Estimator = Annotated[
    str,
    typer.Option(help="'weighted' or 'selector'; by default as `select` would choose."),
]

Search = Annotated[str, typer.Option(help="Name of the search.")]

Criterion = Annotated[str | None, typer.Option(help="What guides the search.")]

FeatureModel = Annotated[str, typer.Option("--model", help="Feature model of the columns.")]

Groups = Annotated[
    str | None, typer.Option(help="Column that rows of one series, patient or machine share.")
]

Jobs = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]

Seed = Annotated[int, typer.Option(help="Source of randomness.", min=0)]


class Asked(NamedTuple):
    """What chooses, and on which rows."""

    preset: str | None
    estimator: str
    search: str
    criterion: str | None
    model: str
    groups: str | None
    jobs: int
    seed: int


def nested(
    data: Data,
    target: Target = None,
    labels: Labels = None,
    folds: Annotated[int, typer.Option(help="Outer folds.", min=2)] = 5,
    preset: Preset = None,
    estimator: Estimator = "auto",
    search: Search = "auto",
    criterion: Criterion = None,
    model: FeatureModel = "auto",
    groups: Groups = None,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Judge a whole selection on rows that took no part in it: what error is to be expected?"""
    from ..evaluation.nested import nested as run

    asked = Asked(preset, estimator, search, criterion, model, groups, jobs, seed)
    chooser, problem, grouped = _prepare(data, target, labels, asked, quiet)
    found = run(
        chooser, problem.X, problem.y, cv=folds, random_state=seed, groups=grouped, n_jobs=jobs
    )
    _tell(found.to_dict, found.to_text, as_json, quiet)


def stability(
    data: Data,
    target: Target = None,
    labels: Labels = None,
    resamples: Annotated[int, typer.Option(help="Bootstrap samples.", min=2)] = 20,
    preset: Preset = None,
    estimator: Estimator = "auto",
    search: Search = "auto",
    criterion: Criterion = None,
    model: FeatureModel = "auto",
    groups: Groups = None,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Repeat a selection on resampled rows: which columns come again?"""
    from ..evaluation.stability import stability as run

    asked = Asked(preset, estimator, search, criterion, model, groups, jobs, seed)
    chooser, problem, grouped = _prepare(data, target, labels, asked, quiet)
    found = run(
        chooser,
        problem.X,
        problem.y,
        n_resamples=resamples,
        random_state=seed,
        groups=grouped,
        n_jobs=jobs,
    )
    _tell(found.to_dict, found.to_text, as_json, quiet)


def calibrate(
    model: Model,
    data: Annotated[Path, typer.Argument(help="A table of rows that did not train the model.")],
    target: Target = None,
    labels: Labels = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The model file to write; by default the model itself is calibrated."),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a model as sure of itself as rows it has not seen allow."""
    from ..data.files.output import check_file
    from ..evaluation.calibration import calibrate as run
    from ..explain.modelfile.file import save_model
    from . import commands

    if out is not None:
        check_file(out, (model, data))
    names = labels.split(",") if labels else []
    problem, _ = commands.read_problem(data, target, names, identifiers=True)
    found, X, y = commands.open_on_table(model, data, problem, target)
    named = hasattr(found, "feature_names_in_")
    calibrated = run(found, X, y)
    if not named and hasattr(calibrated, "feature_names_in_"):
        del calibrated.feature_names_in_
    place = model if out is None else out
    save_model(calibrated, place)
    report = calibrated.calibration_
    _tell(report.to_dict, lambda: f"{report.to_text()}\nwritten to {place}", as_json, quiet)


def _prepare(
    data: Path, target: str | None, labels: str | None, asked: Asked, quiet: bool
) -> "tuple[Chooser, Problem, Array | None]":
    """What chooses, what from, and the groups of the rows."""
    from ..checks import choose
    from ..estimators.auto import PRESETS
    from ..models.registry import MODELS
    from . import commands

    choose("--model", asked.model, ["auto", *MODELS])
    choose("--estimator", asked.estimator, ["auto", "weighted", "selector"])
    if asked.preset is not None:
        choose("--preset", asked.preset, PRESETS)
    names = labels.split(",") if labels else []
    aside = [] if asked.groups is None else [asked.groups]
    problem, dropped = commands.read_problem(data, target, names, False, aside)
    for name in [] if quiet else dropped:
        tell(f"column {name!r} names every row: left out")
    shared = commands.SharedOptions(
        class_weight=None,
        random_state=asked.seed,
        n_jobs=asked.jobs,
        progress=False,
        checkpoint=None,
        time_limit=None,
        families=None,
        preset=asked.preset,
        engine=None,
    )
    searching = commands.SearchOptions(
        search=asked.search,
        criterion=asked.criterion,
        cv="auto",
        choice="auto",
        n_features=None,
        min_features=None,
        max_features=None,
    )
    chooser = commands.make_chooser(
        asked.estimator, asked.model, "auto", shared, searching, problem
    )
    groups = None if asked.groups is None else commands.groups_of(problem.aside[asked.groups])
    return chooser, problem, groups


def _tell(data: Callable[[], object], words: Callable[[], str], as_json: bool, quiet: bool) -> None:
    from . import commands

    if as_json:
        say(commands.as_json(data()) + "\n")
    elif not quiet:
        say(words() + "\n")
