"""Rules for decisions in model files."""

from dataclasses import asdict, replace
from itertools import pairwise
from typing import cast

from ...models.decisions import DecisionRule, Guard, Promise
from ...models.fitted import FittedBayes, FittedProblem
from .shape import ModelFile, ProblemData, RuleData

# Beyond every lead.
_MOST = 2**63


def rule_data(rule: DecisionRule) -> RuleData:
    """A rule as plain data."""
    found = asdict(rule)
    return cast(
        RuleData,
        {
            **found,
            "costs": None if rule.costs is None else [list(line) for line in rule.costs],
            "guards": list(found["guards"]),
            "prior": list(rule.prior),
            "promises": list(found["promises"]),
        },
    )


def with_rules(fitted: FittedBayes, file: ModelFile) -> FittedBayes:
    """The same with the rules of a file, and what novelty is judged by."""
    pairs = zip(fitted.problems, file["models"], strict=True)
    usual = file.get("usual")
    return replace(
        fitted,
        problems=tuple(_ruled(problem, data) for problem, data in pairs),
        usual=None if usual is None else tuple(usual),
    )


def _ruled(problem: FittedProblem, data: ProblemData) -> FittedProblem:
    if "rule" not in data:
        return problem
    given = data["rule"]
    costs = given["costs"]
    rule = DecisionRule(
        None if costs is None else tuple(tuple(line) for line in costs),
        tuple(Guard(**guard) for guard in given["guards"]),
        tuple(given["prior"]),
        tuple(Promise(**promise) for promise in given["promises"]),
        given["rows"],
    )
    return replace(problem, rule=rule)


def check_rule(data: RuleData, n_classes: int, where: str) -> None:
    """Does a rule fit the classes?"""
    costs = data["costs"]
    if costs is not None:
        widths = {len(line) for line in costs}
        if len(costs) != n_classes or len(widths) != 1 or not widths <= {n_classes, n_classes + 1}:
            raise ValueError(f"{where}.costs must hold {n_classes} lines of as many costs or more.")
    positions = [guard["position"] for guard in data["guards"]]
    positions += [promise["position"] for promise in data["promises"]]
    if any(position >= n_classes for position in positions):
        raise ValueError(f"{where} must hold guards and promises at positions of classes.")
    bounds = [bound for guard in data["guards"] for bound in (guard["low"], guard["high"])]
    whole = [*data["prior"], *(bound for bound in bounds if bound is not None)]
    if len(data["prior"]) != n_classes or any(abs(each) >= _MOST for each in whole):
        raise ValueError(f"{where} must hold a prior for each class, in whole units.")


def check_usual(usual: list[float]) -> None:
    """Ascending, as they are searched?"""
    if not usual or any(a > b for a, b in pairwise(usual)):
        raise ValueError("usual must hold ascending numbers.")
