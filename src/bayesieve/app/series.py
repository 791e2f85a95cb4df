"""Decisions on time series in files, by a model that was learnt before."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import polars as pl

from ..data.files.base import BadUseError, whole_numbers
from ..data.files.form import SeriesForm
from ..data.files.series import series_parts, settle_form
from ..data.records import Windows, cut_windows
from ..data.series import SeriesTable
from ..estimators.deploy import deploy
from ..estimators.signals import SignalPipeline
from ..evaluation.given import Value
from ..explain.evidence import explain
from ..explain.explanations import Explanation
from ..explain.plain import Plain
from ..explain.report import make_report
from ..explain.report.single import Picture, explanations_page
from ..indicators.contract import Spans
from ..indicators.indicator import Indicator
from ..indicators.scores_file import read_scores
from .commands import Pages, check_known, open_file, predicted
from .learning import read_learning, replace_ids, speak, spoken_of


class Cut(NamedTuple):
    """Series to decide on, and what a table says of them first."""

    table: SeriesTable
    about: dict[str, list[object]]


def read_cuts(pipeline: SignalPipeline, data: Path, most_rows: int) -> Iterator[Cut]:
    """Series of a file, or their windows, some at a time."""
    form = form_of(pipeline, data)
    settle_form(data, form)
    found = False
    for part in series_parts(data, form, most_rows):
        table = replace_ids(part.table)
        if form.window is None:
            found = True
            yield Cut(table, {"id": [*table.ids]})
            continue
        if max(x.size for x in table.values[0]) < form.window:
            continue
        cuts = cut_windows(table, form.window, form.stride or form.window)
        found = True
        names = [table.ids[i] for i in cuts.groups]
        yield Cut(cuts.table, {"id": [*names], **_ends(cuts)})
    if not found:
        raise BadUseError(f"{data.name} has no record of {form.window} points, a window's length.")


def _ends(cuts: Windows) -> dict[str, list[object]]:
    """Times of the first and the last point of windows; their numbers, where there are none."""
    times = cuts.table.times
    if times is not None:
        ends = {"start": [x[0] for x in times], "end": [x[-1] for x in times]}
        return {name: whole_numbers(np.array(mine)).tolist() for name, mine in ends.items()}
    sizes = np.array([x.size for x in cuts.table.values[0]])
    return {"start": cuts.firsts.tolist(), "end": (cuts.firsts + sizes - 1).tolist()}


def open_series(path: Path, scores: Sequence[Path] | None) -> SignalPipeline | None:
    """A model of series; None for one of tables.

    Parameters
    ----------
    path : the model file.
    scores : Python files with the scores that somebody wrote.
    """
    for each in scores or ():
        if each.suffix != ".py":
            raise BadUseError(
                f"--scores: {each.name!r} must be a Python file; the model file has all the rest."
            )
    if scores:
        read_scores(scores)
    try:
        found = open_file(path)
    except ValueError as error:
        if "register_score" not in str(error):
            raise
        raise BadUseError(f"{error} Give it again: --scores FILE.py.") from error
    return found if isinstance(found, SignalPipeline) else None


def form_of(pipeline: SignalPipeline, data: Path) -> SeriesForm:
    """How the series of a model lie in files; as in frames, where no command read them."""
    if pipeline.form_ is not None:
        form = SeriesForm.from_dict(pipeline.form_)
    elif data.is_dir():
        form = SeriesForm("folder")
    else:
        form = SeriesForm("long", "id", "time")
    if data.is_dir() != (form.kind == "folder"):
        what = {"long": "a long table", "wide": "a wide table", "folder": "a folder of files"}
        raise BadUseError(
            f"the model was learnt from {what[form.kind]}; {str(data)!r} is "
            f"{'a folder' if data.is_dir() else 'none'}."
        )
    return form


def predict_series(
    pipeline: SignalPipeline,
    data: Path,
    most_rows: int,
    priors: str | dict[str, float] | None = None,
) -> Iterator[str]:
    """The predictions for a file of series as CSV, some at a time."""
    model = pipeline.estimator if priors is None else deploy(pipeline.estimator, priors)
    for i, (table, about) in enumerate(read_cuts(pipeline, data, most_rows)):
        answers = predicted(model, pipeline.columns(table))
        first = pl.DataFrame(about)
        clash = [name for name in first.columns if name in answers.columns]
        whole = pl.concat([first, answers.drop(clash)], how="horizontal")
        yield whole.write_csv(include_header=i == 0)


class Decision(NamedTuple):
    """One series explained."""

    row: int
    name: str  #: of the series, or of the window
    series: SeriesTable
    found: Explanation


def explain_series(pipeline: SignalPipeline, data: Path, rows: Sequence[int]) -> list[Decision]:
    """Explanations of some series (or windows) of a file, by number, in the order asked for."""
    found: dict[int, Decision] = {}
    n_rows = 0
    for table, about in read_cuts(pipeline, data, 1 << 18):
        for row in sorted({r for r in rows if n_rows <= r < n_rows + len(table)}):
            at = row - n_rows
            mine = table[at]
            name = " ".join(str(values[at]) for values in about.values())
            found[row] = Decision(row, name, mine, explain(pipeline, mine)[0])
        n_rows += len(table)
    for row in rows:
        if row not in found:
            raise BadUseError(f"there is no series {row}; the file has 0 to {n_rows - 1}.")
    return [found[row] for row in rows]


def in_sentences(pipeline: SignalPipeline, found: Explanation) -> Explanation:
    """An explanation whose features are what the indicators say."""
    bars = [
        bar
        if bar.status == "prior"
        else replace(bar, feature=speak(pipeline, bar.feature), value=_yes_or_no(bar.value))
        for bar in found.evidence
    ]
    return replace(found, evidence=bars)


def _yes_or_no(value: Value | None) -> str:
    """What an indicator, or each of a pair, says."""
    words = {"1": "yes", "0": "no"}
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return (
        "missing" if value is None else " and ".join(words.get(x, x) for x in text.split(" and "))
    )


def in_lines(pipeline: SignalPipeline, decision: Decision, width: int = 20) -> str:
    """A decision as bars of text, each with its sentence after it, since sentences are long.

    Parameters
    ----------
    pipeline : the model.
    decision : what to tell.
    width : letters of the longest bar.
    """
    found = in_sentences(pipeline, decision.found)
    sizes = [abs(bar.log_ratio) for bar in found.evidence if np.isfinite(bar.log_ratio)]
    longest = max(sizes, default=0.0) or 1.0
    lines = [
        f"series {decision.name}: {found.target} rather than {found.against}: probability "
        f"{found.probability:.4g}, log-odds {found.log_odds:+.3f}"
    ]
    for bar in found.evidence:
        size = round(width * min(abs(bar.log_ratio) / longest, 1.0))
        stick = ("+" if bar.log_ratio > 0 else "-") * size
        said = "(prior)" if bar.status == "prior" else f"{bar.value}: {bar.feature}"
        lines.append(f"  {bar.log_ratio:+8.3f} {stick:{width}s} {said}")
    return "\n".join(lines) + "\n"


def fired_in(
    pipeline: SignalPipeline, decision: Decision, name: str
) -> list[tuple[Indicator, Spans]]:
    """The indicators of a feature, and where in the series each holds."""
    mine = spoken_of(pipeline, name)
    spans = pipeline.indicators.fired(decision.series, [each.id for each in mine])
    return [(each, spans[each.id]) for each in mine]


def decision_data(pipeline: SignalPipeline, decision: Decision) -> dict[str, Plain]:
    """A decision as plain data: evidence, what it says, and the points that it comes from."""
    data = cast("dict[str, Plain]", decision.found.to_dict())
    evidence: list[Plain] = []
    for bar in decision.found.evidence:
        told: list[Plain] = [
            {"id": each.id, "sentence": each.sentence, "spans": [[*span] for span in spans]}
            for each, spans in fired_in(pipeline, decision, bar.feature)
        ]
        evidence.append({**cast("dict[str, Plain]", asdict(bar)), "indicators": told})
    return data | {"row": decision.row, "id": decision.name, "evidence": evidence}


def decisions_page(pipeline: SignalPipeline, found: Sequence[Decision], title: str) -> str:
    """A page of decisions: evidence in words, and the series shaded where indicators hold."""
    at = pipeline.indicators.channels_.index
    pictures = [
        [
            [
                Picture(
                    each.sentence, [decision.series.values[at(c)][0] for c in each.channels], spans
                )
                for each, spans in fired_in(pipeline, decision, bar.feature)
                if spans
            ]
            for bar in decision.found.evidence
        ]
        for decision in found
    ]
    spoken = [(each.row, in_sentences(pipeline, each.found)) for each in found]
    names = [f"Series {each.name}" for each in found]
    return explanations_page(spoken, title, names=names, pictures=pictures)


def report_series(
    pipeline: SignalPipeline, data: Path, target: str | None, labels: Path | None, pages: Pages
) -> str:
    """The report of a finished model on series of a file."""
    learning = read_learning(data, form_of(pipeline, data), target, labels)
    model, y = pipeline.estimator, learning.y
    if model.classes_.dtype.kind in "OU" and y.dtype.kind not in "OU":
        y = y.astype(str)
    check_known(model, y)
    return make_report(
        pipeline,
        learning.table,
        y,
        title=pages.title,
        include_rows=pages.include_rows,
        remark=pages.remark,
    )
