"""The content of a report, as plain data."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ...checks import plain_value
from ...data.result import Section
from ...data.sample import read_weights
from ...data.series import SeriesLike
from ...data.tables import SparseTable, Table, read_table
from ...estimators.base import ChosenColumns, procedure_of
from ...estimators.deploy import fitted_of, rows_of
from ...evaluation._typing import Model, Value
from ...evaluation.ablation import Ablation, ablate
from ...evaluation.crossfit import trained_on
from ...evaluation.performance import performance
from ...evaluation.stability import Stability
from ...indicators.transformer import Indicators
from ...models.fitted import FittedBayes
from ..model import explain_model
from ..plots import short_names
from ..portable import portable
from ..text import interval
from .explorer import choosing_rows, embedded_rows, in_nat
from .judgement import Facts, judge
from .sections import (
    SectionFacts,
    class_codes,
    decided_data,
    drift_data,
    fates,
    hashes_of,
    log_of,
    looked_at,
    path_of,
    rule_cost,
    rule_data,
    settings_of,
)

_MOST_LETTERS = 40

# Rows of a bin below which it is joined with the next: a number, and a share of all.
_FEW, _SHARE = 10, 0.02


def _some_verdicts(performance: Section, most: int) -> list[tuple[int, str, Section]]:
    """The most frequent classes (or labels) in their order: place among all, name, figures."""
    verdicts = performance["verdicts"]
    often = sorted(range(len(verdicts)), key=lambda at: -verdicts[at]["positives"])[:most]
    often.sort()
    names = short_names([verdicts[at]["name"] for at in often], _MOST_LETTERS)
    return [(at, name, verdicts[at]) for at, name in zip(often, names, strict=True)]


def detection_lines(content: Section, most: int) -> list[dict[str, object]]:
    """ROC curves, and the point at which each class is decided now.

    Parameters
    ----------
    content : the report.
    most : lines.
    """
    return [
        {
            "name": f"{name} (AUC {v['auc']:.2f})",
            "at": at,
            "points": v["roc"],
            "now": _now(content, v),
        }
        for at, name, v in _some_verdicts(content["performance"], most)
        if v["roc"]
    ]


def _now(content: Section, verdict: Section) -> list[float] | None:
    """False-alarm rate and detection rate of the decisions."""
    for table in content["decided"]:
        if table["label"] is not None:
            if table["label"] == verdict["name"]:
                return _rates(table, 1)
        elif verdict["name"] in table["classes"]:
            return _rates(table, table["classes"].index(verdict["name"]))
    return None


def _rates(table: Section, k: int) -> list[float] | None:
    mine = sum(table["counts"][k])
    rest = sum(sum(line) for line in table["counts"]) - mine
    if not mine or not rest:
        return None
    alarms = sum(line[k] for i, line in enumerate(table["counts"]) if i != k)
    return [alarms / rest, table["counts"][k][k] / mine]


def _joined(bins: list[list[float]]) -> list[list[float]]:
    """Bins with few rows are read with their neighbours: alone they say nothing."""
    least = max(_FEW, _SHARE * sum(line[2] for line in bins))
    found: list[list[float]] = []
    for said, seen, rows in bins:
        if found and found[-1][2] < least:
            old = found[-1]
            both = old[2] + rows
            found[-1] = [
                (old[0] * old[2] + said * rows) / both,
                (old[1] * old[2] + seen * rows) / both,
                both,
            ]
        else:
            found.append([said, seen, rows])
    return found


def calibration_lines(content: Section, most: int) -> list[dict[str, object]]:
    """Bins of the probability: what was said, what was seen, rows, and an interval of 95 %.

    Parameters
    ----------
    content : the report.
    most : lines.
    """
    performance = content["performance"]
    # Rows of a group err together: all of them count for as many as are independent.
    counted = performance["effective_rows"] / (performance["n_rows"] or 1)
    return [
        {
            "name": name,
            "at": at,
            "bins": [
                [said, seen, rows, *interval(min(seen, 1.0) * rows * counted, rows * counted)]
                for said, seen, rows in _joined(v["calibration"])
            ],
        }
        for at, name, v in _some_verdicts(performance, most)
    ]


# -- Everything a report shows, as plain data ------------------------------------------------------


@dataclass(frozen=True)
class Extras:
    """Optional content of a report.

    Parameters
    ----------
    title : headline.
    include_rows : may rows of the table be in the page?
    stability : of the selection, where it was computed.
    left_out : columns left out before the search, with the reason.
    signals, indicators : the series behind the rows, and what turned them into columns.
    random_state : which rows are drawn, where there are too many.
    no_stability : why there is none, where there is none.
    groups : of the rows; none is on both sides where the fit is repeated.
    wanted : rows that are in the page whichever are drawn.
    """

    title: str = "bayesieve report"
    include_rows: bool = False
    stability: Stability | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    signals: SeriesLike | None = None
    indicators: Indicators | None = None
    random_state: int = 0
    no_stability: str = ""
    groups: ArrayLike | None = None
    wanted: tuple[int, ...] = ()


def gather(
    model: Model, X: object, y: ArrayLike, extras: Extras, sample_weight: ArrayLike | None = None
) -> Section:
    """The content of a report on a selector (or a finished model) and a table."""
    choosing, fitted = choosing_rows(model), fitted_of(model)
    whole, mine = read_table(model, X, reset=False), rows_of(model, X)
    judged: Section = performance(model, X, y, sample_weight, extras.groups).to_dict()
    around = (
        None if judged["rows"] == "given" else ablate(model, X, y, sample_weight, extras.groups)
    )
    agreement = _stability(extras.stability, model)
    spoken = portable(fitted, by_values=True)
    summary = _summary(fitted, whole, y)
    models = [explain_model(model, label=label).to_dict() for label in fitted.labels or (None,)]
    lines = fates(model, extras.left_out)
    if choosing is not None and isinstance(model, ChosenColumns):
        summary["n_validation"] = int(choosing.size)
        summary["class_weight"] = model.class_weight is not None
    told = SectionFacts(
        around, {name: story for name, _, story in lines}, _sentences(fitted, extras)
    )
    decided = decided_data(model, fitted, mine, y, judged)
    facts = Facts(
        judged,
        len(fitted.specs),
        len(whole.names),
        _counts(fitted, y),
        fitted.labelled,
        around,
        agreement,
        [spec.name for spec in fitted.specs],
        _alone(fitted, mine, y, around),
        judged["rows"] == "given" and _trained(fitted, mine, y, sample_weight),
        any(problem.rule is not None for problem in fitted.problems),
        rule_cost(decided, min(judged["effective_rows"] / (judged["n_rows"] or 1), 1.0)),
    )
    return {
        "title": extras.title,
        "summary": summary,
        "judgement": judge(facts),
        "looks": [looked_at(each, told) for each in models],
        "rules": [rule_data(problem) for problem in fitted.problems],
        "decided": decided,
        "drift": drift_data(model, X) if judged["rows"] == "given" and fitted.specs else None,
        "settings": settings_of(model) + hashes_of(spoken, whole, y),
        "log": log_of(model),
        "fates": lines,
        "path": path_of(model, X, y, extras.groups)
        if judged["rows"] != "given" or choosing is not None
        else None,
        "model": models,
        "portable": in_nat(spoken, fitted),
        "performance": judged,
        "stability": agreement,
        "no_stability": extras.no_stability,
        "rows": embedded_rows(choosing, fitted, spoken["features"], mine, y, extras),
    }


def _trained(
    fitted: FittedBayes, rows: Table, y: ArrayLike, sample_weight: ArrayLike | None
) -> bool:
    """Are these the very rows that the model has learnt from?"""
    return trained_on(fitted, rows, class_codes(fitted, y), read_weights(sample_weight, rows))


def _sentences(fitted: FittedBayes, extras: Extras) -> dict[str, str]:
    """What the indicators among the terms say, by the names of the terms."""
    if extras.indicators is None:
        return {}
    known = {each.id: each.sentence for each in extras.indicators.indicators_}
    found = {spec.name: known[spec.name] for spec in fitted.specs if spec.name in known}
    for pair in fitted.problems[0].pairs:
        names = [fitted.specs[j].name for j in pair.columns]
        if all(name in known for name in names):
            found[" x ".join(names)] = " and ".join(known[name] for name in names)
    return found


def _alone(
    fitted: FittedBayes, rows: Table, y: ArrayLike, around: Ablation | None
) -> tuple[str, float] | None:
    """The column that decides most rows rightly by itself, and its error."""
    names = [spec.name for spec in fitted.specs]
    if fitted.labelled or not names:
        return None
    if around is not None:
        single = [each for each in around.worth if len(each.columns) == 1]
        best = min(single, key=lambda each: each.alone, default=None)
        return None if best is None else (names[best.columns[0]], best.alone)
    problem, truth = fitted.only, np.asarray(y)
    errors = [
        float((problem.best(problem.fixed_prior + problem.column_terms(rows, j)) != truth).mean())
        for j in range(len(names))
    ]
    at = int(np.argmin(errors))
    return names[at], errors[at]


def _counts(fitted: FittedBayes, y: ArrayLike) -> list[tuple[Value, float]]:
    """Rows of each class; of labels, rows with each."""
    truth = np.asarray(y)
    if fitted.labelled:
        there = (truth == 1).sum(0).tolist()
        return list(zip(fitted.labels, there, strict=True))
    return [(plain_value(c), int((truth == c).sum())) for c in fitted.only.classes]


def _summary(fitted: FittedBayes, table: Table, y: ArrayLike) -> Section:
    kinds: dict[str, int] = {}
    missing = 0
    if not isinstance(table, SparseTable):
        for j in range(len(table.names)):
            column = table.column(j)
            if column.dtype == object:
                kind, gone = "text", sum(value is None or value == "" for value in column)
            else:
                known = column[~np.isnan(column)]
                kind = "binary" if np.isin(known, (0, 1)).all() else "number"
                gone = int(column.size - known.size)
            kinds[kind] = kinds.get(kind, 0) + 1
            missing += gone
    else:
        kinds["sparse"] = len(table.names)
    found: Section = {
        "n_rows": table.n_rows,
        "n_columns": len(table.names),
        "n_selected": len(fitted.specs),
        "kinds": {**kinds},
        "missing": missing,
        "labelled": fitted.labelled,
        "classes": [[name, count] for name, count in _counts(fitted, y)],
        "place": None if fitted.place is None else fitted.place.tolist(),
    }
    return found


def _stability(found: Stability | None, model: Model) -> Section | None:
    if found is None or not isinstance(model, ChosenColumns):
        return None
    data = found.to_dict()
    # By position: a sparse matrix has no names, its path may have been given some.
    names = procedure_of(model).names
    features = [
        {
            "name": names[j],
            "frequency": each["frequency"],
            "interval": list(interval(each["frequency"] * found.n_resamples, found.n_resamples)),
            "selected": bool(model.support_[j]),
        }
        for j, each in enumerate(data["features"])
    ]
    features.sort(key=lambda each: (-each["frequency"], not each["selected"]))
    kept = ("n_resamples", "measure", "interval", "confidence", "note", "jaccard", "family_jaccard")
    return {
        **{name: data[name] for name in kept},
        "features": [each for each in features if each["frequency"] or each["selected"]],
    }
