"""The command line: what every verb takes, how Typer reads it, and how a run ends.

All that help, completion and most mistakes need stands here, and imports in a moment.  The work is
in other modules of this room, which stand on libraries that take seconds to import: a verb imports
its own when its words have been understood.
"""

import contextlib
import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple, cast, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ..checks import BadUseError, Foreign, check_there, choose
from ..data.files.output import check_file, check_folder, check_new
from .options import (
    LIKE_SELECT,
    PANELS,
    Argument,
    Data,
    Model,
    NewData,
    Option,
    OptionTable,
    OwnScores,
    SeriesSettings,
    Settings,
    Tables,
    metavar_of,
    say,
    send,
    tell,
)

_PACKAGE = Path(__file__).parents[1]

#: Exit codes.
FAILURE, BAD_USE, INTERRUPTED = 1, 2, 130

#: The files of a result.
RESULT = ("model.json", "selected.csv", "path.csv", "report.html")

#: The papers of `reproduce`; `bayesieve_papers.PAPERS` says what they are about.
PAPERS = ("rabenoro", "cortizo", "ruta", "sotoca", "guyon")


# -- Names that the shell completes ---------------------------------------------------------------


def _methods() -> list[str]:
    from ..evaluation.compare.methods import METHODS

    return list(METHODS)


def _metrics() -> list[str]:
    from ..evaluation.compare.methods import SCORES

    return list(SCORES)


def _rankings() -> list[str]:
    from ..rankings.rank import ranking_names

    return list(ranking_names())


# -- From a table to decisions ---------------------------------------------------------------------


def look(data: Data, settings: Settings) -> None:
    """Look at a table before anything is learnt: kinds, gaps, and what looks odd, with its mend."""
    check_there(data)
    from . import commands

    commands.look(data, settings)


def select(tables: Tables, settings: Settings) -> None:
    """Select columns of a table for a naive Bayes model, and write model, report and path."""
    check_writing(settings)
    if settings.engine != "dask":  # which takes patterns of names too
        check_there(tables[0])
    from . import commands

    commands.select(tables, settings)


def card(
    data: Data,
    settings: Settings,
    lines: Annotated[int, Option("Model", "Conditions with points, at most.", low=2)] = 25,
    points: Annotated[
        int, Option("Model", "Points of a line, at most; and minus so many.", low=1)
    ] = 10,
    pair: Annotated[
        list[str] | None,
        Option("Model", "Two columns that may speak together: age,dose. Repeatable."),
    ] = None,
    model: Annotated[
        Path | None,
        Option("Model", "A model file, as written by select: its columns only.", flag="--from"),
    ] = None,
) -> None:
    """Make a card of whole points: a page of conditions to add up, and the model behind it."""
    out = cast(Path, settings.out)
    check_there(data)
    if model is not None:
        check_there(model, "the model file")
    check_folder(out)
    # The sheet, where openpyxl is there.
    sheet = ["card.xlsx"] * (find_spec("openpyxl") is not None)
    files = ["card.html", "card.pdf", "card.txt", "card.json", *sheet, "model.json"]
    check_new([out / name for name in files], settings.force)
    from . import commands

    commands.card(data, settings, lines, points, pair, model, files)


def report(
    model: Model,
    data: Data,
    out: Annotated[Path, Option("Output", "The HTML file to write.")],
    settings: Settings,
    scores: OwnScores = None,
) -> None:
    """Write the HTML report of a saved model on a table (`select` writes its own).

    Takes every option of `select`, of which those of the table and of the report are used.
    """
    check_there(model, "the model file")
    check_file(out, (model, data))
    check_new([out], settings.force)
    from . import evaluate

    evaluate.report(model, data, out, settings, scores)


_RATES = "a number, or CLASS=NUMBER,..."


