"""What a rule decides, in words and as a table."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..checks import plain_value
from ..data.html import frame_of, html_table
from ..data.tables import Table
from ..models.base import Ints
from ..models.decisions import ASK, DecisionRule, Guard, Promise
from ..models.fitted import FittedBayes, FittedProblem
from .given import Value

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@dataclass(frozen=True)
class Decision:
    """The rule of a model, and what it decided on the rows it was made on.

    Attributes
    ----------
    labels : tuple of str
        Names of the labels; empty for classes.
    rules : tuple of DecisionRule
        One, or one a label.
    words : tuple of str
        What each rule does, a line each.
    classes : tuple of lists
        The classes of each.
    tables : tuple of lists
        Held-out rows: classes x decisions, the last of them asking a person where a rule asks.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, decide
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["calm", "gust"], 400)
    >>> X = (rng.random((400, 4)) < np.where(y == "gust", 0.7, 0.3)[:, None]).astype(int)
    >>> found = decide(NaiveBayes().fit(X[:200], y[:200]), X[200:], y[200:], abstain=0.2).decision_
    >>> print(found.to_text())
    decides what costs least: taking calm for gust 1; taking gust for calm 1; asking a person 0.2
    >>> found.tables[0]
    [[27, 7, 56], [3, 75, 32]]
    """

    labels: tuple[str, ...]
    rules: tuple[DecisionRule, ...]
    words: tuple[str, ...]
    classes: tuple[list[Value], ...]
    tables: tuple[list[list[int]], ...]

    @classmethod
    def of(cls, fitted: FittedBayes, rows: Table, target: Ints) -> "Decision":
        """The rules of a model, and their decisions on rows whose classes are known."""
        rules, words, classes, tables = [], [], [], []
        for problem, truth in zip(fitted.problems, target.T, strict=True):
            rule = problem.rule
            assert rule is not None
            sums = problem.sums(rows)
            at = rule.decide(sums, problem.fixed_prior, problem.ahead(sums))
            table = np.zeros((len(problem.classes), rule.n_decisions), np.int64)
            np.add.at(table, (truth, at), 1)
            rules.append(rule)
            words.append("\n".join(rule_in_words(problem)))
            classes.append([plain_value(value) for value in problem.classes])
            tables.append(table.tolist())
        return cls(fitted.labels, tuple(rules), tuple(words), tuple(classes), tuple(tables))

    def to_text(self) -> str:
        """What the rule does and promises, in lines."""
        if not self.labels:
            return self.words[0]
        pairs = zip(self.labels, self.words, strict=True)
        return "\n".join(f"{label}: {line}" for label, text in pairs for line in text.split("\n"))

    def to_dict(self) -> dict[str, list[object]]:
        """Held-out rows by class and decision, as columns of plain values."""
        found: dict[str, list[object]] = {"class": [], "decision": [], "rows": []}
        for g, (names, table) in enumerate(zip(self.classes, self.tables, strict=True)):
            for name, line in zip(names, table, strict=True):
                for decision, n in zip([*names, ASK], line, strict=False):
                    if self.labels:
                        found.setdefault("label", []).append(self.labels[g])
                    found["class"].append(name)
                    found["decision"].append(decision)
                    found["rows"].append(n)
        return found

    def to_frame(self, backend: str | None = None) -> "IntoDataFrame":
        """Held-out rows by class and decision, as a data frame.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        columns: dict[str, list[object]] = {
            name: values if name == "rows" else [str(each) for each in values]
            for name, values in self.to_dict().items()
        }
        return frame_of(columns, backend)

    def _repr_html_(self) -> str:
        return html_table(self.to_dict(), self.to_text())


def rule_in_words(problem: FittedProblem) -> list[str]:
    """What the rule of a problem does, and what it promises."""
    rule = problem.rule
    if rule is None:
        return ["decides the most probable class"]
    names = [plain_value(value) for value in problem.classes]
    lines = []
    if rule.costs is not None:
        lines.append(f"decides what costs least: {_costs_in_words(rule, names)}")
    for guard in rule.guards:
        lines += _guard_in_words(guard, names, problem)
    if rule.guards and rule.prior != tuple(problem.fixed_prior.tolist()):
        lines[-1] += ", by the shares of the classes where the rule was made"
    lines += [promise_in_words(promise, names) for promise in rule.promises]
    return lines or ["decides the most probable class"]


def _costs_in_words(rule: DecisionRule, names: list[Value]) -> str:
    assert rule.costs is not None
    parts = []
    for k, (name, line) in enumerate(zip(names, rule.costs, strict=True)):
        alike: dict[float, list[str]] = {}
        for d, cost in enumerate(line[: len(names)]):
            if cost or d != k:
                alike.setdefault(cost, []).append(str(names[d]))
        told = [f"for {' or '.join(others)} {cost:g}" for cost, others in alike.items()]
        parts.append(f"taking {name} {', '.join(told)}")
    if rule.asks:
        asking = [line[-1] for line in rule.costs]
        if len(set(asking)) == 1:
            parts.append(f"asking a person {asking[0]:g}")
        else:
            pairs = zip(names, asking, strict=True)
            parts += [f"asking a person about {name} {cost:g}" for name, cost in pairs]
    return "; ".join(parts)


def _guard_in_words(guard: Guard, names: list[Value], problem: FittedProblem) -> list[str]:
    name = names[guard.position]
    only = "where" if guard.low is not None and guard.high is not None else "only where"
    if guard.or_ask:
        assert guard.high is not None
        nat = float(problem.nat(np.array([-guard.high]))[0])
        return [
            f"decides another class than {name} {only} one is more than {odds(nat)} times as "
            "probable"
        ]
    if guard.low is not None:
        return [f"decides {name} {only} it is {_lead(guard.low, problem, 'more than')}"]
    assert guard.high is not None
    return [f"decides {name} wherever it is {_lead(guard.high, problem, 'at least')}"]


def _lead(units: int, problem: FittedProblem, words: str) -> str:
    """A lead as odds."""
    nat = float(problem.nat(np.array([units]))[0])
    return f"{words} {odds(nat)} times as probable as any other class"


def odds(nat: float) -> str:
    """How many times as probable."""
    if abs(nat) > 700:
        return f"e^{nat:.0f}"
    return f"{math.exp(nat):.3g}"


def promise_in_words(promise: Promise, names: list[Value]) -> str:
    """A rate, its confidence and the rows it rests on."""
    name, share = names[promise.position], f"{100 * promise.bound:.6g} %"
    said = {
        "alarms": f"at most {share} of the rows of {name} are taken for another class",
        "false alarms": f"at most {share} of the rows that are not {name} are taken for it",
        "detections": f"at least {share} of the rows of {name} are taken for it",
    }[promise.kind]
    return (
        f"{said} ({100 * promise.confidence:.6g} % confidence; {promise.rows} held-out "
        f"{promise.unit}, {promise.beyond} of them beyond the threshold)"
    )
