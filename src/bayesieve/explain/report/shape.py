"""What a report shows, as plain data: the keys that the page and its charts read."""

from typing import TypeAlias, TypedDict, final

from ...evaluation._typing import Value
from ...evaluation.performance import PerformanceData
from ..plain import ModelData, Plain
from ..portable import BellTerms, PortableFeature

#: Of a step: action, units moved, phase, number of features, score, validation score.
StepData: TypeAlias = tuple[str, list[int], int, int, float | None, float | None]


class Bar(TypedDict):
    """One error beside others."""

    name: str
    error: float
    low: float | None
    high: float | None
    kind: str


class Judgement(TypedDict):
    """The verdict on a model."""

    sentence: str
    tone: str  #: "good", "bad" or "doubtful"
    how: str
    bars: list[Bar]
    warnings: list[str]


class Said(TypedDict):
    """Values of a term, and how many times as likely they are in rows of one class."""

    when: str
    odds: str
    position: int
    size: float


class Looked(TypedDict):
    """One term of a model."""

    name: str
    kind: str
    sentence: str
    said: list[Said]
    strength: list[str]
    shares: list[float]
    leaves: str
    substitute: str
    story: str
    others: list[str]
    at: int


class PathData(TypedDict):
    """A search's moves, from which the page rebuilds every subset, and the scores."""

    kind: str  #: "columns" that move, or whole states of "terms"
    names: list[str]
    members: list[list[int]]
    criterion: str
    guide: str  #: what the score that guided is called
    judge: str  #: and the one that chose
    n_guiding: int
    n_validation: int
    unit: str  #: what is left out and counted: "rows" or "groups"
    chosen: int
    bands: list[float] | None  #: standard errors of the scores, where they are known
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
    interval: list[float]  #: of the frequency
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
    times: list[str] | None  #: of the first and the last point
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
    novelty: list[float] | None
    signals: dict[int, SignalData] | None
    channels: list[str]
    spoken: dict[int, SpokenData]


class ReportGuard(TypedDict):
    """A guard of a rule: bounds on a class's lead, in nat before the temperature."""

    position: int
    low: float | None
    high: float | None
    or_ask: bool


class ReportRule(TypedDict):
    """The rule of a problem, as the page follows it."""

    costs: list[list[float]] | None
    guards: list[ReportGuard]
    prior: list[float]
    words: list[str]


class DecidedData(TypedDict):
    """Rows by class and decision, and what these decisions cost."""

    label: str | None
    classes: list[Value]
    decisions: list[str]
    counts: list[list[float]]
    costs: list[list[float]] | None
    cost: float | None  #: of a row, in the mean
    source: str  #: whose rows these are


class DriftData(TypedDict):
    """How far columns of the rows moved away from training."""

    headline: str
    columns: list[str]
    distance: list[float]
    adjusted: list[float]
    change: list[str]
    moved: list[str]
    rows: int
    novel: list[list[float]] | None


class ReportContent(TypedDict):
    """The whole report."""

    title: str
    summary: dict[str, Plain]
    judgement: Judgement
    looks: list[list[Looked]]
    rules: list[ReportRule | None]
    decided: list[DecidedData]
    drift: DriftData | None
    settings: list[tuple[str, str]]
    log: list[tuple[str, str, str, str]]
    fates: list[list[str]]
    path: PathData | None
    model: list[ModelData]
    portable: NatModel
    performance: PerformanceData
    stability: AgreementData | None
    no_stability: str
    rows: RowsData | None