def decide(
    model: Model,
    data: NewData,
    settings: Settings,
    costs: Annotated[
        Path | None,
        Option(
            "Model",
            "CSV table of costs: a line for each class, a column for each decision; a column "
            "'ask a person' for asking.",
        ),
    ] = None,
    abstain: Annotated[str | None, Option("Model", f"Cost of asking a person: {_RATES}")] = None,
    max_false_alarms: Annotated[
        str | None, Option("Model", f"Maximum rate of false alarms: {_RATES}")
    ] = None,
    min_detections: Annotated[
        str | None, Option("Model", f"Minimum rate of detection: {_RATES}")
    ] = None,
    confidence: Annotated[
        float, Option("Honesty", "Confidence of these limits, above 0.5 and below 1.")
    ] = 0.95,
    out: Annotated[
        Path | None,
        Option("Output", "The model file to write; by default the model itself gets the rule."),
    ] = None,
) -> None:
    """Add a decision rule to a model: costs, referral to a person, limits on false alarms.

    predict, explain and exported code follow the rule from then on.
    """
    _check_rewriting(model, data, out)
    from . import evaluate

    evaluate.decide(
        model,
        data,
        settings,
        costs=costs,
        abstain=abstain,
        max_false_alarms=max_false_alarms,
        min_detections=min_detections,
        confidence=confidence,
        out=out,
    )


def predict(
    model: Model,
    data: Data,
    settings: Settings,
    out: Annotated[Path | None, Option("Output", "Write CSV here instead of printing.")] = None,
    batch: Annotated[int, Option("Machine", "Rows held in memory, at most.", low=1)] = 2**16,
    scores: OwnScores = None,
) -> None:
    """Predict every row of a table, or every series: class (or labels) and probabilities.

    Where the model's rule asks a person, the cell says so, and the column `asked` is true.  CSV,
    TSV, Parquet and Arrow files may be larger than the memory.
    """
    check_there(model, "the model file")
    _check_exists(data)
    if out is not None:
        check_file(out, (model, data))
    from . import commands

    commands.predict(model, data, settings, out, batch, scores)


def explain(
    model: Model,
    data: Data,
    settings: Settings,
    row: Annotated[list[int] | None, Option("Data", "Row number, from 0; repeatable.")] = None,
    html: Annotated[Path | None, Option("Output", "Write a page here instead.")] = None,
    scores: OwnScores = None,
) -> None:
    """Explain the decision on single rows: the evidence of each column, as text or as a page."""
    check_there(model, "the model file")
    _check_exists(data)
    if html is not None:
        check_file(html, (model, data), "--html")
    from . import commands

    commands.explain(model, data, settings, row or [0], html, scores)


# -- Evaluation ------------------------------------------------------------------------------------


def nested(
    data: Data,
    settings: Settings,
    folds: Annotated[int, Option("Honesty", "Outer folds.", low=2)] = 5,
) -> None:
    """Estimate the error of a whole selection by nested cross-validation.

    Takes every option of `select`.
    """
    check_there(data)
    from . import evaluate

    evaluate.nested(data, settings, folds)


def stability(
    data: Data,
    settings: Settings,
    resamples: Annotated[
        int, Option("Honesty", "How many halves of the rows are drawn.", low=2)
    ] = 20,
) -> None:
    """Repeat a selection on halves of the rows: which columns are selected again?

    Takes every option of `select`.
    """
    check_there(data)
    from . import evaluate

    evaluate.stability(data, settings, resamples)


def calibrate(
    model: Model,
    data: NewData,
    settings: Settings,
    out: Annotated[
        Path | None,
        Option("Output", "The model file to write; by default the model itself is calibrated."),
    ] = None,
) -> None:
    """Calibrate the probabilities of a model on held-out rows.

    Takes every option of `select`, of which the table's are used.
    """
    _check_rewriting(model, data, out)
    from . import evaluate

    evaluate.calibrate(model, data, settings, out)


def compare(
    data: Annotated[
        list[str],
        Argument("Tables (as for select), or names that `bayesieve datasets` lists."),
    ],
    out: Annotated[
        Path, Option("Output", "Folder for table.csv, table.tex, results.json and pictures.")
    ],
    settings: Settings,
    methods: Annotated[
        str,
        Option(
            "Model",
            "Names, separated by commas (an unknown one is answered with all), or module:factory.",
            names=_methods,
        ),
    ] = "weighted,naive-bayes,logistic,forest,majority",
    metric: Annotated[
        str, Option("Honesty", "Score by which methods are ranked.", names=_metrics)
    ] = "accuracy",
    seeds: Annotated[int, Option("Honesty", "Repeats, each with other folds.")] = 3,
    folds: Annotated[int, Option("Honesty", "Number of folds.")] = 5,
    alpha: Annotated[float, Option("Honesty", "Significance level of the tests.")] = 0.05,
    jobs: Annotated[int, Option("Machine", "Fits at the same time; -1 for all cores.")] = 1,
    backend: Annotated[str, Option("Machine", "'threads' or 'processes'.")] = "threads",
) -> None:
    """Compare methods on tables by cross-validation on the same folds, with significance tests."""
    check_folder(out)
    check_resume(settings.checkpoint, settings.resume)
    from . import evaluate

    evaluate.compare(
        data,
        out,
        settings,
        methods=methods,
        metric=metric,
        seeds=seeds,
        folds=folds,
        alpha=alpha,
        jobs=jobs,
        backend=backend,
    )


