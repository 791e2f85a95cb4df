"""`explain_model`: log-ratios of every value, the counts behind them, and importances; terms."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, product
from typing import ClassVar, TypeAlias, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline

from ..checks import Foreign, plain_value
from ..data.columns import ColumnSpec, begins_with
from ..data.result import Columns, Result
from ..estimators.naive_bayes import fitted_of, stands_for
from ..estimators.signals import follow
from ..evaluation._typing import Model, Value
from ..models.base import Floats, Ints, PairTerms, Support
from ..models.density import DensityModel
from ..models.fitted import FittedBayes, FittedProblem
from ..models.gaussian import Bells, Mixtures, Moments, deviations
from ..models.log_ratios import WEIGHT_STEPS, column_support, pair_support
from ..rankings.families import count_others
from .shapes import Coded, TermShape, shape_of
from .text import (
    Said,
    factor_in_words,
    factors_in_columns,
    odds_in_words,
    short_cut,
    value_in_words,
)

# Standard deviations outside of every class beyond which a scale is not drawn, and its points.
_TAIL, _POINTS = 3.0, 101

# Standard deviations beyond which a continuous column is not integrated, and the points of it.
_REACH, _FINE = 8.0, 401

# Neighbours that differ by less, in nat, are read as one.
_ALIKE = 0.1

# Letters of a value beyond which the columns behind it stand no longer below each other.
_WIDEST = 40

#: Numbers of each class; of ``components``, a list of (share, mean, sd) of each class; of a pair,
#: names of its rows and columns; of a number, the name of its density.
Source: TypeAlias = dict[str, list[float] | list[list[list[float]]] | list[str]]

Default = TypeVar("Default", int, None)

#: The values of a feature, each with its log-ratio.
ValueScale: TypeAlias = list[tuple[Value, float]]


@dataclass(frozen=True)
class FeatureEvidence:
    """One feature of the model.

    Attributes
    ----------
    feature, model : str
        Its name, and its distribution.
    importance : list of float
        For each class, in nat: what the feature says on average about rows of the class, for it
        against all others together (the Kullback-Leibler divergence of the model's distributions).
    values : list
        Levels of a discrete feature; intervals of one on a grid, as texts, neighbours joined where
        what they say differs by less than a tenth of a nat; points over the range of any other
        continuous one, without what lies more than three standard deviations outside of every
        class.
    terms : list of lists of float
        log P(value | class), values x classes; of densities and levels, less log P(value).
    counts : list of lists of float, or None
        How many training rows of each class had the value; None for continuous features that are
        not on a grid.
    source : dict
        For a continuous feature: ``rows``, ``mean`` and ``sd`` of each class, and its
        ``components`` (share, mean, sd) where it has several.  For one on a grid: the ``median``
        of each class, ``cuts`` between the intervals, and the ``density`` that was chosen, where
        there was a choice.  For any: ``missing``, rows of each class without a value; in a model
        of weights, its ``weights``, and what was ``added`` to what counts say, in nat.  For a pair:
        ``names`` of its columns, and values of the ``first`` and the ``second`` in words.
    rows : list of lists of float, or None
        How many training rows of each class stand behind each value: those with it; of densities,
        as many as would tell a share as well.  None where nobody knows (of mixtures, say).
    beside : list of lists of float, or None
        With ``smoothing=0``: where a value is impossible in a class, what remains beside log 0; two
        classes in which it is impossible are compared by this.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, explain_model
    >>> X, y = np.array([[1], [1], [0], [0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> feature = explain_model(NaiveBayes().fit(X, y)).features[0]
    >>> feature.values, [round(ratio, 3) for ratio in feature.ratios(0, 1)]
    ([0.0, 1.0], [-2.398, 2.398])
    """

    feature: str
    model: str
    importance: list[float]
    values: list[Value]
    terms: list[list[float]]
    counts: list[list[float]] | None
    source: Source
    beside: list[list[float]] | None = None
    rows: list[list[float]] | None = None
    support: Support | None = field(default=None, repr=False, compare=False)
    coded: Coded | None = field(default=None, repr=False, compare=False)

    def ratios(self, k: int, other: int) -> list[float]:
        """Log-ratio of each value between two classes."""
        both = zip(self.terms, self.beside or self.terms, strict=True)
        rows = (left if row[k] == row[other] == -np.inf else row for row, left in both)
        return [row[k] - row[other] for row in rows]

    def counted(self, k: int, other: int) -> list[float]:
        """Log-ratio of each value as counts say it, before the other terms corrected it.

        What is all correction (a late term, points of a card) has no counts beside it.
        """
        added = None if self.support is None else self.support.added
        weights = self.source.get("weights", [])
        if added is None or not any(weights):
            return self.ratios(k, other)
        return [
            r - float(a[k] - a[other]) for r, a in zip(self.ratios(k, other), added, strict=False)
        ]

    def intervals(self, k: int, other: int) -> list[tuple[float, float] | None]:
        """Between what the log-ratio of each value lies, at 90 %; None where nothing tells."""
        if self.support is None:
            return [None] * len(self.values)
        low, high = self.support.interval(k, other, np.array(self.ratios(k, other)))
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return [None if math.isnan(pair[0]) else pair for pair in pairs]


@dataclass(frozen=True, repr=False)
class CellEvidence(Result):
    """Every value of every feature: what it says, within what, and the rows behind it.

    Attributes
    ----------
    target, against : the two classes.
    feature, value : of each cell.
    times : how many times as likely the value makes the target.
    counted : the same as counts alone say it; beside the other terms of a weighted model another
        number foretells better.
    low, high : between what that lies, at 90 %; None where nothing tells.
    rows : training rows of the two classes behind it; of densities, as many as tell a share as
        well.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, explain_model
    >>> X, y = np.array([[1], [1], [0], [0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> print(explain_model(NaiveBayes().fit(X, y)).cells().to_text())
    b rather than a, and between what that lies at 90 %
    feature  value  times as likely        low      high  rows
    x0           0               11     3.4636    142.27    10
    x0           1         0.090909  0.0070287   0.28872    10
    """

    target: Value
    against: Value
    feature: list[str]
    value: list[Value]
    times: list[float]
    counted: list[float]
    low: list[float | None]
    high: list[float | None]
    rows: list[float | None]

    _texts = ("value",)
    _table: ClassVar[dict[str, str]] = {
        "feature": "feature",
        "value": "value",
        "times as likely": "times",
        "by counts": "counted",
        "low": "low",
        "high": "high",
        "rows": "rows",
    }

    def to_columns(self) -> Columns:
        """One row a cell; what counts say stands beside only where it is something else."""
        columns = super().to_columns()
        if self.counted == self.times:
            del columns["by counts"]
        return columns

    def caption(self) -> str:
        """Which classes are compared."""
        return f"{self.target} rather than {self.against}, and between what that lies at 90 %"


@dataclass(frozen=True)
class ModelExplanation(Result):
    """All that a model can say.

    Attributes
    ----------
    label : str or None
        The label it is about, where the model has labels.
    classes : list
    class_count : list of float
        Training rows of each class.
    log_prior : list of float
    features : list of FeatureEvidence
        In the model's order.
    temperature : float
        What `calibrate` found: log-ratios are divided by it, the distributions stay.
    stands_for : dict
        The columns that a feature stands for, where a selector knows families.
    place : list of float or None
        Probabilities of the classes where the model is used, if `deploy` gave some: `log_prior` is
        of that place.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, explain_model
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> print(explain_model(NaiveBayes().fit(X, y)).to_text())
    How much more likely values are in a row's own class than in others, on average
    below it: what speaks most for each class (at 90 %; rows behind)
        x 7.4  x0
               1  x 11 (3.5 to 140; 10 rows) for a
               0  x 11 (3.5 to 140; 10 rows) for b
        x 1.0  x1
    """

    label: str | None
    classes: list[Value]
    class_count: list[float]
    log_prior: list[float]
    features: list[FeatureEvidence]
    temperature: float = 1.0
    stands_for: dict[str, list[str]] = field(default_factory=dict)
    place: list[float] | None = None

    def nomogram(
        self, target: Value | None = None, against: Value | None = None
    ) -> list[tuple[str, ValueScale]]:
        """The scale of each feature: (name, [(value, log-ratio), ...]), longest scale first.

        Parameters
        ----------
        target, against : classes, optional
            The second and the first class by default.
        """
        k, other = self._pair(target, against)
        found = [
            (
                each.feature,
                [
                    (value, ratio / self.temperature)
                    for value, ratio in zip(each.values, each.ratios(k, other), strict=True)
                ],
            )
            for each in self.features
        ]
        return sorted(found, key=lambda pair: -_length(pair[1]))

    def cells(self, target: Value | None = None, against: Value | None = None) -> CellEvidence:
        """What every value says, within what, and the rows behind it.

        Parameters
        ----------
        target, against : classes, optional
            The second and the first class by default.
        """
        k, other = self._pair(target, against)
        found: list[tuple[str, Value, float, float, float | None, float | None, float | None]] = []
        for each in self.features:
            told = zip(each.values, self.said(each, k, other), each.counted(k, other), strict=True)
            for value, (nat, rows, low, high), counted in told:
                both = times_of(nat), times_of(counted / self.temperature)
                low, high = (None if end is None else times_of(end) for end in (low, high))
                found.append((each.feature, value, *both, low, high, rows))
        columns = [list(column) for column in zip(*found, strict=True)] or [[]] * 7
        return CellEvidence(self.classes[k], self.classes[other], *columns)

    def plot(
        self,
        feature: str,
        target: Value | None = None,
        against: Value | None = None,
        *,
        row: Mapping[str, Foreign] | None = None,
    ) -> TermShape:
        """What a feature says over its values, as a picture: see `TermShape`.

        Parameters
        ----------
        feature : str
            Its name; of a pair, both, as "age x dose".
        target, against : classes, optional
            A class, and the one against it: all others together by default.  Of several classes,
            one small picture each by default.
        row : mapping, optional
            The value of each column (a row of a data frame, say), marked with a dot.
        """
        names = [each.feature for each in self.features]
        if feature not in names:
            raise ValueError(f"feature must be one of {names[:20]}; got {feature!r}.")
        pair = None
        if target is not None or against is not None or len(self.classes) == 2:
            several = against is None and len(self.classes) > 2
            found = self._pair(target, against)
            pair = found[0], None if several else found[1]
        return shape_of(self, self.features[names.index(feature)], pair, row)

    def said(self, each: FeatureEvidence, k: int, other: int) -> list[Said]:
        """What every value of a feature says of two classes: log-ratio, rows, and interval.

        Parameters
        ----------
        each : one of `features`.
        k, other : positions of the classes.
        """
        t, rows, found = self.temperature, each.rows or [[]] * len(each.values), []
        said = zip(each.ratios(k, other), each.intervals(k, other), rows, strict=True)
        for ratio, within, behind in said:
            low, high = (None, None) if within is None else (end / t for end in within)
            n = behind[k] + behind[other] if behind else None
            found.append((ratio / t, n, low, high))
        return found

    def ranked(self, target: Value | None = None) -> list[tuple[str, float]]:
        """Features by importance for a class (for all classes together by default), largest first.

        Over all classes, importances count by the share of each class among the rows.
        """
        names = [each.feature for each in self.features]
        found = [*zip(names, self._importances(target), strict=True)]
        return sorted(found, key=lambda pair: -pair[1])

    def _importances(self, target: Value | None) -> list[float]:
        """Of each feature; over all classes by the share of each class among the rows."""
        total = max(sum(self.class_count), 1e-300)
        share = [count / total for count in self.class_count]
        if target is not None:
            at = position_of(self.classes, "target", target, 0)
            share = [float(k == at) for k in range(len(self.classes))]
        return [
            sum(s * i for s, i in zip(share, each.importance, strict=True) if s)
            for each in self.features
        ]

    @cached_property
    def shares(self) -> list[float]:
        """Share of the decision that each feature has: its importance, by the sum of all."""
        found = np.array(self._importances(None))
        if np.isinf(found).any():  # all that is impossible without a feature
            found = np.isinf(found).astype(float)
        shares: list[float] = (found / (found.sum() or 1.0)).tolist()
        return shares

    def to_text(self) -> str:
        """Features by importance, and the value that speaks most for each class below each.

        Beside that stand, where known, between what it lies at 90 %, and the training rows behind
        it; of several classes, the one that is nearest.
        """
        # Not by name: a column may be named as a pair is.
        ranked = sorted(
            zip(self._importances(None), self.features, strict=True), key=lambda pair: -pair[0]
        )
        heads, best = [], []
        for importance, each in ranked:
            others = self.stands_for.get(each.feature)
            more = "" if others is None else f" (stands for {count_others(others)})"
            heads.append(f"{factor_in_words(importance):>9}  {each.feature}{more}")
            best.append(self._best(each))
        shown = [line for lines in best for line in lines]
        room = min(max((len(value) for value, _, _ in shown), default=0), _WIDEST)
        factors = iter(factors_in_columns([said for _, said, _ in shown]))
        found = [self.caption(), "below it: what speaks most for each class (at 90 %; rows behind)"]
        for head, lines in zip(heads, best, strict=True):
            found.append(head)
            found += [f"{'':11}{value:{room}}  {next(factors)} {whom}" for value, _, whom in lines]
        if self.place is not None:
            shares = [f"{c} {p:.4g}" for c, p in zip(self.classes, self.place, strict=True)]
            found.append(f"priors where it is used: {', '.join(shares)}")
        return "\n".join(found)

    def _best(self, each: FeatureEvidence) -> list[tuple[str, Said, str]]:
        """What speaks most for each class: the value, what it says, and for whom."""
        found = []
        for k, name in enumerate(self.classes):
            best = _most_telling(each.terms, k)
            if best is not None:
                rest = [o for o in range(len(self.classes)) if o != k]
                other = max(rest, key=lambda o: each.terms[best][o])
                whom = f"for {name}"
                whom += f" over {self.classes[other]}" if len(rest) > 1 else ""
                at = each.values[best]
                value = f"{at:.4g}" if isinstance(at, float) else f"{at}"
                found.append((value, self.said(each, k, other)[best], whom))
        return found

    def _pair(self, target: Value | None, against: Value | None) -> tuple[int, int]:
        k = position_of(self.classes, "target", target, 1)
        other = position_of(self.classes, "against", against, 0 if k else 1)
        if k == other:
            raise ValueError("target and against must be different classes.")
        return k, other

    def to_columns(self) -> Columns:
        """Features by importance, in words and in nat."""
        names, scores = zip(*self.ranked(), strict=True) if self.features else ((), ())
        said = [f"{odds_in_words(score)} as likely" for score in scores]
        said = ["no more likely" if each == "as as likely" else each for each in said]
        return {"feature": list(names), "importance": said, "in nat": list(scores)}

    def caption(self) -> str:
        """What importance means."""
        return "How much more likely values are in a row's own class than in others, on average"


def position_of(
    classes: list[Value], parameter: str, wanted: Value | None, default: Default
) -> int | Default:
    """The position of the class that a parameter names; the default where it names none."""
    if wanted is None:
        return default
    if wanted not in classes:
        raise ValueError(f"{parameter} must be one of the classes {classes}; got {wanted!r}.")
    return classes.index(wanted)


def explain_model(
    model: Model | FittedBayes | Pipeline, *, label: str | None = None
) -> ModelExplanation:
    """Explain a model: log-ratios of every value, the counts behind them, and importances.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted.
    label : str, optional
        With labels: which one to speak of; the first by default.

    Returns
    -------
    explanation : ModelExplanation

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.explain import explain_model
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> found = explain_model(NaiveBayes().fit(X, y))
    >>> found.features[0].counts  # of the values 0 and 1 in the classes a and b
    [[0.0, 10.0], [10.0, 0.0]]
    >>> found.ranked()[0][0], found.nomogram("a", "b")[0][1][1][0]
    ('x0', 1.0)
    """
    model, _ = follow(model)
    fitted = fitted_of(model)
    known = list(fitted.labels)
    if label is not None and label not in known:
        raise ValueError(f"label must be one of the labels {known}; got {label!r}.")
    if fitted.labelled and label is None:
        label = known[0]
    problem = fitted.problems[0 if label is None else known.index(label)]
    features, weighting = (
        [_supported(problem, j) for j in range(len(problem.specs))],
        problem.weighting,
    )
    if weighting is not None:  # columns with their weights, and pairs of columns behind them
        for j, line in enumerate(weighting.weights):
            weights = (line / WEIGHT_STEPS).tolist()
            source = {**features[j].source, "weights": weights, "alone": weighting.has(j)}
            support = features[j].support
            if support is not None and support.added is not None and line.any():
                source["added"] = support.added.round(4).tolist()
            features[j] = replace(features[j], source=source)
        features += [_pair_evidence(problem, pair) for pair in weighting.pairs]
    return ModelExplanation(
        label,
        [plain_value(value) for value in problem.classes],
        problem.summary.class_count.tolist(),
        problem.scale.release(problem.fixed_prior).tolist(),
        features,
        problem.temperature,
        stands_for(model),
        None if problem.place is None else list(problem.place),
    )


def _feature(problem: FittedProblem, j: int) -> FeatureEvidence:
    """Evidence of one column: of a table, of a grid, or of a density."""
    summary = problem.summary
    spec, statistics = summary.specs[j], summary.statistics[j]
    if spec.on_grid:
        return _grid_evidence(problem, j)
    if spec.levels is not None:
        fixed, counts = problem.tables[j], statistics[0][:-1]
        assert fixed is not None
        terms = problem.scale.release(fixed)[:-1]
        chances = np.exp(terms)
        if isinstance(problem.columns[j].model, DensityModel):
            chances = _chances(terms, counts.sum(1), _weight(problem))
        return FeatureEvidence(
            spec.name,
            spec.model,
            _importance(problem, terms, counts, chances),
            [plain_value(level) for level in spec.levels],
            terms.tolist(),
            counts.tolist(),
            {"missing": np.maximum(summary.class_count - counts.sum(0), 0.0).tolist()},
            _beside(problem, fixed[:-1], terms),
        )
    low, high = _ends(spec, statistics)
    points = np.linspace(low, high, _POINTS)
    return FeatureEvidence(
        spec.name,
        spec.model,
        _continuous_divergence(problem, j, _weight(problem)),
        points.tolist(),
        _continuous_terms(problem, j, points).tolist(),
        None,
        _moments(statistics, summary.class_count),
    )


def _supported(problem: FittedProblem, j: int) -> FeatureEvidence:
    """Evidence of one column, and the rows behind it; of joined codes, the mean over their rows."""
    each, table, spec = _feature(problem, j), problem.tables[j], problem.specs[j]
    if table is not None:
        counts = problem.summary.statistics[j][0]
        whole = column_support(problem, j, np.arange(spec.n_codes))
        each = replace(each, coded=Coded((spec,), table, problem.scale, counts, whole))
    values = np.array(each.values) if table is None else np.arange(spec.n_codes)
    found = column_support(problem, j, values) if each.coded is None else each.coded.support
    if found is None:
        return each
    if table is not None:
        starts = np.arange(spec.n_codes - 1)
        weight = np.ones((spec.n_codes - 1, 1))
        if spec.on_grid:
            starts = _runs(problem.scale.release(table)[:-1])
            weight = problem.summary.statistics[j][0][:-1].sum(1, keepdims=True) + 1e-9
        if starts.size:
            total = np.add.reduceat(weight, starts)
            point, rows, prior = (
                np.add.reduceat(part[:-1] * weight, starts) / total
                for part in (found.point, found.rows, found.prior)
            )
            added = found.added
            if added is not None:
                added = np.add.reduceat(added[:-1] * weight, starts) / total
            found = found._replace(point=point, rows=rows, prior=prior, added=added)
    return replace(each, rows=found.rows.tolist(), support=found)


def rows_behind(problem: FittedProblem, j: int, code: int, first: int, second: int) -> float:
    """Training rows of all classes behind what a code of a column says of two classes.

    Those with the code; of a number on a grid, those of the stretch around it that tells the two
    classes apart as far, within a tenth of a nat; of a condition of a card, those that meet it.

    Parameters
    ----------
    problem, j, code : a model, a column of it that has a table, and a code of the column.
    first, second : positions of two classes.
    """
    counts, table = problem.summary.statistics[j][0].sum(-1), problem.tables[j]
    if not problem.specs[j].on_grid or table is None or code >= len(counts) - 1:
        return float(counts[code])
    line = table[:-1, first] - table[:-1, second]
    if problem.weighting is not None and not problem.weighting.weights.any():  # a card
        weaker = np.flatnonzero(line != line[code])
    else:
        least = max(abs(int(line[code])) - np.ldexp(_ALIKE, problem.scale.bits), 0)
        weaker = np.flatnonzero(np.sign(line[code]) * line < least)
    low = weaker[weaker < code].max(initial=-1) + 1
    return float(counts[low : weaker[weaker > code].min(initial=line.size)].sum())


def _weight(problem: FittedProblem) -> Floats:
    """Rows of each class, weighted."""
    return problem.summary.class_count * problem.summary.class_weight


def _importance(
    problem: FittedProblem, terms: Floats, counts: Floats, chances: Floats
) -> list[float]:
    """Average evidence for each class: of distributions, or of weighted terms on the rows."""
    if problem.weighting is None:
        return _divergence(chances, _weight(problem))
    return _average_evidence(terms, counts, _weight(problem))


def _beside(problem: FittedProblem, fixed: Ints, terms: Floats) -> list[list[float]] | None:
    """What remains of terms beside log 0, where there is one."""
    scale = problem.scale
    if not np.isinf(terms).any():
        return None
    finite = np.where(np.isinf(terms), fixed + scale.impossible, fixed)
    remaining: list[list[float]] = np.ldexp(finite.astype(np.float64), -scale.bits).tolist()
    return remaining


def _continuous_terms(problem: FittedProblem, j: int, points: Floats) -> Floats:
    return problem.scale.release(problem.speak(j, points))


def _continuous_divergence(problem: FittedProblem, j: int, weight: Floats) -> list[float]:
    """Kullback-Leibler divergence of each class, averaged over the places where it lies.

    One grid for all classes would miss a narrow class beside a wide one.
    """
    spec, column = problem.specs[j], problem.columns[j]
    with np.errstate(all="ignore"):
        bells = column.model.bells(column.statistics, column.grid, column.settings)
    if bells is None:  # no closed form: over the values seen, or points between their ends
        assert spec.distinct is not None
        points = spec.distinct
        if points.size != spec.n_distinct:
            points = np.linspace(points[0], points[-1], _FINE)
        if not points.size:
            return [0.0] * len(problem.classes)
        terms = _continuous_terms(problem, j, points)
        chances = np.exp(terms - terms.max(0))
        return _divergence(chances / chances.sum(0), weight)
    found = []
    for k, mine in enumerate(bells):
        total = 0.0
        for each in mine:
            points, chances = _lattice(spec, each)
            terms = _continuous_terms(problem, j, points)
            share = _others_of(weight, k)
            rest = np.delete(terms, k, axis=1)
            top = rest.max(1, initial=-np.inf)
            others = top + np.log(np.exp(rest - top[:, None]) @ share)
            total += float(np.exp(each.share) * (chances @ (terms[:, k] - others)))
        found.append(max(total, 0.0) if np.isfinite(total) else 0.0)
    return found


def _lattice(spec: ColumnSpec, bells: Bells) -> tuple[Floats, Floats]:
    """Points over one component, and how likely it is to show each of them."""
    centres = bells.mean - bells.sd * np.array(bells.offsets)
    if not (np.isfinite(centres).all() and np.isfinite(bells.sd)):
        return np.zeros(1), np.ones(1)
    low, high = centres.min() - _REACH * bells.sd, centres.max() + _REACH * bells.sd
    points = np.linspace(low, high, _FINE)
    if spec.grid is not None and (high - low) / spec.grid < 10 * _FINE:
        points = np.arange(np.floor(low / spec.grid), np.ceil(high / spec.grid) + 1) * spec.grid
    logs = np.array(bells.levels) - ((points[:, None] - centres) / bells.sd) ** 2 / 2
    chances = np.exp(logs).sum(1)
    return points, chances / chances.sum()


def _ends(spec: ColumnSpec, statistics: object) -> tuple[float, float]:
    """The range of a continuous column without its farthest tails, never empty."""
    assert spec.distinct is not None
    if not spec.distinct.size:
        return 0.0, 1.0
    ends = float(spec.distinct[0]), float(spec.distinct[-1])
    if not isinstance(statistics, Moments | Mixtures):
        return ends if ends[0] < ends[1] else (ends[0] - 1.0, ends[1] + 1.0)
    known = statistics.weight[0] > 0
    mean = statistics.mean[0][known]
    sd = deviations(statistics)[known]
    low = max(ends[0], float((mean - _TAIL * sd).min()))
    high = min(ends[1], float((mean + _TAIL * sd).max()))
    return (low, high) if low < high else (low - spec.resolution, high + spec.resolution)


def _moments(statistics: object, class_count: Floats) -> Source:
    """What a continuous column's terms came from, where that is moments."""
    if not isinstance(statistics, Moments | Mixtures):
        return {}
    weight = statistics.weight[0]
    found: Source = {
        "rows": weight.tolist(),
        "mean": statistics.mean[0].tolist(),
        "sd": deviations(statistics).tolist(),
        "missing": np.maximum(class_count - weight, 0.0).tolist(),
    }
    if isinstance(statistics, Mixtures):
        power = statistics.variance_power[0].astype(np.int64)
        sd = np.ldexp(np.sqrt(np.maximum(statistics.variance[0], 0.0)), power)
        parts = zip(statistics.share[0], statistics.centre[0], sd, strict=True)
        found["components"] = [
            np.column_stack([share, centre, each])[share > 0].tolist()
            for share, centre, each in parts
        ]
    return found


def times_of(nat: float) -> float:
    """How many times as likely, of a log-ratio."""
    with np.errstate(over="ignore"):
        return float(np.exp(nat))


def _length(scale: ValueScale) -> float:
    ratios = [ratio for _, ratio in scale]
    return max(ratios, default=0.0) - min(ratios, default=0.0)


def _most_telling(terms: list[list[float]], k: int) -> int | None:
    """The value that speaks most for a class against the best of the others."""
    ahead = [row[k] - max(row[:k] + row[k + 1 :]) for row in terms]
    known = [(a, -i) for i, a in enumerate(ahead) if a == a and a > 0]
    return -max(known)[1] if known else None


# -- Numbers on a grid -----------------------------------------------------------------------------


def _grid_evidence(problem: FittedProblem, j: int) -> FeatureEvidence:
    """One feature on a grid: its intervals, neighbours joined where they say the same."""
    summary, scale = problem.summary, problem.scale
    spec, table = summary.specs[j], problem.tables[j]
    assert spec.levels is not None
    assert table is not None
    counts, terms = summary.statistics[j][0][:-1], scale.release(table)[:-1]
    rows = (counts * summary.class_weight).sum(1)
    starts = _runs(terms)
    source: Source = {
        "median": [_median(spec.levels, mine) for mine in counts.T],
        "missing": np.maximum(summary.class_count - counts.sum(0), 0.0).tolist(),
        "cuts": spec.cuts[starts[1:] - 1].tolist() if spec.cuts is not None else [],
    }
    column = problem.columns[j]
    if isinstance(column.model, DensityModel) and len(column.model.members) > 1:
        source["density"] = column.model.chosen(column.statistics, column.grid, column.settings)
    ends = [*pairwise([*starts, len(counts)])]
    joined = [_joined(table[a:b], rows[a:b]) for a, b in ends]
    fixed = np.array(joined, np.int64).reshape(len(joined), -1)
    shown = scale.release(fixed)
    return FeatureEvidence(
        spec.name,
        spec.model,
        _importance(problem, terms, counts, _chances(terms, rows, _weight(problem))),
        [*_words(spec, starts)],
        shown.tolist(),
        [counts[a:b].sum(0).tolist() for a, b in ends],
        source,
        _beside(problem, fixed, shown),
    )


def _median(levels: Floats, counts: Floats) -> float:
    """The median of a class; 0 where it has no row."""
    total = np.cumsum(counts)
    return float(levels[np.searchsorted(total, total[-1] / 2)]) if counts.sum() > 0 else 0.0


def _runs(terms: Floats) -> Ints:
    """The first code of each run of codes that say the same of every class."""
    starts: list[int] = []
    low = high = np.empty(0)
    for c, said in enumerate(terms):
        if starts:
            low, high = np.minimum(low, said), np.maximum(high, said)
            if (np.where(low == high, 0.0, high - low) < _ALIKE).all():
                continue
        starts.append(c)
        low = high = said
    return np.array(starts, np.int64)


def _joined(table: Ints, rows: Floats) -> list[int]:
    """What a run says: the mean of its rows."""
    if len(table) == 1 or not rows.sum():
        return [int(x) for x in table[0]]
    share = rows / rows.sum()
    # Around the first, which is near: integers of 62 bits do not fit a float.
    apart = np.rint(share @ (table - table[0]).astype(np.float64))
    return [int(x) + int(d) for x, d in zip(table[0], apart, strict=True)]


def _words(spec: ColumnSpec, starts: Ints) -> list[str]:
    """Each run as people say it: up to 4.2, from 4.2 to 5.1, above 5.1."""
    if starts.size < 2 or spec.cuts is None or spec.levels is None:
        return ["any number"] * starts.size
    first = [begins_with(float(spec.cuts[at - 1])) for at in starts[1:]]
    if all(each is not None for each in first):  # as cards cut them
        told = [f"{each:.15g}" for each in first]
        inner = [f"{a} to below {b}" for a, b in pairwise(told)]
        return [f"below {told[0]}", *inner, f"{told[-1]} and above"]
    cuts = [short_cut(float(spec.cuts[at - 1]), *spec.levels[at - 1 : at + 1]) for at in starts[1:]]
    inner = [f"{a} to {b}" for a, b in pairwise(cuts)]
    return [f"<= {cuts[0]}", *inner, f"above {cuts[-1]}"]


def _chances(terms: Floats, rows: Floats, weight: Floats) -> Floats:
    """P(code | class) from ratios to any reference: codes x classes."""
    if not rows.sum():
        return np.zeros(terms.shape)
    top = terms.max(1, keepdims=True)
    ratio = np.exp(terms - np.where(np.isinf(top), 0.0, top))
    pooled = ratio @ (weight / max(weight.sum(), 1e-300))
    found = np.divide(ratio, pooled[:, None], out=np.zeros(ratio.shape), where=pooled[:, None] > 0)
    found *= (rows / rows.sum())[:, None]
    total = found.sum(0)
    return np.divide(found, total, out=np.zeros(found.shape), where=total > 0)


def _divergence(chances: Floats, weight: Floats) -> list[float]:
    """Kullback-Leibler divergence of each class from all others together; 0 x log 0 is 0."""
    found = []
    for k in range(len(weight)):
        others = np.delete(chances, k, axis=1) @ _others_of(weight, k)
        mine = chances[:, k]
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(mine > 0, mine * np.log(mine / others), 0.0)
        found.append(float(max(parts.sum(), 0.0)))
    return found


def _others_of(weight: Floats, k: int) -> Floats:
    """Shares of the other classes among each other."""
    rest = np.delete(weight, k)
    return rest / rest.sum() if rest.sum() > 0 else np.full(rest.size, 1 / rest.size)


def _average_evidence(terms: Floats, counts: Floats, weight: Floats) -> list[float]:
    """What a term says on average about rows of each class, for it against the others, in nat."""
    found = []
    for k in range(weight.size):
        ahead = terms[:, k] - np.delete(terms, k, axis=1) @ _others_of(weight, k)
        rows = counts[:, k]
        found.append(float(max(rows @ ahead / rows.sum(), 0.0)) if rows.sum() else 0.0)
    return found


# -- Weighted terms --------------------------------------------------------------------------------


def speaks(source: Source) -> bool:
    """Does a feature say anything by itself?  Some columns speak in pairs only."""
    return bool(source.get("alone", True))


def _pair_evidence(problem: FittedProblem, pair: PairTerms) -> FeatureEvidence:
    """One pair of columns: what each cell says, and the rows in it."""
    n_classes = len(problem.classes)
    terms = problem.scale.release(pair.said.reshape(-1, n_classes))
    said = np.pad(pair.said.reshape(-1, n_classes), ((0, 1), (0, 0)))
    behind = pair_support(problem, pair)
    counts = pair.counts.reshape(-1, n_classes)
    seen = np.pad(counts, ((0, 1), (0, 0)))
    specs = [problem.specs[j] for j in pair.columns]
    shown = [_group_names(spec, part) for spec, part in zip(specs, pair.groups, strict=True)]
    missing = np.maximum(problem.summary.class_count - counts.sum(0), 0.0)
    return FeatureEvidence(
        " x ".join(spec.name for spec in specs),
        "pair",
        _average_evidence(terms, counts, _weight(problem)),
        [f"{a} and {b}" for a, b in product(*shown)],
        terms.tolist(),
        counts.tolist(),
        {
            "missing": missing.tolist(),
            "first": shown[0],
            "second": shown[1],
            "names": [spec.name for spec in specs],
            "weights": (pair.weights / WEIGHT_STEPS).tolist(),
        },
        rows=counts.tolist(),
        support=behind,
        coded=Coded(
            tuple(specs), said, problem.scale, seen, behind.with_silent_code(), pair.groups
        ),
    )


def _group_names(spec: ColumnSpec, groups: Ints) -> list[str]:
    """Each group of a column's codes in words."""
    if spec.on_grid:
        return _words(spec, np.flatnonzero(np.diff(groups[:-1], prepend=-1)))
    assert spec.levels is not None
    return [value_in_words(plain_value(level)) for level in spec.levels]
