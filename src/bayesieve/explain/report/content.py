"""The content of a report, as plain data: its verdict, its curves, and all that is around them."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest
from sklearn.pipeline import Pipeline

from ...checks import Foreign, check_flag, check_number, choose, plain_value
from ...data.columns import is_missing
from ...data.result import Section
from ...data.sample import read_weights
from ...data.series import SeriesLike
from ...data.tables import SparseTable, Table, read_table
from ...estimators.base import ChosenColumns, procedure_of
from ...estimators.naive_bayes import fitted_of, rows_of
from ...estimators.signals import SignalPipeline, follow
from ...evaluation._typing import Model, Value
from ...evaluation.ablation import Ablation, ablate
from ...evaluation.crossfit import trained_on
from ...evaluation.performance import performance
from ...evaluation.stability import Stability, stability
from ...indicators.transformer import Indicators
from ...models.fitted import FittedBayes
from ..card import lines_html
from ..model import explain_model
from ..portable import portable
from ..shapes import shape_of
from ..text import interval, many, rate_in_words, short_names
from .sections import (
    RuleCost,
    choosing_rows,
    class_codes,
    decided_data,
    drift_data,
    embedded_rows,
    fates,
    hashes_of,
    in_nat,
    log_of,
    looked_at,
    path_of,
    rule_cost,
    rule_data,
    settings_of,
)

# -- The verdict: one sentence, errors against baselines, warnings ---------------------------------

#: Labels with pictures of their own.
MOST_LABELS = 8

# Rows of the rarest class below which figures say little.
_FEW = 30

# Stability and overlap below both of which another sample of rows would have chosen other columns:
# where nearly all columns are chosen, little overlap beyond chance is no alarm.
_SHAKY, _OVERLAP = 0.4, 0.7

# Share of the resamples from which on a column always comes.
_ALWAYS = 0.95

# A column that alone leaves at most this share of the commonest class's error is suspicious.
_TOO_GOOD = 0.05

# By how much the probabilities may be surer than right, in shares of rows.
_SURE = 0.05

# How often chance alone may look like this.
_RISK = 0.025


@dataclass(frozen=True)
class Facts:
    """What a verdict rests on.

    Parameters
    ----------
    performance : on rows that the tables do not come from, where there are such.
    n_selected, n_columns : of the model, of the table.
    classes : name and training rows of each; of labels, rows with each.
    beside : what all columns would have given, where that is known.
    stability : of the choice, where it was repeated.
    names : of the model's columns.
    alone : error of the best column alone, and its name, where that is known.
    trained : is it judged on the very rows that it has learnt from?
    ruled : has it a rule of its own for decisions?  Errors are those of the most probable class.
    cost : of what its rule decides, where that has costs.
    """

    performance: Section
    n_selected: int
    n_columns: int
    classes: list[tuple[Value, float]]
    labelled: bool
    beside: Ablation | None
    stability: Section | None
    names: list[str]
    alone: tuple[str, float] | None
    trained: bool = False
    ruled: bool = False
    cost: RuleCost | None = None


class _Lead(NamedTuple):
    """Rows on which a model is right and the commonest class is not, and the other way round."""

    won: float
    lost: float
    common: str
    base: float

    @property
    def better(self) -> bool:
        """More than chance?  (Exact sign test of the rows on which the two differ.)"""
        won, lost = round(self.won), round(self.lost)
        if won <= lost:
            return False
        return float(binomtest(won, won + lost, alternative="greater").pvalue) <= _RISK


def judge(facts: Facts) -> Section:
    """Summarise a model's performance: a verdict, its basis, errors against baselines, warnings.

    Parameters
    ----------
    facts : what is known.
    """
    performance = facts.performance
    lead = _lead(performance)
    n_rows = performance["effective_rows"]
    low, high = interval(performance["error"] * n_rows, n_rows)
    name = f"this model ({_looked_at(facts)})"
    if facts.ruled and not facts.cost:
        name += ", deciding the most probable class"
    bars = [_bar(name, performance["error"], "this", low, high)]
    if facts.beside is not None and facts.beside.n_columns > facts.n_selected:
        bars.append(_bar(f"all {facts.beside.n_columns} columns", facts.beside.all_error, "all"))
    bars.append(_bar(lead.common, lead.base, "base"))
    tone, sentence = _sentence(facts, lead)
    cost, costs = facts.cost, []
    if cost is not None:
        costs = [_bar("this rule", cost.own, "this"), _bar(cost.always, cost.blind, "base")]
    return {
        "sentence": sentence,
        "tone": tone,  # "good", "bad" or "doubtful"
        "how": how_judged(performance, facts.trained),
        "bars": bars,
        "costs": costs,
        "warnings": [each for each in _warnings(facts, lead) if each != sentence],
    }


def _bar(
    name: str, error: float, kind: str, low: float | None = None, high: float | None = None
) -> Section:
    return {"name": name, "error": error, "low": low, "high": high, "kind": kind}


def _looked_at(facts: Facts) -> str:
    """How many columns it has, of how many."""
    if facts.n_selected == facts.n_columns:
        return many(facts.n_columns, "column")
    return f"{facts.n_selected} of {many(facts.n_columns, 'column')}"


def _lead(performance: Section) -> _Lead:
    """Compare the model with the baseline that always predicts the commonest class."""
    table = performance["confusion"]
    if table is None:
        return _lead_of_labels(performance["verdicts"])
    totals = [sum(line) for line in table]
    common = totals.index(max(totals))
    rows = sum(totals) or 1.0
    # Rows of a group err together: all of them count for as many as are independent.
    counted = min(performance["effective_rows"] / (performance["n_rows"] or 1), 1.0)
    won = counted * sum(line[k] for k, line in enumerate(table) if k != common)
    lost = counted * (totals[common] - table[common][common])
    name = f"always “{performance['classes'][common]}”"
    return _Lead(won, lost, name, 1 - totals[common] / rows)


def _lead_of_labels(verdicts: list[Section]) -> _Lead:
    """Compare a multi-label model with the baseline of each label's commoner value."""
    won = lost = wrong = rows = 0.0
    for each in verdicts:
        there, gone = each["positives"], each["negatives"]
        half = next(line for line in each["thresholds"] if line[0] >= 0.5)
        hits = 0.0 if math.isnan(half[1]) else half[1] * there
        alarms = 0.0 if math.isnan(half[2]) else half[2] * gone
        rare_is_there = there <= gone
        won += hits if rare_is_there else gone - alarms
        lost += alarms if rare_is_there else there - hits
        wrong += min(there, gone)
        rows += there + gone
    return _Lead(won, lost, "always the more common answer", wrong / (rows or 1.0))


