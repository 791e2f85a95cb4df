"""Learning from time series in files: read, cut into windows, scored, selected."""

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import polars as pl

from ..checks import Array, BadUseError, plain_value, some
from ..data.files.base import whole_numbers
from ..data.files.series import (
    column_by_series,
    read_labels,
    read_series_file,
    resolve_form,
    series_parts,
    table_names,
)
from ..data.result import Plain
from ..data.series import (
    Interval,
    SeriesForm,
    SeriesTable,
    Windows,
    cut_windows,
    intervals_of,
    labels_of,
)
from ..data.tables import RawTable
from ..estimators.base import procedure_of
from ..estimators.naive_bayes import deploy
from ..estimators.signals import SignalPipeline
from ..explain.evidence import Explanation, explain
from ..explain.report.content import report_content
from ..explain.report.page import Picture, explanations_page, render
from ..explain.text import factors_in_columns
from ..indicators.indicator import Indicator, Spans
from ..indicators.scores import read_scores
from .commands import (
    Counted,
    OnTable,
    check_known,
    open_file,
    predicted,
    resamples_for,
    summary,
    write_result,
)
from .options import Settings
from .tables import classes_of, groups_of, read_priors

#: Classes that a person can still tell apart in a report.
MOST_CLASSES = 20

# What the columns of a table of labels are called where nobody says it.
_LABEL_NAMES = ("label", "class")


class Learning(NamedTuple):
    """Series to learn from."""

    table: SeriesTable
    y: Array
    groups: Array | None  #: of windows: the record, which is never on both sides of a split
    form: SeriesForm
    words: list[str]  #: what people should know of them
    unit: str = "series"  #: what is never on both sides of a split
    records: Array | None = None  #: of windows: the number of the record


def read_learning(
    data: Path,
    form: SeriesForm,
    target: str | None,
    labels: Path | None,
    groups: str | None = None,
) -> Learning:
    """Read and validate series, their classes and groups.

    Classes are in the column `target`, of the table or of `labels`: a table of classes of series
    (id, class) or of stretches (id, start, end, class).  `groups` names a column that series share
    which are never on both sides of a split.
    """
    if labels is None and (target is None or form.kind == "folder"):
        raise BadUseError(
            "say the classes: --target COLUMN of the table, or --labels TABLE with a row a series "
            "(id, class), or a row a stretch (id, start, end, class) with --window."
        )
    inside = target if labels is None else None
    place = labels or data
    names = table_names(place) if place.is_file() else []
    if target is not None and target not in names and "," in target:
        raise BadUseError(
            f"--target: {target!r} is no column; series in files have one target. Learn each of "
            "them by itself, or all as labels in Python: signals(NaiveBayesSelector())."
        )
    guessed = form.values is None and form.channel is None and form.kind != "wide"
    apart = [target if labels is None or _has(data, target) else None]
    apart += [groups if groups is not None and _has(data, groups) else None]
    form = resolve_form(data, form, *apart)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            table, said = read_series_file(data, form, inside)
        except TypeError as error:  # what a library calls a wrong type is bad input here
            raise BadUseError(str(error)) from error
    words = [str(each.message) for each in caught]
    check_series(table)
    words += _gaps(table, form)
    if guessed:
        check_channels(table)
    odd = table.irregular()
    if odd:
        words.append(
            f"{len(odd)} series, such as {odd[0]!r}, have points that are not the same time apart: "
            "scores see the order of the points, as if they were"
        )
    shared = None if groups is None else _shared(data, form, target, labels, groups, table)
    if form.window is not None:
        found = _windows(table, said, form, target, labels, words)
    else:
        y = cast(pl.Series, said) if labels is None else _labels(labels, form, target, table)
        found = Learning(table, classes_of(y, target), None, form, words)
    if shared is not None:
        at = np.arange(len(table)) if found.records is None else found.records
        found = found._replace(groups=shared[at], unit="groups")
    n_classes = len(np.unique(found.y))
    if n_classes > MOST_CLASSES:
        raise BadUseError(
            f"the target has {n_classes} classes, such as {some(sorted(map(str, set(found.y))), 3)}"
            f"; at most {MOST_CLASSES} can be told apart: join some, or cut numbers into ranges."
        )
    return found


