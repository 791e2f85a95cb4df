"""`explain`: the evidence behind single decisions, as values, text and tables."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple, SupportsIndex, cast, overload

import numpy as np
from sklearn.pipeline import Pipeline

from ..checks import Array, plain_value
from ..data.columns import encode
from ..data.kernels.options import FEW_ROWS
from ..data.result import Columns, Fields, Result, html_table
from ..data.series import SeriesLike
from ..data.tables import Table
from ..estimators.naive_bayes import bayes_of, rows_of
from ..estimators.signals import SignalPipeline, follow
from ..evaluation._typing import Model, Value
from ..evaluation.decide import novelty_of, odds
from ..models.base import Floats, Ints, Support, cells
from ..models.fitted import ASK, DecisionRule, FittedBayes, FittedProblem, weights_of
from ..models.log_ratios import column_support, pair_support
from ..models.registry import is_category
from .model import position_of, rows_behind, times_of
from .text import (
    SILENT,
    chance_in_words,
    factor_in_words,
    factor_parts,
    factors_in_columns,
    odds_in_words,
    value_in_words,
)

# A row as surprising as this share of those held out is called unlike them.
_RARE = 0.01


@dataclass(frozen=True)
class Verdict:
    """What the rule decides on a row.

    Attributes
    ----------
    decision : class or None
        None: ask a person.
    why : str
        In words.
    novelty : float or None
        The row's p-value, see `bayesieve.novelty`.

    Examples
    --------
    >>> from bayesieve.explain import Verdict
    >>> Verdict(None, "every class is too improbable").to_text()
    'ask a person: every class is too improbable'
    """

    decision: Value | None
    why: str
    novelty: float | None = None

    def to_text(self) -> str:
        """The decision and its reason in one line."""
        what = ASK if self.decision is None else f"{self.decision}"
        strange = ""
        if self.novelty is not None and self.novelty <= _RARE:
            strange = f"; unlike anything seen (p = {self.novelty:.2g})"
        return f"{what}: {self.why}{strange}"


def _verdicts(
    problem: FittedProblem, sums: Ints, novelty: list[float | None]
) -> list[Verdict | None]:
    """Verdicts of a problem, one a row; None each where it has no rule."""
    rule = problem.rule
    if rule is None:
        return [None] * len(sums)
    prior, ahead = problem.fixed_prior, problem.ahead(sums)
    decided = rule.decide(sums, prior, ahead)
    leads = rule.leads(sums, prior)
    allowed = rule.allowed(leads)
    costs = None
    if rule.costs is not None:
        costs = rule.expected(ahead) / weights_of(ahead).sum(1, keepdims=True)
    names = [plain_value(value) for value in problem.classes]
    found: list[Verdict | None] = []
    for i, d in enumerate(decided.tolist()):
        said = _reasons(problem, rule, leads[i], names)
        if costs is not None:
            decisions = [*map(str, names), "asking"]
            others = [
                f"{decisions[o]} {costs[i, o]:.3g}{'' if allowed[i, o] else ' (not allowed)'}"
                for o in np.argsort(costs[i], kind="stable").tolist()
                if o != d
            ]
            said.append(f"expected cost {costs[i, d]:.3g}, of others {', '.join(others)}")
        what = None if d == len(names) else names[d]
        found.append(Verdict(what, "; ".join(said) or "the most probable class", novelty[i]))
    return found


def _reasons(
    problem: FittedProblem, rule: DecisionRule, leads: Ints, names: list[Value]
) -> list[str]:
    """Reasons of the thresholds that apply."""
    found = []
    for guard in rule.guards:
        lead, name = int(leads[guard.position]), names[guard.position]
        had = f"{name} is {odds(problem, lead)} times as probable as any other"
        if guard.or_ask:
            # How probable any other class is beside one that is no alarm.
            assert guard.high is not None
            had, wanted = odds(problem, -lead), odds(problem, -guard.high)
            word = "needed" if lead >= guard.high else "enough"
            told = f"another class is {had} times as probable as {name}, more than {wanted} {word}"
            found.append(told)
        elif guard.low is not None and lead <= guard.low:
            found.append(f"{had}, more than {odds(problem, guard.low)} needed")
        elif guard.high is not None and lead >= guard.high:
            found.append(f"{had}, {odds(problem, guard.high)} enough")
    if found and rule.prior != tuple(problem.fixed_prior.tolist()):
        found[-1] += ", by the priors for which the rule was made"
    return found


# -- Why a row was decided as it was ---------------------------------------------------------------


PRIOR = "(prior)"

# What the prior's value says of a model that was deployed.
PLACE = "where it is used"


@dataclass(frozen=True)
class Evidence:
    """A bar: what one feature, or the prior, says about a row.

    Attributes
    ----------
    feature : str
        Name of the column; ``"(prior)"`` for the share of the classes among the training rows.
    value : float, str or None
        What the row shows; None where it is missing, and for the prior (``"where it is used"``
        where `deploy` gave another one).
    log_ratio : float
        log P(value | target) - log P(value | against), in nat; positive speaks for the target.
    status : {"seen", "missing", "unseen", "prior"}
        Missing values and categories that no training row has say nothing.
    rows : float or None
        Training rows of all classes behind it: those with the value; of a number on a grid, those
        of the stretch around it that tells the two classes apart as far; of a pair, those in its
        cell.  None where nothing is said, and for distributions with parameters (`"gaussian"`),
        which rest on all rows.
    low, high : float or None
        Between what the log-ratio lies, at 90 %.  None where nothing is said, for the prior, and
        where nobody knows (mixtures, distributions with a pooled variance).

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
    rows: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def few(self) -> bool:
        """Do so few rows stand behind it that it may be chance?"""
        return self.rows is not None and self.rows < FEW_ROWS and abs(self.log_ratio) >= SILENT