def drift(
    model: Model,
    data: Annotated[Path, Argument("A table of new rows; no classes are needed.")],
    settings: Settings,
    alpha: Annotated[
        float, Option("Honesty", "Significance level, over all columns together.", low=0, high=1)
    ] = 0.05,
) -> None:
    """Test which columns of new rows have drifted from training, and how novelty changed."""
    check_there(model, "the model file")
    check_there(data)
    from . import evaluate

    evaluate.drift(model, data, settings, alpha)


def rank(
    data: Data,
    settings: Settings,
    method: Annotated[
        str, Option("Model", "Name of the ranking.", names=_rankings)
    ] = "mutual-information",
) -> None:
    """Rank the columns of a table without a model."""
    check_there(data)
    from . import commands

    commands.rank(data, settings, method)


# -- Series, the studio, and the papers ------------------------------------------------------------


def signals(
    data: Annotated[
        Path,
        Argument("A long table (--id), a wide one (--wide), or a folder with a file a series."),
    ],
    settings: Settings,
    series: SeriesSettings,
    scores: Annotated[
        list[Path] | None,
        Option(
            "Data",
            "A TOML file that says which scores, over which grid; or a Python file with "
            "register_score, which is RUN, with all that a program may do. Repeatable.",
        ),
    ] = None,
) -> None:
    """Learn a readable classifier from time series in files, and write model and report.

    Windows of one record never stand on both sides of a split.  predict, explain and report then
    take series of the same form.
    """
    check_writing(settings)
    check_series(data, series)
    from . import signals as work

    work.signals(data, settings, series, scores or [])


def scores(
    settings: Settings,
    name: Annotated[str | None, Argument("The score to draw; all are listed.")] = None,
    out: Annotated[
        Path | None, Option("Output", "Draw into this file (.png, .svg) instead of as text.")
    ] = None,
    own: Annotated[
        list[Path] | None,
        Option("Data", "A Python file with register_score, which is RUN.", flag="--scores"),
    ] = None,
) -> None:
    """List the scores for time series, or draw one of them on an example."""
    if name is None and out is not None:
        raise BadUseError("--out needs the NAME of a score to draw.")
    if out is not None:
        check_file(out)
    from . import signals as work

    work.scores(settings, name, out, own or [])


def studio(
    settings: Settings,
    series: SeriesSettings,
    file: Annotated[
        Path | None,
        Argument(
            "A table, series (--id, --wide, or a folder), or a project (.bayesieve).", "[FILE]"
        ),
    ] = None,
    port: Annotated[int, Option("Machine", "0: one that is free.", low=0, high=65535)] = 0,
    host: Annotated[
        str,
        Option("Machine", "Where to listen; other machines may connect where it is not this."),
    ] = "127.0.0.1",
    project: Annotated[
        Path | None, Option("Output", "Save the work here, after every change.")
    ] = None,
    browser: Annotated[
        bool, Option("Machine", "Open the page in a browser.", flag="--browser/--no-browser")
    ] = True,
    idle: Annotated[float, Option("Machine", "Minutes without a page until it ends.", low=0)] = 10,
) -> None:
    """Open an interactive page on this machine: search, pin, forbid and swap columns."""
    if file is not None:
        if series.given or file.is_dir():
            check_series(file, series)
        elif project is None:
            check_there(file)
    from .studio import launch

    launch.serve(settings, series, file, port, host, project, browser, idle)


def demo(
    settings: Settings,
    seed: Annotated[int, Option("Machine", "Source of randomness.", low=0, high=10**6)] = 0,
    quick: Annotated[
        bool, Option("Machine", "A tenth of the signals.", flag="--quick/--no-quick")
    ] = False,
    out: Annotated[Path | None, Option("Output", "Folder for report.html.")] = None,
) -> None:
    """Simulate signals, score them, sieve the indicators, and show the model in words."""
    if out is not None:
        check_folder(out)
    from . import papers

    papers.demo(settings, seed, quick, out)