def _gaps(table: SeriesTable, form: SeriesForm) -> list[str]:
    """A word on series that scores do not answer on."""
    odd = [
        name
        for name, *record in zip(table.ids, *table.values, strict=True)
        if any(np.isnan(x).any() for x in record)
    ]
    if not odd or form.window is not None:
        return []
    hint = "; a long table holds series of any lengths" if form.kind == "wide" else ""
    return [
        f"{len(odd)} of {len(table)} series, such as {plain_value(odd[0])!r}, have missing points: "
        f"of the scores only dropouts has an answer there{hint}"
    ]


def _shared(
    data: Path,
    form: SeriesForm,
    target: str | None,
    labels: Path | None,
    column: str,
    table: SeriesTable,
) -> Array:
    """Groups of series, or of records, from a column of the table or of the labels."""
    if form.kind != "folder" and _has(data, column):
        found = groups_of(column_by_series(data, form, column))
    elif labels is not None and column in table_names(labels):
        ids, _ = _label_columns(labels, form, target)
        frame = read_labels(labels, (ids[0], column))
        mine = labels_of(frame, [str(name) for name in table.ids], id=ids[0], label=column)
        found = groups_of(pl.Series(column, mine))
    else:
        raise BadUseError(f"--groups: no column {column!r}, in {data.name} or in --labels.")
    if np.unique(found).size < 2:
        raise BadUseError(f"--groups: all series are of one group in {column!r}; leave it out.")
    return found


def _has(data: Path, target: str | None) -> bool:
    """Does a table have the column, which then is no column of values?"""
    return data.is_file() and target in table_names(data)


def check_series(table: SeriesTable) -> None:
    """Refuse series from which nothing can be learnt."""
    for name, values in zip(table.channels, table.values, strict=True):
        of = f" of the channel {name!r}" if name else ""
        for who, x in zip(table.ids, values, strict=True):
            if x.size < 2:
                many = "one point" if x.size else "no point"
                raise BadUseError(
                    f"series {plain_value(who)!r} has {many}{of}; every series needs several"
                    + (" of every channel." if len(table.channels) > 1 else ".")
                )
            if np.isnan(x).all():
                raise BadUseError(
                    f"series {plain_value(who)!r} has no value{of}, all are missing; leave it out."
                )


def check_channels(table: SeriesTable) -> None:
    """Refuse columns that are no measurements, where nobody named the columns of values."""
    for name, values in zip(table.channels, table.values, strict=True):
        known = [x[~np.isnan(x)] for x in values]
        if len(known) > 1 and all((x == x[0]).all() for x in known):
            why = "never changes within a series, as an identifier"
        elif sum(x.size for x in known) > 2 * len(known) and all(
            (np.diff(x) > 0).all() for x in known
        ):
            why = "rises from point to point of every series, as a time (--time)"
        else:
            continue
        raise BadUseError(
            f"column {name!r} {why}; name the columns of values: --value COLUMN, repeatable."
        )


def _label_columns(
    labels: Path, form: SeriesForm, target: str | None
) -> tuple[tuple[str, str], bool]:
    """Columns of the id and of the class, and whether there are stretches."""
    names = table_names(labels)
    others = [n for n in names if n not in (target, "start", "end", *_LABEL_NAMES)]
    ids = [name for name in (form.id, "id", "file") if name in names] or others[: len(others) == 1]
    if not ids:
        raise BadUseError(
            f"{labels.name} needs a column {form.id or 'id'!r} that names the series; it has "
            f"{some(names)}."
        )
    stretches = {"start", "end"} <= set(names)
    rest = [name for name in names if name not in (ids[0], "start", "end")]
    known = [target] if target is not None else [n for n in _LABEL_NAMES if n in names] or rest
    if len(known) != 1 or known[0] not in names:
        raise BadUseError(
            f"say with --target which column of {labels.name} has the classes; it has "
            f"{some(names)}."
        )
    return (ids[0], str(known[0])), stretches