def _sentence(facts: Facts, lead: _Lead) -> tuple[str, str]:
    error, base = facts.performance["error"], lead.base
    wrong = f"{rate_in_words(error)} of the decisions are wrong"
    if facts.ruled:
        wrong = f"{rate_in_words(error)} would be wrong if it decided the most probable class"
    leak = _leak(facts, lead)
    if leak is not None:
        name, alone = leak
        return "doubtful", (
            f"One column, {name}, decides almost everything ({rate_in_words(alone)} wrong with it "
            "alone): is it a leak, recorded after the outcome was known?"
        )
    if facts.cost is not None:
        own, blind, always, better = facts.cost
        told = f"{own:.3g} a row, against {blind:.3g} with {always}; {wrong}."
        if better:
            return "good", f"Its decisions cost {told}"
        return "bad", f"Its decisions cost no less than a constant one: {told}"
    if not facts.n_selected:
        return "bad", (
            f"This model is the baseline {lead.common}: no column separates the classes "
            f"({rate_in_words(error)} wrong)."
        )
    if not lead.better:
        return "bad", (
            f"This model is no better than the baseline {lead.common}: {wrong}, against "
            f"{rate_in_words(base)} without any column.{_ranks(facts.performance)}"
        )
    as_good = _all_as_good(facts, lead)
    if as_good:
        return "doubtful", as_good
    told = "labels" if facts.labelled else f"{many(len(facts.classes), 'class', 'classes')}"
    return "good", (
        f"It separates {told} by {_looked_at(facts)}: {wrong}, against {rate_in_words(base)} with "
        f"{lead.common}.{' It follows a decision rule: see below.' if facts.ruled else ''}"
    )