def datasets(settings: Settings) -> None:
    """List the named data sets and where each can be had."""
    from . import commands

    commands.datasets(settings)


def reproduce(
    paper: Annotated[str, Argument(f"One of: {', '.join(PAPERS)}.", names=lambda: PAPERS)],
    settings: Settings,
    quick: Annotated[
        bool,
        Option("Machine", "Smaller data, fewer replications.", flag="--quick/--no-quick"),
    ] = False,
    seed: Annotated[int, Option("Machine", "Source of randomness.", low=0, high=10**6)] = 0,
    data: Annotated[
        Path | None, Option("Data", "Folder with the data files, where the paper needs any.")
    ] = None,
    figure: Annotated[
        Path | None, Option("Output", "Draw the figure into this file (.png, .svg or .pdf).")
    ] = None,
    as_csv: Annotated[
        Path | None,
        Option("Output", "Write every figure into this file, a line each.", flag="--csv"),
    ] = None,
    as_latex: Annotated[
        Path | None,
        Option("Output", "Write the tables into this file, for booktabs.", flag="--latex"),
    ] = None,
) -> None:
    """Reproduce the tables of a paper, with the published figures next to ours."""
    choose("paper", paper, PAPERS)
    if data is not None and not data.is_dir():
        raise BadUseError(f"--data: {str(data)!r} is not a folder (or does not exist).")
    if figure is not None:
        if figure.suffix not in (".png", ".svg", ".pdf"):
            raise BadUseError(f"--figure must end in .png, .svg or .pdf; got {str(figure)!r}.")
        check_file(figure, option="--figure")
        if find_spec("matplotlib") is None:
            raise BadUseError("--figure needs matplotlib: pip install 'bayesieve[plot]'.")
    for option, path in (("--csv", as_csv), ("--latex", as_latex)):
        if path is not None:
            check_file(path, option=option)
    from . import papers

    papers.reproduce(paper, settings, quick, seed, data, figure, as_csv, as_latex)


class Chapter(NamedTuple):
    """Verbs that stand together in help."""

    title: str
    verbs: tuple[Callable[..., None], ...]


#: Every verb, in the order of work.
CHAPTERS = (
    Chapter("From a table to decisions", (look, select, card, report, decide, predict, explain)),
    Chapter("Evaluation", (nested, stability, calibrate, compare, drift, rank)),
    Chapter("Series, studio and papers", (signals, scores, studio, demo, datasets, reproduce)),
)


# -- What is refused before any work ---------------------------------------------------------------


def check_writing(settings: Settings) -> None:
    """Refuse, before any work, what would fail at its end."""
    if settings.validation is not None and not 0 <= settings.validation < 1:
        raise BadUseError(
            f"--validation must be at least 0 and below 1; got {settings.validation}."
        )
    if settings.resamples == 1:
        raise BadUseError("--resamples must be 0 (none) or at least 2; got 1.")
    check_resume(settings.checkpoint, settings.resume)
    out = cast(Path, settings.out)
    check_folder(out)
    check_new([out / name for name in RESULT], settings.force or settings.resume)


def check_resume(checkpoint: Path | None, resume: bool) -> None:
    """Refuse to overwrite an existing checkpoint, unless --resume continues from it."""
    if resume and checkpoint is None:
        raise BadUseError("--resume needs --checkpoint FILE, the file to go on from.")
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise BadUseError(
            f"--checkpoint: {str(checkpoint)!r} exists; add --resume to go on from it, or name "
            "another file."
        )
    if checkpoint is not None and not checkpoint.absolute().parent.is_dir():
        raise BadUseError(
            f"--checkpoint: the folder {str(checkpoint.parent)!r} does not exist; make it first."
        )


def _check_exists(data: Path) -> None:
    """Refuse a table, or a folder of series, that is not there."""
    if not data.is_dir():
        check_there(data)


def _check_rewriting(model: Path, data: Path, out: Path | None) -> None:
    """Refuse to write a model once more where that cannot be."""
    check_there(model, "the model file")
    check_there(data)
    if out is not None and out != model:
        check_file(out, (model, data))