def _labels(labels: Path, form: SeriesForm, target: str | None, table: SeriesTable) -> Array:
    """The class of every series, from a table."""
    columns, stretches = _label_columns(labels, form, target)
    if stretches:
        raise BadUseError(
            f"{labels.name} has the columns start and end: give --window POINTS to cut records."
        )
    frame = read_labels(labels, columns)
    ids = [str(name) for name in table.ids]
    return labels_of(frame, ids, id=columns[0], label=columns[1])


def _windows(
    table: SeriesTable,
    said: pl.Series | None,
    form: SeriesForm,
    target: str | None,
    labels: Path | None,
    words: list[str],
) -> Learning:
    """Windows of records, which are the groups; of one record, its stretches are."""
    intervals, of_records = None, said
    if labels is not None:
        columns, stretches = _label_columns(labels, form, target)
        if stretches:
            frame = read_labels(labels, columns, ("start", "end"))
            intervals = intervals_of(frame, id=columns[0], label=columns[1])
            _check_clock(table, intervals, form.time is not None)
        else:
            of_records = pl.Series(_labels(labels, form, target, table))
    window = form.window or 0
    named = replace_ids(table)
    cuts = cut_windows(named, window, form.stride or window, intervals)
    y = cuts.y if intervals is not None else cast(pl.Series, of_records).to_numpy()[cuts.groups]
    words.append(f"{len(cuts.table)} windows of {len(table)} record(s)")
    if cuts.left_out:
        words[-1] += f"; {cuts.left_out} more lie in no labelled stretch as a whole"
    groups, unit = cuts.groups, "records"
    if np.unique(groups).size == 1:
        if cuts.stretches is None:
            raise BadUseError("one record of one class: nothing can be told apart.")
        groups, unit = cuts.stretches, "stretches"
        words.append(
            "there is one record only: splits are between its labelled stretches, and how good the "
            "model is on another record is not known"
        )
    classes = classes_of(pl.Series(y), target)
    return Learning(cuts.table, classes, groups, form, words, unit, cuts.groups)


def replace_ids(table: SeriesTable) -> SeriesTable:
    """Ids as tables of labels write them."""
    return replace(table, ids=tuple(str(plain_value(name)) for name in table.ids))


def _check_clock(
    table: SeriesTable, intervals: dict[Hashable, list[Interval]], timed: bool
) -> None:
    """Records and intervals must count time alike."""
    if table.times is None and timed:
        raise BadUseError(
            "the channels of a record were not taken at the same times, and intervals hold for all "
            "of them: give every channel a value at every time, empty where there is none."
        )
    dated = table.times is not None and table.times[0].dtype.kind == "M"
    first = next(iter(intervals.values()))[0]
    if dated != (np.asarray(first.start).dtype.kind == "M"):
        raise BadUseError(
            "the records and the labels must both have dates, or both numbers; without --time, "
            "start and end are numbers of points, from 0."
        )


def score_series(pipeline: SignalPipeline, learning: Learning) -> RawTable:
    """Indicators of series, which the pipeline learns to make; it keeps how they lie in files."""
    pipeline.form_ = learning.form.to_dict()
    X = pipeline.fit_columns(learning.table)
    if not X.shape[1] or bool(np.isnan(X.columns).all()):
        raise BadUseError(
            "no score has an answer on any of the series: they are shorter than all windows, or "
            "all have missing points."
        )
    return X


