"""Parameters as users give them."""

import difflib
import os
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..criteria import Criterion, has_standard_error
from ..models import MODELS
from .shared import SharedSparse, SharedTable
from .tables import SparseTable, Table

_BINARY = (0.0, 1.0)
_CLASS_WEIGHTS = (1e-9, 1e9)


def choose(
    name: str, value: Any, allowed: Iterable[str], meant: Mapping[str, str] | None = None
) -> str:
    """A name among the allowed ones, or an error that names the nearest.

    Parameters
    ----------
    name, value : the parameter and what came.
    allowed : names that are known.
    meant : what names of other libraries are called here.
    """
    allowed = list(allowed)
    if isinstance(value, str) and value in allowed:
        return value
    listed = ", ".join(repr(option) for option in allowed)
    near = difflib.get_close_matches(value, allowed, 1, 0.4) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if isinstance(value, str) and value.lower() in (meant or {}):
        hint = f" Did you mean {(meant or {})[value.lower()]}?"
    error = ValueError if isinstance(value, str) else TypeError
    raise error(f"{name} must be one of {listed}; got {value!r}.{hint}")


def check_number(
    name: str, value: Any, *, low: float, high: float = np.inf, whole: bool = False
) -> Any:
    """A number within bounds."""
    kind = Integral if whole else Real
    what = f"a{' whole' if whole else ''} number"
    span = f"from {low:g}" + ("" if high == np.inf else f" to {high:g}")
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name} must be {what} {span}; got {value!r}.")
    number = float(value)
    if not low <= number <= high:
        raise ValueError(f"{name} must be {what} {span}; got {value!r}.")
    return value


def plain_value(value: Any) -> Any:
    """Python's own value behind a numpy scalar, for messages and files."""
    return value.item() if isinstance(value, np.generic) else value


def check_callable(name: str, value: Any) -> None:
    """A function, or an object that can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be callable; got {value!r}.")


def check_jobs(n_jobs: Any) -> None:
    """None, or a whole number that is not 0."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs must be None or a whole number; got {n_jobs!r}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use a number of threads, or -1 for all cores.")


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_file(name: str, value: Any) -> Path:
    """The path of a file, there or not."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise TypeError(f"{name} must be None or the path of a file; got {value!r}.")
    return Path(value)


def check_repeatable(random_state: Any, split: bool, search: Any) -> None:
    """A search can be resumed only if its draws can be repeated."""
    draws = split or getattr(search, "random_state", 0) is None
    if random_state is None and draws:
        raise ValueError(
            "checkpoint needs random_state, since rows (or the search's steps) are drawn and a "
            "search that goes on must draw the same; got random_state=None. Give a whole number."
        )


def choose_models(features: Any, X: Table) -> list[str]:
    """The feature model of every column, from "auto", a name, or a mapping of columns to names."""
    if isinstance(X, SharedTable | SharedSparse):
        return list(X.known.models)
    n_columns = len(X.names)
    if isinstance(features, str):
        choose("features", features, ["auto", *MODELS])
        asked = [features] * n_columns
    elif isinstance(features, Mapping):
        asked = ["auto"] * n_columns
        for key, model in features.items():
            choose(f"features[{key!r}]", model, ["auto", *MODELS])
            for j in column_indices(f"features key {key!r}", [key], X.names):
                asked[j] = model
    else:
        raise TypeError(
            "features must be 'auto', the name of a feature model, or a mapping of column names or "
            f"numbers to such names; got {type(features).__name__}."
        )
    if isinstance(X, SparseTable):
        # Presence, unless something else is asked for: any value may stand in a sparse column.
        return ["bernoulli" if model == "auto" else model for model in asked]
    return [_model_of(X.coded(j)[0], X.names[j], asked[j]) for j in range(n_columns)]


def check_batch(model: str, raw: NDArray[Any], name: str, levels: Any = None) -> None:
    """A later batch must fit the model, and the kind of levels, its column got from the first."""
    _model_of(raw, name, model)
    if levels is not None and levels.size and (raw.dtype == object) != (levels.dtype == object):
        kinds = ("text", "numbers") if levels.dtype == object else ("numbers", "text")
        raise ValueError(f"column {name!r} held {kinds[0]} in the first batch; got {kinds[1]}.")


def column_indices(parameter: str, keys: Any, names: list[str]) -> list[int]:
    """Column numbers from names or numbers."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise TypeError(
            f"{parameter} must be a list of column names or numbers; got {keys!r}. "
            "Wrap a single one in a list."
        )
    found = []
    for key in keys:
        if isinstance(key, str):
            if key not in names:
                near = difflib.get_close_matches(key, names, 1, 0.4)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"{parameter}: {key!r} is not among the columns of X.{hint}")
            found.append(names.index(key))
        elif isinstance(key, Integral) and not isinstance(key, bool):
            if not 0 <= int(key) < len(names):
                raise ValueError(
                    f"{parameter}: column {int(key)} is not among the columns of X; allowed are 0 "
                    f"to {len(names) - 1}."
                )
            found.append(int(key))
        else:
            raise TypeError(f"{parameter} must hold column names or numbers; got {key!r}.")
    return found


def read_groups(groups: Any, names: list[str]) -> list[list[int]]:
    """Columns that move together; every column not named is a group of its own."""
    if groups is None:
        return [[j] for j in range(len(names))]
    if isinstance(groups, str | Mapping) or not isinstance(groups, Iterable):
        raise TypeError(
            f"feature_groups must be a list of lists of column names or numbers; got {groups!r}."
        )
    owner: dict[int, int] = {}
    members = []
    for g, group in enumerate(groups):
        columns = sorted(column_indices(f"feature_groups[{g}]", group, names))
        if not columns:
            raise ValueError(f"feature_groups[{g}] is empty; leave it out.")
        for j in columns:
            if j in owner:
                raise ValueError(
                    f"feature_groups must not overlap; column {names[j]!r} is in group "
                    f"{owner[j]} and in group {g}."
                )
            owner[j] = g
        members.append(columns)
    members.extend([j] for j in range(len(names)) if j not in owner)
    return sorted(members)


