"""The verbs that evaluate: compare, decide, nested, stability, calibrate, report, drift."""

import importlib.util
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from ..checks import BadUseError, Foreign, choose
from ..data.files.output import (
    check_file,
    check_folder,
    check_new,
    output_folder,
    output_text,
    write_text,
)
from ..datasets.loading import REGISTRY, load
from ..estimators.naive_bayes import NaiveBayes
from ..evaluation.calibration import calibrate as calibrate_model
from ..evaluation.compare.methods import METHODS, SCORES
from ..evaluation.compare.result import Comparison
from ..evaluation.compare.run import compare as compare_methods
from ..evaluation.decide import decide as decide_by
from ..evaluation.drift import drift as drift_from
from ..evaluation.nested import nested as nest
from ..evaluation.stability import stability as resample
from ..explain.modelfile.file import model_to_dict, save_model
from ..explain.report import make_report
from . import learning
from .commands import (
    OnTable,
    check_resume,
    open_on_table,
    open_with_columns,
    prepare,
    tell_result,
)
from .options import Argument, Data, Model, NewData, Option, OwnScores, Settings, say, tell
from .tables import read_costs, read_problem, read_rates, read_rows

# -- The verb compare ------------------------------------------------------------------------------


def compare(
    data: Annotated[
        list[str],
        Argument("Tables (as for select), or names that `bayesieve datasets` lists."),
    ],
    out: Annotated[Path, Option("Folder for table.csv, table.tex, results.json and pictures.")],
    settings: Settings,
    methods: Annotated[
        str,
        Option(
            "Names, separated by commas (an unknown one is answered with all), or module:factory.",
            names=lambda: METHODS,
        ),
    ] = "weighted,naive-bayes,logistic,forest,majority",
    metric: Annotated[
        str, Option("Score by which methods are ranked.", names=lambda: SCORES)
    ] = "accuracy",
    seeds: Annotated[int, Option("Repeats, each with other folds.")] = 3,
    folds: Annotated[int, Option("Number of folds.")] = 5,
    alpha: Annotated[float, Option("Significance level of the tests.")] = 0.05,
    jobs: Annotated[int, Option("Fits at the same time; -1 for all cores.")] = 1,
    backend: Annotated[str, Option("'threads' or 'processes'.")] = "threads",
) -> None:
    """Compare methods on tables by cross-validation on the same folds, with significance tests."""
    choose("--metric", metric, SCORES)
    check_folder(out)
    check_resume(settings.checkpoint, settings.resume)
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the tables may make methods
    sets = _read(data, settings.target, settings.quiet)
    with warnings.catch_warnings():
        for kind in (UserWarning, RuntimeWarning):
            # A method may warn in each of a thousand fits: the same words are said once.
            warnings.simplefilter("ignore" if settings.quiet else "once", kind)
        found = compare_methods(
            [name.strip() for name in methods.split(",") if name.strip()],
            sets,
            seeds=seeds,
            folds=folds,
            checkpoint=settings.checkpoint,
            n_jobs=jobs,
            backend=backend,
            progress=not settings.quiet,
        ).by(metric, alpha=alpha)
    with output_folder(out) as folder:  # all files at once, or none
        write_text(folder / "table.csv", found.to_csv())
        write_text(folder / "table.tex", found.to_latex())
        write_text(folder / "results.json", found.to_json())
        if found.ranked and importlib.util.find_spec("matplotlib") is not None:
            _draw(found, folder)
    if settings.as_json:
        say(found.to_json())
    elif not settings.quiet:
        say(f"{found}\n\nwritten to {out}\n")


def _read(data: list[str], target: str | None, quiet: bool) -> dict[str, object]:
    """Tables and named sets; a file is called by its name without the ending."""
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


def _draw(found: Comparison, folder: Path) -> None:
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


# -- The verbs nested and stability ----------------------------------------------------------------


def nested(
    data: Data,
    settings: Settings,
    folds: Annotated[int, Option("Outer folds.", low=2)] = 5,
) -> None:
    """Estimate the error of a whole selection by nested cross-validation.

    Takes every option of `select`.
    """
    _repeat(nest, data, settings, cv=folds)


def stability(
    data: Data,
    settings: Settings,
    resamples: Annotated[int, Option("How many halves of the rows are drawn.", low=2)] = 20,
) -> None:
    """Repeat a selection on halves of the rows: which columns are selected again?

    Takes every option of `select`.
    """
    _repeat(resample, data, settings, n_resamples=resamples)


def _repeat(judge: Callable[..., Foreign], data: Path, settings: Settings, **how: int) -> None:
    """Tell what a function finds that repeats a whole selection."""
    rows = read_rows(data, settings)
    found = judge(
        prepare(rows, settings),
        rows.X,
        rows.y,
        random_state=settings.seed,
        groups=rows.groups,
        n_jobs=settings.jobs,
        **how,
    )
    tell_result(settings, found.to_dict, lambda: found.to_text() + "\n")


# -- The verbs calibrate and decide, which write a model once more ---------------------------------