def _all_as_good(facts: Facts, lead: _Lead) -> str:
    """Say that the choice of columns gains no accuracy, where that is so."""
    every, error = facts.beside, facts.performance["error"]
    if every is None or every.n_columns <= facts.n_selected or every.all_error > error:
        return ""
    n_rows = facts.performance["effective_rows"]
    than = "better than" if every.all_error < interval(error * n_rows, n_rows)[0] else "as well as"
    are = "would be" if facts.ruled else "of the decisions are"
    return (
        f"All {every.n_columns} columns do {than} the {facts.n_selected} chosen: "
        f"{rate_in_words(every.all_error)} {are} wrong with all of them, "
        f"{rate_in_words(error)} with these, {rate_in_words(lead.base)} with {lead.common}."
    )


def _ranks(performance: Section) -> str:
    """Mention the AUC of a model that ranks rows well but never predicts the rare class."""
    areas = [v["auc"] for v in performance["verdicts"] if not math.isnan(v["auc"])]
    if areas and max(areas) >= 0.8:
        return (
            f" It does rank rows (AUC up to {max(areas):.2f}): a decision rule with costs may "
            "still be useful (decide)."
        )
    return ""


def _leak(facts: Facts, lead: _Lead) -> tuple[str, float] | None:
    """A column that alone decides nearly everything."""
    if facts.alone is None or not lead.better or lead.base <= 0:
        return None
    name, error = facts.alone
    return (name, error) if error <= _TOO_GOOD * lead.base else None


def how_judged(performance: Section, trained: bool) -> str:
    """Describe the rows behind the figures, and whether they are optimistic."""
    n = f"{performance['n_rows']:g}"
    if performance["n_groups"] is not None:
        how = "as given" if performance["rows"] == "given" else "whole groups held out"
        return (
            f"Error on {n} rows of {performance['n_groups']} groups, {how}. Rows of a group err "
            "together: intervals use an effective sample size of "
            f"{performance['effective_rows']:.0f}."
        )
    return {
        "validation": f"Error on the {n} choice rows, with tables (and weights) fitted on the "
        "search rows only. They chose the subset, so it is slightly optimistic.",
        "anew": "Error from 5-fold cross-validation of the whole procedure, selection included "
        f"({n} rows).",
        "folds": f"Error from 5-fold cross-validation of the chosen columns ({n} rows). All rows "
        "took part in the selection, so it is optimistic (selection bias): keep choice rows, or "
        "nest the selection.",
    }.get(
        performance["rows"],
        f"Error on the {n} rows given, which trained the model: optimistic."
        if trained
        else f"Error on the {n} rows given; unbiased if none of them trained the model.",
    )


def _warnings(facts: Facts, lead: _Lead) -> list[str]:
    """Warnings: leak, classes never predicted or rare, instability, overconfidence."""
    found: list[str] = []
    performance, stable = facts.performance, facts.stability
    leak = _leak(facts, lead)
    if leak is not None:
        found.append(
            f"Possible leak: {leak[0]} decides almost everything. Check that it is known before "
            "the outcome; if not, leave it out (forbid)."
        )
    found += _never(performance)
    few = [(name, n) for name, n in facts.classes if n < _FEW]
    if few:
        told = ", ".join(f"{name} ({n:g})" for name, n in few[:4])
        more = f" and {len(few) - 4} more" if len(few) > 4 else ""
        found.append(f"Few rows: {told}{more}. Their figures may be chance.")
    if stable is not None and stable["measure"] is not None and stable["measure"] < _SHAKY:
        found += _unstable(stable, facts)
    found += _sureness(performance)
    as_good = _all_as_good(facts, lead)
    return [*found, as_good] if as_good else found


def _unstable(stable: Section, facts: Facts) -> list[str]:
    """Which columns always come, and which others would do as well, where resamples disagree."""
    if stable["jaccard"] >= _OVERLAP:
        return []
    came = {each["name"]: each["frequency"] for each in stable["features"]}
    always = [each["name"] for each in stable["features"] if each["frequency"] >= _ALWAYS]
    swaps = []
    for each in facts.beside.worth if facts.beside is not None else ():
        if each.substitute is None or len(each.columns) > 1 or each.substitute_loss > each.loss / 2:
            continue
        often = (
            f" (came in {rate_in_words(came[each.substitute])})" if each.substitute in came else ""
        )
        swaps.append(f"{each.substitute}{often} in place of {facts.names[each.columns[0]]}")
    shared = rate_in_words(stable["jaccard"])
    told = [f"Unstable selection: two resamples share {shared} of their columns."]
    if always:
        told.append(f"Always there: {', '.join(always[:6])}.")
    if swaps:
        told.append(f"Would do nearly as well: {'; '.join(swaps[:4])}.")
    elif always and facts.beside is not None:
        return []  # what differs has no substitute worth naming
    else:
        told.append("The others come and go: do not interpret single ones.")
    return [" ".join(told)]


