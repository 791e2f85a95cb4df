"""Result of a comparison: every fit, average ranks, tests, and a verdict in words."""

import csv
import io
import json
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...checks import check_number, choose
from ...data.result import Result, html_table
from ...models.base import Floats
from .methods import SCORES, Cell
from .statistics import (
    Friedman,
    Outcome,
    corrected_t,
    critical_difference,
    friedman,
    holm,
    rank_groups,
    rank_rows,
    sets_needed,
    signed_rank,
)

Value = str | float | int | None

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: "\\" + letter for letter in "&%$#_{}"},
}


@dataclass(frozen=True)
class ResultGrid:
    """Rows under a head; None is a value that there is not.

    Parameters
    ----------
    head : names of the columns.
    rows : values.
    forms : how numbers of each column are written for people; ``""``: as they are.
    best : (row, column) of values to be set in bold.
    caption : what the table shows.

    Examples
    --------
    >>> grid = ResultGrid(("method", "accuracy"), (("a_b", 0.91234), ("c", None)), ("", ".3f"))
    >>> print(grid.to_text())
    method  accuracy
    a_b        0.912
    c              -
    >>> print(grid.to_csv(), end="")
    method,accuracy
    a_b,0.91234
    c,
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    forms: tuple[str, ...] = ()
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    caption: str = ""

    def shown(self, row: int, column: int) -> str:
        """A value as people read it."""
        value = self.rows[row][column]
        if value is None:
            return "-"
        form = self.forms[column] if column < len(self.forms) else ""
        return str(value) if isinstance(value, str) or not form else format(value, form)

    def turned(self) -> "ResultGrid":
        """Rows as columns; all columns but the first must be written alike."""
        rows = tuple(
            (name, *(row[j] for row in self.rows)) for j, name in enumerate(self.head) if j > 0
        )
        head = (self.head[0], *(str(row[0]) for row in self.rows))
        forms = ("", *self.forms[1:2] * len(self.rows))
        best = frozenset((j - 1, i + 1) for i, j in self.best)
        return ResultGrid(head, rows, forms, best, self.caption)

    def to_csv(self) -> str:
        """All digits; an empty field where there is no value."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows(["" if value is None else value for value in row] for row in self.rows)
        return text.getvalue()

    def to_text(self) -> str:
        """Columns of equal width, names to the left, numbers to the right."""
        cells = [[self.shown(i, j) for j in range(len(self.head))] for i in range(len(self.rows))]
        rows = [list(self.head), *cells]
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for first, *others in rows:
            parts = [f"{text:>{width}}" for text, width in zip(others, wide[1:], strict=True)]
            lines.append("  ".join([f"{first:<{wide[0]}}", *parts]).rstrip())
        return "\n".join(lines)

    def to_html(self) -> str:
        """A table for notebooks."""
        columns: dict[str, list[Value]] = {
            name: [self.shown(i, j) for i in range(len(self.rows))]
            for j, name in enumerate(self.head)
        }
        return html_table(columns, self.caption, figures=self.head[1:])

    def to_latex(self) -> str:
        r"""A tabular in the manner of booktabs."""
        lines = [rf"\begin{{tabular}}{{l{'r' * (len(self.head) - 1)}}}", r"\toprule"]
        lines.append(" & ".join(latex(name) for name in self.head) + r" \\")
        lines.append(r"\midrule")
        for i in range(len(self.rows)):
            cells = []
            for j in range(len(self.head)):
                text = "--" if self.rows[i][j] is None else latex(self.shown(i, j))
                cells.append(rf"\textbf{{{text}}}" if (i, j) in self.best else text)
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines.insert(0, "% needs the package booktabs")
        if self.caption:
            lines.insert(0, "% " + " ".join(self.caption.split()))
        return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    r"""A text that LaTeX sets as it is.

    Examples
    --------
    >>> print(latex("50% of a_b"))
    50\% of a\_b
    """
    return re.sub(r"[\\~^&%$#_{}]", lambda found: _LATEX[found[0]], " ".join(text.split()))


# -- A comparison in words and tables --------------------------------------------------------------


