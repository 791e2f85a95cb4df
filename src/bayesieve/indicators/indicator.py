"""An indicator: a score with a threshold, and its name."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ..checks import Bools, Floats, check_number, choose
from ..engine.threads import Engine

#: Texts, numbers, lists and dicts, as files have them.
Plain: TypeAlias = Any

#: How the answers of a score at many places of a series become one number.
RULES = ("value", "largest", "smallest", "share", "run", "among")


@dataclass(frozen=True)
class Indicator:
    """A binary column "score > threshold" of series, and what it says.

    Parameters
    ----------
    score : str
        Name of the score.
    title : str
        What it finds: "Variance jumps".
    condition : str
        What holds at a place, ``{level}`` for the level: "F test p <= {level}".
    place : str
        What the score looks at: "point", "50-point window"; empty for the series as a whole.
    rule : {"value", "largest", "smallest", "share", "run", "among"}
        How the answers at all places become one number: the largest, the smallest, the share of
        places where the condition holds, the longest run of them, or the most among some
        successive ones.
    threshold : float
        The indicator is 1 where that number is larger.
    channels : tuple of str
        Channels it looks at; empty names where there is only one.
    window, level, successive : numbers, or None
        Points in a window, the level of the condition, places for the rule "among".
    unit : str
        Of the threshold, or of the level where there is one.
    parameters : mapping
        Other parameters of the score.
    id : str
        Name of the column.
    digits : int
        Of numbers in the sentence.

    Examples
    --------
    >>> from bayesieve.indicators import Indicator
    >>> jumps = Indicator(
    ...     "f-test", "Variance jumps", "F test p <= {level}", "50-point window", "among", 4.0,
    ...     window=50, level=0.001, successive=10,
    ... )
    >>> jumps.sentence
    'Variance jumps: at least 5 of 10 successive 50-point windows, F test p <= 0.001'
    >>> jumps.label
    'f-test w=50 p<=0.001 >4 of 10'
    >>> Indicator.from_dict(jumps.to_dict()) == jumps
    True
    """

    score: str
    title: str
    condition: str = ""
    place: str = ""
    rule: str = "value"
    threshold: float = math.nan
    channels: tuple[str, ...] = ("",)
    window: int | None = None
    level: float | None = None
    successive: int | None = None
    unit: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    id: str = ""
    digits: int = 6

    @property
    def sentence(self) -> str:
        """The whole indicator in words."""
        where = " and ".join(self.channels)
        title = f"{self.title} ({where})" if where else self.title
        unit = f" {self.unit}" if self.unit else ""
        if self.rule == "value":
            return f"{title} > {_number(self.threshold, self.digits)}{unit}"
        level = _number(self.threshold if self.level is None else self.level, self.digits)
        condition = self.condition.replace("{level}", level + unit)
        return f"{title}: {self._places()}, {condition}"

    def _places(self) -> str:
        """At how many places the condition holds."""
        count = max(math.floor(self.threshold) + 1, 0)
        # Windows for window, also before a bracket.
        many = re.sub(r"^[^(]*?(?= \(|$)", lambda found: f"{found[0]}s", self.place, count=1)
        if not self.place:
            return "whole series"
        return {
            "largest": f"at least one {self.place}",
            "smallest": f"every {self.place}",
            "share": f"more than {_number(100 * self.threshold, self.digits)} % of {many}",
            "run": f"a {self.place}" if count == 1 else f"at least {count} successive {many}",
            "among": f"at least {count} of {self.successive} successive {many}",
        }[self.rule]

    @property
    def label(self) -> str:
        """The indicator in few letters; see `short_labels` for those of one chart."""
        return self.in_digits(4)

    def in_digits(self, digits: int) -> str:
        """The label with its numbers in so many digits."""
        cut = _number(self.threshold, digits)
        parts = [f"{'/'.join(self.channels)}:"] if any(self.channels) else []
        parts.append(self.score)
        if self.window is not None:
            parts.append(f"w={self.window}{'-' if '(' in self.place else ''}")
        parts += [f"{name}={_text(value)}" for name, value in self.parameters.items()]
        if self.level is not None:
            tested = self.condition.endswith("p <= {level}")
            parts.append(f"{'p<=' if tested else '>'}{_number(self.level, digits)}")
        parts.append(
            {
                "smallest": f"all>{cut}",
                "share": f"share>{cut}",
                "run": f"run>{cut}",
                "among": f">{cut} of {self.successive}",
            }.get(self.rule, f">{cut}")
        )
        return " ".join(parts)

    def to_dict(self) -> dict[str, Plain]:
        """Plain data: texts, numbers, lists and dicts."""
        found = asdict(self)
        return {**found, "channels": list(self.channels), "parameters": {**self.parameters}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Plain]) -> "Indicator":
        """The indicator that `to_dict` wrote."""
        names = [each.name for each in fields(cls)]
        for key in data:
            choose("a key of an indicator", key, names)
        choose("rule", data.get("rule", "value"), RULES)
        return cls(**{**data, "channels": tuple(data.get("channels", ("",)))})


def short_labels(indicators: Sequence[Indicator]) -> list[str]:
    """Labels for one chart: short, and no two alike.

    Examples
    --------
    >>> from bayesieve.indicators.indicator import Indicator, short_labels
    >>> short_labels([Indicator("range", "Range", threshold=1 + i * 1e-6) for i in range(2)])
    ['range >1', 'range >1.000001']
    """
    found: list[str] = []
    for each in indicators:
        ways = [each.in_digits(digits) for digits in (4, 7, 12)]
        ways += [f"{ways[-1]} ({i})" for i in range(2, len(indicators) + 2)]
        found.append(next(label for label in ways if label not in found))
    return found


def distinct_sentences(indicators: Sequence[Indicator]) -> list[Indicator]:
    """Indicators with more digits in their sentences where two of these would be alike.

    Examples
    --------
    >>> near = [Indicator("mean", "Mean", threshold=101325 + i / 8, unit="Pa") for i in range(2)]
    >>> [each.sentence for each in distinct_sentences(near)]
    ['Mean > 101325 Pa', 'Mean > 101325.125 Pa']
    """
    found = list(indicators)
    for digits in (9, 12, 17):
        sentences = [each.sentence for each in found]
        many = Counter(sentences)
        if len(many) == len(sentences):
            break
        found = [
            replace(each, digits=digits) if many[sentence] > 1 else each
            for each, sentence in zip(found, sentences, strict=True)
        ]
    return found


def _number(value: float, digits: int = 6) -> str:
    return f"{value:.{digits}g}"


def _text(value: object) -> str:
    return _number(value) if isinstance(value, float) else str(value)


# -- What a score gives ----------------------------------------------------------------------------


#: What a score reads: a series, or one of each channel for a score across channels.
Record: TypeAlias = Floats | tuple[Floats, ...]

#: Stretches of a series: first and last points, last included.
Spans: TypeAlias = list[tuple[int, int]]


class ScoreColumn(NamedTuple):
    """One score with its parameters fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators import ScoreColumn
    >>> ScoreColumn("range", np.array([1.0, 4.0]), (2.0,)).thresholds
    (2.0,)
    """

    label: str
    values: Floats  #: one a series; NaN is missing
    thresholds: tuple[float, ...] | None  #: None: learnt from quantiles
    meaning: Indicator | None = None  #: what its indicators say, before there is a threshold


class ScoreFamily(Protocol):
    """Whatever turns series into score columns.

    It may also have `spans(x, column, threshold)`, which gives the `Spans` of a series behind an
    indicator, and `n_channels`, how many channels it looks at together (1).
    """

    def columns(self, series: Sequence[Record], engine: Engine) -> Iterator[ScoreColumn]:
        """Score columns, the same ones in the same order for any series."""


def stretches(mask: Bools) -> Spans:
    """The runs of True in a mask, first and last.

    Examples
    --------
    >>> stretches(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(lo), int(hi) - 1) for lo, hi in edges.reshape(-1, 2)]


