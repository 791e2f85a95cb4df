"""Sections of a report as plain data: terms, the search, the rule, and the rows to explore."""

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib import metadata
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray

from ...checks import Array, plain_value
from ...data.columns import encode, is_missing, span_in_words, to_codes
from ...data.result import Section
from ...data.series import SeriesTable, read_series_table
from ...data.tables import SparseTable, Table
from ...estimators.base import ChosenColumns, procedure_of
from ...estimators.naive_bayes import bayes_of, fitted_of, rows_of, stands_for
from ...evaluation._typing import Model, Value
from ...evaluation.ablation import Ablation, Worth
from ...evaluation.decide import Decision, novelty_of, rule_in_words
from ...evaluation.drift import drift
from ...evaluation.performance import weighted_bands
from ...indicators.transformer import Indicators
from ...models.base import Ints
from ...models.fitted import ASK, FittedBayes, FittedProblem
from ...rankings.families import count_others
from ...search.path import Path
from ..model import ModelExplanation, explain_model, speaks
from ..portable import BellTerms, Portable, PortableFeature, PortableProblem, TableTerms, portable
from ..shapes import ahead_of, shape_of
from ..text import factor_in_words, few_digits, many, nth, rate_in_words, yes_or_no

if TYPE_CHECKING:
    from .content import Extras


def speaking(model: Section) -> list[Section]:
    """Features that say something: columns by themselves, and pairs."""
    return [each for each in model["features"] if speaks(each["source"])]


def heat_maps(model: Section, target: int, against: int) -> list[Section]:
    """What the cells of all pairs say, the most telling pair first; one depth of colour for all.

    Parameters
    ----------
    model : what `explain_model` found, as plain data.
    target, against : positions of the two classes.
    """
    pairs = [each for each in model["features"] if each["model"] == "pair"]
    said = [
        [(row[target] - row[against]) / model["temperature"] for row in each["terms"]]
        for each in pairs
    ]
    most = max((abs(ratio) for ratios in said for ratio in ratios), default=0.0) or 1.0
    found = []
    for at in sorted(range(len(pairs)), key=lambda at: -sum(pairs[at]["importance"])):
        cells = [
            {"ratio": ratio, "share": abs(ratio) / most, "counts": rows}
            for ratio, rows in zip(said[at], pairs[at]["counts"] or [], strict=True)
        ]
        source = pairs[at]["source"]
        width = len(source["second"])
        found.append(
            {
                "at": at,
                "first": source["names"][0],
                "second": source["names"][1],
                "down": source["first"],
                "across": source["second"],
                "cells": [cells[i : i + width] for i in range(0, len(cells), width)],
            }
        )
    return found


def classes_of(model: Section) -> list[Value]:
    """Classes by their names; of a label, without it and with it."""
    label = model["label"]
    return list(model["classes"]) if label is None else [f"not {label}", label]


# -- What a model looks at -------------------------------------------------------------------------


# Statements on one term, and evidence below which a stretch of values says nothing, in nat.
_MOST_SAID, _LITTLE = 4, math.log(1.15)

# Values of a term whose factors are listed; nat beyond which a mean counts no value.
_MOST_VALUES, _FAR = 50, 40.0


_KINDS = {
    "bernoulli": "yes/no",
    "categorical": "categories",
    "levels": "categories",
    "pair": "two columns together",
    "intervals": "number, in intervals",
}


def looked_at(
    model: Section, beside: Ablation | None, stories: dict[str, str], sentences: dict[str, str]
) -> list[Section]:
    """The terms of a model, the strongest first.

    Parameters
    ----------
    model : what `explain_model` found, as plain data.
    beside : what the terms are worth.
    stories, sentences : by the names of the terms.
    """
    total = sum(model["class_count"]) or 1.0
    shares = [count / total for count in model["class_count"]]
    names = [each["feature"] for each in model["features"]]
    columns = [each["feature"] for each in model["features"] if each["model"] != "pair"]
    known = [] if beside is None else beside.worth
    worths = {" x ".join(columns[j] for j in worth.columns): worth for worth in known}
    terms = speaking(model)
    most = max((max(each["importance"]) for each in terms), default=1.0) or 1.0

    def strength(each: Section) -> float:
        return sum(s * i for s, i in zip(shares, each["importance"], strict=True))

    found = []
    for each in sorted(terms, key=strength, reverse=True):
        name = each["feature"]
        found.append(
            {
                "name": name,
                "kind": _KINDS.get(each["model"], "number"),
                "sentence": sentences.get(name, ""),
                "said": said_of(each, model),
                "strength": [
                    factor_in_words(nat / model["temperature"]) for nat in each["importance"]
                ],
                "ahead": _ahead(each, model)[:_MOST_VALUES],
                "shares": [min(nat / most, 1.0) for nat in each["importance"]],
                "leaves": _leaves(worths.get(name)),
                "substitute": _substitute(worths.get(name)),
                "story": stories.get(name, ""),
                "others": model["stands_for"].get(name, []),
                "at": names.index(name),
            }
        )
    return found


