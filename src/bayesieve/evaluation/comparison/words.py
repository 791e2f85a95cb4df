"""A comparison in words and tables."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .grid import Grid, Value
from .scores import SCORES
from .statistics import sets_needed

if TYPE_CHECKING:
    from .result import Comparison, Versus


# Methods from which on they are the rows of the table of sets in a terminal.
_WIDE = 8


def listed(names: list[str]) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> from bayesieve.evaluation.comparison.words import listed
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def chance(p: float) -> str:
    """A probability in a sentence."""
    return "p < 0.0001" if p < 1e-4 else f"p {p:.2g}"


def verdict(found: "Comparison") -> str:
    """Which method is best, and whether that is more than chance."""
    title = SCORES[found.metric].title
    if not found.ranked:
        return f"No method has a score by {title}: each failed or does not tell it."
    if len(found.ranked) == 1:
        return (
            f"Only {found.ranked[0]} has a score by {title}: there is nothing to compare it with."
        )
    if len(found.best) == len(found.ranked):
        return f"All {len(found.ranked)} methods are equal by {title}."
    return f"{_leader(found, title)} {_against(found)}"


def _leader(found: "Comparison", title: str) -> str:
    best = list(found.best)
    verb = "are" if len(best) > 1 else "is"
    if len(found.sets) == 1:
        value = found.score(best[0], found.sets[0].name)
        assert value is not None
        shown = format(value, SCORES[found.metric].form)
        return f"{listed(best)} {verb} best by {title} on {found.sets[0].name}: {shown}."
    return (
        f"{listed(best)} {verb} best by {title}: average rank {found.ranks[best[0]]:.2f} of "
        f"{len(found.ranked)} methods on {len(found.sets)} sets."
    )


def _against(found: "Comparison") -> str:
    """The best method against each of the others."""
    best = found.best[0]
    mine = [each for each in found.versus if each.one == best and each.other not in found.best]
    pairs = len(found.versus)
    if len(found.sets) > 1 and len(found.sets) < sets_needed(pairs, found.alpha):
        return _too_few(found, mine)
    clear = [f"{v.other} ({chance(v.p_holm)})" for v in mine if v.p_holm < found.alpha]
    unclear = [f"{v.other} ({chance(v.p_holm)})" for v in mine if v.p_holm >= found.alpha]
    said = []
    if clear:
        said.append(f"That is more than chance against {listed(clear)}")
    if unclear:
        said.append(f"{'it' if clear else 'It'} may be chance against {listed(unclear)}")
    return "; ".join(said) + "."


def _too_few(found: "Comparison", mine: "list[Versus]") -> str:
    """No test over so few sets can find anything: what the folds of each set say."""
    need = sets_needed(len(found.versus), found.alpha)
    clear = [
        f"{v.other} on {v.clear_wins} of {len(found.sets)} (worse on {v.clear_losses})"
        for v in mine
        if v.clear_wins or v.clear_losses
    ]
    told = f"more than chance better than {listed(clear)}" if clear else "not told apart from any"
    return (
        f"Whether that is more than chance cannot be told over {len(found.sets)} sets: a "
        f"signed-rank test of {len(found.ranked)} methods needs {need}. Within the sets, by their "
        f"folds, {found.best[0]} is {told}."
    )


def how_tested(found: "Comparison") -> list[str]:
    """The tests, by name, with their figures."""
    pairs = len(found.versus)
    if not pairs:
        return []
    if len(found.sets) == 1:
        n = len(found.seeds) * found.folds
        return [
            f"p: paired t over {n} folds, corrected for shared training rows (Nadeau and Bengio), "
            f"and for {pairs} pair{'s' * (pairs > 1)} (Holm).",
            "One set: signed-rank test, Friedman's test and critical difference need several sets.",
        ]
    lines = [
        f"p: Wilcoxon's signed-rank test over {len(found.sets)} sets, corrected for {pairs} "
        f"pair{'s' * (pairs > 1)} (Holm)."
    ]
    if found.friedman is not None:
        test = found.friedman
        lines.append(
            f"Friedman: chi2 {test.chi2:.2f} ({chance(test.p)}); Iman-Davenport F {test.f:.2f} "
            f"({chance(test.f_p)})."
        )
    else:
        lines.append("Friedman's test needs three methods.")
    groups = [f"{{{', '.join(group)}}}" for group in found.groups]
    told = f"not told apart: {', '.join(groups)}" if groups else "all are told apart"
    if any(len(group) == len(found.ranked) for group in found.groups):
        told = "no two are told apart"
    lines.append(
        f"Nemenyi: critical difference of average ranks {found.critical_difference:.2f} at alpha "
        f"{found.alpha:g}; {told}."
    )
    return lines


def _mean_steadiness(found: "Comparison", method: str) -> tuple[float | None, float | None]:
    known = [found.steadiness(method, each.name) for each in found.sets]
    there = [each for each in known if each is not None]
    if len(there) < len(known):
        return None, None
    return (
        float(np.mean([each.jaccard for each in there])),
        float(np.mean([each.size_sd for each in there])),
    )


def by_method(found: "Comparison") -> Grid:
    """Means over all sets, one method a row, best first."""
    order = [*found.ranks, *(m for m in found.methods if m not in found.ranks)]
    head, forms = ["method", "rank"], ["", ".2f"]
    columns: list[list[Value]] = [list(order), [found.ranks.get(m) for m in order]]
    for name, score in SCORES.items():
        head.append(score.head)
        forms.append(score.form)
        columns.append([found.mean(m, name) for m in order])
        if name == "n_features":
            steady = [_mean_steadiness(found, m) for m in order]
            head += ["+-", "Jaccard"]
            forms += [".1f", ".2f"]
            columns += [[spread for _, spread in steady], [alike for alike, _ in steady]]
    keep = [j for j, values in enumerate(columns) if any(value is not None for value in values)]
    rows = zip(*(columns[j] for j in keep), strict=True)
    return Grid(
        tuple(head[j] for j in keep),
        tuple(tuple(row) for row in rows),
        tuple(forms[j] for j in keep),
        caption="Means over all sets; - where a method failed on one of them or does not tell.",
    )


def by_set(found: "Comparison") -> Grid:
    """The score that decides, sets x methods, and the average ranks below."""
    score = SCORES[found.metric]
    failed = {(method, data) for method, data, *_ in found.failures}
    order = [*found.ranks, *(m for m in found.methods if m not in found.ranks)]
    rows: list[tuple[Value, ...]] = []
    best = set()
    for i, data in enumerate(found.sets):
        values = [found.score(method, data.name) for method in order]
        known = [value for value in values if value is not None]
        top = (max if score.greater_is_better else min)(known, default=None)
        best |= {(i, j + 1) for j, v in enumerate(values) if v is not None and v == top}
        shown = [
            "failed" if (method, data.name) in failed else value
            for method, value in zip(order, values, strict=True)
        ]
        rows.append((data.name, *shown))
    if len(found.sets) > 1 and len(found.ranked) > 1:
        ranks = [found.ranks.get(method) for method in order]
        rows.append(("average rank", *(None if r is None else f"{r:.2f}" for r in ranks)))
    seeds = f"{len(found.seeds)} seed{'s' * (len(found.seeds) > 1)}"
    return Grid(
        ("data set", *order),
        tuple(rows),
        ("", *[score.form] * len(order)),
        frozenset(best),
        f"{score.title}, mean of {found.folds} folds and {seeds}",
    )


def by_method_and_set(found: "Comparison") -> Grid:
    """All scores, one line for each method and set."""
    head = ["method", "data", "rows", "columns", "classes", "rank"]
    head += [each for name in SCORES for each in (name, f"{name}_sd")]
    head += ["jaccard", "failed_fits", "failure"]
    failed = {(method, data): (n, said) for method, data, n, said in found.failures}
    rows: list[tuple[Value, ...]] = []
    for i, data in enumerate(found.sets):
        for method in found.methods:
            rank = None
            if method in found.ranked:
                rank = float(found.rank_table[i, found.ranked.index(method)])
            row: list[Value] = [method, data.name, data.rows, data.columns, data.classes, rank]
            for name in SCORES:
                values = found.values(method, data.name, name)
                sd = None if values is None else float(values.std(ddof=1))
                row += [found.score(method, data.name, name), sd]
            steady = found.steadiness(method, data.name)
            row += [None if steady is None else steady.jaccard]
            row += list(failed.get((method, data.name), (0, None)))
            rows.append(tuple(row))
    return Grid(tuple(head), tuple(rows))


def _pairs(found: "Comparison") -> Grid:
    """The best method against the others."""
    mine = [each for each in found.versus if each.one == found.best[0]]
    head, forms = [f"{found.best[0]} against", SCORES[found.metric].head], ["", "+.4f"]
    columns: list[list[Value]] = [[v.other for v in mine], [v.difference for v in mine]]
    if len(found.sets) > 1:
        head += ["won/tied/lost", "clearly won/lost"]
        forms += ["", ""]
        columns.append([f"{v.wins}/{v.ties}/{v.losses}" for v in mine])
        columns.append([f"{v.clear_wins}/{v.clear_losses}" for v in mine])
    columns += [[v.p for v in mine], [v.p_holm for v in mine]]
    rows = tuple(tuple(row) for row in zip(*columns, strict=True))
    return Grid((*head, "p", "p Holm"), rows, (*forms, ".2g", ".2g"))


def to_text(found: "Comparison") -> str:
    """The verdict, a table of the methods, one of the sets, the tests, and what failed."""
    parts = [verdict(found), by_method(found).to_text()]
    if len(found.sets) > 1:
        table = by_set(found)
        parts.append((table.turned() if len(found.methods) > _WIDE else table).to_text())
    if found.versus:
        parts.append(_pairs(found).to_text() + "\n" + "\n".join(how_tested(found)))
    parts += ["\n".join(lines) for lines in [_failed(found)] if lines]
    return "\n\n".join(parts)


def _failed(found: "Comparison") -> list[str]:
    n_fits = len(found.seeds) * found.folds
    return [
        f"{method} failed on {data} in {n} of {n_fits} fits: {said}"
        for method, data, n, said in found.failures
    ]


def to_html(found: "Comparison") -> str:
    """The same for notebooks."""
    parts = [f"<p><b>{escape(verdict(found))}</b></p>", by_method(found).to_html()]
    if len(found.sets) > 1:
        parts.append(by_set(found).to_html())
    if found.versus:
        parts.append(_pairs(found).to_html())
    parts += [f"<p>{escape(line)}</p>" for line in [*how_tested(found), *_failed(found)]]
    return "".join(parts)


def to_dict(found: "Comparison") -> dict[str, object]:
    """Everything as plain data."""
    return {
        "verdict": verdict(found),
        "metric": found.metric,
        "alpha": found.alpha,
        "methods": list(found.methods),
        "sets": [each._asdict() for each in found.sets],
        "seeds": list(found.seeds),
        "folds": found.folds,
        "best": list(found.best),
        "ranks": found.ranks,
        "critical_difference": found.critical_difference,
        "groups": [list(group) for group in found.groups],
        "friedman": None if found.friedman is None else found.friedman._asdict(),
        "versus": [each._asdict() for each in found.versus],
        "table": [
            dict(zip(found.to_grid().head, row, strict=True)) for row in found.to_grid().rows
        ],
        "cells": [cell.to_dict() for cell in found.cells],
    }