def learn(
    pipeline: SignalPipeline,
    learning: Learning,
    settings: Settings,
    title: str,
    remark: Callable[[str], None],
) -> dict[str, Plain]:
    """Fit, report and write; gives what was found as plain data."""
    table, y, groups = learning.table, learning.y, learning.groups
    out, place = cast(Path, settings.out), read_priors(settings.priors)
    remark(f"scoring {len(table)} series")
    X = score_series(pipeline, learning)
    remark(f"choosing among {X.shape[1]} indicators")
    chooser = pipeline.fit_estimator(X, y, groups=groups)
    final = chooser if place is None else deploy(chooser, place)
    remark(f"estimating its error on held-out {learning.unit}")
    content = report_content(
        final,
        X,
        y,
        title=title,
        include_rows=settings.include_rows,
        n_resamples=resamples_for(X.shape, settings.resamples),
        groups=groups,
        signals=table,
        indicators=pipeline.indicators,
        n_jobs=chooser.n_jobs,
        remark=remark,
        progress=settings.progress,
    )
    remark(f"writing {out}")
    names = procedure_of(chooser).term_names
    sentences = [speak(pipeline, name) for name in names]
    chosen = {"feature": names, "sentence": sentences}
    path = chooser.path_.to_dict()
    whole, page = pipeline.with_estimator(final), render(content)
    write_result(out, whole, chosen, path, page, settings.safe_csv)
    judged = content["performance"]
    return summary(chooser, out) | {
        "sentences": [*sentences],
        "n_series": len(table),
        "n_indicators": X.shape[1],
        "unit": learning.unit,
        "pieces": "series" if learning.records is None else "windows",
        "n_units": len(table) if groups is None else len(np.unique(groups)),
        "error": judged["error"] if judged["rows"] != "given" else None,
    }


def told(result: dict[str, Plain]) -> str:
    """The terms found, and their out-of-fold error, in words."""
    sentences, unit = result["sentences"], result["unit"]
    assert isinstance(sentences, list)
    what = "term" if "criterion" not in result else "indicator"
    many = f"{len(sentences)} {what}{'s' * (len(sentences) != 1)}"
    of = f"{result['n_units']} {unit}"
    of = of if unit == "series" else f"{result['n_series']} {result['pieces']} of {of}"
    lines = [f"{many} from {result['n_indicators']} indicators of {of}:"]
    lines += [f"  {each}" for each in sentences] or ["  nothing separates the classes"]
    error = result["error"]
    judged = f"error on new {unit} not known"
    if isinstance(error, float):
        judged = f"error {error:.4f} on held-out {unit}"
    lines.append(f"{judged}; written to {result['folder']}")
    return "\n".join(lines) + "\n"


def spoken_of(pipeline: SignalPipeline, name: str) -> list[Indicator]:
    """The indicator that a feature is, or the two of a pair; none for the prior."""
    known = {each.id: each for each in pipeline.indicators.indicators_}
    parts = [name] if name in known else name.split(" x ")
    return [known[part] for part in parts if part in known]


def speak(pipeline: SignalPipeline, name: str) -> str:
    """A feature, or a pair of them, in words."""
    return " and ".join(each.sentence for each in spoken_of(pipeline, name)) or name


# -- Decisions on time series in files, by a model that was learnt before --------------------------


def read_cuts(
    pipeline: SignalPipeline, data: Path, most_rows: int
) -> Iterator[tuple[SeriesTable, dict[str, list[object]]]]:
    """Series of a file, or their windows, some at a time, and what a table says of them first."""
    form = form_of(pipeline, data)
    resolve_form(data, form)
    found = False
    for part in series_parts(data, form, most_rows):
        table = replace_ids(part.table)
        if form.window is None:
            found = True
            yield table, {"id": [*table.ids]}
            continue
        if max(x.size for x in table.values[0]) < form.window:
            continue
        cuts = cut_windows(table, form.window, form.stride or form.window)
        found = True
        names = [table.ids[i] for i in cuts.groups]
        yield cuts.table, {"id": [*names], **_ends(cuts)}
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
    """A model of series, its own scores in Python files; None for a model of tables."""
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
    else:
        form = SeriesForm("folder") if data.is_dir() else SeriesForm("long", "id", "time")
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
    tally: Counted | None = None,
) -> Iterator[str]:
    """The predictions for a file of series as CSV, some at a time."""
    model = pipeline.estimator if priors is None else deploy(pipeline.estimator, priors)
    for i, (table, about) in enumerate(read_cuts(pipeline, data, most_rows)):
        answers = predicted(model, pipeline.columns(table), tally)
        first = pl.DataFrame(about)
        clash = [name for name in first.columns if name in answers.columns]
        whole = pl.concat([first, answers.drop(clash)], how="horizontal")
        yield whole.write_csv(include_header=i == 0)


