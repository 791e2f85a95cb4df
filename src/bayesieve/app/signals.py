"""The verbs `signals` and `scores`: time series in files, and what can be seen in them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..checks import choose
from .options import Force, IncludeRows, Json, Priors, Quiet, Scores, Title, say, tell

if TYPE_CHECKING:
    from ..data.series import SeriesForm
    from ..estimators.signals import SignalPipeline
    from ..indicators.scores import ScoreSettings


def signals(
    data: Annotated[
        Path,
        typer.Argument(
            help="A long table (--id), a wide one (--wide), or a folder with a file a series."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for model.json, *.csv and report.html.")],
    target: Annotated[
        str | None, typer.Option(help="Column with the classes, of DATA or of --labels.")
    ] = None,
    series_id: Annotated[
        str | None, typer.Option("--id", help="Column that says which series a row belongs to.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="Column that says when.")] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(help="Column of values, a channel each; repeatable. All others by default."),
    ] = None,
    channel: Annotated[
        str | None, typer.Option(help="Column that names the channel of a row.")
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="One row is a whole series.")] = False,
    labels: Annotated[
        Path | None,
        typer.Option(help="Table of classes: (id, class), or (id, start, end, class)."),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column of DATA or --labels that series share (a machine, a person): never on "
            "both sides of a split."
        ),
    ] = None,
    window: Annotated[
        int | None, typer.Option(help="Cut long records into windows of so many points.", min=2)
    ] = None,
    stride: Annotated[
        int | None, typer.Option(help="Points from one window to the next; a window's.", min=1)
    ] = None,
    scores: Scores = None,
    preset: Annotated[
        str | None, typer.Option(help="'few' (at most 10 terms), 'balanced' or 'accurate'.")
    ] = None,
    estimator: Annotated[
        str, typer.Option(help="'weighted' (terms with weights) or 'selector' (a search).")
    ] = "auto",
    max_features: Annotated[
        int | None, typer.Option(help="At most so many, by a search.", min=1)
    ] = None,
    families: Annotated[
        bool, typer.Option("--families", help="Of indicators that are nearly the same, one.")
    ] = False,
    class_weight: Annotated[
        str | None, typer.Option(help="'balanced', or CLASS=NUMBER,...: weights of the classes.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    seed: Annotated[int, typer.Option(help="Source of randomness.", min=0)] = 0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Write down here how far the search came.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from --checkpoint.")] = False,
    time_limit: Annotated[
        float | None, typer.Option(help="Stop after so many seconds.", min=0)
    ] = None,
    priors: Priors = None,
    include_rows: IncludeRows = False,
    resamples: Annotated[
        int | None, typer.Option(help="Bootstrap samples for the stability; 0: none.", min=0)
    ] = None,
    title: Title = None,
    force: Force = False,
    safe_csv: Annotated[
        bool,
        typer.Option("--safe-csv", help="No text in *.csv that a spreadsheet takes for a formula."),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn a readable model from time series in files, and write it down.

    Windows of one record never stand on both sides of a split.  predict, explain and report then
    take series of the same form.
    """
    from ..estimators._validation import PRESETS
    from ..estimators.signals import signals as make_pipeline
    from . import commands, learning
    from .commands import check_result
    from .tables import Problem

    choose("--estimator", estimator, ["auto", "weighted", "selector"])
    if preset is not None:
        choose("--preset", preset, PRESETS)
    if resamples == 1:
        raise typer.BadParameter("--resamples must be 0 (none) or at least 2; got 1.")
    commands.check_resume(checkpoint, resume)
    check_result(out, force or resume)
    place = commands.read_priors(priors)
    form = series_form(data, series_id, time, channel, value, wide, (window, stride))
    asked = read_asked(scores or [], quiet)
    if not quiet and not as_json:
        tell(f"reading {data}")
    found = learning.read_learning(data, form, target, labels, groups)
    for line in [] if quiet else found.words:
        tell(line)
    problem = Problem(found.table, [], found.y)
    commands.check_place(place, found.y)
    shared = commands.SharedOptions(
        class_weight=commands.read_class_weight(class_weight, problem),
        random_state=seed,
        n_jobs=jobs,
        progress=not quiet and not as_json,
        checkpoint=checkpoint,
        time_limit=time_limit,
        families="auto" if families else None,
        preset=preset,
        engine=None,
    )
    searching = commands.SearchOptions(
        search="auto",
        criterion=None,
        cv="auto",
        choice="auto",
        n_features=None,
        min_features=None,
        max_features=max_features,
    )
    chooser = commands.make_chooser(estimator, "auto", "auto", shared, searching, problem)
    pipeline = make_pipeline(chooser, asked.scores, drop=asked.drop, n_jobs=jobs)
    if asked.quantiles is not None:
        pipeline.indicators.set_params(quantiles=asked.quantiles)
    pages = commands.Pages(title or f"Signals of {data.name}", include_rows, resamples)
    remark = tell if shared["progress"] else _silent
    result = learning.learn(pipeline, found, out, pages._replace(priors=place), safe_csv, remark)
    if as_json:
        say(commands.as_json(result) + "\n")
    elif not quiet:
        say(learning.told(result))


