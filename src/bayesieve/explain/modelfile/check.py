"""Validate model files: the published JSON schema, and consistency checks beyond it."""

import json
import math
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...checks import Foreign, listed_names
from ...models.registry import MODELS

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

#: A part of a model file, or all of it: what the schema says.
FileData: TypeAlias = dict[str, Foreign]

# Letters of a value that an error shows.
_MOST_LETTERS = 60

# Scores in whole units stay below 2 to this power, those of rules within 64 bits.
_MOST_BITS, _MOST_UNITS = 62, 2**63

# As near to 1 as priors must add up that users give.
_CLOSE = 2e-5

# How deep arrays of numbers are nested that the schema names.
_DEPTHS = {"#/$defs/numbers": 1, "#/$defs/matrix": 2, "#/$defs/table": 2, "#/$defs/cube": 3}


def model_schema() -> FileData:
    """The JSON schema (draft 2020-12) of model files.

    Returns
    -------
    schema : dict

    Examples
    --------
    >>> from bayesieve.explain.modelfile.file import model_schema
    >>> model_schema()["properties"]["format"]
    {'const': 'bayesieve-model'}
    """
    text = (files(__package__) / "model.schema.json").read_text(encoding="utf-8")
    found: FileData = json.loads(text)
    return found


def check_model_data(given: object) -> FileData:
    """Validate what a model file holds; ValueError names the place where it is none.

    Parameters
    ----------
    given : what the file holds.
    """
    data = _check_schema(given)
    features, labels, problems = data["features"], data["labels"], data["models"]
    _need(len(problems) == max(len(labels), 1), "models", "one model, or one for each label")
    _need(len(set(labels)) == len(labels), "labels", "names that differ")
    names = [feature["name"] for feature in features]
    _need(len(set(names)) == len(names), "features", "names that differ")
    for j, feature in enumerate(features):
        _check_feature(feature, f"features[{j}]")
    for i, problem in enumerate(problems):
        where = f"models[{i}]"
        _need(_ascending(problem["classes"]), f"{where}.classes", "ascending values of one kind")
        if labels:
            _need(problem["classes"] == [0, 1], f"{where}.classes", "0 and 1, as there are labels")
        _check_problem(problem, features, where)
    if "usual" in data:
        _need(all(a <= b for a, b in pairwise(data["usual"])), "usual", "ascending numbers")
    if "signals" in data:
        _check_signals(data["signals"], names)
    return data


# -- The schema ------------------------------------------------------------------------------------


@cache
def _validator() -> "Draft202012Validator":
    """The schema's validator, which is imported and compiled when the first model is read."""
    from jsonschema import Draft202012Validator as Standard
    from jsonschema.validators import extend

    def refer(
        validator: "Draft202012Validator", name: str, value: object, schema: FileData
    ) -> "Iterator[ValidationError]":
        # Whole arrays at once: a file holds millions of numbers.
        if not _is_array(value, _DEPTHS.get(name, 0)):
            yield from Standard.VALIDATORS["$ref"](validator, name, value, schema)

    # JSON has no number that is not finite, though Python reads some; positions must be whole.
    kinds = Standard.TYPE_CHECKER.redefine_many(
        {
            "number": lambda _, value: _is_number(value),
            "integer": lambda _, value: isinstance(value, int) and _is_number(value),
        }
    )
    return extend(Standard, {"$ref": refer}, type_checker=kinds)(model_schema())


def _is_number(value: object) -> bool:
    return _is_array([value], 1)


def _is_array(value: object, depth: int) -> bool:
    """Are these finite numbers in lists nested so deeply?"""
    if not depth or not isinstance(value, list):
        return False
    if depth > 1:
        return all(_is_array(each, depth - 1) for each in value)
    try:
        return {type(each) for each in value} <= {int, float} and all(map(math.isfinite, value))
    except OverflowError:
        return False


def _check_schema(given: object) -> FileData:
    from jsonschema.exceptions import best_match

    try:
        error = best_match(next(([each] for each in _validator().iter_errors(given)), []))
    except ValueError as huge:  # an integer of too many digits cannot be shown
        raise ValueError("the file must hold finite numbers; got a huge number.") from huge
    if error is not None:
        raise ValueError(f"{_sentence(error)}.")
    assert isinstance(given, dict)
    return given


def _sentence(error: "ValidationError") -> str:
    """The place in the file, what is allowed there, and what came."""
    keys = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in error.absolute_path]
    where = "".join(keys).removeprefix(".") or "the file"
    allowed: Foreign = error.validator_value
    came: Foreign = error.instance
    if error.validator == "oneOf":
        firsts = {each.schema_path[0]: each for each in reversed(error.context or [])}
        return "; or ".join(dict.fromkeys(_sentence(firsts[at]) for at in sorted(firsts)))
    if error.validator == "required":
        return f"{where} lacks {next(name for name in allowed if name not in came)!r}"
    if error.validator == "additionalProperties":
        odd = next(name for name in came if name not in error.schema["properties"])
        return f"{where} has {_short(odd)}, which is unknown"
    if error.validator == "maxProperties":
        return f"{where} must have at most {allowed} fields; got {_short(', '.join(came))}"
    kinds = allowed if isinstance(allowed, list) else [allowed]
    wanted = {
        "type": f"be {' or '.join(map(str, kinds))}",
        "const": f"be {allowed!r}",
        "enum": f"be one of {allowed}",
        "pattern": f"match {allowed!r}",
        "minimum": f"be at least {allowed}",
        "maximum": f"be at most {allowed}",
        "exclusiveMinimum": f"be above {allowed}",
        "minItems": f"have at least {allowed} elements",
        "maxItems": f"have at most {allowed} elements",
    }
    return f"{where} must {wanted[str(error.validator)]}; got {_short(came)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