def calibrate(
    model: Model,
    data: NewData,
    settings: Settings,
    out: Annotated[
        Path | None,
        Option("The model file to write; by default the model itself is calibrated."),
    ] = None,
) -> None:
    """Calibrate the probabilities of a model on held-out rows.

    Takes every option of `select`, of which the table's are used.
    """
    place = model if out is None else out
    found = _rewrite(
        model, data, place, settings, lambda rows: calibrate_model(rows.model, rows.X, rows.y)
    )
    told = found.calibration_
    tell_result(settings, told.to_dict, lambda: f"{told.to_text()}\nwritten to {place}\n")


_RATES = "a number, or CLASS=NUMBER,..."


def decide(
    model: Model,
    data: NewData,
    settings: Settings,
    costs: Annotated[
        Path | None,
        Option(
            "CSV table of costs: a line for each class, a column for each decision; a column "
            "'ask a person' for asking."
        ),
    ] = None,
    abstain: Annotated[str | None, Option(f"Cost of asking a person: {_RATES}")] = None,
    max_false_alarms: Annotated[
        str | None, Option(f"Maximum rate of false alarms: {_RATES}")
    ] = None,
    min_detections: Annotated[str | None, Option(f"Minimum rate of detection: {_RATES}")] = None,
    confidence: Annotated[
        float, Option("Confidence of these limits, above 0.5 and below 1.")
    ] = 0.95,
    out: Annotated[
        Path | None,
        Option("The model file to write; by default the model itself gets the rule."),
    ] = None,
) -> None:
    """Add a decision rule to a model: costs, referral to a person, limits on false alarms.

    predict, explain and exported code follow the rule from then on.
    """
    place, asking = model if out is None else out, read_rates("--abstain", abstain)
    table = read_costs(costs)
    most = read_rates("--max-false-alarms", max_false_alarms)
    least = read_rates("--min-detections", min_detections)

    def by_rule(rows: OnTable) -> NaiveBayes:
        return decide_by(
            rows.model,
            rows.X,
            rows.y,
            costs=table,
            abstain=asking,
            max_false_alarms=most,
            min_detections=least,
            confidence=confidence,
            groups=rows.groups,
        )

    ruled = _rewrite(model, data, place, settings, by_rule)
    rules = [part["rule"] for part in model_to_dict(ruled)["models"]]
    tell_result(
        settings,
        lambda: {"rules": rules, "rows": ruled.decision_.to_dict()},
        lambda: f"{ruled.decision_.to_text()}\nwritten to {place}\n",
    )


def _rewrite(
    model: Path,
    data: Path,
    place: Path,
    settings: Settings,
    change: Callable[[OnTable], NaiveBayes],
) -> NaiveBayes:
    """Write a model as rows that it has not seen change it.

    It is written to `place`, which may be the model's own file.
    """
    if place != model:
        check_file(place, (model, data))
    rows = open_on_table(model, data, settings)
    named = hasattr(rows.model, "feature_names_in_")
    found = change(rows)
    if not named and hasattr(found, "feature_names_in_"):
        del found.feature_names_in_
    save_model(found, place)
    return found


# -- The verbs report and drift --------------------------------------------------------------------


def report(
    model: Model,
    data: Data,
    out: Annotated[Path, Option("The HTML file to write.")],
    settings: Settings,
    scores: OwnScores = None,
) -> None:
    """Write the HTML report of a saved model on a table (`select` writes its own).

    Takes every option of `select`, of which those of the table and of the report are used.
    """
    check_file(out, (model, data))
    check_new([out], settings.force)
    remark = (lambda line: None) if settings.quiet else tell
    title = settings.title or f"{model.name} on {data.name}"
    pipeline = learning.open_series(model, scores)
    if pipeline is not None:
        table = None if settings.labels is None else Path(settings.labels)
        known = learning.series_of(pipeline, data, settings.target, table)
    else:
        known = open_on_table(model, data, settings)
    page = make_report(
        known.model if pipeline is None else pipeline,
        known.X,
        known.y,
        title=title,
        include_rows=settings.include_rows,
        remark=remark,
    )
    remark(f"writing {out}")
    output_text(out, page)
    if not settings.quiet:
        say(f"{out}\n")


def drift(
    model: Model,
    data: Annotated[Path, Argument("A table of new rows; no classes are needed.")],
    settings: Settings,
    alpha: Annotated[
        float, Option("Significance level, over all columns together.", low=0, high=1)
    ] = 0.05,
) -> None:
    """Test which columns of new rows have drifted from training, and how novelty changed."""
    found = drift_from(*open_with_columns(model, data), alpha=alpha)

    def words() -> str:
        lines = [f"{found.headline()}\n"]
        for name, distance, p, change in zip(
            found.columns, found.distance, found.adjusted, found.change, strict=True
        ):
            mark = "moved" if p <= found.alpha else "     "
            lines.append(f"{mark}  {distance:6.3f}  p = {p:<8.2g} {name}: {change}\n")
        return "".join(lines)

    about = {"rows": found.rows, "moved": found.moved, "novel": found.novel}
    tell_result(settings, lambda: {**found.to_dict(), **about}, words)