# Methods from which on they are the rows of the table of sets in a terminal.
_WIDE = 8

# Which cell it is.
_PLACE = ("method", "data", "seed", "fold")


def listed(names: list[str]) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def chance(p: float) -> str:
    """A probability in a sentence."""
    return "p < 0.0001" if p < 1e-4 else f"p {p:.2g}"


def _leader(found: "Comparison", title: str) -> str:
    best = list(found.best)
    verb = "are" if len(best) > 1 else "is"
    if len(found.sets) == 1:
        data = found.sets[0].name
        shown = format(found.score(best[0], data), SCORES[found.metric].form)
        return f"{listed(best)} {verb} best by {title} on {data}: {shown}."
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
        # No test over so few sets can find anything: what the folds of each set say.
        need = sets_needed(pairs, found.alpha)
        better = [
            f"{v.other} on {v.clear_wins} of {len(found.sets)} (worse on {v.clear_losses})"
            for v in mine
            if v.clear_wins or v.clear_losses
        ]
        told = f"more than chance better than {listed(better)}" if better else ""
        return (
            f"{len(found.sets)} sets are too few to test that: a signed-rank test of "
            f"{len(found.ranked)} methods needs {need}. Within the sets, by their folds, "
            f"{best} is {told or 'not distinguishable from any'}."
        )
    clear = [f"{v.other} ({chance(v.p_holm)})" for v in mine if v.p_holm < found.alpha]
    unclear = [f"{v.other} ({chance(v.p_holm)})" for v in mine if v.p_holm >= found.alpha]
    said = []
    if clear:
        said.append(f"That is more than chance against {listed(clear)}")
    if unclear:
        said.append(f"{'it' if clear else 'It'} may be chance against {listed(unclear)}")
    return "; ".join(said) + "."


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
    told = f"not distinguishable: {', '.join(groups)}" if groups else "all are distinguishable"
    if any(len(group) == len(found.ranked) for group in found.groups):
        told = "no two are distinguishable"
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
    jaccard, size_sd = np.mean(there, axis=0).tolist()
    return jaccard, size_sd


def by_method(found: "Comparison") -> ResultGrid:
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
    return ResultGrid(
        tuple(head[j] for j in keep),
        tuple(tuple(row) for row in rows),
        tuple(forms[j] for j in keep),
        caption="Means over all sets; - where a method failed on one of them or lacks the score.",
    )


def by_set(found: "Comparison") -> ResultGrid:
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
    return ResultGrid(
        ("data set", *order),
        tuple(rows),
        ("", *[score.form] * len(order)),
        frozenset(best),
        f"{score.title}, mean of {found.folds} folds and {seeds}",
    )


def _pairs(found: "Comparison") -> ResultGrid:
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
    return ResultGrid((*head, "p", "p Holm"), rows, (*forms, ".2g", ".2g"))


def _failed(found: "Comparison") -> list[str]:
    n_fits = len(found.seeds) * found.folds
    return [
        f"{method} failed on {data} in {n} of {n_fits} fits: {said}"
        for method, data, n, said in found.failures
    ]


# -- A comparison ----------------------------------------------------------------------------------


class SetSize(NamedTuple):
    """A data set by name and size."""

    name: str
    rows: int
    columns: int
    classes: int


class Steadiness(NamedTuple):
    """How far the fits of a method on a set select the same features."""

    jaccard: float  #: mean over all pairs of fits of |both| / |either|; 1 for the same features
    size_sd: float  #: standard deviation of the number of features


class Versus(NamedTuple):
    """Two methods against each other."""

    one: str
    other: str
    difference: float  #: mean over the sets of one's score less the other's
    wins: int  #: sets on which `one` is better
    ties: int
    losses: int
    clear_wins: int  #: of them, more than chance by the folds of that set
    clear_losses: int
    statistic: float  #: signed-rank over the sets; corrected t over the folds of a single set
    p: float
    p_holm: float  #: corrected for all pairs


