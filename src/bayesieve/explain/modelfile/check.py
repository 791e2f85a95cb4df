"""The format of model files: the published schema, its shape in types, and checks beyond it."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import NotRequired, TypeAlias, TypedDict, TypeGuard, cast, final

import numpy as np

from ...checks import listed_names
from ...data.series import FormData, SeriesForm
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.signals import SignalPipeline
from ...evaluation._typing import Value
from ...indicators.transformer import Indicators
from ...models.base import Floats, Terms
from ...models.columns import Summary
from ...models.counts import log_shares_of
from ...models.fitted import DecisionRule, FittedBayes, FittedProblem, Guard, Promise
from ...models.log_ratios import (
    CONSTANT_STEP,
    SCORE_BITS,
    WEIGHT_STEPS,
    column_ratios,
    pair_ratios,
    rising,
    weigh,
)
from ...models.pairs import PairTerms, Weighting
from ...models.registry import MODELS
from ...session.state import Entry
from ..plain import Plain

#: Lists of numbers, or lists of such lists: an array.
Numbers: TypeAlias = "Sequence[float] | Sequence[Numbers]"


#: What one column learnt, by the name of each array.
StatisticsData: TypeAlias = dict[str, Numbers]


class Parameters(TypedDict):
    """Parameters of `NaiveBayes`; features is None where each feature names its own model."""

    features: str | None
    smoothing: float | str
    priors: str | list[float] | None
    var_smoothing: float | None
    rounded: bool


@final
class LevelFeature(TypedDict):
    """A column with known values."""

    name: str
    model: str
    levels: list[Value]
    presence: bool


@final
class NumberFeature(TypedDict):
    """A continuous column."""

    name: str
    model: str
    range: list[float]
    n_distinct: int
    grid: float | None


@final
class GridFeature(TypedDict):
    """Numbers on a grid: codes are intervals between cuts, the first and the last without end."""

    name: str
    model: str
    cuts: list[float]
    medians: list[float]
    range: list[float]
    n_distinct: int


Feature: TypeAlias = LevelFeature | NumberFeature | GridFeature


class TermsData(TypedDict):
    """Log-probabilities; where impossible, what remains beside log 0."""

    finite: list[list[float]]
    impossible: list[list[bool]] | None


class ScaleData(TypedDict):
    """The scale of a model's integers."""

    bits: int
    impossible: str
    bound: float


class PairData(TypedDict):
    """Two features that speak together."""

    columns: list[int]
    groups: list[list[int]]
    counts: list[list[list[float]]]
    weights: list[int]


class WeightingData(TypedDict):
    """Weights in sixteenths, and pairs."""

    weights: list[list[int]]
    pairs: list[PairData]
    missing: bool
    monotone: list[list[int]]
    priors: NotRequired[list[float]]


class GuardData(TypedDict):
    """Where a class must not, and where it must be decided, by its lead in whole units."""

    position: int
    low: int | None
    high: int | None
    or_ask: bool


class PromiseData(TypedDict):
    """A rate that a rule keeps, and what that rests on."""

    kind: str
    position: int
    bound: float
    confidence: float
    rows: int
    beyond: int
    unit: NotRequired[str]


class RuleData(TypedDict):
    """What to decide."""

    costs: list[list[float]] | None
    guards: list[GuardData]
    prior: list[int]
    promises: list[PromiseData]
    rows: int


class ProblemData(TypedDict):
    """What one problem learnt."""

    classes: list[Value]
    class_count: list[float]
    class_weight: list[float]
    prior: TermsData
    extra_variance: float | None
    temperature: NotRequired[float]
    weighting: NotRequired[WeightingData]
    deployment_priors: NotRequired[list[float]]
    rule: NotRequired[RuleData]
    binary_mean: list[list[float]] | None
    scale: ScaleData
    statistics: list[StatisticsData]
    terms: list[list[list[float]] | None]


