"""Time series in files to learn from, and what is learnt."""

import warnings
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from ..checks import Array, plain_value
from ..data.files.base import BadUseError, some
from ..data.files.form import SeriesForm
from ..data.files.series import (
    read_labels,
    read_series_file,
    said_of_series,
    settle_form,
    table_names,
)
from ..data.records import Interval, cut_windows, intervals_of, labels_of
from ..data.series import SeriesTable
from ..estimators.deploy import deploy
from ..estimators.signals import SignalPipeline
from ..explain.plain import Plain
from ..explain.report import report_content
from ..explain.report.page import render
from ..indicators.indicator import Indicator
from .commands import Pages, resamples_for
from .results import chosen_names, summary, write_result
from .tables import classes_of, groups_of

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
    """Series, their classes and groups, judged before any work.

    Parameters
    ----------
    data : table or folder.
    form : how the series lie in it.
    target : column with the classes, in `labels` where that is given.
    labels : a table of classes: of series (id, class) or of stretches (id, start, end, class).
    groups : column that series share which are never on both sides of a split.
    """
    if labels is None and (target is None or form.kind == "folder"):
        raise BadUseError(
            "say the classes: --target COLUMN of the table, or --labels TABLE with a row a series "
            "(id, class), or a row a stretch (id, start, end, class) with --window."
        )
    inside = target if labels is None else None
    _one_target(labels or data, target)
    guessed = form.values is None and form.channel is None and form.kind != "wide"
    apart = [target if labels is None or _has(data, target) else None]
    apart += [groups if groups is not None and _has(data, groups) else None]
    form = settle_form(data, form, *apart)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table, said = _in_words(data, form, inside)
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
    elif labels is None:
        found = Learning(table, classes_of(_given(said), target), None, form, words)
    else:
        y = _labels(labels, form, target, table)
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


def _one_target(table: Path, target: str | None) -> None:
    """Several targets, which tables have as labels, are not for series in files."""
    names = table_names(table) if table.is_file() else []
    if target is not None and target not in names and "," in target:
        raise BadUseError(
            f"--target: {target!r} is no column; series in files have one target. Learn each of "
            "them by itself, or all as labels in Python: signals(NaiveBayesSelector())."
        )


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
        found = groups_of(said_of_series(data, form, column))
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


def _given(said: pl.Series | None) -> pl.Series:
    assert said is not None
    return said


def _in_words(
    data: Path, form: SeriesForm, label: str | None
) -> tuple[SeriesTable, pl.Series | None]:
    """The series; what a library calls a wrong type is bad input here."""
    try:
        found = read_series_file(data, form, label)
    except TypeError as error:
        raise BadUseError(str(error)) from error
    return found.table, found.labels


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
    y = cuts.y if intervals is not None else _given(of_records).to_numpy()[cuts.groups]
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


def learn(
    pipeline: SignalPipeline,
    learning: Learning,
    out: Path,
    pages: Pages,
    safe_csv: bool,
    remark: Callable[[str], None],
) -> dict[str, Plain]:
    """Fit, report and write; gives what was found as plain data.

    Parameters
    ----------
    pipeline : what learns.
    learning : from what.
    out : folder to write to.
    pages : what the report is to hold.
    safe_csv : no text that a spreadsheet takes for a formula.
    remark : told how far the work is.
    """
    table, y, groups = learning.table, learning.y, learning.groups
    pipeline.form_ = learning.form.to_dict()
    remark(f"scoring {len(table)} series")
    X = pipeline.fit_columns(table)
    if not X.shape[1] or bool(np.isnan(X.columns).all()):
        raise BadUseError(
            "no score has an answer on any of the series: they are shorter than all windows, or "
            "all have missing points."
        )
    remark(f"choosing among {X.shape[1]} indicators")
    chooser = pipeline.fit_estimator(X, y, groups=groups)
    final = chooser if pages.priors is None else deploy(chooser, pages.priors)
    remark(f"judging it on {learning.unit} that take no part")
    content = report_content(
        final,
        X,
        y,
        title=pages.title,
        include_rows=pages.include_rows,
        n_resamples=resamples_for(X.shape, pages.n_resamples),
        groups=groups,
        signals=table,
        indicators=pipeline.indicators,
        n_jobs=chooser.n_jobs,
        remark=remark,
    )
    remark(f"writing {out}")
    names = chosen_names(chooser, X.names)
    sentences = [speak(pipeline, name) for name in names]
    chosen = {"feature": names, "sentence": sentences}
    path = chooser.path_.to_dict()
    write_result(out, pipeline.with_estimator(final), chosen, path, render(content), safe_csv)
    judged = content["performance"]
    return summary(chooser, X.names, out) | {
        "sentences": [*sentences],
        "n_series": len(table),
        "n_indicators": X.shape[1],
        "unit": learning.unit,
        "pieces": "series" if learning.records is None else "windows",
        "n_units": len(table) if groups is None else len(np.unique(groups)),
        "error": judged["error"] if judged["rows"] != "given" else None,
    }


def told(result: dict[str, Plain]) -> str:
    """What was found, for people."""
    sentences, unit = result["sentences"], result["unit"]
    assert isinstance(sentences, list)
    what = "term" if "criterion" not in result else "indicator"
    many = f"{len(sentences)} {what}{'s' * (len(sentences) != 1)}"
    of = f"{result['n_units']} {unit}"
    of = of if unit == "series" else f"{result['n_series']} {result['pieces']} of {of}"
    lines = [f"{many} from {result['n_indicators']} indicators of {of}:"]
    lines += [f"  {each}" for each in sentences] or ["  nothing tells the classes apart"]
    error = result["error"]
    judged = f"how good it is on new {unit} is not known"
    if isinstance(error, float):
        judged = f"error {error:.4f} on {unit} that took no part"
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
