"""Weights and pairs in model files."""

from typing import TypedDict, cast

import numpy as np

from ...models.base import Floats, Terms
from ...models.columns import Summary
from ...models.counts import log_shares_of
from ...models.fitted import FittedProblem
from ...models.monotone import rising
from ...models.pairs import PairTerms, Weighting
from ...models.weighted import (
    CONSTANT_STEP,
    SCORE_BITS,
    WEIGHT_STEPS,
    column_ratios,
    pair_ratios,
    weigh,
)
from .shape import Feature, PairData, WeightingData

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
