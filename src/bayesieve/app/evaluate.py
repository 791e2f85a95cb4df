"""The verbs that evaluate: compare, decide, nested, stability, calibrate, report, drift."""

import importlib.util
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from ..checks import BadUseError, Foreign, choose
from ..data.files.output import output_folder, output_text, write_text
from ..datasets.loading import REGISTRY, load
from ..estimators.naive_bayes import NaiveBayes
from ..evaluation.calibration import calibrate as calibrate_model
from ..evaluation.compare.methods import SCORES
from ..evaluation.compare.result import Comparison
from ..evaluation.compare.run import compare as compare_methods
from ..evaluation.decide import decide as decide_by
from ..evaluation.drift import drift as drift_from
from ..evaluation.nested import nested as nest
from ..evaluation.stability import stability as resample
from ..explain.modelfile.file import model_to_dict, save_model
from ..explain.report import make_report
from . import learning
from .commands import OnTable, open_on_table, open_with_columns, prepare, tell_result
from .options import Settings, say, tell
from .tables import read_costs, read_problem, read_rates, read_rows

# -- The verb compare ------------------------------------------------------------------------------


def compare(
    data: list[str],
    out: Path,
    settings: Settings,
    *,
    methods: str,
    metric: str,
    seeds: int,
    folds: int,
    alpha: float,
    jobs: int,
    backend: str,
) -> None:
    """Compare methods on tables, and write the comparison."""
    choose("--metric", metric, SCORES)
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


def nested(data: Path, settings: Settings, folds: int) -> None:
    """Estimate the error of a whole selection."""
    _repeat(nest, f"the rows of {folds} folds", data, settings, cv=folds)


def stability(data: Path, settings: Settings, resamples: int) -> None:
    """Repeat a selection on halves of the rows."""
    _repeat(resample, f"{resamples} halves of the rows", data, settings, n_resamples=resamples)


def _repeat(
    judge: Callable[..., Foreign], doing: str, data: Path, settings: Settings, **how: int
) -> None:
    """Tell what a function finds that repeats a whole selection."""
    rows = read_rows(data, settings)
    selector = prepare(rows, settings)
    if settings.progress:
        tell(f"repeating the selection on {doing}")
    found = judge(
        selector,
        rows.X,
        rows.y,
        random_state=settings.seed,
        groups=rows.groups,
        n_jobs=settings.jobs,
        progress=settings.progress,
        **how,
    )
    tell_result(settings, found.to_dict, lambda: found.to_text() + "\n")


# -- The verbs calibrate and decide, which write a model once more ---------------------------------


def calibrate(model: Path, data: Path, settings: Settings, out: Path | None) -> None:
    """Calibrate the probabilities of a model."""
    place = model if out is None else out
    found = _rewrite(
        model, data, place, settings, lambda rows: calibrate_model(rows.model, rows.X, rows.y)
    )
    told = found.calibration_
    tell_result(settings, told.to_dict, lambda: f"{told.to_text()}\nwritten to {place}\n")


def decide(
    model: Path,
    data: Path,
    settings: Settings,
    *,
    costs: Path | None,
    abstain: str | None,
    max_false_alarms: str | None,
    min_detections: str | None,
    confidence: float,
    out: Path | None,
) -> None:
    """Add a decision rule to a model."""
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
    rows = open_on_table(model, data, settings)
    named = hasattr(rows.model, "feature_names_in_")
    found = change(rows)
    if not named and hasattr(found, "feature_names_in_"):
        del found.feature_names_in_
    save_model(found, place)
    return found


# -- The verbs report and drift --------------------------------------------------------------------


def report(
    model: Path, data: Path, out: Path, settings: Settings, scores: list[Path] | None
) -> None:
    """Write the report of a saved model on a table."""
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
        progress=settings.progress,
    )
    remark(f"writing {out}")
    output_text(out, page)
    if not settings.quiet:
        say(f"{out}\n")


def drift(model: Path, data: Path, settings: Settings, alpha: float) -> None:
    """Test which columns of new rows have drifted."""
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