def _silent(line: str) -> None:
    """Nothing is said."""


def series_form(
    data: Path,
    series_id: str | None,
    time: str | None,
    channel: str | None,
    value: list[str] | None,
    wide: bool,
    cut: tuple[int | None, int | None],
) -> "SeriesForm":
    """How series lie in a file, as the options say."""
    from ..data.files.base import BadUseError
    from ..data.series import SeriesForm

    window, stride = cut
    if stride is not None and window is None:
        raise BadUseError("--stride needs --window POINTS, the length of a window.")
    if not data.exists():
        raise BadUseError(f"{str(data)!r} does not exist; name a table or a folder.")
    kind = "folder" if data.is_dir() else "wide" if wide else "long"
    every: dict[str, dict[str, str | bool | None]] = {
        "folder": {"--id": series_id, "--channel": channel, "--wide": wide or None},
        "wide": {"--time": time, "--channel": channel},
        "long": {},
    }
    odd = next((name for name, given in every[kind].items() if given is not None), None)
    if odd is not None:
        what = "a folder, whose files are the series" if kind == "folder" else "a wide table"
        raise BadUseError(f"{odd} does not go with {what}; leave it out.")
    if kind == "long" and series_id is None:
        raise BadUseError(
            f"say how the series lie in {data.name}: --id COLUMN for a long table (one row a "
            "point), or --wide (one row a series)."
        )
    values = tuple(value) if value else None
    return SeriesForm(kind, series_id, time, channel, values, window, stride)


def read_asked(paths: list[Path], quiet: bool = False) -> "ScoreSettings":
    """Scores of files; that a Python file is run is said first."""
    from ..indicators.scores import read_scores

    for path in [] if quiet else paths:
        if path.suffix == ".py":
            tell(f"{path} is run: a Python file may do all that a program may")
    return read_scores(paths)


def explain_signals(
    pipeline: "SignalPipeline", data: Path, rows: list[int], html: Path | None, as_json: bool
) -> None:
    """The evidence behind decisions on series, as text, JSON or a page with pictures."""
    from ..data.files.output import whole_file
    from . import commands as results
    from . import learning as series

    found = series.explain_series(pipeline, data, rows)
    if html is not None:
        page = series.decisions_page(pipeline, found, f"Decisions on series of {data.name}")
        with whole_file(html) as file:
            file.write(page.encode())
    elif as_json:
        say(results.as_json([series.decision_data(pipeline, each) for each in found]) + "\n")
    else:
        for each in found:
            say(series.in_lines(pipeline, each) + "\n")


def scores(
    name: Annotated[str | None, typer.Argument(help="The score to draw; all are listed.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Draw into this file (.png, .svg) instead of as text.")
    ] = None,
    own: Annotated[
        list[Path] | None,
        typer.Option("--scores", help="A Python file with register_score, which is RUN."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List what can be seen in series, or draw one score on an example."""
    from . import gallery

    read_asked(own or [])
    if name is None:
        if out is not None:
            raise typer.BadParameter("--out needs the NAME of a score to draw.")
        listed = gallery.listed()
        if as_json:
            from .commands import as_json as in_json

            say(in_json(listed) + "\n")
            return
        for each in listed:
            say(f"{each['name']:20s} {each['title']}: {each['measure']}\n")
        return
    shown = gallery.example(name)
    if out is None:
        say(gallery.as_text(shown))
        return
    from ..data.files.output import check_file

    check_file(out)
    gallery.draw(shown, out)
    say(f"{out}\n")
