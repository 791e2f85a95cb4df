"""The verbs that evaluate: compare, decide, nested, stability, calibrate, report, drift."""

import importlib.util
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ..checks import choose
from .options import (
    Data,
    Force,
    IncludeRows,
    Json,
    Labels,
    Model,
    OwnScores,
    Quiet,
    Target,
    Title,
    say,
    tell,
)

if TYPE_CHECKING:
    from ..checks import Array
    from ..evaluation.compare.result import Comparison
    from .commands import Chooser
    from .tables import Problem

_USUAL = "default,naive-bayes,logistic,forest,majority"


def _method_names(incomplete: str) -> list[str]:
    """The last name of a list, completed."""
    from ..evaluation.compare.methods import METHODS

    known, comma, last = incomplete.rpartition(",")
    return [known + comma + name for name in METHODS if name.startswith(last)]


def _metric_names(incomplete: str) -> list[str]:
    from ..evaluation.compare.methods import SCORES

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
    from ..evaluation.compare.methods import SCORES
    from ..evaluation.compare.run import compare as run
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
    from ..datasets.loading import REGISTRY, load
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


# -- The verb decide -------------------------------------------------------------------------------


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
    from .tables import read_costs, read_rates

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


# -- The verbs nested, stability and calibrate -----------------------------------------------------


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
    from ..estimators._validation import PRESETS
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


# -- The verbs report and drift --------------------------------------------------------------------


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
    from . import commands
    from . import learning as series

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