# -- What must fit together ------------------------------------------------------------------------


def _need(fits: bool, where: str, what: str) -> None:
    if not fits:
        raise ValueError(f"{where} must hold {what}.")


def _ascending(values: list[Foreign]) -> bool:
    """Strictly, and all texts, all numbers or all booleans."""
    kinds = {"text" if isinstance(v, str) else type(v) is bool for v in values}
    return len(kinds) < 2 and all(a < b for a, b in pairwise(values))


def _check_array(
    value: object, shape: tuple[int, ...], where: str, least: float | None = None, what: str = ""
) -> None:
    """Do nested lists make an array of this shape, of numbers from `least` on?"""
    try:
        found = np.array(value, dtype=float)
    except ValueError:  # lists of unequal length
        found = np.empty(0)
    _need(found.shape == shape, where, f"{' x '.join(map(str, shape))} {what or 'numbers'}")
    if least is not None and (found < least).any():
        raise ValueError(f"{where} must hold no number below {least:g}; got {found.min():g}.")


def _check_shares(shares: list[float], n_classes: int, where: str) -> None:
    fits = len(shares) == n_classes and abs(sum(shares) - 1) <= _CLOSE
    _need(fits, where, f"{n_classes} probabilities above 0 that add up to 1")


def _check_feature(feature: FileData, where: str) -> None:
    known = listed_names(MODELS).replace("'", "")
    _need(feature["model"] in MODELS, f"{where}.model", f"one of {known}")
    on_grid = MODELS[feature["model"]].grid_codes > 0
    _need(on_grid == ("cuts" in feature), where, "cuts where its model reads a grid")
    if "levels" in feature:
        levels = feature["levels"]
        _need(_ascending(levels), f"{where}.levels", "ascending values of one kind")
        if feature["model"] == "bernoulli":
            _need(levels == [0, 1], f"{where}.levels", "0 and 1")
        fits = feature["model"] == "bernoulli" or not feature["presence"]
        _need(fits, f"{where}.presence", "false, but for a bernoulli feature")
        return
    ends = feature["range"]
    _need(ends == [] or (len(ends) == 2 and ends[0] <= ends[1]), f"{where}.range", "two ends")
    if "cuts" in feature:
        _check_grid(feature, where)


def _check_grid(feature: FileData, where: str) -> None:
    cuts, medians, ends = feature["cuts"], feature["medians"], feature["range"]
    most = MODELS[feature["model"]].grid_codes
    _need(len(medians) <= most, f"{where}.medians", f"at most {most} numbers")
    _need(len(cuts) == max(len(medians) - 1, 0), f"{where}.cuts", "one cut between two medians")
    edges = [value for pair in zip(medians, cuts, strict=False) for value in pair] + medians[-1:]
    fits = all(a <= b for a, b in pairwise(edges)) and _ascending(medians)
    _need(fits, where, "cuts that lie between ascending medians")
    fits = bool(ends) == bool(medians)
    if fits and ends:
        fits = ends[0] <= medians[0] and medians[-1] <= ends[1]
    _need(fits, f"{where}.range", "ends beyond the medians")
    fits = feature["n_distinct"] >= len(medians) and (feature["n_distinct"] < 2) == (
        ends[:1] == ends[1:]
    )
    _need(fits, f"{where}.n_distinct", "as many values as the range and the medians show")


def _check_problem(problem: FileData, features: list[FileData], where: str) -> None:
    n_classes = len(problem["classes"])
    _check_array(problem["class_count"], (n_classes,), f"{where}.class_count", 0)
    _check_array(problem["class_weight"], (n_classes,), f"{where}.class_weight", 0)
    lines = {f"prior.{name}": line for name, line in problem["prior"].items()}
    for name, line in {**lines, "binary_mean": problem["binary_mean"]}.items():
        if line is not None:
            _check_array(line, (1, n_classes), f"{where}.{name}")
    if "deployment_priors" in problem:
        _check_shares(problem["deployment_priors"], n_classes, f"{where}.deployment_priors")
    fits = int(problem["scale"]["impossible"]) < 2**_MOST_BITS
    _need(fits, f"{where}.scale.impossible", f"a number below 2^{_MOST_BITS}")
    if "weighting" in problem:
        _check_weighting(problem["weighting"], features, n_classes, f"{where}.weighting")
    if "rule" in problem:
        _check_rule(problem["rule"], n_classes, f"{where}.rule")
    found = problem["statistics"]
    _need(len(found) == len(features), f"{where}.statistics", "one element for each feature")
    for j, (feature, statistics) in enumerate(zip(features, found, strict=True)):
        _check_statistics(feature, statistics, n_classes, f"{where}.statistics[{j}]")


