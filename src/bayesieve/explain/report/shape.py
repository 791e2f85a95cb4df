"""What a report shows, as plain data: the keys that the page and its charts read."""

from typing import TypeAlias, TypedDict, final

from ...evaluation.given import Value
from ...evaluation.performance import PerformanceData
from ..plain import ModelData, Plain
from ..portable import BellTerms, PortableFeature

#: A chart as Vega-Lite reads it.
Spec: TypeAlias = dict[str, Plain]


#: What a chart draws: one mapping a mark.
Marks: TypeAlias = list[dict[str, Plain]]


#: Of a step: action, units moved, phase, number of features, score, validation score.
StepData: TypeAlias = tuple[str, list[int], int, int, float | None, float | None]


class PathData(TypedDict):
    """A search's moves, from which the page rebuilds every subset, and the scores."""

    names: list[str]
    members: list[list[int]]
    criterion: str
    validation_name: str
    chosen: int
    steps: list[StepData]


@final
class NatTerms(TypedDict):
    """What each level says in nat, and whether it is a log 0: levels x classes x 2."""

    table: list[list[list[float]]]
    silent: list[list[float]]


class NatPair(TypedDict):
    """Two columns that speak together, in nat."""

    columns: list[int]
    groups: list[list[int]]
    table: list[list[list[float]]]


@final
class StepTerms(TypedDict):
    """What each code of a grid says: of each class the first term, then steps, in 1e-10 nat."""

    steps: list[list[int]]
    silent: list[list[float]]


class NatProblem(TypedDict):
    """One problem of a portable model, in nat."""

    name: str | None
    classes: list[Value]
    class_count: list[float]
    temperature: float
    prior: list[list[float]]
    shares: list[float]
    terms: list[NatTerms | StepTerms | BellTerms]
    pairs: list[NatPair]


class NatModel(TypedDict):
    """A portable model in nat: integers beyond 2^53 do not survive in a page."""

    features: list[PortableFeature]
    problems: list[NatProblem]


class SelectionData(TypedDict):
    """How often one feature was selected, and whether the selector has it."""

    name: str
    frequency: float
    selected: bool


class AgreementData(TypedDict):
    """How far selections on resamples agree."""

    n_resamples: int
    measure: float | None
    interval: list[float] | None
    confidence: float
    note: str
    jaccard: float
    family_jaccard: float | None
    features: list[SelectionData]


class SignalData(TypedDict):
    """A series, and where in it the indicators of the model fired."""

    points: list[list[float | None]]  #: one list a channel
    step: int
    length: int
    fired: dict[int, list[tuple[int, int]]]


class SpokenData(TypedDict):
    """What an indicator of the model says, and the channels it looks at."""

    sentence: str
    channels: list[int]


class RowsData(TypedDict):
    """A sample of the rows."""

    n_rows: int
    at: list[int]
    truth: list[Value | list[int]]
    validation: list[bool]
    values: list[list[float | None]]
    signals: dict[int, SignalData] | None
    channels: list[str]
    spoken: dict[int, SpokenData]


class Content(TypedDict):
    """The whole report."""

    title: str
    summary: dict[str, Plain]
    fates: list[list[str]]
    path: PathData | None
    model: list[ModelData]
    portable: NatModel
    performance: PerformanceData
    stability: AgreementData | None
    no_stability: str
    rows: RowsData | None
