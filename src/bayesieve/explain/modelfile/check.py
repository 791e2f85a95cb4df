"""Do the parts of a model file fit together?  Asked before a model is made of them."""

from itertools import pairwise
from typing import cast

import numpy as np

from ...checks import listed_names
from ...evaluation.given import Value
from ...models.registry import MODELS
from .decision import check_rule, check_usual
from .schema import Schema, check_schema
from .series import check_signals
from .shape import Feature, GridFeature, ModelFile, Numbers, ProblemData, StatisticsData
from .weighting import check_shares, check_weighting

_MOST_BITS = 62


def check_model_data(given: object, schema: Schema) -> ModelFile:
    """The same, known to be a model file; or ValueError, with the place where it is none.

    Parameters
    ----------
    given : what the file holds.
    schema : its JSON schema.
    """
    check_schema(given, schema, schema)
    data = cast(ModelFile, given)
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
        check_usual(data["usual"])
    if "signals" in data:
        check_signals(data["signals"], features)
    return data


def _need(fits: bool, where: str, what: str) -> None:
    if not fits:
        raise ValueError(f"{where} must hold {what}.")


def _ascending(values: list[Value]) -> bool:
    """Strictly, and all texts, all numbers or all booleans."""
    kinds = {"text" if isinstance(v, str) else type(v) is bool for v in values}
    return len(kinds) < 2 and all(a < b for a, b in pairwise(cast(list[float], values)))


def _check_feature(feature: Feature, where: str) -> None:
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
        return
    _need(feature["grid"] is None or feature["grid"] > 0, f"{where}.grid", "null or a width")


def _check_grid(feature: GridFeature, where: str) -> None:
    cuts, medians, ends = feature["cuts"], feature["medians"], feature["range"]
    most = MODELS[feature["model"]].grid_codes
    _need(most > 0, f"{where}.cuts", "no cuts, as the model reads no grid")
    _need(len(medians) <= most, f"{where}.medians", f"at most {most} numbers")
    _need(len(cuts) == max(len(medians) - 1, 0), f"{where}.cuts", "one cut between two medians")
    edges = [value for pair in zip(medians, cuts, strict=False) for value in pair] + medians[-1:]
    fits = all(a <= b for a, b in pairwise(edges)) and _ascending([*medians])
    _need(fits, where, "cuts that lie between ascending medians")
    fits = (ends == []) == (medians == []) and (not ends or ends[0] <= medians[0])
    _need(
        fits and (not ends or medians[-1] <= ends[1]), f"{where}.range", "ends beyond the medians"
    )
    fits = feature["n_distinct"] >= len(medians) and (feature["n_distinct"] < 2) == (
        ends[:1] == ends[1:]
    )
    _need(fits, f"{where}.n_distinct", "as many values as the range and the medians show")


def _check_problem(problem: ProblemData, features: list[Feature], where: str) -> None:
    n_classes = len(problem["classes"])
    _shape(problem["class_count"], (n_classes,), f"{where}.class_count", least=0.0)
    _shape(problem["class_weight"], (n_classes,), f"{where}.class_weight", least=0.0)
    prior = problem["prior"]
    _shape(prior["finite"], (1, n_classes), f"{where}.prior.finite")
    if prior["impossible"] is not None:
        _shape(prior["impossible"], (1, n_classes), f"{where}.prior.impossible")
    place = problem.get("deployment_priors")
    if place is not None:
        check_shares(place, n_classes, f"{where}.deployment_priors")
    scale = problem["scale"]
    _need(abs(scale["bits"]) <= _MOST_BITS, f"{where}.scale.bits", f"at most {_MOST_BITS} bits")
    digits = scale["impossible"]
    fits = len(digits) < 20 and int(digits) < 2**_MOST_BITS
    _need(fits, f"{where}.scale.impossible", f"a number below 2^{_MOST_BITS}")
    extra = problem["extra_variance"]
    _need(extra is None or extra >= 0, f"{where}.extra_variance", "null or a variance")
    if problem["binary_mean"] is not None:
        _shape(problem["binary_mean"], (1, n_classes), f"{where}.binary_mean")
    if "weighting" in problem:
        check_weighting(problem["weighting"], features, n_classes, f"{where}.weighting")
    if "rule" in problem:
        check_rule(problem["rule"], n_classes, f"{where}.rule")
    found = problem["statistics"]
    _need(len(found) == len(features), f"{where}.statistics", "one element for each feature")
    for j, (feature, statistics) in enumerate(zip(features, found, strict=True)):
        _check_statistics(feature, statistics, n_classes, f"{where}.statistics[{j}]")


def _check_statistics(
    feature: Feature, statistics: StatisticsData, n_classes: int, where: str
) -> None:
    if "levels" in feature or "cuts" in feature:
        _need("counts" in statistics, where, "counts, as the feature has levels")
        levels = feature["levels"] if "levels" in feature else feature["medians"]
        shape = (1, len(levels) + 1, n_classes)
        _shape(statistics["counts"], shape, f"{where}.counts", least=0.0)
        return
    mixed = feature["model"].startswith("mixture")
    names = ("share", "centre", "variance", "n_distinct")
    there = [name in statistics for name in ("weight", *names)]
    _need(
        all(there) if mixed else there == [True] + [False] * 4,
        where,
        f"what a {feature['model']} feature learns",
    )
    for name in ("weight", "mean", "squares", *(["n_distinct"] if mixed else [])):
        least = None if name == "mean" else 0.0
        _shape(statistics[name], (1, n_classes), f"{where}.{name}", least)
    for name in names[:3] if mixed else ():
        share = cast(list[list[list[float]]], statistics["share"])
        width = len(share[0][0]) if share[:1] > [[]] else 0
        least = None if name == "centre" else 0.0
        _shape(statistics[name], (1, n_classes, width), f"{where}.{name}", least)


def _shape(
    value: Numbers,
    shape: tuple[int, ...],
    where: str,
    least: float | None = None,
) -> None:
    """Lists of lists as an array of this shape."""
    try:
        found = np.array(value, dtype=float)
    except ValueError:
        found = np.empty(0)
    words = " x ".join(map(str, shape))
    _need(found.shape == shape, where, f"{words} numbers")
    _need(least is None or bool((found >= least).all()), where, f"numbers from {least} on")