def check_series(data: Path, asked: SeriesSettings) -> None:
    """Refuse what does not say how series lie in a file."""
    if asked.stride is not None and asked.window is None:
        raise BadUseError("--stride needs --window POINTS, the length of a window.")
    if not data.exists():
        raise BadUseError(f"{str(data)!r} does not exist; name a table or a folder.")
    kind = asked.kind(data)
    every: dict[str, dict[str, str | bool | None]] = {
        "folder": {
            "--id": asked.series_id,
            "--channel": asked.channel,
            "--wide": asked.wide or None,
        },
        "wide": {"--time": asked.time, "--channel": asked.channel},
    }
    odd = next((name for name, value in every.get(kind, {}).items() if value is not None), None)
    if odd is not None:
        what = "a folder, whose files are the series" if kind == "folder" else "a wide table"
        raise BadUseError(f"{odd} does not go with {what}; leave it out.")
    if kind == "long" and asked.series_id is None:
        raise BadUseError(
            f"say how the series lie in {data.name}: --id COLUMN for a long table (one row a "
            "point), or --wide (one row a series)."
        )


# -- From the table of options to parameters that Typer reads --------------------------------------


def as_typer(name: str, verb: Callable[..., None]) -> Callable[..., None]:
    """A verb as Typer reads it: one parameter for each option that it takes.

    A parameter whose type is a table of options stands for all of them that the verb uses; where
    the verb takes every option of `select`, the others are taken too, and left out of the help.

    Its parameters are annotated with `Option`, `Argument`, or a table of options; arguments come
    first, then options panel by panel.
    """
    own = get_type_hints(verb, include_extras=True)
    tables = {
        key: hint
        for key, hint in own.items()
        if isinstance(hint, type) and issubclass(hint, OptionTable)
    }
    fields: dict[str, list[str]] = {key: [] for key in tables}
    found: list[tuple[int, inspect.Parameter]] = []

    def add(key: str, kind: Foreign, told: Option | Argument, default: object) -> None:
        at = -1 if isinstance(told, Argument) else PANELS.index(told.panel)
        found.append((at, _parameter(name, key, kind, told, default)))

    for key, each in inspect.signature(verb).parameters.items():
        if key not in tables:
            kind, told = get_args(own[key])
            add(key, kind, told, each.default)
            continue
        hints = get_type_hints(tables[key])
        for field, option in tables[key].table().items():
            # A verb's own parameter stands for the table's of that name.
            if field not in own and (name in option.verbs or name in LIKE_SELECT):
                default = (
                    inspect.Parameter.empty
                    if name in option.required
                    else tables[key].default(field)
                )
                add(field, hints[field], option, default)
                fields[key].append(field)

    @wraps(verb)
    def call(**values: Foreign) -> None:
        for key, table in tables.items():
            given = {field: values.pop(field) for field in fields[key]}
            values[key] = table(**given).validated(name)
        verb(**values)

    parameters = [each for _, each in sorted(found, key=lambda pair: pair[0])]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def _parameter(
    verb: str, name: str, kind: Foreign, option: Option | Argument, default: object
) -> inspect.Parameter:
    """One parameter, with what Typer must know of it."""
    info: object
    if isinstance(option, Argument):
        info = typer.Argument(
            help=option.help, metavar=option.metavar, autocompletion=_completion(option.names)
        )
    else:
        hidden = bool(option.verbs) and verb not in option.verbs
        flags = [option.flag or option.flag_of(name)] if option.flag or kind is bool else []
        info = typer.Option(
            *flags,
            help=option.says.get(verb, option.help),
            metavar=metavar_of(kind) or None,
            rich_help_panel=option.panel,
            min=option.low,
            max=option.high,
            hidden=hidden,
            autocompletion=_completion(option.names),
        )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )


def _completion(
    names: Callable[[], Iterable[str]] | None,
) -> Callable[[str], list[str]] | None:
    """Complete a name in the shell: the last of a list, where commas separate several."""
    if names is None:
        return None

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in names() if name.startswith(last)]

    return complete


# -- The application -------------------------------------------------------------------------------


class _InPanels:
    """Help whose options stand in panels: boxes on a terminal, plain paragraphs elsewhere."""

    def get_params(self, ctx: Foreign) -> Foreign:
        """Arguments and options, as help shows them."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for each in found:
            if getattr(each, "is_flag", False) and each.metavar is None:
                each.metavar = ""  # it takes no value, and so shows no type
            if not getattr(each, "rich_help_panel", None) and each.param_type_name == "option":
                each.rich_help_panel = PANELS[-1]
        return found

    def format_help(self, ctx: Foreign, formatter: Foreign) -> None:
        """Boxes are for people at a terminal; what is piped is read by programs too."""
        if not sys.stdout.isatty():
            self.rich_markup_mode: Foreign = None
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def format_options(self, ctx: Foreign, formatter: Foreign) -> None:
        """Paragraphs of help, one a panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None:
                title = getattr(each, "rich_help_panel", None) or "Arguments"
                if each.param_type_name == "argument":  # what it is, its help says
                    record = record[0].partition(" <")[0], record[1]
                panels.setdefault(title, []).append(record)
        for title, records in panels.items():
            with formatter.section(title):
                formatter.write_dl(records)