class RecipeData(TypedDict):
    """How indicators are made of series."""

    version: int
    scores: list[dict[str, Plain]]
    channels: list[str]
    quantiles: list[float]
    drop: str | None
    cuts: list[list[float]]
    names: list[str]
    kept: list[int]
    stands_for: dict[str, str]


class SignalsData(TypedDict):
    """What a model of series needs beside its features."""

    recipe: RecipeData
    form: FormData | None


class ModelFile(TypedDict):
    """The whole file."""

    format: str
    version: int
    parameters: Parameters
    named: bool
    features: list[Feature]
    labels: list[str]
    models: list[ProblemData]
    usual: NotRequired[list[float]]
    log: NotRequired[list[Entry]]
    signals: NotRequired[SignalsData]


# -- JSON held against its schema ------------------------------------------------------------------


#: The words of JSON Schema that ours uses; what a value must be.
Schema = TypedDict(
    "Schema",
    {
        "$ref": str,
        "$defs": dict[str, "Schema"],
        "type": str | list[str],
        "const": Plain,
        "enum": list[Plain],
        "pattern": str,
        "minimum": float,
        "exclusiveMinimum": float,
        "required": list[str],
        "properties": dict[str, "Schema"],
        "additionalProperties": bool,
        "items": "Schema",
        "minItems": int,
        "oneOf": list["Schema"],
    },
    total=False,
)


_KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": int,
}


_MOST_LETTERS = 60


def check_schema(value: object, schema: Schema, root: Schema, where: str = "") -> None:
    """Raise ValueError where the value does not fit; `root` holds what ``$ref`` names.

    Numbers must be finite floats: JSON has others, and Python reads them.
    """
    if "$ref" in schema:
        found: object = root
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = cast(Mapping[str, object], found)[name]
        check_schema(value, cast(Schema, found), root, where)
        return
    _check_value(value, schema, where)
    if "oneOf" in schema:
        _check_one_of(value, schema, root, where)
    if isinstance(value, dict):
        _check_object(value, schema, root, where)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            raise _misfit(where, f"have at least {schema['minItems']} elements", value)
        if schema.get("items") == {"type": "number"} and _all_numbers(value):
            return
        for i, each in enumerate(value if "items" in schema else ()):
            check_schema(each, schema["items"], root, f"{where}[{i}]")


def _check_value(value: object, schema: Schema, where: str) -> None:
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise _misfit(where, f"be {' or '.join(kinds)}", value)
    if "const" in schema and value != schema["const"]:
        raise _misfit(where, f"be {schema['const']!r}", value)
    if "enum" in schema and value not in schema["enum"]:
        raise _misfit(where, f"be one of {schema['enum']}", value)
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        raise _misfit(where, f"match {schema['pattern']!r}", value)
    if _is_number(value):
        if value < schema.get("minimum", value):
            raise _misfit(where, f"be at least {schema['minimum']}", value)
        if value <= schema.get("exclusiveMinimum", -math.inf):
            raise _misfit(where, f"be above {schema['exclusiveMinimum']}", value)


def _check_object(value: dict[str, Plain], schema: Schema, root: Schema, where: str) -> None:
    place = f"{where}." if where else ""
    for name in schema.get("required", ()):
        if name not in value:
            raise ValueError(f"{where or 'the file'} lacks {name!r}.")
    known = schema.get("properties", {})
    if schema.get("additionalProperties") is False:
        odd = next((name for name in value if name not in known), None)
        if odd is not None:
            raise ValueError(f"{where or 'the file'} has {_short(odd)}, which is unknown.")
    for name, each in value.items():
        if name in known:
            check_schema(each, known[name], root, place + name)


def _check_one_of(value: object, schema: Schema, root: Schema, where: str) -> None:
    errors = []
    for choice in schema["oneOf"]:
        try:
            check_schema(value, choice, root, where)
            return
        except ValueError as error:
            errors.append(str(error).rstrip("."))
    raise ValueError(f"{'; or '.join(dict.fromkeys(errors))}.")


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, _KINDS[kind]):
        return kind == "boolean" and isinstance(value, bool)
    if kind in ("number", "integer"):
        try:
            return math.isfinite(float(cast(float, value)))
        except OverflowError:
            return False
    return True