def _never(performance: Section) -> list[str]:
    table = performance["confusion"]
    if table is None:
        return []
    decided = [sum(line[k] for line in table) for k in range(len(table))]
    seen = [sum(line) for line in table]
    names = performance["classes"]
    lost = [str(names[k]) for k in range(len(names)) if seen[k] and not decided[k]]
    if not lost:
        return []
    return [f"Never predicted: {', '.join(lost[:5])}{' ...' if len(lost) > 5 else ''}."]


def _sureness(performance: Section) -> list[str]:
    """Warn of classes whose predicted probabilities are overconfident."""
    found = []
    for each in performance["verdicts"]:
        bins = [line for line in each["calibration"] if line[0] >= 0.5]
        rows = sum(line[2] for line in bins)
        if rows < _FEW:
            continue
        said = sum(line[0] * line[2] for line in bins) / rows
        seen = sum(line[1] * line[2] for line in bins) / rows
        counted = rows * performance["effective_rows"] / performance["n_rows"]
        if seen + _SURE < said and interval(seen * counted, counted)[1] < said:
            found.append(
                f"Overconfident: {each['name']} is predicted with a mean probability of "
                f"{rate_in_words(said)} and is right in {rate_in_words(seen)}. Calibrate the model "
                "(calibrate)."
            )
    return found[:3]


# -- Curves: detections by threshold, and how right the probabilities are --------------------------

_MOST_LETTERS = 40

# Rows of a bin below which it is joined with the next: a number, and a share of all.
_BIN, _BIN_SHARE = 10, 0.02


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
        names = table["classes"] if table["label"] is None else [None, table["label"]]
        if verdict["name"] in names:
            k, counts = names.index(verdict["name"]), table["counts"]
            mine = sum(counts[k])
            rest = sum(sum(line) for line in counts) - mine
            if not mine or not rest:
                return None
            alarms = sum(line[k] for i, line in enumerate(counts) if i != k)
            return [alarms / rest, counts[k][k] / mine]
    return None


def _joined(bins: list[list[float]]) -> list[list[float]]:
    """Bins with few rows are read with their neighbours: alone they say nothing."""
    least = max(_BIN, _BIN_SHARE * sum(line[2] for line in bins))
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
    progress : is it told how many fits are done?
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
    progress: bool = False


def gather(
    model: Model, X: object, y: ArrayLike, extras: Extras, sample_weight: ArrayLike | None = None
) -> Section:
    """The content of a report on a selector (or a finished model) and a table."""
    choosing, fitted = choosing_rows(model), fitted_of(model)
    whole, mine = read_table(model, X, reset=False), rows_of(model, X)
    judged: Section = performance(
        model, X, y, sample_weight, extras.groups, extras.progress
    ).to_dict()
    around = (
        None if judged["rows"] == "given" else ablate(model, X, y, sample_weight, extras.groups)
    )
    agreement = _stability(extras.stability, model)
    spoken = portable(fitted, by_values=True)
    summary = _summary(fitted, whole, y)
    told = [explain_model(model, label=label) for label in fitted.labels or (None,)]
    models = [each.to_dict() for each in told]
    lines = fates(model, extras.left_out)
    if choosing is not None and isinstance(model, ChosenColumns):
        summary["n_validation"] = int(choosing.size)
        summary["class_weight"] = model.class_weight is not None
    stories, sentences = {name: story for name, _, story in lines}, _sentences(fitted, extras)
    looks = [looked_at(each, around, stories, sentences) for each in models]
    for one, terms in zip(told[:MOST_LABELS], looks, strict=False):
        for term in terms:
            term["shape"] = shape_of(one, one.features[term["at"]])
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
        judged["rows"] == "given"
        and trained_on(fitted, mine, class_codes(fitted, y), read_weights(sample_weight, mine)),
        any(problem.rule is not None for problem in fitted.problems),
        rule_cost(decided, min(judged["effective_rows"] / (judged["n_rows"] or 1), 1.0)),
    )
    return {
        "title": extras.title,
        "summary": summary,
        "judgement": judge(facts),
        "looks": looks,
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
        **_card(model),
    }


