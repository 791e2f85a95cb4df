"""Why a row was decided as it was: bars, the decision they add up to, and many of them."""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, SupportsIndex, cast, overload

import numpy as np

from ..data.html import frame_of, html_table
from ..evaluation.given import Value
from .plain import ExplanationData
from .verdict import Verdict
from .words import SILENT, chance_in_words, few_digits, odds_in_words

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

PRIOR = "(prior)"


# What the prior's value says of a model that was deployed.
PLACE = "of the place of use"


@dataclass(frozen=True)
class Evidence:
    """One bar.

    Attributes
    ----------
    feature : str
        Name of the column; ``"(prior)"`` for the share of the classes among the training rows.
    value : float, str or None
        What the row shows; None where it is missing, and for the prior (``"of the place of use"``
        where `deploy` gave another one).
    log_ratio : float
        log P(value | target) - log P(value | against), in nat; positive speaks for the target.
    status : {"seen", "missing", "unseen", "prior"}
        Missing values and categories that no training row has say nothing.

    Examples
    --------
    >>> from bayesieve.explain import Evidence
    >>> Evidence("wind", 1.0, log_ratio=-0.7, status="seen").log_ratio
    -0.7
    """

    feature: str
    value: Value | None
    log_ratio: float
    status: str


@dataclass(frozen=True)
class Explanation:
    """Why a row is taken for the target rather than for the other class.

    Attributes
    ----------
    row : int
    target, against : the two classes; with labels, the label's name and ``"not "`` before it.
    probability : float
        P(target), among all classes.
    log_odds : float
        The sum of all bars.
    evidence : list of Evidence
        The prior first, then features by the size of their bar, largest first.
    verdict : Verdict or None
        What the model's rule decides, and why; None where it has no rule (see `decide`).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, explain
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> found = explain(NaiveBayes().fit(X, y), X[:1])[0]
    >>> print(found.to_text(width=5))
    row 0: a rather than b: probability 91.7 %, 11 times as likely
      (prior)  x 1.0
      x0 = 1   x  11 +++++
      x1 = 0   x 1.0
    """

    row: int
    target: Value
    against: Value
    probability: float
    log_odds: float
    evidence: list[Evidence]
    verdict: Verdict | None = None

    def to_dict(self) -> ExplanationData:
        """Plain data; of a model without a rule, without a verdict."""
        found = asdict(self)
        if self.verdict is None:
            del found["verdict"]
        return cast(ExplanationData, found)

    def to_text(self, width: int = 30, nat: bool = False) -> str:
        """Bars of text, the strongest evidence first; factors multiply to the odds.

        Parameters
        ----------
        width : int, default=30
            Characters of the longest bar; their lengths are logarithms, which add up.
        nat : bool, default=False
            Logarithms in place of factors.
        """
        sizes = [abs(bar.log_ratio) for bar in self.evidence]
        scale = max([size for size in sizes if math.isfinite(size)], default=0.0)
        label = max(len(_shown(bar)) for bar in self.evidence)
        figures = [_factor(bar.log_ratio, nat) for bar in self.evidence]
        if not nat:  # signs below each other, numbers too
            wide = max(map(len, figures)) - 2
            figures = [f"{figure[:2]}{figure[2:]:>{wide}}" for figure in figures]
        room = max(map(len, figures))
        lines = [f"row {self.row}: {self._headline(nat)}"]
        if self.verdict is not None:
            lines.append(f"  decision: {self.verdict.to_text()}")
        for bar, size, figure in zip(self.evidence, sizes, figures, strict=True):
            length = width if math.isinf(size) else round(width * size / scale) if scale else 0
            mark = "+" if bar.log_ratio > 0 else "-"
            note = f" ({bar.status})" if bar.status in ("missing", "unseen") else ""
            lines.append(f"  {_shown(bar):{label}s}  {figure:>{room}s} {mark * length}{note}")
        return "\n".join(lines)

    def _headline(self, nat: bool = False) -> str:
        chance = f"{self.target} rather than {self.against}: probability "
        if nat:
            return f"{chance}{self.probability:.4g}, log-odds {self.log_odds:+.3f}"
        if abs(self.log_odds) < SILENT:
            likely = "as likely as not"
        else:
            likely = f"{odds_in_words(self.log_odds)} as likely"
            likely += "" if self.log_odds > 0 else f" is {self.against}"
        return f"{chance}{chance_in_words(self.probability)}, {likely}"

    def to_columns(self) -> dict[str, list[object]]:
        """One row a bar: what is seen, and how many times as likely it makes the target."""
        with np.errstate(over="ignore"):
            times = np.exp([bar.log_ratio for bar in self.evidence]).tolist()
        return {
            "feature": [bar.feature for bar in self.evidence],
            "value": [bar.value for bar in self.evidence],
            "times as likely": times,
            "log-ratio": [bar.log_ratio for bar in self.evidence],
            "status": [bar.status for bar in self.evidence],
        }

    def to_frame(self, backend: str | None = None) -> "IntoDataFrame":
        """The same as a data frame, values as texts.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        return frame_of(_with_texts(self.to_columns()), backend)

    def _repr_html_(self) -> str:
        caption = self._headline()
        if self.verdict is not None:
            caption += f"; decision: {self.verdict.to_text()}"
        shown = self.to_columns()
        shown["times as likely"] = [_factor(bar.log_ratio, False) for bar in self.evidence]
        del shown["log-ratio"]
        return html_table(shown, caption)


class Explanations(list[Explanation]):
    """The evidence of many rows: a list that shows ten, and says how many more there are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes, explain
    >>> X, y = load_iris(return_X_y=True)
    >>> explain(NaiveBayes().fit(X, y), X)
    <150 explanations: 50 of 0, 50 of 1, 50 of 2>
    """

    def __repr__(self) -> str:
        counts: dict[object, int] = {}
        for each in self:
            counts[each.target] = counts.get(each.target, 0) + 1
        told = ", ".join(f"{n} of {k}" for k, n in sorted(counts.items(), key=lambda p: str(p[0])))
        return f"<{len(self)} explanations{': ' if told else ''}{told}>"

    @overload
    def __getitem__(self, which: SupportsIndex, /) -> Explanation: ...

    @overload
    def __getitem__(self, which: slice, /) -> "Explanations": ...

    def __getitem__(self, which: SupportsIndex | slice, /) -> "Explanation | Explanations":
        found = super().__getitem__(which)
        return Explanations(found) if isinstance(found, list) else found

    def to_text(self, most: int = 10) -> str:
        """The bars of the first rows.

        Parameters
        ----------
        most : int, default=10
            Rows shown.
        """
        more = [f"... and {len(self) - most} more"] if len(self) > most else []
        return "\n\n".join([*(each.to_text() for each in self[:most]), *more])

    def to_columns(self) -> dict[str, list[object]]:
        """One row a bar, with the row it speaks of."""
        found: dict[str, list[object]] = {"row": [], "target": [], "against": []}
        for each in self:
            columns = each.to_columns()
            size = len(each.evidence)
            found["row"] += [each.row] * size
            found["target"] += [each.target] * size
            found["against"] += [each.against] * size
            for name, values in columns.items():
                found.setdefault(name, []).extend(values)
        return found

    def to_frame(self, backend: str | None = None) -> "IntoDataFrame":
        """The same as a data frame, classes and values as texts.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        return frame_of(_with_texts(self.to_columns()), backend)

    def _repr_html_(self) -> str:
        shown = self[:_MOST_SHOWN]
        columns: dict[str, list[object]] = {
            "row": [each.row for each in shown],
            "decision": [each.target for each in shown],
            "probability": [chance_in_words(each.probability) for each in shown],
            "rather than": [each.against for each in shown],
            "strongest evidence": [_strongest(each) for each in shown],
        }
        left = len(self) - len(shown)
        more = f"<p>... and {left} more rows; [i] shows one, to_frame() all</p>" if left else ""
        return html_table(columns, repr(self).strip("<>")) + more