def _is_number(value: object) -> TypeGuard[float]:
    return _is(value, "number")


def _all_numbers(values: list[float]) -> bool:
    """The same as one by one, for the many numbers of a large file."""
    try:
        return {type(each) for each in values} <= {int, float} and all(map(math.isfinite, values))
    except OverflowError:
        return False


def _misfit(where: str, wanted: str, value: object) -> ValueError:
    return ValueError(f"{where or 'the file'} must {wanted}; got {_short(value)}.")


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of too many digits
        text = "a huge number"
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


# -- Rules for decisions in model files ------------------------------------------------------------


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


# -- What a model file holds of a model of time series ---------------------------------------------


# What a hostile file may ask for, at most: far more than any grid of scores has.
_MOST_NAMES = 100_000


def signals_data(model: SignalPipeline) -> SignalsData:
    """Scores, thresholds and channels, and how the series lie in files."""
    return cast(SignalsData, {"recipe": model.recipe(), "form": model.form_})


def check_signals(data: SignalsData, features: list[Feature]) -> None:
    """Do the recipe and the features fit together?"""
    recipe = data["recipe"]
    names, kept = recipe["names"], recipe["kept"]
    if len(names) > _MOST_NAMES:
        raise ValueError(f"signals.recipe.names must hold at most {_MOST_NAMES} names.")
    fits = all(0 <= j < len(names) for j in kept)
    if not fits or [names[j] for j in kept] != [each["name"] for each in features]:
        raise ValueError("signals.recipe.kept must hold the indicators that are the features.")
    if sum(len(cuts) for cuts in recipe["cuts"]) != len(names):
        raise ValueError("signals.recipe.cuts must hold one threshold for each name.")
    form = data["form"]
    if form is not None and (form["kind"] == "long") > (form["id"] is not None):
        raise ValueError("signals.form.id must name a column, as the table is a long one.")


def rebuild_signals(model: NaiveBayes, data: SignalsData) -> SignalPipeline:
    """The pipeline whose indicators are the columns of the model."""
    indicators = Indicators.from_recipe(cast("dict[str, object]", data["recipe"]))
    found = SignalPipeline([("indicators", indicators), ("estimator", model)])
    form = data["form"]
    found.form_ = None if form is None else SeriesForm.from_dict(form).to_dict()
    return found


# -- Weights and pairs in model files --------------------------------------------------------------


# As near to 1 as priors must add up that users give.
_CLOSE = 2e-5


class _Priors(TypedDict, total=False):
    """What a file holds of constants that were moved."""

    priors: list[float]


def weighting_data(weighting: Weighting) -> WeightingData:
    """Weights and pairs as plain data."""
    priors: _Priors = {} if weighting.priors is None else {"priors": [*weighting.priors]}
    return {
        "weights": weighting.weights.tolist(),
        "pairs": [
            {
                "columns": list(pair.columns),
                "groups": [part.tolist() for part in pair.groups],
                "counts": pair.counts.tolist(),
                "weights": pair.weights.tolist(),
            }
            for pair in weighting.pairs
        ],
        "missing": weighting.speaks,
        "monotone": [[j, sign] for j, sign in weighting.monotone],
        **priors,
    }


def check_weighting(
    data: WeightingData, features: list[Feature], n_classes: int, where: str
) -> None:
    """Do weights and pairs fit the features?"""
    _check_weights(data["weights"], (len(features), n_classes), f"{where}.weights")
    for i, pair in enumerate(data["pairs"]):
        _check_pair(pair, features, n_classes, f"{where}.pairs[{i}]")
    for j, sign in data["monotone"]:
        if j not in range(len(features)) or sign not in (1, -1):
            raise ValueError(f"{where}.monotone must hold positions of features and 1 or -1.")
        if n_classes != 2:
            raise ValueError(f"{where}.monotone must be empty, but for two classes.")
    if "priors" in data:
        check_shares(data["priors"], n_classes, f"{where}.priors")


