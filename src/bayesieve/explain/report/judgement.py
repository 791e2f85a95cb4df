"""Verdict of a report: one sentence, errors against baselines, and warnings."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from scipy.stats import binomtest

from ...data.result import Section
from ...evaluation._typing import Value
from ...evaluation.ablation import Ablation
from ..text import interval, many, rate_in_words
from .sections import RuleCost

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
    bars = [_bar(_this(facts), performance["error"], "this", low, high)]
    if facts.beside is not None and facts.beside.n_columns > facts.n_selected:
        bars.append(_bar(f"all {facts.beside.n_columns} columns", facts.beside.all_error, "all"))
    bars.append(_bar(lead.common, lead.base, "base"))
    tone, sentence = _sentence(facts, lead)
    costs = []
    if facts.cost is not None:
        costs = [_bar("this rule", facts.cost.own, "this")]
        costs.append(_bar(facts.cost.always, facts.cost.blind, "base"))
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


def _this(facts: Facts) -> str:
    told = f"this model ({_looked_at(facts)})"
    return f"{told}, deciding the most probable class" if facts.ruled and not facts.cost else told


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
        return _how_by_groups(performance, n)
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


def _how_by_groups(performance: Section, n: str) -> str:
    """Describe the rows behind the figures where rows come in groups."""
    how = "as given" if performance["rows"] == "given" else "whole groups held out"
    return (
        f"Error on {n} rows of {performance['n_groups']} groups, {how}. Rows of a group err "
        f"together: intervals use an effective sample size of {performance['effective_rows']:.0f}."
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