def _leaves(worth: Worth | None) -> str:
    """What would be lost without it."""
    if worth is None:
        return ""
    if worth.loss <= 0 and worth.error <= 0:
        return "no loss: the model is no worse without it"
    rows = f"{rate_in_words(abs(worth.error))} of the rows"
    told = f"another {rows} decided wrongly" if worth.error > 0 else f"{rows} fewer decided wrongly"
    if not worth.error:
        told = "as many rows decided wrongly"
    share = rate_in_words(abs(math.expm1(-worth.loss)))
    return f"{told}; the true class {share} {'less' if worth.loss > 0 else 'more'} probable"


def _substitute(worth: Worth | None) -> str:
    if worth is None:
        return ""
    if worth.substitute is None or worth.loss <= 0:
        return "none needed" if worth.loss <= 0 else "none"
    made_up = 1 - max(worth.substitute_loss, 0.0) / worth.loss
    return f"{worth.substitute} (makes up for {rate_in_words(min(made_up, 1.0))})"


def said_of(each: Section, model: Section) -> list[Section]:
    """Stretches of values, each with the class it speaks for most; the weightiest ones.

    Parameters
    ----------
    each : a term.
    model : whose it is.
    """
    rows = _ahead(each, model)
    counts = [sum(line) for line in each["counts"]] if each["counts"] else [1.0] * len(rows)
    leads = [max(range(len(row)), key=lambda k: row[k]) if row else 0 for row in rows]
    ordered = _ordered(each)
    stretches: list[tuple[int, int]] = []
    for i in range(len(rows)):
        joined = ordered and stretches and leads[stretches[-1][1]] == leads[i]
        if joined and (rows[i][leads[i]] > _LITTLE) == (rows[i - 1][leads[i - 1]] > _LITTLE):
            stretches[-1] = (stretches[-1][0], i)
        else:
            stretches.append((i, i))
    found: list[tuple[float, int, Section]] = []
    for first, last in stretches:
        inside = range(first, last + 1)
        weight = sum(counts[i] for i in inside)
        k = leads[first]
        finite = [(counts[i] or 1e-9, min(rows[i][k], _FAR)) for i in inside]
        nat = sum(n * x for n, x in finite) / sum(n for n, _ in finite)
        if nat > _LITTLE and (weight or not each["counts"]):
            # What a stretch of numbers says is a mean; what a level says is what its rows are told.
            size = nat if ordered else rows[first][k]
            odds = factor_in_words(size, weight if each["counts"] else None)
            said: Section = {"when": _when(each, first, last), "odds": odds, "position": k}
            said |= {"size": size, "about": ordered}
            found.append((-nat * max(weight, 1.0) ** 0.5, first, said))
    kept = sorted(found, key=lambda line: line[:2])[:_MOST_SAID]
    return [said for _, _, said in sorted(kept, key=lambda line: line[1])]


def _ahead(each: Section, model: Section) -> list[list[float]]:
    """How much likelier each value is in each class than in all others together, in nat."""
    terms = np.array(each["terms"], float).reshape(len(each["terms"]), len(model["class_count"]))
    found: list[list[float]] = (
        ahead_of(terms, model["class_count"]) / model["temperature"]
    ).tolist()
    return found


def _ordered(each: Section) -> bool:
    """Do neighbouring values stand beside each other on a scale?"""
    return each["counts"] is None or "cuts" in each["source"]