def check_shares(shares: list[float], n_classes: int, where: str) -> None:
    """One probability above 0 a class?"""
    if len(shares) != n_classes or not min(shares) > 0 or abs(sum(shares) - 1) > _CLOSE:
        raise ValueError(f"{where} must hold {n_classes} probabilities above 0 that add up to 1.")


def _numbers(values: object, shape: tuple[int, ...], where: str, what: str) -> Floats:
    """Nested lists as an array of this shape, or a sentence."""
    try:
        found = np.array(values, dtype=float)
    except ValueError:  # lists of unequal length
        found = np.empty(1)
    if found.shape != shape and (found.size or np.prod(shape)):
        raise ValueError(f"{where} must hold {' x '.join(map(str, shape))} {what}.")
    return found


def _check_weights(weights: object, shape: tuple[int, ...], where: str) -> None:
    found = _numbers(weights, shape, where, "weights")
    odd = (found != np.rint(found)) | (found < 0) | (found > WEIGHT_STEPS)
    if odd.any():
        raise ValueError(
            f"{where} must hold whole sixteenths, 0 to {WEIGHT_STEPS}; got {found[odd][0]:g}."
        )


def _check_pair(pair: PairData, features: list[Feature], n_classes: int, where: str) -> None:
    places = pair["columns"]
    if len(places) != 2 or len(pair["groups"]) != 2 or places[0] == places[1]:
        raise ValueError(f"{where} must be of two features.")
    sizes = []
    for j, groups in zip(places, pair["groups"], strict=True):
        if j not in range(len(features)):
            raise ValueError(f"{where}.columns must hold positions of features; got {j!r}.")
        levels = cast(dict[str, list[object]], features[int(j)])
        n_codes = len(levels["medians" if "medians" in levels else "levels"]) + 1
        most = max(groups, default=-1)
        whole = all(each == int(each) and 0 <= each <= most for each in groups)
        if len(groups) != n_codes or not whole or most < 1 or groups[-1] != most:
            raise ValueError(f"{where}.groups must hold a group for each level, and a silent one.")
        sizes.append(int(most))
    counts = _numbers(pair["counts"], (*sizes, n_classes), f"{where}.counts", "counts")
    if (counts < 0).any():
        raise ValueError(f"{where}.counts must hold no number below 0; got {counts.min():g}.")
    _check_weights(pair["weights"], (n_classes,), f"{where}.weights")


def rebuild_weighted(
    summary: Summary,
    smoothing: float | str,
    prior: Terms,
    temperature: float,
    data: WeightingData,
) -> FittedProblem:
    """The weighted model of what was counted."""
    ratios = column_ratios(summary, smoothing, None, data["missing"])
    shares = log_shares_of(summary.class_count * summary.class_weight)
    signs = tuple((int(j), int(sign)) for j, sign in data["monotone"])
    for j, sign in signs:
        ratios[j] = rising(ratios[j], summary.statistics[j][0], shares, sign)
    pairs = []
    for pair in data["pairs"]:
        counts = np.array(pair["counts"], float)
        cells = pair_ratios(counts, summary).table[:-1].reshape(counts.shape)
        groups = [np.array(part, np.int64) for part in pair["groups"]]
        first, second = (int(j) for j in pair["columns"])
        line = np.array(pair["weights"], np.int64)
        pairs.append(PairTerms((first, second), (groups[0], groups[1]), counts, cells, line))
    weights = np.array(data["weights"], np.int64).reshape(-1, summary.class_count.size)
    priors = tuple(data["priors"]) if "priors" in data else None
    weighting = Weighting(weights, tuple(pairs), data["missing"], signs, priors)
    steps = np.ldexp(prior.finite[0], SCORE_BITS) / CONSTANT_STEP
    constants = np.rint(steps).astype(np.int64)
    return weigh(summary, ratios, constants, weighting, smoothing, temperature)


# -- Do the parts of a model file fit together?  Asked before a model is made of them --------------


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
