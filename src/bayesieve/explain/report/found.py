"""How a model was found: paths, what became of each column, settings, versions and hashes."""

import hashlib
import json
import math
import platform
from collections.abc import Iterable
from importlib import metadata

import numpy as np
import sklearn
from numpy.typing import ArrayLike

from ...checks import Array
from ...data.tables import SparseTable, Table
from ...estimators.chosen import ChosenColumns
from ...estimators.held import stands_for
from ...estimators.selector import NaiveBayesSelector
from ...estimators.weighted import WeightedNaiveBayes
from ...evaluation.given import Model
from ...rankings.families import count_others
from ...search.weight_path import WeightPath
from ..bands import weighted_bands
from ..portable import Portable
from ..words import few_digits, many, nth
from .shape import PathData

# What the score that guides is called where people read it.
GUIDES = {
    "error": "error on the search rows",
    "probability": "expected error (the model's own estimate)",
    "log-likelihood": "log-likelihood",
    "log-loss": "log-loss of rows left out",
}


def path_of(
    model: Model, X: object, y: ArrayLike, groups: ArrayLike | None = None
) -> PathData | None:
    """The moves of a search, or the states of a weighted path; None where there are none.

    Parameters
    ----------
    model : what was fitted.
    X, y, groups : what it was fitted on.
    """
    if isinstance(model, NaiveBayesSelector):
        return _moves(model)
    if isinstance(model, WeightedNaiveBayes) and isinstance(model.path_, WeightPath):
        return _states(model, X, y, groups)
    return None


def log_of(model: Model) -> list[tuple[str, str, str, str]]:
    """What a person changed by hand in a session, and why: time, what, columns, note."""
    log = getattr(model, "log_", None) or getattr(getattr(model, "estimator_", None), "log_", None)
    return [
        (str(line["time"]), str(line["action"]), ", ".join(line["columns"]), str(line["note"]))
        for line in log or []
    ]