def _when(each: Section, first: int, last: int) -> str:
    values = each["values"]
    if _ordered(each):
        cuts = each["source"].get("cuts")
        cuts = [(a + b) / 2 for a, b in pairwise(values)] if cuts is None else cuts
        ends = [-math.inf, *cuts, math.inf]
        return span_in_words(ends[first], ends[last + 1])
    if each["model"] == "bernoulli":
        return yes_or_no(values[first])
    return f"{values[first]:g}" if isinstance(values[first], float) else str(values[first])


# -- How a model was found -------------------------------------------------------------------------


# What the score that guides is called where people read it.
GUIDES = {
    "error": "error on the search rows",
    "probability": "expected error (the model's own estimate)",
    "log-likelihood": "log-likelihood",
    "log-loss": "leave-one-out log-loss",
}


def path_of(
    model: Model, X: object, y: ArrayLike, groups: ArrayLike | None = None
) -> Section | None:
    """The moves of a search, or the states of a weighted path; None where there are none.

    Parameters
    ----------
    model : what was fitted.
    X, y, groups : what it was fitted on.
    """
    path = getattr(model, "path_", None)
    if not isinstance(path, Path) or not isinstance(model, ChosenColumns):
        return None
    found: Section = {
        "kind": path.of,  # columns that move, or whole states of terms
        "criterion": path.criterion,
        "guide": GUIDES.get(path.criterion, path.criterion),  # what the score that guided is called
        "chosen": path.chosen,
    }
    return found | (_moves(model) if path.of == "columns" else _states(model, X, y, groups))


def log_of(model: Model) -> list[tuple[str, str, str, str]]:
    """What a person changed by hand in a session, and why: time, what, columns, note."""
    log = getattr(model, "log_", None) or getattr(getattr(model, "estimator_", None), "log_", None)
    return [
        (str(line["time"]), str(line["action"]), ", ".join(line["columns"]), str(line["note"]))
        for line in log or []
    ]


def _moves(selector: ChosenColumns) -> Section:
    """Moves, from which the page rebuilds every subset, and the scores."""
    path, parts = selector.path_, procedure_of(selector).row_parts
    n_guiding, n_validation = path.n_rows
    by_error = path.validation_name == "validation_error"
    letters = {"start": "s", "add": "+", "drop": "-"}
    return {
        "names": list(path.names),
        "members": [list(members) for members in path.members],
        "judge": f"{'error' if by_error else 'score'} on the choice rows",  # and the one that chose
        "n_guiding": n_guiding,
        "n_validation": n_validation,
        # What is left out and counted.
        "unit": "groups" if parts is not None and n_guiding < parts[0].size else "rows",
        "bands": None,  # standard errors of the scores, where they are known
        # Action, units moved, phase, number of features, score, validation score.
        "steps": [
            (letters[each.action], list(each.units), each.phase, each.n_features,
             _eight(each.score), _eight(each.validation_error))
            for each in path.steps
        ],
    }  # fmt: skip


def _states(model: ChosenColumns, X: object, y: ArrayLike, groups: ArrayLike | None) -> Section:
    """Every state of a path of weighted terms, whole."""
    path = model.path_
    terms = sorted({term for state in path.states for term in state.terms})
    at = {term: i for i, term in enumerate(terms)}
    return {
        "names": [path.name_of(term) for term in terms],
        "members": [[i] for i in range(len(terms))],
        "judge": "",
        "n_guiding": int(sum(np.ravel(model.estimator_.class_count_))),
        "n_validation": 0,
        "unit": "rows" if groups is None else "groups",
        "bands": weighted_bands(model, X, y, groups),
        "steps": [
            ("t", [at[term] for term in state.terms], 0, len(state.terms), _eight(state.loss), None)
            for state in path.states
        ],
    }


def _eight(value: float) -> float | None:
    """Eight digits: a path has thousands of scores."""
    return None if np.isnan(value) else float(f"{value:.8g}")


def fates(model: Model, left_out: dict[str, str]) -> list[list[str]]:
    """Fate of each column, or term, and why: [name, fate, story].

    Parameters
    ----------
    model : fitted.
    left_out : columns left out before the search, with the reason.
    """
    if not isinstance(model, ChosenColumns):
        return []
    path = getattr(model, "path_", None)
    of_columns = isinstance(path, Path) and path.of == "columns"
    found = _column_fates(model) if of_columns else _term_fates(model)
    return found + [[name, "eliminated", reason] for name, reason in left_out.items()]


