"""Everything a report shows, as plain data: gathered here, drawn elsewhere."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ...checks import plain_value
from ...data.series import SeriesLike
from ...data.tables import SparseTable, Table, read_table
from ...estimators.chosen import ChosenColumns
from ...estimators.held import fitted_of, rows_of, stands_for
from ...estimators.selector import NaiveBayesSelector
from ...evaluation.given import Model
from ...evaluation.performance import performance
from ...evaluation.stability import Stability
from ...indicators.transformer import Indicators
from ...models.fitted import FittedBayes
from ...rankings.families import count_others
from ..model import explain_model
from ..plain import Plain
from ..portable import BellTerms, Portable, PortableProblem, TableTerms, portable
from .rows import embedded_rows
from .shape import (
    AgreementData,
    Content,
    NatModel,
    NatProblem,
    NatTerms,
    PathData,
    SelectionData,
    StepTerms,
)


@dataclass(frozen=True)
class Extras:
    """What a report may hold beside the model.

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


def gather(
    model: Model, X: object, y: ArrayLike, extras: Extras, sample_weight: ArrayLike | None = None
) -> Content:
    """The content of a report on a selector (or a finished model) and a table."""
    selector = model if isinstance(model, NaiveBayesSelector) else None
    fitted = fitted_of(model)
    table = rows_of(model, X) if selector is None else read_table(model, X, reset=False)
    judged = performance(model, X, y, sample_weight, extras.groups)
    labels = fitted.labels or (None,)
    spoken = portable(fitted, by_values=True)
    return {
        "title": extras.title,
        "summary": _summary(selector, fitted, table, y),
        "fates": family_fates(model) if selector is None else fates(selector, extras.left_out),
        "path": None if selector is None else _path(selector),
        "model": [explain_model(model, label=label).to_dict() for label in labels],
        "portable": _in_nat(spoken, fitted),
        "performance": judged.to_dict(),
        "stability": _stability(extras.stability, selector),
        "no_stability": extras.no_stability,
        "rows": embedded_rows(selector, fitted, spoken["features"], table, y, extras),
    }


def _summary(
    selector: NaiveBayesSelector | None, fitted: FittedBayes, table: Table, y: ArrayLike
) -> dict[str, Plain]:
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
    truth = np.asarray(y)
    counts: list[Plain]
    if fitted.labelled:
        present = (truth == 1).sum(0).tolist()
        counts = [[n, count] for n, count in zip(fitted.labels, present, strict=True)]
    else:
        counts = [[plain_value(c), int((truth == c).sum())] for c in fitted.only.classes]
    found: dict[str, Plain] = {
        "n_rows": table.n_rows,
        "n_columns": len(table.names),
        "n_selected": len(fitted.specs),
        "kinds": {**kinds},
        "missing": missing,
        "labelled": fitted.labelled,
        "classes": counts,
        "place": None if fitted.place is None else fitted.place.tolist(),
    }
    return found if selector is None else found | _settings(selector)


def _settings(selector: NaiveBayesSelector) -> dict[str, Plain]:
    step = selector.path_.steps[selector.path_.chosen]
    return {
        "search": _name(selector.settings_["search"]),
        "criterion": selector.path_.criterion,
        "cv": _name(selector.settings_["cv"]),
        "class_weight": selector.class_weight is not None,
        "reweigh": bool(selector.settings_["reweigh"]),
        "n_guiding": int(selector.guiding_rows_.size),
        "n_validation": int(selector.validation_rows_.size),
        "n_tried": int(selector.n_tried_),
        "score": step.score,
        "validation_name": selector.path_.validation_name,
        "validation": None if np.isnan(step.validation_error) else step.validation_error,
    }


def _name(value: object) -> str:
    if hasattr(value, "n_splits"):
        return f"{value.n_splits} folds"
    return str(value) if isinstance(value, str | int) else type(value).__name__