#: Rows that a notebook shows.
_MOST_SHOWN = 10


def _strongest(explanation: Explanation) -> str:
    bars = [bar for bar in explanation.evidence if bar.status == "seen"][:3]
    return "; ".join(f"{_shown(bar)} ({_factor(bar.log_ratio, False)})" for bar in bars)


def _factor(log_ratio: float, nat: bool) -> str:
    """What evidence multiplies the odds by (x) or divides them by (/)."""
    if nat:
        return f"{log_ratio:+.3f}"
    if math.isinf(log_ratio):
        return "x infinity" if log_ratio > 0 else "/ infinity"
    if abs(log_ratio) >= math.log(10_000):
        size = "10 000+"
    else:
        size = few_digits(math.exp(abs(log_ratio)))
    return f"{'x' if log_ratio >= 0 else '/'} {size}"


def _with_texts(columns: dict[str, list[object]]) -> dict[str, list[object]]:
    """Classes and values, which may be of several kinds, as texts."""
    mixed = ("value", "target", "against")
    return {
        name: [None if v is None else str(v) for v in values] if name in mixed else values
        for name, values in columns.items()
    }


def show(value: Value | None) -> str:
    """A value as it is shown in a sentence; a question mark where it is missing."""
    if value is None:
        return "?"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _shown(bar: Evidence) -> str:
    if bar.status == "prior":
        return bar.feature if bar.value is None else f"{bar.feature} {bar.value}"
    return f"{bar.feature} = {show(bar.value)}"
