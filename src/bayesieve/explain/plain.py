"""Results as data that JSON can hold."""

import math
from typing import NotRequired, TypeAlias, TypedDict, cast

import numpy as np

from ..evaluation._typing import Value

#: What JSON can hold.
Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"


#: Numbers of each class; of ``components``, a list of (share, mean, sd) of each class; of a pair,
#: names of its rows and columns; of a number, the name of its density.
Source: TypeAlias = dict[str, list[float] | list[list[list[float]]] | list[str]]


class FeatureData(TypedDict):
    """`FeatureEvidence` as plain data."""

    feature: str
    model: str
    importance: list[float]
    values: list[Value]
    terms: list[list[float]]
    counts: list[list[float]] | None
    source: Source
    beside: list[list[float]] | None


class ModelData(TypedDict):
    """`ModelExplanation` as plain data."""

    label: str | None
    classes: list[Value]
    class_count: list[float]
    log_prior: list[float]
    features: list[FeatureData]
    temperature: float
    stands_for: dict[str, list[str]]
    place: list[float] | None


class EvidenceData(TypedDict):
    """`Evidence` as plain data."""

    feature: str
    value: Value | None
    log_ratio: float
    status: str


class VerdictData(TypedDict):
    """`Verdict` as plain data."""

    decision: Value | None
    why: str
    novelty: float | None


class ExplanationData(TypedDict):
    """`Explanation` as plain data."""

    row: int
    target: Value
    against: Value
    probability: float
    log_odds: float
    evidence: list[EvidenceData]
    verdict: NotRequired[VerdictData]


def jsonable(value: object) -> Plain:
    """The same in dicts, lists, text, numbers and None; what is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in value]
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return cast(Plain, value)