def _moves(selector: NaiveBayesSelector) -> PathData:
    """Moves, from which the page rebuilds every subset, and the scores."""
    path = selector.path_
    n_guiding, n_validation = path.n_rows
    grouped = n_guiding < selector.guiding_rows_.size
    return {
        "kind": "columns",
        "names": list(path.names),
        "members": [list(members) for members in path.members],
        "criterion": path.criterion,
        "guide": GUIDES.get(path.criterion, path.criterion),
        "judge": "error on the choice rows"
        if path.validation_name == "validation_error"
        else "score on the choice rows",
        "n_guiding": n_guiding,
        "n_validation": n_validation,
        "unit": "groups" if grouped else "rows",
        "chosen": path.chosen,
        "bands": None,
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


def _states(
    model: WeightedNaiveBayes, X: object, y: ArrayLike, groups: ArrayLike | None
) -> PathData:
    """Every state of a path of weighted terms, whole."""
    path = model.path_
    terms = sorted(path.names)
    at = {term: i for i, term in enumerate(terms)}
    n_rows = int(sum(np.ravel(model.estimator_.class_count_)))
    return {
        "kind": "terms",
        "names": [path.names[term] for term in terms],
        "members": [[i] for i in range(len(terms))],
        "criterion": "log-loss",
        "guide": GUIDES["log-loss"],
        "judge": "",
        "n_guiding": n_rows,
        "n_validation": 0,
        "unit": "rows" if groups is None else "groups",
        "chosen": path.chosen,
        "bands": weighted_bands(model, X, y, groups),
        "steps": [
            (
                "t",
                [at[term] for term in step.terms],
                0,
                len(step.terms),
                _eight(step.loss),
                None,
            )
            for step in path.steps
        ],
    }


def _eight(value: float) -> float | None:
    """Eight digits: a path has thousands of scores."""
    return None if np.isnan(value) else float(f"{value:.8g}")


def fates(selector: NaiveBayesSelector, left_out: dict[str, str]) -> list[list[str]]:
    """What became of each column, and why: [name, fate, story], the selected first.

    Parameters
    ----------
    selector : fitted.
    left_out : columns left out before the search, with the reason.
    """
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
    found += [[name, "eliminated", reason] for name, reason in left_out.items()]
    return found


def term_fates(model: Model, left_out: dict[str, str]) -> list[list[str]]:
    """The same of weighted terms: which came when, and which column stands for which."""
    if not isinstance(model, ChosenColumns):
        return []
    families, others = getattr(model, "families_", None), stands_for(model)
    found: dict[str, list[str]] = {}
    path = getattr(model, "path_", None)
    if isinstance(path, WeightPath):
        found |= {name: [name, *told] for name, told in _arrivals(path).items()}
    for name, twins in others.items():
        line = found.setdefault(name, [name, "selected", ""])
        line[2] = "; ".join(filter(None, [line[2], f"stands for {count_others(twins)}"]))
    if families is not None:
        for j in np.flatnonzero(families.leader != np.arange(len(families.names))).tolist():
            name, leader = families.names[j], families.names[families.leader[j]]
            found.setdefault(name, [name, "never chosen", f"{leader} stands for it"])
    lost = [[name, "eliminated", reason] for name, reason in left_out.items()]
    return [*found.values(), *lost]


def _arrivals(path: WeightPath) -> dict[str, tuple[str, str]]:
    """When each term of a path came, and whether the chosen state still has it."""
    kept = set(path.steps[path.chosen].terms)
    found: dict[str, tuple[str, str]] = {}
    for i, step in enumerate(path.steps):
        for term in path.units[step.unit] if step.unit >= 0 else ():
            came, name = f"was taken as {nth(len(step.terms))} term", path.names.get(term)
            if name is None:
                continue
            if term in kept:
                found[name] = ("selected", came)
            elif i <= path.chosen:
                found[name] = ("dropped", f"{came}, and left again")
            else:
                found.setdefault(name, ("never chosen", "would have come later than was chosen"))
    return found


def _short(said: list[str]) -> str:
    if len(said) > 4:
        said = [*said[:2], f"... {len(said) - 3} more moves", said[-1]]
    return ", ".join(said)


def settings_of(model: Model) -> list[tuple[str, str]]:
    """What it was asked to do, in words, and the versions that did it."""
    found: list[tuple[str, str]] = []
    if isinstance(model, NaiveBayesSelector):
        asked = model.settings_
        cv = asked["cv"]
        found += [
            ("search", _name(asked["search"])),
            ("guided by", GUIDES.get(str(model.path_.criterion), str(model.path_.criterion))),
            ("scored on", f"{cv.n_splits} folds" if hasattr(cv, "n_splits") else _name(cv)),
            ("choice", _name(asked["choice"])),
            ("search rows", f"{model.guiding_rows_.size}"),
            ("choice rows", f"{model.validation_rows_.size}"),
            ("subsets tried", f"{model.n_tried_}"),
        ]
        if model.proof_ is not None:
            found.append(("more than chance?", str(model.proof_)))
    elif isinstance(model, WeightedNaiveBayes):
        found += [
            ("estimator", "WeightedNaiveBayes: terms with weights for each class"),
            ("guided by", GUIDES["log-loss"]),
            ("price of a term", _price(model.choice_["price"])),
            ("pairs of columns", "yes" if model.choice_["bins"] else "no"),
            ("ridge", f"{model.ridge:g}"),
        ]
    if isinstance(model, ChosenColumns):
        found.append(("seed", str(model.random_state)))
        weight = model.class_weight
        found.append(("class weights", "none" if weight is None else str(weight)))
    return found + [(f"version of {name}", version) for name, version in _versions()]


def _price(nat: float) -> str:
    if math.isinf(nat):
        return "no term at all"
    times = few_digits(math.exp(min(nat, 30.0)))
    return f"{nat:.4g} nat (the rows must become {times} times as likely)"


def _versions() -> Iterable[tuple[str, str]]:
    yield "bayesieve", metadata.version("bayesieve")
    yield "Python", platform.python_version()
    yield "numpy", np.__version__
    yield "scikit-learn", sklearn.__version__


def hashes_of(spoken: Portable, table: Table, y: ArrayLike) -> list[tuple[str, str]]:
    """What tells this model and these rows from others: SHA-256, the first 16 digits.

    Parameters
    ----------
    spoken : the model as plain data.
    table, y : the rows.
    """
    model = hashlib.sha256(json.dumps(spoken, sort_keys=True, default=str).encode())
    rows = hashlib.sha256()
    names = list(table.names)
    rows.update(json.dumps(names).encode())
    if isinstance(table, SparseTable):
        for part in (table.matrix.indptr, table.matrix.indices, table.matrix.data):
            rows.update(np.ascontiguousarray(part).tobytes())
    else:
        for j in range(len(names)):
            rows.update(_bytes(table.column(j)))
    rows.update(_bytes(np.asarray(y)))
    return [
        ("hash of the model", model.hexdigest()[:16]),
        ("hash of the rows", rows.hexdigest()[:16]),
    ]


def _bytes(values: Array) -> bytes:
    if values.dtype.kind in "OUS":
        return "\x1f".join(map(str, values.ravel().tolist())).encode("utf-8", "replace")
    return np.ascontiguousarray(values).tobytes()


def _name(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else str(type(value).__name__)