@dataclass(frozen=True)
class Explanation(Result):
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
      x0 = 1   x  11 ( 3.5 to 140; 10 rows) +++++
      x1 = 0   x 1.0 (0.52 to 1.9; 10 rows)
    """

    row: int
    target: Value
    against: Value
    probability: float
    log_odds: float
    evidence: list[Evidence]
    verdict: Verdict | None = None

    _texts = ("value",)

    def to_dict(self) -> Fields:
        """Everything as plain data; of a model without a rule, without a verdict."""
        found = super().to_dict()
        if self.verdict is None:
            del found["verdict"]
        return found

    def to_text(self, width: int = 20, nat: bool = False) -> str:
        """Bars of text, the strongest evidence first; factors multiply to the odds.

        Beside each factor stand, where known, between what it lies at 90 %, and the training rows
        behind it.

        Parameters
        ----------
        width : int, default=20
            Characters of the longest bar; their lengths are logarithms, which add up.
        nat : bool, default=False
            Logarithms in place of factors.
        """
        sizes = [abs(bar.log_ratio) for bar in self.evidence]
        scale = max([size for size in sizes if math.isfinite(size)], default=0.0)
        label = max(len(_shown(bar)) for bar in self.evidence)
        told = [(bar.log_ratio, bar.rows, bar.low, bar.high) for bar in self.evidence]
        figures = factors_in_columns(told, nat)
        lines = [f"row {self.row}: {self._headline(nat)}"]
        if self.verdict is not None:
            lines.append(f"  decision: {self.verdict.to_text()}")
        for bar, size, figure in zip(self.evidence, sizes, figures, strict=True):
            length = width if math.isinf(size) else round(width * size / scale) if scale else 0
            mark = "+" if bar.log_ratio > 0 else "-"
            note = f" ({bar.status})" if bar.status in ("missing", "unseen") else ""
            line = f"  {_shown(bar):{label}s}  {figure} {mark * length}{note}"
            lines.append(line.rstrip())
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

    def to_columns(self) -> Columns:
        """One row a bar: what is seen, and how many times as likely it makes the target."""
        return {
            "feature": [bar.feature for bar in self.evidence],
            "value": [bar.value for bar in self.evidence],
            "times as likely": [_times(bar.log_ratio) for bar in self.evidence],
            "low": [_times(bar.low) for bar in self.evidence],
            "high": [_times(bar.high) for bar in self.evidence],
            "log-ratio": [bar.log_ratio for bar in self.evidence],
            "status": [bar.status for bar in self.evidence],
            "rows": [bar.rows for bar in self.evidence],
        }

    def caption(self) -> str:
        """What is decided, how probable it is, and by which rule."""
        decided = "" if self.verdict is None else f"; decision: {self.verdict.to_text()}"
        return f"{self._headline()}{decided}"

    def _shown(self) -> Columns:
        shown = self.to_columns()
        said = [factor_parts(b.log_ratio, b.rows, b.low, b.high) for b in self.evidence]
        names = "times as likely", "at 90 % between", "rows behind it"
        words = dict(zip(names, map(list, zip(*said, strict=True)), strict=True))
        return {"feature": shown["feature"], "value": shown["value"], **words} | {
            "status": shown["status"]
        }


class Explanations(list[Explanation], Result):
    """The evidence of many rows: a list that shows ten, and says how many more there are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import NaiveBayes, explain
    >>> X, y = load_iris(return_X_y=True)
    >>> explain(NaiveBayes().fit(X, y), X)
    <150 explanations: 50 of 0, 50 of 1, 50 of 2>
    """

    _texts = ("target", "against", "value")

    def __repr__(self) -> str:
        counts = Counter(each.target for each in self)
        told = ", ".join(f"{counts[name]} of {name}" for name in sorted(counts, key=str))
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

    def to_columns(self) -> Columns:
        """One row a bar, with the row it speaks of."""
        found: Columns = {"row": [], "target": [], "against": []}
        for each in self:
            size = len(each.evidence)
            whose = {"row": each.row, "target": each.target, "against": each.against}
            mine = {name: [value] * size for name, value in whose.items()} | each.to_columns()
            for name, values in mine.items():
                found.setdefault(name, []).extend(values)
        return found

    def caption(self) -> str:
        """How many rows are explained, by class."""
        return repr(self).strip("<>")

    def _repr_html_(self) -> str:
        shown = self[:_MOST_SHOWN]
        columns: Columns = {
            "row": [each.row for each in shown],
            "decision": [each.target for each in shown],
            "probability": [chance_in_words(each.probability) for each in shown],
            "rather than": [each.against for each in shown],
            "strongest evidence": [
                "; ".join(f"{_shown(bar)} ({factor_in_words(bar.log_ratio)})" for bar in seen[:3])
                for seen in ([b for b in each.evidence if b.status == "seen"] for each in shown)
            ],
        }
        left = len(self) - len(shown)
        more = f"<p>... and {left} more rows; [i] shows one, to_frame() all</p>" if left else ""
        return html_table(columns, self.caption()) + more


#: Rows that a notebook shows.
_MOST_SHOWN = 10


def _times(log_ratio: float | None) -> float | None:
    return None if log_ratio is None else times_of(log_ratio)


def _shown(bar: Evidence) -> str:
    if bar.status == "prior":
        return bar.feature if bar.value is None else f"{bar.feature} {bar.value}"
    return f"{bar.feature} = {value_in_words(bar.value)}"


# -- The evidence for single decisions -------------------------------------------------------------


def explain(
    model: Model | Pipeline,
    X: object,
    *,
    target: Value | None = None,
    against: Value | None = None,
) -> Explanations:
    """Explain the decision on each row: the log-ratio that each feature contributes.

    The bars of a row are what each feature and the prior say for the target against the other
    class; they add up to its log-odds.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes or what `signals` gives
        Fitted.
    X : array-like, data frame or sparse matrix
        Rows to explain; for `signals`, series.
    target : class, optional
        The class to speak for; by default the one that a row is decided to be (see `decide`), or
        its most probable class.  With labels: the name of one label; all of them by default, an
        explanation each.
    against : class, optional
        The class to speak against; the most probable one but the target by default.  Not with
        labels.

    Returns
    -------
    explanations : list of Explanation
        One a row; with labels, one a row and label.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.explain import explain
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> found = explain(NaiveBayes().fit(X, y), X[:1])[0]
    >>> found.target, found.evidence[1].feature
    ('a', 'x0')
    """
    if isinstance(model, SignalPipeline):
        model, X = model.estimator, model.columns(cast(SeriesLike, X))
    model, X = follow(model, X)
    fitted = bayes_of(model).fitted_
    table = rows_of(model, X)
    parts = _parts(fitted, table, target, against)
    return Explanations(_one(part, i) for i in range(table.n_rows) for part in parts)


class _Part(NamedTuple):
    """A problem on the rows of a table, and the classes that are asked about."""

    names: list[Value]
    problem: FittedProblem
    sums: Ints
    proba: Floats
    bars: "list[Bars]"
    verdicts: list[Verdict | None]
    target: int | None
    against: int | None

    def classes(self, i: int) -> tuple[int, int]:
        """Target and opponent of a row: those asked for, or decided, or most probable."""
        target, against, verdict = self.target, self.against, self.verdicts[i]
        if target is None and verdict is not None and verdict.decision is not None:
            decided = self.names.index(verdict.decision)
            target = None if decided == against else decided
        order = np.argsort(-self.sums[i], kind="stable").tolist()
        if target is None:
            target = next(k for k in order if k != against)
        if against is None:
            against = next(k for k in order if k != target)
        if target == against:
            raise ValueError("target and against must be different classes.")
        return target, against


def _parts(
    fitted: FittedBayes, table: Table, target: Value | None, against: Value | None
) -> list[_Part]:
    """The problem of the classes, or one a label that is asked about."""
    labels = list(fitted.labels)
    novelty: list[float | None] = [None] * table.n_rows
    if fitted.usual is not None and any(each.rule is not None for each in fitted.problems):
        novelty = novelty_of(fitted, table).tolist()
    if labels and against is not None:
        raise ValueError("against is for classes; a label is explained against its absence.")
    if labels and target is not None and target not in labels:
        raise ValueError(f"target must be one of the labels {labels}; got {target!r}.")
    found = []
    for at, problem in enumerate(fitted.problems):
        names: list[Value] = [plain_value(value) for value in problem.classes]
        asked = target, against
        if labels:
            if target not in (None, labels[at]):
                continue
            names = [f"not {labels[at]}", labels[at]]
            asked = names[1], names[0]
        first = position_of(names, "target", asked[0], None)
        second = position_of(names, "against", asked[1], None)
        sums = problem.sums(table)
        said = problem.proba(sums), _bars(problem, table), _verdicts(problem, sums, novelty)
        found.append(_Part(names, problem, sums, *said, first, second))
    return found


class Bars(NamedTuple):
    """A term on the rows of a table.

    Parameters
    ----------
    terms : fixed-point, rows x classes.
    values : as shown.
    status : of each value.
    cells : code of each value, or the cell of a pair; None of a distribution with parameters.
    behind : rows behind a cell for a class against another one.
    within : between what the evidence of each cell lies, for a class against another one; of a
        distribution with parameters, of each value.
    """

    terms: Ints
    values: list[Value | None]
    status: list[str]
    cells: Array | None = None
    behind: Callable[[int, int, int], float] | None = None
    within: Callable[[int, int], tuple[Floats, Floats]] | None = None

    def interval(self, i: int, first: int, second: int) -> tuple[float | None, float | None]:
        """Between what the evidence of a row lies, of one class against another."""
        if self.within is None or self.status[i] == "unseen":
            return None, None
        at = i if self.cells is None else int(self.cells[i])
        low, high = (np.append(each, np.nan) for each in self.within(first, second))
        return (None, None) if np.isnan(low[at]) else (float(low[at]), float(high[at]))

    def rows(self, i: int, first: int, second: int) -> float | None:
        """Rows behind what is said of a row, of one class against another."""
        if self.cells is None or self.behind is None or self.status[i] == "unseen":
            return None
        if self.status[i] == "missing" and not self.terms[i].any():
            return None
        return self.behind(int(self.cells[i]), first, second)


def _bars(problem: FittedProblem, table: Table) -> list[Bars]:
    found: list[Bars] = []
    for j, spec in enumerate(problem.specs):
        raw = table.column(j)
        values = [None if v is None or v != v or v == "" else plain_value(v) for v in raw]
        status = ["missing" if value is None else "seen" for value in values]
        codes, behind = None, None
        if spec.levels is not None:
            codes, behind = encode(spec, raw), cache(partial(rows_behind, problem, j))
            counts = problem.summary.statistics[j][0].sum(-1)
            for i, code in enumerate(codes):
                silent = code == spec.n_codes - 1 or (is_category(spec.model) and not counts[code])
                if silent and values[i] is not None:
                    status[i] = "unseen"
        terms = problem.speak(j, raw)
        known = terms if codes is None else problem.tables[j]
        within = _within(problem, column_support(problem, j, encode(spec, raw)), known)
        found.append(Bars(terms, values, status, codes, behind, within))
    for pair in problem.pairs:
        first, second = (found[j] for j in pair.columns)
        shown: list[Value | None] = [
            None if a is None and b is None else f"{value_in_words(a)} and {value_in_words(b)}"
            for a, b in zip(first.values, second.values, strict=True)
        ]
        both = [
            next((s for s in pair_status if s != "seen"), "seen")
            for pair_status in zip(first.status, second.status, strict=True)
        ]
        assert first.cells is not None
        assert second.cells is not None
        at, counts = cells(pair.groups, first.cells, second.cells), pair.counts.sum(-1).ravel()
        told = problem.pair_terms(table, pair), shown, both, at
        said = pair.said.reshape(-1, len(problem.classes))
        within = _within(problem, pair_support(problem, pair), said)
        # Rows of a cell, whichever classes are compared.
        in_cell = partial(lambda held, cell, *_: held[cell], [*counts.tolist(), 0.0])
        found.append(Bars(*told, in_cell, within))
    return found


def _within(
    problem: FittedProblem, support: Support | None, said: Ints | None
) -> Callable[[int, int], tuple[Floats, Floats]] | None:
    """Between what evidence lies, of one class against another, in nat as the model says it."""
    if support is None or said is None:
        return None

    @cache
    def within(first: int, second: int) -> tuple[Floats, Floats]:
        ratios = problem.scale.release(said[:, first] - said[:, second])
        low, high = support.interval(first, second, ratios)
        return low / problem.temperature, high / problem.temperature

    return within


def _one(part: _Part, i: int) -> Explanation:
    """The explanation of one row, its bars sorted."""
    problem, names = part.problem, part.names
    first, second = part.classes(i)
    place = None if problem.place is None else PLACE
    terms = [spec.name for spec in problem.specs]
    terms += [" x ".join(terms[j] for j in pair.columns) for pair in problem.pairs]

    def ratio(scores: Ints) -> float:
        return float(problem.nat(np.array([scores[first] - scores[second]]))[0])

    found = [
        Evidence(
            name,
            each.values[i],
            ratio(each.terms[i]),
            each.status[i],
            each.rows(i, first, second),
            *each.interval(i, first, second),
        )
        for at, (name, each) in enumerate(zip(terms, part.bars, strict=True))
        # Some columns say nothing alone, but only with another one.
        if at >= len(problem.specs) or problem.weighting is None or problem.weighting.has(at)
    ]
    found.sort(key=lambda bar: -abs(bar.log_ratio))
    return Explanation(
        i,
        names[first],
        names[second],
        float(part.proba[i, first]),
        ratio(part.sums[i]),
        [Evidence(PRIOR, place, ratio(problem.fixed_prior), "prior"), *found],
        part.verdicts[i],
    )