def fates(selector: NaiveBayesSelector, left_out: dict[str, str]) -> list[list[str]]:
    """What became of each column, and why: [name, fate, story], the selected first."""
    path = selector.path_
    stories: dict[int, list[str]] = {j: [] for j in range(len(path.names))}
    after: dict[int, str] = {}
    inside: set[int] = set()
    for i, step in enumerate(path.steps):
        moved = {c for u in step.units for c in path.members[u]}
        if step.action == "start":
            changes = [
                (c, "was in from the start" if i == 0 else f"came back at step {i}")
                for c in sorted(moved - inside)
            ]
            changes += [(c, f"left at step {i}") for c in sorted(inside - moved)]
            inside = set(moved)
        else:
            word = "joined" if step.action == "add" else "was removed"
            changes = [(c, f"{word} at step {i}") for c in sorted(moved)]
            inside = inside ^ moved
        for column, said in changes:
            if i <= path.chosen:
                stories[column].append(said)
            elif not said.startswith(("left", "was removed")):
                after.setdefault(column, f"{said}, after the chosen subset (step {path.chosen})")
    chosen = set(selector.selected_.tolist())
    others = stands_for(selector)
    for name, twins in others.items():
        stories[path.names.index(name)].append(f"stands for {count_others(twins)}")
    if selector.families_ is not None:
        for j in np.flatnonzero(selector.families_.leader != np.arange(len(path.names))).tolist():
            after[j] = f"{path.names[selector.families_.leader[j]]} stands for it"
    found = [[path.names[j], "selected", _short(stories[int(j)])] for j in selector.selected_]
    for j in sorted(set(stories) - chosen):
        fate = "chosen and removed" if stories[j] else "never chosen"
        story = _short(stories[j]) if stories[j] else after.get(j, "no step took it")
        found.append([path.names[j], fate, story])
    found += [[name, "eliminated", reason] for name, reason in left_out.items()]
    return found


def family_fates(model: Model) -> list[list[str]]:
    """Which column stands for which, of a model whose path has terms in place of columns."""
    families = getattr(model, "families_", None)
    if not isinstance(model, ChosenColumns) or families is None:
        return []
    names, others = families.names, stands_for(model)
    found = []
    for j, (name, chosen) in enumerate(zip(names, model.support_.tolist(), strict=True)):
        if chosen:
            story = f"stands for {count_others(others[name])}" if name in others else ""
            found.append([name, "selected", story])
        elif families.leader[j] != j:
            found.append([name, "never chosen", f"{names[families.leader[j]]} stands for it"])
    return found


def _short(said: list[str]) -> str:
    if len(said) > 4:
        said = [*said[:2], f"... {len(said) - 3} more moves", said[-1]]
    return ", ".join(said)


def _path(selector: NaiveBayesSelector) -> PathData:
    """Moves, from which the page rebuilds every subset, and the scores."""
    path = selector.path_
    return {
        "names": list(path.names),
        "members": [list(members) for members in path.members],
        "criterion": path.criterion,
        "validation_name": path.validation_name,
        "chosen": path.chosen,
        "steps": [
            (
                {"start": "s", "add": "+", "drop": "-"}[step.action],
                list(step.units),
                step.phase,
                step.n_features,
                _eight(step.score),
                _eight(step.validation_error),
            )
            for step in path.steps
        ],
    }


def _eight(value: float) -> float | None:
    """Eight digits: a path has thousands of scores."""
    return None if np.isnan(value) else float(f"{value:.8g}")


def _in_nat(data: Portable, fitted: FittedBayes) -> NatModel:
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


def _stability(
    found: Stability | None, selector: NaiveBayesSelector | None
) -> AgreementData | None:
    if found is None or selector is None:
        return None
    data = found.to_dict()
    # By position: a sparse matrix has no names, its path may have been given some.
    features: list[SelectionData] = [
        {
            "name": selector.path_.names[j],
            "frequency": each["frequency"],
            "selected": bool(selector.support_[j]),
        }
        for j, each in enumerate(data["features"])
    ]
    features.sort(key=lambda each: (-each["frequency"], not each["selected"]))
    return {
        "n_resamples": data["n_resamples"],
        "measure": data["measure"],
        "interval": data["interval"],
        "confidence": data["confidence"],
        "note": data["note"],
        "jaccard": data["jaccard"],
        "family_jaccard": data["family_jaccard"],
        "features": [each for each in features if each["frequency"] or each["selected"]],
    }
