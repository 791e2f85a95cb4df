"""The rule of a model and what it decides on rows, as plain data."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...data.tables import Table
from ...estimators.held import bayes_of
from ...evaluation.decision import Decision, rule_in_words
from ...evaluation.drift import drift
from ...evaluation.given import Model, Value
from ...evaluation.performance import PerformanceData
from ...models.decisions import ASK
from ...models.fitted import FittedBayes, FittedProblem
from ..words import rate_in_words
from .shape import DecidedData, DriftData, RuleData


def rule_data(problem: FittedProblem) -> RuleData | None:
    """A rule in nat, as the page follows it; None where the most probable class is decided."""
    rule = problem.rule
    if rule is None:
        return None

    def nat(units: int | None) -> float | None:
        return None if units is None else float(np.ldexp(float(units), -problem.scale.bits))

    return {
        "costs": None if rule.costs is None else [[*line] for line in rule.costs],
        "guards": [
            {
                "position": guard.position,
                "low": nat(guard.low),
                "high": nat(guard.high),
                "or_ask": guard.or_ask,
            }
            for guard in rule.guards
        ],
        "prior": [float(np.ldexp(float(units), -problem.scale.bits)) for units in rule.prior],
        "words": rule_in_words(problem),
    }


def decided_data(
    model: Model, fitted: FittedBayes, table: Table, y: ArrayLike, judged: PerformanceData
) -> list[DecidedData]:
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
        names = judged["classes"]
        found = _decided(None, names, judged["confusion"], None, "Of the rows it was judged on")
        return [found]
    kept = getattr(bayes_of(model), "decision_", None)
    source = "Of the held-out rows that the rule was made on"
    # Elsewhere costs weigh other probabilities than they did on those rows.
    moved = fitted.place is not None and any(p.rule and p.rule.costs for p in fitted.problems)
    if not isinstance(kept, Decision) or moved:
        kept = Decision.of(fitted, table, class_codes(fitted, y))
        source = "Of the rows given"
    labels = kept.labels or (None,)
    return [
        _decided(label, names, [[*line] for line in counts],
                 None if rule.costs is None else [[*line] for line in rule.costs], source)
        for label, names, counts, rule in zip(
            labels, kept.classes, kept.tables, kept.rules, strict=True
        )
    ]  # fmt: skip


def decided_in_words(found: DecidedData) -> str:
    """What a rule did, beside what would have been done without a look at any row.

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
        told += f" and {rate_in_words(asked / n_rows)} left to a person"
    if found["costs"] is None or found["cost"] is None:
        return f"{told}."
    always = counts.sum(1) @ np.array(found["costs"]) / n_rows
    best = int(always.argmin())
    name = found["decisions"][best]
    blind = "always asking" if best == n_classes else f"always “{name}”"
    return f"{told}; a row costs {found['cost']:.3g} in the mean, with {blind} {always[best]:.3g}."


def class_codes(fitted: FittedBayes, y: ArrayLike) -> NDArray[np.int64]:
    """The position of every row's class; with labels, of each."""
    truth = np.asarray(y)
    if not fitted.labelled:
        return np.searchsorted(fitted.only.classes, truth)[:, None]
    return truth.astype(np.int64)


def _decided(
    label: str | None,
    classes: list[Value],
    counts: list[list[float]],
    costs: list[list[float]] | None,
    source: str,
) -> DecidedData:
    decisions = [*(str(name) for name in classes), ASK][: len(counts[0]) if counts else 0]
    cost = None
    if costs is not None:
        total = float(np.sum(counts)) or 1.0
        cost = float(np.sum(np.array(counts) * np.array(costs)[:, : len(counts[0])])) / total
    return {
        "label": label,
        "classes": list(classes),
        "decisions": decisions,
        "counts": counts,
        "costs": costs,
        "cost": cost,
        "source": source,
    }


def drift_data(model: Model, X: object) -> DriftData:
    """Which columns of the rows moved away from training, the clearest first."""
    found = drift(model, X)
    novel = None
    if found.novel is not None:
        novel = [[level, share] for level, share in found.novel.items()]
    return {
        "headline": found.headline(3),
        "columns": found.columns,
        "distance": found.distance,
        "adjusted": found.adjusted,
        "change": found.change,
        "moved": found.moved,
        "rows": found.rows,
        "novel": novel,
    }