def _column_fates(selector: ChosenColumns) -> list[list[str]]:
    """When columns came and left, the selected first."""
    path = selector.path_
    stories: dict[int, list[str]] = {j: [] for j in range(len(path.names))}
    after: dict[int, str] = {}
    inside: set[int] = set()
    for i, step in enumerate(path.steps):
        moved = {c for u in step.units for c in path.members[u]}
        if step.action == "start":
            changes = [(c, f"came back at step {i}") for c in sorted(moved - inside) if i]
            changes += [(c, f"left at step {i}") for c in sorted(inside - moved)]
            inside = set(moved)
        else:
            said = f"was taken as {nth(step.n_features)} column (step {i})"
            if step.action == "drop":
                said = f"was dropped with {many(step.n_features, 'column')} left (step {i})"
            changes = [(c, said) for c in sorted(moved)]
            inside = inside ^ moved
        for column, said in changes:
            if i <= path.chosen:
                stories[column].append(said)
            else:
                after.setdefault(column, f"{said}, after the choice was made (step {path.chosen})")
    chosen = set(selector.selected_.tolist())
    for name, twins in stands_for(selector).items():
        stories[path.names.index(name)].append(f"stands for {count_others(twins)}")
    if selector.families_ is not None:
        for j in np.flatnonzero(selector.families_.leader != np.arange(len(path.names))).tolist():
            after[j] = f"{path.names[selector.families_.leader[j]]} stands for it"
    found = []
    for j in selector.selected_.tolist():
        told = stories[j] + (["left only after the choice was made"] if j in after else [])
        found.append([path.names[j], "selected", _short(told) or "stayed to the end"])
    for j in sorted(set(stories) - chosen):
        fate = "dropped" if stories[j] else "never chosen"
        story = _short(stories[j]) if stories[j] else after.get(j, "no step took it")
        found.append([path.names[j], fate, story])
    return found


def _term_fates(model: ChosenColumns) -> list[list[str]]:
    """When weighted terms came, and which column stands for which."""
    families, others = getattr(model, "families_", None), stands_for(model)
    found: dict[str, list[str]] = {}
    path = getattr(model, "path_", None)
    if isinstance(path, Path):
        kept, seen = set(path.states[path.chosen].terms), {t for s in path.states for t in s.terms}
        for i, step in enumerate(path.steps):
            for term in [t for unit in step.units for t in path.units[unit] if t in seen]:
                came, name = f"was taken as {nth(step.n_terms)} term", path.name_of(term)
                if term in kept:
                    found[name] = [name, "selected", came]
                elif i <= path.chosen:
                    found[name] = [name, "dropped", f"{came}, and left again"]
                else:
                    later = "would have come later than was chosen"
                    found.setdefault(name, [name, "never chosen", later])
    for name, twins in others.items():
        line = found.setdefault(name, [name, "selected", ""])
        line[2] = "; ".join(filter(None, [line[2], f"stands for {count_others(twins)}"]))
    if families is not None:
        for j in np.flatnonzero(families.leader != np.arange(len(families.names))).tolist():
            name, leader = families.names[j], families.names[families.leader[j]]
            found.setdefault(name, [name, "never chosen", f"{leader} stands for it"])
    return list(found.values())


def _short(said: list[str]) -> str:
    if len(said) > 4:
        said = [*said[:2], f"... {len(said) - 3} more moves", said[-1]]
    return ", ".join(said)