@dataclass(frozen=True)
class Comparison(Result):
    """What `compare` found.

    `str` says first which method is best and whether that is more than chance.  All questions are
    about one score, `metric`; `by` asks the same of another.

    Attributes
    ----------
    cells : tuple of Cell
        One for each method, data set, seed and fold.
    methods : tuple of str
    sets : tuple of SetSize
    seeds : tuple of int
    folds : int
    metric : str
        The score that decides: a name in `SCORES`.
    alpha : float
        Risk that is taken of calling chance a difference.

    Notes
    -----
    A method's score on a set is the mean over its folds and seeds (of seconds, the median: the
    first fit may compile).  Where one of its fits failed, it has none there and ranks last.  A
    method without a score on any set (no probabilities, say) has no rank.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bayesieve import compare
    >>> methods = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
    >>> found = compare(methods, ["iris", "wine"], seeds=1)
    >>> found.best, found.ranks
    (('bayes',), {'bayes': 1.0, 'stump': 2.0})
    >>> round(found.score("bayes", "iris"), 4)
    0.96
    >>> found.by("log_loss").best
    ('bayes',)
    """

    cells: tuple[Cell, ...]
    methods: tuple[str, ...]
    sets: tuple[SetSize, ...]
    seeds: tuple[int, ...]
    folds: int
    metric: str = "accuracy"
    alpha: float = 0.05
    _data = (
        "verdict",
        "metric",
        "alpha",
        "methods",
        "sets",
        "seeds",
        "folds",
        "best",
        "ranks",
        "critical_difference",
        "groups",
        "friedman",
        "versus",
        "table",
        "cells",
    )

    def by(self, metric: str | None = None, *, alpha: float | None = None) -> "Comparison":
        """Evaluate the same fits by another score, or at another significance level."""
        metric = self.metric if metric is None else choose("metric", metric, SCORES)
        alpha = self.alpha if alpha is None else check_number("alpha", alpha, low=1e-6, high=0.5)
        return replace(self, metric=metric, alpha=alpha)

    # -- figures -------------------------------------------------------------------------------

    @cached_property
    def _at(self) -> dict[tuple[str, str], list[Cell]]:
        found: dict[tuple[str, str], list[Cell]] = {}
        for cell in sorted(self.cells, key=lambda each: (each.seed, each.fold)):
            found.setdefault((cell.method, cell.data), []).append(cell)
        return found

    def values(self, method: str, data: str, score: str | None = None) -> Floats | None:
        """A score of every fold, seed by seed; None where the method failed or does not tell it."""
        name = self.metric if score is None else score
        found = [cell.scores[name] for cell in self._at[method, data]]
        known = [value for value in found if value is not None]
        return np.array(known) if len(known) == len(found) else None

    def score(self, method: str, data: str, score: str | None = None) -> float | None:
        """A score over folds and seeds: the mean, of seconds the median; None after a failure."""
        found = self.values(method, data, score)
        middle = SCORES[self.metric if score is None else score].middle
        return None if found is None else float(np.median(found) if middle else found.mean())

    def mean(self, method: str, score: str | None = None) -> float | None:
        """The mean of a score over all sets; None where one of them has none."""
        found = [self.score(method, each.name, score) for each in self.sets]
        known = [value for value in found if value is not None]
        return float(np.mean(known)) if len(known) == len(found) else None

    def steadiness(self, method: str, data: str) -> Steadiness | None:
        """How alike the selections of all fits are; None where the method does not select."""
        cells = self._at[method, data]
        chosen = [set(cell.selected) for cell in cells if cell.selected is not None]
        if len(chosen) < len(cells):
            return None
        alike = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(chosen, 2)]
        sizes = [float(len(each)) for each in chosen]
        return Steadiness(float(np.mean(alike)), float(np.std(sizes, ddof=1)))

    @property
    def failures(self) -> list[tuple[str, str, int, str]]:
        """Method, set, number of fits that failed, and the words of the first."""
        found = []
        for (method, data), cells in self._at.items():
            said = [cell.failure for cell in cells if cell.failure]
            if said:
                found.append((method, data, len(said), said[0]))
        return found

    # -- ranks and tests -----------------------------------------------------------------------

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The methods that have a score on some set."""
        return tuple(
            method
            for method in self.methods
            if any(self.score(method, each.name) is not None for each in self.sets)
        )

    @cached_property
    def rank_table(self) -> Floats:
        """Ranks, sets x ranked methods; 1 is best, equals share, a failure is last."""
        sign = -1 if SCORES[self.metric].greater_is_better else 1
        found = [[self.score(m, each.name) for m in self.ranked] for each in self.sets]
        losses = [[np.inf if value is None else sign * value for value in row] for row in found]
        return rank_rows(np.array(losses))

    @cached_property
    def ranks(self) -> dict[str, float]:
        """Average rank of each ranked method, best first."""
        means = self.rank_table.mean(0) if self.ranked else []
        pairs = sorted(zip(means, range(len(self.ranked)), strict=True))
        return {self.ranked[i]: float(mean) for mean, i in pairs}

    @property
    def best(self) -> tuple[str, ...]:
        """The method of the best average rank; several where they share it."""
        least = min(self.ranks.values(), default=0.0)
        return tuple(name for name, rank in self.ranks.items() if rank <= least + 1e-9)

    @cached_property
    def friedman(self) -> Friedman | None:
        """Test that all methods are equal; None for fewer than three methods or two sets."""
        if len(self.ranked) < 3 or len(self.sets) < 2:
            return None
        return friedman(self.rank_table)

    @cached_property
    def critical_difference(self) -> float | None:
        """Average ranks farther apart differ by more than chance (Nemenyi); None for one set."""
        if len(self.ranked) < 2 or len(self.sets) < 2:
            return None
        return critical_difference(len(self.ranked), len(self.sets), self.alpha)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Methods whose average ranks are no farther apart than that, best group first."""
        names = list(self.ranks)
        gap = self.critical_difference
        found = [] if gap is None else rank_groups(list(self.ranks.values()), gap)
        return [tuple(names[i] for i in group) for group in found]

    @cached_property
    def _within(self) -> dict[tuple[str, str, str], tuple[Outcome, float]]:
        """Corrected t-tests within each set, and their Holm values: (set, one, other)."""
        found = {}
        for data in self.sets:
            known = {m: v for m in self.ranks if (v := self.values(m, data.name)) is not None}
            pairs, tests = list(combinations(known, 2)), []
            for one, other in pairs:
                sizes = [(cell.n_train, cell.n_test) for cell in self._at[one, data.name]]
                n_train, n_test = np.mean(sizes, axis=0).tolist()
                tests.append(corrected_t(known[one] - known[other], n_train, n_test))
            fair = holm([test.p for test in tests])
            for pair, test, p_holm in zip(pairs, tests, fair, strict=True):
                found[data.name, *pair] = test, p_holm
        return found

    @cached_property
    def versus(self) -> tuple[Versus, ...]:
        """Every pair of ranked methods, the better of each first, best methods first."""
        pairs = list(combinations(self.ranks, 2))
        shared = [self._shared(*pair) for pair in pairs]
        tests = [signed_rank(np.array([apart for _, apart in each])) for each in shared]
        if len(self.sets) == 1:
            data = self.sets[0].name
            tests = [self._within[data, *pair][0] for pair in pairs]
        fair = holm([test.p for test in tests])
        told = zip(pairs, shared, tests, fair, strict=True)
        return tuple(self._versus(*pair, both, test, p) for pair, both, test, p in told)

    def _shared(self, one: str, other: str) -> list[tuple[str, float]]:
        """Sets on which both have a score, and by how much they differ there."""
        both = [(s.name, self.score(one, s.name), self.score(other, s.name)) for s in self.sets]
        return [(name, a - b) for name, a, b in both if a is not None and b is not None]

    def _versus(
        self, one: str, other: str, both: list[tuple[str, float]], test: Outcome, p_holm: float
    ) -> Versus:
        sign = 1 if SCORES[self.metric].greater_is_better else -1
        shared = [(name, round(sign * apart, 12)) for name, apart in both]
        clear = [name for name, _ in shared if self._within[name, one, other][1] < self.alpha]
        wins = [name for name, apart in shared if apart > 0]
        losses = [name for name, apart in shared if apart < 0]
        return Versus(
            one,
            other,
            float(np.mean([sign * apart for _, apart in shared])) if shared else 0.0,
            len(wins),
            len(shared) - len(wins) - len(losses),
            len(losses),
            sum(name in clear for name in wins),
            sum(name in clear for name in losses),
            test.statistic,
            test.p,
            p_holm,
        )

    # -- words, tables, files ------------------------------------------------------------------

    @property
    def verdict(self) -> str:
        """Which method is best, and whether that is more than chance."""
        title = SCORES[self.metric].title
        if not self.ranked:
            return f"No method has a score by {title}: each failed or does not offer it."
        if len(self.ranked) == 1:
            only = self.ranked[0]
            return f"Only {only} has a score by {title}: there is nothing to compare it with."
        if len(self.best) == len(self.ranked):
            return f"All {len(self.ranked)} methods are equal by {title}."
        return f"{_leader(self, title)} {_against(self)}"

    def to_text(self) -> str:
        """The verdict, a table of the methods, one of the sets, the tests, and what failed."""
        parts = [self.verdict, by_method(self).to_text()]
        if len(self.sets) > 1:
            table = by_set(self)
            parts.append((table.turned() if len(self.methods) > _WIDE else table).to_text())
        if self.versus:
            parts.append(_pairs(self).to_text() + "\n" + "\n".join(how_tested(self)))
        return "\n\n".join([*parts, *(["\n".join(_failed(self))] if self.failures else [])])

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{escape(self.verdict)}</b></p>", by_method(self).to_html()]
        if len(self.sets) > 1:
            parts.append(by_set(self).to_html())
        if self.versus:
            parts.append(_pairs(self).to_html())
        parts += [f"<p>{escape(line)}</p>" for line in [*how_tested(self), *_failed(self)]]
        return "".join(parts)

    def to_csv(self) -> str:
        """One line for each method and set: means and standard deviations of all scores."""
        return self.to_grid().to_csv()

    def to_latex(self) -> str:
        """Sets x methods by the score that decides, the best of each set in bold; for booktabs."""
        return by_set(self).to_latex()

    def to_grid(self) -> ResultGrid:
        """The lines that `to_csv` writes: means and standard deviations by method and set."""
        head = ["method", "data", "rows", "columns", "classes", "rank"]
        head += [each for name in SCORES for each in (name, f"{name}_sd")]
        head += ["jaccard", "failed_fits", "failure"]
        failed = {(method, data): (n, said) for method, data, n, said in self.failures}
        rows: list[tuple[Value, ...]] = []
        for i, data in enumerate(self.sets):
            for method in self.methods:
                rank = None
                if method in self.ranked:
                    rank = float(self.rank_table[i, self.ranked.index(method)])
                row: list[Value] = [method, data.name, data.rows, data.columns, data.classes, rank]
                for name in SCORES:
                    values = self.values(method, data.name, name)
                    sd = None if values is None else float(values.std(ddof=1))
                    row += [self.score(method, data.name, name), sd]
                steady = self.steadiness(method, data.name)
                row += [None if steady is None else steady.jaccard]
                row += list(failed.get((method, data.name), (0, None)))
                rows.append(tuple(row))
        return ResultGrid(tuple(head), tuple(rows))

    @property
    def table(self) -> list[dict[str, Value]]:
        """The lines of `to_grid`, by the names of its columns."""
        grid = self.to_grid()
        return [dict(zip(grid.head, row, strict=True)) for row in grid.rows]

    def to_json(self) -> str:
        """Everything, cells and tests, as JSON."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def to_columns(self) -> dict[str, list[Any]]:
        """Every cell: its place, its scores, and how it failed where it did."""
        found = {name: [getattr(cell, name) for cell in self.cells] for name in _PLACE}
        found |= {name: [cell.scores[name] for cell in self.cells] for name in SCORES}
        return {**found, "failure": [cell.failure for cell in self.cells]}

    def plot(self, ax: object = None) -> Any:
        """Draw the average ranks with the critical difference; of one set, the folds' scores.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        from ...explain.plots import plot_ranks, plot_scores

        return plot_scores(self, ax) if self.critical_difference is None else plot_ranks(self, ax)