class PanelCommand(_InPanels, TyperCommand):
    """A verb."""


class PanelGroup(_InPanels, TyperGroup):
    """All verbs."""

    def format_options(self, ctx: Foreign, formatter: Foreign) -> None:
        """The verbs, one paragraph a chapter; then the options of all of them."""
        for title, verbs in CHAPTERS:
            with formatter.section(title):
                known = [(verb.__name__, self.get_command(ctx, verb.__name__)) for verb in verbs]
                formatter.write_dl(
                    [(name, each.get_short_help_str(200)) for name, each in known if each]
                )
        super().format_options(ctx, formatter)


app = typer.Typer(
    cls=PanelGroup,
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Feature selection for naive Bayes: exact, fast and readable.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        from .. import __version__

        say(f"bayesieve {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_tell_version)
    ] = False,
) -> None:
    """Feature selection for naive Bayes: exact, fast and readable."""
    context.ensure_object(dict)["debug"] = debug


#: Every verb of the command line.
VERBS = {verb.__name__: verb for chapter in CHAPTERS for verb in chapter.verbs}

for _chapter in CHAPTERS:
    for _verb in _chapter.verbs:
        app.command(_verb.__name__, cls=PanelCommand, rich_help_panel=_chapter.title)(
            as_typer(_verb.__name__, _verb)
        )


# -- How a run ends --------------------------------------------------------------------------------


def run() -> None:
    """Run the command line: exit code 2 for bad use, 1 and one sentence for failure.

    There is no traceback, unless ``--debug`` asks for one.
    """
    state = {"debug": False}

    def remark(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: object = None,
        line: str | None = None,
    ) -> None:
        # No file and no line of ours; what other libraries tell programmers is for --debug.
        if state["debug"] or Path(filename).is_relative_to(_PACKAGE):
            tell(f"bayesieve: {message}")

    warnings.showwarning = remark
    try:
        # Not alone: Typer would draw panels.  It returns an exit code where it would have left.
        code = app(standalone_mode=False, prog_name="bayesieve", obj=state)
        send(sys.stdout.flush)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = FAILURE
        _hush()
    except Exception as error:
        if state["debug"]:
            traceback.print_exc()
        code = _exit_of(error)
        if isinstance(error, OSError):
            _hush()
    if code == INTERRUPTED:
        tell("bayesieve: interrupted.")
    sys.exit(code if isinstance(code, int) else 0)


def _exit_of(error: Exception) -> int:
    """Say in one sentence what went wrong; whose fault it was is the exit code."""
    if hasattr(error, "format_message"):
        return _usage_exit(error)
    text = " ".join(str(error).split())
    if isinstance(error, ValueError):
        # The library's own words for bad input.
        tell(f"bayesieve: {text}")
        return BAD_USE
    if isinstance(error, MemoryError) and "GB" not in text:  # where we refuse, bytes are named
        text = "the memory does not suffice; use fewer rows or columns"
    elif isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror.lower()}"
    elif not isinstance(error, OSError | ImportError | MemoryError):
        text = f"{type(error).__name__}: {text} (bayesieve --debug shows where)"
    tell(f"bayesieve: {text.rstrip('.')}.")
    return FAILURE


def _usage_exit(error: Foreign) -> int:
    """Say in one sentence which option or argument Typer does not understand."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        # With rich, the help was printed when the error was made.
        if help_text := error.format_message().strip():
            tell(help_text)
        return BAD_USE
    text = " ".join(error.format_message().split()).removeprefix("Invalid value: ").rstrip(".")
    text += " See" if text.endswith("?") else "; see"
    where = context.command_path if context is not None else "bayesieve"
    tell(f"bayesieve: {text[:1].lower()}{text[1:]} '{where} --help'.")
    return int(error.exit_code)


def _hush() -> None:
    """Drop what is left of standard output: nobody reads it any more, or it is full."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