def _check_statistics(feature: FileData, statistics: FileData, n_classes: int, where: str) -> None:
    levels = feature.get("levels", feature.get("medians"))
    if levels is not None:
        _need("counts" in statistics, where, "counts, as the feature has levels")
        _check_array(statistics["counts"], (1, len(levels) + 1, n_classes), f"{where}.counts", 0)
        return
    mixed = feature["model"].startswith("mixture")
    fits = "weight" in statistics and mixed == ("share" in statistics)
    _need(fits, where, f"what a {feature['model']} feature learns")
    share = statistics.get("share", [])
    width = len(share[0][0]) if share[:1] > [[]] else 0
    for name, values in statistics.items():
        shape = (n_classes, width) if name in ("share", "centre", "variance") else (n_classes,)
        least = None if name in ("mean", "centre") else 0
        _check_array(values, (1, *shape), f"{where}.{name}", least)


def _check_weighting(data: FileData, features: list[FileData], n_classes: int, where: str) -> None:
    lines, shape = data["weights"] or np.empty((0, n_classes)), (len(features), n_classes)
    _check_array(lines, shape, f"{where}.weights", what="weights")
    for i, pair in enumerate(data["pairs"]):
        _check_pair(pair, features, n_classes, f"{where}.pairs[{i}]")
    fits = all(j < len(features) for j, _ in data["monotone"])
    _need(fits, f"{where}.monotone", "positions of features and 1 or -1")
    if data["monotone"] and n_classes != 2:
        raise ValueError(f"{where}.monotone must be empty, but for two classes.")
    if "priors" in data:
        _check_shares(data["priors"], n_classes, f"{where}.priors")
    tables = data.get("corrections", [])
    _need(len(tables) in (0, len(features)), f"{where}.corrections", "one for each feature")
    for j, table in enumerate(tables):
        if table is not None:
            levels = features[j].get("levels", features[j].get("medians")) or ()
            # What is added where a value is missing stands last, if there is anything.
            more = int(data["missing"] and len(table) == len(levels) + 1)
            shape = (len(levels) + more, n_classes)
            _check_array(table, shape, f"{where}.corrections[{j}]", what="corrections")


def _check_pair(pair: FileData, features: list[FileData], n_classes: int, where: str) -> None:
    first, second = pair["columns"]
    if first == second:
        raise ValueError(f"{where} must be of two features.")
    sizes = []
    for j, groups in zip(pair["columns"], pair["groups"], strict=True):
        if j >= len(features):
            raise ValueError(f"{where}.columns must hold positions of features; got {j!r}.")
        levels = features[j].get("levels", features[j].get("medians"))
        most = max(groups, default=-1)
        fits = levels is not None and len(groups) == len(levels) + 1 and groups[-1] == most >= 1
        _need(fits, f"{where}.groups", "a group for each level, and a silent one")
        sizes.append(most)
    _check_array(pair["counts"], (*sizes, n_classes), f"{where}.counts", 0, "counts")
    _check_array(pair["weights"], (n_classes,), f"{where}.weights", what="weights")
    if "correction" in pair:
        what = "corrections"
        _check_array(pair["correction"], (*sizes, n_classes), f"{where}.correction", what=what)


def _check_rule(data: FileData, n_classes: int, where: str) -> None:
    costs = data["costs"]
    if costs is not None:
        widths = {len(line) for line in costs}
        fits = len(costs) == n_classes and len(widths) == 1
        fits = fits and widths <= {n_classes, n_classes + 1}
        _need(fits, f"{where}.costs", f"{n_classes} lines of as many costs or more")
    fits = all(each["position"] < n_classes for each in (*data["guards"], *data["promises"]))
    _need(fits, where, "guards and promises at positions of classes")
    bounds = [bound for guard in data["guards"] for bound in (guard["low"], guard["high"])]
    whole = [*data["prior"], *(bound for bound in bounds if bound is not None)]
    fits = len(data["prior"]) == n_classes and all(abs(each) < _MOST_UNITS for each in whole)
    _need(fits, where, "a prior for each class, in whole units")


def _check_signals(data: FileData, features: list[str]) -> None:
    """Do the recipe of a model of time series and its features fit together?"""
    names, kept = data["recipe"]["names"], data["recipe"]["kept"]
    fits = all(j < len(names) for j in kept) and [names[j] for j in kept] == features
    _need(fits, "signals.recipe.kept", "the indicators that are the features")
    fits = sum(map(len, data["recipe"]["cuts"])) == len(names)
    _need(fits, "signals.recipe.cuts", "one threshold for each name")
    form = data["form"]
    if form is not None and form["kind"] == "long" and form["id"] is None:
        raise ValueError("signals.form.id must name a column, as the table is a long one.")