def settings_of(model: Model) -> list[tuple[str, str]]:
    """Settings of the fit in words, and the versions that did it."""
    found: list[tuple[str, str]] = []
    if isinstance(model, ChosenColumns):
        found += [(name, _setting(name, each)) for name, each in procedure_of(model).settings()]
        found.append(("seed", str(model.random_state)))
        weight = model.class_weight
        found.append(("class weights", "none" if weight is None else str(weight)))
    versions = {
        "bayesieve": metadata.version("bayesieve"),
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    return found + [(f"version of {name}", version) for name, version in versions.items()]


def _setting(name: str, value: Any) -> str:
    if name == "guided by":
        return GUIDES.get(str(value), str(value))
    if name == "minimum gain of a term":
        if math.isinf(value):
            return "no term at all"
        times = few_digits(math.exp(min(value, 30.0)))
        return f"{value:.4g} nat of log-likelihood (a likelihood ratio of {times})"
    if name == "scored on" and hasattr(value, "n_splits"):
        return f"{value.n_splits} folds"
    return str(value) if isinstance(value, str | int | float) else str(type(value).__name__)


def hashes_of(spoken: Portable, table: Table, y: ArrayLike) -> list[tuple[str, str]]:
    """What tells this model and these rows from others: SHA-256, the first 16 digits.

    Parameters
    ----------
    spoken : the model as plain data.
    table, y : the rows.
    """
    model = hashlib.sha256(json.dumps(spoken, sort_keys=True, default=str).encode())
    names = list(table.names)
    rows = hashlib.sha256(json.dumps(names).encode())
    parts: Iterable[Array] = map(table.column, range(len(names)))
    if isinstance(table, SparseTable):
        parts = (table.matrix.indptr, table.matrix.indices, table.matrix.data)
    for part in chain(parts, [np.asarray(y)]):
        rows.update(_bytes(part))
    return [
        ("hash of the model", model.hexdigest()[:16]),
        ("hash of the rows", rows.hexdigest()[:16]),
    ]


def _bytes(values: Array) -> bytes:
    if values.dtype.kind in "OUS":
        return "\x1f".join(map(str, values.ravel().tolist())).encode("utf-8", "replace")
    return np.ascontiguousarray(values).tobytes()


# -- The rule of a model and what it decides on rows, as plain data --------------------------------


def rule_data(problem: FittedProblem) -> Section | None:
    """A rule in nat, as the page follows it; None where the most probable class is decided."""
    rule = problem.rule
    if rule is None:
        return None

    def nat(units: int | None) -> float | None:
        return None if units is None else float(np.ldexp(float(units), -problem.scale.bits))

    return {
        "costs": None if rule.costs is None else [[*line] for line in rule.costs],
        "guards": [
            {**asdict(guard), "low": nat(guard.low), "high": nat(guard.high)}
            for guard in rule.guards
        ],
        "prior": [nat(units) for units in rule.prior],
        "words": rule_in_words(problem),
    }


def decided_data(
    model: Model, fitted: FittedBayes, table: Table, y: ArrayLike, judged: Section
) -> list[Section]:
    """Rows by class and decision: of the rule where there is one, of the most probable class else.

    Parameters
    ----------
    model, fitted : the model.
    table, y : the rows, with the columns of the model.
    judged : how it did without a rule.
    """
    if all(problem.rule is None for problem in fitted.problems):
        if judged["confusion"] is None:
            return []
        return [_decided(None, judged["classes"], judged["confusion"], None, "Of the rows above")]
    kept = getattr(bayes_of(model), "decision_", None)
    source = "Of the held-out rows that the rule was made on"
    # Elsewhere costs weigh other probabilities than they did on those rows.
    moved = fitted.place is not None and any(p.rule and p.rule.costs for p in fitted.problems)
    if not isinstance(kept, Decision) or moved:
        kept = Decision.of(fitted, table, class_codes(fitted, y))
        source = "Of the rows given"
    told = zip(kept.labels or (None,), kept.classes, kept.tables, kept.rules, strict=True)
    return [
        _decided(label, names, counts, rule.costs, source) for label, names, counts, rule in told
    ]


def decided_in_words(found: Section) -> str:
    """Describe the decisions of a rule.

    Parameters
    ----------
    found : rows by class and decision.
    """
    counts = np.array(found["counts"], float)
    n_rows, n_classes = float(counts.sum()), len(found["classes"])
    if not n_rows:
        return ""
    right, asked = float(np.trace(counts)), float(counts[:, n_classes:].sum())
    wrong = n_rows - right - asked
    told = f"{found['source']} ({n_rows:g}), {rate_in_words(wrong / n_rows)} were decided wrongly"
    if len(found["decisions"]) > n_classes:
        told += f" and {rate_in_words(asked / n_rows)} referred to a person"
    return f"{told}."


class RuleCost(NamedTuple):
    """What decisions cost, a row: of the rule, of the best constant one; and if it is no chance."""

    own: float
    blind: float
    always: str
    better: bool


# Standard errors by which costs are less than those of a constant decision by more than chance.
_SURELY = 1.96


def rule_cost(decided: list[Section], counted: float = 1.0) -> RuleCost | None:
    """The cost of a rule (with labels, of all rules that have costs); None where there is none.

    Parameters
    ----------
    decided : rows by class and decision.
    counted : for how many independent rows each of them counts.
    """
    own, blind, variance = 0.0, 0.0, 0.0
    names = []
    for each in decided:
        counts, costs = np.array(each["counts"], float), np.array(each["costs"])
        if each["costs"] is None or not counts.sum():
            continue
        shares, costs = counts / counts.sum(), costs[:, : counts.shape[1]]
        always = shares.sum(1) @ costs
        best = int(always.argmin())
        own, blind = own + float((shares * costs).sum()), blind + float(always[best])
        gains = costs[:, [best]] - costs
        spread = (shares * gains**2).sum() - (shares * gains).sum() ** 2
        variance += float(spread / (counts.sum() * counted))
        asks = best == len(each["classes"])
        names.append("always asking" if asks else f"always “{each['decisions'][best]}”")
    if not names:
        return None
    always_what = names[0] if len(names) == 1 else "the best constant decisions"
    return RuleCost(own, blind, always_what, blind - own > _SURELY * max(variance, 0.0) ** 0.5)


def class_codes(fitted: FittedBayes, y: ArrayLike) -> NDArray[np.int64]:
    """The position of every row's class; with labels, of each."""
    truth = np.asarray(y)
    if not fitted.labelled:
        return np.searchsorted(fitted.only.classes, truth)[:, None]
    return truth.astype(np.int64)


def _decided(
    label: str | None,
    classes: list[Value],
    counts: Sequence[Sequence[float]],
    costs: Sequence[Sequence[float]] | None,
    source: str,
) -> Section:
    decisions = [*(str(name) for name in classes), ASK][: len(counts[0]) if counts else 0]
    cost = None
    if costs is not None:
        total = float(np.sum(counts)) or 1.0
        cost = float(np.sum(np.array(counts) * np.array(costs)[:, : len(counts[0])])) / total
    return {
        "label": label,
        "classes": list(classes),
        "decisions": decisions,
        "counts": [[*line] for line in counts],
        "costs": None if costs is None else [[*line] for line in costs],
        "cost": cost,
        "source": source,
    }


def drift_data(model: Model, X: object) -> Section:
    """Which columns of the rows moved away from training, the clearest first."""
    found = drift(model, X)
    names = ("columns", "distance", "adjusted", "change", "moved", "rows")
    return {
        "headline": found.headline(3),
        **{name: getattr(found, name) for name in names},
        "novel": None if found.novel is None else [[*each] for each in found.novel.items()],
    }


# -- The decision explorer: the model and its rows -------------------------------------------------

MOST_ROWS = 1000

_MOST_CELLS = 40_000  # a page of many features holds fewer rows

_MOST_SIGNALS, _MOST_SHAPES = 60, 25

_MOST_POINTS = 400  # of a signal in the page


def choosing_rows(model: Model) -> Ints | None:
    """Rows that only chose among subsets; None where a model has no such part."""
    parts = procedure_of(model).row_parts if isinstance(model, ChosenColumns) else None
    return None if parts is None else parts[1]


def embedded_rows(
    choosing: Ints | None,
    fitted: FittedBayes,
    shown: list[PortableFeature],
    table: Table,
    y: ArrayLike,
    extras: "Extras",
) -> Section | None:
    """A sample of the rows: position, truth, part, and the values the model reads.

    Parameters
    ----------
    choosing : rows that only chose, or None.
    fitted : the model.
    shown : its features as the page has them.
    table, y : the rows, with the model's columns.
    extras : what is asked for.
    """
    if not extras.include_rows:
        return None
    series = None
    if extras.signals is not None:
        read = read_series_table if extras.indicators is None else extras.indicators.read
        series = read(extras.signals)
    draw = np.random.RandomState(extras.random_state)
    most = min(MOST_ROWS, max(_MOST_CELLS // max(len(fitted.specs), 1), 50))
    at = _draw(choosing, table.n_rows, most, draw)
    wanted = np.array(extras.wanted, np.int64)
    at = np.union1d(at, wanted)
    truth = np.asarray(y)
    validation = np.isin(np.arange(table.n_rows), () if choosing is None else choosing)
    return {
        "n_rows": table.n_rows,
        "at": at.tolist(),
        "truth": truth[at].astype(int).tolist()
        if truth.ndim > 1
        else [*map(plain_value, truth[at])],
        "validation": validation[at].tolist(),
        "values": _values(fitted, shown, table, at),
        "novelty": None if fitted.usual is None else _points(novelty_of(fitted, table.take(at))),
        "signals": _signals(fitted, wanted, at, validation, series, extras.indicators),
        "channels": [] if series is None else list(series.channels),
        "spoken": _spoken(fitted, extras.indicators),
    }


def _draw(choosing: Ints | None, n_rows: int, most: int, draw: np.random.RandomState) -> Ints:
    """All rows where they are few; else as many of the validation part as fit into a half."""
    if n_rows <= most:
        return np.arange(n_rows)
    first = np.empty(0, np.int64)
    if choosing is not None and choosing.size:
        first = draw.permutation(choosing)[: most // 2]
    rest = np.setdiff1d(np.arange(n_rows), first)
    return np.sort(np.concatenate([first, draw.permutation(rest)[: most - first.size]]))


def _values(
    fitted: FittedBayes, shown: list[PortableFeature], chosen: Table, at: Ints
) -> list[list[float | None]]:
    """Values of each column: positions of levels (None: missing, -1: never seen), or numbers."""
    found: list[list[float | None]] = []
    for j, spec in enumerate(fitted.specs):
        raw = chosen.column(j)[at]
        levels = shown[j]["levels"]
        if spec.on_grid:  # numbers in seven digits, where they say the same
            short = np.array([float(f"{value:.7g}") for value in raw])
            raw = np.where(encode(spec, short) == encode(spec, raw), short, raw)
        if levels is None:
            found.append([None if value != value else float(value) for value in raw])
        elif spec.levels is None:  # no closed form: a table of the values seen
            codes = to_codes(np.array(levels), raw)
            found.append([-1 if code == len(levels) else int(code) for code in codes])
        else:
            codes, missing = encode(spec, raw), is_missing(raw)
            last = spec.n_codes - 1
            found.append(
                [
                    None if gone else -1 if code == last else int(code)
                    for code, gone in zip(codes, missing, strict=True)
                ]
            )
    return found


def _signals(
    fitted: FittedBayes,
    wanted: Ints,
    at: Ints,
    validation: NDArray[np.bool_],
    table: SeriesTable | None,
    indicators: Indicators | None,
) -> dict[int, Section] | None:
    """Series of some embedded rows, and where in them each indicator of the model fired."""
    if table is None:
        return None
    pool = at[validation[at]] if validation[at].any() else at
    found: dict[int, Section] = {}
    known = set() if indicators is None else set(indicators.names_)
    names = {j: spec.name for j, spec in enumerate(fitted.specs) if spec.name in known}
    for i in np.concatenate([wanted, pool[:_MOST_SIGNALS]]):
        series = table[int(i)]
        fired = {}
        if indicators is not None:
            spans = indicators.fired(series, list(names.values()))
            fired = {j: spans[name] for j, name in names.items() if spans[name]}
        length = max(values[0].size for values in series.values)
        step = max(1, length // _MOST_POINTS)
        ends = None
        if series.times is not None:  # when the first and the last point were taken
            times = series.times[0]
            ends = [str(plain_value(time)) for time in (*times[:1], *times[-1:])]
        found[int(i)] = {
            "points": [_points(values[0][::step]) for values in series.values],  # of each channel
            "step": step,
            "length": length,
            "times": ends,
            "fired": fired,
        }
    return found


def _points(values: NDArray[np.float64]) -> list[float | None]:
    """Values in four digits; None where one is missing."""
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values]


def _spoken(fitted: FittedBayes, indicators: Indicators | None) -> dict[int, Section]:
    """What the indicators among the features say."""
    if indicators is None:
        return {}
    known = {each.id: each for each in indicators.indicators_}
    return {
        j: {
            "sentence": known[spec.name].sentence,
            "channels": [indicators.channels_.index(name) for name in known[spec.name].channels],
        }
        for j, spec in enumerate(fitted.specs)
        if spec.name in known
    }


# -- What an explorer of decisions reads -----------------------------------------------------------


def explorer_data(model: Model, X: object, y: ArrayLike, extras: "Extras") -> dict[str, object]:
    """What the scripts of a report read to explore decisions, and nothing else.

    Parameters
    ----------
    model : fitted.
    X, y : rows to look at, and their classes.
    extras : rows that are wanted, and the series behind them.
    """
    fitted = fitted_of(model)
    spoken = portable(fitted, by_values=True)
    whole = [explain_model(model, label=label) for label in fitted.labels or (None,)]
    models = [each.to_dict() for each in whole]
    mine = rows_of(model, X)
    rows = embedded_rows(choosing_rows(model), fitted, spoken["features"], mine, y, extras)
    return {
        "portable": in_nat(spoken, fitted),
        "rules": [rule_data(problem) for problem in fitted.problems],
        "sources": sources_of(models),
        "rows": rows,
        "told": models,
        "shapes": _shapes(whole[0]),
    }


def _shapes(whole: ModelExplanation) -> list[tuple[str, str]]:
    """Names and pictures of the terms that say most."""
    ranked = sorted(zip(whole.shares, whole.features, strict=True), key=lambda pair: -pair[0])
    shown = [each for _, each in ranked if speaks(each.source)][:_MOST_SHAPES]
    return [(each.feature, shape_of(whole, each)) for each in shown]


def sources_of(models: Sequence[Section]) -> list[list[list[object]]]:
    """The counts, or the moments, behind each feature of each model."""
    return [[[each["counts"], each["source"]] for each in model["features"]] for model in models]


def in_nat(data: Portable, fitted: FittedBayes) -> Section:
    """Integers beyond 2^53 do not survive in a page: terms in nat, and log 0 marked apart."""
    return {
        "features": data["features"],
        "problems": [
            _problem_in_nat(problem, [f["cuts"] is not None for f in data["features"]], each)
            for problem, each in zip(data["problems"], fitted.problems, strict=True)
        ],
    }


def _problem_in_nat(
    problem: PortableProblem, on_grid: list[bool], fitted: FittedProblem
) -> Section:
    bits, impossible = problem["bits"], problem["impossible"]

    def nat(fixed: int) -> list[float]:
        never = bool(impossible) and fixed <= -impossible // 2
        return [float(np.ldexp(fixed + impossible * never, -bits)), int(never)]

    def terms(found: TableTerms | BellTerms, steps: bool) -> Section | BellTerms:
        if "table" not in found:
            return found
        silent = [nat(fixed) for fixed in found["silent"]]
        if steps and not impossible:
            # Whole numbers that are small where neighbours are near: a third of the letters.
            whole = np.rint(np.ldexp(np.array(found["table"], float), -bits) * 1e10)
            lines = np.diff(whole, axis=0, prepend=0).T.astype(int).tolist()
            return {"steps": lines, "silent": silent}
        table = [[nat(fixed) for fixed in row] for row in found["table"]]
        return {"table": table, "silent": silent}

    return {
        "name": problem["name"],
        "classes": problem["classes"],
        "class_count": problem["class_count"],
        "temperature": problem["temperature"],
        "prior": [nat(fixed) for fixed in problem["prior"]],
        "shares": fitted.shares.tolist(),
        "terms": [terms(*both) for both in zip(problem["terms"], on_grid, strict=True)],
        "rows": [_rows(fitted, j) for j in range(len(on_grid))],
        "pairs": [
            {
                "rows": mine.counts.sum(-1).ravel().tolist(),
                "columns": pair["columns"],
                "groups": pair["groups"],
                "table": [[nat(fixed) for fixed in row] for row in pair["table"]],
            }
            for pair, mine in zip(problem["pairs"], fitted.pairs, strict=True)
        ],
    }


def _rows(problem: FittedProblem, j: int) -> list[float | None] | None:
    """Training rows of each code, missing last; None of what nobody has seen, and of a curve."""
    spec = problem.specs[j]
    if spec.levels is None:
        return None
    known = problem.summary.statistics[j][0].sum(-1).tolist()
    named = problem.columns[j].model.nominal and spec.model != "bernoulli"
    return [n if n or not named else None for n in known]