def _card(model: Model) -> Section:
    """The card, where the model is one."""
    card = getattr(model, "card_", None)
    return {
        "card": None if card is None else card.to_dict(),
        "card_table": "" if card is None else lines_html(card),
    }


def _sentences(fitted: FittedBayes, extras: Extras) -> dict[str, str]:
    """What the indicators among the terms say, by the names of the terms."""
    if extras.indicators is None:
        return {}
    known = {each.id: each.sentence for each in extras.indicators.indicators_}
    names = [spec.name for spec in fitted.specs]
    terms = [[name] for name in names]
    terms += [[names[j] for j in pair.columns] for pair in fitted.problems[0].pairs]
    spoken = [term for term in terms if known.keys() >= set(term)]
    return {" x ".join(term): " and ".join(known[name] for name in term) for term in spoken}


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
    kinds: dict[str, int] = Counter()
    missing = 0
    if isinstance(table, SparseTable):
        kinds["sparse"] = len(table.names)
    else:
        for column in map(table.column, range(len(table.names))):
            gone = is_missing(column)
            missing += int(gone.sum())
            binary = column.dtype != object and np.isin(column[~gone], (0, 1)).all()
            kinds["text" if column.dtype == object else "binary" if binary else "number"] += 1
    return {
        "n_rows": table.n_rows,
        "n_columns": len(table.names),
        "n_selected": len(fitted.specs),
        "kinds": {**kinds},
        "missing": missing,
        "labelled": fitted.labelled,
        "classes": [[name, count] for name, count in _counts(fitted, y)],
        "place": None if fitted.place is None else fitted.place.tolist(),
    }


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


class ReportOptions(TypedDict, total=False):
    """Options of `make_report` besides the model and the table."""

    sample_weight: ArrayLike | None
    groups: ArrayLike | None
    title: str
    include_rows: bool
    n_resamples: int
    left_out: dict[str, str] | None
    signals: SeriesLike | None
    indicators: Indicators | None
    random_state: int
    n_jobs: int | None
    remark: Callable[[str], None] | None
    progress: bool


def report_content(
    model: Model | Pipeline, X: object, y: ArrayLike, **options: Unpack[ReportOptions]
) -> Section:
    """What a report shows, as plain data; parameters as in `make_report`."""
    for name in options:
        choose("an option of the report", name, ReportOptions.__annotations__)
    asked = cast(dict[str, Foreign], options)
    extras = {name: asked[name] for name in Extras.__dataclass_fields__ if name in asked}
    if isinstance(model, SignalPipeline):
        series = cast(SeriesLike, X)
        extras |= {"signals": series, "indicators": model.indicators}
        model, X = model.estimator, model.columns(series)
    model, X = follow(model, X)
    check_flag("include_rows", options.get("include_rows", False))
    n_resamples = check_number("n_resamples", options.get("n_resamples", 20), low=0, whole=True)
    if n_resamples == 1:
        raise ValueError("n_resamples must be 0 (no stability) or at least 2; got 1.")
    remark = options.get("remark") or (lambda line: None)
    found, why = None, "n_resamples is 0"
    if n_resamples and isinstance(model, ChosenColumns):
        remark(f"repeating the search on {n_resamples} resamples of the rows")
        try:
            found = stability(
                procedure_of(model).repeatable(),
                X,
                y,
                n_resamples=n_resamples,
                sample_weight=options.get("sample_weight"),
                groups=options.get("groups"),
                random_state=options.get("random_state", 0),
                n_jobs=options.get("n_jobs"),
                progress=options.get("progress", False),
            )
        except ValueError as error:
            # A sample may lack a rare class or label: the rest of the report stands.
            why = f"the search failed on a resample of the rows ({error})"
    extras |= {"stability": found, "no_stability": why, "left_out": options.get("left_out") or {}}
    remark("estimating its error on held-out rows")
    return gather(model, X, y, Extras(**extras), options.get("sample_weight"))