def check_class_weight(class_weight: Any, classes: NDArray[Any]) -> dict[int, float] | str | None:
    """None, "balanced", or a mapping of classes to positive numbers (as class indices)."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weight
    if isinstance(class_weight, str):
        choose("class_weight", class_weight, ["balanced"])
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            "class_weight must be None, 'balanced' or a mapping of classes to weights; got "
            f"{type(class_weight).__name__}."
        )
    known = {value: k for k, value in enumerate(classes.tolist())}
    weights = {}
    for key, value in class_weight.items():
        if key not in known:
            raise ValueError(
                f"class_weight names class {key!r}; allowed are {', '.join(map(repr, known))}."
            )
        low, high = _CLASS_WEIGHTS
        if not isinstance(value, Real) or not low <= float(value) <= high:
            raise ValueError(
                f"class_weight[{key!r}] must be a positive number from {low:g} to {high:g}; got "
                f"{value!r}."
            )
        weights[known[key]] = float(value)
    return weights


def check_priors(priors: Any, n_classes: int) -> str | NDArray[np.float64] | None:
    """None, "uniform", or one probability a class."""
    if priors is None:
        return None
    if isinstance(priors, str):
        return choose("priors", priors, ["uniform"])
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"priors must be None, 'uniform' or one number for each class; got {priors!r}."
        ) from error
    if given.shape != (n_classes,):
        raise ValueError(
            f"priors must hold one number for each of the {n_classes} classes; got shape "
            f"{given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any() or not np.isclose(given.sum(), 1.0):
        raise ValueError(
            f"priors must be probabilities that sum to 1; got {given.tolist()}, sum "
            f"{given.sum():g}."
        )
    return given


def check_smoothing(smoothing: Any) -> float | str:
    """A pseudo-count >= 0, or "mean"."""
    if isinstance(smoothing, str):
        return choose("smoothing", smoothing, ["mean"])
    return float(check_number("smoothing", smoothing, low=0.0, high=1e12))


def check_reachable(size: int, units: list[list[int]], keep: list[int]) -> None:
    """Some of the groups must add up to the number of columns asked for."""
    sums = 1 << sum(len(units[u]) for u in keep)
    for u, members in enumerate(units):
        if u not in keep:
            sums |= sums << len(members)
    if not sums >> size & 1:
        raise ValueError(
            f"n_features={size} cannot be reached: no choice of feature_groups (with keep) adds up "
            "to it. Change n_features, or use max_features."
        )


def check_choice(choice: Any, chooser: Criterion) -> None:
    """The best subset, or a smaller one within the standard error of the criterion that chooses."""
    choose("choice", choice, ["best", "one-se"])
    if choice == "one-se" and not has_standard_error(chooser):
        raise ValueError(
            f"choice='one-se' needs a standard error, which criterion {chooser.name!r} does not "
            "have; use choice='best', a criterion known by name, or a validation part."
        )


def check_search(search: Any, known: Mapping[str, Any], n_features: Any) -> Any:
    """A search by name, or an object with `steps`."""
    if not hasattr(search, "steps") or isinstance(search, type):
        search = known[choose("search", search, known)]
    for field in ("direction", "first"):
        if hasattr(search, field):
            choose(f"search.{field}", getattr(search, field), ["forward", "backward"])
    if hasattr(search, "begin"):
        if isinstance(search.begin, str):
            choose("search.begin", search.begin, ["empty", "best"])
        else:
            check_number("search.begin", search.begin, low=0, whole=True)
    if hasattr(search, "draws"):
        check_number("search.draws", search.draws, low=1, whole=True)
        if not isinstance(search.sizes, Iterable):
            raise TypeError(f"search.sizes must be a sequence of sizes; got {search.sizes!r}.")
        if not search.sizes or not all(
            isinstance(n, Integral) and int(n) >= 1 for n in search.sizes
        ):
            raise ValueError(
                f"search.sizes must hold whole numbers from 1 on; got {search.sizes!r}."
            )
    if hasattr(search, "most_subsets"):
        check_number("search.most_subsets", search.most_subsets, low=1, whole=True)
    if hasattr(search, "stop"):
        choose("search.stop", search.stop, ["end", "no-improvement"])
        if search.stop == "no-improvement" and n_features is not None:
            raise ValueError(
                "search.stop='no-improvement' may end before n_features is reached; use stop='end' "
                "or max_features."
            )
    return search


def _model_of(raw: NDArray[Any], name: str, asked: str) -> str:
    """The model asked for if the column allows it; for "auto", the one that suits it."""
    text = raw.dtype == object
    binary = not text and bool(((raw == 0) | (raw == 1) | np.isnan(raw)).all())
    if asked == "auto":
        return "categorical" if text else "bernoulli" if binary else "gaussian"
    if asked == "bernoulli" and not binary:
        odd = "text" if text else f"{raw[~np.isin(raw, _BINARY) & ~np.isnan(raw)][0]:g}"
        raise ValueError(
            f"column {name!r} is modelled as 'bernoulli', which allows 0, 1 and missing; got "
            f"{odd}. Use 'categorical' or 'gaussian', or binarise it first."
        )
    if text and not MODELS[asked].discrete:
        raise ValueError(
            f"column {name!r} is modelled as {asked!r}, which needs numbers; got text. "
            "Use 'categorical'."
        )
    return asked
