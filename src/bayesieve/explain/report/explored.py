"""What an explorer of decisions reads of a model and its rows, in a report and on other pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.held import fitted_of, rows_of
from ...estimators.selector import NaiveBayesSelector
from ...evaluation.given import Model
from ...models.fitted import FittedBayes
from ..model import ModelData, explain_model
from ..portable import BellTerms, Portable, PortableProblem, TableTerms, portable
from .decided import rule_data
from .rows import embedded_rows
from .shape import NatModel, NatProblem, NatTerms, StepTerms

if TYPE_CHECKING:
    from .content import Extras


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
    models = [explain_model(model, label=label).to_dict() for label in fitted.labels or (None,)]
    selector = model if isinstance(model, NaiveBayesSelector) else None
    rows = embedded_rows(selector, fitted, spoken["features"], rows_of(model, X), y, extras)
    return {
        "portable": in_nat(spoken, fitted),
        "rules": [rule_data(problem) for problem in fitted.problems],
        "sources": sources_of(models),
        "rows": rows,
        "told": models,
    }


def sources_of(models: Sequence[ModelData]) -> list[list[list[object]]]:
    """The counts, or the moments, behind each feature of each model."""
    return [[[each["counts"], each["source"]] for each in model["features"]] for model in models]


def in_nat(data: Portable, fitted: FittedBayes) -> NatModel:
    """Integers beyond 2^53 do not survive in a page: terms in nat, and log 0 marked apart."""
    return {
        "features": data["features"],
        "problems": [
            _problem_in_nat(
                problem, [f["cuts"] is not None for f in data["features"]], each.shares.tolist()
            )
            for problem, each in zip(data["problems"], fitted.problems, strict=True)
        ],
    }


def _problem_in_nat(
    problem: PortableProblem, on_grid: list[bool], shares: list[float]
) -> NatProblem:
    bits, impossible = problem["bits"], problem["impossible"]

    def nat(fixed: int) -> list[float]:
        never = bool(impossible) and fixed <= -impossible // 2
        return [float(np.ldexp(fixed + impossible * never, -bits)), int(never)]

    def terms(found: TableTerms | BellTerms, steps: bool) -> NatTerms | StepTerms | BellTerms:
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
        "shares": shares,
        "terms": [terms(*both) for both in zip(problem["terms"], on_grid, strict=True)],
        "pairs": [
            {
                "columns": pair["columns"],
                "groups": pair["groups"],
                "table": [[nat(fixed) for fixed in row] for row in pair["table"]],
            }
            for pair in problem["pairs"]
        ],
    }
