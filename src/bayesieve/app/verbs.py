"""The verbs of the command line: what each takes, and what is refused before any work.

This is all that help, completion and most mistakes need, and it imports in a moment.  The work is
in other modules of this room, which stand on libraries that take seconds to import: a verb imports
its own when its words have been understood.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple, cast

from ..checks import BadUseError, check_there, choose
from ..data.files.output import check_file, check_folder, check_new
from .options import (
    Argument,
    Data,
    Model,
    NewData,
    Option,
    OwnScores,
    SeriesSettings,
    Settings,
    Tables,
)

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
        check_model(model)
    check_folder(out)
    check_new([out / name for name in card_files()], settings.force)
    from . import commands

    commands.card(data, settings, lines, points, pair, model)


def card_files() -> list[str]:
    """The files of a card; the sheet where openpyxl is there."""
    sheet = ["card.xlsx"] * (find_spec("openpyxl") is not None)
    return ["card.html", "card.pdf", "card.txt", "card.json", *sheet, "model.json"]


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
    check_model(model)
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
    check_model(model)
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
    check_model(model)
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
    ] = "default,naive-bayes,logistic,forest,majority",
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
    check_model(model)
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
    Chapter("From a table to decisions", (select, card, report, decide, predict, explain)),
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


def check_model(path: Path) -> None:
    """Refuse a model file that is not there."""
    if not path.is_file():
        raise BadUseError(f"the model file {str(path)!r} does not exist (or is not a file).")


def _check_exists(data: Path) -> None:
    """Refuse a table, or a folder of series, that is not there."""
    if not data.is_dir():
        check_there(data)


def _check_rewriting(model: Path, data: Path, out: Path | None) -> None:
    """Refuse to write a model once more where that cannot be."""
    check_model(model)
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
