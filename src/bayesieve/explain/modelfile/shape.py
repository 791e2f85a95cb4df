"""What a model file holds, once it was held against its schema."""

from collections.abc import Sequence
from typing import NotRequired, TypeAlias, TypedDict, final

from ...data.files.form import FormData
from ...estimators.resident.state import Entry
from ...evaluation.given import Value
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