# -- Names of columns ------------------------------------------------------------------------------


def number_text(value: float, digits: int = 6) -> str:
    """A number in so many digits; in all it needs where these would make another one of it.

    Examples
    --------
    >>> number_text(0.05), number_text(50.0), number_text(1013.2512)
    ('0.05', '50', '1013.2512')
    """
    short = f"{value:.{digits}g}"
    return short if float(short) == value else f"{value!r}"


def thresholds_of(given: Sequence[float] | None) -> tuple[float, ...] | None:
    """Thresholds as floats, each judged; None where they are to be learnt."""
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"thresholds must be a list of numbers; got {given!r}.")
    for cut in given:
        check_number("thresholds", cut, low=-np.inf)
    return tuple(float(cut) for cut in given)


def names_of(label: str, cuts: Sequence[float]) -> list[str]:
    """Names of the indicators of a score column; thresholds that look alike in all digits."""
    short = [f"{cut:.12g}" for cut in cuts]
    return [
        f"{label} > {text if short.count(text) == 1 else repr(float(cut))}"
        for text, cut in zip(short, cuts, strict=True)
    ]


def without_repeats(
    labels: Sequence[str], columns: Sequence[ScoreColumn], cuts: Sequence[Sequence[float]]
) -> list[tuple[float, ...]]:
    """Thresholds of every column, less those of an indicator that stands there already.

    Two columns of one name that do not say the same are refused.
    """
    found: list[tuple[float, ...]] = []
    first: dict[str, ScoreColumn] = {}
    for label, column, given in zip(labels, columns, cuts, strict=True):
        mine = list(dict.fromkeys(float(cut) for cut in given))
        new = []
        for cut, name in zip(mine, names_of(label, mine), strict=True):
            other = first.setdefault(name, column)
            if other is column:
                new.append(cut)
            elif not np.array_equal(other.values, column.values, equal_nan=True):
                raise ValueError(
                    f"scores: two of them give the column {name!r}, and not the same one. Call one "
                    "of them otherwise (its label)."
                )
        found.append(tuple(new))
    return found