class SeriesDecision(NamedTuple):
    """One series explained."""

    row: int
    name: str  #: of the series, or of the window
    series: SeriesTable
    found: Explanation


def explain_series(
    pipeline: SignalPipeline, data: Path, rows: Sequence[int]
) -> list[SeriesDecision]:
    """Explanations of some series (or windows) of a file, by number, in the order asked for."""
    found: dict[int, SeriesDecision] = {}
    n_rows = 0
    for table, about in read_cuts(pipeline, data, 1 << 18):
        for row in sorted({r for r in rows if n_rows <= r < n_rows + len(table)}):
            at = row - n_rows
            mine = table[at]
            name = " ".join(str(values[at]) for values in about.values())
            found[row] = SeriesDecision(row, name, mine, explain(pipeline, mine)[0])
        n_rows += len(table)
    for row in rows:
        if row not in found:
            raise BadUseError(f"there is no series {row}; the file has 0 to {n_rows - 1}.")
    return [found[row] for row in rows]


def in_sentences(pipeline: SignalPipeline, found: Explanation) -> Explanation:
    """An explanation whose features are what the indicators say."""
    words = {"1": "yes", "0": "no", "None": "missing"}
    bars = []
    for bar in found.evidence:
        if bar.status != "prior":
            text = f"{bar.value:g}" if isinstance(bar.value, float) else str(bar.value)
            said = " and ".join(words.get(x, x) for x in text.split(" and "))
            bar = replace(bar, feature=speak(pipeline, bar.feature), value=said)
        bars.append(bar)
    return replace(found, evidence=bars)


def in_lines(pipeline: SignalPipeline, decision: SeriesDecision, width: int = 20) -> str:
    """A decision as bars of text, each with its sentence after it, since sentences are long."""
    found = in_sentences(pipeline, decision.found)
    sizes = [abs(bar.log_ratio) for bar in found.evidence if np.isfinite(bar.log_ratio)]
    longest = max(sizes, default=0.0) or 1.0
    figures = factors_in_columns([(b.log_ratio, b.rows, b.low, b.high) for b in found.evidence])
    lines = [f"series {decision.name}: {found.caption()}"]
    for bar, figure in zip(found.evidence, figures, strict=True):
        size = round(width * min(abs(bar.log_ratio) / longest, 1.0))
        stick = ("+" if bar.log_ratio > 0 else "-") * size
        said = "(prior)" if bar.status == "prior" else f"{bar.value}: {bar.feature}"
        lines.append(f"  {figure} {stick:{width}s} {said}")
    return "\n".join(lines) + "\n"


def fired_in(
    pipeline: SignalPipeline, decision: SeriesDecision, name: str
) -> list[tuple[Indicator, Spans]]:
    """The indicators of a feature, and where in the series each holds."""
    mine = spoken_of(pipeline, name)
    spans = pipeline.indicators.fired(decision.series, [each.id for each in mine])
    return [(each, spans[each.id]) for each in mine]


def decision_data(pipeline: SignalPipeline, decision: SeriesDecision) -> dict[str, Plain]:
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


def decisions_page(pipeline: SignalPipeline, found: Sequence[SeriesDecision], title: str) -> str:
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


def series_of(
    pipeline: SignalPipeline, data: Path, target: str | None, labels: Path | None
) -> OnTable:
    """A model of series, and series of a file to judge it by, with their classes."""
    learning = read_learning(data, form_of(pipeline, data), target, labels)
    model, y = pipeline.estimator, learning.y
    if model.classes_.dtype.kind in "OU" and y.dtype.kind not in "OU":
        y = y.astype(str)
    check_known(model, y)
    return OnTable(model, learning.table, y, learning.groups)
